"""Working context: per session, the efforts most relevant to the incoming turn, about four.

    score(e) = (1 - (1 - .9 m)(1 - .6 s)(1 - .4 r)(1 - .4 i)(1 - .4 c)) * fade(e)

m: the turn names e or belongs to it; s: how alike turn and e are; r = trace / (trace + 4), the trace gaining 1 with
each turn on e and halving with disuse (what was used often is kept longer than what was used once); i: flagged
important; c: connected in the manifest to what the turn names. Long untouched and unconnected both lower the score. An
effort enters when a turn names it or is like it; at capacity the least relevant gives way, not the oldest, and only to
what is named or far more relevant. One that had to leave keeps its trace and comes back where there is room again.

Concluded efforts leave, and their summaries stay until unreferenced for 20 user turns; a turn that names one brings its
summary back, marked recalled.

Sources: Cognitive Context Management, tier 4 (signals, displacement); Cowan 2001 (3 to 5 chunks); Anderson & Schooler
1991, ACT-R base level (trace). The noisy-or of the signals keeps the score below 1 and their order whatever else holds.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal

from processors.open_efforts import (
    EffortConcluded,
    EffortOpened,
    EffortProgressed,
    EffortRated,
    EffortResumed,
    FactThreaded,
    ReferenceMissed,
    TurnRethreaded,
    TurnThreaded,
)
from streams.events import TurnRetracted
from streams.processor import Derived, Params, Processor, State, param, r6

Change = Literal["entered", "left", "expanded", "condensed", "concluded", "recalled", "dropped"]


@dataclass(slots=True)
class ContextChanged:
    """An effort entered a session's context, left it, or is shown in another way."""

    space: str
    session: str
    at: int
    turn: str
    effort: str
    change: Change
    """`left` goes back to the open efforts; `concluded` stays as a summary, `dropped` ends that."""
    score: float
    reason: str
    """mentioned, similar, resumed or relevant; displaced, concluded, revised or retracted; relevant or faded;
    unreferenced, crowded (too many summaries) or resumed."""
    other: str
    """The effort that displaced it, or that it displaced; "" for none."""
    other_score: float = 0.0
    """The score of `other` at that moment, so that the row alone tells why."""
    type: Literal["context-changed.v1"] = "context-changed.v1"


@dataclass(slots=True)
class ContextScored:
    """The context of a session from here on. Lists of the same length, most relevant first.

    One for each turn, one more where a conclusion, resumption, revision or retraction changes it in between. It is
    scored anew by user turns and by what brings something else; while an agent goes on with the effort in hand it
    stands still (and so a model's prompt cache holds).
    """

    space: str
    session: str
    at: int
    turn: str
    role: str
    efforts: list[str]
    """The open ones, then recalled and concluded ones whose summaries are kept."""
    scores: list[float]
    modes: list[str]
    """summary or expanded for open efforts, recalled or concluded for the others."""
    signals: list[str]
    """What made the score: names out of mentioned, similar, recent, important, connected, untouched, unconnected."""
    similarities: list[float]
    """How alike the turn and the effort are, 0 to 1."""
    recencies: list[float]
    """How strong the trace of its use in this session is, 0 to 1."""
    idle: list[int]
    """Turns since it was last touched in this session; user turns for recalled and concluded ones."""
    touched: list[str]
    """The efforts that this user turn mentions or pulls in, for co-activation; empty for what is no user turn."""
    activations: list[float]
    """Their relevance, 0 to 1; same length as `touched`."""
    type: Literal["context-scored.v1"] = "context-scored.v1"


