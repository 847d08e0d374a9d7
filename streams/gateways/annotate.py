"""Has a model write what rules do poorly: finds what there is to ask, asks, and appends each valid answer as a fact.

A question is known by its prompt: one whose answer is in the log is not asked again, by nobody. One that was answered
badly is not asked again by the same run. What is asked is read from a snapshot of live, what is written goes to the
log of the home, wherever that is; whoever folds it is not waited for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import islice
from time import monotonic, sleep, time
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from projections import asked
from projections.store import Connection
from streams.core.edge import Edge, EdgeError
from streams.core.events import encode
from streams.core.job import Job, Prompt, RefusedAnswerError, Said, Written, prompt, read
from streams.logs.log import Duplicate, Refused

if TYPE_CHECKING:
    from streams.gateways.endpoint import Endpoint
    from streams.runtime.home import Home

QUIET = timedelta(minutes=30)
"""What was touched within this time is still in motion."""
SETTLED = 1.2 * QUIET.total_seconds()
"""Seconds after which all is quiet, clocks of other machines considered, since the log moved last."""
PAGE = 64
"""Things to ask about whose turns are read at once."""
PATIENCE = 3
"""Questions in a row without an answer, after which the endpoint counts as dead."""
POLL, AGAIN = 0.5, 5.0
"""Seconds between looks at the log for --follow, and between looks for what there is to ask."""
REST, LONGEST_REST = 30.0, 600.0
"""Seconds for which a dead endpoint is left alone with --follow: twice as long each time."""


class Question(NamedTuple):
    """Something to ask."""

    job: Job[Any]
    space: str
    session: str
    turns: list[Said]
    prompt: Prompt

    @property
    def told(self) -> dict[str, Any]:
        """What it is about, for people and programs."""
        first, last = self.turns[0].id, self.turns[-1].id
        return {"job": self.job.name, "space": self.space, "session": self.session, "first_turn": first} | {
            "last_turn": last, "turns": len(self.turns), "tokens": self.prompt.tokens, "answer": self.job.room,
        }  # fmt: skip


@dataclass
class Report:
    """What became of it all."""

    asked: int = 0
    written: int = 0
    known: int = 0
    """Answers that somebody else had appended meanwhile."""
    refused: Counter[str] = field(default_factory=Counter)
    """Answers that are none, by reason."""
    unanswered: Counter[str] = field(default_factory=Counter)
    left: int = 0
    """Questions that were not asked."""
    stopped: str = ""
    """Why not."""


Tell = Callable[[Question, str, str], None]
"""Told a question, what became of it (written, known, refused, unanswered), and what was written or why not."""


def due(connection: Connection, jobs: Sequence[Job[Any]], done: set[tuple[str, ...]]) -> Iterator[Question]:
    """What there is to ask, job by job and the newest first.

    Nothing whose job, space and turns are in `done`; what turns out to be answered in the log is added to it.
    """
    quiet = (datetime.fromtimestamp(time(), UTC) - QUIET).replace(tzinfo=None)
    for job in jobs:
        known = asked.answered(connection, job)
        found = asked.to_ask(connection, job, quiet)
        rows = iter([row for row in found if (job.name, row[0], *row[2]) not in done])
        while page := list(islice(rows, PAGE)):
            said = asked.said(connection, page)
            for space, session, ids in page:
                turns = [said[space, id_] for id_ in ids if (space, id_) in said]
                question = Question(job, space, session, turns, prompt(job, turns))
                if (space, question.prompt.hash) in known:
                    done.add((job.name, space, *ids))
                elif turns:
                    yield question


class Annotator:
    """Asks what there is to ask, until nothing is left, or the endpoint or the budget gives out."""

    def __init__(self, house: Home, jobs: Sequence[Job[Any]], endpoint: Endpoint, tell: Tell) -> None:
        self.report = Report()
        self._house = house
        self._jobs = jobs
        self._endpoint = endpoint
        self._tell = tell
        self._done: set[tuple[str, ...]] = set()
        """What was answered, well or badly: job, space and turns."""
        self._writing = self._stopped = False

    def stop(self, *_: object) -> None:
        """Handles a signal to stop: at once, but an answer that is being written is counted and told first.

        Raises KeyboardInterrupt.
        """
        self._stopped = True
        if not self._writing:
            raise KeyboardInterrupt

    def once(self, progress: Callable[[int, int], None]) -> bool:
        """Asks all there is to ask; whether the endpoint is alive. Raises ClosedError."""
        with self._house.reading() as connection:
            questions = list(due(connection, self._jobs, self._done))
        self.report.stopped, self.report.left = "", len(questions)
        silent = 0
        for number, question in enumerate(questions):
            progress(number, len(questions))
            if not self._endpoint.has_room(question.prompt, question.job.room):
                self.report.stopped = "the budget is used up"
                return True
            silent = 0 if self._ask(question) else silent + 1
            if silent == PATIENCE:
                self.report.stopped = f"{silent} questions in a row had no answer"
                return False
        return True

    def follow(self) -> None:
        """Goes on as turns come. A dead endpoint is left alone for a while, a budget is a day's."""
        rest, looked, moved, ends = REST, 0.0, monotonic(), list[int]()
        log = self._house.log
        while True:
            found, now = [log.end(partition) for partition in range(log.partitions)], monotonic()
            if found != ends:
                ends, moved = found, now
            spent = self.report.stopped and not self._endpoint.renew()
            if not spent and now - looked >= AGAIN and (moved > looked or looked < moved + SETTLED <= now):
                looked = now
                if self.once(lambda done, total: None):
                    rest = REST
                else:
                    sleep(rest)
                    rest = min(2 * rest, LONGEST_REST)
                    self.report.stopped, moved = "", monotonic()
            sleep(POLL)

    def _ask(self, question: Question) -> bool:
        """Whether there was an answer, good or bad."""
        from streams.gateways.endpoint import NoAnswerError

        self.report.asked += 1
        try:
            answer = self._endpoint.ask(question.job, question.prompt)
        except NoAnswerError as error:
            self.report.unanswered[str(error)] += 1
            self._is_over(question, "unanswered", str(error))
            return False
        except RefusedAnswerError as error:
            self._refuse(question, error)
        else:
            with self._to_its_end():
                try:
                    found = read(question.job, question.prompt, answer)
                    outcome = self._append(question, found)
                except (RefusedAnswerError, EdgeError) as error:
                    self._refuse(question, error)
                else:
                    self._is_over(question, outcome, str(next(iter(found.model_dump().values()))))
        self._done.add((question.job.name, question.space, *(turn.id for turn in question.turns)))
        return True

    def _refuse(self, question: Question, error: Exception) -> None:
        self.report.refused[str(error)] += 1
        self._is_over(question, "refused", str(error))

    def _is_over(self, question: Question, outcome: str, what: str) -> None:
        self.report.left -= 1
        self._tell(question, outcome, what)

    @contextmanager
    def _to_its_end(self) -> Iterator[None]:
        """What is done within is not cut off by `stop`, which takes effect thereafter."""
        self._writing = True
        try:
            yield
        finally:
            self._writing = False
        if self._stopped:
            raise KeyboardInterrupt

    def _append(self, question: Question, answer: Any) -> str:
        """Makes a fact of an answer; what became of it. Raises EdgeError."""
        hash_ = question.prompt.hash
        written = Written(
            question.space, question.session, f"written-{hash_}", max(turn.at for turn in question.turns),
            [turn.id for turn in question.turns], self._endpoint.model, hash_, self._endpoint.params_hash(question.job),
        )  # fmt: skip
        fact = Edge().event(orjson.loads(encode(question.job.fact(written, answer))))
        (outcome,) = self._house.log.append([fact])
        if isinstance(outcome, Refused) and "is taken" not in outcome.reason:
            raise RefusedAnswerError(outcome.reason)
        if isinstance(outcome, Refused | Duplicate):  # who asked the same meanwhile had another answer, or the same
            self.report.known += 1
            return "known"
        self.report.written += 1
        return "written"
