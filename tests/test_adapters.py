"""Memory seams of other frameworks, with their real packages, over a home that is served."""

from __future__ import annotations

import asyncio
import inspect
import json
import threading
import warnings
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from mnemolog import DeniedError, Memory
from streams.gateways.adapters import mem0
from streams.gateways.http.keys import Keys
from streams.runtime.home import Home
from tests.serving import served, serving

HOSTILE = ["", "a/b\x1b[31m", "a/b [31m", "\ud800", "\u202eevil", "'; DROP TABLE log; --", "名前 🦊", "x" * 300]
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


def test_they_work_over_http_with_a_key_of_their_space_alone(tmp_path: Path) -> None:
    (tmp_path / "h").mkdir(mode=0o700)
    token = Keys(tmp_path / "h").add("bot", ["ann"], ["read", "write"])
    with served(tmp_path / "h") as (url, _):
        memory = mem0.Memory(space="ann", url=url, key=token)
        (added,) = memory.add("Ben keeps the key of the boat house.", user_id="u1")["results"]
        memory.update(added["id"], "Ann keeps the key of the boat house.")
        (found,) = memory.search("key of the boat house", filters={"user_id": "u1"})["results"]
        assert (found["id"], found["memory"]) == (added["id"], "Ann keeps the key of the boat house.")
        with pytest.raises(DeniedError, match="not for space 'bob'"):
            mem0.Memory(space="bob", url=url, key=token).add("hello", user_id="u1")


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
        for name in HOSTILE:
            await session_of(home, name).add_items([{"role": "user", "content": name}])
        for name in HOSTILE:
            assert await session_of(home, name).get_items() == [{"role": "user", "content": name}]

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


def test_a_call_that_a_model_names_as_an_earlier_one_is_another_call_once_a_user_spoke_again(home: Home) -> None:
    called = [
        {
            "type": "function_call",
            "id": "__fake_id__",
            "call_id": "functions.time:0",
            "name": "time",
            "arguments": "{}",
        },
        {"type": "function_call_output", "call_id": "functions.time:0", "output": "late"},
    ]

    async def talk() -> None:
        session = session_of(home)
        asked: list[Any] = [{"role": "user", "content": "What time is it?"}]
        for _ in range(2):
            await session.add_items(asked)
            await session.add_items(called)
            await session.add_items(called[1:])
        await session.add_items(asked + called)
        assert await session.get_items() == (asked + called) * 3
        await session.add_items(["text"])
        assert await session.pop_item() == "text"
        numbered = session_of(home, name=7)  # type: ignore[arg-type]
        await numbered.add_items(asked)
        assert await numbered.get_items() == asked

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


# -- LangGraph ---------------------------------------------------------------------------------------------------------


def store_of(home: Home, **how: Any) -> Any:
    adapter = pytest.importorskip("streams.gateways.adapters.langgraph", exc_type=ImportError)
    return adapter.MnemologStore("ann", home=home.path, **how)


def test_items_of_a_store_come_back_byte_for_byte_whatever_they_are_called(home: Home) -> None:
    with serving(home):
        store = store_of(home)
        for name, value in zip(HOSTILE, ODD * 2, strict=True):
            namespace = ("users", name or "none")
            store.put(namespace, name, value)
            found = store_of(home).get(namespace, name)
            assert same(found.value, value)
            assert (found.namespace, found.key) == (namespace, name)
        assert store.get(("users",), "nothing") is None


def test_an_item_that_is_no_dict_is_refused_before_anything_is_written(home: Home) -> None:
    with serving(home):
        store = store_of(home)
        from langgraph.store.base import PutOp

        for value in ("text", [1], 5):
            with pytest.raises(TypeError, match="the value of 'b' must be a dict"):
                store.batch([PutOp(("n",), "a", {"x": 1}), PutOp(("n",), "b", value)])  # type: ignore[arg-type]
        assert store.search(("n",), filter={"x": 1}) == []


def test_an_item_put_again_is_one_item_and_history_keeps_what_it_was(home: Home) -> None:
    with serving(home):
        store = store_of(home)
        store.put(("prefs",), "theme", {"is": "dark"})
        first = store.get(("prefs",), "theme")
        store.put(("prefs",), "theme", {"is": "dark"})
        assert store.get(("prefs",), "theme") == first
        store.put(("prefs",), "theme", {"is": "light"})
        second = store.get(("prefs",), "theme")
        assert second.value == {"is": "light"}
        assert second.created_at == first.created_at < second.updated_at
        for _ in range(2):
            store.delete(("prefs",), "theme")
            assert store.get(("prefs",), "theme") is None
        assert store.search(("prefs",)) == store.list_namespaces() == []
        store.put(("prefs",), "theme", {"is": "dark"})
        assert store.get(("prefs",), "theme").created_at > second.updated_at
        happened = [(turn["content"], turn["retraction"]) for turn in live(home)]
        assert happened == [
            ("is: dark", "edited"), ("is: light", "cleared"), ("", "cleared"), ("is: dark", None)
        ]  # fmt: skip
        assert [hit["text"] for hit in Memory("ann", home=home.path).recall("dark light", kinds=["turn"])] == [
            "is: dark"
        ]


