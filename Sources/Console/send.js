// Sends a message, with the command that does the same.
import { base } from "./api.js";
import { el, field, form, note, put, table } from "./dom.js";
import { send } from "./outbox.js";
import { outbox } from "./store.js";
import { explained, texts } from "./texts.js";

/** What somebody has written and not sent yet, by who it is: their session may end meanwhile, and they go on. */
const drafts = new Map();

export async function open({ me, query, topics, go }) {
  const mine = (await topics()).filter(({ roles }) => roles.includes("OWNER") || roles.includes("PUBLISHER"));
  if (mine.length === 0) {
    return { title: texts.places.send, body: el("p", {}, texts.send.noTopic(el("a", { href: base + "/start" }, texts.send.makeOne))) };
  }
  const topic = el("select", {}, mine.map(({ id, name }) => el("option", { value: id }, name)));
  // One that was taken back is offered no more; what is written stays.
  const lost = () => topics().then((found) => {
    const left = new Set(found.map(({ id }) => id));
    [...topic.options].filter(({ value }) => !left.has(value)).forEach((each) => each.remove());
    draw();
  }, () => {});
  addEventListener("tocsin-lost", lost);
  if (mine.some(({ id }) => id === query.get("topic"))) topic.value = query.get("topic");
  const title = el("input", { required: true, maxLength: 1024, autofocus: true });
  const text = el("textarea", {});
  const priority = el("select", {}, Object.entries(texts.priorities).map(([value, words]) => el("option", { value }, words)));
  priority.value = "3";
  const url = el("input", { type: "url", placeholder: "https://" });
  const key = el("input", { autocomplete: "off" });
  const category = el("input", { autocomplete: "off", maxLength: 64 });
  const end = el("input", { type: "datetime-local" });
  const data = el("textarea", { spellcheck: false, placeholder: '{"host": "db-3"}' });
  const preview = el("section", { className: "preview", "aria-label": texts.send.asPush });
  const command = el("pre", { tabIndex: 0 });
  const length = el("p", { className: "hint", role: "status" });
  const input = () => ({
    title: title.value, body: text.value, priority: Number(priority.value), ...(url.value && { url: url.value }), ...(key.value && { key: key.value }),
    ...(category.value && { category: category.value }), ...(end.value && { expiresAt: new Date(end.value).toISOString() }), ...(data.value.trim() && { data: data.value }),
  });
  const written = [topic, title, text, priority, url, key, category, end, data];
  const draw = () => {
    const document = "mutation($input: CreateMessageInput!) { createMessage(input: $input) { id number } }";
    const body = JSON.stringify({ query: document, variables: { input: { topicId: topic.value, type: 0, ...input() } } });
    put(command, `curl ${location.origin}${base}/graphql -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' \\\n  -d '${body.replaceAll("'", "'\\''")}'`);
    const bytes = new TextEncoder().encode(title.value + text.value).length;
    put(preview, el("h2", {}, texts.send.asPush),
      el("div", { className: "card" }, el("strong", {}, title.value || texts.send.title), text.value && el("p", {}, text.value)),
      el("ul", { className: "hint" }, Object.entries(texts.urgencies[priority.value]).map(([platform, words]) => el("li", {}, `${texts.platforms[platform]}: ${words}.`))));
    put(length, bytes > 3500 ? texts.send.long(bytes) : "");
  };
  const made = form([
    field(texts.words.topic, topic), field(texts.send.title, title), field(texts.send.text, text), length, field(texts.words.priority, priority),
    field(texts.words.link, url, texts.send.linkHint), field(texts.words.key, key, texts.send.keyHint),
    el("details", {}, el("summary", {}, texts.words.more),
      field(texts.words.category, category, texts.send.categoryHint), field(texts.words.notPushedAfter, end),
      field(texts.send.data, data, texts.send.dataHint)),
  ], texts.send.send, async () => {
    const made = await send(topic.value, input());
    drafts.delete(me.userId);
    if (made) return go(`/messages/${made.id}`);
    note(texts.send.waits);
    return go(`/topics/${topic.value}`);
  }, { explain: explained });
  made.addEventListener("input", () => {
    drafts.set(me.userId, written.map(({ value }) => value));
    draw();
  });
  // Whoever names a topic wants that one.
  const [draft, isNamed] = [drafts.get(me.userId), query.has("topic")];
  if (draft) written.forEach((each, index) => (each !== topic || !isNamed) && (each.value = draft[index]));
  if (topic.selectedIndex < 0) topic.selectedIndex = 0;
  draw();
  const waiting = el("div");
  const drawWaiting = async () => {
    const rows = (await outbox.all()).map(({ id, input: { title }, refused }) => [
      el("span", { className: "free" }, title), el("span", { className: "free" }, refused ?? texts.send.unsent),
      el("button", {
        className: "danger", "aria-label": texts.send.discardOf(title),
        onclick: () => outbox.remove(id).then(() => dispatchEvent(new Event("tocsin-outbox"))),
      }, texts.send.discard),
    ]);
    put(waiting, rows.length > 0 ? table(texts.send.notSent, texts.send.columns, rows) : null);
  };
  addEventListener("tocsin-outbox", drawWaiting);
  void drawWaiting();
  return {
    title: texts.places.send,
    body: [waiting, made, preview, el("details", {}, el("summary", {}, texts.send.asCommand), command)],
    stop() {
      removeEventListener("tocsin-outbox", drawWaiting);
      removeEventListener("tocsin-lost", lost);
    },
  };
}
