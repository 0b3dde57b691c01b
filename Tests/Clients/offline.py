"""The console without a network, in several tabs, and through kills: what it shows, what it sends later, how it is updated, and
how it ends. Use: offline.py BINARY [CHROMIUM] [KILLS]"""

import os
import random
import shutil
import sys
import tempfile
import threading
import time
import urllib.error
import uuid

from console import FILES, Walk, in_chromium
from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import expect

CREATE = "mutation($i: CreateMessageInput!) { createMessage(input: $i) { id } }"
LIST = """query($id: ID!, $n: String) { page: getMessageByTopicIdAndCreatedAt(topicId: $id, sortDirection: DESC, limit: 200, nextToken: $n) {
  items { number title } nextToken } }"""
NUMBERS = "[...document.querySelectorAll('main article .meta > span:first-child')].map((each) => Number(each.textContent.slice(1)))"
COUNT = """window.sockets = new Set();
window.WebSocket = class extends WebSocket {
  constructor(...all) {
    super(...all);
    sockets.add(this);
    this.addEventListener("close", () => sockets.delete(this));
  }
};"""
# How often each tab asks the server to make a message, and when; while `isCut` it reaches no server.
TRIES = """window.tries = [];
window.isCut = false;
const ask = window.fetch;
window.fetch = (address, more) => {
  // What has waited is sent behind the question whose it is.
  if (/createMessage|\{ me \{ userId \} \}/.test(more?.body ?? "")) tries.push(Date.now());
  return isCut ? Promise.reject(new TypeError("cut")) : ask(address, more);
};"""
KEPT = "Promise.all([indexedDB.databases(), caches.keys(), localStorage.getItem('tocsin.person')])"


def listed(server, token, topic):
    """All messages of a topic as the server has them, the newest first."""
    items, after = [], None
    while True:
        page = server.post(token, LIST, id=topic, n=after)["page"]
        items += page["items"]
        after = page["nextToken"]
        if not after:
            return items


class Publisher(threading.Thread):
    """Sends messages, 20 a second, each under an id of its own, again until the server has it."""

    def __init__(self, server, token, topic):
        super().__init__(daemon=True)
        self.server, self.token, self.topic, self.ended, self.count = server, token, topic, threading.Event(), 0

    def run(self):
        while not self.ended.wait(0.05):
            message = {"id": str(uuid.uuid4()), "topicId": self.topic, "type": 0, "title": f"m{self.count}", "body": ""}
            while True:
                try:
                    self.server.post(self.token, CREATE, i=message)
                    break
                except (OSError, urllib.error.URLError):
                    time.sleep(0.1)
            self.count += 1


def sockets(tabs):
    """How many sockets are open, over all tabs."""
    return sum(each.page.evaluate("sockets.size") for each in tabs)


def until(page, condition, argument=None):
    page.wait_for_function(condition, arg=argument, timeout=60_000)


def tab(here, path, heading):
    """One more tab of the same browser."""
    other = Walk(here.server, here.context, here.checks, None)
    other.go(path, heading)
    return other


