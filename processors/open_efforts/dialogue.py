"""Which effort a user's turn belongs to where few speak: the likeliest of staying, returning and beginning.

A log-linear choice (multinomial logit, McFadden 1974) among the current effort, the session's others, those of other
sessions that share words with the turn or were active last, and a new one:

    worth(candidate) = sum of weight * what is seen                  p(candidate) = softmax of the worths
    w(f) = rarity in general (see commonness) * (1 - log df(f) / log n)     n active efforts, df(f) of them speak of f

What is seen is named in SHARED (of every effort), STAYS, RETURNS, ELSEWHERE and BEGINS. Weights are learned by
tests/bench/learn_efforts.py: on dialogues of many sessions where people come back to their work, by several authors,
and on interleaved task dialogues, first as people threaded them, then as these weights do, so that they mend their own
errors. Each author measured on weights of the others.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from math import exp, log
from operator import mul
from typing import TYPE_CHECKING, Annotated

from processors.open_efforts.index import Active, Scene
from processors.open_efforts.matching import LOGS, slots_of
from processors.open_efforts.near import UNKNOWN
from processors.open_efforts.near import seen as near_to
from processors.open_efforts.records import Effort
from processors.open_efforts.topics import TELLS
from streams.core.params import Params, completed, param
from streams.core.processor import State
from streams.core.text import Text
from streams.core.text.commonness import CLASSES

if TYPE_CHECKING:
    from processors.open_efforts.placing import Placing

_SMALL = frozenset(("greeting", "thanks", "welcome", "closing"))
_DAILY = """
weather weekend rain raini snow sun sunni cold warm hot love beauti fine great tire sleep slept coffe lunch dinner
breakfast holiday vacat morn even night today feel well hope wetter wochenend regen sonn heut temp jour tiempo hoy dia
"""
_CHAT = frozenset(_DAILY.split())
"""Stems of daily small talk. A turn that says anything else as well is not small talk."""
ASKING = frozenset(("question", "opening", "asks", "wh", "shift"))

SHARED = (
    "words",
    "share",
    "names",
    "nothing",
    "asked",
    "size",
    "words of size",
    "another's",
    "words, dense",
    "other names",
    "turns",
    "since",
    "share, asked",
    "share, goes on",
)
"""Of an effort: rarity of the shared words; their share of the turn's; of shared names; whether nothing is shared; the
share that its last answer spoke of; how many words it has (log); rarity of shared words times that; whether only other
users worked on it; rarity of shared words times how long turns of the session are (log); whether both have names and
share none; how many turns it has, and how often another effort was gone on with since it was worked on last (log); the
share of the words where the turn before asked, and as far as the turn's words say that they stay with their matter."""
STAYS = (
    "stays", "stays, asked", "stays, goes on", "stays, another user", "stays, length", "stays, greeting",
    "stays, shift", "stays, resume", "stays, young", "stays, done", "stays, cut", "stays, habit",
    "stays, strange", "stays, dense", "stays, said", "stays, ends",
)  # fmt: skip
"""Of the current effort: that it is; the turn before asked; was by the same; by another user; the turn's length (log);
its cues; the effort has two turns at most; is concluded or was left with good-bye; a segment begins; how often the
session's users stay (log odds); nothing is shared, times the length; what the
turn's words say of staying and of ending (see streams/core/text/acts)."""
RETURNS = (
    "returns", "returns, many", "returns, done", "returns, resume", "returns, dense", "returns, unheard",
    "returns, said", "returns, ends",
)  # fmt: skip
"""Of the session's others: that it is one; how many there are (log); it is done; words of return; share of words that
no effort has; what the turn's words say of staying and of ending."""
ELSEWHERE = (
    "elsewhere",
    "elsewhere, at first",
    "elsewhere, many",
    "elsewhere, resume",
    "elsewhere, done",
    "elsewhere, share",
    "elsewhere, names",
    "elsewhere, dense",
    "elsewhere, unheard",
    "elsewhere, said",
    "elsewhere, ends",
)
"""Of efforts of other sessions: the same; and whether the session has no effort yet; the share of words and the names
again."""
BEGINS = (
    "new", "new, at first", "new, unheard", "new, length", "new, few", "new, many", "new, greeting", "new, opening",
    "new, shift", "new, also", "new, resume", "new, no user", "new, comes", "new, greets",
    "new, said", "new, ends",
)  # fmt: skip
"""Of a new one: the session has none yet; share of words that no effort has; the turn's length (log); two words at
most; how many efforts there are (log); cues; no user has spoken; its speaker comes
into a session under way and asks; who greets at first; what the turn's words say of opening and of ending."""
ANSWERED = (
    "answer, before", "answer, words", "answer, share", "answer, names", "answer, nothing", "answer, words of size",
    "answer, new", "answer, unheard",
)  # fmt: skip
"""Of any, once an assistant has answered: its worth before, and what is seen of words that the answer adds (see
second_look)."""
ALIKE = "alike", "alike, one", "alike, last", "alike, user's"
BEGINS_ALIKE = "new, alike", "new, alike one", "new, alike last", "new, alike user's"
ANSWERED_ALIKE = "answer, alike", "answer, alike one", "answer, alike last", "answer, alike user's"
"""Behind these, where alike words count: how near the turn is to turns of the effort (see near); of a new one the most
of any; and once an assistant has answered, how near the answer is."""
NEAR, LAST = 4, 2
"""Efforts of other sessions that are weighed: by their words, and those last active."""
_WORDS, _NAMES, _SIZE = 3.0, 2.0, 3.0
_SILENT = [0, 0, 0]

