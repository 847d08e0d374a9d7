"""Long-term memory: what a session leaves, which sessions are given it, and what makes it fall out."""

from __future__ import annotations

from typing import Any

import pytest

from processors.contradictions import BeliefContradicted, BeliefRestored
from processors.direct_access import SessionNoted
from processors.long_term import PROCESSOR, EntriesLoaded, EntryDistilled
from processors.manifest import ArtifactMade
from processors.open_efforts import EffortConcluded, EffortResumed, TurnThreaded
from streams.core.events import (
    DAY,
    HOUR,
    MINUTE,
    ClockTicked,
    DistillationWritten,
    MemoryRewarded,
    SessionEnded,
    SessionInherited,
    TurnRecorded,
    TurnRetracted,
)
from tests.laws.laws import MAX_RECORD
from tests.memories import make
from tests.steps import Steps

TRAINS = "I prefer trains to planes."
KILN = "The kiln of the museum is a Naber 350."


class Space(Steps):
    """A space in which sessions come and go, a minute between one event and the next."""

    def __init__(self, **params: Any) -> None:
        super().__init__(PROCESSOR, **params)
        self.now, self.events = DAY, 0

    def next(self) -> tuple[str, int]:
        self.events += 1
        self.now += MINUTE
        return f"e{self.events}", self.now

    def turn(self, content: str, session: str, role: str = "user") -> TurnRecorded:
        id, at = self.next()
        return TurnRecorded("space", id, at, session, "ann", role, content)  # type: ignore[arg-type]

    def say(self, content: str, session: str = "old", role: str = "user") -> TurnRecorded:
        turn = self.turn(content, session, role)
        self.give(turn)
        return turn

    def note(self, text: str, session: str = "old", kind: str = "fact", **given: Any) -> TurnRecorded:
        """A turn of which direct access notes something."""
        turn = self.turn(text, session)
        self.derive(
            SessionNoted, turn, **{"note": f"note-{turn.id}", "kind": kind, "text": text, "status": "current"} | given
        )
        self.give(turn)
        return turn

    def derive(self, event: type, turn: TurnRecorded, /, **given: Any) -> None:
        self.give(
            make(event, **{"space": "space", "session": turn.session, "at": turn.at, "turn": turn.id} | given), turn
        )

    def conclude(self, text: str, *turns: TurnRecorded, title: str = "", kind: str = "fix") -> TurnRecorded:
        """A turn with which the manifest concludes something."""
        turn = self.turn("That fixed it, thanks!", "old")
        ids = [*(one.id for one in turns), turn.id]
        made = make(
            ArtifactMade, space="space", session="old", at=turn.at, kind=kind, title=title, body=f"{text}\nThanks!",
            segment="segment-1", turns=ids,
        )  # fmt: skip
        self.give(made, turn)
        self.give(turn)
        return turn

    def fact(self, kind: type, **given: Any) -> None:
        id, at = self.next()
        self.give(kind("space", id, given.pop("at", at), **given))

    def end(self, session: str = "old") -> None:
        self.fact(SessionEnded, session=session)

    def pass_days(self, days: float) -> None:
        """Time passes, an event at a time, until nothing more falls due."""
        self.now += int(days * DAY)
        for _ in range(20):
            self.fact(ClockTicked)

    @property
    def entries(self) -> dict[str, EntryDistilled]:
        """The last of each entry, by its text."""
        return {event.text: event for event in self.all(EntryDistilled)}

    @property
    def statuses(self) -> dict[str, str]:
        return {text: event.status for text, event in self.entries.items()}

    def loaded(self, session: str = "new") -> list[str]:
        """The texts that a session was given."""
        text = {event.entry: event.text for event in self.all(EntryDistilled)}
        given = [event for event in self.all(EntriesLoaded) if event.session == session]
        return [text[entry] for entry in given[-1].entries] if given else []


def left(*texts: str, **params: Any) -> Space:
    """A space with a session that is over, and of which these notes were worth keeping."""
    space = Space(**params)
    for text in texts:
        space.note(text)
    space.end()
    return space


# -- distilling --------------------------------------------------------------------------------------------------------


def test_nothing_is_distilled_before_the_session_is_over() -> None:
    space = Space()
    turn = space.note(TRAINS)
    assert space.entries == {}
    space.end()
    assert [(one.kind, one.text, one.by, one.turns, one.status) for one in space.all(EntryDistilled)] == [
        ("preference", TRAINS, "ann", [turn.id], "active")
    ]


