"""Marks are a sieve: what passes is looked at closely, and nothing that has a mark is held back."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from streams.core.text.marks import Marks

PARTS = ("on hold", ", so ", "s why", "going to", "because", "mind", "因")
ONE, OTHER = Marks(*PARTS), Marks("deadline")
PIECES = [*PARTS, *" ,.\n", "deadline", "on", "hold", "so", "some", "why", "that's", "ВЫ", "BEcause", "going", "to"]


@given(st.lists(st.sampled_from(PIECES)).map("".join))
def test_a_turn_with_a_mark_always_passes(content: str) -> None:
    assert ONE.may_be_in(content) or not any(part in content.lower() for part in PARTS)


def test_a_turn_without_a_mark_is_held_back_by_each_set_for_itself() -> None:
    assert not ONE.may_be_in("Some of it is also done, and the deadline stands.")
    assert OTHER.may_be_in("Some of it is also done, and the Deadline stands.")
    assert ONE.may_be_in("It is on\nHOLD")


def test_marks_that_are_made_after_a_text_was_asked_about_are_found_in_it() -> None:
    text = "The gasket of the samovar leaks."
    assert not ONE.may_be_in(text)
    assert Marks("gasket").may_be_in(text)
