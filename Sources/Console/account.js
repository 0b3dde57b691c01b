// The caller's own: sessions and ways to sign in, whether pushes come at all, the time zone, the look, the password.
import { auth, client, proven, provenly } from "./api.js";
import { signOut } from "./app.js";
import { el, field, form, moment, note, put, sure, table } from "./dom.js";
import { ago, explained, texts } from "./texts.js";
import { choose, theme } from "./theme.js";

const END = "mutation End($id: ID!) { endSession(id: $id) { id } }";
const IDENTITIES = "{ identities { id provider subject name linkedAt } }";
const UNLINK = "mutation Unlink($id: ID!) { unlinkIdentity(id: $id) { id } }";
const SWITCH = "mutation Switch($on: Boolean!) { setNotifications(enabled: $on) { notifications } }";
const ZONE = "mutation Zone($input: MySettingsInput!) { setMySettings(input: $input) { timeZone } }";
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
  // Where the server does not say how one signs in, the page is there without it.
  const methods = await auth("methods").catch(() => null);
  const labels = Object.fromEntries((methods?.oidc ?? []).map(({ id, label }) => [id, label]));
  const by = ({ provider }) => (provider ? labels[provider] ?? provider : texts.account.byPassword);
  async function draw() {
    const { me, sessions } = await client.query("{ me { username notifications groups admin } sessions { id kind provider createdAt seenAt network agent isCurrent } }");
    const { identities: linked } = await client.query(IDENTITIES).catch((error) => {
      // A server before this one has none.
      if (error.code === "GRAPHQL_VALIDATION_FAILED") return {};
      throw error;
    });
    const run = (action) => async () => {
      try {
        await action();
      } catch (error) {
        note(explained(error));
      }
      await draw().catch((error) => note(explained(error)));
      // What was pressed may be gone.
      if (document.activeElement === document.body) body.querySelector(".scroll")?.focus();
    };
    const end = (session) => client.mutate(END, { id: session.id });
    const where = (session) => `${named(session.agent) ?? session.kind} ${session.network ?? ""}`;
    const others = sessions.filter(({ isCurrent }) => !isCurrent);
    put(body,
      el("p", {}, texts.account.signedInAs(el("strong", { className: "free" }, me.username), me.admin, me.groups.length > 0 ? el("span", { className: "free" }, me.groups.join(", ")) : null)),
      el("div", { className: "row" },
        el("button", {
          async onclick({ target }) {
            target.disabled = true;
            await signOut().catch((error) => note(explained(error)));
            target.disabled = false;
          },
        }, texts.account.signOut),
        el("button", { "aria-pressed": String(me.notifications), onclick: run(() => client.mutate(SWITCH, { on: !me.notifications })) },
          me.notifications ? texts.account.pushesOn : texts.account.pushesOff)),
      table(texts.account.sessions, texts.account.columns, sessions.map((session) => [
        el("span", { className: "free", title: session.agent ?? "" }, where(session)),
        el("span", { className: "free" }, by(session)), moment(session.createdAt, ago(session.createdAt)), moment(session.seenAt, ago(session.seenAt)),
        session.isCurrent ? texts.account.thisOne : el("button", {
          className: "danger", "aria-label": texts.words.of(texts.account.end, where(session)), onclick: run(() => end(session)),
        }, texts.account.end),
      ])),
      others.length > 0 ? el("div", { className: "row" }, el("button", {
        className: "danger",
        onclick: () => sure(texts.account.sureEndOthers(others.length)) && run(async () => {
          for (const session of others) await end(session);
          note(texts.account.othersEnded);
        })(),
      }, texts.account.endOthers(others.length))) : null,
      methods ? el("p", { className: "hint" }, texts.account.methods(methods.password, Object.values(labels))) : null,
      identities(linked, sessions));
  }
  /** Who the user is at sign-in providers; nothing for people of a provider who are no local user. */
  function identities(linked, sessions) {
    const isLocal = linked?.length > 0 || !sessions.find(({ isCurrent }) => isCurrent)?.provider;
    if (!linked || !isLocal || (linked.length === 0 && !methods?.oidc.length)) return null;
    const tried = (action) => async ({ target }) => {
      target.disabled = true;
      await action().catch((error) => note(explained(error)));
      target.disabled = false;
      // Who has cancelled goes on from the button; it may be gone, too.
      if (document.activeElement === document.body) (target.isConnected ? target : body.querySelector(".scroll"))?.focus();
    };
    const unlink = async ({ id, name }) => {
      if (!sure(texts.account.sureUnlink(name))) return;
      await proven(UNLINK, { id });
      note(texts.account.unlinked);
      await draw();
    };
    const link = async (provider) => {
      const { location: there } = await provenly(() => auth("link", { provider, return: location.pathname + location.search }));
      location.assign(there);
    };
    return [
      el("h2", {}, texts.account.identities),
      el("p", { className: "hint" }, texts.account.identitiesHint),
      linked.length > 0 ? table(texts.account.identities, texts.account.identityColumns, linked.map((identity) => [
        el("span", { className: "free" }, labels[identity.provider] ?? identity.provider),
        el("span", { className: "free", title: identity.subject }, identity.name),
        moment(identity.linkedAt, ago(identity.linkedAt)),
        el("button", {
          className: "danger", "aria-label": texts.words.of(texts.account.unlink, identity.name), onclick: tried(() => unlink(identity)),
        }, texts.account.unlink),
      ])) : null,
      el("div", { className: "row" }, (methods?.oidc ?? []).map(({ id, label }) =>
        el("button", { onclick: tried(() => link(id)) }, texts.account.link(label)))),
    ];
  }
  const { mySettings } = await client.query("{ mySettings { timeZone } }");
  await draw();
  return {
    title: texts.places.account,
    body: [body, el("h2", {}, texts.account.look), look(), el("h2", {}, texts.account.zone), zone(mySettings.timeZone), el("h2", {}, texts.account.newPassword), password(draw)],
  };
}

