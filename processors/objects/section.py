"""What objects put into a context: what is known of who is there and of what is spoken of; and the column of objects.

    salience = .3 recency + .4 named by an active task + .2 by a note that surfaced + .3 value + .3 strength

of what the session's last 5 turns and what is to be answered name, of what tasks and notes name, and of what these were
mentioned with, two steps away; the 20 most salient. Recency falls from 1 to 0 over the last 5 turns; value is that of
the relationship, strength that of the strongest statement. Source: three-column working memory.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from itertools import islice
from typing import Any, NamedTuple

from processors.objects.events import SAYS, ObjectMentioned, ObjectStated
from processors.tasks import TaskChanged, TaskTurnedTo
from processors.ttl_escalations import NoteOpened, NoteSurfaced
from streams.core.clock import to_local
from streams.core.params import Params, param
from streams.core.processor import derived_id
from streams.core.section import Ask, Piece, Reader, Section
from streams.core.text.languages import language
from streams.core.text.terms import terms
from streams.core.text.times import named

PAPER = "three-column working memory"
READ, SAID, DUE = 24, 48, 3
"""Objects of a session and statements of an object that are read, the newest; deadlines that are told."""


class ObjectSectionParams(Params):
    """What is shown of who is there and of what is spoken of."""

    most: int = param(6, "statements", "a few lines beside the talk itself", ge=0)
    each: int = param(2, "statements", "of one object", ge=0)
    recent: int = param(5, "turns", "what they name is spoken of", PAPER, ge=1)
    said: int = param(12, "turns", "the last ones stand in the context as they were said", ge=0)
    manner: float = param(0.8, "worth", "how somebody likes to be answered concerns every answer", ge=0, le=1)
    worth: float = param(0.4, "worth", "of what else is known of them, times how telling it is", ge=0, le=1)


class ObjectColumnParams(Params):
    """What the column of objects shows."""

    most: int = param(20, "objects", "the most salient of the neighbourhood", PAPER, ge=0)
    each: int = param(3, "statements", "of one object", ge=0)
    least: float = param(0.45, "salience", "what is less has little to do with what is being done", ge=0)
    turns: int = param(5, "turns", "what they name is recent, since the talk came to the task at hand", PAPER, ge=1)
    recency: float = param(0.3, "weight", "of being named by the last turn; less by those before", PAPER, ge=0)
    task: float = param(0.4, "weight", "of being named by the task at hand", PAPER, ge=0)
    note: float = param(0.2, "weight", "of being named by a note that surfaced", PAPER, ge=0)
    value: float = param(0.3, "weight", "times the relationship's value", PAPER, ge=0)
    strength: float = param(0.3, "weight", "times the strongest statement's strength", PAPER, ge=0)
    steps: int = param(2, "steps", "from what is named to what it was mentioned with", PAPER, ge=0, le=3)
    quarter: float = param(1.5, "factor", "of urgency in the last two weeks of a quarter", PAPER, ge=1)
    year: float = param(2, "factor", "of urgency in the last two weeks of a year", PAPER, ge=1)
    deadline: float = param(1.5, "factor", "of urgency where a deadline is near", PAPER, ge=1)
    near: float = param(2, "days", "a deadline so far ahead is near", ge=0)
    ahead: float = param(14, "days", "deadlines that are told: the next two weeks", ge=0)
    month: float = param(1.2, "factor", "of urgency in the last three days of a month", PAPER, ge=1)


class Known(NamedTuple):
    """An object, and its statements that stand, the most telling first."""

    object: ObjectMentioned
    said: list[ObjectStated]


def known(read: Reader, ids: Sequence[str]) -> list[Known]:
    """What is known of objects."""
    mentioned = read.kept(ObjectMentioned, ids)
    found = []
    for id in ids:
        if id in mentioned:
            newest = read.members("statements", id, SAID).newest
            stated = read.kept(ObjectStated, newest)
            said = [stated[one] for one in newest if one in stated and stated[one].status == "current"]
            found.append(Known(mentioned[id], sorted(said, key=lambda one: -one.strength)))
    return found


def spoken_of(params: Any, own: ObjectSectionParams, ask: Ask, read: Reader) -> Iterator[Piece]:
    """How those who are there like to be answered, and what is known of those just spoken of and not said just now."""
    asked = _called(ask, ask.terms)
    ids = [*dict.fromkeys((*asked[:READ], *read.members("objects", ask.session, READ).newest))]
    if not ids:
        return
    turns = [turn.id for turn in islice(read.session(), max(own.recent, own.said))]
    left = own.most
    for one in known(read, ids):
        now = one.object.object in asked or (one.object.how == "named" and one.object.turn in turns[: own.recent])
        shown = [s for s in one.said if s.turn not in turns[: own.said] and (s.says == "manner" or now)]
        if not (now or one.object.how == "speaks" or one.object.kind == "person"):
            continue
        for told in shown[: min(own.each, left)]:
            left -= 1
            manner = told.says == "manner"
            reason = f"how {told.name} likes to be answered" if manner else f"{told.name} is spoken of"
            yield _piece(told, reason, own.manner if manner else own.worth * told.strength)


def _called(ask: Ask, words: Sequence[str]) -> list[str]:
    """The ids that objects have which were first known by one of some words, each once."""
    return [_id(ask.space, word) for word in dict.fromkeys(words)]


@lru_cache(4096)
def _id(space: str, word: str) -> str:
    """The id of what is known by a word: most words are asked for again and again."""
    return derived_id("object", space, word)


def _piece(told: ObjectStated, reason: str, worth: float) -> Piece:
    words = " ".join(told.text.split())
    line = f"- {told.name} ({told.says}): {words} [{told.turn}]"
    data = {"object": told.name, "says": told.says, "turn": told.turn}
    return Piece(told.statement, reason, worth, line, quotes=(told.turn,), data=data)


def column(params: Any, own: ObjectColumnParams, ask: Ask, read: Reader) -> Iterator[Piece]:
    """The most salient objects with what is known of them; first what time it is, and what of theirs is due."""
    turns = {turn: place for place, turn in enumerate(_recent(read, ask, own.turns))}
    task, notes = _words(read, ask, turns)
    found: dict[str, tuple[float, Known]] = {}
    front = list(read.members("objects", ask.session, READ).newest)
    asked = _called(ask, ask.terms)
    front += [*asked, *_called(ask, [*task, *notes])][:READ]
    for step in range(own.steps + 1):
        near: list[str] = []
        for one in known(read, [id for id in dict.fromkeys(front) if id not in found][: 2 * READ]):
            place = 0 if one.object.object in asked else turns.get(one.object.turn)
            linked = own.task * _named(one.object, task) + own.note * _named(one.object, notes)
            recency = own.recency * (1 - place / own.turns) if place is not None else 0.0
            reached = linked + recency + (own.recency if one.object.how == "speaks" else 0.0)
            strength = own.strength * (one.said[0].strength if one.said else 0.0)
            salience = reached + own.value * one.object.value + strength if reached else 0.0
            found[one.object.object] = salience, one
            if salience and step < own.steps:
                near += [derived_id("object", ask.space, name) for name in one.object.near]
        front = near
    yield _time(own, ask.now, [told for _, one in found.values() for told in one.said if told.says == "deadline"])
    ranked = sorted(found.values(), key=lambda entry: (-entry[0], entry[1].object.object))
    for salience, one in ranked[: own.most]:
        if salience >= own.least:
            yield _row(own, one, salience, {*task, *notes, *ask.terms})


def _recent(read: Reader, ask: Ask, most: int) -> Iterator[str]:
    """The session's last turns, the newest first, since the talk came to the task at hand."""
    turned = read.kept(TaskTurnedTo, [ask.session]).get(ask.session)
    for turn in islice(read.session(), most):
        yield turn.id
        if turned is not None and turn.id == turned.turn:
            return


