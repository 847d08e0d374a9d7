"""The command that puts memory before a model."""

from __future__ import annotations

from typing import Annotated

import typer

from streams.gateways.command import HomeDir, InSpace, check_installed, home_path
from streams.gateways.terminal import Terminal


def proxy(
    upstream: Annotated[str, typer.Option("--upstream", metavar="URL", help="The API that calls are passed on to.")],
    listen: Annotated[str, typer.Option("--listen", metavar="HOST:PORT", help="On this machine.")] = "127.0.0.1:8788",
    space: InSpace = None,
    home: HomeDir = None,
) -> None:
    """Pass calls on to a model, with memory: a client changes its base URL and nothing else.

    OpenAI Chat Completions and Responses, and Anthropic Messages. Turns are recorded, and what the memory knows is put
    before what the user says. Everything else passes unchanged; when memory fails, the call goes through.
    """
    from urllib.parse import urlsplit

    from streams.core.errors import UsageError

    check_installed("starlette", "uvicorn", "httpx", extra="http")
    parts = urlsplit(upstream)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise UsageError(f"{upstream!r} is no URL", "name the API, https://api.openai.com for example")
    import uvicorn

    import mnemolog
    from streams.gateways.http.beside import bound, is_local
    from streams.gateways.http.door import Caller, Door
    from streams.gateways.http.holder import Holder
    from streams.gateways.proxy.app import made

    listener = bound(listen)
    if not is_local(listener):
        raise UsageError(f"others can reach {listen}", "the proxy is for this machine: listen on 127.0.0.1")
    memory = mnemolog.Memory(home=home_path(home))
    memory.serve()
    host, port = listener.getsockname()[:2]
    terminal = Terminal()
    terminal.say("passing on to {} from http://{}:{}", upstream, host, port)
    app = made(upstream, Door(Holder(memory.home, memory.serve), Caller()), space or "")
    config = uvicorn.Config(app, access_log=False, log_config=None, timeout_graceful_shutdown=3)
    uvicorn.Server(config).run(sockets=[listener])
