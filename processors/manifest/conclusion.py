"""Conclusions: whether what a turn claims holds in its conversation.

Source: Cognitive Context Management, tier 2. Six patterns: declaration ("the answer is Y"), resolution (trouble stated,
then seen to be gone), negation ("A does not work because Z"), confirmation (a user's yes to an answer), convergence
(several lines of reasoning reach one answer), completion ("done", "merged", or a user's goodbye to finished work).

The words claim (streams/core/text/claims); the conversation decides:

    confidence = what the words claim, where they stand alone
      - thanks, goodbye and yes need somebody else's answer before them, and nothing that waits for this user
      - resolution without trouble told before counts 0.9 of itself; a bare "done" after an instruction is a step
      - an assistant does not have the last word where users speak: its claims are capped, the user's next words decide
      - the same answer declared before by other reasoning makes a declaration a convergence
      - a choice completes what was begun to decide something; one that only names what was to be chosen is offered;
        where nothing was to be decided it is a step

    confidence >= conclude: segment-concluded      offer <= confidence < conclude: conclusion-offered
    negation: an artifact, and nothing is closed

An offer is settled by an agent (effort-closed at that turn, offer-declined), or overtaken by a later one or by a
conclusion; what an assistant reported last is accepted when the session ends with it.
A farewell after a conclusion, nothing asked between, concludes the same segment again: of a segment's conclusions the
last counts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from processors.manifest import ending
from processors.manifest.ending import Ending
from processors.manifest.events import (
    ArtifactMade,
    ConclusionDetected,
    ConclusionOffered,
    OfferSettled,
    SegmentConcluded,
)
from processors.manifest.summary import Quoting, did, richest
from streams.core.events import EffortClosed, EffortReopened, OfferDeclined, SessionEnded, TurnRecorded, TurnRetracted
from streams.core.params import param
from streams.core.patterns import lazily
from streams.core.processor import Derived, State, derived_id, r6
from streams.core.text import Text
from streams.core.text.commonness import CLASSES
from streams.core.text.learned import likelihood
from streams.core.text.telling import LONGEST, excerpt, sentences, within
from streams.core.text.terms import scan


class ConclusionParams(Quoting):
    """How conclusions are drawn."""

    conclude: float = param(
        0.8,
        "confidence 0..1",
        "high patterns conclude by themselves",
        "Cognitive Context Management, tier 2",
        ge=0,
        le=1,
    )
    offer: float = param(
        0.55, "confidence 0..1", "between this and conclude an agent is asked; below, words are no claim", ge=0, le=1
    )
    assistant_cap: float = param(
        0.75,
        "confidence 0..1",
        "where users speak they have the last word: what an assistant reports done is offered, not concluded",
        ge=0,
        le=1,
    )
    crowd: int = param(
        3,
        "speakers",
        "where so many people speak, or people among themselves, thanks are courtesy or another's: offered only",
        ge=2,
        le=8,
    )
    converge: int = param(
        2, "declarations", "so many earlier ones of the same answer make a declaration a convergence", ge=1, le=6
    )
    passing_offer: float = param(
        0.15, "likelihood 0..1", "an end said in passing is offered from here on: a miss stays open",
        ge=0, le=1,
    )  # fmt: skip
    passing_sure: float = param(
        0.9, "likelihood 0..1",
        "and concludes at once from here on; what is less sure, open_efforts concludes if nobody comes back to it",
        ge=0, le=1,
    )  # fmt: skip
    alike: float = param(0.5, "share 0..1", "two declared answers are the same from this share of words on", ge=0, le=1)


MAX_TEXT, MAX_OFFERS, MAX_DECLARED, MAX_SPEAKERS = 600, 8, 6, 8
KINDS = {
    "declaration": "answer",
    "resolution": "fix",
    "negation": "negative-result",
    "confirmation": "answer",
    "convergence": "finding",
    "completion": "deliverable",
}
MAX_REQUEST, MAX_ANSWER = 400, 480
"""Characters kept of a request and of an answer."""
TELLING = 3
"""Telling stems of a sentence that says by itself what was concluded, and terms of an answer that one may quote."""
OWN = frozenset(("negation", "declaration", "convergence"))
"""Patterns whose words say themselves what they conclude."""
FOUND = frozenset(("finding", "decision"))
MAX_TITLE = 30
"""Tokens of a title."""
MIN_TOLD, MAX_TOLD, MAX_TERMS = 12, 5, 10
"""Of a request the first five sentences of some length may title what comes of it; ten terms of each count."""
SAYS_MUCH, ASKS = 4, 3
"""Of the turns that ask for something the first is kept that tells most: terms up to four, and three for asking."""
ASKING = frozenset(("opening", "question", "asks"))
COURTESIES = frozenset(("offer", "closing"))
REPLY_YES = 0.6
"""The confidence of the hint `reply` where the turn begins with yes."""
_HANDING_OVER = lazily(r"transfer|escalat|hand_?o(?:ff|ver)|forward_to", re.I)
_SENTENCE = lazily(r"[^.!?\n]+(?:[.!?]+(?=\S)[^.!?\n]+)*[.!?]*")
NAMED, BRIEFLY = 0.6, 12
"""How sure a turn of at most so many tokens is a choice that only names something of what was to be decided."""
STEM, DISCUSSED = 24, 24
"""Characters and number of the stems kept of what is said of that."""
_FIGURE = lazily(r"\d")
_CLAUSES = lazily(r"[,;:!.—–]\s*|\s(?:and|und|et|y)\s")
_POINTING = lazily(
    r"(?:(?:ok(?:ay)?|yes|yep|yeah|great|oh|wow|so|and|now|ja|oui|sí) )*(?:(?:that|this|it|which|works?|worked|working"
    r"|fixed|solved|resolved|done|das|es|funktioniert|läuft|geht|klappt|ça|cela|c['’]est|eso|esto|funciona)(?![\w-])"
    r"|(?:that|it)['’]s\b|(?:your|the|this|that) (?:fix|change|suggestion|patch|solution|trick|tip|advice|answer)\b)",
    re.IGNORECASE,
)
"""A clause that says of what stands before it that it holds."""
_DECIDED = lazily(r"\bdeci|\bagreed|\bsettled", re.I)


@dataclass(slots=True)
class Ground:
    """State, `ground/<session>`: what a claim in this session stands on."""

    asker: str = ""
    """Who speaks for the user side: role and agent of the latest request."""
    segment: str = ""
    """Of the latest turn of the user side."""
    request_turn: str = ""
    request: str = ""
    """Beginning of the turn that tells most of what is wanted."""
    told: int = -1
    """How much it tells, see SAYS_MUCH."""
    tags: list[str] = field(default_factory=list)
    problem_turn: str = ""
    problem: str = ""
    answer_turn: str = ""
    answer: str = ""
    """The latest answer that tells something: what thanks are for."""
    answer_of: str = ""
    """The turn whose words that is."""
    claimed: float = 0.0
    """How sure the latest answer was that something is concluded."""
    answered: bool = False
    """Somebody else has spoken since the latest request."""
    pending: bool = False
    """The latest answer waits for this user, or promises work."""
    handoff: bool = False
    """The latest answer handed the matter to others: it is not finished by thanking for that."""
    users: bool = False
    assisted: bool = False
    """An assistant has spoken: thanks are for help, not among friends."""
    speakers: list[str] = field(default_factory=list)
    concluded: str = ""
    """The segment concluded last, while nothing new was asked; "" otherwise."""
    undecided: list[str] = field(default_factory=list)
    """Where the request was to decide something: its segment, then stems of what was said of it; [] otherwise."""
    done_turn: str = ""
    done: str = ""
    """What the user said to have done since the latest answer that tells of something done, and since asking last."""
    declared: list[list[str]] = field(default_factory=list)
    """Answers declared of late: turn, then words."""
    offers: list[list[str]] = field(default_factory=list)
    """Open offers: turn, segment, pattern, what would be concluded, and the turn whose words that is, if another's."""
    last_turn: str = ""
    """The latest turn with content."""
    ending: list[str] = field(default_factory=list)
    """What the user said last, where it may end something: turn, segment, what it says, what would be concluded, and
    the turn whose words that is, if another's."""
    seen: list[int] = field(default_factory=list)
    """Of that: whether it was offered, then what is seen of it (see ending)."""
    tooled: bool = False
    """Whether a tool spoke since."""


