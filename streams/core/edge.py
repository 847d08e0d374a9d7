"""The edge: everything that comes in is validated here, once. Behind it, events are trusted.

From the bytes of one line, or a dict, to an event of the raw log, or to the faults that keep it out, in plain words.
No I/O and no clock: what a line becomes depends on the line, the defaults, and the lines before it.
"""

from __future__ import annotations

import difflib
import hashlib
import math
import re
from collections.abc import Callable, Iterable
from dataclasses import MISSING, fields
from threading import Lock
from typing import IO, Any, NamedTuple, get_type_hints

import orjson
from pydantic import TypeAdapter, ValidationError

from streams.core import DEFAULT_SPACE
from streams.core.errors import MnemologError
from streams.core.events import (
    AT_APPEND,
    GIVEN,
    MAX_EVENT_BYTES,
    MAX_HOURS,
    UPCASTS,
    NoteSettled,
    Outside,
    TaskDeclared,
    TaskUpdated,
    TurnRecorded,
    encode,
)
from streams.core.patterns import lazily

MAX_LINE_BYTES = 2 * MAX_EVENT_BYTES + 64 * 1024
"""A longer line is rejected without being held. Why twice: text of \\u escapes takes twice its bytes in UTF-8."""
MAX_DEPTH = 64
"""How deep lists and objects may nest in `parts`; deeper ones would exhaust readers that recurse."""
MAX_VALUES = 1_000_000
"""Values in one piece of JSON: 32 MB of `[]` would take a gigabyte, and many seconds."""
MAX_FAULTS = 8
"""Faults told of one line: who mends it sees the first ones, and a hostile line cannot make a report without end."""
SHOWN = 60
"""Characters of a value that a reason quotes."""

_STAMP_BYTES = 18
"""An `at` that the log stamps is at most this much longer than the -1 that stands for it."""
_PLACEHOLDER = "-"
_NOT_FINITE = lazily(r"[-+]?(nan|inf)", re.IGNORECASE)
_BOM = b"\xef\xbb\xbf"
UTF_16 = (b"\xff\xfe", b"\xfe\xff")
"""What a text in UTF-16 begins with."""


class Fault(NamedTuple):
    """One thing that is wrong with what came in."""

    field: str
    """Its place: `content`, `parts[2]`, or `line` for bytes that are no JSON object at all."""
    reason: str

    def __str__(self) -> str:
        return f"{self.field}: {self.reason}"


class EdgeError(MnemologError):
    """What came in is no event; `faults` says why, field by field."""

    def __init__(self, faults: list[Fault]) -> None:
        super().__init__("; ".join(map(str, faults)), "mend what is named and send it again")
        self.faults = faults


class Accepted(NamedTuple):
    """An event that may be appended, and the bytes it came from, should the log refuse it."""

    source: str
    line: int
    raw: bytes
    event: Outside
    is_named: bool = False
    """Whether its id is its source's own name for it: what comes again under one, told otherwise, is no other event."""
    pieces: Callable[[], Iterable[tuple[Accepted, Accepted]]] | None = None
    """Of what is written piece by piece: what may have been read before, the most first, and what is new since."""


class Reject(NamedTuple):
    """Bytes that are no event. `raw` is a file where they are too many to be held."""

    source: str
    line: int
    """From 1; 0 where the source is not made of lines."""
    raw: bytes | IO[bytes]
    faults: list[Fault]
    is_unfinished: bool = False
    """Whether it breaks off at the end of a file that its program adds lines to: it is whole when the file is read
    again, so there is nothing to mend."""


class Kind(NamedTuple):
    """What the edge needs to know of an event type."""

    cls: type[Outside]
    name: str
    known: frozenset[str]
    optional: frozenset[str]
    items: dict[str, type]
    """The fields that are lists, and of what."""


def _kind_of(name: str, cls: type[Outside]) -> Kind:
    hints = get_type_hints(cls)
    declared = fields(cls)
    filled = {"space", "id", "at", "agent", "type"}
    given = {f.name for f in declared if f.default is not MISSING or f.default_factory is not MISSING}
    lists = {list[str]: str, list[dict[str, Any]]: dict}
    return Kind(
        cls,
        name,
        frozenset(f.name for f in declared),
        frozenset(given | filled),
        {field: lists[hint] for field, hint in hints.items() if hint in lists},
    )


