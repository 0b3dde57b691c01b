"""A cluster of three Alertmanagers, fed by Prometheus, posts to the built server while parts of both are killed.
Use: alertmanager.py BINARY [--settle]

With --settle it waits until a late firing would have reopened the incident, which takes 70 seconds more.
With TOCSIN_TEST_POSTGRES there are two servers on a database of their own there; without it one, on SQLite, which is killed
and started again. Prometheus and Alertmanager are taken from PATH."""

import base64
import http.server
import json
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from ports import free_ports  # noqa: E402
from tocsin import Checks, Server  # noqa: E402

PHONE = "a" * 64
CREATE = "mutation($i: CreateIntegrationInput!) { createIntegration(input: $i) { id } }"
ROTATE = "mutation($id: ID!) { rotateIntegrationKey(id: $id) { key } }"
REGISTER = 'mutation($t: String!) { registerPushToken(token: $t, platform: "ios") { userId } }'
MESSAGES = """query($id: ID!) { page: getMessageByTopicIdAndCreatedAt(topicId: $id, limit: 100) {
    items { number title incidentChange } } }"""
INCIDENTS = """query($id: ID!) { page: incidentsByTopicIdAndOpenedAt(topicId: $id, limit: 10) { items {
    id number state key title alertCount firingCount data resolvedVia
    alerts(limit: 20) { items { fingerprint state labels startsAt endsAt } } timeline(limit: 100) { items { change } } } } }"""

CONFIG = """
route:
  receiver: tocsin
  group_by: [alertname]
  group_wait: 1s
  group_interval: 2s
  repeat_interval: 1h
receivers:
- name: tocsin
  webhook_configs:
"""
WEBHOOK = """  - url: {address}/in/alertmanager
    max_alerts: 1000
    http_config: {{ authorization: {{ credentials: {key} }} }}
"""
PAGERDUTY = """  - url: {address}/v2/enqueue
    routing_key: {key}
    severity: critical
"""
RULES = """
groups:
- name: disks
  rules:
  - alert: DiskFull
    expr: disk_used > 90
    labels: { severity: critical }
    annotations: { summary: "{{ $labels.disk }} is at {{ $value }} %" }
  - alert: Planned
    expr: planned_work > 0
    labels: { severity: critical }
"""


def until(holds, what, seconds=60):
    """What `holds` answers, once it is true."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            found = holds()
            if found:
                return found
        except (OSError, ValueError) as error:
            found = error
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds} s: {what}; {found}")
        time.sleep(0.2)


def fetch(url, body=None):
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(urllib.request.Request(url, data, {"Content-Type": "application/json"}), timeout=10) as answer:
        return json.loads(answer.read() or b"null")


class Exporter:
    """What Prometheus scrapes: two disks and a planned work, full or not."""

    def __init__(self):
        self.full = False
        exporter = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                used, planned = (95, 1) if exporter.full else (10, 0)
                text = f'disk_used{{disk="db-1"}} {used}\ndisk_used{{disk="db-2"}} {used}\nplanned_work {planned}\n'
                self.send_response(200)
                self.send_header("Content-Type", "text/plain; version=0.0.4")
                self.end_headers()
                self.wfile.write(text.encode())

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.host = f"127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


class Program:
    """Somebody else's program, started again with the same arguments when asked."""

    def __init__(self, folder, name, command):
        self.folder, self.command = folder, command
        self.log = open(os.path.join(folder, name + ".log"), "ab")
        self.start()

    def start(self):
        self.process = subprocess.Popen(self.command, cwd=self.folder, stdout=self.log, stderr=self.log)

    def end(self, kill=False):
        if self.process.poll() is None:
            self.process.kill() if kill else self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(20)


class Way:
    """An integration with a topic of its own."""

    def __init__(self, server, token, kind):
        self.server, self.token, self.kind = server, token, kind
        self.topic = server.create_topic(token, kind.lower())
        made = {"name": kind, "kind": kind, "topicId": self.topic}
        self.id = server.post(token, CREATE, i=made)["createIntegration"]["id"]
        self.key = server.post(token, ROTATE, id=self.id)["rotateIntegrationKey"]["key"]

    def incidents(self):
        return self.server.post(self.token, INCIDENTS, id=self.topic)["page"]["items"]

    def states(self):
        return [incident["state"] for incident in self.incidents()]

    def changes(self):
        items = self.server.post(self.token, MESSAGES, id=self.topic)["page"]["items"]
        return [item["incidentChange"] for item in sorted(items, key=lambda item: item["number"])]


