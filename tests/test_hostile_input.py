"""A hundred thousand broken lines between good ones: none brings it down, none takes a good one with it."""

import json
import random
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import orjson

from streams.core.events import decode
from streams.logs.sqlite import SqliteLog

BROKEN = 12_000
GOOD_EVERY = 10
LARGE = 10 * 1024 * 1024
MEMORY_LIMIT = 300 * 1024 * 1024
"""Bytes at the peak. Why so many: Python and the libraries take 60 MB, one line at its limit a few copies of 16 MB."""

FEED = """
import json, resource, sys
from pathlib import Path
from streams.core.edge import Edge
from streams.logs.sqlite import SqliteLog
from streams.gateways.feed import Rejects, feed
from streams.gateways.sources import find, read

log = SqliteLog(Path(sys.argv[1]))
report = feed(log.append, read(find(sys.argv[3]), [Path(sys.argv[2])], Edge(), sys.stdin.buffer), Rejects())
status = Path("/proc/self/status")  # Why: on Linux ru_maxrss begins with that of the process that started this one.
if status.exists():
    peak = next(int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith("VmHWM")) * 1024
else:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps([report.added, report.known, report.rejected, len(report.faults), report.rejects, peak]))
"""


def turn(n: int, **more: object) -> dict[str, object]:
    return {"session": f"s{n % 7}", "role": "user", "content": f"turn {n}: größer, 更大", "id": f"t{n}"} | more


