"""One memory explained: its source, what happened to it, how alive it is, what it is linked to and contradicts."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from projections.recall.answers import Recall, Sight
from projections.recall.dynamics import Moment
from projections.recall.liveliness import is_forgotten, liveliness, measures
from projections.recall.question import moment_of
from projections.show import show
from streams.core.errors import UsageError
from streams.core.events import iso
from streams.core.processor import r6

POINTS = 160
"""Of the curve."""
AHEAD = 0.3
"""Of a memory's age, shown beyond the moment it is asked at; a day at least."""
DAY = 86_400_000_000
_HAPPENED = """
SELECT epoch_us(m."at"), position, 'recalled', cue, session FROM memory_recalled m
WHERE space = $space AND list_contains(turns, $turn)
UNION ALL SELECT epoch_us(m."at"), position, 'rewarded', reward::VARCHAR, session FROM memory_rewarded m
WHERE space = $space AND list_contains(turns, $turn)
UNION ALL SELECT epoch_us(m."at"), position, CASE WHEN pinned THEN 'pinned' ELSE 'unpinned' END, '', session
FROM memory_pinned m WHERE space = $space AND turn = $turn
UNION ALL SELECT epoch_us(m."at"), position, 'flagged', importance, session FROM importance_flagged m
WHERE space = $space AND turn = $turn
ORDER BY ALL
"""
OF = {
    "activation": "log odds that it is needed",
    "retention": "of it retained, 0 to 1",
    "fast": "the trace that fades within weeks",
    "slow": "the trace that consolidation leaves",
    "confidence": "of reliability and salience, 0 to 1",
    "known": "of what speaks for what it was the first to say, 0 to 1",
    "liveliness": "all of it, -1 to 1: the order of what is equally relevant",
}

Answer = dict[str, Any]


def explain(sight: Sight, id: str, space: str | None = None, at: str | int | None = None) -> Answer:
    """Everything about one memory, as JSON. Raises UsageError where there is nothing of that id.

    Of a segment, conclusion, note or task it is the most active of the turns that it was made of.
    """
    connection, recall = sight.connection, sight.recall
    source = show(connection, id, space)
    name = str(source["space"])
    until = sight.until(name)
    seen = recall.index.space(name, until)
    moment = recall.moment(seen, name, until, moment_of(at))
    documents = [document for turn in source["turns"] if (document := seen.turn(turn["turn_id"])) >= 0]
    if not documents:
        raise UsageError(
            f"{id!r} is no memory", "name a turn, or a segment, conclusion, note or task that was made of turns"
        )
    dynamics = recall.dynamics
    memories = seen.held.all_spoken(documents)
    measured = dynamics.measured(moment, memories)
    activation = measured.get("activation", [0.0] * len(memories))
    place = max(range(len(memories)), key=activation.__getitem__)
    memory, turn = memories[place], memories[place].id
    found = {name: values[place] for name, values in measured.items() if values[place] is not None}
    (said,) = (one for one in source["turns"] if one["turn_id"] == turn)
    accesses = connection.execute(_HAPPENED, {"space": name, "turn": turn}).fetchall()
    (alive,) = liveliness(dynamics.params, {name: [value] for name, value in found.items()}, [0.0])
    return {
        "id": id,
        "kind": source["kind"],
        "space": name,
        "session": said["session"],
        "turn_id": turn,
        "turns": [one["turn_id"] for one in source["turns"]],
        "agent": said["agent"],
        "role": said["role"],
        "at": said["at"],
        "text": said["content"],
        "retracted": said["retracted"],
        "type": memory.type,
        "asked_at": moment.now,
        "forgotten": dynamics.is_forgotten(moment, seen.turn(turn)),
        "now": [
            {"measure": n, "value": r6(v), "of": OF.get(n, "")} for n, v in (found | {"liveliness": alive}).items()
        ],
        "accesses": [
            {"at": iso(when), "what": what, "cue": cue, "session": where} for when, _, what, cue, where in accesses
        ],
        "links": _links(recall, moment, turn),
        "beliefs": _beliefs(recall, moment, turn),
        "curve": _curve(recall, moment, turn, [(when, position) for when, position, *_ in accesses]),
    }


def _links(recall: Recall, moment: Moment, turn: str) -> list[Answer]:
    links = recall.dynamics.links(moment.name, [turn], moment.until, moment.now)
    others = {(first if second == turn else second): strength for (first, second), strength in links.items()}
    said = _words(recall, moment, list(others))
    rows = [{"turn_id": other, "strength": r6(value), "text": said[other]} for other, value in others.items()]
    return sorted(rows, key=lambda row: (-row["strength"], row["turn_id"]))


def _beliefs(recall: Recall, moment: Moment, turn: str) -> list[Answer]:
    rows: list[Answer] = []
    dynamics = recall.dynamics
    newest = dynamics.replaced_by(moment.name, turn, moment.until)
    if newest != turn:
        said = _words(recall, moment, [newest])
        rows.append({"relation": "replaced by", "turn_id": newest, "value": said[newest]})
    for belief in dynamics.replaced(moment.name, turn, moment.until):
        about = {"rule": belief.rule, "confidence": belief.confidence}
        rows.append({"relation": "took the place of", "turn_id": belief.older, "value": belief.older_value} | about)
    return rows


def _words(recall: Recall, moment: Moment, turns: Sequence[str]) -> dict[str, str]:
    space = moment.space
    places = [space.position(document) for turn in turns if (document := space.turn(turn)) >= 0]
    said = {turn.id: turn.content for turn in recall.said(moment.name, places).values()}
    return {turn: said.get(turn, "") for turn in turns}


def _curve(recall: Recall, moment: Moment, turn: str, accesses: Sequence[tuple[int, int]]) -> list[Answer]:
    """What the dynamics measured of a turn over its life, and will if nothing happens; each point as of its time."""
    dynamics = recall.dynamics
    space = moment.space
    memory = space.held.spoken(space.turn(turn))
    began, now = memory.at, max(moment.now, memory.at)
    ends = now + max(int((now - began) * AHEAD), DAY)
    # Why the moment before an access, too: a line is drawn from point to point, and use comes at once.
    used = {when - before for when, _ in accesses for before in (0, 1)}
    times = sorted({began + (ends - began) * n // POINTS for n in range(POINTS + 1)} | used)
    whens, positions = [when for when, _ in accesses], [position for _, position in accesses]
    before = space.position(space.turn(turn))
    records = {
        position: dynamics.records(Moment(space, moment.name, position, now), [turn])
        for position in {before, *positions}
    }
    curve: list[Answer] = []
    for when in times:
        place = bisect_right(whens, when)
        known = records[max(positions[:place], default=before)]
        found = measures(dynamics.readings, [memory], known, when)
        point = {name: r6(found.get(name, [0.0])[0]) for name in ("activation", "retention", "fast", "slow")}
        gone = is_forgotten(dynamics.readings, memory, known, when)
        curve.append({"at": when} | point | {"forgotten": gone})
    return curve
