"""Memory seams of other frameworks, with their real packages, over a home that is served."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from mnemolog import Memory
from streams.runtime.home import Home
from tests.test_runtime import serving

HOSTILE = ["a/b\x1b[31m", "\u202eevil", "'; DROP TABLE log; --", "名前 🦊", "x" * 300]
ODD: list[Any] = [
    {"z": 1, "a": [1.0, -0.0, 1e300, True, None], "nested": {"b": {}, "a": []}},
    {"half of a character": "\ud800", "zero": "a\x00b", "many": 2**80},
    {"deep": __import__("functools").reduce(lambda inner, _: {"in": inner}, range(90), "x")},
    {"日本": "🦊\u2028\n", "": "empty", "type": "message", "json": "{}", "value": 3},
]
"""What JSON can hold, and stores must give back byte for byte."""


def same(one: Any, other: Any) -> bool:
    """Whether two values are the same bytes of JSON: order, kinds of numbers and all."""
    return json.dumps(one) == json.dumps(other)


def live(home: Home, **where: Any) -> list[dict[str, Any]]:
    return home.ask("view", name="recorded_turns", order="position", **where)


# -- OpenAI Agents SDK -------------------------------------------------------------------------------------------------


def session_of(home: Home, name: str = "chat", **how: Any) -> Any:
    adapter = pytest.importorskip("streams.gateways.adapters.openai_agents", exc_type=ImportError)
    return adapter.MnemologSession(name, "ann", home=home.path, **how)


def test_items_of_a_session_come_back_byte_for_byte_and_in_order(home: Home) -> None:
    async def talk() -> None:
        session = session_of(home)
        items = [
            {"role": "user", "content": "Why does the nightly build fail?"},
            {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"},
            {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "logs", "arguments": '{"n": 1}'},
            {"type": "function_call_output", "call_id": "c1", "output": "exit code 137"},
            {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
             "content": [{"type": "output_text", "text": "It runs out of memory.", "annotations": []}]},
            *ODD,
        ]  # fmt: skip
        await session.add_items(items[:3])
        await session.add_items(items[3:])
        assert same(await session.get_items(), items)
        assert same(await session.get_items(2), items[-2:])
        assert await session.get_items(0) == []
        session.session_settings.limit = 3
        assert same(await session.get_items(), items[-3:])
        assert same(await session_of(home).get_items(), items)
        assert await session_of(home, "other").get_items() == []

    with serving(home):
        asyncio.run(talk())
        assert "It runs out of memory." in Memory("ann", home=home.path).context("chat")["text"]
        roles = [(turn["role"], turn["content"]) for turn in live(home)][:5]
    assert roles == [
        ("user", "Why does the nightly build fail?"),
        ("assistant", ""),
        ("assistant", ""),
        ("tool", "exit code 137"),
        ("assistant", "It runs out of memory."),
    ]


def test_popped_and_cleared_items_are_retracted_and_history_keeps_them(home: Home) -> None:
    async def talk() -> None:
        session = session_of(home)
        assert await session.pop_item() is None
        items = [{"role": "user", "content": str(n)} for n in range(4)]
        await session.add_items(items)
        assert await session.pop_item() == items[3]
        assert await session.get_items() == items[:3]
        await session.clear_session()
        await session.clear_session()
        assert await session.get_items() == []
        await session.add_items(items[:1])
        assert await session.get_items() == items[:1]

    with serving(home):
        asyncio.run(talk())
        happened = [turn["retraction"] for turn in live(home)]
    assert happened == ["cleared"] * 3 + ["popped", None]


def test_items_with_ids_that_are_added_again_add_nothing_unless_they_were_popped(home: Home) -> None:
    call = {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "logs", "arguments": "{}"}
    unnamed = {"type": "message", "id": "__fake_id__", "role": "assistant", "content": []}

    async def talk() -> None:
        session = session_of(home)
        for _ in range(3):
            await session.add_items([call])
        assert await session.get_items() == [call]
        for _ in range(2):
            assert await session.pop_item() == call
            assert await session.get_items() == []
            await session.add_items([call])
            await session.add_items([call])
            assert await session.get_items() == [call]
        await session.add_items([call | {"arguments": '{"n": 2}'}])
        assert len(await session.get_items()) == 2
        await session.add_items([unnamed, unnamed])
        assert (await session.get_items())[2:] == [unnamed] * 2

    with serving(home):
        asyncio.run(talk())


def test_sessions_that_are_used_at_once_lose_nothing_and_pop_each_item_once(home: Home) -> None:
    items = [{"role": "user", "content": f"{n}-{m}"} for n in range(4) for m in range(3)]

    async def talk() -> None:
        sessions = [session_of(home) for _ in range(4)]
        await asyncio.gather(*(one.add_items(items[3 * n : 3 * n + 3]) for n, one in enumerate(sessions)))
        found = [item["content"] for item in await session_of(home).get_items()]
        assert sorted(found) == sorted(item["content"] for item in items)
        for n in range(4):
            assert [one for one in found if one.startswith(f"{n}-")] == [f"{n}-{m}" for m in range(3)]
        popped = await asyncio.gather(*(one.pop_item() for one in sessions for _ in range(3)))
        assert sorted(item["content"] for item in popped) == sorted(found)
        assert await sessions[0].pop_item() is None

    with serving(home):
        asyncio.run(talk())


def test_turns_that_came_another_way_are_items_of_the_session_too(home: Home) -> None:
    with serving(home):
        memory = Memory("ann", home=home.path)
        memory.record("chat", "user", "Where is the key?")
        memory.record("chat", "tool", "drawer 3")
        memory.record("chat", "tool", "drawer 4")
        found = asyncio.run(session_of(home).get_items(2))
        assert found == [{"role": "user", "content": "Where is the key?"}]


def test_the_sdks_runner_talks_through_a_session_with_tools_and_goes_on_in_another_process(home: Home) -> None:
    agents = pytest.importorskip("agents")
    from agents.items import ModelResponse
    from agents.usage import Usage
    from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

    class Model(agents.Model):
        """Calls the tool once, then says how many items it was given."""

        def __init__(self) -> None:
            self.given: list[Any] = []

        async def get_response(self, system_instructions: Any, input: Any, *more: Any, **named: Any) -> ModelResponse:
            self.given.append(input)
            n = len(self.given)
            if n == 1:
                said: Any = ResponseFunctionToolCall(
                    id="fc_1", call_id="c1", name="key_of", arguments='{"house": "boat"}', type="function_call"
                )
            else:
                words = ResponseOutputText(text=f"In drawer 3 ({n}).", type="output_text", annotations=[])
                said = ResponseOutputMessage(
                    id=f"msg_{n}", content=[words], role="assistant", status="completed", type="message"
                )
            return ModelResponse(output=[said], usage=Usage(), response_id=None)

        def stream_response(self, *given: Any, **named: Any) -> Any:
            raise NotImplementedError

    @agents.function_tool
    def key_of(house: str) -> str:
        """Where a key is."""
        return f"The key of the {house} house is in drawer 3."

    model = Model()
    agent = agents.Agent(name="janitor", model=model, tools=[key_of])
    settings = agents.RunConfig(tracing_disabled=True)

    async def talk() -> None:
        first = await agents.Runner.run(agent, "Where is the key?", session=session_of(home), run_config=settings)
        assert first.final_output == "In drawer 3 (2)."
        second = await agents.Runner.run(agent, "Sure?", session=session_of(home), run_config=settings)
        assert second.final_output == "In drawer 3 (3)."

    with serving(home):
        asyncio.run(talk())
        kinds = [item.get("type", item.get("role")) for item in model.given[-1]]
        assert kinds == ["user", "function_call", "function_call_output", "message", "user"]
        assert "drawer 3" in Memory("ann", home=home.path).recall("key of the boat house")[0]["text"]
