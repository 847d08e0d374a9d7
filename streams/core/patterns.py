"""Regular expressions that are compiled when they are first used: most commands use few of all there are, and a large
one takes as long to compile as a small question to answer."""

from __future__ import annotations

import re
from functools import cached_property
from typing import Any, cast


class _Pattern:
    """A pattern to be."""

    def __init__(self, pattern: str, flags: int) -> None:
        self._given = pattern, flags

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(*self._given)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._compiled, name)
        setattr(self, name, found)  # so that from its second use on it costs what the pattern itself costs
        return found


def lazily(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """A pattern, compiled when it is first used. What is wrong with it is told then, too."""
    return cast("re.Pattern[str]", _Pattern(pattern, flags))
