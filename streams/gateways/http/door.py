"""The door: every call to the home passes here, and is held to the key of who makes it.

A key for some spaces reaches nothing of any other: an event says its space or gets the key's own, a question must name
one (views have a column of it, and only rows with that space are found).
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from projections.saying import Finding, is_of_memory, turn_of
from streams.core import DEFAULT_SPACE
from streams.core.errors import DeniedError, MnemologError, UsageError, listed
from streams.gateways.http.holder import Holder
from streams.gateways.moments import moment
from streams.logs.where import told_place
from streams.runtime.requests import Ask, Feed, parse

T = TypeVar("T")
log = logging.getLogger(__name__)

READS = ("view", "show", "context", "recall", "recall_batch", "memory", "needs_recall", "known")
"""Questions that name a space; all others are about all of them."""
AT = "The moment that what is due is told by, ISO 8601 or `now`; the last event's if not given."
IDEMPOTENCY = "Sent again with the same key, it adds nothing."


@dataclass(frozen=True)
class Caller:
    """Who asks, and what they may."""

    name: str = ""
    """Of the key; "" where none is needed."""
    spaces: tuple[str, ...] | None = None
    """None: all."""
    may_read: bool = True
    may_write: bool = True

    def space(self, named: str | None = None) -> str:
        """The space that is meant: the named one, or the one that the key is for. Raises DeniedError."""
        space = named or (self.spaces[0] if self.spaces is not None and len(self.spaces) == 1 else DEFAULT_SPACE)
        if self.spaces is not None and space not in self.spaces:
            raise DeniedError(f"this key is not for space {space!r}", "name one that it is for, or use another key")
        return space

    def check(self, *, write: bool) -> None:
        """Raises DeniedError where the key is not for reading (or writing)."""
        if not (self.may_write if write else self.may_read):
            raise DeniedError(f"this key may not {'write' if write else 'read'}", "use another key")


def shows(session: str, record: bool | None) -> bool:
    """Whether what recall answers counts as shown: in a session that is recorded, or as `record` says."""
    return bool(session) if record is None else record


class Door:
    """The calls of a home, for one caller."""

    def __init__(self, holder: Holder, caller: Caller) -> None:
        self._holder = holder
        self.caller = caller

    async def close(self) -> None:
        """Lets go of the connections to the home, which other doors may share."""
        await self._holder.close()

    async def call(self, message: Any) -> Any:
        """The answer to a call as the socket takes it: a question, or events. Raises DeniedError and what it raises."""
        match parse(message):
            case Feed(feed=events):
                return await self.feed(events)
            case Ask(ask=what, arguments=arguments, after=after):
                return await self.ask(what, **(arguments | ({"after": after} if after else {})))
        raise UsageError("the request is not understood", 'send {"ask": NAME, "arguments": {...}} or {"feed": [...]}')

    async def ask(self, what: str, /, **arguments: Any) -> Any:
        """The answer to a question."""
        self.caller.check(write=False)
        if self.caller.spaces is not None:
            if what == "spaces":
                found = await self._holder.call({"ask": what, "arguments": arguments})
                return [row for row in found if row["space"] in self.caller.spaces]
            if what not in READS:
                raise DeniedError(f"{what!r} is about all spaces, and this key is for some", "use another key")
            queries = arguments.get("queries")
            for place in queries if what == "recall_batch" and isinstance(queries, list) else [arguments]:
                if isinstance(place, dict):
                    place["space"] = self.caller.space(place.get("space"))
        found = await self._holder.call({"ask": what, "arguments": arguments})
        if what in ("context", "recall") and isinstance(found, dict) and (hint := await self._hint(found)):
            found["hint"] = hint
        return found

    async def _hint(self, found: Mapping[str, Any]) -> str:
        """Why an answer is empty, where nothing was ever said in its space: a name may be misspelt. It tells the names
        of spaces that the key is for; "" where there is nothing to tell."""
        if found.get("sections") or found.get("hits") or found.get("position", -1) >= 0:
            return ""
        space = found["space"]
        try:
            known = [str(row["space"]) for row in await self.ask("spaces")]
        except MnemologError:  # the answer stands
            return ""
        if space in known:
            return ""
        others = f"; spaces: {listed(known)}" if known else ""
        return f"nothing was said in a space {space!r} yet{others}"

    async def feed(self, events: Sequence[Any], key: str = "") -> list[dict[str, Any]]:
        """What became of events, in order, as the home tells it, each with the event's `id`.

        Those without an id get one; of a request that is sent again under its `key` (any text) the same as before.
        """
        self.caller.check(write=True)
        said: list[Any] = []
        answers: list[dict[str, Any]] = []
        sent: list[int] = []
        for place, event in enumerate(events):
            if not isinstance(event, dict):  # the gate says so
                answers.append({})
                said.append(event)
                sent.append(place)
                continue
            if "id" not in event:
                own = f"{self.caller.name}\0{key}\0{place}"
                event = event | {"id": str(uuid.uuid5(uuid.NAMESPACE_OID, own) if key else uuid.uuid4())}
            answers.append({"id": event["id"]})
            named = event.get("space")
            if named is None or (isinstance(named, str) and named):  # the gate says what is wrong with any other
                try:
                    event = event | {"space": self.caller.space(named)}
                except DeniedError as error:
                    answers[-1]["refused"] = str(error)
                    continue
            said.append(event)
            sent.append(place)
        outcomes = await self._holder.feed(said) if said else []
        for place, outcome in zip(sent, outcomes, strict=True):
            answers[place] |= outcome
        return answers

    async def tell(self, event: dict[str, Any], key: str = "") -> dict[str, Any]:
        """What became of one event, with a `key` as for `feed`. Raises UsageError where it is refused."""
        (outcome,) = await self.feed([event], key)
        if "refused" in outcome:
            raise UsageError(outcome["refused"], "nothing was recorded")
        return {"id": outcome["id"]} | told(outcome)

    async def turn_of(self, id: str, space: str) -> dict[str, Any]:
        """An effort or turn in words of the log, which knows no derived ids: a turn, and where that was said.

        Raises UsageError where there is none.
        """
        return await self.answered(turn_of(id, space, "recall and context tell ids"))

    async def answered(self, finding: Finding[T]) -> T:
        """What questions come to that are asked here; see `saying`."""
        try:
            question = next(finding)
            while True:
                question = finding.send(await self.ask("view", **question))
        except StopIteration as done:
            found: T = done.value
            return found

    async def known(self, event: Mapping[str, Any]) -> dict[str, Any]:
        """What is to be told of an event before it is recorded: `unknown`, what it names and the memory does not know;
        or `already` what it says, and `since` when, where it stands so. Nothing where that cannot be found out."""
        if not (self.caller.may_read and is_of_memory(event)):
            return {}
        try:
            found: dict[str, Any] = await self.ask("known", space=self.caller.space(event.get("space")), fact=event)
            return found
        except MnemologError:  # the log takes what is said though no memory can be asked
            return {}

    async def say(self, event: dict[str, Any]) -> dict[str, Any]:
        """What became of an event that says something of what the memory knows: as `tell`, with what `known` tells of
        it; where it stands so already that alone, and nothing is recorded. Raises UsageError where it is refused."""
        known = await self.known(event)
        return known if "already" in known else await self.tell(event) | known

    # -- what is shown is recorded -------------------------------------------------------------------------------------

    async def context(self, session: str, record: bool = True, **more: Any) -> dict[str, Any]:
        """What a model should be given; what recall put in is recorded as shown, where the key may write.

        Who answers before that (see `show`) has it not recorded here.
        """
        space = self.caller.space(more.pop("space", None))
        more |= moment(more.pop("at", None))
        found: dict[str, Any] = await self.ask("context", space=space, session=session, **more)
        if record:
            await self.show(found)
        return found

    async def show(self, found: Mapping[str, Any]) -> None:
        """Records what an answer to `context` or `recall` shows, where the key may write."""
        if found["shown"] and self.caller.may_write:
            await self.feed([found["shown"]])

    async def show_later(self, found: Mapping[str, Any]) -> None:
        """The same for who was answered already, and can be told nothing more."""
        try:
            await self.show(found)
        except MnemologError as error:
            log.warning("what was shown was not recorded: %s", error)

    async def recall(self, query: str, session: str = "", record: bool | None = None, **more: Any) -> dict[str, Any]:
        """What is known about something; where it is shown in a session that is recorded, or as `record` says."""
        space = self.caller.space(more.pop("space", None))
        found: dict[str, Any] = await self.ask("recall", space=space, query=query, session=session or None, **more)
        if shows(session, record):
            await self.show(found)
        return found


def told(outcome: dict[str, Any]) -> dict[str, Any]:
    """What became of an event, as it is told outside."""
    if "refused" in outcome:
        return {"refused": outcome["refused"]}
    known = "duplicate" in outcome
    position = told_place(outcome["partition"], outcome["duplicate" if known else "stored"])
    return {"position": position} | ({"duplicate": True} if known else {})
