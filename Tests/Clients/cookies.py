"""Cookies over TLS, in a real browser: a page of the server's own signs in; pages of another port of the same host, which
shares its cookies, and of another site try to act by them; sign-ins at a provider come back replayed, stolen, forged and
to the wrong browser. What is refused is one line in the log and one row in the audit. With openssl.
Use: cookies.py BINARY CHROMIUM-or-FIREFOX"""

import http.client
import http.server
import json
import os
import shutil
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
import urllib.request

from browsers import opened, told
from ports import free_ports
from provider import make_certificate
from tocsin import Checks, Server

PASSWORD = "correct horse battery"
SMALL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "oidc", "small.py")
#: Its certificate is its own, made now.
ANY = ssl.create_default_context()
ANY.check_hostname, ANY.verify_mode = False, ssl.CERT_NONE
REFUSALS = "{ auditEvents(filter: { action: \"session.refused\" }, limit: 100) { items { detail } } }"

TOOLS = """
const headers = {"content-type": "application/json", "x-tocsin-console": "1"};
const post = (path, body = {}) => fetch(path, {method: "POST", headers, body: JSON.stringify(body)});
const me = async () => (await (await post("/graphql", {query: "{ me { username } }"})).json()).data?.me.username ?? null;
const socket = (address) => new Promise((resolve) => {
  const opened = new WebSocket(address, "graphql-transport-ws");
  opened.onopen = () => opened.send(JSON.stringify({type: "connection_init"}));
  opened.onmessage = ({data}) => { resolve(JSON.parse(data).type); opened.close(); };
  opened.onclose = ({code}) => resolve(code);
});
const framed = (address) => new Promise((resolve) => {
  const frame = document.createElement("iframe");
  Object.assign(frame, {src: address, onload: () => resolve(frame), onerror: () => resolve(frame)});
  document.body.append(frame);
});
"""
#: All that a page of others can send by itself: forms in three encodings, requests without leave, pictures.
ACT = """
const mutation = 'mutation { createTopic(input: {name: "evil"}) { id } }';
const credentials = {username: "mallory", password: PASSWORD};
const send = async (path, type, body) => {
  const form = document.createElement("form");
  const frame = document.createElement("iframe");
  frame.name = form.target = "frame" + Math.random();
  Object.assign(form, {method: "POST", action: TARGET + path, enctype: type});
  const field = document.createElement("input");
  // As text/plain it is JSON: the name, an equals sign, and the value.
  Object.assign(field, {name: JSON.stringify(body).slice(0, -1) + ', "a": "', value: '"}'});
  form.append(field);
  document.body.append(frame, form);
  const loaded = new Promise((resolve) => (frame.onload = resolve));
  form.submit();
  await loaded;
  frame.remove();
};
const unasked = (path, type, body) =>
  fetch(TARGET + path, {method: "POST", mode: "no-cors", credentials: "include", headers: {"content-type": type}, body: JSON.stringify(body)}).catch(() => {});
for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"]) {
  await send("/graphql", type, {query: mutation});
  await unasked("/graphql", type, {query: mutation});
}
await fetch(TARGET + "/graphql", {method: "POST", credentials: "include", headers, body: JSON.stringify({query: mutation})}).catch(() => {});
await send("/auth/password", "text/plain", credentials);
await unasked("/auth/password", "text/plain", credentials);
await unasked("/auth/logout", "text/plain", {});
for (const path of ["/graphql?query=" + encodeURIComponent(mutation), "/auth/session"]) {
  const image = new Image();
  const done = new Promise((resolve) => (image.onload = image.onerror = resolve));
  image.src = TARGET + path;
  await done;
}
"""


class Others(http.server.ThreadingHTTPServer):
    """Pages of somebody else, over TLS with the same certificate."""

    daemon_threads = True

    def __init__(self, certificate, key):
        super().__init__(("127.0.0.1", 0), OthersPage)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        self.socket = context.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, *_):
        """The browser may leave in the middle of a request."""


