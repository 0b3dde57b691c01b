// Routes of an integration: where its events go by their labels, a line each, as the command line writes them.
import { all, client, proven } from "./api.js";
import { el, field, form, note, put } from "./dom.js";
import { person } from "./store.js";
import { explained, texts } from "./texts.js";

const ROUTES = "query Routes($id: ID!) { getIntegration(id: $id) { routes { match topicId priority } _version _deleted } }";
const TOPICS = "query Topics($nextToken: String) { listTopics(limit: 100, nextToken: $nextToken) { items { id name _deleted } nextToken } }";
const SAVE = `mutation Routes($input: UpdateIntegrationInput!) { updateIntegration(input: $input) {
  routes { match topicId priority } } }`;

/** What somebody has written and not saved yet, and the routes that it began with: other buttons draw the page anew. */
const drafts = new Map();

const wrong = (line) => Object.assign(new Error(texts.integrations.noRoute(line)), { code: "BAD_USER_INPUT" });
/** A text in quotes, as a string of JSON, where it does not stand by itself. */
const quoted = (text, mayStand = true) => (text !== "" && mayStand && !/[\s"\p{Cc}\p{Cf}]/u.test(text) ? text : JSON.stringify(text));

/** What labels must be: each label, how it is compared, and with which text. */
const matchersOf = (match) => Object.entries(JSON.parse(match)).flatMap(([label, value]) =>
  Object.entries(typeof value === "string" ? { "=": value } : value).flatMap(([sign, given]) =>
    [given].flat().map((text) => [label, sign, text])));

/** What routes do, whatever way their conditions are written down. */
const meaning = (routes) => JSON.stringify((routes ?? []).map(({ match, topicId, priority }) =>
  [matchersOf(match).map((each) => JSON.stringify(each)).sort(), topicId ?? null, priority ?? null]));

const label = (text) => quoted(text, !/=|!$/.test(text));
const value = (text, sign) => (text === "" && sign === "=*" ? "" : quoted(text, sign === "=*" || !text.startsWith("*")));
const named = (text) => (text.split(" ").every((word) => quoted(word) === word) && !/(^| )priority \d+$/.test(text) ? text : JSON.stringify(text));

/** A route as it is written: team=db host=*db-* -> alerts priority 5. Null where a line cannot say it. */
function written(route, topics) {
  const { match, topicId, priority } = route;
  const matchers = matchersOf(match).map(([name, sign, text]) => label(name) + sign + value(text, sign));
  const line = (topic) => [...matchers, "->", topic, priority ? `priority ${priority}` : null].filter((part) => part !== null).join(" ");
  // A name that several topics have gives way to the id.
  const names = topicId ? [topics.find(({ id }) => id === topicId)?.name ?? topicId, topicId].map(named) : [null];
  return names.map(line).find((text) => says(text, route, topics)) ?? null;
}

function says(line, route, topics) {
  try {
    return !line.includes("\n") && meaning([read(line, topics)]) === meaning([route]);
  } catch {
    return false;
  }
}

/** The words of a line, each of parts; what is in quotes is a string of JSON. */
function wordsOf(line) {
  const words = [];
  let word = null;
  const part = /\s+|"(?:[^"\\]|\\.)*"|[^\s"]+/gy;
  while (part.lastIndex < line.length) {
    const [found] = part.exec(line) ?? [];
    if (!found) throw wrong(line);
    if (/^\s/.test(found)) {
      word = null;
    } else {
      if (!word) words.push((word = []));
      word.push(found.startsWith('"') ? { text: unquoted(found, line), isQuoted: true } : { text: found });
    }
  }
  return words;
}

function unquoted(text, line) {
  try {
    return JSON.parse(text);
  } catch {
    throw wrong(line);
  }
}

const textOf = (word) => word.map(({ text }) => text).join("");
const bare = (word) => (word?.some(({ isQuoted }) => isQuoted) === false ? textOf(word) : null);

/** A label, how it is compared, and with which text. */
function matcher(word, line) {
  // The first sign outside of quotes.
  const place = word.findIndex(({ text, isQuoted }) => !isQuoted && text.includes("="));
  const [, before, sign, behind] = word[place]?.text.match(/^([^=]*?)(!=|=\*|=)(.*)$/) ?? [];
  const name = textOf([...word.slice(0, Math.max(place, 0)), { text: before ?? "" }]);
  if (!name) throw wrong(line);
  return [name, sign, behind + textOf(word.slice(place + 1))];
}

