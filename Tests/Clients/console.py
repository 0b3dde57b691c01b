"""Walks through the console of the built server as people do, in headless Chromium. Every page is looked at by axe, no
request leaves for another host, and no page breaks its own security policy. What screen readers are told of each view is compared with the texts in
trees/, which `--accept` writes anew. Use: console.py BINARY [CHROMIUM] [PICTURES] [--accept]"""

import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import time
import traceback
import urllib.request

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect, sync_playwright

from tocsin import Checks, Server, Simulator
from trees import Trees

FILES = os.path.join(os.path.dirname(__file__), "..", "..", "Sources", "Console")
PASSWORD = "correct horse battery"
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
HOSTILE = "<img src=x onerror=alert(1)> \u202e javascript:alert(1) {{7*7}} '\"><script>alert(1)</script>"


class Walk:
    """One page of a browser, and what people do on it."""

    last = None

    def __init__(self, server, context, checks, pictures, trees=None):
        self.server, self.checks, self.pictures, self.trees = server, checks, pictures, trees
        self.context = context
        self.page = context.new_page()
        Walk.last = self
        self.requests, self.complaints = [], []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("console", self.said)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", lambda dialog: dialog.accept())
        self.page.set_default_timeout(60_000)
        # Whatever a desktop would show on the app's icon.
        self.page.add_init_script("navigator.setAppBadge = async (count) => { window.badge = count; }; navigator.clearAppBadge = async () => { window.badge = 0; };")

    def same(self, name, seen, wanted):
        self.checks.report(name, None if seen == wanted else AssertionError(f"{seen} in place of {wanted}"))

    def said(self, message):
        # A page that asks who is signed in is told 401, which browsers report.
        if message.type == "error" and "401" not in message.text:
            self.complaints.append(message.text)

    def go(self, path, heading):
        self.page.goto(self.server.address + path)
        self.at(heading)

    def at(self, heading):
        expect(self.page.get_by_role("heading", level=1, name=heading)).to_be_visible(timeout=60_000)

    def heard(self, name, part="main"):
        """What screen readers are told of a part of the page."""
        if self.trees:
            self.trees.look(name, self.page, part)

    def judged(self, name):
        """What screen readers are told, what axe finds in light and in dark, and at 320 pixels whether it scrolls sideways."""
        self.heard(name)
        found = []
        for scheme in ("light", "dark"):
            self.page.emulate_media(color_scheme=scheme)
            result = Axe().run(self.page, options={"runOnly": {"type": "tag", "values": TAGS}})
            found += [f"{scheme}: {each['id']}: {each['nodes'][0]['html'][:120]}" for each in result.response["violations"]]
            self.picture(f"{name}-{scheme}")
        self.page.emulate_media(color_scheme="light")
        self.page.set_viewport_size({"width": 390, "height": 844})
        if name == "start":
            self.heard("bar of a narrow screen", "#dock")
        self.picture(f"{name}-390-light")
        if self.pictures:
            self.page.emulate_media(color_scheme="dark")
            self.picture(f"{name}-390-dark")
            self.page.emulate_media(color_scheme="light", forced_colors="active")
            self.picture(f"{name}-390-forced")
            self.page.emulate_media(forced_colors="none")
        # 1280 by 800 pixels at 400 %.
        self.page.set_viewport_size({"width": 320, "height": 200})
        wide = self.page.evaluate("document.documentElement.scrollWidth")
        self.picture(f"{name}-400-percent")
        self.page.set_viewport_size({"width": 1280, "height": 800})
        self.same(f"{name}: axe finds nothing, and 320 pixels, or 400 %, are enough", found + ([f"{wide} px"] if wide > 320 else []), [])

    def picture(self, name):
        """A picture of the whole page: what is not on the screen is drawn too, and the bar below is where the page ends."""
        if not self.pictures:
            return
        shown = "each => document.querySelectorAll('article').forEach(({ style }) => { style.contentVisibility = each; })"
        self.page.evaluate(shown, "visible")
        before = self.page.viewport_size
        if before["height"] > 400:
            self.page.set_viewport_size({"width": before["width"], "height": min(8000, max(before["height"], self.page.evaluate("document.documentElement.scrollHeight")))})
        # What scrolls by itself is drawn a frame later.
        self.page.evaluate("new Promise((after) => requestAnimationFrame(() => requestAnimationFrame(after)))")
        self.page.screenshot(path=os.path.join(self.pictures, f"{name}.png".replace(" ", "-")), full_page=True)
        self.page.set_viewport_size(before)
        self.page.evaluate(shown, "")

    def sign_in(self, name, judged=True):
        self.go("/", "Sign in")
        self.page.get_by_label("User name").fill(name)
        self.page.get_by_label("Password").fill("wrong")
        self.page.get_by_role("button", name="Sign in").click()
        expect(self.page.get_by_role("alert")).to_contain_text("wrong", timeout=60_000)
        if judged:
            self.judged("sign-in")
        self.page.get_by_label("Password").fill(PASSWORD)
        self.page.get_by_role("button", name="Sign in").click()


