"""How near a turn is to the last turns of efforts, where alike words count (see streams/core/text/alike).

    to(turn, one) = how alike the turn and one of the last turns of an effort are, 1 for the same words

What is seen of an effort is `to` of all those turns together, of the nearest one, of the nearer of the last two, and of
the nearest one of a user. Turns of long ago are not remembered, nor what they were about. The table is of English: what
it holds of other languages tells less than nothing (of Spanish turns by authors who only measure .70 were put together
as their authors did, where .73 are without).
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Iterable

from processors.open_efforts.index import Active, recently
from processors.open_efforts.records import Effort
from streams.core.events import TurnRecorded
from streams.core.processor import State
from streams.core.text.alike import table
from streams.core.text.languages import language
from streams.core.text.signals import folded

LAST = 2
TOLD = "en"
"""The language of the table."""
READ = 600
"""Characters of a turn."""
UNKNOWN = 0.0, 0.0, 0.0, 0.0
"""Of an effort of which no turn is known."""
_USER, _OTHER = "u", "o"


def vector(event: TurnRecorded) -> str:
    """What a turn is about, as it is kept: whether a user said it, by one letter, and its vector in base 64; "" for one
    whose words are not in the table."""
    about = _about(event)
    return (_USER if event.role == "user" else _OTHER) + b64encode(about).decode() if about else ""


def _about(event: TurnRecorded) -> bytes:
    text = event.content[:READ]
    return table().vector(text) if language(text, folded(text)) == TOLD else b""


def seen(
    state: State, index: Active, efforts: Iterable[str], event: TurnRecorded, but: str = ""
) -> dict[str, tuple[float, ...]]:
    """What is seen of each effort of which turns are known, the turn `but` left out; and, of "", the most of each.

    Nothing of a turn whose words are not in the table.
    """
    about = _about(event)
    if not about:
        return {}
    words = table()
    vectors: list[bytes] = []
    places: dict[str, tuple[int, list[bool]]] = {}
    for effort_id in efforts:
        if last := _last(state, index, effort_id, but) if effort_id else []:
            own = [b64decode(one[1:]) for one in last]
            places[effort_id] = len(vectors), [one[0] == _USER for one in last]
            vectors += [*own, words.together(own)]
    if not vectors:
        return {}
    likeness = words.likeness(about, vectors)
    found: dict[str, tuple[float, ...]] = {"": UNKNOWN}
    for effort_id, (start, by_user) in places.items():
        *to, together = [value / 100 for value in likeness[start : start + len(by_user) + 1]]
        users = [value for value, is_users in zip(to, by_user, strict=True) if is_users]
        found[effort_id] = together, max(to), max(to[-LAST:]), max(users, default=0.0)
    found[""] = tuple(map(max, *found.values()))
    return found


def _last(state: State, index: Active, effort_id: str, but: str) -> list[str]:
    """What an effort's last turns are about, as far as they are remembered."""
    effort = state.get(f"effort/{effort_id}", Effort)
    told = (recently(state, index, turn) for turn in effort.last if turn != but) if effort is not None else ()
    return [said.about for said in told if said is not None and said.about]
