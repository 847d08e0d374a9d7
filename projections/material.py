"""What a context is made of, read from a memory: of one session, at one position.

Why not from the views: they answer for every turn and effort of a space. Here a few efforts and the newest turns are
asked for, by their ids and positions, so that what a context costs does not grow with its space. Each query says what
the view of the same name says (see views.sql), and serves as-of as the views do, over tables that end at a position.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import orjson

from streams.events import OUTSIDE


@dataclass(slots=True)
class Turn:
    """A turn that may be shown."""

    id: str
    role: str
    agent: str
    content: str
    effort: str = ""
    session: str = ""
    position: int = 0
    at: int = 0
    tokens: int = 0
    """Of the content; 0 where it was not counted."""
    calls: list[str] = field(default_factory=list)
    """Names of the tools it calls."""


@dataclass(slots=True)
class Entry:
    """An effort in context; with mode `recalled` or `concluded`, a conclusion that is kept."""

    effort: str
    mode: str
    score: float
    signals: str = ""
    similarity: float = 0.0
    recency: float = 0.0
    idle: int = 0
    topic: str = ""
    status: str = "open"
    importance: str = "normal"
    summary: str = ""
    conclusion: str = ""
    count: int = 0
    """How many turns it has in all; its first and last turn."""
    first_turn: str = ""
    last_turn: str = ""
    last_at: int = 0
    """When its last turn was said, UTC microseconds; 0 where it has none."""
    turns: list[Turn] = field(default_factory=list)
    """Its last turns, oldest first; only where it is expanded."""


@dataclass(slots=True)
class Note:
    """A note that waits."""

    note: str
    content: str
    priority: float
    opened_at: int
    deadline: int
    source: str = "user"
    turn: str = ""
    question: str = ""
    """What the user was asked when its time ran out; "" while it runs."""


@dataclass(slots=True)
class Material:
    """All that a context is made of, at one position. `now` is the space's clock, UTC microseconds."""

    space: str
    session: str
    position: int
    now: int
    entries: list[Entry] = field(default_factory=list)
    """Most relevant first, open and concluded."""
    notes: list[Note] = field(default_factory=list)
    ambient: list[Turn] = field(default_factory=list)
    """The session's last turns, oldest first."""


class Connection(Protocol):
    """What `gather` needs of a database connection."""

    def execute(self, sql: str, parameters: Any = ...) -> Any:
        """Runs a query; the result has `fetchall`."""
        ...


RAW = 40
"""Turns read per expanded effort, and per exchange of the ambient window: more would not fit the budget."""

