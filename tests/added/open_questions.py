"""Open questions: what a user asked and nobody answered.

    open      a user's turn asks; it waits for another speaker of its session
    answered  another speaker says something that is no question itself
    left      the session ends, its asker goes on with something else `patience` turns long, or nothing is said for
              `hours` of the space's clock

A question that is answered leaves no event: only what was left open is worth telling. Retracted turns ask nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from streams.core.events import HOUR, Outside, SessionEnded, TurnRecorded, TurnRetracted
from streams.core.params import Params, param
from streams.core.processor import Derived, Processor, Raw, State, on, otherwise
from streams.core.read_model import Keep, ReadModel
from streams.core.section import Ask, Piece, Reader, Section
from streams.core.text.within import clip


@dataclass(slots=True)
class QuestionLeft(Derived):
    """A question that nobody answered. All that is known of it."""

    turn: str
    text: str
    reason: Literal["ended", "passed over", "silence"]
    type: Literal["question-left.v1"] = "question-left.v1"


class OpenQuestionsParams(Params):
    """When a question counts as left."""

    patience: int = param(3, "turns", "who says three more things has given up on an answer", ge=1, le=64)
    hours: float = param(12.0, "hours", "a night: what was not answered until then is asked again, or not at all", gt=0)


class LeftParams(Params):
    """How they are shown."""

    most: int = param(3, "questions", "the newest; older ones have found their answer elsewhere", ge=0)
    worth: float = param(0.3, "worth", "a reminder, not an answer", ge=0, le=1)


@dataclass(slots=True)
class Asked:
    """State, `asked/<session>`: the last question of a session that waits."""

    turn: str
    agent: str
    text: str
    at: int
    waited: int = 0


@dataclass(slots=True)
class Due:
    """State, `due/<time>/<session>`: when silence lets a question go."""

    session: str


TEXT = 300
"""Characters kept of a question."""
_NONE: tuple[Derived, ...] = ()


def _due(params: OpenQuestionsParams, asked: Asked, session: str) -> str:
    return f"due/{asked.at + int(params.hours * HOUR):020d}/{session[:200]}"


def _leave(
    params: OpenQuestionsParams, state: State, space: str, session: str, at: int, reason: Any
) -> Iterator[Derived]:
    """A question waits no longer; it is told where nobody answered it."""
    asked = state.get(f"asked/{session}", Asked)
    if asked is not None:
        state.delete(f"asked/{session}")
        state.delete(_due(params, asked, session))
        if reason:
            yield QuestionLeft(space, session, at, asked.turn, asked.text, reason)


def _expired(params: OpenQuestionsParams, state: State, event: Outside, raw: Raw[Any]) -> list[Derived]:
    """Questions that silence lets go, at most eight at once, each dated at its deadline."""
    left: list[Derived] = []
    for key in state.keys("due/", 8):
        deadline, due = int(key[4:24]), state.get(key, Due)
        if due is None or deadline > raw.now:
            break
        left += _leave(params, state, event.space, due.session, deadline, "silence")
    return left


def _turn(params: OpenQuestionsParams, state: State, turn: TurnRecorded, raw: Raw[TurnRecorded]) -> Sequence[Derived]:
    out = _expired(params, state, turn, raw)
    asked, asks = state.get(f"asked/{turn.session}", Asked), "question" in raw.text.cues
    if asked is not None and turn.agent != asked.agent and not asks:
        out += _leave(params, state, turn.space, turn.session, turn.at, "")
    elif asked is not None and turn.agent == asked.agent:
        asked.waited += 1
        state.put(f"asked/{turn.session}", asked)
        if asked.waited >= params.patience:
            out += _leave(params, state, turn.space, turn.session, turn.at, "passed over")
    if asks and turn.role == "user" and state.get(f"asked/{turn.session}", Asked) is None:
        asked = Asked(turn.id, turn.agent, " ".join(turn.content[:TEXT].split()), raw.now)
        state.put(f"asked/{turn.session}", asked)
        state.put(_due(params, asked, turn.session), Due(turn.session))
    return out or _NONE


def _ended(params: OpenQuestionsParams, state: State, fact: SessionEnded, raw: Raw[SessionEnded]) -> list[Derived]:
    out = _expired(params, state, fact, raw)
    return [*out, *_leave(params, state, fact.space, fact.session, fact.at, "ended")]


def _retracted(
    params: OpenQuestionsParams, state: State, fact: TurnRetracted, raw: Raw[TurnRetracted]
) -> list[Derived]:
    out = _expired(params, state, fact, raw)
    asked = state.get(f"asked/{fact.session}", Asked)
    if asked is not None and asked.turn == fact.turn:
        out += _leave(params, state, fact.space, fact.session, fact.at, "")
    return out


def left(params: OpenQuestionsParams, own: LeftParams, ask: Ask, read: Reader) -> Iterator[Piece]:
    """The questions of the session that nobody answered, the newest first."""
    for turn, text, reason in read.rows("left", most=own.most):
        yield Piece(turn, f"not answered: {reason}", own.worth, f"- {clip(text, 48)} [{turn}]")


PROCESSOR = Processor(
    name="open_questions",
    version=1,
    params=OpenQuestionsParams,
    takes=(
        on(TurnRecorded, _turn),
        on(SessionEnded, _ended),
        on(TurnRetracted, _retracted),
        otherwise(_expired),
    ),
    emits=(QuestionLeft,),
    read_model=ReadModel(
        keeps=(Keep(QuestionLeft, ("turn",), "open_questions"),),
        queries={
            "questions_left": """-- Questions that nobody answered, by why they were left.
-- parameter: space = ''  only this space; '' for all
SELECT q.reason, count(*) AS questions, max(q.at) AS last_at
FROM open_questions q WHERE $space IN ('', q.space) GROUP BY q.reason ORDER BY questions DESC, q.reason
"""
        },
        differences="""-- count: questions
SELECT count(*) AS "left open" FROM open_questions
""",
        sections=(
            Section(
                "questions", 35, "Asked, and not answered", LeftParams, left,
                {
                    "left": "SELECT turn, text, reason FROM open_questions "
                    "WHERE space = $space AND session = $session ORDER BY position DESC LIMIT $most"
                },
            ),
        ),
    ),
    presets={"task-agent": {"patience": 1}},
)  # fmt: skip
