"""Replay, digest and promote."""

from __future__ import annotations

import dataclasses
import multiprocessing
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from processors import NAMES, PROCESSORS
from projections import stored
from streams.core.errors import MemoryFileError, UsageError
from streams.core.events import AT_APPEND, Outside, TurnRecorded, decode
from streams.logs.log import Stored
from streams.runtime.home import Home
from streams.runtime.replay import parse_settings, replay
from tests.processes import PIPE, Program
from tests.serving import serving

Talk = Callable[[int], list[Outside]]


def spread(events: list[Outside], spaces: int = 6) -> list[Outside]:
    """The same talk in several spaces."""
    return [dataclasses.replace(event, space=f"s{n}") for event in events for n in range(spaces)]


def settings(home: Home, *given: str) -> dict[str, object]:
    return {"params": parse_settings(home, home.live_params(), given)}


def test_a_digest_is_the_same_however_many_rows_are_read_at_a_time(
    home: Home, talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.log.append(talk(120))
    whole = home.ask("digest")
    for rows in (60, 7):
        monkeypatch.setattr(stored, "ROWS", rows)
        assert home.ask("digest") == whole


def test_a_replay_with_the_same_parameters_has_the_digest_of_live(home: Home, talk: Talk) -> None:
    home.log.append(spread(talk(120)))
    live = home.ask("digest")
    replay(home, "copied")
    assert home.ask("digest", memory="copied") == live
    home.memory_path("live").unlink()
    report = replay(home, "folded", processes=2)
    assert report.reused == []
    assert home.ask("digest", memory="folded") == live


def test_one_process_and_three_give_the_same_memory(home: Home, talk: Talk) -> None:
    home.log.append(spread(talk(100)))
    for processes in (1, 3):
        replay(home, f"by-{processes}", processes=processes)
    assert home.ask("digest", memory="by-1") == home.ask("digest", memory="by-3")


def test_only_lineages_that_differ_are_folded_again(home: Home, talk: Talk) -> None:
    home.log.append(talk(300))
    home.ask("spaces")
    report = replay(home, "stronger", **settings(home, "coactivation.eta=0.4"))  # type: ignore[arg-type]
    assert report.steps["coactivation"] > 0
    assert {name for name, steps in report.steps.items() if steps == 0} == set(NAMES) - {"coactivation"}


@pytest.mark.parametrize(
    "setting",
    ["coactivation.link_after=2", "working_context.capacity=2", "open_efforts.active=4", "ttl_escalations.normal=1"],
)
def test_folding_a_part_on_stored_events_equals_folding_everything(home: Home, talk: Talk, setting: str) -> None:
    home.log.append(talk(400))
    home.ask("spaces")
    changed = settings(home, setting)
    replay(home, "part", **changed)  # type: ignore[arg-type]
    home.memory_path("live").unlink()
    assert replay(home, "whole", **changed).reused == []  # type: ignore[arg-type]
    assert home.ask("digest", memory="part") == home.ask("digest", memory="whole")


def test_a_replayed_memory_goes_on_as_if_it_had_been_live(home: Home, talk: Talk) -> None:
    events = talk(400)
    home.log.append(events[:250])
    home.ask("spaces")
    changed = settings(home, "working_context.capacity=2")
    replay(home, "early", **changed)  # type: ignore[arg-type]
    home.log.append(events[250:])
    home.promote("early")
    replay(home, "late", **changed)  # type: ignore[arg-type]
    home.memory_path("live").rename(home.memory_path("kept"))
    replay(home, "whole", **changed)  # type: ignore[arg-type]
    assert home.ask("digest", memory="kept") == home.ask("digest", memory="whole")
    assert home.ask("digest", memory="late") == home.ask("digest", memory="whole")


def test_a_replay_that_reuses_a_copy_behind_the_log_folds_the_rest_on_top(home: Home, talk: Talk) -> None:
    events = talk(400)
    home.log.append(events[:150])
    changed = settings(home, "coactivation.eta=0.4")
    with serving(home):
        home.snapshot()
        home.log.append(events[150:300])  # the server copies at most once a second: the replay finds the copy above
        replay(home, "part", **changed)  # type: ignore[arg-type]
        home.log.append(events[300:])
        home.promote("part")
        live = home.ask("digest")
    home.memory_path("live").unlink()
    replay(home, "whole", **changed)  # type: ignore[arg-type]
    assert live == home.ask("digest", memory="whole")


def test_until_ends_each_space_before_its_first_later_event(home: Home, talk: Talk) -> None:
    events = talk(400)
    home.log.append(events)
    at = sorted(event.at for event in events)[200]
    until = home.ask("view", name="turns", order="position")[150]["at"]
    replay(home, "then", until=until)
    shown = home.ask("view", name="turns", order="position", memory="then")
    assert shown
    assert [turn["turn_id"] for turn in shown] == [
        turn["turn_id"] for turn in home.ask("view", name="turns", order="position", as_of=until)
    ]
    assert at > 0
    with pytest.raises(MemoryFileError, match="part of the log"):
        home.promote("then")


def test_a_replay_of_one_space_holds_that_space_alone(home: Home, talk: Talk) -> None:
    home.log.append(talk(200))
    home.log.append([TurnRecorded("other", "x", 5, "c", "ann", "user", "hello")])
    home.ask("spaces")
    replay(home, "one", space="other")
    assert [row["space"] for row in home.ask("spaces", memory="one")] == ["other"]


def test_a_replay_without_a_processor_leaves_out_what_reads_it(home: Home, talk: Talk) -> None:
    home.log.append(talk(200))
    report = replay(home, "less", without=["working_context"])
    assert set(report.steps) == set(NAMES) - {"working_context", "coactivation"}
    assert home.ask("view", name="context_entries", memory="less") == []
    assert home.ask("view", name="efforts", memory="less") != []
    with pytest.raises(UsageError, match="no processor 'nonsense'"):
        replay(home, "never", without=["nonsense"])


def test_what_is_known_of_people_is_told_without_the_tasks_and_notes_that_its_section_looks_at(home: Home) -> None:
    at = 1_770_000_000_000_000
    home.log.append([TurnRecorded("s", "t1", at, "a", "ann", "user", "Marta Lopez prefers detailed answers by email.")])
    report = replay(home, "less", without=["tasks", "ttl_escalations"])
    assert "objects" in report.steps
    live, less = (home.ask("context", space="s", session="a", window="columns", memory=name) for name in ("live", "less"))
    assert "Marta Lopez" in live["text"]
    assert less["text"] == live["text"]


def test_existing_memories_and_live_are_not_overwritten_by_chance(home: Home, talk: Talk) -> None:
    home.log.append(talk(20))
    replay(home, "taken")
    with pytest.raises(MemoryFileError, match="already"):
        replay(home, "taken")
    replay(home, "taken", replace=True)
    with pytest.raises(MemoryFileError, match="live"):
        replay(home, "live")
    with pytest.raises(UsageError, match="cannot name a memory"):
        replay(home, "../escape")


@pytest.mark.parametrize(
    ("setting", "complaint"),
    [
        ("nonsense", "no setting"),
        ("nobody.capacity=3", "called 'nobody'"),
        ("working_context.nothing=3", "no parameter 'nothing'"),
        ("working_context.capacity=many", "out of range"),
        ("working_context.capacity=0", "out of range"),
    ],
)
def test_a_wrong_setting_is_named(home: Home, setting: str, complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        parse_settings(home, home.live_params(), [setting])


def test_parameters_may_come_from_a_file(home: Home, tmp_path: Path) -> None:
    (tmp_path / "wide.toml").write_text("[working_context]\ncapacity = 5\n")
    found = parse_settings(home, home.live_params(), ["coactivation.eta=0.3"], tmp_path / "wide.toml")
    assert found["working_context"].model_dump()["capacity"] == 5
    assert found["coactivation"].model_dump()["eta"] == 0.3


REPLAYER = """
import sys
from pathlib import Path
from processors import PROCESSORS
from streams.runtime.home import Home
from streams.runtime.replay import replay
home = Home(Path(sys.argv[1]), PROCESSORS)
progress = lambda done, total: (print(done, flush=True), sys.stdin.readline())
replay(home, "half", processes=int(sys.argv[2]), progress=progress)
"""
"""Replays, and waits to be told to go on once something is done."""


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
@pytest.mark.parametrize("processes", ["1", "2"])
def test_an_interrupted_replay_leaves_no_half_memory(home: Home, how: signal.Signals, processes: str) -> None:
    home.log.append([TurnRecorded("s", f"t{n}", n, "c", "ann", "user", f"Item {n} fails.") for n in range(500)])
    process = Program(home.path, processes, code=REPLAYER, stdin=PIPE, stdout=PIPE, stderr=PIPE)
    assert process.stdout is not None
    assert process.stdout.readline()
    process.send_signal(how)
    process.communicate()
    assert home.memories() == []
    if how == signal.SIGINT:
        assert list(home.path.glob(".replay-*")) == []
    replay(home, "half", until="1970-01-01T00:00:00Z")
    assert home.memories() == ["half"]
    assert list(home.path.glob(".replay-*")) == []


def test_promote_makes_the_replay_live_and_keeps_the_old(home: Home, talk: Talk) -> None:
    home.log.append(talk(300))
    old = home.ask("digest")
    replay(home, "narrow", **settings(home, "working_context.capacity=1"))  # type: ignore[arg-type]
    home.log.append(talk(400)[300:])
    kept = home.promote("narrow")
    assert home.memories() == ["live", kept]
    assert home.live_params()["working_context"].model_dump()["capacity"] == 1
    shown = [row for row in home.ask("view", name="context_entries") if row["mode"] in ("expanded", "summary")]  # open
    sessions = [(row["space"], row["session"]) for row in shown]
    assert len(sessions) == len(set(sessions)) > 0
    assert len(home.ask("view", name="turns", memory=kept)) <= len(home.ask("view", name="turns"))
    assert old != home.ask("digest")


def feed_slowly(home: Path, name: str, count: int) -> None:
    """One of several processes that feed."""
    log = Home(home, PROCESSORS).log
    for n in range(count):
        turns = [TurnRecorded("s", f"{name}-{n}", AT_APPEND, name, name, "user", f"Item {n} of {name} needs a look.")]
        assert all(isinstance(outcome, Stored) for outcome in log.append(turns))
    log.close()


def test_promote_while_four_processes_feed(home: Home, talk: Talk) -> None:
    home.log.append(talk(100))
    home.ask("spaces")
    context = multiprocessing.get_context("spawn")
    feeders = [context.Process(target=feed_slowly, args=(home.path, f"feeder{i}", 100)) for i in range(4)]
    with serving(home):
        for feeder in feeders:
            feeder.start()
        for n, capacity in enumerate((2, 5)):
            replay(home, f"try-{n}", **settings(home, f"working_context.capacity={capacity}"))  # type: ignore[arg-type]
            home.promote(f"try-{n}")
            assert home.live_params()["working_context"].model_dump()["capacity"] == capacity
        for feeder in feeders:
            feeder.join()
            assert feeder.exitcode == 0
        live = home.ask("digest")
    ids = [decode(r.type, r.value).id for r in home.log.read(0, 0)]
    assert {f"feeder{i}-{n}" for i in range(4) for n in range(100)} <= set(ids)
    replay(home, "check")
    home.memory_path("live").unlink()
    replay(home, "fresh")
    assert home.ask("digest", memory="check") == live == home.ask("digest", memory="fresh")