def walk(server, context, checks, kills):
    context.add_init_script(COUNT)
    here = Walk(server, context, checks, None)
    page = here.page
    here.sign_in("root", judged=False)
    here.at("Start")
    token = server.administer("token", "create", "--user", "root")
    topic = server.create_topic(token, "alerts")
    for title in ("one", "two", "three"):
        server.publish(token, topic, title)
    here.go(f"/topics/{topic}", "alerts")
    expect(page.get_by_role("article")).to_have_count(3, timeout=60_000)
    page.evaluate("navigator.serviceWorker.ready.then(() => true)")
    manifest = page.evaluate("fetch(document.querySelector('link[rel=manifest]').href).then((answer) => answer.json())")
    here.same("the manifest names a page to start with, and an icon", [bool(manifest["start_url"]), len(manifest["icons"])], [True, 1])

    # Without a server at all: the page itself, the list, a message, and one that is written now.
    server.process.kill()
    server.process.wait(20)
    here.go("/", "All messages")
    expect(page.get_by_role("article")).to_have_count(3, timeout=60_000)
    page.get_by_role("link", name="two").click()
    here.at("two")
    page.get_by_role("link", name="Send", exact=True).click()
    here.at("Send")
    page.get_by_label("Title").fill("Written without a server")
    page.get_by_role("main").get_by_role("button", name="Send").click()
    here.at("alerts")
    expect(page.get_by_role("link", name="1 not sent yet")).to_be_visible(timeout=60_000)
    here.go(f"/topics/{topic}", "alerts")
    expect(page.get_by_role("article")).to_have_count(3, timeout=60_000)
    server.kill_and_restart()
    expect(page.get_by_role("article").first).to_contain_text("Written without a server", timeout=60_000)
    expect(page.get_by_role("link", name="1 not sent yet")).to_be_hidden(timeout=60_000)
    context.set_offline(True)
    here.go("/send", "Send")
    page.get_by_label("Title").fill("Written without a network")
    page.get_by_role("main").get_by_role("button", name="Send").click()
    here.at("alerts")
    # What is not kept says so, also at an address that was never opened here.
    page.goto(f"{server.address}/topics/{topic}/settings")
    expect(page.get_by_text("The server cannot be reached. This comes up as soon as it can.")).to_be_visible(timeout=60_000)
    here.go(f"/topics/{topic}", "alerts")
    context.set_offline(False)
    expect(page.get_by_role("article").first).to_contain_text("Written without a network", timeout=60_000)
    titles = [each["title"] for each in listed(server, token, topic)]
    here.same("what is written offline is sent once", titles, ["Written without a network", "Written without a server", "three", "two", "one"])

    tabs = [here, *(tab(here, f"/topics/{topic}", "alerts") for _ in range(2))]
    for each in tabs:
        expect(each.page.get_by_text("● live")).to_be_visible(timeout=60_000)
    here.same("three tabs have one socket", sockets(tabs), 1)
    server.publish(token, topic, "to all tabs")
    for each in tabs:
        expect(each.page.get_by_role("article").first).to_contain_text("to all tabs", timeout=60_000)
    tabs.remove(here)
    page.close()
    server.publish(token, topic, "after the first tab")
    for each in tabs:
        expect(each.page.get_by_role("article").first).to_contain_text("after the first tab", timeout=60_000)
    while sockets(tabs) == 0:
        tabs[0].page.wait_for_timeout(50)
    here.same("two tabs have one socket", sockets(tabs), 1)
    tabs.append(tab(here, f"/topics/{topic}", "alerts"))
    through_kills(server, context, checks, tabs, token, topic, kills)

    here = tabs[0]
    page = here.page
    for each in tabs[1:]:
        each.page.close()
    updated(server, here)
    here.go("/account", "Account")
    context.set_offline(True)
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_text("What this browser had kept is removed.")).to_be_visible(timeout=60_000)
    databases, _, person = page.evaluate(KEPT)
    here.same("who signs out without a network leaves nothing in the browser, and is told that the session goes on", [databases, person], [[], None])
    context.set_offline(False)
    page.get_by_role("button", name="Sign out").click()
    here.at("Sign in")
    databases, _, person = page.evaluate(KEPT)
    here.same("after signing out nothing of the person is kept", [databases, person], [[], None])
    os.environ["TOCSIN_CONSOLE"] = "off"
    server.kill_and_restart()
    page.evaluate("navigator.serviceWorker.getRegistration().then((each) => each.update())")
    until(page, "async () => (await navigator.serviceWorker.getRegistrations()).length === 0 && (await caches.keys()).length === 0")
    here.same("where the console is switched off its worker removes itself", page.goto(server.address + "/feed").status, 404)


def patient(server, browser, checks, topic):
    """What waits is tried in one tab of three, with growing pauses, and at once when any tab has the network again."""
    context = browser.new_context(viewport={"width": 1280, "height": 800}, service_workers="block")
    context.add_init_script(TRIES)
    context.clock.install()
    here = Walk(server, context, checks, None)
    here.sign_in("ben", judged=False)
    here.at("All messages")
    tabs = [here, *(tab(here, f"/topics/{topic}", "patience") for _ in range(2))]
    for each in tabs:
        expect(each.page.locator("#rail a[aria-current]")).to_have_count(1, timeout=60_000)
        each.page.evaluate("window.isCut = true")
    here.page.get_by_role("link", name="Send", exact=True).click()
    here.at("Send")
    here.page.get_by_label("Title").fill("Written with patience")
    here.page.get_by_role("main").get_by_role("button", name="Send").click()
    for each in tabs:
        expect(each.page.get_by_role("link", name="1 not sent yet")).to_be_visible(timeout=60_000)

    def tries():
        return sorted(moment for each in tabs for moment in each.page.evaluate("tries"))

    # The list that comes up after sending is live, for which it is tried once more.
    until(here.page, "() => tries.length === 2")
    while len(tries()) < 7:
        context.clock.fast_forward(5_000)
        here.page.wait_for_timeout(50)
    pauses = [(after - before) / 1000 for before, after in zip(tries()[1:], tries()[2:])]
    print("      pauses between tries, in s:", *(f"{each:.0f}" for each in pauses), flush=True)
    early = [each for each, least in zip(pauses, (5, 10, 20, 40, 60)) if each < least]
    here.same("three tabs together try with growing pauses", early, [])
    for each in tabs:
        each.page.evaluate("window.isCut = false")
    # The one tab whose message it was not.
    tabs[-1].page.evaluate("dispatchEvent(new Event('online'))")
    for each in tabs:
        expect(each.page.get_by_role("link", name="1 not sent yet")).to_be_hidden(timeout=60_000)
    here.same("and send it at once when one of them has the network again, in one try", len(tries()), 9)
    context.close()


