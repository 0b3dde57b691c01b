"""Kills servers with SIGKILL while senders post events, grants and tokens change, and snoozes end, and compares what is
kept with what was answered. Use: killrounds.py BINARY [--rounds N] [--timers N]

With TOCSIN_TEST_POSTGRES there are two servers on a database of their own there, of which one is killed in each round;
without it one, on SQLite. Each request is sent once, so that its answer alone says what it caused."""

import argparse
import base64
import collections
import datetime
import os
import random
import secrets
import subprocess
import sys
import threading
import time
import urllib.error

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from changes import Changer  # noqa: E402
from tocsin import ANSWERED, REFUSED, UNKNOWN, Checks, Server, send  # noqa: E402

SENDERS = 12
CHANGERS = 3
OF_LIST = 30
CREATE = "mutation($i: CreateIntegrationInput!) { createIntegration(input: $i) { id } }"
ROTATE = "mutation($id: ID!) { rotateIntegrationKey(id: $id) { key } }"
SNOOZE = "mutation($id: ID!, $at: AWSDateTime!) { snoozeIncident(id: $id, until: $at) { id } }"
ACKNOWLEDGE = "mutation($id: ID!) { acknowledgeIncident(id: $id) { id } }"
LAST = "query($t: ID!) { getTopic(id: $t) { lastNumber } }"
MESSAGES = """query($t: ID!, $n: String) { page: getMessageByTopicIdAndCreatedAt(topicId: $t, limit: 100, nextToken: $n) {
    nextToken items { id number incidentId incidentChange } } }"""
INCIDENTS = """query($t: ID!, $n: String) { page: incidentsByTopicIdAndOpenedAt(topicId: $t, limit: 50, nextToken: $n) {
    nextToken items { id number key state occurrences timeline(limit: 10) { items { number at change messageId } } } } }"""

class Nodes:
    """The servers, a topic for each part, and an integration of it."""

    def __init__(self, binary):
        self.database = None
        postgres = os.environ.get("TOCSIN_TEST_POSTGRES")
        if postgres:
            self.database = "rounds_" + secrets.token_hex(8)
            self.sql = lambda text: subprocess.run(
                ["psql", "-q", "-d", postgres, "-c", text], check=True, capture_output=True, timeout=60
            )
            self.sql(f"CREATE DATABASE {self.database}")
            os.environ["TOCSIN_DATABASE_URL"] = postgres.rpartition("/")[0] + "/" + self.database
            os.environ["TOCSIN_SERVER_KEY"] = base64.b64encode(secrets.token_bytes(32)).decode()
        self.servers = []
        for number in range(2 if postgres else 1):
            self.name(number)
            self.servers.append(Server(binary, "--rate-per-second", "0"))
        self.token = self.servers[0].add_user("ada")

    def name(self, number):
        if self.database:
            os.environ["TOCSIN_NODE"] = f"node{number}"

    def kill(self, number):
        self.name(number)
        self.servers[number].kill_and_restart()

    def way(self, topic):
        """The id of a new topic, and the key of an integration into it."""
        first = self.servers[0]
        topic_id = first.create_topic(self.token, topic)
        made = {"name": topic, "kind": "EVENT", "topicId": topic_id, "ratePerMinute": 100_000}
        made = first.post(self.token, CREATE, i=made)["createIntegration"]["id"]
        return topic_id, first.post(self.token, ROTATE, id=made)["rotateIntegrationKey"]["key"]

    def all(self, query, topic):
        items, after = [], None
        while True:
            page = self.servers[0].post(self.token, query, t=topic, n=after)["page"]
            items += page["items"]
            after = page["nextToken"]
            if not after:
                return items

    def end(self):
        statuses = [server.stop() for server in self.servers]
        if self.database:
            self.sql(f"DROP DATABASE {self.database} WITH (FORCE)")
        return statuses