_KINDS = {name: _kind_of(name, cls) for name, cls in GIVEN.items()}
TURN = next(name for name, cls in GIVEN.items() if cls is TurnRecorded)


def kind_of(name: str) -> Kind:
    """What the edge knows of the type `name`."""
    return _KINDS[name]


def _newest(names: list[str]) -> dict[str, str]:
    """From a type's name without its version to its newest version."""
    found: dict[str, str] = {}
    for name in sorted(names, key=lambda name: int(name.rpartition(".v")[2])):
        found[name.rpartition(".v")[0]] = name
    return found


_NEWEST = _newest([*GIVEN, *UPCASTS])


def whole_name(name: str) -> str:
    """The name of a type with its version, the newest where none is told; what names no type as it is."""
    return _NEWEST.get(name, name)


class Edge:
    """Validates what comes in from one source and gives ids to what has none.

    An id is the hash of its source's name, of what an event says and of its nth occurrence in the source. So a source
    fed twice adds nothing, and a "yes" said twice, in one source or in two, stays two turns. Counting keeps 8 bytes of
    hash per event without id.
    """

    def __init__(self, space: str = DEFAULT_SPACE, session: str = "", agent: str = "", source: str = "") -> None:
        """Defaults for what a line leaves out: its space, its session (none: a line must say), who the assistant is.

        `source` is the name of what is read; see `begin` where it is several files.
        """
        self.space = space
        self.session = session
        self.agent = agent
        self.source = source
        self._seen: dict[int, int] = {}
        self._within: dict[str, Edge] = {}

    def begin(self, source: str) -> None:
        """What comes from here on stands in another source."""
        if source != self.source:
            self.source = source
            self._seen = {}
            self._within = {}

    def within(self, source: str) -> Edge:
        """An edge for a source that has a name of its own wherever it stands, such as a conversation with an id."""
        if source not in self._within:
            self._within[source] = Edge(self.space, self.session, self.agent, source)
        return self._within[source]

    def line(self, source: str, number: int, raw: bytes) -> Accepted | Reject:
        """What one line (without its end) of `source` is."""
        try:
            return Accepted(source, number, raw, self.event(parse(raw)))
        except EdgeError as error:
            return Reject(source, number, raw, error.faults)

    def event(self, given: Any) -> Outside:
        """The event that `given` describes, which is not changed. Raises EdgeError."""
        if not isinstance(given, dict):
            raise EdgeError([Fault("event", f"is {_noun(given)}; an event is a JSON object")])
        kind = _KINDS[TURN if given.get("type") is None else _type(given["type"])]
        said = self._complete(given, kind)
        faults = _shape_faults(said, kind)
        if faults:
            raise EdgeError(_all_faults(said, kind, faults))
        event = _validated(said)
        if isinstance(event, NoteSettled) and not (event.note or event.turn):
            raise EdgeError([Fault("note", "is missing; name the note, or the turn it was inferred from")])
        if isinstance(event, TaskUpdated) and not (event.task or event.turn):
            raise EdgeError([Fault("task", "is missing; name the task, or the turn whose request it is")])
        if isinstance(event, TaskDeclared) and event.task in event.depends_on:
            raise EdgeError([Fault("depends_on", f"names the task itself, {_quote(event.task)}; it would never begin")])
        if event.id == _PLACEHOLDER and given.get("id") is None:
            event.id = self._id(event)
        return event

    def _complete(self, given: dict[str, Any], kind: Kind) -> dict[str, Any]:
        """The fields of the newest version, with defaults for what was left out or null."""
        said = {name: value for name, value in given.items() if value is not None or name not in kind.optional}
        if said.get("at") == AT_APPEND:
            raise EdgeError([Fault("at", _TOO_EARLY)])
        said["type"] = kind.name
        said.setdefault("space", self.space)
        said.setdefault("id", _PLACEHOLDER)
        said.setdefault("at", AT_APPEND)
        if self.session:
            said.setdefault("session", self.session)
        if kind.cls is TurnRecorded:
            self._complete_turn(said)
        return said

    def _complete_turn(self, said: dict[str, Any]) -> None:
        role = said.get("role")
        if "agent" not in said:
            said["agent"] = self.agent if self.agent and role == "assistant" else role if isinstance(role, str) else ""
        if said.get("content") is None and said.get("parts"):
            said["content"] = ""

    def _id(self, event: Outside) -> str:
        name = hashlib.blake2b(orjson.dumps([self.source]) + _saying(event), digest_size=12).digest()
        key = int.from_bytes(name[:8])
        nth = self._seen[key] = self._seen.get(key, 0) + 1
        return name.hex() if nth == 1 else f"{name.hex()}-{nth}"