class OthersPage(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_GET(self):
        body = b"<!doctype html><meta charset=utf-8><title>Others</title><h1>Others</h1>"
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class Scene:
    """The server, a browser at it, and what both have refused so far."""

    def __init__(self, server, browser, checks, issuer):
        self.server, self.browser, self.checks, self.issuer = server, browser, checks, issuer
        self.own = server.address
        self.refused = []

    def same(self, name, seen, wanted):
        self.checks.report(name, None if seen == wanted else AssertionError(f"{seen} in place of {wanted}"))

    def run(self, script):
        return self.browser.run(TOOLS + script)

    def request(self, method, path, headers, body=None):
        """What somebody without a browser is answered: status, headers and text."""
        connection = http.client.HTTPSConnection(self.own.removeprefix("https://"), timeout=60, context=ANY)
        try:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read().decode()
        finally:
            connection.close()

    # Refusals.

    def logged(self):
        with open(self.server.log.name, encoding="utf-8", errors="replace") as file:
            lines = [json.loads(line) for line in file if '"sign_in_refused"' in line]
        return [line["reason"] for line in lines]

    def audited(self):
        headers = {"content-type": "application/json", "authorization": f"Bearer {self.token}"}
        answer = json.loads(self.request("POST", "/graphql", headers, json.dumps({"query": REFUSALS}))[2])
        details = [each["detail"] for each in answer["data"]["auditEvents"]["items"]]
        return [(json.loads(each) if isinstance(each, str) else each)["reason"] for each in reversed(details)]

    def refuses(self, name, *reasons):
        """Since the last time exactly these were refused, each with a line and a row."""
        self.refused += reasons
        deadline = time.monotonic() + 30
        while True:
            seen = [self.logged(), self.audited()]
            if seen == [self.refused] * 2 or time.monotonic() > deadline:
                break
            time.sleep(0.1)
        new = len(self.refused) - len(reasons)
        self.same(f"{name}: {len(reasons)} in the log and in the audit", [each[new:] for each in seen], [list(reasons)] * 2)
        # What was wrong once is not told again.
        self.refused = seen[0]

    # Cookies and sign-ins.

    def cookie(self, prefix="__Host-tocsin"):
        """The one cookie of ours whose name is this, or begins so."""
        is_login = prefix.endswith("-")
        found = [each for each in self.browser.cookies(self.own) if (each["name"].startswith(prefix) if is_login else each["name"] == prefix)]
        return found[0] if len(found) == 1 else None

    def begin(self):
        """Somebody else's sign-in under way: cookie and callback."""
        status, headers, _ = self.request("GET", "/auth/login", {})
        assert status == 303, status
        asked = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(headers["location"]).query))
        name, value = headers["set-cookie"].split(";")[0].split("=", 1)
        return name, value, asked["state"], asked["nonce"]

    def callback(self, state, code, issuer=None):
        return "/auth/callback?" + urllib.parse.urlencode({"code": code, "state": state, "iss": issuer or self.issuer})

    def begin_here(self, wanted="/account"):
        """A sign-in under way in the browser, which stands before the provider's page: state and code."""
        self.browser.go(f"{self.own}/auth/login?return={urllib.parse.quote(wanted, safe='')}")
        self.browser.until("heading() === 'Small'")
        asked = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(self.browser.run("return document.querySelector('a').href;")).query))
        return asked["state"], asked["code"]

    def led_to(self, path):
        """Where the page that is open leads the browser, by itself: what the callback's page says."""
        self.browser.run(f"location.href = {json.dumps(self.own + path)}; return null;")
        return self.browser.until("location.pathname === '/auth/callback' && heading() ? document.body.innerText : null")

    def behave(self, **behaviour):
        urllib.request.urlopen(urllib.request.Request(self.issuer + "/behave", json.dumps(behaviour).encode()), timeout=20).close()


def sign_in_by_password(scene):
    browser = scene.browser
    browser.go(scene.own + "/sign-in")
    browser.until("heading() === 'Sign in'")
    wrong = scene.run('return (await post("/auth/password", {username: "root", password: "wrong"})).status;')
    scene.same("a wrong password is refused", wrong, 401)
    scene.refuses("a wrong password", "wrong_password")
    signed_in = scene.run(f'return [(await post("/auth/password", {{username: "root", password: {json.dumps(PASSWORD)}}})).status, document.cookie];')
    scene.same("a page of the server's own signs in and sees no cookie", signed_in, [204, ""])
    wanted = {"name": "__Host-tocsin", "path": "/", "domain": "localhost", "secure": True, "httpOnly": True, "sameSite": "strict"}
    seen = scene.cookie() or {}
    scene.same("the session's cookie is __Host-, Secure, HttpOnly, Strict, of this host alone", {name: seen.get(name) for name in wanted}, wanted)
    scene.same("its requests count", scene.run('return [await me(), (await fetch("/auth/session", {headers})).status];'), ["root", 200])
    bare = 'return (await fetch("/graphql", {method: "POST", headers: {"content-type": "application/json"}, body: JSON.stringify({query: "{ me { username } }"})})).status;'
    scene.same("without the header they do not", scene.run(bare), 403)
    scene.refuses("a request without the header", "page_refused")
    scene.same("its socket is let in", scene.run('return await socket(location.origin.replace("https", "wss") + "/graphql");'), "connection_ack")


