"""What an effort is called: a noun phrase or short clause of its first turns, as a person would name it.

A phrase is a run of words without stop words between, or several joined by words such as "of" and "the". It ends where
its clause ends or where a stop word comes that joins nothing, so that nothing of it is cut off; a word alone in the
midst of commas ("Can I help you, madam?") is none. What it is worth is how alike it is likely to be to what a person
would write, by how likely each of its words is to stand there (see naming):

    worth = 2 * sum of the likelihoods of its words / (its words + THEIRS) + points for what is seen of it (see WORTH)

Why points besides: names and what somebody wants done say what work is about, and cost nothing by that measure.
A title changes only while the effort is young, and only for a better one: the better, the more turns it has stood for.
What is made of one or two turns is a first guess.

The terms that are told of an effort are those most telling:

    telling(term) = rarity(term) * sqrt(uses) / df(term)

rarity is how uncommon the word is in general (see commonness), df how many active efforts speak of it.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate
from math import sqrt
from operator import add, itemgetter
from typing import NamedTuple

from processors.open_efforts.index import Active
from processors.open_efforts.naming import BRIEF_BELOW, likely, owns, points_seen, points_used, seen, wanted
from processors.open_efforts.records import Effort
from streams.core.patterns import lazily
from streams.core.text import Text
from streams.core.text.commonness import CLASSES, COMMON, LIGHT, ORDINARY, RARE
from streams.core.text.cues import COMMON as CALENDAR
from streams.core.text.telling import excerpt, lines
from streams.core.text.terms import CLAUSE, NAMED, SENTENCE, WORDS

TOPIC = 200
"""Characters of a declared topic at most."""
FIRST, EXCERPT = 4, 240
"""Turns of an effort that may name it, and characters kept of each."""
YOUNG = 24
"""Turns up to which a title may change."""
STANDS = 2
"""By how much, in thousandths of likeness for every turn of the effort, another title must be better than the present
one."""
MOST_WORDS, MOST_SENTENCES = 6, 10
"""Words of a title, and sentences that it is looked for in."""
OPENS, CLOSES = "([{<", (")", "]", "}", ">")
"""What an aside begins and ends with: a title runs neither into one nor out of it."""
_BEHIND = ".,;:!?…'\"”’"
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
_DOING = "find make take see keep give get show call bring"
DOING = frozenset(_DOING.split())
"""Verbs that tell too little to stand in a title, but at its head: "Find a seat", where that is what is wanted."""
_WHO = """
i we you he she they it who ive weve youve theyve id wed youd theyd hed shed will would
"""
_SUBJECTS = frozenset(_WHO.split())
_BEING = """
was were been be is are am got has have had im youre theyre its thats hes shes
"""
_HELPING = frozenset(_BEING.split())
"""Behind these comes what somebody does or did: a verb that a title, without its subject, does not begin with, unless
it ends with "ing" ("I'm moving to Lisbon"), or, behind the latter, one that ends with "ed"."""
_ADDING = frozenset(("and", "und", "et", "y"))
"""Behind these and a word such as "my" another clause may begin: "the message and my bank confirms"."""
_LOOSE = """
later lately recently earlier often generally eventually finally probably actually
guten morgen abend moin hallo soy buenos buenas días tardes noches salut bonjour bonsoir
uff ugh argh aargh phew pfff oops whoops ouch yikes yay hooray hurray hurrah yuck meh jeez gosh whoa huh hmpf ooh aww
remind reminds reminded erinner erinnere erinnern recuérdame recuerdame recordarme rappelle rappelez
"""
LOOSE = frozenset(_LOOSE.split())
"""Adverbs, cries and requests to be reminded, which name nothing, told by no table of stop words: a title does not run
over them."""
_KIN = """
husband wife partner fiancé fiancée mum mom dad mother father son daughter sister brother friend colleague boss
neighbour neighbor mann frau freund freundin mutter mama vater papa sohn tochter schwester bruder kollege kollegin chef
chefin mari femme mère père maman fils fille soeur frère ami amie marido mujer esposa madre padre mamá papá hijo hija
hermana hermano
"""
KIN = frozenset(_KIN.split())
"""What people are to each other: before a name it says who somebody is ("Husband Greg"), and not what about."""
_NAME = frozenset("/_.`0123456789")
"""What paths and identifiers hold."""
_NUMBERED = lazily(r"(?:#|[A-Za-z]{1,8}-)\d{2,10}")
"""Numbers that things are known by: KS-90217, #318."""
_NUMBER = re.compile(r"[\W\d_]+").fullmatch
"""What has no letter: an amount or a telephone number names no work."""
WORTH = {"wanted": 30, "named": 40, "one word": -30, "past": -60, "light": -20, "cut": -200}
"""Points of a phrase, in thousandths of likeness: it is what somebody wants done; it has a name beside other words; it
is one word, and one that tells what was done ("reviewed"); it begins with a word that says little, or with a
verb that was cut off from who does it."""
THEIRS = 3
"""Words that a person's title has."""


