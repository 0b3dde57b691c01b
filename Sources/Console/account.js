// The caller's own: sessions, password, whether pushes come at all.
import { client } from "./api.js";
import { signOut } from "./app.js";
import { el, field, form, moment, note, put, table } from "./dom.js";
import { ago, explained, texts } from "./texts.js";

const BROWSERS = { Firefox: "Firefox", "Edg/": "Edge", "Chrome/": "Chrome", "Safari/": "Safari" };
const SYSTEMS = { Android: "Android", iPhone: "iPhone", iPad: "iPad", Windows: "Windows", "Mac OS": "macOS", Linux: "Linux" };

/** What a browser calls itself, in two words. */
function named(agent) {
  const found = (names) => Object.entries(names).find(([part]) => agent?.includes(part))?.[1];
  const [browser, system] = [found(BROWSERS), found(SYSTEMS)];
  return browser && system ? texts.account.called(browser, system) : agent;
}

export async function open() {
  const body = el("div");
  async function draw() {
    const { me, sessions } = await client.query("{ me { username notifications groups admin } sessions { id kind provider createdAt seenAt network agent isCurrent } }");
    const run = (document, variables) => async () => {
      try {
        await client.mutate(document, variables);
        await draw();
      } catch (error) {
        note(explained(error));
      }
    };
    const end = "mutation End($id: ID!) { endSession(id: $id) { id } }";
    const switchTo = "mutation Switch($on: Boolean!) { setNotifications(enabled: $on) { notifications } }";
    put(body,
      el("p", {}, texts.account.signedInAs(el("strong", { className: "free" }, me.username), me.admin, me.groups)),
      el("div", { className: "row" },
        el("button", {
          async onclick({ target }) {
            target.disabled = true;
            await signOut().catch((error) => note(explained(error)));
            target.disabled = false;
          },
        }, texts.account.signOut),
        el("button", { "aria-pressed": String(me.notifications), onclick: run(switchTo, { on: !me.notifications }) },
          me.notifications ? texts.account.pushesOn : texts.account.pushesOff)),
      table(texts.account.sessions, texts.account.columns, sessions.map((session) => [
        el("span", { className: "free", title: session.agent ?? "" }, `${named(session.agent) ?? session.kind} ${session.network ?? ""}`), moment(session.createdAt, ago(session.createdAt)), moment(session.seenAt, ago(session.seenAt)),
        session.isCurrent ? texts.account.thisOne : el("button", { className: "danger", onclick: run(end, { id: session.id }) }, texts.account.end),
      ])));
  }
  await draw();
  const before = el("input", { type: "password", autocomplete: "current-password" });
  const after = el("input", { type: "password", autocomplete: "new-password", required: true, minLength: 10 });
  return {
    title: texts.places.account,
    body: [body, el("h2", {}, texts.account.newPassword), form([
      field(texts.account.present, before), field(texts.account.next, after, texts.account.nextHint),
    ], texts.account.change, async () => {
      await client.mutate("mutation Change($old: String, $new: String!) { setPassword(old: $old, new: $new) { id } }", { old: before.value || null, new: after.value });
      note(texts.account.changed);
      await draw();
    }, { explain: explained })],
  };
}
