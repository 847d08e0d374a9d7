"""The proxy, with the clients that people use, before an upstream that answers in the shapes that providers have."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import httpx
import openai
import orjson
import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from streams.gateways.http.beside import bound
from streams.gateways.http.door import Caller, Door
from streams.gateways.http.holder import Holder
from streams.gateways.proxy import app
from streams.gateways.proxy.app import made
from streams.gateways.proxy.dialects import DIALECTS
from streams.gateways.proxy.session import session_of
from streams.runtime.home import Home
from tests.serving import serving

if TYPE_CHECKING:
    import anthropic

PATIENCE = 60.0
KEY = "Ben keeps the key of the boat house at Miller's."
ASKED = "Who keeps the key of the boat house?"


def sse(*found: dict[str, Any], named: bool = False) -> bytes:
    lines = []
    for event in found:
        name = f"event: {event['type']}\n" if named else ""
        lines.append(f"{name}data: {json.dumps(event)}\n\n".encode())
    return b"".join(lines)


def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}


CALL = {"index": 0, "id": "call_1", "type": "function", "function": {"name": "look", "arguments": ""}}
CHAT_STREAM = (
    sse(
        chunk({"role": "assistant", "content": ""}),
        chunk({"content": "Miller "}),
        chunk({"content": "has the key."}),
        chunk({"tool_calls": [CALL]}),
        chunk({"tool_calls": [{"index": 0, "function": {"arguments": '{"where":'}}]}),
        chunk({"tool_calls": [{"index": 0, "function": {"arguments": ' "shed"}'}}]}),
        chunk({}, "tool_calls"),
        {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [], "usage": None},
    )
    + b"data: [DONE]\n\n"
)
CHAT = {
    "id": "c1", "object": "chat.completion", "created": 1, "model": "m",
    "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Miller has it."}}],
}  # fmt: skip
MESSAGE = {
    "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [], "stop_reason": None,
    "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1},
}  # fmt: skip
MESSAGES_STREAM = sse(
    {"type": "message_start", "message": MESSAGE},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "ping"},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Miller has "}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "the key."}},
    {"type": "content_block_stop", "index": 0},
    {"type": "content_block_start", "index": 1,
     "content_block": {"type": "tool_use", "id": "t1", "name": "look", "input": {}}},
    {"type": "content_block_delta", "index": 1,
     "delta": {"type": "input_json_delta", "partial_json": '{"where": "shed"}'}},
    {"type": "content_block_stop", "index": 1},
    {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 9}},
    {"type": "message_stop"},
    named=True,
)  # fmt: skip
ITEM = {
    "type": "message", "id": "m1", "role": "assistant", "status": "completed",
    "content": [{"type": "output_text", "text": "Miller has the key.", "annotations": []}],
}  # fmt: skip
ANSWERED = {
    "id": "resp_1", "object": "response", "created_at": 1, "model": "m", "status": "completed", "output": [ITEM],
    "parallel_tool_calls": True, "tool_choice": "auto", "tools": [],
}  # fmt: skip
RESPONSES_STREAM = sse(
    {"type": "response.created", "sequence_number": 0, "response": ANSWERED | {"status": "in_progress", "output": []}},
    {"type": "response.output_text.delta", "sequence_number": 1, "item_id": "m1", "output_index": 0,
     "content_index": 0, "delta": "Miller", "logprobs": []},
    {"type": "response.completed", "sequence_number": 2, "response": ANSWERED},
    named=True,
)  # fmt: skip


class Upstream:
    """A provider: keeps what it was sent, answers what it is told to."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, dict[str, str], bytes]] = []
        self.streams = {
            "/v1/chat/completions": (CHAT_STREAM, CHAT),
            "/v1/messages": (MESSAGES_STREAM, MESSAGE | {"content": [{"type": "text", "text": "Miller has it."}]}),
            "/v1/responses": (RESPONSES_STREAM, ANSWERED),
        }
        self.cut = 0
        """Bytes after which a stream is broken off; 0: never."""

    async def __call__(self, request: Request) -> Response:
        raw = await request.body()
        self.asked.append((request.url.path, dict(request.headers), raw))
        if request.url.path not in self.streams:
            return Response(b'{"error": {"message": "no such thing"}}', 404, {"x-own": "1"}, "application/json")
        stream, whole = self.streams[request.url.path]
        if not json.loads(raw).get("stream"):
            return Response(
                json.dumps(whole, separators=(",", ":")), headers={"x-own": "1"}, media_type="application/json"
            )

        async def pieces() -> Any:
            for start in range(0, len(stream), 97):
                if self.cut and start >= self.cut:
                    raise ConnectionError("broken off")
                yield stream[start : start + 97]
                await asyncio.sleep(0)

        return StreamingResponse(pieces(), headers={"x-own": "1"}, media_type="text/event-stream")

    def sent(self, n: int = -1) -> dict[str, Any]:
        """The body of the nth request."""
        return dict(orjson.loads(self.asked[n][2]))


