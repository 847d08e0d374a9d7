"""What a turn states: who or what, which attribute of it, what value, affirmed or denied.

A clause is read from left to right: its subject, the words about its verb, and what is said. Only plain statements
count: nothing asked, supposed, quoted, reported of others, or told of another time.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from itertools import pairwise

from processors.contradictions.changes import is_change, read_change
from processors.contradictions.clauses import bare_words, blocked, cut_clauses, cut_sentences, told_of
from processors.contradictions.glance import ASIDE, NO_SUBJECT, promising
from processors.contradictions.lexicon import CHANGE, CLASS, GROUP, GUARD, LEAD_ON, STATE, VERBS, WORDS, stem
from processors.contradictions.phrases import (
    Context,
    Group,
    Statement,
    Subject,
    read_flags,
    read_group,
    read_subject,
    stated_as,
    subject_end,
)
from processors.contradictions.pointing import MAX_POINTED, may_point, read_pointer
from processors.contradictions.rules import (
    HIRED,
    NEW_WORK,
    read_ability,
    read_copula,
    read_employment,
    read_existence,
    read_state,
    read_verb,
)
from processors.contradictions.values import read_value
from streams.core.text.sentences import lower

MAX_READ = 1_000
"""Characters read of a turn: what stands further down was seldom said, but pasted."""
MAX_STATEMENTS = 4
"""Statements taken from one turn, so that work per turn is bounded."""
MAX_WORDS = 30
"""Longer clauses are not plain."""
MAX_WORD = 32
"""Longer words are data."""
_MARKS = WORDS["marks"]
"""What lists and records of events begin with."""
MAX_SETTING = 5
_SETTING = re.compile(
    r"\s*([a-z][\w-]{1,30}(?: [a-z][\w-]{1,30}){0,2})(?: ?= ?|: )(\d[\w.%]{0,20}|true|false|on|off)\s*"
)
"""A name and its value, as in a file of settings."""
_LIST_ITEM = re.compile(r"\s*(?:[-*•+]|\d+[.)]|[a-z]\))(?:\s|$)")
_CARRYING = frozenset(("it's", "it", "is"))
_CHANGED = frozenset(("now", "now.", "now,", "actually", "actually,", "instead"))
_STARTING = WORDS["starting"]
_PARTICIPLES = WORDS["participles"]


def statements(content: str, names: Collection[str], pointing: bool = True) -> list[Statement]:
    """The statements of a turn, in order; `names` are its words that are names, folded.

    Where nothing was stated before, nothing can be pointed at: then `pointing` is False.
    """
    lowered = lower(content[:MAX_READ])
    words = lowered.split()
    if len(words) <= MAX_SETTING and (setting := _SETTING.fullmatch(lowered)):
        return _set(setting[1], setting[2], names)
    pointing = pointing and may_point(words)
    if not (pointing or promising(words) or _carrying(words)):
        return []
    found: list[Statement] = []
    for raw in cut_sentences(lowered, words):
        points = pointing and may_point(raw)
        if raw[-1][-1] != "?" and (points or promising(raw) or _carrying(raw)):
            found += _sentence(" ".join(raw), raw, names, points)
            if len(found) >= MAX_STATEMENTS:
                break
    return found[:MAX_STATEMENTS]


def _set(name: str, value: str, names: Collection[str]) -> list[Statement]:
    """timeout = 30"""
    said = read_value([value], names)
    stems = tuple(sorted({stem(word) for word in name.replace("_", " ").split()}))
    return [
        stated_as(
            Subject(False, stems, True, False, False), "", "one", [value], said, True, Context(names, False, False)
        )
    ]


def _sentence(text: str, raw: list[str], names: Collection[str], pointing: bool) -> list[Statement]:
    """The statements of a sentence. Why the guards come last: few sentences state anything."""
    if raw[0] in _MARKS or _LIST_ITEM.match(text):
        return []
    context = Context(names, False, False)
    clauses = cut_clauses(raw)
    if len(clauses) > 1 and _carrying(raw):
        carried = _carried(clauses)
        pointing, clauses = pointing and carried == clauses, carried
    if pointing and len(text) <= MAX_POINTED:
        pointed = read_pointer(text, context)
        if pointed:
            return [pointed]
    found: list[Statement] = []
    for place, (joint, words) in enumerate(clauses):
        if (words[0] in NO_SUBJECT and words[0] not in LEAD_ON) or joint in ASIDE or not promising(words):
            continue
        if words[0] in ("i", "we") and GROUP.get(words[1]) == "reject":
            continue
        bare = bare_words(words)
        if bare and bare[0] in _STARTING and not joint:
            bare = ["i", *bare]
        if bare[:2] == ["call", "me"]:
            bare = ["my", "nickname", "is", *bare[2:]]
        if len(bare) < 2 or bare[0] in NO_SUBJECT:
            continue
        if (read := _clause(bare, context)) and not blocked(clauses, place, text):
            changes, adds = told_of(text)
            found += [
                one._replace(changes=one.changes or changes, adds=one.adds or (adds and one.affirmed)) for one in read
            ]
    return found


def _carrying(words: Sequence[str]) -> bool:
    """Whether "it's Monday now" may stand among words."""
    return not (_CARRYING.isdisjoint(words) or _CHANGED.isdisjoint(words))


def _carried(clauses: list[tuple[str, list[str]]]) -> list[tuple[str, list[str]]]:
    """Clauses of which "but it's Monday now" has the subject of the one before."""
    found = clauses[:1]
    for (_, before), (joint, words) in pairwise(clauses):
        bare = bare_words(words)
        if bare[:1] == ["it"]:
            bare = bare[1:]
        if len(bare) > 1 and bare[0] in ("is", "are") and not _CHANGED.isdisjoint(words):
            told = bare_words(before)
            split = subject_end(told)
            if split and told[0] not in ("i", "we", "it"):
                words = [*told[:split], *bare]
        found.append((joint, words))
    return found


def _clause(words: list[str], context: Context) -> list[Statement]:
    if len(words) > MAX_WORDS or max(map(len, words)) > MAX_WORD:
        return []
    if words[0] == "there":
        return read_existence(words, context)
    split = subject_end(words)
    group = read_group(words, split) if split else None
    if group is None:
        return []
    main = words[group.at] if group.at < len(words) else ""
    changing = is_change(main, group)
    ended = main in CHANGE["cancel"] and group.copula and (main != "called" or words[group.at + 1 :][:1] == ["off"])
    if ended:
        return read_copula(words[:split], ["cancelled"], group.negated, context._replace(changes=True))
    if group.past and not changing:
        return []
    if not (NEW_WORK.isdisjoint(words[2:8]) or HIRED.isdisjoint(words)):
        return read_employment(words, context)
    found = _read(words, split, main, changing, group, context._replace(changes=group.changes, adds=group.adds))
    if found:
        clause = " ".join(words)
        guards = ("changed_past",) if changing else ("past", "passing", "future")
        if any(GUARD[guard].search(clause) for guard in guards):
            return []
    return found


def _read(
    words: Sequence[str], split: int, main: str, changing: bool, group: Group, context: Context
) -> list[Statement]:
    subject, rest = words[:split], words[group.at + 1 :]
    if changing:
        return read_change(subject, main, rest, group, context)
    if group.ability and main not in ("stand", "bear", "eat", "drink"):
        return read_ability(read_subject(subject), words[group.at :], not group.negated, context)
    if main in STATE and main not in VERBS and not group.copula:
        return read_state(subject, main, read_flags(rest, context)[0], group.negated, context)
    if main in VERBS and not _adjective(main, group):
        return read_verb(subject, main, rest, group.negated, group, context)
    if group.copula:
        return read_copula(subject, words[group.at :], group.negated, context)
    if group.perfect and main:
        return read_verb(subject, "have", words[group.at :], group.negated, group, context)
    if group.got and main in CLASS:
        return read_copula(subject, words[group.at :], group.negated, context._replace(changes=True))
    return []


def _adjective(main: str, group: Group) -> bool:
    """Whether a word that may be a verb is what a copula says."""
    return group.copula and not (main.endswith(("ing", "ed")) or main in _PARTICIPLES)
