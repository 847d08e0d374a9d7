"""The parameters of open_efforts."""

from __future__ import annotations

from processors.open_efforts.crowd import Limits
from processors.open_efforts.elsewhere import Carried
from processors.open_efforts.records import ACTIVE
from streams.core.params import param
from streams.core.text.alike import table


class OpenEffortsParams(Carried, Limits):
    """How segments and turns join into efforts."""

    active: int = param(
        512, "efforts", "matching looks at this many last active efforts: law 4, bounded work", ge=4, le=ACTIVE
    )
    crowd: int = param(3, "users", "from so many on, who answers whom tells more than words", ge=2, le=8)
    channel: int = param(
        8, "users", "where an assistant answers, a circle of fewer talks with it, not past each other", ge=2, le=8
    )
    calls: float = param(2.0, "log odds", "in such a circle, calling someone speaks for what both were at", ge=0)
    read: int = param(16, "words", "of one turn that are matched and remembered: law 4", ge=4, le=64)
    habit: int = param(64, "user turns", "the session's habit of switching fades over so many", ge=2)
    certain: float = param(
        0.55, "probability", "an end concludes an effort only where its turn belongs there so likely", ge=0, le=1
    )
    passing: float = param(
        0.6, "likelihood 0..1", "an end said in passing that nobody comes back to concludes from here on", ge=0, le=1
    )
    alike: bool = param(
        False, "yes or no", "alike words count for where a turn belongs, too; needs the extra `semantic`",
        source="voices by authors who only measure: .802 of turns right, not .798; .55 of ends concluded, not .53",
    )  # fmt: skip

    def check_foldable(self) -> None:
        """Raises UsageError where alike words are to count and their table is not installed."""
        if self.alike:
            table()
