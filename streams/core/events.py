"""The facts that come from outside. This is the storage format: what stands here is on disks and topics for ever.

A shipped type is never edited. A change is a new version beside the old one and a pure upcast in `UPCASTS`. Field
order is part of the format: `encode` writes fields in the order they are declared.

Events are immutable by contract: slots dataclasses without `frozen`, which would cost a third of the fold's speed.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, ClassVar, Literal, get_args

import orjson
from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, TypeAdapter, WithJsonSchema

from streams.core.errors import NewerError

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
_EPOCH = EPOCH.replace(tzinfo=None)
SECOND = 1_000_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR
AT_APPEND = -1
"""An `at` that the producer left out: the log stamps it with the moment of the append."""
MAX_EVENT_BYTES = 8 * 1024 * 1024
"""An encoded event is at most this large on every log (Kafka topics are made for it)."""
MAX_AHEAD = 5 * MINUTE
"""How far `at` may lie after the moment of recording before the event is refused as coming from a wrong clock."""


def micros(text: str) -> int:
    """UTC microseconds since 1970 of an ISO 8601 time; a time without an offset is taken as UTC.

    Raises ValueError for anything else, and for times before 1970.
    """
    moment = datetime.fromisoformat(text)
    at = ((moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - EPOCH) // MICROSECOND
    if at < 0:
        raise ValueError("times before 1970 are not supported")
    return at


def iso(at: int) -> str:
    """RFC 3339 in UTC of `at` microseconds: `2026-01-05T09:00:00Z`, with six decimals only where there are any."""
    return (_EPOCH + timedelta(microseconds=at)).isoformat() + "Z"


def _time(value: object) -> object:
    if isinstance(value, str):
        return micros(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError("a time is ISO 8601 text (2026-01-05T09:00:00Z) or whole UTC microseconds")
    return value


_LAST = (datetime(9999, 12, 31, tzinfo=UTC) - EPOCH) // MICROSECOND
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def _plain(value: str) -> str:
    if _CONTROL.search(value):
        raise ValueError("control characters are not allowed in names and ids")
    return value


Micros = Annotated[
    int,
    BeforeValidator(_time),
    Field(ge=AT_APPEND, le=_LAST),
    WithJsonSchema(
        {
            "anyOf": [{"type": "string", "format": "date-time"}, {"type": "integer", "minimum": 0, "maximum": _LAST}],
            "description": "when it happened: ISO 8601, or UTC microseconds since 1970 (as stored)",
        }
    ),
]
Name = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(_plain)]
OptionalName = Annotated[str, Field(max_length=200), AfterValidator(_plain)]
Role = Literal["user", "assistant", "system", "tool"]
Priority = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
UNSAID = -1.0
"""A share of which nothing is said."""
MAX_HOURS = 100_000.0
MAX_DEPENDENCIES = 8
"""Limits of what is said of a task: hours it may be thought to take, tasks it may wait for."""
MAX_TURNS, MAX_LINKS = 32, 4
"""Turns and links that one fact names at most."""
Turns = Annotated[list[Name], Field(min_length=1, max_length=MAX_TURNS)]
"""Ids of turns; few enough that a fold may write to each of them."""

_CONFIG = ConfigDict(extra="forbid", strict=True)


def _one_of(*names: str) -> dict[str, Any]:
    """What a JSON Schema says where at least one of these texts must be given (the edge refuses events without)."""
    given = {"type": "string", "minLength": 1}
    return {"anyOf": [{"required": [name], "properties": {name: given}} for name in names]}


LINKS = ("support", "derivation", "generalization", "contradiction")


def _link(value: list[str]) -> list[str]:
    if value[2] not in LINKS:
        raise ValueError(f"a link is a turn, another turn, and one of {', '.join(LINKS)}")
    return value


KnowledgeLink = Annotated[list[Name], Field(min_length=3, max_length=3), AfterValidator(_link)]


@dataclass(slots=True)
class Event:
    """What every event says."""

    __pydantic_config__: ClassVar[ConfigDict] = _CONFIG
    space: Name
    id: Name
    at: Micros


@dataclass(slots=True)
class SessionEvent(Event):
    """An event of one conversation."""

    session: Name


@dataclass(slots=True)
class TurnRecorded(SessionEvent):
    """One message of a conversation."""

    agent: OptionalName
    role: Role
    content: str
    parts: list[dict[str, Any]] = field(default_factory=list)
    """Tool calls and tool results, as the producer's chat format has them."""
    reply_to: OptionalName = ""
    """The id of the turn that this one answers, where the producer knows it."""
    type: Literal["turn-recorded.v1"] = "turn-recorded.v1"


