"""Composition: which pieces of which sections a model is shown.

First comes what is needed (the turn to be answered, the last exchanges, the effort in hand), then what serves most, as
long as it fits; worth is not weighed by cost, for then short turns that say little come first. A turn stands once. What
serves less than `least` is left out though there is room: an unrelated turn in a context costs more than its tokens. A
piece that stands below another is taken with it or after it. In the room that is left, what tools were given and gave
is shown beyond its ends: there stand the ids and numbers that are asked for next.

The result is a pure function of the memory, the position, the session, the budget and the parameters.

Most of what is considered finds no room, so turns are read and written only when they may fit: before that it is known
what they cost at least.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from typing import Any, NamedTuple, Protocol

from projections.context.params import ContextParams
from projections.context.turns import Turn, words
from projections.recall.standing import Replaced, figures_gone, marked
from streams.core.params import Params
from streams.core.section import Ask, Piece, Reader, Section, offsets, quoted
from streams.core.text.echo import HEADING
from streams.core.text.terms import tokens
from streams.core.text.within import cost


class Written(NamedTuple):
    """How a piece is written."""

    line: str
    words: str
    """Of a turn: what is shown of what it says, not quoted."""
    tokens: int
    """Of the line."""
    cost: int
    """What the line takes of the budget."""


@dataclass(slots=True)
class Choice:
    """A piece that was considered, and what became of it."""

    section: Section
    piece: Piece
    cost: int
    """What the line takes of the budget; before it is written, what it takes at least."""
    line: str = ""
    """How it is written; "" before it is."""
    tokens: int = 0
    """Of the line."""
    words: str = ""
    """Of a turn: what is shown of what it says, not quoted."""
    taken: bool = False
    why: str = ""
    """Why it was taken or left out, beside what its section says of it."""

    def write(self, written: Written) -> None:
        """Says how it is written."""
        self.line, self.words, self.tokens, self.cost = written

    @property
    def heading(self) -> str:
        """The line above its section."""
        return HEADING + self.section.heading


@dataclass(slots=True)
class Composed:
    """A context, before it is written."""

    ask: Ask
    budget: int
    choices: list[Choice]
    """All that was considered, section by section in the order they are shown."""
    turns: dict[int, Turn]
    """Those that were read, by offset."""
    params: ContextParams
    source: Source
    frame: int = 0
    """What is written around the sections costs so much."""
    left: int = 0
    """Tokens of the budget that are not used."""
    headings: set[str] = field(default_factory=set)
    """Names of the sections of which something is shown."""

    def shown(self, section: str | None = None) -> list[Choice]:
        """What is shown, in order; of one section where it is named."""
        return [c for c in self.choices if c.taken and section in (None, c.section.name)]

    def limit(self, share: float) -> int:
        """The most tokens of a turn's words, as a share of the budget."""
        return max(int(self.budget * share), 8)

    def read(self, positions: Iterable[int]) -> None:
        """Reads turns, at once."""
        if missing := [at for at in positions if at not in self.turns]:
            self.turns |= self.source.words(missing)

    def write(self, choices: Iterable[Choice]) -> None:
        """Writes those that are not written yet."""
        waiting = [choice for choice in choices if not choice.line and choice.piece.turn >= 0]
        if not waiting:
            return
        self.read(dict.fromkeys([choice.piece.turn for choice in waiting]))
        turns = self.turns
        replaced = self.source.replaced([turns[c.piece.turn].id for c in waiting if c.section.place < OWN])
        newest, limit = self.limit(self.params.newest), self.limit(self.params.turn)
        for choice in waiting:
            piece = choice.piece
            room = newest if piece.needed and piece.worth >= 1 else limit
            choice.write(self.written(choice, room, replaced))

    def written(
        self, choice: Choice, room: int, replaced: Mapping[str, Sequence[Replaced]], whole: bool = False
    ) -> Written:
        """A turn's line within `room`. What does not stand any more is marked, but in the session's own last exchanges:
        they stay what was said. Why: they are the talk itself, and as chat messages they are sent in their speakers'
        names; a mark would be put into somebody's mouth. Where the newer statement is of the same window, the model
        reads it right there."""
        turn, own, params = self.turns[choice.piece.turn], choice.section.place >= OWN, self.params
        way = room, own, params.tool, params.head, whole
        written = turn.written.get(way)
        if written is None:
            written = turn.written[way] = _shown(turn, room, own, params, whole)
        if replaced and not own and turn.id in replaced:
            line = marked(written.line, replaced[turn.id], whole=True)
            return _written(line, written.words, tokens(line))
        return written


