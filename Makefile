# Everything is written inside the checkout: tools to .venv, Rust artefacts to target, results to out.
# `make help` lists the targets.

PYTHON ?= python3

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help
MAKEFLAGS += --no-builtin-rules

VENV := $(CURDIR)/.venv
PY := $(VENV)/bin/python

# PyO3 rebuilds when its interpreter changes, so cargo and maturin must use the same one.
export PYO3_PYTHON := $(PY)
export VIRTUAL_ENV := $(VENV)

# One profile for lint, tests and the extension module: the dependencies are compiled once.
CARGO_FLAGS := --release --workspace --all-features $(if $(CI),--locked)

# System packages, one a line: "package | command that succeeds if it is installed". Missing ones are
# installed through apt with the rights for it; otherwise they are named, and tests that need them skip.
define SYSTEM_PACKAGES
build-essential | command -v cc
python3-venv | $(PYTHON) -c "import ensurepip, venv"
endef
# Packages that only tests need.
define TEST_PACKAGES
btrfs-progs | command -v mkfs.btrfs
chromium | command -v chromium
e2fsprogs | command -v mkfs.ext4
fio | fio --enghelp | grep -w nbd
fish | command -v fish
fuse3 | command -v fusermount3
libiscsi-bin | command -v iscsi-test-cu
libnbd-bin | command -v nbdcopy
openssl | command -v openssl
postgresql | ls /usr/lib/postgresql/*/bin/postgres
postmark | command -v postmark
qemu-block-extra | ls /usr/lib/*/qemu/block-iscsi.so
qemu-utils | command -v qemu-io
valgrind | command -v valgrind
xfsprogs | command -v mkfs.xfs
zsh | command -v zsh
endef

# Fuzzing needs no nightly compiler: --sanitizer none. Crashes go to fuzz/artifacts.
CARGO_FUZZ := $(CURDIR)/target/tools/bin/cargo-fuzz
FUZZ_SECONDS ?= 60

# No test needs these, as compiling them takes minutes.
CARGO_DENY := $(CURDIR)/target/tools/bin/cargo-deny
CARGO_TARPAULIN := $(CURDIR)/target/tools/bin/cargo-tarpaulin

# Checks .github/workflows. It is written in Go: without Go, `make lint` says that it leaves them out.
GO := $(shell command -v go)
ACTIONLINT := $(CURDIR)/target/tools/bin/actionlint

# Stamps of the finished set-up steps.
SYSTEM := out/.system
TEST_SYSTEM := out/.system-test
BUILT := $(VENV)/.built
WHEEL := out/wheels/.built
# $(VENV)/.lint and the like stand for the packages of requirements/lint.lock.
SOURCES := $(shell find crates -type f) Cargo.toml $(wildcard Cargo.lock) pyproject.toml
# What a wheel holds beside what is compiled.
PACKAGED := $(shell find python/sledsim -type f ! -name '*.so' ! -name '*.pyc') README.md $(wildcard LICENSE-*)
# What codespell reads; its settings are in pyproject.toml.
SPELLED := crates python tests docs examples benches scripts README.md CHANGELOG.md CONTRIBUTING.md \
	CODE_OF_CONDUCT.md SECURITY.md SUPPORT.md Containerfile

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

.PHONY: run
run: build ## Set everything up and run examples/first_look.py: out/first_look.html
	@mkdir -p out
	$(PY) examples/first_look.py

.PHONY: test
test: build wheel $(VENV)/.test | $(TEST_SYSTEM) ## Set everything up and run all tests, Rust and Python
	$(PY) scripts/run_tests.py $(CARGO_FLAGS) --exclude sledsim-python # it has no Rust tests

.PHONY: build
build: $(BUILT) ## Build the extension module, optimised, into .venv

.PHONY: wheel
wheel: $(WHEEL) ## Build what is released, the wheel and the sdist: out/wheels

.PHONY: bench
bench: build ## Measure speed, beside the revision or folder BASE if given, of all or the CASES: out/bench.json
	@mkdir -p out
	set -f; $(PY) benches/bench.py $(if $(BASE),--base=$(BASE)) $(CASES)

.PHONY: counts
counts: $(PY) ## Compare instruction counts with benches/counts.json, by valgrind
	$(PY) benches/counts.py