@contextmanager
def running(app: Starlette) -> Iterator[str]:
    """The URL of an app on a thread of its own."""
    listener = bound("127.0.0.1:0")
    server = uvicorn.Server(uvicorn.Config(app, log_config=None, timeout_graceful_shutdown=1))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(PATIENCE)
        listener.close()


@pytest.fixture
def upstream() -> Upstream:
    return Upstream()


@pytest.fixture
def proxy(home: Home, upstream: Upstream, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The proxy's URL, before the upstream and over a home that is served and knows who keeps the key."""
    monkeypatch.setattr(app, "PATIENCE", PATIENCE)  # a busy machine is no memory that fails
    known = {"id": "known", "space": "default", "session": "before", "role": "user", "content": KEY}
    provider = Starlette(routes=[Route("/{path:path}", upstream.__call__, methods=["GET", "POST"])])
    with serving(home), running(provider) as url:
        home.request({"feed": [known]})
        with running(made(url, Door(Holder(home.path), Caller()))) as found:
            yield found


def turns(home: Home, count: int) -> list[tuple[str, str]]:
    """Role and words of what was recorded, once there are so many turns besides what was known."""
    deadline = time.monotonic() + PATIENCE
    while True:
        events = [orjson.loads(record.value) for record in home.log.read(0, 0)]
        found = [(e["role"], e["content"]) for e in events if e["type"] == "turn-recorded.v1" and e["id"] != "known"]
        if len(found) >= count:
            return found
        assert time.monotonic() < deadline, found
        time.sleep(0.02)


def chat(url: str) -> openai.OpenAI:
    return openai.OpenAI(base_url=f"{url}/v1", api_key="sk-test", max_retries=0)


def claude(url: str) -> anthropic.Anthropic:
    import anthropic  # takes a second: not in every process that reads this file

    return anthropic.Anthropic(base_url=url, api_key="sk-test", max_retries=0)


def asked_by_chat(url: str, stream: bool) -> None:
    client = chat(url)
    messages: Any = [{"role": "user", "content": ASKED}]
    if not stream:
        assert (
            client.chat.completions.create(model="m", messages=messages).choices[0].message.content == "Miller has it."
        )
        return
    chunks = client.chat.completions.create(model="m", messages=messages, stream=True)
    told = [chunk.choices[0].delta.content for chunk in chunks if chunk.choices]
    assert "".join(filter(None, told)) == "Miller has the key."


def asked_by_responses(url: str, stream: bool) -> None:
    client = chat(url)
    if not stream:
        assert client.responses.create(model="m", input=ASKED).output_text == "Miller has the key."
        return
    events = list(client.responses.create(model="m", input=ASKED, stream=True))
    assert events[-1].type == "response.completed"


def asked_by_messages(url: str, stream: bool) -> None:
    client = claude(url)
    messages: Any = [{"role": "user", "content": [{"type": "text", "text": ASKED}]}]
    if not stream:
        found: Any = client.messages.create(model="m", max_tokens=100, messages=messages).content[0]
        assert found.text == "Miller has it."
        return
    with client.messages.stream(model="m", max_tokens=100, messages=messages) as events:
        blocks: Any = events.get_final_message().content
    assert (blocks[0].text, blocks[1].input) == ("Miller has the key.", {"where": "shed"})


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("ask", [asked_by_chat, asked_by_responses, asked_by_messages])
def test_a_client_that_changes_its_base_url_has_memory(
    home: Home, upstream: Upstream, proxy: str, ask: Callable[[str, bool], None], stream: bool
) -> None:
    ask(proxy, stream)
    body = upstream.sent()
    said = orjson.dumps(body.get("messages") or body.get("input")).decode()
    assert KEY in said
    assert said.index(KEY) < said.index(ASKED)
    recorded = turns(home, 2)
    assert recorded[0] == ("user", ASKED), "without what was put before it"
    assert recorded[1][0] == "assistant"
    assert recorded[1][1].startswith("Miller has")
    assert len(recorded) == 2


def test_streams_headers_errors_and_unknown_fields_pass_byte_for_byte(upstream: Upstream, proxy: str) -> None:
    with httpx.Client(base_url=proxy, timeout=PATIENCE) as client:
        for path, (stream, whole) in upstream.streams.items():
            body = {"model": "m", "stream": True, "max_tokens": 99, "unknown": {"a": [1.0, None]}}
            body |= {"input" if "responses" in path else "messages": [{"role": "user", "content": "Hello there"}]}
            answer = client.post(path, json=body, headers={"authorization": "Bearer x", "x-else": "2"})
            assert answer.content == stream
            assert (answer.headers["x-own"], answer.headers["content-type"]) == (
                "1",
                "text/event-stream; charset=utf-8",
            )
            assert upstream.sent()["unknown"] == {"a": [1.0, None]}
            headers = upstream.asked[-1][1]
            assert (headers["authorization"], headers["x-else"]) == ("Bearer x", "2")
            assert client.post(path, json=body | {"stream": False}).content == orjson.dumps(whole)
        raw = b'{"input":  "words",\n"model":"e"}'
        answer = client.post("/v1/embeddings?a=%2F&b", content=raw, headers={"content-type": "application/json"})
        assert (answer.status_code, answer.headers["x-own"]) == (404, "1")
        assert answer.content == b'{"error": {"message": "no such thing"}}'
        assert upstream.asked[-1][2] == raw
        broken = b'{"messages": [{"role": "user", '
        for path in ("/v1/models", "/v1/messages/count_tokens"):
            client.post(path, content=broken)
            assert upstream.asked[-1][2] == broken


def test_what_was_put_into_a_conversation_stays_where_it_was_through_loops_of_tools(
    home: Home, upstream: Upstream, proxy: str
) -> None:
    client: Any = chat(proxy)
    talk: list[Any] = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": ASKED}]
    call = {"id": "call_1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    client.chat.completions.create(model="m", messages=talk)
    first = upstream.sent()["messages"]
    talk += [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_1", "content": "It hangs in the shed."},
    ]
    client.chat.completions.create(model="m", messages=talk)
    second = upstream.sent()["messages"]
    assert second[:2] == first
    assert second[2:] == talk[2:], "nothing is put between a call and its result"
    talk += [{"role": "assistant", "content": "Miller has it."}, {"role": "user", "content": "Thanks, and the spare?"}]
    client.chat.completions.create(model="m", messages=talk)
    third = upstream.sent()["messages"]
    assert third[:4] == second
    recorded = turns(home, 6)
    assert [role for role, _ in recorded].count("user") == 2, "a history that is sent again adds nothing"
    assert len(recorded) <= 8


def test_a_long_talk_leaves_what_was_said_and_nothing_that_was_put_into_it(
    home: Home, upstream: Upstream, proxy: str
) -> None:
    talk: list[dict[str, Any]] = []
    with httpx.Client(base_url=proxy, timeout=PATIENCE) as client:
        for n in range(25):
            talk.append({"role": "user", "content": f"{n}: who keeps the key of the boat house, and since when?"})
            client.post("/v1/chat/completions", json={"model": "m", "messages": talk})
            assert KEY in upstream.asked[-1][2].decode()
            talk.append({"role": "assistant", "content": "Miller has it."})
            turns(home, len(talk))
    assert turns(home, 50) == [(message["role"], message["content"]) for message in talk]


def test_a_call_waits_for_nothing_that_is_written_and_what_was_shown_is_recorded_before_what_was_said(
    home: Home, upstream: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app, "PATIENCE", PATIENCE)  # a busy machine is no memory that fails
    durable = threading.Event()

    class Slow(Door):
        """A door to a memory whose disk is busy."""

        async def feed(self, events: Sequence[Any], key: str = "") -> list[dict[str, Any]]:
            while not durable.is_set():
                await asyncio.sleep(0.01)
            return await super().feed(events, key)

    provider = Starlette(routes=[Route("/{path:path}", upstream.__call__, methods=["POST"])])
    with serving(home), running(provider) as url, running(made(url, Slow(Holder(home.path), Caller()))) as proxy:
        home.request({"feed": [{"id": "known", "session": "before", "role": "user", "content": KEY}]})
        asked_by_chat(proxy, stream=False)
        assert KEY in upstream.asked[-1][2].decode()
        assert home.log.end(0) == 1, "nothing could be recorded yet"
        durable.set()
        turns(home, 2)
    events = [orjson.loads(record.value) for record in home.log.read(0, 1)]
    told = [(event["type"], event.get("role")) for event in events]
    assert told == [("memory-recalled.v1", None), ("turn-recorded.v1", "user"), ("turn-recorded.v1", "assistant")]


def test_a_reply_that_was_broken_off_is_no_turn_and_what_was_asked_is(
    home: Home, upstream: Upstream, proxy: str, caplog: pytest.LogCaptureFixture
) -> None:
    upstream.cut = 300
    body = {"model": "m", "stream": True, "messages": [{"role": "user", "content": ASKED}]}
    with pytest.raises(httpx.HTTPError):
        httpx.post(f"{proxy}/v1/chat/completions", json=body, timeout=PATIENCE)
    assert turns(home, 1) == [("user", ASKED)]
    assert any("a reply broke off" in record.getMessage() for record in caplog.records)
    assert raised(caplog) == [ConnectionError]  # the provider's own


def raised(caplog: pytest.LogCaptureFixture) -> list[type[BaseException] | None]:
    """What was told with a traceback."""
    return [record.exc_info[0] for record in caplog.records if record.exc_info]


def test_who_hangs_up_in_the_midst_of_a_request_leaves_no_traceback(
    upstream: Upstream, proxy: str, caplog: pytest.LogCaptureFixture
) -> None:
    host, port = proxy.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), PATIENCE) as connection:
        head = (
            f"POST /v1/chat/completions HTTP/1.1\r\nHost: {host}\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n"
        )
        connection.sendall(head.encode())
        assert connection.recv(100).startswith(b"HTTP/1.1 100 ")  # it is being read
    assert httpx.post(f"{proxy}/v1/models", json={}, timeout=PATIENCE).status_code == 404
    assert len(upstream.asked) == 1
    assert raised(caplog) == []


