"""Runs the commands of docs/runbook.md where something is wrong, and writes what they print below them: `runbook.py BINARY`
checks that each runs, and with --write the page is written anew. Needs root for a small file system that is full.

The server, the databases and the providers are real and small. Where no systemd runs, `systemctl` does to the server what it
would, and `journalctl` finds its lines in the server's log. Names of folders and the port are those of the Debian package."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request

from drills import OwnPostgres, certificate_for, follower

from server import Server  # noqa: E402  (drills adds its folder)
from watch import ROOT, free_port, wait_until

PAGE = os.path.join(ROOT, "docs", "runbook.md")
ENTRY = r"(?ms)^### (Tocsin\w+)\n(.*?)(?=^### |^## |\Z)"
#: What they are for is told; here they would change the machine.
LEFT_ALONE = ["systemctl", "timedatectl", "apt-get", "nft"]
STUBS = """
sudo() { "$@"; }
tocsin() { command "$BINARY" "$@"; }
series() { curl --silent --unix-socket "$TOCSIN_DATA_DIR/admin.sock" http://tocsin/metrics; }
systemctl() { if [ "$1 $2" = "reload tocsin" ]; then kill -HUP "$SERVER"; fi; }
timedatectl() { :; }
nft() { :; }
apt-get() { :; }
journalctl() {
    local grep=. level=. lines=100000
    while [ $# -gt 0 ]; do
        case "$1" in
        --grep) grep=$2; shift ;;
        --priority) if [ "$2" = err ]; then level='"level":"(error|critical)"|^tocsin: '; else level='"level":"(warning|error|critical)"'; fi; shift ;;
        --lines) lines=$2; shift ;;
        esac
        shift
    done
    command grep -E -e "$level" "$LOG" | command grep -E -e "$grep" | tail -n "$lines"
}
"""


class Scene:
    """A server in trouble, and what an operator's shell on that machine has."""

    def __init__(self, binary, postgres=None, simulator=False, folder=None, **settings):
        self.postgres = postgres
        self.server = Server(binary, settings={"TOCSIN_NODE": "node-1", **settings})
        if folder:
            self.server.environment["TOCSIN_DATA_DIR"] = folder
        if postgres:
            self.server.environment["TOCSIN_DATABASE_URL"] = postgres
        self.server.environment["TOCSIN_PORT"] = str(free_port())
        self.config = os.path.join(self.server.folder, "tocsin.toml")
        open(self.config, "w").write('messages-keep = "90d"\n')
        os.chmod(self.config, 0o600)
        self.server.environment["TOCSIN_CONFIG"] = self.config
        if simulator:
            self.server.start_simulator()
        self.words = {}

    def start(self):
        self.token = self.server.add_user("ada")
        self.server.start()
        url = f"http://127.0.0.1:{self.server.environment['TOCSIN_PORT']}"
        if "TOCSIN_TLS_KEY" not in self.server.environment:
            self.server.environment.update({"TOCSIN_URL": url, "TOCSIN_TOKEN": self.token})
            self.topic = self.server.administer("topic", "create", "alerts")
        return self

    def publish(self, title, body="b"):
        return self.server.attempt("publish", "alerts", "--title", title, "--body", body)

    def shell(self, command):
        """What a command prints on its terminal, with the names of the Debian package."""
        names = {
            "/var/lib/tocsin": self.server.environment["TOCSIN_DATA_DIR"],
            "/etc/tocsin/tocsin.toml": self.config,
            "/etc/tocsin": self.server.folder,
            "127.0.0.1:8080": f"127.0.0.1:{self.server.environment['TOCSIN_PORT']}",
            "port 8080": f"port {self.server.environment['TOCSIN_PORT']}",
        }
        for theirs, ours in {**names, **self.words}.items():
            command = command.replace(theirs, ours)
        environment = {
            **self.server.environment,
            "BINARY": self.server.binary,
            "LOG": self.server.log,
            "SERVER": str(self.server.process.pid if self.server.process else 0),
            "COLUMNS": "100",
            "LC_ALL": "C.UTF-8",
            "TZ": "UTC",
        }
        done = subprocess.run(
            ["bash", "-c", STUBS + command], env=environment, cwd="/", stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60
        )
        text = done.stdout
        for theirs, ours in sorted(names.items(), key=lambda pair: -len(pair[1])):
            text = text.replace(ours, theirs)
        # PostgreSQL's own port is a usual one, too.
        return re.sub(r"port \d{5} failed", "port 5432 failed", text).replace(self.server.folder, "/var/lib/tocsin")

    def series(self, name):
        for line in self.shell("series").splitlines():
            if line.startswith(name):
                return float(line.rsplit(" ", 1)[1])
        return 0

    def remove(self):
        self.server.remove()


