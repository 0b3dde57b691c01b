"""Drills: a fault, what the server promises meanwhile, and the alert that a real Prometheus with the shipped rules
raises. `drills.py BINARY [NAME…]`; one line for each promise, exit status 1 where one is broken."""

import argparse
import json
import os
import shutil
import signal
import sqlite3
import ssl
import subprocess
import sys
import threading
import time
import traceback
import urllib.error
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Attacks"))

from server import Server  # noqa: E402
from client import introduction, plain_socket, subscription, upgrade  # noqa: E402
from watch import ROOT, Watch, free_port, wait_until  # noqa: E402

DRILLS = {}


def drill(name):
    def add(function):
        DRILLS[name] = function
        return function

    return add


class Stage:
    """A server that Prometheus watches, its user and a topic."""

    def __init__(self, binary, watch, postgres=None, settings=None, folder=None, simulator=False):
        self.watch = watch
        self.admin = f"127.0.0.1:{free_port()}"
        self.server = Server(binary, postgres=postgres, settings={"TOCSIN_ADMIN_LISTEN": self.admin, **(settings or {})})
        if folder:
            self.server.environment["TOCSIN_DATA_DIR"] = folder
        if simulator:
            self.server.start_simulator()
        # An address of its own, so that a new start is at the same place.
        self.server.environment["TOCSIN_PORT"] = str(free_port())

    def start(self):
        if not hasattr(self, "token"):
            self.token = self.server.add_user("ada")
        self.server.start()
        self.watch.watch_only(a=self.admin)
        wait_until(lambda: self.watch.query("tocsin_ready == 1"), 30, "Prometheus sees the server")
        if not hasattr(self, "topic"):
            self.topic = self.data("mutation { createTopic(input: {name: \"alerts\"}) { id } }")["createTopic"]["id"]
        return self

    def ask(self, query, **variables):
        """The answer; its code where it is an error, `away` where there is none."""
        request = urllib.request.Request(
            self.server.address + "/graphql",
            json.dumps({"query": query, "variables": variables}).encode(),
            {"Content-Type": "application/json", "Authorization": f"Bearer {self.token}"},
        )
        try:
            # The certificate is the drill's own.
            with urllib.request.urlopen(request, timeout=20, context=ssl._create_unverified_context()) as answer:
                answer = json.load(answer)
        except urllib.error.HTTPError as error:
            answer = json.load(error)
        except OSError:
            return None, "away"
        errors = answer.get("errors")
        return answer.get("data"), errors[0]["extensions"].get("code") if errors else None

    def data(self, query, **variables):
        data, code = self.ask(query, **variables)
        if code:
            raise AssertionError(f"{query}: {code}")
        return data

    def publish(self, title, body="b"):
        """The message's number, or the error's code."""
        data, code = self.ask(
            "mutation ($t: ID!, $title: String!, $body: String!)"
            " { createMessage(input: {topicId: $t, title: $title, body: $body, type: 1}) { number } }",
            t=self.topic,
            title=title,
            body=body,
        )
        return (None, code) if code else (data["createMessage"]["number"], None)

    def titles(self):
        """The titles of all messages."""
        found, after = [], None
        while True:
            page = self.data(
                "query ($t: ID!, $after: String) { getMessageByTopicIdAndCreatedAt(topicId: $t, limit: 100, nextToken: $after)"
                " { items { title } nextToken } }",
                t=self.topic,
                after=after,
            )["getMessageByTopicIdAndCreatedAt"]
            found += [item["title"] for item in page["items"]]
            after = page["nextToken"]
            if not after:
                return found

    def phone(self, platform, token):
        self.data(
            "mutation ($t: String!, $p: String!) { registerPushToken(token: $t, platform: $p) { userId } }",
            t=token,
            p=platform,
        )

    def remove(self):
        self.watch.watch_only()
        self.server.remove()


def follower(stage, query, **options):
    """A socket that has subscribed and has read nothing since."""
    one = plain_socket(stage.server.place, seconds=20, **options)
    one.sendall(upgrade())
    one.recv(4096)
    one.sendall(introduction(stage.token))
    answer = one.recv(4096)
    if b"connection_ack" not in answer:
        raise AssertionError(f"no socket: {answer!r}")
    one.sendall(subscription("s", query, {"t": stage.topic}))
    return one