class WorkingContextParams(Params):
    """What is relevant, and how much of it fits."""

    capacity: int = param(4, "efforts", "working memory holds 3 to 5 chunks", source="Cowan 2001", ge=1, le=16)
    mentioned: float = param(
        0.9, "weight 0..1", "the highest signal; below 1 so that the others still order what is named", ge=0, le=1
    )
    similar: float = param(
        0.6, "weight 0..1", "high: above any one medium signal when the likeness is strong", ge=0, le=1
    )
    medium: float = param(
        0.4,
        "weight 0..1",
        "recently in context, flagged important and connected weigh alike",
        source="Cognitive Context Management, tier 4",
        ge=0,
        le=1,
    )
    established: float = param(
        4.0, "touches", "a trace this strong counts half: two exchanges on it, where one remark counts a fifth", gt=0
    )
    half_life: float = param(
        40.0, "turns", "twenty exchanges about something else halve what is remembered of the work before them", gt=0
    )
    untouched_after: int = param(80, "turns", "two half-lives without a touch are long", ge=1)
    untouched: float = param(0.3, "share of the score", "what long untouched takes away", ge=0, le=1)
    unconnected: float = param(
        0.1, "share of the score", "what being unconnected takes away; most efforts are, so it is small", ge=0, le=1
    )
    pull: float = param(
        0.5, "similarity 0..1", "a turn this alike pulls an effort in; lower values pull in every neighbour", ge=0, le=1
    )
    pull_most: int = param(
        2, "efforts", "pulled in by one turn, the most alike: more would turn over the context at once", ge=0, le=8
    )
    margin: float = param(
        0.5,
        "score 0..1",
        "what is not named replaces an entry only if far more relevant: else every neighbour in a domain turns it over",
        ge=0,
        le=1,
    )
    worth: float = param(
        0.05, "score 0..1", "an effort worth less does not come back by itself, even where there is room", ge=0, le=1
    )
    expand: float = param(0.5, "score 0..1", "only a named or a very similar effort shows raw turns", ge=0, le=1)
    condense: float = param(
        0.3, "score 0..1", "below `expand`, so that an effort does not flap between the two", ge=0, le=1
    )
    connect: int = param(
        8, "shared telling terms", "of 12: most of them; fewer are shared by all efforts of one domain", ge=1, le=12
    )
    concluded_for: int = param(
        20, "user turns", "a conclusion unreferenced so long is history", source="Cognitive Context Management", ge=0
    )
    concluded_kept: int = param(8, "summaries", "bounds the session's record (law 4)", ge=1, le=16)
    candidates: int = param(
        12,
        "efforts",
        "traces kept per session beside a second dozen not yet forgotten: what comes back brings its own",
        ge=8,
        le=24,
    )
    displace: Literal["least-relevant", "oldest"] = param(
        "least-relevant",
        "policy",
        "the oldest may be what the talk comes back to; `oldest` is the floor to compare with",
    )


PRESETS = {
    "default": WorkingContextParams(),
    "narrow": WorkingContextParams(capacity=3),
    "wide": WorkingContextParams(capacity=5),
    "oldest-first": WorkingContextParams(displace="oldest"),
}
"""Named values of the parameters."""


@dataclass(slots=True)
class Effort:
    """State, `effort/<id>`: what matters of an effort here."""

    open: bool = True
    important: bool = False
    terms: list[str] = field(default_factory=list)
    """Its most telling terms."""
    connected: list[str] = field(default_factory=list)
    """Efforts it shares telling terms with, or that were named together with it; the last 8."""


@dataclass(slots=True)
class Context:
    """State, `session/<id>`: the context of a session. Dicts keep the order of entry."""

    turns: int = 0
    """Turns so far that count as time: all but tools'."""
    users: int = 0
    """User turns so far."""
    entries: dict[str, bool] = field(default_factory=dict)
    """Efforts in context, and whether they are expanded."""
    traces: dict[str, float] = field(default_factory=dict)
    """Efforts with a trace, and how strong it was at the last touch."""
    last: dict[str, int] = field(default_factory=dict)
    """The turn of the last touch, for each of `traces`."""
    touches: dict[str, int] = field(default_factory=dict)
    """How often it was touched, for each of `traces`."""
    closed: dict[str, list[int]] = field(default_factory=dict)
    """Concluded efforts shown as summaries: [user turn of the last reference, 1 if recalled]."""
    shown: list[list[Any]] = field(default_factory=list)
    """What was told last: the lists of `ContextScored` from efforts to idle."""
    recent: list[str] = field(default_factory=list)
    """The last turns and their efforts, flattened, for revisions: turn, effort, turn, effort, ..."""


Read = (
    EffortOpened
    | TurnThreaded
    | TurnRethreaded
    | EffortProgressed
    | EffortConcluded
    | EffortResumed
    | EffortRated
    | FactThreaded
    | ReferenceMissed
)

