"""`mnemolog` in processes of its own, forked from one that has the modules it needs: to import them takes longer than
most of what tests start it for.

    done = run("feed", "-", input="...", text=True, env=environ)           as subprocess.run
    with Program("serve", "--home", home, stdout=PIPE) as server: ...      as subprocess.Popen
    with Program(home, code="import sys; ...") as process: ...             as `python -c CODE HOME`

They are real processes: arguments, environment, folder, umask, streams, signals and exit codes are their own, and in
one with PYTHONWARNINGS=error a warning is an error. Tests of the start itself (what is imported, the installed program,
options of the interpreter, terminals) start it as people do.

Why safe: who is forked has imported modules and done nothing else; it has no threads, no open file and no connection.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import warnings
from contextlib import suppress
from importlib import import_module
from io import TextIOWrapper
from pathlib import Path
from subprocess import PIPE, CompletedProcess
from typing import Any

from streams.gateways import cli
from streams.gateways.commands import COMMANDS

ROOT = Path(__file__).parents[1]
PRELOADED = (
    "processors", "rich.console", "streams.gateways.feed", "streams.gateways.hook",
    "streams.runtime.home.office", "streams.runtime.home.server", "streams.runtime.kafka.projector",
    "streams.runtime.kafka.worker", "streams.runtime.replay",
)  # fmt: skip
QUIET = {"OPENBLAS_NUM_THREADS": "1", "JE_ARROW_MALLOC_CONF": "background_thread:false"}
"""What keeps libraries from starting threads when they are imported."""
MOST = 1 << 18
"""Bytes of what is said of a process."""
STATUS = 4
"""Bytes of a number that is told of one."""


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


def serve(control: socket.socket) -> dict[str, Any]:
    """Makes processes until nobody asks for more; returns in each of them, with what is told of it."""
    for module in PRELOADED:
        import_module(module)
    for place in COMMANDS.values():
        place.load()
    gc.freeze()  # what is shared with those that are made is not written to by collections
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


def begin(told: dict[str, Any], status: int, *streams: int) -> dict[str, Any]:
    """Makes a process, waits for its end and tells it; returns in that process, with what is told of it."""
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
    gc.unfreeze()
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
    sys.argv = ["-c" if told["code"] else "mnemolog", *told["words"]]
    return told


if __name__ == "__main__":
    told = serve(socket.socket(fileno=int(sys.argv[1])))
    exec(told["code"], {"__name__": "__main__"}) if told["code"] else cli.main(told["words"])
