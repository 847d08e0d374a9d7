"""Open efforts: units of focused work over segments, sessions and speakers, open until concluded.

A turn goes, in this order, to: the effort its agent declared; that of the turn it replies to; where three or more
users speak, that of the message it answers (see crowd); an assistant's or a tool's turn to that of the turn before it;
a user's turn to the likeliest of staying, returning and beginning (see dialogue).

Small talk (greeting, thanks, closing with nothing else said) opens none: it waits and joins what its speaker says next.
A concluded effort is resumed when new work on it comes: a user's turn that asks or tells something, not thanks.
Declared efforts outrank detection and are concluded only by being closed.

Source: Cognitive Context Management, tier 3.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from processors.manifest import (
    ArtifactMade,
    ConclusionDetected,
    ConclusionOffered,
    FactFiled,
    OfferSettled,
    SegmentConcluded,
    SegmentOpened,
    SegmentSummarized,
    TurnFiled,
    TurnRefiled,
)
from processors.open_efforts.crowd import Limits, answered, called, known_as, spoke
from processors.open_efforts.dialogue import (
    Candidate,
    Weights,
    beginning,
    chat,
    parting,
    shares,
    small_talk,
    works,
    worths,
)
from processors.open_efforts.events import (
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
from processors.open_efforts.matching import alike, best
from processors.open_efforts.records import (
    ACTIVE,
    RECENT,
    WORD,
    Active,
    Effort,
    Named,
    Said,
    Segment,
    Session,
    Slot,
    Space,
    Speaker,
    active,
    add,
)
from streams.events import (
    ClockTicked,
    EffortClosed,
    EffortDeclared,
    EffortReopened,
    ImportanceFlagged,
    OfferDeclined,
    SessionEnded,
    SummaryWritten,
    TurnRetracted,
)
from streams.processor import Derived, Processor, State, derived_id, param, r6
from streams.text.terms import scan

__all__ = [
    "PROCESSOR",
    "EffortConcluded",
    "EffortOpened",
    "EffortProgressed",
    "EffortRated",
    "EffortResumed",
    "FactThreaded",
    "OpenEffortsParams",
    "ReferenceMissed",
    "TurnRethreaded",
    "TurnThreaded",
]


class OpenEffortsParams(Weights, Limits):
    """How segments and turns join into efforts."""

    active: int = param(
        512, "efforts", "matching looks at this many last active efforts: law 4, bounded work", ge=4, le=ACTIVE
    )
    crowd: int = param(3, "users", "from so many on, who answers whom tells more than words", ge=2, le=8)
    common: int = param(8, "efforts", "a word that more efforts share tells none apart, and costs work", ge=1, le=64)
    read: int = param(16, "words", "of one turn that are matched and remembered: law 4", ge=4, le=64)
    name_weight: float = param(3.0, "times", "a shared name tells more than a shared word", ge=0)
    likely: float = param(0.1, "probability", "an effort this likely is told as similar", ge=0, le=1)
    habit: int = param(64, "user turns", "the session's habit of switching fades over so many", ge=2)


Read = (
    SegmentOpened
    | TurnFiled
    | TurnRefiled
    | SegmentSummarized
    | ConclusionDetected
    | SegmentConcluded
    | ConclusionOffered
    | OfferSettled
    | ArtifactMade
    | FactFiled
)
_PATTERN = "closed"
TOPIC = 200
"""Characters of a topic at most."""


def step(params: OpenEffortsParams, state: State, event: Read) -> list[Derived]:
    """Threads each turn into its effort; follows conclusions, declarations and what else concerns efforts."""
    out: list[Derived] = []
    match event:
        case TurnFiled():
            _turn(params, state, event, out)
        case SegmentOpened() | ConclusionDetected() | ConclusionOffered() | OfferSettled() | ArtifactMade():
            pass
        case TurnRefiled():
            _refiled(state, event)
        case SegmentSummarized():
            _progressed(state, event, out)
        case SegmentConcluded():
            _concluded(state, event, out)
        case FactFiled():
            _fact(params, state, event, out)
    return out


@dataclass(slots=True)
class _Turn:
    """A turn on its way to its effort."""

    event: TurnFiled
    index: Active
    session: Session
    terms: list[str]
    names: list[str]
    me: str
    speaker: Speaker
    crowd: bool
    small: bool
    other: Speaker | None = None
    """Whom the turn calls by name, where many speak."""
    name: str = ""
    similar: dict[str, float] = field(default_factory=dict)
    score: float = 1.0
    reason: str = ""


def _turn(params: OpenEffortsParams, state: State, event: TurnFiled, out: list[Derived]) -> None:
    turn = _look(params, state, event)
    effort_id = _place(params, state, turn)
    if not effort_id and not turn.small and event.role != "system" and turn.reason != "turn-taking":
        effort_id, turn.reason, turn.score = derived_id("effort", event.space, event.turn), "new", 1.0
    effort = state.get(f"effort/{effort_id}", Effort) if effort_id else None
    if effort_id and effort is None:
        topic = " ".join(dict.fromkeys(turn.names[:2] + turn.terms[:6]))[:TOPIC]
        effort = Effort(event.session, event.at, topic=topic)
        turn.speaker.began = effort_id
        out.append(EffortOpened(event.space, event.session, event.at, effort_id, event.turn, "", topic, "unmatched"))
    counts = event.text.counts[: len(turn.terms)]
    said = Said(event.turn, event.session, event.agent, effort_id, event.segment, turn.terms, counts, turn.names)
    space = state.get("space", Space) or Space()
    if effort is not None:
        if effort.status == "concluded" and event.role == "user" and works(event.text, turn.small):
            _reopen(effort, event, effort_id, event.turn, "work", out)
        _join(params, state, turn, space, effort_id, effort, said)
    _remember(state, turn.index, space, said)
    ranked = best(turn.similar, 8)
    own = [effort_id] if effort_id else []
    out.append(
        TurnThreaded(
            event.space, event.session, event.at, event.turn, event.agent, event.role, event.segment, effort_id,
            r6(turn.score), turn.reason if effort_id else "system" if event.role == "system" else "small-talk",
            _named(state, own, turn.names) if turn.names else own,
            [key for key, _ in ranked], [r6(value) for _, value in ranked], event.text,
        )
    )  # fmt: skip
    _wait(state, turn, effort_id, effort, out)
    _leave(state, turn, effort_id)


def _look(params: OpenEffortsParams, state: State, event: TurnFiled) -> _Turn:
    """What the turn says, who says it, and to whom."""
    index = state.index(active)
    text = event.text
    session = state.get(f"session/{event.session}", Session) or Session()
    me = known_as(event.agent)
    user = event.role == "user"
    if user and len(session.users) < params.crowd and me not in session.users:
        session.users.append(me)
    crowd = len(session.users) >= params.crowd
    names = [name for name in text.names if len(name) <= WORD] if text.names else []
    speaker = state.get(f"speaker/{event.session}/{me}", Speaker) or Speaker()
    turn = _Turn(event, index, session, text.terms[: params.read], names, me, speaker, crowd, small_talk(text))
    if crowd and user:
        turn.name = called(state, event.session, me, text, index.terms, params.common)
        turn.other = state.get(f"speaker/{event.session}/{turn.name}", Speaker) if turn.name else None
    if user or not session.users:
        turn.similar = alike(index, turn.terms, names, params.name_weight, params.common, params.likely)
    return turn


def _place(params: OpenEffortsParams, state: State, turn: _Turn) -> str:
    """The effort that the turn belongs to; "" for none yet."""
    event, session = turn.event, turn.session
    for declared in (turn.speaker.declared, session.declared):
        if declared and (effort := state.get(f"effort/{declared}", Effort)) and effort.status == "open":
            turn.reason = "declared"
            return declared
    if event.reply_to and (said := _said(state, turn.index, event.reply_to)) and said.effort:
        turn.reason = "reply"
        return said.effort
    if event.role == "system":
        return ""
    if turn.crowd and event.role == "user":
        known = turn.speaker if turn.speaker.turn >= 0 else None
        effort_id, turn.reason = answered(known, turn.other, turn.name, event.at, params)
        return effort_id
    if event.role != "user" and session.users:
        turn.reason = "turn-taking"
        return session.last
    return _likeliest(params, state, turn)


def _likeliest(params: OpenEffortsParams, state: State, turn: _Turn) -> str:
    """Staying, returning or beginning; what is likely at all is similar, too."""
    event, session, similar, cues = turn.event, turn.session, turn.similar, turn.event.text.cues
    candidates = [
        Candidate(effort_id, effort, effort.parted or effort.status == "concluded")
        for effort_id in session.recent
        if (effort := state.get(f"effort/{effort_id}", Effort)) is not None
    ]
    if turn.small and (not candidates or ("greeting" in cues and candidates[-1].done) or chat(event.text)):
        return ""
    worth = worths(
        params, candidates, session.effort, event.segment != session.segment, session.stays, session.switches,
        turn.terms, turn.names, cues,
    )  # fmt: skip
    resumes = params.resumes if "resume" in cues else 0.0
    for effort_id, value in best(similar, 3):
        if effort_id not in worth:
            worth[effort_id] = params.like * value - params.elsewhere + resumes
    if not turn.small:
        worth[""] = beginning(params, cues, bool(candidates), turn.speaker.turn < 0)
    found = shares(worth)
    chosen = max(found, key=lambda key: (found[key], key == session.effort, key))
    for effort_id, share in found.items():
        if effort_id and share >= params.likely and share > similar.get(effort_id, 0.0):
            similar[effort_id] = share
    _habit(params, session, chosen)
    turn.score, turn.reason = found[chosen], "stay" if chosen == session.effort else "words"
    return chosen


def _habit(params: OpenEffortsParams, session: Session, chosen: str) -> None:
    """How often this session's user stays, fading."""
    if session.effort:
        if chosen == session.effort:
            session.stays += 1
        else:
            session.switches += 1
        if session.stays + session.switches > params.habit:
            session.stays, session.switches = session.stays // 2, session.switches // 2


