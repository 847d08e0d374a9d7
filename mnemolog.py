"""mnemolog from Python: record turns, and ask what a model should be given.

    from mnemolog import Memory

    memory = Memory("ann")
    memory.record("chat-7", "user", "Why does the nightly build fail?")
    messages = memory.context("chat-7")["messages"]   # hand these to any chat model

Nothing needs to run first: where nobody serves the home, a server is started, which ends after ten idle minutes, or
when a person starts one. With `url` (and `key`) the same calls go to a server elsewhere, by HTTP. `AsyncMemory` has the
same calls to await.

One module, the standard library alone: it can be copied into an agent's environment.
"""

from __future__ import annotations

import asyncio
import errno
import http.client
import json
import os
import random
import re
import shlex
import shutil
import socket
import ssl
import struct
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

__all__ = [
    "AsyncMemory", "BusyError", "Declared", "DeniedError", "FailedError", "LaterError", "Memory", "NotServedError",
    "RefusedError", "UncertainError",
]  # fmt: skip

T = TypeVar("T")
IDLE = 600
"""Seconds without a request after which a server ends that was started from here."""
STARTING = 300.0
"""Seconds that a call without a timeout of its own waits longer, for a server that was started from here."""
SHOWN = 5
"""Lines of what a server said that are shown where it ended."""
FIRST_PAUSE, LAST_PAUSE = 0.02, 1.0
"""Seconds between tries: twice as many after each."""
MOST, MOST_BYTES = 1000, 16 * 2**20
"""Events of one request, and their bytes where there are several."""
MAX_REQUEST = 32 * 2**20
"""Bytes of a request that are taken."""
YEAR_1971 = 31_536_000_000_000
"""In microseconds: a smaller number was most likely one of seconds or milliseconds."""
UNREACHED = (errno.ECONNREFUSED, errno.EHOSTUNREACH, errno.ENETUNREACH)
"""Errors of a connection that was not made."""
GATEWAYS = (502, 504)
"""What is answered on the way to a server where that is away or does not answer: it may have taken the request."""
REASONS = ("edited", "regenerated", "popped", "cleared")
"""Why a turn is taken back."""
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


class DeniedError(PermissionError):
    """The key may not do this, or is none."""


class Declared(str):
    """The name of a task that was declared."""

    unknown: list[str]
    """What it is to be done after, and the memory does not know: it is recorded all the same, for that may come."""

    def __new__(cls, name: str, unknown: Sequence[str] = ()) -> Declared:
        """A name, and what it depends on and nobody knows."""
        made = super().__new__(cls, name)
        made.unknown = [*unknown]
        return made


KINDS = {
    "UsageError": RefusedError,
    "DeniedError": DeniedError,
    "BusyError": BusyError,
    "BehindError": LaterError,
    "BrokenError": LaterError,
    "UnreadableError": LaterError,
}
"""What errors of a home are here; all others are FailedError."""


