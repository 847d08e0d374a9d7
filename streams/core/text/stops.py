"""Where sentences end: not at the dot of a shortened word ("Dr.", "ext.", "Lindenstr."), nor behind a date or an hour
before a word in lower case ("am 9.2. um neun", "kommt am 12. um neun", "at 9 a.m. in the hall"), nor within a day of a
month ("19. Februar").

One rule in two forms: patterns for who looks for ends in a text, `goes_on` for who reads it word by word.
"""

from __future__ import annotations

import re

from streams.core.patterns import lazily

_SHORT = """
approx av avda bzw c.f ca d.h dr e.g evtl ext ggf i.e inc inkl mr mrs ms nr prof sr sra st tel vs z.b
"""
SHORTENED = frozenset(_SHORT.split())
"""Words that are written with a dot, without it."""
_DATE = lazily(r"\W*(?:\d{1,2}\.\d{1,2}|[ap]\.m)\.")


DIGITS = 2
"""Of the number of a day, at most."""
_MONTHS = "Jan|Jän|Feb|Mär|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez"
_OF_MONTH = lazily(rf"(?:{_MONTHS})[a-zä]*\W*")


_BEFORE_DAY = ("ab", "am", "bis", "dem", "den", "der", "seit", "vom", "zum")
"""German words behind which a number with a dot is a day."""


def _ended(behind: str = "") -> str:
    """A pattern of no width: here a sentence ended with a mark, which `behind`, of one character, follows."""
    shortened = "".join([rf"(?<!\b(?i:{re.escape(word)})\.{behind})" for word in sorted(SHORTENED)])
    numbered = rf"(?:(?<!\b[Nn]o\.{behind})|(?!\s*\d))"
    dates = r"\d\.\d", r"\d\.\d\d", r"\d\d\.\d", r"\d\d\.\d\d", "[ap]\\.m"
    days = [rf"(?i:{word}) {digits}" for word in _BEFORE_DAY for digits in (r"\d", r"\d\d")]
    dated = "".join([rf"(?<!\b{date}\.{behind})" for date in (*dates, *days)])
    monthly = rf"(?!(?<=\d\.{behind})\s*(?:{_MONTHS})[a-zä]*\b)"
    return rf"(?<=[.!?…]{behind}){monthly}{shortened}(?<!str\.{behind}){numbered}(?:{dated}|(?!\s*[a-zß-öø-ÿ]))"


STOP = f"[.!?…]{_ended()}"
"""A pattern: one mark that may end a sentence, where a space or nothing follows."""
BEHIND = _ended(r"\s")
"""A pattern of no width: behind such a mark, and the white space that follows."""
SPACE = rf"\s{BEHIND}"
"""A pattern: that white space."""


def is_shortened(word: str) -> bool:
    """Whether a word is a shortened one with its dot: no sentence ends behind it, and who is named is ("Dr. Amsel")."""
    return word[-1] == "." and word[:-1].lstrip("(\"'„«“").lower() in SHORTENED


def goes_on(word: str, after: str, before: str = "") -> bool:
    """Whether a sentence goes on behind a word that ends with a dot, before the word `after`: a shortened word, an
    initial, or a date or hour before a word in lower case; `before`: the word before it, where there is one."""
    bare = word[:-1].lstrip("(\"'„«“").lower()
    if is_shortened(word) or bare.endswith("str") or (len(word) == 2 and word[0].isupper() and word[0] != "I"):
        return True
    if bare == "no":
        return after[0].isdigit()
    if bare.isdigit():
        is_day = len(bare) <= DIGITS and before.lower() in _BEFORE_DAY and after[0].islower()
        return is_day or _OF_MONTH.fullmatch(after) is not None
    return after[0].islower() and _DATE.fullmatch(word) is not None