def _remember(state: State, index: Active, space: Space, said: Said) -> None:
    """Keeps the turn among the recent ones; the oldest of them is forgotten."""
    n = space.turns
    key = f"turn/{n % RECENT}"
    if n >= RECENT:
        old = state.get(key, Said)
        if old is not None:
            index.turns.pop(old.turn, None)
    index.turns[said.turn] = n
    state.put(key, said)
    space.turns = n + 1
    state.put("space", space)


def _leave(state: State, turn: _Turn, effort_id: str) -> None:
    """What the session and its speakers remember of the turn."""
    event, session = turn.event, turn.session
    if event.role == "user":
        spoke(turn.speaker, turn.other, turn.me, turn.name, event.at, session.turns, effort_id or turn.speaker.effort)
        state.put(f"speaker/{event.session}/{turn.me}", turn.speaker)
        if turn.other is not None:
            state.put(f"speaker/{event.session}/{turn.name}", turn.other)
    session.turns += 1
    if event.role != "system":
        session.last = effort_id
    session.segment = event.segment
    if effort_id and effort_id != session.effort:
        session.effort = effort_id
        if effort_id in session.recent:
            session.recent.remove(effort_id)
        session.recent.append(effort_id)
        del session.recent[:-8]
    state.put(f"session/{event.session}", session)


