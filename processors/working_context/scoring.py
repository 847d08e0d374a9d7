"""One session's context while one event changes it: what each effort is worth, who comes in and who gives way."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from processors.open_efforts import EffortConcluded, EffortResumed, TurnRethreaded, TurnThreaded, TurnUnthreaded
from processors.working_context.events import Change, ContextChanged, ContextScored
from processors.working_context.params import WorkingContextParams
from processors.working_context.record import Context, decays, known, left_of
from streams.core.processor import Derived, State, r6

MENTIONED, SIMILAR, RECENT, IMPORTANT, CONNECTION, UNTOUCHED, UNCONNECTED = (1 << bit for bit in range(7))
NEAR = MENTIONED | CONNECTION
_NAMES = ("mentioned", "similar", "recent", "important", "connected", "untouched", "unconnected")
SIGNALS = tuple(
    " ".join(name for bit, name in enumerate(_NAMES) if mask >> bit & 1) for mask in range(1 << len(_NAMES))
)
"""The names of a set of signals, by its mask."""

Scored = tuple[float, int, str, str, float, float, int]
"""Score, turn of the last touch, effort, signals, similarity, recency, turns idle. Sorted, the best is last."""
MILLION = 1_000_000
"""Numbers in events are rounded to 1e-6, here without the price of a call."""
MODES = ("summary", "expanded")
CLOSED = ("concluded", "recalled")

NOBODY: list[str] = []
NONE: list[float] = []
NOTHING: dict[str, float] = {}
"""Shared, never mutated."""

Event = TurnThreaded | TurnRethreaded | EffortConcluded | EffortResumed | TurnUnthreaded
"""What may change a context."""


def _fade(top: float, turns: int, idle: int) -> float:
    """The score of a kept summary so many user turns after it was last referred to: falls evenly to 0."""
    return r6(top * max(0.0, 1.0 - idle / (turns + 1)))


class Scene:
    """A context, the event that changes it, and what is told of that."""

    __slots__ = ("alike", "changes", "context", "event", "found", "known", "named", "params", "state", "turn")

    def __init__(
        self,
        params: WorkingContextParams,
        state: State,
        context: Context,
        event: Event,
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
        self.known = state.index(known)
        self.found: dict[str, Scored] = {}
        self.changes: list[Derived] = []

    def scored(self, efforts: Iterable[str]) -> list[Scored]:
        """The formula at the head of this package, for each of `efforts`; computed once for each in a scene."""
        params, named, alike, found = self.params, self.named, self.alike, self.found
        index, now, traces, left = self.known, self.context.turns, self.context.traces, decays(self.params.half_life)
        important, connected, medium = index.important, index.connected, params.medium
        apart = 1.0 - params.unconnected
        far, long, established = len(left), params.untouched_after, params.established
        linked = NOBODY
        for one in named:
            if one in connected:
                linked = linked + connected[one] if linked else connected[one]
        rows: list[Scored] = []
        for effort in efforts:
            if effort in found:
                rows.append(found[effort])
                continue
            mask, rest, similarity, recency, last = 0, 1.0, 0.0, 0.0, 0
            if effort in traces:
                strength, last, _ = traces[effort]
                idle = now - last
                strength *= left[idle] if idle < far else left_of(params.half_life, idle)
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
            if mask & RECENT and now - last > long:
                mask |= UNTOUCHED
                score *= 1.0 - params.untouched
            if not mask & NEAR:
                mask |= UNCONNECTED
                score *= apart
            found[effort] = row = (
                int(score * MILLION + 0.5) / MILLION, last, effort, SIGNALS[mask], similarity,
                int(recency * MILLION + 0.5) / MILLION, now - last,
            )  # fmt: skip
            rows.append(row)
        return rows

    def score(self, effort: str) -> float:
        """What one effort is worth now."""
        row = self.found.get(effort) or self.scored((effort,))[0]
        return row[0]

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
        if not concluded.issuperset(context.closed):
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
        outside = [e for e in self.context.traces if e not in entries and e not in concluded]
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
        trace = context.traces[effort]
        trace[0] = max(trace[0] - 1.0, 0.0)
        trace[2] -= 1
        self.found.pop(effort, None)
        if trace[2] > 0:
            return False
        score = self.score(effort)
        del context.traces[effort]
        if context.entries.pop(effort, None) is None:
            return False
        self.tell(effort, "left", score, reason)
        return True

    def finish(self, touched: list[str]) -> list[Derived]:
        """Shows each effort by its relevance, saves the context, and tells the whole of it."""
        context, params, event = self.context, self.params, self.event
        entries, condense, expand = context.entries, params.condense, params.expand
        ranked = self.scored(entries)
        ranked.sort(reverse=True)
        shown: list[list[Any]] = [[], [], [], [], [], [], []]
        efforts, scores, modes, signals, similarities, recencies, idles = shown
        for score, _, effort, signal, similarity, recency, idle in ranked:
            expanded = entries[effort]
            wanted = score >= (condense if expanded else expand)
            if wanted is not expanded:
                entries[effort] = wanted
                self.tell(effort, "expanded" if wanted else "condensed", score, "relevant" if wanted else "faded")
            efforts.append(effort)
            scores.append(score)
            modes.append(MODES[wanted])
            signals.append(signal)
            similarities.append(similarity)
            recencies.append(recency)
            idles.append(idle)
        if context.closed:
            self._show_closed(shown)
        used = [effort for effort in touched if effort in efforts] if touched else NOBODY
        context.rests = context.turns + params.rescore
        self.state.put(f"session/{event.session}", context)
        self.changes.append(
            ContextScored(
                event.space, event.session, event.at, self.turn, efforts, scores, modes, signals,
                similarities, recencies, idles, used,
                [scores[efforts.index(effort)] for effort in used] if used else NONE,
            )
        )  # fmt: skip
        return self.changes

    def _show_closed(self, shown: list[list[Any]]) -> None:
        """Recalled and concluded summaries follow the open efforts, the last referred to first."""
        users, params, alike = self.context.users, self.params, self.alike
        tops = (params.medium, params.mentioned)
        efforts, scores, modes, signals, similarities, recencies, idle = shown
        for effort, (referred, recalled) in reversed(self.context.closed.items()):
            efforts.append(effort)
            scores.append(_fade(tops[recalled], params.concluded_for, users - referred))
            modes.append(CLOSED[recalled])
            signals.append(SIGNALS[MENTIONED] if effort in self.named else "")
            similarities.append(alike.get(effort, 0.0))
            recencies.append(0.0)
            idle.append(users - referred)
