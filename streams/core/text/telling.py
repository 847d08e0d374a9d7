"""The sentences of a turn as they stand, and what each of them tells: what summaries, titles and conclusions quote.

A sentence ends with a mark and white space, with a mark of a script without spaces, or with its line. Words that only
lead into one ("Well, ") are left out; nothing else of it is. What it tells is a few named features, to be weighed by
whoever chooses among sentences. Fenced code is no sentence.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import compress
from typing import NamedTuple

from streams.core.patterns import lazily
from streams.core.text.commonness import CLASSES
from streams.core.text.cues import ANYWHERE, follow
from streams.core.text.sentences import FENCE, RECORD
from streams.core.text.stops import goes_on
from streams.core.text.terms import BEGINNINGS, CAPITAL, MORE, NAMED, SAYS, SENTENCE, WORDS, begin
from streams.core.text.within import first_bytes, last_bytes

LONGEST = 56
"""Tokens of a sentence that is quoted whole; a longer one ends at a clause."""
MAX_SENTENCES = 12
"""Sentences of an excerpt that are looked at."""
MAX_STEMS = 16
"""Telling stems kept of a sentence."""
LEAST = 3
"""Words that must be left where a lead-in is taken off; tokens of a sentence that tells something without a name."""
LENGTHS = ("shortest", "shortest", "short", "short", "middling", "middling", "middling", "long", "long", "long",
           "longer", "longer", "longer", "longer", "longest")  # fmt: skip
"""What sentences of so many times three tokens are; the last holds for all that are longer."""
LONG = 3 * len(LENGTHS)
TELLS = ("tells nothing", "tells one", "tells two", "tells three", "tells more")
"""What sentences with so many telling stems are."""
QUOTED_CUES = frozenset(("opening", "decision", "finding", "offer", "ack", "greeting", "thanks", "closing", "pivot"))
"""Cues that speak for or against quoting a sentence."""
FEATURES = (*dict.fromkeys(LENGTHS), *TELLS, "named", "own", "leads", "asks", "commas", *sorted(QUOTED_CUES))
"""All that a sentence may be."""
_WIDE_END = lazily("[。！？]+[”」』）]*(?=\\S)")
_MARKS = lazily(r"^\s*(?:[>\-*•#]+|\d{1,2}[.)])\s+(?:\[[ xX]\]\s+)?")
"""What a line of a list, a heading or a quotation begins with."""
_RECORD = lazily(RECORD)
_BOLD = lazily(r"(?<![\w*/`])\*\*(?=[^\s*])([^*\n]+)(?<=\S)\*\*(?![\w*/])")
_RULED = "|:- \t"
"""Of what the line below the names of a table's columns is made (Markdown, as models write it)."""
_INTERJECTIONS = """
well oh ah um uh hmm er wow yes yeah yep ok okay so and but hi hey hello sure right alright actually anyway thanks sorry
really certainly great good fine now then look also
"""
_LEAD_INS = frozenset(_INTERJECTIONS.split())
_LEAD_PAIRS = frozenset(
    ("all right", "of course", "thank you", "excuse me", "im sorry", "i see", "i know", "no problem", "you know",
     "i mean", "good morning", "good afternoon", "good evening")
)  # fmt: skip
_PAIRED = frozenset(pair.split()[0] for pair in _LEAD_PAIRS)
_SUBJECTS = frozenset(("i", "im", "ive", "ill", "id", "we", "you", "he", "she", "they", "it", "its", "lets"))
_CLAUSE = lazily(r"[,;:—–](?=\s)|[，；：、]|\s(?=(?:and|but|or|because|which|so|und|aber|weil|et|mais|y|pero)\s)")
_SPEAKERS = "i im ive me my mine ich mir mein meine je mon yo mi"
_OWN = frozenset(_SPEAKERS.split())
"""Words by which speakers speak of themselves; a reader must know who they are."""


