"""The knowledge network: what was concluded and what is believed, over all sessions of a space, and what speaks for it.

    nodes   conclusions (see manifest), beliefs that somebody told of himself, that were said again or contradicted (see
            contradictions), and claims that a turn gives a reason for, with the reason
    edges   support         "the test fails because the cookie was renamed"; the same claim in other words
            derivation      "the cookie was renamed, so the test fails"; "which means ..."
            generalization  "for example ..."; a claim that has all the words of another, and more
            contradiction   beliefs that exclude each other; "unlike ..."

A claim that shares nearly all its words with a known one is the same node, said again. A new node is compared with the
few newest nodes that share its words (record.Index). Confidence is of the network's shape alone (confidence.py); at a
change it is moved for what is near, and a pass over the whole network, which a consolidation begins and which goes on
in slices with whatever happens next, makes it exact (sleep.py). Which of two contradicting nodes holds: conflicts.py.
A model may name links of what different turns say and generalise it (jobs): its links take the place of rules' ones.

Source: Cognitive Context Management, theses 2 to 5.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from processors.consolidation import ConsolidationRan
from processors.contradictions import (
    BeliefConfirmed,
    BeliefContradicted,
    BeliefRestored,
    BeliefStated,
    ContradictionSuspected,
)
from processors.manifest import ArtifactMade
from processors.network.events import (
    Kind,
    KnowledgeCalled,
    KnowledgeLinked,
    KnowledgeNoted,
    NetworkSlept,
    QuestionRaised,
    Relation,
)
from processors.network.jobs import JOBS
from processors.network.net import NAME, SUSPECTED, WRITTEN, Net, NetParams, asked, cut, kind_of, person_of, saying
from processors.network.reasons import READS, reasons, stems_of
from processors.network.record import KEPT, STANDING, Asking, Ended, Index, Made, Righted, Saying, heft
from processors.network.section import KNOWN
from processors.network.sleep import begin, go_on
from processors.open_efforts.events import EffortConcluded, EffortResumed
from streams.core.events import KnowledgeWritten, Outside, TurnRecorded, TurnRetracted
from streams.core.params import param
from streams.core.processor import RAW, Derived, Processor, Raw, State, on, otherwise
from streams.core.read_model import Keep, read_model
from streams.core.text.commonness import CLASSES, ORDINARY, weight
from streams.core.text.masking import generalised
from streams.core.text.telling import excerpt, sentences


class NetworkParams(NetParams):
    """What is known, what is linked, what holds, and what a turn calls for."""

    called: int = param(3, "nodes", "of other sessions that a user's turn calls for: a few lines", ge=0, le=8)
    fit: float = param(1.6, "rare words", "shared with the turn: one rare word and another", gt=0)
    cover: float = param(0.34, "share of words", "of the node that the turn has, too", ge=0, le=1)
    written: float = param(0.8, "weight", "of an edge that a model names: as what somebody says follows", ge=0, le=1)
    slice: int = param(16, "nodes", "that a pass looks at with one event: bounded work (law 4)", ge=1, le=64)
    ticks: int = param(
        256, "ticks", "that a pass asks for in an idle space: 4,096 nodes", "each stays in the log", ge=1
    )
    prune: float = param(90.0, "days", "what lost, or what nobody said again and nothing links, is dropped", gt=0)
    brief: int = param(10, "tokens", "of a node that fits what is known; its turns have the rest", "thesis 5", ge=4)
    agree: int = param(2, "sessions", "that say the same: it is a principle", ge=2, le=12)
    universal: int = param(4, "sessions", "that say the same, without exception: it is universal", ge=2, le=12)


_GONE = ("merged", "pruned", "retracted")
CALLING, CALLED = 8, 4
"""Stems of a turn that call for nodes, and how many of the newest nodes with each are looked at."""
_Against = BeliefContradicted | ContradictionSuspected
_NONE: tuple[Derived, ...] = ()
_NO_STEMS: list[str] = []


def _artifact(params: NetworkParams, state: State, made: ArtifactMade, raw: Raw[Any]) -> Sequence[Derived]:
    """What work came to; the trouble that it put right is known no longer."""
    text = made.body.partition("\n")[0]
    righted = _righted(params, state, made) if made.kind == "fix" else _NONE
    told = _concluded(params, state, made, raw, text, made.turns[-1] if made.turns else "", made.turns[:1])
    return [*righted, *told]


def _righted(params: NetworkParams, state: State, fix: ArtifactMade) -> Sequence[Derived]:
    """What was said to fail, and titles what mended it, fails no longer, unless another session says so, too."""
    net, trouble, righted = Net(params, state, fix), cut(fix.title), []
    for number in dict.fromkeys(number for turn in fix.turns for number in net.of_turn(turn)):
        node = net.node(number)
        is_one = node.kind == "conclusion" and node.status in STANDING and len({row[1] for row in node.sources}) < 2
        if is_one and node.text == trouble:
            net.undo(number, "it was put right")
            righted.append(number)
    if righted:
        state.put(f"righted/{fix.turns[-1]}", Righted(righted))
    return net.finish()


def _closed(params: NetworkParams, state: State, done: EffortConcluded, raw: Raw[Any]) -> Sequence[Derived]:
    """Work is done; of what it came to an agent may say more than its turns."""
    if done.turn:
        state.put(f"effort/{done.effort}", Ended(done.turn))
    if done.pattern != "closed" or not done.turn:
        return _NONE
    return _concluded(params, state, done, raw, done.conclusion, done.turn, [])


def _resumed(params: NetworkParams, state: State, resumed: EffortResumed, raw: Raw[Any]) -> Sequence[Derived]:
    """Work goes on: what it came to is known no longer, unless another session says so, too."""
    ended = state.get(f"effort/{resumed.effort}", Ended)
    if ended is None:
        return _NONE
    state.delete(f"effort/{resumed.effort}")
    net = Net(params, state, resumed)
    for number in net.of_turn(ended.turn):
        node = net.node(number)
        if node.kind == "conclusion" and len({row[1] for row in node.sources}) < 2:
            net.undo(number, "the work that came to it goes on")
    return net.finish()


def _concluded(
    params: NetworkParams, state: State, cause: Any, raw: Raw[Any], text: str, turn: str, first: Sequence[str]
) -> Sequence[Derived]:
    if not turn or text.rstrip().endswith("?") or len(stems_of(text)) < 2:
        return _NONE
    net, said = Net(params, state, cause), saying(raw, turn, *first)
    found = reasons(text)
    for cue, target, source in found:
        _reasoned(net, cue, target, source, said, "conclusion")
    if not found and (number := net.know("conclusion", text, said)) >= 0:
        net.relate(number)
    return net.finish()


def _stated(params: NetworkParams, state: State, belief: BeliefStated, raw: Raw[Any]) -> Sequence[Derived]:
    """A belief: of somebody about himself, or one that is known already. Any other waits to be said again."""
    text = _sentence(raw, belief.turn, belief.value)
    own = text and belief.subject and belief.role == "user"
    said = saying(raw, belief.turn)
    if belief.said:  # a turn of before, which only this one shows to be a statement
        text = _of(_telling(belief.said), belief.value)
        said = Saying(belief.turn, belief.turn, belief.by, belief.role, belief.said_in, belief.said_at)
    if not text:
        text = f"{belief.attribute}: {belief.value}"
    if not own and (cut(belief.subject, NAME), cut(belief.attribute, NAME)) not in state.index(Index).about:
        said.text, said.value = cut(text), cut(_value(belief), NAME)
        state.put(_waiting(belief.turn, belief.attribute), said)
        return _NONE
    net = Net(params, state, belief)
    kind = kind_of(belief.attribute, text)
    net.know(kind, text, said, belief.subject, belief.attribute, _value(belief))
    return net.finish()


def _waiting(turn: str, attribute: str) -> str:
    return f"stated/{turn} {cut(attribute, NAME)}"


def _value_of(belief: BeliefConfirmed | _Against, turn: str) -> str:
    if isinstance(belief, BeliefConfirmed):
        return ""
    return belief.older_value if turn == belief.older else belief.value


def _said(net: Net, belief: BeliefConfirmed | _Against, turn: str, told: Saying | None) -> int:
    """The node of a turn's belief, which is known from now on; -1 for none. `told`: what else it could be made of."""
    for number in net.of_turn(turn, belief.attribute or None):
        return number
    waiting = _waiting(turn, belief.attribute)
    value = _value_of(belief, turn).casefold()
    for number in net.of_turn(turn) if value else ():
        if value in net.node(number).text.casefold():
            return number
    said = net.state.get(waiting, Saying) or told
    if said is None or not belief.attribute:
        return -1
    net.state.delete(waiting)
    kind = kind_of(belief.attribute, said.text)
    return net.know(kind, said.text, said, belief.subject, belief.attribute, said.value)


