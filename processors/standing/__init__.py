"""Standing: what a person said to hold from then on stands in every context of the space, whatever is asked.

How whoever answers must act or is to answer ("nothing gets pushed without me reading the diff"), a lasting choice, a
lasting fact of a person ("can't, I'm coeliac") share no word with most of what they concern: a cake for Sunday, the
next parser. So it is no matter of recall. Which sentences of a user's turn are such is told by learned weights of what
the sentence, its turn, and what was answered before it and then to it tell (core/text/standing): what is likely but
not sure waits for the next answer in its session. A wrong line in every context is worse than a missed one, so it must
be likely: `sure`; where only people ever spoke, who tell each other such things, `among`. A note whose context, or
whose first word before a colon, is "rule" stands, too, and waits for nothing (see ttl_escalations).

It goes where its turn is retracted, where a later statement takes its place (contradictions), and where somebody says
that it is settled (`note-settled` of its note or turn). Said twice, in the same words, it stands once, as it was said
last.

A context has a few lines of it: rules that were taken down first, then what shares words with the question, then the
newest; not what the session's last turns say themselves.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from processors.contradictions import BeliefContradicted, BeliefRestored
from processors.standing.events import Ended, StandingTold, Status
from processors.standing.section import SECTION
from streams.core.events import NoteSettled, NoteTaken, TurnRecorded, TurnRetracted
from streams.core.params import Params, param
from streams.core.processor import Derived, Processor, Raw, State, derived_id, digest, on
from streams.core.read_model import Group, Joins, Keep, ReadModel
from streams.core.text.learned import likelihood
from streams.core.text.named import rule_of
from streams.core.text.signals import folded
from streams.core.text.standing import BEFORE, answered, doing, in_passing, why, why_answered
from streams.core.text.telling import shortened
from streams.core.text.within import first_bytes

__all__ = ["PROCESSOR", "StandingParams", "StandingTold"]

MAX_TEXT = 240
"""Bytes kept of what was said."""
MOST_ADDED = 250
"""How much an answer that takes note of a sentence may add to its score, in hundredths of log odds."""
SAME = 8
"""Times that the same words are remembered."""
_NONE: tuple[Derived, ...] = ()


class StandingParams(Params):
    """How likely it must be."""

    sure: int = param(
        -100, "hundredths of log odds", "from this on it stands: of what is shown in all contexts most must be right",
        "learned",
    )  # fmt: skip
    among: int = param(
        300, "hundredths of log odds", "the same where only people spoke in the space: they tell it each other",
        "chats and meetings, in which nearly nothing stands for whoever answers",
    )  # fmt: skip


class Waiting(NamedTuple):
    """A sentence that may stand, and does where the answer takes note of it."""

    turn: str
    number: int
    """Which of those of its turn."""
    sentence: str
    text: str
    """What would stand."""
    score: int
    """What it and its turn tell."""
    at: int


@dataclass(slots=True)
class Said:
    """State, `said/<session>`: who talks in a session."""

    text: str = ""
    """What was answered last; "" where no agent spoke yet."""
    first: str = ""
    """Who of the people spoke first."""
    among: bool = False
    """Whether another of them spoke before any agent did."""
    waiting: list[list[Any]] = field(default_factory=list)
    """What the last turn of a person said that may stand, until it is answered: the fields of `Waiting`."""


@dataclass(slots=True)
class Answers:
    """State, `agent`: whether an agent ever spoke in the space, as one that people talk with does."""

    spoke: bool = False


@dataclass(slots=True)
class Kept:
    """State, `id/<id>`: what stands, or stood."""

    session: str
    turn: str
    note: str
    text: str
    likelihood: float
    same: str
    """The hash of its words."""
    why: list[str] = field(default_factory=list)
    ended: Ended = ""
    by: str = ""
    at: int = 0
    """When it was said or taken down."""


@dataclass(slots=True)
class Ids:
    """State, `turn/<turn>`: what a turn told; `answer/<turn>`: what an answer made sure of; `note/<note>`: what a note
    told; `same/<hash>`: what was told in the same words, the oldest first."""

    rows: list[str] = field(default_factory=list)


def _current(state: State, same: str) -> str:
    """Of what was told in the same words, what stands: the newest that did not end."""
    kept = state.get(f"same/{same}", Ids) or Ids()
    return next((id for id in reversed(kept.rows) if (one := state.get(f"id/{id}", Kept)) and not one.ended), "")


def _told(state: State, cause: Any, ids: Sequence[str]) -> Iterator[Derived]:
    """What was told, as it stands now."""
    for id in dict.fromkeys(ids):
        one = state.get(f"id/{id}", Kept)
        if one is not None:
            status: Status = one.ended or ("current" if _current(state, one.same) == id else "repeated")
            yield StandingTold(
                cause.space, one.session, cause.at, id, one.turn, one.note, "taken" if one.note else "said", one.text,
                one.at, one.likelihood, status, one.by, one.why,
            )  # fmt: skip


def _stand(state: State, cause: Any, id: str, kept: Kept) -> Iterator[Derived]:
    """Takes down what stands from now on."""
    before = _current(state, kept.same)
    state.put(f"id/{id}", kept)
    same = state.get(f"same/{kept.same}", Ids) or Ids()
    state.put(f"same/{kept.same}", Ids([*(one for one in same.rows if one != id), id][-SAME:]))
    yield from _told(state, cause, [before, id] if before else [id])


def _end(state: State, cause: Any, id: str, ended: Ended, by: str = "") -> Iterator[Derived]:
    """It does not stand any more, or stands again (""); what was said before it in the same words does, where that
    did not end."""
    kept = state.get(f"id/{id}", Kept)
    if kept is None or kept.ended == ended:
        return
    before = _current(state, kept.same)
    kept = replace(kept, ended=ended, by=by)
    state.put(f"id/{id}", kept)
    after = _current(state, kept.same)
    changed = [one for one in (before, after) if one and before != after]
    yield from _told(state, cause, [id, *changed])


def _end_all(state: State, cause: Any, told: str, ended: Ended) -> list[Derived]:
    """Whatever a turn or a note told does not stand any more."""
    of = state.get(told, Ids) or Ids()
    return [event for id in of.rows for event in _end(state, cause, id, ended)]


def _same(text: str) -> str:
    """The hash of the words of a text."""
    return digest(" ".join(folded(text)))


def _turn(params: StandingParams, state: State, turn: TurnRecorded, raw: Raw[TurnRecorded]) -> Sequence[Derived]:
    talk = state.get(f"said/{turn.session}", Said) or Said()
    answers = state.get("agent", Answers) is not None
    if turn.role == "assistant":
        state.put(f"said/{turn.session}", replace(talk, text=turn.content[:BEFORE], waiting=[]))
        if not answers:
            state.put("agent", Answers(True))
        return _answered(params, state, turn, [Waiting(*one) for one in talk.waiting]) if talk.waiting else _NONE
    if turn.role != "user":  # a tool or a prompt is nobody
        return _NONE
    who = turn.agent or turn.role
    if not talk.text and (not talk.first or (who != talk.first and not talk.among)):
        talk = replace(talk, first=talk.first or who, among=bool(talk.first))
        state.put(f"said/{turn.session}", talk)
    out: list[Derived] = []
    ids: list[str] = []
    waiting: list[Waiting] = []
    sure = params.sure if talk.text or answers or not talk.among else params.among
    whole, before, stands = " ".join(turn.content.split()), talk.text, raw.text.standing
    short = len(whole.encode()) <= MAX_TEXT  # it tells all of it
    does = doing(raw.text.acts, raw.text.states) if stands else []
    for number, (passing, plain, start, end) in enumerate(zip(*(stands[at::4] for at in range(4)), strict=True)):
        if short and ids:
            break
        sentence = turn.content[start:end]
        said = in_passing(passing, sentence, before)
        text = whole if short else shortened(sentence, MAX_TEXT)
        if (score := max(said, plain)) >= sure:
            ids.append(derived_id("standing", turn.space, turn.id, number))
            signals = why(turn.content, start, end, does, before)
            kept = Kept(turn.session, turn.id, "", text, likelihood(score), _same(text), signals, at=turn.at)
            out += _stand(state, turn, ids[-1], kept)
        elif said >= params.sure - MOST_ADDED:
            waiting.append(Waiting(turn.id, number, first_bytes(sentence, MAX_TEXT), text, said, turn.at))
    if short:
        waiting = [] if ids else waiting[:1]
    if ids:
        state.put(f"turn/{turn.id}", Ids(ids))
    if waiting or talk.waiting:
        state.put(f"said/{turn.session}", replace(talk, waiting=[[*one] for one in waiting]))
    return out or _NONE


def _answered(params: StandingParams, state: State, answer: TurnRecorded, waiting: Sequence[Waiting]) -> list[Derived]:
    """An agent takes note of what was said, or does not."""
    out: list[Derived] = []
    ids: list[str] = []
    for one in waiting:
        score = one.score + answered(one.sentence, answer.content)
        if score >= params.sure:
            id = derived_id("standing", answer.space, one.turn, one.number)
            signals = [f"said {one.score:+d}", *why_answered(one.sentence, answer.content)]
            ids.append(id)
            out += _stand(
                state, answer, id,
                Kept(answer.session, one.turn, "", one.text, likelihood(score), _same(one.text), signals, at=one.at),
            )  # fmt: skip
            of = state.get(f"turn/{one.turn}", Ids) or Ids()
            state.put(f"turn/{one.turn}", Ids([*of.rows, id]))
    if ids:
        state.put(f"answer/{answer.id}", Ids(ids))
    return out


def _taken(params: StandingParams, state: State, fact: NoteTaken, raw: Raw[NoteTaken]) -> Sequence[Derived]:
    """A note that says of itself that it is a rule."""
    id = derived_id("rule", fact.space, fact.note)
    said = rule_of(fact.content, fact.context)
    if not said:
        return [*_end(state, fact, id, "settled")]  # taken again, as another kind
    text = shortened(said, MAX_TEXT)
    state.put(f"note/{fact.note}", Ids([id]))
    before = state.get(f"id/{id}", Kept)
    gone = [*_end(state, fact, id, "settled")] if before is not None and before.text != text else []
    return [*gone, *_stand(state, fact, id, Kept(fact.session, "", fact.note, text, 1.0, _same(text), at=fact.at))]


def _settled(params: StandingParams, state: State, fact: NoteSettled, raw: Raw[NoteSettled]) -> Sequence[Derived]:
    """Somebody says that it holds no more."""
    return _end_all(state, fact, f"note/{fact.note}" if fact.note else f"turn/{fact.turn}", "settled")


def _retracted(params: StandingParams, state: State, fact: TurnRetracted, raw: Raw[TurnRetracted]) -> Sequence[Derived]:
    """What a turn told that was taken back does not stand, nor what its answer made sure of."""
    talk = state.get(f"said/{fact.session}", Said)
    if talk is not None and any(Waiting(*one).turn == fact.turn for one in talk.waiting):
        state.put(f"said/{fact.session}", replace(talk, waiting=[]))
    return [
        *_end_all(state, fact, f"turn/{fact.turn}", "retracted"),
        *_end_all(state, fact, f"answer/{fact.turn}", "retracted"),
    ]


def _contradicted(params: StandingParams, state: State, belief: BeliefContradicted, raw: Raw[Any]) -> Sequence[Derived]:
    """A later statement takes the place of one that stands: of a turn's, of those that have its value, or of its only
    one."""
    of = state.get(f"turn/{belief.older}", Ids)
    if of is None:
        return _NONE
    out: list[Derived] = []
    for id in of.rows:
        kept = state.get(f"id/{id}", Kept)
        said = kept is not None and (len(of.rows) == 1 or belief.older_value.casefold() in kept.text.casefold())
        if kept is not None and said and not kept.ended:
            out += _end(state, belief, id, "superseded", belief.turn)
    return out or _NONE


def _restored(params: StandingParams, state: State, belief: BeliefRestored, raw: Raw[Any]) -> Sequence[Derived]:
    """What took its place does not do so: it stands again."""
    of = state.get(f"turn/{belief.turn}", Ids)
    out: list[Derived] = []
    for id in of.rows if of is not None and belief.current else ():
        kept = state.get(f"id/{id}", Kept)
        if kept is not None and kept.ended == "superseded" and kept.by == belief.newer:
            out += _end(state, belief, id, "")
    return out or _NONE


DIFFERENCES = """-- count: standing
SELECT count(*) FILTER (status = 'current') AS "standing", count(*) FILTER (status = 'superseded') AS "superseded"
FROM standing
"""
PROCESSOR = Processor(
    name="standing",
    version=5,
    params=StandingParams,
    takes=(
        on(BeliefContradicted, _contradicted),
        on(BeliefRestored, _restored),
        on(TurnRecorded, _turn),
        on(NoteTaken, _taken),
        on(NoteSettled, _settled),
        on(TurnRetracted, _retracted),
    ),
    emits=(StandingTold,),
    reads=("turns", "contradictions"),
    read_model=ReadModel(
        keeps=(Keep(StandingTold, ("id",), "standing"),),
        groups=(Group("standing", "id", {StandingTold: Joins(by="source", only=("status", "current"))}),),
        differences=DIFFERENCES,
        sections=(SECTION,),
        behind={"standing": "(t.space, t.turn_id) IN (SELECT s.space, s.turn FROM standing_told s WHERE s.id = $id)"},
    ),
)
