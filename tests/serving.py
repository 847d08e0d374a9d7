"""Servers of a home, ended with the test: `mnemolog serve --http` as people run it, or a thread of the test."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from subprocess import STDOUT

from processors import PROCESSORS
from streams.runtime.home import Home
from streams.runtime.home.server import serve
from tests.processes import PIPE, Program

PATIENCE = 120.0
"""Seconds for what takes three on an idle machine."""


@contextmanager
def served(home: Path, *options: str, environment: Mapping[str, str] | None = None) -> Iterator[tuple[str, Program]]:
    """The URL at which a home is served, and the process that folds."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("MNEMOLOG_")}
    process = Program(
        "serve", "--http", "127.0.0.1:0", "--home", home, *options, stdout=PIPE, stderr=STDOUT, text=True,
        env=inherited | dict(environment or {}),
    )  # fmt: skip
    try:
        assert process.stdout is not None
        told = []
        for line in process.stdout:
            told.append(line)
            if found := re.search(r"answering HTTP at (\S+)", line):
                url = found[1]
                break
        else:
            raise AssertionError("".join(told))
        yield url, process
    finally:
        process.terminate()
        try:
            process.wait(PATIENCE)
        finally:
            process.kill()
            process.wait()
            process.stdout.close() if process.stdout else None


@contextmanager
def serving(home: Home) -> Iterator[None]:
    """A server of the home in a thread of its own. Whoever asks more than twice is answered sooner by it: without one,
    live is opened and closed for each question."""
    stop, ready = threading.Event(), threading.Event()
    server = Home(home.path, PROCESSORS, warn=home.warn)
    thread = threading.Thread(target=serve, args=(server, stop.is_set, lambda line: ready.set()), daemon=True)
    thread.start()
    try:
        assert ready.wait(60)
        yield
    finally:
        stop.set()
        thread.join(60)
        server.log.close()
