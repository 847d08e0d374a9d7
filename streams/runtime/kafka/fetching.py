"""Fetches that rest: aiokafka asks for more as soon as what came is taken. This leans on its inner parts."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

REST = 0.1
"""Seconds from a fetch of the last reader, the projector, that brought something to its next. A fetch costs broker and
reader a millisecond or two, whatever it brings: record by record, the readers of a busy log would keep two cores busy
with fetching alone. And what gathers meanwhile, in all partitions, is folded, sent and saved together."""
ON_THE_WAY = 0.16
"""Seconds that the processors of one chain rest in all, from the log to its last: one that is alone rests so long, of
four in a row each a quarter. Why not all alike: nothing is seen before the longest chain is through, so those beside
it need not hurry, and what they leave makes it fast (at 200 turns a second on two cores, 12 processors: a tenth)."""


def rest_between_fetches(consumer: Any, rest: float = REST) -> None:
    """Has a started consumer wait `rest` seconds after each fetch that brought something, once those who wait for it
    are told."""
    fetcher = consumer._fetcher
    fetch = fetcher._proc_fetch_request
    if getattr(fetch, "rests", False):
        return

    async def resting(assignment: Any, node_id: Any, request: Any) -> bool:
        found = bool(await fetch(assignment, node_id, request))
        if found:
            for waiter in list(fetcher._fetch_waiters):
                fetcher._notify(waiter)
            with suppress(asyncio.CancelledError):  # the fetcher ends, and waits for its fetches to end in peace
                await asyncio.sleep(rest)
        return found

    resting.rests = True  # type: ignore[attr-defined]
    fetcher._proc_fetch_request = resting
