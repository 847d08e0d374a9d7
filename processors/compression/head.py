"""What is kept of a session's head: the lines that tell most, and the words of its parts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

import orjson

from processors.manifest.summary import spoken
from streams.core.patterns import lazily
from streams.core.text.telling import Told
from streams.core.text.terms import tokens

if TYPE_CHECKING:
    from processors.compression import Block, CompressionParams, Said

SIZE = 5_600
"""Bytes of the lines that are kept: records stay below 8 KB."""
PARTS, PART_WORDS = 10, 12
"""Parts of a head, and the words kept of each."""
NAMES = 16
PARAGRAPHS = 3
POINTS, NUMBER, TURN, SPEAKER, TEXT, OWN, KIND, TOKENS, BYTES = range(9)
"""What a line has: its points; the number of its turn in the session, the turn, who said it; the words, and whether
their speaker speaks of himself; decision, action or ""; tokens; bytes."""
_DOES = lazily(
    r"\b(?:I|we|you|they|he|she|[A-Z]\w+)"
    r"(?:['’]ll| (?:will|shall|should|must|have to|has to|need to|needs to|ought to))"
    r" (?!be\b|not\b|never\b|see\b|know\b|say\b|think\b)\w+"
    r"|\b(?:please|remember to|make sure|don['’]t forget|action items?|to-?do|next steps?|deadline|let['’]s)\b"
    r"|\b(?:ich|wir|sie|ihr) (?:werden?|muss|müssen|sollten?) \w+|\b(?:bitte|nächste schritte)\b"
    r"|\b(?:je vais|nous allons|on va|il faut|on doit|nous devons|vous devez|veuillez)\b"
    r"|\b(?:voy a|vamos a|hay que|tenemos que|tienes que|debes|debemos|por favor)\b",
    re.IGNORECASE,
)
"""What somebody is to do, in a sentence that does not ask."""
_CALLS = """
will shall should must have has need needs ought please remember make don't action next deadline
let's todo werde werden muss müssen sollte sollten bitte nächste vais allons va faut doit devons devez veuillez voy
vamos hay tenemos tienes debes debemos favor
"""
_CALLING = frozenset(form for word in _CALLS.split() for form in (word, word.capitalize()))
"""Words without one of which nothing is."""
_PROMISES = lazily("will |ll |need to|should |must |werde|muss|faut |devons |hay que")
"""Parts of a turn that may say what somebody is to do."""
READS = 1_000
"""Characters of a turn in which they are looked for."""


@dataclass(slots=True)
class Head:
    """State, `head/<session>/head`: what was compressed so far.

    Why a name of its own: what has one name is written together (streams/runtime/kafka/state), and this rarely changes.
    """

    turns: int = 0
    """Those that stand."""
    tokens: int = 0
    lines: list[list[Any]] = field(default_factory=list)
    """In order."""
    names: dict[str, int] = field(default_factory=dict)
    tone: list[int] = field(default_factory=lambda: [0, 0])
    lacks: bool = False
    """Whether a turn of it was taken back since it grew."""


@dataclass(slots=True)
class Topics:
    """State, `topics/<session>/head`: the parts of the head, in order."""

    rows: list[list[Any]] = field(default_factory=list)
    """First turn, last turn, turns (also those taken back), words with how often each was used."""


def absorb(params: CompressionParams, head: Head, topics: Topics, block: Block) -> None:
    """Adds a block to a head."""
    head.lacks = False
    head.turns += block.turns - block.gone
    head.tokens += block.tokens
    head.tone = [one + other for one, other in zip(head.tone, block.tone, strict=True)]
    head.names = most(_both(head.names, block.names), NAMES)
    words: dict[str, int] = {}
    for *_, forms in block.kept:
        words = _both(words, dict.fromkeys(forms, 1))
    topics.rows.append([block.first, block.last, block.turns, most(words, PART_WORDS)])
    if len(topics.rows) > PARTS:
        _join(topics.rows)
    head.lines += _lines(params, block)
    excess = sum([line[BYTES] for line in head.lines]) - SIZE
    # Why the older ones first among equals: what was said last is what the talk goes on from.
    for line in sorted(head.lines) if excess > 0 else ():
        if excess <= 0:
            break
        head.lines.remove(line)
        excess -= line[BYTES]


def forget(head: Head, topics: Topics, turn: str, said: Said) -> bool:
    """A head no longer counts what it has of a turn; whether it had anything."""
    left = [line for line in head.lines if line[TURN] != turn]
    until = 0
    for row in topics.rows:
        until += row[2]
        if said.number <= until:
            row[3] = less(row[3], said.words)
            head.turns -= 1
            head.tokens -= said.tokens
            head.names = less(head.names, said.names)
            if said.tone:
                head.tone[said.tone < 0] -= 1
            break
    else:
        if len(left) == len(head.lines):
            return False
    head.lines, head.lacks = left, True
    return True


def told(best: Sequence[list[Any]], kind: str, most: int) -> list[tuple[str, str]]:
    """The best lines of a kind, in order: turn and words."""
    found = [line for line in best if line[KIND] == kind][:most]
    return [(line[TURN], line[TEXT]) for line in sorted(found, key=_number)]


def paragraphs(best: Sequence[list[Any]], most: int) -> str:
    """The lines of most worth within so many tokens, in order, as paragraphs."""
    chosen = []
    for line in best:
        if line[TOKENS] <= most:
            most -= line[TOKENS]
            chosen.append(line)
    chosen.sort(key=_number)
    size = -(-len(chosen) // PARAGRAPHS)
    parts = [chosen[at : at + size] for at in range(0, len(chosen), max(size, 1))]
    return "\n\n".join(spoken((line[SPEAKER], line[OWN], line[TEXT]) for line in part) for part in parts)


def transcript(best: Sequence[list[Any]], most: int) -> str:
    """The lines of most worth within so many characters, in order, each with who said it."""
    lines = []
    for line in best:
        most -= len(line[SPEAKER]) + len(line[TEXT]) + 3
        if most < -1:
            break
        lines.append(line)
    return "\n".join([f"{line[SPEAKER]}: {line[TEXT]}" for line in sorted(lines, key=_number)])


def _number(line: list[Any]) -> int:
    return int(line[NUMBER])


def _lines(params: CompressionParams, block: Block) -> Iterator[list[Any]]:
    """The sentences of a block's turns that tell most, with their points."""
    kept = sorted(block.kept, key=_number)
    read = [params.scored(one[4]) for one in kept]
    used = Counter[str]()
    for said in read:
        used.update({stem for _, told in said for stem in told.stems})
    for turn, conclusion, _ in block.concluded:
        worth = params.decided + max(params.worth.values())
        size = tokens(conclusion)
        yield _sized([worth, block.before + block.turns, turn, "concluded", conclusion, False, "decision", size])
    repeats = (0, params.worth["repeats one"], params.worth["repeats more"])
    for (_, number, turn, speaker, *_), said in zip(kept, read, strict=True):
        for points, told in said:
            kind = _kind(told)
            points += repeats[min(2, sum([used[stem] > 1 for stem in told.stems]))]
            points += params.decided if kind == "decision" else params.does if kind else 0
            if told.stems and points > 0:
                yield _sized([points, number, turn, speaker, told.text, told.own, kind, told.tokens])


