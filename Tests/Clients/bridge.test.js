// The cases of bridge.cases.js in node: node --test Tests/Clients/bridge.test.js
const assert = require("node:assert");
const { readFileSync } = require("node:fs");
const { join } = require("node:path");
const test = require("node:test");

const browser = join(__dirname, "../../Sources/TocsinClient/Browser");
// Read as a module whatever this node takes a .js file for.
const load = (file) => import("data:text/javascript;base64," + readFileSync(file).toString("base64"));

test("the helpers for web views", async (group) => {
  const helpers = await load(join(browser, "tocsin.js"));
  const { cases, further } = await load(join(__dirname, "bridge.cases.js"));
  assert.strictEqual(cases.length, 15);
  for (const [name, run] of [...cases, ...further]) {
    await group.test(name, () => {
      try {
        run(helpers, (properties) => (globalThis.window = properties));
      } finally {
        delete globalThis.window;
      }
    });
  }
  await group.test("without a window there is no platform, no token and no bridge, and nothing throws", () => {
    assert.strictEqual(helpers.getMobilePlatform(), null);
    assert.strictEqual(helpers.isMobileWebView(), false);
    assert.strictEqual(helpers.getNativeAuthToken(), null);
    assert.strictEqual(helpers.sendBridgeMessage("navigate", { route: "/" }), false);
    assert.deepStrictEqual(helpers.canPush(), { ok: false, reason: "There is no window." });
  });
});

test("tocsin.js keeps its size, and its files say one version", () => {
  const { gzipSync } = require("node:zlib");
  const script = readFileSync(join(browser, "tocsin.js"));
  assert.ok(script.length <= 32 * 1024, `${script.length} bytes`);
  assert.ok(gzipSync(script, { level: 9 }).length <= 10 * 1024, `${gzipSync(script, { level: 9 }).length} bytes compressed`);
  assert.ok(readFileSync(join(browser, "tocsin-worker.js")).length <= 6000);
  const versions = ["tocsin.js", "tocsin-worker.js", "tocsin.d.ts"].map(
    (name) => readFileSync(join(browser, name), "utf8").match(/^\/\/ \S+ (\d+\.\d+\.\d+):/)[1],
  );
  assert.strictEqual(new Set(versions).size, 1, versions.join(" "));
});