def told(server, error):
    """Says what went wrong, the most telling last, as logs are cut at their beginning."""
    traceback.print_exception(error)
    if Walk.last:
        try:
            print("The page shows:", Walk.last.page.locator("body").aria_snapshot(timeout=5_000)[:3000], sep="\n")
        except Exception as blind:  # pylint: disable=broad-except
            print(f"The page shows nothing any more: {str(blind)[:300]}")
        print("The page complained of:", Walk.last.complaints[-5:], "at", Walk.last.page.url)
    log = open(server.log.name, encoding="utf-8", errors="replace").read().splitlines()[-20:]
    print("The server's log ends with:", *(line[:300] for line in log), sep="\n")
    here = [f"{each.name} line {each.lineno}: {each.line}" for each in traceback.extract_tb(error.__traceback__) if os.path.dirname(__file__) in each.filename and "site-packages" not in each.filename]
    print("The walk ended at:", *here, str(error).split("Aria snapshot")[0][-1500:], sep="\n", flush=True)
    raise SystemExit(1)


def add_person(server, name, *more):
    """Somebody who signs in with PASSWORD."""
    command = [server.binary, "user", "add", name, *more, "--password-stdin", "--data-dir", os.path.join(server.folder, "data")]
    subprocess.run(command, input=PASSWORD, text=True, check=True, capture_output=True, timeout=60)


def in_chromium(walk, *others, root=True):
    """Runs `walk(server, browser, checks)` at a server with the administrator root, where it is to be there, and others.
    Arguments: BINARY [CHROMIUM]."""
    program = sys.argv[2] if len(sys.argv) > 2 else shutil.which("chromium")
    checks = Checks()
    # A debug build hashes passwords slowly, and last of all where the machine is busy.
    os.environ["TOCSIN_EXECUTION_SECONDS"] = "60"
    server = Server(sys.argv[1])
    try:
        if root:
            add_person(server, "root", "--admin")
        for name in others:
            add_person(server, name)
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
            try:
                walk(server, browser, checks)
            except Exception as error:  # pylint: disable=broad-except
                told(server, error)
            browser.close()
    finally:
        server.stop()
    checks.end()


def weight(server, addresses):
    """How many bytes these files take on their way to a browser."""
    headers = {"Accept": "text/html", "Accept-Encoding": "gzip"}
    return sum(len(urllib.request.urlopen(urllib.request.Request(each, headers=headers), timeout=20).read()) for each in addresses)


def walk(server, simulator, context, checks, pictures, trees):
    here = Walk(server, context, checks, pictures, trees)
    page = here.page
    here.sign_in("root")
    here.at("Start")
    here.judged("start")
    page.get_by_role("button", name="Make it").click()
    expect(page.get_by_text("You have the topic alerts")).to_be_visible(timeout=60_000)
    page.get_by_role("button", name="Show the command").click()
    command = page.locator("pre").first
    expect(command).to_contain_text("curl", timeout=60_000)
    sent = subprocess.run(["bash", "-c", command.inner_text()], capture_output=True, text=True, timeout=60)
    here.same("the command that Start shows publishes", '"event":"message"' in sent.stdout, True)
    expect(page.get_by_text("It came:")).to_be_visible(timeout=60_000)
    # The last step sends once more by it.
    expect(command).to_be_visible()
    here.same("who has asked for the command is there still when a message comes", page.evaluate("document.activeElement.textContent.startsWith('Show the command')"), True)

    before = len(here.requests)
    here.go("/feed", "All messages")
    expect(page.get_by_role("article")).to_have_count(1, timeout=60_000)
    expect(page.get_by_text("● live")).to_be_visible(timeout=60_000)
    here.heard("all messages", "body")
    page.keyboard.press("?")
    here.heard("keys", "dialog")
    page.keyboard.press("Escape")
    first = weight(server, {each for each in here.requests[before:] if "/graphql" not in each and "/auth/" not in each})
    page.get_by_role("link", name="Send", exact=True).click()
    here.at("Send")
    page.get_by_label("Title").fill("Disk full")
    page.get_by_label("Text").fill("db-3 is at 91 %\n" + HOSTILE)
    page.get_by_label("Priority").select_option("5")
    shown = page.get_by_role("region", name="As a push")
    expect(shown).to_contain_text("Disk full")
    expect(shown).to_contain_text("iPhone: sounds through silence")
    here.judged("send")
    page.get_by_role("main").get_by_role("button", name="Send").click()
    here.at("Disk full")
    expect(page.get_by_role("heading", name="Pushes")).to_be_visible()
    here.same("a hostile text is shown as text", HOSTILE in page.locator("pre").first.text_content(), True)
    page.get_by_role("button", name="Explain").click()
    expect(page.locator("li.passed").first).to_be_visible(timeout=60_000)
    here.judged("message")

    page.get_by_role("link", name="alerts", exact=False).first.click()
    here.at("alerts")
    expect(page.get_by_text("● live")).to_be_visible(timeout=60_000)
    token = server.administer("token", "create", "--user", "root")
    topic = page.url.rsplit("/", 1)[1]
    server.post(token, "mutation($i: CreateMessageInput!) { createMessage(input: $i) { id } }", i={"topicId": topic, "title": "Live one", "body": "", "type": 0})
    expect(page.get_by_role("article").first).to_contain_text("Live one", timeout=60_000)
    server.kill_and_restart()
    server.post(token, "mutation($i: CreateMessageInput!) { createMessage(input: $i) { id } }", i={"topicId": topic, "title": HOSTILE, "body": "", "type": 0})
    expect(page.get_by_role("article")).to_have_count(4, timeout=60_000)
    here.same("E6: a page signs in, shows topics, and its feed goes on after a kill of the server, without a message twice", page.get_by_role("article").count(), 4)
    here.complaints = [each for each in here.complaints if "WebSocket" not in each and "ERR_" not in each]
    here.judged("topic")
    colours(here)

    page.get_by_role("link", name="Topic settings").click()
    here.at("alerts: settings")
    page.get_by_label("Name of the user or group").fill("ben")
    page.get_by_role("button", name="Share").click()
    expect(page.get_by_text("user ben")).to_be_visible(timeout=60_000)
    here.judged("topic settings")
    page.get_by_role("button", name="Take back").click()
    expect(page.get_by_text("Nobody yet.")).to_be_visible(timeout=60_000)
    pushed(here, simulator, token, topic)
    integrations(here, token, topic)
    incidents(here, token, topic)
    looked_for(here, token, topic)
    for path, heading in (("/devices", "Devices"), ("/tokens", "Tokens"), ("/people", "People"), ("/groups", "Groups"), ("/account", "Account")):
        here.go(path, heading)
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        here.judged(heading.lower())
    here.go("/tokens", "Tokens")
    page.get_by_label("Name").fill("everything")
    page.get_by_label("What it does").select_option("full")
    page.get_by_role("button", name="Make it").click()
    expect(page.get_by_role("dialog")).to_be_visible(timeout=60_000)
    here.heard("prove", "dialog")
    page.get_by_role("dialog").get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Go on").click()
    expect(page.get_by_text("shown this once")).to_be_visible(timeout=60_000)
    here.heard("a new token")
    tokens(here)
    here.go("/topics/nothing", "This cannot be shown")
    here.judged("no such topic")
    here.go("/account", "Account")
    page.get_by_role("button", name="Sign out").click()
    here.at("Sign in")
    here.same(f"the first view takes {first / 1000:.0f} kB, at most 60", first <= 60_000, True)
    packed = sum(len(gzip.compress(open(os.path.join(FILES, name), "rb").read(), 9)) for name in os.listdir(FILES))
    here.same(f"all files of the console take {packed / 1000:.0f} kB gzip, at most 150", packed <= 150_000, True)
    here.same("no request leaves for another host", [url for url in here.requests if not url.startswith(server.address)], [])
    here.same("no page complains", here.complaints, [])


