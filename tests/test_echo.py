"""What mnemolog rendered, and what was said before, is known when it comes back: it is no news to any processor."""

from __future__ import annotations

import html
import json
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from itertools import pairwise
from textwrap import fill

import pytest

from processors import PROCESSORS
from processors.manifest import TurnFiled
from projections.store import connect
from streams.core.driver import fold
from streams.core.events import Outside, TurnRecorded
from streams.core.processor import State
from streams.core.repeats import SLOTS, news
from streams.core.text.echo import FRAME, without_echo
from streams.runtime.home import Home
from streams.runtime.replay import replay
from tests.laws.histories import long_talk, outside, wide
from tests.serving import serving

ROLES = ("user", "assistant", "tool")
OWN = "Please look at the crane again."
ORDINARY = [
    "My memory is bad. <memory> is a tag that I use in my notes </memory>, and so is <memory by='me'>.",
    "- 2026-03-04 we met\n- 2026-03-05 user tests [t1] begin\n# Heading\n## What is being worked on",
    "The effort [effort-0123456789abcdef] can be closed.\n- [ ] open\n- [x] done",
    "| a | b |\n|---|---|\n| 1 | 2 |",
    "mnemolog shows a <memory> frame",
]


@pytest.fixture(scope="module")
def context(tmp_path_factory) -> str:
    """A context with several sections."""
    home = Home(tmp_path_factory.mktemp("echo") / "home", PROCESSORS)
    home.log.append(events := outside(long_talk(120)))
    text = home.ask("context", space=events[-1].space, session=events[-1].session)["text"]
    home.log.close()
    assert text.count("\n## ") >= 2
    assert text.startswith(FRAME)
    return text


@pytest.mark.parametrize(
    "shape",
    [
        lambda text: text,
        lambda text: "".join(f"> {line}\n" for line in text.splitlines()),
        lambda text: "".join(f"      {line}\n" for line in text.splitlines()),
        lambda text: json.dumps({"content": [{"text": text}]})[len('{"content": [{"text": "') : -len('"}]}')],
        lambda text: json.dumps(json.dumps(text))[3:-3],
        html.escape,
    ],
    ids=["whole", "quoted", "indented", "JSON", "JSON in JSON", "HTML"],
)
def test_a_context_is_left_out_in_every_form_and_what_stands_around_it_stays(context, shape):
    assert without_echo(shape(context)).strip(' >\n"\\') == ""
    assert without_echo(f"{OWN}\n\n{shape(context)}").strip(' >\n"\\') == OWN
    assert without_echo(f"{shape(context)}\n\n{OWN}").strip(' >\n"\\') == OWN
    assert without_echo(f"{shape(context)}\n{OWN}\n{shape(context)}").strip(' >\n"\\') == OWN


def test_a_context_that_lost_its_end_or_its_beginning_is_left_out(context):
    lines = context.splitlines()
    for cut in range(1, len(lines)):
        assert without_echo("\n".join([OWN, *lines[:cut]])) == OWN
    last = max(n for n, line in enumerate(lines) if line.startswith("- 20"))
    for cut in range(1, last + 1):
        assert without_echo("\n".join([*lines[cut:], OWN])).strip() == OWN


def test_a_context_that_lost_both_ends_is_left_out_with_what_stands_under_its_headings(context):
    lines = context.splitlines()[2:-1]
    for shape in ("\n".join(lines), "".join(f"> > {line}\n" for line in lines)):
        left = [line for line in without_echo(f"{OWN}\n\n{shape}").splitlines() if line.strip("> ")]
        assert left == [OWN]


def test_lines_that_only_a_context_has_are_left_out_where_its_frame_is_gone(context):
    items = [line for line in context.splitlines() if line.startswith("- 20")]
    assert items
    for line, following in pairwise(items):
        assert without_echo(f"{OWN}\n{line}\n  | and its second line\n{following}\n") == OWN


def wrapped(text: str, width: int) -> str:
    return "\n".join(fill(line, width, break_long_words=False) if line else "" for line in text.split("\n"))


def numbered(text: str, shape: str) -> str:
    return "\n".join(shape.format(n, line) for n, line in enumerate(text.split("\n"), 1))


RESHAPED = {
    "as it was": lambda text: text,
    "wrapped narrow": lambda text: wrapped(text, 40),
    "wrapped wide": lambda text: wrapped(text, 100),
    "paragraphs": lambda text: "\n\n".join(fill(" ".join(part.split()), 72) for part in text.split("\n\n")),
    "one line": lambda text: " ".join(text.split()),
    "cat -n": lambda text: numbered(text, "{:6}\t{}"),
    "grep -n": lambda text: numbered(text, "{}:{}"),
    "numbered": lambda text: numbered(text, "{}. {}"),
    "numbered with bars": lambda text: numbered(text, "{:4} | {}"),
    "numbered and wrapped": lambda text: numbered(wrapped(text, 66), "{:5}\u2192{}"),
    "quoted and wrapped": lambda text: "".join(f"> {line}\n" for line in wrapped(text, 66).split("\n")),
    "indented": lambda text: "".join(f"      {line}\n" for line in text.split("\n")),
    "JSON": json.dumps,
    "JSON of a tool": lambda text: json.dumps({"content": [{"type": "", "text": text}], "error": False}),
    "JSON in JSON": lambda text: json.dumps({"result": json.dumps([text])}),
    "HTML": html.escape,
}
"""What may become of a context whose frame is gone."""


