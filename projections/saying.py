"""What people and agents say of what a memory knows: in words of the log, whether what they name is known, and whether
it stands so already.

The log knows turns and declared names, no derived ids: what is said of an effort is said of a turn of it. A fact that
names what nobody knows is recorded, for that may come later, and who says it is told. And a fact that would change
nothing is not recorded: who settles a note that is settled is told since when it is.

All of it is found in a memory, which commands ask in one way and servers in another. So what is to be asked is yielded,
as the arguments of `view`, and its rows are sent back; `answered` does that for who asks as `Home.ask` does. The
question `known` tells all that is to be told of a fact before it is recorded.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping
from typing import Any, NamedTuple, TypeVar

from streams.core.errors import LEAST_OF_ID, MOST_BEGUN, UsageError, check_one_space, id_begun, listed

Row = dict[str, Any]
T = TypeVar("T")
Finding = Generator[Row, list[Row], T]
"""Yields questions, is sent the rows that answer them, and returns what it comes to."""


class Standing(NamedTuple):
    """What somebody says, and stands so already."""

    said: str
    """In a word: settled, closed."""
    since: str | None = None
    """The time at which it came to that; None where that is not known."""


def answered(asking: Finding[T], ask: Callable[..., Any]) -> T:
    """What questions come to that `ask` answers."""
    try:
        question = next(asking)
        while True:
            question = asking.send(ask("view", **question))
    except StopIteration as done:
        found: T = done.value
        return found


def named(id: str, space: str | None, *places: tuple[str, str]) -> Finding[list[Row]]:
    """The rows that have an id, in the first of some views and columns that has any; else those of the one id in all of
    them that begins so. Raises UsageError where several begin so."""
    for view, column in places:
        if found := (yield {"name": view, "space": space, column: id}):
            return found
    if len(id) < LEAST_OF_ID:
        return []
    begun: list[list[Row]] = []
    for view, column in places:
        begun.append((yield {"name": view, "space": space, column: id, "begins": column, "limit": MOST_BEGUN}))
    ids = (row[column] for rows, (_, column) in zip(begun, places, strict=True) for row in rows)
    return next((rows for rows in begun if rows), []) if id_begun(id, ids) else []


def only(view: str, column: str, id: str, space: str | None, what: str, way_out: str) -> Finding[Row]:
    """The only row of a view that has an id. Raises UsageError for none, and for those of several spaces."""
    return one((yield from named(id, space, (view, column))), f"{what} {id!r}", way_out)


def one(rows: list[Row], what: str, way_out: str) -> Row:
    """The only row. Raises UsageError for none, and for those of several spaces."""
    if not rows:
        raise UsageError(f"there is no {what}", way_out)
    check_one_space((row["space"] for row in rows), what)
    return rows[0]


def turn_of(id: str, space: str | None, way_out: str, titled: str = "") -> Finding[Row]:
    """An effort or turn in words of the log: a turn, and where that was said. Raises UsageError where there is none.

    `titled`: open or concluded; an effort of which that is so may be named by its topic, if no other has the same.
    """
    where = "" if space is None else f" in space {space!r}"
    found = yield from named(id, space, ("efforts", "effort"), ("turns", "turn_id"))
    if not found and titled:
        found = yield {"name": "efforts", "space": space, "status": titled, "topic": id}
        if len(ids := sorted({effort["effort"] for effort in found})) > 1:
            raise UsageError(f"several {titled} efforts are called {id!r}", f"name one by its id: {listed(ids)}")
    if found and "turn_id" not in found[0]:
        effort = one(found, f"effort {id!r}", way_out)
        turn, space = effort["last_turn"], effort["space"]
        if turn is None:  # declared, and nothing said on it yet: its own name finds it
            return {"space": space, "session": effort["sessions"][0], "name": effort["name"] or ""}
        found = yield {"name": "turns", "turn_id": turn, "space": space}
    said = one(found, f"effort or turn {id!r}{where}", way_out)
    return {"space": said["space"], "session": said["session"], "turn": said["turn_id"]}


def record_of(what: str, id: str, space: str | None, way_out: str) -> Finding[Row]:
    """A note or task in words of the log: by its turn where it was inferred, for it has no name then."""
    record = yield from only(f"{what}s", what, id, space, what, way_out)
    words = {"turn": record["turn"]} if record["turn"] else {what: record[what]}
    return words | {"space": record["space"], "session": record["session"] or ""}


def known(fact: Mapping[str, Any]) -> Finding[Row]:
    """What is to be told of a fact before it is recorded, in the space it names: what it names and the memory does not
    know, `unknown`; or that it stands so, `already` and `since`; nothing where neither is so."""
    if missing := (yield from unknown(fact)):
        return {"unknown": missing}
    stands = yield from standing(fact)
    return {"already": stands.said, "since": stands.since} if stands else {}


def is_of_memory(fact: Mapping[str, Any]) -> bool:
    """Whether a fact may name what a memory knows, or say what stands already: a turn does neither."""
    return _type(fact) in NAMED or _type(fact) in STANDING


# -- what is not known -------------------------------------------------------------------------------------------------

_TURN, _EFFORT, _SESSION = ("recorded_turns", "turn_id"), ("efforts", "name"), ("sessions", "session")
_WRITTEN = {"turns": _TURN}
NAMED: dict[str, dict[str, tuple[str, str]]] = {
    "turn-retracted": {"turn": _TURN},
    "effort-declared": {"turn": _TURN},
    "effort-closed": {"turn": _TURN, "name": _EFFORT},
    "effort-reopened": {"turn": _TURN, "name": _EFFORT},
    "offer-declined": {"turn": _TURN},
    "importance-flagged": {"turn": _TURN},
    "note-settled": {"turn": _TURN, "note": ("notes", "note")},
    "task-declared": {"depends_on": ("tasks", "task")},
    "task-updated": {"turn": _TURN, "task": ("tasks", "task")},
    "session-ended": {"session": _SESSION},
    "session-inherited": {"older": _SESSION},
    "summary-written": {"first_turn": _TURN, "last_turn": _TURN},
    "title-written": _WRITTEN,
    "distillation-written": _WRITTEN,
    "knowledge-written": _WRITTEN,
    "memory-recalled": {"turns": _TURN},
    "memory-rewarded": {"turns": _TURN},
    "memory-pinned": {"turn": _TURN},
    "contradiction-judged": {"turn": _TURN, "older": _TURN},
}
"""By type: the fields that name what is there before, and the view and column where it is found."""


def unknown(fact: Mapping[str, Any]) -> Finding[list[str]]:
    """What a fact names and the memory does not know, in the space that the fact names."""
    type_ = _type(fact)
    # Why the session: who names another than the turn's own most likely means another turn, though it is taken back.
    where = {"session": fact.get("session")} if type_ == "turn-retracted" else {}
    found: list[str] = []
    for field, (view, column) in NAMED.get(type_, {}).items():
        given = fact.get(field)
        for id in dict.fromkeys(given if isinstance(given, list) else [given]):
            if not id or not isinstance(id, str):
                continue
            if view == "efforts":
                known = yield from _named(fact["space"], id, column)
            else:
                known = yield {"name": view, "space": fact["space"], column: id, "limit": 1, "columns": column} | where
            if not known:
                found.append(id)
    return found


# -- what stands already -----------------------------------------------------------------------------------------------


def standing(fact: Mapping[str, Any]) -> Finding[Standing | None]:
    """How what a fact says stands already, in the space it names; None where it would change something."""
    found = STANDING.get(_type(fact))
    return (yield from found(fact)) if found is not None else None


def _settled(fact: Mapping[str, Any]) -> Finding[Standing | None]:
    which = {"turn": fact["turn"]} if fact.get("turn") else {"note": fact.get("note") or ""}
    notes = yield {"name": "notes", "space": fact["space"]} | which
    if notes and all(note["status"] == "settled" for note in notes):
        if (yield {"name": "standing", "space": fact["space"], "status": "current", "columns": "id"} | which):
            return None  # what was said there to hold from then on holds no more
        return Standing("settled", _last(note["settled_at"] for note in notes))
    return None


def _closed(fact: Mapping[str, Any]) -> Finding[Standing | None]:
    effort = yield from _effort(fact)
    if effort is None or effort["status"] != "concluded":
        return None
    turn = fact.get("turn")  # an offer that waits there is accepted by the same fact
    offers = (yield {"name": "offers", "space": fact["space"], "turn_id": turn, "status": "open"}) if turn else []
    return None if offers else Standing("closed", effort["concluded_at"])


def _reopened(fact: Mapping[str, Any]) -> Finding[Standing | None]:
    """Where something said in it may have ended it since, the same fact says that it did not."""
    effort = yield from _effort(fact)
    if effort is None or effort["status"] != "open":
        return None
    space, id, since = fact["space"], effort["effort"], effort["reopened_at"] or effort["opened_at"]
    ends = yield {"name": "conclusions", "space": space, "effort": id, "columns": "at"}
    offers = yield {"name": "offers", "space": space, "status": "open", "columns": "turn_id"}
    turns = (yield {"name": "turns", "space": space, "effort": id, "columns": "turn_id"}) if offers else []
    waiting = {offer["turn_id"] for offer in offers} & {turn["turn_id"] for turn in turns}
    return None if waiting or any(end["at"] > since for end in ends) else Standing("open", since)


def _inherited(fact: Mapping[str, Any]) -> Finding[Standing | None]:
    """What was said in the older session since is inherited by the same fact."""
    space, older = fact["space"], fact.get("older") or ""
    pair = {"space": space, "session": fact.get("session") or "", "older": older}
    for told in (yield {"name": "inheritances"} | pair):
        talk = yield {"name": "recorded_turns", "space": space, "session": older, "columns": "position",
                      "order": "position DESC", "limit": 1}  # fmt: skip
        return None if talk and talk[0]["position"] > told["position"] else Standing("inherited", told["at"])
    return None


def _declined(fact: Mapping[str, Any]) -> Finding[Standing | None]:
    """A turn may have settled notes, too, or moved them, which wait again as they did by the same fact."""
    for by in ("settled_by", "moved_by"):
        if (yield {"name": "notes", "space": fact["space"], by: fact.get("turn") or "", "columns": "note"}):
            return None
    offers = yield {"name": "offers", "space": fact["space"], "turn_id": fact.get("turn") or ""}
    if offers and all(offer["status"] == "declined" for offer in offers):
        return Standing("declined", _last(offer["settled_at"] for offer in offers))
    return None


def _flagged(fact: Mapping[str, Any]) -> Finding[Standing | None]:
    """Of the turn and of what it belongs to: another turn may have flagged that."""
    high = fact.get("importance", "high") == "high"
    effort = yield from _effort(fact)
    if effort is not None and (effort["importance"] == "high") != high:
        return None
    marks = yield {"name": "remembered", "space": fact["space"], "turn_id": fact.get("turn") or ""}
    return Standing("flagged" if high else "not flagged") if _is_marked(marks, "important") == high else None


def _pinned(fact: Mapping[str, Any]) -> Finding[Standing | None]:
    marks = yield {"name": "remembered", "space": fact["space"], "turn_id": fact.get("turn") or ""}
    pinned = bool(fact.get("pinned", True))
    return Standing("pinned" if pinned else "unpinned") if _is_marked(marks, "pinned") == pinned else None


def _judged(fact: Mapping[str, Any]) -> Finding[Standing | None]:
    """What a rule took for a contradiction is confirmed by a judgment, and so is what was judged less surely."""
    space, turn, older = fact["space"], fact.get("turn") or "", fact.get("older") or ""
    if not fact.get("contradicts", True):
        doubts = yield {"name": "doubts", "space": space, "turn_id": turn, "older": older}
        replaced = yield {"name": "beliefs", "space": space, "turn_id": older, "columns": "replaced_by"}
        if any(doubt["status"] == "open" for doubt in doubts) or any(belief["replaced_by"] for belief in replaced):
            return None
        return Standing("dismissed" if doubts else "no doubt")
    sure = fact.get("confidence", 1.0)
    for belief in (yield {"name": "beliefs", "space": space, "turn_id": older, "replaced_by": turn, "rule": "judged"}):
        if belief["confidence"] == sure:
            return Standing("confirmed", belief["replaced_at"])
    return None


def _ended(fact: Mapping[str, Any]) -> Finding[Standing | None]:
    """Of a task that goes on every word counts: it was spoken of."""
    which = {"turn": fact["turn"]} if fact.get("turn") else {"task": fact.get("task") or ""}
    for task in (yield {"name": "tasks", "space": fact["space"]} | which):
        if task["place"] == "ended" and task["status"] == fact.get("status"):
            return Standing(task["status"], task["ended_at"])
    return None


def _retracted(fact: Mapping[str, Any]) -> Finding[Standing | None]:
    turns = yield {"name": "recorded_turns", "space": fact["space"], "turn_id": fact.get("turn") or ""}
    return Standing("taken back") if turns and all(turn["retracted"] for turn in turns) else None


STANDING: dict[str, Callable[[Mapping[str, Any]], Finding[Standing | None]]] = {
    "note-settled": _settled,
    "effort-closed": _closed,
    "effort-reopened": _reopened,
    "offer-declined": _declined,
    "importance-flagged": _flagged,
    "memory-pinned": _pinned,
    "contradiction-judged": _judged,
    "task-updated": _ended,
    "turn-retracted": _retracted,
    "session-inherited": _inherited,
}
"""By type."""


def _type(fact: Mapping[str, Any]) -> str:
    """The type of a fact, without its version."""
    return str(fact.get("type", "")).partition(".v")[0]


def _effort(fact: Mapping[str, Any]) -> Finding[Row | None]:
    """The effort that a fact names, by a turn of it or by its own name."""
    turn, space = fact.get("turn"), fact["space"]
    columns = "effort, name, status, importance, opened_at, reopened_at, concluded_at"
    if turn:
        turns = yield {"name": "turns", "space": space, "turn_id": turn, "columns": "effort"}
        if not turns or turns[0]["effort"] is None:
            return None
        efforts = yield {"name": "efforts", "space": space, "effort": turns[0]["effort"], "columns": columns}
    else:
        efforts = yield from _named(space, fact.get("name") or "", columns)
    return efforts[0] if efforts else None


def _named(space: str, name: str, columns: str) -> Finding[list[Row]]:
    """The efforts that an agent gave a name, the newest first."""
    # Why not asked for by it: what is called `name` in a question is the view.
    known = yield {"name": "efforts", "space": space, "order": "opened_at DESC", "columns": columns}
    return [effort for effort in known if name and effort["name"].lower() == name.lower()]


def _is_marked(rows: Iterable[Row], mark: str) -> bool:
    return any(row[mark] for row in rows)


def _last(times: Iterable[str | None]) -> str | None:
    return max(filter(None, times), default=None)
