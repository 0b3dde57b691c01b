// The script of ops/zabbix/tocsin.yaml, run as Zabbix runs it: the bodies that it posts are those
// that the receiver `zabbix` is tested with.
"use strict";
const assert = require("node:assert");
const fs = require("node:fs");
const path = require("node:path");
const test = require("node:test");

const root = path.join(__dirname, "..", "..");
const lines = fs.readFileSync(path.join(root, "ops/zabbix/tocsin.yaml"), "utf8").split("\n");
const first = lines.findIndex((line) => line.trim() === "script: |") + 1;
const end = lines.findIndex((line, index) => index >= first && line !== "" && !line.startsWith("        "));
const script = new Function("value", "HttpRequest", lines.slice(first, end).join("\n"));
const names = lines.flatMap((line) => (/^ {8}- name: (\w+)$/.exec(line) ?? []).slice(1));
const recorded = path.join(root, "Tests/TocsinReceiversTests/Receivers/zabbix");

// What is posted with these parameters; all others are macros that Zabbix did not fill.
function posted(given, status = 202) {
  const parameters = Object.fromEntries(names.map((name) => [name, `{${name.toUpperCase()}}`]));
  const sent = { headers: [] };
  class HttpRequest {
    addHeader(line) {
      sent.headers.push(line);
    }
    post(url, body) {
      Object.assign(sent, { url, body: JSON.parse(body) });
      return "the answer";
    }
    getStatus() {
      return status;
    }
  }
  const set = { tocsin_url: "https://tocsin.example/", tocsin_key: "k".repeat(32) };
  sent.result = script(JSON.stringify({ ...parameters, ...set, ...given }), HttpRequest);
  return sent;
}

for (const file of fs.readdirSync(recorded)) {
  const body = JSON.parse(fs.readFileSync(path.join(recorded, file), "utf8")).request.body;
  const known = Object.fromEntries(Object.entries(body).filter(([name]) => names.includes(name)));
  test(`${file} is what the script posts`, () => {
    for (const name of ["event_value", "event_id"]) assert.ok(names.includes(name), name);
    const sent = posted(known);
    assert.deepStrictEqual(sent.body, known);
    assert.strictEqual(sent.url, "https://tocsin.example/in/template");
    assert.ok(sent.headers.includes(`Authorization: Bearer ${"k".repeat(32)}`));
    assert.strictEqual(sent.result, "OK");
  });
}

test("a link leads to the event where Zabbix' own address is known", () => {
  const sent = posted({ zabbix_url: "https://zabbix.example/", trigger_id: "7", event_id: "4711" });
  assert.strictEqual(sent.body.url, "https://zabbix.example/tr_events.php?triggerid=7&eventid=4711");
});

test("what is not taken is an error, so that Zabbix sends it again", () => {
  assert.throws(() => posted({}, 503), /503.*the answer/);
  assert.throws(() => posted({ tocsin_key: "{$TOCSIN.KEY}" }), /TOCSIN\.KEY/);
});
