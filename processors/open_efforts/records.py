"""What open_efforts keeps: records in the space's state. The index over the last active efforts is in `index`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

ACTIVE = 512
"""Slots of the table of the last active efforts; the parameter `active` uses at most so many."""
RECENT = 4096
"""Turns of a space whose effort is remembered exactly: what revisions, retractions and references need."""
TERMS, NAMES = 96, 32
"""Terms and names kept of an effort: the most used ones. Why: a record stays below 8 KB."""
NEAR = 8
"""Last turns of an effort that a turn may be alike to."""
WORD, NAME = 24, 40
"""Bytes: longer words and names tell nothing that their number would not, and would make records large."""


@dataclass(slots=True)
class Space:
    """State, `space`: who spoke, the last 64 to appear. Topics are not named after them."""

    people: dict[str, None] = field(default_factory=dict)


@dataclass(slots=True)
class Effort:
    """State, `effort/<id>`: a unit of work."""

    session: str
    """Where it was worked on last."""
    at: int
    name: str = ""
    """The agent's own name for it."""
    topic: str = ""
    titled: bool = False
    """Whether the topic was declared, or a model wrote it; then it is not made of words."""
    title: list[str] = field(default_factory=list)
    """Telling terms of the declared name and topic; at most 8."""
    declared: bool = False
    status: Literal["open", "concluded"] = "open"
    importance: Literal["normal", "high"] = "normal"
    turns: int = 0
    segments: int = 0
    live: list[str] = field(default_factory=list)
    """Its segments that are neither closed nor concluded, the last 8."""
    seen: int = 0
    """Its place in the order of activity."""
    terms: dict[str, int] = field(default_factory=dict)
    first: dict[str, str] = field(default_factory=dict)
    """Its first turns that tell something, and their beginnings: what its title is taken from."""
    names: dict[str, int] = field(default_factory=dict)
    asked: dict[str, None] = field(default_factory=dict)
    """Terms of its last turn that was not the user's: what an answer would speak of."""
    asker: str = ""
    """That turn."""
    users: dict[str, None] = field(default_factory=dict)
    """Who worked on it; at most 8."""
    parted: bool = False
    """Whether its user said good-bye last."""
    summaries: dict[str, str] = field(default_factory=dict)
    """Of its last segments; at most 3."""
    ended: str = ""
    """The turn that concluded it; "" while it is open, and where an agent closed it."""
    told: list[str] = field(default_factory=list)
    """Its most telling terms, as last reported."""
    due: int = 0
    """The number of turns from which on they are weighed anew."""
    last: list[str] = field(default_factory=list)
    """Its last NEAR turns, where alike words count."""


@dataclass(slots=True)
class Session:
    """State, `session/<id>`: who speaks, and what is going on."""

    turns: int = 0
    users: list[str] = field(default_factory=list)
    """The first few distinct agents in the role of the user."""
    helpers: list[str] = field(default_factory=list)
    """The first few distinct agents in the role of the assistant."""
    helped: str = ""
    """Effort of the last turn that was not a user's."""
    aside: bool = False
    """Whether one user just calls another: what assistants say then goes on with what they were at."""
    effort: str = ""
    """Of the last turn that had one."""
    last: str = ""
    """Effort of the very last turn."""
    segment: str = ""
    speaker: str = ""
    by_user: bool = False
    asks: bool = False
    """Who spoke last, whether as a user, and whether with a question."""
    declared: str = ""
    tokens: int = 0
    """Of all turns so far."""
    stays: int = 0
    switches: int = 0
    """How often the user went on with the current effort, and how often not; fading."""
    recent: list[str] = field(default_factory=list)
    """Its efforts, last active last; at most 8."""
    pending: list[str] = field(default_factory=list)
    """Turns just before that opened no effort, and what assistants said to them: they belong to what follows; at most
    4."""
    weighed: dict[str, float] = field(default_factory=dict)
    """What the efforts were worth that the last turn may belong to, if it was a user's and that is in doubt."""
    doubted: list[str] = field(default_factory=list)
    """That turn, after the small talk that joined its effort with it."""
    worked: bool = False
    """Whether it was new work."""
    segments: dict[str, dict[str, int]] = field(default_factory=dict)
    """The efforts that turns of its last 4 segments belong to, with their number; at most 8 each."""


@dataclass(slots=True)
class Speaker:
    """State, `speaker/<session>/<agent>`: whom an agent talks to."""

    at: int = 0
    turn: int = -1
    effort: str = ""
    began: str = ""
    """The effort that the agent began last."""
    called_at: int = 0
    """When someone addressed the agent last."""
    called_turn: int = -1
    called_effort: str = ""
    partners: dict[str, list[int | str]] = field(default_factory=dict)
    """Whom the agent talked with: when, and about which effort. The last 8."""
    declared: str = ""
    pending: str = ""
    """A greeting just said, which belongs to what the agent says next."""


@dataclass(slots=True)
class Said:
    """State, `turn/<n modulo RECENT>`: what a recent turn gave to its effort, so that it can be taken back."""

    turn: str
    agent: str
    effort: str
    segment: str
    terms: list[str]
    names: list[str]
    number: int = 0
    """Of all turns of the space."""
    retracted: bool = False
    share: float = 1.0
    """How likely the effort was among all."""
    about: str = ""
    """What it is about, where alike words count (see near)."""
    waits: str = ""
    """Of one that waits for what follows and tells something: its beginning, which may name the effort it joins."""


@dataclass(slots=True)
class First:
    """State, `first/<turn>`: the efforts whose titles may be made of a turn, however long ago it was said."""

    efforts: list[str]


@dataclass(slots=True)
class Summed:
    """State, `summed/<segment>`: the efforts whose summaries have that of a segment."""

    efforts: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Named:
    """State, `name/<name>`: the efforts that a name stands for, last used last; at most 8."""

    efforts: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Slot:
    """State, `active/<number>`: one of the last active efforts."""

    effort: str
