"""What a mechanism puts into a context: a section, made of pieces.

A context answers what a model should see for the turn that is to be answered now. Mechanisms offer sections; which of
their pieces are shown, and how they are written, is decided where the context is composed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol, TypeVar

from streams.core.params import Params
from streams.core.text.kinds import MemoryType

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Ask:
    """For what a context is asked. Times are UTC microseconds."""

    space: str
    session: str
    position: int
    """The last offset of the space's partition that is seen; -1 for none."""
    now: int
    """The moment that is asked for: if none was named, the space's clock there."""
    cues: frozenset[str] = frozenset()
    """Those of the words that are to be answered (see streams/core/text/cues)."""
    terms: tuple[str, ...] = ()
    """The stems of those words."""
    for_session: str = ""
    """The session that is to be given it, where that is another: one that begins where `session` ended."""
    asked: str = ""
    """The words that are to be answered, the end of long ones."""
    budget: int = 4000
    """Tokens of the context."""
    wide: bool = False
    """Whether they greet, or ask what is going on, and name nothing of it (see streams/core/text/wide)."""


@dataclass(slots=True)
class Piece:
    """A part of a context that is shown or left out as a whole: a line of text, or a turn in its own words."""

    id: str
    """Of what it tells: a turn, an effort, a note. What has an id is shown once."""
    reason: str
    """Why it may be shown, in a few words for a person."""
    worth: float
    """How much it serves the turn that is to be answered, 0 to 1."""
    text: str = ""
    """A paragraph; "" where `turn` is shown."""
    turn: int = -1
    """The offset of the turn that is shown in its own words; -1 where `text` is."""
    under: str = ""
    """The id of the piece of its section below which it stands: it is shown only with that."""
    says: int = -1
    """Of a text: the offset of a turn that says it; -1 for none. Where all of that turn is shown, the text is not, and
    where the text is shown and tells all of the turn, that is not."""
    figures: Sequence[int] = ()
    """Of a text: the offsets of turns whose ids, dates and amounts stand after it; not shown where there are none."""
    quotes: Sequence[str] = ()
    """Of a text: the ids of turns whose sentences may stand in it. One that does not stand any more is marked."""
    needed: bool = False
    """Whether it comes first, whatever it costs (within the section's share)."""
    data: Mapping[str, Any] | None = None
    """What JSON tells of it."""


@dataclass(slots=True)
class Turns:
    """Turns, each a piece that is shown in its own words. Of most of them no piece is made: there is no room."""

    turns: Sequence[int]
    """Their offsets, in the order in which they are shown."""
    worths: Sequence[float]
    """How much each serves."""
    reason: Callable[[int], str]
    """Why one may be shown, by its place."""
    under: str = ""
    """As of a piece."""

    def piece(self, place: int) -> Piece:
        """One of them."""
        return Piece("", self.reason(place), self.worths[place], "", self.turns[place], self.under)


Offered = Piece | Turns
"""What a section is made of."""


class Spoken(NamedTuple):
    """A turn, its words apart."""

    id: str
    position: int
    """Its offset in the log."""
    at: int
    """UTC microseconds."""
    role: str
    digits: bool = True
    """Whether it may tell ids, dates or amounts."""
    type: MemoryType = "episodic"
    """What kind of memory it is."""


class Members(NamedTuple):
    """What belongs to a part of a group (see `Group`)."""

    size: int
    first: str
    """The id of the one that joined first; "" for none."""
    newest: list[str]
    """Those that joined last, the newest first."""


class Reader(Protocol):
    """What a section reads of a memory, as of the position of the context.

    Of a mechanism that the memory does not have nothing is found: a section may look at what its own mechanism does not
    read. All but `rows` is looked up in an index: a millisecond for all sections, however long the history is. A query
    takes some milliseconds, and longer the more there is.
    """

    def kept(self, event: type[R], keys: Iterable[str], *others: type[Any]) -> dict[str, R]:
        """The last records of an event that a mechanism keeps by one field (see `Keep`), by key; those are left out
        after which one of `others` was told."""
        ...

    def members(self, group: str, part: str, most: int = 1_000) -> Members:
        """What belongs to a part of a group (see `Group`), at most so many of the newest."""
        ...

    def turns(self, ids: Iterable[str]) -> dict[str, Spoken]:
        """Turns by id; without those that are not shown any more."""
        ...

    def session(self) -> Iterator[Spoken]:
        """The turns of the session asked for that are still shown, the newest first; looked up one by one."""
        ...

    def rows(self, name: str, **given: Any) -> list[tuple[Any, ...]]:
        """The rows of the section's query of that name; `$space`, `$session` and `$now` are given always."""
        ...


Pieces = Callable[[Any, Any, Ask, Reader], Iterable[Offered]]
"""The pieces of a section, in the order in which they are shown: a pure function of the mechanism's parameters, the
section's own, what is asked, and what is read."""


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a context."""

    name: str
    """Its name for --without and in JSON; its parameters are called `context.NAME`."""
    place: int
    """Where it stands: sections are shown by rising place. Below 20 standing knowledge and tasks, from 20 notes and
    what the session goes on from, 30 what was concluded, from 40 earlier work, 50 what was recalled, 60 the session's
    own past, 90 its last exchanges."""
    heading: str
    params: type[Params]
    pieces: Pieces
    queries: Mapping[str, str] = field(default_factory=dict)
    """SQL by name, for `Reader.rows`. Written as projections/views.sql says."""
    layer: str = "focus"
    """Of what it is a part: the focus of attention, which is chosen for the turn to be answered, or another layer;
    `--without LAYER` leaves one out as a whole. The session's last exchanges are in none ("")."""
    window: str = ""
    """The name under which it is shown alone with the session's newest turns (`context --window`), to be compared."""
    apart: bool = False
    """Whether it is shown in its window alone, and in no other context."""


QUOTE = "\n  | "
"""What begins every further line of what somebody said. No line of the frame begins so."""


def quoted(text: str) -> str:
    """What somebody said, with every line after the first marked as a quotation."""
    return QUOTE.join(text.splitlines())
