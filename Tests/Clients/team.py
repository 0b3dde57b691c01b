"""Walks through what a team does in the console: the first administrator without a shell, people and groups, a topic that is
shared and taken back while others look at it, its members and tokens, the filters of the feed, devices, the account.
Use: team.py BINARY [CHROMIUM]"""

import json
import subprocess
import time

from playwright.sync_api import expect

from console import PASSWORD, Walk, in_chromium

OTHER = "another horse battery"
LIVE = "● live"


def set_up(server, browser, checks):
    """The code of the first start makes the administrator, in a browser, from the sign-in on."""
    here = Walk(server, browser.new_context(viewport={"width": 1280, "height": 800}, service_workers="block"), checks, None)
    page = here.page
    here.go("/", "Sign in")
    page.get_by_role("link", name="Enter it here.").click()
    here.at("Set up Tocsin")
    here.judged("set-up")
    # Its one style is let through: the form is no wider than it says.
    here.same("the set-up page has its style", page.locator("main").evaluate("(each) => getComputedStyle(each).maxWidth"), "512px")
    code = None
    deadline = time.monotonic() + 60
    while code is None and time.monotonic() < deadline:
        with open(server.log.name, encoding="utf-8") as log:
            lines = [json.loads(line) for line in log if "setup_code" in line]
        code = next((each["setup_code"] for each in lines if each.get("event") == "setup_code"), None)
    for field, text in (("Set-up code", "no such code"), ("User name", "root"), ("Password", PASSWORD)):
        page.get_by_label(field).fill(text)
    page.get_by_role("button", name="Make the administrator").click()
    expect(page.get_by_role("alert")).to_be_visible(timeout=60_000)
    # What browsers say of a refused form.
    here.complaints.clear()
    for field, text in (("Set-up code", code), ("User name", "root"), ("Password", PASSWORD)):
        page.get_by_label(field).fill(text)
    page.get_by_role("button", name="Make the administrator").click()
    expect(page.get_by_text("root is the administrator of this server.")).to_be_visible(timeout=60_000)
    page.get_by_role("link", name="Sign in").click()
    here.sign_in("root", judged=False)
    here.at("Start")
    expect(page.get_by_role("link", name="People")).to_be_visible(timeout=60_000)
    here.same("the set-up page makes the first administrator, who signs in", here.complaints, [])
    return here


def people(root):
    """Users are made, disabled, enabled, put into a group and taken out."""
    page = root.page
    root.go("/people", "People")
    for name in ("ben", "cleo"):
        page.get_by_label("Name", exact=True).fill(name)
        page.get_by_label("Password", exact=True).fill(PASSWORD)
        page.get_by_role("button", name="Make it").click()
        expect(page.get_by_role("table", name="People").get_by_role("row", name=name)).to_be_visible(timeout=60_000)
    row = page.get_by_role("table", name="People").get_by_role("row", name="cleo")
    row.get_by_role("button", name="Disable").click()
    expect(row).to_contain_text("disabled", timeout=60_000)
    row.get_by_role("button", name="Enable").click()
    expect(row).not_to_contain_text("disabled", timeout=60_000)
    row.get_by_role("button", name="New password").click()
    # What is hard to take back asks who one is.
    proof = page.get_by_role("dialog")
    proof.get_by_label("Password").fill(PASSWORD)
    proof.get_by_role("button", name="Go on").click()
    expect(page.get_by_text("The new password of cleo, shown this once:")).to_be_visible(timeout=60_000)
    row.get_by_role("button", name="Administrator: cleo").click()
    expect(row).to_contain_text("admin", timeout=60_000)
    row.get_by_role("button", name="Administrator: cleo").click()
    expect(row).not_to_contain_text("admin", timeout=60_000)
    page.get_by_role("textbox", name="Group").fill("ops")
    page.get_by_label("User who comes into it").fill("cleo")
    page.get_by_role("button", name="Put into the group").click()
    groups = page.get_by_role("table", name="Groups")
    expect(groups.get_by_role("row", name="ops")).to_contain_text("cleo", timeout=60_000)
    root.judged("people with a group")
    page.get_by_role("button", name="Take cleo out of ops").click()
    expect(groups.get_by_role("row", name="ops")).not_to_contain_text("cleo", timeout=60_000)
    page.get_by_role("button", name="Delete the group ops").click()
    expect(page.get_by_text("No group yet.")).to_be_visible(timeout=60_000)
    row = page.get_by_role("table", name="People").get_by_role("row", name="ben")
    row.get_by_role("button", name="May make groups: ben").click()
    expect(row).to_contain_text("makes groups", timeout=60_000)
    root.same("people and groups are managed, and no page complains", root.complaints, [])