class Stage:
    """The simulator, servers, three Alertmanagers, an exporter and Prometheus."""

    def __init__(self, binary):
        self.folder = tempfile.mkdtemp(prefix="tocsin-cluster-")
        self.programs, self.servers, self.killed = [], [], []
        self.database = None
        self.binary = binary

    def start(self):
        ready = os.path.join(self.folder, "simulator.ready")
        command = [self.binary, "simulator", "--directory", os.path.join(self.folder, "simulator"), "--ready-file", ready]
        self.run("simulator", command)
        until(lambda: os.path.exists(ready) and os.path.getsize(ready), "the simulator is ready")
        simulator = json.load(open(ready))
        self.control = simulator["control"]
        os.environ.update(simulator["environment"])
        count = 1
        if os.environ.get("TOCSIN_TEST_POSTGRES"):
            count = 2
            os.environ["TOCSIN_DATABASE_URL"] = self.make_database(os.environ["TOCSIN_TEST_POSTGRES"])
            os.environ["TOCSIN_SERVER_KEY"] = base64.b64encode(secrets.token_bytes(32)).decode()
        for number in range(count):
            if count > 1:
                os.environ["TOCSIN_NODE"] = f"node{number}"
            self.servers.append(Server(self.binary))
        self.token = self.servers[0].add_user("ada")
        self.servers[0].post(self.token, REGISTER, t=PHONE)
        self.webhook = Way(self.servers[0], self.token, "ALERTMANAGER")
        self.pagerduty = Way(self.servers[0], self.token, "PAGERDUTY")
        self.ways = [self.webhook, self.pagerduty]
        config = CONFIG
        for shape, way in ((WEBHOOK, self.webhook), ("  pagerduty_configs:\n", None), (PAGERDUTY, self.pagerduty)):
            places = self.servers if way else self.servers[:1]
            config += "".join(shape.format(address=place.address, key=way.key if way else "") for place in places)
        self.write("am.yml", config)
        self.start_alertmanagers()
        self.exporter = Exporter()
        self.write("rules.yml", RULES)
        self.write("prometheus.yml", json.dumps({
            "global": {"scrape_interval": "1s", "scrape_timeout": "1s", "evaluation_interval": "1s"},
            "rule_files": ["rules.yml"],
            "alerting": {"alertmanagers": [{"static_configs": [{"targets": self.hosts}]}]},
            "scrape_configs": [{"job_name": "disks", "static_configs": [{"targets": [self.exporter.host]}]}],
        }))
        self.run("prometheus", [
            shutil.which("prometheus"), "--config.file=prometheus.yml", f"--storage.tsdb.path={self.folder}/prometheus",
            "--rules.alert.resend-delay=1s", f"--web.listen-address=127.0.0.1:{free_ports(1)[0]}",
        ])

    def start_alertmanagers(self):
        program = shutil.which("prometheus-alertmanager") or shutil.which("alertmanager")
        ports = free_ports(6)
        self.hosts = [f"127.0.0.1:{port}" for port in ports[:3]]
        peers = [f"--cluster.peer=127.0.0.1:{port}" for port in ports[3:]]
        self.alertmanagers = [
            self.run(f"alertmanager{number}", [
                program, "--config.file=am.yml", f"--storage.path={self.folder}/am{number}",
                f"--web.listen-address={self.hosts[number]}", f"--cluster.listen-address=127.0.0.1:{ports[3 + number]}",
                *[peer for place, peer in enumerate(peers) if place != number],
                "--cluster.gossip-interval=50ms", "--cluster.pushpull-interval=1s", "--cluster.peer-timeout=2s",
                "--cluster.settle-timeout=3s", "--cluster.probe-interval=300ms", "--cluster.probe-timeout=200ms",
                "--cluster.reconnect-interval=1s",
            ])
            for number in range(3)
        ]
        for host in self.hosts:
            self.until_together(host, 3)

    def until_together(self, host, members):
        def together():
            cluster = fetch(f"http://{host}/api/v2/status")["cluster"]
            return cluster["status"] == "ready" and len(cluster["peers"]) >= members

        until(together, f"{host} has {members} members")

    def run(self, name, command):
        program = Program(self.folder, name, command)
        self.programs.append(program)
        return program

    def write(self, name, text):
        with open(os.path.join(self.folder, name), "w") as file:
            file.write(text)

    def make_database(self, postgres):
        name = "cluster_" + secrets.token_hex(8)
        subprocess.run(
            ["psql", "-q", "-d", postgres, "-c", f"CREATE DATABASE {name}"], check=True, capture_output=True, timeout=60
        )
        self.database = name
        return postgres.rpartition("/")[0] + "/" + name

    def end(self):
        """The statuses of the servers that were not killed."""
        for program in reversed(self.programs[1:]):
            program.end()
            program.log.close()
        statuses = []
        for server in self.servers:
            status = server.stop()
            if server in self.killed:
                shutil.rmtree(server.folder, ignore_errors=True)
            else:
                statuses.append(status)
        if self.programs:
            self.programs[0].end()
        return statuses


def silenced(stage):
    """A silence given to one Alertmanager is known to all before its alert fires."""
    def instant(seconds):
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + seconds))

    matcher = {"name": "alertname", "value": "Planned", "isRegex": False, "isEqual": True}
    silence = {"matchers": [matcher], "startsAt": instant(0), "endsAt": instant(3600), "createdBy": "ada", "comment": "work"}
    fetch(f"http://{stage.hosts[0]}/api/v2/silences", silence)
    for host in stage.hosts:
        until(lambda host=host: fetch(f"http://{host}/api/v2/silences"), "all know the silence")


