#!/usr/bin/env bash
# Kills servers with SIGKILL, 100 times under senders and changes of grants and tokens, and all through the end of 1,000
# snoozes, and compares what is kept with what was answered, and changes with the audit: first one server on SQLite, then
# two on a PostgreSQL of their own. About eight minutes.
# Arguments are those of Tests/Clients/killrounds.py: --rounds N, --timers N. scripts/clients.sh has the short form.
# TOCSIN_BINARY names a built `tocsin` to use instead of building one.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/packages.sh
. "$root/scripts/packages.sh"
# shellcheck source=scripts/postgres.sh
. "$root/scripts/postgres.sh"
export HOME="${HOME:-$root/.tocsin/home}" PYTHONDONTWRITEBYTECODE=1
cd "$root"
trap stop_postgres EXIT

binary="${TOCSIN_BINARY:-}"
if [ -z "$binary" ]; then
    step "Building tocsin"
    prepare_build
    swift build --product tocsin || give_up "The build failed; the lines above say why."
    binary="$(swift build --show-bin-path)/tocsin"
fi
for package in openssl postgresql; do
    install_packages "$package" || step "$package could not be installed."
done

# NAME ARGUMENT...
rounds() {
    step "$1"
    shift
    timeout --kill-after 10 900 python3 Tests/Clients/killrounds.py "$binary" --rounds 100 --timers 1000 "$@" ||
        give_up "A promise was broken; the lines above say which."
}

given="${TOCSIN_TEST_POSTGRES:-}"
unset TOCSIN_TEST_POSTGRES
rounds "Killing a server on SQLite" "$@"
if [ -n "$given" ]; then
    export TOCSIN_TEST_POSTGRES="$given"
else
    start_postgres || give_up "PostgreSQL could not be started; install its server."
fi
rounds "Killing one of two servers on PostgreSQL" "$@"