/** What a line means. Topics are named by name or id. */
function read(line, topics) {
  const words = wordsOf(line);
  const arrow = words.findIndex((word) => bare(word) === "->");
  if (arrow < 1) throw wrong(line);
  // Without a prototype: a label may have any name.
  const match = Object.create(null);
  for (const word of words.slice(0, arrow)) {
    const [name, sign, text] = matcher(word, line);
    const signs = (match[name] ??= Object.create(null));
    (signs[sign] ??= []).push(text);
  }
  const rest = words.slice(arrow + 1);
  const hasPriority = bare(rest.at(-2)) === "priority" && /^\d+$/.test(bare(rest.at(-1)));
  const priority = hasPriority ? bare(rest.at(-1)) : null;
  const wanted = rest.slice(0, hasPriority ? -2 : undefined).map(textOf).join(" ");
  if (!wanted && !priority) throw wrong(line);
  const found = topics.filter((topic) => topic.id === wanted || topic.name === wanted);
  if (found.length > 1) throw Object.assign(new Error(texts.integrations.severalTopics(wanted)), { code: "BAD_USER_INPUT" });
  return {
    match: JSON.stringify(match), ...(wanted ? { topicId: found[0]?.id ?? wanted } : {}), ...(priority ? { priority: Number(priority) } : {}),
  };
}

async function topicsOf() {
  return (await all(TOPICS, {}, (data) => data.listTopics)).filter((topic) => topic && !topic._deleted);
}

/** What topics are called, by their ids. */
export async function topicNames() {
  const topics = await topicsOf();
  return (id) => topics.find((topic) => topic.id === id)?.name ?? id;
}

/** The routes of an integration, to be read and changed; asked for when they are wanted. */
export function routing({ id, kind, name }, saved) {
  if (kind === "HEARTBEAT") return null;
  const mine = `${person()?.userId} ${id}`;
  const shown = el("div");
  const load = async () => {
    try {
      const [{ getIntegration: found }, topics] = await Promise.all([client.query(ROUTES, { id }), topicsOf()]);
      if (!found || found._deleted) throw Object.assign(new Error(""), { code: "UNAUTHORIZED" });
      put(shown, editing(id, found.routes ?? [], topics, saved, mine));
    } catch (error) {
      put(shown, el("p", { className: "error" }, explained(error)), el("button", { onclick: load }, texts.words.tryAgain));
    }
  };
  return el("details", { open: drafts.has(mine), ontoggle: (event) => event.target === event.currentTarget && event.currentTarget.open && load() },
    el("summary", { "aria-label": texts.integrations.routesOf(name) }, texts.integrations.routes), shown);
}

/**
 * Puts routes in the place of those that they were made from; false where those are not stored any
 * more. A version alone does not tell: a server that merges takes an older one, and keeps the
 * stored routes.
 */
async function replaced(id, was, routes) {
  const { getIntegration: now } = await client.query(ROUTES, { id });
  if (!now || now._deleted) throw Object.assign(new Error(""), { code: "UNAUTHORIZED" });
  if (meaning(now.routes) !== meaning(was)) return false;
  const { updateIntegration: made } = await proven(SAVE, { input: { id, routes, _version: now._version } });
  return meaning(made.routes) === meaning(routes);
}

function editing(id, routes, topics, saved, mine) {
  if (routes.some((route) => written(route, topics) === null)) return el("p", { className: "hint" }, texts.integrations.noLines);
  const linesOf = (those) => those.map((route) => written(route, topics) ?? route.match).join("\n");
  const draft = drafts.get(mine) ?? { text: linesOf(routes), was: routes };
  let { was } = draft;
  const keep = () => drafts.set(mine, { text: lines.value, was });
  const lines = el("textarea", { className: "code", rows: 4, spellcheck: false, autocomplete: "off", value: draft.text, oninput: keep });
  const theirs = el("div");
  const save = async () => {
    const wanted = lines.value.split("\n").map((line) => line.trim()).filter(Boolean).map((line) => read(line, topics));
    if (await replaced(id, was, wanted)) {
      drafts.delete(mine);
      note(texts.integrations.routesSaved);
      return saved();
    }
    // The next press replaces what is shown now.
    was = (await client.query(ROUTES, { id })).getIntegration?.routes ?? [];
    keep();
    put(theirs, el("h3", {}, texts.integrations.routesNow), el("pre", { tabIndex: 0 }, linesOf(was)));
    throw new Error(texts.integrations.routesTaken);
  };
  const made = form([field(texts.integrations.routesField, lines, texts.integrations.routesHint)], texts.integrations.saveRoutes, save,
    { explain: explained, at: ({ code }) => (code === "BAD_USER_INPUT" ? lines : null) });
  return [made, theirs];
}
