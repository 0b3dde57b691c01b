#!/usr/bin/env bash
# Drives the built server with what others wrote: gql over HTTP and sockets, the cases of Autobahn's WebSocket suite, and a
# page in headless Chromium.
# TOCSIN_BINARY names a built `tocsin` to use instead of building one. Without Chromium the page is left out.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/packages.sh
. "$root/scripts/packages.sh"
export HOME="${HOME:-$root/.tocsin/home}"
cd "$root"
# Python writes its compiled files elsewhere, so that the folder of checks stays as it is.
export PYTHONDONTWRITEBYTECODE=1

packages=('gql[aiohttp,httpx,requests,websockets]==4.4.0' 'autobahntestsuite==25.10.1')
venv="$root/.venv/clients"
make_python_environment "$venv" "${packages[@]}" ||
    give_up "gql and autobahntestsuite could not be installed; python3 with venv and pip is needed."

binary="${TOCSIN_BINARY:-}"
if [ -z "$binary" ]; then
    step "Building tocsin"
    prepare_build
    swift build --product tocsin || give_up "The build failed; the lines above say why."
    binary="$(swift build --show-bin-path)/tocsin"
fi

status=0
step "Driving the server with gql"
timeout --kill-after 10 600 "$venv/bin/python3" Tests/Clients/clients.py "$binary" || status=$?
step "Judging the socket by Autobahn's cases"
timeout --kill-after 10 600 "$venv/bin/python3" -W ignore Tests/Clients/autobahn_cases.py "$binary" || status=$?
if command -v chromium >/dev/null || install_packages chromium && command -v chromium >/dev/null; then
    step "Driving the server with a page in Chromium"
    timeout --kill-after 10 300 "$venv/bin/python3" Tests/Clients/browser.py "$binary" chromium || status=$?
else
    step "Chromium could not be installed; the page is left out."
fi
[ "$status" -eq 0 ] || give_up "Some clients failed; the lines above say which."
