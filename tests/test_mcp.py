"""The Model Context Protocol, with the client of the official SDK over both transports."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import httpx2
import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.server.stdio import stdio_server

import mnemolog
from streams.core.text.echo import CLOSE, FRAME, without_echo
from streams.gateways.http.keys import Keys
from tests.processes import PIPE, Program
from tests.serving import PATIENCE, served

READS = {"context", "recall", "session_recall", "expand", "notes", "tasks", "stats"}
WRITES = {
    "store",
    "note",
    "settle",
    "declare_task",
    "update_task",
    "open_effort",
    "close_effort",
    "flag",
    "reward",
    "consolidate",
}

Session = Callable[[Client], Awaitable[None]]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "h").mkdir(mode=0o700)
    return tmp_path / "h"


@asynccontextmanager
async def piped(home: Path) -> AsyncIterator[Any]:
    """What a client writes to a forked server's standard input, and reads from its output: lines as a server's."""
    with Program("mcp", "--home", home, stdin=PIPE, stdout=PIPE, encoding="utf-8") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        read, write = anyio.wrap_file(process.stdout), anyio.wrap_file(process.stdin)
        async with stdio_server(stdin=read, stdout=write) as streams:
            try:
                yield streams
                process.stdin.close()
                assert await anyio.to_thread.run_sync(process.wait, PATIENCE) == 0
            finally:
                process.kill()


@pytest.fixture(params=["pipes", "http"])
def run(request: pytest.FixtureRequest, home: Path) -> Iterator[Callable[[Session], None]]:
    """Runs a session of a client with a server over one of the transports; over `stdio` the client starts it."""
    with served(home) as (url, _):
        arguments = ["-m", "streams.gateways.cli", "mcp", "--home", str(home)]
        stdio = StdioServerParameters(command=sys.executable, args=arguments, env=dict(os.environ))

        async def session(do: Session) -> None:
            server: Any = {"pipes": piped(home), "http": f"{url}/mcp", "stdio": stdio}[request.param]
            async with Client(server, read_timeout_seconds=PATIENCE) as found:
                await do(found)

        yield lambda do: asyncio.run(session(do))


started = pytest.mark.parametrize("run", ["stdio", "http"], indirect=True)
"""With a server over stdio that the client starts, as agents do: once for what it does and once for what it refuses,
for its start takes longer than all else of most tests."""


async def called(client: Client, name: str, **arguments: Any) -> dict[str, Any]:
    """What a tool gives; it is told as text, too."""
    answer = await client.call_tool(name, arguments)
    assert not answer.is_error, answer.content
    assert answer.structured_content is not None, name
    return dict(answer.structured_content)


async def refused(client: Client, name: str, **arguments: Any) -> str:
    answer = await client.call_tool(name, arguments)
    assert answer.is_error
    return str(answer.content[0].text)  # type: ignore[union-attr]


@started
def test_an_agent_keeps_finds_and_takes_back_what_was_said(run: Callable[[Session], None]) -> None:
    async def talk(client: Client) -> None:
        key = await called(client, "store", content="Ben keeps the key of the boat house at Miller's.", session="one")
        assert key["position"] == "0:0"
        await called(client, "store", content="My favourite colour is blue.", session="two", role="user", agent="ann")
        found = await called(client, "recall", query="key of the boat house", session="two")
        assert found["hits"][0]["turns"] == [key["id"]]
        assert "at Miller's" in found["text"]
        given = await called(client, "context", session="three", question="Where is the key of the boat house?")
        assert given["turns"] == [key["id"]]
        assert "at Miller's" in (await called(client, "expand", id=key["id"]))["text"]
        hand = await called(client, "session_recall", message="Where is the key of the boat house?", session="four")
        assert (hand["needed"], hand["hits"][0]["id"]) == (True, key["id"])
        hand = await called(client, "session_recall", message="Where is the key of the boat house?", session="four")
        assert (hand["needed"], hand["hits"]) == (False, [])
        await called(client, "forget", turn=key["id"])
        assert (await called(client, "recall", query="key of the boat house"))["hits"] == []

    run(talk)


def test_a_message_that_is_stored_again_with_its_key_is_stored_once(run: Callable[[Session], None]) -> None:
    async def talk(client: Client) -> None:
        one = {"content": "The roof leaks.", "session": "one", "idempotency_key": "1"}
        first = await called(client, "store", **one)
        assert await called(client, "store", **one) == first
        for other in ({"idempotency_key": "2"}, {"idempotency_key": ""}, {"session": "two"}):
            assert (await called(client, "store", **one | other))["id"] != first["id"]
        assert first["id"] in await refused(client, "store", **one | {"content": "The roof is mended."})
        assert (await called(client, "stats"))["turns"] == 4

    run(talk)


def test_work_is_opened_closed_flagged_and_noted(run: Callable[[Session], None]) -> None:
    async def talk(client: Client) -> None:
        await called(client, "open_effort", topic="Repair of the boat house", session="s")
        turn = await called(client, "store", content="The roof of the boat house leaks at the chimney.", session="s")
        await called(client, "note", content="Order slates for the roof", ttl="urgent", priority=0.9)
        await called(client, "flag", turn=turn["id"])
        await called(client, "reward", turns=[turn["id"]], reward=0.5)
        await called(client, "consolidate")
        stats = await called(client, "stats")
        assert (stats["turns"], stats["open_efforts"], stats["open_notes"]) == (1, 1, 1)
        (content,) = (await client.read_resource("memory://default/efforts")).contents
        assert "Repair of the boat house" in content.text  # type: ignore[union-attr]
        (content,) = (await client.read_resource("memory://default/manifest")).contents
        assert turn["id"] in content.text  # type: ignore[union-attr]
        closed = await called(client, "close_effort", effort=turn["id"], conclusion="The chimney was sealed.")
        assert (await called(client, "stats"))["open_efforts"] == 0
        again = await called(client, "close_effort", effort=turn["id"])
        assert (sorted(closed), again["already"], again["since"] is not None) == (["id", "position"], "closed", True)
        assert (await called(client, "flag", turn=turn["id"]))["already"] == "flagged"
        assert "position" in await called(client, "flag", turn=turn["id"], importance="normal")
        await called(client, "forget", turn=turn["id"])
        assert (await called(client, "forget", turn=turn["id"]))["already"] == "taken back"
        (message,) = (await client.get_prompt("remember", {"session": "s"})).messages
        assert "boat house" in message.content.text  # type: ignore[union-attr]

    run(talk)


def test_an_effort_that_was_opened_is_closed_by_the_id_that_was_told(run: Callable[[Session], None]) -> None:
    async def talk(client: Client) -> None:
        opened = await called(client, "open_effort", topic="Repair of the boat house", session="s")
        (content,) = (await client.read_resource("memory://default/efforts")).contents
        assert opened["id"] in content.text  # type: ignore[union-attr]
        assert "already" not in await called(client, "close_effort", effort=opened["id"], conclusion="Sold it.")
        assert (await called(client, "stats"))["open_efforts"] == 0

    run(talk)


def test_what_is_not_known_is_told_to_who_says_something_of_it(run: Callable[[Session], None]) -> None:
    async def talk(client: Client) -> None:
        turn = await called(client, "store", content="The roof of the boat house leaks at the chimney.", session="s")
        assert (await called(client, "update_task", task="roof", status="complete"))["unknown"] == ["roof"]
        assert (await called(client, "reward", turns=[turn["id"], "none"]))["unknown"] == ["none"]
        assert "unknown" not in await called(client, "reward", turns=[turn["id"]])

    run(talk)


def test_a_note_is_told_the_id_that_it_has_everywhere(run: Callable[[Session], None]) -> None:
    async def talk(client: Client) -> None:
        note = await called(client, "note", content="Order slates for the roof")
        shown = await called(client, "expand", id=note["id"])
        assert (shown["turns"], "Order slates for the roof" in shown["text"]) == ([note["id"]], True)

    run(talk)


def test_when_a_note_is_due_can_be_said_and_what_is_due_is_told_by_the_moment_that_is_asked(
    run: Callable[[Session], None],
) -> None:
    async def do(client: Client) -> None:
        await called(client, "note", content="Call Kim", due="2199-01-20", session="s")
        found = await called(client, "notes")
        assert "due 2199-01-20" in found["text"]
        assert "overdue: Call Kim" in (await called(client, "context", session="s", at="2199-01-21T00:00:00Z"))["text"]
        for at in ("", "now"):
            assert "days: Call Kim" in (await called(client, "context", session="s", at=at))["text"]
        assert "2d, 3h, 90m" in await refused(client, "note", content="Call Kim", due="tomorrow")
        assert "lies before the last event" in await refused(client, "context", session="s", at="2026-01-05")

    run(do)


def test_a_note_is_listed_until_it_is_settled_and_settling_it_again_says_so(run: Callable[[Session], None]) -> None:
    async def talk(client: Client) -> None:
        await called(client, "store", content="Remind me to pay the slater next Friday.", session="s")
        taken = await called(client, "note", content="Order slates for the roof", ttl="urgent")
        listed = await called(client, "notes")
        assert "Order slates for the roof" in listed["text"]
        assert "Order slates" not in without_echo(listed["text"])
        (one,) = [note for note in listed["notes"] if note["note"] == taken["id"]]
        assert (one["status"], one["turn"], one["deadline"][:2]) == ("open", None, "20")
        (inferred,) = [note for note in listed["notes"] if note["turn"]]
        for note in (one, inferred):
            done = await called(client, "settle", note=note["note"], resolution="Slates and slater are paid.")
            assert sorted(done) == ["id", "position"]
            again = await called(client, "settle", note=note["note"])
            assert (again["already"], again["since"][:2]) == ("settled", "20")
        assert (await called(client, "notes"))["notes"] == []
        settled = (await called(client, "notes", status="settled"))["notes"]
        assert {note["resolution"] for note in settled} == {"Slates and slater are paid."}
        assert "no note 'nothing'. `notes` lists them" in await refused(client, "settle", note="nothing")

    run(talk)


def test_tasks_are_listed_as_they_stand_until_they_end(run: Callable[[Session], None]) -> None:
    async def talk(client: Client) -> None:
        await called(client, "declare_task", task="slates", content="Order slates for the roof", priority=0.9)
        await called(client, "declare_task", task="roof", content="Mend the roof", depends_on=["slates"], priority=0.4)
        listed = await called(client, "tasks")
        assert [(one["task"], one["place"], one["status"]) for one in listed["tasks"]] == [
            ("slates", "active", "planning"), ("roof", "aside", "blocked"),
        ]  # fmt: skip
        assert "task active, planning [slates]: Order slates for the roof" in listed["text"]
        assert "Order slates" not in without_echo(listed["text"])
        await called(client, "update_task", task="slates", status="complete", reason="They come on Monday.")
        assert [one["task"] for one in (await called(client, "tasks"))["tasks"]] == ["roof"]
        (ended,) = (await called(client, "tasks", place="ended"))["tasks"]
        assert (ended["status"], ended["reason"]) == ("complete", "They come on Monday.")

    run(talk)


def test_who_declares_a_task_is_told_what_it_depends_on_and_nobody_knows(run: Callable[[Session], None]) -> None:
    async def do(client: Client) -> None:
        await called(client, "declare_task", task="paint", content="Buy paint")
        fence = await called(
            client, "declare_task", task="fence", content="Paint the fence", depends_on=["paint", "brush"]
        )
        assert fence["unknown"] == ["brush"]
        refusal = await refused(client, "declare_task", task="gate", content="Paint the gate", depends_on=["gate"])
        assert "names the task itself" in refusal

    run(do)


def test_a_space_in_which_nothing_was_said_is_told_with_those_there_are(run: Callable[[Session], None]) -> None:
    async def do(client: Client) -> None:
        empty = "nothing was said in a space 'vello' yet"
        for tool, given in (("context", {"session": "s"}), ("recall", {"query": "the bike"})):
            assert f"\n{empty}\n" in (await called(client, tool, space="vello", **given))["text"]
        await called(client, "store", content="The bike is in the shed.", session="s", space="velo")
        for tool, given in (("context", {"session": "s"}), ("recall", {"query": "the bike"})):
            found = (await called(client, tool, space="vello", **given))["text"]
            assert found.startswith(FRAME)
            assert found.endswith(f"\n{empty}; spaces: velo\n{CLOSE}")
            assert "nothing was said" not in (await called(client, tool, space="velo", **given))["text"]
        assert (await called(client, "recall", space="velo", query="heliotrope"))["text"] == ""

    run(do)


@started
def test_what_is_wrong_is_told_with_the_way_out(run: Callable[[Session], None]) -> None:
    async def talk(client: Client) -> None:
        assert "no effort or turn 'nothing'" in await refused(client, "close_effort", effort="nothing")
        for name, arguments, told in (
            ("store", {"content": "hello", "role": "captain"}, 'role is "captain": it takes one of "user"'),
            ("store", {"text": "hello"}, 'there is no argument "text"; content is missing: it takes text'),
            ("recall", {"query": "key", "k": 500}, "k is 500: it takes a whole number from 1 to 50"),
            ("recall", {"query": ["key"]}, 'query is ["key"]: it takes text'),
            ("reward", {"turns": []}, "turns is []: it takes a list of 1 to 32 values, each text"),
            ("declare_task", {"task": "t", "content": "x", "estimate": -1}, "estimate is -1: it takes a number of 0"),
            ("store", {"content": "x", "session": "s" * 300}, "it takes text of at most 200 characters"),
        ):  # fmt: skip
            said = await refused(client, name, **arguments)
            assert told in said, said
            assert "pydantic" not in said.lower()
            right = json.loads(said[said.rindex(f"for example {name}(") + len(f"for example {name}(") : -2])
            if "reward" not in name:
                await called(client, name, **right)
        assert "nothing" in await refused(client, "expand", id="nothing")
        assert "space" in await refused(client, "store", content="hello", space="a\x00b")
        with pytest.raises(MCPError):
            await client.read_resource("memory://default/secrets")

    run(talk)


def test_tools_tell_what_they_do_to_the_memory(run: Callable[[Session], None]) -> None:
    async def talk(client: Client) -> None:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert tools.keys() == READS | WRITES | {"forget"}
        for name, tool in tools.items():
            hints = tool.annotations
            assert hints is not None
            assert (hints.read_only_hint, hints.destructive_hint) == (name in READS, name == "forget"), name
            assert hints.open_world_hint is False
            assert tool.output_schema is not None
            assert tool.description

    run(talk)


def test_what_tools_answer_is_known_when_it_comes_back(run: Callable[[Session], None]) -> None:
    async def talk(client: Client) -> None:
        turn = await called(client, "store", content="Ben keeps the key\nof the boat house.", session="one")
        for name, arguments in {
            "recall": {"query": "key boat house"},
            "context": {"session": "two", "question": "Who keeps the key of the boat house?"},
            "expand": {"id": turn["id"]},
        }.items():
            answer = await client.call_tool(name, arguments)
            for said in (answer.content[0].text, answer.structured_content["text"]):  # type: ignore
                assert "boat house" in said
                assert "boat house" not in without_echo(said), name

    run(talk)


def test_a_prompt_that_cannot_be_given_tells_why(run: Callable[[Session], None]) -> None:
    async def talk(client: Client) -> None:
        with pytest.raises(MCPError, match="session: string should have at most 500 characters"):
            await client.get_prompt("remember", {"session": "x" * 600})
        with pytest.raises(MCPError, match="there is no prompt 'x'; prompts: remember"):
            await client.get_prompt("x")

    run(talk)


def test_a_key_keeps_tools_to_its_space(home: Path) -> None:
    token = Keys(home).add("bob", ["bob"], ["read", "write"])
    with served(home) as (url, _):
        mnemolog.Memory("ann", home=home).record("s", "user", "The heliotrope is in the shed.", id="ann-1")
        mnemolog.Memory("ann", home=home).note("Water the heliotrope", "ann-note")

        @asynccontextmanager
        async def connected(key: str) -> AsyncIterator[Client]:
            headers = {"Authorization": f"Bearer {key}"}
            async with (
                httpx2.AsyncClient(headers=headers, timeout=PATIENCE) as http,
                Client(streamable_http_client(f"{url}/mcp", http_client=http)) as client,
            ):
                yield client

        async def talk() -> None:
            async with connected(token) as client:
                for space in ({}, {"space": "ann"}):
                    for name, arguments in {
                        "recall": {"query": "shed"}, "context": {"session": "s", "question": "What is in the shed?"},
                        "session_recall": {"message": "What is in the shed?"}, "expand": {"id": "ann-1"}, "stats": {},
                        "forget": {"turn": "ann-1"}, "flag": {"turn": "ann-1"}, "close_effort": {"effort": "ann-1"},
                        "notes": {}, "tasks": {}, "settle": {"note": "ann-note"},
                        "store": {"content": "mine", "session": "s"},
                    }.items():  # fmt: skip
                        answer = await client.call_tool(name, arguments | space)
                        assert "heliotrope" not in str(answer), name
                        assert answer.is_error or not space, name
                assert (await called(client, "stats"))["turns"] == 1
                with pytest.raises(MCPError, match="not for space"):
                    await client.read_resource("memory://ann/manifest")
            with pytest.raises(BaseExceptionGroup):
                async with connected("mnemo_none") as client:
                    await client.list_tools()

        asyncio.run(talk())
        assert len(mnemolog.Memory("ann", home=home).ask("view", name="turns", space="ann")) == 1
