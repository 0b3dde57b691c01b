// The console's service worker: keeps the console's own files, so that it opens without a network. The server fills in
// what stands in braces, and appends tocsin-worker.js, which shows the pushes.
{
  const base = "{base}";
  const kept = "tocsin-console-{release}";
  const files = "{files}".split(" ").filter(Boolean);
  /** So many milliseconds a browser's storage may take; then the server is asked. */
  const PATIENCE = 3000;
  const views = "{views}".split(" ").map((view) => view.split("/"));

  self.tocsinWorker = {
    // A newer version begins when somebody presses "Update", never in the middle of what they write.
    waits: true,
    address: ({ messageId }) => `${base}/${messageId ? `messages/${messageId}` : ""}`,
  };

  self.addEventListener("install", (event) => {
    if (files.length > 0) event.waitUntil(keep());
  });
  self.addEventListener("activate", (event) => event.waitUntil(forget()));
  self.addEventListener("message", ({ data }) => data === "tocsin-update" && self.skipWaiting());
  self.addEventListener("fetch", (event) => {
    const { request } = event;
    const { origin, pathname } = new URL(request.url);
    if (files.length === 0 || request.method !== "GET" || origin !== self.location.origin) return;
    if (request.mode === "navigate" && isView(pathname)) event.respondWith(answer(base + "/", request));
    else if (files.includes(pathname)) event.respondWith(answer(pathname, request));
  });

  async function keep() {
    const cache = await caches.open(kept);
    await cache.addAll(files.map((file) => new Request(file, { cache: "reload" })));
    const page = await fetch(base + "/", { headers: { accept: "text/html" }, cache: "reload" });
    if (!page.ok) throw new Error(`The page answered with status ${page.status}.`);
    await cache.put(base + "/", page);
  }

  async function forget() {
    for (const name of await caches.keys()) if (name.startsWith("tocsin-console-") && name !== kept) await caches.delete(name);
  }

  async function answer(file, request) {
    const late = new Promise((done) => setTimeout(done, PATIENCE));
    const stored = find(file).catch(() => undefined);
    const found = await Promise.race([stored, late]);
    // Without a network a slow storage is waited for.
    return found ?? fetch(request).catch(async (error) => (await stored) ?? Promise.reject(error));
  }

  async function find(file) {
    const cache = await caches.open(kept);
    return cache.match(file, { ignoreVary: true });
  }

  function isView(path) {
    const parts = path.slice(base.length).split("/");
    return views.some((view) => (view.length === parts.length || (view.at(-1) === "*" && view.length < parts.length))
      && view.every((part, index) => part === "*" || part === parts[index]));
  }
}

