"""4: what those may cost who have no token at all."""

import asyncio
import resource
import time

from client import Connection, head, plain_socket, status_of
from stage import Load, attack


@attack("strangers-bodies", touches_data=False, makes_load=True)
async def bodies_without_token(stage):
    server, victim, _ = await stage.scene()
    said = await stage.under(server, victim, 4 if stage.is_short else 8, send_bodies, 100 if stage.is_short else 400)
    stage.fact(f"status of those without a token: {said}", said == [401])


def send_bodies(place, count, seconds):
    """All of a body but its last byte; the statuses they were answered with."""
    size, sockets, statuses = (1 << 20) - 1, [], set()
    paths = ["/graphql", "/api/notifications/register", "/graphql", "/tcm/create-message"]
    for number in range(count):
        token = "not-a-token" if number % 8 < 4 else None
        lines = "Content-Type: application/json", f"Content-Length: {size}"
        connection = plain_socket(place, seconds=1)
        sockets.append(connection)
        try:
            connection.sendall(head("POST", paths[number % 4], token, *lines) + b" " * (size - 1))
        except OSError:
            pass
    end = time.monotonic() + seconds / 2
    for connection in sockets:
        try:
            statuses.add(status_of(connection, max(0.01, end - time.monotonic())))
        except OSError:
            statuses.add("none in time")
    # One that was closed while it still sent may have lost its answer, which counts as 0.
    return sorted(statuses - {0}, key=str)


@attack("chunks", touches_data=False)
async def chunk_lines(stage):
    server = stage.server().start()
    start = head("POST", "/graphql", server.add_user("mallory"), "Content-Type: application/json", "Transfer-Encoding: chunked")
    stage.fact("a chunk-size line without end ends the connection", ends(server.place, start))
    body = b'{"query":"{ me { userId } }"}'
    whole = b"%x%s\r\n" + body + b"\r\n0%s\r\n\r\n"
    expected = {b"": 200, b";name=value": 400, b";" + b"x" * 20_000: 400}
    for extension, status in expected.items():
        for chunks in (whole % (len(body), extension, b""), whole % (len(body), b"", extension)):
            with plain_socket(server.place) as connection:
                connection.sendall(start + chunks)
                got = status_of(connection)
            stage.fact(f"a chunk with {len(extension)} bytes of extensions gets {got}", got == status)


def ends(place, start):
    """Whether the server ends a connection that sends digits without end, within some seconds."""
    begun = time.monotonic()
    with plain_socket(place, seconds=5) as connection:
        try:
            connection.sendall(start)
            while time.monotonic() < begun + 5:
                connection.sendall(b"0" * 4096)
        except ConnectionError:
            return True
        except TimeoutError:
            pass
    return False


@attack("idle", touches_data=False, makes_load=True)
async def idle_from_one_address(stage):
    server, victim, _ = await stage.scene()
    count = 4200
    await stage.under(server, victim, 4 if stage.is_short else 8, hold_open, count, 1)
    await new_connections_are_served(stage, server, count, 1)


@attack("idle-everywhere", touches_data=False)
async def idle_from_many_addresses(stage):
    server, _, _ = await stage.scene()
    await new_connections_are_served(stage, server, 4400, 8)


async def new_connections_are_served(stage, server, count, addresses):
    """Whether somebody with a token gets in while strangers hold all they can."""
    token, statuses = server.token("vera"), []
    attacker = Load(hold_open, server.place, count, addresses, 8)
    await asyncio.sleep(5)
    for _ in range(20):
        connection = Connection(server.place, token, "127.0.0.2")
        try:
            statuses.append((await connection.graphql("{ me { userId } }", seconds=5)).status)
        except Exception as error:
            statuses.append(type(error).__name__)
        connection.close()
    held = await attacker.result(30)
    got = sorted(set(map(str, statuses)))
    stage.fact(f"beside {held} idle sockets from {addresses} addresses new ones get {got}", statuses == [200] * 20)
    if addresses == 1:
        stage.fact("one address holds at most a quarter of 4,096", isinstance(held, int) and held <= 1024)


def hold_open(place, count, addresses, seconds):
    """Opens sockets that say nothing; how many were held at the end."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    end, sockets = time.monotonic() + seconds, []
    for number in range(count):
        if time.monotonic() > end:
            break
        try:
            sockets.append(plain_socket(place, f"127.0.1.{1 + number % addresses}", seconds=1))
        except OSError:
            pass
    time.sleep(max(0, end - time.monotonic()))
    return sum(is_open(connection) for connection in sockets)


def is_open(connection):
    connection.setblocking(False)
    try:
        return connection.recv(1) != b""
    except BlockingIOError:
        return True
    except OSError:
        return False