class Load(threading.Thread):
    """Publishes until it is stopped; notes what was answered."""

    def __init__(self, stage, body="b"):
        super().__init__(daemon=True)
        self.stage, self.body, self.answered, self.codes, self._ends = stage, body, [], {}, False
        self.start()

    def run(self):
        count = 0
        while not self._ends:
            count += 1
            number, code = self.stage.publish(f"load {count}", self.body)
            if code:
                self.codes[code] = self.codes.get(code, 0) + 1
                time.sleep(0.05)
            else:
                self.answered.append(f"load {count}")

    def stop(self):
        self._ends = True
        self.join(30)


def say(text, seconds=None):
    print(f"  {text}" + (f" ({seconds:.1f} s)" if seconds is not None else ""), flush=True)


def need(holds, what):
    if not holds:
        raise AssertionError(what)
    say(what)


@drill("kill")
def kill(binary, watch):
    stage = Stage(binary, watch).start()
    try:
        load = Load(stage)
        wait_until(lambda: len(load.answered) > 50, 30, "messages are published")
        stage.server.process.kill()
        stage.server.process.wait(10)
        wait_until(lambda: load.codes, 10, "the load notices")
        begin = time.monotonic()
        stage.server.start()
        say("ready again after kill -9, within 10 s", time.monotonic() - begin)
        need(time.monotonic() - begin < 10, "the start took less than 10 s")
        before = len(load.answered)
        wait_until(lambda: len(load.answered) > before + 20, 30, "publishing goes on")
        load.stop()
        kept = stage.titles()
        need(set(load.answered) <= set(kept), f"all {len(load.answered)} answered messages are there")
        need(len(kept) == len(set(kept)), "none is there twice")
        need(not watch.fires("TocsinDown"), "TocsinDown is silent: two minutes had not passed")
    finally:
        stage.remove()


@drill("disk-full")
def disk_full(binary, watch):
    folder = os.path.join(watch.folder, "small")
    os.makedirs(folder)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=48m,mode=700", "tocsin", folder]).returncode:
        raise AssertionError("a small file system cannot be mounted; run this drill as root")
    stage = None
    try:
        stage = Stage(binary, watch, folder=os.path.join(folder, "data")).start()
        stage.publish("before")
        say("TocsinDiskLow fires", watch.seen("TocsinDiskLow", 30))
        filler = os.path.join(folder, "filler")
        with open(filler, "wb") as file:
            try:
                while True:
                    file.write(b"0" * 65536)
                    file.flush()
            except OSError:
                pass
        # What SQLite had reserved is used up first.
        load = Load(stage, "x" * 50_000)
        wait_until(lambda: load.codes.get("UNAVAILABLE", 0) > 20, 60, "creates are refused")
        say("creates are refused with UNAVAILABLE")
        need("before" in stage.titles(), "reads go on")
        say("TocsinWritesRefused fires", watch.seen("TocsinWritesRefused", 120))
        load.stop()
        os.remove(filler)
        seconds = wait_until(lambda: stage.publish("after")[1] is None, 60, "writing resumes")
        say("writing resumes by itself", seconds)
        say("TocsinWritesRefused is over", watch.cleared("TocsinWritesRefused", 30))
    finally:
        if stage:
            stage.remove()
        subprocess.run(["umount", "-l", folder])


@drill("database-away")
def database_away(binary, watch):
    own = OwnPostgres(watch.folder)
    stage = Stage(binary, watch, postgres=own.url)
    try:
        stage.start()
        stage.publish("before")
        pid = stage.server.process.pid
        own.stop()
        say("TocsinNotReady fires", watch.seen("TocsinNotReady", 60))
        need(stage.publish("meanwhile")[1] == "UNAVAILABLE", "requests are answered with UNAVAILABLE")
        own.start()
        seconds = wait_until(lambda: stage.publish("after")[1] is None, 30, "service returns")
        say("service returns", seconds)
        need(seconds < 15, "it took less than 15 s")
        need(stage.server.process.pid == pid and stage.server.is_running(), "without a restart")
        say("TocsinNotReady is over", watch.cleared("TocsinNotReady", 30))
    finally:
        stage.remove()
        own.stop()


