"""Contradictions: what a turn states takes the place of what was stated before, or may do so; the chain is kept.

Two readers. What states something plainly ("I live in Boston") is compared, clause by clause, with the few statements
that share rare words with it, or what the speaker tells of himself, or were just said (see index, pairs); learned
weights say how likely it takes the place of one. From `sure` on it does. But most changes are told in other words
("she's off to Leeds after all"): there a glance at the turn says whether it may change anything, and only then the
statements that it may mean are weighed against each other (see glance): those that share words with it, the speaker's
last ones, and the last of the same effort (of which .63 of the changes in annotated talk are). The few likeliest of
them are read (see closer): which figures differ beside what they share, how the turn goes on about it, and how they
stand to each other. What is likely from `suspected` on is a doubt, of the two likeliest at most: which of them is
meant, a turn's words often do not tell; where only people spoke, from `among` on. The agent's answer, which takes note
of a change in other words than of news, may make one likely afterwards (`answered`). Of what is likely it is asked once
more whether it is sure (see certain): it takes the place from `inferred` on at the turn, from `confirmed` on at the
answer. A doubt is for somebody else to settle: a person, an agent or a model may judge it (`contradiction-judged`); a
judgment outranks the weights. People do not contradict each other but about one thing that both name, or tell by a
rare word. The newer is the one with the later `at`: one that comes in late is history at once; one that is taken back
leaves what it took the place of standing again.

Sources: the contradiction chains of Engram (A -> B -> C, current belief by default, history on request); belief
revision after Alchourrón, Gärdenfors and Makinson 1985, in its simplest form: the newest of two that cannot both hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeVar

from processors.contradictions.beliefs import beliefs
from processors.contradictions.certain import AT_ONCE, CERTAIN, answered, standing
from processors.contradictions.closer import CLOSER, LEAST, LIKELIEST, looks, means, more
from processors.contradictions.events import BeliefConfirmed as BeliefConfirmed
from processors.contradictions.events import BeliefContradicted as BeliefContradicted
from processors.contradictions.events import BeliefRestored as BeliefRestored
from processors.contradictions.events import BeliefStated as BeliefStated
from processors.contradictions.events import ContradictionSuspected as ContradictionSuspected
from processors.contradictions.glance import MAY_CHANGE, doubt, doubt_alike, doubt_signals
from processors.contradictions.index import MAX_DOUBTS, Index, Meant, Statement, index, keyed, words_of
from processors.contradictions.jobs import JOBS
from processors.contradictions.pairs import Judged, Setting, judge, rule_of, said_again, words_seen
from processors.contradictions.reading import CHANGING, Clause, Reading, attribute, read, value
from processors.contradictions.values import Belief
from processors.open_efforts import TurnRethreaded, TurnThreaded
from streams.core.events import ContradictionJudged, TurnRecorded, TurnRetracted
from streams.core.params import Params, param
from streams.core.processor import RAW, Derived, Processor, Raw, State, derived_id, on, r6
from streams.core.read_model import Keep, read_model
from streams.core.text.alike import table
from streams.core.text.learned import likelihood
from streams.core.text.statements import MAX_TEXT, WEIGHTS, seen_of


class ContradictionsParams(Params):
    """What becomes of a pair of statements, by how likely the newer takes the place of the older."""

    sure: float = param(
        0.68, "likelihood 0..1", "from here on what is told plainly is taken as changed",
        source="tuned on tests/voices and sequences", ge=0, le=1,
    )  # fmt: skip
    unsure: float = param(
        0.27, "likelihood 0..1", "from here on that is a doubt, but not below `suspected`", source="tuned on the same",
        ge=0, le=1,
    )  # fmt: skip
    inferred: float = param(
        0.92, "likelihood 0..1", "from here on what is told in other words is taken as changed, too",
        source="voices, authors left out, with `confirmed`: .92 of those turns change just that", ge=0, le=1,
    )  # fmt: skip
    confirmed: float = param(
        0.84, "likelihood 0..1", "the same, once the agent's answer is known to what tells of the change",
        source="the same", ge=0, le=1,
    )  # fmt: skip
    suspected: float = param(
        0.12, "likelihood 0..1", "from here on it is told as a doubt",
        source="voices, authors left out: .70 of changes are seen, and .16 of look-alikes", ge=0, le=1,
    )  # fmt: skip
    answered: float = param(
        0.1, "likelihood 0..1", "the same, once the agent's answer is known to what tells of the change",
        source="voices, authors left out", ge=0, le=1,
    )  # fmt: skip
    among: float = param(
        0.5, "likelihood 0..1", "the same where only people spoke last, who take back little; not below `suspected`",
        source="LoCoMo, chats left out: 1.9 in 1,000 turns", ge=0, le=1,
    )  # fmt: skip
    alike: bool = param(
        False, "yes or no", "alike words count for doubts, too; needs the extra `semantic`",
        source="voices, authors left out, at a glance: where .35 of doubts are right, .57 of changes are seen, not .55",
    )  # fmt: skip
    heard: float = param(0.6, "confidence 0..1", "a judge who is less sure is not heard", ge=0, le=1)

    def check_foldable(self) -> None:
        """Raises UsageError where alike words are to count and their table is not installed."""
        if self.alike:
            table()


@dataclass(slots=True)
class Told:
    """State, `turn/<id>`: what a turn states, what took its place, and what it took the place of."""

    at: int
    beliefs: dict[str, list[Any]] = field(default_factory=dict)
    """By attribute: subject, value, whether affirmed, chain, place in it."""
    older: dict[str, list[Any]] = field(default_factory=dict)
    """By turn that this one took the place of: attribute, rule, confidence."""
    newer: dict[str, int] = field(default_factory=dict)
    """By turn that took this one's place: when it was said."""
    doubts: list[str] = field(default_factory=list)
    """Older turns whose place it may take."""
    doubted: list[str] = field(default_factory=list)
    """Newer turns that may take its place."""
    retracted: bool = False


