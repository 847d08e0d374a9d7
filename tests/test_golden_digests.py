"""What is derived changes with a version, or not at all: else a lineage would no longer tell what made a memory.

After a deliberate change raise the processor's `version` (or `streams.core.text.VERSION`) and write the digests anew:

    MNEMOLOG_WRITE_GOLDEN=1 pytest tests/test_golden_digests.py
"""

from __future__ import annotations

import hashlib
import json
import os
from functools import cache
from pathlib import Path

import orjson
import pytest

from processors import PROCESSORS
from streams.core.driver import fold
from streams.core.events import TurnRecorded
from streams.core.text import VERSION, read
from tests.laws.histories import long_talk, outside, wide

GOLDEN = Path(__file__).parent / "golden" / "digests.json"
HISTORIES = (outside(long_talk(600)), outside(wide(900, backlog=60)))


@cache
def digests() -> dict[str, dict[str, object]]:
    """A hash of everything each processor derives from fixed histories, and of the text features, with versions."""
    said = [event for events in HISTORIES for event in events if isinstance(event, TurnRecorded)]
    features = hashlib.sha256(b"".join(orjson.dumps(read(turn)) for turn in said))
    found: dict[str, dict[str, object]] = {"text": {"version": VERSION, "digest": features.hexdigest()[:16]}}
    rows = [row for events in HISTORIES for row in fold(PROCESSORS, events)]
    for processor in PROCESSORS:
        sha = hashlib.sha256()
        for row in rows:
            if type(row.event) in processor.emits:
                sha.update(orjson.dumps([*row.position, row.event]))
        found[processor.name] = {"version": processor.version, "digest": sha.hexdigest()[:16]}
    return found


if os.environ.get("MNEMOLOG_WRITE_GOLDEN"):
    GOLDEN.write_text(json.dumps(digests(), indent=2) + "\n")


@pytest.mark.parametrize("name", ["text", *(p.name for p in PROCESSORS)])
def test_output_changes_only_with_a_version(name: str) -> None:
    known, now = json.loads(GOLDEN.read_text())[name], digests()[name]
    assert now["version"] == known["version"], "the version rose: write the golden digests anew"
    assert now["digest"] == known["digest"], "the output changed: raise the version, then write the golden digests anew"
