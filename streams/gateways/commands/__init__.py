"""The commands, by topic. Named here, so that one is read when it is called for, and help needs no room."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any, NamedTuple

LOG, ASK, REPLAY, RUN, CODE = "The log", "Ask a memory", "Memories and replays", "Run and keep", "What the code says"
"""The headings in `mnemolog --help`."""
AGENTS = "Coding agents"
KAFKA = "On Kafka"

_HERE = {
    LOG: {"feed": "log", "tail": "log"},
    ASK: {
        "context": "ask", "layers": "ask", "show": "ask", "manifest": "ask", "links": "ask",
        "query": "queries", "sql": "queries",
        "efforts": "efforts:app", "offers": "offers:app", "doubts": "doubts:app", "notes": "notes:app",
        "standing": "standing:app",
        "tasks": "tasks:app", "objects": "objects",
        "long-term": "long_term:app",
        "network": "network",
        "recall": "recall", "needs-recall": "recall", "memory": "recall",
    },
    AGENTS: {"hook": "agents", "install": "agents"},
    REPLAY: {
        "memories": "memories", "replay": "memories", "diff": "memories", "promote": "memories", "digest": "memories",
    },
    RUN: {
        "serve": "keeping", "export": "keeping", "share": "network", "backup": "keeping", "archive": "keeping",
        "restore": "keeping", "keys": "keys:app", "mcp": "mcp", "proxy": "proxy", "rescue": "keeping",
        "doctor": "keeping", "demo": "keeping", "annotate": "annotate",
        "erase": "erasing", "audit": "erasing", "encryption": "encryption:app",
    },
    CODE: {"flow": "code", "params": "code", "presets": "code", "schema": "code"},
}  # fmt: skip
_TOLD = {"reward": "recall", "pin": "recall", "consolidate": "recall"}
_BROKERS = {
    "topics": "topics_app", "log": "log_app", "dead-letters": "letters_app", "lineages": "lineages_app",
    "worker": "worker", "project": "project",
}  # fmt: skip


class Place(NamedTuple):
    """Where a command lies."""

    heading: str
    module: str
    attribute: str
    """Of its function, or of the `typer.Typer` that its own commands are in."""

    def load(self) -> Any:
        """The function or `typer.Typer`."""
        return getattr(import_module(self.module), self.attribute)


def _places() -> Iterator[tuple[str, Place]]:
    for heading, commands in (*_HERE.items(), (LOG, _TOLD)):
        for name, where in commands.items():
            module, _, attribute = where.partition(":")
            yield name, Place(heading, f"{__name__}.{module}", attribute or name.replace("-", "_"))
    for name, attribute in _BROKERS.items():
        yield name, Place(KAFKA, "streams.gateways.kafka", attribute)


COMMANDS = dict(_places())
"""Every command of the first level."""
