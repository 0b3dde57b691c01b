# Sourced by other scripts: programs that run for a bounded time, in lanes beside each other. What a script has begun
# ends with it, also when it is cut off: all is ended by ids that are kept here.

running= lanes=()

# Runs a program for at most so many seconds: SECONDS PROGRAM ARGUMENT...
bounded() {
    local seconds="$1" process status=0
    shift
    # A file each, named by its id, which it keeps as `timeout`.
    (: >"$running/$BASHPID" && exec timeout --kill-after 10 "$seconds" "$@") </dev/null &
    process=$!
    wait "$process" || status=$?
    rm -f "$running/$process"
    return "$status"
}

# Runs a function beside the script; its id is in lane_process: FUNCTION ARGUMENT...
start_lane() {
    ("$@") </dev/null &
    lane_process=$!
    lanes+=("$lane_process")
}

# Ends the lanes, then what they and the script have begun, and waits for that; `timeout` hands it on to all of a group,
# and kills after 10 seconds what has not ended.
end_running() {
    local processes tries=0
    [ "${#lanes[@]}" -eq 0 ] || kill "${lanes[@]}" 2>/dev/null || true
    mapfile -t processes < <(ls "$running")
    rm -rf "$running"
    [ "${#processes[@]}" -gt 0 ] || return 0
    kill "${processes[@]}" 2>/dev/null || true
    while kill -0 "${processes[@]}" 2>/dev/null && [ "$((tries += 1))" -lt 120 ]; do sleep 0.1; done
}

# Ends everything with the script, which calls it first: end_with COMMAND, which is run last.
end_with() {
    running=$(mktemp -d)
    # shellcheck disable=SC2064
    trap "end_running; $1" EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP
}
