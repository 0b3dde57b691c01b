"""How quickly the console comes up and answers, in headless Chromium with an empty cache: the first paint with 50 messages, at
the machine's own pace and at a quarter of it, beside a page that holds the same articles without a script; then 200 messages a
second into an open feed: frames, keys, and memory. Use: speed.py BINARY [CHROMIUM] [--seconds N]"""

import argparse
import http.client
import http.server
import json
import os
import shutil
import statistics
import subprocess
import threading
import time

from console import FILES, PASSWORD
from playwright.sync_api import expect, sync_playwright
from tocsin import CREATE_MESSAGE, Server

ROUNDS = 5
RATE = 200
SENDERS = 4
WATCH = """
window.seen = {paint: null, largest: null, shift: 0};
const watch = (type, note) => new PerformanceObserver((list) => list.getEntries().forEach(note)).observe({type, buffered: true});
watch("paint", (each) => { if (each.name === "first-contentful-paint") seen.paint = each.startTime; });
watch("largest-contentful-paint", (each) => { seen.largest = each.startTime; });
watch("layout-shift", (each) => { if (!each.hadRecentInput) seen.shift += each.value; });
"""
FRAMES = """
window.frames = []; window.keys = [];
let last = performance.now();
const frame = (now) => { frames.push(now - last); last = now; requestAnimationFrame(frame); };
requestAnimationFrame((now) => { last = now; requestAnimationFrame(frame); });
new PerformanceObserver((list) => list.getEntries().forEach((each) => keys.push(each.duration)))
  .observe({type: "event", durationThreshold: 16, buffered: false});
"""


def middle(values):
    return statistics.median(values)


