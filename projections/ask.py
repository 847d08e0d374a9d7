"""Questions to a memory, by name: each a function of a connection and plain arguments, answered in JSON values.

The same functions answer in the command that asks and in the process that serves.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import fields
from functools import partial
from importlib import import_module
from inspect import signature
from typing import TYPE_CHECKING, Any, Protocol

from projections import stored
from projections.as_of import past
from projections.rows import records
from projections.saying import answered
from projections.saying import known as known_of
from projections.show import show
from projections.store import Connection, limited, read_meta, refused, unchanged
from projections.views import view_names
from streams.core.errors import DamagedError, UsageError
from streams.core.patterns import lazily
from streams.core.processor import Processor

if TYPE_CHECKING:
    from projections.recall.answers import Recall

_TERM = lazily(r'\s*"?(\w+)"?(?:\s+(ASC|DESC))?\s*', re.ASCII)


def view(
    connection: Connection,
    name: str,
    limit: int | None = None,
    order: str = "",
    columns: str = "",
    begins: str = "",
    **where: Any,
) -> list[dict[str, Any]]:
    """Rows of the view `name` where the named columns have the given values (None: any).

    `order`: names of columns, commas between, each with DESC after it where the greatest come first. `columns`: names
    of those that are wanted, commas between; what is not wanted need not be read. `begins`: the name of a column of
    which only the beginning is given; never that of the space, which is whose memory it is. Raises UsageError for a
    name of a view or column that is none.
    """
    views = view_names(read_meta(connection, "views"))
    if name not in views:
        raise UsageError(f"there is no view {name!r}", f"views: {', '.join(views)}")
    given = {column: value for column, value in where.items() if value is not None}
    if begins and (begins == "space" or begins not in given):
        raise UsageError(f"begins names {begins!r}", "it names a column whose beginning is given, and never space")
    wanted = [column.strip() for column in columns.split(",")] if columns else []
    if given or order or wanted:
        known = [column[0] for column in connection.execute(f"SELECT * FROM {name} LIMIT 0").description]
        if unknown := [column for column in (*given, *wanted) if column not in known]:
            raise UsageError(f"{name} has no column {unknown[0]!r}", f"columns: {', '.join(known)}")
    shown = ", ".join(f'"{column}"' for column in wanted) or "*"
    sql = f"SELECT {shown} FROM {name}"
    if given:
        sql += " WHERE " + " AND ".join(
            f'starts_with("{column}", ?)' if column == begins else f'"{column}" = ?' for column in given
        )
    if order:
        sql += f" ORDER BY {', '.join(_ordering(name, term, known) for term in order.split(','))}"
    if limit is not None:
        sql += f" LIMIT {int(limit)}"
    return records(connection, sql, [*given.values()])


def _ordering(view: str, term: str, columns: Sequence[str]) -> str:
    """One term of an order, as SQL. Raises UsageError."""
    found = _TERM.fullmatch(term)
    if found is None or found[1] not in columns:
        raise UsageError(
            f"{view} has no order {term.strip()!r}", f"columns, each with ASC or DESC: {', '.join(columns)}"
        )
    return f'"{found[1]}" {found[2] or "ASC"}'


def spaces(connection: Connection) -> list[dict[str, Any]]:
    """Every space with its sessions, turns and newest time."""
    return records(
        connection,
        'SELECT space, count(DISTINCT session) AS sessions, count(*) AS turns, max("at") AS last_at '
        "FROM turn_recorded GROUP BY space ORDER BY space",
    )


def digest(connection: Connection) -> dict[str, str]:
    """A hash per table."""
    return stored.digest(connection)


def known(connection: Connection, space: str, fact: Mapping[str, Any]) -> dict[str, Any]:
    """Of a fact that is to be recorded in a space: what it names and the memory does not know, `unknown`; or that it
    stands so, `already`, and `since` when; nothing where neither is so, where the memory cannot tell, and of what is no
    fact: it will be refused.
    """
    from streams.core.edge import Edge, EdgeError  # why here: other questions need no validators

    try:
        event = Edge(space).event({**fact, "space": space})
    except EdgeError:
        return {}

    def ask(_: str, **question: Any) -> list[dict[str, Any]]:
        return view(connection, **question)

    try:
        return answered(known_of({field.name: getattr(event, field.name) for field in fields(event)}), ask)
    except UsageError:  # a memory without the mechanism that would know
        return {}


ASKS: dict[str, Callable[..., Any]] = {
    "view": view,
    "spaces": spaces,
    "digest": digest,
    "show": show,
    "known": known,
}


RECALLS = {
    "context": ("context.ask", "context"),
    "recall": ("recall.answers", "recalled"),
    "recall_batch": ("recall.answers", "recalled_batch"),
    "memory": ("recall.explain", "explain"),
    "needs_recall": ("recall.sessions", "needs_recall"),
}
"""Questions that need the index of a memory, too: the module and function that answers, given a `Sight` of it."""


class Recaller(Protocol):
    """Gives what a memory can recall."""

    @property
    def lock(self) -> AbstractContextManager[Any]:
        """Held while it is asked: an index answers one question at a time."""

    def recall(self, connection: Connection) -> Recall:
        """It, its index up to date with what `connection` sees."""


def answer(
    connection: Connection, what: str, arguments: dict[str, Any], recaller: Recaller | None, seconds: float
) -> Any:
    """The answer to a question, over the memory as it is or `as_of` a position or time.

    All of it sees one state of the memory and can change nothing. Raises UsageError for what is no question, where the
    answer takes longer than `seconds` once the index it needs stands, and where it needs what a memory can recall and
    there is no `recaller`.
    """
    if what not in ASKS and what not in RECALLS:
        raise UsageError(f"there is no question {what!r}", f"questions: {', '.join([*ASKS, *RECALLS])}")
    arguments = dict(arguments)
    moment = arguments.pop("as_of", None)
    with (
        refused(),
        closing(connection.cursor()) as now,
        closing(now if moment is None else past(now, str(moment))) as cursor,
    ):
        if what in ASKS:
            with unchanged(cursor), limited(cursor, seconds):
                _check(what, ASKS[what], cursor, arguments)
                return ASKS[what](cursor, **arguments)
        if recaller is None:
            raise UsageError(f"{what} is asked of one space", "say which")
        question = _recalling(what, arguments)
        # Why the lock first: the index must not be ahead of what the cursor sees.
        with recaller.lock, unchanged(cursor):
            limits = partial(limited, cursor, seconds)
            return _recalled(question, recaller, now, cursor, moment is not None, arguments, limits)


def reads_tables(what: str, arguments: Mapping[str, Any], processors: Iterable[Processor[Any]]) -> bool:
    """Whether a question may need what only the tables of a memory hold, and not the index and turns it looks up."""
    return (
        what not in ("context", "needs_recall")
        or arguments.get("as_of") not in (None, "")  # 0 is the first position
        or bool(arguments.get("details"))
        or any(section.queries for p in processors for section in p.read_model.sections)
    )


def answer_at_once(connection: Connection, what: str, arguments: dict[str, Any], recaller: Recaller) -> Any:
    """The answer to a question that reads no tables, over the memory as far as it is folded: it is that far in the
    index and in the turns at hand, though it may not be in the tables yet."""
    arguments = {name: value for name, value in arguments.items() if name != "as_of"}  # it names no moment
    question = _recalling(what, arguments)
    with refused(), closing(connection.cursor()) as cursor, recaller.lock:
        return _recalled(question, recaller, cursor, cursor, False, arguments)


def _recalling(what: str, arguments: dict[str, Any]) -> Callable[..., Any]:
    """What answers a question that needs the index. Raises UsageError where it is given what it does not take."""
    module, name = RECALLS[what]
    question: Callable[..., Any] = getattr(import_module(f"projections.{module}"), name)
    _check(what, question, None, arguments)
    return question


def _recalled(
    question: Callable[..., Any], recaller: Recaller, now: Connection, cursor: Connection, past: bool,
    arguments: dict[str, Any], limits: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> Any:  # fmt: skip
    """The answer to a question that needs the index, which is made anew where it is found to be damaged on the way.

    `limits` holds for the answer, not for making the index: that takes as long as the memory is large, and once.
    """
    from projections.recall.answers import Sight  # why here: other questions need no numpy

    def asked() -> Any:
        recall = recaller.recall(now)
        with limits(), recall.index.telling():
            return question(Sight(cursor, recall, past), **arguments)

    try:
        return asked()
    except DamagedError:
        return asked()


def _check(what: str, question: Callable[..., Any], asked: object, arguments: dict[str, Any]) -> None:
    """Raises UsageError where a question is given what it does not take, or not what it needs."""
    try:
        signature(question).bind(asked, **arguments)
    except TypeError as error:
        raise UsageError(f"{what}: {error}", f"it takes: {', '.join([*signature(question).parameters][1:])}") from error
