"""Access that ends on one of three nodes, which nobody wakes or nobody wakes any more: how long the others go on to serve."""

import asyncio
import time

from client import Connection, Socket, SocketClosed, make_topic, publish
from relay import Relay
from server import wait_until
from stage import attack, milliseconds

SHARE = "mutation($i: GrantInput!) { grantTopic(input: $i) { id } }"
REVOKE = "mutation($id: ID!) { revokeGrant(id: $id) { id } }"
LEAVE = "mutation($id: ID!) { leaveTopic(topicId: $id) { topicId } }"
ADD = "mutation($g: ID!, $u: String!) { addGroupMember(groupId: $g, user: $u) { id } }"
REMOVE = "mutation($g: ID!, $u: String!) { removeGroupMember(groupId: $g, user: $u) { id } }"
CREATE_GROUP = "mutation($n: String!) { createGroup(name: $n) { id } }"
DELETE_GROUP = "mutation($id: ID!) { deleteGroup(id: $id) { id } }"
CREATE_TOKEN = 'mutation { createToken(input: { name: "another", scopes: ["full"] }) { text token { id } } }'
REVOKE_TOKEN = "mutation($id: ID!) { revokeToken(id: $id) { id } }"
DISABLE = "mutation($id: ID!, $is: Boolean!) { setUserDisabled(id: $id, disabled: $is) { id } }"
SIGN_IN = "mutation($u: String!, $p: String!) { signIn(username: $u, password: $p) { token } }"
EVENTS = "subscription($t: ID) { onCreateMessage(topicId: $t) { title } }"
READ = "query($t: ID!) { getTopic(id: $t) { lastNumber } }"
# For one wait of the preparations, however busy the machine.
PATIENCE = 60


class People:
    """Ada, an admin, her topic, and one more person for each way in which access ends."""

    @classmethod
    async def make(cls, server):
        self = cls()
        self.place, self._server = server.place, server
        token = server.add_user("ada")
        server.administer("user", "admin", "ada")
        self.ada = Connection(server.place, token)
        self.topic = await make_topic(self.ada, "alerts")
        self.tokens, self.night = {}, None
        return self

    async def add(self, name, password=None, reads=False):
        """A user, once, with a token; one who `reads` is given the topic for good."""
        if name not in self.tokens:
            create = "mutation($n: String!, $p: String) { createUser(name: $n, password: $p) { id } }"
            (await self.ada.graphql(create, n=name, p=password)).data
            self.tokens[name] = self._server.token(name)
            if reads:
                await self.share(user=name)
        return self.tokens[name]

    def reading(self, **more):
        return {"topicId": self.topic, "roles": ["READER"], **more}

    async def share(self, **subject):
        return (await self.ada.graphql(SHARE, i=self.reading(**subject))).data["grantTopic"]["id"]

    async def group(self, name, member):
        """A group of one, with which the topic is shared."""
        made = (await self.ada.graphql(CREATE_GROUP, n=name)).data["createGroup"]["id"]
        (await self.ada.graphql(ADD, g=made, u=member)).data
        await self.share(group=name)
        return made

    def asking(self, query, **variables):
        """What Ada does at its time."""
        return lambda: self.ada.graphql(query, **variables)

    def as_bearer(self, token, query, **variables):
        """What somebody else does at its time."""
        connection = Connection(self.place, token)
        return lambda: connection.graphql(query, **variables)


# Each gives somebody access once more, and answers the token that reads, and what ends it. A topic
# is shared as seldom as can be: Ada may name 30 users a minute.


async def grant_is_revoked(people):
    token = await people.add("bob")
    return token, people.asking(REVOKE, id=await people.share(user="bob"))


async def grant_runs_out(people):
    token = await people.add("ivan")
    await people.share(user="ivan")

    async def run_out():
        # Long enough for the answer of a busy server.
        at = time.time() + 2
        text = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(at)) + f".{int(at % 1 * 1000):03}Z"
        answer = await people.asking(SHARE, i=people.reading(user="ivan", expiresAt=text))()
        await asyncio.sleep(at - time.time())
        return answer

    return token, run_out


async def person_leaves(people):
    token = await people.add("carol")
    await people.share(user="carol")
    return token, people.as_bearer(token, LEAVE, id=people.topic)


async def member_is_removed(people):
    token = await people.add("dora")
    people.night = people.night or await people.group("night", "dora")
    (await people.ada.graphql(ADD, g=people.night, u="dora")).data
    return token, people.asking(REMOVE, g=people.night, u="dora")


async def group_is_deleted(people):
    token = await people.add("erin")
    return token, people.asking(DELETE_GROUP, id=await people.group("day", "erin"))


async def token_is_revoked(people):
    first = await people.add("frank", reads=True)
    made = (await people.as_bearer(first, CREATE_TOKEN)()).data["createToken"]
    return made["text"], people.as_bearer(first, REVOKE_TOKEN, id=made["token"]["id"])


