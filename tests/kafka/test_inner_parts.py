"""What is leaned on in Faust and aiokafka though it is theirs alone; each is named, with its reason, in inner.py."""

from __future__ import annotations

import inspect
import re
import tomllib
from pathlib import Path
from typing import Any

import aiokafka
import faust
import pytest
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.producer import message_accumulator
from faust.transport.drivers import aiokafka as driver

from streams.runtime.kafka import inner

ROOT = Path(__file__).parent.parent.parent
PARTS: dict[str, Any] = {
    "_new_transport": faust.App,
    "_getmany": driver.Consumer,
    "_new_consumer_thread": driver.Consumer,
    "_create_consumer": driver.AIOKafkaConsumerThread,
    "_send_request_to_node": AIOKafkaAdminClient,
}
ATTRIBUTES: dict[str, Any] = {
    "_txn_manager": aiokafka.AIOKafkaProducer,
    "_message_accumulator": aiokafka.AIOKafkaProducer,
    "_batches": message_accumulator.MessageAccumulator,
    "_drain_waiter": message_accumulator.MessageBatch,
    "_client": aiokafka.AIOKafkaConsumer,
}
SETTINGS = ("_fetch_max_wait_ms", "_fetch_min_bytes", "_isolation_level")


@pytest.mark.parametrize("name", PARTS)
def test_an_inner_part_that_is_overridden_or_called_is_still_there(name: str) -> None:
    assert inspect.isfunction(getattr(PARTS[name], name, None)), f"{name} is gone: see inner.py for what needed it"


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_an_attribute_that_is_read_is_still_made(name: str) -> None:
    assert f"self.{name} = " in inspect.getsource(ATTRIBUTES[name].__init__)


def test_a_consumer_still_reads_its_settings_when_it_starts() -> None:
    source = inspect.getsource(aiokafka.AIOKafkaConsumer.start)
    assert [name for name in SETTINGS if f"self.{name}" not in source] == []


def test_what_is_touched_is_listed_and_nothing_else() -> None:
    listed = set(re.findall(r"^    (?:faust|aiokafka) \S*?(?: ?\S+)?\.(_\w+) ", inner.__doc__ or "", re.M))
    assert listed == {*PARTS, *ATTRIBUTES, *SETTINGS}
    ours = {name for module in (ROOT / "streams").rglob("kafka/*.py") for name in foreign(module)}
    assert ours - listed == set(), "touched, and not listed in inner.py"


def foreign(module: Path) -> set[str]:
    """Attributes of others than `self`, `cls` and our meters that begin with an underscore, in a module's code."""
    return set(re.findall(r"(?<!self)(?<!cls)(?<!meters)(?<!super\(\))(?<!os)\.(_[a-z]\w+)", module.read_text()))


def test_aiokafka_is_pinned_for_as_long_as_faust_breaks_with_the_next() -> None:
    """aiokafka 0.15 has no `parse_kafka_version`, which Faust 0.15.3 imports: with both, `import faust` fails.

    When this test fails, Faust does without it: lift the pin in pyproject.toml, and delete this test.
    """
    assert "parse_kafka_version" in Path(driver.__file__).read_text()
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]["kafka"]
    assert any(needed.startswith("aiokafka>=0.14,<0.15") for needed in extras)
