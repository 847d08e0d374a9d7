"""What a model may write of long sessions: what their earlier part came to."""

from __future__ import annotations

from pydantic import Field

from streams.core.events import SummaryWritten
from streams.core.job import Answer, Job, Written, query

TASK = """\
They are from the earlier part of a long conversation: how each part of it began and ended, what was decided, and what
is to be done. Write what it came to, for somebody who goes on with it and reads none of it but the last few turns. Keep
numbers, names, paths and code as they are written; say who decided or promised what. Write in the language of the
turns. Tell nothing that they do not tell."""


class Compression(Answer):
    """What a session's head came to."""

    text: str = Field(min_length=40, max_length=1400, description="text, 60 to 180 words")


def _fact(given: Written, answer: Compression) -> SummaryWritten:
    return SummaryWritten(
        given.space, given.id, given.at, given.session, given.turns[0], given.turns[-1], answer.text,
        model=given.model, prompt_hash=given.prompt_hash, params_hash=given.params_hash,
    )  # fmt: skip


JOBS = (
    Job("compressions", query(__package__, "compressions"), TASK, Compression, _fact, SummaryWritten, room=600),
)  # fmt: skip
