"""What an effort is called: a noun phrase or short clause of its first turns, as a person would name it.

A phrase is a run of words without stop words between, or several joined by words such as "of" and "the". It ends where
its clause ends or where a stop word comes that joins nothing, so that nothing of it is cut off; a word alone in the
midst of commas ("Can I help you, madam?") is none. What it is worth:

    points for what is seen of it (see WORTH) + points of its words (titles.json)
    + points for how many of the effort's turns use its words

Points are those of a ridge regression against what people called dialogues and pieces of work
(tests/bench/learn_summaries.py learns them), but for names and for what somebody wants done: they say what work is
about, and cost nothing by that measure.
A title changes only while the effort is young, and only for a better one.

The terms that are told of an effort are those most telling:

    telling(term) = rarity(term) * sqrt(uses) / df(term)

rarity is how uncommon the word is in general (see commonness), df how many active efforts speak of it.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from functools import lru_cache
from math import sqrt
from operator import itemgetter
from typing import NamedTuple

from processors.open_efforts.index import Active
from processors.open_efforts.records import Effort
from streams.core.patterns import lazily
from streams.core.text import Text
from streams.core.text.commonness import CLASSES, COMMON, LIGHT, ORDINARY, RARE
from streams.core.text.cues import COMMON as CALENDAR
from streams.core.text.learned import Learned
from streams.core.text.telling import excerpt, lines
from streams.core.text.terms import CAPITAL, CLAUSE, NAMED, SENTENCE, WORDS

TOPIC = 200
"""Characters of a declared topic at most."""
FIRST, EXCERPT = 4, 240
"""Turns of an effort that may name it, and characters kept of each."""
YOUNG = 24
"""Turns up to which a title may change."""
BETTER = 4
"""Points by which another title must be better than the present one."""
MOST_WORDS, MOST_SENTENCES = 6, 10
"""Words of a title, and sentences that it is looked for in."""
OPENS, CLOSES = "([{<", (")", "]", "}", ">")
"""What an aside begins and ends with: a title runs neither into one nor out of it."""
_BEHIND = ".,;:!?…'\"”’"
MOST_USES = 8
SHORTEST = 3
"""Letters of a title of one word."""
TOLD = 12
"""Terms told of an effort."""
TELLS = {LIGHT: 0.25, COMMON: 0.6, ORDINARY: 0.9, RARE: 1.0}
_JOINING = """
a an the of on for in to with and at from by into my your our his her their this that der die das des den dem von im am
für und mit zu du de la le les des et pour avec el los las del y para con en
"""
JOINING = frozenset(_JOINING.split())
"""Words that join two parts of a title."""
_ASKING = """
want wants wanted need needs like love trying going help plan planning try prefer how can could may please lets decided
remind
"""
ASKING = frozenset(_ASKING.split())
"""What comes behind one of these (and "to", "you", "me", "i", "we") is what somebody wants to do."""
_LOOSE = """
later lately recently earlier often generally eventually finally probably actually
uff ugh argh aargh phew pfff oops whoops ouch yikes yay hooray hurray hurrah yuck meh jeez gosh whoa huh hmpf ooh aww
"""
LOOSE = frozenset(_LOOSE.split())
"""Adverbs and cries that name nothing, told by no table of stop words: a title does not run over them."""
_NAME = frozenset("/_.`0123456789")
"""What paths and identifiers hold."""
_NUMBERED = lazily(r"(?:#|[A-Za-z]{1,8}-)\d{2,10}")
"""Numbers that things are known by: KS-90217, #318."""
_NUMBER = re.compile(r"[\W\d_]+").fullmatch
"""What has no letter: an amount or a telephone number names no work."""
_BETWEEN = frozenset(("to", "you", "me", "i", "we", "us"))
WORTH = {
    "wanted": 12, "joined": -2, "verb": 2, "light": -6, "ends light": -4, "leads": 1, "named": 7, "capital": -2,
    "one word": -11, "past": -3, "two words": -2, "three words": 0, "four words": 3, "five words": 5,
    "six words": 5, "first": 36, "second": 7, "early": 1, "uses": 18, "often": 2, "once": -1,
}  # fmt: skip
"""Points of a phrase. `uses`: times the square root of the number of turns that use its most used word; `often` and
`once`: for each of its telling words that three turns use, or one."""
OFTEN = 3
USES = [round(WORTH["uses"] * sqrt(used)) for used in range(MOST_USES + 1)]
of_words = Learned.load("processors.open_efforts", "titles.json").only("title")
"""Points of the stems of a phrase: "recipe" and "renew" stand in what people call work, "morning" and "ask" do not."""
_COUNTED = ("", "one word", "two words", "three words", "four words", "five words", "six words")
PLACES = ("first", "second", "early", "early")


