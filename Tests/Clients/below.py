"""The console below a base path, for somebody of a sign-in provider, in Chromium: signing in at the provider, a topic, its live
feed, many messages, no network, and that nothing leaves the path. Use: below.py BINARY CHROMIUM PYTHON

PYTHON has oidc-provider-mock."""

import concurrent.futures
import http.client
import json
import os
import re
import shutil
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.request

from console import Walk, told
from ports import free_ports
from playwright.sync_api import expect, sync_playwright
from tocsin import Checks, Server

#: More than the list holds, and fewer than a minute's share of an integration.
MESSAGES = 600
NUMBERS = "() => [...document.querySelectorAll('main article .meta > span:first-child')].map((each) => Number(each.textContent.slice(1)))"


#: Its certificate is its own; that browsers refuse such is not what is walked here.
ANY = ssl.create_default_context()
ANY.check_hostname, ANY.verify_mode = False, ssl.CERT_NONE


class Below(Walk):
    """Addresses are below the server's base path."""

    def go(self, path, heading):
        self.page.goto(self.server.address + "/tocsin" + path)
        self.at(heading)


def start_provider(python, port):
    claims = {"sub": "alice", "preferred_username": "alice", "email": "alice@example.com"}
    command = [python, "-W", "ignore", "-m", "oidc_provider_mock", "--port", str(port), "--require-nonce", "true", "--user-claims", json.dumps(claims)]
    provider = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, "AUTHLIB_INSECURE_TRANSPORT": "1"})
    deadline = time.monotonic() + 60
    while True:
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/.well-known/openid-configuration", timeout=5).close()
            return provider
        except OSError:
            if provider.poll() is not None or time.monotonic() > deadline:
                raise SystemExit("the provider did not start") from None
            time.sleep(0.1)


def publish(server, key, count):
    """Sends messages over a few connections at once."""

    def share(first):
        connection = http.client.HTTPSConnection(server.address.removeprefix("https://"), timeout=60, context=ANY)
        headers = {"Authorization": f"Bearer {key}"}
        for number in range(first, count, 8):
            connection.request("POST", "/tocsin/alerts", f"db-{number} is at 91 %", headers)
            answer = connection.getresponse()
            assert answer.status == 200, (answer.status, answer.read())
            answer.read()

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        list(pool.map(share, range(8)))


