"""What differs between two memories of one log: counts side by side, and examples to look at.

Turns are the same in both, so everything is compared by turns. Efforts are matched one to one by the turns they share,
most first; what is said of efforts in one memory is then put in terms of the other's. Only turns that both memories
have are compared (a replay may end earlier, or hold fewer spaces); counts say how many each has.

What is computed when it is read (activation, retention, traces, confidence) is computed for a sample of the turns, in
each memory from its own records with the parameters it was folded with, at the last moment of each space.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from projections.alive import LATER, Sampled, alive, clocks, readings_of, sampled
from projections.analyses import analysis
from projections.store import Connection, connect
from streams.processor import Processor

EXAMPLES = 5
"""Of each kind."""
EXCERPT = 80
"""Characters of a text in an example."""
SAMPLE = 2_000
"""Turns of which is computed how alive they are: a mean of so many is sure to a hundredth."""


@dataclass(frozen=True, slots=True)
class Measure:
    """One line of the table."""

    about: str
    """efforts, contexts, tokens, links, escalations, segments, conclusions, memories, ..."""
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
    """What differs between two memories, each given by a connection (or a cursor as of some position).

    `processors` are those whose readings say how alive memories are; without them that is not compared.
    """
    scratch = connect(None)
    diff = Diff(*names)
    try:
        _load(scratch, left, "l")
        _load(scratch, right, "r")
        _match(scratch)
        scratch.execute(_DERIVED)
        for about, view, asked in _COUNTS:
            sql = f"SELECT {', '.join(expression for _, expression in asked)} FROM {view}"
            for (what, _), one, other in zip(asked, _numbers(left, sql), _numbers(right, sql), strict=True):
                diff.rows.append(Measure(about, what, one, other, round(other - one, 6)))
        for about, what, sql in _DIFFERENCES:
            diff.rows += [Measure(about, what, None, None, differs) for differs in _numbers(scratch, sql)]
        remembered = _Alive(scratch, (left, right), processors)
        diff.rows += remembered.rows()
        order = list(dict.fromkeys(row.about for row in diff.rows))
        diff.rows.sort(key=lambda row: order.index(row.about))
        for about, what, sql in _EXAMPLES:
            found = scratch.execute(sql + " LIMIT ?", [examples]).fetchall()
            diff.examples += [_example(about, what, row, left, right) for row in found]
        diff.examples += remembered.examples(examples)
    finally:
        scratch.close()
    return diff


def _example(about: str, what: str, row: Sequence[Any], left: Connection, right: Connection) -> Example:
    space, session, turn, one, other, text = row
    if text is None:
        text = _excerpt(left, space, turn) or _excerpt(right, space, turn)
    return Example(about, what, space, session or "", turn or "", _clip(one or ""), _clip(other or ""), _clip(text))


def _excerpt(memory: Connection, space: str, turn: str | None) -> str:
    """What a turn says."""
    found = memory.execute("SELECT content FROM turn_recorded WHERE space = ? AND id = ?", [space, turn]).fetchall()
    return str(found[0][0]) if found else ""


def _clip(text: str) -> str:
    words = " ".join(text[: 4 * EXCERPT].split())
    return words if len(words) <= EXCERPT else words[: EXCERPT - 1] + "…"


def _numbers(connection: Connection, sql: str) -> list[float]:
    (row,) = connection.execute(sql).fetchall()
    return [0 if value is None else value if isinstance(value, int) else round(float(value), 6) for value in row]


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
                place = (turn.space, turn.session, turn.memory.turn)
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

_LOADS = {
    "turns": """SELECT t.space, t.session, t.turn_id, t.position, t.effort, t.retracted,
            list_sort(coalesce(c.efforts, [])) AS context
        FROM turns t LEFT JOIN (
            SELECT x.space, x.position, arg_max(x.efforts, x.path) AS efforts FROM context_scored x
            GROUP BY x.space, x.position
        ) c ON c.position = t.position AND c.space = t.space""",
    "efforts": "SELECT space, effort, topic, status, first_turn, first_position, turns FROM efforts",
    "links": "SELECT space, first, second, strength FROM links",
    "escalations": """SELECT e.space, e.session, e.note, any_value(e.question) AS question, coalesce(n.turn, '') AS turn
        FROM escalations e LEFT JOIN notes n ON n.space = e.space AND n.note = e.note GROUP BY ALL""",
    "segments": "SELECT space, session, segment, first_turn, first_position, summary FROM segments",
    "conclusions": "SELECT space, session, turn_id, position, pattern, text FROM conclusions",
    "replaced": """SELECT b.space, b.session, b.turn_id, b.position, b.subject, b.attribute, b.replaced_by, n.content
        FROM beliefs b LEFT JOIN turn_recorded n ON n.space = b.space AND n.id = b.replaced_by WHERE NOT b.current""",
}


def _load(scratch: Connection, memory: Connection, side: str) -> None:
    """Copies what is compared into tables of the scratch connection, as columns.

    Why a query first: sql() refuses a connection on which someone left a result half read; execute() ends that result.
    """
    memory.execute("SELECT 1").fetchall()
    for name, sql in _LOADS.items():
        scratch.register("incoming", memory.sql(sql).to_arrow_reader())
        scratch.execute(f"CREATE TABLE {side}_{name} AS SELECT * FROM incoming")
        scratch.unregister("incoming")


def _match(scratch: Connection) -> None:
    """Tables `shared` (turns of both) and `match` (space, l, r, n): efforts one to one by the turns they share.

    Most shared turns first; among equals those that begin with the same turn, then by id. Each effort once.
    """
    scratch.execute(
        """CREATE TABLE shared AS
        SELECT l.space, l.session, l.turn_id, l.position, l.retracted OR r.retracted AS retracted,
            l.effort AS l_effort, r.effort AS r_effort, l.context AS l_context, r.context AS r_context
        FROM l_turns l JOIN r_turns r ON r.space = l.space AND r.turn_id = l.turn_id"""
    )
    overlaps = scratch.execute(
        """SELECT s.space, s.l_effort, s.r_effort, count(*) AS n,
            coalesce(any_value(l.first_turn) = any_value(r.first_turn), false) AS begins
        FROM shared s
        LEFT JOIN l_efforts l ON l.space = s.space AND l.effort = s.l_effort
        LEFT JOIN r_efforts r ON r.space = s.space AND r.effort = s.r_effort
        WHERE s.l_effort IS NOT NULL AND s.r_effort IS NOT NULL
        GROUP BY s.space, s.l_effort, s.r_effort
        ORDER BY n DESC, begins DESC, s.space, s.l_effort, s.r_effort"""
    ).fetchall()
    lefts: set[tuple[str, str]] = set()
    rights: set[tuple[str, str]] = set()
    matched: list[Sequence[object]] = []
    for space, left, right, n, _ in overlaps:
        if (space, left) not in lefts and (space, right) not in rights:
            lefts.add((space, left))
            rights.add((space, right))
            matched.append((space, left, right, n))
    columns: tuple[list[object], ...] = ([], [], [], [])
    for row in matched:
        for column, value in zip(columns, row, strict=True):
            column.append(value)
    scratch.execute("CREATE TABLE match (space VARCHAR, l VARCHAR, r VARCHAR, n BIGINT)")
    scratch.execute(
        "INSERT INTO match SELECT unnest(?::VARCHAR[]), unnest(?::VARCHAR[]), unnest(?::VARCHAR[]), "
        "unnest(?::BIGINT[])",
        list(columns),
    )


_DERIVED = """
CREATE VIEW l_only AS SELECT e.* FROM l_efforts e ANTI JOIN match m ON m.space = e.space AND m.l = e.effort;
CREATE VIEW r_only AS SELECT e.* FROM r_efforts e ANTI JOIN match m ON m.space = e.space AND m.r = e.effort;
CREATE VIEW paired AS
    SELECT m.space, m.l, m.r, m.n, l.topic, l.first_turn, l.first_position, l.status AS l_status, r.status AS r_status,
        m.n = l.all_turns AND m.n = r.all_turns AS same
    FROM match m
    JOIN (SELECT e.*, c.n AS all_turns FROM l_efforts e JOIN (
            SELECT space, l_effort AS effort, count(*) AS n FROM shared GROUP BY ALL) c USING (space, effort)) l
        ON l.space = m.space AND l.effort = m.l
    JOIN (SELECT e.*, c.n AS all_turns FROM r_efforts e JOIN (
            SELECT space, r_effort AS effort, count(*) AS n FROM shared GROUP BY ALL) c USING (space, effort)) r
        ON r.space = m.space AND r.effort = m.r;
