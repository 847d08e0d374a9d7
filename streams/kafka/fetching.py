"""How aiokafka's consumers fetch, mended in two points. This leans on its inner parts: the package is pinned."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

TURNS = 6
"""Of the event loop, within which who waits for records has taken them."""
REST = 0.03
"""Seconds from a fetch that brought something to the next. A fetch costs broker and reader a millisecond or two,
whatever it brings: turn by turn, the six readers of a busy log would keep two cores busy with fetching alone."""


def fetch_whole(consumer: Any) -> None:
    """Has each fetch of a started consumer ask for all its partitions.

    When a fetch comes back, aiokafka asks for more before those who wait have taken what came, and leaves out the
    partitions that it came from. That next fetch may wait at the broker, for as long as `fetch_max_wait_ms`, while just
    those partitions, the busy ones, get more. Here those who wait come first, and then what comes may gather a while.
    """
    fetcher = consumer._fetcher
    fetch = fetcher._proc_fetch_request
    if getattr(fetch, "whole", False):
        return

    async def whole(assignment: Any, node_id: Any, request: Any) -> bool:
        found = bool(await fetch(assignment, node_id, request))
        if found:
            for waiter in list(fetcher._fetch_waiters):
                fetcher._notify(waiter)
            with suppress(asyncio.CancelledError):  # the fetcher ends, and waits for its fetches to end in peace
                for _ in range(TURNS):
                    await asyncio.sleep(0)
                await asyncio.sleep(REST)
        return found

    whole.whole = True  # type: ignore[attr-defined]
    fetcher._proc_fetch_request = whole
