"""What is believed of one attribute: its statements in the order of their time, and which take whose place.

The links are a pure function of the statements, worked out anew at each change, of which there are few: so a statement
that comes in late, one that is taken back and one that is judged all mean the same, another list of statements.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from processors.contradictions.lexicon import Kind
from processors.contradictions.values import TIMES, same
from streams.core.processor import derived_id

MAX_SAID = 8
"""Statements kept of an attribute: a chain of its last ones; with it records stay below 8 KB."""
MAX_VERDICTS = 4
LOOSE = frozenset(("thing", "code", "place", "kind", "from", "to"))
"""Sorts that are not known well enough to exclude each other everywhere."""


@dataclass(slots=True)
class Belief:
    """State, `said/<speaker>/<attribute>`: what was said of an attribute."""

    subject: str
    attribute: str
    kind: Kind
    said: list[list[Any]] = field(default_factory=list)
    """Rows of `Row`, in the order of their time."""
    links: list[list[Any]] = field(default_factory=list)
    """What took whose place: the places of the older and the newer in `said`, the rule, and how sure it is."""
    verdicts: dict[str, float] = field(default_factory=dict)
    """By "older newer", how sure a judge is that they contradict; 0 where they do not."""
    shortened: bool = False
    """Whether older statements were dropped."""


class Row(NamedTuple):
    """A statement as it is kept."""

    turn: str
    at: int
    said: str
    facets: dict[str, str]
    scope: str
    named: bool
    affirmed: bool
    changes: bool
    adds: bool
    chain: str
    place: int


class Link(NamedTuple):
    """A statement took the place of an older one."""

    older: str
    newer: str
    rule: str
    confidence: float


def rows(belief: Belief) -> list[Row]:
    return [Row(*row) for row in belief.said]


def links(belief: Belief) -> list[Link]:
    return [Link(belief.said[older][0], belief.said[newer][0], *why) for older, newer, *why in belief.links]


def current(belief: Belief) -> list[Row]:
    """What is believed: the statements that nothing took the place of, the newest last."""
    replaced = {link[0] for link in belief.links}
    return [row for place, row in enumerate(rows(belief)) if place not in replaced]


def insert(belief: Belief, row: Row) -> None:
    """Puts a statement in its place in time; of one turn the last word counts."""
    said = [old for old in rows(belief) if old.turn != row.turn]
    at = len(said)
    while at and said[at - 1].at > row.at:
        at -= 1
    said.insert(at, row)
    if len(said) > MAX_SAID:
        belief.shortened = True
    belief.said = [list(old) for old in said[-MAX_SAID:]]
    belief.links = []


def relink(belief: Belief, space: str, sure: float) -> list[str]:
    """Works out anew what takes whose place; returns the turns that the newest statement says again."""
    said: list[Row] = []
    found: list[list[Any]] = []
    standing: list[int] = []
    again: list[str] = []
    for at, row in enumerate(rows(belief)):
        replaced: list[int] = []
        again = []
        for place in standing:
            older = said[place]
            why = _reason(belief, older, row)
            if why is not None and why[1] >= sure:
                replaced.append(place)
                found.append([place, at, *why])
            elif alike(older, row):
                again.append(older.turn)
        if replaced:
            row = row._replace(chain=said[replaced[-1]].chain, place=said[replaced[-1]].place + 1)
        elif again:
            first = next(one for one in said if one.turn == again[-1])
            row = row._replace(chain=first.chain, place=first.place)
        elif at or not belief.shortened:
            row = row._replace(chain=derived_id("chain", space, f"{row.turn}\0{belief.attribute}"), place=0)
        standing = [place for place in standing if place not in replaced]
        standing.append(at)
        said.append(row)
    belief.said = [list(row) for row in said]
    belief.links = found
    return again


def _reason(belief: Belief, older: Row, newer: Row) -> tuple[str, float] | None:
    verdict = belief.verdicts.get(f"{older.turn} {newer.turn}")
    if verdict is not None:
        return ("judged", verdict) if verdict else None
    return reason(belief.kind, older, newer)


def alike(older: Row, newer: Row) -> bool:
    """Whether two statements of an attribute say the same."""
    if older.affirmed != newer.affirmed:
        return False
    shared = older.facets.keys() & newer.facets.keys()
    return (bool(shared) or older.facets == newer.facets) and all(
        same(sort, older.facets[sort], newer.facets[sort]) for sort in shared
    )


def reason(kind: Kind, older: Row, newer: Row) -> tuple[str, float] | None:
    """By what rule, and how surely, a statement takes the place of an older one; None where both may hold."""
    if _other_times(older, newer):
        return None
    shared = sorted(older.facets.keys() & newer.facets.keys())
    if older.affirmed != newer.affirmed:
        if kind == "many" or any(same(sort, older.facets[sort], newer.facets[sort]) for sort in shared):
            return ("negated", 0.9) if newer.changes or not newer.affirmed else ("negated", 0.8)
        return None
    if newer.adds or not newer.affirmed or (newer.scope and newer.scope != older.scope and not newer.changes):
        return None
    differing = [sort for sort in shared if not same(sort, older.facets[sort], newer.facets[sort])]
    if kind == "prefer":
        alike_for = older.scope == newer.scope and (bool(older.scope) or (older.named and newer.named))
        differing = [sort for sort in differing if newer.changes and (alike_for or sort not in LOOSE)]
    elif kind != "one":
        differing = [sort for sort in differing if _excludes(sort, kind, older, newer)]
    rule = "changed" if newer.changes else "differs"
    if differing:
        return rule, 0.9 if newer.changes else 0.8
    if shared or kind == "prefer" or not (older.facets and newer.facets):
        return None
    if newer.changes and newer.facets.get("done") == "cancelled" and _timed(older):
        return rule, 0.8
    if newer.changes and _timed(older) and _timed(newer):
        return rule, 0.7
    sorts = older.facets.keys() | newer.facets.keys()
    if kind == "one" and older.named and newer.named and "code" not in sorts and TIMES.isdisjoint(sorts):
        return rule, 0.7
    return None


def _excludes(sort: str, kind: Kind, older: Row, newer: Row) -> bool:
    """Whether two values of a sort exclude each other where the attribute itself may have several."""
    if sort not in LOOSE and kind != "now":
        return True
    if kind == "now":
        return newer.changes
    return newer.changes or (older.named and newer.named) or (sort == "place" and kind == "place")


def _other_times(older: Row, newer: Row) -> bool:
    """Whether the words say that both hold, at times of their own."""
    return older.scope != newer.scope and older.scope[:1] == "@" == newer.scope[:1]


def _timed(row: Row) -> bool:
    return not TIMES.isdisjoint(row.facets)


def judge(belief: Belief, older: str, newer: str, confidence: float) -> None:
    """A judge says how surely the one takes the place of the other; 0 for not at all."""
    belief.verdicts[f"{older} {newer}"] = confidence
    while len(belief.verdicts) > MAX_VERDICTS:
        del belief.verdicts[next(iter(belief.verdicts))]


def drop(belief: Belief, turn: str) -> None:
    """A turn is taken back."""
    belief.said = [row for row in belief.said if row[0] != turn]
    belief.links = []