# Each answers for some alerts; `said` runs the commands of an entry and keeps what they print.


def not_running(binary, said):
    scene = Scene(binary)
    try:
        open(scene.config, "w").write("port = 80800\n")
        del scene.server.environment["TOCSIN_PORT"]
        with open(scene.server.log, "ab") as log:
            subprocess.run([binary, "serve"], env=scene.server.environment, stderr=log, timeout=60)
        scene.server.environment["TOCSIN_PORT"] = str(free_port())
        said(scene, "TocsinDown")
    finally:
        scene.remove()


def busy(binary, said):
    scene = Scene(binary, simulator=True).start()
    try:
        listener = follower_of(scene)
        for number in range(30):
            scene.publish(f"message {number}")
        wait_until(lambda: scene.series('tocsin_commit_to_socket_seconds_count{hop="same"}') > 0, 30, "events are on their way")
        listener.close()
        wait_until(lambda: scene.series("tocsin_metrics_refresh_age_seconds") > 0, 60, "the database's figures are read")
        wait_until(lambda: scene.series("tocsin_job_last_success") > 0, 90, "a job has run")
        for alert in ["PublishBudgetFast", "PublishBudgetSlow", "PushQueueOld", "UrgentFanoutOld", "LiveSlow", "WalLarge", "DiskLow"]:
            said(scene, "Tocsin" + alert)
        for alert in ["MemoryHigh", "FilesHigh", "LoopLag"]:
            said(scene, "Tocsin" + alert)
    finally:
        scene.remove()


def follower_of(scene):
    class Stage:
        server, token, topic = scene.server, scene.token, scene.topic

    return follower(Stage, "subscription ($t: ID!) { onCreateMessage(topicId: $t) { id title body } }", receive_bytes=4096)


def disk_full(binary, said):
    folder = tempfile.mkdtemp(prefix="tocsin-small-")
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=48m,mode=700", "tocsin", folder], check=True)
    scene = None
    try:
        scene = Scene(binary, folder=folder).start()
        scene.server.administer("admin", "backup", os.path.join(folder, "backup.db"))
        filler = os.path.join(folder, "filler")
        with open(filler, "wb", buffering=0) as file:
            try:
                while True:
                    file.write(b"0" * 4096)
            except OSError:
                pass
        wait_until(lambda: scene.publish("x", "x" * 50_000).returncode != 0, 60, "creates are refused")
        wait_until(lambda: scene.publish("x", "x" * 50_000) and "refus" in scene.shell("curl --silent http://127.0.0.1:8080/readyz"), 30, "it says so")
        said(scene, "TocsinWritesRefused")
        said(scene, "TocsinBackupLate", {2: lambda: os.remove(filler)})
    finally:
        if scene:
            scene.remove()
        subprocess.run(["umount", "-l", folder], check=True)
        os.rmdir(folder)