class Found(NamedTuple):
    """A pair of turns, and what the weights say of it."""

    newer: str
    newer_at: int
    older: str
    older_at: int
    judged: Judged


class Likely(NamedTuple):
    """A statement that a turn may mean."""

    statement: Statement
    doubtful: float
    """How likely the turn takes its place, of all that may be meant."""
    sure: float
    """The same as it is found out of what is likely; 0 where it is not."""
    seen: list[str]


MAX_LINKS = 6
MAX_BELIEFS = 4
TAKES_NOTE = 20
"""The score of an agent's answer, in hundredths of log odds, from which on it tells anything of what it answers."""
_NONE: tuple[Derived, ...] = ()


def _turn(params: ContradictionsParams, state: State, turn: TurnRecorded, raw: Raw[TurnRecorded]) -> Sequence[Derived]:
    """Compares what a turn states with what was stated before, and remembers it."""
    text = raw.text
    if not text.states:
        return _NONE
    changes, states, tells, answers = text.states
    known = state.index(index)
    who, said = turn.agent or turn.role, turn.content[:MAX_TEXT]
    words = words_of(text.terms, text.names, said)
    reading = read(said) if tells > 0 else None
    if reading:
        words += keyed(reading, who)
    effort = known.threaded[1] if known.threaded[0] == turn.id else ""
    new = Statement(
        turn.id, known.count, turn.at, turn.session, who, turn.role, said, words, states, text.kinds, effort,
        changes,
    )  # fmt: skip
    out: list[Derived] = []
    may_change = turn.role == "user" and changes > MAY_CHANGE
    if turn.role == "assistant" and answers >= TAKES_NOTE and (asked := known.answered(turn.session)) and asked.meant:
        _answer(params, state, turn, asked, answers, out)
    for belief in beliefs(said, turn.role == "user")[:MAX_BELIEFS]:
        _believe(_told(state, turn.id, turn.at), turn.space, turn.id, who, belief)
    if reading or may_change:
        shared = known.shared(words)
        if reading:
            near = known.near(shared, turn.session, who, bool(reading.acts & CHANGING))
            out += _compared(params, state, known, turn, reading, near)
        if may_change:
            meant = known.meant(shared, new, text.names)
            _doubt(params, state, turn, new, known.alike(new, meant) if params.alike else meant, out)
    state.put(f"slot/{known.enter(new)}", new)
    told = state.get(f"turn/{turn.id}", Told)
    return [*_stated(turn, turn.id, turn.role, told.beliefs), *out] if told else out


def _threaded(
    params: ContradictionsParams, state: State, event: TurnThreaded, raw: Raw[TurnRecorded]
) -> Sequence[Derived]:
    """Which effort the turn belongs to that is read next."""
    state.index(index).threaded = event.turn, event.effort
    return _NONE