_WIDE_CLAUSE = dict.fromkeys(map(ord, "，；：、"), "\n")
"""What ends a clause in scripts without spaces."""


class Phrase(NamedTuple):
    """A possible title."""

    text: str
    """With a capital; a path or an identifier stays as it is."""
    points: int
    """For what is seen of it."""
    stems: list[str]
    features: list[str]
    """Of WORTH."""


def _runs(
    words: Sequence[str], content: Sequence[str], spelled: Sequence[str], flags: Sequence[int]
) -> Iterator[list[tuple[int, int]]]:
    """The runs of words that tell something, those in one list that only joining words part."""
    chain: list[tuple[int, int]] = []
    open_ = joined = False
    for at, stem in enumerate(content):
        if chain and words[at][0] in OPENS:
            yield chain
            chain, open_, joined = [], False, False
        if stem and spelled[at] not in CALENDAR and spelled[at] not in LOOSE:
            if open_ and not joined:
                chain[-1] = (chain[-1][0], at + 1)
            else:
                chain.append((at, at + 1))
            open_, joined = True, False
        elif open_ and spelled[at] in JOINING:
            joined = True
        elif chain:
            yield chain
            chain, open_, joined = [], False, False
        if chain and (flags[at] & CLAUSE or words[at].rstrip(_BEHIND).endswith(CLOSES)):
            yield chain
            chain, open_, joined = [], False, False
    if chain:
        yield chain


@lru_cache(maxsize=2048)
def phrases(text: str) -> tuple[tuple[Phrase, ...], ...]:
    """The phrases of the sentences of a text that tell something. A memo of a pure function."""
    found: list[list[Phrase]] = [[]]
    for line in lines(text if text.isascii() else text.translate(_WIDE_CLAUSE)):
        words = line.split()
        if not words:
            continue
        _, spelled, stems, flags, _, _ = zip(*map(WORDS.__getitem__, words), strict=True)
        done = 0
        for chain in _runs(words, stems, spelled, flags):
            if any(flag & SENTENCE for flag in flags[done : chain[0][0]]):
                found.append([])
            done = chain[0][0]
            for place, (start, _) in enumerate(chain):
                for _, end in chain[place:]:
                    if end - start > MOST_WORDS:
                        break
                    bare = end
                    while bare > start and not (stems[bare - 1] and CLASSES[stems[bare - 1]]):
                        bare -= 1
                    for stop in dict.fromkeys((bare, end)):
                        if stop > start and (phrase := _phrase(words, spelled, stems, flags, start, stop)):
                            found[-1].append(phrase)
        found.append([])
    return tuple(map(tuple, filter(None, found)))


def _phrase(
    words: Sequence[str], spelled: Sequence[str], stems: Sequence[str], flags: Sequence[int], start: int, end: int
) -> Phrase | None:
    """The words from `start` to `end` as a title; None where they tell nothing."""
    said = [stem for stem in stems[start:end] if stem]
    before = start - 1
    if not any(map(CLASSES.__getitem__, said)) or all(map(_NUMBER, words[start:end])):
        return None
    if end - start == 1 and (len(words[start]) < SHORTEST or (start and flags[start] & flags[before] & CLAUSE)):
        return None
    features = [_COUNTED[end - start]]
    while before > 0 and spelled[before] in _BETWEEN:
        before -= 1
    if before >= 0 and spelled[before] in ASKING:
        features.append("wanted")
    if len(said) < end - start:
        features.append("joined")
    if spelled[start].endswith("ing"):
        features.append("verb")
    elif end - start == 1 and spelled[start].endswith("ed"):
        features.append("past")
    if not CLASSES[said[0]]:
        features.append("light")
    if not CLASSES[said[-1]]:
        features.append("ends light")
    if not start or flags[start - 1] & CLAUSE:
        features.append("leads")
    seen = 0
    for flag in flags[start:end]:
        seen |= flag
    if seen & NAMED and len(said) > 1:
        features.append("named")
    elif seen & CAPITAL and start:
        features.append("capital")
    text = " ".join(words[start:end]).strip(_EDGE)
    if _NAME.isdisjoint(text.partition(" ")[0]):
        text = text[:1].upper() + text[1:]
    return Phrase(text, sum(map(WORTH.__getitem__, features)) + of_words(said), said, features)


