"""Composition: which pieces of which sections a model is shown.

First comes what is needed (the turn to be answered, the last exchanges, the effort in hand), then what serves most, as
long as it fits; worth is not weighed by cost, for then short turns that say little come first. A turn stands once. What
serves less than `least` is left out though there is room: an unrelated turn in a context costs more than its tokens. A
piece that stands below another is taken with it or after it. In the room that is left, what tools were given and gave
is shown beyond its ends: there stand the ids and numbers that are asked for next.

The result is a pure function of the memory, the position, the session, the budget and the parameters.

Most of what is considered finds no room, so of turns pieces are made, and they are read and written, only when they may
fit: before that it is known what they are worth, and what they cost at least.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import repeat
from typing import Any, NamedTuple, Protocol

from projections.context.params import ContextParams
from projections.context.turns import Turn, exceeds, partly, words
from projections.recall.standing import Replaced, figures_gone, marked
from streams.core.params import Params
from streams.core.section import Ask, Piece, Reader, Section, Turns, quoted
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
class Considered:
    """What is considered, in columns: most of it is only compared."""

    turns: list[int] = field(default_factory=list)
    """Offsets; -1 for a text."""
    worths: list[float] = field(default_factory=list)
    labels: list[int] = field(default_factory=list)
    """The tokens of the shortest label that stands before a turn."""
    made: list[tuple[Section, Piece | Turns, int]] = field(default_factory=list)
    """What makes a piece of each; of turns, which of them."""


@dataclass(slots=True)
class Composed:
    """A context, before it is written."""

    ask: Ask
    budget: int
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
    considered: Considered = field(default_factory=Considered)
    """All that is considered, section by section in the order they are shown. Its places name it."""
    pieces: dict[int, Piece] = field(default_factory=dict)
    """Those of which pieces were made from the beginning, by place."""
    costs: list[int] = field(default_factory=list)
    """What each takes of the budget at least; `MISSING` of what is not in the memory."""
    made: dict[int, Choice] = field(default_factory=dict)
    """The choices that were made so far, by place."""

    def offer(self, section: Section, one: Piece | Turns) -> None:
        """Takes up what a section offers."""
        of, label = self.considered, LABEL if section.place < OWN else 1
        if isinstance(one, Piece):
            self.pieces[len(of.turns)] = one
            of.turns.append(one.turn)
            of.worths.append(one.worth)
            of.labels.append(label)
            of.made.append((section, one, 0))
        else:
            count = len(one.turns)
            of.turns += one.turns
            of.worths += one.worths
            of.labels += repeat(label, count)
            of.made += zip(repeat(section), repeat(one), range(count), strict=False)

    def choice(self, place: int) -> Choice:
        """One of what is considered."""
        made = self.made.get(place)
        if made is None:
            section, of, at = self.considered.made[place]
            piece = of if isinstance(of, Piece) else of.piece(at)
            made = self.made[place] = Choice(section, piece, self.costs[place])
        return made

    @property
    def choices(self) -> list[Choice]:
        """All that was considered."""
        return [self.choice(place) for place, cost in enumerate(self.costs) if cost < MISSING]

    def shown(self, section: str | None = None) -> list[Choice]:
        """What is shown, in order; of one section where it is named."""
        made = [self.made[place] for place in sorted(self.made)]
        return [c for c in made if c.taken and section in (None, c.section.name)]

    def limit(self, share: float) -> int:
        """The most tokens of a turn's words, as a share of the budget."""
        return max(int(self.budget * share), 8)

    def read(self, positions: Iterable[int]) -> None:
        """Reads turns, at once."""
        if missing := [at for at in positions if at not in self.turns]:
            self.turns |= self.source.words(missing)

    def write(self, choices: Iterable[Choice], most: int | None = None) -> None:
        """Writes those that are not written yet. One that is sure to take more than `most` is not written: that it does
        is all that is known of it then."""
        waiting = [choice for choice in choices if not choice.line and choice.piece.turn >= 0]
        if not waiting:
            return
        self.read(dict.fromkeys([choice.piece.turn for choice in waiting]))
        turns, asked = self.turns, self.ask.terms
        replaced = self.source.replaced([turns[c.piece.turn].id for c in waiting if c.section.place < OWN])
        newest, limit = self.limit(self.params.newest), self.limit(self.params.turn)
        for choice in waiting:
            piece = choice.piece
            room = newest if piece.needed and piece.worth >= 1 else limit
            if most is not None and choice.section.place < OWN and exceeds(turns[piece.turn], room, asked, most):
                choice.cost = most + 1
            else:
                choice.write(self.written(choice, room, replaced))

    def written(
        self, choice: Choice, room: int, replaced: Mapping[str, Sequence[Replaced]], whole: bool = False
    ) -> Written:
        """A turn's line within `room`: of a longer one from elsewhere what serves what is asked. What does not stand
        any more is marked, but in the session's own last exchanges: they stay what was said. Why: they are the talk
        itself, and as chat messages they are sent in their speakers' names; a mark would be put into somebody's mouth.
        Where the newer statement is of the same window, the model reads it right there."""
        turn, own, params = self.turns[choice.piece.turn], choice.section.place >= OWN, self.params
        way = room, own, params.tool, params.head, whole
        said = "" if own else partly(turn, room, self.ask.terms)
        written: Written | None
        if said:
            written = _line(turn, own, said)
        elif (written := turn.written.get(way)) is None:
            written = turn.written[way] = _line(turn, own, words(turn, room, params, whole))
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


