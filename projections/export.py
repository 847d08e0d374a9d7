"""The file tree of the Cognitive Context Management paper: what a memory knows, as files people and agents can read.

    chats/{session}/raw.jsonl       every turn, one JSON object a line; nothing is left out, retracted turns are marked
    chats/{session}/manifest.yaml   the segments: `raw_lines` is [first, last], lines of raw.jsonl counted from 1
    chats/{session}/open.yaml       the efforts the session worked on: `segment_refs` are segments of the manifest
    chats/{session}/working.yaml    the context now: `expanded_lines` are the runs of raw lines that an entry shows
    artifacts/{type}/{name}.md      what conclusions left behind, with front matter
    network/nodes.json, edges.json  what is known, and what speaks for and against it, over all chats

Where the turns of a segment do not lie together (several people talk at once), `raw_runs` gives the runs of lines.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, Protocol

import orjson
import yaml

from streams.core.errors import UsageError
from streams.core.patterns import lazily

LONGEST = 80
"""Bytes of a file name in UTF-8 before its hash: file systems allow 255, archives and sync tools less."""
TITLE = 48
"""Bytes of a title that become an artifact's file name."""
PAGE = 10_000
_UNSAFE = lazily(r"[^\w.+-]+")
_DEVICES = lazily(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)
_Dumper: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)

Item = dict[str, Any]


class Cursor(Protocol):
    """A DuckDB connection, as far as reading goes."""

    description: Any

    def execute(self, query: str, parameters: Any = None, /) -> Any:
        """Runs a query."""

    def fetchmany(self, size: int = 1, /) -> list[Any]:
        """The next rows of the last query."""


@dataclass(slots=True)
class Exported:
    """What was written."""

    sessions: int = 0
    turns: int = 0
    artifacts: int = 0
    files: int = 0


@dataclass(slots=True)
class Lines:
    """Where the turns of one session lie in its raw.jsonl."""

    of_turn: dict[str, int] = field(default_factory=dict)
    of_segment: dict[str, list[int]] = field(default_factory=dict)
    of_effort: dict[str, list[int]] = field(default_factory=dict)
    """Turns that are not retracted."""
    segments_of: dict[str, list[str]] = field(default_factory=dict)
    """The segments of each effort, in order."""


@dataclass(slots=True)
class _Space:
    """What is written beside the turns, by session; `chats` and `artifacts` are file names."""

    root: Path
    chats: dict[str, str]
    segments: dict[str, list[Item]]
    efforts: dict[str, Item]
    entries: dict[str, list[Item]]
    artifacts: dict[str, list[Item]]


def export_ccm(connection: Cursor, target: Path, space: str | None = None) -> Exported:
    """Writes the memory's file tree into `target`: of one space, or of all with a folder for each.

    Raises UsageError where `target` is in use, or there is no such space.
    """
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise UsageError(f"{target} is not an empty folder", "name a new one: an export never overwrites")
    known = [row["space"] for row in _rows(connection, "SELECT DISTINCT space FROM turn_recorded ORDER BY space", [])]
    if space is not None and space not in known:
        raise UsageError(f"there is no space {space!r}", f"known are {', '.join(known[:20]) or 'none'}")
    folders = file_names((name, name) for name in known)
    done = Exported()
    for name in known if space is None else [space]:
        _export_space(connection, target if space is not None else target / folders[name], name, done)
    return done


def file_names(named: Iterable[tuple[str, str]]) -> dict[str, str]:
    """A safe file name for each (key, text), different for each, whatever the file system makes of case and accents.

    A text that is a safe name already is kept. Others are made safe and get a hash of their key, as do those that only
    case or accents tell apart; so a name depends on its own text, and on others only where they collide.
    """
    plain = {key: _plain(text) for key, text in named}
    texts = dict(plain)
    folded: dict[str, list[str]] = {}
    for key, (name, _) in plain.items():
        folded.setdefault(_folded(name), []).append(key)
    names: dict[str, str] = {}
    taken: set[str] = set()
    for key in sorted(texts, key=lambda k: (not plain[k][1], k)):
        name, kept = plain[key]
        size = 8
        found = name
        if not kept or len(folded[_folded(name)]) > 1:
            found = f"{name}-{_hash(key, size)}".lstrip("-")
        while _folded(found) in taken:
            size += 8
            found = f"{name}-{_hash(key, size)}".lstrip("-")
        taken.add(_folded(found))
        names[key] = found
    return names


def _plain(text: str) -> tuple[str, bool]:
    """A safe name, and whether it says all that the text said."""
    composed = unicodedata.normalize("NFC", text)
    name = _UNSAFE.sub("-", composed).strip("-. ")
    cut = name.encode()[:LONGEST].decode(errors="ignore").strip("-. ")
    if _DEVICES.fullmatch(cut):
        return f"_{cut}", False
    return cut, cut == text and bool(cut)


def _folded(name: str) -> str:
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())


