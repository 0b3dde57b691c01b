"""django-oauth-toolkit as a sign-in provider on loopback: strict about PKCE, names itself in callbacks (RFC 9207).

usage: strict.py FOLDER HOME [--without-logout]
Writes FOLDER/provider.ready with its issuer. HOME is where browsers find the server, with a slash at its end.
"""

import json
import os
import sys
import threading
import wsgiref.simple_server
from socketserver import ThreadingMixIn

import django
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from django.conf import settings

LOGIN_PAGE = "<form method='post'>{% csrf_token %}{{ form }}<input type='submit'></form>"


class QuietHandler(wsgiref.simple_server.WSGIRequestHandler):
    def log_message(self, *_):
        pass


class ThreadingServer(ThreadingMixIn, wsgiref.simple_server.WSGIServer):
    daemon_threads = True


def configure(folder, knows_logout=True):
    os.environ["OAUTHLIB_INSECURE_TRANSPORT"] = "1"
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    settings.configure(
        SECRET_KEY="of a test",
        # Browsers keep cookies of a host, whatever its ports: two providers must not share theirs.
        SESSION_COOKIE_NAME=f"session{os.getpid()}",
        CSRF_COOKIE_NAME=f"csrf{os.getpid()}",
        ALLOWED_HOSTS=["127.0.0.1"],
        ROOT_URLCONF="strict_urls",
        USE_TZ=True,
        LOGIN_URL="/login/",
        # Files rather than memory: each request has a thread, and so a connection, of its own.
        DATABASES={
            "default": {
                "ENGINE": "django.db.backends.sqlite3",
                "NAME": os.path.join(folder, "provider.db"),
                "OPTIONS": {"timeout": 30},
            }
        },
        INSTALLED_APPS=[
            "django.contrib.auth",
            "django.contrib.contenttypes",
            "django.contrib.sessions",
            "oauth2_provider",
        ],
        MIDDLEWARE=[
            "django.contrib.sessions.middleware.SessionMiddleware",
            "django.middleware.csrf.CsrfViewMiddleware",
            "django.contrib.auth.middleware.AuthenticationMiddleware",
        ],
        TEMPLATES=[
            {
                "BACKEND": "django.template.backends.django.DjangoTemplates",
                "OPTIONS": {
                    "loaders": [
                        ("django.template.loaders.locmem.Loader", {"registration/login.html": LOGIN_PAGE}),
                        "django.template.loaders.app_directories.Loader",
                    ]
                },
            }
        ],
        PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"],
        OAUTH2_PROVIDER={
            "OIDC_ENABLED": True,
            "OIDC_RSA_PRIVATE_KEY": key.decode(),
            "OIDC_RP_INITIATED_LOGOUT_ENABLED": knows_logout,
            "OAUTH2_VALIDATOR_CLASS": "strict_urls.Validator",
            "PKCE_REQUIRED": True,
            "COMPLIANT_BCP_RFC9700_PKCE_METHOD": True,
            "COMPLIANT_BCP_RFC9700_AUTHZ_RESPONSE_ISS": True,
            "SCOPES": {"openid": "Who you are", "profile": "Your name", "email": "Your address"},
        },
    )
    django.setup()


class StrictProvider:
    """Knows alice, and two applications with this redirect address: one with a secret, one without. Both may send people
    to `home` once they are signed out."""

    def __init__(self, folder, redirect, home="", knows_logout=True):
        configure(folder, knows_logout)
        from django.contrib.auth.models import Group, User
        from django.core.management import call_command
        from django.core.wsgi import get_wsgi_application
        from oauth2_provider.models import get_application_model

        call_command("migrate", verbosity=0)
        alice = User.objects.create_user("alice", "alice@example.com", "open sesame")
        alice.groups.set(Group.objects.create(name=name) for name in ("staff", "ops"))
        for name, kind in (("app-secret", "confidential"), ("app-public", "public")):
            get_application_model().objects.create(
                client_id=name,
                client_secret="s3 cret+/%" if kind == "confidential" else "",
                client_type=kind,
                authorization_grant_type="authorization-code",
                redirect_uris=redirect,
                post_logout_redirect_uris=home,
                algorithm="RS256",
                user=alice,
            )
        self.server = ThreadingServer(("127.0.0.1", 0), QuietHandler)
        self.server.set_app(get_wsgi_application())
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.issuer = f"http://127.0.0.1:{self.server.server_port}"

    def revoke(self):
        """Takes back what alice granted."""
        from oauth2_provider.models import get_refresh_token_model

        for token in get_refresh_token_model().objects.filter(revoked__isnull=True):
            token.revoke()


def main():
    folder, home = sys.argv[1:3]
    provider = StrictProvider(folder, home + "auth/callback", home, knows_logout="--without-logout" not in sys.argv)
    with open(os.path.join(folder, "provider.ready.new"), "w", encoding="utf-8") as file:
        file.write(json.dumps({"issuer": provider.issuer}))
    os.rename(file.name, os.path.join(folder, "provider.ready"))
    threading.Event().wait()


if __name__ == "__main__":
    main()
