// Watches the topics that others share with the caller, to say at once when one is taken back.
import { client } from "./api.js";

/** A socket has a hundred subscriptions. Of more topics than so many the end is seen at the next look. */
const MOST = 30;
/** Nothing passes this filter: the line is there for its end alone. */
const END = `subscription End($id: ID!) { onCreateMessage(topicId: $id, filter: { id: { eq: "-" } }) { id } }`;

const watched = new Map();
const tabs = new BroadcastChannel("tocsin-console");

let isWatching = false;
let end = () => {};
/** One tab watches for all, as long as somebody is signed in there. */
export function beginWatch() {
  end();
  const given = new AbortController();
  const over = new Promise((done) => given.signal.addEventListener("abort", done));
  const watch = () => {
    isWatching = true;
    dispatchEvent(new Event("tocsin-read"));
    return over;
  };
  end = () => {
    watchShared([]);
    isWatching = false;
    given.abort();
  };
  if (navigator.locks) navigator.locks.request("tocsin-watch", { signal: given.signal }, watch).catch(() => {});
  else void watch();
}

export const endWatch = () => end();

/** Whether its messages may be read: who may publish alone sees the topic, and none of them. */
export const isReadable = ({ roles }) => roles.length === 0 || roles.some((role) => role !== "PUBLISHER");

/** All tabs look which topics there are, this one too: it hears its own channels but the one that speaks. */
export const takenBack = () => tabs.postMessage("topics");

/** Watches these topics, and no others, in the tab that does; `lost` is called when one may be read no more. */
export function watchShared(topics, lost) {
  if (!isWatching) return;
  const wanted = new Set(topics.slice(0, MOST).map(({ id }) => id));
  for (const [id, ended] of watched) {
    if (wanted.has(id)) continue;
    watched.delete(id);
    ended.abort();
  }
  for (const id of wanted) if (!watched.has(id)) void watch(id, lost);
}

async function watch(id, lost) {
  const ended = new AbortController();
  let wasLive = false;
  watched.set(id, ended);
  try {
    const onState = ({ state }) => (wasLive ||= state === "live");
    for await (const _ of client.subscribe(END, { id }, { signal: ended.signal, onState }));
  } catch (error) {
    // Who may only publish never could.
    if (!ended.signal.aborted && error.code === "UNAUTHORIZED" && wasLive) lost();
  } finally {
    // It is watched again at the next look.
    if (watched.get(id) === ended) watched.delete(id);
  }
}
