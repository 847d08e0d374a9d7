"""The pure core: one processor a module, named here, parents before children.

A new mechanism is one file, and its name in `NAMES`.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from streams.core.processor import Processor

NAMES = (
    "manifest",
    "open_efforts",
    "working_context",
    "coactivation",
    "activation",
    "association",
    "consolidation",
    "forgetting",
    "contradictions",
    "ttl_escalations",
    "days",
    "standing",
    "confidence",
    "working_memory",
    "compression",
    "direct_access",
    "long_term",
    "tasks",
    "objects",
    "network",
)

PROCESSORS: tuple[Processor[Any], ...] = tuple(import_module(f"processors.{name}").PROCESSOR for name in NAMES)
