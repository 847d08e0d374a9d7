"""Which rows make up a memory, and who looks after the clock."""

from __future__ import annotations

import orjson
import pytest

from processors import NAMES, PROCESSORS
from streams.core.driver import ancestors
from streams.core.errors import UsageError
from streams.core.params import Params
from streams.gateways.doctor import examine
from streams.logs.kafka.connection import Connection
from streams.logs.kafka.topics import create
from streams.runtime.kafka.sets import SET, Lineages, emitted_by, is_live, lineages_of, set_id, sets_for


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
    from pathlib import Path

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
