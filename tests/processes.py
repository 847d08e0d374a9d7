"""`mnemolog` in processes of its own, forked from one that has the modules it needs: to import them takes longer than
most of what tests start it for.

    done = run("feed", "-", input="...", text=True, env=environ)           as subprocess.run
    with Program("serve", "--home", home, stdout=PIPE) as server: ...      as subprocess.Popen
    with Program(home, code="import sys; ...") as process: ...             as `python -c CODE HOME`

They are real processes: arguments, environment, folder, umask, streams, signals and exit codes are their own, and in
one with PYTHONWARNINGS=error a warning is an error. Tests of the start itself (what is imported, the installed program,
options of the interpreter, terminals) start it as people do.

Why safe: who is forked has imported modules and folded some talk in memory, and done nothing else; it has no threads,
no open file and no connection.
"""

from __future__ import annotations

import atexit
import fcntl
import gc
import json
import os
import pickle
import select
import signal
import socket
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from io import TextIOWrapper
from pathlib import Path
from pkgutil import walk_packages
from subprocess import PIPE as PIPE
from subprocess import CompletedProcess
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any, TypeVar

import processors
import projections
import streams
from processors import PROCESSORS
from projections import store
from projections.tables import tables
from streams.core.driver import Driver, as_raw
from streams.core.errors import UsageError
from streams.core.processor import RAW
from streams.gateways import cli
from streams.gateways.commands import COMMANDS
from streams.gateways.demo import samples

T = TypeVar("T")
ROOT = Path(__file__).parents[1]
PRELOADED = (processors, projections, streams)
"""The packages of which all modules are imported."""
APART = ("streams.gateways.adapters.",)
"""What begins the names of modules that no command needs, and that import much."""
QUIET = {"OPENBLAS_NUM_THREADS": "1", "JE_ARROW_MALLOC_CONF": "background_thread:false"}
"""What keeps libraries from starting threads when they are imported."""
MOST = 1 << 18
"""Bytes of what is said of a process."""
STATUS = 4
"""Bytes of a number that is told of one."""
FAR = 1 << 10
"""A number that no open file of a process has that has just begun."""


class Program(subprocess.Popen[Any]):
    """A process with `mnemolog`, or with Python's `code`. Takes its words and what `subprocess.Popen` takes, as far as
    tests need it."""

    def __init__(self, *words: object, code: str = "", **how: Any) -> None:
        self._code = code
        super().__init__([*map(str, words)], **how)

    def _execute_child(self, args: Any, *given: Any) -> None:
        names = (
            "executable", "preexec_fn", "close_fds", "pass_fds", "cwd", "env", "startupinfo", "creationflags", "shell",
            "p2cread", "p2cwrite", "c2pread", "c2pwrite", "errread", "errwrite", "restore_signals", "gid", "gids",
            "uid", "umask",
        )  # fmt: skip
        how = dict(zip(names, given, strict=False))
        streams = [how[name] if how[name] != -1 else n for n, name in enumerate(("p2cread", "c2pwrite", "errwrite"))]
        told = {
            "words": args,
            "code": self._code,
            "cwd": str(how["cwd"] or Path.cwd()),
            "env": {str(k): str(v) for k, v in (how["env"] or os.environ).items()},
            "umask": how["umask"],
        }
        self._status, status = os.pipe()
        try:
            MAKER.make(told, [status, *streams])
        finally:
            os.close(status)
            self._close_pipe_fds(*(how[name] for name in names[9:15]))  # type: ignore[attr-defined]
        self.pid = self._number()
        self._child_created = True

    def __exit__(self, kind: type[BaseException] | None, *more: Any) -> None:
        """Ends it where the test failed: only a test that went well has told it to end."""
        if kind is not None:
            self.kill()
        super().__exit__(kind, *more)

    def _number(self) -> int:
        told = os.read(self._status, STATUS)
        assert told, "the process that makes processes is gone"
        return int.from_bytes(told, "little")

    def _try_wait(self, flags: int) -> tuple[int, int]:
        if not select.select([self._status], [], [], 0 if flags & os.WNOHANG else None)[0]:
            return 0, 0
        status = self._number()
        os.close(self._status)
        return self.pid, status

    def _internal_poll(self, *_: Any, **__: Any) -> int | None:
        if self.returncode is None and self._waitpid_lock.acquire(False):  # type: ignore[attr-defined]
            try:
                if self.returncode is None and (ended := self._try_wait(os.WNOHANG))[0]:
                    self._handle_exitstatus(ended[1])  # type: ignore[attr-defined]
            finally:
                self._waitpid_lock.release()  # type: ignore[attr-defined]
        return self.returncode