def _reopen(
    effort: Effort, event: TurnFiled | FactFiled, effort_id: str, turn: str, reason: str, out: list[Derived]
) -> None:
    effort.status = "open"
    out.append(EffortResumed(event.space, event.session, event.at, effort_id, turn, reason))


def _join(
    params: OpenEffortsParams, state: State, turn: _Turn, space: Space, effort_id: str, effort: Effort, said: Said
) -> None:
    """The turn is one of the effort's."""
    event = turn.event
    effort.turns += 1
    effort.at = event.at
    effort.session = event.session
    space.touched += 1
    effort.seen = space.touched
    if event.role == "user":
        effort.parted = parting(event.text.cues, len(event.text.terms))
    else:
        effort.asked = dict(zip(said.terms, said.counts, strict=False))
    key = f"segment/{event.segment}"
    segment = state.get(key, Segment) or Segment()
    if effort_id not in segment.efforts:
        effort.segments += 1
        effort.live = [*(live for live in effort.live if live != event.segment), event.segment][-8:]
        if len(segment.efforts) >= 8:
            del segment.efforts[next(iter(segment.efforts))]
    segment.efforts[effort_id] = segment.efforts.get(effort_id, 0) + 1
    state.put(key, segment)
    _activate(params, state, turn.index, effort_id, effort)
    for name in said.names:
        if name not in effort.names:
            _name(state, name, effort_id)
    add(turn.index, effort_id, effort, said)
    state.put(f"effort/{effort_id}", effort)


