// The feeds of tocsin.js against a server that is played: node --test Tests/Clients/feed.test.js
const assert = require("node:assert");
const { readFileSync } = require("node:fs");
const { join } = require("node:path");
const test = require("node:test");

const source = readFileSync(join(__dirname, "../../Sources/TocsinClient/Browser/tocsin.js")).toString("base64");
const load = () => import("data:text/javascript;base64," + source);
const message = (number, topicId = "t") => ({ id: `m${number}`, number, cursor: `c${number}`, title: `title ${number}`, topicId });

/** Sockets one after the other; each is a list of what the client said, and a way to answer. */
function makeServer() {
  const sockets = [];
  const waiting = [];
  class FakeSocket {
    constructor(url, protocol) {
      Object.assign(this, { url, protocol, readyState: 0, said: [], closed: null, listeners: [] });
      sockets.push(this);
      waiting.shift()?.();
      setTimeout(() => ((this.readyState = 1), this.onopen?.()), 0);
    }
    send(text) {
      const said = JSON.parse(text);
      this.said.push(said);
      this.listeners.forEach((listener) => listener());
      if (said.type === "connection_init") this.answer({ type: "connection_ack" });
      if (said.type === "ping" && !said.payload) this.answer({ type: "pong" });
    }
    close(code) {
      this.closed = code;
      this.readyState = 3;
    }
    answer(text) {
      setTimeout(() => this.onmessage?.({ data: JSON.stringify(text) }), 0);
    }
    end(code, reason = "") {
      this.readyState = 3;
      this.onclose?.({ code, reason });
    }
    /** The subscriptions that were begun on it. */
    get subscribes() {
      return this.said.filter(({ type }) => type === "subscribe");
    }
    async until(condition) {
      while (!condition(this)) await new Promise((resolve) => this.listeners.push(resolve));
    }
    next(...messages) {
      for (const each of messages) this.answer({ id: this.subscribes.at(-1).id, type: "next", payload: { data: { onCreateMessage: each } } });
    }
  }
  const at = async (index) => {
    while (sockets.length <= index) await new Promise((resolve) => waiting.push(resolve));
    await sockets[index].until((socket) => socket.subscribes.length > 0);
    return sockets[index];
  };
  const stand = async () => new Response('{"data":{"getTopic":{"cursor":"c0","lastNumber":0}}}');
  return { sockets, at, WebSocket: FakeSocket, fetch: stand };
}

/** Ends the subscription that a socket began last, as the server does. */
const refuse = (socket, code, more) => socket.answer({
  id: socket.subscribes.at(-1).id, type: "error", payload: [{ message: "no", extensions: { code, ...more } }],
});
const completes = ({ said }) => said.filter(({ type }) => type === "complete").map(({ id }) => id);

async function begin({ token = "good", topicId = "t", options = {}, ...more } = {}) {
  const server = makeServer();
  const { createTocsin } = await load();
  const client = createTocsin({ url: "http://server", token, random: () => 0, storage: null, ...server, ...more });
  const heard = [];
  const states = [];
  const feed = client.follow(topicId, { onState: (event) => states.push(event), ...options });
  const done = (async () => {
    for await (const each of feed) heard.push(each.number);
  })().then(() => "ended", (error) => error.code);
  const hears = async (count) => {
    while (heard.length < count) await new Promise((resolve) => setTimeout(resolve, 1));
    return heard;
  };
  return { server, client, heard, states, done, hears };
}

test("a feed begins where its topic stands, and comes back behind what it has heard", async () => {
  const { server, client, states, hears } = await begin();
  const first = await server.at(0);
  assert.strictEqual(first.url, "ws://server/graphql");
  assert.strictEqual(first.protocol, "graphql-transport-ws");
  assert.deepStrictEqual(first.said[0], { type: "connection_init", payload: { Authorization: "Bearer good" } });
  assert.deepStrictEqual(first.subscribes[0].payload.variables, { topicId: "t", after: "c0" });
  first.next(message(1), message(2));
  await hears(2);
  first.end(1006);
  const second = await server.at(1);
  assert.strictEqual(second.subscribes[0].payload.variables.after, "c2");
  second.next(message(2), message(3));
  assert.deepStrictEqual(await hears(3), [1, 2, 3]);
  assert.deepStrictEqual(states.map(({ state }) => state).filter((state) => state !== "live"), ["connecting", "waiting", "connecting"]);
  client.close();
});

