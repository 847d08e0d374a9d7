"""Times that words name: "by Friday", "in 20 minutes", "Monday week", "the 31st at half two", "月末".

    named("ring him Tue noon", "en", now)  ->  [Time(9, 12, 12:00 on the Tuesday to come, exact)]

Words become kinds by the table of the text's language (times.toml): weekday, month, number, unit, part of the day,
next, end, ...; what names a time is a pattern of kinds, so a language needs words only. `now` is local. A day is named
till it is over, a part of a day till that is over; an hour that may be of either half of the day is a waking one. What
is past ("last Friday", "two days ago") is left out.

Why no library: of annotated reminders dateparser 1.5 finds the moment among others for 49 of 100, and takes 2.8 ms.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from importlib.resources import files
from typing import Any, Literal, NamedTuple

from streams.core.patterns import lazily

Ttl = Literal["urgent", "normal", "low"]


class Time(NamedTuple):
    """A moment to come that words name."""

    start: int
    """Where the words of its day, or of its hour where no day is named, stand in the text."""
    end: int
    moment: datetime
    """When it is over; local."""
    exact: bool
    """Whether an hour is named."""
    day: bool = True
    """Whether its day is named; else it is the hour's next."""
    half: bool = True
    """Whether it is certain in which half of the day its hour lies."""


class Token(NamedTuple):
    """A word by what it is in a time."""

    kind: str
    value: float
    start: int
    end: int


_KINDS = {
    "leads": "l", "before": "b", "article": "a", "within": "i", "next": "N", "overnext": "O", "this": "T", "last": "B",
    "end": "E", "middle": "m", "begin": "S", "of": "f", "numbers": "n", "more": "n", "ordinals": "o", "units": "U",
    "parts": "P", "weekend": "K", "close": "P", "oclock": "c", "past": "p", "to": "t", "plus": "Y", "minus": "Z",
    "quarter": "q", "half": "h", "halfway": "H", "weekdays": "W", "months": "M", "days": "D", "coming": "V",
    "about": "g",
}  # fmt: skip
"""What words are, by their name in the table, as a letter; of a word that is several the last counts."""
UNITS = {"m": 0, "h": 1, "d": 2, "w": 3, "ww": 4, "M": 5, "y": 6}
_WEAK = frozenset(["sun", "sat", "may", "march", "mar", "mo", "do", "mi", "di", "so", "fr", "second", "min"])
"""Words that are mostly no time: they count where a word that leads to times or a number stands beside them."""
MANY = 3
"""The first, second and third are mostly no days: kind s."""
SURE = 1_000_000
"""Added to the minutes of an hour whose half of the day is certain; more than any number times sixty."""
TENS, DOZEN = 20, 12
_SHARES = {"h": 0.5, "H": 0.5, "q": 0.25}
"""What halves and quarters are of a unit."""
CLOSE = 17
"""The hour when offices close."""
TONIGHT = 23.0
"""The hour by which tonight is over: half a day from today."""
_DAY = timedelta(days=1)
MONTH = 30
"""Days of which half a month has half."""
YEARS = range(1000, 9000)
"""The years of which words are read, and in which. Why not up to 9999: what a few words add to a moment must stay one
that datetimes and logs carry, in every zone. "Valid until 9999-12-31" means forever."""
MAX_LEAD = 366
"""Units that may lie between a moment and what is wanted before it."""
MAX_NUMBER = 9999
"""The largest number that is read, of units too."""
MAX_KNOWN = 200
"""Characters; what was found last in texts no longer is remembered: several read a sentence, and it is said again."""


def _words(table: Mapping[str, Any], joined: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, float]]:
    """What each word of a language is, and its value; of those that stand for several words, what the last is."""
    words: dict[str, tuple[str, float]] = {}
    for name, kind in _KINDS.items():
        given = table[name]
        if isinstance(given, list):
            rows: list[tuple[str, float]] = [
                (word, at) for at, spelled in enumerate(given, kind == "M") for word in spelled.split()
            ]
        elif isinstance(given, dict):
            rows = [
                (w, UNITS.get(key, -1) if kind == "U" else float(key)) for key, ws in given.items() for w in ws.split()
            ]
        else:
            rows = [(w, at if kind in "no" else CLOSE) for at, w in enumerate(given.split())]
        words.update((word, (kind, value)) for word, value in rows)
    return words | {whole: words[parts[-1]] for whole, parts in joined.items()}


def _joined_words(table: Mapping[str, Any]) -> dict[str, list[str]]:
    """The words of a language that stand for several, and these: "freitagabend"."""
    days = [spelled.split()[0] for spelled in table["weekdays"]]
    parted = {day + end: [day, part] for day in days for end, part in table["behind"].items()}
    return parted | {whole: parts.split() for whole, parts in table["joined"].items()}


def _whole(phrase: str) -> str:
    """What finds a phrase, but not where it begins or ends within a word."""
    letter = r"[^\W\d_]"
    begin, end = rf"(?<!{letter})" * phrase[0].isalpha(), rf"(?!{letter})" * phrase[-1].isalpha()
    return f"{begin}{re.escape(phrase)}{end}"


