"""Signs in through the console at django-oauth-toolkit, the strict provider, over TLS: lands where one wanted, with a wrong
password, after the session's end, signs out here and there, refuses at the provider; and at one that has no end of a session.
Use: provider.py BINARY CHROMIUM-or-FIREFOX PYTHON

PYTHON has django-oauth-toolkit."""

import contextlib
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time

from browsers import opened, told
from console import PASSWORD, add_person
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


class SignIns:
    """What somebody does at the console and at a provider, in any browser."""

    def __init__(self, server, page, checks):
        self.server, self.page, self.checks = server, page, checks

    def same(self, name, seen, wanted):
        self.checks.report(name, None if seen == wanted else AssertionError(f"{seen} in place of {wanted}"))

    def at(self, heading):
        self.page.until(f"heading() === {json.dumps(heading)}")

    def go(self, path, heading):
        self.page.go(self.server.address + path)
        self.at(heading)

    def is_at(self, name, path):
        """The address is this, and nothing of the sign-in is left in it."""
        self.same(name, self.page.run("return location.href;"), self.server.address + path)

    def choose(self, label, wanted="/account"):
        """Begins at a page that one must be signed in for, by the provider's button."""
        self.go(wanted, "Sign in")
        self.page.press(label)

    def type_password(self, password="open sesame"):
        self.page.fill("Username", "alice")
        self.page.fill("Password", password)
        # The button has no name of its own.
        self.page.run("document.querySelector('input[type=submit]').click();")

    def sign_out(self):
        self.at("Account")
        self.page.press("Sign out")

    def cookies(self):
        """Names of our own cookies."""
        return sorted(each["name"] for each in self.page.cookies(self.server.address) if "tocsin" in each["name"])

    def asked(self, since, prefix):
        """What the browser has asked of somebody."""
        return [address for address in self.page.requests[since:] if address.startswith(prefix)]

    def answer(self, path, body=None):
        """The server's own word to the page."""
        sent = "" if body is None else f", method: 'POST', body: JSON.stringify({json.dumps(body)})"
        headers = '{"content-type": "application/json", "x-tocsin-console": "1"}'
        return self.page.run(f"return (await fetch({json.dumps(path)}, {{headers: {headers}{sent}}})).json();")


def walk(here, strict, plain):
    page = here.page
    here.choose("Sign in with Strict", "/account")
    here.type_password("no such sesame")
    page.says("Please enter a correct username and password.")
    here.same("a wrong password at the provider signs nobody in", "__Host-tocsin" in here.cookies(), False)
    here.type_password()
    page.press("Authorize")
    here.at("Account")
    here.is_at("who comes back from the provider is where they wanted to be", "/account")
    page.says("Signed in as alice")
    me = here.answer("/graphql", {"query": "{ me { admin groups } }"})["data"]["me"]
    here.same("with the provider's groups, of which one makes administrators", [me["admin"], sorted(me["groups"])], [True, ["oidc:ops", "oidc:staff"]])
    here.same("the login cookie is gone, the session's is there", here.cookies(), ["__Host-tocsin"])

    expire(here.server)
    here.go("/tokens?y=2", "Sign in")
    here.same("a session that is over by its age shows nothing", [here.answer("/auth/session").get("username"), page.run("return document.body.innerText.includes('alice');")], [None, False])
    page.press("Sign in with Strict")
    page.press("Authorize")
    here.at("Tokens")
    here.is_at("the session at the provider goes on, and leads back without a password", "/tokens?y=2")

    here.go("/account", "Account")
    since = len(page.requests)
    here.sign_out()
    page.says("Confirm Logout")
    here.same("signing out leads to the provider", page.run("return location.href;").startswith(strict + "/"), True)
    here.same("the session here is over by then", here.cookies(), [])
    page.press("Logout")
    here.at("Sign in")
    here.same("and from there back to the console", page.run("return location.origin;"), here.server.address)
    told = [bool(re.search("[?&]id_token_hint=[^&]", each)) for each in here.asked(since, strict)[:1]]
    here.same("the provider was told whose session ends", told, [True])

    here.choose("Sign in with Strict", "/tokens?x=1")
    first = page.until("field('Password') && heading() !== 'Sign in' ? 'password' : named('Authorize') && 'leave'")
    here.same("whose session ended there is asked for the password again", first, "password")
    here.type_password()
    page.press("Cancel")
    here.at("Not signed in")
    page.says("access_denied")
    here.same("who refuses at the provider is not signed in", here.cookies(), [])
    page.press("Back")
    here.at("Sign in")
    here.choose("Sign in with Strict", "/tokens?x=1")
    page.press("Authorize")
    here.at("Tokens")
    here.is_at("who agrees at the second time lands there, query and all", "/tokens?x=1")
    prove(here)
    here.go("/account", "Account")
    here.sign_out()
    page.press("Logout")
    here.at("Sign in")

    here.choose("Sign in with Plain")
    here.type_password()
    page.press("Authorize")
    here.at("Account")
    since = len(page.requests)
    here.sign_out()
    here.at("Sign in")
    here.same("where the provider has no end of a session, it ends here", [here.asked(since, plain), here.cookies()], [[], []])
    linked(here)
    own = (here.server.address + "/", here.server.address.replace("https", "wss") + "/", strict + "/", plain + "/", "data:", "blob:")
    here.same("no other host was asked for anything", [address for address in page.requests if not address.startswith(own)], [])


