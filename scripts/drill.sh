#!/usr/bin/env bash
# Runs drills: a fault, what the server promises meanwhile, and the alert that Prometheus raises by the shipped rules.
# scripts/drill.sh [kill] [disk-full] [database-away] [provider-down] [bad-credentials] [certificate] [slow-readers] [restore]
# [board] [runbook]: board asks Prometheus every query of the board, and runbook runs each command of docs/runbook.md where
# something is wrong. All of them unless named, within 15 minutes. Everything stays on 127.0.0.1 and is bounded in time.
# disk-full and runbook mount a small file system and need root. TOCSIN_BINARY names a built `tocsin` to use instead of
# building one.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/packages.sh
. "$root/scripts/packages.sh"
export HOME="${HOME:-$root/.tocsin/home}"
export PYTHONDONTWRITEBYTECODE=1
case " $* " in *' --help '* | *' -h '*) sed -n '2,7s/^# //p' "${BASH_SOURCE[0]}" && exit 0 ;; esac

install_prometheus || give_up "Prometheus could not be installed, and drills need it."
PATH="$prometheus_path:$PATH"
for package in postgresql openssl curl jq lsof; do
    install_packages "$package" || give_up "$package could not be installed, and drills need it."
done
binary="${TOCSIN_BINARY:-}"
if [ -z "$binary" ]; then
    prepare_build
    build_release tocsin
    binary="$root/.build-release/release/tocsin"
fi
end=$(($(date +%s) + 900))
names=() runbook=$(($# == 0))
for name in "$@"; do if [ "$name" = runbook ]; then runbook=1; else names+=("$name"); fi; done
if [ $# -eq 0 ] || [ "${#names[@]}" -gt 0 ]; then
    timeout --kill-after 10 900 python3 "$root/Tests/Drills/drills.py" "$binary" "${names[@]}"
fi
if [ "$runbook" -eq 1 ]; then
    timeout --kill-after 10 "$((end - $(date +%s)))" python3 "$root/Tests/Drills/runbook.py" "$binary"
fi
