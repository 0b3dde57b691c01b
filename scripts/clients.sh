#!/usr/bin/env bash
# Drives the built server with what others wrote: gql over HTTP and sockets, the cases of Autobahn's WebSocket suite, and
# pages in headless Chromium. Posts with a cluster of Alertmanagers, parts of which are killed.
# Types into shells and presses Tab. Reads /metrics with Prometheus, which judges the rules and
# watches drills. Publishes through nginx and Caddy. Signs in with sign-in providers of others. Runs
# the helpers of tocsin.js in node. What cannot be installed is left out with a sentence; what can
# must pass.
# What needs no browser mostly waits: it runs beside the browsers' pages, and what it says comes whole at the end.
# TOCSIN_BINARY names a built `tocsin` to use instead of building one; TOCSIN_TESTS_BUILT=1 says that the tests are built.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/packages.sh
. "$root/scripts/packages.sh"
# shellcheck source=scripts/postgres.sh
. "$root/scripts/postgres.sh"
# shellcheck source=scripts/lanes.sh
. "$root/scripts/lanes.sh"
export HOME="${HOME:-$root/.tocsin/home}"
cd "$root"
# Python writes its compiled files elsewhere, so that the folder of checks stays as it is.
export PYTHONDONTWRITEBYTECODE=1

binary="${TOCSIN_BINARY:-}"
if [ -z "$binary" ]; then
    step "Building tocsin"
    prepare_build
    swift build --product tocsin || give_up "The build failed; the lines above say why."
    binary="$(swift build --show-bin-path)/tocsin"
fi

logs=$(mktemp -d)
mkdir "$logs/failed" "$logs/left-out"
end_with 'rm -rf "$logs"; stop_postgres'

# Runs a program of Tests/Clients for at most so many seconds, and keeps the last words of one that failed. One that took
# less than two minutes is tried once more before. NAME SECONDS PROGRAM ARGUMENT...
drive() {
    local name="$1" seconds="$2" told="$logs/$BASHPID" began=$SECONDS
    shift 2
    step "$name"
    if ! bounded "$seconds" "$@" >"$told" 2>&1; then
        cat "$told"
        if [ "$((SECONDS - began))" -lt 120 ] && bounded "$seconds" "$@" >"$told" 2>&1; then
            step "Failed once, and passed the second time: $name" 2>&1 | tee -a "$logs/unsteady"
        else
            { step "$name" && tail -n 40 "$told"; } >"$logs/failed/${name//\//}" 2>&1
        fi
    fi
    cat "$told"
}

leave_out() {
    step "$1"
    mktemp "$logs/left-out/XXXXXX" >/dev/null
}

# What speaks GraphQL and WebSockets as others wrote it.
with_sockets() {
    packages=('gql[aiohttp,botocore,httpx,requests,websockets]==4.4.0' 'autobahntestsuite==25.10.1')
    venv="$root/.venv/clients"
    if make_python_environment "$venv" "${packages[@]}"; then
        python="$venv/bin/python3"
        drive "Driving the server with gql" 600 "$python" Tests/Clients/clients.py "$binary"
        drive "Synchronising with it as DataStore does" 600 "$python" Tests/Clients/datastore.py "$binary"
        # Autobahn's suite is older than Python 3; what translates it is a package of its own on some systems, and gone from
        # Python 3.13.
        if "$python" -W ignore -c 'import lib2to3' 2>/dev/null ||
            { install_packages python3-lib2to3 && "$python" -W ignore -c 'import lib2to3' 2>/dev/null; }; then
            drive "Judging the socket by Autobahn's cases" 600 "$python" -W ignore Tests/Clients/autobahn_cases.py "$binary"
        else
            leave_out "This Python has no lib2to3, which reads Autobahn's cases; they are left out."
        fi
    else
        leave_out "gql and autobahntestsuite could not be installed; python3 with venv and pip is needed. They are left out."
    fi
}

# What posts to the server: senders, Alertmanagers, and kills under them.
with_senders() {
    senders=('apprise==2.2.0' 'python-ntfy==0.11.4' 'gotify==0.6.0' 'slack-sdk==3.47.0' 'pdpyras==5.4.1')
    if make_python_environment "$root/.venv/senders" "${senders[@]}"; then
        install_alertmanager || leave_out "Alertmanager could not be installed; it is left out among the senders."
        PATH="$alertmanager_path:$PATH" drive "Posting with other people's senders" 300 \
            "$root/.venv/senders/bin/python3" Tests/Clients/senders.py "$binary"
    else
        leave_out "Apprise and the SDKs could not be installed; python3 with venv and pip is needed. They are left out."
    fi
    if install_alertmanager && install_prometheus; then
        cluster_path="$alertmanager_path:$prometheus_path:$PATH"
        PATH="$cluster_path" drive "Posting with three Alertmanagers to a server that is killed" 150 \
            env -u TOCSIN_TEST_POSTGRES python3 Tests/Clients/alertmanager.py "$binary"
        if [ -n "${TOCSIN_TEST_POSTGRES:-}" ]; then
            PATH="$cluster_path" drive "Posting with them to two servers on PostgreSQL" 150 \
                python3 Tests/Clients/alertmanager.py "$binary"
            drive "Killing servers under senders and timers" 300 python3 Tests/Clients/killrounds.py "$binary" --rounds 4 --timers 60
        else
            leave_out "PostgreSQL could not be started; Alertmanagers post to one server alone."
        fi
    else
        leave_out "Alertmanager or Prometheus could not be installed; the cluster of three is left out."
    fi
}

