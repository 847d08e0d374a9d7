"""What folding needs and is not installed: the log goes on, and a memory is asked as far as it was folded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from mnemolog import FailedError, Memory
from processors.open_efforts import OpenEffortsParams
from streams.core.errors import MemoryFileError, UsageError
from streams.core.events import Outside
from streams.gateways.cli import main
from streams.runtime.home import Home
from streams.runtime.replay import replay
from tests.serving import serving

Talk = Callable[[int], list[Outside]]


@pytest.fixture
def folded(home: Home, talk: Talk, monkeypatch: pytest.MonkeyPatch) -> Home:
    """A home with eight events folded, one more in the log, and what folding needs taken away."""
    home.log.append(talk(8))
    home.ask("spaces")
    home.log.append(talk(9)[8:])

    def missing(params: OpenEffortsParams) -> None:
        raise UsageError("what it needs is not installed", "pip install it")

    monkeypatch.setattr(OpenEffortsParams, "check_foldable", missing)
    return home


HELD_UP = "1 event cannot be folded, for what it needs is not installed: pip install it"


def test_what_was_folded_is_answered_and_it_is_said_what_is_not_in_it(folded: Home) -> None:
    heard: list[str] = []
    folded.warn = heard.append
    [space] = folded.ask("spaces")
    assert heard == [f"not all of the log is in this answer: {HELD_UP}"]
    assert folded.ask("context", space=space["space"], session="s")["position"] == 7
    with folded.reading() as connection:  # as SQL is asked
        assert connection.execute("SELECT count(*) FROM turn_recorded").fetchone() == (space["turns"],)


def test_nothing_is_said_where_all_was_folded_before(home: Home, talk: Talk, monkeypatch: pytest.MonkeyPatch) -> None:
    home.log.append(talk(8))
    before = home.ask("spaces")

    def missing(params: OpenEffortsParams) -> None:
        raise UsageError("what it needs is not installed")

    monkeypatch.setattr(OpenEffortsParams, "check_foldable", missing)
    heard: list[str] = []
    home.warn = heard.append
    assert (home.ask("spaces"), heard) == (before, [])


def test_a_server_records_what_comes_and_answers_from_what_was_folded(folded: Home) -> None:
    with serving(folded):
        memory = Memory(home=folded.path)
        before = memory.ask("spaces")
        memory.record("s", "user", "The nightly build of the parser fails.", id="later")
        assert memory.ask("spaces") == before
        later = Memory(home=folded.path, timeout=0.5)
        with pytest.raises(FailedError, match="2 events cannot be folded, for what it needs is not installed"):
            later.ask("spaces", after="0:9")
    assert folded.log.end(0) == 10


def test_it_is_folded_on_once_that_is_installed(folded: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    folded.ask("spaces")
    monkeypatch.undo()
    assert folded.ask("context", space=folded.ask("spaces")[0]["space"], session="s")["position"] == 8


def test_what_folds_history_anew_is_refused_and_leaves_all_as_it_was(folded: Home) -> None:
    with pytest.raises(UsageError, match="what it needs is not installed"):
        replay(folded, "next")
    folded.memory_path("other").write_bytes(folded.memory_path("live").read_bytes())
    with pytest.raises(MemoryFileError, match=HELD_UP):
        folded.promote("other")
    assert folded.memories() == ["live", "other"]


@pytest.mark.parametrize("served", [False, True])
def test_the_doctor_tells_that_live_is_folded_no_further(folded: Home, capsys: Any, served: bool) -> None:
    def doctor() -> str:
        with pytest.raises(SystemExit) as ended:
            main(["doctor", "--home", str(folded.path)])
        assert ended.value.code == 1
        return str(capsys.readouterr().out)

    if served:
        with serving(folded):
            told = doctor()
    else:
        told = doctor()
    assert "1 events wait" in told
    assert "folded" in told
    assert "what it needs is not installed: pip install it" in told
