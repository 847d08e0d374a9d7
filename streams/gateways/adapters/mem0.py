"""mem0's `Memory`, kept by mnemolog: to try it, change the import. Needs no other package, model or vector store.

    from streams.gateways.adapters.mem0 import Memory        # was: from mem0 import Memory

| call | here |
|---|---|
| add | each message is a memory as it was said: no model writes or picks facts, whatever `infer` and `prompt` are |
| search | recall, by words; a score is s / (1 + s) of recall's, so that it lies between 0 and 1 as `threshold` does |
| get, get_all | memories that stand, the last changed first |
| update | a turn with the new text; the one before is retracted (`edited`) |
| delete, delete_all, reset | the memories are retracted (`cleared`): `history` keeps them |
| history | every version, and the deletion |

Sessions are named for user_id, agent_id and run_id. All lie in one space, which context and recall know as a whole:
those who must not hear of each other have a `Memory` each, with a space each. Signatures and answers are mem0ai 2.2's;
what older versions took is taken, too: `search` and `get_all` with user_id, agent_id, run_id and `limit` beside or in
place of `filters` and `top_k`, and `await AsyncMemory.from_config(...)`. A configuration is not used, which a warning
says.
"""

from __future__ import annotations

import asyncio
import hashlib
import sys
import uuid
import warnings
from collections.abc import Callable, Generator
from datetime import UTC, date, datetime
from typing import Any

from mnemolog import Memory as Space
from streams.core.halves import whole_text
from streams.gateways.adapters import awaited
from streams.gateways.adapters.documents import Document, Documents

KIND = "mem0"
ENTITIES = ("user_id", "agent_id", "run_id")
IDENTITY = (*ENTITIES, "actor_id")
"""Whose a memory is: not changed by metadata."""
TOLD = (*IDENTITY, "role", "expiration_date")
"""What stands beside the text of a memory in answers; else it is in their `metadata`."""
OWN = ("id", "data", "hash", "updated_at")
"""What a memory has of its own: metadata of these names is left out."""
PROCEDURAL = "procedural_memory"
_UNSET = object()
_COMPARED: dict[str, Callable[[Any, Any], bool]] = {
    "eq": lambda mine, other: bool(mine == other),
    "ne": lambda mine, other: bool(mine != other),
    "gt": lambda mine, other: bool(mine > other),
    "gte": lambda mine, other: bool(mine >= other),
    "lt": lambda mine, other: bool(mine < other),
    "lte": lambda mine, other: bool(mine <= other),
    "in": lambda mine, other: mine in other,
    "nin": lambda mine, other: mine not in other,
    "contains": lambda mine, other: other in mine,
    "icontains": lambda mine, other: other.lower() in mine.lower(),
}


