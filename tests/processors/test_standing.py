"""Standing: given what a person says to hold from then on, then whoever answers is told of it, whatever is asked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from processors.contradictions import BeliefContradicted, BeliefRestored
from processors.standing import PROCESSOR, StandingTold
from streams.core.events import SECOND, NoteSettled, NoteTaken, TurnRecorded, TurnRetracted
from tests.memories import make
from tests.spaces import SPACE, Remembering
from tests.steps import Steps

RULE = "Please don't ever push anything without asking me first, I want to see the diff."
ILL = "I'm allergic to nuts, so nothing with nuts for me please."
CAKE = "A cake for Sunday, which one?"


class Talk(Steps):
    """What was said, and what of it stands."""

    def __init__(self, **params: Any) -> None:
        super().__init__(PROCESSOR, **params)
        self.turns = 0

    def say(self, content: str, role: str = "user", session: str = "s", agent: str = "ann") -> TurnRecorded:
        self.turns += 1
        turn = TurnRecorded("space", f"t{self.turns}", self.turns * SECOND, session, agent, role, content)  # type: ignore[arg-type]
        self.give(turn)
        return turn

    def take(self, note: str, content: str, context: str = "") -> None:
        self.give(NoteTaken("space", f"n{note}", 0, note, content, "s", context=context))

    def retract(self, turn: TurnRecorded) -> None:
        self.give(TurnRetracted("space", f"r{turn.id}", turn.at, "s", turn.id))

    @property
    def kept(self) -> list[StandingTold]:
        return [*{event.id: event for event in self.all(StandingTold)}.values()]

    @property
    def now(self) -> list[str]:
        return [event.text for event in self.kept if event.status == "current"]


PLAINLY = ("I'm vegetarian.", "Call me Sam.", "From now on always use pnpm instead of npm.", "Don't use emojis.")


@pytest.mark.parametrize("content", [RULE, ILL, *PLAINLY])
def test_what_a_person_says_to_hold_stands_with_its_likelihood_and_why(content: str) -> None:
    talk = Talk()
    talk.say(content)
    assert talk.now == [content]
    (told,) = talk.kept
    assert (told.turn, told.by) == ("t1", "")
    assert 0.2 < told.likelihood <= 1
    assert told.why


@pytest.mark.parametrize(
    "content",
    [
        "Keep this one short, it goes on a postcard.",
        "Do you always deploy on Fridays?",
        "She always forgets her keys.",
        "I love that band, I could listen to them for ever.",
        "My boss never lets us order anything.",
        "Her sister is having her knee done on Tuesday.",
        "Push me on Monday, please, or I'll never ring them.",
        "ok thanks",
    ],
)
def test_what_holds_for_now_or_binds_nobody_does_not_stand(content: str) -> None:
    talk = Talk()
    talk.say(content)
    assert talk.now == []


@pytest.mark.parametrize("role", ["assistant", "tool", "system"])
def test_only_people_say_what_holds(role: str) -> None:
    talk = Talk()
    talk.say(RULE, role)
    assert talk.now == []


def test_of_a_long_turn_the_sentence_stands() -> None:
    talk = Talk()
    rest = "The train was late again and I sat in the station hall, where a choir sang for an hour or so. " * 3
    talk.say(f"{rest}{ILL} {rest}")
    assert talk.now == [ILL]


def test_a_likelier_one_may_be_asked_for() -> None:
    talk = Talk(sure=2_000)
    talk.say(ILL)
    assert talk.now == []


def test_said_twice_it_stands_once_and_as_it_was_said_last() -> None:
    talk = Talk()
    first = talk.say(ILL)
    second = talk.say(ILL.upper(), session="other")
    assert [(event.turn, event.status) for event in talk.kept] == [("t1", "repeated"), ("t2", "current")]
    talk.retract(second)
    assert [(event.turn, event.status) for event in talk.kept] == [("t1", "current"), ("t2", "retracted")]
    talk.retract(first)
    assert talk.now == []


def test_what_is_settled_by_its_turn_does_not_stand() -> None:
    talk = Talk()
    talk.say(ILL)
    talk.give(NoteSettled("space", "f", 9 * SECOND, turn="t1"))
    assert [event.status for event in talk.kept] == ["settled"]


def test_a_later_statement_takes_its_place_until_that_is_judged_otherwise() -> None:
    talk = Talk()
    old, new = talk.say(ILL), talk.say("The doctor tested it, and it is gone.")
    belief = {
        "space": "space",
        "session": "s",
        "at": new.at,
        "subject": "ann",
        "attribute": "allergic",
        "chain": old.id,
    }
    talk.give(make(BeliefContradicted, **belief, turn=new.id, older=old.id, older_value="nuts"), new)
    assert [(event.status, event.by) for event in talk.kept] == [("superseded", new.id)]
    talk.give(make(BeliefRestored, **belief, turn=old.id, newer="another", current=True), new)
    assert talk.now == []
    talk.give(make(BeliefRestored, **belief, turn=old.id, newer=new.id, current=True), new)
    assert talk.now == [ILL]
    assert {(event.at, event.said_at) for event in talk.all(StandingTold)} == {(old.at, old.at), (new.at, old.at)}


@pytest.mark.parametrize(
    ("content", "context", "text"),
    [
        ("rule: never push to main", "", "never push to main"),
        ("Never push to main", "rule", "Never push to main"),
        ("Rule of thumb for the oven", "", ""),
        ("fact: the sky is blue", "", ""),
    ],
)
def test_a_note_that_is_a_rule_stands_until_it_is_settled(content: str, context: str, text: str) -> None:
    talk = Talk()
    talk.take("n1", content, context)
    assert talk.now == ([text] if text else [])
    talk.give(NoteSettled("space", "f", 0, "n1"))
    assert talk.now == []


HINTED = (
    ("letters to her go out in big type, signed by all 3 of us", "Understood: big type, signed by all three."),
    ("mum won't eat anything with raisins in it btw, so the other cake", "Noted, no raisins. The lemon cake then."),
)


@pytest.mark.parametrize(("content", "answer"), HINTED)
def test_of_what_is_not_sure_stands_what_the_answer_takes_note_of(content: str, answer: str) -> None:
    talk = Talk()
    talk.say(content)
    assert talk.now == []
    noted = talk.say(answer, "assistant")
    assert talk.now == [content]
    (told,) = talk.kept
    assert (told.turn, told.said_at) == ("t1", SECOND)
    assert any(signal.startswith("re") for signal in told.why)
    talk.retract(noted)
    assert talk.now == []


@pytest.mark.parametrize(("content", "answer"), HINTED)
def test_of_what_is_not_sure_nothing_stands_where_the_answer_is_about_something_else(content: str, answer: str) -> None:
    talk = Talk()
    talk.say(content)
    talk.say("What a day, shall I look up the trains?", "assistant")
    talk.say(answer, "assistant")  # answers nothing any more
    assert talk.now == []


@pytest.mark.parametrize(("content", "answer"), HINTED)
def test_what_was_taken_back_before_its_answer_does_not_stand(content: str, answer: str) -> None:
    talk = Talk()
    talk.retract(talk.say(content))
    talk.say(answer, "assistant")
    assert talk.now == []


def test_where_only_people_spoke_it_takes_more() -> None:
    talk = Talk()
    plainly = PLAINLY[1]
    talk.say("Good morning!", agent="bob")
    talk.say(plainly, agent="sam")
    assert talk.now == []
    talk.say("Good morning, what can I do for you?", "assistant", agent="bot")
    talk.say(plainly, agent="sam")
    assert talk.now == [plainly]


@pytest.mark.parametrize("role", ["system", "tool"])
def test_a_prompt_and_a_tool_are_no_people(role: str) -> None:
    talk = Talk()
    talk.say("Good morning!", role, agent="shell")
    talk.say(PLAINLY[1], agent="sam")
    assert talk.now == [PLAINLY[1]]


def test_a_note_taken_again_stands_as_it_was_taken_last() -> None:
    talk = Talk()
    talk.take("n1", "rule: never push to main")
    talk.take("n1", "rule: never push to develop")
    assert talk.now == ["never push to develop"]
    talk.take("n1", "buy milk")
    assert talk.now == []


def told(space: Remembering, question: str = "", session: str = "new", **more: Any) -> list[str]:
    found = space.ask("context", space=SPACE, session=session, question=question, **more)
    return [
        piece["said_in"] or piece["note"]
        for one in found["sections"] if one["name"] == "standing" for piece in one["pieces"]
    ]  # fmt: skip


def test_a_context_tells_of_it_though_the_question_shares_no_word(tmp_path: Path) -> None:
    with Remembering(tmp_path / "home") as space:
        ill = space.say(ILL, 0)
        rule = space.say(RULE, 0)
        assert told(space, CAKE) == [rule, ill]
        assert told(space) == [rule, ill]
        assert told(space, "May there be nuts in it?", without=["recalled"]) == [ill, rule]
        assert told(space, "May there be nuts in it?") == [], "recall shows both turns"
        assert told(space, CAKE, session="talk") == []
        space.retract(ill)
        assert told(space, CAKE) == [rule]


@pytest.mark.parametrize(("budget", "least", "most"), [(4000, 200, 240), (1000, 40, 60), (300, 0, 18)])
def test_the_first_of_what_stands_come_before_what_answers_little_within_a_share_of_the_budget(
    tmp_path: Path, budget: int, least: int, most: int
) -> None:
    with Remembering(tmp_path / "home") as space:
        things = ("harbour", "orchard", "kitchen", "workshop", "cellar", "attic", "garden", "stable", "chapel", "tower")
        for number, thing in enumerate(things):
            rule = f"rule: whoever leaves the {thing} last locks it, hangs up the key and tells the others of it"
            space.add(NoteTaken(SPACE, f"f{number}", space.at, f"n{number}", rule, "talk"))
        found = space.ask("context", space=SPACE, session="new", question=CAKE, budget=budget, explain=True)
        lines = [one for one in found["considered"] if one["section"] == "standing"]
        assert len(lines) == 10
        first = [one["tokens"] for place, one in enumerate(lines) if one["worth"] / 0.97**place > 0.6]
        assert least <= sum(first) <= most
        assert [one["worth"] for one in lines] == sorted([one["worth"] for one in lines], reverse=True)


def test_a_rule_taken_down_is_told_and_others_spaces_are_not(tmp_path: Path) -> None:
    with Remembering(tmp_path / "home") as space:
        space.say(ILL, 0, space="other")
        space.pass_time(None)
        space.add(NoteTaken(SPACE, "f", space.at, "n1", "rule: never push to main", "talk"))
        assert told(space, CAKE) == ["n1"]
        ill = space.say(ILL)
        assert told(space, CAKE) == ["n1", ill], "what was taken down on purpose comes first"


def test_a_rule_does_not_wait_among_notes(tmp_path: Path) -> None:
    with Remembering(tmp_path / "home") as space:
        found = []
        for day, words in enumerate(("rule: push to main", "look at main", "rule: never push to main")):
            space.pass_time(day)
            space.add(NoteTaken(SPACE, f"f{day}", space.at, "n1", words, "talk"))
            notes = space.ask("view", name="notes", space=SPACE)
            found.append([(note["content"], note["resolution"]) for note in notes])
        assert found == [[], [("look at main", None)], [("look at main", "it is a rule now")]]
