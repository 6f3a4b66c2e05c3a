# Needs Python 3.11 or newer with its venv module, git and make. Everything else is set up in .venv, from the pinned
# and hashed sets in requirements/. The stamp files carry a checksum of what was installed, so a second call starts at once.
# The linters that are written in JavaScript stand in requirements/node/node_modules and run on the Node of .venv.

PYTHON ?= python3
JOBS ?= 2
# Tests wait for processes and disks: one more of them than processors keeps these at work.
WAITING := $(shell expr $(JOBS) + 1)

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --quiet --no-input --disable-pip-version-check
NPM := $(BIN)/npm --prefix requirements/node --loglevel error
NODE_BIN := requirements/node/node_modules/.bin
SCRIPTS := static/js requirements/node/*.js docs/examples/*.mjs

# The files with tests of a mark: to collect all the others as well takes longer than some of the runs.
marked = $(sort $(shell grep -rl --include='*.py' 'mark\.$(1)' tests/parsers tests/webapp))
# What tests neither package: it carries the mark of `replays` (tests/conftest.py).
OTHERS := $(filter-out tests/browser/ tests/cases/ tests/parsers/ tests/webapp/ %/__pycache__/,$(wildcard tests/*/))
stamp = $(VENV)/$(1)-$(shell { $(PYTHON) --version; cat $(2); } 2>&1 | cksum | tr -dc 0-9).stamp
APP := $(call stamp,app,requirements/build.txt requirements/run.txt pyproject.toml)
TOOLS := $(call stamp,tools,requirements/test.txt)
TEAM := $(call stamp,team,requirements/test.txt requirements/team.txt)
FUZZER := $(call stamp,fuzzer,requirements/test.txt requirements/fuzz.txt)
LINTERS := $(call stamp,linters,requirements/test.txt requirements/node/package-lock.json)
LOCK := $(call stamp,lock,requirements/lock.txt)

.DEFAULT_GOAL := help
.NOTPARALLEL:
# What Python compiled is kept: each run of the tests, its workers and every server they start would compile all of it
# anew. What is never imported is not compiled: pip would do so with all of transformers.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help run test test-all test-team lint format unit browser bench soak faults fuzz truth test-engines test-clients test-image chromium postgresql docs lock clean

help:  ## list the targets
	@awk -F ':.*  ## ' '/^[a-z-]+:.*  ## / { printf "make %-12s  %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: $(APP)  ## start the inspector on 127.0.0.1:8765 (ARGS="--port 9000" and the like are passed on)
	@$(BIN)/toolcall-inspector serve $(ARGS)

test: lint unit browser  ## everything that must hold before a change lands

lint format: export PATH := $(CURDIR)/$(BIN):$(PATH)
lint: $(LINTERS)  ## style and types, of Python, templates, scripts and style sheets
	ruff check .
	ruff format --check .
	mypy --num-workers $(JOBS) & types=$$!; { \
	  djlint --quiet templates && \
	  $(NODE_BIN)/eslint --config requirements/node/eslint.config.js --max-warnings 0 $(SCRIPTS) && \
	  $(NODE_BIN)/stylelint --config requirements/node/stylelint.config.js --max-warnings 0 'static/css/*.css' && \
	  $(NODE_BIN)/prettier --config requirements/node/package.json --log-level warn --check $(SCRIPTS) static/css; \
	}; others=$$?; wait $$types && exit $$others

format: $(LINTERS)  ## lay out Python, scripts and style sheets as lint wants them
	ruff format .
	$(NODE_BIN)/prettier --config requirements/node/package.json --log-level warn --write $(SCRIPTS) static/css

test-all: export PROPERTY_TIMES := 8
test-all: test  ## the same with all examples and every row of the tables, of which `test` tries a share

# Branch coverage: all of parsers, nearly all of webapp. The seed keeps it from depending on luck.
unit: $(TOOLS)  ## all tests but those in a browser, with the coverage they must reach
	$(BIN)/pytest tests/parsers tests/webapp -m "not linear and not replays" --numprocesses $(WAITING) --dist worksteal --hypothesis-seed=0 --cov --cov-report=
	$(BIN)/coverage report --include 'parsers/*' --skip-covered --show-missing --fail-under 100
	$(BIN)/coverage report --include 'webapp/*' --skip-covered --show-missing --fail-under 95
	$(BIN)/pytest -m replays $(call marked,replays) $(OTHERS) --numprocesses $(WAITING) --dist worksteal
	$(BIN)/pytest -m linear $(call marked,linear) --numprocesses $(JOBS)

