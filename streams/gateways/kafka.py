"""The commands that only a log on Kafka has. Thin: each asks its own module and tells the answer.

What they need is imported by the command itself: without the extra `kafka`, all other commands work.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from streams.core.errors import UsageError, counted
from streams.gateways.command import FAILED, Common, Group, Serving, home_path

if TYPE_CHECKING:
    from streams.logs.kafka.connection import Connection
    from streams.runtime.kafka.dead_letters import Letters

topics_app = Group("Topics on Kafka: list them, make them.")
log_app = Group("The log itself: which it is, and copying it to Kafka.")
letters_app = Group("Records that could not be folded: list, show, feed again or drop them.")
lineages_app = Group("Lineages on Kafka: list them, drop old ones, give up candidates.")

Metrics = Annotated[str, typer.Option(metavar="HOST:PORT", help="Serve health and Prometheus metrics there.")]


def connected() -> Connection:
    """The brokers that the environment names. Raises UsageError where it names none, or aiokafka is missing.

    Commands ask for it before they import what needs aiokafka, so that its absence is told in words.
    """
    from streams.logs.settings import Settings

    settings = Settings()
    if not settings.kafka:
        raise UsageError("this command needs a log on Kafka", "set MNEMOLOG_KAFKA=host:9092")
    from streams.logs.kafka.connection import Connection, run
    from streams.logs.kafka.moves import in_force

    connection = Connection.of(settings)
    return run(connection, in_force(connection))[0]


# -- topics ------------------------------------------------------------------------------------------------------------


@topics_app.default()
def topics(common: Common) -> None:
    """List topics with their end offsets, and how far each consumer group is behind."""
    connection = connected()
    from streams.logs.kafka.topics import listing

    ends, lags = listing(connection)
    rows = [
        {"topic": e.topic, "partitions": e.partitions, "records": sum(e.ends.values()) - sum(e.begins.values()),
         "ends": e.ends if common.json else " ".join(map(str, e.ends.values()))}
        for e in ends
    ]  # fmt: skip
    terminal = common.terminal
    terminal.rows(rows, "topic partitions records ends", "there are no topics; `mnemolog topics create` makes them")
    groups = [
        {"group": g.group, "reads": g.topic, "lag": sum(g.lag.values()), "committed": bool(g.committed),
         "lags": g.lag if common.json else " ".join(map(str, g.lag.values()))}
        for g in lags
    ]  # fmt: skip
    if groups:
        terminal.rows(groups, "group reads lag lags", "")


@topics_app.command("create")
def topics_create(
    common: Common,
    partitions: Annotated[
        int | None, typer.Option(min=1, help="Of the log and all derived topics, for ever (4).")
    ] = None,
    replication: Annotated[
        int | None, typer.Option(min=1, help="Copies of each record, on as many brokers (those of the log; 1).")
    ] = None,
) -> None:
    """Make the topics that are missing; says so where one that exists differs from what it must be."""
    connection = connected()
    from processors import PROCESSORS
    from streams.logs.kafka.topics import create
    from streams.runtime import LIVE
    from streams.runtime.kafka.sets import lineages_of, memory_params, set_id

    live = set_id(lineages_of(PROCESSORS, memory_params(connection, PROCESSORS, LIVE)))
    made = create(connection, [live], partitions, replication)
    common.terminal.told(
        {"log": made.log_id, "partitions": made.partitions, "created": made.created, "existing": made.existing},
        "{} topics made, {} were there: log {}, {} partitions",
        len(made.created), len(made.existing), made.log_id, made.partitions,
    )  # fmt: skip


# -- the log -----------------------------------------------------------------------------------------------------------


@log_app.default("show")
def log(common: Common) -> None:
    """Say which log this is, where it lies and where it ends; or copy it."""
    from streams.logs.settings import Settings

    kafka = Settings().kafka
    with common.log() as found:
        ends = {partition: found.end(partition) for partition in range(found.partitions)}
        where = f"{kafka}/{connected().prefix}" if kafka else str(common.path)
        row = {"log": found.id, "where": where, "partitions": found.partitions}
        row["ends"] = ends if common.json else " ".join(map(str, ends.values()))
    common.terminal.rows([row], "log where partitions ends", "")


@log_app.command("copy")
def log_copy(
    common: Common,
    source: Annotated[
        str, typer.Option("--from", metavar="PREFIX", help="A log on the same brokers; else that of the home's file.")
    ] = "",
    partitions: Annotated[int | None, typer.Option(min=1, help="Of the copy, where it is new (4).")] = None,
    replication: Annotated[int, typer.Option(min=1, help="Copies of each record, where the log is new.")] = 1,
    what_is_left: Annotated[
        bool, typer.Option("--what-is-left", help="Copy a log that lost records to retention, without them.")
    ] = False,
) -> int:
    """Copy a log into the one that MNEMOLOG_KAFKA and MNEMOLOG_KAFKA_PREFIX name; done again, it goes on.

    Event ids and recorded times are kept, so what is folded from the copy is the same.
    """
    terminal, connection = common.terminal, connected()
    from streams.logs import LOG_FILE
    from streams.logs.kafka.copy import copied_to

    with terminal.progress("copying", "events") as tick:
        copied = copied_to(connection, source or common.path / LOG_FILE, partitions, replication, tick, what_is_left)
    terminal.told(
        asdict(copied), "{} copied, {:,} were there, {:,} refused",
        counted(copied.stored, "event"), copied.duplicates, copied.refused,
    )  # fmt: skip
    if copied.lost:
        terminal.say("[red]{:,} offsets at the beginning were gone[/]", copied.lost)
    for reason in copied.reasons:
        terminal.say("  [red]{}[/]", reason)
    return 1 if copied.refused else 0


# -- dead letters ------------------------------------------------------------------------------------------------------

LetterName = Annotated[str, typer.Argument(metavar="NAME", help="As listed: its partition and offset in the log.")]


def letters() -> Letters:
    """The dead letters of the log that the environment names."""
    connection = connected()
    from streams.logs.kafka.topics import Names
    from streams.runtime.kafka.dead_letters import Letters

    return Letters(connection, Names(connection.prefix).dead_letters)


@letters_app.default()
def dead_letters(common: Common) -> None:
    """List the records that could not be folded, with the reason; oldest first."""
    rows = [letter.told() for letter in letters().all()]
    common.terminal.rows(rows, "name set_aside_at? bytes> reason~", "there are no dead letters")


@letters_app.command("show")
def dead_letters_show(
    common: Common,
    name: LetterName,
    raw: Annotated[bool, typer.Option("--raw", help="Only the original bytes, as they came.")] = False,
) -> None:
    """Show one with its headers and its original bytes."""
    import sys

    letter = letters().named(name)
    if raw:
        sys.stdout.buffer.write(letter.value or b"")
        return
    terminal, told = common.terminal, letter.told() | letter.content()
    if common.json:
        terminal.object(told)
        return
    for what, value in told.items():
        terminal.say("{}: {}", what, str(value))


@letters_app.command("refeed")
def dead_letters_refeed(
    common: Common,
    names: Annotated[list[str], typer.Argument(metavar="NAME...", help="As listed; `all` is every one.")],
    value: Annotated[
        Path | None,
        typer.Option("--value", metavar="FILE", help="The mended event, instead of what came (of one letter)."),
    ] = None,
    id: Annotated[str, typer.Option("--id", help="Another id for the event, where its own is taken.")] = "",
    space: Annotated[str, typer.Option(help="Whose they are, for records whose key does not tell.")] = "",
) -> None:
    """Append what a letter stands for to the log, on its right partition and validated; the letter is settled."""
    if (value or id) and len(names) != 1:
        raise UsageError("--value and --id are for one letter", "name one")
    found = letters()
    from streams.runtime.kafka.dead_letters import refeed_all

    chosen = found.all() if names == ["all"] else [found.named(name) for name in names]
    mended = None if value is None else read_file(value)
    with common.log() as log:
        outcomes = refeed_all(log, found, chosen, space, mended, id)
    rows = [outcome._asdict() for outcome in outcomes]
    common.terminal.rows(rows, "name position said~", "there are no dead letters")
    if any(row["position"] is None for row in rows):
        raise typer.Exit(FAILED)


@letters_app.command("drop")
def dead_letters_drop(
    common: Common, names: Annotated[list[str], typer.Argument(metavar="NAME...", help="As listed.")]
) -> None:
    """Settle letters without feeding them again; their records stay in the log, where nobody folds them."""
    found = letters()
    for name in names:
        found.named(name)
    found.settle(names)
    common.terminal.told({"dropped": names}, "{} dropped", len(names))


def read_file(path: Path) -> bytes:
    """The bytes of a file. Raises UsageError."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}", "name a file with one event in JSON") from error