def _rethreaded(params: ContradictionsParams, state: State, event: TurnRethreaded, raw: Raw[Any]) -> Sequence[Derived]:
    """A recent turn belongs to another effort than first thought."""
    if found := state.index(index).rethread(event.turn, event.effort):
        slot, statement = found
        state.put(f"slot/{slot}", statement)
    return _NONE


def _doubt(
    params: ContradictionsParams, state: State, turn: TurnRecorded, new: Statement, meant: Sequence[Meant],
    out: list[Derived],
) -> None:  # fmt: skip
    """Suspects a statement of taking the place of those that it most likely means, unless more is known of it, or it
    says again what was said; of the likeliest it does take the place where that is as good as sure."""
    is_said_again = any(one.rare and {*new.words} <= {*one.statement.words} for one in meant)
    if is_said_again or any(isinstance(event, BeliefConfirmed) and event.turn == new.turn for event in out):
        return
    score_of = doubt_alike if params.alike else doubt
    glanced = sorted([(score_of(doubt_signals(new.changes, new, one)), one) for one in meant], key=lambda one: -one[0])
    glanced = [one for one in glanced[:LIKELIEST] if one[0] >= LEAST]
    if not glanced:
        return
    agents = state.index(index).agents(new.session)
    own, looked = looks(new, glanced, agents)
    all_own = means(own)
    scored = [(all_own + more(seen), one, seen) for seen, (_, one) in zip(looked, glanced, strict=True)]
    scored.sort(key=lambda one: -one[0])
    rows = standing(new, [(score, one) for score, one, _ in scored])
    likely: list[Likely] = []
    for score, one, seen in scored[:MAX_DOUBTS]:
        values = rows[len(likely)] if len(likely) < len(rows) else []
        sure = likelihood(CERTAIN.score("told", values)) if score >= AT_ONCE else 0.0
        likely.append(Likely(one.statement, likelihood(score), sure, seen))
        new.meant.append([one.statement.turn, score, values])
    enough = max(params.among, params.suspected) if agents == "people" else params.suspected
    _settle(state, turn, new, likely, lambda seen: CLOSER.why([*own, *seen], "means"), enough, params.inferred, out)


def _answer(
    params: ContradictionsParams, state: State, turn: TurnRecorded, asked: Statement, answers: int, out: list[Derived]
) -> None:
    """The agent's answer, which takes note of a change, makes likelier what the turn that it answers may change."""

    def why(_: Sequence[str]) -> list[tuple[str, int]]:
        found = WEIGHTS.why(seen_of(asked.text, asked.role), "changes")
        answer = WEIGHTS.why(seen_of(turn.content, turn.role), "answers")
        return sorted([*found, *[(f"answer {one}", worth) for one, worth in answer]], key=lambda one: -one[1])

    likely = []
    for score, older, values in state.index(index).remembered(asked):
        both = [*values, *answered(asked, older, turn.content, answers)] if values else []
        sure = likelihood(CERTAIN.score("answered", both)) if both else 0.0
        likely.append(Likely(older, likelihood(score + answers), sure, []))
    _settle(state, turn, asked, likely, why, params.answered, params.confirmed, out)


def _settle(
    state: State, turn: TurnRecorded, new: Statement, likely: Sequence[Likely],
    why: Callable[[list[str]], list[tuple[str, int]]], suspected: float, inferred: float, out: list[Derived],
) -> None:  # fmt: skip
    """What becomes, as `turn` shows, of the statements that one most likely means."""
    told = state.get(f"turn/{new.turn}", Told)
    if told and (told.retracted or told.older or told.newer or (told.doubts and new.turn == turn.id)):
        return
    for statement, doubtful, sure, seen in likely:
        older = state.get(f"turn/{statement.turn}", Told)
        if older and (older.retracted or older.newer):
            continue
        told = state.get(f"turn/{new.turn}", Told)
        if sure >= inferred and not (told and told.older):
            _told(state, new.turn, new.at)
            held = _told(state, statement.turn, statement.at)
            _link(state, turn, new.turn, statement.turn, next(iter(held.beliefs), ""), "inferred", sure, out)
        elif doubtful >= suspected and not (told and statement.turn in told.doubts):
            _suspect(state, turn, (new.turn, new.at), (statement.turn, statement.at), doubtful, why(seen), out)


