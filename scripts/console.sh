#!/usr/bin/env bash
# Walks through the console of the built server as people do: all views in Chromium with axe on each, each view in its
# five states, texts of strangers, keys alone, what a team does, integrations, a phone, long lists, what is one's own,
# no network, three tabs and kills, people who come after each other in one browser, going back and forth, and a provider
# below a path. People of two sign-in providers walk in Chromium and in Firefox. In Firefox there is a real Web Push, too;
# keys, texts of strangers, no network, tabs and the dark; a team, what is one's own, long lists, a narrow screen. Two
# people in Chromium and Firefox are at two servers of one PostgreSQL. What screen readers are told of each view is compared
# with Tests/Clients/trees. It says what it could not try.
#   --kills N          kills of the server, the network and a tab under traffic (30)
#   --pictures FOLDER  pictures of each view, at 1280 and 390 pixels, in light and dark, with forced colours and at 400 %
#   --accept           writes Tests/Clients/trees and the picture of README anew, and walks no further
# TOCSIN_BINARY names a built `tocsin` to use instead of building one.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/packages.sh
. "$root/scripts/packages.sh"
# shellcheck source=scripts/postgres.sh
. "$root/scripts/postgres.sh"
# shellcheck source=scripts/lanes.sh
. "$root/scripts/lanes.sh"
cd "$root"
export HOME="${HOME:-$root/.tocsin/home}" PYTHONDONTWRITEBYTECODE=1

kills=30 pictures="" accept=""
while [ $# -gt 0 ]; do
    case "$1" in
    --kills) kills="$2" && shift 2 ;;
    --pictures) mkdir -p "$2" && pictures=$(cd "$2" && pwd) && shift 2 ;;
    --accept) accept=1 && shift ;;
    *) give_up "Use: scripts/console.sh [--kills N] [--pictures FOLDER] [--accept]" ;;
    esac
done

binary="${TOCSIN_BINARY:-}"
if [ -z "$binary" ]; then
    step "Building tocsin"
    prepare_build
    swift build --product tocsin || give_up "The build failed; the lines above say why."
    binary="$(swift build --show-bin-path)/tocsin"
fi
install_console_tools || give_up "playwright, axe and websockets could not be installed; python3 with venv and pip is needed."
has() { command -v "$1" >/dev/null || { install_packages "$1" && command -v "$1" >/dev/null; }; }
has chromium || give_up "Chromium could not be installed."
chromium=$(command -v chromium)

if [ -n "$accept" ]; then
    step "Writing what screen readers are told of each view"
    timeout 420 "$console_python" Tests/Clients/console.py "$binary" "$chromium" --accept ||
        give_up "The walk did not come to its end; the lines above say where."
    step "Making the picture of README"
    timeout 120 "$console_python" Tests/Clients/picture.py "$binary" "$chromium" "$root/docs/console.png"
    step "Read the difference: git diff Tests/Clients/trees docs/console.png"
    exit
fi

folder=$(mktemp -d)
end_with 'rm -rf "$folder"; stop_postgres'
failed=()

# Runs a walk of Tests/Clients for at most 7 minutes, and keeps what it says: NAME FILE ARGUMENT...
walk() {
    local name="$1" file="$2" began=$SECONDS
    shift 2
    printf '%q ' "$name" "$file" "$@" >"$folder/$name.again"
    if bounded 420 "$console_python" "Tests/Clients/$file" "$binary" "$@" >"$folder/$name" 2>&1; then
        touch "$folder/$name.passed"
    fi
    echo "$name took $((SECONDS - began)) s." >>"$folder/$name"
}

step "Walking through the console, two walks at a time"
names=(views strangers states keys team integrations phone many own offline shared-browser places)
firefox=""
! has firefox-esr || { firefox=$(command -v firefox-esr) && names+=(firefox-walks firefox-people firefox-lists firefox-shared); }
with_people() {
    walk views console.py "$chromium" ${pictures:+"$pictures"}
    walk keys keyboard.py "$chromium" ${pictures:+"$pictures"}
    walk team team.py "$chromium"
    walk own own.py "$chromium"
    walk integrations integrations.py "$chromium"
    if has openssl && install_sign_in_providers; then
        walk below below.py "$chromium" "$sign_in_python"
        walk provider provider.py "$chromium" "$sign_in_python"
        [ -z "$firefox" ] || walk firefox-provider provider.py "$firefox" "$sign_in_python"
    else
        touch "$folder/below.left-out"
    fi
    [ -z "$firefox" ] || walk firefox-people firefox_people.py "$firefox"
}
with_strangers() {
    walk strangers injections.py "$chromium"
    walk states states.py "$chromium"
    walk phone phone.py "$chromium" ${pictures:+"$pictures"}
    walk many many.py "$chromium"
    walk shared-browser shared_browser.py "$chromium"
    walk places places.py "$chromium"
    walk offline offline.py "$chromium" "$kills"
    [ -n "$firefox" ] || return 0
    walk firefox-walks firefox_walks.py "$firefox" ${pictures:+"$pictures"}
    walk firefox-lists firefox_lists.py "$firefox"
    walk firefox-shared firefox_shared.py "$firefox"
}
start_lane with_people
one=$lane_process
start_lane with_strangers
other=$lane_process
wait "$one"
if [ -n "$firefox" ] && has openssl; then
    names+=(firefox)
    walk firefox firefox.py "$firefox" ${pictures:+"$pictures"}
    if [ -n "${TOCSIN_TEST_POSTGRES:-}" ] || { install_packages postgresql && start_postgres; }; then
        names+=(nodes)
        walk nodes nodes.py "$chromium" "$firefox"
    else
        step "PostgreSQL could not be started; the walk at two servers is left out."
    fi
else
    step "Firefox could not be installed; its walks, a real Web Push, and the walk at two servers are left out."
fi
wait "$other"
if [ -e "$folder/below.left-out" ]; then
    step "openssl or the sign-in providers could not be installed; the walks of their people are left out."
else
    names+=(below provider)
    [ -z "$firefox" ] || names+=(firefox-provider)
fi
for name in "${names[@]}"; do [ -e "$folder/$name.passed" ] || failed+=("$name"); done
# Up to two walks that failed are walked once more, with no other beside them. What passes then is told.
if [ "${#failed[@]}" -le 2 ]; then
    again=("${failed[@]}") failed=()
    for name in "${again[@]}"; do
        step "$name failed" && cat "$folder/$name"
        [ ! -e "$folder/$name.again" ] || eval "walk $(cat "$folder/$name.again")"
        if [ -e "$folder/$name.passed" ]; then step "Failed once, and passed by itself: $name"; else failed+=("$name"); fi
    done
fi
# What failed is said last, because logs are cut at their beginning.
for name in "${names[@]}"; do [ ! -e "$folder/$name.passed" ] || { step "$name" && cat "$folder/$name"; }; done
for name in ${failed[@]+"${failed[@]}"}; do step "$name" && cat "$folder/$name"; done
[ "${#failed[@]}" -eq 0 ] || give_up "Failed: ${failed[*]}. The lines above say where."