_TABLES: dict[str, Any] = tomllib.loads(files(__package__).joinpath("times.toml").read_text("utf-8"))
_JOINED_WORDS = {code: _joined_words(table) for code, table in _TABLES.items()}
_WORDS = {code: _words(table, _JOINED_WORDS[code]) for code, table in _TABLES.items()}
MANY_UNITS = frozenset(word for table in _TABLES.values() for word in table["many"].split())
"""Words of units of which there are several."""
_IN_MONTH = {code: table["in_month"] for code, table in _TABLES.items()}
"""The word before a month in which something is."""
_MONTH = lazily(r"M(?!a?[osIJ])(?:,?(n))?")
"""A month that is named without a day, and its year."""
UNTIL = frozenset(word for table in _TABLES.values() for word in table["until"].split())
"""Words before a time up to which something is."""
VOCABULARY = {
    code: frozenset(word for word, (kind, _) in words.items() if kind in "WMDUP" and word not in _WEAK)
    for code, words in _WORDS.items()
}
"""The words of time of each language: they tell which one a text is in."""
_SAME = {code: (lazily("|".join(map(_whole, table["same"]))), table["same"]) for code, table in _TABLES.items()}
_HASTE: dict[Ttl, frozenset[str]] = {
    "urgent": frozenset(word for table in _TABLES.values() for word in table["soon"].split()),
    "normal": frozenset(word for table in _TABLES.values() for word in table["later"].split()),
}
_HASTE_WIDE: dict[Ttl, tuple[str, ...]] = {
    "urgent": ("急", "すぐ", "尽快", "马上"),
    "normal": ("あとで", "後で", "以后", "回头", "待会"),
}
KINDS = {
    word: f"<{kind}>"
    for words in _WORDS.values()
    for word, (kind, _) in words.items()
    if kind in "WMDUPK" and word not in _WEAK
}
"""Words of time in any language, by kind: what they stand for in signals."""
HOURS = frozenset(
    word for words in _WORDS.values() for word, (kind, _) in words.items() if kind == "c" and len(word) > 1
)
"""Words that stand behind a bare hour; in some languages they are those of hours that something lasts."""
COUNTS = {
    word: value
    for words in _WORDS.values()
    for word, (kind, value) in words.items()
    if (kind == "o" and value > MANY) or (kind == "n" and 2 <= value <= 12)
} | {word: float(MANY) for words in _WORDS.values() for word, (kind, _) in words.items() if kind in "hH"}
"""Spelled numbers that may be a day of a month or an hour, and halves."""


def _token(words: Container[str]) -> re.Pattern[str]:
    """What is one token in a language of these words."""
    half = r"[ap]\.?m\b"
    gap = "" if "am" in words else " ?"  # "um 9 am Montag"
    return lazily(
        r"(?P<word>[^\W\d_]+(?:-[^\W\d_]+)*)|(?P<date>\d{4}-\d\d-\d\d)"
        r"|(?P<slash>\d{1,2}[/.]\d{1,2}(?:[/.](?:20)?\d\d)?\b(?:(?<=\.\d)\.(?= )|(?<=\.\d\d)\.(?= ))?"
        rf"(?![:.]\d|{gap}{half}))"
        rf"|(?P<clock>\d{{1,2}}[:.h]\d\d(?!\d)|(?<![\d.,])0\d[0-5]\d(?!\d))(?:{gap}(?P<half>{half}))?"
        rf"|(?P<hour>\d{{1,2}}){gap}(?P<half2>{half})"
        r"|(?P<ord>\d{1,2}(?:st|nd|rd|th|er|º)\b|\d{1,2}\.(?= ?\w))"
        r"|(?P<num>\d+)|(?P<mark>[.!?;:,()\n%£$€])"
    )


_LETTERS = lazily(r"[^\W\d_]+")
_AMOUNTS = frozenset("%£$€")
"""Signs behind a number that is no time."""
_NO_END = _AMOUNTS | {")"}
"""Marks that end nothing."""
_DECIMAL = lazily(r"\d{1,2}\.(\d{1,2})")
_TOKEN = {code: _token(words) for code, words in _WORDS.items()}


def _names(first: str, before: str) -> bool:
    """Whether a word that is mostly no time is one here: a capital begins it, and it begins no sentence."""
    return before != "." and first.isupper()


OTHER = ("x", 0.0)
"""What a word is that tells nothing of times."""


def _joined(word: str, words: Mapping[str, tuple[str, float]]) -> tuple[str, float]:
    """What "twenty-first" is."""
    first, *_, last = (words.get(part, OTHER) for part in word.split("-"))
    return (last[0], first[1] + last[1]) if first[0] == "n" and first[1] >= TENS and last[0] in "no" else OTHER


def _number(match: re.Match[str], language: str) -> tuple[str, float]:
    """What digits are: a date, an hour, a day of a month or a number."""
    said, name = match[0], match.lastgroup
    if clock := match["clock"] or match["hour"]:
        return _hour(clock, match["half"] or match["half2"] or "")
    if name == "date":
        year, month, day = map(int, said.split("-"))
        return ("I", year * 10_000 + month * 100 + day) if year in YEARS and _is_day(said) else OTHER
    if name == "slash":
        day, month = map(int, re.split("[/.]", said)[:2])
        if (found := _DECIMAL.fullmatch(said)) and (language != "de" or not 0 < month < 13):  # 10.04 is a number
            return ("R" if len(found[1]) == 2 and day < 24 and month < 60 else "F"), float(said)
        dotted = "." in said and language != "de"
        if month > 12 and not dotted:  # as Americans write it
            day, month = month, day
        return ("J", month * 100 + day) if 0 < month < 13 and 0 < day < 32 and not dotted else OTHER
    return ("o", int(re.sub(r"\D", "", said))) if name == "ord" else ("n", min(int(said[:5]), MAX_NUMBER))


