"""3: answers that nobody reads."""

import os
import select
import time

from client import (
    Connection,
    fill,
    graphql_request,
    introduction,
    make_topic,
    plain_socket,
    subscription,
    upgrade,
)
from reads import fill_for_attacker, volume
from stage import attack
from victim import Victim


@attack("unread-answers", makes_load=True)
async def requests_without_reading(stage):
    async def prepare(server):
        token = server.add_user("mallory")
        connection = Connection(server.place, token)
        await fill(connection, await make_topic(connection, "mallory's"), 1_000_000, body_bytes=10_000)
        connection.close()
        return token

    server, victim, token = await stage.scene(prepare)
    said = await stage.under(server, victim, 4 if stage.is_short else 8, send_without_reading, token)
    stage.findings[-1].text += f", {said}"


def send_without_reading(place, token, seconds):
    """Four connections that send as much as is taken."""
    request = graphql_request(token, "{ listMessages(limit: 100) { items { body } } }") * 16
    sockets = {plain_socket(place, receive_bytes=4096): b"" for _ in range(4)}
    sent, end = 0, time.monotonic() + seconds
    for connection in sockets:
        connection.setblocking(False)
    while time.monotonic() < end and sockets:
        for connection in select.select([], list(sockets), [], 0.1)[1]:
            rest = sockets[connection] or request
            try:
                count = connection.send(rest)
                sockets[connection], sent = rest[count:], sent + count
            except ConnectionError:
                del sockets[connection]
    return f"{sent // len(request) * 16} requests taken"


@attack("unread-replays", makes_load=True)
async def replays_without_reading(stage):
    count = 20 if stage.is_short else 100
    server, victim, token = await stage.scene(lambda server: fill_for_attacker(server, volume(stage)))
    said = await stage.under(server, victim, 4 if stage.is_short else 10, replay_without_reading, token, count)
    stage.findings[-1].text += f", {said}"


def replay_without_reading(place, token, count, seconds):
    query = 'subscription { onCreateMessage(after: "") { title body } }'
    sockets = []
    for _ in range(count):
        connection = plain_socket(place, receive_bytes=4096)
        connection.sendall(upgrade() + introduction(token))
        seen = b""
        while b"connection_ack" not in seen:
            part = connection.recv(4096)
            if not part:
                return "refused"
            seen += part
        connection.sendall(subscription("1", query))
        sockets.append(connection)
    time.sleep(seconds)
    return f"{len(sockets)} replays begun"


@attack("unread-log", touches_data=False, makes_load=True)
async def log_without_reader(stage):
    server = stage.server(pushes=True).start()
    victim = await Victim.make(server)
    server.stop()
    reading, writing = os.pipe()
    server.start(log_to=writing)
    await victim.connect()
    fill_pipe(writing)
    said = await stage.under(server, victim, 4 if stage.is_short else 8, be_refused)
    stage.findings[-1].text += f", {said}"
    os.close(writing)
    os.close(reading)


def fill_pipe(writing):
    """Until nothing more goes in; opened anew, because whether a write waits is common to all who have the same opening."""
    opened = os.open(f"/proc/self/fd/{writing}", os.O_WRONLY | os.O_NONBLOCK)
    try:
        while True:
            os.write(opened, b"x" * 100)
    except BlockingIOError:
        os.close(opened)


def be_refused(place, seconds):
    """Requests with a bad token, each of which may be worth a line."""
    request = graphql_request("not-a-token", "{ me { userId } }")
    count, end = 0, time.monotonic() + seconds
    while time.monotonic() < end:
        with plain_socket(place) as connection:
            try:
                connection.sendall(request)
                connection.recv(4096)
                count += 1
            except OSError:
                time.sleep(0.05)
    return f"{count} requests answered"
