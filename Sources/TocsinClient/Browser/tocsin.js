// tocsin.js 0.1.0: a client of Tocsin for pages and web views. One ES module, no dependency.

/** Why something failed: `code` is the server's, or one of this client's (see tocsin.d.ts). */
export class TocsinError extends Error {
  constructor(code, message, more = {}) {
    super(message);
    this.name = "TocsinError";
    this.code = code;
    Object.assign(this, more);
  }
}

// ---- The bridge to a native app, in whose web view the page may be

const bridge = {
  token: "__NGWENYA_TOKEN__",
  platform: "__NGWENYA_PLATFORM__",
  handler: "ngwenyaBridge",
  object: "NgwenyaBridge",
};

/** Sets the names that the app uses: `token`, `platform`, `handler`, `object`; the others stay. */
export function configureBridge(names) {
  for (const key of Object.keys(bridge)) if (typeof names?.[key] === "string") bridge[key] = names[key];
}

const view = () => (typeof window === "undefined" ? undefined : window);

/** `"ios"` or `"android"` in an app's web view; else null. */
export function getMobilePlatform() {
  const platform = view()?.[bridge.platform];
  return platform === "ios" || platform === "android" ? platform : null;
}

/** Whether the page is in an app's web view; the two below: on Apple's devices, on Android. */
export function isMobileWebView() {
  return getMobilePlatform() !== null;
}

export function isIOSWebView() {
  return getMobilePlatform() === "ios";
}

export function isAndroidWebView() {
  return getMobilePlatform() === "android";
}

/** The token that the app has given the page; null if there is none. Read it anew each time. */
export function getNativeAuthToken() {
  const token = view()?.[bridge.token];
  return typeof token === "string" && token !== "" ? token : null;
}

/** Asks the app to do something; false when there is no app that takes it. Never throws. */
export function sendBridgeMessage(action, data = {}) {
  try {
    if (isIOSWebView()) window.webkit.messageHandlers[bridge.handler].postMessage({ action, ...data });
    else if (isAndroidWebView()) window[bridge.object][action](JSON.stringify(data));
    else return false;
    return true;
  } catch {
    return false; // An app without this handler or method is as good as none.
  }
}

// ---- The client

const FIELDS = "id number cursor type title body createdAt priority url data category topicId";
const CREATE =
  "mutation Publish($input: CreateMessageInput!) { createMessage(input: $input) { id number cursor topicId createdAt } }";
const STAND = "query Stand($topicId: ID!) { getTopic(id: $topicId) { cursor lastNumber } }";
const STAND_OF_ALL = "query StandOfAll { me { cursor } }";
const FOLLOW = `subscription Follow($topicId: ID, $after: String) { onCreateMessage(topicId: $topicId, after: $after) { ${FIELDS} } }`;
const FOLLOW_NEW = `subscription FollowNew { onCreateMessage { ${FIELDS} } }`;

const MAXIMUM_ATTEMPTS = 6;
const REQUEST_TIMEOUT = 30_000;
const CONNECT_TIMEOUT = 20_000;
const PING = 15_000;
const BUFFER = 256;
const TEMPORARY = ["CONNECTION_FAILED", "TIMED_OUT", "UNAVAILABLE", "TIMEOUT", "INTERNAL", "LIMIT"];
/** Close codes after which another try would end the same. */
const FATAL = [1002, 1003, 1007, 1009, 4400, 4406, 4409];

