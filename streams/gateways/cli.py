"""The command line: a composition root. It names the rooms to each other, and says what they answer.

Every command takes --home, and --json where it has something to answer. A command is read when it is called for, and
the rooms by the command that needs them, so that help comes at once.
"""

from __future__ import annotations

import atexit
import gc
import os
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from projections.garbage import rare_collections
from streams.core.errors import MnemologError, NoRoomError, UsageError, says_full
from streams.gateways.terminal import Terminal, json_line

STOPPED = 130
"""Exit code after Ctrl-C, as shells have it."""
NEEDLESS = {"OPENBLAS_NUM_THREADS": "1", "PYDANTIC_DISABLE_PLUGINS": "__all__"}
"""What libraries would begin with when they are imported, unless they are told otherwise: numpy starts a thread for
each core, to multiply large matrices, of which there are none; pydantic looks for plugins in all that is installed."""


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Runs a command; whatever goes wrong, it says so in words and exits with a code."""
    atexit.register(gc.freeze)  # what is left at the end is not looked through: that takes a quarter of a small command
    with rare_collections():  # what is imported lives as long as the command: to look through it takes a fifth of that
        _main(arguments)


def _main(arguments: Sequence[str] | None) -> NoReturn:
    os.umask(0o077)  # what is written is people's talk: nobody else's to read
    for name, value in NEEDLESS.items():
        os.environ.setdefault(name, value)
    given = own_first(list(sys.argv[1:] if arguments is None else arguments))
    if given[:1] == ["hook"] and not {"-h", "--help"} & set(given):
        from streams.gateways.hook import main as hook

        # Why past the parser: whatever stands in an agent's settings, its hook neither fails nor blocks.
        hook(given[1:])
        raise SystemExit(0)
    from streams.gateways.command import FAILED, MISUSED  # why here: the parser takes as long to load as a hook to run

    debug = "--debug" in given
    given = [word for word in given if word != "--debug"]
    try:
        code = run(given)
        sys.stdout.flush()
    except KeyboardInterrupt:
        Terminal().tell("\nstopped")
        code = STOPPED
    except MnemologError as error:
        complain(error, "--json" in given)
        code = MISUSED if isinstance(error, UsageError) else FAILED
    except BrokenPipeError:
        # Who reads has seen enough (`| head`). Why /dev/null: Python flushes standard output once more at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = FAILED
    except Exception as error:
        if debug:
            raise
        complain(refused(error), "--json" in given)
        code = FAILED
    raise SystemExit(code)


def own_first(given: list[str]) -> list[str]:
    """--home and --json may stand before the command, too: they are every command's."""
    moved: list[str] = []
    while given and (given[0] in ("--home", "--json") or given[0].startswith("--home=")):
        count = 2 if given[0] == "--home" else 1
        moved, given = moved + given[:count], given[count:]
    end = given.index("--") if "--" in given else len(given)
    return given[:end] + moved + given[end:]


def run(arguments: list[str]) -> int:
    """Runs a command; its exit code. Raises UsageError for one that is not understood."""
    import typer.main

    from streams.gateways.command import FAILED, MISUSED, OK
    from streams.gateways.parser import app

    try:
        found = typer.main.get_command(app)(args=arguments, prog_name="mnemolog", standalone_mode=False)
    except SystemExit as done:
        return done.code if isinstance(done.code, int) else FAILED
    except Exception as error:  # why by name: typer brings its own click, or uses the one that is installed
        kinds = {kind.__name__ for kind in type(error).__mro__}
        if "NoArgsIsHelpError" in kinds:
            sys.stdout.write(f"{error}\n")
            return MISUSED
        if "Abort" in kinds:
            raise KeyboardInterrupt from None
        if "ClickException" not in kinds:
            raise
        raise misunderstood(error) from None
    return found if isinstance(found, int) else OK


def misunderstood(error: Any) -> UsageError:
    """What the parser of commands says, as all errors are said."""
    said, *more = error.format_message().split(" Did you mean ")
    said += f" Did you mean {more[0]}" if more else ""  # two libraries suggest, each a sentence of its own
    context = getattr(error, "ctx", None)
    asked = f"{context.command_path} --help" if context is not None else "mnemolog --help"
    return UsageError(said[:1].lower() + said[1:].rstrip("."), f"`{asked}` tells how it is used")


def complain(error: MnemologError, json: bool) -> None:
    """Says what went wrong, and the way out."""
    if json:
        sys.stderr.write(json_line({"error": str(error), "way_out": error.way_out}))
        return
    Terminal().tell("[red]error:[/] {}", error)
    if error.way_out:
        Terminal().tell("  {}", error.way_out)


def refused(error: Exception) -> MnemologError:
    """What the system refused: rights, room, a folder where a file should be."""
    if says_full(error):
        said = str(error).splitlines()[0][:300]
        return NoRoomError(f"there is no room: {said}", "make room, then do it again: nothing acknowledged is lost")
    if not isinstance(error, OSError) or error.filename is None or error.strerror is None:
        return unexpected(error)
    return MnemologError(f"{error.filename}: {error.strerror}", "mend that, or name another place; --debug tells more")


def unexpected(error: Exception) -> MnemologError:
    """An error that nobody foresaw, with the place of its details."""
    import tempfile
    import traceback

    with tempfile.NamedTemporaryFile("w", prefix="mnemolog-", suffix=".txt", delete=False) as details:
        traceback.print_exception(error, file=details)
    first = (str(error).splitlines() or [""])[0][:200]
    what = f"something unexpected went wrong: {type(error).__name__}: {first}"
    return MnemologError(what, f"the details are in {details.name}; --debug shows them")


if __name__ == "__main__":
    main()
