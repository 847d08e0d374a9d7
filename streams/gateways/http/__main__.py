"""The process that answers HTTP, on a socket that its parent bound; it ends when its standard input does."""

from __future__ import annotations

import argparse
import asyncio
import logging
import sys
from pathlib import Path

import uvicorn

from streams.gateways.http.app import made


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
    server = uvicorn.Server(
        uvicorn.Config(app, fd=given.fd, access_log=False, log_config=None, timeout_graceful_shutdown=3, backlog=4096)
    )

    async def serve() -> None:
        # The parent writes nothing: what can be read is the end.
        asyncio.get_running_loop().add_reader(sys.stdin.fileno(), lambda: setattr(server, "should_exit", True))
        await server.serve()

    asyncio.run(serve())


if __name__ == "__main__":
    main()
