// One incident: how it stands, what people can do, its alerts and its timeline, live.
import { all, base, client } from "./api.js";
import { el, field, form, link, moment, note, put, table } from "./dom.js";
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

export async function open({ id, me, topics }) {
  const topic = new Map((await topics()).map((each) => [each.id, each.name]));
  const gone = () => Object.assign(new Error("There is no such incident."), { code: "UNAUTHORIZED" });
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
      state(now), priority(now), standing(now),
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

  const text = el("textarea", { required: true, maxLength: 4000 });
  return {
    title: incident.title || "(no title)",
    body: [
      stands, acts, problem, about, alerts, timeline,
      el("h2", {}, "Add a note"),
      form([field("Note", text, "a line of the timeline, for all who can see the incident")], "Add the note", async () => {
        await client.mutate(NOTE, { id, text: text.value });
        text.value = "";
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
  if (isOver) return el("div", { className: "row" }, el("button", { onclick: run("reopen") }, "Reopen"));
  return [
    el("div", { className: "row" },
      isTaken && mine ? null : el("button", { className: "main", onclick: run("acknowledge") }, isTaken ? "Join in" : "Acknowledge"),
      el("button", { onclick: run("resolve") }, "Resolve"),
      isTaken ? el("button", { onclick: run("unacknowledge") }, mine ? "Give it back" : "Take it back from them") : null),
    el("div", { className: "row", role: "group", "aria-label": "Snooze" }, "Snooze for",
      [[30, "30 min"], [60, "1 h"], [240, "4 h"]].map(([minutes, words]) =>
        el("button", { "aria-label": `Snooze for ${words}`, onclick: run("snooze", { minutes }) }, words))),
  ];
}

function facts(incident, called) {
  const labels = Object.entries(read(incident.labels));
  const topic = el("a", { href: `${base}/topics/${incident.topicId}` }, called);
  const others = el("a", { href: `${base}/incidents?topic=${encodeURIComponent(incident.topicId)}` }, "others of this topic");
  const rows = [
    ["Incident", [topic, ", ", others]],
    ["Opened", moment(incident.openedAt, ago(incident.openedAt))],
    ["Last heard of", [moment(incident.lastEventAt, ago(incident.lastEventAt)), incident.occurrences > 1 ? `, ${incident.occurrences} times in all` : ""]],
    firing(incident) && ["Alerts", firing(incident)],
    incident.flapping && ["Flaps", "it comes and goes: it sounds once in 15 minutes at most"],
    incident.assignee && ["Assigned to", incident.assignee],
    incident.url && ["Link", link(incident.url)],
    labels.length > 0 && ["Labels", labels.map(([name, value]) => el("div", {}, `${name}: ${value}`))],
    ["Key", incident.key],
  ].filter(Boolean);
  return [
    incident.body ? el("pre", { tabIndex: 0 }, incident.body) : null,
    table("About this incident", ["What", "Value"], rows.map(([name, value]) => [name, el("div", { className: "free" }, value)])),
    incident.data ? el("details", {}, el("summary", {}, "What its sender gave with it"), el("pre", { tabIndex: 0 }, JSON.stringify(read(incident.data), null, 2))) : null,
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
    el("h2", {}, "Alerts"),
    table("Alerts of this incident", ["State", "Alert", "Since"], order.map((alert) => {
      const since = alert.state === "FIRING" ? alert.startsAt : (alert.endsAt ?? alert.startsAt);
      const labels = Object.entries(read(alert.labels)).map(([name, value]) => `${name}: ${value}`).join(", ");
      return [
        el("span", { className: alert.state === "FIRING" ? "failed" : "passed" }, alert.state === "FIRING" ? "● fires" : "✓ over"),
        [el("div", { className: "free" }, alert.title), labels ? el("div", { className: "free hint" }, labels) : null, alert.url ? link(alert.url, "its source ↗") : null],
        since ? moment(since, ago(since)) : "",
      ];
    })),
  ];
}

function history(entries, showsAll, showAll) {
  const newest = [...entries].reverse();
  const shown = showsAll ? newest : newest.slice(0, NEWEST);
  return [
    el("h2", {}, "Timeline"),
    el("ol", { className: "timeline", reversed: true, start: entries.at(-1)?.number ?? 1 }, shown.map((entry) => el("li", {},
      el("p", {}, entry.text),
      el("div", { className: "meta" }, moment(entry.at, ago(entry.at)),
        entry.change === "NOTED" && entry.by ? el("span", { className: "free" }, `noted by ${entry.by}`) : null,
        entry.by && ["API", "SENDER"].includes(entry.via) ? null : texts.vias[entry.via],
        entry.messageId ? el("a", { href: `${base}/messages/${entry.messageId}`, "aria-label": `Message of entry ${entry.number}` }, "message") : null)))),
    shown.length < entries.length ? el("button", { onclick: showAll }, `All ${entries.length} entries`) : null,
  ];
}
