#!/usr/bin/env bash
# Runs every check on the project: format, build, all tests, the clients of others, attacks in their short form, the
# comparison with graphql-core, a short fuzz. Options are handed to `swift test`, which then is all that runs after the build.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/packages.sh
. "$root/scripts/packages.sh"
# shellcheck source=scripts/postgres.sh
. "$root/scripts/postgres.sh"
export HOME="${HOME:-$root/.tocsin/home}"
cd "$root"
logs=$(mktemp -d)
log="$logs/tests"
trap 'rm -rf "$logs"; stop_postgres' EXIT

prepare_build
# PostgreSQL is the other database that tests run on; over NATS nodes wake each other.
for package in openssl postgresql pgbouncer libnats-dev nats-server; do
    install_packages "$package" || step "$package could not be installed; tests that need it will say so."
done

step "Checking the format"
swift format lint --strict --parallel --recursive Package.swift Sources Tests ||
    give_up "The format differs. \`swift format --in-place --recursive Package.swift Sources Tests\` mends most of it."

step "Judging the units of systemd"
scripts/units.sh || give_up "A unit is not as it should be; the lines above say why."

step "Building"
# What only debuggers and editors read is left out where nobody debugs and edits.
lean=()
if [ -n "${CI:-}" ]; then
    # The index itself stays: SwiftPM looks for tests in it.
    lean=(-Xswiftc -gnone -Xcc -g0 -Xswiftc -index-ignore-system-modules -Xswiftc -index-ignore-clang-modules)
    # Each process of a test reads the schema at its start, which takes long where it is not optimised.
    export TOCSIN_QUICK_TESTS=1
fi
swift build --build-tests "${lean[@]}" || give_up "The build failed; the lines above say why."

# Of swift-testing: so many tests at once. Each on PostgreSQL has a database and connections of its own.
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH="${SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH:-24}"
if start_postgres; then
    step "Testing on PostgreSQL at port $postgres_port too"
else
    step "There is no PostgreSQL server here: its tests are left out."
    [ -z "${CI:-}" ] || give_up "PostgreSQL could not be started, and both databases are to be tested."
fi

# What runs a second time, on PostgreSQL: suites that look at a store, and of those with processes the ones about data.
on_postgres=(TocsinAPITests TocsinPushTests)
processes_on_postgres=(RightsMatrixTests EndedGrantTests PushAccessTests PushCommandTests DeliveryTests LedgerTests IsolationTests SharedIsolationTests KeyTests AccessTests CommandTests WebhookTests ReceiverKeyTests MonitorPathTests IncidentCommandTests)

# Suites on real sockets and processes run one after the other, each in a process of its own: together they would take
# each other's threads on two cores.
sockets=(TocsinHTTPTests TocsinHTTP2Tests TocsinServerTests TocsinClientTests IntegrationTests)
status=0
failed=() unsteady=()

# The tests that failed in the last run, as `--filter` wants them.
failed_tests() {
    [ -e "$logs/tests-swift-testing.xml" ] || return 0
    sed -n -E '/<testcase/ h; /<failure/ { g; s/.*classname="([^"]*)" name="([^"]*)".*/\1\/\2/p; }' "$logs/tests-swift-testing.xml" |
        sort -u | sed 's/[.()]/\\&/g; s/^/^/; s/$/(\/|$)/'
}

test_once() {
    timeout --kill-after 10 900 swift test --skip-build --parallel "${lean[@]}" "$@" 2>&1 | tee -a "$log"
}

# Runs tests with these options; one that hangs is ended and counts as failed. Up to three that failed run once more by
# themselves. What passes then is told at the end.
run_tests() {
    local result=0 again
    rm -f "$logs/tests-swift-testing.xml"
    test_once --xunit-output "$logs/tests.xml" "$@" || result=$?
    [ "$result" -ne 0 ] || return 0
    mapfile -t again < <(failed_tests)
    if [ "${#again[@]}" -ge 1 ] && [ "${#again[@]}" -le 3 ]; then
        step "Testing once more what failed: ${again[*]}"
        if test_once --filter "$(IFS='|' && echo "${again[*]}")"; then
            unsteady+=("${again[@]}")
            return 0
        fi
    fi
    status=$result
}

# Runs a program for at most so many seconds, and keeps what it says; it has half a minute to end what it began: NAME
# SECONDS PROGRAM ARGUMENT...
check() {
    local name="$1" seconds="$2"
    shift 2
    timeout --kill-after 30 "$seconds" "$@" 2>&1 | tee "$logs/$name" || failed+=("$name")
}

# Judges the GraphQL engine by graphql-core and by made-up inputs; others go first.
judge_engine() {
    local result=0
    # A fixed seed here, so that a change is judged by what it changed; scripts/oracle.sh alone takes a new one each time.
    nice timeout --kill-after 10 900 scripts/oracle.sh --random 150 --seed 20260901 || result=$?
    nice timeout --kill-after 10 900 scripts/fuzz.sh 24 || result=$?
    return "$result"
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
    if [ -n "${TOCSIN_TEST_POSTGRES:-}" ]; then
        export TOCSIN_TEST_DATABASE=postgres
        # One after the other: together they starve each other on two cores.
        for suite in "${on_postgres[@]}"; do
            step "Testing $suite on PostgreSQL"
            run_tests --filter "^$suite[.]"
        done
        step "Testing the server on PostgreSQL"
        run_tests --filter "^IntegrationTests[.]($(IFS='|' && echo "${processes_on_postgres[*]}"))"
        unset TOCSIN_TEST_DATABASE
    fi
    TOCSIN_BINARY="$(swift build --show-bin-path)/tocsin"
    export TOCSIN_BINARY TOCSIN_TESTS_BUILT=1
    # What computes and needs nobody runs beside the clients, which mostly wait.
    judge_engine >"$logs/engine" 2>&1 </dev/null &
    engine=$!
    step "Driving the server with other people's clients"
    check clients 1800 scripts/clients.sh
    step "Comparing the GraphQL engine with graphql-core, and fuzzing it"
    wait "$engine" || failed+=(engine)
    cat "$logs/engine"
    step "Attacking the server"
    check attacks 900 scripts/attacks.sh --short
fi

step "$((SECONDS / 60)) min $((SECONDS % 60)) s. $(grep -a -o 'Test run with .*' "$log" || echo 'No test ran')"
for name in ${unsteady[@]+"${unsteady[@]}"}; do step "Failed once, and passed by itself: $name"; done
# Once more at the end, where whoever reads looks first: each expectation that failed, with the lines that say why, and
# the last lines of each other check that failed.
if [ "$status" -ne 0 ]; then
    grep -a -A 4 -E '^✘ Test .* recorded an issue' "$log" | head -n 120 || true
fi
for name in ${failed[@]+"${failed[@]}"}; do
    step "The last lines of $name" && tail -n 60 "$logs/$name" | cut -c 1-240
done
[ "$status" -eq 0 ] && [ "${#failed[@]}" -eq 0 ] || give_up "A check failed; the lines above say which."
