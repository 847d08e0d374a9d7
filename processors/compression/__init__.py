"""Compression: what the earlier part of a long session came to, so that its last turns and this are enough to go on.

    over 40 turns, the head of the session is compressed and the last 12 stay as they are; at least 16 turns at once

Each compression covers the session from its first turn, and is told as one event: topics with their turns, names,
decisions, what is to be done, the tone, two or three paragraphs of sentences that were said, and a transcript of 4,000
characters, of the lines that tell most, for a model that would write it anew. It is told by its last turn: the same
head is never compressed twice, and each one is made of the one before and the turns that came to it, so that the
thousandth turn costs what the fiftieth costs. What a model wrote of the same turns is told
in its place.

Of a turn that is taken back nothing stays: not its words, names or tone, nor its count. Where it lies in the head, that
is told anew without it, and what a model writes of it is not taken until it has grown: it may have read that turn.

    worth of a sentence = points for what it tells (see manifest/summary), more for what several turns come back to,
                          for a decision and for what is to be done

Adaptive, where it is asked for: turns count by their tokens, so that long ones are compressed sooner and fewer of them
kept; and what is compressed ends where the talk turns to another topic. Source: session compression, Aurora report.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import compress
from typing import Any

from processors.compression.events import SessionCompressed
from processors.compression.head import (
    Head,
    Topics,
    absorb,
    forget,
    less,
    most,
    paragraphs,
    promises,
    told,
    transcript,
)
from processors.compression.jobs import JOBS
from processors.compression.section import PAST
from processors.compression.tone import tone
from processors.manifest import SegmentConcluded, SegmentOpened
from processors.manifest.summary import KEEPING, MOST_TERMS, Quoting
from streams.core.events import SummaryWritten, TurnRecorded, TurnRetracted
from streams.core.params import param
from streams.core.processor import Derived, Processor, Raw, State, on
from streams.core.read_model import Keep, read_model
from streams.core.recent import enter
from streams.core.text.commonness import CLASSES
from streams.core.text.telling import excerpt
from streams.core.text.within import clip

AURORA = "the Aurora report"


class CompressionParams(Quoting):
    """When a session is compressed, and to how much."""

    over: int = param(40, "turns", "a session this short is read whole", AURORA, ge=2, le=400)
    keep: int = param(12, "turns", "the last ones stay as they were said", AURORA, ge=1, le=200)
    least: int = param(16, "turns", "compressed at once: a few more turns change little of what it says", AURORA, ge=4)
    adaptive: bool = param(
        False, "yes or no", "turns count by their tokens, and blocks end where the topic shifts", AURORA
    )
    usual: int = param(
        40, "tokens", "of a turn that counts as one where it is adaptive; half to two by its tokens", ge=1
    )
    most: int = param(200, "tokens", "of the paragraphs: three of about four sentences", AURORA, ge=20, le=800)
    transcript: int = param(4000, "characters", "what a model reads of the head at once", AURORA, ge=200, le=8000)
    listed: int = param(8, "lines", "decisions, and as many actions", ge=0, le=24)
    decided: int = param(12, "points", "a decision tells more than the talk that led to it", ge=0)
    does: int = param(8, "points", "the same of what is to be done", ge=0)

    @property
    def first(self) -> int:
        """Turns compressed when a session is first too long."""
        return max(self.over + 1 - self.keep, self.least)


KEPT, KEEPS, WORDS, NAMES, SPEAKER = 3, 200, 12, 12, 40
"""Of a block: turns of which sentences may be quoted, characters and words of each; names; characters of a
speaker."""
CONCLUDED, CONCLUSION = 3, 240
"""Of a block: conclusions, the newest, and characters of each."""
PROMISE = KEEPING["decision"]
"""What it says for keeping a turn that it may say what somebody is to do."""
TALK = ("user", "assistant")
LONG_AGO = 2**53
"""The number in its session of a turn that is none of the last: in no block that waits, and nobody knows what it counts
for."""


@dataclass(slots=True)
class Block:
    """State: turns that are to be compressed together: at `open/<session>` while it grows, at `full/<session>/<number>`
    while it waits."""

    number: int = 0
    before: int = 0
    """Turns of the session before it."""
    said: float = 0.0
    """Turns of the session until its end; by their tokens where it is adaptive."""
    since: float = 0.0
    """`said` at its beginning."""
    waiting: list[list[float]] = field(default_factory=list)
    """Of the one that grows: the full blocks, each with its number and `said`."""
    first: str = ""
    last: str = ""
    turns: int = 0
    gone: int = 0
    """Of these, how many were taken back."""
    tokens: int = 0
    kept: list[list[Any]] = field(default_factory=list)
    """The turns that tell most: points, number in the session, turn, speaker, excerpt, words."""
    concluded: list[list[str]] = field(default_factory=list)
    """What was concluded: turn, conclusion, and the turn that it quotes."""
    shift: bool = False
    """Of the one that grows: whether the next turn begins something else."""
    bar: int = 1
    """What a turn must tell more than to be kept."""
    names: dict[str, int] = field(default_factory=dict)
    tone: list[int] = field(default_factory=lambda: [0, 0])
    """Turns with a positive, and with a negative tone."""


@dataclass(slots=True)
class Said:
    """State, `said/<turn>`: what one of the last turns of a space counts for, so that it can be taken off again."""

    session: str
    number: int
    """In its session, from 1."""
    tokens: int
    names: list[str] = field(default_factory=list)
    tone: int = 0
    """1 positive, -1 negative, 0 neither."""
    words: list[str] = field(default_factory=list)
    """Those that it gave to a part of the head."""


def _turn(params: CompressionParams, state: State, turn: TurnRecorded, raw: Raw[TurnRecorded]) -> Sequence[Derived]:
    """Gathers a turn; compresses the oldest block where enough was said since."""
    key = f"open/{turn.session}"
    block = state.get(key, Block)
    if block is None:
        block = Block()
    elif _full(params, block):
        state.put(f"full/{turn.session}/{block.number}", block)
        waiting, block.waiting = [*block.waiting, [block.number, block.said]], []
        block = Block(block.number + 1, block.before + block.turns, block.said, block.said, waiting)
    state.put(f"said/{turn.id}", _gather(params, block, turn, raw))
    if gone := enter(state, turn.id):
        state.delete(f"said/{gone}")
    waiting = block.waiting
    due = bool(waiting) and block.said > params.over and block.said - waiting[0][1] >= params.keep
    number = int(waiting.pop(0)[0]) if due else -1
    state.put(key, block)
    return _compress(params, state, turn, number) if due else ()


def _full(params: CompressionParams, block: Block) -> bool:
    size, enough = block.said - block.since, params.least if block.number else params.first
    if not params.adaptive or size < enough:
        return size >= enough
    return size >= 1.5 * enough or block.shift


def _shifted(
    params: CompressionParams, state: State, opened: SegmentOpened, raw: Raw[TurnRecorded]
) -> Sequence[Derived]:
    """The turn that comes now begins something else; only an adaptive block asks for it."""
    block = state.get(f"open/{opened.session}", Block) if params.adaptive else None
    if block is not None:
        block.shift = True
        state.put(f"open/{opened.session}", block)
    return ()


def _concluded(params: CompressionParams, state: State, segment: SegmentConcluded, raw: Raw[Any]) -> Sequence[Derived]:
    """What a segment came to is a decision of the head, whatever its words."""
    key = f"open/{segment.session}"
    block = state.get(key, Block) or Block()
    block.concluded = [*block.concluded, [segment.turn, segment.conclusion[:CONCLUSION], segment.quotes]][-CONCLUDED:]
    state.put(key, block)
    return ()


def _gather(params: CompressionParams, block: Block, turn: TurnRecorded, raw: Raw[TurnRecorded]) -> Said:
    """Adds a turn to a block; what it counts for there."""
    text = raw.text
    block.shift = False
    block.first = block.first or turn.id
    block.last = turn.id
    block.turns += 1
    block.tokens += text.tokens
    block.said += min(2.0, max(0.5, text.tokens / params.usual)) if params.adaptive else 1
    said = Said(turn.session, block.before + block.turns, text.tokens)
    if turn.role not in TALK:
        return said
    speaker = (turn.agent or turn.role)[:SPEAKER]
    names = block.names
    for name in (speaker, *text.names) if text.names else (speaker,):
        if name in names:
            names[name] += 1
        elif len(names) < NAMES and len(name) <= SPEAKER:
            names[name] = 1
        else:
            continue
        said.names.append(name)
    if sound := tone(text):
        block.tone[sound < 0] += 1
        said.tone = sound
    worth = min(len(text.terms), MOST_TERMS)
    for cue in text.cues:
        worth += KEEPING.get(cue, 0)
    # Why not at once: few turns come near, and only of these it has to be known.
    if worth + PROMISE > block.bar and worth > 1 and promises(turn.content):
        worth += PROMISE
    if worth <= block.bar:
        return said
    kept = block.kept
    if len(kept) == KEPT:
        kept.remove(min(kept))
    forms = [*compress(text.forms, map(CLASSES.__getitem__, text.terms))][:WORDS]
    kept.append([worth, block.before + block.turns, turn.id, speaker, excerpt(turn.content, KEEPS), forms])
    if len(kept) == KEPT:
        block.bar = min(kept)[0]
    return said


def _head(state: State, session: str) -> tuple[Head | None, Topics | None]:
    """What was compressed of a session, and its parts."""
    return state.get(f"head/{session}/head", Head), state.get(f"topics/{session}/head", Topics)


def _keep(state: State, session: str, head: Head, topics: Topics) -> None:
    state.put(f"head/{session}/head", head)
    state.put(f"topics/{session}/head", topics)


def _compress(params: CompressionParams, state: State, turn: TurnRecorded, number: int) -> list[Derived]:
    """The head grows by the oldest block that waits."""
    key, session = f"full/{turn.session}/{number}", turn.session
    block = state.get(key, Block)
    assert block is not None
    state.delete(key)
    head, topics = _head(state, session)
    head, topics = head or Head(), topics or Topics()
    absorb(params, head, topics, block)
    for _, _, kept, _, _, words in block.kept:
        said = state.get(f"said/{kept}", Said)
        if said is not None:
            said.words = [*dict.fromkeys(words)]
            state.put(f"said/{kept}", said)
    _keep(state, session, head, topics)
    return [_event(params, turn, head, topics)]


def _retracted(
    params: CompressionParams, state: State, fact: TurnRetracted, raw: Raw[TurnRetracted]
) -> Sequence[Derived]:
    """Nothing stays of a retracted turn; where it lies in the head, that is told anew without it. Of one of long ago
    nothing is quoted, but it stays counted."""
    turn = fact.turn
    said = state.get(f"said/{turn}", Said) or Said(fact.session, LONG_AGO, 0)
    session = said.session
    block = state.get(f"open/{session}", Block)
    if block is None:
        return ()
    state.delete(f"said/{turn}")
    for key in (f"open/{session}", *(f"full/{session}/{int(number)}" for number, _ in block.waiting)):
        block = state.get(key, Block)
        if block is not None and _take_off(block, turn, said):
            state.put(key, block)
    head, topics = _head(state, session)
    if head is None or topics is None or not forget(head, topics, turn, said):
        return ()
    _keep(state, session, head, topics)
    return [_event(params, replace(fact, session=session), head, topics)]


def _take_off(block: Block, turn: str, said: Said) -> bool:
    """A block no longer counts what it has of a turn; whether it had anything."""
    concluded = [one for one in block.concluded if turn not in (one[0], one[2])]
    kept = [one for one in block.kept if one[2] != turn]
    mine = block.before < said.number <= block.before + block.turns
    if not mine and (len(concluded), len(kept)) == (len(block.concluded), len(block.kept)):
        return False
    block.concluded, block.kept = concluded, kept
    if mine:
        block.gone += 1
        block.tokens -= said.tokens
        block.names = less(block.names, said.names)
        if said.tone:
            block.tone[said.tone < 0] -= 1
    return True


def _written(
    params: CompressionParams, state: State, fact: SummaryWritten, raw: Raw[SummaryWritten]
) -> Sequence[Derived]:
    """A model's words for just this head take the place of what was picked, until it grows or a turn of it is taken
    back; then none are taken until it grows."""
    head, topics = _head(state, fact.session)
    text = clip(" ".join(fact.text.split()), params.most)
    if not text or head is None or topics is None or head.lacks:
        return ()
    if (topics.rows[0][0], topics.rows[-1][1]) != (fact.first_turn, fact.last_turn):
        return ()
    event = replace(_event(params, fact, head, topics), text=text, model=fact.model[:SPEAKER])
    for lines, turns, given in (
        (event.decisions, event.decision_turns, fact.decisions),
        (event.actions, event.action_turns, fact.actions),
    ):
        if given:
            lines[:] = [clip(" ".join(line.split()), WRITTEN) for line in given[: params.listed]]
            turns[:] = [""] * len(lines)
    event.tone = fact.tone[:SPEAKER] or event.tone
    return [event]


WRITTEN = 60
"""Tokens kept of each decision and action that a model wrote."""


def _event(
    params: CompressionParams, cause: TurnRecorded | TurnRetracted | SummaryWritten, head: Head, topics: Topics
) -> SessionCompressed:
    best = sorted(head.lines, reverse=True)
    decisions, actions = told(best, "decision", params.listed), told(best, "action", params.listed)
    rows = topics.rows
    return SessionCompressed(
        cause.space, cause.session, cause.at, rows[0][0], rows[-1][1], head.turns, head.tokens,
        [", ".join(row[3]) for row in rows], [row[0] for row in rows], [row[1] for row in rows],
        [*most(head.names, NAMES)], [text for _, text in decisions], [turn for turn, _ in decisions],
        [text for _, text in actions], [turn for turn, _ in actions],
        _tone(head), paragraphs(best, params.most), transcript(best, params.transcript), "",
    )  # fmt: skip


def _tone(head: Head) -> str:
    """The tone of the head, by its turns that have one: neutral where they are few, or as many of either."""
    positive, negative = head.tone
    some = positive + negative
    if some < max(2, head.turns // 20) or abs(positive - negative) * 4 <= some:
        return "neutral"
    clear = abs(positive - negative) * 4 >= 3 * some
    return ("" if clear else "rather ") + ("positive" if positive > negative else "negative")


PROCESSOR = Processor(
    name="compression",
    version=5,
    params=CompressionParams,
    takes=(
        on(SegmentOpened, _shifted),
        on(SegmentConcluded, _concluded),
        on(TurnRecorded, _turn),
        on(TurnRetracted, _retracted),
        on(SummaryWritten, _written),
    ),
    emits=(SessionCompressed,),
    reads=("turns", "manifest"),
    read_model=read_model(
        __package__, jobs=JOBS, sections=(PAST,), keeps=(Keep(SessionCompressed, ("session",), "compressions"),)
    ),
)