class Memory:
    """One space of a memory. Every call is a connection of its own, so threads may share it."""

    def __init__(
        self, space: str = "", *, home: str | Path | None = None, url: str = "", key: str = "",
        timeout: float | None = None, start: bool = True,
    ) -> None:  # fmt: skip
        """`space` is MNEMOLOG_SPACE or "default" where empty, `home` MNEMOLOG_HOME or ~/.mnemolog.

        With `url` (MNEMOLOG_URL, where no home is named) a server is asked by HTTP, with `key` (MNEMOLOG_KEY).
        `timeout` is in seconds, for each call: a minute where none is given, and up to five more while a server starts.
        `start` False: where nobody serves the home, that is an error. Raises RefusedError for what is no url or key.
        """
        self.space = space or os.environ.get("MNEMOLOG_SPACE") or "default"
        # Why absolute: a program may go to another folder, and its memory stays where it is.
        self.home = Path(home or os.environ.get("MNEMOLOG_HOME") or "~/.mnemolog").expanduser().absolute()
        self.url = (url or ("" if home else os.environ.get("MNEMOLOG_URL", ""))).rstrip("/")
        self.key = (key or os.environ.get("MNEMOLOG_KEY", "")).strip()
        if self.url and not _is_url(self.url):
            raise RefusedError(f"url: {self.url[:100]!r} is none; give one such as http://127.0.0.1:8765")
        if not (self.key.isascii() and self.key.isprintable()):
            raise RefusedError("key: it holds what no key does; give it as `mnemolog keys add` shows it")
        self.timeout = 60.0 if timeout is None else timeout
        self.starting = STARTING if timeout is None else 0.0
        self.start = start

    def record(self, session: str, role: str, content: str, **more: Any) -> str:
        """Records one turn, durably; its id. `more`: agent, at (ISO 8601, or a datetime with its zone), id, reply_to,
        parts.

        The id is made once: a call that is not answered is tried again, until `timeout`, and recorded once. Raises
        NotServedError, BusyError, UncertainError, FailedError and RefusedError.
        """
        turn = _named({"session": session, "role": role, "content": content} | more)
        self.tell(turn)
        return str(turn["id"])

    def note(self, content: str, note: str | None = None, **more: Any) -> str:
        """Takes a note that surfaces, escalates or fades; its id. `more`: session, ttl (urgent, normal, low or seconds)
        or `due` (2d, 3h, 90m, a timedelta, or a datetime or ISO time later than now), priority, context, source, at."""
        note = note or str(uuid.uuid4())
        if (due := more.pop("due", None)) is not None:
            if "ttl" in more:
                raise RefusedError("due: there is a ttl, too; say one of them")
            more = more | fields_of_due(_span_or_moment(due), more.get("at"))
        elif isinstance(more.get("ttl"), timedelta):
            more["ttl"] = _span_or_moment(more["ttl"])
        self.tell({"type": "note-taken", "id": str(uuid.uuid4()), "note": note, "content": content} | more)
        return note

    def task(self, content: str, task: str | None = None, **more: Any) -> Declared:
        """Declares a task; its name, which has those of `depends_on` that the memory does not know as `unknown`.

        `more`: session, priority, estimate (hours), depends_on. Told anew by its name.
        """
        task = task or str(uuid.uuid4())
        if not more.get("depends_on"):  # nothing is named: nothing is asked
            self.tell({"type": "task-declared", "task": task, "content": content} | more)
            return Declared(task)
        return Declared(task, self.say("task-declared", task=task, content=content, **more).get("unknown", ()))

    def update_task(self, task: str, **more: Any) -> dict[str, Any]:
        """Says how a task stands, as `say`. `more`: status, step, reason, progress (0 to 1), priority, session."""
        return self.say("task-updated", task=task, **more)

    def settle(self, note: str, resolution: str = "", **more: Any) -> dict[str, Any]:
        """Says that a note was dealt with, as `say`; one that was inferred is named by its `turn` instead."""
        return self.say("note-settled", note=note, resolution=resolution, **more)

    def say(self, type: str, **fields: Any) -> dict[str, Any]:
        """Says something of what the memory knows: importance-flagged, memory-pinned, effort-closed, or any other fact.

        The answer has the `id` and `position` of what was recorded, and `unknown`, the ids that the fact names and the
        memory does not know, where there are any: it is recorded all the same, for they may come later. Where it stands
        so already the answer has that, `already`, and `since` when, and nothing is recorded. Raises errors as `record`.
        """
        fact = {"type": type} | fields
        known: dict[str, Any] = {}
        with suppress(FailedError, RefusedError, DeniedError):  # it is recorded though nothing can be asked
            known = self.ask("known", space=str(fact.get("space", self.space)), fact=fact)
        if "already" in known:
            return known
        recorded = _named(fact)
        return {"id": recorded["id"], "position": self.tell(recorded)} | known

    def tell(self, *events: dict[str, Any]) -> str:
        """Records events of any outside type, as `mnemolog feed` takes them; the position of the last, for `after`.

        Many go in several requests. Raises RefusedError for the first refused, those before and after it being
        recorded, and errors as `record`.
        """
        return self._told(events)[0]

    def retract(self, session: str, *turns: str, reason: str = "edited") -> dict[str, Any]:
        """Takes turns back: they are no longer shown or matched, and history keeps them.

        `reason`: edited, regenerated, popped or cleared. Of those who take a turn back for one reason, the first does;
        the answer has the turns that this call took back, `turns`, and the position `after` which that is known. Like
        every fact it is recorded though its turn is not known yet, which may come later: `unknown` has the turns that
        the memory does not know in that session, where it could be asked. Raises RefusedError for another reason.
        """
        if reason not in REASONS:
            raise RefusedError(f"reason: there is no {reason!r}; it is one of {', '.join(REASONS)}")
        after, stored = self._told(
            [
                {"type": "turn-retracted", "session": session, "turn": turn, "reason": reason}
                | {"id": str(uuid.uuid5(uuid.NAMESPACE_OID, json.dumps([session, turn, reason], default=str)))}
                for turn in turns
            ]
        )
        taken = [turn for turn, new in zip(turns, stored, strict=True) if new]
        return {"turns": taken, "after": after, "unknown": self._unknown(session, turns)}

    def _unknown(self, session: str, turns: Sequence[str]) -> list[str]:
        """Those of some turns that the memory does not know in a session; none where it cannot be asked."""
        if not turns:
            return []
        # Why: an agent that takes back its last turn again and again would be sent the session's turns each time.
        only = {"turn_id": turns[0]} if len(turns) == 1 else {}
        try:
            rows = self.ask("view", name="recorded_turns", space=self.space, session=session, columns="turn_id", **only)
        except (FailedError, RefusedError, DeniedError):  # what was recorded stands, whatever can be asked
            return []
        known = {row["turn_id"] for row in rows}
        return [turn for turn in turns if turn not in known]

    def _told(self, events: Sequence[dict[str, Any]]) -> tuple[str, list[bool]]:
        """Records events: the position of the last, and of each whether it is new."""
        for event in events:
            if not isinstance(event, dict):
                raise RefusedError(f"event: must be a dict, not {event!r:.60}")
            if type(at := event.get("at")) is int and 0 < at < YEAR_1971:
                warnings.warn(
                    f"at: {at} is dated 1970, for whole numbers are microseconds; were these seconds?", stacklevel=4
                )
        after = ""
        said = [_json({"space": self.space} | _named(event)) for event in events]
        outcomes = [one for line in _requests(said) for one in self._exchanged(line, records=True)]
        for outcome in outcomes:
            if "refused" in outcome:
                raise RefusedError(outcome["refused"])
            after = f"{outcome['partition']}:{outcome.get('stored', outcome.get('duplicate'))}"
        return after, ["stored" in outcome for outcome in outcomes]

    def context(self, session: str, record: bool = True, **more: Any) -> dict[str, Any]:
        """What a model should be given now: `text`, `messages`, and every score and turn behind them.

        What recall put in is recorded as shown, which keeps alive what is used; `record` False is for looking only.
        `more`: question (what is to be answered, where it is not recorded yet), budget (tokens), without (sections and
        layers to leave out), details (ids and ranges TURN..TURN: a second window, on these alone), window, explain,
        at (the moment that what is due is told by, ISO 8601 or "now"; the last event's if not given),
        as_of (a position or time), after (a position that must be in it: on Kafka, workers take a moment).
        """
        if more.get("at") == "now":
            more["present"] = _time_of(datetime.now(UTC))
            del more["at"]
        found: dict[str, Any] = self.ask("context", space=self.space, session=session, **more)
        if record and found.get("shown"):
            self.tell(found["shown"])
        return found

    def recall(self, query: str, session: str = "", record: bool | None = None, **more: Any) -> list[dict[str, Any]]:
        """What is known about something, the most relevant first: each with `text`, `score`, `parts` and its `turns`.

        Where it is shown in a `session` that is recorded, which keeps alive what is used; `record` says otherwise. What
        is asked `as_of` an earlier moment never is.
        `more`: k (how many), kinds (turn, segment, conclusion, note, task), at (ISO 8601), as_of, history, forgotten,
        turns (ids of the only ones that may answer), after.
        """
        found = self.ask("recall", space=self.space, query=query, session=session or None, **more)
        hits: list[dict[str, Any]] = found["hits"]
        if found.get("shown") and (bool(session) if record is None else record):
            self.tell(found["shown"])
        return hits

    def needs_recall(self, session: str, message: str, **more: Any) -> bool:
        """Whether a message needs `recall`, or is served by what was shown in its session before."""
        return bool(self.ask("needs_recall", space=self.space, session=session, message=message, **more)["needed"])

    def reward(self, turns: list[str], reward: float = 1.0, **more: Any) -> dict[str, Any]:
        """Says that recalled turns were of use (up to 1), or misled (down to -1), as `say`. `more`: session, at."""
        return self.say("memory-rewarded", turns=turns, reward=reward, **more)

    def judge(
        self, turn: str, older: str, contradicts: bool = True, confidence: float = 1.0, **more: Any
    ) -> dict[str, Any]:
        """Says whether a turn takes the place of an older one, as `ask("view", name="doubts", status="open")` wonders.

        As `say`. `more`: session, at; model, prompt_hash and params_hash where a model judged.
        """
        judged = {"turn": turn, "older": older, "contradicts": contradicts, "confidence": confidence}
        return self.say("contradiction-judged", **judged, **more)

    def ask(self, what: str, **arguments: Any) -> Any:
        """The answer to any question a home answers, such as ask("view", name="efforts", space="ann")."""
        return self._request({"ask": what, "arguments": arguments})

    def serve(self) -> None:
        """Sees that somebody serves the home: starts a server where nobody does. Raises NotServedError."""
        _serve(self.home, time.monotonic() + self.timeout + self.starting)

    def _request(self, message: dict[str, Any]) -> Any:
        return self._exchanged(_json(message) + b"\n", records="feed" in message)

    def _exchanged(self, line: bytes, records: bool) -> Any:
        """Sends a request until it is answered. Why that is harmless: what it `records` has its id already."""
        if len(line) > MAX_REQUEST:
            raise RefusedError(f"the request is too long. at most {MAX_REQUEST:,} bytes")
        deadline = time.monotonic() + self.timeout
        pause = FIRST_PAUSE
        uncertain = False
        starting = self.starting
        trouble: Exception | None = None
        what = (
            f"{self.url or self.home} took the request and did not answer: it is not known whether it was carried out"
            if records
            else f"{self.url or self.home} did not answer within {self.timeout:g} seconds"
        )
        unknown = UncertainError(what)
        while True:
            absent = False
            try:
                return _said(self._sent(line, deadline) if self.url else self._answer(line, deadline))
            except NotServedError as error:
                absent = self.start and not self.url
                if not absent and not uncertain:
                    raise
                trouble = error
            except (BusyError, LaterError) as error:
                trouble = error
            except UncertainError as error:
                uncertain = records or trouble is None
                unknown = UncertainError(f"{what} ({error})" if str(error) else what)
            if absent:
                began = time.monotonic()
                try:
                    _serve(self.home, deadline + starting)
                except NotServedError as error:
                    raise (unknown if uncertain else error) from None
                took = min(time.monotonic() - began, starting)
                deadline, starting = deadline + took, starting - took
            if time.monotonic() + pause >= deadline:
                raise unknown if uncertain or trouble is None else trouble
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

    def _sent(self, line: bytes, deadline: float) -> dict[str, Any]:
        """The answer to one try by HTTP. Raises NotServedError, BusyError or UncertainError, and FailedError for what
        no mnemolog answers."""
        headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {self.key}"} if self.key else {})
        request = urllib.request.Request(f"{self.url}/v1/call", line, headers)
        said, status, comes_back = b"", 200, True
        try:
            with urllib.request.urlopen(request, timeout=max(deadline - time.monotonic(), 0.01)) as answer:
                said = answer.read()
        except urllib.error.HTTPError as error:
            status, comes_back = error.code, "Retry-After" in error.headers
            with suppress(OSError, http.client.HTTPException):
                said = error.read()
        except urllib.error.URLError as error:
            reason = error.reason
            if isinstance(reason, socket.gaierror | ssl.SSLError) or getattr(reason, "errno", None) in UNREACHED:
                raise NotServedError(f"nobody serves {self.url}: {reason}") from error
            raise UncertainError from error
        except (OSError, http.client.HTTPException) as error:
            raise UncertainError from error
        found: Any = None
        with suppress(ValueError):
            found = json.loads(said)
        is_ours = isinstance(found, dict) and (found.keys() >= {"error", "way_out", "kind"} or "answer" in found)
        if status in (429, 503) and (comes_back or not is_ours):
            raise BusyError(f"{self.url} is busy: {found['error'] if is_ours else 'nothing was done'}")
        if not is_ours and status in GATEWAYS:
            raise UncertainError(f"status {status}: what stands before the server does not reach it")
        if not is_ours:
            raise FailedError(f"{self.url} is no mnemolog: it answered {said[:80]!r}, with status {status}")
        return dict(found)


