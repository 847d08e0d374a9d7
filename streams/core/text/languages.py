"""Which language a text seems to be in: by its script, else by its stop words and words of time."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from importlib.resources import files

from streams.core.patterns import lazily
from streams.core.text.cues import FOLDED, LANGUAGES
from streams.core.text.times import VOCABULARY

_KANA = lazily("[\u3040-\u30ff]")
_HAN = lazily("[\u4e00-\u9fff]")


def _telling() -> dict[str, tuple[str, ...]]:
    """Stop words and words of time, by the languages that they are of."""
    found: dict[str, tuple[str, ...]] = {}
    for code in LANGUAGES:
        table = tomllib.loads(files(__package__).joinpath(f"{code}.toml").read_text("utf-8"))
        stop = table["stop"].casefold().translate(FOLDED).split()
        for word in {*stop, *VOCABULARY[code]}:
            found[word] = (*found.get(word, ()), code)
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
        for code in _TELLING.get(word, ()):
            told[code] += 1
    return max(told, key=told.__getitem__)
