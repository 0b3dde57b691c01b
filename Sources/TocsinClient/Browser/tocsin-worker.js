// tocsin-worker.js 0.1.0: shows pushes of Tocsin. Serve it from your own origin: a service worker must be the page's.

/** What a worker that begins with other things says beforehand: `waits`, and the `address` that a push opens. */
const own = self.tocsinWorker ?? {};

self.addEventListener("install", () => own.waits || self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));

self.addEventListener("push", (event) => {
  let push = {};
  try {
    push = event.data?.json() ?? {};
  } catch {
    // A push that is no JSON is shown all the same, because browsers end subscriptions that show nothing.
  }
  event.waitUntil(receive(push));
});

async function receive(push) {
  const { title = "New message", ...options } = push.notification ?? {};
  if (typeof push.app_badge === "number") await setBadge(push.app_badge);
  await tell({ type: "tocsin-push", push });
  if (!push.silent) return self.registration.showNotification(title, { ...options, renotify: false });
  // Safari revokes a subscription after a few pushes without a notification: it is shown without a sound, then closed.
  const tag = "tocsin-silent";
  await self.registration.showNotification(title, { tag, silent: true, data: options.data });
  for (const shown of await self.registration.getNotifications({ tag })) shown.close();
}

async function setBadge(number) {
  try {
    await (number > 0 ? self.navigator.setAppBadge?.(number) : self.navigator.clearAppBadge?.());
  } catch {
    // Only installed web apps have badges.
  }
}

/** The pages of this worker; none where the browser cannot tell: a notification is shown all the same. */
async function pages() {
  try {
    return await self.clients.matchAll({ type: "window", includeUncontrolled: true });
  } catch {
    return [];
  }
}

/** Tells all pages, as far as they can be told. */
async function tell(message, all) {
  for (const page of all ?? (await pages())) {
    try {
      page.postMessage(message);
    } catch {
      // A page that is going away.
    }
  }
}

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(open(event.notification.data ?? {}, event.action));
});

/** Tells the pages what was pressed, and shows the message's link: in a window at that path, else in a new one. */
async function open(data, action) {
  const all = await pages();
  await tell({ type: "tocsin-click", action, data }, all);
  const button = action && data.links?.[action];
  if (button && (await press(button))) return;
  const address = own.address?.(data);
  const url = link(button || address || data.url);
  const path = (text) => new URL(text).pathname;
  const isOwn = url.origin === self.location.origin;
  const isFree = address !== undefined || !data.url;
  const page = isOwn ? (all.find((page) => path(page.url) === path(url)) ?? (!button && isFree ? all[0] : null)) : null;
  if (page && address !== undefined) page.postMessage({ type: "tocsin-open", address });
  if (page) return page.focus();
  return self.clients.openWindow(url.href);
}

/** Does what a button is for, by a link that is made for this person; where that fails the message is opened. */
async function press(url) {
  try {
    await fetch(url, { method: "POST", mode: "no-cors", credentials: "omit", referrerPolicy: "no-referrer" });
    return true;
  } catch {
    return false;
  }
}

/** Only links of one's own origin and https links are opened. */
function link(text) {
  try {
    const url = new URL(text || "/", self.location.origin);
    // The origin of a blob: is that of who made it.
    const { origin, protocol } = self.location;
    if (url.protocol === "https:" || (url.origin === origin && url.protocol === protocol)) return url;
  } catch {
    // No link: the page itself.
  }
  return new URL("/", self.location.origin);
}

// The push service has ended the subscription. Pages are told, and register the new one; without a page the next load
// does, because registerWebPush compares what is registered with what there is.
self.addEventListener("pushsubscriptionchange", (event) => {
  event.waitUntil(renew(event));
});

async function renew(event) {
  const options = event.oldSubscription?.options;
  try {
    if (!event.newSubscription && options) await self.registration.pushManager.subscribe(options);
  } finally {
    await tell({ type: "tocsin-subscription" });
  }
}
