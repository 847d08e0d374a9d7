"""What importers share: JSON values of a file, one at a time, and what becomes of each.

A file is JSON Lines, one JSON value, several behind one another, or one list whose elements are read one by one: no
more than one conversation is held, however long the file is. Imports nothing heavy, as `mnemolog hook` needs it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator
from typing import IO, TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

import orjson

from streams.core.halves import loads
from streams.gateways.sources import STDIN, Input, bounded_lines

if TYPE_CHECKING:
    from streams.core.edge import Accepted, Edge, Reject
    from streams.gateways.sources import Item, Reader

MAX_VALUE_BYTES = 256 * 1024 * 1024
"""A value of a document is held whole: a larger one is refused."""
JSON_SUFFIXES = (".json", ".jsonl", ".ndjson")
_CHUNK = 1024 * 1024
_TOKEN = re.compile(rb'"(?:[^"\\]++|\\.)*+("?)|[\[\]{},]', re.S)
_TIMES = (("seconds", 1e11, 1_000_000), ("milliseconds", 1e14, 1_000), ("microseconds", 1e17, 1))

Json = dict[str, Any]
T = TypeVar("T")
Fields = dict[str, Any]
"""An event as the edge takes it."""


class Grown(dict[str, Any]):
    """The fields of an event that a program writes piece by piece, under one id: the log may have the first of them.

    `pieces` gives what was there before and what is new since, with the most before first.
    """

    def __init__(self, fields: Fields, pieces: Callable[[], Iterable[tuple[Grown, Grown]]]) -> None:
        super().__init__(fields)
        self.pieces = pieces


def rest(pieces: Iterable[tuple[T, T]], is_known: Callable[[T], bool]) -> list[T]:
    """What is new of an event whose id is taken, where what has it is the event as far as it was written before; to ask
    `is_known` of a piece may record it, which adds nothing: its id is taken, by itself or by another event."""
    return next(([since] for before, since in pieces if is_known(before)), [])


class Unfit(Exception):  # noqa: N818 - not an error of the program
    """A value is not what its format says; the place in it, and why."""

    def __init__(self, field: str, reason: str, value: object = None) -> None:
        """`value` is what of it can be mended and fed again alone."""
        super().__init__(f"{field}: {reason}")
        self.field = field
        self.reason = reason
        self.value = value


MISFITS = (Unfit, AttributeError, IndexError, KeyError, TypeError, ValueError)
"""What mapping a value may raise. Why not checked field by field: these formats are others', and change."""


def misfit(error: Exception) -> Unfit:
    """What is wrong with a value whose mapping failed so."""
    if isinstance(error, Unfit):
        return error
    return Unfit("line", f"is not built as this format is ({type(error).__name__}: {str(error)[:100]})")


class Value(NamedTuple):
    """A JSON value of a file."""

    line: int
    """From 1; 0 within a document."""
    number: int
    """Of an element of a document that is one list, from 0; -1 elsewhere."""
    raw: bytes
    value: Any


class Mapping(Protocol):
    """Makes events of the values of one file, in order. May raise Unfit for a value."""

    def __call__(self, value: Any, /) -> Iterable[Fields]: ...


def mapped(
    make: Callable[[Input], Mapping],
    gathered: Callable[[Iterator[Value | Reject]], Iterator[Value | Reject]] = lambda found: found,
    grows: bool = False,
) -> Reader:
    """A reader of files whose values `make(file)` makes events of; `gathered` may put several values into one.

    `grows`: a running program adds lines to such files, so that the last one may not be whole yet.
    """

    def read(given: Input, edge: Edge) -> Iterator[Item]:
        from streams.core.edge import Reject

        mapping = make(given)
        for found in gathered(values(given, grows)):
            if isinstance(found, Reject):
                yield found
            elif isinstance(found.value, list) and found.number == -1:
                for n, element in enumerate(found.value):
                    yield from _events(Value(found.line, n, b"", element), mapping, given.name, edge)
            else:
                yield from _events(found, mapping, given.name, edge)

    return read


def _events(found: Value, mapping: Mapping, name: str, edge: Edge) -> Iterator[Item]:
    """The events of a value; one reject for all that is wrong with it."""
    from streams.core.edge import MAX_FAULTS, EdgeError, Fault, Reject

    raw = found.raw or dumped(found.value)
    faults: list[Fault] = []
    try:
        for fields in mapping(found.value):
            try:
                yield _accepted(name, found.line, raw, fields, edge)
            except EdgeError as error:
                where = f"{fields.get('id') or ''} " if found.number >= 0 else ""
                faults += [Fault(f"{where}{fault.field}", fault.reason) for fault in error.faults]
    except MISFITS as error:
        fault = misfit(error)
        faults.append(Fault(fault.field, fault.reason))
    if faults:
        place = f"[{found.number}]." if found.number >= 0 else ""
        yield Reject(name, found.line, raw, [Fault(f"{place}{f.field}", f.reason) for f in faults[:MAX_FAULTS]])


