"""Contradictions: what a turn states of an attribute takes the place of what was stated before, and the chain is kept.

Rules read plain statements: who or what, which attribute of it, what value, affirmed or denied (see reading). Two of
the same attribute contradict where one denies what the other affirms, or where it has one value at a time and the
values, of one sort, differ (see values and beliefs). "I" is whoever speaks. The newer statement is the one with the
later `at`: one that comes in late is history at once. What is judged (`contradiction-judged`) outranks the rules; a
statement that is taken back leaves what it took the place of standing again.

Sources: the contradiction chains of Engram (A -> B -> C, current belief by default, history on request); belief
revision after Alchourrón, Gärdenfors and Makinson 1985, in its simplest form: the newest of two that cannot both hold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from processors.contradictions.beliefs import (
    LOOSE,
    Belief,
    Link,
    Row,
    current,
    drop,
    insert,
    judge,
    links,
    relink,
    rows,
)
from processors.contradictions.events import BeliefConfirmed as BeliefConfirmed
from processors.contradictions.events import BeliefContradicted as BeliefContradicted
from processors.contradictions.events import BeliefRestored as BeliefRestored
from processors.contradictions.events import BeliefStated as BeliefStated
from processors.contradictions.lexicon import SWAPPABLE, THEY, TRADED
from processors.contradictions.phrases import Statement
from processors.contradictions.reading import statements
from processors.contradictions.values import TIMES, same
from streams.core.events import ContradictionJudged, TurnRecorded, TurnRetracted
from streams.core.params import Params, param
from streams.core.processor import Derived, Processor, Raw, State, derived_id, on, r6
from streams.core.read_model import Keep, read_model


class ContradictionsParams(Params):
    """How statements are compared."""

    sure: float = param(
        0.6, "confidence 0..1", "contradictions less sure than this are not told; rules reach .7 to .9", ge=0, le=1
    )
    recent: int = param(
        8, "statements", "a session's last ones, which 'I meant Tuesday' may correct", source="tuned", ge=1, le=16
    )


@dataclass(slots=True)
class Stated:
    """State, `turn/<id>`: what a turn said, or was judged to contradict."""

    at: int
    keys: list[str] = field(default_factory=list)
    judged: dict[str, float] = field(default_factory=dict)
    """Older turns of which no statement is known, and how surely this one takes their place."""
    retracted: bool = False


@dataclass(slots=True)
class Recent:
    """State, `recent/<session>`: where the session's last statements are kept, and who made them; the newest last."""

    keys: list[list[str]] = field(default_factory=list)


MAX_ATTRIBUTE = 120
MAX_JUDGED = 24
SAID = 60
"""Characters of a value that are kept."""
_NONE: tuple[Derived, ...] = ()


def _turn(params: ContradictionsParams, state: State, turn: TurnRecorded, raw: Raw[TurnRecorded]) -> Sequence[Derived]:
    """Reads what a turn states."""
    if turn.role == "tool" or turn.role == "system":
        return _NONE
    pointing = state.get(f"recent/{turn.session}", Recent) is not None
    found = statements(turn.content, raw.text.names, pointing)
    return _state(params, state, turn, found) if found else _NONE


def _state(params: ContradictionsParams, state: State, turn: TurnRecorded, found: Sequence[Statement]) -> list[Derived]:
    speaker = turn.agent or turn.role
    recent = state.get(f"recent/{turn.session}", Recent) or Recent()
    stated = Stated(turn.at)
    out: list[Derived] = []
    for statement in found:
        for key, subject, meant in _placed(state, recent, speaker, statement):
            belief = state.get(key, Belief) or Belief(subject, meant.attribute, meant.kind)
            _add(params, state, turn, key, belief, meant, out)
            if key not in stated.keys:
                stated.keys.append(key)
            recent.keys = [*(old for old in recent.keys if old[0] != key), [key, speaker]][-params.recent :]
    if stated.keys:
        state.put(f"turn/{turn.id}", stated)
        state.put(f"recent/{turn.session}", recent)
    return out


