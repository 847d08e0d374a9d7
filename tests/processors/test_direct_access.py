"""Direct access: what a session notes of its plans, assumptions, conclusions and facts, and what becomes of it."""

from __future__ import annotations

from typing import Any

import pytest

from processors.contradictions import BeliefContradicted, BeliefRestored, BeliefStated
from processors.direct_access import CHAIN, PROCESSOR, SessionNoted
from processors.direct_access.events import KINDS
from processors.manifest import SegmentConcluded
from processors.open_efforts import EffortConcluded, EffortResumed, TurnThreaded
from streams.core.events import SECOND, NoteSettled, NoteTaken, TurnRecorded, TurnRetracted
from tests.laws.laws import MAX_RECORD
from tests.memories import make
from tests.steps import Steps


class Session(Steps):
    """A session, and what it has noted."""

    def __init__(self, **params: Any) -> None:
        super().__init__(PROCESSOR, **params)
        self.turns = 0

    def say(self, content: str, role: str = "user", **beliefs: str) -> TurnRecorded:
        """A turn; `beliefs` are what it states, by attribute."""
        self.turns += 1
        turn = TurnRecorded("space", f"t{self.turns}", self.turns * SECOND, "s", "ann", role, content)  # type: ignore[arg-type]
        for attribute, value in beliefs.items():
            self.give(self.event(BeliefStated, turn, attribute=attribute, value=value), turn)
        self.give(turn)
        return turn

    def event(self, kind: type, turn: TurnRecorded, **given: Any) -> Any:
        return make(kind, space="space", session="s", at=turn.at, turn=turn.id, **given)

    def retract(self, turn: TurnRecorded) -> None:
        self.give(TurnRetracted("space", f"r{turn.id}", turn.at, "s", turn.id))

    def take(self, note: str, content: str, context: str = "") -> None:
        self.give(NoteTaken("space", f"n{note}", 0, note, content, "s", context=context))

    @property
    def notes(self) -> dict[str, SessionNoted]:
        return {event.note: event for event in self.all(SessionNoted)}

    @property
    def now(self) -> list[tuple[str, str]]:
        return [(event.kind, event.text) for event in self.notes.values() if event.status == "current"]


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("The plan is to ship the catalogue on Friday.", "plan"),
        ("We are going to paint the bridge first.", "plan"),
        ("The next step is to seal the kiln.", "plan"),
        ("Wir werden die Dachrinne ersetzen.", "plan"),
        ("I assume that the disk of the archive is full.", "assumption"),
        ("Presumably the ferry is late again.", "assumption"),
        ("Ich nehme an, dass der Schuppen trocken ist.", "assumption"),
    ],
)
def test_a_sentence_that_plans_or_assumes_is_noted_as_it_was_said(said: str, kind: str) -> None:
    session = Session()
    session.say(f"Good morning. {said}")
    assert session.now == [(kind, said)]


@pytest.mark.parametrize(
    "said",
    [
        "Is the plan to ship on Friday?",
        "The floor plan of the museum has five rooms.",
        "It is going to rain.",
        "I suppressed the warning.",
        "He is going to be late.",
    ],
)
def test_questions_and_words_that_only_look_alike_are_not(said: str) -> None:
    session = Session()
    session.say(said)
    assert session.now == []


def test_what_a_tool_put_out_plans_nothing() -> None:
    session = Session()
    session.say("The plan is to ship the catalogue.", role="tool")
    assert session.now == []


def test_a_new_plan_takes_the_place_of_the_one_on_the_same_matter_which_is_kept() -> None:
    session = Session()
    session.say("The plan is to ship the catalogue on Friday.")
    session.say("The plan is to seal the kiln with clay.")
    session.say("Actually the plan is to ship the catalogue on Monday.")
    assert session.now == [
        ("plan", "The plan is to seal the kiln with clay."),
        ("plan", "Actually the plan is to ship the catalogue on Monday."),
    ]
    (old,) = [note for note in session.notes.values() if note.status == "superseded"]
    assert (old.turn, session.notes[old.by].turn) == ("t1", "t3")


