"""Halves of characters: one function says what becomes of them."""

from __future__ import annotations

import re
from pathlib import Path

from streams.core.halves import whole_text

ROOT = Path(__file__).parents[1]


def test_each_half_of_a_character_is_a_question_mark_and_all_else_stays() -> None:
    assert whole_text("caf\u00e9 \ud83d and \U0001f600\udc00") == "caf\u00e9 ? and \U0001f600?"


def test_one_function_says_what_becomes_of_halves() -> None:
    both = re.compile(r"""encode\([^)]*errors=["']replace["']\)\s*\.decode\(""")
    sources = [path for room in ("streams", "projections", "processors") for path in (ROOT / room).rglob("*.py")]
    found = [path.relative_to(ROOT).as_posix() for path in sources if both.search(path.read_text("utf-8"))]
    assert found == ["streams/core/halves.py"]
