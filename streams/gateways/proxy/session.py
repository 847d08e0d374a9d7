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
from streams.gateways.sources.shared import name_of

SESSION_HEADER, SPACE_HEADER = "x-mnemolog-session", "x-mnemolog-space"
_WITHIN = re.compile(r"session_([0-9a-fA-F-]{8,})")


def session_of(dialect: Dialect, headers: Mapping[str, str], body: dict[str, Any]) -> str:
    """The name of the conversation, as events take it; what is empty names none."""
    about = body.get("metadata")
    about = about if isinstance(about, dict) else {}
    within = _WITHIN.search(str(about.get("user_id", "")))
    conversation = body.get("conversation")
    conversation = conversation.get("id") if isinstance(conversation, dict) else conversation
    named = (headers.get(SESSION_HEADER), about.get("session_id"), within and within[1], conversation)
    for name in map(name_of, (*named, body.get("prompt_cache_key"))):
        if name.strip():
            return name
    said = said_by_user(dialect, body)
    first = said[0][1] if said else ""
    return f"chat-{blake2b(first.encode(errors='replace'), digest_size=8).hexdigest()}"