def test_where_the_later_one_is_retracted_the_earlier_stands_again() -> None:
    session = Session()
    session.say("The plan is to ship the catalogue on Friday.")
    later = session.say("Actually the plan is to ship the catalogue on Monday.")
    session.retract(later)
    assert session.now == [("plan", "The plan is to ship the catalogue on Friday.")]


def test_an_earlier_one_that_is_retracted_does_not_come_back() -> None:
    session = Session()
    first = session.say("The plan is to ship the catalogue on Friday.")
    later = session.say("Actually the plan is to ship the catalogue on Monday.")
    session.retract(first)
    session.retract(later)
    assert session.now == []
    assert {note.status for note in session.notes.values()} == {"retracted"}


def chained(*turns: str) -> tuple[Session, list[TurnRecorded]]:
    """Plans each of which took the place of the one before."""
    session = Session()
    return session, [session.say(f"Actually the plan is to ship the catalogue on {day}.") for day in turns]


DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday")


@pytest.mark.parametrize("order", [(3, 2, 1), (2, 1, 3), (1, 2, 3), (1, 3, 2)])
def test_where_all_later_ones_are_retracted_the_first_stands_again_in_whatever_order(order: tuple[int, ...]) -> None:
    session, said = chained(*DAYS)
    for one in order:
        session.retract(said[one])
    assert session.now == [("plan", said[0].content)]
    assert [note.status for note in session.notes.values()] == ["current", *["retracted"] * 3]
    session.retract(said[0])
    assert session.now == []
    assert not session.state.keys("before/")


def test_what_stood_before_a_retracted_one_says_what_took_its_place_then() -> None:
    session, said = chained(*DAYS)
    session.retract(said[1])
    session.retract(said[2])
    by = {note.turn: session.notes[note.by].turn for note in session.notes.values() if note.status == "superseded"}
    assert by == {"t1": "t4"}


def test_a_note_that_an_agent_is_done_with_does_not_come_back() -> None:
    session = Session()
    session.take("n1", "ship the catalogue on Friday", "plan")
    later = session.say("Actually the plan is to ship the catalogue on Monday.")
    session.give(NoteSettled("space", "x", 0, "n1", "s"))
    session.retract(later)
    assert session.now == []


def test_what_many_took_the_place_of_is_remembered_in_small_records() -> None:
    session = Session()
    for n in range(40):
        session.say(f"Actually the plan is to ship the catalogue of the museum on {n} {'東京' * 40}.")
    for n in range(40, 0, -1):
        session.give(TurnRetracted("space", f"r{n}", 0, "s", f"t{n}"))
        assert max(len(value or b"") for _, value in session.state.changes()) <= MAX_RECORD
        assert len(session.now) == (n > 40 - CHAIN)
    assert not session.state.keys("before/")


def test_conclusions_and_facts_come_from_who_detects_them() -> None:
    session = Session()
    session.give(make(SegmentConcluded, space="space", session="s", turn="t9", conclusion="The seal was worn."))
    session.say("Hello there. I live in Oslo, near the canal.", live="oslo")
    assert session.now == [("conclusion", "The seal was worn."), ("fact", "I live in Oslo, near the canal.")]


@pytest.mark.parametrize("by", [TurnThreaded, EffortConcluded])
@pytest.mark.parametrize(
    ("said", "reason", "stands"),
    [
        ("Hm.", "reopened", False),
        ("No, the pump is broken again, the seal did not help.", "work", False),
        ("The lamp is broken.", "work", True),
        ("Please paint the pump with its seal, too.", "work", True),
    ],
)
def test_a_conclusion_stands_until_its_work_is_not_over(by: type, said: str, reason: str, stands: bool) -> None:
    session = Session()
    ended = session.say("That fixed it.")
    session.give(session.event(SegmentConcluded, ended, conclusion="I changed the seal of the pump."), ended)
    session.give(session.event(by, ended, effort="effort-1"), ended)
    later = TurnRecorded("space", "later", 9 * SECOND, "other", "ann", "user", said)
    session.give(make(EffortResumed, space="space", session="other", at=later.at, effort="effort-1", turn="later",
                      reason=reason), later)  # fmt: skip
    assert session.now == ([("conclusion", "I changed the seal of the pump.")] if stands else [])
    assert [one.session for one in session.notes.values()] == ["s"]


