"""Opens pages in headless Chromium that use tocsin.js as the built server serves it: the helpers' cases of
bridge.cases.js, the client through lost answers and kills of the server, and tokens that an app's script gives to pages.
Use: pages.py BINARY [CHROMIUM]"""

import json
import os
import pathlib
import queue
import random
import shutil
import subprocess
import sys
import tempfile

from pageserver import Chromium, PageServer
from tocsin import Checks, Server

TOKENS = 10_000
HOST, ELSEWHERE = "shop.mallnline.com", "mallnline.com.evil.example"

TELL = """
const tell = (name, value) => fetch("/tell", {method: "POST", body: JSON.stringify({name, value})});
const check = async (name, body) => {
  try { await tell(name, {ok: true, value: await body()}); }
  catch (error) { await tell(name, {ok: false, value: String(error.code ?? "") + " " + String(error.stack ?? error)}); }
};
"""

CLIENT_PAGE = (
    """<!doctype html><meta charset="utf-8"><script type="module">
const settings = SETTINGS;"""
    + TELL
    + """
import { cases, further, used } from "/bridge.cases.js";
const kit = await import(settings.server + "/client/tocsin.js").catch((error) => ({ error }));
await check("tocsin.js is imported from the server by a page of another origin", () => {
  if (kit.error) throw kit.error;
  return Object.keys(kit).length;
});
const world = (properties) => {
  for (const name of used) delete window[name];
  Object.assign(window, properties);
};
for (const [name, run] of [...cases, ...further]) await check(name, () => { run(kit, world); return true; });
world({});

const { server: url, token, topic } = settings;
const client = kit.createTocsin({ url, token });
await check("a query answers, and a refusal has its code", async () => {
  const { me } = await client.query("{ me { userId } }");
  const refused = await kit.createTocsin({ url, token: "wrong" }).query("{ me { userId } }").catch((error) => error.code);
  const invalid = await client.mutate("mutation { nothing }").catch((error) => error.code);
  return [typeof me.userId, refused, invalid];
});
await check("publish makes one message although an answer is lost", async () => {
  let calls = 0;
  const losing = async (...all) => {
    const answer = await fetch(...all);
    calls += 1;
    if (calls === 1) throw new TypeError("lost");
    return answer;
  };
  const careful = kit.createTocsin({ url, token, fetch: losing, random: () => 0 });
  const first = await careful.publish(topic, { title: "once", data: { n: 1 } });
  const second = await careful.publish(topic, { title: "twice" });
  return [calls, second.number - first.number, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab]/.test(first.id)];
});
await check("a mutation whose answer is lost is not repeated", async () => {
  let calls = 0;
  const losing = async () => { calls += 1; throw new TypeError("lost"); };
  const code = await kit.createTocsin({ url, token, fetch: losing }).mutate("mutation { x }").catch((error) => error.code);
  return [code, calls];
});
await check("a feed goes on through a kill of the server, each message once and in order", async () => {
  const [heard, states] = [[], []];
  const stop = new AbortController();
  const onState = ({ state }) => {
    states.push(state);
    if (state === "live" && heard.length === 0) tell("publish", "feed 1");
  };
  for await (const message of client.follow(topic, { signal: stop.signal, onState })) {
    heard.push(message.title);
    if (heard.length === 1) await tell("restart", ["feed 2", "feed 3"]);
    if (heard.length === 3) await tell("publish", "feed 4");
    if (heard.length === 4) stop.abort();
  }
  return [heard, states.includes("waiting"), states.at(-1)];
});
await check("a feed with a place goes on behind what was handled", async () => {
  const { cursor } = await client.publish(topic, { title: "before" });
  for (const title of ["kept 1", "kept 2", "kept 3"]) await client.publish(topic, { title });
  const heard = [];
  for await (const message of client.follow(topic, { after: cursor, place: "inbox" })) {
    heard.push(message.title);
    if (heard.length === 2) break; // The second one is not handled.
  }
  for await (const message of client.follow(topic, { place: "inbox" })) {
    heard.push(message.title);
    if (heard.length === 4) break;
  }
  return heard;
});
await check("the feed of all own topics resumes too", async () => {
  const { cursor } = await client.publish(topic, { title: "own 0" });
  await client.publish(topic, { title: "own 1" });
  for await (const message of client.follow(null, { after: cursor })) return message.title;
});
await check("without a position it begins now, and knows its place before the first message", async () => {
  const onState = ({ state }) => state === "live" && tell("publish", "own 2");
  for await (const message of client.follow(null, { place: "all", onState })) {
    return [message.title, localStorage.getItem("tocsin.place.all") !== null];
  }
});
const spy = (sent) => class extends WebSocket {
  send(text) { sent.push(JSON.parse(text)); super.send(text); }
};
await check("a reader who is behind is parked and gets all in order", async () => {
  const sent = [];
  const own = kit.createTocsin({ url, token, WebSocket: spy(sent) });
  const { cursor, number } = await client.publish(topic, { title: "start" });
  for (let group = 0; group < 15; group += 1) {
    await Promise.all(Array.from({ length: 20 }, () => client.publish(topic, { title: "many" })));
  }
  const numbers = [];
  for await (const message of own.follow(topic, { after: cursor })) {
    if (numbers.length === 0) await new Promise((resolve) => setTimeout(resolve, 1500));
    numbers.push(message.number - number);
    if (numbers.length === 300) break;
  }
  own.close();
  const types = sent.map(({ type }) => type);
  return [numbers.every((each, index) => each === index + 1), types.filter((type) => type === "subscribe").length,
    types.includes("complete")];
});
await check("a refused token is asked for once more, and a newer one is shown on the open socket", async () => {
  const [reasons, sent, states] = [[], [], []];
  const provider = ({ reason }) => {
    reasons.push(reason);
    return reasons.length === 1 ? "wrong" : { token, expiresAt: Date.now() + 4000 };
  };
  const own = kit.createTocsin({ url, token: provider, WebSocket: spy(sent) });
  await own.query("{ me { userId } }");
  const onState = ({ state }) => states.push(state);
  const feed = own.follow(topic, { onState });
  const next = feed.next();
  await new Promise((resolve) => setTimeout(resolve, 4500));
  await client.publish(topic, { title: "still there" });
  const { value } = await next;
  own.close();
  const renewals = sent.filter(({ type, payload }) => type === "ping" && payload?.authorization).length;
  return [reasons.slice(0, 3), renewals > 0, states.includes("waiting"), value.title];
});
await check("a feed's refusals end it with their code", async () => {
  const codes = [];
  for (const [topicId, options] of [["nothing", {}], [topic, { after: "forged" }]]) {
    try {
      for await (const message of client.follow(topicId, options)) codes.push(message.title);
    } catch (error) {
      codes.push(error.code);
    }
  }
  const out = kit.createTocsin({ url, token: () => null });
  codes.push(await out.query("{ me { userId } }").catch((error) => error.code));
  return codes;
});
await check("close ends feeds and subscriptions", async () => {
  const own = kit.createTocsin({ url, token });
  const events = own.subscribe("subscription { onCreateMessage { title } }", {}, {
    onState: ({ state }) => state === "live" && tell("publish", "subscribed"),
  });
  const heard = (await events.next()).value.onCreateMessage.title;
  const feed = own.follow(topic).next();
  setTimeout(own.close, 200);
  return [heard, (await feed).done, (await events.next()).done];
});
await check("without a service worker's permission nothing is asked on page load", async () => {
  const can = kit.canPush();
  const outcome = await kit.registerWebPush(client, { userGesture: false });
  return [typeof can.ok, ["needs-gesture", "denied", "unavailable"].includes(outcome.state)];
});
await check("the service worker is installed and takes the page", async () => {
  const taken = new Promise((resolve) => (navigator.serviceWorker.oncontrollerchange = resolve));
  const registration = await navigator.serviceWorker.register("/tocsin-worker.js");
  await taken;
  const { scriptURL } = navigator.serviceWorker.controller;
  await registration.unregister();
  return scriptURL;
});
client.close();
location.href = settings.shop;
</script>"""
)

