"""What each event does to the context of its session."""

from __future__ import annotations

from typing import Any

from processors.open_efforts import (
    EffortConcluded,
    EffortRated,
    EffortResumed,
    TurnRethreaded,
    TurnThreaded,
    TurnUnthreaded,
)
from processors.working_context.params import WorkingContextParams
from processors.working_context.record import (
    REVISED,
    Context,
    connect,
    context_of,
    effort_of,
    known,
    save,
    touch,
)
from processors.working_context.scoring import NOBODY, NOTHING, Scene
from streams.core.events import TurnRecorded
from streams.core.processor import Derived, Raw, State


def threaded(params: WorkingContextParams, state: State, event: TurnThreaded, raw: Raw[TurnRecorded]) -> list[Derived]:
    """A turn names and resembles efforts: they gain a trace and come in. A tool's output names nothing."""
    key = f"session/{event.session}"
    context = state.get(key, Context) or Context()
    own, role, recent = event.effort, raw.event.role, context.recent
    goes_on = bool(recent) and recent[-1] == own and (not own or own in context.entries)
    recent += (event.turn, own)
    if len(recent) > 2 * REVISED:
        del recent[:2]
    if role == "tool":
        if goes_on:
            state.put(key, context)
            return []
        named, pulled = [own] if own else [], NOBODY
    else:
        context.turns += 1
        context.users += role == "user"
        named, pulled = event.mentioned, NOBODY
        if own and own not in named:
            named = [own, *named]
        # The best is first. Why the last test: most turns are like what they name, and like nothing else.
        if event.similar and event.similarities[0] >= params.pull and event.similar != named:
            pulled = _pulled(params, event, named)
    for effort in named:
        touch(params, context, effort, 1.0)
    # Why: most turns go on with the effort in hand. Nothing moves then, and scores would change by a hundredth.
    if goes_on and not pulled and len(named) == bool(own) and (role != "user" or _rests(context, state)):
        state.put(key, context)
        return []
    if len(named) > 1:
        connect(state, named)
    return _changed(params, state, context, event, role, named, pulled)


def _pulled(params: WorkingContextParams, event: TurnThreaded, named: list[str]) -> list[str]:
    """The efforts that a turn does not name and yet is like enough to pull in."""
    pulled: list[str] = []
    for effort, how in zip(event.similar, event.similarities, strict=True):
        if how < params.pull or len(pulled) == params.pull_most:
            break
        if effort not in named:
            pulled.append(effort)
    return pulled


def _rests(context: Context, state: State) -> bool:
    """Whether a user turn that goes on leaves the context as it is: no summary to fade, nothing concluded elsewhere."""
    return (
        context.turns <= context.rests
        and not context.closed
        and state.index(known).concluded.isdisjoint(context.entries)
    )


def _changed(
    params: WorkingContextParams,
    state: State,
    context: Context,
    event: TurnThreaded,
    role: str,
    named: list[str],
    pulled: list[str],
) -> list[Derived]:
    """Something else came: efforts move in and out, and all are scored anew."""
    said = event.similar and role != "tool"
    alike = dict(zip(event.similar, event.similarities, strict=True)) if said else NOTHING
    scene = Scene(params, state, context, event, event.turn, named, alike)
    if context.closed or not scene.known.concluded.isdisjoint(context.entries):
        scene.shelve()
    touched = [*named, *pulled] if pulled else named
    scene.admit(touched, "named" if event.reason == "named" else "threaded")
    for effort in pulled:
        if effort in context.entries:
            touch(params, context, effort, alike[effort])
            scene.found.pop(effort, None)
    scene.reconsider()
    return scene.finish(touched if role == "user" else NOBODY)


def concluded(params: WorkingContextParams, state: State, event: EffortConcluded, raw: Raw[Any]) -> list[Derived]:
    """A concluded effort leaves the session's efforts, its summary stays; other sessions notice at their next turn."""
    effort = effort_of(state, event.effort)
    effort.open = False
    save(state, event.effort, effort)
    context = context_of(state, event.session)
    if event.effort not in context.entries:
        return []
    scene = Scene(params, state, context, event, event.turn, _going_on(context), NOTHING)
    scene.shelve()
    scene.reconsider()
    return scene.finish(NOBODY)


def resumed(params: WorkingContextParams, state: State, event: EffortResumed, raw: Raw[Any]) -> list[Derived]:
    """A resumed effort comes back among the efforts of its session."""
    effort = effort_of(state, event.effort)
    effort.open = True
    save(state, event.effort, effort)
    context = context_of(state, event.session)
    if event.effort in context.entries:
        return []
    context.closed.pop(event.effort, None)
    scene = Scene(params, state, context, event, event.turn, _going_on(context, event.effort), NOTHING)
    touch(params, context, event.effort, 1.0)
    scene.admit([event.effort], "resumed")
    return scene.finish(NOBODY)


def rated(params: WorkingContextParams, state: State, event: EffortRated, raw: Raw[Any]) -> list[Derived]:
    """An effort's importance counts from the next turn on."""
    effort = effort_of(state, event.effort)
    effort.important = event.importance == "high"
    save(state, event.effort, effort)
    key = f"session/{event.session}"
    context = state.get(key, Context)
    if context is not None:
        context.rests = 0
        state.put(key, context)
    return []


def _going_on(context: Context, *more: str) -> list[str]:
    """What the talk is about where no turn tells: the effort of the last turn, and those a fact names."""
    return [effort for effort in dict.fromkeys((*more, *context.recent[-1:])) if effort]


def rethreaded(params: WorkingContextParams, state: State, event: TurnRethreaded, raw: Raw[Any]) -> list[Derived]:
    """A revision takes a turn's trace from one effort and gives it to another."""
    context = context_of(state, event.session)
    turns = context.recent[::2]
    scene = Scene(params, state, context, event, event.turn, _going_on(context, event.effort), NOTHING)
    if event.turn in turns:
        place = 2 * turns.index(event.turn) + 1
        old, context.recent[place] = context.recent[place], event.effort
        if old != event.effort:
            scene.untouch(old, "revised")
    if event.effort:
        touch(params, context, event.effort, 1.0)
        scene.admit([event.effort], "threaded")
    scene.reconsider()
    return scene.finish(NOBODY)


def unthreaded(params: WorkingContextParams, state: State, event: TurnUnthreaded, raw: Raw[Any]) -> list[Derived]:
    """An effort whose only turn in the session is retracted leaves its context, and others come back in its place."""
    context = context_of(state, event.session)
    scene = Scene(params, state, context, event, event.turn, _going_on(context), NOTHING)
    if scene.untouch(event.effort, "retracted"):
        scene.shelve()
        scene.reconsider()
        return scene.finish(NOBODY)
    state.put(f"session/{event.session}", context)
    return []
