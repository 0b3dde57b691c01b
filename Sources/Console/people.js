// Users and groups, for administrators: made, disabled, given a new password, put into groups.
import { client, proven } from "./api.js";
import { el, field, form, moment, note, put, sure, table } from "./dom.js";
import { paged } from "./pages.js";
import { ago, explained, texts } from "./texts.js";

const LIST = "query People($nextToken: String) { users(limit: 100, nextToken: $nextToken) { items { id name kind admin disabled lastSeenAt groups } nextToken } }";
/** So many groups, with so many of each one's members, cost less than the server allows for one answer. */
const MEMBERS = "members(limit: 50, nextToken: $members) { items { name } nextToken }";
const GROUPS = `query Groups($nextToken: String, $members: String) { groups(limit: 50, nextToken: $nextToken) { items { id name ${MEMBERS} } nextToken } }`;
const MORE = `query Members($id: ID!, $members: String) { group(id: $id) { ${MEMBERS} } }`;

export async function open({ me }) {
  const secret = el("div", { role: "status" });
  const run = (document, variables, then) => async () => {
    try {
      const data = await proven(document, variables);
      then?.(data);
      await draw();
    } catch (error) {
      note(explained(error));
    }
  };
  const users = paged({
    name: texts.places.people,
    load: async (nextToken) => (await client.query(LIST, { nextToken })).users,
    draw: (found) => table(texts.places.people, texts.people.columns, found.map((user) => [
      el("span", { className: "free" }, user.name), texts.people.kind(user.kind.toLowerCase(), user.admin, user.disabled), user.groups.join(", "),
      user.lastSeenAt ? moment(user.lastSeenAt, ago(user.lastSeenAt)) : texts.words.never, user.id === me.userId ? texts.people.you : buttons(user),
    ])),
  });
  const groups = paged({
    name: texts.people.groups,
    load: async (nextToken) => (await client.query(GROUPS, { nextToken })).groups,
    draw: (known) => (known.length > 0 ? table(texts.people.groups, texts.people.groupColumns, known.map(groupRow)) : el("p", {}, texts.people.noGroup)),
  });
  const draw = () => Promise.all([users.begin(), groups.begin()]);
  const buttons = (user) => [
    el("button", {
      className: user.disabled ? "" : "danger",
      onclick: () => (user.disabled || sure(texts.people.sureDisable(user.name)))
        && run("mutation Able($id: ID!, $off: Boolean!) { setUserDisabled(id: $id, disabled: $off) { id } }", { id: user.id, off: !user.disabled })(),
    }, user.disabled ? texts.people.enable : texts.people.disable), " ",
    el("button", {
      onclick: () => sure(texts.people.sureNewPassword(user.name))
        && run("mutation Reset($id: ID!) { resetPassword(id: $id) { password } }", { id: user.id }, (data) =>
          put(secret, el("p", {}, texts.people.newPasswordOf(user.name)), el("pre", { tabIndex: 0 }, data.resetPassword.password)))(),
    }, texts.people.newPassword), " ",
    user.kind === "SERVICE" ? null : el("button", {
      "aria-pressed": String(user.admin), "aria-label": texts.people.adminOf(user.name),
      onclick: run("mutation Admin($id: ID!, $on: Boolean!) { setAdmin(id: $id, admin: $on) { id } }", { id: user.id, on: !user.admin }),
    }, texts.people.admin),
  ];
  /** The members of each group, as far as they are shown. */
  const memberLists = new Map();
  const membersOf = ({ id, name, members }) => {
    if (!memberLists.has(id)) {
      memberLists.set(id, paged({
        name: texts.people.membersOf(name),
        load: async (token) => (await client.query(MORE, { id, members: token })).group.members,
        draw: (found) => found.map((member) => [el("button", {
          className: "small", "aria-label": texts.people.takeOut(member.name, name),
          onclick: run("mutation Out($id: ID!, $user: String!) { removeGroupMember(groupId: $id, user: $user) { id } }", { id, user: member.name }),
        }, `${member.name} ✕`), " "]),
      }));
    }
    const list = memberLists.get(id);
    list.begin(members).catch((error) => note(explained(error)));
    return list.element;
  };
  const groupRow = ({ id, name, members }) => [
    el("span", { className: "free" }, name),
    membersOf({ id, name, members }),
    el("button", {
      className: "danger", "aria-label": texts.people.deleteGroup(name),
      onclick: () => sure(texts.people.sureDeleteGroup(name)) && run("mutation Gone($id: ID!) { deleteGroup(id: $id) { id } }", { id })(),
    }, texts.words.delete),
  ];
  const name = el("input", { required: true, autocomplete: "off" });
  const [group, member] = [0, 1].map(() => el("input", { required: true, autocomplete: "off" }));
  const password = el("input", { type: "password", autocomplete: "new-password", minLength: 10 });
  await draw();
  return {
    title: texts.places.people,
    body: [users.element, secret, el("h2", {}, texts.people.another), form([
      field(texts.words.name, name), field(texts.words.password, password, texts.people.passwordHint),
    ], texts.words.makeIt, async () => {
      await proven("mutation Make($name: String!, $password: String) { createUser(name: $name, password: $password) { id } }", { name: name.value, password: password.value || null });
      await draw();
    }, { explain: explained }),
    el("h2", {}, texts.people.groups), groups.element, form([
      field(texts.people.group, group, texts.people.groupHint), field(texts.people.member, member),
    ], texts.people.putIn, async () => {
      const { group: known } = await client.query("query Known($name: String) { group(name: $name) { id } }", { name: group.value });
      const found = known ?? (await proven("mutation Group($name: String!) { createGroup(name: $name) { id } }", { name: group.value })).createGroup;
      await proven("mutation In($id: ID!, $user: String!) { addGroupMember(groupId: $id, user: $user) { id } }", { id: found.id, user: member.value });
      await draw();
    }, { explain: explained })],
  };
}
