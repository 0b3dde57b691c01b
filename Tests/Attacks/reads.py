"""1, 2: reads that cost more than they seem to."""

import asyncio
import time

from client import Connection, fill, graphql_request, make_topic, plain_socket
from stage import attack


def needle(end):
    """Almost found everywhere in a body of many a, which is the worst for a search that begins anew at each place."""
    return "a" * 200 + f" {end}"


SEARCH = '{ listMessages(filter: { body: { contains: "%s" } }, limit: 1000) { items { id } nextToken } }' % needle("end")


async def fill_for_attacker(server, size):
    """The attacker's own bodies; answers their token."""
    token = server.add_user("mallory")
    connection = Connection(server.place, token)
    await fill(connection, await make_topic(connection, "mallory's"), size)
    connection.close()
    return token


def volume(stage):
    return 24_000_000 if stage.is_short else 200_000_000


@attack("reads", makes_load=True)
async def search_on_three_connections(stage):
    server, victim, token = await stage.scene(lambda server: fill_for_attacker(server, volume(stage)))
    await stage.under(server, victim, 4 if stage.is_short else 10, search, token)


def search(place, token, seconds):
    async def one():
        connection, end = Connection(place, token), time.monotonic() + seconds
        while time.monotonic() < end:
            answer = await connection.graphql(SEARCH)
            await asyncio.sleep(0.1 if answer.status == 503 else 0)

    async def all():
        await asyncio.gather(*(one() for _ in range(3)), return_exceptions=True)

    asyncio.run(all())


@attack("reads-abandoned", makes_load=True)
async def search_and_leave(stage):
    server, victim, token = await stage.scene(lambda server: fill_for_attacker(server, volume(stage)))
    await stage.under(server, victim, 4 if stage.is_short else 10, leave, token)


def leave(place, token, seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        sockets = [plain_socket(place) for _ in range(12)]
        for connection in sockets:
            connection.sendall(graphql_request(token, SEARCH))
        for connection in sockets:
            connection.close()
        time.sleep(1)


@attack("response", makes_load=True)
async def twenty_pages_at_once(stage):
    async def prepare(server):
        await fill_for_attacker(server, volume(stage))
        return server.token("mallory", "--read-only")

    server, victim, token = await stage.scene(prepare)
    said = await stage.under(server, victim, 4 if stage.is_short else 10, ask_for_pages, token)
    stage.fact(f"answers {said}", isinstance(said, list) and all(size <= 17 << 20 for _, size in said))


def ask_for_pages(place, token, seconds):
    pages = " ".join(f"p{number}: listMessages(limit: 1000) {{ items {{ body }} }}" for number in range(20))
    connection, end, answers = Connection(place, token), time.monotonic() + seconds, []

    async def ask():
        while time.monotonic() < end:
            answer = await connection.graphql("{" + pages + "}", seconds=20)
            answers.append((answer.status, len(answer.body)))
            await asyncio.sleep(0.1)

    asyncio.run(ask())
    return sorted(set(answers))[-3:]
