"""What many tests need: homes, talk, and the processors."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, settings

from processors import PROCESSORS
from streams.core.events import Outside
from streams.runtime.home import Home
from tests.kafka.broker import CALM, Broker, NoBrokerError
from tests.laws.histories import long_talk, outside

# Why: where a shell without job control runs the tests in the background, interrupts are ignored, and programs that
# the tests start inherit that: those that are to be stopped by an interrupt would run for ever.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Why: who is told to end in another way than by an interrupt ends in the same order, and leaves no broker behind.
if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
    signal.signal(signal.SIGTERM, signal.default_int_handler)

# Why: images often tell Python to keep no bytecode; every process that tests start would then compile all modules anew,
# which takes longer than what most of them are started for.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# Why: tests make many objects and keep many; by the usual count, a seventh of their time goes by in looking for cycles.
gc.set_threshold(100_000, 20, 50)

# Why: no verdict hangs on how fast the machine is.
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")

KAFKA = Path(__file__).with_name("kafka")

LONG = (
    "test_laws.py", "test_damage.py", "test_erase.py", "test_runtime.py", "test_keys.py", "test_recall_index.py",
    "test_accidents.py", "test_cli.py", "test_replay.py", "test_adapters.py", "test_http.py", "test_one_file.py",
    "test_encryption.py", "test_diff.py", "test_page.py", "test_annotate.py", "test_requests.py", "test_docs.py",
    "test_restored_logs.py", "test_echo.py", "test_recall_answers.py", "test_set_aside.py", "test_mcp.py",
    "test_erase_kafka.py", "test_worker.py", "test_shards.py", "test_faults.py", "test_projector.py",
    "test_rebalance.py", "test_kafka_log.py", "test_replay_kafka.py", "test_promote_kafka.py", "test_documents.py",
    "test_security.py", "test_annotate_kafka.py",
)  # fmt: skip
"""The files that take longest, the longest first: those that compute, and those that wait for brokers."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files that wait for brokers and files that compute, in turn, the longest first: processes that share out the
    tests by files are busy until all end, and none has the pipeline on Kafka left for itself."""
    files: dict[Path, list[pytest.Item]] = {}
    for item in items:
        files.setdefault(item.path, []).append(item)
    longest = sorted(files, key=lambda path: LONG.index(path.name) if path.name in LONG else len(LONG))
    waiting = [path for path in longest if path.parent == KAFKA]
    computing = [path for path in longest if path.parent != KAFKA]
    turns = [path for pair in zip_longest(computing, waiting) for path in pair if path is not None]
    items[:] = [item for path in turns for item in files[path]]


def pytest_collection_finish() -> None:
    """What stands after collecting stays to the end, a million objects: cycles are not looked for in it again."""
    gc.collect()
    gc.freeze()


def pytest_xdist_auto_num_workers() -> int:
    """Two processes more than there are cores, for often some of them wait: for a broker, or for a process to end."""
    return int(os.environ.get("PYTEST_XDIST_AUTO_NUM_WORKERS") or (os.cpu_count() or 1) + 2)


def pytest_xdist_setupnodes(config: pytest.Config) -> None:
    """Starts one broker for all processes of a run that has tests on Kafka, and ends it with the run."""
    chosen = [(config.invocation_params.dir / word.split("::")[0]).resolve() for word in config.args]
    on_kafka = any(KAFKA.is_relative_to(at) or at.is_relative_to(KAFKA) for at in chosen)
    if not on_kafka or "MNEMOLOG_TEST_KAFKA" in os.environ:
        return
    folder = TemporaryDirectory(prefix="mnemolog-kafka-")
    config.add_cleanup(folder.cleanup)
    broker = Broker(Path(folder.name), properties=CALM)
    with suppress(NoBrokerError):  # each process finds out for itself, and says so
        broker.start()
        config.add_cleanup(broker.kill)
        os.environ["MNEMOLOG_TEST_KAFKA"] = broker.servers


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    """An empty home."""
    found = Home(tmp_path / "home", PROCESSORS)
    yield found
    found.log.close()


@pytest.fixture(scope="session")
def talk() -> Callable[[int], list[Outside]]:
    """The first n events of a long conversation in which every kind of event occurs."""
    return lambda n: outside(long_talk(n))


@pytest.fixture
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Features of texts are kept by so few events that a short talk fills several files."""
    for module in ("cache", "replay"):
        monkeypatch.setattr(f"streams.runtime.{module}.CHUNK", 64)