_FACTS = " UNION ALL ".join(
    f"SELECT max(e.position) AS position, max(e.at) AS at FROM {table} e WHERE e.space = $space"
    for table in (name.split(".")[0].replace("-", "_") for name in OUTSIDE)
)
_NOW = f"SELECT coalesce(max(f.position), -1), coalesce(epoch_us(max(f.at)), 0) FROM ({_FACTS}) f"
_NEWEST = "SELECT max(c.position) FROM context_scored c WHERE c.space = $space AND c.session = $session"
_SCORED = """
SELECT c.efforts, c.modes, c.scores, c.signals, c.similarities, c.recencies, c.idle
FROM context_scored c WHERE c.space = $space AND c.session = $session AND c.position = $position
ORDER BY c.path DESC LIMIT 1
"""
_OPENED = """
SELECT o.effort, arg_min(o.topic, (o.position, o.path))
FROM effort_opened o WHERE o.space = $space AND o.effort IN ({efforts}) GROUP BY o.effort
"""
_PROGRESSED = """
SELECT max(p.position) FROM effort_progressed p WHERE p.space = $space AND p.effort IN ({efforts}) GROUP BY p.effort
"""
_ABOUT = """
SELECT p.effort, p.topic, p.summary FROM effort_progressed p
WHERE p.space = $space AND p.position IN ({positions}) ORDER BY p.position, p.path
"""
_RATED = """
SELECT r.effort, arg_max(r.importance, (r.position, r.path))
FROM effort_rated r WHERE r.space = $space AND r.effort IN ({efforts}) GROUP BY r.effort
"""
_CONCLUDED = """
SELECT c.effort, arg_max(c.conclusion, (c.position, c.path))
FROM effort_concluded c
ANTI JOIN turn_retracted r ON r.space = c.space AND r.turn = c.turn AND c.pattern <> 'closed'
LEFT JOIN (
    SELECT r.effort, max((r.position, r.path)) AS place
    FROM effort_resumed r WHERE r.space = $space AND r.effort IN ({efforts}) GROUP BY r.effort
) r ON r.effort = c.effort
WHERE c.space = $space AND c.effort IN ({efforts}) AND (r.place IS NULL OR (c.position, c.path) > r.place)
GROUP BY c.effort
"""
_CHANGED = """
WITH moved AS (
    SELECT r.session, r.turn, arg_max(r.effort, (r.position, r.path)) AS effort, false AS gone
    FROM turn_rethreaded r WHERE r.space = $space GROUP BY r.session, r.turn
    UNION ALL SELECT r.session, r.turn, NULL, true FROM turn_retracted r WHERE r.space = $space
), changed AS (
    SELECT m.session, m.turn, max(m.effort) AS effort, bool_or(m.gone) AS gone FROM moved m GROUP BY m.session, m.turn
)
SELECT t.position, coalesce(c.effort, h.effort, ''), c.gone
FROM changed c
JOIN turn_recorded t ON t.space = $space AND t.session = c.session AND t.id = c.turn
LEFT JOIN turn_threaded h ON h.space = $space AND h.position = t.position
"""
_THREADED = f"""
SELECT h.effort, count(*), min(h.position), max(h.position), max(h.position, {RAW}) FROM turn_threaded h
WHERE h.space = $space AND h.effort IN ({{efforts}}) AND h.position NOT IN ({{changed}}) GROUP BY h.effort
"""
_AMBIENT = """
SELECT t.position, t.role FROM turn_recorded t
WHERE t.space = $space AND t.session = $session AND t.position NOT IN ({gone}) ORDER BY t.position DESC LIMIT $count
"""
_TURNS = """
SELECT t.position, t.id, t.role, t.agent, t.content, t.session, epoch_us(t.at), t.tokens, t.parts
FROM turn_recorded t WHERE t.space = $space AND t.position IN ({positions})
"""
_EFFORTS = """
SELECT h.position, h.effort, h.turn, epoch_us(h.at) FROM turn_threaded h
WHERE h.space = $space AND h.position IN ({positions})
"""
_NOTES = """
WITH opened AS (
    SELECT n.* FROM note_opened n WHERE n.space = $space
    QUALIFY row_number() OVER (PARTITION BY n.note ORDER BY n.position DESC, n.path DESC) = 1
), ended AS (
    SELECT e.note, e.position, e.path, e.question FROM note_escalated e WHERE e.space = $space
    UNION ALL SELECT a.note, a.position, a.path, NULL FROM note_archived a WHERE a.space = $space
    UNION ALL SELECT c.note, c.position, c.path, NULL FROM note_closed c WHERE c.space = $space
), last AS (
    SELECT * FROM ended QUALIFY row_number() OVER (PARTITION BY note ORDER BY position DESC, path DESC) = 1
)
SELECT o.note, o.content, o.priority, epoch_us(o.at), epoch_us(o.deadline), o.source, o.turn, coalesce(l.question, '')
FROM opened o LEFT JOIN last l ON l.note = o.note AND (l.position, l.path) >= (o.position, o.path)
WHERE CASE WHEN l.note IS NULL THEN NOT o.historic ELSE l.question IS NOT NULL END ORDER BY o.note
"""


def gather(connection: Connection, space: str, session: str, exchanges: int = 10) -> Material:
    """The material of a session's context, from a memory (or one as of a position or time).

    `exchanges` user turns, and what came between and after them, are the ambient window.
    """
    reader = _Reader(connection, space)
    here = {"session": session}
    position, now = reader.rows(_NOW)[0]
    [(scored,)] = reader.rows(_NEWEST, here)
    entries = []
    if scored is not None:
        [lists] = reader.rows(_SCORED, here | {"position": scored})
        entries = [Entry(*values) for values in zip(*lists, strict=True)]
        reader.describe({entry.effort: entry for entry in entries})
    recent = reader.rows(_AMBIENT, here | {"count": exchanges * RAW}, gone=_listed(reader.gone()))
    ambient = _window(recent, exchanges)
    reader.tell(entries, ambient)
    notes = [Note(*row) for row in reader.rows(_NOTES)]
    return Material(space, session, position, now, entries, notes, [reader.turns[place] for place in sorted(ambient)])


