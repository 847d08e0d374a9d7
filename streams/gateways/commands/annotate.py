"""The command that has a model write what rules do poorly."""

from __future__ import annotations

import signal
from collections import Counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from streams.core.errors import UsageError
from streams.gateways.command import FAILED, Common, one_of
from streams.gateways.terminal import Terminal

if TYPE_CHECKING:
    from streams.core.job import Job
    from streams.gateways.annotate import Question, Report
    from streams.gateways.endpoint import Endpoint
    from streams.runtime.home import Home

EXTRA = "openai"
"""What is to be installed to ask a model."""


def annotate(
    common: Common,
    names: Annotated[list[str] | None, typer.Argument(metavar="[JOB]...", help="What to ask; all.")] = None,
    follow: Annotated[bool, typer.Option("--follow", help="Go on as turns come, until stopped.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would be asked, and its tokens.")] = False,
) -> None:
    """Have a model write summaries, titles and what lasts, as facts that processors prefer from there on.

    It asks an OpenAI-compatible endpoint: MNEMOLOG_ANNOTATE_URL, _MODEL, _KEY or _KEY_FILE, _RATE, _CALLS, _TOKENS.
    What was asked before is not asked again; what is answered badly is left out, and told in the end.
    """
    with common.opened() as (house, terminal):
        known = {job.name: job for processor in house.processors for job in processor.read_model.jobs}
        jobs = [known[one_of(name, [*known], "job")] for name in names or known]
        if dry_run:
            _show(house, jobs, terminal)
        elif not _asked(house, jobs, terminal, follow):
            raise typer.Exit(FAILED)


def _show(house: Home, jobs: list[Job[Any]], terminal: Terminal) -> None:
    from streams.gateways.annotate import due

    with house.reading() as connection:
        rows = [question.told for question in due(connection, jobs, set())]
    terminal.rows(rows, "job space? session? turns> tokens> first_turn last_turn~", "there is nothing to ask")
    sent, answered = sum(row["tokens"] for row in rows), sum(row["answer"] for row in rows)
    if rows:
        said = "{:,} questions: about {:,} tokens to send, and at most {:,} to come back"
        terminal.say(said, len(rows), sent, answered)


def _asked(house: Home, jobs: list[Job[Any]], terminal: Terminal, follow: bool) -> bool:
    """Asks; whether all that was due was asked and answered well."""
    from streams.gateways.annotate import Annotator

    def tell(question: Question, outcome: str, what: str) -> None:
        about = question.told | {"outcome": outcome, "said": what}
        if terminal.json:
            terminal.object(about)
        else:
            where = f"{question.space}/{question.session}"
            terminal.say("{:<10} {:<10} {}: {}", outcome, question.job.name, where, " ".join(what.split()), cut=True)

    with _endpoint() as endpoint:
        annotator = Annotator(house, jobs, endpoint, tell)
        alive = True
        before = {number: signal.signal(number, annotator.stop) for number in (signal.SIGTERM, signal.SIGINT)}
        try:
            if follow:
                annotator.follow()
            with terminal.progress("asking", "questions") as tick:
                alive = annotator.once(tick)
        except KeyboardInterrupt:
            annotator.report.stopped = "stopped"
            if not follow:
                raise
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
            _tell(annotator.report, endpoint, terminal)
    return alive and not annotator.report.refused and not annotator.report.unanswered


def _endpoint() -> Endpoint:
    try:
        from streams.gateways.endpoint import Endpoint
    except ImportError as error:
        if not (error.name or "").startswith((EXTRA, "httpx")):
            raise
        raise UsageError("what asks models is not installed", "pip install 'mnemolog[annotate]'") from None
    from streams.logs.settings import Settings

    return Endpoint(Settings())


def _tell(report: Report, endpoint: Endpoint, terminal: Terminal) -> None:
    """What became of it all, in words."""
    if terminal.json:
        told = {name: getattr(report, name) for name in ("asked", "written", "known", "left", "stopped")}
        spent = {"calls": endpoint.calls, "tokens": endpoint.tokens}
        terminal.object(told | {"refused": report.refused, "unanswered": report.unanswered} | spent)
        return
    said = f"{report.asked:,} asked, {report.written:,} written"
    said += f", {report.known:,} known already" if report.known else ""
    said += _reasons("refused", report.refused) + _reasons("without an answer", report.unanswered)
    said += f", {report.left:,} left: {report.stopped}" if report.stopped else ""
    said += f"; {endpoint.calls:,} calls, {endpoint.tokens:,} tokens"
    terminal.say("{}", said)


def _reasons(what: str, reasons: Counter[str]) -> str:
    if not reasons:
        return ""
    told = ", ".join(f"{count:,} {reason}" for reason, count in reasons.most_common(4))
    return f", {reasons.total():,} {what} ({told}{', …' if len(reasons) > 4 else ''})"
