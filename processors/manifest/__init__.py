"""Manifest: cuts each session into topically coherent segments and detects conclusions.

Online: a turn opens a segment when its departure (see boundary) scores above `cut`, after a long pause, or when the
session was over. What a segment is about is kept as evidence and summarized as it grows and when it closes (see
summary). A summary that a model wrote of a whole segment (`summary-written`) takes the place of that by rules until the
segment goes on; its topics come first in the cue. Source: Cognitive Context Management, tier 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Annotated

from processors.manifest.boundary import LAST, NOW, OPENERS, SEEN, Judge, Trail
from processors.manifest.boundary import keep as keep_trail
from processors.manifest.conclusion import ConclusionParams, Settling, draw, settle, tool_spoke
from processors.manifest.cue import Evidence, cue_of, forget, gather, joined, unsay
from processors.manifest.events import ArtifactMade as ArtifactMade
from processors.manifest.events import ConclusionDetected as ConclusionDetected
from processors.manifest.events import ConclusionOffered as ConclusionOffered
from processors.manifest.events import OfferSettled as OfferSettled
from processors.manifest.events import SegmentConcluded as SegmentConcluded
from processors.manifest.events import SegmentOpened as SegmentOpened
from processors.manifest.events import SegmentSummarized as SegmentSummarized
from processors.manifest.events import TurnFiled as TurnFiled
from processors.manifest.events import TurnRefiled as TurnRefiled
from processors.manifest.jobs import JOBS
from processors.manifest.summary import Said, conclude, move, quotes, summarize, take_back
from processors.manifest.summary import keep as keep_said
from streams.core.events import (
    HOUR,
    EffortClosed,
    EffortReopened,
    OfferDeclined,
    SessionEnded,
    SummaryWritten,
    TurnRecorded,
    TurnRetracted,
)
from streams.core.params import completed, param
from streams.core.processor import Derived, Processor, Raw, State, derived_id, on
from streams.core.read_model import Documents, News, read_model
from streams.core.recent import enter
from streams.core.text import Text
from streams.core.text.telling import within


class ManifestParams(ConclusionParams):
    """How sessions are cut and conclusions drawn."""

    cut: float = param(
        0.25, "score 0..1", "a turn whose departure scores above this opens a segment; best for chats and work alike",
        ge=0, le=1,
    )  # fmt: skip
    weights: Annotated[dict[str, float], completed(SEEN, "weights")] = param(
        SEEN, "log odds", "what is seen in a turn besides its cues, and how much it speaks for a boundary",
        source="regression over chats, technical threads and task dialogues; see boundary",
    )  # fmt: skip
    cues: dict[str, float] = param(
        NOW, "log odds", "how much a cue in the turn speaks for a boundary", source="as weights"
    )
    last_cues: dict[str, float] = param(
        LAST, "log odds", "how much a cue in the turn before speaks for a boundary", source="as weights"
    )
    too_soon: float = param(
        0.6, "log odds", "taken off a turn right after a boundary: segments of one turn are rare", ge=0
    )
    pause: float = param(8.0, "hours", "a night: what follows a longer pause in a session is a new segment", gt=0)
    concluded: float = param(
        1.5, "log odds", "added once the segment is concluded: the next turn with a topic begins a new one", ge=0
    )
    seen: int = param(
        64,
        "terms",
        "a session's last used terms and names, up to twice as many: its last 10 to 20 turns",
        ge=8,
        le=128,
    )
    recent: int = param(
        8, "turns", "a session's last turns, up to twice as many, which facts about a turn are filed with", ge=2, le=16
    )
    first: int = param(2, "turns", "a segment is first summarized at so many", ge=1, le=16)
    growth: float = param(
        4.0,
        "factor",
        "a segment is summarized at two turns, anew when it is so many times as long, and when it closes; what is said "
        "between stands in the context as it is",
        gt=1,
        le=8,
    )
    cue: int = param(
        120, "tokens", "words to find a segment by; 100 found a hundredth less", "Cognitive Context Management, tier 2",
        ge=20, le=400,
    )  # fmt: skip
    written: int = param(
        90, "tokens", "of a summary that a model wrote: what was asked for, and half as much again", ge=10, le=200
    )
    words: int = param(96, "terms", "terms kept of an open segment", ge=16, le=160)
    terms: int = param(12, "terms", "the most telling terms of a segment", ge=1, le=32)

    @cached_property
    def judge(self) -> Judge:
        """The weights laid out for the fold."""
        return Judge(self.weights, self.cues, self.last_cues, self.cut)


@dataclass(slots=True)
class Session(Trail):
    """State, `session/<id>`: where a session stands, with the trail of its turns.

    Its segment's evidence, and what conclusions stand on, are records of their own.
    """

    segment: str = ""
    recent: dict[str, str] = field(default_factory=dict)
    """The last turns and the segment of each, oldest first."""
    concluded: bool = False
    """Whether the segment is concluded: the next turn with a topic begins a new one."""
    ended: bool = False
    """Whether the session is over; a later turn begins a new segment."""


@dataclass(slots=True)
class Filed:
    """State, `filed/<turn>`: where a turn belongs, so that it can be taken back: one of the last of its space, or one
    that begins a segment or is quoted of it, however long ago it was said."""

    session: str
    first_turn: str
    """Of its segment."""
    stems: list[str]
    """Its words that are counted in the segment's evidence."""