class Source(Protocol):
    """What a context is composed from: a memory as of a position."""

    def reader(self, section: Section) -> Reader:
        """What a section reads."""
        ...

    def words(self, positions: Sequence[int]) -> dict[int, Turn]:
        """The turns at some offsets, by offset."""
        ...

    def replaced(self, ids: Collection[str]) -> dict[str, Sequence[Replaced]]:
        """By turn: its sentences that do not stand any more, or are in doubt."""
        ...

    def tokens(self, positions: Sequence[int]) -> dict[int, int]:
        """The tokens of turns' words at some offsets, known without reading them; of those only where all is shown
        wherever so many fit, and costs so many at least."""
        ...


Offer = tuple[Section, Params | None]
"""A section, and the parameters of the mechanism that it belongs to (None for those of composition itself)."""


def compose(
    source: Source,
    ask: Ask,
    offers: Sequence[Offer],
    params: Mapping[str, Params],
    budget: int | None = None,
    without: Collection[str] = (),
    frame: Callable[[Ask], int] = lambda ask: 0,
) -> Composed:
    """Chooses what is shown in a session. `params` by name: `context`, and `context.NAME` of each section.

    `budget` is the parameter's where it is None; `frame` says what that which is written around the sections costs.
    """
    own = params.get("context")
    assert isinstance(own, ContextParams)
    budget = own.budget if budget is None else budget
    found: list[tuple[Section, Piece]] = []
    for section, mechanism in sorted(offers, key=lambda offer: offer[0].place):
        if section.name not in without and section.layer not in without:
            own_params, read = params[f"context.{section.name}"], source.reader(section)
            pieces = section.pieces(mechanism, own_params, ask, read)
            found += zip(repeat(section), pieces, strict=False)
    known = source.tokens([piece.turn for _, piece in found if piece.turn >= 0])
    composed = Composed(ask, budget, [], {}, own, source, frame(ask))
    composed.read(offsets([piece for _, piece in found if piece.turn not in known]))
    replaced = source.replaced([id for _, piece in found if piece.quotes for id in piece.quotes])
    limit = composed.limit(min(own.turn, own.newest))
    for section, piece in found:
        count = known.get(piece.turn, 0)
        if piece.turn < 0:
            composed.choices += _text(composed, section, piece, replaced)
        elif 0 < count <= limit:  # all of it is shown
            composed.choices.append(Choice(section, piece, count + (LABEL if section.place < OWN else 1)))
        elif count or piece.turn in composed.turns:  # else it is not in the memory
            composed.choices.append(Choice(section, piece, 0))
    _Packing(composed, budget - composed.frame).pack()
    return composed


def _text(
    composed: Composed, section: Section, piece: Piece, replaced: Mapping[str, Sequence[Replaced]]
) -> list[Choice]:
    """A text as it is written; none where it was to tell figures, and there are none."""
    text, params = piece.text, composed.params
    if replaced and piece.quotes:
        text = marked(text, [one for id in piece.quotes for one in replaced.get(id, ())])
    if piece.figures:
        limit = min(params.figures, int(composed.budget * params.tight))
        turns = [composed.turns[at] for at in piece.figures if at in composed.turns]
        replaced = composed.source.replaced([turn.id for turn in turns])
        if not (told := _figures(turns, limit - cost(text), replaced)):
            return []
        text = f"{text} {told}"
    choice = Choice(section, piece, 0)
    choice.write(_written(text, "", tokens(text)))
    return [choice]


def _figures(turns: Sequence[Turn], room: int, replaced: Mapping[str, Sequence[Replaced]]) -> str:
    """The ids, dates and amounts that some turns tell, the newest turn first: those that most of them tell, within
    `room` tokens, in the order in which they were told last; without those in whose place others were told since."""
    gone, doubts = figures_gone(one for some in replaced.values() for one in some)
    told = Counter(figure for turn in turns for figure in turn.figures if gone.get(figure, -1) < turn.position)
    again = {figure for turn in turns if doubts for figure in turn.figures if turn.position > doubts.get(figure, -1)}
    doubted = doubts.keys() - again
    chosen = set[str]()
    for figure in sorted(told, key=lambda figure: -told[figure] * min(len(figure), LONG)):
        room -= tokens(figure) + (DOUBTFUL if figure in doubted else 0)
        if room < 0:
            break
        chosen.add(figure)
    return ", ".join(f"{figure} (doubtful)" if figure in doubted else figure for figure in told if figure in chosen)


DOUBTFUL = 3
"""Tokens of what is written after a figure that is in doubt."""
LONG = 8
"""Characters of an id or a date; a shorter one is as likely a mere number."""


def _shown(turn: Turn, limit: int, own: bool, params: ContextParams, whole: bool) -> Written:
    """A turn as it is written."""
    said = words(turn, limit, params, whole)
    before = label(turn, own)
    line = f"{before} {quoted(said)}".strip()
    return _written(line, said, _counted(turn, before, line))


def _written(line: str, words: str, count: int) -> Written:
    return Written(line, words, count, cost(line, count))


