"""What kind a note says that it is: by its context, or by its first word before a colon ("plan: ship on Friday")."""

from __future__ import annotations

from typing import Any

from streams.core.patterns import lazily

_RULE = lazily(r"\s*(?:standing )?(rule)\s*", 2)  # re.IGNORECASE


def kind_named(kinds: Any, content: str, context: str) -> tuple[str, str]:
    """The kind that a note names, in lower case, and what it says besides; two "" where it names none.

    `kinds` is a pattern (of re, or made by `lazily`) whose first group is the kind, without what stands behind it."""
    if named := kinds.fullmatch(context):
        return named[1].lower(), content
    named = kinds.match(content)
    if named is None or content[named.end() : named.end() + 1] != ":":
        return "", ""
    return named[1].lower(), content[named.end() + 1 :].lstrip() or content


def rule_of(content: str, context: str) -> str:
    """What a note says that is a rule; "" of another one."""
    return kind_named(_RULE, content, context)[1]
