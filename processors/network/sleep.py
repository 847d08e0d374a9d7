"""The pass over the network that a consolidation begins: what no single change can do.

It looks at each node that a change since the last pass may have reached (`Stale`): all others are as they would be
found. It goes on in slices of a few nodes with each event that follows. Where none does it asks for ticks of the clock,
all dated at the consolidation: at most `ticks`, for each is an event in the log; the rest waits for talk or for the
next consolidation. Of each node it

    merges    what says the same as an older node
    links     what shares its words with nodes that were not at hand when it was made
    promotes  what several sessions agree on, without what tells who, where and which: to a principle (layer 2), and
              where it is a rule without exception to what is universal (3). What somebody says of himself stays private
    compacts  what fits what is known to its first words (schema congruence); what contradicted something stays as
              it is (prediction error). The turns have all words

and makes its confidence exact. Of as many others in turn it prunes what lost long ago, and claims that nobody said
again and that nothing but claims of their own turn links: no more is kept of them than what was told.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from processors.consolidation import ConsolidationRan
from processors.network.events import NetworkSlept
from processors.network.net import FITTING, Net
from processors.network.reasons import has
from processors.network.record import CLASHES, EDGES, KEPT, SERVES, SOURCES, Count, Due, Index, Node, Stale, key
from streams.core.dataclasses import dataclass
from streams.core.events import DAY
from streams.core.processor import Derived, State
from streams.core.text.masking import generalised
from streams.core.text.telling import within

if TYPE_CHECKING:
    from processors.network import NetworkParams

WRITES, A_MERGE = 32, 24
"""Records that one slice changes before it ends; how many one merging counts for."""
LOOKED, LINKED, MERGED, PRUNED, PROMOTED, MOVED = range(6)
"""What `Count.done` counts."""


@dataclass(slots=True)
class _Pass:
    """What a slice tells: it is dated at the consolidation that began the pass."""

    space: str
    session: str
    at: int


def begin(state: State, ran: ConsolidationRan) -> Sequence[Derived]:
    """A pass begins where there is something to look at; one that is under way asks for ticks again."""
    count = state.get("count", Count)
    if count is None or not count.nodes:
        return ()
    if not count.slices:
        count.slices, count.run, count.due, count.done = 1, count.run + 1, ran.at, [0] * 6
    count.asked = 0
    state.put("count", count)
    state.put(_due(count), Due())
    state.index(Index).looking = True
    return ()


def _due(count: Count) -> str:
    return f"due/{count.due:020d}/network/{count.slices:08d}"


def go_on(params: NetworkParams, state: State, fact: Any) -> list[Derived]:
    """A slice of the pass that is under way."""
    count = state.get("count", Count)
    if count is None or not count.slices:
        return []
    state.delete(_due(count))
    net = Net(params, state, _Pass(fact.space, "", count.due))
    writes = 0
    found = state.keys("node/", params.slice, key(count.cursor)) or state.keys("node/", params.slice)
    for at in found:
        if writes >= WRITES // 2:
            break
        count.cursor = int(at[5:])
        writes += _prune(params, net, count.cursor, count)
    dropped = writes > 0
    for at in state.keys("stale/", params.slice):
        number, stale = int(at[6:]), state.get(at, Stale)
        if writes >= WRITES or stale is None:
            break
        state.delete(at)
        if state.get(key(number), Node) is None:
            continue
        writes += 2 + _look(params, net, number, count)
        if stale.hops:
            for further in net.node(number).serves:
                net.stale(further, stale.hops - 1)
                writes += 1
    out = net.finish(slept=True)
    if dropped or state.keys("stale/", 1):
        count.slices, count.asked = count.slices + 1, count.asked + 1
        if count.asked < params.ticks:
            state.put(_due(count), Due())
    else:
        out.append(NetworkSlept(fact.space, "", count.due, count.run, *_counted(count)))
        count.slices = 0
        state.index(Index).looking = False
    state.put("count", count)
    return out


def _counted(count: Count) -> tuple[int, int, int, int, int, int]:
    looked, linked, merged, pruned, promoted, moved = count.done
    return looked, linked, merged, pruned, promoted, moved


def _prune(params: NetworkParams, net: Net, number: int, count: Count) -> int:
    """Drops a node that nothing supported for long; about how many records that changed."""
    node = net.node(number)
    if node.merged and net.final(number) < 0:
        net.state.delete(key(number))
        return 1
    if node.status not in KEPT or node.at >= count.due - params.prune * DAY or not _idle(net, number, node):
        return 0
    links = len(node.clashes) + 2 * len(node.serves) + len(node.support)
    net.outlive(number)
    net.end(number, "pruned", "nothing supported it for long")
    count.done[PRUNED] += 1
    return 2 + len(node.turns) + links


def _look(params: NetworkParams, net: Net, number: int, count: Count) -> int:
    """Looks at one node; about how many records that changed."""
    node, done = net.node(number), count.done
    done[LOOKED] += 1
    if node.status not in KEPT:
        return net.unlink(number)
    if node.status == "history":
        return _move(params, net, number, node, done)
    if (same := net.same_as(number)) >= 0:
        merge(net, number, same)
        done[MERGED] += 1
        return A_MERGE
    linked = net.relate(number)
    done[LINKED] += linked
    if (layer := _layer(params, net, node)) > node.layer and (general := generalised(node.text)):
        node.layer, node.general = layer, general
        net.touch(number, "several sessions agree on it")
        done[PROMOTED] += 1
    tested = node.clashes or node.survived
    if (linked or number in net.touched) and not tested and not FITTING.isdisjoint(r[2] for r in node.support):
        node.text = within(node.text, params.brief)
    return 3 * linked + _move(params, net, number, node, done)


def _idle(net: Net, number: int, node: Node) -> bool:
    """Whether nothing hangs on a node: it is history, or nobody said it again, and all that it is linked to are claims
    of its own turn of which the same is true."""
    if node.status == "history":
        return True
    seen, waiting, root = {number}, [node], [row[0] for row in node.sources]
    while waiting:
        one = waiting.pop()
        tested = one.clashes or one.survived
        if one.kind != "claim" or tested or len(root) > 1 or [row[0] for row in one.sources] != root:
            return False
        further = {*one.serves, *(row[0] for row in one.support)} - seen
        seen |= further
        waiting += map(net.node, further)
    return True


def _move(params: NetworkParams, net: Net, number: int, node: Node, done: list[int]) -> int:
    """Makes a confidence exact."""
    moved = abs(net.exact(number) - node.confidence) >= params.least
    if moved and number not in net.touched:
        done[MOVED] += 1
        net.touch(number, "a pass over the whole network")
    return int(number in net.touched)


def _layer(params: NetworkParams, net: Net, node: Node) -> int:
    """The layer of a node, by how many sessions agree on it."""
    if node.attribute or node.status != "current":
        return node.layer
    sessions = {row[1] for row in node.sources}
    for row in node.support:
        if row[2] in FITTING:
            sessions.update(source[1] for source in net.node(row[0]).sources)
    if len(sessions) >= params.universal and has("always", node.text) and not (node.clashes or node.survived):
        return 3
    return 2 if len(sessions) >= params.agree else node.layer


def merge(net: Net, number: int, same: int) -> None:
    """A node gives all it has to another that says the same."""
    node, other = net.node(number), net.node(same)
    known = {row[0] for row in other.sources}
    other.sources = [*other.sources, *[row for row in node.sources if row[0] not in known]][:SOURCES]
    other.survived = [*dict.fromkeys([*node.survived, *other.survived])][-CLASHES:]
    other.at = max(other.at, node.at)
    other.turns = [*other.turns[:1], *dict.fromkeys([*other.turns[1:], *node.turns])][:4]
    for row in node.support:
        source = net.node(row[0])
        source.serves = [one for one in source.serves if one != number]
        if row[0] != same and all(old[0] != row[0] for old in other.support) and len(other.support) < EDGES:
            other.support = [*other.support, row]
            source.serves = [*source.serves, same]
        net.state.put(key(row[0]), source)
    for served in node.serves:
        target = net.node(served)
        rows = [row for row in target.support if row[0] != number]
        if served != same and all(row[0] != same for row in rows) and len(other.serves) < SERVES:
            rows += [[same, *row[1:5], other.id] for row in target.support if row[0] == number]
            other.serves = [*other.serves, served]
        target.support = rows
        net.state.put(key(served), target)
    for clash in [*node.clashes]:
        net.part(*((number, clash[0]) if clash[2] else (clash[0], number)))
    node.support, node.serves, node.into, node.merged = [], [], other.id, same
    net.end(number, "merged", f"{other.id} says the same")
    net.touch(same, f"{node.id} says the same")