def walk(server, context, checks, issuer):
    here = Below(server, context, checks, None)
    page = here.page
    page.goto(server.address + "/tocsin/")
    here.at("Sign in")
    page.get_by_role("link", name="Sign in with Example").click()
    page.locator("input[name=sub]").fill("alice")
    page.get_by_role("button", name="Authorize").click()
    here.at("Start")
    here.same("who comes back from the provider is below the path", page.url.split("?")[0], server.address + "/tocsin/start")
    page.get_by_role("button", name="Make it").click()
    expect(page.get_by_text("You have the topic alerts")).to_be_visible(timeout=60_000)
    page.get_by_role("button", name="Show the command").click()
    command = page.locator("pre").first
    expect(command).to_contain_text("curl", timeout=60_000)
    key = re.search("Bearer ([a-z2-7]{32})", command.inner_text())[1]
    sent = subprocess.run(["bash", "-c", command.inner_text().replace("curl ", "curl --insecure ", 1)], capture_output=True, text=True, timeout=60)
    here.same("the command that Start shows publishes there, too", '"event":"message"' in sent.stdout, True)
    expect(page.get_by_text("It came:")).to_be_visible(timeout=60_000)
    here.go("/tokens", "Tokens")
    page.get_by_label("Name").fill("scripts")
    page.get_by_role("button", name="Make it").click()
    expect(page.get_by_role("alert")).to_contain_text("come from your sign-in provider", timeout=60_000)
    here.go("/feed", "All messages")
    # With or without a count of what is unread.
    page.locator("#rail").get_by_role("link", name=re.compile("^alerts")).click()
    here.at("alerts")
    expect(page.get_by_text("● live")).to_be_visible(timeout=60_000)
    topic = page.url.rsplit("/", 1)[1]
    publish(server, key, MESSAGES)
    last = MESSAGES + 1
    page.wait_for_function(f"(last) => ({NUMBERS})()[0] === last", arg=last, timeout=120_000)
    # So many came that older ones made room: the list begins anew.
    expect(page.get_by_role("article")).to_have_count(500, timeout=60_000)
    page.get_by_role("button", name="Older messages").click()
    expect(page.get_by_role("article")).to_have_count(50, timeout=60_000)
    for _ in range(6):
        before = page.get_by_role("article").count()
        page.get_by_role("button", name="Older messages").click()
        page.wait_for_function("(before) => document.querySelectorAll('main article').length > before", arg=before, timeout=60_000)
    shown = page.evaluate(NUMBERS)
    here.same(f"of {MESSAGES} messages the newest are shown without a hole, and older ones when asked for", shown, list(range(last, last - len(shown), -1)))

    # What is hard to take back is proved at the provider.
    here.go(f"/topics/{topic}/settings", "alerts: settings")
    give(page, "carol")
    page.get_by_role("dialog").get_by_role("button", name="Go on").click()
    page.locator("input[name=sub]").fill("alice")
    page.get_by_role("button", name="Authorize").click()
    here.at("alerts: settings")
    give(page, "carol")
    expect(page.get_by_role("cell", name="owner")).to_be_visible(timeout=60_000)
    here.same("who proves at the provider who they are comes back, and may", page.url, f"{server.address}/tocsin/topics/{topic}/settings")

    page.evaluate("navigator.serviceWorker.ready.then(() => true)")
    server.process.kill()
    server.process.wait(20)
    here.go("/", "All messages")
    expect(page.get_by_role("article").first).to_contain_text("is at 91 %", timeout=60_000)
    kept = page.get_by_role("article").count()
    address = server.address
    server.kill_and_restart()
    # Its own word has the path, and the address that it listens on.
    server.address = address
    here.same("without a server the console opens below the path, too", kept >= 50, True)
    here.go(f"/topics/{topic}", "alerts")
    expect(page.get_by_text("● live")).to_be_visible(timeout=60_000)
    here.go("/account", "Account")
    page.get_by_role("button", name="Sign out").click()
    page.get_by_role("button", name="End session").click()
    here.at("Sign in")
    here.same("who signs out ends the provider's session, and comes back below the path", page.url.startswith(server.address + "/tocsin/"), True)
    # The provider's page has a style of others.
    own = (server.address + "/tocsin/", issuer, "data:", "blob:", "https://cdn.jsdelivr.net/npm/@picocss")
    hosts = [url for url in here.requests if not url.startswith(own)]
    here.same("nothing leaves the path but for the provider", hosts, [])


def give(page, name):
    """Makes somebody an owner of the topic."""
    page.get_by_label("Name of the user or group").fill(name)
    page.locator("select").filter(has_text="does everything but delete it").select_option("OWNER")
    page.get_by_role("button", name="Share").click()


def main():
    binary, program, python = sys.argv[1:4]
    checks, (port, own) = Checks(), free_ports(2)
    issuer = f"http://127.0.0.1:{port}"
    provider, folder = start_provider(python, port), tempfile.mkdtemp(prefix="tocsin-below-")
    certificate, key = os.path.join(folder, "server.pem"), os.path.join(folder, "server.key")
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
    command += ["-keyout", key, "-out", certificate, "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    os.environ.update({
        "TOCSIN_EXECUTION_SECONDS": "60", "TOCSIN_BASE_PATH": "/tocsin", "TOCSIN_OIDC_ISSUER": issuer, "TOCSIN_OIDC_CLIENT_ID": "tocsin",
        "TOCSIN_OIDC_CLIENT_SECRET": "not-so-secret", "TOCSIN_OIDC_LABEL": "Sign in with Example", "TOCSIN_PUBLIC_URL": f"https://localhost:{own}", "TOCSIN_TLS_CERTIFICATE": certificate, "TOCSIN_TLS_KEY": key})
    server = None
    try:
        server = Server(binary, "--rate-per-second", "0", "--port", str(own))
        server.address = f"https://localhost:{own}"
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--ignore-certificate-errors"])
            try:
                walk(server, browser.new_context(viewport={"width": 1280, "height": 800}), checks, issuer)
            except Exception as error:  # pylint: disable=broad-except
                told(server, error)
            browser.close()
    finally:
        if server:
            server.stop()
        provider.terminate()
        provider.wait(20)
        shutil.rmtree(folder, ignore_errors=True)
    checks.end()


if __name__ == "__main__":
    main()