def frameless(context: str) -> str:
    return "\n".join(context.splitlines()[2:-1])


@pytest.mark.parametrize("shape", RESHAPED.values(), ids=RESHAPED)
def test_a_context_without_its_frame_is_left_out_whatever_became_of_its_lines(context, shape):
    text = shape(frameless(context))
    assert without_echo(text) == ""
    for whole in (f"{OWN}\n\n{text}", f"{text}\n\n{OWN}", f"{text}\n\n{OWN}\n\n{text}"):
        left = without_echo(whole)
        assert OWN in left
        assert len(left) <= len(OWN) + 2 * len('{"content": [{"type": "", "text": ""}], "error": false}\n\n')


@pytest.mark.parametrize("text", ORDINARY)
def test_what_people_write_stays_as_it_is(text):
    assert without_echo(text) is text


def test_a_talk_in_which_every_context_comes_back_leaves_the_memory_that_it_leaves_without(tmp_path):
    homes = [Home(tmp_path / name, PROCESSORS) for name in ("plain", "echo")]
    plain, echo = homes
    with serving(echo):
        for event in outside(long_talk(60)):
            plain.log.append([event])
            if isinstance(event, TurnRecorded):
                shown = echo.ask("context", space=event.space, session=event.session)["text"]
                assert shown.count(FRAME) <= 1
                event = replace(event, content=f"{shown}\n\n{event.content}" if event.content else "")
            echo.log.append([event])
    tables = [home.ask("digest") for home in homes]
    differing = {name for name in tables[0] if tables[0][name] != tables[1][name]}
    assert differing == {"turn_recorded"}
    with plain.reading("live") as one, echo.reading("live") as other:
        said = "SELECT id, content FROM turn_recorded ORDER BY position"
        assert one.execute(said).fetchall() == other.execute(said).fetchall()
        assert other.execute("SELECT count(*) FROM turn_recorded WHERE echo = 0").fetchone() == (0,)
    for question in ("the crane", "what was decided?"):
        answers = [home.ask("recall", space=event.space, query=question) for home in homes]
        assert answers[0] == answers[1]
    for home in homes:
        home.log.close()


@pytest.mark.parametrize("shapes", [[lambda text: text], [*RESHAPED.values()]], ids=["framed", "reshaped"])
def test_turns_that_hold_nothing_but_a_context_leave_all_that_is_derived_as_it_is_without_them(tmp_path, shapes):
    homes = [Home(tmp_path / name, PROCESSORS) for name in ("plain", "echo")]
    plain, echo = homes
    with serving(echo):
        for number, event in enumerate(outside(long_talk(60))):
            for home in homes:
                home.log.append([event])
            if isinstance(event, TurnRecorded):
                shown = echo.ask("context", space=event.space, session=event.session)["text"]
                shown = shapes[number % len(shapes)](frameless(shown) if len(shapes) > 1 else shown)
                said = TurnRecorded(
                    event.space, f"echo-{number}", event.at, event.session, "ann", ROLES[number % 3], shown
                )
                echo.log.append([said])
    with plain.reading("live") as one, echo.reading("live") as other:
        for view in ("efforts", "segments", "notes", "conclusions", "beliefs", "objects", "links"):
            told = [connection.sql(f"SELECT * FROM {view}") for connection in (one, other)]
            assert told[0].columns == told[1].columns
            names = ", ".join(f'"{name}"' for name in told[0].columns if not name.endswith("position"))
            rows = [relation.project(names).order(names).fetchall() for relation in told]
            assert rows[0] == rows[1], view
    with serving(plain), serving(echo):
        for turn in outside(long_talk(60))[::5]:
            answers = [home.ask("recall", space=event.space, query=getattr(turn, "content", "crane")) for home in homes]
            assert [hit["id"] for hit in answers[0]["hits"][:5]] == [hit["id"] for hit in answers[1]["hits"][:5]]
    for home in homes:
        home.log.close()


# -- without the mark --------------------------------------------------------------------------------------------------

SAID = [
    "The login test fails since this morning: expected 200, got 401.",
    "The session cookie is dropped. My guess is the new proxy,\nit strips unknown headers.",
    "Hm, nobody touched the proxy since May. What else changes the login cookie?",
    "Yes, all.",
    "Remind me to renew the certificate tomorrow.",
]
LIST = "\n".join(f"- flight HAT{n:03} from Porto to Oslo at {n} h" for n in range(20))


def said(content: str, id_: str = "new") -> TurnRecorded:
    return TurnRecorded("s", id_, 0, "s", "ann", "user", content)


def heard(*turns: str) -> State:
    """A space in which these were said."""
    state = State()
    for n, content in enumerate(turns):
        turn = said(content, f"t{n}")
        assert news(state, turn) is turn.content
    return state


