"""The console in headless Firefox, where people do what they do in Chromium: they sign in and go about by keys alone, make a
token, read what strangers wrote, have three tabs, no server and no network, and like it dark.
Use: firefox_walks.py BINARY [FIREFOX] [PICTURES]"""

import json
import os
import shutil
import sys
import tempfile
import traceback
import urllib.error

import axe_playwright_python

from console import PASSWORD, TAGS, add_person
from firefox import Firefox
from injections import CREATE, NEUTRAL, TEXTS, TURNED
from offline import COUNT, KEPT, NUMBERS, Publisher, listed
from tocsin import Checks, Server

CONTROL, ENTER, ESCAPE, SHIFT, TAB = "\ue009", "\ue007", "\ue00c", "\ue008", "\ue004"
LIVE = "document.querySelector('.state')?.textContent === '● live'"
# In each page before its own scripts: what breaks its policy, and whether a pointer was pressed.
WATCH = """() => {
  window.broken = [];
  addEventListener("securitypolicyviolation", (event) => broken.push(event.violatedDirective + event.blockedURI));
  addEventListener("pointerdown", () => (window.pointed = true), true);
  %s
}""" % COUNT
FOCUSED = """(document.activeElement.getAttribute("aria-label") ?? document.activeElement.closest("label")?.textContent
  ?? document.activeElement.textContent).trim()"""


