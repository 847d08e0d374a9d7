"""What differs between two memories of one log: counts side by side, every table that differs, and examples to look at.

Only what both memories can have is compared and counted: spaces of both, up to where the one that ends earlier ends (a
replay may end earlier, or hold fewer spaces); how many turns each has in all is told first. Tables are compared row by
row, so that no difference goes unseen, and parameters by name, those of asking among them. What a difference means is
told by mechanisms, in files `differences.sql` beside them:

    -- load: efforts                      the rows of a query, run in each memory, are l_efforts and r_efforts below
    -- prepare: match, which is which     statements that make tables and views out of what was loaded
    -- count: efforts                     asked of each memory: one row, whose column names say what is counted;
                                          `<tokens>` stands for the named analysis of that name
    -- difference: efforts | in left only      asked of what was loaded: one number, how many differ or their share
    -- example: efforts | in left only         rows of (space, session, turn, left, right, text), the most telling
                                               first; text NULL: the turn's own

Files are run in the order of the registry, so that a mechanism uses what those that it reads have prepared.

What is computed when it is read (activation, retention, traces, confidence) is computed for a sample of the turns, in
each memory from its own records with the parameters it was folded with, at the last moment of each space.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import orjson

from projections.alive import LATER, Sampled, alive, clocks, readings_of, sampled
from projections.analyses import Analysis, analyses
from projections.as_of import narrowed
from projections.asking import asking
from projections.store import ABSENT, Connection, columns_of, connect, read_meta, registered
from projections.stored import TableRows, ends, table_rows
from streams.core.params import apart
from streams.core.patterns import lazily
from streams.core.processor import Processor

EXAMPLES = 5
"""Of each kind."""
EXCERPT = 80
"""Characters of a text in an example."""
SAMPLE = 2_000
"""Turns of which is computed how alive they are: a mean of so many is sure to a hundredth."""
Row = dict[str, Any]
BASE = Path(__file__).with_name("differences.sql")
_PART = lazily(r"^-- (load|prepare|count|difference|example): ([^|\n]*?)(?: \| (.*))?\n", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Measure:
    """One line of the table."""

    about: str
    """efforts, contexts, tokens, links, escalations, segments, conclusions, memories, ..., or a table."""
    what: str
    left: float | None
    """None where the line counts differences."""
    right: float | None
    differs: float
    """right - left; or how many differ, or their share."""


@dataclass(frozen=True, slots=True)
class Example:
    """One difference: a turn to look at, and what each memory says there."""

    about: str
    what: str
    space: str
    session: str
    turn: str
    left: str
    right: str
    text: str
    left_row: Row | None = None
    """Of a row of a table: all that it holds that differs, for machines."""
    right_row: Row | None = None


@dataclass(slots=True)
class Diff:
    """How two memories differ."""

    left: str
    right: str
    rows: list[Measure] = field(default_factory=list)
    examples: list[Example] = field(default_factory=list)

    @property
    def same(self) -> bool:
        """Whether nothing was found to differ."""
        return not any(row.differs for row in self.rows)

    def to_json(self) -> dict[str, Any]:
        """As JSON values."""
        return asdict(self) | {"same": self.same}


def compare(
    left: Connection,
    right: Connection,
    names: tuple[str, str] = ("left", "right"),
    examples: int = EXAMPLES,
    processors: Sequence[Processor[Any]] = (),
) -> Diff:
    """What differs between two memories, each given by a connection (or a cursor as of some position)."""
    scratch = connect(None)
    diff = Diff(*names)
    comparison = _Comparison(scratch, left, right, diff, examples, analyses(processors))
    try:
        comparison.run(BASE.read_text("utf-8"))
        with comparison.of_both():
            for processor in processors:
                with comparison.known(processor.name):
                    comparison.run(processor.read_model.differences)
        comparison.parameters(processors)
        with comparison.known("memories"):
            remembered = _Alive(scratch, (left, right), processors)
            diff.rows += remembered.rows()
            diff.examples += remembered.examples(examples)
        order = list(dict.fromkeys(row.about for row in diff.rows))
        diff.rows.sort(key=lambda row: order.index(row.about))
        comparison.tables()
    finally:
        scratch.close()
    return diff


def parts(text: str) -> Iterator[tuple[str, str, str, str]]:
    """The (kind, about, what, SQL) of each part of a `differences.sql`."""
    found = list(_PART.finditer(text))
    stops = [*(part.start() for part in found[1:]), len(text)]
    for part, stop in zip(found, stops, strict=False):
        sql = text[part.end() : stop]
        yield part[1], part[2].strip(), (part[3] or "").strip(), sql.strip()


@dataclass
class _Comparison:
    """Two memories, and the scratch connection in which they meet."""

    scratch: Connection
    left: Connection
    right: Connection
    diff: Diff
    examples: int
    analyses: dict[str, Analysis]

    @contextmanager
    def known(self, about: str) -> Iterator[None]:
        """Where one memory was folded by a version that has not what is compared, that is all that is told of it."""
        try:
            yield
        except ABSENT:
            self.diff.rows.append(Measure(about, "is another version's", None, None, 1))

    @cached_property
    def scope(self) -> dict[str, int]:
        """The last offset that both memories have of each space of both."""
        other = ends(self.right)
        return {space: min(end, other[space]) for space, end in ends(self.left).items() if space in other}

    @contextmanager
    def of_both(self) -> Iterator[None]:
        """Within it, both memories hold what both can have. Why not always: where that is all, it costs for nothing."""
        whole = self.left, self.right
        if all(ends(side) == self.scope for side in whole):
            yield
            return
        self.left, self.right = (narrowed(side, self.scope) for side in whole)
        try:
            yield
        finally:
            self.left.close()
            self.right.close()
            self.left, self.right = whole

    def run(self, text: str) -> None:
        """Carries out a `differences.sql`."""
        rows, examples = self.diff.rows, self.diff.examples
        for kind, about, what, sql in parts(text):
            match kind:
                case "load":
                    self._load(about, sql)
                case "prepare":
                    self.scratch.execute(sql)
                case "count":
                    rows += self._counted(about, self._with_analyses(sql))
                case "difference":
                    rows.append(Measure(about, what, None, None, _numbers(self.scratch, sql)["differs"]))
                case "example":
                    found = self.scratch.execute(f"{sql} LIMIT ?", [self.examples]).fetchall()
                    examples += [self._example(about, what, row) for row in found]

    def _load(self, name: str, sql: str) -> None:
        """Copies what is compared into tables of the scratch connection, as columns.

        Why a query first: sql() refuses a connection on which someone left a result half read; execute() ends that.
        """
        for side, memory in (("l", self.left), ("r", self.right)):
            memory.execute("SELECT 1").fetchall()
            with registered(self.scratch, "incoming", columns_of(memory, sql)):
                self.scratch.execute(f"CREATE TABLE {side}_{name} AS SELECT * FROM incoming")

    def _with_analyses(self, sql: str) -> str:
        return re.sub(r"<(\w+)>", lambda name: f"(\n{self.analyses[name[1]].with_defaults()}\n)", sql)

    def _counted(self, about: str, sql: str) -> Iterator[Measure]:
        one, other = _numbers(self.left, sql, named=True), _numbers(self.right, sql, named=True)
        for what in one:
            yield Measure(about, what, one[what], other[what], round(other[what] - one[what], 6))

    def _example(self, about: str, what: str, row: Sequence[Any]) -> Example:
        space, session, turn, one, other, text = row
        if text is None:
            text = _excerpt(self.left, space, turn) or _excerpt(self.right, space, turn)
        return Example(about, what, space, session or "", turn or "", _clip(one or ""), _clip(other or ""), _clip(text))

    def parameters(self, processors: Iterable[Processor[Any]]) -> None:
        """Finds the parameters that differ, those of asking, too: rows may be the same where what is shown of them is
        not."""
        asked = {of: kind().plain() for of, kind in asking(processors).items()}  # what a memory does not tell of it
        told = [read_meta(side, "params") for side in (self.left, self.right)]
        sides = [{} if one == "None" else orjson.loads(one) for one in told]
        sides = [side | {of: params | side.get(of, {}) for of, params in asked.items()} for side in sides]
        lefts, rights = ({f"{of}.{name}": v for of, all_ in side.items() for name, v in all_.items()} for side in sides)
        differing = [name for name in lefts | rights if lefts.get(name) != rights.get(name)]
        self.diff.rows.append(Measure("parameters", "differ", None, None, len(differing)))
        for name in differing[: self.examples]:
            if name in lefts and name in rights:
                one, other = (_clip(_value(value)) for value in apart(lefts[name], rights[name]))
            else:
                one, other = (_clip(_value(side[name])) if name in side else "" for side in (lefts, rights))
            self.diff.examples.append(Example("parameters", "parameter differs", "", "", "", one, other, name))

    def tables(self) -> None:
        """Finds the tables that differ, a line for each, with examples of the rows that one memory alone has."""
        lefts, rights = ({rows.name: rows for rows in table_rows(side, self.scope)} for side in (self.left, self.right))
        for name in sorted(lefts.keys() ^ rights.keys()):
            sides = int(name in lefts), int(name in rights)
            self.diff.rows.append(Measure(name, "tables", *sides, 1))
        for name in sorted(lefts.keys() & rights.keys()):
            left, right = lefts[name], rights[name]
            only = (left.only(right), right.only(left))
            if any(only):
                rows = [sum(found.values()) for found in only]
                self.diff.rows.append(Measure(left.name, "rows in one only", rows[0], rows[1], sum(rows)))
                self.diff.examples += self._rows_of(left, right, only)

    def _rows_of(self, left: TableRows, right: TableRows, only: Sequence[dict[int, int]]) -> Iterator[Example]:
        """Examples of the rows of one table that one memory alone has: what differs, of two at one place; else all."""
        both = ((left, only[0]), (right, only[1]))
        at = [row["position"] for side, found in both for row in side.rows(list(found)[: self.examples])]
        lefts, rights = (side.rows(list(found), at) for side, found in both)
        told = Counter[str]()
        for one, other in _paired(lefts, rights):
            what = "row differs" if one and other else f"row in {'left' if one else 'right'} only"
            told[what] += 1
            if told[what] > self.examples:
                continue
            row = one or other
            says, says_there = (one or {}).get("row", {}), (other or {}).get("row", {})
            differing = [name for name in says | says_there if says.get(name) != says_there.get(name)]
            turn = says.get("turn") or says_there.get("turn") or ""
            words = _clip(_excerpt(self.left, row["space"], turn) or _excerpt(self.right, row["space"], turn))
            place = f"{left.name}, position {row['position']}"
            yield Example(
                left.name, what, row["space"], row["session"], turn, _columns(says, differing),
                _columns(says_there, differing), f"{place}: {words}" if words else place,
                *({name: of[name] for name in differing if name in of} or None for of in (says, says_there)),
            )  # fmt: skip


def _paired(lefts: Sequence[Row], rights: Sequence[Row]) -> Iterator[tuple[Row, Row]]:
    """Rows that two memories have at one place of the log, the most alike together; an empty one beside each other."""
    left_over = list(rights)
    for one in lefts:
        there = [row for row in left_over if (row["space"], row["position"]) == (one["space"], one["position"])]
        alike = [sum(value == row["row"].get(name) for name, value in one["row"].items()) for row in there]
        other = there[alike.index(max(alike))] if there else {}
        if other:
            left_over.remove(other)
        yield one, other
    yield from (({}, other) for other in left_over)


def _columns(row: Row, names: Sequence[str]) -> str:
    """Columns of a row with their values, as people read them: what is empty, where the row stands and ids of what was
    derived tell them nothing, where anything else does."""
    told = {name: row[name] for name in names if name in row}
    plain = {
        name: value
        for name, value in told.items()
        if name not in _PLACE
        and value not in ("", None, [], {})
        and not (isinstance(value, str) and _ID.fullmatch(value))
    }
    return ", ".join(f"{name}: {_value(value)}" for name, value in (plain or told).items())


_PLACE = {"space", "session", "turn", "at"}
"""Columns that tell where a row stands, which is told beside it."""
_ID = lazily(r"[a-z]+-[0-9a-f]{16}")


def _value(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return " ".join(value)
    return orjson.dumps(value).decode()


def _excerpt(memory: Connection, space: str, turn: str | None) -> str:
    """What a turn says."""
    found = memory.execute("SELECT content FROM turn_recorded WHERE space = ? AND id = ?", [space, turn]).fetchall()
    return str(found[0][0]) if found else ""


def _clip(text: str) -> str:
    words = " ".join(text[: 4 * EXCERPT].split())
    return words if len(words) <= EXCERPT else words[: EXCERPT - 1] + "…"


def _numbers(connection: Connection, sql: str, named: bool = False) -> dict[str, float]:
    """The one row of numbers that a query finds, by column name, or its only number as `differs`."""
    result = connection.execute(sql)
    names = [column[0] for column in result.description or []] if named else ["differs"]
    (row,) = result.fetchall()
    values = [0 if value is None else value if isinstance(value, int) else round(float(value), 6) for value in row]
    return dict(zip(names, values, strict=True))


class _Alive:
    """How alive a sample of turns is in both memories."""

    def __init__(self, scratch: Connection, sides: Sequence[Connection], processors: Sequence[Processor[Any]]) -> None:
        readings = [readings_of(side, processors) for side in sides]
        self._mechanisms = [len(some.keeping) for some in readings]
        self._turns: list[Sampled] = []
        self._found: list[list[dict[str, float]]] = []
        """What is measured, by side, in the order of the turns."""
        if any(self._mechanisms):
            self._turns = sampled(sides[0], scratch.execute(_SAMPLED, {"most": SAMPLE}).fetchall())
            one, other = map(clocks, sides)
            now = {space: max(at, other.get(space, at)) for space, at in one.items()}
            self._found = [list(alive(*side, self._turns, now)) for side in zip(sides, readings, strict=True)]

    def rows(self) -> list[Measure]:
        """How many mechanisms there are, and the mean of what they measure where both memories have them."""
        if not self._turns:
            return []
        left, right = self._mechanisms
        rows = [Measure("memories", "mechanisms", left, right, right - left)]
        for name, what in _MEASURED.items():
            one, other = ([found[name] for found in side if name in found] for side in self._found)
            if one and other:
                means = round(sum(one) / len(one), 6), round(sum(other) / len(other), 6)
                rows.append(Measure("memories", what, *means, round(means[1] - means[0], 6)))
        return rows

    def examples(self, most: int) -> list[Example]:
        """Turns that are forgotten in one memory and kept in the other; those first that are kept best."""
        examples: list[Example] = []
        for side, name in enumerate(("left", "right") if self._found else ()):
            pairs = zip(self._turns, self._found[side], self._found[1 - side], strict=True)
            gone = [(turn, kept) for turn, lost, kept in pairs if lost.get("forgotten") and kept.get("forgotten") == 0]
            gone.sort(key=lambda one: -one[1].get("retention", 0.0))
            for turn, kept in gone[:most]:
                said = ["forgotten", f"kept, retention {kept.get('retention', 0.0):.2f}"][:: -1 if side else 1]
                place = (turn.space, turn.session, turn.memory.id)
                examples.append(
                    Example("memories", f"forgotten in {name} only", *place, said[0], said[1], _clip(turn.content))
                )
        return examples


_SAMPLED = """SELECT space, turn_id FROM (
    SELECT
        s.space, s.turn_id, row_number() OVER (ORDER BY s.space, s.position, s.turn_id) - 1 AS n,
        count(*) OVER () AS total
    FROM shared s WHERE NOT s.retracted
) WHERE n * $most % total < $most ORDER BY n"""
"""Turns that both have and nobody took back, evenly spread over all of them."""

_MEASURED = {
    "activation": "mean activation",
    "retention": "mean retention",
    "later": f"mean retention, {LATER} days on",
    "slow": "mean slow trace",
    "confidence": "mean confidence",
    "forgotten": "forgotten, share",
}
"""What is said of each measure (see projections/alive)."""