@dataclass(slots=True)
class TurnRetracted(SessionEvent):
    """A turn is no longer shown or matched; history keeps it. It is the turn of that id in the space, whatever session
    the event names: ids of turns are unique in a space."""

    turn: Name
    reason: Literal["edited", "regenerated", "popped", "cleared"] = "edited"
    type: Literal["turn-retracted.v1"] = "turn-retracted.v1"


@dataclass(slots=True)
class EffortDeclared(SessionEvent):
    """An agent says itself what it works on; outranks detection."""

    name: OptionalName = ""
    """The producer's own name for the effort; with it, later facts find it."""
    topic: str = ""
    turn: OptionalName = ""
    """A turn of the effort, instead of a name."""
    type: Literal["effort-declared.v1"] = "effort-declared.v1"


@dataclass(slots=True)
class EffortClosed(SessionEvent):
    """An agent says that an effort (by name, or by a turn of it) is concluded. Accepts an offer made at that turn."""

    name: OptionalName = ""
    turn: OptionalName = ""
    conclusion: str = ""
    type: Literal["effort-closed.v1"] = "effort-closed.v1"


@dataclass(slots=True)
class EffortReopened(SessionEvent):
    """An agent says that a concluded effort goes on."""

    name: OptionalName = ""
    turn: OptionalName = ""
    type: Literal["effort-reopened.v1"] = "effort-reopened.v1"


@dataclass(slots=True)
class OfferDeclined(SessionEvent):
    """A conclusion was offered at this turn, and refused."""

    turn: Name
    type: Literal["offer-declined.v1"] = "offer-declined.v1"


@dataclass(slots=True)
class ImportanceFlagged(SessionEvent):
    """A user's mark on a turn and on the effort it belongs to."""

    turn: Name
    importance: Literal["normal", "high"] = "high"
    type: Literal["importance-flagged.v1"] = "importance-flagged.v1"


@dataclass(slots=True)
class NoteTaken(Event):
    """Something to come back to, with a time to live."""

    note: Name
    """The producer's id of the note."""
    content: Annotated[str, Field(min_length=1)]
    session: OptionalName = ""
    ttl: Literal["urgent", "normal", "low"] | Annotated[int, Field(gt=0)] = "normal"
    """A class of the time to live, or the time itself in seconds."""
    priority: Priority = 0.5
    source: Literal["user", "system", "inferred"] = "user"
    context: str = ""
    """What it belongs to, in words; helps the note to surface."""
    type: Literal["note-taken.v1"] = "note-taken.v1"


@dataclass(slots=True)
class NoteSettled(Event):
    """A note was dealt with. It is named, or the turn that notes were inferred from is."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(**_CONFIG, json_schema_extra=_one_of("note", "turn"))
    note: OptionalName = ""
    """The producer's id of the note."""
    session: OptionalName = ""
    resolution: str = ""
    turn: OptionalName = ""
    """The turn that the settled notes were inferred from: their own ids differ between lineages."""
    type: Literal["note-settled.v1"] = "note-settled.v1"


@dataclass(slots=True)
class TaskDeclared(Event):
    """Somebody sets out to do something; it competes for one of a few slots. Said again, it is told anew."""

    task: Name
    """The producer's own name for it."""
    content: Annotated[str, Field(min_length=1)]
    """What is to be done, in words."""
    session: OptionalName = ""
    priority: Priority = 0.6
    estimate: Annotated[float, Field(ge=0, le=MAX_HOURS, allow_inf_nan=False)] = 0.0
    """How many hours it is thought to take; 0 where nobody knows."""
    depends_on: Annotated[list[Name], Field(max_length=MAX_DEPENDENCIES)] = field(default_factory=list)
    """Names of declared tasks that are to be done before."""
    type: Literal["task-declared.v1"] = "task-declared.v1"


