"""A glance at words: whether they may state anything at all. Nine turns of ten hold a verb that could; few state.

A verb states nothing behind "to" or "you", nor before "it" or "so": its neighbours tell, without a parse.
"""

from __future__ import annotations

from collections.abc import Sequence

from processors.contradictions.lexicon import (
    CHANGE,
    CLASS,
    EVALUATIVE,
    EXPAND,
    FOLLOW,
    GROUP,
    LEAD_ON,
    STATE,
    TRIGGERS,
    VERBS,
    WORDS,
)
from processors.contradictions.values import ARTICLES, NUMBERS

_BEHIND = WORDS["dead_before"]
"""Words behind which no verb of a statement stands."""
_OPENING = WORDS["opening"] | WORDS["starting"]
"""Triggers that a sentence may begin with."""
_STOPS = ".,!?;:)"
MAX_BEFORE = 14
"""Words before a verb: what leads in, and a subject."""
MAX_BEHIND_ME = 5
AGENTS = WORDS["agents"]
JOINTS = WORDS["joints"]
ASIDE = frozenset(["because", "although", "though", "since", "while"])
THEIRS = frozenset(("her", "his", "their", "its"))
NO_SUBJECT = (WORDS["pronouns"] - {"this", "they", "he", "she", "there"} - THEIRS) | WORDS["no_subject"]
"""Words that no plain statement begins with."""
_AFTER_BE = WORDS["not_values"] - {"not"} - GROUP.keys()
_AFTER_ME = _AFTER_BE | ((EVALUATIVE | WORDS["idle_doing"]) - CLASS.keys() - GROUP.keys())
_AFTER_VERB = (WORDS["pronouns"] | {"so"}) - ARTICLES - GROUP.keys() - {"that", "people", "things", "one"}
_AFTER_HAVE = _AFTER_VERB | {"to", "been"}
_AFTER_CAN = _AFTER_VERB | WORDS["unable"]
_AFTER_MEASURED = _AFTER_VERB | WORDS["no_measure"]
_ASKED = frozenset(("i", "you", "we", "he", "she", "they", "it"))


def _after(trigger: str) -> frozenset[str]:
    """The words before which a trigger states nothing."""
    if trigger in ("i'm", "im", "we're", "am", "been"):
        return _AFTER_ME | _ASKED
    if trigger in EXPAND or GROUP.get(trigger) == "is":
        return _AFTER_BE | _ASKED
    if trigger in ("have", "has"):
        return _AFTER_HAVE
    if GROUP.get(trigger) == "can":
        return _AFTER_CAN
    if trigger in VERBS and all(verb.kind == "measured" for verb in VERBS[trigger]):
        return _AFTER_MEASURED
    return _AFTER_VERB


def _wanted(trigger: str) -> frozenset[str]:
    """The words of which one must follow; none where anything may."""
    if trigger in FOLLOW:
        return FOLLOW[trigger] | NUMBERS.keys() | CLASS.keys()
    if trigger in STATE:
        used = VERBS.get(trigger, ())
        return frozenset(("", "on", *GROUP, *CLASS, *WORDS["manner"])).union(*(verb.prepositions for verb in used))
    if trigger in _CHANGES or not all(verb.prepositions for verb in VERBS.get(trigger, ())):
        return frozenset()
    wanted = frozenset().union(*(verb.prepositions for verb in VERBS.get(trigger, ())))
    return wanted | GROUP.keys() if wanted else wanted


_CHANGES = frozenset().union(*CHANGE.values())
_AFTER = {trigger: (_after(trigger), _wanted(trigger)) for trigger in TRIGGERS}


def promising(words: Sequence[str]) -> bool:
    """Whether words in lower case, with their marks, may state something."""
    if TRIGGERS.isdisjoint(words):
        return False
    before = ""
    for at, word in enumerate(words):
        if word in _AFTER and (before not in _BEHIND or (before == "they" and word in CHANGE["shift"])):
            dead, wanted = _AFTER[word]
            after = words[at + 1] if at + 1 < len(words) else ""
            if (after.rstrip(".,!") in wanted if wanted else after not in dead) and _begun(words, at):
                return True
        before = word
    return False


def _begun(words: Sequence[str], at: int) -> bool:
    """Whether the clause of the trigger at a place begins as statements do."""
    begin = at
    while begin and (before := words[begin - 1])[-1] not in _STOPS and before not in JOINTS:
        if before == "and" and words[begin] in AGENTS:
            break
        begin -= 1
        if at - begin > MAX_BEFORE:
            return False
    if begin == at:
        return words[at] in _OPENING
    first = words[begin]
    aside = begin > 0 and words[begin - 1] in ASIDE and first not in LEAD_ON.get(words[begin - 1], ())
    if aside or (first in NO_SUBJECT and first not in LEAD_ON):
        return False
    return at - begin < MAX_BEHIND_ME or first not in ("i", "we") or words[begin + 1] in LEAD_ON["i"]
