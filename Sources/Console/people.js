// Users and groups, for administrators: made, disabled, given rights and a new password, put into groups.
import { client, proven } from "./api.js";
import { el, field, form, moment, note, put, sure, table } from "./dom.js";
import { groupsPart } from "./groups.js";
import { paged } from "./pages.js";
import { ago, explained, texts } from "./texts.js";

const LIST = `query People($nextToken: String) { users(limit: 100, nextToken: $nextToken) { items { id name kind admin groupMaker disabled lastSeenAt groups } nextToken } }`;

export async function open({ me }) {
  const names = new Map();
  const groups = groupsPart(draw, names);
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
    draw: (found) => {
      found.forEach((user) => names.set(user.id, user.name));
      return table(texts.places.people, texts.people.columns, found.map((user) => [
        el("span", { className: "free" }, user.name), texts.people.kind(user.kind.toLowerCase(), user), user.groups.join(", "),
        user.lastSeenAt ? moment(user.lastSeenAt, ago(user.lastSeenAt)) : texts.words.never, user.id === me.userId ? texts.people.you : buttons(user),
      ]));
    },
  });
  /** The groups name who made them by the people that were read before. */
  async function draw() {
    await users.begin();
    await groups.begin();
  }
  const buttons = (user) => [
    el("button", {
      className: user.disabled ? "" : "danger",
      "aria-label": texts.words.of(user.disabled ? texts.people.enable : texts.people.disable, user.name),
      onclick: () => (user.disabled || sure(texts.people.sureDisable(user.name)))
        && run("mutation Able($id: ID!, $off: Boolean!) { setUserDisabled(id: $id, disabled: $off) { id } }", { id: user.id, off: !user.disabled })(),
    }, user.disabled ? texts.people.enable : texts.people.disable), " ",
    el("button", {
      "aria-label": texts.words.of(texts.people.newPassword, user.name),
      onclick: () => sure(texts.people.sureNewPassword(user.name))
        && run("mutation Reset($id: ID!) { resetPassword(id: $id) { password } }", { id: user.id }, (data) =>
          put(secret, el("p", {}, texts.people.newPasswordOf(user.name)), el("pre", { tabIndex: 0 }, data.resetPassword.password)))(),
    }, texts.people.newPassword), " ",
    user.kind === "SERVICE" ? null : el("button", {
      "aria-pressed": String(user.admin), "aria-label": texts.people.adminOf(user.name),
      onclick: run("mutation Admin($id: ID!, $on: Boolean!) { setAdmin(id: $id, admin: $on) { id } }", { id: user.id, on: !user.admin }),
    }, texts.people.admin), " ",
    user.kind === "SERVICE" ? null : el("button", {
      "aria-pressed": String(user.groupMaker), "aria-label": texts.people.makesGroupsOf(user.name),
      onclick: run("mutation Maker($id: ID!, $on: Boolean!) { setGroupMaker(id: $id, groupMaker: $on) { id } }", { id: user.id, on: !user.groupMaker }),
    }, texts.people.makesGroups),
  ];
  const name = el("input", { required: true, autocomplete: "off" });
  const password = el("input", { type: "password", autocomplete: "new-password", minLength: 10 });
  await draw();
  return {
    title: texts.places.people,
    body: [users.element, secret, el("h2", {}, texts.people.another), form([
      field(texts.words.name, name), field(texts.words.password, password, texts.people.passwordHint),
    ], texts.words.makeIt, async () => {
      await proven("mutation Make($name: String!, $password: String) { createUser(name: $name, password: $password) { id } }", { name: name.value, password: password.value || null });
      [name.value, password.value] = ["", ""];
      await draw();
    }, { explain: explained }),
    el("h2", {}, texts.people.groups), ...groups.body],
  };
}
