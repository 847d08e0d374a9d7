"""A composed context as text, as chat messages and as JSON: three forms of the same content.

Whatever was said stands quoted within the frame: a label of the frame before it, every further line marked. Nothing
in a turn can look like a heading, another speaker or the frame's end. The frame's first line tells that mnemolog wrote
it, so that it is known when it comes back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from projections.context.compose import Choice, Composed
from streams.core.events import iso
from streams.core.section import Ask
from streams.core.text.echo import ABOUT, CLOSE, FRAME
from streams.core.text.terms import HEAD, TAIL, tokens
from streams.core.text.within import cost

OWN = "recent"
"""The section that chat messages show as messages."""


@dataclass(slots=True)
class Rendered:
    """A context, in three forms of the same content."""

    tokens: int
    text: str
    messages: list[dict[str, str]]
    """For a chat API: one system message, then user and assistant messages that alternate, beginning with a user's."""
    data: dict[str, Any]
    """What is shown, and why."""


def opening(ask: Ask) -> str:
    """The first line of the frame."""
    space, session = escape(ask.space), escape(ask.for_session or ask.session)
    after = f' after="{escape(ask.session)}"' if ask.for_session else ""
    when = f' at="{iso(ask.now)}"' if ask.now else ""
    return f'{FRAME} space="{space}" session="{session}"{after}{when} position="{ask.position}">'


def about(ask: Ask) -> str:
    """The second line of the frame: what stands in it; before the space's first event, that there is nothing."""
    return ABOUT if ask.now else "Nothing had been said yet."


def frame_cost(ask: Ask) -> int:
    """What the frame costs."""
    return cost(opening(ask)) + cost(about(ask)) + cost(CLOSE)


def render(composed: Composed) -> Rendered:
    """Writes down what was chosen."""
    shown = _sections(composed)
    parts = {name: "\n".join([of[0].heading, *(c.line for c in of)]) for name, of in shown.items()}
    begins = opening(composed.ask)
    text = _framed(composed, begins, [*parts.values()])
    sizes = {
        name: tokens(of[0].heading) + sum(c.tokens for c in of)
        if len(parts[name]) <= HEAD + TAIL
        else tokens(parts[name])
        for name, of in shown.items()
    }
    size = sum(sizes.values()) + sum(map(tokens, [begins, about(composed.ask), CLOSE]))
    if len(text) <= HEAD + TAIL and (not text.startswith(FRAME) or "‹" in text):
        size = tokens(text)  # the frame is left out, or something was quoted
    messages = _messages(composed, begins, shown.get(OWN, []), parts)
    return Rendered(size, text, messages, _data(composed, shown, sizes, size))


def _sections(composed: Composed) -> dict[str, list[Choice]]:
    """What is shown, by the name of its section."""
    found: dict[str, list[Choice]] = {}
    for choice in composed.shown():
        found.setdefault(choice.section.name, []).append(choice)
    return found


def _framed(composed: Composed, begins: str, parts: Sequence[str]) -> str:
    parts = [text.replace("<memory", "‹memory").replace("</memory", "‹/memory") for text in parts]
    if composed.frame > composed.budget:
        return "\n\n".join(parts)
    return "\n\n".join([f"{begins}\n{about(composed.ask)}", *parts, CLOSE])


def _messages(
    composed: Composed, begins: str, shown: Sequence[Choice], parts: Mapping[str, str]
) -> list[dict[str, str]]:
    """One system message with the memory, then the last exchanges as user and assistant messages that alternate.

    Why folded: tool results without the calls they answer, further system messages, and two messages of one role in a
    row are each refused by some chat API. What a tool or the system said stands, labelled and quoted, in a user's
    message: it is input to the model, and not what the model said. Names are told where more than one has a role.
    """
    turns = [composed.turns[choice.piece.turn] for choice in shown]
    first = next((at for at, turn in enumerate(turns) if turn.role == "user"), len(turns))
    system = [text for name, text in parts.items() if name != OWN]
    if first:
        system.append("\n".join([shown[0].heading, *(choice.line for choice in shown[:first])]))
    messages = [{"role": "system", "content": _framed(composed, begins, system)}]
    alone = {role: len({turn.agent for turn in turns if turn.role == role}) < 2 for role in ("user", "assistant")}
    for choice, turn in zip(shown[first:], turns[first:], strict=True):
        role = "assistant" if turn.role == "assistant" else "user"
        text = choice.words if alone.get(turn.role) else choice.line
        if text and messages[-1]["role"] == role:
            messages[-1]["content"] += f"\n{text}"
        elif text:
            messages.append({"role": role, "content": text})
    return messages


def _data(
    composed: Composed, shown: Mapping[str, Sequence[Choice]], sizes: Mapping[str, int], size: int
) -> dict[str, Any]:
    """JSON of the context: why each piece is there, and the turns behind everything shown."""
    ask = composed.ask
    return {
        "space": ask.space,
        "session": ask.for_session or ask.session,
        "position": ask.position,
        "at": iso(ask.now),
        "budget": composed.budget,
        "tokens": size,
        "sections": [
            {
                "name": name, "layer": choices[0].section.layer, "tokens": sizes[name],
                "pieces": [_piece(composed, choice) for choice in choices],
            }
            for name, choices in shown.items()
        ],
    }  # fmt: skip


def _piece(composed: Composed, choice: Choice) -> dict[str, Any]:
    piece = choice.piece
    worth = round(piece.worth, 6)
    if piece.turn >= 0:
        turn = composed.turns[piece.turn]
        told: dict[str, Any] = {
            "id": turn.id, "reason": piece.reason, "worth": worth, "tokens": choice.cost, "why": choice.why,
            "turn": turn.id, "role": turn.role, "agent": turn.agent, "session": turn.session, "at": turn.when,
        }  # fmt: skip
    else:
        told = {
            "id": piece.id, "reason": piece.reason, "worth": worth, "tokens": choice.cost, "why": choice.why,
        }  # fmt: skip
    if piece.under:
        told["under"] = piece.under
    told["text"] = choice.line
    return {**told, **piece.data} if piece.data else told
