"""Fits the weights of streams/core/text/learned.py to annotated examples, and tells what they are worth.

Examples are split by author, never by sentence: `crossed` gives each example the score of weights that were fitted
without its group, and some others, which is what precision and recall are told of. A signal that few groups use tells
of their authors, not of the act, and is left out. Needs scikit-learn, of the development tools.

    fitted = fit(examples, "reminder")        the bias and the weights, in hundredths of log odds
    scores = crossed(examples)                 of each example, by weights that did not see its group
    write(PATH, {"reminder": fitted, ...})     the file that Learned.load reads
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

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


class Table:
    """Examples, of which weights are fitted again and again: of all but some groups, each time. What each shows is
    looked up once, and takes a tenth of the room that its names take."""

    def __init__(self, examples: Iterable[Example]) -> None:
        from scipy.sparse import csr_matrix

        known: dict[str, int] = {}
        places: dict[str, int] = {}
        columns, ends, labels = array("i"), array("q", [0]), array("b")
        counts, groups = array("d"), array("i")
        for signals, label, group, count in examples:
            columns.extend({known.setdefault(signal, len(known)) for signal in signals})
            ends.append(len(columns))
            labels.append(label)
            counts.append(count)
            groups.append(places.setdefault(group, len(places)))
        self._places = places
        self._labels, self._counts, self._groups = np.array(labels, bool), np.array(counts), np.array(groups)
        self._signals = sorted(known)
        at = np.empty(len(known), np.int32)
        at[[known[signal] for signal in self._signals]] = np.arange(len(known), dtype=np.int32)
        ones = np.ones(len(columns), np.float32)
        self._matrix = csr_matrix((ones, at[np.array(columns, np.int32)], ends), (len(labels), len(known)))
        self._matrix.sort_indices()
        self._using = np.zeros((len(places), len(known)), bool)
        for place in range(len(places)):
            self._using[place, self._matrix[self._groups == place].indices] = True

    def _of(self, groups: Collection[str]) -> np.ndarray:
        return np.isin(self._groups, [self._places[group] for group in groups if group in self._places])

    def fit(
        self, without: Collection[str] = (), strength: float = STRENGTH, groups: int = GROUPS, many: bool = True,
        held: Callable[[str], float] = lambda signal: 1.0,
    ) -> Weights:  # fmt: skip
        """A logistic regression, its weights rounded to hundredths of log odds. `many`: most signals are rare, see
        RARE. `held`: how freely the weight of a signal may grow besides."""
        from sklearn.linear_model import LogisticRegression  # takes a second: not in every process that reads this file

        left = [place for group, place in self._places.items() if group not in without]
        known = np.flatnonzero(self._using[left].sum(0) >= groups)
        rows = ~self._of(without)
        matrix, labels = self._matrix[rows][:, known].astype(float), self._labels[rows]
        scales = _scales(matrix, labels) if many else np.ones(len(known))
        scales = scales * np.array([held(self._signals[at]) for at in known])
        model = LogisticRegression(C=strength, max_iter=300, solver="liblinear")
        model.fit(matrix.multiply(scales).tocsr(), labels, self._counts[rows])
        fitted = [round(100 * worth) for worth in (model.coef_[0] * scales).tolist()]
        weights = {self._signals[at]: worth for at, worth in zip(known, fitted, strict=True) if abs(worth) >= LEAST}
        return round(100 * float(model.intercept_[0])), weights

    def scores(self, weights: Weights, groups: Collection[str]) -> list[int]:
        """What weights say of the examples of groups, in the order in which they were given; `score` says the same
        where no signal is given twice."""
        bias, table = weights
        worth = np.array([table.get(signal, 0) for signal in self._signals], float)
        found: list[int] = (bias + np.rint(self._matrix[self._of(groups)] @ worth)).astype(int).tolist()
        return found


def fit(examples: Iterable[Example], strength: float = STRENGTH, groups: int = GROUPS, many: bool = True) -> Weights:
    """A logistic regression of all examples, see Table."""
    return Table(examples).fit((), strength, groups, many)


def fit_values(
    rows: Sequence[Sequence[int]], labels: Sequence[bool], counts: Sequence[float] | None = None
) -> list[int]:
    """Weights, in hundredths of log odds, of values that are in hundredths; one of them is always 100, the bias."""
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(C=1.0, max_iter=2000, fit_intercept=False)
    model.fit(np.array(rows) / 100, labels, counts)
    return [round(100 * float(weight)) for weight in model.coef_[0]]


TREES, LEAVES, RATE, LEAF = 100, 8, 0.06, 30
"""How many trees are grown, how many ends each has, how much of what is left each takes, and the fewest examples of an
end."""
SHOWN, ASKED = 0.6, 0.3
"""The share of examples that each tree is shown, and of values that each of its questions may be about."""
Grown = tuple[int, list[Any]]
"""A bias and trees, as streams/core/text/trees.py has them."""


def grow(rows: Sequence[Sequence[int]], labels: Sequence[bool]) -> Grown:
    """Trees that tell by whole values how likely something is (gradient boosting), in hundredths of log odds."""
    from sklearn.ensemble import GradientBoostingClassifier

    model = GradientBoostingClassifier(
        n_estimators=TREES, max_leaf_nodes=LEAVES, max_depth=None, learning_rate=RATE, min_samples_leaf=LEAF,
        subsample=SHOWN, max_features=ASKED, random_state=0,
    )  # fmt: skip
    model.fit(np.array(rows), labels)
    true = float(np.mean(labels))
    return round(100 * float(np.log(true / (1 - true)))), [_tree(one.tree_, 0) for one in model.estimators_[:, 0]]


def _tree(tree: Any, at: int) -> Any:
    """A node of a tree of scikit-learn and what is below it."""
    low, high = int(tree.children_left[at]), int(tree.children_right[at])
    if low < 0:
        return round(100 * RATE * float(tree.value[at, 0, 0]))
    return [int(tree.feature[at]), int(np.floor(tree.threshold[at])), _tree(tree, low), _tree(tree, high)]


def write_trees(path: Path, version: int, grown: Mapping[str, Grown]) -> None:
    """Writes trees for acts to a file, a tree a line."""
    bias = {act: bias for act, (bias, _) in grown.items()}
    acts = [
        f"{orjson.dumps(act).decode()}: [\n" + ",\n".join(orjson.dumps(tree).decode() for tree in trees) + "\n]"
        for act, (_, trees) in grown.items()
    ]
    head = f'{{"version": {version},\n"bias": {orjson.dumps(bias).decode()},\n"trees": {{\n'
    path.write_text(head + ",\n".join(acts) + "\n}}\n", "utf-8")


def _scales(matrix: csr_matrix, labels: np.ndarray) -> np.ndarray:
    """How freely the weight of each signal (column) may grow."""
    yes, no = (1 + np.asarray(matrix[labels == kind].sum(0)).ravel() for kind in (True, False))
    ratio = np.log(yes / yes.sum()) - np.log(no / no.sum())
    return np.asarray((100 / (yes + no)) ** RARE * np.abs(ratio) ** TELLING)


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
    table, found = Table(examples), [0] * len(examples)
    for out in parts(example.group for example in examples):
        weights = table.fit(out, strength, groups, many)
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
