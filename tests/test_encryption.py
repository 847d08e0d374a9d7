"""Contents under keys: no copy of a log says a word, and what a key was destroyed of is as if it had never been."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import signal
import stat
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from processors import PROCESSORS
from streams.core.errors import LogError, MnemologError, UsageError
from streams.core.events import AT_APPEND, ERASURES, Outside, TurnRecorded, decode, encode
from streams.gateways.doctor import examine
from streams.gateways.parser import app
from streams.logs import switch
from streams.logs.archive import ArchiveLog, archive
from streams.logs.copies import note_copy, receipts
from streams.logs.encryption import FOLDER, Keys
from streams.logs.log import Duplicate, Refused, Stored
from streams.logs.rescue import rescue
from streams.logs.sqlite import SqliteLog
from streams.logs.where import open_log
from streams.runtime.erasure.audit import Audit
from streams.runtime.erasure.keys import destroy, listed_keys
from streams.runtime.erasure.making import erasing
from streams.runtime.erasure.selection import Selection
from streams.runtime.home import Home
from streams.runtime.replay import replay
from tests.test_erase import found_in, killed_at, mark, run

ANN, BOB = "ann", "bob"
KILLS = int(os.environ.get("MNEMOLOG_ERASURES") or (300 if os.environ.get("MNEMOLOG_ACCIDENTS") else 5))
LATE = 40
"""Steps of a destruction among which it is killed: the last ones."""


def said_by(space: str, events: list[Outside]) -> list[Outside]:
    """The events in a space of that name, ids and words of turns such as no other has."""
    found = []
    for number, event in enumerate(events):
        event = replace(event, space=space, id=f"id{space.encode().hex()}{number:06d}")
        if isinstance(event, TurnRecorded):
            event = replace(event, content=f"{event.content} {mark(event.id)}", reply_to="")
        found.append(event)
    return found


def marks(events: list[Outside]) -> set[str]:
    return {word for event in events if isinstance(event, TurnRecorded) for word in (event.id, *mark(event.id).split())}


class Place:
    """A home in which two spaces talk under keys, folded, with a memory of a replay, a backup and an archive."""

    def __init__(self, folder: Path, ann: list[Outside], bob: list[Outside]) -> None:
        self.folder, self.ann, self.bob = folder, ann, bob
        both = sorted([*ann, *bob], key=lambda event: event.at)
        Keys(folder / "template" / "home").switch_on()
        home = Home(folder / "template" / "home", PROCESSORS)
        assert all(isinstance(one, Stored) for one in home.log.append(both))
        home.ask("recall", space=ANN, query="checkout", k=3)
        replay(home, "other", reuse=False, processes=1)
        self.digest = home.ask("digest")
        home.log.close()

    def never(self, home: Home) -> object:
        """The digest of a home in clear that never heard of Ann, but has the receipts that this one has."""
        other = Home(self.folder / "never", PROCESSORS)
        events = [(decode(r.type, r.value), r.recorded_at) for r in home.log.read(0, 0) if r.space != ANN]
        other.log.append_recorded(events)  # type: ignore[attr-defined]
        digest = other.ask("digest")
        other.log.close()
        shutil.rmtree(other.path)
        return digest

    def copied(self) -> Home:
        shutil.rmtree(self.folder / "place", ignore_errors=True)
        shutil.copytree(self.folder / "template", self.folder / "place")
        home = Home(self.folder / "place" / "home", PROCESSORS)
        for copy, write in (("backup", home.log.backup), ("archive", lambda path: archive(home.log, path))):  # type: ignore[attr-defined]
            note_copy(home.log, self.folder / "place" / copy)
            write(self.folder / "place" / copy)
        return home

    def restored(self, home: Home) -> Home:
        """A home of the backup, with the keys that there are now."""
        again = self.folder / "place" / "again"
        shutil.copytree(home.path / FOLDER, again / FOLDER)
        shutil.copy(self.folder / "place" / "backup", again / "log.sqlite")
        return Home(again, PROCESSORS)

    def is_destroyed(self, home: Home) -> None:
        """Whether home and copies say nothing of Ann, and all else is as if she had never been."""
        assert home.ask("digest") == self.never(home)
        assert not found_in(self.folder / "place", marks(self.ann))
        assert {r.space for r in home.log.read(0, 0) if r.is_readable} <= {BOB, ERASURES}
        assert [event for event in decoded(home) if event.space == BOB] == sorted(self.bob, key=lambda e: e.at)


def decoded(home: Home) -> list[Outside]:
    return [decode(r.type, r.value) for r in home.log.read(0, 0) if r.is_readable]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory, talk: Callable[[int], list[Outside]]) -> Place:
    events = talk(100)
    return Place(tmp_path_factory.mktemp("keys"), said_by(ANN, events[:50]), said_by(BOB, events[50:]))


@pytest.fixture
def home(place: Place) -> Iterator[Home]:
    found = place.copied()
    yield found
    found.log.close()


def test_copies_of_the_log_say_no_word_and_what_is_read_is_what_was_said(place: Place, home: Home) -> None:
    said = marks(place.ann) | marks(place.bob)
    rescue(home.path / "log.sqlite", place.folder / "place" / "rescued")
    copies = [place.folder / "place" / name for name in ("backup", "rescued")]
    copies += [*home.path.glob("log.sqlite*"), *(place.folder / "place" / "archive").rglob("*.parquet")]
    for path in copies:
        assert not [word for word in said if word.encode() in path.read_bytes()], path
    assert {str(path) for path, left in found_in(place.folder / "place", said) if left} >= {
        str(home.path / "live.duckdb turn_recorded")
    }, "they would be found"
    assert sorted(map(encode, decoded(home))) == sorted(map(encode, [*place.ann, *place.bob]))
    shutil.copytree(home.path / FOLDER, place.folder / "place" / FOLDER)
    rescued = SqliteLog(place.folder / "place" / "rescued")
    kept = ArchiveLog(place.folder / "place" / "archive", Keys(home.path))
    for log in (rescued, kept):
        assert [r[2:6] for r in log.read(0, 0)] == [r[2:6] for r in home.log.read(0, 0)]
    rescued.close()
    assert {key.events for key in listed_keys(home)} == {50}
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in (home.path / FOLDER).iterdir())


def test_what_a_key_was_destroyed_of_is_nowhere_and_the_rest_is_as_if_it_had_never_been(
    place: Place, home: Home
) -> None:
    end = home.log.end(0)
    assert destroy(home, ANN) == []
    place.is_destroyed(home)
    assert home.ask("digest", "other") == home.ask("digest"), "a replay's memory is folded anew"
    assert home.log.end(0) == end + 1, "places are kept"
    ((_, receipt),) = receipts(home.log)
    assert receipt.turns == sum(isinstance(event, TurnRecorded) for event in place.ann)
    assert receipt.turns + receipt.facts == 50
    assert {key.space: bool(key.destroyed) for key in listed_keys(home)} == {ANN: True, BOB: False}
    assert {check.status for check in Audit(home).checks()} == {"well"}
    assert {check.status for check in examine(home.path) if check.name in ("log", "keys", "live")} == {"well"}
    replay(home, "of-archive", archive=place.folder / "place" / "archive", processes=1)
    assert home.ask("digest", "of-archive") == home.ask("digest")
    again = place.restored(home)
    place.is_destroyed(again)
    again.log.close()
    with pytest.raises(UsageError, match="destroyed before"):
        destroy(home, ANN)


def test_what_is_fed_again_gets_a_new_key_and_is_known_again(place: Place, home: Home) -> None:
    other = SqliteLog(home.path / "log.sqlite")  # a process that had used the key
    assert isinstance(other.append(place.ann[:1])[0], Duplicate)
    destroy(home, ANN)
    assert all(isinstance(one, Stored) for one in other.append(place.ann))
    other.close()
    fed = [event for event in decoded(home) if event.space != ERASURES]
    assert sorted(map(encode, fed)) == sorted(map(encode, [*place.ann, *place.bob]))
    assert all(isinstance(one, Duplicate) for one in home.log.append(place.ann))
    changed = replace(next(e for e in place.ann if isinstance(e, TurnRecorded)), content="otherwise")
    assert isinstance(home.log.append([changed])[0], Refused)
    assert [(key.space, bool(key.destroyed)) for key in listed_keys(home)].count((ANN, False)) == 1
    destroy(home, ANN)
    place.is_destroyed(home)


def test_an_erasure_keeps_contents_under_their_keys(place: Place, home: Home) -> None:
    turn = next(event for event in place.ann if isinstance(event, TurnRecorded))
    with erasing(home) as erase_from:
        erase_from(Selection(turns=(turn.id,))).carry_out()
    said = marks(place.ann) | marks(place.bob)
    for path in (place.folder / "place" / "backup", *home.path.glob("log.sqlite*")):
        assert not [word for word in said if word.encode() in path.read_bytes()], path
    assert not found_in(place.folder / "place", {turn.id})
    destroy(home, ANN)
    place.is_destroyed(home)
    assert {check.status for check in Audit(home).checks()} <= {"well", "look"}


def test_the_commands_of_the_guide_list_ask_destroy_and_give_a_receipt(place: Place, home: Home) -> None:
    home.log.close()
    guide = (Path(__file__).parent.parent / "streams" / "docs" / "guide.md").read_text()
    (block,) = re.findall(r"<!-- encrypted -->\n```bash\n(.*?)```", guide, re.S)

    def mnemolog(*words: str) -> Any:
        return CliRunner().invoke(app, [*words, "--home", str(home.path), "--json"])

    listed, shown, done = (mnemolog(*line.split()[1:]) for line in block.splitlines())
    assert [(row["space"], row["events"]) for row in map(json.loads, listed.stdout.splitlines())] == [
        (ANN, 50),
        (BOB, 50),
    ]
    assert json.loads(shown.stdout.splitlines()[0])["events"] == 50
    assert json.loads(done.stdout.splitlines()[-1])["receipt"]["turns"] > 0
    assert mnemolog("encryption", "destroy", "--space", BOB).exit_code == 1, "nobody said yes"
    place.is_destroyed(Home(home.path, PROCESSORS))


def destroy_until(path: Path, step: int) -> None:
    """Destroys Ann's key, and is killed at a step."""
    home = Home(path, PROCESSORS)
    home.log.end(0)
    seen = killed_at(step)
    destroy(home, ANN)
    (path.parent / "steps").write_text(str(seen[0]))


