"""Publishes and subscribes through Debian's nginx and Caddy, set up as docs/production.md says. Use: proxies.py BINARY

The blocks of the page are used as they stand there, but for ports, certificates and folders."""

import json
import os
import re
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Attacks"))

from client import frame, graphql_request, introduction, subscription, upgrade  # noqa: E402
from tocsin import CREATE_MESSAGE, Checks, Server  # noqa: E402

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "production.md")
NAME = "push.example.com"
# Another address of this machine, so that the server can tell the client from the proxy.
CLIENT = "127.0.0.2"
FOLLOW = "subscription ($t: ID!) { onCreateMessage(topicId: $t) { title } }"


def block(mark):
    """The page's first block with this mark."""
    return re.search(rf"^```{mark}\n(.*?)^```", open(PAGE).read(), re.M | re.S).group(1)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def replaced(text, changes):
    for old, new in changes:
        assert old in text, f"docs/production.md lacks {old}"
        text = text.replace(old, new)
    return text


class Proxy:
    """A proxy in front of a server, until it is stopped."""

    def __init__(self, server):
        self.folder = tempfile.mkdtemp(prefix="tocsin-proxy-")
        os.chmod(self.folder, 0o755)
        self.port = free_port()
        self.log = open(os.path.join(self.folder, "log"), "w")
        self.process = subprocess.Popen(
            self.command(server),
            cwd=self.folder,
            env={**os.environ, "HOME": self.folder, "XDG_DATA_HOME": self.folder, "XDG_CONFIG_HOME": self.folder},
            stdin=subprocess.DEVNULL,
            stdout=self.log,
            stderr=self.log,
        )
        deadline = time.monotonic() + 30
        while True:
            try:
                self.connect().close()
                return
            except OSError:
                assert self.process.poll() is None and time.monotonic() < deadline, open(self.log.name).read()[-2000:]
                time.sleep(0.1)

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w") as file:
            file.write(text)
        return path

    def connect(self):
        """A TLS connection from another address than the proxy's."""
        plain = socket.create_connection(("127.0.0.1", self.port), timeout=20, source_address=(CLIENT, 0))
        # The certificate is this check's own.
        return ssl._create_unverified_context().wrap_socket(plain, server_hostname=NAME)

    def stop(self):
        self.process.terminate()
        self.process.wait(20)
        shutil.rmtree(self.folder, ignore_errors=True)


class Nginx(Proxy):
    def command(self, server):
        chain, key = os.path.join(self.folder, "chain.pem"), os.path.join(self.folder, "key.pem")
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
            + ["-days", "1", "-subj", f"/CN={NAME}", "-keyout", key, "-out", chain],
            check=True,
            capture_output=True,
        )
        site = replaced(
            block("nginx"),
            [
                ("listen 443 ssl", f"listen 127.0.0.1:{self.port} ssl"),
                ("http://127.0.0.1:8080", server.address),
                (f"/etc/letsencrypt/live/{NAME}/fullchain.pem", chain),
                (f"/etc/letsencrypt/live/{NAME}/privkey.pem", key),
            ],
        )
        folders = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        paths = "\n".join(f"{name}_temp_path {self.folder}/{name};" for name in folders)
        # What Debian's nginx.conf has around the file of a site.
        text = f"pid {self.folder}/pid;\nevents {{}}\nhttp {{\naccess_log off;\n{paths}\n{site}}}\n"
        path = self.write("nginx.conf", text)
        return ["nginx", "-e", os.path.join(self.folder, "error.log"), "-c", path, "-g", "daemon off;"]


class Caddy(Proxy):
    def command(self, server):
        site = replaced(
            block("caddyfile"), [(f"{NAME} {{", f"https://{NAME}:{self.port} {{"), ("127.0.0.1:8080", server.host)]
        )
        # A certificate of its own in place of Let's Encrypt's, and nothing beside the site.
        around = "{\n\tadmin off\n\tauto_https disable_redirects\n\tlocal_certs\n\tskip_install_trust\n}\n"
        path = self.write("Caddyfile", around + site)
        return ["caddy", "run", "--config", path, "--adapter", "caddyfile"]


