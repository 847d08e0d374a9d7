"""Does a turn ask for what is going on, and name nothing of it? "Good morning", "what's on today?", "where were we?".

Such a turn shares no word with what serves it: the newest work, what is due, the days that were named. What shows it is
that it is short of words that tell something alone (see commonness), and that it greets or asks.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from streams.core.text.commonness import telling

ASKS = frozenset(("question", "asking", "wh", "progress", "resume"))
FAR = frozenset(("progress", "resume"))
"""It asks how far things are, or goes on with them."""
ENDS = frozenset(("asking",))
"""It ends by asking."""
OVER = frozenset(("thanks", "closing"))
"""It ends talk, and asks for nothing."""
BESIDE = 2
"""Words that tell something, in a turn that greets or asks how far things are: "back from the dentist, where were we?".
The table of common words is English, and greetings are not."""


def asks_widely(cues: Collection[str], terms: Sequence[str], first: bool, openly: bool = False) -> bool:
    """Whether what is going on serves a turn, whatever its words; `first` where it begins its session, `openly` where
    its words ask for something and name no matter (see openly)."""
    said = {*cues}
    if said & OVER:
        return False
    if first and openly:
        return True
    words = telling(terms)
    if not first:  # its talk is before the model's eyes: "and then?" asks of that
        return not words and not said.isdisjoint(ENDS | FAR)
    if not words:
        return True
    return (words <= BESIDE and not said.isdisjoint(FAR | {"greeting"})) or (words == 1 and not said.isdisjoint(ASKS))
