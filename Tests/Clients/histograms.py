"""Measures from outside what the three histograms of service levels measure, with 1, 16 and 64 clients at once, and compares by
their own buckets. Use: histograms.py BINARY

A client sees all that the server measures of it, and more: at no bound has the server fewer than the clients. And it sees little
more: but for a quarter, no sample is more than one bucket away, or 5 ms where that is more. What is more than that is what waits
in the sockets of a busy machine, so of three rounds one must be so close."""

import calendar
import json
import os
import re
import selectors
import socket
import sys
import time
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Attacks"))

from client import graphql_request, introduction, subscription, upgrade  # noqa: E402
from tocsin import Checks, Server, Simulator  # noqa: E402

PUBLISH = "tocsin_publish_duration_seconds"
TO_SOCKET = "tocsin_commit_to_socket_seconds"
TO_ACCEPT = "tocsin_push_commit_to_accept_seconds"
#: Clients at once, and messages of each.
CROWDS = [(1, 200), (16, 20), (64, 8)]
ROUNDS = 3
#: The share of samples that may be further away.
AWAY = 0.25
CREATE = 'mutation ($t: ID!, $n: String!) { createMessage(input: {topicId: $t, type: 1, title: $n, body: "b"}) { createdAt } }'
FOLLOW = "subscription ($t: ID!) { onCreateMessage(topicId: $t) { title createdAt } }"
REGISTER = 'mutation ($t: String!) { registerPushToken(token: $t, platform: "ios") { userId } }'


def counts(text, name):
    """How many samples there are up to each bound, over all labels."""
    found = {}
    for bound, count in re.findall(rf'^{name}_bucket{{[^}}]*le="([^"]+)"[^}}]*}} (\S+)', text, re.M):
        bound = float(bound.replace("+Inf", "inf"))
        found[bound] = found.get(bound, 0) + float(count)
    return dict(sorted(found.items()))


def seconds(text):
    """Since 1970, of a time such as 2026-11-28T12:00:00.123Z."""
    whole, _, fraction = text.rstrip("Z").partition(".")
    return calendar.timegm(time.strptime(whole, "%Y-%m-%dT%H:%M:%S")) + float("0." + (fraction or "0"))


class Client:
    """Publishes to a topic of its own over one connection and follows it over another; the next message goes out once the last
    one was answered and has come. So each event is a turn of its own."""

    def __init__(self, server, token, name, messages):
        self.token, self.name, self.messages = token, name, messages
        self.topic = server.create_topic(token, name)
        host, port = server.host.split(":")
        self.feed, self.line = (socket.create_connection((host, int(port)), timeout=20) for _ in range(2))
        self.line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.read = b""
        self.feed.sendall(upgrade() + introduction(token))
        self._until(b"connection_ack")
        self.feed.sendall(subscription("s", FOLLOW, {"t": self.topic}) + b"\x89\x80" + bytes(4))
        # The answer to a ping.
        self._until(b"\x8a\x00")
        self.read, self.answer, self.number, self.waits = b"", b"", 0, 0
        #: Seconds of each publish, seconds from each message's time to its event, and those times by title.
        self.publishes, self.events, self.made = [], [], {}

    def _until(self, wanted):
        while wanted not in self.read:
            part = self.feed.recv(65536)
            assert part, self.read
            self.read += part

    def publish(self):
        self.number, self.waits = self.number + 1, 2
        request = graphql_request(self.token, CREATE, {"t": self.topic, "n": f"{self.name}-{self.number}."})
        self.began = time.perf_counter()
        self.line.sendall(request)

    def take_answer(self):
        self.answer += self.line.recv(65536)
        now = time.perf_counter()
        head, _, body = self.answer.partition(b"\r\n\r\n")
        length = re.search(rb"(?i)content-length: (\d+)", head)
        if length is None or len(body) < int(length[1]):
            return
        assert head.startswith(b"HTTP/1.1 200") and b'"createdAt"' in body, self.answer
        self.answer = b""
        self.publishes.append(now - self.began)
        self._done()

    def take_event(self):
        part, now = self.feed.recv(65536), time.time()
        assert part, "the feed was closed"
        self.read += part
        found = re.search(rb'"title":"([^"]+)","createdAt":"([^"]+)"}', self.read)
        if found:
            self.read = b""
            self.made[found[1].decode()] = seconds(found[2].decode())
            self.events.append(now - self.made[found[1].decode()])
            self._done()

    def _done(self):
        self.waits -= 1
        if self.waits == 0 and self.number < self.messages:
            self.publish()

    def close(self):
        self.feed.close()
        self.line.close()


class Scene:
    """A server that pushes to one phone, and who publishes there."""

    def __init__(self, binary):
        self.simulator = Simulator(binary)
        os.environ.update(self.simulator.environment)
        self.server = Server(binary, "--rate-per-second", "0", "--log-level", "error")
        self.token = self.server.add_user("ada")
        self.reader = self.server.administer("token", "create", "--user", "ada", "--scope", "metrics")
        self.server.post(self.token, REGISTER, t="a1" * 32)
        self.crowds = 0

    def metrics(self):
        request = urllib.request.Request(self.server.address + "/metrics", headers={"Authorization": f"Bearer {self.reader}"})
        with urllib.request.urlopen(request, timeout=20) as answer:
            return answer.read().decode()

    def measure(self, crowd, messages):
        """By histogram: what the server has counted, and what the clients have measured."""
        self.crowds += 1
        name = f"crowd-{self.crowds}"
        clients = [Client(self.server, self.token, f"{name}-{number}", messages) for number in range(crowd)]
        try:
            before = self.metrics()
            self._run(clients)
            # A turn is counted after its bytes are on the way, and a push after the simulator took it.
            deadline = time.monotonic() + 60
            while True:
                after = self.metrics()
                grown = {each: risen(after, before, each) for each in [PUBLISH, TO_SOCKET, TO_ACCEPT]}
                if all(counted[float("inf")] >= crowd * messages for counted in grown.values()):
                    break
                assert time.monotonic() < deadline, {each: counted[float("inf")] for each, counted in grown.items()}
                time.sleep(0.05)
        finally:
            for client in clients:
                client.close()
        made = {title: at for client in clients for title, at in client.made.items()}
        accepted = []
        for push in self.simulator.ask("/_pushes"):
            title = re.search(rf"{name}-\d+-\d+\.", json.dumps(push["payload"]))
            if title and push["accepted"]:
                accepted.append(push["time"] / 1000 - made[title[0]])
        own = {PUBLISH: sum((client.publishes for client in clients), []), TO_SOCKET: sum((client.events for client in clients), [])}
        own[TO_ACCEPT] = accepted
        return {each: (grown[each], own[each]) for each in own}

    @staticmethod
    def _run(clients):
        waiting = selectors.DefaultSelector()
        for client in clients:
            waiting.register(client.feed, selectors.EVENT_READ, client.take_event)
            waiting.register(client.line, selectors.EVENT_READ, client.take_answer)
        for client in clients:
            client.publish()
        deadline = time.monotonic() + 120
        while any(client.waits for client in clients):
            assert time.monotonic() < deadline, f"{sum(1 for client in clients if client.waits)} clients wait"
            for key, _ in waiting.select(5):
                key.data()

    def stop(self):
        self.server.stop()
        self.simulator.stop()


def risen(after, before, name):
    before = counts(before, name)
    return {bound: count - before.get(bound, 0) for bound, count in counts(after, name).items()}


def compared(name, server, own):
    """What is wrong for good, and how large a share is further away than it may be."""
    bounds, total = list(server), len(own)
    if server[float("inf")] != total:
        return f"{name} has {server[float('inf')]:.0f} samples, the clients {total}", 1
    mine = {bound: sum(1 for each in own if each <= bound) for bound in bounds}
    away = 0
    for place, bound in enumerate(bounds[:-1]):
        # The clocks of pushes are whole milliseconds, and the simulator's runs before the server's.
        if name != TO_ACCEPT and server[bound] < mine[bound]:
            return f"{name}: the server has {server[bound]:.0f} up to {bound}, and the clients {mine[bound]}", 1
        above = next(each for each in bounds if each > bound and each >= bound + 0.005)
        below = [each for each in bounds[:place] if each <= bound - 0.005]
        away = max(away, server[bound] - mine[above], (mine[below[-1]] if below else 0) - server[bound])
    return None, away / total


def agree(scene, crowd, messages):
    """In one of some rounds all three are close; in all rounds no client has seen less than the server."""
    far = []
    for _ in range(ROUNDS):
        shares = {}
        for name, (server, own) in scene.measure(crowd, messages).items():
            wrong, share = compared(name, server, own)
            assert wrong is None, wrong
            shares[name] = round(share, 3)
        if max(shares.values()) <= AWAY:
            return shares
        far.append(shares)
    raise AssertionError(f"too many samples are further than a bucket from the clients': {far}")


def main():
    checks, scene = Checks(), Scene(sys.argv[1])
    try:
        for crowd, messages in CROWDS:
            what = f"with {crowd} at once the histograms of publishing, feeds and pushes are what clients measure"
            try:
                shares = agree(scene, crowd, messages)
                checks.report(f"{what} (share beyond a bucket: {', '.join(f'{share:.1%}' for share in shares.values())})")
            except Exception as error:  # pylint: disable=broad-except
                checks.report(what, error)
    finally:
        scene.stop()
    checks.end()


main()