def _compared(
    params: ContradictionsParams,
    state: State,
    known: Index,
    turn: TurnRecorded,
    reading: Reading,
    near: Sequence[tuple[int, Setting]],
) -> list[Derived]:
    """What a turn states plainly, and what of the older it takes the place of, says again or puts in doubt."""
    pairs: list[Found] = []
    again: tuple[Statement, tuple[Clause, Clause]] | None = None
    words = words_seen(turn.content[:MAX_TEXT])
    for slot, setting in near:
        other = known.slots[slot]
        late = other.at > turn.at
        newer, older = (read(other.text), reading) if late else (reading, read(other.text))
        same = said_again(newer, older, setting.same_speaker)
        if same and not late:
            again = other, same
        judged = judge(newer, older, setting, words_seen(other.text) if late else words)
        if judged is not None and judged.clauses != same:
            ends = (
                ((other.turn, other.at), (turn.id, turn.at)) if late else ((turn.id, turn.at), (other.turn, other.at))
            )
            pairs.append(Found(*ends[0], *ends[1], judged))
    pairs.sort(key=lambda pair: (pair.older_at, pair.newer_at))
    told = _told(state, turn.id, turn.at)
    out: list[Derived] = []
    doubts: list[Found] = []
    least = max(params.unsure, params.suspected)
    for pair in pairs:
        sure = likelihood(pair.judged.score)
        if sure >= least and _stands(state, pair):
            if sure < params.sure:
                doubts.append(pair)
            else:
                _replace(state, turn, pair, sure, out)
    if doubts and not told.older and not told.newer:
        best = max(doubts, key=lambda pair: pair.judged.score)
        ends = (best.newer, best.newer_at), (best.older, best.older_at)
        _suspect(state, turn, *ends, likelihood(best.judged.score), best.judged.why(), out)
    if again and not told.older:
        out.insert(0, _confirm(state, turn, told, *again))
    return out


def _told(state: State, turn: str, at: int) -> Told:
    found = state.get(f"turn/{turn}", Told)
    if found is None:
        found = Told(at)
        state.put(f"turn/{turn}", found)
    return found


def _stands(state: State, pair: Found) -> bool:
    """Whether nothing said before the newer took the older's place, and neither was taken back."""
    older, newer = state.get(f"turn/{pair.older}", Told), state.get(f"turn/{pair.newer}", Told)
    if newer is not None and (newer.retracted or len(newer.older) >= MAX_LINKS):
        return False
    return older is None or not (older.retracted or any(at <= pair.newer_at for at in older.newer.values()))


def _believe(told: Told, space: str, turn: str, who: str, belief: Belief) -> str:
    """Adds a belief to what a turn states; its attribute."""
    if belief.attribute not in told.beliefs:
        chain = derived_id("chain", space, f"{turn}\0{belief.attribute}")
        told.beliefs[belief.attribute] = [who if belief.mine else "", belief.value, belief.affirmed, chain, 0]
    return belief.attribute


def _of(told: Told, clause: Clause) -> str:
    """The attribute of what a turn states that a clause says: whose value is said in it; "" for none."""
    words = {*clause.said.split()}
    for of, (_, said, *_) in told.beliefs.items():
        value = said.split()
        if value and 2 * len(words.intersection(value)) > len(value):
            return of
    return ""


def _stated(cause: TurnRecorded, turn: str, role: str, beliefs: dict[str, list[Any]]) -> list[BeliefStated]:
    return [
        BeliefStated(cause.space, cause.session, cause.at, turn, role, whose, of, said, affirmed, chain, place)
        for of, (whose, said, affirmed, chain, place) in beliefs.items()
    ]


def _stated_before(cause: TurnRecorded, statement: Statement, belief: dict[str, list[Any]]) -> list[Derived]:
    """What a turn of before states, as this one shows: with what is known of that turn."""
    return [
        replace(stated, by=statement.who, said_in=statement.session, said_at=statement.at, said=statement.text)
        for stated in _stated(cause, statement.turn, statement.role, belief)
    ]


def _replace(state: State, turn: TurnRecorded, pair: Found, sure: float, out: list[Derived]) -> None:
    """The newer of a pair takes the older's place, in a chain of one attribute."""
    known, (new, old) = state.index(index), pair.judged.clauses
    newer, older = _told(state, pair.newer, pair.newer_at), _told(state, pair.older, pair.older_at)
    of = _of(older, old)
    if not of:
        statement = known.slots[known.turns[pair.older]] if pair.older != turn.id else None
        who = statement.who if statement else turn.agent or turn.role
        of = _believe(
            older,
            turn.space,
            pair.older,
            who,
            Belief(old.mine or old.who == "me", attribute(old), value(old), not old.negated),
        )
        if statement:
            out += _stated_before(turn, statement, {of: older.beliefs[of]})
    whose, _, _, chain, place = older.beliefs[of]
    _, said, affirmed, *_ = newer.beliefs.pop(_of(newer, new), None) or ["", value(new), not new.negated]
    newer.beliefs[of] = [whose, said, affirmed, chain, place + 1]
    if pair.newer != turn.id:
        out += _stated_before(turn, known.slots[known.turns[pair.newer]], {of: newer.beliefs[of]})
    for between, at in [*older.newer.items()]:
        if at > pair.newer_at:
            _unlink(state, turn, between, pair.older, out, False)
    _link(state, turn, pair.newer, pair.older, of, rule_of(pair.judged), sure, out)