class OwnPostgres:
    """A PostgreSQL server of this drill alone, which it may stop."""

    def __init__(self, folder):
        self.data, self.port = os.path.join(folder, "postgres"), free_port()
        home = "/usr/lib/postgresql"
        self._bin = f"{home}/{max(os.listdir(home), key=int)}/bin"
        self._as = []
        if os.getuid() == 0:
            os.makedirs(self.data)
            os.chmod(folder, 0o755)
            shutil.chown(self.data, "postgres", "postgres")
            self._as = ["setpriv", "--reuid", "postgres", "--regid", "postgres", "--clear-groups"]
        self._run("initdb", "-D", self.data, "-A", "trust", "-U", "tocsin", "--no-locale", "-E", "UTF8")
        self.start()
        self.url = f"postgres://tocsin@127.0.0.1:{self.port}/postgres"

    def _run(self, command, *arguments):
        done = subprocess.run(
            [*self._as, os.path.join(self._bin, command), *arguments],
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=60,
        )
        if done.returncode:
            raise AssertionError(f"{command}: {done.stdout[-400:]}")

    def start(self):
        options = f"-p {self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync=off"
        log = os.path.join(self.data, "log")
        self._run("pg_ctl", "-D", self.data, "-l", log, "-o", options, "-w", "start")

    def stop(self):
        try:
            self._run("pg_ctl", "-D", self.data, "-m", "fast", "-w", "stop")
        except AssertionError:
            pass


@drill("provider-down")
def provider_down(binary, watch):
    stage = Stage(binary, watch, simulator=True)
    # A port where nobody listens, in place of Apple.
    name = "APNS_ENDPOINT"
    there = stage.server.environment[name]
    stage.server.environment[name] = f"https://127.0.0.1:{free_port()}"
    try:
        stage.start()
        stage.phone("ios", "ab" * 32)
        stage.phone("android", "fcm-drill")
        stage.publish("while Apple is away")
        wait_until(
            lambda: watch.query('tocsin_deliveries_total{provider="fcm", status="accepted"} > 0'),
            30,
            "Google's push goes out",
        )
        say("the other provider's push goes out")
        # What waits for a paused lane is put off and not due, so the queue's age says nothing here.
        say("TocsinProviderPaused fires", watch.seen("TocsinProviderPaused", 120))
        stage.server.stop()
        stage.server.environment[name] = there
        stage.server.start()
        seconds = wait_until(
            lambda: watch.query('tocsin_deliveries_total{provider="apns", status="accepted"} > 0'), 120, "Apple's goes out"
        )
        say("what waited goes out when the provider is back", seconds)
        say("TocsinProviderPaused is over", watch.cleared("TocsinProviderPaused", 60))
    finally:
        stage.remove()


@drill("bad-credentials")
def bad_credentials(binary, watch):
    stage = Stage(binary, watch, simulator=True)
    try:
        stage.start()
        stage.phone("ios", "403c" + "ab" * 30)
        stage.phone("android", "fcm-drill")
        stage.publish("refused by Apple")
        say("TocsinProviderPaused fires", watch.seen("TocsinProviderPaused", 60))
        wait_until(
            lambda: watch.query('tocsin_deliveries_total{provider="fcm", status="accepted"} > 0'),
            30,
            "Google's push goes out",
        )
        say("the other provider is unmoved")
        need(
            not watch.query('tocsin_deliveries_total{provider="apns", status=~"failed|ended"} > 0'),
            "no delivery and no device ends by it",
        )
    finally:
        stage.remove()