CONNECTED = 8
"""Connections remembered per effort."""
TERMS = 12
"""Telling terms compared per effort; with `CONNECTED`, a record stays far below 8 KB."""
REVISED = 4
"""Turns that a revision can reach (the manifest revises within 2)."""

MENTIONED, SIMILAR, RECENT, IMPORTANT, CONNECTION, UNTOUCHED, UNCONNECTED = (1 << bit for bit in range(7))
NEAR = MENTIONED | CONNECTION
_NAMES = ("mentioned", "similar", "recent", "important", "connected", "untouched", "unconnected")
SIGNALS = tuple(
    " ".join(name for bit, name in enumerate(_NAMES) if mask >> bit & 1) for mask in range(1 << len(_NAMES))
)
"""The names of a set of signals, by its mask."""

Scored = tuple[float, int, str, int, float, float, int]
"""Score, turn of the last touch, effort, mask of signals, similarity, recency, turns idle. Sorted, the best is last."""
MILLION = 1_000_000
"""Numbers in events are rounded to 1e-6, here without the price of a call."""
MODES = ("summary", "expanded")
CLOSED = ("concluded", "recalled")

_EMPTY = ((),) * 7
_NOBODY: list[str] = []
_NONE: list[float] = []
_NOTHING: dict[str, float] = {}
"""Shared, never mutated."""


@lru_cache
def _decays(half_life: float) -> tuple[float, ...]:
    """What is left of a trace after 0, 1, 2, ... turns; the last stands for all longer times."""
    return tuple(0.5 ** (turns / half_life) for turns in range(int(half_life * 20) + 2))


@lru_cache
def _fades(top: float, turns: int) -> tuple[float, ...]:
    """The score of a kept summary 0, 1, 2, ... user turns after it was last referred to: falls evenly to 0."""
    return tuple(r6(top * (1.0 - turn / (turns + 1))) for turn in range(turns + 2))


@dataclass(slots=True)
class Known:
    """Index: what scoring asks of many efforts. A function of the `effort/` records, kept up by `_save`."""

    concluded: set[str]
    important: set[str]
    connected: dict[str, list[str]]


def _known(state: State) -> Known:
    known = Known(set(), set(), {})
    for key, effort in state.scan("effort/", Effort):
        _note(known, key[7:], effort)
    return known


def _note(known: Known, effort: str, record: Effort) -> None:
    (known.concluded.discard if record.open else known.concluded.add)(effort)
    (known.important.add if record.important else known.important.discard)(effort)
    if record.connected:
        known.connected[effort] = record.connected


def _save(state: State, effort: str, record: Effort) -> None:
    state.put(f"effort/{effort}", record)
    _note(state.index(_known), effort, record)


def step(params: WorkingContextParams, state: State, event: Read) -> list[Derived]:
    """Scores a session's efforts after each of its turns, and moves them in and out."""
    match event:
        case TurnThreaded():
            return _turn(params, state, event)
        case EffortProgressed():
            _progressed(params, state, event)
            return []
        case EffortConcluded():
            return _concluded(params, state, event)
        case EffortResumed():
            return _resumed(params, state, event)
        case EffortRated():
            effort = _effort(state, event.effort)
            effort.important = event.importance == "high"
            _save(state, event.effort, effort)
            return []
        case TurnRethreaded():
            return _rethreaded(params, state, event)
        case FactThreaded(fact=TurnRetracted()):
            return _retracted(params, state, event)
        case FactThreaded() | EffortOpened() | ReferenceMissed():
            return []


def _effort(state: State, effort: str) -> Effort:
    return state.get(f"effort/{effort}", Effort) or Effort()


def _context(state: State, session: str) -> Context:
    return state.get(f"session/{session}", Context) or Context()


