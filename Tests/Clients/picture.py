"""Makes the picture of the feed that README opens with. Use: picture.py BINARY CHROMIUM FILE"""

import os
import subprocess
import sys

from console import PASSWORD, Walk, posted
from playwright.sync_api import expect, sync_playwright
from tocsin import Checks, Server

CREATE = "mutation($i: CreateMessageInput!) { createMessage(input: $i) { id } }"
MESSAGES = [
    ("builds", 2, "Nightly build is green", "All 2,114 tests passed in 31 min."),
    ("family", 3, "Groceries", "Milk, bread, and something for the birthday on Sunday."),
    ("alerts", 3, "Backup done", "34 GB in 12 min, the oldest one is from 2 October."),
    ("builds", 4, "Release 2.4 waits for approval", "Changes: search by topic, quieter nights, a smaller image."),
    ("alerts", 5, "Disk full on db-3", "/var/lib/postgresql is at 97 % and grows by 2 GB an hour."),
]


def main():
    binary, program, path = sys.argv[1:]
    server = Server(binary)
    try:
        command = [binary, "user", "add", "alice", "--admin", "--password-stdin", "--data-dir", os.path.join(server.folder, "data")]
        subprocess.run(command, input=PASSWORD, text=True, check=True, capture_output=True, timeout=60)
        token = server.administer("token", "create", "--user", "alice")
        topics = {name: server.create_topic(token, name) for name in ("alerts", "builds", "family")}
        for name, identifier in topics.items():
            server.publish(token, identifier, f"The topic {name} begins here")
            server.post(token, "mutation($id: ID!) { markRead(topicId: $id) { unread } }", id=identifier)
        for name, priority, title, body in MESSAGES:
            server.post(token, CREATE, i={"topicId": topics[name], "type": 0, "priority": priority, "title": title, "body": body})
        add = "mutation($i: CreateIntegrationInput!) { createIntegration(input: $i) { id } }"
        way = server.post(token, add, i={"topicId": topics["alerts"], "name": "Scripts", "kind": "EVENT"})["createIntegration"]["id"]
        key = server.post(token, "mutation($id: ID!) { rotateIntegrationKey(id: $id) { key } }", id=way)["rotateIntegrationKey"]["key"]
        event = {"action": "trigger", "key": "queue", "title": "Queue of the mailer is stuck", "body": "412 mails wait.", "severity": "warning"}
        posted(server, key, event, "/in/event")
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
            here = Walk(server, browser.new_context(viewport={"width": 1080, "height": 640}, service_workers="block"), Checks(), None)
            here.page.goto(server.address)
            here.page.get_by_label("User name").fill("alice")
            here.page.get_by_label("Password").fill(PASSWORD)
            here.page.get_by_role("button", name="Sign in").click()
            here.at("All messages")
            expect(here.page.get_by_role("article")).to_have_count(9, timeout=60_000)
            expect(here.page.get_by_text("● live")).to_be_visible(timeout=60_000)
            expect(here.page.get_by_role("link", name="Incidents 1 open")).to_be_visible(timeout=60_000)
            here.page.mouse.move(1000, 600)
            here.page.screenshot(path=path)
            browser.close()
    finally:
        server.stop()


if __name__ == "__main__":
    main()