@dataclass(slots=True)
class TaskUpdated(Event):
    """How a task stands. What is left out stays as it is. It is named, or the turn that it was made of is."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(**_CONFIG, json_schema_extra=_one_of("task", "turn"))
    task: OptionalName = ""
    session: OptionalName = ""
    turn: OptionalName = ""
    """The turn whose request it is: its own id differs between lineages."""
    status: Literal["", "planning", "executing", "blocked", "awaiting_input", "complete", "dropped"] = ""
    step: str = ""
    """What is being done now."""
    reason: str = ""
    """What it waits for, where it does; what came of it, where it is complete or dropped."""
    progress: Annotated[float, Field(ge=UNSAID, le=1, allow_inf_nan=False)] = UNSAID
    """From 0 to 1; -1 where nothing is said of it."""
    priority: Annotated[float, Field(ge=UNSAID, le=1, allow_inf_nan=False)] = UNSAID
    type: Literal["task-updated.v1"] = "task-updated.v1"


@dataclass(slots=True)
class SessionEnded(SessionEvent):
    """A conversation is over."""

    type: Literal["session-ended.v1"] = "session-ended.v1"


@dataclass(slots=True)
class SessionInherited(SessionEvent):
    """A conversation goes on with what an older one came to, which is over by that."""

    older: Name
    """The session that it goes on with."""
    type: Literal["session-inherited.v1"] = "session-inherited.v1"


@dataclass(slots=True)
class SummaryWritten(SessionEvent):
    """A model's summary of a run of turns. A model's output is a fact: replays reuse it and never call again."""

    first_turn: Name
    last_turn: Name
    text: Annotated[str, Field(min_length=1)]
    topics: list[str] = field(default_factory=list)
    decisions: list[str] = field(default_factory=list)
    tone: str = ""
    actions: list[str] = field(default_factory=list)
    model: str = ""
    prompt_hash: str = ""
    params_hash: str = ""
    type: Literal["summary-written.v1"] = "summary-written.v1"


@dataclass(slots=True)
class TitleWritten(SessionEvent):
    """A model's title for the work that some turns belong to. As with summaries, replays reuse it."""

    turns: Turns
    """What it was made of; the first of them says which work is meant."""
    title: Annotated[str, Field(min_length=1, max_length=200)]
    model: str = ""
    prompt_hash: str = ""
    params_hash: str = ""
    type: Literal["title-written.v1"] = "title-written.v1"


@dataclass(slots=True)
class DistillationWritten(SessionEvent):
    """A model's words for what is kept of some turns beyond their session. As with summaries, replays reuse it."""

    turns: Turns
    """What it was made of, in order; they say which entry of long-term memory is meant."""
    text: Annotated[str, Field(min_length=1)]
    """What worked, or what is so."""
    problem: str = ""
    failed: list[str] = field(default_factory=list)
    """What was tried and did not work."""
    model: str = ""
    prompt_hash: str = ""
    params_hash: str = ""
    type: Literal["distillation-written.v1"] = "distillation-written.v1"


@dataclass(slots=True)
class KnowledgeWritten(SessionEvent):
    """How what some turns say hangs together, or what it says in general, by a model. As with summaries, replays reuse
    it."""

    turns: Turns
    """What it was made of; `general` is of the first of them."""
    links: Annotated[list[KnowledgeLink], Field(max_length=MAX_LINKS)] = field(default_factory=list)
    """[turn, turn, kind]: what the one says is a reason, premise or instance of what the other says, or denies it."""
    general: Annotated[str, Field(max_length=200)] = ""
    """What holds elsewhere too, without who, where and which."""
    model: str = ""
    prompt_hash: str = ""
    params_hash: str = ""
    type: Literal["knowledge-written.v1"] = "knowledge-written.v1"


@dataclass(slots=True)
class MemoryRecalled(Event):
    """What an agent was shown when it asked its memory. It names turns alone: derived ids differ between lineages."""

    cue: str
    """What was asked."""
    turns: Turns
    """The turns shown, and the turns that shown summaries and conclusions were made of; the best first."""
    session: OptionalName = ""
    """The conversation in which it was shown; "" for none."""
    type: Literal["memory-recalled.v1"] = "memory-recalled.v1"


@dataclass(slots=True)
class MemoryRewarded(Event):
    """What was remembered was of use, or misled."""

    turns: Turns
    reward: Annotated[float, Field(ge=-1, le=1, allow_inf_nan=False)] = 1.0
    """From -1, it misled, to 1, it was just what was needed."""
    session: OptionalName = ""
    type: Literal["memory-rewarded.v1"] = "memory-rewarded.v1"


@dataclass(slots=True)
class MemoryPinned(Event):
    """A turn is to be kept at hand whatever its age, or no longer."""

    turn: Name
    pinned: bool = True
    session: OptionalName = ""
    type: Literal["memory-pinned.v1"] = "memory-pinned.v1"


