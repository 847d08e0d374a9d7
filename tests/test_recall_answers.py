"""What a memory answers: as of any moment, of one space, and as what became of its memories orders it."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from processors import PROCESSORS
from projections.recall.answers import read_row
from projections.recall.flags import DIGITS
from streams.core.errors import UsageError
from streams.core.events import NoteTaken, Outside, TurnRecorded, iso
from streams.runtime.home import Home
from streams.runtime.replay import replay
from tests.spaces import MINUTE, SPACE, Remembering

HARBOUR = "the ferry leaves the harbour at nine"
LATE = 400.0
"""A day on which what was said at the start is long forgotten."""


@pytest.fixture
def space(tmp_path: Path) -> Iterator[Remembering]:
    with Remembering(tmp_path / "home") as found:
        yield found


def queries(talk: list[Outside]) -> list[str]:
    """What the talk is about, in a few questions."""
    turns = [event.content for event in talk if isinstance(event, TurnRecorded)]
    return ["what is my favourite colour?", "the offsite in Lisbon", "yesterday", *turns[3::80]]


def test_a_turn_may_tell_figures_where_its_words_have_digits_or_it_says_more_than_them() -> None:
    said = [("flight 17", False), ("gate ٣", False), ("no number", False), ("no number", True)]
    rows = [("s", 0, 0, 0, "t", "s", "ann", 0, text, None, "user", 3, more) for text, more in said]
    assert [read_row(row)[3] & DIGITS > 0 for row in rows] == [True, True, False, True]


# -- where and when ----------------------------------------------------------------------------------------------------


def test_all_kinds_of_memories_answer_and_only_those_asked_for(
    space: Remembering, talk: Callable[[int], list[Outside]]
) -> None:
    space.add(*talk(600), NoteTaken("s0", "n", talk(600)[-1].at, "note", "the hotel budget for Lisbon"))
    found = space.recall("the hotel budget for Lisbon", space="s0", k=200)["hits"]
    assert {hit["kind"] for hit in found} >= {"turn", "segment", "note"}
    for kind in ("turn", "segment", "note"):
        alone = space.recall("the hotel budget for Lisbon", space="s0", k=200, kinds=[kind])["hits"]
        assert {hit["kind"] for hit in alone} == {kind}
    said = {event.id: event.content for event in talk(600) if isinstance(event, TurnRecorded)}
    assert all(set(hit["turns"]) <= {*said} for hit in found)
    assert [hit["text"] for hit in found if hit["kind"] == "turn"] == [
        said[hit["id"]] for hit in found if hit["kind"] == "turn"
    ]


IMPORT = (
    ("user", "Please import the customer CSV into the staging database."),
    ("assistant", "The customer import is half done. Next step is the address columns."),
    ("user", "We're waiting for Pedro to send the missing postal codes."),
    ("user", "The hall wants a coat of paint, too."),
)


def test_who_asks_how_far_things_are_is_told_first_what_is_open_and_how_it_stands(space: Remembering) -> None:
    turns = [
        TurnRecorded("s0", f"t{n}", n * MINUTE, "c0", role, role, content)  # type: ignore[arg-type]
        for n, (role, content) in enumerate(IMPORT)
    ]
    space.add(*turns, TurnRecorded("s0", "q", 99 * MINUTE, "c1", "ann", "user", "Where were we?"))
    for query in ("where were we", "Where did we stop with the customer import?", "so, what's still open?"):
        first = space.recall(query, space="s0")["hits"][0]
        assert (first["kind"], first["turns"]) == ("task", ["t0"]), query
        for known in ("blocked", "50% done", "now: the address columns", "waits for: Pedro"):
            assert known in first["text"], (query, known)
    then = space.recall("where were we", space="s0", as_of=1)["hits"][0]
    assert "50% done" in then["text"]
    assert "Pedro" not in then["text"], "nobody had said so then"
    assert space.recall("where is the paint for the hall?", space="s0")["hits"][0]["kind"] == "turn"


@pytest.mark.parametrize("late", [False, True], ids=["a note that waits", "a note that was recorded too late"])
def test_who_asks_what_is_to_be_done_is_told_the_notes_of_what_the_question_names(
    space: Remembering, late: bool
) -> None:
    wanted = "Please remind me to renew the boiler insurance in December."
    said = (wanted, "The garden fence is painted green now.", "Our cat is called Moritz.")
    began = 0 if late else time.time_ns() // 1000
    space.add(*(TurnRecorded("s0", f"t{n}", began + n, f"c{n}", "user", "user", said[n]) for n in range(3)))
    for question in ("What do I have to do in December?", "what's due for the boiler insurance?"):
        first = space.recall(question, space="s0")["hits"][0]
        assert wanted in first["text"]
        assert late or first["kind"] == "note"
        shown = space.ask("context", space="s0", session="new", question=question)["text"]
        assert (wanted in shown, "fence" in shown) == (True, False), question
    assert late or space.recall("What do I have to do?", space="s0")["hits"][0]["kind"] == "note"


NOT_SHOWN = {"shown": None}
"""What was is only looked up: that is not recorded as shown."""


def test_asked_as_of_a_position_a_memory_answers_as_it_did_then(
    space: Remembering, tmp_path: Path, talk: Callable[[int], list[Outside]]
) -> None:
    events = talk(240)
    space.add(*events)
    for length in (1, 143, 240):
        with Remembering(tmp_path / str(length), events[:length]) as then:
            for query in queries(events):
                how: dict[str, Any] = {"space": "s0", "session": "c0", "history": True}
                found = then.recall(query, **how) | NOT_SHOWN
                assert space.recall(query, as_of=length - 1, **how) == found, (length, query)


def test_asked_as_of_a_time_a_memory_answers_as_it_did_then(
    space: Remembering, tmp_path: Path, talk: Callable[[int], list[Outside]]
) -> None:
    events = talk(200)
    space.add(*events)
    with Remembering(tmp_path / "then", events[:120]) as then:
        moment = events[119].at
        assert events[120].at > moment
        for query in queries(events):
            seen = space.recall(query, space="s0", as_of=iso(moment))
            assert seen == then.recall(query, space="s0") | NOT_SHOWN, query


def test_spaces_are_apart_though_the_same_is_said_in_both(space: Remembering) -> None:
    here = space.say(HARBOUR)
    alone = space.recall("harbour")
    there = [space.say(HARBOUR, space="other") for _ in range(20)]
    space.show("harbour", *there, space="other")
    assert space.found("harbour") == [here]
    assert space.recall("harbour") == alone
    assert set(space.found("harbour", space="other", k=50)) == set(there)
    assert space.found("harbour", space="nobody's") == []


def test_what_was_taken_back_is_gone_but_found_as_of_before(space: Remembering) -> None:
    first, second = space.say(HARBOUR), space.say("the harbour is closed in winter")
    before = space.position
    space.retract(first)
    assert space.found("ferry harbour") == [second]
    assert set(space.found("ferry harbour", as_of=before)) == {first, second}


# -- what is believed --------------------------------------------------------------------------------------------------


def test_what_is_believed_now_comes_in_place_of_what_was_and_history_shows_the_chain(space: Remembering) -> None:
    colours = [
        space.say(f"My favourite colour is {colour}.", day) for day, colour in enumerate(("blue", "green", "red"))
    ]
    space.say("The bread rises over night.", 4, session="baking")
    assert space.found("favourite colour") == [colours[2]]
    told = space.recall("favourite colour", kinds=["turn"], history=True)["hits"]
    assert sorted(hit["turn_id"] for hit in told) == colours
    chain = {hit["turn_id"]: [older["turn_id"] for older in hit["history"]] for hit in told}
    assert chain == {"t0": [], "t1": ["t0"], "t2": ["t1", "t0"]}
    assert space.found("favourite colour", as_of=1) == [colours[1]]
    newest = space.ask("memory", id="t0")["beliefs"]
    assert [(row["relation"], row["turn_id"]) for row in newest] == [("replaced by", "t2")]


def test_where_only_some_turns_may_answer_no_other_does_nor_takes_the_place_of_one(space: Remembering) -> None:
    colours = [
        space.say(f"My favourite colour is {colour}.", day) for day, colour in enumerate(("blue", "green", "red"))
    ]
    assert space.found("favourite colour") == [colours[2]]
    assert space.found("favourite colour", turns=colours[:1]) == colours[:1]
    assert space.found("favourite colour", turns=colours[:2]) == [colours[1]]
    assert space.found("favourite colour", turns=[]) == space.found("favourite colour", turns=["none"]) == []


def test_a_judgment_puts_one_statement_in_the_place_of_another_and_takes_it_back(space: Remembering) -> None:
    older = space.say("Marta keeps the spare key of the boat house.", 0)
    newer = space.say("The spare key of the boat house hangs in the office.", 3)
    assert set(space.found("spare key boat house")) == {older, newer}
    space.judge(newer, older)
    assert space.found("spare key boat house") == [newer]
    space.judge(newer, older, contradicts=False)
    assert set(space.found("spare key boat house")) == {older, newer}


def test_what_was_said_before_is_believed_again_where_the_correction_is_taken_back(space: Remembering) -> None:
    blue = space.say("My favourite colour is blue.", 0, session="one")
    green = space.say("My favourite colour is green now.", 3, session="two")
    assert space.found("favourite colour") == [green]
    space.retract(green)
    assert space.found("favourite colour") == [blue]
    assert space.found("favourite colour", history=True) == [blue]
    assert space.ask("memory", id=blue)["beliefs"] == []
    assert space.found("favourite colour", as_of=1) == [green]


LEAVE = ("Marek has leave 9 to 15 Feb.", "Joanna asked for the 20th and 21st, her sister's wedding")
WEDDING = "correction: Joanna's wedding thing is 21st and 22nd, not 20th/21st."
PADS = "brake pads B05S (20), tubes 28mm (40), chains X11 (6)"
GIVEN_WAY = f'[no longer so since 2024-01-03: "{WEDDING}"]'


def test_a_turn_of_which_one_sentence_was_corrected_is_still_found_and_tells_which(space: Remembering) -> None:
    older = space.say(" ".join(LEAVE), 0, session="one")
    newer = space.say(f"{WEDDING} I misread her message", 2, session="two")
    first = space.recall("When is Marek on leave?", kinds=["turn"])["hits"][0]
    assert (first["id"], first["text"]) == (older, " ".join(LEAVE))
    assert first["marked"] == f"{' '.join(LEAVE)} {GIVEN_WAY}"
    assert space.found("When does Joanna go to the wedding?") == [newer, older], "the correction comes first"
    assert "marked" not in space.recall("When is Marek on leave?", as_of=0)["hits"][0]
    batch = space.ask("recall_batch", queries=[{"space": SPACE, "query": "When is Marek on leave?", "id": 1}])
    assert {hit["marked"] for hit in batch[0]["hits"] if hit["id"] == older} == {first["marked"]}


def test_of_a_list_or_of_clauses_only_the_one_that_was_corrected_gives_way(space: Remembering) -> None:
    order = space.say(f"we need {PADS}. ask Hartje until noon", 0, session="one")
    space.judge(space.say("they don't have the X11 chains, took Connex 11sX instead", 2, session="two"), order)
    lessons = space.say("Leo has swimming on Tuesdays, Mina has violin on Thursdays at Mrs. Brandt's", 5, session="one")
    space.judge(space.say("Mina's violin teacher is no longer Mrs. Brandt", 7, session="two"), lessons)
    pads = space.recall("how many brake pads?", kinds=["turn"])["hits"][0]
    assert pads["id"] == order
    assert f"we need {PADS} [no longer so since 2024-01-03: " in pads["marked"]
    leo = space.recall("when has Leo swimming?", kinds=["turn"])["hits"][0]
    assert leo["id"] == lessons
    figures = [one["text"] for one in space.ask("context", space=SPACE, session="one")["sections"][0]["pieces"]]
    assert not any("doubtful" in text for text in figures)


@pytest.mark.parametrize(
    ("older", "gone", "newer", "by"),
    [
        (
            "Professor Lindgren examines me. The defence is on April 30.", "The defence is on April 30.",
            "Professor Lindgren has a sabbatical, so it must be by April 20.", "",
        ),
        (
            "Rent is 1,150 a month. The landlady is Mrs Baumann. She lives upstairs.", "Rent is 1,150 a month.",
            "Mrs Baumann wants to raise the rent to 1,240.", "",
        ),
        (
            "Tomasz wants to have the invoices out of the way before. I say the weekend of May 16.",
            "I say the weekend of May 16.", "The 16th is a wedding, Tomasz says. We do it on Saturday May 23.", "",
        ),
        (
            "The house in Brittany is found! The Le Goffs have a dog. We go 25 July to 8 August.",
            "We go 25 July to 8 August.", "The Le Goffs rang. So the whole thing shifts by a week now, 1 to 15 August.",
            "So the whole thing shifts by a week now, 1 to 15 August.",
        ),
    ],
)  # fmt: skip
def test_what_gave_way_is_the_sentence_that_tells_figures_of_the_kind_and_not_who_is_named_in_both(
    space: Remembering, older: str, gone: str, newer: str, by: str
) -> None:
    before = space.say(older, 0, session="one")
    space.judge(space.say(newer, 40, session="two"), before)
    marked = next(hit for hit in space.recall(older, kinds=["turn"])["hits"] if hit["id"] == before)["marked"]
    assert marked.index("[no longer so") == marked.index(gone) + len(gone) + 1
    assert f': "{by}' in marked


def test_a_turn_that_says_nothing_else_than_what_gave_way_is_left_out(space: Remembering) -> None:
    older = space.say("Thanks! The viewing of the flat is on Thursday. It's the 12th, at three.", 0, session="one")
    newer = space.say("The viewing of the flat has moved. It is on the 14th now.", 2, session="two")
    space.judge(newer, older)
    assert space.found("viewing of the flat") == [newer]


def test_a_turn_that_recall_lists_says_where_it_perhaps_stands_no_more(space: Remembering) -> None:
    older = space.say("prod upgrade is on wednesday 28 jan at 22:00", 0, session="one")
    space.say("prod upgrade may slip to 11 feb, same time", 7, session="two")
    hits = {hit["id"]: hit for hit in space.recall("when is the prod upgrade", kinds=["turn"])["hits"]}
    assert hits[older]["marked"].startswith(f"{hits[older]['text']} [perhaps no longer so since 2024-01-08: ")


# -- what is forgotten -------------------------------------------------------------------------------------------------


def test_the_forgotten_is_offered_where_it_is_named_and_withheld_where_it_is_only_near(space: Remembering) -> None:
    named = [space.say(f"We met at pier {n}.", n * MINUTE, session="day") for n in range(3)]
    other = [space.say(words, session="day") for words in ("It rained.", "Nobody came.", "So we left.")]
    far = [space.say("Some other matter.", session="far") for _ in range(5)]
    near = [turn for turn in space.found("pier 1", at=space.when(1), k=50) if turn not in named]
    assert near
    assert set(near) <= {*other}
    space.say("Time went by.", LATE, session="now")
    assert space.ask("memory", id=other[-1])["forgotten"] is True
    late = space.found("pier", k=50)
    assert set(named) <= set(late)
    assert far[0] not in late
    withheld = set(space.found("pier", k=50, forgotten=True)) - set(late)
    assert withheld
    assert all(space.ask("memory", id=turn)["forgotten"] for turn in withheld)


def test_what_is_pinned_or_was_important_is_never_withheld(space: Remembering) -> None:
    space.say("We met at the pier.", session="day")
    quiet = [space.say("Nothing else happened at all.", session="day") for _ in range(3)]
    space.pin(quiet[0])
    space.flag(quiet[1])
    space.say("Time went by.", LATE, session="now")
    forgotten = {turn: space.ask("memory", id=turn)["forgotten"] for turn in quiet}
    assert forgotten == {quiet[0]: False, quiet[1]: False, quiet[2]: True}


# -- what orders near-ties ---------------------------------------------------------------------------------------------

TWINS = 4


def twins(space: Remembering) -> list[str]:
    """Memories that answer alike, each in a session of its own, and one that answers better."""
    found = [space.say("Broken lamp in the hall again.", 0, session=f"s{n}") for n in range(TWINS)]
    space.say("Lamp, hall, broken lamp, broken hall lamp!", 0, session="better")
    return found


@pytest.mark.parametrize("mark", ["pin", "flag", "reward", "show"])
def test_marks_bring_a_memory_before_its_equals_but_not_before_what_answers_better(
    space: Remembering, mark: str
) -> None:
    alike = twins(space)
    chosen = alike[2]
    before = space.found("broken lamp in the hall", at=space.when(3))
    assert before == [f"t{TWINS}", *alike]
    if mark == "show":
        for day in (1, 2):
            space.show("lamp", chosen, day=day)
    else:
        getattr(space, mark)(chosen, day=1)
    after = space.found("broken lamp in the hall", at=space.when(3))
    assert after == [f"t{TWINS}", chosen, *[turn for turn in alike if turn != chosen]]


def test_what_misled_comes_after_its_equals(space: Remembering) -> None:
    alike = twins(space)
    space.reward(alike[0], -1, day=1)
    assert space.found("broken lamp in the hall", at=space.when(3))[1:] == [*alike[1:], alike[0]]
    space.pin(alike[3], day=2)
    space.pin(alike[3], pinned=False, day=2.5)
    assert space.found("broken lamp in the hall", at=space.when(3))[1:] == [*alike[1:], alike[0]]


def test_what_a_session_has_at_hand_brings_forward_what_is_linked_to_it(space: Remembering) -> None:
    alike = twins(space)
    key = space.say("The ladder stands in the shed.", 0, session="shed")
    for day in (1, 2, 3, 4):
        space.show("ladder", key, alike[3], day=day)
        for other in alike[:3]:
            space.show("lamp", other, day=day)  # each is shown as often: what tells them apart is the link alone
    space.show("ladder", key, day=6, session="work")
    asked = {"at": space.when(6 + MINUTE)}
    elsewhere = space.found("broken lamp in the hall", session="other", **asked)
    assert elsewhere[1:] == alike
    assert space.found("broken lamp in the hall", session="work", **asked)[1] == alike[3]
    later = {"at": space.when(6 + 10 * MINUTE)}
    assert space.found("broken lamp in the hall", session="work", **later)[1:] == alike


# -- the same again ----------------------------------------------------------------------------------------------------


def test_a_replay_with_the_same_parameters_answers_as_live_does(
    tmp_path: Path, talk: Callable[[int], list[Outside]]
) -> None:
    events = talk(300)
    how = {"space": "s0", "session": "c0", "history": True}
    turns = [event.id for event in events if isinstance(event, TurnRecorded)][::60]
    with Remembering(tmp_path / "home") as space:
        for start in range(0, 300, 83):  # live is asked all along, so that its index grows in pieces
            space.add(*events[start : start + 83])
            space.recall("Lisbon", space="s0")
        live = [space.recall(query, **how) for query in queries(events)]
        live += [space.ask("memory", id=turn) for turn in turns]
        digest = space.ask("digest")
    home = Home(tmp_path / "home", PROCESSORS)
    replay(home, "again")
    again = [home.ask("recall", "again", query=query, **how) for query in queries(events)]
    again += [home.ask("memory", "again", id=turn) for turn in turns]
    assert home.ask("digest", "again") == digest
    assert again == live
    home.log.close()


@pytest.mark.parametrize("harm", ["deleted", "damaged", "cut", "empty"])
def test_an_index_that_is_lost_is_made_again_and_changes_no_digest(tmp_path: Path, harm: str) -> None:
    with Remembering(tmp_path / "home") as space:
        for n in range(30):
            space.say(f"{HARBOUR} on day {n}")
        digest, before = space.ask("digest"), space.recall("day 7 at the harbour")
        assert space.ask("digest") == digest
    index = tmp_path / "home" / "live.recall"
    content = index.read_bytes()
    for file in index.parent.glob("live.recall*"):
        file.unlink()
    match harm:
        case "damaged":
            index.write_bytes(b"not a database" + content[14:])
        case "cut":
            index.write_bytes(content[: len(content) // 3])
        case "empty":
            index.write_bytes(b"")
    with Remembering(tmp_path / "home") as again:
        assert again.recall("day 7 at the harbour") == before
        assert again.ask("digest") == digest


# -- many questions, any words -----------------------------------------------------------------------------------------


def test_a_batch_answers_each_question_as_it_is_answered_alone_and_says_what_is_wrong_with_others(
    space: Remembering,
) -> None:
    for n in range(20):
        space.say(f"{HARBOUR}, said {n}", n)
    good: dict[str, Any] = {"space": SPACE, "query": "harbour 7", "k": 3, "kinds": ["turn"]}
    wrong: list[dict[str, Any]] = [
        {"k": 0},
        {"kinds": ["dream"]},
        {"at": "soon"},
        {"at": 10**30},
        {"query": 7},
        {"kinds": 5},
        {"colour": 1},
    ]
    asked = [good | {"id": "a"}, *[good | one | {"id": n} for n, one in enumerate(wrong)], good | {"id": "z"}]
    before = len(space.ask("view", name="turns")), space.ask("digest")
    answers = space.ask("recall_batch", queries=asked)
    assert [answer["id"] for answer in answers] == ["a", *range(len(wrong)), "z"]
    assert [sorted(answer) for answer in answers[1:-1]] == [["error", "id"]] * len(wrong)
    alone = [hit | {"text": ""} for hit in space.recall("harbour 7", k=3, kinds=["turn"])["hits"]]
    assert [hit | {"text": ""} for hit in answers[0]["hits"]] == alone
    assert answers[0]["hits"] == answers[-1]["hits"]
    assert (len(space.ask("view", name="turns")), space.ask("digest")) == before


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Remembering]:
    with Remembering(tmp_path_factory.mktemp("odd") / "home") as space:
        for words in (
            "東京の天気は晴れです",
            'she said "no" AND (yes OR NEAR)',
            "🙂 emoji 🙂",
            "",
            "yesterday in May 2023",
        ):
            space.say(words)
        yield space


PIECES = ['"', "'", "AND", "OR", "NOT", "NEAR(", ")", "*", "col:", "^", "-x", "東京", "天気", "🙂", "\x00",
          "%s", "yesterday", "in May 9999", "December 9999", "0000-00-00", "harbour", "\u202e", "ß", "İ"]  # fmt: skip


@settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.one_of(st.text(st.characters(codec="utf-8")), st.lists(st.sampled_from(PIECES)).map(" ".join)),
    st.sampled_from([None, "1970-01-01", "2026-01-06", "9999-12-31"]),
)
def test_any_text_is_a_question(odd: Remembering, query: str, at: str | None) -> None:
    found = odd.recall(query, at=at)
    assert len(found["hits"]) <= 10
    assert all(hit["score"] > 0 for hit in found["hits"])


def test_long_and_foreign_and_empty_questions_are_answered(odd: Remembering) -> None:
    assert odd.found("東京の天気", k=1) == ["t0"]
    assert odd.found('"no" AND (yes', k=1) == ["t1"]
    assert odd.found("") == []
    assert odd.found("天気 " * 25_000, k=1) == ["t0"]
    assert odd.found("x" * 100_000) == []


def test_a_question_that_is_none_is_refused_in_words(odd: Remembering) -> None:
    for how in ({"k": 0}, {"k": 1001}, {"k": "3"}, {"kinds": ["x"]}, {"at": "soon"}, {"session": 4}, {"colour": 1}):
        with pytest.raises(UsageError) as told:
            odd.recall("anything", **how)
        assert told.value.way_out, how
    json.dumps(odd.recall("天気"))


# -- why a memory is as it is ------------------------------------------------------------------------------------------


def test_a_memory_explains_itself(space: Remembering) -> None:
    turn, other = space.say(HARBOUR, 0), space.say("The harbour master is Ben.", 0.01)
    for day in (1, 2, 3):
        space.show("ferry", turn, other, day=day, session="work")
    space.reward(turn, 0.5, day=3.5)
    space.pin(turn, day=4)
    space.say("Good night.", 5)
    found = space.ask("memory", id=turn)
    assert [row["what"] for row in found["accesses"]] == ["recalled"] * 3 + ["rewarded", "pinned"]
    assert [(row["turn_id"], row["text"]) for row in found["links"]] == [(other, "The harbour master is Ben.")]
    assert (found["text"], found["forgotten"], found["asked_at"]) == (HARBOUR, False, space.at)
    now = {row["measure"]: row["value"] for row in found["now"]}
    point = max((p for p in found["curve"] if p["at"] <= space.at), key=lambda p: p["at"])
    assert now["retention"] == 1.0  # pinned
    assert point["retention"] == 1.0
    assert [p["at"] for p in found["curve"]] == sorted({p["at"] for p in found["curve"]})
    earlier = space.ask("memory", id=turn, as_of=2)
    assert [row["what"] for row in earlier["accesses"]] == ["recalled"]
    assert earlier["links"] == []