def _named(event: dict[str, Any]) -> dict[str, Any]:
    """An event with an id: it is made once, so that what is sent again is recorded once."""
    return event if event.get("id") is not None else event | {"id": str(uuid.uuid4())}


def _json(value: Any) -> bytes:
    """A value as JSON. Raises RefusedError for what is none."""
    try:
        return json.dumps(value, default=_plain, allow_nan=False).encode()
    except (RecursionError, TypeError, ValueError) as error:
        raise RefusedError(f"what was to be sent is no JSON: {error}") from None


def _plain(value: Any) -> str:
    """What JSON has in place of a moment, a day or a UUID. Raises TypeError."""
    if isinstance(value, datetime) and value.tzinfo is None:
        raise TypeError(f"{value!r} names no time zone, and UTC may not be meant; .astimezone() gives it the local one")
    if isinstance(value, date | uuid.UUID):
        return value.isoformat() if isinstance(value, date) else str(value)
    raise TypeError(f"{value!r:.60} is of type {type(value).__name__}")


def _requests(said: Sequence[bytes]) -> Iterator[bytes]:
    """Requests that record events, in order."""
    start, size = 0, 0
    for end, event in enumerate(said):
        if start < end and (end - start == MOST or size + len(event) > MOST_BYTES):
            yield b'{"feed": [' + b",".join(said[start:end]) + b"]}\n"
            start, size = end, 0
        size += len(event)
    if said:
        yield b'{"feed": [' + b",".join(said[start:]) + b"]}\n"


