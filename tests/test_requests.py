"""The gate: whatever is sent to a server is answered, nothing that is sent changes what it should not, nobody waits."""

from __future__ import annotations

import asyncio
import inspect
import json
import os
import random
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import Any, BinaryIO

import pytest

import mnemolog
from mnemolog import Memory
from processors import PROCESSORS
from projections import saying
from projections.ask import ASKS, RECALLS
from streams.core.errors import UsageError
from streams.gateways.http.holder import Holder
from streams.logs.where import parse_places
from streams.runtime import requests
from streams.runtime.home import Home, client, server
from streams.runtime.home.server import check_free
from streams.runtime.requests import MAX_DEPTH, QUESTIONS, Question, decode, parse
from tests.serving import serving

CASES = int(os.environ.get("MNEMOLOG_FUZZ", "1000"))
"""Requests of the fuzz test."""
PATIENCE = 120
"""Seconds for an answer; a wait that is longer has no end."""


@contextmanager
def line_to(home: Home) -> Iterator[BinaryIO]:
    """A connection to the server of a home."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(PATIENCE)
        connection.connect(str(home.folder.socket))
        with connection.makefile("rwb") as stream:
            yield stream


def asked(stream: BinaryIO, *lines: bytes) -> list[dict[str, Any]]:
    """The answers to requests that are sent together."""
    stream.write(b"".join(line + b"\n" for line in lines))
    stream.flush()
    return [json.loads(stream.readline()) for _ in lines]


def view(**arguments: Any) -> bytes:
    return json.dumps({"ask": "view", "arguments": arguments}).encode()


# -- what is a request -------------------------------------------------------------------------------------------------


def test_every_question_has_a_model_with_the_arguments_that_it_takes() -> None:
    assert QUESTIONS.keys() == ASKS.keys() | RECALLS.keys()
    for name, model in QUESTIONS.items():
        if name == "recall":
            from projections.recall.question import Question as Asked

            function = Asked.__init__
        elif name in ASKS:
            function = ASKS[name]
        else:
            module, function_name = RECALLS[name]
            function = getattr(import_module(f"projections.{module}"), function_name)
        kinds = {inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL}
        takes = [p for p in inspect.signature(function).parameters.values() if p.kind not in kinds][1:]
        own = {key: f for key, f in model.model_fields.items() if key not in Question.model_fields}
        assert [p.name for p in takes] == [*own], name
        assert [p.default is p.empty for p in takes] == [f.is_required() for f in own.values()], name


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        (None, "not understood"),
        ([], "not understood"),
        ({}, "not understood"),
        ({"ask": 1, "arguments": {}}, "ask: "),
        ({"ask": "view", "arguments": []}, "arguments: "),
        ({"ask": "view", "arguments": {}, "more": 1}, "there is no 'more'"),
        ({"feed": {}}, "feed: "),
        ({"feed": [{}] * 10_001}, "feed: "),
        ({"promote": None}, "promote: "),
        ({"snapshot": "yes"}, "snapshot: "),
        ({"switch": False}, "switch: "),
    ],
)
def test_what_is_no_call_is_refused_with_the_field(message: Any, reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        parse(message)


@pytest.mark.parametrize(
    ("what", "arguments", "reason"),
    [
        ("nonsense", {}, "there is no question 'nonsense'"),
        ("view", {}, "name: field required"),
        ("view", {"name": "turns", "limit": -1}, "limit: "),
        ("view", {"name": "turns", "limit": "5"}, "limit: "),
        ("view", {"name": "turns", "limit": True}, "limit: "),
        ("view", {"name": "turns", "session": ["a"]}, "session"),
        ("view", {"name": "turns", "turns": float("nan")}, "turns"),
        ("context", {"space": "a", "session": "b", "budget": "x"}, "budget: "),
        ("context", {"space": "a", "session": "b", "budget": 0}, "budget: "),
        ("recall", {"space": "a", "query": "b", "k": 1001}, "k: "),
        ("recall", {"space": "a", "query": "b" * 100_001}, "query: string should have at most 100000 characters$"),
        (
            "recall",
            {"space": "a", "query": "b", "kinds": ["a"] * 101},
            "kinds: list should have at most 100 items, not 101",
        ),
        ("recall", {"space": "a", "query": None}, "query: "),
        ("recall", {"space": "a", "query": "x" * 100_001}, "query: "),
        ("view", {"name": "turns"} | {f"c{n}": n for n in range(300)}, "view: 301 fields are too many"),
        ("recall_batch", {"queries": None}, "queries: "),
        ("recall_batch", {"queries": [None]}, "queries.0: "),
        ("show", {"id": "a", "tokens": 1.5}, "tokens: "),
        ("show", {"id": "a", "colour": 1}, "there is no 'colour'"),
        ("spaces", {"as_of": {}}, "as_of"),
    ],
)
def test_what_is_no_question_is_refused_with_the_field(what: str, arguments: dict[str, Any], reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        print(parse({"ask": what, "arguments": arguments}).question)


@pytest.mark.parametrize("text", ["", "x", "-1", "0:-1", "0:" + "9" * 5000, "9" * 19, "0:1:2", "1.5", "\u0663"])
def test_what_is_no_position_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is no position of the log"):
        parse_places(text, 1)


def test_requests_nest_no_deeper_than_a_turn_may() -> None:
    decode(b"[" * MAX_DEPTH + b"]" * MAX_DEPTH)
    for deep in (b"[" * 900 + b"]" * 900, b'{"a":' * 900 + b"1" + b"}" * 900):
        with pytest.raises(UsageError, match="too deep"):
            decode(deep)


def test_requests_hold_no_more_values_than_one_may() -> None:
    with pytest.raises(UsageError, match="too many values"):
        decode(b"[" + b"[]," * 10_000_000 + b"[]]")


# -- names and what they reach -----------------------------------------------------------------------------------------

PIERCING = [
    "1 LIMIT 0; DELETE FROM turn_recorded",
    '"at"; DROP TABLE state',
    "turn_id\" = '1'; DELETE FROM turn_recorded; --",
    "(SELECT content FROM read_text('/etc/passwd'))",
    "at DESC, (SELECT 1)",
    "random()",
    "at NULLS FIRST",
    "x/**/DESC",
    "'; COPY turn_recorded TO '/tmp/mnemolog-was-here.csv'; --",
]


@pytest.mark.parametrize("text", PIERCING)
def test_names_come_from_lists(home: Home, talk: Any, text: str) -> None:
    home.log.append(talk(30))
    before = home.ask("digest")
    for arguments in (
        {"order": text},
        {"columns": text},
        {text: "x"},
        {text: None, "order": "at"},
        {"order": f'"at" DESC, {text}'},
    ):
        if arguments.get(text, 0) is None:  # what is not asked for is not looked at
            assert home.ask("view", name="turns", **arguments)
            continue
        with pytest.raises(UsageError):
            home.ask("view", name="turns", **arguments)
    with pytest.raises(UsageError):
        home.ask("view", name=text)
    assert home.ask("digest") == before
    assert not Path("/tmp/mnemolog-was-here.csv").exists()


def test_orders_are_columns_with_a_direction(home: Home, talk: Any) -> None:
    home.log.append(talk(30))
    down = home.ask("view", name="turns", order='"at" DESC, turn_id')
    assert [row["at"] for row in down] == sorted((row["at"] for row in down), reverse=True)
    with pytest.raises(UsageError, match="turns has no column 'colour'"):
        home.ask("view", name="turns", colour="blue")
    with pytest.raises(UsageError, match="turns has no order 'colour'"):
        home.ask("view", name="turns", order="colour")
    with pytest.raises(UsageError, match="cannot be answered"):
        home.ask("view", name="turns", position="blue")


def test_of_a_view_the_columns_are_told_that_are_wanted(home: Home, talk: Any) -> None:
    home.log.append(talk(30))
    whole = home.ask("view", name="turns", order="position DESC", limit=7)
    some = home.ask("view", name="turns", order="position DESC", limit=7, columns="at, session")
    assert some == [{"at": row["at"], "session": row["session"]} for row in whole]
    with pytest.raises(UsageError, match="turns has no column 'colour'"):
        home.ask("view", name="turns", columns="at,colour")


def test_a_question_that_takes_too_long_is_ended(home: Home, talk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    home.log.append(talk(30))
    slow = "SELECT count(*) AS n FROM range(100000) a, range(1000000) b WHERE a.range * b.range = 7"
    monkeypatch.setitem(ASKS, "spaces", lambda connection: connection.execute(slow).fetchall())
    monkeypatch.setattr(requests.Spaces, "seconds", 0.2)
    with serving(home):
        with pytest.raises(UsageError, match=r"took longer than 0\.2 s"):
            home.ask("spaces")
        assert home.ask("view", name="turns", limit=1)


def test_a_question_can_change_nothing(home: Home, talk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    home.log.append(talk(30))
    before = home.ask("digest")
    for change in ("DELETE FROM turn_recorded", "DROP VIEW turns", "COPY turn_recorded TO '/tmp/x'", "ATTACH '/tmp/y'"):
        monkeypatch.setitem(ASKS, "spaces", lambda connection, sql=change: connection.execute(sql).fetchall())
        with serving(home), pytest.raises(UsageError):
            home.ask("spaces")
    assert home.ask("digest") == before


# -- many at once ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("wrong", [[[]], [{}], 7, True, {"a": 1}], ids=repr)
def test_of_what_is_no_fact_nothing_is_told_and_nothing_breaks(home: Home, wrong: Any) -> None:
    said = {"session": "s", "at": "2026-01-05T09:00:00Z"}
    home.request({"feed": [said | {"type": "effort-declared", "name": "roof", "topic": "Mending the roof"}]})
    with serving(home):
        for type_, field in product(saying.STANDING, ("turn", "name", "note", "task", "older", "session")):
            fact = {"type": type_, "session": "s", field: wrong}
            assert home.ask("known", space="default", fact=fact) == {}, fact


def test_null_in_a_fact_is_the_same_as_left_out_in_what_is_known_of_it(home: Home) -> None:
    turn = {"id": "t", "session": "s", "role": "user", "content": "The roof of the barn leaks at the chimney."}
    home.request({"feed": [turn, {"type": "memory-pinned", "turn": "t", "session": "s"}]})
    for more in ({}, {"pinned": None}):
        fact = {"type": "memory-pinned", "turn": "t"} | more
        assert home.ask("known", space="default", fact=fact)["already"] == "pinned"


def test_what_is_fed_and_is_no_object_is_told_that_an_event_is_one(home: Home) -> None:
    answers = home.request({"feed": [7, {"session": "s", "role": "user", "content": "x"}, None]})
    assert ["refused" in one and "an event is a JSON object" in one["refused"] for one in answers] == [
        True,
        False,
        True,
    ]


def test_requests_that_come_together_are_answered_in_order(home: Home) -> None:
    with serving(home), line_to(home) as stream:
        events = [{"session": "s", "role": "user", "content": f"turn {n}", "id": f"t{n}"} for n in range(20)]
        lines = []
        for event in events:
            lines += [json.dumps({"feed": [event]}).encode(), view(name="turns", turn_id=event["id"]), b"[]"]
        answers = asked(stream, *lines)
        for n in range(20):
            stored, found, refused = answers[3 * n : 3 * n + 3]
            assert stored["answer"][0]["stored"] == n
            assert found["answer"][0]["content"] == f"turn {n}"
            assert refused["kind"] == "UsageError"


def test_half_a_request_and_an_endless_one_keep_nobody_waiting(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "MAX_REQUEST", 1_000_000)
    monkeypatch.setattr(server, "STALLED", 0.5)
    with serving(home), line_to(home) as half, line_to(home) as endless, line_to(home) as other:
        half.write(b'{"ask": "spaces"')
        half.flush()
        assert asked(other, view(name="turns")) == [{"answer": []}]
        endless.write(b"x" * 2_000_000)
        endless.flush()
        assert "too long" in json.loads(endless.readline())["error"]
        assert endless.readline() == b""
        assert half.readline() == b""
        assert asked(other, view(name="turns")) == [{"answer": []}]


def test_a_reader_that_does_not_read_keeps_nobody_waiting(home: Home) -> None:
    with serving(home), line_to(home) as lazy, line_to(home) as other:
        for start in range(0, 400, 100):
            turns = [
                {"session": "s", "role": "user", "content": "long " * 2000, "id": f"{start + n}"} for n in range(100)
            ]
            asked(other, json.dumps({"feed": turns}).encode())
        lazy.write(view(name="turns") + b"\n" + view(name="turns") + b"\n")
        lazy.flush()
        for _ in range(5):
            assert len(asked(other, view(name="turns", limit=3))[0]["answer"]) == 3
        assert len(json.loads(lazy.readline())["answer"]) == 400


def test_five_hundred_clients_at_once_are_served(home: Home) -> None:
    troubles: list[BaseException] = []
    ready = threading.Barrier(100)

    def client(number: int) -> None:
        try:
            memory = Memory(home=home.path, timeout=PATIENCE)
            ready.wait(PATIENCE)
            for n in range(5):
                memory.record("burst", "user", f"turn {n} of {number}", id=f"{number}-{n}")
        except BaseException as trouble:
            troubles.append(trouble)

    def knocks() -> None:
        """Four hundred more, that only connect and leave."""
        for _ in range(400):
            with line_to(home):
                pass

    with serving(home):
        threads = [threading.Thread(target=client, args=(n,), daemon=True) for n in range(100)]
        threads.append(threading.Thread(target=knocks, daemon=True))
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE)
        assert troubles == []
        assert len(home.ask("view", name="turns")) == 500


# -- absent, busy, not known -------------------------------------------------------------------------------------------


@contextmanager
def pretending(path: Path, answer: Any, at_once: bool = False) -> Iterator[None]:
    """Somebody at the socket who does `answer` with each connection, one after the other or all `at_once`."""
    path.mkdir(mode=0o700)
    stop = threading.Event()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path / "socket"))
        (path / "socket").chmod(0o600)
        listener.listen(16)
        listener.settimeout(0.05)

        def run() -> None:
            while not stop.is_set():
                try:
                    taken, _ = listener.accept()
                except TimeoutError:
                    continue
                if at_once:
                    beside.append(threading.Thread(target=attend, args=[taken], daemon=True))
                    beside[-1].start()
                else:
                    attend(taken)

        def attend(taken: socket.socket) -> None:
            with taken:
                answer(taken)

        beside: list[threading.Thread] = []
        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        try:
            yield
        finally:
            stop.set()
            for one in (thread, *beside):
                one.join()


def test_who_takes_a_request_and_goes_away_leaves_it_unknown_and_the_id_stays_the_same(tmp_path: Path) -> None:
    seen: list[str] = []

    def swallow(taken: socket.socket) -> None:
        seen.append(json.loads(taken.recv(65536))["feed"][0]["id"])

    with pretending(tmp_path / "h", swallow), pytest.raises(mnemolog.UncertainError, match="not known"):
        Memory(home=tmp_path / "h", start=False, timeout=0.5).record("s", "user", "hello")
    assert len(seen) > 1
    assert len(set(seen)) == 1


def test_a_call_that_was_not_answered_is_made_again_until_it_is(tmp_path: Path) -> None:
    tries: list[bytes] = []

    def second_time(taken: socket.socket) -> None:
        tries.append(taken.recv(65536))
        if len(tries) > 1:
            taken.sendall(b'{"answer": [{"stored": 7, "partition": 0}]}\n')

    with pretending(tmp_path / "h", second_time):
        assert Memory(home=tmp_path / "h", start=False).record("s", "user", "hello", id="one") == "one"
    assert len(tries) == 2


def test_who_is_busy_for_too_long_is_called_busy(tmp_path: Path) -> None:
    def later(taken: socket.socket) -> None:
        taken.recv(65536)
        taken.sendall(b'{"error": "another folds", "way_out": "wait", "kind": "BusyError"}\n')

    with pretending(tmp_path / "h", later), pytest.raises(mnemolog.BusyError, match="another folds"):
        Memory(home=tmp_path / "h", start=False, timeout=0.3).record("s", "user", "hello")


def waiting_for_more(taken: socket.socket) -> None:
    """Takes what is sent for as long as the other end is there, and answers nothing."""
    with suppress(OSError):
        while taken.recv(65536):
            pass


def test_who_takes_requests_and_answers_none_is_told_of_and_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "SILENT", 0.2)
    monkeypatch.setattr(client, "PROMPT", 0.1)
    monkeypatch.setattr(server, "PROMPT", 0.1)
    with pretending(tmp_path / "h", waiting_for_more, at_once=True):
        home = Home(tmp_path / "h", PROCESSORS)
        for asking in (lambda: check_free(home, leave=True), lambda: home.ask("spaces")):
            with pytest.raises(client.SilentError, match=f"process {os.getpid()}, .*did not answer within") as told:
                asking()
            assert f"kill -9 {os.getpid()}" in told.value.way_out

        async def over_http() -> None:
            holder = Holder(home.path)
            try:
                await holder.call({"ask": "spaces", "arguments": {}})
            finally:
                await holder.close()

        with pytest.raises(client.SilentError, match="did not answer"):
            asyncio.run(over_http())


def test_who_answers_slowly_is_waited_for_as_long_as_it_says_that_it_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "SILENT", 0.05)
    asked = threading.Semaphore(0)

    def slowly(taken: socket.socket) -> None:
        if b"leave" in taken.recv(65536):
            taken.sendall(b'{"answer": {"pid": 1, "leaves": false}}\n')
            asked.release()
            return
        for _ in range(3):
            asked.acquire()
        taken.sendall(b'{"answer": [1]}\n')

    with pretending(tmp_path / "h", slowly, at_once=True):
        assert Home(tmp_path / "h", PROCESSORS).ask("spaces") == [1]


def test_nothing_is_sent_to_a_socket_that_others_could_have_made(tmp_path: Path) -> None:
    seen: list[bytes] = []
    with pretending(tmp_path / "h", lambda taken: seen.append(taken.recv(65536))):
        (tmp_path / "h").chmod(0o777)
        with pytest.raises(mnemolog.NotServedError):
            Memory(home=tmp_path / "h", start=False, timeout=0.3).record("s", "user", "secret")
        (tmp_path / "h").chmod(0o700)
        (tmp_path / "h" / "socket").chmod(0o666)
        with pytest.raises(mnemolog.NotServedError):
            Memory(home=tmp_path / "h", start=False, timeout=0.3).record("s", "user", "secret")
    assert b"".join(seen) == b""


# -- anything at all ---------------------------------------------------------------------------------------------------

TEXTS = [
    *PIERCING, "", "a", "ann", "s0", "turns", "efforts", "notes", "segments", "\0", "\u202e", "é" * 400, "x" * 20_000,
    "0", "0:5", "-1", "7:1", "2026-01-05T09:00:00Z", "9999-12-31T23:59:59Z", "live", "../live", "../../etc/passwd",
    "log", "%s", "{}", "[/red]", "\x1b[2J", "turn-recorded", "note-taken", "user", "t1..t9", "t1",
]  # fmt: skip
NUMBERS = [0, 1, -1, 10, 2**31, 2**63, 2**64, -(2**70), 1e308, 0.5, -0.0]
RAW = [
    b"", b"{", b"null", b"true", b"\xff\xfe", b"[]" * 10, b'"\\ud800"', b"NaN", b'{"ask": NaN}', b"\0" * 10, b"1e999",
    b"[" * 5000, b'{"a":' * 300 + b"1" + b"}" * 300, b'{"ask": "spaces", "ask": "digest"}',
]  # fmt: skip


def anything(rng: random.Random, depth: int = 0) -> Any:
    """Some JSON value."""
    kind = rng.randrange(9 if depth < 4 else 6)
    if kind <= 2:
        return rng.choice(TEXTS)
    if kind == 3:
        return rng.choice(NUMBERS)
    if kind <= 5:
        return rng.choice([None, True, False])
    if kind == 6:
        return [anything(rng, depth + 1) for _ in range(rng.randrange(4))]
    if kind == 7:
        return {rng.choice(TEXTS): anything(rng, depth + 1) for _ in range(rng.randrange(4))}
    nested: Any = anything(rng, depth + 1)
    for _ in range(rng.choice([3, 70, 200])):
        nested = [nested]
    return nested


def likely(rng: random.Random, name: str) -> Any:
    """A value that an argument of this name may well have."""
    match name:
        case "name":
            return rng.choice(["turns", "efforts", "notes", "segments", "sessions", *TEXTS])
        case "limit" | "budget" | "tokens" | "k":
            return rng.choice([1, 5, 50, 400, *NUMBERS])
        case "history" | "forgotten" | "explain":
            return rng.choice([True, False])
        case "queries":
            fields = ["space", "query", "k", "id", "at", "session", "kinds", "colour"]
            return [{key: likely(rng, key) for key in rng.sample(fields, 4)} for _ in range(rng.randrange(4))]
        case "kinds" | "without":
            return [rng.choice(["turn", "segment", "recalled", *TEXTS]) for _ in range(rng.randrange(3))]
    return rng.choice(TEXTS)


def fuzzed(rng: random.Random) -> bytes:
    """A request: of its kind, nearly so, or anything."""
    kind = rng.randrange(20)
    if kind == 0:
        return rng.choice(RAW)
    if kind == 1:
        whole = json.dumps({"ask": "view", "arguments": anything(rng)}).encode()
        return whole[: rng.randrange(len(whole))]
    if kind == 2:
        return json.dumps(anything(rng)).encode()
    if kind <= 4:
        keys = ["session", "role", "content", "id", "at", "type", "note", "turn", "parts", "space", "ttl", "turns"]
        events = [{key: anything(rng) for key in rng.sample(keys, rng.randrange(6))} for _ in range(rng.randrange(3))]
        good = {"session": "s", "role": "user", "content": rng.choice(TEXTS), "id": str(rng.randrange(50))}
        return json.dumps({"feed": [*events, good, anything(rng)]}).encode()
    if kind == 5:
        call = rng.choice(
            [{"snapshot": True}, {"ping": True}, {"promote": rng.choice(TEXTS)}, {"promote": anything(rng)}]
        )
        return json.dumps(call).encode()
    what = rng.choice([*QUESTIONS] * 5 + TEXTS)
    known = [*QUESTIONS[what].model_fields] if what in QUESTIONS else TEXTS
    names = [name for name in known if rng.random() < 0.8]
    if what in ("view",):
        names += rng.sample(["turn_id", "space", "session", "status", "at", *PIERCING], rng.randrange(3))
    arguments = {name: anything(rng) if rng.random() < 0.15 else likely(rng, name) for name in names}
    if rng.random() < 0.7:
        arguments.pop("after", None)
        if rng.random() < 0.7:
            arguments.pop("as_of", None)
    return json.dumps({"ask": what, "arguments": arguments}).encode()


def test_whatever_is_sent_is_answered_and_live_stays_what_the_log_says(home: Home, talk: Any) -> None:
    from streams.runtime.replay import replay

    home.log.append(talk(60))
    rng = random.Random(11)
    kinds: dict[str, int] = {}
    with serving(home), line_to(home) as stream:
        for _ in range(0, CASES, 20):
            lines = [fuzzed(rng).replace(b"\n", b" ") for _ in range(20)]
            for line, answer in zip(lines, asked(stream, *lines), strict=True):
                assert answer.keys() in ({"answer"}, {"error", "way_out", "kind"}), line
                assert "something unexpected" not in answer.get("error", ""), (line, answer)
                kind = answer.get("kind", "answered")
                kinds[kind] = kinds.get(kind, 0) + 1
        assert asked(stream, b'{"ping": true}')[0]["answer"]["pid"] == os.getpid()
    assert kinds["answered"] > CASES / 10
    assert kinds["UsageError"] > CASES / 10
    assert "BrokenError" not in kinds
    live = home.ask("digest")
    replay(home, "again", reuse=False)
    assert home.ask("digest", memory="again") == live


def test_a_live_that_breaks_is_opened_again_and_the_log_takes_turns_meanwhile(
    home: Home, talk: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from projections.store import Store

    broken = threading.Event()
    commit = Store.commit

    def failing(self: Store, batch: Any) -> None:
        if broken.is_set():
            self.connection.close()
            raise OSError(28, "No space left on device")
        commit(self, batch)

    monkeypatch.setattr(Store, "commit", failing)
    home.log.append(talk(20))
    with serving(home):
        memory = Memory(home=home.path, timeout=PATIENCE)
        before = len(memory.ask("view", name="turns"))
        broken.set()
        memory.record("s", "user", "said while live was broken", id="then")
        with line_to(home) as stream:
            (answer,) = asked(stream, view(name="turns"))
            assert (answer["kind"], "No space left" in answer["error"]) == ("BrokenError", True)
        broken.clear()
        deadline = time.monotonic() + PATIENCE
        assert len(memory.ask("view", name="turns")) == before + 1
        assert time.monotonic() < deadline