/** Light or dark. */
function look() {
  const choice = el("select", { onchange: () => choose(choice.value) },
    Object.entries(texts.account.themes).map(([value, words]) => el("option", { value }, words)));
  choice.value = theme();
  return field(texts.account.theme, choice, texts.account.themeHint);
}

/** By whose clocks quiet hours go. */
function zone(present) {
  const here = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const name = el("input", { value: present, required: true, autocomplete: "off", spellcheck: false });
  name.setAttribute("list", "zones");
  const known = Intl.supportedValuesOf?.("timeZone") ?? [];
  const list = el("datalist", { id: "zones" }, ["UTC", ...known.filter((each) => each !== "UTC")].map((value) => el("option", { value })));
  const own = el("button", { type: "button", onclick: () => (name.value = here) }, texts.account.zoneHere(here));
  return form([field(texts.account.zoneName, name, texts.account.zoneHint), list, here && here !== present ? el("div", { className: "row" }, own) : ""],
    texts.account.saveZone, async () => {
      const { setMySettings } = await client.mutate(ZONE, { input: { timeZone: name.value } });
      name.value = setMySettings.timeZone;
      note(texts.account.zoneSaved(name.value));
    }, { explain: explained, at: ({ code }) => (code === "BAD_USER_INPUT" ? name : null) });
}

const isWrong = ({ code, message }) => code === "BAD_USER_INPUT" && /^old /.test(message);

function password(draw) {
  const before = el("input", { type: "password", autocomplete: "current-password" });
  const after = el("input", { type: "password", autocomplete: "new-password", required: true, minLength: 10 });
  return form([
    field(texts.account.present, before), field(texts.account.next, after, texts.account.nextHint),
  ], texts.account.change, async () => {
    await proven("mutation Change($old: String, $new: String!) { setPassword(old: $old, new: $new) { id } }", { old: before.value || null, new: after.value });
    note(texts.account.changed);
    await draw();
  }, {
    // The server's words name its own argument.
    explain: (error) => (isWrong(error) ? texts.account.wrongPresent : explained(error)), at: (error) => (isWrong(error) ? before : null),
  });
}
