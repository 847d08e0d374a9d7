"""Faust, given whole runs of records. All that leans on inner parts of Faust and aiokafka is in this file,
the last two of the list in `streams.logs.kafka`.

Faust's way of one record costs 100 us (a message, a task, an event, a queue), a third of what the whole pass costs.
Here the event that an agent takes is all that one fetch brought of a partition; groups, assignment and the life of the
app stay Faust's. What Faust drops on the way, in a rebalance, is missed by the part it was for, which reads it itself.

Inner parts, each with the reason; `tests/kafka/test_inner_parts.py` fails when one of them goes:

    faust App._new_transport                        the only way to another consumer
    faust Consumer._getmany                         where records come from: runs are made, and held back, here
    faust Consumer._new_consumer_thread             the only way to the two below
    faust AIOKafkaConsumerThread._create_consumer   where aiokafka's consumer is made, with settings that cannot be set:
    aiokafka AIOKafkaConsumer._fetch_max_wait_ms    1,500 in Faust: what else is asked, six times in a rebalance, waits
    aiokafka AIOKafkaConsumer._fetch_min_bytes      1 in Faust: each record would be a fetch, see GATHER
    aiokafka AIOKafkaConsumer._isolation_level      uncommitted in Faust: what a transaction gave up would be folded
    aiokafka AIOKafkaProducer._txn_manager          a producer that is fenced fails futures of its own, of which Python
    aiokafka AIOKafkaProducer._message_accumulator  then says that nobody heard of them: the end of the transaction,
    aiokafka MessageAccumulator._batches            and of each batch that was not sent yet
    aiokafka MessageBatch._drain_waiter             that it is on its way
    aiokafka AIOKafkaAdminClient._send_request_to_node   it deletes no consumer groups otherwise
    aiokafka AIOKafkaConsumer._client               it finds out about topics one by one otherwise, with a pause each
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import aiokafka
import faust
from faust.transport.drivers import aiokafka as driver
from faust.types import TP

from streams.logs.kafka.connection import heard
from streams.logs.kafka.topics import GATHER, READER

LOGGER = logging.getLogger("faust.mnemolog")
"""Where what Faust says of its own doings goes, as if these classes stood in Faust."""
PATIENCE = 0.01
"""Seconds until the fetching looks again whether there is room."""


class RunSchema(faust.Schema[Any, Any]):
    """Hands a run on as it is."""

    def compile(self, app: Any, **how: Any) -> Any:
        """The function that makes an event of a message."""
        create_event = app.create_event

        async def decode(message: Any, *, propagate: bool = False) -> Any:
            return create_event(None, message.value, message.headers, message)

        return decode


class RunThread(driver.AIOKafkaConsumerThread):
    """Makes a consumer that waits shorter, and reads only what was committed."""

    def _create_consumer(self, loop: asyncio.AbstractEventLoop) -> aiokafka.AIOKafkaConsumer:
        found = super()._create_consumer(loop)
        found._fetch_max_wait_ms = READER["fetch_max_wait_ms"]
        found._fetch_min_bytes = GATHER
        found._isolation_level = READER["isolation_level"]
        return found


class RunConsumer(driver.Consumer):
    """Fetches runs, while there is room for them."""

    logger = LOGGER

    def _new_consumer_thread(self) -> RunThread:
        return RunThread(self, loop=self.loop, beacon=self.beacon)

    async def _getmany(self, active_partitions: set[TP] | None, timeout: float) -> Any:
        if self.app.full():  # type: ignore[attr-defined]
            await asyncio.sleep(PATIENCE)
            return {}
        found = await super()._getmany(active_partitions, timeout)
        # A run has the shape of its last record.
        return {tp: [replace(records[-1], value=list(records))] for tp, records in found.items() if records}

    def verify_event_path(self, now: float, tp: TP) -> None:
        """Faust would warn of partitions that stand still by its own bookkeeping; our lag is measured elsewhere."""


class RunTransport(driver.Transport):
    """aiokafka, with a consumer of runs."""

    Consumer = RunConsumer


class RunApp(faust.App):
    """A Faust app whose agents take runs."""

    logger = LOGGER

    def __init__(self, *arguments: Any, full: Callable[[], bool], **how: Any) -> None:
        """`full` says whether enough waits, so that nothing more is fetched."""
        self.full = full
        super().__init__(*arguments, **how)

    def _new_transport(self) -> Any:
        return RunTransport(self.conf.broker_consumer, self)


async def let_go(producer: aiokafka.AIOKafkaProducer[bytes, bytes]) -> None:
    """Lets go of a transactional producer; what it did not complete is nothing."""
    try:
        await asyncio.wait_for(producer.stop(), 2.0)
    except Exception as error:  # it is over, whatever it says
        LOGGER.debug("a producer did not stop in peace: %r", error)
    unsent = (batch for batches in producer._message_accumulator._batches.values() for batch in batches)
    for waiter in (producer._txn_manager.wait_for_transaction_end(), *(batch._drain_waiter for batch in unsent)):
        if waiter is not None and waiter.done():
            heard(waiter)
