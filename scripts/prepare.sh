#!/bin/sh
# Makes sure that what the build needs is there. Installs it as root on Debian
# or Ubuntu; otherwise prints the command that does, and exits 1.
set -eu

say() { printf '%s\n' "$*" >&2; }

missing=""
command -v c++ >/dev/null 2>&1 || missing="$missing g++"
command -v make >/dev/null 2>&1 || missing="$missing make"
# bindgen reads RocksDB's C header with libclang, by one of the names under which it looks
# for it: libclang-cpp.so and libclang_rt.*.so, which come without it, are other libraries.
find ${LIBCLANG_PATH:-} /usr/lib* /usr/local/lib* \
    \( -name 'libclang.so*' -o -name 'libclang-[0-9]*.so*' \) 2>/dev/null | grep -q . ||
    missing="$missing libclang-dev"

# Without what follows the minor number: Cargo's version is that of its Rust.
needed=$(sed -n 's/^rust-version = "\([0-9]*\.[0-9]*\).*/\1/p' "$(dirname "$0")/../Cargo.toml")
number() { echo $((${1%%.*} * 1000 + ${1#*.})); }

if ! command -v cargo >/dev/null 2>&1; then
    say "Rust is missing: install Rust $needed or newer (https://rustup.rs), then run this again."
    exit 1
fi
found=$(cargo --version 2>/dev/null | sed -n 's/^cargo \([0-9]*\.[0-9]*\).*/\1/p')
if [ -z "$found" ]; then
    say "$(command -v cargo) does not tell its version: run 'rustup default stable', or install Rust $needed or newer (https://rustup.rs), then run this again."
    exit 1
fi
# An older one stops at the manifest, over words that it does not know.
if [ "$(number "$found")" -lt "$(number "$needed")" ]; then
    say "$(command -v cargo) is of Rust $found, and $needed or newer is needed: run 'rustup update stable', or install it (https://rustup.rs) and put it first on the PATH, then run this again."
    exit 1
fi

if [ -n "$missing" ]; then
    install="apt-get update && apt-get install -y$missing"
    if [ "$(id -u)" = 0 ] && grep -Eqs '^ID(_LIKE)?=.*(debian|ubuntu)' /etc/os-release; then
        say "Installing$missing ..."
        DEBIAN_FRONTEND=noninteractive sh -c "$install" >&2
    else
        say "Missing:$missing. On Debian or Ubuntu run: sudo sh -c '$install'"
        exit 1
    fi
fi

if ! find "$CARGO_TARGET_DIR/release/build" -name 'librocksdb.a' 2>/dev/null | grep -q .; then
    cores=$(nproc 2>/dev/null || echo 2)
    say "RocksDB is compiled once, into $CARGO_TARGET_DIR: about 25 minutes of CPU time, $((25 / cores + 1)) minutes on $cores cores."
fi
