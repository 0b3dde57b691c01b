# Sourced by the other scripts: a PostgreSQL server of their own, in a temporary folder, on this machine alone.

# Runs a command as somebody who is not root, which PostgreSQL refuses to be; the process keeps its id.
as_postgres() {
    if [ "$(id -u)" -ne 0 ]; then exec "$@"; fi
    exec setpriv --reuid "$postgres_user" --regid "$(id -g "$postgres_user")" --clear-groups "$@"
}

# Starts a server that forgets everything when it ends and never waits for a disk; sets TOCSIN_TEST_POSTGRES to its URL,
# and TOCSIN_TEST_POSTGRES_CA to the certificate it shows. Fails when there is no PostgreSQL here.
start_postgres() {
    local programs attempt
    programs=$(dirname "$(readlink -f "$(command -v initdb || find /usr/lib/postgresql -name initdb 2>/dev/null | sort -V | tail -1)")")
    [ -x "$programs/initdb" ] && [ -x "$programs/postgres" ] || return 1
    postgres_user=$(id -un)
    if [ "$(id -u)" -eq 0 ]; then
        postgres_user=$(id -un postgres 2>/dev/null || echo nobody)
        command -v setpriv >/dev/null || return 1
    fi
    postgres_folder=$(mktemp -d)
    chmod 711 "$postgres_folder"
    openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1 \
        -keyout "$postgres_folder/server.key" -out "$postgres_folder/server.crt" 2>/dev/null || return 1
    chmod 600 "$postgres_folder/server.key"
    mkdir "$postgres_folder/data"
    [ "$(id -u)" -ne 0 ] || chown -R "$postgres_user" "$postgres_folder/data" "$postgres_folder/server.key"
    (cd / && as_postgres "$programs/initdb" -D "$postgres_folder/data" -U tocsin -A trust -E UTF8 --locale=C --no-sync) \
        >"$postgres_folder/log" 2>&1 || return 1
    cat >>"$postgres_folder/data/postgresql.conf" <<SETTINGS
listen_addresses = '127.0.0.1'
unix_socket_directories = ''
max_connections = 500
fsync = off
full_page_writes = off
autovacuum = off
deadlock_timeout = 200ms
log_checkpoints = off
ssl = on
ssl_cert_file = '$postgres_folder/server.crt'
ssl_key_file = '$postgres_folder/server.key'
SETTINGS
    for attempt in 1 2 3 4 5; do
        postgres_port=$((20000 + RANDOM % 20000))
        (cd / && as_postgres "$programs/postgres" -D "$postgres_folder/data" -p "$postgres_port") \
            >>"$postgres_folder/log" 2>&1 </dev/null &
        postgres_process=$!
        if wait_for_postgres "$programs"; then
            export TOCSIN_TEST_POSTGRES="postgres://tocsin@127.0.0.1:$postgres_port/postgres"
            export TOCSIN_TEST_POSTGRES_CA="$postgres_folder/server.crt"
            return 0
        fi
        step "PostgreSQL did not start at port $postgres_port (attempt $attempt)"
    done
    tail -5 "$postgres_folder/log" >&2
    return 1
}

# Waits until the server answers; fails when its process has ended.
wait_for_postgres() {
    local tries
    for tries in $(seq 300); do
        kill -0 "$postgres_process" 2>/dev/null || return 1
        "$1/pg_isready" -q -h 127.0.0.1 -p "$postgres_port" && return 0
        sleep 0.1
    done
    step "PostgreSQL has not answered after $((tries / 10)) seconds"
    kill -QUIT "$postgres_process" 2>/dev/null
    return 1
}

# Ends the server, whatever is under way, and removes its data.
stop_postgres() {
    if [ -n "${postgres_process:-}" ]; then
        kill -QUIT "$postgres_process" 2>/dev/null || true
        wait "$postgres_process" 2>/dev/null || true
        postgres_process=
    fi
    [ -z "${postgres_folder:-}" ] || rm -rf "$postgres_folder"
    postgres_folder=
}
