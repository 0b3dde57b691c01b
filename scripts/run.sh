#!/usr/bin/env bash
# Builds Tocsin and runs it on SQLite: scripts/run.sh [--simulator] [options of `tocsin serve`…]
#
# --simulator  starts fake APNs and FCM as well, with one iOS and one Android device of the user admin, so that pushes
#              are seen arriving.
#
# Data is kept in .tocsin/data beside the sources, or where --data-dir or TOCSIN_DATA_DIR says. Ctrl-C stops everything.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/packages.sh
. "$root/scripts/packages.sh"
export HOME="${HOME:-$root/.tocsin/home}"
tocsin="$root/.build-release/release/tocsin"
started=() # process ids, in the order of starting
run_dir=

usage() {
    sed -n '2,7s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
}

# Ends what was started, the server before the simulator, and waits for it.
stop_all() {
    local status=$? index
    trap - EXIT INT TERM
    for ((index = ${#started[@]} - 1; index >= 0; index--)); do
        kill -TERM "${started[index]}" 2>/dev/null || true
        wait "${started[index]}" 2>/dev/null || true
    done
    if [ -n "$run_dir" ]; then rm -rf "$run_dir"; fi
    exit "$status"
}

# Waits until the process has written the file: wait_for_file PID FILE NAME
wait_for_file() {
    local tries
    for ((tries = 0; tries < 600; tries++)); do
        if [ -s "$2" ]; then return 0; fi
        kill -0 "$1" 2>/dev/null || give_up "$3 ended before it was ready; the lines above say why."
        sleep 0.1
    done
    give_up "$3 was not ready after a minute."
}

# Sends a GraphQL request as admin and prints the answer; arguments can be seen by everybody on the machine, so the token
# is none of them: graphql BODY
graphql() {
    curl --silent --show-error --max-time 20 --header @- --header 'Content-Type: application/json' \
        --data "$1" "$address/graphql" <<<"Authorization: Bearer $token"
}

# The id of the first topic in an answer that is not deleted, if there is one.
first_id() { grep -o '"id":"[^"]*","_deleted":null' | head -n 1 | cut -d '"' -f 4 || true; }

# Picks the options that say where the data is, for the other commands; the server gets them all.
read_options() {
    local previous='' option
    for option in "$@"; do
        case "$previous" in --data-dir | --database | --config) store+=("$previous" "$option") ;; esac
        case "$option" in
            --data-dir=* | --database=* | --config=*) store+=("${option%%=*}" "${option#*=}") ;;
        esac
        previous=$option
    done
    # A settings file may say where the data is.
    case " ${store[*]-} " in *' --data-dir '* | *' --config '*) return 0 ;; esac
    if [ -z "${TOCSIN_DATA_DIR:-}${TOCSIN_CONFIG:-}" ]; then
        store+=(--data-dir "$root/.tocsin/data")
        serve_options+=(--data-dir "$root/.tocsin/data")
        mkdir -p "$root/.tocsin/data"
    fi
}

build() {
    prepare_build
    build_release tocsin
}

make_token() {
    local lifetime=1d
    if ! grep -q '^admin[[:space:]]' <<<"$("$tocsin" user list "${store[@]}")"; then
        step "Creating the user admin"
        "$tocsin" user add admin --admin "${store[@]}" >&2
        lifetime=30d
    fi
    token=$("$tocsin" token create --user admin --ttl "$lifetime" "${store[@]}")
}

# Starts a command in a process group of its own, so that Ctrl-C reaches this script only: start COMMAND…
start() {
    set -m
    "$@" </dev/null &
    set +m
    started+=($!)
}

start_simulator() {
    step "Starting fake APNs and FCM"
    start "$tocsin" simulator --directory "$root/.tocsin/simulator" --environment-file "$run_dir/environment" \
        --ready-file "$run_dir/simulator"
    wait_for_file "${started[-1]}" "$run_dir/simulator" "The simulator"
    # shellcheck source=/dev/null
    . "$run_dir/environment"
}

start_server() {
    step "Starting the server"
    start "$tocsin" serve "${serve_options[@]}" --ready-file "$run_dir/server"
    wait_for_file "${started[-1]}" "$run_dir/server" "The server"
    address=$(cat "$run_dir/server")
}

# The id of the topic "alerts", which is created if it is missing.
make_topic() {
    local answer
    answer=$(graphql '{"query":"{ getTopicByName(name: \"alerts\") { items { id _deleted } } }"}')
    topic=$(first_id <<<"$answer")
    if [ -z "$topic" ]; then
        answer=$(graphql '{"query":"mutation { createTopic(input: { name: \"alerts\" }) { id _deleted } }"}')
        topic=$(first_id <<<"$answer")
    fi
    [ -n "$topic" ] || give_up "The topic \"alerts\" could not be created. The server answered: $answer"
}

# register_device PLATFORM TOKEN ENVIRONMENT-AS-JSON
register_device() {
    local document answer
    document='mutation($t: String!, $p: String!, $e: String) { registerPushToken(token: $t, platform: $p, environment: $e) { userId } }'
    answer=$(graphql "{\"query\":\"$document\",\"variables\":{\"t\":\"$2\",\"p\":\"$1\",\"e\":$3}}")
    case "$answer" in
        *'"userId":"'*) ;;
        *) give_up "The $1 device could not be registered. The server answered: $answer" ;;
    esac
}

register_devices() {
    step "Registering an iOS and an Android device for admin"
    register_device ios a0b1c2d3e4f50617a0b1c2d3e4f50617a0b1c2d3e4f50617a0b1c2d3e4f50617 '"sandbox"'
    register_device android example-android-device:APA91bTocsin null
}

tell() {
    cat <<TEXT

Tocsin listens on $address

Token of admin, shown only now:
$token

Another token:
$tocsin token create --user admin ${store[*]}

Publish a message:
curl -H 'Authorization: Bearer $token' -d 'sda1 is at 95 %' $address/alerts

See it in a browser: open $address/ and sign in as admin, with the password that this prints:
$tocsin user password admin --generate ${store[*]}

Follow the topic in another terminal:
TOCSIN_URL=$address TOCSIN_TOKEN=$token $tocsin subscribe alerts

Ctrl-C stops the server.
TEXT
}

simulator=no
serve_options=()
store=()
for option in "$@"; do
    case "$option" in
        --simulator) simulator=yes ;;
        --help | -h) usage && exit 0 ;;
        *) serve_options+=("$option") ;;
    esac
done
read_options "${serve_options[@]}"
build
trap stop_all EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
run_dir=$(mktemp -d)
make_token
if [ "$simulator" = yes ]; then start_simulator; fi
start_server
make_topic
if [ "$simulator" = yes ]; then register_devices; fi
tell
wait "${started[-1]}" || give_up "The server ended with status $?."