@dataclass(slots=True)
class Retracted:
    """State, `retracted/<turn>`: the turn was taken back, and nothing is written of it."""


NOTHING = (0.0, "")
"""A departure that opens no segment."""

TOPIC, NAME = 12, 80
"""Tokens kept of a topic that a model wrote, and characters of its name."""

TALK = ("user", "assistant")
"""Roles that converse; tool and system turns belong to what they come in."""


def _turn(params: ManifestParams, state: State, turn: TurnRecorded, raw: Raw[TurnRecorded]) -> list[Derived]:
    """Files a turn into its segment, and draws what it concludes."""
    text = raw.text
    key = turn.session
    session_key, open_key = f"session/{key}", f"open/{key}"
    session = state.get(session_key, Session)
    evidence = state.get(open_key, Evidence)
    if session is None or evidence is None:
        session, evidence, score, reason = Session(), None, 1.0, "first"
    else:
        score, reason = _departure(params, session, evidence, turn, text)
    out: list[Derived] = []
    refiled: Sequence[Derived] = ()
    if evidence is None or reason:
        evidence, out, refiled = _open(params, state, session, evidence, turn, score, reason)
    segment = session.segment
    recent = session.recent
    recent[turn.id] = segment
    if len(recent) > 2 * params.recent:
        session.recent = dict(islice(recent.items(), params.recent, None))
    news = turn.content if raw.repeated else ""
    out.append(TurnFiled(turn.space, key, turn.at, turn.id, segment, raw.repeated, news))
    out += refiled
    stems = gather(evidence, turn.id, turn.content, text, params.words)
    state.put(f"filed/{turn.id}", Filed(key, evidence.first_turn, stems))
    if gone := enter(state, turn.id):
        _let_go(state, gone)
    if turn.content and (turn.role in TALK or evidence.turns == 1):
        keep_said(state, evidence, turn, text, quoted=turn.role in TALK)
    if turn.role in TALK:
        keep_trail(session, turn.at, turn.role, turn.agent, text, params.seen)
        if drawn := draw(params, state, turn, text, segment, bool(reason)):
            out += drawn
            for event in drawn:
                if isinstance(event, SegmentConcluded):
                    session.concluded = session.concluded or turn.id == event.turn or segment == event.segment
                    conclude(state, key, event.segment, event.turn, event.conclusion, event.quotes)
                    if event.segment == segment:  # what it came to stands in its summary at once
                        evidence.due = evidence.turns
    else:
        session.lead = 0
        if turn.role == "tool":
            tool_spoke(state, key)
    state.put(session_key, session)
    state.put(open_key, evidence)
    if evidence.turns >= evidence.due:
        evidence.due, evidence.told = max(evidence.turns + 1, int(evidence.turns * params.growth)), True
        out.append(_summarized(params, turn.space, key, turn.at, evidence, state.get(f"said/{key}", Said)))
    return out


def _let_go(state: State, turn: str) -> None:
    """Of a turn of long ago it is kept where it belongs only if its words may be shown: single ones stay counted."""
    filed = state.get(f"filed/{turn}", Filed)
    if filed is None:
        return
    evidence = state.get(f"open/{filed.session}", Evidence)
    is_open = evidence is not None and evidence.first_turn == filed.first_turn
    said = state.get(f"said/{filed.session}" if is_open else f"quoted/{filed.first_turn}", Said)
    if turn == filed.first_turn or (said is not None and quotes(said, turn)):
        state.put(f"filed/{turn}", Filed(filed.session, filed.first_turn, []))
    else:
        state.delete(f"filed/{turn}")


