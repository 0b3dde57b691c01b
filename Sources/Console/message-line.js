// One message in a list: what it says, how urgent it is, where it stands.
import { base } from "./api.js";
import { beginning, el, link, moment } from "./dom.js";
import { ago, texts } from "./texts.js";

export const FIELDS = "id number cursor type typeName title body createdAt priority url data category key topicId author";

/** `names` are those of topics by id, for lists of several; `shown` makes children of a text. */
export function line(message, names, shown = (text) => text) {
  const { priority } = message;
  return el("article", { id: `m-${message.id}`, "aria-labelledby": `t-${message.id}` },
    el("span", { className: `priority p${priority}` },
      el("span", { "aria-hidden": "true" }, texts.shapes[priority] ?? ""), " ", texts.priorities[priority] ?? String(priority)),
    el("h2", { id: `t-${message.id}` }, el("a", { className: "free", href: `${base}/messages/${message.id}` }, message.title ? shown(message.title) : texts.words.noTitle)),
    message.body ? el("p", { className: "text" }, shown(beginning(message.body))) : null,
    el("p", { className: "meta" },
      names ? el("a", { href: `${base}/topics/${message.topicId}`, className: "free" }, names[message.topicId] ?? message.topicId) : null,
      el("span", {}, `#${message.number}`), moment(message.createdAt, ago(message.createdAt)),
      message.typeName ? el("span", { className: "free" }, message.typeName) : null,
      message.key ? el("span", { className: "free" }, message.key) : null,
      message.url ? link(message.url, texts.messageLine.openLink) : null));
}
