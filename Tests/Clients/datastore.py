"""Synchronises with the built server as Amplify's DataStore does, carried by gql: subscriptions first, then sync, then
mutations with their versions, conflicts and tombstones. Use: datastore.py BINARY"""

import asyncio
import sys
import uuid

from gql import Client, GraphQLRequest, gql
from gql.transport.aiohttp import AIOHTTPTransport
from gql.transport.appsync_auth import AppSyncJWTAuthentication
from gql.transport.appsync_websockets import AppSyncWebsocketsTransport
from gql.transport.exceptions import TransportQueryError

from tocsin import Checks, Server

# Amplify for Swift: id first, the others by the alphabet, then what DataStore keeps of each row.
FIELDS = "id arn createdAt name updatedAt __typename _version _deleted _lastChangedAt owner"
SYNC = f"""
query SyncTopics($filter: ModelTopicFilterInput, $lastSync: AWSTimestamp, $limit: Int, $nextToken: String) {{
  syncTopics(filter: $filter, lastSync: $lastSync, limit: $limit, nextToken: $nextToken) {{
    items {{ {FIELDS} }} nextToken startedAt
  }}
}}
"""


def mutation(kind):
    return f"""
mutation {kind}Topic($condition: ModelTopicConditionInput, $input: {kind}TopicInput!) {{
  {kind.lower()}Topic(condition: $condition, input: $input) {{ {FIELDS} }}
}}
"""


def subscription(kind):
    return f"subscription On{kind}Topic($owner: String!) {{ on{kind}Topic(owner: $owner) {{ {FIELDS} }} }}"


class Device:
    """One app: its HTTP session, and what its three subscriptions brought."""

    def __init__(self, server, token):
        self.server = server
        self.token = token
        self.heard = {"Create": {}, "Update": {}, "Delete": {}}

    async def __aenter__(self):
        url = self.server.address + "/graphql"
        self._http = Client(transport=AIOHTTPTransport(url=url, headers={"Authorization": self.token}))
        self.session = await self._http.__aenter__()
        auth = AppSyncJWTAuthentication(host=self.server.host, jwt=self.token)
        url = self.server.sockets + "/graphql/realtime"
        self._socket = Client(transport=AppSyncWebsocketsTransport(url=url, auth=auth))
        live = await self._socket.__aenter__()
        self._tasks = [asyncio.ensure_future(self._follow(live, kind)) for kind in self.heard]
        await self._until_live()
        return self

    async def __aexit__(self, *arguments):
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._socket.__aexit__(*arguments)
        await self._http.__aexit__(*arguments)

    async def _follow(self, live, kind):
        request = GraphQLRequest(subscription(kind), variable_values={"owner": "alice"})
        async for event in live.subscribe(request):
            topic = event[f"on{kind}Topic"]
            self.heard[kind][topic["id"], topic["_version"]] = topic

    async def _until_live(self):
        """gql does not say when a subscription is acknowledged: changes are made until all three have heard of one."""
        for _ in range(60):
            if all(self.heard.values()):
                return
            made = await self.mutate("Create", id=str(uuid.uuid4()).upper(), name="probe", arn="a")
            await self.mutate("Update", id=made["id"], name="probed", _version=1)
            await self.mutate("Delete", id=made["id"], _version=2)
            await asyncio.sleep(0.1)
        raise AssertionError("the subscriptions heard nothing")

    async def mutate(self, kind, condition=None, **given):
        variables = {"input": given}
        if condition is not None:
            variables["condition"] = condition
        answer = await self.session.execute(GraphQLRequest(mutation(kind), variable_values=variables))
        return answer[f"{kind.lower()}Topic"]

    async def refused(self, kind, condition=None, **given):
        """The only error of a mutation that must fail."""
        try:
            made = await self.mutate(kind, condition, **given)
        except TransportQueryError as error:
            assert len(error.errors) == 1, error.errors
            return error.errors[0]
        raise AssertionError(f"{kind} was taken: {made}")

    async def sync(self, **variables):
        answer = await self.session.execute(GraphQLRequest(SYNC, variable_values=variables))
        return answer["syncTopics"]

    async def event(self, kind, topic):
        """What the subscription told of this row and version."""
        for _ in range(200):
            found = self.heard[kind].get((topic["id"], topic["_version"]))
            if found:
                return found
            await asyncio.sleep(0.05)
        raise AssertionError(f"no event for {topic}")


