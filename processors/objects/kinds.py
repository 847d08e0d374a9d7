"""What a statement tells, by the grammar of its clauses: a preference, role, goal, pattern, belief or deadline.

    "I love sailing on the lake"                     a preference: who speaks is the subject, and what is loved is named
    "I love that you chose pottery"                  none: it praises who is spoken to
    "My dreams are coming true"                      no goal: nobody wants to do anything
    "Every Friday I visit the aquarium"              a pattern: somebody does something, again and again
    "My turtles always cheer me up"                  none: what always is, is no habit
    "I think good stories come from experience"      a belief: what is thought is a view of its own
    "I think it was called Inception"                none: a hedge

A word alone shows no kind: it must be the verb of a clause whose subject is the one of whom the statement is kept, and
say of what, in the present. What shows none is a plain fact. The fragments are data, see words.toml.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from processors.objects.events import Says
from processors.objects.passages import BITS, TABLE, compiled
from streams.core.patterns import lazily

FACT = 0.5
"""How strong a plain fact is."""
_STRENGTH: dict[Says, float] = {
    "role": 0.85, "preference": 0.8, "deadline": 0.75, "goal": 0.7, "pattern": 0.65, "belief": 0.45,
}  # fmt: skip
"""How strong a statement of a kind is, in the order in which they are looked for."""
_CALLS = [(says, BITS[f"{says}?"], strength) for says, strength in _STRENGTH.items()]
_CALL = sum(bit for _, bit, _ in _CALLS)
_PART = lazily("<([^<>=!?]+)>")
_NO_HABITS = frozenset(TABLE["people"]["no_habits"].split())


class _Whose(NamedTuple):
    """How clauses begin that are of somebody: of who speaks, or of one who is spoken of."""

    subject: re.Pattern[str]
    behind: dict[str, re.Pattern[str]]
    """By kind, what stands behind the subject."""
    whole: dict[str, re.Pattern[str]]
    """By kind, the whole clause."""


def _filled(fragment: str) -> str:
    """A fragment with its parts in the place of their names."""
    while _PART.search(fragment):
        fragment = _PART.sub(lambda part: f"(?:{TABLE['parts'][part[1]]})", fragment)
    return fragment


def _compiled(*fragments: str) -> re.Pattern[str]:
    return lazily(_filled("|".join(fragments)), re.IGNORECASE)


def _whose(subject: str, behind: str, whole: str) -> _Whose:
    kinds: dict[str, dict[str, list[str]]] = TABLE["kinds"]
    return _Whose(
        _compiled(subject),
        {says: _compiled(*table[behind]) for says, table in kinds.items()},
        {says: _compiled(*table[whole]) for says, table in kinds.items() if table[whole]},
    )


_BEGINS = _compiled("<begins>")
_OWN, _OTHER = _whose("<subject>", "mine", "own"), _whose("<she>", "hers", "other")
_DEADLINE = compiled("deadline")
_ADVERBS = lazily(rf"(?<=\w )(?:{'|'.join(TABLE['adverbs']['words'].split())}) ", re.IGNORECASE)
"""Words between a subject and its verb that change nothing of what a clause tells."""


def kind(text: str, seen: int, own: bool) -> tuple[Says, float]:
    """What a text tells, and how strong that is. `seen`: its bits (see passages); `own`: it is kept of who says it."""
    if not seen & _CALL:
        return "fact", FACT
    whose = _OWN if own else _OTHER
    clauses: list[_Clause] | None = None
    for says, bit, strength in _CALLS:
        if not seen & bit:
            continue
        if says == "deadline":
            if _DEADLINE.search(text):
                return says, strength
            continue
        if clauses is None:
            text = _ADVERBS.sub("", text)
            clauses = [*_clauses(text, whose.subject)]
        if _shows(text, says, whose, clauses):
            return says, strength
    return "fact", FACT


class _Clause(NamedTuple):
    begin: int
    behind: int
    """Where its subject ends; -1 where it has none of those that are looked for."""
    kin: bool
    """Whether its subject is one of the speaker's people: what they do again and again is a pattern of the speaker's
    days, what they like or want is theirs."""


def _clauses(text: str, subject: re.Pattern[str]) -> Iterator[_Clause]:
    """The clauses of a text."""
    for begins in _BEGINS.finditer(text):
        found = subject.match(text, begins.end())
        yield _Clause(begins.end(), found.end() if found else -1, found is not None and found.lastindex is not None)


def _shows(text: str, says: str, whose: _Whose, clauses: Sequence[_Clause]) -> bool:
    """Whether a clause shows a kind."""
    for begin, behind, kin in clauses:
        may = behind >= 0 and (says == "pattern" or not kin)
        found = whose.behind[says].match(text, behind) if may else None
        if found is None and says in whose.whole:
            found = whose.whole[says].match(text, begin)
        if found is not None and not (found.lastindex and _is_no_habit(found[found.lastindex].lower())):
            return True
    return False


def _is_no_habit(verb: str) -> bool:
    """Whether a verb tells of what was, or of what is not done."""
    return verb in _NO_HABITS or verb.endswith("ed")