_WIDE_CLAUSE = dict.fromkeys(map(ord, "，；：、"), "\n")
"""What ends a clause in scripts without spaces."""


class Phrase(NamedTuple):
    """A possible title."""

    text: str
    """With a capital; a path or an identifier stays as it is."""
    start: int
    end: int
    """Its words among those of the text."""
    points: int
    """For what is seen of it, in thousandths of likeness."""


class Told(NamedTuple):
    """What the words of a text give titles."""

    stems: list[str]
    """Of each word; "" where it has none."""
    points: list[int]
    """Of each word, for what is seen where it stands, as `likely` counts them."""
    phrases: list[Phrase]
    used: frozenset[str]
    """The stems."""


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
        said = spelled[at]
        if open_ and said.endswith("ed") and owns(words[at - 1]):  # "Ann's retired": who did it, and what
            yield chain
            chain, open_, joined = [], False, False
        if (stem and said not in CALENDAR and said not in LOOSE) or (said in DOING and wanted(spelled, at)):
            if open_ and not joined:
                chain[-1] = (chain[-1][0], at + 1)
            else:
                chain.append((at, at + 1))
            open_, joined = True, False
        elif open_ and said in JOINING and not (joined and spelled[at - 1] in _ADDING) and not owns(words[at - 1]):
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
def told(text: str, place: int, brief: bool) -> Told:
    """What a text gives titles that is the turn at `place` of an effort that begins briefly. A memo of a pure function.

    Why words of all lines in one list: a phrase knows its own by two numbers.
    """
    all_stems: list[str] = []
    points: list[int] = []
    found: list[Phrase] = []
    sentence = 0
    for words, spelled, stems, flags in _lines(text):
        of_words = seen(words, spelled, stems, flags, place, len(all_stems), sentence, brief)
        points += map(points_seen, of_words)
        for chain in _runs(words, stems, spelled, flags) if sentence < MOST_SENTENCES else ():
            for start, stop in _spans(chain, stems):
                if phrase := _phrase(words, spelled, stems, flags, start, stop, len(all_stems)):
                    found.append(phrase)
        all_stems += stems
        sentence += _sentences(flags)
    return Told(all_stems, points, found, frozenset(filter(None, all_stems)))


def signals(text: str, place: int, brief: bool) -> Iterator[tuple[Sequence[str], Sequence[str], list[list[str]]]]:
    """The words of each line of a text, their stems, and what is seen of each (see naming): for who learns of it."""
    said = sentence = 0
    for words, spelled, stems, flags in _lines(text):
        yield words, stems, [*seen(words, spelled, stems, flags, place, said, sentence, brief)]
        said += len(words)
        sentence += _sentences(flags)


def _sentences(flags: Sequence[int]) -> int:
    """How many sentences a line has."""
    return sum(bool(flag & SENTENCE) for flag in flags[:-1]) + 1


def _lines(text: str) -> Iterator[tuple[Sequence[str], Sequence[str], Sequence[str], Sequence[int]]]:
    """The words of each line: as they stand, folded, their stems and their flags."""
    for line in lines(text if text.isascii() else text.translate(_WIDE_CLAUSE)):
        if words := line.split():
            _, spelled, stems, flags, _, _ = zip(*map(WORDS.__getitem__, words), strict=True)
            yield words, spelled, stems, flags


def _spans(chain: list[tuple[int, int]], stems: Sequence[str]) -> Iterator[tuple[int, int]]:
    """From where a run begins to where one ends, and to the last word there that tells more than little."""
    for place, (start, _) in enumerate(chain):
        for _, end in chain[place:]:
            if end - start > MOST_WORDS:
                break
            bare = end
            while bare > start and not (stems[bare - 1] and CLASSES[stems[bare - 1]]):
                bare -= 1
            for stop in dict.fromkeys((bare, end)):
                if stop > start:
                    yield start, stop


