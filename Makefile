# Commands run from .venv; BIN=folder/ runs them from another environment, an empty BIN from the PATH.
BIN ?= .venv/bin/

.DEFAULT_GOAL := help
.PHONY: help setup test slow fuzz lint docs ci bench tools lock audit licences sbom release

EXTRAS = --extra postgres --extra llm --extra knowledge --extra trackers --extra tableau --extra mcp --extra service
# Hashes for every platform and Python; no package host is named. torch is left out: which build fits depends on the machine.
COMPILE = echo torch | $(BIN)uv pip compile pyproject.toml --quiet --universal --generate-hashes --no-annotate --excludes - \
	--custom-compile-command 'make lock'

help:  ## print this list
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /make \1\t/'

setup:  ## make .venv with everything a contributor needs
	python3 -m venv .venv && .venv/bin/pip install --upgrade 'pip>=25.1'
	.venv/bin/pip install --no-deps --require-hashes -r requirements/dev.lock
	.venv/bin/pip install --no-deps --no-build-isolation --editable .

test:  ## run the tests
	$(BIN)python -m pytest -n 2 --dist loadfile --no-loadscope-reorder -m 'not slow and not model and not timed'
	$(BIN)python -m pytest -n 0 -m 'timed and not slow and not model'

slow:  ## run the tests that take minutes
	$(BIN)python -m pytest -n 2 --dist loadfile -m 'slow and not model' --hypothesis-profile=default
	$(BIN)python -m pytest -n 0 -m 'slow and model'

SECONDS ?= 600
fuzz:  ## fuzz every parser for SECONDS; prints executions, crashes and peak memory
	$(BIN)python -m tests.fuzz $(SECONDS)

lint:  ## check style, types, imports and dependencies
	$(BIN)ruff check . && $(BIN)ruff format --check . && $(BIN)mypy && $(BIN)mypy docs/generate.py && $(BIN)lint-imports --no-cache --no-logo && $(BIN)deptry src

docs:  ## write the generated pages and build the site into site/
	$(BIN)python docs/generate.py && NO_MKDOCS_2_WARNING=1 $(BIN)mkdocs build --quiet --strict

ci:  ## run everything that CI runs, in a fresh environment
	.ci/run

bench:  ## run the benchmarks
	@for file in $(filter-out benchmarks/whole_graph.py, $(wildcard benchmarks/*.py)); do echo "== $$file" && $(BIN)python -m "benchmarks.$$(basename "$$file" .py)" || exit 1; done

tools:  ## install what make lock, audit, licences and sbom need
	$(BIN)pip install --no-deps --require-hashes -r requirements/release.lock

lock:  ## renew the locked versions and hashes in requirements/
	$(COMPILE) $(EXTRAS) -o requirements/run.lock
	$(COMPILE) $(EXTRAS) --group dev -c requirements/run.lock -o requirements/dev.lock
	$(COMPILE) --group release -c requirements/dev.lock -o requirements/release.lock
	$(COMPILE) --extra mysql --extra spark --extra delta --extra iceberg --group engines -c requirements/dev.lock -o requirements/engines.lock
	$(COMPILE) --extra semantic --group semantic --group models -c requirements/dev.lock -o requirements/models.lock

audit:  ## look for known vulnerabilities of what is shipped; needs the network
	@$(BIN)pip-audit --strict --disable-pip --require-hashes -r requirements/run.lock || \
		{ echo "audit: there are vulnerabilities above, or the service that lists them was not reached: no network?"; exit 1; }

licences:  ## list the licences of what is shipped
	@$(BIN)pip-licenses --format plain-vertical --order license --packages $$(sed -nE 's/^([A-Za-z0-9._-]+)==.*/\1/p' requirements/run.lock)

sbom:  ## write a CycloneDX list of what is shipped to build/sbom.json
	@mkdir -p build && $(BIN)cyclonedx-py requirements requirements/run.lock --pyproject pyproject.toml --output-reproducible -o build/sbom.json
	@echo "build/sbom.json"

release:  ## show what VERSION would be released; DO=yes builds dist/, commits and tags it
	$(BIN)python .ci/release.py $(VERSION) $(if $(filter yes,$(DO)),--do)
