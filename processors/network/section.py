"""What the network puts into a context: an open question for who speaks, and what other sessions know of this."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from processors.network.events import KnowledgeCalled, KnowledgeNoted, QuestionRaised
from streams.core.params import Params, param
from streams.core.section import Ask, Piece, Reader, Section


class NetworkSectionParams(Params):
    """How knowledge is shown."""

    asked: float = param(0.6, "worth", "of an open question: it is shown once", ge=0, le=1)
    worth: float = param(0.35, "worth", "of what is sure; of what is not, as much less as it is less sure", ge=0, le=1)


def known(params: Any, own: NetworkSectionParams, ask: Ask, read: Reader) -> Iterator[Piece]:
    """What is to be asked of who spoke last, and what his turn called for."""
    last = next((turn.id for turn in read.session() if turn.role == "user"), "")
    raised = read.kept(QuestionRaised, [ask.session]).get(ask.session)
    if raised is not None and raised.turn == last:
        newer, older = (" ".join(text.split()) for text in raised.texts)
        line = (
            f'- open question for {raised.person}, neither is settled: "{newer}" [{raised.turns[0]}] or '
            f'"{older}" [{raised.turns[1]}]?'
        )
        data = {"kind": "question", "nodes": [raised.newer, raised.older], "turns": raised.turns}
        yield Piece(f"question {raised.newer}", "two statements exclude each other", own.asked, line, data=data)
    called = read.kept(KnowledgeCalled, [ask.session]).get(ask.session)
    if called is None or called.turn != last:
        return
    nodes = read.kept(KnowledgeNoted, called.nodes)
    said = read.turns([node.turn for node in nodes.values()])
    for id in called.nodes:
        node = nodes.get(id)
        if node is None or node.status not in ("current", "open"):
            continue
        doubt = ", contradicted" if node.status == "open" else ""
        line = f"- {node.kind} (confidence {node.confidence:.2f}{doubt}): {' '.join(node.text.split())} [{node.turn}]"
        says = said[node.turn].position if node.turn in said else -1
        about: dict[str, Any] = {"kind": node.kind, "confidence": node.confidence, "turns": node.turns}
        worth, reason = own.worth * node.confidence, f"known from {node.session}"
        yield Piece(id, reason, worth, line, says=says, quotes=node.turns, data=about)


KNOWN = Section("network", 17, "What is known of this", NetworkSectionParams, known, layer="network")
