// Incidents by state, those that nobody has first, live, without a jump.
import { base, client } from "./api.js";
import { el, note, put } from "./dom.js";
import { answer, FIELDS, line, listen, oneAtATime } from "./incident-line.js";
import { conflicted, explained, texts } from "./texts.js";

const PAGE = 50;
const STATES = ["OPEN", "ACKNOWLEDGED", "SNOOZED", "RESOLVED"];
const pageOf = (states) => `query Incidents($limit: Int, $filter: ModelIncidentFilterInput${states.map((state) => `, $${state}: String`).join("")}) { ${
  states.map((state) => `${state}: incidentsByStateAndOpenedAt(state: ${state}, sortDirection: DESC, limit: $limit, filter: $filter, nextToken: $${state}) {
    items { ${FIELDS} } nextToken }`).join("\n")} }`;

export async function open({ query, topics }) {
  const known = await topics();
  const names = Object.fromEntries(known.map(({ id, name }) => [id, name]));
  const asked = query.get("state");
  const states = STATES.includes(asked) ? [asked] : STATES.slice(0, 3);
  let topicId = known.some(({ id }) => id === query.get("topic")) ? query.get("topic") : "";
  const ended = new AbortController();
  const list = el("div", { role: "feed", "aria-label": texts.places.incidents });
  const empty = el("div", { hidden: true });
  const fresh = el("button", { className: "main", hidden: true, onclick: showFresh });
  const older = el("button", { hidden: true, onclick: () => more().catch((error) => note(explained(error))) }, texts.incidents.older);
  const said = el("p", { className: "hidden", role: "status" });
  /** Incidents with their articles, by id. */
  const shown = new Map();
  const waiting = new Map();
  let next = {};

  const wanted = (incident) => states.includes(incident.state) && (topicId === "" || incident.topicId === topicId);
  const order = (one, other) =>
    STATES.indexOf(one.state) - STATES.indexOf(other.state) || Date.parse(other.openedAt) - Date.parse(one.openedAt);

  /** Shows an incident where it belongs now, or takes it away. Who has the focus on it keeps it. */
  function place(incident) {
    const old = shown.get(incident.id);
    if (old && (old.incident._version > incident._version || JSON.stringify(old.incident) === JSON.stringify(incident))) return;
    const focused = old?.article.contains(document.activeElement);
    if (!wanted(incident) && !focused) {
      old?.article.remove();
      shown.delete(incident.id);
      return tidy();
    }
    const article = line(incident, names, acknowledge);
    old?.article.remove();
    shown.set(incident.id, { incident, article });
    const after = [...list.children].find((each) => order(incident, shown.get(each.id.slice(2)).incident) < 0);
    list.insertBefore(article, after ?? null);
    if (focused) article.querySelector("h2 a").focus({ preventScroll: true });
    tidy();
  }

  function tidy() {
    empty.hidden = list.childElementCount > 0;
    list.hidden = !empty.hidden;
    older.hidden = !Object.values(next).some(Boolean);
    fresh.hidden = waiting.size === 0;
    put(fresh, texts.words.newOnes(waiting.size));
  }

  async function read(which, tokens) {
    const wantedHere = topicId;
    const filter = topicId === "" ? null : { topicId: { eq: topicId } };
    const pages = await client.query(pageOf(which), { limit: PAGE, filter, ...tokens });
    return wantedHere === topicId ? Object.entries(pages) : [];
  }

  /** What stands now, in place of what has left its state while nobody listened. */
  async function stand() {
    // What is placed while the answer is under way may be younger than the answer, and stays.
    const before = [...shown.values()];
    for (const [state, page] of await read(states, {})) {
      const items = page.items.filter(Boolean);
      const last = page.nextToken ? Date.parse(items.at(-1)?.openedAt) : -Infinity;
      for (const entry of before) {
        const { incident, article } = entry;
        if (shown.get(incident.id) !== entry || incident.state !== state || Date.parse(incident.openedAt) < last || items.some(({ id }) => id === incident.id)) continue;
        article.remove();
        shown.delete(incident.id);
      }
      if (!(state in next)) next[state] = page.nextToken;
      items.forEach(place);
    }
    tidy();
  }

  async function more() {
    const which = states.filter((state) => next[state]);
    for (const [state, page] of await read(which, Object.fromEntries(which.map((state) => [state, next[state]])))) {
      next[state] = page.nextToken;
      page.items.filter(Boolean).forEach(place);
    }
    tidy();
  }

  function showFresh() {
    const come = [...waiting.values()];
    waiting.clear();
    come.forEach(place);
    tidy();
  }

  function changed(incident) {
    if (incident.state === "OPEN" && !shown.has(incident.id) && wanted(incident)) put(said, texts.incidents.come(incident.title));
    dispatchEvent(new Event("tocsin-read"));
    if (shown.has(incident.id)) return place(incident);
    if (wanted(incident)) waiting.set(incident.id, incident);
    else waiting.delete(incident.id);
    // Who has scrolled down reads on; the rest is one press away.
    if (scrollY < 200 && document.visibilityState === "visible") return showFresh();
    tidy();
  }

  async function acknowledge(incident) {
    try {
      place(await answer("acknowledge", incident));
    } catch (error) {
      note(conflicted(error));
      await refresh();
    }
  }

  const failed = (error) => ended.signal.aborted || note(explained(error));
  const refresh = oneAtATime(stand, failed);
  listen(null, { signal: ended.signal, changed, missed: refresh, failed });
  await stand();

  const here = (state) => `${base}/incidents${state || topicId ? "?" : ""}${[state && `state=${state}`, topicId && `topic=${encodeURIComponent(topicId)}`].filter(Boolean).join("&")}`;
  const chosen = STATES.includes(asked) ? asked : "";
  const choices = el("nav", { className: "row", "aria-label": texts.incidents.byState });
  const drawChoices = () => {
    put(choices, ["", ...STATES].map((state) => el("a", {
      className: "button", href: here(state), "aria-current": state === chosen ? "true" : null,
    }, state === "" ? texts.incidents.notResolved : texts.incidentStates[state][0].toUpperCase() + texts.incidentStates[state].slice(1))));
    put(empty, el("p", { className: "hint" }, texts.incidents.nothing(texts.incidentStates[chosen || "OPEN"])));
  };
  const topic = el("select", {
    "aria-label": texts.words.topic,
    async onchange() {
      topicId = topic.value;
      history.replaceState(history.state, "", here(chosen));
      drawChoices();
      put(list);
      shown.clear();
      waiting.clear();
      next = {};
      await refresh();
    },
  }, el("option", { value: "" }, texts.words.everyTopic), known.map(({ id, name }) => el("option", { value: id }, name)));
  topic.value = topicId;
  drawChoices();
  return {
    title: texts.places.incidents,
    body: [choices, el("div", { className: "row" }, topic), said, el("div", { className: "new" }, fresh), empty, list, el("div", { className: "row" }, older)],
    stop: () => ended.abort(),
  };
}
