"""Opens a page in headless Chromium that follows a topic of the built server: with `fetch` from another origin, with
`EventSource` through a proxy that adds the credentials, and with WebSockets in both protocols, also through kills of the
server. In a frame of it, a page
of an origin that is not listed tries the same, and what a plain form can. Use: browser.py BINARY [CHROMIUM]"""

import collections
import http.client
import json
import queue
import shutil
import sys
import tempfile
import time
import urllib.parse

from pageserver import Chromium, Page, PageServer
from tocsin import ON_CREATE_MESSAGE, Checks, Server

PAGE = """<!doctype html><meta charset="utf-8"><script type="module">
const settings = SETTINGS;
const tell = (name, value) => fetch("/tell", {method: "POST", body: JSON.stringify({name, value})});
const check = async (name, body) => {
  try { await tell(name, {ok: true, value: await body()}); }
  catch (error) { await tell(name, {ok: false, value: String(error)}); }
};
const body = JSON.stringify({query: settings.subscription});
const headers = {authorization: "Bearer " + settings.token, "content-type": "application/json"};

await check("fetch from another origin is allowed", async () => {
  const answer = await fetch(settings.server + "/graphql", {
    method: "POST", headers: {...headers, accept: "application/graphql-response+json"},
    body: JSON.stringify({query: "{ __typename }"}),
  });
  return (await answer.json()).data.__typename;
});
await check("fetch follows a stream of events", async () => {
  const answer = await fetch(settings.server + "/graphql", {
    method: "POST", headers: {...headers, accept: "text/event-stream"}, body,
  });
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "", isLive = false;
  while (!text.includes("\\n\\n")) {
    const {value, done} = await reader.read();
    if (done) throw new Error("ended: " + text);
    text += value;
    if (!isLive && text.includes(": live\\n\\n")) {
      isLive = true;
      await tell("publish", "fetch");
    }
    // Comments: one says that the stream is live, others that it is alive.
    text = text.replace(/^:[^\\n]*\\n\\n/gm, "");
  }
  await reader.cancel();
  return text;
});
await check("EventSource hears events with their ids", () => new Promise(async (resolve, reject) => {
  const source = new EventSource("/graphql?query=" + encodeURIComponent(settings.subscription));
  source.onerror = () => reject(new Error("error, state " + source.readyState));
  source.addEventListener("next", (event) => { source.close(); resolve({id: event.lastEventId, data: event.data}); });
  source.onopen = () => tell("publish", "EventSource");
}));
await check("EventSource hears a query and complete", () => new Promise((resolve, reject) => {
  const heard = [];
  const source = new EventSource("/graphql?query=" + encodeURIComponent("{ __typename }"));
  source.onerror = () => reject(new Error("error after " + heard));
  source.addEventListener("next", (event) => heard.push(event.data));
  source.addEventListener("complete", () => { source.close(); resolve(heard); });
}));
await check("EventSource without credentials ends at once", () => new Promise((resolve) => {
  const source = new EventSource(settings.server + "/graphql?query=" + encodeURIComponent("{ __typename }"));
  source.onerror = () => resolve(source.readyState);
}));
const socket = (path, protocols, opened, heard) => new Promise((resolve, reject) => {
  const socket = new WebSocket(settings.server.replace("http", "ws") + path, protocols);
  socket.onclose = (event) => reject(new Error("closed " + event.code + " " + event.reason));
  socket.onopen = () => opened(socket);
  socket.onmessage = (event) => {
    const result = heard(socket, JSON.parse(event.data));
    if (result === undefined) return;
    socket.onclose = (event) => resolve({result, code: event.code, protocol: socket.protocol});
    socket.close(1000);
  };
});
await check("a socket speaks graphql-transport-ws", () => socket(
  "/graphql", ["graphql-transport-ws"],
  (socket) => socket.send(JSON.stringify({type: "connection_init", payload: {Authorization: settings.token}})),
  (socket, message) => {
    if (message.type === "connection_ack") {
      socket.send(JSON.stringify({id: "1", type: "subscribe", payload: {query: settings.subscription}}));
      socket.send(JSON.stringify({type: "ping"}));
    }
    if (message.type === "pong") tell("publish", "graphql-transport-ws");
    if (message.type === "next") return message.payload.data.onCreateMessage.title;
  },
));
const encoded = btoa(JSON.stringify({host: "h", Authorization: settings.token}))
  .replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
await check("a socket speaks AppSync's protocol as Amplify opens it", () => socket(
  "/graphql/realtime", ["graphql-ws", "header-" + encoded],
  (socket) => socket.send(JSON.stringify({type: "connection_init"})),
  (socket, message) => {
    if (message.type === "connection_ack") socket.send(JSON.stringify({
      id: "a-1", type: "start", payload: {data: JSON.stringify({query: settings.subscription, variables: {}})},
    }));
    if (message.type === "start_ack") tell("publish", "AppSync");
    if (message.type === "data") return message.payload.data.onCreateMessage.title;
  },
));
const speak = (operations, after) => new Promise((resolve, reject) => {
  // A small client: one socket, operations by their ids, each to its end.
  const socket = new WebSocket(settings.server.replace("http", "ws") + "/graphql", "graphql-transport-ws");
  const heard = operations.map(() => []);
  let left = operations.length;
  socket.onopen = () => socket.send(JSON.stringify({type: "connection_init", payload: {Authorization: settings.token}}));
  socket.onclose = (event) => left ? reject(new Error("closed " + event.code + " " + event.reason)) : resolve(heard);
  socket.onmessage = (event) => {
    const message = JSON.parse(event.data);
    if (message.type === "connection_ack") operations.forEach((payload, index) =>
      socket.send(JSON.stringify({id: String(index), type: "subscribe", payload})));
    if (message.type === "ping") socket.send(JSON.stringify({type: "pong"}));
    if (!("id" in message)) return;
    const index = Number(message.id);
    if (message.type !== "complete") heard[index].push(message.payload);
    const isEnough = operations[index].wanted === heard[index].length;
    if (isEnough && message.type === "next") socket.send(JSON.stringify({id: message.id, type: "complete"}));
    if (message.type === "next" && !isEnough) return;
    left -= 1;
    if (left === 0) socket.close(1000);
  };
});
await check("a small client asks, writes, errs and resumes over one socket", async () => {
  const published = (title) => ({query: "mutation($i: CreateMessageInput!) { createMessage(input: $i) { cursor } }",
    variables: {i: {topicId: settings.topic, type: 0, title, body: ""}}});
  const [[first]] = await speak([published("before")]);
  await speak([published("missed 1"), published("missed 2")]);
  const follow = {query: "subscription($t: ID, $a: String) { onCreateMessage(topicId: $t, after: $a) { title } }",
    variables: {t: settings.topic, a: first.data.createMessage.cursor}, wanted: 2};
  const [[name], refused, replayed] = await speak([{query: "{ __typename }"}, {query: "{ nothing }"}, follow]);
  return {name: name.data.__typename, refused: refused[0][0].message,
    replayed: replayed.map((event) => event.data.onCreateMessage.title).sort()};
});
await check("fetch may send a listed field and use a route with its own method", async () => {
  const answer = await fetch(settings.server + "/api/notifications/settings", {
    method: "PATCH", headers: {...headers, "x-app-version": "7"}, body: JSON.stringify({enabled: true}),
  });
  return [answer.status, await answer.json()];
});
await check("fetch may not send a field that is not listed", () =>
  fetch(settings.server + "/graphql", {method: "POST", headers: {...headers, "x-other": "7"}, body}).then(
    () => "sent", (error) => error.name));
await check("a refusal can be read across origins", async () => {
  const answer = await fetch(settings.server + "/graphql", {
    method: "POST", headers: {"content-type": "application/json"}, body,
  });
  return [answer.status, (await answer.json()).errors[0].errorType];
});
const story = (name, heard) => (title, end) => {
  // A kill of the server in the middle, and messages while nobody can listen.
  heard.push(title);
  if (title === name + " 1") tell("restart", [name + " 2", name + " 3"]);
  if (title === name + " 3") tell("publish", name + " 4");
  if (title === name + " 4") end(heard);
};
await check("EventSource goes on through a kill of the server by itself", () => new Promise((resolve, reject) => {
  const heard = [], hear = story("source", heard);
  const source = new EventSource("/graphql?query=" + encodeURIComponent(settings.subscription));
  source.onopen = () => { if (heard.length === 0) tell("publish", "source 1"); };
  source.onerror = () => { if (source.readyState === 2) reject(new Error("gave up after " + heard)); };
  source.addEventListener("next", (event) => hear(JSON.parse(event.data).data.onCreateMessage.title, (all) => {
    source.close();
    resolve(all);
  }));
}));
await check("a socket goes on through a kill of the server by its cursor", () => new Promise((resolve) => {
  const heard = [], hear = story("socket", heard);
  const query = "subscription($a: String) { onCreateMessage(after: $a) { title cursor } }";
  let cursor = null, isOver = false;
  const open = () => {
    const socket = new WebSocket(settings.server.replace("http", "ws") + "/graphql", "graphql-transport-ws");
    const send = (message) => socket.send(JSON.stringify(message));
    socket.onopen = () => send({type: "connection_init", payload: {Authorization: settings.token}});
    socket.onclose = () => isOver || setTimeout(open, 100);
    socket.onmessage = (event) => {
      const message = JSON.parse(event.data);
      if (message.type === "connection_ack") {
        send({id: "1", type: "subscribe", payload: {query, variables: {a: cursor}}});
        send({type: "ping"});
      }
      if (message.type === "pong" && heard.length === 0) tell("publish", "socket 1");
      if (message.type !== "next") return;
      cursor = message.payload.data.onCreateMessage.cursor;
      hear(message.payload.data.onCreateMessage.title, (all) => { isOver = true; socket.close(1000); resolve(all); });
    };
  };
  open();
}));
const frame = document.createElement("iframe");
const elsewhere = new Promise((resolve) => addEventListener("message", (event) => resolve(event.data)));
frame.src = settings.elsewhere;
document.body.append(frame);
await elsewhere;
await tell("end", null);
</script>"""

