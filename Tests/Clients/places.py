"""Walks back and forth through views, as people do: where each was scrolled to, what is called by its name after it was taken
away, what the list of places says while the database is away, and what a page is on paper. Use: places.py BINARY [CHROMIUM]"""

import time

from playwright.sync_api import expect

from console import Walk, in_chromium
from shared_browser import GRANT, LIVE, enter

AWAY = {"json": {"errors": [{"message": "The database is away.", "extensions": {"code": "UNAVAILABLE"}}]}}
#: Taken from the caller, with whom alone it is shared.
TAKE = "mutation($id: ID!) { revokeGrant(id: $id) { id } }"


def scrolled(here, token, topic):
    """Who looked far down a list is there again after they went on to a message, by Back and by a new load; Forward goes to its top."""
    page, server = here.page, here.server
    for number in range(45):
        server.publish(token, topic, f"Number {number}")
    here.go(f"/topics/{topic}", "anns")
    expect(page.get_by_role("article")).to_have_count(45, timeout=60_000)
    wanted = page.get_by_role("link", name="Number 10", exact=True)
    wanted.scroll_into_view_if_needed()
    wanted.click()
    here.at("Number 10")
    here.same("a message begins at its top", page.evaluate("scrollY"), 0)
    for name, leave in (("Back", page.go_back), ("a page that is loaded anew", page.reload)):
        leave()
        here.at("anns")
        expect(wanted).to_be_in_viewport(timeout=60_000)
        here.same(f"{name} shows what somebody looked at", page.evaluate("scrollY > 1000"), True)
    page.go_forward()
    here.at("Number 10")
    page.go_back()
    here.at("anns")
    expect(wanted).to_be_in_viewport(timeout=60_000)
    page.locator("#rail").get_by_role("link", name="Account").click()
    here.at("Account")
    page.locator("#rail").get_by_role("link", name="anns").click()
    here.at("anns")
    here.same("who goes there by a link begins at its top", page.evaluate("scrollY"), 0)
    expect(page.get_by_text(LIVE)).to_be_visible(timeout=60_000)
    page.evaluate("scrollTo(0, 1500)")
    server.publish(token, topic, "Fresh")
    page.get_by_role("button", name="1 new").press("Enter")
    expect(page.get_by_role("link", name="Fresh")).to_be_focused(timeout=60_000)
    expect(page.get_by_role("link", name="Fresh")).to_be_in_viewport()


def taken(here, tokens):
    """A topic that is taken back is called by its name no more, and what is being written stays."""
    page, server = here.page, here.server
    shared = server.create_topic(tokens["root"], "Unspoken")
    end = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 9 * 86_400))

    def give():
        return server.post(tokens["root"], GRANT, i={"topicId": shared, "user": "ann", "roles": ["READER", "PUBLISHER"]})["grantTopic"]["id"]

    grant = give()
    server.post(tokens["ann"], "mutation($i: CreateTokenInput!) { createToken(input: $i) { text } }", i={"name": "reads it", "scopes": [f"read:{shared}"], "expiresAt": end})
    for path, heading, field in (("/tokens", "Tokens", "Name"), (f"/send?topic={shared}", "Send", "Title")):
        # Whatever is told of the line that ends: it has to be there before.
        with page.expect_websocket() as line:
            page.goto(server.address + path)
        line.value.wait_for_event("framereceived", lambda frame: "connection_ack" in str(frame))
        here.at(heading)
        written = page.locator("main").get_by_role("textbox", name=field, exact=True)
        written.fill("half written")
        expect(page.locator("body")).to_contain_text("Unspoken", timeout=60_000)
        server.post(tokens["root"], TAKE, id=grant)
        # What the line does not tell is seen at the next look, as after a minute.
        deadline = time.monotonic() + 60
        while "Unspoken" in page.evaluate("document.body.textContent") and time.monotonic() < deadline:
            page.evaluate("dispatchEvent(new Event('tocsin-topics'))")
            page.wait_for_timeout(250)
        here.same(f"{heading}: what was taken back has no name, and what is written is there", [
            "Unspoken" in page.evaluate("document.body.textContent"), written.input_value()], [False, "half written"])
        grant = give()