# -- workers -----------------------------------------------------------------------------------------------------------


def worker(
    processors: Annotated[
        list[str] | None,
        typer.Argument(metavar="[PROCESSOR]...", help="The processors to fold; all where none is named."),
    ] = None,
    memory: Annotated[str, typer.Option(metavar="NAME", help="Whose parameters: live's, or a candidate's.")] = "live",
    store: Annotated[
        Literal["disk", "memory"],
        typer.Option(help="On disk, or in memory and restored at each start."),
    ] = "disk",
    datadir: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Where state lies on disk (workers/ in the home).")
    ] = None,
    metrics: Metrics = "",
) -> None:
    """Fold the log on Kafka, sharing its partitions with the other workers, until stopped."""
    connection = connected()
    from processors import PROCESSORS
    from streams.runtime.kafka.health import observed
    from streams.runtime.kafka.logs import configure
    from streams.runtime.kafka.service import work
    from streams.runtime.telemetry import measuring

    configure()
    folder = datadir or workers_folder()
    with measuring("worker"), observed(metrics or None, connection) as meters:
        work(connection, PROCESSORS, processors or (), folder, memory, store, meters)


def workers_folder() -> Path:
    """Where workers keep their state that are not told a folder."""
    return home_path(None) / "workers"


# -- the projector -----------------------------------------------------------------------------------------------------


