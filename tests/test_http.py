"""HTTP: whatever is sent is answered in words, what is acknowledged is durable, and a key reaches its spaces alone."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import product
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.testclient import TestClient

import mnemolog
from mnemolog import AsyncMemory, DeniedError, FailedError, Memory, NotServedError, RefusedError, UncertainError
from streams.core.errors import LogError, UsageError
from streams.core.events import TurnRecorded
from streams.gateways.http import app as http_app
from streams.gateways.http import holder, limits
from streams.gateways.http.keys import Keys
from streams.gateways.http.recording import Recording
from streams.runtime.home import Home, appending
from streams.runtime.requests import MAX_REQUEST, QUESTIONS
from tests.processes import run
from tests.serving import PATIENCE, served, serving
from tests.test_proxy import running

CASES = int(os.environ.get("MNEMOLOG_FUZZ", "200"))
"""Requests of the fuzz test."""
SECRET = "heliotrope"
JSON = {"Content-Type": "application/json"}
JSON_LINES = {"Content-Type": "application/x-ndjson"}
LISTS = b"[" + b"[]," * 1_000_000 + b"[]]"


@contextmanager
def asking(home: Home, **how: Any) -> Iterator[TestClient]:
    """A client of an app in this process, over a home that is served."""
    with serving(home), TestClient(http_app.made(home.path, **how), "http://localhost") as client:
        yield client


@pytest.fixture
def client(home: Home) -> Iterator[TestClient]:
    with asking(home) as found:
        yield found


def turn(n: int = 0, **more: Any) -> dict[str, Any]:
    return {"session": "s", "role": "user", "content": f"Where is the key of boat house {n}?"} | more


def recorded(home: Home) -> list[dict[str, Any]]:
    return [json.loads(record.value) for record in home.log.read(0, 0)]


# -- events in ---------------------------------------------------------------------------------------------------------


def test_a_turn_is_durable_when_it_is_answered_and_its_position_can_be_waited_for(
    client: TestClient, home: Home
) -> None:
    answer = client.post("/v1/turns", json=turn())
    assert answer.status_code == 202
    (one,) = answer.json()["results"]
    assert [(event["id"], event["space"]) for event in recorded(home)] == [(one["id"], "default")]
    found = client.get("/v1/context", params={"session": "s", "after": answer.json()["after"]}).json()
    assert "boat house 0" in found["text"]


CLOUD: dict[str, Any] = {"specversion": "1.0", "source": "/bots/a", "type": "com.example.said"}


@pytest.mark.parametrize(
    ("kind", "body", "contents"),
    [
        ("application/json", json.dumps(turn()), ["0"]),
        ("application/json; charset=utf-8", json.dumps([turn(1), turn(2)]), ["1", "2"]),
        ("application/x-ndjson", f"{json.dumps(turn(1))}\n\n{json.dumps(turn(2))}\n", ["1", "2"]),
        ("application/cloudevents+json", json.dumps(CLOUD | {"id": "x", "data": turn(3)}), ["3"]),
        (
            "application/cloudevents-batch+json",
            json.dumps([CLOUD | {"id": name, "data": turn(n)} for n, name in enumerate("ab")]),
            ["0", "1"],
        ),
    ],
)
def test_events_come_in_any_of_their_shapes(
    client: TestClient, home: Home, kind: str, body: str, contents: list[str]
) -> None:
    for _ in range(2 if "cloud" in kind else 1):  # a CloudEvent has an id of its own
        answer = client.post("/v1/turns", content=body, headers={"Content-Type": kind})
        assert answer.status_code == 202, answer.text
    assert [event["content"][-2] for event in recorded(home)] == contents


def test_a_time_that_looks_like_milliseconds_is_pointed_out(client: TestClient, home: Home) -> None:
    events = [turn(at=1_767_603_600_123), turn(at=1_767_603_600_123_000), turn(at="2026-01-05T09:00:00Z")]
    first, *others = client.post("/v1/turns", json=events).json()["results"]
    assert first["hint"].startswith("at: 1767603600123 is dated 1970, for whole numbers are microseconds")
    assert not any("hint" in one for one in others)


def test_a_bad_line_among_json_lines_is_named(client: TestClient, home: Home) -> None:
    body = b"\n".join([json.dumps(turn()).encode(), b"", b'{"session": "s", "role'])
    answer = client.post("/v1/turns", content=body, headers=JSON_LINES)
    assert (answer.status_code, recorded(home)) == (422, [])
    assert answer.json()["title"].startswith("line 3: the request is not JSON")
    assert "nothing was recorded" in answer.json()["detail"]


@pytest.mark.parametrize("kind", ["application/json", "application/x-ndjson"])
def test_half_of_a_character_costs_no_turn(client: TestClient, home: Home, kind: str) -> None:
    said = b'{"session": "s", "role": "user", "content": "cut \\ud83d, whole \\ud83d\\ude00"}'
    answer = client.post("/v1/turns", content=said, headers={"Content-Type": kind})
    assert answer.status_code == 202, answer.text
    assert [event["content"] for event in recorded(home)] == ["cut ?, whole \U0001f600"]


def test_cloud_events_of_a_source_with_a_long_name_are_told_apart(client: TestClient, home: Home) -> None:
    source = "https://bots.example/" + "a" * 200
    events = [CLOUD | {"source": source, "id": str(n), "data": turn(n // 2)} for n in (0, 1, 2, 0)]
    answer = client.post("/v1/turns", json=events, headers={"Content-Type": "application/cloudevents-batch+json"})
    assert ["duplicate" in one for one in answer.json()["results"]] == [False, False, False, True]
    assert [event["content"][-2] for event in recorded(home)] == ["0", "0", "1"]


def test_a_cloud_event_may_have_its_attributes_in_the_headers(client: TestClient, home: Home) -> None:
    headers = {"ce-specversion": "1.0", "ce-id": "7", "ce-source": "/bots/a", "ce-type": "said", "ce-subject": "chat"}
    given = {"role": "user", "content": "hello"}
    answer = client.post("/v1/turns", json=given, headers=headers | {"ce-time": "2026-01-05T09:00:00Z"})
    assert answer.status_code == 202, answer.text
    (event,) = recorded(home)
    assert (event["id"], event["session"], event["at"]) == ("/bots/a#7", "chat", 1767603600000000)


def test_what_is_sent_again_under_its_key_adds_nothing(client: TestClient, home: Home) -> None:
    for _ in range(2):
        client.post("/v1/turns", json=[turn(1), turn(2)], headers={"Idempotency-Key": '"abc"'})
    client.post("/v1/turns", json=[turn(1), turn(2)], headers={"Idempotency-Key": '"abd"'})
    assert len(recorded(home)) == 4


def test_of_several_events_the_good_are_taken_and_the_others_named(client: TestClient, home: Home) -> None:
    answer = client.post("/v1/turns", json=[turn(1, id="a"), turn(2, role="captain", id="b"), 7])
    assert answer.status_code == 202
    results = answer.json()["results"]
    assert [one["id"] for one in results] == ["a", "b", None]
    assert "position" in results[0]
    assert "role: is 'captain'" in results[1]["refused"]
    assert "JSON object" in results[2]["refused"]
    assert len(recorded(home)) == 1


def test_every_kind_of_fact_has_a_route(client: TestClient, home: Home) -> None:
    client.post("/v1/turns", json=turn(id="t"))
    for kind, fields in {
        "importance-flagged": {"session": "s", "turn": "t"},
        "note-taken": {"note": "n", "content": "Call Ben"},
        "memory-pinned": {"turn": "t"},
        "memory-rewarded": {"turns": ["t"], "reward": -1},
        "effort-closed": {"session": "s", "turn": "t"},
        "consolidation-requested": {},
        "turn-retracted": {"session": "s", "turn": "t"},
    }.items():
        answer = client.post(f"/v1/facts/{kind}", json=fields)
        assert (answer.status_code, "unknown" in answer.json()["results"][0]) == (202, False), kind
        assert recorded(home)[-1]["type"] == f"{kind}.v1"


def test_a_fact_that_stands_already_is_told_so_and_sent_again_under_its_key_it_is_answered_as_it_was(
    client: TestClient, home: Home
) -> None:
    client.post("/v1/turns", json=turn(id="t"))
    client.post("/v1/facts/note-taken", json={"note": "n", "content": "Call Ben"})
    settled = {"note": "n", "resolution": "done"}
    first = client.post("/v1/facts/note-settled", json=settled, headers={"Idempotency-Key": "a"})
    again = client.post("/v1/facts/note-settled", json=settled, headers={"Idempotency-Key": "a"})
    assert (first.status_code, again.status_code) == (202, 202)
    assert again.json()["results"][0]["duplicate"] is True
    known = client.post("/v1/facts/note-settled", json=settled)
    [told] = known.json()["results"]
    assert (known.status_code, told["already"], told["since"][:2]) == (200, "settled", "20")
    assert client.post("/v1/facts/memory-pinned", json={"turn": "t"}).status_code == 202
    assert client.post("/v1/facts/memory-pinned", json={"turn": "t"}).json()["results"][0]["already"] == "pinned"
    assert len(recorded(home)) == 4


@pytest.mark.parametrize(
    ("kind", "fields", "unknown"),
    [
        ("turn-retracted", {"session": "s", "turn": "none"}, ["none"]),
        ("turn-retracted", {"session": "other", "turn": "t"}, ["t"]),
        ("importance-flagged", {"session": "s", "turn": "none"}, ["none"]),
        ("memory-pinned", {"turn": "none"}, ["none"]),
        ("effort-closed", {"session": "s", "name": "boat"}, ["boat"]),
        ("note-settled", {"note": "none"}, ["none"]),
        ("task-updated", {"task": "none", "status": "complete"}, ["none"]),
        ("memory-rewarded", {"turns": ["t", "none", "gone"]}, ["none", "gone"]),
        ("contradiction-judged", {"turn": "none", "older": "t", "contradicts": False}, ["none"]),
    ],
)
def test_a_fact_that_names_what_is_not_known_is_recorded_and_that_is_told(
    client: TestClient, home: Home, kind: str, fields: dict[str, Any], unknown: list[str]
) -> None:
    client.post("/v1/turns", json=turn(id="t"))
    answer = client.post(f"/v1/facts/{kind}", json=fields)
    [told] = answer.json()["results"]
    assert (answer.status_code, told["unknown"], "position" in told) == (202, unknown, True)
    [told] = client.post("/v1/turns", json=fields | {"type": kind}).json()["results"]
    assert told["unknown"] == unknown
    assert recorded(home)[-1]["type"] == f"{kind}.v1"


@pytest.mark.parametrize(
    ("method", "path", "more", "status", "said"),
    [
        ("POST", "/v1/turns", {"content": b"{", "headers": JSON}, 422, "not JSON"),
        ("POST", "/v1/turns", {"content": b"[" * 5000, "headers": JSON}, 422, "not JSON"),
        ("POST", "/v1/turns", {"content": b'"\\ud800"', "headers": JSON}, 422, "JSON"),
        ("POST", "/v1/turns", {"json": {}}, 422, "session"),
        ("POST", "/v1/turns", {"json": turn(space="")}, 422, "space"),
        ("POST", "/v1/turns", {"json": turn(space=["a"])}, 422, "space"),
        ("POST", "/v1/turns", {"json": [turn()] * 10_001}, 422, "too many"),
        ("POST", "/v1/turns", {"content": b"x", "headers": {"Content-Type": "text/plain"}}, 415, "send one of"),
        ("POST", "/v1/turns", {"content": b"x" * (MAX_REQUEST + 1), "headers": JSON}, 413, "too long"),
        ("POST", "/v1/turns", {"content": LISTS, "headers": JSON}, 422, "too many values"),
        ("POST", "/v1/turns", {"content": b"1\n" * 10_001, "headers": JSON_LINES}, 422, "too many"),
        ("POST", "/v1/traces", {"content": LISTS, "headers": JSON}, 422, "too many values"),
        ("POST", "/mcp", {"content": LISTS, "headers": JSON | {"Accept": "application/json"}}, 422, "too many values"),
        ("POST", "/v1/facts/turn-retracted", {"json": []}, 422, "one JSON object"),
        ("POST", "/v1/call", {"json": {"promote": "x"}}, 422, "not understood"),
        ("GET", "/v1/context", {}, 422, "session: is missing"),
        ("GET", "/v1/context", {"params": {"session": "s", "budget": "many"}}, 422, "budget"),
        ("GET", "/v1/context", {"params": {"session": "s", "without": "nonsense"}}, 422, "no section"),
        ("GET", "/v1/recall", {"params": {"query": "a", "as_of": "then"}}, 422, "then"),
        ("GET", "/v1/turns", {"params": {"colour": "blue"}}, 422, "no column 'colour'"),
        ("GET", "/v1/turns", {"params": {"limt": "2"}}, 422, "it takes: space, limit, order, columns, as_of, after"),
        ("GET", "/v1/turns", {"params": {"order": "1; DROP TABLE x"}}, 422, "no order"),
        ("GET", "/v1/views/nonsense", {}, 422, "no view"),
        ("GET", "/v1/show", {"params": {"id": "nothing"}}, 422, "nothing"),
        ("GET", "/v1/events", {"params": {"after": "x"}}, 422, "no position"),
        ("GET", "/v1/events", {"headers": {"Last-Event-ID": "9:9"}}, 422, "no partition 9"),
        ("GET", "/nowhere", {}, 404, "Not Found"),
        ("DELETE", "/v1/turns", {}, 405, "Method Not Allowed"),
    ],
)
def test_what_is_wrong_is_told_as_a_problem(
    client: TestClient, method: str, path: str, more: dict[str, Any], status: int, said: str
) -> None:
    answer = client.request(method, path, **more)
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    told = answer.json()
    assert told["status"] == status
    assert said in told["detail"]


def test_a_position_that_is_not_there_yet_is_waited_for_and_then_told(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(holder, "PATIENCE", 0.1)
    client.post("/v1/turns", json=turn())
    answer = client.get("/v1/context", params={"session": "s", "after": "0:9"})
    assert (answer.status_code, answer.headers["retry-after"]) == (409, "1")


def test_a_home_that_nobody_serves_takes_turns_and_questions_are_told_to_wait(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(holder, "PATIENCE", 0.1)
    with TestClient(http_app.made(home.path), "http://localhost") as client:
        assert client.get("/health/live").status_code == 200
        assert client.get("/health/ready").status_code == 503
        assert client.post("/v1/turns", json=turn()).status_code == 202
        assert len(recorded(home)) == 1
        answer = client.get("/v1/context", params={"session": "s"})
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")


def test_a_log_that_does_not_take_turns_is_told_as_a_problem_and_tried_again(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken: Any = [LogError("the disk is full", "make room"), ZeroDivisionError("a wrong turn")]
    whole = appending.open_log
    monkeypatch.setattr(appending, "open_log", lambda home: whole(home) if not broken else _raise(broken.pop(0)))
    with TestClient(http_app.made(home.path), "http://localhost") as client:
        for said in ("the disk is full", "something unexpected went wrong: ZeroDivisionError"):
            answer = client.post("/v1/turns", json=turn())
            assert (answer.status_code, answer.headers["content-type"]) == (503, "application/problem+json")
            assert said in answer.json()["title"]
        assert client.post("/v1/turns", json=turn()).status_code == 202
    assert len(recorded(home)) == 1


def _raise(error: Exception) -> Any:
    raise error


def test_who_hangs_up_before_the_answer_keeps_nobody_else_from_theirs(home: Home) -> None:
    async def both() -> list[Any]:
        there = Recording(home.path)
        try:
            left = asyncio.ensure_future(there.feed([turn(1, id="a")]))
            await asyncio.sleep(0)
            left.cancel()
            return await there.feed([turn(2, id="b")])
        finally:
            await there.close()

    assert "stored" in asyncio.run(both())[0]
    assert {event["id"] for event in recorded(home)} == {"a", "b"}


def test_spans_of_calls_of_a_model_are_turns_once(client: TestClient, home: Home) -> None:
    body = (Path(__file__).parent / "importers" / "otel.jsonl").read_bytes().splitlines()[0]
    for _ in range(2):
        assert client.post("/v1/traces", content=body, headers=JSON).json() == {}
    assert "How is Oslo" in str([event.get("content") for event in recorded(home)])
    assert len({event["id"] for event in recorded(home)}) == len(recorded(home)) > 1
    told = client.post("/v1/traces", content=b'{"resourceSpans": 7}', headers=JSON)
    assert told.json()["partialSuccess"]["rejectedSpans"] == 1
    assert client.post("/v1/traces", content=body).status_code == 415


def half_a_request(url: str) -> socket.socket:
    """A connection on which a body begins."""
    host, port = url.removeprefix("http://").split(":")
    connection = socket.create_connection((host, int(port)), PATIENCE)
    connection.sendall(
        f"POST /v1/turns HTTP/1.1\r\nHost: {host}:{port}\r\nContent-Type: application/json\r\n"
        "Content-Length: 1000\r\n\r\n{".encode()
    )
    return connection


def test_a_body_that_does_not_go_on_is_given_up(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "STALLED", 0.05)
    with running(http_app.made(home.path)) as url, half_a_request(url) as connection:
        said = b"".join(iter(lambda: connection.recv(65536), b""))  # up to the end of the connection
    head, _, body = said.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 408 ")
    told = json.loads(body)
    assert (told["kind"], told["title"]) == ("BusyError", "the rest of the body did not come within 0.05 seconds")


def test_who_hangs_up_in_the_midst_of_a_body_leaves_no_traceback(tmp_path: Path) -> None:
    with served(tmp_path / "h", "--access-log") as (url, process):
        half_a_request(url).close()
        assert process.stdout is not None
        for line in process.stdout:
            assert "Traceback" not in line
            if "POST" in line:  # the request is over
                break
        assert httpx.get(f"{url}/health/ready", timeout=PATIENCE).status_code == 200
        process.terminate()
        assert "Traceback" not in process.stdout.read()


def test_requests_of_any_shape_are_answered_in_words(tmp_path: Path) -> None:
    import schemathesis  # takes a second: not in every process that reads this file

    with served(tmp_path / "h", "--rate", "100000") as (url, process):
        schema = schemathesis.openapi.from_url(f"{url}/openapi.json", timeout=PATIENCE)
        operations = [found.ok() for found in schema.get_all_operations()]
        asked = [operation for operation in operations if operation.path != "/v1/events"]  # it has no end
        assert len(asked) > 30
        with httpx.Client(base_url=url, timeout=PATIENCE) as client:
            client.post("/v1/turns", json=[turn(n) for n in range(3)])
            for operation in asked:

                @settings(max_examples=max(CASES // len(asked), 3), deadline=None, suppress_health_check=[*HealthCheck])
                @given(case=operation.as_strategy())
                def probe(case: Any) -> None:
                    answer = case.call(base_url=url, timeout=PATIENCE)
                    assert answer.status_code < 500, answer.text
                    if answer.status_code >= 400:
                        assert answer.headers["content-type"] == ["application/problem+json"]

                probe()
            assert client.get("/health/ready").status_code == 200
        assert process.poll() is None


def test_a_query_parameter_that_a_route_does_not_take_is_refused_and_those_it_takes_are_told(
    client: TestClient,
) -> None:
    told = client.get("/v1/context", params={"session": "s", "budgt": 100})
    assert (told.status_code, told.json()["title"]) == (422, "there is no parameter 'budgt'")
    takes = "session, space, format, question, budget, without, details, window, explain, record, at, as_of, after"
    assert told.json()["way_out"] == f"it takes: {takes}"
    paths = client.get("/openapi.json").json()["paths"]
    for path, method in ((path, method) for path, methods in paths.items() for method in methods):
        body = {"json": turn() if path == "/v1/turns" else {}} if method == "post" else {}
        answer = client.request(method, path.replace("{name}", "turns"), params={"budgt": 100}, **body)
        assert (answer.status_code, "'budgt'" in answer.json()["title"]) == (422, True), (method, path, answer.text)
    assert client.get("/v1/turns?limit=1").json() == []


# -- questions ---------------------------------------------------------------------------------------------------------


def test_questions_are_answered_as_commands_answer_them(client: TestClient, home: Home) -> None:
    client.post("/v1/turns", json=[turn(n, id=f"t{n}") for n in range(3)])
    found = client.get("/v1/context", params={"session": "s"}).json()
    assert client.get("/v1/context", params={"session": "s", "format": "messages"}).json() == found["messages"]
    assert client.get("/v1/context", params={"session": "s", "format": "text"}).text == found["text"]
    assert [row["turn_id"] for row in client.get("/v1/turns?session=s&limit=2").json()] == ["t0", "t1"]
    assert [row["turns"] for row in client.get("/v1/manifest?turns=3").json()] == [3]
    assert client.get("/v1/views/turns?turn_id=t2").json() == home.ask("view", name="turns", turn_id="t2")
    assert client.get("/v1/show?id=t1").json()["turns"][0]["turn_id"] == "t1"
    assert client.get("/v1/memory?id=t1").json() == home.ask("memory", id="t1", space="default")
    assert client.get("/v1/spaces").json() == home.ask("spaces")
    assert client.get("/v1/recall?query=boat&k=2&kinds=turn").json()["hits"][0]["kind"] == "turn"
    assert client.get("/v1/needs-recall?session=x&message=boat").json()["needed"] in (True, False)


def test_what_is_due_is_told_by_the_moment_that_is_asked(client: TestClient) -> None:
    noted = {"note": "n", "content": "Call Kim", "ttl": 3600, "at": "2026-01-05T09:00:00Z", "session": "s"}
    assert client.post("/v1/facts/note-taken", json=noted).status_code == 202
    # why as of the note: in a space that is told of live, time passes by itself
    asked = {"session": "s", "format": "text"}
    assert 'at="2199-01-01T00:00:00Z"' in client.get("/v1/context", params=asked | {"at": "2199-01-01"}).text
    assert client.get("/v1/context", params=asked | {"at": "now"}).status_code == 200
    told = client.get("/v1/context", params=asked | {"at": "2020-01-01"})
    assert (told.status_code, "lies before the last event" in told.json()["title"]) == (422, True)


def test_who_declares_a_task_is_told_what_it_depends_on_and_nobody_knows(client: TestClient) -> None:
    fence = {"task": "fence", "content": "Paint the fence", "depends_on": ["brush"]}
    for told in (
        client.post("/v1/facts/task-declared", json=fence),
        client.post("/v1/turns", json=fence | {"type": "task-declared", "task": "gate"}),
    ):
        assert (told.status_code, told.json()["results"][0]["unknown"]) == (202, ["brush"])
    told = client.post("/v1/facts/task-declared", json=fence | {"depends_on": ["fence"]})
    assert (told.status_code, "names the task itself" in told.text) == (422, True)


def test_what_recall_put_into_a_context_is_recorded_as_shown_unless_it_is_only_looked_at(
    client: TestClient, home: Home
) -> None:
    client.post("/v1/turns", json=turn(id="t", session="one", content="Ben keeps the key of the boat house."))
    asked = {"session": "two", "question": "Who keeps the key of the boat house?"}
    client.get("/v1/context", params=asked | {"record": "false"})
    client.get("/v1/recall", params={"query": "boat house"})
    past = {"query": "boat house", "session": "two", "record": "true", "as_of": "0:0"}
    assert client.get("/v1/recall", params=past).json()["hits"]
    assert len(recorded(home)) == 1
    client.get("/v1/context", params=asked)
    client.get("/v1/recall", params={"query": "boat house", "session": "two"})
    assert [event["turns"] for event in recorded(home)[1:]] == [["t"], ["t"]]


def test_who_asks_is_answered_before_it_is_recorded_what_was_shown(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    durable, feed = threading.Event(), Recording.feed

    async def slow(self: Recording, events: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """A disk that is busy."""
        while not durable.is_set():
            await asyncio.sleep(0.01)
        return await feed(self, events)

    home.log.append([TurnRecorded("default", "t", 1, "one", "ann", "user", "Ben keeps the key of the boat house.")])
    monkeypatch.setattr(Recording, "feed", slow)
    asked = {"session": "two", "question": "Who keeps the key of the boat house?"}
    with (
        serving(home),
        running(http_app.made(home.path)) as url,
        httpx.Client(base_url=url, timeout=PATIENCE) as client,
    ):
        assert "Ben keeps" in client.get("/v1/context", params=asked | {"format": "text"}).text
        assert client.get("/v1/recall", params={"query": "boat house", "session": "two"}).json()["hits"]
        assert len(recorded(home)) == 1
        durable.set()
        deadline = time.monotonic() + PATIENCE
        while len(recorded(home)) < 3:
            assert time.monotonic() < deadline
            time.sleep(0.01)
    assert [event["turns"] for event in recorded(home)[1:]] == [["t"], ["t"]]


def test_the_openapi_document_tells_every_route_and_every_field_of_an_event(client: TestClient) -> None:
    told = client.get("/openapi.json").json()
    assert {"/v1/turns", "/v1/context", "/v1/facts/note-taken", "/v1/views/{name}"} <= told["paths"].keys()
    fields = [kind["properties"].keys() for kind in told["components"]["schemas"]["input-line"]["anyOf"]]
    assert any({"session", "content", "reply_to"} <= names for names in fields)


def test_requests_are_counted_and_told_without_what_they_say(
    client: TestClient, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "mnemolog.access")
    client.post("/v1/turns", json=turn(content=SECRET))
    client.get("/v1/recall", params={"query": SECRET})
    assert [record.getMessage().split(" ")[:3] for record in caplog.records] == [
        ["POST", "/v1/turns", "202"],
        ["GET", "/v1/recall", "200"],
    ]
    assert SECRET not in caplog.text
    metrics = client.get("/metrics").text
    assert 'mnemolog_http_requests_total{method="GET",route="/v1/recall",status="200"} 1.0' in metrics
    assert 'mnemolog_http_events_total{outcome="added"} 1.0' in metrics


# -- who may -----------------------------------------------------------------------------------------------------------


def test_a_space_in_which_nothing_was_said_is_told_with_those_that_the_key_is_for(home: Home) -> None:
    keys = Keys(home.path)
    board, both = keys.add("board", ["vello"], ["read"]), keys.add("both", ["velo", "vello"], ["read"])
    home.request(
        {"feed": [turn(space=space, id=space, content="The bike is in the shed.") for space in ("velo", "bank")]}
    )
    with serving(home), TestClient(http_app.made(home.path), "http://localhost") as client:
        for key, names in ((board, ""), (both, "; spaces: velo")):
            with_key = {"headers": {"Authorization": f"Bearer {key}"}}
            asked = [("/v1/context", {"session": "s"}), ("/v1/recall", {"query": "bike"})]
            for path, given in asked:
                found = client.get(path, params=given | {"space": "vello"}, **with_key)
                assert found.json()["hint"] == f"nothing was said in a space 'vello' yet{names}"
                assert "bank" not in found.text
            call = {"ask": "context", "arguments": {"session": "s", "space": "vello"}}
            assert client.post("/v1/call", json=call, **with_key).json()["answer"]["hint"].endswith(f"yet{names}")
        for path, given in asked:
            assert "hint" not in client.get(path, params=given | {"space": "velo"}, **with_key).json()
        assert "hint" not in client.get("/v1/recall?query=heliotrope&space=velo", **with_key).json()


def test_no_call_with_a_key_reaches_another_space(home: Home) -> None:
    token = Keys(home.path).add("bob", ["bob"], ["read", "write"])
    told = {"space": "ann", "session": "ann-chat", "role": "user", "content": f"The {SECRET} is in the shed."}
    note = {"type": "note-taken", "space": "ann", "id": "n0", "note": "n1", "content": SECRET}
    home.request({"feed": [told | {"id": "ann-1"}, note]})
    efforts = [row["effort"] for row in home.ask("view", name="efforts", space="ann")]
    ids = ["ann-1", "n1", *efforts]
    views = ["turns", "efforts", "segments", "notes"]
    with asking(home) as client:
        client.headers["Authorization"] = f"Bearer {token}"
        paths = client.get("/openapi.json").json()["paths"]
        words = {"session": "ann-chat"} | dict.fromkeys(("query", "message", "question"), "What is in the shed?")
        tried = 0
        asked = [(p, id, view) for p in paths for id in ids for view in (views if "{name}" in p else [""])]
        for path, id, view in asked:
            if "get" not in paths[path] or path == "/v1/events":
                continue
            takes = {p["name"] for p in paths[path]["get"].get("parameters", ())} - {"space"}
            params = {key: value for key, value in (words | {"id": id, "details": id}).items() if key in takes}
            for space in ({}, {"space": "ann"}, {"space": "bob"}):
                answer = client.get(path.replace("{name}", view), params=params | space)
                assert answer.status_code < 500
                assert SECRET not in answer.text, (path, params, space)
                tried += answer.status_code == 403
        assert tried > 30
        for what, space in product(QUESTIONS, ({}, {"space": "ann"})):
            fields = QUESTIONS[what].model_fields
            given = words | {"id": "ann-1", "name": "turns", "queries": [{"query": "shed"} | space]}
            given = {key: value for key, value in given.items() if key in fields}
            if "space" in fields or what == "view":
                given |= space
            answer = client.post("/v1/call", json={"ask": what, "arguments": given})
            assert SECRET not in answer.text, (what, given)
        answer = client.post("/v1/turns", json=[turn(space="ann"), turn(space="bob"), turn()])
        assert "not for space 'ann'" in answer.json()["results"][0]["refused"]
        assert client.post("/v1/call", json={"feed": [turn(space="ann")]}).json()["answer"][0]["refused"]
        assert client.get("/metrics").status_code == 403
    assert [event["space"] for event in recorded(home)] == ["ann", "ann", "bob", "bob"]


def test_a_key_to_read_does_not_write_and_one_to_write_does_not_read(home: Home) -> None:
    keys = Keys(home.path)
    reads, writes = keys.add("r", None, ["read"]), keys.add("w", None, ["write"])
    with asking(home) as client:
        for token, read, write in ((reads, 200, 403), (writes, 403, 202)):
            headers = {"x-api-key": token}
            assert client.get("/v1/turns", headers=headers).status_code == read
            assert client.get("/v1/events", headers=headers | {"Last-Event-ID": "x"}).status_code in (403, 422)
            assert client.post("/v1/turns", json=turn(), headers=headers).status_code == write
        keys.remove("w")
        assert client.post("/v1/turns", json=turn(), headers={"x-api-key": writes}).status_code == 401
        assert client.get("/v1/turns").status_code == 401
        assert client.get("/metrics").status_code == 401
        assert client.get("/health/ready").status_code == 200
    assert reads not in keys.path.read_text()
    assert keys.path.stat().st_mode & 0o777 == 0o600
    with pytest.raises(UsageError, match="there is a key 'r'"):
        keys.add("r", None, ["read"])
    with pytest.raises(UsageError, match="no key 'w'"):
        keys.remove("w")


def test_a_page_elsewhere_cannot_ask_through_a_name_that_points_here(home: Home) -> None:
    with asking(home) as client:
        for host, status in (("evil.example", 403), ("localhost:8765", 200), ("[::1]:1", 200), ("127.0.0.1", 200)):
            assert client.get("/v1/spaces", headers={"Host": host}).status_code == status, host


def test_where_others_reach_the_server_a_key_is_needed(home: Home) -> None:
    with asking(home, is_local=False) as client:
        answer = client.get("/v1/spaces")
        assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
    for address, said in (("0.0.0.0:0", "has no keys"), ("nonsense", "no address"), ("127.0.0.1:99999", "no address")):
        serve = ("serve", "--home", home.path, "--http", address)
        done = run(*serve, capture_output=True, text=True, timeout=PATIENCE)
        assert (done.returncode, said in done.stderr) == (2, True), done.stderr


def test_who_asks_too_often_is_told_when_to_ask_again(home: Home) -> None:
    with asking(home, rate=2) as client:
        answers = [client.get("/health/live") for _ in range(50)]
        assert answers[0].status_code == 200
        refused = [answer for answer in answers if answer.status_code == 429]
        assert refused
        assert refused[0].headers["retry-after"] == "1"


def test_rates_are_by_caller_and_refill() -> None:
    now = [0.0]
    rates = limits.Rates(2, lambda: now[0])
    assert [rates.take("a") for _ in range(5)] == [True] * 4 + [False]
    assert rates.take("b")
    now[0] = 0.5
    assert [rates.take("a") for _ in range(2)] == [True, False]


# -- the log as it grows -----------------------------------------------------------------------------------------------


class Listener:
    """Reads server-sent events until it has `count` of them; `times`, if given, gets when each came, in seconds."""

    def __init__(self, url: str, count: int, times: list[float] | None = None, **how: Any) -> None:
        self.found: list[tuple[str, dict[str, Any]]] = []
        self._times = [] if times is None else times
        self.ready = threading.Event()
        self._thread = threading.Thread(target=self._listen, args=(url, count, how), daemon=True)
        self._thread.start()
        assert self.ready.wait(PATIENCE)

    def _listen(self, url: str, count: int, how: dict[str, Any]) -> None:
        with httpx.stream("GET", f"{url}/v1/events", timeout=PATIENCE, **how) as stream:
            id = ""
            for line in stream.iter_lines():
                self.ready.set()
                if line.startswith("id: "):
                    id = line[4:]
                elif line.startswith("data: "):
                    self._times.append(time.perf_counter())
                    self.found.append((id, json.loads(line[6:])))
                    if len(self.found) == count:
                        return

    def wait(self) -> list[tuple[str, dict[str, Any]]]:
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive(), len(self.found)
        return self.found


def test_listeners_hear_what_comes_in_order_and_go_on_where_they_stopped(tmp_path: Path) -> None:
    with served(tmp_path / "h") as (url, _):
        httpx.post(f"{url}/v1/turns", json=turn(0), timeout=PATIENCE)
        listeners = [Listener(url, 40) for _ in range(20)]
        for n in range(1, 41):
            httpx.post(f"{url}/v1/turns", json=turn(n, space="a" if n % 2 else "b"), timeout=PATIENCE)
        heard = [listener.wait() for listener in listeners]
        assert [position for position, _ in heard[0]] == [f"0:{n}" for n in range(1, 41)]
        assert all(one == heard[0] for one in heard)
        again = Listener(url, 30, headers={"Last-Event-ID": heard[0][9][0]}).wait()
        assert again == heard[0][10:]
        whole = Listener(url, 41, params={"after": "start"}).wait()
        assert whole[1:] == heard[0]
        of_a = Listener(url, 20, params={"after": "start", "space": "a", "type": "turn-recorded"}).wait()
        assert {event["space"] for _, event in of_a} == {"a"}


def test_who_begins_to_listen_hears_nothing_of_what_was_there_before(tmp_path: Path) -> None:
    with served(tmp_path / "h") as (url, _):

        def said(*numbers: int) -> str:
            return str(httpx.post(f"{url}/v1/turns", json=[turn(n) for n in numbers], timeout=PATIENCE).json()["after"])

        said(0)
        Listener(url, 1, params={"after": "start"}).wait()
        place = said(1, 2)
        listeners = [Listener(url, 1), Listener(url, 1, params={"after": place})]
        said(3)
        assert [position for one in listeners for position, _ in one.wait()] == ["0:3", "0:3"]


# -- processes ---------------------------------------------------------------------------------------------------------


def test_what_was_acknowledged_stands_in_the_log_though_all_is_killed(tmp_path: Path) -> None:
    known: list[str] = []
    with served(tmp_path / "h") as (url, process):

        def feed() -> None:
            with suppress(httpx.HTTPError), httpx.Client(timeout=PATIENCE) as client:
                while True:
                    answer = client.post(f"{url}/v1/turns", json=[turn(n) for n in range(20)])
                    if answer.status_code != 202:
                        return
                    known.extend(one["id"] for one in answer.json()["results"])

        threads = [threading.Thread(target=feed) for _ in range(4)]
        for thread in threads:
            thread.start()
        while len(known) < 400:
            threads[0].join(0.01)
        children = subprocess.run(["pgrep", "-P", str(process.pid)], capture_output=True, text=True).stdout.split()
        assert children
        for pid in (process.pid, *map(int, children)):
            os.kill(pid, signal.SIGKILL)
        for thread in threads:
            thread.join(PATIENCE)
    with served(tmp_path / "h") as (url, _):
        held = {row["turn_id"] for row in httpx.get(f"{url}/v1/turns", timeout=PATIENCE).json()}
    assert set(known) <= held


def test_when_the_http_server_dies_the_home_is_not_served_in_silence(tmp_path: Path) -> None:
    with served(tmp_path / "h") as (_, process):
        (child,) = subprocess.run(["pgrep", "-P", str(process.pid)], capture_output=True, text=True).stdout.split()
        os.kill(int(child), signal.SIGKILL)
        assert process.wait(PATIENCE) == 1
        assert process.stdout is not None
        assert "the HTTP server ended" in process.stdout.read()


def test_when_who_serves_dies_the_http_server_ends_too(tmp_path: Path) -> None:
    with served(tmp_path / "h") as (url, process):
        process.kill()
        process.wait()
        host, port = url.removeprefix("http://").split(":")
        for _ in range(int(PATIENCE * 20)):
            with socket.socket() as connection:
                if connection.connect_ex((host, int(port))):
                    return
            threading.Event().wait(0.05)
        raise AssertionError("it still listens")


# -- from Python -------------------------------------------------------------------------------------------------------


def test_the_python_module_asks_over_http_as_over_the_socket(tmp_path: Path) -> None:
    (tmp_path / "h").mkdir(mode=0o700)
    token = Keys(tmp_path / "h").add("ann", ["ann"], ["read", "write"])
    with served(tmp_path / "h") as (url, _):
        memory = Memory("ann", url=url, key=token)
        key = memory.record("one", "user", "Ben keeps the key of the boat house.")
        (hit,) = memory.recall("key of the boat house", "two", k=1, kinds=["turn"])
        assert hit["turns"] == [key]
        assert "boat house" in memory.context("one")["text"]
        with pytest.raises(RefusedError, match="role"):
            memory.record("one", "captain", "hello")
        with pytest.raises(RefusedError, match="not for space 'bob'"):
            Memory("bob", url=url, key=token).record("one", "user", "hello")
        with pytest.raises(DeniedError, match="not for space 'bob'"):
            Memory("bob", url=url, key=token).context("one")
        with pytest.raises(DeniedError, match="key is none"):
            Memory("ann", url=url, key="mnemo_x").context("one")

        async def both() -> list[dict[str, Any]]:
            there = AsyncMemory("ann", url=url, key=token)
            await asyncio.gather(*(there.record("many", "user", f"Number {n}") for n in range(20)))
            found: list[dict[str, Any]] = await there.ask("view", name="turns", space="ann", session="many")
            return found

        assert len(asyncio.run(both())) == 20
    with pytest.raises(NotServedError):
        Memory("ann", url=url, key=token, timeout=1).context("one")


@contextmanager
def answering(*answers: tuple[int, bytes]) -> Iterator[str]:
    """The URL of a server that answers so, one request after the other; the last answer is given again and again."""
    left = iter(answers)

    async def answer(request: Request) -> Response:
        status, body = next(left, answers[-1])
        return Response(body, status)

    with running(Starlette(routes=[Route("/{path:path}", answer, methods=["POST"])])) as url:
        yield url


def test_the_python_module_tries_again_where_a_proxy_does_not_reach_the_server() -> None:
    stored = b'{"answer": [{"id": "t", "stored": 0, "partition": 0}]}'
    with answering((502, b"<html>Bad Gateway"), (504, b""), (502, b"[]"), (200, stored)) as url:
        assert Memory("ann", url=url).record("one", "user", "Hello", id="t") == "t"
    with answering((502, b"<html>Bad Gateway")) as url:
        with pytest.raises(UncertainError, match=r"not known whether it was carried out \(status 502: "):
            Memory("ann", url=url, timeout=0.1).record("one", "user", "Hello")
        with pytest.raises(UncertainError, match=r"did not answer within 0.1 seconds \(status 502: "):
            Memory("ann", url=url, timeout=0.1).recall("Hello")


@pytest.mark.parametrize("body", [b"<html>", b"[1, 2]", b"null", b"{}", b'{"error": "x"}', b'{"detail": "Not Found"}'])
@pytest.mark.parametrize("status", [200, 404, 500])
def test_the_python_module_says_where_something_else_answers(status: int, body: bytes) -> None:
    with answering((status, body)) as url, pytest.raises(FailedError, match="is no mnemolog: it answered") as raised:
        Memory("ann", url=url).record("one", "user", "Hello")
    assert f"with status {status}" in str(raised.value)


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_the_requests_of_the_readme_are_answered(tmp_path: Path) -> None:
    text = (Path(__file__).parents[1] / "README.md").read_text()
    code = text.split("<!-- http -->\n```bash\n")[1].split("```")[0]
    (tmp_path / "h").mkdir(mode=0o700)
    token = Keys(tmp_path / "h").add("checkout-bot", ["shop"], ["read", "write"])
    with served(tmp_path / "h") as (url, _):
        code = code.replace("http://127.0.0.1:8765", url)
        done = subprocess.run(["bash", "-euc", code], env=os.environ | {"KEY": token}, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert '"position":"0:0"' in done.stdout
        assert "user: Why is the checkout slow since Tuesday?" in done.stdout


def test_where_nobody_serves_a_server_is_started_once_and_ends_when_it_is_idle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mnemolog, "IDLE", 2)
    monkeypatch.setenv("MNEMOLOG_COMMAND", f"{sys.executable} -m streams.gateways.cli")
    started = len(mnemolog._started)
    memories = [Memory("shop", home=tmp_path / "h") for _ in range(8)]
    threads = [threading.Thread(target=m.record, args=("s", "user", f"hello {n}")) for n, m in enumerate(memories)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert len(memories[0].ask("view", name="turns", space="shop")) == 8
    (server,) = mnemolog._started[started:]
    assert server.wait(PATIENCE) == 0
    assert memories[0].record("s", "user", "and again")  # another is started
    last = mnemolog._started[-1]
    assert last is not server
    assert last.wait(PATIENCE) == 0


def test_two_processes_that_start_a_server_at_once_get_one(tmp_path: Path) -> None:
    code = (
        "import sys, mnemolog; mnemolog.IDLE = 2\n"
        f"print(mnemolog.Memory('shop', home={str(tmp_path / 'h')!r}).record('s', 'user', sys.argv[1]))"
    )
    environment = os.environ | {"MNEMOLOG_COMMAND": f"{sys.executable} -m streams.gateways.cli"}
    both = [
        subprocess.Popen([sys.executable, "-c", code, word], env=environment, stdout=-1, text=True) for word in "ab"
    ]
    assert [process.wait(PATIENCE) for process in both] == [0, 0]
    for process in both:
        assert process.stdout is not None
        process.stdout.close()
    told = (tmp_path / "h" / "serve.log").read_text()
    assert told.count("serving") == 1, told
    while (tmp_path / "h" / "socket").exists():
        threading.Event().wait(0.05)


def test_a_server_that_cannot_be_started_is_told_with_what_it_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MNEMOLOG_COMMAND", f"{sys.executable} -c \"print('no such luck')\"")
    with pytest.raises(NotServedError, match="no such luck"):
        Memory(home=tmp_path / "h").record("s", "user", "hello")
