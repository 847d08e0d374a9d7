"""What mnemolog rendered is known when it comes back: it is no news to any processor, whatever became of its form."""

from __future__ import annotations

import html
import json
from itertools import pairwise

import pytest

from processors import PROCESSORS
from streams.core.events import TurnRecorded
from streams.core.text.echo import FRAME, without_echo
from streams.runtime.home import Home
from tests.laws.histories import long_talk, outside

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


def test_lines_that_only_a_context_has_are_left_out_where_its_frame_is_gone(context):
    items = [line for line in context.splitlines() if line.startswith("- 20")]
    assert items
    for line, following in pairwise(items):
        assert without_echo(f"{OWN}\n{line}\n  | and its second line\n{following}\n") == OWN


@pytest.mark.parametrize("text", ORDINARY)
def test_what_people_write_stays_as_it_is(text):
    assert without_echo(text) is text


def test_a_talk_in_which_every_context_comes_back_leaves_the_memory_that_it_leaves_without(tmp_path):
    homes = [Home(tmp_path / name, PROCESSORS) for name in ("plain", "echo")]
    plain, echo = homes
    for event in outside(long_talk(60)):
        plain.log.append([event])
        if isinstance(event, TurnRecorded):
            shown = echo.ask("context", space=event.space, session=event.session)["text"]
            assert shown.count(FRAME) <= 1
            event = TurnRecorded(**{name: getattr(event, name) for name in event.__slots__})
            event.content = f"{shown}\n\n{event.content}"
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
