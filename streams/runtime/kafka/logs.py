"""What services say while they run: JSON Lines on standard error for machines, plain lines for a person.

`{"at":"2026-01-05T09:00:00.123Z","level":"info","logger":"streams.runtime.kafka.worker","message":"...", ...}`. What
is told beside the message is given as `extra={"fields": {...}}` and stands beside it.
"""

from __future__ import annotations

import logging
import sys
from typing import Any

import orjson

from streams.core.events import iso
from streams.logs.settings import Settings

OTHERS = logging.WARNING
"""Libraries are heard from this level on: below it they tell of every fetch."""
AGAIN = 60.0
"""Seconds in which a library says the same once."""


def configure() -> None:
    """Sends all logs to standard error, as MNEMOLOG_LOG says: `json`, `text`, or text on a terminal and else JSON."""
    style = Settings().log
    handler = logging.StreamHandler(sys.stderr)
    plain = style == "text" or (not style and sys.stderr.isatty())
    handler.setFormatter(Plain() if plain else JsonLines())
    handler.addFilter(Worth())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(OTHERS)
    logging.getLogger("streams").setLevel(logging.INFO)
    # What aiokafka cannot do it also raises, and we tell; while brokers are away it tells of every try to connect.
    logging.getLogger("aiokafka").setLevel(logging.CRITICAL)
    logging.captureWarnings(True)


class Worth(logging.Filter):
    """What is worth a line: not the comings and goings of Faust's services, some of which log in our names; and of what
    libraries say again and again, the first of each minute."""

    def __init__(self) -> None:
        super().__init__()
        self._said: dict[tuple[str, str], float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether a record is told."""
        if record.name.startswith("streams"):
            return record.levelno >= OTHERS or not str(record.msg).startswith("[^")
        said = (record.name, str(record.msg))
        again = record.created - self._said.get(said, -AGAIN) < AGAIN
        if not again:
            self._said[said] = record.created
        return not again


class JsonLines(logging.Formatter):
    """One JSON object a line."""

    def format(self, record: logging.LogRecord) -> str:
        """The line of a record; what cannot be JSON becomes text."""
        told: dict[str, Any] = {
            "at": moment(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        # Fields must not replace what every line has.
        told |= {key: value for key, value in getattr(record, "fields", {}).items() if key not in told}
        if record.exc_info:
            told["error"] = self.formatException(record.exc_info)
        return orjson.dumps(told, default=str, option=orjson.OPT_NON_STR_KEYS).decode()


class Plain(logging.Formatter):
    """A line for a person."""

    def format(self, record: logging.LogRecord) -> str:
        """Time, level where it is not information, message, fields."""
        level = "" if record.levelno == logging.INFO else f"{record.levelname.lower()}: "
        fields = "".join(f" {key}={value}" for key, value in getattr(record, "fields", {}).items())
        error = f"\n{self.formatException(record.exc_info)}" if record.exc_info else ""
        return f"{moment(record)[11:23]} {level}{record.getMessage()}{fields}{error}"


def moment(record: logging.LogRecord) -> str:
    """When it was logged: RFC 3339 in UTC, milliseconds."""
    return f"{iso(int(record.created) * 1_000_000)[:-1]}.{int(record.msecs):03d}Z"