@dataclass(slots=True)
class Held:
    """A claim that holds, as sure as the conversation makes it."""

    pattern: str
    confidence: float
    text: str
    own: bool = False
    """Whether its words say themselves what they conclude."""


def draw(
    params: ConclusionParams, state: State, turn: TurnRecorded, text: Text, segment: str, cut: bool
) -> Sequence[Derived]:
    """What a turn, filed into `segment`, which it opens where `cut`, concludes."""
    key = f"ground/{turn.session}"
    ground = state.get(key, Ground)
    if ground is None:
        ground = Ground()
    state.put(key, ground)
    before = [] if not ground.ending else _look_again(params, ground, turn, text, cut)
    if turn.role == "user":
        return before + _user(params, ground, turn, text, segment)
    if turn.role == "assistant":
        return before + _assistant(params, ground, turn, text, segment)
    return ()


def tool_spoke(state: State, session: str) -> None:
    """A tool's output stands before what the user says next."""
    ground = state.get(f"ground/{session}", Ground)
    if ground is not None and not ground.tooled:
        ground.tooled = True
        state.put(f"ground/{session}", ground)


def _first_look(
    params: ConclusionParams, ground: Ground, turn: TurnRecorded, text: Text, segment: str
) -> list[Derived]:
    """Whether a user's words end something in passing."""
    seen = ending.first(turn, text, ground.tooled, ground.pending)
    if ending.score(seen) < ending.LOOK:
        return []
    said = within(_flat(turn.content[:MAX_TEXT]), LONGEST)
    told, of = _concluded(params, ground, turn, text, Held("completion", 0.0, said))
    offered = any(offer[0] == turn.id for offer in ground.offers)
    end = Ending(turn.id, ground.concluded or segment, said, told, of, seen, offered)
    _hold(ground, end)
    return _weigh_end(params, ground, end, turn)


