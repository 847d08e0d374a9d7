"""Tasks: the few things that are being done, what each waits for, and what becomes of those for which there is no room.

At most 4 are active. A new one takes a free slot where its priority is above .5; where all are taken, it must be above
1.3 times that of the lowest active one, which is set aside and keeps how it stood. Others are set aside, too, from
.3 on, and deferred below. When a slot is free again, the best of those set aside above .5 takes it and goes on where
it was; so does one that the talk comes to. What is blocked keeps its slot, however long nothing is said of it; one that
could go on holds its own less firmly with time:

    firmness = priority * 0.5 ** (hours since it was last spoken of / 24)

A task is declared (`task-declared`, `task-updated`), or it is made of talk: what an effort first asks for, done when
the effort is concluded, or when a note of that request is settled, open again when either goes on. One that was
declared ends by such a fact, or by talk that says in its own words that it is done; a later fact on how it stands opens
it again. What is asked to hold from then on (see standing) is a wish to keep to, and no task. Talk is about the task of
its effort, or the one with whose words it shares enough. "Waiting for…", "half done", "the next step is…", "it should
take three hours" move that task; what says that the thing waited for is there unblocks whichever waits for it.

Source: three-column working memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from processors.open_efforts import EffortConcluded, EffortOpened, EffortRated, EffortResumed, TurnThreaded
from processors.standing import StandingTold
from processors.tasks.cues import STANDS, Said, asked, cut, frees, frees_by_name, request, said, urgency
from processors.tasks.events import Place, Status, TaskChanged, TaskTurnedTo
from processors.tasks.params import TasksParams
from processors.tasks.section import SECTIONS, SHOWN
from processors.ttl_escalations.events import NoteClosed, NoteMoved, NoteOpened, NoteReopened
from streams.core.events import HOUR, MINUTE, NoteSettled, TaskDeclared, TaskUpdated, TurnRecorded, TurnRetracted
from streams.core.processor import RAW, Derived, Processor, Raw, State, derived_id, on, r6
from streams.core.read_model import Documents, Group, Joins, Keep, read_model
from streams.core.text.commonness import CLASSES
from streams.core.text.learned import likelihood
from streams.core.text.terms import terms

__all__ = ["PROCESSOR", "TaskChanged", "TaskTurnedTo", "TasksParams"]

STEMS, STEM = 8, 24
"""Stems kept of a task and of what it waits for; characters of one."""
FREED = 12
"""Tasks that go on at once when the one that they waited for ends; the others go on with the next events."""
ANOTHER = 3
"""Telling stems of a request that is another task than the one its effort is about: fewer only add to that."""
OFTEN = 30 * MINUTE
"""How often it is written down that a task was spoken of."""
_ASKING = frozenset(("opening", "asks"))
"""Cues of a turn that may ask for work."""
_GOING_ON = ("planning", "executing", "blocked", "awaiting_input")
_NONE: tuple[Derived, ...] = ()


@dataclass(slots=True)
class Task:
    """State, `task/<id>`, and `ended/<id>` once it ended."""

    content: str
    source: Any
    turn: str
    at: int
    priority: float
    stems: list[str]
    status: Status = "planning"
    place: Place = "deferred"
    progress: float = 0.0
    step: str = ""
    reason: str = ""
    waits: list[str] = field(default_factory=list)
    """Stems of what it waits for."""
    needs: list[str] = field(default_factory=list)
    """Tasks that are to be done before, by id."""
    estimate: float = 0.0
    started: int = 0
    touched: int = 0
    """When it was last spoken of."""
    talked: bool = False
    """Whether talk ended it, and no fact did."""
    may_stand: bool = False
    """Whether what asks for it may turn out to hold from then on, as the answer takes it."""

    @property
    def waits_for_none(self) -> bool:
        """Whether it is blocked, and nothing that it waited for is left."""
        return self.status == "blocked" and not self.needs and not self.waits


@dataclass(slots=True)
class Ids:
    """State, `slots`: the active tasks."""

    ids: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Link:
    """State, `effort/<id>`, `turn/<id>`, `note/<id>`: the task it is about; `talk/<session>`: the one spoken of last;
    `needing/<hash of an id>/<id>`: a task that waits for another; `freeing/<hash of an id>`: one that ended, while
    some that waited for it are still to be told."""

    task: str


class _Live:
    """The tasks that have not ended, by their words, and those that are blocked: an index of the records."""

    __slots__ = ("blocked", "termed")

    def __init__(self, state: State) -> None:
        self.termed: dict[str, list[str]] = {}
        self.blocked: set[str] = set()
        for key, task in state.scan("task/", Task):
            self.add(key.removeprefix("task/"), task)

    def add(self, id: str, task: Task) -> None:
        self.stands(id, task)
        for stem in task.stems:
            of = self.termed.setdefault(stem, [])
            of.append(id)
            of.sort()

    def stands(self, id: str, task: Task) -> None:
        """Its status may be another."""
        if task.status == "blocked":
            self.blocked.add(id)
        else:
            self.blocked.discard(id)

    def drop(self, id: str, task: Task) -> None:
        self.blocked.discard(id)
        for stem in task.stems:
            self.termed[stem].remove(id)
            if not self.termed[stem]:
                del self.termed[stem]


@dataclass(slots=True)
class _Desk:
    """The tasks of a space, for what one event changes of them."""

    params: TasksParams
    state: State
    cause: Any
    by: str
    now: int
    out: list[Derived] = field(default_factory=list)

    @property
    def slots(self) -> list[str]:
        """The active tasks."""
        held = self.state.get("slots", Ids)
        return held.ids if held is not None else []

    def task(self, id: str) -> Task | None:
        """A task that has not ended."""
        return self.state.get(f"task/{id}", Task) if id else None

    def linked(self, key: str) -> tuple[str, Task | None]:
        """What a `Link` at a key names, "" for none, and that task, where it has not ended."""
        link = self.state.get(key, Link)
        id = link.task if link is not None else ""
        return id, self.task(id)

    def begin(self, id: str, task: Task) -> None:
        """A task is one of those that have not ended."""
        live = self.state.index(_Live)
        self.state.put(f"task/{id}", task)
        live.add(id, task)

    def tell(self, id: str, task: Task, change: str) -> None:
        """Keeps a task, and tells how it stands."""
        cause, ended = self.cause, task.place == "ended"
        self.state.put(f"{'ended' if ended else 'task'}/{id}", task)
        if not ended:
            self.state.index(_Live).stands(id, task)
        needs = [(self.task(one) or self.state.get(f"ended/{one}", Task)) for one in task.needs]
        named = [cut(one.content) if one else name for name, one in zip(task.needs, needs, strict=True)]
        self.out.append(
            TaskChanged(
                cause.space, cause.session, cause.at, id, change, task.content, task.status, task.place,
                r6(task.priority), r6(task.progress), task.step, task.reason, named, r6(task.estimate), task.started,
                task.source, task.turn, self.by,
            )
        )  # fmt: skip

    def firmness(self, task: Task) -> float:
        """How firmly a task holds its slot."""
        if task.status in ("blocked", "awaiting_input"):
            return task.priority
        hours = max(0, self.now - task.touched) / HOUR
        return r6(task.priority * 0.5 ** (hours / self.params.idle))

    def enter(self, id: str, task: Task, change: str, spoken: bool = False) -> None:
        """A task without a slot asks for one; `spoken`: the talk is about it, and any free one will do."""
        params, slots = self.params, self.slots
        self._aside(id, task, False)
        if len(slots) < params.active:
            fits = spoken or task.priority > params.free
        else:
            firm = {one: self.firmness(held) for one in slots if (held := self.task(one)) is not None}
            lowest = min(slots, key=lambda one: firm.get(one, 0.0))
            fits = task.priority > params.beats * firm.get(lowest, 0.0)
            if fits:
                slots = [one for one in slots if one != lowest]
                if (held := self.task(lowest)) is not None:
                    held.place = "aside"
                    self._aside(lowest, held, True)
                    self.tell(lowest, held, "demoted")
        if fits:
            change = change or ("resumed" if task.started else "admitted")
            task.place, task.started, task.touched = "active", task.started or self.now, self.now
            self.state.put("slots", Ids([*slots, id]))
            self.tell(id, task, change)
            return
        before, task.place = task.place, "aside" if task.priority >= params.moderate else "deferred"
        self._aside(id, task, True)
        if change or before != task.place:
            self.tell(id, task, change or ("set_aside" if task.place == "aside" else "deferred"))

    def _aside(self, id: str, task: Task, kept: bool) -> None:
        """Whether a task stands among those set aside, the most important first."""
        key = f"aside/{round((1 - task.priority) * 1e6):07}/{task.at:020}/{id}"
        if kept:
            self.state.put(key, Link(id))
        else:
            self.state.delete(key)

    def rate(self, id: str, task: Task, priority: float) -> None:
        """A task has another priority; one that is set aside asks for a slot again. Where it stays where it is, that is
        left to be told."""
        self._aside(id, task, False)
        task.priority = priority
        if task.place != "active":
            self.enter(id, task, "")

    def end(self, id: str, task: Task, status: Any, reason: str, change: str = "") -> None:
        """A task is over: its slot is free, those that waited for it go on, and the best set aside takes the slot."""
        self._aside(id, task, False)
        self.state.index(_Live).drop(id, task)
        self.state.delete(f"task/{id}")
        task.status, task.place, task.reason, task.waits = status, "ended", cut(reason), []
        task.progress = 1.0 if status == "complete" else task.progress
        task.talked = not isinstance(self.cause, TaskUpdated | TurnRetracted)
        slots = self.slots
        if id in slots:
            self.state.put("slots", Ids([one for one in slots if one != id]))
        self.tell(id, task, change or status)
        self.free(id)
        best = self.state.scan("aside/", Link, 1)
        if id in slots and best and (first := self.task(best[0][1].task)) and first.priority > self.params.free:
            self.enter(best[0][1].task, first, "")

    def free(self, id: str) -> None:
        """Those that waited for a task that ended go on, as many as may at once."""
        freeing = f"freeing/{id}"
        waiting = self.state.keys(_needing(id), FREED + 1) if _is_done(self.state, id) else []
        for key in waiting[:FREED]:
            self.state.delete(key)
            one = key.removeprefix(_needing(id))
            other = self.task(one)
            if other is not None and id in other.needs:
                other.needs.remove(id)
                if other.waits_for_none:
                    self.unblock(one, other)
                else:
                    self.state.put(f"task/{one}", other)
        if len(waiting) > FREED:
            self.state.put(freeing, Link(id))
        else:
            self.state.delete(freeing)

    def free_others(self) -> None:
        """Those go on for which there was no room in the event that ended what they waited for."""
        for _, ended in self.state.scan("freeing/", Link, 1):
            self.free(ended.task)

    def unblock(self, id: str, task: Task) -> None:
        """What a task waited for is there."""
        task.status, task.reason, task.waits = "executing", "", []
        self.tell(id, task, "unblocked")

    def reopen(self, id: str, task: Task) -> None:
        """A task that ended goes on; what of it is done is not known where all of it was."""
        self.state.delete(f"ended/{id}")
        task.progress = task.progress if task.progress < 1 else 0.0
        task.status, task.reason, task.touched, task.talked = "executing", "", self.now, False
        self.begin(id, task)
        self.enter(id, task, "reopened")

    def block(self, task: Task, reason: str) -> None:
        """A task waits for something."""
        task.status, task.reason, task.waits = "blocked", cut(reason), stems_of(reason)

    def meant(self, task: Task, text: str) -> bool:
        """Whether a text means a task: it shares a word with one that was made of talk, and with one that somebody
        declared at least half of what its words say."""
        said = stems_of(text)
        if task.source == "talk":
            return not set(said).isdisjoint(task.stems)
        shared = self.weight(stem for stem in task.stems if stem in said)
        return shared > 0 and shared + 1e-9 >= self.params.same * self.weight(task.stems)

    @property
    def weights(self) -> tuple[float, float, float, float]:
        """What a shared stem says, by its class."""
        return (0.0, self.params.common, self.params.ordinary, self.params.rare)

    def weight(self, stems: Iterable[str]) -> float:
        """What stems say together."""
        weights = self.weights
        return sum(weights[CLASSES[stem]] for stem in stems)

    def alike(
        self, said: Sequence[str], known: str = "", enough: float = 0.0, asked: Sequence[str] | None = None
    ) -> str:
        """The task with whose words a turn's stems share `enough`, the most, `known` where it is one of those; and of
        what a request says (`asked`, its stems) and the task together at least `params.same`. "" for none."""
        termed = self.state.index(_Live).termed
        if termed.keys().isdisjoint(said):
            return ""
        params, sums = self.params, dict[str, float]()
        weights = self.weights
        for stem in said:
            ids = termed.get(stem[:STEM], ())
            if len(ids) <= params.alike:
                for id in ids:
                    sums[id] = sums.get(id, 0.0) + weights[CLASSES[stem]]
        best = max(sums, key=lambda id: (r6(sums[id]), id == known, id), default="")
        task = self.task(best)
        if task is None or sums[best] + 1e-9 < (enough or params.enough):
            return ""
        if asked is not None:
            shared = self.weight(stem for stem in task.stems if stem in asked)
            both = self.weight(task.stems) + self.weight(asked)
            if not shared or 2 * shared + 1e-9 < params.same * both:  # Dice's coefficient
                return ""
        return best


def _needing(id: str) -> str:
    """What the keys of the tasks begin with that wait for one. Why a hash: an id may have any character."""
    return f"needing/{derived_id('id', '', id)}/"


def stems_of(text: str) -> list[str]:
    """The stems of a text that tell it apart."""
    return [stem[:STEM] for stem in terms(text)[0] if CLASSES[stem]][:STEMS]


def _opened(params: TasksParams, state: State, effort: EffortOpened, raw: Raw[Any]) -> Sequence[Derived]:
    """Work that begins with a request is a task, unless a task speaks of it already."""
    turn = raw.event
    if not isinstance(turn, TurnRecorded) or turn.role != "user" or turn.id != effort.turn:
        return _NONE
    desk = _Desk(params, state, turn, turn.id, raw.now)
    _ask(desk, effort.effort, raw)
    return desk.out


def _ask(desk: _Desk, effort: str, raw: Raw[TurnRecorded], least: int = 0) -> None:
    """What a turn asks for, in `least` telling words, is a task, unless its words are those of one that is known."""
    params, state, turn = desk.params, desk.state, raw.event
    text, may_stand = asked(turn.content, raw.text.standing)
    stems = stems_of(text)
    if known := desk.alike(raw.text.terms, asked=stems):
        state.put(f"effort/{effort}", Link(known))
        return
    if not text or len(stems) < least:
        return
    id, haste = derived_id("task", turn.space, turn.id), urgency(turn.content)
    priority = params.urgent if haste > 0 else params.someday if haste < 0 else params.asked
    task = Task(text, "talk", turn.id, turn.at, priority, stems, touched=raw.now, may_stand=may_stand)
    state.put(f"effort/{effort}", Link(id))
    state.put(f"turn/{turn.id}", Link(id))
    desk.begin(id, task)
    desk.enter(id, task, "")


def _said(params: TasksParams, state: State, threaded: TurnThreaded, raw: Raw[Any]) -> Sequence[Derived]:
    """What a turn says of its task, and of what others wait for."""
    turn = raw.event
    if not isinstance(turn, TurnRecorded) or turn.role not in ("user", "assistant"):
        return _NONE
    talk = state.get(f"talk/{turn.session}", Link)
    desk = _Desk(params, state, turn, turn.id, raw.now)
    desk.free_others()
    effort = threaded.effort
    if effort and turn.role == "user" and not _ASKING.isdisjoint(raw.text.cues):
        link = state.get(f"effort/{effort}", Link)
        if state.get(f"turn/{turn.id}", Link) is None:
            _ask(desk, effort, raw, 0 if link is None else ANOTHER)
    live = state.index(_Live)
    if talk is None and not live.termed:
        return desk.out
    before = talk.task if talk is not None else ""
    told = said(turn.content, turn.role)
    id = _about(desk, effort, before, told.done, raw)
    if id != before:
        state.put(f"talk/{turn.session}", Link(id))
        desk.out.append(TaskTurnedTo(turn.space, turn.session, turn.at, id, turn.id))
    for one in desk.slots if live.blocked else ():
        waiting = desk.task(one) if one in live.blocked else None
        if waiting is None:
            continue
        if (not set(waiting.waits).isdisjoint(raw.text.terms) and frees(turn.content, waiting.waits)) or (
            one == id and frees_by_name(turn.content)
        ):
            desk.unblock(one, waiting)
            return desk.out
    if (task := desk.task(id)) is not None:
        _move(desk, id, task, turn, told)
    return desk.out


def _about(desk: _Desk, effort: str, before: str, done: str, raw: Raw[TurnRecorded]) -> str:
    """The task that a turn is about: the one with half of the words that are said to be `done`, else the one whose
    words it shares, else the one its effort was last about. A word aside changes nothing."""
    state = desk.state
    linked, task = desk.linked(f"effort/{effort}")
    known = linked if task is not None else ""
    if done and (stems := stems_of(done)):
        enough = min(desk.params.enough, desk.params.same * desk.weight(stems))
        if named := desk.alike(stems, known or before, enough):
            return named
    if found := desk.alike(raw.text.terms, known or before):
        if effort and found != known:
            state.put(f"effort/{effort}", Link(found))
        return found
    if effort:
        return known
    return before if desk.task(before) is not None else ""


def _move(desk: _Desk, id: str, task: Task, turn: TurnRecorded, told: Said) -> None:
    """The talk is about a task: it asks for a slot where it has none, and stands as the turn says."""
    if desk.now - task.touched >= OFTEN:
        task.touched = desk.now
        desk.state.put(f"task/{id}", task)
    if task.place != "active" and task.turn != turn.id:
        desk.enter(id, task, "", spoken=True)
    if told.dropped:
        desk.end(id, task, "dropped", turn.content)
        return
    if told.done and desk.meant(task, told.done):
        desk.end(id, task, "complete", told.done)
        return
    changed = ""
    if told.waits and told.waits != task.reason:
        desk.block(task, told.waits)
        changed = "blocked"
    elif told.asks and task.status != "awaiting_input":
        task.status, task.reason, task.waits = "awaiting_input", "an answer", []
        changed = "asked"
    elif turn.role == "user" and task.status == "awaiting_input":
        task.status, task.reason, changed = "executing", "", "answered"
    if told.share >= 0 and told.share != task.progress:
        task.progress, changed = told.share, changed or "moved"
    if told.hours and not task.estimate:
        task.estimate, changed = told.hours, changed or "moved"
    if told.step and told.step != task.step:
        task.step, changed = told.step, changed or "moved"
    if task.status == "planning" and (told.begun or told.step or told.share > 0):
        task.status, changed = "executing", changed or "moved"
    if changed:
        desk.tell(id, task, changed)


def _concluded(params: TasksParams, state: State, effort: EffortConcluded, raw: Raw[Any]) -> Sequence[Derived]:
    """A task that was made of talk is done with its effort."""
    desk = _Desk(params, state, effort, effort.turn, raw.now)
    id, task = desk.linked(f"effort/{effort.effort}")
    if task is not None and (task.source == "talk" or desk.meant(task, effort.conclusion)):
        desk.end(id, task, "complete", effort.conclusion)
    return desk.out


def _resumed(params: TasksParams, state: State, effort: EffortResumed, raw: Raw[Any]) -> Sequence[Derived]:
    """Work on it goes on: with its task, unless what resumes it asks for something else."""
    desk = _Desk(params, state, effort, effort.turn, raw.now)
    link = state.get(f"effort/{effort.effort}", Link)
    task = state.get(f"ended/{link.task}", Task) if link is not None else None
    turn = raw.event
    is_said = isinstance(turn, TurnRecorded) and turn.role == "user"
    wanted = request(turn.content, raw.text.standing) if is_said else ""
    if link is not None and task is not None and task.source == "talk":
        if not wanted or desk.meant(task, wanted):
            desk.reopen(link.task, task)
        else:
            state.delete(f"effort/{effort.effort}")
    return desk.out


def _rated(params: TasksParams, state: State, effort: EffortRated, raw: Raw[Any]) -> Sequence[Derived]:
    """What matters more asks for a slot."""
    desk = _Desk(params, state, effort, raw.event.id, raw.now)
    id, task = desk.linked(f"effort/{effort.effort}")
    if task is not None and task.source == "talk":
        before = task.priority
        desk.rate(id, task, params.urgent if effort.importance == "high" else params.asked)
        if not desk.out and before != task.priority:
            desk.tell(id, task, "rated")
    return desk.out


def _declared(params: TasksParams, state: State, fact: TaskDeclared, raw: Raw[TaskDeclared]) -> Sequence[Derived]:
    """An agent says what is to be done."""
    desk = _Desk(params, state, fact, fact.id, raw.now)
    desk.free_others()
    id = fact.task
    task, stems = desk.task(id), stems_of(fact.content)
    if task is None:
        state.delete(f"ended/{id}")
        task = Task(cut(fact.content), "declared", "", fact.at, fact.priority, stems, touched=raw.now)
        desk.begin(id, task)
    else:
        live = state.index(_Live)
        live.drop(id, task)
        task.content, task.source, task.stems = cut(fact.content), "declared", stems
        live.add(id, task)
    task.estimate = fact.estimate
    needed = task.needs
    task.needs = [one for one in dict.fromkeys(fact.depends_on) if one != id and not _is_done(state, one)]
    for one in task.needs:
        state.put(f"{_needing(one)}{id}", Link(id))
    if task.needs and task.status == "planning":
        task.status, task.waits = "blocked", []
    freed = bool(needed) and task.waits_for_none
    if freed:
        task.status, task.reason = "executing", ""
    if task.place == "active":
        task.priority = fact.priority
        desk.tell(id, task, "unblocked" if freed else "told")
    else:
        desk.rate(id, task, fact.priority)
        if not desk.out:
            set_aside = "set_aside" if task.place == "aside" else "deferred"
            desk.tell(id, task, "unblocked" if freed else "told" if task.started else set_aside)
    return desk.out


def _is_done(state: State, id: str) -> bool:
    return state.get(f"ended/{id}", Task) is not None


def _updated(params: TasksParams, state: State, fact: TaskUpdated, raw: Raw[TaskUpdated]) -> Sequence[Derived]:
    """An agent or a person says how a task stands. One that a fact ended, or that nobody knows, stays so."""
    desk = _Desk(params, state, fact, fact.id, raw.now)
    desk.free_others()
    link = state.get(f"turn/{fact.turn}", Link) if fact.turn and not fact.task else None
    id = fact.task or (link.task if link is not None else "")
    task = desk.task(id)
    ended = state.get(f"ended/{id}", Task) if task is None and fact.status in _GOING_ON else None
    if ended is not None and ended.talked:
        task = ended
        desk.reopen(id, task)
    if task is None:
        return desk.out
    if fact.status in ("complete", "dropped"):
        desk.end(id, task, fact.status, fact.reason)
        return desk.out
    before, task.touched = task.status, raw.now
    task.step = cut(fact.step) or task.step
    task.progress = fact.progress if fact.progress >= 0 else task.progress
    if fact.status == "blocked":
        desk.block(task, fact.reason or task.reason)
    elif fact.status:
        task.status, task.reason, task.waits = fact.status, cut(fact.reason), []
    elif fact.reason:
        task.reason = cut(fact.reason)
    if fact.priority >= 0 and fact.priority != task.priority:
        desk.rate(id, task, fact.priority)
    freed = before == "blocked" != task.status
    desk.tell(id, task, "unblocked" if freed else "blocked" if fact.status == "blocked" else "told")
    return desk.out


def _retracted(params: TasksParams, state: State, fact: TurnRetracted, raw: Raw[TurnRetracted]) -> Sequence[Derived]:
    """What was asked for in a turn that was taken back is no task."""
    desk = _Desk(params, state, fact, fact.turn, raw.now)
    id, task = desk.linked(f"turn/{fact.turn}")
    if task is not None and task.source == "talk":
        desk.end(id, task, "dropped", "", "retracted")
    return desk.out


def _stood(params: TasksParams, state: State, told: StandingTold, raw: Raw[Any]) -> Sequence[Derived]:
    """What was asked for turns out to hold from then on, likelier than not: a wish to keep to, which is never done, and
    no task."""
    desk = _Desk(params, state, told, raw.event.id, raw.now)
    id, task = desk.linked(f"turn/{told.turn}") if told.turn and told.status == "current" else ("", None)
    if task is not None and task.source == "talk" and task.may_stand and told.likelihood >= likelihood(STANDS):
        desk.end(id, task, "dropped", "", "stands")
        state.delete(f"ended/{id}")  # nothing opens it again
    return desk.out


def _moved(params: TasksParams, state: State, moved: NoteMoved, raw: Raw[Any]) -> Sequence[Derived]:
    """What was asked for was that a note waits for another time, which is done by that, and no task."""
    desk = _Desk(params, state, moved, raw.event.id, raw.now)
    id, task = desk.linked(f"turn/{moved.turn}") if moved.reason == "moved" else ("", None)
    if task is not None and task.source == "talk":
        desk.end(id, task, "dropped", "", "moves a note")
        state.delete(f"ended/{id}")  # nothing opens it again
    return desk.out


def _noted(params: TasksParams, state: State, note: NoteOpened, raw: Raw[Any]) -> Sequence[Derived]:
    """A note of the request that a task was made of is remembered: what settles the one ends the other."""
    desk = _Desk(params, state, note, note.turn, raw.now)
    id, task = desk.linked(f"turn/{note.turn}")
    if task is not None and desk.meant(task, note.content):
        state.put(f"note/{note.note}", Link(id))
    return _NONE


def _settled(params: TasksParams, state: State, note: NoteClosed, raw: Raw[Any]) -> Sequence[Derived]:
    """What was to be remembered is done, so the task is. Not where the note's own words do not stand any more."""
    desk = _Desk(params, state, note, note.turn or raw.event.id, raw.now)
    id, task = desk.linked(f"note/{note.note}")
    if task is not None and (note.turn or isinstance(raw.event, NoteSettled)):
        desk.end(id, task, "complete", note.resolution)
    return desk.out