class Memory:
    """The memories of one space. Threads and processes may share it."""

    def __init__(self, config: Any = None, *, space: str = "", memory: Space | None = None, **how: Any) -> None:
        """`memory`, or `space` and `how` it is reached, are as for `mnemolog.Memory`; mem0's `config` is not needed."""
        self.config = config
        _tell_unused(config)
        self.documents = Documents(memory or Space(space, **how), KIND, _said)

    @classmethod
    def from_config(cls, config_dict: dict[str, Any]) -> Memory:
        """As `Memory(config_dict)`."""
        return cls(config_dict)

    def add(
        self, messages: Any, *, user_id: str | None = None, agent_id: str | None = None, run_id: str | None = None,
        metadata: dict[str, Any] | None = None, timestamp: Any = None, expiration_date: Any = None, infer: bool = True,
        memory_type: str | None = None, prompt: str | None = None,
    ) -> dict[str, Any]:  # fmt: skip
        """Records messages (text, a message or a list of them; system messages are left out) as memories.

        Raises ValueError where none of user_id, agent_id and run_id is given, and what `mnemolog.Memory.tell` does.
        """
        if timestamp is not None:
            raise ValueError("timestamp is not supported")
        owner = _entities({"user_id": user_id, "agent_id": agent_id, "run_id": run_id})
        if not owner:
            raise ValueError("At least one of 'user_id', 'agent_id', or 'run_id' must be provided.")
        if memory_type not in (None, PROCEDURAL):
            raise ValueError(f"Invalid 'memory_type'. Please pass {PROCEDURAL} to create procedural memories.")
        about = _without(metadata or {}, *IDENTITY, *OWN) | owner
        if expiration_date is not None:
            about["expiration_date"] = _day(expiration_date)
        if isinstance(messages, str | dict):
            messages = [{"role": "user", "content": messages} if isinstance(messages, str) else messages]
        elif not isinstance(messages, list):
            raise ValueError("messages must be str, dict, or list[dict]")
        for message in messages:
            if not isinstance(message, dict) or not isinstance(message.get("role"), str):
                raise ValueError(f"messages must be dicts with a role and content, not {message!r:.100}")
        results = []
        for message in messages:
            words = _words(message.get("content"))
            if words is None or message["role"] == "system":
                continue
            name = str(uuid.uuid4())
            actor = {"actor_id": message["name"]} if message.get("name") else {}
            memory = about | {"role": message["role"]} | actor | {"id": name, "data": words}
            self.documents.put(memory, name, before=None)
            told = {"id": name, "memory": words, "event": "ADD", "actor_id": message.get("name") or None}
            results.append(told | {"role": message["role"]})
        return {"results": results}

    def get(self, memory_id: str) -> dict[str, Any] | None:
        """A memory; None where there is none."""
        found = self.documents.get(memory_id)
        return _told(found) if found else None

    def get_all(
        self, *, filters: dict[str, Any] | None = None, top_k: int = 20, show_expired: bool = False, **kwargs: Any
    ) -> dict[str, Any]:
        """The last changed memories that `filters` let through, which name a user_id, agent_id or run_id."""
        filters, top_k = _as_before("get_all", filters, top_k, kwargs)
        found = self._found(filters, top_k, show_expired)
        return {"results": [_without(_told(document), "score") for document in found[:top_k]]}

    def search(
        self, query: str, *, top_k: int = 20, filters: dict[str, Any] | None = None, threshold: float | None = 0.1,
        rerank: bool = False, explain: bool = False, reference_date: Any = None, show_expired: bool = False,
        **kwargs: Any,
    ) -> dict[str, Any]:  # fmt: skip
        """Memories that answer a query, the best first, of those that `filters` let through; no `score_details`.

        A statement of theirs that gave way to a later one ("My favourite colour is green") is not among them: `get_all`
        has it.
        """
        threshold = 0.1 if threshold is None else threshold
        filters, top_k = _as_before("search", filters, top_k, kwargs)
        if reference_date is not None:
            raise ValueError("reference_date is not supported")
        if isinstance(threshold, bool) or not isinstance(threshold, int | float) or not 0 <= threshold <= 1:
            raise ValueError(f"Invalid threshold: {threshold}. Must be between 0 and 1 (inclusive).")
        if not isinstance(query, str) or not query.strip():
            raise ValueError("Invalid query: must be a non-empty string.")
        found = self._found(filters, top_k, show_expired)
        scores = {turn: score / (1 + score) for turn, score in self.documents.scores(query.strip(), found).items()}
        found = [document for document in found if scores.get(document.turn, 0) >= max(threshold, 1e-9)]
        found.sort(key=lambda document: -scores[document.turn])
        return {"results": [_told(document) | {"score": scores[document.turn]} for document in found[:top_k]]}

    def update(
        self, memory_id: str, text: str | None = None, metadata: dict[str, Any] | None = None,
        expiration_date: Any = _UNSET, data: str | None = None,
    ) -> dict[str, str]:  # fmt: skip
        """Gives a memory other text, metadata (those named) or another day to expire."""
        text = data if text is None else text
        if text is None and metadata is None and expiration_date is _UNSET:
            raise ValueError("At least one of text, metadata, or expiration_date must be provided.")
        if text is not None and not isinstance(text, str):
            raise ValueError(f"text must be a string, not {text!r:.100}")
        about = _without(metadata or {}, *IDENTITY, *OWN, "created_at")
        if expiration_date is not _UNSET:
            about["expiration_date"] = None if expiration_date is None else _day(expiration_date)
        about |= {} if text is None else {"data": text}

        def changed(memory: Any) -> Any:
            if memory is None:
                raise ValueError(f"Memory with id {memory_id} not found. Please provide a valid 'memory_id'")
            return memory | about | {"id": memory_id}

        self.documents.change(changed, memory_id)
        return {"message": "Memory updated successfully!"}

    def delete(self, memory_id: str) -> dict[str, str]:
        """Takes a memory back."""
        if self.documents.get(memory_id) is None:
            raise ValueError(f"Memory with id {memory_id} not found")
        self.documents.change(lambda _: None, memory_id)
        return {"message": "Memory deleted successfully!"}

    def delete_all(
        self, user_id: str | None = None, agent_id: str | None = None, run_id: str | None = None
    ) -> dict[str, str]:
        """Takes back all memories of a user, agent or run."""
        owner = _entities({"user_id": user_id, "agent_id": agent_id, "run_id": run_id})
        if not owner:
            raise ValueError("At least one filter is required to delete all memories: `reset()` deletes all.")
        self.documents.remove([document for document in self.documents.all() if _fits(document.value, owner)])
        return {"message": "Memories deleted successfully!"}

    def reset(self) -> None:
        """Takes back all memories."""
        self.documents.remove(self.documents.all())

    def history(self, memory_id: str) -> list[dict[str, Any]]:
        """What became of a memory, the oldest first."""
        happened, old = list[dict[str, Any]](), dict[str, Any]()
        for version in self.documents.versions(memory_id):
            new = version.value or {}
            told: dict[str, Any] = {"id": version.turn, "memory_id": memory_id}
            told |= {"old_memory": old.get("data"), "new_memory": new.get("data")}
            told |= {"event": "UPDATE" if old and new else "ADD" if new else "DELETE"}
            about = new or old
            told |= {"created_at": _time(version.created_at), "updated_at": _time(version.at), "is_deleted": not new}
            happened.append(told | {"actor_id": about.get("actor_id"), "role": about.get("role")})
            old = new
        return happened

    def close(self) -> None:
        """Does nothing: no connection is held."""

    def __enter__(self) -> Memory:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def _found(self, filters: dict[str, Any] | None, top_k: int, show_expired: bool) -> list[Document]:
        """The memories that filters let through, the last changed first. Raises ValueError."""
        if isinstance(top_k, bool) or not isinstance(top_k, int) or top_k < 0:
            raise ValueError(f"Invalid top_k: {top_k}. Must be a non-negative integer.")
        wanted = (filters or {}) | _entities(filters or {})
        if not wanted.keys() & {*ENTITIES}:
            raise ValueError(
                "whose memories is not said: name at least one of user_id, agent_id and run_id, as "
                "filters={'user_id': 'u1'} or as user_id='u1'"
            )
        today = datetime.now(UTC).date()
        return [
            document
            for document in reversed(self.documents.all())
            if (show_expired or not _expired(document.value, today))
            and _fits(document.value | _times(document), wanted)
        ]


