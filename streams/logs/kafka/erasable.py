"""A log on Kafka that an erasure can copy and move: what it does there, and what on this machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import orjson
from aiokafka import TopicPartition

from streams.core.errors import BusyError, LogError
from streams.logs.kafka.log import KafkaLog, index_name
from streams.logs.kafka.moves import MOVED, ORDER, in_force, strays, topics_of
from streams.logs.switch import remove

PLACE = "place"
"""Among what an erasure keeps on this machine: the file with the prefix and the id of the new log."""


class ErasableKafkaLog(KafkaLog):
    """A `HomeLog` on Kafka."""

    def succeed(self, folder: Path) -> KafkaLog:
        """A new, empty log, which may take this one's place; what that needs of this machine lies in `folder`."""
        prefix, id_ = f"{self.names.root}.{uuid4().hex[:8]}", uuid4().hex[:12]
        (folder / PLACE).write_text(f"{prefix} {id_}")
        with self._moving() as mover:
            self._call(mover.order(prefix, id_))
        return self.successor(folder)

    def successor(self, folder: Path) -> KafkaLog:
        """The log that `succeed` made."""
        to = replace(self.connection, prefix=_place(folder)[0])
        return KafkaLog(to, self._folder, self._clock, here=True)

    @contextmanager
    def halted(self) -> Iterator[None]:
        """Nobody appends meanwhile, wherever he is, until the log gives way or this is over."""
        self.follow()
        with self._moving() as mover:
            try:
                self._call(mover.seal())
                self._halt = mover
                yield
            except BusyError:  # whoever came between sees to it
                raise
            except BaseException:
                if not mover.is_over:
                    self._call(mover.unseal())
                raise

    def give_way(self, folder: Path, gone: Sequence[str], moves: Sequence[str]) -> None:
        """The successor in `folder` takes this one's place; of its parent go `gone`, and `moves` come from there. The
        caller has this one halted."""
        prefix, _ = _place(folder)
        try:
            self._call(self._halt.move(prefix))
        except LogError:  # it may have been noted all the same; once this producer is fenced, it is or never will be
            with self._moving() as mover:
                if mover.here.prefix != prefix:
                    self._call(mover.unseal())
                    raise
        self.follow()
        self._renew(folder, gone, moves)

    def discard(self, folder: Path) -> None:
        """Throws away a successor that did not take this one's place, and has the log take events again."""
        self.follow()
        prefix, id_ = _place(folder)
        if prefix and self._call(in_force(self.connection))[1].get(ORDER) == prefix:
            with self._moving() as mover:
                self._call(mover.undo())
        if prefix and prefix != self.connection.prefix:
            for path in folder.parent.glob(f"{index_name(id_)}*"):
                remove(path)
        remove(folder)

    def resume(self, folder: Path, gone: Callable[[], Sequence[str]]) -> None:
        """Finishes what has to be done once the log moved, here and on the brokers; arguments as of `give_way`."""
        self.follow(at_once=folder.exists())
        if _place(folder)[0] == self.connection.prefix:
            self._renew(folder, gone(), [path.name for path in folder.glob("*.duckdb")])
        elif self.is_former(folder.parent):
            self._renew(folder, gone(), ())
        self.bury()

    def is_former(self, home: Path) -> bool:
        """Whether a home holds what was made of a log that this one took the place of."""
        return any((home / index_name(id_)).exists() for id_ in self.former())

    def _renew(self, folder: Path, gone: Sequence[str], moves: Sequence[str]) -> None:
        """Has a home be one of the log as it is now. The indexes of former logs tell that this was not done; they go
        last, so it can be done again."""
        home = folder.parent
        for name in gone:
            remove(home / name)
        for name in moves:
            if (folder / name).exists():
                (folder / name).replace(home / name)
        if _place(folder)[0] == self.connection.prefix:
            remove(folder)
        for id_ in self.former():
            for path in (*home.glob(f"workers/*/{id_}"), *home.glob(f"{index_name(id_)}*")):
                remove(path)

    def bury(self) -> None:
        """Deletes the topics and groups that the log was in before it moved, where they are still there."""
        self.follow()  # why: another process, who holds live, may have moved it
        if orjson.loads(self._notes.get(MOVED, "{}")).get("from"):
            with suppress(BusyError), self._moving() as mover:  # somebody else may be at it
                self._call(mover.finish())
            self.follow()

    def strays(self) -> list[str]:
        """Topics of former logs, or of copies that were never finished, that are still there."""
        return self._call(strays(self.connection))

    def elsewhere(self) -> Iterator[tuple[str, bytes]]:
        """All that the brokers hold for this log, in whichever topic, with its name: keys, values and headers."""
        for topic, partitions in self._call(topics_of(self.connection)).items():
            for partition in range(partitions):
                for message in self._whole(TopicPartition(topic, partition)):
                    values = [message.key, message.value, *(value for _, value in message.headers)]
                    yield from ((topic, value) for value in values if value)


def _place(folder: Path) -> tuple[str, str]:
    """The prefix and the id of the log that an erasure makes; "" twice where none does."""
    with suppress(FileNotFoundError):
        prefix, _, id_ = (folder / PLACE).read_text().partition(" ")
        return prefix, id_
    return "", ""
