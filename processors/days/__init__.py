"""Days: what was said of days to come, found by the day.

Most of what is said of a day asks for no note ("the keys are on July 14 at 16:00"), and shares no word with the
question that needs it ("what's on today?"). So each turn that names a day to come is kept by that day (see
core/text/times). It waits for nothing and is never asked about: when the day is over, it is found by its words alone.
What asks tells nothing of a day, nor does an hour without one.

A context is told what was said of the days that its question names, one by one or as a span ("what's on next month?");
where talk begins, of today and tomorrow; where it is asked what is going on, of the week ahead, and where it is asked
how far things are or what is to come, of the next weeks. Of a turn that a waiting note was made of, the note tells.
"""

from __future__ import annotations

from collections.abc import Sequence

from processors.days.events import DayNamed, DaysParams
from processors.days.naming import asked_days, days_named
from processors.days.section import SECTION
from streams.core.clock import to_local
from streams.core.events import TurnRecorded
from streams.core.processor import Derived, Processor, Raw, State, on
from streams.core.read_model import Group, Joins, Keep, ReadModel

__all__ = ["PROCESSOR", "DayNamed", "DaysParams", "asked_days"]

_NONE: tuple[Derived, ...] = ()
DIFFERENCES = """-- count: named days
SELECT count(*) AS "named days" FROM named_days
"""


def _turn(params: DaysParams, state: State, turn: TurnRecorded, raw: Raw[TurnRecorded]) -> Sequence[Derived]:
    if "when" not in raw.text.cues or (turn.role != "user" and turn.role != "assistant"):
        return _NONE
    return [*days_named(turn, raw.text.cues, to_local(turn.at, params.zone))]


PROCESSOR = Processor(
    name="days",
    version=2,
    params=DaysParams,
    takes=(on(TurnRecorded, _turn),),
    emits=(DayNamed,),
    read_model=ReadModel(
        keeps=(Keep(DayNamed, ("id",), "named_days"),),
        groups=(Group("days", "id", {DayNamed: Joins(by="day")}),),
        differences=DIFFERENCES,
        sections=(SECTION,),
    ),
)
