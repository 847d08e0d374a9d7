"""The index of ids of a log on brokers, without brokers."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

from streams.logs.kafka.index import Index


def test_several_threads_take_up_what_they_read(tmp_path: Path) -> None:
    with closing(Index(tmp_path / "index.sqlite", "log")) as index, ThreadPoolExecutor(4) as threads:

        def take_up(partition: int) -> None:
            for offset in range(200):
                index.add(partition, offset, offset + 1, [])

        assert [*threads.map(take_up, range(4))] == [None] * 4
        assert [index.next(partition) for partition in range(4)] == [200] * 4