def _counted(turn: Turn, before: str, line: str) -> int:
    """The tokens of a line. Where it shows all of a turn, the turn's words are not counted again."""
    if turn.tokens and len(line) < SHORT and line == f"{before} {turn.content}":
        return tokens(before) + turn.tokens
    return tokens(line)


def label(turn: Turn, own: bool) -> str:
    """What stands before a turn's words: who speaks; outside the session's own last exchanges also when, and its id."""
    if own:
        return f"{turn.speaker}:"
    return f"- {turn.when[:10]} {turn.speaker} [{turn.id}]:"


LABEL = 5
"""Tokens of the shortest label with a day and an id."""
SHORT = 2_000
"""Characters of a line whose tokens are those of its parts."""
OWN = 90
"""Sections from this place on show the session's own last exchanges, after which nobody asks when or where."""


class _Packing:
    """Fills a budget."""

    def __init__(self, composed: Composed, room: int) -> None:
        self.composed = composed
        self.room = room
        self._shown = set[int | str]()
        """Turns, and ids."""
        self._parents = {(c.section.name, c.piece.id): c for c in composed.choices if c.piece.id and not c.piece.under}

    def pack(self) -> None:
        """Takes what is needed, then what is worth most."""
        params = self.composed.params
        needed = sorted((c for c in self.composed.choices if c.piece.needed), key=lambda c: -c.piece.worth)
        self.composed.write(needed)
        for choice in needed:
            self._take(choice, "needed")
        rest = [c for c in self.composed.choices if not c.taken]
        # Why by place last: among equals what stands later in time serves more; sections are in order already.
        rest.sort(key=lambda c: -c.piece.worth)
        self.composed.write(self._likely(rest))
        for choice in rest:
            if choice.piece.worth < params.least:
                choice.why = "serves too little"
            else:
                self._take(choice, "worth it")
        self._widen()
        self.composed.left = self.room

    def _likely(self, rest: Iterable[Choice]) -> Iterator[Choice]:
        """Those that come first, as long as they may fit: their turns are read and written at once."""
        room, least = self.room, self.composed.params.least
        found = set(self._shown)
        for choice in rest:
            turn = choice.piece.turn
            if turn not in found:
                room -= choice.cost
                if room < 0 or choice.piece.worth < least:
                    return
                if turn >= 0:
                    found.add(turn)
                    yield choice

    def _widen(self) -> None:
        """Shows more of what tools were given and gave, those that serve most first, as long as there is room."""
        params, turns = self.composed.params, self.composed.turns
        limit = self.composed.limit(params.turn)
        shown = [c for c in self.composed.choices if c.taken and c.piece.turn >= 0 and c.piece.worth >= params.whole]
        for choice in sorted(shown, key=lambda c: -c.piece.worth):
            turn = turns[choice.piece.turn]
            if turn.role == "tool" or turn.calls:
                replaced = self.composed.source.replaced([turn.id])
                written = self.composed.written(choice, limit, replaced, whole=True)
                more = written.cost - choice.cost
                if more <= self.room:
                    self.room -= more
                    choice.write(written)

    def _take(self, choice: Choice, why: str) -> None:
        """Takes a piece, and what it stands below, where they fit."""
        piece, composed, shown = choice.piece, self.composed, self._shown
        if piece.turn in shown or piece.says in shown or piece.id in shown:
            choice.why = "shown already"
            return
        name, group = choice.section.name, [choice]
        if piece.under:
            parent = self._parents.get((name, piece.under))
            if parent is None:
                choice.why = f"{piece.under} is not here"
                return
            if not parent.taken:
                group.insert(0, parent)
        if choice.cost > self.room or not self._fits(group, 0 if name in composed.headings else cost(choice.heading)):
            choice.why = "no room"
            return
        composed.headings.add(name)
        for one in group:
            one.taken, one.why = True, why
            if one.piece.turn >= 0:
                shown.add(one.piece.turn)
            if one.piece.id:
                shown.add(one.piece.id)

    def _fits(self, group: Sequence[Choice], heading: int) -> bool:
        """Takes the room for choices where there is so much; they are written where that may be."""
        left = self.room - heading - sum([one.cost for one in group])
        if left >= 0 and not all(one.line for one in group):
            self.composed.write(group)
            left = self.room - heading - sum([one.cost for one in group])
        if left >= 0:
            self.room = left
        return left >= 0


def explained(composed: Composed) -> Iterable[dict[str, Any]]:
    """Every piece that was considered, what it costs and is worth, and what became of it, as JSON values."""
    composed.write(composed.choices)
    for choice in composed.choices:
        piece = choice.piece
        turn = composed.turns.get(piece.turn)
        yield {
            "section": choice.section.name, "heading": choice.section.heading, "id": turn.id if turn else piece.id,
            "taken": choice.taken, "why": choice.why, "reason": piece.reason, "worth": round(piece.worth, 6),
            "tokens": choice.cost, "text": choice.line,
        }  # fmt: skip
