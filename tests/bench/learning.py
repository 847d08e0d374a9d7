"""Fits the weights of streams/core/text/learned.py to annotated examples, and tells what they are worth.

Examples are split by author, never by sentence: `crossed` gives each example the score of weights that were fitted
without its group, and some others, which is what precision and recall are told of. A signal that few groups use tells
of their authors, not of the act, and is left out. Needs scikit-learn, of the development tools.

    fitted = fit(examples, "reminder")        the bias and the weights, in hundredths of log odds
    scores = crossed(examples)                 of each example, by weights that did not see its group
    write(PATH, {"reminder": fitted, ...})     the file that Learned.load reads
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import orjson

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

GROUPS = 2
"""Groups that must use a signal for it to be learned."""
STRENGTH = 0.4
"""Inverse of how strongly weights are drawn to nothing."""
LEAST = 8
"""Weights below it, in hundredths, are left out."""
FOLDS = 8
"""Parts that groups are dealt into."""
RARE, TELLING = 0.15, 0.25
"""How much less a signal's weight is drawn to nothing the fewer examples have it, and the more of its examples are of
one kind: powers of how many have it, and of the log ratio of its shares of both kinds. Of eight acts learned from 32
authors or more, crossed by author, none is told worse so than with all signals alike (both 0), most are told better:
ends of work .51 instead of .39 at precision .8, changes .32 instead of .27.
Source of the second: Wang and Manning, Baselines and Bigrams (ACL 2012)."""
Weights = tuple[int, dict[str, int]]
"""A bias and the weights of signals."""


class Example(NamedTuple):
    """Signals of something, whether it is an act, who said it, and how much it counts."""

    signals: Sequence[str]
    label: bool
    group: str
    weight: float = 1.0


def fit(examples: Sequence[Example], strength: float = STRENGTH, groups: int = GROUPS, many: bool = True) -> Weights:
    """A logistic regression, its weights rounded to hundredths of log odds. `many`: most signals are rare, see RARE."""
    from sklearn.linear_model import LogisticRegression  # takes a second: not in every process that reads this file

    users: dict[str, set[str]] = {}
    for example in examples:
        for signal in example.signals:
            users.setdefault(signal, set()).add(example.group)
    known = {signal: at for at, signal in enumerate(sorted(s for s, used in users.items() if len(used) >= groups))}
    model = LogisticRegression(C=strength, max_iter=300, solver="liblinear")
    matrix, labels = _matrix(examples, known), np.array([e.label for e in examples])
    scales = _scales(matrix, labels) if many else np.ones(len(known))
    model.fit(matrix.multiply(scales).tocsr(), labels, [e.weight for e in examples])
    weights = {signal: round(100 * float(model.coef_[0, at] * scales[at])) for signal, at in known.items()}
    return round(100 * float(model.intercept_[0])), {s: w for s, w in weights.items() if abs(w) >= LEAST}


def fit_values(
    rows: Sequence[Sequence[int]], labels: Sequence[bool], counts: Sequence[float] | None = None
) -> list[int]:
    """Weights, in hundredths of log odds, of values that are in hundredths; one of them is always 100, the bias."""
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(C=1.0, max_iter=2000, fit_intercept=False)
    model.fit(np.array(rows) / 100, labels, counts)
    return [round(100 * float(weight)) for weight in model.coef_[0]]


def _scales(matrix: csr_matrix, labels: np.ndarray) -> np.ndarray:
    """How freely the weight of each signal (column) may grow."""
    yes, no = (1 + np.asarray(matrix[labels == kind].sum(0)).ravel() for kind in (True, False))
    ratio = np.log(yes / yes.sum()) - np.log(no / no.sum())
    return np.asarray((100 / (yes + no)) ** RARE * np.abs(ratio) ** TELLING)


def _matrix(examples: Iterable[Example], known: Mapping[str, int]) -> csr_matrix:
    from scipy.sparse import csr_matrix

    columns: list[int] = []
    ends = [0]
    for example in examples:
        columns += sorted({known[signal] for signal in example.signals if signal in known})
        ends.append(len(columns))
    return csr_matrix((np.ones(len(columns)), columns, ends), shape=(len(ends) - 1, len(known)))


def score(weights: Weights, signals: Iterable[str]) -> int:
    """What the weights say of signals."""
    return weights[0] + sum(weights[1].get(signal, 0) for signal in signals)


def parts(groups: Iterable[str]) -> list[frozenset[str]]:
    """Groups, dealt into parts: what is told of a part is told by weights that were fitted without it."""
    dealt = sorted({*groups})
    return [frozenset(dealt[at::FOLDS]) for at in range(min(FOLDS, len(dealt)))]


def crossed(
    examples: Sequence[Example], strength: float = STRENGTH, groups: int = GROUPS, many: bool = True
) -> list[int]:
    """The score of each example by weights that were fitted without its group's part."""
    found = [0] * len(examples)
    for out in parts(example.group for example in examples):
        weights = fit([e for e in examples if e.group not in out], strength, groups, many)
        for at, example in enumerate(examples):
            if example.group in out:
                found[at] = score(weights, example.signals)
    return found


def best(scores: Sequence[int], labels: Sequence[bool], precision: float) -> tuple[int, float, float]:
    """The lowest threshold from which on precision is at least so high: threshold, precision, recall."""
    right = 0
    found = (10_000, 0.0, 0.0)
    for told, (value, label) in enumerate(sorted(zip(scores, labels, strict=True), reverse=True), 1):
        right += label
        if right / told >= precision:
            found = (value, right / told, right / max(1, sum(labels)))
    return found


def reliability(scores: Sequence[int], labels: Sequence[bool]) -> list[tuple[float, float, int]]:
    """By tenths of likelihood: what was said on average, what was true, of how many."""
    told = 1 / (1 + np.exp(-np.array(scores) / 100))
    rows = []
    for tenth in range(10):
        inside = (told >= tenth / 10) & (told < (tenth + 1) / 10 + (tenth == 9))
        if inside.any():
            rows.append((float(told[inside].mean()), float(np.array(labels)[inside].mean()), int(inside.sum())))
    return rows


def write(path: Path, version: int, learned: Mapping[str, Weights]) -> None:
    """Writes weights for acts to a file: those of an act together, a signal a line."""
    bias = {act: bias for act, (bias, _) in learned.items()}
    acts = []
    for act, (_, weights) in learned.items():
        lines = [f"{orjson.dumps(signal).decode()}: {weight}" for signal, weight in sorted(weights.items())]
        acts.append(f"{orjson.dumps(act).decode()}: {{\n" + ",\n".join(lines) + "\n}")
    head = f'{{"version": {version},\n"bias": {orjson.dumps(bias).decode()},\n"weights": {{\n'
    path.write_text(head + ",\n".join(acts) + "\n}}\n", "utf-8")
