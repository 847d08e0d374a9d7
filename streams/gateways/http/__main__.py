"""The process that answers HTTP, on a socket that its parent bound; it ends when its standard input does."""

from __future__ import annotations

import argparse
import asyncio
import logging
import socket
import sys
from pathlib import Path

import uvicorn

from streams.gateways.http.app import made
from streams.runtime.telemetry import measuring


class Beside(uvicorn.Server):
    """A server that ends when its parent does, in the event loop that uvicorn finds best."""

    async def serve(self, sockets: list[socket.socket] | None = None) -> None:
        """Serves until the parent is gone, which writes nothing: what can be read is the end."""
        loop = asyncio.get_running_loop()

        def end() -> None:
            loop.remove_reader(sys.stdin.fileno())
            self.should_exit = True

        loop.add_reader(sys.stdin.fileno(), end)
        await super().serve(sockets)


def main() -> None:
    """Serves until the parent is gone."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--fd", type=int, required=True)
    parser.add_argument("--rate", type=float, required=True)
    parser.add_argument("--local", action="store_true")
    parser.add_argument("--access-log", action="store_true")
    given = parser.parse_args()
    logging.basicConfig(format="%(asctime)s %(message)s", level=logging.WARNING)
    if given.access_log:
        logging.getLogger("mnemolog.access").setLevel(logging.INFO)
    app = made(given.home, given.local, given.rate)
    config = uvicorn.Config(app, access_log=False, log_config=None, timeout_graceful_shutdown=3, backlog=4096)
    # Why not uvicorn's own `fd`: it takes the socket for one of AF_UNIX, whose connections wait 40 ms for delayed
    # acknowledgements where an answer is written in two parts.
    with measuring("http"), socket.socket(fileno=given.fd) as listener:
        Beside(config).run([listener])


if __name__ == "__main__":
    main()
