"""Contradictions, told by conversations: what is stated, what takes whose place, and how that is undone."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest

from processors import PROCESSORS as ALL
from processors.confidence import PROCESSOR as CONFIDENCE
from processors.contradictions import (
    PROCESSOR,
    BeliefConfirmed,
    BeliefContradicted,
    BeliefRestored,
    BeliefStated,
    ContradictionsParams,
    ContradictionSuspected,
)
from processors.contradictions.index import OF_EFFORT, Index, Statement
from processors.contradictions.reading import read, value
from streams.core.driver import Driver, Placed, ancestors, as_raw, fold
from streams.core.events import DAY, ContradictionJudged, MemoryRecalled, Outside, TurnRecorded, TurnRetracted
from streams.core.processor import Derived
from tests.laws import laws
from tests.laws.histories import START
from tests.processors.contradiction_sequences import FIRST, FRESH, FRESH_HELD, HELD_OUT, MORE, VARIED, Sequence
from tests.steps import Steps

WITH = ancestors(ALL, [PROCESSOR.name])
PROCESSORS = ancestors(ALL, [PROCESSOR.name, CONFIDENCE.name])


class Space(Steps):
    """Turns in a row, t0, t1, ..., folded with all that the processor reads."""

    def __init__(self, **params: Any) -> None:
        super().__init__(PROCESSOR, **params)
        self.day = 0.0
        self.turns = 0
        self.offset = 0
        self.driver = Driver(WITH, {p.name: self.params if p is PROCESSOR else p.params() for p in WITH})

    def give(self, event: Any, cause: Outside | None = None, recorded_at: int | None = None) -> list[Derived]:
        rows: list[Placed] = []
        self.driver.fold(event.space, 0, self.offset, as_raw(event, event.at), rows)
        self.offset += 1
        self.state = self.driver.spaces[event.space][self.driver.names.index(PROCESSOR.name)]
        derived = [row[3] for row in rows if type(row[3]) in PROCESSOR.emits]
        self.derived += derived
        return derived

    def say(
        self, content: str, days: float = 1, agent: str = "", role: str = "user", session: str = "s"
    ) -> list[Derived]:
        self.day += days
        turn = TurnRecorded("space", f"t{self.turns}", self.at, session, agent, role, content)  # type: ignore[arg-type]
        self.turns += 1
        return self.give(turn)

    def retract(self, turn: str) -> list[Derived]:
        return self.give(TurnRetracted("space", "r", self.at, "s", turn))

    def judge(self, turn: str, older: str, contradicts: bool = True, confidence: float = 1.0) -> list[Derived]:
        judged = ContradictionJudged("space", "j", self.at, turn, older, contradicts, confidence)
        return self.give(judged)

    @property
    def at(self) -> int:
        return START + int(self.day * DAY)


def links(events: Iterable[Derived]) -> list[tuple[str, str]]:
    return [(e.turn, e.older) for e in events if isinstance(e, BeliefContradicted)]


def restored(events: Iterable[Derived]) -> list[tuple[str, str, bool]]:
    return [(e.turn, e.newer, e.current) for e in events if isinstance(e, BeliefRestored)]


def found_in(sequence: Sequence) -> set[tuple[int, int]]:
    """The pairs that hold at the end of a sequence."""
    space = Space()
    for said in sequence.said:
        space.say(said.content, said.days, said.agent, said.role)
    gone = {(newer, turn) for turn, newer, _ in restored(space.derived)}
    return {(int(newer[1:]), int(older[1:])) for newer, older in links(space.derived) if (newer, older) not in gone}


@pytest.mark.parametrize(
    ("sequences", "precision", "recall"),
    [
        (FIRST, 0.95, 0.9),
        (MORE, 0.95, 0.9),
        (VARIED, 0.95, 0.9),
        (HELD_OUT, 0.9, 0.7),
        (FRESH, 0.95, 0.9),
        (FRESH_HELD, 0.9, 0.7),
    ],
)
def test_contradictions_are_found_and_look_alikes_are_not(
    sequences: tuple[Sequence, ...], precision: float, recall: float
) -> None:
    right = wrong = missed = 0
    for sequence in sequences:
        found, expected = found_in(sequence), set(sequence.contradicts)
        right += len(found & expected)
        wrong += len(found - expected)
        missed += len(expected - found)
    assert right / (right + wrong) >= precision
    assert right / (right + missed) >= recall


def test_a_statement_is_told_with_its_subject_attribute_and_value() -> None:
    [stated] = [e for e in Space().say("My favourite colour is blue.", agent="ann") if isinstance(e, BeliefStated)]
    assert (stated.turn, stated.subject, stated.attribute, stated.value) == ("t0", "ann", "favourite colour", "blue")
    assert (stated.affirmed, stated.place) == (True, 0)


def test_a_turn_that_states_nothing_tells_nothing_and_is_remembered_by_its_words_alone() -> None:
    space = Space()
    assert space.say("Good morning! How was your weekend?") == []
    assert space.state.keys("") == ["slot/0"]


def test_a_have_that_only_helps_another_verb_is_nothing_that_is_owned() -> None:
    said = Space().say("I've been rowing farther these weeks.", agent="ann")
    assert [e for e in said if isinstance(e, BeliefStated)] == []


def test_a_long_value_ends_with_a_whole_word() -> None:
    said = "my workshop is the long wooden building behind the old slaughterhouse of kirkkonummi"
    told = value(read(said).clauses[0])
    assert len(told) <= 60
    assert f" {told} " in f" {said} "


def test_a_changed_value_is_told_with_both_values_and_the_place_in_the_chain() -> None:
    space = Space()
    space.say("I live in Boston.")
    [link] = [e for e in space.say("I moved to Denver.") if isinstance(e, BeliefContradicted)]
    assert (link.turn, link.older, link.value, link.older_value) == ("t1", "t0", "denver", "boston")
    assert (link.rule, link.place) == ("changed", 1)
    assert ContradictionsParams().sure <= link.confidence <= 1


def test_a_chain_keeps_its_name_from_first_to_last() -> None:
    space = Space()
    for city in ("Boston", "Denver", "Seattle", "Austin"):
        space.say(f"I live in {city} now.")
    stated = space.all(BeliefStated)
    assert links(space.derived) == [("t1", "t0"), ("t2", "t1"), ("t3", "t2")]
    assert len({e.chain for e in stated}) == 1
    assert [e.place for e in stated] == [0, 1, 2, 3]


def test_a_chain_goes_on_when_its_beginning_is_no_longer_kept() -> None:
    space = Space()
    for n in range(20):
        space.say(f"The gateway port is {8000 + n}.")
    stated = space.all(BeliefStated)
    assert len({e.chain for e in stated}) == 1
    assert [e.place for e in stated] == [*range(20)]


@pytest.mark.parametrize(
    ("said", "again"),
    [
        ("My favourite colour is green.", "My favourite colour is green."),
        ("The meeting is on Friday at 10.", "The meeting is on Friday at 10."),
        ("The budget is 400 dollars.", "The budget is 400 dollars, as agreed."),
    ],
)
def test_what_is_said_again_in_the_same_words_confirms_what_was_said_and_doubts_nothing(said: str, again: str) -> None:
    space = Space()
    space.say(said)
    found = space.say(again)
    assert [e.older for e in found if isinstance(e, BeliefConfirmed)] == ["t0"]
    assert not [e for e in found if isinstance(e, BeliefContradicted | ContradictionSuspected)]


def test_what_is_said_again_confirms() -> None:
    space = Space()
    space.say("I live in Lisbon.")
    [confirmed] = [e for e in space.say("I live in Lisbon, Portugal.") if isinstance(e, BeliefConfirmed)]
    assert (confirmed.turn, confirmed.older) == ("t1", "t0")


def test_every_agent_speaks_for_itself() -> None:
    space = Space()
    space.say("I live in Ghent.", agent="ann")
    assert links(space.say("I live in Bruges.", agent="ben")) == []
    assert links(space.say("I live in Antwerp.", agent="ann")) == [("t2", "t0")]


def test_a_statement_that_comes_in_late_is_history_at_once() -> None:
    space = Space()
    space.say("I live in Turin.", days=30)
    assert links(space.say("I live in Milan.", days=-20)) == [("t0", "t1")]


def test_a_late_statement_comes_between_the_two_that_it_lies_between() -> None:
    space = Space()
    space.say("I live in Turin.")
    space.say("I live in Rome.", days=10)
    between = space.say("I live in Milan.", days=-5)
    assert links(between) == [("t2", "t0"), ("t1", "t2")]
    assert restored(between) == [("t0", "t1", False)]


def test_a_retracted_statement_leaves_the_one_before_current_again() -> None:
    space = Space()
    space.say("The deadline is Friday.")
    space.say("The deadline is Monday.")
    assert restored(space.retract("t1")) == [("t0", "t1", True)]
    assert links(space.say("The deadline is Tuesday.")) == [("t2", "t0")]


def test_a_retraction_in_the_middle_of_a_chain_joins_its_ends() -> None:
    space = Space()
    for day in ("Friday", "Monday", "Tuesday"):
        space.say(f"The deadline is {day}.")
    found = space.retract("t1")
    assert links(found) == [("t2", "t0")]
    assert restored(found) == [("t0", "t1", False), ("t1", "t2", False)]


def test_a_second_retraction_and_one_of_a_turn_that_said_nothing_change_nothing() -> None:
    space = Space()
    space.say("The deadline is Friday.")
    space.say("The deadline is Monday.")
    space.retract("t1")
    assert space.retract("t1") == []
    assert space.retract("t99") == []


def test_a_judgment_dissolves_a_link_and_another_makes_it_again() -> None:
    space = Space()
    space.say("The deadline is Friday.")
    space.say("The deadline is Monday.")
    assert restored(space.judge("t1", "t0", contradicts=False)) == [("t0", "t1", True)]
    again = space.judge("t1", "t0", confidence=0.8)
    assert [(e.rule, e.confidence) for e in again if isinstance(e, BeliefContradicted)] == [("judged", 0.8)]


def test_a_judgment_links_turns_of_which_no_rule_saw_anything() -> None:
    space = Space()
    space.say("Call me whenever you like.")
    space.say("Ring before nine.")
    assert links(space.judge("t1", "t0")) == [("t1", "t0")]
    assert links(space.judge("t1", "t0")) == []
    assert restored(space.retract("t1")) == [("t0", "t1", True)]


def test_a_judge_who_is_unsure_is_not_heard() -> None:
    space = Space()
    space.say("Call me whenever you like.")
    space.say("Ring before nine.")
    assert space.judge("t1", "t0", confidence=0.2) == []


def doubted(events: Iterable[Derived]) -> list[tuple[str, str]]:
    return [(e.turn, e.older) for e in events if isinstance(e, ContradictionSuspected)]


def doubtful() -> Space:
    """A space in which nothing is sure: what would be is a doubt."""
    space = Space(sure=1.0)
    space.say("My deadline is Friday.")
    assert doubted(space.say("My deadline is Monday.")) == [("t1", "t0")]
    return space


def test_what_is_not_sure_is_a_doubt_that_says_what_spoke_for_it() -> None:
    [doubt] = doubtful().all(ContradictionSuspected)
    assert ContradictionsParams().suspected <= doubt.confidence < 1
    assert doubt.why


def test_a_change_told_in_other_words_is_a_doubt_about_what_was_said_of_it() -> None:
    space = Space()
    for said in (
        "The van is at Pickering's till Thursday, gearbox again.",
        "I could do with a sandwich, honestly.",
        "Ring Maureen about the Hendry booking, six people for two nights.",
    ):
        space.say(said, session="monday", agent="ann")
    said = "Mrs Hendry rang, they're only four now so make it the small room instead."
    assert doubted(space.say(said, session="tuesday", agent="ann")) == [("t3", "t2")]
    assert doubted(space.say(said, session="tuesday", agent="ann")) == []  # only said again


def test_an_answer_that_takes_note_of_a_change_makes_a_doubt_of_what_was_none_and_small_talk_does_not() -> None:
    for answer, expected in (
        ("Moved to Friday, then.", [("t1", "t0")]),
        ("How lovely! What else is new?", []),
    ):
        space = Space(suspected=0.9, answered=0.52)
        space.say("The dentist is booked for Thursday, Lena only.", session="monday")
        assert not doubted(space.say("The dentist wants Lena on Friday.", session="tuesday"))
        assert doubted(space.say(answer, session="tuesday", role="assistant", agent="bot")) == expected


@pytest.mark.parametrize(
    ("before", "after", "noted"),
    [
        (
            "We meet the plumber on the 14th at nine.",
            "The plumber can't, he comes on the 16th.",
            "The 16th, then, instead of the 14th.",
        ),
        ("The choir meets at seven in the hall.", "The choir meets at eight.", "Eight, then."),
    ],
)
def test_a_doubt_is_sure_once_the_answer_takes_note_of_the_change_and_small_talk_makes_none_sure(
    before: str, after: str, noted: str
) -> None:
    for answer, expected in (
        (noted, [("t1", "t0")]),
        ("How lovely! What else is new?", []),
    ):
        space = Space()
        space.say(before, session="monday")
        told = space.say(after, session="tuesday")
        assert (doubted(told), links(told)) == ([("t1", "t0")], [])
        assert links(space.say(answer, session="tuesday", role="assistant", agent="bot")) == expected


@pytest.mark.parametrize(("role", "expected"), [("assistant", [("t2", "t0")]), ("user", [])])
def test_where_only_people_spoke_a_doubt_takes_more(role: str, expected: list[tuple[str, str]]) -> None:
    space = Space(among=1.0)
    space.say("The dentist is booked for Thursday, Lena only.", session="monday", agent="ann")
    space.say("Good morning, and what a morning it is.", session="tuesday", role=role, agent="eve")
    assert doubted(space.say("The dentist wants Lena on Friday.", session="tuesday", agent="ann")) == expected


def test_a_change_told_in_other_words_that_is_as_good_as_sure_takes_the_older_ones_place() -> None:
    space = Space()
    space.say("The budget is 3,000 euros a month for hosting.", session="monday")
    changed = "Also the budget was raised: it is 4,500 euros a month now, not 3,000."
    [link] = links(space.say(changed, session="tuesday"))
    assert link == ("t1", "t0")
    [told] = space.all(BeliefContradicted)
    assert told.rule == "inferred"
    assert told.confidence >= ContradictionsParams().inferred
    assert restored(space.judge("t1", "t0", contradicts=False)) == [("t0", "t1", True)]


def test_another_who_names_nothing_of_it_puts_nothing_in_doubt() -> None:
    space = Space()
    space.say("I'm on nights this week, ten till six.", agent="ann")
    said = space.say("Actually I'm on days now, eight till four.", agent="ben")
    assert not doubted(said)
    assert not links(said)
    assert links(space.say("Actually I'm on days now, eight till four.", agent="ann")) == [("t2", "t0")]


def test_a_doubt_that_is_confirmed_is_a_contradiction_and_leaves_no_doubt() -> None:
    space = doubtful()
    [link] = [e for e in space.judge("t1", "t0", confidence=0.9) if isinstance(e, BeliefContradicted)]
    assert (link.rule, link.confidence, link.attribute) == ("judged", 0.9, "deadline")
    assert restored(space.judge("t1", "t0", contradicts=False)) == [("t0", "t1", True)]


def test_a_doubt_that_is_dismissed_or_taken_back_is_gone() -> None:
    space = doubtful()
    assert restored(space.judge("t1", "t0", contradicts=False)) == [("t0", "t1", True)]
    assert space.judge("t1", "t0", contradicts=False) == []
    assert restored(doubtful().retract("t1")) == [("t0", "t1", True)]
    assert restored(doubtful().retract("t0")) == [("t0", "t1", False)]


def test_a_correction_that_only_points_finds_the_last_statement_of_the_sort() -> None:
    space = Space()
    space.say("The demo is on Wednesday.")
    space.say("The budget is 300 dollars.")
    assert links(space.say("Sorry, I meant Thursday.")) == [("t2", "t0")]
    found = space.say("Scratch that, make it 450 dollars.")
    assert links(found) + doubted(found) == [("t3", "t1")]


def test_a_pointing_correction_in_another_session_points_at_nothing() -> None:
    space = Space()
    space.say("The demo is on Wednesday.")
    assert space.say("Sorry, I meant Thursday.", session="other") == []


def test_less_sure_contradictions_can_be_left_out() -> None:
    space = Space(sure=1.0, suspected=1.0)
    space.say("The deadline is Friday.")
    assert not {BeliefContradicted, ContradictionSuspected} & {*map(type, space.say("The deadline is Monday."))}


def test_what_a_tool_returned_states_nothing() -> None:
    assert Space().say("The port is 8080.", role="tool") == []


# -- laws --------------------------------------------------------------------------------------------------------------


def told(days: float = 0.5) -> list[Outside]:
    """Every sequence in a row, in one space, with facts about its turns."""
    events: list[Outside] = []
    at = START
    for sequence in (*FIRST, *MORE, *VARIED, *FRESH):
        for said in sequence.said:
            at += int(days * DAY) if said.days > 0 else -DAY
            n = len(events)
            role: Any = said.role
            events.append(TurnRecorded("s0", f"e{n}", at, f"c{n % 3}", said.agent, role, said.content))
            if n % 7 == 3:
                events.append(MemoryRecalled("s0", f"m{n}", at, "what?", [f"e{n}", f"e{n - 1}"]))
            if n % 9 == 4:
                events.append(TurnRetracted("s0", f"r{n}", at, "c0", f"e{n - 1}"))
            if n % 11 == 5:
                events.append(ContradictionJudged("s0", f"j{n}", at, f"e{n}", f"e{n - 2}", n % 2 > 0))
    return events


@pytest.mark.parametrize("law", [laws.pure, laws.immutable, laws.idempotent, laws.well_formed, laws.small_steps])
def test_the_laws_hold_for_statements_in_a_row(law: Callable[..., None]) -> None:
    law(laws.together(PROCESSORS), laws.log_of(told()))


def test_a_fold_of_statements_in_a_row_goes_on_from_anywhere() -> None:
    laws.resumable(laws.together(PROCESSORS), laws.log_of(told()), [1, 57, 200])


def test_records_stay_small_whatever_is_stated() -> None:
    long = [
        TurnRecorded("s", f"{n:0200d}", START + n, "c" * 200, "é" * 200, "user", f"My {'ü' * 30} is {'ß' * 31}{n}.")
        for n in range(60)
    ]
    laws.small_steps(laws.together(PROCESSORS), laws.log_of(long))


def test_every_event_occurs() -> None:
    emitted = {cls for processor in (PROCESSOR, CONFIDENCE) for cls in processor.emits}
    assert emitted <= {type(row.event) for row in fold(PROCESSORS, told())}


def statement(number: int, effort: str, text: str) -> Statement:
    return Statement(f"t{number}", number, START + number, "s", "", "user", text, text.split(), 0, [], effort)


def test_what_was_said_of_the_same_effort_may_be_meant_though_no_word_is_shared() -> None:
    known = Index()
    for number in range(4 * OF_EFFORT):
        known.enter(statement(number, f"e{number % 3}", f"word{number}"))
    new = statement(200, "e1", "other")
    of_effort = [one.number for one in known.slots.values() if one.effort == "e1"][-OF_EFFORT:]
    back = {one.statement.number: one.back for one in known.meant(known.shared(new.words), new, ())}
    assert {number: back[number] for number in of_effort} == {n: place for place, n in enumerate(reversed(of_effort))}
    assert all(place == -1 for number, place in back.items() if number not in of_effort)


def test_which_statements_are_of_an_effort_is_the_same_whether_it_was_known_at_once_or_later() -> None:
    known = Index()
    for number in range(30):
        known.enter(statement(number, f"e{number % 2}", f"word{number}"))
    for number in (4, 9, 17, 18):
        assert known.rethread(f"t{number}", "e2") == (number, known.slots[number])
    assert known.rethread("unknown", "e2") is None
    assert known.efforts["e2"] == [4, 9, 17, 18]
    rebuilt = Index()
    for one in known.slots.values():
        rebuilt.enter(one)
    assert rebuilt == known
