"""A second look at a user's turn: what the assistant answers tells more of where it belongs than a few words do.

    worth'(candidate) = before * worth(candidate) + sum of weight * what is seen of the answer

What is seen is that of the first look (see dialogue), of words and names that the answer has and the turn has not. The
turn moves to the likeliest effort that there was before it; none is opened late. Weights: tests/bench/learn_efforts.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from operator import mul

from processors.open_efforts import near
from processors.open_efforts.crowd import known_as
from processors.open_efforts.dialogue import Weights, shares
from processors.open_efforts.events import TurnRethreaded
from processors.open_efforts.index import Active, add, names_of, recently, take
from processors.open_efforts.matching import LOGS, slots_of
from processors.open_efforts.params import OpenEffortsParams
from processors.open_efforts.records import RECENT, Effort, First, Said, Session, Speaker
from processors.open_efforts.table import activate, count, give_name, go_on, reopen, take_name
from processors.open_efforts.topics import FIRST, TELLS
from streams.core.events import TurnRecorded
from streams.core.processor import Derived, State
from streams.core.text import Text
from streams.core.text.commonness import CLASSES

READ = 24
"""Words of an answer that are looked at."""
DOUBT = 5.0
"""Log odds: what is so much less likely than the likeliest is not looked at again."""
MOST = 8
"""Candidates that are."""
_WORDS, _NAMES, _SIZE = 3.0, 2.0, 3.0


def doubtful(worth: Mapping[str, float]) -> dict[str, float]:
    """The candidates to look at again; none where the likeliest is beyond doubt."""
    top = max(worth.values())
    near = [key for key, value in worth.items() if value > top - DOUBT]
    if len(near) < 2:
        return {}
    near.sort(key=lambda key: -worth[key])
    return {key: round(worth[key] - top, 3) for key in near[:MOST]}


def weigh(
    state: State, index: Active, worth: Mapping[str, float], said: Said, terms: list[str], names: list[str],
    answer: TurnRecorded | None = None,
) -> dict[str, tuple[float, ...]]:  # fmt: skip
    """What is seen of each candidate with the answer, which is given where alike words count."""
    slots = {effort: index.slots[effort] for effort in worth if effort in index.slots}
    among = sum(1 << slot for slot in slots.values())
    top = LOGS[len(index.slots) + 1] + 0.5
    words: dict[int, float] = {}
    named: dict[int, float] = {}
    total, unheard, count = 0.5, 0, 0
    for term in terms[:READ]:
        if term in said.terms:
            continue
        count += 1
        mask, tells = index.terms.get(term, 0), TELLS[CLASSES[term]]
        if not mask:
            unheard += 1
            total += 0.5 * tells
            continue
        weight = tells * (1 - LOGS[mask.bit_count()] / top)
        total += weight
        for slot in slots_of(mask & among):
            words[slot] = words.get(slot, 0.0) + weight
    for name in names:
        mask = index.names.get(name, 0) if name not in said.names else 0
        for slot in slots_of(mask & among):
            named[slot] = named.get(slot, 0.0) + 1 - LOGS[mask.bit_count()] / top
    found: dict[str, tuple[float, ...]] = {}
    for effort_id, slot in slots.items():
        effort = state.get(f"effort/{effort_id}", Effort)
        if effort is not None:
            shared = words.get(slot, 0.0)
            heard = min(shared, _WORDS)
            found[effort_id] = (
                worth[effort_id], heard, shared / total, min(named.get(slot, 0.0), _NAMES),
                not shared and slot not in named, heard * (LOGS[len(effort.terms) + 1] - _SIZE), 0, 0,
            )  # fmt: skip
    if "" in worth:
        found[""] = (worth[""], 0, 0, 0, 0, 0, 1, unheard / (count or 1))
    if answer is not None:
        alike = near.seen(state, index, worth, answer, said.turn)
        found = {effort_id: (*seen, *alike.get(effort_id, near.UNKNOWN)) for effort_id, seen in found.items()}
    return found


def likeliest(weights: Weights, seen: Mapping[str, tuple[float, ...]]) -> dict[str, float]:
    """The worth of each candidate with the answer."""
    return {effort: sum(map(mul, weights.answered, values)) for effort, values in seen.items()}


def look_again(
    params: OpenEffortsParams, state: State, event: TurnRecorded, text: Text, index: Active, session: Session
) -> list[Derived]:
    """The assistant answers: the user's turn before it goes where both its words and the answer's belong."""
    turn, worth = session.doubted[-1], session.weighed
    said = recently(state, index, turn)
    if said is None or said.retracted or not said.effort:
        return []
    names = names_of(text.names) if text.names else []
    seen = weigh(state, index, worth, said, text.terms, names, event if params.alike else None)
    own = said.effort if said.effort in seen else ""
    if own not in seen or len(seen) < 2:
        return []
    worths = likeliest(params, seen)
    best = max(worths, key=lambda effort: (worths[effort], effort == own))
    if best in ("", own):
        said.share = round(shares(worths)[own], 3)
        state.put(f"turn/{said.number % RECENT}", said)
        return []
    said.share = round(shares(worths)[best], 3)
    out: list[Derived] = []
    for moved in session.doubted:
        last = said if moved == turn else recently(state, index, moved)
        if last is not None and last.effort == said.effort and not last.retracted:
            _move(params, state, event, index, session, last, best, out)
    return out


def _move(
    params: OpenEffortsParams, state: State, event: TurnRecorded, index: Active, session: Session, said: Said,
    target_id: str, out: list[Derived],
) -> None:  # fmt: skip
    """A turn goes from its effort to another one."""
    source_id, segment = said.effort, said.segment
    source = state.get(f"effort/{source_id}", Effort)
    target = state.get(f"effort/{target_id}", Effort)
    if source is None or target is None:
        return
    take(index, source_id, source, said)
    for name in said.names:
        if name not in source.names:
            take_name(state, name, source_id)
    source.turns -= 1
    told = source.first.pop(said.turn, "")
    here = session.segments.get(segment, {})
    if here.get(source_id, 0) > 1:
        here[source_id] -= 1
    elif here.pop(source_id, None):
        source.segments -= 1
        source.live = [live for live in source.live if live != segment]
    if not any(source_id in efforts for efforts in session.segments.values()) and source_id in session.recent:
        session.recent.remove(source_id)
        index.scenes.pop(event.session, None)
    state.put(f"effort/{source_id}", source)
    if target.status == "concluded" and session.worked:
        reopen(target, event, target_id, said.turn, "work", out)
    slot = activate(params, state, index, target_id, target)
    target.turns += 1
    target.at = event.at
    if told and len(target.first) < FIRST:
        target.first[said.turn] = told
        state.put(f"first/{said.turn}", First([source_id, target_id]))
    if target.session != event.session:
        target.session, target.live = event.session, []
    if count(session, segment, target_id):
        target.segments += 1
        target.live = [*(live for live in target.live if live != segment), segment][-8:]
    me = known_as(said.agent)
    # Why the last alone: what waited for it, greetings and what was answered to them, makes nobody a user of an effort.
    if said.turn == session.doubted[-1] and me not in target.users and len(target.users) < 8:
        target.users[me] = None
    for name in said.names:
        if name not in target.names:
            give_name(state, name, target_id)
    add(index, slot, target, said)
    index.mark(target_id, target)
    state.put(f"effort/{target_id}", target)
    said.effort = target_id
    state.put(f"turn/{said.number % RECENT}", said)
    speaker = state.get(f"speaker/{event.session}/{me}", Speaker)
    if speaker is not None and speaker.effort == source_id:
        speaker.effort = target_id
        state.put(f"speaker/{event.session}/{me}", speaker)
    go_on(index, event.session, session, target_id)
    session.last = target_id
    out.append(TurnRethreaded(event.space, event.session, event.at, said.turn, target_id))
