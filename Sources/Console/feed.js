// The feed of one topic, or of all that may be read: newest first, live, without a jump.
import { base, client } from "./api.js";
import { el, note, put } from "./dom.js";
import { FIELDS, line } from "./message-line.js";
import { explained } from "./texts.js";

const PAGE = 50;
const MOST = 500;
const ALL = `query Feed($limit: Int, $nextToken: String) { history(limit: $limit, nextToken: $nextToken) { items { ${FIELDS} } nextToken } }`;
const ONE = `query TopicFeed($id: ID!, $limit: Int, $nextToken: String) {
  page: getMessageByTopicIdAndCreatedAt(topicId: $id, sortDirection: DESC, limit: $limit, nextToken: $nextToken) { items { ${FIELDS} } nextToken } }`;

export async function open({ id, go, topics }) {
  const known = await topics();
  if (id === null && known.length === 0) {
    void go("/start");
    return { title: "Start", body: [] };
  }
  const topic = id === null ? null : known.find((each) => each.id === id);
  if (id !== null && !topic) throw Object.assign(new Error("There is no such topic."), { code: "UNAUTHORIZED" });
  const names = topic ? null : Object.fromEntries(known.map((each) => [each.id, each.name]));
  const ended = new AbortController();
  const list = el("div", { role: "feed", "aria-label": topic?.name ?? "All messages" });
  const empty = el("p", { className: "hint" }, "No message yet. ", el("a", { href: `${base}/send${topic ? `?topic=${topic.id}` : ""}` }, "Send the first one."));
  const fresh = el("button", { className: "main", hidden: true, onclick: showFresh });
  const older = el("button", { hidden: true, onclick: () => more().catch((error) => note(explained(error))) }, "Older messages");
  const seen = new Set();
  let waiting = [];
  let least = 1;
  let next = null;

  const passes = (message) => message.priority >= least;

  async function more() {
    const page = topic
      ? (await client.query(ONE, { id: topic.id, limit: PAGE, nextToken: next })).page
      : (await client.query(ALL, { limit: PAGE, nextToken: next })).history;
    next = page.nextToken;
    older.hidden = !next;
    for (const message of page.items) {
      if (!message || seen.has(message.id)) continue;
      seen.add(message.id);
      const shown = line(message, names);
      shown.dataset.priority = message.priority;
      shown.hidden = !passes(message);
      list.append(shown);
    }
    empty.hidden = list.childElementCount > 0;
  }

  function showFresh() {
    for (const message of waiting) {
      const shown = line(message, names);
      shown.dataset.priority = message.priority;
      shown.hidden = !passes(message);
      list.prepend(shown);
    }
    waiting = [];
    fresh.hidden = true;
    empty.hidden = list.childElementCount > 0;
    while (list.childElementCount > MOST) list.lastElementChild.remove();
  }

  function come(message) {
    if (seen.has(message.id)) return;
    seen.add(message.id);
    waiting.push(message);
    if (waiting.length > MOST) waiting.shift();
    // Who has scrolled down reads on; the rest is one press away.
    if (scrollY < 200 && document.visibilityState === "visible") return showFresh();
    fresh.hidden = false;
    put(fresh, `${waiting.length} new`);
  }

  async function listen(feed) {
    try {
      for await (const message of feed) come(message);
    } catch (error) {
      if (ended.signal.aborted) return;
      if (error.code === "UNAUTHENTICATED") return dispatchEvent(new Event("tocsin-signed-out"));
      note(explained(error));
    }
  }

  const onState = ({ state }) => dispatchEvent(new CustomEvent("tocsin-state", { detail: state }));
  // The feed begins before the list is read, so nothing falls between the two.
  const feed = client.follow(topic?.id ?? null, { signal: ended.signal, onState });
  void listen(feed);
  await more();

  const choice = el("select", {
    "aria-label": "Priority",
    onchange() {
      least = Number(choice.value);
      for (const shown of list.children) shown.hidden = Number(shown.dataset.priority) < least;
    },
  }, [[1, "every priority"], [3, "normal and above"], [4, "high and above"], [5, "urgent"]].map(([value, words]) => el("option", { value }, words)));
  const read = el("button", {
    async onclick() {
      try {
        await client.query("mutation Read($topicId: ID) { markRead(topicId: $topicId) { unread } }", { topicId: topic?.id ?? null });
        dispatchEvent(new Event("tocsin-read"));
      } catch (error) {
        note(explained(error));
      }
    },
  }, "Mark all as read");
  const settings = topic ? el("a", { className: "button", href: `${base}/topics/${topic.id}/settings` }, "Topic settings") : null;
  return {
    title: topic?.name ?? "All messages",
    body: [el("div", { className: "row" }, choice, read, settings), el("div", { className: "new" }, fresh), empty, list, el("div", { className: "row" }, older)],
    stop: () => ended.abort(),
  };
}
