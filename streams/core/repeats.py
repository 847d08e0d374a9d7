"""What was said before in a space, when it stands in a turn again.

People and tools paste transcripts. Their words were heard when they were said: whoever took them for something that is
said now would note, conclude and believe the same thing again. So processors are not given them; the log, and what is
shown of it, keep the turn as it was recorded.

A transcript is known by what it holds: lines that two or more earlier turns were the first to say, WHOLE of the turn
each, ENOUGH characters together, each alone in its line or behind who said it ("ann: ", "> ", "[09:30] bot: "). They
are left out, and with them what one of those says between them, and the short lines below them. A message that is sent
again has the lines of one earlier turn, and stays; so does a list of which some lines were said before, and an own
line below a transcript that names its speakers.

What was said is remembered as three numbers a line, in one of SLOTS places, of two that its checksum tells; where both
are taken, it takes the place of an earlier one. So a space keeps no more than that, and most lines of its last
thousands of turns.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from zlib import crc32

from streams.core.events import TurnRecorded
from streams.core.patterns import lazily
from streams.core.processor import State

ENOUGH = 80
"""Characters of earlier turns that tell a transcript: two short lines may stand in any turn by chance."""
WHOLE = 0.75
"""Of the lines of a turn: some may not be remembered any more, or were said before it."""
SHORT, LONG = 12, 16_000
"""Characters of the shortest line that is known again, and of the longest."""
KEPT, LOOKED = 32, 1024
"""Lines of a turn that are remembered; lines of one that are looked for: bounded work."""
SLOTS = 16_384
VERSION = 1
NAMED = 80
"""Characters at the beginning of a line that may say who said what follows."""
_MARGIN = lazily(r"[\s>|]*")
_BEHIND = lazily(r"[:\])>][*\s]+")


@dataclass(slots=True)
class Said:
    """Record of a line, `said/<slot>`: checksums of it and of the id of the turn that said it first, whose lines are
    so many."""

    line: int
    turn: int
    lines: int


def news(state: State, turn: TurnRecorded) -> str:
    """A turn's words without those of transcripts in it: the same object where there are none. Remembers the others."""
    found = turn.content
    if len(found) > ENOUGH and "\n" in found:
        found = _without(state, found)
    lines = [line for said in found.split("\n", KEPT)[:KEPT] if SHORT <= len(line := said.strip()) <= LONG]
    for line in lines:
        whole = _sum(line)
        first, second = _places(whole)
        said, other = state.get(first, Said), state.get(second, Said)
        if (said is None or said.line != whole) and (other is None or other.line != whole):
            free = second if said is not None and other is None else first
            state.put(free, Said(whole, _sum(turn.id), len(lines)))
    return found


def _sum(text: str) -> int:
    return crc32(text.encode(errors="replace"))


def _places(whole: int) -> tuple[str, str]:
    """Where a line may be remembered. Why two: few are lost before most places are taken."""
    return f"said/{whole % SLOTS}", f"said/{whole // SLOTS % SLOTS}"


def _known(state: State, whole: int) -> Said | None:
    for key in _places(whole):
        said = state.get(key, Said)
        if said is not None and said.line == whole:
            return said
    return None


def _heard(state: State, line: str) -> tuple[int, Said] | None:
    """Where in a line an earlier one begins that goes on to its end, and what is known of that."""
    for start in _starts(line):
        rest = line[start:].rstrip()
        if not SHORT <= len(rest) <= LONG:
            return None
        if said := _known(state, _sum(rest)):
            return start, said
    return None


def _starts(line: str) -> Iterator[int]:
    """Where what was said may begin: behind a margin, and behind each of the first words that may say who did."""
    margin = _MARGIN.match(line)
    start = margin.end() if margin else 0
    yield start
    for more in _BEHIND.finditer(line, start, start + NAMED):
        yield more.end()


def _without(state: State, content: str) -> str:
    lines = content.split("\n")
    heard = {n: found for n, line in enumerate(lines[:LOOKED]) if (found := _heard(state, line))}
    turns = Counter(said.turn for said in {said.line: said for _, said in heard.values()}.values())
    heard = {n: found for n, found in heard.items() if turns[found[1].turn] >= WHOLE * found[1].lines}
    if len({said.turn for _, said in heard.values()}) < 2:
        return content
    if sum({said.line: len(lines[n]) - start for n, (start, said) in heard.items()}.values()) < ENOUGH:
        return content
    who = tuple({before for n, (start, _) in heard.items() if (before := lines[n][:start].strip())})
    first, last = min(heard), max(heard)
    kept: list[str] = []
    told = False
    for n, line in enumerate(lines):
        named = n <= last and line.strip().startswith(who)
        below = told and 0 < len(line.strip()) < SHORT
        told = (named or told or not who) if n in heard else ((named and n > first) or below)
        if not told:
            kept.append(line)
    return "\n".join(kept).strip()
