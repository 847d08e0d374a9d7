"""A home in shards: what one projector would gather, several do, each for some partitions."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Thread

import pytest

from mnemolog import Memory
from processors import PROCESSORS
from streams.core.errors import UsageError
from streams.core.events import Outside, TurnRecorded
from streams.gateways.kafka import projected
from streams.logs.kafka.connection import Connection
from streams.logs.kafka.log import KafkaLog
from streams.logs.kafka.records import partition_of
from streams.logs.kafka.topics import create
from streams.runtime.home import Home
from streams.runtime.home.folder import Shard
from streams.runtime.kafka import promotion
from streams.runtime.replay import parse_settings, replay
from tests.kafka.hands import Hands, folded, spread
from tests.processes import PIPE, Program, run
from tests.serving import serving

Talk = Callable[[int], list[Outside]]
SPACES = [f"team-{n}" for n in range(5)]


@pytest.fixture
def whole(connection: Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, talk: Talk) -> Iterator[Home]:
    """A home in no shards, on a log of 3 partitions that workers have folded."""
    create(connection, (), 3)
    monkeypatch.setenv("MNEMOLOG_KAFKA", connection.servers)
    monkeypatch.setenv("MNEMOLOG_KAFKA_PREFIX", connection.prefix)
    found = Home(tmp_path / "whole", PROCESSORS)
    found.log.append(spread(talk(60)))
    Hands(log_of(found), together=True).make()
    yield found
    found.close()


@pytest.fixture
def home(whole: Home, tmp_path: Path) -> Iterator[Home]:
    """A home on the same log in two shards."""
    yield from sharded(tmp_path / "home")


def sharded(path: Path) -> Iterator[Home]:
    for said in ("1/2", "2/2"):
        projected(path, said).mkdir(parents=True)
    found = Home(path, PROCESSORS)
    yield found
    found.close()


def log_of(home: Home) -> KafkaLog:
    assert isinstance(home.log, KafkaLog)
    return home.log


def ends(home: Home) -> str:
    """The position of the log's end."""
    return ",".join(f"{partition}:{end - 1}" for partition, end in log_of(home).ends().items() if end)