def _placed(state: State, recent: Recent, speaker: str, statement: Statement) -> list[tuple[str, str, Statement]]:
    """The record that a statement belongs to, whose it is, and the statement in full; none where it points nowhere."""
    if statement.kind == "never":
        return _gone(state, speaker, statement)
    if statement.kind == "switch":
        return _switched(state, recent, speaker, statement)
    if not statement.attribute:
        return _meant(state, recent, speaker, statement)
    subject = speaker if statement.mine else ""
    if not THEY.isdisjoint(statement.attribute.split()):
        return _theirs(state, recent, speaker, statement)
    key = _key(subject, statement.attribute)
    if statement.changes and state.get(key, Belief) is None:
        for other, _ in reversed(recent.keys):
            if (belief := state.get(other, Belief)) and _underspecified(belief, subject, statement):
                return [(other, belief.subject, statement._replace(attribute=belief.attribute, kind=belief.kind))]
    return [(key, subject, statement)]


def _key(subject: str, attribute: str) -> str:
    return f"said/{attribute[:MAX_ATTRIBUTE]}/{subject}"


def _underspecified(belief: Belief, subject: str, statement: Statement) -> bool:
    """Whether a change of "the kickoff" may be one of "the project kickoff" that was just spoken of."""
    if statement.kind == "many" or belief.kind == "many" or (subject and subject != belief.subject):
        return False
    one, other = frozenset(statement.attribute.split()), frozenset(belief.attribute.split())
    if not (one < other or other < one):
        return False
    latest = current(belief)
    shared = latest[-1].facets.keys() & statement.value.facets.keys() if latest else set()
    return bool(shared) or bool(latest and TIMES & latest[-1].facets.keys() and TIMES & statement.value.facets.keys())


def _meant(state: State, recent: Recent, speaker: str, statement: Statement) -> list[tuple[str, str, Statement]]:
    """What "I meant Tuesday" corrects: the speaker's last statement with a value of the sort."""
    for key, who in reversed(recent.keys):
        belief = state.get(key, Belief)
        latest = current(belief) if belief else []
        if (
            who != speaker
            or belief is None
            or not latest
            or not latest[-1].affirmed
            or belief.kind in ("many", "prefer")
        ):
            continue
        row, facets = latest[-1], statement.value.facets
        if statement.old is not None and not _names(row, statement.old.facets):
            continue
        if "thing" in facets and "place" in row.facets:
            facets = {"place": facets["thing"]}
        if "clock" in row.facets and facets.get("number", "").isdigit() and int(facets["number"]) <= 12:
            facets = {"clock": f"~{facets['number']}:00"}
        known = [sort for sort in facets if sort in row.facets]
        loose = known and known[0] in ("thing", "place", "kind") and statement.old is None
        if not known or (loose and (statement.kind != "one" or belief.kind != "one")):
            continue
        meant = statement._replace(
            attribute=belief.attribute, kind=belief.kind, value=statement.value._replace(facets=facets, scope=row.scope)
        )
        return [(key, belief.subject, meant)]
    return []


def _theirs(state: State, recent: Recent, speaker: str, statement: Statement) -> list[tuple[str, str, Statement]]:
    """Of whom "she" tells it: whoever the session's last statement of that was about; of nobody where there is none."""
    told = frozenset(statement.attribute.split()) - THEY
    for key, _ in reversed(recent.keys):
        belief = state.get(key, Belief)
        latest = current(belief) if belief else []
        if belief is None or not latest or belief.kind != statement.kind:
            continue
        stems = frozenset(belief.attribute.split())
        if not (told < stems and len(stems) == len(told) + 1 and "we" not in stems):
            continue
        if belief.kind == "many" or latest[-1].facets.keys() & statement.value.facets.keys():
            return [(key, belief.subject, statement._replace(attribute=belief.attribute))]
    if "their" not in statement.attribute.split():
        return []
    return [(_key(speaker, statement.attribute), speaker, statement._replace(kind="now"))]