/** A client of the server at `url`. */
export function createTocsin(options) {
  const context = {
    fetch: options.fetch ?? ((...all) => globalThis.fetch(...all)),
    WebSocket: options.WebSocket ?? globalThis.WebSocket,
    storage: forgiving(options.storage === undefined ? defaultStorage() : options.storage),
    random: options.random ?? Math.random,
    now: options.now ?? Date.now,
  };
  const address = String(options.url).replace(/\/+$/, "").replace(/\/graphql$/, "");
  if (!/^https?:\/\/[^/]/.test(address)) throw new TocsinError("BAD_ADDRESS", "url must begin with https:// or http://");
  context.address = address + "/graphql";
  context.credentials = makeCredentials(options, context);
  const run = (document, variables, more) => request(context, document, variables, more);
  const connection = makeConnection(context);
  return {
    url: address,
    storage: context.storage,
    /** Runs a query, or a mutation that may be repeated; lost answers are met by trying again. */
    query: (document, variables = {}, more = {}) => run(document, variables, { ...more, isRepeatable: true }),
    /** Runs a mutation; tried again only where the server has not run it. */
    mutate: (document, variables = {}, more = {}) => run(document, variables, more),
    /** Publishes a message. Its id is made once, so a repeated attempt makes no second message. */
    async publish(topicId, { data, ...draft }, more = {}) {
      const input = { body: "", type: 0, ...draft, id: draft.id ?? messageID(context), topicId };
      if (data !== undefined) input.data = texts(data);
      return (await run(CREATE, { input }, { ...more, isRepeatable: true })).createMessage;
    },
    /** The messages of a topic, or of all one's own (null), each once and in order, however often the line breaks. */
    follow: (topicId = null, more = {}) => follow(context, connection, run, topicId, more),
    /** The data of each event of a subscription; it comes back by itself, and `onState` is told of gaps. */
    subscribe: (document, variables = {}, more = {}) => subscribe(context, connection, document, variables, more),
    /** Tells the client that the network may be back; browsers' own events do so too. */
    networkChanged: connection.networkChanged,
    /** Ends all feeds and the socket. */
    close: connection.close,
  };
}

function defaultStorage() {
  try {
    return globalThis.localStorage ?? null;
  } catch {
    return null; // A page may be forbidden to store anything.
  }
}

/** What a storage refuses, as in private windows, is kept while the page lives. */
function forgiving(storage) {
  const kept = new Map();
  const run = (method) => async (name, value) => {
    try {
      if (method === "getItem" && kept.has(name)) return kept.get(name);
      const found = await storage[method](name, value);
      kept.delete(name);
      return found;
    } catch {
      kept.set(name, value ?? null);
      return null;
    }
  };
  return storage && { getItem: run("getItem"), setItem: run("setItem"), removeItem: run("removeItem") };
}

/** Values for the app as the server takes them: texts in JSON. */
function texts(data) {
  if (typeof data === "string") return data;
  const members = Object.entries(data).map(([name, value]) => [name, typeof value === "string" ? value : JSON.stringify(value)]);
  return JSON.stringify(Object.fromEntries(members));
}