def run(
    *words: object, input: Any = None, capture_output: bool = False, timeout: float | None = None, check: bool = False,
    **how: Any,
) -> CompletedProcess[Any]:  # fmt: skip
    """Runs `mnemolog` to its end, as `subprocess.run` does."""
    if capture_output:
        how |= {"stdout": PIPE, "stderr": PIPE}
    if input is not None:
        how["stdin"] = PIPE
    with Program(*words, **how) as process:
        try:
            out, err = process.communicate(input, timeout)
        except BaseException:
            process.kill()
            raise
    done = CompletedProcess(process.args, process.returncode, out, err)
    if check:
        done.check_returncode()
    return done


class Maker:
    """The process that makes processes, started when the first is asked for."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._control: socket.socket | None = None

    def make(self, told: dict[str, Any], files: list[int]) -> None:
        """Has a process made; it says its number and its exit status through the first of the files."""
        with self._lock:
            self._control = self._control or self._started()
            socket.send_fds(self._control, [json.dumps(told).encode()], files)

    def _started(self) -> socket.socket:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            maker = subprocess.Popen(
                [sys.executable, "-m", "tests.processes", str(theirs.fileno())],
                cwd=ROOT, env=os.environ | QUIET, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL,
            )  # fmt: skip
        atexit.register(maker.wait)
        atexit.register(ours.close)
        return ours


MAKER = Maker()


def preload() -> None:
    """Imports what processes need, and folds some talk, so that the patterns are compiled by which it is read."""
    for package in PRELOADED:
        for found in walk_packages(package.__path__, f"{package.__name__}."):
            if not found.name.startswith(APART):
                with suppress(ImportError, UsageError):  # an extra that is not installed: who needs it says so
                    import_module(found.name)
    for place in COMMANDS.values():
        place.load()
    driver = Driver(PROCESSORS, {p.name: p.params() for p in PROCESSORS})
    for offset, event in enumerate(samples()):
        driver.fold(event.space, 0, offset, as_raw(event, event.at), [])
    tables(PROCESSORS)
    store._BLANK.update(elsewhere(blank))
    gc.collect()


def blank() -> dict[str, bytes]:
    """What is kept of the first memory that a process makes. It has the engine start threads."""
    with TemporaryDirectory() as folder:
        store.Store.create(Path(folder) / "blank.duckdb", PROCESSORS, {"lineages": {RAW: ""}}).close()
    return store._BLANK


def elsewhere(work: Callable[[], T]) -> T:
    """What some work gives, done in a process of its own."""
    reading, writing = os.pipe()
    if not os.fork():
        with open(writing, "wb") as pipe:
            pickle.dump(work(), pipe)
        os._exit(0)
    os.close(writing)
    with open(reading, "rb") as pipe:
        found: T = pickle.load(pipe)
    os.wait()
    return found


def serve(control: socket.socket) -> Callable[[], object]:
    """Makes processes until nobody asks for more; returns in each of them, with what it is to do."""
    preload()
    gc.freeze()  # what is shared is not written to, neither by collections nor when those that are made end
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        told, files, *_ = socket.recv_fds(control, MOST, 4)
        if not told:
            os._exit(0)
        if not os.fork():
            control.close()
            return begin(json.loads(told), *files)
        for file in files:
            os.close(file)


def begin(told: dict[str, Any], status: int, *streams: int) -> Callable[[], object]:
    """Makes a process, waits for its end and tells it; returns in that process, with what it is to do."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    if pid := os.fork():
        for stream in streams:
            os.close(stream)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        with suppress(OSError):  # nobody listens any more
            os.write(status, pid.to_bytes(STATUS, "little"))
            os.write(status, os.waitpid(pid, 0)[1].to_bytes(STATUS, "little"))
        os._exit(0)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    os.closerange(len(streams), 1 << 16)
    os.environ.clear()
    os.environ.update(told["env"])
    os.chdir(told["cwd"])
    if told["umask"] >= 0:
        os.umask(told["umask"])
    assert isinstance(sys.stdout, TextIOWrapper)
    sys.stdout.reconfigure(line_buffering=os.isatty(1) or bool(os.environ.get("PYTHONUNBUFFERED")))
    if told["env"].get("PYTHONWARNINGS") == "error":
        warnings.simplefilter("error")
    sys.modules["__main__"] = cli  # what processes that it starts in turn import
    code, words = told["code"], told["words"]
    sys.argv = ["-c" if code else "mnemolog", *words]
    if code:
        return lambda: exec(code, {"__name__": "__main__"})
    if words[:1] == ["serve"] and any(word.startswith("--http") for word in words):
        return beside_of(words)
    return lambda: cli.main(words)