def dumped(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


def truncated(rng: random.Random, n: int) -> bytes:
    line = dumped(turn(n))
    return line[: rng.randrange(1, len(line) - 1)]


def garbled(rng: random.Random, n: int) -> bytes:
    return bytes(rng.choices([b for b in range(1, 256) if b not in b"\n{["], k=rng.randrange(1, 200))) + b"\xff"


def mistyped(rng: random.Random, n: int) -> bytes:
    field = rng.choice(["session", "role", "content", "agent", "id", "at", "reply_to", "parts", "space"])
    wrong: list[object] = [{}, {"a": 1}, True, 1.5, ["x"]]
    return dumped(turn(n, **{field: rng.choice(wrong)}))


def misnamed(rng: random.Random, n: int) -> bytes:
    return dumped(turn(n, **{rng.choice(["Content", "text", "", "\u0000", "__class__", "x" * 5000]): "x"}))


def incomplete(rng: random.Random, n: int) -> bytes:
    line = turn(n)
    del line[rng.choice(["session", "role", "content"])]
    return dumped(line)


def no_number(rng: random.Random, n: int) -> bytes:
    return dumped(turn(n, parts=[{"x": rng.choice([float("nan"), float("inf"), -float("inf")])}]))


def surrogate(rng: random.Random, n: int) -> bytes:
    lone = rng.choice([b"\\ud800", b"\\udfff", b"\\ud83d x", b"\xed\xa0\x80"])
    return dumped(turn(n, content="HERE")).replace(b"HERE", lone)


def nul(rng: random.Random, n: int) -> bytes:
    field = rng.choice(["session", "agent", "id", "space", "reply_to"])
    return dumped(turn(n, **{field: "a\0b"}))


def deep(rng: random.Random, n: int) -> bytes:
    depth = rng.choice([65, 300, 1500])
    return dumped(turn(n, parts=[{"x": "DEEP"}])).replace(b'"DEEP"', b"[" * depth + b"]" * depth)


def out_of_time(rng: random.Random, n: int) -> bytes:
    times: list[object] = [
        "1969-12-31T23:59:59Z", "0001-01-01", "10000-01-01T00:00:00Z", "9999-12-31T23:59:59-12:00",
        -1, -5, 10**19, 1e30, "2026-02-30", "now", "", "12:00", "2999-01-01T00:00:00Z",
    ]  # fmt: skip
    return dumped(turn(n, at=rng.choice(times)))


def reused(rng: random.Random, n: int) -> bytes:
    return dumped(turn(n, id="t0", content=f"another turn {n}"))


def no_object(rng: random.Random, n: int) -> bytes:
    return rng.choice(
        [b"[]", b"null", b"1", b'"turn"', b"[{}]", b"{}", b"-", b"{} {}", b"true", b"\x00", b"\xef\xbb\xbf"]
    )


KINDS = [
    truncated, garbled, mistyped, misnamed, incomplete, no_number, surrogate, nul, deep, out_of_time, reused, no_object,
]  # fmt: skip


def good(n: int) -> bytes:
    """A good line; every other one dated before the ones above it."""
    return dumped(turn(n, at=f"20{25 - n % 2}-01-01T00:00:{n % 60:02d}Z", content=f"turn {n} \0\u2028"))


def hostile_lines() -> Iterator[tuple[bool, bytes]]:
    rng = random.Random(7)
    yield True, good(0)
    for n in range(1, BROKEN + 1):
        if n % GOOD_EVERY == 0:
            yield True, good(n)
        if n % (BROKEN // 2) == 0:
            for size in (LARGE, 2 * LARGE):
                yield False, dumped(turn(n, id=f"large{n}", content="x" * size))
        yield False, KINDS[n % len(KINDS)](rng, n)


def run(source: str, log: Path, path: Path) -> tuple[int, int, int, int, list[str], int]:
    done = subprocess.run(
        [sys.executable, "-c", FEED, str(log), str(path), source],
        capture_output=True,
        timeout=120,
        cwd=Path(__file__).parent.parent,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    return tuple(json.loads(done.stdout))


def test_good_lines_come_out_and_broken_ones_come_back_byte_for_byte(tmp_path):
    wanted: list[str] = []
    broken: Counter[bytes] = Counter()
    path = tmp_path / "hostile.jsonl"
    with path.open("wb") as out:
        for fine, line in hostile_lines():
            out.write(line + b"\n")
            if fine:
                wanted.append(orjson.loads(line)["id"])
            else:
                broken[line] += 1
    added, known, rejected, told, rejects, peak = run("lines", tmp_path / "log.sqlite", path)
    assert (added, known, rejected, told) == (len(wanted), 0, broken.total(), 1000)
    assert peak < MEMORY_LIMIT
    log = SqliteLog(tmp_path / "log.sqlite")
    turns = [decode(record.type, record.value) for record in log.read(0, 0)]
    log.close()
    assert [event.id for event in turns] == wanted
    assert turns[-1].content == f"turn {BROKEN} \0\u2028"
    assert any(later.at < sooner.at for sooner, later in pairwise(turns))
    with open(rejects[0], "rb") as back:
        assert Counter(line.removesuffix(b"\n") for line in back) == broken


def test_other_formats_survive_the_same_lines(tmp_path):
    path = tmp_path / "hostile.jsonl"
    with path.open("wb") as out:
        for n, (_, line) in enumerate(hostile_lines()):
            if n % 10 == 0 and len(line) < LARGE:
                out.write(line.replace(b'"id"', b'"was"') + b"\n")
    added, _, rejected, _, rejects, peak = run("openai", tmp_path / "log.sqlite", path)
    assert added > 0
    assert rejected > 0
    assert peak < MEMORY_LIMIT
    assert Path(rejects[0]).stat().st_size > 0


def test_reasons_fit_on_a_line_and_name_no_library(tmp_path):
    from streams.core.edge import Edge, Reject

    edge = Edge()
    lines = [line for fine, line in hostile_lines() if not fine and len(line) < LARGE][: 20 * len(KINDS)]
    faults = [f for line in lines if isinstance(r := edge.line("f", 1, line), Reject) for f in r.faults]
    assert len(faults) > 15 * len(KINDS)
    for fault in faults:
        assert len(str(fault)) < 400
        assert str(fault).isprintable()
        assert not re.search(r"pydantic|Traceback|orjson|dict_type|Error", fault.reason)
