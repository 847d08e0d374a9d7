"""Turns as a context shows them: quoted, so that nothing that was said can be taken for its frame."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from projections.context.params import ContextParams
from streams.core.events import iso
from streams.core.patterns import lazily
from streams.core.text.credentials import without_secrets
from streams.core.text.serving import exceeds as more_serves
from streams.core.text.serving import passages, serving
from streams.core.text.terms import tokens
from streams.core.text.within import clip

if TYPE_CHECKING:
    from projections.recall.index import Index
READ = 8_000
"""Characters of a turn in which figures are looked for."""
MOST = 160
"""Characters of an id; what is longer is left out whole, for half an id is a wrong one."""
_DIGIT = lazily(r"\d")
_FIELD = lazily(r'"[a-z]+\d"\s*:')
"""The name of a field in JSON that is numbered, "address1": it tells nothing. Others, like "user_7", may be ids."""
_WORD = lazily(
    r"\w[\w+.-]*://[^\s\"'`<>()\[\]{}|\\]*[\w/=]"  # an address with all that belongs to it
    r"|(?:~?/|\.{1,2}/|[#@])?\w(?:(?:[\w.:/@#+~-]|(?<=\d),(?=\d))*[\w/])?"
)
"""A word as it is written: a number, id, host, path or e-mail address, without the punctuation about it."""


@dataclass
class Turn:
    """A turn that may be shown."""

    id: str
    role: str
    agent: str
    content: str
    session: str = ""
    position: int = 0
    at: int = 0
    tokens: int = 0
    """Of the content; 0 where it was not counted."""
    calls: list[tuple[str, str]] = field(default_factory=list)
    """The tools it calls: name, and arguments as JSON."""
    recorded_at: int = 0
    """When the log recorded it, UTC microseconds."""
    written: dict[tuple[Any, ...], Any] = field(default_factory=dict)
    """What was worked out of how it is shown."""
    _figures: list[str] | None = None
    _when: str = ""

    # Why no cached_property: in Python 3.11 it takes a lock, which costs as much as all else that is asked of a turn.

    @property
    def figures(self) -> list[str]:
        """Ids, dates and amounts that it says, or calls a tool with: words with digits, once each, in their order.

        None of a sentence that tells a password, secret, token, key or PIN, nor of a turn that is one: they are shown
        far from where they were told, in other sessions too.
        """
        if self._figures is None:
            said = "\n".join((self.content, *(given for _, given in self.calls)))[:READ]
            self._figures = figures_in(_FIELD.sub(" ", without_secrets(said)) if has_digits(said) else "")
        return self._figures

    @property
    def when(self) -> str:
        """`at` as people and machines read it."""
        if not self._when:
            self._when = iso(self.at)
        return self._when

    @property
    def speaker(self) -> str:
        """Who speaks, in a word or two: `user ann`, `assistant`."""
        name = " ".join(self.agent.split())[:60]
        return f"{self.role} {name}" if name and name != self.role else self.role


def has_digits(said: str) -> bool:
    """Whether a text may tell ids, dates or amounts."""
    return _DIGIT.search(said) is not None


def figures_in(said: str, least: int = 3) -> list[str]:
    """Ids, dates and amounts in a text of so many characters at least, once each, in their order."""
    return list(dict.fromkeys(found for found in _found(said) if least <= len(found) <= MOST))


def _found(said: str) -> list[str]:
    """The words with digits in a text, whole as they are written."""
    if _DIGIT.search(said) is None:  # as in most talk
        return []
    runs = [run for run in said.split() if _DIGIT.search(run)]
    return [word for run in runs for word in _WORD.findall(run) if _DIGIT.search(word)]


class Turns:
    """The turns of a memory by space and offset. Some are kept: turns never change, and conversations come back to the
    same ones at each answer."""

    def __init__(self, most: int = 2**24) -> None:
        """`most` characters are kept."""
        self._room = most
        self._kept: dict[tuple[str, int], Turn] = {}

    def read(self, index: Index, space: str, positions: Sequence[int]) -> dict[int, Turn]:
        """The turns of a space at some offsets, by offset; `index` tells of those that are not kept."""
        kept = self._kept
        found = {at: turn for at in positions if (turn := kept.get((space, at))) is not None}
        if len(found) < len(positions):
            told = index.turns(space, [at for at in positions if at not in found])
            for at, said in told.items():
                found[at] = kept[space, at] = turn = _turn_of(at, *said)
                self._room -= _size(turn)
            while self._room < 0:  # those kept the longest go first
                self._room += _size(kept.pop(next(iter(kept))))
        return found


def _size(turn: Turn) -> int:
    """Characters, about, with what is written of it."""
    return 500 + len(turn.content)


def _turn_of(
    at: int, id: str, role: str, agent: str, content: str, session: str, when: int, tokens: int, calls: list[list[str]],
    recorded_at: int,
) -> Turn:  # fmt: skip
    called = [(name, given) for name, given in calls]
    return Turn(id, role, agent, content, session, at, when, tokens, called, recorded_at)


def partly(turn: Turn, limit: int, asked: Collection[str]) -> str:
    """What of a turn that says more than `limit` tokens serves a question with these stems; "" of one that says less,
    that a tool gave or that calls for one, or that shares nothing with the question."""
    return serving(passages(turn.content), asked, limit) if _is_long(turn, limit) else ""


def exceeds(turn: Turn, limit: int, asked: Collection[str], most: int) -> bool:
    """Whether `partly` is sure to find more than `most` tokens: it takes a part of the time to find that out."""
    return _is_long(turn, limit) and more_serves(passages(turn.content), asked, limit, most)


def _is_long(turn: Turn, limit: int) -> bool:
    return not (turn.role == "tool" or turn.calls or (turn.tokens or tokens(turn.content)) <= limit)


def words(turn: Turn, limit: int, params: ContextParams, whole: bool = False) -> str:
    """What a turn says within `limit` tokens, not quoted; unless it is to be `whole`, a tool's output condensed, and a
    call by the tool's name."""
    room = min(limit, params.tool) if turn.role == "tool" and not whole else limit
    said = clip(turn.content, room, turn.id, params.head, turn.tokens)
    if not turn.calls:
        return said
    if whole:
        called = clip(", ".join(f"{name} {given}".strip() for name, given in turn.calls), limit, turn.id, params.head)
    else:
        called = ", ".join(name for name, _ in turn.calls[:8])[:200]
    return f"{said} (calls {called})".strip()
