"""What a model may write of segments: summaries, and the topics by which they are found."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from streams.core.events import SummaryWritten
from streams.core.job import Answer, Job, Written, query

TASK = """\
Summarize them for somebody who goes on with this work in another conversation: what was asked or wanted, what was
found, what was decided or done, and what is still open. Keep numbers, names, paths and code as they are written. Name
who said what where it matters. Write in the language of the turns. Tell nothing that they do not tell."""


class Summary(Answer):
    """What a segment came to."""

    summary: str = Field(min_length=12, max_length=480, description="text, one to three sentences, at most 60 words")
    topics: list[Annotated[str, Field(min_length=2, max_length=60)]] = Field(
        min_length=1, max_length=8, description="list of 1 to 8 texts: short noun phrases by which to find it"
    )


def _fact(given: Written, answer: Summary) -> SummaryWritten:
    return SummaryWritten(
        given.space, given.id, given.at, given.session, given.turns[0], given.turns[-1], answer.summary, answer.topics,
        model=given.model, prompt_hash=given.prompt_hash, params_hash=given.params_hash,
    )  # fmt: skip


JOBS = (Job("summaries", query(__package__, "summaries"), TASK, Summary, _fact, SummaryWritten, room=400),)
