// Buttons of a message: links that it brings, and calls that the server makes when somebody presses.
import { client } from "./api.js";
import { el, link, moment, put } from "./dom.js";
import { ago, explained, texts } from "./texts.js";

export const BUTTONS = "buttons { id title url isCall mayPress press { at isDone status problem } }";
const PRESS = "mutation Press($message: ID!, $id: ID!) { press: pressButton(messageId: $message, id: $id) { at isDone status problem } }";

/** The buttons of a message that do something here; null: it has none. Others are for apps alone. */
export function buttons(message) {
  const shown = (message.buttons ?? []).filter(({ url, isCall }) => url || isCall);
  if (shown.length === 0) return null;
  const items = shown.map((button) => el("li", { className: "row" }, button.isCall ? call(message, button) : view(button, { className: "button free" })));
  return [el("h2", {}, texts.buttons.title), el("ul", { className: "buttons", role: "list" }, items)];
}

/** Links that a sender gave a message beside its buttons, such as buttons whose calls are not allowed; null: it has none. */
export function links({ data }) {
  try {
    const listed = JSON.parse(JSON.parse(data).links).filter(({ text, url }) => typeof text === "string" && typeof url === "string");
    return listed.length > 0 ? listed.slice(0, 10).map(({ text, url }) => el("div", {}, view({ title: text, url }))) : null;
  } catch {
    // A publisher's own data may say anything under this name.
    return null;
  }
}

/** A link, with where it leads beside it: what stands on it may say anything. */
function view({ title, url }, more = {}) {
  const made = link(url, title);
  if (made.localName !== "a") return [el("strong", { className: "free" }, title), " ", made];
  const place = new URL(url).host || url;
  Object.assign(made, more);
  made.setAttribute("aria-label", texts.buttons.opens(title, place));
  return [made, " ", el("span", { className: "hint free" }, place)];
}

/** A button that calls, and what came of it. Nobody presses what would do nothing. */
function call(message, { id, title, mayPress, press: last }) {
  const told = el("span", { role: "status", tabIndex: -1 });
  const holder = el("span");
  const button = el("button", {
    "aria-label": texts.words.of(title, message.title || texts.words.noTitle), onclick: press,
  }, el("span", { className: "free" }, title));

  function draw() {
    const isOpen = mayPress && !last?.isDone;
    const hadFocus = holder.contains(document.activeElement);
    put(holder, isOpen ? button : el("strong", { className: "free" }, title));
    put(told, said(last, mayPress));
    if (hadFocus) (isOpen ? button : told).focus({ preventScroll: true });
  }

  async function press() {
    if (button.getAttribute("aria-disabled")) return;
    button.setAttribute("aria-disabled", "true");
    put(told, texts.buttons.underWay);
    try {
      ({ press: last } = await client.mutate(PRESS, { message: message.id, id }));
      draw();
    } catch (error) {
      // It is over, or the right to read the message is.
      mayPress = error.code !== "UNAUTHORIZED";
      if (mayPress) put(told, el("span", { className: "failed" }, explained(error)));
      else draw();
    }
    button.removeAttribute("aria-disabled");
  }

  draw();
  return [holder, told];
}

/** What came of the last press, and what a press would do. */
function said(last, mayPress) {
  const over = mayPress ? null : texts.buttons.over;
  if (!last) return over ?? texts.buttons.calls;
  const when = moment(last.at, ago(last.at));
  if (last.isDone) return el("span", { className: "passed" }, texts.buttons.done(last.status, when));
  const again = over ?? texts.buttons.again;
  if (last.status) return [el("span", { className: "failed" }, texts.buttons.refused(last.status, when)), " ", again];
  if (last.problem) return [el("span", { className: "failed" }, texts.buttons.unanswered(el("span", { className: "free" }, last.problem), when)), " ", again];
  return [texts.buttons.begun(when), " ", over ?? texts.buttons.ask];
}