def _saying(event: Outside) -> bytes:
    """What makes an event without an id itself: for a turn who said what to whom and when, for others every field."""
    at = None if event.at == AT_APPEND else event.at
    if isinstance(event, TurnRecorded):
        words = [event.space, event.session, event.agent, event.role, event.content, at]
        # Why parts: two tool calls have the same empty content and are two turns wherever they stand.
        return orjson.dumps([*words, event.parts] if event.parts else words, option=orjson.OPT_SORT_KEYS)
    said = {f.name: getattr(event, f.name) for f in fields(event) if f.name != "id"}
    return orjson.dumps(said | {"at": at}, option=orjson.OPT_SORT_KEYS)


def parse(raw: bytes) -> dict[str, Any]:
    """The JSON object in a line. Raises EdgeError."""
    value = parse_json(raw)
    if not isinstance(value, dict):
        raise EdgeError([Fault("line", f"is {_noun(value)}; one JSON object a line is expected")])
    return value


def parse_json(raw: bytes, loads: Callable[[bytes], Any] = orjson.loads) -> Any:
    """The JSON value in bytes, a byte order mark before it allowed, as `loads` reads it. Raises EdgeError."""
    if has_too_many(raw):
        raise EdgeError([Fault("line", f"holds more than {MAX_VALUES:,} values")])
    try:
        return loads(raw.removeprefix(_BOM))
    except orjson.JSONDecodeError as error:
        raise EdgeError([Fault("line", _json_reason(raw, error))]) from None


def has_too_many(raw: bytes | bytearray) -> bool:
    """Whether JSON holds more than MAX_VALUES values, found without building one: by what begins or parts them.

    Text may hold the same characters: it is taken out where they are many.
    """
    if _marks(raw) <= MAX_VALUES:
        return False
    bare = raw.replace(b"\\\\", b"").replace(b'\\"', b"")
    return bare.count(b'"') > 2 * MAX_VALUES or _marks(b"".join(bare.split(b'"')[::2])) > MAX_VALUES


def _marks(raw: bytes | bytearray) -> int:
    return raw.count(b",") + raw.count(b"[") + raw.count(b"{")


def _json_reason(raw: bytes, error: orjson.JSONDecodeError) -> str:
    place = f"at column {error.colno}" if error.lineno == 1 else f"at line {error.lineno}, column {error.colno}"
    if raw.startswith(UTF_16):
        return "is UTF-16; convert the file to UTF-8"
    if "UTF-8" in error.msg:
        return "is not UTF-8"
    if "surrogate" in error.msg:
        return f"holds half a character (a lone surrogate) {place}"
    if "depth" in error.msg:
        return f"nests deeper than {MAX_DEPTH} levels"
    if "infinity" in error.msg or _NOT_FINITE.match(error.doc, error.pos):
        return f"holds a number that JSON does not know (NaN, Infinity) {place}"
    return f"is not JSON: {error.msg} {place}"


def _type(name: object) -> str:
    """The whole name of a type, its newest version where none is told. Raises EdgeError."""
    if isinstance(name, str):
        found = whole_name(name)
        if found in GIVEN:
            return found
    raise EdgeError([Fault("type", f"is {_quote(name)}; must be one of {', '.join(sorted(_NEWEST))}")])


