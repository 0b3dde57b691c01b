"""Shows each view of the console in its five states: empty, loading, with an error, without a server, and without the right to
see it. Before, it looks whether every text of the console stands in one file. Use: states.py BINARY [CHROMIUM]"""

import subprocess

from playwright.sync_api import expect

import console_texts
from console import PASSWORD, Walk, in_chromium

AWAY = "The server cannot be reached. This comes up as soon as it can."
BROKEN = {"errors": [{"message": "Something broke here.", "extensions": {"code": "INTERNAL_SERVER_ERROR"}}]}
NOT_HERE = "This is not there, or not for you."


def entered(server, browser, checks, name):
    """Somebody who has signed in, and their page."""
    here = Walk(server, browser.new_context(viewport={"width": 1280, "height": 800}, service_workers="block"), checks, None)
    here.go("/", "Sign in")
    here.page.get_by_label("User name").fill(name)
    here.page.get_by_label("Password").fill(PASSWORD)
    here.page.get_by_role("button", name="Sign in").click()
    expect(here.page.get_by_role("heading", level=1)).not_to_have_text("Sign in", timeout=60_000)
    return here


def states(here, path, heading, asked="**/graphql", broken=None):
    """One view while its answer is under way, when it fails, and while there is no server; each ends with the view. What it
    asks for is at `asked`, and fails by `broken`."""
    page, held, missing = here.page, [], []

    def seen(what, locator):
        try:
            expect(locator).to_be_visible(timeout=30_000)
        except AssertionError:
            missing.append(f"{what}; the page shows {page.locator('main').inner_text()[:200]!r}")

    def shown():
        seen("the view", page.get_by_role("heading", level=1, name=heading, exact=True))

    page.route(asked, lambda route: held.append(route))
    page.goto(here.server.address + path)
    seen("loading", page.get_by_text("Loading …"))
    for route in held:
        route.continue_()
    page.unroute(asked)
    shown()

    page.route(asked, lambda route: route.fulfill(**(broken or {"json": BROKEN})))
    page.goto(here.server.address + path)
    seen("the error", page.get_by_role("alert").filter(has_text="Something broke here."))
    page.unroute(asked)
    page.get_by_role("button", name="Try again").click()
    shown()

    # What was kept is shown, as it was; what was not says why it is not, and comes by itself.
    page.route(asked, lambda route: route.abort())
    page.goto(here.server.address + path)
    seen("that the server is away", page.get_by_text(AWAY).or_(page.get_by_role("heading", level=1, name=heading, exact=True)))
    page.unroute(asked)
    shown()
    here.same(f"{path.split('?')[0]} loads, fails, waits for a server, and is there each time after", missing, [])


def sign_in(server, browser, checks):
    """The page that comes before all others, of a server with no way to sign in, too."""
    here = Walk(server, browser.new_context(viewport={"width": 1280, "height": 800}, service_workers="block"), checks, None)
    broken = {"status": 500, "json": {"error": {"code": "INTERNAL_SERVER_ERROR", "message": "Something broke here."}}}
    states(here, "/sign-in", "Sign in", "**/auth/methods", broken)
    here.page.route("**/auth/methods", lambda route: route.fulfill(json={"password": False, "oidc": []}))
    here.go("/sign-in", "Sign in")
    expect(here.page.get_by_text("This server has no way to sign in by a browser.")).to_be_visible()
    here.same("the sign-in of a server without a way to sign in says so", here.page.get_by_label("Password").count(), 0)
    here.judged("sign-in without a way")
    here.page.unroute("**/auth/methods")
    elsewhere(here)
    here.page.context.close()


def elsewhere(here):
    """A page at another address than the server's own, where no sign-in lasts, says so and where to go."""
    page, given = here.page, {}
    page.route("**/auth/methods", lambda route: route.fulfill(json={"password": True, "oidc": [], **given}))
    told = page.get_by_text("This server's address is")
    for address in (here.server.address, "javascript:alert(1)", None):
        given["address"] = address
        here.go("/sign-in", "Sign in")
        expect(told).to_have_count(0)
    given["address"] = "https://push.example/tocsin"
    here.go("/sign-in", "Sign in")
    here.same("a page at another address leads to the server's own", told.get_by_role("link").get_attribute("href"), "https://push.example/tocsin/")
    here.judged("sign-in elsewhere")