class AsyncMemory:
    """As `Memory`, to be awaited."""

    def __init__(self, config: Any = None, **how: Any) -> None:
        """As `Memory`."""
        self.own = Memory(config, **how)

    @classmethod
    def from_config(cls, config_dict: dict[str, Any]) -> AsyncMemory:
        """As `AsyncMemory(config_dict)`; it may be awaited."""
        return cls(config_dict)

    def __await__(self) -> Generator[None, None, AsyncMemory]:
        """Itself. Why: in older versions `from_config` is a coroutine."""
        yield from ()
        return self

    async def __aenter__(self) -> AsyncMemory:
        return self

    async def __aexit__(self, *raised: object) -> None:
        self.close()

    def close(self) -> None:
        """Does nothing: no connection is held."""

    async def add(self, messages: Any, *, llm: Any = None, **more: Any) -> dict[str, Any]:
        """As `Memory.add`; no model is asked, whatever `llm` is."""
        return await asyncio.to_thread(self.own.add, messages, **more)

    get = awaited(Memory.get)
    get_all = awaited(Memory.get_all)
    search = awaited(Memory.search)
    update = awaited(Memory.update)
    delete = awaited(Memory.delete)
    delete_all = awaited(Memory.delete_all)
    reset = awaited(Memory.reset)
    history = awaited(Memory.history)


def _tell_unused(config: Any) -> None:
    """Says once, where the caller stands, what of a configuration is not used."""
    names = config.keys() if isinstance(config, dict) else getattr(config, "model_fields_set", ())
    if not names:
        return
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename == __file__:
        level, frame = level + 1, frame.f_back
    warnings.warn(
        f"mnemolog does not use what mem0 is configured with ({', '.join(sorted(map(str, names)))}): it keeps each "
        "message as it was said and finds it by its words, so it needs no model, embedder or vector store. Leave the "
        "configuration out; Memory(space=..., home=...) or MNEMOLOG_HOME says where memories are kept",
        UserWarning, stacklevel=level,
    )  # fmt: skip