LEARNED: dict[str, float] = {
    "words": 1.52,
    "share": 1.4,
    "names": 0.14,
    "nothing": -0.73,
    "asked": 0.73,
    "size": 0.26,
    "words of size": -0.59,
    "another's": -0.75,
    "words, dense": -0.09,
    "other names": -0.4,
    "stays": 1.11,
    "stays, asked": 1.08,
    "stays, goes on": -0.37,
    "stays, another user": 0.08,
    "stays, length": -0.42,
    "stays, greeting": -0.31,
    "stays, shift": -0.24,
    "stays, resume": -0.08,
    "stays, young": 1.07,
    "stays, done": -0.91,
    "stays, cut": -0.14,
    "stays, habit": -0.13,
    "stays, strange": 0.29,
    "stays, dense": 0.0,
    "returns": -1.0,
    "returns, many": -0.28,
    "returns, done": -0.92,
    "returns, resume": -0.01,
    "returns, dense": 0.88,
    "elsewhere": -1.79,
    "elsewhere, at first": 0.21,
    "elsewhere, many": -0.11,
    "elsewhere, resume": 0.11,
    "elsewhere, done": -1.55,
    "elsewhere, share": 2.66,
    "elsewhere, names": -0.04,
    "elsewhere, dense": -1.0,
    "new": 1.68,
    "new, at first": -0.21,
    "new, unheard": -1.49,
    "new, length": 0.76,
    "new, few": 0.64,
    "new, many": -0.89,
    "new, greeting": 1.66,
    "new, opening": 0.33,
    "new, shift": -0.16,
    "new, also": -0.06,
    "new, resume": -0.02,
    "new, no user": -1.89,
    "new, comes": -0.79,
    "new, greets": 0.89,
    "new, said": 0.39,
    "turns": -0.49,
    "since": 0.0,
    "stays, said": 0.32,
    "answer, before": 0.77,
    "answer, words": 1.22,
    "answer, share": 1.27,
    "answer, names": 0.37,
    "answer, nothing": -0.13,
    "answer, words of size": -0.81,
    "answer, new": 0.95,
    "answer, unheard": -0.22,
    "share, asked": -2.08,
    "share, goes on": -0.56,
    "stays, ends": -0.03,
    "returns, unheard": -1.3,
    "returns, said": 0.25,
    "returns, ends": 0.02,
    "elsewhere, unheard": 0.36,
    "elsewhere, said": -0.01,
    "elsewhere, ends": 0.03,
    "new, ends": -0.02,
    "alike": 2.93,
    "alike, one": 0.18,
    "alike, last": -0.81,
    "alike, user's": -0.03,
    "new, alike": 1.48,
    "new, alike one": 0.84,
    "new, alike last": -0.38,
    "new, alike user's": -0.31,
    "answer, alike": -0.67,
    "answer, alike one": 0.54,
    "answer, alike last": 0.49,
    "answer, alike user's": 0.5,
}
"""82 authors' voices, 72 interleaved sessions, three rounds; of alike words two, with the others as they were."""


