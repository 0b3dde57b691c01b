// What keys do. A view says what it can do by `data-key` on its buttons; help and docs tell what `texts.keys.help` says.
import { base } from "./api.js";
import { el, put } from "./dom.js";
import { texts } from "./texts.js";

const SWITCH = "tocsin.keys";

const PLACES = { f: "/feed", i: "/incidents", d: "/devices", s: "/search", n: "/node" };

const isOn = () => {
  try {
    return localStorage.getItem(SWITCH) !== "off";
  } catch {
    return true;
  }
};

/** `go` shows an address; keys of views count only while somebody is signed in. */
export function listenToKeys(go, isSignedIn) {
  let first = null;
  addEventListener("keydown", (event) => {
    const { key, target } = event;
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    // For a moment the focus is still in a dialog that was closed.
    const inField = target.checkVisibility?.() !== false && target.closest?.("input, select, textarea, dialog");
    if (key === "Escape" && inField && !inField.closest("dialog")) return inField.blur();
    if (inField || !isSignedIn()) return;
    // The help is reached also where keys are off, to switch them on.
    if (key === "?") return event.preventDefault(), help();
    if (!isOn()) return;
    const before = first;
    first = key === "g" && before === null ? key : null;
    if (before === "g" ? place(key, go) : act(key, go)) event.preventDefault();
  });
}

function place(key, go) {
  const topic = document.querySelector(`#rail a[href^="${base}/topics/"]`);
  const address = key === "t" ? topic?.getAttribute("href").slice(base.length) : PLACES[key];
  // A view that this server does not show is not in the rail either.
  if (!address || !(key === "f" || key === "d" || key === "t" || document.querySelector(`a[href="${base}${address}"]`))) return false;
  void go(address);
  return true;
}

/** Whether the key does something here. */
function act(key, go) {
  const entry = document.activeElement.closest?.("article");
  switch (key) {
    case "j": return step(entry, 1);
    case "k": return step(entry, -1);
    case "o": return press(entry?.querySelector("h2 a"));
    case "c": return void go(send()), true;
    case "/": return place("s", go);
    case "y":
      void navigator.clipboard?.writeText(entry?.querySelector("h2 a")?.href ?? location.href).catch(() => {});
      return true;
  }
  const priority = "1345".includes(key) ? document.querySelector(`main select[aria-label="${texts.words.priority}"]`) : null;
  if (priority) {
    priority.value = key;
    priority.dispatchEvent(new Event("change"));
    return true;
  }
  const wanted = `[data-key="${CSS.escape(key)}"]`;
  return press(entry?.querySelector(wanted) ?? document.querySelector(`main ${wanted}`));
}

const send = () => {
  const topic = location.pathname.slice(base.length).match(/^\/topics\/([^/]+)/);
  return `/send${topic ? `?topic=${topic[1]}` : ""}`;
};

function press(element) {
  element?.click();
  return Boolean(element);
}

function step(entry, by) {
  const all = [...document.querySelectorAll("main article:not([hidden])")];
  const next = all[entry ? all.indexOf(entry) + by : 0];
  next?.querySelector("h2 a")?.focus();
  next?.scrollIntoView({ block: "nearest" });
  return all.length > 0;
}

function help() {
  if (document.querySelector("dialog")) return;
  const on = el("input", { type: "checkbox", checked: isOn(), onchange: () => localStorage.setItem(SWITCH, on.checked ? "on" : "off") });
  const dialog = el("dialog", { "aria-labelledby": "keys" });
  const before = document.activeElement;
  put(dialog,
    el("h2", { id: "keys" }, texts.keys.title),
    el("label", { className: "tick" }, on, el("span", {}, texts.keys.on)),
    el("dl", { className: "keys" }, texts.keys.help.map(([key, words]) => [
      el("dt", {}, key.split(" ").map((each) => [el("kbd", {}, each), " "])), el("dd", {}, words),
    ])),
    el("button", { className: "main", onclick: () => dialog.close() }, texts.keys.close));
  dialog.addEventListener("close", () => {
    dialog.remove();
    before?.focus?.();
  });
  document.body.append(dialog);
  dialog.showModal();
}