def part(values, share):
    """The value that a share of all do not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


class Floor(http.server.ThreadingHTTPServer):
    """Serves one page that is what the console shows, without its scripts."""

    def __init__(self, page):
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(200)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.send_header("Content-Length", str(len(page)))
                self.end_headers()
                self.wfile.write(page)

            def log_message(self, *_):
                pass

        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()


def opened(browser, address, state, slower):
    """The times of a page in a browser that has kept nothing but who is signed in."""
    context = browser.new_context(viewport={"width": 1280, "height": 800}, storage_state=state, service_workers="block")
    page = context.new_page()
    page.add_init_script(WATCH)
    tools = context.new_cdp_session(page)
    tools.send("Emulation.setCPUThrottlingRate", {"rate": slower})
    page.goto(address)
    expect(page.get_by_role("article")).to_have_count(50, timeout=60_000)
    page.evaluate("new Promise((after) => setTimeout(after, 500))")
    seen = page.evaluate("seen")
    context.close()
    return seen


def first_views(browser, server, state):
    page = browser.new_context(storage_state=state, service_workers="block").new_page()
    page.goto(server.address + "/feed")
    expect(page.get_by_role("article")).to_have_count(50, timeout=60_000)
    shown = page.evaluate("document.documentElement.outerHTML.replace(/<script[^]*?<\\/script>|<link[^>]*>/g, '')")
    page.context.close()
    with open(os.path.join(FILES, "app.css"), encoding="utf-8") as file:
        floor = Floor(("<!doctype html>" + shown.replace("</head>", f"<style>{file.read()}</style></head>")).encode())
    for slower in (1, 4):
        console = [opened(browser, server.address + "/feed", state, slower) for _ in range(ROUNDS)]
        still = [opened(browser, f"http://127.0.0.1:{floor.server_port}/", None, slower) for _ in range(ROUNDS)]
        paint, largest = (middle([each[name] for each in console]) for name in ("paint", "largest"))
        least = middle([each["paint"] for each in still])
        print(f"CPU at 1/{slower}: first paint {paint:.0f} ms ({paint / least:.1f} times a page without scripts, {least:.0f} ms), "
              f"largest {largest:.0f} ms, layout shift {max(each['shift'] for each in console):.3f}", flush=True)
    floor.shutdown()


class Publisher(threading.Thread):
    """Sends an even share of the messages, over one connection."""

    def __init__(self, server, token, topic, ended):
        super().__init__(daemon=True)
        self.server, self.token, self.topic, self.ended, self.count = server, token, topic, ended, 0

    def run(self):
        connection = http.client.HTTPConnection(self.server.host, timeout=60)
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {self.token}"}
        began = time.monotonic()
        while not self.ended.is_set():
            message = {"topicId": self.topic, "type": 0, "title": f"m{self.count}", "body": "db-3 is at 91 %"}
            connection.request("POST", "/graphql", json.dumps({"query": CREATE_MESSAGE, "variables": {"input": message}}), headers)
            answer = connection.getresponse()
            assert "errors" not in json.loads(answer.read()), answer.status
            self.count += 1
            time.sleep(max(0, began + self.count * SENDERS / RATE - time.monotonic()))


def many(browser, server, state, token, topic, seconds, slower):
    context = browser.new_context(viewport={"width": 1280, "height": 800}, storage_state=state, service_workers="block")
    page = context.new_page()
    tools = context.new_cdp_session(page)
    tools.send("Performance.enable")
    page.goto(f"{server.address}/topics/{topic}")
    expect(page.get_by_text("● live")).to_be_visible(timeout=60_000)
    tools.send("Emulation.setCPUThrottlingRate", {"rate": slower})
    page.evaluate(FRAMES)

    def heap():
        tools.send("HeapProfiler.collectGarbage")
        return next(each["value"] for each in tools.send("Performance.getMetrics")["metrics"] if each["name"] == "JSHeapUsedSize") / 1e6

    before, ended = heap(), threading.Event()
    senders = [Publisher(server, token, topic, ended) for _ in range(SENDERS)]
    for sender in senders:
        sender.start()
    began = time.monotonic()
    while time.monotonic() < began + seconds:
        page.keyboard.press("j")
        page.wait_for_timeout(200)
    ended.set()
    for sender in senders:
        sender.join(60)
    took, sent = time.monotonic() - began, sum(sender.count for sender in senders)
    number = server.post(token, "query($t: ID!) { getTopic(id: $t) { lastNumber } }", t=topic)["getTopic"]["lastNumber"]
    last = time.monotonic()
    page.wait_for_function("(last) => document.querySelector('main article .meta > span')?.textContent === `#${last}` || document.querySelector('.new button:not([hidden])')", arg=number, timeout=60_000)
    late = time.monotonic() - last
    frames, keys = page.evaluate("[frames, keys]")
    keys = keys or [0]
    print(f"CPU at 1/{slower}: {sent / took:.0f} messages a second for {took:.0f} s: frames p50 {part(frames, 0.5):.0f} ms, p99 {part(frames, 0.99):.0f}, "
          f"longest {max(frames):.0f}; a key until its paint p98 {part(keys, 0.98):.0f} ms of {len(keys)} events over 16 ms; "
          f"the last one is shown {late * 1000:.0f} ms after all were sent; heap {before:.1f} → {heap():.1f} MB", flush=True)
    context.close()


def main():
    options = argparse.ArgumentParser()
    options.add_argument("binary")
    options.add_argument("chromium", nargs="?", default=shutil.which("chromium"))
    options.add_argument("--seconds", type=int, default=20)
    # Others are of the other benchmarks.
    options, _ = options.parse_known_args()
    server = Server(options.binary, "--rate-per-second", "0")
    try:
        add = [options.binary, "user", "add", "root", "--admin", "--password-stdin", "--data-dir", os.path.join(server.folder, "data")]
        subprocess.run(add, input=PASSWORD, text=True, check=True, capture_output=True, timeout=60)
        token = server.administer("token", "create", "--user", "root")
        topic = server.create_topic(token, "alerts")
        for number in range(60):
            server.publish(token, topic, f"Disk {number} is full")
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=options.chromium, args=["--no-sandbox"])
            page = browser.new_page()
            page.goto(server.address + "/")
            page.get_by_label("User name").fill("root")
            page.get_by_label("Password").fill(PASSWORD)
            page.get_by_role("button", name="Sign in").click()
            expect(page.get_by_role("article")).to_have_count(50, timeout=60_000)
            state = page.context.storage_state()
            page.context.close()
            first_views(browser, server, state)
            for slower in (1, 4):
                many(browser, server, state, token, topic, options.seconds, slower)
            browser.close()
    finally:
        server.stop()


if __name__ == "__main__":
    main()