class Weights(Params):
    """How much each kind of evidence counts, in log odds."""

    weights: Annotated[dict[str, float], completed(LEARNED, "weights")] = param(
        LEARNED, "log odds", "how much each thing that is seen speaks for an effort; see dialogue",
        source="learned by tests/bench/learn_efforts.py",
    )  # fmt: skip

    @cached_property
    def laid(self) -> tuple[tuple[float, ...], ...]:
        """The weights in the order of what is seen of each kind of candidate."""
        efforts = [(*SHARED, *kind, *ALIKE) for kind in (STAYS, RETURNS, ELSEWHERE)]
        return tuple(tuple(self.weights[name] for name in kind) for kind in (*efforts, (*BEGINS, *BEGINS_ALIKE)))

    @cached_property
    def answered(self) -> tuple[float, ...]:
        """Those of the second look."""
        return tuple(self.weights[name] for name in (*ANSWERED, *ANSWERED_ALIKE))


Seen = tuple[int, tuple[float, ...]]
"""The kind of a candidate (0 stays, 1 returns, 2 elsewhere, 3 begins) and what is seen of it."""


def evidence(
    state: State, turn: Placing, scene: Scene, common: int, apart: float, alike: bool
) -> tuple[dict[str, Seen], dict[str, float]]:
    """What is seen of each candidate, "" for a new effort; and the share of the turn's words that each effort has."""
    index, session, cues = turn.index, turn.session, turn.text.cues
    n = len(index.slots)
    top = LOGS[n + 1] + 0.5
    among, get, asked = scene.mask, index.terms.get, index.asked
    words: dict[int, float] = {}
    answers: dict[int, float] = {}
    total, unheard = 0.5, 0
    for term in turn.terms:
        mask = get(term, 0)
        tells = TELLS[CLASSES[term]]
        if not mask:
            unheard += 1
            total += 0.5 * tells
            continue
        df = mask.bit_count()
        weight = tells * (1 - LOGS[df] / top)
        total += weight
        for slot in slots_of(mask if df <= common else mask & among):
            words[slot] = words.get(slot, 0.0) + weight
            if term in asked[slot]:
                answers[slot] = answers.get(slot, 0.0) + weight
    names: dict[int, float] = {}
    for name in turn.names:
        if mask := index.names.get(name, 0):
            df = mask.bit_count()
            for slot in slots_of(mask if df <= common else mask & among):
                names[slot] = names.get(slot, 0.0) + 1 - LOGS[df] / top
    count = len(turn.terms)
    length = LOGS[count + 1]
    asked_before = session.asks and session.speaker != turn.event.agent
    resume, shift, greeting = "resume" in cues, "shift" in cues, "greeting" in cues
    at_first = not scene.slots
    dense = log((session.tokens + 20) / (session.turns + 1)) - 3
    others = n - len(scene.slots)
    ends, opens, stays = (said / 100 for said in turn.text.acts or _SILENT)
    unknown = unheard / (count or 1)
    found: dict[str, Seen] = {}
    candidates = _candidates(index, scene, words, names)
    near = near_to(state, index, [effort_id for effort_id, _ in candidates], turn.event) if alike else None
    for effort_id, slot in candidates:
        effort = state.get(f"effort/{effort_id}", Effort)
        if effort is None or not (effort.turns or effort.declared):
            continue
        shared = words.get(slot, 0.0)
        size = LOGS[len(effort.terms) + 1] - _SIZE
        heard = min(shared, _WORDS)
        seen: tuple[float, ...] = (
            heard, shared / total, min(names.get(slot, 0.0), _NAMES), not shared and slot not in names,
            answers.get(slot, 0.0) / total, size, heard * size, bool(effort.users) and turn.me not in effort.users,
            heard * dense, bool(effort.names) and bool(turn.names) and slot not in names,
            log(effort.turns + 1), log(index.touched - effort.seen + 1),
            asked_before * (shared / total), stays * (shared / total),
        )  # fmt: skip
        done = index.done >> slot & 1
        if effort_id == session.effort:
            same = session.speaker == turn.event.agent
            seen += (
                1, session.asks and not same, same, session.by_user and not same, length, greeting, shift, resume,
                effort.turns <= 2, done, turn.segment != session.segment,
                log((session.stays + 4) / (session.switches + 1)), seen[3] * length, dense, stays, ends,
            )  # fmt: skip
            found[effort_id] = 0, seen
        elif slot >= 0 and among >> slot & 1:
            found[effort_id] = 1, (*seen, 1, -LOGS[len(scene.slots)], done, resume, dense, unknown, stays, ends)
        else:
            found[effort_id] = 2, (
                *seen, 1, at_first, -LOGS[others + 1], resume, done, seen[1], seen[2], dense, unknown, stays, ends,
            )  # fmt: skip
    found[""] = 3, (
        1, at_first, unknown, length, count <= 2, LOGS[min(n, 60) + 1], greeting and not at_first,
        "opening" in cues, shift, "also" in cues, resume, turn.event.role != "user",
        turn.comes and not (at_first or ASKING.isdisjoint(cues)),
        greeting and at_first, opens, ends,
    )  # fmt: skip
    if near is not None:
        for effort_id, (kind, seen) in found.items():
            found[effort_id] = kind, (*seen, *near.get(effort_id, UNKNOWN))
    ids = index.ids
    beside = total if at_first else total / apart
    return found, {ids[slot]: shared / (total if among >> slot & 1 else beside) for slot, shared in words.items()}


