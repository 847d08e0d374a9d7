"""What is derived changes with a version, or not at all: else a lineage would no longer tell what made a memory.

After a deliberate change raise the processor's `version` (or `streams.text.VERSION`) and write the digests anew:

    MNEMOLOG_WRITE_GOLDEN=1 pytest tests/test_golden_digests.py
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import orjson
import pytest

from processors import PROCESSORS
from streams.driver import fold
from streams.events import TurnRecorded
from streams.text import VERSION, read
from tests.laws.histories import long_talk, outside

GOLDEN = Path(__file__).parent / "golden" / "digests.json"
TALK = outside(long_talk(800))


def digests() -> dict[str, dict[str, object]]:
    """A hash of everything each processor derives from a fixed talk, and of the text features, with their versions."""
    features = hashlib.sha256(b"".join(orjson.dumps(read(e)) for e in TALK if isinstance(e, TurnRecorded)))
    found: dict[str, dict[str, object]] = {"text": {"version": VERSION, "digest": features.hexdigest()[:16]}}
    rows = fold(PROCESSORS, TALK)
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