def _switched(state: State, recent: Recent, speaker: str, statement: Statement) -> list[tuple[str, str, Statement]]:
    """What "we switched to Y" takes the place of: something of its sort, or what was last said."""
    subject = speaker if statement.mine else ""
    value = statement.value
    last = next((key for key, who in reversed(recent.keys) if who == speaker), "")
    for verb in SWAPPABLE:
        key = _key(subject, f"{verb} {statement.attribute}".strip())
        belief = state.get(key, Belief)
        standing = [row for row in current(belief) if row.affirmed] if belief and verb != "use" else []
        if belief is None or not standing or belief.kind not in ("one", "now", "prefer"):
            continue
        row = standing[-1]
        alike = (row.facets.keys() & value.facets.keys()) - LOOSE
        named = verb in TRADED and key == last and row.named and value.named
        if alike or named or (value.scope and row.scope == value.scope):
            return [(key, subject, statement._replace(attribute=belief.attribute, kind=belief.kind))]
    return []


def _names(row: Row, facets: dict[str, str]) -> bool:
    """Whether a statement has the value that is named."""
    told = {("place" if sort == "thing" and "place" in row.facets else sort): value for sort, value in facets.items()}
    return any(sort in row.facets and same(sort, row.facets[sort], value) for sort, value in told.items())


def _gone(state: State, speaker: str, statement: Statement) -> list[tuple[str, str, Statement]]:
    """What was said to be, or be done, with a thing that is given up."""
    subject = speaker if statement.mine else ""
    thing = statement.value.facets["thing"]
    for verb in SWAPPABLE:
        key = _key(subject, " ".join(filter(None, (verb, thing, statement.attribute))))
        belief = state.get(key, Belief)
        if belief and belief.kind == "many" and any(row.affirmed for row in current(belief)):
            value = statement.value._replace(facets={})
            return [(key, subject, statement._replace(attribute=belief.attribute, kind="many", value=value))]
        key = _key(subject, f"{verb} {statement.attribute}".strip())
        belief = state.get(key, Belief)
        if belief and belief.kind == "one" and any(_names(row, {"thing": thing}) for row in current(belief)):
            return [(key, subject, statement._replace(attribute=belief.attribute, kind="one"))]
    return []


def _add(
    params: ContradictionsParams,
    state: State,
    turn: TurnRecorded,
    key: str,
    belief: Belief,
    statement: Statement,
    out: list[Derived],
) -> None:
    before = links(belief)
    value = statement.value
    row = Row(
        turn.id, turn.at, statement.said[:SAID], value.facets, value.scope, value.named,
        statement.affirmed, statement.changes, statement.adds, "", 0,
    )  # fmt: skip
    insert(belief, row)
    again = relink(belief, turn.space, params.sure)
    state.put(key, belief)
    row = next((one for one in rows(belief) if one.turn == turn.id), row)
    out.append(
        BeliefStated(
            turn.space, turn.session, turn.at, turn.id, turn.role, belief.subject, belief.attribute, row.said,
            row.affirmed, row.chain, row.place,
        )
    )  # fmt: skip
    if again and belief.said[-1][0] == turn.id:
        out.append(
            BeliefConfirmed(
                turn.space, turn.session, turn.at, turn.id, again[-1], belief.subject, belief.attribute, row.chain
            )
        )
    _tell(turn, belief, before, out)


def _tell(
    cause: TurnRecorded | TurnRetracted | ContradictionJudged,
    belief: Belief,
    before: Sequence[Link],
    out: list[Derived],
    taken_back: Row | None = None,
) -> None:
    """Links that are gone, then links that are new."""
    said = {row.turn: row for row in rows(belief)} | ({taken_back.turn: taken_back} if taken_back else {})
    now = links(belief)
    stand = {row.turn for row in current(belief)}
    space, session, at = cause.space, cause.session, cause.at
    kept = {(link.older, link.newer) for link in now}
    for link in before:
        if (link.older, link.newer) not in kept and link.older in said:
            older = said[link.older]
            out.append(
                BeliefRestored(
                    space, session, at, older.turn, link.newer, belief.subject, belief.attribute, older.said,
                    older.turn in stand, older.chain,
                )
            )  # fmt: skip
    for link in now:
        if link not in before:
            newer, older = said[link.newer], said[link.older]
            out.append(
                BeliefContradicted(
                    space, session, at, newer.turn, older.turn, belief.subject, belief.attribute, newer.said,
                    older.said, link.rule, r6(link.confidence), newer.chain, newer.place,
                )
            )  # fmt: skip


