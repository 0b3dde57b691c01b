// Users, for administrators: made, disabled, given a new password.
import { all, proven } from "./api.js";
import { el, field, form, moment, note, put, sure, table } from "./dom.js";
import { ago, explained } from "./texts.js";

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
    put(body, table("People", ["Name", "Kind", "Groups", "Seen", "What to do"], users.filter(Boolean).map((user) => [
      el("span", { className: "free" }, user.name), `${user.kind.toLowerCase()}${user.admin ? ", admin" : ""}${user.disabled ? ", disabled" : ""}`, user.groups.join(", "),
      user.lastSeenAt ? moment(user.lastSeenAt, ago(user.lastSeenAt)) : "never", user.id === me.userId ? "you" : buttons(user),
    ])));
  }
  const buttons = (user) => [
    el("button", {
      className: user.disabled ? "" : "danger",
      onclick: () => (user.disabled || sure(`Disable ${user.name}? Requests, sockets and pushes end at once.`))
        && run("mutation Able($id: ID!, $off: Boolean!) { setUserDisabled(id: $id, disabled: $off) { id } }", { id: user.id, off: !user.disabled })(),
    }, user.disabled ? "Enable" : "Disable"), " ",
    el("button", {
      onclick: () => sure(`Give ${user.name} a new password? The present one ends.`)
        && run("mutation Reset($id: ID!) { resetPassword(id: $id) { password } }", { id: user.id }, (data) =>
          put(secret, el("p", {}, `The new password of ${user.name}, shown this once:`), el("pre", { tabIndex: 0 }, data.resetPassword.password)))(),
    }, "New password"),
  ];
  const name = el("input", { required: true, autocomplete: "off" });
  const password = el("input", { type: "password", autocomplete: "new-password", minLength: 10 });
  await draw();
  return {
    title: "People",
    body: [body, secret, el("h2", {}, "A new user"), form([field("Name", name), field("Password", password, "empty: works with tokens alone")], "Make it", async () => {
      await proven("mutation Make($name: String!, $password: String) { createUser(name: $name, password: $password) { id } }", { name: name.value, password: password.value || null });
      await draw();
    }, { explain: explained })],
  };
}
