// The caller's own: sessions, password, whether pushes come at all.
import { client } from "./api.js";
import { signOut } from "./app.js";
import { el, field, form, moment, note, put, table } from "./dom.js";
import { ago, explained } from "./texts.js";

const BROWSERS = { Firefox: "Firefox", "Edg/": "Edge", "Chrome/": "Chrome", "Safari/": "Safari" };
const SYSTEMS = { Android: "Android", iPhone: "iPhone", iPad: "iPad", Windows: "Windows", "Mac OS": "macOS", Linux: "Linux" };

/** What a browser calls itself, in two words. */
function named(agent) {
  const found = (names) => Object.entries(names).find(([part]) => agent?.includes(part))?.[1];
  const [browser, system] = [found(BROWSERS), found(SYSTEMS)];
  return browser && system ? `${browser} on ${system}` : agent;
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
      el("p", {}, "Signed in as ", el("strong", { className: "free" }, me.username), me.admin ? ", an administrator" : "", me.groups.length > 0 ? `, in ${me.groups.join(", ")}` : "", "."),
      el("div", { className: "row" },
        el("button", {
          async onclick({ target }) {
            target.disabled = true;
            await signOut().catch((error) => note(explained(error)));
            target.disabled = false;
          },
        }, "Sign out"),
        el("button", { "aria-pressed": String(me.notifications), onclick: run(switchTo, { on: !me.notifications }) }, me.notifications ? "Pushes are on" : "Pushes are off")),
      table("Your sessions", ["Where", "Since", "Seen", "What to do"], sessions.map((session) => [
        el("span", { className: "free", title: session.agent ?? "" }, `${named(session.agent) ?? session.kind} ${session.network ?? ""}`), moment(session.createdAt, ago(session.createdAt)), moment(session.seenAt, ago(session.seenAt)),
        session.isCurrent ? "this one" : el("button", { className: "danger", onclick: run(end, { id: session.id }) }, "End"),
      ])));
  }
  await draw();
  const before = el("input", { type: "password", autocomplete: "current-password" });
  const after = el("input", { type: "password", autocomplete: "new-password", required: true, minLength: 10 });
  return {
    title: "Account",
    body: [body, el("h2", {}, "A new password"), form([field("The present one", before), field("The new one", after, "at least 10 characters; ends all other sessions")], "Change it", async () => {
      await client.mutate("mutation Change($old: String, $new: String!) { setPassword(old: $old, new: $new) { id } }", { old: before.value || null, new: after.value });
      note("The password is changed.");
      await draw();
    }, { explain: explained })],
  };
}