def maker(ben):
    """Ben is no administrator, and makes, fills and deletes a group of his own."""
    page = ben.page
    page.get_by_role("link", name="Groups").click(timeout=60_000)
    ben.at("Groups")
    expect(page.get_by_text("No group yet.")).to_be_visible(timeout=60_000)
    ben.same("who may make groups has these, and not all people", page.get_by_role("link", name="People").count(), 0)
    page.get_by_role("textbox", name="Group").fill("cooks")
    page.get_by_label("User who comes into it").fill("nobody")
    page.get_by_role("button", name="Put into the group").click()
    proof = page.get_by_role("dialog")
    proof.get_by_label("Password").fill(PASSWORD)
    proof.get_by_role("button", name="Go on").click()
    expect(page.get_by_role("alert")).to_contain_text("There is no local user nobody.", timeout=60_000)
    row = page.get_by_role("table", name="Groups").get_by_role("row", name="cooks")
    expect(row).to_be_visible(timeout=60_000)
    page.get_by_label("User who comes into it").fill("cleo")
    page.get_by_role("button", name="Put into the group").click()
    expect(row).to_contain_text("cleo", timeout=60_000)
    ben.judged("groups of one's own")
    page.get_by_role("button", name="Take cleo out of cooks").press("Enter")
    expect(row).not_to_contain_text("cleo", timeout=60_000)
    ben.same("who takes somebody out by a key stays in the list", page.evaluate("document.activeElement.closest('table') !== null"), True)
    page.get_by_role("button", name="Delete the group cooks").click()
    expect(page.get_by_text("No group yet.")).to_be_visible(timeout=60_000)
    ben.same("groups of one's own are managed, and no page complains", ben.complaints, [])


def enter(server, browser, checks, name):
    here = Walk(server, browser.new_context(viewport={"width": 1280, "height": 800}, service_workers="block"), checks, None)
    here.sign_in(name, judged=False)
    here.at("Start")
    return here


def taken_back(root, ben, token, topic):
    """What is taken back goes from all that shows it, without a reload."""
    server = root.server
    message = server.post(token, "query($t: ID!) { page: getMessageByTopicIdAndCreatedAt(topicId: $t) { items { id } } }", t=topic)["page"]["items"][0]["id"]
    own = server.create_topic(server.administer("token", "create", "--user", "ben"), "bens")
    for path, heading, gone in (("/feed", "All messages", "No message yet."), (f"/messages/{message}", "One", "This is not there, or not for you.")):
        root.go(f"/topics/{topic}/settings", "alerts: settings")
        root.page.get_by_label("Name of the user or group").fill("ben")
        root.page.get_by_role("button", name="Share").click()
        expect(root.page.get_by_text("user ben")).to_be_visible(timeout=60_000)
        ben.go(path, heading)
        expect(ben.page.get_by_role("link", name="alerts").first).to_be_visible(timeout=60_000)
        # The rail is there, and with it who watches; the page itself may need longer.
        watched = """() => [...document.querySelectorAll("#rail a")].some((each) => each.textContent.startsWith("alerts"))"""
        ben.page.wait_for_function(watched)
        ben.page.wait_for_load_state("networkidle")
        began = time.monotonic()
        root.page.get_by_role("button", name="Take back").click()
        expect(ben.page.get_by_text(gone)).to_be_visible(timeout=60_000)
        print(f"      {path.split('/')[1]}: gone {time.monotonic() - began:.2f} s after the press on Take back", flush=True)
        expect(ben.page.locator("#rail").get_by_text("alerts")).to_have_count(0, timeout=60_000)
    ben.same("what is taken back is in no list and on no page", [own != topic, ben.complaints], [True, []])


