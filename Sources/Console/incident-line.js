// One incident in a list, how it stands in words, what people do to it, and how changes come in.
import { base, client } from "./api.js";
import { beginning, el, moment } from "./dom.js";
import { ago, texts } from "./texts.js";

export { oneAtATime } from "./turns.js";

export const FIELDS = `id number topicId key title body state priority url labels openedAt lastEventAt occurrences
  acknowledgedAt acknowledgedBy acknowledgedOn assignee snoozedUntil resolvedAt resolvedBy resolvedVia senderResolvedAt
  alertCount firingCount truncatedCount flapping _version`;

const act = (name, declared, given) =>
  `mutation Act($id: ID!${declared}) { incident: ${name}Incident(id: $id${given}) { ${FIELDS} } }`;
/** What people do, by name. Who resolves says what they saw, so nothing is ended that they have not seen. */
const ACTS = {
  acknowledge: [act("acknowledge", "", ', on: "console"')],
  unacknowledge: [act("unacknowledge", "", "")],
  snooze: [act("snooze", ", $minutes: Int!", ", minutes: $minutes")],
  resolve: [act("resolve", ", $seen: Int!", ', on: "console", expectedVersion: $seen'), ({ _version }) => ({ seen: _version })],
  reopen: [act("reopen", "", "")],
};

/** Does something to an incident; answers with it as it is then. */
export async function answer(name, incident, more = {}) {
  const [document, variables = () => ({})] = ACTS[name];
  const done = await client.mutate(document, { id: incident.id, ...variables(incident), ...more });
  dispatchEvent(new Event("tocsin-read"));
  return done.incident;
}

/** The state as a word, a shape and a colour. */
export function state({ state }) {
  return el("span", { className: `stands ${state}` },
    el("span", { "aria-hidden": "true" }, texts.incidentShapes[state] ?? ""), " ", texts.incidentStates[state] ?? state);
}

/** The urgency as a word, a shape and a colour. */
export function priority({ priority }) {
  return el("span", { className: `priority p${priority}` },
    el("span", { "aria-hidden": "true" }, texts.shapes[priority] ?? ""), " ", texts.priorities[priority] ?? String(priority));
}

/** Who has it, until when it rests, or how it ended. */
export function standing(incident) {
  const { acknowledgedBy, acknowledgedOn, acknowledgedAt, snoozedUntil, resolvedBy, resolvedVia, resolvedAt, senderResolvedAt } = incident;
  const person = (name, place) => el("span", { className: "free" }, name, place ? ` (${place})` : "");
  const when = (time) => (time ? moment(time, ago(time)) : null);
  const over = senderResolvedAt ? texts.incidentLine.over(when(senderResolvedAt)) : [];
  switch (incident.state) {
    case "ACKNOWLEDGED":
      return [texts.incidentLine.taken(acknowledgedBy ? person(acknowledgedBy, acknowledgedOn) : null, when(acknowledgedAt)), over];
    case "SNOOZED": return [texts.incidentLine.rests(when(snoozedUntil)), over];
    case "RESOLVED": {
      const by = resolvedVia !== "SENDER" && resolvedBy ? person(resolvedBy) : null;
      return texts.incidentLine.resolved(by, texts.vias[resolvedVia] ?? "", when(resolvedAt));
    }
    default: return [texts.incidentLine.nobody, over];
  }
}

/** How many alerts fire. */
export function alerts({ alertCount, firingCount, truncatedCount }) {
  if (alertCount === 0) return null;
  return texts.incidentLine.alerts(firingCount, alertCount, truncatedCount);
}

/** `names` are those of topics by id; `acknowledge` is called with the incident. */
export function line(incident, names, acknowledge) {
  const called = `${names[incident.topicId] ?? ""}#${incident.number}`;
  return el("article", { id: `i-${incident.id}`, "aria-labelledby": `t-${incident.id}` },
    state(incident), priority(incident),
    el("h2", { id: `t-${incident.id}` }, el("a", { className: "free", href: `${base}/incidents/${incident.id}` }, incident.title || texts.words.noTitle)),
    incident.body ? el("p", { className: "text" }, beginning(incident.body)) : null,
    el("p", { className: "meta" },
      el("span", { className: "free" }, called),
      el("span", {}, texts.incidentLine.opened(moment(incident.openedAt, ago(incident.openedAt)))),
      incident.occurrences > 1 ? el("span", {}, texts.incidentLine.times(incident.occurrences)) : null,
      alerts(incident), incident.flapping ? texts.incidentLine.flapping : null, el("span", {}, standing(incident))),
    incident.state === "OPEN"
      ? el("button", {
        "data-key": "a", "aria-label": texts.incidentLine.acknowledgeOf(called, incident.title), onclick: () => acknowledge(incident),
      }, texts.words.acknowledge) : null);
}

const LIVE = ["Create", "Update"].map((name) =>
  `subscription Live${name}($filter: ModelSubscriptionIncidentFilterInput) { incident: on${name}Incident(filter: $filter) { ${FIELDS} } }`);

/** Tells of incidents as they change. `missed` is called when the line is live, as changes may have passed before. */
export function listen(filter, { signal, changed, missed, failed }) {
  for (const [index, document] of LIVE.entries()) {
    const onState = ({ state }) => {
      if (index > 0) dispatchEvent(new CustomEvent("tocsin-state", { detail: state }));
      if (state === "live") missed();
    };
    void (async () => {
      try {
        for await (const { incident } of client.subscribe(document, { filter }, { signal, onState })) changed(incident);
      } catch (error) {
        if (signal.aborted) return;
        if (error.code === "UNAUTHENTICATED") return dispatchEvent(new Event("tocsin-signed-out"));
        failed(error);
      }
    })();
  }
}