async def user_is_disabled(people):
    token = await people.add("grace", reads=True)
    find = '{ user(name: "grace") { id } }'
    id = (await people.ada.graphql(find)).data["user"]["id"]
    (await people.ada.graphql(DISABLE, **{"id": id, "is": False})).data
    return token, people.asking(DISABLE, **{"id": id, "is": True})


async def session_is_ended(people):
    password = "correct horse battery"
    await people.add("heidi", password, reads=True)
    stranger = Connection(people.place)
    token = (await stranger.graphql(SIGN_IN, u="heidi", p=password)).data["signIn"]["token"]
    stranger.close()
    return token, people.as_bearer(token, "mutation { signOut }")


ENDINGS = [
    grant_is_revoked, grant_runs_out, person_leaves, member_is_removed, group_is_deleted, token_is_revoked, user_is_disabled,
    session_is_ended,
]


@attack("ended-access", needs_nodes=True)
async def access_ends_everywhere(stage):
    """One listens on the second node, one asks the third all the time; access ends on the first. No node is ever woken."""
    await end_in_all_ways(stage, stage.nodes(3), rounds=1 if stage.is_short else 5)


@attack("ended-access-cut", needs_nodes=True)
async def access_ends_behind_a_cut(stage):
    """The same on nodes that wake each other, until their listening lines fall silent in the moment of the end."""
    relay = Relay(stage.postgres)
    try:
        nodes = stage.nodes(3, relay)
        await end_in_all_ways(stage, nodes, rounds=1 if stage.is_short else 5, relay=relay)
    finally:
        stage.remove()
        relay.close()


async def end_in_all_ways(stage, nodes, rounds, relay=None):
    first, second, third = nodes
    people = await People.make(first)
    for ending in ENDINGS:
        lasted = []
        for _ in range(rounds):
            if relay:
                relay.mend()
                wait_until(lambda: relay.listening() == len(nodes), PATIENCE, "all nodes listen")
            lasted.append(await end_once(stage, people, ending, second.place, third.place, relay))
        heard, read = (max(times) for times in zip(*lasted))
        words, bound = ending.__name__.replace("_", " "), stage.bounds.ending
        text = f"{words}: heard for {milliseconds(heard)}, read for {milliseconds(read)} (≤ {milliseconds(bound)})"
        stage.fact(text, max(heard, read) <= bound)


async def end_once(stage, people, ending, listens_at, asks_at, relay):
    """How long after the answer the subscription was kept, and the topic was shown."""
    token, end = await ending(people)
    reader = Connection(asks_at, token)
    await until_readable(reader, people.topic)
    socket = await until_live(listens_at, token, people.topic)
    await publish(people.ada, people.topic, "before")
    assert await next_title(socket) == "before", "the subscription is not live"
    listening = asyncio.ensure_future(until_ended(socket))
    asking = asyncio.ensure_future(until_refused(reader, people.topic))
    if relay:
        relay.cut()
    (await end()).data
    ended = time.monotonic()
    times = [max(0, at - ended) for at in await asyncio.wait_for(asyncio.gather(listening, asking), PATIENCE)]
    if relay and relay.swallowed == 0:
        stage.fact(f"{ending.__name__}: nobody rang, so the cut shows nothing", False)
    if await is_readable(reader, people.topic):
        stage.fact(f"{ending.__name__}: what was refused is shown again", False)
    socket.close()
    reader.close()
    return times


async def is_readable(reader, topic):
    answer = await reader.graphql(READ, t=topic)
    return answer.status == 200 and bool((answer.json.get("data") or {}).get("getTopic"))


async def until_readable(reader, topic):
    deadline = time.monotonic() + PATIENCE
    while not await is_readable(reader, topic):
        assert time.monotonic() < deadline, "what was given is not shown"
        await asyncio.sleep(0.05)


async def until_refused(reader, topic):
    """When the answer came that showed the topic no more; it is asked for all the time."""
    while await is_readable(reader, topic):
        await asyncio.sleep(0.01)
    return time.monotonic()


async def until_live(place, token, topic):
    """A socket whose subscription is live; what was given a moment ago may not have come to this node."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            socket = await Socket.open(place, token)
            await socket.subscribe(EVENTS, t=topic)
            return socket
        except (AssertionError, SocketClosed):
            assert time.monotonic() < deadline, "no subscription is live"
            await asyncio.sleep(0.05)


async def next_title(socket):
    return (await asyncio.wait_for(socket.next(), PATIENCE))["payload"]["data"]["onCreateMessage"]["title"]


async def until_ended(socket):
    """When the subscription was ended, or its socket closed; nothing may be heard any more before."""
    try:
        message = await socket.next()
        assert message["type"] == "error", message
    except SocketClosed:
        pass
    return time.monotonic()
