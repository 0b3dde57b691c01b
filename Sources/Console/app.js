// Starts the console: who is signed in, the frame around the views, and which view an address means.
import "./theme.js";
import { auth, base, client } from "./api.js";
import { clearShown, keepUp } from "./device.js";
import { el, note, put, sure } from "./dom.js";
import { badge, clearFrame, fillRail, showFrame } from "./frame.js";
import { listenToKeys } from "./keys.js";
import { flush } from "./outbox.js";
import { endReads, followReads } from "./reads.js";
import { entered, forget, restore, returned } from "./scroll.js";
import { soon } from "./turns.js";
import { beginWatch, endWatch, isReadable } from "./shared.js";
import * as store from "./store.js";
import { shareAs } from "./tabs.js";
import { explained, texts } from "./texts.js";

const main = document.getElementById("main");

/** Addresses and the file of the view that each is shown by; `:id` is any part. */
const views = {
  "/": "feed", "/feed": "feed", "/start": "start", "/topics/:id": "feed", "/topics/:id/settings": "topic",
  "/topics/:id/integrations": "integrations", "/incidents": "incidents", "/incidents/:id": "incident",
  "/messages/:id": "message", "/send": "send", "/devices": "devices", "/tokens": "tokens", "/account": "account",
  "/people": "people", "/groups": "groups", "/search": "search", "/deliveries": "deliveries", "/audit": "audit", "/node": "node", "/sign-in": "sign-in",
};

/** Troubles that pass by themselves. */
const PASSING = ["CONNECTION_FAILED", "TIMED_OUT", "UNAVAILABLE"];

let current = { stop() {} };
let me = null;
let turn = 0;
/** Whether the view that is under way was looked at before, by this entry of the history; a page that is loaded anew is. */
let isBack = true;
let title = "";
let unreadCount = 0;
let topics = once(loadTopics);

/** The same answer for all who ask; a failure is asked for again. */
function once(ask) {
  let answer = null;
  return () => (answer ??= ask().catch((error) => {
    answer = null;
    throw error;
  }));
}

/** The view of a path, with the parts that its address names. */
function find(path) {
  const parts = path.split("/").filter(Boolean);
  for (const [pattern, view] of Object.entries(views)) {
    const wanted = pattern.split("/").filter(Boolean);
    if (wanted.length !== parts.length) continue;
    if (!wanted.every((part, index) => part === ":id" || part === parts[index])) continue;
    const place = wanted.indexOf(":id");
    return { view, id: place < 0 ? null : named(parts[place]) };
  }
  return null;
}