@pytest.mark.parametrize("stream", [False, True])
def test_half_a_character_goes_on_as_it_came_and_costs_no_memory(
    home: Home, upstream: Upstream, proxy: str, stream: bool
) -> None:
    """JavaScript leaves one where it cuts text, and where a character comes in two pieces of a stream."""
    question = chr(0xD83D) + " " + ASKED
    upstream.streams["/v1/chat/completions"] = (
        sse(chunk({"content": "Miller " + chr(0xD83D)}), chunk({"content": chr(0xDE00)}), chunk({}, "stop")),
        CHAT | {"choices": [{"index": 0, "message": {"role": "assistant", "content": "Miller " + chr(0xDE00)}}]},
    )
    body = {"model": "m", "stream": stream, "messages": [{"role": "user", "content": question}]}
    with httpx.Client(timeout=PATIENCE) as client:
        got = client.post(f"{proxy}/v1/chat/completions", content=json.dumps(body))
    sent = json.loads(upstream.asked[-1][2])["messages"][0]["content"]
    assert got.content == upstream.streams["/v1/chat/completions"][0] if stream else got.json()["choices"]
    assert KEY in sent
    assert sent.endswith(question)
    assert turns(home, 2) == [("user", "? " + ASKED), ("assistant", "Miller " + (chr(0x1F600) if stream else "?"))]


