"""Drives the built server with clients that others wrote: gql over HTTP and over sockets in both protocols, and raw
sockets that open them as Amplify's clients do. Use: clients.py BINARY"""

import asyncio
import base64
import json
import pathlib
import sys
import tempfile

import aiohttp
import botocore.credentials
import httpx
import websockets
from gql import Client, GraphQLRequest, gql
from gql.transport.aiohttp import AIOHTTPTransport
from gql.transport.aiohttp_websockets import AIOHTTPWebsocketsTransport
from gql.transport.appsync_auth import (
    AppSyncApiKeyAuthentication,
    AppSyncIAMAuthentication,
    AppSyncJWTAuthentication,
)
from gql.transport.appsync_websockets import AppSyncWebsocketsTransport
from gql.transport.exceptions import (
    TransportConnectionFailed,
    TransportError,
    TransportQueryError,
    TransportServerError,
)
from gql.transport.httpx import HTTPXAsyncTransport, HTTPXTransport
from gql.transport.requests import RequestsHTTPTransport
from gql.transport.websockets import WebsocketsTransport

from tocsin import CREATE_MESSAGE, ON_CREATE_MESSAGE, Checks, Server

LIST = gql("query ListTopics { listTopics { items { id name _version } nextToken } }")
CREATE_TOPIC = gql("mutation CreateTopic($n: String!) { createTopic(input: {name: $n}) { id name owner _version } }")
FOLLOW = gql(ON_CREATE_MESSAGE)
LIST_NOTICES = gql("{ listNotices { items { text } } }")
FOLLOW_NOTICES = gql("subscription { onCreateNotice { text } }")
CREATE_NOTICE = 'mutation { createNotice(input: {text: "open"}) { text } }'
# A model that bearers of a key may read, beside those that are shipped.
NOTICE = """
type Notice @model @auth(rules: [{ allow: public, operations: [read] }, { allow: owner }]) {
  id: ID!
  text: String!
}
"""
SECONDS = 15