/** What a part of an address names; one that is cut in the middle of a letter names itself. */
function named(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Goes to a view's address, as a link would. */
export function go(path) {
  history.pushState(entered(), "", base + path);
  isBack = false;
  return show(true);
}

/** Shows the view of the present address; one that was gone to from its top. What is shown again by itself says nothing. */
async function show(fromTop = false, isAgain = false) {
  const asked = (turn += 1);
  const path = location.pathname.slice(base.length) || "/";
  const found = find(path);
  current.stop();
  current = { stop() {} };
  // What a dialog asks is asked by the view that goes; none may stand above the page of sign-in.
  for (const dialog of document.querySelectorAll("dialog")) dialog.close();
  // The view's code comes while it is found out who is signed in.
  const code = found && import(`./${found.view}.js`);
  code?.catch(() => {});
  let isSlow = false;
  let isAway = false;
  const say = () => {
    if (isSlow && asked === turn && !isAgain) put(main, el("p", { className: "hint", role: "status" }, isAway ? texts.app.away : texts.app.loading));
  };
  const wait = setTimeout(() => {
    isSlow = true;
    say();
  }, 300);
  const away = () => {
    isAway = true;
    say();
  };
  try {
    addEventListener("tocsin-unreachable", away);
    if (!me && found?.view !== "sign-in") await begin();
    if (!found) throw Object.assign(new Error(texts.app.noSuchPage), { code: "NOT_FOUND" });
    const { open } = await code;
    // The view and the rail share what is asked for once a navigation.
    topics = once(loadTopics);
    const view = await open({ id: found.id, me, go, topics: () => topics(), query: new URLSearchParams(location.search), signedIn });
    if (asked !== turn) return view.stop?.();
    current = { stop: () => view.stop?.() };
    title = view.title;
    entitle();
    const heading = el("h1", { tabIndex: -1 }, el("span", { className: "free" }, view.title));
    put(main, heading, view.body);
    if (me) frame(path);
    if (fromTop) scrollTo(0, 0);
    heading.focus({ preventScroll: true });
    if (isBack) restore();
    isBack = false;
  } catch (error) {
    if (asked !== turn) return;
    const passes = PASSING.includes(error.code);
    if (!passes || !isAgain) fail(passes ? new Error(texts.app.away) : error);
    if (passes) again(asked);
  } finally {
    clearTimeout(wait);
    removeEventListener("tocsin-unreachable", away);
  }
}

/** The title of the window: what is unread, the view, and whose it is. */
function entitle() {
  document.title = `${unreadCount > 0 ? `(${unreadCount}) ` : ""}${title} · Tocsin`;
}

/** Views that show messages or incidents of several topics. */
const SHOWING = ["feed", "message", "search", "deliveries", "incidents", "incident"];

/** What was read in a topic that is taken back goes from the screen; what somebody writes elsewhere stays. */
function lost(id) {
  const path = location.pathname.slice(base.length);
  if (SHOWING.includes(find(path || "/")?.view) || path.split("/").includes(id)) return void show();
  dispatchEvent(new Event("tocsin-lost"));
  fill();
}

/** Shows the view again after a while, or when the network is back, unless somebody has gone elsewhere. */
function again(asked) {
  const timer = setTimeout(run, 5000);
  addEventListener("online", run);
  function run() {
    clearTimeout(timer);
    removeEventListener("online", run);
    if (asked === turn) void show(false, true);
  }
}

function fail(error) {
  if (error.code === "UNAUTHENTICATED") return signIn(location.pathname.slice(base.length) + location.search);
  title = texts.app.notShown;
  entitle();
  put(main,
    el("h1", { tabIndex: -1 }, texts.app.notShown),
    el("p", { className: "error", role: "alert" }, explained(error)),
    el("div", { className: "row" },
      el("button", { onclick: () => show() }, texts.words.tryAgain),
      el("a", { className: "button", href: base + "/" }, texts.app.toFeed)));
  if (me) frame("");
}

function signIn(wanted) {
  me = null;
  unreadCount = 0;
  badge(0);
  endReads();
  endWatch();
  clearFrame();
  return go(`/sign-in?return=${encodeURIComponent(wanted.startsWith("/sign-in") ? "/" : wanted)}`);
}

/** Called when somebody has signed in: goes where they wanted to. */
async function signedIn(wanted) {
  me = null;
  // Browsers take a backslash for a slash: two of them name another host.
  return go(/^\/(?![/\\])/.test(wanted ?? "") ? wanted : "/");
}

/** Who is signed in; while the server cannot be reached, who was. */
async function begin() {
  const ask = (more) => client.query(`{ me { userId username admin ${more} notifications } }`).then((data) => data.me);
  // While nodes are upgraded one by one, this page may ask one that knows of no makers of groups.
  const asked = () => ask("groupMaker").catch((error) => (error.code === "GRAPHQL_VALIDATION_FAILED" ? ask("") : Promise.reject(error)));
  const { answer: found } = await store.answered("me", asked, () => store.person() ?? undefined);
  // What a page holds, its socket too, is for nobody but the first who signs in.
  const before = store.owner ?? store.person()?.userId;
  // Somebody else has signed in, here or in another tab: every page that is open begins anew, as theirs.
  if (before && before !== found.userId) {
    tabs.postMessage("another");
    forget();
    await clearShown().catch(() => {});
  }
  if (store.owner && store.owner !== found.userId) {
    location.reload();
    await new Promise(() => {});
  }
  me = found;
  shareAs(me.userId);
  store.begin(me);
  beginWatch();
  followReads();
  void flush();
  void keepUp(go);
}

/** The topics that the caller may read, by name. */
async function loadTopics() {
  const { all } = await import("./api.js");
  const { answer: found, isOld } = await store.answered("topics", () => all(
    "query Topics($nextToken: String) { listTopics(limit: 200, nextToken: $nextToken) { items { id name owner roles lastNumber } nextToken } }",
    {}, (data) => data.listTopics));
  // A list that may go on says nothing of what is not in it.
  if (!isOld && found.length < 1000 && found.every(Boolean)) void store.keepOnly(new Set(found.filter(isReadable).map(({ id }) => id)));
  return found.filter(Boolean).sort((left, right) => left.name.localeCompare(right.name));
}

const frame = (path) => showFrame(me, path, host);
const fill = () => me && void fillRail(me, location.pathname.slice(base.length), host);
/** What the frame asks for, and whom it tells. */
const host = {
  topics: () => topics(),
  unread(count) {
    unreadCount = count;
    entitle();
  },
  lost,
  ended: signIn,
};

addEventListener("tocsin-state", ({ detail }) => detail === "live" && void flush());
for (const name of ["online", "tocsin-reachable"]) addEventListener(name, () => void flush());
/** Counts anew. */
addEventListener("tocsin-read", soon(fill));
// What others share, and what came to topics that are not on the screen, is counted when somebody
// comes back, and once a minute.
const lookAgain = () => {
  if (document.visibilityState !== "visible") return;
  topics = once(loadTopics);
  dispatchEvent(new Event("tocsin-read"));
};
document.addEventListener("visibilitychange", lookAgain);
setInterval(lookAgain, 60_000);
addEventListener("tocsin-topics", () => {
  topics = once(loadTopics);
  fill();
});
addEventListener("tocsin-anew", () => void show());
/** Signing out leads elsewhere by itself. */
let isLeaving = false;
// Several lines end at once: the first knows where somebody was.
addEventListener("tocsin-signed-out", () => me && !isLeaving && void signIn(location.pathname.slice(base.length) + location.search));

addEventListener("popstate", () => {
  returned();
  isBack = true;
  void show();
});
document.addEventListener("click", (event) => {
  const anchor = event.target.closest?.("a");
  if (!anchor || anchor.target || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const address = new URL(anchor.href, location.href);
  if (address.origin !== location.origin || address.hash || !find(address.pathname.slice(base.length) || "/")) return;
  if (!address.pathname.startsWith(base + "/")) return;
  event.preventDefault();
  void go(address.pathname.slice(base.length) + address.search);
});

// Another tab has signed out: this one shows nothing of it any more.
const tabs = new BroadcastChannel("tocsin-console");
tabs.onmessage = ({ data }) => {
  if (data === "read") dispatchEvent(new Event("tocsin-read"));
  else if (data === "topics") dispatchEvent(new Event("tocsin-topics"));
  else {
    forget();
    location.reload();
  }
};
addEventListener("tocsin-marked", () => {
  tabs.postMessage("read");
  dispatchEvent(new Event("tocsin-read"));
});

/** Ends the session, here and in all tabs, at the provider where it can be ended there; pushes to this browser with it. */
export async function signOut() {
  const { unregisterWebPush } = await import("../../client/tocsin.js");
  const waiting = (await store.outbox.all()).length;
  if (waiting > 0 && !sure(texts.app.sureSignOut(waiting))) return;
  // What needs no network is done in any case.
  await store.removeAll().catch(() => {});
  forget();
  await clearShown().catch(() => {});
  badge(0);
  let elsewhere;
  isLeaving = true;
  try {
    if (navigator.onLine === false) throw Object.assign(new Error(), { code: "CONNECTION_FAILED" });
    await unregisterWebPush(client).catch((error) => (PASSING.includes(error.code) ? Promise.reject(error) : note(explained(error))));
    ({ logoutAddress: elsewhere } = (await auth("logout", {})) ?? {});
  } catch (error) {
    isLeaving = false;
    await endPushesHere().catch(() => {});
    throw PASSING.includes(error.code) ? new Error(texts.app.signedOutHere) : error;
  }
  client.close();
  tabs.postMessage("signed out");
  note(texts.app.signedOut);
  location.assign(elsewhere ?? base + "/sign-in");
}

/** Ends the pushes to this browser without asking the server, which hears of it from the push service. */
async function endPushesHere() {
  const registration = await navigator.serviceWorker?.getRegistration();
  await (await registration?.pushManager?.getSubscription())?.unsubscribe();
  await client.storage?.removeItem("tocsin.webpush");
}

listenToKeys(go, () => me !== null);
void show();
