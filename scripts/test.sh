#!/usr/bin/env bash
# Runs every check on the project: format, build, all tests. Options are handed to `swift test`.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/packages.sh
. "$root/scripts/packages.sh"
export HOME="${HOME:-$root/.tocsin/home}"
cd "$root"
log=$(mktemp)
trap 'rm -f "$log"' EXIT

prepare_build
install_packages jq nghttp2-client postgresql ||
    step "Not all of jq, nghttp2-client and postgresql could be installed; tests that need them will say so."

step "Checking the format"
swift format lint --strict --recursive Package.swift Sources Tests ||
    give_up "The format differs. \`swift format --in-place --recursive Package.swift Sources Tests\` mends most of it."

step "Building"
swift build || give_up "The build failed; the lines above say why."

step "Testing"
status=0
swift test --parallel "$@" 2>&1 | tee "$log" || status=$?

step "$(grep -a -o 'Test run with .*' "$log" | tail -n 1 || echo 'No test ran')"
[ "$status" -eq 0 ] || give_up "Tests failed; the lines above say which."
