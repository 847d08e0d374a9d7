"""mnemolog from Python: record turns and ask for the context, over the socket of a running `mnemolog serve`.

    from mnemolog import Memory

    memory = Memory(space="ann")
    memory.record("chat-7", "user", "Why does the nightly build fail?")
    messages = memory.context("chat-7")["messages"]   # hand these to any chat model

One module, the standard library alone: it can be copied into an agent's environment.
"""

from __future__ import annotations

import hashlib
import json
import os
import socket
import tempfile
import time
import uuid
from pathlib import Path
from typing import Any

__all__ = ["Memory", "NotServedError", "RefusedError"]


class NotServedError(ConnectionError):
    """Nobody serves the home: start `mnemolog serve`."""


class RefusedError(ValueError):
    """What was sent was refused; the message says which field and why."""


class Memory:
    """One space of a home that is served. Every call opens a connection of its own, so threads may share it."""

    def __init__(self, home: str | Path | None = None, space: str = "default", timeout: float = 60.0) -> None:
        """`home` is MNEMOLOG_HOME or ~/.mnemolog where None; `timeout` is in seconds, for each call."""
        self.home = Path(home or os.environ.get("MNEMOLOG_HOME") or "~/.mnemolog").expanduser()
        self.space = space
        self.timeout = timeout

    def record(self, session: str, role: str, content: str, **more: Any) -> str:
        """Records one turn, durably; its id. `more`: agent, at (ISO 8601), id, reply_to, parts.

        Sending the same id again is harmless, so a call that failed may be repeated with `id` given.
        """
        turn = {"id": str(uuid.uuid4()), "session": session, "role": role, "content": content} | more
        self.tell(turn)
        return str(turn["id"])

    def note(self, content: str, note: str | None = None, **more: Any) -> str:
        """Takes a note that surfaces, escalates or fades; its id. `more`: session, ttl, priority, context, source."""
        note = note or str(uuid.uuid4())
        self.tell({"type": "note-taken", "id": str(uuid.uuid4()), "note": note, "content": content} | more)
        return note

    def tell(self, *events: dict[str, Any]) -> str:
        """Records events of any outside type, as `mnemolog feed` takes them; the position of the last, for `after`.

        Raises RefusedError for the first refused, those before and after it being recorded.
        """
        said = [{"space": self.space, "id": str(uuid.uuid4())} | event for event in events]
        after = ""
        for outcome in self._request({"feed": said}):
            if "refused" in outcome:
                raise RefusedError(outcome["refused"])
            after = f"{outcome['partition']}:{outcome.get('stored', outcome.get('duplicate'))}"
        return after

    def context(self, session: str, **more: Any) -> dict[str, Any]:
        """What a model should be given now: `text`, `messages`, and every score and turn behind them.

        `more`: budget (tokens), as_of (a position or time), after (a position that must be in it: on Kafka, workers
        take a moment).
        """
        return dict(self.ask("context", space=self.space, session=session, **more))

    def recall(self, query: str, session: str = "", record: bool | None = None, **more: Any) -> list[dict[str, Any]]:
        """What is known about something, the most relevant first: each with `text`, `score`, `parts` and its `turns`.

        Where it is shown in a `session` that is recorded, which keeps alive what is used; `record` says otherwise.
        `more`: k (how many), kinds (turn, segment, conclusion, note), at (ISO 8601), as_of, history, forgotten, after.
        """
        found = self.ask("recall", space=self.space, query=query, session=session or None, **more)
        hits: list[dict[str, Any]] = found["hits"]
        turns = list(dict.fromkeys(turn for hit in hits for turn in hit["turns"]))[:32]
        if turns and (bool(session) if record is None else record):
            shown = {"type": "memory-recalled", "cue": query, "turns": turns, "session": session}
            self.tell(shown | ({"at": more["at"]} if more.get("at") else {}))
        return hits

    def needs_recall(self, session: str, message: str, **more: Any) -> bool:
        """Whether a message needs `recall`, or is served by what was shown in its session before."""
        return bool(self.ask("needs_recall", space=self.space, session=session, message=message, **more)["needed"])

    def reward(self, turns: list[str], reward: float = 1.0, **more: Any) -> None:
        """Says that recalled turns were of use (up to 1), or misled (down to -1). `more`: session, at."""
        self.tell({"type": "memory-rewarded", "turns": turns, "reward": reward} | more)

    def ask(self, what: str, **arguments: Any) -> Any:
        """The answer to any question a home answers, such as ask("view", name="efforts", space="ann")."""
        return self._request({"ask": what, "arguments": arguments})

    def _request(self, message: dict[str, Any]) -> Any:
        deadline = time.monotonic() + self.timeout
        while True:
            found = self._answer(message)
            if found.get("kind") != "BehindError" or time.monotonic() >= deadline:
                break
            time.sleep(0.02)
        if "error" in found:
            raise RefusedError(f"{found['error']}. {found['way_out']}".rstrip(". "))
        return found["answer"]

    def _answer(self, message: dict[str, Any]) -> dict[str, Any]:
        try:
            with socket.socket(socket.AF_UNIX) as connection:
                connection.settimeout(self.timeout)
                connection.connect(str(self._socket_path()))
                with connection.makefile("rwb") as stream:
                    stream.write(json.dumps(message).encode() + b"\n")
                    stream.flush()
                    answer = stream.readline()
        except OSError as error:
            raise NotServedError(f"nobody serves {self.home}: start `mnemolog serve --home {self.home}`") from error
        if not answer.endswith(b"\n"):
            raise NotServedError(f"the process that served {self.home} stopped before it answered")
        return dict(json.loads(answer))

    def _socket_path(self) -> Path:
        path = self.home.resolve() / "socket"
        if len(os.fsencode(path)) <= 100:
            return path
        name = hashlib.blake2b(os.fsencode(path), digest_size=8).hexdigest()
        return Path(tempfile.gettempdir()) / f"mnemolog-{os.getuid()}" / name
