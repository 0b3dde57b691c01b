"""The console by keys alone: no pointer is ever moved. And in forced colours, without motion.
Use: keyboard.py BINARY [CHROMIUM] [PICTURES]"""

import os
import sys

import console_texts
from axe_playwright_python.sync_playwright import Axe
from console import FILES, PASSWORD, TAGS, Walk, in_chromium
from playwright.sync_api import expect

FOCUSED = "document.activeElement.textContent"


def tab_to(page, name):
    """Presses Tab until something of this name has the focus, as people do who hear it read."""
    for _ in range(80):
        page.keyboard.press("Tab")
        if page.evaluate("(document.activeElement.getAttribute('aria-label') ?? document.activeElement.closest('label')?.textContent ?? document.activeElement.textContent).trim()").startswith(name):
            return
    raise AssertionError(f"Tab does not lead to {name}")


def walk(server, context, checks, pictures):
    here = Walk(server, context, checks, pictures)
    page, keys = here.page, here.page.keyboard
    pointers = "addEventListener('pointerdown', () => (window.pointed = true), true);"
    page.add_init_script(pointers)
    token = server.administer("token", "create", "--user", "root")
    topic = server.create_topic(token, "alerts")
    for title in ("one", "two", "three"):
        server.publish(token, topic, title)
    # Counted as unread is what comes after the first mark.
    server.post(token, "mutation($id: ID!) { markRead(topicId: $id, number: 1) { unread } }", id=topic)
    here.go("/", "Sign in")
    tab_to(page, "User name")
    keys.type("root")
    tab_to(page, "Password")
    keys.type(PASSWORD)
    keys.press("Enter")
    here.at("All messages")
    expect(page.get_by_role("article")).to_have_count(3, timeout=60_000)
    seen = []
    for key in "jjkj":
        keys.press(key)
        seen.append(page.evaluate(FOCUSED))
    here.same("j and k go through the messages", seen, ["three", "two", "three", "two"])
    keys.press("o")
    here.at("two")
    keys.press("w")
    expect(page.locator("li.passed, li.failed").first).to_be_visible(timeout=60_000)
    keys.press("g")
    keys.press("t")
    here.at("alerts")
    expect(page.get_by_role("link", name="alerts 2 unread")).to_be_visible(timeout=60_000)
    for key in "jje":
        keys.press(key)
    expect(page.get_by_role("link", name="alerts 1 unread")).to_be_visible(timeout=60_000)
    keys.press("Shift+E")
    expect(page.get_by_role("link", name="alerts 1 unread")).to_be_hidden(timeout=60_000)
    expect(page.get_by_role("link", name="alerts", exact=True)).to_be_visible(timeout=60_000)
    keys.press("5")
    expect(page.get_by_role("article")).to_have_count(0, timeout=60_000)
    keys.press("1")
    expect(page.get_by_role("article")).to_have_count(3, timeout=60_000)

    keys.press("?")
    expect(page.get_by_role("dialog")).to_be_visible(timeout=60_000)
    table = page.evaluate("async () => { %s return texts.keys.help; }" % console_texts.IMPORT)
    with open(os.path.join(FILES, "..", "..", "docs", "console.md"), encoding="utf-8") as file:
        docs = file.read()
    rows = [" ".join(f"`{each}`" for each in key.split(" ")) for key, _ in table]
    here.same("the docs name each key", [row for row, (_, words) in zip(rows, table) if f"| {row} | {words} |" not in docs], [])
    here.same("and so does the help", page.locator("dialog dd").all_inner_texts(), [words for _, words in table])
    found = Axe().run(page, options={"runOnly": {"type": "tag", "values": TAGS}}).response["violations"]
    here.same("axe finds nothing in the help", [each["id"] for each in found], [])
    here.picture("keys")
    keys.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden(timeout=60_000)
    keys.press("?")
    expect(page.get_by_role("dialog")).to_be_visible(timeout=60_000)
    quick = "dialog.close(); button.dispatchEvent(new KeyboardEvent('keydown', { key: 'c', bubbles: true }))"
    page.evaluate(f"(() => {{ const dialog = document.querySelector('dialog'), button = dialog.querySelector('button'); {quick}; }})()")
    here.at("Send")
    keys.press("g")
    keys.press("t")
    here.at("alerts")
    keys.press("c")
    here.at("Send")
    tab_to(page, "Title")
    keys.type("jokes? c 1")
    keys.press("Enter")
    here.at("jokes? c 1")
    keys.press("?")
    tab_to(page, "Keys are on")
    keys.press("Space")
    keys.press("Escape")
    keys.press("c")
    page.wait_for_timeout(300)
    here.same("keys can be switched off", page.get_by_role("heading", level=1).inner_text(), "jokes? c 1")

    page.emulate_media(forced_colors="active", reduced_motion="reduce")
    here.go(f"/topics/{topic}", "alerts")
    expect(page.get_by_role("article")).to_have_count(4, timeout=60_000)
    here.picture("forced-colours")
    # The rail is filled beside the list.
    place = page.locator("#rail a[aria-current]")
    expect(place).to_have_count(1, timeout=60_000)
    here.same("in forced colours one sees where one is", place.evaluate("(link) => getComputedStyle(link).borderTopWidth"), "2px")
    moving = "document.getAnimations().length + [...document.querySelectorAll('*')].filter((each) => parseFloat(getComputedStyle(each).transitionDuration) > 0).length"
    here.same("nothing moves", page.evaluate(moving), 0)
    here.same("no pointer was used", [page.evaluate("window.pointed ?? false"), here.complaints], [False, []])


def main():
    pictures = sys.argv[3] if len(sys.argv) > 3 else None
    in_chromium(lambda server, browser, checks: walk(server, browser.new_context(viewport={"width": 1280, "height": 800}, service_workers="block"), checks, pictures))


if __name__ == "__main__":
    main()
