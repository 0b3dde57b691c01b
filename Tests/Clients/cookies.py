"""Opens pages in a headless browser that sign in by a cookie, and pages of other origins that try to act by it: another port of
the same host, which shares its cookies, and another site. Use: cookies.py BINARY [CHROMIUM or FIREFOX]"""

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

from tocsin import Checks, Server

PASSWORD = "correct horse battery"
TELL = """
const settings = SETTINGS;
const tell = (name, value) => fetch("/tell", {method: "POST", body: JSON.stringify({name, value})});
const check = async (name, body) => {
  try { await tell(name, {ok: true, value: await body()}); }
  catch (error) { await tell(name, {ok: false, value: String(error)}); }
};
const socket = (address) => new Promise((resolve) => {
  const opened = new WebSocket(address, "graphql-transport-ws");
  opened.onopen = () => opened.send(JSON.stringify({type: "connection_init"}));
  opened.onmessage = ({data}) => { resolve(JSON.parse(data).type); opened.close(); };
  opened.onclose = ({code}) => resolve(code);
});
const headers = {"content-type": "application/json", "x-tocsin-console": "1"};
const post = (path, body = {}) => fetch(path, {method: "POST", headers, body: JSON.stringify(body)});
"""
OWN = TELL + """
await check("a page of the server's own signs in and sees no cookie", async () => {
  const answer = await post("/auth/password", {username: "root", password: settings.password});
  return [answer.status, document.cookie];
});
await check("its requests count", async () => {
  const answer = await post("/graphql", {query: "{ me { username } }"});
  return [(await answer.json()).data.me.username, (await fetch("/auth/session", {headers})).status];
});
await check("without the header they do not", async () => {
  const body = JSON.stringify({query: "{ me { username } }"});
  return (await fetch("/graphql", {method: "POST", headers: {"content-type": "application/json"}, body})).status;
});
await check("its socket is let in", () => socket(settings.sockets));
location.href = settings.neighbour;
"""
OTHER = TELL + """
const place = location.hostname;
await check(place + ": sockets are not let in", async () =>
  [await socket(settings.sockets), await socket(settings.sockets + "/realtime")]);
const mutation = "mutation { createTopic(input: {name: \\"evil\\"}) { id } }";
for (const target of [settings.own, settings.server]) {
  for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"]) {
    const form = document.createElement("form");
    const frame = document.createElement("iframe");
    frame.name = form.target = "frame" + Math.random();
    Object.assign(form, {method: "POST", action: target + "/graphql", enctype: type});
    const field = document.createElement("input");
    Object.assign(field, {name: '{"query": ' + JSON.stringify(mutation) + ', "a": "', value: '"}'});
    form.append(field);
    document.body.append(frame, form);
    const loaded = new Promise((resolve) => (frame.onload = resolve));
    form.submit();
    await loaded;
    await fetch(target + "/graphql", {method: "POST", mode: "no-cors", credentials: "include",
      headers: {"content-type": type}, body: JSON.stringify({query: mutation})}).catch(() => {});
  }
  await fetch(target + "/graphql", {method: "POST", credentials: "include", headers,
    body: JSON.stringify({query: mutation})}).catch(() => {});
  await fetch(target + "/auth/logout", {method: "POST", mode: "no-cors", credentials: "include", body: "{}"}).catch(() => {});
  for (const path of ["/graphql?query=" + encodeURIComponent(mutation), "/auth/session"]) {
    const image = new Image();
    const done = new Promise((resolve) => (image.onload = image.onerror = resolve));
    image.src = target + path;
    await done;
  }
}
await check(place + ": who is signed in cannot be read", async () =>
  fetch(settings.own + "/auth/session", {credentials: "include", headers}).then(() => "read", () => "refused"));
location.href = settings[place === "localhost" ? "stranger" : "out"];
"""
OUT = TELL + """
await check("the session is still there after all that", async () => {
  const answer = await post("/graphql", {query: "{ listTopics { items { name } } }"});
  return (await answer.json()).data.listTopics.items;
});
await check("and ends when its own page says so", async () => {
  const out = await post("/auth/logout");
  return [out.status, (await post("/graphql", {query: "{ me { username } }"})).status];
});
await tell("end", null);
"""
EXPECTED = {
    "a page of the server's own signs in and sees no cookie": [204, ""],
    "its requests count": ["root", 200],
    "without the header they do not": 403,
    "its socket is let in": "connection_ack",
    "localhost: sockets are not let in": [1006, 1006],
    "127.0.0.1: sockets are not let in": [1006, 1006],
    "localhost: who is signed in cannot be read": "refused",
    "127.0.0.1: who is signed in cannot be read": "refused",
    "the session is still there after all that": [],
    "and ends when its own page says so": [200, 401],
}


