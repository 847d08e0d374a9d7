"""What kind of memory a turn is, told by its words: what happened, what is so, or how something is done.

The three kinds of Tulving 1972 and of Cohen & Squire 1980, which last differently long. The rules are data: kinds.toml.
A rule has words; only where one of them stands in a turn its phrases are looked for, around it. Most turns
are episodic and cost one pass over their words.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib.resources import files
from typing import Literal, NamedTuple, get_args

from streams.core.patterns import lazily

MemoryType = Literal["episodic", "semantic", "procedural"]
TYPES: tuple[MemoryType, ...] = get_args(MemoryType)

LONGEST = 1_500
"""Characters looked at: what a turn is shows at its beginning."""
BEFORE, BEHIND = 70, 100
"""Characters around a rule's word that are looked at."""
MOST = 12
"""Words with rules that are looked at in one turn: bounded work."""


class Rule(NamedTuple):
    """What tells that a turn is of a type."""

    type: MemoryType
    phrases: str
    """A regular expression; compiled when it is first looked for, which few processes ever do."""
    leads: bool
    """Whether it only ever stands at the beginning of a sentence, which is then all that is looked at."""


Rules = dict[str, tuple[Rule, ...]]


_LEADING = "(?:^|[.!?;:] )"
_BREAK = lazily("[.!?;:] ")


def _rules() -> tuple[Rules, Rules]:
    table = tomllib.loads(files(__package__).joinpath("kinds.toml").read_text("utf-8"))
    found: dict[str, Rules] = {"words": {}, "near": {}}
    types: tuple[MemoryType, ...] = ("procedural", "semantic")
    for type in types:
        for row in (row for language in table[type].values() for row in language):
            leads = all(phrase.startswith(_LEADING) for phrase in row["phrases"])
            rule = Rule(type, rf"(?:(?<!\w)|(?=[.!?;:] ))(?:{'|'.join(row['phrases'])})", leads)
            for place, parts in (("words", row.get("words", "").split()), ("near", row.get("near", []))):
                found[place].update({part: (*found[place].get(part, ()), rule) for part in parts})
    return found["words"], found["near"]


WORDS, NEAR = _rules()
"""The rules that a word, or a part of the text, calls for."""
_WORDS = frozenset(WORDS)
_COMMON = ("is", "to")
"""Words that call for no look at the parts that they stand in: nearly every turn has one."""
_WITHIN = {part: within for part in NEAR if (within := [*part.split(" ")[1:-1], ""][0]) and within not in _COMMON}
"""By part: a word that a text with it holds."""
_CALLING = _WORDS.union(_WITHIN.values())
_ALWAYS = tuple(part for part in NEAR if part not in _WITHIN)
"""Parts that are looked for in every turn."""


def memory_type(content: str, role: str) -> MemoryType:
    """The kind of memory that a turn is; a pure function of its words and role."""
    if role == "tool":  # Why: what a tool put out is what happened
        return "episodic"
    content = content[:LONGEST].lower().replace("’", "'")
    words = content.split()
    if _CALLING.isdisjoint(words):
        for part in _ALWAYS:
            if part in content:
                break
        else:
            return "episodic"
    return _told(words)


def _told(words: list[str]) -> MemoryType:
    """What the rules say; an instruction that states a fact as well is an instruction."""
    content = " ".join(words)
    known = _WORDS.intersection(words)
    called = [(word, WORDS[word]) for word in dict.fromkeys(words) if word in known][:MOST] if known else []
    called += [(part, NEAR[part]) for part in NEAR if part in content]
    found: MemoryType = "episodic"
    for part, rules in called:
        for rule in rules:
            type = rule.type
            if type != found and _states(content, part, rule):
                if type == "procedural":
                    return type
                found = type
    return found


_compiled = cache(re.compile)


def _states(content: str, part: str, rule: Rule) -> bool:
    """Whether a phrase stands around the first places of this part of the text, and not in a question."""
    phrases = _compiled(rule.phrases)
    at = content.find(part)
    for _ in range(3):
        if at < 0:
            return False
        begin = max(at - BEFORE, 0)
        # Why the mark: `^` is the beginning of the turn, not of what is looked at.
        near = content[begin : at + BEHIND] if not begin else f"…{content[begin : at + BEHIND]}"
        if (phrase := _led(phrases, near) if rule.leads else phrases.search(near)) and not _asked(
            content, begin + phrase.end() - bool(begin)
        ):
            return True
        at = content.find(part, at + len(part))
    return False


def _led(phrases: re.Pattern[str], near: str) -> re.Match[str] | None:
    """What `search` finds of phrases that lead a sentence, in a tenth of the time."""
    found = phrases.match(near)
    for start in () if found else _BREAK.finditer(near):
        if found := phrases.match(near, start.start()):
            break
    return found


_END = lazily(r"[.!?]+(?=\s|$)")


def _asked(content: str, at: int) -> bool:
    """Whether the sentence that goes on at this place ends as a question."""
    end = _END.search(content, at)
    return end is not None and "?" in end.group()