def test_a_session_in_which_nothing_was_said_for_an_hour_is_over_dated_at_that_hour() -> None:
    space = Space()
    space.note(TRAINS)
    last = space.say("And a coffee.")
    space.now += 3 * HOUR
    space.fact(ClockTicked)
    assert [one.at for one in space.all(EntryDistilled)] == [last.at + HOUR]


def test_each_turn_keeps_a_session_from_being_over() -> None:
    space = Space()
    space.note(TRAINS)
    for _ in range(4):
        space.now += 50 * MINUTE
        space.say("And a coffee.")
    assert space.entries == {}


def test_a_note_after_the_pause_is_none_of_the_session_that_was_over_by_then() -> None:
    space = Space()
    space.note(TRAINS)
    space.now += 3 * HOUR
    space.note(KILN)
    assert [*space.entries] == [TRAINS]
    space.end()
    assert [*space.entries] == [TRAINS, KILN]


def test_a_conclusion_becomes_what_worked_with_its_problem_and_what_was_tried_before() -> None:
    space = Space()
    asked = space.say("The login test fails: expected 200, got 401.")
    guessed = space.turn("My guess is the proxy, it strips the login header.", "old", "assistant")
    space.derive(SessionNoted, guessed, note="n", kind="assumption", text=guessed.content, status="superseded")
    found = space.say("I changed the login test to the new cookie.", role="assistant")
    last = space.conclude("I changed the login test to the new cookie.", asked, found, title=asked.content)
    space.end()
    (entry,) = space.all(EntryDistilled)
    assert (entry.kind, entry.text, entry.problem) == ("solution", found.content, asked.content)
    assert entry.failed == [guessed.content]
    assert {asked.id, guessed.id, last.id} <= {*entry.turns}


def test_a_solution_goes_with_the_turn_that_asked_and_with_the_one_that_concluded_however_many_it_rests_on() -> None:
    for place in (0, -1):
        space = Space()
        space.say("Hello.", role="assistant")
        turns = [space.say(f"Turn {n} is about the kiln.") for n in range(4)]
        turns.append(space.conclude("The kiln of the museum needs the fuse F7.", *turns))
        space.end()
        assert space.last(EntryDistilled).turns == [turn.id for turn in turns]
        space.fact(TurnRetracted, session="old", turn=turns[place].id)
        assert {*space.statuses.values()} == {"retracted"}


def test_a_solution_has_the_turns_of_what_was_tried_beside_the_one_that_asked_and_the_last() -> None:
    space = Space()
    space.say("Hello.", role="assistant")
    tried = [
        space.conclude(f"A new {part} does not help the kiln of the museum.", kind="negative-result")
        for part in ("plug", "door")
    ]
    turns = [space.say(f"Turn {n} is about the kiln.") for n in range(4)]
    last = space.conclude("The kiln of the museum needs the fuse F7.", *turns)
    space.end()
    entry = space.last(EntryDistilled)
    assert len(entry.failed) == 2
    assert entry.turns[0] == turns[0].id
    assert entry.turns[-1] == last.id
    assert {one.id for one in tried} <= {*entry.turns}


def test_what_does_not_work_is_kept_where_nothing_was_found_that_does() -> None:
    space = Space()
    space.conclude("A basic economy ticket cannot be refunded without insurance.", kind="negative-result")
    space.end()
    assert [(one.kind, one.status) for one in space.all(EntryDistilled)] == [("failure", "active")]


@pytest.mark.parametrize(
    "text",
    [
        "I need the reservation ID to proceed with the cancellation.",
        "I don't have the reservation ID with me right now.",
        "That was in the museum.",
        "I love this one.",
        "I'm so happy about the kiln!",
        "We talked about it yesterday.",
        "Payment: $172 using Gift Card",
        "Setbacks are opportunities for comebacks.",
        "Do I prefer trains?",
    ],
)
def test_what_holds_for_the_moment_or_does_not_stand_alone_is_not_kept(text: str) -> None:
    assert left(text).entries == {}


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (TRAINS, "preference"),
        ("I'm allergic to most reptiles.", "preference"),
        ("My favourite tea is Darjeeling.", "preference"),
        (KILN, "fact"),
        ("My user ID is mia_kim_4397.", "fact"),
        ("We've got a puppy and a kitten.", "fact"),
    ],
)
def test_lasting_facts_and_preferences_are_kept_as_they_were_said(text: str, kind: str) -> None:
    assert [(one.kind, one.text) for one in left(text).all(EntryDistilled)] == [(kind, text)]


