"""Manifest: where segments begin, and what their summaries keep."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest

from processors.manifest import (
    PROCESSOR,
    ArtifactMade,
    ManifestParams,
    SegmentOpened,
    SegmentSummarized,
    TurnFiled,
    TurnRefiled,
)
from processors.manifest.boundary import Trail, keep
from processors.manifest.cue import Evidence
from processors.manifest.summary import Said, conclude, did, spoken, summarize
from processors.manifest.summary import keep as keep_said
from streams.core.driver import fold
from streams.core.events import (
    HOUR,
    MINUTE,
    Outside,
    SessionEnded,
    SummaryWritten,
    TurnRecorded,
    TurnRetracted,
)
from streams.core.text import read
from streams.core.text.terms import tokens
from tests.steps import Steps

LAMP = (
    "the lamp over the bench flickers since monday",
    "does the lamp flicker with another bulb too?",
    "yes, with another bulb the lamp still flickers",
    "then the lamp switch may be loose, open the switch",
)
CAKE = (
    "hi! by the way, can you help me with a recipe for plum cake?",
    "sure, plum cake with yeast dough or with butter dough?",
    "yeast dough, please, the plums are ripe",
)


def turns(*contents: str, session: str = "x", begin: int = 0, gap: int = MINUTE) -> list[Outside]:
    """Two people in turn, the user first."""
    return [turn(session, begin + at, (begin + at) * gap, said) for at, said in enumerate(contents)]


def turn(session: str, number: int, at: int, said: str) -> TurnRecorded:
    agent, role = ("a", "assistant") if number % 2 else ("u", "user")
    return TurnRecorded("s", f"{session}{number}", at, session, agent, role, said)


def derive(events: list[Outside], params: ManifestParams | None = None) -> list[object]:
    return [row.event for row in fold([PROCESSOR], events, {"manifest": params} if params else None)]


def only(kind: type, events: list[object]) -> list:
    return [event for event in events if type(event) is kind]


def segments(events: list[object]) -> list[int]:
    """How many turns each segment has, in order."""
    filed = [event.segment for event in only(TurnFiled, events)]
    places = [0, *[at + 1 for at, (a, b) in enumerate(pairwise(filed)) if a != b], len(filed)]
    return [b - a for a, b in pairwise(places)]


def test_given_one_topic_then_one_segment():
    found = derive(turns(*LAMP))
    assert segments(found) == [4]
    assert [(o.turn, o.reason) for o in only(SegmentOpened, found)] == [("x0", "first")]


def test_given_a_new_topic_then_its_first_turn_opens_a_segment_and_closes_the_last():
    found = derive(turns(*LAMP, *CAKE))
    assert segments(found) == [4, 3]
    assert [(o.turn, o.reason) for o in only(SegmentOpened, found)] == [("x0", "first"), ("x4", "cue")]
    closed = [s for s in only(SegmentSummarized, found) if s.closed]
    assert [(s.first_turn, s.last_turn, s.turns) for s in closed] == [("x0", "x3", 4)]


def test_given_thanks_and_goodbye_then_they_stay_in_their_segment():
    found = derive(turns(*LAMP, "that fixed it, thank you!", "you're welcome, have a nice day", "bye"))
    assert segments(found) == [7]


def test_given_two_users_in_turn_then_topics_part_as_they_do_with_an_assistant():
    events = [
        TurnRecorded("s", f"t{at}", at, "x", "ab"[at % 2], "user", said) for at, said in enumerate((*LAMP, *CAKE))
    ]
    assert segments(derive(events)) == [4, 3]


def test_given_tool_turns_then_they_belong_to_what_they_come_in():
    events = turns(*LAMP)
    result = "hi! by the way, can you help me with a recipe for plum cake?"
    events.insert(3, TurnRecorded("s", "tool", 3, "x", "shell", "tool", result))
    assert segments(derive(events)) == [5]


def test_given_a_night_between_two_turns_then_a_new_segment():
    events = [*turns(*LAMP), *turns("the lamp still flickers", begin=10, gap=HOUR)]
    opened = only(SegmentOpened, derive(events))
    assert [(o.turn, o.reason) for o in opened] == [("x0", "first"), ("x10", "gap")]


def test_given_the_clock_of_a_late_turn_then_no_gap():
    events = turns(*LAMP, begin=1_000)
    late = TurnRecorded("s", "late", 0, "x", "u", "user", "the lamp switch is loose indeed")
    assert segments(derive([*events, late])) == [5]


def test_given_a_session_that_ended_then_its_segment_is_closed_and_a_later_turn_begins_another():
    ended = SessionEnded("s", "end", 5 * MINUTE, "x")
    found = derive([*turns(*LAMP), ended, ended, *turns("the lamp still flickers", begin=6)])
    assert [s.closed for s in only(SegmentSummarized, found)].count(True) == 1
    assert [o.reason for o in only(SegmentOpened, found)] == ["first", "session"]


def test_given_sessions_in_turn_then_each_has_its_own_segment():
    a, b = turns(*LAMP, session="a"), turns(*LAMP, session="b")
    mixed = [event for pair in zip(a, b, strict=True) for event in pair]
    assert len({event.segment for event in only(TurnFiled, derive(mixed))}) == 2


def test_given_a_concluded_segment_then_the_next_turn_with_a_topic_begins_another():
    more = "we should paint the fence this week"
    talk = (*LAMP, "that fixed it, the lamp is steady now, thanks!", "glad to hear that")
    apart = derive([*turns(*talk), *turns(more, begin=6)])
    assert segments(apart) == [6, 1]
    assert [o.reason for o in only(SegmentOpened, apart)] == ["first", "concluded"]


def test_given_turns_that_only_lead_in_then_they_are_moved_to_the_topic_they_led_to():
    found = derive(turns(*LAMP, "one more thing", "yes?", "i need a recipe for plum cake with yeast dough"))
    first, last = (opened.segment for opened in only(SegmentOpened, found))
    assert [(r.turn, r.segment) for r in only(TurnRefiled, found)] == [("x4", last), ("x5", last)]
    closed = next(s for s in only(SegmentSummarized, found) if s.closed)
    assert (closed.segment, closed.last_turn, closed.turns) == (first, "x3", 4)
    open_ = only(SegmentSummarized, found)[-1]
    assert (open_.segment, open_.first_turn, open_.turns) == (last, "x4", 3)


def test_given_a_bare_greeting_then_the_topic_after_it_is_its_segment():
    assert segments(derive(turns("hi!", "hello", "i need a recipe for plum cake"))) == [3]


def test_given_growth_then_summaries_at_two_and_eight_turns():
    found = derive(turns(*LAMP, *LAMP), ManifestParams(cut=1.0))
    assert [s.turns for s in only(SegmentSummarized, found)] == [2, 8]


def test_given_words_that_tell_nothing_then_a_summary_shows_them_nevertheless():
    found = derive([*turns("is it?", "so it is"), SessionEnded("s", "end", HOUR, "x")])
    assert [s.summary for s in only(SegmentSummarized, found)] == ["is it?", "is it?"]


def test_a_cue_holds_the_telling_words_within_its_budget():
    long = "the courier lost parcel HX7741, and the depot in Graz says that sorting failed on the conveyor belt. "
    asked = "Can you find out where parcel HX7741 from Graz is?"
    found = derive(
        turns(asked, long * 3, "the depot manager Ilse promised a refund", *[long] * 9), ManifestParams(cut=1.0)
    )
    last = only(SegmentSummarized, found)[-1]
    assert {"ilse", "refund", "conveyor"} <= set(last.cue.replace(",", "").split())
    assert sum(1 + (len(word) - 1) // 7 for word in last.cue.split()) <= ManifestParams().cue
    assert "parcel" in last.terms


PARCEL = (
    "Hi there! Can you find out where parcel HX7741 from Graz is? My daughter needs it on Friday.",
    "Sure, let me look.",
    "I found it. The depot in Graz put parcel HX7741 on the wrong belt, so it went to Linz instead. Sorry for that!",
    "oh no",
    "I decided to send parcel HX7741 by courier from Linz, and it will arrive on Thursday.",
    "great, thank you so much, that is all!",
)


def test_a_summary_quotes_whole_sentences_that_ask_find_and_decide_in_the_order_they_were_said():
    last = only(SegmentSummarized, derive([*turns(*PARCEL), SessionEnded("s", "end", HOUR, "x")]))[-1]
    said = " ".join(PARCEL)
    for speaker in ("u: ", "a: "):
        assert last.summary.count(speaker) <= 1
    quoted = last.summary.replace("u: ", "").replace("a: ", "")
    pieces = [piece for piece in re.split(r"(?<=[.?!])\s+", quoted) if piece]
    assert len(pieces) >= 2
    assert all(piece in said for piece in pieces)
    assert [said.index(piece) for piece in pieces] == sorted(said.index(piece) for piece in pieces)
    assert "parcel HX7741" in pieces[0]
    assert tokens(last.summary) <= ManifestParams().most


def test_a_summary_names_who_speaks_before_sentences_about_themselves_only():
    params = ManifestParams(cut=1.0, share=1.0)
    found = derive(turns("The copper pipe under the sink leaks.", "I replaced the copper pipe."), params)
    assert (
        only(SegmentSummarized, found)[-1].summary
        == "The copper pipe under the sink leaks. a: I replaced the copper pipe."
    )


def test_a_summary_of_a_script_without_spaces_quotes_sentences():
    said = ("登录测试失败了。我检查了证书的设置！好的", "证书已经过期，请更新证书。谢谢")
    summary = only(SegmentSummarized, derive(turns(*said), ManifestParams(share=1)))[-1].summary
    assert summary == "登录测试失败了。 我检查了证书的设置！ 证书已经过期，请更新证书。"


def test_a_short_segment_gets_a_short_summary():
    long = turns(*[f"{said} And the reason is the worn rubber seal number {n}." for n, said in enumerate(LAMP * 4)])
    sizes = [(s.tokens, tokens(s.summary)) for s in only(SegmentSummarized, derive(long, ManifestParams(cut=1.0)))]
    assert sizes[0][1] < sizes[-1][1] <= 60
    assert sizes[-1][1] < 0.3 * sizes[-1][0]


def test_given_a_retracted_turn_then_its_words_leave_the_summary():
    events = turns("the lamp over the bench flickers", "which giraffe ate the lamp bulb?")
    retracted = TurnRetracted("s", "r", 2 * MINUTE, "x", "x1")
    found = derive([*events, retracted, *turns("lamp bulb", "the lamp", begin=2)], ManifestParams(growth=2, share=1))
    summaries = only(SegmentSummarized, found)
    for field in ("cue", "summary"):
        assert "giraffe" in getattr(summaries[0], field)
        assert "giraffe" not in getattr(summaries[-1], field)


def test_given_a_retracted_turn_then_its_segment_is_summarized_anew_at_once():
    events = turns("the lamp over the bench flickers", "which giraffe ate the lamp bulb?")
    (last,) = only(SegmentSummarized, derive([*events, TurnRetracted("s", "r", 2 * MINUTE, "x", "x1")]))[-1:]
    assert "giraffe" not in last.summary
    assert "lamp" in last.summary


@pytest.mark.parametrize(
    "alphabet", ["abcdefghijklmnopqrstuvwxyz", "абвгдежзийклмнопрстуфхцчшщ", "漢字仮名交文章語彙辞典検索"]
)
def test_records_stay_below_eight_kilobytes_however_rich_the_talk(alphabet: str):
    space = Steps(PROCESSOR, cut=1.0)
    size = len(alphabet)
    for at in range(200):
        letters = [
            alphabet[(at * 7 + n * n + n) % size] + alphabet[n % size] * (n % 9) + alphabet[at % size]
            for n in range(90)
        ]
        turn = TurnRecorded(
            "s", f"t{at}", at, "x", "u", ("user", "assistant")[at % 2], " ".join(letters) + " " + "?" * (at % 2)
        )
        space.give(turn)
    sizes = {key: len(value or b"") for key, value in space.state.changes()}
    assert sizes.keys() >= {"session/x", "open/x", "said/x"}
    assert max(sizes.values()) <= 8192


def test_given_a_cut_out_of_reach_of_cues_and_lengths_then_words_are_not_looked_up_and_nothing_changes():
    quick = derive(turns(*LAMP, *CAKE, *LAMP))
    judge = ManifestParams().judge
    slow = ManifestParams()
    slow.judge.reach = -1e9
    assert judge.reach > -2
    assert derive(turns(*LAMP, *CAKE, *LAMP), slow) == quick


def test_given_more_terms_than_a_trail_holds_then_those_used_last_are_known():
    trail = Trail()
    for at in range(40):
        keep(trail, at, "user", "u", read(turn("x", 0, at, f"pump{at} valve{at} seal{at} gasket{at}")), 64)
    assert "pump39" in trail.seen
    known = trail.seen | trail.older
    assert 64 <= len(known) <= 128
    assert f"valve{40 - 64 // 8}" in known


def test_given_a_greeting_before_the_request_then_the_artifact_is_titled_by_the_sentence_that_asks():
    found = derive(
        turns(
            "Hi there! I hope you are well.",
            "hello, how can I help you?",
            "Good morning. I need to cancel the plumber for the cellar. My number is 4471, of course.",
            "I cancelled the plumber, the visit is off.",
            "perfect, that is all, thank you very much!",
        )
    )
    made = only(ArtifactMade, found)[-1]
    assert made.title == "I need to cancel the plumber for the cellar."
    assert "x2" in made.turns


# -- what a model wrote ------------------------------------------------------------------------------------------------

TOLD = "The lamp's switch was loose."


def summary(first: int, last: int, session: str = "x", space: str = "s", text: str = TOLD) -> SummaryWritten:
    topics = ["loose switch", "the lamp"]
    return SummaryWritten(
        space, f"w{first}", 9 * MINUTE, session, f"{session}{first}", f"{session}{last}", text, topics, model="m"
    )


def told(events: list[Outside]) -> list[tuple[str, str]]:
    """The last summary of each segment, and who wrote it."""
    last = {event.segment: (event.summary, event.model) for event in only(SegmentSummarized, derive(events))}
    return list(last.values())


def test_given_a_model_s_summary_of_an_open_or_a_closed_segment_then_it_is_that_segment_s():
    closed = [*turns(*LAMP), *turns(*CAKE, begin=4)]
    assert told([*turns(*LAMP), summary(0, 3)]) == [(TOLD, "m")]
    assert told([*closed, summary(0, 3)])[0] == (TOLD, "m")
    assert told([*closed, summary(0, 3), summary(4, 6)]) == [(TOLD, "m"), (TOLD, "m")]


def test_given_a_model_s_summary_then_it_stays_when_its_segment_closes_and_goes_when_that_goes_on():
    end = SessionEnded("s", "e", 10 * MINUTE, "x")
    written = [*turns(*LAMP), summary(0, 3)]
    assert told([*written, end]) == [(TOLD, "m")]
    assert told([*written, *turns(*CAKE, begin=4)])[0] == (TOLD, "m")
    (went_on,) = told([*written, turn("x", 4, 11 * MINUTE, "and the lamp's bulb burned out too"), end])
    assert went_on[1] == ""


def test_given_a_model_s_topics_then_the_cue_begins_with_them_and_keeps_what_rules_found():
    rules, written = only(
        SegmentSummarized, derive([*turns(*LAMP), SessionEnded("s", "e", MINUTE * 8, "x"), summary(0, 3)])
    )[-2:]
    assert written.cue.startswith("loose switch, the lamp, ")
    assert set(rules.cue.split(", ")) - {"loose", "switch", "lamp"} <= set(written.cue.split(", "))
    assert tokens(written.cue.replace(", ", " ")) <= ManifestParams().cue
    assert (written.terms, written.turns, written.tokens, written.closed) == (
        rules.terms, rules.turns, rules.tokens, True,
    )  # fmt: skip


@pytest.mark.parametrize(
    "fact",
    [
        summary(0, 2),
        summary(1, 3),
        summary(0, 9),
        summary(0, 3, "y"),
        summary(0, 3, space="other"),
        summary(0, 3, text=" "),
    ],
)
def test_given_a_model_s_summary_of_no_segment_then_nothing_changes(fact: SummaryWritten):
    for said in (turns(*LAMP), [*turns(*LAMP), *turns(*CAKE, begin=4)]):
        assert derive([*said, fact]) == derive(said)


def test_given_a_retracted_turn_then_a_model_s_summary_that_begins_or_ends_there_changes_nothing():
    for at in (0, 3):
        said = [*turns(*LAMP), TurnRetracted("s", "r", 8 * MINUTE, "x", f"x{at}")]
        assert derive([*said, summary(0, 3)]) == derive(said)
    end = SessionEnded("s", "e", 10 * MINUTE, "x")
    (later,) = told([*turns(*LAMP), summary(0, 3), TurnRetracted("s", "r", 9 * MINUTE, "x", "x2"), end])
    assert later[1] == ""


def test_a_model_s_summary_is_one_line_of_bounded_length():
    (written,) = told([*turns(*LAMP), summary(0, 3, text="The lamp\n\n## flickers " * 200)])
    assert "\n" not in written[0]
    assert tokens(written[0]) <= ManifestParams().written


@pytest.mark.parametrize(("said", "told"), [
    ("Kobo Clara, about 150 €", "Kobo Clara, about 150 €."),
    ("hab heut nochmal gemessen für Mia ❤", "hab heut nochmal gemessen für Mia ❤."),
    ("明日は東京に行きます", "明日は東京に行きます。"),
])  # fmt: skip
def test_a_sentence_without_a_mark_ends_with_that_of_its_script(said: str, told: str):
    assert spoken([("ann", False, said)]) == told


def by_role(role: str, number: int, said: str) -> TurnRecorded:
    """What somebody of a role says, or is told."""
    return TurnRecorded("s", f"x{number}", number * MINUTE, "x", role, role, said)


def last_summary(events: list[Outside]) -> str:
    return [event.summary for event in derive(events) if isinstance(event, SegmentSummarized)][-1]


def test_given_a_system_prompt_then_no_summary_quotes_it():
    prompt = "You are the agent of the Harbour workshop. Never promise a date for the repair of a lamp to a customer."
    talk = [by_role("system", 0, prompt), by_role("user", 1, LAMP[0]), by_role("assistant", 2, LAMP[1])]
    assert last_summary(talk) == f"{LAMP[0]}."


def test_given_nothing_but_a_system_prompt_then_its_beginning_is_shown_to_the_end_of_a_word():
    prompt = "You are the agent of the Harbour workshop, and never promise a date for the repair of a lamp " * 3
    summary = last_summary([by_role("system", 0, prompt), *(by_role("tool", n, "") for n in range(1, 3))])
    assert summary == f"{prompt[: len(prompt) // 3]}You are the agent of the …"


def test_given_thanks_that_conclude_then_the_summary_holds_at_once_what_came_of_it():
    talk = turns(*LAMP[:3], "the switch was loose, i fixed its contact and the lamp is steady now", "great, thank you!")
    assert "i fixed its contact" in last_summary(talk)


def test_given_a_segment_that_is_seen_to_be_concluded_after_the_next_one_began_then_nothing_said_since_is_lost():
    state = Steps(PROCESSOR).state
    evidence = Evidence("later", "t2", "t2", turns=1)
    turn = by_role("user", 2, "The harbour registry wants the permit of the ferry by Friday.")
    keep_said(state, evidence, turn, read(turn))
    before = summarize(state.get("said/x", Said), evidence, ManifestParams())
    conclude(state, "x", "earlier", "t1", "The lamp is steady.", "")
    after = summarize(state.get("said/x", Said), evidence, ManifestParams())
    assert after == before == turn.content


@pytest.mark.parametrize(("said", "deed"), [
    ("We agreed on Friday.", True), ("I've freed the port.", True), ("I led the tour.", True),
    ("I triggered it.", True), ("I need a berth.", False), ("I needed a berth.", False), ("I tried to.", False),
    ("I proceed.", False), ("Have I booked it?", False),
])  # fmt: skip
def test_a_deed_is_what_somebody_says_to_have_done(said: str, deed: bool):
    assert did(said) is deed


def test_given_a_sentence_longer_than_what_is_kept_then_it_ends_at_a_word():
    words = [f"flickering{n}" for n in range(200)]
    summary = last_summary(turns(" ".join(words), "oh"))
    assert {*summary.removesuffix(" …").split()} <= {*words}
    assert summary.endswith(" …")