class Told(NamedTuple):
    """A sentence, and what it tells."""

    text: str
    tokens: int
    stems: list[str]
    """Its stems that tell something alone or together."""
    features: list[str]
    """Of FEATURES."""
    own: bool
    """Whether its speakers speak of themselves."""
    listed: bool = False
    """Whether it is of a list, a table, a heading or a quotation: mostly a detail of the sentence before it."""


def lines(text: str) -> Sequence[str]:
    """The lines of a text, one sentence each where it is of a script without spaces. Marks of lists and of what is
    written in bold are left out, and of a table the names of its columns and the marks between cells."""
    return [line for line, _ in _lines(text)]


def _lines(text: str) -> Sequence[tuple[str, bool]]:
    """The lines of a text, each with whether it is one of a list, of a table, a heading or a quotation."""
    if "```" in text or "~~~" in text:
        text = FENCE.sub("\n", text)
    if not text.isascii():
        text = _WIDE_END.sub(r"\g<0>\n", text)
    if "**" in text:
        text = _BOLD.sub(r"\1", text)
    if text[:1] in "-*>#•|123456789" or "\n" in text:
        said = text.splitlines()
        if ":" in text and (told := [line for line in said if line.strip() and not _RECORD.match(line)]):
            said = told  # beside what somebody says, lines of a log are none
        found = _rows(said) if "|" in text else [(line, False) for line in said]
        return [
            (line[mark.end() :], True) if (mark := _MARKS.match(line)) else (line, is_row) for line, is_row in found
        ]
    return ((text, False),)


def _rows(said: Sequence[str]) -> list[tuple[str, bool]]:
    """Lines, with what the cells of a table's rows say: "Ramp: 12,100"; without the names of its columns. Each with
    whether it is such a row."""
    rules = {at for at, line in enumerate(said) if "|" in line and "-" in line and not line.strip(_RULED)}
    found = []
    for at, line in enumerate(said):
        bare = line.strip()
        if at in rules or (at + 1 in rules and "|" in line):
            continue
        is_row = bare[:1] == "|" and bare[-1:] == "|"
        if is_row:
            cells = [cell.strip() for cell in bare.strip("|").split("|")]
            line = (": " if len(cells) == 2 else ", ").join(filter(None, cells))
        found.append((line, is_row))
    return found


def _ends(words: Sequence[str], flags: Sequence[int]) -> Iterator[int]:
    """The places after the last word of each sentence."""
    last = len(words) - 1
    for at in compress(range(last), flags):
        word = words[at]
        if flags[at] & SENTENCE and not (word[-1] == "." and goes_on(word, words[at + 1], words[max(at - 1, 0)])):
            yield at + 1
    yield last + 1


def _lead(words: Sequence[str], spelled: Sequence[str], at: int, end: int) -> int:
    """Where a sentence begins behind the words that only lead into it."""
    start = at
    while at < end:
        last = at
        if spelled[at] in _PAIRED and at + 1 < end and f"{spelled[at]} {spelled[at + 1]}" in _LEAD_PAIRS:
            last += 1
        elif spelled[at] not in _LEAD_INS and spelled[at]:
            break
        if words[last][-1] not in ",.!…" and (last + 1 == end or spelled[last + 1] not in _SUBJECTS):
            break
        at = last + 1
    return at if end - at >= LEAST else start