CREATE VIEW moved AS
    SELECT s.* FROM shared s LEFT JOIN match m ON m.space = s.space AND m.l = s.l_effort
    WHERE m.r IS DISTINCT FROM s.r_effort OR (s.l_effort IS NULL) <> (s.r_effort IS NULL);
CREATE TABLE unequal AS
    SELECT u.*, [e FOR e IN u.l_context IF NOT list_contains(u.r_context, e)] AS l_has,
        [e FOR e IN u.r_context IF NOT list_contains(u.l_context, e)] AS r_has
    FROM (
        SELECT x.space, x.session, x.position, x.turn_id, any_value(x.l_context) AS l_context,
            coalesce(list_sort(list(coalesce(m.l, x.effort)) FILTER (x.effort IS NOT NULL)), []) AS r_context
        FROM (
            SELECT s.*, unnest(s.r_context || [NULL]) AS effort FROM shared s WHERE s.l_context <> s.r_context
        ) x
        LEFT JOIN match m ON m.space = x.space AND m.r = x.effort
        GROUP BY x.space, x.session, x.position, x.turn_id
    ) u WHERE u.l_context <> u.r_context;
CREATE VIEW l_begins AS
    SELECT l.* FROM l_segments l SEMI JOIN shared s ON s.space = l.space AND s.turn_id = l.first_turn
    ANTI JOIN r_segments r ON r.space = l.space AND r.first_turn = l.first_turn;