class Scene:
    """One session's context while one event changes it: who is in, what each is worth, and what was told of it."""

    __slots__ = ("alike", "changes", "context", "event", "found", "known", "named", "params", "state", "turn")

    def __init__(
        self,
        params: WorkingContextParams,
        state: State,
        context: Context,
        event: Read,
        turn: str,
        named: list[str],
        alike: dict[str, float],
    ) -> None:
        self.params = params
        self.state = state
        self.context = context
        self.event = event
        self.turn = turn
        self.named = named
        self.alike = alike
        self.known = state.index(_known)
        self.found: dict[str, Scored] = {}
        self.changes: list[Derived] = []

    def scored(self, efforts: Iterable[str]) -> list[Scored]:
        """The formula at the head of this module, for each of `efforts`; computed once for each in a scene."""
        params, context, named, alike = self.params, self.context, self.named, self.alike
        known, now, traces, touches = self.known, context.turns, context.traces, context.last
        important, medium, decays = known.important, params.medium, _decays(params.half_life)
        far, long, established = len(decays), params.untouched_after, params.established
        linked: list[str] = []
        for one in named:
            if one in known.connected:
                linked += known.connected[one]
        rows, found = list[Scored](), self.found
        for effort in efforts:
            if effort in found:
                rows.append(found[effort])
                continue
            mask, rest, similarity, recency, last = 0, 1.0, 0.0, 0.0, 0
            if effort in touches:
                last = touches[effort]
                strength = traces[effort] * decays[now - last] if now - last < far else 0.0
                recency = strength / (strength + established)
                mask, rest = RECENT, 1.0 - medium * recency
            if effort in named:
                mask |= MENTIONED
                rest *= 1.0 - params.mentioned
            if effort in alike:
                mask |= SIMILAR
                similarity = alike[effort]
                rest *= 1.0 - params.similar * similarity
            if effort in important:
                mask |= IMPORTANT
                rest *= 1.0 - medium
            if effort in linked:
                mask |= CONNECTION
                rest *= 1.0 - medium
            score = 1.0 - rest
            if now - last > long:
                mask |= UNTOUCHED
                score *= 1.0 - params.untouched
            if not mask & NEAR:
                mask |= UNCONNECTED
                score *= 1.0 - params.unconnected
            found[effort] = row = (
                int(score * MILLION + 0.5) / MILLION, last, effort, mask, similarity,
                int(recency * MILLION + 0.5) / MILLION, now - last,
            )  # fmt: skip
            rows.append(row)
        return rows

    def score(self, effort: str) -> float:
        """What one effort is worth now."""
        return self.scored((effort,))[0][0]

    def tell(
        self, effort: str, change: Change, score: float, reason: str, other: str = "", against: float = 0.0
    ) -> None:
        """Tells a change."""
        event = self.event
        self.changes.append(
            ContextChanged(
                event.space, event.session, event.at, self.turn, effort, change, score, reason, other, against
            )
        )

    def shelve(self) -> None:
        """Efforts that were concluded, here or in another session, become summaries; summaries nobody refers to go."""
        context, concluded = self.context, self.known.concluded
        if not concluded.isdisjoint(context.entries):
            for effort in [e for e in context.entries if e in concluded]:
                score = self.score(effort)
                del context.entries[effort]
                self.tell(effort, "concluded", score, "concluded")
                self._keep(effort, 0)
        if context.closed:
            for effort in [e for e in context.closed if e not in concluded]:
                del context.closed[effort]
                self.tell(effort, "dropped", 0.0, "resumed")
            until = context.users - self.params.concluded_for
            for effort in [e for e, (referred, _) in context.closed.items() if referred < until]:
                del context.closed[effort]
                self.tell(effort, "dropped", 0.0, "unreferenced")

    def admit(self, touched: list[str], reason: str) -> None:
        """Efforts that the turn touches come in, the named first; at capacity the least relevant gives way."""
        entries = self.context.entries
        for effort in touched:
            if effort in entries:
                continue
            if effort in self.known.concluded:
                if effort in self.named or effort in self.context.closed:
                    self._refer(effort, reason)
                continue
            score = self.score(effort)
            other, against = "", 0.0
            if len(entries) >= self.params.capacity:
                other, against = self._least()
                if not other or (effort not in self.named and score < against + self.params.margin):
                    continue
                del entries[other]
                self.tell(other, "left", against, "displaced", effort, score)
            entries[effort] = score >= self.params.expand
            why = reason if reason == "resumed" else "mentioned" if effort in self.named else "similar"
            self.tell(effort, "entered", score, why, other, against)

    def reconsider(self) -> None:
        """Efforts that had to leave come back where there is room, or where one in context is worth clearly less now.

        Looked at only when something changed or there is room: while the talk goes on, so does its context.
        """
        entries, concluded = self.context.entries, self.known.concluded
        if self.params.displace == "oldest" or not (self.changes or len(entries) < self.params.capacity):
            return
        outside = [e for e in self.context.last if e not in entries and e not in concluded]
        if not outside:
            return
        rows = sorted(self.scored(outside), reverse=True)
        for score, _, effort, *_ in rows[: self.params.capacity]:
            other, against = "", 0.0
            if score < self.params.worth:
                break
            if len(entries) >= self.params.capacity:
                other, against = self._least()
                if not other or score < against + self.params.margin:
                    break
                del entries[other]
                self.tell(other, "left", against, "displaced", effort, score)
            entries[effort] = score >= self.params.expand
            self.tell(effort, "entered", score, "relevant", other, against)

    def _least(self) -> tuple[str, float]:
        """Who gives way, and its score: the least relevant that is not named now, of equals the longest untouched."""
        rows = self.scored([effort for effort in self.context.entries if effort not in self.named])
        if not rows:
            return "", 0.0
        least = min(rows) if self.params.displace == "least-relevant" else min(rows, key=lambda row: row[1])
        return least[2], least[0]

    def _refer(self, effort: str, reason: str) -> None:
        """A turn refers to a concluded effort: its summary stays, or comes back where the turn names it.

        An effort's own last words ("thanks, bye") do not recall it.
        """
        kept = self.context.closed.get(effort)
        last_words = reason != "named" and self.named[:1] == [effort]
        if kept is not None and (kept[1] or last_words or effort not in self.named):
            self._keep(effort, kept[1])
        else:
            self._keep(effort, 1)
            self.tell(effort, "recalled", self.params.mentioned, "mentioned")

    def _keep(self, effort: str, recalled: int) -> None:
        """Its summary is shown from here on; where there are too many, the one longest unreferenced goes."""
        closed = self.context.closed
        if closed.pop(effort, None) is None and len(closed) >= self.params.concluded_kept:
            longest = next(iter(closed))
            del closed[longest]
            self.tell(longest, "dropped", 0.0, "crowded")
        closed[effort] = [self.context.users, recalled]

    def untouch(self, effort: str, reason: str) -> bool:
        """Takes one turn's trace from an effort; whether it left the context because that was its only turn here."""
        context = self.context
        if effort not in context.traces:
            return False
        context.traces[effort] = max(context.traces[effort] - 1.0, 0.0)
        context.touches[effort] -= 1
        self.found.pop(effort, None)
        if context.touches[effort] > 0:
            return False
        score = self.score(effort)
        _drop(context, effort)
        if context.entries.pop(effort, None) is None:
            return False
        self.tell(effort, "left", score, reason)
        return True

    def finish(self, role: str, touched: list[str]) -> list[Derived]:
        """Shows each effort by its relevance, saves the context, and tells the whole of it."""
        context, params, event = self.context, self.params, self.event
        entries, space, session = context.entries, event.space, event.session
        ranked = self.scored(entries)
        ranked.sort(reverse=True)
        for score, _, effort, _, _, _, _ in ranked:
            expanded = entries[effort]
            if expanded is not (score >= (params.condense if expanded else params.expand)):
                entries[effort] = not expanded
                self.tell(effort, "condensed" if expanded else "expanded", score, "faded" if expanded else "relevant")
        scores, _, efforts, masks, similarities, recencies, idle = map(
            list, zip(*ranked, strict=True) if ranked else _EMPTY
        )
        scored = ContextScored(
            space, session, event.at, self.turn, role, efforts, scores, [MODES[entries[e]] for e in efforts],
            [SIGNALS[mask] for mask in masks], similarities, recencies, idle, _NOBODY, _NONE,
        )  # fmt: skip
        if context.closed:
            self._show_closed(scored)
        if touched:
            scored.touched = [effort for effort in touched if effort in efforts]
            scored.activations = [scores[efforts.index(effort)] for effort in scored.touched]
        context.shown = [
            scored.efforts, scored.scores, scored.modes, scored.signals, similarities, recencies, idle
        ]  # fmt: skip
        self.state.put(f"session/{session}", context)
        self.changes.append(scored)
        return self.changes

    def _show_closed(self, scored: ContextScored) -> None:
        """Recalled and concluded summaries follow the open efforts, the last referred to first."""
        users, params, alike = self.context.users, self.params, self.alike
        fades = (_fades(params.medium, params.concluded_for), _fades(params.mentioned, params.concluded_for))
        efforts = list(reversed(self.context.closed))
        kept = [self.context.closed[effort] for effort in efforts]
        scored.efforts += efforts
        scored.scores += [fades[recalled][users - referred] for referred, recalled in kept]
        scored.modes += [CLOSED[recalled] for _, recalled in kept]
        scored.signals += [SIGNALS[MENTIONED] if effort in self.named else "" for effort in efforts]
        scored.similarities += [alike.get(effort, 0.0) for effort in efforts]
        scored.recencies += [0.0] * len(efforts)
        scored.idle += [users - referred for referred, _ in kept]