def test_a_fact_that_is_contradicted_is_superseded_until_it_is_judged_otherwise() -> None:
    session = Session()
    first = session.say("I live in Oslo.", live="oslo")
    second = session.say("I moved, I live in Bergen now.", live="bergen")
    session.give(session.event(BeliefContradicted, second, older=first.id, attribute="live"), second)
    assert session.now == [("fact", "I moved, I live in Bergen now.")]
    session.give(make(BeliefRestored, space="space", session="s", turn="t1", newer="t2", attribute="live"), second)
    assert sorted(session.now) == [("fact", "I live in Oslo."), ("fact", "I moved, I live in Bergen now.")]


def test_the_note_that_took_a_fact_s_place_is_the_one_on_the_same_matter() -> None:
    session = Session()
    first = session.say("The release is on Friday.", release="friday")
    second = session.say("My sister lives in Oslo. The release is on Monday.", sister="oslo", release="monday")
    given = {"older": first.id, "attribute": "release", "value": "monday", "older_value": "friday"}
    session.give(session.event(BeliefContradicted, second, **given), second)
    (old,) = [note for note in session.notes.values() if note.status == "superseded"]
    assert session.notes[old.by].text == "The release is on Monday."


def test_the_note_of_a_sentence_that_states_two_things_takes_the_place_of_either() -> None:
    session = Session()
    first = session.say("The release is on Friday.", release="friday")
    second = session.say("My sister lives in Oslo and the release is on Monday.", sister="oslo", release="monday")
    given = {"older": first.id, "attribute": "release", "value": "monday", "older_value": "friday"}
    session.give(session.event(BeliefContradicted, second, **given), second)
    assert session.now == [("fact", second.content)]
    session.give(make(BeliefRestored, space="space", session="s", turn="t1", newer="t2", attribute="release"), second)
    assert sorted(text for _, text in session.now) == sorted([first.content, second.content])


@pytest.mark.parametrize(
    ("content", "context"), [("Plan: paint the orchard", ""), ("paint the orchard", "plan"), ("plan : no", "x")]
)
def test_an_agent_s_note_that_names_its_kind_is_one(content: str, context: str) -> None:
    session = Session()
    session.take("n1", content, context)
    assert session.now == ([("plan", "paint the orchard")] if context != "x" else [])


def test_an_agent_s_note_taken_again_or_settled_is_the_last_word_on_it() -> None:
    session = Session()
    session.take("n1", "key fact: the harbour office opens at nine")
    session.take("n1", "fact: the harbour office opens at ten")
    assert session.now == [("fact", "the harbour office opens at ten")]
    session.give(NoteSettled("space", "x", 0, "n1", "s"))
    assert session.now == []
    session.give(NoteSettled("space", "y", 0, "n1", "s"))
    assert session.now == []


def test_six_of_a_kind_are_current_and_the_oldest_gives_way() -> None:
    session = Session()
    words = ("kiln", "bridge", "museum", "tractor", "lantern", "quarry", "meadow", "choir")
    for word in words:
        session.say(f"The plan is to photograph the {word}.", role="assistant")
    assert [text.split()[-1] for _, text in session.now] == [f"{word}." for word in words[2:]]
    assert [note.status for note in session.notes.values()].count("passed") == 2


def test_records_stay_small_whatever_is_noted() -> None:
    session = Session()
    for n in range(40):
        wide = "東京" * 60 if n % 2 else f"part{n} " * 30
        for kind in KINDS:
            session.give(
                NoteTaken("space", f"{n}{kind}", 0, f"{n}{kind}".ljust(200, "x"), f"{n} {wide}", "s", context=kind)
            )
    assert max(len(value or b"") for _, value in session.state.changes()) <= MAX_RECORD
    assert len(session.now) == 24


