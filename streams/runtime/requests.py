"""What a runtime can be asked to do: a typed model per call, and the one gate that every call passes.

A socket, HTTP and MCP hand over JSON; `parse` makes a call of it, or says what is wrong with which field. What has
passed is of its kind and within its limits. Names (of views, columns, kinds) are checked by who knows them.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from streams.core.edge import MAX_VALUES, has_too_many
from streams.core.errors import UsageError
from streams.core.events import MAX_TURNS
from streams.core.halves import loads, whole_text

C = TypeVar("C", bound="Call")

MAX_REQUEST = 32 * 2**20
"""Bytes of a request: an event of 8 MiB whose text is written in \\u escapes takes three times its size."""
MAX_DEPTH = 80
"""How deep lists and objects may nest: 64 in the parts of a turn, and what they stand in."""
MAX_EVENTS = 10_000
"""Events of one request."""
MAX_FIELDS = 256
"""Fields of a call, and arguments of a question: of a view, any column may be one."""
MOST_AMONG = 100_000
"""Turns that a question may be limited to."""
SECONDS = 30.0
"""Seconds that a question may take."""

Name = Annotated[str, Field(max_length=500)]
"""Of a space, session, view or id; those that are none find nothing."""


def _text(given: object) -> object:
    return whole_text(given) if isinstance(given, str) else given


Words = Annotated[str, Field(max_length=100_000), BeforeValidator(_text)]
Moment = Annotated[str, Field(max_length=100)] | Annotated[int, Field(ge=-(2**62), le=2**62)] | None
"""ISO 8601, microseconds, or a position: who answers tells which."""
Count = Annotated[int, Field(ge=0, le=1_000_000)]
Scalar = Annotated[str, Field(max_length=10_000)] | Annotated[int, Field(ge=-(2**63), lt=2**63)] | float | bool | None


class Call(BaseModel):
    """Something that a runtime is asked for."""

    # Why built when it is first asked for: a process that asks one question needs three of twenty.
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False, defer_build=True)

    seconds: ClassVar[float] = SECONDS
    """How long it may take."""


class Question(Call):
    """A question to a memory as it is, or as it was."""

    as_of: Moment = None
    after: Words = ""
    """PARTITION:OFFSET (several with commas between) that live must hold first."""

    def given(self) -> dict[str, Any]:
        """The arguments that were given, as who answers takes them."""
        return self.model_dump(exclude_unset=True, exclude={"after"})


class View(Question):
    """Rows of a view, where columns (further arguments) have the given values."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, Scalar]

    name: Name
    limit: Count | None = None
    order: Annotated[str, Field(max_length=500)] = ""
    columns: Annotated[str, Field(max_length=500)] = ""
    begins: Annotated[str, Field(max_length=500)] = ""


class Spaces(Question):
    """All spaces."""


class Digest(Question):
    """A hash per table."""

    seconds: ClassVar[float] = 3600.0


class Show(Question):
    """The turns behind anything that has an id."""

    id: Name
    space: Name | None = None
    tokens: Count | None = None


class Context(Question):
    """What a model would be given in a session."""

    space: Name
    session: Name
    budget: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    without: Annotated[list[Name], Field(max_length=100)] = []
    question: Words = ""
    explain: bool = False
    window: Name = ""
    details: Annotated[list[Name], Field(max_length=MAX_TURNS)] = []
    for_session: Name = ""
    at: Moment = None
    present: Moment = None
    live: Moment = None


class Recall(Question):
    """What is known about something."""

    space: Name
    query: Words
    k: Annotated[int, Field(ge=1, le=1000)] = 10
    kinds: Annotated[list[Name], Field(max_length=100)] | None = None
    session: Name | None = None
    at: Moment = None
    history: bool = False
    forgotten: bool = False
    turns: Annotated[list[Name], Field(max_length=MOST_AMONG)] | None = None


class RecallBatch(Question):
    """What answers each of many questions: those that are none are answered with what is wrong."""

    seconds: ClassVar[float] = 300.0

    queries: Annotated[list[dict[str, Scalar | Annotated[list[Name], Field(max_length=100)]]], Field(max_length=1024)]


class Memory(Question):
    """Everything about one memory."""

    id: Name
    space: Name | None = None
    at: Moment = None


class NeedsRecall(Question):
    """Whether a message needs `recall`."""

    space: Name
    session: Name
    message: Words
    at: Moment = None


