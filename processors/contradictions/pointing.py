"""Corrections that only point at what they correct: "I meant Tuesday", "not X but Y"."""

from __future__ import annotations

import re
from collections.abc import Sequence

from processors.contradictions.clauses import EDGE, THOUSANDS, plain_words, told_of
from processors.contradictions.lexicon import GROUP, GUARD, WORDS
from processors.contradictions.phrases import PERSONS, PRONOUNS, Context, Statement
from processors.contradictions.values import ARTICLES, read_value

_POINTING = WORDS["pointing"]
_STRESSED = WORDS["stressed"]
"""Words of which one is in every correction that only points."""
MAX_POINTED = 120
_NO_PART = (PRONOUNS | PERSONS) - ARTICLES
"""Words that no value has that is told for itself."""
_ELLIPSIS = re.compile(
    r"^(?P<lead>.*?\b)?(?:(?:i (?:meant|mean)(?: to say)?|make (?:it|that)|(?:it |that )?should (?:be|"
    r"read|say|have been)|correction|scratch that)|"
    r"(?:it|that)(?:'s| is| got| was| has been)?(?: now| actually)?(?: been)? ?(?:moved to|changed to|"
    r"pushed to|rescheduled to|at|on|in)?|"
    r"rather)[,:]? +(?P<value>[^,.;!?]+?)(?:,? (?:not|instead of|"
    r"rather than) (?P<old>[^,.;!?]+?))?(?: instead| now| actually| please| then| though)*$"
)
_NOT_BUT = re.compile(
    r"^(?:[^,;]*?(?:it's|it is|that's|sorry|no|actually|oh|"
    r"wait),? )?not (?P<old>[^,.;!?]+?),? but (?:rather |actually |instead )?(?P<value>[^,.;!?]+)$"
)
_NOT = re.compile(
    r"^(?:(?:(?:it's|it is|that's|that is|sorry|no|actually|oh|wait),? )+(?:actually |"
    r"really )?(?P<value>[^,.;!?]+?),? |(?P<plain>[^,.;!?]+?), )(?:not|instead of|"
    r"rather than) (?P<old>[^,.;!?]+)$"
)
_STRONG = re.compile(
    r"\b(?:i meant|i mean|make (?:it|that)|should (?:be|read|say|have been)|correction|scratch that|"
    r"actually|sorry|oops|wait|moved|changed|pushed|rescheduled|now|not|instead|no)\b"
)


def may_point(words: Sequence[str]) -> bool:
    """Whether a correction that only points may stand among words."""
    return not (_POINTING.isdisjoint(words) or _STRESSED.isdisjoint(words))


def read_pointer(text: str, context: Context) -> Statement | None:
    """A correction that only points at what it corrects: "I meant Tuesday", "not X but Y", "it's on Friday now"."""
    changes, strong = told_of(text)[0], GUARD["strong"].search(text) is not None
    text = GUARD["lead"].sub("", THOUSANDS.sub("", text.strip(EDGE + " ")) + " ", 1).strip()
    if not (changes or _STRONG.search(text)) or GUARD["doubt"].search(text.replace("should", "").replace("rather", "")):
        return None
    for pattern in (_NOT_BUT, _NOT, _ELLIPSIS):
        if found := pattern.match(text):
            told = found.groupdict()
            if meant := _meant(told["value"] or told["plain"], told["old"], strong, context):
                return meant
    return None


def _meant(said: str, old: str | None, strong: bool, context: Context) -> Statement | None:
    """`strong` words may correct anything; others only what is of a known sort."""
    words = plain_words(said.split())
    if len(words) > 6 or any(word in _NO_PART or GROUP.get(word) in ("is", "was", "have", "do") for word in words):
        return None
    value = read_value([word for word in words if word not in ARTICLES], context.names)
    if not value.facets:
        return None
    replaced = read_value(plain_words(old.split()), context.names) if old else None
    return Statement(False, "", "one" if strong else "place", said.strip(), value, True, True, False, replaced)
