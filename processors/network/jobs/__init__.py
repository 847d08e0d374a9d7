"""What a model may write of the knowledge network: how nodes hang together, and what one says in general."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from streams.core.events import MAX_LINKS, KnowledgeWritten
from streams.core.job import Answer, Job, RefusedAnswerError, Written, query
from streams.core.text.masking import generalised

LINKS = """\
They are from different times, and each says something that is known. Tell which of them speak for, follow from, are
instances of, or contradict which others: only what is plain from their words, not what merely has the same topic. Most
often there is nothing to tell."""

PRINCIPLES = """\
They came to a conclusion. Say what it teaches that holds elsewhere, too: a rule that helps somebody who knows nothing
of these people, places, projects, products and dates. Use plain common words and name none of them."""

Number = Annotated[int, Field(ge=1, le=32)]


class Link(Answer):
    """One link, by the numbers of turns."""

    source: Number
    target: Number
    kind: Literal["support", "derivation", "generalization", "contradiction"]


class Links(Answer):
    """How some turns hang together."""

    links: list[Link] = Field(
        max_length=MAX_LINKS,
        description=f"list of 0 to {MAX_LINKS} objects with the fields source and target (numbers of turns) and kind: "
        '"support" (the source is a reason for the target), "derivation" (the target follows from the source), '
        '"generalization" (the source is an instance of the target) or "contradiction" (not both can hold)',
    )


class Principle(Answer):
    """What a conclusion says in general."""

    general: str = Field(max_length=200, description='text, one sentence; "" where it holds nowhere else')


def _links(given: Written, answer: Links) -> KnowledgeWritten:
    if any(max(link.source, link.target) > len(given.turns) or link.source == link.target for link in answer.links):
        raise RefusedAnswerError("links: a number of no turn, or a link of one with itself")
    links = [[given.turns[link.source - 1], given.turns[link.target - 1], link.kind] for link in answer.links]
    return KnowledgeWritten(
        given.space, given.id, given.at, given.session, given.turns, links,
        model=given.model, prompt_hash=given.prompt_hash, params_hash=given.params_hash,
    )  # fmt: skip


def _principle(given: Written, answer: Principle) -> KnowledgeWritten:
    if answer.general and not generalised(answer.general):
        raise RefusedAnswerError("general: too little is left without what may tell who, where or which")
    return KnowledgeWritten(
        given.space, given.id, given.at, given.session, given.turns, general=generalised(answer.general),
        model=given.model, prompt_hash=given.prompt_hash, params_hash=given.params_hash,
    )  # fmt: skip


JOBS = (
    Job("links", query(__package__, "links"), LINKS, Links, _links, KnowledgeWritten, room=200),
    Job("principles", query(__package__, "principles"), PRINCIPLES, Principle, _principle, KnowledgeWritten, room=100),
)
