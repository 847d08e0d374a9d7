"""Ends said in passing, looked at again: whether work is over is seen in whether its people come back to it.

    score = sum of weight * what is seen     (hundredths of log odds)     likelihood = 1 / (1 + e^(-score / 100))

That the words of a turn may end something is what the manifest detects; which work they end, and whether anybody goes
on with it, is known here. Each later turn of a user that belongs to some work counts, where it is of the same session
or by somebody of that work: for going on with it, or for having turned to something else. At each look what is sure
concludes, by the turn that said so; after LOOKS such turns it is let go. On English voices by 15 authors that nothing
was learned from, .56 of the ends conclude in all, and .08 of the efforts too early. Weights:
tests/bench/learn_passing.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import log

from processors.manifest import ConclusionDetected
from processors.open_efforts.crowd import known_as
from processors.open_efforts.events import EffortConcluded
from processors.open_efforts.index import Active, recently
from processors.open_efforts.params import OpenEffortsParams
from processors.open_efforts.records import Effort, Said
from processors.open_efforts.table import conclude
from processors.open_efforts.topics import TELLS
from streams.core.events import TurnRecorded
from streams.core.processor import Derived, Raw, State
from streams.core.text.commonness import CLASSES
from streams.core.text.learned import likelihood, weigh

WEIGHTS: dict[str, int] = {
    "bias": -270, "said": 24, "certain": 150, "goes on": -23, "goes on again": -106, "comes back": -72,
    "comes back again": -135, "elsewhere": -1, "elsewhere alone": 71, "other session": -64,
    "other session alone": -24, "turns": 69, "spoken of": -11, "shared": 39, "words": 1,
}  # fmt: skip
"""Voices by 82 authors. Left out, .61 of the ends that wait and are put to their work conclude from a likelihood of .6
on, and .69 of what concludes is such an end; from .7 on .40 and .73."""
LOOKS = 10
"""User's turns after which an end is let go."""
MOST = 8
"""Ends of a space that wait at once."""
LEAST = 0.5
"""Confidence below which nothing that comes after makes an end sure enough."""
KEY = "passing"
_ANSWERS = frozenset(("declaration", "convergence", "negation"))
"""What is found or ruled out ends no work by itself."""
_WORTH = [*WEIGHTS.values()]
SAID, SAME, BACK, OTHER, MOVED = range(5)
"""Places in what is kept of an end, as `Passing.ends` tells."""


@dataclass(slots=True)
class Passing:
    """State, `passing`: the ends that wait, by the turn that may have been one, the oldest first; at most MOST."""

    ends: dict[str, list[int]] = field(default_factory=dict)
    """What its words say, in hundredths of log odds; of the user's turns since, how many went on with the work in its
    session, how many in another one, and how many were about other work; whether the last was in another session."""
    told: dict[str, list[str]] = field(default_factory=dict)
    """The session, and what was concluded."""

    def drop(self, turn: str) -> None:
        """It waits no longer."""
        del self.ends[turn], self.told[turn]


def say(
    params: OpenEffortsParams, state: State, event: ConclusionDetected, raw: Raw[TurnRecorded]
) -> Sequence[Derived]:
    """Words of a user's turn may end its work and wait for whether anybody comes back to it; told again where the next
    turns make that surer or less sure."""
    turn = raw.event
    if event.pattern in _ANSWERS or (event.turn == turn.id and turn.role != "user"):
        return ()
    if event.confidence < LEAST:
        deny(state, event.turn)
        return ()
    passing = state.get(KEY, Passing) or Passing()
    if event.turn not in passing.ends:
        if len(passing.ends) >= MOST:
            passing.drop(next(iter(passing.ends)))
        passing.ends[event.turn] = [0] * 5
        passing.told[event.turn] = [event.session, event.text]
    passing.ends[event.turn][SAID] = odds(event.confidence)
    state.put(KEY, passing)
    return ()


def deny(state: State, turn: str) -> None:
    """Somebody says that the turn ended nothing."""
    passing = state.get(KEY, Passing)
    if passing is not None and turn in passing.ends:
        passing.drop(turn)
        state.put(KEY, passing)


def reopened(state: State, index: Active, effort_id: str) -> None:
    """Somebody says that the work goes on, whatever was said of its end."""
    passing = state.get(KEY, Passing)
    for turn in [*passing.ends] if passing is not None else ():
        said = recently(state, index, turn)
        if said is not None and said.effort == effort_id:
            deny(state, turn)


def odds(confidence: float) -> int:
    """The log odds of a confidence, in hundredths."""
    sure = min(0.99, max(0.01, confidence))
    return round(100 * log(sure / (1 - sure)))


def look(
    params: OpenEffortsParams, state: State, event: TurnRecorded, index: Active, effort_id: str, out: list[Derived]
) -> None:
    """A user's turn that belongs to an effort tells something of each end that waits."""
    passing = state.get(KEY, Passing)
    if passing is None:
        return
    changed = False
    for turn, end in [*passing.ends.items()]:
        said = recently(state, index, turn)
        effort = state.get(f"effort/{said.effort}", Effort) if said is not None and said.effort else None
        if said is None or effort is None or said.retracted or effort.status == "concluded" or effort.declared:
            passing.drop(turn)
            changed = True
            continue
        session, conclusion = passing.told[turn]
        here = event.session == session
        if not here and known_as(event.agent) not in effort.users:
            continue
        changed = True
        mine = effort_id == said.effort
        end[SAME if mine and here else BACK if mine else OTHER] += 1
        end[MOVED] = not here
        if not mine and likelihood(score(seen(end, said, effort))) >= params.passing:
            passing.drop(turn)
            done = EffortConcluded(event.space, session, event.at, said.effort, turn, "completion", conclusion)
            out.append(conclude(state, index, effort, turn, done))
        elif sum(end[SAME:MOVED]) >= LOOKS:
            passing.drop(turn)
    if changed:
        state.put(KEY, passing)


def seen(end: list[int], said: Said, effort: Effort) -> list[int]:
    """What is seen of an end by now, in hundredths, in the order of WEIGHTS; at last, how far the effort's other turns
    speak of what the turn tells: the share, what is shared, and all of it."""
    words, same, back, other, moved = end
    alone = not same and not back
    away = 10 * other
    tells = {term: TELLS[CLASSES[term]] for term in said.terms if CLASSES[term]}
    told = sum(tells.values())
    shared = sum(worth for term, worth in tells.items() if effort.terms.get(term, 0) > 1)
    return [
        100, words, round(100 * said.share), 100 * bool(same), 50 * min(same, 4), 100 * bool(back), 50 * min(back, 4),
        away, away * alone, 100 * moved, 100 * (moved and alone), 10 * min(effort.turns, 20),
        round(100 * shared / told) if told else 0, round(100 * shared), round(100 * told),
    ]  # fmt: skip


def score(values: list[int]) -> int:
    """How much speaks for an end."""
    return weigh(_WORTH, values)