def test_a_probe_is_no_turn_and_sessions_are_told_apart(home: Home, upstream: Upstream, proxy: str) -> None:
    with httpx.Client(base_url=proxy, timeout=PATIENCE) as client:
        say: Any = {"model": "m", "messages": [{"role": "user", "content": "quota"}]}
        client.post("/v1/messages", json=say | {"max_tokens": 1})
        client.post("/v1/chat/completions", json=say, headers={"x-mnemolog-session": "one", "x-mnemolog-space": "ann"})
        agent = say | {"max_tokens": 99, "metadata": {"user_id": "user_1_session_0a1b2c3d-99"}}
        client.post("/v1/messages", json=agent)
        assert "x-mnemolog-session" not in upstream.asked[-2][1]
    turns(home, 4)
    events = [orjson.loads(record.value) for record in home.log.read(0, 1)]
    places = {(event["space"], event["session"]) for event in events if event["type"] == "turn-recorded.v1"}
    assert places == {("ann", "one"), ("default", "0a1b2c3d-99")}


@pytest.mark.parametrize(
    "about", [{"session_id": ""}, {"session_id": " ", "user_id": ""}, {"session_id": None}, "", []]
)
def test_a_session_that_is_named_by_nothing_goes_by_what_comes_next(about: Any) -> None:
    said = {"model": "m", "messages": [{"role": "user", "content": ASKED}], "metadata": about}
    dialect = DIALECTS["/chat/completions"]
    assert session_of(dialect, {}, said).startswith("chat-")
    assert session_of(dialect, {}, said | {"prompt_cache_key": "seven"}) == "seven"
    assert session_of(dialect, {"x-mnemolog-session": ""}, said | {"conversation": {"id": "conv"}}) == "conv"
    assert len(session_of(dialect, {}, said | {"metadata": {"session_id": "s" * 900}})) <= 200


