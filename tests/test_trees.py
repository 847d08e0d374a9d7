"""Decisions by trees: they are grown of examples, and sum up to whole numbers."""

from __future__ import annotations

from pathlib import Path

import orjson

from streams.core.text.trees import Trees, grown
from tests.bench.learning import grow, write_trees


def test_a_score_is_the_bias_and_what_each_tree_comes_to():
    trees = Trees(lambda: {"bias": {"x": -40}, "trees": {"x": [[0, 3, 10, [1, -2, 200, -5]], [1, 0, 1, 2]]}})
    assert trees.score("x", [3, 9]) == -40 + 10 + 2
    assert trees.score("x", [4, -2]) == -40 + 200 + 1
    assert trees.score("x", [4, -1]) == -40 - 5 + 1


def test_trees_learn_what_one_value_speaks_for_where_another_is_so(tmp_path: Path):
    rows = [[at % 7, at % 5] for at in range(700)]
    labels = [(first > 3) == (second > 2) for first, second in rows]  # neither tells anything alone
    bias, trees = grow(rows, labels)
    assert all((grown(bias, trees, row) > 0) == label for row, label in zip(rows, labels, strict=True))
    write_trees(tmp_path / "t.json", 1, {"x": (bias, trees), "y": (7, [3])})
    read = Trees(lambda: orjson.loads((tmp_path / "t.json").read_bytes()))
    assert [read.score("x", row) for row in rows] == [grown(bias, trees, row) for row in rows]
    assert read.score("y", []) == 10