_EDGE = " \t\"'“”‘’«»()[]{}.,;:!?…*~|=。、！？，：；「」『』"


def title(texts: Sequence[str], uses: Mapping[str, int], people: Container[str], present: str = "") -> str:
    """The best title that the first turns of an effort give; `uses`: in how many turns it uses each stem.

    The present one where no other is better by far; "" where none of them tells anything.
    """
    best, most, place = present, -1000, 0
    for text in texts:
        for sentence in phrases(text):
            if place == MOST_SENTENCES:
                return best
            early = WORTH[PLACES[place]] if place < len(PLACES) else 0
            for phrase in sentence:
                points = phrase.points + early + _used(phrase.stems, uses)
                if phrase.text == present:
                    points += BETTER
                if points > most and phrase.text.lower() not in people:
                    best, most = phrase.text, points
            place += 1
    return best


def _used(stems: Sequence[str], uses: Mapping[str, int]) -> int:
    """Points for how many turns use the words of a phrase."""
    most, points = 1, 0
    for stem in stems:
        used = uses.get(stem, 1)
        if used > most:
            most = used
        if (used == 1 or used >= OFTEN) and CLASSES[stem]:
            points += WORTH["once"] if used == 1 else WORTH["often"]
    return points + USES[most if most < MOST_USES else MOST_USES]


def renamed(effort: Effort, people: Container[str]) -> str:
    """The title of an effort that goes on, with the number that turns keep naming it by: "Second payment, KS-90217"."""
    texts = [*effort.first.values()]
    present, _, number = effort.topic.rpartition(", ")
    found = title(texts, effort.terms, people, present if _NUMBERED.fullmatch(number) else effort.topic)
    uses = {name: count for name, count in effort.names.items() if count > 1 and _NUMBERED.fullmatch(name)}
    most = max(uses, key=uses.__getitem__, default="")
    if most and most not in found.lower():
        for text in texts:
            if written := re.search(re.escape(most), text, re.I):
                return f"{found}, {written[0]}"
    return found


def retitled(effort: Effort, people: Container[str]) -> str:
    """The title that the turns give which are left of the first ones; their first words rather than none."""
    effort.topic = ""
    first = next(iter(effort.first.values()), "")
    return renamed(effort, people).strip(", ") or " ".join(first.split()[:MOST_WORDS])


def opening(content: str, text: Text, names: list[str], people: Container[str]) -> str:
    """The title of an effort that opens with a turn; the turn's words whatever they are, rather than none."""
    found = title([excerpt(content, EXCERPT)], {}, people)
    return found or " ".join([*names, *text.forms, *text.calls][:MOST_WORDS])[:TOPIC]


def telling(index: Active, effort: Effort) -> list[str]:
    """An effort's most telling terms, best first."""
    # Why: what few turns use tells little of a long effort, and weighing it all costs more than it gives.
    least = effort.turns // 8
    often = [use for use in effort.terms.items() if use[1] > least]
    if len(often) < TOLD:
        often = sorted(effort.terms.items(), key=itemgetter(1), reverse=True)[: 2 * TOLD]
    get = index.terms.get
    tells = {term: TELLS[CLASSES[term]] * sqrt(uses) / (get(term, 0).bit_count() or 1) for term, uses in often}
    return sorted(tells, key=tells.__getitem__, reverse=True)[:TOLD]