test("a hole is asked for once, and one that stays is the server's own", async () => {
  const { server, client, hears } = await begin();
  const socket = await server.at(0);
  socket.next(message(1), message(4));
  await socket.until(({ subscribes }) => subscribes.length === 2);
  assert.strictEqual(socket.subscribes[1].payload.variables.after, "c1");
  assert.ok(socket.said.some(({ type, id }) => type === "complete" && id === socket.subscribes[0].id));
  socket.next(message(4), message(5));
  assert.deepStrictEqual(await hears(3), [1, 4, 5]);
  client.close();
});

test("a subscription that the server ends for the moment begins again; a refused cursor ends the feed", async () => {
  const { server, done, hears } = await begin();
  const socket = await server.at(0);
  socket.next(message(1));
  await hears(1);
  refuse(socket, "UNAVAILABLE");
  await socket.until(({ subscribes }) => subscribes.length === 2);
  assert.strictEqual(socket.subscribes[1].payload.variables.after, "c1");
  refuse(socket, "CURSOR_EXPIRED", { oldestCursor: "c9" });
  assert.strictEqual(await done, "CURSOR_EXPIRED");
});

test("close codes: what would end the same ends the feed, the rest comes back", async () => {
  for (const code of [1002, 1007, 1009, 4400, 4406, 4409]) {
    const { server, done } = await begin();
    (await server.at(0)).end(code);
    assert.strictEqual(await done, "BAD_ANSWER", `${code}`);
  }
  for (const code of [4401, 4403]) {
    const { server, done } = await begin();
    (await server.at(0)).end(code);
    assert.strictEqual(await done, "UNAUTHENTICATED", `${code}`);
  }
  for (const [code, least] of [[1001, 0], [1006, 0], [1013, 1000], [4408, 10_000], [4429, 10_000], [4500, 10_000]]) {
    const { server, client, states, done } = await begin();
    (await server.at(0)).end(code);
    const { error, pause } = states.find(({ state }) => state === "waiting");
    assert.deepStrictEqual([error.code, pause], ["CONNECTION_FAILED", least], `${code}`);
    client.close();
    assert.strictEqual(await done, "ended");
  }
});

test("the first pause is any up to a second, and a network that is back ends it", async () => {
  const server = makeServer();
  const { createTocsin } = await load();
  const pauses = [];
  const client = createTocsin({ url: "http://server", token: "good", storage: null, random: () => 0.999, ...server });
  const feed = client.follow("t", { after: "c0", onState: ({ state, pause }) => state === "waiting" && pauses.push(pause) });
  const done = feed.next();
  (await server.at(0)).end(1006);
  assert.deepStrictEqual(pauses, [999]);
  client.networkChanged();
  const second = await server.at(1);
  assert.strictEqual(second.subscribes[0].payload.variables.after, "c0");
  client.close();
  assert.strictEqual((await done).done, true);
});

test("a refused token is asked for once more; refused again it ends the feed", async () => {
  const reasons = [];
  const token = ({ reason }) => (reasons.push(reason), `token ${reasons.length}`);
  const { server, done } = await begin({ token, options: { after: "c0" } });
  (await server.at(0)).end(4403);
  const second = await server.at(1);
  assert.deepStrictEqual(second.said[0].payload, { Authorization: "Bearer token 2" });
  assert.deepStrictEqual(reasons, ["first", "refused"]);
  second.end(4403);
  assert.strictEqual(await done, "UNAUTHENTICATED");
});

test("a provider that fails is asked again; one that says nobody is signed in ends the feed", async () => {
  let calls = 0;
  const flaky = () => {
    calls += 1;
    if (calls < 4) throw new Error("no network");
    return "good";
  };
  const { server, client } = await begin({ token: flaky, options: { after: "c0" } });
  await server.at(0);
  assert.strictEqual(calls, 4);
  client.close();
  const { done } = await begin({ token: async () => null, options: { after: "c0" } });
  assert.strictEqual(await done, "SIGNED_OUT");
});

test("a newer token that the server does not take opens another socket with it", async () => {
  let calls = 0;
  const token = () => ({ token: `token ${(calls += 1)}`, expiresAt: Date.now() + 2100 });
  const { server, client, heard } = await begin({ token, options: { after: "c0" } });
  const first = await server.at(0);
  const isRenewal = ({ type, payload }) => type === "ping" && payload?.authorization;
  await first.until(({ said }) => said.some(isRenewal));
  assert.strictEqual(first.said.find(isRenewal).payload.authorization, "Bearer token 2");
  first.answer({ type: "pong", payload: { authenticated: false, message: "cannot be checked now" } });
  const second = await server.at(1);
  assert.strictEqual(first.closed, 1000);
  assert.deepStrictEqual(second.said[0].payload, { Authorization: "Bearer token 2" });
  assert.deepStrictEqual(heard, []);
  client.close();
});