def linked(here):
    """A local user links who they are at the provider, comes in as themselves by it, and takes it back."""
    page, table = here.page, "Linked identities"
    add_person(here.server, "maria")

    def by_password():
        here.go("/account", "Sign in")
        page.fill("User name", "maria")
        page.fill("Password", PASSWORD)
        page.press("Sign in")
        here.at("Account")

    def proved():
        """Whoever sits at somebody else's browser must not become them."""
        page.until("Boolean(document.querySelector('dialog[open]'))")
        page.fill("Password", PASSWORD)
        page.press("Go on")

    by_password()
    page.press("Link: Sign in with Strict")
    proved()
    here.type_password()
    page.press("Authorize")
    here.at("Account")
    here.is_at("who has linked an identity is at their account again", "/account")
    page.until(f"rows({json.dumps(table)}, 'alice').length === 1")
    page.says("Signed in as maria")
    here.sign_out()
    here.at("Sign in")
    here.choose("Sign in with Strict")
    page.press("Authorize")
    here.at("Account")
    page.says("Signed in as maria")
    here.sign_out()
    page.press("Logout")
    here.at("Sign in")
    by_password()
    page.until(f"rows({json.dumps(table)}, 'alice').length === 1")
    page.run(f"window.confirm = () => false; inRow({json.dumps(table)}, 'alice', 'Unlink: alice').focus();")
    page.press_in(table, "alice", "Unlink: alice")
    here.same("who thinks better of it is at the button still", page.run("return [document.activeElement.getAttribute('aria-label'), document.activeElement.disabled];"), ["Unlink: alice", False])
    page.run("window.confirm = () => true;")
    page.press_in(table, "alice", "Unlink: alice")
    proved()
    page.until(f"rows({json.dumps(table)}, 'alice').length === 0")
    page.says("The identity is unlinked.")
    here.same("an identity links and unlinks, and its person comes in as the user meanwhile", here.answer("/graphql", {"query": "{ identities { id } }"})["data"], {"identities": []})
    here.sign_out()
    here.at("Sign in")
    here.choose("Sign in with Strict")
    here.type_password()
    page.press("Authorize")
    here.at("Account")
    page.says("Signed in as alice")


def expire(server):
    """Lets all sessions be over by their age, as if that time had passed while the server was down."""
    address = server.address
    server.process.kill()
    server.process.wait(20)
    with contextlib.closing(sqlite3.connect(os.path.join(server.folder, "data", "tocsin.db"))) as database:
        changed = database.execute("UPDATE sessions SET idle_until = 1, expires_at = 1").rowcount
        database.commit()
    assert changed > 0, "there was no session"
    server.kill_and_restart()
    # Its own word has the address that it listens on.
    server.address = address


def prove(here):
    """Proves at the provider who one is: the password is asked for although the session there goes on."""
    here.page.go(here.answer("/auth/elevate", {"return": "/devices"})["location"])
    here.type_password()
    here.page.press("Authorize")
    here.at("Devices")
    here.same("a proof at the provider raises the session", here.answer("/auth/session")["elevatedUntil"] is not None, True)


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
        with opened(program, folder) as page:
            try:
                walk(SignIns(server, page, checks), strict, plain)
            except Exception as error:  # pylint: disable=broad-except
                told(server, page, error)
    finally:
        if server:
            server.stop()
        for provider in providers:
            provider.stop()
        shutil.rmtree(folder, ignore_errors=True)
    checks.end()


if __name__ == "__main__":
    main()