def _is_url(text: str) -> bool:
    try:
        found = urllib.parse.urlsplit(text)
        return found.scheme in ("http", "https") and bool(found.hostname) and text.isprintable() and " " not in text
    except ValueError:
        return False


SPAN = re.compile(r"(\d{1,11})\s*([smhd]?)", re.IGNORECASE | re.ASCII)
UNITS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}
CLASSES = ("urgent", "normal", "low")


def fields_of_due(due: str | int, at: str | None = None) -> dict[str, Any]:
    """What a note's event has where it is due then: `ttl`, and `at` from when that counts where a time was named.

    `due` is 2d, 3h, 90m, seconds, urgent, normal, low, an ISO time (UTC where it names no offset) later than `at`, or a
    day, of which the end is meant. `at` is the present where None. Raises RefusedError for anything else.
    """
    given = str(due).strip()
    if given in CLASSES:
        return {"ttl": given}
    if (span := SPAN.fullmatch(given)) and (seconds := int(span[1]) * UNITS[span[2].lower()]):
        return {"ttl": seconds}
    try:
        begins = (datetime.now(UTC) if at is None else _utc(datetime.fromisoformat(str(at)))).replace(microsecond=0)
        try:
            ends = _utc(datetime.combine(date.fromisoformat(given) + timedelta(days=1), datetime.min.time()))
        except ValueError:
            ends = _utc(datetime.fromisoformat(given))
    except (ValueError, OverflowError):
        raise RefusedError(
            f"due: {given[:60]!r} is no time to be due; give 2d, 3h, 90m, seconds, urgent, normal, low, or an ISO time "
            "such as 2026-01-20T10:00:00Z"
        ) from None
    left = int((ends - begins).total_seconds())
    if left <= 0:
        raise RefusedError(f"due: {given[:60]!r} has passed; give a time later than {_time_of(begins)}")
    return {"ttl": left, "at": _time_of(begins)}