# What shells complete when people press Tab.
with_shells() {
    install_packages zsh fish || leave_out "zsh and fish could not be installed; completions are tried in bash."
    drive "Completing what is typed into bash, zsh and fish" 240 python3 Tests/Clients/completions.py "$binary"
}

# What reads /metrics and raises alerts.
with_prometheus() {
    if install_prometheus && make_python_environment "$root/.venv/metrics" 'prometheus-client==0.26.0'; then
        PATH="$prometheus_path:$PATH" drive "Reading /metrics with Prometheus" 300 \
            "$root/.venv/metrics/bin/python3" Tests/Clients/metrics.py "$binary"
    else
        leave_out "Prometheus or prometheus-client could not be installed; reading /metrics is left out."
    fi
    drive "Comparing histograms of service levels with what clients measure" 240 python3 Tests/Clients/histograms.py "$binary"
    if install_prometheus && install_packages openssl postgresql; then
        PATH="$prometheus_path:$PATH" drive "Judging the rules of alerts" 120 \
            bash -c 'promtool check rules ops/prometheus/tocsin.rules.yml && promtool test rules ops/prometheus/tests/*.yml'
        PATH="$prometheus_path:$PATH" TOCSIN_BINARY="$binary" drive "Drills that raise alerts" 400 \
            scripts/drill.sh kill certificate restore database-away
    else
        leave_out "Prometheus or PostgreSQL could not be installed; rules and drills are left out."
    fi
}

# Proxies in front, sign-in providers behind.
behind_others() {
    if install_proxies && install_packages openssl; then
        PATH="$PATH:$proxies_path" drive "Passing nginx and Caddy" 240 python3 Tests/Clients/proxies.py "$binary"
    else
        leave_out "nginx and Caddy could not be installed; the page on proxies is not tried."
    fi
    if [ -z "${TOCSIN_TESTS_BUILT:-}" ]; then
        leave_out "The tests are not built here; scripts/oidc.sh builds them and signs in with other people's providers."
    elif install_sign_in_providers; then
        drive "Signing in with other people's providers" 240 scripts/oidc.sh
    else
        leave_out "The sign-in providers could not be installed; python3 with venv and pip is needed. They are left out."
    fi
}

# Pages in browsers, and what they share with node.
with_pages() {
    if command -v node >/dev/null || { install_packages nodejs && command -v node >/dev/null; }; then
        drive "Running what tocsin.js does without a server in node" 60 node --test Tests/Clients/bridge.test.js Tests/Clients/feed.test.js Tests/Clients/webpush.test.js Tests/Clients/zabbix.test.js
    else
        leave_out "Node could not be installed; the helpers for web views are run in Chromium alone."
    fi
    if command -v chromium >/dev/null || { install_packages chromium && command -v chromium >/dev/null; }; then
        drive "Driving the server with a page in Chromium" 300 python3 Tests/Clients/browser.py "$binary" chromium
        drive "Driving it with tocsin.js in Chromium" 300 python3 Tests/Clients/pages.py "$binary" chromium
        if install_console_tools; then
            if install_packages openssl; then
                drive "Signing in by a cookie in Chromium" 240 "$console_python" Tests/Clients/cookies.py "$binary" "$(command -v chromium)"
            else
                leave_out "openssl could not be installed; cookies are not tried."
            fi
            TOCSIN_BINARY="$binary" drive "Walking through the console" 900 scripts/console.sh --kills 6
        else
            leave_out "playwright and axe-playwright-python could not be installed; cookies and the console's walks are left out."
        fi
    else
        leave_out "Chromium could not be installed; the pages are left out."
    fi
    if install_packages firefox-esr openssl && command -v firefox-esr >/dev/null && install_console_tools; then
        drive "Signing in by a cookie in Firefox" 240 "$console_python" Tests/Clients/cookies.py "$binary" "$(command -v firefox-esr)"
    else
        leave_out "Firefox, openssl or playwright could not be installed; cookies are not tried in Firefox."
    fi
}

# A database for the parts that want one; whoever called may have given another.
if [ -z "${TOCSIN_TEST_POSTGRES:-}" ]; then
    { install_packages openssl postgresql && start_postgres; } || step "PostgreSQL could not be started."
fi
without_browsers() {
    with_senders
    with_prometheus
    behind_others
    with_sockets
    with_shells
}
start_lane without_browsers >"$logs/beside" 2>&1
with_pages
result=0
wait "$lane_process" || result=$?
cat "$logs/beside"
[ "$result" -eq 0 ] || echo "The lane without browsers ended with $result." >"$logs/failed/The lane without browsers"

mapfile -t failed < <(ls "$logs/failed")
left_out=("$logs/left-out"/*)
[ ! -e "${left_out[0]}" ] || step "Left out, as said above: ${#left_out[@]} of 11 parts."
[ ! -e "$logs/unsteady" ] || cat "$logs/unsteady"
# What failed is said last, because logs are cut at their beginning.
[ "${#failed[@]}" -eq 0 ] || cat "$logs/failed"/*
[ "${#failed[@]}" -eq 0 ] || give_up "Failed: $(IFS=';' && echo "${failed[*]}"). The lines above say where."
step "All clients that could be installed were served."
