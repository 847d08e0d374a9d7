"""A `BaseStore` of LangGraph whose items are versions in mnemolog.

    from streams.gateways.adapters.langgraph import MnemologStore

    graph = builder.compile(store=MnemologStore("ann"))

| operation | here |
|---|---|
| put | a turn in the session named for the namespace, with the item in `parts`; the version before is retracted |
| put of None, delete | the item is retracted: searches and contexts no longer show it, history does |
| `index` | what recall and contexts know of the item: all its texts, those at the paths named, or none (False) |
| get, search with `filter`, list_namespaces | as `InMemoryStore` has them; without `query` the last changed are first |
| search with `query` | recall, by words: first what it finds, with its scores (without an upper bound), then all else |
| in one batch | reads see what was before its writes, of which the last on a key counts |
| `ttl` | when an item ends is recorded with it; from then on get, search and list_namespaces do not show it |
| `refresh_on_read` | as SqliteStore, where the store's `ttl` says so: a read is a new version, with a later end |
| `sweep_ttl` | retracts what ended, so that contexts and recall do not show it either |
| `sweep_interval_minutes` | a store that is used sweeps so often; there is no thread for it |
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    TTLConfig,
    get_text_at_path,
    tokenize_path,
    validate_op_namespace,
)

from mnemolog import Memory
from streams.gateways.adapters.documents import Document, Documents

KIND = "langgraph"
UNREFRESHED = 0.1
"""The part of its time in which an item that is read is not recorded again: each search would write all it finds."""


class MnemologStore(BaseStore):
    """The store of one space. Threads and processes may share it."""

    supports_ttl = True

    def __init__(
        self, space: str = "", *, memory: Memory | None = None, ttl: TTLConfig | None = None, **how: Any
    ) -> None:
        """`memory`, or `space` and `how` it is reached, are as for `Memory`; `ttl` is as for LangGraph's own stores."""
        self.documents = Documents(memory or Memory(space, **how), KIND, _said)
        self.ttl_config = ttl
        self._swept = _now()

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Carries operations out; their results in order. Raises InvalidNamespaceError and TypeError before any is."""
        ops = list(ops)
        for op in ops:
            validate_op_namespace(op)
            if isinstance(op, PutOp) and not isinstance(op.value, dict | None):
                raise TypeError(f"the value of {op.key!r} must be a dict, not {op.value!r:.100}")
        interval = (self.ttl_config or {}).get("sweep_interval_minutes")
        if interval and _now() >= self._swept + timedelta(minutes=interval):
            self.sweep_ttl()
        results = [self._read(op) for op in ops]
        puts = {(op.namespace, op.key): op for op in ops if isinstance(op, PutOp)}.values()
        for op in puts:
            if op.value is not None:
                self._put(op)
        gone = [self.documents.get(*op.namespace, op.key) for op in puts if op.value is None]
        self.documents.remove([document for document in gone if document])
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """As `batch`, in a thread."""
        return await asyncio.to_thread(self.batch, list(ops))

    def sweep_ttl(self) -> int:
        """Retracts the items that ended; how many."""
        self._swept = _now()
        ended = [document for document in self.documents.all() if _ended(document.value)]
        self.documents.remove(ended, unless_changed=True)
        return len(ended)

    def _put(self, op: PutOp) -> None:
        index = op.index if op.index is False or op.index is None else list(op.index)
        item = {"namespace": list(op.namespace), "key": op.key, "value": op.value, "index": index} | _time(op.ttl)
        self.documents.change(lambda _: item, *op.namespace, op.key)

    def _read(self, op: Op) -> Result:
        match op:
            case GetOp():
                found = self.documents.get(*op.namespace, op.key)
                if found is None or _ended(found.value):
                    return None
                self._refresh(op, found)
                return Item(**_fields(found))
            case SearchOp():
                return self._search(op)
            case ListNamespacesOp():
                return self._namespaces(op)
            case PutOp():
                return None
        raise ValueError(f"there is no operation {type(op).__name__}")

    def _search(self, op: SearchOp) -> list[SearchItem]:
        depth = len(op.namespace_prefix)
        found = [
            document
            for document in reversed(self._all())
            if tuple(document.value["namespace"][:depth]) == op.namespace_prefix
            and all(_fits(document.value["value"].get(key), wanted) for key, wanted in (op.filter or {}).items())
        ]
        scores = self.documents.scores(op.query, found) if op.query else {}
        found.sort(key=lambda document: -scores.get(document.turn, 0))
        page = found[op.offset : op.offset + op.limit]
        self._refresh(op, *page)
        return [SearchItem(**_fields(document), score=scores.get(document.turn)) for document in page]

    def _namespaces(self, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        names = {tuple(document.value["namespace"]) for document in self._all()}
        fitting = {name[: op.max_depth] for name in names if all(_lies(name, one) for one in op.match_conditions or ())}
        return sorted(fitting)[op.offset : op.offset + op.limit]

    def _all(self) -> list[Document]:
        return [document for document in self.documents.all() if not _ended(document.value)]

    def _refresh(self, op: GetOp | SearchOp, *read: Document) -> None:
        """Gives items that were read their time anew, where the operation and the store say so."""
        if not op.refresh_ttl or not (self.ttl_config or {}).get("refresh_on_read", False):
            return
        for item in [document.value for document in read if "ttl" in document.value]:
            later = _time(item["ttl"])
            if timedelta(minutes=item["ttl"] * UNREFRESHED) <= _at(later["ends"]) - _at(item["ends"]):
                self._change(item, item | later)

    def _change(self, item: dict[str, Any], to: dict[str, Any]) -> None:
        """Records what takes the place of an item, where no other version came meanwhile."""
        self.documents.change(lambda now: to if now == item else now, *item["namespace"], item["key"])


def _now() -> datetime:
    return datetime.now(UTC)


def _time(ttl: float | None) -> dict[str, Any]:
    """The time an item has, in minutes from now, and when it ends; nothing where it has no end."""
    return {} if ttl is None else {"ttl": ttl, "ends": (_now() + timedelta(minutes=ttl)).isoformat()}


def _at(time: str) -> datetime:
    return datetime.fromisoformat(time)


def _ended(item: dict[str, Any]) -> bool:
    return "ends" in item and _at(item["ends"]) <= _now()


def _fields(document: Document) -> dict[str, Any]:
    """A document as an item has it."""
    item = document.value
    name = {"namespace": tuple(item["namespace"]), "key": item["key"], "value": item["value"]}
    return name | {"created_at": document.created_at, "updated_at": document.at}


def _said(item: dict[str, Any]) -> tuple[str, str, str]:
    """Session, role and words of an item."""
    index = item["index"]
    if index is None:
        words = list(_texts(item["value"]))
    else:
        words = [text for path in index or () for text in get_text_at_path(item["value"], tokenize_path(path))]
    return "/".join(item["namespace"]), "assistant", "\n".join(words)


def _texts(value: Any, name: str = "") -> Iterable[str]:
    """What a value says, a line for each text and number in it, with the name it stands under."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _texts(inner, str(key))
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _texts(inner, name)
    elif value is not None:
        yield f"{name}: {value}" if name else str(value)


