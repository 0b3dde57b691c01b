#!/usr/bin/env bash
# Signs in with sign-in providers that others wrote: oidc-provider-mock, and django-oauth-toolkit as the strict one.
# Both are installed into a folder of this checkout and answer on 127.0.0.1 only.
# TOCSIN_TESTS_BUILT=1 says that the tests were built already.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/packages.sh
. "$root/scripts/packages.sh"
export HOME="${HOME:-$root/.tocsin/home}"
cd "$root"
export PYTHONDONTWRITEBYTECODE=1

install_sign_in_providers ||
    give_up "The providers could not be installed; python3 with venv and pip is needed."

built=()
[ -z "${TOCSIN_TESTS_BUILT:-}" ] || built=(--skip-build)
step "Signing in with other people's providers"
"$sign_in_python" -W ignore Tests/Clients/oidc/providers.py \
    swift test "${built[@]}" --filter '^TocsinServerTests[.]ForeignProviderTests' ||
    give_up "A sign-in failed; the lines above say which."
step "All providers signed people in, and refused what they should."