CREATE VIEW r_begins AS
    SELECT r.* FROM r_segments r SEMI JOIN shared s ON s.space = r.space AND s.turn_id = r.first_turn
    ANTI JOIN l_segments l ON l.space = r.space AND l.first_turn = r.first_turn;
CREATE VIEW l_links_only AS
    SELECT k.* FROM l_links k
    LEFT JOIN match a ON a.space = k.space AND a.l = k.first LEFT JOIN match b ON b.space = k.space AND b.l = k.second
    ANTI JOIN r_links o ON o.space = k.space AND o.first = least(a.r, b.r) AND o.second = greatest(a.r, b.r);
CREATE VIEW r_links_only AS
    SELECT k.* FROM r_links k
    LEFT JOIN match a ON a.space = k.space AND a.r = k.first LEFT JOIN match b ON b.space = k.space AND b.r = k.second
    ANTI JOIN l_links o ON o.space = k.space AND o.first = least(a.l, b.l) AND o.second = greatest(a.l, b.l);
CREATE VIEW l_escalations_only AS
    SELECT e.* FROM l_escalations e ANTI JOIN r_escalations o ON o.space = e.space AND o.note = e.note;
CREATE VIEW r_escalations_only AS
    SELECT e.* FROM r_escalations e ANTI JOIN l_escalations o ON o.space = e.space AND o.note = e.note;
CREATE VIEW l_conclusions_only AS
    SELECT c.* FROM l_conclusions c SEMI JOIN shared s ON s.space = c.space AND s.turn_id = c.turn_id
    ANTI JOIN r_conclusions o ON o.space = c.space AND o.turn_id = c.turn_id AND o.pattern = c.pattern;
CREATE VIEW r_conclusions_only AS
    SELECT c.* FROM r_conclusions c SEMI JOIN shared s ON s.space = c.space AND s.turn_id = c.turn_id
    ANTI JOIN l_conclusions o ON o.space = c.space AND o.turn_id = c.turn_id AND o.pattern = c.pattern;
CREATE VIEW l_replaced_only AS
    SELECT b.* FROM l_replaced b SEMI JOIN shared s ON s.space = b.space AND s.turn_id = b.turn_id
    ANTI JOIN r_replaced o USING (space, turn_id, subject, attribute, replaced_by);
CREATE VIEW r_replaced_only AS
    SELECT b.* FROM r_replaced b SEMI JOIN shared s ON s.space = b.space AND s.turn_id = b.turn_id
    ANTI JOIN l_replaced o USING (space, turn_id, subject, attribute, replaced_by);
