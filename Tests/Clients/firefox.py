"""Walks through the console in headless Firefox, driven over WebDriver BiDi: signing in, publishing, hearing live, going on
after a kill, answering an incident, and a real Web Push from the server's outbox to a notification.
Use: firefox.py BINARY [FIREFOX] [PICTURES]"""

import base64
import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import traceback

from tocsin import Checks, Server, Simulator
from websockets.sync.client import connect

PASSWORD = "correct horse battery"
PREFERENCES = {
    "browser.shell.checkDefaultBrowser": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "dom.push.connection.enabled": True,
    "dom.push.testing.allowInsecureServerURL": True,
    "permissions.default.desktop-notification": 1,
    # Firefox shows notifications itself: a machine of tests has no desktop.
    "alerts.useSystemBackend": False,
}
# How people find things: by what they are called.
HELPERS = """
const seen = (each) => each.checkVisibility();
const named = (name) => [...document.querySelectorAll("button, a, summary, input[type=submit]")].find((each) => seen(each) &&
  (called(each, name) || each.value === name));
const field = (name) => [...document.querySelectorAll("label")].find((each) => seen(each) && each.textContent.trim().startsWith(name))?.control;
const called = (each, name) => each.textContent.trim() === name || each.getAttribute("aria-label") === name;
// Of a table, by its caption, the rows that have some text; and what is pressed in the first of them.
const rows = (name, text = "") => [...([...document.querySelectorAll("table")].find((each) => seen(each) && each.caption?.textContent === name)?.tBodies[0].rows ?? [])]
  .filter((each) => each.textContent.includes(text));
const inRow = (name, text, button) => [...(rows(name, text)[0]?.querySelectorAll("button, a") ?? [])].find((each) => called(each, button));
const heading = () => document.querySelector("h1")?.textContent;
const articles = () => [...document.querySelectorAll("main article")].map((each) => each.querySelector("h2").textContent);
"""


def as_json(script):
    """An expression whose value is what a script returns, as JSON."""
    return f"(async () => {{ {HELPERS} const value = await (async () => {{ {script} }})(); return JSON.stringify(value ?? null); }})()"


class Page:
    """What people do on a page; browsers bring `run`, which runs a script there, and `go`."""

    def until(self, expression, seconds=60):
        """Waits for something to be so, and answers what it is."""
        deadline = time.monotonic() + seconds
        while True:
            try:
                value = self.run(f"return {expression};")
            except AssertionError as error:
                # Between two pages there is nothing to ask.
                value = str(error) if time.monotonic() > deadline else None
            if value:
                return value
            if time.monotonic() > deadline:
                raise AssertionError(f"never so: {expression}; the page: {self.run('return document.body.innerText;')[:1500]}")
            time.sleep(0.1)

    def press(self, name):
        self.until(f"Boolean(named({json.dumps(name)}))")
        self.run(f"named({json.dumps(name)}).click();")

    def press_in(self, table, row, name):
        """Presses a button of a table's row."""
        place = ", ".join(json.dumps(each) for each in (table, row, name))
        self.until(f"Boolean(inRow({place}))")
        self.run(f"inRow({place}).click();")

    def choose(self, name, option):
        """Chooses what a field offers, by what people read."""
        found = f"[...(field({json.dumps(name)})?.options ?? [])].find((each) => each.textContent.trim() === {json.dumps(option)})"
        self.until(f"Boolean({found})")
        self.run(f"const option = {found}, choice = option.closest('select'); choice.value = option.value; choice.dispatchEvent(new Event('change', {{bubbles: true}}));")

    def says(self, text):
        """Waits until it stands on the page."""
        self.until(f"document.body.innerText.includes({json.dumps(text)})")

    def fill(self, name, text):
        self.until(f"Boolean(field({json.dumps(name)}))")
        self.run(f"const found = field({json.dumps(name)}); found.value = {json.dumps(text)}; found.dispatchEvent(new Event('input', {{bubbles: true}}));")


