"""Importers: files and folders as people have them become the same events every time, and lose nothing."""

import io
import os
import subprocess
from pathlib import Path

import orjson
import pytest

from streams.core.edge import Accepted, Edge, Reject
from streams.core.errors import UsageError
from streams.core.events import AT_APPEND
from streams.gateways.feed import Rejects, feed
from streams.gateways.sources import NAMES, find, read
from streams.logs.log import Duplicate, Stored

HELLO = {"role": "user", "content": "hello"}


def items(source: str, *paths: Path, edge: Edge | None = None, stdin: bytes = b""):
    return list(read(find(source), paths, edge or Edge(), io.BytesIO(stdin)))


def events(source: str, *paths: Path, stdin: bytes = b""):
    found = items(source, *paths, stdin=stdin)
    assert [item for item in found if isinstance(item, Reject)] == []
    return [item.event for item in found if isinstance(item, Accepted)]


def written(path: Path, *lines: object, end: str = "\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(end.join(orjson.dumps(line).decode() for line in lines).encode() + end.encode())
    return path


class Memory:
    """A log as far as feeding goes: it keeps the first event of every id."""

    def __init__(self):
        self.events = {}

    def append(self, batch):
        outcomes = []
        for event in batch:
            known = event.id in self.events
            outcomes.append(Duplicate(0, 0) if known else Stored(0, len(self.events)))
            self.events.setdefault(event.id, event)
        return outcomes

    def feed(self, source: str, path: Path, rejects: Path | None = None):
        return feed(self.append, read(find(source), [path], Edge(), io.BytesIO()), Rejects(rejects))


# -- any source --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_every_importer_is_one_file_that_says_what_it_reads(name):
    source = find(name)
    assert source.name == name
    assert source.about
    assert all(suffix.startswith(".") for suffix in source.suffixes)


def test_an_unknown_format_is_answered_with_the_known_ones():
    with pytest.raises(UsageError, match="no format 'xml'") as caught:
        find("xml")
    assert caught.value.way_out == f"choose one of {', '.join(NAMES)}"


def test_a_path_with_nothing_behind_it_is_refused(tmp_path):
    with pytest.raises(UsageError, match="there is no file"):
        items("lines", tmp_path / "absent.jsonl")
    with pytest.raises(UsageError, match="nothing to read"):
        items("lines", tmp_path)


def test_progress_tells_the_bytes_read_over_all_files(tmp_path):
    line = {"session": "s", **HELLO}
    paths = [written(tmp_path / "a.jsonl", *[line] * 700), written(tmp_path / "b.jsonl", *[line] * 700)]
    told: list[int] = []
    list(read(find("lines"), paths, Edge(), io.BytesIO(), told.append))
    assert told == sorted(told)
    assert told[-1] == sum(path.stat().st_size for path in paths)


# -- lines -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "data",
    [
        b'{"session":"s","role":"user","content":"a"}\n{"session":"s","role":"user","content":"b"}\n',
        b'{"session":"s","role":"user","content":"a"}\n{"session":"s","role":"user","content":"b"}',
        b'{"session":"s","role":"user","content":"a"}\r\n{"session":"s","role":"user","content":"b"}\r\n',
        b"\xef\xbb\xbf"
        + b'{"session":"s","role":"user","content":"a"}\n\n  \n{"session":"s","role":"user","content":"b"}\n\n',
    ],
    ids=["plain", "no final newline", "CRLF", "BOM and blank lines"],
)
def test_lines_are_read_as_editors_and_systems_write_them(tmp_path, data):
    (tmp_path / "f.jsonl").write_bytes(data)
    assert [event.content for event in events("lines", tmp_path / "f.jsonl")] == ["a", "b"]
    assert [event.content for event in events("lines", Path("-"), stdin=data)] == ["a", "b"]


def test_rejects_name_the_line_as_an_editor_counts_it(tmp_path):
    (tmp_path / "f.jsonl").write_bytes(b'\n\n{"session":"s"\n')
    (found,) = items("lines", tmp_path / "f.jsonl")
    assert (found.source, found.line, found.raw) == (str(tmp_path / "f.jsonl"), 3, b'{"session":"s"')


