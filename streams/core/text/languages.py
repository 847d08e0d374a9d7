"""Which language a text seems to be in: by its script, else by how many of its words are the stop words of one only."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from importlib.resources import files

from streams.core.text.cues import FOLDED, LANGUAGES

_KANA = re.compile("[\u3040-\u30ff]")
_HAN = re.compile("[\u4e00-\u9fff]")


def _telling() -> dict[str, str]:
    """Words by the language that they are a stop word of, those of several left out."""
    found: dict[str, str] = {}
    for code in LANGUAGES:
        table = tomllib.loads(files(__package__).joinpath(f"{code}.toml").read_text("utf-8"))
        for word in table["stop"].casefold().translate(FOLDED).split():
            found[word] = "" if word in found else code
    return found


_TELLING = _telling()


def language(text: str, words: Iterable[str]) -> str:
    """Its code, given its folded words too; English where nothing tells."""
    if not text.isascii():
        if _KANA.search(text):
            return "ja"
        if _HAN.search(text):
            return "zh"
    told = dict.fromkeys(LANGUAGES, 0)
    for word in words:
        if code := _TELLING.get(word):
            told[code] += 1
    return max(told, key=told.__getitem__)