def _value(belief: BeliefStated) -> str:
    return belief.value if belief.affirmed else f"not {belief.value}"


def _sentence(raw: Raw[Any], turn: str, value: str) -> str:
    """The sentence of the turn that has most words of a value; "" where it is another turn, or asks."""
    return _of(_sentences(raw, turn), value)


def _of(said: Sequence[str], value: str) -> str:
    wanted = {*value.casefold().split()}
    shared = [len(wanted.intersection(text.casefold().strip(".!").split())) for text in said]
    return said[shared.index(max(shared))] if shared and max(shared) >= len(wanted) / 2 else ""


def _sentences(raw: Raw[Any], turn: str) -> list[str]:
    """The sentences of the turn that ask nothing; none where what happened is another turn."""
    event = raw.event
    if not isinstance(event, TurnRecorded) or event.id != turn:
        return []
    return _telling(event.content)


def _telling(content: str) -> list[str]:
    """The sentences of some words that ask nothing."""
    return [one.text for one in sentences(excerpt(content, READS)) if "asks" not in one.features]


def _confirmed(params: NetworkParams, state: State, belief: BeliefConfirmed, raw: Raw[Any]) -> Sequence[Derived]:
    """Somebody says again what was said."""
    net = Net(params, state, belief)
    number = _said(net, belief, belief.older, None)
    if number >= 0:
        state.delete(_waiting(belief.turn, belief.attribute))
        net.again(number, saying(raw, belief.turn))
    return net.finish()