@dataclass(slots=True)
class ConsolidationRequested(Event):
    """An agent or a user asks that memories be consolidated now, as sleep would do it."""

    session: OptionalName = ""
    type: Literal["consolidation-requested.v1"] = "consolidation-requested.v1"


@dataclass(slots=True)
class ContradictionJudged(Event):
    """A model or a person judged whether a statement takes the place of an older one. A judgment is a fact: replays
    reuse it and never ask again."""

    turn: Name
    """The newer statement."""
    older: Name
    """The turn of the older statement."""
    contradicts: bool = True
    confidence: Priority = 1.0
    session: OptionalName = ""
    model: str = ""
    prompt_hash: str = ""
    params_hash: str = ""
    type: Literal["contradiction-judged.v1"] = "contradiction-judged.v1"


@dataclass(slots=True)
class ClockTicked(Event):
    """A deadline passed in an idle space; written by the live runtime so that every replay sees the same clock."""

    type: Literal["clock-ticked.v1"] = "clock-ticked.v1"


ERASURES = "mnemolog.erasures"
"""The space of receipts. Why one of its own: the time of an erasure is no time of what was said."""


@dataclass(slots=True)
class ErasureRecorded(Event):
    """The receipt of an erasure, the last event of the log that it made: what went, without any of what that said."""

    what: str
    """What was selected, in words, without a name or a word of it."""
    selection: str
    """A keyed hash of the selection: who knows it can show that this is its receipt. Of keys that went, their ids."""
    by: OptionalName
    """The user of the machine."""
    turns: Annotated[int, Field(ge=0)]
    facts: Annotated[int, Field(ge=0)]
    """Facts that were selected, named what was, or were a model's words for it."""
    quotes: Annotated[int, Field(ge=0)]
    """Events that stay, with words of what went."""
    log_before: str
    events_before: Annotated[int, Field(ge=0)]
    hash_before: str
    """The running hash of the log that was destroyed, at its end."""
    log_after: str
    events_after: Annotated[int, Field(ge=0)]
    hash_after: str
    """The running hash of the new log, before this."""
    names: str
    """A hash of what the new log keeps to know again what was erased; see `streams.logs.erased`."""
    type: Literal["erasure-recorded.v1"] = "erasure-recorded.v1"


Remembering = MemoryRecalled | MemoryRewarded | MemoryPinned | ConsolidationRequested | ContradictionJudged
"""What is said of memories themselves: what was shown, what helped, what to keep."""

Fact = (
    TurnRetracted
    | EffortDeclared
    | EffortClosed
    | EffortReopened
    | OfferDeclined
    | ImportanceFlagged
    | NoteTaken
    | NoteSettled
    | TaskDeclared
    | TaskUpdated
    | SessionEnded
    | SessionInherited
    | SummaryWritten
    | TitleWritten
    | DistillationWritten
    | KnowledgeWritten
    | Remembering
    | ErasureRecorded
    | ClockTicked
)
"""Every outside event that is not a turn."""

Outside = TurnRecorded | Fact
"""Every event that may stand in the raw log."""

OUTSIDE: dict[str, type[Outside]] = {cls.__dataclass_fields__["type"].default: cls for cls in get_args(Outside)}
GIVEN = {name: cls for name, cls in OUTSIDE.items() if cls is not ErasureRecorded}
"""What comes in from outside: all but receipts, which an erasure writes into the log that it makes, and nobody else."""
UPCASTS: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {}
"""From a retired type to the fields (and `type`) of its successor. Applied until the type is a current one."""

validator: TypeAdapter[Outside] = TypeAdapter(
    Annotated[Outside, Field(discriminator="type")], config=ConfigDict(defer_build=True)
)
"""Validates once, at the edge, where an event enters. Built when first used: a question needs none."""


def encode(event: object) -> bytes:
    """The canonical bytes of an event: JSON, fields in declared order. Lossless under `decode`."""
    return orjson.dumps(event)


def decode(type_: str, value: bytes) -> Outside:
    """The event in bytes that `encode` wrote, of the type `type_` or one retired in its favour. Trusts its input.

    Raises NewerError for an unknown type, TypeError or orjson.JSONDecodeError for other bytes.
    """
    fields = orjson.loads(value)
    while type_ in UPCASTS:
        fields = UPCASTS[type_](fields)
        type_ = fields["type"]
    if (known := OUTSIDE.get(type_)) is None:
        raise NewerError(f"the log has an event of type {type_!r}, which this version does not know")
    return known(**fields)