def _row(own: ObjectColumnParams, one: Known, salience: float, about: set[str]) -> Piece:
    """An object in a line: who it is, and its statements that share a word with what is being done, or serve always."""
    serving = [s for s in one.said if s.says in ("manner", "role") or not about.isdisjoint(terms(s.text)[0])]
    serving.sort(key=lambda s: (s.says != "manner", -s.strength, SAYS.index(s.says)))
    who = one.object.role or one.object.kind
    said = "; ".join(" ".join(s.text.split()) for s in serving[: own.each])
    told = {"salience": round(salience, 6), "kind": one.object.kind, "turns": [s.turn for s in serving[: own.each]]}
    line = f"- {one.object.name} ({who}){': ' if said else ''}{said}"
    return Piece(one.object.object, "salient", min(1.0, salience), line, data=told)


def _named(one: ObjectMentioned, words: Sequence[str]) -> bool:
    """Whether words name an object: by any of its names, all of it."""
    names = {one.name.lower(), *one.aliases}
    return any(set(terms(name)[0]) <= set(words) and terms(name)[0] for name in names)


def _words(read: Reader, ask: Ask, last: Collection[str]) -> tuple[list[str], list[str]]:
    """The stems of the task at hand (of all active ones where none is), and of the notes that just surfaced."""
    turned = read.kept(TaskTurnedTo, [ask.session]).get(ask.session)
    ids = [turned.task] if turned is not None and turned.task else read.members("tasks", "active", 8).newest
    tasks = [one for one in read.kept(TaskChanged, ids).values() if one.place != "ended"]
    said = [f"{one.description} {one.step} {one.reason}" for one in tasks]
    newest = read.members("surfaced", ask.session, READ).newest
    surfaced = [note for note, one in read.kept(NoteSurfaced, newest).items() if one.turn in last]
    noted = [f"{one.content} {one.context}" for one in read.kept(NoteOpened, surfaced).values()]
    return terms("\n".join(said))[0], terms("\n".join(noted))[0]


