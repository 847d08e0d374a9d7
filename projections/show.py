"""The verbatim turns behind anything that has an id: what a summary stands for can always be had.

Within a limit of tokens, the first and the last turns are shown, and the range that was left out is named.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from projections.rows import whole
from projections.store import Connection, read_meta
from projections.views import view_names
from streams.core.errors import LEAST_OF_ID, MOST_BEGUN, UsageError, check_one_space, id_begun
from streams.core.events import iso
from streams.core.text.within import clip, cost

_COLUMNS = """t.space, t.session, t.turn_id, t.position, epoch_us(t.at), t.agent, t.role, t.content, t.parts, t.tokens,
    t.echo, t.retracted"""
_NAMES = (
    "space",
    "session",
    "turn_id",
    "position",
    "at",
    "agent",
    "role",
    "content",
    "parts",
    "tokens",
    "echo",
    "retracted",
)
HEAD = 0.6
"""The share of a limit that goes to the first turns; the rest goes to the last ones, where things are decided."""
OVERHEAD = 8
"""Tokens of the line above each turn."""

_TURN = "t.turn_id = $id"
_BEHIND = {
    "turn": _TURN,
    "summary": """EXISTS (SELECT 1 FROM summary_written s
        JOIN turn_recorded f ON f.space = s.space AND f.id = s.first_turn
        JOIN turn_recorded l ON l.space = s.space AND l.id = s.last_turn
        WHERE s.id = $id AND s.space = t.space AND s.session = t.session
            AND t.position BETWEEN f.position AND l.position)""",
}
"""What an id may be the id of that every memory knows, and the turns behind it; mechanisms add their own."""
_SAID = """SELECT s.space, s.session, s.{kind}, s.position, epoch_us(s."at"), '', '{kind}', {content}, '[]', 0, 0, false
    FROM {table} s WHERE s.{kind} = $id"""
_FACTS = {
    "note": _SAID.format(
        kind="note", table="note_taken",
        content="s.content || CASE WHEN s.context = '' THEN '' ELSE ' (' || s.context || ')' END",
    ),
    "task": _SAID.format(kind="task", table="task_declared", content="s.content"),
}  # fmt: skip
"""What an agent said under an id of its own, in no turn: it is shown as a turn is, its kind in place of a role."""
IDS = (
    ("turns", "turn_id"), ("summary_written", "id"), ("segments", "segment"), ("efforts", "effort"),
    ("artifacts", "artifact"), ("notes", "note"), ("tasks", "task"), ("objects", "object"),
    ("object_statements", "statement"), ("standing", "id"), ("long_term", "entry"), ("knowledge", "node"),
)  # fmt: skip
"""Where ids stand that may be named by their beginning: views, as far as a memory has them, and columns."""

Turn = dict[str, Any]


def show(connection: Connection, id: str, space: str | None = None, tokens: int | None = None) -> dict[str, Any]:
    """The turns behind `id` (of a turn, segment, effort, artifact, note or summary, or a range TURN..TURN), as JSON.

    Of a note or task that was said in no turn it is what was said of it. Raises UsageError where there is nothing of
    that id, or the same id in several spaces.
    """
    kind, turns = _behind(connection, id, space, _FACTS)
    whole = sum(turn["tokens"] for turn in turns)
    shown = turns if tokens is None else _within(turns, tokens)
    return {
        "id": id,
        "kind": kind,
        "space": turns[0]["space"],
        "tokens": whole,
        "left_out": len(turns) - len(shown),
        "turns": shown,
        "text": _text(turns, shown),
    }


def turns_behind(connection: Connection, id: str, space: str) -> list[Turn]:
    """The turns of a space behind an id, or a range. Raises UsageError where there are none."""
    return _behind(connection, id, space)[1]


def _behind(
    connection: Connection, id: str, space: str | None, facts: Mapping[str, str] | None = None
) -> tuple[str, list[Turn]]:
    """What an id is the id of, and the turns behind it; else the facts that were said under it."""
    for kind, condition in (_BEHIND | orjson.loads(read_meta(connection, "behind"))).items():
        if turns := _turns(connection, condition, {"id": id}, space):
            return kind, turns
    for kind, sql in (facts or {}).items():
        if said := _told(connection, sql, {"id": id}, space):
            return kind, [one | {"tokens": cost(one["content"])} for one in said]
    first, dots, last = id.partition("..")
    if dots and first and last:
        return "range", _range(connection, first, last, space)
    begun = _begun(connection, id, space)
    if begun == id:
        raise UsageError(f"no turn stands behind {id!r}", "its turns were taken back, or it was told in none")
    if begun:
        return _behind(connection, begun, space, facts)
    raise UsageError(
        f"there is nothing with the id {id!r}", "ids stand in what context, recall, efforts, offers and notes tell"
    )


def _begun(connection: Connection, begin: str, space: str | None, places: Sequence[tuple[str, str]] = ()) -> str | None:
    """The whole id that begins so; None where there is none. Raises UsageError where several begin so."""
    if len(begin) < LEAST_OF_ID:
        return None
    known = {*view_names(read_meta(connection, "views")), "summary_written"}
    ids: set[str] = set()
    for table, column in places or IDS:
        if table in known:
            sql = f"SELECT DISTINCT {column} FROM {table} WHERE starts_with({column}, ?) AND coalesce(space = ?, true)"
            ids.update(id for (id,) in connection.execute(f"{sql} LIMIT {MOST_BEGUN}", [begin, space]).fetchall())
    return id_begun(begin, ids)


def _turns(connection: Connection, condition: str, given: dict[str, Any], space: str | None) -> list[Turn]:
    return _told(connection, f"SELECT {_COLUMNS} FROM turns t WHERE {condition}", given, space)


def _told(connection: Connection, sql: str, given: dict[str, Any], space: str | None) -> list[Turn]:
    """The turns that a query finds, in their order. Raises UsageError where they are of several spaces."""
    if space is not None:
        sql, given = f"SELECT * FROM ({sql}) WHERE space = $space", given | {"space": space}
    found = connection.execute(f"{sql} ORDER BY space, position", given)
    turns = whole(dict(zip(_NAMES, row, strict=True)) for row in iter(found.fetchone, None))
    check_one_space((turn["space"] for turn in turns), f"something with the id {given.get('id')!r}")
    for turn in turns:
        turn["at"] = iso(turn["at"])
        turn["parts"] = orjson.loads(turn["parts"] or "[]")
    return turns


def _range(connection: Connection, first: str, last: str, space: str | None) -> list[Turn]:
    ends = []
    for id in (first, last):
        found = _turns(connection, _TURN, {"id": id}, space)
        if not found and (begun := _begun(connection, id, space, IDS[:1])):
            found = _turns(connection, _TURN, {"id": begun}, space)
        if not found:
            raise UsageError(f"there is no turn {id!r}", "write FIRST_TURN..LAST_TURN")
        ends.append(found[0])
    begin, end = ends
    if begin["space"] != end["space"]:
        raise UsageError("the two turns lie in different spaces", "a range lies in one space")
    condition = "t.position BETWEEN $low AND $high"
    low, high = sorted((begin["position"], end["position"]))
    given: dict[str, Any] = {"low": low, "high": high}
    if begin["session"] == end["session"]:
        condition, given = f"{condition} AND t.session = $session", given | {"session": begin["session"]}
    return _turns(connection, condition, given, begin["space"])


def _within(turns: list[Turn], limit: int) -> list[Turn]:
    """The first and the last turns that fit in `limit` tokens; of a turn that is too long itself, its head and tail."""
    if sum(turn["tokens"] + OVERHEAD for turn in turns) <= limit:
        return turns
    room = int(limit * HEAD)
    head, spent = _fitting(turns, room)
    tail, _ = _fitting(turns[len(head) :][::-1], limit - spent)
    if head or tail:
        return head + tail[::-1]
    longest = max(limit - OVERHEAD, 1)
    return [turns[0] | {"content": clip(turns[0]["content"], longest, head=HEAD), "clipped": True}]


def _fitting(turns: list[Turn], room: int) -> tuple[list[Turn], int]:
    taken: list[Turn] = []
    spent = 0
    for turn in turns:
        price = turn["tokens"] + OVERHEAD
        if spent + price > room:
            break
        taken.append(turn)
        spent += price
    return taken, spent


def _text(turns: list[Turn], shown: list[Turn]) -> str:
    """The turns as text; a gap names the range that was left out."""
    found = {turn["turn_id"]: turn for turn in shown}
    pieces: list[str] = []
    gap: list[Turn] = []
    for turn in turns:
        if turn["turn_id"] in found:
            pieces += _gap(gap)
            gap = []
            pieces.append(_turn(found[turn["turn_id"]]))
        else:
            gap.append(turn)
    return "\n\n".join([*pieces, *_gap(gap)])


def _gap(left: list[Turn]) -> list[str]:
    if not left:
        return []
    size = sum(turn["tokens"] for turn in left)
    name = f"{left[0]['turn_id']}..{left[-1]['turn_id']}" if len(left) > 1 else left[0]["turn_id"]
    return [f"[{len(left)} turns of {size} tokens left out: mnemolog show {name}]"]


def _turn(turn: Turn) -> str:
    who = turn["role"] if turn["agent"] in ("", turn["role"]) else f"{turn['role']} {turn['agent']}"
    marks = " (retracted)" if turn["retracted"] else ""
    head = f"[{turn['turn_id']}] {turn['at'][:10]} {turn['at'][11:19]} {turn['session']} {who}{marks}:"
    parts = [orjson.dumps(part).decode() for part in turn["parts"]]
    echo = [f"({turn['echo']} characters of a context of mnemolog, which only the log has)"] if turn["echo"] else []
    return "\n".join([head, *([turn["content"]] if turn["content"] else []), *echo, *parts])
