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
from processors.open_efforts.dialogue import ASKING, Candidate, Weights, beginning, parting, shares, worths
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
from processors.open_efforts.matching import alike
from processors.open_efforts.records import (
    ACTIVE,
    NAMES,
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
    common: int = param(16, "efforts", "a word that more efforts share tells none apart, and costs work", ge=1, le=64)
    read: int = param(24, "words", "of one turn that are matched and remembered: law 4", ge=4, le=64)
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
_SMALL = frozenset(("greeting", "thanks", "welcome", "closing"))
_PATTERN = "closed"


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


def _turn(params: OpenEffortsParams, state: State, event: TurnFiled, out: list[Derived]) -> None:
    index = state.index(active)
    text = event.text
    key = f"session/{event.session}"
    session = state.get(key, Session) or Session()
    space = state.get("space", Space) or Space()
    terms = [term for term in text.terms[: params.read] if len(term) <= WORD]
    names = [name for name in text.names if len(name) <= WORD]
    me = known_as(event.agent)
    if event.role == "user" and me not in session.users and len(session.users) < params.crowd:
        session.users.append(me)
    crowd = len(session.users) >= params.crowd
    similar = alike(index, terms, names, params.name_weight, params.common, params.read)
    speaker, other, name = _speakers(params, state, event, me, crowd, index)
    effort_id, score, reason = _place(
        params, state, event, session, index, similar, terms, names, speaker, other, name, crowd
    )
    small = _small(event)
    if not effort_id and not small and event.role != "system":
        effort_id, reason, score = derived_id("effort", event.space, event.turn), "new", 1.0
    effort = state.get(f"effort/{effort_id}", Effort) if effort_id else None
    counts = text.counts[: len(terms)] if len(terms) == min(params.read, len(text.terms)) else [1] * len(terms)
    said = Said(event.turn, event.session, event.agent, effort_id, event.segment, terms, counts, names)
    if effort_id and effort is None:
        effort = Effort(event.session, event.at)
        effort.topic = " ".join(dict.fromkeys(names[:2] + terms[:6]))[:200]
        speaker.began = effort_id
        out.append(
            EffortOpened(event.space, event.session, event.at, effort_id, event.turn, "", effort.topic, "unmatched")
        )
    if effort is not None:
        if effort.status == "concluded" and _works(event, small):
            _reopen(effort, event, effort_id, event.turn, "work", out)
        _join(params, state, index, space, session, effort_id, effort, said, event, out)
    n = space.turns
    old = state.get(f"turn/{n % RECENT}", Said)
    if old is not None and index.turns.get(old.turn) == n - RECENT:
        del index.turns[old.turn]
    index.turns[event.turn] = n
    state.put(f"turn/{n % RECENT}", said)
    space.turns += 1
    state.put("space", space)
    own = [effort_id] if effort_id else []
    ranked = sorted(similar.items(), key=lambda pair: (-pair[1], pair[0]))[:8]
    out.append(
        TurnThreaded(
            event.space, event.session, event.at, event.turn, event.agent, event.role, event.segment, effort_id,
            r6(score), reason if effort_id else "system" if event.role == "system" else "small-talk",
            _named(state, own, names), [pair[0] for pair in ranked], [r6(min(1.0, pair[1])) for pair in ranked], text,
        )
    )  # fmt: skip
    _wait(params, state, index, event, session, speaker, effort_id, effort, crowd, out)
    if event.role == "user":
        spoke(speaker, other, me, name, event.at, session.turns, effort_id or speaker.effort)
        state.put(f"speaker/{event.session}/{me}", speaker)
        if other is not None:
            state.put(f"speaker/{event.session}/{name}", other)
    session.turns += 1
    if event.role != "system":
        session.last = effort_id
    session.segment = event.segment
    if effort_id:
        session.effort = effort_id
        if effort_id in session.recent:
            session.recent.remove(effort_id)
        session.recent.append(effort_id)
        del session.recent[:-8]
    state.put(key, session)


def _speakers(
    params: OpenEffortsParams, state: State, event: TurnFiled, me: str, crowd: bool, index: Active
) -> tuple[Speaker, Speaker | None, str]:
    """Who speaks, whom the turn calls, and by what name."""
    speaker = state.get(f"speaker/{event.session}/{me}", Speaker) or Speaker()
    name = called(state, event.session, me, event.text, index.terms, params.common) if crowd else ""
    return speaker, state.get(f"speaker/{event.session}/{name}", Speaker) if name else None, name


def _place(
    params: OpenEffortsParams, state: State, event: TurnFiled, session: Session, index: Active,
    similar: dict[str, float], terms: list[str], names: list[str], speaker: Speaker, other: Speaker | None, name: str,
    crowd: bool,
) -> tuple[str, float, str]:  # fmt: skip
    """The effort that the turn belongs to, how sure, and why; "" for none yet."""
    for declared in (speaker.declared, session.declared):
        if declared and (effort := state.get(f"effort/{declared}", Effort)) and effort.status == "open":
            return declared, 1.0, "declared"
    if event.reply_to and (said := _said(state, index, event.reply_to)) and said.effort:
        return said.effort, 1.0, "reply"
    if event.role == "system":
        return "", 0.0, "system"
    if crowd and event.role == "user":
        known = speaker if speaker.turn >= 0 else None
        effort_id, reason = answered(known, other, name, event.at, params)
        return effort_id, 1.0 if effort_id else 0.0, reason
    if event.role != "user" and session.users:
        return session.last, 1.0, "turn-taking"
    return _best(params, state, event, session, similar, terms, names)


def _best(
    params: OpenEffortsParams, state: State, event: TurnFiled, session: Session, similar: dict[str, float],
    terms: list[str], names: list[str],
) -> tuple[str, float, str]:  # fmt: skip
    """The likeliest of staying, returning and beginning; what is likely at all is similar, too."""
    small, cues = _small(event), event.text.cues
    candidates = [
        Candidate(effort_id, effort, effort.parted or effort.status == "concluded")
        for effort_id in session.recent
        if (effort := state.get(f"effort/{effort_id}", Effort)) is not None
    ]
    if small and (not candidates or ("greeting" in cues and candidates[-1].done)):
        return "", 0.0, ""
    worth = worths(
        params, candidates, session.effort, event.segment != session.segment, session.stays, session.switches,
        terms, names, cues,
    )  # fmt: skip
    resumes = params.resumes if "resume" in cues else 0.0
    for effort_id in sorted(similar, key=lambda key: (-similar[key], key))[:3]:
        if effort_id not in worth:
            worth[effort_id] = params.like * similar[effort_id] - params.elsewhere + resumes
    if not small:
        worth[""] = beginning(params, cues, small, bool(candidates))
    found = shares(worth)
    best = max(found, key=lambda key: (found[key], key == session.effort, key))
    for effort_id, share in found.items():
        if effort_id and share >= params.likely:
            similar[effort_id] = max(similar.get(effort_id, 0.0), share)
    if session.effort:
        if best == session.effort:
            session.stays += 1
        else:
            session.switches += 1
        if session.stays + session.switches > params.habit:
            session.stays, session.switches = session.stays // 2, session.switches // 2
    return best, found[best], "stay" if best == session.effort else "words" if best else "new"


def _small(event: TurnFiled) -> bool:
    """Nothing but greeting, thanks or good-bye."""
    text = event.text
    return len(text.terms) <= 3 and not text.names and not _SMALL.isdisjoint(text.cues) and ASKING.isdisjoint(text.cues)


def _works(event: TurnFiled, small: bool) -> bool:
    """New work: a user asks or tells something."""
    cues = event.text.cues
    if event.role != "user" or small:
        return False
    return not ASKING.isdisjoint(cues) or (len(event.text.terms) >= 3 and _SMALL.isdisjoint(cues))


def _reopen(
    effort: Effort, event: TurnFiled | FactFiled, effort_id: str, turn: str, reason: str, out: list[Derived]
) -> None:
    effort.status = "open"
    out.append(EffortResumed(event.space, event.session, event.at, effort_id, turn, reason))


def _join(
    params: OpenEffortsParams, state: State, index: Active, space: Space, session: Session, effort_id: str,
    effort: Effort, said: Said, event: TurnFiled, out: list[Derived],
) -> None:  # fmt: skip
    """The turn is one of the effort's."""
    effort.turns += 1
    effort.at = event.at
    effort.session = event.session
    space.touched += 1
    effort.seen = space.touched
    if event.role == "user":
        effort.parted = parting(event.text.cues, len(event.text.terms))
    else:
        effort.asked = said.terms
    key = f"segment/{event.segment}"
    segment = state.get(key, Segment) or Segment()
    if effort_id not in segment.efforts:
        effort.segments += 1
        effort.live = [*(live for live in effort.live if live != event.segment), event.segment][-8:]
        if len(segment.efforts) >= 8:
            del segment.efforts[next(iter(segment.efforts))]
    segment.efforts[effort_id] = segment.efforts.get(effort_id, 0) + 1
    state.put(key, segment)
    _activate(params, state, index, effort_id, effort)
    for name in said.names:
        if name not in effort.names:
            _name(state, name, effort_id)
    add(index, effort_id, effort, said)
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


def _wait(
    params: OpenEffortsParams, state: State, index: Active, event: TurnFiled, session: Session, speaker: Speaker,
    effort_id: str, effort: Effort | None, crowd: bool, out: list[Derived],
) -> None:  # fmt: skip
    """Small talk waits for what follows, and joins it."""
    if event.role == "system":
        return
    if not effort_id:
        if crowd:
            speaker.pending = event.turn
        else:
            session.pending = [*session.pending, event.turn][-4:]
        return
    waiting = [speaker.pending] if crowd and speaker.pending else session.pending if not crowd else []
    speaker.pending = ""
    if not crowd:
        session.pending = []
    for turn in waiting:
        said = _said(state, index, turn)
        if said is not None and not said.effort and effort is not None:
            said.effort = effort_id
            state.put(f"turn/{index.turns[turn] % RECENT}", said)
            effort.turns += 1
            add(index, effort_id, effort, said)
            out.append(TurnRethreaded(event.space, event.session, event.at, turn, effort_id))


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
        effort.topic = " ".join(dict.fromkeys(names + terms[:6]))[:200]
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
    if said is None or not said.effort:
        return ""
    effort = state.get(f"effort/{said.effort}", Effort)
    if effort is not None:
        add(index, said.effort, effort, said, -1)
        effort.turns = max(0, effort.turns - 1)
        state.put(f"effort/{said.effort}", effort)
    said.terms, said.counts, said.names = [], [], []
    state.put(f"turn/{index.turns[turn] % RECENT}", said)
    return said.effort


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
        effort = Effort(event.session, event.at, fact.name, (fact.topic or fact.name)[:200], True)
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
            effort.topic = fact.topic[:200]
            _report(state, event.space, event.session, event.at, effort_id, effort, out)
    for word in dict.fromkeys((fact.name.lower(),)):
        if word:
            state.put(f"declared/{word}", Named([effort_id]))
            if len(word) <= WORD and word not in effort.names and len(effort.names) < NAMES:
                effort.names[word] = 1
                if effort_id in index.slots:
                    index.names.setdefault(word, {})[effort_id] = None
                _name(state, word, effort_id)
    space = state.get("space", Space) or Space()
    space.touched += 1
    state.put("space", space)
    effort.seen = space.touched
    _activate(params, state, index, effort_id, effort)
    state.put(f"effort/{effort_id}", effort)
    _assign(params, state, event, fact, effort_id)


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
