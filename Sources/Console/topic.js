// A topic's settings: the caller's own pushes and tokens, with whom it is shared, and its end.
import { all, base, client, parts, proven } from "./api.js";
import { el, field, form, moment, note, put, sure, table } from "./dom.js";
import { makePublishToken } from "./publish-token.js";
import { ago, explained, texts } from "./texts.js";

const ONE = `query Settings($id: ID!) { memberships { topicId push delivery minPriority }
  getTopic(id: $id) { id name arn roles lastNumber watchers _version
    grants(limit: 200) { items { id subjectKind subject subjectName roles push expiresAt pending } } members(limit: 200) { items { userId push } } } }`;

const TOKENS = `query Tokens($nextToken: String) { tokens(limit: 100, nextToken: $nextToken) {
  items { id name scopes lastUsedAt expiresAt revokedAt } nextToken } }`;

export async function open({ id, go }) {
  const body = el("div");
  const has = await parts();
  let title = "";
  const made = el("div", { role: "status" });
  async function draw() {
    const { getTopic: topic, memberships } = await client.query(ONE, { id });
    if (!topic) throw Object.assign(new Error(texts.words.noSuchTopic), { code: "UNAUTHORIZED" });
    title = topic.name;
    const run = (document, variables) => async () => {
      try {
        await proven(document, variables);
        await draw();
      } catch (error) {
        note(explained(error));
      }
    };
    const mayPublish = topic.roles.includes("OWNER") || topic.roles.includes("PUBLISHER");
    put(body,
      table(texts.topic.about, texts.topic.columns, [
        [texts.topic.yourRoles, topic.roles.join(", ").toLowerCase()], [texts.topic.arn, topic.arn],
        [texts.topic.lastNumber, topic.lastNumber ?? texts.words.unknown], [texts.topic.watching, topic.watchers],
      ]),
      has.integrations ? ways(topic, has) : null,
      pushes(topic, memberships.find(({ topicId }) => topicId === id), run), topic.grants ? [sharing(topic, run, draw), members(topic, run)] : null,
      mayPublish ? tokens(topic, await tokensOf(id), made, run, draw) : null,
      topic.roles.includes("OWNER") && topic.grants ? end(topic, go) : null);
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
    el("button", { onclick: run(join, { id: topic.id, push: !on }) }, on ? texts.topic.mute : texts.topic.push),
  ];
}

function sharing(topic, run, draw) {
  const take = "mutation Take($id: ID!) { revokeGrant(id: $id) { id } }";
  const rows = topic.grants.items.filter(Boolean).map((grant) => [
    el("span", { className: "free" }, grant.subjectKind === "SIGNED_IN" ? texts.topic.everybody : `${grant.subjectKind.toLowerCase()} ${grant.subjectName ?? grant.subject}`),
    grant.roles.join(", ").toLowerCase() + (grant.pending ? texts.topic.pending : ""),
    el("button", { className: "danger", onclick: run(take, { id: grant.id }) }, texts.topic.takeBack),
  ]);
  const whom = el("select", {}, Object.entries(texts.topic.subjects).map(([value, words]) => el("option", { value }, words)));
  const name = el("input", { autocomplete: "off" });
  const role = el("select", {}, Object.entries(texts.topic.roles).map(([value, words]) => el("option", { value }, words)));
  const push = el("input", { type: "checkbox" });
  return [
    el("h2", {}, texts.topic.sharedWith),
    rows.length > 0 ? table(texts.topic.grants, texts.topic.grantColumns, rows) : el("p", {}, texts.topic.nobody),
    form([
      field(texts.topic.whom, whom), field(texts.topic.name, name), field(texts.topic.role, role), field(texts.topic.pushAtOnce, push),
    ], texts.topic.share, async () => {
      const subject = whom.value === "everybody" ? { everybody: true } : { [whom.value]: name.value };
      const roles = role.value === "PUBLISHER" ? ["READER", "PUBLISHER"] : [role.value];
      await proven("mutation Give($input: GrantInput!) { grantTopic(input: $input) { id } }", { input: { topicId: topic.id, ...subject, roles, push: push.checked } });
      await draw();
    }, { explain: explained }),
  ];
}

/** Whose devices get its pushes, or would if they had not muted it. */
function members(topic, run) {
  const remove = "mutation Remove($id: ID!, $user: ID!) { removeMember(topicId: $id, userId: $user) { push } }";
  const rows = (topic.members?.items ?? []).filter(Boolean).map(({ userId, push }) => [
    el("span", { className: "free" }, userId), push ? texts.topic.gets : texts.topic.hasMuted,
    el("button", { className: "danger", "aria-label": texts.topic.removeOf(userId), onclick: run(remove, { id: topic.id, user: userId }) }, texts.topic.remove),
  ]);
  return [el("h2", {}, texts.topic.members), rows.length > 0 ? table(texts.topic.membersOf, texts.topic.memberColumns, rows) : el("p", {}, texts.topic.noMembers)];
}

/** The caller's tokens that are good for this topic alone. */
async function tokensOf(id) {
  const found = await all(TOKENS, {}, (data) => data.tokens);
  return found.filter(({ scopes, revokedAt, expiresAt }) =>
    scopes.length === 1 && scopes[0].split(":")[1] === id && !revokedAt && new Date(expiresAt) > new Date());
}

function tokens(topic, known, made, run, draw) {
  const revoke = "mutation Revoke($id: ID!) { revokeToken(id: $id) { id } }";
  const rows = known.map((token) => [
    el("span", { className: "free" }, token.name || token.id),
    token.scopes[0].startsWith("publish") ? texts.topic.publishes : texts.topic.reads,
    token.lastUsedAt ? moment(token.lastUsedAt, ago(token.lastUsedAt)) : texts.words.never, moment(token.expiresAt, ago(token.expiresAt)),
    el("button", { className: "danger", "aria-label": texts.topic.revokeOf(token.name), onclick: run(revoke, { id: token.id }) }, texts.words.revoke),
  ]);
  const name = el("input", { required: true, maxLength: 100 });
  return [
    el("h2", {}, texts.topic.tokens), el("p", {}, texts.topic.aboutTokens),
    rows.length > 0 ? table(texts.topic.tokensOf, texts.topic.tokenColumns, rows) : null,
    form([field(texts.topic.tokenName, name)], texts.topic.makeToken, async () => {
      const { text, command } = await makePublishToken(topic, name.value);
      put(made, el("p", {}, texts.tokens.once), el("pre", { tabIndex: 0 }, text), el("p", {}, texts.topic.tokenUse), el("pre", { tabIndex: 0 }, command));
      await draw();
    }, { explain: explained }),
    made,
  ];
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
