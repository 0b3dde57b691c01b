"""Walks through what is one's own in the console: networks of a token, the look, the time zone, other sessions; a feed that cannot
go on where it stood; and Start, whose last step a push to another phone does not tick. Use: own.py BINARY [CHROMIUM]"""

import json
import os
import re
import shutil
import sys
import urllib.request

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect, sync_playwright

from console import FILES, PASSWORD, TAGS, Walk, add_person, told
from tocsin import Checks, Server, Simulator

DARK, LIGHT = "rgb(21, 24, 28)", "rgb(255, 255, 255)"
CLIENT = os.path.join(FILES, "..", "TocsinClient", "Browser", "tocsin.js")


def entered(server, browser, checks, name):
    here = Walk(server, browser.new_context(viewport={"width": 1280, "height": 800}, service_workers="block"), checks, None)
    here.go("/", "Sign in")
    here.page.get_by_label("User name").fill(name)
    here.page.get_by_label("Password").fill(PASSWORD)
    here.page.get_by_role("button", name="Sign in").click()
    expect(here.page.get_by_role("heading", level=1)).not_to_have_text("Sign in", timeout=60_000)
    return here


def networks(here):
    """A token that is good from some networks alone; what is none is refused at its field."""
    page, server = here.page, here.server

    def status(token):
        request = urllib.request.Request(server.address + "/graphql", b'{"query": "{ __typename }"}', {"Content-Type": "application/json", "Authorization": f"Bearer {token}"})
        try:
            return urllib.request.urlopen(request, timeout=20).status
        except urllib.error.HTTPError as refusal:
            return refusal.code

    here.go("/tokens", "Tokens")
    field, problem = page.get_by_label("From these networks alone"), page.get_by_role("alert")
    page.get_by_label("Name").fill("office")
    page.get_by_label("What it does").select_option("full")
    field.fill("10.0.0.0/8, somewhere")
    page.get_by_role("button", name="Make it").click()
    expect(problem).to_contain_text('"somewhere" is no network', timeout=60_000)
    expect(field).to_have_attribute("aria-invalid", "true")
    expect(field).to_be_focused()
    # What is wrong comes before what the field takes.
    expect(field).to_have_accessible_description(re.compile("^" + re.escape(problem.inner_text())))
    here.judged("a network that is none")
    made = []
    for name, text, words in (("office", "10.0.0.0/8 fd00::/8", "from 10.0.0.0/8, fd00::/8 alone"), ("here", "127.0.0.0/8", "from 127.0.0.0/8 alone")):
        page.get_by_label("Name").fill(name)
        field.fill(text)
        page.get_by_role("button", name="Make it").click()
        row = page.get_by_role("table", name="Your tokens").get_by_role("row", name=name)
        # What gives all that one may do asks once who one is.
        proof = page.get_by_role("dialog")
        expect(proof.or_(row)).to_be_visible(timeout=60_000)
        if proof.is_visible():
            proof.get_by_label("Password").fill(PASSWORD)
            proof.get_by_role("button", name="Go on").click()
        expect(row).to_contain_text(words, timeout=60_000)
        expect(problem).to_have_count(0)
        made.append(page.locator("pre").last.inner_text())
    here.same("a token works from its networks alone", [status(each) for each in made], [401, 200])
    expect(field).not_to_have_attribute("aria-invalid", "true")
    here.judged("tokens with networks")


def look(here):
    """Dark on a system that is light: at once, after a reload, in the other tab; and as the system has it again."""
    page = here.page
    colour = "getComputedStyle(document.body).backgroundColor"
    other = here.context.new_page()
    other.goto(here.server.address + "/feed")
    here.go("/account", "Account")
    page.emulate_media(color_scheme="light")
    before = page.evaluate(colour)
    page.get_by_label("Theme").select_option("dark")
    chosen = page.evaluate(colour)
    other.wait_for_function(f"({colour}) === {json.dumps(DARK)}", timeout=60_000)
    page.reload()
    here.at("Account")
    here.same("a theme that is chosen is there at once, in other tabs, and after a reload", [before, chosen, page.evaluate(colour), page.get_by_label("Theme").input_value()], [LIGHT, DARK, DARK, "dark"])
    result = Axe().run(page, options={"runOnly": {"type": "tag", "values": TAGS}})
    here.same("axe finds nothing where dark is chosen", [each["id"] for each in result.response["violations"]], [])
    page.get_by_label("Theme").select_option("light")
    page.emulate_media(color_scheme="dark")
    light = page.evaluate(colour)
    page.get_by_label("Theme").select_option("system")
    here.same("light is light on a dark system, which decides again when it may", [light, page.evaluate(colour)], [LIGHT, DARK])
    page.emulate_media(color_scheme="light")
    other.close()


