// Who changed what, and from where: everything for administrators, one's own for others.
import { client } from "./api.js";
import { el, field, form, moment, put, table } from "./dom.js";
import { ago, explained } from "./texts.js";

const PAGE = 100;
const EVENTS = `query Audit($filter: AuditEventFilter, $limit: Int, $nextToken: String) { page: auditEvents(filter: $filter, limit: $limit, nextToken: $nextToken) {
  items { id at actorKind actor network action subjectKind subject detail outcome requestId } nextToken } }`;

export async function open({ me }) {
  const action = el("input", { autocomplete: "off", placeholder: "topic.*", maxLength: 100 });
  const actor = el("input", { autocomplete: "off", maxLength: 200 });
  const outcome = el("select", {}, [["", "done and refused"], ["DONE", "done"], ["REFUSED", "refused"]].map(([value, words]) => el("option", { value }, words)));
  const shown = el("div");
  const said = el("p", { className: "hint", role: "status" });
  const older = el("button", { hidden: true, onclick: () => more().catch((error) => put(said, explained(error))) }, "Older");
  let rows = [];
  let next = null;

  async function more() {
    const filter = {
      ...(action.value.trim() && { action: action.value.trim() }), ...(actor.value.trim() && { actor: actor.value.trim() }),
      ...(outcome.value && { outcome: outcome.value }),
    };
    const { page } = await client.query(EVENTS, { filter, limit: PAGE, nextToken: next });
    rows.push(...page.items.filter(Boolean).map(row));
    next = page.nextToken;
    older.hidden = !next;
    put(shown, rows.length > 0 ? table("What was done", ["When", "Who", "What", "To what", "More"], rows) : null);
    put(said, rows.length === 0 ? "Nothing was noted." : "");
  }

  async function begin() {
    [rows, next] = [[], null];
    await more();
  }

  await begin();
  return {
    title: "Audit",
    body: [
      me.admin ? null : el("p", {}, "What you did, and what was done to you and to what is yours."),
      form([field("What", action, "an action, or all of a kind"), field("Who", actor, "a user's name or id"), field("How it ended", outcome)], "Show", begin, { explain: explained }),
      said, shown, el("div", { className: "row" }, older),
    ],
  };
}

function row({ at, actorKind, actor, network, action, subjectKind, subject, detail, outcome, requestId }) {
  const more = JSON.stringify({ ...parsed(detail), ...(network && { network }), ...(requestId && { request: requestId }) }, null, 2);
  return [
    moment(at, ago(at)), el("span", { className: "free" }, actor ?? actorKind.toLowerCase()),
    el("span", { className: outcome === "REFUSED" ? "failed" : null }, action, outcome === "REFUSED" ? ": refused" : ""),
    el("span", { className: "free" }, `${subjectKind.toLowerCase()} ${subject}`),
    more === "{}" ? "" : el("details", {}, el("summary", {}, "More"), el("pre", { tabIndex: 0 }, more)),
  ];
}

function parsed(detail) {
  try {
    return JSON.parse(detail);
  } catch {
    return {};
  }
}
