"""Addresses to listen at, as people write them."""

from __future__ import annotations

from streams.core.errors import UsageError


def host_and_port(address: str, what: str = "", example: int = 8765) -> tuple[str, int]:
    """The two parts of `HOST:PORT`; a host with colons stands in brackets.

    Raises UsageError, which says for `what` it is none, and gives an `example` of a port.
    """
    host, colon, port = address.rpartition(":")
    if not colon or not host or not port.isascii() or not port.isdigit() or int(port) > 65535:
        raise UsageError(f"{address!r} is no address{what}", f"name it as HOST:PORT, 127.0.0.1:{example} for example")
    return host.removeprefix("[").removesuffix("]"), int(port)