# What a page of an origin that is not listed tries, in its reader's browser.
ELSEWHERE = """<!doctype html><meta charset="utf-8">
<iframe name="target"></iframe>
<form method="post" action="SERVER/graphql" target="target" enctype="text/plain">
<input name='{"query":"mutation { createTopic(input: {name: \\"forged\\"}) { id } }", "x":"' value='"}'></form>
<script type="module">
const settings = SETTINGS;
const tell = (name, value) => fetch("/tell", {method: "POST", body: JSON.stringify({name, value})});
const check = async (name, body) => {
  try { await tell(name, {ok: true, value: await body()}); }
  catch (error) { await tell(name, {ok: false, value: String(error)}); }
};
const headers = {authorization: "Bearer " + settings.token, "content-type": "application/json"};
const forged = JSON.stringify({query: "mutation { createTopic(input: {name: \\"forged\\"}) { id } }"});
await check("elsewhere: fetch is not allowed", () =>
  fetch(settings.server + "/graphql", {method: "POST", headers, body: forged}).then(
    () => "read", (error) => error.name));
await check("elsewhere: fetch without asking first brings nothing to read", async () => {
  const answer = await fetch(settings.server + "/graphql", {method: "POST", mode: "no-cors", body: forged});
  return [answer.type, answer.status];
});
for (const [path, protocol] of [["/graphql", "graphql-transport-ws"], ["/graphql/realtime", "graphql-ws"]]) {
  await check("elsewhere: a socket for " + protocol + " is not opened", () => new Promise((resolve) => {
    const socket = new WebSocket(settings.server.replace("http", "ws") + path, protocol);
    socket.onopen = () => resolve("opened");
    socket.onclose = (event) => resolve(event.code);
  }));
}
await check("elsewhere: a form is sent", () => new Promise((resolve) => {
  document.querySelector("iframe").onload = () => resolve("sent");
  document.querySelector("form").submit();
}));
parent.postMessage("done", "*");
</script>"""


