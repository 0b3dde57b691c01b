"""Two people at two servers of one PostgreSQL, one in Chromium, one in Firefox: what one sends the other sees live, kills of
either server included; a topic is shared, seen, taken back and gone. Then they change places. With TOCSIN_TEST_POSTGRES.
Use: nodes.py BINARY [CHROMIUM] [FIREFOX]"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import traceback

from browsers import Chromium
from firefox import Firefox
from killrounds import Nodes
from playwright.sync_api import sync_playwright
from tocsin import Checks

PASSWORD = "correct horse battery"
LIVE = "document.querySelector('.state')?.textContent === '● live'"


def sign_in(page, server, name):
    page.go(server.address + "/")
    page.fill("User name", name)
    page.fill("Password", PASSWORD)
    page.press("Sign in")
    page.until("heading() === 'Start' || heading() === 'All messages'")


def send(page, server, topic, title):
    """As people send: from the topic."""
    page.go(f"{server.address}/topics/{topic}")
    page.until(LIVE)
    page.press("Send")
    page.until("heading() === 'Send'")
    page.fill("Title", title)
    page.run("document.querySelector('main form button').click();")
    page.until(f"heading() === {json.dumps(title)}")


def walk(nodes, topic_name, owner, owners_node, reader, readers_node, checks):
    """The starred walks: `owner` is root at a node, `reader` is ben at the other."""

    def same(name, seen, wanted):
        checks.report(f"{topic_name}: {name}", None if seen == wanted else AssertionError(f"{seen} in place of {wanted}"))

    here, there = nodes.servers[owners_node], nodes.servers[readers_node]
    sign_in(owner, here, "root")
    sign_in(reader, there, "ben")
    topic = here.create_topic(nodes.root, topic_name)
    same("before it is shared it is not there", open_topic(reader, there, topic), "This cannot be shown")
    owner.go(f"{here.address}/topics/{topic}/settings")
    owner.fill("Name of the user or group", "ben")
    owner.press("Share")
    owner.until("document.body.innerText.includes('user ben')")
    same("once shared it is there", open_topic(reader, there, topic), topic_name)
    reader.until(LIVE)
    send(owner, here, topic, "one")
    reader.until("articles()[0] === 'one'")
    same("what one sends at a node the other sees live at the other node", reader.run("return articles();"), ["one"])

    nodes.kill(readers_node)
    for title in ("two", "three"):
        here.publish(nodes.root, topic, title)
    reader.until("articles().length === 3")
    owner.go(f"{here.address}/topics/{topic}")
    owner.until(LIVE)
    nodes.kill(owners_node)
    there.publish(nodes.root, topic, "four")
    for page in (owner, reader):
        page.until("articles().length === 4")
    same("both go on after a kill of either node", [each.run("return articles();") for each in (owner, reader)], [["four", "three", "two", "one"]] * 2)

    reader.until(LIVE)
    owner.go(f"{here.address}/topics/{topic}/settings")
    began = time.monotonic()
    owner.press("Take back")
    reader.until("heading() === 'This cannot be shown'")
    print(f"      {topic_name}: gone {time.monotonic() - began:.2f} s after the press on Take back", flush=True)
    owner.until("document.body.innerText.includes('Nobody yet.')")
    here.publish(nodes.root, topic, "five")
    same("what was taken back is gone, and stays gone", open_topic(reader, there, topic), "This cannot be shown")
    kept = reader.until("""await (async () => {
        const names = (await indexedDB.databases()).map(({ name }) => name).filter((each) => each.startsWith("tocsin-"));
        const settled = (request) => new Promise((resolve, reject) => { request.onsuccess = () => resolve(request.result); request.onerror = reject; });
        const database = await settled(indexedDB.open(names[0]));
        const read = (name) => settled(database.transaction(name).objectStore(name).getAll());
        const [messages, answers] = [await read("messages"), await read("answers")];
        database.close();
        if (messages.length > 0) return null;
        return JSON.stringify([names.length, ["one", "two", "three", "four"].some((title) => JSON.stringify(answers).includes(`"${title}"`))]);
    })()""")
    same("nor is it kept in the browser", kept, "[1,false]")


def open_topic(page, server, topic):
    """The heading of a topic's page, once there is one."""
    page.go(f"{server.address}/topics/{topic}")
    return page.until("document.querySelector('main [aria-busy=true]') ? null : heading()")


def main():
    binary = sys.argv[1]
    programs = [sys.argv[2] if len(sys.argv) > 2 else shutil.which("chromium"), sys.argv[3] if len(sys.argv) > 3 else shutil.which("firefox-esr")]
    checks, folder = Checks(), tempfile.mkdtemp(prefix="tocsin-nodes-")
    os.environ["TOCSIN_EXECUTION_SECONDS"] = "60"
    nodes, firefox = Nodes(binary), None
    try:
        for name, more in (("root", ["--admin"]), ("ben", [])):
            add = [binary, "user", "add", name, *more, "--password-stdin", "--data-dir", os.path.join(nodes.servers[0].folder, "data")]
            subprocess.run(add, input=PASSWORD.encode(), check=True, capture_output=True, timeout=60)
        nodes.root = nodes.servers[0].administer("token", "create", "--user", "root")
        firefox = Firefox(programs[1], folder, {})
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=programs[0], args=["--no-sandbox"])
            context = browser.new_context(viewport={"width": 1280, "height": 800})
            try:
                walk(nodes, "sent in Chromium", Chromium(context), 0, firefox, 1, checks)
                for page in (Chromium(context), firefox):
                    page.go(nodes.servers[0 if page is not firefox else 1].address + "/account")
                    page.press("Sign out")
                    page.until("heading() === 'Sign in'")
                walk(nodes, "sent in Firefox", firefox, 1, Chromium(context), 0, checks)
            except Exception as error:  # pylint: disable=broad-except
                traceback.print_exception(error)
                for server in nodes.servers:
                    print("A server's log ends with:", *(line[:300] for line in open(server.log.name, errors="replace").read().splitlines()[-10:]), sep="\n")
                raise SystemExit(1) from error
            browser.close()
    finally:
        if firefox:
            firefox.stop()
        nodes.end()
        shutil.rmtree(folder, ignore_errors=True)
    checks.end()


if __name__ == "__main__":
    main()
