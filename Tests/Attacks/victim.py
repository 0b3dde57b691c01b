"""Another owner, who wants nothing but to be served: what it waits for while somebody attacks."""

import asyncio
import time

from client import CREATE_MESSAGE, REGISTER, Connection, Socket, SocketClosed, make_topic, phone, publish

READ = """
query($topic: ID!) { getMessageByTopicIdAndCreatedAt(topicId: $topic, limit: 20) { items { id title body number createdAt } } }
"""
EVENTS = "subscription($topic: ID) { onCreateMessage(topicId: $topic) { title } }"


class Measured:
    """What was seen in some seconds; times in seconds."""

    def __init__(self):
        self.reads, self.creates, self.events, self.pushes = [], [], [], []
        self.refused, self.failed = 0, []
        self.revocation = None

    def p99(self):
        return p99(self.reads)


def p99(times):
    """What 99 of a hundred do not exceed; without end where there is none."""
    ordered = sorted(times)
    return ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))] if ordered else float("inf")


class Victim:
    """Comes from another address of this machine than the attacker."""

    source = "127.0.0.2"

    @classmethod
    async def make(cls, server):
        self = cls()
        self._server = server
        self._token = server.add_user("vera")
        first = Connection(server.place, self._token, self.source)
        self._topic = await make_topic(first, "vera's")
        for number in range(30):
            await publish(first, self._topic, f"earlier {number}")
        self._phone = phone()
        if server.simulator:
            await first.graphql(REGISTER, t=self._phone)
        first.close()
        return self

    async def connect(self):
        """Opens what lasts: connections to read and write with, and a subscription."""
        self._arrived = {}
        self._reader = Connection(self._server.place, self._token, self.source)
        self._writer = Connection(self._server.place, self._token, self.source)
        self._socket = await Socket.open(self._server.place, self._token, self.source)
        await self._socket.subscribe(EVENTS, topic=self._topic)
        self._listener = asyncio.ensure_future(self._listen())
        await self.measure(0.5)

    async def _listen(self):
        try:
            while True:
                message = await self._socket.next()
                if message["type"] == "next":
                    event = message["payload"]["data"]["onCreateMessage"]
                    self._arrived.setdefault(event["title"], time.monotonic())
        except SocketClosed:
            pass

    async def disconnect(self):
        self._listener.cancel()
        for connection in (self._reader, self._writer, self._socket):
            connection.close()

    async def measure(self, seconds, revokes=False, pause=0.2):
        """Reads, writes and listens for so long, with a pause after each write, and loses a token on the way."""
        measured = Measured()
        end = time.monotonic() + seconds
        work = [self._read(measured, end), self._write(measured, end, pause)]
        if revokes:
            work.append(self._lose_token(measured, seconds))
        await asyncio.gather(*work)
        return measured

    async def _read(self, measured, end):
        while time.monotonic() < end:
            begun = time.monotonic()
            try:
                answer = await self._reader.graphql(READ, seconds=15, topic=self._topic)
                if answer.status == 503 or answer.error_code in ("UNAVAILABLE", "TIMEOUT", "LIMIT"):
                    measured.refused += 1
                elif len(answer.data["getMessageByTopicIdAndCreatedAt"]["items"]) != 20:
                    raise AssertionError("a page was short")
            except Exception as error:
                measured.failed.append(f"read: {error!r}"[:200])
                await asyncio.sleep(0.1)
            measured.reads.append(time.monotonic() - begun)
            await asyncio.sleep(0.01)

    async def _write(self, measured, end, pause):
        created = {}
        while time.monotonic() < end:
            title, begun = f"message at {time.monotonic()}", time.monotonic()
            try:
                message = {"topicId": self._topic, "type": 0, "title": title, "body": "b"}
                (await self._writer.graphql(CREATE_MESSAGE, seconds=15, i=message)).data
                created[title] = time.monotonic()
            except Exception as error:
                measured.failed.append(f"createMessage: {error!r}"[:200])
            measured.creates.append(time.monotonic() - begun)
            await asyncio.sleep(pause)
        await self._await_arrivals(measured, created)

    async def _await_arrivals(self, measured, created, patience=10):
        """How long after its answer each message came as an event and as a push."""
        deadline = time.monotonic() + patience
        kinds = [(measured.events, self._arrived.get)]
        if self._server.simulator:
            kinds.append((measured.pushes, lambda title: self._server.simulator.arrival(self._phone, title)))
        for latencies, arrival in kinds:
            for title, answered in created.items():
                while arrival(title) is None and time.monotonic() < deadline:
                    await asyncio.sleep(0.02)
                latencies.append(max(0, (arrival(title) or float("inf")) - answered))

    async def _lose_token(self, measured, seconds):
        """A second token with a socket of its own is revoked under way."""
        call = asyncio.get_running_loop().run_in_executor
        measured.revocation = float("inf")
        try:
            token, id = await call(None, self._second_token)
            socket = await Socket.open(self._server.place, token, self.source)
            await socket.subscribe(EVENTS, topic=self._topic)
            closed = asyncio.ensure_future(self._until_closed(socket))
            await asyncio.sleep(seconds / 4)
            await call(None, self._server.administer, "token", "revoke", id)
            revoked = time.monotonic()
            measured.revocation = max(0, await asyncio.wait_for(closed, 30) - revoked)
            socket.close()
        except Exception as error:
            measured.failed.append(f"revocation: {error!r}"[:300])

    def _second_token(self):
        before = self._server.token_ids("vera")
        token = self._server.token("vera")
        return token, (self._server.token_ids("vera") - before).pop()

    async def _until_closed(self, socket):
        try:
            while True:
                await socket.next()
        except SocketClosed:
            return time.monotonic()