class ProxyPage(Page):
    """A page of files, and a proxy to the server that adds the credentials."""

    def do_GET(self):
        if self.path.startswith("/graphql"):
            self._proxy()
        else:
            super().do_GET()

    def _proxy(self):
        server = urllib.parse.urlparse(self.server.settings["server"])
        connection = http.client.HTTPConnection(server.hostname, server.port, timeout=60)
        headers = {name: self.headers[name] for name in ("Accept", "Last-Event-ID") if name in self.headers}
        connection.request("GET", self.path, headers={**headers, "Authorization": self.server.settings["token"]})
        answer = connection.getresponse()
        # The head of a stream comes before it is live, and its first piece says that it is: a page hears of no comment.
        piece = answer.read1(65536)
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.headers["Content-Type"])
        self.send_header("Connection", "close")
        self.end_headers()
        try:
            while piece:
                self.wfile.write(piece)
                self.wfile.flush()
                piece = answer.read1(65536)
        except OSError:
            pass
        connection.close()
        self.close_connection = True


def show(server, page, settings):
    """Serves a page with its settings."""
    server.settings = settings
    page = page.replace("SETTINGS", json.dumps(settings)).replace("SERVER", settings["server"])
    server.files["/"] = ("text/html", page.encode())


EXPECTED = {
    "fetch from another origin is allowed": lambda value: value == "Query",
    "fetch follows a stream of events": lambda value: value.startswith("event: next\nid: ") and "fetch" in value,
    "EventSource hears events with their ids": lambda value: value["id"]
    and json.loads(value["data"])["data"]["onCreateMessage"]["cursor"] == value["id"],
    "EventSource hears a query and complete": lambda value: value == ['{"data":{"__typename":"Query"}}'],
    "EventSource without credentials ends at once": lambda value: value == 2,
    "a socket speaks graphql-transport-ws": lambda value: value
    == {"result": "graphql-transport-ws", "code": 1000, "protocol": "graphql-transport-ws"},
    "a socket speaks AppSync's protocol as Amplify opens it": lambda value: value
    == {"result": "AppSync", "code": 1000, "protocol": "graphql-ws"},
    "a small client asks, writes, errs and resumes over one socket": lambda value: value["name"] == "Query"
    and "nothing" in value["refused"]
    and value["replayed"] == ["missed 1", "missed 2"],
    "fetch may send a listed field and use a route with its own method": lambda value: value
    == [200, {"success": True, "enabled": True}],
    "fetch may not send a field that is not listed": lambda value: value == "TypeError",
    "a refusal can be read across origins": lambda value: value == [401, "UnauthorizedException"],
    "EventSource goes on through a kill of the server by itself": lambda value: value
    == [f"source {number}" for number in range(1, 5)],
    "a socket goes on through a kill of the server by its cursor": lambda value: value
    == [f"socket {number}" for number in range(1, 5)],
    "elsewhere: fetch is not allowed": lambda value: value == "TypeError",
    "elsewhere: fetch without asking first brings nothing to read": lambda value: value == ["opaque", 0],
    "elsewhere: a socket for graphql-transport-ws is not opened": lambda value: value == 1006,
    "elsewhere: a socket for graphql-ws is not opened": lambda value: value == 1006,
    "elsewhere: a form is sent": lambda value: value == "sent",
}