def test_a_store_answers_as_langgraphs_own_does(home: Home) -> None:
    """Every operation, by names and in batches, beside `InMemoryStore`."""
    base = pytest.importorskip("langgraph.store.base")
    from langgraph.store.memory import InMemoryStore

    def plain(found: Any) -> Any:
        if isinstance(found, list):
            return sorted((plain(one) for one in found), key=repr)
        return (found.namespace, found.key, found.value) if isinstance(found, base.Item) else found

    items = [
        (("docs", "a"), "1", {"n": 1, "tag": "x", "in": {"b": [1, 2], "c": None}}),
        (("docs", "a"), "2", {"n": 2.5, "tag": "y"}),
        (("docs", "b", "deep"), "1", {"n": "3", "tag": "x"}),
        (("docs", "b"), "3", {"tag": ["x", "y"], "n": 7}),
        (("other", "a"), "1", {"n": -1}),
        (("docs", "a"), "gone", {"n": 2}),
    ]
    condition = base.MatchCondition
    ops = [
        *(base.GetOp(namespace, key) for namespace, key, _ in items),
        base.GetOp(("docs", "a"), "nothing"),
        *(
            base.SearchOp(prefix, wanted, 100, 0)
            for prefix in [(), ("docs",), ("docs", "a"), ("doc",)]
            for wanted in [
                None, {"tag": "x"}, {"tag": ["x", "y"]}, {"tag": {"$ne": "x"}}, {"in": {"b": [1, 2]}},
                {"n": {"$eq": 1}}, {"tag": "x", "n": 1}, {"in": {"b": [1]}},
            ]
        ),
        *(
            base.SearchOp(("docs",), {"n": wanted}, 100, 0)
            for wanted in [{"$gt": 1}, {"$gte": 2.5, "$lt": 7}, {"$lte": 2.5}, {"$gt": "2"}]
        ),
        *(
            base.ListNamespacesOp(conditions, depth, 100, 0)
            for depth in [None, 1, 2]
            for conditions in [
                None, (), (condition("prefix", ("docs",)),), (condition("suffix", ("a",)),),
                (condition("prefix", ("*", "a")),),
                (condition("prefix", ("docs", "*")), condition("suffix", ("deep",))),
            ]
        ),
        base.ListNamespacesOp(None, None, 2, 1),
    ]  # fmt: skip
    with serving(home):
        theirs, ours = InMemoryStore(), store_of(home)
        for store in (theirs, ours):
            store.batch([base.PutOp(*item) for item in items])
            store.batch([base.PutOp(("docs", "a"), "gone", {"n": 3}), base.PutOp(("docs", "a"), "gone", None)])
        mixed = [base.PutOp(("docs", "a"), "1", {"n": 100}), base.GetOp(("docs", "a"), "1")]
        for op, one, other in zip(ops, theirs.batch(ops), asyncio.run(ours.abatch(ops)), strict=True):
            assert plain(one) == plain(other), op
        assert plain(theirs.batch(mixed)[1]) == plain(ours.batch(mixed)[1])
        assert plain(theirs.get(("docs", "a"), "1")) == plain(ours.get(("docs", "a"), "1"))
        for store in (theirs, ours):
            for wrong in [("a.b",), ("",), (), ("langgraph", "x")]:
                with pytest.raises(base.InvalidNamespaceError):
                    store.put(wrong, "k", {"v": 1})
            with pytest.raises(ValueError, match="Unsupported operator"):
                store.search(("docs",), filter={"n": {"$near": 1}})


