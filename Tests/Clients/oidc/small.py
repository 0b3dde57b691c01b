"""A sign-in provider in one file, for tests that need it to misbehave: standard library and the openssl command only.

usage: small.py FOLDER
Writes FOLDER/provider.ready with its issuer. The code of a sign-in is its nonce, so that the token can repeat it. Its page
asks nothing: a link leads back.
POST /behave takes {"claims": {...}, "header": {...}, "signed": false}, which hold until the next one.
"""

import base64
import html
import http.server
import json
import os
import subprocess
import sys
import time
import urllib.parse

folder = sys.argv[1]
key = os.path.join(folder, "provider-key.pem")
behaviour = {}


def openssl(*arguments, data=None):
    return subprocess.run(["openssl", *arguments], input=data, capture_output=True, check=True).stdout


def base64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def token(claims):
    header = {"alg": "RS256", "kid": "small", **behaviour.get("header", {})}
    text = ".".join(base64url(json.dumps(part).encode()) for part in (header, claims))
    signature = openssl("dgst", "-sha256", "-sign", key, data=text.encode()) if behaviour.get("signed", True) else b""
    return text + "." + base64url(signature)


class Provider(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def answer(self, value, status=200):
        self.send(json.dumps(value).encode(), status, "application/json")

    def send(self, body, status, kind):
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        if self.path == "/.well-known/openid-configuration":
            return self.answer({
                "issuer": issuer, "authorization_endpoint": issuer + "/authorize", "token_endpoint": issuer + "/token",
                "jwks_uri": issuer + "/keys", "end_session_endpoint": issuer + "/logout",
                "response_types_supported": ["code"], "authorization_response_iss_parameter_supported": True,
            })
        if self.path == "/keys":
            return self.answer({"keys": [{"kty": "RSA", "kid": "small", "alg": "RS256", "use": "sig", "e": "AQAB",
                                          "n": base64url(modulus)}]})
        path, _, query = self.path.partition("?")
        if path == "/authorize":
            asked = dict(urllib.parse.parse_qsl(query))
            told = urllib.parse.urlencode({"code": asked["nonce"], "state": asked["state"], "iss": issuer})
            back = html.escape(f"{asked['redirect_uri']}?{told}")
            return self.send(f'<!doctype html><h1>Small</h1><a href="{back}">Go back</a>'.encode(), 200, "text/html")
        return self.answer({"error": "not_found"}, 404)

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0))).decode()
        if self.path == "/behave":
            behaviour.clear()
            behaviour.update(json.loads(body))
            return self.answer({})
        form = dict(urllib.parse.parse_qsl(body))
        now = int(time.time())
        claims = {"iss": issuer, "aud": "tocsin", "sub": "subject-1", "preferred_username": "carol", "iat": now,
                  "exp": now + 300, "groups": ["ops"], "nonce": form.get("code")}
        claims.update(behaviour.get("claims", {}))
        return self.answer({"id_token": token(claims), "access_token": "access", "token_type": "Bearer",
                            "refresh_token": "refresh"})


openssl("genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-out", key)
modulus = bytes.fromhex(openssl("rsa", "-in", key, "-noout", "-modulus").decode().strip().split("=")[1])
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Provider)
issuer = f"http://127.0.0.1:{server.server_port}"
with open(os.path.join(folder, "provider.ready.new"), "w") as file:
    file.write(json.dumps({"issuer": issuer}))
os.rename(file.name, os.path.join(folder, "provider.ready"))
server.serve_forever()