def test_a_folder_is_read_in_order_of_names_without_hidden_files_and_rejects(tmp_path):
    for name in ("b.jsonl", "a/c.jsonl", "b.jsonl.rejects.jsonl", "b.jsonl.rejects.2.jsonl", ".x/h.jsonl", "notes.txt"):
        written(tmp_path / name, {"session": name, **HELLO})
    assert [event.session for event in events("lines", tmp_path)] == ["a/c.jsonl", "b.jsonl"]


def test_a_file_fed_twice_adds_nothing(tmp_path):
    path = written(tmp_path / "f.jsonl", *[{"session": "s", **HELLO}] * 3, {"type": "session-ended", "session": "s"})
    log = Memory()
    first, second = log.feed("lines", path), log.feed("lines", path)
    assert (first.added, first.known, first.rejected) == (4, 0, 0)
    assert (second.added, second.known, second.rejected) == (0, 4, 0)


def test_good_lines_are_fed_and_bad_ones_go_to_a_file_byte_for_byte(tmp_path):
    bad = [b'{"session":"s","role":"bot","content":"x"}  \r', b"\xff\x00 no json", b'{"session":"s"']
    path = tmp_path / "f.jsonl"
    good = b'{"session":"s","role":"user","content":"fine"}'
    path.write_bytes(b"\n".join([bad[0], good, bad[1], good, bad[2]]))
    log = Memory()
    report = log.feed("lines", path)
    assert (report.added, report.rejected) == (2, 3)
    assert [(told.line, told.field) for told in report.faults] == [
        (1, "role"),
        (3, "line"),
        (5, "line"),
    ]
    assert str(report.faults[0]) == f"{path}:1: role: is 'bot'; must be one of user, assistant, system, tool"
    assert report.rejects == [f"{path}.rejects.jsonl"]
    assert Path(report.rejects[0]).read_bytes() == b"".join(line + b"\n" for line in bad)


def test_mended_rejects_add_what_was_missing_even_where_it_repeats_a_good_line(tmp_path):
    path = tmp_path / "f.jsonl"
    good = b'{"session":"s","role":"user","content":"yes"}'
    path.write_bytes(good + b"\n" + good.replace(b"user", b"usr") + b"\n" + good + b"\n")
    log = Memory()
    rejects = Path(log.feed("lines", path).rejects[0])
    rejects.write_bytes(rejects.read_bytes().replace(b"usr", b"user"))
    assert log.feed("lines", rejects).added == 1
    assert log.feed("lines", rejects).known == 1
    path.write_bytes(path.read_bytes().replace(b"usr", b"user"))
    assert log.feed("lines", path).known == 3
    assert len(log.events) == 3


def test_rejects_never_take_the_place_of_others_that_may_have_been_mended(tmp_path):
    path = written(tmp_path / "f.jsonl", {"session": "s"})
    log = Memory()
    first = log.feed("lines", path).rejects
    assert log.feed("lines", path).rejects == first
    Path(first[0]).write_text("mended\n")
    (second,) = log.feed("lines", path).rejects
    assert second.endswith("f.jsonl.rejects.2.jsonl")
    assert Path(first[0]).read_text() == "mended\n"
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "f.jsonl",
        "f.jsonl.rejects.2.jsonl",
        "f.jsonl.rejects.jsonl",
    ]


def test_rejects_go_where_they_are_asked_for(tmp_path):
    report = Memory().feed("lines", written(tmp_path / "f.jsonl", {"session": "s"}), tmp_path / "bad.jsonl")
    assert report.rejects == [str(tmp_path / "bad.jsonl")]


# -- openai ------------------------------------------------------------------------------------------------------------

CALL = {"id": "call-1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Oslo"}'}}
CHAT = [
    {"role": "developer", "content": "Be brief."},
    {"role": "user", "content": [{"type": "text", "text": "How is"}, {"type": "text", "text": "Oslo?"}], "name": "ann"},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "content": "rain", "tool_call_id": "call-1"},
    {"role": "assistant", "content": "It rains.", "refusal": None, "annotations": []},
]