def through_kills(server, context, checks, tabs, token, topic, kills):
    """Kills the server, the network and the tab with the socket, at random, under 20 messages a second."""
    publisher = Publisher(server, token, topic)
    publisher.start()
    chance = random.Random(int(os.environ.get("TOCSIN_SEED", "29")))
    for _ in range(kills):
        match chance.choice(["server", "network", "tab"]):
            case "server":
                server.kill_and_restart()
            case "network":
                context.set_offline(True)
                tabs[0].page.wait_for_timeout(chance.uniform(100, 900))
                context.set_offline(False)
            case "tab":
                # The oldest tab waits longest for the lock, so it has it.
                tabs.append(tab(tabs[-1], f"/topics/{topic}", "alerts"))
                tabs.pop(0).page.close()
        tabs[0].page.wait_for_timeout(chance.uniform(100, 1200))
    publisher.ended.set()
    publisher.join(60)
    numbers = [each["number"] for each in listed(server, token, topic)]
    ends = []
    for each in tabs:
        # Who fails is the page that is told of.
        Walk.last = each
        each.page.bring_to_front()
        until(each.page, "(last) => document.querySelector('main article .meta > span')?.textContent === `#${last}`", numbers[0])
        try:
            until(each.page, f"(all) => {{ const seen = {NUMBERS}; return seen.length >= 50 && seen.every((each, index) => each === all[index]); }}", numbers)
        except PlaywrightError:
            pass
        seen = each.page.evaluate(NUMBERS)
        ends.append("as the server" if len(seen) >= 50 and seen == numbers[: len(seen)] else seen)
    checks.report(
        f"after {kills} kills under {publisher.count} messages each tab ends as the server's list",
        None if ends == ["as the server"] * len(tabs) else AssertionError(str(ends)),
    )


def updated(server, here):
    """A newer version waits until somebody wants it."""
    page = here.page
    folder = tempfile.mkdtemp(prefix="tocsin-console-")
    shutil.copytree(FILES, folder, dirs_exist_ok=True)
    path = os.path.join(folder, "texts.js")
    with open(path, encoding="utf-8") as file:
        text = file.read().replace('devices: "Devices"', 'devices: "Devices of the newer version"')
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.environ["TOCSIN_CONSOLE"] = folder
    server.kill_and_restart()
    here.go("/send", "Send")
    page.get_by_label("Title").fill("half written")
    expect(page.get_by_role("button", name="Update")).to_be_visible(timeout=60_000)
    here.same("a newer version leaves what is written", page.get_by_label("Title").input_value(), "half written")
    here.go("/devices", "Devices")
    here.same("and waits", page.get_by_role("heading", level=1).inner_text(), "Devices")
    page.get_by_role("button", name="Update").click()
    here.at("Devices of the newer version")
    here.same("until somebody presses Update", page.get_by_role("heading", level=1).inner_text(), "Devices of the newer version")
    shutil.rmtree(folder)
    del os.environ["TOCSIN_CONSOLE"]
    server.kill_and_restart()


def walks(server, browser, checks, kills):
    patient(server, browser, checks, server.create_topic(server.administer("token", "create", "--user", "ben"), "patience"))
    walk(server, browser.new_context(viewport={"width": 1280, "height": 800}), checks, kills)


def main():
    kills = int(sys.argv[3]) if len(sys.argv) > 3 else 6
    in_chromium(lambda server, browser, checks: walks(server, browser, checks, kills), "ben")


if __name__ == "__main__":
    main()
