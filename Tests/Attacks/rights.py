"""7, 8, 11: pushes to those who lost their right, a token that may only write, names taken for another's."""

import asyncio
import base64
import hashlib
import hmac
import json
import time
import uuid

from client import CREATE_MESSAGE, REGISTER, Connection, make_topic, phone, publish
from server import wait_until
from stage import attack

SECRET = "a shared secret of more than 32 bytes, for tests"
ISSUER = {
    "TOCSIN_JWT_ISSUER": "https://sign-in.example.com/pool",
    "TOCSIN_JWT_AUDIENCE": "the-app",
    "TOCSIN_JWT_HS256_SECRET": SECRET,
}
MODEL = """
type Topic @model @auth(rules: [{ allow: owner }%s]) {
  id: ID!
  name: String! @index(name: "byName", queryField: "getTopicByName")
  arn: String!
  readers: [String]
}
type Message @model @auth(rules: [{ allow: owner, operations: [create, read] }%s]) {
  id: ID!
  type: Int!
  title: String!
  body: String!
  createdAt: AWSDateTime!
  topicId: ID! @index(name: "byTopicIdAndCreatedAt", sortKeyFields: ["createdAt"], queryField: "getMessageByTopicIdAndCreatedAt")
}
"""
ANYBODY = ", { allow: private, operations: [read] }"
LISTED = ', { allow: owner, ownerField: "readers", operations: [read] }, { allow: groups, groups: ["staff"], operations: [read] }'


def issued_token(subject, **claims):
    """A token of a sign-in provider that shares a secret with the server."""
    now = int(time.time())
    claims = {
        "iss": ISSUER["TOCSIN_JWT_ISSUER"],
        "aud": ISSUER["TOCSIN_JWT_AUDIENCE"],
        "sub": subject,
        "iat": now,
        "exp": now + 3600,
        **claims,
    }

    def part(data):
        return base64.urlsafe_b64encode(data).rstrip(b"=")

    signed = part(b'{"alg":"HS256","typ":"JWT"}') + b"." + part(json.dumps(claims).encode())
    return (signed + b"." + part(hmac.new(SECRET.encode(), signed, hashlib.sha256).digest())).decode()


async def join(server, token, topic):
    """Somebody else's phone that wants the topic's pushes; the answer to that, too."""
    connection, device = Connection(server.place, token), phone()
    (await connection.graphql(REGISTER, t=device)).data
    answer = await connection.graphql("mutation($t: ID!) { subscribeToTopic(topicId: $t) { topicId } }", t=topic)
    connection.close()
    return device, answer


async def expect_pushes(stage, server, alice, topic, phones):
    """Publishes, waits for Alice's own push and a while longer, and says who else got it."""
    title = str(uuid.uuid4())
    await publish(alice, topic, title)
    arrival = server.simulator.arrival
    wait = asyncio.get_running_loop().run_in_executor
    await wait(None, wait_until, lambda: arrival(phones["alice"], title), 60, "the owner's own phone gets the push")
    await asyncio.sleep(2)
    return sorted(name for name, device in phones.items() if name != "alice" and arrival(device, title))


@attack("pushes")
async def pushes_after_access(stage):
    # Everybody may read messages; the topic is for those listed and for staff.
    server = stage.server(ISSUER, MODEL % (LISTED, ANYBODY), pushes=True)
    server.start()
    alice = Connection(server.place, server.add_user("alice"))
    tokens = {name: server.add_user(name) for name in ("bob", "carol")}
    tokens["dave"] = issued_token("dave-1", **{"cognito:groups": ["staff"]})
    readers = [server.user_id("bob"), server.user_id("carol")]
    topic = await make_topic(alice, "shared", readers=readers)
    phones = {"alice": phone()}
    (await alice.graphql(REGISTER, t=phones["alice"])).data
    for name, token in tokens.items():
        phones[name], answer = await join(server, token, topic)
        answer.data
    got = await expect_pushes(stage, server, alice, topic, phones)
    stage.fact(f"before, {got} get the push", got == ["bob", "carol", "dave"])

    server.administer("user", "disable", "carol")
    update = "mutation($i: UpdateTopicInput!) { updateTopic(input: $i) { id } }"
    (await alice.graphql(update, i={"id": topic, "readers": readers[1:], "_version": 1})).data
    dave = Connection(server.place, issued_token("dave-1", **{"cognito:groups": []}))
    (await dave.graphql("{ me { userId } }")).data
    got = await expect_pushes(stage, server, alice, topic, phones)
    stage.fact(f"after Bob left the list, Carol was disabled, Dave lost the group, {got or 'nobody'} gets it", got == [])


