"""The HTTP server as a process beside the one that serves a home."""

from __future__ import annotations

import ipaddress
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from streams.core.errors import MnemologError, UsageError
from streams.runtime.addresses import host_and_port

BACKLOG = 4096


class Http:
    """The server that runs beside."""

    def __init__(self, url: str, process: subprocess.Popen[bytes]) -> None:
        self.url = url
        self._process = process

    def ended(self) -> bool:
        """Whether it ended by itself, which it does not in good order."""
        return self._process.poll() is not None

    def check(self) -> None:
        """Raises MnemologError where it ended by itself."""
        if self.ended():
            raise MnemologError(f"the HTTP server ended with code {self._process.returncode}", "what it said is above")


@contextmanager
def beside(home: Path, address: str, rate: float, access_log: bool) -> Iterator[Http]:
    """Answers HTTP at `HOST:PORT` for as long as the block runs.

    Raises UsageError for an address that is none or cannot be had, and for one that others reach while the home has no
    keys.
    """
    from streams.gateways.http.keys import Keys

    listener = bound(address)
    with listener:
        host, port = listener.getsockname()[:2]
        local = is_local(listener)
        if not local and not Keys(home).all():
            raise UsageError(f"others can reach {address}, and the home has no keys", "`mnemolog keys add NAME` first")
        command = [sys.executable, "-m", "streams.gateways.http", "--home", str(home), "--fd", str(listener.fileno())]
        command += ["--rate", str(rate), *(["--local"] if local else []), *(["--access-log"] if access_log else [])]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, pass_fds=[listener.fileno()])
    try:
        yield Http(f"http://{f'[{host}]' if ':' in host else host}:{port}", process)
    finally:
        assert process.stdin is not None
        process.stdin.close()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def is_local(listener: socket.socket) -> bool:
    """Whether only this machine reaches it."""
    return ipaddress.ip_address(listener.getsockname()[0]).is_loopback


def bound(address: str) -> socket.socket:
    """A socket that listens at `HOST:PORT`. Raises UsageError for what is none, or cannot be had."""
    host, port = host_and_port(address)
    try:
        ((family, _, _, _, place), *_) = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        listener = socket.socket(family)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(place)
        listener.listen(BACKLOG)
    except OSError as error:
        raise UsageError(f"{address} cannot be had: {error.strerror}", "choose another address") from error
    return listener