def postgres(binary, said):
    folder = tempfile.mkdtemp(prefix="tocsin-postgres-")
    own, scene, other = OwnPostgres(folder), None, None
    try:
        scene = Scene(binary, postgres=own.url).start()
        scene.publish("before")
        said(scene, "TocsinClockOffset")
        other = subprocess.Popen(["psql", own.url], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        other.stdin.write("begin;\nlock table topics in share mode;\nselect 'open', pg_backend_pid();\n")
        other.stdin.flush()
        pid = None
        while pid is None:
            found = re.search(r"open +\| +(\d+)", other.stdout.readline())
            pid = found and found[1]
        time.sleep(2)
        scene.words["PID"] = pid
        said(scene, "TocsinJournalLag")
        other.kill()
        wait_until(lambda: scene.series("tocsin_job_last_success") > 0, 90, "a job has run")
        own.stop()
        wait_until(lambda: scene.server.attempt("admin", "ready").returncode != 0, 60, "the server is not ready")
        wait_until(lambda: scene.shell("journalctl --priority err --lines 1"), 60, "the log says so")
        said(scene, "TocsinNotReady")
        said(scene, "TocsinJobStuck")
    finally:
        if other:
            other.kill()
        if scene:
            scene.remove()
        own.stop()
        shutil.rmtree(folder, ignore_errors=True)


def providers(binary, said):
    for alert, token in [("TocsinProviderPaused", "403c" + "ab" * 30), ("TocsinProviderErrors", "503" + "ab" * 30 + "0")]:
        scene = Scene(binary, simulator=True).start()
        try:
            register(scene, token)
            scene.words["MESSAGE"] = scene.publish("to a phone").stdout.split()[0]
            wait_until(lambda: scene.series("tocsin_push_attempt_duration_seconds_count") or answered(scene), 60, "the provider has answered")
            if alert == "TocsinProviderPaused":
                wait_until(lambda: scene.shell("journalctl --grep push_provider_paused"), 60, "the provider is paused")
            said(scene, alert)
        finally:
            scene.remove()


def register(scene, token):
    body = {"query": "mutation ($t: String!) { registerPushToken(token: $t, platform: \"ios\") { userId } }", "variables": {"t": token}}
    request = urllib.request.Request(
        scene.server.environment["TOCSIN_URL"] + "/graphql",
        json.dumps(body).encode(),
        {"Content-Type": "application/json", "Authorization": f"Bearer {scene.token}"},
    )
    urllib.request.urlopen(request, timeout=20).close()


def answered(scene):
    return [line for line in scene.shell("series | grep '^tocsin_push_answers_total' | grep -v ' 0$'").splitlines() if line]


def slow_readers(binary, said):
    scene = Scene(binary, TOCSIN_SOCKET_QUEUE_BYTES="131072").start()
    reader = follower_of(scene)
    try:
        def is_cut():
            scene.publish("to nobody", "x" * 100_000)
            return scene.shell("journalctl --grep slow_reader_cut")

        wait_until(is_cut, 60, "the reader is cut")
        scene.words["ID"] = scene.server.administer("token", "list", "--user", "ada").split()[0]
        said(scene, "TocsinSlowReaders")
    finally:
        reader.close()
        scene.remove()


def certificate(binary, said):
    scene = Scene(binary)
    try:
        chain, key = certificate_for(scene.server.folder, 9)
        os.rename(chain, os.path.join(scene.server.folder, "cert.pem"))
        names = {"TOCSIN_TLS_CERTIFICATE": os.path.join(scene.server.folder, "cert.pem"), "TOCSIN_TLS_KEY": key}
        scene.server.environment.update(names)
        scene.start()
        said(scene, "TocsinCertificateSoon")
    finally:
        scene.remove()


def guesses(binary, said):
    scene = Scene(binary).start()
    try:
        for number in range(40):
            scene.shell(f"curl --silent --output /dev/null http://127.0.0.1:8080/graphql -H 'Authorization: Bearer guess{number}' --json '{{}}'")
        said(scene, "TocsinAuthAttack")
    finally:
        scene.remove()


def reload(binary, said):
    scene = Scene(binary).start()
    try:
        open(scene.config, "w").write('messages-keep = "90 days"\n')
        scene.server.process.send_signal(signal.SIGHUP)
        wait_until(lambda: scene.shell("journalctl --priority err"), 30, "the reload is refused")
        said(scene, "TocsinReloadFailed")
    finally:
        scene.remove()


SCENES = [not_running, busy, disk_full, postgres, providers, slow_readers, certificate, guesses, reload]


def main():
    binary, writes = os.path.abspath(sys.argv[1]), "--write" in sys.argv[2:]
    only = [name for name in sys.argv[2:] if not name.startswith("-")]
    page = open(PAGE).read()
    entries = {name: re.search(r"```console\n(.*?)```\n", text, re.S)[1] for name, text in re.findall(ENTRY, page)}
    blocks, silent = {}, []

    def said(scene, alert, before={}):
        lines = []
        for number, line in enumerate(line[2:] for line in entries[alert].splitlines() if line.startswith("$ ")):
            before.get(number, lambda: None)()
            text = scene.shell(line).rstrip("\n")
            lines.append("$ " + line)
            lines += [each.rstrip() for each in text.split("\n")] if text else []
            if not text and not any(word in line for word in LEFT_ALONE):
                silent.append(f"{alert}: {line}")
        blocks[alert] = "\n".join(lines) + "\n"
        print(f"{alert}\n{blocks[alert]}", flush=True)

    for scene in SCENES:
        if not only or scene.__name__ in only:
            scene(binary, said)
    for alert, block in blocks.items():
        page = page.replace(f"```console\n{entries[alert]}```", f"```console\n{block}```", 1) if entries[alert] != block else page
    if writes:
        open(PAGE, "w").write(page)
    missing = [] if only else sorted(set(entries) - set(blocks))
    if silent or missing:
        sys.exit(f"These print nothing: {silent}. These have no scene: {missing}.")


main()