def _hour(said: str, half: str) -> tuple[str, float]:
    """The hour that "9:30", "0930" or "9" says, with "am" or "pm" where that stands behind it."""
    digits = said if said.isdigit() else re.sub(r"\D", "", said)
    hours, minutes = (int(digits[:-2]), int(digits[-2:])) if len(digits) > 2 else (int(digits), 0)
    if hours > 23 or minutes > 59:
        return OTHER
    sure = bool(half) or said.startswith("0") or hours > 12
    if half and hours <= 12:
        hours = hours % 12 + 12 * (half[0] == "p")
    return "C", hours * 60 + minutes + SURE * sure


def _is_counted(name: str | None, spelled: str, end: int, words: Container[str]) -> bool:
    """Whether digits that end there tell no time, by what stands behind them: "ward 7b", "at 7.30 %"."""
    if name == "num":
        of = _LETTERS.match(spelled, end)
        return of is not None and of[0] not in words
    return name == "slash" and spelled[end : end + 2].strip()[:1] in _AMOUNTS


def _is_day(said: str) -> bool:
    try:
        return bool(datetime.fromisoformat(said))
    except ValueError:
        return False


def _spelled(lowered: str, language: str) -> tuple[str, Sequence[int]]:
    """A text in which what is read as something else is put as that, and where in the text each place of it is."""
    pattern, same = _SAME[language]
    parts: list[str] = []
    where: list[int] = []
    at = 0
    for found in pattern.finditer(lowered):
        start, end = found.span()
        instead = same[found[0]]
        alike = next((n for n, (a, b) in enumerate(zip(found[0], instead, strict=False)) if a != b), len(instead))
        parts += (lowered[at:start], instead)
        # What both begin with stands where it stood, the rest as far from the end.
        where += range(at, start + alike)
        where += [max(start + alike, end - len(instead) + n) for n in range(alike, len(instead))]
        at = end
    if not parts:
        return lowered, range(len(lowered) + 1)
    return "".join([*parts, lowered[at:]]), [*where, *range(at, len(lowered) + 1)]


def _tokens(text: str, spelled: str, where: Sequence[int], language: str) -> list[Token]:
    """The words of a text by kind, where they stand in it; "x" for any other."""
    found: list[Token] = []
    words, joined = _WORDS[language], _JOINED_WORDS[language]
    for match in _TOKEN[language].finditer(spelled):
        name, start, end = match.lastgroup, where[match.start()], where[match.end()]
        if name == "word":
            kind, value = words.get(match[0], OTHER)
            if kind == "x" and "-" in match[0]:
                kind, value = _joined(match[0], words)
            elif kind == "o" and value <= MANY:
                kind = "s"
            if kind != "x" and match[0] in _WEAK:
                before = found[-1].kind if found else "."
                led = before in "lbNTBEmfnoaW" or (before == "i" and kind == "M")
                if not led and not _names(text[start], before):
                    kind = "x"
        elif name == "mark":
            kind, value = "," if match[0] in ",:(" else "x" if match[0] in _NO_END else ".", 0.0
        elif _is_counted(name, spelled, match.end(), words):
            kind, value = OTHER
        elif name == "ord" and match[0][-1] == "." and language != "de":
            found.append(Token("n", int(match[0][:-1]), start, end - 1))
            kind, value = ".", 0.0
        else:
            kind, value = _number(match, language)
        if name == "word" and match[0] in joined:
            found += [Token(*words[part], start, end) for part in joined[match[0]]]
        else:
            found.append(Token(kind, value, start, end))
    return found


_AMOUNT = lazily(
    r"i[aflTNVg]*(?:"
    r"(?P<n1>n)xn(?P<more1>h)(?P<u1>[Uc])"  # two and a half hours
    r"|(?P<n2>n)?g?(?P<u2>[Uc])(?:xn|Y)(?P<more2>[hHq])"  # an hour and a half, hora y cuarto
    r"|n?g?(?P<of3>[hH])[gn]*(?P<u3>[Uc])"  # half an hour
    r"|(?:ng?(?=n))?(?P<n4>n)(?P<of4>q)f?n?(?P<u4>[Uc])"  # a quarter of an hour, tres cuartos de hora
    r"|(?:(?P<first5>n)Y?)?(?P<n5>[nFR])g?[fNV]*(?P<u5>[Uc]))"  # two hours, a couple of hours, cuarenta y cinco minutos
)
"""How long from now on, as kinds: a number of units, what is added to it, or what share of it is meant."""


def _amounts(tokens: list[Token], kinds: str) -> tuple[list[Token], str]:
    """The same words and kinds, where each span from now on is one number and one unit."""
    if "i" not in kinds:
        return tokens, kinds
    found: list[Token] = []
    done = 0
    for match in _AMOUNT.finditer(kinds):
        of = {name[:-1]: tokens[match.start(name)] for name, said in match.groupdict().items() if said}
        amount, unit = of["n"].value if "n" in of else 1.0, of["u"]
        if "first" in of:
            amount = _counted(of["first"].value, amount)
        if "more" in of:
            amount += _SHARES[of["more"].kind]
        elif "of" in of:
            amount *= _SHARES[of["of"].kind]
        first, last = tokens[match.start() + 1], tokens[match.end() - 1]
        found += tokens[done : match.start() + 1]
        found.append(Token("n", amount, first.start, last.start))
        found.append(Token("U", unit.value if unit.kind == "U" else UNITS["h"], last.start, last.end))
        done = match.end()
    found += tokens[done:]
    return found, "".join([token.kind for token in found])


