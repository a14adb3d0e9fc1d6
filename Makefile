# People and CI run the same commands. PYTHON: the interpreter to make the environment with. VENV: where it lies. JOBS: processes that test.
PYTHON ?= python3
SHARED ?= ../shared
JOBS ?= 2
JUDGED_LANG ?= de
OUTPUT ?= out/cc-tiny-en-$(JUDGED_LANG)
VENV ?= .venv
BIN = $(VENV)/bin
PIP = $(BIN)/python -m pip --quiet --disable-pip-version-check
STAMP = $(VENV)/.installed

VENV3 ?= .venv-datasets3
STAMP3 = $(VENV3)/.installed

DEMO = $(VENV)/.installed-demo
DEMO_OUT = out/simplegen.en-de

# Byte code is kept even where the environment forbids it: each process that the tests start would compile the package again.
export PYTHONDONTWRITEBYTECODE =

.PHONY: demo test test-times test-product test-studies check check-types check-rest fuzz compat docs figures leaderboard benchmark benchmark-check evaluator clean dist matrix

demo: $(DEMO)  ## environment with what the demo needs, then the main job on the embedded evaluator
	@mkdir -p out
	@echo "translating and judging 2,664 sentences, about a minute on two idle cores"
	$(BIN)/cc-hf evaluate simplegen en-de --system cc-tiny-en-de --metric all --output $(DEMO_OUT).json --html $(DEMO_OUT).html > $(DEMO_OUT).txt
	@$(BIN)/python -m tools.demo $(DEMO_OUT).json
	@echo "$(BIN)/cc-hf sources winomt --output winomt.en.txt"

# Each process that tests computes on one thread: they share the cores already. Files are tested in their order, which ends with many small ones: by
# number of tests, as by default, files of one slow test would come last, and one process would wait for the other.
ifdef COVERAGE
RUN = $(BIN)/coverage run -m pytest
else
RUN = $(BIN)/python -m pytest
endif
PYTEST = OMP_NUM_THREADS=1 $(RUN) -n $(JOBS) --dist loadfile --no-loadscope-reorder
PRODUCT = tests cc_hf --ignore tests/contracts
STUDIES = studies/tests studies/cc_hf_studies

# In one run, which imports everything once. Files come in the order of their names: contracts first, which say which rule a change breaks, and
# studies last.
test: $(STAMP)  ## all tests, offline; with COVERAGE=1 under coverage, which must reach the floor in pyproject.toml
ifdef COVERAGE
	$(BIN)/coverage erase
endif
	$(PYTEST) tests cc_hf $(STUDIES)
ifdef COVERAGE
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report
endif

test-times: $(STAMP)  ## all tests, and the 30 slowest into docs/internals.md
	mkdir -p out
	$(PYTEST) --durations=30 tests cc_hf $(STUDIES) > out/tests.log
	$(BIN)/python -m tools.slowest_tests out/tests.log

test-product: $(STAMP)  ## the tests without those of studies and without contracts
	$(PYTEST) $(PRODUCT)

test-studies: $(STAMP)  ## the tests of studies
	$(PYTEST) $(STUDIES)

# `make -j2 check` lets mypy, which takes most of the time, run beside the rest.
check: check-types check-rest  ## style, types, layers, sizes, generated documents

check-types: $(STAMP)
	$(BIN)/mypy

check-rest: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/python -m tools.sizes --check
	$(BIN)/python docs/generate.py --check
	$(BIN)/python -m tools.release

fuzz: $(STAMP)  ## 2,000 hostile inputs at all doors, about two minutes: none ends in a raw error, changes its input or takes long
	$(BIN)/python -m tests.fuzz.attack

# Each environment is new and is deleted; with the newest versions and with the oldest that pyproject.toml promises.
PYTHONS ?= python3.10 python3.11 python3.12 python3.13
matrix: $(STAMP)  ## sdist, wheel and tests in clean environments of PYTHONS, 25 minutes for each
	$(BIN)/python -m tools.matrix $(PYTHONS)

dist: $(STAMP)  ## sdist and wheel in dist/, the same to the byte wherever they are built
	rm -rf dist
	$(BIN)/python -m hatchling build -d dist
	cd studies && ../$(BIN)/python -m hatchling build -d ../dist
	cd judges && ../$(BIN)/python -m hatchling build -d ../dist

