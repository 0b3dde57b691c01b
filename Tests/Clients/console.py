"""Walks through the console of the built server as people do, in headless Chromium. Every page is looked at by axe, no
request leaves for another host, and no page breaks its own security policy. Use: console.py BINARY [CHROMIUM] [PICTURES]"""

import gzip
import os
import shutil
import subprocess
import sys

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect, sync_playwright

from tocsin import Checks, Server

FILES = os.path.join(os.path.dirname(__file__), "..", "..", "Sources", "Console")
PASSWORD = "correct horse battery"
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
HOSTILE = "<img src=x onerror=alert(1)> \u202e javascript:alert(1) {{7*7}} '\"><script>alert(1)</script>"


class Walk:
    def __init__(self, server, context, checks, pictures):
        self.server, self.checks, self.pictures = server, checks, pictures
        self.context = context
        self.page = context.new_page()
        self.requests, self.complaints = [], []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("console", self.said)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", lambda dialog: dialog.accept())
        self.page.set_default_timeout(20_000)

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
        expect(self.page.get_by_role("heading", level=1, name=heading)).to_be_visible(timeout=20_000)

    def judged(self, name):
        """What axe finds on the page, in light and in dark, and at 320 pixels whether it scrolls sideways."""
        found = []
        for scheme in ("light", "dark"):
            self.page.emulate_media(color_scheme=scheme)
            result = Axe().run(self.page, options={"runOnly": {"type": "tag", "values": TAGS}})
            found += [f"{scheme}: {each['id']}: {each['nodes'][0]['html'][:120]}" for each in result.response["violations"]]
            if self.pictures:
                self.page.screenshot(path=os.path.join(self.pictures, f"{name}-{scheme}.png".replace(" ", "-")))
        self.page.emulate_media(color_scheme="light")
        self.page.set_viewport_size({"width": 320, "height": 640})
        wide = self.page.evaluate("document.documentElement.scrollWidth")
        if self.pictures:
            self.page.screenshot(path=os.path.join(self.pictures, f"{name}-320.png".replace(" ", "-")))
        self.page.set_viewport_size({"width": 1280, "height": 800})
        self.same(f"{name}: axe finds nothing, and 320 pixels are enough", found + ([f"{wide} px"] if wide > 320 else []), [])

    def sign_in(self, name):
        self.go("/", "Sign in")
        self.page.get_by_label("User name").fill(name)
        self.page.get_by_label("Password").fill("wrong")
        self.page.get_by_role("button", name="Sign in").click()
        expect(self.page.get_by_role("alert")).to_contain_text("wrong", timeout=20_000)
        self.judged("sign-in")
        self.page.get_by_label("Password").fill(PASSWORD)
        self.page.get_by_role("button", name="Sign in").click()