def _sized(line: list[Any]) -> list[Any]:
    return [*line, len(orjson.dumps(line)) + 4]


def promises(content: str) -> bool:
    """Whether a turn may say what somebody is to do: sentences are read of few turns, and these are among them."""
    return _PROMISES.search(content, 0, READS) is not None


def _kind(told: Told) -> str:
    if "asks" in told.features:
        return ""
    if "decision" in told.features:
        return "decision"
    called = not _CALLING.isdisjoint(told.text.split()) or "'ll " in told.text or "’ll " in told.text
    return "action" if called and _DOES.search(told.text) else ""


def _join(rows: list[list[Any]]) -> None:
    """Makes one of the two neighbours that have the fewest turns together."""
    at = min(range(len(rows) - 1), key=lambda at: int(rows[at][2] + rows[at + 1][2]))
    one, other = rows[at], rows[at + 1]
    rows[at : at + 2] = [[one[0], other[1], one[2] + other[2], most(_both(one[3], other[3]), PART_WORDS)]]


def _both(one: dict[str, int], other: dict[str, int]) -> dict[str, int]:
    found = {**one}
    for word, count in other.items():
        found[word] = found.get(word, 0) + count
    return found


def less(counts: dict[str, int], words: Sequence[str]) -> dict[str, int]:
    """What is left of counts once some words count once less."""
    found = {**counts}
    for word in words:
        if word in found:
            found[word] -= 1
    return {word: count for word, count in found.items() if count > 0}


N = TypeVar("N", int, float)


def most(counts: dict[str, N], top: int) -> dict[str, N]:
    return {word: counts[word] for word in sorted(counts, key=counts.__getitem__, reverse=True)[:top]}
