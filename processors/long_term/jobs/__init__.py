"""What a model may write of long-term memory: entries in words that stand alone."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from streams.core.events import DistillationWritten
from streams.core.job import Answer, Job, Written, query

TASK = """\
Something of them is worth remembering in later conversations: how a problem was solved, what did not work, what
somebody prefers, or what is so. Write it down so that it can be understood alone: names instead of "I" and "it", dates
instead of "yesterday". Keep numbers, names, paths and code as they are written. Write in the language of the turns.
Tell nothing that they do not tell."""


class Distillation(Answer):
    """What is kept of some turns."""

    text: str = Field(
        min_length=10, max_length=240, description="text, one sentence: what worked, or the fact or preference"
    )
    problem: str = Field(
        "", max_length=240, description='text, one sentence: the problem that was solved; "" where there was none'
    )
    failed: list[Annotated[str, Field(min_length=4, max_length=160)]] = Field(
        default_factory=list, max_length=2, description="list of 0 to 2 texts: what was tried and did not work"
    )


def _fact(given: Written, answer: Distillation) -> DistillationWritten:
    return DistillationWritten(
        given.space, given.id, given.at, given.session, given.turns, answer.text, answer.problem, answer.failed,
        model=given.model, prompt_hash=given.prompt_hash, params_hash=given.params_hash,
    )  # fmt: skip


JOBS = (
    Job("distillations", query(__package__, "distillations"), TASK, Distillation, _fact, DistillationWritten, room=300),
)
