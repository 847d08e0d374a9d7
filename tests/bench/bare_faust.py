"""The floor for workers: a Faust agent with `take_events` and one table write per key, and nothing else.

    python -m tests.bench.bare_faust SERVERS TOPIC PARTITIONS COUNT

Reads COUNT records and prints records a second, from the end of the first batch to the end of the last.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
import uuid
import weakref
from typing import Any

import faust
from faust.streams import _current_event

from streams.logs.kafka.connection import Connection, admin


async def measure(servers: str, topic: str, partitions: int, count: int) -> float:
    """Records a second."""
    from aiokafka.admin import NewTopic

    name = f"bare-{uuid.uuid4().hex[:8]}"
    client = await admin(Connection(servers))
    changelog = NewTopic(f"{name}-table-changelog", partitions, 1, topic_configs={"cleanup.policy": "compact"})
    await client.create_topics([changelog])
    await client.close()
    with tempfile.TemporaryDirectory() as folder:
        app = faust.App(
            name, broker=f"kafka://{servers}", store="rocksdb://", datadir=f"{folder}/data", autodiscover=False,
            web_enabled=False, topic_allow_declare=False, topic_disable_leader=True, topic_partitions=partitions,
            table_standby_replicas=0, broker_commit_interval=0.5, broker_max_poll_records=500,
            consumer_auto_offset_reset="earliest", stream_wait_empty=False,
            key_serializer="raw", value_serializer="raw",
        )  # fmt: skip
        table = app.Table("table", partitions=partitions, key_type=bytes, value_type=bytes)
        source = app.topic(topic, key_type=bytes, value_type=bytes, key_serializer="raw", value_serializer="raw")
        times: list[tuple[int, float]] = []
        done = asyncio.Event()

        async def agent(stream: Any) -> None:
            taken = 0
            async for events in stream.take_events(500, within=0.02):
                by_partition: dict[int, list[Any]] = {}
                for event in events:
                    by_partition.setdefault(event.message.partition, []).append(event)
                for its in by_partition.values():
                    _current_event.set(weakref.ref(its[0]))  # else Faust refuses to write: it knows no partition
                    for key, value in {event.key or b"": event.value for event in its}.items():
                        table[key] = value
                taken += len(events)
                times.append((taken, time.perf_counter()))
                if taken >= count:
                    done.set()

        app.agent(source)(agent)
        app.finalize()
        await app.maybe_start()
        await done.wait()
        await app.stop()
    (first, began), (last, ended) = times[0], times[-1]
    return (last - first) / (ended - began)


if __name__ == "__main__":
    print(asyncio.run(measure(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))))