def _hold(ground: Ground, end: Ending) -> None:
    ground.ending = [end.turn, end.segment, end.said, end.conclusion, end.quotes]
    ground.seen = [int(end.offered), *end.seen]


def _let_go(ground: Ground) -> None:
    ground.ending, ground.seen = [], []


def _look_again(params: ConclusionParams, ground: Ground, turn: TurnRecorded, text: Text, cut: bool) -> list[Derived]:
    """What the answer to a possible end, or its user's next turn, says of it."""
    if not text.tokens:
        return []
    first, segment, said, conclusion, quotes = ground.ending
    end = Ending(first, segment, said, conclusion, quotes, ground.seen[1:], bool(ground.seen[0]))
    if turn.role == "user":
        end.seen += [0] * (ending.ANSWERED - len(end.seen)) + ending.gone_on(text, cut)
        _let_go(ground)
    elif len(end.seen) < ending.ANSWERED:
        end.seen += ending.answered(turn, text)
        _hold(ground, end)
    else:
        return []
    return _weigh_end(params, ground, end, turn)


def _weigh_end(params: ConclusionParams, ground: Ground, end: Ending, turn: TurnRecorded) -> list[Derived]:
    """Offers a possible end, or concludes by it, once that is likely enough."""
    sure = likelihood(ending.score(end.seen))
    if sure < params.passing_offer and not end.offered:
        return []
    events: list[Derived] = [
        ConclusionDetected(turn.space, turn.session, turn.at, end.turn, end.segment, "completion", sure, end.said)
    ]
    if not end.offered:
        end.offered = True
        if ground.ending:
            _hold(ground, end)
        if sure < params.passing_sure:
            held = Held("completion", sure, end.said)
            events += _offer(ground, turn, end.turn, end.segment, held, end.conclusion, end.quotes)
    if sure >= params.passing_sure:
        _let_go(ground)
        events += _overtake(ground, turn, end.segment)
        events += _finished(ground, turn, end.turn, end.segment, "completion", sure, end.conclusion, end.quotes)
    return events


