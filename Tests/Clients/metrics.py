"""Reads `/metrics` of two built servers with what others wrote: Debian's `promtool` and Prometheus, and the strict parser of
`prometheus-client`. Use: metrics.py BINARY"""

import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

from prometheus_client.openmetrics.parser import text_string_to_metric_families as strict
from prometheus_client.parser import text_string_to_metric_families as plain
from tocsin import Checks, Server

OPEN_METRICS = "application/openmetrics-text; version=1.0.0"
# A minute, where somebody has the time.
SCRAPE_SECONDS = int(os.environ.get("TOCSIN_SCRAPE_SECONDS", "6"))


def get(server, token, path="/metrics", **headers):
    """Status, headers and body of an answer."""
    if token:
        headers["Authorization"] = f"Bearer {token}"
    request = urllib.request.Request(server.address + path, headers={k.replace("_", "-"): v for k, v in headers.items()})
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            return answer.status, answer.headers, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.headers, error.read()


def text(server, token, accept="*/*"):
    status, headers, body = get(server, token, Accept=accept)
    assert status == 200, (status, body)
    return headers["Content-Type"], body.decode()


def samples(server, token):
    """Every series of the text format and its value."""
    found = {}
    for family in plain(text(server, token)[1]):
        for sample in family.samples:
            found[(sample.name, tuple(sorted(sample.labels.items())))] = sample.value
    return found


def value(server, token, name, **labels):
    return samples(server, token)[(name, tuple(sorted(labels.items())))]


def only_token(server, tokens):
    status, _, body = get(server, None)
    assert status == 401, (status, body)
    status, _, body = get(server, tokens["full"])
    assert status == 403 and b"UNAUTHORIZED" in body, (status, body)
    assert b"tocsin_" not in body
    assert get(server, tokens["metrics"])[0] == 200


def formats(server, tokens):
    kind, body = text(server, tokens["metrics"])
    assert kind == "text/plain; version=0.0.4; charset=utf-8", kind
    kind, open_body = text(server, tokens["metrics"], OPEN_METRICS)
    assert kind == "application/openmetrics-text; version=1.0.0; charset=utf-8", kind
    assert open_body.endswith("# EOF\n") and "# EOF" not in body
    _, headers, packed = get(server, tokens["metrics"], Accept_Encoding="gzip;q=0.5, br")
    assert headers["Content-Encoding"] == "gzip", headers
    assert gzip.decompress(packed).startswith(b"# HELP "), packed[:40]
    _, headers, _ = get(server, tokens["metrics"], Accept_Encoding="gzip;q=0")
    assert headers["Content-Encoding"] is None, headers
    assert len(body) < 1 << 20, len(body)


def promtool(server, tokens):
    done = subprocess.run(
        ["promtool", "check", "metrics"], input=text(server, tokens["metrics"])[1], capture_output=True, text=True, timeout=30
    )
    assert done.returncode == 0 and not done.stdout + done.stderr, done.stdout + done.stderr


def strict_parser(server, tokens):
    families = list(strict(text(server, tokens["metrics"], OPEN_METRICS)[1]))
    units = {family.name: family.unit for family in families}
    assert units["tocsin_store_commit_duration_seconds"] == "seconds", units
    assert all(family.documentation for family in families)
    assert len(families) > 30, len(families)


def same_series(server, tokens):
    """A Prometheus may ask for either format: the series are the same."""
    names = set(samples(server, tokens["metrics"]))
    opened = {
        (sample.name, tuple(sorted(sample.labels.items())))
        for family in strict(text(server, tokens["metrics"], OPEN_METRICS)[1])
        for sample in family.samples
    }
    assert names == opened, names ^ opened


def counts(server, tokens):
    before = samples(server, tokens["metrics"])
    topic = server.create_topic(tokens["full"], "counted")
    for number in range(25):
        server.publish(tokens["full"], topic, f"n{number}")

    def grown(name, **labels):
        key = (name, tuple(sorted(labels.items())))
        return samples(server, tokens["metrics"])[key] - before.get(key, 0)

    posts = {"http_request_method": "POST", "http_response_status_code": "200", "http_route": "/graphql"}
    assert grown("http_server_request_duration_seconds_count", **posts) == 26
    assert grown("tocsin_store_commits_total", result="ok") >= 26
    assert grown("tocsin_store_group_writes_sum") >= 26
    assert grown("tocsin_http_connections_opened_total", kind="http") >= 26
    assert value(server, tokens["metrics"], "tocsin_ready") == 1
    wrong = get(server, tokens["full"][:-3] + "xyz")[0]
    assert wrong == 401, wrong
    assert grown("tocsin_auth_total", method="token", result="bad") == 1


