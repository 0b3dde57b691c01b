"""People in Firefox, each in a container of their own: a topic is shared, seen, taken back and gone, by name and by group; a
push that fails is explained and tried again; a token is rotated, and the old one dies; what is one's own: networks, theme,
time zone, sessions. Use: firefox_people.py BINARY [FIREFOX]"""

import json
import os
import shutil
import sys
import tempfile
import time
import urllib.error

from browsers import told
from console import PASSWORD, add_person
from firefox import Firefox
from tocsin import Checks, Server, Simulator

LIVE = "document.querySelector('.state')?.textContent === '● live'"
GRANTS, PEOPLE, PUSHES, SESSIONS, TOKENS = (
    "With whom this topic is shared", "People", "Pushes of this message", "Your sessions", "Your tokens")
DARK, LIGHT = "rgb(21, 24, 28)", "rgb(255, 255, 255)"
COLOUR = "getComputedStyle(document.body).backgroundColor"


class Person:
    """Somebody in a container of a Firefox, which shares nothing with the others but the screen."""

    def __init__(self, server, page, checks):
        self.server, self.page, self.checks = server, page, checks

    @classmethod
    def beside(cls, server, firefox, checks):
        """In a window of their own: who is looked at runs at full speed, and tabs in the background do not."""
        container = firefox.command("browser.createUserContext")["userContext"]
        return cls(server, window(firefox, userContext=container), checks)

    def same(self, name, seen, wanted):
        self.checks.report(name, None if seen == wanted else AssertionError(f"{seen} in place of {wanted}"))

    def becomes(self, name, expression, wanted):
        """Something is so in the end; where it is not, what it is instead."""
        try:
            self.page.until(f"JSON.stringify({expression}) === JSON.stringify({json.dumps(wanted)})", 30)
        except AssertionError:
            pass
        self.same(name, self.page.run(f"return {expression};"), wanted)

    def go(self, path, heading):
        self.page.go(self.server.address + path)
        self.at(heading)

    def at(self, heading):
        self.page.until(f"heading() === {json.dumps(heading)}")

    def sign_in(self, name, at):
        self.go("/", "Sign in")
        self.page.fill("User name", name)
        self.page.fill("Password", PASSWORD)
        self.page.press("Sign in")
        self.at(at)

    def prove(self):
        """Says again who one is, where that is asked."""
        self.page.until("document.querySelector('dialog')?.open")
        self.page.fill("Password", PASSWORD)
        self.page.press("Go on")
        self.page.until("!document.querySelector('dialog')")


def window(firefox, **more):
    """A window, which has the focus when it is the newest: without a screen the first one never has it."""
    return firefox.tab("about:blank", type="window", **more)


def complaints(firefox):
    return [each["params"]["text"] for each in firefox.events if each["method"] == "log.entryAdded" and each["params"]["level"] == "error"]


def in_firefox(walk, *others, preferences=None, simulated=False):
    """Runs `walk(root, firefox, simulator)` at a server with the administrator root, who has not signed in yet, and others;
    the simulator only where it is wanted. Arguments: BINARY [FIREFOX]."""
    program = sys.argv[2] if len(sys.argv) > 2 else shutil.which("firefox-esr")
    checks, folder = Checks(), tempfile.mkdtemp(prefix="tocsin-firefox-")
    # A debug build hashes passwords slowly, and last of all where the machine is busy.
    os.environ["TOCSIN_EXECUTION_SECONDS"] = "60"
    simulator = Simulator(sys.argv[1]) if simulated else None
    if simulator:
        os.environ.update(simulator.environment)
    server, firefox = Server(sys.argv[1], "--rate-per-second", "0"), None
    try:
        add_person(server, "root", "--admin")
        for name in others:
            add_person(server, name)
        firefox = Firefox(program, folder, preferences or {})
        firefox.command("session.subscribe", events=["log.entryAdded"])
        root = Person(server, window(firefox), checks)
        try:
            walk(root, firefox, simulator)
        except Exception as error:  # pylint: disable=broad-except
            print("Pages complained of:", complaints(firefox)[-5:])
            told(server, root.page, error)
    finally:
        if firefox:
            firefox.stop()
        server.stop()
        if simulator:
            simulator.stop()
        shutil.rmtree(folder, ignore_errors=True)
    checks.end()


def status(server, token):
    try:
        server.post(token, "{ __typename }")
        return 200
    except urllib.error.HTTPError as refusal:
        return refusal.code


def newest(server, token, topic):
    """Id of a topic's newest message."""
    ask = "query($t: ID!) { page: getMessageByTopicIdAndCreatedAt(topicId: $t, sortDirection: DESC, limit: 1) { items { id } } }"
    return server.post(token, ask, t=topic)["page"]["items"][0]["id"]


# A team


def share(root, topic, kind, name):
    root.go(f"/topics/{topic}/settings", "alerts: settings")
    root.page.choose("With", kind)
    root.page.fill("Name of the user or group", name)
    root.page.press("Share")
    root.page.until(f"rows('{GRANTS}', '{kind} {name}').length === 1")