def pushed(here, simulator, token, topic):
    """Sees what becomes of pushes while it does: on the message's page, among the devices, and among what failed."""
    page, server = here.page, here.server
    register = 'mutation($t: String!) { registerPushToken(token: $t, platform: "ios", environment: "sandbox") { userId } }'
    for each in ("a1", "b2"):
        server.post(token, register, t=each * 32)
    server.post(token, "mutation($id: ID!) { subscribeToTopic(topicId: $id, push: true) { push } }", id=topic)
    # One is taken when the walk says so, as its push service is busy until then; the other never.
    rules = [{"provider": "apns", "fault": "ServiceUnavailable", "token": "a1"}, {"provider": "apns", "fault": "BadPriority", "token": "b2"}]
    simulator.ask("/_script", {"rules": rules})
    here.go(f"/send?topic={topic}", "Send")
    page.get_by_label("Title").fill("To both phones")
    page.get_by_role("main").get_by_role("button", name="Send").click()
    here.at("To both phones")
    rows = page.get_by_role("table", name="Pushes of this message").get_by_role("row")
    expect(rows.filter(has_text="refused for good: BadPriority")).to_have_count(1, timeout=60_000)
    expect(rows.filter(has_text="tried")).to_have_count(1, timeout=60_000)
    here.judged("message with pushes")
    simulator.ask("/_script", {"rules": []})
    expect(rows.filter(has_text="accepted by the push service")).to_have_count(1, timeout=120_000)
    here.same("an outcome is on the page as soon as it is there", rows.count(), 3)
    here.go("/devices", "Devices")
    expect(page.get_by_role("table", name="Your devices").get_by_role("row")).to_have_count(3, timeout=60_000)
    here.judged("devices with phones")
    here.go("/deliveries", "Deliveries with problems")
    expect(page.get_by_role("heading", name="iPhone: refused for good")).to_be_visible(timeout=60_000)
    here.judged("problems")
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_text("No push failed")).to_be_visible(timeout=60_000)


def tokens(here):
    """Makes a token that only publishes, rotates it, and revokes one of the two."""
    page, server = here.page, here.server

    def status(token):
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {token}"}
        request = urllib.request.Request(server.address + "/graphql", b'{"query": "{ __typename }"}', headers)
        try:
            return urllib.request.urlopen(request, timeout=20).status
        except urllib.error.HTTPError as refusal:
            return refusal.code

    page.get_by_label("Name").fill("scripts")
    page.get_by_label("What it does").select_option("publishes to alerts")
    page.get_by_role("button", name="Make it").click()
    row, once = page.get_by_role("row").filter(has_text="scripts"), page.locator("pre").last
    expect(row).to_have_count(1, timeout=60_000)
    old = once.inner_text()
    row.get_by_role("button", name="Rotate").click()
    expect(row).to_have_count(2, timeout=60_000)
    new = once.inner_text()
    here.same("a token and its successor are both good for a while", [status(each) for each in (old, new)], [200, 200])
    row.last.get_by_role("button", name="Revoke").click()
    expect(row).to_have_count(1, timeout=60_000)
    here.same("the one that is revoked is refused at once", sorted(status(each) for each in (old, new)), [200, 401])