def test_how_a_user_wants_it_done_is_kept_though_it_states_nothing() -> None:
    space = Space()
    space.say("Thanks. From now on, write all dates as ISO 8601 in the report.")
    space.say("I would always seal the kiln with clay.", role="assistant")
    space.end()
    assert [(one.kind, one.text) for one in space.all(EntryDistilled)] == [
        ("preference", "From now on, write all dates as ISO 8601 in the report.")
    ]


def test_what_an_agent_took_down_is_kept_as_it_is() -> None:
    space = Space()
    space.note("It cracks above 900.", turn="", note="noted-1")
    space.end()
    assert [(one.text, one.turns, one.by) for one in space.all(EntryDistilled)] == [("It cracks above 900.", [], "")]


def test_a_session_leaves_six_entries_those_worth_most() -> None:
    space = left(*(f"Our oven {n} is in room {n}." for n in range(7)), TRAINS)
    assert len(space.entries) == 6
    assert TRAINS in space.entries


def test_a_note_that_another_took_the_place_of_is_not_distilled() -> None:
    space = Space()
    turn = space.note("Our oven is in room 5.")
    space.derive(SessionNoted, turn, note=f"note-{turn.id}", kind="fact", text=turn.content, status="superseded")
    space.end()
    assert space.entries == {}


# -- loading -----------------------------------------------------------------------------------------------------------


def test_a_new_session_is_given_what_its_first_turn_calls_for_and_nothing_else() -> None:
    space = left(TRAINS, KILN, "My user ID is mia_kim_4397.")
    space.say("Can we take trains or planes to Vienna?", "new")
    assert space.loaded() == [TRAINS]
    (given,) = space.all(EntriesLoaded)
    assert given.whys == ["words: train, plane"]


@pytest.mark.parametrize("said", ["Hi!", "Hello there, how are you today?", "How do I tune a ukulele?", "你好"])
def test_words_that_nothing_fits_load_nothing(said: str) -> None:
    space = left(TRAINS, KILN)
    space.say(said, "new")
    assert space.all(EntriesLoaded) == []


def test_after_a_greeting_the_next_turn_calls_but_not_every_turn_after_it() -> None:
    space = left(TRAINS, KILN)
    space.say("Hi!", "new")
    space.say("Which kiln has the museum now?", "new")
    space.say("And are there trains or planes to Vienna?", "new")
    assert space.loaded() == [KILN]


def test_a_session_is_not_given_its_own_entries_and_no_other_space_s() -> None:
    space = Space()
    space.note(TRAINS)
    space.end()
    space.say("Trains or planes?", "old")
    assert space.all(EntriesLoaded) == []


def test_no_more_is_loaded_than_was_asked_for() -> None:
    space = left(*(f"Our museum kiln {n} is a Naber." for n in range(6)), most=2)
    space.say("Which kiln of the museum is a Naber?", "new")
    assert len(space.loaded()) == 2
    few = left(*(f"Our museum kiln {n} is a Naber." for n in range(6)), tokens=20)
    few.say("Which kiln of the museum is a Naber?", "new")
    assert 0 < len(few.loaded()) < 4


def test_a_session_inherits_what_another_left_and_was_given_and_that_one_is_over() -> None:
    space = left(TRAINS)
    space.say("Trains or planes to Vienna?", "middle")
    space.note(KILN, "middle")
    space.fact(SessionInherited, session="new", older="middle")
    assert space.loaded("middle") == [TRAINS]
    assert space.loaded("new") == [KILN, TRAINS]
    assert space.last(EntriesLoaded).whys == ["inherited from middle"] * 2


def test_who_inherits_from_nobody_is_given_nothing() -> None:
    space = left(TRAINS)
    space.fact(SessionInherited, session="new", older="nobody")
    assert space.all(EntriesLoaded) == []


# -- falling out -------------------------------------------------------------------------------------------------------


def contradicted(space: Space, turn: TurnRecorded, value: str) -> TurnRecorded:
    newer = space.turn("Buses are better.", "later")
    space.derive(BeliefContradicted, newer, older=turn.id, older_value=value)
    return newer


def test_what_is_contradicted_in_another_session_falls_out_and_comes_back_with_the_statement() -> None:
    space = Space()
    turn = space.note(TRAINS)
    space.end()
    newer = contradicted(space, turn, "trains")
    assert space.statuses == {TRAINS: "contradicted"}
    space.say("Trains or planes to Vienna?", "new")
    assert space.all(EntriesLoaded) == []
    space.derive(BeliefRestored, newer, turn=turn.id, newer=newer.id, value="trains", current=True)
    assert space.statuses == {TRAINS: "active"}


