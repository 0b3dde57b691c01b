#!/usr/bin/env bash
# Fuzzes the GraphQL engine and the receivers with libFuzzer: fuzz.sh [SECONDS], which the six parts share; 60 unless
# told. Inputs that break something are kept in .build-fuzz/found. FUZZ_SANITIZE=fuzzer,address also watches memory.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/packages.sh
. "$root/scripts/packages.sh"
cd "$root"
seconds=${1:-60}
[[ "$seconds" =~ ^[0-9]+$ ]] || give_up "'$seconds' is no number of seconds."
sanitize=${FUZZ_SANITIZE:-fuzzer}
build="$root/.build-fuzz"
mkdir -p "$build/found"
# To optimise the receivers takes half a minute of a processor, which a short run does not give back.
receivers=(-O)
[ "$seconds" -ge 60 ] || receivers=(-Onone)
if [ "$(cat "$build/built" 2>/dev/null)" != "$sanitize ${receivers[*]}" ]; then
    rm -f "$build"/*.o
    printf '%s' "$sanitize ${receivers[*]}" >"$build/built"
fi

# The same settings as Package.swift, and what the fuzzer needs; a package of its own would resolve every dependency.
flags=(-O -wmo -swift-version 6 -package-name tocsin -sanitize="$sanitize" -parse-as-library -I "$build")
for feature in ExistentialAny InternalImportsByDefault MemberImportVisibility NonisolatedNonsendingByDefault; do
    flags+=(-enable-upcoming-feature "$feature")
done

# Builds a module into one object file, unless nothing changed since.
build_module() {
    local name=$1 folder=$2
    shift 2
    if [ -e "$build/$name.o" ] && [ -z "$(find "$folder" Sources/{JSON,GraphQL,Encodings,Metrics,TocsinReceivers} -newer "$build/$name.o" -name '*.swift' -print -quit)" ]; then
        return 0
    fi
    step "Building $name"
    find "$folder" -name '*.swift' -print0 | sort -z | xargs -0 swiftc "${flags[@]}" "$@" -module-name "$name" \
        -emit-module -emit-module-path "$build/$name.swiftmodule" -emit-object -o "$build/$name.o" ||
        give_up "The build failed; the lines above say why."
}
build_module JSON Sources/JSON
build_module GraphQL Sources/GraphQL
# What receivers are made of is not what is fuzzed: it is built quickly.
for module in Encodings Metrics TocsinCore; do build_module "$module" "Sources/$module" -Onone; done
[ "$build/TocsinReceivers.o" -nt "$build/TocsinCore.o" ] || rm -f "$build/TocsinReceivers.o"
build_module TocsinReceivers Sources/TocsinReceivers "${receivers[@]}"
[ "$build/EngineFuzz.o" -nt "$build/TocsinReceivers.o" ] || rm -f "$build/EngineFuzz.o"
build_module EngineFuzz Tests/Fuzz
swiftc -sanitize="$sanitize" "$build"/{JSON,GraphQL,Encodings,Metrics,TocsinCore,TocsinReceivers,EngineFuzz}.o -o "$build/fuzz"

PYTHONDONTWRITEBYTECODE=1 python3 Tests/Fuzz/corpus.py "$build/seeds"
export FUZZ_SCHEMA="$root/Tests/Oracle/schemas/pets.graphql"
# What lives as long as the process, behind tagged pointers, would count as leaked.
export ASAN_OPTIONS=detect_leaks=0
status=0
for target in language schema validation execution templates receivers; do
    mkdir -p "$build/corpus/$target"
    seed=${FUZZ_SEED:-$((RANDOM * 32768 + RANDOM + 1))}
    step "Fuzzing $target with seed $seed"
    # A limit of 64 KB, memory and time for each input; what is found stays as a file.
    FUZZ_TARGET=$target "$build/fuzz" -seed="$seed" -max_total_time=$((seconds / 6 + 1)) -max_len=65536 -timeout=10 \
        -rss_limit_mb=1024 -dict=Tests/Fuzz/graphql.dict -artifact_prefix="$build/found/$target-" \
        -print_final_stats=1 "$build/corpus/$target" "$build/seeds/$target" 2>"$build/$target.log" || status=1
    grep -E "^stat::number_of_executed_units|^stat::peak_rss_mb|SUMMARY|Fatal error|Test unit written" "$build/$target.log" >&2 || true
    [ "$status" -eq 0 ] || tail -n 40 "$build/$target.log" >&2
done
[ "$status" -eq 0 ] || give_up "Something broke; the inputs are in .build-fuzz/found."
