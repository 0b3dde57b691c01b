// One incident: how it stands, what people can do, its alerts and its timeline, live.
import { all, base, client } from "./api.js";
import { el, field, form, link, moment, note, put, sentence, table } from "./dom.js";
import { alerts as firing, answer, FIELDS, listen, oneAtATime, priority, standing, state } from "./incident-line.js";
import { ago, conflicted, explained, texts } from "./texts.js";

const NEWEST = 50;
const ONE = `query Incident($id: ID!) { getIncident(id: $id) { ${FIELDS} data } }`;
const ALERTS = `query Alerts($id: ID!, $nextToken: String) { getIncident(id: $id) { alerts(limit: 200, nextToken: $nextToken) {
  items { fingerprint state title labels url startsAt endsAt } nextToken } } }`;
const TIMELINE = `query Timeline($id: ID!, $nextToken: String) { getIncident(id: $id) { timeline(limit: 200, nextToken: $nextToken) {
  items { number at change by via on text messageId } nextToken } } }`;
const TAKEN = `query Taken($filter: ModelIncidentFilterInput) { ${["OPEN", "ACKNOWLEDGED", "SNOOZED"].map((state) =>
  `${state}: incidentsByStateAndOpenedAt(state: ${state}, limit: 200, filter: $filter) { items { id number title } }`).join(" ")} }`;
const NOTE = "mutation Note($id: ID!, $text: String!) { addIncidentNote(id: $id, text: $text) { number } }";

/** Notes that somebody has written and not added yet, by who it is and the incident. */
const drafts = new Map();

export async function open({ id, me, topics }) {
  const topic = new Map((await topics()).map((each) => [each.id, each.name]));
  const gone = () => Object.assign(new Error(texts.incident.noSuchIncident), { code: "UNAUTHORIZED" });
  const ended = new AbortController();
  const stands = el("p", { className: "standing", role: "status", tabIndex: -1 });
  const problem = el("p", { className: "error", role: "alert", hidden: true });
  const [acts, about, alerts, timeline] = [0, 1, 2, 3].map(() => el("div"));
  let incident = null;
  let showsAll = false;

  /** Draws a part anew where it says something else than before, so the focus stays where nothing changed. */
  function part(element, told, draw) {
    const key = JSON.stringify(told);
    if (element.dataset.told === key) return;
    const focused = element.contains(document.activeElement);
    element.dataset.told = key;
    put(element, draw());
    if (focused) stands.focus({ preventScroll: true });
  }

  function draw(now, listed, entries) {
    if (incident && incident._version > now._version) return;
    now = incident = { ...incident, ...now };
    const called = `${topic.get(now.topicId) ?? now.topicId}#${now.number}`;
    part(stands, [now.state, now.priority, now.acknowledgedBy, now.snoozedUntil, now.resolvedAt, now.senderResolvedAt], () => [
      state(now), priority(now), " ", standing(now),
    ]);
    part(acts, [now.state, now.acknowledgedBy], () => buttons(now, me, run));
    part(about, { ...now, _version: 0 }, () => facts(now, called));
    if (listed) part(alerts, listed, () => members(listed));
    if (entries) part(timeline, [showsAll, entries], () => history(entries, showsAll, () => {
      showsAll = true;
      draw(incident, null, entries);
    }));
  }

  const refresh = oneAtATime(read, (error) => ended.signal.aborted || note(explained(error)));
  async function read() {
    const [{ getIncident: now }, listed, entries] = await Promise.all([
      client.query(ONE, { id }),
      all(ALERTS, { id }, (data) => data.getIncident?.alerts ?? { items: [] }),
      all(TIMELINE, { id }, (data) => data.getIncident?.timeline ?? { items: [] }),
    ]);
    if (!now) throw gone();
    draw(now, listed.filter(Boolean), entries.filter(Boolean));
  }

  const run = (name, more) => async () => {
    problem.hidden = true;
    try {
      draw(await answer(name, incident, more));
    } catch (error) {
      problem.hidden = false;
      put(problem, conflicted(error));
      if (name === "reopen" && error.code === "CONFLICT") void other();
    }
    stands.focus({ preventScroll: true });
    void refresh();
  };

  /** Where the same trouble is open as another incident, the way there. */
  async function other() {
    const found = await client.query(TAKEN, { filter: { topicId: { eq: incident.topicId }, key: { eq: incident.key } } }).catch(() => ({}));
    const [one] = Object.values(found).flatMap(({ items }) => items).filter((each) => each && each.id !== id);
    if (one) problem.append(` ${texts.conflicts.taken} `, el("a", { href: `${base}/incidents/${one.id}`, className: "free" }, `#${one.number} ${one.title}`));
  }

  await read();
  listen({ id: { eq: id } }, {
    signal: ended.signal, missed: refresh, failed: (error) => note(explained(error)),
    changed(now) {
      draw(now);
      void refresh();
    },
  });
  // Notes of others come with no event of their own.
  document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && refresh(), { signal: ended.signal });

  const mine = `${me.userId} ${id}`;
  const text = el("textarea", { required: true, maxLength: 4000, value: drafts.get(mine) ?? "", oninput: () => drafts.set(mine, text.value) });
  return {
    title: incident.title || texts.words.noTitle,
    body: [
      stands, acts, problem, about, alerts, timeline,
      el("h2", {}, texts.incident.addNote),
      form([field(texts.incident.note, text, texts.incident.noteHint)], texts.incident.addTheNote, async () => {
        await client.mutate(NOTE, { id, text: text.value });
        text.value = "";
        drafts.delete(mine);
        await refresh();
      }, { explain: explained }),
    ],
    stop: () => ended.abort(),
  };
}