.PHONY: counts-renew
counts-renew: $(PY) ## Write benches/counts.json for the compiler in use
	$(PY) benches/counts.py --renew

.PHONY: papers
papers: build ## Redraw all papers and compare with the published values: out/papers/report.html
	$(PY) -m sledsim papers report

.PHONY: fuzz
fuzz: $(CARGO_FUZZ) ## Feed any bytes to readers, keys, decompression, the NBD server and the iSCSI target, FUZZ_SECONDS (60) for each target
	@for target in $$(sed -n 's/^name = "\(.*\)"/\1/p' fuzz/Cargo.toml | tail -n +2); do \
	  echo "fuzz: $$target for $(FUZZ_SECONDS) s"; mkdir -p out/fuzz/$$target; \
	  PATH="$(dir $(CARGO_FUZZ)):$$PATH" cargo fuzz run --sanitizer none --target-dir target/fuzz \
	    $$(case $$target in iscsi_session|nbd_session) echo --features emulator;; keys|parquet) echo --features $$target;; esac) $$target \
	    out/fuzz/$$target fuzz/seeds/$$target -- -max_total_time=$(FUZZ_SECONDS) -rss_limit_mb=1024 -timeout=10 -verbosity=0; \
	done

.PHONY: coverage
coverage: build $(VENV)/.coverage $(CARGO_TARPAULIN) | $(TEST_SYSTEM) ## Measure which lines the tests reach: out/coverage/rust, out/coverage/python
	@rm -rf out/coverage && mkdir -p out/coverage/rust out/coverage/python
	$(CARGO_TARPAULIN) tarpaulin $(CARGO_FLAGS) --exclude sledsim-python --engine llvm --skip-clean --no-fail-fast --timeout 3600 \
	  --target-dir target/coverage --exclude-files 'fuzz/*' '*/tests/*' '*/generate/*' '*/v1.rs' \
	  --out Html --output-dir out/coverage/rust
	$(PY) -m coverage run -m pytest -n 2
	$(PY) -m coverage combine --quiet out/coverage/python
	$(PY) -m coverage html --quiet --directory out/coverage/python
	@echo "Python: $$($(PY) -m coverage report --format=total) % of the lines"

.PHONY: deny
deny: $(CARGO_DENY) ## Check licences, sources and versions of the crates, as tests/project/test_dependencies.py does, with cargo-deny
	$(CARGO_DENY) --locked check bans licenses sources

.PHONY: docs
docs: build $(VENV)/.docs ## Build the documentation: out/docs/index.html, out/docs/rust
	$(PY) -m sphinx --fail-on-warning --keep-going --quiet docs out/docs
	RUSTDOCFLAGS="-D warnings" cargo doc --no-deps $(CARGO_FLAGS)
	@rm -rf out/docs/rust && cp -R "$${CARGO_TARGET_DIR:-target}/doc" out/docs/rust
	@echo "Written: out/docs/index.html, out/docs/rust/sledsim_core/index.html"

.PHONY: lint
lint: $(VENV)/.lint $(if $(GO),$(ACTIONLINT)) ## Check format, lints, types, spelling and Rust documentation; change nothing
	@cargo fmt --version > /dev/null && cargo clippy --version > /dev/null || { \
	  echo "sledsim: lint needs rustfmt and clippy: rustup component add rustfmt clippy" >&2; exit 2; }
	cargo fmt --all --check
	cargo clippy $(CARGO_FLAGS) --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --no-deps $(CARGO_FLAGS)
	$(PY) -m ruff check
	$(PY) -m ruff format --check
	$(PY) -m mypy
	PYTHONPATH=python $(VENV)/bin/lint-imports --no-cache && echo "sledsim: each floor of the package imports only those below"
	$(PY) -m codespell_lib $(SPELLED)
	$(if $(GO),$(ACTIONLINT),@echo "sledsim: .github/workflows is not linted: actionlint needs go, and it is not on the PATH")
	$(PY) -m pytest -q tests/project/test_tidy.py

.PHONY: format
format: $(VENV)/.lint ## Format the code and mend what the linters can mend
	cargo fmt --all
	$(PY) -m ruff check --fix --exit-zero
	$(PY) -m ruff format

