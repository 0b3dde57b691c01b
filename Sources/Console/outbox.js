// Messages that wait until the server can be reached. Each has an id of its own, so one that is sent twice is there once.
import { client } from "./api.js";
import { outbox, owner } from "./store.js";
import { explained } from "./texts.js";
import { oneAtATime } from "./turns.js";

const LATER = ["CONNECTION_FAILED", "TIMED_OUT", "UNAVAILABLE", "TIMEOUT", "INTERNAL", "LIMIT", "CANCELLED", "UNAUTHENTICATED"];
const LONGEST_WAIT = 20_000;
/** How long the first pause is between two tries, and how long the longest; each is twice the one before. */
const PAUSE = 5_000;
const LONGEST_PAUSE = 60_000;

/** All tabs show what waits, and the one that rests between two tries may be another than the one that knows better. */
const tabs = new BroadcastChannel("tocsin-outbox");
tabs.onmessage = ({ data }) => (data === "now" ? hurry() : dispatchEvent(new Event("tocsin-outbox")));
function changed() {
  dispatchEvent(new Event("tocsin-outbox"));
  tabs.postMessage("changed");
}

/** Sends a message; null where it waits now. */
export async function send(topicId, input) {
  const draft = { id: crypto.randomUUID?.(), topicId, input, at: Date.now() };
  // A browser that keeps nothing sends at once, or not at all.
  if (!draft.id || !(await outbox.put(draft))) return client.publish(topicId, input);
  try {
    const made = await attempt(draft);
    if (made) await outbox.remove(draft.id);
    else if (made === null) setTimeout(sendAll, PAUSE);
    return made || null;
  } catch (error) {
    await outbox.remove(draft.id);
    throw error;
  } finally {
    changed();
  }
}

/** The message as it is made; null where the server cannot be asked now, false where somebody has to sign in first. */
async function attempt({ id, topicId, input }, hasWaited = false) {
  const given = new AbortController();
  const stop = () => given.abort();
  const timer = setTimeout(stop, LONGEST_WAIT);
  addEventListener("tocsin-unreachable", stop);
  try {
    if (navigator.onLine === false) return null;
    // Somebody else may have signed in in another tab: what waits here is not theirs to send. Asked once, as mutations are.
    if (hasWaited && (await client.mutate("{ me { userId } }", {}, { signal: given.signal })).me?.userId !== owner) return false;
    return await client.publish(topicId, { ...input, id }, { signal: given.signal });
  } catch (error) {
    if (!LATER.includes(error.code)) throw error;
    return error.code === "UNAUTHENTICATED" ? false : null;
  } finally {
    clearTimeout(timer);
    removeEventListener("tocsin-unreachable", stop);
  }
}

/**
 * Sends what waits, one after the other; false where the server cannot be asked now. What is
 * refused stays, with the reason, and so does all where nobody is signed in: whoever signs in sends.
 */
async function sendOnce() {
  for (const draft of await outbox.all()) {
    if (draft.refused) continue;
    try {
      const made = await attempt(draft, true);
      if (!made) return made === false;
      await outbox.remove(draft.id);
    } catch (error) {
      await outbox.put({ ...draft, refused: explained(error) });
    }
    changed();
  }
  return true;
}

let isWoken = false;
let wake = () => {};
const rest = (pause) => new Promise((done) => {
  setTimeout(done, pause);
  wake = done;
});
function hurry() {
  isWoken = true;
  wake();
}

/** Tries until nothing waits any more, in one tab at a time: the others wait for its end. */
const sendAll = oneAtATime(() => navigator.locks?.request("tocsin-outbox", async () => {
  for (let pause = PAUSE; ; ) {
    isWoken = false;
    if (await sendOnce()) return;
    if (!isWoken) await rest(pause);
    pause = isWoken ? PAUSE : Math.min(2 * pause, LONGEST_PAUSE);
  }
}), () => {});

/** Sends what waits at once, in whichever tab: the server may be reached again, or somebody has signed in. */
export function flush() {
  hurry();
  tabs.postMessage("now");
  return sendAll();
}
