"""What the working context puts into a context: its open efforts, and the conclusions that are still referred to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from processors.open_efforts import EffortConcluded, EffortOpened, EffortProgressed, EffortRated, EffortResumed
from processors.working_context.events import ContextScored
from processors.working_context.params import WorkingContextParams
from processors.working_context.scoring import MODES
from streams.core.dataclasses import dataclass
from streams.core.events import iso
from streams.core.params import Params, param
from streams.core.section import Ask, Piece, Reader, Section
from streams.core.text.within import clip, cost

CCM = "Cognitive Context Management"
QUOTED = 100
"""Turns of an effort that its summary may quote, the newest: what is looked at of a longer one."""


class EntriesParams(Params):
    """How the efforts in context are shown."""

    topic: int = param(48, "tokens", "a heading is a line", ge=8)
    summary: int = param(120, "tokens", "a summary tells what an effort is about, its turns the rest", CCM, ge=8)
    turns: int = param(40, "turns", "read of an expanded effort, the newest: more would not fit", ge=0, le=200)
    raw: float = param(0.5, "factor", "of an effort's relevance: its newest turn is worth half its summary", ge=0, le=1)
    fade: float = param(0.95, "factor per turn", "older turns serve less: the 14th half as much", gt=0, le=1)


class FiguresParams(Params):
    """Of which turns ids, dates and amounts are told."""

    topic: int = param(12, "tokens", "enough to tell efforts apart", ge=3)
    turns: int = param(
        40, "turns", "of an effort, the newest: what is older was told again where it still counts", ge=1
    )


class ConcludedParams(Params):
    """How conclusions are shown."""

    line: int = param(64, "tokens", "what was concluded is a sentence or two", ge=8)
    recalled: float = param(0.9, "worth", "a turn named it just now", ge=0, le=1)
    kept: float = param(0.5, "worth", "concluded lately, and perhaps still referred to", ge=0, le=1)


@dataclass(slots=True)
class _Effort:
    """An entry, with what is said of its effort."""

    effort: str
    mode: str
    score: float
    signals: str
    similarity: float
    recency: float
    idle: int
    topic: str = ""
    status: str = "open"
    importance: str = "normal"
    summary: str = ""
    conclusion: str = ""

    def told(self) -> dict[str, Any]:
        """Its fields for JSON."""
        return {name: getattr(self, name) for name in self.__slots__} | {"signals": self.signals.split()}


def _read(ask: Ask, read: Reader, open_ones: bool) -> list[_Effort]:
    scored = read.kept(ContextScored, [ask.session]).get(ask.session)
    if scored is None:
        return []
    columns = (
        scored.efforts, scored.modes, scored.scores, scored.signals, scored.similarities, scored.recencies, scored.idle,
    )  # fmt: skip
    listed = [_Effort(*row) for row in zip(*columns, strict=True)]
    ids = [one.effort for one in listed]
    opened, progressed = read.kept(EffortOpened, ids), read.kept(EffortProgressed, ids)
    over, rated = read.kept(EffortConcluded, ids, EffortResumed), read.kept(EffortRated, ids)
    for one in listed:
        if one.effort in opened:
            first = opened[one.effort]
            stands = (
                first.reason == "declared" or one.effort in progressed or read.members("efforts", one.effort, 1).size
            )
            one.topic = first.topic if stands else ""
        if one.effort in progressed:
            last = progressed[one.effort]
            one.topic, one.summary = last.topic, last.summary
        if one.effort in rated:
            one.importance = rated[one.effort].importance
        if one.effort in over:
            one.status, done = "concluded", over[one.effort]
            one.conclusion = done.conclusion if not done.quotes or read.turns([done.quotes]) else ""
        if one.status == "concluded" and one.mode in MODES:
            one.mode = "concluded"  # in another session: this one notices at its next turn
    return [one for one in listed if (one.mode in MODES) is open_ones]


def entries(params: WorkingContextParams, own: EntriesParams, ask: Ask, read: Reader) -> Iterator[Piece]:
    """Open efforts, most relevant first: a heading and a summary, then the newest turns of those that are expanded."""
    for rank, one in enumerate(_read(ask, read, True)):
        members = read.members("efforts", one.effort, max(own.turns, 1) if one.mode == "expanded" else 1)
        newest = sorted(read.turns(members.newest).values(), key=lambda turn: turn.position)
        last_turn, last_at = (newest[-1].id, newest[-1].at) if newest else ("", 0)
        told = one.told() | {
            "turn_count": members.size, "first_turn": members.first, "last_turn": last_turn, "show": one.effort,
        }  # fmt: skip
        yield Piece(
            one.effort, one.signals or "in context", one.score, _heading(own, one, members.size, last_at),
            quotes=_quoted(one, read), needed=rank == 0, data=told,
        )  # fmt: skip
        shown = newest[-own.turns :] if one.mode == "expanded" and own.turns else []
        worth, fade = one.score * own.raw, own.fade
        for age, turn in zip(range(len(shown) - 1, -1, -1), shown, strict=True):
            yield Piece("", "a turn of it", worth * fade**age, turn=turn.position, under=one.effort)


def figures(params: WorkingContextParams, own: FiguresParams, ask: Ask, read: Reader) -> Iterator[Piece]:
    """The ids, dates and amounts that were told of each open effort, for the next call or answer."""
    for one in _read(ask, read, True):
        newest = read.turns(read.members("efforts", one.effort, own.turns).newest)
        if told := sorted((turn.position for turn in newest.values() if turn.digits), reverse=True):
            yield Piece(
                f"{one.effort} figures", "said of an effort in context", one.score,
                f"- {_topic(one, own.topic)}:", figures=told, needed=True,
            )  # fmt: skip


def _quoted(one: _Effort, read: Reader) -> Sequence[str]:
    """The turns whose sentences its topic, summary or conclusion may quote."""
    return read.members("efforts", one.effort, QUOTED).newest if one.topic or one.summary or one.conclusion else ()


def _heading(own: EntriesParams, one: _Effort, count: int, last_at: int) -> str:
    facts = [f"{count} turn{'s' * (count != 1)}"]
    if last_at:
        facts.append(f"last on {iso(last_at)[:10]}")
    if one.importance == "high":
        facts.append("important")
    heading = f"### {_topic(one, own.topic)} ({', '.join(facts)}) [{one.effort}]"
    summary = _summary(one.summary, own.summary)
    return f"{heading}\n{summary}" if summary else heading


def _topic(one: _Effort, limit: int) -> str:
    return clip(" ".join(one.topic.split()), limit) or "untitled"


def _summary(text: str, limit: int) -> str:
    """A summary within `limit`: where not all of it fits, its first line, which says what it is about, and its newest.

    An effort's summary has a line for each segment, the oldest first.
    """
    lines = list(dict.fromkeys(line.strip() for line in text.splitlines() if line.strip()))
    if len(lines) < 2 or sum(map(cost, lines)) <= limit:
        return clip("\n".join(lines), limit)
    first = clip(lines[0], limit // 2)
    room, newest = limit - cost(first), list[str]()
    for line in reversed(lines[1:]):
        room -= cost(line)
        if room < 0:
            break
        newest.append(line)
    if not newest:
        newest = [clip(lines[-1], limit - cost(first))]
    return "\n".join([first, *reversed(newest)])


def concluded(params: WorkingContextParams, own: ConcludedParams, ask: Ask, read: Reader) -> Iterable[Piece]:
    """What concluded efforts came to, those referred to last first."""
    for one in _read(ask, read, False):
        recalled = one.mode == "recalled"
        words = clip(" ".join((one.conclusion or one.summary).split()), own.line)
        line = f"- {_topic(one, own.line)}{' (recalled)' * recalled}: {words} [{one.effort}]"
        reason = "named by a turn" if recalled else "concluded, referred to lately"
        worth = own.recalled if recalled else own.kept
        yield Piece(one.effort, reason, worth, line, quotes=_quoted(one, read), data=one.told())


SECTIONS = (
    Section("concluded", 30, "Concluded, and referred to lately", ConcludedParams, concluded),
    Section("entries", 40, "What is being worked on, most relevant first", EntriesParams, entries),
    Section("figures", 42, "Ids and numbers", FiguresParams, figures),
)