test("many feeds share a socket, which closes when the last one has ended", async () => {
  const { server, client, done } = await begin({ options: { after: "c0" } });
  const socket = await server.at(0);
  const stop = new AbortController();
  const others = ["a", "b"].map((topicId) => client.follow(topicId, { after: "", signal: stop.signal }).next());
  await socket.until(({ subscribes }) => subscribes.length === 3);
  stop.abort();
  assert.deepStrictEqual((await Promise.all(others)).map(({ done }) => done), [true, true]);
  await socket.until(({ said }) => said.filter(({ type }) => type === "complete").length === 2);
  assert.strictEqual(server.sockets.length, 1);
  client.close();
  assert.deepStrictEqual([await done, socket.closed], ["ended", 1000]);
});

/** A feed whose subscription has ended with a newer token, and begun again under another id. */
async function beginAgain(follow) {
  const server = makeServer();
  const { createTocsin } = await load();
  let calls = 0;
  const token = () => (calls += 1, calls === 1 ? { token: "first", expiresAt: Date.now() + 2100 } : "second");
  const client = createTocsin({ url: "http://server", token, random: () => 0, storage: null, ...server });
  const feed = follow(client);
  const first = feed.next();
  const socket = await server.at(0);
  await socket.until(({ said }) => said.some(({ type, payload }) => type === "ping" && payload));
  socket.answer({ type: "pong", payload: { authenticated: true } });
  refuse(socket, "UNAUTHORIZED");
  await socket.until(({ subscribes }) => subscribes.length === 2);
  return { client, feed, first, socket };
}

test("a feed that began again with a newer token can still be ended, and parked", async () => {
  const { client, feed, first, socket } = await beginAgain((client) => client.follow("t", { after: "c0" }));
  const again = socket.subscribes[1].id;
  socket.next(message(1));
  assert.strictEqual((await first).value.number, 1);
  socket.next(...Array.from({ length: 300 }, (_, index) => message(index + 2)));
  await socket.until((socket) => completes(socket).includes(again));
  for (let number = 2; number <= 257; number += 1) assert.strictEqual((await feed.next()).value.number, number);
  const next = feed.next();
  await socket.until(({ subscribes }) => subscribes.length === 3);
  assert.strictEqual(socket.subscribes[2].payload.variables.after, "c257");
  socket.next(message(258));
  assert.strictEqual((await next).value.number, 258);
  await feed.return();
  assert.deepStrictEqual(completes(socket), [again, socket.subscribes[2].id]);
  client.close();
});

test("a subscription that began again with a newer token ends on the server with its reader", async () => {
  const { client, feed, first, socket } = await beginAgain((client) => client.subscribe("subscription { x }"));
  socket.next(message(1));
  await first;
  await feed.return();
  assert.deepStrictEqual(completes(socket), [socket.subscribes[1].id]);
  client.close();
});

test("a subscription whose reader is too far behind is parked, comes back with a gap, and outlives a refusal", async () => {
  const server = makeServer();
  const { createTocsin } = await load();
  const client = createTocsin({ url: "http://server", token: "good", random: () => 0, storage: null, ...server });
  const states = [];
  const feed = client.subscribe("subscription { x }", {}, { onState: ({ state }) => states.push(state) });
  const first = feed.next();
  const socket = await server.at(0);
  socket.next(message(1));
  const read = [(await first).value.onCreateMessage.number];
  socket.next(...Array.from({ length: 300 }, (_, index) => message(index + 2)));
  await socket.until((socket) => completes(socket).length === 1);
  while (read.length < 257) read.push((await feed.next()).value.onCreateMessage.number);
  assert.strictEqual(read.at(-1), 257);
  const next = feed.next();
  await socket.until(({ subscribes }) => subscribes.length === 2);
  assert.strictEqual(states.filter((state) => state === "gap").length, 1);
  refuse(socket, "UNAVAILABLE");
  await socket.until(({ subscribes }) => subscribes.length === 3);
  socket.next(message(400));
  assert.strictEqual((await next).value.onCreateMessage.number, 400);
  client.close();
});