MISSING = 2**62
"""More than any budget."""
Offer = tuple[Section, Params | None]
"""A section, and the parameters of the mechanism that it belongs to (None for those of composition itself)."""


def compose(
    source: Source,
    ask: Ask,
    sections: Sequence[Offer],
    params: Mapping[str, Params],
    budget: int | None = None,
    without: Collection[str] = (),
    frame: Callable[[Ask], int] = lambda ask: 0,
    explain: bool = True,
) -> Composed:
    """Chooses what is shown in a session. `params` by name: `context`, and `context.NAME` of each section.

    `budget` is the parameter's where it is None; `frame` says what that which is written around the sections costs.
    `explain`: whether `choices` tell why it is left out of what is, too; otherwise they tell of what is shown alone.
    """
    own = params.get("context")
    assert isinstance(own, ContextParams)
    budget = own.budget if budget is None else budget
    ask = replace(ask, budget=budget)
    composed = Composed(ask, budget, {}, own, source, frame(ask))
    for section, mechanism in sorted(sections, key=lambda offer: offer[0].place):
        if section.name not in without and section.layer not in without:
            own_params, read = params[f"context.{section.name}"], source.reader(section)
            for one in section.pieces(mechanism, own_params, ask, read):
                composed.offer(section, one)
    _weigh(composed)
    _Packing(composed, budget - composed.frame, explain).pack()
    return composed


def _weigh(composed: Composed) -> None:
    """Finds what all that is offered costs at least. Texts are written, turns only where they may fit."""
    source, own, offers = composed.source, composed.params, composed.considered
    texts = {place: piece for place, piece in composed.pieces.items() if piece.turn < 0}
    known = source.tokens([at for at in offers.turns if at >= 0])
    unknown = {*offers.turns} - known.keys() - {-1}
    composed.read(sorted(unknown.union(*[piece.figures for piece in texts.values()])))
    limit, read = composed.limit(min(own.turn, own.newest)), composed.turns
    composed.costs += [
        count + before if 0 < (count := known.get(at, 0)) <= limit  # all of it is shown
        else before + 1 if count
        else 0 if at in read
        else MISSING
        for at, before in zip(offers.turns, offers.labels, strict=True)
    ]  # fmt: skip
    replaced = source.replaced([id for piece in texts.values() if piece.quotes for id in piece.quotes])
    for place, piece in texts.items():
        if (written := _text(composed, piece, replaced)) is not None:
            composed.costs[place] = written.cost
            composed.choice(place).write(written)


def _text(composed: Composed, piece: Piece, replaced: Mapping[str, Sequence[Replaced]]) -> Written | None:
    """A text as it is written; None where it was to tell figures, and there are none."""
    text, params = piece.text, composed.params
    if replaced and piece.quotes:
        text = marked(text, [one for id in piece.quotes for one in replaced.get(id, ())])
    if piece.figures:
        limit = min(params.figures, int(composed.budget * params.tight))
        turns = [composed.turns[at] for at in piece.figures if at in composed.turns]
        replaced = composed.source.replaced([turn.id for turn in turns])
        if not (told := _figures(turns, limit - cost(text), replaced)):
            return None
        text = f"{text} {told}"
    return _written(text, "", tokens(text))


