"""Tasks: a few slots, who gets one, what waits, what is set aside, and what comes back."""

from __future__ import annotations

from typing import Any

import pytest

from processors import PROCESSORS
from processors.open_efforts import EffortConcluded, EffortOpened, EffortRated, EffortResumed, TurnThreaded
from processors.standing import StandingTold
from processors.tasks import PROCESSOR, TaskChanged, TaskTurnedTo
from processors.tasks.cues import request, said
from processors.ttl_escalations.events import NoteClosed, NoteMoved, NoteOpened, NoteReopened
from streams.core.driver import fold
from streams.core.events import HOUR, MINUTE, TaskDeclared, TaskUpdated, TurnRecorded, TurnRetracted
from streams.core.processor import State
from tests.memories import make
from tests.steps import Steps


class Desk(Steps):
    """A space with tasks. Every effort is named by a letter."""

    def __init__(self, **params: Any) -> None:
        super().__init__(PROCESSOR, **params)
        self.turns, self.at = 0, 0

    def say(self, content: str, effort: str = "", role: str = "user", opens: bool = False) -> str:
        self.turns, self.at = self.turns + 1, self.at + MINUTE
        turn = TurnRecorded("space", f"t{self.turns}", self.at, "s", role, role, content)  # type: ignore[arg-type]
        if opens:
            self.told(EffortOpened, turn, effort=effort, turn=turn.id)
        self.told(TurnThreaded, turn, effort=effort, turn=turn.id)
        return turn.id

    def told(self, kind: type, cause: Any = None, **given: Any) -> None:
        event = make(kind, space="space", session="s", at=self.at, **given)
        self.give(event, cause)

    def declare(self, task: str, content: str = "", priority: float = 0.6, **more: Any) -> None:
        self.at += MINUTE
        fact = f"d{len(self.derived)}{task}"
        self.give(TaskDeclared("space", fact, self.at, task, content or f"do {task}", "s", priority, **more))

    def update(self, task: str, **more: Any) -> None:
        self.at += MINUTE
        self.give(TaskUpdated("space", f"u{len(self.derived)}{task}", self.at, task, "s", **more))

    @property
    def now(self) -> dict[str, TaskChanged]:
        return {event.task: event for event in self.all(TaskChanged)}

    def places(self) -> dict[str, str]:
        return {task: event.place for task, event in self.now.items()}

    def changes(self, task: str) -> list[str]:
        return [event.change for event in self.all(TaskChanged) if event.task == task]


def test_a_free_slot_takes_what_matters_and_the_rest_is_set_aside_or_deferred() -> None:
    desk = Desk()
    for task, priority in (("a", 0.51), ("b", 0.5), ("c", 0.3), ("d", 0.1)):
        desk.declare(task, priority=priority)
    assert desk.places() == {"a": "active", "b": "aside", "c": "aside", "d": "deferred"}


def test_where_all_slots_are_taken_only_what_is_clearly_above_the_lowest_takes_one() -> None:
    desk = Desk()
    for task in "abcd":
        desk.declare(task, priority=0.6)
    desk.update("d", progress=0.4, step="glue the keel", status="executing")
    desk.update("d", priority=0.55)
    desk.declare("e", priority=0.7)
    assert desk.places()["e"] == "aside", "0.7 is less than 1.3 times 0.55"
    desk.declare("f", priority=0.9)
    assert (desk.places()["f"], desk.places()["d"]) == ("active", "aside")
    assert desk.changes("d")[-1] == "demoted"
    desk.update("a", status="complete", reason="sails")
    assert desk.places()["e"] == "active", "the best of those set aside takes the slot"
    desk.update("b", status="dropped")
    back = desk.now["d"]
    assert (back.place, back.change, back.status, back.progress, back.step) == (
        "active", "resumed", "executing", 0.4, "glue the keel",
    )  # fmt: skip


def test_what_is_blocked_keeps_its_slot_and_what_lies_idle_gives_way() -> None:
    desk = Desk(active=2)
    desk.declare("blocked", "order the sails", priority=0.6)
    desk.update("blocked", status="blocked", reason="the sailmaker")
    desk.declare("idle", "paint the hull", priority=0.6)
    desk.at += 48 * HOUR
    desk.declare("new", "repair the rudder", priority=0.6)
    assert desk.places() == {"blocked": "active", "idle": "aside", "new": "active"}


