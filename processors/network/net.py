"""The network of one space while one event changes it: nodes are found or made, linked, set against each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from processors.network.confidence import confidence
from processors.network.conflicts import ConflictParams, decide
from processors.network.events import Kind, KnowledgeLinked, QuestionRaised, Relation
from processors.network.reasons import denies, has, stems_of
from processors.network.record import (
    CLASHES,
    EDGES,
    KEPT,
    OF_TURN,
    SERVES,
    SOURCES,
    STANDING,
    TURNS,
    Asking,
    Count,
    Index,
    Made,
    Node,
    Saying,
    Stale,
    heft,
    key,
    told,
)
from streams.core.events import HOUR, TurnRecorded
from streams.core.params import param
from streams.core.patterns import lazily
from streams.core.processor import Derived, Raw, State, derived_id, digest, r6

TEXT, NAME = 240, 60
"""Bytes of a node's text, and of a subject, attribute or value."""
WAITING = 4
"""Questions that wait for one person."""
UNLINKED = 12
"""Neighbours that are told with one event that a node is known no longer; of more, a pass tells the rest."""
HOPS = 4
"""Edges that a change reaches at most: along more a path is below the floor of confidence."""
SUSPECTED = "suspected"
"""The rule of a contradiction that is only suspected: it contests nothing until it is judged."""
WRITTEN = "written"
"""The rule of an edge that a model named."""
FITTING = frozenset(("narrower", "shared words", "again"))
"""Rules of edges by which a node fits what is known: made once for a pair."""
_NUMBERS = lazily(r"\d+")


class NetParams(ConflictParams):
    """What is said again, what is linked, and how far a change is felt at once."""

    same: float = param(0.8, "share of words", "two claims that share so much say the same", gt=0, le=1)
    alike: float = param(0.67, "share of words", "of the shorter one: they speak for each other", gt=0, le=1)
    reach: int = param(2, "edges", "how far a change of confidence is followed at once", ge=0, le=4)
    felt: int = param(6, "nodes", "whose confidence one change moves at once; a pass does the rest", ge=0, le=12)
    least: float = param(0.001, "confidence", "a smaller change is not told", ge=0)


class Cause(Protocol):
    """What changes the network."""

    space: str
    session: str
    at: int