def _link(
    state: State, cause: TurnRecorded | TurnRetracted | ContradictionJudged, newer_id: str, older_id: str, of: str,
    rule: str, sure: float, out: list[Derived],
) -> None:  # fmt: skip
    newer, older = _told(state, newer_id, cause.at), _told(state, older_id, cause.at)
    newer.older[older_id] = [of, rule, r6(sure)]
    older.newer[newer_id] = newer.at
    if older_id in newer.doubts:
        newer.doubts.remove(older_id)
        older.doubted.remove(newer_id)
    none = ["", "", True, derived_id("chain", cause.space, older_id), 0]
    held = older.beliefs.get(of, none)
    out.append(
        BeliefContradicted(
            cause.space, cause.session, cause.at, newer_id, older_id, held[0], of, newer.beliefs.get(of, none)[1],
            held[1], rule, r6(sure), held[3], held[4] + 1,
        )
    )  # fmt: skip
    state.put(f"turn/{newer_id}", newer)
    state.put(f"turn/{older_id}", older)


def _unlink(
    state: State, cause: TurnRecorded | TurnRetracted | ContradictionJudged, newer_id: str, older_id: str,
    out: list[Derived], current: bool,
) -> None:  # fmt: skip
    """A link, or a suspicion, is gone."""
    newer, older = _told(state, newer_id, cause.at), _told(state, older_id, cause.at)
    of = newer.older.pop(older_id, [next(iter(older.beliefs), "")])[0]
    older.newer.pop(newer_id, None)
    if older_id in newer.doubts:
        newer.doubts.remove(older_id)
        older.doubted.remove(newer_id)
    whose, said, _, chain, _ = older.beliefs.get(of, ["", "", True, derived_id("chain", cause.space, older_id), 0])
    if older.retracted:  # its words are told no more
        said = ""
    stands = current and not older.newer and not older.retracted
    out.append(BeliefRestored(cause.space, cause.session, cause.at, older_id, newer_id, whose, of, said, stands, chain))
    state.put(f"turn/{newer_id}", newer)
    state.put(f"turn/{older_id}", older)


def _suspect(
    state: State, turn: TurnRecorded, new: tuple[str, int], old: tuple[str, int], sure: float,
    why: Sequence[tuple[str, int]], out: list[Derived],
) -> None:  # fmt: skip
    """The newer of two turns, each with its time, may take the older's place."""
    newer, older = _told(state, *new), _told(state, *old)
    if len(older.doubted) >= MAX_LINKS or len(newer.doubts) >= MAX_LINKS:
        return
    newer.doubts.append(old[0])
    older.doubted.append(new[0])
    state.put(f"turn/{new[0]}", newer)
    state.put(f"turn/{old[0]}", older)
    of, (whose, was, *_) = next(iter(older.beliefs.items()), ("", ("", "")))
    _, now, *_ = newer.beliefs.get(of) or next(iter(newer.beliefs.values()), ("", ""))
    spoke = [signal for signal, weight in why if weight > 0][:5]
    out.append(
        ContradictionSuspected(turn.space, turn.session, turn.at, new[0], old[0], whose, of, now, was, sure, spoke)
    )


def _confirm(
    state: State, turn: TurnRecorded, told: Told, older: Statement, same: tuple[Clause, Clause]
) -> BeliefConfirmed:
    """A turn says again what was said."""
    new, old = same
    before = _told(state, older.turn, older.at)
    of = _of(before, old)
    whose, _, affirmed, chain, place = before.beliefs.get(of, ["", "", True, "", 0])
    if of:
        _, said, *_ = told.beliefs.pop(_of(told, new), None) or ["", value(new)]
        told.beliefs[of] = [whose, said, affirmed, chain, place]
    return BeliefConfirmed(turn.space, turn.session, turn.at, turn.id, older.turn, whose, of or attribute(old), chain)


