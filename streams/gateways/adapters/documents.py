"""Values under keys, each version of them a turn: what stores of items, files and records have in common.

| | in the log |
|---|---|
| a version of a value | a turn: its words, the value in `parts`, its key in `reply_to`, its store in `agent` |
| a newer version | a turn, and the one before is retracted (`edited`) |
| a removal | a turn without a value, which is retracted with the one before (`cleared`) |

The id of a version derives from that of the version before. So a write that is sent again adds nothing, and of several
who change a value at once one is first, and the others know: nothing is overwritten unseen. Where a process ends
between two facts, the newest version counts, and recall finds the one before until the next is recorded.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from mnemolog import Memory, RefusedError
from streams.core.halves import whole_text
from streams.gateways.adapters import digest, given, kept, named

MOST_HITS = 1000
"""Documents that recall finds; what is not among them has no score."""
MOST_RANKED = 100_000
"""Documents that recall chooses from, the first of those given."""
LONGEST_QUERY = 100_000


class Document(NamedTuple):
    """A version of a value."""

    name: str
    """What its key is called in the log."""
    session: str
    turn: str
    value: Any
    """None for a removal."""
    stands: bool
    """Whether it is neither removed nor taken back."""
    created_at: str
    at: str
    """When it was recorded; ISO 8601, as `created_at`, which is when its first version since a removal was."""


class ChangedError(Exception):
    """Another version was recorded meanwhile."""


class Documents:
    """The documents of one store in a space. Threads may share it."""

    def __init__(self, memory: Memory, kind: str, said: Callable[[Any], tuple[str, str, str]]) -> None:
        """`said` is the session, role and words of a value."""
        self.memory = memory
        self.kind = kind
        self._said = said
        self._after = ""

    def get(self, *key: str) -> Document | None:
        """The document under a key."""
        latest = self.latest(*key)
        return latest if latest and latest.stands else None

    def latest(self, *key: str) -> Document | None:
        """The newest version under a key, a removal too."""
        return next(iter(self._rows(reply_to=self._name(key), order="position DESC", limit=1)), None)

    def versions(self, *key: str) -> list[Document]:
        """All versions under a key, removals too; the oldest first."""
        return self._rows(reply_to=self._name(key), order="position")

    def all(self) -> list[Document]:
        """All documents, the oldest version first."""
        rows = self._rows(retracted=False, order="position", agent=self.kind, newest_of="reply_to")
        return [document for document in rows if document.stands]

    def put(self, value: Any, *key: str, before: Document | None) -> None:
        """Records a version, None to remove, after `before`. Raises ChangedError where that is not the newest."""
        old = before if before and before.stands else None
        if old is None if value is None else old and json.dumps(old.value) == json.dumps(value):
            return
        name = self._name(key)
        turn = self._turn(value, name, before)
        session, mine = turn["session"], turn["id"]
        try:
            self._known(self.memory.tell(turn))
        except RefusedError:
            latest = self.latest(*key)
            if (latest and latest.turn) != (before and before.turn):
                raise ChangedError from None
            raise
        if before:
            # Why all: one stands still where a process ended between the two facts.
            standing = [one.turn for one in self._rows(reply_to=name, retracted=False, order="position")]
            old_ones = standing[: standing.index(mine) + (value is None)] if mine in standing else []
            reason = "cleared" if value is None else "edited"
            self._known(self.memory.retract(session, *old_ones, reason=reason)["after"])

    def remove(self, documents: Sequence[Document], *, unless_changed: bool = False) -> None:
        """Removes documents, in few requests however many they are; one that was changed meanwhile as it is now.

        `unless_changed`: such a one is left.
        """
        while documents:
            changed = self._remove(documents)
            documents = () if unless_changed else changed

    def _remove(self, documents: Sequence[Document]) -> list[Document]:
        """Removes documents that were not changed meanwhile; those that were, as they are now."""
        turns = {document.name: self._turn(None, document.name, document) for document in documents}
        refused = None
        try:
            self._known(self.memory.tell(*turns.values()))
        except RefusedError as error:  # of one that was changed; the others were removed
            refused = error
        where = {"reply_to": documents[0].name} if len(documents) == 1 else {"agent": self.kind}
        standing: dict[str, list[Document]] = {}
        for version in self._rows(retracted=False, order="position", **where):
            standing.setdefault(version.name, []).append(version)
        changed, gone = list[Document](), dict[str, list[str]]()
        for document in documents:
            versions, mine = standing.get(document.name, []), turns[document.name]["id"]
            last = next((n for n, one in enumerate(versions) if one.turn == mine and one.value is None), -1)
            gone.setdefault(document.session, []).extend(one.turn for one in versions[: last + 1])
            if last < 0 and versions and versions[-1].stands:
                changed.append(versions[-1])
        if refused and {one.turn for one in changed} & {one.turn for one in documents}:
            raise refused
        for session, taken in gone.items():
            self._known(self.memory.retract(session, *taken, reason="cleared")["after"])
        return changed

    def _turn(self, value: Any, name: str, before: Document | None) -> dict[str, Any]:
        """The turn that keeps a version, None to remove, after `before`."""
        old = before if before and before.stands else None
        session, role, words = self._said(old.value if old and value is None else value)
        part = {"type": self.kind} | ({"created_at": old.created_at} if old else {}) | kept(value)
        return {
            "session": named(session), "agent": self.kind, "role": role, "reply_to": name, "parts": [part],
            "id": f"{self.kind}-{digest(name, before.turn if before else '')[:16]}",
            "content": "" if value is None else whole_text(words),
        }  # fmt: skip

    def change(self, new: Callable[[Any], Any], *key: str) -> Any:
        """Records what `new` makes of the value under a key (None: there is none), and returns it.

        Where another version came meanwhile, `new` is asked again, with that.
        """
        while True:
            latest = self.latest(*key)
            value = new(latest.value if latest and latest.stands else None)
            try:
                self.put(value, *key, before=latest)
                return value
            except ChangedError:
                continue

    def scores(self, query: str, among: Sequence[Document]) -> dict[str, float]:
        """How well documents answer a query, by their turns: more than 0, without an upper bound.

        Why `among` alone: of a thousand hits in the whole space, none may be of those who ask.
        """
        turns = [document.turn for document in among[:MOST_RANKED]]
        hits = (
            self.memory.recall(
                query[:LONGEST_QUERY], k=MOST_HITS, kinds=["turn"], record=False, turns=turns, after=self._after
            )
            if turns
            else []
        )
        return {turn: hit["score"] for hit in hits for turn in hit["turns"]}

    def _known(self, after: str) -> None:
        """Remembers the newest position that is to be read: threads may come to know of theirs in any order."""
        self._after = max(self._after, after, key=lambda place: int(place.partition(":")[2] or -1))

    def _name(self, key: tuple[str, ...]) -> str:
        return f"{self.kind}-{digest(*key)}"

    def _rows(self, newest_of: str = "", **where: Any) -> list[Document]:
        rows = self.memory.ask("view", name="recorded_turns", space=self.memory.space, after=self._after, **where)
        if newest_of:
            rows = [*{row[newest_of]: row for row in rows}.values()]
        return [
            Document(
                row["reply_to"], row["session"], row["turn_id"], part["value"],
                not row["retracted"] and part["value"] is not None, part.get("created_at", row["at"]), row["at"],
            )
            for row in rows
            if (part := given(row, self.kind)) is not None
        ]  # fmt: skip