def _contradicted(params: NetworkParams, state: State, belief: _Against, raw: Raw[Any]) -> Sequence[Derived]:
    """Two beliefs exclude each other, or may do so."""
    net = Net(params, state, belief)
    if isinstance(belief, BeliefContradicted) and not belief.attribute:
        _replaced(net, belief, raw)
        return net.finish()
    sides = []
    for turn in (belief.older, belief.turn):
        told, value = saying(raw, turn), _value_of(belief, turn)
        told.text, told.value = _sentence(raw, turn, value), cut(value, NAME)
        sides.append(_said(net, belief, turn, told if told.text else None))
    if min(sides) >= 0:
        rule = belief.rule if isinstance(belief, BeliefContradicted) else SUSPECTED
        net.clash(sides[1], sides[0], rule, belief.confidence)
    return net.finish()


def _replaced(net: Net, belief: BeliefContradicted, raw: Raw[Any]) -> None:
    """What a turn said is no longer so, of which no value is told: of what is known of it, what shares most words with
    a sentence of the later turn gives way to that."""
    pairs = [(number, text) for number in net.of_turn(belief.older) for text in _sentences(raw, belief.turn)]
    shared = [heft([stem for stem in stems_of(text) if stem in net.node(number).stems]) for number, text in pairs]
    if any(shared):
        older, text = pairs[shared.index(max(shared))]
        newer = net.know(kind_of("", text), text, saying(raw, belief.turn))
        if newer >= 0:
            net.clash(newer, older, belief.rule, belief.confidence)


def _restored(params: NetworkParams, state: State, belief: BeliefRestored, raw: Raw[Any]) -> Sequence[Derived]:
    """Two beliefs exclude each other no longer."""
    net = Net(params, state, belief)
    for newer in net.of_turn(belief.newer, belief.attribute or None):
        for older in net.of_turn(belief.turn, belief.attribute or None):
            net.part(newer, older)
    return net.finish()