def _turn(params: WorkingContextParams, state: State, event: TurnThreaded) -> list[Derived]:
    """A turn names and resembles efforts: they gain a trace and come in. A tool's output names nothing."""
    key = f"session/{event.session}"
    context = state.get(key, Context) or Context()
    own, recent = event.effort, context.recent
    goes_on = event.role != "user" and bool(recent) and recent[-1] == own and (not own or own in context.entries)
    recent += (event.turn, own)
    if len(recent) > 2 * REVISED:
        del recent[:2]
    if event.role == "tool":
        if goes_on:
            state.put(key, context)
            return [_again(context, event)]
        named, alike = [own] if own else [], _NOTHING
    else:
        context.turns += 1
        context.users += event.role == "user"
        named = event.mentioned if not own or own in event.mentioned else [own, *event.mentioned]
        alike = dict(zip(event.similar, event.similarities, strict=True)) if event.similar else _NOTHING
    pulled = [e for e in alike if alike[e] >= params.pull and e not in named][: params.pull_most] if alike else _NOBODY
    for effort in named:
        _touch(params, context, effort, 1.0)
    if goes_on and not pulled and len(named) < 2:
        state.put(key, context)
        return [_again(context, event)]
    if len(named) > 1:
        _connect(state, named)
    scene = Scene(params, state, context, event, event.turn, named, alike)
    scene.shelve()
    touched = [*named, *pulled] if pulled else named
    scene.admit(touched, "named" if event.reason == "named" else "threaded")
    for effort in pulled:
        if effort in context.entries:
            _touch(params, context, effort, alike[effort])
            scene.found.pop(effort, None)
    scene.reconsider()
    return scene.finish(event.role, touched if event.role == "user" else _NOBODY)