# Every dataset is built, and read back as Parquet, streaming and by its script, under the current `datasets` and under 3.6. Files that are not in
# SHARED are sample rows in upstream's layout.
compat: $(STAMP) $(STAMP3)  ## the built datasets under `datasets` 3.6, which shares the cache of the current one
	rm -rf out/compat && mkdir -p out/compat/built
	HF_HOME=out/compat/home HF_HUB_OFFLINE=1 $(BIN)/python -m tests.compat.build_all out/compat/built out/compat/data $(SHARED)
	HF_HOME=out/compat/home HF_HUB_OFFLINE=1 $(BIN)/python tests/compat/digests.py out/compat/built out/compat/data > out/compat/current.txt
	HF_HOME=out/compat/home HF_HUB_OFFLINE=1 $(VENV3)/bin/python tests/compat/digests.py out/compat/built out/compat/data --scripts datasets_scripts > out/compat/datasets3.txt
	diff out/compat/current.txt out/compat/datasets3.txt && wc -l < out/compat/current.txt

$(STAMP3): pyproject.toml
	$(PYTHON) -m venv $(VENV3)
	$(VENV3)/bin/python -m pip install --quiet --disable-pip-version-check 'datasets==3.6.0' 'huggingface_hub==0.34.4' inflect sacremoses rich typer tqdm filelock 'numpy<3'
	$(VENV3)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	touch $(STAMP3)

docs: $(STAMP)  ## write the generated documents anew, and build the site in out/site
	$(BIN)/python docs/generate.py
	$(BIN)/sphinx-build -W --keep-going -q -b html docs out/site

figures: $(STAMP) leaderboard  ## compute the figures of the README, docs/archive.md, docs/measurements.md and docs/performance.md anew; SHARED: folder with upstream/ and gold/
	$(BIN)/python docs/evaluator_figures.py $(SHARED)
	$(BIN)/python docs/judge_comparison.py $(SHARED)
	$(BIN)/python docs/reader_figures.py $(SHARED)
	$(BIN)/python docs/readme_figures.py $(SHARED)
	$(BIN)/python docs/report_picture.py $(SHARED)
	$(BIN)/python docs/reranking_figures.py $(SHARED)
	$(BIN)/python docs/language_figures.py $(SHARED)
	$(BIN)/python docs/language_model_judge_figures.py $(SHARED)
	$(BIN)/python docs/scale_figures.py $(SHARED)

leaderboard: $(STAMP)  ## judge archived translations of 2019 to 2024, and write their leaderboards in out/leaderboard and the figures of docs/archive.md, about two minutes; SHARED: folder with upstream/ and gold/
	$(BIN)/python docs/leaderboard_figures.py $(SHARED)

# Nothing else should run on the machine meanwhile. The models, which have random weights, are made in out/benchmark, 10 GB.
benchmark: $(STAMP)  ## measure scoring and write docs/performance.md; SHARED: folder with upstream/
	$(BIN)/python -m benchmarks.scoring --data-dir $(SHARED)/upstream --output docs/performance.md
	$(BIN)/python -m benchmarks.scoring --data-dir $(SHARED)/upstream --output docs/performance.md --processes --sizes opus-mt --data winomt
	$(BIN)/python -m benchmarks.scoring --data-dir $(SHARED)/upstream --output docs/performance.md --data coverage --sizes cc-tiny-en-de --block scoring-coverage --alternatives plain,plain-bf16,exact,bf16,int8,auto --pairs 2048 --rounds 3
	$(BIN)/python -m benchmarks.decoding --output docs/performance.md

# An idle machine again. `python -m benchmarks.check --store` adds or replaces the ratios of a processor.
benchmark-check: $(STAMP)  ## say what became slower by more than a tenth than benchmarks/ratios.tsv has it for this processor
	$(BIN)/python -m benchmarks.check --data-dir $(SHARED)/upstream

# Trains an evaluator for JUDGED_LANG (de, es, fr, it, pt) into OUTPUT, about an hour on two cores; a stopped run goes on. Sentences of test sets are kept out.
# The MALLOC settings keep glibc from giving memory back after every tensor: 1.7 times as fast.
evaluator: $(STAMP)
	MALLOC_MMAP_THRESHOLD_=4000000000 MALLOC_TRIM_THRESHOLD_=8000000000 MALLOC_TOP_PAD_=268435456 \
	$(BIN)/python -m tools.evaluator_recipe $(JUDGED_LANG) --data-dir $(SHARED)/upstream --output $(OUTPUT) $(RECIPE)

$(STAMP): pyproject.toml studies/pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --constraint constraints.txt --editable '.[dev]' --editable studies
	touch $(STAMP)

# An environment for development has all that the demo needs.
$(DEMO): pyproject.toml constraints.txt
	@$(PYTHON) -m venv $(VENV)
	@echo "installing cc_hf with torch and transformers into $(VENV), once: 80 packages, one to two minutes on a fast network"
	@test -e $(STAMP) || $(BIN)/python tools/install.py $(VENV)/install.log --constraint constraints.txt --editable '.[models]'
	@touch $(DEMO)

clean:
	rm -rf $(VENV) $(VENV3) out build dist