@attack("pushes-of-unreadable")
async def pushes_of_messages_one_may_not_read(stage):
    server = stage.server(schema=MODEL % (ANYBODY, ""), pushes=True)
    server.start()
    alice, bob = Connection(server.place, server.add_user("alice")), server.add_user("bob")
    topic = await make_topic(alice, "seen by all, read by one")
    phones = {"alice": phone()}
    (await alice.graphql(REGISTER, t=phones["alice"])).data
    phones["bob"], _ = await join(server, bob, topic)
    got = await expect_pushes(stage, server, alice, topic, phones)
    stage.fact(f"of a message he may not read, {got or 'nobody'} gets a push", got == [])


@attack("pushes-signed-out")
async def pushes_without_a_token_left(stage):
    settings = {"TOCSIN_PUSH_REQUIRES_SIGN_IN": "true"}
    server = stage.server(settings, MODEL % (ANYBODY, ANYBODY), pushes=True)
    server.start()
    alice, bob = Connection(server.place, server.add_user("alice")), server.add_user("bob")
    topic = await make_topic(alice, "for all")
    phones = {"alice": phone()}
    (await alice.graphql(REGISTER, t=phones["alice"])).data
    phones["bob"], _ = await join(server, bob, topic)
    got = await expect_pushes(stage, server, alice, topic, phones)
    stage.fact(f"with a token, {got} gets the push", got == ["bob"])
    for id in server.token_ids("bob"):
        server.administer("token", "revoke", id)
    got = await expect_pushes(stage, server, alice, topic, phones)
    stage.fact(f"after it was revoked, {got or 'nobody'} gets it", got == [])


@attack("publish-only")
async def conflict_shows_nothing(stage):
    server = stage.server().start()
    alice = Connection(server.place, server.add_user("alice"))
    own, other = await make_topic(alice, "own"), await make_topic(alice, "other")
    id = str(uuid.uuid4())
    await publish(alice, other, "a secret title", "a secret body", id=id)
    publisher = Connection(server.place, server.token("alice", "--publish", "own"))
    create = CREATE_MESSAGE.replace("{ id number }", "{ id title body }")
    answer = await publisher.graphql(create, i={"topicId": own, "type": 0, "title": "t", "body": "b", "id": id})
    stage.fact(f"a guessed id: {answer.error_code}, {len(answer.body)} bytes", answer.json.get("errors"))
    stage.fact("no text of the other topic", b"secret" not in answer.body and other.encode() not in answer.body)
    shown = await alice.graphql(create, i={"topicId": own, "type": 0, "title": "t", "body": "b", "id": id})
    stage.fact("its reader sees what is stored", b"a secret title" in shown.body)


@attack("shared-names")
async def names_mean_one_person(stage):
    server = stage.server(ISSUER, MODEL % (LISTED, ""))
    server.start()
    alice, bob = (Connection(server.place, server.add_user(name)) for name in ("alice", "bob"))
    id = server.user_id("bob")
    by_name, by_id = await make_topic(alice, "by name", readers=["bob"]), await make_topic(alice, "by id", readers=[id])
    impostors = {
        "whose sub is bob": (issued_token("bob", username="mallory"), by_name),
        "whose name is Bob's id": (issued_token("subject-9", username=id), by_id),
    }
    for who, (token, topic) in impostors.items():
        mallory = Connection(server.place, token)
        stage.fact(f"a caller {who} sees nothing of what Bob may read", not await sees(mallory, topic))
    stage.fact("Bob sees both", await sees(bob, by_name) and await sees(bob, by_id))


async def sees(connection, topic):
    answer = await connection.graphql("query($t: ID!) { getTopic(id: $t) { name } }", t=topic)
    return b'"name":"by' in answer.body