def test_who_names_a_session_by_nothing_is_recorded_all_the_same(home: Home, upstream: Upstream, proxy: str) -> None:
    say = {"model": "m", "messages": [{"role": "user", "content": ASKED}], "metadata": {"session_id": ""}}
    with httpx.Client(base_url=proxy, timeout=PATIENCE) as client:
        client.post("/v1/chat/completions", json=say | {"session": 7})
    assert turns(home, 2)[0][:2] == ("user", ASKED)


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://elsewhere.example", "Content-Type": "text/plain"},
        {"Host": "elsewhere.example:8788", "Origin": "http://elsewhere.example:8788"},
        {"Host": "elsewhere.example"},
    ],
)
def test_what_a_page_elsewhere_has_a_browser_send_neither_reads_nor_writes_memory(
    home: Home, upstream: Upstream, proxy: str, headers: dict[str, str]
) -> None:
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": ASKED}]})
    forged = httpx.post(f"{proxy}/v1/chat/completions", content=body, headers=headers, timeout=PATIENCE)
    assert forged.status_code == 200
    assert KEY not in orjson.dumps(upstream.sent()).decode()
    own = {"Origin": "http://localhost:3000"}
    httpx.post(f"{proxy}/v1/chat/completions", content=body, headers=own, timeout=PATIENCE)
    assert KEY in orjson.dumps(upstream.sent()).decode()
    assert [words for role, words in turns(home, 2) if role == "user"] == [ASKED]


def test_what_was_put_in_stays_in_when_memory_fails_later(
    home: Home, upstream: Upstream, proxy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    client: Any = chat(proxy)
    talk: list[Any] = [{"role": "user", "content": ASKED}]
    client.chat.completions.create(model="m", messages=talk)
    first = upstream.sent()["messages"]
    monkeypatch.setattr(app, "PATIENCE", 0.0)
    talk += [{"role": "assistant", "content": "Miller has it."}, {"role": "user", "content": "Thanks, and the spare?"}]
    client.chat.completions.create(model="m", messages=talk)
    assert KEY in first[0]["content"]
    assert upstream.sent()["messages"] == first + talk[1:]


def test_when_memory_fails_the_call_goes_through(home: Home, upstream: Upstream) -> None:
    provider = Starlette(routes=[Route("/{path:path}", upstream.__call__, methods=["POST"])])
    with running(provider) as url, running(made(url, Door(Holder(home.path), Caller()))) as proxy:
        asked_by_chat(proxy, stream=True)
        assert upstream.sent()["messages"] == [{"role": "user", "content": ASKED}]


def test_an_upstream_that_is_not_there_is_told_as_such(home: Home) -> None:
    with running(made("http://127.0.0.1:9", Door(Holder(home.path), Caller()))) as proxy:
        answer = httpx.post(f"{proxy}/v1/models", json={}, timeout=PATIENCE)
        assert (answer.status_code, answer.json()["error"]["type"]) == (502, "upstream_unreachable")
