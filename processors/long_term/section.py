"""What long-term memory puts into a context: the entries that the session was given and that still stand."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from processors.long_term.events import EntriesLoaded, EntryDistilled
from streams.core.params import Params, param
from streams.core.section import Ask, Piece, Reader, Section


class LongTermSectionParams(Params):
    """How what a session was given is shown."""

    solved: float = param(0.5, "worth at a sure fit", "saves trying again what was tried", ge=0, le=1)
    stated: float = param(0.35, "worth at a sure fit", "recall may find the same in more words", ge=0, le=1)


def loaded(params: Any, own: LongTermSectionParams, ask: Ask, read: Reader) -> Iterator[Piece]:
    """The entries, those that fit best first; without those that fell out since."""
    given = read.kept(EntriesLoaded, [ask.session]).get(ask.session)
    if given is None:
        return
    kept = read.kept(EntryDistilled, given.entries)
    said = read.turns([turn for entry in kept.values() for turn in entry.turns[-1:]])
    for id, fit, why in zip(given.entries, given.fits, given.whys, strict=True):
        entry = kept.get(id)
        if entry is None or entry.status != "active":
            continue
        stated = entry.kind in ("fact", "preference")
        # Why: a fact is one turn's; where recall shows that turn, it says the same.
        says = said[entry.turns[-1]].position if stated and entry.turns and entry.turns[-1] in said else -1
        worth = (own.stated if stated else own.solved) * fit
        data = {"kind": entry.kind, "turns": entry.turns, "from": entry.session}
        reason = f"{entry.kind} of {entry.session}; {why}"
        yield Piece(id, reason, worth, line(entry), says=says, quotes=entry.turns, data=data)


def line(entry: EntryDistilled) -> str:
    """An entry as it is written."""
    by = f"{entry.by}: " if entry.by else ""
    parts = [entry.problem, *(f"Did not work: {one}" for one in entry.failed)]
    lead = " ".join(" ".join(part.split()) for part in parts if part)
    works = {"solution": "Worked: " if lead else "", "failure": "Did not work: "}.get(entry.kind, "")
    text = f"- {entry.kind}: {f'{lead} ' if lead else ''}{works}{by}{' '.join(entry.text.split())}"
    return f"{text} [{', '.join(entry.turns)}]" if entry.turns else text


LOADED = Section("long_term", 15, "Kept from earlier sessions", LongTermSectionParams, loaded, layer="long_term")