def _turn(params: NetworkParams, state: State, turn: TurnRecorded, raw: Raw[TurnRecorded]) -> Sequence[Derived]:
    """What a turn reasons, what it calls for, and what its speaker is asked."""
    index = state.index(Index)
    if turn.role not in ("user", "assistant"):
        return go_on(params, state, turn) if index.looking else _NONE
    user = turn.role == "user"
    out = go_on(params, state, turn) if index.looking else []
    found = reasons(turn.content)
    called = _calling(index, raw) if user else _NO_STEMS
    asking = state.get(asked(person_of(turn)), Asking) if user else None
    if not (found or called or asking):
        return out
    net = Net(params, state, turn)
    if asking is not None:
        net.question(turn, asking)
    for cue, target, source in found:
        _reasoned(net, cue, target, source, saying(raw, turn.id))
    out += net.finish()
    return [*out, *_called(params, net, turn, called)] if called else out


_RELATIONS: dict[str, tuple[Relation, float]] = {
    "because": ("support", 1.0), "so": ("derivation", 0.8), "means": ("derivation", 0.9),
    "example": ("generalization", 0.8),
}  # fmt: skip
_BESIDE: dict[str, tuple[Relation, float]] = {"unlike": ("contradiction", 0.5), "again": ("support", 0.8)}


def _reasoned(net: Net, cue: str, target: str, source: str, said: Saying, kind: Kind = "claim") -> None:
    """A claim, and what it is reasoned from."""
    claim = net.know(kind, target, said)
    if claim < 0:
        return
    if cue in _RELATIONS:
        reason = net.know("claim", source, said)
        if reason >= 0:
            relation, says = _RELATIONS[cue]
            net.link(reason, claim, relation, cue, says, [said.turn])
            net.relate(reason, 1)
    else:
        stems = stems_of(source) if cue == "unlike" else stems_of(target)
        total = heft(stems)
        for near, shared in net.index.like(stems):
            if near != claim and total and shared >= 0.5 * total and said.turn not in net.node(near).turns:
                relation, says = _BESIDE[cue]
                net.link(claim, near, relation, cue, says, [said.turn, net.node(near).turn])
                break
    net.relate(claim, 1)


def _calling(index: Index, raw: Raw[TurnRecorded]) -> Sequence[str]:
    """The stems of a turn that something is known by; none where it is one alone."""
    known = [*filter(index.holding.__contains__, raw.text.terms)]
    telling = [stem for stem in known if CLASSES[stem] >= ORDINARY][:CALLING] if len(known) > 1 else _NO_STEMS
    return telling if len(telling) > 1 else _NO_STEMS


def _called(params: NetworkParams, net: Net, turn: TurnRecorded, calling: Sequence[str]) -> Sequence[Derived]:
    """What other sessions know of what a turn speaks of."""
    shared: dict[int, list[float]] = {}
    for stem in calling:
        says = weight(stem)
        for number in net.index.holding.get(stem, ())[-CALLED:]:
            shared.setdefault(number, []).append(says)
    fits: list[tuple[float, int, str]] = []
    for number, found in shared.items():
        points = sum(found)
        if len(found) < 2 or points < params.fit:
            continue
        node = net.node(number)
        if node.session != turn.session and points >= params.cover * heft(node.stems):
            fits.append((-points * node.confidence, number, node.id))
    if not fits:
        return _NONE
    ids = [id for _, _, id in sorted(fits)[: params.called]]
    return [KnowledgeCalled(turn.space, turn.session, turn.at, turn.id, ids)]


def known(params: NetworkParams, records: Sequence[KnowledgeNoted | KnowledgeLinked]) -> float | None:
    """How far what a turn was the first to say is relied on, 0 to 1; None where it says nothing that is known."""
    said = [node.confidence for node in records if isinstance(node, KnowledgeNoted) and node.status not in _GONE]
    return max(said, default=None)