def certificate_for(folder, days):
    """The files of a new certificate and its key, in place of those before."""
    key, chain = os.path.join(folder, "key.pem"), os.path.join(folder, "chain.pem")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
        + ["-days", str(days), "-subj", "/CN=drill", "-addext", "subjectAltName=IP:127.0.0.1"]
        + ["-keyout", key + ".new", "-out", chain + ".new"],
        check=True,
        capture_output=True,
    )
    os.replace(key + ".new", key)
    os.replace(chain + ".new", chain)
    return chain, key


@drill("certificate")
def certificate(binary, watch):
    chain, key = certificate_for(watch.folder, 1)
    stage = Stage(binary, watch, settings={"TOCSIN_TLS_CERTIFICATE": chain, "TOCSIN_TLS_KEY": key})
    try:
        stage.start()
        say("TocsinCertificateSoon fires a day before the end", watch.seen("TocsinCertificateSoon", 30))
        certificate_for(watch.folder, 90)
        stage.server.process.send_signal(signal.SIGHUP)
        say("a reload clears it", watch.cleared("TocsinCertificateSoon", 30))
        need(stage.server.is_running(), "the server goes on")
    finally:
        stage.remove()


@drill("slow-readers")
def slow_readers(binary, watch):
    count = 300
    # All readers are one owner's; what waits for them must not stop its publishing.
    plenty = {
        "TOCSIN_SOCKETS_PER_OWNER": "4096",
        "TOCSIN_MEMORY_PER_OWNER_BYTES": "134217728",
        "TOCSIN_SOCKET_QUEUE_BYTES": "131072",
    }
    stage = Stage(binary, watch, settings=plenty).start()
    query = "subscription ($t: ID!) { onCreateMessage(topicId: $t) { id title body } }"
    sockets = []
    try:
        for _ in range(count):
            sockets.append(follower(stage, query, receive_bytes=4096))
        wait_until(lambda: watch.query(f"sum(tocsin_subscriptions) >= {count}"), 60, "the readers are there")
        times = []
        for number in range(400):
            begin = time.monotonic()
            _, code = stage.publish(f"to nobody {number}", "x" * 50_000)
            times.append(time.monotonic() - begin)
            if code:
                raise AssertionError(f"createMessage: {code}")
            if watch.query(f"sum(tocsin_slow_readers_cut_total) >= {count}"):
                break
        say(f"{count} readers that do not read are cut")
        say(f"createMessage went on: the slowest of {len(times)}", max(times))
        say("TocsinSlowReaders fires", watch.seen("TocsinSlowReaders", 40))
    finally:
        for one in sockets:
            one.close()
        stage.remove()


@drill("restore")
def restore(binary, watch):
    stage = Stage(binary, watch).start()
    try:
        for number in range(200):
            stage.publish(f"kept {number}")
        copy = os.path.join(stage.server.folder, "copy.db")
        begin = time.monotonic()
        stage.server.administer("backup", copy)
        stage.publish("after the backup")
        stage.server.process.kill()
        stage.server.process.wait(10)
        data = stage.server.environment["TOCSIN_DATA_DIR"]
        for name in ("tocsin.db", "tocsin.db-wal", "tocsin.db-shm"):
            if os.path.exists(os.path.join(data, name)):
                os.remove(os.path.join(data, name))
        shutil.copyfile(copy, os.path.join(data, "tocsin.db"))
        check = sqlite3.connect(os.path.join(data, "tocsin.db")).execute("pragma integrity_check").fetchone()[0]
        need(check == "ok", "the copy passes integrity_check")
        stage.server.start()
        say("backup, loss and restore took", time.monotonic() - begin)
        kept = stage.titles()
        need({f"kept {number}" for number in range(200)} <= set(kept), "all messages up to the backup are there")
        need(stage.publish("after the restore")[1] is None, "publishing goes on")
    finally:
        stage.remove()


# Panels of what a set-up here may lack.
SOMETIMES = {"Memory of its limit": "no control group limits this machine's memory"}