def test_a_task_that_is_declared_again_without_what_it_waited_for_goes_on() -> None:
    desk = Desk()
    desk.declare("mast")
    for task in ("sails", "flag", "deck"):
        desk.declare(task, depends_on=["mast"], priority=0.6 if task != "deck" else 0.4)
    desk.update("flag", status="blocked", reason="the cloth")
    for task in ("sails", "flag", "deck"):
        desk.declare(task, depends_on=[], priority=0.6 if task != "deck" else 0.4)
    assert (desk.now["sails"].status, desk.changes("sails")[-1]) == ("executing", "unblocked")
    assert (desk.now["deck"].status, desk.changes("deck")[-1]) == ("executing", "unblocked")
    assert desk.now["flag"].status == "blocked", "it waits for the cloth, whatever else it needs"
    desk.update("mast", status="complete")
    assert desk.changes("sails").count("unblocked") == 1


def test_all_tasks_go_on_that_waited_for_one_however_many_they_are() -> None:
    desk = Desk()
    desk.declare("mast")
    waiting = [f"part {n}/{'x' * 60}" for n in range(40)]
    for task in waiting:
        desk.declare(task, depends_on=["mast"])
    desk.update("mast", status="complete")
    freed = [len([task for task in waiting if desk.now[task].status == "executing"])]
    for _ in range(3):
        desk.say("hm")
        freed.append(len([task for task in waiting if desk.now[task].status == "executing"]))
    assert freed == [12, 24, 36, 40]
    assert [desk.changes(task).count("unblocked") for task in waiting] == [1] * 40


def test_those_for_which_there_was_no_room_wait_on_where_the_task_goes_on() -> None:
    desk = Desk()
    desk.declare("mast")
    for n in range(30):
        desk.declare(f"part {n}", depends_on=["mast"])
    desk.say("The mast is done.", "e")
    assert desk.now["mast"].status == "complete"
    desk.update("mast", status="executing")
    desk.say("hm")
    assert len([one for one in desk.now.values() if one.status == "blocked"]) == 6
    desk.update("mast", status="complete")
    assert not [one for one in desk.now.values() if one.status == "blocked"]


def test_ids_with_any_characters_are_told_apart_where_tasks_wait_for_them() -> None:
    desk = Desk()
    for task in ("a", "a/b"):
        desk.declare(task)
    desk.declare("b/c", depends_on=["a"])
    desk.declare("c", depends_on=["a/b"])
    desk.update("a", status="complete")
    assert (desk.now["b/c"].status, desk.now["c"].status) == ("executing", "blocked")


def test_what_a_task_still_waits_for_is_the_same_after_a_restart() -> None:
    desk = Desk()
    for task in ("mast", "sails"):
        desk.declare(task)
    desk.declare("flag", depends_on=["mast", "sails"])
    saved = {key: value for key, value in desk.state.changes() if value is not None}
    desk.update("mast", status="complete")
    saved |= {key: value for key, value in desk.state.changes() if value is not None}
    desk.state = State()
    desk.state.take(saved)
    desk.update("sails", status="complete")
    assert desk.now["flag"].status == "executing"


def test_a_task_waits_for_those_it_depends_on() -> None:
    desk = Desk()
    desk.declare("mast")
    desk.declare("sails", depends_on=["mast", "nobody declared this"])
    desk.declare("flag", depends_on=["mast"])
    assert (desk.now["flag"].status, desk.now["flag"].depends_on) == ("blocked", ["do mast"])
    desk.update("mast", status="complete")
    assert (desk.now["flag"].status, desk.now["flag"].change) == ("executing", "unblocked")
    assert desk.now["sails"].status == "blocked"