def until(connection, wanted, text=b""):
    """What comes up to and with these bytes; an answer that does not come is an error."""
    connection.settimeout(20)
    deadline = time.monotonic() + 20
    while wanted not in text:
        assert time.monotonic() < deadline, f"{wanted!r} does not come: {text[-400:]!r}"
        part = connection.recv(65536)
        assert part, f"closed: {text[-400:]!r}"
        text += part
    return text


def asked(request):
    """The request of somebody who knows the proxy by its name."""
    return request.replace(b"Host: 127.0.0.1", b"Host: " + NAME.encode(), 1)


def publish(proxy, token, topic, title, *lines):
    request = graphql_request(token, CREATE_MESSAGE, {"input": {"topicId": topic, "type": 0, "title": title, "body": "b"}})
    head = "".join(f"\r\n{line}" for line in ["Connection: close", *lines]).encode()
    with proxy.connect() as connection:
        connection.sendall(asked(request.replace(b"\r\nContent-Type", head + b"\r\nContent-Type", 1)))
        answer = until(connection, b'"createMessage":')
        assert answer.startswith(b"HTTP/1.1 200"), answer
        return answer


def socket_through(proxy, server, token, topic):
    with proxy.connect() as connection:
        connection.sendall(asked(upgrade()))
        answer = until(connection, b"\r\n\r\n")
        assert answer.startswith(b"HTTP/1.1 101"), answer
        connection.sendall(introduction(token))
        until(connection, b"connection_ack", answer.partition(b"\r\n\r\n")[2])
        connection.sendall(subscription("s", FOLLOW, {"t": topic}) + frame({"type": "ping"}))
        until(connection, b"pong")
        publish(proxy, token, topic, "by socket")
        until(connection, b"by socket")


def stream_through(proxy, server, token, topic):
    request = graphql_request(token, FOLLOW, {"t": topic})
    with proxy.connect() as connection:
        accept = b"\r\nAccept: text/event-stream\r\nContent-Type"
        connection.sendall(asked(request.replace(b"\r\nContent-Type", accept, 1)))
        answer = until(connection, b"\r\n\r\n")
        assert answer.startswith(b"HTTP/1.1 200") and b"text/event-stream" in answer, answer
        # A proxy that buffers would hold these back; the first may come before the stream is live.
        deadline = time.monotonic() + 20
        connection.settimeout(1)
        while b"by stream" not in answer:
            assert time.monotonic() < deadline, answer
            publish(proxy, token, topic, "by stream")
            try:
                answer += connection.recv(65536)
            except TimeoutError:
                pass


def client_address(proxy, server, token, topic):
    forged = ["X-Forwarded-For: 203.0.113.9", "Forwarded: for=203.0.113.9", "X-Request-Id: forged"]
    answer = publish(proxy, token, topic, "who", *forged)
    assert b"forged" not in answer, answer
    lines = [json.loads(line) for line in open(server.log.name) if '"event":"request"' in line]
    assert lines[-1]["client_address"] == CLIENT, lines[-1]
    assert lines[-1]["request_id"] != "forged", lines[-1]


def main():
    checks = Checks()
    server = Server(sys.argv[1])
    try:
        token = server.add_user("ada")
        topic = server.create_topic(token, "proxied")
        for kind in [Nginx, Caddy]:
            proxy = kind(server)
            try:
                for what, check in [
                    ("a socket", socket_through),
                    ("an event stream", stream_through),
                    ("the client's address, and nothing that the client made up", client_address),
                ]:
                    name = f"{kind.__name__} passes {what}"
                    try:
                        check(proxy, server, token, topic)
                        checks.report(name)
                    except Exception as error:
                        checks.report(name, error)
            finally:
                proxy.stop()
    finally:
        server.stop()
    checks.end()


main()
