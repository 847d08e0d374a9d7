"""Passages: a sentence of a turn with those behind it that point back at it, and what speaks for keeping it.

    "I moved to Porto last week. It was a relief to my children."     one passage: "It was" alone tells a reader nothing
    "We played games and ate. Family moments make life sweet."        one passage: either tells too little alone
    "Wow, Marta! I sold it - it was sad."                             "I sold it": neither the call nor the sigh
    “Do you still have the bakery?” I sold it last week.              what answers another's question stands behind that
    worth = the points of what is seen of it, see WORTH               hundredths of log odds that a reader would keep it

What is kept must be understood without its turn, be about who says it, and tell something. So what speaks for a passage
is who its subject is, how many of its words tell something, and a time; what speaks against it is pointing at what is
not there, addressing the other, what only may be, kind words and good intentions.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from importlib.resources import files
from operator import or_
from typing import Any

from streams.core.patterns import lazily
from streams.core.text.commonness import CLASSES
from streams.core.text.marks import Marks
from streams.core.text.memo import Memo
from streams.core.text.stops import BEHIND
from streams.core.text.telling import excerpt
from streams.core.text.terms import WORDS

READ, TEXT, ASKED, LEAST, MOST, SPARSE, FEW = 800, 200, 120, 3, 6, 5, 3
"""Characters of a turn that are read, bytes of a passage and of a question, words that a sentence has at least, words
that tell something beyond which more do not speak for a passage, below which it may need what it answers, and below
which they are few."""
_VERB = 4
"""Words of a sentence of which one is its verb, where who speaks is its first."""
ALONE = 200
"""Points of a passage that is understood and tells enough without the next."""
TABLE: dict[str, Any] = tomllib.loads(files(__package__).joinpath("words.toml").read_text("utf-8"))
WORTH = {
    "any": -300, "subject": 110, "points": -260, "loose": -120, "near": -120, "vague": -50, "the": -10, "answers": 30,
    "I": 90, "my": 100, "we": 0, "nobody": -175, "you": -170, "may": -110, "will": -90, "glad": -90, "agrees": -100,
    "judges": 0, "cheers": -60, "minds": -40, "name": 50, "kin": 70, "when": 100, "past": 60, "owns": 15, "tells": 85,
    "few": -70, "asks": -600, "manner": 1500, "named": 80,
}  # fmt: skip
"""Points for what is seen of a passage. `any`: for every one; `subject`: who speaks is its subject; `points`: something
that is not named is; `loose`, `near`: it points before it names anything, or more than one thing; `answers`: it stands
behind the question that it answers; `nobody`: it has no word for who speaks; `name`: a word with a capital; `tells`:
for each word that tells something; `few`: fewer than FEW do; `named`: something that has a name is its subject; others:
it has such words, see words.toml; those of 0 count where a setting says so. `asks` and `manner`: who asks for
something tells nothing, unless it is how to be answered."""


def compiled(*names: str, behind: str = r"(?!\w)") -> re.Pattern[str]:
    """What any of the fragments of words.toml matches."""
    fragments = [fragment for name in names for fragment in TABLE["words"][name]]
    return lazily(f"(?<![\\w'’])(?:{'|'.join(fragments)}){behind}", re.IGNORECASE)


CALLS = {name: frozenset(words.split()) for name, words in TABLE["calls"].items()}
_SETS = {name: frozenset(words.split()) for name, words in TABLE["seen"].items()}
_SETS |= {f"{says}?": words for says, words in CALLS.items()}
BITS = {
    name: 1 << place
    for place, name in enumerate((*_SETS, "subject", "loose", "nobody", "manner", "near", "answers", "name", "praises"))
}
"""What may be seen of a passage, each a bit."""
_KNOWN = {
    word: sum(BITS[name] for name, words in _SETS.items() if word in words)
    for word in frozenset().union(*_SETS.values())
}
OWN = BITS["I"] | BITS["my"] | BITS["we"]
"""Words for who speaks."""
_POINTS, _INNER, _PERSON, _ORDERS = BITS["points"], BITS["inner"], BITS["person"], BITS["orders"]
SUBJECT, _LOOSE, _NOBODY, _I = BITS["subject"], BITS["loose"], BITS["nobody"], BITS["I"]
MANNER = BITS["manner"]
"""It tells how somebody likes to be answered."""
_NEAR, _ANSWERS, _NAME = BITS["near"], BITS["answers"], BITS["name"]
_YOU, _ASKS, _MAY_BE_MANNER = BITS["you"], BITS["asks"], BITS["manner?"]
_PAST = BITS["past"]
_LIKES, _SHOWS, _PRAISES = BITS["preference?"], BITS["shown"], BITS["praises"]
_ADDS = OWN | _NAME | BITS["when"] | BITS["kin"]
"""What points back at something and tells more than how it was."""
_WEAK = _YOU | _POINTS | _NEAR | BITS["vague"]
"""What cannot be pointed back at: it is not understood itself."""
_OPEN = _POINTS | _LOOSE | _NOBODY | _NEAR
"""What is understood with the question that it answers."""
_BEGINNING = _POINTS | _PERSON | _ORDERS
"""What only the first word of a sentence tells of it."""
_HEAD = _POINTS | _PERSON | SUBJECT | _LOOSE | _NOBODY
"""What only the first sentence of a passage tells of it."""
_WEIGHED = [(BITS[name], name) for name in WORTH if name in BITS]
_MASK = sum(bit for bit, _ in _WEIGHED)
_MANNER = compiled("manner")
_ORDER = lazily(r"(?<!\w)(?:keep|make|answer|reply|respond|explain|call me|no) ", re.IGNORECASE)
_BROKEN = frozenset("}-–—…")
"""What a sentence ends with that breaks off."""
_ENDS = ".!?。！"
"""What a sentence ends with."""
_BREAK = lazily(
    rf"[\s,;–—-](?:{BEHIND}\s*|(?<=\n)\n*|(?<=,)\s+(?=[Ii]t['’ ])"
    r"|(?<=[-–—;])(?:(?<=\S .)|(?<=[\w'’.,!].))[-–—]*\s+"
    r"(?=(?:[Ii]|[Ww]e|[Mm]y|[Oo]ur|[Ii]t|[Tt]hat|[Tt]his|[Tt]hey)(?:['’]\w+)? ))"
)
"""What is between sentences, and before a clause with a subject of its own. Why its first character leads it: only
where one of those stands is the rest looked for."""
_WIDE_BREAK = lazily(r"(?<=[。！？])")
_LEADING = lazily(
    r"^(?:(?:(?!\w+(?:ly|day|times)\b|tomorrow|tonight|often)[A-Z][\w'’]+,|yeah|yep|yup|yes|well|oh|wow|hey|hi|and|but|ok"
    r"|no(?! (?:one|more|longer|matter|idea|way|doubt)\b)|so(?! (?:far|much|many|long|do|did|am|is|are)\b)|tell me,"
    r"|thank(?:s| you)(?: (?:so|very) much| a (?:lot|ton|bunch|million)| again)*"
    r"(?:,? (?-i:[A-Z])\w+(?=[,.! -]))?(?: for [^,.!?–—-]+)?"
    r"|okay|actually|also|aww|by the way|btw|guess what|(?:great|good|big|some) news|as for me"
    r"|(?:i )?(?:just )?(?:wanted|had|want) to (?:let you know|tell you)(?: that)?)[,!:-]* (?:[-–—]+ )?)+",
    re.IGNORECASE,
)
_LEADS = frozenset(TABLE["words"]["leads"])
"""Words of which a lead begins with one, where its first has no comma: other sentences are not looked at for one."""
_TAG = lazily(
    r"[ ,](?:right|huh|eh|yeah|(?:ya|you) know|(?:is|are|do|does)n['’]t (?:it|you|they|we)(?: think)?"
    r"|oder|nicht wahr|hein|n['’]est-ce pas|verdad)\W*$",
    re.IGNORECASE,
)
"""What makes a question of what is only said."""
_SHOWN = lazily(r"(?<!\w)(?:wow|pics?|pictures?|photos?|looks?|gorgeous|stunning|beautiful)(?!\w)", re.IGNORECASE)
_LOOKED = lazily(
    r"(?:that|this|these|those) (?:pics?|pictures?|photos?|images?|shots?|paintings?|drawings?|views?)(?!\w)",
    re.IGNORECASE,
)
"""Words of a turn that looks at what the other shows, and what a sentence begins with that is about that alone."""
_BARE = lazily(rf"(?:{'|'.join(TABLE['words']['bare'])})(?!\w)", re.IGNORECASE)
_BEGINS = frozenset(fragment.split(" ")[0] for fragment in TABLE["words"]["bare"])
_EDGE = '.,;:!?()"“”…*-–—'


def _bits(raw: str) -> int:
    """What is known of a word, in bits."""
    return _KNOWN.get(raw.lower().strip(_EDGE).replace("’", "'"), 0)


def _of(raw: str) -> tuple[int, str]:
    """What a word is, in bits, and its stem where that tells something."""
    stem, known = WORDS[raw][2], _bits(raw)
    return known | (_NAME if raw[0].isupper() and not known & OWN else 0), stem if CLASSES[stem] else ""


_SEEN = Memo(_of)
_MAY_BE_MINE = Marks(look=lambda word: any(_bits(part) & (OWN | _MAY_BE_MANNER) for part in _WIDE_BREAK.split(word)))
"""Words for who speaks, and for how to be answered."""


class Worth(dict[int, int]):
    """What is seen of a passage, in bits, weighed by points like WORTH: each once. Made of them when it is met."""

    def __init__(self, points: Mapping[str, int]) -> None:
        super().__init__()
        self.points = points
        self.tells = [points["tells"] * tells + points["few"] * (tells < FEW) for tells in range(MOST + 1)]
        """By how many words tell something."""

    def __missing__(self, seen: int) -> int:
        found = self.points["any"] + sum(self.points[name] for bit, name in _WEIGHED if seen & bit)
        self[seen] = found
        return found


@dataclass(slots=True)
class Passage:
    """Words of a turn that belong together, and what is seen of them."""

    text: str
    seen: int
    """Bits, see BITS."""
    tells: int
    """How many of its words tell something."""
    asked: str = ""
    """The question that it answers, where it points back at it."""

    @property
    def mine(self) -> bool:
        """Whether it has words for who speaks."""
        return self.seen & (OWN | _ANSWERS) != 0 or (self.seen & MANNER != 0 and _ORDER.search(self.text) is not None)

    @property
    def points(self) -> bool:
        """Whether it begins with "she" or "he"."""
        return self.seen & _PERSON != 0

    def worth(self, worth: Worth, named: bool = False) -> int:
        """The points of what is seen. `named`: of something that is its subject, as it would be of who speaks."""
        seen = (self.seen | SUBJECT | _NAME) & ~(_POINTS | _NOBODY) if named else self.seen
        return worth[seen & _MASK] + worth.tells[self.tells] + worth.points["named"] * named

    def bears(self, other: Passage) -> bool:
        """Whether what points back at it is understood with it, and both are about the same."""
        known = not self.seen & _WEAK and not (self.seen & _NOBODY and other.seen & OWN)
        return known and len(self.text) + len(other.text) < TEXT

    def goes_with(self, other: Passage, worth: Worth) -> Passage | None:
        """Both as one, where one tells too little alone and both are of who speaks; None where they stay apart."""
        if not self.mine or (self.seen | other.seen) & MANNER or other.points:
            return None
        least, most = sorted((self.worth(worth), other.worth(worth)))
        if least >= ALONE or len(self.text) + len(other.text) >= TEXT:
            return None
        joined = self.joined(other)
        return joined if joined.worth(worth) >= most else None

    def joined(self, other: Passage) -> Passage:
        """It and what points back at it, as one."""
        seen = self.seen | (other.seen & ~(_HEAD | _NEAR))
        seen = seen & ~_NOBODY if seen & OWN else seen
        text = f"{self.text}{' ' if self.text[-1] in _ENDS else ' - '}{other.text}"
        return Passage(text, seen, min(MOST, self.tells + other.tells), self.asked)

    def answering(self, question: str) -> Passage:
        """It as what answers a question, where that makes it plain what it points at and whom it is about."""
        asks = reduce(or_, [_SEEN[word][0] for word in question.split()], 0)
        if self.seen & MANNER or _LOOKED.match(self.text) or (self.seen & _NOBODY and not asks & _YOU):
            return self
        # Why: what is asked of "it" or "that" tells nobody what is answered.
        near = _NEAR if asks & (_POINTS | _INNER) else 0
        return Passage(self.text, self.seen & ~_OPEN | _ANSWERS | near, self.tells, question)


def passages(
    content: str, worth: Worth, person: bool, about: Callable[[str], Sequence[str]], asked: str = ""
) -> Iterator[Passage]:
    """The passages of a turn that ask nothing. `person`: "she" or "he" is somebody who was spoken of before; `about`:
    whom else a sentence is about; `asked`: what was just asked of who speaks."""
    last: Passage | None = None
    for sentence in _sentences(_read(content)):
        if sentence.rstrip()[-1:] in "?？":
            if last is not None:
                yield last
                last = None
            continue
        if (found := _look(sentence)) is None or not (found.tells or found.seen & MANNER):
            continue
        if found.seen & _PRAISES and (found.seen & _YOU or _SHOWN.search(content)):
            continue
        back = found.seen & (_POINTS | _LOOSE) and not (found.seen & MANNER or (person and found.points))
        if back and last is not None and last.bears(found):
            pointed = last.joined(found)
            if found.seen & _ADDS and pointed.worth(worth) >= last.worth(worth):
                last = pointed
            continue
        if last is not None:
            joined = last.goes_with(found, worth)
            if joined is not None and not about(sentence):
                last = joined
                continue
            yield last
            asked = "" if last.mine else asked
        if asked and (found.seen & _OPEN or found.tells < SPARSE):
            found = found.answering(asked)
        last = found
    if last is not None:
        yield last


def may_be_mine(content: str, asked: str = "") -> bool:
    """Whether a turn may tell of who speaks: it has a word for that, leaves it out where a sentence begins, or answers
    a question to "you". Others are not read for it."""
    text = _read(content)
    if _MAY_BE_MINE.may_be_in(text) or any(_SEEN[word][0] & _YOU for word in asked.split()):
        return True
    firsts = [_bare(sentence, words[0]).split(None, 1) for sentence in _sentences(text) if (words := sentence.split())]
    return any(first and (first[0].lower() in _BEGINS or _SEEN[first[0]][0] & _PAST) for first in firsts)


def _read(content: str) -> str:
    """What is read of a turn."""
    return excerpt(content, len(content[:READ].encode()))


@lru_cache(maxsize=2)
def _sentences(text: str) -> Sequence[str]:
    """The sentences of a turn. Remembered: what it asks and what it tells are looked for in turn."""
    wholes = (text,) if text.isascii() else _WIDE_BREAK.split(text)
    return [sentence for whole in wholes for sentence in _BREAK.split(whole)]


def question(content: str) -> str:
    """What a turn asks last; "" where that does not tell what is asked."""
    if "?" not in (end := content[-READ:]):
        return ""
    last = [sentence for sentence in _sentences(end) if sentence[-1:] == "?"][-1:]
    asked = _look(last[0]) if last and len(last[0].encode()) <= ASKED and not _TAG.search(last[0]) else None
    return asked.text if asked is not None and asked.tells else ""


def _look(sentence: str) -> Passage | None:
    """What is seen of a sentence; None where it is too short, breaks off or is a line of a list."""
    plain = sentence.split()
    if len(plain) < LEAST or plain[0][0] in "-*#•|" or sentence.rstrip(" .")[-1:] in _BROKEN:
        return None
    bare = _bare(sentence, plain[0])
    if len(plain := plain if bare is sentence else bare.split()) < LEAST:
        return None
    bits, stems = zip(*map(_SEEN.__getitem__, plain), strict=True)
    first, seen = bits[0], reduce(or_, bits[1:], bits[0] & ~_NAME) & ~_BEGINNING
    if seen & _INNER:
        before = _before(bits, stems)
        seen |= _NEAR if before < 2 or bits[-1] & _INNER else 0
        seen |= _LOOSE if not before else 0
    if first & OWN:
        seen |= SUBJECT
        if seen & _LIKES and seen & (_SHOWS | _YOU) and (praised := _praised(bits)):
            seen |= 0 if seen & _NAME and not praised & _YOU else _PRAISES | _NEAR
    elif first & _PAST or (plain[0].lower() in _BEGINS and _BARE.match(bare)):
        seen |= SUBJECT | _I
    else:
        seen |= first & _BEGINNING
    seen |= 0 if seen & OWN else _NOBODY
    seen |= _ASKS if seen & _ORDERS else 0
    if seen & _MAY_BE_MANNER and _MANNER.search(sentence):
        seen |= MANNER
    return Passage(bare.rstrip(" ,;-–—"), seen, min(MOST, len({*filter(None, stems)})))


def _bare(sentence: str, first: str) -> str:
    """A sentence without what leads into it; `first`: its first word."""
    may_lead = first[-1] == "," or first.lower().rstrip("!:-") in _LEADS
    lead = _LEADING.match(sentence) if may_lead else None
    return sentence if lead is None else _capital(sentence[lead.end() :])


def _capital(text: str) -> str:
    """A text that begins as a sentence does."""
    return text[:1].upper() + text[1:] if text[:2].islower() else text


def _praised(bits: Sequence[int]) -> int:
    """What is liked, in the bits of the word that tells it, where that is of who is spoken to, or only pointed at."""
    for place, bit in enumerate(bits[:-2]):
        if bit & _LIKES and place < _VERB:
            told = bits[place + 1]
            return told if told & (_SHOWS | _YOU) else bits[place + 2] & _YOU
    return 0


def _before(bits: Sequence[int], stems: Sequence[str]) -> int:
    """How many words tell something before one behind the first points at something."""
    told = 0
    for place, bit in enumerate(bits):
        if place and bit & _INNER:
            return told
        told += stems[place] != ""
    return MOST


def cut(text: str) -> str:
    """The beginning of a text, whole words, bounded in bytes."""
    text = " ".join(text.split())
    if len(text.encode()) <= TEXT:
        return text
    return text.encode()[:TEXT].decode(errors="ignore").rpartition(" ")[0] or text[: TEXT // 4]