def test_what_is_contradicted_before_its_session_is_over_is_never_distilled() -> None:
    space = Space()
    turn = space.note(TRAINS)
    contradicted(space, turn, "trains")
    space.end()
    assert space.entries == {}


def test_another_statement_of_the_same_turn_contradicts_nothing() -> None:
    space = Space()
    turn = space.note(TRAINS)
    space.end()
    contradicted(space, turn, "Darjeeling")
    assert space.statuses == {TRAINS: "active"}


def test_an_entry_whose_use_misled_falls_out_and_comes_back_where_it_helps() -> None:
    space = Space()
    turn = space.note(TRAINS)
    space.end()
    space.fact(MemoryRewarded, turns=[turn.id], reward=-0.3)
    assert space.statuses == {TRAINS: "active"}
    space.fact(MemoryRewarded, turns=["unknown", turn.id], reward=-1.0)
    assert space.statuses == {TRAINS: "misled"}
    space.fact(MemoryRewarded, turns=[turn.id], reward=1.0)
    assert space.statuses == {TRAINS: "active"}


def test_what_nobody_calls_for_expires_and_is_collected() -> None:
    space = left(TRAINS, lasts=30, collect=10)
    space.pass_days(31)
    space.pass_days(11)
    told = space.all(EntryDistilled)
    assert [one.status for one in told] == ["active", "expired", "collected"]
    assert told[2].at - told[1].at == 10 * DAY
    assert not space.state.keys("entry/")
    assert not space.state.keys("turn/")
    assert not space.state.keys("due/")


def test_what_expired_while_nothing_happened_is_neither_loaded_nor_inherited() -> None:
    """However many expired together: at each event one of them is told so."""
    museum = ("printer", "kettle", "violin", "harbour", "turbine", "lantern", "compass", "easel")
    space = Space(lasts=180)
    for item in museum:
        space.note(f"The {item} of the museum is a Naber.", item)
        space.end(item)
    space.now += 400 * DAY
    space.say("Is the easel of the museum a Naber?", "new")
    space.fact(SessionInherited, session="next", older="easel")
    assert not space.loaded("new") + space.loaded("next")
    space.pass_days(31)
    assert {*space.statuses.values()} == {"collected"}


@pytest.mark.parametrize("days", [1, 100, 170])
@pytest.mark.parametrize("misled", [True, False])
def test_what_fell_out_is_collected_as_long_after_that_as_is_asked_for(days: int, misled: bool) -> None:
    space = Space(lasts=180, collect=30)
    turn = space.note(TRAINS)
    space.end()
    space.now += days * DAY
    if misled:
        space.fact(MemoryRewarded, turns=[turn.id], reward=-1.0)
    else:
        contradicted(space, turn, "trains")
    fell = space.last(EntryDistilled).at
    space.pass_days(29)
    assert space.statuses == {TRAINS: "misled" if misled else "contradicted"}
    space.pass_days(400)
    assert [one.at - fell for one in space.all(EntryDistilled)][-1] == 30 * DAY
    assert space.statuses == {TRAINS: "collected"}
    assert not space.state.keys("due/")


def test_what_comes_back_is_looked_at_when_it_expires_and_not_when_it_would_have_been_forgotten() -> None:
    space = Space(lasts=180, collect=30)
    turn = space.note(TRAINS)
    space.end()
    space.fact(MemoryRewarded, turns=[turn.id], reward=-1.0)
    space.fact(MemoryRewarded, turns=[turn.id], reward=1.0)
    assert len(space.state.keys("due/")) == 1
    space.pass_days(179)
    assert space.statuses == {TRAINS: "active"}
    space.pass_days(2)
    assert space.statuses == {TRAINS: "expired"}


def test_what_is_called_for_lasts_anew() -> None:
    space = left(TRAINS, lasts=30)
    space.pass_days(20)
    space.say("Trains or planes to Vienna?", "new")
    space.pass_days(20)
    assert space.statuses == {TRAINS: "active"}
    space.pass_days(11)
    assert space.statuses == {TRAINS: "expired"}


def test_of_too_many_the_one_used_least_lately_is_forgotten() -> None:
    space = left(TRAINS, KILN, keep=2)
    space.say("Trains or planes to Vienna?", "new")
    space.note("My user ID is mia_kim_4397.", "third")
    space.end("third")
    space.fact(ClockTicked)
    assert space.statuses == {TRAINS: "active", KILN: "collected", "My user ID is mia_kim_4397.": "active"}


