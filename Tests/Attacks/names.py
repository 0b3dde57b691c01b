"""9, 10: what page tokens, indexes and ids tell about others."""

import base64
import uuid

from client import CREATE_MESSAGE, CREATE_TOPIC, Connection, make_topic, publish
from rights import MODEL
from stage import attack

GUARDED = MODEL % ("", "") + """
type Person @model @auth(rules: [{ allow: owner }, { allow: private, operations: [read] }]) {
  id: ID!
  team: String! @index(name: "byTeam", sortKeyFields: ["salary"], queryField: "peopleByTeam")
  salary: Int! @auth(rules: [{ allow: owner }])
}
"""


@attack("page-tokens")
async def page_tokens_are_sealed(stage):
    server = stage.server().start()
    alice = Connection(server.place, server.add_user("alice"))
    topic = await make_topic(alice, "alerts")
    ids = [(await publish(alice, topic, f"title {number}"))["id"] for number in range(3)]
    query = "query($t: ID!) { getMessageByTopicIdAndCreatedAt(topicId: $t, limit: 2) { items { id createdAt } nextToken } }"
    page = (await alice.graphql(query, t=topic)).data["getMessageByTopicIdAndCreatedAt"]
    token = page["nextToken"]
    shown = token.encode() + b"".join(
        base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)) for part in token.split(".")
    )
    told = [value for row in page["items"] for value in row.values() if value.encode() in shown]
    told += [value for value in (topic, *ids) if value.encode() in shown]
    stage.fact(f"a page token shows {told or 'nothing'}", not told)


@attack("guarded-index", touches_data=False)
async def guarded_index_is_refused(stage):
    server = stage.server(schema=GUARDED)
    try:
        server.start()
        said = "nothing: it starts"
    except AssertionError as error:
        said = str(error).strip().splitlines()[-1]
    stage.fact(f"of an index over a guarded field the start says {said[-160:]}", "salary" in said)


@attack("ids")
async def ids_of_ones_own(stage):
    server = stage.server().start()
    alice, bob = (Connection(server.place, server.add_user(name)) for name in ("alice", "bob"))
    topics = [await make_topic(connection, "alerts") for connection in (bob, alice)]
    for connection, topic in zip((bob, alice), topics):
        message = {"topicId": topic, "type": 0, "title": "t", "body": "b", "id": "incident-7"}
        answer = await connection.graphql(CREATE_MESSAGE, i=message)
        is_named = b"key" in answer.body
        stage.fact(f"incident-7: {answer.error_code}", answer.error_code == "BAD_USER_INPUT" and is_named)
    answer = await alice.graphql(CREATE_TOPIC, i={"name": "another", "id": "incident-7"})
    stage.fact(f"as a topic: {answer.error_code}", answer.error_code == "BAD_USER_INPUT")
    for id in (str(uuid.uuid4()), "01ARZ3NDEKTSV4RRFFQ69G5FAV"):
        stage.fact(f"{id} is taken", (await publish(alice, topics[1], "t", id=id))["id"] == id)
    for connection, topic in zip((bob, alice), topics):
        first, again = [await publish(connection, topic, "t", key="incident-7") for _ in range(2)]
        stage.fact("a key is each owner's own", first == again and first["number"] is not None)
