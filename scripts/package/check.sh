# Sourced by scripts/package.sh: tries what it makes, as whoever installs it would.

# within SECONDS COMMAND…: until the command succeeds.
within() {
    local tries=$(($1 * 10))
    shift
    while [ "$tries" -gt 0 ]; do
        if "$@" >/dev/null 2>&1; then return 0; fi
        tries=$((tries - 1))
        sleep 0.1
    done
    return 1
}

# Runs a command in the fresh root, with a /proc of its own: inside COMMAND…
inside() {
    # shellcheck disable=SC2016
    unshare --mount --propagation private -- sh -c '
        root=$1; shift
        mount -t proc proc "$root/proc" && mount --rbind /dev "$root/dev" && exec chroot "$root" "$@"' sh "$fresh" \
        env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"
}

# Runs a command in it as the service does.
as_service_inside() { inside setpriv --reuid tocsin --regid tocsin --clear-groups -- "$@"; }

must() {
    local what="$1"
    shift
    "$@" || give_up "Not so: $what"
    step "$what"
}

# The same package with a lower version: lower FILE
lower() {
    local folder="$work/check/lower"
    rm -rf "$folder"
    dpkg-deb -R "$deb" "$folder"
    sed -i "s/^Version: .*/Version: 0.0.1/" "$folder/DEBIAN/control"
    dpkg-deb --root-owner-group -Zgzip -b "$folder" "$1" >/dev/null
}

make_fresh_root() {
    fresh="$work/check/root"
    rm -rf "$fresh"
    mkdir -p "$fresh"
    step "Making a fresh Debian root"
    debootstrap --variant=minbase "$suite" "$fresh" "$mirror" >"$work/check/debootstrap.log" 2>&1 ||
        { tail -5 "$work/check/debootstrap.log" >&2 && give_up "debootstrap failed."; }
    cp /etc/resolv.conf "$fresh/etc/resolv.conf" 2>/dev/null || true
    cp -r /etc/apt/apt.conf.d/. "$fresh/etc/apt/apt.conf.d/"
    printf '#!/bin/sh\nexit 101\n' >"$fresh/usr/sbin/policy-rc.d"
    chmod 755 "$fresh/usr/sbin/policy-rc.d"
}

# Starts the installed program as its unit does, asks it, adds an admin, stops it.
try_installed() {
    local pid address
    mkdir -p "$fresh/run/tocsin-check"
    chmod 777 "$fresh/run/tocsin-check"
    rm -f "$fresh/run/tocsin-check/ready"
    as_service_inside /usr/bin/tocsin serve --config /etc/tocsin/tocsin.toml --data-dir /var/lib/tocsin --port 0 \
        --ready-file /run/tocsin-check/ready 2>"$work/check/server.log" &
    pid=$!
    within 60 test -s "$fresh/run/tocsin-check/ready" || { cat "$work/check/server.log" >&2 && give_up "The server did not start."; }
    address=$(cat "$fresh/run/tocsin-check/ready")
    must "The installed program answers /readyz" curl --silent --fail --max-time 10 --output /dev/null "$address/readyz"
    case "$address" in http://127.0.0.1:*) ;; *) give_up "It listens on $address and not on loopback alone." ;; esac
    if [ "${1:-}" = first ]; then
        as_service_inside tocsin user add admin --admin --config /etc/tocsin/tocsin.toml --data-dir /var/lib/tocsin >/dev/null
    fi
    must "The admin is there" grep -q '^admin' <<<"$(as_service_inside tocsin user list --data-dir /var/lib/tocsin)"
    kill -TERM "$(pgrep -P "$pid" tocsin || echo "$pid")"
    wait "$pid" || give_up "The server ended with status $?."
}

