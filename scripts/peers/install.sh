# Sourced by bench.sh: puts the peers of `tocsin-bench engine` into a folder, each as one program that takes the documents' folder.
# What cannot be had is left out with a sentence. Needs packages.sh and $root.

peer_sources="$root/scripts/peers"

# Debian's graphql-js. Its node is taken unless there is one.
install_graphql_js() {
    local packages=(node-graphql)
    command -v node >/dev/null || packages+=(nodejs)
    install_packages "${packages[@]}" && command -v node >/dev/null &&
        NODE_PATH=/usr/share/nodejs node -e 'require("graphql")' 2>/dev/null || return 1
    printf '#!/bin/sh\nNODE_ENV=production NODE_PATH=/usr/share/nodejs exec node %q "$1"\n' \
        "$peer_sources/graphql-js.js" >"$1/graphql-js"
    chmod +x "$1/graphql-js"
}

# graphql-core, which oracle.sh judges by.
install_graphql_core_peer() {
    install_graphql_core || return 1
    printf '#!/bin/sh\nPYTHONDONTWRITEBYTECODE=1 exec %q %q "$1"\n' \
        "$oracle_python" "$peer_sources/graphql_core.py" >"$1/graphql-core"
    chmod +x "$1/graphql-core"
}

# libgraphqlparser, whose sources and generated parser come inside PyPI's source package of tartiflette.
install_libgraphqlparser() {
    local folder="$1/libgraphqlparser-build" compiler sources name
    [ -x "$1/libgraphqlparser" ] && [ "$1/libgraphqlparser" -nt "$peer_sources/libgraphqlparser.cpp" ] && return 0
    compiler=$(command -v g++ || command -v clang++) || return 1
    mkdir -p "$folder"
    sources="$folder/tartiflette-1.4.1/libgraphqlparser"
    if [ ! -d "$sources" ]; then
        step "Fetching libgraphqlparser"
        python3 -m pip download -q --no-deps --no-binary tartiflette -d "$folder" 'tartiflette==1.4.1' >&2 &&
            tar -xzf "$folder/tartiflette-1.4.1.tar.gz" -C "$folder" || return 1
    fi
    step "Building libgraphqlparser"
    for name in cxx:Ast.h cxx_impl:Ast.cpp cxx_visitor:AstVisitor.h; do
        PYTHONDONTWRITEBYTECODE=1 python3 "$sources/ast/ast.py" "${name%%:*}" "$sources/ast/ast.ast" \
            >"$sources/parsergen/${name##*:}" || return 1
    done
    "$compiler" -std=gnu++17 -O2 -w -rdynamic -I "$sources" -I "$sources/parsergen" -o "$1/libgraphqlparser" \
        "$peer_sources/libgraphqlparser.cpp" "$sources/GraphQLParser.cpp" \
        "$sources/parsergen/Ast.cpp" "$sources/parsergen/lexer.cpp" "$sources/parsergen/parser.tab.cpp" -ldl >&2
}

# The counter of calls for memory.
install_counter() {
    local compiler
    compiler=$(command -v clang || command -v gcc) || return 1
    "$compiler" -O2 -shared -fPIC -o "$1/liballocations.so" "$peer_sources/allocations.c" >&2
}

# Other senders, for `tocsin-bench push`: Go's net/http (Debian's golang) and Python's aioapns (PyPI).
install_push_peers() {
    mkdir -p "$1"
    { install_packages golang-go && step "Building the Go sender" &&
        GOCACHE="$1/go-cache" go build -o "$1/go-sender" \
            "$peer_sources/push/sender.go" >&2; } ||
        step "The Go sender could not be built; its row is left out."
    if make_python_environment "$1/aioapns" 'aioapns==4.0'; then
        printf '#!/bin/sh\nPYTHONDONTWRITEBYTECODE=1 exec %q %q "$@"\n' \
            "$1/aioapns/bin/python3" "$peer_sources/push/sender_aioapns.py" >"$1/aioapns-sender"
        chmod +x "$1/aioapns-sender"
    else
        step "aioapns could not be installed; its row is left out."
    fi
}

# The floor of `tocsin-bench live`, and Python's websockets (PyPI).
install_live_peers() {
    local compiler
    mkdir -p "$1"
    { compiler=$(command -v clang || command -v gcc) &&
        "$compiler" -O2 -o "$1/send-loop" "$peer_sources/live/send_loop.c" >&2; } ||
        step "There is no C compiler; the live feed is measured without its floor."
    if make_python_environment "$1/websockets" 'websockets==15.0.1'; then
        printf '#!/bin/sh\nPYTHONDONTWRITEBYTECODE=1 exec %q %q "$@"\n' \
            "$1/websockets/bin/python3" "$peer_sources/live/broadcast_websockets.py" >"$1/websockets-broadcast"
        chmod +x "$1/websockets-broadcast"
    else
        step "websockets could not be installed; its row is left out."
    fi
}

# Puts the engine's peers into a folder.
install_peers() {
    mkdir -p "$1"
    install_graphql_js "$1" || step "graphql-js could not be installed; its rows are left out."
    install_graphql_core_peer "$1" || step "graphql-core could not be installed; its rows are left out."
    install_libgraphqlparser "$1" || step "libgraphqlparser could not be built; its published figure stands in its place."
    install_counter "$1" || step "There is no C compiler; calls for memory are not counted."
}
