// A topic's settings: the caller's own pushes, with whom it is shared, and its end.
import { base, client, parts, proven } from "./api.js";
import { el, field, form, note, put, sure, table } from "./dom.js";
import { explained } from "./texts.js";

const ONE = `query Settings($id: ID!) { memberships { topicId push delivery minPriority }
  getTopic(id: $id) { id name arn roles lastNumber watchers _version
    grants(limit: 200) { items { id subjectKind subject subjectName roles push expiresAt pending } } members(limit: 200) { items { userId push } } } }`;

export async function open({ id, go }) {
  const body = el("div");
  const has = await parts();
  let title = "";
  async function draw() {
    const { getTopic: topic, memberships } = await client.query(ONE, { id });
    if (!topic) throw Object.assign(new Error("There is no such topic."), { code: "UNAUTHORIZED" });
    title = topic.name;
    const run = (document, variables) => async () => {
      try {
        await proven(document, variables);
        await draw();
      } catch (error) {
        note(explained(error));
      }
    };
    put(body,
      table("About this topic", ["What", "Value"], [
        ["Your roles", topic.roles.join(", ").toLowerCase()], ["ARN", topic.arn], ["Last number", topic.lastNumber ?? "unknown"], ["Watching now", topic.watchers],
      ]),
      has.integrations ? ways(topic, has) : null,
      pushes(topic, memberships.find(({ topicId }) => topicId === id), run), topic.grants ? sharing(topic, run, draw) : null,
      topic.roles.includes("OWNER") && topic.grants ? end(topic, go) : null);
  }
  await draw();
  return { title: `${title}: settings`, body };
}

/** Where senders come in, and what they have raised. */
function ways({ id, roles }, { incidents }) {
  const mayAdd = roles.includes("OWNER") || roles.includes("PUBLISHER");
  return [
    el("h2", {}, "Integrations"),
    el("p", {}, "Monitoring systems post here in their own words, each by a key of its own."),
    el("div", { className: "row" },
      mayAdd ? el("a", { className: "button", href: `${base}/topics/${id}/integrations` }, "Integrations of this topic") : null,
      incidents ? el("a", { className: "button", href: `${base}/incidents?topic=${encodeURIComponent(id)}` }, "Its incidents") : null),
  ];
}

function pushes(topic, mine, run) {
  const join = "mutation Join($id: ID!, $push: Boolean!) { subscribeToTopic(topicId: $id, push: $push) { push } }";
  const on = mine?.push === true;
  return [
    el("h2", {}, "Your pushes"),
    el("p", {}, on ? "Your devices get this topic's messages." : mine ? "You have muted this topic." : "You are no member: your devices get nothing of it."),
    el("button", { onclick: run(join, { id: topic.id, push: !on }) }, on ? "Mute" : "Push to my devices"),
  ];
}

function sharing(topic, run, draw) {
  const take = "mutation Take($id: ID!) { revokeGrant(id: $id) { id } }";
  const rows = topic.grants.items.filter(Boolean).map((grant) => [
    el("span", { className: "free" }, grant.subjectKind === "SIGNED_IN" ? "everybody who has signed in" : `${grant.subjectKind.toLowerCase()} ${grant.subjectName ?? grant.subject}`),
    grant.roles.join(", ").toLowerCase() + (grant.pending ? " (has not signed in yet)" : ""),
    el("button", { className: "danger", onclick: run(take, { id: grant.id }) }, "Take back"),
  ]);
  const whom = el("select", {}, ["user", "group", "everybody"].map((value) => el("option", { value }, value)));
  const name = el("input", { autocomplete: "off" });
  const role = el("select", {}, [["READER", "reads"], ["PUBLISHER", "reads and publishes"], ["OWNER", "does everything but delete it"]].map(([value, words]) => el("option", { value }, words)));
  const push = el("input", { type: "checkbox" });
  return [
    el("h2", {}, "Shared with"),
    rows.length > 0 ? table("With whom this topic is shared", ["Who", "May", "What to do"], rows) : el("p", {}, "Nobody yet."),
    form([field("With", whom), field("Name of the user or group", name), field("Who", role), field("their devices get the pushes at once", push)], "Share", async () => {
      const subject = whom.value === "everybody" ? { everybody: true } : { [whom.value]: name.value };
      const roles = role.value === "PUBLISHER" ? ["READER", "PUBLISHER"] : [role.value];
      await proven("mutation Give($input: GrantInput!) { grantTopic(input: $input) { id } }", { input: { topicId: topic.id, ...subject, roles, push: push.checked } });
      await draw();
    }, { explain: explained }),
  ];
}

function end(topic, go) {
  const name = el("input", { autocomplete: "off", required: true });
  return [
    el("h2", {}, "Delete the topic"),
    form([field("Type its name", name, "its messages go with it; this cannot be undone")], "Delete", async () => {
      if (name.value !== topic.name) throw new Error("That is not its name.");
      if (!sure(`Delete ${topic.name} with all its messages?`)) return;
      await client.mutate("mutation End($input: DeleteTopicInput!) { deleteTopic(input: $input) { id } }", { input: { id: topic.id, _version: topic._version } });
      dispatchEvent(new Event("tocsin-topics"));
      await go("/");
    }, { explain: explained }),
    el("p", { className: "hint" }, el("a", { href: `${base}/topics/${topic.id}` }, "Back to its messages")),
  ];
}