COOKIE = "I changed the login test to the new cookie."


def solved(by: type = TurnThreaded) -> Space:
    """A space in which an effort came to a solution, told by its turn or by the effort's end."""
    space = Space()
    asked = space.say("The login test fails: expected 200, got 401.")
    space.say(COOKIE, role="assistant")
    last = space.conclude(COOKIE, asked, title=asked.content)
    space.derive(by, last, effort="effort-1")
    return space


def resume(space: Space, said: str, reason: str, session: str = "old") -> None:
    turn = space.turn(said, session)
    space.derive(EffortResumed, turn, effort="effort-1", reason=reason)
    space.give(turn)


@pytest.mark.parametrize("by", [TurnThreaded, EffortConcluded])
@pytest.mark.parametrize(
    ("said", "reason"), [("Hm.", "reopened"), ("No, the login test fails again, the cookie did not help.", "work")]
)
def test_what_solved_nothing_is_neither_distilled_nor_kept(by: type, said: str, reason: str) -> None:
    waiting = solved(by)
    resume(waiting, said, reason)
    waiting.end()
    assert waiting.entries == {}
    told = solved(by)
    told.end()
    resume(told, said, reason, "later")
    assert told.statuses == {COOKIE: "collected"}
    assert not told.state.keys("entry/")


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("Now add a login test for guests, please.", "work"),
        ("The export fails with 500.", "work"),
        ("Hm.", "declared"),
    ],
)
def test_a_solution_stays_where_its_work_goes_on_with_something_else(said: str, reason: str) -> None:
    space = solved()
    resume(space, said, reason)
    space.end()
    assert space.statuses == {COOKIE: "active"}


def test_what_is_found_after_the_work_was_opened_again_is_kept() -> None:
    space = solved()
    resume(space, "Hm.", "reopened")
    asked = space.say("The login test fails for guests, too.")
    last = space.conclude("The proxy dropped the login header.", asked)
    space.derive(TurnThreaded, last, effort="effort-1")
    space.end()
    assert space.statuses == {"The proxy dropped the login header.": "active"}


def test_nothing_is_kept_of_a_turn_that_was_taken_back() -> None:
    space = Space()
    first, second = space.note(TRAINS), space.note(KILN)
    space.fact(TurnRetracted, session="old", turn=first.id)
    space.end()
    space.fact(TurnRetracted, session="old", turn=second.id)
    assert space.statuses == {KILN: "retracted"}
    assert not space.state.keys("entry/")


def test_what_is_taken_back_is_not_distilled_in_that_moment_though_its_session_is_over_since() -> None:
    space = Space()
    turn = space.note(TRAINS)
    space.now += DAY
    space.fact(TurnRetracted, session="old", turn=turn.id)
    assert not space.all(EntryDistilled)


# -- what a model writes -----------------------------------------------------------------------------------------------


def test_what_a_model_wrote_of_an_entry_s_turns_takes_the_place_of_its_words() -> None:
    space = Space()
    turn = space.note(TRAINS)
    space.end()
    space.fact(DistillationWritten, session="old", turns=[turn.id], text="Ann prefers trains to buses.", model="tiny")
    entry = space.last(EntryDistilled)
    assert (entry.text, entry.model, entry.turns, entry.status) == (
        "Ann prefers trains to buses.", "tiny", [turn.id], "active",
    )  # fmt: skip
    space.say("Trains or buses to Vienna?", "new")
    assert space.loaded() == ["Ann prefers trains to buses."]


def test_what_a_model_wrote_of_other_turns_changes_nothing() -> None:
    space = left(TRAINS)
    before = len(space.derived)
    for turns in (["e1", "e2"], ["unknown"], ["e2"]):
        space.fact(DistillationWritten, session="old", turns=turns, text="Ann prefers trains to buses.")
    assert len(space.derived) == before


def test_records_stay_small_with_the_longest_ids_and_other_scripts() -> None:
    space = Space()
    long = "x" * 199
    for n in range(8):
        said = f"日本語{n} Naber " * 90
        turn = TurnRecorded("space", f"{long}{n}", space.next()[1], long, "ö" * 200, "user", said)
        space.derive(SessionNoted, turn, note=f"n{n}", kind="fact", text=said, status="current")
        space.give(turn)
    space.end(long)
    assert max(len(value or b"") for _, value in space.state.changes()) < MAX_RECORD