class Walks:
    """A server with the administrator root, and a Firefox."""

    def __init__(self, server, firefox, checks, pictures):
        self.server, self.firefox, self.checks, self.pictures = server, firefox, checks, pictures
        self.token = server.administer("token", "create", "--user", "root")
        self.topic = server.create_topic(self.token, "alerts")
        self.watch()

    def watch(self):
        """What is asked for, what a page says is wrong, and what it opens."""
        self.firefox.command("session.subscribe", events=["network.beforeRequestSent", "log.entryAdded", "browsingContext.userPromptOpened"])
        self.firefox.command("script.addPreloadScript", functionDeclaration=WATCH)

    def same(self, name, seen, wanted):
        self.checks.report(name, None if seen == wanted else AssertionError(f"{seen} in place of {wanted}"))

    def go(self, path, heading):
        self.firefox.go(self.server.address + path)
        self.at(heading)

    def at(self, heading):
        self.firefox.until(f"heading() === {json.dumps(heading)}")

    def picture(self, name):
        if self.pictures:
            self.firefox.picture(os.path.join(self.pictures, f"firefox-{name}.png"))

    def told(self, method):
        return [each["params"] for each in self.firefox.events if each["method"] == method]

    def complaints(self):
        """What pages said was wrong, but for servers that are away on purpose, and the dialogs that they opened."""
        said = [each["text"] for each in self.told("log.entryAdded") if each["level"] == "error"]
        away = ("NetworkError", "ServiceWorker", "WebSocket", "can’t establish a connection", "was interrupted while the page was loading")
        return [each for each in said if not any(word in each for word in away)] + [each["message"] for each in self.told("browsingContext.userPromptOpened")]

    # Keys

    def tab_to(self, name):
        """Presses Tab until something of this name has the focus, as people do who hear it read."""
        for _ in range(80):
            self.firefox.keys(TAB)
            if self.firefox.run(f"return {FOCUSED};").startswith(name):
                return
        raise AssertionError(f"Tab does not lead to {name}")

    def by_keys(self):
        """From the sign-in to a message that is sent, without a pointer."""
        firefox, keys = self.firefox, self.firefox.keys
        for title in ("one", "two", "three"):
            self.server.publish(self.token, self.topic, title)
        # Counted as unread is what comes after the first mark.
        self.server.post(self.token, "mutation($id: ID!) { markRead(topicId: $id, number: 1) { unread } }", id=self.topic)
        self.go("/", "Sign in")
        self.tab_to("User name")
        keys(*"root")
        self.tab_to("Password")
        keys(*"wrong", ENTER)
        firefox.until("document.querySelector('[role=alert]:not([hidden])')?.textContent.includes('wrong')")
        self.tab_to("Sign in")
        keys((SHIFT, TAB))
        keys((CONTROL, "a"), *PASSWORD, ENTER)
        self.at("All messages")
        firefox.until("articles().length === 3")
        seen = []
        for key in "jjkj":
            keys(key)
            seen.append(firefox.run("return document.activeElement.textContent;"))
        self.same("by keys: j and k go through the messages", seen, ["three", "two", "three", "two"])
        keys("o")
        self.at("two")
        keys("w")
        firefox.until("document.querySelectorAll('li.passed, li.failed').length > 0")
        keys("g", "t")
        self.at("alerts")
        firefox.until("Boolean(named('alerts 2 unread') ?? named('alerts2 unread'))")
        keys("j", "j", "e")
        firefox.until("Boolean(named('alerts 1 unread') ?? named('alerts1 unread'))")
        keys((SHIFT, "E"))
        firefox.until("Boolean(named('alerts'))")
        keys("5")
        firefox.until("[...document.querySelectorAll('main article')].every((each) => each.hidden)")
        keys("1")
        firefox.until("[...document.querySelectorAll('main article')].every((each) => !each.hidden)")
        keys("?")
        firefox.until("document.querySelector('dialog')?.open")
        keys(ESCAPE)
        firefox.until("!document.querySelector('dialog')")
        keys("c")
        self.at("Send")
        self.tab_to("Title")
        keys(*"jokes? c 1", ENTER)
        self.at("jokes? c 1")
        self.same("by keys: a message is sent, and no pointer was used", firefox.run("return window.pointed ?? false;"), False)

    # Tokens

    def status(self, token):
        try:
            self.server.post(token, "{ __typename }")
            return 200
        except urllib.error.HTTPError as refusal:
            return refusal.code

    def with_tokens(self):
        """A token is made, used, and refused once it is revoked."""
        firefox = self.firefox
        self.go("/tokens", "Tokens")
        firefox.fill("Name", "scripts")
        firefox.run("const found = field('What it does'); found.value = 'full';")
        firefox.press("Make it")
        # What may do everything asks who one is.
        firefox.until("document.querySelector('dialog')?.open")
        firefox.fill("Password", PASSWORD)
        firefox.press("Go on")
        made = firefox.until("[...document.querySelectorAll('main pre')].at(-1)?.textContent")
        row = "[...document.querySelectorAll('main tbody tr')].find((each) => each.textContent.includes('scripts'))"
        firefox.until(f"Boolean({row})")
        before = self.status(made)
        firefox.run(f"[...{row}.querySelectorAll('button')].at(-1).click();")
        firefox.until(f"!{row}")
        self.same("a token that is made is good, and refused once it is revoked", [before, self.status(made)], [200, 401])
        self.firefox.events[:] = [each for each in self.firefox.events if each["method"] != "browsingContext.userPromptOpened"]

    # Strangers

    def of_strangers(self):
        """The injections of the walk in Chromium: in messages, each alone and all in lists, and in names."""
        firefox, server, token = self.firefox, self.server, self.token
        plain = server.create_topic(token, "plain")
        made = []
        for index, text in enumerate(TEXTS):
            try:
                server.create_topic(token, text)
            except AssertionError:
                pass
            message = {"topicId": plain, "type": 0, "title": text, "body": text, "data": json.dumps({text[:60]: text}), "key": f"last {index}", "url": NEUTRAL}
            for left_out in ((), ("url",), ("url", "data")):
                try:
                    made.append(server.post(token, CREATE, i={name: value for name, value in message.items() if name not in left_out})["createMessage"])
                    break
                except AssertionError:
                    continue
        self.same("every text is taken in some message", len(made), len(TEXTS))
        wrong = []
        self.go("/feed", "All messages")
        for index, each in enumerate(made):
            # As a press on its link goes there.
            firefox.run(f"history.pushState(null, '', '/messages/{each['id']}'); dispatchEvent(new PopStateEvent('popstate'));")
            firefox.until(f"document.querySelector('h1')?.textContent === {json.dumps(each['title'])}")
            if firefox.run("return document.querySelector('pre').textContent;") != each["body"]:
                wrong.append(index)
            wrong += [f"{index}: {found}" for found in firefox.run(f"return ({TURNED})();")]
        self.same("each text of a stranger is shown as it is, and turns nothing around", wrong, [])
        for path, heading in (("/feed", "All messages"), (f"/topics/{plain}", "plain"), ("/send", "Send")):
            self.go(path, heading)
            firefox.until("document.querySelectorAll('#rail a').length > 10")
            firefox.resize(320, 640)
            wide = firefox.run("return document.documentElement.scrollWidth;")
            firefox.resize(1280, 800)
            strange = "main script, main iframe, main svg, main style, main img, base, meta[http-equiv]"
            seen = [wide <= 320 or wide, *firefox.run(f"""return [document.querySelectorAll({json.dumps(strange)}).length,
              [...document.querySelectorAll("a")].filter((each) => !/^(https?|mailto|tel):/.test(each.href)).length, ({TURNED})(), broken];""")]
            self.same(f"{heading}, with all texts: shown as text, and the page holds", [*seen, self.complaints()], [True, 0, 0, [], [], []])

    # No server, no network

    def without_a_server(self):
        """What was read can be read, what is written is sent once when the server is back."""
        firefox, server = self.firefox, self.server
        self.go(f"/topics/{self.topic}", "alerts")
        firefox.until("articles().length === 4")
        firefox.until(LIVE)
        firefox.run("await navigator.serviceWorker.ready;")
        server.process.kill()
        server.process.wait(20)
        self.go("/", "All messages")
        firefox.until("articles().includes('two')")
        firefox.press("two")
        self.at("two")
        firefox.press("Send")
        self.at("Send")
        firefox.fill("Title", "Written without a server")
        firefox.run("document.querySelector('main form button').click();")
        self.at("alerts")
        firefox.until("Boolean(named('1 not sent yet'))")
        self.go(f"/topics/{self.topic}", "alerts")
        firefox.until("articles().length === 4")
        server.kill_and_restart()
        firefox.until("articles()[0] === 'Written without a server' && !named('1 not sent yet')")
        self.without_a_network()
        titles = [each["title"] for each in listed(server, self.token, self.topic)]
        self.same("what is written offline is sent once", titles, ["Written without a network", "Written without a server", "jokes? c 1", "three", "two", "one"])

    def without_a_live_list(self):
        """What waits is sent also from a page that nothing tells of the server's return."""
        firefox, server = self.firefox, self.server
        self.go("/account", "Account")
        firefox.until("Boolean(document.querySelector('#rail a[href*=\"/topics/\"]'))")
        firefox.run("document.querySelector('#rail a[href*=\"/topics/\"]').click();")
        self.at("alerts")
        firefox.press("Send")
        self.at("Send")
        firefox.fill("Title", "Written before a look at the account")
        server.process.kill()
        server.process.wait(20)
        firefox.run("document.querySelector('main form button').click();")
        self.at("alerts")
        firefox.until("Boolean(named('1 not sent yet'))")
        firefox.press("Account")
        firefox.until("heading() !== 'alerts'")
        server.kill_and_restart()
        firefox.until("heading() === 'Account' && !named('1 not sent yet')")
        titles = [each["title"] for each in listed(server, self.token, self.topic)]
        self.same("what waits is sent also where no list is live", titles[0], "Written before a look at the account")

    def without_a_network(self):
        firefox = self.firefox

        def network(conditions):
            firefox.command("emulation.setNetworkConditions", networkConditions=conditions, contexts=[firefox.context])

        network({"type": "offline"})
        firefox.until("navigator.onLine === false")
        firefox.press("Send")
        self.at("Send")
        firefox.fill("Title", "Written without a network")
        firefox.run("document.querySelector('main form button').click();")
        self.at("alerts")
        firefox.until("Boolean(named('1 not sent yet'))")
        network(None)
        firefox.until("articles()[0] === 'Written without a network' && !named('1 not sent yet')")

    # Tabs

    def in_tabs(self):
        """Three tabs have one socket, two have one when the first is closed, and kills of the server cost none a message."""
        firefox, server, place = self.firefox, self.server, f"{self.server.address}/topics/{self.topic}"
        firefox.go(place)
        tabs = [firefox, firefox.tab(place), firefox.tab(place)]
        for each in tabs:
            each.front()
            each.until(LIVE)

        def sockets():
            return sum(each.run("return sockets.size;") for each in tabs)

        self.same("three tabs have one socket", sockets(), 1)
        server.publish(self.token, self.topic, "to all tabs")
        for each in tabs:
            each.front()
            each.until("articles()[0] === 'to all tabs'")
        # The first has the socket.
        firefox.go("about:blank")
        tabs.pop(0)
        server.publish(self.token, self.topic, "after the first tab")
        for each in tabs:
            each.front()
            each.until("articles()[0] === 'after the first tab'")
        while sockets() == 0:
            pass
        self.same("two tabs have one socket", sockets(), 1)
        publisher = Publisher(server, self.token, self.topic)
        publisher.start()
        for count in (20, 40, 60):
            while publisher.count < count:
                tabs[0].run("await new Promise((after) => setTimeout(after, 50));")
            server.kill_and_restart()
        publisher.ended.set()
        publisher.join(60)
        numbers = [each["number"] for each in listed(server, self.token, self.topic)]
        ends = []
        for each in tabs:
            each.front()
            each.until(f"document.querySelector('main article .meta > span')?.textContent === '#{numbers[0]}'")
            try:
                each.until(f"(() => {{ const [seen, all] = [{NUMBERS}, {numbers}]; return seen.length >= 50 && seen.every((each, index) => each === all[index]); }})()", 20)
                ends.append("as the server")
            except AssertionError:
                ends.append(each.run(f"return {NUMBERS};"))
        self.same(f"after 3 kills under {publisher.count} messages each tab ends as the server's list", ends, ["as the server"] * 2)
        tabs[1].close()
        tabs[0].close()
        firefox.front()

    # Light and dark

    def in_the_dark(self):
        """Where the system is dark the console is, and axe finds nothing in either."""
        firefox = self.firefox
        with open(os.path.join(os.path.dirname(axe_playwright_python.__file__), "axe.min.js"), encoding="utf-8") as file:
            axe = file.read()
        seen = {}
        for scheme, override in (("light", 1), ("dark", 0)):
            firefox.stop()
            firefox.prefer({"layout.css.prefers-color-scheme.content-override": override, "ui.prefersReducedMotion": 1})
            firefox.start()
            self.watch()
            firefox.resize(1280, 800)
            paper = []
            for path, heading in (("/feed", "All messages"), ("/send", "Send"), ("/tokens", "Tokens"), ("/account", "Account")):
                self.go(path, heading)
                firefox.until("document.querySelectorAll('#rail a').length > 5")
                firefox.command("script.evaluate", expression=axe, target={"context": firefox.context}, awaitPromise=False)
                found = firefox.run(f"return (await axe.run(document, {{ runOnly: {{ type: 'tag', values: {json.dumps(TAGS)} }} }})).violations.map(({{ id, nodes }}) => `${{id}}: ${{nodes[0].html.slice(0, 120)}}`);")
                self.same(f"{heading} in {scheme}: axe finds nothing", found, [])
                self.picture(f"{heading.lower().replace(' ', '-')}-{scheme}")
                paper.append(firefox.run("return getComputedStyle(document.body).backgroundColor.match(/[0-9.]+/g).slice(0, 3).map(Number).every((each) => each < 90);"))
            seen[scheme] = set(paper)
            moving = firefox.run("return document.getAnimations().length + [...document.querySelectorAll('*')].filter((each) => parseFloat(getComputedStyle(each).transitionDuration) > 0).length;")
            self.same(f"in {scheme} nothing moves where that is not wanted", moving, 0)
        self.same("the paper is dark where the system is", seen, {"light": {False}, "dark": {True}})

    def signs_out(self):
        firefox = self.firefox
        self.go("/account", "Account")
        firefox.press("Sign out")
        self.at("Sign in")
        databases, _, person = firefox.run(f"return await {KEPT};")
        self.same("after signing out nothing of the person is kept", [databases, person], [[], None])