def zone(here):
    """The time zone, which the server keeps."""
    page = here.page
    here.go("/account", "Account")
    field = page.get_by_role("combobox", name="Time zone")
    expect(field).to_have_value("UTC")
    field.fill("Nowhere/City")
    page.get_by_role("button", name="Save it").click()
    expect(page.get_by_role("alert")).to_contain_text("Nowhere/City", timeout=60_000)
    expect(field).to_be_focused()
    field.fill("Europe/Berlin")
    page.get_by_role("button", name="Save it").click()
    expect(page.get_by_text("Your time zone is Europe/Berlin.")).to_be_visible(timeout=60_000)
    page.reload()
    expect(page.get_by_role("combobox", name="Time zone")).to_have_value("Europe/Berlin", timeout=60_000)
    here.same("a time zone is kept, and one that is none refused at its field", here.complaints, [])


def sessions(here, browser, checks):
    """All other sessions are ended by one press."""
    page = here.page
    others = [entered(here.server, browser, checks, "root") for _ in range(2)]
    for other in others:
        expect(other.page.get_by_text("● live")).to_be_visible(timeout=60_000)
    # A view that follows nothing itself, without the look that each page takes once a minute.
    quiet = others[0].page
    quiet.add_init_script("window.setInterval = () => 0;")
    others[0].go("/tokens?x=1", "Tokens")
    here.go("/account", "Account")
    rows = page.get_by_role("table", name="Your sessions").get_by_role("row")
    expect(rows).to_have_count(4, timeout=60_000)
    expect(rows.last).to_contain_text("password")
    expect(page.get_by_text("People sign in to this server by a password.")).to_be_visible()
    here.judged("account with sessions")
    page.get_by_role("button", name="End all 2 others").click()
    expect(page.get_by_text("All other sessions have ended.")).to_be_visible(timeout=60_000)
    expect(rows).to_have_count(2, timeout=60_000)
    for other in others:
        expect(other.page.get_by_role("heading", level=1, name="Sign in")).to_be_visible(timeout=60_000)
    here.same("a view that follows nothing hears of it, and knows where one was", quiet.url, f"{here.server.address}/sign-in?return=%2Ftokens%3Fx%3D1")
    for other in others:
        other.context.close()
    expect(page.get_by_role("button", name="End all")).to_have_count(0)
    here.same("one press ends all other sessions, and the focus stays on the page", page.evaluate("document.activeElement.getAttribute('aria-label')"), "Your sessions")


def gap(here, token, topic):
    """A feed that comes back and is told that its cursor is too old says so, and goes on."""
    page, server, cut = here.page, here.server, []

    def through(socket):
        upstream = socket.connect_to_server()

        def said(text):
            message = json.loads(text)
            if cut and message["type"] == "subscribe" and message["payload"]["variables"].get("after"):
                cut.clear()
                refused = {"message": "What follows is no longer kept.", "extensions": {"code": "CURSOR_EXPIRED"}}
                return socket.send(json.dumps({"id": message["id"], "type": "error", "payload": [refused]}))
            return upstream.send(text)

        socket.on_message(said)

    page.route_web_socket("**/graphql", through)
    here.go(f"/topics/{topic}", "alerts")
    expect(page.get_by_text("● live")).to_be_visible(timeout=60_000)
    expect(page.get_by_role("button", name="Load it anew")).to_have_count(0)
    server.publish(token, topic, "Before the gap")
    expect(page.get_by_role("article").first).to_contain_text("Before the gap", timeout=60_000)
    cut.append(True)
    server.kill_and_restart()
    warning = page.get_by_role("status").filter(has_text="The list could not go on where it stood")
    expect(warning).to_be_visible(timeout=60_000)
    server.publish(token, topic, "After the gap")
    expect(page.get_by_role("article").first).to_contain_text("After the gap", timeout=60_000)
    here.complaints[:] = [each for each in here.complaints if "WebSocket" not in each and "ERR_" not in each]
    here.judged("feed with a gap")
    warning.get_by_role("button", name="Load it anew").click()
    expect(warning).to_have_count(0, timeout=60_000)
    expect(page.get_by_role("article").first).to_contain_text("After the gap", timeout=60_000)
    here.same("a feed that skipped says so, goes on, and is whole when loaded anew", here.complaints, [])


