"""People who come after each other in one Firefox: who signs in while another's window is open takes it over, and nothing of
the former's is shown or kept; who signs out takes all that is kept and the pushes that are shown; Back shows what was looked at.
Use: firefox_shared.py BINARY [FIREFOX]"""

import json

from firefox_people import LIVE, Person, in_firefox, window
from shared_browser import HELD

HELD_HERE = f"(await ({HELD})())"
SHOWN = "(await navigator.serviceWorker.ready.then((each) => each.getNotifications())).map(({ title }) => title)"
KEPT = """[(await indexedDB.databases()).map(({ name }) => name).filter((name) => name.startsWith("tocsin-")), localStorage.getItem("tocsin.person"), JSON.parse(sessionStorage.getItem("tocsin.places") ?? "[]").length]"""


def enter(here, name, path="/feed"):
    """Signs in, over whoever is signed in."""
    here.go(f"/sign-in?return={path}", "Sign in")
    here.page.fill("User name", name)
    here.page.fill("Password", "correct horse battery")
    here.page.press("Sign in")
    account = json.dumps(f"Account: {name}")
    here.page.until(f"Boolean(named({account}))")


def walk(root, firefox, _):
    server = root.server
    first, second = root, Person(server, window(firefox), root.checks)
    names = ("ann", "ben")
    tokens = {name: server.administer("token", "create", "--user", name) for name in names}
    topics = {name: server.create_topic(tokens[name], f"{name}s") for name in names}
    server.publish(tokens["ann"], topics["ann"], "Of ann before")
    enter(first, "ann")
    first.page.until("articles().includes('Of ann before')")
    first.page.until(LIVE)
    enter(second, "ben")
    second.page.until(LIVE)
    first.page.until("Boolean(named('Account: ben'))")
    server.publish(tokens["ann"], topics["ann"], "Of ann after")
    server.publish(tokens["ben"], topics["ben"], "Of ben")
    for here in (first, second):
        here.page.until("articles().includes('Of ben')")
        here.same("a window of who came later holds nothing of who came before", "Of ann" in here.page.run(f"return {HELD_HERE};"), False)

    for number in range(45):
        server.publish(tokens["ben"], topics["ben"], f"Number {number}")
    second.page.front()
    second.go(f"/topics/{topics['ben']}", "bens")
    second.page.until("articles().length === 46")
    second.page.run("named('Number 10').scrollIntoView({ block: 'center' });")
    second.page.press("Number 10")
    second.at("Number 10")
    second.same("a message begins at its top", second.page.run("return scrollY;"), 0)
    second.page.run("history.back();")
    second.at("bens")
    second.page.until("Boolean(named('Number 10'))")
    seen = "((top) => top > 0 && top < innerHeight)(named('Number 10').getBoundingClientRect().top)"
    second.becomes("Back shows what somebody looked at", f"[scrollY > 1000, {seen}]", [True, True])

    second.page.run("await (await navigator.serviceWorker.ready).showNotification('A push of ben');")
    second.page.until(f"{SHOWN}.length === 1")
    second.go("/account", "Account")
    second.page.press("Sign out")
    for here in (second, first):
        here.at("Sign in")
        here.becomes("after signing out nothing is kept", KEPT, [[], None, 0])
    second.same("and no push is shown", second.page.run(f"return {SHOWN};"), [])


if __name__ == "__main__":
    in_firefox(walk, "ann", "ben")
