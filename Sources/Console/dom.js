// Elements. Text goes in as text; nothing here takes markup.

/** An element with properties, attributes (`aria-…`, `role`, `for`), listeners (`onclick`) and children. */
export function el(name, properties = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (value === undefined || value === null) continue;
    if (key in element && !key.includes("-")) element[key] = value;
    else element.setAttribute(key, value);
  }
  put(element, ...children);
  return element;
}

/** Puts these children, texts and elements, in place of those that are there. */
export function put(element, ...children) {
  element.replaceChildren(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
}

/** A moment: how long ago, with the exact time for who asks. */
export function moment(time, words) {
  const exact = new Date(time);
  return el("time", { dateTime: time, title: `${exact.toLocaleString()} · ${exact.toISOString()}` }, words);
}

/** A sentence of the server, with its moments as people write them, by their own clock. */
export function sentence(text) {
  const parts = text.split(/(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)/);
  const written = (time) => new Date(time).toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
  // A text of a stranger, which may stand in it, can look like a moment and be none.
  return parts.map((part, index) => (index % 2 === 1 && !Number.isNaN(Date.parse(part)) ? moment(part, written(part)) : part));
}

/** So much of a text stands in a list: more than the six lines that are seen of it. Browsers lay out all of a long one. */
const LONGEST = 2000;

/** What is shown of a text in a list. */
export function beginning(text) {
  return text.length > LONGEST ? `${text.slice(0, LONGEST).replace(/[\ud800-\udbff]$/, "")} …` : text;
}

let hints = 0;
/** A label with its field; `hint` stands between them, and is the field's description: it is no part of its name. */
export function field(label, input, hint) {
  if (input.type === "checkbox") return el("label", { className: "tick" }, input, el("span", {}, label));
  if (!hint) return el("label", {}, label, input);
  const id = `hint-${(hints += 1)}`;
  input.setAttribute("aria-labelledby", `${id}-of`);
  input.setAttribute("aria-describedby", id);
  return el("label", {}, el("span", { id: `${id}-of` }, label), el("small", { id }, " " + hint), input);
}

let problems = 0;
/** A form that is sent once at a time. Errors stand below it, or below the field that `at` says is at fault, and are read out. */
export function form(fields, label, send, { explain, at = () => null }) {
  const problem = el("p", { className: "error", role: "alert", hidden: true, id: `problem-${(problems += 1)}` });
  let [wrong, described] = [null, null];
  const button = el("button", { className: "main", type: "submit" }, label);
  const made = el("form", {}, ...fields, el("div", { className: "row" }, button), problem);
  made.addEventListener("submit", async (event) => {
    event.preventDefault();
    const focused = document.activeElement;
    button.disabled = true;
    problem.hidden = true;
    wrong?.removeAttribute("aria-invalid");
    if (described) wrong?.setAttribute("aria-describedby", described);
    else wrong?.removeAttribute("aria-describedby");
    try {
      await send();
    } catch (error) {
      wrong = at(error);
      described = wrong?.getAttribute("aria-describedby") ?? null;
      // What is said is said where it is read out from: an alert that moves is told anew.
      if (wrong) wrong.closest("label").after(problem);
      else made.append(problem);
      problem.hidden = false;
      put(problem, explain(error));
      wrong?.setAttribute("aria-invalid", "true");
      wrong?.setAttribute("aria-describedby", [problem.id, described].filter(Boolean).join(" "));
      wrong?.focus();
      problem.scrollIntoView({ block: "nearest" });
    } finally {
      button.disabled = false;
      // Browsers take the focus from a button that is off.
      if (document.activeElement === document.body && made.contains(focused)) focused.focus({ preventScroll: true });
    }
  });
  return made;
}

/**
 * A table with a caption and named columns. On a narrow screen one of many columns shows each row as a list; what it is
 * stays said by roles, which browsers would take from how it is shown.
 */
export function table(caption, columns, rows) {
  const cells = (row) => row.map((cell, index) => el("td", { role: "cell", "data-column": columns[index] }, cell));
  return el("div", { className: "scroll", tabIndex: 0, role: "region", "aria-label": caption },
    el("table", { role: "table", className: columns.length > 3 ? "many" : "" }, el("caption", {}, caption),
      el("thead", { role: "rowgroup" }, el("tr", { role: "row" }, columns.map((name) => el("th", { scope: "col", role: "columnheader" }, name)))),
      el("tbody", { role: "rowgroup" }, rows.map((row) => el("tr", { role: "row" }, cells(row))))));
}

/** Says something in passing, to eyes and ears. */
export function note(text) {
  const line = el("p", {}, text);
  document.getElementById("notes").append(line);
  setTimeout(() => line.remove(), 8000);
}

/** Asks with the system's own dialog before something is done that cannot be undone. */
export function sure(question) {
  return window.confirm(question);
}

/** A link that leaves only for schemes that are safe; anything else is shown as text. */
export function link(address, words = address) {
  let scheme = "";
  try {
    scheme = new URL(address).protocol;
  } catch {
    // No address at all.
  }
  if (!["https:", "http:", "mailto:", "tel:"].includes(scheme)) return el("span", { className: "free" }, address);
  return el("a", { href: address, rel: "noopener noreferrer", target: "_blank", className: "free" }, words);
}
