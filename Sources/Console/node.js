// The node that answers, for administrators: what it does now, the last day in charts, its settings.
import { client } from "./api.js";
import { chart } from "./chart.js";
import { el, moment, note, put, table } from "./dom.js";
import { ago, explained, texts } from "./texts.js";

/** How often charts are drawn anew while somebody looks. */
const PAUSE = 15_000;
const STATE = `query Node($names: [String!]!, $since: AWSDateTime!, $step: Int!) { server {
  node version commit startedAt ready database connections sockets subscriptions
  providers { name configured underWay pauses { app reason until } } peers { node seenAt }
  settings { name value origin reloads pendingRestart } series(names: $names, since: $since, step: $step) { name labels since step points } } }`;
const SPANS = [["hour", 3600, 15], ["day", 86_400, 300]];

const brief = (number) => new Intl.NumberFormat("en", { maximumSignificantDigits: 3 }).format(number);
const time = (seconds) => (seconds < 1 ? `${brief(seconds * 1000)} ms` : `${brief(seconds)} s`);
const rate = (number) => `${brief(number)}/s`;
const size = (bytes) => `${brief(bytes / 1e6)} MB`;
const CHARTS = [
  ["made", ["tocsin_messages_created_total"], rate], ["answer", ["tocsin_publish_duration_seconds"], time],
  ["toSocket", ["tocsin_commit_to_socket_seconds"], time], ["toProvider", ["tocsin_push_commit_to_accept_seconds"], time],
  ["providers", ["tocsin_push_answers_total"], rate], ["oldestDue", ["tocsin_push_oldest_due_seconds"], time],
  ["sockets", ["tocsin_sockets", "tocsin_http_connections"], brief], ["request", ["tocsin_graphql_duration_seconds"], time],
  ["writing", ["tocsin_store_commit_duration_seconds"], time], ["reading", ["tocsin_store_read_duration_seconds"], time],
  ["log", ["tocsin_sqlite_wal_bytes"], size, "SQLite"], ["roundTrip", ["tocsin_postgres_round_trip_seconds"], time, "PostgreSQL"],
  ["memory", ["process_resident_memory_bytes"], size], ["processors", ["process_cpu_seconds_total"], brief],
];
const NAMES = CHARTS.flatMap(([, names]) => names);

export async function open() {
  const [state, charts, settings] = [el("div"), el("div"), el("div")];
  const ended = new AbortController();
  let span = SPANS[0];
  let node = null;
  const buttons = SPANS.map((each) => el("button", { "aria-pressed": String(each === span), onclick: () => choose(each) }, texts.node.spans[each[0]]));

  function choose(each) {
    span = each;
    buttons.forEach((button, index) => button.setAttribute("aria-pressed", String(SPANS[index] === each)));
    draw().catch((error) => note(explained(error)));
  }

  async function draw() {
    const asked = span;
    const { server } = await client.query(STATE, { names: NAMES, since: new Date(Date.now() - asked[1] * 1000).toISOString(), step: asked[2] });
    if (asked !== span || ended.signal.aborted) return;
    if (!server) throw Object.assign(new Error(texts.node.onlyAdmins), { code: "UNAUTHORIZED" });
    put(state, ...stateOf(server));
    if (node !== server.node) put(settings);
    node = server.node;
    if (!settings.hasChildNodes()) put(settings, ...settingsOf(server.settings));
    // Who reads in a chart goes on reading.
    if (charts.contains(document.activeElement)) return;
    // What somebody has unfolded stays so.
    const unfolded = [...charts.querySelectorAll("details[open]")].map((details) => details.closest("section").querySelector("h2").textContent);
    put(charts, server.series
      ? CHARTS.filter(([, , , only]) => !only || server.database.startsWith(only))
        .map(([title, names, say]) => chart(texts.node.charts[title], linesOf(server.series, names), { say }))
      : el("p", {}, texts.node.notMeasured));
    for (const details of charts.querySelectorAll("details")) details.open = unfolded.includes(details.closest("section").querySelector("h2").textContent);
  }

  await draw();
  const again = () => document.visibilityState === "visible" && draw().catch((error) => put(state, el("p", { className: "error" }, explained(error), texts.node.before)));
  const timer = setInterval(again, PAUSE);
  document.addEventListener("visibilitychange", again, { signal: ended.signal });
  return {
    title: texts.places.node,
    body: [state, el("div", { className: "row", role: "group", "aria-label": texts.node.time }, buttons), charts, settings],
    stop() {
      clearInterval(timer);
      ended.abort();
    },
  };
}

function stateOf({ node, version, commit, startedAt, ready, database, connections, sockets, subscriptions, providers, peers }) {
  return [
    el("p", {}, texts.node.about(el("strong", {}, node), ready, version, commit, database, moment(startedAt, ago(startedAt)))),
    el("p", {}, texts.node.counts(connections, sockets, subscriptions)),
    table(texts.node.providers, texts.node.providerColumns, providers.map(({ name, configured, underWay, pauses }) => [
      texts.node.providerNames[name] ?? name, configured ? texts.node.yes : texts.node.no, String(underWay),
      pauses.length > 0 ? el("ul", {}, pauses.map(paused)) : texts.node.no,
    ])),
    peers ? table(texts.node.others, texts.node.nodeColumns, peers.map(({ node: name, seenAt }) => [
      el("span", { className: "free" }, name), moment(seenAt, ago(seenAt)),
    ])) : null,
    peers?.length > 0 ? el("p", { className: "hint" }, texts.node.figures) : null,
  ];
}

function paused({ app, reason, until }) {
  return el("li", { className: "free" }, texts.node.paused(app, reason, moment(until, new Date(until).toLocaleTimeString())));
}

/** The lines of a chart, in words; labels are `provider="apns",status="200"`. */
function linesOf(series, names) {
  return series.filter(({ name }) => names.includes(name)).map(({ name, labels, since, step, points }) => {
    const values = [...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, label, value]) => {
      if (label === "quantile") return value === "0.5" ? texts.node.half : texts.node.most;
      return texts.node.providerNames[value] ?? value;
    });
    return { words: values.join(", ") || texts.node.lines[name] || "", since, step, points };
  });
}

function settingsOf(settings) {
  const waiting = settings.filter(({ pendingRestart }) => pendingRestart).length;
  return [
    el("h2", {}, texts.node.settings),
    el("p", { className: "hint" }, waiting > 0 ? texts.node.waiting(waiting) : "", texts.node.setBy),
    el("details", {}, el("summary", {}, texts.node.settingCount(settings.length)),
      table(texts.node.settings, texts.node.settingColumns, settings.map(({ name, value, origin, reloads, pendingRestart }) => [
        el("code", {}, name), el("span", { className: "free" }, value ?? texts.node.notSet), el("span", { className: "free" }, origin),
        pendingRestart ? texts.node.restartAwaited : reloads ? texts.node.reload : texts.node.restart,
      ]))),
  ];
}