def test_a_request_makes_a_task_that_the_talk_moves_blocks_frees_and_ends() -> None:
    desk = Desk()
    first = desk.say("Hello! Can you migrate the ledger to the new server?", "E", opens=True)
    [task] = desk.now
    assert (desk.now[task].turn, desk.now[task].place, desk.last(TaskTurnedTo).task) == (first, "active", task)
    desk.say("We are waiting for the password from Marta.", "E", "assistant")
    assert (desk.now[task].status, desk.now[task].reason) == ("blocked", "the password from Marta")
    desk.say("Has Marta sent us the password?", "F", "user")
    desk.say("Marta has not sent us the password yet.", "F", "assistant")
    assert desk.now[task].status == "blocked"
    desk.say("Marta has sent the password.", "F", "user")
    assert (desk.now[task].status, desk.now[task].change) == ("executing", "unblocked")
    desk.say("It is half done. The next step is to copy the receipts.", "E", "assistant")
    assert (desk.now[task].progress, desk.now[task].step) == (0.5, "copy the receipts")
    desk.say("I need your approval before the old server goes.", "E", "assistant")
    assert desk.now[task].status == "awaiting_input"
    desk.say("Go ahead with it.", "E")
    assert (desk.now[task].status, desk.now[task].change) == ("executing", "answered")
    desk.told(EffortConcluded, effort="E", conclusion="It runs on the new server.")
    assert (desk.now[task].status, desk.now[task].reason) == ("complete", "It runs on the new server.")
    desk.told(EffortResumed, effort="E")
    assert (desk.now[task].place, desk.now[task].status) == ("active", "executing")
    desk.give(TurnRetracted("space", "r", desk.at, "s", first))
    assert (desk.now[task].place, desk.now[task].change) == ("ended", "retracted")


def test_talk_ends_a_declared_task_that_it_names_and_a_fact_opens_it_again() -> None:
    desk = Desk()
    desk.declare("roof", "Repair the greenhouse roof")
    desk.say("The greenhouse roof should take about 3 hours.", "E", "assistant")
    assert desk.now["roof"].estimate == 3
    desk.say("The greenhouse is done.", "E")
    desk.say("The greenhouse roof is not done yet.", "E")
    assert desk.places() == {"roof": "active"}
    desk.say("The greenhouse roof is done, they repaired it this morning.", "E")
    assert (desk.now["roof"].place, desk.now["roof"].status) == ("ended", "complete")
    desk.update("roof", status="executing")
    assert desk.places() == {"roof": "active"}
    desk.update("roof", status="complete")
    desk.update("roof", status="executing")
    assert desk.places() == {"roof": "ended"}, "what a fact ended stays so"


def test_a_task_that_goes_on_is_no_longer_done_to_the_end() -> None:
    desk = Desk()
    desk.declare("roof", "Repair the greenhouse roof")
    desk.say("The greenhouse roof is done, they repaired it this morning.", "E")
    assert desk.now["roof"].progress == 1
    desk.update("roof", status="executing")
    assert (desk.now["roof"].status, desk.now["roof"].progress) == ("executing", 0)
    desk.say("The greenhouse roof is done, they repaired it this morning.", "E")
    desk.update("roof", status="executing", progress=0.8)
    assert desk.now["roof"].progress == 0.8


def test_talk_finds_a_declared_task_by_its_words_and_does_not_end_it_by_other_words() -> None:
    desk = Desk()
    desk.declare("roof", "Repair the greenhouse roof")
    desk.say("Let's look at the greenhouse roof again.", "E", opens=True)
    assert (list(desk.now), desk.last(TaskTurnedTo).task) == (["roof"], "roof")
    desk.say("We're waiting for the new glass.", "E", "assistant")
    assert desk.now["roof"].reason == "the new glass"
    desk.told(EffortConcluded, effort="E", conclusion="fixed")
    assert desk.places() == {"roof": "active"}
    desk.say("What is the capital of Portugal?", "G", opens=True)
    assert desk.last(TaskTurnedTo).task == ""


def test_a_task_that_is_set_aside_takes_a_free_slot_when_the_talk_comes_to_it() -> None:
    desk = Desk()
    desk.say("Please sort the photographs of the aquarium when you get a chance.", "E", opens=True)
    [task] = desk.now
    assert desk.now[task].place == "aside"
    desk.say("I have begun with the aquarium.", "E", "assistant")
    assert (desk.now[task].place, desk.now[task].status) == ("active", "executing")