def watched(root, token, topic, wanted):
    """Waits until so many lines of the topic are open at the server: whoever has one hears of its end from then on."""
    deadline, seen = time.monotonic() + 60, None
    while seen != wanted:
        assert time.monotonic() < deadline, f"{seen} watch the topic in place of {wanted}"
        seen = root.server.post(token, "query($t: ID!) { getTopic(id: $t) { watchers } }", t=topic)["getTopic"]["watchers"]


def taken_back(root, ben, token, topic):
    """Shared by name and by group, seen live, and gone from what shows it, without a reload."""
    message = newest(root.server, token, topic)
    ben.go(f"/topics/{topic}", "This cannot be shown")
    own = "[document.querySelector('#rail').textContent.includes('alerts'), articles()]"
    ways = (("user", "ben", "/feed", "All messages", "No message yet."), ("group", "ops", f"/messages/{message}", "One", "This is not there, or not for you."))
    for kind, name, path, heading, gone in ways:
        share(root, topic, kind, name)
        # No line of the page before is left.
        ben.page.go("about:blank")
        watched(root, token, topic, 0)
        ben.go(path, heading)
        ben.page.until("document.querySelector('#rail').textContent.includes('alerts')")
        watched(root, token, topic, 1)
        if path == "/feed":
            ben.page.until("articles().length === 1")
            root.server.publish(token, topic, "Two")
            ben.becomes("what is shared is seen, and heard live", own, [True, ["Two", "One"]])
        if kind == "group":
            root.go("/people", "People")
            root.page.until("Boolean(named('Take ben out of ops'))")
        ben.same(f"before it is taken back from the {kind} it is there", ben.page.run(f"return [heading(), document.body.innerText.includes({json.dumps(gone)})];"), [heading, False])
        began = time.monotonic()
        if kind == "user":
            root.page.press_in(GRANTS, name, "Take back")
        else:
            root.page.press("Take ben out of ops")
        ben.page.says(gone)
        print(f"      {kind} {name}: gone {time.monotonic() - began:.2f} s after the press", flush=True)
        ben.becomes(f"what is taken back from a {kind} is in no list and on no page", own, [False, []])
    ben.go(f"/topics/{topic}", "This cannot be shown")


def failing(root, ben, simulator, token, topic):
    """A push to ben's phone that Apple refuses: root sees and explains it, and tries it again from the message's page."""
    server, page = root.server, root.page
    bens = server.administer("token", "create", "--user", "ben")
    register = 'mutation($t: String!) { registerPushToken(token: $t, platform: "ios", environment: "sandbox", name: "Ben\'s phone") { userId } }'
    server.post(bens, register, t="b7" * 32)
    server.post(token, "mutation($i: GrantInput!) { grantTopic(input: $i) { id } }", i={"topicId": topic, "user": "ben", "roles": ["READER"], "push": True})
    simulator.ask("/_script", {"rules": [{"provider": "apns", "fault": "BadPriority", "token": "b7", "times": 1}]})
    server.publish(token, topic, "Refused")
    root.go(f"/messages/{newest(server, token, topic)}", "Refused")
    phone = f"""rows('{PUSHES}', "Ben's phone").map((each) => each.cells[1].textContent)"""
    root.becomes("a push that Apple refuses is told on the message's page", phone, ["refused for good: BadPriority"])
    # Its own field has the name of who looks.
    page.until("field('User')?.value === 'root'")
    page.fill("User", "ben")
    page.press("Explain")
    root.becomes("why ben did not get it is explained", "[...document.querySelectorAll('main li.failed')].some((each) => /BadPriority/.test(each.textContent))", True)
    page.press("Try again what was refused for good (1)")
    page.says("They are due again.")
    root.becomes("and it goes out when it is tried again, which the page tells by itself", phone, ["accepted by the push service"])
    tried = [each["status"] for each in simulator.ask("/_pushes") if each["provider"] == "apns"]
    root.same("the push service was asked twice", tried, [400, 200])
    ben.go("/deliveries", "Deliveries with problems")
    ben.page.says("No push failed")


def rotated(root):
    """A token and its successor; the older one dies when it is told to, and the newer one goes on."""
    page, server = root.page, root.server
    root.go("/tokens", "Tokens")
    made = []
    page.fill("Name", "scripts")
    page.choose("What it does", "publishes to alerts")
    page.press("Make it")
    page.until(f"rows('{TOKENS}', 'scripts').length === 1")
    made.append(page.until("document.querySelector('main pre')?.textContent"))
    page.press_in(TOKENS, "scripts", "Rotate")
    page.until(f"rows('{TOKENS}', 'scripts').length === 2")
    made.append(page.until(f"[...document.querySelectorAll('main pre')].map((each) => each.textContent).find((each) => each !== {json.dumps(made[0])})"))
    root.same("a token and its successor are both good for a while", [status(server, each) for each in made], [200, 200])
    # The one that was rotated ends sooner.
    ends = "rows('%s', 'scripts').map((each) => Date.parse(each.cells[3].querySelector('time').dateTime))" % TOKENS
    page.run(f"const ends = {ends}, row = rows('{TOKENS}', 'scripts')[ends.indexOf(Math.min(...ends))]; [...row.querySelectorAll('button')].find((each) => called(each, 'Revoke')).click();")
    page.until(f"rows('{TOKENS}', 'scripts').length === 1")
    root.same("the older one is dead once it is revoked, and its successor is not", [status(server, each) for each in made], [401, 200])


