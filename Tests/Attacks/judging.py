"""5, 6: filters of subscriptions and conditions of mutations that are slow to judge."""

import asyncio
import time
import uuid

from client import Connection, Socket, frame, make_topic, publish, subscription
from reads import needle
from stage import attack

NOTES = """
type Topic @model @auth(rules: [{ allow: owner }]) {
  id: ID!
  name: String! @index(name: "byName", queryField: "getTopicByName")
  arn: String!
}
type Message @model @auth(rules: [{ allow: owner, operations: [create, read] }]) {
  id: ID!
  type: Int!
  title: String!
  body: String!
  createdAt: AWSDateTime!
  topicId: ID! @index(name: "byTopicIdAndCreatedAt", sortKeyFields: ["createdAt"], queryField: "getMessageByTopicIdAndCreatedAt")
}
type Note @model @auth(rules: [{ allow: owner }]) { id: ID! text: String! count: Int }
"""


@attack("filters", makes_load=True)
async def slow_filters(stage):
    async def prepare(server):
        return server.add_user("mallory")

    server, victim, token = await stage.scene(prepare)
    said = await stage.under(server, victim, 4 if stage.is_short else 10, subscribe_slowly, token)
    stage.findings[-1].text += f", {said}"


def subscribe_slowly(place, token, seconds):
    """A hundred subscriptions with ten searches each, and a large message a second."""

    async def run():
        connection = Connection(place, token)
        topic = await make_topic(connection, f"mallory's {uuid.uuid4()}")
        socket = await Socket.open(place, token)
        asyncio.ensure_future(drain(socket))
        query = "subscription($f: ModelSubscriptionMessageFilterInput) { onCreateMessage(filter: $f) { id } }"
        for number in range(100):
            searches = [{"body": {"contains": needle(f"{number} {part}")}} for part in range(10)]
            socket.send(subscription(str(number), query, {"f": {"or": searches}}))
        socket.send(frame({"type": "ping"}))
        await asyncio.sleep(0.5)
        end, count = time.monotonic() + seconds - 0.5, 0
        while time.monotonic() < end:
            await publish(connection, topic, "large", "a" * 262_144)
            count += 1
            await asyncio.sleep(1)
        return f"{count} large messages"

    return asyncio.run(run())


async def drain(socket):
    while True:
        await socket.next()


@attack("conditions", makes_load=True)
async def slow_conditions(stage):
    async def prepare(server):
        token = server.add_user("mallory")
        connection = Connection(server.place, token)
        create = "mutation($i: CreateNoteInput!) { createNote(input: $i) { id } }"
        note = (await connection.graphql(create, i={"text": "a" * 65_000, "count": 0})).data["createNote"]["id"]
        connection.close()
        return token, note

    server, victim, (token, note) = await stage.scene(prepare, schema=NOTES)
    said = await stage.under(
        server, victim, 4 if stage.is_short else 10, update_slowly, token, note, 20 if stage.is_short else 60
    )
    stage.findings[-1].text += f", {said}"


def update_slowly(place, token, note, count, seconds):
    """So many updates at once, each with nearly twenty searches, again and again."""
    update = """
    mutation($i: UpdateNoteInput!, $c: ModelNoteConditionInput) { updateNote(input: $i, condition: $c) { id } }
    """
    condition = {"or": [{"text": {"contains": needle(part)}} for part in range(19)]}
    answers = {}

    async def one(end):
        connection = Connection(place, token)
        while time.monotonic() < end:
            answer = await connection.graphql(update, i={"id": note, "count": 1, "_version": 1}, c=condition)
            code = answer.error_code
            answers[code] = answers.get(code, 0) + 1

    async def run():
        end = time.monotonic() + seconds
        await asyncio.gather(*(one(end) for _ in range(count)), return_exceptions=True)

    asyncio.run(run())
    return answers
