"""What is seen of two plain statements: signals by which learned weights decide whether one takes the other's place.

The clauses of the two most alike are compared. `signals` tells how what is spoken of, the verb and what is said
of it stand to each other, which values differ, which words of change or of doubt are there. What the weights are worth,
learned and measured on what, is told by tests/bench/learn_contradictions.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from typing import NamedTuple

from processors.contradictions.glance import PAIRS
from processors.contradictions.reading import CHANGING, Clause, Reading, Value
from processors.contradictions.words import ACTS, BITS, COMMON_WORDS
from streams.core.text.signals import signals as word_signals

MOST_PAIRS = 2
"""Pairs of clauses of two turns that are compared closely."""
_COUNTED = frozenset(("clock", "weekday", "day", "month", "number", "code"))
"""Sorts of values that are seen apart; all sorts of words are one kind."""
_ACTS = tuple((1 << place, act) for place, act in enumerate(ACTS))


_DOUBTFUL = BITS["ask"] | BITS["maybe"] | BITS["past"] | BITS["says"]


class Setting(NamedTuple):
    """How two turns stand to each other."""

    same_speaker: bool
    just: bool
    """Whether the older is one of the last statements of the newer's session."""
    rare: int
    """Rare words that they share, up to 4."""


class Pair(NamedTuple):
    """Two clauses, the newer first, and how alike they are."""

    newer: Clause
    older: Clause
    alike: int


def pairs(newer: Reading, older: Reading, same_speaker: bool) -> list[Pair]:
    """The clauses of two turns that are most alike, best first. Of different people only what is said of one thing."""
    found = [
        (_alike(new, old), new, old)
        for new in newer.clauses
        for old in older.clauses
        if (same_speaker or _of_one(new, old)) and _differ(new, old)
    ]
    found.sort(key=_likeness, reverse=True)
    return [Pair(new, old, alike) for alike, new, old in found[:MOST_PAIRS] if 2 * alike >= found[0][0]]


_likeness = itemgetter(0)


def _of_one(new: Clause, old: Clause) -> bool:
    return not (new.mine or old.mine) and not new.left.isdisjoint(old.left)


def _differ(new: Clause, old: Clause) -> bool:
    """Whether a clause says anything that the older does not: what is only said again takes nobody's place."""
    said = new.stems <= old.stems and (not new.values or {*new.values} <= {*old.values})
    return not said or new.negated != old.negated or bool(new.acts & CHANGING)


def _alike(new: Clause, old: Clause) -> int:
    alike = 2 * len(new.stems & old.stems) + (new.about & old.about).bit_count()
    if new.verb and new.verb == old.verb:
        alike += 1 if new.verb == "be" else 2
    if old.values and new.values:
        sorts = {value.sort for value in old.values}
        alike += 2 * sum([value.sort in sorts for value in new.values])
    if new.denied:
        alike += 3 * any(value.value in new.denied for value in old.values) + 2 * len(new.denied & old.stems)
    return alike


def _relation(one: frozenset[str], other: frozenset[str]) -> str:
    """How two sets of stems stand to each other."""
    if one == other:
        return "same" if one else "none"
    if not one or not other:
        return "one"
    if one < other or other < one:
        return "part"
    return "some" if one & other else "other"


def compared(new: Sequence[Value], old: Sequence[Value]) -> dict[str, str]:
    """By sort that both have: "same", "other", or "apart" where they are values of different things."""
    found: dict[str, str] = {}
    for value in new:
        others = [other for other in old if other.sort == value.sort]
        if not others:
            continue
        how = "apart"
        for other in others:
            if value.sort == "number" and value.units and other.units and not value.units & other.units:
                continue
            if (
                value.sort == "day"
                and value.units
                and other.units
                and value.units != other.units
                and value.value == other.value
            ):
                how = "other"
                continue
            if _equal(value, other):
                how = "same"
                break
            how = "other" if value.sort != "number" or value.units & other.units else "bare"
        if found.get(value.sort, "apart") == "apart" or how == "same":
            found[value.sort] = how
    return found


def _equal(one: Value, other: Value) -> bool:
    if one.sort == "clock" and one.value != other.value:
        hours, others = one.value.split(":"), other.value.split(":")
        return hours[1] == others[1] and abs(int(hours[0]) - int(others[0])) == 12
    return one.value == other.value


