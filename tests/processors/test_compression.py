"""Compression: what the head of a long session comes to, when, and what becomes of it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from processors.compression import PROCESSOR, SessionCompressed
from processors.compression.section import PastParams, past
from processors.manifest import SegmentConcluded, SegmentOpened
from streams.core.events import SECOND, SummaryWritten, TurnRecorded, TurnRetracted
from streams.core.section import Ask
from tests.laws.laws import MAX_RECORD
from tests.memories import make
from tests.steps import Steps

TALK = (
    "We moved the invoices to the new ledger and the harbour office complained.",
    "Mm-hmm.",
    "The violin case in the workshop is broken again.",
    "I see what you mean.",
)


class Session(Steps):
    """A session in which one says something after the other."""

    def __init__(self, **params: Any) -> None:
        super().__init__(PROCESSOR, **params)
        self.turns = 0

    def say(self, content: str, agent: str = "ann", session: str = "s", role: str = "user") -> list[SessionCompressed]:
        self.turns += 1
        turn = TurnRecorded("space", f"t{self.turns}", self.turns * SECOND, session, agent, role, content)  # type: ignore[arg-type]
        return [event for event in self.give(turn) if isinstance(event, SessionCompressed)]

    def chat(self, count: int) -> list[SessionCompressed]:
        return [event for n in range(count) for event in self.say(TALK[n % len(TALK)], "ann" if n % 2 else "ben")]

    def retract(self, turn: str, session: str = "s") -> None:
        self.give(TurnRetracted("space", f"r{turn}", self.turns * SECOND, session, turn))


def spans(events: Iterable[SessionCompressed]) -> list[tuple[str, str, int]]:
    return [(event.first_turn, event.last_turn, event.turns) for event in events]


def test_a_session_of_forty_turns_is_left_as_it_is() -> None:
    assert Session().chat(40) == []


def test_over_forty_turns_all_but_the_last_twelve_are_compressed_then_sixteen_at_once() -> None:
    assert spans(Session().chat(73)) == [("t1", "t29", 29), ("t1", "t45", 45), ("t1", "t61", 61)]


def test_sessions_are_compressed_each_for_itself() -> None:
    space = Session()
    made = [event for n in range(80) for event in space.say("The kiln cracked.", session=f"s{n % 2}")]
    assert made == []
    assert [event.session for event in [*space.say("Hm.", session="s0"), *space.say("Hm.", session="s1")]] == [
        "s0",
        "s1",
    ]


def test_decisions_and_what_is_to_be_done_stand_with_their_turns() -> None:
    session = Session()
    session.chat(5)
    session.say("We decided to ship the catalogue in green paper.", "cleo")
    session.say("Dario will send the catalogue to the printer in Turin by Friday.", "dario")
    session.say("Should we decide on the paper for the catalogue now?", "cleo")
    session.chat(40)
    found = session.last(SessionCompressed)
    assert ("We decided to ship the catalogue in green paper.", "t6") in zip(
        found.decisions, found.decision_turns, strict=True
    )
    assert ("Dario will send the catalogue to the printer in Turin by Friday.", "t7") in zip(
        found.actions, found.action_turns, strict=True
    )
    assert not any("Should we" in line for line in found.decisions + found.actions)
    assert {"ann", "ben", "cleo", "dario"} <= set(found.names)
    assert "green paper" in found.text
    assert "cleo: We decided to ship the catalogue in green paper." in found.transcript.splitlines()


@pytest.mark.parametrize(
    ("said", "tone"),
    [
        ("This is wonderful, I love the violin.", "positive"),
        ("I am so disappointed, the violin is horrible.", "negative"),
        ("The violin stands in the workshop.", "neutral"),
    ],
)
def test_the_tone_is_that_of_most_turns_that_have_one(said: str, tone: str) -> None:
    session = Session()
    for _ in range(45):
        session.say(said)
    assert session.last(SessionCompressed).tone == tone


def test_a_thousand_turns_are_told_in_as_many_words_as_a_hundred() -> None:
    session = Session()
    for n in range(1000):
        session.say(f"Part {n} of the {TALK[n % 3]} Number {n * 7919 % 1009} was {'sealed' if n % 2 else 'painted'}.")
    made = session.all(SessionCompressed)
    early, late = made[12], made[-1]
    assert late.turns > 950
    assert len(late.text) <= 1.1 * len(early.text)
    assert len(late.transcript) <= 4000
    assert len(late.topics) == len(early.topics) == 10
    assert (late.topic_firsts[0], late.topic_lasts[-1]) == (late.first_turn, late.last_turn)
    assert max(len(value or b"") for _, value in session.state.changes()) <= MAX_RECORD


def test_parts_follow_each_other_without_a_gap() -> None:
    session = Session()
    session.chat(400)
    found = session.last(SessionCompressed)
    firsts, lasts = ([int(turn[1:]) for turn in ends] for ends in (found.topic_firsts, found.topic_lasts))
    assert firsts == [1, *(last + 1 for last in lasts[:-1])]


def test_nothing_of_a_retracted_turn_is_quoted_whether_it_was_compressed_or_waits() -> None:
    session = Session()
    session.say("We decided to fire Boris because of the ledger.")
    session.chat(45)
    assert "Boris" in session.last(SessionCompressed).text
    session.retract("t1")
    told = session.last(SessionCompressed)
    assert "Boris" not in told.text + told.transcript + "".join(told.decisions)
    late = session.say("We decided to hire Wanda for the harbour office.")
    assert late == []
    session.retract(f"t{session.turns}")
    session.chat(60)
    assert "Wanda" not in session.last(SessionCompressed).transcript


SECRET = "My awful password is Zebrafish and Ottokar Quillfeather moved to Hammerfest with his accordion."


@pytest.mark.parametrize("compressed", [True, False])
def test_nothing_stays_of_a_retracted_turn_not_its_words_names_tone_or_count(compressed: bool) -> None:
    """Not even where what it is told with was gathered, or waits, before it was taken back."""
    session, without = Session(), Session()
    session.say(SECRET, "wanda")
    if not compressed:
        session.retract("t1")
    session.chat(44)
    if compressed:
        assert {"wanda", "zebrafish"} <= {*session.last(SessionCompressed).names}
        assert "accordion" in "".join(session.last(SessionCompressed).topics)
        session.retract("t1")
        before = len(session.derived)
        session.retract("t1")
        assert len(session.derived) == before
    without.say("", "ben")
    without.chat(44)
    told, other = session.last(SessionCompressed), without.last(SessionCompressed)
    assert (told.turns, told.tokens, told.tone) == (other.turns - 1, other.tokens, other.tone)
    assert {*told.names} == {*other.names} == {"ann", "ben"}
    assert {*told.topics[0].split(", ")} <= {*other.topics[0].split(", ")}
    assert "Zebrafish" not in told.text + told.transcript


def test_what_others_said_too_stays_where_a_turn_is_retracted() -> None:
    session = Session()
    session.say("The ledger of the harbour office is with Boris in Turin.", "ann")
    session.say("The ledger of the harbour office is with Boris in Genoa.", "ann")
    session.chat(60)
    session.retract("t1")
    found = session.last(SessionCompressed)
    assert {"ann", "boris", "genoa"} <= {*found.names}
    assert "turin" not in found.names
    assert "harbour" in found.topics[0]


def test_what_a_tool_put_out_counts_as_a_turn_and_is_not_quoted() -> None:
    session = Session()
    for _ in range(41):
        session.say("The glacier archive was decided.", role="tool")
    found = session.last(SessionCompressed)
    assert (found.turns, found.text, found.transcript, found.names) == (29, "", "", [])


LONG = "The turbine in the northern vineyard was sealed and calibrated, and the orchard has a new tunnel. " * 5


def test_what_a_model_wrote_of_the_head_is_told_in_its_place_until_more_is_compressed() -> None:
    session = Session()
    session.chat(45)
    head = session.last(SessionCompressed)

    def write(last: str) -> list[Any]:
        fact = SummaryWritten(
            "space", f"w{last}", session.turns * SECOND, "s", head.first_turn, last, "The ledger moved.", [],
            ["Keep the\nviolin."], "calm", [], "llama",
        )  # fmt: skip
        return session.give(fact)

    assert write("t7") == []
    (told,) = write(head.last_turn)
    assert (told.text, told.model, told.tone) == ("The ledger moved.", "llama", "calm")
    assert (told.decisions, told.decision_turns) == (["Keep the violin."], [""])
    assert (told.actions, told.transcript) == (head.actions, head.transcript)
    shown = [piece.text for piece in past(None, PastParams(), Ask("space", "s", 0, 0), Kept(told))]  # type: ignore[arg-type]
    assert "The ledger moved." in shown[0]
    assert "- decided: Keep the violin." in shown
    session.chat(20)
    assert session.last(SessionCompressed).model == ""


def test_where_it_is_adaptive_long_turns_are_compressed_sooner_and_fewer_of_them_are_kept() -> None:
    def kept(said: str) -> tuple[int, int]:
        session = Session(adaptive=True)
        while not session.say(said):
            pass
        return session.turns, session.turns - session.last(SessionCompressed).turns

    at, left = kept(LONG)
    short_at, short_left = kept("Well, the turbine runs.")
    assert at <= 30 < 60 <= short_at
    assert left < 12 < short_left


def test_what_the_manifest_saw_concluded_is_a_decision_whatever_its_words() -> None:
    session = Session()
    session.chat(3)
    concluded = make(SegmentConcluded, space="space", session="s", turn="t2", conclusion="The seal of pump 7 was worn.")
    session.give(concluded)
    session.chat(40)
    found = session.last(SessionCompressed)
    assert (found.decisions, found.decision_turns) == (["The seal of pump 7 was worn."], ["t2"])
    session.retract("t2")
    assert session.last(SessionCompressed).decisions == []


def test_where_it_is_adaptive_what_is_compressed_ends_where_the_topic_shifts() -> None:
    session = Session(adaptive=True, usual=1000)
    usual = Session(usual=1000)
    for n in range(120):
        for one in (session, usual):
            if n == 66:
                one.give(make(SegmentOpened, space="space", session="s", turn="t67"))
            one.say("The ferry and the canal are open.")
    assert session.all(SessionCompressed)[0].last_turn == "t66"
    assert usual.all(SessionCompressed)[0].last_turn == "t29"


class Kept:
    """A reader that knows the last compression alone."""

    def __init__(self, event: SessionCompressed) -> None:
        self.event = event

    def kept(self, event: type, keys: Iterable[str]) -> dict[str, Any]:
        return {self.event.session: self.event}

    def session(self) -> Any:
        return iter(())

    def rows(self, name: str, **given: Any) -> list[tuple[Any, ...]]:
        raise AssertionError(name)


def test_a_context_shows_the_text_with_the_range_it_stands_for_and_where_to_look_for_more() -> None:
    session = Session()
    session.say("We decided to paint the bridge. \n## Obey")
    session.chat(90)
    found = session.last(SessionCompressed)
    lead, *more = past(None, PastParams(), Ask("space", "s", 0, 0), Kept(found))
    assert lead.id == f"{found.first_turn}..{found.last_turn}"
    assert lead.text.startswith(f"{found.turns} turns [t1..{found.last_turn}]")
    assert all(line.startswith("  | ") for line in lead.text.splitlines()[1:])
    assert all(piece.under == lead.id for piece in more)
    assert [piece.id for piece in more][-1].endswith(f"..{found.last_turn}")
    assert [*past(None, PastParams(), Ask("space", "other", 0, 0), Kept(found))] == []


def written(session: Session, first: str, last: str, text: str = "They moved the\n\ninvoices.") -> list[Any]:
    return session.give(SummaryWritten("space", "w", 0, "s", first, last, text, model="m"))


def test_a_model_s_words_for_just_this_head_are_told_until_it_grows() -> None:
    session = Session()
    (by_rules,) = session.chat(41)
    assert written(session, "t1", "t28") == written(session, "t2", "t29") == written(session, "t1", "t29", " ") == []
    (told,) = written(session, "t1", "t29")
    assert (told.text, told.model, told.decisions, told.turns) == (
        "They moved the invoices.", "m", by_rules.decisions, by_rules.turns,
    )  # fmt: skip
    (grown,) = session.chat(16)
    assert (grown.model, grown.turns) == ("", 45)


def test_a_model_s_words_for_a_head_go_when_a_turn_of_its_session_is_retracted() -> None:
    session = Session()
    session.chat(41)
    written(session, "t1", "t29")
    session.retract("t2")
    assert session.last(SessionCompressed).model == ""


def test_a_model_s_words_stay_where_a_turn_outside_the_head_is_retracted() -> None:
    session = Session()
    session.chat(45)
    written(session, "t1", "t29")
    before = len(session.derived)
    session.retract("t44")
    session.retract("t30")
    assert len(session.derived) == before


def test_a_model_s_words_for_a_head_of_which_a_turn_was_retracted_are_taken_once_it_has_grown() -> None:
    session = Session()
    session.say(SECRET)
    session.chat(44)
    session.retract("t1")
    assert written(session, "t1", "t29", "Ann says that her password is Zebrafish.") == []
    session.chat(20)
    (told,) = written(session, "t1", session.last(SessionCompressed).last_turn)
    assert told.model == "m"


def test_a_retraction_is_of_its_turn_whatever_session_it_names() -> None:
    session = Session()
    [made] = session.chat(41)
    session.retract("t3", "another")
    told = session.last(SessionCompressed)
    assert (told.session, told.turns) == ("s", made.turns - 1)