def colours(here):
    """Where the system chooses all colours, what is chosen, focused or main is told by lines."""
    page = here.page
    page.emulate_media(forced_colors="active")
    lines = page.evaluate("""[...document.querySelectorAll("#rail a")].map((each) => getComputedStyle(each).borderTopStyle + " " + each.getAttribute("aria-current"))""")
    here.same("with forced colours the present place has a line", {each for each in lines}, {"none null", "solid page"})
    page.keyboard.press("Tab")
    here.same("and so has what has the focus", page.evaluate("getComputedStyle(document.activeElement).outlineStyle"), "solid")
    here.picture("forced-colours")
    page.emulate_media(forced_colors="none")


def looked_for(here, token, topic):
    """Finds a message by its text, sees what failed and tries it again, and reads who did what."""
    page, server = here.page, here.server
    page.get_by_role("link", name="Search", exact=True).click()
    here.at("Search")
    page.get_by_label("Text in title or body").fill("disk full")
    page.get_by_role("button", name="Search").click()
    # One by the command of Start, one by the console.
    expect(page.get_by_role("article")).to_have_count(2, timeout=60_000)
    # What is not on the screen is not rendered, and has no inner text.
    here.same("what was looked for is marked", page.locator("mark").first.text_content(), "Disk full")
    here.judged("search")
    page.get_by_label("To", exact=True).fill("2020-01-01")
    page.get_by_role("button", name="Search").click()
    expect(page.get_by_text("No message has it.")).to_be_visible(timeout=60_000)
    here.go("/search?q=stuck&topic=" + topic, "Search")
    expect(page.get_by_role("article").first).to_be_visible(timeout=60_000)

    here.go("/deliveries", "Deliveries with problems")
    expect(page.get_by_text("No push failed")).to_be_visible(timeout=60_000)
    here.judged("no problems")

    page.get_by_role("link", name="Audit", exact=True).click()
    here.at("Audit")
    page.get_by_label("What", exact=False).first.fill("topic.*")
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_role("table", name="What was done").get_by_text("topic.create").first).to_be_visible(timeout=60_000)
    here.judged("audit")
    here.go("/audit", "Audit")
    expect(page.get_by_text("● live")).to_be_visible(timeout=60_000)
    for verb in ("create", "delete"):
        server.administer("group", verb, "passing")
    newest = page.get_by_role("table", name="What was done").locator("tbody tr").first
    expect(newest).to_contain_text("group.delete", timeout=60_000)

    page.get_by_role("link", name="Node", exact=True).click()
    here.at("Node")
    expect(page.get_by_text("takes requests. Tocsin")).to_be_visible(timeout=60_000)
    memory = page.locator("section").filter(has=page.get_by_role("heading", name="Memory"))
    expect(memory.get_by_role("img")).to_have_accessible_name(re.compile(r"^Memory\. \d+(\.\d)? MB, at most"), timeout=60_000)
    memory.get_by_text("As a table").click()
    expect(memory.get_by_role("cell").nth(1)).to_contain_text("MB")
    page.get_by_role("button", name="The last day").click()
    expect(page.get_by_role("button", name="The last day")).to_have_attribute("aria-pressed", "true")
    page.locator("summary", has_text="settings").click()
    expect(page.get_by_role("table", name="Settings")).to_contain_text("metrics")
    here.judged("node")


def shared(server, context, checks, token, topic):
    """Who may only read a topic answers its incidents, sees none of its integrations, and is seen by others live."""
    here = Walk(server, context, checks, None)
    page = here.page
    here.sign_in("ben")
    here.at("Start")
    grant = {"topicId": topic, "user": "ben", "roles": ["READER"]}
    server.post(token, "mutation($i: GrantInput!) { grantTopic(input: $i) { id } }", i=grant)
    here.go("/incidents?state=OPEN", "Incidents")
    page.get_by_role("link", name="DiskFull").click()
    here.at("DiskFull (2 firing)")
    page.get_by_role("button", name="Acknowledge").click()
    expect(page.locator(".standing")).to_contain_text("ben (console) has it", timeout=60_000)
    here.go(f"/topics/{topic}/integrations", "alerts: integrations")
    expect(page.get_by_text("Only who may publish to this topic adds integrations.")).to_be_visible()
    here.same("a reader is shown no integrations", page.get_by_role("article").count(), 0)
    here.judged("integrations of others")
    here.go(f"/topics/{topic}", "alerts")
    # What is unread is counted from the first mark on.
    page.get_by_role("button", name="Mark all as read").click()
    page.wait_for_function("() => window.badge === 0")
    server.publish(token, topic, "For ben")
    page.wait_for_function("() => window.badge === 1")
    page.get_by_role("button", name="Unread only").click()
    expect(page.get_by_role("article").locator("visible=true")).to_have_count(1, timeout=60_000)
    page.get_by_role("button", name="Mark as read up to For ben").click()
    page.wait_for_function("() => window.badge === 0")
    expect(page.get_by_text("Nothing here passes the filters.")).to_be_visible(timeout=60_000)
    page.get_by_role("button", name="Unread only").click()
    here.same("the icon's badge has counted what is not read", page.evaluate("badge"), 0)
    inbox = server.create_topic(token, "inbox")
    server.post(token, "mutation($i: GrantInput!) { grantTopic(input: $i) { id } }", i=grant | {"topicId": inbox, "roles": ["PUBLISHER"]})
    here.go(f"/topics/{inbox}", "inbox")
    expect(page.get_by_text("You may publish here, and not read what comes.")).to_be_visible(timeout=60_000)
    page.wait_for_load_state("networkidle")
    here.same("who may publish alone is told once that they may not read", page.get_by_role("heading", level=1).inner_text(), "inbox")
    here.same("no page of a reader complains", here.complaints, [])
    page.close()


