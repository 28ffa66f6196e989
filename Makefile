# Everything CI does, a person can do with these targets. `make help` lists them.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready

.DEFAULT_GOAL := help
.PHONY: help test test-anywhere demo cluster lint format run conformance faults soak e2e bench simulate planted mutation promises promises-short call-paths controlplane tools chart metrics-docs settings-docs docs dist audit crds clean

help: ## list the targets
	@awk -F':.*## ' '/^[a-z0-9-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

$(READY): pyproject.toml hack/constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "tutti needs Python 3.11 or newer, this is " + sys.version.split()[0] + "; set PYTHON=")'
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint hack/constraints.txt --editable '.[local,dev]'
	touch $@

# The gang path on the embedded cluster, as far as it is quick; `make conformance ARGS="--cluster embedded"` runs all of it.
QUICK := api_table crd_rules group_guards harness parallelism devices_gangs waiting_for_room
# Cells of the matrix of faults; `make faults` runs all of it.
QUICK_FAULTS := create-run-complete-answer-lost or create-run-complete-version-too-old or set-starts-conflict or gang-preempts-gang-crash-after

test: $(READY) ## run the test suite (no cluster needed)
	$(BIN)/python -m pytest -n auto --ignore=tests/conformance --ignore=tests/e2e --ignore=tests/faults $(ARGS)
	$(if $(ARGS),,$(BIN)/python -m pytest --cluster embedded $(QUICK:%=tests/conformance/test_%.py))
	$(if $(ARGS),,$(BIN)/python -m pytest --cluster embedded tests/faults -k "$(QUICK_FAULTS)")

test-anywhere: $(READY) ## what a day, a time zone, a locale, a folder or a user could break, where these are others
	$(BIN)/python -m hack.anywhere $(ARGS)

demo: $(READY) ## a cluster of its own, gangs on it, a live table; ARGS="--keep --manifests DIR"
	$(BIN)/python -m localcluster.demo $(ARGS)

cluster: $(READY) ## a small cluster to try things on with kubectl; ARGS="--nodes 20 --keep FOLDER"
	$(BIN)/tutti cluster $(ARGS)

run: $(READY) ## run Tutti against the cluster of KUBECONFIG=FILE, from outside
	$(BIN)/tutti run $(if $(KUBECONFIG),--kubeconfig $(KUBECONFIG)) $(ARGS)

lint: $(READY) ## ruff, formatting, mypy --strict, import rules
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(READY) ## let ruff put the code in order
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

controlplane: ## build a real Kubernetes control plane once and print its folder (needs Go 1.26); KUBERNETES_VERSION=1.30, 1.38
	@nice -n 19 hack/controlplane/ensure # what runs beside it comes first

tools: ## build helm, promtool and prometheus once, for the tests that ask them (needs Go 1.26)
	@hack/tools/ensure helm
	@hack/tools/ensure promtool

conformance: $(READY) ## tests/conformance against a real control plane, once per group API; ARGS="--cluster embedded", KUBERNETES_VERSION=1.30, 1.38
	$(BIN)/python -m hack.conformance $(ARGS)

faults: $(READY) ## workflows under faults, judged by the auditor, on the embedded cluster; ARGS="--cluster real -k WORKFLOW" (KUBEBUILDER_ASSETS)
	$(BIN)/python -m pytest tests/faults -s --cluster embedded $(ARGS)

soak: $(READY) ## users, faults and other schedulers for MINUTES=60, judged all the time, on the embedded cluster; ARGS="--cluster real --seed N"
	$(BIN)/python -m verify.soak --minutes $(or $(MINUTES),60) $(ARGS)

e2e: $(READY) ## the image and config/default on a real node of this machine, with real containers (needs root; see hack/node)
	$(BIN)/python -m hack.e2e $(ARGS)

simulate: $(READY) ## run Tutti in virtual time, SEEDS=100 seeded runs with faults; ARGS="--first 100 --scenario '{...}'"
	$(BIN)/python -m verify.simulator --seeds $(or $(SEEDS),100) $(ARGS)

planted: $(READY) ## plant known bugs one by one in a copy of the tree, and say which test found each; ARGS="--list" or part of a name
	$(BIN)/python -m verify.planted $(ARGS)

mutation: $(READY) ## draw mutants of the pure core modules, and say which survive the tests; ARGS="queue --count 40 --seed 1"
	$(BIN)/python -m verify.mutation $(ARGS)

promises: $(READY) ## check all of docs/promises.md again, for hours; ARGS="--only faults"
	$(BIN)/python -m hack.promises $(ARGS)

promises-short: $(READY) ## a little of all that, in minutes
	$(BIN)/python -m hack.promises --short $(ARGS)

bench: $(READY) ## measure and print the tables of hack/bench
	$(BIN)/python -m hack.bench $(ARGS)

call-paths: $(READY) ## print through which functions a pod, a preemption and a Job go
	$(BIN)/python -m hack.call_paths $(ARGS)

crds: $(READY) ## write config/crd from api/crds (make test fails while they differ)
	$(BIN)/python -m hack.crds

chart: $(READY) ## write charts/tutti from config (make test fails while they differ)
	$(BIN)/python -m hack.chart

metrics-docs: $(READY) ## write docs/metrics.md and the dashboard (make test fails while they differ)
	$(BIN)/python -m hack.metrics
	$(BIN)/python -m hack.dashboard

settings-docs: $(READY) ## write docs/configuration.md from the typed settings (make test fails while they differ)
	$(BIN)/python -m hack.settings_docs

docs: $(READY) ## build the documents as a site into build/site, strictly; installs the extra `docs` first
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint hack/constraints.txt --editable '.[docs]'
	$(BIN)/mkdocs build --strict

dist: $(READY) ## write the files of a release into dist/: packages, chart, install.yaml, image, bill of materials, checksums
	$(BIN)/python -m hack.dist $(ARGS)

audit: $(READY) ## ask pip-audit whether a version that we pin has a known vulnerability (needs PyPI); ARGS="--require"
	$(BIN)/python -m hack.audit $(ARGS)

clean: ## remove what the targets above made in this folder
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