def older(here, topic):
    """A page of this release, which an older node answers, is there all the same, or says what is going on."""
    page, asked = here.page, []

    def answer(route):
        if "groupMaker" not in (route.request.post_data or ""):
            return route.continue_()
        asked.append(True)
        refused = {"message": "Field 'groupMaker' in type 'Me' is undefined", "extensions": {"code": "GRAPHQL_VALIDATION_FAILED"}}
        return route.fulfill(status=200, content_type="application/json", body=json.dumps({"data": None, "errors": [refused]}))

    page.route("**/graphql", answer)
    here.go(f"/topics/{topic}", "alerts")
    here.same("an older node's people are signed in", [len(asked), page.get_by_role("link", name="root").count()], [1, 1])
    page.goto(here.server.address + "/people")
    expect(page.get_by_role("alert")).to_contain_text("This server is being upgraded", timeout=60_000)
    page.unroute("**/graphql")
    page.get_by_role("button", name="Try again").click()
    here.at("People")
    here.same("a view that an older node cannot answer says so, and comes when it is asked for again", page.get_by_role("alert").count(), 0)


def elsewhere(here, browser, checks, token, topic):
    """What is read at another device is counted at once; a hidden page asks nothing, and counts when it is shown."""
    server = here.server
    shown, hidden = pages = [entered(server, browser, checks, "root") for _ in range(2)]
    read = "mutation($t: ID!, $n: Int!) { markRead(topicId: $t, number: $n) { unread } }"

    def count(where):
        return where.page.locator("#rail").get_by_role("link", name="alerts")

    def asked():
        return len([each for each in hidden.requests if each.endswith("/graphql")])

    for number in range(6):
        server.publish(token, topic, f"To read {number}")
    last = server.post(token, "query($t: ID!) { getTopic(id: $t) { lastNumber } }", t=topic)["getTopic"]["lastNumber"]
    server.post(token, read, t=topic, n=last - 6)
    for each in pages:
        # Nothing but the live line may tell of it.
        each.page.add_init_script("""
          const every = window.setInterval;
          window.setInterval = (run, pause, ...more) => (pause === 60000 ? 0 : every(run, pause, ...more));
          let isHidden = false;
          Object.defineProperty(document, "visibilityState", { get: () => (isHidden ? "hidden" : "visible") });
          window.hide = (is) => { isHidden = is; document.dispatchEvent(new Event("visibilitychange")); };""")
        each.go("/devices", "Devices")
        expect(count(each)).to_contain_text("6 unread", timeout=60_000)
    # A page counts a few times when it comes up, and not so often.
    for left in (5, 4, 3, 2):
        server.post(token, read, t=topic, n=last - left)
        for each in pages:
            expect(count(each)).to_contain_text(f"{left} unread", timeout=60_000)
    hidden.page.evaluate("hide(true)")
    before = asked()
    for left in (1, 0):
        server.post(token, read, t=topic, n=last - left)
        expect(count(shown)).to_contain_text("1 unread" if left else "alerts", timeout=60_000)
    expect(count(shown)).not_to_contain_text("unread", timeout=60_000)
    here.same("what is read at another device is counted at once, and a hidden page asks nothing", asked(), before)
    hidden.page.evaluate("hide(false)")
    expect(count(hidden)).not_to_contain_text("unread", timeout=60_000)
    here.same("a page that is shown again counts anew", [each.complaints for each in pages], [[], []])
    for each in pages:
        each.context.close()


