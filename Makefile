# Commands run from .venv; BIN=folder/ runs them from another environment, an empty BIN from the PATH.
BIN ?= .venv/bin/

.DEFAULT_GOAL := help
.PHONY: help setup test lint docs ci bench

help:  ## print this list
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /make \1\t/'

setup:  ## make .venv with everything a contributor needs
	python3 -m venv .venv && .venv/bin/pip install --upgrade 'pip>=25.1' && .venv/bin/pip install --editable '.[postgres]' --group dev

test:  ## run the tests
	$(BIN)python -m pytest -n 2 --dist loadfile

lint:  ## check style, types, imports and dependencies
	$(BIN)ruff check . && $(BIN)ruff format --check . && $(BIN)mypy && $(BIN)mypy docs/generate.py && $(BIN)lint-imports --no-cache --no-logo && $(BIN)deptry src

docs:  ## write the generated pages and build the site into site/
	$(BIN)python docs/generate.py && NO_MKDOCS_2_WARNING=1 $(BIN)mkdocs build --quiet --strict

ci:  ## run everything that CI runs, in a fresh environment
	.ci/run

bench:  ## run the benchmarks
	@for file in $(filter-out benchmarks/whole_graph.py, $(wildcard benchmarks/*.py)); do echo "== $$file" && $(BIN)python "$$file" || exit 1; done