def alerts(*states):
    """What Alertmanager posts of one group, an alert a state."""
    return {
        "version": "4", "groupKey": "disk", "receiver": "tocsin", "status": "firing" if "firing" in states else "resolved",
        "groupLabels": {"alertname": "DiskFull"}, "commonLabels": {"severity": "critical"}, "commonAnnotations": {},
        "externalURL": "https://alerts.example", "truncatedAlerts": 0,
        "alerts": [
            {
                "status": state, "labels": {"alertname": "DiskFull", "instance": f"db-{index}"},
                "annotations": {"summary": f"{HOSTILE} db-{index}"}, "startsAt": "2026-11-28T03:00:00Z",
                "endsAt": "0001-01-01T00:00:00Z" if state == "firing" else "2026-11-28T03:10:00Z",
                "generatorURL": "javascript:alert(1)", "fingerprint": f"f{index}",
            }
            for index, state in enumerate(states)
        ],
    }


def posted(server, key, body, path="/in/alertmanager"):
    """The status of a post to a way in."""
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {key}"}
    request = urllib.request.Request(server.address + path, json.dumps(body).encode(), headers)
    try:
        return urllib.request.urlopen(request, timeout=20).status
    except urllib.error.HTTPError as refusal:
        return refusal.code


def integrations(here, token, topic):
    """Makes a way in, posts by its key, looks at what came, and ends keys."""
    page, server = here.page, here.server
    here.go(f"/topics/{topic}/settings", "alerts: settings")
    page.get_by_role("link", name="Integrations of this topic").click()
    here.at("alerts: integrations")
    # The one that Start made.
    page.get_by_text("Turn off or delete").click()
    page.get_by_role("button", name="Delete: first steps").click()
    expect(page.get_by_text("No integration yet.")).to_be_visible(timeout=60_000)
    here.judged("no integrations")
    page.get_by_label("Name").fill("Alertmanager of ops")
    page.get_by_label("What posts here").select_option("ALERTMANAGER")
    page.get_by_role("button", name="Add it").click()
    expect(page.get_by_role("heading", name="shown this once")).to_be_visible(timeout=60_000)
    key = page.locator(".once pre").first.text_content()
    here.same("the snippet has the key that is shown", key in page.locator(".once pre").last.text_content(), True)
    here.judged("a new key")
    here.same("a sender posts by the key of the snippet", posted(server, key, alerts("firing", "firing")), 200)
    here.same("a post that is no alert is refused", posted(server, key, {}), 400)
    here.go(f"/topics/{topic}/integrations", "alerts: integrations")
    here.same("the key is not shown again", key in page.content(), False)
    expect(page.get_by_text("Last trouble:")).to_be_visible(timeout=60_000)
    page.get_by_text("Recent requests").click()
    expect(page.get_by_text("opened an incident")).to_be_visible(timeout=60_000)
    page.get_by_text("What was posted").last.click()
    here.judged("integrations")
    page.get_by_text("Preview", exact=True).click()
    page.get_by_label("Body").fill(json.dumps(alerts("firing", "firing")))
    page.get_by_role("button", name="Show what it becomes").click()
    would = page.get_by_role("table", name="What it would become in Alertmanager of ops")
    expect(would).to_contain_text("trigger", timeout=60_000)
    expect(page.get_by_text("The sender would get 200.")).to_be_visible()
    here.judged("a preview")
    page.get_by_label("Body").fill("no alert")
    page.get_by_role("button", name="Show what it becomes").click()
    expect(page.get_by_text("The sender would get 400.")).to_be_visible(timeout=60_000)
    page.get_by_role("button", name="New key: Alertmanager of ops").click()
    expect(page.get_by_role("heading", name="shown this once")).to_be_visible(timeout=60_000)
    newer = page.locator(".once pre").first.text_content()
    here.same("a newer key is good, and the one before too", [posted(server, each, alerts("firing", "firing")) for each in (newer, key)], [200, 200])
    page.get_by_role("button", name=f"Revoke {key[:4]}…: Alertmanager of ops").click()
    expect(page.get_by_text(f"{key[:4]}…")).to_have_count(0, timeout=60_000)
    here.same("a key that was revoked is refused, its successor is not", [posted(server, each, alerts("firing", "firing")) for each in (key, newer)], [401, 200])
    turned_off(here, token, topic, newer)
    page.get_by_text("Turn off or delete").click()
    page.get_by_role("button", name="Delete: Alertmanager of ops").click()
    expect(page.get_by_text("No integration yet.")).to_be_visible(timeout=60_000)
    own_template(here)


