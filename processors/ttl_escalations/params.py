"""How long notes live, what brings them back, and what happens when their time is out."""

from __future__ import annotations

from streams.core.clock import Zone
from streams.core.params import Params, param
from streams.core.processor import r6

PAPER = "three-column working memory"


class TtlEscalationsParams(Params):
    """How long notes live, what brings them back, and what happens when their time is out."""

    urgent: float = param(4, "hours", "time to live of urgent notes ('soon')", PAPER, gt=0)
    normal: float = param(24, "hours", "time to live of normal notes ('later', 'when you get a chance')", PAPER, gt=0)
    low: float = param(168, "hours", "time to live where no time is named: a week of work", PAPER, gt=0)
    late_left: float = param(0.2, "share of the time to live", "below it a note presses", PAPER, ge=0, le=1)
    late_factor: float = param(1.5, "factor", "raises .6 to the surfacing level", PAPER, ge=1)
    last_left: float = param(0.05, "share of the time to live", "below it a note presses hard", PAPER, ge=0, le=1)
    last_factor: float = param(2, "factor", "raises all that would escalate above the surfacing level", PAPER, ge=1)
    surface_above: float = param(0.9, "effective priority", "shown without a shared word from here on", PAPER, ge=0)
    escalate_from: float = param(0.5, "base priority", "asked about when its time is out; else archived", PAPER, ge=0)
    asked: float = param(
        0.6, "base priority", "'remind me': the user ordered it, so it must not end in silence", ge=0, le=1
    )
    mentioned: float = param(
        0.5, "base priority", "'it is due on Friday': presses before its time, and ends in a question", ge=0, le=1
    )
    sure: int = param(
        -40, "hundredths of log odds", "a time that words name makes a note from here on: nine of ten are wanted",
        "tests/bench/learn_reminders.py",
    )  # fmt: skip
    asks: int = param(
        20,
        "hundredths of log odds",
        "a request for a reminder makes a note from here on",
        "tests/bench/learn_reminders.py",
    )
    taken_up: int = param(
        -30,
        "hundredths of log odds",
        "what may be a reminder makes a note from here on by the reply",
        "tests/bench/learn_reminders.py",
    )
    zone: Zone = param(
        "UTC",
        "time zone",
        "by whose clocks 'at nine' is meant: a name such as Europe/Berlin, or hours as +02:00",
        "chosen",
    )
    window: int = param(5, "turns", "what was just said need not come back", PAPER, ge=0)
    likely: int = param(
        -50, "hundredths of log odds", "a note comes back from here on", "tests/bench/learn_surfacing.py"
    )  # fmt: skip
    at_work: int = param(
        -100, "hundredths of log odds", "a note of the effort that is talked of comes back from here on",
        "tests/bench/learn_surfacing.py",
    )  # fmt: skip
    settles: int = param(
        60, "hundredths of log odds", "a turn settles a note from here on: nine of ten are wanted",
        "tests/bench/learn_settling.py",
    )  # fmt: skip
    doubts: int = param(
        -10, "hundredths of log odds", "where it is not sure that a turn settles a note, that is asked from here on",
        "tests/bench/learn_settling.py",
    )  # fmt: skip
    moves: int = param(
        80, "hundredths of log odds", "a turn puts a note to another time from here on", "tests/bench/learn_settling.py"
    )
    unanswered: int = param(
        7, "times", "what comes again and again is raised in a row while nobody says that it is done", ge=1
    )
    raised: float = param(30, "days", "after its question its matter brings a note back, till it is settled", ge=0)
    cooldown: float = param(
        4,
        "hours",
        "a session is shown a note once a visit: again after this long, once it ended, or came back to its effort",
        ge=0,
    )
    shown: int = param(
        5, "notes", "surfaced by one turn at most, most pressing first: more is a list, not a hint", ge=1, le=5
    )
    alike: int = param(64, "notes", "a term of more open notes than this tells none of them apart", ge=1, le=256)
    pressing: int = param(16, "notes", "pressing notes looked at in a turn, the newest: bounded work", ge=1, le=64)
    expiries: int = param(
        48, "writes", "spent on expiries by one event, the rest at the next: bounded work", ge=2, le=48
    )


def effective_priority(params: TtlEscalationsParams, priority: float, opened: int, deadline: int, now: int) -> float:
    """min(1, priority * escalation): 1, then 1.5 below 20 % of the time to live left, 2 below 5 %.

    Times are UTC microseconds.
    """
    left = (deadline - now) / max(1, deadline - opened)
    factor = params.last_factor if left < params.last_left else params.late_factor if left < params.late_left else 1.0
    return r6(min(1.0, priority * factor))