def left(here):
    """A view whose answer is under way, and that somebody has left for another, says nothing any more."""
    page, held = here.page, []

    def hold(route):
        if "sessions {" in (route.request.post_data or ""):
            held.append(route)
        else:
            route.continue_()

    here.go("/devices", "Devices")
    # The rail is filled beside the view.
    expect(page.locator("#rail a[aria-current]")).to_have_count(1, timeout=60_000)
    page.route("**/graphql", hold)
    # The second press comes before the first view has said that it loads.
    page.evaluate("""() => ["/account", "/tokens"].forEach((path) => document.querySelector(`#rail a[href$="${path}"]`).click())""")
    here.at("Tokens")
    page.evaluate("new Promise((after) => setTimeout(after, 400))")
    here.same("a view that was left says nothing any more", page.get_by_role("heading", level=1).all_inner_texts(), ["Tokens"])
    for route in held:
        route.continue_()
    page.unroute("**/graphql")


def walk(server, browser, checks):
    root, ben = (entered(server, browser, checks, name) for name in ("root", "ben"))
    console_texts.check(root)
    token = server.administer("token", "create", "--user", "root")
    empty = {
        "/": "Start", "/search?q=nothing": "No message has it.", "/deliveries": "No push failed", "/devices": "No device yet.",
        "/tokens": "No token yet.", "/incidents?state=OPEN": "Nothing is open.", "/send": "There is no topic that you may publish to.",
    }
    unsaid = []
    for path, words in empty.items():
        ben.page.goto(server.address + path)
        try:
            expect(ben.page.locator("main").get_by_text(words).first).to_be_visible(timeout=30_000)
        except AssertionError:
            unsaid.append(f"{path} says {ben.page.locator('main').inner_text()[:200]!r}")
    ben.same("each view says that it is empty", unsaid, [])

    topic = server.create_topic(token, "alerts")
    root.go(f"/topics/{topic}", "alerts")
    expect(root.page.get_by_text("No message yet.")).to_be_visible()
    root.go(f"/topics/{topic}/settings", "alerts: settings")
    expect(root.page.get_by_text("Nobody yet.")).to_be_visible()
    server.publish(token, topic, "One")
    message = server.post(token, "query($t: ID!) { page: getMessageByTopicIdAndCreatedAt(topicId: $t) { items { id } } }", t=topic)["page"]["items"][0]["id"]
    add = "mutation($i: CreateIntegrationInput!) { createIntegration(input: $i) { id } }"
    scripts = server.post(token, add, i={"topicId": topic, "name": "Scripts", "kind": "EVENT"})["createIntegration"]["id"]
    key = server.post(token, "mutation($id: ID!) { rotateIntegrationKey(id: $id) { key } }", id=scripts)["rotateIntegrationKey"]["key"]
    post = ["curl", "-sf", server.address + "/in/event", "-H", f"Authorization: Bearer {key}", "-H", "Content-Type: application/json"]
    subprocess.run([*post, "-d", '{"action": "trigger", "key": "queue", "title": "Queue is stuck"}'], check=True, capture_output=True, timeout=60)
    incident = server.post(token, "{ page: incidentsByStateAndOpenedAt(state: OPEN) { items { id } } }")["page"]["items"][0]["id"]

    hidden = [f"/topics/{topic}", f"/topics/{topic}/settings", f"/topics/{topic}/integrations", f"/messages/{message}", f"/incidents/{incident}", "/people", "/groups", "/node"]
    open_to_ben = []
    for path in hidden:
        ben.page.goto(server.address + path)
        try:
            expect(ben.page.get_by_role("alert").filter(has_text=NOT_HERE)).to_be_visible(timeout=30_000)
        except AssertionError:
            open_to_ben.append(f"{path} says {ben.page.locator('main').inner_text()[:200]!r}")
    ben.same("who has no right is told that it is not there", open_to_ben, [])
    ben.judged("no right")
    ben.same("no page of theirs complains", ben.complaints, [])

    views = {
        "/feed": "All messages", f"/topics/{topic}": "alerts", f"/topics/{topic}/settings": "alerts: settings",
        f"/topics/{topic}/integrations": "alerts: integrations", f"/messages/{message}": "One", "/incidents": "Incidents",
        f"/incidents/{incident}": "Queue is stuck", "/send": "Send", "/search?q=one": "Search", "/devices": "Devices",
        "/tokens": "Tokens", "/account": "Account", "/people": "People", "/groups": "Groups", "/deliveries": "Deliveries with problems",
        "/audit": "Audit", "/node": "Node", "/start": "Start",
    }
    for path, heading in views.items():
        states(root, path, heading)
    left(root)
    sign_in(server, browser, checks)
    # What browsers say of answers that never came.
    root.same("no page complains", [each for each in root.complaints if "ERR_" not in each and "WebSocket" not in each], [])


if __name__ == "__main__":
    in_chromium(walk, "ben")