def _finished(
    ground: Ground, fact: TurnRecorded | Settling, turn: str, segment: str, pattern: str, sure: float, conclusion: str,
    quotes: str,
) -> list[Derived]:  # fmt: skip
    """A segment is concluded by a turn that was said before the fact by which that is known."""
    again = ground.concluded == segment
    ground.concluded = segment
    ended = SegmentConcluded(fact.space, fact.session, fact.at, segment, turn, pattern, sure, conclusion, quotes)
    if again or not conclusion:
        return [ended]
    rests = [id for id in dict.fromkeys([ground.request_turn, quotes, turn]) if id]
    return [
        ended,
        ArtifactMade(
            fact.space, fact.session, fact.at, derived_id("artifact", fact.space, turn), KINDS[pattern],
            within(_title(ground.request) or conclusion, MAX_TITLE), conclusion, "final", list(ground.tags), segment,
            rests, rests[:-1],
        ),
    ]  # fmt: skip


def _sentence(turn: TurnRecorded, text: Text, claim: int) -> str:
    """The sentence of a turn's claim with that number."""
    start, end = text.spans[2 * claim], text.spans[2 * claim + 1]
    return within(_flat(turn.content[start : min(end, start + MAX_TEXT)]), LONGEST)


def _asked(ground: Ground, turn: TurnRecorded, text: Text, speaker: str, segment: str) -> None:
    """The turn asks, tells or goes on: what comes after it must answer it before thanks can close it."""
    begins = not ground.request_turn or bool(ground.concluded) or segment != ground.segment or ground.told < TELLING
    if "undecided" in text.patterns and begins:
        ground.undecided = [segment]
    elif ground.concluded and len(text.terms) >= TELLING:
        ground.undecided = []
    _discuss(ground, text, segment)
    if not ground.request_turn or ground.concluded:
        ground.told = -1
    elif segment != ground.segment:
        ground.told = min(ground.told, SAYS_MUCH)
    ground.segment = segment
    if ground.told < SAYS_MUCH + ASKS:
        told = min(len(text.terms), SAYS_MUCH) + (0 if ASKING.isdisjoint(text.cues) else ASKS)
        if told > ground.told:
            ground.told, ground.request_turn = told, turn.id
            ground.request, ground.tags = excerpt(turn.content, MAX_REQUEST), text.terms[:5]
    ground.asker, ground.concluded = speaker, ""
    ground.answered = ground.pending = ground.handoff = False
    ground.claimed = 0.0


def _discuss(ground: Ground, text: Text, segment: str) -> None:
    """What is said of something that is to be decided."""
    if ground.undecided[:1] == [segment] and len(ground.undecided) <= DISCUSSED:
        stems = (stem[:STEM] for stem in text.terms if CLASSES[stem])
        ground.undecided = [*dict.fromkeys([*ground.undecided, *stems])][: DISCUSSED + 1]


def _answered(ground: Ground, turn: TurnRecorded, text: Text, segment: str, claimed: float) -> None:
    _discuss(ground, text, segment)
    if ground.done and did(turn.content[:MAX_ANSWER]):
        ground.done_turn = ground.done = ""
    told = len(text.terms) >= TELLING or not ground.answered
    if told and not (ground.answer and _is_courtesy(turn, text)):
        ground.answer, ground.answer_of = excerpt(turn.content, MAX_ANSWER), turn.id
    ground.answer_turn, ground.answered, ground.claimed = turn.id, True, claimed


def _is_courtesy(turn: TurnRecorded, text: Text) -> bool:
    """Whether an answer only answers thanks and offers more ("You're welcome! Reach out any time, and safe travels"):
    what the thanks were for was answered before."""
    if "welcome" not in text.cues or COURTESIES.isdisjoint(text.cues):
        return False
    return _FIGURE.search(turn.content) is None and not did(turn.content[:MAX_ANSWER])


def _flat(content: str) -> str:
    return " ".join(content.split())


def _title(content: str) -> str:
    """The sentence of a request that tells what it is about: asking counts, greetings and courtesies do not."""
    sentences = [said for said in _SENTENCE.findall(content) if len(said) >= MIN_TOLD][:MAX_TOLD]
    if len(sentences) < 2:
        return _flat(sentences[0] if sentences else content)
    best, most = "", -1
    for said in sentences:
        found = scan(said)
        told = sum([CLASSES[stem] for stem in found.terms[:MAX_TERMS]]) + (0 if ASKING.isdisjoint(found.cues) else ASKS)
        if told > most:
            best, most = said, told
    return _flat(best)