@lru_cache(maxsize=4096)
def sentences(text: str) -> tuple[Told, ...]:
    """What the sentences of an excerpt tell, those left out that tell nothing. A memo of a pure function."""
    found: list[Told] = []
    for line, listed in _lines(text):
        words = line.split()
        if not words:
            continue
        counted, spelled, stems, flags, leads, more = zip(*map(WORDS.__getitem__, words), strict=True)
        start = 0
        for end in _ends(words, flags):
            cues: dict[str, None] = {}
            if spelled[start] in BEGINNINGS:
                begin(spelled, start, cues)
            begins = _lead(words, spelled, start, end)
            stemmed = [*filter(None, stems[begins:end])]
            telling = dict.fromkeys(filter(CLASSES.__getitem__, stemmed))
            named = 0
            for at in compress(range(begins, end), flags[begins:end]):
                flag = flags[at]
                named |= flag & NAMED or (flag & CAPITAL and at > begins)
                if flag & SAYS:
                    follow(ANYWHERE, spelled, at, cues)
                if flag & MORE:
                    telling.update(dict.fromkeys(filter(CLASSES.__getitem__, more[at][1])))
            for at in compress(range(begins, end - 1), leads[begins:end]):
                if spelled[at + 1] in leads[at]:
                    follow(ANYWHERE, spelled, at, cues)
            tokens = sum(counted[begins:end])
            if named or (tokens >= LEAST and stemmed):
                said = " ".join(words[begins:end])
                own = not _OWN.isdisjoint(spelled[begins:end])
                features = [LENGTHS[tokens // 3 if tokens < LONG else -1], TELLS[min(len(telling), 4)]]
                if own:
                    features.append("own")
                if named:
                    features.append("named")
                if not found and not start:
                    features.append("leads")
                if words[end - 1][-1] in "?？":
                    features.append("asks")
                if "," in said:
                    features.append("commas")
                features += filter(QUOTED_CUES.__contains__, cues)
                if tokens > LONGEST:
                    said, tokens = within(said, LONGEST), LONGEST
                found.append(Told(said, tokens, [*telling][:MAX_STEMS], features, own, listed))
            if len(found) == MAX_SENTENCES:
                return tuple(found)
            start = end
    return tuple(found)


def within(sentence: str, most: int) -> str:
    """A sentence of at most `most` tokens; a longer one ends at the last clause that fits, or else at a word."""
    words = sentence.split()
    if sum([WORDS[word][0] for word in words]) <= most:
        return sentence
    left, kept = most - 1, 0
    for word in words:
        left -= WORDS[word][0]
        if left < 0:
            break
        kept += 1
    head = " ".join(words[:kept]) or words[0][: most * 3 // 2]
    ends = [found.start() for found in _CLAUSE.finditer(head) if found.start() >= len(head) // 3]
    return (head[: ends[-1]] if ends else head).rstrip(OPEN) + " …"


def excerpt(content: str, most: int) -> str:
    """The whole sentences at the beginning of a text, and at the end of a long one, in about `most` bytes.

    A sentence that is longer itself ends at a word, with an ellipsis. Why bytes: records are bounded by them, and a
    text with a dash or an umlaut in it is no longer than another.
    """
    if _fits(content, most):
        return content
    head, tail = first_bytes(content[:most], most * 2 // 3), last_bytes(content[-most:], most // 3)
    stop = max(map(head.rfind, STOPS))
    begins = [at for mark in STOPS if (at := tail.find(mark)) >= 0]
    head = head[: stop + 1] if len(head[: max(stop, 0)].encode()) > most // 4 else beginning(content, len(head))
    return f"{head}\n{tail[min(begins) + 1 :].lstrip()}" if begins else head


def _fits(content: str, most: int) -> bool:
    """Whether a text takes `most` bytes of UTF-8 at most."""
    return len(content) <= most and (content.isascii() or len(content.encode()) <= most)


def beginning(content: str, most: int) -> str:
    """A text of at most `most` characters; of a longer one so many of its beginning at most, to the end of a word where
    one ends late enough, and an ellipsis."""
    if len(content) <= most:
        return content
    word = max(content.rfind(" ", 0, most + 1), content.rfind("\n", 0, most + 1))
    return content[: word if word > most // 4 else most].rstrip(OPEN) + _MORE


def shortened(text: str, most: int) -> str:
    """A text in one line, of at most `most` bytes: of a longer one its beginning, to the end of a word, and an
    ellipsis."""
    text = " ".join(text.split())
    return text if _fits(text, most) else beginning(text, len(first_bytes(text[:most], most - len(_MORE.encode()))))


_MORE = " …"
OPEN = " ,;:—–，；：、"
"""What stands before no ellipsis."""
STOPS = (". ", "! ", "? ", "\n", "。", "！", "？")