def _hash(key: str, size: int) -> str:
    return hashlib.sha256(key.encode()).hexdigest()[:size]


def _export_space(connection: Cursor, root: Path, space: str, done: Exported) -> None:
    sessions = [r["session"] for r in _rows(connection, "SELECT session FROM sessions WHERE space = ?", [space])]
    about = _Space(
        root,
        file_names((session, session) for session in sessions),
        _by_session(connection, "segments", space, "first_position, segment"),
        {row["effort"]: row for row in _rows(connection, "SELECT * FROM efforts WHERE space = ?", [space])},
        _by_session(connection, "context_entries", space, "rank"),
        _with_paths(_by_session(connection, "artifacts", space, "position, artifact")),
    )
    turns = _rows(connection, "SELECT * FROM turns WHERE space = ? ORDER BY session, position", [space])
    for session, said in groupby(turns, key=itemgetter("session")):
        folder = root / "chats" / about.chats[session]
        folder.mkdir(parents=True)
        lines = _write_raw(folder / "raw.jsonl", said)
        head = {"space": space, "session": session}
        _write_yaml(folder / "manifest.yaml", head | {"segments": _manifest(about, session, lines)})
        _write_yaml(folder / "open.yaml", head | _efforts(about, session, lines))
        _write_yaml(folder / "working.yaml", head | {"entries": _working(about, session, lines)})
        for artifact in about.artifacts.get(session, []):
            _write_artifact(root, artifact, about, lines)
            done.artifacts += 1
        done.sessions += 1
        done.turns += len(lines.of_turn)
        done.files += 4 + len(about.artifacts.get(session, []))
    for name, view, order in (("nodes", "knowledge", "node"), ("edges", "knowledge_edges", "source, target, kind")):
        rows = _rows(connection, f"SELECT * EXCLUDE (space) FROM {view} WHERE space = ? ORDER BY {order}", [space])
        path = root / "network" / f"{name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(orjson.dumps([*map(_plain_row, rows)], option=orjson.OPT_INDENT_2) + b"\n")
        done.files += 1


def _rows(connection: Cursor, sql: str, parameters: Sequence[object]) -> Iterator[Item]:
    """The rows of a query, page by page. To be read to the end before the connection is asked again."""
    connection.execute(sql, parameters)
    names = [column[0] for column in connection.description]
    while page := connection.fetchmany(PAGE):
        for row in page:
            yield dict(zip(names, row, strict=True))


def _by_session(connection: Cursor, view: str, space: str, order: str) -> dict[str, list[Item]]:
    found: dict[str, list[Item]] = {}
    for row in _rows(connection, f"SELECT * FROM {view} WHERE space = ? ORDER BY {order}", [space]):
        found.setdefault(row["session"], []).append(row)
    return found


def _with_paths(artifacts: dict[str, list[Item]]) -> dict[str, list[Item]]:
    every = [artifact for found in artifacts.values() for artifact in found]
    kinds = file_names((kind, kind) for kind in {artifact["kind"] or "artifact" for artifact in every})
    for kind, folder in kinds.items():
        ours = [artifact for artifact in every if (artifact["kind"] or "artifact") == kind]
        names = file_names((a["artifact"], _slug(a["title"]) or a["artifact"]) for a in ours)
        for artifact in ours:
            artifact["path"] = f"artifacts/{folder}/{names[artifact['artifact']]}.md"
    return artifacts


def _slug(title: str) -> str:
    words = re.findall(r"\w+", unicodedata.normalize("NFC", title).lower())
    slug = ""
    for word in words:
        longer = f"{slug}-{word}" if slug else word
        if len(longer.encode()) > TITLE:
            break
        slug = longer
    return slug


def _write_raw(path: Path, turns: Iterable[Item]) -> Lines:
    lines = Lines()
    with path.open("wb") as file:
        for number, turn in enumerate(turns, 1):
            file.write(orjson.dumps(_raw_line(number, turn)) + b"\n")
            lines.of_turn[turn["turn_id"]] = number
            if turn["segment"] is not None:
                lines.of_segment.setdefault(turn["segment"], []).append(number)
            if turn["effort"] is not None and not turn["retracted"]:
                lines.of_effort.setdefault(turn["effort"], []).append(number)
                segments = lines.segments_of.setdefault(turn["effort"], [])
                if turn["segment"] is not None and turn["segment"] not in segments[-8:]:
                    segments.append(turn["segment"])
    for effort, segments in lines.segments_of.items():
        lines.segments_of[effort] = list(dict.fromkeys(segments))
    return lines


def _raw_line(number: int, turn: Item) -> Item:
    line = {
        "line": number,
        "id": turn["turn_id"],
        "at": _time(turn["at"]),
        "agent": turn["agent"],
        "role": turn["role"],
        "content": turn["content"],
    }
    if turn["reply_to"]:
        line["reply_to"] = turn["reply_to"]
    if turn["parts"] and turn["parts"] != "[]":
        line["parts"] = orjson.loads(turn["parts"])
    if turn["retracted"]:
        line["retracted"] = turn["retraction"]
    return line


