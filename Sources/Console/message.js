// One message: all of it, what became of its pushes, why somebody did not get one, and trying again.
import { base, client, parts } from "./api.js";
import { BUTTONS, buttons, links } from "./buttons.js";
import { el, field, form, link, moment, note, put, sentence, sure, table } from "./dom.js";
import { FIELDS } from "./message-line.js";
import { answered, keptMessage } from "./store.js";
import { ago, explained, texts } from "./texts.js";
import { oneAtATime, soon } from "./turns.js";

const DELIVERY = "id status reason attempts nextAttemptAt updatedAt platform userId providerId device { id name platform }";
const INCIDENT = "incident { id number state title }";
const COUNTS = "deliverySummary { waiting accepted failed ended expired skipped }";
/** So many of a message's pushes are listed; all are counted. */
const MOST = 200;
const ONE = (more) => `query Message($id: ID!) { getMessage(id: $id) { ${FIELDS} expiresAt topic { name roles } ${more}
  ${COUNTS} deliveries(limit: ${MOST}) { items { ${DELIVERY} } nextToken } } }`;
const OUTCOMES = `query Outcomes($id: ID!) { getMessage(id: $id) { ${COUNTS} deliveries(limit: ${MOST}) { items { ${DELIVERY} } nextToken } } }`;
const TALLY = `query Tally($id: ID!) { getMessage(id: $id) { ${COUNTS} } }`;
const LIVE = `subscription Deliveries($id: ID!) { onDelivery(messageId: $id) { ${DELIVERY} } }`;
const WHY = `query Why($id: ID!, $user: ID!) { explainDelivery(messageId: $id, userId: $user) { accepted summary gates { name passed sentence advice } } }`;
const AGAIN = `mutation Again($id: ID!, $status: DeliveryStatus!) { redriveDeliveries(messageId: $id, status: $status) { waiting } }`;

export async function open({ id, me }) {
  const has = await parts();
  const asked = ONE(`${has.incidents ? INCIDENT : ""} ${has.buttons ? BUTTONS : ""}`);
  const { answer: { getMessage: message } } = await answered("message", () => client.query(asked, { id }), async () => {
    const kept = await keptMessage(id);
    return kept && { getMessage: { ...kept, topic: null, deliveries: { items: [] } } };
  });
  if (!message) throw Object.assign(new Error(texts.message.noSuchMessage), { code: "UNAUTHORIZED" });
  const ended = new AbortController();
  const deliveries = new Map(message.deliveries.items.filter(Boolean).map((delivery) => [delivery.id, delivery]));
  const shown = el("div");
  let counts = message.deliverySummary ?? {};
  let hasMore = Boolean(message.deliveries.nextToken);
  const draw = () => {
    const focused = shown.contains(document.activeElement) ? document.activeElement.tagName : null;
    put(shown, drawn(message, [...deliveries.values()], counts, hasMore));
    // What had the focus is drawn anew, or is gone.
    if (focused) ((focused === "BUTTON" && shown.querySelector("button")) || shown.querySelector(".scroll, h2")).focus({ preventScroll: true });
  };
  draw();
  const failed = (error) => ended.signal.aborted || note(explained(error));
  const count = soon(oneAtATime(async () => {
    const { getMessage: now } = await client.query(TALLY, { id });
    if (ended.signal.aborted || !now) return;
    counts = now.deliverySummary;
    draw();
  }, failed));
  /** What became of them before anybody listened, or while nobody did. */
  const refresh = oneAtATime(async () => {
    const { getMessage: now } = await client.query(OUTCOMES, { id });
    if (ended.signal.aborted || !now) return;
    for (const delivery of now.deliveries.items.filter(Boolean)) {
      const known = deliveries.get(delivery.id);
      if (!known || known.updatedAt <= delivery.updatedAt) deliveries.set(delivery.id, delivery);
    }
    [counts, hasMore] = [now.deliverySummary, Boolean(now.deliveries.nextToken)];
    draw();
  }, failed);
  const onState = ({ state }) => state === "live" && void refresh();
  void follow();
  async function follow() {
    try {
      for await (const { onDelivery } of client.subscribe(LIVE, { id }, { signal: ended.signal, onState })) {
        if (deliveries.has(onDelivery.id) || deliveries.size < MOST) deliveries.set(onDelivery.id, onDelivery);
        else hasMore = true;
        draw();
        count();
      }
    } catch (error) {
      // Who may read it and hears of no pushes has been told nothing wrong; what is taken back is seen elsewhere.
      if (error.code !== "UNAUTHORIZED") failed(error);
    }
  }
  const more = links(message);
  const facts = [
    [texts.words.topic, el("a", { href: `${base}/topics/${message.topicId}`, className: "free" }, message.topic?.name ?? message.topicId)],
    message.incident && [texts.words.incident, about(message)],
    [texts.message.number, `#${message.number}`],
    [texts.words.priority, `${texts.priorities[message.priority] ?? message.priority}`],
    [texts.message.sent, moment(message.createdAt, ago(message.createdAt))], message.key && [texts.words.key, message.key],
    message.category && [texts.words.category, message.category], message.typeName && [texts.message.type, message.typeName],
    message.url && [texts.words.link, link(message.url)], more && [texts.message.links, more],
    message.expiresAt && [texts.words.notPushedAfter, moment(message.expiresAt, ago(message.expiresAt))],
  ].filter(Boolean);
  const raw = JSON.stringify({ ...message, deliveries: undefined, deliverySummary: undefined, topic: undefined, incident: undefined, buttons: undefined }, null, 2);
  return {
    title: message.title || texts.words.noTitle,
    body: [
      message.body ? el("pre", { tabIndex: 0 }, message.body) : null,
      buttons(message),
      table(texts.message.about, texts.message.columns, facts.map(([name, value]) => [name, el("span", { className: "free" }, value)])),
      shown,
      explanation(message, me),
      el("details", {}, el("summary", {}, texts.message.asJSON), el("pre", { tabIndex: 0 }, raw)),
    ],
    stop: () => ended.abort(),
  };
}

