"""A real Prometheus with the shipped rules, which scrapes servers every second."""

import json
import os
import re
import socket
import subprocess
import tempfile
import time
import urllib.parse
import urllib.request

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RULES = os.path.join(ROOT, "ops", "prometheus", "tocsin.rules.yml")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_until(condition, seconds, what):
    """Returns how long it took."""
    start = time.monotonic()
    while not condition():
        if time.monotonic() - start > seconds:
            raise AssertionError(f"not within {seconds} s: {what}")
        time.sleep(0.1)
    return time.monotonic() - start


def shortened(rules):
    """The shipped rules, with two seconds for each alert's own time and half a minute for windows of ten minutes.
    Thresholds stay as they are, and so does the time of TocsinDown, which a restart must not set off."""
    down, rest = rules.split("- alert: TocsinNotReady", 1)
    return down + "- alert: TocsinNotReady" + re.sub(r"for: \d+[mh]", "for: 2s", rest).replace("[10m]", "[30s]")


class Watch:
    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="tocsin-watch-")
        self.place = f"127.0.0.1:{free_port()}"
        open(os.path.join(self.folder, "rules.yml"), "w").write(shortened(open(RULES).read()))
        open(os.path.join(self.folder, "prometheus.yml"), "w").write(
            "global: {scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s}\n"
            "rule_files: [rules.yml]\n"
            "scrape_configs:\n"
            "  - job_name: tocsin\n"
            "    file_sd_configs: [{files: [targets.json], refresh_interval: 1s}]\n"
        )
        self.watch_only()
        self._process = subprocess.Popen(
            ["prometheus", "--config.file=prometheus.yml", "--storage.tsdb.path=data", f"--web.listen-address={self.place}"],
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=open(os.path.join(self.folder, "log"), "w"),
            stderr=subprocess.STDOUT,
        )
        wait_until(self._answers, 30, "Prometheus answers")

    def _answers(self):
        try:
            return self._get("/-/ready", plain=True)
        except OSError:
            return False

    def _get(self, path, plain=False):
        with urllib.request.urlopen(f"http://{self.place}{path}", timeout=5) as answer:
            return answer.read() if plain else json.load(answer)["data"]

    def watch_only(self, **servers):
        """Scrapes these alone, by the names given."""
        targets = [{"targets": [place], "labels": {"instance": name}} for name, place in servers.items()]
        path = os.path.join(self.folder, "targets.json")
        open(path + ".new", "w").write(json.dumps(targets))
        os.replace(path + ".new", path)

    def query(self, expression):
        """Values by their labels."""
        found = self._get("/api/v1/query?" + urllib.parse.urlencode({"query": expression}))
        return [(one["metric"], float(one["value"][1])) for one in found["result"]]

    def fires(self, alert):
        return any(
            one["labels"]["alertname"] == alert and one["state"] == "firing" for one in self._get("/api/v1/alerts")["alerts"]
        )

    def seen(self, alert, seconds):
        return wait_until(lambda: self.fires(alert), seconds, f"{alert} fires")

    def cleared(self, alert, seconds):
        return wait_until(lambda: not self.fires(alert), seconds, f"{alert} is over")

    def stop(self):
        self._process.terminate()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