test("the feed of all own topics begins where it stands, and loses nothing when its first connection breaks", async () => {
  const fetch = async () => new Response('{"data":{"me":{"cursor":"c7"}}}');
  const stored = new Map();
  const storage = { getItem: (name) => stored.get(name) ?? null, setItem: (name, value) => stored.set(name, value) };
  const server = { ...makeServer(), fetch };
  const { createTocsin } = await load();
  const client = createTocsin({ url: "http://server", token: "good", random: () => 0, ...server, storage });
  const next = client.follow(null, { place: "all" }).next();
  (await server.at(0)).end(1006);
  const second = await server.at(1);
  assert.deepStrictEqual(second.subscribes[0].payload.variables, { topicId: null, after: "c7" });
  assert.strictEqual(stored.get("tocsin.place.all"), "c7");
  client.close();
  assert.strictEqual((await next).done, true);
});

test("what a page throws in onState, and a socket that cannot be made, leave no feed hanging", async () => {
  const thrown = [];
  const real = globalThis.setTimeout;
  const guarded = (run) => () => {
    try {
      run();
    } catch (error) {
      thrown.push(error.message);
    }
  };
  globalThis.setTimeout = (run, pause) => real(guarded(run), pause);
  try {
    const { server, client, hears } = await begin({ options: { onState: () => { throw new Error("page"); } } });
    (await server.at(0)).next(message(1));
    assert.deepStrictEqual(await hears(1), [1]);
    client.close();
    assert.deepStrictEqual([...new Set(thrown)], ["page"]);
  } finally {
    globalThis.setTimeout = real;
  }
  const WebSocket = function () { throw new Error("insecure"); };
  const { createTocsin } = await load();
  const client = createTocsin({ url: "http://server", token: "good", storage: null, WebSocket });
  await assert.rejects(client.follow("t", { after: "c0" }).next(), { code: "BAD_ADDRESS" });
});

test("close ends a feed that pauses after a refusal, and one that has not begun yet", async () => {
  const { server, client, states, done } = await begin({ random: () => 0.999 });
  const socket = await server.at(0);
  refuse(socket, "UNAVAILABLE");
  while (!states.some(({ error }) => error?.code === "UNAVAILABLE")) await new Promise((resolve) => setTimeout(resolve, 1));
  client.close();
  assert.strictEqual(await done, "ended");
  const away = async () => { throw new Error("no network"); };
  const { createTocsin } = await load();
  let asked = 0;
  const own = createTocsin({ url: "http://server", token: "good", storage: null, random: () => (asked < 6 ? 0 : 0.999),
    WebSocket: makeServer().WebSocket, fetch: () => ((asked += 1), away()) });
  const feed = own.follow("t", { onState: ({ state }) => state === "waiting" && setTimeout(own.close, 0) });
  assert.deepStrictEqual(await feed.next(), { value: undefined, done: true });
  await assert.rejects(own.follow("t", { after: "c0" }).next(), { code: "CANCELLED" });
});

test("a storage that refuses, as in a private window, costs no message: places last as long as the page", async () => {
  const refuses = () => { throw new Error("QuotaExceededError"); };
  const storage = { getItem: () => null, setItem: refuses, removeItem: refuses };
  const { server, client, hears } = await begin({ storage, options: { place: "inbox" } });
  const socket = await server.at(0);
  socket.next(message(1), message(2));
  assert.deepStrictEqual(await hears(2), [1, 2]);
  while ((await client.storage.getItem("tocsin.place.inbox")) !== "c2") await new Promise((resolve) => setTimeout(resolve, 1));
  client.close();
});

test("a page whose timers are late keeps its socket; three questions without an answer end it", async () => {
  const real = globalThis.setTimeout;
  const silences = [];
  // The check for silence comes when the test says so; all else as usual.
  globalThis.setTimeout = (run, pause) => (pause === 15_000 ? silences.push(run) : real(run, pause));
  try {
    let time = 1_000_000;
    const { server, client, states } = await begin({ now: () => time, options: { after: "c0" } });
    const socket = await server.at(0);
    const until = async (count) => {
      while (silences.length < count) await new Promise((resolve) => real(resolve, 1));
    };
    for (let check = 1; check <= 5; check += 1) {
      await until(check);
      time += 3_600_000; // Frozen for an hour.
      const pings = socket.said.filter(({ type }) => type === "ping").length;
      silences.at(-1)();
      assert.strictEqual(socket.said.filter(({ type }) => type === "ping").length, pings + 1);
      await new Promise((resolve) => real(resolve, 5));
    }
    assert.strictEqual(server.sockets.length, 1);
    socket.answer = () => {};
    for (let check = 6; check <= 9; check += 1) {
      await until(check);
      silences.at(-1)();
    }
    await server.at(1);
    assert.strictEqual(states.find(({ state }) => state === "waiting").error.code, "CONNECTION_FAILED");
    client.close();
  } finally {
    globalThis.setTimeout = real;
  }
});
