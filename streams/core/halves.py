"""Halves of characters: JSON can say one, and JavaScript leaves one where it cuts text; UTF-8 and the log have none."""

from __future__ import annotations

from contextlib import suppress
from typing import Any


def whole_text(text: str) -> str:
    """A text with a "?" for each half of a character."""
    return text.encode(errors="replace").decode()


def loads(raw: bytes) -> Any:
    """The JSON value that another program wrote. Raises orjson.JSONDecodeError.

    A "?" stands for half of a character, which JavaScript leaves where it cuts text.
    """
    import orjson  # why here: help needs texts alone

    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        if "surrogate" not in error.msg:
            raise
        import json  # few texts are cut

        with suppress(RecursionError, ValueError):
            return orjson.loads(json.dumps(json.loads(raw), ensure_ascii=False).encode(errors="replace"))
        raise