class Suite:
    def __init__(self, server):
        self.server = server
        self.token = server.add_user("alice")
        self.other = server.add_user("bob")
        self.key = server.create_key()
        self.topic = server.create_topic(self.token, "alerts")
        self.bearer = {"Authorization": f"Bearer {self.token}"}
        self.titles = 0

    async def publish(self, token=None, topic=None):
        self.titles += 1
        title = f"title {self.titles}"
        await asyncio.to_thread(self.server.publish, token or self.token, topic or self.topic, title)
        return title

    # HTTP

    async def http_asynchronous(self):
        for make in (AIOHTTPTransport, HTTPXAsyncTransport):
            transport = make(url=self.server.address + "/graphql", headers=self.bearer)
            async with Client(transport=transport, fetch_schema_from_transport=True) as session:
                assert "Topic" in session.client.schema.type_map
                made = await session.execute(GraphQLRequest(CREATE_TOPIC, variable_values={"n": make.__name__}))
                assert made["createTopic"]["owner"] == "alice" and made["createTopic"]["_version"] == 1
                names = [item["name"] for item in (await session.execute(LIST))["listTopics"]["items"]]
                assert make.__name__ in names

    def http_synchronous(self):
        for make in (RequestsHTTPTransport, HTTPXTransport):
            with Client(transport=make(url=self.server.address + "/graphql", headers=self.bearer)) as session:
                assert session.execute(LIST)["listTopics"]["items"]

    def http_get(self):
        query = {"query": "query($n: String!) { getTopicByName(name: $n) { items { id } } }", "variables": '{"n":"alerts"}'}
        answer = httpx.get(self.server.address + "/graphql", params=query, headers=self.bearer)
        assert answer.json()["data"]["getTopicByName"]["items"][0]["id"] == self.topic
        answer = httpx.get(self.server.address + "/graphql", params={"query": "mutation { x }"}, headers=self.bearer)
        # What is not valid is not known to be a mutation; it is told as AppSync tells it.
        assert answer.status_code == 200 and answer.json().get("data") is None, answer.text
        query = {"query": 'mutation { createTopic(input: {name: "by GET"}) { id } }'}
        answer = httpx.get(self.server.address + "/graphql", params=query, headers=self.bearer)
        assert answer.status_code == 405 and answer.headers["allow"] == "POST", answer.text

    async def http_errors(self):
        url = self.server.address + "/graphql"
        async with Client(transport=AIOHTTPTransport(url=url, headers=self.bearer)) as session:
            for document in ("{ nothing }", "{ getTopic }"):
                try:
                    await session.execute(gql(document))
                    raise AssertionError("no error for " + document)
                except TransportQueryError as error:
                    assert error.errors[0]["message"]
        for headers in ({}, {"Authorization": "wrong"}):
            try:
                async with Client(transport=AIOHTTPTransport(url=url, headers=headers)) as session:
                    await session.execute(LIST)
                raise AssertionError("served without credentials")
            except TransportQueryError as error:
                # A body with errors counts more for this client than the status.
                assert error.errors[0]["errorType"] == "UnauthorizedException", error.errors

    def http_api_key(self):
        url = self.server.address + "/graphql"
        for credential, document in ((self.token, LIST), (self.key, LIST_NOTICES)):
            with Client(transport=RequestsHTTPTransport(url=url, headers={"x-api-key": credential})) as session:
                assert session.execute(document)
        for key, document, error_type in (
            (self.key, LIST, "Unauthorized"),
            ("da2-" + 26 * "a", LIST_NOTICES, "UnauthorizedException"),
        ):
            try:
                with Client(transport=RequestsHTTPTransport(url=url, headers={"x-api-key": key})) as session:
                    session.execute(document)
                raise AssertionError("served")
            except TransportQueryError as error:
                assert error.errors[0]["errorType"] == error_type, error.errors

    # graphql-transport-ws

    def _socket_transports(self, token):
        url = self.server.sockets + "/graphql"
        payload = {"Authorization": f"Bearer {token}"}
        protocol = [WebsocketsTransport.GRAPHQLWS_SUBPROTOCOL]
        return [
            WebsocketsTransport(url=url, init_payload=payload, subprotocols=protocol, ping_interval=1, pong_timeout=5),
            AIOHTTPWebsocketsTransport(url=url, init_payload=payload, subprotocols=protocol),
            WebsocketsTransport(url=url, headers={"Authorization": token}, subprotocols=protocol),
            # This client offers the old protocol's name as well, which AppSync's clients use too; the server chooses.
            WebsocketsTransport(url=url, init_payload=payload),
        ]

    async def socket_operations(self):
        for transport in self._socket_transports(self.token):
            async with Client(transport=transport) as session:
                name = f"socket {id(transport)}"
                made = await session.execute(GraphQLRequest(CREATE_TOPIC, variable_values={"n": name}))
                assert made["createTopic"]["name"] == name
                results = await asyncio.gather(*(session.execute(LIST) for _ in range(20)))
                assert all(name in [i["name"] for i in r["listTopics"]["items"]] for r in results)
                try:
                    await session.execute(gql("{ nothing }"))
                    raise AssertionError("no error")
                except TransportQueryError as error:
                    assert error.errors[0]["message"]
                assert (await session.execute(LIST))["listTopics"]["items"], "the socket goes on after an error"

    async def socket_subscriptions(self):
        for transport in self._socket_transports(self.token):
            async with Client(transport=transport) as session:
                await self._follow_two(session)

    async def _follow_two(self, session):
        """Two subscriptions on one connection: both hear of each message; one ends and the other goes on."""
        first, second = session.subscribe(FOLLOW), session.subscribe(FOLLOW)
        one, two = asyncio.ensure_future(anext(first)), asyncio.ensure_future(anext(second))
        title = await self._until_heard(one, two)
        assert one.result()["onCreateMessage"]["title"].startswith("title")
        await first.aclose()
        waiting = asyncio.ensure_future(self._title(second, None))
        last = await self.publish()
        while True:
            heard = await waiting
            if heard == last:
                break
            waiting = asyncio.ensure_future(self._title(second, None))
        await second.aclose()
        return title

    async def _title(self, generator, _):
        return (await anext(generator))["onCreateMessage"]["title"]

    async def _until_heard(self, *futures):
        """Publishes until all have heard: gql does not say when a subscription is live."""
        for _ in range(60):
            title = await self.publish()
            done, waiting = await asyncio.wait(futures, timeout=0.5)
            if not waiting:
                return title
        raise AssertionError("nothing was heard")

    async def socket_refusal(self):
        for transport in self._socket_transports("wrong")[:2]:
            try:
                async with Client(transport=transport) as session:
                    await session.execute(LIST)
                raise AssertionError("served with a wrong token")
            except TransportError:
                pass

    async def socket_error_ends_only_its_operation(self):
        transport = self._socket_transports(self.token)[0]
        async with Client(transport=transport) as session:
            try:
                async for _ in session.subscribe(gql('subscription { onCreateMessage(owner: "bob") { id } }')):
                    raise AssertionError("heard of another's messages")
            except TransportQueryError as error:
                assert error.errors[0]["extensions"]["code"] == "UNAUTHORIZED", error.errors
            await self._follow_two(session)

    # AppSync

    def _appsync_transports(self, token):
        for path in ("/graphql/realtime", "/graphql"):
            for auth in (
                AppSyncJWTAuthentication(host=self.server.host, jwt=token),
                AppSyncApiKeyAuthentication(host=self.server.host, api_key=token),
            ):
                yield AppSyncWebsocketsTransport(url=self.server.sockets + path, auth=auth, keep_alive_timeout=300)

    async def appsync_subscriptions(self):
        for transport in self._appsync_transports(self.token):
            async with Client(transport=transport) as session:
                await self._follow_two(session)

    async def appsync_api_key(self):
        """A key follows a model that is public, on both paths, and nothing else."""
        for path in ("/graphql/realtime", "/graphql"):
            auth = AppSyncApiKeyAuthentication(host=self.server.host, api_key=self.key)
            transport = AppSyncWebsocketsTransport(url=self.server.sockets + path, auth=auth)
            async with Client(transport=transport) as session:
                try:
                    await anext(session.subscribe(FOLLOW))
                    raise AssertionError("heard of messages")
                except TransportQueryError as error:
                    assert error.errors[0]["errors"][0]["errorType"] == "Unauthorized", error.errors
                generator = session.subscribe(FOLLOW_NOTICES)
                heard = asyncio.ensure_future(anext(generator))
                for _ in range(60):
                    await asyncio.to_thread(self.server.post, self.token, CREATE_NOTICE)
                    if (await asyncio.wait([heard], timeout=0.5))[0]:
                        break
                assert heard.result() == {"onCreateNotice": {"text": "open"}}
                await generator.aclose()

    async def appsync_refusals(self):
        unknown = (t for credential in ("wrong", "da2-" + 26 * "a") for t in self._appsync_transports(credential))
        for transport in unknown:
            try:
                async with Client(transport=transport) as session:
                    await anext(session.subscribe(FOLLOW))
                raise AssertionError("served with a wrong token")
            except (TransportServerError, TransportConnectionFailed, TransportError) as error:
                assert "nauthorized" in str(error) or "not authorized" in str(error), error

    async def appsync_signatures(self):
        """Requests signed for AWS are refused as any other credentials that are not known here."""
        credentials = botocore.credentials.Credentials("AKIDEXAMPLE", "secret")
        for path in ("/graphql/realtime", "/graphql"):
            auth = AppSyncIAMAuthentication(self.server.host, region_name="eu-west-1", credentials=credentials)
            transport = AppSyncWebsocketsTransport(url=self.server.sockets + path, auth=auth)
            try:
                async with Client(transport=transport) as session:
                    await anext(session.subscribe(FOLLOW))
                raise AssertionError("served with a signature")
            except (TransportServerError, TransportConnectionFailed, TransportError) as error:
                assert "nauthorized" in str(error) or "not authorized" in str(error), error
        signature = "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20260701/eu-west-1/appsync/aws4_request, Signature=00"
        answer = httpx.post(
            self.server.address + "/graphql", json={"query": "{ __typename }"}, headers={"Authorization": signature}
        )
        assert answer.status_code == 401, answer.text
        assert answer.json()["errors"][0]["errorType"] == "UnauthorizedException", answer.text

    async def appsync_errors(self):
        transport = next(iter(self._appsync_transports(self.token)))
        async with Client(transport=transport) as session:
            for document in (
                'subscription { onCreateMessage(owner: "bob") { id } }',
                "subscription { onCreateMessage { nothing } }",
                "subscription { unknown }",
            ):
                try:
                    async for _ in session.subscribe(gql(document)):
                        raise AssertionError("heard something")
                except TransportQueryError as error:
                    # This client takes the whole payload for the one error.
                    first = error.errors[0]["errors"][0]
                    assert first["errorType"] and first["message"], (document, error.errors)
            await self._follow_two(session)

    async def appsync_isolation(self):
        transport = next(iter(self._appsync_transports(self.other)))
        async with Client(transport=transport) as session:
            mine = await asyncio.to_thread(self.server.create_topic, self.other, "bob's")
            generator = session.subscribe(FOLLOW)
            waiting = asyncio.ensure_future(anext(generator))
            for _ in range(40):
                await self.publish()
                await self.publish(self.other, mine)
                done, _ = await asyncio.wait([waiting], timeout=0.5)
                if done:
                    break
            assert waiting.result()["onCreateMessage"]["owner"] == "bob"
            await generator.aclose()

    async def amplify_openings(self):
        """Swift and Android send plain fields, JS a subprotocol; each subscription brings its token again."""
        encoded = base64.urlsafe_b64encode(json.dumps({"host": self.server.host, "Authorization": self.token}).encode())
        header = "header-" + encoded.decode().rstrip("=")
        for subprotocols, fields in (
            (["graphql-ws"], {"Authorization": self.token, "host": self.server.host}),
            (["graphql-ws", header], {}),
            (["graphql-ws"], {"x-api-key": self.token}),
        ):
            fields.pop("host", None)
            async with websockets.connect(
                self.server.sockets + "/graphql/realtime", subprotocols=subprotocols, additional_headers=fields
            ) as socket:
                assert socket.subprotocol == "graphql-ws"
                await socket.send('{"type":"connection_init"}')
                ack = json.loads(await socket.recv())
                assert ack == {"type": "connection_ack", "payload": {"connectionTimeoutMs": 300000}}, ack
                assert json.loads(await socket.recv()) == {"type": "ka"}
                data = json.dumps(
                    {
                        "query": "subscription OnCreateMessage($owner: String!) { onCreateMessage(owner: $owner)"
                        " { id title owner _version } }",
                        "variables": {"owner": "alice"},
                    }
                )
                authorization = {"host": self.server.host, "Authorization": self.token}
                await socket.send(
                    json.dumps(
                        {
                            "id": "5C1E8B52-7D0E",
                            "type": "start",
                            "payload": {"data": data, "extensions": {"authorization": authorization}},
                        }
                    )
                )
                assert json.loads(await socket.recv()) == {"id": "5C1E8B52-7D0E", "type": "start_ack"}
                title = await self.publish()
                event = json.loads(await socket.recv())
                assert event["type"] == "data" and event["id"] == "5C1E8B52-7D0E"
                assert event["payload"]["data"]["onCreateMessage"]["title"] == title, event
                await socket.send('{"id":"5C1E8B52-7D0E","type":"stop"}')
                assert json.loads(await socket.recv()) == {"id": "5C1E8B52-7D0E", "type": "complete"}

    # Server-sent events

    async def event_stream(self):
        headers = {**self.bearer, "Accept": "text/event-stream"}
        async with httpx.AsyncClient(timeout=SECONDS) as client:
            body = {"query": ON_CREATE_MESSAGE}
            async with client.stream("POST", self.server.address + "/graphql", json=body, headers=headers) as answer:
                assert answer.status_code == 200 and answer.headers["content-type"].startswith("text/event-stream")
                lines = answer.aiter_lines()

                async def event():
                    fields = {}
                    async for line in lines:
                        if line == "" and fields:
                            return fields
                        name, _, value = line.partition(": ")
                        if name:
                            fields[name] = value

                waiting = asyncio.ensure_future(event())
                await self._until_heard(waiting)
                heard = waiting.result()
                message = json.loads(heard["data"])["data"]["onCreateMessage"]
                assert heard["event"] == "next" and heard["id"] == message["cursor"], heard
            query = await client.get(
                self.server.address + "/graphql", params={"query": "{ __typename }"}, headers=headers
            )
            assert query.text == 'event: next\ndata: {"data":{"__typename":"Query"}}\n\nevent: complete\ndata:\n\n'