def _as_before(
    call: str, filters: dict[str, Any] | None, top_k: int, more: dict[str, Any]
) -> tuple[dict[str, Any], int]:
    """Filters and how many, with what was given in the way of older versions. Raises ValueError for whom filters and a
    parameter name differently, and TypeError for a parameter that is none."""
    owner = {name: more.pop(name) for name in ENTITIES if more.get(name) is not None}
    limit = more.pop("limit", None)
    if unknown := [name for name, value in more.items() if value is not None]:
        raise TypeError(
            f"{call} has no parameter {unknown[0]!r}: it takes filters, top_k (or limit), user_id, agent_id, run_id, "
            "and what mem0's has"
        )
    wanted = dict(filters or {})
    for name, value in owner.items():
        if wanted.setdefault(name, value) != value:
            raise ValueError(f"{name} is {value!r}, and {wanted[name]!r} in filters: name it once")
    return wanted, top_k if limit is None else limit


def _entities(given: dict[str, Any]) -> dict[str, str]:
    """Whose memories are meant. Raises ValueError for an id that is empty or has white space in it."""
    found = {name: str(given[name]).strip() for name in ENTITIES if given.get(name) is not None}
    for name, value in found.items():
        if not value or any(c.isspace() for c in value):
            raise ValueError(f"Invalid {name}: cannot be empty or contain whitespace. Provide a valid identifier.")
    return found


def _words(content: Any) -> str | None:
    """What a message says; None where it says nothing that is text."""
    if isinstance(content, list):
        blocks = [block for block in content if isinstance(block, dict)]
        return "\n".join(str(block["text"]) for block in blocks if block.get("type") == "text") or None
    return content if isinstance(content, str) else None


def _day(value: Any) -> str:
    """A day as YYYY-MM-DD. Raises ValueError."""
    try:
        day = value if isinstance(value, date) else date.fromisoformat(value)
    except (TypeError, ValueError) as error:
        raise ValueError("expiration_date must be a valid date in YYYY-MM-DD format.") from error
    return (day.date() if isinstance(day, datetime) else day).isoformat()


def _expired(memory: dict[str, Any], today: date) -> bool:
    """Whether the day of a memory is over; what is no day, as metadata may have it, never is."""
    try:
        return date.fromisoformat(memory["expiration_date"]) < today
    except (KeyError, TypeError, ValueError):
        return False


def _said(memory: dict[str, Any]) -> tuple[str, str, str]:
    """Session, role and words of a memory."""
    session = "&".join(f"{name}={memory[name]}" for name in sorted(ENTITIES) if memory.get(name))
    return session, memory["role"] if memory["role"] in ("user", "assistant", "tool") else "user", memory["data"]


def _told(document: Document) -> dict[str, Any]:
    """A memory as answers have it."""
    memory = document.value
    told = {"id": memory["id"], "memory": memory["data"]}
    told |= {"hash": hashlib.md5(whole_text(memory["data"]).encode(), usedforsecurity=False).hexdigest()}
    about = _without(memory, *OWN, *TOLD, "created_at")
    told |= {"metadata": about or None, "score": None} | _times(document)
    return told | {name: memory[name] for name in TOLD if name in memory}


def _without(value: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: one for name, one in value.items() if name not in names}


def _times(document: Document) -> dict[str, Any]:
    """When a memory was made (as its metadata may say of one that comes from elsewhere), and changed last."""
    created = document.value.get("created_at") or _time(document.created_at)
    return {"created_at": created, "updated_at": _time(document.at)}


def _time(at: str) -> str:
    return at.replace("Z", "+00:00")


def _fits(memory: dict[str, Any], wanted: dict[str, Any]) -> bool:
    """Whether filters let a memory through: all of them. Raises ValueError for an operator that is none."""
    for name, want in wanted.items():
        if name in ("AND", "OR", "NOT"):
            if not isinstance(want, list) or not all(isinstance(one, dict) for one in want):
                raise ValueError(f"{name} operator requires a list of conditions")
            if not want and name != "AND":
                raise ValueError(f"{name} operator requires a non-empty list of conditions")
            found = [_fits(memory, one) for one in want]
            fits = {"AND": all(found), "OR": any(found), "NOT": not any(found)}[name]
        elif isinstance(want, dict):
            if wrong := want.keys() - _COMPARED.keys():
                raise ValueError(f"Unsupported metadata filter operator: {min(wrong)}")
            fits = all(_compares(memory.get(name), operator, other) for operator, other in want.items())
        else:
            fits = name in memory if want == "*" else memory.get(name) == want
        if not fits:
            return False
    return True


def _compares(mine: Any, operator: str, other: Any) -> bool:
    try:
        return _COMPARED[operator](mine, other)
    except (AttributeError, TypeError):  # of different kinds: neither more, nor less, nor in it
        return False
