"""The server: holds live, folds what comes, and answers other processes on a socket."""

from __future__ import annotations

import math
import os
import selectors
import socket
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, BinaryIO

import orjson

from streams.core.errors import BusyError, MnemologError
from streams.runtime.home.client import HolderLeftError, ask_holder
from streams.runtime.home.keeper import open_live
from streams.runtime.home.office import Office

if TYPE_CHECKING:
    from streams.runtime.home import Home

POLL = 0.005
"""Seconds between looks at the log while serving."""


class StoppedError(Exception):
    """The server was told to stop while it waited or folded."""


def serve(home: Home, stopped: Callable[[], bool], said: Callable[[str], None] = lambda line: None) -> None:
    """Folds and answers until `stopped`; waits first while a command folds.

    Raises BusyError when another process serves this home.
    """

    def unless_stopped(done: int = 0, total: int = 0) -> None:
        if stopped():
            raise StoppedError

    def look() -> None:
        unless_stopped()
        with suppress(HolderLeftError):
            pid = ask_holder(home.folder.socket, {"ping": True})["pid"]
            raise BusyError(f"process {pid} serves {home.path} already", "ask it: commands find it by themselves")

    with suppress(StoppedError), home.folder.holding(math.inf, look), selectors.DefaultSelector() as selector:
        office = Office(home, open_live(home))
        path = home.folder.socket
        path.unlink(missing_ok=True)
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(path))
            path.chmod(0o600)
            listener.listen(64)
            selector.register(listener, selectors.EVENT_READ)
            said(f"serving {home.path}, process {os.getpid()}")
            if waiting := office.runtime.behind():
                said(f"folding {waiting:,} events that wait in the log; questions are answered after that")
            try:
                while not stopped():
                    if office.runtime.catch_up(unless_stopped):
                        office.recalling.keep_up()
                    office.runtime.tick()
                    # Whoever asks connects first and is read next: to fold between the two would only make it wait.
                    for wait in (POLL, POLL / 10):
                        for key, _ in selector.select(wait):
                            _attend(selector, key, listener, office)
            finally:  # what was folded until then is committed; the rest waits in the log
                path.unlink(missing_ok=True)
                for key in list(selector.get_map().values()):
                    if key.data is not None:
                        _hang_up(selector, key)
                office.close()
                office.runtime.close()


def _attend(
    selector: selectors.BaseSelector, key: selectors.SelectorKey, listener: socket.socket, office: Office
) -> None:
    if key.fileobj is listener:
        connection, _ = listener.accept()
        connection.settimeout(10)
        selector.register(connection, selectors.EVENT_READ, connection.makefile("rwb"))
        return
    stream: BinaryIO = key.data
    try:
        line = stream.readline()
        if line:
            stream.write(_reply(office, line))
            stream.flush()
            return
    except OSError:
        pass
    _hang_up(selector, key)


def _hang_up(selector: selectors.BaseSelector, key: selectors.SelectorKey) -> None:
    selector.unregister(key.fileobj)
    with suppress(OSError):
        key.data.close()
    key.fileobj.close()  # type: ignore[union-attr]


def _reply(office: Office, line: bytes) -> bytes:
    try:
        return orjson.dumps({"answer": office.carry_out(orjson.loads(line))}) + b"\n"
    except MnemologError as error:
        known = {"error": str(error), "way_out": error.way_out, "kind": type(error).__name__}
        return orjson.dumps(known) + b"\n"
    except ValueError as error:
        known = {"error": f"the request is not JSON: {error}", "way_out": "", "kind": "UsageError"}
        return orjson.dumps(known) + b"\n"
