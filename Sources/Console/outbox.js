// Messages that wait until the server can be reached. Each has an id of its own, so one that is sent twice is there once.
import { client } from "./api.js";
import { outbox } from "./store.js";
import { explained } from "./texts.js";
import { oneAtATime } from "./turns.js";

const LATER = ["CONNECTION_FAILED", "TIMED_OUT", "UNAVAILABLE", "TIMEOUT", "INTERNAL", "LIMIT", "CANCELLED", "UNAUTHENTICATED"];
const LONGEST_WAIT = 20_000;
const PAUSE = 5_000;

const changed = () => dispatchEvent(new Event("tocsin-outbox"));

/** Sends a message; null where it waits now. */
export async function send(topicId, input) {
  const draft = { id: crypto.randomUUID?.(), topicId, input, at: Date.now() };
  // A browser that keeps nothing sends at once, or not at all.
  if (!draft.id || !(await outbox.put(draft))) return client.publish(topicId, input);
  try {
    const made = await attempt(draft);
    if (made) await outbox.remove(draft.id);
    return made;
  } catch (error) {
    await outbox.remove(draft.id);
    throw error;
  } finally {
    changed();
  }
}

/** The message as it is made; null where the server cannot be asked now. */
async function attempt({ id, topicId, input }) {
  const given = new AbortController();
  const stop = () => given.abort();
  const timer = setTimeout(stop, LONGEST_WAIT);
  addEventListener("tocsin-unreachable", stop);
  try {
    if (navigator.onLine === false) return null;
    return await client.publish(topicId, { ...input, id }, { signal: given.signal });
  } catch (error) {
    if (!LATER.includes(error.code)) throw error;
    // Whoever signs in sends; of a server that is back a page may not be told.
    if (error.code !== "UNAUTHENTICATED") pause ??= setTimeout(sendAgain, PAUSE);
    return null;
  } finally {
    clearTimeout(timer);
    removeEventListener("tocsin-unreachable", stop);
  }
}

let pause = null;
function sendAgain() {
  pause = null;
  void flush();
}

/** Sends what waits, one after the other, in one tab at a time. What is refused stays, with the reason. */
export const flush = oneAtATime(() => navigator.locks?.request("tocsin-outbox", async () => {
  for (const draft of await outbox.all()) {
    if (draft.refused) continue;
    try {
      if (!(await attempt(draft))) return;
      await outbox.remove(draft.id);
    } catch (error) {
      await outbox.put({ ...draft, refused: explained(error) });
    }
    changed();
  }
}), () => {});
