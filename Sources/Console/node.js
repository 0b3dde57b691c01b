// The node that answers, for administrators: what it does now, the last day in charts, its settings.
import { client } from "./api.js";
import { chart } from "./chart.js";
import { el, moment, note, put, table } from "./dom.js";
import { ago, counted, explained } from "./texts.js";

/** How often charts are drawn anew while somebody looks. */
const PAUSE = 15_000;
const STATE = `query Node($names: [String!]!, $since: AWSDateTime!, $step: Int!) { server {
  node version commit startedAt ready database connections sockets subscriptions
  providers { name configured underWay pauses { app reason until } } peers { node seenAt }
  settings { name value origin reloads pendingRestart } series(names: $names, since: $since, step: $step) { name labels since step points } } }`;
const SPANS = [["The last hour", 3600, 15], ["The last day", 86_400, 300]];

const brief = (number) => new Intl.NumberFormat("en", { maximumSignificantDigits: 3 }).format(number);
const time = (seconds) => (seconds < 1 ? `${brief(seconds * 1000)} ms` : `${brief(seconds)} s`);
const rate = (number) => `${brief(number)}/s`;
const size = (bytes) => `${brief(bytes / 1e6)} MB`;
const CHARTS = [
  ["Messages made", ["tocsin_messages_created_total"], rate], ["Answer to a message", ["tocsin_publish_duration_seconds"], time],
  ["From commit to socket", ["tocsin_commit_to_socket_seconds"], time], ["From commit to a provider's yes", ["tocsin_push_commit_to_accept_seconds"], time],
  ["Answers of providers", ["tocsin_push_answers_total"], rate], ["Oldest push that is due", ["tocsin_push_oldest_due_seconds"], time],
  ["Sockets and connections", ["tocsin_sockets", "tocsin_http_connections"], brief], ["Answer to any request", ["tocsin_graphql_duration_seconds"], time],
  ["Writing to the database", ["tocsin_store_commit_duration_seconds"], time], ["Reading from the database", ["tocsin_store_read_duration_seconds"], time],
  ["Log of the database", ["tocsin_sqlite_wal_bytes"], size, "SQLite"], ["Round trip to the database", ["tocsin_postgres_round_trip_seconds"], time, "PostgreSQL"],
  ["Memory", ["process_resident_memory_bytes"], size], ["Processors", ["process_cpu_seconds_total"], brief],
];
const NAMES = CHARTS.flatMap(([, names]) => names);
const PROVIDERS = { apns: "Apple", fcm: "Firebase", webpush: "Web Push" };
const WORDS = { tocsin_sockets: "sockets", tocsin_http_connections: "connections" };

export async function open() {
  const [state, charts, settings] = [el("div"), el("div"), el("div")];
  const ended = new AbortController();
  let span = SPANS[0];
  let node = null;
  const buttons = SPANS.map((each) => el("button", { "aria-pressed": String(each === span), onclick: () => choose(each) }, each[0]));

  function choose(each) {
    span = each;
    buttons.forEach((button, index) => button.setAttribute("aria-pressed", String(SPANS[index] === each)));
    draw().catch((error) => note(explained(error)));
  }

  async function draw() {
    const asked = span;
    const { server } = await client.query(STATE, { names: NAMES, since: new Date(Date.now() - asked[1] * 1000).toISOString(), step: asked[2] });
    if (asked !== span || ended.signal.aborted) return;
    if (!server) throw Object.assign(new Error("Only administrators see the server."), { code: "UNAUTHORIZED" });
    put(state, ...stateOf(server));
    if (node !== server.node) put(settings);
    node = server.node;
    if (!settings.hasChildNodes()) put(settings, ...settingsOf(server.settings));
    // Who reads in a chart goes on reading.
    if (charts.contains(document.activeElement)) return;
    // What somebody has unfolded stays so.
    const unfolded = [...charts.querySelectorAll("details[open]")].map((details) => details.closest("section").querySelector("h2").textContent);
    put(charts, server.series ? CHARTS.filter(([, , , only]) => !only || server.database.startsWith(only)).map(([title, names, say]) => chart(title, linesOf(server.series, names), { say })) : el("p", {}, "Nothing is measured here: TOCSIN_METRICS is off."));
    for (const details of charts.querySelectorAll("details")) details.open = unfolded.includes(details.closest("section").querySelector("h2").textContent);
  }

  await draw();
  const again = () => document.visibilityState === "visible" && draw().catch((error) => put(state, el("p", { className: "error" }, explained(error), " What is shown is from before.")));
  const timer = setInterval(again, PAUSE);
  document.addEventListener("visibilitychange", again, { signal: ended.signal });
  return {
    title: "Node",
    body: [state, el("div", { className: "row", role: "group", "aria-label": "Time" }, buttons), charts, settings],
    stop() {
      clearInterval(timer);
      ended.abort();
    },
  };
}

function stateOf({ node, version, commit, startedAt, ready, database, connections, sockets, subscriptions, providers, peers }) {
  return [
    el("p", {}, el("strong", {}, node), ready ? " takes requests" : " takes no requests now", `. Tocsin ${version} (${commit}) on ${database}, started `, moment(startedAt, ago(startedAt)), "."),
    el("p", {}, `${counted(connections, "connection")}, ${counted(sockets, "socket")}, ${counted(subscriptions, "subscription")}.`),
    table("Providers", ["Provider", "Is set up", "Waits for its answer", "Paused"], providers.map(({ name, configured, underWay, pauses }) => [
      PROVIDERS[name] ?? name, configured ? "yes" : "no", String(underWay),
      pauses.length > 0 ? el("ul", {}, pauses.map(({ app, reason, until }) => el("li", { className: "free" }, `${app}: ${reason}, until `, moment(until, new Date(until).toLocaleTimeString())))) : "no",
    ])),
    peers ? table("Other nodes", ["Node", "Heard of"], peers.map(({ node: name, seenAt }) => [el("span", { className: "free" }, name), moment(seenAt, ago(seenAt))])) : null,
    peers?.length > 0 ? el("p", { className: "hint" }, "The figures are of the node that answered. Each node has them at its own address. How old pushes are that are due is known to the one that does the upkeep.") : null,
  ];
}

/** The lines of a chart, in words; labels are `provider="apns",status="200"`. */
function linesOf(series, names) {
  return series.filter(({ name }) => names.includes(name)).map(({ name, labels, since, step, points }) => {
    const values = [...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, label, value]) => (label === "quantile" ? (value === "0.5" ? "half" : "99 of 100") : PROVIDERS[value] ?? value));
    return { words: values.join(", ") || WORDS[name] || "", since, step, points };
  });
}

function settingsOf(settings) {
  const waiting = settings.filter(({ pendingRestart }) => pendingRestart).length;
  return [
    el("h2", {}, "Settings"),
    el("p", { className: "hint" }, waiting > 0 ? `${counted(waiting, "setting")} will hold after a restart. ` : "", "A file or the environment sets them; `tocsin admin reload` takes what need not wait for a restart."),
    el("details", {}, el("summary", {}, counted(settings.length, "setting")), table("Settings", ["Setting", "Value", "From", "Changes by"], settings.map(({ name, value, origin, reloads, pendingRestart }) => [
      el("code", {}, name), el("span", { className: "free" }, value ?? "not set"), el("span", { className: "free" }, origin), pendingRestart ? "a restart, awaited" : reloads ? "a reload" : "a restart",
    ]))),
  ];
}