def _open(
    params: ManifestParams,
    state: State,
    session: Session,
    last: Evidence | None,
    turn: TurnRecorded,
    score: float,
    reason: str,
) -> tuple[Evidence, list[Derived], list[TurnRefiled]]:
    """Begins a segment with this turn: its evidence, what is told before the turn is filed, and what after."""
    segment = derived_id("segment", turn.space, turn.id)
    begun = Evidence(segment, turn.id, turn.id, due=params.first)
    before: list[Derived] = []
    refiled: list[TurnRefiled] = []
    if last is not None:
        key = f"said/{turn.session}"
        said = state.get(key, Said)
        if said is not None and said.segment == last.segment:
            state.delete(key)
            state.put(f"quoted/{last.first_turn}", said)
        else:
            said = None
        if session.lead and reason in ("cue", "shift", "concluded"):
            refiled = _lead_in(state, turn, session, last, begun)
            if refiled and said is not None:
                state.put(key, move(said, [moved.turn for moved in refiled], segment))
        if not last.closed:
            last.closed = True
            before.append(_summarized(params, turn.space, turn.session, turn.at, last, said))
        state.put(f"closed/{last.first_turn}", last)
    session.segment, session.concluded, session.ended = segment, False, False
    before.append(SegmentOpened(turn.space, turn.session, turn.at, segment, turn.id, score, reason))
    return begun, before, refiled


def _lead_in(state: State, turn: TurnRecorded, session: Session, last: Evidence, begun: Evidence) -> list[TurnRefiled]:
    """Moves the turns that only led in to this one ("one more thing" - "yes?") to the segment it begins."""
    ids = [*session.recent]
    kept, moved = ids[: -session.lead], ids[-session.lead :]
    if not kept or last.turns <= session.lead:
        return []
    last.turns -= session.lead
    last.tokens -= session.lead_tokens
    last.last_turn = kept[-1]
    begun.first_turn = moved[0]
    begun.turns, begun.tokens = session.lead, session.lead_tokens
    session.recent.update(dict.fromkeys(moved, begun.segment))
    for moved_turn in moved:
        if (filed := state.get(f"filed/{moved_turn}", Filed)) is not None:
            forget(last, filed.stems)
            state.put(f"filed/{moved_turn}", Filed(turn.session, begun.first_turn, []))
    return [TurnRefiled(turn.space, turn.session, turn.at, moved_turn, begun.segment) for moved_turn in moved]


def _departure(
    params: ManifestParams, session: Session, evidence: Evidence, turn: TurnRecorded, text: Text
) -> tuple[float, str]:
    """How strongly a turn departs, and why it opens a segment; the reason is "" where it opens none."""
    if session.ended:
        return 1.0, "session"
    if turn.role not in TALK or session.turns == 0:
        return NOTHING
    if turn.at - session.at >= params.pause * HOUR:
        return 1.0, "gap"
    if 0 < session.lead >= evidence.turns:
        return NOTHING
    other = -params.too_soon if evidence.turns < 2 else 0.0
    if session.concluded and (len(text.terms) > 2 or not OPENERS.isdisjoint(text.cues)):
        other += params.concluded
    score = params.judge.score(session, turn.role, turn.agent, text, other)
    if score <= params.cut:
        return NOTHING
    return score, "concluded" if session.concluded else "cue" if not OPENERS.isdisjoint(text.cues) else "shift"


def _summarized(
    params: ManifestParams, space: str, session: str, at: int, evidence: Evidence, said: Said | None
) -> SegmentSummarized:
    cue, terms = cue_of(evidence, params.cue, params.terms)
    summary, model = summarize(said, evidence, params), ""
    if said is not None and said.segment == evidence.segment and said.written[:1] == [evidence.last_turn]:
        _, summary, topics, model = said.written
        cue = joined(topics, cue, params.cue)
    return SegmentSummarized(
        space, session, at, evidence.segment, evidence.first_turn, evidence.last_turn, evidence.turns,
        evidence.tokens, summary, cue, terms, evidence.closed, model,
    )  # fmt: skip


