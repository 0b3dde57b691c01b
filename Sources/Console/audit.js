// Who changed what, and from where: everything for administrators, as it is done, one's own for others.
import { client } from "./api.js";
import { el, field, form, moment, note, put, table } from "./dom.js";
import { ago, explained, texts } from "./texts.js";
import { oneAtATime, soon } from "./turns.js";

const PAGE = 100;
/** So many rows may be on screen before the list begins anew. */
const MOST = 2000;
const ROW = "id at actorKind actor network action subjectKind subject detail outcome requestId";
const EVENTS = `query Audit($filter: AuditEventFilter, $limit: Int, $nextToken: String) { page: auditEvents(filter: $filter, limit: $limit, nextToken: $nextToken) {
  items { ${ROW} } nextToken } }`;
const LIVE = `subscription AuditLive { event: onAuditEvent { ${ROW} } }`;

export async function open({ me }) {
  const action = el("input", { autocomplete: "off", placeholder: "topic.*", maxLength: 100 });
  const actor = el("input", { autocomplete: "off", maxLength: 200 });
  const outcome = el("select", {}, Object.entries(texts.audit.outcomes).map(([value, words]) => el("option", { value }, words)));
  const shown = el("div");
  const said = el("p", { className: "hint", role: "status" });
  const older = el("button", { hidden: true, onclick: () => more().catch((error) => put(said, explained(error))) }, texts.audit.older);
  const ended = new AbortController();
  let filter = {};
  /** What is on screen, the latest first, and each one's line. */
  let events = [];
  let lines = new Map();
  let next = null;

  const pageOf = async (nextToken) => {
    const asked = filter;
    const { page } = await client.query(EVENTS, { filter: asked, limit: PAGE, nextToken });
    // Another filter was chosen meanwhile.
    return asked === filter && !ended.signal.aborted ? page : null;
  };

  async function more() {
    const from = next;
    const page = await pageOf(from);
    // The list has begun anew, or somebody has pressed twice: what this answer follows is not its end any more.
    if (!page || next !== from) return;
    page.items.filter(Boolean).forEach(add);
    next = page.nextToken;
    draw();
  }

  async function begin() {
    filter = {
      ...(action.value.trim() && { action: action.value.trim() }), ...(actor.value.trim() && { actor: actor.value.trim() }),
      ...(outcome.value && { outcome: outcome.value }),
    };
    [events, lines, next] = [[], new Map(), null];
    put(shown);
    await more();
  }

  /** What was written while nobody listened, or may be what the filter asks for. */
  const refresh = oneAtATime(async () => {
    const page = await pageOf(null);
    if (!page) return;
    const items = page.items.filter(Boolean);
    // More came than one page holds: what lies between is not known.
    const isGap = page.nextToken && events.length > 0 && !items.some(({ id }) => lines.has(id));
    if (isGap || events.length > MOST) {
      [events, lines] = [[], new Map()];
      put(shown);
    }
    if (events.length === 0) next = page.nextToken;
    items.forEach(add);
    draw();
  }, (error) => ended.signal.aborted || note(explained(error)));
  const isLooked = () => !ended.signal.aborted && document.visibilityState === "visible";
  const soonRefresh = soon(() => isLooked() && void refresh());

  function draw() {
    older.hidden = !next;
    put(said, events.length === 0 ? texts.audit.nothing : "");
  }

  /** Puts a row at its place, once; those that are on screen stay as they are. */
  function add(event) {
    if (lines.has(event.id)) return;
    const place = events.findIndex((other) => isLater(event, other));
    const whole = table(texts.audit.done, texts.audit.columns, [row(event, me)]);
    const line = whole.querySelector("tbody").firstElementChild;
    if (events.length === 0) put(shown, whole);
    else if (place < 0) shown.querySelector("tbody").append(line);
    else lines.get(events[place].id).before(line);
    events.splice(place < 0 ? events.length : place, 0, event);
    lines.set(event.id, line);
  }

  function heard(event) {
    if (Object.keys(filter).length > 0 || events.length > MOST) return soonRefresh();
    add(event);
    draw();
  }

  async function follow() {
    const onState = (state) => {
      dispatchEvent(new CustomEvent("tocsin-state", { detail: state.state }));
      if (state.state === "live") void refresh();
    };
    try {
      for await (const { event } of client.subscribe(LIVE, {}, { signal: ended.signal, onState })) heard(event);
    } catch (error) {
      if (ended.signal.aborted) return;
      if (error.code === "UNAUTHENTICATED") dispatchEvent(new Event("tocsin-signed-out"));
      else note(explained(error));
    }
  }

  await begin();
  if (me.admin) void follow();
  // A hidden page asks nothing; what it missed is asked for when somebody comes back.
  document.addEventListener("visibilitychange", soonRefresh, { signal: ended.signal });
  return {
    title: texts.places.audit,
    body: [
      me.admin ? null : el("p", {}, texts.audit.yours),
      form([
        field(texts.audit.what, action, texts.audit.whatHint), field(texts.audit.who, actor, texts.audit.whoHint),
        field(texts.audit.ended, outcome),
      ], texts.audit.show, begin, { explain: explained }),
      said, shown, el("div", { className: "row" }, older),
    ],
    stop: () => ended.abort(),
  };
}

function isLater(event, other) {
  return event.at === other.at ? event.id > other.id : event.at > other.at;
}

function row({ at, actorKind, actor, network, action, subjectKind, subject, detail, outcome, requestId }, me) {
  const more = JSON.stringify({ ...parsed(detail), ...(network && { network }), ...(requestId && { request: requestId }) }, null, 2);
  const who = actor === me.userId ? me.username : actor ?? actorKind.toLowerCase();
  return [
    moment(at, ago(at)), el("span", { className: "free" }, who),
    el("span", { className: outcome === "REFUSED" ? "failed" : null }, action, outcome === "REFUSED" ? texts.audit.refused : ""),
    el("span", { className: "free" }, `${subjectKind.toLowerCase()} ${subject}`),
    more === "{}" ? "" : el("details", {}, el("summary", { "aria-label": texts.words.of(texts.words.more, `${action}, ${subjectKind.toLowerCase()} ${subject}`) }, texts.words.more), el("pre", { tabIndex: 0 }, more)),
  ];
}

function parsed(detail) {
  try {
    return JSON.parse(detail);
  } catch {
    return {};
  }
}
