"""Signs in through the console at django-oauth-toolkit, the strict provider, in Chromium: lands where one wanted, signs out
here and there, refuses at the provider; and at one that has no end of a session. Use: provider.py BINARY CHROMIUM PYTHON

PYTHON has django-oauth-toolkit."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

from console import Walk, told
from playwright.sync_api import expect, sync_playwright
from ports import free_ports
from tocsin import Checks, Server

STRICT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "oidc", "strict.py")


class Provider:
    """django-oauth-toolkit in a process of its own, which knows this server."""

    def __init__(self, python, home, *flags):
        self.folder = tempfile.mkdtemp(prefix="tocsin-provider-")
        self.process = subprocess.Popen([python, "-W", "ignore", STRICT, self.folder, home, *flags], stderr=subprocess.DEVNULL)

    def issuer(self):
        """Its name, once it is ready."""
        ready, deadline = os.path.join(self.folder, "provider.ready"), time.monotonic() + 60
        while not os.path.exists(ready):
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise SystemExit("the provider did not start")
            time.sleep(0.1)
        with open(ready, encoding="utf-8") as file:
            return json.load(file)["issuer"]

    def stop(self):
        self.process.terminate()
        self.process.wait(20)
        shutil.rmtree(self.folder, ignore_errors=True)


def make_certificate(folder):
    """Certificate and key of localhost and 127.0.0.1, made now."""
    certificate, key = os.path.join(folder, "server.pem"), os.path.join(folder, "server.key")
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
    command += ["-keyout", key, "-out", certificate, "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    return certificate, key


class SignIns(Walk):
    """What somebody does at the console and at a provider."""

    def choose(self, label, wanted="/account"):
        """Begins at a page that one must be signed in for, by the provider's button."""
        self.go(wanted, "Sign in")
        self.page.get_by_role("link", name=label).click()

    def type_password(self):
        self.page.locator("input[name=username]").fill("alice")
        self.page.locator("input[name=password]").fill("open sesame")
        self.page.locator("input[type=submit]").click()

    def sign_out(self):
        self.at("Account")
        self.page.get_by_role("button", name="Sign out").click()

    def cookies(self):
        """Names of our own cookies."""
        return sorted(cookie["name"] for cookie in self.context.cookies(self.server.address) if "tocsin" in cookie["name"])

    def asked(self, since, prefix):
        """What the browser has asked of somebody."""
        return [address for address in self.requests[since:] if address.startswith(prefix)]


def walk(here, strict, plain):
    page = here.page
    here.choose("Sign in with Strict", "/account")
    here.type_password()
    page.get_by_role("button", name="Authorize").click()
    here.at("Account")
    here.same("who comes back from the provider is where they wanted to be", page.url, here.server.address + "/account")
    expect(page.get_by_text("Signed in as alice")).to_be_visible(timeout=60_000)
    here.same("with the provider's groups, of which one makes administrators", administrator(here), [True, ["oidc:ops", "oidc:staff"]])
    here.same("the login cookie is gone, the session's is there", here.cookies(), ["__Host-tocsin"])

    since = len(here.requests)
    here.sign_out()
    expect(page.get_by_text("Confirm Logout")).to_be_visible(timeout=60_000)
    here.same("signing out leads to the provider", page.url.split("?")[0].startswith(strict + "/"), True)
    here.same("the session here is over by then", here.cookies(), [])
    page.get_by_role("button", name="Logout").click()
    here.at("Sign in")
    here.same("and from there back to the console", page.url.startswith(here.server.address + "/"), True)
    here.same("the provider was told whose session ends", bool(re.search("[?&]id_token_hint=[^&]", here.asked(since, strict)[0])), True)

    here.choose("Sign in with Strict", "/tokens?x=1")
    expect(page.locator("input[name=password]").or_(page.get_by_role("button", name="Authorize"))).to_be_visible(timeout=60_000)
    here.same("whose session ended there is asked for the password again", page.locator("input[name=password]").count(), 1)
    here.type_password()
    page.get_by_role("button", name="Cancel").click()
    here.at("Not signed in")
    expect(page.get_by_text("access_denied")).to_be_visible(timeout=60_000)
    here.same("who refuses at the provider is not signed in", here.cookies(), [])
    page.get_by_role("link", name="Back").click()
    here.at("Sign in")
    here.choose("Sign in with Strict", "/tokens?x=1")
    page.get_by_role("button", name="Authorize").click()
    here.at("Tokens")
    here.same("who agrees at the second time lands there, query and all", page.url, here.server.address + "/tokens?x=1")
    prove(here)
    here.go("/account", "Account")
    here.sign_out()
    page.get_by_role("button", name="Logout").click()
    here.at("Sign in")

    here.choose("Sign in with Plain")
    here.type_password()
    page.get_by_role("button", name="Authorize").click()
    here.at("Account")
    since = len(here.requests)
    here.sign_out()
    here.at("Sign in")
    here.same("where the provider has no end of a session, it ends here", [here.asked(since, plain), here.cookies()], [[], []])
    own = (here.server.address + "/", strict + "/", plain + "/", "data:", "blob:")
    here.same("no other host was asked for anything", [address for address in here.requests if not address.startswith(own)], [])


