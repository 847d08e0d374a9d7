"""What many tests need: homes, talk, and the processors."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from processors import PROCESSORS
from streams.core.events import Outside
from streams.runtime.home import Home
from tests.laws.histories import long_talk, outside

# Why: where a shell without job control runs the tests in the background, interrupts are ignored, and programs that
# the tests start inherit that: those that are to be stopped by an interrupt would run for ever.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


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