def test_chat_messages_become_turns(tmp_path):
    path = tmp_path / "oslo.json"
    path.write_bytes(orjson.dumps(CHAT, option=orjson.OPT_INDENT_2))
    found = events("openai", path)
    assert {event.session for event in found} == {"oslo"}
    assert [(event.role, event.agent, event.content) for event in found] == [
        ("system", "system", "Be brief."),
        ("user", "ann", "How is\nOslo?"),
        ("assistant", "assistant", ""),
        ("tool", "tool", "rain"),
        ("assistant", "assistant", "It rains."),
    ]
    assert found[2].parts == [CALL]
    assert found[3].parts == [{"type": "tool_result", "tool_call_id": "call-1", "name": "weather"}]
    assert found[3].reply_to == found[2].id
    assert found[4].parts == []
    assert {event.at for event in found} == {AT_APPEND}


SHAPES = {
    "a list of messages": ("c.json", lambda: orjson.dumps(CHAT), ["c"]),
    "an object": ("c.json", lambda: orjson.dumps({"messages": CHAT, "model": "m"}), ["c"]),
    "an object with an id": ("c.json", lambda: orjson.dumps({"id": "chat-9", "messages": CHAT}), ["chat-9"]),
    "a list of lists": ("c.json", lambda: orjson.dumps([CHAT, CHAT]), ["c-1", "c-2"]),
    "a list of objects": (
        "c.json",
        lambda: orjson.dumps([{"messages": CHAT}, {"id": 7, "messages": CHAT}]),
        ["c-1", "7"],
    ),
    "runs with a trajectory": ("c.json", lambda: orjson.dumps([{"task": 1, "traj": CHAT}]), ["c-1"]),
    "wrapped": ("c.json", lambda: orjson.dumps({"conversations": [{"messages": CHAT}]}), ["c-1"]),
    "a conversation a line": (
        "c.jsonl",
        lambda: lines({"messages": CHAT}, {"id": "x", "messages": CHAT}),
        ["c", "x"],
    ),
    "a list of messages a line": ("c.jsonl", lambda: lines(CHAT, CHAT), ["c", "c-2"]),
    "a message a line": ("c.jsonl", lambda: lines(*CHAT), ["c"]),
    "messages of two sessions": (
        "c.jsonl",
        lambda: lines(*(m | {"session": s} for m in CHAT for s in "ab")),
        ["a", "b"],
    ),
    "JSON lines called json": ("c.json", lambda: lines(*CHAT), ["c"]),
    "a document called jsonl": ("c.jsonl", lambda: orjson.dumps(CHAT, option=orjson.OPT_INDENT_2), ["c"]),
}


def lines(*values: object) -> bytes:
    return b"".join(orjson.dumps(value) + b"\n" for value in values)


@pytest.mark.parametrize("shape", SHAPES)
def test_conversations_come_in_many_shapes(tmp_path, shape):
    name, data, sessions = SHAPES[shape]
    (tmp_path / name).write_bytes(data())
    found = events("openai", tmp_path / name)
    assert list(dict.fromkeys(event.session for event in found)) == sessions
    for session in sessions:
        turns = [event for event in found if event.session == session]
        assert [event.content for event in turns] == ["Be brief.", "How is\nOslo?", "", "rain", "It rains."]
        assert turns[3].reply_to == turns[2].id
    assert len({event.id for event in found}) == len(found)


def test_standard_input_takes_documents_and_lines():
    for data in (orjson.dumps(CHAT), orjson.dumps(CHAT, option=orjson.OPT_INDENT_2), lines(*CHAT)):
        assert len(events("openai", Path("-"), stdin=data)) == len(CHAT)


