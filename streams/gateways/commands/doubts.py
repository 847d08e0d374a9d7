"""`mnemolog doubts`: statements that may take the place of older ones, and wait to be judged."""

from __future__ import annotations

from typing import Annotated

import typer

from projections.saying import Finding, Row, Standing, named, one, only
from streams.core.errors import UsageError
from streams.gateways.command import Common, Group, Listing, OnlySession, WhichSpace, one_or_any

WORDS = 16
"""Tokens that are told of a turn, for who is to choose between several."""
app = Group("Contradictions that are only suspected: list, confirm or dismiss them.")

Newer = Annotated[str, typer.Argument(help="The turn that may take the place of an older one.")]
Older = Annotated[
    str | None, typer.Option("--older", metavar="TURN", help="The older turn; needed where it is no doubt that waits.")
]
Sure = Annotated[float, typer.Option("--confidence", min=0, max=1, help="How sure you are.")]


@app.default()
def doubts(
    listing: Listing,
    session: OnlySession = None,
    status: Annotated[str, typer.Option(help="open, confirmed, dismissed, or all.")] = "open",
) -> None:
    """Statements that may take the place of older ones, but not surely."""
    stands = one_or_any(status, ("open", "confirmed", "dismissed"), "status")
    columns = "turn_id space? session? at? status? confidence> text~ older older_text~"
    listing.show("doubts", columns, "no doubts wait", session=session, status=stands, order='"at", space, turn_id')


@app.command("confirm")
def doubts_confirm(
    common: Common,
    turn: Newer,
    older: Older = None,
    confidence: Sure = 1.0,
    space: WhichSpace = None,
) -> None:
    """Say that a turn takes the place of an older one."""
    common.say("confirmed", _judged(turn, older, space, True, confidence))


@app.command("dismiss")
def doubts_dismiss(
    common: Common,
    turn: Newer,
    older: Older = None,
    confidence: Sure = 1.0,
    space: WhichSpace = None,
) -> None:
    """Say that both may hold."""
    common.say("dismissed", _judged(turn, older, space, False, confidence))


def _judged(
    turn: str, older: str | None, space: str | None, contradicts: bool, confidence: float
) -> Finding[Row | Standing]:
    """The judgment as the log is told; of the doubt that waits at a turn, or of the two turns named."""
    if older is None:
        doubts = yield from named(turn, space, ("doubts", "turn_id"))
        waiting = [doubt for doubt in doubts if doubt["status"] == "open"]
        verdict = "confirmed" if contradicts else "dismissed"
        if len({(doubt["space"], doubt["turn_id"]) for doubt in waiting}) == 1 < len(waiting):
            from streams.core.text.within import clip

            olders = [(doubt["older"], clip(" ".join(doubt["older_text"].split()), WORDS)) for doubt in waiting]
            which = "; ".join(f"{id} (“{words}”)" for id, words in olders)
            raise UsageError(f"{len(waiting)} doubts wait at turn {turn!r}", f"say which with --older: {which}")
        meant = waiting or [doubt for doubt in doubts if doubt["status"] == verdict]
        doubt = one(meant, f"open doubt at turn {turn!r}", "`mnemolog doubts` lists those that wait")
        space, turn, older = doubt["space"], doubt["turn_id"], doubt["older"]
    else:
        both: list[str] = []
        for id in (turn, older):
            row = yield from only("turns", "turn_id", id, space, "turn", "`mnemolog tail` shows turns")
            space = row["space"]
            both.append(row["turn_id"])
        turn, older = both
    return {
        "type": "contradiction-judged", "space": space, "turn": turn, "older": older, "contradicts": contradicts,
        "confidence": confidence,
    }  # fmt: skip