# PostgreSQL is Debian's postgresql-15, or whatever initdb is on the path or in /usr/lib/postgresql; it runs as an ordinary
# user in a folder that goes when the tests end.
test-team: export TEST_POSTGRESQL := 1
test-team: $(TEAM) postgresql nginx  ## the case store and the team server on a PostgreSQL of their own, started for the tests
	$(BIN)/pytest tests/webapp/store tests/webapp/front/test_team_server.py

# What fails while others drive a browser beside it is run once more alone: what fails again is a fault of the page, what
# does not is a race to be looked into, and the summary of the first run names it.
browser: export TOOLCALL_INSPECTOR_REQUIRE_BROWSER := 1
browser: $(TOOLS) chromium  ## the tests that drive the page in Chromium
	$(BIN)/pytest tests/browser -m browser --numprocesses $(JOBS) --dist loadfile || \
	  $(BIN)/pytest tests/browser -m browser --last-failed --last-failed-no-failures none --maxfail 3

# QUICK=1 only prints, in a minute or two; VLLM_PYTHON and SGLANG_PYTHON name interpreters that have those peers.
bench: $(TOOLS)  ## measure speed and memory, and write docs/performance.md
	$(BIN)/python -m tests.bench $(if $(QUICK),--quick) $(if $(VLLM_PYTHON),--vllm $(VLLM_PYTHON)) $(if $(SGLANG_PYTHON),--sglang $(SGLANG_PYTHON))

soak: $(TOOLS)  ## let fifty people use a server for ten minutes (ARGS="--seconds 60" and the like are passed on)
	$(BIN)/python -m tests.bench.soak $(ARGS)

faults: $(TEAM) postgresql faketime  ## hurt a server in every way, and write to docs/reliability.md (ARGS="--writes 100")
	$(BIN)/python -m tests.faults $(ARGS)

# libFuzzer, guided by the lines and rows that an input reaches: hours for all of it. One process, and others go first.
fuzz: $(FUZZER)  ## fuzz parsers, intake, formats and cases, and write to docs/reliability.md (ARGS="--executions 100000")
	$(BIN)/python -m tests.fuzz $(ARGS)

# TRUTH_VLLM, TRUTH_DYNAMO, TRUTH_LLAMACPP: an unpacked source release or a checkout each; what is not given is absent.
truth: $(TOOLS)  ## run other projects' tests on our parsers (TRUTH_VLLM=TREE and the like; ARGS=--list)
	$(BIN)/python -m tests.truth $(ARGS)

# Downloads some gigabytes, once, into ENGINES; that folder is kept and used again.
test-engines: export PATH := $(CURDIR)/$(BIN):$(PATH)
test-engines: ENGINES ?= $(VENV)/engines
test-engines: $(TOOLS) compilers  ## set up the engines of others, search their parsers, and write docs/engines.md (ENGINES=FOLDER)
	$(BIN)/python -m tests.engines $(ENGINES) $(ARGS)

# Downloads what requirements/clients and requirements/sdks pin. CLIENT_PYTHON is the interpreter of the stranger, 3.9 or newer.
test-clients: export PATH := $(CURDIR)/$(BIN):$(PATH)
test-clients: $(TOOLS)  ## read what real client libraries print, and run the pytest plugin beside other versions (CLIENTS=FOLDER)
	$(BIN)/python -m tests.clients $(or $(CLIENTS),$(VENV)/clients) $(ARGS)
	$(BIN)/python -m tests.plugin $(or $(CLIENT_PYTHON),$(PYTHON))

# Makes some gigabytes in IMAGES. What builds them is Debian's; it does so as root or with user namespaces.
test-image: $(TOOLS) buildah  ## build the container image, start it, ask it, stop it (IMAGES=FOLDER)
	$(BIN)/python -m tests.image $(or $(IMAGES),$(VENV)/images)

# libatomic1 is for the Node that Playwright brings along.
chromium: $(TOOLS)
	@missing=; \
	command -v chromium-headless-shell >/dev/null || command -v chromium >/dev/null || \
	  missing='chromium-headless-shell fonts-dejavu-core'; \
	$(BIN)/playwright --version >/dev/null 2>&1 || missing="$$missing libatomic1"; \
	if [ -z "$$missing" ]; then exit; fi; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  echo Installing $$missing; \
	  export DEBIAN_FRONTEND=noninteractive; \
	  apt-get -qq update && apt-get -qq install --no-install-recommends $$missing >/dev/null; \
	else \
	  echo "Missing: $$missing. Best installed by root with apt-get; now Playwright fetches a browser of its own, once."; \
	  $(BIN)/playwright install --only-shell chromium; \
	fi