EXPECTED = {
    "tocsin.js is imported from the server by a page of another origin": lambda value: value >= 12,
    "a query answers, and a refusal has its code": lambda value: value[:2] == ["string", "UNAUTHENTICATED"]
    and value[2] == "GRAPHQL_VALIDATION_FAILED",
    "publish makes one message although an answer is lost": lambda value: value == [3, 1, True],
    "a mutation whose answer is lost is not repeated": lambda value: value == ["CONNECTION_FAILED", 1],
    "a feed goes on through a kill of the server, each message once and in order": lambda value: value
    == [[f"feed {number}" for number in range(1, 5)], True, "live"],
    "a feed with a place goes on behind what was handled": lambda value: value
    == ["kept 1", "kept 2", "kept 2", "kept 3"],
    "the feed of all own topics resumes too": lambda value: value == "own 1",
    "without a position it begins now, and knows its place before the first message": lambda value: value
    == ["own 2", True],
    "a reader who is behind is parked and gets all in order": lambda value: value[0] and value[1] >= 2 and value[2],
    "a refused token is asked for once more, and a newer one is shown on the open socket": lambda value: value
    == [["first", "refused", "expiring"], True, False, "still there"],
    "a feed's refusals end it with their code": lambda value: value == ["TOPIC_NOT_FOUND", "BAD_CURSOR", "SIGNED_OUT"],
    "close ends feeds and subscriptions": lambda value: value == ["subscribed", True, True],
    "the service worker is installed and takes the page": lambda value: value.endswith("/tocsin-worker.js"),
    "without a service worker's permission nothing is asked on page load": lambda value: value == ["boolean", True],
}


