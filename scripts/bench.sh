#!/usr/bin/env bash
# Measures a cached query, the store, pushes, the live feed and the GraphQL engine, each beside floors or peers in the same run.
set -euo pipefail

usage() {
    cat <<'END'
scripts/bench.sh [query] [store] [push] [live] [engine] [alerts] [console] [fair] [--seconds N] [--pushes N] [--devices N] [--subscribers N]

  query    a cached query of 20 messages over HTTP; floor: /healthz of the same server
  store    createMessage over HTTP with 1, 64 and 512 clients on SQLite and on PostgreSQL (a server of its own, started
           and ended here), then on three nodes; floors: rows inserted by hand, a hundred a commit, and the service
           with one commit a request
  push     pushes through the HTTP/2 transport to a sink, and the whole way from a committed message to recorded
           outcomes, a million of them with the memory on the way; floor: h2load; peers: Go's net/http (Debian),
           aioapns (PyPI)
  live     10,000 sockets follow one topic, then a thousand: the server's CPU a frame, memory a subscriber, latencies,
           readers that do not read; floor: a C loop that sends frames of the same size to as many sockets; peer:
           Python's websockets (PyPI)
  engine   the GraphQL engine alone: parse, validate, execute, introspect; peers on the same documents and data:
           graphql-js (Debian), graphql-core (PyPI), libgraphqlparser (built from PyPI's tartiflette);
           calls for memory are counted, also for each further row
  alerts   posts of a hundred alerts as senders make them: how long each waits for its answer, p50 and p99
  console  the console in Chromium, at the machine's pace and at a quarter of it: first paint beside a page without
           scripts, layout shift; then 200 messages a second into an open feed: frames, keys, memory
  fair     what another owner feels while one attacks, on both databases (scripts/attacks.sh with the attacks that make
           load): reads quiet and under attack, events, pushes, a revocation, the server's memory; about 15 minutes

All of them unless named. --seconds is the time of one measurement (5), --pushes (1000000) to a topic of --devices (200000) those of push's whole way,
--subscribers (10000) those of live.
END
}

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/packages.sh
. "$root/scripts/packages.sh"
# shellcheck source=scripts/peers/install.sh
. "$root/scripts/peers/install.sh"
export HOME="${HOME:-$root/.tocsin/home}"

names=()
options=()
for argument in "$@"; do
    case "$argument" in
    -h | --help) usage && exit 0 ;;
    query | store | push | live | engine | alerts | console | fair) names+=("$argument") ;;
    *) options+=("$argument") ;;
    esac
done
[ "${#names[@]}" -gt 0 ] || names=(query store push live engine alerts console fair)
wants() { [[ " ${names[*]} " == *" $1 "* ]]; }

prepare_build
if wants push; then
    install_packages nghttp2-client || step "h2load could not be installed; pushes are measured without their floor."
fi
if wants store; then
    install_packages postgresql || step "PostgreSQL could not be installed; the store is measured on SQLite alone."
fi
peers="$root/.build-release/peers"
if wants push; then install_push_peers "$peers"; fi
if wants live; then install_live_peers "$peers"; fi
if wants engine; then install_peers "$peers"; fi
benchmarks=()
for name in "${names[@]}"; do case "$name" in console | fair) ;; *) benchmarks+=("$name") ;; esac; done
products=()
[ "${#benchmarks[@]}" -eq 0 ] || products+=(tocsin-bench)
if wants console || wants fair || wants query || wants store || wants push || wants live; then products+=(tocsin); fi
build_release "${products[@]}"
status=0
if [ "${#benchmarks[@]}" -gt 0 ]; then
    "$root/.build-release/release/tocsin-bench" --peers "$peers" "${benchmarks[@]}" ${options[@]+"${options[@]}"} || status=$?
fi
if wants console; then
    if install_packages chromium && install_console_tools; then
        PYTHONDONTWRITEBYTECODE=1 timeout --kill-after 10 600 "$console_python" "$root/Tests/Clients/speed.py" \
            "$root/.build-release/release/tocsin" ${options[@]+"${options[@]}"} || status=$?
    else
        step "Chromium or playwright could not be installed; the console is not measured."
    fi
fi
if wants fair; then
    TOCSIN_BINARY="$root/.build-release/release/tocsin" "$root/scripts/attacks.sh" --load || status=$?
fi
exit "$status"