def _activate(params: OpenEffortsParams, state: State, index: Active, effort_id: str, effort: Effort) -> None:
    """The effort is the last active one; at capacity the longest untouched leaves the table of the active."""
    slot = index.slots.pop(effort_id, None)
    if slot is not None:
        index.slots[effort_id] = slot
        return
    slot = len(index.slots)
    if slot >= params.active:
        oldest = next(iter(index.slots))
        slot = index.leave(oldest, state.get(f"effort/{oldest}", Effort) or Effort("", 0))
    index.enter(effort_id, effort, slot)
    state.put(f"active/{slot}", Slot(effort_id))


def _name(state: State, name: str, effort_id: str) -> None:
    """The name stands for the effort, among the last 8."""
    key = f"name/{name}"
    named = state.get(key, Named) or Named()
    if effort_id in named.efforts:
        named.efforts.remove(effort_id)
    named.efforts.append(effort_id)
    del named.efforts[:-8]
    state.put(key, named)


def _named(state: State, own: list[str], names: list[str]) -> list[str]:
    """The efforts that a turn names, its own first; at most 8. A name that stands for more than two tells none."""
    found = dict.fromkeys(own)
    for name in names:
        named = state.get(f"name/{name}", Named)
        if named is not None and len(named.efforts) <= 2:
            found.update(dict.fromkeys(reversed(named.efforts)))
    return list(found)[:8]


def _wait(state: State, turn: _Turn, effort_id: str, effort: Effort | None, out: list[Derived]) -> None:
    """A greeting waits for what its speaker says next, and joins it."""
    event, session, speaker = turn.event, turn.session, turn.speaker
    if event.role == "system" or chat(event.text):
        return
    if not effort_id:
        if turn.crowd:
            speaker.pending = event.turn
        elif turn.small or session.pending:
            session.pending = [*session.pending, event.turn][-4:]
        return
    waiting = [speaker.pending] if speaker.pending else []
    speaker.pending = ""
    if not turn.crowd and session.pending:
        waiting, session.pending = session.pending, []
    for earlier in waiting:
        said = _said(state, turn.index, earlier)
        if said is not None and not said.effort and effort is not None:
            said.effort = effort_id
            state.put(f"turn/{turn.index.turns[earlier] % RECENT}", said)
            effort.turns += 1
            add(turn.index, effort_id, effort, said)
            out.append(TurnRethreaded(event.space, event.session, event.at, earlier, effort_id))


def _said(state: State, index: Active, turn: str) -> Said | None:
    """What a recent turn said."""
    n = index.turns.get(turn)
    return state.get(f"turn/{n % RECENT}", Said) if n is not None else None


def _main(state: State, segment: str) -> str:
    """The effort that most turns of a segment belong to, the latest among equals."""
    found = state.get(f"segment/{segment}", Segment) if segment else None
    if found is None:
        return ""
    best, most = "", 0
    for effort_id, turns in found.efforts.items():
        if turns >= most:
            best, most = effort_id, turns
    return best


def _refiled(state: State, event: TurnRefiled) -> None:
    index = state.index(active)
    said = _said(state, index, event.turn)
    if said is None or not said.effort or said.segment == event.segment:
        return
    key = f"segment/{said.segment}"
    old = state.get(key, Segment)
    if old is not None and said.effort in old.efforts:
        old.efforts[said.effort] -= 1
        if old.efforts[said.effort] <= 0:
            del old.efforts[said.effort]
        state.put(key, old)
    new = state.get(f"segment/{event.segment}", Segment) or Segment()
    new.efforts[said.effort] = new.efforts.get(said.effort, 0) + 1
    state.put(f"segment/{event.segment}", new)
    said.segment = event.segment
    state.put(f"turn/{index.turns[event.turn] % RECENT}", said)


def _progressed(state: State, event: SegmentSummarized, out: list[Derived]) -> None:
    effort_id = _main(state, event.segment)
    effort = state.get(f"effort/{effort_id}", Effort) if effort_id else None
    if effort is None:
        return
    effort.summaries.pop(event.segment, None)
    effort.summaries[event.segment] = event.summary[:400]
    while len(effort.summaries) > 3:
        del effort.summaries[next(iter(effort.summaries))]
    if event.closed and event.segment in effort.live:
        effort.live.remove(event.segment)
    _report(state, event.space, event.session, event.at, effort_id, effort, out)


