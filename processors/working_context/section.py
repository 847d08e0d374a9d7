"""What the working context puts into a context: its open efforts, and the conclusions that are still referred to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from processors.open_efforts import EffortConcluded, EffortOpened, EffortProgressed, EffortRated, EffortResumed
from processors.working_context.events import ContextScored
from processors.working_context.params import WorkingContextParams
from processors.working_context.scoring import MODES
from streams.core.events import iso
from streams.core.params import Params, param
from streams.core.section import Ask, Offered, Piece, Reader, Section, Spoken, Turns
from streams.core.text.telling import sentences
from streams.core.text.wide import ASKS, FAR
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


class LatelyParams(Params):
    """How what was worked on last is shown to who asks what is going on."""

    most: int = param(4, "efforts", "what a person keeps going at once", CCM, ge=0)
    greeted: int = param(2, "efforts", "the same for who greets and asks nothing", ge=0)
    looked: int = param(16, "efforts", "of those that went on last; some are concluded since", ge=1)
    turns: int = param(3, "turns", "of each, the newest: where it stands", ge=1)
    topic: int = param(16, "tokens", "a few words", ge=3)
    line: int = param(28, "tokens", "what it came to last is a line", ge=8)
    worth: float = param(0.6, "worth", "what is in context and what is due come first", ge=0, le=1)
    fade: float = param(0.9, "factor per effort", "what was left longer ago is asked for less", gt=0, le=1)
    raw: float = param(0.7, "factor", "of an effort's worth: its newest turns", ge=0, le=1)


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
    """The session's entries, of the one kind: what is said of the others is not read."""
    scored = read.kept(ContextScored, [ask.session]).get(ask.session)
    if scored is None:
        return []
    columns = (
        scored.efforts, scored.modes, scored.scores, scored.signals, scored.similarities, scored.recencies, scored.idle,
    )  # fmt: skip
    over = read.kept(EffortConcluded, scored.efforts, EffortResumed)
    # What was concluded in another session is so here, too: this one notices at its next turn.
    listed = [
        one for one in (_Effort(*row) for row in zip(*columns, strict=True))
        if (one.mode in MODES and one.effort not in over) is open_ones
    ]  # fmt: skip
    ids = [one.effort for one in listed]
    if not ids:
        return []
    opened, progressed = read.kept(EffortOpened, ids), read.kept(EffortProgressed, ids)
    rated = read.kept(EffortRated, ids)
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
            if one.mode in MODES:
                one.mode = "concluded"
    return listed


def entries(params: WorkingContextParams, own: EntriesParams, ask: Ask, read: Reader) -> Iterator[Offered]:
    """Open efforts, most relevant first: a heading and a summary, then the newest turns of those that are expanded."""
    for rank, one in enumerate(_read(ask, read, True)):
        quotes = _quoted(one, read)  # first: it asks for more turns than what follows, which are then read once
        members = read.members("efforts", one.effort, max(own.turns, 1) if one.mode == "expanded" else 1)
        newest = sorted(read.turns(members.newest).values(), key=lambda turn: turn.position)
        last_turn, last_at = (newest[-1].id, newest[-1].at) if newest else ("", 0)
        told = one.told() | {
            "turn_count": members.size, "first_turn": members.first, "last_turn": last_turn, "show": one.effort,
        }  # fmt: skip
        yield Piece(
            one.effort, one.signals or "in context", one.score, _heading(own, one, members.size, last_at),
            quotes=quotes, needed=rank == 0, data=told,
        )  # fmt: skip
        shown = newest[-own.turns :] if one.mode == "expanded" and own.turns else []
        worth, fade = one.score * own.raw, own.fade
        worths = [worth * fade**age for age in range(len(shown) - 1, -1, -1)]
        yield Turns([turn.position for turn in shown], worths, lambda _: "a turn of it", under=one.effort)


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
        words = clip(" ".join(_came_to(one).split()), own.line)
        line = f"- {_topic(one, own.line)}{' (recalled)' * recalled}: {words} [{one.effort}]"
        reason = "named by a turn" if recalled else "concluded, referred to lately"
        worth = own.recalled if recalled else own.kept
        yield Piece(one.effort, reason, worth, line, quotes=_quoted(one, read), data=one.told())


def _came_to(one: _Effort) -> str:
    """What a concluded effort came to: where the words that conclude it tell nothing ("thx", "merged"), what they were
    said to, before them."""
    told = one.conclusion
    if not sentences(told):
        told = " ".join([*one.summary.splitlines()[-1:], told])
    return told


def lately(params: WorkingContextParams, own: LatelyParams, ask: Ask, read: Reader) -> Iterator[Piece]:
    """The open efforts that were worked on last, where somebody greets or asks what is going on: such words are like
    those of no effort, so none is in context. With the newest turns of each where it is asked how far things are, or
    only said to go on."""
    if not ask.wide:
        return
    going = read.members("going_on", "open", own.looked).newest
    over, told = read.kept(EffortConcluded, going, EffortResumed), read.kept(EffortProgressed, going)
    newest: list[tuple[str, list[Spoken]]] = []
    for effort in (one for one in going if one in told and one not in over):
        shown = read.turns(read.members("efforts", effort, own.turns).newest)
        if turns := sorted(shown.values(), key=lambda turn: turn.position):
            newest.append((effort, turns))
    newest.sort(key=lambda one: -one[1][-1].position)
    goes_on = not FAR.isdisjoint(ask.cues) or ask.cues.isdisjoint(ASKS | {"greeting"})
    most = own.most if goes_on or not ASKS.isdisjoint(ask.cues) else own.greeted
    for rank, (effort, turns) in enumerate(newest[:most]):
        lines = [*dict.fromkeys(line.strip() for line in told[effort].summary.splitlines() if line.strip())]
        topic = clip(" ".join(told[effort].topic.split()), own.topic) or "untitled"
        words = next((line for line in reversed(lines) if line[-1:] not in "?？"), lines[-1] if lines else "")
        worth = own.worth * own.fade**rank
        line = f"- {topic} (last on {iso(turns[-1].at)[:10]}): {clip(words, own.line)}".rstrip(" :") + f" [{effort}]"
        quotes = read.members("efforts", effort, QUOTED).newest
        yield Piece(effort, "worked on lately", worth, line, quotes=quotes, data={"lately": effort})
        for turn in turns if goes_on else ():
            yield Piece("", "of what was worked on lately", worth * own.raw, turn=turn.position, under=effort)


SECTIONS = (
    Section("concluded", 30, "Concluded, and referred to lately", ConcludedParams, concluded),
    Section("entries", 40, "What is being worked on, most relevant first", EntriesParams, entries),
    Section("lately", 41, "What was worked on lately", LatelyParams, lately),
    Section("figures", 42, "Ids and numbers", FiguresParams, figures),
)