def watch(page, server, token, topic, checks):
    """Takes what the page tells until it ends; publishes when it asks."""
    seen = set()
    while True:
        try:
            name, value = page.told.get(timeout=60)
        except queue.Empty:
            break
        if name == "end":
            break
        if name == "publish":
            server.publish(token, topic, value)
            continue
        if name == "restart":
            server.kill_and_restart()
            for title in value:
                server.publish(token, topic, title)
            continue
        seen.add(name)
        is_good = value["ok"] and EXPECTED[name](value["value"])
        checks.report(name, None if is_good else AssertionError(json.dumps(value)))
    for name in EXPECTED.keys() - seen:
        checks.report(name, AssertionError("the page told nothing of it"))


def check_what_elsewhere_did(server, token, checks):
    """The other page's requests were answered as its browser cannot tell: refused, and without effect."""
    # The log folds refusals of one status within a second: a line says how many it stands for.
    refused = collections.Counter()
    for _ in range(50):
        refused.clear()
        for line in (json.loads(line) for line in open(server.log.name) if line.startswith("{")):
            if "count" in line:
                refused[str(line.get("status"))] += int(line["count"])
        if refused["415"] >= 2 and refused["403"] >= 3:
            break
        time.sleep(0.1)
    for name, status, count in (
        ("elsewhere: the form and the plain fetch are refused with 415", "415", 2),
        ("elsewhere: the question before fetch and both sockets are refused with 403", "403", 3),
    ):
        found = refused[status]
        checks.report(name, None if found == count else AssertionError(f"{found} in {refused}"))
    topics = server.post(token, "{ listTopics { items { name } } }")["listTopics"]["items"]
    names = [topic["name"] for topic in topics]
    checks.report("elsewhere: nothing was made", None if names == ["alerts"] else AssertionError(names))


def main():
    binary = sys.argv[1]
    chromium = sys.argv[2] if len(sys.argv) > 2 else shutil.which("chromium")
    checks = Checks()
    told = queue.Queue()
    page, elsewhere = (PageServer(told, {}, page=ProxyPage) for _ in range(2))
    server = Server(binary, "--allowed-origins", page.origin, "--allowed-headers", "x-app-version")
    folder = tempfile.mkdtemp(prefix="tocsin-chromium-")
    browser = None
    try:
        token = server.add_user("alice")
        topic = server.create_topic(token, "alerts")
        settings = {"server": server.address, "token": token, "topic": topic, "subscription": ON_CREATE_MESSAGE}
        show(page, PAGE, {**settings, "elsewhere": elsewhere.origin + "/"})
        show(elsewhere, ELSEWHERE, settings)
        browser = Chromium(chromium, folder, page.origin + "/")
        watch(page, server, token, topic, checks)
        check_what_elsewhere_did(server, token, checks)
    finally:
        if browser is not None:
            browser.end()
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)
    checks.end()


main()
