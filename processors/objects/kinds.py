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
from typing import Literal

from processors.objects.events import Says
from processors.objects.passages import BITS, TABLE, compiled
from streams.core.patterns import lazily

_STRENGTH: dict[Says, float] = {
    "role": 0.85, "preference": 0.8, "deadline": 0.75, "goal": 0.7, "pattern": 0.65, "belief": 0.45,
}  # fmt: skip
"""How strong a statement of a kind is, in the order in which they are looked for."""
FACT = 0.5
"""How strong a plain fact is."""
_PART = re.compile("<([^<>=!?]+)>")


def _filled(fragment: str) -> str:
    """A fragment with its parts in the place of their names."""
    while _PART.search(fragment):
        fragment = _PART.sub(lambda part: f"(?:{TABLE['parts'][part[1]]})", fragment)
    return fragment


def _compiled(says: str, whose: Literal["own", "other"]) -> re.Pattern[str]:
    fragments = "|".join(TABLE["kinds"][says][whose])
    return lazily(_filled(f"<begins>(?:{fragments})"), re.IGNORECASE)


_DEADLINE = compiled("deadline")
_OWN, _OTHER = (
    [
        (says, BITS[f"{says}?"], _compiled(says, whose) if says in TABLE["kinds"] else _DEADLINE, strength)
        for says, strength in _STRENGTH.items()
    ]
    for whose in ("own", "other")
)


def kind(text: str, seen: int, own: bool) -> tuple[Says, float]:
    """What a text tells, and how strong that is. `seen`: its bits (see passages); `own`: it is kept of who says it."""
    for says, bit, pattern, strength in _OWN if own else _OTHER:
        if seen & bit and pattern.search(text):
            return says, strength
    return "fact", FACT
