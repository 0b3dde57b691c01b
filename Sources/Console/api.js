// The console is a client like any other: the browser's session is its only credential.
import { createTocsin, TocsinError } from "../../client/tocsin.js";
import { answered } from "./store.js";
import { canShare, SharedSocket } from "./tabs.js";
import { texts } from "./texts.js";

/** The console's own address: what stands before `/assets/`. */
export const base = new URL("../..", import.meta.url).pathname.replace(/\/$/, "");

const ours = { "x-tocsin-console": "1" };

/** The one script address that is made of a text: the worker that shows pushes. */
const policy = globalThis.trustedTypes?.createPolicy("tocsin", {
  createScriptURL(address) {
    if (address !== base + "/sw.js") throw new TypeError(texts.api.noOtherScript);
    return address;
  },
});
export const worker = policy?.createScriptURL(base + "/sw.js") ?? base + "/sw.js";

let isAway = false;
/** Says that the server cannot be reached, and once that it can again. */
function noteAway(is) {
  if (is) dispatchEvent(new Event("tocsin-unreachable"));
  else if (isAway) dispatchEvent(new Event("tocsin-reachable"));
  isAway = is;
}

export const client = createTocsin({
  url: location.origin + base,
  WebSocket: canShare ? SharedSocket : undefined,
  async fetch(address, more) {
    try {
      const answer = await fetch(address, { ...more, credentials: "same-origin", headers: { ...more.headers, ...ours } });
      noteAway([502, 503, 504].includes(answer.status));
      return answer;
    } catch (error) {
      if (!more.signal?.aborted) noteAway(true);
      throw error;
    }
  },
});

/** One of the paths of sign-in; its answer as JSON, null where there is none. */
export async function auth(path, body) {
  let answer;
  try {
    answer = await fetch(`${base}/auth/${path}`, {
      method: body ? "POST" : "GET",
      credentials: "same-origin",
      headers: body ? { ...ours, "content-type": "application/json" } : ours,
      body: body && JSON.stringify(body),
    });
  } catch (error) {
    throw new TocsinError("CONNECTION_FAILED", error.message);
  }
  const members = await answer.json().catch(() => null);
  if (answer.ok) return members;
  throw new TocsinError(members?.error?.code ?? "UNAVAILABLE", members?.error?.message ?? texts.api.status(answer.status));
}

/** Does something; where the server wants a proof first of who asks, asks for it and goes on. */
export async function provenly(act) {
  try {
    return await act();
  } catch (error) {
    if (error.code !== "REAUTHENTICATE") throw error;
    const { askPassword } = await import("./sign-in.js");
    if (!(await askPassword())) throw new TocsinError("CANCELLED", texts.api.notProven);
    return act();
  }
}

/** Runs a document, with a proof where the server wants one. */
export const proven = (document, variables) => provenly(() => client.mutate(document, variables));

let known = null;
/** Which parts the server has: where a model file takes their names, incidents, integrations and buttons are left out. */
export function parts() {
  const asked = `{ incidents: __type(name: "Incident") { fields { name } } integrations: __type(name: "Integration") { fields { name } }
    messages: __type(name: "Message") { fields { name } } }`;
  const has = (type, name) => type?.fields?.some((field) => field.name === name) === true;
  known ??= answered("parts", () => client.query(asked)).then(
    ({ answer: { incidents, integrations, messages } }) => ({
      incidents: has(incidents, "timeline"), integrations: has(integrations, "keyHints"), buttons: has(messages, "buttons"),
    }),
    (error) => {
      known = null;
      throw error;
    });
  return known;
}

/** All pages of a connection, at most `most` items. */
export async function all(document, variables, pick, most = 1000) {
  const items = [];
  for (let nextToken = null; ; ) {
    const page = pick(await client.query(document, { ...variables, nextToken }));
    items.push(...page.items);
    nextToken = page.nextToken;
    if (!nextToken || items.length >= most) return items;
  }
}