# The installed program says its version and commit, and each command has its page; the three shells read its completions.
try_words() {
    local share="$fresh/usr/share" command pages=0
    must "It says its version" grep -qF "$version" <<<"$(inside tocsin --version)"
    # A build that was handed in may be of another.
    [ -n "${TOCSIN_BINARY:-}" ] || [ -z "$commit" ] || must "It says its commit" grep -qF "${commit:0:7}" <<<"$(inside tocsin --version)"
    while read -r command; do
        test -s "$share/man/man1/tocsin-$command.1.gz" || give_up "There is no manual page of tocsin $command."
        pages=$((pages + 1))
    done < <(inside tocsin --experimental-dump-help | python3 -c '
import json, sys
for each in json.load(sys.stdin)["command"]["subcommands"]:
    if each["commandName"] != "help" and each.get("shouldDisplay", True): print(each["commandName"])')
    must "Each of $pages commands has a manual page" test "$pages" -gt 25
    must "There are pages of settings, errors and metrics" test -s "$share/man/man5/tocsin.toml.5.gz" \
        -a -s "$share/man/man7/tocsin-errors.7.gz" -a -s "$share/man/man7/tocsin-metrics.7.gz"
    must "bash takes its completions, which complete a command" grep -qx topic <<<"$(inside bash -c '
        . /usr/share/bash-completion/completions/tocsin
        COMP_LINE="tocsin topi" COMP_POINT=11 COMP_WORDS=(tocsin topi) COMP_CWORD=1
        _tocsin tocsin topi tocsin
        printf "%s\n" "${COMPREPLY[@]}"')"
    must "zsh reads its completions" zsh -n "$share/zsh/vendor-completions/_tocsin"
    must "fish reads its completions" fish --no-execute "$share/fish/vendor_completions.d/tocsin.fish"
}

check_package() {
    local older="$work/check/older.deb" name
    # Whatever asks a network for something fails.
    offline=(unshare --net --)
    make_deb "$work/check/a"
    mv "$deb" "$work/check/first.deb"
    make_deb "$work/check/b"
    offline=()
    must "Two builds of the package are equal byte by byte" cmp "$work/check/first.deb" "$deb"
    step "Size: $(stat -c %s "$deb") bytes; $(dpkg-deb -f "$deb" Depends | sed 's/^/Depends: /')"
    lintian --no-user-dirs -EvI --fail-on error,warning "$deb" >"$work/check/lintian.log" 2>&1 ||
        { grep -E '^[EW]:' "$work/check/lintian.log" >&2 && give_up "lintian complains."; }
    grep -E '^[IPXO]:' "$work/check/lintian.log" >&2 || true
    step "lintian finds no error and no warning"

    make_fresh_root
    lower "$older"
    cp "$older" "$fresh/older.deb"
    cp "$deb" "$fresh/newer.deb"
    inside apt-get install -y -q /older.deb >"$work/check/install.log" 2>&1 || { tail -20 "$work/check/install.log" >&2 && give_up "The package cannot be installed."; }
    must "The installation tells how to make the first administrator" grep -q 'user add NAME --admin' "$work/check/install.log"
    must "Settings are read by the service alone" test "$(inside stat -c '%a %U:%G' /etc/tocsin/tocsin.toml)" = '640 root:tocsin'
    must "The data directory is the service's" test "$(inside stat -c '%a %U:%G' /var/lib/tocsin)" = '700 tocsin:tocsin'
    must "The settings are in order" as_service_inside tocsin settings check --config /etc/tocsin/tocsin.toml --data-dir /var/lib/tocsin
    must "The spool is the service's and its group's" test "$(inside stat -c '%a %U:%G' /var/spool/tocsin)" = '2770 tocsin:tocsin'
    must "Its timer is enabled" test "$(inside systemctl is-enabled tocsin-spool.timer 2>/dev/null)" = enabled
    must "The unit is enabled, the socket is not" test "$(inside systemctl is-enabled tocsin.service tocsin.socket 2>/dev/null | paste -sd ' ')" = 'enabled disabled'
    try_words
    try_installed first

    # A change of the administrator's, which an upgrade keeps; and a migration that an older program could not live with.
    printf '\nmessages-keep = "90d"\n' >>"$fresh/etc/tocsin/tocsin.toml"
    wait_a_migration_back
    inside apt-get install -y -q -o Dpkg::Options::=--force-confold /newer.deb >"$work/check/upgrade.log" 2>&1 ||
        { tail -20 "$work/check/upgrade.log" >&2 && give_up "The package cannot be upgraded."; }
    must "The upgrade kept a copy of the database" test -s "$fresh/var/lib/tocsin/backup-before-$version.db"
    must "The copy is the service's alone" test "$(inside stat -c '%a %U' "/var/lib/tocsin/backup-before-$version.db")" = '600 tocsin'
    must "The upgrade kept the settings" grep -q '^messages-keep' "$fresh/etc/tocsin/tocsin.toml"
    must "And who may read them" test "$(inside stat -c '%a %U:%G' /etc/tocsin/tocsin.toml)" = '640 root:tocsin'
    give_a_migration_back
    try_installed
    inside apt-get remove -y -q tocsin >"$work/check/remove.log" 2>&1 || give_up "The package cannot be removed."
    must "After a removal the program is gone, settings and data stay" \
        test ! -e "$fresh/usr/bin/tocsin" -a -e "$fresh/etc/tocsin/tocsin.toml" -a -s "$fresh/var/lib/tocsin/tocsin.db"
    must "No unit is left to be started" test -z "$(find "$fresh/usr/lib/systemd" "$fresh/lib/systemd" -name 'tocsin*' 2>/dev/null)"
    inside apt-get purge -y -q tocsin >"$work/check/purge.log" 2>&1 || give_up "The package cannot be purged."
    must "After a purge the settings are gone, data stay" \
        test ! -e "$fresh/etc/tocsin" -a ! -e "$fresh/etc/default/tocsin" -a -s "$fresh/var/lib/tocsin/tocsin.db"
    must "Nothing of it is enabled any more" test -z "$(find "$fresh/etc/systemd" "$fresh/var/lib/systemd" -name 'tocsin*' 2>/dev/null)"
    must "And a sentence says so" grep -q 'the data in /var/lib/tocsin stays' "$work/check/purge.log"
}

# Lets the newest migration that is not additive look pending, as it would before a real upgrade.
wait_a_migration_back() {
    python3 - "$fresh/var/lib/tocsin/tocsin.db" "$work/check/rows" <<'PYTHON'
import json, sqlite3, sys
database = sqlite3.connect(sys.argv[1])
first = database.execute("SELECT max(number) FROM migrations WHERE additive = 0").fetchone()[0]
rows = database.execute("SELECT * FROM migrations WHERE number >= ?", [first]).fetchall()
database.execute("DELETE FROM migrations WHERE number >= ?", [first])
database.commit()
json.dump(rows, open(sys.argv[2], "w"))
PYTHON
}

give_a_migration_back() {
    python3 - "$fresh/var/lib/tocsin/tocsin.db" "$work/check/rows" <<'PYTHON'
import json, sqlite3, sys
database = sqlite3.connect(sys.argv[1])
for row in json.load(open(sys.argv[2])):
    database.execute("INSERT INTO migrations VALUES (%s)" % ",".join("?" * len(row)), row)
database.commit()
PYTHON
}

# Runs a command as a plain user without any right: as_plain COMMAND…
as_plain() {
    if [ "$(id -u)" -ne 0 ]; then "$@"; else setpriv --reuid 65534 --regid 65534 --clear-groups -- env HOME="$plain" "$@"; fi
}

# Runs the unpacked image's program with a read-only root, as its user, without any right: in_image ARGUMENT…
in_image() {
    as_plain bwrap --unshare-user --unshare-pid --uid 65532 --gid 65532 --ro-bind "$plain/bundle/rootfs" / \
        --bind "$plain/data" /data --proc /proc --dev /dev --tmpfs /tmp --clearenv \
        --setenv TOCSIN_DATA_DIR /data --setenv TOCSIN_HOST 127.0.0.1 --setenv TOCSIN_PORT 0 \
        /usr/bin/tocsin "$@"
}

check_image() {
    local first size pid address token
    make_image "$work/check/oci-a"
    first=$digest
    make_image "$work/check/oci-b"
    must "Two builds of the image have the digest $digest" test "$first" = "$digest"
    size=$(du -sb "$layout/blobs" | cut -f 1)
    must "The image has at most 60 MB ($size bytes)" test "$size" -le 60000000
    plain=$(mktemp -d)
    chmod 777 "$plain"
    cp -r "$layout" "$plain/layout"
    chmod -R a+rX "$plain/layout"
    must "skopeo copies it to a docker archive" skopeo copy --quiet "oci:$layout:$version" "docker-archive:$plain/tocsin.tar:tocsin:$version"
    must "umoci unpacks it without root" as_plain umoci unpack --rootless --image "$plain/layout:$version" "$plain/bundle"
    must "There is no shell in it" test -z "$(find "$plain/bundle/rootfs" -path '*bin/*' -type f ! -path '*/usr/bin/tocsin')"
    mkdir -m 777 "$plain/data"
    in_image serve --ready-file /data/ready 2>"$work/check/image.log" &
    pid=$!
    within 60 test -s "$plain/data/ready" || { cat "$work/check/image.log" >&2 && give_up "The image's program did not start."; }
    address=$(cat "$plain/data/ready")
    must "Rootless and read-only it answers /readyz" curl --silent --fail --max-time 10 --output /dev/null "$address/readyz"
    in_image user add admin --admin >/dev/null
    token=$(in_image token create --user admin)
    in_image topic create alerts --server "$address" --token "$token" >/dev/null
    must "Its own command says that it is ready, as a health check does" in_image admin ready
    must "It takes a message" curl --silent --fail --max-time 20 --output /dev/null "$address/tcm/create-message" \
        -H "Authorization: Bearer $token" -H 'Content-Type: application/json' -d '{"topic": "alerts", "title": "Disk full"}'
    kill -TERM "$(pgrep -f "^/usr/bin/tocsin serve --ready-file /data/ready" | head -1)"
    within 30 sh -c "! kill -0 $pid" || give_up "It did not stop."
    wait "$pid" || give_up "It ended with status $?."
    must "It ends with status 0" true
    rm -rf "$plain"
}

# The calls of a run (start, a user, a message, reload, stop) are those that the unit allows; two others may be refused
# without harm: a thread's priority, and an owner that SQLite sets as root alone.
check_calls() {
    local data="$work/check/calls" address token pid
    rm -rf "$data"
    mkdir -p "$data"
    strace -f -qq -o "$data/trace" "$binary" serve --port 0 --data-dir "$data/data" --ready-file "$data/ready" 2>"$data/log" &
    pid=$!
    within 60 test -s "$data/ready" || { tail -3 "$data/log" >&2 && give_up "The traced server did not start."; }
    address=$(cat "$data/ready")
    "$binary" user add admin --admin --data-dir "$data/data" >/dev/null
    token=$("$binary" token create --user admin --data-dir "$data/data")
    TOCSIN_URL=$address TOCSIN_TOKEN=$token "$binary" topic create alerts >/dev/null
    must "A traced server takes a message" curl --silent --fail --max-time 20 --output /dev/null "$address/tcm/create-message" \
        -H "Authorization: Bearer $token" -H 'Content-Type: application/json' -d '{"topic": "alerts", "title": "Disk full"}'
    kill -HUP "$(pgrep -P "$pid" tocsin)"
    kill -TERM "$(pgrep -P "$pid" tocsin)"
    wait "$pid" || give_up "The traced server ended with status $?."
    python3 - "$data/trace" <<'PYTHON' || give_up "The unit's filter refuses a call that the program makes."
import re, subprocess, sys
groups, name = {}, ""
for line in subprocess.run(["systemd-analyze", "syscall-filter"], capture_output=True, text=True).stdout.splitlines():
    if line.startswith("@"):
        name = line.strip()
        groups[name] = []
    elif line.startswith("    ") and not line.strip().startswith("#"):
        groups[name].append(line.strip())
def calls(group):
    return {call for each in groups[group] for call in (calls(each) if each.startswith("@") else [each])}
allowed = calls("@system-service") - calls("@privileged") - calls("@resources")
made = set(re.findall(r"(?m)^\d+ +([a-z_0-9]+)\(", open(sys.argv[1], errors="replace").read()))
refused = made - allowed - {"setpriority", "fchown"}
print(f"==> {len(made)} kinds of calls, refused by the unit: {sorted(made - allowed) or 'none'}", file=sys.stderr)
sys.exit(1 if refused or len(made) < 30 else 0)
PYTHON
}

check_all() {
    [ "$(id -u)" -eq 0 ] || give_up "check installs into a root of its own, which needs root."
    install_packages lintian debootstrap bubblewrap strace uidmap curl procps python3 systemd zsh fish || give_up "Not all tools could be installed."
    rm -rf "$work/check"
    mkdir -p "$work/check"
    "$root/scripts/units.sh"
    check_calls
    check_package
    check_image
    rm -rf "$work/check/root" "$work/check/lower"
    step "The packages are in order."
}