def test_an_item_is_shown_until_its_time_is_over_and_a_sweep_takes_it_from_recall(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(home):
        store = store_of(home, ttl={"default_ttl": 60, "sweep_interval_minutes": 100})
        clock = Clock(store, monkeypatch)
        store.put(("keys",), "boat", {"is": "the boat key hangs in drawer 3"})
        store.put(("keys",), "door", {"is": "the door key hangs in drawer 4"}, ttl=90.5)
        store.put(("keys", "spare"), "barn", {"is": "the barn key hangs in drawer 5"}, ttl=None)
        clock.minutes = 59
        assert len(store.search(("keys",))) == 3
        clock.minutes = 60
        assert store.get(("keys",), "boat") is None
        assert {item.key for item in store_of(home).search(("keys",), query="key drawer")} == {"door", "barn"}
        assert len(recalled(home)) == 3
        assert store.sweep_ttl() == 1
        assert store.sweep_ttl() == 0
        assert recalled(home) == {"is: the door key hangs in drawer 4", "is: the barn key hangs in drawer 5"}
        clock.minutes = 161
        assert store.list_namespaces() == [("keys", "spare")]
        assert recalled(home) == {"is: the barn key hangs in drawer 5"}
        store.put(("keys",), "boat", {"is": "back"})
        assert store.get(("keys",), "boat").value == {"is": "back"}
        assert [turn["retraction"] for turn in live(home) if "boat" in turn["content"]] == ["cleared"]


@pytest.mark.parametrize(("config", "asked", "end"), [
    ({"refresh_on_read": True}, None, 70), ({"refresh_on_read": True}, False, 60),
    ({"refresh_on_read": False}, None, 60), ({}, None, 60), (None, True, 60),
])  # fmt: skip
def test_what_is_read_lasts_longer_where_the_store_and_the_reader_say_so(
    home: Home, monkeypatch: pytest.MonkeyPatch, config: Any, asked: bool | None, end: int
) -> None:
    with serving(home):
        store = store_of(home, ttl=config)
        clock = Clock(store, monkeypatch)
        for key in "ab":
            store.put(("n",), key, {"n": key}, ttl=60)
        clock.minutes = 5
        store.search(("n",), refresh_ttl=asked)
        assert len(live(home)) == 2, "in the first tenth of its time nothing is written"
        clock.minutes = 10
        assert asyncio.run(store.aget(("n",), "a", refresh_ttl=asked)).value == {"n": "a"}
        assert [item.key for item in store.search(("n",), filter={"n": "b"}, refresh_ttl=asked)] == ["b"]
        for minutes, shown in [(59, 2), (end - 1, 2), (end, 0)]:
            clock.minutes = minutes
            assert len(store.search(("n",), refresh_ttl=False)) == shown


def test_an_item_that_was_put_anew_while_a_sweep_went_on_stays(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(home):
        store, other = store_of(home), store_of(home)
        clock = Clock(store, monkeypatch)
        store.put(("n",), "a", {"n": 1}, ttl=60)
        clock.minutes = 60
        listed = store.documents.all

        def meanwhile() -> Any:
            found = listed()
            other.put(("n",), "a", {"n": 2})
            return found

        store.documents.all = meanwhile
        store.sweep_ttl()
        assert other.get(("n",), "a").value == {"n": 2}


class Clock:
    """The clock of LangGraph's stores, which goes when the test says so."""

    def __init__(self, store: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        self.minutes = 0
        start = datetime.now(UTC)
        monkeypatch.setitem(type(store).batch.__globals__, "_now", lambda: start + timedelta(minutes=self.minutes))


def recalled(home: Home) -> set[str]:
    return {hit["text"] for hit in Memory("ann", home=home.path).recall("key drawer", kinds=["turn"], record=False)}


def test_what_a_process_left_standing_that_ended_midway_is_retracted_with_the_next_version(home: Home) -> None:
    with serving(home):
        store = store_of(home)
        real = store.documents.memory.retract
        store.documents.memory.retract = lambda *given, **more: {"turns": [], "after": ""}
        for n in range(3):
            store.put(("n",), "k", {"n": n})
        store.documents.memory.retract = real
        assert store.get(("n",), "k").value == {"n": 2}
        assert [item.value for item in store.search(("n",))] == [{"n": 2}]
        store.put(("n",), "k", {"n": 3})
        assert [turn["content"] for turn in live(home, retracted=False)] == ["n: 3"]
        store.delete(("n",), "k")
        assert live(home, retracted=False) == []


def test_what_a_query_says_brings_its_items_first_and_what_is_not_indexed_last(home: Home) -> None:
    with serving(home):
        store = store_of(home)
        Memory("ann", home=home.path).record("chat", "user", "The boat house has a key.")
        store.put(("facts",), "blue", {"text": "My favourite colour is blue."})
        store.put(
            ("facts",), "key", {"text": "Ben keeps the key of the boat house.", "secret": "heliotrope"}, index=["text"]
        )
        store.put(("facts",), "hidden", {"text": "The key of the boat house is under the mat."}, index=False)
        store.put(("others",), "key", {"text": "Ann keeps the key of the boat house."})
        found = store.search(("facts",), query="Who keeps the key of the boat house?")
        assert (found[0].key, found[-1].key, len(found)) == ("key", "hidden", 3)
        assert found[0].score > 0
        assert found[-1].score is None
        assert [item.score for item in store.search(("facts",), query="heliotrope")] == [None] * 3
        (second,) = store.search((), query="Who keeps the key of the boat house?", limit=1, offset=1)
        assert second.score is not None


def test_stores_that_write_one_key_at_once_leave_one_item_and_all_of_its_versions(home: Home) -> None:
    async def write() -> None:
        stores = [store_of(home) for _ in range(6)]
        await asyncio.gather(*(one.aput(("n",), "k", {"by": n}) for n, one in enumerate(stores)))
        (item,) = await stores[0].asearch(("n",))
        assert await stores[1].aget(("n",), "k") == item
        (stands,) = [turn for turn in live(home) if not turn["retracted"]]
        assert stands["content"] == f"by: {item.value['by']}"
        assert sorted(turn["content"] for turn in live(home)) == [f"by: {n}" for n in range(6)]

    with serving(home):
        asyncio.run(write())


# -- Anthropic's memory tool -------------------------------------------------------------------------------------------


def tool_of(home: Home, name: str = "MemoryTool", **how: Any) -> Any:
    adapter = pytest.importorskip("streams.gateways.adapters.anthropic_memory", exc_type=ImportError)
    return getattr(adapter, name)("ann", home=home.path, **how)


COMMANDS: list[dict[str, Any]] = [
    {"command": "view", "path": "/memories/nothing"},
    {"command": "create", "path": "/memories/a.md", "file_text": "one\ntwo\nthree\ntwo and a half\nfour\nfive\r\nsix"},
    {"command": "create", "path": "/memories/a.md", "file_text": "again"},
    {"command": "create", "path": "/memories/empty", "file_text": ""},
    {"command": "create", "path": "/memories/deep/er/est/名前 🦊.txt", "file_text": "🦊" * 500},
    {"command": "create", "path": "/memories/deep/.hidden", "file_text": "x"},
    {"command": "create", "path": "/memories/deep", "file_text": "x"},
    {"command": "create", "path": "/memories/'; DROP TABLE log; --\x1b[31m", "file_text": "\u202e\u2028"},
    {"command": "create", "path": "/memories/../../etc/passwd", "file_text": "x"},
    {"command": "create", "path": "/etc/passwd", "file_text": "x"},
    {"command": "create", "path": "/memories/deep/../b.md", "file_text": "b\n"},
    {"command": "view", "path": "/memories/a.md"},
    {"command": "view", "path": "/memories/a.md", "view_range": [2, 3]},
    {"command": "view", "path": "/memories/a.md", "view_range": [0, -1]},
    {"command": "view", "path": "/memories/a.md", "view_range": [90, 91]},
    {"command": "view", "path": "/memories/empty"},
    {"command": "view", "path": "/memories/b.md"},
    {"command": "view", "path": "/memories/a.md/inside"},
    {"command": "str_replace", "path": "/memories/a.md", "old_str": "three", "new_str": "3\n3"},
    {"command": "str_replace", "path": "/memories/a.md", "old_str": "two", "new_str": "2"},
    {"command": "str_replace", "path": "/memories/a.md", "old_str": "seven", "new_str": "7"},
    {"command": "str_replace", "path": "/memories/deep", "old_str": "a", "new_str": "b"},
    {"command": "str_replace", "path": "/memories/none", "old_str": "a", "new_str": "b"},
    {"command": "insert", "path": "/memories/a.md", "insert_line": 0, "insert_text": "zero\n\n"},
    {"command": "insert", "path": "/memories/a.md", "insert_line": 8, "insert_text": "eight"},
    {"command": "insert", "path": "/memories/a.md", "insert_line": 99, "insert_text": "x"},
    {"command": "insert", "path": "/memories/empty", "insert_line": 0, "insert_text": "first"},
    {"command": "insert", "path": "/memories/empty", "insert_line": -1, "insert_text": "x"},
    {"command": "insert", "path": "/memories/deep", "insert_line": 0, "insert_text": "x"},
    {"command": "view", "path": "/memories/a.md"},
    {"command": "rename", "old_path": "/memories/a.md", "new_path": "/memories/empty"},
    {"command": "rename", "old_path": "/memories/none", "new_path": "/memories/x"},
    {"command": "rename", "old_path": "/memories", "new_path": "/memories/x"},
    {"command": "rename", "old_path": "/memories/a.md", "new_path": "/memories/new/a.md"},
    {"command": "rename", "old_path": "/memories/deep", "new_path": "/memories/low"},
    {"command": "view", "path": "/memories/new/a.md"},
    {"command": "view", "path": "/memories/a.md"},
    {"command": "view", "path": "/memories/low/er/est/名前 🦊.txt"},
    {"command": "create", "path": "/memories/a.md", "file_text": "other"},
    {"command": "delete", "path": "/memories/none"},
    {"command": "delete", "path": "/memories"},
    {"command": "delete", "path": "/memories/empty"},
    {"command": "delete", "path": "/memories/low"},
    {"command": "view", "path": "/memories/low"},
    {"command": "view", "path": "/memories/a.md"},
]
"""What a model may do, in this order."""


def done(tool: Any, command: dict[str, Any]) -> str:
    """What a tool answers, an error too."""
    from anthropic.lib.tools import ToolError

    try:
        return str(tool.call(command))
    except ToolError as error:
        return f"error: {error}"


def test_files_are_answered_for_word_by_word_as_anthropics_own_tool_answers(home: Home, tmp_path: Path) -> None:
    pytest.importorskip("anthropic")
    from anthropic.tools import BetaLocalFilesystemMemoryTool

    theirs = BetaLocalFilesystemMemoryTool(str(tmp_path / "files"))
    with serving(home):
        for command in COMMANDS:
            assert done(tool_of(home), command) == done(theirs, command), command
        everything = {"command": "view", "path": "/memories"}
        for line, other in zip(
            done(tool_of(home), everything).split("\n"), done(theirs, everything).split("\n"), strict=True
        ):
            if other.endswith(("/", "/memories")):  # a directory's size is a matter of its file system
                line, other = line.split("\t")[-1], other.split("\t")[-1]
            assert line == other
        assert tool_of(home).to_dict() == theirs.to_dict()
        assert tool_of(home).clear_all_memory() == theirs.clear_all_memory()
        assert done(tool_of(home), everything).endswith(":\n0B\t/memories")
        assert {turn["retracted"] for turn in live(home)} == {True}
        for wrong in [
            {"command": "create", "path": "/memories_too/x", "file_text": "x"},
            {"command": "rename", "old_path": "/memories/d", "new_path": "/memories/d/e"},
            {"command": "create", "path": "/memories/d/f/g", "file_text": "x"},
        ]:
            done(tool_of(home), {"command": "create", "path": "/memories/d/f", "file_text": "x"})
            assert done(tool_of(home), wrong).startswith("error: "), wrong


def test_what_a_model_wrote_into_a_file_is_recalled_until_it_is_edited(home: Home) -> None:
    with serving(home):
        tool, memory = tool_of(home), Memory("ann", home=home.path)
        done(
            tool,
            {"command": "create", "path": "/memories/keys.md", "file_text": "Ben keeps the key of the boat house.\n"},
        )
        (hit,) = memory.recall("key of the boat house", kinds=["turn"])
        assert hit["text"] == "Ben keeps the key of the boat house.\n"
        done(tool, {"command": "str_replace", "path": "/memories/keys.md", "old_str": "Ben", "new_str": "Ann"})
        (hit,) = memory.recall("key of the boat house", kinds=["turn"])
        assert hit["text"] == "Ann keeps the key of the boat house.\n"


def test_models_that_edit_a_file_at_once_lose_nothing(home: Home) -> None:
    path = "/memories/list.md"

    async def edit() -> None:
        tool = tool_of(home, "AsyncMemoryTool")
        assert await tool.call({"command": "create", "path": path, "file_text": ""})
        others = [tool_of(home, "AsyncMemoryTool") for _ in range(5)]
        await asyncio.gather(
            *(
                one.call({"command": "insert", "path": path, "insert_line": 0, "insert_text": f"line {n}"})
                for n, one in enumerate(others)
            )
        )
        told = await tool.call({"command": "view", "path": path})
        assert sorted(line[-6:] for line in told.split("\n")[1:-1]) == [f"line {n}" for n in range(5)]

    with serving(home):
        asyncio.run(edit())


def test_the_real_tool_runner_keeps_a_models_files(home: Home) -> None:
    anthropic = pytest.importorskip("anthropic")
    asked: list[dict[str, Any]] = []

    class Upstream(BaseHTTPRequestHandler):
        """Has the model write a file, look at what is not there, then say that it is done."""

        def do_POST(self) -> None:
            asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            uses = [
                {"command": "create", "path": "/memories/keys.md", "file_text": "Ben keeps the key."},
                {"command": "view", "path": "/memories/none"},
            ]
            content: dict[str, Any] = {"type": "text", "text": "Done."}
            if len(asked) <= len(uses):
                use = uses[len(asked) - 1]
                content = {"type": "tool_use", "id": f"toolu_{len(asked)}", "name": "memory", "input": use}
            message = {
                "id": "msg_1", "type": "message", "role": "assistant", "model": "claude", "content": [content],
                "stop_reason": content["type"].replace("text", "end_turn"), "stop_sequence": None,
                "usage": {"input_tokens": 1, "output_tokens": 1},
            }  # fmt: skip
            body = json.dumps(message).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    with serving(home), HTTPServer(("127.0.0.1", 0), Upstream) as upstream:
        thread = threading.Thread(target=upstream.serve_forever)
        thread.start()
        try:
            url = f"http://127.0.0.1:{upstream.server_port}"
            with anthropic.Anthropic(base_url=url, api_key="sk-test", max_retries=0) as client:
                message = client.beta.messages.tool_runner(
                    model="claude", max_tokens=100, tools=[tool_of(home)],
                    messages=[{"role": "user", "content": "Remember that Ben keeps the key."}],
                ).until_done()  # fmt: skip
        finally:
            upstream.shutdown()
            thread.join()
        assert message.content[0].text == "Done."
        results = [request["messages"][-1]["content"][-1] for request in asked[1:]]
        assert [(block["content"], block.get("is_error", False)) for block in results] == [
            ("File created successfully at: /memories/keys.md", False),
            ("The path /memories/none does not exist. Please provide a valid path.", True),
        ]
        assert [turn["content"] for turn in live(home)] == ["Ben keeps the key."]


# -- mem0 --------------------------------------------------------------------------------------------------------------


def mem0_of(home: Home) -> mem0.Memory:
    return mem0.Memory(space="ann", home=home.path)


def test_mem0s_calls_have_mem0s_parameters() -> None:
    theirs = pytest.importorskip("mem0")
    for ours, other in ((mem0.Memory, theirs.Memory), (mem0.AsyncMemory, theirs.AsyncMemory)):
        for name in ("add", "get", "get_all", "search", "update", "delete", "delete_all", "history", "reset"):
            taken, known = (inspect.signature(getattr(one, name)).parameters for one in (ours, other))
            if not {"more", "given"} & taken.keys():
                assert [*taken] == [*known], name


def test_memories_are_added_searched_changed_and_deleted_as_with_mem0(home: Home) -> None:
    with serving(home):
        memory = mem0_of(home)
        talk = [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Ben keeps the key of the boat house. 🦊", "name": "ann"},
            {"role": "assistant", "content": [{"type": "text", "text": "Noted."}, {"type": "image_url"}]},
        ]
        added = memory.add(talk, user_id="u1", run_id="r1", metadata={"place": "harbour", "user_id": "u2"})["results"]
        assert [(one["memory"], one["event"], one["role"]) for one in added] == [
            ("Ben keeps the key of the boat house. 🦊", "ADD", "user"),
            ("Noted.", "ADD", "assistant"),
        ]
        memory.add("My favourite colour is blue.", user_id="u1")
        memory.add("Eva keeps the key of the boat house.", user_id="u2")
        key = added[0]["id"]
        found = memory.search("Who keeps the key of the boat house?", filters={"user_id": "u1"})["results"]
        assert found[0]["id"] == key
        assert 0.1 <= found[0]["score"] < 1
        assert found[0]["metadata"] == {"place": "harbour"}
        assert {one["user_id"] for one in found} == {"u1"}
        assert memory.search("boat house", filters={"user_id": "u3"}) == {"results": []}
        assert memory.search("boat house", filters={"user_id": "u1"}, threshold=1) == {"results": []}

        before = memory.get(key)
        assert (before["actor_id"], before["role"], before["run_id"]) == ("ann", "user", "r1")
        assert memory.update(key, "Ann keeps it.", metadata={"since": 3}) == {"message": "Memory updated successfully!"}
        after = memory.get(key)
        assert after["metadata"] == {"place": "harbour", "since": 3}
        assert after["created_at"] == before["created_at"] == before["updated_at"] < after["updated_at"]
        assert after["hash"] != before["hash"]
        assert memory.get_all(filters={"user_id": "u1"}, top_k=1)["results"] == [mem0._without(after, "score")]
        assert memory.delete(key) == {"message": "Memory deleted successfully!"}
        assert memory.get(key) is None
        for call in (memory.delete, lambda name: memory.update(name, "x")):
            with pytest.raises(ValueError, match="not found"):
                call(key)
        happened = [
            (one["event"], one["old_memory"], one["new_memory"], one["is_deleted"]) for one in memory.history(key)
        ]
        assert happened == [
            ("ADD", None, talk[1]["content"], False),
            ("UPDATE", talk[1]["content"], "Ann keeps it.", False),
            ("DELETE", "Ann keeps it.", None, True),
        ]
        assert len(memory.get_all(filters={"user_id": "u1"})["results"]) == 2
        memory.delete_all(user_id="u1")
        assert memory.get_all(filters={"user_id": "u1"})["results"] == []
        assert len(memory.get_all(filters={"user_id": "u2"})["results"]) == 1
        memory.reset()
        assert memory.get_all(filters={"user_id": "u2"})["results"] == []
        assert len([turn for turn in live(home) if turn["content"]]) == 5
        for words in [*HOSTILE, "\x00\ud800", ""]:
            (one,) = memory.add(words, agent_id="'--/\x1b\ud800", metadata={words: words})["results"]
            assert (memory.get(one["id"])["memory"], memory.get(one["id"])["metadata"]) == (words, {words: words})


def test_what_one_user_is_told_does_not_hang_on_what_others_said(home: Home) -> None:
    with serving(home):
        memory = mem0_of(home)
        for user, colour in (("u1", "blue"), ("u2", "green"), ("u3", "red")):
            memory.add(f"My favourite colour is {colour}.", user_id=user)
        memory.add("Of the boat we spoke for hours, and by and by of every favourite that we ever had.", user_id="u4")
        for user, told in (("u1", "blue"), ("u2", "green"), ("u3", "red"), ("u4", "boat")):
            (found,) = memory.search("What is my favourite colour?", filters={"user_id": user})["results"]
            assert told in found["memory"], user


def test_filters_let_memories_through_as_mem0_says(home: Home) -> None:
    with serving(home):
        memory = mem0_of(home)
        for n, tag in enumerate(["red", "Green", "blue"]):
            memory.add(f"number {n}", user_id=7, metadata={"n": n, "tag": tag})
        memory.add("gone by", user_id=7, expiration_date="2001-02-03")
        memory.add("for ever", user_id=7, agent_id="bot", expiration_date="9000-01-01")

        def through(show_expired: bool = False, **wanted: Any) -> list[str]:
            found = memory.get_all(filters={"user_id": " 7"} | wanted, show_expired=show_expired)["results"]
            return [one["memory"] for one in found][::-1]

        assert through() == ["number 0", "number 1", "number 2", "for ever"]
        assert len(through(show_expired=True)) == 5
        assert through(agent_id="bot") == ["for ever"]
        assert through(n=1) == ["number 1"]
        assert through(n={"gte": 1, "lt": 2}) == ["number 1"]
        assert through(tag={"icontains": "GREEN"}) == ["number 1"]
        assert through(tag={"in": ["red", "blue"]}) == ["number 0", "number 2"]
        assert through(tag="*") == ["number 0", "number 1", "number 2"]
        assert through(OR=[{"n": 0}, {"tag": "blue"}]) == ["number 0", "number 2"]
        assert through(AND=[{"n": {"ne": 0}}], NOT=[{"tag": "blue"}, {"agent_id": "bot"}]) == ["number 1"]
        for wrong in (
            lambda: through(n={"near": 1}),
            lambda: memory.get_all(filters={"n": 1}),
            lambda: memory.get_all(filters={"user_id": "a b"}),
            lambda: memory.get_all(user_id="u1", filters={"user_id": "u2"}),
            lambda: memory.search("x"),
            lambda: memory.search(" ", filters={"user_id": "u1"}),
            lambda: memory.search("x", filters={"user_id": "u1"}, threshold=2),
            lambda: memory.add("x"),
            lambda: memory.add(7, user_id="u1"),
            lambda: memory.add("x", user_id="u1", expiration_date="soon"),
            lambda: memory.delete_all(),
            lambda: memory.update("none"),
            lambda: memory.update("none", {"text": "x"}),  # type: ignore[arg-type]
            lambda: memory.add(["x"], user_id="u1"),
            lambda: memory.add({"content": "x"}, user_id="u1"),
            lambda: memory.add("x", user_id="u1", memory_type="fact"),
            lambda: through(OR=[]),
            lambda: through(NOT=[]),
        ):
            with pytest.raises(ValueError):  # noqa: PT011 - which of them is told by mem0's words, and ours
                wrong()


def test_metadata_of_any_kind_harms_no_memory_and_may_say_when_one_from_elsewhere_was_made(home: Home) -> None:
    with serving(home):
        memory = mem0_of(home)
        metadata = {"data": {"a": 1}, "id": 5, "hash": 0, "expiration_date": 20300101, "place": "harbour"}
        when = "2020-01-02T03:04:05+00:00"
        (one,) = memory.add("The key is here.", user_id="u1", metadata=metadata | {"created_at": when})["results"]
        memory.update(one["id"], metadata=metadata | {"created_at": "1999-01-01"})
        (found,) = memory.search("key", filters={"user_id": "u1"}, threshold=None)["results"]
        assert (found["id"], found["memory"], found["metadata"]) == (
            one["id"],
            "The key is here.",
            {"place": "harbour"},
        )
        assert (found["created_at"], found["expiration_date"]) == (when, 20300101)
        memory.add("The ferry is late.", user_id="u1")
        for bound, told in (({"lt": "2021"}, "The key is here."), ({"gte": "2021"}, "The ferry is late.")):
            (found,) = memory.get_all(filters={"user_id": "u1", "created_at": bound})["results"]
            assert found["memory"] == told

    async def closed() -> None:
        async with mem0.AsyncMemory(space="ann", home=home.path) as awaited:
            awaited.close()

    asyncio.run(closed())


def test_whose_memories_are_meant_may_be_said_as_in_older_versions_of_mem0(home: Home) -> None:
    with serving(home):
        memory = mem0_of(home)
        for owner in ("u1", "u2"):
            for n in range(3):
                memory.add(f"The key of house {n} is with {owner}.", user_id=owner)
        for found in (
            memory.search("key of the house", user_id="u1", limit=2),
            memory.search("key of the house", filters={"user_id": "u1"}, top_k=2),
            memory.get_all(user_id="u1", limit=2),
            memory.get_all(filters={"user_id": "u1"}, user_id="u1", agent_id=None, top_k=2),
        ):
            assert [one["user_id"] for one in found["results"]] == ["u1", "u1"]
        with pytest.raises(TypeError, match="search has no parameter 'version': it takes filters, top_k"):
            memory.search("key", user_id="u1", version="v2")


def test_a_configuration_that_is_not_used_is_told_of_in_one_warning(home: Home) -> None:
    config = {"vector_store": {"provider": "qdrant"}, "llm": {"provider": "openai"}}

    async def awaited() -> mem0.AsyncMemory:
        return await mem0.AsyncMemory.from_config(config)

    for made in (
        lambda: mem0.Memory.from_config(config), lambda: mem0.Memory(config), lambda: asyncio.run(awaited()),
        lambda: mem0.AsyncMemory.from_config(config),
    ):  # fmt: skip
        with pytest.warns(UserWarning, match=r"does not use .*\(llm, vector_store\).*needs no model") as told:
            made()
        assert [warning.filename for warning in told] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mem0.Memory.from_config({})
        mem0.Memory(space="ann", home=home.path)


def test_many_are_deleted_in_a_few_requests_and_one_that_was_changed_meanwhile_too_unless_it_is_to_stay(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = list[bytes]()
    exchanged = Memory._exchanged

    def counted(self: Memory, line: bytes, records: bool) -> Any:
        asked.append(line)
        return exchanged(self, line, records)

    monkeypatch.setattr(Memory, "_exchanged", counted)
    with serving(home):
        memory = mem0_of(home)
        names = [
            memory.add(f"This is fact {n}.", user_id="u1", run_id=f"r{n % 2}")["results"][0]["id"] for n in range(9)
        ]
        memory.add("I stay.", user_id="u2")
        memory.update(names[0], "This is fact 0, changed.")
        found = memory.documents.all()
        memory.update(names[1], "This is fact 1, changed.")
        memory.delete(names[2])
        memory.documents.remove(found[:6], unless_changed=True)
        assert {one["memory"] for one in memory.get_all(filters={"user_id": "u1"})["results"]} >= {
            "This is fact 1, changed."
        }
        memory.documents.remove(found)
        assert memory.documents.all() == []
        assert live(home, retracted=False) == []
        assert [one["event"] for one in memory.history(names[0])] == ["ADD", "UPDATE", "DELETE"]

        memory.add([{"role": "user", "content": f"This is fact {n}."} for n in range(30)], user_id="u1")
        asked.clear()
        memory.delete_all(user_id="u1")
        assert len(asked) < 10
        assert memory.documents.all() == []
        assert live(home, retracted=False) == []


def test_memories_that_are_added_at_once_are_all_there(home: Home) -> None:
    async def add() -> None:
        memory = mem0.AsyncMemory(space="ann", home=home.path)
        added = await asyncio.gather(*(memory.add(f"fact {n}", user_id="u1", llm=None) for n in range(8)))
        names = {one["results"][0]["id"] for one in added}
        found = await memory.get_all(filters={"user_id": "u1"})
        assert {one["id"] for one in found["results"]} == names
        name = names.pop()
        await asyncio.gather(*(memory.update(name, metadata={f"by {n}": n}) for n in range(4)))
        assert (await memory.get(name))["metadata"] == {f"by {n}": n for n in range(4)}
        assert len(await memory.history(name)) == 5

    with serving(home):
        asyncio.run(add())


# -- Pydantic AI -------------------------------------------------------------------------------------------------------


def conversations_of(home: Home) -> Any:
    adapter = pytest.importorskip("streams.gateways.adapters.pydantic_ai", exc_type=ImportError)
    return adapter.MnemologConversationStore("ann", home=home.path)


def test_conversations_are_saved_branched_forked_and_deleted_as_in_pydantic_ais_own_store(home: Home) -> None:
    pytest.importorskip("pydantic_ai")
    from pydantic_ai import Agent, Conversation
    from pydantic_ai.conversation_store import ConversationConflict, InMemoryConversationStore
    from pydantic_ai.exceptions import UserError
    from pydantic_ai.models.test import TestModel

    agent = Agent(TestModel(custom_output_text="In drawer 3 🦊.", seed=1), system_prompt="Be brief.")

    @agent.tool_plain
    def key_of(house: str) -> list[str]:
        """Where a key is."""
        return [house, "drawer 3"]

    def words(conversation: Any) -> list[str]:
        return [str([getattr(part, "content", None) for part in one.parts]) for one in conversation.messages]

    async def talk(store: Any) -> list[Any]:
        """What is seen of a store on the way."""
        seen: list[Any] = [await store.load("chat"), await store.list_conversations()]

        async def say(prompt: str, scope: str | None = None, name: str = "chat") -> Any:
            conversation = await store.load(name, scope=scope) or Conversation(conversation_id=name)
            result = await agent.run(prompt, conversation=conversation)
            seen.append(len(await store.save(result, scope=scope)))
            return result.conversation

        async def refused(call: Any) -> None:
            with pytest.raises((ConversationConflict, UserError)) as error:
                await call
            seen.append(type(error.value).__name__)

        first = await say("Where is the key of the boat house?", scope="ann")
        await say("Sure?", scope="ann")
        loaded = await store.load("chat", scope="ann")
        seen += [words(loaded), loaded.usage.requests, words(await store.load("chat", limit=3))]
        seen += [await store.load("chat", scope="ben"), len(await store.load_entries("chat"))]
        await refused(store.save(first))
        await refused(store.save(Conversation(conversation_id="chat")))
        branched = await store.branch("chat", at=4, expected_revision=loaded.revision, scope="ann")
        seen += [words(branched), words(await store.load("chat"))]
        await refused(store.branch("chat", at=1, expected_revision=loaded.revision))
        await say("Another question?", scope="ann")
        (left,) = (await store.list_conversations())[0].branches
        fork = await store.fork("chat", from_entry=left, new_conversation_id="fork")
        seen += [words(fork), words(await store.load("chat"))]
        await refused(store.fork("chat", new_conversation_id="fork"))
        await say("And here?", name="fork")
        seen.append([(one.conversation_id, one.scope, one.forked_from) for one in await store.list_conversations()])
        seen.append(len(await store.list_conversations(scope="ann", limit=1)))
        await store.delete("chat", scope="ben")
        await store.delete("chat", scope="ann")
        await store.delete("chat")
        seen += [await store.load("chat"), words(await store.load("fork"))]
        await say("Again?")
        seen.append(words(await store.load("chat")))
        return seen

    with serving(home):
        theirs, ours = asyncio.run(talk(InMemoryConversationStore())), asyncio.run(talk(conversations_of(home)))
        assert ours == theirs
        stands = [turn for turn in live(home, retracted=False) if turn["content"]]
        assert {turn["session"] for turn in stands} == {"chat", "fork"}
        assert [turn["content"] for turn in stands if turn["role"] == "user"] == ["And here?", "Again?"]
        assert any(', "drawer 3"]' in turn["content"] for turn in stands if turn["role"] == "tool")
        assert "In drawer 3 🦊." in Memory("ann", home=home.path).context("fork")["text"]


def test_messages_of_a_conversation_come_back_equal_whatever_is_in_them(home: Home) -> None:
    pytest.importorskip("pydantic_ai")
    from pydantic_ai import BinaryImage, Conversation, messages

    said = [
        messages.ModelRequest(
            parts=[messages.SystemPromptPart("Be brief."), messages.UserPromptPart(["a\x00b", "🦊"])]
        ),
        messages.ModelRequest(
            parts=[messages.UserPromptPart(["see", BinaryImage(b"\xff\x00\x01", media_type="image/png")])]
        ),
        messages.ModelResponse(
            parts=[
                messages.ThinkingPart("hm", signature="abc"),
                messages.ToolCallPart("key_of", {"house": "boat", "n": 2**70, "odd": "\u2028"}, tool_call_id="c1"),
            ]
        ),
        messages.ModelRequest(parts=[messages.ToolReturnPart("key_of", {"in": ["drawer", 3]}, tool_call_id="c1")]),
        messages.ModelResponse(parts=[messages.TextPart("In drawer 3.")]),
    ]

    async def talk() -> None:
        for name in HOSTILE:
            await conversations_of(home).save(Conversation(conversation_id=name, messages=said))
            loaded = await conversations_of(home).load(name)
            assert (loaded.conversation_id, loaded.messages) == (name, said)
        assert len(await conversations_of(home).list_conversations()) == len(HOSTILE)

    with serving(home):
        asyncio.run(talk())
        roles = [turn["role"] for turn in live(home, session=HOSTILE[-2])]
        assert roles == ["user", "user", "assistant", "tool", "assistant"]


def test_of_those_who_save_a_conversation_at_once_one_succeeds_and_only_its_turns_stand(home: Home) -> None:
    pytest.importorskip("pydantic_ai")
    from pydantic_ai import Conversation, messages
    from pydantic_ai.conversation_store import ConversationConflict, ConversationEntry, ConversationRecord

    def said(words: str) -> Any:
        return messages.ModelRequest(parts=[messages.UserPromptPart(words)])

    async def talk() -> str:
        store = conversations_of(home)
        await store.save(Conversation(conversation_id="chat", messages=[said("first")]))
        loaded = [await store.load("chat") for _ in range(5)]
        for n, one in enumerate(loaded):
            one.messages.append(said(f"by {n}"))
        saves = [conversations_of(home).save(one) for one in loaded]
        ended = await asyncio.gather(*saves, return_exceptions=True)
        assert [type(one) for one in ended if not isinstance(one, list)] == [ConversationConflict] * 4
        winner = f"by {next(n for n, one in enumerate(ended) if isinstance(one, list))}"
        found = await store.load("chat")
        assert [one.parts[0].content for one in found.messages] == ["first", winner]
        entry = ConversationEntry(parent_id=None, message=said("again"))
        record = ConversationRecord(conversation_id="other", head_id=entry.id)
        for _ in range(2):
            await store.write_record(record, new_entries=[entry], expected_revision=None)
        for head, revision in ((entry.id, "wrong"), ("nothing", record.revision)):
            wrong = ConversationRecord(conversation_id="other", head_id=head)
            with pytest.raises(ConversationConflict):
                await store.write_record(wrong, expected_revision=revision)
        with pytest.raises(KeyError):
            await store.read_entry("nothing")
        return winner

    with serving(home):
        winner = asyncio.run(talk())
        assert [turn["content"] for turn in live(home, session="chat", retracted=False)] == ["first", winner]
        assert [turn["content"] for turn in live(home, session="other")] == ["again"]