def _phrase(
    words: Sequence[str], spelled: Sequence[str], stems: Sequence[str], flags: Sequence[int], start: int, end: int,
    before: int,
) -> Phrase | None:  # fmt: skip
    """The words from `start` to `end` as a title; None where they tell nothing."""
    said = frozenset(filter(None, stems[start:end]))
    if not any(map(CLASSES.__getitem__, said)) or all(map(_NUMBER, words[start:end])):
        return None
    if end - start == 1 and (len(words[start]) < SHORTEST or (start and flags[start] & flags[start - 1] & CLAUSE)):
        return None
    points = 0
    if wanted(spelled, start):
        points += WORTH["wanted"]
    elif start and _cut(spelled[start - 1], spelled[start], flags[start - 1]):
        points += WORTH["cut"]
    if end - start == 1:
        points += WORTH["past" if spelled[start].endswith("ed") else "one word"]
    if stems[start] and not CLASSES[stems[start]]:
        points += WORTH["light"]
    if len(said) > 1 and any(flag & NAMED for flag in flags[start:end]):
        points += WORTH["named"]
    text = _edged(" ".join(words[start:end]))
    if not flags[end - 1] & CLAUSE and owns(text):
        text = text[:-2]
    if _NAME.isdisjoint(text.partition(" ")[0]):
        text = text[:1].upper() + text[1:]
    return Phrase(text, before + start, before + end, points)


def _edged(text: str) -> str:
    """A text without the marks at its edges, but for one that closes what is opened within; one that is opened and not
    closed is left out."""
    text = text.lstrip(_EDGE)
    bare = text.rstrip(_EDGE)
    if _OPENED.isdisjoint(bare):
        return bare
    for opened, closed in _PAIRS.items():
        if opened not in bare or (bare.count(opened) % 2 == 0 if opened == closed else bare.count(closed)):
            continue
        if text[len(bare) : len(bare) + 1] == closed:
            return bare + closed
        bare = bare.replace(opened, "", 1)
    return bare


_PAIRS = {'"': '"', "“": "”", "„": "“", "«": "»", "(": ")", "[": "]", "{": "}", "「": "」", "『": "』"}
_OPENED = frozenset(_PAIRS)
_EDGE = " \t\"'“”‘’«»()[]{}.,;:!?…*~|=。、！？，：；「」『』"


def _cut(before: str, first: str, flag: int) -> bool:
    """Whether a word is a verb of what is told by the word before it."""
    if flag & CLAUSE:
        return False
    return (before in _SUBJECTS and not first.endswith("ing")) or (before in _HELPING and first.endswith("ed"))


def title(
    texts: Sequence[str], uses: Mapping[str, int], people: Container[str], present: str = "", turns: int = 0
) -> str:
    """The best title that the first turns of an effort give; `uses`: in how many turns it uses each stem.

    The present one where no other is better by as much as an effort of so many turns asks; "" where none of them tells
    anything.
    """
    brief = bool(texts) and len(texts[0].split()) < BRIEF_BELOW
    given = [told(text, place, brief) for place, text in enumerate(texts)]
    points = points_used([one.used for one in given], uses, brief)
    best, most = present, -1000
    for one in given:
        weighed = map(add, one.points, map(points.__getitem__, one.stems))
        sums = [0, *accumulate(map(likely().__getitem__, weighed))]
        for phrase in one.phrases:
            start, end = phrase.start, phrase.end
            worth = 2 * (sums[end] - sums[start]) // (end - start + THEIRS) + phrase.points
            if phrase.text == present:
                worth += STANDS * turns
            if worth > most and not names_people(phrase.text, people):
                best, most = phrase.text, worth
    return best


def names_people(text: str, people: Container[str]) -> bool:
    """Whether a phrase only says who somebody is: a name, or names behind what those are to who speaks."""
    said = text.lower()
    words = said.split()
    return said in people or (words[-1] in people and all(word in people or word in KIN for word in words))


def renamed(effort: Effort, people: Container[str]) -> str:
    """The title of an effort that goes on, with the number that turns keep naming it by: "Second payment, KS-90217"."""
    texts = [*effort.first.values()]
    present, _, number = effort.topic.rpartition(", ")
    if not _NUMBERED.fullmatch(number):
        present = effort.topic
    found = title(texts, effort.terms, people, present, effort.turns)
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


def opening(content: str, text: Text, names: list[str], people: Container[str], before: Sequence[str] = ()) -> str:
    """The title of an effort that opens with a turn; where that gives but a word, those `before` it count, too, which
    waited for what comes of them. The turn's first words rather than none, whatever they are."""
    said = excerpt(content, EXCERPT)
    found = title([said], {}, people)
    if before and " " not in found:
        found = title([*before, said], {}, people)
    if found:
        return found
    if first := " ".join(said.split()[:MOST_WORDS]).strip(_EDGE)[:TOPIC]:
        return first[:1].upper() + first[1:]
    return " ".join([*names, *text.forms, *text.calls][:MOST_WORDS])[:TOPIC]


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