def _retracted(
    params: ContradictionsParams, state: State, fact: TurnRetracted, raw: Raw[TurnRetracted]
) -> list[Derived]:
    """What the turn took the place of stands again."""
    stated = state.get(f"turn/{fact.turn}", Stated)
    if stated is None or stated.retracted:
        return []
    out: list[Derived] = []
    for key in stated.keys:
        belief = state.get(key, Belief)
        gone = next((row for row in rows(belief) if row.turn == fact.turn), None) if belief else None
        if belief is None or gone is None:
            continue
        before = links(belief)
        drop(belief, fact.turn)
        relink(belief, fact.space, params.sure)
        _tell(fact, belief, before, out, gone)
        if belief.said:
            state.put(key, belief)
        else:
            state.delete(key)
    for older, confidence in stated.judged.items():
        if confidence:
            out.append(_unlinked(fact, older, fact.turn))
    stated.retracted = True
    state.put(f"turn/{fact.turn}", stated)
    return out


def _unlinked(fact: TurnRetracted | ContradictionJudged, older: str, newer: str) -> BeliefRestored:
    """A link between turns of which no statement is known is gone."""
    chain = derived_id("chain", fact.space, older)
    return BeliefRestored(fact.space, fact.session, fact.at, older, newer, "", "", "", True, chain)


def _judged(
    params: ContradictionsParams, state: State, fact: ContradictionJudged, raw: Raw[ContradictionJudged]
) -> list[Derived]:
    """A judgment confirms or dissolves a link, or makes one that no rule saw."""
    if fact.turn == fact.older:
        return []
    confidence = r6(fact.confidence) if fact.contradicts and fact.confidence >= params.sure else 0.0
    stated = state.get(f"turn/{fact.turn}", Stated) or Stated(fact.at)
    other = state.get(f"turn/{fact.older}", Stated)
    if stated.retracted or (other is not None and other.retracted):
        return []
    shared = [key for key in stated.keys if other is not None and key in other.keys]
    out: list[Derived] = []
    for key in shared:
        if belief := state.get(key, Belief):
            before = links(belief)
            judge(belief, fact.older, fact.turn, confidence)
            relink(belief, fact.space, params.sure)
            state.put(key, belief)
            _tell(fact, belief, before, out)
    if not shared:
        had = stated.judged.get(fact.older, 0.0)
        if fact.older not in stated.judged and len(stated.judged) >= MAX_JUDGED:
            return []
        stated.judged[fact.older] = confidence
        state.put(f"turn/{fact.turn}", stated)
        if confidence and confidence != had:
            chain = derived_id("chain", fact.space, fact.older)
            out.append(
                BeliefContradicted(
                    fact.space, fact.session, fact.at, fact.turn, fact.older, "", "", "", "", "judged", confidence,
                    chain, 1,
                )
            )  # fmt: skip
        elif had and not confidence:
            out.append(_unlinked(fact, fact.older, fact.turn))
    return out


def holding(
    params: ContradictionsParams, records: Sequence[BeliefContradicted | BeliefRestored]
) -> list[tuple[str, str, str, str, str, float]]:
    """The links that hold, given the last record of each kind in the order told: newer and older turn, both values,
    the rule, how sure."""
    held: dict[tuple[str, str], BeliefContradicted] = {}
    for link in records:
        if isinstance(link, BeliefContradicted):
            held[link.turn, link.older] = link
        elif (gone := held.get((link.newer, link.turn))) is not None and gone.attribute == link.attribute:
            del held[link.newer, link.turn]
    return [(k.turn, k.older, k.value, k.older_value, k.rule, k.confidence) for k in held.values()]


PROCESSOR = Processor(
    name="contradictions",
    version=1,
    params=ContradictionsParams,
    takes=(on(TurnRecorded, _turn), on(TurnRetracted, _retracted), on(ContradictionJudged, _judged)),
    emits=(BeliefStated, BeliefConfirmed, BeliefContradicted, BeliefRestored),
    read_model=read_model(
        __package__,
        keeps=(Keep(BeliefContradicted, ("turn", "older")), Keep(BeliefRestored, ("newer", "turn"))),
        readings={"contradicted": holding},
    ),
)