def test_what_settles_the_note_of_a_request_ends_its_task_until_it_waits_again() -> None:
    desk = Desk()
    asked = desk.say("We need to book the ferry to Porto, remind me tomorrow.", "E", opens=True)
    [task] = desk.now
    desk.told(NoteOpened, note="n1", content="We need to book the ferry to Porto, remind me tomorrow.", turn=asked)
    desk.told(NoteOpened, note="n2", content="Water the orchids on Friday.", turn=asked)
    desk.told(NoteClosed, note="n2", resolution="I watered them.", turn="t8")
    assert desk.places() == {task: "active"}, "that note is of something else"
    desk.told(NoteClosed, note="n1", resolution="I booked the ferry.", turn="t9")
    assert (desk.now[task].status, desk.now[task].reason) == ("complete", "I booked the ferry.")
    desk.told(NoteReopened, note="n1", status="waiting", turn="t9")
    assert (desk.now[task].status, desk.now[task].place) == ("executing", "active")
    desk.told(NoteClosed, TurnRetracted("space", "x", desk.at, "s", asked), note="n1", resolution="retracted", turn="")
    assert desk.places() == {task: "active"}, "a note that goes with its turn says nothing of the task"


def test_a_flag_on_the_work_that_is_in_hand_tells_the_priority_of_its_task_and_saves_it() -> None:
    desk = Desk()
    desk.say("Can you sort the photographs of the aquarium?", "E", opens=True)
    [task] = desk.now
    before = desk.now[task].priority
    desk.told(EffortRated, effort="E", importance="high")
    assert (desk.now[task].change, desk.now[task].place) == ("rated", "active")
    assert desk.now[task].priority > before


def test_a_request_that_shares_half_of_a_tasks_words_and_has_others_instead_is_another_task() -> None:
    desk = Desk()
    desk.say("Can you finish the marathon insurance for Tirekpe Foods?", "E", opens=True)
    desk.say("Can you finish the balcony insurance for Tirekpe Textiles?", "F", opens=True)
    desk.say("Please finish the balcony insurance.", "G", opens=True)
    assert [event.description for event in desk.now.values()] == [
        "Can you finish the marathon insurance for Tirekpe Foods?",
        "Can you finish the balcony insurance for Tirekpe Textiles?",
    ]


def test_what_is_said_to_be_done_ends_the_task_of_that_name_whatever_the_talk_is_about() -> None:
    desk = Desk()
    desk.say("Can you prepare the exhibition catalogue for the gallery?", "E", opens=True)
    desk.say("Please also draft the invitation for the opening.", "F", opens=True)
    desk.say("Perfect, the invitation is done, thanks!", "E")
    assert [(event.description[:20], event.status) for event in desk.now.values()] == [
        ("Can you prepare the ", "planning"), ("Please also draft th", "complete"),
    ]  # fmt: skip


def test_a_flag_makes_a_task_take_a_slot_and_a_word_drops_it() -> None:
    desk = Desk(active=1)
    desk.say("Please translate the museum's catalogue.", "E", opens=True)
    desk.say("Please book the ferry to Porto.", "F", opens=True)
    museum, ferry = desk.now
    assert desk.places() == {museum: "active", ferry: "aside"}
    desk.told(EffortRated, effort="F", importance="high")
    assert desk.places() == {museum: "aside", ferry: "active"}
    desk.say("Actually, let's drop it, I stay here.", "F")
    assert (desk.now[ferry].status, desk.places()[museum]) == ("dropped", "active")


def test_a_decision_that_was_asked_for_ends_its_task_and_what_is_built_on_it_is_another() -> None:
    talk = (
        ("user", "Let's decide on the web stack today."),
        ("assistant", "FastAPI is lighter, Django brings an admin and an ORM."),
        ("user", "ok, we go with FastAPI"),
        ("assistant", "Good."),
        ("user", "Now please set up the project with FastAPI and SQLAlchemy."),
    )
    turns = [
        TurnRecorded("space", f"t{n}", n * MINUTE, "s", role, role, content)  # type: ignore[arg-type]
        for n, (role, content) in enumerate(talk, 1)
    ]
    rows = [row.event for row in fold(PROCESSORS, turns)]
    last = {row.turn: row for row in rows if isinstance(row, TaskChanged)}
    assert [(row.status, row.place, row.reason) for row in last.values()] == [
        ("complete", "ended", "ok, we go with FastAPI"), ("planning", "active", ""),
    ]  # fmt: skip


def test_what_something_waits_for_is_the_sentence_where_its_end_tells_nothing() -> None:
    assert said("We're blocked on that.", "user").waits == "We're blocked on that."
    assert said("We're blocked on the glass.", "user").waits == "the glass"


