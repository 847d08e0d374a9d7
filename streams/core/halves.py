"""Halves of characters: JSON can say one, and JavaScript leaves one where it cuts text; UTF-8 and the log have none."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import orjson


def whole_text(text: str) -> str:
    """A text with a "?" for each half of a character."""
    return text.encode(errors="replace").decode()


def loads(raw: bytes) -> Any:
    """The JSON value that another program wrote. Raises orjson.JSONDecodeError.

    A "?" stands for half of a character, which JavaScript leaves where it cuts text.
    """
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        if "surrogate" not in error.msg:
            raise
        with suppress(RecursionError, ValueError):
            return orjson.loads(json.dumps(json.loads(raw), ensure_ascii=False).encode(errors="replace"))
        raise
