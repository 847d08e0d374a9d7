"""What one turn's words say, computed once: a pure, versioned function of the turn that every fold reads.

`read(turn)` gives a `Text`. Replays take it from a columnar cache keyed by `VERSION`, so it must depend on the turn
alone: not on the session, the speaker's history or any parameter. Raise VERSION whenever its output changes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from operator import itemgetter

from streams.core.events import TurnRecorded
from streams.core.text.acts import accepting, acting, signals_of
from streams.core.text.address import HEAD, TAIL, address
from streams.core.text.claims import CALLING, claims
from streams.core.text.standing import lasting
from streams.core.text.statements import stating
from streams.core.text.terms import WORDS, clip, count_terms, scale, second_look

VERSION = 23


@dataclass(slots=True)
class Text:
    """The text features of one turn. Flat lists of JSON values: it travels in events and lies in columns."""

    tokens: int
    """Estimated model tokens of the content."""
    terms: list[str]
    """Distinct stems without stop words, in order of first use; at most 64, the most used."""
    counts: list[int]
    """How often each of `terms` is used; same length."""
    names: list[str]
    """Distinct names, folded to lower case: paths, identifiers, numbers with a sign (#12), proper names. At most 16."""
    cues: list[str]
    """Names of the cues found (see cues), each once."""
    address: str
    """Whom the turn addresses by name at its beginning ("ann: yes"), folded to lower case; "" for nobody."""
    patterns: list[str]
    """Conclusion patterns claimed by its words, in order of appearance; see claims."""
    confidences: list[float]
    """How sure each claim is, 0 to 1; same length as `patterns`."""
    spans: list[int]
    """Where each claim stands in the content: start and end offset of its sentence, flattened; twice as long."""
    calls: list[str] = field(default_factory=list)
    """Words at its beginning and end by which it may call a speaker, folded to lower case; see address. At most 6."""
    forms: list[str] = field(default_factory=list)
    """How each of `terms` is first written, folded to lower case; same length. Summaries are made of whole words."""
    acts: list[int] = field(default_factory=list)
    """Of a user's turn: how much its words speak for ending work, opening it, staying with it; see acts."""
    accepts: int = 0
    """Of an assistant's turn: how much its words speak for an end in what it answers."""
    states: list[int] = field(default_factory=list)
    """Of what a person or a model says: how much its words speak for changing what was stated, for stating what may
    change, for stating something plainly, and, as an answer, for a change told by what it answers; see statements."""
    kinds: list[str] = field(default_factory=list)
    """Of what kinds these words are besides words: numbers, times, days of the week."""
    standing: list[int] = field(default_factory=list)
    """Of a user's turn: its sentences that may hold from then on: two scores, start and end of each, flattened;
    see standing."""


NO_TEXT = Text(0, [], [], [], [], "", [], [], [])
"""Of what is no turn. Shared, never mutated."""


SPEAKING = ("user", "assistant")
"""Roles whose words say something; tools and systems put out."""
CALL = itemgetter(2)
"""Of `More`: whom the word may call."""


def read(turn: TurnRecorded) -> Text:
    """The text features of a turn."""
    content = turn.content
    words = clip(content).split()
    if not words:
        return Text(0, [], [], [], [], "", [], [], [])
    tokens, spelled, stems, flags, leads, more = zip(*map(WORDS.__getitem__, words), strict=True)
    names, cues, rest, claimed = second_look(spelled, flags, leads, more)
    terms, counts, forms = count_terms(stems, spelled, rest)
    ends = more[:HEAD] + more[-TAIL:] if len(words) >= HEAD else more
    patterns: list[str] = []
    confidences: list[float] = []
    spans: list[int] = []
    if claimed & CALLING.get(turn.role, 0):
        for claim in claims(content, turn.role, claimed):
            patterns.append(claim.pattern)
            confidences.append(claim.confidence)
            spans += (claim.start, claim.end)
    seen, places = signals_of(content, turn.role) if turn.role in SPEAKING else ([], [])
    states, kinds = stating(seen, content) if terms and seen else ([], [])
    acts = acting(seen + places) if turn.role == "user" else []
    return Text(
        scale(sum(tokens), content),
        terms,
        counts,
        names,
        cues,
        address(words[0], more[0][2]),
        patterns,
        confidences,
        spans,
        [*filter(None, dict.fromkeys(map(CALL, ends)))],
        forms,
        acts,
        accepting(seen + places) if turn.role == "assistant" else 0,
        states,
        kinds,
        lasting(content, seen, acts, states) if acts and terms else [],
    )