def _report(
    state: State, space: str, session: str, at: int, effort_id: str, effort: Effort, out: list[Derived]
) -> None:
    """What the effort is about so far."""
    index = state.index(active)
    weighed = sorted(effort.terms, key=lambda term: (-effort.terms[term] / len(index.terms.get(term, "1")), term))
    terms = weighed[:12]
    if not effort.declared or not effort.topic:
        names = sorted(effort.names, key=lambda name: -effort.names[name])[:2]
        effort.topic = " ".join(dict.fromkeys(names + terms[:6]))[:TOPIC]
    state.put(f"effort/{effort_id}", effort)
    summary = "\n".join(effort.summaries.values())
    out.append(
        EffortProgressed(space, session, at, effort_id, effort.topic, summary, terms, effort.segments, effort.turns)
    )


def _concluded(state: State, event: SegmentConcluded, out: list[Derived]) -> None:
    said = _said(state, state.index(active), event.turn)
    effort_id = (said.effort if said else "") or _main(state, event.segment)
    effort = state.get(f"effort/{effort_id}", Effort) if effort_id else None
    if effort is None or effort.status == "concluded":
        return
    effort.live = [live for live in effort.live if live != event.segment]
    if not effort.live and not effort.declared:
        effort.status = "concluded"
        out.append(
            EffortConcluded(
                event.space, event.session, event.at, effort_id, event.turn, event.pattern, event.conclusion
            )
        )
    state.put(f"effort/{effort_id}", effort)


def _fact(params: OpenEffortsParams, state: State, event: FactFiled, out: list[Derived]) -> None:
    match event.fact:
        case SessionEnded() | ClockTicked() as fact:
            out.append(FactThreaded(event.space, event.session, event.at, "", fact))
        case TurnRetracted() as retracted:
            out.append(FactThreaded(event.space, event.session, event.at, _take_back(state, retracted.turn), retracted))
        case EffortDeclared() as declared:
            _declare(params, state, event, declared, out)
        case EffortClosed() | EffortReopened() | ImportanceFlagged() as fact:
            _mark(state, event, fact, out)
        case OfferDeclined() | SummaryWritten():
            pass
        case _:
            pass


def _take_back(state: State, turn: str) -> str:
    """A retracted turn's words are no longer matched; gives the effort it belonged to."""
    index = state.index(active)
    said = _said(state, index, turn)
    if said is None:
        return ""
    key = f"turn/{index.turns[turn] % RECENT}"
    effort = state.get(f"effort/{said.effort}", Effort) if said.effort else None
    if effort is None:
        said.turn = ""  # It waits no longer for what follows.
        del index.turns[turn]
    else:
        add(index, said.effort, effort, said, -1)
        effort.turns = max(0, effort.turns - 1)
        if list(effort.asked) == said.terms:
            effort.asked = {}
        for name in said.names:
            if name not in effort.names:
                _unname(state, name, said.effort)
        state.put(f"effort/{said.effort}", effort)
    said.terms, said.counts, said.names = [], [], []
    state.put(key, said)
    return said.effort


def _unname(state: State, name: str, effort_id: str) -> None:
    """The name no longer stands for the effort."""
    named = state.get(f"name/{name}", Named)
    if named is not None and effort_id in named.efforts:
        named.efforts.remove(effort_id)
        if named.efforts:
            state.put(f"name/{name}", named)
        else:
            state.delete(f"name/{name}")


def _find(state: State, space: str, name: str, turn: str, segment: str) -> str:
    """The effort that a fact refers to by its own name or by a turn of it; "" where none is known."""
    if name:
        named = state.get(f"declared/{name.lower()}", Named)
        return named.efforts[-1] if named else ""
    if not turn:
        return ""
    said = _said(state, state.index(active), turn)
    if said is not None:
        return said.effort
    first = derived_id("effort", space, turn)
    return first if state.get(f"effort/{first}", Effort) is not None else _main(state, segment)


