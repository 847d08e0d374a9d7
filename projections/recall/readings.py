"""What processors offer to those who ask: pure readings of their records, found by name.

Recall knows no processor. It asks for a reading by its name ("activation", "retention"), and does without where no
processor offers it: a replay may leave a mechanism out, and a new one may take its place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from streams.core.params import Params
from streams.core.processor import Processor


class Readings:
    """The readings of a memory's processors, each with the parameters that the memory was folded with."""

    def __init__(self, processors: Iterable[Processor[Any]], params: Mapping[str, Params]) -> None:
        """`params` by processor; a processor without any there has no part in the memory."""
        self.keeping = {p.name: p for p in processors if p.read_model.keeps and p.name in params}
        """Processors whose records are read, by name."""
        self.of_turns = [
            n for n, p in self.keeping.items() if all(keep.key == ("turn",) for keep in p.read_model.keeps)
        ]
        """Those of them that keep records of single turns."""
        self._found: dict[str, tuple[str, Callable[..., Any]]] = {
            name: (processor.name, partial(reading, params[processor.name]))
            for processor in processors
            if processor.name in params
            for name, reading in processor.read_model.readings.items()
        }

    def get(self, name: str) -> tuple[str, Callable[..., Any]] | None:
        """The reading of that name after the processor whose records it reads; None where there is none."""
        return self._found.get(name)

    def __contains__(self, name: str) -> bool:
        return name in self._found

    def owner(self, name: str) -> str:
        """The processor whose records a reading reads; "" where there is no such reading."""
        return self._found[name][0] if name in self._found else ""

    def __getitem__(self, name: str) -> Callable[..., Any]:
        """The reading of that name. Raises KeyError where there is none."""
        return self._found[name][1]
