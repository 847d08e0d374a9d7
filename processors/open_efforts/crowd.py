"""Whom a message answers where many speak at once.

In order: whom it calls by name (the thread those two talked in within `pair` minutes, else what the called one said
last within `last`); an unnamed message answers who called its author since the author's last message (within
`called`), else goes on with the author's own last message: within `own` minutes in a thread that the author began,
within `helping` in another's, for who helps turns to the next. Words alone tell little there.

Sources: Elsner & Charniak 2008; Kummerfeld et al., ACL 2019.
"""

from __future__ import annotations

from functools import lru_cache

from processors.open_efforts.records import Speaker
from streams.core.events import MINUTE
from streams.core.params import Params, param
from streams.core.processor import State
from streams.core.text import Text

PARTNERS = 8


class Limits(Params):
    """How long what was said asks for an answer. Tuned on IRC, train and dev alike."""

    pair: int = param(20, "minutes", "two who talked this lately go on with it", ge=0)
    last: int = param(20, "minutes", "who is called by name is answered on what they said last", ge=0)
    renewed: int = param(4, "minutes", "after so long, what the called one began since counts more", ge=0)
    called: int = param(6, "minutes", "an unnamed message answers who called its author", ge=0)
    own: int = param(
        6, "minutes", "an unnamed message goes on with its author's last, in a thread of the author's", ge=0
    )
    helping: int = param(
        1, "minutes", "in another's thread that holds after 1 minute for 3 of 4, after 2 for 1 of 3", ge=0
    )


_EDGE = "_-^`|~[]{}\\"


@lru_cache(maxsize=1024)
def known_as(agent: str) -> str:
    """The name people call an agent by: in lower case, without the ornaments at its ends (ann_ and |ann| are ann)."""
    name = agent.lower()
    return name.strip(_EDGE) or name


def called(state: State, session: str, me: str, text: Text, common: dict[str, int], limit: int) -> str:
    """The speaker of the session that the turn calls by name, "" for none.

    A word that more than `limit` efforts use (by the postings `common`) is a word, not a name, unless it opens as an
    address.
    """
    for call in text.calls:
        word = call.strip(_EDGE)
        if (
            word
            and word != me
            and (call == text.address or common.get(word, 0).bit_count() <= limit)
            and state.get(f"speaker/{session}/{word}", Speaker) is not None
        ):
            return word
    return ""


def answered(me: Speaker | None, other: Speaker | None, name: str, at: int, limits: Limits) -> tuple[str, str]:
    """The effort that a message belongs to, and why; ("", "") where it begins something."""
    if other is not None:
        talked = me.partners.get(name) if me else None
        if talked and other.began == other.effort != talked[1] and other.at - int(talked[0]) >= limits.renewed * MINUTE:
            talked = None  # The called one has begun something else since.
        if talked and at - int(talked[0]) <= limits.pair * MINUTE:
            return str(talked[1]), "address"
        return (other.effort, "address") if other.effort and at - other.at <= limits.last * MINUTE else ("", "")
    if me is None:
        return "", ""
    if me.called_effort and me.called_turn > me.turn and at - me.called_at <= limits.called * MINUTE:
        return me.called_effort, "answer"
    own = limits.own if me.began == me.effort else limits.helping
    return (me.effort, "speaker") if me.effort and at - me.at <= own * MINUTE else ("", "")


def spoke(me: Speaker, other: Speaker | None, my_name: str, name: str, at: int, turn: int, effort: str) -> None:
    """Remembers who said something to whom, and about what."""
    me.at, me.turn, me.effort = at, turn, effort
    if other is not None:
        other.called_at, other.called_turn, other.called_effort = at, turn, effort
        for speaker, partner in ((me, name), (other, my_name)):
            speaker.partners.pop(partner, None)
            speaker.partners[partner] = [at, effort]
            if len(speaker.partners) > PARTNERS:
                del speaker.partners[next(iter(speaker.partners))]