def _shape_faults(said: dict[str, Any], kind: Kind) -> list[Fault]:
    """What pydantic would answer at length, or not at all: unknown fields, lists of the wrong things, nesting, NaN."""
    faults: list[Fault] = []
    for name, value in said.items():
        if name not in kind.known:
            faults.append(_unknown(name, said, kind))
        elif value.__class__ in _MAY_NEST and (fault := _nested_fault(name, value, kind)):
            faults.append(fault)
        if len(faults) >= MAX_FAULTS:
            break
    return faults


_MAY_NEST = (list, dict, float)
_TOO_EARLY = "lies before 1970"
_TOO_LATE = "lies after the year 9999"
_FAR = 2.5e17
"""UTC microseconds in the year 9892: a number beyond it was meant to lie after 9999."""


def _unknown(name: str, said: dict[str, Any], kind: Kind) -> Fault:
    close = difflib.get_close_matches(str(name)[:SHOWN], sorted(kind.known - said.keys()), 1)
    hint = f"did you mean {close[0]}?" if close else f"known are {', '.join(f.name for f in fields(kind.cls))}"
    return Fault(_short(str(name)), f"is no field of {kind.name}; {hint}")


def _nested_fault(name: str, value: object, kind: Kind) -> Fault | None:
    item = kind.items.get(name)
    if item is not None and isinstance(value, list):
        for n, element in enumerate(value):
            if not isinstance(element, item):
                noun = "an object" if item is dict else "text"
                return Fault(f"{name}[{n}]", f"must be {noun}, not {_noun(element)}")
    reason = _nesting(value, 0)
    return Fault(name, reason) if reason else None


def _all_faults(said: dict[str, Any], kind: Kind, faults: list[Fault]) -> list[Fault]:
    """The faults found, and those of the fields that have none yet: a line is mended once."""
    told = {fault.field.partition("[")[0] for fault in faults}
    rest = {name: value for name, value in said.items() if name in kind.known and name not in told}
    try:
        _validated(rest)
    except EdgeError as error:
        faults += [fault for fault in error.faults if fault.field not in told]
    return faults[:MAX_FAULTS]


def _nesting(value: object, depth: int) -> str:
    """Why a nested value cannot be kept; "" where it can."""
    if isinstance(value, float):
        return "" if math.isfinite(value) else "is no finite number"
    if not isinstance(value, (list, dict)):
        return ""
    if depth >= MAX_DEPTH:
        return f"nests deeper than {MAX_DEPTH} levels"
    inner = value if isinstance(value, list) else value.values()
    for item in inner:
        if isinstance(item, (list, dict, float)) and (reason := _nesting(item, depth + 1)):
            return reason
    return ""


_VALIDATORS: dict[str, TypeAdapter[Any]] = {}
_BUILDING = Lock()


def _validator(type_: str) -> TypeAdapter[Any]:
    """What validates the events of one type. Why one by one: to build it for all takes fifty milliseconds, for which a
    command that records a turn would wait."""
    found = _VALIDATORS.get(type_)
    if found is None:
        with _BUILDING:  # two threads that need it at once need it built once
            found = _VALIDATORS.setdefault(type_, TypeAdapter(GIVEN[type_]))
    return found


def get_ready() -> None:
    """Has events of all types be validated at once from now on."""
    for type_ in GIVEN:
        _validator(type_)


def _validated(said: dict[str, Any]) -> Outside:
    try:
        value = orjson.dumps(said)
    except TypeError as error:
        what = "half a character (a lone surrogate)" if "surrogate" in str(error) else f"what JSON cannot: {error}"
        raise EdgeError([Fault(_culprit(said), f"holds {what}")]) from None
    try:
        event: Outside = _validator(said["type"]).validate_json(value)
    except ValidationError as error:
        raise EdgeError(_faults(error)) from None
    if len(value) > MAX_EVENT_BYTES - 4096:
        _check_size(event)
    return event


def _check_size(event: Outside) -> None:
    size = len(encode(event)) + (_STAMP_BYTES if event.at == AT_APPEND else 0)
    if size > MAX_EVENT_BYTES:
        raise EdgeError(
            [Fault("line", f"is an event of {size:,} bytes; at most {MAX_EVENT_BYTES:,} (8 MiB) are taken")]
        )