def _declare(
    params: OpenEffortsParams, state: State, event: FactFiled, fact: EffortDeclared, out: list[Derived]
) -> None:
    """The agent says what it works on: a new effort, one it named before, or that of a turn."""
    index = state.index(active)
    effort_id = _find(state, event.space, fact.name, "", "") or _find(state, event.space, "", fact.turn, event.segment)
    if not effort_id and not fact.name and not fact.topic:
        _missed(event, fact, out)
        return
    effort = state.get(f"effort/{effort_id}", Effort) if effort_id else None
    if effort is None:
        effort_id = derived_id("effort", event.space, fact.id)
        effort = Effort(event.session, event.at, fact.name, (fact.topic or fact.name)[:TOPIC], True)
        out.append(
            EffortOpened(
                event.space, event.session, event.at, effort_id, fact.turn, fact.name, effort.topic, "declared"
            )
        )
    else:
        if effort.status == "concluded":
            _reopen(effort, event, effort_id, fact.turn, "declared", out)
        effort.declared = True
        effort.name = fact.name or effort.name
        if fact.topic:
            effort.topic = fact.topic[:TOPIC]
            _report(state, event.space, event.session, event.at, effort_id, effort, out)
    if fact.name:
        state.put(f"declared/{fact.name.lower()}", Named([effort_id]))
    _titled(state, index, effort_id, effort, fact)
    space = state.get("space", Space) or Space()
    space.touched += 1
    state.put("space", space)
    effort.seen = space.touched
    _activate(params, state, index, effort_id, effort)
    state.put(f"effort/{effort_id}", effort)
    _assign(params, state, event, fact, effort_id)


def _titled(state: State, index: Active, effort_id: str, effort: Effort, fact: EffortDeclared) -> None:
    """The words of an effort's own name and topic are matched like those of its turns."""
    words = scan(f"{fact.name} {fact.topic}")
    names = list(dict.fromkeys([fact.name.lower(), *words.names]))
    names = [name for name in names if name and len(name) <= WORD]
    for name in names:
        _name(state, name, effort_id)
    add(index, effort_id, effort, Said("", "", "", "", "", words.terms, words.counts, names))


def _assign(params: OpenEffortsParams, state: State, event: FactFiled, fact: EffortDeclared, effort_id: str) -> None:
    """From now on the declaring agent's turns go to the effort; the whole session's where few speak."""
    session = state.get(f"session/{event.session}", Session) or Session()
    said = _said(state, state.index(active), fact.turn)
    if said is not None and len(session.users) >= params.crowd:
        key = f"speaker/{event.session}/{known_as(said.agent)}"
        speaker = state.get(key, Speaker) or Speaker()
        speaker.declared = effort_id
        state.put(key, speaker)
        return
    session.declared = effort_id
    state.put(f"session/{event.session}", session)


def _mark(
    state: State, event: FactFiled, fact: EffortClosed | EffortReopened | ImportanceFlagged, out: list[Derived]
) -> None:
    name = "" if isinstance(fact, ImportanceFlagged) else fact.name
    effort_id = _find(state, event.space, name, fact.turn, event.segment)
    effort = state.get(f"effort/{effort_id}", Effort) if effort_id else None
    if effort is None:
        _missed(event, fact, out)
        return
    if isinstance(fact, ImportanceFlagged):
        if effort.importance != fact.importance:
            effort.importance = fact.importance
            out.append(EffortRated(event.space, event.session, event.at, effort_id, fact.importance))
    elif isinstance(fact, EffortReopened):
        if effort.status == "concluded":
            _reopen(effort, event, effort_id, fact.turn, "reopened", out)
    elif effort.status == "open":
        effort.status = "concluded"
        effort.live = []
        out.append(
            EffortConcluded(
                event.space, event.session, event.at, effort_id, fact.turn, _PATTERN, fact.conclusion[:2000]
            )
        )
    state.put(f"effort/{effort_id}", effort)


def _missed(
    event: FactFiled, fact: EffortDeclared | EffortClosed | EffortReopened | ImportanceFlagged, out: list[Derived]
) -> None:
    name = "" if isinstance(fact, ImportanceFlagged) else fact.name
    out.append(ReferenceMissed(event.space, event.session, event.at, fact.type, name, fact.turn))


PROCESSOR = Processor(
    name="open_efforts",
    version=1,
    reads="manifest",
    params=OpenEffortsParams,
    emits=(
        EffortOpened, TurnThreaded, TurnRethreaded, EffortProgressed, EffortConcluded, EffortResumed, EffortRated,
        FactThreaded, ReferenceMissed,
    ),
    step=step,
)  # fmt: skip
