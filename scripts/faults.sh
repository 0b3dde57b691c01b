#!/usr/bin/env bash
# Puts a PostgreSQL server of its own, the nodes on it and the lines between them through their faults, with publishers and
# subscribers at work: restarts, ended backends, cut and silent connections, lost answers to COMMIT, failover, a node
# killed, a storm of 10,000 alerts. About five minutes. The same tests are part of scripts/test.sh, the storm in a
# short form.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/packages.sh
. "$root/scripts/packages.sh"
# shellcheck source=scripts/postgres.sh
. "$root/scripts/postgres.sh"
export HOME="${HOME:-$root/.tocsin/home}"
cd "$root"
trap stop_postgres EXIT

prepare_build
for package in openssl postgresql pgbouncer; do
    install_packages "$package" || step "$package could not be installed."
done
step "Building"
swift build --build-tests || give_up "The build failed; the lines above say why."
start_postgres || give_up "PostgreSQL could not be started; install its server."
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH="${SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH:-4}"
suites=(PostgresFaultTests ConnectionFaultTests FailoverTests RefusedWriteTests NodeFaultTests PoolerTests NodeAlertStormTests)
export TOCSIN_STORM_ALERTS="${TOCSIN_STORM_ALERTS:-10000}" TOCSIN_STORM_KILLS="${TOCSIN_STORM_KILLS:-12}"
timeout --kill-after 10 1200 swift test --skip-build --filter "^IntegrationTests[.]($(IFS='|' && echo "${suites[*]}"))" "$@" ||
    give_up "A promise was broken; the lines above say which."
