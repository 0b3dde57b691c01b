// The feed of one topic, or of all that may be read: newest first, live, without a jump.
import { base, client } from "./api.js";
import { el, field, form, moment, note, put } from "./dom.js";
import { FIELDS, line } from "./message-line.js";
import { answered, forgetMessages, keepMessages, keptMessages } from "./store.js";
import { ago, explained, texts } from "./texts.js";
import { oneAtATime, soon } from "./turns.js";

const PAGE = 50;
const MOST = 500;
const ALL = `query Feed($limit: Int, $nextToken: String, $filter: ModelMessageFilterInput) {
  page: history(limit: $limit, nextToken: $nextToken, filter: $filter) { items { ${FIELDS} } nextToken } }`;
const ONE = `query TopicFeed($id: ID!, $limit: Int, $nextToken: String, $filter: ModelMessageFilterInput) {
  page: getMessageByTopicIdAndCreatedAt(topicId: $id, sortDirection: DESC, limit: $limit, nextToken: $nextToken, filter: $filter) { items { ${FIELDS} } nextToken } }`;
/** All that may be read. A cursor would ask for one's own topics alone; what was missed is in the page that is read again. */
const NEW = `subscription NewMessages { onCreateMessage { ${FIELDS} } }`;

/** Which of two messages stands above the other: numbers count within a topic, times between topics. */
const order = (one, other) =>
  one.topicId === other.topicId ? other.number - one.number : Date.parse(other.createdAt) - Date.parse(one.createdAt);

/** The filter as the server takes it; null: none. */
function filterOf({ type = null, category, from, until }) {
  const time = (moment) => new Date(moment).toISOString();
  const parts = [
    type !== null && { type: { eq: type } }, category && { category: { eq: category } }, from && { createdAt: { ge: time(from) } }, until && { createdAt: { lt: time(until) } },
  ].filter(Boolean);
  return parts.length > 0 ? { and: parts } : null;
}