class Tab(Page):
    """One tab of a Firefox."""

    def __init__(self, browser, context):
        self.browser, self.context = browser, context

    def go(self, address):
        try:
            self.browser.command("browsingContext.navigate", context=self.context, url=address, wait="complete")
        except AssertionError as error:
            # A busy Firefox ends a worker that it did not let run for a minute; people load the page again, then.
            if "INTERCEPTION_FAILED" not in str(error):
                raise
            print("Firefox ended the service worker while it answered; the page is loaded again.", flush=True)
            self.browser.command("browsingContext.navigate", context=self.context, url=address, wait="complete")

    def run(self, script):
        """What a script's last expression gives, as JSON."""
        answer = self.browser.command("script.evaluate", expression=as_json(script), target={"context": self.context}, awaitPromise=True)
        if answer["type"] == "exception":
            raise AssertionError(f"{script}: {answer['exceptionDetails']['text']}")
        return json.loads(answer["result"]["value"])

    def keys(self, *keys):
        """Presses keys one after the other; those of a tuple together."""
        actions = []
        for each in keys:
            held = each if isinstance(each, tuple) else (each,)
            actions += [{"type": "keyDown", "value": key} for key in held] + [{"type": "keyUp", "value": key} for key in reversed(held)]
        self.browser.command("input.performActions", context=self.context, actions=[{"type": "key", "id": "keys", "actions": actions}])

    def front(self):
        self.browser.command("browsingContext.activate", context=self.context)

    def resize(self, width, height, zoom=None):
        """In the page's own pixels, each of which has `zoom` of the screen's."""
        self.browser.command("browsingContext.setViewport", context=self.context, viewport={"width": width, "height": height}, devicePixelRatio=zoom)

    def touch(self, role, name):
        """Touches the one thing of this role and name, where it is: what lies over it gets the touch."""
        nodes, deadline = [], time.monotonic() + 60
        while len(nodes) != 1:
            assert time.monotonic() < deadline, f"{len(nodes)} are a {role} called {name}"
            locator = {"type": "accessibility", "value": {"role": role, "name": name}}
            nodes = self.browser.command("browsingContext.locateNodes", context=self.context, locator=locator)["nodes"]
        place = {"type": "element", "element": {"sharedId": nodes[0]["sharedId"]}}
        actions = [{"type": "pointerMove", "x": 0, "y": 0, "origin": place}, {"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}]
        finger = {"type": "pointer", "id": "finger", "parameters": {"pointerType": "touch"}, "actions": actions}
        self.browser.command("input.performActions", context=self.context, actions=[finger])

    def picture(self, path):
        data = self.browser.command("browsingContext.captureScreenshot", context=self.context)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def close(self):
        self.browser.command("browsingContext.close", context=self.context)


class Firefox(Tab):
    """One Firefox with a profile of its own, and the first of its tabs; what else it is to be able to do is of WebDriver."""

    def __init__(self, program, folder, preferences, **capabilities):
        super().__init__(self, None)
        self.program, self.folder, self.capabilities = program, folder, capabilities
        self.profile = os.path.join(folder, "profile")
        os.makedirs(self.profile)
        self.prefer(PREFERENCES | preferences)
        self.log = os.path.join(folder, "firefox.log")
        self.start()

    def prefer(self, preferences):
        """Holds from the next start on."""
        with open(os.path.join(self.profile, "user.js"), "a", encoding="utf-8") as file:
            for name, value in preferences.items():
                file.write(f"user_pref({json.dumps(name)}, {json.dumps(value)});\n")

    def start(self):
        """Opens it, with all that its profile has kept."""
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                [self.program, "--headless", "--no-remote", "--remote-debugging-port", "0", "--profile", self.profile, "about:blank"],
                stdout=log, stderr=log, env={**os.environ, "HOME": self.folder})
        self.ending = contextlib.ExitStack()
        address = self.found(r"WebDriver BiDi listening on (ws://\S+)") + "/session"
        self.socket = self.ending.enter_context(connect(address, max_size=None, open_timeout=60))
        self.count, self.events = 0, []
        answering = {"unhandledPromptBehavior": {"default": "accept"}}
        self.command("session.new", capabilities={"alwaysMatch": answering | self.capabilities})
        self.context = self.command("browsingContext.getTree")["contexts"][0]["context"]

    def found(self, pattern):
        deadline = time.monotonic() + 60
        while True:
            with open(self.log, encoding="utf-8", errors="replace") as file:
                match = re.search(pattern, file.read())
            if match:
                return match[1]
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise AssertionError("Firefox did not start")
            time.sleep(0.1)

    def command(self, method, **parameters):
        self.count += 1
        self.socket.send(json.dumps({"id": self.count, "method": method, "params": parameters}))
        while True:
            answer = json.loads(self.socket.recv(timeout=120))
            if answer["type"] == "event":
                self.events.append(answer)
            if answer.get("id") != self.count:
                continue
            if answer["type"] == "error":
                raise AssertionError(f"{method}: {answer['error']}: {answer['message']}")
            return answer["result"]

    def tab(self, address, **more):
        """One more tab, or what else is asked for, at an address."""
        made = Tab(self, self.command("browsingContext.create", **{"type": "tab"} | more)["context"])
        made.go(address)
        return made

    def stop(self):
        self.ending.close()
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()


def walk(server, firefox, simulator, checks):
    def same(name, seen, wanted):
        checks.report(name, None if seen == wanted else AssertionError(f"{seen} in place of {wanted}"))

    token = server.administer("token", "create", "--user", "root")
    topic = server.create_topic(token, "alerts")
    firefox.go(server.address + "/")
    firefox.fill("User name", "root")
    firefox.fill("Password", PASSWORD)
    firefox.press("Sign in")
    firefox.until("heading() === 'All messages'")
    firefox.go(f"{server.address}/topics/{topic}")
    firefox.until("document.querySelector('.state')?.textContent === '● live'")
    server.publish(token, topic, "Heard live")
    firefox.until("articles()[0] === 'Heard live'")
    firefox.press("Send")
    firefox.fill("Title", "From Firefox")
    firefox.until("heading() === 'Send'")
    firefox.run("document.querySelector('main form button').click();")
    firefox.until("heading() === 'From Firefox'")
    firefox.go(f"{server.address}/topics/{topic}")
    firefox.until("document.querySelector('.state')?.textContent === '● live'")
    server.kill_and_restart()
    server.publish(token, topic, "After the kill")
    firefox.until("articles().length === 3")
    same("Firefox goes on after a kill of the server", firefox.run("return articles();"), ["After the kill", "From Firefox", "Heard live"])

    firefox.go(server.address + "/start")
    firefox.press("Get pushes in this browser")
    firefox.until("document.querySelectorAll('.steps .done').length === 2")
    server.publish(token, topic, "Pushed")
    firefox.until("document.querySelectorAll('.steps .done').length === 4")
    same("Start ticks its four steps, the last when the push service has taken the push", firefox.run("return document.querySelectorAll('.steps .done').length;"), 4)
    firefox.go(server.address + "/devices")
    firefox.until("/browser\\s+active/.test(document.body.innerText)")
    shown = "navigator.serviceWorker.ready.then((each) => each.getNotifications()).then((all) => all.map((each) => [each.title, each.data.topicId]))"
    firefox.until(f"(await {shown}).length === 1")
    same("a push through the simulator is shown by Firefox", firefox.run(f"return {shown};"), [["Pushed", topic]])
    state = "query($t: ID!) { page: getMessageByTopicIdAndCreatedAt(topicId: $t, sortDirection: DESC, limit: 1) { items { deliveries { items { status platform } } } } }"

    def delivered():
        """The pushes of the newest message, once all are settled."""
        deadline = time.monotonic() + 60
        while True:
            pushes = server.post(token, state, t=topic)["page"]["items"][0]["deliveries"]["items"]
            if (pushes and all(each["status"] not in ("WAITING", "SENDING") for each in pushes)) or time.monotonic() > deadline:
                return pushes
            time.sleep(0.1)

    same("the server says so", delivered(), [{"status": "ACCEPTED", "platform": "web"}])
    pushed = [each for each in simulator.ask("/_pushes") if each["provider"] == "webpush"]
    same("nobody between can read it", [(each["status"], each["payload"]) for each in pushed], [(201, None)])
    same("Firefox says that it could", simulator.ask("/_stats")["browsers"]["answers"], {"100": 1})
    firefox.stop()
    server.publish(token, topic, "While it was closed")
    firefox.start()
    firefox.go(server.address + "/devices")
    firefox.until(f"(await {shown}).some(([title]) => title === 'While it was closed')")
    same("a push that came while Firefox was closed is shown when it opens", simulator.ask("/_stats")["browsers"]["answers"], {"100": 2})

    simulator.ask("/_script", {"rules": [{"provider": "apns", "fault": "BadPriority", "token": "a1", "times": 1}]})
    server.post(token, "mutation($t: String!) { registerPushToken(token: $t, platform: \"ios\", environment: \"sandbox\") { userId } }", t="a1" * 32)
    server.publish(token, topic, "Refused")
    same("a push that Apple refuses has failed", {each["platform"]: each["status"] for each in delivered()}, {"web": "ACCEPTED", "ios": "FAILED"})
    firefox.go(server.address + "/deliveries")
    firefox.until("/iPhone: refused for good/.test(document.body.innerText)")
    firefox.run("document.querySelector('main table a').click();")
    firefox.until("heading() === 'Refused'")
    firefox.press("Explain")
    same("what failed is explained", bool(firefox.until("/BadPriority/.test(document.body.innerText)")), True)
    firefox.go(server.address + "/deliveries")
    firefox.run("window.confirm = () => true;")
    firefox.until("[...document.querySelectorAll('main button')].some((each) => each.getAttribute('aria-label')?.startsWith('Try again'))")
    firefox.run("[...document.querySelectorAll('main button')].find((each) => each.getAttribute('aria-label')?.startsWith('Try again')).click();")
    firefox.until("/No push failed/.test(document.body.innerText)")
    delivered()
    tried = [each["status"] for each in simulator.ask("/_pushes") if each["provider"] == "apns"]
    same("and is tried again, with success", tried, [400, 200])

    add = "mutation($i: CreateIntegrationInput!) { createIntegration(input: $i) { id } }"
    scripts = server.post(token, add, i={"topicId": topic, "name": "Scripts", "kind": "EVENT"})["createIntegration"]["id"]
    key = server.post(token, "mutation($id: ID!) { rotateIntegrationKey(id: $id) { key } }", id=scripts)["rotateIntegrationKey"]["key"]
    firefox.go(server.address + "/incidents")
    firefox.until("document.querySelector('.state')?.textContent === '● live'")
    event = {"action": "trigger", "key": "queue", "title": "Queue is stuck", "severity": "critical"}
    curl = ["curl", "-sf", server.address + "/in/event", "-H", f"Authorization: Bearer {key}", "-H", "Content-Type: application/json"]
    subprocess.run([*curl, "-d", json.dumps(event)], check=True, capture_output=True, timeout=60)
    firefox.press("Acknowledge alerts#1: Queue is stuck")
    firefox.until("document.body.innerText.includes('root (console) has it')")
    same("an incident that comes is acknowledged", firefox.run("return articles();"), ["Queue is stuck"])
    # As after a kill that came before the browser had written it down.
    firefox.run("localStorage.removeItem('tocsin.webpush');")
    firefox.go(server.address + "/devices")
    firefox.press("No pushes in this browser")
    firefox.until("!(await (await navigator.serviceWorker.ready).pushManager.getSubscription())")
    firefox.go(server.address + "/start")
    firefox.until("Boolean(named('Get pushes in this browser'))")
    same("pushes are ended at the push service too", simulator.ask("/_stats")["browsers"]["subscriptions"], 0)


def main():
    binary = sys.argv[1]
    program = sys.argv[2] if len(sys.argv) > 2 else shutil.which("firefox-esr")
    pictures = sys.argv[3] if len(sys.argv) > 3 else None
    checks, folder = Checks(), tempfile.mkdtemp(prefix="tocsin-firefox-")
    simulator = Simulator(binary)
    os.environ.update(simulator.environment | {"TOCSIN_EXECUTION_SECONDS": "60"})
    server, firefox = Server(binary), None
    try:
        add = [binary, "user", "add", "root", "--admin", "--password-stdin", "--data-dir", os.path.join(server.folder, "data")]
        subprocess.run(add, input=PASSWORD.encode(), check=True, capture_output=True, timeout=60)
        firefox = Firefox(program, folder, {"dom.push.serverURL": simulator.browsers})
        try:
            walk(server, firefox, simulator, checks)
        except Exception as error:  # pylint: disable=broad-except
            traceback.print_exception(error)
            print("The server's log ends with:", *(line[:300] for line in open(server.log.name, errors="replace").read().splitlines()[-20:]), sep="\n")
            print("The page shows:", firefox.run("return [location.href, document.body.innerText];"), str(error)[-1500:], sep="\n", flush=True)
            raise SystemExit(1) from error
        if pictures:
            firefox.picture(os.path.join(pictures, "firefox.png"))
    finally:
        if firefox:
            firefox.stop()
        server.stop()
        simulator.stop()
        shutil.rmtree(folder, ignore_errors=True)
    checks.end()


if __name__ == "__main__":
    main()
