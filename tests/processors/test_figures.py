"""What figures a turn tells, in digits or in words, and how those of two turns stand to each other."""

from __future__ import annotations

from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from processors.contradictions.closer import _AMOUNTS, _NEAR, _ratio, looks
from processors.contradictions.figures import Figure, parts
from processors.contradictions.index import Meant, Statement
from tests.laws.laws import lines_of


def figures(said: str) -> list[tuple[str, int | str, int | str]]:
    return [(figure.sort, figure.value, figure.of) for part in parts(said) for figure in part.figures]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("From Monday 2nd March.", [("weekday", 1, ""), ("day", 2, 3)]),
        ("It's four ninety now.", [("number", 49000, "")]),
        ("Six hundred and twelve letterboxes", [("number", 61200, "letterbox")]),
        ("twenty-two of us", [("number", 2200, "")]),
        ("£1,860, 40% or 2.5k euros", [("money", 186000, ""), ("share", 4000, ""), ("money", 250000, "euro")]),
        ("half past seven, quarter to nine, half ten", [("clock", 450, ""), ("clock", 525, ""), ("clock", 630, "")]),
        ("at 19.30, 9 am, at seven", [("clock", 450, ""), ("clock", 540, ""), ("clock", 420, "")]),
        ("the 16th, 3 June, the twenty-third of May", [("day", 16, ""), ("day", 3, 6), ("day", 23, 5)]),
        ("In May it may be sat on the sun in June", [("month", 5, ""), ("month", 6, "")]),
        ("forty-four thousand five hundred", [("number", 4450000, "")]),
        ("invoice 5518-R for v2.3.1", [("code", "5518-r", ""), ("code", "v2.3.1", "")]),
        ("Am Montag um 9 Uhr, dreißig Leute", [("weekday", 1, ""), ("clock", 540, ""), ("number", 3000, "leut")]),
        ("One of them, the other, ... ? 1/2 $", [("code", "1/2", ""), ("code", "$", "")]),
    ],
)
def test_figures_are_read_in_digits_and_in_words(said: str, told: list[tuple[str, int | str, int | str]]) -> None:
    assert figures(said) == told


def statement(number: int, said: str, words: str) -> Statement:
    return Statement(f"t{number}", number, number, "s", "ann", "user", said, words.split(), 0, [])


def seen(new: str, *olds: str) -> list[list[str]]:
    newer = statement(9, new, "rota")
    found = [(-50 * at, Meant(statement(8 - at, old, "rota"), 4, 0, 1)) for at, old in enumerate(olds)]
    return looks(newer, found, "agent")[1]


def test_figures_are_compared_beside_what_two_statements_share() -> None:
    told = "My sister is 7. The rota starts on Monday, 15 March."
    [own] = seen("We bought 12 eggs. My start on the rota is Monday, 20 March now.", told)
    assert {"beside day:other", "beside weekday:same", "beside:other", "sentence:1 of 2", "old sentence:1 of 2"} <= {
        *own
    }
    assert "beside number:new" not in own
    assert "figure number:other" in own
    [again] = seen("The rota starts on the 15th, not on the 20th.", "The rota starts on the 15th.")
    assert "beside:both" in again


def test_amounts_are_near_by_how_many_times_one_is_the_other() -> None:
    [near] = seen("The rota has 14 names.", "The rota has 12 names.")
    assert "beside ratio:1 2" in near
    [far] = seen("The rota cost 900 pounds.", "The rota has 12 names.")
    assert "beside ratio:4 0" in far


def test_what_shares_less_than_another_that_was_said_since_is_seen_to() -> None:
    first, second = seen("The harvest rota moved to the 20th.", "The harvest rota is on the 15th.", "A rota? Never.")
    assert {"rank:0", "newest:True"} <= {*first}
    assert {"rank:1", "newest:False", "stale:1 1"} <= {*second}
    assert any(signal.startswith("more:-") for signal in second)


def pair_by_pair(new: list[Figure], old: list[Figure]) -> tuple[int, int]:
    """What the nearest two amounts that differ have in common, and how near they are, by looking at all pairs."""
    best = (-1, 0)
    for one in new:
        for other in old:
            low, high = one.value, other.value
            if not {one.sort, other.sort} <= _AMOUNTS or (one.sort == "share") != (other.sort == "share"):
                continue
            if isinstance(low, int) and isinstance(high, int) and low != high and min(low, high) > 0:
                unit = 2 if one.of and one.of == other.of else 0 if one.of and other.of else 1
                best = max(best, (unit, -(100 * max(low, high) // min(low, high))))
    return best


some_figures = st.lists(
    st.builds(
        Figure,
        st.sampled_from(["number", "money", "share", "clock", "code"]),
        st.one_of(st.integers(-3, 900), st.just("x")),
        st.sampled_from(["", "", "egg", "euro", "hen"]),
    ),
    max_size=6,
)


@given(some_figures, some_figures)
def test_the_nearest_amounts_are_those_of_all_pairs(new: list[Figure], old: list[Figure]) -> None:
    unit, near = pair_by_pair(new, old)
    times = next((times for most, times in _NEAR if -near < most), "4")
    assert _ratio(new, old, "ratio") == ([f"ratio:{times} {unit}"] if unit >= 0 else [])


def page(size: int, begin: int) -> list[Figure]:
    return [Figure("number", value) for value in range(begin, begin + size)]


def test_the_work_to_compare_pages_of_figures_grows_as_they_do() -> None:
    few, many = (lines_of(partial(_ratio, page(size, 1), page(size, size), "ratio")) for size in (50, 500))
    assert many < 20 * few