export async function open({ id, go, topics }) {
  const known = await topics();
  if (id === null && known.length === 0) {
    void go("/start");
    return { title: texts.places.start, body: [] };
  }
  const topic = id === null ? null : known.find((each) => each.id === id);
  if (id !== null && !topic) throw Object.assign(new Error(texts.words.noSuchTopic), { code: "UNAUTHORIZED" });
  const names = topic ? null : Object.fromEntries(known.map((each) => [each.id, each.name]));
  const ended = new AbortController();
  const list = el("div", { role: "feed", "aria-label": topic?.name ?? texts.places.feed });
  const empty = el("p", { className: "hint" },
    texts.feed.none(el("a", { href: `${base}/send${topic ? `?topic=${topic.id}` : ""}` }, texts.feed.sendFirst)));
  const fresh = el("button", { className: "main", hidden: true, onclick: lookAtFresh });
  const older = el("button", { hidden: true, onclick: () => more().catch((error) => note(explained(error))) }, texts.feed.older);
  const none = el("p", { className: "hint", role: "status" });
  const said = el("p", { className: "hidden", role: "status" });
  /** Says that the list has skipped something. */
  const gap = el("div", { role: "status" });
  /** What is shown, the newest first, and its articles by id. */
  let entries = [];
  const articles = new Map();
  let waiting = [];
  let least = 1;
  /** What else messages must be: their `type` and `category`, and `from` and `until` as times. */
  let wanted = {};
  /** By topic, the number of the last message that was read; null while what was read is shown too. */
  let read = null;
  let next = null;
  let drawing = null;
  let isStale = false;
  let wasLive = false;
  /** Whether older ones made room: what follows the last one is not known any more. */
  let isCut = false;

  const isKnown = ({ id }) => articles.has(id) || waiting.some((each) => each.id === id);
  const pageOf = async (nextToken) => (await client.query(...(topic
    ? [ONE, { id: topic.id, limit: PAGE, nextToken, filter: filterOf(wanted) }]
    : [ALL, { limit: PAGE, nextToken, filter: filterOf(wanted) }]))).page;

  function entry(message) {
    const article = line(message, names);
    if (topic) {
      article.lastElementChild.append(el("button", {
        className: "small", "data-key": "e", "aria-label": texts.feed.readUpTo(message.title, message.number), onclick: () => markRead(message.number),
      }, texts.feed.readHere));
    }
    return article;
  }

  async function markRead(number) {
    try {
      await client.query("mutation Read($topicId: ID, $number: Int) { markRead(topicId: $topicId, number: $number) { unread } }", { topicId: id, number });
      dispatchEvent(new Event("tocsin-marked"));
    } catch (error) {
      note(explained(error));
    }
  }

  function add(messages) {
    for (const message of messages) {
      if (articles.has(message.id)) continue;
      articles.set(message.id, entry(message));
      const place = entries.findIndex((each) => order(message, each) < 0);
      entries.splice(place < 0 ? entries.length : place, 0, message);
    }
    if (entries.length <= MOST) return;
    remove(entries.slice(MOST));
    isCut = true;
  }

  function remove(messages) {
    const gone = new Set(messages);
    for (const { id } of messages) articles.delete(id);
    entries = entries.filter((each) => !gone.has(each));
  }

  // Of a topic without a mark nothing counts as unread, as in the list of topics.
  const passes = (message) => message.priority >= least
    && (!read || message.number > (read.get(message.topicId) ?? Infinity)) && isWanted(message);
  /** What the server's answers hold. */
  const isWanted = ({ type, category, createdAt }) => (wanted.type == null || type === wanted.type) && (!wanted.category || category === wanted.category)
    && (!wanted.from || Date.parse(createdAt) >= wanted.from) && (!wanted.until || Date.parse(createdAt) < wanted.until);
  const readNumbers = async () => {
    const { answer: { readState } } = await answered("read numbers", () => client.query("{ readState { topics { topicId number } } }"));
    return new Map(readState.topics.map((each) => [each.topicId, each.number]));
  };
  const readAnew = oneAtATime(async () => {
    const now = await readNumbers();
    if (read) read = now;
    draw();
  }, (error) => ended.signal.aborted || note(explained(error)));
  addEventListener("tocsin-read", soon(() => read && !ended.signal.aborted && void readAnew()), { signal: ended.signal });

  /** Puts on the screen what there is, once a frame; who has the focus keeps it. */
  const draw = () => (drawing ??= requestAnimationFrame(drawNow));
  function drawNow() {
    drawing = null;
    const present = entries.map(({ id }) => articles.get(id));
    const keep = new Set(present);
    for (const each of [...list.children]) if (!keep.has(each)) each.remove();
    present.forEach((article, index) => {
      article.hidden = !passes(entries[index]);
      if (list.children[index] !== article) list.insertBefore(article, list.children[index] ?? null);
    });
    older.hidden = !next && !isCut;
    fresh.hidden = waiting.length === 0;
    put(fresh, texts.words.newOnes(waiting.length));
    empty.hidden = entries.length > 0;
    list.hidden = entries.length === 0;
    const isFiltered = filterOf(wanted) !== null;
    empty.hidden ||= isFiltered;
    put(none, (entries.length > 0 || isFiltered) && !entries.some(passes) ? texts.feed.filtered : null);
    // What had the focus is not shown any more: the next entry has it.
    if (list.querySelector("[hidden] :focus")) (list.querySelector("article:not([hidden]) a") ?? unread).focus({ preventScroll: true });
  }

  async function more() {
    if (isCut) return dispatchEvent(new Event("tocsin-anew"));
    const page = await pageOf(next);
    next = page.nextToken;
    const items = page.items.filter(Boolean);
    // Who asks for older ones sees them, however many there are.
    for (const message of items) if (!isKnown(message)) articles.set(message.id, entry(message)), entries.push(message);
    entries.sort(order);
    void keepMessages(items);
    drawNow();
  }

  /** What the server has now, in place of what was deleted, or missed, while nobody listened. */
  async function stand() {
    const [before, asked] = [new Set(entries), wanted];
    const { answer: page, isOld } = await answered(`feed ${id}`, () => pageOf(null), async () => {
      const items = (await keptMessages(id)).slice(0, MOST);
      return items.length > 0 ? { items, nextToken: null } : undefined;
    });
    // Another filter was chosen meanwhile; its own answer comes.
    if (ended.signal.aborted || asked !== wanted) return;
    isStale = isOld;
    const items = page.items.filter(Boolean);
    const ids = new Set(items.map((each) => each.id));
    const last = items.at(-1);
    // Only if its oldest one was known does the page meet what stands below it.
    const overlaps = last !== undefined && isKnown(last);
    if (!isOld) {
      // What lies behind a hole is read again by "Older messages".
      const gone = entries.filter((each) => before.has(each) && isWanted(each) && !ids.has(each.id) && (!overlaps || !page.nextToken || order(each, last) <= 0));
      remove(gone);
      void forgetMessages(gone.map((each) => each.id));
      if (!overlaps || !page.nextToken) [next, isCut] = [page.nextToken, false];
      void keepMessages(items);
    }
    if (before.size === 0) add(items);
    else items.filter((each) => !isKnown(each)).reverse().forEach(come);
    draw();
  }

  function showFresh() {
    add(waiting);
    waiting = [];
    draw();
  }

  /** Who asks for what is new sees it, and goes on from there by keys. */
  function lookAtFresh() {
    showFresh();
    drawNow();
    scrollTo(0, 0);
    (list.querySelector("article:not([hidden]) a") ?? unread).focus({ preventScroll: true });
  }

  function come(message) {
    if (isKnown(message)) return;
    waiting.push(message);
    if (waiting.length > MOST) waiting.shift();
    // Who has scrolled down reads on; the rest is one press away.
    if (scrollY < 200 && document.visibilityState === "visible") return showFresh();
    draw();
  }

  let quiet = null;
  function tell() {
    quiet ??= setTimeout(() => {
      quiet = null;
      put(said, texts.feed.come(topic?.name));
    }, 5000);
  }

  function hear(message) {
    come(message);
    tell();
    void keepMessages([message]);
    dispatchEvent(new Event("tocsin-read"));
  }

  async function listen(after) {
    try {
      const more = { signal: ended.signal, onState };
      if (topic) for await (const message of client.follow(id, { ...more, after })) hear(message);
      else for await (const { onCreateMessage } of client.subscribe(NEW, {}, more)) hear(onCreateMessage);
    } catch (error) {
      if (ended.signal.aborted) return;
      if (error.code === "UNAUTHENTICATED") return dispatchEvent(new Event("tocsin-signed-out"));
      // What cannot be resumed is read anew, and who looks on is told.
      if (["BAD_CURSOR", "CURSOR_EXPIRED"].includes(error.code)) return warn(), listen();
      // Who may no longer read it sees so at once; who never could, who may publish alone, is told.
      if (error.code === "UNAUTHORIZED" && wasLive) return dispatchEvent(new Event("tocsin-anew"));
      if (error.code === "UNAUTHORIZED" && topic) return put(empty, texts.feed.notRead);
      note(explained(error));
    }
  }

  function warn() {
    const newest = entries[0]?.createdAt;
    put(gap, el("p", { className: "error" }, texts.feed.gap(newest && moment(newest, ago(newest))),
      el("button", { onclick: () => dispatchEvent(new Event("tocsin-anew")) }, texts.feed.loadAnew)));
  }

  const refresh = oneAtATime(stand, (error) => ended.signal.aborted || note(explained(error)));
  function onState({ state }) {
    dispatchEvent(new CustomEvent("tocsin-state", { detail: state }));
    if (state !== "live") return;
    wasLive = true;
    void refresh();
  }
  // Who comes back to the page sees what came meanwhile.
  const back = () => document.visibilityState === "visible" && scrollY < 200 && showFresh();
  document.addEventListener("visibilitychange", back, { signal: ended.signal });
  await stand();
  drawNow();
  // A topic's list without an answer goes on where it ends; any other is read again when the line is live.
  void listen(isStale ? entries[0]?.cursor : undefined);

  const choice = el("select", {
    "aria-label": texts.words.priority,
    onchange() {
      least = Number(choice.value);
      draw();
    },
  }, Object.entries(texts.feed.least).map(([value, words]) => el("option", { value }, words)));
  const unread = el("button", {
    "aria-pressed": "false",
    async onclick() {
      try {
        read = read ? null : await readNumbers();
      } catch (error) {
        note(explained(error));
      }
      unread.setAttribute("aria-pressed", String(read !== null));
      draw();
    },
  }, texts.feed.unreadOnly);
  const readAll = el("button", {
    "data-key": "E",
    onclick: () => markRead(null),
  }, texts.feed.readAll);
  const type = el("input", { type: "number", step: 1 });
  const category = el("input", { autocomplete: "off", maxLength: 64 });
  const [from, until] = [0, 1].map(() => el("input", { type: "datetime-local" }));
  const moreFilters = el("details", {}, el("summary", {}, texts.feed.more),
    form([field(texts.feed.type, type), field(texts.words.category, category), field(texts.feed.from, from), field(texts.feed.until, until)], texts.feed.filter, async () => {
      const time = ({ value }) => (value ? Date.parse(value) : null);
      wanted = { type: type.value === "" ? null : Number(type.value), category: category.value.trim(), from: time(from), until: time(until) };
      // What is kept of other filters is not what stands between the ones that pass this one.
      remove(entries);
      [waiting, next, isCut] = [[], null, false];
      await stand();
    }, { explain: explained }));
  const settings = topic ? el("a", { className: "button", href: `${base}/topics/${topic.id}/settings` }, texts.feed.settings) : null;
  return {
    title: topic?.name ?? texts.places.feed,
    body: [el("div", { className: "row" }, choice, unread, readAll, settings), moreFilters, said, gap, none, el("div", { className: "new" }, fresh), empty, list, el("div", { className: "row" }, older)],
    stop: () => ended.abort(),
  };
}
