# make run    builds in .venv and starts everything (svc up)
# make test   builds, installs what the tests need, and runs the whole suite
# make check  lint, types, compiler warnings
# make build  only the editable installation

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
CORE   := $(wildcard $(foreach folder,_rtp tools/bench,$(addprefix src/svc/$(folder)/,*.pyx *.pxd *.h)))

# The build and test tools are listed only in pyproject.toml.
FROM_PYPROJECT = $(BIN)/python -c 'import tomllib; p = tomllib.load(open("pyproject.toml", "rb")); print("\n".join($(1)))'
PIP_INSTALL    = $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: run test check build dev clean

run: build
	$(BIN)/svc up

test: dev
	ci/setup
	ci/test -n auto --dist loadfile --no-loadscope-reorder --ignore=tests/browser/measured
	ci/test -n 2 --dist loadfile --no-loadscope-reorder tests/browser/measured

check: dev
	ci/check

build: $(VENV)/core
dev: $(VENV)/core $(VENV)/test-tools

# The targets below are stamp files in .venv: a step is repeated only if one of its prerequisites has changed.
$(VENV)/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "svc needs Python 3.11 or later")'
	$(PYTHON) -m venv $(VENV)
	touch $@

$(VENV)/installed: pyproject.toml setup.py $(VENV)/python
	$(call FROM_PYPROJECT,p["build-system"]["requires"]) | $(PIP_INSTALL) -r /dev/stdin
	$(BIN)/python setup.py --quiet build_ext --inplace
	SVC_COMPILED=1 $(PIP_INSTALL) --no-build-isolation --editable .
	touch $@

$(VENV)/core: $(VENV)/installed $(CORE)
	$(BIN)/python setup.py --quiet build_ext --inplace
	touch $@

$(VENV)/test-tools: $(VENV)/installed
	$(call FROM_PYPROJECT,p["dependency-groups"]["core-test"] + p["dependency-groups"]["test"][1:]) | $(PIP_INSTALL) -r /dev/stdin
	touch $@

clean:
	rm -rf $(VENV) build dist src/*.egg-info
	find src -name '*.so' -delete
