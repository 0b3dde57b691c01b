"""Where attacks happen: servers on one database, bounds, and what was found."""

import asyncio
import base64
import multiprocessing
import os
import time

from server import Server
from victim import Victim


class Bounds:
    """What another owner may feel. The short form is for busy machines and builds that are not optimised."""

    def __init__(self, is_short):
        self.is_short = is_short
        self.event = 2 if is_short else 0.25
        self.push = 10 if is_short else 3
        self.revocation = 5 if is_short else 2
        self.ending = 5 if is_short else 1
        self.create = 5 if is_short else 1
        self.memory = 400_000_000 if is_short else 300_000_000
        self.rest = 64 << 20 if is_short else 32 << 20
        self.rest_seconds = 60

    def read(self, quiet):
        """Three times the quiet figure; the load shares the processors, hence a floor."""
        return 2 if self.is_short else max(0.025, 3 * quiet)


class Finding:
    def __init__(self, text, holds):
        self.text, self.holds = text, holds


COLUMNS = ["quiet read p99", "read p99", "reads refused", "createMessage", "event", "push", "revocation", "memory", "at rest, beyond the start"]


def milliseconds(seconds):
    return "never" if seconds == float("inf") else f"{seconds * 1000:.0f} ms"


def megabytes(size):
    return "without end" if size == float("inf") else f"{size / 1e6:.0f} MB"


def _work(pipe, function, arguments):
    os.nice(10)
    try:
        pipe.send(function(*arguments))
    except BaseException as error:
        pipe.send(f"{type(error).__name__}: {error}"[:300])


class Load:
    """A function of a module beside this one, run in a process of its own behind all others."""

    def __init__(self, function, *arguments):
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_work, args=(theirs, function, arguments), daemon=True)
        self._process.start()
        theirs.close()

    async def result(self, seconds):
        """What it says at its end; it is ended where it does not in time."""
        deadline = time.monotonic() + seconds
        try:
            while not self._pipe.poll():
                if time.monotonic() > deadline:
                    return "not ended in time"
                await asyncio.sleep(0.05)
            return self._pipe.recv()
        except EOFError:
            return "ended without a word"
        finally:
            self._process.kill()
            self._process.join()


class Stage:
    """What an attack gets: makes servers, notes findings, removes everything."""

    def __init__(self, binary, postgres, is_short):
        self.binary, self.postgres, self.is_short = binary, postgres, is_short
        self.bounds = Bounds(is_short)
        self.findings = []
        self.felt = {}
        self._servers = []

    def server(self, settings=None, schema=None, pushes=False):
        server = Server(self.binary, self.postgres, settings, schema)
        self._servers.append(server)
        if pushes:
            server.start_simulator()
        return server

    def nodes(self, count, relay=None):
        """So many running nodes on one PostgreSQL database. No doorbell wakes them, or one through the relay."""
        doorbell = "postgres" if relay else "off"
        shared = {"TOCSIN_DOORBELL": doorbell, "TOCSIN_SERVER_KEY": base64.b64encode(os.urandom(32)).decode()}
        first = self.server({**shared, "TOCSIN_NODE": "node0"})
        if relay:
            first.environment["TOCSIN_DATABASE_URL"] = relay.address(first.environment["TOCSIN_DATABASE_URL"])
        shared["TOCSIN_DATABASE_URL"] = first.environment["TOCSIN_DATABASE_URL"]
        others = [Server(self.binary, settings={**shared, "TOCSIN_NODE": f"node{number}"}) for number in range(1, count)]
        self._servers += others
        return [server.start() for server in [first, *others]]

    async def scene(self, prepare=None, **options):
        """A running server with a victim; `prepare(server)` fills it before it is started anew, so that its memory counts
        from there. Answers the server, the victim, and what `prepare` answered."""
        server = self.server(pushes=True, **options)
        server.start()
        victim = await Victim.make(server)
        prepared = await prepare(server) if prepare else None
        server.stop()
        server.start()
        await victim.connect()
        return server, victim, prepared

    def remove(self):
        for server in self._servers:
            server.remove()

    # What was found.

    def fact(self, text, holds):
        """Something that holds or does not, however fast the machine is."""
        self.findings.append(Finding(text, bool(holds)))

    async def under(self, server, victim, seconds, load, *arguments):
        """Runs a load while the victim is measured, and judges what it felt; answers what the load said."""
        bounds = self.bounds
        quiet = await victim.measure(1 if self.is_short else 5)
        start = server.memory()
        server.forget_peak()
        attacker = Load(load, server.place, *arguments, seconds)
        await asyncio.sleep(0.5)
        felt = await victim.measure(seconds, revokes=True)
        said = await attacker.result(30)
        if not server.is_running():
            self.fact("the server was killed: its memory grew beyond 1.5 GB" if server.was_killed else "the server ended", False)
            return said
        figures = [
            ("read p99", felt.p99(), bounds.read(quiet.p99()), milliseconds),
            ("reads refused", felt.refused, 0, str),
            ("createMessage", max(felt.creates), bounds.create, milliseconds),
            ("event", max(felt.events, default=float("inf")), bounds.event, milliseconds),
            ("push", max(felt.pushes, default=float("inf")), bounds.push, milliseconds),
            ("revocation", felt.revocation, bounds.revocation, milliseconds),
            ("memory", server.peak(), bounds.memory, megabytes),
            ("at rest, beyond the start", await self._at_rest(server, start), bounds.rest, megabytes),
        ]
        self.felt = {"quiet read p99": milliseconds(quiet.p99())}
        for what, value, bound, show in figures:
            self.felt[what] = show(value) if value <= bound else f"**{show(value)}**"
            self.findings.append(Finding(f"{what} {show(value)} (≤ {show(bound)})", value <= bound))
        if felt.failed:
            self.fact(f"{len(felt.failed)} failures, such as {felt.failed[0]}", False)
        return said

    async def _at_rest(self, server, start):
        """What it holds beyond its start, as soon as that is little enough, or at the end of patience."""
        end = time.monotonic() + self.bounds.rest_seconds
        while server.memory() > start + self.bounds.rest and time.monotonic() < end:
            await asyncio.sleep(0.25)
        return max(0, server.memory() - start)


class Attack:
    def __init__(self, function, name, databases, makes_load, seconds):
        self.function, self.name, self.databases, self.makes_load = function, name, databases, makes_load
        self.seconds = seconds


ATTACKS = {}


def attack(name, touches_data=True, makes_load=False, needs_nodes=False, seconds=240):
    """Registers an attack. One that never touches the data is made on SQLite alone, one on several nodes on PostgreSQL.
    It has so many seconds, the short form 120."""
    databases = ["postgres"] if needs_nodes else ["sqlite", "postgres"] if touches_data else ["sqlite"]

    def register(function):
        ATTACKS[name] = Attack(function, name, databases, makes_load, seconds)
        return function

    return register
