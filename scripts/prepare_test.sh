#!/bin/sh
# What prepare.sh says and does where something is missing, on a PATH of stubs.
set -eu

scripts=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
real_grep=$(command -v grep)
needed=$(sed -n 's/^rust-version = "\([0-9]*\.[0-9]*\).*/\1/p' "$scripts/../Cargo.toml")

fail() {
    echo "prepare_test.sh: $1: $(cat "$work/said")" >&2
    exit 1
}

stub() {
    printf '#!/bin/sh\n%s\n' "$2" >"$work/bin/$1"
    chmod +x "$work/bin/$1"
}

# A machine on which nothing is missing; $1 is its user's number.
machine() {
    rm -rf "$work/bin" "$work/asked"
    mkdir "$work/bin"
    : >"$work/asked"
    for tool in sh sed dirname; do ln -s "$(command -v "$tool")" "$work/bin/$tool"; done
    for tool in c++ make; do stub "$tool" "exit 0"; done
    cargo_says "cargo $needed.0 (0123abcde 2026-01-01)"
    stub nproc "echo 2"
    stub id "echo $1"
    stub find 'case "$*" in *libclang*) echo /usr/lib/libclang.so ;; esac'
    stub grep "exec $real_grep \"\$@\""
    stub apt-get "echo \"\$*\" >>'$work/asked'"
}

cargo_says() { stub cargo "echo '$1'"; }
without() { for tool in "$@"; do rm "$work/bin/$tool"; done; }
without_libclang() { stub find "exit 0"; }
is_debian() { stub grep "case \"\$*\" in */etc/os-release) exit $1 ;; esac; exec $real_grep \"\$@\""; }

# expect CODE WORDS: prepare.sh exits with CODE and says WORDS.
expect() {
    code=0
    PATH="$work/bin" CARGO_TARGET_DIR="$work/target" sh "$scripts/prepare.sh" \
        2>"$work/said" || code=$?
    [ "$code" = "$1" ] || fail "exit code $code instead of $1"
    "$real_grep" -qF -- "$2" "$work/said" || fail "it does not say \"$2\""
}
installs() { [ "$(cat "$work/asked")" = "$1" ] || fail "it asked for $(cat "$work/asked")"; }

machine 1000
expect 0 "RocksDB is compiled once"
installs ""

machine 1000
without c++ make
without_libclang
expect 1 "sudo sh -c 'apt-get update && apt-get install -y g++ make libclang-dev'"
installs ""

machine 0
without_libclang
is_debian 0
expect 0 "Installing libclang-dev"
installs "update
install -y libclang-dev"

machine 0
without_libclang
is_debian 1
expect 1 "apt-get install -y libclang-dev"
installs ""

machine 0
without_libclang
is_debian 0
stub apt-get "exit 100"
code=0
PATH="$work/bin" CARGO_TARGET_DIR="$work/target" sh "$scripts/prepare.sh" 2>"$work/said" || code=$?
[ "$code" != 0 ] || fail "an installation that failed was passed over"

machine 0
without cargo
expect 1 "Rust is missing: install Rust $needed or newer"

machine 0
cargo_says "cargo 2.0.0-nightly (0123abcde 2026-01-01)"
expect 0 "RocksDB is compiled once"

# Debian 12's, one minor number too few, and one that is smaller as a number alone.
for old in 1.65 "${needed%.*}.$((${needed#*.} - 1))" 1.9; do
    machine 0
    without make
    cargo_says "cargo $old.0"
    expect 1 "is of Rust $old, and $needed or newer is needed"
    installs ""
done

# As rustup's where no toolchain is chosen.
machine 0
stub cargo "echo 'error: no default is configured' >&2; exit 1"
expect 1 "does not tell its version: run 'rustup default stable'"

echo "prepare_test.sh: passed" >&2
