"""Whom a turn speaks to: names of speakers where people put them, at the beginning and at the end.

Who is a speaker is known to the session alone; here are the words that may be one. Calling by name ("ann: yes",
"thanks ann") decides who answers whom where many talk at once (Elsner and Charniak 2008; Kummerfeld et al., ACL 2019).
"""

from __future__ import annotations

HEAD, TAIL = 4, 2
"""Words looked at from the beginning and from the end. Why: on IRC, 4 and 2 find what looking at all words finds."""
_HEAD_CHARS, _TAIL_CHARS = 160, 80
_BEFORE, _AFTER = "@(<\"'*", ",:;.!?)>\"'*"


def calls(content: str) -> list[str]:
    """Distinct words by which the turn may call someone, folded to lower case, the first word first. At most 6."""
    head = content[:_HEAD_CHARS].split(None, HEAD)[:HEAD]
    tail = content[-_TAIL_CHARS:].rsplit(None, TAIL)[-TAIL:] if len(head) == HEAD else []
    found: dict[str, None] = {}
    for word in head + tail:
        bare = word.lower().lstrip(_BEFORE).rstrip(_AFTER)
        if 1 < len(bare) <= 40:
            found[bare] = None
    return list(found)


def address(content: str) -> str:
    """Whom the turn addresses by name at its beginning ("ann: yes", "@ann yes"), in lower case; "" for nobody."""
    head = content[:_HEAD_CHARS].split(None, 1)
    if not head:
        return ""
    word = head[0]
    if word[-1] not in ",:" and word[0] != "@":
        return ""
    bare = word.lower().lstrip(_BEFORE).rstrip(_AFTER)
    return bare if 1 < len(bare) <= 40 else ""
