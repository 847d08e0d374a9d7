"""Co-activation, told by contexts: which pairs count, when they link, and how links fade."""

from __future__ import annotations

from typing import Any

from processors.coactivation import PROCESSOR, LinkFormed, PairCoactivated
from processors.working_context import ContextScored
from streams.core.events import DAY
from streams.core.processor import Derived
from tests.steps import Steps


class Space(Steps):
    """Contexts in a row."""

    def __init__(self, **params: Any) -> None:
        super().__init__(PROCESSOR, **params)

    def use(
        self, *efforts: str, relevance: float = 1.0, day: float = 0, context: tuple[str, ...] = ()
    ) -> list[Derived]:
        shown = [*efforts, *context]
        n = len(shown)
        return self.give(
            ContextScored(
                "space", "s", int(day * DAY), "t", shown, [relevance] * n, ["expanded"] * n, [""] * n, [0.0] * n,
                [0.0] * n, [0] * n, [*efforts], [relevance] * len(efforts),
            )
        )  # fmt: skip

    def strength(self, *efforts: str, **how: Any) -> float:
        return next(e.strength for e in self.use(*efforts, **how) if isinstance(e, PairCoactivated))


def test_a_user_turn_that_touches_two_efforts_counts_their_pair_once_in_name_order() -> None:
    found = Space().use("b", "a")
    assert [(e.first, e.second, e.count) for e in found if isinstance(e, PairCoactivated)] == [("a", "b", 1)]


def test_efforts_that_merely_sit_in_context_together_do_not_count() -> None:
    space = Space()
    assert space.use("a", context=("b", "c")) == []
    assert space.state.keys("pair/") == []


def test_the_third_time_links_a_pair_and_does_so_once() -> None:
    space = Space()
    formed = [any(isinstance(e, LinkFormed) for e in space.use("a", "b")) for _ in range(5)]
    assert formed == [False, False, True, False, False]


def test_strength_grows_with_the_product_of_relevances_and_is_bounded_by_one() -> None:
    assert Space(eta=0.1).strength("a", "b") == 0.1
    assert Space(eta=0.1).strength("a", "b", relevance=0.5) == 0.025
    space = Space(eta=0.5)
    grown = [space.strength("a", "b") for _ in range(30)]
    assert grown == sorted(grown)
    assert grown[1] == 0.75
    assert 0.99 < grown[-1] <= 1


def test_strength_halves_with_a_half_life_of_disuse() -> None:
    space = Space(eta=0.4, half_life=10)
    assert space.strength("a", "b", day=0) == 0.4
    assert space.strength("a", "b", day=10) == 0.52  # .2 is left, and .4 of the .8 that is missing is added


def test_a_clock_that_goes_back_takes_nothing_away() -> None:
    space = Space(eta=0.4, half_life=10)
    space.use("a", "b", day=20)
    assert space.strength("a", "b", day=10) == 0.64


def test_three_efforts_make_three_pairs_and_one_turn_has_a_bound() -> None:
    assert len(Space().use("c", "a", "b")) == 3
    assert len(Space().use(*"abcdefghijkl")) == 15
    assert len(Space(together=3).use(*"abcdefghijkl")) == 3


def test_of_too_many_the_most_relevant_pair_up() -> None:
    space = Space(together=2)
    space.give(ContextScored("space", "s", 0, "t", [], [], [], [], [], [], [], ["a", "b", "c"], [0.1, 0.9, 0.8]))
    assert [(e.first, e.second) for e in space.all(PairCoactivated)] == [("b", "c")]


def test_there_is_one_record_per_pair() -> None:
    space = Space()
    for efforts in (("a", "b"), ("b", "a"), ("c", "a")):
        space.use(*efforts)
    assert space.state.keys("pair/") == ["pair/a/b", "pair/a/c"]