def signals(pair: Pair, newer: Reading, older: Reading, setting: Setting) -> list[str]:
    """What is seen of two clauses, each once."""
    new, old = pair.newer, pair.older
    values = compared(new.values, old.values)
    differs = "other" in values.values() or "bare" in values.values()
    said = "differs" if differs else "same" if "same" in values.values() else "apart" if values else "none"
    who = _who(new, old, setting.same_speaker)
    left = _relation(new.left, old.left) if new.verb and old.verb else "loose"
    verb = _verb(new, old)
    right = _relation(new.right, old.right)
    scope = _relation(new.scope, old.scope)
    shared = min(len(new.stems & old.stems), 4)
    denies = bool(new.denied) and (
        any(value.value in new.denied for value in old.values) or bool(new.denied & old.right)
    )
    negated = "differs" if new.negated != old.negated else "both" if new.negated else "no"
    acts = [act for bit, act in _ACTS if new.acts & bit]
    change = "correct" if "correct" in acts else "change" if "change" in acts else "now" if "now" in acts else "plain"
    found = [
        f"who:{who}", f"left:{left}", f"verb:{verb}", f"right:{right}", f"scope:{scope}", f"said:{said}",
        f"shared:{shared}", f"rare:{setting.rare}", f"neg:{negated}",
        f"frame:{who} {left} {verb}", f"frame:{left} {verb} {right} {said}", f"frame:{left} {verb} {said} {change}",
        f"frame:{right} {said} neg {negated}", f"frame:{verb} {right} neg {negated}", f"frame:{left} {right} {change}",
        f"{said} shared:{shared}", f"{said} rare:{setting.rare}", f"{change} rare:{setting.rare}", f"{change} {said}",
        f"{change} {said} rare:{min(setting.rare, 2)}", f"who:{who} {said} {change}",
        f"scope:{scope} {said}",
        f"extra:{min(len(new.stems - old.stems), 5)} {said}", f"lacks:{min(len(old.stems - new.stems), 5)} {said}",
        f"old words:{len(older.words).bit_length()}", f"new words:{len(newer.words).bit_length()}",
    ]  # fmt: skip
    if denies:
        found += ["denies", f"denies {said}", f"denies {verb}"]
    if not setting.rare and setting.just:
        found += ["just", f"just {change} {said}", f"just {who} {said}"]
    kinds = [(sort if sort in _COUNTED else "kind", how) for sort, how in values.items()]
    found += [f"{sort}:{how}" for sort, how in kinds]
    found += [f"{sort}:{how} {change}" for sort, how in kinds]
    found += [f"new {act}" for act in acts]
    found += [f"new {act} {said}" for act in acts]
    found += [f"around {act}" for bit, act in _ACTS if newer.acts & bit and act not in acts]
    found += [f"old {act}" for bit, act in _ACTS if old.acts & bit]
    if new.names - old.stems:
        found += ["names new", f"names new {verb} {left}"]
        if old.names - new.stems:
            found += ["names differ", f"names differ {verb} {left} {change}"]
    if new.about & old.about:
        found += ["about", f"about {change} {said}", f"about {who} {right}"]
    if new.verb and old.verb:
        found.append(f"{old.verb}>{new.verb}" if new.verb != old.verb else f"both {new.verb} {right}")
    found += [f"both:{stem}" for stem in sorted(new.left & old.left)[:3]]
    return [*dict.fromkeys(found)]


def _who(new: Clause, old: Clause, same_speaker: bool) -> str:
    """Whose two clauses are: of one, of others, or not told."""
    if "they" in (new.who, old.who):
        return "they"
    if new.who == old.who:
        return ("same" if same_speaker or new.who in ("", "we") else "others") + (" named" if not new.who else "")
    if new.mine == old.mine:
        return "alike"
    return "mine" if new.mine else "theirs"


def _verb(new: Clause, old: Clause) -> str:
    if not new.verb or not old.verb:
        return "none" if not new.verb and not old.verb else "one"
    if new.verb == old.verb:
        return "be" if new.verb == "be" else "same"
    return "about" if new.about & old.about else "other"


_replaces = PAIRS.only("replaces")


class Judged(NamedTuple):
    """The best of the pairs of clauses of two turns."""

    score: int
    clauses: tuple[Clause, Clause]
    signals: list[str]

    def why(self) -> list[tuple[str, int]]:
        """What the signals weigh, the strongest first."""
        return PAIRS.why(self.signals, "replaces")


def judge(newer: Reading, older: Reading, setting: Setting, words: Sequence[str]) -> Judged | None:
    """What the weights say of two turns, given the signals of the newer's words; None where one says nothing."""
    best: Judged | None = None
    for pair in pairs(newer, older, setting.same_speaker):
        seen = [*signals(pair, newer, older, setting), *words]
        score = _replaces(seen)
        if best is None or score > best.score:
            best = Judged(score, pair[:2], seen)
    return best


def words_seen(text: str) -> list[str]:
    """The signals of a newer turn's words, named apart from those of a pair. Why only of little words: what a turn is
    about does not tell whether it changes anything."""
    return [f"w:{signal}" for signal in word_signals(text) if COMMON_WORDS.issuperset(signal.split())]


def rule_of(judged: Judged) -> str:
    """How it shows that a clause takes another's place."""
    new, old = judged.clauses
    if new.negated != old.negated:
        return "negated"
    acts = {act for bit, act in _ACTS if new.acts & bit}
    return "corrected" if "correct" in acts else "changed" if acts & {"change", "now"} else "differs"


def said_again(newer: Reading, older: Reading, same_speaker: bool) -> tuple[Clause, Clause] | None:
    """A clause that says plainly what one of the older says, and that one; None where there is none."""
    for new in newer.clauses:
        for old in older.clauses:
            if (same_speaker or _of_one(new, old)) and _repeats(new, old):
                return new, old
    return None


def _repeats(new: Clause, old: Clause) -> bool:
    if not new.verb or new.verb != old.verb or new.negated != old.negated or (new.acts | old.acts) & _DOUBTFUL:
        return False
    values = {*compared(new.values, old.values).values()}
    alike = values == {"same"} or (
        not new.values and not old.values and new.right and _relation(new.right, old.right) in ("same", "part")
    )
    return bool(alike and _relation(new.left, old.left) in ("same", "none") and (new.left or new.who in ("me", "we")))
