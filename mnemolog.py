"""mnemolog from Python: record turns and ask for the context, over the socket of a running `mnemolog serve`.

    from mnemolog import Memory

    memory = Memory(space="ann")
    memory.record("chat-7", "user", "Why does the nightly build fail?")
    messages = memory.context("chat-7")["messages"]   # hand these to any chat model

One module, the standard library alone: it can be copied into an agent's environment.
"""

from __future__ import annotations

import json
import os
import random
import socket
import struct
import time
import uuid
from contextlib import suppress
from pathlib import Path
from typing import Any

__all__ = ["BusyError", "FailedError", "LaterError", "Memory", "NotServedError", "RefusedError", "UncertainError"]


FIRST_PAUSE, LAST_PAUSE = 0.02, 1.0
"""Seconds between tries: twice as many after each."""
LONGEST = 100
"""Bytes of a socket's path that every system takes."""


class NotServedError(ConnectionError):
    """Nobody serves the home, and nothing was done: start `mnemolog serve`."""


class BusyError(ConnectionError):
    """Who serves the home did not come to it in time: nothing was done."""


class UncertainError(ConnectionError):
    """Who serves the home took the request and did not answer: it is not known whether it was carried out.

    To do it again is harmless for whatever has an `id`.
    """


class FailedError(RuntimeError):
    """What was asked for could not be done, for a reason that lies in the home: no room, for example."""


class LaterError(FailedError):
    """It cannot be done yet: a position is not in the memory yet, or the memory is being opened again."""


class RefusedError(ValueError):
    """What was sent was refused; the message says which field and why."""


KINDS = {
    "UsageError": RefusedError,
    "BusyError": BusyError,
    "BehindError": LaterError,
    "BrokenError": LaterError,
    "UnreadableError": LaterError,
}
"""What errors of a home are here; all others are FailedError."""


class Memory:
    """One space of a home that is served. Every call opens a connection of its own, so threads may share it."""

    def __init__(self, home: str | Path | None = None, space: str = "default", timeout: float = 60.0) -> None:
        """`home` is MNEMOLOG_HOME or ~/.mnemolog where None; `timeout` is in seconds, for each call."""
        self.home = Path(home or os.environ.get("MNEMOLOG_HOME") or "~/.mnemolog").expanduser()
        self.space = space
        self.timeout = timeout

    def record(self, session: str, role: str, content: str, **more: Any) -> str:
        """Records one turn, durably; its id. `more`: agent, at (ISO 8601), id, reply_to, parts.

        The id is made once: a call that is not answered is tried again, until `timeout`, and recorded once. Raises
        NotServedError, BusyError, UncertainError, FailedError and RefusedError.
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

        Raises RefusedError for the first refused, those before and after it being recorded, and errors as `record`.
        """
        said = [{"space": self.space, "id": str(uuid.uuid4())} | event for event in events]
        after = ""
        for outcome in self._request({"feed": said}):
            if "refused" in outcome:
                raise RefusedError(outcome["refused"])
            after = f"{outcome['partition']}:{outcome.get('stored', outcome.get('duplicate'))}"
        return after

    def context(self, session: str, record: bool = True, **more: Any) -> dict[str, Any]:
        """What a model should be given now: `text`, `messages`, and every score and turn behind them.

        What recall put in is recorded as shown, which keeps alive what is used; `record` False is for looking only.
        `more`: question (what is to be answered, where it is not recorded yet), budget (tokens), without (sections and
        layers to leave out), details (ids and ranges TURN..TURN: a second window, on these alone), window, explain,
        as_of (a position or time), after (a position that must be in it: on Kafka, workers take a moment).
        """
        found: dict[str, Any] = self.ask("context", space=self.space, session=session, **more)
        if record and found["recalled"]["turns"] and more.get("as_of") is None:
            shown = {"type": "memory-recalled", "session": session, "at": found["at"]}
            self.tell(shown | found["recalled"])
        return found

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

    def judge(self, turn: str, older: str, contradicts: bool = True, confidence: float = 1.0, **more: Any) -> None:
        """Says whether a turn takes the place of an older one, as `ask("view", name="doubts", status="open")` wonders.

        `more`: session, at; model, prompt_hash and params_hash where a model judged.
        """
        judged = {"turn": turn, "older": older, "contradicts": contradicts, "confidence": confidence}
        self.tell({"type": "contradiction-judged"} | judged | more)

    def ask(self, what: str, **arguments: Any) -> Any:
        """The answer to any question a home answers, such as ask("view", name="efforts", space="ann")."""
        return self._request({"ask": what, "arguments": arguments})

    def _request(self, message: dict[str, Any]) -> Any:
        """Sends a request until it is answered. Why that is harmless: what it records has its id already."""
        line = json.dumps(message).encode() + b"\n"
        deadline = time.monotonic() + self.timeout
        pause = FIRST_PAUSE
        uncertain = False
        trouble = Exception()
        while True:
            try:
                return _said(self._answer(line, deadline))
            except NotServedError:
                if not uncertain:
                    raise
            except (BusyError, LaterError) as error:
                trouble = error
            except UncertainError:
                uncertain = True
            if time.monotonic() + pause >= deadline:
                if uncertain:
                    raise UncertainError(
                        f"{self.home} took the request and did not answer: it is not known whether it was carried out"
                    )
                raise trouble
            time.sleep(pause * random.uniform(0.5, 1))
            pause = min(2 * pause, LAST_PAUSE)

    def _answer(self, line: bytes, deadline: float) -> dict[str, Any]:
        """The answer to one try. Raises NotServedError, BusyError or UncertainError."""
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(max(deadline - time.monotonic(), 0.01))
            try:
                _connect(connection, self.home.resolve() / "socket")
            except (TimeoutError, BlockingIOError) as error:
                raise BusyError(f"who serves {self.home} is too busy to listen: nothing was done") from error
            except OSError as error:
                raise NotServedError(f"nobody serves {self.home}: start `mnemolog serve --home {self.home}`") from error
            answer = b""
            with suppress(OSError), connection.makefile("rwb") as stream:
                stream.write(line)
                stream.flush()
                answer = stream.readline()
        if not answer.endswith(b"\n"):
            raise UncertainError
        return dict(json.loads(answer))


def _connect(connection: socket.socket, path: Path) -> None:
    """Connects to a socket of this user's alone. Raises PermissionError for one that others could have made."""
    user = os.getuid()
    for place, others in ((path, 0o077), (path.parent, 0o022)):
        found = place.lstat()
        if found.st_uid != user or found.st_mode & others:
            raise PermissionError(f"{place} is not this user's alone")
    if len(os.fsencode(path)) <= LONGEST:
        connection.connect(str(path))
    else:
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            connection.connect(f"/proc/self/fd/{folder}/{path.name}")
        finally:
            os.close(folder)
    if hasattr(socket, "SO_PEERCRED"):
        peer = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[1]
        if peer != user:
            raise PermissionError(f"user {peer} listens at {path}")


def _said(found: dict[str, Any]) -> Any:
    """What an answer holds. Raises what stands in its place."""
    if "error" not in found:
        return found["answer"]
    raise KINDS.get(found["kind"], FailedError)(f"{found['error']}. {found['way_out']}".rstrip(". "))