def walk(server, context, checks, pictures):
    here = Walk(server, context, checks, pictures)
    page = here.page
    here.sign_in("root")
    here.at("Start")
    here.judged("start")
    page.get_by_role("button", name="Make it").click()
    expect(page.get_by_text("You have the topic alerts")).to_be_visible(timeout=20_000)
    page.get_by_role("button", name="Show the command").click()
    command = page.locator("pre").first
    expect(command).to_contain_text("curl", timeout=20_000)
    sent = subprocess.run(["bash", "-c", command.inner_text()], capture_output=True, text=True, timeout=60)
    here.same("the command that Start shows publishes", "success" in sent.stdout, True)
    expect(page.get_by_text("It came:")).to_be_visible(timeout=20_000)

    page.get_by_role("link", name="All messages").click()
    here.at("All messages")
    expect(page.get_by_role("article")).to_have_count(1, timeout=20_000)
    page.get_by_role("link", name="Send", exact=True).click()
    here.at("Send")
    page.get_by_label("Title").fill("Disk full")
    page.get_by_label("Text").fill("db-3 is at 91 %\n" + HOSTILE)
    page.get_by_label("Priority").select_option("5")
    here.judged("send")
    page.get_by_role("main").get_by_role("button", name="Send").click()
    here.at("Disk full")
    expect(page.get_by_role("heading", name="Pushes")).to_be_visible()
    here.same("a hostile text is shown as text", HOSTILE in page.locator("pre").first.inner_text(), True)
    page.get_by_role("button", name="Explain").click()
    expect(page.locator("li.passed").first).to_be_visible(timeout=20_000)
    here.judged("message")

    page.get_by_role("link", name="alerts", exact=False).first.click()
    here.at("alerts")
    expect(page.get_by_text("● live")).to_be_visible(timeout=20_000)
    token = server.administer("token", "create", "--user", "root")
    topic = page.url.rsplit("/", 1)[1]
    server.post(token, "mutation($i: CreateMessageInput!) { createMessage(input: $i) { id } }", i={"topicId": topic, "title": "Live one", "body": "", "type": 0})
    expect(page.get_by_role("article").first).to_contain_text("Live one", timeout=20_000)
    server.kill_and_restart()
    server.post(token, "mutation($i: CreateMessageInput!) { createMessage(input: $i) { id } }", i={"topicId": topic, "title": HOSTILE, "body": "", "type": 0})
    expect(page.get_by_role("article")).to_have_count(4, timeout=20_000)
    here.same("a feed goes on after a kill of the server, without a message twice", page.get_by_role("article").count(), 4)
    here.complaints = [each for each in here.complaints if "WebSocket" not in each and "ERR_" not in each]
    here.judged("topic")

    page.get_by_role("link", name="Topic settings").click()
    here.at("alerts: settings")
    page.get_by_label("Name of the user or group").fill("ben")
    page.get_by_role("button", name="Share").click()
    expect(page.get_by_text("user ben")).to_be_visible(timeout=20_000)
    here.judged("topic settings")
    page.get_by_role("button", name="Take back").click()
    expect(page.get_by_text("Nobody yet.")).to_be_visible(timeout=20_000)
    for path, heading in (("/devices", "Devices"), ("/tokens", "Tokens"), ("/people", "People"), ("/account", "Account")):
        here.go(path, heading)
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        here.judged(heading.lower())
    here.go("/tokens", "Tokens")
    page.get_by_label("Name").fill("everything")
    page.get_by_label("What it does").select_option("full")
    page.get_by_role("button", name="Make it").click()
    page.get_by_role("dialog").get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Go on").click()
    expect(page.get_by_text("shown this once")).to_be_visible(timeout=20_000)
    here.go("/topics/nothing", "This cannot be shown")
    here.judged("no such topic")
    here.go("/account", "Account")
    page.get_by_role("button", name="Sign out").click()
    here.at("Sign in")
    packed = sum(len(gzip.compress(open(os.path.join(FILES, name), "rb").read(), 9)) for name in os.listdir(FILES))
    here.same(f"all files of the console take {packed / 1000:.0f} kB gzip, at most 60", packed <= 60_000, True)
    here.same("no request leaves for another host", [url for url in here.requests if not url.startswith(server.address)], [])
    here.same("no page complains", here.complaints, [])


def main():
    binary = sys.argv[1]
    program = sys.argv[2] if len(sys.argv) > 2 else shutil.which("chromium")
    pictures = sys.argv[3] if len(sys.argv) > 3 else None
    checks = Checks()
    server = Server(binary)
    try:
        for name in ("root", "ben"):
            more = ["--admin"] if name == "root" else []
            command = [binary, "user", "add", name, *more, "--password-stdin", "--data-dir", os.path.join(server.folder, "data")]
            subprocess.run(command, input=PASSWORD, text=True, check=True, capture_output=True, timeout=60)
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
            context = browser.new_context(viewport={"width": 1280, "height": 800})
            walk(server, context, checks, pictures)
            browser.close()
    finally:
        server.stop()
    checks.end()


if __name__ == "__main__":
    main()
