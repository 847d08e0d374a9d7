"""Whether a change that is likely is as good as sure.

What a closer look says of a turn and a statement (see closer) tells likely changes from the many pairs that are none,
and little of which of the likely ones are sure. So that is learned of the likely ones alone, by few values: what the
closer look says of this statement and of the next, how they stand to each other in the talk, whether they tell other
figures; and, once the agent answered, whether the answer takes note of a change, names the new figure or the old one,
goes on with words of the new statement or of the old. What one of them speaks for hangs on the others, so trees decide
(certain.json, by tests/bench/learn_contradictions.py): `told` at the turn, `answered` at the answer. Crossed by author,
in English talk, .23 of the changes are sure, .92 of those rightly; .16 and .90 by the closer look and the answer added
up. Before what is asked seldom was left out, trees came to .27 where .9 are right, and weights in their place to .24.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from processors.contradictions.closer import worth_of
from processors.contradictions.figures import Part, parts
from processors.contradictions.index import MAX_DOUBTS
from streams.core.text.statements import MAX_TEXT
from streams.core.text.trees import Trees

if TYPE_CHECKING:
    from processors.contradictions.index import Meant, Statement

CERTAIN = Trees.load(__package__, "certain.json")
LIKELY = -50
"""The score of a closer look from which on a pair is learned from."""
ASKED, AT_ONCE = 50, 200
"""From which on it is asked whether that is sure, at the answer and at the turn: of what authors left out said, next to
none below was."""
UNANSWERED = [-999, 0, 0, 0, 0]
"""What is learned from in place of an answer's values where there is none."""
FAR = 600
"""What an only statement is before the next."""


def standing(new: Statement, ranked: Sequence[tuple[int, Meant]], least: int = ASKED) -> list[list[int]]:
    """What is known at the turn of it and the statements that it most likely changes, the likeliest first, each with
    what the closer look says of it: a row of values for each of the first that are so likely at `least`."""
    rows: list[list[int]] = []
    likely = [one for one in ranked[:MAX_DOUBTS] if one[0] >= least]
    if not likely:
        return rows
    figures, stems = _told(parts(new.text))
    for rank, (score, meant) in enumerate(likely):
        old = meant.statement
        best = max([other for place, (other, _) in enumerate(ranked) if place != rank], default=score - FAR)
        others, of_old = _told(parts(old.text))
        rows.append([
            score, min(score - best, FAR), rank, new.changes, new.states, old.changes, old.states, meant.worth,
            meant.back, min(new.number - old.number, 255), new.session == old.session, len(figures - others),
            len(others - figures), worth_of(stems - of_old), worth_of(of_old - stems),
        ])  # fmt: skip
    return rows


def answered(new: Statement, old: Statement, answer: str, answers: int) -> list[int]:
    """What the agent's answer to the newer adds to the values of a pair. `answers`: how much it takes note of a change,
    by a glance at it."""
    figures, stems = _told(parts(answer[:MAX_TEXT]))
    ours, of_new = _told(parts(new.text))
    theirs, of_old = _told(parts(old.text))
    return [
        answers, len(figures & (ours - theirs)), len(figures & (theirs - ours)), worth_of(stems & (of_new - of_old)),
        worth_of(stems & (of_old - of_new)),
    ]  # fmt: skip


def _told(said: Sequence[Part]) -> tuple[set[tuple[str, int | str]], frozenset[str]]:
    """The figures of a text, and the stems of its telling words."""
    figures = {(figure.sort, figure.value) for part in said for figure in part.figures}
    return figures, frozenset().union(*[part.stems for part in said])