def _again(context: Context, event: TurnThreaded) -> ContextScored:
    """The context as it was: what goes on changes nothing in it."""
    efforts, scores, modes, signals, similarities, recencies, idle = context.shown
    return ContextScored(
        event.space, event.session, event.at, event.turn, event.role, efforts, scores, modes, signals, similarities,
        recencies, idle, _NOBODY, _NONE,
    )  # fmt: skip


def _touch(params: WorkingContextParams, context: Context, effort: str, amount: float) -> None:
    """An effort gains a trace."""
    if effort in context.traces:
        context.traces[effort] = _trace(params, context, effort) + amount
        context.touches[effort] += 1
    else:
        context.traces[effort] = amount
        context.touches[effort] = 1
        if len(context.traces) > 2 * params.candidates:
            _forget(params, context)
    context.last[effort] = context.turns


def _trace(params: WorkingContextParams, context: Context, effort: str) -> float:
    decays = _decays(params.half_life)
    return context.traces[effort] * decays[min(context.turns - context.last[effort], len(decays) - 1)]


def _forget(params: WorkingContextParams, context: Context) -> None:
    """The weaker half of the traces goes, those in context excepted. Half at once: the cost per turn stays level."""
    out = [effort for effort in context.last if effort not in context.entries]
    weakest = sorted((_trace(params, context, effort), effort) for effort in out)
    for _, effort in weakest[: len(context.last) - params.candidates]:
        _drop(context, effort)


