"""Starts other people's sign-in providers and a person with a browser, then runs a command that signs in with them.

The command finds all by TOCSIN_TEST_OIDC, an address at which it is told of the providers, and sends the person about.
usage: providers.py COMMAND [ARGUMENT...]
"""

import http.server
import json
import logging
import os
import subprocess
import sys
import tempfile
import threading

import requests

from person import Person

os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"
REDIRECT = "https://push.example/auth/callback"
ROLES = ["ops", "staff"]


class MockProvider:
    """oidc-provider-mock: takes any client, asks for no verifier."""

    def __init__(self):
        import oidc_provider_mock
        import werkzeug.serving

        for name in ("werkzeug", "oidc_provider_mock"):
            logging.getLogger(name).setLevel(logging.ERROR)
        claims = {"preferred_username": "alice", "email": "alice@example.com", "realm_access": {"roles": ROLES}}
        user = oidc_provider_mock.User(sub="alice", claims=claims)
        app = oidc_provider_mock.app(require_nonce=True, user_claims=[user])
        server = werkzeug.serving.make_server("127.0.0.1", 0, app, threaded=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.issuer = f"http://127.0.0.1:{server.server_port}"

    def revoke(self):
        requests.post(f"{self.issuer}/users/alice/revoke-tokens", timeout=20).raise_for_status()


class Control(http.server.BaseHTTPRequestHandler):
    providers = {}
    people = {}

    def log_message(self, *_):
        pass

    def do_GET(self):
        """The providers, as the settings of a server would name them."""
        self.answer([{"id": name, "issuer": provider.issuer} for name, provider in self.providers.items()])

    def do_POST(self):
        """`/walk/NAME` and `/refuse/NAME` send that provider's person to the address in the body; `/revoke/NAME`."""
        _, act, name = self.path.split("/")
        body = self.rfile.read(int(self.headers.get("content-length", 0))).decode()
        try:
            if act == "revoke":
                self.answer(self.providers[name].revoke())
            else:
                self.answer(self.people[name].walk(body, REDIRECT, agrees=act == "walk"))
        except Exception as problem:  # Whatever it was, the test says it.
            self.answer(str(problem), status=500)

    def answer(self, value, status=200):
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def main():
    with tempfile.TemporaryDirectory(prefix="tocsin-oidc-") as folder:
        from strict import StrictProvider

        Control.providers = {"mock": MockProvider(), "strict": StrictProvider(folder, REDIRECT)}
        Control.people = {name: Person() for name in Control.providers}
        control = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Control)
        threading.Thread(target=control.serve_forever, daemon=True).start()
        environment = os.environ | {"TOCSIN_TEST_OIDC": f"http://127.0.0.1:{control.server_port}"}
        code = subprocess.run(sys.argv[1:], env=environment, check=False).returncode
        control.shutdown()
        # The providers' threads are not waited for.
    sys.stdout.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