/** The incident that the message tells of, as it stands. */
function about({ incident, topic }) {
  const name = `${topic?.name ?? ""}#${incident.number} ${incident.title}`;
  return [el("a", { href: `${base}/incidents/${incident.id}`, className: "free" }, name), `, ${texts.incidentStates[incident.state] ?? incident.state}`];
}

/** `counts` are the server's, of all pushes that the caller may see; `hasMore`: not all of them are listed. */
function drawn(message, deliveries, counts, hasMore) {
  const countOf = (status) => counts[status.toLowerCase()] ?? 0;
  const summary = Object.keys(texts.statuses).filter(countOf).map((status) => `${countOf(status)} ${texts.statuses[status]}`).join(" · ");
  const again = ["FAILED", "SKIPPED"].filter(countOf).map((status) =>
    el("button", {
      "data-key": "r",
      async onclick() {
        if (!sure(texts.message.sureRetry(countOf(status), texts.statuses[status]))) return;
        try {
          await client.mutate(AGAIN, { id: message.id, status });
          note(texts.words.dueAgain);
        } catch (error) {
          note(explained(error));
        }
      },
    }, texts.message.retry(texts.statuses[status], countOf(status))));
  const rows = deliveries.map((delivery) => [
    el("span", { className: "free" }, delivery.device?.name ?? texts.platforms[delivery.platform] ?? delivery.platform),
    el("span", { className: delivery.status }, stateOf(delivery)), moment(delivery.updatedAt, ago(delivery.updatedAt)),
  ]);
  return [
    el("h2", { tabIndex: -1 }, texts.message.pushes), el("p", {}, summary || texts.message.nobody),
    rows.length > 0 ? table(texts.message.pushesOf, texts.message.pushColumns, rows) : null,
    hasMore ? el("p", { className: "hint" }, texts.message.first(rows.length)) : null, el("div", { className: "row" }, again),
  ];
}

function stateOf({ status, reason, attempts, nextAttemptAt }) {
  const words = texts.statuses[status] ?? status;
  if (status === "WAITING" && attempts > 0) return texts.message.tried(attempts, nextAttemptAt ? moment(nextAttemptAt, ago(nextAttemptAt)) : null, reason);
  if (!reason) return words;
  return `${words}: ${texts.reasons[reason] ?? reason}`;
}

function explanation(message, me) {
  const user = el("input", { value: me.username, required: true, autocomplete: "off" });
  const answer = el("div", { role: "status" });
  const asked = form([field(texts.message.user, user, texts.message.userHint)], texts.message.explain, async () => {
    const { explainDelivery: why } = await client.query(WHY, { id: message.id, user: user.value });
    if (!why) return put(answer, texts.message.noExplanation);
    put(answer, el("p", {}, el("strong", {}, sentence(why.summary))),
      el("ul", {}, why.gates.map((gate) =>
        el("li", { className: gate.passed === true ? "passed" : gate.passed === false ? "failed" : null },
          `${gate.passed === true ? "✓" : gate.passed === false ? "✗" : "·"} `, sentence(gate.sentence), gate.advice ? ` ${gate.advice}` : ""))));
  }, { explain: explained });
  asked.querySelector("button").dataset.key = "w";
  return [el("h2", {}, texts.message.why), asked, answer];
}