class _Reader:
    """Reads one space. `changed` are its turns that were threaded anew or retracted: few, whatever its length."""

    def __init__(self, connection: Connection, space: str) -> None:
        self.connection = connection
        self.space = space
        self.changed: dict[int, tuple[str, bool]] = {at: (to, gone) for at, to, gone in self.rows(_CHANGED)}
        """By position: the effort now, and whether the turn is gone."""
        self.places: dict[str, list[int]] = {}
        """By effort: the positions of its first, its last and its newest turns."""
        self.turns: dict[int, Turn] = {}

    def rows(self, sql: str, given: dict[str, Any] | None = None, **lists: str) -> list[Any]:
        """What a query finds; `lists` are put into its text."""
        found = self.connection.execute(sql.format(**lists) if lists else sql, {"space": self.space} | (given or {}))
        return list(found.fetchall())

    def gone(self) -> list[int]:
        """Positions of the retracted turns."""
        return [at for at, (_, gone) in self.changed.items() if gone]

    def describe(self, by_id: dict[str, Entry]) -> None:
        """Tells entries what their efforts are about, how they stand and where their turns are."""
        given = {f"e{n}": effort for n, effort in enumerate(by_id)}
        efforts = ", ".join(f"${name}" for name in given)
        if not given:
            return
        for effort, topic in self.rows(_OPENED, given, efforts=efforts):
            by_id[effort].topic = topic
        # Why apart: summaries are long, and of all that an effort ever had only the last one is read.
        last = [place for (place,) in self.rows(_PROGRESSED, given, efforts=efforts)]
        for effort, topic, summary in self.rows(_ABOUT, positions=_listed(last)):
            if effort in by_id:
                by_id[effort].topic, by_id[effort].summary = topic or by_id[effort].topic, summary
        for effort, importance in self.rows(_RATED, given, efforts=efforts):
            by_id[effort].importance = importance
        for effort, conclusion in self.rows(_CONCLUDED, given, efforts=efforts):
            by_id[effort].status, by_id[effort].conclusion = "concluded", conclusion
        threaded = self.rows(_THREADED, given, efforts=efforts, changed=_listed(self.changed))
        for effort, count, first, newest, some in threaded:
            by_id[effort].count, self.places[effort] = count, [first, newest, *some]
        for at, (effort, gone) in self.changed.items():
            if effort in by_id and not gone:
                by_id[effort].count += 1
                known = self.places.get(effort, [at, at])
                some = sorted([*known[2:], at])[-RAW:]
                self.places[effort] = [min(known[0], at), max(known[1], at), *some]

    def tell(self, entries: list[Entry], ambient: list[int]) -> None:
        """Reads the turns at `ambient` and the newest of expanded entries; names the first and last of each entry."""
        newest = {e.effort: self.places.get(e.effort, [])[2:] for e in entries if e.mode == "expanded"}
        shown = sorted({*ambient, *(place for some in newest.values() for place in some)})
        ends = {place for entry in entries for place in self.places.get(entry.effort, [])[:2]}
        if not shown and not ends:
            return
        threaded = {at: rest for at, *rest in self.rows(_EFFORTS, positions=_listed(sorted({*shown, *ends})))}
        for at, id, role, agent, content, session, when, size, parts in self.rows(_TURNS, positions=_listed(shown)):
            effort = self.changed[at][0] if at in self.changed else threaded.get(at, ("",))[0]
            calls = tool_calls(parts or "[]")
            self.turns[at] = Turn(id, role, agent, content, effort, session, at, when, size or 0, calls)
        for entry in entries:
            if places := self.places.get(entry.effort):
                entry.first_turn, entry.last_turn = threaded[places[0]][1], threaded[places[1]][1]
                entry.last_at = threaded[places[1]][2]
                entry.turns = [self.turns[place] for place in sorted(newest.get(entry.effort, []))]


def _listed(positions: Iterable[int]) -> str:
    """Positions as SQL writes them; one that is none, where there are none."""
    return ", ".join(map(str, positions)) or "-1"


def _window(recent: Sequence[tuple[int, str]], exchanges: int) -> list[int]:
    """Of the newest turns' (position, role), newest first: positions back to the last user turn but `exchanges` - 1."""
    users, window = 0, []
    for place, role in recent:
        window.append(place)
        users += role == "user"
        if users == exchanges and role == "user":
            break
    return window


def tool_calls(parts: str) -> list[str]:
    """Names of the tools that a turn's parts (JSON) call; parts of other shapes are passed over."""
    if len(parts) < 3:
        return []
    found = []
    for part in orjson.loads(parts):
        function = part.get("function")
        name = function.get("name") if isinstance(function, dict) else None
        if part.get("type") in ("tool_use", "tool_call"):
            name = name or part.get("name")
        if isinstance(name, str) and name:
            found.append(name)
    return found
