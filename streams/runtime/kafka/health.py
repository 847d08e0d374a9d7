"""Health and metrics over HTTP: `/health/live`, `/health/ready` and `/metrics`, and nothing that holds data.

A thread of its own answers, so that a process whose event loop is busy or hung can still be asked. Lag is measured
here too: Faust derives none, so the broker is asked for the end of every partition that is read.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import orjson
from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.errors import KafkaError

from streams.core.errors import UsageError
from streams.logs.kafka.connection import Connection, Portal, started
from streams.runtime.addresses import host_and_port
from streams.runtime.kafka.metrics import Meters

EVERY = 2.0
"""Seconds between two looks at the ends of what is read."""
PATIENCE = 10.0
"""Seconds a client has to send its request, and the broker to answer."""
LIVE, READY, METRICS = "/health/live", "/health/ready", "/metrics"
log = logging.getLogger(__name__)


@contextmanager
def observed(address: str | None, connection: Connection) -> Iterator[Meters]:
    """Meters that are served at `HOST:PORT` for as long as the block runs; nowhere where no address is given.

    Raises UsageError for an address that is none, or that cannot be had.
    """
    if not address:
        yield Meters()
        return
    meters = Meters()
    server = Server(meters, address)
    sampler = Sampler(meters, connection)
    try:
        yield meters
    finally:
        sampler.close()
        server.close()


class Server:
    """Answers over HTTP from a thread of its own."""

    def __init__(self, meters: Meters, address: str) -> None:
        host, port = host_and_port(address, " for metrics", 9180)
        served = type("Served", (_Handler,), {"meters": meters})
        kind = _Server6 if ":" in host else _Server
        try:
            self._server = kind((host, port), served)
        except (OSError, OverflowError) as error:
            raise UsageError(f"metrics cannot be served at {address}: {error}", "choose another --metrics") from error
        self.port: int = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.1,), name="metrics", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stops answering."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Who asks and goes away before the answer is no error of ours."""
        log.debug("a request for metrics was not answered", exc_info=True)


class _Server6(_Server):
    address_family = socket.AF_INET6


class _Handler(BaseHTTPRequestHandler):
    """One request."""

    meters: Meters
    timeout = PATIENCE
    server_version = "mnemolog"
    sys_version = ""

    def do_GET(self) -> None:
        """Answers."""
        status, kind, body = answer(self.meters, self.path.partition("?")[0])
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    do_HEAD = do_GET  # noqa: N815 - the name that http.server looks for

    def log_message(self, format: str, *args: object) -> None:
        """Probes come every few seconds: they are not worth a line."""


def answer(meters: Meters, path: str) -> tuple[int, str, bytes]:
    """Status, content type and body for a path."""
    if path == METRICS:
        return 200, "text/plain; version=0.0.4; charset=utf-8", meters.exposition()
    if path not in (LIVE, READY):
        return 404, "text/plain; charset=utf-8", f"ask for {LIVE}, {READY} or {METRICS}\n".encode()
    wrong = meters.live() if path == LIVE else meters.live() | meters.ready()
    body = {"ok": not wrong, "wrong": wrong, "parts": dict(meters.phases)}
    return 503 if wrong else 200, "application/json", orjson.dumps(body, option=orjson.OPT_APPEND_NEWLINE)


class Sampler:
    """Asks the broker again and again how far topics are, in a thread and loop of its own.

    Why a connection of its own: what is measured must not wait behind what is worked on.
    """

    def __init__(self, meters: Meters, connection: Connection, every: float = EVERY) -> None:
        self.meters = meters
        self.connection = connection
        self.every = every
        self._portal = Portal()
        self._portal.begin(self._sample_for_ever())

    def close(self) -> None:
        """Stops asking."""
        self._portal.close()

    async def _sample_for_ever(self) -> None:
        known = True
        while True:
            try:
                async with started(AIOKafkaConsumer(**self.connection.client())) as consumer:
                    while True:
                        await asyncio.wait_for(self._sample(consumer), PATIENCE)
                        if not known:
                            log.info("lag is measured again")
                        known = True
                        await asyncio.sleep(self.every)
            except (KafkaError, OSError, TimeoutError) as error:
                if known:  # said once: brokers may be away for hours
                    log.warning("lag cannot be measured: %r", error)
                known = False
            await asyncio.sleep(self.every)

    async def _sample(self, consumer: AIOKafkaConsumer[bytes, bytes]) -> None:
        wanted = {TopicPartition(place.topic, place.partition) for place in list(self.meters.readings)}
        ends = await consumer.end_offsets(wanted) if wanted else {}
        for place, offset in ends.items():
            self.meters.end(place.topic, place.partition, offset)
        self.meters.measured()
