"""Halves of characters: JSON can say one, and JavaScript leaves one where it cuts text; UTF-8 and the log have none."""

from __future__ import annotations


def whole_text(text: str) -> str:
    """A text with a "?" for each half of a character."""
    return text.encode(errors="replace").decode()
