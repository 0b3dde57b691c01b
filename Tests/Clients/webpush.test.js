// The service worker and the registration of tocsin.js, against a browser that is played: node --test Tests/Clients/webpush.test.js
const assert = require("node:assert");
const { readFileSync } = require("node:fs");
const { join } = require("node:path");
const test = require("node:test");
const vm = require("node:vm");

const browser = join(__dirname, "../../Sources/TocsinClient/Browser");
const origin = "https://app.example";

/** A service worker with these windows open; what it does is written down. */
function makeWorker(windows = [], clients = {}, tocsinWorker = undefined) {
  const done = [];
  const handlers = {};
  const pages = windows.map((url) => ({
    url,
    postMessage: (message) => done.push(message.address ? ["tell", message.type, message.address] : ["tell", message.type]),
    focus: () => done.push(["focus", url]),
  }));
  const self = {
    tocsinWorker,
    addEventListener: (name, handler) => (handlers[name] = handler),
    location: new URL(origin + "/tocsin-worker.js"),
    navigator: { setAppBadge: async (number) => done.push(["badge", number]), clearAppBadge: async () => done.push(["badge", 0]) },
    clients: {
      matchAll: async () => pages,
      openWindow: async (url) => done.push(["open", url]),
      claim: async () => {},
      ...clients,
    },
    registration: {
      showNotification: async (title, options) => done.push(["show", title, options]),
      getNotifications: async ({ tag }) => [{ close: () => done.push(["close", tag]) }],
      pushManager: { subscribe: async (options) => done.push(["subscribe", options]) },
    },
    skipWaiting: async () => done.push(["skip"]),
  };
  const fetch = async (url, { method }) => {
    done.push(["fetch", method, url]);
    if (url.endsWith("away")) throw new TypeError("offline");
  };
  vm.runInNewContext(readFileSync(join(browser, "tocsin-worker.js"), "utf8"), { self, URL, fetch });
  const send = async (name, event) => {
    let work;
    handlers[name]({ ...event, waitUntil: (promise) => (work = promise) });
    await work;
    return JSON.parse(JSON.stringify(done));
  };
  const push = (payload) => send("push", { data: { json: () => (typeof payload === "string" ? JSON.parse(payload) : payload) } });
  const click = (data, action = "") => send("notificationclick", { action, notification: { data, close: () => done.push(["closed"]) } });
  return { send, push, click };
}

test("a worker that begins with other things waits, and has a page of its own for each push", async () => {
  const own = { waits: true, address: ({ messageId }) => `/messages/${messageId}` };
  assert.deepStrictEqual(await makeWorker().send("install", {}), [["skip"]]);
  assert.deepStrictEqual(await makeWorker([], {}, own).send("install", {}), []);
  const click = { messageId: "m1", url: "https://elsewhere.example/" };
  const opened = await makeWorker([origin + "/feed"], {}, own).click(click);
  assert.deepStrictEqual(opened, [["closed"], ["tell", "tocsin-click"], ["tell", "tocsin-open", "/messages/m1"], ["focus", origin + "/feed"]]);
  const alone = await makeWorker([], {}, own).click(click);
  assert.deepStrictEqual(alone, [["closed"], ["open", origin + "/messages/m1"]]);
});

test("each push shows a notification, with its tag and without ringing again", async () => {
  const done = await makeWorker([origin + "/"]).push({
    silent: false, app_badge: 3, notification: { title: "T", body: "B", tag: "m1", data: { messageId: "m1" } },
  });
  const options = { body: "B", tag: "m1", data: { messageId: "m1" }, renotify: false };
  assert.deepStrictEqual(done, [["badge", 3], ["tell", "tocsin-push"], ["show", "T", options]]);
});

