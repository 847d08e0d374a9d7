"""Learns which effort a user's turn belongs to (the weights of processors/open_efforts/dialogue.py, second_look.py).

    python -m tests.bench.learn_efforts [--rounds 3] [--all] [--alike]

Learns from the voices and, where the data is there, from interleaved task dialogues in spaces of eight sessions (other
seeds than those that quality_efforts measures on). First each turn is threaded as its author did; then as the weights
that came of it do, and what is right is the effort that has most turns of the author's: so weights mend their own
errors. What a turn's words say of opening and staying (streams/core/text/acts.py) is told by weights that were learned
without its author. Prints how well turns are put together, one to one, in voices of authors that were left out; with
--all the weights that all voices give, to be copied. With --alike only those that count where alike words do are
learned, and all others stay as they are (needs the extra `semantic`): learned together they are worth no more.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize

from processors import manifest, open_efforts
from processors.open_efforts import OpenEffortsParams, dialogue, placing, second_look
from processors.open_efforts.dialogue import (
    ALIKE,
    ANSWERED,
    ANSWERED_ALIKE,
    BEGINS,
    BEGINS_ALIKE,
    ELSEWHERE,
    LEARNED,
    RETURNS,
    SHARED,
    STAYS,
)
from processors.open_efforts.index import recently
from streams.core.driver import fold
from streams.core.events import DAY, TurnRecorded
from tests.bench.interleave import sessions
from tests.bench.learn_acts import others
from tests.bench.voices import conversations, matched, threaded

NAMES = [*LEARNED]
_SEEN = [(*SHARED, *kind, *ALIKE) for kind in (STAYS, RETURNS, ELSEWHERE)]
_SEEN += [(*BEGINS, *BEGINS_ALIKE), (*ANSWERED, *ANSWERED_ALIKE)]
KINDS = [[NAMES.index(name) for name in kind] for kind in _SEEN]
BESIDE = {*ALIKE, *BEGINS_ALIKE, *ANSWERED_ALIKE}
"""What is seen only where alike words count."""
AGAIN = 4
"""The kind of what is seen at a second look."""
WEIGH = second_look.weigh
FIRM = 1.0
"""How strongly weights are drawn to nothing."""
PER = 8
"""Sessions of task dialogues in a space."""


class Talk(NamedTuple):
    """A space, and the effort of each of its turns."""

    author: str
    turns: list[TurnRecorded]
    true: dict[str, str]
    annotated: list[dict[str, Any]]


class Row(NamedTuple):
    """What is seen of each candidate, and which is right."""

    seen: list[dialogue.Seen]
    right: int


def talks() -> list[Talk]:
    """All that there is to learn from."""
    found = []
    for one in conversations(learning=True):
        if one.efforts:
            true = {turn["id"]: turn["effort"] for turn in one.turns if turn.get("effort")}
            found.append(Talk(one.author, one.events(), true, one.turns))
    dealt = [*sessions(100 + 6 * PER)[100:], *sessions(100 + 3 * PER, block=(1, 3))[100:]]
    for first in range(0, len(dealt), PER):
        turns: list[TurnRecorded] = []
        true = {}
        for number, session in enumerate(dealt[first : first + PER]):
            for turn, label in zip(session.turns, session.labels, strict=True):
                turn.space, turn.session, turn.id = "space", f"{number}", f"{number}-{turn.id}"
                turn.at += number * DAY
                turns.append(turn)
                true[turn.id] = f"{number}-{label}"
        found.append(Talk("tasks", turns, true, [{"id": id, "effort": effort} for id, effort in true.items()]))
    return found


class Teacher:
    """Stands in for the choice while a talk is folded: notes what is seen, and, where it leads, what is right."""

    def __init__(self, talk: Talk, leads: bool) -> None:
        self.talk = talk
        self.leads = leads
        self.rows: list[Row] = []
        self.shared: dict[str, Counter[str]] = {}
        self.next = 0
        self.wanted = ""

    def evidence(self, state: Any, turn: Any, scene: Any, *how: Any) -> Any:
        """As dialogue.evidence; notes it."""
        found = dialogue.evidence(state, turn, scene, *how)
        turns = self.talk.turns
        while turns[self.next].id != turn.event.id:
            before = turns[self.next].id
            said = recently(state, turn.index, before)
            if said and said.effort and before in self.talk.true:
                self.shared.setdefault(said.effort, Counter())[self.talk.true[before]] += 1
            self.next += 1
        true = self.talk.true.get(turn.event.id, "")
        own = [effort for effort, turns_of in self.shared.items() if turns_of.most_common(1)[0][0] == true]
        self.wanted = max(own, key=lambda effort: self.shared[effort][true], default="")
        if true and self.wanted in found[0]:
            self.rows.append(Row([*found[0].values()], [*found[0]].index(self.wanted)))
        if not true:
            self.wanted = turn.session.effort
        return found

    def worths(self, weights: Any, seen: Mapping[str, dialogue.Seen]) -> dict[str, float]:
        """As dialogue.worths, or what is right where it leads."""
        worth = dialogue.worths(weights, seen)
        return {**dict.fromkeys(worth, 0.0), self.wanted: 99.0} if self.leads else worth

    def weigh(self, state: Any, index: Any, worth: Any, turn: Any, *how: Any) -> Any:
        """As second_look.weigh; notes it."""
        found = WEIGH(state, index, worth, turn, *how)
        if turn.turn in self.talk.true and self.wanted in found:
            seen = [(AGAIN, values) for values in found.values()]
            self.rows.append(Row(seen, [*found].index(self.wanted)))
        return found


def taught(talk: Talk, params: OpenEffortsParams, leads: bool) -> list[Row]:
    """The choices of a talk."""
    teacher = Teacher(talk, leads)
    kept = placing.evidence, placing.worths, second_look.weigh
    placing.evidence, placing.worths = teacher.evidence, teacher.worths  # type: ignore[assignment]
    second_look.weigh = teacher.weigh  # type: ignore[assignment]
    try:
        threads(talk, params)
    finally:
        placing.evidence, placing.worths, second_look.weigh = kept
    return teacher.rows


def threads(talk: Talk, params: OpenEffortsParams) -> dict[str, str]:
    """The effort of each turn."""
    with others(talk.author):
        rows = fold((manifest.PROCESSOR, open_efforts.PROCESSOR), talk.turns, {"open_efforts": params})
    return threaded(row.event for row in rows)


def fit(rows: list[Row], alike: bool) -> dict[str, float]:
    """A multinomial logit. `alike`: learns what is seen BESIDE, the rest stays; else learns the rest."""
    flat = [one for row in rows for one in row.seen]
    matrix = np.zeros((len(flat), len(NAMES)))
    for at, (kind, values) in enumerate(flat):
        matrix[at, KINDS[kind][: len(values)]] = values
    stays = np.array([LEARNED[name] if (name in BESIDE) != alike else 0.0 for name in NAMES])
    free = np.array([(name in BESIDE) == alike for name in NAMES])
    before, matrix = matrix @ stays, matrix[:, free]
    starts = np.cumsum([0, *(len(row.seen) for row in rows)])
    right = starts[:-1] + [row.right for row in rows]
    group = np.repeat(np.arange(len(rows)), np.diff(starts))

    def loss(weights: Any) -> Any:
        worth = before + matrix @ weights
        most = np.maximum.reduceat(worth, starts[:-1])
        each = np.exp(worth - most[group])
        total = np.add.reduceat(each, starts[:-1])
        value = np.sum(most + np.log(total) - worth[right]) + FIRM / 2 * weights @ weights
        return value, matrix.T @ (each / total[group]) - matrix[right].sum(0) + FIRM * weights

    found = minimize(loss, np.zeros(matrix.shape[1]), jac=True, method="L-BFGS-B", options={"maxiter": 400})
    stays[free] = found.x
    return {name: round(float(weight), 2) for name, weight in zip(NAMES, stays, strict=True)}


def learn(given: Iterable[Talk], rounds: int, alike: bool) -> dict[str, float]:
    """Weights from talks."""
    given = [*given]
    params = OpenEffortsParams(alike=alike)
    rows = [row for talk in given for row in taught(talk, params, True) if row.seen[0][0] != AGAIN]
    weights = fit(rows, alike)
    again: list[Row] = []
    for _ in range(rounds):
        params = OpenEffortsParams(weights=weights, alike=alike)
        for talk in given:
            for row in taught(talk, params, False):
                (again if row.seen[0][0] == AGAIN else rows).append(row)
        weights = fit(rows + again, alike)
    return weights


def score(given: Iterable[Talk], params: OpenEffortsParams, counts: Counter[str]) -> None:
    """Counts turns that are put together as the author did."""
    for talk in given:
        matched(talk.annotated, threads(talk, params), counts)


def main() -> None:
    """Prints what the weights are worth, and the weights."""
    rounds = int(sys.argv[sys.argv.index("--rounds") + 1]) if "--rounds" in sys.argv else 3
    alike = "--alike" in sys.argv
    every = talks()
    if "--all" in sys.argv:
        weights = learn(every, rounds, alike)
        print("\n".join(f'    "{name}": {weight},' for name, weight in weights.items()))
        return
    total: Counter[str] = Counter()
    for author in sorted({talk.author for talk in every} - {"tasks"}):
        weights = learn((talk for talk in every if talk.author != author), rounds, alike)
        counts: Counter[str] = Counter()
        params = OpenEffortsParams(weights=weights, alike=alike)
        score((talk for talk in every if talk.author == author), params, counts)
        total += counts
        print(f"without {author}: one to one {counts['one to one'] / counts['threaded']:.3f}", flush=True)
    print(f"all left out once: one to one {total['one to one'] / total['threaded']:.3f}")


if __name__ == "__main__":
    main()
