// The frame around the views: the bar above them, the list of places, and what both count.
import { base, client, parts } from "./api.js";
import { makeDock } from "./dock.js";
import { el, put } from "./dom.js";
import { isReadable, takenBack, watchShared } from "./shared.js";
import * as store from "./store.js";
import { texts } from "./texts.js";

const [bar, rail, below] = ["bar", "rail", "dock"].map((id) => document.getElementById(id));
const dock = makeDock(below, rail);

/** The topics of the last list that may be read; one that is not in the next is lost. */
let listed = new Set();
let stateText = "";
/** What the list of places said last: it goes on saying so while the server does not answer. */
let told = null;
/** Whose frame it is: an answer that comes later is for nobody. */
let whose = null;
/** How many messages waited when they were counted last: a view that is opened goes on saying so. */
let waiting = 0;

/** Shows it for who is signed in, at an address. `host` has the `topics`, and is told what is `unread`, `lost` and `ended`. */
export function showFrame(me, path, host) {
  whose = me;
  const topic = path.match(/^\/topics\/([^/]+)/);
  put(bar,
    el("a", { className: "name", href: base + "/" }, texts.app.name), el("span", { className: "state", role: "status" }, stateText),
    el("a", { className: "waits", href: base + "/send", hidden: waiting === 0 }, texts.app.notSent(waiting)),
    el("a", { className: "wide", href: base + "/search" }, texts.places.search),
    el("a", { className: "button", href: `${base}/send${topic ? `?topic=${topic[1]}` : ""}` }, texts.places.send),
    el("a", { href: base + "/account", "aria-label": texts.words.of(texts.places.account, me.username) }, el("span", { className: "free" }, me.username)));
  dock.show(path);
  void fillRail(me, path, host);
  void countWaiting();
}

/** Takes away what somebody saw who is signed in no more. */
export function clearFrame() {
  whose = null;
  waiting = 0;
  listed.clear();
  told = null;
  // Who is asked for a password sees by whom.
  put(bar, el("span", { className: "name" }, texts.app.name));
  put(rail);
  dock.clear();
}

/** How many messages wait until the server can be reached. */
async function countWaiting() {
  waiting = (await store.outbox.all()).length;
  const shown = bar.querySelector(".waits");
  if (!shown) return;
  shown.hidden = waiting === 0;
  put(shown, texts.app.notSent(waiting));
}
addEventListener("tocsin-outbox", countWaiting);

/** Lists the places anew, with what is unread and open in them. */
export async function fillRail(me, path, host) {
  const entry = (address, name, count) =>
    el("li", {}, el("a", { href: base + address, "aria-current": address === path || (address === "/feed" && path === "/") ? "page" : null },
      el("span", { className: "free" }, name), count ? el("span", { className: "hint" }, count) : null));
  let shown = [];
  let open = null;
  let unread = {};
  try {
    const [list, { readState }, count] = await Promise.all([
      host.topics(), store.answered("unread", () => client.query("{ readState { unread topics { topicId unread } } }")).then(({ answer }) => answer),
      openIncidents().catch(() => null),
    ]);
    if (whose !== me) return;
    const words = (number) => (number ? texts.app.unread(number) : null);
    for (const topic of readState.topics) unread[topic.topicId] = words(topic.unread);
    unread.all = words(readState.unread);
    host.unread(readState.unread);
    dock.count(readState.unread);
    badge(readState.unread);
    shown = list;
    open = count;
    told = { shown, open, unread };
    const before = listed;
    listed = new Set(list.filter(isReadable).map(({ id }) => id));
    [...before].filter((id) => !listed.has(id)).forEach(host.lost);
    watchShared(list.filter(({ owner }) => owner !== me.username && !owner?.startsWith(`${me.userId}::`)), takenBack);
  } catch (error) {
    if (whose !== me) return;
    if (error.code === "UNAUTHENTICATED") return host.ended(path);
    if (told) ({ shown, open, unread } = told);
  }
  const focused = rail.contains(document.activeElement) ? document.activeElement.href : null;
  put(rail,
    el("ul", {}, entry("/feed", texts.places.feed, unread.all), open ? entry("/incidents", texts.places.incidents, open.words) : null,
      shown.map((topic) => entry(`/topics/${topic.id}`, topic.name, unread[topic.id]))),
    el("ul", {}, ["start", "devices", "tokens", "account"].map((view) => entry(`/${view}`, texts.places[view])),
      entry("/deliveries", texts.app.problems), entry("/audit", texts.places.audit),
      me.admin ? [entry("/people", texts.places.people), entry("/node", texts.places.node)] : null,
      !me.admin && me.groupMaker ? entry("/groups", texts.places.groups) : null));
  if (focused) [...rail.querySelectorAll("a")].find(({ href }) => href === focused)?.focus({ preventScroll: true });
}

/** The number on the icon of an installed console. */
export function badge(count) {
  if (count > 0) void navigator.setAppBadge?.(count).catch(() => {});
  else void navigator.clearAppBadge?.().catch(() => {});
}

/** How many incidents are open, in words; null where the server has none at all. */
async function openIncidents() {
  if (!(await parts()).incidents) return null;
  const { answer: { page } } = await store.answered("open incidents", () => client.query("{ page: incidentsByStateAndOpenedAt(state: OPEN, limit: 100) { items { id } nextToken } }"));
  const count = page.items.length;
  return { words: count > 0 ? texts.app.open(count, page.nextToken) : null };
}

/** Shows how the live feed gets on. */
addEventListener("tocsin-state", (event) => {
  stateText = texts.states[event.detail] ?? "";
  const shown = bar.querySelector(".state");
  if (shown) shown.textContent = stateText;
});