def main():
    program = sys.argv[2] if len(sys.argv) > 2 else shutil.which("firefox-esr")
    pictures = sys.argv[3] if len(sys.argv) > 3 else None
    checks, folder = Checks(), tempfile.mkdtemp(prefix="tocsin-firefox-")
    # A debug build hashes passwords slowly, and last of all where the machine is busy.
    os.environ["TOCSIN_EXECUTION_SECONDS"] = "60"
    server, firefox = Server(sys.argv[1]), None
    try:
        add_person(server, "root", "--admin")
        firefox = Firefox(program, folder, {})
        walks = Walks(server, firefox, checks, pictures)
        try:
            walks.by_keys()
            walks.with_tokens()
            walks.without_a_server()
            walks.without_a_live_list()
            walks.in_tabs()
            walks.of_strangers()
            asked = {each["request"]["url"] for each in walks.told("network.beforeRequestSent")}
            strange = [each for each in asked if not each.startswith((server.address, server.sockets, "data:", "blob:", "about:"))]
            walks.same("no request leaves for another host", strange, [])
            walks.in_the_dark()
            walks.signs_out()
            walks.same("no page complains", walks.complaints(), [])
        except Exception as error:  # pylint: disable=broad-except
            traceback.print_exception(error)
            print("The server's log ends with:", *(line[:300] for line in open(server.log.name, errors="replace").read().splitlines()[-20:]), sep="\n")
            print("Pages complained of:", walks.complaints()[-5:])
            print("The page shows:", firefox.run("return [location.href, document.body.innerText.slice(0, 2000)];"), str(error)[-1500:], sep="\n", flush=True)
            raise SystemExit(1) from error
    finally:
        if firefox:
            firefox.stop()
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)
    checks.end()


if __name__ == "__main__":
    main()
