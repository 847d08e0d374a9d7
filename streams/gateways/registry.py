"""The processors, for who may need none of them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any


class Registry(Sequence[Any]):
    """The processors, imported when they are looked at: who asks a server needs none."""

    @cached_property
    def _all(self) -> Sequence[Any]:
        from processors import PROCESSORS

        return PROCESSORS

    def __len__(self) -> int:
        return len(self._all)

    def __getitem__(self, place: Any) -> Any:
        return self._all[place]