def start(here, simulator, token, topic):
    """A push that another phone got ticks nothing; one to this browser's own device does."""
    page, server = here.page, here.server
    register = 'mutation($t: String!) { registerPushToken(token: $t, platform: "ios", environment: "sandbox") { device { id } } }'
    own, _ = (server.post(token, register, t=each * 32)["registerPushToken"]["device"]["id"] for each in ("a1", "b2"))
    server.post(token, "mutation($id: ID!) { subscribeToTopic(topicId: $id, push: true) { push } }", id=topic)
    # Chromium has no push service here, so its own subscribing alone is left out: the first phone
    # stands for this browser.
    with open(CLIENT, encoding="utf-8") as file:
        client = file.read().replace("export async function registerWebPush", "async function registerThisBrowser")
    client += f"\nexport const registerWebPush = async () => ({{ state: 'registered', deviceId: {json.dumps(own)} }});\n"
    page.route("**/client/tocsin.js", lambda route: route.fulfill(body=client, headers={"Content-Type": "text/javascript"}))
    simulator.ask("/_script", {"rules": [{"provider": "apns", "fault": "ServiceUnavailable", "token": "a1"}]})
    here.go("/start", "Start")
    page.get_by_text("Make another topic").click()
    page.get_by_label("Make a topic").fill("backups")
    page.get_by_role("button", name="Make it").click()
    here.at("backups")
    expect(page.locator("#rail").get_by_role("link", name="backups")).to_have_count(1, timeout=60_000)
    here.same("Start makes further topics, too", page.get_by_text("No message yet.").count(), 1)
    here.go("/start", "Start")
    page.get_by_role("button", name="Get pushes in this browser").click()
    expect(page.get_by_text("This browser gets pushes.")).to_be_visible(timeout=60_000)
    page.wait_for_load_state("networkidle")
    server.publish(token, topic, "For Start")
    expect(page.get_by_text("It came: For Start")).to_be_visible(timeout=60_000)
    message = server.post(token, "query($t: ID!) { page: getMessageByTopicIdAndCreatedAt(topicId: $t, sortDirection: DESC) { items { id } } }", t=topic)["page"]["items"][0]["id"]
    accepted = 0
    while accepted == 0:
        page.wait_for_timeout(100)
        accepted = server.post(token, "query($m: ID!) { getMessage(id: $m) { deliverySummary { accepted } } }", m=message)["getMessage"]["deliverySummary"]["accepted"]
    # Time for the page to hear of it, which it must not heed.
    page.wait_for_timeout(1000)
    last = page.locator("ol.steps > li").last
    here.same("a push that another phone got does not tick Start's last step", [accepted, last.get_attribute("class")], [1, None])
    simulator.ask("/_script", {"rules": []})
    expect(last).to_contain_text("The push service has taken a push of it.", timeout=120_000)
    here.same("a push to this browser ticks it", last.get_attribute("class"), "done")
    page.unroute("**/client/tocsin.js")


def walk(server, simulator, browser, checks):
    token = server.administer("token", "create", "--user", "root")
    topic = server.create_topic(token, "alerts")
    here = entered(server, browser, checks, "root")
    networks(here)
    look(here)
    zone(here)
    sessions(here, browser, checks)
    older(here, topic)
    elsewhere(here, browser, checks, token, topic)
    start(here, simulator, token, topic)
    gap(here, token, topic)
    here.same("no page complains", here.complaints, [])


def main():
    program = sys.argv[2] if len(sys.argv) > 2 else shutil.which("chromium")
    checks = Checks()
    # A debug build hashes passwords slowly, and last of all where the machine is busy.
    os.environ["TOCSIN_EXECUTION_SECONDS"] = "60"
    simulator = Simulator(sys.argv[1])
    os.environ.update(simulator.environment)
    server = Server(sys.argv[1])
    try:
        add_person(server, "root", "--admin")
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
            try:
                walk(server, simulator, browser, checks)
            except Exception as error:  # pylint: disable=broad-except
                told(server, error)
            browser.close()
    finally:
        server.stop()
        simulator.stop()
    checks.end()


if __name__ == "__main__":
    main()
