"""Walks through lists that are longer than one answer: people, groups, grants, members and tokens say what is shown and go on; a
message with more than 200 pushes counts all of them; of more topics than are watched each one that is taken back goes; a
long text is held by its beginning.
Use: many.py BINARY [CHROMIUM]"""

import re
import time

from playwright.sync_api import expect

from console import PASSWORD, Walk, in_chromium

PEOPLE = 205
TOPICS = 31


def together(server, token, kind, fields, size=20):
    """Many fields in few requests; each is a text of GraphQL. Answers with what they gave, in their order."""
    answers = []
    for start in range(0, len(fields), size):
        part = fields[start:start + size]
        data = server.post(token, f"{kind} {{ " + " ".join(f"f{index}: {field}" for index, field in enumerate(part)) + " }")
        answers += [data[f"f{index}"] for index in range(len(part))]
    return answers


def entered(server, browser, checks, name):
    here = Walk(server, browser.new_context(viewport={"width": 1280, "height": 800}, service_workers="block"), checks, None)
    here.go("/", "Sign in")
    here.page.get_by_label("User name").fill(name)
    here.page.get_by_label("Password").fill(PASSWORD)
    here.page.get_by_role("button", name="Sign in").click()
    expect(here.page.get_by_role("heading", level=1)).not_to_have_text("Sign in", timeout=60_000)
    return here


def shown_to_the_end(here, name, table, least):
    """Presses *Show more* until there is no more; answers how many rows were shown before each press, and at last."""
    page, counts = here.page, []
    more = page.get_by_role("button", name=f"Show more: {name}", exact=True)
    pages = page.locator(".pages").filter(has=page.get_by_role("button", name=f"Show more: {name}", exact=True, include_hidden=True))
    rows = page.get_by_role("table", name=table, exact=True).get_by_role("row")
    expect(rows.first).to_be_visible(timeout=60_000)
    while True:
        # One row has the names of the columns.
        counts.append(rows.count() - 1)
        if not more.is_visible():
            break
        expect(pages).to_contain_text(f"{counts[-1]} are shown, and there are more.")
        more.click()
        expect(rows).not_to_have_count(counts[-1] + 1, timeout=60_000)
    expect(pages).to_contain_text(f"All {counts[-1]} are shown.")
    here.same(f"{name}: shown by pages, and then all {counts[-1]}", [counts[0] < counts[-1], counts[-1] >= least, counts == sorted(counts)], [True] * 3)
    return counts[-1]


def people(root, token):
    """Users and groups over several pages, and a group's members."""
    page, server = root.page, root.server
    names = [f"p{number:03}" for number in range(PEOPLE)]
    together(server, token, "mutation", [f'createUser(name: "{name}") {{ id name }}' for name in names])
    groups = together(server, token, "mutation", [f'createGroup(name: "g{number:03}") {{ id }}' for number in range(PEOPLE)])
    together(server, token, "mutation", [f'addGroupMember(groupId: "{groups[0]["id"]}", user: "{name}") {{ id }}' for name in names])
    root.go("/people", "People")
    all_users = shown_to_the_end(root, "People", "People", PEOPLE)
    # What is done far below leaves the list as long as it was.
    row = page.get_by_role("table", name="People").get_by_role("row", name="p204")
    row.get_by_role("button", name="Disable").click()
    expect(row).to_contain_text("disabled", timeout=60_000)
    root.same("a list stays as long as it was shown", page.get_by_role("table", name="People").get_by_role("row").count() - 1, all_users)
    shown_to_the_end(root, "Groups", "Groups", PEOPLE)
    first = page.get_by_role("table", name="Groups").get_by_role("row", name="g000")
    members = first.get_by_role("button", name="Take ")
    expect(members).to_have_count(50, timeout=60_000)
    more = first.get_by_role("button", name="Show more: members of g000")
    for count in (100, 150, 200, PEOPLE):
        expect(first).to_contain_text("are shown, and there are more.")
        more.click()
        expect(members).to_have_count(count, timeout=60_000)
    expect(first).to_contain_text(f"All {PEOPLE} are shown.")
    root.same("when a list is whole its button goes, and the focus is at what says so", page.evaluate("document.activeElement.textContent"), f"All {PEOPLE} are shown.")
    first.get_by_role("button", name="Take p203 out of g000").click()
    expect(members).to_have_count(PEOPLE - 1, timeout=60_000)


