#!/usr/bin/env bash
# Measures createMessage, a cached query and pushes, each beside its floor in the same run.
# Options are handed to tocsin-bench: [create] [query] [push] [--seconds N] [--connections N]
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/packages.sh
. "$root/scripts/packages.sh"
export HOME="${HOME:-$root/.tocsin/home}"

prepare_build
install_packages nghttp2-client || step "h2load could not be installed; pushes are measured without their floor."
step "Building in release mode (the first time takes some minutes)"
for product in tocsin tocsin-bench; do
    swift build --package-path "$root" --scratch-path "$root/.build-release" --configuration release \
        --product "$product" >&2 || give_up "The build failed; the lines above say why."
done
exec "$root/.build-release/release/tocsin-bench" "$@"