def test_a_process_that_is_killed_leaves_the_key_or_nothing_of_it(place: Place) -> None:
    steps = 0
    for number in range(KILLS):
        home = place.copied()
        home.log.close()
        home.forget("other")
        # Late steps are those that count: what comes before prepares. The first one is not killed, to count them.
        process = run(destroy_until, home.path, number and random.Random(number).randint(steps - LATE, steps))
        process.join(120)
        assert process.exitcode == (-signal.SIGKILL if number else 0), number
        steps = steps or int((home.path.parent / "steps").read_text())
        home = Home(home.path, PROCESSORS)
        digest = home.ask("digest")
        assert not [*home.path.glob(".erase"), *home.path.glob("erase.order"), *home.path.glob("destroyed.json")]
        if not receipts(home.log):
            assert digest == place.digest, number
            destroy(home, ANN)
        place.is_destroyed(home)
        assert len(receipts(home.log)) == 1
        home.log.close()


def test_what_an_order_says_of_a_key_is_on_the_disk_before_the_key_goes(
    place: Place, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a power loss nothing is there but what was synced: of what is told later, the order has it all."""
    synced: set[int] = set()
    fsync, shred = os.fsync, switch.shred
    monkeypatch.setattr(os, "fsync", lambda fd: (fsync(fd), synced.add(os.fstat(fd).st_ino)))

    def lost(path: Path) -> None:
        order = home.path / "erase.order"
        assert order.stat().st_ino in synced
        assert path.name in json.loads(order.read_bytes())["told"]["keys"]
        shred(path)

    monkeypatch.setattr(switch, "shred", lost)
    settle = SqliteLog.settle_keys

    def settled(log: SqliteLog) -> None:
        if (told := log.path.with_name("destroyed.json")).exists():
            assert told.stat().st_ino in synced
        settle(log)

    monkeypatch.setattr(SqliteLog, "settle_keys", settled)
    destroy(home, ANN)
    place.is_destroyed(home)


@pytest.mark.parametrize("name", ["destroyed.json", "erase.order"])
def test_what_is_written_down_and_damaged_is_told_with_a_way_out(place: Place, home: Home, name: str) -> None:
    (home.path / name).touch()  # as a power loss leaves what was not synced
    with pytest.raises(LogError, match="is damaged") as told:
        home.log.append(place.ann[:1])
    assert told.value.way_out.startswith("delete it")
    told_by_doctor = [check.found for check in examine(home.path) if check.status == "failed"]
    assert told_by_doctor == [f"{told.value}: {told.value.way_out}"]
    with pytest.raises(LogError, match="is damaged"):
        SqliteLog(home.path / "log.sqlite")
    (home.path / name).unlink()
    for key in Keys(home.path).of(ANN):
        (home.path / FOLDER / key).unlink()
    destroy(home, ANN)
    assert [receipt.turns > 0 for _, receipt in receipts(home.log)] == [True]


def test_a_key_that_is_away_is_told_and_live_is_made_anew_when_it_is_back(place: Place, home: Home) -> None:
    (key,) = [key.key for key in listed_keys(home) if key.space == ANN]
    home.log.close()
    again = place.restored(home)
    aside = (again.path / FOLDER / key).replace(place.folder / "place" / "key")
    warned: list[str] = []
    again = Home(again.path, PROCESSORS, warn=warned.append)
    assert again.ask("digest") == place.never(again)
    assert ANN in warned[0]
    assert "bring it back" in warned[0]
    (outcome,) = again.log.append([place.ann[0]])
    assert isinstance(outcome, Refused)
    assert "is not in" in outcome.reason
    assert isinstance(again.log.append([place.bob[0]])[0], Duplicate)
    assert [check.status for check in examine(again.path) if check.name == "keys"] == ["look"]
    with erasing(again) as erase_from, pytest.raises(UsageError, match="cannot be looked at"):
        erase_from(Selection(space=BOB))
    aside.replace(again.path / FOLDER / key)
    assert again.ask("digest") == place.digest
    again.log.close()


@pytest.mark.parametrize(
    ("what", "said"),
    [("open", "by others than its owner"), ("garbled", "is no key"), ("another", "is not under the key")],
)
def test_a_key_that_cannot_be_used_is_refused_in_words(place: Place, home: Home, what: str, said: str) -> None:
    ann, bob = (next(key.key for key in listed_keys(home) if key.space == space) for space in (ANN, BOB))
    path = home.path / FOLDER / ann
    match what:
        case "open":
            path.chmod(0o644)
        case "garbled":
            path.write_bytes(b"{}")
        case _:
            path.write_bytes((home.path / FOLDER / bob).read_bytes())
    home.log.close()
    with pytest.raises(MnemologError, match=said) as error:
        decoded(Home(home.path, PROCESSORS))
    assert error.value.way_out


def test_keys_are_under_a_passphrase_where_there_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MNEMOLOG_ENCRYPTION", "yes")
    phrase = tmp_path / "phrase"
    phrase.write_text("seven blue herons\n")
    monkeypatch.setenv("MNEMOLOG_ENCRYPTION_PASSPHRASE_FILE", str(phrase))
    turn = TurnRecorded(ANN, "t", AT_APPEND, "x", "ann", "user", "hello")
    phrase.chmod(0o644)
    with pytest.raises(UsageError, match="by others"):
        open_log(tmp_path / "home").append([turn])
    phrase.chmod(0o600)
    assert isinstance(open_log(tmp_path / "home").append([turn])[0], Stored)
    assert isinstance(open_log(tmp_path / "home").append([turn])[0], Duplicate)
    assert b'"key"' not in b"".join(path.read_bytes() for path in (tmp_path / "home" / FOLDER).iterdir())
    phrase.write_text("eight blue herons")
    with pytest.raises(UsageError, match="not under this passphrase"):
        list(open_log(tmp_path / "home").read(0, 0))
    monkeypatch.delenv("MNEMOLOG_ENCRYPTION_PASSPHRASE_FILE")
    with pytest.raises(UsageError, match="under a passphrase"):
        list(open_log(tmp_path / "home").read(0, 0))


def test_what_cannot_be_is_refused_before_anything_is_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    turn = TurnRecorded(ANN, "t", AT_APPEND, "x", "ann", "user", "hello")
    home = Home(tmp_path / "old", PROCESSORS)
    home.log.append([turn])
    home.log.close()
    monkeypatch.setenv("MNEMOLOG_ENCRYPTION", "yes")
    home = Home(tmp_path / "old", PROCESSORS)
    assert isinstance(home.log.append([turn])[0], Duplicate)
    assert isinstance(home.log.append([replace(turn, id="u")])[0], Stored)
    with pytest.raises(UsageError, match=r"1 event of space 'ann', .* would stay in clear"):
        destroy(home, ANN)
    home.log.append([replace(turn, space=BOB)])
    with erasing(home) as erase_from:
        erase_from(Selection(space=BOB)).carry_out()
    destroy(home, ANN)  # for an erasure writes all of the log anew, under keys
    assert not [r for r in home.log.read(0, 0) if r.is_readable and r.space == ANN]
    monkeypatch.setenv("MNEMOLOG_KAFKA", "localhost:1")
    with pytest.raises(UsageError, match="Kafka"):
        open_log(tmp_path / "home")
    monkeypatch.delenv("MNEMOLOG_KAFKA")
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.ciphers.aead", None)
    with pytest.raises(UsageError, match="not installed"):
        open_log(tmp_path / "home")
    assert not (tmp_path / "home").exists()
    home.log.close()