def turned_off(here, token, topic, key):
    """It is turned off although somebody has changed it since the page was drawn; where nothing was done, that is said."""
    page, server = here.page, here.server
    change = "mutation($i: UpdateIntegrationInput!) { updateIntegration(input: $i) { _version } }"
    listed = "query($t: ID!) { page: integrationsByTopicId(topicId: $t) { items { id _version _deleted } } }"
    found = next(each for each in server.post(token, listed, t=topic)["page"]["items"] if not each["_deleted"])
    server.post(token, change, i={"id": found["id"], "enabled": True, "_version": found["_version"]})
    off = page.get_by_role("button", name="Turn off: Alertmanager of ops")
    # Somebody who is quicker each time, to whom a server that merges gives way.
    merged = {"data": {"updateIntegration": {"enabled": True}}}
    page.route("**/graphql", lambda route: route.fulfill(json=merged) if "mutation Change" in (route.request.post_data or "") else route.continue_())
    page.get_by_text("Turn off or delete").click()
    off.click()
    expect(page.get_by_text("Others change it at the same time, and nothing was done.")).to_be_visible(timeout=60_000)
    page.unroute("**/graphql")
    page.get_by_text("Turn off or delete").click()
    server.post(token, change, i={"id": found["id"], "enabled": True, "_version": found["_version"] + 1})
    off.click()
    expect(page.get_by_text("off: takes nothing")).to_be_visible(timeout=60_000)
    here.same("an integration that was changed meanwhile is turned off all the same", posted(server, key, alerts("firing")), 401)


def own_template(here):
    """Writes a template, is told of its mistakes where they are, tries it on a body before it is saved, and posts by it."""
    page, server = here.page, here.server
    fields, problem = page.get_by_role("textbox", name="Template"), page.get_by_role("alert")
    page.get_by_label("Name").fill("Backups")
    page.get_by_label("What posts here").select_option("any JSON, by a template of your own")
    fields.fill('{"rules": [{"event": {"action": "log", "title": "{host | shout}"}}]}')
    page.get_by_role("button", name="Add it").click()
    expect(problem).to_contain_text("shout", timeout=60_000)
    expect(fields).to_be_focused()
    here.judged("a template with a mistake")
    fields.fill('{"rules": [{"event": {"action": "log", "title": "Backup of {host}"}}]}')
    page.get_by_role("button", name="Add it").click()
    expect(page.get_by_role("heading", name="The new key of Backups")).to_be_visible(timeout=60_000)
    key = page.locator(".once pre").first.text_content()
    page.get_by_text("Template and preview").click()
    editor = page.get_by_role("article").get_by_role("textbox", name="Template")
    expect(editor).to_have_value(re.compile("Backup of"))
    editor.fill('{"rules": [}')
    page.get_by_role("button", name="Save the template").click()
    expect(problem).to_contain_text("The template is no JSON: ", timeout=60_000)
    expect(editor).to_be_focused()
    editor.fill('{"rules": [{"event": {"action": "log", "title": "{host | upper} is saved"}}]}')
    page.get_by_label("Body").fill('{"host": "db-3"}')
    page.get_by_role("button", name="Show what it becomes").click()
    expect(page.get_by_role("table", name="What it would become in Backups")).to_contain_text("DB-3 is saved", timeout=60_000)
    here.judged("a template")
    page.get_by_role("button", name="Save the template").click()
    expect(page.get_by_text("The template is saved.")).to_be_visible(timeout=60_000)
    another_template(here, editor, problem)
    here.same("a sender posts by the key of a template", posted(server, key, {"host": "db-4"}, "/in/" + key), 202)
    page.get_by_text("Recent requests").click()
    again, way = page.get_by_role("button", name="Look again"), page.get_by_role("link", name="the message")
    expect(again).to_be_visible(timeout=60_000)
    # Requests are noted a moment later.
    deadline = time.monotonic() + 60
    while not way.is_visible() and time.monotonic() < deadline:
        again.click()
        page.wait_for_timeout(200)
    way.click()
    here.at("DB-4 is saved")
    page.go_back()
    here.at("alerts: integrations")
    page.get_by_text("Turn off or delete").click()
    page.get_by_role("button", name="Delete: Backups").click()
    expect(page.get_by_text("No integration yet.")).to_be_visible(timeout=60_000)


