#!/usr/bin/env bash
# Makes what is installed: scripts/package.sh deb | oci | check
#
# deb    a Debian package, in .build-release/package
# oci    an image as an OCI layout, in .build-release/package; needs no engine and no root
# check  makes both, each twice, and tries them: lintian, equal bytes, install, upgrade, remove and purge in a fresh Debian
#        root, the image unpacked and run without root; some minutes, as root
#
# Nothing is fetched for the Debian package but the tools that make it. The image takes Debian's libraries from the mirror
# in MIRROR (http://deb.debian.org/debian). TOCSIN_BINARY names a release build to use instead of making one.
# SOURCE_DATE_EPOCH dates everything; the commit's date unless set. TOCSIN_SOURCE_URL is the image's label of its source.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/packages.sh
. "$root/scripts/packages.sh"
export HOME="${HOME:-$root/.tocsin/home}"
work="$root/.build-release/package"
mirror="${MIRROR:-http://deb.debian.org/debian}"
suite=bookworm
# What a package is made by, where it must not ask a network.
offline=()

usage() { sed -n '2,11s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; }

# Sets binary, version, commit and SOURCE_DATE_EPOCH.
prepare() {
    binary="${TOCSIN_BINARY:-}"
    if [ -z "$binary" ]; then
        prepare_build
        build_release tocsin
        binary="$root/.build-release/release/tocsin"
    fi
    version=$("$binary" --version | cut -d ' ' -f 1)
    commit=$(source_commit)
    if [ -z "${SOURCE_DATE_EPOCH:-}" ]; then
        SOURCE_DATE_EPOCH=$(git -C "$root" log -1 --format=%ct 2>/dev/null) || SOURCE_DATE_EPOCH=$(cd "$root" && stat -c %Y CHANGELOG.md)
    fi
    export SOURCE_DATE_EPOCH
    export LC_ALL=C.UTF-8 TZ=UTC
    umask 022
}

# All that is made from the binary and the sources, as it will lie on the system: stage FOLDER
stage() {
    local files="$1" page
    mkdir -p "$files/usr/bin" "$files/etc/tocsin" "$files/etc/default" "$files/usr/share/tocsin/ops" \
        "$files/usr/share/doc/tocsin" "$files/usr/share/man" "$files/usr/lib/sysusers.d"
    install -m 755 "$binary" "$files/usr/bin/tocsin"
    "$binary" settings example >"$files/etc/tocsin/tocsin.toml"
    cp "$root/ops/debian/tocsin.default" "$files/etc/default/tocsin"
    cp "$root/ops/debian/tocsin.sysusers" "$files/usr/lib/sysusers.d/tocsin.conf"
    python3 "$root/scripts/manuals.py" "$binary" "$files/made" >&2
    for page in "$files"/made/man/*; do install -D -m 644 "$page" "$files/usr/share/man/man${page##*.}/$(basename "$page")"; done
    install -D -m 644 "$files/made/completions/bash/tocsin" "$files/usr/share/bash-completion/completions/tocsin"
    install -D -m 644 "$files/made/completions/zsh/_tocsin" "$files/usr/share/zsh/vendor-completions/_tocsin"
    install -D -m 644 "$files/made/completions/fish/tocsin.fish" "$files/usr/share/fish/vendor_completions.d/tocsin.fish"
    rm -r "$files/made"
    for page in "$root"/ops/*; do [ "$(basename "$page")" = debian ] || cp -r "$page" "$files/usr/share/tocsin/ops/"; done
    mkdir "$files/usr/share/doc/tocsin/schema"
    (cd "$root" && cp -r README.md CHANGELOG.md docs "$files/usr/share/doc/tocsin/" &&
        cp schema/*.md "$files/usr/share/doc/tocsin/schema/")
    find "$files" -type d -exec chmod 755 {} +
    find "$files/usr/share" "$files/usr/lib" "$files/etc" -type f -exec chmod 644 {} +
}

# make_deb FOLDER: the package lies in it afterwards.
make_deb() {
    local folder="$1" source="$1/source"
    install_packages debhelper dpkg-dev fakeroot python3 || give_up "debhelper, dpkg-dev, fakeroot and python3 are needed."
    rm -rf "$folder"
    mkdir -p "$source"
    cp -r "$root/ops/debian" "$source/debian"
    rm "$source/debian/tocsin.default" "$source/debian/tocsin.sysusers"
    cp "$root"/ops/systemd/tocsin* "$source/debian/"
    stage "$source/files"
    cat >"$source/debian/changelog" <<TEXT
tocsin ($version) unstable; urgency=medium

  * Release $version${commit:+, commit $commit}.
    What users feel of it stands in CHANGELOG.md beside this file.

 -- $(sed -n 's/^Maintainer: //p' "$source/debian/control")  $(date -R -d "@$SOURCE_DATE_EPOCH")
TEXT
    step "Making the Debian package"
    (cd "$source" && "${offline[@]}" dpkg-buildpackage --build=binary --unsigned-changes --unsigned-buildinfo) >"$folder/log" 2>&1 ||
        { tail -40 "$folder/log" >&2 && give_up "The package could not be made; the lines above say why."; }
    deb=$(echo "$folder"/tocsin_*.deb)
    [ -e "$deb" ] || give_up "There is no package in $folder."
}

# The libraries of the system that the binary needs, by packages.
libraries() {
    ldd "$binary" | sed -n 's/.*=> \(\/[^ ]*\).*/\1/p' | while read -r file; do
        dpkg-query -S "$(readlink -f "$file")" 2>/dev/null || dpkg-query -S "$file" 2>/dev/null || true
    done | cut -d : -f 1 | sort -u
}

# A tar file of a folder that depends on nothing but names, bytes and modes: pack FOLDER FILE [OWNER PATH]
pack() {
    local folder="$1" file="$2" options=(--sort=name --format=gnu --numeric-owner --mtime="@$SOURCE_DATE_EPOCH")
    shift 2
    if [ $# -eq 0 ]; then
        tar -C "$folder" "${options[@]}" --owner=0 --group=0 -cf "$file" .
    else
        tar -C "$folder" "${options[@]}" --owner=0 --group=0 --exclude="./$2" -cf "$file" .
        tar -C "$folder" "${options[@]}" --owner="$1" --group="$1" -rf "$file" "./$2"
    fi
}

# The first layer: the libraries, certificates and time zones of Debian, and no program at all: make_root FOLDER
make_root() {
    local folder="$1" packages
    packages=$(libraries | paste -sd ,)
    [ -n "$packages" ] || give_up "The libraries of $binary belong to no package; the image is made on Debian."
    step "Taking libraries from Debian"
    mmdebstrap --quiet --variant=extract --mode="$([ "$(id -u)" -eq 0 ] && echo root || echo chrootless)" \
        --include="$packages,ca-certificates,tzdata" \
        --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/locale/*' \
        --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-include=/usr/share/doc/*/copyright' \
        --skip=cleanup/reproducible "$suite" "$folder.tar" "$mirror" >&2 || give_up "The libraries could not be taken from $mirror."
    mkdir -p "$folder"
    # What is for programs that an image without a shell does not have.
    tar -C "$folder" --no-same-owner -xf "$folder.tar" --exclude='./dev/*' --exclude='./var/lib/apt' --exclude='./var/cache' \
        --exclude='./usr/share/perl*' --exclude='./usr/share/doc/perl*' --exclude='./usr/share/debconf' --exclude='*/perl-base' \
        --exclude='./usr/share/bash-completion' --exclude='./etc/apt'
    rm "$folder.tar"
    rm -rf "$folder"/{bin,sbin,usr/bin,usr/sbin,var,etc,root,home,run,tmp,boot,media,mnt,opt,srv,usr/games,usr/local,usr/src}
    rm -rf "$folder"/usr/share/{pixmaps,menu,lintian,bug,base-files,base-passwd,perl5,keyrings,gcc} \
        "$folder"/usr/lib/{systemd,tmpfiles.d,apt,dpkg,ssl/misc} "$folder"/usr/lib/*/gconv
    mkdir -p "$folder"/{bin,usr/bin,etc/ssl/certs,proc,sys,dev,run,tmp,data,var/tmp}
    chmod 1777 "$folder/tmp" "$folder/var/tmp"
    rmdir "$folder/bin"
    chmod 700 "$folder/data"
    find "$folder/usr/share/ca-certificates/mozilla" -name '*.crt' -print0 | sort -z | xargs -0 cat >"$folder/etc/ssl/certs/ca-certificates.crt"
    printf 'root:x:0:0:root:/:/nonexistent\ntocsin:x:65532:65532:Tocsin:/data:/nonexistent\n' >"$folder/etc/passwd"
    printf 'root:x:0:\ntocsin:x:65532:\n' >"$folder/etc/group"
    printf 'hosts: files dns\n' >"$folder/etc/nsswitch.conf"
    cat >"$folder/etc/os-release" <<TEXT
PRETTY_NAME="Tocsin $version on Debian 12"
ID=debian
VERSION_ID=12
VERSION_CODENAME=$suite
TEXT
}

# make_image FOLDER: an OCI layout FOLDER/tocsin with the tag of the version.
make_image() {
    local folder="$1" image created
    install_packages mmdebstrap umoci skopeo || give_up "mmdebstrap, umoci and skopeo are needed."
    rm -rf "$folder"
    mkdir -p "$folder/program/usr/bin"
    make_root "$folder/root"
    install -m 755 "$binary" "$folder/program/usr/bin/tocsin"
    pack "$folder/root" "$folder/root.tar" 65532 data
    pack "$folder/program" "$folder/program.tar"
    step "Making the image"
    created=$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ)
    layout="$folder/tocsin"
    image="$layout:$version"
    umoci init --layout "$layout"
    umoci new --image "$image"
    for layer in root program; do
        umoci raw add-layer --image "$image" --history.created "$created" --history.author Tocsin \
            --history.created_by "scripts/package.sh oci: $layer" --history.comment "" "$folder/$layer.tar"
    done
    umoci config --image "$image" --no-history --created "$created" --author Tocsin --os linux \
        --architecture "$(dpkg --print-architecture)" --config.user 65532:65532 --config.workingdir /data \
        --config.entrypoint /usr/bin/tocsin --config.cmd serve --config.volume /data \
        --config.exposedports 8080/tcp --config.exposedports 9464/tcp --config.stopsignal SIGTERM \
        --config.env PATH=/usr/bin --config.env TOCSIN_DATA_DIR=/data --config.env TOCSIN_HOST=0.0.0.0 \
        --config.label org.opencontainers.image.title=Tocsin \
        --config.label "org.opencontainers.image.version=$version" \
        --config.label "org.opencontainers.image.revision=${commit:-unknown}" \
        --config.label "org.opencontainers.image.created=$created" \
        ${TOCSIN_SOURCE_URL:+--config.label "org.opencontainers.image.source=$TOCSIN_SOURCE_URL"} \
        --config.label org.opencontainers.image.licenses=Apache-2.0
    umoci gc --layout "$layout"
    rm -rf "$folder/root" "$folder/program" "$folder/root.tar" "$folder/program.tar"
    digest=$(skopeo inspect --format '{{.Digest}}' "oci:$image")
}

case "${1:-}" in
deb)
    prepare
    make_deb "$work/deb"
    printf '%s\n' "$deb"
    ;;
oci)
    prepare
    make_image "$work/oci"
    printf '%s:%s %s\n' "$layout" "$version" "$digest"
    ;;
check)
    # shellcheck source=scripts/package/check.sh
    . "$root/scripts/package/check.sh"
    prepare
    check_all
    ;;
-h | --help) usage ;;
*)
    usage >&2
    exit 2
    ;;
esac