class Sender(threading.Thread):
    """Posts from first to last without a break, and notes what was answered."""

    def __init__(self, rounds, number):
        super().__init__(daemon=True)
        self.rounds, self.number = rounds, number
        self.lives = []  # (key, [(change, outcome)])
        self.lists = []  # ([key], outcome)
        self.wrong = []  # keys of lists that must be refused
        self.shared = []  # (key, outcome)
        self.failure = None

    def run(self):
        try:
            count = 0
            while not self.rounds.over.is_set():
                count += 1
                key = f"{self.number}-{count}"
                self.live(key)
                self.shared.append((f"shared-{self.rounds.round}", self.post(trigger(f"shared-{self.rounds.round}"))))
                if count % 5 == self.number % 5:
                    keys = [f"{key}-{place}" for place in range(OF_LIST)]
                    self.lists.append((keys, self.post([trigger(each) for each in keys])))
                if count % 7 == self.number % 7:
                    wrong = f"{key}-wrong"
                    self.wrong.append(wrong)
                    assert self.post([trigger(wrong), {"action": "dance", "key": wrong}]) != ANSWERED
        except Exception as error:
            self.failure = error

    def live(self, key):
        steps = [("OPENED", trigger(key))]
        steps += [("ACKNOWLEDGED", {"action": "acknowledge", "key": key}), ("RESOLVED", {"action": "resolve", "key": key})]
        self.lives.append((key, [(change, self.post(event)) for change, event in steps]))

    def post(self, body):
        outcome, answer = send(random.choice(self.rounds.nodes.servers).host, f"/in/{self.rounds.key}", body)
        if outcome == REFUSED and answer and answer[0] not in (400, 503):
            raise AssertionError(answer)
        if outcome == REFUSED and not answer:
            time.sleep(0.05)
        self.rounds.outcomes[outcome] += 1
        return outcome


def trigger(key):
    return {"action": "trigger", "key": key, "title": f"Down: {key}", "severity": "critical"}


class Rounds:
    """Servers are killed at random moments, so many times."""

    def __init__(self, nodes, count):
        self.nodes, self.round, self.over = nodes, 0, threading.Event()
        self.outcomes = collections.Counter()
        self.partial = 0
        self.topic, self.key = nodes.way("events")
        self.senders = [Sender(self, number) for number in range(SENDERS)]
        self.changers = [Changer(nodes.servers, self.over, number) for number in range(CHANGERS)]
        for thread in self.senders + self.changers:
            thread.start()
        for self.round in range(1, count + 1):
            time.sleep(random.uniform(0.2, 1.2))
            nodes.kill(random.randrange(len(nodes.servers)))
        time.sleep(0.5)
        self.over.set()
        for thread in self.senders + self.changers:
            thread.join(120)
            assert not thread.is_alive(), "a sender has no answer"
            if thread.failure:
                raise thread.failure
        self.incidents = nodes.all(INCIDENTS, self.topic)
        self.by_key = collections.defaultdict(list)
        for incident in self.incidents:
            self.by_key[incident["key"]].append(incident)
        assert self.outcomes[UNKNOWN] + self.outcomes[REFUSED] > 0 and self.outcomes[ANSWERED] > count, self.outcomes

    def one(self, key, first):
        """The incident of a key that was triggered once with such an outcome; none where there may be none."""
        found = self.by_key[key]
        assert len(found) <= 1, f"{key} is doubled: {found}"
        assert found or first != ANSWERED, f"{key} was answered and is lost"
        assert not found or first != REFUSED, f"{key} was refused and is there"
        return found[0] if found else None

    def answered_is_kept(self):
        """What was answered is in the timeline once, in its order; what was refused is not."""
        for sender in self.senders:
            for key, steps in sender.lives:
                incident = self.one(key, steps[0][1])
                changes = changes_of(incident) if incident else []
                allowed = [change for change, outcome in steps if outcome != REFUSED]
                assert changes == [change for change in allowed if change in changes], (key, steps, changes)
                if incident:
                    missing = [change for change, outcome in steps if outcome == ANSWERED and change not in changes]
                    assert not missing, (key, steps, changes)

    def lists_are_kept(self):
        """A list that was answered is whole; of one that was not, what came before the kill is there, without a hole."""
        for sender in self.senders:
            for keys, outcome in sender.lists:
                there = [self.one(key, outcome) is not None for key in keys]
                assert there == sorted(there, reverse=True), (keys[0], there)
                self.partial += len(set(there)) > 1
            for key in sender.wrong:
                assert not self.by_key[key], f"{key} was refused with its list and is there"

    def shared_are_one(self):
        """However many posted a key at once, at both servers: one incident, which counts what was answered."""
        outcomes = collections.defaultdict(collections.Counter)
        for sender in self.senders:
            for key, outcome in sender.shared:
                outcomes[key][outcome] += 1
        for key, counts in outcomes.items():
            found = self.by_key[key]
            if not counts[ANSWERED] and not found:
                continue
            assert len(found) == 1, (key, found)
            occurrences = found[0]["occurrences"]
            assert counts[ANSWERED] <= occurrences <= counts[ANSWERED] + counts[UNKNOWN], (key, counts, occurrences)
            assert changes_of(found[0]) == ["OPENED"], found

    def messages_are_told(self):
        expect_messages(self.nodes, self.topic, self.incidents)

    def changes_are_audited(self):
        """Grants and tokens are what the audit says, and it says all that was answered."""
        outcomes = collections.Counter()
        for changer in self.changers:
            outcomes += changer.compare()
        print(f"      {outcomes.total()} changes of grants and tokens, {dict(outcomes)}", flush=True)
        assert outcomes[ANSWERED] > len(self.changers), outcomes