def act_from(scene, place, address, reasons):
    """What a page of others tries by the cookie of a browser that is signed in."""
    browser, own = scene.browser, json.dumps(scene.own)
    before = scene.cookie()
    browser.go(address)
    browser.until("heading() === 'Others'")
    sockets = scene.run(f'const at = {own}.replace("https", "wss"); return [await socket(at + "/graphql"), await socket(at + "/graphql/realtime")];')
    scene.same(f"{place}: sockets are not let in", sockets, [1006, 1006])
    scene.refuses(f"{place}: sockets", *reasons[0])
    scene.run(ACT.replace("TARGET", own).replace("PASSWORD", json.dumps(PASSWORD)) + "return null;")
    scene.refuses(f"{place}: changes, sign-ins, sign-outs and looks by forms, requests and pictures", *reasons[1])
    read = f'return await fetch({own} + "/auth/session", {{credentials: "include", headers}}).then(() => "read", () => "refused");'
    scene.same(f"{place}: who is signed in cannot be read", scene.run(read), "refused")
    pages = json.dumps([address + "framed", scene.own + "/", scene.own + "/auth/callback"])
    # The callback's page is a refusal of its own.
    scene.run(f"document.querySelectorAll('iframe').forEach((each) => each.remove()); for (const page of {pages}) await framed(page); return null;")
    deadline = time.monotonic() + 10
    while "Others" not in (browser.framed() or [""])[0] and time.monotonic() < deadline:
        time.sleep(0.1)
    shown = [any(word in text for word in ("Others", "Sign in", "All messages", "Start", "Not signed in")) for text in browser.framed()]
    scene.same(f"{place}: pages of others stand in its frames, the server's do not", shown, [True, False, False])
    scene.refuses(f"{place}: a callback in a frame", "callback_malformed")
    # Attackers sign in as themselves, and lead others to their callback.
    _, _, state, code = scene.begin()
    said = scene.led_to(scene.callback(state, code))
    scene.same(f"{place}: an attacker's callback signs nobody in", ["Not signed in" in said, "state_missing" in said], [True, True])
    scene.refuses(f"{place}: an attacker's callback", "state_missing")
    scene.same(f"{place}: the session is the one it was", scene.cookie(), before)


def sign_in_at_the_provider(scene):
    browser, own = scene.browser, scene.own
    browser.go(own + "/account")
    browser.until("heading() === 'Account'")
    scene.same("after all that the session is there, and nothing was made", scene.run("""
        const answer = await post("/graphql", {query: "{ me { username } listTopics { items { name } } }"});
        const found = (await answer.json()).data;
        return [found.me.username, found.listTopics.items];"""), ["root", []])
    old = scene.cookie()
    out = scene.run('return [(await post("/auth/logout")).status, (await post("/graphql", {query: "{ me { username } }"})).status];')
    scene.same("it ends when its own page says so", out, [200, 401])
    scene.same("and its cookie with it", scene.cookie(), None)
    headers = {"cookie": f"__Host-tocsin={old['value']}", "content-type": "application/json", "x-tocsin-console": "1", "sec-fetch-site": "same-origin"}
    kept = scene.request("POST", "/graphql", headers, json.dumps({"query": "{ me { username } }"}))[0]
    scene.same("who kept the cookie has nothing", kept, 401)

    state, code = scene.begin_here("/devices?x=1")
    login = scene.cookie("__Host-tocsin-login-")
    wanted = {"path": "/", "secure": True, "httpOnly": True, "sameSite": "lax"}
    scene.same("a login's cookie is __Host-, Secure, HttpOnly, Lax", {name: (login or {}).get(name) for name in wanted}, wanted)
    browser.press("Go back")
    browser.until("heading() === 'Devices'")
    scene.same("who comes back from the provider is where they wanted to be", browser.run("return location.href;"), own + "/devices?x=1")
    scene.same("and is who the provider says", scene.run("return await me();"), "carol")
    seen = scene.cookie()
    scene.same("with a new session, and no login under way", [bool(seen) and seen["value"] != old["value"], scene.cookie("__Host-tocsin-login-")], [True, None])

    said = scene.led_to(scene.callback(state, code))
    scene.same("a callback that comes again is refused", "state_missing" in said, True)
    stolen = {"cookie": f"{login['name']}={login['value']}"}
    again = scene.request("GET", scene.callback(state, code), stolen)
    scene.same("with its login cookie, stolen, too", [again[0], "state_used" in again[2], "__Host-tocsin=" in str(again[1])], [400, True, False])
    scene.refuses("a replayed callback", "state_missing", "state_used")
    browser.go(own + "/account")
    browser.until("heading() === 'Account'")
    scene.same("none of it ended the session", scene.run("return await me();"), "carol")


