"""HTTP/1.1 and `graphql-transport-ws` by hand, so that a check sends what it likes and reads when it likes."""

import asyncio
import json
import os
import socket
import struct
import uuid


def head(method, path, token=None, *lines):
    given = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1", *lines]
    if token:
        given.append(f"Authorization: Bearer {token}")
    return ("\r\n".join(given) + "\r\n\r\n").encode()


def graphql_request(token, query, variables=None, path="/graphql"):
    """The bytes of one POST."""
    body = json.dumps({"query": query, "variables": variables or {}}).encode()
    return head("POST", path, token, "Content-Type: application/json", f"Content-Length: {len(body)}") + body


def plain_socket(place, source=None, receive_bytes=None, seconds=10):
    """A connected blocking socket, from an address of this machine if one is named."""
    connection = socket.socket()
    if receive_bytes:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
    connection.settimeout(seconds)
    if source:
        connection.bind((source, 0))
    connection.connect(place)
    return connection


def status_of(connection, seconds=10):
    """The status that a plain socket is answered with; 0 where it is closed without one."""
    connection.settimeout(seconds)
    text = b""
    try:
        while b"\r\n" not in text:
            part = connection.recv(4096)
            if not part:
                break
            text += part
    except ConnectionError:
        pass
    return int(text.split()[1]) if text.startswith(b"HTTP/1.1 ") else 0


class Answer:
    def __init__(self, status, headers, body):
        self.status = status
        self.headers = headers
        self.body = body

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def data(self):
        """What was asked for; an error in the answer is an error here."""
        answer = self.json
        if self.status != 200 or answer.get("errors"):
            raise AssertionError(f"{self.status}: {self.body[:500]!r}")
        return answer["data"]

    @property
    def error_code(self):
        errors = self.json.get("errors") or [{}]
        return (errors[0].get("extensions") or {}).get("code")


class Connection:
    """One kept connection, opened when it is needed."""

    def __init__(self, place, token=None, source=None):
        self.place, self.token, self.source = place, token, source
        self._reader = self._writer = None

    async def send(self, request, seconds=30):
        """Sends bytes and reads one answer."""
        try:
            return await asyncio.wait_for(self._exchange(request), seconds)
        except BaseException:
            self.close()
            raise

    async def _exchange(self, request):
        if self._writer is None:
            local = (self.source, 0) if self.source else None
            self._reader, self._writer = await asyncio.open_connection(*self.place, local_addr=local)
        self._writer.write(request)
        await self._writer.drain()
        lines = (await self._reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = {}
        for line in lines[1:]:
            name, _, value = line.partition(":")
            headers[name.lower()] = value.strip()
        answer = Answer(int(lines[0].split()[1]), headers, await self._body(headers))
        if headers.get("connection", "").lower() == "close":
            self.close()
        return answer

    async def _body(self, headers):
        if headers.get("transfer-encoding", "").lower() != "chunked":
            return await self._reader.readexactly(int(headers.get("content-length", 0)))
        parts = []
        while True:
            size = int(await self._reader.readline(), 16)
            parts.append((await self._reader.readexactly(size + 2))[:-2])
            if size == 0:
                return b"".join(parts)

    async def graphql(self, query, seconds=30, **variables):
        return await self.send(graphql_request(self.token, query, variables), seconds)

    def close(self):
        if self._writer is not None:
            self._writer.close()
        self._reader = self._writer = None


class SocketClosed(Exception):
    def __init__(self, code):
        super().__init__(f"the socket was closed with {code}")
        self.code = code


def upgrade():
    return head(
        "GET",
        "/graphql",
        None,
        "Upgrade: websocket",
        "Connection: Upgrade",
        "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        "Sec-WebSocket-Protocol: graphql-transport-ws",
    )


def frame(message, opcode=1):
    """A masked frame; the mask is zero, which changes nothing."""
    payload = json.dumps(message).encode() if opcode == 1 else message
    if len(payload) < 126:
        size = bytes([0x80 | len(payload)])
    elif len(payload) < 65536:
        size = b"\xfe" + struct.pack("!H", len(payload))
    else:
        size = b"\xff" + struct.pack("!Q", len(payload))
    return bytes([0x80 | opcode]) + size + bytes(4) + payload


def introduction(token):
    return frame({"type": "connection_init", "payload": {"Authorization": f"Bearer {token}"}})


def subscription(id, query, variables=None):
    return frame({"type": "subscribe", "id": id, "payload": {"query": query, "variables": variables or {}}})


class Socket:
    """A socket of `graphql-transport-ws` that reads."""

    @classmethod
    async def open(cls, place, token, source=None):
        self = cls()
        local = (source, 0) if source else None
        self._reader, self._writer = await asyncio.open_connection(*place, local_addr=local)
        self._writer.write(upgrade())
        answer = await self._reader.readuntil(b"\r\n\r\n")
        if not answer.startswith(b"HTTP/1.1 101 "):
            raise AssertionError(f"no socket: {answer[:200]!r}")
        self.send(introduction(token))
        message = await asyncio.wait_for(self.next(), 30)
        assert message["type"] == "connection_ack", message
        return self

    def send(self, data):
        self._writer.write(data)

    async def subscribe(self, query, **variables):
        """Begins a subscription and waits until it is live; its events are read with `next`."""
        self.send(subscription(uuid.uuid4().hex, query, variables) + frame({"type": "ping"}))
        message = await asyncio.wait_for(self.next(), 30)
        assert message["type"] == "pong", message

    async def next(self):
        """The next message; raises SocketClosed at the end."""
        while True:
            try:
                first, second = await self._reader.readexactly(2)
                size = second & 127
                if size > 125:
                    size = int.from_bytes(await self._reader.readexactly(2 if size == 126 else 8), "big")
                payload = await self._reader.readexactly(size)
            except (asyncio.IncompleteReadError, ConnectionError):
                raise SocketClosed(0) from None
            if first & 15 == 8:
                raise SocketClosed(int.from_bytes(payload[:2], "big"))
            if first & 15 == 9:
                self.send(frame(payload, 10))
            elif first & 15 == 1:
                return json.loads(payload)

    def close(self):
        self._writer.close()


CREATE_TOPIC = "mutation($i: CreateTopicInput!) { createTopic(input: $i) { id } }"
CREATE_MESSAGE = "mutation($i: CreateMessageInput!) { createMessage(input: $i) { id number } }"
REGISTER = 'mutation($t: String!) { registerPushToken(token: $t, platform: "ios") { userId } }'


def phone():
    """A device token of an iPhone that meets no scripted fault."""
    return "a1" + os.urandom(31).hex()


async def make_topic(connection, name, **fields):
    return (await connection.graphql(CREATE_TOPIC, i={"name": name, **fields})).data["createTopic"]["id"]


async def publish(connection, topic, title, body="b", **fields):
    message = {"topicId": topic, "type": 0, "title": title, "body": body, **fields}
    return (await connection.graphql(CREATE_MESSAGE, i=message)).data["createMessage"]


async def fill(connection, topic, bytes_in_all, body_bytes=262_144):
    """Messages of the largest size until they are so many bytes."""
    body = "a" * (body_bytes - 1) + "b"
    for number in range(max(1, bytes_in_all // body_bytes)):
        await publish(connection, topic, f"{number}", body)