def _drop(context: Context, effort: str) -> None:
    del context.traces[effort], context.touches[effort], context.last[effort]


def _connect(state: State, efforts: list[str]) -> None:
    """The first of the efforts is connected to each of the others, both ways."""
    for other in efforts[1:]:
        for one, two in ((efforts[0], other), (other, efforts[0])):
            effort = _effort(state, one)
            if two not in effort.connected:
                effort.connected = [*effort.connected, two][-CONNECTED:]
                _save(state, one, effort)


def _progressed(params: WorkingContextParams, state: State, event: EffortProgressed) -> None:
    """An effort is connected to those in its session's context with which it shares telling terms."""
    effort = _effort(state, event.effort)
    telling = [term[:40] for term in event.terms[:TERMS]]
    if effort.terms == telling:
        return
    effort.terms = telling
    _save(state, event.effort, effort)
    terms = set(effort.terms)
    for other in _context(state, event.session).entries:
        if other != event.effort and len(terms.intersection(_effort(state, other).terms)) >= params.connect:
            _connect(state, [event.effort, other])


def _concluded(params: WorkingContextParams, state: State, event: EffortConcluded) -> list[Derived]:
    """A concluded effort leaves the session's efforts, its summary stays; other sessions notice at their next turn."""
    effort = _effort(state, event.effort)
    effort.open = False
    _save(state, event.effort, effort)
    context = _context(state, event.session)
    if event.effort not in context.entries:
        return []
    scene = Scene(params, state, context, event, event.turn, _going_on(context), _NOTHING)
    scene.shelve()
    scene.reconsider()
    return scene.finish("", _NOBODY)


def _resumed(params: WorkingContextParams, state: State, event: EffortResumed) -> list[Derived]:
    """A resumed effort comes back among the efforts of its session."""
    effort = _effort(state, event.effort)
    effort.open = True
    _save(state, event.effort, effort)
    context = _context(state, event.session)
    scene = Scene(params, state, context, event, event.turn, _going_on(context, event.effort), _NOTHING)
    context.closed.pop(event.effort, None)
    if event.effort in context.entries:
        return []
    _touch(params, context, event.effort, 1.0)
    scene.admit([event.effort], "resumed")
    return scene.finish("", _NOBODY)


def _going_on(context: Context, *more: str) -> list[str]:
    """What the talk is about where no turn tells: the effort of the last turn, and those a fact names."""
    return [effort for effort in dict.fromkeys((*more, *context.recent[-1:])) if effort]


def _rethreaded(params: WorkingContextParams, state: State, event: TurnRethreaded) -> list[Derived]:
    """A revision takes a turn's trace from one effort and gives it to another."""
    context = _context(state, event.session)
    turns = context.recent[::2]
    scene = Scene(params, state, context, event, event.turn, _going_on(context, event.effort), _NOTHING)
    if event.turn in turns:
        place = 2 * turns.index(event.turn) + 1
        old, context.recent[place] = context.recent[place], event.effort
        if old != event.effort:
            scene.untouch(old, "revised")
    if event.effort:
        _touch(params, context, event.effort, 1.0)
        scene.admit([event.effort], "threaded")
    return scene.finish("", _NOBODY)


def _retracted(params: WorkingContextParams, state: State, event: FactThreaded) -> list[Derived]:
    """An effort whose only turn in the session is retracted leaves its context."""
    context = _context(state, event.session)
    turn = event.fact.turn if isinstance(event.fact, TurnRetracted) else ""
    turns = context.recent[::2]
    effort = event.effort or (context.recent[2 * turns.index(turn) + 1] if turn in turns else "")
    scene = Scene(params, state, context, event, turn, _going_on(context), _NOTHING)
    if scene.untouch(effort, "retracted"):
        return scene.finish("", _NOBODY)
    state.put(f"session/{event.session}", context)
    return []


PROCESSOR = Processor(
    name="working_context",
    version=1,
    reads="open_efforts",
    params=WorkingContextParams,
    emits=(ContextChanged, ContextScored),
    step=step,
)
