"""Reminders in what a user says: "remind me to…", "let's come back to X later", "…when you get a chance", "…by Friday".

Only requests count. What is negated ("no need to remind me"), asked ("should I remind you?", "can you remind me what
the port was?"), hypothetical ("if we need to come back to it later"), reported or past ("you reminded me"), or quoted
does not.
The cue `reminder` (see cues) says which turns may hold one; only these are read here, sentence by sentence.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import Literal, NamedTuple

Kind = Literal["asked", "deferred", "mentioned"]
Ttl = Literal["urgent", "normal", "low"] | int

MAX_READ = 6_000
"""Characters read of a turn: a thousand words; further down stands what was pasted."""
MAX_REMINDERS = 4
"""Reminders taken from one turn."""


class Reminder(NamedTuple):
    """One request to come back to something."""

    kind: Kind
    """asked: a reminder was ordered; deferred: the matter was put off; mentioned: an obligation with a time."""
    ttl: Ttl
    """A class, or seconds where the words name a duration."""
    content: str
    """What to come back to, in the user's words."""
    vague: bool
    """Whether the words only point ("that", "it"): the turn around them tells the matter."""


_PLAIN = str.maketrans({"’": "'", "‘": "'", "´": "'"})
_QUOTED = re.compile(
    r"```.*?(?:```|\Z)|`[^`\n]*`|\"[^\"\n]*\"|“[^”\n]*”|«[^»\n]*»|(?:^|(?<=\s))'[^'\n]+'(?=\W|$)|^[ \t]*>[^\n]*",
    re.S | re.M,
)
_SENTENCE = re.compile(r"[^.!?\n。？！]+(?:[.!?。？！](?!\s|$)[^.!?\n。？！]*)*[.!?。？！]*")
_TIME = (
    r"(?:today|tonight|tomorrow|later|soon|again|next (?:week|month|time|year)|this (?:morning|afternoon"
    r"|evening|week|weekend)"
    r"|(?:on |next )?(?:mon|tues|wednes|thurs|fri|satur|sun)day(?: \w+ing)?|at \d[\d:.]*(?: ?[ap]m)?"
    r"|at (?:noon|midnight)"
    r"|in (?:an?|one|two|three|\d+|a few) \w+|in the (?:morning|afternoon|evening))"
)
_LEAD = re.compile(
    r"(?:(?:hey|hi|hello|ok|okay) \w+(?:[\s,]+|$))?(?:(?:"
    r"please|pls|plz|kindly|and|also|so|then|but|oh|ok|okay|hey|hi|hello|yes|yeah|yep|no"
    r"|thanks|thank you|great|good"
    r"|perfect|sure|alright|well|btw|by the way|ah|wait|actually|just|one more thing|before i forget|@\w+"
    r"|(?:can|could|would|will) (?:you|u)|would you mind|you (?:should|can|could)|i(?: need|'d like| want"
    r"| would like)(?: for)? you to"
    r"|make sure (?:to|you)|be sure to|(?:do not|don't|dont) forget to|" + _TIME + r")(?:[\s,]+|$))*",
)
_REPORTED = re.compile(
    r"\b(?:asked|told|said|says|saying|tells|wanted|used to|supposed to|reminded|promised|agreed|thought"
    r"|always|never|whether|if i|if he"
    r"|if she|if they|wish|i remember|was|were|had|did(?:n't)?|would have|should have)\b",
)
_DOUBT = re.compile(
    r"\b(?:don't|do not|doesn't|didn't|not|never|no need|no reason|doubt|unless|if|whether|in case|suppose"
    r"|imagine|instead of"
    r"|rather than|said|told|asked|thought|agreed|promised|wish|would have|had|did|do|does|why|how|until)\b",
)
_BREAK = re.compile(r"[,;:()—–]|\s-+\s|\b(?:but|so|and)\b")
_ASK = re.compile(
    r"\b(?:remind (?:me|us)|(?:set|add|create|make)(?: me| us)? a reminder|(?:note|reminder) to (?:self"
    r"|myself)|reminder(?=:))\b[:,\s]*",
)
_ASK_REST = re.compile(
    r"(?:please,? )?(?:" + _TIME + r"(?:[\s,]+|$))*(?P<how>to|about|that|of|for|when|once|before|after|by|if"
    r"|not to)\b\s*",
)
_ASK_WHEN = re.compile(r"(?:about )?(?:(?:it|this|that|please),? )*(?:" + _TIME + r"(?:[\s,.!?]+|$))+")
_ABOUT_NOW = re.compile(r"(?:how|what|which|why|who|whom|whose|where|whether|the difference)\b")
_FORGET = re.compile(
    r"\b(?:(?:don't|dont|do not|never) let (?:me|us) forget|(?:i|we) (?:must not|mustn't|can't|cannot"
    r"|should not|shouldn't|better not"
    r"|don't want to) forget"
    r"|let's not forget|make sure (?:i|we) (?:don't forget|remember)"
    r"|(?:i|we) (?:need to|have to|must|should|gotta|'ve got to) remember)\b"
    r"\s*(?:to|about|that)?\s*",
)
_WE = (
    r"(?:let's|lets|let us|(?:we|i)(?:'ll| will| can| should| could| must| might| need to| have to| want to"
    r"| ought to|'d like to)"
    r"|(?:can|could) (?:we|you)|please|wanna|want to)(?: (?:just|then|also|definitely|maybe|probably|please))*"
)
_BACK = re.compile(
    _WE + r" (?:(?:come|get|circle|go|loop) back (?:to|on)(?! (?:you|u|ya|him|her|them|me)\b)"
    r"|return to|revisit|pick (?:up|this up|that up|it up)"
    r"|continue(?: with)?)\b\s*",
)
_PARK = re.compile(_WE + r" (?:park|shelve|table|put a pin in|postpone|defer|put off)\b\s*")
_AFTER = re.compile(
    r"\b(?:later|tomorrow|tonight|another (?:time|day)|some other (?:time|day)|afterwards?|after|once|when"
    r"|next|some ?day|at some point|on"
    r" \w+day|in (?:an?|\d+|a few) \w+)\b",
)
_MUST = re.compile(
    r"\b(?:(?:we|i|you|someone|somebody)(?:'ll| will)?(?: really| still| also| definitely"
    r"| probably)? (?:need to|have to|want to|should(?! have)"
    r"|must(?! have)|gotta|ought to|'d better)|(?:we|i)(?:'ll| will)|(?:can|could|would|will) (?:you|we)"
    r"|please|let's|needs? to be"
    r"|has to be|have to be|must be|is due|are due)\b(?! not\b)",
)
_LATER = re.compile(
    r"(?<!or )(?<!days )(?<!weeks )(?<!hours )(?<!minutes )(?<!months )(?<!years )\blater\b"
    r"(?= ?(?:$|[^\w\s]|(?:today|this|on|we|i|you|and|but|so|when|once|if|in|to|tonight|please|next|for)\b))"
    r"|\bat some point\b",
)
_CHANCE = re.compile(
    r"\b(?:when(?:ever)?|once|if) (?:you|u|we|i)(?: (?:get|have|find)|'ve got) (?:an? |some |the )?(?:chance"
    r"|minute|min|moment|second|sec"
    r"|time|spare time|free time)\b|\bwhen(?:ever)? (?:you're|you are) (?:free|around)\b"
    r"|\bwhen(?:ever)? (?:you can|possible)\b",
)
_SOON = re.compile(
    r"(?<!as )(?<!too )(?<!how )(?<!so )(?<!anytime )\bsoon\b(?! (?:as|after|enough))"
    r"|\b(?:by|before) (?:tomorrow|tonight|noon|eod|eow|next \w+|(?:the )?end of (?:the )?(?:day|week|month)"
    r"|(?:the )?weekend|(?:mon|tues"
    r"|wednes|thurs|fri|satur|sun)day)\b|\bdue (?:tomorrow|tonight|today|on \w+day|(?:mon|tues|wednes|thurs"
    r"|fri)day)\b",
)
_PARTING = re.compile(
    r"\b(?:see|talk to|speak to|catch|tell|text|ping|thank|meet|back to|chat with|be back|let) (?:you|u"
    r"|ya|y'all|soon|later)\b"
    r"|\b(?:be back|talk|talk again|chat|speak|be there|be home|know|see) (?:soon|later)\b",
)
_OTHERS = re.compile(
    r"(?:^|[,;:.!]\s*|\b(?:bitte|und|por favor)\s+)(?:bitte )?(?:erinner(?:e|t)? (?:mich"
    r"|uns)(?! nicht)(?: bitte)?(?: (?:morgen|später|heute"
    r"|daran|an))*[,\s]*|lass (?:mich|uns) nicht vergessen[,\s]*|rappel(?:le|ez)[- ](?:moi|nous) (?:demain "
    r"|plus tard )?(?:de |d'|que )"
    r"|ne me laisse pas oublier (?:de |d')?|recu[eé]rda(?:me|nos) (?:mañana )?(?:que )?"
    r"|no me dejes olvidar (?:que |de )?)",
)
_DURATION = re.compile(
    r"\bin (an?|one|two|three|four|five|\d{1,4}|a few) (min(?:ute)?s?|h(?:ou)?rs?|days?|weeks?)\b",
)
_NUMBER = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "a few": 3}
_UNIT = {"m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
_LOW = re.compile(
    r"\b(?:next (?:week|month|quarter|year)|this (?:week|month|weekend)|weekend|(?:mon|tues|wednes|thurs|fri"
    r"|satur|sun)day|some ?day"
    r"|eventually|end of (?:the )?(?:week|month))\b",
)
_URGENT = re.compile(
    r"\b(?:soon|asap|urgent(?:ly)?|immediately|right away|tonight|today|this (?:morning|afternoon|evening)"
    r"|eod|end of (?:the )?day"
    r"|heute|aujourd'hui|hoy)\b",
)
_NORMAL = re.compile(
    r"\b(?:later|tomorrow|in the (?:morning|afternoon|evening)|another time|afterwards?|after|morgen|demain"
    r"|mañana|später)\b",
)
_TOLD = re.compile(r"\b(?:said|told|asked|agreed|(?:i|we|he|she|they|you) thought)\b")
_QUOTES = ('"', " '", "`", "“", "«", ">")
_SUBJECTS = frozenset(
    [
        "i",
        "we",
        "you",
        "he",
        "she",
        "they",
        "it",
        "the",
        "my",
        "our",
        "that",
        "this",
        "did",
        "do",
        "does",
        "is",
        "are",
        "was",
        "what",
        "how",
        "why",
        "who",
        "which",
        "only",
        "and",
        "not",
        "i'm",
        "i've",
        "you'll",
        "he'll",
        "she'll",
        "it's",
    ]
)
_REQUEST = re.compile(r"can|could|would|will")
ORDER, UNFORGET, OTHER, BACK, LATER, SOON, SOME = (1 << bit for bit in range(7))
_RULES = {
    ORDER: ("remind", "self"),
    UNFORGET: ("forget", "rememb"),
    OTHER: ("erinner", "lass", "appel", "laisse", "uerda", "uérda", "dejes"),
    BACK: (
        "back", "revisit", "return", "pick", "continue", "park", "shelve", "table", "pin", "postpone", "defer", "off",
    ),
    LATER: ("later", "when", "chance"),
    SOON: ("soon", "due", "by", "before"),
    SOME: ("point",),
}  # fmt: skip
_WORDS = tuple((word, rule) for rule, words in _RULES.items() for word in words)
"""Parts of words, one of which each rule waits for."""
_VAGUE = re.compile(
    r"(?:(?:to|about|on|at|with|it|this|that|these|those|them|him|her|the|topic|thing|one|issue|point"
    r"|question|later|again|tomorrow|now|on"
    r"|do|discuss|check|look|into|up|for|all|of|all|some|stuff|we|i|should|can|will|need|have|please|let's"
    r"|you|when|get|a|chance|be|soon|by)"
    r"\W*)*",
)


def ttl(words: str) -> Ttl:
    """The time to live that `words` ask for: seconds where they name a duration, else a class (low if none)."""
    if found := _DURATION.search(words):
        number = _NUMBER.get(found[1].lower()) or int(found[1])
        return max(60, number * _UNIT[found[2][0].lower()])
    if _LOW.search(words):
        return "low"
    if _URGENT.search(words):
        return "urgent"
    return "normal" if _NORMAL.search(words) or _CHANCE.search(words) else "low"


def reminders(content: str) -> list[Reminder]:
    """The reminders that a user's words ask for, in order, at most `MAX_REMINDERS`."""
    plain = content[:MAX_READ].translate(_PLAIN)
    if any(mark in plain for mark in _QUOTES):
        plain = _QUOTED.sub(" ", plain)
    whole = plain.lower()
    words = [entry for entry in _WORDS if entry[0] in whole]
    found: list[Reminder] = []
    for match in _SENTENCE.finditer(plain) if words else ():
        sentence = match[0]
        low = sentence.lower()
        rules = 0
        for word, rule in words:
            if word in low:
                rules |= rule
        if not rules:
            continue
        reminder = _in_sentence(" ".join(sentence.split()), rules)
        if reminder is not None:
            found.append(reminder)
            if len(found) == MAX_REMINDERS:
                break
    return found


def _in_sentence(sentence: str, rules: int) -> Reminder | None:
    """What the first of the `rules` finds that finds any; they search in lower case."""
    low = sentence.lower()
    if len(low) != len(sentence):  # a few letters grow in lower case; places must stay
        sentence = low
    kind: Kind = "asked"
    matter: str | None = None
    if rules & ORDER:
        matter = _ordered(sentence, low)
    if matter is None and rules & UNFORGET:
        matter = _unforgotten(sentence, low)
    if matter is None and rules & OTHER and (other := _OTHERS.search(low)):
        matter = sentence[other.end() :]
    if matter is None and rules & BACK:
        kind, matter = "deferred", _put_off(sentence, low)
    if matter is None and (rules & LATER or (rules & SOME and "some point" in low)):
        kind, matter = "deferred", _deferred(sentence, low)
    if matter is None and rules & SOON:
        kind, matter = "mentioned", _mentioned(sentence, low)
    if matter is None:
        return None
    matter = matter.strip(" \t.,!?;:-–—")
    vague = _VAGUE.fullmatch(matter.lower()) is not None
    return Reminder(kind, ttl(low), sentence.strip() if vague else matter, vague)


def _ordered(sentence: str, low: str) -> str | None:
    """What a reminder is ordered of; None where something is to be said now, or nothing is ordered."""
    for found in islice(_ASK.finditer(low), MAX_REMINDERS):
        before = low[: found.start()]
        if _begins(before) and not _REPORTED.search(before):
            at = _matter(low[found.end() :], found[0], low.endswith("?"))
            if at is not None:
                return sentence[found.end() + at :]
    return None


def _unforgotten(sentence: str, low: str) -> str | None:
    found = _FORGET.search(low)
    if found is None or low.endswith("?") or _REPORTED.search(low[: found.start()]):
        return None
    return sentence[found.end() :]


def _begins(before: str) -> bool:
    """Whether what follows `before` is a request of its own: polite words, times or a finished clause lie before it."""
    clause = re.split(r"[,;:()—–]|\s-+\s", before)[-1].strip()
    return bool(_LEAD.fullmatch(clause) or _LEAD.fullmatch(re.split(r"\b(?:and|but|so)\b", clause)[-1].strip()))


def _matter(rest: str, trigger: str, asked: bool) -> int | None:
    """Where in `rest` ("to call Ann") its matter begins; None where "remind me…" asks for something to be said now."""
    if "note to" in trigger or trigger.rstrip().endswith(":") or trigger.startswith("reminder"):
        return 0
    how = _ASK_REST.match(rest)
    if how is None:  # "remind me tomorrow": of what was just said
        return len(rest) if _ASK_WHEN.fullmatch(rest) else None
    word = how["how"]
    timed = bool(_NORMAL.search(rest) or _URGENT.search(rest) or _LOW.search(rest) or _DURATION.search(rest))
    if word in ("about", "of") and (_ABOUT_NOW.match(rest, how.end()) or ((asked or word == "of") and not timed)):
        return None
    if word in ("when", "once", "before", "after", "by", "if"):
        return None if asked and word in ("when", "if") else how.start("how")
    return how.end()


def _put_off(sentence: str, low: str) -> str | None:
    for pattern, timed in ((_BACK, _AFTER.search(low) is not None), (_PARK, True)):
        found = pattern.search(low) if timed else None
        if found is None or _doubted(low, found.start()) or (low.endswith("?") and not _REQUEST.match(found[0])):
            continue
        return sentence[found.end() :]
    return None


def _deferred(sentence: str, low: str) -> str | None:
    found = (_LATER.search(low) if "later" in low or "point" in low else None) or _CHANCE.search(low)
    if found is None or _PARTING.search(low):
        return None
    must = _MUST.search(low)
    if must is None and not (found.re is _CHANCE and _imperative(low, found)):
        return None
    if _doubted(low, must.start() if must else found.start()):
        return None
    if low.endswith("?") and not (must and _REQUEST.match(must[0])):
        return None
    return sentence[: found.start()] + sentence[found.end() :]


def _imperative(low: str, chance: re.Match[str]) -> bool:
    """Whether the words around "when you get a chance" are a command: they begin with no subject of their own."""
    rest = low[: chance.start()].strip(" ,") or low[chance.end() :].strip(" ,")
    first = rest.split(" ", 1)[0]
    return bool(first) and first not in _SUBJECTS


def _mentioned(sentence: str, low: str) -> str | None:
    found = _SOON.search(low)
    must = _MUST.search(low) if found else None
    if must is None or _PARTING.search(low) or _doubted(low, must.start()):
        return None
    if (low.endswith("?") and not _REQUEST.match(must[0])) or must[0].endswith(("'ll", " will")):
        return None  # "we'll know by Friday" foretells; it puts nothing off
    return sentence


def _doubted(low: str, at: int) -> bool:
    """Whether the clause before place `at` denies, asks, supposes or reports what follows."""
    before = low[:at]
    return bool(_DOUBT.search(_BREAK.split(before)[-1]) or _TOLD.search(before))
