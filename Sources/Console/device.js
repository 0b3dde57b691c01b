// What makes the browser a device: the service worker, the pushes it shows, and newer versions of the console.
import { base, client, worker } from "./api.js";
import { el, put } from "./dom.js";
import { texts } from "./texts.js";

const HOUR = 3_600_000;
let started = false;

/** Registers the service worker once a page, and goes where a push is pressed. */
export async function keepUp(go) {
  const container = navigator.serviceWorker;
  if (started || !container) return;
  started = true;
  const hadOne = Boolean(container.controller);
  container.addEventListener("message", ({ data }) => hear(data, go));
  // Another tab has gone on to a newer version.
  container.addEventListener("controllerchange", () => hadOne && offer(() => location.reload()));
  const registration = await container.register(worker).catch(() => null);
  if (!registration) return;
  const look = () => {
    if (registration.waiting && container.controller) offer(() => update(registration.waiting));
  };
  registration.addEventListener("updatefound", () => registration.installing?.addEventListener("statechange", look));
  look();
  let asked = Date.now();
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState !== "visible" || Date.now() - asked < HOUR) return;
    asked = Date.now();
    registration.update().catch(() => {});
  });
  await renewPush();
}

/** Takes away the pushes that are still shown: they are of who was signed in, and their buttons act for them. */
export async function clearShown() {
  const registration = await navigator.serviceWorker?.getRegistration();
  for (const shown of (await registration?.getNotifications?.()) ?? []) shown.close();
}

function hear({ type, address }, go) {
  if (type === "tocsin-open" && typeof address === "string") void go(address.slice(base.length));
  if (type === "tocsin-push") dispatchEvent(new Event("tocsin-read"));
  if (type === "tocsin-subscription") void renewPush();
}

/** Browsers lose subscriptions; one that changed is registered anew. Who ended the pushes here gets none. */
async function renewPush() {
  if (!(await client.storage?.getItem("tocsin.webpush"))) return;
  const { registerWebPush } = await import("../../client/tocsin.js");
  await registerWebPush(client, { worker, userGesture: false }).catch(() => {});
}

function update(waiting) {
  navigator.serviceWorker.addEventListener("controllerchange", () => location.reload(), { once: true });
  waiting.postMessage("tocsin-update");
}

/** Nothing is loaded anew while somebody writes: they say when. */
function offer(action) {
  put(document.getElementById("update"), el("p", {}, texts.device.newer(el("button", { onclick: action }, texts.device.update))));
}
