"""What is folded ahead of the tables of a memory, and committed beside."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from processors import PROCESSORS
from projections import ask as asks
from projections.store import Batch, Store
from streams.core.errors import BrokenError, NoRoomError, UnreadableError
from streams.core.events import Outside, TurnRecorded
from streams.runtime import embedded
from streams.runtime import fold as folds
from streams.runtime.home import Home
from streams.runtime.home.office import Office
from streams.runtime.requests import Ask, parse
from tests.serving import serving

Talk = Callable[[int], list[Outside]]


class Disk:
    """Holds commits up for as long as it is busy."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._free, self.waited_for = threading.Event(), threading.Event()
        self._free.set()
        commit = Store.commit

        def held(store: Store, batch: Batch) -> None:
            if not self._free.is_set():
                self.waited_for.set()
                assert self._free.wait(60)
            commit(store, batch)

        monkeypatch.setattr(Store, "commit", held)

    @contextmanager
    def busy(self) -> Iterator[None]:
        """While commits wait for it."""
        self.waited_for.clear()
        self._free.clear()
        try:
            yield
        finally:
            self._free.set()


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    return Disk(monkeypatch)


def whole(folder: Path, events: list[Outside]) -> dict[str, str]:
    """The digest of a memory into which all was folded at once."""
    home = Home(folder, PROCESSORS)
    home.log.append(events)
    found: dict[str, str] = home.ask("digest")
    home.log.close()
    return found


def test_a_context_waits_for_no_disk(home: Home, talk: Talk, disk: Disk) -> None:
    events = [event for event in talk(60) if isinstance(event, TurnRecorded)]
    with serving(home):
        home.log.append(events[:10])
        assert home.ask("spaces")
        with disk.busy():
            number = 10
            while not disk.waited_for.wait(0.05):
                home.log.append([events[number]])
                home.ask("context", space=events[number].space, session=events[number].session)
                number += 1
            for event in events[number : number + 5]:
                home.log.append([event])
                number += 1
                found = home.ask("context", space=event.space, session=event.session)
                assert f'position="{number - 1}"' in found["text"]
        assert sum(row["turns"] for row in home.ask("spaces")) == number


def test_what_is_folded_while_a_commit_goes_on_beside_is_what_a_fold_of_all_makes(
    home: Home, talk: Talk, disk: Disk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also of spaces that are let go while their state is being written, and called for again."""
    monkeypatch.setattr(folds, "SOON", 0.0)
    monkeypatch.setattr(folds, "LEVEL", float("inf"))
    monkeypatch.setattr(embedded, "RESIDENT", 1)
    events = [replace(event, space=f"s{number // 3 % 3}") for number, event in enumerate(talk(300))]
    beside = 0
    with home.live() as runtime, closing(Office(home, runtime)) as office:
        assert isinstance(runtime, embedded.Runtime)
        for number, event in enumerate(events):
            home.log.append([event])
            if number % 7 == 6:  # is left ahead, so that the next has something to commit
                runtime.settle()
            elif number % 7 or not number:
                runtime.catch_up(ahead=True)
                runtime.settle(soon=True)
            else:
                with disk.busy():
                    runtime.settle(soon=True)
                    assert disk.waited_for.wait(60)
                    if event.space in runtime.driver.spaces:  # is folded though a commit goes on
                        runtime.catch_up(ahead=True)
                        beside += 1
            runtime.catch_up(ahead=True)
            if number % 11 == 0:
                call = parse({"ask": "context", "arguments": {"space": event.space, "session": "s"}})
                assert isinstance(call, Ask)
                assert office.ask(call)["position"] <= number
                assert runtime.view().mark(0) == number
        assert beside
        runtime.settle()
        assert runtime.view().ahead == ()
        assert not runtime.settle()
        assert asks.digest(runtime.store.connection) == whole(tmp_path / "whole", events)


def test_the_tables_hold_all_that_was_folded_from_time_to_time_however_much_comes(
    home: Home, talk: Talk, disk: Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folds, "SOON", 0.0)
    monkeypatch.setattr(folds, "LEVEL", 0.0)
    home.log.append(talk(20))
    with home.live() as runtime:
        home.log.append(talk(40)[20:])
        runtime.catch_up(ahead=True)
        assert runtime.settle(soon=True)
        assert runtime.view().ahead == ()


def test_after_a_commit_that_failed_nothing_is_committed_without_the_state_that_it_took(
    home: Home, talk: Talk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    events = talk(200)
    home.log.append(events[:120])
    home.ask("spaces")
    commit = Store.commit

    def full(store: Store, batch: Batch) -> None:
        monkeypatch.setattr(Store, "commit", commit)
        raise NoRoomError("there is no room", "make room")

    with home.live() as runtime, closing(Office(home, runtime)):
        home.log.append(events[120:150])
        runtime.catch_up(ahead=True)
        monkeypatch.setattr(Store, "commit", full)
        with pytest.raises(NoRoomError):
            runtime.settle()
        with pytest.raises(UnreadableError, match="could not be written: there is no room"):
            runtime.settle()
    home.log.append(events[150:])
    assert home.ask("digest") == whole(tmp_path / "whole", events)


def test_a_server_goes_on_after_a_commit_that_failed_beside(
    home: Home, talk: Talk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    events = talk(120)
    failed = threading.Event()
    commit = Store.commit

    def full(store: Store, batch: Batch) -> None:
        if threading.current_thread().name.startswith("committing") and not failed.is_set():
            failed.set()
            raise NoRoomError("there is no room", "make room")
        commit(store, batch)

    monkeypatch.setattr(Store, "commit", full)
    home.log.append(events[:60])
    with serving(home):
        home.ask("spaces")
        home.log.append(events[60:])
        assert failed.wait(60), "what was folded is committed soon"
        deadline = time.monotonic() + 60
        found: dict[str, str] = {}
        while not found:
            try:
                found = home.ask("digest")
            except BrokenError:  # until live is opened anew
                assert time.monotonic() < deadline
                time.sleep(0.05)
    assert found == whole(tmp_path / "whole", events)