def _figures(turns: Sequence[Turn], room: int, replaced: Mapping[str, Sequence[Replaced]]) -> str:
    """The ids, dates and amounts that some turns tell, the newest turn first: those that most of them tell, within
    `room` tokens, in the order in which they were told last; without those in whose place others were told since.

    Each of the many that one turn tells says less, and one of a hundred nothing: it says what it does in its line.
    """
    gone, doubts = figures_gone(one for some in replaced.values() for one in some)
    told: dict[str, float] = {}
    for turn in turns:
        share = min(1.0, MANY / max(1, len(turn.figures)))
        for figure in turn.figures:
            if gone.get(figure, -1) < turn.position:
                told[figure] = told.get(figure, 0.0) + share
    again = {figure for turn in turns if doubts for figure in turn.figures if turn.position > doubts.get(figure, -1)}
    doubted = doubts.keys() - again
    chosen = set[str]()
    telling = [figure for figure, share in told.items() if share >= LEAST]
    for figure in sorted(telling, key=lambda figure: -told[figure] * min(len(figure), LONG)):
        room -= tokens(figure) + (DOUBTFUL if figure in doubted else 0)
        if room < 0:
            break
        chosen.add(figure)
    return ", ".join(f"{figure} (doubtful)" if figure in doubted else figure for figure in told if figure in chosen)


DOUBTFUL = 3
"""Tokens of what is written after a figure that is in doubt."""
MANY, LEAST = 25, 0.25
"""Figures of a turn from which on each says less, and how much less says nothing: a turn of a hundred is a log or a
table, and those of it that other turns tell, too, are found by that."""
LONG = 8
"""Characters of an id or a date; a shorter one is as likely a mere number."""


def _line(turn: Turn, own: bool, said: str) -> Written:
    """A turn as it is written, with what is shown of what it says."""
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


TELLING = 16
"""Characters of a turn from which on a text that has them says the same."""
LABEL = 5
"""Tokens of the shortest label with a day and an id."""
SHORT = 2_000
"""Characters of a line whose tokens are those of its parts."""
OWN = 90
"""Sections from this place on show the session's own last exchanges, after which nobody asks when or where."""