def project(
    serving: Serving,
    shard: Annotated[
        str, typer.Option(metavar="N/M", help="Only this share of the partitions: 1/4 beside 2/4, 3/4 and 4/4.")
    ] = "",
    metrics: Metrics = "",
) -> None:
    """Gather what workers derive into live, and answer other commands, until stopped."""
    connection = connected()
    from streams.runtime.kafka.health import observed
    from streams.runtime.kafka.logs import configure

    if shard and serving.http:
        raise UsageError("a shard answers for itself alone", "`mnemolog serve --http` answers for all of them")
    serving.home = projected(serving.path, shard)
    configure()
    with observed(metrics or None, connection) as meters:
        serving.until_stopped(meters)


def projected(home: Path, said: str) -> Path:
    """The home that a projector of a shard (or of all, with "") keeps. Raises UsageError for what the home is not."""
    from streams.runtime.home.folder import Folder, Shard

    folder, shard = Folder(home), Shard.said(said) if said else None
    there = folder.shards()
    if shard is None and there:
        raise UsageError(
            f"{home} is in {len(there)} shards", f"start a projector for each: --shard 1/{len(there)}, ..."
        )
    if shard is None:
        return home
    if there and len(there) != shard.total:
        raise UsageError(
            f"{home} is in {len(there)} shards, not {shard.total}",
            "stop their projectors and delete their folders first: what they hold is gathered anew",
        )
    if folder.memory("live").exists():
        raise UsageError(f"{home} has a live that is not in shards", "delete live.duckdb: the shards gather it anew")
    return home / shard.folder


# -- lineages ----------------------------------------------------------------------------------------------------------


@lineages_app.default()
def lineages(common: Common) -> None:
    """List what workers emit, by set of lineages: of live, of candidates, old ones; with records, topics and lag."""
    connection = connected()
    from processors import PROCESSORS
    from streams.runtime.kafka.sets import list_sets

    rows = [found._asdict() for found in list_sets(connection, PROCESSORS)]
    columns = "set memories processors~ records> lag>"
    common.terminal.rows(rows, columns, "there are none; `mnemolog topics create` makes those of live")


@lineages_app.command("drop")
def lineages_drop(
    common: Common, lineage: Annotated[str, typer.Argument(metavar="SET", help="As listed: 16 hex digits.")]
) -> None:
    """Delete all there is of an old set: its topics, its group, its note, its workers' state."""
    from processors import PROCESSORS

    connection = connected()
    from streams.runtime.kafka.sets import drop_set

    dropped = drop_set(connection, PROCESSORS, lineage, workers_folder())
    common.terminal.told(dropped._asdict(), "{} is gone, with {} topics", lineage, len(dropped.topics))


@lineages_app.command("forget")
def lineages_forget(
    common: Common,
    memory: Annotated[str, typer.Argument(metavar="NAME", help="The memory that was to be promoted.")],
) -> None:
    """Give a candidate up: its lineages become old ones, which can be dropped."""
    connection = connected()
    from streams.runtime.kafka.sets import forget_candidate

    forget_candidate(connection, memory)
    common.terminal.told({"forgotten": memory}, "{} is no candidate any more", memory)