@drill("board")
def board(binary, watch):
    """Two nodes on PostgreSQL with phones and readers, and a server on SQLite with TLS, all under load."""
    own = OwnPostgres(watch.folder)
    stages, readers, loads = [], [], []
    try:
        first = Stage(binary, watch, postgres=own.url, simulator=True, settings={"TOCSIN_SERVER_KEY": "00" * 32})
        shared = {key: value for key, value in first.server.environment.items() if key not in ("TOCSIN_DATA_DIR", "HOME")}
        stages.append(first.start())
        second = Stage(binary, watch, settings={**shared, "TOCSIN_PORT": "0", "TOCSIN_NODE": "second"})
        second.server.environment["TOCSIN_ADMIN_LISTEN"] = second.admin
        chain, key = certificate_for(watch.folder, 90)
        alone = Stage(binary, watch, settings={"TOCSIN_TLS_CERTIFICATE": chain, "TOCSIN_TLS_KEY": key})
        # The commands' own way in stays beside that of Prometheus.
        alone.server.environment["TOCSIN_ADMIN_LISTEN"] = f"unix:{alone.server.folder}/admin.sock,{alone.admin}"
        stages.append(alone.start())
        second.token, second.topic = first.token, first.topic
        stages.append(second)
        second.server.start()
        watch.watch_only(first=first.admin, second=second.admin, alone=alone.admin)
        first.phone("ios", "ab" * 32)
        first.phone("android", "fcm-drill")
        for stage in (first, second):
            readers.append(reader(stage))
        loads += [Load(stage) for stage in stages]
        for stage in stages:
            stage.ask("{ unknown }")
            stage.server.process.send_signal(signal.SIGHUP)
        # The time of a copy is told once there is one.
        alone.server.administer("admin", "backup", os.path.join(alone.server.folder, "copy.db"))
        panels = [
            (panel["title"], target["expr"])
            for panel in json.load(open(os.path.join(ROOT, "ops", "grafana", "tocsin.json")))["panels"]
            for target in panel.get("targets", [])
        ]
        need(len(panels) >= 50, f"the board asks {len(panels)} queries")
        open_yet = list(panels)

        def all_answer():
            # What has no value yet, such as a quantile of nothing, is no answer.
            open_yet[:] = [one for one in open_yet if not any(value == value for _, value in watch.query(filled(one[1])))]
            return all(title in SOMETIMES for title, _ in open_yet)

        try:
            say("each panel's query answers", wait_until(all_answer, 90, "each panel answers"))
        except AssertionError:
            raise AssertionError("no series answers " + "; ".join(f"{title}: {query}" for title, query in open_yet)) from None
        for title, _ in open_yet:
            say(f"left out: {title}, for {SOMETIMES[title]}")
    finally:
        for load in loads:
            load.stop()
        for one in readers:
            one.close()
        for stage in reversed(stages):
            stage.remove()
        own.stop()


def filled(query):
    """A panel's query with values for the board's variables."""
    for name, value in [("$__rate_interval", "30s"), ("$job", "tocsin"), ("$node", ".*")]:
        query = query.replace(name, value)
    return query


def reader(stage):
    """A socket that follows the topic and reads what it gets."""
    one = follower(stage, "subscription ($t: ID!) { onCreateMessage(topicId: $t) { id } }")

    def read():
        try:
            while one.recv(65536):
                pass
        except OSError:
            pass

    threading.Thread(target=read, daemon=True).start()
    return one


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("binary")
    parser.add_argument("names", nargs="*", help=", ".join(DRILLS))
    options = parser.parse_args()
    unknown = [name for name in options.names if name not in DRILLS]
    if unknown:
        parser.error(f"no drill {unknown[0]}; there are {', '.join(DRILLS)}")
    broken = []
    for name in options.names or DRILLS:
        watch = Watch()
        print(name, flush=True)
        begin = time.monotonic()
        try:
            DRILLS[name](os.path.abspath(options.binary), watch)
            say("passed", time.monotonic() - begin)
        except Exception as error:
            broken.append(name)
            say(f"BROKEN: {error}")
            if not isinstance(error, AssertionError):
                traceback.print_exc()
        finally:
            watch.stop()
            shutil.rmtree(watch.folder, ignore_errors=True)
    if broken:
        print(f"broken: {', '.join(broken)}")
        sys.exit(1)


if __name__ == "__main__":
    main()