.PHONY: lock
lock: ## Take up newer development tools: requirements/*.lock
	@rm -rf out/lock && mkdir -p out && $(PYTHON) -m venv out/lock && out/lock/bin/python -m pip install --quiet uv
	@for group in run test lint docs coverage; do \
	  { echo "# Made from $$group.in by \`make lock\`; do not edit."; \
	    (cd requirements && ../out/lock/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	      --no-header --no-annotate --no-emit-index-url --no-emit-find-links $$group.in); } > out/lock/new; \
	  mv out/lock/new requirements/$$group.lock; \
	done

.PHONY: proto
proto: ## Write crates/sledsim-rpc/src/v1.rs anew from sledsim.proto
	cargo run --quiet --release --locked --manifest-path crates/sledsim-rpc/generate/Cargo.toml --target-dir target/generate

.PHONY: clean
clean: ## Remove everything made here, .venv included
	rm -rf .venv out target .hypothesis .mypy_cache .pytest_cache .ruff_cache python/sledsim/_core*.so
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Installs the missing PACKAGES, if the user has the rights.
define INSTALL_MISSING
@missing=; \
	while IFS='|' read -r package check; do \
	  bash -c "$$check" > /dev/null 2>&1 < /dev/null || missing+=" $${package% }"; \
	done <<< "$$PACKAGES"; \
	sudo=; [ "$$(id -u)" = 0 ] || sudo="sudo -n"; \
	if [ -z "$$missing" ]; then \
	  mkdir -p $(@D) && touch $@; \
	elif command -v apt-get > /dev/null && $$sudo true 2> /dev/null; then \
	  echo "sledsim: installing system packages:$$missing"; \
	  if $$sudo apt-get update -qq && $$sudo apt-get install -qq -y --no-install-recommends $$missing > /dev/null; then \
	    mkdir -p $(@D) && touch $@; \
	  else \
	    echo "sledsim: could not install them (what needs them fails or skips)"; \
	  fi; \
	else \
	  echo "sledsim: missing system packages, and no right to install them (what needs them fails or skips):$$missing"; \
	fi
endef
$(SYSTEM): export PACKAGES = $(SYSTEM_PACKAGES)
$(TEST_SYSTEM): export PACKAGES = $(TEST_PACKAGES)

$(SYSTEM): Makefile
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "sledsim: needs Python 3.11 or newer, and $(PYTHON) is not; name another: make PYTHON=python3.12" >&2; exit 2; }
	@command -v cargo > /dev/null || { \
	  echo "sledsim: needs Rust (cargo), and it is not on the PATH; rustup.rs tells how to install it" >&2; exit 2; }
	$(INSTALL_MISSING)

$(TEST_SYSTEM): Makefile | $(SYSTEM)
	$(INSTALL_MISSING)

$(CARGO_FUZZ):
	cargo install --quiet --locked --version 0.13.2 --root target/tools cargo-fuzz

$(CARGO_DENY):
	cargo install --quiet --locked --version 0.20.2 --root target/tools cargo-deny

$(CARGO_TARPAULIN):
	cargo install --quiet --locked --no-default-features --version 0.37.5 --root target/tools cargo-tarpaulin

$(ACTIONLINT):
	GOBIN=$(@D) go install github.com/rhysd/actionlint/cmd/actionlint@v1.7.12

$(PY): | $(SYSTEM)
	$(PYTHON) -m venv --clear $(VENV)

# The locks name all packages with their digests: pip resolves nothing.
$(VENV)/.%: requirements/%.lock | $(SYSTEM) $(PY)
	$(PY) -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps -r $<
	@touch $@

# Locks that a group needs beside its own.
$(VENV)/.test $(VENV)/.docs: | $(VENV)/.run
$(VENV)/.lint $(VENV)/.coverage: | $(VENV)/.test

# Flags and interpreter are those of the extension module: cargo compiles nothing again.
$(WHEEL): $(SOURCES) $(PACKAGED) $(VENV)/.run
	@rm -rf $(@D)
	$(PY) -m maturin build --release --locked --out $(@D)
	$(PY) -m maturin sdist --out $(@D)
	@ls -l $(@D)
	@touch $@

$(BUILT): $(SOURCES) $(VENV)/.run
	$(PY) -m maturin develop --release $(if $(CI),--locked)
	@touch $@
