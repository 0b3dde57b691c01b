// Takes the place of the console's service worker where the console is switched off: it removes what was kept, and itself.
self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(end()));

async function end() {
  for (const name of await caches.keys()) if (name.startsWith("tocsin-console-")) await caches.delete(name);
  const subscription = await self.registration.pushManager?.getSubscription().catch(() => null);
  await subscription?.unsubscribe().catch(() => {});
  await self.registration.unregister();
}
