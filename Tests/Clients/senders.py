"""Posts with real senders, unchanged: Alertmanager, Apprise, and the SDKs of ntfy, Gotify, Slack and PagerDuty.
Use: senders.py BINARY

Alertmanager is taken from PATH; without it its checks are left out with a sentence."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from tocsin import Checks, Server  # noqa: E402

CREATE = "mutation($i: CreateIntegrationInput!) { createIntegration(input: $i) { id } }"
ROTATE = "mutation($id: ID!) { rotateIntegrationKey(id: $id) { key url } }"
MESSAGES = "query($id: ID!) { page: getMessageByTopicIdAndCreatedAt(topicId: $id) { items { number title body priority } } }"
INCIDENTS = "query($id: ID!) { page: incidentsByTopicIdAndOpenedAt(topicId: $id) { items { state } } }"
RECENT = "query($id: ID!) { getIntegration(id: $id) { events refused trouble recent(limit: 100) { status outcome } } }"


class Way:
    """An integration with a topic of its own."""

    def __init__(self, server, token, kind, topic, **more):
        self.server, self.token, self.topic = server, token, topic
        self.topic_id = server.create_topic(token, topic)
        made = {"name": topic, "kind": kind, "topicId": self.topic_id, **more}
        self.id = server.post(token, CREATE, i=made)["createIntegration"]["id"]
        self.key = server.post(token, ROTATE, id=self.id)["rotateIntegrationKey"]["key"]

    def messages(self):
        items = self.server.post(self.token, MESSAGES, id=self.topic_id)["page"]["items"]
        return sorted(items, key=lambda item: item["number"])

    def until(self, holds, seconds=60):
        """The messages once they satisfy a condition."""
        deadline = time.monotonic() + seconds
        while True:
            messages = self.messages()
            if holds(messages):
                return messages
            if time.monotonic() > deadline:
                seen = self.server.post(self.token, RECENT, id=self.id)["getIntegration"]
                raise AssertionError(f"{messages} {seen}")
            time.sleep(0.2)

    def incident(self):
        """The state of the topic's one incident."""
        (only,) = self.server.post(self.token, INCIDENTS, id=self.topic_id)["page"]["items"]
        return only["state"]

    def one(self, title=None, body=None, priority=None):
        """The first message, which has these."""
        first = self.until(len)[0]
        for name, value in (("title", title), ("body", body), ("priority", priority)):
            if value is not None:
                assert value in str(first[name]) if isinstance(value, str) else first[name] == value, first
        return first


def apprise_ntfy(server, token):
    import apprise

    way = Way(server, token, "NTFY", "apprise-ntfy")
    sender = apprise.Apprise()
    sender.add(f"ntfy://{way.key}@{server.host}/{way.topic}?auth=token&priority=high")
    assert sender.notify(title="Disk full", body="db-3 is at 91 %")
    way.one("Disk full", "db-3 is at 91 %", 4)


def apprise_gotify(server, token):
    import apprise

    way = Way(server, token, "GOTIFY", "apprise-gotify")
    sender = apprise.Apprise()
    sender.add(f"gotify://{server.host}/{way.key}")
    assert sender.notify(title="Disk full", body="db-3 is at 91 %")
    way.one("Disk full", "db-3 is at 91 %")


def apprise_json(server, token):
    import apprise

    way = Way(server, token, "TEMPLATE", "apprise-json", receiver="apprise")
    sender = apprise.Apprise()
    sender.add(f"json://{server.host}/in/{way.key}?:incident=db-3")
    assert sender.notify(title="Disk full", body="db-3 is at 91 %", notify_type=apprise.NotifyType.FAILURE)
    way.one("Disk full", "db-3 is at 91 %", 4)
    assert way.incident() == "OPEN"
    assert sender.notify(title="Disk full", body="db-3 is at 42 %", notify_type=apprise.NotifyType.SUCCESS)
    assert way.incident() == "RESOLVED"


def ntfy_sdk(server, token):
    from python_ntfy import NtfyClient

    way = Way(server, token, "NTFY", "python-ntfy")
    client = NtfyClient(topic=way.topic, server=server.address, auth=way.key)
    client.send("db-3 is at 91 %", title="Disk full", priority=client.MessagePriority.HIGH)
    way.one("Disk full", "db-3 is at 91 %", 4)