def _culprit(said: dict[str, Any]) -> str:
    """The field that cannot be written as JSON."""
    for name, value in said.items():
        try:
            orjson.dumps({name: value})
        except TypeError:
            return _short(ascii(name)[1:-1])
    return "line"


_RANGES = {"estimate": f"hours, 0 to {MAX_HOURS:,.0f}", "reward": "-1 (it misled) to 1"}


def _faults(error: ValidationError) -> list[Fault]:
    """Pydantic's errors in plain words, one a field."""
    found: dict[str, Fault] = {}
    for detail in error.errors(include_url=False)[: 2 * MAX_FAULTS]:
        place = [step for step in detail["loc"] if not str(step).startswith(("literal[", "constrained-"))]
        field = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in place).lstrip(".") or "line"
        reason = _reason(detail["type"], detail["input"], detail.get("ctx", {}), detail["msg"])
        if field == "ttl":
            reason = f"is {_quote(detail['input'])}; must be urgent, normal, low or whole seconds above 0"
        if field in _RANGES and detail["type"] in ("greater_than_equal", "less_than_equal"):
            reason = f"is {_quote(detail['input'])}; must be {_RANGES[field]}"
        found.setdefault(field, Fault(field, reason))
    return list(found.values())[:MAX_FAULTS]


def _reason(type_: str, value: object, ctx: dict[str, Any], message: str) -> str:
    match type_:
        case "missing":
            return "is missing"
        case "string_type":
            return f"must be text, not {_noun(value)}"
        case "list_type":
            return f"must be a list, not {_noun(value)}"
        case "int_type" | "float_type" | "int_from_float":
            return f"must be a number, not {_noun(value)}"
        case "string_too_short":
            return "must not be empty"
        case "string_too_long":
            return f"is {len(str(value)):,} characters long; at most {ctx['max_length']} are taken"
        case "too_short":
            return f"must hold at least {ctx['min_length']}, not {len(value) if isinstance(value, list) else 'fewer'}"
        case "too_long":
            return f"must hold at most {ctx['max_length']}, not {len(value) if isinstance(value, list) else 'more'}"
        case "literal_error":
            wanted = ctx["expected"].replace(chr(39), "").replace(" or ", ", ").removeprefix(", ")  # "" is one of some
            return f"is {_quote(value)}; must be one of {wanted}"
        case "value_error":
            return _time_reason(value, str(ctx["error"]))
        case "greater_than_equal" | "less_than_equal" if isinstance(value, (int, str)) and abs(ctx.get("le", 0)) > 1:
            return _TOO_LATE
        case "greater_than_equal" if ctx["ge"] == AT_APPEND:
            return _TOO_EARLY
        case "greater_than_equal" | "less_than_equal":
            return f"is {_quote(value)}; must be 0 to 1"
        case _:
            return message[:1].lower() + message[1:]


def _time_reason(value: object, reason: str) -> str:
    if isinstance(value, float) and value > _FAR:
        return _TOO_LATE
    if "before 1970" in reason:
        return _TOO_EARLY
    if "isoformat" in reason or "must be in" in reason or "out of range" in reason:
        return f"is {_quote(value)}; a time is ISO 8601 text, such as 2026-01-05T09:00:00Z, or UTC microseconds"
    if reason.startswith("a time is"):
        return f"is {_quote(value)}; {reason}"
    return reason


def _quote(value: object) -> str:
    """A value as a reason shows it: short, on one line, safe to print."""
    if isinstance(value, (list, dict)) or value is None:
        return _noun(value)
    return _short(ascii(value[: SHOWN * 2]) if isinstance(value, str) else str(value))


def _short(text: str) -> str:
    shown = "".join(c if c.isprintable() else "?" for c in text[: SHOWN + 1])
    return shown if len(shown) <= SHOWN else shown[:SHOWN] + "…"


def _noun(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int() | float():
            return f"the number {_short(str(value))}"
        case str():
            return "text"
        case list():
            return "a list"
        case dict():
            return "an object"
        case _:
            return type(value).__name__