def beside_of(words: list[str]) -> Callable[[], object]:
    """Makes a process that waits to be the one that answers HTTP, for this one, a server, to start when it wants to;
    returns in both, with what each is to do.

    Why before it is wanted: a server that has threads cannot fork.
    """
    from streams.gateways.http import __main__, beside

    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    if pid := os.fork():
        theirs.close()
        control = ours.detach()  # open to the end, which the other waits for

        class Answering(subprocess.Popen[bytes]):
            """That process, told what to serve."""

            def _execute_child(self, args: Any, *given: Any) -> None:
                files = {0: given[9]} | {file: file for file in given[3]}
                told = {"words": args[3:], "env": dict(os.environ), "umask": current_umask(), "files": [*files]}
                with socket.socket(fileno=control) as begun:
                    socket.send_fds(begun, [json.dumps(told).encode()], [*files.values()])
                self._close_pipe_fds(*given[9:15])  # type: ignore[attr-defined]
                self.pid = pid
                self._child_created = True

        beside.subprocess = SimpleNamespace(  # type: ignore[attr-defined, assignment]
            Popen=Answering, PIPE=PIPE, TimeoutExpired=subprocess.TimeoutExpired
        )
        return lambda: cli.main(words)
    ours.close()
    with theirs:
        said, files, *_ = socket.recv_fds(theirs, MOST, 4)
    if not said:
        os._exit(0)
    told = json.loads(said)
    moved = [fcntl.fcntl(file, fcntl.F_DUPFD, FAR) for file in files]
    os.closerange(3, FAR)
    for file, number in zip(moved, told["files"], strict=True):
        os.dup2(file, number)
        os.close(file)
    os.environ.clear()
    os.environ.update(told["env"])
    os.umask(told["umask"])
    sys.argv = ["http", *told["words"]]
    return __main__.main


def current_umask() -> int:
    """Of this process. Why not by setting another: threads would make files by that."""
    (line,) = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("Umask:")]
    return int(line.split()[1], 8)


def go(work: Callable[[], object]) -> None:
    """Does what a process is to do, and ends it: as Python does it, but modules are not taken apart.

    Why: that would write to all that is shared with the process it was forked from, which takes longer than most of
    what processes do. Files that are left open are told all the same.
    """
    try:
        work()
        code = 0
    except SystemExit as ended:
        if not isinstance(ended.code, int | None):
            raise
        code = ended.code or 0
    threading._shutdown()  # type: ignore[attr-defined]
    gc.collect()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code & 0xFF)


if __name__ == "__main__":
    go(serve(socket.socket(fileno=int(sys.argv[1]))))
