"""Publishes and subscribes through Debian's nginx and Caddy, set up as docs/production.md says: by a port, by a socket in the file
system, and below a base path. Use: proxies.py BINARY

The blocks of the page are used as they stand there, but for ports, certificates and folders."""

import base64
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
import urllib.parse

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Attacks"))

from client import frame, graphql_request, introduction, subscription, upgrade  # noqa: E402
from tocsin import CREATE_MESSAGE, Checks, Server  # noqa: E402

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "production.md")
NAME = "push.example.com"
# Another address of this machine, so that the server can tell the client from the proxy.
CLIENT = "127.0.0.2"
FOLLOW = "subscription ($t: ID!) { onCreateMessage(topicId: $t) { title } }"


SOCKET = "/run/tocsin/tocsin.sock"
BASE = "/tocsin"
PASSWORD = "correct horse battery"


def block(mark, place):
    """One of the page's blocks with this mark: for a port, for a socket, for a base path."""
    return re.findall(rf"^```{mark}\n(.*?)^```", open(PAGE).read(), re.M | re.S)[place]


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def replaced(text, changes):
    for old, new in changes:
        assert old in text, f"docs/production.md lacks {old}"
        text = text.replace(old, new)
    return text


class Front(Server):
    """A server that a proxy is in front of: by a port, by a socket in the file system, or below a base path."""

    def __init__(self, binary, place):
        self.place = place
        self.run = tempfile.mkdtemp(prefix="tocsin-run-")
        # Proxies run as others.
        os.chmod(self.run, 0o755)
        self.socket = os.path.join(self.run, "tocsin.sock")
        flags = [[], ["--host", f"unix:{self.socket}", "--socket-mode", "666"], ["--base-path", BASE]][place]
        super().__init__(binary, "--public-url", f"https://{NAME}", *flags)
        self.base = BASE if place == 2 else ""

    def stop(self):
        super().stop()
        shutil.rmtree(self.run, ignore_errors=True)

    def addresses(self, port):
        """What stands on the page for the server's place, and what it is here: `port` is how the page writes the one."""
        if self.place == 1:
            return SOCKET, self.socket
        return port, port.replace("127.0.0.1:8080", self.host.removesuffix(self.base))