def _user(params: ConclusionParams, ground: Ground, turn: TurnRecorded, text: Text, segment: str) -> list[Derived]:
    ground.users = True
    speaker = "user:" + turn.agent[:60]
    if speaker not in ground.speakers and len(ground.speakers) < MAX_SPEAKERS:
        ground.speakers.append(speaker)
    if not text.tokens:
        return []
    ground.last_turn = turn.id
    events: list[Derived] = []
    if text.patterns or ground.undecided:
        held = _judge_user(params, ground, turn, text, speaker, segment)
        events = _emit(params, ground, turn, text, segment, held)
        if "problem" in text.patterns and ground.concluded != segment:  # what comes after an end is no part of it
            ground.problem_turn, ground.problem = turn.id, _sentence(turn, text, text.patterns.index("problem"))
        if any(claim.confidence >= params.conclude and claim.pattern != "negation" for claim in held):
            ground.tooled = False
            return events
    events += _first_look(params, ground, turn, text, segment)
    ground.tooled = False
    if ground.asker and ground.asker != speaker:
        _answered(ground, turn, text, segment, 0.0)
        ground.pending = "question" in text.cues
    else:
        _asked(ground, turn, text, speaker, segment)
    if did(turn.content[:MAX_ANSWER]):
        ground.done_turn, ground.done = turn.id, excerpt(turn.content, MAX_ANSWER)
    elif not ASKING.isdisjoint(text.cues):  # what was done before is not what comes of this
        ground.done_turn = ground.done = ""
    return events


def _judge_user(
    params: ConclusionParams, ground: Ground, turn: TurnRecorded, text: Text, speaker: str, segment: str
) -> list[Held]:
    held: list[Held] = []
    reply = text.confidences[text.patterns.index("reply")] if "reply" in text.patterns else 0.0
    for i, pattern in enumerate(text.patterns):
        sure = text.confidences[i]
        match pattern:
            case "thanks" | "farewell":
                sure = _gratitude(params, ground, sure, reply)
                pattern = "completion"
            case "confirmation":
                sure = _confirmation(ground, sure, speaker)
                sure = min(sure, params.assistant_cap) if _crowded(params, ground) else sure
            case "resolution":
                sure *= 1.0 if ground.problem else 0.9 if ground.answered and not ground.pending else 0.8
            case "completion":
                if sure <= 0.6 and ground.pending:
                    sure = 0.4
            case "declaration":
                pattern, sure = _declared(params, ground, turn, _sentence(turn, text, i), sure)
            case "choice" if _meets(ground, text, segment):
                pattern = "completion"
            case "negation" | "convergence":
                pass
            case _:
                continue
        if (sure := r6(sure)) >= params.offer:
            own = pattern in OWN or text.patterns[i] == "choice"
            held.append(Held(pattern, sure, _sentence(turn, text, i), own))
    if not held and _names(ground, turn, text):
        held.append(Held("completion", NAMED, within(_flat(turn.content[:MAX_TEXT]), LONGEST), True))
    return held if len(held) < 2 else _surest(held)


def _meets(ground: Ground, text: Text, segment: str) -> bool:
    """Whether a choice is about what was to be decided: in the same stretch of talk, or in its words."""
    of, *known = ground.undecided or [""]
    return bool(of) and (of == segment or not {stem[:STEM] for stem in text.terms}.isdisjoint(known))


def _names(ground: Ground, turn: TurnRecorded, text: Text) -> bool:
    """Whether a turn does no more than name something of what was to be decided ("The second hotel, please")."""
    if not ground.undecided or not ground.answered or text.tokens > BRIEFLY or text.patterns or "?" in turn.content:
        return False
    _, opens, stays = text.acts
    named = {stem[:STEM] for stem in text.terms if CLASSES[stem]}
    return opens < stays and len(named) > 0 and named.issubset(ground.undecided[1:])


def _surest(held: list[Held]) -> list[Held]:
    """Of each pattern the surest claim."""
    best: dict[str, Held] = {}
    for claim in held:
        if claim.pattern not in best or claim.confidence > best[claim.pattern].confidence:
            best[claim.pattern] = claim
    return list(best.values())


def _crowded(params: ConclusionParams, ground: Ground) -> bool:
    """Whether thanks may be courtesy or belong to another thread: people among themselves, or many of them."""
    return not ground.assisted or len(ground.speakers) >= params.crowd


