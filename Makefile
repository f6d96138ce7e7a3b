# One command each; `make help` lists them.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
BUILD := build/package
# gcc's Objective-C everywhere: clang on Linux looks for another runtime
export CC ?= gcc
ifeq ($(origin CC),default)
export CC := gcc
endif
ifeq ($(shell uname -s),Linux)
export OBJC ?= gcc
endif

SOURCES := $(shell find native shaders pagedrt meson.build meson.options pyproject.toml tests/softmetal tests/simulator \
	tests/runtime -type f -not -name '*.pyc' 2>/dev/null)
PIP := $(BIN)/python -m pip --disable-pip-version-check -q

.PHONY: help setup test lint clean

help:
	@echo "make setup   toolchain, .venv, pagedrt built and installed into it"
	@echo "make test    all tests (what CI runs)"
	@echo "make lint    style of Python, Cython and text"
	@echo "make clean   removes .venv and build"

setup: $(VENV)/pagedrt.stamp

$(VENV)/venv.stamp:
	@tools/toolchain.sh "$(PYTHON)"
	@"$(PYTHON)" -m venv $(VENV)
	@$(PIP) install "pip>=25.1"
	@$(PIP) install --group build --group test --group lint
	@touch $@

$(VENV)/pagedrt.stamp: $(VENV)/venv.stamp $(SOURCES)
	@echo "building pagedrt (a minute or two the first time)"
	@PATH="$(CURDIR)/$(BIN):$$PATH" $(PIP) install --no-build-isolation --no-deps --force-reinstall \
		-C build-dir=$(BUILD) -C setup-args=-Dtests=true .
	@touch $@

test: setup
	@PAGEDRT_TEST_PROGRAMS="$(CURDIR)/$(BUILD)/tests/softmetal" PAGEDRT_BUILD="$(CURDIR)/$(BUILD)" \
		$(BIN)/pytest -q -n 2 --dist worksteal

lint: $(VENV)/venv.stamp
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/cython-lint pagedrt

clean:
	rm -rf $(VENV) build