class _Packing:
    """Fills a budget."""

    def __init__(self, composed: Composed, room: int, explain: bool) -> None:
        self.composed = composed
        self.room = room
        self._explain = explain
        self._shown = set[int | str]()
        """Turns, and ids."""
        self._whole = set[int]()
        """Turns of which all is shown."""
        self._saying: dict[int, list[str]] = {}
        """The texts that are shown, by the turn that says them."""
        made, here = composed.considered.made, composed.pieces.items()
        self._parents = {
            (made[place][0].name, piece.id): place
            for place, piece in here
            if piece.id and not piece.under and composed.costs[place] < MISSING
        }

    def pack(self) -> None:
        """Takes what is needed, then what is worth most."""
        composed, shown = self.composed, self._shown
        turns, worths, costs, least = (
            composed.considered.turns, composed.considered.worths, composed.costs, composed.params.least,
        )  # fmt: skip
        needed = [place for place, piece in composed.pieces.items() if piece.needed and costs[place] < MISSING]
        needed.sort(key=worths.__getitem__, reverse=True)
        composed.write([composed.choice(place) for place in needed])
        for place in needed:
            self._take(place, "needed")
        first = {place for place, choice in composed.made.items() if choice.taken}
        # Why by place last: among equals what stands later in time serves more; sections are in order already.
        rest = [place for place, cost in enumerate(costs) if cost < MISSING and place not in first]
        rest.sort(key=worths.__getitem__, reverse=True)
        composed.write(self._likely(rest))
        for place in rest:
            if worths[place] < least:
                if not self._explain:
                    break
                if not (choice := composed.choice(place)).taken:
                    choice.why = "serves too little"
            elif self._explain or (costs[place] <= self.room and turns[place] not in shown):
                self._take(place, "worth it")
        self._widen()
        composed.left = self.room

    def _likely(self, rest: Iterable[int]) -> Iterator[Choice]:
        """Those that come first, as long as they may fit: their turns are read and written at once."""
        composed, turns, worths = self.composed, self.composed.considered.turns, self.composed.considered.worths
        room, least, most = self.room, composed.params.least, composed.limit(composed.params.turn)
        found = set(self._shown)
        for place in rest:
            turn = turns[place]
            if turn not in found:
                room -= composed.costs[place] if composed.costs[place] > LABEL + 1 else most
                if room < 0 or worths[place] < least:
                    return
                if turn >= 0:
                    found.add(turn)
                    yield composed.choice(place)

    def _widen(self) -> None:
        """Shows more of what tools were given and gave, those that serve most first, as long as there is room."""
        params, turns = self.composed.params, self.composed.turns
        limit = self.composed.limit(params.turn)
        shown = [c for c in self.composed.shown() if c.piece.turn >= 0 and c.piece.worth >= params.whole]
        of_tools = [c for c in shown if (turn := turns[c.piece.turn]).role == "tool" or turn.calls]
        for choice in sorted(of_tools, key=lambda c: -c.piece.worth):
            replaced = self.composed.source.replaced([turns[choice.piece.turn].id])
            written = self.composed.written(choice, limit, replaced, whole=True)
            more = written.cost - choice.cost
            if more <= self.room:
                self.room -= more
                choice.write(written)

    def _take(self, place: int, why: str) -> None:
        """Takes a piece, and what it stands below, where they fit."""
        composed, shown, choice = self.composed, self._shown, self.composed.choice(place)
        piece = choice.piece
        if choice.taken:  # with what stands below it
            return
        said = choice.section.place < OWN and self._is_said(piece.turn)
        if piece.turn in shown or piece.says in self._whole or piece.id in shown or said:
            choice.why = "shown already"
            return
        name, group = choice.section.name, [choice]
        if piece.under:
            above = self._parents.get((name, piece.under))
            if above is None:
                choice.why = f"{piece.under} is not here"
                return
            if not (parent := composed.choice(above)).taken:
                group.insert(0, parent)
        if choice.cost > self.room or not self._fits(group, 0 if name in composed.headings else cost(choice.heading)):
            choice.why = "no room"
            return
        composed.headings.add(name)
        for one in group:
            one.taken, one.why = True, why
            if one.piece.turn >= 0:
                shown.add(one.piece.turn)
                if one.words.startswith(composed.turns[one.piece.turn].content.strip()):
                    self._whole.add(one.piece.turn)
            if one.piece.id:
                shown.add(one.piece.id)
            if one.piece.says >= 0:
                self._saying.setdefault(one.piece.says, []).append(one.line)

    def _is_said(self, turn: int) -> bool:
        """Whether a text that is shown says all that a turn does; a few letters are said by chance."""
        if turn not in self._saying:
            return False
        self.composed.read([turn])
        told = self.composed.turns.get(turn)
        words = "" if told is None or told.calls else told.content.strip()
        return len(words) >= TELLING and any(words in text for text in self._saying[turn])

    def _fits(self, group: Sequence[Choice], heading: int) -> bool:
        """Takes the room for choices where there is so much; they are written where that may be."""
        left = self.room - heading - sum([one.cost for one in group])
        if left >= 0 and not all(one.line for one in group):
            self.composed.write(group, self.room)
            left = self.room - heading - sum([one.cost for one in group])
        if left >= 0:
            self.room = left
        return left >= 0


def explained(composed: Composed) -> Iterable[dict[str, Any]]:
    """Every piece that was considered, what it costs and is worth, and what became of it, as JSON values."""
    choices = composed.choices
    composed.write(choices)
    for choice in choices:
        piece = choice.piece
        turn = composed.turns.get(piece.turn)
        yield {
            "section": choice.section.name, "heading": choice.section.heading, "id": turn.id if turn else piece.id,
            "taken": choice.taken, "why": choice.why, "reason": piece.reason, "worth": round(piece.worth, 6),
            "tokens": choice.cost, "text": choice.line,
        }  # fmt: skip
