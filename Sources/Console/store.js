// What this browser keeps of one person, so that the console reads without a network and sends later: a database that is
// named by the hash of who it is. A browser that keeps nothing, as in private windows, works all the same.
const PREFIX = "tocsin-";
const PERSON = "tocsin.person";
const MOST = 1000;
/** Longer texts are kept by their beginning: 1,000 messages are at most 20 MB. */
const LONGEST = 5000;

let database = Promise.resolve(null);
/** Whose page this is, and what it keeps: the first who signed in here. */
export let owner = null;

const settled = (request) => new Promise((resolve, reject) => {
  request.onsuccess = () => resolve(request.result);
  request.onerror = () => reject(request.error);
  request.onblocked = () => reject(new Error("blocked"));
});

/** Who was signed in here last; null where nobody is. */
export function person() {
  try {
    return JSON.parse(localStorage.getItem(PERSON));
  } catch {
    return null;
  }
}

/** Opens what is kept of this person, and removes what is kept of others. */
export function begin(me) {
  owner = me.userId;
  if (!globalThis.indexedDB || !globalThis.crypto?.subtle) return;
  database = opened(me).catch(() => null);
}

async function opened(me) {
  const bytes = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(me.userId)));
  const name = PREFIX + Array.from(bytes.slice(0, 8), (byte) => byte.toString(16).padStart(2, "0")).join("");
  await removeAll(name);
  const request = indexedDB.open(name, 1);
  request.onupgradeneeded = () => {
    const messages = request.result.createObjectStore("messages", { keyPath: "id" });
    messages.createIndex("topic", ["topicId", "number"]);
    messages.createIndex("time", "createdAt");
    request.result.createObjectStore("answers");
    request.result.createObjectStore("outbox", { keyPath: "id" });
  };
  const made = await settled(request);
  made.onversionchange = () => made.close();
  localStorage.setItem(PERSON, JSON.stringify(me));
  return made;
}

/** Removes all that is kept: at sign-out, and before another person's is opened. */
export async function removeAll(but = null) {
  if (!globalThis.indexedDB) return;
  if (but === null) localStorage.removeItem(PERSON);
  if (but === null) (await database)?.close();
  for (const { name } of (await indexedDB.databases?.()) ?? []) {
    if (name.startsWith(PREFIX) && name !== but) await settled(indexedDB.deleteDatabase(name)).catch(() => {});
  }
}

/** Runs something on one of the stores; what fails is as if nothing were kept. */
async function use(name, mode, run) {
  try {
    const transaction = (await database).transaction(name, mode);
    return await run(transaction.objectStore(name));
  } catch {
    return undefined;
  }
}

/** Keeps messages, the newest thousand. */
export const keepMessages = (messages) => use("messages", "readwrite", async (store) => {
  for (const message of messages) {
    store.put(message.body?.length > LONGEST ? { ...message, body: `${message.body.slice(0, LONGEST)} …` } : message);
  }
  let over = (await settled(store.count())) - MOST;
  const cursor = over > 0 ? store.index("time").openCursor() : null;
  if (cursor) cursor.onsuccess = () => {
    if (!cursor.result || over <= 0) return;
    over -= 1;
    cursor.result.delete();
    cursor.result.continue();
  };
});

/** The messages that are kept of a topic, or of all (null), the newest first. */
export async function keptMessages(topicId) {
  const found = await use("messages", "readonly", (store) => settled(topicId === null
    ? store.index("time").getAll()
    : store.index("topic").getAll(IDBKeyRange.bound([topicId, 0], [topicId, Infinity]))));
  return (found ?? []).reverse();
}

export const keptMessage = (id) => use("messages", "readonly", (store) => settled(store.get(id)));
export const forgetMessages = (ids) => use("messages", "readwrite", (store) => ids.forEach((id) => store.delete(id)));

/** Forgets the messages of other topics: what may no longer be read is not kept either. */
export const keepOnly = (topicIds) => use("messages", "readwrite", (store) => {
  const keys = store.index("topic").openKeyCursor();
  keys.onsuccess = () => {
    if (!keys.result) return;
    if (!topicIds.has(keys.result.key[0])) store.delete(keys.result.primaryKey);
    keys.result.continue();
  };
});

/** What is to be sent: { id, topicId, input, refused } each, in the order of writing. */
export const outbox = {
  put: (draft) => use("outbox", "readwrite", (store) => settled(store.put(draft))),
  remove: (id) => use("outbox", "readwrite", (store) => settled(store.delete(id))),
  all: async () => ((await use("outbox", "readonly", (store) => settled(store.getAll()))) ?? []).sort((one, other) => one.at - other.at),
};

/**
 * The server's answer, or what was kept of the last one while the server cannot be reached; that one says `isOld`.
 * Without an answer that is kept it is waited for, as ever. What has a `fallback` of its own is not kept here.
 */
export async function answered(name, ask, fallback = null) {
  let away;
  const unreachable = new Promise((resolve) => {
    away = resolve;
    addEventListener("tocsin-unreachable", away);
    if (navigator.onLine === false) away();
  });
  const fresh = ask().then((answer) => {
    if (!fallback) void use("answers", "readwrite", (store) => store.put(answer, name));
    return { answer, isOld: false };
  });
  const old = unreachable.then(fallback ?? (() => use("answers", "readonly", (store) => settled(store.get(name))))).then((answer) => (answer === undefined ? fresh : { answer, isOld: true }));
  for (const each of [fresh, old]) each.catch(() => {});
  try {
    return await Promise.race([fresh, old]);
  } finally {
    removeEventListener("tocsin-unreachable", away);
  }
}
