"""What does not stand any more of what is shown: sentences of turns whose statement another turn took the place of.

Summaries, notes, entries and heads of efforts quote turns, and stay as they were told. Who shows them asks here, of the
turns that they may quote, which sentences were replaced since, and by what; and has them marked, or left out where what
replaced them stands beside them. What is only suspected to be replaced is marked as doubtful, and never left out.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from projections.context.turns import READ, Turn, figures_in
from projections.recall.dynamics import LONGEST, SUSPECTED, Belief
from projections.recall.parts import meant, of_a_kind, pair, parts, says
from streams.core.events import iso
from streams.core.patterns import lazily
from streams.core.text.stops import STOP
from streams.core.text.telling import sentences, within
from streams.core.text.terms import terms

if TYPE_CHECKING:
    from projections.recall.answers import Recall
    from projections.recall.held import Seen

QUOTED = 32
"""Tokens of what is quoted of the newer turn."""
LIKELY = 0.6
"""How likely a suspicion must be to be told: one that is rather wrong would make what stands doubtful."""
_WORD = lazily(r"\w+")
_BEFORE = lazily(r"(?:\w+\W+){0,3}$")
_END = lazily(rf"{STOP}(?=\s|$)|(?= \[)|\n|$")
_NUMBER = lazily(r"\d(?:[\d.,]*\d)?")
_PIECE = lazily(r"\w+|[^\w\s*|]")
_MARKUP = r"[\s*|]"
"""What may stand between the words of what is quoted; between the cells of a row it has marks of its own."""
_LETTERS = lazily(r"[^\W\d_]+")


class Replaced(NamedTuple):
    """A sentence of a turn, and what took its place."""

    said: str
    """The sentence, as summaries quote it."""
    value: str
    """What of it is replaced, with some words before; "" where that is not known."""
    turn: str
    """The newer turn."""
    position: int
    """Its offset in the log."""
    at: int
    words: str
    """Its sentence."""
    sure: bool
    """Whether it took the place; otherwise that is suspected."""
    figures: frozenset[str]
    """Ids and amounts of the sentence in the place of which the newer one tells others of their kind."""
    others: frozenset[str]
    """Others of what is replaced, of which it does not say whether they stand."""
    part: str = ""
    """What of the sentence is replaced, where the rest of it stands by itself."""

    def mark(self, stands: bool) -> str:
        """What is written after the sentence; what took its place is not told again where it `stands` there, too."""
        doubt, told = "" if self.sure else "perhaps ", "" if stands else f': "{within(self.words, QUOTED)}"'
        return f"[{doubt}no longer so since {iso(self.at)[:10]}{told}]"


class Standing:
    """What stands of the turns of a space, as of a position."""

    def __init__(self, recall: Recall, space: Seen, name: str, until: int | None) -> None:
        self.space, self.name, self.until = space, name, until
        self._recall = recall
        self._asked: set[str] = set()
        self._known: dict[str, Sequence[Replaced]] = {}
        """Of the turns that were asked for, those that do not stand."""

    def replaced(self, ids: Collection[str]) -> dict[str, Sequence[Replaced]]:
        """By turn: its sentences that do not stand, or are in doubt; turns that stand are left out."""
        known = self._known
        if new := {*ids} - self._asked:
            self._asked |= new
            contested = self._recall.dynamics.contested(self.name, [*new], self.until)
            for id, beliefs in contested.items():
                told = [one for one in beliefs if one.confidence >= LIKELY or _is_sure(one)]
                if told and (found := self._replaced(id, told)):
                    known[id] = found
        return {id: known[id] for id in ids if id in known} if known else {}

    def _replaced(self, id: str, beliefs: Sequence[Belief]) -> list[Replaced]:
        ends = [(first, self._last(first)) for first in beliefs]
        turns = self.space.shown([id, *(last.newer for _, last in ends)])
        if id not in turns:
            return []
        said = self._recall.said(self.name, [turn.position for turn in turns.values()])
        found: dict[tuple[str, str], Replaced] = {}
        for first, last in ends:
            newer = turns.get(last.newer)
            if newer is None or last.newer == id or (first.older_value and first.older_value == last.value):
                continue  # it is gone, or what was said first was said again
            old, new = (own_words(self.space, said[at]) for at in (turns[id].position, newer.position))
            older, words, more = _sentences((old, first.older_value), (new, last.value))
            value, part = _value(older, first.older_value), meant(older, first.older_value, words, new[:READ])
            by = last.newer, newer.position, newer.at, words
            found[older, last.newer] = Replaced(
                older, value, *by, _is_sure(first), *_figures(older, value or part or older, words), part
            )
            for one in more if _is_sure(first) else ():
                found[one, last.newer] = Replaced(one, "", *by, False, *_figures(one, one, words))
        sure = {one.said for one in found.values() if one.sure}
        return [one for one in found.values() if one.sure or one.said not in sure]

    def _last(self, first: Belief) -> Belief:
        """The end of the chain: what is believed of the same in the place of what took the place."""
        last, seen = first, {first.older, first.newer}
        for _ in range(LONGEST):
            beliefs = self._recall.dynamics.beliefs(self.name, [last.newer], self.until).get(last.newer, [])
            later = [one for one in beliefs if one.older == last.newer and one.newer not in seen]
            same = [one for one in later if one.older_value == last.value or not (one.older_value and last.value)]
            if not same:
                break
            last = same[-1]
            seen.add(last.newer)
        return last


def own_words(space: Seen, turn: Turn) -> str:
    """What a turn says itself, without the lines in which it repeats what others had said: by those it is not found."""
    if turn.position in space.tokens([turn.position]):  # it repeats nothing
        return turn.content
    document = space.turn(turn.id)
    own = [line for line in turn.content.splitlines() if all(space.holds(document, term) for term in terms(line)[0])]
    return "\n".join(own)


def marked(text: str, replaced: Iterable[Replaced], whole: bool = False) -> str:
    """A text with a mark after each sentence that does not stand.

    Unless it is to be `whole`, a sentence is left out where what took its place stands in the text, too.
    """
    edits: dict[int, tuple[int, str]] = {}
    for one in replaced:
        stands = _spans(text, one.words)
        spans = [span for span in _spans(text, one.said) if not _within(span, stands)]
        if one.part and (places := [span for span in _spans(text, one.part) if not _within(span, stands)]):
            for _, end in places:
                _mark(edits, end, one.mark(bool(stands)))
        elif stands and spans and one.sure and not whole:
            edits |= {start: (_after(text, start, end), "") for start, end in spans}
        elif spans:
            for _, end in spans:
                _mark(edits, end, one.mark(bool(stands)))
        elif one.value:
            for start, end in _spans(text, one.value):
                if not _within((start, end), stands) and (found := _END.search(text, end)):
                    _mark(edits, found.end() - (found.group() == "\n"), one.mark(bool(stands)))
    for start, (end, by) in sorted(edits.items(), reverse=True):
        text = f"{text[:start]}{by}{text[end:]}"
    return text.rstrip() if edits else text


def left_of(content: str, replaced: Sequence[Replaced]) -> list[str]:
    """What a turn says besides what surely gave way, and what may have with it: its other sentences, and what else
    stands in those; none where it says nothing else."""
    sure = {one.turn for one in replaced if one.sure}
    gone = [one for one in replaced if one.turn in sure]
    left: list[str] = []
    for told in sentences(content[:READ]):
        mine = [one.part for one in gone if one.said == told.text]
        if not mine and says(told):
            left.append(told.text)
        elif mine and all(mine):
            left += [one for one in parts(told.text) if not any(one.rstrip(".!?…") in part for part in mine)]
    return left


def figures_gone(replaced: Iterable[Replaced]) -> tuple[dict[str, int], dict[str, int]]:
    """Ids and amounts that do not stand, and those that are in doubt, each with the offset of the turn since which that
    is so: whoever told them later holds them to be so."""
    gone: dict[str, int] = {}
    doubted: dict[str, int] = {}
    for one in replaced:
        for of, figures in ((gone if one.sure else doubted, one.figures), (doubted, one.others)):
            of |= {figure: max(of.get(figure, -1), one.position) for figure in figures}
    return gone, doubted


def _is_sure(belief: Belief) -> bool:
    return belief.rule != SUSPECTED


def _mark(edits: dict[int, tuple[int, str]], at: int, mark: str) -> None:
    before = edits.get(at, (at, ""))[1]
    if mark not in before:
        edits[at] = at, f"{before} {mark}"


def _spans(text: str, part: str) -> list[tuple[int, int]]:
    """Where a part of it stands in a text, as whole words; with the marks of bold type and tables that are left out of
    what is quoted."""
    if not part:
        return []
    if part in text:
        form = re.escape(part)
    elif ("**" in text or "|" in text) and _WORD.search(part):
        form = _form(part)
    else:
        return []
    found = (match.span() for match in re.finditer(form, text))
    return [
        (start, end) for start, end in found
        if not (text[start - 1 : start].isalnum() and part[0].isalnum())
        and not (text[end : end + 1].isalnum() and part[-1].isalnum())
    ]  # fmt: skip


def _form(part: str) -> str:
    """A pattern of what is quoted, in a text with marks. It never looks back, so it takes no longer for any text."""
    form, before = "", ""
    for piece in _PIECE.findall(part):
        between = f"{_MARKUP}{'+' if before.isalnum() and piece[0].isalnum() else '*'}+" if before else ""
        form += between + re.escape(piece) + "?+" * (piece in ":,")
        before = piece[-1]
    return form


def _within(span: tuple[int, int], others: Iterable[tuple[int, int]]) -> bool:
    return any(start <= span[0] and span[1] <= end for start, end in others)


def _after(text: str, start: int, end: int) -> int:
    """Where a text goes on behind what is left out: without the white space after it, which a line's end is where the
    line began with it."""
    if text[end : end + 1] == "\n" and text[max(start - 1, 0) : start] not in ("\n", ""):
        return end
    return end + 1 if text[end : end + 1].isspace() else end


def _sentences(older: tuple[str, str], newer: tuple[str, str]) -> tuple[str, str, list[str]]:
    """The sentence of a turn that another took the place of, and that other, of what was said and the values told; and
    other sentences of the turn that may have given way with it."""
    (old, was), (new, value) = older, newer
    had, has = sentences(old[:READ]), sentences(new[:READ])
    if not had or not has:
        return _sentence(old, was, new), _sentence(new, value, old), []
    one, other = pair(had, has)
    said, by = _sentence(old, was, new) if was else one.text, _sentence(new, value, old) if value else other.text
    return said, by, [] if was or value else [more.text for more in of_a_kind(had, one, new[:READ])]


def _sentence(content: str, value: str, other: str) -> str:
    """The sentence of a turn that a statement is made in: that with most of the words of its `value`, and then that
    which shares most with the `other` turn."""
    told = sentences(content[:READ])
    if not told:
        return within(" ".join(content[:READ].split()), QUOTED)
    wanted, shared = {*_words(value)}, {stem for one in sentences(other[:READ]) for stem in one.stems}
    best = max(told, key=lambda one: (len(wanted.intersection(_words(one.text))), len(shared.intersection(one.stems))))
    return best.text


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def _value(sentence: str, value: str) -> str:
    """The value as it stands in its sentence, with some words before it; "" where it does not stand there so."""
    lowered = sentence.lower()
    start = lowered.find(value.lower()) if value and len(lowered) == len(sentence) else -1
    before = _BEFORE.search(sentence, 0, max(start, 0))
    return sentence[before.start() : start + len(value)] if start >= 0 and before else ""


def _figures(older: str, value: str, newer: str) -> tuple[frozenset[str], frozenset[str]]:
    """The figures of a sentence in the place of which another has a new one of their kind, and those others of its
    value that the other does not tell again."""
    had, has = figures_in(older), figures_in(newer, 1)
    kinds = {_shape(figure) for figure in has if figure not in had}
    gone = frozenset(figure for figure in had if _shape(figure) in kinds)
    return gone, frozenset(figures_in(value)) - gone - {*has}


def _shape(figure: str) -> str:
    return _LETTERS.sub("a", _NUMBER.sub("0", figure))