def _retracted(
    params: ContradictionsParams, state: State, fact: TurnRetracted, raw: Raw[TurnRetracted]
) -> list[Derived]:
    """What the turn took the place of stands again, unless what took the turn's place takes that, too."""
    known = state.index(index)
    if (slot := known.turns.get(fact.turn)) is not None and known.slots[slot].words:
        state.put(f"slot/{slot}", known.silence(slot))
    told = state.get(f"turn/{fact.turn}", Told)
    if told is None or told.retracted:
        return []
    told.retracted = True
    out: list[Derived] = []
    joined = [(newer, older, *told.older[older]) for newer in told.newer for older in told.older]
    for older in [*told.older, *told.doubts]:
        _unlink(state, fact, fact.turn, older, out, not told.newer)
    for newer in [*told.newer, *told.doubted]:
        _unlink(state, fact, newer, fact.turn, out, False)
    for newer, older, of, rule, sure in joined:
        _link(state, fact, newer, older, of, rule, sure, out)
    state.put(f"turn/{fact.turn}", told)
    return out


def _judged(
    params: ContradictionsParams, state: State, fact: ContradictionJudged, raw: Raw[ContradictionJudged]
) -> list[Derived]:
    """A judgment makes a link, confirms one or dissolves it, and settles a doubt."""
    if fact.turn == fact.older or fact.confidence < params.heard:
        return []
    newer, older = state.get(f"turn/{fact.turn}", Told), state.get(f"turn/{fact.older}", Told)
    if any(told is not None and told.retracted for told in (newer, older)):
        return []
    out: list[Derived] = []
    link = newer.older.get(fact.older) if newer else None
    doubted = newer is not None and fact.older in newer.doubts
    if not fact.contradicts:
        if link or doubted:
            _unlink(state, fact, fact.turn, fact.older, out, True)
        return out
    of = link[0] if link else next(iter(older.beliefs), "") if older else ""
    full = not link and newer is not None and len(newer.older) >= MAX_LINKS
    if not full and link != [of, "judged", r6(fact.confidence)]:
        _link(state, fact, fact.turn, fact.older, of, "judged", fact.confidence, out)
    return out


Record = BeliefContradicted | BeliefRestored | ContradictionSuspected
R = TypeVar("R", BeliefContradicted, ContradictionSuspected)
Relation = tuple[str, str, str, str, str, float]
"""Newer and older turn, both values, the rule, how sure."""


def holding(params: ContradictionsParams, records: Sequence[Record]) -> list[Relation]:
    """The links that hold, given the last record of each kind in the order told."""
    held = _standing(records, BeliefContradicted, BeliefRestored)
    return [(k.turn, k.older, k.value, k.older_value, k.rule, k.confidence) for k in held]


def doubted(params: ContradictionsParams, records: Sequence[Record]) -> list[Relation]:
    """The suspicions that wait for a judgment, likewise."""
    held = _standing(records, ContradictionSuspected, BeliefContradicted, BeliefRestored)
    return [(k.turn, k.older, k.value, k.older_value, "suspected", k.confidence) for k in held]


def _standing(records: Sequence[Record], kind: type[R], *ends: type[Record]) -> Iterable[R]:
    """The records of a kind, one for each pair of turns, after which none came that ends what they tell of it."""
    held: dict[tuple[str, str], R] = {}
    for told in records:
        pair = (told.newer, told.turn) if isinstance(told, BeliefRestored) else (told.turn, told.older)
        if isinstance(told, kind):
            held[pair] = told
        elif isinstance(told, ends):
            held.pop(pair, None)
    return held.values()


PROCESSOR = Processor(
    name="contradictions",
    version=16,
    params=ContradictionsParams,
    reads=(RAW, "open_efforts"),
    takes=(
        on(TurnThreaded, _threaded),
        on(TurnRethreaded, _rethreaded),
        on(TurnRecorded, _turn),
        on(TurnRetracted, _retracted),
        on(ContradictionJudged, _judged),
    ),
    emits=(BeliefStated, BeliefConfirmed, BeliefContradicted, ContradictionSuspected, BeliefRestored),
    read_model=read_model(
        __package__,
        jobs=JOBS,
        keeps=(
            Keep(BeliefContradicted, ("turn", "older")),
            Keep(BeliefRestored, ("newer", "turn")),
            Keep(ContradictionSuspected, ("turn", "older")),
        ),
        readings={"contradicted": holding, "doubted": doubted},
    ),
)
