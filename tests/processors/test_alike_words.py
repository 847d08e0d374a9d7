"""Words that are alike count, for doubts and for efforts, where the extra `semantic` is installed and asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib.metadata import PackageNotFoundError
from importlib.util import find_spec
from typing import Any

import pytest

from processors import PROCESSORS, manifest, open_efforts
from processors.contradictions import ContradictionsParams, ContradictionSuspected
from processors.contradictions.index import Index, Statement, words_of
from processors.open_efforts import OpenEffortsParams, TurnRethreaded, TurnThreaded, near
from processors.open_efforts.dialogue import ALIKE, ANSWERED_ALIKE, BEGINS_ALIKE
from processors.open_efforts.index import active
from processors.open_efforts.records import NEAR, Effort, Said
from streams.core.driver import Driver, ancestors, as_raw, fold, root_schema
from streams.core.errors import UsageError
from streams.core.events import DAY, Outside, TurnRecorded, TurnRetracted
from streams.core.params import Params
from streams.core.processor import RAW, Derived, Processor, State, lineages
from streams.core.text import alike, read

INSTALLED = pytest.mark.skipif(find_spec("wordllama") is None, reason=alike.WAY_OUT)


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


@INSTALLED
@pytest.mark.parametrize("name", ["contradictions", "open_efforts"])
def test_it_makes_another_lineage(name: str) -> None:
    some = ancestors(PROCESSORS, [name])
    on, off = (lineages(some, given(some, name, alike=wanted), root_schema()) for wanted in (True, False))
    assert on[RAW] == off[RAW]
    assert on[name] != off[name]


def given(some: Sequence[Processor[Any]], name: str, **values: Any) -> dict[str, Params]:
    """The parameters of some processors, these of one."""
    return {p.name: p.params(**(values if p.name == name else {})) for p in some}


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


# -- doubts and efforts ------------------------------------------------------------------------------------------------


@INSTALLED
@pytest.mark.parametrize(
    ("name", "values", "found"),
    [
        ("contradictions", {"suspected": 0, "among": 0}, ContradictionSuspected),
        ("open_efforts", {}, TurnThreaded),
    ],
)  # fmt: skip
def test_a_fold_that_is_cut_anywhere_makes_the_same(name: str, values: dict[str, Any], found: type[Derived]) -> None:
    some = ancestors(PROCESSORS, [name])
    params = given(some, name, alike=True, **values)
    whole: list[Any] = []
    uncut = Driver(some, params)
    for offset, turn in enumerate(TALK):
        uncut.fold("s", 0, offset, as_raw(turn, turn.at), whole)
    assert any(isinstance(row[3], found) for row in whole)
    for cut in range(1, len(TALK)):
        rows: list[Any] = []
        first, second = Driver(some, params), Driver(some, params)
        for offset, turn in enumerate(TALK[:cut]):
            first.fold("s", 0, offset, as_raw(turn, turn.at), rows)
        second.load("s", {
            name: {key: value for key, value in state.changes() if value is not None}
            for name, state in zip(first.names, first.spaces["s"], strict=True)
        })  # fmt: skip
        for offset, turn in enumerate(TALK[cut:], cut):
            second.fold("s", 0, offset, as_raw(turn, turn.at), rows)
        assert rows == whole


WEDDING = said(
    "I need a caterer for the wedding, somebody who cooks vegetarian food",
    "the boiler in the cellar leaks again, can you find me a plumber?",
    "what would a buffet with vegetable dishes cost per guest?",
)  # fmt: skip


def efforts(turns: Sequence[TurnRecorded], **values: Any) -> list[str]:
    """The effort of each turn."""
    rows = fold((manifest.PROCESSOR, open_efforts.PROCESSOR), turns, {"open_efforts": OpenEffortsParams(**values)})
    found = {row.event.turn: row.event.effort for row in rows if isinstance(row.event, TurnThreaded | TurnRethreaded)}
    return [found[turn.id] for turn in turns]


@INSTALLED
def test_a_turn_is_nearest_to_the_effort_whose_words_are_alike() -> None:
    caterer, plumber, _ = efforts(WEDDING)
    assert caterer not in ("", plumber)
    state = kept(WEDDING[:2])
    found = near.seen(state, state.index(active), [caterer, plumber, "unknown"], WEDDING[2])
    assert found[caterer] > (0.2,) * 4 > found[plumber]
    assert found[""] == found[caterer]
    assert "unknown" not in found
    assert caterer not in near.seen(state, state.index(active), [caterer, plumber], WEDDING[2], but=WEDDING[0].id)


@INSTALLED
def test_turns_in_another_language_than_the_table_s_are_told_nothing_of() -> None:
    german = said("wir brauchen für die Hochzeit noch jemanden, der kocht", "was kostet das Buffet für die Hochzeit?")
    state = kept(german[:1])
    assert [said.about for _, said in state.scan("turn/", Said)] == [""]
    state = kept(WEDDING[:2])
    assert near.seen(state, state.index(active), efforts(WEDDING[:2]), german[1]) == {}


@INSTALLED
def test_a_turn_goes_where_words_are_alike_as_far_as_the_weights_say() -> None:
    much, none = {"alike": 60.0}, dict.fromkeys((*ALIKE, *BEGINS_ALIKE, *ANSWERED_ALIKE), 0.0)
    caterer, plumber, buffet = efforts(WEDDING)
    assert buffet == plumber, "no word is shared: the talk goes on"
    assert efforts(WEDDING, alike=True, weights=much)[2] == caterer
    assert efforts(WEDDING, alike=True, weights=none)[2] == buffet
    assert efforts(WEDDING, weights=much)[2] == buffet, "it was not asked for"


def kept(events: Sequence[Outside]) -> State:
    """What open_efforts keeps of them, alike words counted."""
    some = (manifest.PROCESSOR, open_efforts.PROCESSOR)
    driver = Driver(some, given(some, "open_efforts", alike=True))
    for offset, event in enumerate(events):
        driver.fold("s", 0, offset, as_raw(event, event.at), [])
    return dict(zip(driver.names, driver.spaces["s"], strict=True))["open_efforts"]


@INSTALLED
def test_nothing_is_kept_of_what_a_turn_was_about_that_is_taken_back() -> None:
    state = kept([*WEDDING, TurnRetracted("s", "taken", WEDDING[2].at + 1, "talk", turn=WEDDING[0].id)])
    told = {said.turn: bool(said.about) for _, said in state.scan("turn/", Said)}
    assert told == {"t0": False, "t1": True, "t2": True}
    assert sorted(turn for _, effort in state.scan("effort/", Effort) for turn in effort.last) == ["t1", "t2"]


@INSTALLED
def test_of_an_effort_the_last_turns_are_known() -> None:
    many = said(*[f"the boiler in the cellar leaks, part {n}" for n in range(3 * NEAR)])
    ((_, effort),) = kept(many).scan("effort/", Effort)
    assert effort.last == [turn.id for turn in many[-NEAR:]]
