"""CSV with named columns, with commas, semicolons or tabs between.

| column (or its other names) | in the log |
|---|---|
| role (sender, from, author) | `role`; human is user, and ai, bot, model and gpt are assistant |
| content (text, message, body) | `content` |
| session (session_id, conversation_id, thread_id, chat_id, conversation) | `session`, else the file's name |
| at (timestamp, time, date, created_at, datetime) | `at` |
| id (message_id) | `id`, told apart by the session where it is a number |
| agent (name), reply_to, space | the same |
| every other column | a part of type `fields` |
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from typing import TYPE_CHECKING

import orjson

from streams.gateways.sources import Input, Source
from streams.gateways.sources.shared import Fields, Json, fields_part, moment, name_of

if TYPE_CHECKING:
    from streams.core.edge import Edge
    from streams.gateways.sources import Item

COLUMNS = {
    "role": ("role", "sender", "from", "author"),
    "content": ("content", "text", "message", "body"),
    "session": ("session", "session_id", "conversation_id", "thread_id", "chat_id", "conversation"),
    "at": ("at", "timestamp", "time", "date", "created_at", "datetime"),
    "id": ("id", "message_id"),
    "agent": ("agent", "name"),
    "reply_to": ("reply_to",),
    "space": ("space",),
}
"""Names of columns by what they are, the first that there is."""
_ROLES = {"human": "user", "ai": "assistant", "bot": "assistant", "model": "assistant", "gpt": "assistant"}


def read(given: Input, edge: Edge) -> Iterator[Item]:
    """The turns of a table; rejects are lines of mnemolog's own format."""
    from streams.core.edge import MAX_LINE_BYTES, Accepted, EdgeError, Fault, Reject

    csv.field_size_limit(MAX_LINE_BYTES)
    try:
        head, rows = _rows(given)
    except (csv.Error, UnicodeDecodeError) as error:
        yield Reject(given.name, 0, b"", [Fault("file", f"is no CSV in UTF-8: {error}")])
        return
    names = {field: next((n for n in known if n in head), "") for field, known in COLUMNS.items()}
    missing = [field for field in ("role", "content") if not names[field]]
    if missing:
        yield Reject(
            given.name, 1, b"", [Fault(one, f"is no column; columns are {', '.join(head)[:200]}") for one in missing]
        )
        return
    try:
        for line, row in rows:
            fields = _turn(dict(zip(head, row, strict=False)), names, given)
            raw = orjson.dumps(fields | ({"more": row[len(head) :]} if len(row) > len(head) else {}))
            try:
                if len(row) > len(head):
                    raise EdgeError([Fault("line", f"has {len(row)} columns; the first line names {len(head)}")])
                yield Accepted(given.name, line, raw, edge.event(fields), bool(fields.get("id")))
            except EdgeError as error:
                yield Reject(given.name, line, raw, error.faults)
    except (csv.Error, UnicodeDecodeError) as error:
        yield Reject(given.name, 0, b"", [Fault("file", f"is no CSV in UTF-8: {error}")])


def _rows(given: Input) -> tuple[list[str], Iterator[tuple[int, list[str]]]]:
    """The names of the columns, and the rows with the numbers of their lines."""
    from streams.core.edge import MAX_LINE_BYTES

    lines = (line.decode("utf-8-sig") for line in iter(lambda: given.stream.readline(MAX_LINE_BYTES), b""))
    first = next(lines, "")
    delimiter = max(",;\t", key=first.count)
    head = [name.strip().lower() for name in next(csv.reader([first], delimiter=delimiter), [])]
    reader = csv.reader(lines, delimiter=delimiter)
    return head, ((reader.line_num + 1, row) for row in reader if row)


def _turn(row: Json, names: dict[str, str], given: Input) -> Fields:
    """The fields of a row that are not empty."""
    said = {field: row[name] for field, name in names.items() if name and row.get(name)}
    role = said.get("role", "").strip().lower()
    session = said.get("session") or given.session
    fields: Fields = said | {"role": _ROLES.get(role, role), "content": said.get("content", ""), "session": session}
    if "at" in said:
        fields["at"] = moment(said["at"].strip())
    if said.get("id", "").isdecimal():
        fields["id"] = name_of(f"{session}/{said['id']}")
    rest = fields_part(row, frozenset(names.values()))
    return fields | ({"parts": rest} if rest else {})


SOURCE = Source(
    "csv",
    "CSV with named columns",
    (".csv", ".tsv"),
    read,
    (
        r'(?i)\A\ufeff?(?![{\["]*\s*[{\[])(?=[^\n]*[,;\t])(?=[^\n]*\b(role|sender|from|author)\b)[^\n]*'
        r"\b(content|text|message|body)\b",
    ),
)
