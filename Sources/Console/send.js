// Sends a message, with the command that does the same.
import { base } from "./api.js";
import { el, field, form, note, put, table } from "./dom.js";
import { send } from "./outbox.js";
import { outbox } from "./store.js";
import { explained, texts } from "./texts.js";

export async function open({ query, topics, go }) {
  const mine = (await topics()).filter(({ roles }) => roles.includes("OWNER") || roles.includes("PUBLISHER"));
  if (mine.length === 0) {
    return { title: "Send", body: el("p", {}, "There is no topic that you may publish to. ", el("a", { href: base + "/start" }, "Make one.")) };
  }
  const topic = el("select", {}, mine.map(({ id, name }) => el("option", { value: id }, name)));
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
  const preview = el("section", { className: "preview", "aria-label": "As a push" });
  const command = el("pre", { tabIndex: 0 });
  const length = el("p", { className: "hint", role: "status" });
  const input = () => ({
    title: title.value, body: text.value, priority: Number(priority.value), ...(url.value && { url: url.value }), ...(key.value && { key: key.value }),
    ...(category.value && { category: category.value }), ...(end.value && { expiresAt: new Date(end.value).toISOString() }), ...(data.value.trim() && { data: data.value }),
  });
  const draw = () => {
    const document = "mutation($input: CreateMessageInput!) { createMessage(input: $input) { id number } }";
    const body = JSON.stringify({ query: document, variables: { input: { topicId: topic.value, type: 0, ...input() } } });
    put(command, `curl ${location.origin}${base}/graphql -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' \\\n  -d '${body.replaceAll("'", "'\\''")}'`);
    const bytes = new TextEncoder().encode(title.value + text.value).length;
    put(preview, el("h2", {}, "As a push"), el("div", { className: "card" }, el("strong", {}, title.value || "Title"), text.value && el("p", {}, text.value)),
      el("ul", { className: "hint" }, Object.entries(texts.urgencies[priority.value]).map(([platform, words]) => el("li", {}, `${texts.platforms[platform]}: ${words}.`))));
    put(length, bytes > 3500 ? `${bytes} bytes: phones get the beginning, the app reads the rest.` : "");
  };
  const made = form([
    field("Topic", topic), field("Title", title), field("Text", text), length, field("Priority", priority),
    field("Link", url, "optional"), field("Key", key, "optional; a repeat with the same key is not sent again"),
    el("details", {}, el("summary", {}, "More"),
      field("Category", category, "names the buttons of the app"), field("Not pushed after", end), field("Data", data, "for the app: a JSON object of strings")),
  ], "Send", async () => {
    const made = await send(topic.value, input());
    if (made) return go(`/messages/${made.id}`);
    note("It waits, and is sent when the server can be reached.");
    return go(`/topics/${topic.value}`);
  }, { explain: explained });
  made.addEventListener("input", draw);
  draw();
  const waiting = el("div");
  const drawWaiting = async () => {
    const rows = (await outbox.all()).map(({ id, input: { title }, refused }) => [
      el("span", { className: "free" }, title), el("span", { className: "free" }, refused ?? "waits until the server can be reached"),
      el("button", { className: "danger", "aria-label": `Discard ${title}`, onclick: () => outbox.remove(id).then(() => dispatchEvent(new Event("tocsin-outbox"))) }, "Discard"),
    ]);
    put(waiting, rows.length > 0 ? table("Not sent yet", ["Title", "Why", "What to do"], rows) : null);
  };
  addEventListener("tocsin-outbox", drawWaiting);
  void drawWaiting();
  return { title: "Send", stop: () => removeEventListener("tocsin-outbox", drawWaiting), body: [waiting, made, preview, el("details", {}, el("summary", {}, "As a command"), command)] };
}
