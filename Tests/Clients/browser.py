"""Opens a page in headless Chromium that follows a topic of the built server: with `fetch` from another origin, with
`EventSource` through a proxy that adds the credentials, and with WebSockets in both protocols. Use:
browser.py BINARY [CHROMIUM]"""

import http.client
import http.server
import json
import os
import queue
import shutil
import subprocess
import sys
import tempfile
import threading
import urllib.parse

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
  await tell("publish", "fetch");
  let text = "";
  while (!text.includes("\\n\\n")) {
    const {value, done} = await reader.read();
    if (done) throw new Error("ended: " + text);
    text += value.replace(/^:\\n\\n/, "");
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
await tell("end", null);
</script>"""


class Page(http.server.BaseHTTPRequestHandler):
    """The page, what it tells, and a proxy to the server that adds the credentials."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def do_POST(self):
        told = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.told.put((told["name"], told["value"]))
        self._answer(204, b"")

    def do_GET(self):
        if self.path.startswith("/graphql"):
            self._proxy()
        elif self.path == "/":
            self._answer(200, PAGE.replace("SETTINGS", json.dumps(self.server.settings)).encode(), "text/html")
        else:
            self._answer(404, b"")

    def _answer(self, status, body, kind="text/plain"):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _proxy(self):
        server = urllib.parse.urlparse(self.server.settings["server"])
        connection = http.client.HTTPConnection(server.hostname, server.port, timeout=60)
        headers = {name: self.headers[name] for name in ("Accept", "Last-Event-ID") if name in self.headers}
        connection.request("GET", self.path, headers={**headers, "Authorization": self.server.settings["token"]})
        answer = connection.getresponse()
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.headers["Content-Type"])
        self.send_header("Connection", "close")
        self.end_headers()
        try:
            while piece := answer.read1(65536):
                self.wfile.write(piece)
                self.wfile.flush()
        except OSError:
            pass
        connection.close()
        self.close_connection = True


class PageServer(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        """A browser drops connections as it likes."""


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
        seen.add(name)
        is_good = value["ok"] and EXPECTED[name](value["value"])
        checks.report(name, None if is_good else AssertionError(json.dumps(value)))
    for name in EXPECTED.keys() - seen:
        checks.report(name, AssertionError("the page told nothing of it"))


def main():
    binary = sys.argv[1]
    chromium = sys.argv[2] if len(sys.argv) > 2 else shutil.which("chromium")
    checks = Checks()
    page = PageServer(("127.0.0.1", 0), Page)
    origin = f"http://127.0.0.1:{page.server_port}"
    server = Server(binary, "--allowed-origins", origin)
    folder = tempfile.mkdtemp(prefix="tocsin-chromium-")
    browser = None
    try:
        token = server.add_user("alice")
        topic = server.create_topic(token, "alerts")
        page.settings = {"server": server.address, "token": token, "subscription": ON_CREATE_MESSAGE}
        page.told = queue.Queue()
        threading.Thread(target=page.serve_forever, daemon=True).start()
        flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"]
        flags += ["--disable-background-networking", "--disable-component-update", f"--user-data-dir={folder}"]
        browser = subprocess.Popen(
            [chromium, *flags, origin + "/"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )
        watch(page, server, token, topic, checks)
    finally:
        if browser is not None:
            os.killpg(browser.pid, 15)
            browser.wait(20)
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)
    checks.end()


main()