def _candidates(
    index: Active, scene: Scene, words: Mapping[int, float], names: Mapping[int, float]
) -> list[tuple[str, int]]:
    """The session's efforts, the last active one last; before them the NEAR of other sessions that share most, and the
    LAST that were active."""
    slots, ids, among = index.slots, index.ids, scene.mask
    if len(slots) == len(scene.slots):
        return [*scene.slots.items()]
    shared = {slot: words.get(slot, 0.0) + names.get(slot, 0.0) for slot in words.keys() | names.keys()}
    best = sorted((slot for slot in shared if not among >> slot & 1), key=lambda slot: (-shared[slot], ids[slot]))
    found = dict.fromkeys(best[:NEAR])
    left = LAST
    for slot in reversed(slots.values()):
        if not among >> slot & 1:
            found[slot] = None
            left -= 1
            if not left:
                break
    return [*((ids[slot], slot) for slot in found), *scene.slots.items()]


def worths(weights: Weights, seen: Mapping[str, Seen]) -> dict[str, float]:
    """The worth of each candidate."""
    laid = weights.laid
    return {effort: sum(map(mul, laid[kind], values)) for effort, (kind, values) in seen.items()}


def shares(worth: dict[str, float]) -> dict[str, float]:
    """Softmax: how likely each is."""
    top = max(worth.values())
    each = {key: exp(value - top) for key, value in worth.items()}
    total = sum(each.values())
    for key in each:
        each[key] /= total
    return each


def small_talk(text: Text) -> bool:
    """Nothing but greeting, thanks, good-bye, the weather and the like."""
    if text.names or len(text.terms) > 8:
        return False
    if not _SMALL.isdisjoint(text.cues) and len(text.terms) <= 3 and ASKING.isdisjoint(text.cues):
        return True
    return chat(text)


def chat(text: Text) -> bool:
    """Talk of the weather, the weekend and how one is."""
    terms = text.terms
    return bool(terms) and terms[0] in _CHAT and not text.names and _CHAT.issuperset(terms)


def works(text: Text, small: bool) -> bool:
    """New work: something is asked or told, not only thanks or a good-bye."""
    if small:
        return False
    return not ASKING.isdisjoint(text.cues) or (len(text.terms) >= 3 and _SMALL.isdisjoint(text.cues))


def parting(cues: list[str], terms: int) -> bool:
    """Whether a user's words say good-bye: a closing, or thanks with hardly anything else."""
    return "closing" in cues or ("thanks" in cues and terms <= 4 and ASKING.isdisjoint(cues))