# One's own


def networks(here):
    """Tokens that are good from some networks alone; what is none is refused at its field."""
    page, made = here.page, []
    here.go("/tokens", "Tokens")
    page.fill("Name", "office")
    page.choose("What it does", "does all that you can do")
    page.fill("From these networks alone", "10.0.0.0/8, somewhere")
    page.press("Make it")
    page.says('"somewhere" is no network')
    here.becomes("what is no network is refused at its field", "[document.activeElement === field('From these networks alone'), document.activeElement.ariaInvalid]", [True, "true"])
    for name, text in (("office", "10.0.0.0/8 fd00::/8"), ("here", "127.0.0.0/8")):
        page.fill("Name", name)
        page.fill("From these networks alone", text)
        page.press("Make it")
        # What gives all that one may do asks who one is, once.
        if page.until(f"document.querySelector('dialog')?.open ? 'asked' : rows('{TOKENS}', '{name}').length === 1 && 'made'") == "asked":
            here.prove()
        page.until(f"rows('{TOKENS}', '{name}').length === 1")
        made.append(page.until(f"[...document.querySelectorAll('main pre')].map((each) => each.textContent).find((each) => !{json.dumps(made)}.includes(each))"))
    here.same("a token works from its networks alone", [status(here.server, each) for each in made], [401, 200])


def look_and_zone(here, firefox):
    """A theme at once, in the other window and after a reload; the time zone, which the server keeps."""
    page = here.page
    other = window(firefox)
    other.go(here.server.address + "/feed")
    other.until("heading() === 'All messages'")
    here.go("/account", "Account")
    before = page.run(f"return {COLOUR};")
    page.choose("Theme", "dark")
    here.becomes("a theme that is chosen is there at once", COLOUR, DARK)
    Person(here.server, other, here.checks).becomes("and in the other window", COLOUR, DARK)
    other.close()
    here.go("/account", "Account")
    here.becomes("and after a reload", f"[{COLOUR}, field('Theme').value]", [DARK, "dark"])
    page.choose("Theme", "light")
    here.becomes("and light again", COLOUR, LIGHT)
    here.same("the theme was light before", before, LIGHT)
    page.fill("Time zone", "Nowhere/City")
    page.press("Save it")
    page.until("[...document.querySelectorAll('[role=alert]')].some((each) => each.textContent.includes('Nowhere/City'))")
    page.fill("Time zone", "Europe/Berlin")
    page.press("Save it")
    page.says("Your time zone is Europe/Berlin.")
    here.go("/account", "Account")
    here.becomes("a time zone is kept, and one that is none is refused", "field('Time zone').value", "Europe/Berlin")


def sessions(here, firefox):
    """One press ends all other sessions, whose pages say so at once."""
    page, others = here.page, [Person.beside(here.server, firefox, here.checks) for _ in range(2)]
    for other in others:
        other.sign_in("root", "All messages")
        other.page.until(LIVE)
    here.go("/account", "Account")
    page.until(f"rows('{SESSIONS}').length === 3")
    page.press("End all 2 others")
    page.says("All other sessions have ended.")
    for other in others:
        other.at("Sign in")
        other.page.close()
    here.becomes("one press ends all other sessions", f"[rows('{SESSIONS}').length, heading()]", [1, "Account"])


def walk(root, firefox, simulator):
    server = root.server
    token = server.administer("token", "create", "--user", "root")
    topic = server.create_topic(token, "alerts")
    server.publish(token, topic, "One")
    # Who reads nothing has a page of their own.
    server.create_topic(server.administer("token", "create", "--user", "ben"), "bens")
    group = server.post(token, 'mutation { createGroup(name: "ops") { id } }')["createGroup"]["id"]
    server.post(token, 'mutation($g: ID!) { addGroupMember(groupId: $g, user: "ben") { id } }', g=group)
    ben = Person.beside(server, firefox, root.checks)
    root.sign_in("root", "All messages")
    ben.sign_in("ben", "All messages")
    taken_back(root, ben, token, topic)
    failing(root, ben, simulator, token, topic)
    rotated(root)
    ben.page.close()
    networks(root)
    look_and_zone(root, firefox)
    sessions(root, firefox)
    root.same("no page complains", complaints(firefox), [])


if __name__ == "__main__":
    in_firefox(walk, "ben", simulated=True)
