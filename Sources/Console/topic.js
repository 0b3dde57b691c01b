// A topic's settings: the caller's own pushes and tokens, with whom it is shared, and its end.
import { base, client, parts, proven } from "./api.js";
import { el, field, form, note, put, sure, table } from "./dom.js";
import { ownTokens } from "./own-tokens.js";
import { paged } from "./pages.js";
import { explained, texts } from "./texts.js";

const GRANTS = "grants(limit: 100, nextToken: $grants) { items { id subjectKind subject subjectName roles push expiresAt pending } nextToken }";
const MEMBERS = "members(limit: 100, nextToken: $members) { items { userId userName push } nextToken }";

const ONE = `query Settings($id: ID!, $grants: String, $members: String) { memberships { topicId push delivery minPriority }
  getTopic(id: $id) { id name arn roles lastNumber watchers _version ${GRANTS} ${MEMBERS} } }`;
const MORE_GRANTS = `query Grants($id: ID!, $grants: String) { getTopic(id: $id) { ${GRANTS} } }`;
const MORE_MEMBERS = `query Members($id: ID!, $members: String) { getTopic(id: $id) { ${MEMBERS} } }`;

export async function open({ id, go, me }) {
  const body = el("div");
  const has = await parts();
  let title = "";
  const run = (document, variables) => async () => {
    try {
      await proven(document, variables);
      await draw();
    } catch (error) {
      note(explained(error));
    }
  };
  const [grants, members] = [grantsOf(id, run), membersOf(id, run)];
  const tokens = ownTokens(id);
  // What is being written there stays while other parts change.
  const share = sharing(id, draw, me);
  async function draw() {
    const { getTopic: topic, memberships } = await client.query(ONE, { id });
    if (!topic) throw Object.assign(new Error(texts.words.noSuchTopic), { code: "UNAUTHORIZED" });
    title = topic.name;
    const mayPublish = topic.roles.includes("OWNER") || topic.roles.includes("PUBLISHER");
    if (topic.grants) await Promise.all([grants.begin(topic.grants), members.begin(topic.members ?? { items: [] })]);
    if (mayPublish) await tokens.begin(topic);
    const focused = body.contains(document.activeElement) ? document.activeElement : null;
    put(body,
      table(texts.topic.about, texts.topic.columns, [
        [texts.topic.yourRoles, topic.roles.join(", ").toLowerCase()], topic.arn && [texts.topic.arn, topic.arn],
        [texts.topic.lastNumber, topic.lastNumber ?? texts.words.unknown], [texts.topic.watching, topic.watchers],
      ].filter(Boolean)),
      has.integrations ? ways(topic, has) : null,
      pushes(topic, memberships.find(({ topicId }) => topicId === id), run), topic.grants ? [el("h2", {}, texts.topic.sharedWith), grants.element, share, el("h2", {}, texts.topic.members), members.element] : null,
      mayPublish ? tokens.element : null,
      topic.roles.includes("OWNER") && topic.grants ? end(topic, go) : null);
    // What is moved loses the focus, and the button of pushes is another one.
    if (focused) (focused.isConnected ? focused : body.querySelector(".pushes"))?.focus({ preventScroll: true });
  }
  await draw();
  return { title: texts.topic.title(title), body };
}

/** Where senders come in, and what they have raised. */
function ways({ id, roles }, { incidents }) {
  const mayAdd = roles.includes("OWNER") || roles.includes("PUBLISHER");
  return [
    el("h2", {}, texts.topic.integrations),
    el("p", {}, texts.topic.aboutIntegrations),
    el("div", { className: "row" },
      mayAdd ? el("a", { className: "button", href: `${base}/topics/${id}/integrations` }, texts.topic.toIntegrations) : null,
      incidents ? el("a", { className: "button", href: `${base}/incidents?topic=${encodeURIComponent(id)}` }, texts.topic.toIncidents) : null),
  ];
}

function pushes(topic, mine, run) {
  const join = "mutation Join($id: ID!, $push: Boolean!) { subscribeToTopic(topicId: $id, push: $push) { push } }";
  const on = mine?.push === true;
  return [
    el("h2", {}, texts.topic.pushes),
    el("p", {}, on ? texts.topic.on : mine ? texts.topic.muted : texts.topic.noMember),
    el("button", { className: "pushes", onclick: run(join, { id: topic.id, push: !on }) }, on ? texts.topic.mute : texts.topic.push),
  ];
}

