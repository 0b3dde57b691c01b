"""Walks through the console as on a phone: the bar below the views, targets that fingers hit, nothing that scrolls sideways, and
no focus that the bar hides. Use: phone.py BINARY [CHROMIUM] [PICTURES]"""

import os
import sys

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from console import PASSWORD, TAGS, Walk, in_chromium, posted

WIDTHS = {390: 844, 320: 568}
LONG = "somebody.whose.name.is.as.long.as.it.may.be.in.some.companies"
# Tables that are lists here and are wider than the screen.
WIDE = """() => [...document.querySelectorAll(".scroll:has(table.many)")].filter((each) => each.scrollWidth > each.clientWidth)
  .map((each) => `${each.ariaLabel}: ${each.scrollWidth} of ${each.clientWidth} px`)"""
CREATE = "mutation($i: CreateMessageInput!) { createMessage(input: $i) { id } }"
# What can be pressed and is smaller than 44 pixels. Links within a sentence keep the height of its
# lines (WCAG 2.5.8), and a box is ticked by its label.
SMALL = """() => [...document.querySelectorAll("a, button, input, select, textarea, summary, label.tick")]
  .filter((each) => each.checkVisibility() && !each.matches("p a, li > a:not(#rail a), pre a, .skip, label.tick input"))
  .map((each) => [each, each.getBoundingClientRect()])
  .filter(([, { width, height }]) => width < 43.9 || height < 43.9)
  .map(([each, { width, height }]) => `${each.tagName} ${(each.textContent || each.type).slice(0, 30)} ${Math.round(width)}x${Math.round(height)}`)"""
# Whether what has the focus is on the screen and not below the bar.
HIDDEN = """() => {
  const focused = document.activeElement, bar = document.getElementById("dock");
  if (focused === document.body || bar.contains(focused)) return null;
  const { top, bottom, height } = focused.getBoundingClientRect();
  const end = getComputedStyle(bar).position === "fixed" ? bar.getBoundingClientRect().top : innerHeight;
  // Of what is higher than the screen a part is enough.
  const fits = height < end;
  return (fits ? top < -0.5 || bottom > end + 0.5 : bottom < 0 || top > end) ? `${focused.tagName} ${focused.textContent.slice(0, 40)} ${top}-${bottom} of ${end}` : null;
}"""


