#!/usr/bin/env bash
# Runs every check on the project: format, build, all tests, the clients of others, the comparison with graphql-core, a
# short fuzz. Options are handed to `swift test`, which then is all that runs after the build.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/packages.sh
. "$root/scripts/packages.sh"
export HOME="${HOME:-$root/.tocsin/home}"
cd "$root"
log=$(mktemp)
trap 'rm -f "$log"' EXIT

prepare_build
# PostgreSQL is for the store's tests once they run on both databases.
for package in openssl postgresql; do
    install_packages "$package" || step "$package could not be installed; tests that need it will say so."
done

step "Checking the format"
swift format lint --strict --recursive Package.swift Sources Tests ||
    give_up "The format differs. \`swift format --in-place --recursive Package.swift Sources Tests\` mends most of it."

step "Building"
swift build --build-tests || give_up "The build failed; the lines above say why."

# Suites on real sockets and processes run one after the other, each in a process of its own: together they would take
# each other's threads on two cores.
sockets=(TocsinHTTPTests TocsinHTTP2Tests TocsinServerTests TocsinClientTests IntegrationTests)
status=0

# Runs tests with these options; one that hangs is ended and counts as failed.
run_tests() {
    timeout --kill-after 10 900 swift test --skip-build --parallel "$@" 2>&1 | tee -a "$log" || status=$?
}

if [ $# -gt 0 ]; then
    step "Testing $*"
    run_tests "$@"
else
    step "Testing what computes"
    run_tests --skip "^($(IFS='|' && echo "${sockets[*]}"))[.]"
    for suite in "${sockets[@]}"; do
        step "Testing $suite"
        run_tests --filter "^$suite[.]"
    done
    TOCSIN_BINARY="$(swift build --show-bin-path)/tocsin"
    export TOCSIN_BINARY
    step "Driving the server with other people's clients"
    timeout --kill-after 10 1800 scripts/clients.sh || status=$?
    step "Comparing the GraphQL engine with graphql-core"
    # A fixed seed here, so that a change is judged by what it changed; scripts/oracle.sh alone takes a new one each time.
    timeout --kill-after 10 600 scripts/oracle.sh --random 150 --seed 20260901 || status=$?
    step "Fuzzing the GraphQL engine"
    timeout --kill-after 10 900 scripts/fuzz.sh 40 || status=$?
fi

step "$(grep -a -o 'Test run with .*' "$log" || echo 'No test ran')"
[ "$status" -eq 0 ] || give_up "A check failed; the lines above say which."