def fires(stage):
    stage.exporter.full = True
    for way in stage.ways:
        until(lambda way=way: way.states() == ["OPEN"], f"one open incident by {way.kind}")
    until(lambda: stage.webhook.incidents()[0]["firingCount"] == 2, "both alerts")


def killed(stage):
    """One Alertmanager is restarted, one killed, and a server."""
    stage.alertmanagers[1].end()
    stage.alertmanagers[1].start()
    stage.alertmanagers[2].end(kill=True)
    if len(stage.servers) == 1:
        stage.servers[0].kill_and_restart()
    else:
        victim, living = stage.servers
        victim.process.kill()
        victim.process.wait(20)
        stage.killed.append(victim)
        for way in stage.ways:
            way.server = living
    stage.until_together(stage.hosts[1], 2)
    assert all(way.states() == ["OPEN"] for way in stage.ways), [way.incidents() for way in stage.ways]
    muted = fetch(f"http://{stage.hosts[0]}/api/v2/alerts?silenced=true&active=false")
    assert [alert["labels"]["alertname"] for alert in muted] == ["Planned"], muted


def resolves(stage):
    stage.exporter.full = False
    for way in stage.ways:
        until(lambda way=way: way.states() == ["RESOLVED"], f"the incident by {way.kind} is over")


def late(stage):
    """What a replica says that heard of the end later: firing once more, and then resolved."""
    way = stage.webhook
    incident = way.incidents()[0]
    data = incident["data"] if isinstance(incident["data"], dict) else json.loads(incident["data"])
    for status in ["firing", "resolved"]:
        alerts = []
        for alert in incident["alerts"]["items"]:
            labels = alert["labels"] if isinstance(alert["labels"], dict) else json.loads(alert["labels"])
            end = "0001-01-01T00:00:00Z" if status == "firing" else alert["endsAt"]
            alerts.append({"status": status, "labels": labels, "annotations": {}, "startsAt": alert["startsAt"],
                           "endsAt": end, "generatorURL": "", "fingerprint": alert["fingerprint"]})
        body = {"receiver": "tocsin", "status": status, "alerts": alerts, "groupLabels": {"alertname": "DiskFull"},
                "commonLabels": {"alertname": "DiskFull"}, "commonAnnotations": {}, "externalURL": "",
                "version": "4", "groupKey": data["groupKey"], "truncatedAlerts": 0}
        answer = fetch(f"{way.server.address}/in/{way.key}", body)
        assert answer["incidents"][0]["state"] == "RESOLVED", answer
        assert way.states() == ["RESOLVED"], way.incidents()


def counted(stage):
    for way in stage.ways:
        incidents = way.incidents()
        assert len(incidents) == 1, incidents
        changes = [entry["change"] for entry in incidents[0]["timeline"]["items"]]
        assert (changes.count("OPENED"), changes.count("RESOLVED"), changes.count("REOPENED")) == (1, 1, 0), changes
        assert way.changes() == ["OPENED", "RESOLVED"], way.changes()
    incident = stage.webhook.incidents()[0]
    assert (incident["alertCount"], incident["firingCount"]) == (2, 0), incident
    states = [alert["state"] for alert in incident["alerts"]["items"]]
    assert states == ["RESOLVED", "RESOLVED"], incident
    assert incident["key"] == stage.pagerduty.incidents()[0]["key"], "the same key by either shape"


def shown(stage):
    def shows():
        found = fetch(f"{stage.control}/_screen?token={PHONE}")["shown"]
        return len(found) == 2 and all("Resolved" in each["body"] for each in found)

    until(shows, "the phone shows two notifications, both over")
    pushes = [push for push in fetch(f"{stage.control}/_pushes?since=0") if push["accepted"] and push["token"] == PHONE]
    threads = {}
    for push in pushes:
        threads.setdefault(push["headers"]["apns-collapse-id"], []).append(push)
    assert len(threads) == 2, threads.keys()
    assert all("Planned" not in json.dumps(push) for push in pushes)


def main():
    checks = Checks()
    stage = Stage(sys.argv[1])
    statuses = []
    try:
        stage.start()
        steps = [
            ("a silence reaches all three Alertmanagers", silenced),
            ("Prometheus's rule fires: one incident by each shape", fires),
            ("it stays one while Alertmanagers and a server are killed", killed),
            ("it is over when the rule is", resolves),
            ("a late firing of the cluster does not reopen it", late),
            ("alerts, timeline and messages are those of one opening and one end", counted),
            ("the phone has one notification an incident, and none of what is silenced", shown),
        ]
        if "--settle" in sys.argv:
            steps.insert(5, ("nor when its time to settle is over", lambda _: time.sleep(70)))
        for name, step in steps:
            try:
                step(stage)
                checks.report(name)
            except Exception as error:
                checks.report(name, error)
                break
    finally:
        statuses = stage.end()
    if any(status != 0 for status in statuses):
        checks.report("the servers end well", AssertionError(statuses))
    if checks.failed:
        print(f"logs are in {stage.folder}", flush=True)
    else:
        shutil.rmtree(stage.folder, ignore_errors=True)
    checks.end()


main()