def refused(here):
    """A view that one may not see says so in words of people, and of the API's in none."""
    said = []
    for path in ("/people", "/groups"):
        here.page.goto(here.server.address + path)
        alert = here.page.get_by_role("alert")
        expect(alert).to_be_visible(timeout=60_000)
        said.append(alert.inner_text())
    here.same("what one may not see is said plainly", said, ["This is not there, or not for you."] * 2)


def away(here, topic):
    """While the database is away the list of places goes on saying what it said."""
    page = here.page
    here.go(f"/topics/{topic}", "anns")
    link = page.locator("#rail").get_by_role("link", name="anns")
    expect(link).to_be_visible(timeout=60_000)
    page.clock.install()
    # No answer is asked for again: it is the last of those that the client asks for.
    asked = []
    page.route("**/graphql", lambda route: (asked.append(1), route.fulfill(**AWAY)))
    page.evaluate("dispatchEvent(new Event('tocsin-topics'))")
    before = -1
    while before != len(asked) or not asked:
        before = len(asked)
        for _ in range(20):
            page.clock.run_for(1000)
    here.same("the list of places outlasts the database", link.count(), 1)
    page.unroute("**/graphql")


def on_paper(here, token, topic):
    """Paper is white, also where somebody has chosen dark."""
    page = here.page
    page.evaluate("localStorage.setItem('tocsin.theme', 'dark')")
    here.go(f"/topics/{topic}", "anns")
    colours = "(() => { const { color, backgroundColor } = getComputedStyle(document.body); return [color, backgroundColor]; })()"
    shown = page.evaluate(colours)
    page.emulate_media(media="print")
    here.same("a dark page is printed dark on white", [shown, page.evaluate(colours)],
              [["rgb(230, 233, 237)", "rgb(21, 24, 28)"], ["rgb(27, 31, 36)", "rgb(255, 255, 255)"]])
    page.emulate_media(media="screen")
    page.evaluate("localStorage.removeItem('tocsin.theme')")


def empty_group(here, tokens):
    """An administrator who shares with a group of nobody is told so; of a group that has somebody nothing is said."""
    page, server = here.page, here.server
    topic = server.create_topic(tokens["root"], "roots")
    for command in (["create", "crew"], ["add", "crew", "ann"]):
        server.administer("group", *command)
    here.go(f"/topics/{topic}/settings", "roots: settings")
    told = page.get_by_text("Nobody is in the group")
    for name, count in (("nobody-there", 1), ("crew", 0)):
        page.locator("main form select").first.select_option("group")
        page.get_by_label("Name of the user or group").fill(name)
        page.get_by_role("button", name="Share", exact=True).click()
        expect(page.get_by_role("cell", name=f"group {name}", exact=True)).to_be_visible(timeout=60_000)
        expect(told.filter(visible=True)).to_have_count(count, timeout=60_000)


def walk(server, browser, checks):
    names = ("root", "ann")
    tokens = {name: server.administer("token", "create", "--user", name) for name in names}
    topic = server.create_topic(tokens["ann"], "anns")
    contexts = [browser.new_context(viewport={"width": 1280, "height": 800}, service_workers="block") for _ in names]
    root, ann = (Walk(server, context, checks, None) for context in contexts)
    enter(root, "root", "/account")
    empty_group(root, tokens)
    root.page.close()
    enter(ann, "ann", "/account")
    scrolled(ann, tokens["ann"], topic)
    taken(ann, tokens)
    refused(ann)
    on_paper(ann, tokens["ann"], topic)
    away(ann, topic)
    for here in (root, ann):
        here.same("no page complains", here.complaints, [])


if __name__ == "__main__":
    in_chromium(walk, "ann")
