"""A key for some spaces: what it is answered does not depend on what any other space holds.

Two homes hold the same space, and one of them others besides, whose names begin as its own does and in which sessions,
turns, notes, tasks and efforts are called as they are there. Whatever is asked with the key of the one space, of any
question, route or tool and with anything in any argument, the two answer alike.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import chain, product
from pathlib import Path
from typing import Any

import pytest
from httpx2 import Response
from starlette.testclient import TestClient

from processors import PROCESSORS
from streams.gateways.http import app as http_app
from streams.gateways.http.keys import Keys
from streams.runtime.home import Home
from streams.runtime.requests import QUESTIONS
from tests.serving import serving

OWN, OTHERS = "shop", ("shop-board", "shopping", "sho", "Shop", "bank")
WHO = ("space", "session", "turn")
NOW = "2026-01-05T09:{:02}:00Z"
HOSTILE: tuple[Any, ...] = (
    "space", "shop-board", "board-t1..board-t2", "heliotrope", "space DESC, content", "shop%", None, ["shop-board"],
)  # fmt: skip
"""Names of arguments and columns, of other spaces and of what they hold, and what is no name."""
DRAWN = re.compile(
    r"[0-9a-f]{8}-[0-9a-f-]{27}|\b[0-9a-f]{8,}\b|\b\d:\d+|position=\W+\d+|(?!2026-01-05T09)\d{4}-\d\d-\d\dT[0-9:.]+Z"
)
"""What is drawn or stamped when something is recorded: ids, positions and times."""
SCORE = re.compile(r"\d+\.\d+")
"""What depends on when something was recorded."""


def talk(space: str, begin: str, about: str) -> list[dict[str, Any]]:
    """Something of every kind; what is in it is called by names that begin so."""
    said = [
        ("user", f"Why does the build of the {about} fail at night? We need to mend it before the meeting."),
        ("assistant", f"Because the {about} has no memory left: the answer is to give it 4 GB."),
        ("user", f"That fixed it. Remind me to order {about} soon. Anna Weber lives in {about} Street 7."),
        ("assistant", f"Noted. The {about} costs 40 euros, and it is due on Friday."),
        ("user", f"No, the {about} costs 50 euros. Let us plan the opening of the {about} next."),
    ]
    turns = [
        {"id": f"{begin}t{n}", "session": f"{begin}talk", "role": role, "content": content, "agent": f"{begin}{role}"}
        for n, (role, content) in enumerate(said)
    ]
    facts: list[dict[str, Any]] = [
        {"type": "note-taken", "note": f"{begin}note-12345", "content": f"Call about the {about}", "priority": 0.9},
        {"type": "task-declared", "task": f"{begin}task", "content": f"Paint the {about}"},
        {"type": "effort-declared", "session": f"{begin}talk", "name": f"{begin}effort",
         "topic": f"Opening of the {about}"},
        {"type": "importance-flagged", "session": f"{begin}talk", "turn": f"{begin}t1"},
        {"type": "memory-recalled", "cue": f"the {about}", "turns": [f"{begin}t1"], "session": f"{begin}talk"},
        {"type": "session-inherited", "session": f"{begin}later", "older": f"{begin}talk"},
        {"type": "summary-written", "session": f"{begin}talk", "first_turn": f"{begin}t0", "last_turn": f"{begin}t2",
         "text": f"The {about} was mended."},
    ]  # fmt: skip
    facts = [{"id": f"{begin}f{n}"} | fact for n, fact in enumerate(facts)]
    return [{"space": space, "at": NOW.format(n)} | event for n, event in enumerate(turns + facts)]


@contextmanager
def asked(path: Path, events: list[dict[str, Any]]) -> Iterator[TestClient]:
    """A client with a key for the one space, of a home that holds events."""
    home = Home(path, PROCESSORS)
    try:
        assert not [one for one in home.request({"feed": events}) if "refused" in one]
        token = Keys(path).add("till", [OWN], ["read", "write"])
        with serving(home), TestClient(http_app.made(path, rate=1e9), "http://localhost") as client:
            client.headers["Authorization"] = f"Bearer {token}"
            yield client
    finally:
        home.log.close()


@pytest.fixture
def clients(tmp_path: Path) -> Iterator[tuple[TestClient, TestClient]]:
    """Of a home with the one space, and of one with others behind it."""
    own = talk(OWN, "", "bakery")
    others = [talk(space, begin, "heliotrope") for space in OTHERS for begin in ("", "board-")]
    with ExitStack() as stack:
        alone = stack.enter_context(asked(tmp_path / "alone", own))
        yield alone, stack.enter_context(asked(tmp_path / "beside", [*own, *chain(*others)]))


def words(text: str) -> set[str]:
    """What an answer says, in whatever order."""
    return set(re.split(r"[\s\[\]{},]+", text))


def alike(
    clients: tuple[TestClient, TestClient], method: str, path: str, *differs: re.Pattern[str], **how: Any
) -> Response:
    """Asks both, who answer alike but for what `differs` where the same was recorded twice; the answer."""
    alone, beside = (client.request(method, path, **how) for client in clients)
    assert alone.status_code < 500, (path, how, alone.text)
    assert beside.status_code == alone.status_code, (path, how, beside.text)
    texts = [alone.text, beside.text]
    for drawn in differs:
        texts = [drawn.sub("#", text) for text in texts]
    assert words(texts[0]) == words(texts[1]), (path, how)
    return alone


GIVEN: dict[str, dict[str, Any]] = {
    "view": {"name": "turns"},
    "spaces": {},
    "digest": {},
    "show": {"id": "t1"},
    "context": {"session": "talk", "question": "What does the bakery cost?"},
    "recall": {"query": "What does the bakery cost, and the heliotrope?"},
    "recall_batch": {"queries": [{"query": "the heliotrope"}]},
    "memory": {"id": "t1"},
    "needs_recall": {"session": "talk", "message": "What does the heliotrope cost?"},
    "known": {"fact": {"type": "note-settled", "note": "note-12345"}},
}
"""Questions that are asked rightly."""


def test_no_argument_of_a_question_widens_what_a_key_reads(clients: tuple[TestClient, TestClient]) -> None:
    def ask(what: str, /, **arguments: Any) -> int:
        return alike(clients, "POST", "/v1/call", DRAWN, json={"ask": what, "arguments": arguments}).status_code

    assert GIVEN.keys() == QUESTIONS.keys()
    for what, question in QUESTIONS.items():
        assert ask(what, **GIVEN[what]) == (403 if what == "digest" else 200)
        for argument in (*question.model_fields, "what", "self", "connection", "sight", "memory", "limit", *WHO):
            for value in HOSTILE:
                ask(what, **GIVEN[what] | {argument: value})
                if what == "recall_batch":
                    ask(what, queries=[{"query": "the heliotrope", argument: value}])
                if what == "known":
                    ask(what, fact=GIVEN[what]["fact"] | {argument: value})
    for argument, value, begins in product(("order", "columns", *WHO), HOSTILE, ("space", "turn_id")):
        ask("view", **{"name": "turns", "turn_id": "t", argument: value} | {"begins": begins})


def test_no_view_shows_a_key_another_space(clients: tuple[TestClient, TestClient]) -> None:
    told = clients[0].get("/v1/views/none").json()["way_out"]
    views = told.removeprefix("views: ").partition(";")[0].split(", ")
    assert len(views) > 30
    for view in views:
        for more in ({}, {"begins": "space"}, {"order": "space DESC"}):
            alike(clients, "GET", f"/v1/views/{view}", DRAWN, params=more)


def test_no_parameter_of_a_route_widens_what_a_key_reads(clients: tuple[TestClient, TestClient]) -> None:
    paths = clients[0].get("/openapi.json").json()["paths"]
    right = {"session": "talk", "id": "t1", "query": "the heliotrope", "message": "the heliotrope", "q": "heliotrope"}
    right |= {"record": "false"}
    pages = ["/", "/session", "/context", "/recall", "/links", "/beliefs", "/efforts", "/compare"]
    tried = 0
    for path in [*(path for path in paths if "get" in paths[path]), *pages]:
        if path in ("/v1/events", "/openapi.json", "/metrics"):
            continue
        named = [one["name"] for one in paths.get(path, {}).get("get", {}).get("parameters", ())]
        given = {name: value for name, value in right.items() if name in named or path in pages}
        how_asked = {"name", "what", "self", "limit"} if path == "/v1/turns" else set()
        for argument in {*named, "space", "begins", *how_asked} - {"after", "format", "explain", "record", "history"}:
            for value in HOSTILE[:4]:
                how = given | {argument: value}
                tried += alike(clients, "GET", path.format(name="turns"), DRAWN, params=how).status_code == 200
    assert tried > 60


def test_no_argument_of_a_tool_widens_what_a_key_reads(clients: tuple[TestClient, TestClient]) -> None:
    calling = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}

    def called(method: str, **params: Any) -> Any:
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        return alike(clients, "POST", "/mcp", DRAWN, SCORE, json=message, headers=calling).json()

    for space in ("shop", "shop-board", "shop%2F..%2Fshop-board", ""):
        for kind in ("manifest", "efforts"):
            called("resources/read", uri=f"memory://{space}/{kind}")
    called("prompts/get", name="remember", arguments={"session": "board-talk", "question": "the heliotrope"})
    tools = called("tools/list")["result"]["tools"]
    fill = {"string": "board-t1", "number": 0.5, "array": ["board-t1"], "integer": 8}
    for tool in tools:
        schema = tool["inputSchema"]
        needed = {name: fill[schema["properties"][name]["type"]] for name in schema.get("required", ())}
        called("tools/call", name=tool["name"], arguments=needed)
        for argument in schema["properties"]:
            for value in HOSTILE[:4]:
                called("tools/call", name=tool["name"], arguments=needed | {argument: value})
    assert "heliotrope" not in json.dumps(called("tools/call", name="stats", arguments={}))
