# From a machine with Python 3.11 or newer and make: `make demo` shows everything, `make test` proves it.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
DEV := $(VENV)/.installed-dev
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
APT_INSTALL := DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends
ANY_CHROMIUM := { command -v chromium || command -v chromium-browser || command -v google-chrome; } >/dev/null
PYTEST ?= $(BIN)/pytest -q -n auto --dist loadfile --no-loadscope-reorder

.PHONY: install demo test lint lint-types lint-others bench vendor words migration sbom lock browser clean help
.DEFAULT_GOAL := help

help:
	@echo "make demo       the portal with demo data, a simulated time clock and a worker"
	@echo "make install    the muster command in .venv, with its locked dependencies"
	@echo "make test       the whole test suite, browser tests included"
	@echo "make lint       linters and type checker"
	@echo "make bench      what it costs: figures with a floor measured in the same run"
	@echo "make vendor     fetch the browser files again, at their pinned versions"
	@echo "make words      bring the translations up to the texts that are marked"
	@echo "make migration module=clock title=\"what changes\"   draft a migration from the models"
	@echo "make sbom       all parts and their licences, as a CycloneDX document"
	@echo "make lock       pin the dependencies again"

install: $(STAMP)

demo: $(STAMP)
	@exec $(BIN)/muster demo $(ARGS)

# Without compiled tests every process of the run rewrites all their assertions, which takes seconds.
test: export PYTHONDONTWRITEBYTECODE :=
test: $(DEV) browser
	$(PYTEST) $(ARGS)

# The type checker takes as long as all the others together, so they go beside it.
lint: $(DEV)
	@$(MAKE) --no-print-directory -j2 lint-types lint-others

lint-types:
	$(BIN)/mypy

lint-others:
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/djlint --quiet --lint templates
	$(BIN)/python -m app.vendor --check

bench: $(DEV)
	@for file in tests/benchmarks/bench_*.py; do \
	  echo "== $$file"; $(BIN)/python -m tests.benchmarks.$$(basename $$file .py) || exit 1; done

vendor: $(STAMP)
	$(BIN)/python -m app.vendor

# Names what has no translation yet, and fails then.
words: $(STAMP)
	$(BIN)/python -m app.wording.updating

# In a scratch cluster: migrates what there is, then compares it with the models.
migration: $(DEV)
	@test -n "$(module)" -a -n "$(title)" || { echo 'make migration module=clock title="what changes"' >&2; exit 2; }
	$(BIN)/python -m tests.scratch $(BIN)/python -m app.db.draft OWNER_URL "$(module)" "$(title)"

sbom: $(DEV)
	@$(BIN)/python -m deploy.sbom

lock:
	uv pip compile pyproject.toml --universal --generate-hashes --no-header --no-annotate -o requirements.lock
	uv pip compile pyproject.toml --group dev --constraint requirements.lock --universal --generate-hashes --no-header \
	  --no-annotate -o requirements-dev.lock

# Browser tests use the machine's Chromium: its headless shell where there is one, since that takes half the time. Only root on
# Debian or Ubuntu can have it installed here.
browser:
	@if command -v chromium-headless-shell >/dev/null; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  echo "Installing Chromium for the browser tests"; \
	  apt-get update -qq >/dev/null 2>&1 || :; \
	  $(APT_INSTALL) chromium-headless-shell >/dev/null 2>&1 || $(ANY_CHROMIUM) || $(APT_INSTALL) chromium >/dev/null \
	    || echo "Chromium could not be installed: BROWSER TESTS WILL BE SKIPPED" >&2; \
	elif $(ANY_CHROMIUM); then :; \
	else \
	  echo "There is no Chromium here and no right to install one: BROWSER TESTS WILL BE SKIPPED" >&2; \
	fi

$(STAMP): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("Muster needs Python 3.11 or newer; this is " + sys.version.split()[0] if sys.version_info < (3, 11) else 0)'
	@echo "Installing the locked dependencies into $(VENV)" >&2
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(PIP) install --require-hashes -r requirements.lock
	@$(PIP) install --no-deps --no-build-isolation -e .
	@touch $@

$(DEV): $(STAMP) requirements-dev.lock
	@echo "Installing what tests and linters need" >&2
	@$(PIP) install --no-compile --require-hashes -r requirements-dev.lock
	@touch $@

clean:
	rm -rf $(VENV) build *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
