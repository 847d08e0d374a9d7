"""Parameters of composition."""

from __future__ import annotations

from streams.core.params import Params, param

CCM = "Cognitive Context Management"


class ContextParams(Params):
    """How a context is composed. Shares are of the budget."""

    budget: int = param(4000, "tokens", "quality holds at about this size whatever the length", CCM, ge=0)
    least: float = param(0.05, "worth", "what serves less is left out though there is room", ge=0, le=1)
    turn: float = param(
        0.125, "share", "of a longer turn what serves is shown, or its ends: eight turns at least fit", gt=0, le=1
    )
    newest: float = param(0.25, "share", "the same for the turn that is to be answered", gt=0, le=1)
    tool: int = param(48, "tokens", "a tool's output is condensed: its beginning and its end tell how it went", ge=8)
    whole: float = param(0.2, "worth", "a tool's output is shown beyond its ends where it serves this and fits", ge=0)
    figures: int = param(160, "tokens", "ids, dates and amounts of an effort: what the next call needs", ge=0)
    tight: float = param(0.18, "share", "the same where the budget is small: those of four efforts fit", ge=0, le=1)
    head: float = param(0.67, "share of what is shown", "how much of an oversize turn is its beginning", ge=0, le=1)


class RecalledParams(Params):
    """How much of what recall finds for the turn to be answered is shown, and what speaks for its asking at all.

    Weights are in log odds, learned by tests/bench/learn_calls.py.
    """

    most: int = param(100, "turns", "looked at; more would not fit", ge=0, le=200)
    least: float = param(0.3, "worth", "what answers much less than the best, or a turn that hardly asks", ge=0, le=1)
    even: float = param(0.2, "likelihood", "a turn that calls for memory in one case of five is given all", gt=0, le=1)
    few: int = param(
        140, "telling words", "of the best turns, shown however little the turn asks, where people talk with an agent",
        source="tests/lives", ge=0,
    )  # fmt: skip
    anyway: float = param(0.8, "worth", "of the best of these", source="tests/lives", ge=0, le=1)
    held: float = param(3.9, "log odds", "of the rarest word, where a hit holds it; less as it is less rare", ge=0)
    unheard: float = param(1.5, "log odds", "against, for each word that tells and that nobody said", ge=0)
    match: float = param(1.5, "log odds", "of a best hit that scores as one holding the rarest word alone", ge=0)
    named: float = param(4.8, "log odds", "where one who spoke is named", ge=0)
    talk: float = param(2.9, "log odds", "where it asks for what was said or decided", ge=0)
    doubt: float = param(4.3, "log odds", "against, to begin with: most that is said calls for nothing", ge=0)
    passage: float = param(24.0, "weight", "of the hits around one: talk that dwells on it is shown as a stretch", ge=0)
    reach: int = param(32, "documents", "before and after a hit: so long a meeting is about one matter", ge=1)
    short: int = param(3, "terms", "a turn with fewer is read with what was said before it", ge=0)
    beside: float = param(0.5, "factor", "the turn before one that answers makes it understandable", ge=0, le=1)


class RecentParams(Params):
    """How much of the session's own talk is shown as it was said."""

    exchanges: int = param(10, "user turns", "the ambient window", CCM, ge=0)
    first: int = param(1, "user turns", "come first: the exchange in hand", ge=0)
    fade: float = param(0.9, "factor per exchange", "what was said seven exchanges ago serves half as much", gt=0, le=1)
    last: int = param(12, "turns", "shown as they were said where a window of a fixed length is asked for", ge=1)


class MissedParams(Params):
    """How much of what was said meanwhile is shown."""

    most: int = param(24, "turns", "what is older was summed up, or is asked for by its name", ge=0, le=200)
    few: int = param(12, "turns", "shown though who asks was here after them: others said them to somebody else", ge=0)
    worth: float = param(0.6, "worth", "what is due and what is asked by name come first", ge=0, le=1)
    fade: float = param(0.98, "factor per turn", "what was said longer ago is asked for less", gt=0, le=1)
    agent: float = param(0.7, "factor", "of what an agent said: people say what happened", ge=0, le=1)