def _time(own: ObjectColumnParams, now: int, deadlines: Sequence[ObjectStated]) -> Piece:
    """What time it is, the next deadlines, and how much more pressing all that makes what is due."""
    (time, urgency), moment = _season(own, now), to_local(now, "UTC")
    due: list[tuple[datetime, str]] = []
    for told in deadlines:
        text = " ".join(told.text.split())
        when = next(iter(named(text, language(text, text.lower().split()), to_local(told.at, "UTC"))), None)
        if when is not None and moment <= when.moment <= moment + timedelta(days=own.ahead):
            due.append((when.moment, f"; by {when.moment:%A %d %B}: {text} [{told.turn}]"))
    due.sort()
    if due and due[0][0] - moment <= timedelta(days=own.near):
        urgency = max(urgency, own.deadline)
    line = f"- now: {time}" + f" (urgency x{urgency:g})" * (urgency > 1) + "".join(said for _, said in due[:DUE])
    return Piece("time", "what time it is", min(1.0, 0.2 * urgency), line, data={"urgency": urgency})


def _season(own: ObjectColumnParams, now: int) -> tuple[str, float]:
    """What time it is, in the words of an office, and how much more pressing that makes what is due."""
    moment = to_local(now, "UTC")
    quarter, left = (moment.month - 1) // 3 + 1, _days_left(moment.year, moment.month, moment.day)
    season = ("winter", "spring", "summer", "autumn")[moment.month % 12 // 3]
    last = moment.month % 3 == 0 and left < 14
    factor = own.year if last and moment.month == 12 else own.quarter if last else own.month if left < 3 else 1.0
    end = (
        ", year end" if factor == own.year and last else ", quarter end" if last else ", month end" if left < 3 else ""
    )
    return f"{moment:%A %d %B %Y}, Q{quarter}, {season}{end}", factor


def _days_left(year: int, month: int, day: int) -> int:
    from calendar import monthrange

    return monthrange(year, month)[1] - day


SECTIONS = (
    Section("objects", 12, "Who and what is spoken of", ObjectSectionParams, spoken_of, layer="columns"),
    Section("objects_column", 25, "Objects", ObjectColumnParams, column, layer="columns", window="columns", apart=True),
)
