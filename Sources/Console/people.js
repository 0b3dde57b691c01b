// Users, for administrators: made, disabled, given a new password.
import { all, proven } from "./api.js";
import { el, field, form, moment, note, put, sure, table } from "./dom.js";
import { ago, explained, texts } from "./texts.js";

const LIST = `query People($nextToken: String) { users(limit: 100, nextToken: $nextToken) { items { id name kind admin disabled lastSeenAt groups } nextToken } }`;

export async function open({ me }) {
  const body = el("div");
  const secret = el("div", { role: "status" });
  const run = (document, variables, then) => async () => {
    try {
      then?.(await proven(document, variables));
      await draw();
    } catch (error) {
      note(explained(error));
    }
  };
  async function draw() {
    const users = await all(LIST, {}, (data) => data.users);
    put(body, table(texts.places.people, texts.people.columns, users.filter(Boolean).map((user) => [
      el("span", { className: "free" }, user.name), texts.people.kind(user.kind.toLowerCase(), user.admin, user.disabled), user.groups.join(", "),
      user.lastSeenAt ? moment(user.lastSeenAt, ago(user.lastSeenAt)) : texts.words.never, user.id === me.userId ? texts.people.you : buttons(user),
    ])));
  }
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
    }, texts.people.newPassword),
  ];
  const name = el("input", { required: true, autocomplete: "off" });
  const password = el("input", { type: "password", autocomplete: "new-password", minLength: 10 });
  await draw();
  return {
    title: texts.places.people,
    body: [body, secret, el("h2", {}, texts.people.another), form([
      field(texts.words.name, name), field(texts.words.password, password, texts.people.passwordHint),
    ], texts.words.makeIt, async () => {
      await proven("mutation Make($name: String!, $password: String) { createUser(name: $name, password: $password) { id } }", { name: name.value, password: password.value || null });
      await draw();
    }, { explain: explained })],
  };
}
