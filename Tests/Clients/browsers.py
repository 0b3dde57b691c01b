"""Chromium and Firefox behind one face, `firefox.Page`, for walks that are the same in both; with what is seen of their cookies,
frames and requests."""

import contextlib
import json
import os
import traceback

from firefox import Firefox, Page, as_json
from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import sync_playwright


class Chromium(Page):
    """One page of a Chromium."""

    def __init__(self, context):
        self.context, self.page, self.requests = context, context.new_page(), []
        self.page.set_default_timeout(60_000)
        self.page.on("request", lambda request: self.requests.append(request.url))

    def go(self, address):
        self.page.goto(address)

    def run(self, script):
        try:
            return json.loads(self.page.evaluate(as_json(script)))
        except PlaywrightError as error:
            raise AssertionError(f"{script}: {error}") from error

    def cookies(self, address):
        return [
            {"name": each["name"], "value": each["value"], "path": each["path"], "domain": each["domain"], "secure": each["secure"],
             "httpOnly": each["httpOnly"], "sameSite": each["sameSite"].lower()}
            for each in self.context.cookies(address)
        ]

    def framed(self):
        """What each frame of the page shows."""
        texts = []
        for frame in self.page.frames[1:]:
            try:
                texts.append(frame.evaluate("document.body?.innerText ?? ''"))
            except PlaywrightError as error:
                texts.append(f"nothing: {error}")
        return texts


class OneFirefox(Firefox):
    """A Firefox, of which the same is seen."""

    def start(self):
        super().start()
        self.command("session.subscribe", events=["network.beforeRequestSent"])

    @property
    def requests(self):
        return [each["params"]["request"]["url"] for each in self.events if each["method"] == "network.beforeRequestSent"]

    def cookies(self, _):
        found = self.command("storage.getCookies", filter={"domain": "localhost"})["cookies"]
        names = ("name", "path", "domain", "secure", "httpOnly", "sameSite")
        return [{name: each[name] for name in names} | {"value": each["value"]["value"]} for each in found]

    def framed(self):
        texts = []
        for frame in self.command("browsingContext.getTree", root=self.context)["contexts"][0]["children"]:
            text = "document.body?.innerText ?? ''"
            answer = self.command("script.evaluate", expression=text, target={"context": frame["context"]}, awaitPromise=False)
            texts.append(answer["result"].get("value", "nothing") if answer["type"] == "success" else "nothing")
        return texts


@contextlib.contextmanager
def opened(program, folder):
    """The page of a browser, Chromium's or Firefox's by the name of its program, which takes any certificate."""
    if "firefox" in os.path.basename(program):
        firefox = OneFirefox(program, folder, {}, acceptInsecureCerts=True)
        try:
            yield firefox
        finally:
            firefox.stop()
    else:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--ignore-certificate-errors"])
            yield Chromium(browser.new_context())
            browser.close()


def told(server, page, error):
    """Says what went wrong, the most telling last, as logs are cut at their beginning."""
    traceback.print_exception(error)
    with open(server.log.name, encoding="utf-8", errors="replace") as log:
        print("The server's log ends with:", *(line[:300] for line in log.read().splitlines()[-20:]), sep="\n")
    try:
        print("The page shows:", page.run("return [location.href, document.body.innerText.slice(0, 2000)];"))
    except Exception as blind:  # pylint: disable=broad-except
        print(f"The page shows nothing any more: {str(blind)[:300]}")
    print(str(error)[-1500:], flush=True)
    raise SystemExit(1) from error
