# Everything from a fresh clone, with python3 >= 3.11 and make alone. Works with GNU make and BSD make.
#
#   make demo    install, then run the main job on sample conversations
#   make test    install with the development tools, then format, lint, types, tests
#   make bench   measure quality and speed, beside floors and bars; STRICT=1 fails where a bar is missed
#   make faults  break processes, network and broker of the pipeline on Kafka under load, in ROUNDS (7) of 7 faults
#   make accidents  damage files at 200 random places each, kill processes 50 times and erasures 1,000, fill a disk 20 times,
#                send 3,000 requests of any shape
#   make lint    format, lint and types alone
#   make docs    rewrite what is generated in the documents
#   make golden  write the digests that tell when what is derived changes without a new version
#   make clean   remove the virtual environment and all caches
#
# Another interpreter:  make demo PYTHON=python3.13

PYTHON = python3
VENV = .venv
BIN = $(VENV)/bin

ROUNDS = 7

.PHONY: demo test bench faults accidents lint docs golden clean

demo: $(VENV)/installed
	@$(BIN)/mnemolog demo

test: lint
	@$(BIN)/pytest --numprocesses auto --dist loadfile --no-loadscope-reorder

bench: $(VENV)/installed-dev
	@$(BIN)/python -m tests.bench $$(test -z "$(STRICT)" || echo --strict)

faults: $(VENV)/installed-dev
	@MNEMOLOG_REQUIRE_KAFKA=1 MNEMOLOG_FAULTS=$(ROUNDS) $(BIN)/pytest -s tests/kafka/test_faults.py

accidents: $(VENV)/installed-dev
	@MNEMOLOG_ACCIDENTS=1 MNEMOLOG_FUZZ=3000 $(BIN)/pytest -s tests/test_accidents.py tests/test_runtime_killed.py \
		tests/test_erase.py tests/test_requests.py tests/kafka/test_erase_kafka.py

# Why twice: mypy fails by itself, with status 2, where a busy machine starts its workers too slowly; types fail it with 1.
lint: $(VENV)/installed-dev
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy --num-workers auto || { test $$? -eq 2 && $(BIN)/mypy; }

docs: $(VENV)/installed-dev
	@MNEMOLOG_WRITE_DOCS=1 $(BIN)/pytest tests/test_docs.py -k "generated or run_in_order"

golden: $(VENV)/installed-dev
	@MNEMOLOG_WRITE_GOLDEN=1 $(BIN)/pytest tests/test_golden_digests.py

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis dist build

# A stamp file says that the installation is done and newer than pyproject.toml.
# Why the loop: pip is either silent for a minute or prints a page; a dot a second says that it lives.

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "mnemolog needs Python 3.11 or newer; name one with: make PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -m venv $(VENV)

$(VENV)/installed: $(VENV)/bin/python pyproject.toml
	@printf "Installing mnemolog into $(VENV), once "; \
	$(BIN)/python -m pip install --disable-pip-version-check --no-compile --editable . >$(VENV)/install.log 2>&1 & pid=$$!; \
	while kill -0 $$pid 2>/dev/null; do printf .; sleep 1; done; \
	wait $$pid || { echo; tail -n 20 $(VENV)/install.log; echo "The installation failed; all of it: $(VENV)/install.log"; exit 1; }; \
	echo " done"; touch $(VENV)/installed

$(VENV)/installed-dev: $(VENV)/bin/python pyproject.toml
	@printf "Installing mnemolog and its development tools into $(VENV), once "; \
	$(BIN)/python -m pip install --disable-pip-version-check --no-compile --editable '.[dev]' >$(VENV)/install.log 2>&1 & pid=$$!; \
	while kill -0 $$pid 2>/dev/null; do printf .; sleep 1; done; \
	wait $$pid || { echo; tail -n 20 $(VENV)/install.log; echo "The installation failed; all of it: $(VENV)/install.log"; exit 1; }; \
	echo " done"; touch $(VENV)/installed $(VENV)/installed-dev