def test_a_folder_of_conversations_is_named_by_its_files(tmp_path):
    for name in ("mon.json", "week/tue.json"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(orjson.dumps([HELLO]))
    assert [event.session for event in events("openai", tmp_path)] == ["mon", "week/tue"]


def test_times_are_taken_as_chat_formats_write_them(tmp_path):
    times = [
        {"created_at": 1_767_603_600},
        {"timestamp": 1_767_603_600_000},
        {"created": "1767603600.5"},
        {"timestamp": "2026-01-05T09:00:01Z"},
        {},
        {"at": 1_767_603_602_000_000},
    ]
    path = tmp_path / "c.json"
    chat = {"created_at": 1_767_603_599, "messages": [HELLO, *(HELLO | time for time in times)]}
    path.write_bytes(orjson.dumps(chat))
    start = 1_767_603_600_000_000
    offsets = [-1_000_000, 0, 0, 500_000, 1_000_000, 1_000_000, 2_000_000]
    assert [event.at - start for event in events("openai", path)] == offsets


def test_what_is_not_text_stays_in_the_parts(tmp_path):
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    message = {"role": "user", "content": [{"type": "text", "text": "see"}, image], "reasoning_content": "hm"}
    path = tmp_path / "c.json"
    path.write_bytes(orjson.dumps([message, {"role": "assistant", "content": None, "refusal": "I cannot."}]))
    first, second = events("openai", path)
    assert (first.content, first.parts) == ("see", [image, {"type": "fields", "fields": {"reasoning_content": "hm"}}])
    assert (second.content, second.parts) == ("I cannot.", [])


def test_function_calls_of_old_are_tool_calls(tmp_path):
    call = {"name": "weather", "arguments": "{}"}
    messages = [
        {"role": "assistant", "content": None, "function_call": call},
        {"role": "function", "name": "weather", "content": "rain"},
    ]
    path = tmp_path / "c.json"
    path.write_bytes(orjson.dumps(messages))
    first, second = events("openai", path)
    assert first.parts == [{"type": "function", "function": call}]
    assert (second.role, second.parts) == ("tool", [{"type": "tool_result", "name": "weather"}])


def test_message_numbers_are_told_apart_by_their_conversation(tmp_path):
    path = tmp_path / "c.json"
    path.write_bytes(orjson.dumps([[HELLO | {"id": 1}], [HELLO | {"id": 1}], [HELLO | {"id": "msg_x"}]]))
    assert [event.id for event in events("openai", path)] == ["c-1/1", "c-2/1", "msg_x"]


def test_a_conversation_that_grew_adds_only_its_new_messages(tmp_path):
    path = tmp_path / "c.json"
    log = Memory()
    path.write_bytes(orjson.dumps(CHAT))
    assert log.feed("openai", path).added == 5
    path.write_bytes(orjson.dumps([*CHAT, {"role": "user", "content": "Thanks."}]))
    report = log.feed("openai", path)
    assert (report.added, report.known) == (1, 5)


@pytest.mark.parametrize(
    ("data", "field", "reason"),
    [
        (
            [CHAT[0], {"role": "owl", "content": "hu"}],
            "[1].role",
            "is 'owl'; must be one of user, assistant, system, tool",
        ),
        ([CHAT[0], "hello"], "[1]", "is no message: an object with a role and content is expected"),
        ([[{"role": "user", "content": None}]], "[0][0].content", "must be text, not null"),
        ([{"role": "user", "content": [{"type": "text"}]}], "[0].content[0].text", "must be text"),
        ([{"role": "user", "content": [7]}], "[0].content[0]", "must be an object with a type"),
        ([{"role": "assistant", "content": "", "tool_calls": "x"}], "[0].tool_calls", "must be a list of objects"),
        (
            {"text": "x"},
            "messages",
            "is missing: this is neither a message (with a role) nor a conversation (with messages)",
        ),
        ([1], "[0]", "is neither a message (with a role) nor a conversation (with messages)"),
        (7, "line", "is neither a message (with a role) nor a conversation (with messages)"),
    ],
)
def test_bad_messages_are_refused_by_place_and_reason(tmp_path, data, field, reason):
    path = tmp_path / "c.json"
    path.write_bytes(orjson.dumps(data))
    rejects = [item for item in items("openai", path) if isinstance(item, Reject)]
    assert [(reject.source, *map(tuple, reject.faults)) for reject in rejects] == [(str(path), (field, reason))]


def test_a_broken_document_tells_where_and_what_is_whole_is_taken(tmp_path):
    path = tmp_path / "c.json"
    path.write_bytes(orjson.dumps(CHAT, option=orjson.OPT_INDENT_2)[:-10])
    reject, *accepted = sorted(items("openai", path), key=lambda item: isinstance(item, Accepted))
    assert (reject.faults[0].field, len(accepted)) == ("[4]", 4)
    assert reject.faults[0].reason.startswith("is not JSON: unexpected end of data at line ")


def test_a_mended_message_of_a_document_goes_back_to_its_conversation(tmp_path):
    path = tmp_path / "c.json"
    chat = {"created_at": 1_767_603_600, "space": "p", "messages": [HELLO, {"role": "usr", "content": "hello"}]}
    path.write_bytes(orjson.dumps([chat]))
    log = Memory()
    rejects = Path(log.feed("openai", path).rejects[0])
    rejects.write_bytes(rejects.read_bytes().replace(b"usr", b"user"))
    assert log.feed("openai", rejects).added == 1
    first, second = log.events.values()
    assert (first.space, first.session, first.at, first.content) == (
        second.space,
        second.session,
        second.at,
        second.content,
    )


def test_mended_lines_of_single_messages_go_back_to_the_session_of_their_file(tmp_path):
    path = tmp_path / "c.jsonl"
    path.write_bytes(lines(HELLO) + b'{"role":"user","content":"x"\n')
    log = Memory()
    rejects = Path(log.feed("openai", path).rejects[0])
    rejects.write_bytes(rejects.read_bytes().replace(b'"x"', b'"x"}'))
    assert log.feed("openai", rejects).added == 1
    assert {event.session for event in log.events.values()} == {"c"}


def test_a_yes_that_is_said_in_two_files_or_twice_on_standard_input_is_two_turns(tmp_path, home):
    yes = b'{"session": "s", "role": "user", "content": "yes"}\n'
    for name in ("monday.jsonl", "tuesday.jsonl"):
        (tmp_path / name).write_bytes(yes)

    def fed(path: Path, stdin: bytes = b"", source: str = "") -> tuple[int, int]:
        items = read(find("lines"), [path], Edge(source=source), io.BytesIO(stdin))
        report = feed(home.log.append, items, Rejects())
        return report.added, report.known

    assert fed(tmp_path / "monday.jsonl") == (1, 0)
    assert fed(tmp_path / "tuesday.jsonl") == (1, 0)
    (tmp_path / "elsewhere").mkdir()
    assert fed((tmp_path / "monday.jsonl").rename(tmp_path / "elsewhere" / "monday.jsonl")) == (0, 1)
    assert [fed(Path("-"), yes) for _ in range(2)] == [(1, 0), (1, 0)]
    assert [fed(Path("-"), yes + yes, "the bot") for _ in range(2)] == [(2, 0), (0, 2)]


def test_a_yes_that_comes_through_a_pipe_or_an_open_file_twice_is_two_turns(tmp_path, home):
    pipe, file = tmp_path / "pipe", tmp_path / "yes.jsonl"
    os.mkfifo(pipe)
    file.write_bytes(b'{"session": "s", "role": "user", "content": "yes"}\n')

    def fed(path: Path, source: str = "") -> int:
        return feed(home.log.append, read(find("lines"), [path], Edge(source=source), io.BytesIO()), Rejects()).added

    def through_pipe(source: str = "") -> int:
        with subprocess.Popen(["/bin/sh", "-c", 'cat "$0" > "$1"', file, pipe]):
            return fed(pipe, source)

    assert [through_pipe(), through_pipe()] == [1, 1]
    assert [through_pipe("the bot"), through_pipe("the bot")] == [1, 0]
    for _ in range(2):
        with file.open("rb") as opened:
            assert fed(Path(f"/dev/fd/{opened.fileno()}")) == 1
    assert [fed(file), fed(file)] == [1, 0]


def test_a_feed_names_what_was_known(tmp_path, home):
    file = tmp_path / "talk.jsonl"
    file.write_text('{"session": "s", "role": "user", "content": "yes", "id": "y1"}\n')
    for _ in range(2):
        report = feed(home.log.append, read(find("lines"), [file], Edge(), io.BytesIO()), Rejects())
    assert [str(one) for one in report.repeats] == [f"{file}:1: known already, as y1"]
