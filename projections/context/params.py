"""Parameters of composition."""

from __future__ import annotations

from streams.core.params import Params, param

CCM = "Cognitive Context Management"


class ContextParams(Params):
    """How a context is composed. Shares are of the budget."""

    budget: int = param(4000, "tokens", "quality holds at about this size whatever the length", CCM, ge=0)
    least: float = param(0.05, "worth", "what serves less is left out though there is room", ge=0, le=1)
    overhead: int = param(16, "tokens", "added to a cost where worth is weighed by it: short is not yet good", ge=0)
    needed: float = param(0.6, "share", "of what comes first whatever else there is, the turn itself apart", ge=0, le=1)
    turn: float = param(0.125, "share", "a longer turn shows its head and tail: eight turns at least fit", gt=0, le=1)
    newest: float = param(0.25, "share", "the same for the turn that is to be answered", gt=0, le=1)
    tool: int = param(48, "tokens", "a tool's output is condensed: its beginning and its end tell how it went", ge=8)
    whole: float = param(0.2, "worth", "a tool's output is shown beyond its ends where it serves this and fits", ge=0)
    head: float = param(0.67, "share of what is shown", "how much of an oversize turn is its beginning", ge=0, le=1)


class RecalledParams(Params):
    """How much of what recall finds for the turn to be answered is shown."""

    most: int = param(60, "turns", "looked at; more would not fit", ge=0, le=200)
    least: float = param(0.3, "share of the best score", "what answers much less lies only near", ge=0, le=1)
    sure: float = param(0.25, "share", "of a full answer's score: from here on a best hit is worth all", gt=0, le=1)
    faint: float = param(0.1, "share", "of it: a best hit below has met by chance; nothing is shown", ge=0, le=1)
    short: int = param(3, "terms", "a turn with fewer is read with what was said before it", ge=0)
    beside: float = param(0.5, "factor", "the turn before one that answers makes it understandable", ge=0, le=1)


class RecentParams(Params):
    """How much of the session's own talk is shown as it was said."""

    exchanges: int = param(10, "user turns", "the ambient window", CCM, ge=0)
    first: int = param(2, "user turns", "come first: no answer fits the talk without them", ge=0)
    fade: float = param(0.9, "factor per exchange", "what was said seven exchanges ago serves half as much", gt=0, le=1)
    last: int = param(12, "turns", "shown as they were said where a window of a fixed length is asked for", ge=1)