def come_back_wrong(scene):
    """Sign-ins that begin in this browser and come back otherwise than they should."""
    browser = scene.browser
    session = scene.cookie()
    scene.begin_here()
    theirs = scene.cookie("__Host-tocsin-login-")
    name, _, state, code = scene.begin()
    thief = scene.request("GET", scene.callback(state, code), {"cookie": f"{name}={theirs['value']}"})
    scene.same("a stolen login cookie under another sign-in's name signs nobody in", [thief[0], "state_mismatch" in thief[2]], [400, True])
    scene.refuses("a stolen login cookie", "state_mismatch")
    browser.press("Go back")
    browser.until("heading() === 'Account'")

    def wrong(name, reason, change):
        state, code = scene.begin_here()
        said = scene.led_to(change(state, code))
        scene.same(f"{name} signs nobody in", reason in said and "Not signed in" in said, True)
        scene.refuses(name, reason)
        scene.behave()

    _, _, _, foreign_code = scene.begin()
    session = scene.cookie()
    wrong("a wrong issuer", "issuer_mismatch", lambda state, code: scene.callback(state, code, "https://evil.example"))
    wrong("the nonce of another sign-in", "id_token_nonce", lambda state, _: scene.callback(state, foreign_code))

    def behaving(**behaviour):
        def change(state, code):
            scene.behave(**behaviour)
            return scene.callback(state, code)

        return change

    wrong("a token of alg: none", "id_token_algorithm", behaving(header={"alg": "none"}, signed=False))
    wrong("a token of another issuer", "id_token_issuer", behaving(claims={"iss": "https://evil.example"}))
    scene.same("the session before is still there", scene.cookie(), session)
    scene.begin_here("//evil.example/")
    scene.refuses("a way back to another site", "return_refused")
    browser.press("Go back")
    browser.until("['Start', 'All messages'].includes(heading())")
    scene.same("who wanted to end on another site is at home", browser.run("return location.origin;"), scene.own)


def walk(scene, neighbour):
    sign_in_by_password(scene)
    port = neighbour.server_port
    # The cookie goes along: with two sockets; with two sign-ins, a sign-out and a look. Forms to /graphql are not JSON,
    # so that nobody asks whose they are.
    act_from(scene, "another port", f"https://localhost:{port}/", [["page_refused"] * 2, ["page_refused"] * 4])
    # No cookie goes along: whoever asks for the session or its end has none.
    act_from(scene, "another site", f"https://127.0.0.1:{port}/", [[], ["page_refused"] * 2])
    sign_in_at_the_provider(scene)
    come_back_wrong(scene)


def start_provider(folder):
    provider = subprocess.Popen([sys.executable, SMALL, folder], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    ready, deadline = os.path.join(folder, "provider.ready"), time.monotonic() + 60
    while not os.path.exists(ready):
        if provider.poll() is not None or time.monotonic() > deadline:
            raise SystemExit("the provider did not start")
        time.sleep(0.05)
    with open(ready, encoding="utf-8") as file:
        return provider, json.load(file)["issuer"]


def run(server, browser, checks, issuer, neighbour):
    scene = Scene(server, browser, checks, issuer)
    for name, more in (("root", ["--admin"]), ("mallory", [])):
        add = [server.binary, "user", "add", name, *more, "--password-stdin", "--data-dir", os.path.join(server.folder, "data")]
        subprocess.run(add, input=PASSWORD.encode(), check=True, capture_output=True, timeout=60)
    scene.token = server.administer("token", "create", "--user", "root")
    try:
        walk(scene, neighbour)
    except Exception as error:
        told(scene.server, browser, error)


def main():
    binary, program = sys.argv[1:3]
    checks, (port,), folder = Checks(), free_ports(1), tempfile.mkdtemp(prefix="tocsin-cookies-")
    origin = f"https://localhost:{port}"
    certificate, key = make_certificate(folder)
    provider, issuer = start_provider(folder)
    server = None
    try:
        os.environ.update({
            "TOCSIN_EXECUTION_SECONDS": "60", "TOCSIN_PUBLIC_URL": origin, "TOCSIN_TLS_CERTIFICATE": certificate, "TOCSIN_TLS_KEY": key,
            "TOCSIN_OIDC_ISSUER": issuer, "TOCSIN_OIDC_CLIENT_ID": "tocsin"})
        server = Server(binary, "--port", str(port))
        server.address = origin
        neighbour = Others(certificate, key)
        with opened(program, folder) as browser:
            run(server, browser, checks, issuer, neighbour)
    finally:
        if server:
            server.stop()
        provider.terminate()
        provider.wait(20)
        shutil.rmtree(folder, ignore_errors=True)
    checks.end()


if __name__ == "__main__":
    main()
