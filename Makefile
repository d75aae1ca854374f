# make demo    install, run the hybridize tutorial, check a public Gluon package
# make test    install with the development tools, run the tests
# make lint    formatting, lint and types
# make oracle  install MXNet 1.9.1 into .oracle (Python 3.11), compare every operator on random calls
# make clean   remove what the targets above made
#
# Everything is installed into .venv, made with the first Python >= 3.11 found (or PYTHON=...).

VENV := .venv
BIN := $(VENV)/bin
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	if $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then command -v $$p; break; fi; done)
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
DEMO := demo-output
DEMO_PACKAGE := gluoncv2==0.0.64
JOBS ?= 2
# MXNet 1.9.1 has wheels up to Python 3.11 on Linux.
MXNET_PYTHON ?= python3.11
CASES ?= 5

.PHONY: demo test lint oracle clean
.DELETE_ON_ERROR:

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "autohybrid needs Python 3.11 or newer; name one: make PYTHON=/path/to/python" >&2; exit 2; }
	@"$(PYTHON)" -m venv $(VENV) || { rm -rf $(VENV); \
		echo "cannot make a virtual environment; on Debian and Ubuntu: apt install python3-venv" >&2; exit 2; }

$(VENV)/installed: pyproject.toml | $(BIN)/python
	$(PIP) install --editable .
	@touch $@

$(VENV)/installed-dev: pyproject.toml | $(BIN)/python
	$(PIP) install --editable '.[dev]'
	@touch $@ $(VENV)/installed

$(DEMO)/site: | $(VENV)/installed
	@rm -rf $(DEMO)/download
	$(PIP) install --no-deps --no-compile --target $(DEMO)/download $(DEMO_PACKAGE)
	@mv $(DEMO)/download $@

demo: $(VENV)/installed $(DEMO)/site
	@echo
	@echo "== The Gluon hybridize tutorial: examples/hybridize_tutorial.py"
	@cd $(DEMO) && ../$(BIN)/python ../examples/hybridize_tutorial.py
	@echo
	@echo "== autohybrid check on $(DEMO_PACKAGE), as installed from PyPI"
	@cd $(DEMO) && ../$(BIN)/autohybrid check site/gluoncv2 --output-format full --exit-zero
	@echo
	@cd $(DEMO) && ../$(BIN)/autohybrid check site/gluoncv2 --statistics --exit-zero

test: $(VENV)/installed-dev
	$(BIN)/python -m pytest -n $(JOBS)

lint: $(VENV)/installed-dev
	$(BIN)/python -m ruff format --check .
	$(BIN)/python -m ruff check .
	$(BIN)/python -m mypy

.oracle/installed:
	"$(MXNET_PYTHON)" -m venv .oracle
	.oracle/bin/python -m pip --disable-pip-version-check --quiet install mxnet==1.9.1 numpy==1.23.5
	@touch $@

oracle: $(VENV)/installed .oracle/installed
	OMP_NUM_THREADS=1 $(BIN)/python -m tools.oracle --mxnet .oracle/bin/python --cases $(CASES)

clean:
	rm -rf $(VENV) .oracle $(DEMO) .autohybrid_cache .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist
