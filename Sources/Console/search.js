// Messages that have a text in their title or body, of all topics that may be read, the newest first.
import { base, client } from "./api.js";
import { el, field, note, put } from "./dom.js";
import { FIELDS, line } from "./message-line.js";
import { answered, keptMessages } from "./store.js";
import { explained, texts } from "./texts.js";

const PAGE = 50;
const FOUND = `query Search($filter: ModelMessageFilterInput, $limit: Int, $nextToken: String) {
  page: history(filter: $filter, limit: $limit, nextToken: $nextToken) { items { ${FIELDS} } nextToken } }`;

export async function open({ query, topics }) {
  const known = await topics();
  const names = Object.fromEntries(known.map(({ id, name }) => [id, name]));
  const text = el("input", { type: "search", required: true, maxLength: 200, value: query.get("q") ?? "", autocomplete: "off", autofocus: true });
  const topic = el("select", {}, el("option", { value: "" }, texts.words.everyTopic), known.map(({ id, name }) => el("option", { value: id }, name)));
  if (known.some(({ id }) => id === query.get("topic"))) topic.value = query.get("topic");
  const day = (name) => el("input", { type: "date", value: /^\d{4}-\d\d-\d\d$/.test(query.get(name) ?? "") ? query.get(name) : "" });
  const [from, to] = [day("from"), day("to")];
  const list = el("div", { role: "feed", "aria-label": texts.search.list, hidden: true });
  const said = el("p", { className: "hint", role: "status" });
  const further = el("button", { hidden: true, onclick: () => run(next) }, texts.search.further);
  let next = null;
  let found = 0;
  let turn = 0;

  async function run(nextToken) {
    const asked = (turn += 1);
    const wanted = text.value.trim();
    if (nextToken === null) {
      found = 0;
      put(list);
      list.hidden = true;
    }
    further.hidden = true;
    if (!wanted) return put(said, "");
    put(said, texts.words.looking);
    const filter = filterOf(wanted, topic.value, from.value, to.value);
    try {
      const { answer, isOld } = await answered("search", async () => (await client.query(FOUND, { filter, limit: PAGE, nextToken })).page,
        async () => ({ items: (await keptMessages(topic.value || null)).filter((each) => fits(each, wanted, from.value, to.value)), nextToken: null }));
      if (asked !== turn) return;
      const items = answer.items.filter(Boolean);
      found += items.length;
      next = answer.nextToken;
      list.append(...items.map((message) => line(message, names, marker(wanted))));
      list.hidden = found === 0;
      further.hidden = !next;
      put(said, isOld ? texts.search.kept(found)
        : next ? texts.search.soFar(found) : found === 0 ? texts.search.none : texts.search.all(found));
    } catch (error) {
      if (asked !== turn) return;
      put(said);
      note(explained(error));
      further.hidden = nextToken === null;
    }
  }

  const form = el("form", { role: "search" },
    field(texts.search.text, text), field(texts.words.topic, topic),
    el("div", { className: "row" }, field(texts.search.from, from), field(texts.search.to, to)),
    el("div", { className: "row" }, el("button", { className: "main", type: "submit" }, texts.search.search)));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const kept = new URLSearchParams(Object.entries({ q: text.value.trim(), topic: topic.value, from: from.value, to: to.value }).filter(([, value]) => value));
    history.replaceState(history.state, "", `${base}/search?${kept}`);
    void run(null);
  });
  void run(null);
  return { title: texts.places.search, body: [form, said, list, el("div", { className: "row" }, further)], stop: () => (turn += 1) };
}

/** The text as it is written, and in the other ways that words are written. */
function ways(text) {
  const lower = text.toLowerCase();
  return [...new Set([text, lower, lower[0].toUpperCase() + lower.slice(1), text.toUpperCase()])];
}

function filterOf(text, topicId, from, to) {
  const or = ways(text).flatMap((each) => [{ title: { contains: each } }, { body: { contains: each } }]);
  const createdAt = { ...(from && { ge: startOf(from) }), ...(to && { lt: startOf(to, 1) }) };
  return { or, ...(topicId && { topicId: { eq: topicId } }), ...((from || to) && { createdAt }) };
}

/** The moment when a day begins here, or one so many days later. */
const startOf = (day, later = 0) => {
  const [year, month, date] = day.split("-").map(Number);
  return new Date(year, month - 1, date + later).toISOString();
};

function fits({ title, body, createdAt }, text, from, to) {
  const has = ways(text).some((each) => title?.includes(each) || body?.includes(each));
  return has && (!from || createdAt >= startOf(from)) && (!to || createdAt < startOf(to, 1));
}

/** Shows a text with what was looked for marked. */
const marker = (wanted) => (text) => {
  const forms = ways(wanted);
  const parts = [];
  for (let rest = text; rest; ) {
    const places = forms.map((each) => [rest.indexOf(each), each]).filter(([place]) => place >= 0).sort(([one], [other]) => one - other);
    if (places.length === 0 || parts.length > 100) return [...parts, rest];
    const [place, form] = places[0];
    parts.push(rest.slice(0, place), el("mark", {}, rest.slice(place, place + form.length)));
    rest = rest.slice(place + form.length);
  }
  return parts;
};