"""

_TOKENS = re.sub(
    r"\$\w+",
    lambda name: {"$space": "''", "$session": "''", "$every": "10", "$budget": "4000"}[name[0]],
    analysis("tokens").sql,
)
"""The named analysis, as part of a statement."""

_COUNTS: tuple[tuple[str, str, tuple[tuple[str, str], ...]], ...] = (
    ("turns", "turn_recorded", (("turns", "count(*)"),)),
    (
        "segments",
        "segments",
        (
            ("segments", "count(*)"),
            ("mean turns", "avg(turns)"),
            ("concluded", "count(*) FILTER (status = 'concluded')"),
        ),
    ),
    (
        "efforts",
        "efforts",
        (
            ("efforts", "count(*)"),
            ("open", "count(*) FILTER (status = 'open')"),
            ("concluded", "count(*) FILTER (status = 'concluded')"),
            ("reopened", "sum(reopened)::BIGINT"),
        ),
    ),
    ("contexts", "context_scored", (("mean entries", "avg(len(efforts))"),)),
    (
        "contexts",
        "context_changes",
        (("changes", "count(*)"), ("displaced", "count(*) FILTER (change = 'left' AND other IS NOT NULL)")),
    ),
    (
        "tokens",
        f"(\n{_TOKENS}\n)",
        (
            ("mean context", "avg(context_tokens)"),
            ("largest context", "max(context_tokens)"),
        ),
    ),
    ("links", "coactivations", (("pairs", "count(*)"),)),
    ("links", "links", (("links", "count(*)"), ("mean strength", "avg(strength)"))),
    ("escalations", "notes", (("notes", "count(*)"), ("archived", "count(*) FILTER (status = 'archived')"))),
    ("escalations", "escalations", (("escalated", "count(*)"),)),
    ("conclusions", "conclusions", (("conclusions", "count(*)"),)),
    ("conclusions", "offers", (("offers", "count(*)"), ("open offers", "count(*) FILTER (status = 'open')"))),
    ("conclusions", "artifacts", (("artifacts", "count(*)"),)),
    ("beliefs", "beliefs", (("statements", "count(*)"), ("replaced", "count(*) FILTER (NOT current)"))),
    ("associations", "associations", (("pairs", "count(*)"), ("mean strength", "avg(strength)"))),
    ("consolidations", "consolidation_ran", (("runs", "count(*)"), ("replays", "sum(fresh + week + older)::BIGINT"))),
    ("memories", "working_memory_changed", (("mean at hand", "avg(len(items))"),)),
)
"""Asked of each memory: what it is about, the view, and (what, expression)."""

_DIFFERENCES = (
    (
        "turns",
        "in one only",
        "SELECT (SELECT count(*) FROM l_turns) + (SELECT count(*) FROM r_turns) - 2 * count(*) FROM shared",
    ),
    ("segments", "begin in one only", "SELECT (SELECT count(*) FROM l_begins) + (SELECT count(*) FROM r_begins)"),
    ("efforts", "in left only", "SELECT count(*) FROM l_only"),
    ("efforts", "in right only", "SELECT count(*) FROM r_only"),
    ("efforts", "with other turns", "SELECT count(*) FROM paired WHERE NOT same"),
    ("efforts", "concluded in one only", "SELECT count(*) FROM paired WHERE l_status <> r_status"),
    ("efforts", "turns elsewhere, share", "SELECT count(*) / greatest((SELECT count(*) FROM shared), 1) FROM moved"),
    (
        "contexts",
        "other efforts, share of turns",
        "SELECT count(*) / greatest((SELECT count(*) FROM shared), 1) FROM unequal",
    ),
    ("links", "in left only", "SELECT count(*) FROM l_links_only"),
    ("links", "in right only", "SELECT count(*) FROM r_links_only"),
    ("escalations", "in left only", "SELECT count(*) FROM l_escalations_only"),
    ("escalations", "in right only", "SELECT count(*) FROM r_escalations_only"),
    ("conclusions", "in left only", "SELECT count(*) FROM l_conclusions_only"),
    ("conclusions", "in right only", "SELECT count(*) FROM r_conclusions_only"),
    ("beliefs", "replaced in left only", "SELECT count(*) FROM l_replaced_only"),
    ("beliefs", "replaced in right only", "SELECT count(*) FROM r_replaced_only"),
)
"""Asked of what was loaded from both."""

_TOPICS = """(SELECT string_agg(coalesce(e.topic, x.id), ' | ' ORDER BY x.id) FROM (SELECT unnest({has}) AS id) x
    LEFT JOIN (SELECT space, effort, topic FROM l_efforts UNION ALL SELECT space, effort, topic FROM r_only) e
    ON e.space = u.space AND e.effort = x.id)"""

_EXAMPLES = (
    (
        "contexts", "only in one's context, from this turn on",
        f"""SELECT u.space, u.session, u.turn_id, {_TOPICS.format(has="u.l_has")}, {_TOPICS.format(has="u.r_has")}, NULL
        FROM unequal u
        QUALIFY row_number() OVER (PARTITION BY u.space, u.session, u.l_has, u.r_has ORDER BY u.position) = 1
        ORDER BY u.space, u.position""",
    ),
    (
        "efforts", "in left only",
        """SELECT e.space, s.session, e.first_turn, e.topic, '', NULL FROM l_only e
        LEFT JOIN l_turns s ON s.space = e.space AND s.turn_id = e.first_turn
        ORDER BY e.turns DESC, e.space, e.effort""",
    ),
    (
        "efforts", "in right only",
        """SELECT e.space, s.session, e.first_turn, '', e.topic, NULL FROM r_only e
        LEFT JOIN r_turns s ON s.space = e.space AND s.turn_id = e.first_turn
        ORDER BY e.turns DESC, e.space, e.effort""",
    ),
    (
        "efforts", "concluded in one only",
        """SELECT p.space, s.session, p.first_turn, p.l_status, p.r_status, p.topic FROM paired p
        LEFT JOIN l_turns s ON s.space = p.space AND s.turn_id = p.first_turn
        WHERE p.l_status <> p.r_status ORDER BY p.space, p.first_position""",
    ),
    (
        "efforts", "turn elsewhere",
        """SELECT s.space, s.session, s.turn_id, coalesce(l.topic, 'none'), coalesce(r.topic, 'none'), NULL FROM moved s
        LEFT JOIN l_efforts l ON l.space = s.space AND l.effort = s.l_effort
        LEFT JOIN r_efforts r ON r.space = s.space AND r.effort = s.r_effort ORDER BY s.space, s.position""",
    ),
    (
        "segments", "begins in left only",
        """SELECT b.space, b.session, b.first_turn, b.summary, '', NULL FROM l_begins b
        ORDER BY b.space, b.first_position""",
    ),
    (
        "segments", "begins in right only",
        """SELECT b.space, b.session, b.first_turn, '', b.summary, NULL FROM r_begins b
        ORDER BY b.space, b.first_position""",
    ),
    (
        "links", "in left only",
        """SELECT k.space, '', a.first_turn, a.topic || ' + ' || b.topic, '', '' FROM l_links_only k
        JOIN l_efforts a ON a.space = k.space AND a.effort = k.first
        JOIN l_efforts b ON b.space = k.space AND b.effort = k.second
        ORDER BY k.strength DESC, k.space, k.first, k.second""",
    ),
    (
        "links", "in right only",
        """SELECT k.space, '', a.first_turn, '', a.topic || ' + ' || b.topic, '' FROM r_links_only k
        JOIN r_efforts a ON a.space = k.space AND a.effort = k.first
        JOIN r_efforts b ON b.space = k.space AND b.effort = k.second
        ORDER BY k.strength DESC, k.space, k.first, k.second""",
    ),
    (
        "escalations", "in left only",
        "SELECT e.space, e.session, e.turn, e.question, '', e.note FROM l_escalations_only e ORDER BY e.space, e.note",
    ),
    (
        "escalations", "in right only",
        "SELECT e.space, e.session, e.turn, '', e.question, e.note FROM r_escalations_only e ORDER BY e.space, e.note",
    ),
    (
        "conclusions", "in left only",
        """SELECT c.space, c.session, c.turn_id, c.pattern, '', c.text FROM l_conclusions_only c
        ORDER BY c.space, c.position, c.pattern""",
    ),
    (
        "conclusions", "in right only",
        """SELECT c.space, c.session, c.turn_id, '', c.pattern, c.text FROM r_conclusions_only c
        ORDER BY c.space, c.position, c.pattern""",
    ),
    (
        "beliefs", "replaced in left only",
        """SELECT b.space, b.session, b.turn_id, 'by ' || b.replaced_by || ': ' || coalesce(b.content, ''), '', NULL
        FROM l_replaced_only b ORDER BY b.space, b.position, b.turn_id, b.attribute""",
    ),
    (
        "beliefs", "replaced in right only",
        """SELECT b.space, b.session, b.turn_id, '', 'by ' || b.replaced_by || ': ' || coalesce(b.content, ''), NULL
        FROM r_replaced_only b ORDER BY b.space, b.position, b.turn_id, b.attribute""",
    ),
)  # fmt: skip
"""(space, session, turn, left, right, text) of differences, the most telling first; text NULL: the turn's own."""
