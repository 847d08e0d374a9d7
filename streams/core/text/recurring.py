"""What is to come again and again: "every Monday at 9", "twice a day", "on the first of each month".

    recurrence("Remind me every other Friday to back up", "en")  ->  "FREQ=WEEKLY;INTERVAL=2;BYDAY=FR"
    following(rule, first, now)                                   ->  the first moment after `now` that the rule names

A recurrence is said as a rule of iCalendar (RFC 5545, 3.3.10) with FREQ, INTERVAL and BYDAY: by what is in between, or
on which weekdays. Words become kinds by the tables of times (times.toml) and by one of their own (recurring.toml); what
names a recurrence is a pattern of kinds.

Of 65 requests for what is to come again by an author who saw no rules 38 make a note, 31 one that comes as often as it
should, 29 first when it should; of 45 sentences that only speak of what recurs one does.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from datetime import datetime, timedelta
from importlib.resources import files
from typing import Any, NamedTuple

from streams.core.patterns import lazily
from streams.core.text.times import INSTANT, UNITS, YEARS, Time, Token, after, kinds_of, midnight, of_month

_FREQUENCIES = {"m": "MINUTELY", "h": "HOURLY", "d": "DAILY", "w": "WEEKLY", "M": "MONTHLY", "y": "YEARLY"}
_DAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
_UNIT_OF = {frequency: UNITS[unit] for unit, frequency in _FREQUENCIES.items()}
_NAME_OF = {UNITS[unit]: frequency for unit, frequency in _FREQUENCIES.items()}
_CALLED = {"MINUTELY": "minute", "HOURLY": "hour", "DAILY": "day", "WEEKLY": "week", "MONTHLY": "month"}
_CALLED_DAYS = dict(zip(_DAYS, ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"), strict=True))
WORKDAYS = range(5)
SATURDAY = 5
HOURS = 24
"""Of a day: when it is over, what no hour is named for is due."""
BEFORE = 3
"""Words before a day that may tell that something begins there."""
END = datetime(9999, 12, 31)
"""When times end."""
MOST = 1_000
"""Units that may lie between."""
LEAST = timedelta(hours=1)
"""What is wanted more often is a timer's matter, and no memory's."""


def _words(table: Mapping[str, Any]) -> dict[str, tuple[str, float]]:
    """What each word of a language is here, and its value; of `regularly` units, a thousand to a number."""
    words = {word: (kind, 0.0) for name, kind in _SINGLE.items() for word in table[name].split()}
    for said, spelled in table["regularly"].items():
        count, unit = said.split()
        words.update((word, ("r", UNITS[unit] * MOST + float(count))) for word in spelled.split())
    for day, spelled in enumerate(table["weekly"]):
        words.update((word, ("A", float(day))) for word in spelled.split())
    words.update((word, ("u", float(n))) for n, spelled in table["times"].items() for word in spelled.split())
    return words


_SINGLE = {"every": "e", "other": "k", "workdays": "L", "and": "j"}
_TABLES: dict[str, Any] = tomllib.loads(files(__package__).joinpath("recurring.toml").read_text("utf-8"))
_WORDS = {code: _words(table) for code, table in _TABLES.items()}
_STARTING = {code: frozenset(table["starting"].split()) for code, table in _TABLES.items()}
RECURRING = frozenset(word for words in _WORDS.values() for word, (kind, _) in words.items() if kind in "erALu")
"""Words without one of which nothing recurs."""
_PATTERNS = (
    ("days", r"e[fa]*(?P<other>k)?(?P<days>W(?:[,j]{0,2}e?W)*)(?!s)"),
    ("weekly", r"(?P<days>A(?:[,j]{0,2}A)*)"),
    ("workdays", r"eL|(?<=l)a?L|L(?=$|[.,l])"),
    ("weekend", r"e[fa]*K"),
    ("units", r"e[fa]*(?P<other>k|s(?=U))?(?P<n>n)?(?P<half>[hH]a?)?(?P<unit>U)"),
    ("parts", r"e[fa]*D?P"),
    ("regular", r"(?P<regular>r)(?=$|[.,ltifabPnC])"),
    ("times", r"(?P<times>[un])[xf]?(?:n|a|l|e)(?P<unit>U)"),
    ("month", r"e[ao]*(?P<date>o)"),
)
_FIRST = {"days": 0, "workdays": 1, "weekly": 2}
"""What tells most where a text names several: "weekly, every Friday"."""
_DATE = lazily(r"([os])[fa]*e?a?U")
_FOUND = [(name, lazily(pattern)) for name, pattern in _PATTERNS]


class Recurrence(NamedTuple):
    """What comes again and again, and where that is said."""

    start: int
    end: int
    rule: str
    hour: float
    """By which it is due where no other is named: "every morning"; 0 where none is."""
    date: int
    """The day of a month: "on the first of every month"; 0 where none is named."""

    def overlaps(self, time: Time) -> bool:
        """Whether its words and those of a time share some."""
        return time.start < self.end and self.start < time.end


def recurrence(text: str, language: str) -> Recurrence | None:
    """The recurrence that a text names first; None where it names none, or one of less than `LEAST`."""
    words = _WORDS.get(language)
    if words is None:
        return None
    tokens, _ = kinds_of(text, language)
    own = [words.get(text[token.start : token.end].lower()) for token in tokens]
    if all(kind is None for kind in own):
        return None
    seen = [
        token._replace(kind=mine[0], value=mine[1]) if mine and not (mine[0] == "k" and token.kind == "U") else token
        for token, mine in zip(tokens, own, strict=True)
    ]
    kinds = "".join([token.kind for token in seen])
    found = [
        (match, name)
        for name, pattern in _FOUND
        for match in [next(pattern.finditer(kinds), None)]
        if match is not None
    ]
    for match, name in sorted(found, key=lambda one: (_FIRST.get(one[1], len(_FIRST)), one[0].start())):
        if rule := _rule(name, match, seen):
            words_of = seen[match.start() : match.end()]
            hour = words_of[-1].value if words_of[-1].kind == "P" else 0.0
            days = [token for token in seen if token.kind in "WA"]
            if days and "BYDAY" not in rule and any(one.kind == "U" and one.value == UNITS["w"] for one in words_of):
                rule = said_rule("WEEKLY", _read(rule).interval if name == "units" else 1, [int(d.value) for d in days])
                words_of += days  # "twice a week, on Monday and Thursday"
            date = next(
                (int(seen[d.start()].value) for d in _DATE.finditer(kinds) if seen[d.end() - 1].value == UNITS["M"]), 0
            )
            return Recurrence(min(o.start for o in words_of), max(o.end for o in words_of), rule, hour, date)
    return None


def _rule(name: str, match: re.Match[str], tokens: list[Token]) -> str:
    """What the words say, as a rule; "" where it is none."""
    of = {group: tokens[match.start(group)] for group, said in match.groupdict().items() if said}
    if name in ("days", "weekly"):
        days = [int(tokens[at].value) for at in range(*match.span("days")) if tokens[at].kind in "WA"]
        return said_rule("WEEKLY", 2 if "other" in of else 1, days)
    if name == "workdays":
        return said_rule("WEEKLY", 1, [*WORKDAYS])
    if name == "weekend":
        return said_rule("WEEKLY", 1, [SATURDAY])
    if name == "parts":
        return said_rule("DAILY", 1)
    if name == "month":
        return said_rule("MONTHLY", 1)
    if name == "regular":
        unit, count = divmod(int(of["regular"].value), MOST)
        return _units(float(count), unit)
    many = 2.0 if "other" in of else of["n"].value if "n" in of else 1.0
    unit = int(of["unit"].value)
    if name == "times":
        return _units(1 / of["times"].value, unit) if of["times"].value >= 1 else ""
    return _units(many * (0.5 if "half" in of else 1.0), unit)


_PARTS = {UNITS["h"]: (60, "m"), UNITS["d"]: (24, "h"), UNITS["w"]: (7, "d"), UNITS["y"]: (12, "M")}
"""How many smaller units a unit has: half an hour is thirty minutes."""


def _units(count: float, unit: int) -> str:
    """So many units, in smaller ones where they are no whole number."""
    if unit == UNITS["ww"]:
        count, unit = 2 * count, UNITS["w"]
    if count % 1 and unit in _PARTS:
        parts, smaller = _PARTS[unit]
        count, unit = round(count * parts), UNITS[smaller]
    if not 1 <= count <= MOST or (unit == UNITS["m"] and timedelta(minutes=count) < LEAST):
        return ""
    return said_rule(_NAME_OF[unit], int(count))


def said_rule(frequency: str, interval: int, days: list[int] | None = None) -> str:
    """A rule of iCalendar."""
    parts = [f"FREQ={frequency}"]
    if interval > 1:
        parts.append(f"INTERVAL={interval}")
    if days:
        parts.append("BYDAY=" + ",".join(_DAYS[day] for day in sorted({*days})))
    return ";".join(parts)


class _Rule(NamedTuple):
    frequency: str
    interval: int
    days: tuple[int, ...]


def _read(rule: str) -> _Rule:
    parts = dict(part.split("=") for part in rule.split(";"))
    days = tuple(_DAYS.index(day) for day in parts.get("BYDAY", "").split(",") if day)
    return _Rule(parts["FREQ"], int(parts.get("INTERVAL", "1")), days)


def in_words(rule: str) -> str:
    """A rule as people say it: "every 2 weeks", "every Mon, Thu", "every other Fri"; "" for ""."""
    if not rule:
        return ""
    frequency, interval, days = _read(rule)
    if days == tuple(WORKDAYS):
        return "every weekday"
    if days:
        return f"every {'other ' * (interval > 1)}{', '.join(_CALLED_DAYS[_DAYS[day]] for day in days)}"
    called = _CALLED.get(frequency, "year")
    return f"every {called}" if interval == 1 else f"every {interval} {called}s"


def begins(found: Recurrence, day: datetime | None, clock: timedelta | None, now: datetime) -> datetime:
    """When what recurs is due first after `now`, local: on the `day` (its midnight) and by the `clock` that are named
    beside it, where they are.

    What comes on weekdays begins on the next of them; what comes every so many units so long from now.
    """
    frequency, interval, days = _read(found.rule)
    today = midnight(now)
    due = clock if clock is not None else timedelta(hours=found.hour or HOURS)
    if days:
        ahead = ((day or today) + timedelta(days=n) for n in range(9))
        return next(one + due for one in ahead if one.weekday() in days and one + due > now)
    if day is None and found.date:
        day = of_month(today, found.date)
    if day is not None and day + due > now:
        return day + due
    unit = _UNIT_OF[frequency]
    if unit < UNITS["d"]:
        return after(now, interval, unit)
    if clock is not None or (found.hour and interval == 1):
        return today + due + timedelta(days=today + due <= now)
    return after(today, interval, unit) + due


def is_meant(found: Recurrence, time: Time | None, text: str, language: str) -> bool:
    """Whether a text means what recurs in it ("remind me at six, every day"), not a time of its own that stands beside
    ("I swim every Tuesday, remind me tonight to buy goggles")."""
    if time is None or not time.day or found.overlaps(time):
        return True
    if _UNIT_OF[_read(found.rule).frequency] >= UNITS["M"]:
        return True  # on the 15th of every month
    before = [word.casefold() for word in re.findall(r"[^\W\d_]+", text[: time.start])[-BEFORE:]]
    return not _STARTING[language].isdisjoint(before)


def following(rule: str, first: datetime, now: datetime) -> datetime:
    """The first moment after `now` at which what was due at `first` is due again; local.

    Months and years are counted from `first`, so that what is due on the 31st is so again after February. Nothing is
    due after the years that are read, but at the END.
    """
    if now.year not in YEARS or first.year not in YEARS:
        return END
    frequency, interval, days = _read(rule)
    if days:
        # What is due when a day is over belongs to that day: its end is the next midnight.
        day = midnight(first - INSTANT)
        clock = first - day
        week = day - timedelta(days=day.weekday())
        weeks = max(0, (now - clock - week).days // (7 * interval)) * interval
        ahead = (week + timedelta(weeks=weeks + n * interval, days=at) + clock for n in range(3) for at in days)
        return next(due for due in ahead if due > now and due > first)
    unit = _UNIT_OF[frequency]
    if unit < UNITS["M"]:
        step = after(first, interval, unit) - first
        return first + max(1, (now - first) // step + 1) * step
    months = interval * (12 if unit == UNITS["y"] else 1)
    passed = (now.year - first.year) * 12 + now.month - first.month
    dues = (after(first, (max(0, passed // months) + n) * months, UNITS["M"]) for n in range(3))
    return next((due for due in dues if due > now and due > first), END)