@dataclass(slots=True)
class Net:
    """The network while one event changes it. `finish` tells what changed."""

    params: NetParams
    state: State
    cause: Cause
    out: list[Derived] = field(default_factory=list)
    touched: dict[int, str] = field(default_factory=dict)
    """Nodes that changed, and what did, in words."""
    unlinked: int = 0
    """Edges of nodes that are known no longer which this event took."""
    dropped: list[int] = field(default_factory=list)
    """Nodes that are known no longer and have no edges left."""

    @property
    def index(self) -> Index:
        return self.state.index(Index)

    def node(self, number: int) -> Node:
        node = self.state.get(key(number), Node)
        assert node is not None, f"node {number} is linked and not there"
        return node

    def final(self, number: int) -> int:
        """The node that says by now what a node said: itself, or what it was merged into; -1 where that was dropped."""
        while (node := self.state.get(key(number), Node)) is not None:
            if not node.merged:
                return number
            number = node.merged
        return -1

    def of_turn(self, turn: str, attribute: str | None = None) -> list[int]:
        """The nodes that a turn says, of a belief those with its attribute."""
        made = self.state.get(f"turn/{turn}", Made)
        numbers = [self.final(row[0]) for row in made.rows] if made is not None else []
        known = [number for number in numbers if number >= 0]
        return [n for n in known if attribute is None or self.node(n).attribute == attribute[:NAME]]

    # -- nodes -------------------------------------------------------------------------------------------------------

    def know(self, kind: Kind, text: str, said: Saying, subject: str = "", attribute: str = "", value: str = "") -> int:
        """The number of the node that says it, which may be known already; -1 where a turn says too much."""
        text = cut(text)
        found = self._known(kind, text, subject, attribute, value)
        if found >= 0:
            if kind == "conclusion":
                self.node(found).kind = kind
            self.again(found, said)
            return found
        # Why the attribute: one sentence may tell two beliefs.
        told = f"{text}\0{attribute}" if attribute else text
        id = derived_id("node", self.cause.space, f"{said.turn} {told}")
        made = self.state.get(f"turn/{said.turn}", Made) or Made()
        for number, _ in made.rows:
            node = self.state.get(key(number), Node)
            if node is not None and node.id == id and (by_now := self.final(number)) >= 0:  # it is history
                self.again(by_now, said)
                return by_now
        if len(made.rows) >= OF_TURN:
            return -1
        count = self.state.get("count", Count) or Count()
        count.nodes += 1
        self.state.put("count", count)
        layer = 0 if kind == "preference" or subject else 1
        node = Node(
            id, said.turn, kind, text, said.session, said.by, cut(subject, NAME), cut(attribute, NAME),
            cut(value, NAME), said.at, layer, [*stems_of(text)],
        )  # fmt: skip
        self.state.put(key(count.nodes), node)
        self.index.add(count.nodes, node)
        self.again(count.nodes, said, f"{kind} by {said.by or said.role}")
        return count.nodes

    def _known(self, kind: Kind, text: str, subject: str, attribute: str, value: str) -> int:
        if attribute:
            wanted = cut(value, NAME).casefold()
            held = self.index.about.get((cut(subject, NAME), cut(attribute, NAME)), ())
            return next((n for n in reversed(held) if self.node(n).value.casefold() == wanted), -1)
        return self._same(stems_of(text), text, self.state.get("count", Count) or Count())

    def _same(self, stems: Sequence[str], text: str, before: Count) -> int:
        """The node that says the same in nearly the same words, among those made before; -1 for none."""
        total = heft(stems)
        for number, shared in self.index.like(stems):
            node = self.node(number)
            union = total + heft(node.stems) - shared
            if node.attribute or not union or shared / union < self.params.same or number > before.nodes:
                continue
            if agree(text, node.text):
                return number
        return -1

    def same_as(self, number: int) -> int:
        """An older node that says the same as a node; -1 for none."""
        node = self.node(number)
        return -1 if node.attribute else self._same(node.stems, node.text, Count(number - 1))

    def again(self, number: int, said: Saying, why: str = "said again") -> None:
        """A node is said (again) by somebody."""
        node = self.node(number)
        source = digest(said.first)
        made = self.state.get(f"turn/{said.turn}", Made) or Made()
        if [number, source] not in made.rows and len(made.rows) < OF_TURN:
            made.rows = [*made.rows, [number, source]]
            self.state.put(f"turn/{said.turn}", made)
        if node.undone:
            node.undone = False
            self._stand(number, why)
        if said.turn in node.turns and any(row[0] == source for row in node.sources):
            return
        if said.turn not in node.turns:
            node.turns = [*node.turns[:1], *[*node.turns[1:], said.turn][-(TURNS - 1) :]]
        node.at = max(node.at, said.at)
        if all(row[0] != source for row in node.sources) and len(node.sources) < SOURCES:
            node.sources = [*node.sources, [source, digest(said.session), self._trust(said.role)]]
        self.touch(number, why)
        for clash in self.rivals(number):
            if clash[4] in ("open", "won", "lost"):
                newer, older = (number, clash[0]) if clash[2] else (clash[0], number)
                self._settle(newer, older, clash[1], clash[3])

    def _trust(self, role: str) -> float:
        if role == "assistant":
            return self.params.assistant
        return self.params.user if role == "user" else self.params.tool

    def touch(self, number: int, why: str) -> None:
        """A node changed."""
        self.touched[number] = self.touched.get(number) or why
        self.state.put(key(number), self.node(number))

    def end(self, number: int, status: Any, why: str) -> None:
        """A node is known no longer: it speaks for nothing, and nothing for it."""
        node = self.node(number)
        self.index.remove(number, node)
        node.status = status
        self.touched[number] = why
        self.state.put(key(number), node)
        if status != "merged":
            self.unlink(number)

    def unlink(self, number: int) -> int:
        """Takes the edges of a node that is known no longer, as many as one event may; how many those are."""
        node, before = self.node(number), self.unlinked
        while node.serves and self.unlinked < UNLINKED:
            target = node.serves.pop()
            other = self.node(target)
            for row in _rows(other, number):
                self._gone(node, other, row)
            other.support = [row for row in other.support if row[0] != number]
            self.touch(target, f"{node.id} speaks for it no longer")
            self.stale(target, HOPS)
            self.unlinked += 1
        while node.support and self.unlinked < UNLINKED:
            row = node.support.pop()
            self._gone(self.node(row[0]), node, row)
            self._unserve(row[0], number)
            self.unlinked += 1
        self.state.put(key(number), node)
        if node.serves or node.support:
            self.stale(number, 0)
        else:
            self.dropped.append(number)
        return self.unlinked - before

    def _drop(self, number: int) -> None:
        """Keeps no more of a node than what was told of it."""
        for turn in self.node(number).turns:
            if (made := self.state.get(f"turn/{turn}", Made)) is None:
                continue
            made.rows = [row for row in made.rows if row[0] != number]
            if made.rows:
                self.state.put(f"turn/{turn}", made)
            else:
                self.state.delete(f"turn/{turn}")
        self.state.delete(key(number))
        self.state.delete(f"stale/{number:08d}")

    # -- edges -------------------------------------------------------------------------------------------------------

    def link(self, source: int, target: int, kind: Relation, rule: str, weight: float, turns: Sequence[str]) -> bool:
        """A node speaks for another, or is set against it (`unlike`). Of many the strongest are kept."""
        if source == target or min(source, target) < 0:
            return False
        one, other = self.node(source), self.node(target)
        if kind != "contradiction":
            linked = [*_rows(one, target), *_rows(other, source)]
            if (linked and rule in FITTING) or (rule != WRITTEN and any(row[2] == WRITTEN for row in linked)):
                return False
            if [source, kind, rule, r6(weight)] in [old[:4] for old in other.support]:
                return False
            row = [source, kind, rule, r6(weight), one.sources[0][0] if one.sources else "", one.id]
            kept, known = [old for old in other.support if old[0] != source], _rows(other, source)
            rows = sorted([*kept, row], key=lambda row: (-row[3], row[4], row[5]))
            kept_in = rows[:EDGES]
            if row not in kept_in or (target not in one.serves and len(one.serves) >= SERVES):
                return False
            for lost in rows[EDGES:]:
                self._unserve(lost[0], target)
            other.support = kept_in
            for old in _rows(one, target) if rule == WRITTEN else ():  # the other way round
                self._gone(other, one, old)
                one.support = [row for row in one.support if row is not old]
                other.serves = [number for number in other.serves if number != source]
            for old in known:
                if old[1] != kind:
                    self._gone(one, other, old)
            if target not in one.serves:
                one.serves = [*one.serves, target]
            self.touch(source, f"speaks for {other.id}")
            self.touch(target, f"{rule}: {one.id} speaks for it")
        outcome = "both" if kind == "contradiction" else "stands"
        self._told(one, other, kind, rule, weight, turns, outcome)
        return True

    def _gone(self, one: Node, other: Node, row: Sequence[Any]) -> None:
        """An edge stands no longer."""
        self._told(one, other, row[1], row[2], 0.0, [], "gone")

    def pair(self, source: str, target: str) -> tuple[int, int]:
        """Of the nodes that two turns say those two that share most; twice 0 where one says none."""
        pairs = [(one, other) for one in self.of_turn(source) for other in self.of_turn(target) if one != other]
        shared = [heft([*{*self.node(one).stems} & {*self.node(other).stems}]) for one, other in pairs]
        return pairs[shared.index(max(shared))] if pairs else (0, 0)

    def _unserve(self, number: int, target: int) -> None:
        node = self.node(number)
        node.serves = [one for one in node.serves if one != target]
        self.state.put(key(number), node)

    def _told(
        self, one: Node, other: Node, kind: Relation, rule: str, weight: float, turns: Sequence[str], outcome: str
    ) -> None:
        cause = self.cause
        self.out.append(
            KnowledgeLinked(
                cause.space, cause.session, cause.at, one.id, other.id, kind, rule, r6(weight),
                [*dict.fromkeys(turn for turn in turns if turn)][:TURNS], outcome,
            )
        )  # fmt: skip

    def relate(self, number: int, most: int = 2) -> int:
        """Links a node with what shares most of its words and was said elsewhere; how many edges that made."""
        node = self.node(number)
        total, stems, made = heft(node.stems), {*node.stems}, 0
        if node.attribute:
            return 0
        for near, shared in self.index.like(node.stems):
            other = self.node(near)
            least = min(total, heft(other.stems))
            if made >= most or near == number or other.attribute or not least or shared / least < self.params.alike:
                continue
            if len(stems.intersection(other.stems)) < 3 or {row[0] for row in node.sources} & {
                row[0] for row in other.sources
            }:
                continue
            if not agree(node.text, other.text, exactly=False):
                continue
            wide, narrow = (near, number) if len(other.stems) < len(node.stems) else (number, near)
            inside = {*self.node(wide).stems} < {*self.node(narrow).stems} and not _NUMBERS.search(self.node(wide).text)
            kind: Relation = "generalization" if inside else "support"
            source, target = (narrow, wide) if inside else (max(near, number), min(near, number))
            rule, weight = ("narrower", 0.6) if inside else ("shared words", 0.8 * shared / least)
            made += self.link(source, target, kind, rule, weight, [node.turn, other.turn])
        return made

    # -- conflicts ---------------------------------------------------------------------------------------------------

    def rivals(self, number: int) -> list[list[Any]]:
        """Of a node's contradictions those with nodes that are kept: where one had many, it may have known no more of
        this one when it was dropped."""
        return [row for row in self.node(number).clashes if self.state.get(key(row[0]), Node) is not None]

    def outlive(self, number: int) -> None:
        """What contradicted a node and took its place has stood a test, though the node is dropped."""
        node = self.node(number)
        for clash in [*node.clashes]:
            other = self.state.get(key(clash[0]), Node)
            if clash[4] == "lost" and other is not None and node.sources:
                other.clashes = [row for row in other.clashes if row[0] != number]
                other.survived = [*other.survived, node.sources[0][0]][-CLASHES:]
                self.state.put(key(clash[0]), other)
                node.clashes = [row for row in node.clashes if row is not clash]
            else:
                self.part(*((number, clash[0]) if clash[2] else (clash[0], number)))

    def clash(self, newer: int, older: int, rule: str, weight: float) -> None:
        """Two nodes contradict each other."""
        one, other = self.node(newer), self.node(older)
        if newer == older or one.status not in KEPT or other.status not in KEPT:
            return
        declared = rule not in ("differs", SUSPECTED, WRITTEN)
        for node, against, is_newer in ((one, older, True), (other, newer, False)):
            kept = [row for row in node.clashes if row[0] != against][-(CLASHES - 1) :]
            node.clashes = [*kept, [against, rule, is_newer, declared, "new"]]
        self._settle(newer, older, rule, declared, weight)

    def _settle(self, newer: int, older: int, rule: str, declared: bool, weight: float = 0.0) -> None:
        """Decides which of two nodes holds, and tells it where that changed."""
        one, other = self.node(newer), self.node(older)
        rows = [row for row in one.clashes if row[0] == older], [row for row in other.clashes if row[0] == newer]
        if not (rows[0] and rows[1]):
            return
        outcome = (
            "doubted" if self._doubted(one, other, rule, weight) else decide(self.params, one, other, rule, declared)
        )
        theirs, mine = {"newer": ("lost", "won"), "older": ("won", "lost")}.get(outcome, (outcome, outcome))
        was = rows[0][0][4]
        if was == mine:
            return
        rows[0][0][4], rows[1][0][4] = mine, theirs
        self._told(one, other, "contradiction", rule, weight or 1.0, [one.turn, other.turn], outcome)
        self._stand(newer, f"against {other.id}: {outcome}")
        self._stand(older, f"against {one.id}: {outcome}")
        if outcome == "open":
            self._ask(newer, older)

    def _doubted(self, one: Node, other: Node, rule: str, weight: float) -> bool:
        """Whether a contradiction is not likely enough to contest anything."""
        if rule == "judged" or not weight:
            return False
        near = one.session == other.session and abs(one.at - other.at) < self.params.near * HOUR
        return weight < self.params.heard or (near and rule != WRITTEN)

    def _stand(self, number: int, why: str) -> None:
        """Where a node stands, by its conflicts and by whether what came to it is done."""
        node = self.node(number)
        outcomes = {row[4] for row in node.clashes}
        status = "history" if "lost" in outcomes or node.undone else "open" if "open" in outcomes else "current"
        if node.status in STANDING and status not in STANDING:
            self.index.remove(number, node)
        elif node.status == "history" and status in STANDING:
            self.index.add(number, node)
        node.status = status
        self.touch(number, why)

    def undo(self, number: int, why: str) -> None:
        """The work that came to a node goes on: it is history until its turn concludes so again."""
        node = self.node(number)
        if node.status in STANDING:
            node.undone = True
            self._stand(number, why)

    def redo(self, number: int, why: str) -> None:
        """What had made a node history is taken back."""
        node = self.node(number)
        if node.undone:
            node.undone = False
            self._stand(number, why)

    def part(self, newer: int, older: int) -> None:
        """Two nodes contradict each other no longer."""
        one, other = self.state.get(key(newer), Node), self.state.get(key(older), Node)
        if one is None or other is None or all(row[0] != older for row in one.clashes):
            return
        one.clashes = [row for row in one.clashes if row[0] != older]
        other.clashes = [row for row in other.clashes if row[0] != newer]
        self._told(one, other, "contradiction", "judged", 0.0, [], "gone")
        for number in (newer, older):
            if self.node(number).status in KEPT:
                self._stand(number, "no conflict any more")

    def _ask(self, newer: int, older: int) -> None:
        """A question for the person it concerns: who said the newer one, or else the older."""
        one, other = self.node(newer), self.node(older)
        person = one.subject or (one.by if one.sources and one.sources[0][2] == self.params.user else other.by)
        if not person:
            return
        asking = self.state.get(asked(person), Asking) or Asking()
        asking.rows = [*[row for row in asking.rows if row != [newer, older]], [newer, older]][-WAITING:]
        self.state.put(asked(person), asking)

    def question(self, turn: TurnRecorded, asking: Asking) -> None:
        """Asks who speaks what is open and concerns him, once."""
        newer, older = asking.rows[-1]
        person = person_of(turn)
        if asking.rows[:-1]:
            asking.rows = asking.rows[:-1]
            self.state.put(asked(person), asking)
        else:
            self.state.delete(asked(person))
        one, other = self.state.get(key(newer), Node), self.state.get(key(older), Node)
        if one is not None and other is not None and one.status == other.status == "open":
            self.out.append(
                QuestionRaised(
                    turn.space, turn.session, turn.at, turn.id, person, one.id, other.id, [one.text, other.text],
                    [one.turn, other.turn],
                )
            )  # fmt: skip

    # -- what changed ------------------------------------------------------------------------------------------------

    def exact(self, number: int) -> float:
        """The confidence of a node."""
        return confidence(self.params, number, lambda n: self.state.get(key(n), Node))

    def stale(self, number: int, hops: int) -> None:
        """A pass looks at a node, and at those that it speaks for, so many edges further on."""
        known = self.state.get(f"stale/{number:08d}", Stale)
        if known is None or known.hops < hops:
            self.state.put(f"stale/{number:08d}", Stale(hops))

    def finish(self, slept: bool = False) -> list[Derived]:
        """What is told of the change: edges, nodes, and those near them whose confidence it moved at once. `slept`:
        it is a pass that makes it, which looks at others itself."""
        moved: dict[int, str] = {}
        border = [*self.touched]
        for _ in range(self.params.reach if not slept else 0):
            border = [
                further
                for n in border
                for further in (*self.node(n).serves, *(row[0] for row in self.rivals(n)))
                if further not in self.touched and further not in moved
            ][: self.params.felt - len(moved)]
            moved |= dict.fromkeys(border, "what speaks for it changed")
        for number, why in (*self.touched.items(), *moved.items()):
            node, now = self.node(number), self.exact(number)
            if number in self.touched and not slept:
                self.stale(number, HOPS)
            if number in self.touched or abs(now - node.confidence) >= self.params.least:
                node.confidence = now
                self.state.put(key(number), node)
                self.out.append(told(self.cause.space, self.cause.at, node, why))
        for number in dict.fromkeys(self.dropped):
            self._drop(number)
        self.touched, self.dropped = {}, []
        return self.out