def administrator(here):
    """Whether the session is an administrator's, and its groups, by the server's word."""
    ask = """fetch("/graphql", {method: "POST", headers: {"content-type": "application/json", "x-tocsin-console": "1"},
        body: JSON.stringify({query: "{ me { admin groups } }"})}).then((answer) => answer.json())"""
    me = here.page.evaluate(ask)["data"]["me"]
    return [me["admin"], sorted(me["groups"])]


def prove(here):
    """Proves at the provider who one is: the password is asked for although the session there goes on."""
    ask = """fetch("/auth/elevate", {method: "POST", headers: {"content-type": "application/json", "x-tocsin-console": "1"},
        body: JSON.stringify({return: "/devices"})}).then((answer) => answer.json())"""
    here.page.goto(here.page.evaluate(ask)["location"])
    here.type_password()
    here.page.get_by_role("button", name="Authorize").click()
    here.at("Devices")
    session = here.page.evaluate('fetch("/auth/session", {headers: {"x-tocsin-console": "1"}}).then((answer) => answer.json())')
    here.same("a proof at the provider raises the session", session["elevatedUntil"] is not None, True)


def settings(folder, providers):
    """A settings file that names the providers."""
    path = os.path.join(folder, "tocsin.toml")
    with open(path, "w", encoding="utf-8") as file:
        for id, (label, issuer) in providers.items():
            file.write(f'[[oidc]]\nid = "{id}"\nlabel = "{label}"\nissuer = "{issuer}"\nclient-id = "app-public"\n')
            file.write('groups-claim = "realm_access.roles"\nadmin-groups = "ops"\n\n')
    return path


def main():
    binary, program, python = sys.argv[1:4]
    checks, (port,), folder = Checks(), free_ports(1), tempfile.mkdtemp(prefix="tocsin-signed-in-")
    origin = f"https://localhost:{port}"
    providers = [Provider(python, origin + "/"), Provider(python, origin + "/", "--without-logout")]
    server = None
    try:
        strict, plain = [provider.issuer() for provider in providers]
        certificate, key = make_certificate(folder)
        os.environ.update({
            "TOCSIN_EXECUTION_SECONDS": "60", "TOCSIN_PUBLIC_URL": origin, "TOCSIN_TLS_CERTIFICATE": certificate, "TOCSIN_TLS_KEY": key})
        file = settings(folder, {"strict": ("Sign in with Strict", strict), "plain": ("Sign in with Plain", plain)})
        server = Server(binary, "--port", str(port), "--config", file)
        server.address = origin
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--ignore-certificate-errors"])
            try:
                walk(SignIns(server, browser.new_context(), checks, None), strict, plain)
            except Exception as error:  # pylint: disable=broad-except
                told(server, error)
            browser.close()
    finally:
        if server:
            server.stop()
        for provider in providers:
            provider.stop()
        shutil.rmtree(folder, ignore_errors=True)
    checks.end()


if __name__ == "__main__":
    main()
