#!/bin/sh
# Runs the plug-in's C++ tests under sanitizers: address and undefined behaviour
# for all, threads for the parts that need no database. RocksDB itself is linked
# as Cargo has compiled it, without a second build.
#
# Needs a finished `cargo build --release` of the engine and CARGO_TARGET_DIR, if
# that is not ./target of the workspace. CXX names the compiler (default: c++, with
# which Cargo compiles RocksDB); GCC and Clang both know the flags.
set -eu

plugin=$(cd "$(dirname "$0")" && pwd)
workspace=$(cd "$plugin/../../.." && pwd)
target=${CARGO_TARGET_DIR:-$workspace/target}
cxx=${CXX:-c++}
jobs=$(nproc 2>/dev/null || echo 2)

fail() {
    echo "sanitize.sh: $1" >&2
    exit 1
}

# The newest file $1 under Cargo's build folder.
archive() {
    found=$(find "$target/release/build" -path "*/out/$1" -exec ls -t {} + 2>/dev/null | head -n 1)
    [ -n "$found" ] || fail "no $1 under $target/release/build; run 'cargo build --release' first"
    echo "$found"
}

# RocksDB's sources: what its build script tells the plug-in's.
sources() {
    output=$(dirname "$(dirname "$1")")/output
    include=$(sed -n 's/^cargo::*\(metadata=\)*include=//p' "$output" | head -n 1)
    [ -d "$include/rocksdb" ] || fail "$output does not name RocksDB's headers"
    dirname "$include"
}

rocksdb=$(archive librocksdb.a)
lz4=$(archive liblz4.a)
zstd=$(archive libzstd.a)
source=$(sources "$rocksdb")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# compile FOLDER FLAGS FILE...
compile() {
    folder=$1
    flags=$2
    shift 2
    mkdir -p "$folder"
    printf '%s\n' "$@" | xargs -P "$jobs" -I{} sh -c '
        "$0" -std=c++20 -fno-rtti -include cstdint -g -O1 -fno-omit-frame-pointer \
            -Wall -Wextra -DNDEBUG=1 -DHAVE_ALIGNED_NEW -DHAVE_UINT128_EXTENSION \
            -DOS_LINUX -DROCKSDB_PLATFORM_POSIX -DROCKSDB_LIB_IO_POSIX \
            -DROCKSDB_SCHED_GETCPU_PRESENT -DROCKSDB_AUXV_GETAUXVAL_PRESENT \
            -DROCKSDB_FALLOCATE_PRESENT -DROCKSDB_RANGESYNC_PRESENT \
            -DROCKSDB_PTHREAD_ADAPTIVE_MUTEX \
            -I"$1/include" -I"$1/src" -isystem "$2/include" -isystem "$2" \
            $3 -c "{}" -o "$4/$(basename "{}").o"' \
        "$cxx" "$plugin" "$source" "$flags" "$folder"
}

pure="$plugin/src/level_bits.cc $plugin/src/guard_table.cc $plugin/src/family_gate.cc"
pure_tests="$plugin/tests/level_bits_test.cc $plugin/tests/guard_table_test.cc \
    $plugin/tests/concurrency_test.cc $plugin/tests/pure_main.cc"
database_tests="$plugin/tests/database_main.cc $plugin/tests/interface_test.cc"

address="-fsanitize=address,undefined -fno-sanitize=vptr -fno-sanitize-recover=undefined"
# Words are split on purpose: lists of files and of flags.
# shellcheck disable=SC2086
{
    compile "$work/address" "$address" "$plugin"/src/*.cc
    compile "$work/address_pure" "$address" $pure_tests
    compile "$work/address_database" "$address" $database_tests
    compile "$work/thread" "-fsanitize=thread" $pure $pure_tests
    "$cxx" $address "$work"/address_pure/*.o "$work/address/level_bits.cc.o" \
        "$work/address/guard_table.cc.o" "$work/address/family_gate.cc.o" -lpthread -o "$work/pure_address"
    "$cxx" $address "$work"/address_database/*.o "$work"/address/*.o \
        "$rocksdb" "$lz4" "$zstd" -lpthread -ldl -o "$work/database_address"
    "$cxx" -fsanitize=thread "$work"/thread/*.o -lpthread -o "$work/pure_thread"
}

# RocksDB is not instrumented, so it cannot mark the unused ends of containers.
export ASAN_OPTIONS="detect_container_overflow=0:detect_leaks=1:abort_on_error=0"
export UBSAN_OPTIONS="print_stacktrace=1"
export TSAN_OPTIONS="halt_on_error=1"
"$work/pure_address"
"$work/database_address" "$work/db"
"$work/pure_thread"
echo "sanitize.sh: address, undefined and thread sanitizers found nothing" >&2