def _gratitude(params: ConclusionParams, ground: Ground, sure: float, reply: float) -> float:
    """How surely thanks or a goodbye close: 0 without an answer before; less where something waits for this user."""
    crowded = _crowded(params, ground)
    if ground.concluded and not crowded:
        return sure
    if not ground.answered:
        return 0.0
    if ground.handoff:
        return min(sure, 0.6)
    if ground.pending:
        if reply >= REPLY_YES or (reply and sure < 0.9):
            return 0.4
        sure = min(sure, 0.6) if sure < 0.85 else sure
    return min(sure, params.assistant_cap) if crowded else sure


def _confirmation(ground: Ground, sure: float, speaker: str) -> float:
    """A yes concludes an answer; to a question or a proposal it is a go-ahead."""
    if not ground.answered or ground.pending or ground.asker not in ("", speaker):
        return 0.0
    return sure


def _words(said: str) -> list[str]:
    """What a declared answer is about: its last words of any length, folded."""
    words = [word for word in re.findall(r"[^\W_]+", said.lower()) if len(word) > 3 and word not in _FRAME]
    return list(dict.fromkeys(words))[-10:]


_FRAME = frozenset(
    ("answer", "cause", "root", "solution", "culprit", "conclusion", "because", "that", "this", "therefore", "turns")
)
"""Words by which an answer is declared; they tell nothing of which answer."""


def _declared(
    params: ConclusionParams, ground: Ground, turn: TurnRecorded, said: str, sure: float
) -> tuple[str, float]:
    """Notes a declared answer; a convergence where the same one was declared before by other turns."""
    words = _words(said)
    if not words:
        return "declaration", sure
    same = 0
    for _, *others in ground.declared:
        shared = sum(word in others for word in words)
        same += shared >= params.alike * min(len(words), len(others))
    ground.declared = [*ground.declared, [turn.id, *words]][-MAX_DECLARED:]
    return ("convergence", max(sure, 0.85)) if same >= params.converge else ("declaration", sure)


def _assistant(params: ConclusionParams, ground: Ground, turn: TurnRecorded, text: Text, segment: str) -> list[Derived]:
    if turn.parts:
        ground.handoff = ground.handoff or _hands_over(turn.parts)
    if not turn.content:
        return []
    ground.last_turn = turn.id
    ground.assisted = True
    if not text.patterns:
        _answered(ground, turn, text, segment, 0.0)
        ground.pending = False
        if not ground.users:
            ground.concluded = ""
        return []
    held = _judge_assistant(params, ground, turn, text)
    events = _emit(params, ground, turn, text, segment, held)
    closing = [claim for claim in held if claim.pattern != "negation"]
    best = max(closing, key=lambda claim: claim.confidence, default=None)
    _answered(ground, turn, text, segment, best.confidence if best else 0.0)
    if not ground.users and not (best and best.confidence >= params.conclude):
        ground.concluded = ""
    ground.pending = "pending" in text.patterns
    ground.handoff = (ground.handoff and not best) or "handoff" in text.patterns
    return events


def _hands_over(parts: list[dict[str, Any]]) -> bool:
    for part in parts[:8]:
        function = part.get("function")
        name = part.get("name") or (function.get("name") if isinstance(function, dict) else "")
        if isinstance(name, str) and _HANDING_OVER.search(name[:100]):
            return True
    return False


def _judge_assistant(params: ConclusionParams, ground: Ground, turn: TurnRecorded, text: Text) -> list[Held]:
    held: list[Held] = []
    waits = "pending" in text.patterns
    for i, pattern in enumerate(text.patterns):
        sure = text.confidences[i]
        match pattern:
            case "declaration":
                pattern, sure = _declared(params, ground, turn, _sentence(turn, text, i), sure)
            case "completion" | "resolution":
                sure = min(sure, 0.6) if waits else sure
                if not ground.users:
                    sure += 0.15 if sure >= 0.7 else 0.0
            case "negation" | "convergence":
                pass
            case _:
                continue
        if ground.users and pattern != "convergence":
            sure = min(sure, params.assistant_cap)
        held.append(Held(pattern, r6(sure), _sentence(turn, text, i)))
    return held if len(held) < 2 else _surest(held)


