"""Which notes come back at a turn: those that press, and those whose matter the talk came to."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from processors.ttl_escalations.events import NoteSurfaced
from processors.ttl_escalations.params import TtlEscalationsParams, effective_priority
from processors.ttl_escalations.record import MAX_HITS, MAX_SESSIONS, Note, Talk, Waiting, keep_talk, short, turn_on
from streams.core.events import HOUR, TurnRecorded
from streams.core.processor import Derived, Raw, State
from streams.core.text.commonness import CLASSES, RARE, rarity
from streams.core.text.terms import terms

MAX_LIKELY = 64
"""Notes weighed exactly for one turn, the best by the sum of their shared words."""
EPSILON = 1e-9
"""Sums of weights that are equal on paper are equal here."""


class Visit(NamedTuple):
    """A turn that may bring notes back, and what is known of its session."""

    params: TtlEscalationsParams
    state: State
    waiting: Waiting
    now: int
    turn: TurnRecorded
    talk: Talk
    visitor: str
    quiet: dict[str, int]
    """When this visit was shown what it was shown."""


_NOTHING: dict[str, int] = {}


def surface(
    params: TtlEscalationsParams, state: State, waiting: Waiting, raw: Raw[TurnRecorded], out: list[Derived]
) -> None:
    """Shows the notes that press, and those whose matter the talk came to."""
    turn, text, now, termed = raw.event, raw.text, raw.now, waiting.termed
    named = [name for name in text.names if name in waiting.named] if waiting.named and text.names else []
    pressing = bool(waiting.pressing) and waiting.pressing[0][0] <= now
    hit = not termed.keys().isdisjoint(text.terms)
    # Why first: most turns are about other things than any note.
    if not (hit or named or pressing or turn.session in waiting.talks):
        return
    talk = state.get(f"talk/{turn.session}", Talk)
    visitor = short(turn.session)
    quiet = waiting.quiet.get(visitor, _NOTHING)
    visit = Visit(params, state, waiting, now, turn, talk or Talk(), visitor, quiet)
    hits = [stem for stem in text.terms if stem in termed] if hit else []
    fresh = _shared(visit, hits, named) if hits or named else {}
    urgent = _newest(waiting.pressing, now, params.pressing) if pressing else []
    likely = fresh | {note: record for note in urgent if note not in fresh and (record := _fresh(visit, note))}
    if likely:
        _show(visit, likely, _reasons(visit, fresh, set(urgent), text.terms, hits, named), out)
    if fresh or talk is not None:
        _remember(visit, hits if fresh else [])


def _newest(pressing: list[tuple[int, str]], now: int, count: int) -> list[str]:
    end = bisect_right(pressing, now, key=lambda entry: entry[0])
    return [note for _, note in pressing[max(0, end - count) : end]]


def _told(visit: Visit, note: str) -> bool:
    """Whether this visit was shown the note not long ago."""
    quiet = visit.quiet
    return note in quiet and visit.now - quiet[note] < visit.params.cooldown * HOUR


def _fresh(visit: Visit, note: str) -> Note | None:
    """The note, where its time is not out and this visit has not seen it, nor heard its own turn just now."""
    if _told(visit, note):
        return None
    record = visit.state.get(f"note/{note}", Note)
    if record is None or record.deadline <= visit.now:
        return None
    return None if record.turn and short(record.turn) in visit.talk.turns else record


def _shared(visit: Visit, hits: list[str], named: list[str]) -> dict[str, Note]:
    """The fresh ones of the notes that share the most with a turn, `MAX_LIKELY` at most."""
    params, waiting, quiet = visit.params, visit.waiting, visit.quiet
    alike, since = params.alike, visit.now - int(params.cooldown * HOUR)
    levels = _levels(params)
    sums: dict[str, float] = {}
    for stem in hits:
        notes = waiting.termed[stem]
        if len(notes) <= alike:
            worth = levels[CLASSES[stem]]
            for note in notes:
                if note not in quiet or quiet[note] <= since:
                    sums[note] = sums.get(note, 0.0) + worth
    for name in named:
        notes = waiting.named[name]
        if len(notes) <= alike:
            worth = _name_weight(params, name)
            for note in notes:
                if note not in quiet or quiet[note] <= since:
                    sums[note] = sums.get(note, 0.0) + worth
    if len(sums) > MAX_LIKELY:
        sums = dict(sorted(sums.items(), key=lambda entry: (-entry[1], entry[0]))[:MAX_LIKELY])
    return {note: record for note in sums if (record := _fresh(visit, note)) is not None}


def _reasons(
    visit: Visit, fresh: dict[str, Note], urgent: set[str], said: list[str], hits: list[str], named: list[str]
) -> Callable[[str], str]:
    """Tells why a note is to be shown: the word that says that the talk came to its matter, or "priority" where it
    presses; "" for one that is not to be shown."""
    params, before, levels = visit.params, _before(visit.params, visit.talk), _levels(visit.params)
    weight = {stem: levels[CLASSES[stem]] for stem in hits}
    weight.update({f"@{name}": _name_weight(params, name) for name in named})
    phrases = [f"{one} {two}" for one, two in pairwise(said) if one in weight and two in weight]
    thin = 1 + max(0, len(said) - params.long) / (2 * params.long)

    def reason(note: str) -> str:
        word = _weigh(params, fresh[note], weight, phrases, before, thin) if note in fresh else ""
        return word or ("priority" if note in urgent else "")

    return reason


def _weigh(
    params: TtlEscalationsParams,
    record: Note,
    weight: dict[str, float],
    phrases: list[str],
    before: dict[str, float],
    thin: float,
) -> str:
    """The heaviest word a note shares with the talk, "" where all of them together do not weigh enough."""
    enough = params.enough
    shared = [stem for stem in record.terms if stem in weight]
    if record.names:
        shared += [f"@{name}" for name in record.names if f"@{name}" in weight]
    sure = soft = 0.0
    for word in shared:
        if (weighs := weight[word]) >= enough:
            sure += weighs
        else:
            soft += weighs
    if phrases and record.phrases:
        soft += params.phrase * len([phrase for phrase in phrases if phrase in record.phrases])
    if before:
        soft += sum(before[stem] for stem in record.terms if stem in before and stem not in weight)
    if soft and sure < enough:
        levels = _levels(params)
        if soft >= params.most * sum(levels[CLASSES[stem]] for stem in record.terms):
            soft += params.whole
    if not shared or sure + soft / thin + EPSILON < enough:
        return ""
    return max(shared, key=weight.__getitem__).removeprefix("@")


def _before(params: TtlEscalationsParams, talk: Talk) -> dict[str, float]:
    """What the words of the window's earlier turns weigh."""
    if params.window < 2 or not any(talk.hits):
        return {}
    levels = _levels(params)
    return {stem: params.before * levels[CLASSES[stem]] for hits in talk.hits[1 - params.window :] for stem in hits}