class Pages(http.server.ThreadingHTTPServer):
    """Pages by path; told what they tell. With a server behind, all else goes there, as a reverse proxy passes it on."""

    daemon_threads = True

    def handle_error(self, *_):
        """The browser may leave in the middle of a request."""

    def __init__(self, told):
        super().__init__(("127.0.0.1", 0), Handler)
        self.told, self.files, self.behind = told, {}, None
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.serve(b"")

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        if self.path != "/tell":
            return self.serve(body)
        told = json.loads(body)
        self.server.told.put((told["name"], told["value"]))
        self.answer(204, [], b"")

    def serve(self, body):
        if self.path in self.server.files:
            return self.answer(200, [("content-type", "text/html")], self.server.files[self.path])
        if not self.server.behind or not self.path.startswith(("/auth/", "/graphql")):
            return self.answer(404, [], b"")
        connection = http.client.HTTPConnection(self.server.behind, timeout=20)
        headers = {name: value for name, value in self.headers.items() if name.lower() != "connection"}
        connection.request(self.command, self.path, body or None, headers)
        answer = connection.getresponse()
        kept = [(name, value) for name, value in answer.getheaders() if name.lower() not in ("content-length", "connection")]
        self.answer(answer.status, kept, answer.read())

    def answer(self, status, headers, body):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        if status != 204:
            self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def page(script, settings):
    text = "<!doctype html><meta charset=utf-8><body><script type=module>" + script.replace("SETTINGS", json.dumps(settings), 1)
    return (text + "</script>").encode()


def command(browser, folder, address):
    """How a browser is started without a window, with a profile of its own."""
    if "firefox" in os.path.basename(browser):
        os.makedirs(folder)
        with open(os.path.join(folder, "user.js"), "w", encoding="utf-8") as preferences:
            for name in ("browser.shell.checkDefaultBrowser", "datareporting.policy.dataSubmissionEnabled"):
                preferences.write(f'user_pref("{name}", false);\n')
        return [browser, "--headless", "--no-remote", "--profile", folder, address]
    flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"]
    flags += ["--disable-background-networking", "--disable-component-update", f"--user-data-dir={folder}"]
    return [browser, *flags, address]


def main():
    binary = sys.argv[1]
    program = sys.argv[2] if len(sys.argv) > 2 else shutil.which("chromium")
    checks, told, folder = Checks(), queue.Queue(), tempfile.mkdtemp(prefix="tocsin-cookies-")
    own, other = Pages(told), Pages(told)
    origin = f"http://localhost:{own.server_port}"
    server = Server(binary, "--public-url", origin)
    browser = None
    try:
        add = [binary, "user", "add", "root", "--password-stdin", "--data-dir", os.path.join(server.folder, "data")]
        subprocess.run(add, input=PASSWORD.encode(), check=True, capture_output=True, timeout=60)
        port = server.address.rsplit(":", 1)[1]
        settings = {
            "password": PASSWORD, "own": origin, "server": f"http://localhost:{port}", "sockets": f"ws://localhost:{port}/graphql",
            "neighbour": f"http://localhost:{other.server_port}/", "stranger": f"http://127.0.0.1:{other.server_port}/",
            "out": origin + "/out",
        }
        own.behind = server.host
        own.files = {"/": page(OWN, settings), "/out": page(OUT, settings)}
        other.files = {"/": page(OTHER, settings)}
        browser = subprocess.Popen(
            command(program, os.path.join(folder, "browser"), origin + "/"),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "HOME": folder},
            start_new_session=True,
        )
        watch(told, checks)
    finally:
        if browser is not None:
            os.killpg(browser.pid, 15)
            browser.wait(20)
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)
    checks.end()


def watch(told, checks):
    seen = set()
    while True:
        try:
            name, value = told.get(timeout=60)
        except queue.Empty:
            break
        if name == "end":
            break
        seen.add(name)
        is_good = value["ok"] and value["value"] == EXPECTED.get(name)
        checks.report(name, None if is_good else AssertionError(json.dumps(value)))
    for name in EXPECTED:
        if name not in seen:
            checks.report(name, AssertionError("no page told of it"))


main()