def _retracted(params: NetworkParams, state: State, fact: TurnRetracted, raw: Raw[Any]) -> Sequence[Derived]:
    """A turn says nothing any more; what no other one says is gone."""
    out = go_on(params, state, fact) if state.index(Index).looking else []
    made, righted = state.get(f"turn/{fact.turn}", Made), state.get(f"righted/{fact.turn}", Righted)
    if made is None and righted is None:
        return out
    net = Net(params, state, fact)
    if righted is not None:
        for number in map(net.final, righted.numbers):
            if number >= 0:
                net.redo(number, "what put it right was taken back")
        state.delete(f"righted/{fact.turn}")
    for made_as, source in made.rows if made is not None else ():
        if (number := net.final(made_as)) < 0:
            continue
        node = net.node(number)
        node.sources = [row for row in node.sources if row[0] != source]
        node.turns = [turn for turn in node.turns if turn != fact.turn]
        if node.sources or node.status not in KEPT:
            net.touch(number, "a turn of it was taken back")
            continue
        for clash in [*node.clashes]:
            net.part(*((number, clash[0]) if clash[2] else (clash[0], number)))
        net.end(number, "retracted", "its turn was taken back")
    if made is not None:
        state.delete(f"turn/{fact.turn}")
    return [*out, *net.finish()]


def _written(
    params: NetworkParams, state: State, fact: KnowledgeWritten, raw: Raw[KnowledgeWritten]
) -> Sequence[Derived]:
    """A model's links take the place of those that rules made; what it says in general may be shared."""
    out = go_on(params, state, fact) if state.index(Index).looking else []
    net = Net(params, state, fact)
    for one, other, kind in fact.links:
        source, target = net.pair(one, other) if {one, other} <= {*fact.turns} else (0, 0)
        if source == target:
            continue
        if kind == "contradiction":
            net.clash(max(source, target), min(source, target), WRITTEN, params.written)
        else:
            net.link(source, target, cast(Relation, kind), WRITTEN, params.written, [one, other])
    general, said = generalised(fact.general), net.of_turn(fact.turns[0])
    if general and said:
        number = max(said, key=lambda n: (net.node(n).kind == "conclusion", len(net.node(n).sources), -n))
        node = net.node(number)
        if node.layer and node.status in STANDING:
            node.layer, node.general = max(node.layer, 2), general
            net.touch(number, "a model says it in general")
    return [*out, *net.finish()]


def _slept(params: NetworkParams, state: State, ran: ConsolidationRan, raw: Raw[Any]) -> Sequence[Derived]:
    """A consolidation begins a pass over the whole network."""
    return begin(state, ran)


def _passed(params: NetworkParams, state: State, fact: Outside, raw: Raw[Any]) -> Sequence[Derived]:
    """A pass goes on with whatever happens."""
    return go_on(params, state, fact) if state.index(Index).looking else _NONE


PROCESSOR = Processor(
    name="network",
    version=8,
    params=NetworkParams,
    takes=(
        on(ArtifactMade, _artifact),
        on(EffortConcluded, _closed),
        on(EffortResumed, _resumed),
        on(BeliefStated, _stated),
        on(BeliefConfirmed, _confirmed),
        on(BeliefContradicted, _contradicted),
        on(ContradictionSuspected, _contradicted),
        on(BeliefRestored, _restored),
        on(ConsolidationRan, _slept),
        on(KnowledgeWritten, _written),
        on(TurnRecorded, _turn),
        on(TurnRetracted, _retracted),
        otherwise(_passed),
    ),
    emits=(KnowledgeNoted, KnowledgeLinked, QuestionRaised, KnowledgeCalled, NetworkSlept),
    reads=(RAW, "manifest", "open_efforts", "consolidation", "contradictions"),
    read_model=read_model(
        __package__,
        keeps=(
            Keep(KnowledgeNoted, ("node", "turn"), "knowledge"),
            Keep(KnowledgeLinked, ("source", "target", "kind"), "knowledge_links"),
            Keep(QuestionRaised, ("session",)),
            Keep(KnowledgeCalled, ("session",)),
        ),
        readings={"known": known},
        sections=(KNOWN,),
        jobs=JOBS,
        behind={
            "node": "(t.space, t.turn_id) IN (SELECT k.space, unnest(k.turns) FROM knowledge k WHERE k.node = $id)"
        },
    ),
)
