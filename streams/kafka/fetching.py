"""Fetches that rest: aiokafka asks for more as soon as what came is taken. This leans on its inner parts."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

REST = 0.03
"""Seconds from a fetch that brought something to the next. A fetch costs broker and reader a millisecond or two,
whatever it brings: record by record, the six readers of a busy log would keep two cores busy with fetching alone. And
what gathers meanwhile, in all partitions, is folded, sent and saved together."""


def rest_between_fetches(consumer: Any) -> None:
    """Has a started consumer wait after each fetch that brought something, once those who wait for it are told."""
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
                await asyncio.sleep(REST)
        return found

    resting.rests = True  # type: ignore[attr-defined]
    fetcher._proc_fetch_request = resting