def _span_or_moment(due: Any) -> Any:
    """Seconds of a span of Python. Raises RefusedError for a moment that names no time zone."""
    if isinstance(due, timedelta):
        return int(due.total_seconds())
    if isinstance(due, datetime):
        try:
            return _plain(due)
        except TypeError as error:
            raise RefusedError(f"due: {error}") from None
    return due


def _utc(moment: datetime) -> datetime:
    """A moment in UTC, which is meant where it names no offset."""
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def _time_of(moment: datetime) -> str:
    return moment.isoformat(timespec="seconds").replace("+00:00", "Z")


class AsyncMemory:
    """The calls of `Memory`, to be awaited: each runs in a thread, at most `threads` at once."""

    def __init__(self, space: str = "", *, threads: int = 16, **how: Any) -> None:
        """As `Memory`."""
        self.memory = Memory(space, **how)
        self.threads = threads
        self._pool: tuple[int, ThreadPoolExecutor] | None = None

    def __getstate__(self) -> dict[str, Any]:
        """All but the threads, so that it can be copied and sent to another process."""
        return self.__dict__ | {"_pool": None}

    async def _run(self, call: Callable[..., T], *given: Any, **more: Any) -> T:
        # Why by process: a fork has none of the threads, and what waited for them there would wait for ever.
        if self._pool is None or self._pool[0] != os.getpid():
            self._pool = os.getpid(), ThreadPoolExecutor(self.threads, "mnemolog")
        return await asyncio.get_running_loop().run_in_executor(self._pool[1], lambda: call(*given, **more))

    async def record(self, session: str, role: str, content: str, **more: Any) -> str:
        """As `Memory.record`."""
        return await self._run(self.memory.record, session, role, content, **more)

    async def note(self, content: str, note: str | None = None, **more: Any) -> str:
        """As `Memory.note`."""
        return await self._run(self.memory.note, content, note, **more)

    async def task(self, content: str, task: str | None = None, **more: Any) -> Declared:
        """As `Memory.task`."""
        return await self._run(self.memory.task, content, task, **more)

    async def update_task(self, task: str, **more: Any) -> dict[str, Any]:
        """As `Memory.update_task`."""
        return await self._run(self.memory.update_task, task, **more)

    async def settle(self, note: str, resolution: str = "", **more: Any) -> dict[str, Any]:
        """As `Memory.settle`."""
        return await self._run(self.memory.settle, note, resolution, **more)

    async def say(self, type: str, **fields: Any) -> dict[str, Any]:
        """As `Memory.say`."""
        return await self._run(self.memory.say, type, **fields)

    async def tell(self, *events: dict[str, Any]) -> str:
        """As `Memory.tell`."""
        return await self._run(self.memory.tell, *events)

    async def retract(self, session: str, *turns: str, reason: str = "edited") -> dict[str, Any]:
        """As `Memory.retract`."""
        return await self._run(self.memory.retract, session, *turns, reason=reason)

    async def context(self, session: str, record: bool = True, **more: Any) -> dict[str, Any]:
        """As `Memory.context`."""
        return await self._run(self.memory.context, session, record, **more)

    async def recall(
        self, query: str, session: str = "", record: bool | None = None, **more: Any
    ) -> list[dict[str, Any]]:
        """As `Memory.recall`."""
        return await self._run(self.memory.recall, query, session, record, **more)

    async def needs_recall(self, session: str, message: str, **more: Any) -> bool:
        """As `Memory.needs_recall`."""
        return await self._run(self.memory.needs_recall, session, message, **more)

    async def reward(self, turns: list[str], reward: float = 1.0, **more: Any) -> dict[str, Any]:
        """As `Memory.reward`."""
        return await self._run(self.memory.reward, turns, reward, **more)

    async def judge(
        self, turn: str, older: str, contradicts: bool = True, confidence: float = 1.0, **more: Any
    ) -> dict[str, Any]:
        """As `Memory.judge`."""
        return await self._run(self.memory.judge, turn, older, contradicts, confidence, **more)

    async def ask(self, what: str, **arguments: Any) -> Any:
        """As `Memory.ask`."""
        return await self._run(self.memory.ask, what, **arguments)

    async def serve(self) -> None:
        """As `Memory.serve`."""
        await self._run(self.memory.serve)