def make_certificate(folder):
    path = os.path.join(folder, "certificate.pem")
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={HOST}"]
    subprocess.run([*command, "-keyout", path, "-out", path + ".crt"], check=True, capture_output=True)
    with open(path, "a") as file:
        file.write(open(path + ".crt").read())
    return path


def make_tokens(seed):
    """Tokens as people and attackers write them; the seed is printed."""
    print(f"tokens of seed {seed}", flush=True)
    chance = random.Random(seed)
    tokens = [
        "</script><script>window.broken=1</script>", "<!--<script>", '";window.broken=1;"', "\\", "\\\";window.broken=1//",
        "${window.broken=1}", "\u2028window.broken=1", "\u2029", "\r\nwindow.broken=1", "\x00", "&quot;", "]]>", "' onload='",
        "eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJhIn0.c2ln", "\U0001f44d", "a" * 8000,
    ]
    often = "<>/&'\"\\`$;\n\r\t\x00\u2028\u2029scriptSCRIPT!-"
    while len(tokens) < TOKENS:
        length = chance.randrange(1, 40)
        letters = []
        while len(letters) < length:
            code = ord(chance.choice(often)) if chance.random() < 0.5 else chance.randrange(0x110000)
            if not 0xD800 <= code < 0xE000:
                letters.append(chr(code))
        tokens.append("".join(letters))
    return tokens


def token_page(binary, tokens, then):
    """A page with the app's script for each token, and what is read behind each."""
    command = [binary, "client", "bridge", "--platform", "ios", "--json", "--allow", "*.mallnline.com"]
    done = subprocess.run(command, input=json.dumps(tokens), capture_output=True, text=True, timeout=120, check=True)
    scripts = json.loads(done.stdout)
    read = "<script>got.push(window.__NGWENYA_TOKEN__);delete window.__NGWENYA_TOKEN__</script>"
    inline = "\n".join(f"<script>{script}</script>{read}" for script in scripts)
    return f"""<!doctype html><meta charset="utf-8"><script>window.got=[]</script>
{inline}
<script type="module">{TELL}
import {{ getMobilePlatform }} from "/tocsin.js";
await tell("tokens", {{ host: location.hostname, got: got.map((token) => token ?? null), platform: getMobilePlatform(),
  broken: window.broken ?? null }});
location.href = "{then}";
</script>""".encode("utf-8", "surrogatepass")