/** A UUID of version 7 (RFC 9562): it begins with the time. */
function messageID({ now }) {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  for (let index = 0, time = now(); index < 6; index += 1) bytes[index] = Math.floor(time / 2 ** (40 - 8 * index)) % 256;
  bytes[6] = (bytes[6] & 0x0f) | 0x70;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const text = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return text.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

function sleep(milliseconds, ...signals) {
  return new Promise((resolve, reject) => {
    const stop = () => (clearTimeout(timer), reject(cancelled()));
    const timer = setTimeout(resolve, milliseconds);
    for (const signal of signals) {
      if (signal?.aborted) stop();
      signal?.addEventListener("abort", stop, { once: true });
    }
  });
}

const cancelled = () => new TocsinError("CANCELLED", "The request was cancelled.");

/** The first of a response's errors. */
function firstError(errors, more = {}) {
  const first = errors?.[0] ?? {};
  const { code, oldestCursor } = first.extensions ?? {};
  return new TocsinError(code ?? first.errorType ?? "BAD_ANSWER", first.message ?? "The server refused without a reason.", {
    errors, path: first.path, oldestCursor, ...more,
  });
}

// ---- Credentials: one refresh at a time, whoever asks

function makeCredentials({ token = null, apiKey = null }, { now, random }) {
  const isProvider = typeof token === "function";
  let current = isProvider ? null : token;
  let refreshAt = Infinity;
  let endsAt = Infinity;
  let failures = 0;
  let isRefused = false;
  let running = null;

  function take(answer) {
    const { token: text, expiresAt = null } = typeof answer === "string" ? { token: answer } : (answer ?? {});
    if (typeof text !== "string" || text === "") throw new TocsinError("SIGNED_OUT", "Nobody is signed in.");
    current = text;
    isRefused = false;
    const start = now();
    endsAt = Number(expiresAt ?? expiry(text) ?? Infinity);
    const life = endsAt - start;
    refreshAt = life === Infinity ? Infinity : endsAt - Math.max(60_000, life / 10) - random() * (life / 20);
    if (refreshAt <= start) refreshAt = start + Math.max(1000, life / 2);
  }
  async function refresh() {
    const reason = isRefused ? "refused" : current === null ? "first" : "expiring";
    let timer;
    const late = new Promise((_, reject) => {
      timer = setTimeout(() => reject(new TocsinError("TIMED_OUT", "The token did not come within 30 s.")), REQUEST_TIMEOUT);
    });
    try {
      take(await Promise.race([token({ reason, failures }), late]));
      failures = 0;
    } catch (error) {
      failures += 1;
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }
  /** Whoever asks meanwhile waits for the same. */
  const refreshOnce = () => (running ??= refresh().finally(() => (running = null)));
  return {
    isProvider,
    refreshAt: () => refreshAt,
    /** The header fields that say who asks; `refused` are those of last time, if the server did not take them. */
    async fields(refused) {
      if (apiKey) return { "x-api-key": apiKey };
      if (isProvider && current !== null && refused?.authorization === "Bearer " + current) {
        current = null;
        isRefused = true;
      }
      if (isProvider && (current === null || now() >= refreshAt)) {
        try {
          await refreshOnce();
        } catch (error) {
          // The old token counts until it ends.
          if (error.code === "SIGNED_OUT" || current === null || now() >= endsAt) throw error;
        }
      }
      return current ? { authorization: "Bearer " + current } : {};
    },
  };
}

/** When a JWT ends, in milliseconds since 1970. */
function expiry(token) {
  try {
    const body = JSON.parse(atob(token.split(".")[1].replaceAll("-", "+").replaceAll("_", "/")));
    return typeof body.exp === "number" ? body.exp * 1000 : null;
  } catch {
    return null;
  }
}

// ---- Requests

async function request(context, query, variables, { signal, isRepeatable = false } = {}) {
  const body = JSON.stringify({ query, variables });
  let [fields, refused] = [];
  for (let attempt = 1; ; attempt += 1) {
    try {
      fields = await context.credentials.fields(refused);
      if (signal?.aborted) throw cancelled();
      return await call(context, body, fields, signal);
    } catch (error) {
      if (error.code === "UNAUTHENTICATED" && context.credentials.isProvider && !refused) {
        refused = fields;
        continue;
      }
      const mayRetry = error.retry === "always" || (error.retry === "repeatable" && isRepeatable);
      if (!mayRetry || attempt >= MAXIMUM_ATTEMPTS) throw error;
      const asked = Math.min(error.retryAfter ?? 0, 60) * 1000;
      await sleep(asked + context.random() * Math.min(30_000, 500 * 2 ** attempt), signal);
    }
  }
}

async function call({ fetch, address }, body, fields, signal) {
  const controller = new AbortController();
  const stop = () => controller.abort();
  const timer = setTimeout(stop, REQUEST_TIMEOUT);
  signal?.addEventListener("abort", stop);
  try {
    const headers = { "content-type": "application/json", accept: "application/graphql-response+json, application/json", ...fields };
    const answer = await fetch(address, { method: "POST", headers, body, signal: controller.signal, redirect: "error" });
    return read(answer.status, await answer.text(), Number(answer.headers.get("retry-after")) || 0);
  } catch (error) {
    if (error instanceof TocsinError) throw error;
    if (signal?.aborted) throw cancelled();
    const [code, message] = controller.signal.aborted
      ? ["TIMED_OUT", "The server did not answer in time."]
      : ["CONNECTION_FAILED", `The server could not be reached: ${error.message}`];
    throw new TocsinError(code, message, { retry: "repeatable" });
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", stop);
  }
}

function read(status, text, retryAfter) {
  let response = null;
  try {
    response = JSON.parse(text);
  } catch {
    // A proxy's page; judged by its status below.
  }
  const retry = status === 429 ? "always" : status >= 500 ? "repeatable" : "never";
  if (response?.errors?.length) {
    const error = firstError(response.errors, { data: response.data, retryAfter, retry });
    if (retry === "never" && (error.code === "UNAVAILABLE" || error.code === "TIMEOUT")) error.retry = "repeatable";
    throw error;
  }
  if (response?.data !== undefined) return response.data;
  const code = status === 401 ? "UNAUTHENTICATED" : status === 403 ? "UNAUTHORIZED" : retry === "never" ? "BAD_ANSWER" : "UNAVAILABLE";
  throw new TocsinError(code, `The server answered with status ${status}.`, { retry, retryAfter });
}

// ---- One socket for all feeds (graphql-transport-ws)

function makeConnection(context) {
  const { credentials, now, random } = context;
  /** By id, which changes each time one is added: { id, payload, next, fail, end, told } */
  const operations = new Map();
  let socket = null;
  let isAcknowledged = false;
  const closing = new AbortController();
  let isClosed = false;
  let attempts = 0;
  let liveSince = Infinity;
  let heard = 0;
  let unanswered = 0;
  let reauthenticatedAt = -Infinity;
  let refusedAt = -Infinity;
  let pings = [];
  let lastID = 0;
  let shown;
  let timers = {};

  const after = (name, milliseconds, action) => {
    clearTimeout(timers[name]);
    timers[name] = setTimeout(() => {
      delete timers[name];
      action();
    }, Math.min(milliseconds, 2 ** 31 - 1));
  };
  const quiet = () => {
    Object.values(timers).forEach(clearTimeout);
    timers = {};
  };
  const send = (message) => socket?.readyState === 1 && socket.send(JSON.stringify(message));
  const tell = (state, more) => operations.forEach((operation) => operation.told({ state, ...more }));

  async function open(refused) {
    if (isClosed || socket || operations.size === 0) return;
    clearTimeout(timers.retry);
    delete timers.retry;
    const opening = { readyState: 0, close() {} };
    socket = opening;
    isAcknowledged = false;
    tell("connecting");
    try {
      shown = await credentials.fields(refused);
    } catch (error) {
      if (socket !== opening) return;
      socket = null;
      const wrapped = error instanceof TocsinError ? error : new TocsinError("UNAUTHENTICATED", `No token: ${error.message}`);
      return wrapped.code === "SIGNED_OUT" ? endAll(wrapped) : retry(wrapped, backoff(60_000));
    }
    if (socket !== opening) return;
    socket = null;
    if (isClosed || operations.size === 0) return;
    let made;
    try {
      made = new context.WebSocket(context.address.replace(/^http/, "ws"), "graphql-transport-ws");
    } catch (error) {
      return endAll(new TocsinError("BAD_ADDRESS", error.message)); // As to http from a page of https.
    }
    socket = made;
    heard = now();
    after("connect", CONNECT_TIMEOUT, () => drop("The server did not answer in time."));
    const { authorization } = shown;
    const payload = authorization ? { Authorization: authorization } : shown;
    made.onopen = () => made === socket && send({ type: "connection_init", payload });
    made.onmessage = (event) => made === socket && hear(event.data);
    made.onclose = (event) => made === socket && lost(event.code, event.reason);
  }

  function hear(text) {
    heard = now();
    unanswered = 0;
    let message;
    try {
      message = JSON.parse(text);
    } catch {
      return drop("The server sent what is no JSON.");
    }
    const operation = operations.get(message.id);
    switch (message.type) {
      case "connection_ack":
        clearTimeout(timers.connect);
        isAcknowledged = true;
        liveSince = now();
        [pings, unanswered] = [[], 0];
        operations.forEach(start);
        ping([...operations.values()]);
        listen();
        renewLater();
        break;
      case "ping": send({ type: "pong" }); break;
      case "pong": ponged(message.payload); break;
      case "next": operation?.next(message.payload ?? {}); break;
      case "error": operation && failed(operation, firstError(message.payload)); break;
      case "complete":
        operations.delete(message.id);
        operation?.end();
        rest();
        break;
    }
  }

  function start(operation) {
    send({ id: operation.id, type: "subscribe", payload: operation.payload() });
  }

  /** The pong says that the subscriptions that were sent before are live. */
  function ping(subscribed) {
    pings.push(subscribed);
    send({ type: "ping" });
  }

  function ponged(payload) {
    if (payload?.authenticated === undefined) {
      return pings.shift()?.forEach((operation) => operations.has(operation.id) && operation.told({ state: "live" }));
    }
    clearTimeout(timers.renewal);
    if (payload.authenticated) {
      reauthenticatedAt = now();
      return renewLater();
    }
    drop("The server did not take the newer token.", 1000);
  }

  function failed(operation, error) {
    operations.delete(operation.id);
    // A newer token may have other rights: older subscriptions end, and begin again once.
    if (error.code === "UNAUTHORIZED" && now() - reauthenticatedAt < 10_000 && operation.renewedAt !== reauthenticatedAt) {
      operation.renewedAt = reauthenticatedAt;
      return add(operation);
    }
    operation.fail(error);
    rest();
  }

  /** A connection that says nothing is asked, then given up; by questions, as hidden pages' timers are late. */
  function listen() {
    after("silence", PING, () => {
      if (unanswered > 2) return drop("The server has gone silent.");
      unanswered += 1;
      ping([]);
      listen();
    });
  }

  /** Shows the server a newer token before the old one ends. */
  function renewLater() {
    if (!credentials.isProvider || credentials.refreshAt() === Infinity) return;
    after("renew", Math.max(1000, credentials.refreshAt() - now()), async () => {
      const asked = socket;
      try {
        const fields = await credentials.fields();
        if (socket !== asked || !isAcknowledged) return;
        shown = fields;
        send({ type: "ping", payload: fields });
        after("renewal", 10_000, () => drop("The server did not answer a newer token.", 1000));
      } catch (error) {
        if (error.code === "SIGNED_OUT") return endAll(error);
        if (socket === asked) after("renew", 1000 + random() * 10_000, renewLater);
      }
    });
  }

  /** Gives the connection up. */
  function drop(reason, code = 1006) {
    hangUp();
    lost(code, reason);
  }

  function hangUp() {
    quiet();
    const closing = socket;
    socket = null;
    isAcknowledged = false;
    closing?.close(1000);
  }

  function lost(code, reason = "") {
    quiet();
    socket = null;
    isAcknowledged = false;
    if (now() - liveSince > 10_000) attempts = 0;
    liveSince = Infinity;
    if (isClosed || operations.size === 0) return;
    const detail = reason ? `: ${reason}` : "";
    if (FATAL.includes(code)) return endAll(new TocsinError("BAD_ANSWER", `Client and server do not understand each other (${code})${detail}`));
    if (code === 4401 || code === 4403) {
      const error = new TocsinError("UNAUTHENTICATED", `The server does not accept the token${detail}`);
      if (!credentials.isProvider || now() - refusedAt < 30_000) return endAll(error);
      refusedAt = now();
      tell("waiting", { error, pause: 0 });
      return open(shown);
    }
    const pause =
      code === 1001 ? random() * 5000
      : code === 1013 ? 1000 + random() * 5000
      : code === 4408 || code === 4429 || code === 4500 ? 10_000 + backoff(60_000)
      : code === 1000 ? random() * 300
      : backoff(30_000);
    retry(new TocsinError("CONNECTION_FAILED", `The connection was lost (${code})${detail}`), pause);
  }

  /** Full jitter, so that clients of a server that was away do not all come back at one time. */
  const backoff = (most) => random() * Math.min(most, 1000 * 2 ** Math.min(attempts, 10));

  function retry(error, pause) {
    attempts += 1;
    tell("waiting", { error, pause });
    after("retry", pause, open);
  }

  function endAll(error) {
    const ended = [...operations.values()];
    operations.clear();
    ended.forEach((operation) => (error ? operation.fail(error) : operation.end()));
    rest();
  }

  function add(operation) {
    if (isClosed) return operation.id ? operation.end() : operation.fail(new TocsinError("CANCELLED", "The client is closed."));
    operation.id = String((lastID += 1));
    operations.set(operation.id, operation);
    if (isAcknowledged) {
      start(operation);
      ping([operation]);
    } else if (!socket && timers.retry === undefined) {
      after("retry", attempts === 0 ? 0 : backoff(30_000), open);
    }
  }

  function remove(operation) {
    const { id } = operation;
    if (!operations.delete(id)) return;
    if (isAcknowledged) send({ id, type: "complete" });
    rest();
  }

  /** Without feeds there is no connection. */
  function rest() {
    if (operations.size > 0 || !socket) return;
    after("rest", 1000, () => {
      if (operations.size > 0) return;
      attempts = 0;
      hangUp();
    });
  }

  function networkChanged() {
    if (operations.size === 0) return;
    attempts = 0;
    if (!socket) return after("retry", random() * 300, open);
    if (!isAcknowledged) return;
    const asked = now();
    ping([]);
    after("wake", 5000, () => heard < asked && drop("The server did not answer after a pause."));
  }

  const awake = () => view()?.document?.visibilityState !== "hidden" && networkChanged();
  const listenTo = (method) => {
    for (const name of ["online", "pageshow"]) view()?.[method]?.(name, awake);
    view()?.document?.[method]?.("visibilitychange", awake);
  };
  listenTo("addEventListener");

  function close() {
    isClosed = true;
    listenTo("removeEventListener");
    hangUp();
    endAll();
    closing.abort();
  }

  return { add, remove, networkChanged, close, closed: closing.signal };
}

// ---- Feeds

/** Values that wait for one reader. While it is far behind, `operation` rests; after failures that pass it begins again. */
function makeFeed({ random }, connection, operation, { signal, onState = () => {} }) {
  const values = [];
  let outcome = null;
  let wake = () => {};
  let isParked = true;
  let failures = 0;
  let timer;
  const begin = () => connection.add(operation);
  const settle = (value) => {
    outcome ??= value;
    wake();
  };
  const end = () => settle({});
  const refuse = (error) => settle({ error });
  Object.assign(operation, {
    told(event) {
      if (event.state === "live") failures = 0;
      try {
        onState(event);
      } catch (error) {
        setTimeout(() => { throw error; }); // The page's own fault; the feeds go on.
      }
    },
    fail(error) {
      if (!TEMPORARY.includes(error.code)) return refuse(error);
      const pause = 500 + random() * Math.min(30_000, 1000 * 2 ** Math.min(failures, 10));
      failures += 1;
      operation.told({ state: "waiting", error, pause });
      timer = setTimeout(begin, pause);
    },
    end,
  });
  signal?.addEventListener("abort", end);
  connection.closed.addEventListener("abort", end);
  if (signal?.aborted) end();
  return {
    push(value, errors) {
      if (!value) return refuse(firstError(errors));
      values.push(value);
      wake();
      if (values.length < BUFFER) return;
      // The reader is behind: it gets the rest later, and others on the socket feel nothing.
      isParked = true;
      connection.remove(operation);
    },
    /** The next value; undefined at the end. */
    async next() {
      if (isParked && values.length === 0 && !outcome) {
        isParked = false;
        begin();
      }
      while (values.length === 0 && !outcome) await new Promise((resolve) => (wake = resolve));
      if (signal?.aborted) return undefined;
      if (values.length > 0) return values.shift();
      if (outcome.error) throw outcome.error;
      return undefined;
    },
    stop() {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      connection.closed.removeEventListener("abort", end);
      connection.remove(operation);
    },
  };
}

async function* follow(context, connection, run, topicId, { after, place, ...more }) {
  const { storage } = context;
  const key = place === undefined ? null : "tocsin.place." + place;
  let cursor = after ?? (key && (await storage?.getItem(key))) ?? null;
  /** By topic, the number of the message that came last. */
  const numbers = new Map();
  if (cursor === null) {
    const stand = await now(context, connection, run, topicId, more);
    if (stand === undefined) return;
    // Who hears of several owners' messages has no cursor for all.
    cursor = stand.cursor ?? (topicId === null ? null : "");
    numbers.set(topicId, stand.lastNumber ?? 0);
    // What comes after this moment is kept for whoever begins again before the first message.
    if (key && cursor !== null) await storage?.setItem(key, cursor);
  }
  let hole = null;
  const operation = {
    payload: () =>
      cursor === null ? { query: FOLLOW_NEW } : { query: FOLLOW, variables: { topicId, after: cursor } },
    next({ data, errors }) {
      const message = data?.onCreateMessage;
      if (!message) return feed.push(null, errors);
      const last = numbers.get(message.topicId);
      if (last !== undefined && message.number <= last) return;
      // Numbers are dense in a topic. A hole is asked for once; one that stays is the server's own.
      if (topicId !== null && last !== undefined && message.number > last + 1 && hole !== last) {
        hole = last;
        connection.remove(operation);
        return connection.add(operation);
      }
      numbers.set(message.topicId, message.number);
      cursor = message.cursor;
      feed.push(message);
    },
  };
  const feed = makeFeed(context, connection, operation, more);
  try {
    for (let message; (message = await feed.next()); ) {
      yield message;
      // The reader has handled it when it asks for the next one.
      if (key) await storage?.setItem(key, message.cursor);
    }
  } finally {
    feed.stop();
  }
}

/** Where a feed stands now, asked for until there is an answer. */
async function now(context, { closed }, run, topicId, { signal, onState = () => {} }) {
  const asked = topicId === null ? [STAND_OF_ALL, {}] : [STAND, { topicId }];
  while (!closed.aborted) {
    try {
      const { me, getTopic = me } = await run(...asked, { signal, isRepeatable: true });
      if (getTopic === null) throw new TocsinError("TOPIC_NOT_FOUND", `There is no topic ${topicId} that you may read.`);
      return getTopic;
    } catch (error) {
      if (signal?.aborted) return undefined;
      if (!TEMPORARY.includes(error.code)) throw error;
      const pause = context.random() * 30_000;
      onState({ state: "waiting", error, pause });
      await sleep(pause, signal, closed).catch(() => {});
    }
  }
}

async function* subscribe(context, connection, query, variables, more) {
  let isFirst = true;
  const operation = {
    payload() {
      if (!isFirst) operation.told({ state: "gap" });
      isFirst = false;
      return { query, variables };
    },
    next: ({ data, errors }) => feed.push(data, errors),
  };
  const feed = makeFeed(context, connection, operation, more);
  try {
    for (let data; (data = await feed.next()); ) yield data;
  } finally {
    feed.stop();
  }
}

// ---- Web Push

const REGISTER = `mutation Register($token: String!, $deviceId: ID) {
  registerPushToken(token: $token, platform: "web", deviceId: $deviceId) { userId device { id } } }`;
const UNREGISTER = `mutation Unregister($token: String!, $deviceId: ID) {
  unregisterPushToken(token: $token, deviceId: $deviceId) { userId } }`;
const REGISTERED = "tocsin.webpush";
const WEEK = 7 * 24 * 3600 * 1000;

/** Whether this page can get pushes, and if not, why. */
export function canPush() {
  const page = view();
  if (!page) return { ok: false, reason: "There is no window." };
  if (isMobileWebView()) return { ok: false, reason: "The page is in an app, which gets the pushes itself." };
  if (page.isSecureContext === false) return { ok: false, reason: "The page must come over https." };
  if (!navigator.serviceWorker || !page.PushManager || !page.Notification) {
    const isApple = /iPhone|iPad/.test(navigator.userAgent) && !navigator.standalone;
    return { ok: false, reason: isApple ? "Add the page to the home screen first." : "This browser has no Web Push." };
  }
  return { ok: true };
}

/**
 * Subscribes this browser to pushes and registers it with the server; does nothing where that is done already.
 * Call it in a click with `userGesture: true`, and on each page load with `userGesture: false`, which asks nobody.
 */
export async function registerWebPush(client, { worker = "/tocsin-worker.js", userGesture = true } = {}) {
  const can = canPush();
  if (!can.ok) return { state: "unavailable", reason: can.reason };
  if (Notification.permission === "default") {
    if (!userGesture || navigator.userActivation?.isActive === false) return { state: "needs-gesture" };
    await Notification.requestPermission();
  }
  if (Notification.permission !== "granted") return { state: Notification.permission === "denied" ? "denied" : "dismissed" };
  await navigator.serviceWorker.register(worker);
  const { pushManager } = await navigator.serviceWorker.ready;
  const { webPushKey: key, me: { userId } } = await client.query("query Key { webPushKey me { userId } }");
  if (!key) return { state: "unavailable", reason: "The server has no key for Web Push." };
  let subscription = await pushManager.getSubscription();
  if (subscription && keyOf(subscription) !== key) {
    await subscription.unsubscribe();
    subscription = null;
  }
  subscription ??= await pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key });
  const known = await registered(client);
  // Another user may have signed in since: the pushes must be theirs.
  const wanted = { endpoint: subscription.endpoint, key, url: client.url, userId };
  if (Object.keys(wanted).every((name) => known[name] === wanted[name]) && Date.now() - known.at < WEEK) {
    return { state: "registered", deviceId: known.deviceId };
  }
  const token = JSON.stringify(subscription);
  const register = async (deviceId) => (await client.query(REGISTER, { token, deviceId })).registerPushToken.device?.id;
  // The known device may have become another user's.
  const deviceId = await register(known.deviceId).catch((error) => {
    if (!known.deviceId || TEMPORARY.includes(error.code)) throw error;
    return register();
  });
  await client.storage?.setItem(REGISTERED, JSON.stringify({ ...wanted, deviceId, at: Date.now() }));
  return { state: "registered", deviceId };
}

/** Ends the pushes to this browser: at the server, then at the push service. */
export async function unregisterWebPush(client) {
  const registration = canPush().ok ? await navigator.serviceWorker.getRegistration() : undefined;
  const subscription = await registration?.pushManager.getSubscription();
  const known = await registered(client);
  if (subscription) {
    await client.query(UNREGISTER, { token: JSON.stringify(subscription), deviceId: known.deviceId });
    await subscription.unsubscribe();
  }
  await client.storage?.removeItem(REGISTERED);
  return Boolean(subscription);
}

/** What this browser was registered as. */
async function registered({ storage }) {
  try {
    return JSON.parse(await storage?.getItem(REGISTERED)) ?? {};
  } catch {
    return {};
  }
}

function keyOf(subscription) {
  const key = subscription.options?.applicationServerKey;
  if (!key) return null;
  const text = btoa(String.fromCharCode(...new Uint8Array(key)));
  return text.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