/** What fits the state. */
function buttons(incident, me, run) {
  const mine = incident.acknowledgedBy === me.username;
  const isOver = incident.state === "RESOLVED";
  const isTaken = incident.state === "ACKNOWLEDGED";
  if (isOver) return el("div", { className: "row" }, el("button", { onclick: run("reopen") }, texts.incident.reopen));
  return [
    el("div", { className: "row" },
      isTaken && mine ? null : el("button", { className: "main", onclick: run("acknowledge") }, isTaken ? texts.incident.join : texts.words.acknowledge),
      el("button", { onclick: run("resolve") }, texts.incident.resolve),
      isTaken ? el("button", { onclick: run("unacknowledge") }, mine ? texts.incident.giveBack : texts.incident.takeBack) : null),
    el("div", { className: "row", role: "group", "aria-label": texts.incident.snooze }, texts.incident.snoozeFor,
      Object.entries(texts.incident.times).map(([minutes, words]) =>
        el("button", { "aria-label": texts.incident.snoozeForTime(words), onclick: run("snooze", { minutes: Number(minutes) }) }, words))),
  ];
}

function facts(incident, called) {
  const labels = Object.entries(read(incident.labels));
  const topic = el("a", { href: `${base}/topics/${incident.topicId}`, className: "free" }, called);
  const others = el("a", { href: `${base}/incidents?topic=${encodeURIComponent(incident.topicId)}` }, texts.incident.others);
  const rows = [
    [texts.words.incident, [topic, ", ", others]],
    [texts.incident.opened, moment(incident.openedAt, ago(incident.openedAt))],
    [texts.incident.lastHeard, [
      moment(incident.lastEventAt, ago(incident.lastEventAt)), incident.occurrences > 1 ? texts.incident.timesInAll(incident.occurrences) : "",
    ]],
    firing(incident) && [texts.incident.alerts, firing(incident)],
    incident.flapping && [texts.incident.flaps, texts.incident.flapping],
    incident.assignee && [texts.incident.assignedTo, incident.assignee],
    incident.url && [texts.words.link, link(incident.url)],
    labels.length > 0 && [texts.incident.labels, labels.map(([name, value]) => el("div", {}, `${name}: ${value}`))],
    [texts.words.key, incident.key],
  ].filter(Boolean);
  return [
    incident.body ? el("pre", { tabIndex: 0 }, incident.body) : null,
    table(texts.incident.about, texts.incident.columns, rows.map(([name, value]) => [name, el("div", { className: "free" }, value)])),
    incident.data ? el("details", {}, el("summary", {}, texts.incident.given), el("pre", { tabIndex: 0 }, JSON.stringify(read(incident.data), null, 2))) : null,
  ];
}

/** JSON that came as a text; nothing where it is none. */
function read(text) {
  try {
    return JSON.parse(text ?? "{}") ?? {};
  } catch {
    return {};
  }
}

function members(listed) {
  if (listed.length === 0) return null;
  const order = [...listed].sort((one, other) => one.state.localeCompare(other.state));
  return [
    el("h2", {}, texts.incident.alerts),
    table(texts.incident.alertsOf, texts.incident.alertColumns, order.map((alert) => {
      const since = alert.state === "FIRING" ? alert.startsAt : (alert.endsAt ?? alert.startsAt);
      const labels = Object.entries(read(alert.labels)).map(([name, value]) => `${name}: ${value}`).join(", ");
      return [
        el("span", { className: alert.state === "FIRING" ? "failed" : "passed" }, alert.state === "FIRING" ? texts.incident.fires : texts.incident.over),
        [
          el("div", { className: "free" }, alert.title), labels ? el("div", { className: "free hint" }, labels) : null,
          alert.url ? link(alert.url, texts.incident.source) : null,
        ],
        since ? moment(since, ago(since)) : "",
      ];
    })),
  ];
}

function history(entries, showsAll, showAll) {
  const newest = [...entries].reverse();
  const shown = showsAll ? newest : newest.slice(0, NEWEST);
  return [
    el("h2", {}, texts.incident.timeline),
    el("ol", { className: "timeline", reversed: true, start: entries.at(-1)?.number ?? 1 }, shown.map((entry) => el("li", {},
      el("p", {}, entry.change === "NOTED" ? entry.text : sentence(entry.text)),
      el("div", { className: "meta" }, moment(entry.at, ago(entry.at)),
        entry.change === "NOTED" && entry.by ? el("span", { className: "free" }, texts.incident.notedBy(entry.by)) : null,
        entry.by && ["API", "SENDER"].includes(entry.via) ? null : texts.vias[entry.via],
        entry.messageId
          ? el("a", { href: `${base}/messages/${entry.messageId}`, "aria-label": texts.incident.messageOf(entry.number) }, texts.incident.message)
          : null)))),
    shown.length < entries.length ? el("button", { onclick: showAll }, texts.incident.all(entries.length)) : null,
  ];
}
