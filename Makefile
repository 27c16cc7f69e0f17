# `make run` serves the bench, `make test` runs the suite; both install what they need into .venv first.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet install --require-hashes
BASE := $(VENV)/installed-base
DEV := $(VENV)/installed-dev
BROWSER := $(VENV)/installed-browser
TESTERS := 4
SDKS := $(VENV)/sdks
DEPLOY := $(VENV)/deploy
PEERS_IN := $(VENV)/peers
JS := .ci/sdks/js
AXE := .ci/browser/axe
PACKAGES := benchsite gateway evidence keys collections_app
# Settings of a server that others reach, as Django's own checks of a deployment want to see them.
DEPLOYED := BENCHWARMERS_ADMIN_TOKEN=only-for-this-check BENCHWARMERS_PUBLIC_URL=https://bench.example BENCH_TRUSTED_PROXIES=127.0.0.1
LOCK := $(BIN)/uv pip compile --quiet --generate-hashes --no-header --python-version 3.11 --universal

# Tests start hundreds of processes: each would compile the whole of the bench again.
unexport PYTHONDONTWRITEBYTECODE

.DELETE_ON_ERROR:
.PHONY: install run test test-postgres lint audit bench schema sdks browser screenshots deploy lock

install: $(BASE)

run: install
	@$(BIN)/python manage.py serve

# Data of its own, so that a test never touches var/. Files are shared out among more processes than there are cores: most
# tests wait for a server.
test: $(DEV)
	@data=$$(mktemp -d) && trap 'rm -rf "$$data"' EXIT && \
		BENCH_DATA_DIR="$$data" $(BIN)/python -m pytest --numprocesses $(TESTERS) --dist loadfile $(ARGS)

# The same on PostgreSQL: a server of its own, from Debian's package, and a database for each server under test.
test-postgres: $(DEV)
	@data=$$(mktemp -d) && trap 'rm -rf "$$data"' EXIT && BENCH_DATA_DIR="$$data" $(BIN)/python -m gateway.tests.postgres_cluster \
		$(BIN)/python -m pytest --numprocesses $(TESTERS) --dist loadfile $(ARGS)

lint: $(DEV)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python .ci/check_sizes.py
	$(BIN)/python .ci/check_environment.py
	$(BIN)/bandit --quiet --configfile pyproject.toml --recursive $(PACKAGES) manage.py
	@data=$$(mktemp -d) && trap 'rm -rf "$$data"' EXIT && \
		BENCH_DATA_DIR="$$data" $(BIN)/python manage.py makemigrations --check --dry-run && \
		BENCH_DATA_DIR="$$data" $(DEPLOYED) $(BIN)/python manage.py check --deploy --fail-level WARNING
	$(BIN)/python .ci/check_advisories.py

# Before a release, with an index that serves advisories: nothing may be left that could not be looked up.
audit: $(DEV)
	$(BIN)/python .ci/check_advisories.py --strict

# PEERS=1 installs the servers that are measured beside it, if they are not there: 800 MB.
bench: $(DEV) $(if $(PEERS),$(PEERS_IN)/litellm/installed)
	@$(BIN)/python -m benchmarks $(ARGS)

# Whatever /api-schema allows and forbids, asked of running servers by Schemathesis; EXAMPLES=20 is a quick look, SEED=7 asks others.
schema: $(DEV)
	@data=$$(mktemp -d) && trap 'rm -rf "$$data"' EXIT && \
		BENCH_DATA_DIR="$$data" $(BIN)/python -m pytest -c .ci/schema/pytest.ini --numprocesses 2 .ci/schema $(ARGS)

# Clients that people already have, against a running server; needs Node 20 and npm.
sdks: $(DEV) $(SDKS)/previous/installed $(SDKS)/llm/installed $(JS)/node_modules/installed
	@data=$$(mktemp -d) && trap 'rm -rf "$$data"' EXIT && \
		BENCH_DATA_DIR="$$data" $(BIN)/python -m pytest -c .ci/sdks/pytest.ini .ci/sdks $(ARGS)