def sharing(root, token):
    """Grants, members and tokens over several pages; then one message for all of them."""
    page, server = root.page, root.server
    topic = server.create_topic(token, "wide")
    # The first group has all people; so many users cannot be named one by one in a minute.
    together(server, token, "mutation", [f'grantTopic(input: {{topicId: "{topic}", group: "g{number:03}", roles: [READER], push: true}}) {{ id }}' for number in range(PEOPLE)])
    # A user has 100 tokens at most that are good; those that have ended lately stand between them.
    make = [f'createToken(input: {{name: "t{number:03}", scopes: ["publish:{topic}"]}}) {{ token {{ id }} }}' for number in range(130)]
    made = together(server, token, "mutation", make[:80])
    together(server, token, "mutation", [f'revokeToken(id: "{each["token"]["id"]}") {{ id }}' for each in made[:50]])
    together(server, token, "mutation", make[80:])
    root.go(f"/topics/{topic}/settings", "wide: settings")
    shown_to_the_end(root, "With whom this topic is shared", "With whom this topic is shared", PEOPLE)
    shown_to_the_end(root, "Whose devices get this topic's pushes", "Whose devices get this topic's pushes", 203)
    shown_to_the_end(root, "Tokens for this topic", "Tokens for this topic", 80)
    page.get_by_role("row", name="group g204").get_by_role("button", name="Take back").click()
    expect(page.get_by_role("row", name="group g204")).to_have_count(0, timeout=60_000)
    root.go("/tokens", "Tokens")
    shown_to_the_end(root, "Your tokens", "Your tokens", 80)
    root.judged("tokens by pages")

    server.publish(token, topic, "To everybody")
    message = server.post(token, "query($t: ID!) { page: getMessageByTopicIdAndCreatedAt(topicId: $t) { items { id } } }", t=topic)["page"]["items"][0]["id"]
    deadline = time.monotonic() + 60
    count = 0
    while count <= 200 and time.monotonic() < deadline:
        count = server.post(token, "query($m: ID!) { getMessage(id: $m) { deliverySummary { state skipped } } }", m=message)["getMessage"]["deliverySummary"]["skipped"]
    root.go(f"/messages/{message}", "To everybody")
    expect(page.get_by_text(f"{count} not sent", exact=True)).to_be_visible(timeout=60_000)
    expect(page.get_by_text("These are the first 200.")).to_be_visible()
    expect(page.get_by_role("button", name=f"Try again what was not sent ({count})")).to_be_visible()
    rows = page.get_by_role("table", name="Pushes of this message").get_by_role("row")
    root.same("of more than 200 pushes the first 200 are listed, and all are counted", [rows.count() - 1, count > 200], [200, True])
    page.get_by_role("button", name=re.compile("^Try again")).click()
    expect(page.get_by_text("They are due again.")).to_be_visible(timeout=60_000)
    # What comes live does not make the list longer, nor the count wrong.
    page.wait_for_load_state("networkidle")
    expect(page.get_by_text(f"{count} not sent", exact=True)).to_be_visible(timeout=60_000)
    root.same("the list keeps its length while outcomes come", rows.count() - 1, 200)


def many_topics(root, ben, token):
    """One topic more than is watched: each one that is taken back goes, the one that is not watched within a minute."""
    server, page = root.server, ben.page
    topics = [made["id"] for made in together(server, token, "mutation", [f'createTopic(input: {{name: "s{number:02}", arn: ""}}) {{ id }}' for number in range(TOPICS)])]
    for topic in topics:
        server.publish(token, topic, "Of ben's")
    # So many users cannot be named one by one in a minute.
    team = server.post(token, 'mutation { createGroup(name: "team") { id } }')["createGroup"]["id"]
    server.post(token, 'mutation($g: ID!) { addGroupMember(groupId: $g, user: "ben") { id } }', g=team)
    give = 'grantTopic(input: {topicId: "%s", group: "team", roles: [READER]}) { id }'
    grants = together(server, token, "mutation", [give % topic for topic in topics])
    ben.go("/feed", "All messages")
    rail = page.locator("#rail")
    expect(rail.get_by_role("link", name=re.compile("^s[0-9]"))).to_have_count(TOPICS, timeout=60_000)
    page.wait_for_load_state("networkidle")
    left = TOPICS
    for number, what in ((0, "the first one, which is watched"), (TOPICS - 1, "the last one, which is not watched")):
        began = time.monotonic()
        server.post(token, "mutation($id: ID!) { revokeGrant(id: $id) { id } }", id=grants[number]["id"])
        left -= 1
        expect(rail.get_by_role("link", name=f"s{number:02}")).to_have_count(0, timeout=90_000)
        expect(page.get_by_role("article")).to_have_count(left, timeout=60_000)
        print(f"      {what}: gone after {time.monotonic() - began:.1f} s", flush=True)
        # The first one comes back, so that there is one more than is watched again.
        if number == 0:
            grants[0] = together(server, token, "mutation", [give % topics[0]])[0]
            left += 1
            page.reload()
            expect(rail.get_by_role("link", name=re.compile("^s[0-9]"))).to_have_count(left, timeout=60_000)
            page.wait_for_load_state("networkidle")
    ben.same("of 31 topics that others share each one that is taken back goes from the list and the feed", ben.complaints, [])


def long_text(root, token):
    """A browser lays out all of a text that it is given, and hangs at many long ones: lists hold the beginning."""
    page, server = root.page, root.server
    topic = server.create_topic(token, "novels")
    body = "\u05d0word " * 15_000
    given = {"topicId": topic, "type": 0, "title": "A long one", "body": body}
    made = server.post(token, "mutation($i: CreateMessageInput!) { createMessage(input: $i) { id } }", i=given)["createMessage"]["id"]
    root.go(f"/topics/{topic}", "novels")
    expect(page.get_by_role("link", name="A long one")).to_be_visible(timeout=60_000)
    root.same("a list holds the first 2,000 characters of a long text", len(page.locator("article p.text").first.text_content()), 2002)
    root.go(f"/messages/{made}", "A long one")
    expect(page.locator("#main pre").first).to_be_visible(timeout=60_000)
    root.same("and the message's page all of it", len(page.locator("#main pre").first.text_content()), len(body))


def walk(server, browser, checks):
    token = server.administer("token", "create", "--user", "root")
    root, ben = (entered(server, browser, checks, name) for name in ("root", "ben"))
    people(root, token)
    sharing(root, token)
    many_topics(root, ben, token)
    long_text(root, token)
    root.same("no page complains", root.complaints, [])


if __name__ == "__main__":
    in_chromium(walk, "ben")