def another_template(here, editor, problem):
    """Another window saves between: it is said and shown, what was typed stays through a redraw, and a second press replaces."""
    page, other = here.page, here.context.new_page()
    # A save draws the page anew, where the field is folded away.
    expect(editor).to_be_hidden(timeout=60_000)
    page.get_by_text("Template and preview").click()
    name, began = "Save the template", editor.input_value()
    mine, theirs = began.replace("is saved", "is mine"), began.replace("is saved", "is theirs")
    editor.fill(mine)
    other.goto(page.url)
    other.get_by_text("Template and preview").click()
    other.get_by_role("article").get_by_role("textbox", name="Template").fill(theirs)
    other.get_by_role("button", name=name).click()
    expect(other.get_by_text("The template is saved.")).to_be_visible(timeout=60_000)
    # The page is drawn anew, with the newer version.
    page.get_by_role("button", name="New key: Backups").click()
    expect(page.get_by_role("heading", name="The new key of Backups")).to_be_focused(timeout=60_000)
    expect(editor).to_have_value(mine)
    page.get_by_role("button", name=name).click()
    expect(problem).to_contain_text("Somebody has saved another template", timeout=60_000)
    expect(editor).to_be_focused()
    expect(editor).to_have_value(mine)
    expect(page.get_by_role("article").locator("pre").filter(has_text="is theirs")).to_be_visible()
    here.judged("a template that somebody else has changed")
    for text in (mine, began):
        page.get_by_role("button", name=name).click()
        expect(editor).to_be_hidden(timeout=60_000)
        page.get_by_text("Template and preview").click()
        expect(editor).to_have_value(text)
        editor.fill(began)
    other.close()


def incidents(here, token, topic):
    """Answers an incident as people do, sees what others do without a reload, and is told of what does not fit."""
    page, server = here.page, here.server
    act = "mutation($id: ID!) { incident: %sIncident(id: $id) { id } }"
    page.get_by_role("link", name="Incidents 1 open").click()
    here.at("Incidents")
    entries = page.get_by_role("article")
    expect(entries).to_have_count(1, timeout=60_000)
    expect(entries.first).to_contain_text("2 of 2 alerts firing")
    expect(page.get_by_text("● live")).to_be_visible(timeout=60_000)
    add = "mutation($i: CreateIntegrationInput!) { createIntegration(input: $i) { id } }"
    scripts = server.post(token, add, i={"topicId": topic, "name": "Scripts", "kind": "EVENT", "reopenSeconds": 0})["createIntegration"]["id"]
    key = server.post(token, "mutation($id: ID!) { rotateIntegrationKey(id: $id) { key } }", id=scripts)["rotateIntegrationKey"]["key"]
    event = {"action": "trigger", "key": "queue", "title": "Queue is stuck", "body": HOSTILE, "severity": "critical", "url": "https://runbooks.example/queue"}
    posted(server, key, event, "/in/event")
    expect(entries.first).to_contain_text("Queue is stuck", timeout=60_000)
    here.judged("incidents")
    stale(here, lambda: posted(server, key, event | {"key": "late", "title": "Came late"}, "/in/event"))
    posted(server, key, event | {"key": "late", "action": "resolve"}, "/in/event")
    here.go("/incidents", "Incidents")
    expect(entries).to_have_count(2, timeout=60_000)
    expect(page.get_by_text("● live")).to_be_visible(timeout=60_000)
    one = entries.first.get_by_role("link").first.get_attribute("href").rsplit("/", 1)[1]
    page.get_by_role("button", name="Acknowledge alerts#2: Queue is stuck").click()
    expect(entries.last).to_contain_text("root (console) has it", timeout=60_000)
    way = server.post(token, "query($id: ID!) { getIncident(id: $id) { acknowledgedVia } }", id=one)["getIncident"]["acknowledgedVia"]
    here.same("the server knows that it was done in the console", way, "CONSOLE")
    here.same("who acknowledges in the list keeps the focus there", page.evaluate("document.activeElement.textContent"), "Queue is stuck")
    server.kill_and_restart()
    server.post(token, act % "unacknowledge", id=one)
    expect(entries.first).to_contain_text("Nobody has it yet", timeout=60_000)
    expect(entries.first).to_contain_text("Queue is stuck", timeout=60_000)
    here.complaints[:] = [each for each in here.complaints if "WebSocket" not in each and "ERR_" not in each]
    page.get_by_role("link", name="Snoozed").click()
    expect(page.get_by_text("Nothing is snoozed.")).to_be_visible(timeout=60_000)
    here.judged("no incidents")

    here.go("/incidents", "Incidents")
    page.get_by_role("link", name="Queue is stuck").click()
    here.at("Queue is stuck")
    standing = page.locator(".standing")
    expect(standing).to_contain_text("Nobody has it yet")
    here.judged("incident open")
    # The server is away: what people did is not lost in silence, and what they see stays.
    page.route("**/graphql", lambda route: route.abort())
    page.get_by_role("button", name="Acknowledge").click()
    expect(page.get_by_role("alert")).to_contain_text("cannot be reached", timeout=60_000)
    expect(standing).to_contain_text("Nobody has it yet")
    page.unroute("**/graphql")
    page.get_by_role("button", name="Acknowledge").click()
    expect(standing).to_contain_text("root (console) has it", timeout=60_000)
    here.complaints[:] = [each for each in here.complaints if "ERR_" not in each]
    page.get_by_role("button", name="Give it back").click()
    expect(standing).to_contain_text("Nobody has it yet", timeout=60_000)
    for minutes in ("30 min", "1 h", "4 h"):
        page.get_by_role("button", name=f"Snooze for {minutes}").click()
        expect(standing).to_contain_text("opens again", timeout=60_000)
    page.get_by_label("Note").fill("Called the data centre.\n" + HOSTILE)
    page.get_by_role("button", name="Add the note").click()
    expect(page.get_by_role("listitem").filter(has_text="Called the data centre.")).to_be_visible(timeout=60_000)
    expect(page.get_by_text("● live")).to_be_visible(timeout=60_000)
    server.post(token, act % "acknowledge", id=one)
    expect(standing).to_contain_text("root has it", timeout=60_000)
    page.get_by_role("button", name="Resolve").click()
    expect(standing).to_contain_text("Resolved by root", timeout=60_000)
    here.judged("incident resolved")

    # The same trouble is open again as another incident, so this one cannot be.
    posted(server, key, event | {"title": "Queue is stuck again"}, "/in/event")
    page.get_by_role("button", name="Reopen").click()
    expect(page.get_by_role("alert")).to_contain_text("does not fit", timeout=60_000)
    expect(page.get_by_role("alert").get_by_role("link", name="Queue is stuck again")).to_be_visible(timeout=60_000)
    here.judged("incident conflict")
    posted(server, key, event | {"action": "resolve"}, "/in/event")
    here.go("/incidents?state=OPEN", "Incidents")
    expect(entries).to_have_count(1, timeout=60_000)
    expect(page.get_by_text("● live")).to_be_visible(timeout=60_000)
    shared(server, here.context.browser.new_context(viewport={"width": 1280, "height": 800}, service_workers="block"), here.checks, token, topic)
    expect(page.get_by_text("Nothing is open.")).to_be_visible(timeout=60_000)
    # A page whose line is cut still shows buttons of a state that is over. What answers sockets
    # stays for good, so later ones pass it.
    cut = True
    page.route_web_socket("**/graphql", lambda socket: None if cut else socket.connect_to_server())
    server.post(token, act % "reopen", id=one)
    here.go(f"/incidents/{one}", "Queue is stuck")
    server.post(token, act % "resolve", id=one)
    page.get_by_role("button", name="Resolve").click()
    expect(page.get_by_role("alert")).to_contain_text("It has changed since you looked, and nothing was done", timeout=60_000)
    expect(standing).to_contain_text("Resolved by root", timeout=60_000)
    cut = False

    here.go(f"/topics/{topic}", "alerts")
    page.get_by_role("article").first.get_by_role("link").first.click()
    page.get_by_role("link", name="alerts#2 Queue is stuck").click()
    here.at("Queue is stuck")
    here.go("/incidents", "Incidents")
    page.get_by_role("article").get_by_role("link").first.click()
    expect(page.get_by_role("table", name="Alerts of this incident").get_by_role("row")).to_have_count(3, timeout=60_000)
    here.judged("incident with alerts")
    here.go("/incidents/nothing", "This cannot be shown")
    here.judged("no such incident")