def ran(home: Home, *words: str) -> str:
    """What a command prints, in which a warning is an error."""
    environ = os.environ | {"MNEMOLOG_HOME": str(home.path), "PYTHONWARNINGS": "error"}
    done = run(*words, env=environ, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_shards_hold_together_what_one_projector_holds_and_each_only_its_own(home, whole, tmp_path):
    assert home.ask("digest") == whole.ask("digest") == folded(log_of(whole), tmp_path)
    shards = home.shards.homes
    held = [{row["space"] for row in shard.ask("spaces")} for shard in shards]
    assert held[0] | held[1] == set(SPACES)
    assert not held[0] & held[1]
    for n, spaces in enumerate(held):
        assert {partition_of(space, 3) % 2 for space in spaces} == {n}
    assert not (home.path / "live.duckdb").exists()


def test_a_question_about_a_space_has_one_answer_whichever_shard_has_it(home, whole):
    with serving(whole):
        for space in SPACES:
            sessions = {row["session"] for row in whole.ask("view", name="sessions", space=space)}
            for session in sorted(sessions)[:2]:
                asked = {"space": space, "session": session}
                assert home.ask("context", **asked) == whole.ask("context", **asked)
            turns = whole.ask("view", name="turns", space=space, order="position DESC", limit=3)
            assert home.ask("view", name="turns", space=space, order="position DESC", limit=3) == turns
            query = {"space": space, "query": turns[0]["content"][:60]}
            assert home.ask("recall", **query) == whole.ask("recall", **query)


def test_what_is_asked_of_all_spaces_is_answered_over_all_shards(home, whole):
    order = {"name": "efforts", "order": "last_at DESC, space, effort", "limit": 9}
    assert home.ask("view", **order) == whole.ask("view", **order)
    assert home.ask("spaces") == whole.ask("spaces")
    queries = [{"id": str(n), "space": SPACES[n % 5], "query": "release"} for n in range(7)]
    assert home.ask("recall_batch", queries=queries) == whole.ask("recall_batch", queries=queries)
    (turn,) = whole.ask("view", name="turns", space="team-3", limit=1)
    assert home.ask("show", id=turn["turn_id"], space="team-3") == whole.ask("show", id=turn["turn_id"], space="team-3")
    with pytest.raises(UsageError, match="several spaces"):
        home.ask("memory", id=turn["turn_id"])


def test_questions_as_of_a_position_are_answered_by_who_has_its_partition(home, whole):
    place = {f"team-{n}": partition_of(f"team-{n}", 3) for n in range(5)}
    for space, partition in place.items():
        asked = {"name": "turns", "space": space, "as_of": f"{partition}:20", "order": "position"}
        assert home.ask("view", **asked) == whole.ask("view", **asked)
    moment = f"{place['team-0']}:30"
    everything = {"name": "turns", "as_of": moment, "order": "space, position"}
    assert home.ask("view", **everything) == whole.ask("view", **everything)
    other = next(space for space, partition in place.items() if partition != place["team-0"])
    with pytest.raises(UsageError, match="is no position of space"):
        home.ask("view", name="turns", space=other, as_of=moment)


def test_sql_analyses_diff_and_digest_see_all_shards(home, whole):
    statement = "SELECT space, count(*) AS turns FROM turns GROUP BY space ORDER BY space"
    assert ran(home, "sql", statement, "--json") == ran(whole, "sql", statement, "--json")
    assert sorted(ran(home, "query", "sessions", "--all-spaces", "--json").splitlines()) == sorted(
        ran(whole, "query", "sessions", "--all-spaces", "--json").splitlines()
    )
    replay(home, "again")
    assert "the same" in ran(home, "diff", "live", "again")
    assert ran(home, "digest", "--json") == ran(whole, "digest", "--json")
    with pytest.raises(AssertionError, match="SQL sees the memory alone"):
        ran(home, "sql", "COPY turns TO '/tmp/turns.csv'")


def test_the_doctor_looks_at_each_shard(home, whole):
    replay(home, "again")
    checks = {row["check"]: row for row in map(json.loads, ran(home, "doctor", "--json").splitlines())}
    assert {name: checks[name]["status"] for name in ("shard-1of2 live", "shard-2of2 live", "again")} == {
        "shard-1of2 live": "well", "shard-2of2 live": "well", "again": "well",
    }  # fmt: skip
    assert "at the log's end" in checks["shard-2of2 live"]["found"]
    rows = [json.loads(line) for line in ran(home, "memories", "--json").splitlines()]
    assert {row["memory"]: row["behind"] for row in rows} == {"live": 0, "again": 0}


def test_a_replay_takes_from_all_shards_and_a_promotion_is_one_of_each(
    home: Home, whole: Home, talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(promotion, "PATIENCE", 120.0)
    monkeypatch.setattr("streams.runtime.replay.WORKERS", 120.0)
    old = home.ask("digest")
    wide = parse_settings(home, home.live_params(), ["working_context.capacity=5"])
    report = replay(home, "wide", wide)
    assert "manifest" in report.reused
    assert "working_context" not in report.reused
    replay(whole, "wide", wide)
    expected = whole.ask("digest", "wide")
    assert home.ask("digest", "wide") == expected
    hands = Hands(log_of(home), wide, together=True)
    workers = Thread(target=hands.make)
    workers.start()
    kept = home.promote("wide")
    workers.join()
    assert home.ask("digest") == expected
    assert home.ask("digest", kept) == old
    assert home.memories() == ["live", kept]
    assert not home.memory_path("wide").exists()
    home.log.append(spread(talk(65)))
    hands.make()
    home.after = ends(home)
    turns = sum(isinstance(event, TurnRecorded) for event in talk(65))
    assert [row["turns"] for row in home.ask("spaces")] == [turns] * 5


def test_a_home_is_in_one_number_of_shards_and_says_so(home, whole, tmp_path):
    for said in ("3/2", "0/2", "1", "a/b", "1/2/3"):
        with pytest.raises(UsageError, match="is no shard"):
            Shard.said(said)
    with pytest.raises(UsageError, match="is in 2 shards, not 3"):
        projected(home.path, "1/3")
    with pytest.raises(UsageError, match="is in 2 shards") as raised:
        projected(home.path, "")
    assert "--shard 1/2" in raised.value.way_out
    whole.ask("spaces")
    with pytest.raises(UsageError, match="a live that is not in shards"):
        projected(whole.path, "1/2")
    (home.path / "shard-1of3").mkdir()
    with pytest.raises(UsageError, match="shards of 2 and of 3"):
        Home(home.path, PROCESSORS).ask("spaces")


def started(home: Home, *words: str) -> Program:
    """A command that serves, once it does."""
    program = Program(*words, env=os.environ | {"MNEMOLOG_HOME": str(home.path)}, stdout=PIPE, text=True)
    assert "serving" in program.stdout.readline()
    return program


def ended(program: Program) -> None:
    """Ends a command as a crash would."""
    program.kill()
    program.wait()
    program.stdout.close()


def test_a_shard_that_is_killed_is_missed_by_nobody(home: Home, whole: Home, talk: Talk) -> None:
    shards = {n: started(home, "project", "--shard", f"{n}/2") for n in (1, 2)}
    front = started(home, "serve")
    try:
        there = {n: next(s for s in SPACES if partition_of(s, 3) % 2 == n - 1) for n in (1, 2)}
        before = {n: home.ask("view", name="turns", space=space, order="position") for n, space in there.items()}
        ended(shards[1])
        memory = Memory(there[2], home=home.path, start=False)
        assert memory.ask("view", name="turns", space=there[2], order="position") == before[2]
        memory.record("killed", "user", "What is left when a shard is gone?")
        Hands(log_of(home), together=True).make()
        home.after = ends(home)
        assert len(home.ask("view", name="turns", space=there[2])) == len(before[2]) + 1
        assert memory.ask("view", name="turns", space=there[1], order="position") == before[1]  # opened for this once
        shards[1] = started(home, "project", "--shard", "1/2")
        assert home.ask("view", name="turns", space=there[1], order="position") == before[1]
        whole.after = home.after
        assert home.ask("digest") == whole.ask("digest")
    finally:
        for program in (front, *shards.values()):
            ended(program)