def test_what_is_waited_for_without_its_name_is_what_was_said_before_and_comes_by_it() -> None:
    desk = Desk()
    desk.say("Could you glaze the greenhouse?", "E", opens=True)
    (task,) = desk.now
    desk.say("The quote of Marek is missing. We're waiting for him.", "E")
    assert desk.now[task].reason == "The quote of Marek is missing. We're waiting for him."
    desk.say("Marek sent us the quote.", "E")
    assert desk.changes(task)[-2:] == ["blocked", "unblocked"]


@pytest.mark.parametrize(
    "told",
    ["Is it half done?", "We are not waiting for the glass.", "I can't wait for the weekend!", "It is not half done."],
)
def test_what_is_asked_or_denied_moves_nothing(told: str) -> None:
    assert said(told, "user") == said("", "user")


@pytest.mark.parametrize(
    ("told", "asked"),
    [
        ("Good morning. Could you repaint the violin?", True),
        ("Write a poem about the harbour", True),
        ("Bitte repariere die Dachrinne.", True),
        ("What is the capital of Portugal?", False),
        ("Can you tell me the time?", False),
        ("Let's paint the fence on Saturday.", True),
        ("Let's not add another dependency, it is slow.", False),
        ("Let's stop here for today.", False),
        ("Let's postpone the survey.", False),
        ("I saw a heron at the lake yesterday.", False),
        ("I want to keep the old larder.", False),
        ("We want to stay until Sunday, I think.", False),
        ("Ich muss die Aushilfe noch anmelden.", True),
        ("Morgen muss ich die Dachrinne reparieren.", True),
        ("Muss ich das Formular wirklich unterschreiben?", False),
        ("Ich muss sagen, die Dachrinne gefällt mir.", False),
        ("Je dois appeler le plombier.", True),
        ("Tengo que llamar al dentista.", True),
    ],
)
def test_a_request_is_told_from_a_question_and_from_news(told: str, asked: bool) -> None:
    assert bool(request(told)) is asked


def _tasks_of(*talk: tuple[str, str]) -> dict[str, str]:
    """Of what is said in turn, the tasks that were made: the text of each, and its place in the end."""
    turns = [
        TurnRecorded("space", f"t{n}", n * MINUTE, "s", role, role, content)  # type: ignore[arg-type]
        for n, (role, content) in enumerate(talk, 1)
    ]
    return {e.description: e.place for row in fold(PROCESSORS, turns) if isinstance(e := row.event, TaskChanged)}


@pytest.mark.parametrize(
    "wish",
    [
        "Und sprich mich bitte immer mit Du an.",
        "Can you write all commit messages in English from now on?",
        "Please always add a test to every change you make.",
    ],
)
def test_a_wish_that_holds_from_then_on_is_no_task(wish: str) -> None:
    assert _tasks_of(("user", wish), ("assistant", "Sure.")) == {}


def test_what_is_asked_for_beside_a_wish_that_holds_is_a_task() -> None:
    talk = ("user", "Please always answer in English. Can you translate the museum's catalogue?")
    assert _tasks_of(talk) == {"Can you translate the museum's catalogue?": "active"}


def test_what_the_answer_takes_for_a_wish_that_holds_is_a_task_no_more() -> None:
    desk = Desk()
    turn = desk.say("bitte duze mich", "E", opens=True)
    (task,) = desk.now
    standing = {"turn": turn, "text": "bitte duze mich", "status": "current", "note": "", "source": "said", "by": ""}
    desk.told(StandingTold, id="x", said_at=0, likelihood=0.3, why=[], **standing)
    assert desk.places() == {task: "active"}, "it is likelier not to hold"
    desk.told(StandingTold, id="x", said_at=0, likelihood=0.5, why=[], **standing)
    assert (desk.now[task].place, desk.now[task].change) == ("ended", "stands")
    desk.told(EffortResumed, effort="E", turn="t2")
    assert desk.places() == {task: "ended"}, "it was no work, so it does not go on"


def test_a_request_that_moves_a_note_is_done_by_that_and_no_task() -> None:
    desk = Desk()
    turn = desk.say("Can you move the dentist reminder to 4pm instead?", "a")
    (task,) = desk.now
    cause = TurnRecorded("space", turn, desk.at, "s", "user", "user", "")
    desk.told(NoteMoved, cause, note="n", turn="", reason="again")
    assert desk.now[task].place != "ended"
    desk.told(NoteMoved, cause, note="n", turn=turn, reason="moved")
    assert (desk.now[task].place, desk.now[task].change) == ("ended", "moves a note")
