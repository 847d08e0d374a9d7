"""The commands that ask what a memory knows, and that say what became of what it told."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from projections.saying import Finding, Row, Standing, only
from streams.core.errors import UsageError
from streams.core.halves import whole_text
from streams.gateways.command import FAILED, After, Asking, Common, InSpace, Memory, WhichSpace, append, hint, space_of
from streams.gateways.terminal import Terminal, cell

if TYPE_CHECKING:
    from streams.runtime.home import Home

BATCH = 256
"""Questions of a batch that are asked at once."""

Moment = Annotated[
    str | None,
    typer.Option(
        "--at", metavar="TIME", help="The moment it is asked at; if not given, the newest the space has heard of."
    ),
]
Kinds = Annotated[
    list[str] | None,
    typer.Option("--kind", metavar="KIND", help="Only turn, segment, conclusion, note or task; may be repeated."),
]


def recall(
    asking: Asking,
    question: Annotated[list[str] | None, typer.Argument(help="What to look for; any words.")] = None,
    space: InSpace = None,
    session: Annotated[
        str | None,
        typer.Option("--session", metavar="X", help="The conversation that is shown the answer; it is recorded so."),
    ] = None,
    count: Annotated[int, typer.Option("-k", min=1, max=1000, help="How many answers.")] = 10,
    kind: Kinds = None,
    history: Annotated[bool, typer.Option("--history", help="Also beliefs that newer ones took the place of.")] = False,
    forgotten: Annotated[bool, typer.Option("--forgotten", help="Also what is forgotten and only near.")] = False,
    keep: Annotated[
        bool | None,
        typer.Option("--record/--no-record", help="Record that it was shown; with --session it is, if not said."),
    ] = None,
    batch: Annotated[
        bool, typer.Option("--batch", help="Answer questions from standard input, one JSON object a line, with turns.")
    ] = False,
    at: Moment = None,
) -> None:
    """What is known about something: turns, segments, conclusions, notes and tasks, the most relevant first.

    With --session the answer is recorded as shown there (`memory-recalled`), which keeps alive what is used;
    not with --as-of, which asks what was.
    """
    how = {"k": count, "kinds": kind, "at": at, "history": history, "forgotten": forgotten, "as_of": asking.as_of}
    if batch:
        how["kinds"] = kind or ["turn"]  # who asks by the line wants turns to go on with
        with asking.opened() as (house, terminal):
            _batch(house, terminal, asking.memory, space_of(space), how, bool(keep))
        return
    if question is None:
        raise UsageError("there is no question", 'ask one: `mnemolog recall "the budget for Lisbon"`')
    asked = {"space": space_of(space), "query": _said(question), "session": session} | how
    with asking.opened() as (house, terminal), house.asking_on():
        found = house.ask("recall", asking.memory, **asked)
        if asking.json:
            terminal.object(found)
        else:
            _show(found, house, asking.memory, terminal)
        shows = session is not None if keep is None else keep
        if shows and found["shown"]:
            append(house.log, [found["shown"]], NOT_KEPT)


def _said(words: list[str]) -> str:
    """Words of a command line as text; what is no text in them, bytes of another encoding, stands in it as halves."""
    return whole_text(" ".join(words))


def _show(found: dict[str, Any], house: Home, memory: str, terminal: Terminal) -> None:
    rows = [
        hit | {"id": hit["turn_id"] if hit["kind"] == "turn" else hit["id"], "text": _text(hit)}
        for hit in found["hits"]
    ]
    if not rows:
        hint(house, memory, found["space"], None, terminal)
    terminal.rows(rows, "score> kind? at? session? agent? id? text~", "nothing was found")
    for hit in rows:
        for older in hit.get("history", ()):
            terminal.say("[dim]{} took the place of {}: {}[/]", hit["id"], older["turn_id"], cell(older["value"]))


def _text(told: Row) -> str:
    """What is said, with marks where it does not all stand."""
    return str(told.get("marked", told["text"]))


NOT_KEPT = "what was shown could not be recorded: ask with --no-record"


def _batch(house: Home, terminal: Terminal, memory: str, space: str, how: Row, keep: bool) -> None:
    """Answers questions line by line; a line that is none is answered with what is wrong with it."""
    failed = False
    for lines in _pages(enumerate(sys.stdin.buffer, 1)):
        questions = [_question(number, line, space, how) for number, line in lines if line.strip()]
        asked = [question for question in questions if "error" not in question]
        answers = iter(house.ask("recall_batch", memory, queries=asked, as_of=how["as_of"]))
        shown: list[Row] = []
        for question in questions:
            answer = question if "error" in question else next(answers)
            failed = failed or "error" in answer
            terminal.object({key: answer[key] for key in ("id", "hits", "error") if key in answer})
            if keep and answer.get("shown"):
                shown.append(answer["shown"])
        if shown:
            append(house.log, shown, NOT_KEPT)
    if failed:
        raise typer.Exit(FAILED)


def _pages(lines: Iterable[tuple[int, bytes]]) -> Iterator[list[tuple[int, bytes]]]:
    source = iter(lines)
    while page := list(islice(source, BATCH)):
        yield page


def _question(number: int, line: bytes, space: str, how: Row) -> Row:
    """A line of a batch as a question; with `error` where it is none."""
    import orjson

    known = {"id", "space", "query", "k", "at", "session", "kinds"}
    try:
        given = orjson.loads(line)
    except ValueError as error:
        return {"id": None, "error": f"line {number}: not JSON: {error}"}
    if not isinstance(given, dict):
        return {"id": None, "error": f"line {number}: not an object"}
    id_ = given.get("id", number)
    if unknown := sorted(given.keys() - known):
        return {"id": id_, "error": f"line {number}: unknown field {unknown[0]}; known: {', '.join(sorted(known))}"}
    question = {key: value for key, value in how.items() if key != "as_of"} | {"space": space, "session": None} | given
    kinds = {"space": str, "query": str, "k": int}
    wrong = [name for name, kind in kinds.items() if not isinstance(question.get(name), kind) or question[name] is True]
    wrong += ["k"] if not wrong and not 1 <= question["k"] <= 1000 else []
    wrong += [name for name in ("session",) if not isinstance(question[name], str | None)]
    wrong += [name for name in ("at",) if not isinstance(question[name], str | int | None)]
    if wrong:
        return {"id": id_, "error": f"line {number}: {wrong[0]} is missing or not of its kind"}
    return question | {"id": id_}


def needs_recall(
    common: Common,
    message: Annotated[list[str], typer.Argument(help="What is about to be answered.")],
    session: Annotated[str, typer.Option(metavar="X", help="The session.")],
    space: InSpace = None,
    at: Moment = None,
    after: After = "",
    memory: Memory = "live",
) -> None:
    """Whether a message needs the memory to be asked anew, or is served by what was shown in its session before.

    Where it is served, what of that answers it best is told.
    """
    asked = {"space": space_of(space), "session": session, "message": _said(message), "at": at}
    with common.opened(after) as (house, terminal):
        found = house.ask("needs_recall", memory, **asked)
        if common.json:
            terminal.object(found)
            return
        terminal.say("[green]recall[/]" if found["needed"] else "[green]at hand[/]")
        terminal.say("[dim]{}[/]", found["reason"])
        if found["hits"]:
            terminal.rows([hit | {"text": _text(hit)} for hit in found["hits"]], "score> at? agent? turn_id text~", "")
        elif found["items"]:
            items = [item | {"text": _text(item)} for item in found["items"]]
            terminal.rows(items, "id shown_at text~", "")


def memory(
    asking: Asking,
    id_: Annotated[str, typer.Argument(metavar="TURN", help="The turn that is remembered.")],
    space: WhichSpace = None,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw its activation and retention over time: .svg or .png.")
    ] = None,
    at: Moment = None,
) -> None:
    """Explain what is remembered of a turn: when it was used, how alive it is, what it is linked to and contradicts."""
    with asking.opened() as (house, terminal):
        found = house.ask("memory", asking.memory, id=id_, space=space, at=at, as_of=asking.as_of)
        if plot is not None:
            from projections.recall.plot import draw

            draw(found, plot)
        if asking.json:
            terminal.object(found)
        else:
            _explain(found, terminal)
            if plot is not None:
                terminal.say("[dim]drawn: {}[/]", plot)


def _explain(found: dict[str, Any], terminal: Terminal) -> None:
    terminal.say("[bold]{}[/] [dim]{}, {}, {}[/]", *map(found.get, ("turn_id", "space", "session", "at")))
    terminal.text(found["text"])
    if found["retracted"]:
        terminal.say("[yellow]taken back: it is shown and found no more, only history keeps it[/]")
    terminal.say("")
    terminal.rows(found["now"], "measure value> of~", "")
    for title, spec, empty in (
        ("accesses", "at cue? what", "it was never shown, flagged or rewarded"),
        ("links", "turn_id strength> count> text~", "nothing was shown together with it"),
        ("beliefs", "turn_id at? relation value~", "it contradicts nothing"),
    ):
        terminal.say("\n[bold]{}[/]", title)
        terminal.rows(found[title], spec, empty)


def said_of(turn: str, space: str | None, fact: Row) -> Finding[Row | Standing]:
    """What is said of a turn, where that was said. Raises UsageError where it is in no memory, or in several spaces."""
    return (yield from _known(turn, space)) | fact


def _known(turn: str, space: str | None) -> Finding[Row]:
    """A turn in words of the log. Raises UsageError where it is in no memory, or in several spaces."""
    way_out = "`mnemolog recall` and `mnemolog tail --json` tell ids of turns"
    row = yield from only("recorded_turns", "turn_id", turn, space, "turn", way_out)
    return {"space": row["space"], "session": row["session"], "turn": row["turn_id"]}


def reward(
    common: Common,
    turns: Annotated[list[str], typer.Argument(metavar="TURN...", help="What was shown.")],
    by: Annotated[float, typer.Option(min=-1, max=1, help="From -1 (it misled) to 1 (just what was needed).")] = 1.0,
    space: WhichSpace = None,
) -> None:
    """Say that what was recalled was of use, or misled."""

    def words() -> Finding[Row | Standing]:
        shown = [(yield from _known(turns[0], space))]
        for turn in turns[1:]:
            shown.append((yield from _known(turn, shown[0]["space"])))
        where = {name: shown[0][name] for name in ("space", "session")}
        return where | {"type": "memory-rewarded", "turns": [one["turn"] for one in shown], "reward": by}

    common.say("rewarded" if by >= 0 else "marked as misleading", words())


def pin(
    common: Common,
    turn: Annotated[str, typer.Argument(help="What to keep at hand.")],
    off: Annotated[bool, typer.Option("--off", help="Keep it no longer.")] = False,
    space: WhichSpace = None,
) -> None:
    """Keep a turn at hand, however old it gets."""
    fact = {"type": "memory-pinned", "pinned": not off}
    common.say("unpinned" if off else "pinned", said_of(turn, space, fact))


def consolidate(common: Common, space: InSpace = None) -> None:
    """Consolidate what is remembered of a space now, as sleep would."""
    event = {"type": "consolidation-requested", "space": space_of(space)}
    common.record("consolidation is requested", event)