class _Server(subprocess.Popen[bytes]):
    """A server that was started from here, and goes on when this process ends: that is nothing to be warned of."""

    def __del__(self, *given: Any) -> None:
        """Warns of nothing."""


_starting = threading.Lock()
_started: list[_Server] = []
"""Servers that were started from here; they are not waited for."""


def _serve(home: Path, deadline: float) -> None:
    """Starts a server of a home, and waits until somebody listens there: one that another process started will do, and
    so will one that was started from here before and is not there yet.

    Raises NotServedError where it ends, where none has come up at the `deadline`, and where nothing can be written.
    """
    told = home / "serve.log"
    command = [*_command(), "serve", "--home", str(home), "--idle", str(IDLE), "--make-way"]
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        if _listens(home):
            return
        server, begin = _found(command, told)
    except OSError as error:
        raise NotServedError(f"nobody serves {home}, and it cannot be served from here: {error}") from error
    tried = False
    while True:
        code = server.poll()
        if _listens(home):  # asked after that: ours also ends where another's listens
            return
        if code is not None and begin is not None and (code or tried):
            how = f"with exit code {code}" if code >= 0 else f"by signal {-code}"
            lines = told.read_bytes()[begin:].decode(errors="replace").splitlines()[-SHOWN:]
            said = "\n".join(["it said:", *lines, f"({told} tells more)"]) if lines else "it said nothing"
            raise NotServedError(f"no server of {home} came up: it ended {how}; {said}")
        if time.monotonic() >= deadline:
            raise NotServedError(
                f"the server of {home} is still starting (process {server.pid}): nothing was done yet; ask again, "
                f"which goes on waiting for it ({told} tells more)"
            )
        if code is not None:  # in good order: it made way, or was idle
            tried = begin is not None
            server, begin = _found(command, told)
        time.sleep(FIRST_PAUSE)