def watch(told, server, token, topic, tokens, checks, names):
    """Takes what the pages tell until they end; publishes when one asks."""
    seen = set()
    while True:
        try:
            name, value = told.get(timeout=90)
        except queue.Empty:
            break
        if name == "end":
            break
        if name == "publish":
            server.publish(token, topic, value)
        elif name == "restart":
            server.kill_and_restart()
            for title in value:
                server.publish(token, topic, title)
        elif name == "tokens":
            seen.add(value["host"])
            judge_tokens(value, tokens, checks)
        else:
            seen.add(name)
            is_good = value["ok"] and EXPECTED.get(name, lambda value: value is True)(value["value"])
            checks.report(name, None if is_good else AssertionError(json.dumps(value)))
    for name in [*names, *EXPECTED, HOST, ELSEWHERE]:
        if name not in seen:
            checks.report(name, AssertionError("no page told of it"))


def judge_tokens(value, tokens, checks):
    wrong = [index for index, token in enumerate(tokens) if index >= len(value["got"]) or value["got"][index] != token]
    if value["host"] == HOST:
        is_good = not wrong and value["platform"] == "ios"
        name = f"{len(tokens)} tokens of an app are read back equal by its page"
    else:
        is_good = all(token is None for token in value["got"]) and value["platform"] is None
        name = "a page of another host gets no token and no platform"
    detail = {**value, "got": len(value["got"]), "wrong": [(tokens[index], value["got"][index]) for index in wrong[:2]]}
    checks.report(name, None if is_good else AssertionError(json.dumps(detail)))
    checks.report(f"no token of {value['host']} has run", None if value["broken"] is None else AssertionError(value["broken"]))


def main():
    binary = sys.argv[1]
    chromium = sys.argv[2] if len(sys.argv) > 2 else shutil.which("chromium")
    checks, told = Checks(), queue.Queue()
    folder = tempfile.mkdtemp(prefix="tocsin-pages-")
    subprocess.run([binary, "client", "js", "--out", folder + "/js"], check=True, capture_output=True)
    cases = pathlib.Path(__file__).with_name("bridge.cases.js").read_bytes()
    names = [line.split('"')[1] for line in cases.decode().splitlines() if line.startswith('  ["')]
    script, worker = (
        ("text/javascript", pathlib.Path(folder, "js", name).read_bytes()) for name in ("tocsin.js", "tocsin-worker.js")
    )
    tokens = make_tokens(int.from_bytes(os.urandom(4), "big"))
    secure = {
        "/tocsin.js": script,
        HOST + "/": ("text/html", token_page(binary, tokens, f"https://{ELSEWHERE}/")),
        ELSEWHERE + "/": ("text/html", token_page(binary, tokens, "/end")),
        "/end": ("text/html", f"<script type=module>{TELL} await tell('end', null);</script>".encode()),
    }
    shop = PageServer(told, secure, make_certificate(folder))
    pages = PageServer(told, {"/bridge.cases.js": ("text/javascript", cases), "/tocsin-worker.js": worker})
    server = Server(binary, "--allowed-origins", pages.origin)
    browser = None
    try:
        token = server.add_user("alice")
        topic = server.create_topic(token, "alerts")
        settings = {"server": server.address, "token": token, "topic": topic, "shop": f"https://{HOST}/"}
        pages.files["/"] = ("text/html", CLIENT_PAGE.replace("SETTINGS", json.dumps(settings), 1).encode())
        hosts = ",".join(f"MAP {host}:443 127.0.0.1:{shop.server_port}" for host in (HOST, ELSEWHERE))
        flags = ["--ignore-certificate-errors", "--host-resolver-rules=" + hosts]
        browser = Chromium(chromium, folder + "/browser", pages.origin + "/", *flags)
        watch(told, server, token, topic, tokens, checks, names)
    finally:
        if browser is not None:
            browser.end()
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)
    checks.end()


main()
