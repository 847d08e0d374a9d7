"""Working context, told by what open efforts would say: who comes in, who gives way, and why."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from pydantic import ValidationError

from processors.open_efforts import (
    EffortConcluded,
    EffortProgressed,
    EffortRated,
    EffortResumed,
    TurnRethreaded,
    TurnThreaded,
    TurnUnthreaded,
)
from processors.working_context import (
    PRESETS,
    PROCESSOR,
    ContextChanged,
    ContextScored,
    WorkingContextParams,
)
from processors.working_context.record import Context, decays, known, left_of
from processors.working_context.scoring import SIGNALS
from streams.core.events import MINUTE, TurnRecorded
from streams.core.processor import Derived, Held, State
from tests.steps import Steps


class Talk(Steps):
    """A session told turn by turn."""

    def __init__(self, **params: Any) -> None:
        super().__init__(PROCESSOR, **params)
        self.turn = 0

    def say(
        self, effort: str, *, role: Any = "user", session: str = "s", reason: str = "segment",
        mentions: tuple[str, ...] = (), similar: dict[str, float] | None = None,
    ) -> list[Derived]:  # fmt: skip
        self.turn += 1
        at, turn = self.turn * MINUTE, f"t{self.turn}"
        mentioned = [effort, *mentions] if effort else list(mentions)
        alike = similar or {}
        threaded = TurnThreaded(
            "space", session, at, turn, effort, 1.0, reason, mentioned, list(alike), list(alike.values())
        )
        return self.give(threaded, TurnRecorded("space", turn, at, session, "ann", role, "words"))

    def conclude(self, effort: str, session: str = "s") -> list[Derived]:
        at = self.turn * MINUTE
        return self.give(EffortConcluded("space", session, at, effort, f"t{self.turn}", "completion", "done"))

    def scored(self, session: str = "s") -> ContextScored:
        return next(event for event in reversed(self.all(ContextScored)) if event.session == session)

    def efforts(self, session: str = "s") -> list[str]:
        return self.scored(session).efforts

    def shown(self, session: str = "s") -> dict[str, str]:
        scored = self.scored(session)
        return dict(zip(scored.efforts, scored.modes, strict=True))

    def changes(self) -> list[tuple[str, str, str]]:
        return [(e.effort, e.change, e.reason) for e in self.all(ContextChanged)]


def test_what_a_turn_belongs_to_comes_in_expanded_and_first() -> None:
    talk = Talk()
    talk.say("a")
    talk.say("b")
    assert talk.efforts() == ["b", "a"]
    assert talk.shown()["b"] == "expanded"
    assert talk.scored().signals[0] == "mentioned recent"
    assert talk.changes()[:2] == [("a", "entered", "mentioned"), ("b", "entered", "mentioned")]


def test_small_talk_brings_nothing_in() -> None:
    talk = Talk()
    talk.say("")
    assert talk.scored().efforts == []
    assert talk.changes() == []


def test_at_capacity_the_least_relevant_gives_way_and_not_the_oldest() -> None:
    talk = Talk()
    for _ in range(12):
        talk.say("old but long worked on")
    for effort in ("b", "b", "b", "once", "c", "c", "c"):
        talk.say(effort)
    changes = [e for e in talk.say("new") if isinstance(e, ContextChanged)]
    left = next(e for e in changes if e.change == "left")
    entered = next(e for e in changes if e.change == "entered")
    assert (left.effort, left.reason, left.other) == ("once", "displaced", "new")
    assert (entered.effort, entered.other) == ("new", "once")
    assert left.other_score == entered.score > left.score == entered.other_score
    assert "old but long worked on" in talk.efforts()


def test_the_floor_to_compare_with_displaces_the_oldest() -> None:
    talk = Talk(displace="oldest")
    for _ in range(12):
        talk.say("old but long worked on")
    for effort in ("b", "b", "b", "once", "c", "c", "c", "new"):
        talk.say(effort)
    assert "old but long worked on" not in talk.efforts()
    assert PRESETS["oldest-first"].displace == "oldest"


def test_a_displaced_effort_comes_back_when_there_is_room_again() -> None:
    talk = Talk()
    for effort in ("a", "a", "b", "b", "b", "c", "c", "c", "d", "d", "d", "e"):
        talk.say(effort)
    assert "a" not in talk.efforts()
    talk.conclude("e")
    assert "a" in talk.efforts()
    assert ("a", "entered", "relevant") in talk.changes()


def test_a_similar_effort_is_pulled_in_only_above_the_threshold() -> None:
    talk = Talk(pull=0.5)
    talk.say("a", similar={"near": 0.5, "far": 0.49})
    assert talk.efforts() == ["a", "near"]
    assert ("near", "entered", "similar") in talk.changes()


def test_a_new_session_of_the_space_begins_with_open_efforts_like_its_first_turn() -> None:
    talk = Talk()
    talk.say("a", session="monday")
    talk.say("b", session="monday")
    talk.say("c", session="tuesday", similar={"a": 0.8, "b": 0.1})
    assert talk.efforts("tuesday") == ["c", "a"]


def test_a_pulled_in_effort_does_not_displace_what_is_more_relevant() -> None:
    talk = Talk(capacity=3)
    for effort in ("a", "b", "c"):
        for _ in range(8):
            talk.say(effort)
    talk.say("c", mentions=("a", "b"), similar={"d": 0.6})
    assert sorted(talk.efforts()) == ["a", "b", "c"]


def test_signals_rank_as_told_mentioned_then_similar_then_the_medium_ones_alike() -> None:
    p = WorkingContextParams()
    assert p.mentioned > p.similar > p.medium
    talk = Talk()
    talk.say("important")
    talk.say("plain")
    talk.give(EffortRated("space", "s", 3 * MINUTE, "important", "high"))
    talk.say("named", similar={"like": 0.9})
    scores = dict(zip(talk.scored().efforts, talk.scored().scores, strict=True))
    assert scores["named"] > scores["like"] > scores["important"] > scores["plain"]


def test_efforts_that_share_telling_terms_are_connected() -> None:
    talk = Talk()
    shared = "login token expiry cookie mobile session logout refresh"
    for effort, terms in (("a", shared + " safari"), ("b", shared + " android"), ("c", "login token beans peas")):
        talk.say(effort)
        talk.give(EffortProgressed("space", "s", 1, effort, effort, "", terms.split(), 1, 1))
    talk.say("a")
    signals = dict(zip(talk.scored().efforts, talk.scored().signals, strict=True))
    assert signals["b"] == "recent connected"
    assert signals["c"] == "recent unconnected"


def test_long_untouched_and_unconnected_lower_the_score() -> None:
    talk = Talk()
    talk.say("a")
    talk.say("b")
    before = dict(zip(talk.efforts(), talk.scored().scores, strict=True))["a"]
    for _ in range(100):
        talk.say("b")
    after = dict(zip(talk.efforts(), talk.scored().scores, strict=True))["a"]
    assert after < before / 2
    assert talk.scored().signals[-1] == "recent untouched unconnected"


def test_an_effort_no_longer_talked_about_is_condensed_and_expands_again_when_named() -> None:
    talk = Talk()
    talk.say("a")
    for _ in range(6):
        talk.say("b")
    assert talk.shown() == {"b": "expanded", "a": "summary"}
    talk.say("b", mentions=("a",))
    assert talk.shown() == {"b": "expanded", "a": "expanded"}
    assert [c for c in talk.changes() if c[0] == "a"] == [
        ("a", "entered", "mentioned"), ("a", "condensed", "faded"), ("a", "expanded", "relevant"),
    ]  # fmt: skip


def test_a_concluded_effort_leaves_and_its_summary_stays_for_twenty_user_turns() -> None:
    talk = Talk()
    talk.say("a")
    talk.conclude("a")
    assert talk.shown() == {"a": "concluded"}
    for _ in range(20):
        talk.say("b")
        talk.say("b", role="assistant")
    assert talk.shown()["a"] == "concluded"
    talk.say("b")
    assert "a" not in talk.shown()
    assert [c for c in talk.changes() if c[0] == "a"][-2:] == [
        ("a", "concluded", "concluded"), ("a", "dropped", "unreferenced"),
    ]  # fmt: skip


def test_thanks_after_a_conclusion_keeps_the_summary_without_recalling_it() -> None:
    talk = Talk()
    talk.say("a")
    talk.conclude("a")
    talk.say("a")
    assert talk.shown() == {"a": "concluded"}


def test_a_turn_that_names_a_concluded_effort_brings_its_summary_back_marked_recalled() -> None:
    talk = Talk()
    talk.say("a")
    talk.conclude("a")
    for _ in range(25):
        talk.say("b")
    assert talk.efforts() == ["b"]
    talk.say("b", mentions=("a",))
    assert talk.shown() == {"b": "expanded", "a": "recalled"}
    assert talk.changes()[-1] == ("a", "recalled", "mentioned")


def test_likeness_alone_never_brings_a_concluded_effort_back() -> None:
    talk = Talk()
    talk.say("a")
    talk.conclude("a")
    for _ in range(25):
        talk.say("b")
    talk.say("b", similar={"a": 0.9})
    talk.say("", similar={"a": 0.9})
    assert talk.efforts() == ["b"]


def test_a_resumed_effort_is_open_in_context_again() -> None:
    talk = Talk()
    talk.say("a")
    talk.conclude("a")
    talk.say("b")
    talk.give(EffortResumed("space", "s", 3, "a", "t3", "new work"))
    assert talk.shown()["a"] == "expanded"
    assert talk.changes()[-1] == ("a", "entered", "resumed")


def test_other_sessions_notice_a_conclusion_at_their_next_turn() -> None:
    talk = Talk()
    talk.say("a", session="one")
    talk.say("a", session="two")
    talk.conclude("a", session="one")
    assert talk.shown("two") == {"a": "expanded"}
    talk.say("b", session="two")
    assert talk.shown("two") == {"b": "expanded", "a": "concluded"}


def test_kept_conclusions_are_bounded() -> None:
    talk = Talk(concluded_kept=3)
    for effort in "abcde":
        talk.say(effort)
        talk.conclude(effort)
    assert talk.shown() == {"e": "concluded", "d": "concluded", "c": "concluded"}
    assert ("a", "dropped", "crowded") in talk.changes()


def test_a_tool_names_nothing_and_changes_nothing() -> None:
    talk = Talk()
    talk.say("a")
    assert talk.say("a", role="tool", mentions=("b",), similar={"c": 1.0}) == []
    talk.say("b")
    talk.say("a", role="tool", mentions=("c",), similar={"d": 1.0})
    assert sorted(talk.efforts()) == ["a", "b"]
    assert talk.scored().touched == []


def test_a_recalled_effort_is_among_what_a_turn_touched() -> None:
    talk = Talk()
    talk.say("a")
    talk.conclude("a")
    for _ in range(25):
        talk.say("b")
    talk.say("b", mentions=("a",))
    assert talk.scored().touched == ["b", "a"]
    assert talk.scored().activations == [talk.scored().scores[talk.efforts().index(e)] for e in ("b", "a")]


def test_while_the_talk_goes_on_the_context_stands_still_and_nothing_is_told() -> None:
    talk = Talk(rescore=8)
    talk.say("a")
    talk.say("b")
    before = talk.scored()
    assert [talk.say("b", similar={"b": 0.9, "a": 0.1}) for _ in range(8)] == [[]] * 8
    talk.say("b")
    assert (talk.scored().turn, talk.scored().touched) == (f"t{talk.turn}", ["b"])
    assert talk.scored().scores != before.scores


def test_only_user_turns_tell_what_they_touched() -> None:
    talk = Talk()
    talk.say("a", mentions=("b",), similar={"c": 0.7})
    assert talk.scored().touched == ["a", "b", "c"]
    assert len(talk.scored().activations) == 3
    talk.say("b", role="assistant", mentions=("a",))
    assert talk.scored().touched == []


def test_a_revised_turn_moves_between_efforts() -> None:
    talk = Talk()
    talk.say("a")
    talk.say("wrong")
    talk.give(TurnRethreaded("space", "s", 2, "t2", "right"))
    assert sorted(talk.efforts()) == ["a", "right"]
    assert ("wrong", "left", "revised") in talk.changes()


def test_an_effort_whose_only_turn_is_retracted_leaves() -> None:
    talk = Talk()
    talk.say("a")
    talk.say("a")
    talk.say("b")
    for turn, effort in (("t3", "b"), ("t2", "a")):
        talk.give(TurnUnthreaded("space", "s", 5, turn, effort))
    assert talk.efforts() == ["a"]
    assert ("b", "left", "retracted") in talk.changes()


def test_where_a_retraction_or_a_revision_makes_room_what_had_to_leave_comes_back() -> None:
    for back in (
        TurnUnthreaded("space", "s", 5, "t4", "hotel"),
        TurnRethreaded("space", "s", 5, "t4", ""),
    ):
        talk = Talk(capacity=1)
        for effort in ("checkout", "checkout", "checkout", "hotel"):
            talk.say(effort)
        assert talk.efforts() == ["hotel"]
        talk.give(back)
        assert talk.efforts() == ["checkout"]
        assert talk.changes()[-1] == ("checkout", "entered", "relevant") or talk.changes()[-1][1] == "expanded"


def test_a_conclusion_elsewhere_is_noticed_when_a_retraction_changes_the_context() -> None:
    talk = Talk()
    talk.say("a")
    talk.say("b")
    talk.conclude("a", session="other")
    talk.give(TurnUnthreaded("space", "s", 5, "t2", "b"))
    assert talk.shown() == {"a": "concluded"}


def test_what_was_never_touched_is_not_long_untouched() -> None:
    def seen(turns: int, effort: str) -> str:
        talk = Talk(untouched_after=5)
        talk.say("long ago")
        for _ in range(turns):
            talk.say("work")
        talk.say("work", similar={"new": 0.5, "long ago": 0.5})
        scored = talk.scored()
        return scored.signals[scored.efforts.index(effort)]

    assert "untouched" not in seen(20, "new").split()
    assert seen(2, "new").split() == seen(20, "new").split()


def test_a_trace_is_the_same_and_takes_no_room_however_long_it_lasts() -> None:
    assert [left_of(40.0, idle) for idle in (0, 40, 80, 800, 801)] == [1.0, 0.5, 0.25, 0.5**20, 0.0]
    assert left_of(1e6, 1_000_000) == 0.5
    assert left_of(1e6, 20_000_001) == 0.0
    assert len(decays(1e6)) <= 1024
    assert len(decays(1e-9)) == 1
    talk = Talk(half_life=1e6, concluded_for=1_000_000)
    for turn in range(40):
        talk.say("ab"[turn % 2])
    talk.conclude("b")
    talk.say("a", mentions=("b",))
    assert talk.shown() == {"a": "expanded", "b": "recalled"}
    for name in ("half_life", "concluded_for"):
        with pytest.raises(ValidationError):
            WorkingContextParams(**{name: 10_000_000})


def test_scores_lie_between_zero_and_one_and_lists_have_one_length() -> None:
    talk = Talk()
    for at in range(60):
        talk.say("abcdef"[at % 6], mentions=("a",), similar={"b": 1.0, "g": 0.9})
    assert len(talk.all(ContextScored)) == 60
    for event in talk.all(ContextScored):
        lists = (event.scores, event.modes, event.signals, event.similarities, event.recencies, event.idle)
        assert {len(one) for one in lists} == {len(event.efforts)}
        assert all(0 <= score <= 1 for score in event.scores)
        assert len(event.efforts) <= 4


@pytest.mark.parametrize("preset", sorted(PRESETS))
def test_cut_anywhere_and_read_back_the_fold_goes_on_the_same(preset: str) -> None:
    def story(talk: Talk, cut: int) -> list[Derived]:
        for at in range(80):
            if at == cut:
                saved = {key: value for key, value in talk.state.changes() if value is not None}
                talk.state = State(Held(saved))
            talk.say("abcdefg"[at * 5 % 7], similar={"h": at % 10 / 10}, mentions=("b",) if at % 9 == 0 else ())
            if at % 11 == 0:
                talk.conclude("abcdefg"[at % 7])
            if at % 23 == 0:
                talk.give(EffortResumed("space", "s", at, "b", f"t{at}", "new work"))
        return talk.derived

    params = PRESETS[preset].model_dump()
    whole = story(Talk(**params), -1)
    for cut in (1, 17, 40, 79):
        assert story(Talk(**params), cut) == whole


def test_an_index_kept_up_to_date_equals_one_rebuilt() -> None:
    talk = Talk()
    for at in range(40):
        talk.say("abcdefg"[at % 7], mentions=("b",))
        if at % 5 == 0:
            talk.conclude("abcdefg"[at % 7])
    rebuilt = State(Held((key, value) for key, value in talk.state.changes() if value is not None))
    assert rebuilt.index(known) == talk.state.index(known)


def test_a_sessions_record_stays_small_however_long_it_lasts() -> None:
    talk = Talk()
    for at in range(600):
        talk.say(f"effort-{at:016x}", similar={f"effort-{at // 2:016x}": 0.9})
        if at % 3 == 0:
            talk.conclude(f"effort-{at:016x}")
    record = talk.state.get("session/s", Context)
    assert len(orjson.dumps(record)) < 6000


def test_every_set_of_signals_has_its_names() -> None:
    assert SIGNALS[0] == ""
    assert SIGNALS[-1] == "mentioned similar recent important connected untouched unconnected"
