# The same few commands for people and for CI. Each makes .venv if it is not there.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed

.PHONY: demo test check clean
.DEFAULT_GOAL := help

help:
	@echo "make demo    install, co-cluster the data that ships with pyrocco, leave results in demo-output/"
	@echo "make test    install, run the tests"
	@echo "make check   install, run ruff, mypy and import-linter"

$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "pyrocco needs Python 3.11 or newer; point make at one: make PYTHON=/path/to/python3.11"; exit 2; }
	@test -x $(BIN)/pip || $(PYTHON) -m venv .venv || \
	  { rm -rf .venv; echo "Python's venv module is missing; on Debian: apt-get install python3-venv"; exit 2; }
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --editable . --group dev
	@touch $@

demo: $(STAMP)
	$(BIN)/pyrocco demo -o demo-output

test: $(STAMP)
	$(BIN)/python -m pytest -n 2 --cov --cov-report=term

check: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

clean:
	rm -rf .venv demo-output .pytest_cache .mypy_cache .ruff_cache .coverage