def _counted(first: float, then: float) -> float:
    """What two numbers in a row count: forty five, two dozen; "a couple", "ein paar" what the second says."""
    if first >= TENS and then < 10:
        return first + then
    return first * then if then == DOZEN else then


def kinds_of(text: str, language: str) -> tuple[list[Token], str]:
    """The words of a text, and their kinds in a row; none of one whose places change in lower case. In a language that
    has no table they are read as English."""
    return _unmarked(*_kinds_of(text, language))


def spans_of(text: str, language: str) -> tuple[list[Token], str]:
    """The same, where each span of time that begins now ("in an hour and a half") is one number and one unit."""
    return _unmarked(*_amounts(*_kinds_of(text, language)))


def _unmarked(tokens: list[Token], kinds: str) -> tuple[list[Token], str]:
    """The same, where words that change no amount are words like any other: only amounts tell them apart."""
    return tokens, kinds.replace("g", "x")


def _kinds_of(text: str, language: str) -> tuple[list[Token], str]:
    """The same, with the words that change no amount."""
    return (_known_kinds if len(text) <= MAX_KNOWN else _look)(text, language)


def _look(text: str, language: str) -> tuple[list[Token], str]:
    language = language if language in _WORDS else "en"
    lowered = text.lower().replace("’", "'")
    if len(lowered) != len(text):
        return [], ""
    tokens = _tokens(text, *_spelled(lowered, language), language)
    return tokens, "".join([token.kind for token in tokens])


_known_kinds = lru_cache(maxsize=500)(_look)


INSTANT = timedelta(microseconds=1)
"""The shortest time: what is over at midnight belongs to the day before."""


def midnight(moment: datetime) -> datetime:
    """When its day began."""
    return moment.replace(hour=0, minute=0, second=0, microsecond=0)


def month_end(day: datetime) -> datetime:
    """The last day of its month."""
    return (day.replace(day=28) + 4 * _DAY).replace(day=1) - _DAY


def of_month(now: datetime, day: int, month: int = 0, year: int = 0) -> datetime | None:
    """The next such day: of the month where one is given."""
    at = now.replace(day=1)
    for _ in range(13):
        if (not month or at.month == month) and (not year or at.year == year) and 1 <= day <= month_end(at).day:
            found = at.replace(day=day)
            if found >= now:
                return found
        at = month_end(at) + _DAY
    return None