def stale(here, happen):
    """An incident comes while an older answer is under way, which knows nothing of it."""
    page, held = here.page, []

    def hold(route):
        if "query Incidents" not in (route.request.post_data or ""):
            return route.continue_()
        answer = route.fetch()
        # What opens the page passes, also where it is asked for again as the first answer took long; later ones wait.
        if page.get_by_role("heading", level=1, name="Incidents").count() == 0:
            return route.fulfill(response=answer)
        held.append((route, answer))

    page.route("**/graphql", hold)
    here.go("/incidents", "Incidents")
    while not held:
        page.wait_for_timeout(50)
    happen()
    entry = page.get_by_role("article").filter(has_text="Came late")
    expect(entry).to_be_visible(timeout=60_000)
    with page.expect_event("requestfinished", lambda request: "query Incidents" in (request.post_data or "")):
        held[0][0].fulfill(response=held[0][1])
    page.evaluate("new Promise((after) => requestAnimationFrame(() => requestAnimationFrame(after)))")
    here.same("an incident that came stays when an older answer comes after it", entry.count(), 1)
    page.unroute_all(behavior="ignoreErrors")
    here.complaints[:] = [each for each in here.complaints if "ERR_" not in each]


def main():
    binary, *more = [each for each in sys.argv[1:] if each != "--accept"]
    program = more[0] if more else shutil.which("chromium")
    pictures = more[1] if len(more) > 1 else None
    checks = Checks()
    trees = Trees(checks, "--accept" in sys.argv)
    # A debug build hashes passwords slowly, and last of all where the machine is busy.
    os.environ["TOCSIN_EXECUTION_SECONDS"] = "60"
    simulator = Simulator(binary)
    os.environ.update(simulator.environment)
    server = Server(binary)
    try:
        for name in ("root", "ben"):
            add_person(server, name, *(["--admin"] if name == "root" else []))
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
            # What a service worker asks for does not pass the walk's own answers; offline.py is for it.
            context = browser.new_context(viewport={"width": 1280, "height": 800}, service_workers="block", locale="en-US", timezone_id="UTC")
            try:
                walk(server, simulator, context, checks, pictures, trees)
                trees.end()
            except Exception as error:  # pylint: disable=broad-except
                told(server, error)
            browser.close()
    finally:
        server.stop()
        simulator.stop()
    checks.end()


if __name__ == "__main__":
    main()