class Proxy:
    """A proxy in front of a server, until it is stopped."""

    def __init__(self, server):
        self.base = server.base
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
        site = block("nginx", 0)
        if server.place > 0:
            first = re.search(r"^    location / \{\n(.*?)^    \}\n", site, re.M | re.S)
            lines = re.sub(r" *proxy_pass .*\n", "", first[1])
            location = replaced(block("nginx", server.place), [("    # and the lines of above\n", lines)])
            site = site.replace(first[0], location)
        site = replaced(
            site,
            [
                ("listen 443 ssl", f"listen 127.0.0.1:{self.port} ssl"),
                server.addresses("http://127.0.0.1:8080"),
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
            block("caddyfile", server.place),
            [(f"{NAME} {{", f"https://{NAME}:{self.port} {{"), server.addresses("127.0.0.1:8080")],
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


def asked(proxy, request):
    """The request of somebody who knows the proxy by its name, and the base path."""
    method, _, rest = request.partition(b" ")
    return method + b" " + proxy.base.encode() + rest.replace(b"Host: 127.0.0.1", b"Host: " + NAME.encode(), 1)


def bare(path, method="GET"):
    return f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode()


def exchanged(proxy, request, *lines):
    """The head and body of a request's only answer."""
    head = "".join(f"\r\n{line}" for line in ["Connection: close", *lines]).encode()
    with proxy.connect() as connection:
        connection.sendall(asked(proxy, request).replace(b"\r\n", head + b"\r\n", 1))
        answer, part = b"", b"more"
        connection.settimeout(20)
        while part:
            part = connection.recv(65536)
            answer += part
    head, _, body = answer.partition(b"\r\n\r\n")
    return head.decode("latin-1"), body


def data(proxy, token, query, *lines, **variables):
    head, body = exchanged(proxy, graphql_request(token, query, variables), *lines)
    assert head.startswith("HTTP/1.1 200"), head
    # In pieces or whole, it is one object.
    return json.loads(body[body.index(b"{") : body.rindex(b"}") + 1])["data"]


def publish(proxy, token, topic, title, *lines):
    given = {"topicId": topic, "type": 0, "title": title, "body": "b"}
    head, body = exchanged(proxy, graphql_request(token, CREATE_MESSAGE, {"input": given}), *lines)
    assert head.startswith("HTTP/1.1 200") and b'"createMessage":' in body, (head, body)
    return head


def socket_through(proxy, server, token, topic):
    with proxy.connect() as connection:
        connection.sendall(asked(proxy, upgrade()))
        answer = until(connection, b"\r\n\r\n")
        assert answer.startswith(b"HTTP/1.1 101"), answer
        connection.sendall(introduction(token))
        until(connection, b"connection_ack", answer.partition(b"\r\n\r\n")[2])
        connection.sendall(subscription("s", FOLLOW, {"t": topic}) + frame({"type": "ping"}))
        until(connection, b"pong")
        publish(proxy, token, topic, "by socket")
        until(connection, b"by socket")


def amplify_through(proxy, server, token, topic):
    """A socket as Amplify's clients open it: who asks stands in the address."""
    who = base64.b64encode(json.dumps({"host": NAME, "Authorization": token}).encode()).decode()
    place = "/graphql/realtime?" + urllib.parse.urlencode({"header": who, "payload": "e30="})
    request = upgrade().replace(b" /graphql ", b" " + place.encode() + b" ", 1).replace(b"graphql-transport-ws", b"graphql-ws")
    with proxy.connect() as connection:
        connection.sendall(asked(proxy, request))
        answer = until(connection, b"\r\n\r\n")
        assert answer.startswith(b"HTTP/1.1 101"), answer
        connection.sendall(frame({"type": "connection_init"}))
        until(connection, b"connection_ack", answer.partition(b"\r\n\r\n")[2])


def stream_through(proxy, server, token, topic):
    request = graphql_request(token, FOLLOW, {"t": topic})
    with proxy.connect() as connection:
        accept = b"\r\nAccept: text/event-stream\r\nContent-Type"
        connection.sendall(asked(proxy, request.replace(b"\r\nContent-Type", accept, 1)))
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


def console_through(proxy, server, token, topic):
    """The console's page names files that come through the proxy, as they are kept and packed."""
    head, page = exchanged(proxy, bare("/"), "Accept: text/html")
    assert head.startswith("HTTP/1.1 200") and "text/html" in head, head
    place = re.search(rf'src="{proxy.base}(/assets/[0-9a-f]+/)app\.js"', page.decode())
    assert place, page
    head, script = exchanged(proxy, bare(place[1] + "app.js"), "Accept-Encoding: gzip")
    assert head.startswith("HTTP/1.1 200") and re.search("(?i)content-encoding: gzip", head) and "immutable" in head, head
    assert b"\x1f\x8b" in script[:16], script[:16]
    head, _ = exchanged(proxy, bare("/topics/1/settings"), "Accept: text/html")
    assert head.startswith("HTTP/1.1 200"), head
    if proxy.base:
        # Who leaves out the last slash is sent on, and what is beside the path is not the server's.
        base, proxy.base = proxy.base, ""
        try:
            head, _ = exchanged(proxy, bare(base), "Accept: text/html")
            assert re.match("HTTP/1.1 30[128]", head) and re.search(rf"(?i)location: \S*{base}/\r?$", head, re.M), head
            head, body = exchanged(proxy, bare("/auth/methods"))
            assert b"methods" not in body and not re.search("(?i)x-request-id", head), (head, body)
        finally:
            proxy.base = base


def sign_in_through(proxy, server, token, topic):
    """Somebody signs in by a password, and their cookie is for the base path and good for sockets and requests."""
    head, body = exchanged(proxy, bare("/auth/methods"))
    assert head.startswith("HTTP/1.1 200") and b"password" in body, (head, body)
    form = json.dumps({"username": "carol", "password": PASSWORD}).encode()
    lines = [f"Origin: https://{NAME}", "X-Tocsin-Console: 1", "Content-Type: application/json", f"Content-Length: {len(form)}"]
    head, body = exchanged(proxy, bare("/auth/password", "POST") + form, *lines)
    assert head.startswith("HTTP/1.1 204"), (head, body)
    cookie = re.search(r"(?im)^set-cookie: (\S+?)=([^;]+); (.*)$", head)
    assert cookie and f"Path={proxy.base or '/'};" in cookie[3] and "Secure" in cookie[3], head
    mine = [f"Cookie: {cookie[1]}={cookie[2]}", f"Origin: https://{NAME}", "X-Tocsin-Console: 1"]
    assert data(proxy, None, "{ me { username } }", *mine)["me"]["username"] == "carol"


def client_address(proxy, server, token, topic):
    forged = ["X-Forwarded-For: 203.0.113.9", "Forwarded: for=203.0.113.9", "X-Request-Id: forged"]
    answer = publish(proxy, token, topic, "who", *forged)
    assert "forged" not in answer, answer
    lines = [json.loads(line) for line in open(server.log.name) if '"event":"request"' in line]
    assert lines[-1]["client_address"] == CLIENT, lines[-1]
    assert lines[-1]["request_id"] != "forged", lines[-1]


def walk(checks, binary, kind, place):
    """All that goes through one proxy in one way."""
    way = ["by a port", "by a socket in the file system", "below a base path"][place]
    server, proxy = Front(binary, place), None
    try:
        token = server.add_user("ada")
        server.administer("user", "add", "carol", "--password-stdin", input=PASSWORD)
        proxy = kind(server)
        create = "mutation ($n: String!) { createTopic(input: {name: $n}) { id } }"
        topic = data(proxy, token, create, n="proxied")["createTopic"]["id"]
        for what, check in [
            ("a socket", socket_through),
            ("a socket of Amplify's", amplify_through),
            ("an event stream", stream_through),
            ("the client's address, and nothing that the client made up", client_address),
            ("the console", console_through),
            ("a sign-in", sign_in_through),
        ]:
            name = f"{kind.__name__} passes {what} {way}"
            try:
                check(proxy, server, token, topic)
                checks.report(name)
            except Exception as error:
                checks.report(name, error)
    finally:
        if proxy:
            proxy.stop()
        server.stop()


def main():
    checks = Checks()
    for kind in [Nginx, Caddy]:
        for place in range(3):
            walk(checks, sys.argv[1], kind, place)
    checks.end()


main()