def settings(root, ben, token, topic):
    """A publish token is made, used and revoked; a member is removed."""
    page, server = root.page, root.server
    server.post(token, "mutation($i: GrantInput!) { grantTopic(input: $i) { id } }", i={"topicId": topic, "user": "ben", "roles": ["READER"], "push": True})
    root.go(f"/topics/{topic}/settings", "alerts: settings")
    page.get_by_label("What it is for").fill("backup")
    page.get_by_role("button", name="Make a publish token").click()
    rows = page.get_by_role("table", name="Tokens for this topic").get_by_role("row", name="backup")
    expect(rows).to_have_count(1, timeout=60_000)
    command = page.locator("pre").last.inner_text()
    sent = subprocess.run(["bash", "-c", command.replace("curl ", "curl -s -o /dev/null -w '%{http_code}' ", 1)], capture_output=True, text=True, timeout=60)
    root.same("the command with a topic's token publishes", sent.stdout, "201")
    root.judged("topic settings with a token")
    page.get_by_role("button", name="Revoke backup").click()
    expect(rows).to_have_count(0, timeout=60_000)
    refused = subprocess.run(["bash", "-c", command.replace("curl ", "curl -s -o /dev/null -w '%{http_code}' ", 1)], capture_output=True, text=True, timeout=60)
    root.same("once revoked it is refused", refused.stdout, "401")
    members = page.get_by_role("table", name="Whose devices get this topic's pushes").get_by_role("row")
    # Its members are named as in People, and not by their ids.
    expect(members.filter(has_text="ben")).to_have_count(1, timeout=60_000)
    before = members.count()
    page.get_by_role("table", name="Whose devices get this topic's pushes").get_by_role("button", name="Remove").last.click()
    expect(members).to_have_count(before - 1, timeout=60_000)
    ben.go(f"/topics/{topic}", "alerts")


def filters(root, token, topic):
    """The feed by type and by time, of what the server has."""
    page, server = root.page, root.server
    add = "mutation($i: CreateMessageInput!) { createMessage(input: $i) { id } }"
    for number in range(3):
        server.post(token, add, i={"topicId": topic, "type": 7, "title": f"Backup {number}", "body": "b", **({"category": "NIGHT"} if number == 0 else {})})
    root.go(f"/topics/{topic}", "alerts")
    expect(page.get_by_text(LIVE)).to_be_visible(timeout=60_000)
    shown = page.get_by_role("article").locator("visible=true")
    expect(shown).to_have_count(5, timeout=60_000)
    page.get_by_text("More filters").click()
    page.get_by_label("Type, a number").fill("7")
    page.get_by_role("button", name="Filter", exact=True).click()
    expect(shown).to_have_count(3, timeout=60_000)
    # What comes live passes the filter too, or is not shown.
    server.publish(token, topic, "Not a backup")
    server.post(token, add, i={"topicId": topic, "type": 7, "title": "Backup 3", "body": "b"})
    expect(shown).to_have_count(4, timeout=60_000)
    page.get_by_label("Category").fill("NIGHT")
    page.get_by_role("button", name="Filter", exact=True).click()
    expect(shown).to_have_count(1, timeout=60_000)
    server.post(token, add, i={"topicId": topic, "type": 7, "title": "Of the day", "body": "b", "category": "DAY"})
    server.post(token, add, i={"topicId": topic, "type": 7, "title": "Of the night", "body": "b", "category": "NIGHT"})
    expect(shown).to_have_count(2, timeout=60_000)
    page.get_by_label("Until").fill("2020-01-01T00:00")
    page.get_by_role("button", name="Filter", exact=True).click()
    expect(page.get_by_text("Nothing here passes the filters.")).to_be_visible(timeout=60_000)
    root.judged("feed with filters")
    for label in ("Type, a number", "Category", "Until"):
        page.get_by_label(label).fill("")
    page.get_by_role("button", name="Filter", exact=True).click()
    expect(shown).to_have_count(9, timeout=60_000)
    root.same("the feed filters by type, category and time, and shows all again", page.get_by_role("article").first.locator("h2").inner_text(), "Of the night")


