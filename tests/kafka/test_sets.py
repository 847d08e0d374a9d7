"""Which rows make up a memory, and who looks after the clock."""

from __future__ import annotations

import time
from pathlib import Path

import orjson
import pytest
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType

from processors import NAMES, PROCESSORS
from streams.core.driver import ancestors
from streams.core.errors import UsageError
from streams.core.params import Params
from streams.gateways.doctor import examine
from streams.logs.kafka.connection import Connection, admin, run
from streams.logs.kafka.moves import ORDER, moving
from streams.logs.kafka.topics import MAX_RECORD_BYTES, Names, Spec, create, make
from streams.runtime.kafka.sets import SET, Lineages, emitted_by, is_live, lineages_of, set_id, sets_for
from tests.contracts.log_contract import turn
from tests.kafka.crew import PATIENCE, Crew


def params(**instead: object) -> dict[str, Params]:
    """The parameters of all processors, some of the working context others."""
    found = {p.name: p.params() for p in PROCESSORS}
    if instead:
        found["working_context"] = type(found["working_context"]).model_validate(instead)
    return found


LIVE, WIDE = lineages_of(PROCESSORS, params()), lineages_of(PROCESSORS, params(capacity=5))


def noted(*sets: Lineages) -> dict[str, str]:
    """Notes of a log whose workers emit these sets."""
    return {SET + set_id(emitted): orjson.dumps(emitted).decode() for emitted in sets}


def test_after_a_promotion_the_workers_of_the_promoted_look_after_the_clock_and_the_others_no_more() -> None:
    assert is_live({}, PROCESSORS, LIVE)
    assert not is_live({}, PROCESSORS, WIDE)
    promoted = {"params": orjson.dumps({"working_context": {"capacity": 5}}).decode()}
    assert is_live(promoted, PROCESSORS, WIDE)
    assert not is_live(promoted, PROCESSORS, LIVE)


def test_a_memory_reads_what_is_made_for_others_only_where_it_needs_it() -> None:
    assert set(sets_for(noted(LIVE, WIDE), LIVE)) == {set_id(LIVE)}
    part = {name: lineage for name, lineage in WIDE.items() if LIVE[name] != lineage}
    assert set(sets_for(noted(LIVE, part), WIDE)) == {set_id(LIVE), set_id(part)}


def test_a_worker_of_one_processor_folds_what_it_reads_and_emits_its_own() -> None:
    assert list(emitted_by(PROCESSORS, params(), ["open_efforts"])) == ["open_efforts"]
    assert [p.name for p in ancestors(PROCESSORS, ["open_efforts"])] == ["manifest", "open_efforts"]
    assert list(emitted_by(PROCESSORS, params(), ())) == list(NAMES)
    with pytest.raises(UsageError, match="there is no processor manifesto"):
        emitted_by(PROCESSORS, params(), ["manifesto"])


def test_the_doctor_asks_the_brokers_where_they_have_the_log(
    connection: Connection, tmp_path: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = Path(str(tmp_path)) / "home"
    home.mkdir()
    create(connection, (), 2)
    monkeypatch.setenv("MNEMOLOG_KAFKA", connection.servers)
    monkeypatch.setenv("MNEMOLOG_KAFKA_PREFIX", connection.prefix)
    (found,) = [check for check in examine(home) if check.name == "log"]
    assert found.status == "well"
    assert "on brokers, 0 records in 2 partitions" in found.found
    monkeypatch.setenv("MNEMOLOG_KAFKA_PREFIX", "nothing-here")
    (found,) = [check for check in examine(home) if check.name == "log"]
    assert found.status == "failed"
    assert "topics create" in found.found


def test_the_doctor_finds_a_log_that_the_brokers_are_about_to_delete(
    connection: Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    create(connection, (), 2)
    monkeypatch.setenv("MNEMOLOG_KAFKA", connection.servers)
    monkeypatch.setenv("MNEMOLOG_KAFKA_PREFIX", connection.prefix)

    def told() -> tuple[str, str]:
        (found,) = [(check.status, check.found) for check in examine(tmp_path) if check.name == "topics"]
        return found

    assert told() == ("well", "settings and partitions are what they must be")
    turns = Names(connection.prefix).turns

    async def shorten() -> None:
        async with admin(connection) as client:
            stamped = {"retention.ms": "600000", "retention.bytes": "-1", "message.timestamp.type": "LogAppendTime"}
            settings = stamped | {"max.message.bytes": str(MAX_RECORD_BYTES)}
            await client.alter_configs([ConfigResource(ConfigResourceType.TOPIC, turns, settings)])

    run(connection, shorten())
    status, found = told()
    assert (status, found.partition(": mend")[0]) == ("failed", f"{turns} has retention.ms=600000, not -1")


def test_the_doctor_tells_who_folds_what_was_set_aside_and_what_an_erasure_left(
    connection: Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MNEMOLOG_KAFKA", connection.servers)
    monkeypatch.setenv("MNEMOLOG_KAFKA_PREFIX", connection.prefix)
    beyond = {"erasure", "workers", "dead letters"}

    def told() -> dict[str, tuple[str, str]]:
        return {check.name: (check.status, check.found) for check in examine(tmp_path) if check.name in beyond}

    create(connection, (), 2)
    assert told() == {
        "workers": ("look", "nobody ever folded live: start `mnemolog worker`"),
        "dead letters": ("well", "there are none"),
    }
    with Crew(connection, tmp_path) as crew:
        crew.log.append([turn(str(n)) for n in range(3)])
        status, found = told()["workers"]
        assert (status, found) == (
            "look",
            f"set {crew.set} of live: no worker, 3 records behind: start `mnemolog worker`",
        )
        crew.send([(0, b"s", b"not JSON", [])])
        crew.start()
        crew.letters(1)
        deadline = time.monotonic() + PATIENCE
        while told()["workers"] != ("well", f"set {crew.set} of live: 1 worker, at the log's end"):
            assert time.monotonic() < deadline, told()
        letters = "1 record could not be folded: `mnemolog dead-letters` lists them"
        assert told()["dead letters"] == ("look", letters)
    old = Names(f"{connection.prefix}.0123abcd").turns

    async def died() -> None:
        async with moving(connection) as mover:
            await make(mover.client, [Spec(old, 1, {})], 1)
            mover.notes[ORDER] = "a copy"
            await mover.seal()

    run(connection, died())
    erasures = [check.found for check in examine(tmp_path) if check.name == "erasure"]
    assert ["takes nothing" in erasures[0], old in erasures[1], len(erasures)] == [True, True, 2]