def _fits(value: Any, wanted: Any) -> bool:
    """Whether a value is what a filter wants: equal, or as its operators ($eq, $ne, $gt, $gte, $lt, $lte) say."""
    if isinstance(wanted, dict):
        if any(key.startswith("$") for key in wanted):
            return all(_compares(value, operator, other) for operator, other in wanted.items())
        return isinstance(value, dict) and all(_fits(value.get(key), other) for key, other in wanted.items())
    if isinstance(wanted, list | tuple):
        return isinstance(value, list) and len(value) == len(wanted) and all(map(_fits, value, wanted))
    return bool(value == wanted)


def _compares(value: Any, operator: str, other: Any) -> bool:
    if operator in ("$eq", "$ne"):
        return (value == other) is (operator == "$eq")
    if operator not in ("$gt", "$gte", "$lt", "$lte"):
        raise ValueError(f"Unsupported operator: {operator}")
    try:
        mine, theirs = float(value), float(other)
    except (TypeError, ValueError):  # what is no number is neither more nor less
        return False
    return {"$gt": mine > theirs, "$gte": mine >= theirs, "$lt": mine < theirs, "$lte": mine <= theirs}[operator]


def _lies(name: tuple[str, ...], condition: MatchCondition) -> bool:
    """Whether a namespace begins or ends as a condition says, where * stands for any label."""
    path = tuple(condition.path)
    mine = name[: len(path)] if condition.match_type == "prefix" else name[-len(path) :] if path else ()
    return len(mine) == len(path) and all(want in ("*", have) for have, want in zip(mine, path, strict=True))