class Suite:
    def __init__(self, device, other):
        self.device = device
        self.other = other

    async def a_row_lives_and_dies(self):
        """Create, update, stale update, stale delete, delete: answers, events and syncs tell the same."""
        device = self.device
        start = await device.sync(limit=1000)
        assert isinstance(start["startedAt"], int) and start["nextToken"] is None
        id = str(uuid.uuid4()).upper()
        made = await device.mutate("Create", id=id, name="alerts", arn="arn:of:mine")
        assert set(made) == set(FIELDS.split())
        assert made["id"] == id and made["_version"] == 1 and made["_deleted"] is None and made["owner"] == "alice"
        assert made["_lastChangedAt"] > 1_600_000_000_000 and made["__typename"] == "Topic"
        assert await device.event("Create", made) == made

        renamed = await device.mutate("Update", id=id, name="renamed", arn="arn:of:mine", _version=1)
        assert renamed["name"] == "renamed" and renamed["_version"] == 2
        assert await device.event("Update", renamed) == renamed
        # Merged without an error: what the server has stays.
        merged = await device.mutate("Update", id=id, name="late", arn="arn:of:mine", _version=1)
        assert merged["_version"] == 3 and merged["name"] == "renamed", merged
        delta = await device.sync(limit=1000, lastSync=start["startedAt"])
        assert [item for item in delta["items"] if item["id"] == id] == [merged]

        conflict = await device.refused("Delete", id=id, _version=1)
        assert conflict["errorType"] == "ConflictUnhandled" and conflict["data"] == merged, conflict
        dead = await device.mutate("Delete", id=id, _version=3)
        assert dead["_deleted"] is True and dead["_version"] == 4 and dead["name"] == "renamed"
        assert await device.event("Delete", dead) == dead
        again = await device.refused("Delete", id=id, _version=3)
        assert again["errorType"] == "ConflictUnhandled" and again["data"]["_deleted"] is True, again
        delta = await device.sync(limit=1000, lastSync=delta["startedAt"])
        assert [item for item in delta["items"] if item["id"] == id] == [dead]
        read = await device.session.execute(gql(f'{{ getTopic(id: "{id}") {{ {FIELDS} }} }}'))
        assert read["getTopic"] == dead

    async def conditions(self):
        device = self.device
        made = await device.mutate("Create", id=str(uuid.uuid4()).upper(), name="conditional", arn="a")
        taken = await device.refused("Create", id=made["id"], name="another", arn="a")
        assert taken["errorType"] == "ConditionalCheckFailedException", taken
        assert await device.mutate("Create", id=made["id"], name="conditional", arn="a") == made
        condition = {"name": {"eq": "else"}}
        failed = await device.refused("Update", condition, id=made["id"], name="new", _version=1)
        assert failed["errorType"] == "ConditionalCheckFailedException", failed
        changed = await device.mutate("Update", {"name": {"eq": "conditional"}}, id=made["id"], name="new", _version=1)
        assert changed["_version"] == 2

    async def pages(self):
        device = self.device
        names = {f"page {number}" for number in range(7)}
        for name in names:
            await device.mutate("Create", name=name, arn="a")
        found, token = [], None
        for _ in range(20):
            variables = {"limit": 3, "filter": {"or": [{"name": {"beginsWith": "page"}}]}}
            if token is not None:
                variables["nextToken"] = token
            page = await device.sync(**variables)
            found += [item["name"] for item in page["items"]]
            token = page["nextToken"]
            if token is None:
                break
        assert sorted(found) == sorted(names), found

    async def others_see_nothing(self):
        url = self.device.server.address + "/graphql"
        async with Client(transport=AIOHTTPTransport(url=url, headers={"Authorization": self.other})) as session:
            answer = await session.execute(GraphQLRequest(SYNC, variable_values={"limit": 1000, "lastSync": 0}))
            assert answer["syncTopics"]["items"] == []


async def optimistic(binary):
    """The other conflict handler: every stale write is told, with the current row."""
    server = Server(binary, "--conflict-handler", "optimistic_concurrency")
    try:
        async with Device(server, server.add_user("alice")) as device:
            made = await device.mutate("Create", id=str(uuid.uuid4()).upper(), name="alerts", arn="a")
            renamed = await device.mutate("Update", id=made["id"], name="renamed", _version=1)
            conflict = await device.refused("Update", id=made["id"], name="late", _version=1)
            assert conflict["errorType"] == "ConflictUnhandled" and conflict["data"] == renamed, conflict
            assert (await device.mutate("Update", id=made["id"], name="late", _version=2))["_version"] == 3
    finally:
        server.stop()


async def run(binary, checks):
    server = Server(binary)
    try:
        async with Device(server, server.add_user("alice")) as device:
            suite = Suite(device, server.add_user("bob"))
            for name in [name for name in vars(Suite) if not name.startswith("_")]:
                try:
                    await asyncio.wait_for(getattr(suite, name)(), 120)
                    checks.report(name)
                except Exception as error:
                    checks.report(name, error)
    finally:
        server.stop()
    try:
        await asyncio.wait_for(optimistic(binary), 120)
        checks.report("optimistic concurrency")
    except Exception as error:
        checks.report("optimistic concurrency", error)


def main():
    checks = Checks()
    asyncio.run(asyncio.wait_for(run(sys.argv[1], checks), 500))
    checks.end()


main()
