"""A `mnemolog serve --http` as people run it: processes of their own, ended with the test."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from subprocess import STDOUT

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
            if "serving" in line:
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