/** With whom it is shared. */
function grantsOf(id, run) {
  const take = "mutation Take($id: ID!) { revokeGrant(id: $id) { id } }";
  const named = (grant) => (grant.subjectKind === "SIGNED_IN" ? texts.topic.everybody : `${grant.subjectKind.toLowerCase()} ${grant.subjectName ?? grant.subject}`);
  const row = (grant) => [
    el("span", { className: "free" }, named(grant)),
    grant.roles.join(", ").toLowerCase() + (grant.pending ? texts.topic.pending : ""),
    el("button", { className: "danger", "aria-label": texts.words.of(texts.topic.takeBack, named(grant)), onclick: run(take, { id: grant.id }) }, texts.topic.takeBack),
  ];
  return paged({
    name: texts.topic.grants,
    load: async (token) => (await client.query(MORE_GRANTS, { id, grants: token })).getTopic?.grants ?? { items: [] },
    draw: (grants) => (grants.length > 0 ? table(texts.topic.grants, texts.topic.grantColumns, grants.map(row)) : el("p", {}, texts.topic.nobody)),
  });
}

/** Whether a group has nobody, as far as the caller may know: administrators of all, makers of those they made. */
async function isEmpty(name, { admin }) {
  try {
    const { group } = await client.query("query Empty($name: String) { group(name: $name) { members(limit: 1) { items { name } } } }", { name });
    // Groups of a sign-in provider are known there alone.
    return group ? group.members.items.length === 0 : admin && !name.startsWith("oidc:");
  } catch {
    return false;
  }
}

/** The form that shares it with somebody more. */
function sharing(topicId, draw, me) {
  const whom = el("select", {}, Object.entries(texts.topic.subjects).map(([value, words]) => el("option", { value }, words)));
  const name = el("input", { autocomplete: "off", required: true });
  // Everybody has no name.
  whom.addEventListener("change", () => (name.disabled = whom.value === "everybody"));
  const role = el("select", {}, Object.entries(texts.topic.roles).map(([value, words]) => el("option", { value }, words)));
  const push = el("input", { type: "checkbox" });
  const said = el("p", { role: "status", hidden: true });
  const asked = form([
    field(texts.topic.whom, whom), field(texts.topic.name, name), field(texts.topic.role, role), field(texts.topic.pushAtOnce, push),
  ], texts.topic.share, async () => {
    said.hidden = true;
    const subject = whom.value === "everybody" ? { everybody: true } : { [whom.value]: name.value };
    const roles = role.value === "PUBLISHER" ? ["READER", "PUBLISHER"] : [role.value];
    await proven("mutation Give($input: GrantInput!) { grantTopic(input: $input) { id } }", { input: { topicId, ...subject, roles, push: push.checked } });
    const given = name.value;
    name.value = "";
    await draw();
    if (whom.value !== "group" || !(await isEmpty(given, me))) return;
    said.hidden = false;
    put(said, texts.topic.emptyGroup(el("span", { className: "free" }, given)));
  }, { explain: explained });
  return el("div", {}, asked, said);
}

/** Whose devices get its pushes, or would if they had not muted it. */
function membersOf(id, run) {
  const remove = "mutation Remove($id: ID!, $user: ID!) { removeMember(topicId: $id, userId: $user) { push } }";
  const row = ({ userId, userName, push }) => [
    el("span", { className: "free" }, userName ?? userId), push ? texts.topic.gets : texts.topic.hasMuted,
    el("button", { className: "danger", "aria-label": texts.topic.removeOf(userName ?? userId), onclick: run(remove, { id, user: userId }) }, texts.topic.remove),
  ];
  return paged({
    name: texts.topic.membersOf,
    load: async (token) => (await client.query(MORE_MEMBERS, { id, members: token })).getTopic?.members ?? { items: [] },
    draw: (members) => (members.length > 0 ? table(texts.topic.membersOf, texts.topic.memberColumns, members.map(row)) : el("p", {}, texts.topic.noMembers)),
  });
}

function end(topic, go) {
  const name = el("input", { autocomplete: "off", required: true });
  return [
    el("h2", {}, texts.topic.end),
    form([field(texts.topic.typeName, name, texts.topic.typeNameHint)], texts.words.delete, async () => {
      if (name.value !== topic.name) throw new Error(texts.topic.notItsName);
      if (!sure(texts.topic.sureDelete(topic.name))) return;
      await client.mutate("mutation End($input: DeleteTopicInput!) { deleteTopic(input: $input) { id } }", { input: { id: topic.id, _version: topic._version } });
      dispatchEvent(new Event("tocsin-topics"));
      await go("/");
    }, { explain: explained }),
    el("p", { className: "hint" }, el("a", { href: `${base}/topics/${topic.id}` }, texts.topic.back)),
  ];
}
