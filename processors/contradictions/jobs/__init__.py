"""What a model may judge: whether a turn takes the place of an older one, where the rules only suspect it."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from streams.core.events import ContradictionJudged
from streams.core.job import Answer, Job, Written, query

TASK = """\
The first was said before the last. Judge whether the last says that something which the first states is no longer so:
it was changed, corrected or called off. It does not where both can hold, where they speak of different people, things
or times, and where the last only asks, plans, supposes, jokes or quotes."""
SURE = {"changed": (True, 0.9), "both hold": (False, 0.9), "unclear": (False, 0.5)}
"""What an answer says, and how sure it is held to be. What is unclear is heard by nobody, and is not asked again."""


class Judgment(Answer):
    """Whether one takes the place of the other."""

    verdict: Literal["changed", "both hold", "unclear"] = Field(description='"changed", "both hold" or "unclear"')


def _fact(given: Written, answer: Judgment) -> ContradictionJudged:
    contradicts, sure = SURE[answer.verdict]
    return ContradictionJudged(
        given.space, given.id, given.at, given.turns[-1], given.turns[0], contradicts, sure, given.session,
        model=given.model, prompt_hash=given.prompt_hash, params_hash=given.params_hash,
    )  # fmt: skip


JOBS = (Job("doubts", query(__package__, "doubts"), TASK, Judgment, _fact, ContradictionJudged, room=60),)
