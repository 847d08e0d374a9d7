"""What a model may write of efforts: titles."""

from __future__ import annotations

from pydantic import Field

from streams.core.events import TitleWritten
from streams.core.job import Answer, Job, Written, query

TASK = """\
They begin a piece of work. Give it a title by which a person would find it in a list: what it is about, with the names
and numbers that tell it apart. Write in the language of the turns. Tell nothing that they do not tell."""


class Title(Answer):
    """What an effort is called."""

    title: str = Field(
        min_length=3, max_length=80, description="text, a noun phrase or short clause of 3 to 8 words, no full stop"
    )


def _fact(given: Written, answer: Title) -> TitleWritten:
    return TitleWritten(
        given.space, given.id, given.at, given.session, given.turns, answer.title,
        model=given.model, prompt_hash=given.prompt_hash, params_hash=given.params_hash,
    )  # fmt: skip


JOBS = (Job("titles", query(__package__, "titles"), TASK, Title, _fact, TitleWritten, room=100),)