def filled(server):
    """Topics with messages, an incident, and who may read one of them; answers what the views are."""
    token = server.administer("token", "create", "--user", "root")
    topics = {name: server.create_topic(token, name) for name in ("alerts", "builds")}
    for number in range(12):
        server.publish(token, topics["builds"], f"Build {number} is green")
    given = {"topicId": topics["alerts"], "type": 0, "priority": 5, "title": "Disk full on db-3", "body": "x" * 400, "url": "https://runbooks.example/disk"}
    message = server.post(token, CREATE, i=given)["createMessage"]["id"]
    server.post(token, "mutation($id: ID!) { markRead(topicId: $id) { unread } }", id=topics["builds"])
    server.publish(token, topics["builds"], "A newer build")
    way = server.post(token, "mutation($i: CreateIntegrationInput!) { createIntegration(input: $i) { id } }",
                      i={"topicId": topics["alerts"], "name": "Scripts", "kind": "EVENT"})["createIntegration"]["id"]
    key = server.post(token, "mutation($id: ID!) { rotateIntegrationKey(id: $id) { key } }", id=way)["rotateIntegrationKey"]["key"]
    posted(server, key, {"action": "trigger", "key": "queue", "title": "Queue is stuck", "severity": "critical"}, "/in/event")
    incident = server.post(token, "{ page: incidentsByStateAndOpenedAt(state: OPEN) { items { id } } }")["page"]["items"][0]["id"]
    server.post(token, "mutation($i: GrantInput!) { grantTopic(input: $i) { id } }", i={"topicId": topics["alerts"], "user": "ben", "roles": ["READER"], "push": True})
    way = server.post(token, "mutation($i: CreateIntegrationInput!) { createIntegration(input: $i) { id } }",
                      i={"topicId": topics["alerts"], "name": "Door", "kind": "NTFY", "allowHttpActions": True})["createIntegration"]["id"]
    key = server.post(token, "mutation($id: ID!) { rotateIntegrationKey(id: $id) { key } }", id=way)["rotateIntegrationKey"]["key"]
    buttons = [{"action": "http", "label": "Open", "url": "https://door.example/"}, {"action": "view", "label": "Look " + "x" * 60, "url": "https://cam.example/"}]
    posted(server, key, {"topic": "alerts", "title": "At the door", "message": "ring", "actions": buttons}, "/")
    ring = server.post(token, "query($id: ID!) { page: getMessageByTopicIdAndCreatedAt(topicId: $id) { items { id title } } }", id=topics["alerts"])["page"]["items"]
    ring = next(each["id"] for each in ring if each["title"] == "At the door")
    people = server.post(token, "mutation { createGroup(name: \"ops\") { id } }")["createGroup"]["id"]
    server.post(token, "mutation($n: String!) { createUser(name: $n) { id } }", n=LONG)
    server.post(token, "mutation($id: ID!, $u: String!) { addGroupMember(groupId: $id, user: $u) { id } }", id=people, u=LONG)
    alerts = f"/topics/{topics['alerts']}"
    return {
        "/feed": "All messages", alerts: "alerts", f"{alerts}/settings": "alerts: settings", f"{alerts}/integrations": "alerts: integrations",
        f"/messages/{message}": "Disk full on db-3", f"/messages/{ring}": "At the door", "/incidents": "Incidents", f"/incidents/{incident}": "Queue is stuck", "/send": "Send",
        "/search?q=disk": "Search", "/devices": "Devices", "/tokens": "Tokens", "/account": "Account", "/people": "People",
        "/deliveries": "Deliveries with problems", "/audit": "Audit", "/node": "Node", "/start": "Start",
    }


def entered(server, browser, checks, width):
    """A phone of this width, where root has signed in."""
    screen = {"width": width, "height": WIDTHS[width]}
    context = browser.new_context(viewport=screen, has_touch=True, is_mobile=True, device_scale_factor=2, service_workers="block")
    here = Walk(server, context, checks, sys.argv[3] if len(sys.argv) > 3 else None)
    here.go("/", "Sign in")
    here.page.get_by_label("User name").fill("root")
    here.page.get_by_label("Password").fill(PASSWORD)
    here.page.get_by_role("button", name="Sign in").tap()
    here.at("All messages")
    return here


def views(here, all_views, width):
    """Each view: what axe finds in light and dark, how wide it is, and how large what can be pressed is."""
    page, found = here.page, []
    for path, heading in all_views.items():
        here.go(path, heading)
        page.wait_for_load_state("networkidle")
        name = path.split("?")[0].split("/")[-1 if path.count("/") == 1 else 1] + ("-" + path.rsplit("/", 1)[1][:12] if path.count("/") > 1 else "")
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            result = Axe().run(page, options={"runOnly": {"type": "tag", "values": TAGS}})
            found += [f"{path} {scheme}: {each['id']}: {each['nodes'][0]['html'][:120]}" for each in result.response["violations"]]
            if here.pictures:
                page.screenshot(path=os.path.join(here.pictures, f"phone-{width}-{name}-{scheme}.png"))
        page.emulate_media(color_scheme="light")
        wide = page.evaluate("document.documentElement.scrollWidth")
        found += [f"{path} is {wide} px wide"] if wide > width else []
        found += [f"{path}: wide: {each}" for each in page.evaluate(WIDE)]
        found += [f"{path}: small: {each}" for each in page.evaluate(SMALL)]
    here.same(f"{width} px, fingers: axe finds nothing, neither views nor lists scroll sideways, all that can be pressed has 44 px", found, [])