# Pages of others' and the dashboard in a real browser, and axe-core on each; needs Chromium (Debian's, or CHROMIUM=path), Node and npm.
browser: $(BROWSER) $(JS)/node_modules/installed $(AXE)/node_modules/installed
	@data=$$(mktemp -d) && trap 'rm -rf "$$data"' EXIT && \
		BENCH_DATA_DIR="$$data" $(BIN)/python -m pytest -c .ci/browser/pytest.ini .ci/browser $(ARGS)

# Every page of the dashboard in both themes, into docs/screenshots; needs Chromium, and asks nobody.
screenshots: $(BROWSER)
	@DJANGO_SETTINGS_MODULE=benchsite.settings PYTHONPATH=. $(BIN)/python .ci/screenshots/take.py $(ARGS)

# Whether what deploy/ has is right and works, without Docker: read by linters, made as the image is, and run from Debian's packages.
deploy: $(DEPLOY)/installed
	@data=$$(mktemp -d) && trap 'rm -rf "$$data"' EXIT && \
		BENCH_DATA_DIR="$$data" $(BIN)/python -m pytest -c .ci/deploy/pytest.ini --numprocesses 2 --dist loadfile .ci/deploy $(ARGS)

# The pins of pyproject.toml with everything that they need, and the hash of every file.
lock: $(DEV)
	$(LOCK) pyproject.toml -o requirements.txt
	$(LOCK) pyproject.toml --extra distributed -c requirements.txt -o requirements-distributed.txt
	$(LOCK) pyproject.toml --extra telemetry -c requirements-distributed.txt -o requirements-telemetry.txt
	$(LOCK) pyproject.toml --extra dev --extra distributed --extra telemetry -c requirements-distributed.txt -c requirements-telemetry.txt -o requirements-dev.txt
	$(LOCK) --group local --no-deps -o requirements-local.txt
	$(LOCK) --group sdks -o .ci/sdks/requirements-previous.txt
	$(LOCK) --group llm -o .ci/sdks/requirements-llm.txt
	$(LOCK) --group litellm -o benchmarks/peers/requirements-litellm.txt
	$(LOCK) --group deploy -o .ci/deploy/requirements.txt
	$(LOCK) --group browser -c requirements-dev.txt -o .ci/browser/requirements.txt

$(VENV)/pyvenv.cfg:
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("Benchsite needs Python 3.11 or newer, and $(PYTHON) is " \
		+ sys.version.split()[0] + ". Name another: make PYTHON=python3.12")'
	@$(PYTHON) -m venv $(VENV)

$(BASE): requirements.txt | $(VENV)/pyvenv.cfg
	@echo "Installing Benchsite into $(VENV)"
	@$(PIP) -r requirements.txt
	@touch $@

$(DEV): requirements-dev.txt $(BASE)
	@echo "Installing the development tools into $(VENV)"
	@$(PIP) -r requirements-dev.txt
	@touch $@

$(BROWSER): .ci/browser/requirements.txt $(DEV)
	@echo "Installing what drives a browser into $(VENV)"
	@$(PIP) -r $<
	@touch $@

$(SDKS)/%/installed: .ci/sdks/requirements-%.txt $(DEV)
	@echo "Installing $(notdir $<) into $(@D)"
	@$(PYTHON) -m venv $(@D)
	@$(@D)/bin/python -m pip --disable-pip-version-check --quiet install --require-hashes -r $<
	@touch $@

$(PEERS_IN)/%/installed: benchmarks/peers/requirements-%.txt $(DEV)
	@echo "Installing $(notdir $<) into $(@D)"
	@$(PYTHON) -m venv $(@D)
	@$(@D)/bin/python -m pip --disable-pip-version-check --quiet install --require-hashes -r $<
	@touch $@

$(DEPLOY)/installed: .ci/deploy/requirements.txt $(DEV)
	@echo "Installing what reads the files of deploy/ into $(@D)"
	@$(PYTHON) -m venv $(@D)
	@$(@D)/bin/python -m pip --disable-pip-version-check --quiet install --require-hashes -r $<
	@touch $@

.ci/%/node_modules/installed: .ci/%/package-lock.json
	@echo "Installing $* into $(@D)"
	@cd .ci/$* && npm ci --loglevel=error
	@touch $@
