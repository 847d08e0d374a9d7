"""Parameters of asking: how a memory is searched and what is shown of it. They change no derived event.

A memory records them beside those of its processors, so that what it answers can be told from it alone; a replay sets
them like any other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from projections.context.params import ContextParams, MissedParams, RecalledParams, RecentParams
from projections.recall.liveliness import LivelinessParams
from projections.recall.needs import NeedParams
from projections.recall.ranking import RecallParams
from streams.core.params import Params
from streams.core.processor import Processor, params_of

ASKING: dict[str, type[Params]] = {
    "recall": RecallParams,
    "liveliness": LivelinessParams,
    "needs": NeedParams,
    "context": ContextParams,
    "context.recent": RecentParams,
    "context.missed": MissedParams,
    "context.recalled": RecalledParams,
}
"""By name, those that belong to no mechanism."""


def asking(processors: Iterable[Processor[Any]]) -> dict[str, type[Params]]:
    """Parameters of asking by name: those that belong to no mechanism, and those of the sections of mechanisms."""
    sections = (section for processor in processors for section in processor.read_model.sections)
    return ASKING | {f"context.{section.name}": section.params for section in sections}


def all_params(processors: Iterable[Processor[Any]], stored: Mapping[str, Any]) -> dict[str, Params]:
    """Parameters of processors and of asking from plain values by name; defaults where there are none.

    Raises ValueError for a parameter that is unknown or out of range.
    """
    processors = tuple(processors)
    own = {name: kind.of(stored.get(name, {})) for name, kind in asking(processors).items()}
    return params_of(processors, stored) | own


def known_params(processors: Iterable[Processor[Any]], stored: Mapping[str, Any]) -> dict[str, Params]:
    """As `all_params`, of values that another version stored: what it knew and this one does not is left out, and where
    a range is narrower now, all are defaults."""
    processors = tuple(processors)
    defaults = all_params(processors, {})
    try:
        return all_params(
            processors,
            {
                name: {key: value for key, value in stored.get(name, {}).items() if key in type(params).model_fields}
                for name, params in defaults.items()
            },
        )
    except ValueError:
        return defaults
