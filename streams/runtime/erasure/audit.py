"""Whether what was erased is gone: looked for by what the log keeps to know it again, in every file of the home.

The text is gone, so its hashes are looked for: the name of each event that was erased, and a few runs of its words (all
of them, where an erasure looks itself). Each run of words in the log, in every column of every memory (DuckDB packs
them, so the bytes alone do not tell), and in the bytes of every file is hashed and compared. Runs that an event of the
log quotes are told, not held against the files that derive from it; nor is what only two values of a memory say
together that lie side by side in its file.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, cast

import orjson

from projections.store import EVENT_TABLES, Connection, read_meta
from streams.core.errors import MnemologError, counted, listed
from streams.core.events import TurnRecorded, iso
from streams.core.progress import Progress, no_progress
from streams.logs.copies import copies, id_of, receipts, told_forgotten
from streams.logs.encryption import MISSING
from streams.logs.erased import ENDS, SALT, digest, gaps, name_of, runs, spans, taken, texts
from streams.logs.log import Chain, hash_at
from streams.logs.sqlite import SqliteLog
from streams.runtime.erasure.selection import events, named

if TYPE_CHECKING:
    from streams.runtime.home import Home

TEXTS = (
    "SELECT table_name, column_name, data_type FROM duckdb_columns() WHERE database_name = current_database() "
    "AND NOT internal ORDER BY ALL"
)
PAGE = 10_000
CHUNK, OVERLAP = 2**22, 2**12
MANY = 1_000
"""Runs in files that are surely left over."""
_PRINTED = re.compile(rb"[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f]{8,}")
"""What `strings` would show of a file."""
_ESCAPED = re.compile(rb"\\\\[ntr\"/]")
"""What stands between words in JSON."""


def values(memory: Connection) -> Iterator[tuple[str, str, str]]:
    """All that a memory says in words, with table and space."""
    tables = {*(table for (table,) in memory.execute(EVENT_TABLES).fetchall()), "state"}
    columns: dict[str, list[str]] = {}
    for table, column, kind in memory.execute(TEXTS).fetchall():
        if table in tables and kind in ("VARCHAR", "VARCHAR[]", "BLOB"):
            columns.setdefault(table, []).append(column)
    for table, names in columns.items():
        quoted = ", ".join(f'"{name}"' for name in names)
        rows = memory.execute(f'SELECT {quoted} FROM "{table}"')
        seen: set[tuple[str, object]] = set()
        while page := rows.fetchmany(PAGE):
            for row in page:
                space = row[names.index("space")] if "space" in names else ""
                said = {value for cell in row for value in (cell if isinstance(cell, list) else (cell,)) if value}
                new = {(space, value) for value in said} - seen
                seen |= new
                for _, value in new:
                    yield table, space, value if isinstance(value, str) else value.decode(errors="ignore")
            if len(seen) > 10 * PAGE:
                seen.clear()


def derived(memory: Connection, salt: bytes, wanted: dict[bytes, int]) -> set[bytes]:
    """The wanted runs that a memory says: one that was folded from a log may join what stands apart there."""
    lengths = {*wanted.values()}
    return {run for _, _, text in values(memory) for run in runs(salt, text, lengths) if run in wanted}


class Check(NamedTuple):
    """One thing that was looked at."""

    check: str
    status: str
    """well, look or failed"""
    found: str


def keys(log: SqliteLog) -> Iterator[Check]:
    """Whether the keys that events were recorded under are here, and those that were destroyed are not."""
    known, lost = log.known_keys(), log.unread()
    gone = [id_ for id_, _, _, destroyed in known if destroyed]
    if left := [id_ for id_ in gone if log.keys.holds(id_)]:
        yield Check(
            "keys", "failed", f"{listed(left)} of {log.keys.folder} were destroyed and are here again: delete them"
        )
    if lost:
        names = listed(sorted({*lost.values()}))
        yield Check("keys", "look", f"what spaces {names} said is not read: their keys are not here; {MISSING}")
    if known and not left and not lost:
        said = f"; {len(gone):,} were destroyed, and what was under them is passed over" if gone else ""
        yield Check("keys", "well", f"under keys: {counted(len(known) - len(gone), 'space')}{said}")


class Audit:
    """What was erased from the log of a home, and where it is looked for."""

    def __init__(self, home: Home, wanted: dict[bytes, int] | None = None) -> None:
        """Looks for the runs `wanted` besides those that the log keeps."""
        self._home = home
        self._log = home.log
        self._salt = bytes.fromhex(self._log.noted(SALT) or "")
        self._rows = self._log.erased()
        self._names = {name for name, _, _ in self._rows}
        self._wanted = dict(wanted or {})
        for _, kept, _ in self._rows:
            self._wanted |= taken(kept)
        self._lengths = {*self._wanted.values()}
        self._quoted: set[bytes] = set()
        """Runs that stand in events of the log."""

    @property
    def has_erased(self) -> bool:
        """Whether anything was erased from the log."""
        return bool(self._rows)

    def checks(self, progress: Progress = no_progress) -> Iterator[Check]:
        """Looks."""
        yield from self._receipts()
        if self._rows:
            yield from self._events(progress)
            yield from self._memories()
            yield from self._files(progress)
            yield from self._brokers(progress)
        yield from self._copies()
        if self._log.is_local:
            yield from keys(cast(SqliteLog, self._log))

    def _receipts(self) -> Iterator[Check]:
        told = receipts(self._log)
        if not told and not self._rows:
            yield Check("receipts", "well", "nothing was ever erased from this log")
            return
        wrong: list[str] = []
        after = [receipt.log_before for _, receipt in told[1:]] + [self._log.id]
        for (_, receipt), id_ in zip(told, after, strict=True):
            mine = [(name, kept) for name, kept, whose in self._rows if whose == receipt.id]
            if receipt.log_after != id_:
                wrong.append(
                    f"receipt {receipt.id} says that it made log {receipt.log_after}, but log {id_} follows it"
                )
            if digest(mine) != receipt.names:
                wrong.append(f"receipt {receipt.id} is of other events than those that the log notes as erased")
        if told and self._hash_before(told[-1][0]) != told[-1][1].hash_after:
            wrong.append(f"the events before receipt {told[-1][1].id} are not those whose hash it holds")
        if unknown := {whose for _, _, whose in self._rows} - {receipt.id for _, receipt in told}:
            wrong.append(f"the log notes events as erased under {listed(sorted(unknown))}, and has no such receipt")
        gone = counted(sum(receipt.turns for _, receipt in told), "turn")
        facts = counted(sum(receipt.facts for _, receipt in told), "fact")
        last = f", the last of {iso(told[-1][1].at)[:10]}" if told else ""
        found = "; ".join(wrong) or (
            f"{counted(len(told), 'erasure')}{last}: {gone} and {facts} erased; ids and hashes of the logs agree"
        )
        yield Check("receipts", "failed" if wrong else "well", found)

    def _hash_before(self, receipt: int) -> str:
        """The hash of all that stands before the newest receipt, which is at that offset of its partition."""
        noted = self._log.noted(ENDS)
        if noted is None or self._log.is_local:
            return hash_at(self._log, 0, receipt - 1).hex()
        chain = Chain([b""] * self._log.partitions)
        for record, event in events(self._log, orjson.loads(noted)):
            chain.add(record, event.id)
        return chain.digest()

    def _events(self, progress: Progress) -> Iterator[Check]:
        """Looks for names and words in the log."""
        again: list[str] = []
        quoting: list[str] = []
        count = 0
        ends = [self._log.end(partition) for partition in range(self._log.partitions)]
        for _, event in events(self._log, ends, progress):
            count += 1
            answered = [event.reply_to] if isinstance(event, TurnRecorded) and event.reply_to else []
            if any(
                name_of(self._salt, event.space, id_) in self._names for id_ in (event.id, *named(event), *answered)
            ):
                again.append(event.id)
            hits = {run for text in texts(event) for run in self._hits(text)}
            if hits:
                self._quoted |= hits
                quoting.append(event.id)
        looked = f"{counted(count, 'event')} of the log read: "
        said = f"{listed(again)} were erased, or name what was: erase them again" if again else (
            "none was erased, and none names what was"
        )  # fmt: skip
        yield Check("events", "failed" if again else "well", looked + said)
        if quoting:
            hold = "holds" if len(quoting) == 1 else "hold"
            told = f"{counted(len(quoting), 'event')} that nobody erased {hold} words of what was: {listed(quoting)}"
            yield Check("quotes", "look", f"{told}; `mnemolog erase --turn ID` erases a turn, too")

    def _hits(self, text: str) -> Iterator[bytes]:
        return (run for run in runs(self._salt, text, self._lengths) if run in self._wanted)

    def _is_wanted(self, run: bytes) -> bool:
        return run in self._wanted and run not in self._quoted

    def _memories(self) -> Iterator[Check]:
        for name in self._home.memories():
            wrong = ""
            try:
                with self._home.reading(name) as memory:
                    if read_meta(memory, "log_id") != self._log.id:
                        wrong = "made of another log, which may hold what was erased: delete it, or replay it again"
                    elif where := next(self._left(memory), ""):
                        wrong = f"table {where} holds what was erased: delete this memory, it is made again"
            except MnemologError as error:
                wrong = str(error)
            yield Check(
                f"memory {name}",
                "failed" if wrong else "well",
                wrong or "every column read: neither ids nor words of what was erased",
            )

    def _left(self, memory: Connection) -> Iterator[str]:
        """The tables with a name or words of what was erased, and not quoted."""
        return (table for table, space, value in values(memory) if self._is_left(space, value))

    def _is_left(self, space: str, text: str) -> bool:
        return name_of(self._salt, space, text) in self._names or not self._quoted.issuperset(self._hits(text))

    def _files(self, progress: Progress) -> Iterator[Check]:
        """Looks through the bytes of every file."""
        paths = [Path(at) / name for at, _, names in os.walk(self._home.path) for name in names]
        total = sum(path.stat().st_size for path in paths if path.is_file())
        done, said_in = 0, dict[str, set[str]]()
        for path in paths:
            with suppress(FileNotFoundError):
                if path.is_file() and (said := self._said_in(path)):
                    said_in[str(path.relative_to(self._home.path))] = said
                done += path.stat().st_size
                progress(min(done, total), total)
        joined = self._joined(set().union(*said_in.values()))
        left = [name for name, said in said_in.items() if said - joined]
        features = [path.name for path in self._home.folder.cache.glob("*") if not path.name.endswith(self._log.id)]
        if features:
            left.append(f"cache/{features[0]}")
        looked = f"every byte of the {counted(len(paths), 'file')} of the home read"
        told = (
            f"{looked}: words of what was erased are in {listed(left)}: delete what holds them"
            if left
            else f"{looked}: no words of what was erased"
        )
        yield Check("files", "failed" if left else "well", told)

    def _brokers(self, progress: Progress) -> Iterator[Check]:
        """Looks through all that brokers hold for the log, and for what they should not hold any more."""
        if self._log.is_local:
            return
        left: dict[str, None] = {}
        count = 0
        for topic, said in self._log.elsewhere():
            count += 1
            if not self._quoted.issuperset(self._hits(_ESCAPED.sub(b" ", said).decode(errors="ignore"))):
                left[topic] = None
        looked = f"{counted(count, 'value')} of the topics read"
        told = (
            f"{looked}: words of what was erased are in {listed(left)}"
            if left
            else f"{looked}: no words of what was erased"
        )
        yield Check("topics", "failed" if left else "well", told)
        if strays := self._log.strays():
            yield Check(
                "old topics",
                "failed",
                f"{listed(strays)} are still there: whoever opens live next deletes them, `mnemolog project` "
                "that is started again, for example, and so does the next `mnemolog erase`",
            )
        else:
            yield Check("old topics", "well", "no topic of the logs before this one is left")

    def _said_in(self, path: Path) -> set[str]:
        """The wanted runs that nobody quotes in the bytes of a file, as they stand there: some, where they are many."""
        found: set[str] = set()
        with path.open("rb") as file:
            before = b""
            while len(found) < MANY and (data := file.read(CHUNK)):
                for part in _PRINTED.findall(before + data):
                    text = part.decode(errors="ignore")
                    if not self._quoted.issuperset(self._hits(text)):
                        found |= {said for run, said in spans(self._salt, text, self._lengths) if self._is_wanted(run)}
                before = data[-OVERLAP:]
        return found

    def _joined(self, said: set[str]) -> set[str]:
        """Those of some runs that begin with the end of a value of a memory, and end with the beginning of another."""
        halves = {one: [(one[:at], one[at:]) for at in gaps(one)] for one in said} if len(said) < MANY else {}
        ends = {end for pairs in halves.values() for end, _ in pairs}
        beginnings = {beginning for pairs in halves.values() for _, beginning in pairs}
        ended, begun = set[str](), set[str]()
        for name in self._home.memories() if halves else ():
            with suppress(MnemologError), self._home.reading(name) as memory:  # a broken one is told of by `_memories`
                for _, _, value in values(memory):
                    ended |= {end for end in ends if value.endswith(end)}
                    begun |= {beginning for beginning in beginnings if value.startswith(beginning)}
        return {one for one, pairs in halves.items() if any(end in ended and rest in begun for end, rest in pairs)}

    def _copies(self) -> Iterator[Check]:
        """Looks at which log the copies are of that were written elsewhere."""
        if self._rows and (unknown := told_forgotten(self._log)):
            yield Check("copy", "look", unknown)
        for copy in copies(self._log):
            id_ = id_of(copy)
            if id_ == self._log.id and (wrong := self._differs(copy)):
                yield Check("copy", "failed", f"{copy} {wrong}; it may hold what was erased: delete it, write it anew")
            elif id_ == self._log.id:
                yield Check("copy", "well", f"{copy} is a copy of this log, which is without what was erased")
            elif id_:
                yield Check(
                    "copy",
                    "failed",
                    f"{copy} is no copy of this log: it may hold what was erased; write it anew or delete it",
                )
            else:
                yield Check(
                    "copy", "look", f"{copy} is not there any more: if it was moved, what was erased is still in it"
                )

    def _differs(self, copy: Path) -> str:
        """Why an archive that says that it is of the log is not, in words; "" for any other copy, which says so itself.

        The hash of each file's last event tells of all before it."""
        if not copy.is_dir():
            return ""
        from streams.logs.archive import ArchiveLog

        try:
            return ArchiveLog(copy).differs(self._log, whole=True)
        except MnemologError as error:
            return f"cannot be read: {error}"
