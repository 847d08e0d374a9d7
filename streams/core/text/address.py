"""Whom a turn speaks to: names of speakers where people put them, at the beginning and at the end.

Who is a speaker is known to the session alone; here are the words that may be one. Calling by name ("ann: yes",
"thanks ann") decides who answers whom where many talk at once (Elsner and Charniak 2008; Kummerfeld et al., ACL 2019).
"""

from __future__ import annotations

HEAD, TAIL = 4, 2
"""Words looked at from the beginning and from the end. Why: on IRC, 4 and 2 find what looking at all words finds."""
MAX_CALL = 40
"""Longer words call nobody."""
_BEFORE, _AFTER = "@(<\"'*", ",:;.!?)>\"'*"


def called(raw: str) -> str:
    """The word by which a whitespace-separated word may call a speaker, folded to lower case; "" if it cannot."""
    bare = raw.lower().lstrip(_BEFORE).rstrip(_AFTER)
    return bare if 1 < len(bare) <= MAX_CALL else ""


def address(first: str, called: str) -> str:
    """Whom the turn addresses by name at its beginning ("ann: yes", "@ann yes"), in lower case; "" for nobody.

    Given its first word as it stands there, and `called` of it.
    """
    return called if first[-1] in ",:" or first[0] == "@" else ""
