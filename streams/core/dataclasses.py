"""`dataclass` of the standard library, but that each method is written when it is first called.

Python writes the methods of a class as text and compiles them: a third of a millisecond each class. There are hundreds
here, and a command makes objects of few.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import MISSING as MISSING
from dataclasses import asdict as asdict
from dataclasses import astuple as astuple
from dataclasses import field as field
from dataclasses import fields as fields
from dataclasses import replace as replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(
        cls: type | None = None, /, *, eq: bool = True, frozen: bool = False, slots: bool = False
    ) -> type | Callable[[type], type]:
        """As the standard library's, of which it takes these options."""
        return _made(cls, eq, frozen, slots) if cls else lambda cls: _made(cls, eq, frozen, slots)


WRITTEN: dict[str, dict[str, bool]] = {
    "__init__": {"init": True},
    "__repr__": {"repr": True},
    "__eq__": {"eq": True},
    "__hash__": {"unsafe_hash": True},
}
"""What the standard library is asked for to write a method."""


def _made(cls: Any, eq: bool, frozen: bool, slots: bool) -> Any:
    own = {name for name, value in vars(cls).items() if (name, value) != ("__hash__", None)}
    cls.__doc__ = cls.__doc__ or cls.__name__  # for one without, the standard library works out a signature
    made: Any = dataclasses.dataclass(init=False, repr=False, eq=False, slots=slots)(cls)
    for name in WRITTEN.keys() - own:
        if name in ("__init__", "__repr__") or (name == "__eq__" and eq) or (name == "__hash__" and eq and frozen):
            setattr(made, name, _later(made, name, frozen))
    if eq and not frozen and "__hash__" not in own:
        made.__hash__ = None  # what can be changed is no key
    if frozen:
        made.__setattr__ = made.__delattr__ = _refused
        if slots:
            made.__getstate__, made.__setstate__ = _state, _take
    return made


def _later(cls: type, name: str, frozen: bool) -> Callable[..., Any]:
    """A method that has itself be written when it is called, and never is again."""

    def method(self: Any, *given: Any, **more: Any) -> Any:
        setattr(cls, name, written := _written(cls, name, frozen))
        return written(self, *given, **more)

    method.__name__, method.__qualname__ = name, f"{cls.__qualname__}.{name}"
    return method


def _written(cls: Any, name: str, frozen: bool) -> Any:
    """The method as the standard library writes it, for a class with the same fields."""
    asked: dict[str, Any] = {"init": False, "repr": False, "eq": False} | WRITTEN[name]
    after = {"__post_init__": cls.__post_init__} if hasattr(cls, "__post_init__") else {}
    same = [(one.name, one.type, one) for one in fields(cls)]
    method = vars(dataclasses.make_dataclass(cls.__name__, same, namespace=after, frozen=frozen, **asked))[name]
    method.__qualname__ = f"{cls.__qualname__}.{name}"
    return method


def _refused(self: object, name: str, *value: object) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot change {name!r} of what is frozen")


def _state(self: Any) -> list[Any]:
    return [getattr(self, one.name) for one in fields(self)]


def _take(self: Any, state: list[Any]) -> None:
    for one, value in zip(fields(self), state, strict=True):
        object.__setattr__(self, one.name, value)
