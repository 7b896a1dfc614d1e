# `make` alone lists the targets. Everything is installed into .venv; nothing outside the project is touched.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet
PYTEST := $(BIN)/python -m pytest
WHEEL := build/wheel

# Runs the tests against the built wheel; with the shared material beside the checkout, coverage must be complete;
# a tenth of a percent is left to what only some of the drawn examples reach.
ON_WHEEL := PYTHONPATH=$(WHEEL)
COVERAGE := --cov --cov-report=term
ifneq ($(wildcard ../shared/.),)
COVERAGE += --cov-fail-under=99.9
endif

.DEFAULT_GOAL := help
.PHONY: help setup demo test check lint imports types verifytypes docs format cases recordings conformance wheel \
	test-all weights changelog bench bench-docs bench-peers bench-counts clean

help: ## List the targets.
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

# --- environment ---------------------------------------------------------------------------------------------------

# A stamp per set of extras: installing is repeated only when what is asked for has changed.
$(VENV)/stamp-venv:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
		echo "Onion needs Python 3.11 or later; '$(PYTHON)' is not. Name another one: make PYTHON=python3.12 ..." >&2; \
		exit 1; }
	@$(PYTHON) -m venv $(VENV) || { \
		echo "$(PYTHON) cannot make a virtual environment; on Debian and Ubuntu install python3-venv." >&2; \
		rm -rf $(VENV); exit 1; }
	@touch $@

$(VENV)/stamp-demo: $(VENV)/stamp-venv pyproject.toml
	@echo "Installing Onion with what the demo needs ..."
	@$(PIP) -e '.[local,cli]'
	@touch $@

$(VENV)/stamp-dev: $(VENV)/stamp-venv pyproject.toml constraints.txt
	@echo "Installing Onion with the development tools ..."
	@$(PIP) -c constraints.txt -e '.[dev,local,otel,redis,cli,fast]'
	@touch $(VENV)/stamp-demo $@

setup: $(VENV)/stamp-dev ## Make .venv with Onion and all development tools.

# --- for users -----------------------------------------------------------------------------------------------------

demo: $(VENV)/stamp-demo ## A real model through an onion of layers: streams, calls a tool, answers again from the cache.
	@$(BIN)/python examples/demo.py

test: setup ## All tests but those that need the local model.
	$(PYTEST) -m 'not local'

# --- checks --------------------------------------------------------------------------------------------------------

check: lint types test-all docs bench-counts ## Everything CI runs: lint, types, all tests with coverage, docs, instruction counts.

format: setup ## Format the code and fix what can be fixed.
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

lint: setup ## Formatting, lint rules, who may import whom.
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/lint-imports

types: setup verifytypes ## mypy and pyright, both strict, and the completeness of the published types.
	$(BIN)/mypy
	$(BIN)/pyright

wheel: setup
	@rm -rf dist $(WHEEL)
	@$(BIN)/python -m build --wheel --no-isolation --outdir dist >/dev/null
	@$(PIP) --no-deps --target $(WHEEL) dist/*.whl

verifytypes: wheel
	$(ON_WHEEL) $(BIN)/pyright --ignoreexternal --verifytypes onion

weights: setup
	@$(BIN)/onion local fetch

test-all: wheel weights
	$(ON_WHEEL) $(PYTEST) $(COVERAGE)

docs: setup ## Build the documentation; warnings are errors.
	$(BIN)/sphinx-build --fail-on-warning --keep-going --quiet --jobs auto docs build/docs

changelog: setup ## Show what the changelog fragments add up to.
	$(BIN)/towncrier build --draft --version next

# --- corpora: `make cases DIR=some/folder` ---------------------------------------------------------------------------

cases: setup ## Run the cases of a folder: make cases DIR=...
	@$(BIN)/python -m tests.cases.run $(DIR)

recordings: setup ## Parse the recorded exchanges of a folder: make recordings DIR=...
	@$(BIN)/python -m tests.recorded.run $(DIR)

conformance: setup ## Run the scenarios of a folder: make conformance DIR=...
	@$(BIN)/python -m tests.conformance.run $(DIR)

# --- speed: `make bench ROWS="calls loop.step-10"` -------------------------------------------------------------------

bench: setup ## Measure Onion against its targets; fails when one is missed. ROWS=... for some rows only.
	@$(BIN)/python -m bench $(ROWS)

bench-docs: setup ## The same; writes bench/results.json and the table in docs/performance.md.
	@$(BIN)/python -m bench --record

bench-peers: setup ## Make the environments of the peers below build/peers, for `make bench` to measure them, too.
	@$(BIN)/python -m bench.peers.environments $(PEERS)

bench-counts: setup ## Count instructions of the hot paths, if valgrind is there; UPDATE=1 records them.
	@$(BIN)/python -m bench.counts $(if $(UPDATE),--update)

clean: ## Remove everything that was made.
	rm -rf $(VENV) build dist .coverage .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
