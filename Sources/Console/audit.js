// Who changed what, and from where: everything for administrators, one's own for others.
import { client } from "./api.js";
import { el, field, form, moment, put, table } from "./dom.js";
import { ago, explained, texts } from "./texts.js";

const PAGE = 100;
const EVENTS = `query Audit($filter: AuditEventFilter, $limit: Int, $nextToken: String) { page: auditEvents(filter: $filter, limit: $limit, nextToken: $nextToken) {
  items { id at actorKind actor network action subjectKind subject detail outcome requestId } nextToken } }`;

export async function open({ me }) {
  const action = el("input", { autocomplete: "off", placeholder: "topic.*", maxLength: 100 });
  const actor = el("input", { autocomplete: "off", maxLength: 200 });
  const outcome = el("select", {}, Object.entries(texts.audit.outcomes).map(([value, words]) => el("option", { value }, words)));
  const shown = el("div");
  const said = el("p", { className: "hint", role: "status" });
  const older = el("button", { hidden: true, onclick: () => more().catch((error) => put(said, explained(error))) }, texts.audit.older);
  let rows = [];
  let next = null;

  async function more() {
    const filter = {
      ...(action.value.trim() && { action: action.value.trim() }), ...(actor.value.trim() && { actor: actor.value.trim() }),
      ...(outcome.value && { outcome: outcome.value }),
    };
    const { page } = await client.query(EVENTS, { filter, limit: PAGE, nextToken: next });
    rows.push(...page.items.filter(Boolean).map((event) => row(event, me)));
    next = page.nextToken;
    older.hidden = !next;
    put(shown, rows.length > 0 ? table(texts.audit.done, texts.audit.columns, rows) : null);
    put(said, rows.length === 0 ? texts.audit.nothing : "");
  }

  async function begin() {
    [rows, next] = [[], null];
    await more();
  }

  await begin();
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
  };
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
