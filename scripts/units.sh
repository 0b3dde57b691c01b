#!/usr/bin/env bash
# Judges the units of ops/systemd by systemd's own means: systemd-analyze verify says nothing, and the sandbox of each
# service scores 1.5 or better (0 is the strictest). Takes seconds, needs no running systemd.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/packages.sh
. "$root/scripts/packages.sh"
most=1.5

if ! command -v systemd-analyze >/dev/null; then
    step "There is no systemd-analyze here; the units are not judged."
    exit 0
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp "$root"/ops/systemd/* "$folder"
# The program and its user need not be on this machine.
sed -i -e 's|/usr/bin/tocsin|/bin/true|' -e 's|^User=tocsin|User=root|' -e '/^Documentation=/d' "$folder"/*.service "$folder"/*.socket "$folder"/*.timer

cp "$folder/tocsin@.service" "$folder/tocsin@one.service"
for unit in tocsin.service tocsin.socket tocsin@one.service tocsin-spool.service tocsin-spool.timer; do
    said=$(SYSTEMD_LOG_LEVEL=warning systemd-analyze verify --man=no "$folder/$unit" 2>&1) || give_up "$unit: $said"
    said=$(grep -E "tocsin" <<<"$said" || true)
    [ -z "$said" ] || give_up "$unit: $said"
done
for unit in tocsin.service tocsin@.service tocsin-spool.service; do
    # A copy that keeps its user, which the score looks at.
    mkdir -p "$folder/scored"
    cp "$root/ops/systemd/$unit" "$folder/scored/${unit/@/@one}"
    score=$(systemd-analyze security --offline=true "$folder/scored/${unit/@/@one}" | sed -n 's/.*Overall exposure level.*: \([0-9.]*\).*/\1/p')
    [ -n "$score" ] || give_up "$unit: systemd-analyze gave no score."
    awk -v score="$score" -v most="$most" 'BEGIN { exit !(score <= most) }' || give_up "$unit scores $score; $most is the most."
    step "$unit is in order, its sandbox scores $score"
done