def bounded(server, tokens):
    before = set(samples(server, tokens["metrics"]))
    for number in range(1000):
        get(server, None, f"/invented/{number}")
    for method in ["PROPFIND", "LINK", "X-MADE-UP", "PUT", "PATCH", "DELETE"]:
        for path in ["/graphql", "/auth/x", "/healthz", "/metrics", "/tcm/x", "/y"]:
            request = urllib.request.Request(server.address + path, method=method)
            try:
                urllib.request.urlopen(request, timeout=20)
            except urllib.error.HTTPError:
                pass
    after = set(samples(server, tokens["metrics"]))
    invented = [series for series in after if "invented" in str(series) or "PROPFIND" in str(series)]
    assert not invented, invented
    sets = {series for series in after if series[0] == "http_server_request_duration_seconds_count"}
    assert len(sets) <= 60, len(sets)
    assert len(after) <= 3000, len(after)
    changed = {series[0] for series in after - before}
    assert changed <= {f"http_server_request_duration_seconds_{end}" for end in ["bucket", "count", "sum"]}, changed


def prometheus(servers, tokens):
    """A real Prometheus scrapes both for some seconds, one in each format."""
    folder = tempfile.mkdtemp(prefix="tocsin-prometheus-")
    jobs = []
    for number, (server, token) in enumerate(zip(servers, tokens)):
        file = os.path.join(folder, f"token{number}")
        with open(file, "w") as out:
            out.write(token["metrics"])
        jobs.append(
            {
                "job_name": f"tocsin{number}",
                "scrape_interval": "1s",
                "scrape_timeout": "1s",
                "authorization": {"credentials_file": file},
                "static_configs": [{"targets": [server.host]}],
            }
        )
    config = os.path.join(folder, "prometheus.yml")
    with open(config, "w") as out:
        json.dump({"global": {"evaluation_interval": "1s"}, "scrape_configs": jobs}, out)
    with open(os.path.join(folder, "log"), "w") as log:
        process = subprocess.Popen(
            ["prometheus", f"--config.file={config}", f"--storage.tsdb.path={folder}/data", "--web.listen-address=127.0.0.1:0"],
            stdout=log,
            stderr=log,
        )
    try:
        address = listening(os.path.join(folder, "log"), process)

        def ask(query):
            url = f"http://{address}/api/v1/query?" + urllib.parse.urlencode({"query": query})
            answer = json.load(urllib.request.urlopen(url, timeout=20))
            return [float(found["value"][1]) for found in answer["data"]["result"]]

        deadline = time.monotonic() + 60 + SCRAPE_SECONDS
        while len(ask(f"count_over_time(up[2m]) >= {SCRAPE_SECONDS}")) < len(servers):
            assert time.monotonic() < deadline, open(os.path.join(folder, "log")).read()[-2000:]
            time.sleep(0.5)
        assert ask("min_over_time(up[2m])") == [1.0] * len(servers)
        assert all(count > 250 for count in ask("scrape_samples_scraped")), ask("scrape_samples_scraped")
        assert ask("scrape_samples_scraped - scrape_samples_post_metric_relabeling") == [0.0] * len(servers)
        assert len(ask("tocsin_build_info")) == len(servers)
        assert max(ask("scrape_duration_seconds")) < 1
        own = urllib.request.urlopen(f"http://{address}/metrics", timeout=20).read().decode()
        dropped = re.findall(r"^(prometheus_target_scrapes_(?:sample|exceeded|cache)\w*_total) ([1-9]\S*)$", own, re.M)
        assert not dropped, dropped
    finally:
        process.terminate()
        process.wait(20)
    shutil.rmtree(folder, ignore_errors=True)


def listening(log, process):
    """Where Prometheus listens, which it says in its log."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and process.poll() is None:
        found = re.search(r'Listening on" address=(\S+)|msg="Listening on" \S*address=(\S+)', open(log).read())
        if found:
            return found.group(1) or found.group(2)
        time.sleep(0.1)
    raise AssertionError("Prometheus did not start: " + open(log).read()[-2000:])


def main():
    checks = Checks()
    servers = [Server(sys.argv[1], "--rate-per-second", "0") for _ in range(2)]
    try:
        tokens = []
        for server in servers:
            full = server.add_user("ada")
            metrics = server.administer("token", "create", "--user", "ada", "--scope", "metrics")
            tokens.append({"full": full, "metrics": metrics})
        first = [
            ("only a token of scope metrics reads /metrics", only_token),
            ("both formats have their types, and gzip is sent to who takes it", formats),
            ("counts agree with what was done", counts),
            ("invented paths and methods make no series", bounded),
            ("promtool finds nothing wrong", promtool),
            ("the strict parser of OpenMetrics takes it", strict_parser),
            ("both formats have the same series", same_series),
        ]
        every = [(name, lambda check=check: check(servers[0], tokens[0])) for name, check in first]
        every.append(("Prometheus scrapes two servers and drops nothing", lambda: prometheus(servers, tokens)))
        for name, check in every:
            try:
                check()
                checks.report(name)
            except Exception as error:
                checks.report(name, error)
    finally:
        for server in servers:
            server.stop()
    checks.end()


main()