def _found(command: list[str], told: Path) -> tuple[subprocess.Popen[bytes], int | None]:
    """The process that runs a command, and where in the file `told` begins what it says: None for one that was started
    before."""
    with _starting:
        for server in _started:
            if server.args == command and server.poll() is None:
                return server, None
        with open(os.open(told, os.O_CREAT | os.O_APPEND | os.O_WRONLY | os.O_NOFOLLOW, 0o600), "ab") as log:
            begin = log.tell()
            server = _Server(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
            _started.append(server)
            return server, begin


def _listens(home: Path) -> bool:
    with suppress(OSError), socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(LAST_PAUSE)  # who hangs may take no more connections
        _connect(connection, home.resolve() / "socket")
        return True
    return False


def _command() -> list[str]:
    """How `mnemolog` is run: as MNEMOLOG_COMMAND says, beside this interpreter, from PATH, or in this interpreter."""
    if named := os.environ.get("MNEMOLOG_COMMAND"):
        return shlex.split(named)
    found = shutil.which("mnemolog", path=str(Path(sys.executable).parent)) or shutil.which("mnemolog")
    if found:
        return [found]
    if find_spec("streams") and find_spec("streams.gateways"):
        return [sys.executable, "-m", "streams.gateways.cli"]
    raise NotServedError("there is no command mnemolog: install it, or name it in MNEMOLOG_COMMAND")


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