def _written(
    params: ManifestParams, state: State, fact: SummaryWritten, raw: Raw[SummaryWritten]
) -> Sequence[SegmentSummarized]:
    """A model's summary is that of the segment from its first to its last turn; of anything else it changes nothing."""
    text = within(" ".join(fact.text.split()), params.written)
    if not text or any(state.get(f"retracted/{turn}", Retracted) for turn in (fact.first_turn, fact.last_turn)):
        return ()
    topics = [topic for given in fact.topics[: params.terms] if (topic := within(" ".join(given.split()), TOPIC))]
    evidence = state.get(f"open/{fact.session}", Evidence)
    if evidence is not None and (evidence.first_turn, evidence.last_turn) == (fact.first_turn, fact.last_turn):
        said = state.get(f"said/{fact.session}", Said)
        if said is None or said.segment != evidence.segment:
            said = Said(evidence.segment)
        said.written = [fact.last_turn, text, topics, fact.model[:NAME]]
        state.put(f"said/{fact.session}", said)
        evidence.told = True
        state.put(f"open/{fact.session}", evidence)
        return (_summarized(params, fact.space, fact.session, fact.at, evidence, said),)
    filed = state.get(f"filed/{fact.first_turn}", Filed)
    closed = state.get(f"closed/{fact.first_turn}", Evidence)
    if closed is None or filed is None or (filed.session, closed.last_turn) != (fact.session, fact.last_turn):
        return ()
    said = Said(closed.segment, written=[fact.last_turn, text, topics, fact.model[:NAME]])
    return (_summarized(params, fact.space, fact.session, fact.at, closed, said),)


def _ended(params: ManifestParams, state: State, fact: SessionEnded, raw: Raw[SessionEnded]) -> list[Derived]:
    """A session's end closes its last segment."""
    out: list[Derived] = []
    session = state.get(f"session/{fact.session}", Session)
    evidence = state.get(f"open/{fact.session}", Evidence)
    if session is not None and evidence is not None:
        session.ended = True
        state.put(f"session/{fact.session}", session)
        if not evidence.closed:
            evidence.closed = True
            state.put(f"open/{fact.session}", evidence)
            said = state.get(f"said/{fact.session}", Said)
            out.append(_summarized(params, fact.space, fact.session, fact.at, evidence, said))
    out += settle(state, fact)
    return out


def _retracted(params: ManifestParams, state: State, fact: TurnRetracted, raw: Raw[TurnRetracted]) -> list[Derived]:
    """A turn that was taken back is no evidence of what its segment is about: a summary of that is told anew."""
    if state.get(f"retracted/{fact.turn}", Retracted) is not None:
        return []
    state.put(f"retracted/{fact.turn}", Retracted())
    filed = state.get(f"filed/{fact.turn}", Filed)
    if filed is None:
        return settle(state, fact)
    state.delete(f"filed/{fact.turn}")
    kept, quoted = f"open/{filed.session}", f"said/{filed.session}"
    evidence = state.get(kept, Evidence)
    if evidence is None or evidence.first_turn != filed.first_turn:
        kept, quoted = f"closed/{filed.first_turn}", f"quoted/{filed.first_turn}"
        evidence = state.get(kept, Evidence)
    out: list[Derived] = []
    if evidence is not None:
        unsay(evidence, filed.stems)
        state.put(kept, evidence)
        said = state.get(quoted, Said)
        if said is not None:
            take_back(said, fact.turn)
            state.put(quoted, said)
        if evidence.closed or evidence.told:
            out.append(_summarized(params, fact.space, filed.session, fact.at, evidence, said))
    return out + settle(state, fact, filed.session)


def _settled(params: ManifestParams, state: State, fact: Settling, raw: Raw[Settling]) -> list[Derived]:
    """An agent accepts or declines what was offered."""
    return settle(state, fact)


PROCESSOR = Processor(
    name="manifest",
    version=19,
    params=ManifestParams,
    takes=(
        on(TurnRecorded, _turn),
        on(TurnRetracted, _retracted),
        on(SessionEnded, _ended),
        on(EffortClosed, _settled),
        on(EffortReopened, _settled),
        on(OfferDeclined, _settled),
        on(SummaryWritten, _written),
    ),
    emits=(
        SegmentOpened,
        TurnFiled,
        TurnRefiled,
        SegmentSummarized,
        ConclusionDetected,
        SegmentConcluded,
        ConclusionOffered,
        OfferSettled,
        ArtifactMade,
    ),
    read_model=read_model(
        __package__,
        jobs=JOBS,
        behind={
            "segment": "t.segment = $id",
            "artifact": "(t.space, t.turn_id) IN (FROM (SELECT a.space, unnest(a.turns) FROM artifacts a "
            "WHERE a.artifact = $id))",
        },
        documents=(
            Documents(
                "segment",
                SegmentSummarized,
                "segment",
                ("cue",),
                ("first_turn", "last_turn"),
                run=True,
                shown="summary",
            ),
            Documents(
                "conclusion",
                ArtifactMade,
                "artifact",
                ("title", "body"),
                ("turns",),
                quotes=True,
                shown="CASE WHEN starts_with(body, title) THEN body ELSE title || chr(10) || body END",
            ),
        ),
        news=(News(TurnFiled, "repeated", "news"),),
    ),
)