def test_what_is_noted_is_cut_by_its_bytes_whatever_its_script() -> None:
    session = Session()
    german = "Wir prüfen im März die Türen der größeren Häuser und öffnen danach die Schränke für Gäste."
    session.take("n1", german, "plan")
    session.take("n2", "東京" * 60, "fact")
    assert [text for _, text in session.now] == [german, "東京" * 26 + "東"]


def test_a_statement_of_another_session_takes_the_place_of_all_that_its_older_turn_noted() -> None:
    session = Session()
    plan = "The plan is that the report deadline is Friday."
    older = session.say(plan, **{"report deadline": "friday"})
    newer = TurnRecorded("space", "n", 9 * SECOND, "later", "ann", "user", "The report deadline moved to Monday.")
    given: dict[str, Any] = {"space": "space", "at": newer.at, "subject": "", "attribute": "report deadline"}
    session.give(make(BeliefStated, session="later", turn="n", value="monday", **given), newer)
    session.give(
        make(
            BeliefContradicted, session="later", turn="n", older=older.id, older_value="friday", value="monday", **given
        ),
        newer,
    )
    assert session.now == [("fact", newer.content)]
    assert {(one.session, one.status) for one in session.notes.values() if one.turn == older.id} == {
        ("s", "superseded")
    }
    gone = TurnRetracted("space", "r", 10 * SECOND, "later", "n")
    restored = make(
        BeliefRestored, session="later", turn=older.id, newer="n", value="friday", current=True,
        **given | {"at": gone.at},
    )  # fmt: skip
    session.give(restored, gone)
    session.give(gone)
    assert sorted(session.now) == [("fact", plan), ("plan", plan)]


@pytest.mark.parametrize("retracted", [False, True])
def test_what_stands_again_after_a_statement_of_another_session_has_what_stood_before_it(retracted: bool) -> None:
    session = Session()
    first = session.say("The plan is to ship the report on Thursday.")
    second = session.say("Actually the plan is to ship the report on Friday.")
    newer = TurnRecorded("space", "n", 9 * SECOND, "later", "ann", "user", "The report moved to Monday.")
    given: dict[str, Any] = {"space": "space", "session": "later", "at": newer.at, "attribute": "report"}
    session.give(make(BeliefContradicted, turn="n", older=second.id, older_value="friday", **given), newer)
    assert session.now == []
    if retracted:
        session.retract(first)
    session.give(make(BeliefRestored, turn=second.id, newer="n", value="friday", current=True, **given), newer)
    assert session.now == [("plan", second.content)]
    session.retract(second)
    assert session.now == ([] if retracted else [("plan", first.content)])


def test_what_stands_again_takes_nothing_s_place_where_its_session_has_no_room() -> None:
    session = Session(most=1)
    older = session.say("The plan is that the report deadline is Friday.")
    newer = TurnRecorded("space", "n", 9 * SECOND, "later", "ann", "user", "The report moved to Monday.")
    given: dict[str, Any] = {"space": "space", "session": "later", "at": newer.at, "attribute": "report"}
    session.give(make(BeliefContradicted, turn="n", older=older.id, older_value="friday", **given), newer)
    session.say("The plan is to seal the kiln with clay.")
    session.give(make(BeliefRestored, turn=older.id, newer="n", value="friday", current=True, **given), newer)
    assert session.now == [("plan", "The plan is to seal the kiln with clay.")]
    assert [note.status for note in session.notes.values()] == ["passed", "current"]


def test_a_conclusion_goes_with_the_turn_whose_words_it_is_whatever_session_the_retraction_names() -> None:
    session = Session()
    answer = session.say("The harness needs a fresh token, that is why it fails.", "assistant")
    thanks = session.say("That fixed it, thanks!")
    concluded = {"segment": "g", "conclusion": "the harness needs a fresh token", "quotes": answer.id}
    session.give(session.event(SegmentConcluded, thanks, **concluded), thanks)
    assert [kind for kind, _ in session.now] == ["conclusion"]
    session.give(TurnRetracted("space", "r", 9 * SECOND, "another", answer.id))
    assert session.now == []
    assert [event.status for event in session.notes.values()] == ["retracted"]
