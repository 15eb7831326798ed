# Two commands do everything: `make demo` and `make test`.
# RocksDB is compiled once, for both, into a directory outside the checkout.

export CARGO_TARGET_DIR ?= $(HOME)/.cache/lissom/target
CARGO := cargo
LISSOM := $(CARGO_TARGET_DIR)/release/lissom
# Fails where no test may be skipped (README.md).
MAY_SKIP := test -z "$${LISSOM_NO_SKIP+set}"

.PHONY: demo test test-fast test-slow check sanitize build prepare

demo: build
	@"$(LISSOM)" demo --out bench/out/demo

test: check test-fast test-slow sanitize

## Formatting, lints and documentation, warnings as errors.
check: prepare
	$(CARGO) fmt --all -- --check
	$(CARGO) clippy --release --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --release --workspace --no-deps

## Everything that takes seconds.
test-fast: prepare
	$(CARGO) test --release --workspace --no-fail-fast
	scripts/prepare_test.sh
	@if command -v python3 >/dev/null; then python3 -B -m unittest discover -q -s bench/common.d && \
	python3 -B -m unittest discover -q -s bench/measure.d && \
	python3 -B -m unittest discover -q -s bench/myrocks.d; \
	else echo "skipped: the tests of bench/measure and bench/myrocks need python3"; $(MAY_SKIP); fi
	@if python3 -c 'import tomllib' 2>/dev/null; then python3 -B -m unittest discover -q -s bench/dremel.d; \
	else echo "skipped: the tests of bench/dremel need Python 3.11"; $(MAY_SKIP); fi
	@if command -v python3 >/dev/null; then python3 -B -m unittest discover -q -s examples/runners; \
	else echo "skipped: the tests of examples/runners need python3"; $(MAY_SKIP); fi

## Kills, faults, long random histories; a Ray cluster, where Ray can be installed.
test-slow: prepare
	PROPTEST_CASES=750 $(CARGO) test --release -p lissom-core properties
	$(CARGO) test --release --workspace --no-fail-fast -- --ignored

## The C++ plug-in under the address, undefined-behaviour and thread sanitizers.
sanitize: build
	crates/engine/plugin/sanitize.sh

build: prepare
	$(CARGO) build --release --workspace

prepare:
	@scripts/prepare.sh