class Known(Question):
    """What is to be told of a fact before it is recorded."""

    space: Name
    fact: Annotated[dict[str, Any], Field(max_length=MAX_FIELDS)]


QUESTIONS: dict[str, type[Question]] = {
    "view": View,
    "spaces": Spaces,
    "digest": Digest,
    "show": Show,
    "context": Context,
    "recall": Recall,
    "recall_batch": RecallBatch,
    "memory": Memory,
    "needs_recall": NeedsRecall,
    "known": Known,
}
"""By the name under which they are asked."""


class Ask(Call):
    """A question, once live holds the position `after` (PARTITION:OFFSET, several with commas between)."""

    ask: Name
    arguments: dict[str, Any] = {}
    after: Words = ""

    @property
    def question(self) -> Question:
        """What is asked. Raises UsageError for what is none, or is asked wrongly."""
        if self.ask not in QUESTIONS:
            raise UsageError(f"there is no question {self.ask!r}", f"questions: {', '.join(QUESTIONS)}")
        return _validated(QUESTIONS[self.ask], self.arguments, f"{self.ask}: ")


class Feed(Call):
    """Records events; each is validated by itself, so that one bad one keeps out none but itself."""

    feed: Annotated[list[Any], Field(max_length=MAX_EVENTS)]


class Snapshot(Call):
    """Makes a copy of live that others may read; its path."""

    snapshot: Literal[True]
    after: Words = ""


class Promote(Call):
    """Makes a memory live."""

    promote: Name


class Switch(Call):
    """Has the log that an erasure made take the place of the log."""

    switch: Literal[True]


class Look(Call):
    """Has all of live read, and made anew where it is damaged."""

    look: Literal[True]


class Ping(Call):
    """Who serves, and how much waits in the log."""

    ping: Literal[True]


class Leave(Call):
    """Has a server that makes way for others end, once it has answered what it is asked; whether it does.

    With false it is only asked whether it would.
    """

    leave: bool


CALLS: tuple[type[Call], ...] = (Ask, Feed, Snapshot, Promote, Switch, Look, Ping, Leave)


def decode(line: bytes) -> Any:
    """The JSON of a request, with a "?" for half of a character. Raises UsageError for what is none, too deep, or too
    many values."""
    check_values(line)
    try:
        found = loads(line)
    except ValueError as error:
        raise UsageError(f"the request is not JSON: {error}", "send one JSON object a line") from None
    if not _is_shallow(found):
        raise UsageError("the request is nested too deep", f"lists and objects may nest {MAX_DEPTH} deep")
    return found


def check_values(raw: bytes | bytearray) -> None:
    """Raises UsageError where JSON holds more values than a request may."""
    if has_too_many(raw):
        raise UsageError("the request holds too many values", f"send at most {MAX_VALUES:,} at once")


def _is_shallow(value: Any) -> bool:
    level = [value] if value.__class__ in _NESTS else []
    for _ in range(MAX_DEPTH):
        if not level:
            return True
        level = [
            inner
            for one in level
            for inner in (one.values() if one.__class__ is dict else one)
            if inner.__class__ in _NESTS
        ]
    return not level


_NESTS = (list, dict)
"""What JSON nests in: of these types alone, and of none of their subclasses, are the values that it is read into."""


def parse(message: Any) -> Call:
    """The call that a request is. Raises UsageError naming the field that is wrong, and why."""
    if isinstance(message, dict):
        for call in CALLS:
            if next(iter(call.model_fields)) in message:
                return _validated(call, message)
    raise UsageError("the request is not understood", "use the same version of mnemolog on both sides")


def _validated(call: type[C], given: dict[str, Any], where: str = "") -> C:
    if len(given) > MAX_FIELDS:
        raise UsageError(f"{where}{len(given):,} fields are too many", f"it takes: {', '.join(call.model_fields)}")
    try:
        return call.model_validate(given)
    except ValidationError as error:
        faults = error.errors(include_url=False, include_input=False, include_context=False)
        raise UsageError(
            where + "; ".join(dict.fromkeys(_fault(fault) for fault in faults[:4])),
            f"it takes: {', '.join(call.model_fields)}",
        ) from None


def _fault(fault: Any) -> str:
    names = [str(place) for place in fault["loc"]]
    if fault["type"] == "extra_forbidden":
        return f"there is no {names[-1][:100]!r}"
    said = fault["msg"].replace(" after validation", "")
    return f"{'.'.join(names)[:200]}: {said[:1].lower()}{said[1:]}"