async def echo(binary):
    """Two client libraries against `tocsin dev ws-echo`."""
    process = await asyncio.create_subprocess_exec(
        binary, "dev", "ws-echo", "--port", "0", stdout=asyncio.subprocess.PIPE
    )
    try:
        address = (await asyncio.wait_for(process.stdout.readline(), SECONDS)).decode().strip()
        for message in ("", "é" * 40_000, bytes(range(256)) * 4096):
            async with websockets.connect(address, max_size=None) as socket:
                await socket.send(message)
                assert await socket.recv() == message
                await (await socket.ping())
            async with aiohttp.ClientSession() as session:
                async with session.ws_connect(address, max_msg_size=0) as socket:
                    await (socket.send_str if isinstance(message, str) else socket.send_bytes)(message)
                    assert (await socket.receive()).data == message
    finally:
        process.terminate()
        await process.wait()


async def run(suite, checks, binary):
    names = [name for name in vars(Suite) if not name.startswith("_") and name != "publish"]
    for name in names:
        try:
            check = getattr(suite, name)
            if asyncio.iscoroutinefunction(check):
                await asyncio.wait_for(check(), 120)
            else:
                await asyncio.wait_for(asyncio.to_thread(check), 120)
            checks.report(name)
        except Exception as error:
            checks.report(name, error)
    try:
        await asyncio.wait_for(echo(binary), 60)
        checks.report("echo")
    except Exception as error:
        checks.report("echo", error)


def main():
    binary = sys.argv[1]
    checks = Checks()
    with tempfile.NamedTemporaryFile("w", suffix=".graphql") as schema:
        shipped = pathlib.Path(__file__).parents[2] / "schema" / "model.graphql"
        schema.write(shipped.read_text() + NOTICE)
        schema.flush()
        server = Server(binary, "--schema", schema.name)
    try:
        asyncio.run(run(Suite(server), checks, binary))
    finally:
        status = server.stop()
    if status != 0:
        checks.report("the server stops", RuntimeError(f"status {status}, log in {server.folder}"))
    checks.end()


main()
