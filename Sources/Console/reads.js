// What the person reads at their other devices, told to a page that somebody looks at.
import { client } from "./api.js";

const READ = "subscription Read { onReadState { unread } }";

let isWanted = false;
let ended = null;

/** Follows it from now on while the page is shown; each change is a `tocsin-read`, after which things are counted anew. */
export function followReads() {
  endReads();
  isWanted = true;
  look();
}

export function endReads() {
  isWanted = false;
  look();
}

/** A hidden page asks nothing; what it missed is counted when it is shown and told live again. */
function look() {
  const isShown = isWanted && document.visibilityState === "visible";
  if (isShown && !ended) return void follow((ended = new AbortController()));
  if (isShown) return;
  ended?.abort();
  ended = null;
}
document.addEventListener("visibilitychange", look);

async function follow({ signal }) {
  const count = () => dispatchEvent(new Event("tocsin-read"));
  let wasLive = false;
  const onState = ({ state }) => {
    if (state !== "live") return;
    wasLive = true;
    count();
  };
  try {
    for await (const _ of client.subscribe(READ, {}, { signal, onState })) count();
  } catch (error) {
    // Whose session was ended elsewhere sees nothing more, whatever the view.
    if (wasLive && error.code === "UNAUTHENTICATED" && !signal.aborted) dispatchEvent(new Event("tocsin-signed-out"));
    // A node of the release before knows nothing of it: there the minute's count has to do.
  }
}