def changes_of(incident):
    entries = incident["timeline"]["items"]
    assert [entry["number"] for entry in entries] == list(range(1, len(entries) + 1)), entries
    return [entry["change"] for entry in entries]


def expect_messages(nodes, topic, incidents):
    """Numbers are dense, and each entry has the one message that tells of it."""
    messages = nodes.all(MESSAGES, topic)
    last = nodes.servers[0].post(nodes.token, LAST, t=topic)["getTopic"]["lastNumber"]
    assert sorted(message["number"] for message in messages) == list(range(1, last + 1)), (len(messages), last)
    numbers = sorted(incident["number"] for incident in incidents)
    assert numbers == list(range(1, len(incidents) + 1)), "numbers of incidents have holes"
    told = sorted((message["id"], message["incidentId"], message["incidentChange"]) for message in messages)
    entries = sorted(
        (entry["messageId"], incident["id"], entry["change"])
        for incident in incidents for entry in incident["timeline"]["items"] if entry["messageId"]
    )
    assert told == entries, f"{len(told)} messages, {len(entries)} entries that were told"


class Snoozes:
    """Snoozes that end within some seconds, in which servers are killed; every third incident is acknowledged then."""

    def __init__(self, nodes, count, seconds):
        self.nodes = nodes
        self.topic, key = nodes.way("snoozes")
        for first in range(0, count, 100):
            body = [trigger(f"timer-{number}") for number in range(first, min(first + 100, count))]
            outcome, answer = send(nodes.servers[0].host, f"/in/{key}", body)
            assert outcome == ANSWERED, answer
        self.ids = {incident["key"]: incident["id"] for incident in nodes.all(INCIDENTS, self.topic)}
        assert len(self.ids) == count, len(self.ids)
        # Enough time to set them all; each is set in some 20 ms by a debug binary.
        begin = time.time() + 5 + count / 20
        self.due = {key: begin + seconds * random.random() for key in self.ids}
        self.each(list(self.ids), self.snooze)
        assert time.time() < begin, f"setting {count} snoozes took too long"
        self.acknowledged = {}
        chosen = sorted(random.sample(sorted(self.ids), count // 3), key=self.due.get)
        acts = threading.Thread(target=self.each, args=(chosen, self.acknowledge), daemon=True)
        acts.start()
        time.sleep(max(0, begin - time.time()))
        self.kills = 0
        while time.time() < begin + seconds:
            nodes.kill(self.kills % len(nodes.servers))
            self.kills += 1
            time.sleep(0.5)
        acts.join(120)
        deadline = time.monotonic() + 90
        while True:
            self.incidents = nodes.all(INCIDENTS, self.topic)
            if not any(incident["state"] == "SNOOZED" for incident in self.incidents) or time.monotonic() > deadline:
                break
            time.sleep(0.5)

    def each(self, keys, act):
        """Acts on all of them, by eight at once, in their order."""
        keys, lock, failures = iter(keys), threading.Lock(), []

        def work():
            while True:
                with lock:
                    key = next(keys, None)
                if key is None:
                    return
                try:
                    act(key)
                except Exception as error:
                    failures.append(error)
                    return

        workers = [threading.Thread(target=work, daemon=True) for _ in range(8)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        if failures:
            raise failures[0]

    def snooze(self, key):
        at = datetime.datetime.fromtimestamp(self.due[key], datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        at = at[:-4] + "Z"
        server = random.choice(self.nodes.servers)
        server.post(self.nodes.token, SNOOZE, id=self.ids[key], at=at)

    def acknowledge(self, key):
        time.sleep(max(0, self.due[key] + random.uniform(-0.2, 0.2) - time.time()))
        body = {"query": ACKNOWLEDGE, "variables": {"id": self.ids[key]}}
        fields = [("Authorization", f"Bearer {self.nodes.token}")]
        outcome, answer = send(random.choice(self.nodes.servers).host, "/graphql", body, fields)
        if outcome == ANSWERED and b'"errors"' in answer[1]:
            outcome = REFUSED
        self.acknowledged[key] = outcome

    def woken_once(self):
        """Each ends once, unless it was acknowledged before; nobody is woken after that."""
        woken = 0
        for incident in self.incidents:
            changes, outcome = changes_of(incident), self.acknowledged.get(incident["key"])
            assert changes.count("WOKEN") <= 1, (incident["key"], changes)
            woken += changes.count("WOKEN")
            if outcome == ANSWERED:
                assert changes.count("ACKNOWLEDGED") == 1 and incident["state"] == "ACKNOWLEDGED", (outcome, changes)
            if "ACKNOWLEDGED" in changes:
                assert outcome in (ANSWERED, UNKNOWN), (outcome, changes)
                assert "WOKEN" not in changes[changes.index("ACKNOWLEDGED"):], changes
            else:
                assert changes == ["OPENED", "SNOOZED", "WOKEN"] and incident["state"] == "OPEN", (incident, outcome)
        assert woken >= len(self.incidents) - len(self.acknowledged), woken
        late = sorted(self.lateness())
        print(f"      {woken} woken through {self.kills} kills, {collections.Counter(self.acknowledged.values())}; late by "
              f"{late[len(late) // 2]:.2f} s in the middle, {late[-1]:.2f} s at most", flush=True)

    def lateness(self):
        for incident in self.incidents:
            for entry in incident["timeline"]["items"]:
                if entry["change"] == "WOKEN":
                    at = datetime.datetime.fromisoformat(entry["at"].replace("Z", "+00:00")).timestamp()
                    assert at > self.due[incident["key"]] - 0.01, "woken before its time"
                    yield at - self.due[incident["key"]]

    def messages_are_told(self):
        expect_messages(self.nodes, self.topic, self.incidents)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--timers", type=int, default=120)
    options = parser.parse_args()
    checks = Checks()
    nodes = Nodes(options.binary)

    def check(name, act):
        try:
            result = act()
            checks.report(name)
            return result
        except Exception as error:
            checks.report(name, error)

    try:
        rounds = check(f"{options.rounds} kills under senders", lambda: Rounds(nodes, options.rounds))
        if rounds:
            print(f"      {len(rounds.incidents)} incidents, {dict(rounds.outcomes)}", flush=True)
            check("what was answered is kept once, what was refused is not", rounds.answered_is_kept)
            check("lists that were answered are whole, wrong ones left nothing", rounds.lists_are_kept)
            print(f"      {rounds.partial} lists without an answer are there in part", flush=True)
            check("a key that all post is one incident, which counts what was answered", rounds.shared_are_one)
            check("each change has its one message, and numbers are dense", rounds.messages_are_told)
            check("each change of a grant or token has its row in the audit, and each row its change", rounds.changes_are_audited)
        seconds = 6 if options.timers <= 200 else 10 + options.timers // 200
        snoozes = check(f"{options.timers} snoozes end while servers are killed", lambda: Snoozes(nodes, options.timers, seconds))
        if snoozes:
            check("each snooze ends once, and none after it was acknowledged", snoozes.woken_once)
            check("each of these changes has its one message", snoozes.messages_are_told)
    finally:
        statuses = nodes.end()
    if any(statuses):
        checks.report("the servers end well", AssertionError(statuses))
    checks.end()


if __name__ == "__main__":
    main()
