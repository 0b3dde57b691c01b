#!/usr/bin/env bash
# Attacks the built server as a caller might who wishes the others ill, and says what another owner felt of it:
# scripts/attacks.sh [--short] [--load] [--database sqlite|postgres|both] [NAME…]. One line an attack, exit status 1 if one succeeds;
# --short, for CI, has smaller volumes and bounds for busy machines. Everything stays on 127.0.0.1 and is bounded in time.
# TOCSIN_BINARY names a built `tocsin` to use instead of building one; TOCSIN_TEST_POSTGRES a PostgreSQL server.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/packages.sh
. "$root/scripts/packages.sh"
# shellcheck source=scripts/postgres.sh
. "$root/scripts/postgres.sh"
export HOME="${HOME:-$root/.tocsin/home}"
# Python writes its compiled files elsewhere, so that the folder of attacks stays as it is.
export PYTHONDONTWRITEBYTECODE=1
trap stop_postgres EXIT

for package in openssl postgresql; do
    install_packages "$package" || step "$package could not be installed; what needs it fails or is left out."
done
binary="${TOCSIN_BINARY:-}"
if [ -z "$binary" ]; then
    prepare_build
    build_release tocsin
    binary="$root/.build-release/release/tocsin"
fi
case " $* " in
*' --database sqlite '* | *' --database=sqlite '* | *' --help '* | *' -h '*) ;;
*)
    if [ -z "${TOCSIN_TEST_POSTGRES:-}" ] && ! start_postgres; then
        [ -z "${CI:-}" ] || give_up "PostgreSQL could not be started, and both databases are to be attacked."
        step "There is no PostgreSQL server here: SQLite alone is attacked."
    fi
    ;;
esac
attack() { python3 "$root/Tests/Attacks/attacks.py" "$binary" "$@"; }
case " $* " in
*' --database'* | *' --help '* | *' -h '*) at_once= ;;
*' --short '*) at_once="${TOCSIN_TEST_POSTGRES:-}" ;;
*) at_once= ;;
esac
if [ -z "$at_once" ]; then
    attack "$@"
    exit
fi
# The bounds of the short form are wide: both databases are attacked at once. What was cut off is told, too.
on_sqlite=$(mktemp)
trap 'cat "$on_sqlite"; rm -f "$on_sqlite"; stop_postgres' EXIT
attack "$@" --database sqlite >"$on_sqlite" 2>&1 &
other=$!
result=0
attack "$@" --database postgres || result=$?
wait "$other" || result=$?
exit "$result"
