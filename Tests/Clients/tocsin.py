"""A server of the built binary in a folder of its own, for the checks beside this file."""

import http.client
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request

# Whoever is cut off ends what it has started.
signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))


class Server:
    """Runs `tocsin serve`; leaves nothing behind."""

    def __init__(self, binary, *flags):
        self.binary = binary
        self.folder = tempfile.mkdtemp(prefix="tocsin-clients-")
        self.log = open(os.path.join(self.folder, "log"), "wb")
        self._data = ["--data-dir", os.path.join(self.folder, "data")]
        self._flags = flags
        self._start("0")

    def _start(self, port):
        ready = os.path.join(self.folder, "ready")
        if os.path.exists(ready):
            os.remove(ready)
        command = [self.binary, "serve", "--port", port, "--ready-file", ready, *self._data, *self._flags]
        self.process = subprocess.Popen(command, stdout=self.log, stderr=self.log)
        deadline = time.monotonic() + 60
        while not (os.path.exists(ready) and os.path.getsize(ready)):
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise SystemExit("the server did not start: " + open(self.log.name).read()[-2000:])
            time.sleep(0.05)
        self.address = open(ready).read().strip()
        self.host = self.address.removeprefix("http://")
        self.sockets = self.address.replace("http://", "ws://")

    def kill_and_restart(self):
        """As after a power cut: on the same data and port."""
        self.process.kill()
        self.process.wait(20)
        self._start(self.address.rsplit(":", 1)[1])

    def administer(self, *arguments, **options):
        done = subprocess.run([self.binary, *arguments, *self._data], capture_output=True, text=True, timeout=60, **options)
        if done.returncode != 0:
            raise SystemExit(f"tocsin {' '.join(arguments)} failed: {done.stderr}")
        return done.stdout.strip()

    def add_user(self, name):
        """A new user and a token of theirs."""
        self.administer("user", "add", name)
        return self.administer("token", "create", "--user", name)

    def create_key(self):
        """A new API key."""
        return self.administer("key", "create")

    def post(self, token, query, **variables):
        """The data of a query or a mutation."""
        body = json.dumps({"query": query, "variables": variables}).encode()
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {token}"}
        request = urllib.request.Request(self.address + "/graphql", body, headers)
        answer = json.load(urllib.request.urlopen(request, timeout=20))
        if "errors" in answer:
            raise AssertionError(answer["errors"])
        return answer["data"]

    def create_topic(self, token, name):
        return self.post(token, "mutation($n: String!) { createTopic(input: {name: $n}) { id } }", n=name)[
            "createTopic"
        ]["id"]

    def publish(self, token, topic, title):
        self.post(token, CREATE_MESSAGE, input={"topicId": topic, "type": 0, "title": title, "body": "b"})

    def stop(self):
        self.process.terminate()
        try:
            status = self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            status = "killed"
        self.log.close()
        if status == 0:
            shutil.rmtree(self.folder, ignore_errors=True)
        return status


ANSWERED, REFUSED, UNKNOWN = "answered", "refused", "unknown"


def send(host, path, body, headers=()):
    """What became of a request that is sent once: ANSWERED, REFUSED (it may have caused nothing), or UNKNOWN."""
    connection = http.client.HTTPConnection(host, timeout=60)
    try:
        try:
            connection.connect()
        except OSError:
            return REFUSED, None
        try:
            fields = {"Content-Type": "application/json", **dict(headers)}
            connection.request("POST", path, json.dumps(body), fields)
            answer = connection.getresponse()
            said = answer.read()
        except (OSError, http.client.HTTPException):
            return UNKNOWN, None
        return (ANSWERED if answer.status < 300 else REFUSED), (answer.status, said)
    finally:
        connection.close()


class Simulator:
    """Runs `tocsin simulator`: the fake push services of phones and browsers."""

    def __init__(self, binary):
        self.folder = tempfile.mkdtemp(prefix="tocsin-simulator-")
        ready = os.path.join(self.folder, "ready")
        command = [binary, "simulator", "--directory", os.path.join(self.folder, "keys"), "--ready-file", ready, "--quiet"]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 60
        while not os.path.exists(ready):
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise SystemExit("the simulator did not start")
            time.sleep(0.05)
        with open(ready, encoding="utf-8") as file:
            addresses = json.load(file)
        self.control, self.environment = addresses["control"], addresses["environment"]
        #: What Firefox's preference dom.push.serverURL takes.
        self.browsers = self.control.replace("http://", "ws://") + "/_browser"

    def ask(self, path, body=None):
        """The control address's answer; what is posted is JSON."""
        data = None if body is None else json.dumps(body).encode()
        with urllib.request.urlopen(urllib.request.Request(self.control + path, data), timeout=20) as answer:
            return json.load(answer)

    def stop(self):
        self.process.terminate()
        self.process.wait(20)
        shutil.rmtree(self.folder, ignore_errors=True)


CREATE_MESSAGE = """
mutation CreateMessage($input: CreateMessageInput!) {
  createMessage(input: $input) {
    id title body type topicId createdAt updatedAt owner _version _deleted _lastChangedAt number cursor
  }
}
"""
ON_CREATE_MESSAGE = "subscription OnCreateMessage { onCreateMessage { id title owner number cursor } }"


class Checks:
    """Counts what passes and what does not."""

    def __init__(self):
        self.passed = 0
        self.failed = 0

    def report(self, name, error=None):
        if error is None:
            self.passed += 1
            print(f"ok    {name}", flush=True)
        else:
            self.failed += 1
            print(f"FAIL  {name}: {type(error).__name__}: {str(error)[:600]}", flush=True)

    def end(self):
        print(f"{self.passed} passed, {self.failed} failed", flush=True)
        raise SystemExit(1 if self.failed else 0)