def focus(here, all_views, width):
    """By Tab through whole views, forward and back: the bar hides nothing that has the focus, and the last line is above it."""
    page, hidden = here.page, []
    for path in list(all_views)[:3]:
        here.go(path, all_views[path])
        page.wait_for_load_state("networkidle")
        for key in ("Tab", "Shift+Tab"):
            for _ in range(60):
                page.keyboard.press(key)
                if not page.evaluate(HIDDEN):
                    continue
                # A view that is drawn anew in this moment may move what has the focus: it gets the focus once more.
                page.evaluate("{ const focused = document.activeElement; focused.blur(); focused.focus(); }")
                hidden.append(page.evaluate(HIDDEN))
        page.evaluate("scrollTo(0, document.body.scrollHeight)")
        end = page.evaluate("""() => document.getElementById("main").getBoundingClientRect().bottom - document.getElementById("dock").getBoundingClientRect().top""")
        hidden += [f"{path} ends {end} px below the bar's top"] if end > 0 else []
    here.same(f"{width} px: the bar hides neither the focus nor the end of a view", [each for each in hidden if each], [])


def bar(here, width):
    """The ways of the bar, and the list of places that it opens."""
    page = here.page
    dock, rail = page.get_by_role("navigation", name="Main places"), page.get_by_role("navigation", name="Topics and places")
    here.go("/feed", "All messages")
    expect(rail).to_have_count(0)
    expect(dock.get_by_role("link", name="Messages 1 unread")).to_have_attribute("aria-current", "page", timeout=60_000)
    topics, more = (dock.get_by_role("button", name=name, exact=True) for name in ("Topics", "More"))
    topics.tap()
    expect(topics).to_have_attribute("aria-expanded", "true")
    expect(rail.get_by_role("link", name="alerts")).to_be_visible()
    here.same("who opens the list is in it", page.evaluate("document.activeElement.textContent"), "All messages1 unread")
    here.same("the open list has targets for fingers", page.evaluate(SMALL), [])
    result = Axe().run(page, options={"runOnly": {"type": "tag", "values": TAGS}})
    here.same("axe finds nothing while the list is open", [each["id"] for each in result.response["violations"]], [])
    here.picture(f"phone-{width}-topics-open")
    page.keyboard.press("Escape")
    expect(rail).to_have_count(0)
    here.same("Escape closes the list and gives the focus back", page.evaluate("document.activeElement.textContent"), "Topics")
    topics.tap()
    more.tap()
    expect(rail.get_by_role("link", name="alerts")).to_have_count(0)
    rail.get_by_role("link", name="Account", exact=True).tap()
    here.at("Account")
    expect(rail).to_have_count(0)
    here.same("the bar says where one is", [more.get_attribute("aria-current"), dock.get_by_role("link", name="Messages").get_attribute("aria-current")], ["true", None])
    topics.tap()
    page.get_by_role("heading", level=1).tap(force=True, position={"x": 2, "y": 2})
    expect(rail).to_have_count(0)
    topics.tap()
    rail.get_by_role("link", name="alerts").tap()
    here.at("alerts")
    dock.get_by_role("link", name="Search", exact=True).tap()
    here.at("Search")
    # 1280 by 800 pixels at 400 %: the bar goes with the page, which it would cover else.
    page.set_viewport_size({"width": 320, "height": 200})
    here.same("where the screen is low the bar covers nothing", page.evaluate("""getComputedStyle(document.getElementById("dock")).position"""), "static")
    topics.tap()
    rail.get_by_role("link", name="builds").tap()
    here.at("builds")
    page.set_viewport_size({"width": width, "height": WIDTHS[width]})


def walk(server, browser, checks):
    all_views = filled(server)
    for width in WIDTHS:
        here = entered(server, browser, checks, width)
        bar(here, width)
        views(here, all_views, width)
        focus(here, all_views, width)
        here.same(f"{width} px: no page complains", here.complaints, [])
        here.context.close()


if __name__ == "__main__":
    in_chromium(walk, "ben")