test("a silent push is shown without a sound, then closed", async () => {
  const done = await makeWorker().push({ silent: true, app_badge: 0, notification: { title: "T", data: {} } });
  assert.deepStrictEqual(done[0], ["badge", 0]);
  assert.deepStrictEqual(done[1], ["show", "T", { tag: "tocsin-silent", silent: true, data: {} }]);
  assert.deepStrictEqual(done[2], ["close", "tocsin-silent"]);
});

test("a push is shown although pages cannot be listed, or one of them cannot be told", async () => {
  const push = { notification: { title: "T" } };
  const blind = makeWorker([], { matchAll: async () => { throw new Error("not now"); } });
  assert.deepStrictEqual((await blind.push(push)).map(([what, title]) => [what, title]), [["show", "T"]]);
  const going = makeWorker([], { matchAll: async () => [{ url: origin + "/", postMessage: () => { throw new Error("gone"); } }] });
  assert.deepStrictEqual((await going.push(push)).map(([what, title]) => [what, title]), [["show", "T"]]);
});

test("a push that cannot be read is shown all the same", async () => {
  for (const event of ["no JSON", "null", "{}", '{"notification":null}']) {
    const done = await makeWorker().push(event);
    assert.deepStrictEqual(done.map(([what, title]) => [what, title]), [["show", "New message"]], event);
  }
  assert.strictEqual((await makeWorker().send("push", { data: null }))[0][0], "show");
});

test("a click goes to a window at the link's path, else opens one", async () => {
  const windows = [origin + "/inbox", origin + "/posts/7?x=1"];
  const ends = async (data, action) => (await makeWorker(windows).click(data, action)).slice(1).filter(([what]) => what !== "tell");
  assert.deepStrictEqual(await ends({ url: "/posts/7" }), [["focus", windows[1]]]);
  assert.deepStrictEqual(await ends({ url: origin + "/posts/8" }), [["open", origin + "/posts/8"]]);
  assert.deepStrictEqual(await ends({}), [["focus", windows[0]]]);
  assert.deepStrictEqual(await ends({ url: "https://ci.example/42" }, "OPEN"), [["open", "https://ci.example/42"]]);
  assert.deepStrictEqual((await makeWorker().click(undefined)).at(-1), ["open", origin + "/"]);
});

test("a button with a link answers without a page; where that fails its page is opened", async () => {
  const data = { url: "/posts/7", links: { ACKNOWLEDGE: origin + "/act/x", RESOLVE: origin + "/act/away" } };
  const ends = async (action) => (await makeWorker([origin + "/"]).click(data, action)).slice(2);
  assert.deepStrictEqual(await ends("ACKNOWLEDGE"), [["fetch", "POST", origin + "/act/x"]]);
  assert.deepStrictEqual(await ends("RESOLVE"), [["fetch", "POST", origin + "/act/away"], ["open", origin + "/act/away"]]);
  assert.deepStrictEqual(await ends("OPEN"), [["open", origin + "/posts/7"]]);
});

test("links that are no https links open the page instead", async () => {
  for (const url of ["javascript:alert(1)", `blob:${origin}/1`, "http://evil.example/", "data:text/html,x", "file:///etc/passwd", "https://"]) {
    assert.deepStrictEqual((await makeWorker().click({ url })).at(-1), ["open", origin + "/"], url);
  }
});

test("an ended subscription is made anew, and pages are told", async () => {
  const options = { userVisibleOnly: true };
  const done = await makeWorker([origin + "/"]).send("pushsubscriptionchange", { oldSubscription: { options } });
  assert.deepStrictEqual(done, [["subscribe", options], ["tell", "tocsin-subscription"]]);
});