def _emit(
    params: ConclusionParams, ground: Ground, turn: TurnRecorded, text: Text, segment: str, held: list[Held]
) -> list[Derived]:
    """The events of a turn's claims: every one sure enough is told, the surest concludes or is offered."""
    events: list[Derived] = []
    if not held:
        return events
    if turn.role == "user" and "choice" not in text.patterns:
        segment = ground.concluded or segment
    best: Held | None = None
    for claim in held:
        if claim.confidence < params.offer:
            continue
        events.append(
            ConclusionDetected(
                turn.space, turn.session, turn.at, turn.id, segment, claim.pattern, claim.confidence, claim.text
            )
        )
        if claim.pattern == "negation":
            events.append(_artifact(ground, turn, text, segment, claim, claim.text, ""))
        elif best is None or claim.confidence > best.confidence:
            best = claim
    if best is not None and best.confidence >= params.conclude:
        events += _conclude(params, ground, turn, text, segment, best)
    elif best is not None:
        events += _offer(ground, turn, turn.id, segment, best, *_concluded(params, ground, turn, text, best))
    return events


def _conclude(
    params: ConclusionParams, ground: Ground, turn: TurnRecorded, text: Text, segment: str, claim: Held
) -> list[Derived]:
    conclusion, quotes = _concluded(params, ground, turn, text, claim)
    events: list[Derived] = [
        SegmentConcluded(
            turn.space, turn.session, turn.at, segment, turn.id, claim.pattern, claim.confidence, conclusion, quotes
        )
    ]
    events += _overtake(ground, turn, segment)
    if ground.concluded != segment:
        events.append(_artifact(ground, turn, text, segment, claim, conclusion, quotes))
    ground.concluded = segment
    ground.problem_turn = ground.problem = ground.done_turn = ground.done = ""
    return events


def _concluded(
    params: ConclusionParams, ground: Ground, turn: TurnRecorded, text: Text, claim: Held
) -> tuple[str, str]:
    """The sentence that says what was concluded: that of the claim, or what it was said of; and the turn whose words
    that is, if another's.

    "Perfect" and "that fixed it, it loads again" say only that something is: what did it, stands before it in the turn,
    where it was done, found or decided there or nobody else answered, and else in what the user said to have done since
    the answer, or in the answer.
    """
    says = claim.own or (
        sum(len(told.stems) for told in sentences(claim.text)) >= TELLING and not _points_back(claim.text)
    )
    if says or did(claim.text):
        return claim.text, ""
    before = richest(params, turn.content[: min(text.spans[::2])], ground.tags) if text.spans else None
    alone = turn.role != "user" or not (ground.answered or ground.done)
    if before and (alone or did(before.text) or not FOUND.isdisjoint(before.features)):
        return before.text, ""
    if turn.role == "user":
        told = (ground.done, ground.done_turn), (ground.answer if ground.answered else "", ground.answer_of)
        for said, of in told:
            if said and (answer := richest(params, said, ground.tags)):
                return answer.text, of
    return claim.text, ""


def _points_back(said: str) -> bool:
    """Whether a claim is about what stands before it ("Perfect, that fixed it, it loads again on my phone, too")."""
    return any(_POINTING.match(clause) for clause in _CLAUSES.split(said))


def _overtake(ground: Ground, turn: TurnRecorded, segment: str) -> list[Derived]:
    """Settles the open offers of a segment."""
    over = [offer for offer in ground.offers if offer[1] == segment]
    ground.offers = [offer for offer in ground.offers if offer[1] != segment]
    return [OfferSettled(turn.space, turn.session, turn.at, offer[0], segment, "overtaken") for offer in over]


def _offer(
    ground: Ground, turn: TurnRecorded, said: str, segment: str, claim: Held, conclusion: str, quotes: str
) -> list[Derived]:
    """Offers what the turn `said` may conclude."""
    if ground.concluded == segment:
        return []
    events = _overtake(ground, turn, segment)
    while len(ground.offers) >= MAX_OFFERS:
        oldest = ground.offers.pop(0)
        events.append(OfferSettled(turn.space, turn.session, turn.at, oldest[0], oldest[1], "overtaken"))
    ground.offers.append([said, segment, claim.pattern, conclusion, quotes])
    events.append(
        ConclusionOffered(turn.space, turn.session, turn.at, said, segment, claim.pattern, claim.confidence, claim.text)
    )
    return events