def _levels(params: TtlEscalationsParams) -> tuple[float, float, float, float]:
    """What a word weighs, by its class: LIGHT, COMMON, ORDINARY, RARE."""
    return 0.0, params.common, params.ordinary, params.rare


def _name_weight(params: TtlEscalationsParams, name: str) -> float:
    """What a name adds to the weight of its words: a path or number tells the matter, a plain name has told it."""
    if name.isalnum() and (len(name) <= 3 or name.isalpha()):
        return params.capital if name.isalpha() and _common_name(name) else 0.0
    return params.rare


@lru_cache(maxsize=4096)
def _common_name(name: str) -> bool:
    return any(rarity(stem) < RARE for stem in terms(name)[0])


def _effective(visit: Visit, note: Note) -> float:
    return effective_priority(visit.params, note.priority, note.opened, note.deadline, visit.now)


def _show(visit: Visit, likely: dict[str, Note], reason_of: Callable[[str], str], out: list[Derived]) -> None:
    """Surfaces the most pressing of those that there is a reason for. Why in this order: many may be likely, few are
    shown, and no more need be weighed."""
    now, turn, waiting, visitor = visit.now, visit.turn, visit.waiting, visit.visitor
    ranked = sorted((-_effective(visit, record), record.deadline, note) for note, record in likely.items())
    left = visit.params.shown
    for priority, _, note in ranked:
        if not (reason := reason_of(note)):
            continue
        record = likely[note]
        record.shown.pop(visitor, None)
        record.shown[visitor] = now  # the last one now: they stand in the order in which they saw it
        if visit.talk.ended < now:
            waiting.hush(visitor, note, now)
        while len(record.shown) > MAX_SESSIONS:
            longest = next(iter(record.shown))
            del record.shown[longest]
            waiting.stir(longest, note)
        visit.state.put(f"note/{note}", record)
        out.append(NoteSurfaced(turn.space, turn.session, turn.at, note, turn.id, -priority, reason))
        left -= 1
        if not left:
            return


def _remember(visit: Visit, hits: list[str]) -> None:
    """The window moves on by a turn that hit fresh notes, or none; where it holds nothing, nothing is kept."""
    turn, talk, waiting = visit.turn, visit.talk, visit.waiting
    row = sorted(hits, key=rarity, reverse=True)[:MAX_HITS] if hits else hits
    if not row and not any(talk.turns):
        return
    turn_on(talk, visit.params.window, short(turn.id) if row else "", row)
    if any(talk.turns) or talk.ended >= 0:
        keep_talk(visit.state, waiting, turn.session, talk)
    else:
        waiting.talks.discard(turn.session)
        visit.state.delete(f"talk/{turn.session}")
