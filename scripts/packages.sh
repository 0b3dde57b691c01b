# Sourced by the other scripts: steps, plain ends, and system packages.

step() { printf '==> %(%H:%M:%S)T %s\n' -1 "$*" >&2; }

# Ends the script with a plain sentence.
give_up() {
    printf '%s: %s\n' "$(basename "$0")" "$*" >&2
    exit 1
}

# Those of the named packages that are not installed.
missing_packages() {
    local name
    for name in "$@"; do
        if [ "$(dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null)" != installed ]; then
            printf '%s\n' "$name"
        fi
    done
}

# Installs those of the named packages that are missing; fails if that does not work.
install_packages() {
    local missing as_root=()
    if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
        step "No apt here: these packages, or their like, must be there: $*"
        return 0
    fi
    mapfile -t missing < <(missing_packages "$@")
    if [ "${#missing[@]}" -eq 0 ]; then return 0; fi
    step "Installing ${missing[*]}"
    if [ "$(id -u)" -ne 0 ]; then
        if ! command -v sudo >/dev/null; then
            step "These packages are missing and there is no sudo: ${missing[*]}. Install them as root."
            return 1
        fi
        as_root=(sudo)
    fi
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=120 install -y -q --no-install-recommends "${missing[@]}" \
        </dev/null >&2 && return 0
    # The package lists may be missing or old. Lanes of one script wait for each other.
    "${as_root[@]}" apt-get update -q </dev/null >&2 || true
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=120 install -y -q --no-install-recommends "${missing[@]}" \
        </dev/null >&2
}

build_packages=(libssl-dev libcurl4-openssl-dev libsqlite3-dev libpq-dev libnghttp2-dev zlib1g-dev pkg-config curl git ca-certificates)

# Installs what the build needs and checks for a Swift toolchain.
prepare_build() {
    step "Checking system packages"
    install_packages "${build_packages[@]}" ||
        give_up "Not all of these packages could be installed: ${build_packages[*]}. Install them, then run this again."
    command -v swift >/dev/null ||
        give_up "There is no Swift toolchain in PATH. Install Swift 6.3 from https://www.swift.org/install/linux/, then run this again."
    step "Using $(swift --version 2>/dev/null | grep -o -m 1 'Swift version [0-9.]*' || echo 'an unknown Swift')"
}

# The commit that the sources are of, with `-dirty` behind it if they differ; TOCSIN_COMMIT where there is no git.
source_commit() {
    local commit
    if [ -n "${TOCSIN_COMMIT:-}" ]; then printf '%s' "$TOCSIN_COMMIT" && return 0; fi
    commit=$(git -C "$root" rev-parse --short=12 HEAD 2>/dev/null) || return 0
    git -C "$root" diff --quiet HEAD 2>/dev/null || commit+=-dirty
    printf '%s' "$commit"
}

# Builds products in release mode, with Swift's libraries inside: a message takes a fifth less CPU of the server than with
# shared ones, and no other machine needs Swift. What only debuggers read is left out (-s): build_release PRODUCT...
build_release() {
    local product commit
    commit=$(source_commit)
    step "Building in release mode (the first time takes some minutes)"
    for product in "$@"; do
        TOCSIN_COMMIT="$commit" swift build --package-path "$root" --scratch-path "$root/.build-release" --configuration release \
            --static-swift-stdlib -Xlinker -s --product "$product" >&2 ||
            give_up "The build failed; the lines above say why."
    done
}

# Makes a Python environment with packages in a folder of its own, unless it is there with the same: FOLDER PACKAGE...
make_python_environment() {
    local folder="$1"
    shift
    if [ -x "$folder/bin/python3" ] && [ "$(cat "$folder/packages" 2>/dev/null)" = "$*" ]; then return 0; fi
    rm -rf "$folder"
    step "Installing $* into ${folder#"$root"/}"
    mkdir -p "$(dirname "$folder")"
    if command -v uv >/dev/null; then
        uv venv -q "$folder" && uv pip install -q --python "$folder/bin/python3" "$@" &&
            printf '%s' "$*" >"$folder/packages" && return 0
    elif make_pip && python3 -m venv --without-pip "$folder" &&
        "$root/.venv/pip/bin/python3" -m pip --python "$folder/bin/python3" install -q --no-compile "$@"; then
        printf '%s' "$*" >"$folder/packages" && return 0
    fi
    rm -rf "$folder"
    return 1
}

# One pip for all environments: to make another one takes longer than most of what is installed.
make_pip() {
    mkdir -p "$root/.venv"
    (
        flock 9
        [ -e "$root/.venv/pip/made" ] && exit 0
        rm -rf "$root/.venv/pip"
        python3 -m venv "$root/.venv/pip" && touch "$root/.venv/pip/made"
    ) 9>"$root/.venv/lock"
}

# Sign-in providers that others wrote.
sign_in_python="$root/.venv/oidc/bin/python3"
install_sign_in_providers() {
    make_python_environment "$root/.venv/oidc" 'oidc-provider-mock==0.3.4' 'django-oauth-toolkit==3.4.1'
}

# What drives browsers through the console, and a push service that Firefox takes for Mozilla's.
console_python="$root/.venv/console/bin/python3"
install_console_tools() {
    make_python_environment "$root/.venv/console" 'playwright==1.65.2' 'axe-playwright-python==0.1.8' 'websockets==17.4'
}

# The reference implementation that judges the GraphQL engine.
oracle_python="$root/.venv-oracle/bin/python3"
install_graphql_core() { make_python_environment "$root/.venv-oracle" 'graphql-core==3.2.14'; }

# Programs of Debian's packages, unpacked into a folder of this checkout: installed, a package would start its service.
# unpack_programs FOLDER PACKAGE...; each is the name of its program.
unpack_programs() {
    local folder="$1" package
    shift
    for package in "$@"; do
        if PATH="$PATH:/usr/sbin:$folder/usr/bin:$folder/usr/sbin" command -v "$package" >/dev/null; then continue; fi
        command -v apt-get >/dev/null || return 1
        step "Unpacking $package into ${folder#"$root"/}"
        mkdir -p "$folder"
        (cd "$folder" && apt-get download -q "$package" >&2 && dpkg -x "$package"_*.deb . && rm -f "$package"_*.deb) || return 1
    done
}

prometheus_path="$root/.venv/prometheus/usr/bin"
install_prometheus() { unpack_programs "$root/.venv/prometheus" prometheus; }

alertmanager_path="$root/.venv/alertmanager/usr/bin"
install_alertmanager() { unpack_programs "$root/.venv/alertmanager" prometheus-alertmanager; }

proxies_path="$root/.venv/proxies/usr/sbin:$root/.venv/proxies/usr/bin:/usr/sbin"
install_proxies() { unpack_programs "$root/.venv/proxies" nginx caddy; }
