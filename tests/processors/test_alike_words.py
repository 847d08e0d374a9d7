"""Words that are alike count for doubts where the extra `semantic` is installed and asked for."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError
from importlib.util import find_spec
from typing import Any

import pytest

from processors import PROCESSORS, contradictions
from processors.contradictions import ContradictionsParams, ContradictionSuspected
from processors.contradictions.index import Index, Statement, words_of
from streams.core.driver import Driver, ancestors, as_raw, root_schema
from streams.core.errors import UsageError
from streams.core.events import DAY, TurnRecorded
from streams.core.params import Params
from streams.core.processor import RAW, lineages
from streams.core.text import alike, read

INSTALLED = pytest.mark.skipif(find_spec("wordllama") is None, reason=alike.WAY_OUT)
PROCESSOR = contradictions.PROCESSOR
WITH = ancestors(PROCESSORS, [PROCESSOR.name])


@pytest.fixture(autouse=True)
def loaded_anew() -> Iterator[None]:
    alike.table.cache_clear()
    yield
    alike.table.cache_clear()


def said(*texts: str) -> list[TurnRecorded]:
    return [TurnRecorded("s", f"t{n}", DAY + n, "talk", "ann", "user", text) for n, text in enumerate(texts)]


TALK = said(
    "our kid starts school on Tuesday", "the invoice for the garage is paid", "lunch was soup again",
    "the bus was late today", "actually the child begins on Thursday instead, not earlier",
    "the printer wants new ink", "scratch that, make it the vehicle after all",
)  # fmt: skip


def test_asking_for_it_without_the_package_tells_the_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> Any:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(alike, "distribution", missing)
    with pytest.raises(UsageError, match="not installed") as complaint:
        ContradictionsParams(alike=True)
    assert complaint.value.way_out == "pip install 'mnemolog[semantic]'"
    assert ContradictionsParams().alike is False


@INSTALLED
def test_another_table_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(alike, "KNOWN", "another")
    with pytest.raises(UsageError, match="another table"):
        ContradictionsParams(alike=True)


@INSTALLED
def test_words_that_mean_the_same_are_alike_in_whole_numbers() -> None:
    words = alike.table()
    kid, *others = [words.vector(text) for text in ("the kid", "the child", "the invoice", "", "THE KID")]
    assert words.likeness(kid, others) == [81, 1, 0, 100]


def given(**values: Any) -> dict[str, Params]:
    return {p.name: p.params(**(values if p is PROCESSOR else {})) for p in WITH}


@INSTALLED
def test_it_makes_another_lineage() -> None:
    on, off = (lineages(WITH, given(alike=wanted), root_schema()) for wanted in (True, False))
    assert on[RAW] == off[RAW]
    assert on["contradictions"] != off["contradictions"]


@INSTALLED
def test_it_weighs_what_shares_no_word() -> None:
    known = Index()
    for turn in TALK[:4]:
        text = read(turn)
        words = words_of(text.terms, text.names, turn.content)
        known.enter(Statement(turn.id, known.count, turn.at, "talk", "ann", "user", turn.content, words, 0, []))
    new = Statement(
        "new", known.count, TALK[4].at, "talk", "ann", "user", "the child begins", ["child", "begin"], 0, []
    )
    found = known.alike(new, [])
    assert found[0].statement.turn == "t0"
    assert found[0].alike[1] == "alike before:0"
    again = Index()
    for statement in known.slots.values():
        again.enter(statement)
    assert again.alike(new, []) == found, "what was looked up before changes nothing"


@INSTALLED
def test_a_fold_that_is_cut_anywhere_suspects_the_same() -> None:
    params = given(alike=True, suspected=0, among=0)
    whole: list[Any] = []
    uncut = Driver(WITH, params)
    for offset, turn in enumerate(TALK):
        uncut.fold("s", 0, offset, as_raw(turn, turn.at), whole)
    assert any(isinstance(row[3], ContradictionSuspected) for row in whole)
    for cut in range(1, len(TALK)):
        rows: list[Any] = []
        first, second = Driver(WITH, params), Driver(WITH, params)
        for offset, turn in enumerate(TALK[:cut]):
            first.fold("s", 0, offset, as_raw(turn, turn.at), rows)
        second.load("s", {
            name: {key: value for key, value in state.changes() if value is not None}
            for name, state in zip(first.names, first.spaces["s"], strict=True)
        })  # fmt: skip
        for offset, turn in enumerate(TALK[cut:], cut):
            second.fold("s", 0, offset, as_raw(turn, turn.at), rows)
        assert rows == whole
