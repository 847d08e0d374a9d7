"""Summaries: sentences of a segment's turns, for those who read what it came to.

    worth of a sentence = points for what it tells (see WORTH), more for what the segment comes back to
    summary             = the sentences of most worth that fit, in the order in which they were said, and the conclusion

As a segment grows, the few turns that tell most are kept; only their sentences are read, when a summary is written. It
quotes: nothing in it is reworded. Who speaks is named before sentences in which speakers speak of themselves. A short
segment gets a short summary: a share of its tokens.

The points are those of a ridge regression of how much of a person's summary a sentence holds, on dialogues with such
summaries (tests/bench/learn_summaries.py learns them). Sources: extractive summaries by weighed features (Edmundson
1969; Kupiec, Pedersen and Chen 1995).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, partial
from operator import itemgetter
from typing import Annotated, Any

from processors.manifest.cue import Evidence
from streams.core.events import TurnRecorded
from streams.core.params import Params, completed, param
from streams.core.patterns import lazily
from streams.core.processor import State
from streams.core.text import Text
from streams.core.text.cues import UNSPACED
from streams.core.text.telling import FEATURES, Told, beginning, excerpt, sentences
from streams.core.text.terms import tokens

KEPT = 4
"""Turns of which sentences may be quoted. With the four to six that tell most, summaries are as good as with all."""
KEEPS = 480
"""Characters kept of each: its beginning and its end."""
KEEPING = {"opening": 4, "decision": 2, "finding": 2, "question": 1, "offer": -3, "greeting": -1, "thanks": -2}
"""What the cues of a turn say for keeping it, beside one for each of its first eight terms and two for a beginning."""
WORTH = {
    "shortest": -6, "short": 6, "middling": 3, "longer": -3, "longest": -1, "tells nothing": -8, "tells one": -1,
    "tells two": 5, "tells three": 10, "tells more": 3, "named": 8, "own": 2, "leads": 4, "asks": -1, "commas": -5,
    "opening": 13, "decision": 5, "finding": 3, "offer": -5, "ack": -3, "greeting": -3, "closing": -3, "pivot": 1,
    "repeats one": 11, "repeats more": 22, "first turn": 7, "second turn": 3,
}  # fmt: skip
"""Points for what is seen of a sentence, see FEATURES of streams/core/text/telling.py. `repeats`: stems that it shares
with another turn of the segment. What is not named here tells nothing."""
BEGINNINGS = ("first turn", "second turn")
SEEN = frozenset((*FEATURES, "repeats one", "repeats more", *BEGINNINGS))
MOST_TERMS, BEGINS, OPENING = 8, 2, 120
LATER, ABOUT, DONE = 3, 5, 10
"""Points for each sentence before it, for a word of what was asked, for something done: a report ends with what came of
it."""
_DID = lazily(
    r"\b(?:I|we)(?:'ve| have|’ve)? (?:(?!look|check|tried|ask|need|want|hop|lik|lov|wish|expect|miss)\w*[^\We]ed|found"
    r"|sent|set|put|wrote|built|made|agreed|freed|guaranteed)\b(?![^.!?\n]*\?)",
    re.I,
)
"""Words of a deed. What is asked is none, nor "needed": what is wanted is not done. Words in -eed are mostly of today
("need", "proceed"); those that are not are named."""
BRIEF = 5
"""Tokens of a sentence that is worth standing beside another."""
ASKS = 40
"""Points against a question where an answer is sought."""
LISTED = 10
"""Points against a line of a list or a table there: a detail of the sentence before it."""


class Quoting(Params):
    """How summaries are written."""

    sentences: Annotated[dict[str, int], completed(WORTH, "features", sorted(SEEN))] = param(
        WORTH, "points", "what is seen of a sentence, and how much it speaks for quoting it",
        source="ridge regression over dialogues with summaries; see summary",
    )  # fmt: skip
    share: float = param(0.3, "share 0..1", "of a segment's tokens are quoted; less leaves findings out", gt=0, le=1)
    least: int = param(12, "tokens", "a sentence", ge=1, le=60)
    most: int = param(60, "tokens", "question, finding and decision in a sentence or two each", ge=10, le=200)

    @cached_property
    def worth(self) -> dict[str, int]:
        """The points of every feature."""
        return {feature: self.sentences.get(feature, 0) for feature in SEEN}

    @cached_property
    def scored(self) -> Callable[[str], list[tuple[int, Told]]]:
        """The sentences of an excerpt with the points of their features; a memo of a pure function."""
        return lru_cache(maxsize=4096)(partial(_scored, self.worth))


def _scored(worth: Mapping[str, int], text: str) -> list[tuple[int, Told]]:
    return [(sum(map(worth.__getitem__, told.features)), told) for told in sentences(text)]


@dataclass(slots=True)
class Said:
    """State, `said/<session>`: what of a session's last segment may be quoted. Bounded. Of the segments before that,
    `quoted/<first turn>`."""

    segment: str
    kept: list[list[Any]] = field(default_factory=list)
    """The turns that tell most, in order: worth, number in the segment from 1, turn, speaker, excerpt."""
    opening: list[str] = field(default_factory=list)
    """The first turn, and its beginning: what is shown where no sentence tells anything."""
    outcome: str = ""
    """What the segment came to, where it is concluded."""
    outcome_turn: str = ""
    """The turn that concluded it."""
    outcome_of: str = ""
    """The turn whose words the outcome is, where that is another."""
    written: list[Any] = field(default_factory=list)
    """What a model wrote of it: its last turn then, summary, topics, model."""


def keep(state: State, evidence: Evidence, turn: TurnRecorded, text: Text, quoted: bool = True) -> None:
    """Keeps a turn that tells more than one of those kept so far; where it is not to be `quoted`, as an opening."""
    worth = min(len(text.terms), MOST_TERMS)
    for cue in text.cues:
        worth += KEEPING.get(cue, 0)
    first = evidence.turns == 1
    if not first and worth <= evidence.bar:
        return
    key = f"said/{turn.session}"
    said = state.get(key, Said)
    if said is None or said.segment != evidence.segment:
        said = Said(evidence.segment, opening=[turn.id, beginning(turn.content, OPENING)])
    if not quoted:
        state.put(key, said)
        return
    kept = said.kept
    if len(kept) == KEPT:
        kept.remove(min(kept))
    kept.append(
        [worth + BEGINS * first, evidence.turns, turn.id, turn.agent or turn.role, excerpt(turn.content, KEEPS)]
    )
    if len(kept) == KEPT:
        evidence.bar = min(kept)[0]
    state.put(key, said)


def conclude(state: State, session: str, segment: str, turn: str, outcome: str, of: str) -> None:
    """Keeps what the session's segment came to, as `turn` says, in the words of the turn `of` where there is one.

    What an earlier one came to, which is seen only now, leaves what was said since as it is.
    """
    key = f"said/{session}"
    said = state.get(key, Said)
    if said is not None and said.segment != segment:
        return
    said = said or Said(segment)
    said.outcome, said.outcome_turn, said.outcome_of = outcome, turn, of
    state.put(key, said)


def take_back(said: Said, turn: str) -> None:
    """Nothing of a retracted turn is quoted, nor what a model wrote of it."""
    said.kept = [kept for kept in said.kept if kept[2] != turn]
    said.written = []
    if said.opening[:1] == [turn]:
        said.opening = []
    if turn in (said.outcome_turn, said.outcome_of):
        said.outcome = said.outcome_turn = said.outcome_of = ""


def quotes(said: Said, turn: str) -> bool:
    """Whether anything of a turn may be quoted."""
    return turn in (*said.opening[:1], said.outcome_turn, said.outcome_of) or any(kept[2] == turn for kept in said.kept)


def move(said: Said, turns: list[str], segment: str) -> Said:
    """Turns that begin the next segment are quoted there, and no longer in the one before."""
    kept = [kept for kept in said.kept if kept[2] in turns]
    said.kept = [one for one in said.kept if one not in kept]
    for number, one in enumerate(kept, 1):
        one[1] = number
    return Said(segment, kept)


def did(text: str) -> bool:
    """Whether a text says that its speaker did something."""
    return _DID.search(text) is not None


def richest(params: Quoting, text: str, about: Sequence[str]) -> Told | None:
    """The sentence of an answer that tells most, by its features and by the stems `about` what it answers.

    None where none of its sentences tells anything, or all ask.
    """
    best, most, place = None, -ASKS, -1
    for told in sentences(text):
        place += not told.listed
        points = sum(params.worth[feature] for feature in told.features if feature != "leads")
        points += -LISTED if told.listed else LATER * place
        points += ABOUT * any(map(about.__contains__, told.stems)) + DONE * did(told.text)
        points -= ASKS * ("asks" in told.features)
        if told.stems and points > most:
            best, most = told, points
    return best


def summarize(said: Said | None, evidence: Evidence, params: Quoting) -> str:
    """The sentences that tell most of a segment, in the order in which they were said."""
    if said is None or said.segment != evidence.segment:
        return ""
    worth, again = params.worth, evidence.counts.__contains__
    repeats = (0, worth["repeats one"], worth["repeats more"])
    ranked: list[tuple[int, int, int, str, Told]] = []
    for _, number, _, speaker, text in said.kept:
        begins = worth[BEGINNINGS[number - 1]] if number <= len(BEGINNINGS) else 0
        for place, (points, told) in enumerate(params.scored(text)):
            repeated = sum(map(again, told.stems))
            ranked.append((-points - begins - repeats[repeated if repeated < 2 else 2], number, place, speaker, told))
    ranked.sort(key=_BY_WORTH)
    left = max(params.least, min(params.most, round(evidence.tokens * params.share)))
    outcome = said.outcome
    if outcome:
        left -= tokens(outcome)
    chosen: list[tuple[int, int, int, str, Told]] = []
    texts = set[str]()
    for found in ranked:
        told = found[4]
        if (not chosen or BRIEF <= told.tokens <= left) and told.text not in texts and told.text not in outcome:
            chosen.append(found)
            texts.add(told.text)
            left -= told.tokens
    chosen.sort(key=_BY_PLACE)
    quoted = spoken((speaker, told.own, told.text) for *_, speaker, told in chosen)
    pieces = [quoted] if quoted else []
    if outcome:
        pieces.append(outcome)
    if not pieces and said.opening:
        pieces = said.opening[1].split()
    return " ".join(pieces)


def spoken(sentences: Iterable[tuple[str, bool, str]]) -> str:
    """Sentences, each with its speaker and whether he speaks of himself, as running text."""
    pieces: list[str] = []
    last = ""
    for speaker, own, text in sentences:
        if own and speaker != last:
            pieces.append(f"{speaker}:")
        pieces.append(text if text[-1] in ENDS else f"{text}{'。' if UNSPACED.fullmatch(text[-1]) else '.'}")
        last = speaker
    return " ".join(pieces)


ENDS = ".!?…:;。！？\"'”’»"
_BY_WORTH = itemgetter(0, 1, 2)
_BY_PLACE = itemgetter(1, 2)