# Pins hold for the oldest Python only if they were chosen by it: run this with 3.11.
lock: $(LOCK) $(TOOLS)  ## pin the requirement sets again (ARGS=--upgrade takes newer releases)
	cd requirements && for set in run build test team corpus cluster fuzz lock clients/oldest clients/newer sdks/python sdks/llama_index; do \
	  CUSTOM_COMPILE_COMMAND='make lock' ../$(VENV)/lock/bin/pip-compile --quiet --generate-hashes --no-strip-extras --allow-unsafe \
	    --no-emit-index-url --no-emit-trusted-host --no-emit-find-links --no-emit-options $(ARGS) \
	    --output-file $$set.txt $$set.in || exit; \
	done
	for set in node sdks/npm; do \
	  $(BIN)/npm --prefix requirements/$$set --loglevel error $(if $(findstring --upgrade,$(ARGS)),update,install) --package-lock-only && \
	  $(BIN)/node --eval "$$WITHOUT_ADDRESSES" requirements/$$set/package-lock.json || exit; \
	done

# npm writes down where a package asks for donations; no line of the lock is an address.
define WITHOUT_ADDRESSES
  const fs = require("fs"), name = process.argv[1], lock = JSON.parse(fs.readFileSync(name));
  for (const entry of Object.values(lock.packages)) delete entry.funding;
  fs.writeFileSync(name, JSON.stringify(lock, null, 2) + "\n");
endef
lock: export WITHOUT_ADDRESSES := $(WITHOUT_ADDRESSES)

docs: $(TOOLS)  ## write the generated pages of docs/ again
	$(BIN)/python -m docs.generate

clean:  ## remove .venv and everything else that was generated
	rm -rf $(VENV) requirements/node/node_modules dist htmlcov test-results .coverage* .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# $(call debian,PACKAGES,WHAT): install them where that can be done; else say that WHAT is missing.
define debian
  { \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    echo Installing $(1); \
	    export DEBIAN_FRONTEND=noninteractive; \
	    apt-get -qq update && apt-get -qq install --no-install-recommends $(1) >/dev/null; \
	  else \
	    echo 'Missing: $(2). Best installed by root with apt-get install $(1).' >&2; \
	    exit 1; \
	  fi; \
	}
endef

postgresql:
	@ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || command -v initdb >/dev/null || $(call debian,postgresql,PostgreSQL)

# Without these two some of it is skipped, and says so.
nginx:
	-@PATH=$$PATH:/usr/sbin; command -v nginx >/dev/null || $(call debian,nginx-light,nginx)

faketime:
	-@ls /usr/lib/*/faketime/*.so.1 >/dev/null 2>&1 || $(call debian,faketime,libfaketime)

compilers:
	-@command -v c++ >/dev/null && command -v go >/dev/null || $(call debian,g++ golang-go,compilers of C++ and Go)

buildah:
	@command -v buildah >/dev/null || $(call debian,buildah,buildah)
	@PATH=$$PATH:/usr/sbin; command -v debootstrap >/dev/null || $(call debian,debootstrap,debootstrap)

$(APP):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=python3.12 ...")'
	@echo 'Setting up $(VENV): about a minute, once.'
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) install --no-compile --require-hashes -r requirements/build.txt -r requirements/run.txt
	@$(PIP) install --no-compile --no-deps --no-build-isolation --editable .
	@rm -f $(VENV)/app-*.stamp && touch $@

$(TOOLS): $(APP)
	@echo 'Adding the test tools to $(VENV).'
	@$(PIP) install --no-compile --require-hashes -r requirements/test.txt
	@rm -f $(VENV)/tools-*.stamp && touch $@

$(TEAM): $(TOOLS)
	@echo 'Adding what a team server needs to $(VENV).'
	@$(PIP) install --no-compile --require-hashes -r requirements/team.txt
	@rm -f $(VENV)/team-*.stamp && touch $@

$(FUZZER): $(TOOLS)
	@echo 'Adding the fuzzer to $(VENV).'
	@$(PIP) install --no-compile --require-hashes -r requirements/fuzz.txt
	@rm -f $(VENV)/fuzzer-*.stamp && touch $@

$(LINTERS): $(TOOLS)
	@echo 'Adding the linters for scripts and style sheets.'
	@$(NPM) ci --silent
	@rm -f $(VENV)/linters-*.stamp && touch $@

$(LOCK):
	@$(PYTHON) -m venv $(VENV)/lock
	@$(VENV)/lock/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/lock.txt
	@rm -f $(VENV)/lock-*.stamp && touch $@