def _accepted(name: str, line: int, raw: bytes, fields: Fields, edge: Edge) -> Accepted:
    from streams.core.edge import Accepted

    def pieces() -> Iterator[tuple[Accepted, Accepted]]:
        assert isinstance(fields, Grown)
        for before, since in fields.pieces():
            yield _accepted(name, line, raw, before, edge), _accepted(name, line, raw, since, edge)

    grown = pieces if isinstance(fields, Grown) else None
    return Accepted(name, line, raw, edge.event(fields), "id" in fields, grown)


def dumped(value: object) -> bytes:
    """A value as a line that can be mended and fed again; nothing for one that nests too deep to be written."""
    try:
        return orjson.dumps(value)
    except TypeError:
        return b""


def values(given: Input, grows: bool = False) -> Iterator[Value | Reject]:
    """The JSON values of a file: its lines, or those of the document that it is. `grows`: see `mapped`."""
    from streams.core.edge import MAX_LINE_BYTES, EdgeError, parse_json

    number, first = 0, b""
    while (first := given.stream.readline(MAX_LINE_BYTES)) and first.isspace():
        number += 1
    if not first:
        return
    try:
        parse_json(first, loads)
        is_lines = True
    except EdgeError:
        opening = first.removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
        is_lines = opening not in b"[{" or (given.is_lines and first.strip() not in (b"[", b"{"))
    yield from _lines(given, first, number, grows) if is_lines else _document(given, first)


def _lines(given: Input, first: bytes, number: int, grows: bool) -> Iterator[Value | Reject]:
    from streams.core.edge import EdgeError, Reject, parse_json

    for found in bounded_lines(given, first, number):
        if isinstance(found, Reject):
            yield found
            continue
        try:
            yield Value(found.number, -1, found.raw, parse_json(found.raw, loads))
        except EdgeError as error:
            yield Reject(given.name, found.number, found.raw, error.faults, grows and not found.is_ended)


def _document(given: Input, first: bytes) -> Iterator[Value | Reject]:
    from streams.core.edge import EdgeError, Fault, Reject, parse_json

    is_list = first.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"[")
    for number, raw in enumerate(pieces(given.stream, first)):
        try:
            if len(raw) > MAX_VALUE_BYTES:
                raise EdgeError(
                    [Fault("file", "is over 256 MiB in one JSON value; make it JSON Lines (`jq -c '.[]'`)")]
                )
            yield Value(0, number if is_list else -1, raw, parse_json(raw, loads))
        except EdgeError as error:
            # Why no bytes where there is a file: what has to be mended is that file.
            place = f"[{number}]" if is_list else ""
            faults = [Fault(place or fault.field, fault.reason) for fault in error.faults]
            yield Reject(given.name, 0, raw if given.name == STDIN else b"", faults)


def pieces(stream: IO[bytes], first: bytes = b"") -> Iterator[bytes]:
    """The bytes of each element of a document that is one list, or of each of the values that stand in it.

    Of a value over MAX_VALUE_BYTES comes as much as was read, and nothing more of the file. What follows the last whole
    value comes, too, unless it is white space or ends the list.
    """
    held = first.removeprefix(b"\xef\xbb\xbf").lstrip()
    base = 1 if held.startswith(b"[") else 0
    depth, at, begun, is_over = base, base, base, False
    while True:
        if is_over := is_over or not (chunk := stream.read(_CHUNK)):
            chunk = b""
        held += chunk
        for token in _TOKEN.finditer(held, at):
            if token[1] == b"" and not is_over:
                break  # text that goes on in the next chunk
            at = token.end()
            sign = token[0][:1]
            if sign in b"[{":
                depth += 1
            elif sign in b"]}":
                depth -= 1
            if (depth < base) or (depth == base and (sign in b"," if base else sign in b"]}")):
                end = at if not base else token.start()
                if piece := held[begun:end].strip():
                    yield piece
                begun = at
                if depth < base:
                    return
        held, at, begun = held[begun:], at - begun, 0
        if is_over or len(held) > MAX_VALUE_BYTES:
            if held.strip():
                yield held
            return