def _manifest(about: _Space, session: str, lines: Lines) -> list[Item]:
    artifacts: dict[str, list[str]] = {}
    for artifact in about.artifacts.get(session, []):
        artifacts.setdefault(artifact["segment"], []).append(artifact["path"])
    efforts: dict[str, list[str]] = {}
    for effort, segments in lines.segments_of.items():
        for segment in segments:
            efforts.setdefault(segment, []).append(effort)
    return [
        _segment(row, lines.of_segment[row["segment"]])
        | {"efforts": efforts.get(row["segment"], []), "artifacts": artifacts.get(row["segment"], [])}
        for row in about.segments.get(session, [])
    ]


def _segment(row: Item, numbers: Sequence[int]) -> Item:
    found = {
        "id": row["segment"],
        "raw_lines": [numbers[0], numbers[-1]],
        "summary": row["summary"],
        "terms": row["terms"],
        "status": row["status"],
        "turns": row["turns"],
        "tokens": row["tokens"],
        "started_at": _time(row["started_at"]),
        "last_at": _time(row["last_at"]),
    }
    if len(runs := _runs(numbers)) > 1:
        found["raw_runs"] = runs
    if row["status"] == "concluded":
        found |= {
            "conclusion": row["conclusion"],
            "pattern": row["pattern"],
            "confidence": row["confidence"],
            "concluded_by": row["concluded_by"],
            "concluded_at": _time(row["concluded_at"]),
        }
    return found


def _efforts(about: _Space, session: str, lines: Lines) -> dict[str, list[Item]]:
    found: dict[str, list[Item]] = {"efforts": [], "concluded": []}
    here = [about.efforts[effort] for effort in lines.of_effort if effort in about.efforts]
    here += [
        row for effort, row in about.efforts.items() if row["opened_in"] == session and effort not in lines.of_effort
    ]
    for row in here:
        found["efforts" if row["status"] == "open" else "concluded"].append(_effort(row, session, lines))
    return found


def _effort(row: Item, session: str, lines: Lines) -> Item:
    found = {
        "id": row["effort"],
        "topic": row["topic"],
        "status": row["status"],
        "importance": row["importance"],
        "summary": row["summary"],
        "segment_refs": lines.segments_of.get(row["effort"], []),
        "turns": row["turns"],
        "opened_at": _time(row["opened_at"]),
        "last_at": _time(row["last_at"]),
        "reopened": row["reopened"],
    }
    if row["name"]:
        found["name"] = row["name"]
    if others := [other for other in row["sessions"] if other != session]:
        found["also_in"] = others
    if row["status"] == "concluded":
        found |= {
            "conclusion": row["conclusion"],
            "pattern": row["pattern"],
            "concluded_by": row["concluded_by"],
            "concluded_at": _time(row["concluded_at"]),
        }
    return found


def _working(about: _Space, session: str, lines: Lines) -> list[Item]:
    entries = []
    for row in about.entries.get(session, []):
        effort = about.efforts.get(row["effort"], {})
        expanded = row["mode"] == "expanded"
        entries.append(
            {
                "effort": row["effort"],
                "topic": effort.get("topic", ""),
                "score": row["score"],
                "mode": row["mode"],
                "signals": row["signals"],
                "summary": effort.get("summary", ""),
                "segment_refs": lines.segments_of.get(row["effort"], []),
                "expanded_lines": _runs(lines.of_effort.get(row["effort"], [])) if expanded else [],
            }
        )
    return entries


def _write_artifact(root: Path, row: Item, about: _Space, lines: Lines) -> None:
    numbers = sorted(lines.of_turn[turn] for turn in row["turns"] if turn in lines.of_turn)
    front = {
        "id": row["artifact"],
        "type": row["kind"],
        "title": row["title"],
        "status": row["status"],
        "tags": row["tags"],
        "space": row["space"],
        "session": row["session"],
        "chat": f"chats/{about.chats[row['session']]}",
        "segment": row["segment"],
        "turns": row["turns"],
        "raw_lines": [numbers[0], numbers[-1]] if numbers else [],
        "created_at": _time(row["at"]),
    }
    if row["retracted"]:
        front["retracted"] = True
    path = root / row["path"]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"---\n{_yaml(front)}---\n\n{row['body'].rstrip()}\n", encoding="utf-8", newline="\n")


def _runs(numbers: Sequence[int]) -> list[list[int]]:
    """[first, last] of each run of consecutive numbers."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return runs


def _plain_row(row: Item) -> Item:
    return {name: _time(value) if isinstance(value, datetime) else value for name, value in row.items()}


def _time(value: datetime | None) -> str | None:
    return None if value is None else value.isoformat() + "Z"


def _yaml(value: object) -> str:
    text = yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=120, default_flow_style=None)
    return str(text)


def _write_yaml(path: Path, value: object) -> None:
    path.write_text(_yaml(value), encoding="utf-8", newline="\n")
