"""Text within a limit of tokens: whole, or its head and tail."""

from __future__ import annotations

import re
from collections.abc import Iterable

from streams.core.patterns import lazily
from streams.core.text.terms import tokens

_WORD = lazily(r"\S+")


PER_TOKEN = 7
"""Characters of which each so many cost a token at least."""


def cost(text: str, known: int | None = None) -> int:
    """What a piece of text takes of the budget: its tokens (`known` where they were counted before), and one for seven
    characters at least.

    Why: counts add up over pieces joined by white space, and no run of blanks is free.
    """
    return max(tokens(text) if known is None else known, (len(text) + PER_TOKEN) // PER_TOKEN)


def first_bytes(text: str, most: int) -> str:
    """The beginning of a text that takes `most` bytes of UTF-8 at most: for records, which are bounded."""
    return text.encode()[:most].decode(errors="ignore")


def last_bytes(text: str, most: int) -> str:
    """The end of a text that takes `most` bytes of UTF-8 at most."""
    encoded = text.encode()
    return encoded[max(0, len(encoded) - most) :].decode(errors="ignore")


def _word_cost(word: str) -> int:
    return 1 + (len(word) - 1) // 7 if word.isascii() else tokens(word)


def _within(words: Iterable[re.Match[str]], limit: int) -> re.Match[str] | None:
    """The last of the words, in their order, that are within `limit` together."""
    last, spent = None, 0
    for word in words:
        spent += _word_cost(word.group())
        if spent > limit:
            break
        last = word
    return last


def _head(text: str, limit: int) -> str:
    text = text[: max(limit, 0) * 8].lstrip()
    if last := _within(_WORD.finditer(text), limit):
        return text[: last.end()]
    part = text[: max(limit, 0) * 7]
    while part and tokens(part) > limit:
        part = part[: len(part) // 2]
    return part.rstrip()


def _tail(text: str, limit: int) -> str:
    text = text[len(text) - min(len(text), max(limit, 0) * 8) :].rstrip()
    if last := _within(reversed(list(_WORD.finditer(text))), limit):
        return text[last.start() :]
    part = text[len(text) - min(len(text), max(limit, 0) * 7) :]
    while part and tokens(part) > limit:
        part = part[(len(part) + 1) // 2 :]
    return part.lstrip()


def clip(text: str, limit: int, id: str = "", head: float = 1.0, known: int = 0) -> str:
    """`text` within `limit` tokens: whole, or its head and tail and, where given, the `id` under which the rest is.

    `known` are its tokens where they were counted before: an oversize text is then not read again.
    """
    text = text.strip()
    least = (len(text) + PER_TOKEN) // PER_TOKEN
    if (known or least - 1) <= limit and least <= limit and (known or cost(text)) <= limit:
        return text
    mark = f" […] mnemolog show {id} […] " if id else " … "
    room = limit - cost(mark)
    if room < 2:
        return mark.strip() if cost(mark.strip()) <= limit else ""
    first = _head(text, int(room * head))
    last = _tail(text, room - int(room * head)) if head < 1 else ""
    return f"{first}{mark}{last}".strip()