def _artifact(
    ground: Ground, turn: TurnRecorded, text: Text, segment: str, claim: Held, conclusion: str, quotes: str
) -> ArtifactMade:
    decided = claim.own and (claim.pattern == "completion" or _DECIDED.search(claim.text))
    kind = "decision" if decided and claim.pattern != "negation" else KINDS[claim.pattern]
    own = claim.pattern in OWN
    fixed = ground.problem if kind == "fix" else ""
    title = (claim.text if own else fixed or _title(ground.request)) or claim.text
    titled = "" if own else ground.problem_turn if fixed else ground.request_turn
    between = [ground.done_turn, ground.answer_turn] if ground.answered else [ground.answer_turn, ground.done_turn]
    rests = [ground.request_turn, *([] if own else [ground.problem_turn, *between]), quotes, turn.id]
    body = conclusion if conclusion == claim.text else f"{conclusion}\n{claim.text}"
    return ArtifactMade(
        turn.space,
        turn.session,
        turn.at,
        derived_id("artifact", turn.space, turn.id, 1 if claim.pattern == "negation" else 0),
        kind,
        within(title, MAX_TITLE),
        body,
        "final" if turn.role == "user" or not ground.users else "reported",
        list(dict.fromkeys([*ground.tags, *text.terms[:3]]))[:8],
        segment,
        [turn_id for turn_id in dict.fromkeys(rests) if turn_id],
        [turn_id for turn_id in dict.fromkeys([titled, quotes]) if turn_id],
    )


Settling = EffortClosed | OfferDeclined | TurnRetracted | EffortReopened | SessionEnded
"""Outside facts that bear on conclusions."""


def _take_back(ground: Ground, turn: str) -> None:
    """Nothing that is concluded later quotes a turn that was taken back."""
    if ground.request_turn == turn:
        ground.request_turn = ground.request = ""
        ground.told, ground.tags = -1, []
    if ground.problem_turn == turn:
        ground.problem_turn = ground.problem = ""
    if ground.done_turn == turn:
        ground.done_turn = ground.done = ""
    if ground.answer_turn == turn:
        ground.answer_turn = ""
    if ground.answer_of == turn:
        ground.answer_of = ground.answer = ""
    ground.declared = [declared for declared in ground.declared if declared[0] != turn]
    if ground.ending[4:] == [turn]:
        ground.ending[3:] = [ground.ending[2], ""]
    for offer in ground.offers:
        if offer[4] == turn:
            offer[3:] = ["", ""]


def settle(state: State, fact: Settling, session: str = "") -> list[Derived]:
    """What an outside fact does to offers and conclusions of its session, or that of the turn that it is about."""
    key = f"ground/{session or fact.session}"
    ground = state.get(key, Ground)
    if ground is None:
        return []
    if not isinstance(fact, SessionEnded) and ground.ending[:1] == [fact.turn]:
        _let_go(ground)
        state.put(key, ground)
    match fact:
        case EffortReopened():
            ground.concluded = ""
            _let_go(ground)
            state.put(key, ground)
            return []
        case SessionEnded():
            offer = ground.offers[-1] if ground.offers else None
            if offer is None or offer[0] != ground.answer_turn or offer[0] != ground.last_turn:
                return []
            if ground.pending or ground.handoff:
                return []
            outcome: Literal["accepted", "declined"] = "accepted"
        case EffortClosed() | OfferDeclined() | TurnRetracted():
            if isinstance(fact, TurnRetracted):
                _take_back(ground, fact.turn)
                state.put(key, ground)
            offer = next((offer for offer in ground.offers if offer[0] == fact.turn), None)
            if offer is None:
                return []
            outcome = "accepted" if isinstance(fact, EffortClosed) else "declined"
    ground.offers.remove(offer)
    state.put(key, ground)
    turn, segment, pattern, said, quotes = offer
    events: list[Derived] = [OfferSettled(fact.space, fact.session, fact.at, turn, segment, outcome)]
    if outcome == "accepted":
        if isinstance(fact, EffortClosed) and fact.conclusion:
            said, quotes = fact.conclusion[:MAX_TEXT], ""
        ground.concluded = ""
        events += _finished(ground, fact, turn, segment, pattern, 1.0, said, quotes)
    return events