def _unsettled(params: TasksParams, state: State, note: NoteReopened, raw: Raw[Any]) -> Sequence[Derived]:
    """What was said to be done is not: the task goes on, if talk ended it."""
    link = state.get(f"note/{note.note}", Link)
    desk = _Desk(params, state, note, note.turn or raw.event.id, raw.now)
    task = state.get(f"ended/{link.task}", Task) if link is not None else None
    if link is not None and task is not None and task.talked:
        desk.reopen(link.task, task)
    return desk.out


PROCESSOR = Processor(
    name="tasks",
    version=11,
    reads=(RAW, "open_efforts", "ttl_escalations", "standing"),
    params=TasksParams,
    takes=(
        on(EffortOpened, _opened),
        on(TurnThreaded, _said),
        on(EffortConcluded, _concluded),
        on(EffortResumed, _resumed),
        on(EffortRated, _rated),
        on(StandingTold, _stood),
        on(NoteOpened, _noted),
        on(NoteMoved, _moved),
        on(NoteClosed, _settled),
        on(NoteReopened, _unsettled),
        on(TaskDeclared, _declared),
        on(TaskUpdated, _updated),
        on(TurnRetracted, _retracted),
    ),
    emits=(TaskChanged, TaskTurnedTo),
    read_model=read_model(
        __package__,
        keeps=(Keep(TaskChanged, ("task",)), Keep(TaskTurnedTo, ("session",))),
        groups=(Group("tasks", "task", {TaskChanged: Joins(by="place")}),),
        sections=SECTIONS,
        documents=(
            Documents(
                "task",
                TaskChanged,
                "task",
                ("description", "step", "reason"),
                ("turn",),
                shown=SHOWN,
                open=("tasks", "active", "aside"),
            ),
        ),
        behind={
            "task": "(t.space, t.turn_id) IN (SELECT n.space, n.turn FROM tasks n "
            "WHERE n.task = $id AND n.turn IS NOT NULL)"
        },
    ),
)
