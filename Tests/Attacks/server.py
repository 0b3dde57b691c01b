"""A server of the built binary, alone on 127.0.0.1, the commands that administer it, and the simulator of push services."""

import json
import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import uuid


def wait_until(condition, seconds, what):
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds} s: {what}")
        time.sleep(0.02)


class Process:
    """A program that says in a file when it is ready; ended by its own id."""

    def __init__(self, command, environment, folder, log):
        self.folder = folder
        self._ready = os.path.join(folder, "ready-" + uuid.uuid4().hex)
        self.process = subprocess.Popen(
            [*command, "--ready-file", self._ready],
            env=environment,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=log,
        )

    def ready(self, log_path, seconds=90):
        def is_ready():
            if self.process.poll() is not None:
                raise AssertionError("it did not start: " + open(log_path, errors="replace").read()[-800:])
            return os.path.exists(self._ready) and os.path.getsize(self._ready)

        wait_until(is_ready, seconds, "it is ready")
        return open(self._ready).read().strip()

    def stop(self, seconds=20):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait(10)


class Server:
    """`tocsin serve` on data of its own. What it holds in memory is watched: beyond `ceiling` bytes it is killed, so that
    an attack that succeeds does not take the machine with it."""

    ceiling = 1_500_000_000

    def __init__(self, binary, postgres=None, settings=None, schema=None):
        self.binary = binary
        self.folder = tempfile.mkdtemp(prefix="tocsin-attack-")
        self.log = os.path.join(self.folder, "log")
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": self.folder,
            "TOCSIN_DATA_DIR": os.path.join(self.folder, "data"),
            "TOCSIN_PORT": "0",
            # One attack after the other makes topics of the same names.
            "TOCSIN_TOPIC_NAMES": "any",
            **(settings or {}),
        }
        if postgres:
            self.environment["TOCSIN_DATABASE_URL"] = self._make_database(postgres)
        if schema:
            self.environment["TOCSIN_SCHEMA"] = os.path.join(self.folder, "model.graphql")
            open(self.environment["TOCSIN_SCHEMA"], "w").write(schema)
        self.simulator = None
        self.process = None
        self.was_killed = False

    def _make_database(self, postgres):
        name = "attack_" + uuid.uuid4().hex
        subprocess.run(
            ["psql", "-q", "-d", postgres, "-c", f"CREATE DATABASE {name}"], check=True, capture_output=True, timeout=60
        )
        return postgres.rpartition("/")[0] + "/" + name

    def start(self, log_to=None):
        log = log_to or open(self.log, "ab")
        self._running = Process([self.binary, "serve"], self.environment, self.folder, log)
        self.process = self._running.process
        self.address = self._running.ready(self.log)
        scheme, _, place = self.address.partition("://")
        self.place = (place.rpartition(":")[0], int(place.rpartition(":")[2]))
        self.was_killed = False
        threading.Thread(target=self._watch, args=(self.process,), daemon=True).start()
        return self

    def start_simulator(self):
        self.simulator = Simulator(self.binary, self.folder)
        self.environment.update(self.simulator.environment)

    def _watch(self, process):
        while process.poll() is None:
            if self.memory() > self.ceiling:
                self.was_killed = True
                process.kill()
            time.sleep(0.02)

    # What the kernel says of its memory.

    def memory(self):
        """Bytes of memory it holds now; none once it has ended."""
        return self._status("VmRSS")

    def peak(self):
        """The most it held since `forget_peak`; without end where it ended by itself or had to be killed."""
        return self._status("VmHWM") if self.process.poll() is None else float("inf")

    def forget_peak(self):
        open(f"/proc/{self.process.pid}/clear_refs", "w").write("5")

    def _status(self, name):
        try:
            for line in open(f"/proc/{self.process.pid}/status"):
                if line.startswith(name + ":"):
                    return int(line.split()[1]) * 1024
        except (FileNotFoundError, ProcessLookupError):
            pass
        return 0

    def is_running(self):
        return self.process.poll() is None

    # What an operator types.

    def attempt(self, *arguments):
        return subprocess.run(
            [self.binary, *arguments], env=self.environment, cwd=self.folder, capture_output=True, text=True, timeout=60
        )

    def administer(self, *arguments):
        done = self.attempt(*arguments)
        if done.returncode != 0:
            raise AssertionError(f"tocsin {' '.join(arguments)}: {done.stderr[-400:]}")
        return done.stdout.strip()

    def add_user(self, name):
        """A new user and a token of theirs."""
        self.administer("user", "add", name)
        return self.token(name)

    def token(self, name, *flags):
        return self.administer("token", "create", "--user", name, *flags)

    def user_id(self, name):
        lines = self.administer("user", "list", "--json").splitlines()
        return next(row["id"] for row in map(json.loads, lines) if row["name"] == name)

    def token_ids(self, name):
        """Ids of a user's tokens that are good."""
        rows = map(json.loads, self.administer("token", "list", "--user", name, "--json").splitlines())
        return {row["id"] for row in rows if row["revokedAt"] is None}

    def log_text(self):
        return open(self.log, errors="replace").read() if os.path.exists(self.log) else ""

    def stop(self):
        return self._running.stop() if self.process else 0

    def remove(self):
        try:
            self.stop()
            if self.simulator:
                self.simulator.stop()
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)


class Simulator:
    """`tocsin simulator`; notes when each phone got each title."""

    def __init__(self, binary, folder):
        environment = {"PATH": os.environ["PATH"], "HOME": folder}
        command = [binary, "simulator", "--directory", os.path.join(folder, "simulator"), "--json"]
        ready = os.path.join(folder, "simulator.ready")
        self._process = subprocess.Popen(
            [*command, "--ready-file", ready],
            env=environment,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self._seen = {}
        self._lines = threading.Thread(target=self._read, daemon=True)
        self._lines.start()
        wait_until(lambda: os.path.exists(ready) and os.path.getsize(ready), 60, "the simulator is ready")
        self.environment = json.load(open(ready))["environment"]

    def _read(self):
        for line in self._process.stdout:
            push = json.loads(line)
            alert = ((push.get("payload") or {}).get("aps") or {}).get("alert") or {}
            if "title" in alert:
                self._seen.setdefault((push["token"], alert["title"]), time.monotonic())

    def arrival(self, phone, title):
        """When the phone got it first, by this process' clock; nothing if it did not."""
        return self._seen.get((phone, title))

    def stop(self):
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