def explained(root, ben, token, topic):
    """Why somebody else did not get it, by their name; and a phone is removed from the list of devices."""
    page, server = root.page, root.server
    bens = server.administer("token", "create", "--user", "ben")
    register = 'mutation($t: String!) { registerPushToken(token: $t, platform: "ios", environment: "sandbox", name: "Ben\'s phone") { userId } }'
    server.post(bens, register, t="b7" * 32)
    server.post(bens, "mutation($id: ID!) { subscribeToTopic(topicId: $id, push: false) { push } }", id=topic)
    server.publish(token, topic, "Why not")
    root.go(f"/topics/{topic}", "alerts")
    page.get_by_role("link", name="Why not").click()
    root.at("Why not")
    page.get_by_label("User", exact=False).last.fill("ben")
    page.get_by_role("button", name="Explain").click()
    expect(page.get_by_text("muted").first).to_be_visible(timeout=60_000)
    ben.go("/devices", "Devices")
    ben.page.get_by_role("button", name="Remove Ben's phone").click()
    expect(ben.page.get_by_text("No device yet.")).to_be_visible(timeout=60_000)
    ben.same("a device is removed where it is listed", len(server.post(bens, "{ devices { id } }")["devices"]), 0)


def account(ben, browser, checks):
    """Pushes off and on, another session ended, a new password."""
    page, server = ben.page, ben.server
    other = enter_again(server, browser, checks)
    ben.go("/account", "Account")
    page.get_by_role("button", name="Pushes are on").click()
    expect(page.get_by_role("button", name="Pushes are off")).to_be_visible(timeout=60_000)
    page.get_by_role("button", name="Pushes are off").click()
    expect(page.get_by_role("button", name="Pushes are on")).to_be_visible(timeout=60_000)
    page.get_by_role("table", name="Your sessions").get_by_role("button", name="End: ").first.click()
    expect(other.page.get_by_role("heading", level=1, name="Sign in")).to_be_visible(timeout=60_000)
    page.get_by_label("The present one").fill("wrong")
    page.get_by_label("The new one").fill(OTHER)
    page.get_by_role("button", name="Change it").click()
    expect(page.get_by_role("alert")).to_be_visible(timeout=60_000)
    page.get_by_label("The present one").fill(PASSWORD)
    page.get_by_role("button", name="Change it").click()
    expect(page.get_by_text("The password is changed.")).to_be_visible(timeout=60_000)
    other.page.get_by_label("User name").fill("ben")
    other.page.get_by_label("Password").fill(OTHER)
    other.page.get_by_role("button", name="Sign in").click()
    expect(other.page.get_by_role("heading", level=1, name="Sign in")).to_have_count(0, timeout=60_000)
    ben.same("a session is ended from another, and the new password signs in", other.page.get_by_role("link", name="Account: ben", exact=True).count(), 1)


def enter_again(server, browser, checks):
    here = Walk(server, browser.new_context(viewport={"width": 1280, "height": 800}, service_workers="block"), checks, None)
    here.sign_in("ben", judged=False)
    expect(here.page.get_by_text(LIVE)).to_be_visible(timeout=60_000)
    return here


def walk(server, browser, checks):
    root = set_up(server, browser, checks)
    people(root)
    ben = enter(server, browser, checks, "ben")
    maker(ben)
    token = server.administer("token", "create", "--user", "root")
    topic = server.create_topic(token, "alerts")
    server.publish(token, topic, "One")
    taken_back(root, ben, token, topic)
    settings(root, ben, token, topic)
    filters(root, token, topic)
    explained(root, ben, token, topic)
    account(ben, browser, checks)


if __name__ == "__main__":
    in_chromium(walk, root=False)