def gotify_sdk(server, token):
    import gotify

    way = Way(server, token, "GOTIFY", "gotify-sdk")
    client = gotify.Gotify(base_url=server.address, app_token=way.key)
    answer = client.create_message("db-3 is at 91 %", title="Disk full", priority=7)
    assert answer["message"] == "db-3 is at 91 %", answer
    way.one("Disk full", "db-3 is at 91 %", 4)


def slack_sdk(server, token):
    from slack_sdk.webhook import WebhookClient

    way = Way(server, token, "SLACK", "slack-sdk")
    answer = WebhookClient(f"{server.address}/services/T0/B0/{way.key}").send(text="Disk full")
    assert (answer.status_code, answer.body) == (200, "ok"), answer
    way.one("Disk full")


def pagerduty_sdk(server, token):
    import pdpyras

    way = Way(server, token, "PAGERDUTY", "pdpyras")
    session = pdpyras.EventsAPISession(way.key)
    session.url = server.address
    key = session.trigger("Disk full", "db-3", severity="critical")
    assert key
    way.one("Disk full", priority=5)
    session.acknowledge(key)
    assert way.incident() == "ACKNOWLEDGED"
    session.resolve(key)
    assert way.incident() == "RESOLVED"


ALERTMANAGER = """
route: {{ receiver: tocsin, group_by: [alertname], group_wait: 1s, group_interval: 2s, repeat_interval: 1h }}
receivers:
- name: tocsin
  webhook_configs:
  - url: {address}/in/alertmanager
    max_alerts: 1000
    http_config: {{ authorization: {{ credentials: {webhook} }} }}
  pagerduty_configs:
  - url: {address}/v2/enqueue
    routing_key: {pagerduty}
    severity: critical
"""


def alertmanager(server, token, program):
    webhook = Way(server, token, "ALERTMANAGER", "am-webhook")
    pagerduty = Way(server, token, "PAGERDUTY", "am-pagerduty")
    folder = tempfile.mkdtemp(prefix="tocsin-alertmanager-")
    with open(os.path.join(folder, "am.yml"), "w") as file:
        file.write(ALERTMANAGER.format(address=server.address, webhook=webhook.key, pagerduty=pagerduty.key))
    port = free_port()
    log = open(os.path.join(folder, "log"), "wb")
    process = subprocess.Popen(
        [program, "--config.file=am.yml", f"--storage.path={folder}/data", "--cluster.listen-address=",
         f"--web.listen-address=127.0.0.1:{port}"],
        cwd=folder, stdout=log, stderr=log,
    )
    try:
        alert = {"labels": {"alertname": "DiskFull", "instance": "db-1", "severity": "critical"},
                 "annotations": {"summary": "db-1 disk at 91 %"}}
        post_alerts(port, [alert], process)
        webhook.one("db-1 disk at 91 %", priority=5)
        pagerduty.one("DiskFull", priority=5)
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        post_alerts(port, [{**alert, "endsAt": now}], process)
        webhook.until(lambda messages: len(messages) > 1)
    finally:
        process.terminate()
        process.wait(20)
        log.close()
        shutil.rmtree(folder, ignore_errors=True)


def post_alerts(port, alerts, process):
    body = json.dumps(alerts).encode()
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/api/v2/alerts", body, {"Content-Type": "application/json"}
    )
    deadline = time.monotonic() + 60
    while True:
        try:
            return urllib.request.urlopen(request, timeout=10).read()
        except OSError:
            if process.poll() is not None or time.monotonic() > deadline:
                raise
            time.sleep(0.2)


def free_port():
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def main():
    checks = Checks()
    server = Server(sys.argv[1])
    try:
        token = server.add_user("ada")
        cases = [apprise_ntfy, apprise_gotify, apprise_json, ntfy_sdk, gotify_sdk, slack_sdk, pagerduty_sdk]
        for case in cases:
            try:
                case(server, token)
                checks.report(case.__name__)
            except Exception as error:
                checks.report(case.__name__, error)
        program = shutil.which("prometheus-alertmanager") or shutil.which("alertmanager")
        if program:
            try:
                alertmanager(server, token, program)
                checks.report("alertmanager")
            except Exception as error:
                checks.report("alertmanager", error)
        else:
            print("left out: there is no prometheus-alertmanager", flush=True)
    finally:
        status = server.stop()
    if status != 0:
        checks.report("the server ends well", AssertionError(status))
    checks.end()


main()
