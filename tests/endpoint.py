"""A real HTTP server in the test's process that speaks the chat completions protocol, well or badly."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answering = Callable[["Heard", "Handler"], None]


class Heard:
    """A request as it came."""

    def __init__(self, path: str, headers: dict[str, str], body: bytes) -> None:
        self.path = path
        self.headers = headers
        self.json: dict[str, Any] = json.loads(body)
        self.at = time.monotonic()

    @property
    def text(self) -> str:
        """The turns that it tells, one JSON object a line, with the lines that fence them."""
        return str(self.json["messages"][1]["content"])

    @property
    def asks_title(self) -> bool:
        """Whether a title is asked for."""
        return "- title:" in self.json["messages"][0]["content"]


class Handler(BaseHTTPRequestHandler):
    """Answers as its server is told to."""

    protocol_version = "HTTP/1.1"
    server: Model

    def do_POST(self) -> None:
        """One question."""
        body = self.rfile.read(int(self.headers["Content-Length"]))
        heard = Heard(self.path, {name.lower(): value for name, value in self.headers.items()}, body)
        self.server.heard.append(heard)
        with suppress(OSError):  # who asked has hung up
            self.server.answering(heard, self)

    def send(self, body: bytes, status: int = 200, **headers: str) -> None:
        """A whole answer."""
        self.send_response(status)
        for name, value in ({"Content-Type": "application/json", "Content-Length": str(len(body))} | headers).items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def say(self, content: object, tokens: int = 70, **choice: Any) -> None:
        """A completion that says something: text, or an object as JSON."""
        text = content if isinstance(content, str) or content is None else json.dumps(content)
        choices = [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"} | choice]
        found = {"id": "c", "object": "chat.completion", "created": 0, "model": "m", "choices": choices}
        self.send(json.dumps(found | {"usage": {"total_tokens": tokens}}).encode())

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: tests are quiet."""


class Model(ThreadingHTTPServer):
    """The server, what it answers with, and what it heard."""

    daemon_threads = True
    block_on_close = False

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.heard: list[Heard] = []
        self.answering: Answering = well
        self.over = threading.Event()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Nothing: who asked has hung up."""

    @property
    def url(self) -> str:
        """Where it is asked."""
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


def well(heard: Heard, handler: Handler) -> None:
    """What was asked for."""
    if heard.asks_title:
        handler.say({"title": "Login cookie renamed"})
    elif "- general:" in heard.json["messages"][0]["content"]:
        handler.say({"general": ""})
    else:
        handler.say({"summary": "The login cookie was renamed; the test has the new name.", "topics": ["login cookie"]})


@contextmanager
def speaking() -> Iterator[Model]:
    """A server that answers well until told otherwise; it ends with the block."""
    model = Model()
    thread = threading.Thread(target=model.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield model
    finally:
        model.over.set()
        model.shutdown()
        model.server_close()
        thread.join()
