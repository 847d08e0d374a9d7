"""Which conversation a request belongs to.

| where | what |
|---|---|
| header `x-mnemolog-session` | the session |
| `metadata.session_id`, a `session_…` in `metadata.user_id` | the session, as coding agents name it |
| `conversation` (a name, or an object with an `id`), `prompt_cache_key` | the session |
| else | what the user said first: requests repeat their conversation from its beginning |
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

from streams.gateways.proxy.dialects import Dialect, said_by_user

SESSION_HEADER, SPACE_HEADER = "x-mnemolog-session", "x-mnemolog-space"
_WITHIN = re.compile(r"session_([0-9a-fA-F-]{8,})")


def session_of(dialect: Dialect, headers: Mapping[str, str], body: dict[str, Any]) -> str:
    """The name of the conversation."""
    if named := headers.get(SESSION_HEADER):
        return named
    about = body.get("metadata")
    about = about if isinstance(about, dict) else {}
    if isinstance(about.get("session_id"), str):
        return str(about["session_id"])
    if found := _WITHIN.search(str(about.get("user_id", ""))):
        return found[1]
    conversation = body.get("conversation")
    conversation = conversation.get("id") if isinstance(conversation, dict) else conversation
    for name in (conversation, body.get("prompt_cache_key")):
        if isinstance(name, str) and name:
            return name
    said = said_by_user(dialect, body)
    first = said[0][1] if said else ""
    return f"chat-{blake2b(first.encode(errors='replace'), digest_size=8).hexdigest()}"