def _rows(node: Node, number: int) -> list[list[Any]]:
    """The edge by which a node with that number speaks for a node, if there is one."""
    return [row for row in node.support if row[0] == number]


def cut(text: str, most: int = TEXT) -> str:
    """A text on one line, bounded in bytes; no word is broken."""
    line = " ".join(text.split())
    if len(line.encode()) <= most:
        return line
    whole, _, _ = (short := line.encode()[:most].decode(errors="ignore")).rpartition(" ")
    return whole or short


def agree(one: str, other: str, exactly: bool = True) -> bool:
    """Whether neither text denies what the other says, and the same numbers are in both (in the shorter one)."""
    numbers = {*_NUMBERS.findall(one)}, {*_NUMBERS.findall(other)}
    fits = numbers[0] == numbers[1] if exactly else numbers[0] <= numbers[1] or numbers[1] <= numbers[0]
    return fits and denies(one) == denies(other)


def person_of(turn: TurnRecorded) -> str:
    """Who speaks; whoever it is, where a turn does not name him."""
    return turn.agent or turn.role


def asked(person: str) -> str:
    """Where the questions for somebody are kept. His name may be cut already, as a belief's subject is."""
    return f"ask/{cut(person, NAME)}"


def saying(raw: Raw[Any], turn: str, first: str = "") -> Saying:
    """Who says what an event tells of a turn."""
    event = raw.event
    if isinstance(event, TurnRecorded):
        return Saying(turn, first or turn, person_of(event), event.role, event.session, event.at)
    return Saying(turn, first or turn, "", "user", getattr(event, "session", ""), event.at)


def kind_of(attribute: str, text: str) -> Kind:
    """Whether a belief is a matter of truth or of taste."""
    return "preference" if has("taste", text) or has("taste", attribute) else "fact"