def moment(value: object) -> str | int | None:
    """When something was, as formats write it: ISO 8601, or a Unix time in any unit, as UTC microseconds."""
    if isinstance(value, str) and value.replace(".", "", 1).isdecimal():
        value = float(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return value if value is None or isinstance(value, str) else ascii(value)[:60]
    return micros(value)


def micros(number: float) -> int:
    """Seconds, milliseconds, microseconds or nanoseconds since 1970 are told apart by size (from 1973 to 5138)."""
    for _, limit, unit in _TIMES:
        if abs(number) < limit:
            return round(number * unit)
    return round(number / 1000)


def blocks(content: object, kinds: tuple[str, ...] = ("text",)) -> tuple[list[str], list[Json]]:
    """The texts of a message's content, and its blocks of other kinds. Raises Unfit."""
    if content is None or isinstance(content, str):
        return ([content] if content else []), []
    if not isinstance(content, list) or not all(isinstance(block, (dict, str)) for block in content):
        raise Unfit("content", "must be text or a list of blocks")
    texts: list[str] = []
    others: list[Json] = []
    for block in content:
        text = block if isinstance(block, str) else block.get("text") if block.get("type") in kinds else None
        if isinstance(text, str):
            texts.append(text)
        else:
            others.append(block)
    return texts, others


def words(text: str) -> frozenset[str]:
    """Names of fields, with spaces between."""
    return frozenset(text.split())


def fields_part(value: Json, known: frozenset[str]) -> list[Json]:
    """A part with what of `value` is not known, so that nothing is lost; none where there is nothing."""
    rest = {key: one for key, one in value.items() if key not in known and one not in (None, "", [], {})}
    return [{"type": "fields", "fields": rest}] if rest else []


def hashed(*what: object) -> str:
    """An id that is always the same for the same."""
    return hashlib.blake2b(orjson.dumps(what, default=str, option=orjson.OPT_SORT_KEYS), digest_size=12).hexdigest()


def exported(
    given: Input, about: Json, parents: dict[str, Any], current: object, turn_of: Callable[[str], Fields | None]
) -> Iterator[Fields]:
    """The turns of a conversation of an export, which is a tree of messages (see `branches`).

    They are in the space that was asked for, and by the assistant that was named; the first of them tells `about`, too.
    """
    told = [{"type": "fields", "fields": about}] if any(about.values()) else []

    def turn(id_: str) -> Fields | None:
        found = turn_of(id_)
        if found is not None:
            found["parts"] += told
            told.clear()
            found |= {"space": given.space} if given.space else {}
            found |= {"agent": given.agent} if given.agent and found["role"] == "assistant" else {}
        return found

    yield from branches(parents, current, turn)


def branches(parents: dict[str, Any], current: object, turn_of: Callable[[str], Fields | None]) -> Iterator[Fields]:
    """The turns of a tree of messages from the root down, and what retracts those that do not lead to `current`.

    `parents` are the messages with those that they follow; where no current one is known, it is the last.
    """
    children: dict[Any, list[str]] = {}
    for id_, parent in parents.items():
        children.setdefault(parent if parent in parents else None, []).append(id_)
    path: dict[Any, None] = {}
    at: Any = current if current in parents else next(reversed(parents), None)
    while at in parents and at not in path:
        path[at] = None
        at = parents[at]
    waiting = sorted(children.get(None, []), key=lambda root: root in path)[::-1]
    seen: set[str] = set()
    gone: list[Fields] = []
    while waiting:
        id_ = waiting.pop()
        if id_ in seen:
            continue
        seen.add(id_)
        turn = turn_of(id_)
        if gone and id_ in path:
            yield from _gone(gone, turn["at"] if turn else gone[0]["at"])
        if turn is not None:
            yield turn
            gone += [turn] if id_ not in path else []
        # Why last: what was left behind stands before what took its place.
        waiting += sorted(children.get(id_, []), key=lambda child: child in path)[::-1]
    if gone:
        yield from _gone(gone, gone[-1]["at"])


def _gone(gone: list[Fields], at: object) -> Iterator[Fields]:
    reason = "edited" if gone[0]["role"] == "user" else "regenerated"
    for turn in gone:
        yield retraction(turn["id"], turn["session"], turn.get("space", ""), at, reason)
    gone.clear()


def name_of(value: object, otherwise: str = "") -> str:
    """A name or id as events take it: text of at most 200 characters without control characters."""
    text = str(value) if isinstance(value, (str, int)) and not isinstance(value, bool) else ""
    text = "".join(" " if ord(c) < 32 or 127 <= ord(c) < 160 else c for c in text)
    return text if 0 < len(text) <= 200 else f"{text[:160]}-{hashed(text)}" if text else otherwise


def project_space(folder: object) -> str:
    """The space of a project: the path of its folder."""
    return name_of(folder.rstrip("/") or "/") if isinstance(folder, str) and folder else ""


def retraction(turn: str, session: str, space: str, at: object, reason: str = "edited") -> Fields:
    """The fact that a turn no longer holds; the same whenever it is said."""
    fields = {"type": "turn-retracted", "id": name_of(f"{turn}/retracted"), "turn": turn, "session": session, "at": at}
    return fields | {"reason": reason} | ({"space": space} if space else {})