def after(now: datetime, n: float, unit: int) -> datetime:
    """The moment n units later, or the last that is read."""
    if unit >= UNITS["M"]:
        count = n * 12 if unit == UNITS["y"] else n
        months = now.month - 1 + int(count)
        at = now.replace(day=1, year=min(now.year + months // 12, YEARS[-1]), month=months % 12 + 1)
        return at.replace(day=min(now.day, month_end(at).day)) + MONTH * (count % 1 if count > 0 else 0) * _DAY
    return now + n * (timedelta(minutes=1), timedelta(hours=1), _DAY, 7 * _DAY, 14 * _DAY)[unit]


def _weekday(now: datetime, weekday: float) -> datetime:
    """The next such day, a week from now where it is today."""
    return now + _DAY * ((int(weekday) - now.weekday() - 1) % 7 + 1)


def in_week(now: datetime, weekday: float, weeks: int) -> datetime:
    """That day of the week which comes so many weeks after the present one."""
    return now + _DAY * (int(weekday) - now.weekday() + 7 * weeks)


_MORNING, _NOON = 7, 12
"""Hours: a bare one from the first on is before noon."""
QUARTERS = (15, 30, 45)
"""Minutes that with a dot before them are those of an hour: "at 7.30", but "for 8.50"."""
NEVER = -1.0
"""Minutes of what is no hour."""
Day = Callable[[datetime, list[float]], datetime | None]


def _dotted(said: float) -> float:
    """The minutes of the day that "7.30" says."""
    return int(said) * 60 + round(said % 1 * 100)


def _since(now: datetime, n: float, unit: float, day: float) -> datetime:
    return after(now + int(day) * _DAY, n, int(unit))


def _out(now: datetime, unit: float, ahead: int = 0) -> datetime | None:
    """The end of the present week (its Friday), month or year, or of one ahead."""
    if unit == UNITS["M"]:
        return month_end(after(now.replace(day=1), ahead, UNITS["M"]))
    if unit == UNITS["w"]:
        friday = in_week(now, 4, ahead)
        return friday if friday >= now else in_week(now, 6, ahead)
    return now.replace(year=now.year + ahead, month=12, day=31) if unit == UNITS["y"] else now


def _nth(now: datetime, n: float, weekday: float, month: float) -> datetime | None:
    first = of_month(now.replace(day=1), 1, int(month))
    return first and first + _DAY * ((int(weekday) - first.weekday()) % 7 + 7 * (int(n) - 1))


def _last_of(now: datetime, month: float) -> datetime | None:
    first = of_month(now.replace(day=1), 1, int(month))
    return first and month_end(first)


_PATTERNS: tuple[tuple[str, Day | None], ...] = (
    (r"BDP?|DB|fB(?=,)", None),
    (r"B[lfia]*(?:[no]?U|[WMPC]|oU?|n(?![UM]))|Bf?nU|nUB|U?B[WU]|WB(?=$|[.,x])", None),
    (r"S[fa]*(M)", lambda now, v: of_month(now, 1, int(v[0]))),
    (r"E[fa]*(M)", lambda now, v: _last_of(now, v[0])),
    (r"m[fa]*(M)", lambda now, v: of_month(now, 15, int(v[0]))),
    (r"(I)", lambda now, v: datetime(int(v[0]) // 10_000, int(v[0]) // 100 % 100, int(v[0]) % 100)),
    (r"([os])(W)[ifl]a?(M)", lambda now, v: _nth(now, *v)),
    (r"(J)", lambda now, v: of_month(now, int(v[0]) % 100, int(v[0]) // 100)),
    (r"W?,?[alf]*([nos])[fa]*(M)", lambda now, v: of_month(now, int(v[0]), int(v[1]))),
    (r"W?,?(M)a?([nos])", lambda now, v: of_month(now, int(v[1]), int(v[0]))),
    (r"E[faT]*(U)(?!n)", lambda now, v: _out(now, v[0])),
    (r"E[fa]*N(U)|EfaUN", lambda now, v: _out(now, v[0], 1)),
    (r"(W)(?=l?[nC][lfai]*(?:NU|UN))", lambda now, v: in_week(now, v[0], 1)),
    (r"(W)[lfai]*N(U)|(W)[lfai]*UN", lambda now, v: in_week(now, v[0], 1)),
    (r"N(U)[lfaix,]{0,2}(W)|UN[lfaix,]{0,2}(W)", lambda now, v: in_week(now, v[-1], 1)),
    (r"i(n)(U),?a?(W)", lambda now, v: in_week(after(now, v[0], int(v[1])), v[2], 0)),
    (r"(W)i(n)(U)", lambda now, v: in_week(after(now, v[1], int(v[2])), v[0], 0)),
    (r"(W)(U)(?!f)", lambda now, v: _weekday(now, v[0]) + 7 * _DAY if v[1] in (UNITS["w"], UNITS["ww"]) else None),
    (r"(n)(U)[lxf](W)", lambda now, v: after(_weekday(now, v[2]), v[0], int(v[1]))),
    (r"(n)(U)[lxf](D)", lambda now, v: _since(now, *v)),
    (r"i(n)(U)D", lambda now, v: after(now, v[0], int(v[1]))),
    (r"(?:W,?|[la]+)*(?<![qn])(o)(?:,n?W|(?![UoW]))", lambda now, v: of_month(now, int(v[0]))),
    (r"l(?:a|W)+(s)(?=$|[.,])", lambda now, v: of_month(now, int(v[0]))),
    (r"W,?a?(n)(?=$|[.,lP])(?!,n)", lambda now, v: of_month(now, int(v[0])) if v[0] > _NOON else None),
    (r"O(W)|(W)O", lambda now, v: _weekday(now, v[0]) + 7 * _DAY),
    (r"Na?(W)|(W)N(?!U)", lambda now, v: in_week(now, v[0], 1)),
    (r"([WD])[lP]*(?=W)", None),
    (r"(W)", lambda now, v: _weekday(now, v[0])),
    (r"N(U)|(?:a|^)(U)N", lambda now, v: None if v[0] < UNITS["w"] else _out(now, v[0], 1)),
    (
        r"i[afT]?(n?)(U)",
        lambda now, v: after(now, v[0] if len(v) > 1 else 1, int(v[-1])) if len(v) > 1 or v[0] > 2 else None,
    ),
    (r"(?:^|(?<=[.,]))(n)(U)(?=[,.]|$)", lambda now, v: after(now, v[0], int(v[1])) if v[0] > 1 else None),
    (r"T(U)", lambda now, v: _out(now, v[0]) if v[0] > 2 else None),
    (r"(D)", lambda now, v: now + int(v[0]) * _DAY),
    (r"a(n)(?=$|[.,alP])", lambda now, v: of_month(now, int(v[0]))),
    (r"a(U)(n)(?![UM])", lambda now, v: of_month(now, int(v[1])) if v[0] == UNITS["d"] else None),
    (r"T?K", lambda now, v: now + _DAY * ((5 - now.weekday()) % 7)),
)
"""What names a day, as a pattern of kinds, and which one: of the values of its groups. What is past is none."""
_BEFORE = r"(?:n(?=n))?(n?)([hHq]?)f?n?a?(U|(?<=[hHq])c)"
_LEADS = lazily(rf"{_BEFORE}b")
_LEAD = lazily(rf"{_BEFORE}(?:b[axlfyT,]{{0,8}}|t[alf]{{0,2}})$")
"""What stands before a day where one so long before it is meant: "two days before the audit on"."""
_GROUP = lazily(r"\(\[?([A-Zos]+)\]?\)")
_DAYS = [(lazily(pattern), day, frozenset((["", *_GROUP.findall(pattern)])[-1])) for pattern, day in _PATTERNS]
"""Each with the kinds of which a text must have one for it to be looked for; none where any text may."""
_CLOCKS: tuple[tuple[str, str, Callable[[list[float]], float]], ...] = (
    (r"(n)c?[pY]a?q(?!n)|qp(n)", "q", lambda v: v[0] * 60 + 15),
    (r"(n)c?[tZ]a?q(?!n)|qt(n)", "q", lambda v: v[0] * 60 - 15),
    (r"(n)c?[pY]h", "h", lambda v: v[0] * 60 + 30),
    (r"hp(n)", "h", lambda v: v[0] * 60 + 30),
    (r"(?:l(n)|(n)c)Y(n)(?![UM])", "Y", lambda v: v[0] * 60 + v[1]),
    (r"(n)c?Z(n)(?![UM])", "Z", lambda v: v[0] * 60 - v[1]),
    (r"(n)U?p(n)(?![UM])", "p", lambda v: v[1] * 60 + v[0]),
    (r"(n)U?t(n)(?![UM])", "t", lambda v: v[1] * 60 - v[0]),
    (r"h(n)(?![UM])", "h", lambda v: v[0] * 60 + 30),
    (r"H(n)(?![UM])", "H", lambda v: v[0] * 60 - 30),
    (r"(n)c(n)(?![UM])", "c", lambda v: v[0] * 60 + v[1]),
    (r"(n)c", "c", lambda v: v[0] * 60),
    (r"(C)", "C", lambda v: v[0]),
    (r"(R)c", "R", lambda v: _dotted(v[0])),
    (r"[lb]a?(R)", "R", lambda v: _dotted(v[0]) if round(v[0] % 1 * 100) in QUARTERS else NEVER),
    (r"[lptb]a?(n)(?=$|[.,lafixyPDWKT]|t(?!a?n))(?!f?M)", "lptb", lambda v: v[0] * 60),
    (r"(n)(?=[il]a?P)", "P", lambda v: v[0] * 60),
    (r"(?:^|(?<=[.,]))(n)(?=D)", "D", lambda v: v[0] * 60),
    (r"(?<=[yP]),?(n)(?=$|[.,])", "yP", lambda v: v[0] * 60),
)
"""What names an hour, the kinds of which a text must have one for it to be looked for, and the minutes of the day it
says."""
_CLOCK_RULES = [(lazily(pattern), frozenset(needed), minutes) for pattern, needed, minutes in _CLOCKS]


_TELLING = frozenset("WMDUPKCoIJEncR")
"""Kinds of which a sentence that names a time has one."""


def _clock(rule: Callable[[list[float]], float], values: list[float], part: float) -> tuple[int, bool] | None:
    """The minute of the day, and whether its half of the day is certain."""
    minutes = rule(values)
    if minutes >= SURE:
        return int(minutes) - SURE, True
    if not 0 <= minutes <= 24 * 60 or values[-1] > 24 * 60:
        return None
    if part and minutes < _NOON * 60:
        later = part > _NOON and -3 <= part - minutes / 60 - _NOON <= 8
        return int(minutes) + later * _NOON * 60, True
    if minutes >= 13 * 60:
        return int(minutes), True
    return int(minutes) + (_NOON * 60 if minutes < _MORNING * 60 else 0), False


def named(text: str, language: str, now: datetime) -> list[Time]:
    """The times to come that a text names, in order."""
    if now.year not in YEARS:
        return []
    if language in WIDE:
        return [*_wide(text, now)]
    tokens, kinds = spans_of(text, language)
    today = midnight(now)
    found: list[Time] = []
    at = 0
    sentences = [match.end() for match in re.finditer(r"\.", kinds)]
    for stop in [*sentences, len(kinds)]:
        found += _sentence(tokens[at:stop], kinds[at:stop], now, today)
        at = stop
    return found


def in_month(text: str, language: str, now: datetime) -> datetime | None:
    """When a month is over that a text names alone ("in December", "in early May 2027"); None where it names none.

    Why it is no time of `named`: most that is said of a month asks for nothing, and names no day. It tells by when what
    was asked for in so many words is wanted.
    """
    if language not in _WORDS or now.year not in YEARS:
        return None
    tokens, kinds = kinds_of(text, language)
    for found in _MONTH.finditer(kinds):
        at = found.start()
        leads = [text[one.start : one.end].lower() for one in tokens[max(0, at - 2) : at]]  # "in early May"
        if _IN_MONTH[language] in leads:
            first = now.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
            year = int(tokens[found.start(1)].value) if found[1] else 0
            begin = of_month(first, 1, int(tokens[at].value), year)
            return begin and month_end(begin) + _DAY
    return None


def haste(text: str) -> Ttl:
    """How soon a text wants something for which it names no time."""
    words = set(re.findall(r"[^\W\d_]+", text.lower()))
    for ttl in ("urgent", "normal"):
        if not _HASTE[ttl].isdisjoint(words) or any(word in text for word in _HASTE_WIDE[ttl]):
            return ttl
    return "low"


def _sentence(tokens: list[Token], kinds: str, now: datetime, today: datetime) -> Iterator[Time]:
    if _TELLING.isdisjoint(kinds):
        return
    days, covered = _find_days(tokens, kinds, now, today)
    clocks = _find_clocks(tokens, kinds, covered)
    parts = [(at, tokens[at].value) for at, kind in enumerate(kinds) if kind == "P" and not covered[at]]
    nearest = {clock: min(days, key=lambda d: abs(clock[0] - d[1]))[0] for clock in clocks if days}
    for start, end, day, spans in days:
        lead = _lead(tokens, kinds, start)
        if lead and lead.unit >= UNITS["d"]:
            if (before := lead.before(day)) is not None and before > now:
                yield Time(lead.start, tokens[end - 1].end, before, False)
            continue
        if spans:
            yield Time(tokens[start].start, tokens[end - 1].end, day, True)
            continue
        mine = [clock for clock in clocks if nearest[clock] == start and abs(clock[0] - end) <= 24]
        clock = min(mine, key=lambda c: abs(c[0] - end), default=None)
        part = min(parts, key=lambda p: abs(p[0] - end), default=None)
        if (
            clock is None
            and kinds[max(0, start - 2) : start].removesuffix("a").endswith("b")
            and kinds[start:end] != "D"
            and "E" not in kinds[start:end]  # "before the end of June": on its last day, too
        ):
            yield Time(tokens[start].start, tokens[end - 1].end, day, False)  # "before Sunday": not on it
            continue
        moment, exact = _moment(day, clock, part[1] if part and abs(part[0] - end) <= 6 else 0, now)
        first = tokens[start].start
        if lead and exact and lead.before(moment) > now:
            moment, first = lead.before(moment), lead.start
        yield Time(first, tokens[end - 1].end, moment, exact, half=clock is None or clock[2])
    if not days:
        for at, minutes, sure in clocks[:1]:
            moment, _ = _moment(today, (at, minutes, sure), 0, now)
            yield Time(tokens[at].start, tokens[at].end, moment, True, False, sure)
        if not clocks and parts and re.search(r"[Tlpab]P|lfP", kinds):
            at, hour = parts[0]
            moment, exact = _moment(today, None, hour, now)
            yield Time(tokens[at].start, tokens[at].end, moment, exact, day=not exact)


class Lead(NamedTuple):
    """How long before something: "two days before"."""

    start: int
    end: int
    units: float
    unit: int

    def before(self, moment: datetime) -> datetime:
        """So long before a moment; of whole days when that day is over, the moment being any of its day."""
        found = after(moment, -self.units, self.unit)
        return found if self.unit < UNITS["d"] else midnight(found) + _DAY


def _lead(tokens: Sequence[Token], kinds: str, stop: int) -> Lead | None:
    """What stands before a day that begins at a place where one so long before it is meant."""
    found = _LEAD.search(kinds, 0, stop)
    if found is None:
        return None
    first, last = tokens[found.start()], tokens[found.end(3)]
    count = min(tokens[found.start(1)].value if found[1] else 1, MAX_LEAD) * _SHARES.get(found[2], 1.0)
    of = tokens[found.start(3)]
    unit = UNITS["h"] if of.kind == "c" else int(of.value)
    return Lead(first.start, last.end, count, unit)


def lead(text: str, language: str) -> Lead | None:
    """How long before what was said earlier a text means, where it does not say before what: "remind me an hour
    before"."""
    if language not in _WORDS:
        return None
    tokens, kinds = kinds_of(text, language)
    found = next(_LEADS.finditer(kinds), None)
    return _lead(tokens, kinds, found.end()) if found else None


def _moment(day: datetime, clock: tuple[int, int, bool] | None, part: float, now: datetime) -> tuple[datetime, bool]:
    """When a day, or an hour of it, is over."""
    if clock is not None:
        moment = day + timedelta(minutes=clock[1])
        if moment <= now and not clock[2] and moment + timedelta(hours=12) > now and moment.hour < _NOON:
            moment += timedelta(hours=12)
        if moment <= now:
            moment += _DAY
        return moment, True
    if part:
        moment = day + part * timedelta(hours=1)
        if moment <= now:
            moment = max(moment, day + timedelta(hours=_NOON))  # this morning, at ten
        return moment if moment > now else moment + _DAY, part in (12.0, 13.0, 17.0)
    return day + _DAY, False


def _find_days(
    tokens: list[Token], kinds: str, now: datetime, today: datetime
) -> tuple[list[tuple[int, int, datetime, bool]], list[bool]]:
    """The days that are named: where, which, and whether it is a moment already; and which words are spent on them."""
    covered = [False] * len(tokens)
    found: list[tuple[int, int, datetime, bool]] = []
    for pattern, day, needed in _DAYS:
        if needed and needed.isdisjoint(kinds):
            continue
        for match in pattern.finditer(kinds):
            start, end = match.span()
            if any(covered[start:end]) or start == end:
                continue
            values = [tokens[match.start(at)].value for at in range(1, pattern.groups + 1) if match[at]]
            if day is None:
                if match[0][0] in "BUfn" or "B" in match[0]:
                    covered[start:end] = [True] * (end - start)
                continue
            small = any(tokens[at].kind == "U" and tokens[at].value < 2 for at in range(start, end))
            when = day(now if small else today, values)
            if when is None or (when < today):
                continue
            covered[start:end] = [True] * (end - start)
            found.append((start, end, when, small))
    return sorted(found), covered


def _find_clocks(tokens: list[Token], kinds: str, covered: list[bool]) -> list[tuple[int, int, bool]]:
    """The hours that are named: where, the minute of the day, and whether its half is certain."""
    spent = covered.copy()
    found: list[tuple[int, int, bool]] = []
    masked = "".join("y" if done else kind for kind, done in zip(kinds, covered, strict=True))
    parts = [(at, tokens[at].value) for at, kind in enumerate(kinds) if kind == "P"]
    parts += [(at, TONIGHT) for at, kind in enumerate(kinds) if kind == "D" and tokens[at].value % 1]
    for pattern, needed, rule in _CLOCK_RULES:
        if needed.isdisjoint(masked):
            continue
        for match in pattern.finditer(masked):
            start, end = match.span()
            if any(spent[start:end]):
                continue
            values = [tokens[match.start(at)].value for at in range(1, pattern.groups + 1) if match[at]]
            part = min(parts, key=lambda p: abs(p[0] - end), default=(0, 0.0))
            near = part[1] if abs(part[0] - end) <= 7 and "," not in kinds[end : part[0]] else 0
            if minutes := _clock(rule, values, near):
                spent[start:end] = [True] * (end - start)
                found.append((start, *minutes))
    return sorted(found)


WIDE = frozenset(("ja", "zh"))
"""Languages written without spaces."""
_HAN = {c: str(at) for at, c in enumerate("〇一二三四五六七八九")} | {"零": "0", "两": "2", "兩": "2"}
_DIGIT = f"[{''.join(_HAN)}]"
_NUMBER = rf"(?<![\d十{''.join(_HAN)}])(?:\d{{1,4}}|{_DIGIT}?十{_DIGIT}?|{_DIGIT}{{1,4}})"
"""Nothing is read of longer ones."""
_WIDE_TIMES = lazily(
    rf"(?P<month>{_NUMBER})月(?P<date>{_NUMBER})[日号號]|(?P<day>{_NUMBER})[日号號](?!間|间)"
    r"|(?P<next>[来來次下翌]の?[週周个個]?の?)?(?P<lead>この|今度の)?"
    r"(?:(?P<ja>[月火水木金土日])曜|(?:[週周]|星期|礼拜)(?P<zh>[一二三四五六日天]|[1-6](?!\d)))日?"
    r"|(?P<rel>今日|今夜|今晩|今晚|今天|明日|あした|あす|明天|明晚|明後日|あさって|后天|後天)"
    rf"|(?P<n>{_NUMBER}|半)(?:个|個)?(?P<unit>分[钟鐘]?|時間|小时|小時|日間|天|週間|周)(?:後|后|以内|したら|で|之后|以後)"
    r"|(?P<end>月末|月底|月内)|(?P<weekend>週末|周末)|(?P<nextweek>来週|下周|下週)"
)
_WIDE_CLOCK = lazily(
    r"(?P<late>午後|下午|夜|晚上|夕方|晚)?の?(?P<early>午前|朝|上午|早上)?の?"
    rf"(?P<hour>{_NUMBER})[時时点點](?!間|间)(?:(?P<half>半)|(?P<minute>{_NUMBER})分?)?"
)
_WIDE_WEEKDAYS = {
    name: at
    for at, names in enumerate(("月一1", "火二2", "水三3", "木四4", "金五5", "土六6", "日天"))
    for name in names
}
_RELATIVE = {"今": 0, "明": 1, "あし": 1, "あす": 1, "明後": 2, "あさ": 2, "后": 2, "後": 2}
_WIDE_UNITS = {"分": "m", "時": "h", "小": "h", "日": "d", "天": "d", "週": "w", "周": "w"}


def _wide_number(said: str) -> int:
    """The number that digits of either kind say: 21, 二十一, 二一."""
    head, ten, tail = ("".join(_HAN.get(c, c) for c in part) for part in said.partition("十"))
    return int(head or 1) * 10 + int(tail or 0) if ten else int(head)


def _wide_clock(clock: re.Match[str]) -> int | None:
    """The minute of the day; an hour beyond midnight ("25時") is one of the next."""
    hour, minute = _wide_number(clock["hour"]), 30 if clock["half"] else _wide_number(clock["minute"] or "0")
    return hour * 60 + minute if hour < 30 and minute < 60 else None


def _wide(text: str, now: datetime) -> Iterator[Time]:
    """The same for scripts without spaces."""
    today = midnight(now)
    days = [(found, day) for found in _WIDE_TIMES.finditer(text) if (day := _wide_day(found, now, today)) is not None]
    for found, _ in days:
        if found["zh"]:  # 星期三十点: the three is spent
            text = text[: found.start()] + " " * len(found[0]) + text[found.end() :]
    clocks = [(c, minutes) for c in _WIDE_CLOCK.finditer(text) if (minutes := _wide_clock(c)) is not None]
    spent = [found.span() for found, _ in days if found["n"]]
    for found, day in days:
        near = [(c, m) for c, m in clocks if abs(c.start() - found.end()) <= 12]
        if found["n"] and day != today and found["unit"][0] in "分時小":
            yield Time(*found.span(), day, True)
        elif near:
            clock, minutes = near[0]
            late = minutes < 12 * 60 and (clock["late"] or (not clock["early"] and minutes < _MORNING * 60))
            yield Time(*found.span(), day + timedelta(minutes=minutes + 720 * bool(late)), True)
        else:
            yield Time(*found.span(), day + _DAY, False)
    if not days:
        for clock, minutes in clocks[:1]:
            late = minutes < 12 * 60 and (clock["late"] or (not clock["early"] and minutes < _MORNING * 60))
            moment = today + timedelta(minutes=minutes + 720 * bool(late))
            yield Time(*clock.span(), moment if moment > now or spent else moment + _DAY, True)


def _wide_day(found: re.Match[str], now: datetime, today: datetime) -> datetime | None:
    if found["month"]:
        return of_month(today, _wide_number(found["date"]), _wide_number(found["month"]))
    if found["day"]:
        return of_month(today, _wide_number(found["day"]))
    if name := found["ja"] or found["zh"]:
        weekday = _WIDE_WEEKDAYS[name]
        following = found["next"] and found["next"][0] in "来來下"
        return in_week(today, weekday, 1) if following else _weekday(today, weekday)
    if found["rel"]:
        return today + _RELATIVE[max((key for key in _RELATIVE if found["rel"].startswith(key)), key=len)] * _DAY
    if found["n"]:
        unit = UNITS[_WIDE_UNITS[found["unit"][0]]]
        return after(now if unit < 2 else today, 0.5 if found["n"] == "半" else _wide_number(found["n"]), unit)
    if found["end"]:
        return month_end(today)
    return today + _DAY * ((5 - today.weekday()) % 7) if found["weekend"] else in_week(today, 4, 1)
