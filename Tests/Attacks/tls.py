"""11: what TLS offers, whose key may be read, and what SIGHUP does."""

import asyncio
import os
import signal
import ssl
import subprocess
import time

from client import Connection
from stage import attack


def make_certificate(folder, name):
    """A key and a certificate of that name, in the place of those before."""
    key, certificate = os.path.join(folder, "tls.key"), os.path.join(folder, "tls.pem")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]
        + ["-subj", f"/CN={name}", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate],
        check=True,
        capture_output=True,
    )
    os.chmod(key, 0o600)
    return {"TOCSIN_TLS_CERTIFICATE": certificate, "TOCSIN_TLS_KEY": key}


def tls_server(stage, key_mode=0o600):
    server = stage.server()
    server.environment.update(make_certificate(server.folder, "first"))
    os.chmod(server.environment["TOCSIN_TLS_KEY"], key_mode)
    return server.start()


def handshake(server, suites):
    """Whether TLS 1.2 comes about with one of these suites."""
    host, port = server.place
    done = subprocess.run(
        ["openssl", "s_client", "-connect", f"{host}:{port}", "-tls1_2", "-cipher", suites + ":@SECLEVEL=0"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=30,
    )
    return done.returncode == 0


@attack("suites", touches_data=False)
async def suites_without_forward_secrecy(stage):
    server = tls_server(stage)
    folder = server.folder
    # RSA's key exchange needs a key of RSA.
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=rsa"]
        + ["-keyout", os.path.join(folder, "tls.key"), "-out", os.path.join(folder, "tls.pem")],
        check=True,
        capture_output=True,
    )
    server.stop()
    server.start()
    stage.fact("TLS 1.2 with ECDHE is spoken", handshake(server, "ECDHE-RSA-AES128-GCM-SHA256"))
    suites = ["AES128-GCM-SHA256", "AES256-GCM-SHA384", "AES128-SHA", "AES256-SHA", "AES128-SHA256"]
    spoken = [suite for suite in suites if handshake(server, suite)]
    stage.fact(f"without forward secrecy {spoken or 'nothing'} is spoken", not spoken)


@attack("tls-key", touches_data=False)
async def key_that_all_may_read(stage):
    for mode, is_warned in ((0o600, False), (0o644, True)):
        server = tls_server(stage, mode)
        lines = [line for line in server.log_text().splitlines() if "warning" in line and "tls.key" in line]
        stage.fact(f"a key of {mode:04o}: {'a warning' if lines else 'no word'}", bool(lines) == is_warned)


@attack("hangup", touches_data=False)
async def hangup_reloads(stage):
    server = tls_server(stage)
    make_certificate(server.folder, "second")
    server.process.send_signal(signal.SIGHUP)
    shown = await shown_name(server, "second")
    stage.fact(f"after SIGHUP it shows the certificate {shown}", shown == "second" and server.is_running())
    open(server.environment["TOCSIN_TLS_CERTIFICATE"], "w").write("no certificate")
    server.process.send_signal(signal.SIGHUP)
    await asyncio.sleep(1)
    stage.fact("one that cannot be read changes nothing", await shown_name(server, "second") == "second")
    plain = stage.server().start()
    plain.process.send_signal(signal.SIGHUP)
    await asyncio.sleep(1)
    stage.fact("without TLS it goes on", plain.is_running() and await is_healthy(plain))


async def shown_name(server, expected):
    """The name in the certificate, as soon as it is the expected one, or the last one seen."""
    name, end = "none", time.monotonic() + 10
    while name != expected and time.monotonic() < end:
        try:
            text = ssl.get_server_certificate(server.place, timeout=5)
        except OSError:
            return "of no server"
        done = subprocess.run(["openssl", "x509", "-noout", "-subject"], input=text, capture_output=True, text=True)
        name = done.stdout.strip().rpartition("=")[2].strip()
        await asyncio.sleep(0.1)
    return name


async def is_healthy(server):
    connection = Connection(server.place, server.add_user("alice"))
    answer = await connection.graphql("{ me { userId } }")
    connection.close()
    return answer.status == 200