def transcript(line: str, turns: Sequence[str]) -> str:
    return "\n".join(line.format(("ann", "bot")[n % 2], turn) for n, turn in enumerate(turns))


@pytest.mark.parametrize(
    "line", ["{1}", "{0}: {1}", "> {1}", "  {0}: {1}", "[09:30] {0}: {1}", "**{0}:** {1}", "> {0}> {1}"],
    ids=["bare", "named", "quoted", "indented", "timed", "bold", "chat"],
)  # fmt: skip
def test_a_pasted_transcript_is_no_news_and_what_stands_around_it_is(line):
    whole = transcript(line, SAID)
    assert news(heard(*SAID), said(f"{OWN}\n\n{whole}")) == OWN
    assert news(heard(*SAID), said(f"{whole}\n\n{OWN}")) == OWN
    assert news(heard(*SAID), said(f"{OWN}\n\n{whole}\n\nThanks.")).split() == f"{OWN} Thanks.".split()


def test_an_own_line_that_was_said_before_is_said_again_below_a_transcript():
    whole = transcript("{0}: {1}", SAID)
    assert news(heard(*SAID), said(f"{whole}\n\n{SAID[-1]}")) == SAID[-1]


@pytest.mark.parametrize(
    "text",
    [
        SAID[1],
        LIST,
        f"Again, {SAID[0]}\nand {SAID[2]}",
        f"> {SAID[0]}\nI do not think so.",
        "\n".join([SAID[0], SAID[0], "over and over"]),
        f"{SAID[0][:50]}\n{SAID[2][:50]}",
        "ann: Yes, all.\nbot: Yes, all.\nAnd so on, and so forth, until the evening comes and we all go home.",
        f"{SAID[0]}\n{LIST[: len(LIST) // 2]}",
    ],
    ids=["sent again", "a list again", "within lines", "one quoted", "one twice", "beginnings", "short", "half a list"],
)
def test_what_is_said_again_stays_as_it_is(text):
    assert news(heard(*SAID, LIST), said(text)) is text


def test_what_is_remembered_of_what_was_said_has_a_limit():
    state = State()
    for n in range(2 * SLOTS):
        news(state, said(f"turn {n} of a long talk about {n * 7919}", f"t{n}"))
    assert SLOTS / 2 < len(state.keys("said/")) <= SLOTS


def told(turns: Sequence[TurnRecorded]) -> str:
    return "\n".join(f"{turn.agent}: {turn.content}" for turn in turns)


@pytest.fixture(scope="module")
def talks() -> tuple[list[Outside], list[Outside]]:
    """A talk, and the same with transcripts of what was said before in its turns."""
    plain = outside(wide(900, backlog=60))
    pasted, before = [], []
    for event in plain:
        if isinstance(event, TurnRecorded) and event.content.strip():
            content = f"{told(before[-12:])}\n\n{event.content}"
            before.append(event)
            # Why not all: "ann: did it help?", said again below a transcript, cannot be told from a line of it.
            if len(before) > 6 and ": did " not in event.content:
                event = replace(event, content=content)
        pasted.append(event)
    assert sum(len(event.content) for event in pasted if isinstance(event, TurnRecorded)) > 300_000
    return plain, pasted


def test_a_talk_in_which_transcripts_are_pasted_derives_what_it_derives_without(talks):
    def derived(events):
        rows = fold(PROCESSORS, events)
        for row in rows:
            if isinstance(row.event, TurnFiled):
                row.event.repeated, row.event.news = 0, ""
        return rows

    assert derived(talks[1]) == derived(talks[0])


def test_recall_finds_what_was_said_where_it_was_said_first_though_transcripts_of_it_were_pasted(talks, tmp_path):
    homes = [Home(tmp_path / name, PROCESSORS) for name in ("plain", "pasted")]
    for home, events in zip(homes, talks, strict=True):
        home.log.append(events)
    found = 0
    with serving(homes[0]), serving(homes[1]):
        for turn in [event for event in talks[0] if isinstance(event, TurnRecorded) and len(event.content) > 40][::12]:
            question = {"space": turn.space, "query": turn.content, "k": 5, "kinds": ["turn"]}
            plain, pasted = (home.ask("recall", **question)["hits"] for home in homes)
            assert [(hit["id"], hit["score"]) for hit in pasted] == [(hit["id"], hit["score"]) for hit in plain]
            found += turn.id in [hit["id"] for hit in pasted]
    assert found > 20
    for home in homes:
        home.log.close()


def test_a_memory_that_does_not_tell_what_is_news_is_asked_as_it_is(talks, tmp_path):
    home = Home(tmp_path / "home", PROCESSORS)
    home.log.append(talks[1][:200])
    replay(home, "earlier", reuse=False, processes=1)
    with closing(connect(home.memory_path("earlier"))) as connection:
        for column in ("repeated", "news"):
            connection.execute(f"ALTER TABLE turn_filed DROP COLUMN {column}")
    turn = next(event for event in talks[0] if isinstance(event, TurnRecorded) and len(event.content) > 40)
    assert home.ask("recall", "earlier", space=turn.space, query=turn.content)["hits"]
    home.log.close()