/** A page of a browser that can get pushes; `signedIn.userId` is who the server takes it for. */
async function inPage(run) {
  const source = readFileSync(join(browser, "tocsin.js")).toString("base64");
  const { registerWebPush, unregisterWebPush } = await import("data:text/javascript;base64," + source);
  const [asked, sent, stored] = [[], [], new Map()];
  const key = "BAEC";
  let subscription = null;
  const subscribe = async (options) => (subscription = {
    endpoint: "https://push.example/1", options: { applicationServerKey: Uint8Array.from(Buffer.from(options.applicationServerKey, "base64url")).buffer },
    toJSON: () => ({ endpoint: "https://push.example/1" }), unsubscribe: async () => (subscription = null),
  });
  const pushManager = { getSubscription: async () => subscription, subscribe };
  const serviceWorker = { register: async (url) => asked.push(url), ready: Promise.resolve({ pushManager }), getRegistration: async () => ({ pushManager }) };
  const Notification = { permission: "default", requestPermission: async () => (asked.push("permission"), (Notification.permission = "granted")) };
  const userActivation = { isActive: false };
  const signedIn = { userId: "alice" };
  const client = {
    url: origin,
    storage: { getItem: (name) => stored.get(name) ?? null, setItem: (name, value) => stored.set(name, value), removeItem: (name) => stored.delete(name) },
    async query(document, variables) {
      if (document.includes("webPushKey")) return { webPushKey: key, me: signedIn };
      sent.push([document.match(/(un)?registerPushToken/)[0], variables]);
      return { registerPushToken: { device: { id: "d1" } } };
    },
  };
  Object.defineProperty(globalThis, "navigator", { value: { serviceWorker, userActivation, userAgent: "" }, configurable: true });
  Object.assign(globalThis, { window: { PushManager: {}, Notification, isSecureContext: true }, Notification });
  try {
    const page = { client, asked, sent, stored, signedIn, userActivation, Notification, pushManager };
    await run({ registerWebPush, unregisterWebPush, ...page });
  } finally {
    delete globalThis.window;
    delete globalThis.Notification;
    delete globalThis.navigator;
  }
}

test("a page registers its browser once, asks only in a click, and takes a denial as one", () => inPage(async ({
  registerWebPush, unregisterWebPush, client, asked, sent, stored, userActivation, Notification, pushManager,
}) => {
  assert.deepStrictEqual(await registerWebPush(client, { userGesture: false }), { state: "needs-gesture" });
  assert.deepStrictEqual(await registerWebPush(client), { state: "needs-gesture" });
  assert.deepStrictEqual(asked, []);
  userActivation.isActive = true;
  assert.deepStrictEqual(await registerWebPush(client), { state: "registered", deviceId: "d1" });
  assert.deepStrictEqual(asked, ["permission", "/tocsin-worker.js"]);
  assert.deepStrictEqual(await registerWebPush(client, { userGesture: false }), { state: "registered", deviceId: "d1" });
  assert.strictEqual(sent.length, 1);
  assert.deepStrictEqual(sent[0][1], { token: '{"endpoint":"https://push.example/1"}', deviceId: undefined });
  // The push service gave another subscription: the device keeps its id.
  stored.set("tocsin.webpush", JSON.stringify({ ...JSON.parse(stored.get("tocsin.webpush")), endpoint: "https://push.example/0" }));
  await registerWebPush(client, { userGesture: false });
  assert.strictEqual(sent[1][1].deviceId, "d1");
  assert.strictEqual(await unregisterWebPush(client), true);
  assert.deepStrictEqual([sent[2][0], await pushManager.getSubscription(), stored.size], ["unregisterPushToken", null, 0]);
  Notification.permission = "denied";
  assert.deepStrictEqual(await registerWebPush(client), { state: "denied" });
  globalThis.window.__NGWENYA_PLATFORM__ = "ios";
  assert.strictEqual((await registerWebPush(client)).state, "unavailable");
}));

test("another user who signs in gets the browser's pushes, under a device of their own", () => inPage(async ({
  registerWebPush, client, sent, signedIn, userActivation,
}) => {
  userActivation.isActive = true;
  await registerWebPush(client);
  signedIn.userId = "bob";
  await registerWebPush(client, { userGesture: false });
  assert.strictEqual(sent.length, 2);
  await registerWebPush(client, { userGesture: false });
  assert.strictEqual(sent.length, 2);
}));
