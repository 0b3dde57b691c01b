#!/usr/bin/env bash
# Compares the GraphQL engine with graphql-core: the committed cases and random ones. Options go to Tests/Oracle/oracle.py
# (--random N, --seed S, --verbose). TOCSIN_BINARY names a built `tocsin` to use instead of building one.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/packages.sh
. "$root/scripts/packages.sh"
cd "$root"

install_graphql_core || give_up "graphql-core could not be installed; python3 with venv and pip is needed."

binary="${TOCSIN_BINARY:-}"
if [ -z "$binary" ]; then
    step "Building tocsin"
    prepare_build
    swift build --product tocsin || give_up "The build failed; the lines above say why."
    binary="$(swift build --show-bin-path)/tocsin"
fi
# Python writes its compiled files nowhere, so that the folder of cases stays as it is.
export PYTHONDONTWRITEBYTECODE=1
step "Holding the tool to its contract"
"$oracle_python" Tests/Oracle/tool.py "$binary" graphql || give_up "The tool broke its contract; the lines above say where."
step "Comparing with graphql-core"
exec "$oracle_python" Tests/Oracle/oracle.py "$binary" graphql "$@"
