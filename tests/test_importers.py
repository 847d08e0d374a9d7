"""Importers of what agents and chats write: each becomes turns, always the same ones, and nothing of it is lost.

The conversations in tests/importers were written for these tests.
"""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from importlib import import_module
from pathlib import Path

import pyarrow
import pytest

from streams.core.edge import Accepted, Edge, Reject
from streams.core.events import TurnRecorded, TurnRetracted
from streams.gateways.feed import Rejects, Report, feed
from streams.gateways.sources import AUTO, NAMES, detect, find, read
from streams.gateways.sources.shared import Value
from streams.runtime.home import Home

SAMPLES = Path(__file__).parent / "importers"


def items(path: Path, name: str = AUTO, stdin: bytes = b"", space: str = ""):
    return list(read(find(name), [path], Edge(space or "default"), io.BytesIO(stdin), space=space))


def events(path: Path, name: str = AUTO, stdin: bytes = b"", space: str = ""):
    found = items(path, name, stdin, space)
    assert [item for item in found if isinstance(item, Reject)] == []
    return [item.event for item in found if isinstance(item, Accepted)]


def turns(path: Path, **how: str):
    return [event for event in events(path, **how) if isinstance(event, TurnRecorded)]


def retracted(path: Path) -> list[str]:
    return [event.turn for event in events(path) if isinstance(event, TurnRetracted)]


def said(path: Path) -> list[tuple[str, str, str, str]]:
    return [(turn.session, turn.role, turn.agent, turn.content) for turn in turns(path)]


def fed(home: Home, path: Path) -> Report:
    return feed(home.log.append, read(find(AUTO), [path], Edge(), io.BytesIO()), Rejects(home.path / "rejects.jsonl"))


def sample(name: str) -> Path:
    (path,) = SAMPLES.glob(f"{name}.*")
    return path


ALL = sorted(path.name for path in SAMPLES.iterdir())


@pytest.mark.parametrize("name", ALL)
def test_the_format_of_a_file_is_found_out_by_how_it_begins(name):
    path = SAMPLES / name
    format_ = max((known for known in NAMES if path.stem.startswith(known)), key=len)
    assert detect(path.read_bytes()) == format_
    assert turns(path) == turns(path, name=format_)


@pytest.mark.parametrize("name", ALL)
def test_a_file_fed_twice_or_elsewhere_adds_nothing(name, home, tmp_path):
    report = fed(home, SAMPLES / name)
    assert (report.rejected, report.known) == (0, 0)
    assert report.added
    again = fed(home, SAMPLES / name)
    assert (again.added, again.known) == (0, report.added)
    (tmp_path / "elsewhere").mkdir()
    moved = tmp_path / "elsewhere" / name
    moved.write_bytes((SAMPLES / name).read_bytes())
    assert fed(home, moved).added == 0


PACK = {
    ".gz": gzip.compress,
    ".zst": lambda data: pyarrow.compress(data, codec="zstd", asbytes=True),
}


@pytest.mark.parametrize("name", ALL)
def test_a_file_is_the_same_compressed_in_an_archive_a_folder_and_on_standard_input(name, tmp_path):
    data = (SAMPLES / name).read_bytes()
    whole = [turn.content for turn in turns(SAMPLES / name)]
    for suffix, pack in PACK.items():
        (tmp_path / f"{name}{suffix}").write_bytes(pack(data))
        assert turns(tmp_path / f"{name}{suffix}") == turns(SAMPLES / name)
    with zipfile.ZipFile(tmp_path / "export.zip", "w") as archive:
        archive.writestr(f"export/{name}", data)
        archive.writestr("export/user.json", '{"email": "ann@example.org"}')
        archive.writestr("export/chat.html", "<html>")
    assert [turn.content for turn in turns(tmp_path / "export.zip")] == whole
    (tmp_path / "folder" / "sub").mkdir(parents=True)
    (tmp_path / "folder" / "sub" / name).write_bytes(data)
    (tmp_path / "folder" / "package.json").write_text('{"name": "shop"}')
    assert [turn.content for turn in turns(tmp_path / "folder")] == whole
    assert [turn.content for turn in turns(Path("-"), stdin=data)] == whole


@pytest.mark.parametrize("name", [name for name in ALL if name.endswith("l")])
def test_a_damaged_line_is_rejected_with_words_and_the_others_are_fed(name, home, tmp_path):
    lines = (SAMPLES / name).read_bytes().splitlines(keepends=True)
    path = tmp_path / name
    path.write_bytes(b"".join([*lines, lines[-1][: len(lines[-1]) // 2], b"\n"]))
    report = fed(home, path)
    assert report.rejected == 1
    assert report.added == len(events(SAMPLES / name))
    assert report.faults[0].reason.startswith("is not JSON: ")
    assert Path(report.rejects[0]).read_bytes() == lines[-1][: len(lines[-1]) // 2] + b"\n"


@pytest.mark.parametrize("name", ["claude-code.jsonl", "codex.jsonl", "gemini-cli.jsonl"])
def test_a_line_that_a_running_agent_has_not_ended_yet_is_no_reject_and_is_fed_when_it_is_whole(name, home, tmp_path):
    lines = (SAMPLES / name).read_bytes().rstrip(b"\n").splitlines(keepends=True)
    path = tmp_path / name
    path.write_bytes(b"".join([*lines[:-1], lines[-1][: len(lines[-1]) // 2]]))
    report = fed(home, path)
    assert report.rejected == 0
    assert report.rejects == []
    assert [told.line for told in report.unfinished] == [len(lines)]
    path.write_bytes(b"".join(lines))
    again = fed(home, path)
    assert again.unfinished == []
    assert report.added + again.added == len(events(SAMPLES / name))


def test_a_picture_is_told_once_to_be_no_text(home, tmp_path):
    path = tmp_path / "photo.png"
    path.write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\n\0\n\0")
    report = fed(home, path)
    assert [str(fault) for fault in report.faults] == [f"{path}: file: is no text; --format says how it is to be read"]
    assert report.rejects == []


@pytest.mark.parametrize("name", ALL)
def test_whatever_stands_in_place_of_a_value_is_a_reject_and_no_error(name):
    for data in (
        b"[]",
        b"{}",
        b"[[]]",
        b"[1]",
        b"7",
        b'"x"',
        b"null",
        b"[null]",
        b'{"message": 1}',
        b"{",
        b"[",
        b'[{"',
    ):
        for known in NAMES:
            for found in items(Path("-"), known, data):
                assert isinstance(found, Reject), (known, data)
                assert all(fault.reason for fault in found.faults)


@pytest.mark.parametrize("name", [name for name in ALL if not name.endswith("csv")])
def test_half_a_character_where_a_program_cut_a_text_costs_that_character_alone(name, tmp_path):
    whole = turns(SAMPLES / name)
    word = max(next(turn.content for turn in whole if turn.content).split(), key=len)
    path = tmp_path / name
    path.write_text((SAMPLES / name).read_text().replace(word, rf"{word}\ud83d"))
    found = turns(path)
    assert f"{word}?" in str(found)
    assert [turn.content.replace("?", "") for turn in found] == [turn.content.replace("?", "") for turn in whole]


def test_a_value_with_half_a_character_that_cannot_be_mended_is_rejected(tmp_path):
    for rest in ("[" * 100_000, '{"a": NaN}', "1" * 5000, ""):
        (tmp_path / "a.jsonl").write_text(rf'{{"messages": [{{"role": "user", "content": "\ud83d"}}], "more": {rest}}}')
        (found,) = items(tmp_path / "a.jsonl", "openai")
        assert isinstance(found, Reject)


def damaged(value: object):
    """A value with each part of it, at any depth, taken out or put in place of by something else."""
    if isinstance(value, dict):
        for key in value:
            yield {k: v for k, v in value.items() if k != key}
            for other in (None, 7, "x", [], {}, [None], [{}]):
                yield value | {key: other}
            for inner in damaged(value[key]):
                yield value | {key: inner}
    elif isinstance(value, list):
        for n, one in enumerate(value[:3]):
            for inner in damaged(one):
                yield [*value[:n], inner, *value[n + 1 :]]


@pytest.mark.parametrize("name", [name for name in ALL if not name.endswith("csv")])
def test_a_value_with_anything_else_in_place_of_any_part_is_taken_or_rejected(name):
    format_ = detect((SAMPLES / name).read_bytes())
    try:
        whole = [json.loads((SAMPLES / name).read_bytes())]
    except ValueError:
        whole = [json.loads(line) for line in (SAMPLES / name).read_bytes().splitlines()]
    count = 0
    for value in whole:
        for broken in damaged(value):
            count += 1
            for found in items(Path("-"), format_, json.dumps(broken).encode() + b"\n"):
                assert isinstance(found, Accepted) or found.faults
    assert count > 50


# -- Claude Code -------------------------------------------------------------------------------------------------------


def test_a_session_of_claude_code_becomes_turns():
    ann, bot = "user", "claude"
    assert said(sample("claude-code")) == [
        ("5e55", "system", "system", "<command-name>/clear</command-name>"),
        ("5e55", "user", ann, "The login test fails since this morning."),
        ("5e55", "assistant", bot, "I look at the test."),
        ("5e55", "tool", "tool", "expected 200, got 401"),
        ("5e55", "tool", "tool", "no match"),
        ("5e55", "assistant", bot, "The cookie was renamed."),
        ("5e55", "user", ann, "Change the proxy, then."),
        ("5e55", "assistant", bot, "I changed the proxy."),
        ("5e55", "user", ann, "No: change the test instead."),
        ("5e55", "assistant", bot, "I changed the test."),
        ("5e55", "system", "system", "This session is being continued: the login test was mended."),
        ("5e55", "user", ann, "Thanks, that fixed it!"),
        ("5e55", "user", ann, "And run it twice."),
        ("5e55/agent-ab12", "user", "claude", "Find all uses of the cookie."),
        ("5e55/agent-ab12", "assistant", "agent-ab12", "There are two."),
    ]
    found = turns(sample("claude-code"))
    assert {turn.space for turn in found} == {"/home/ann/shop"}
    assert {turn.space for turn in turns(sample("claude-code"), space="mine")} == {"mine"}
    answer, read_, grep = found[2:5]
    assert [part["type"] for part in answer.parts] == ["thinking", "tool_use", "tool_use", "fields"]
    usage = {"input_tokens": 10, "output_tokens": 4}
    assert answer.parts[-1]["fields"] == {"model": "model-a", "usage": usage}
    assert read_.reply_to == grep.reply_to == answer.id == "a1"
    assert grep.parts[0] == {"type": "tool_result", "tool_use_id": "toolu_2", "is_error": True}
    assert grep.parts[1]["type"] == "image"
    assert found[1].parts == [{"type": "text", "text": "<system-reminder>Be brief.</system-reminder>"}]
    assert found[5].parts[-1]["fields"]["effort"] == "high"


def test_a_rewind_retracts_what_it_leaves_behind_and_parallel_calls_and_compaction_do_not():
    assert retracted(sample("claude-code")) == ["u5", "a6"]


def test_a_fork_of_a_session_adds_only_what_was_said_in_it(home):
    fed(home, SAMPLES / "claude-code.jsonl")
    report = fed(home, SAMPLES / "claude-code-fork.jsonl")
    assert (report.added, report.known, report.rejected) == (1, 6, 0)


# -- what models are asked, and answer ---------------------------------------------------------------------------------

OSLO = [
    ("system", "Be brief."),
    ("user", "How is Oslo?"),
    ("assistant", ""),
    ("tool", "rain"),
    ("assistant", "It rains."),
]


def spoken(name: str) -> list[tuple[str, str]]:
    return [(turn.role, turn.content) for turn in turns(sample(name))]


def test_requests_and_responses_of_chat_completions_are_one_conversation_where_they_continue_it():
    found = turns(sample("openai"))
    assert [(turn.role, turn.content) for turn in found] == [*OSLO, ("user", "Another talk."), ("assistant", "Yes?")]
    assert [turn.session for turn in found] == ["openai"] * 5 + ["openai-3"] * 2
    assert found[1].parts[0]["type"] == "image_url"
    assert found[3].reply_to == found[2].id
    assert found[4].parts == [{"type": "fields", "fields": {"reasoning_content": "hm"}}]


def test_items_of_responses_become_turns():
    found = turns(sample("responses"))
    assert [(turn.role, turn.content) for turn in found] == [*OSLO[:3], ("assistant", ""), *OSLO[3:]]
    assert {turn.session for turn in found} == {"responses"}
    assert [turn.id for turn in found if "_" in turn.id] == ["rs_1", "fc_1", "msg_1"]
    assert found[2].parts[0]["encrypted_content"] == "xx"
    assert (found[3].parts[0]["name"], found[4].reply_to) == ("weather", "fc_1")
    assert found[5].parts == [{"type": "fields", "fields": {"phase": "final_answer"}}]


def test_messages_of_anthropic_become_turns():
    found = turns(sample("anthropic"))
    assert [(turn.role, turn.content) for turn in found] == [
        *OSLO[:2], ("assistant", "I look."), ("tool", "rain"), ("user", "And tomorrow?"), OSLO[4],
    ]  # fmt: skip
    assert [part["type"] for part in found[2].parts] == ["thinking", "tool_use", "fields"]
    assert found[2].parts[2]["fields"]["usage"] == {"input_tokens": 3}
    assert found[3].reply_to == found[2].id
    assert [part["type"] for part in found[3].parts] == ["tool_result", "image"]


def test_histories_sent_again_under_an_id_add_nothing_in_this_file_or_another(home, tmp_path):
    said = [
        {"role": "user", "content": "yes"},
        {"role": "assistant", "content": "what?"},
        {"role": "user", "content": "yes"},
    ]
    rows = [{"thread_id": "t", "messages": said[:n]} for n in (1, 2, 3)]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "b.jsonl").write_text(json.dumps({"thread_id": "t", "messages": [*said, said[0]]}) + "\n")
    assert fed(home, tmp_path / "a.jsonl").added == 3
    assert fed(home, tmp_path / "b.jsonl").added == 1


# -- other agents and exports ------------------------------------------------------------------------------------------


def test_a_rollout_of_codex_becomes_turns_and_what_it_repeats_adds_nothing():
    found = turns(sample("codex"))
    assert [(turn.role, turn.content) for turn in found] == [
        ("system", "<environment_context>\n  <cwd>/home/ann/shop</cwd>\n</environment_context>"),
        ("user", "Why is the deploy slow?"),
        ("assistant", ""),
        ("assistant", "I look at the pipeline."),
        ("assistant", ""),
        ("tool", "Makefile"),
        ("assistant", ""),
        ("tool", '{"output": "done"}'),
        ("assistant", "It builds the image twice."),
        ("user", "Then build it thrice."),
        ("system", "They looked at a slow deploy."),
        ("user", "Build it once."),
    ]
    assert {(turn.space, turn.session) for turn in found} == {("/home/ann/shop", "0198-aa")}
    assert [found.index(next(t for t in found if t.id == turn.reply_to)) for turn in found if turn.reply_to] == [4, 6]
    assert found[3].parts == [{"type": "fields", "fields": {"phase": "commentary"}}]
    assert retracted(sample("codex")) == [found[9].id]


def test_a_fork_of_a_rollout_adds_only_what_was_said_in_it(home):
    fed(home, SAMPLES / "codex.jsonl")
    assert fed(home, SAMPLES / "codex-fork.jsonl").added == 1


def test_a_session_of_gemini_becomes_turns_and_messages_written_again_add_what_is_new():
    found = turns(sample("gemini-cli"))
    assert [(turn.role, turn.content) for turn in found if turn.content] == [
        ("user", "Where is the index built?"),
        ("assistant", "I read the file."),
        ("tool", "def build(): pass"),
        ("system", "Switched model."),
        ("user", "Delete it."),
        ("assistant", "Deleted."),
        ("user", "Rename it."),
        ("user", "Thanks!"),
    ]
    assert {(turn.space, turn.session) for turn in found} == {("/home/ann/shop", "9e-1")}
    answer = next(turn for turn in found if turn.content == "I read the file.")
    assert [part["type"] for part in answer.parts] == ["thought", "tool_call", "fields"]
    assert next(turn for turn in found if turn.role == "tool").reply_to == answer.id
    assert retracted(sample("gemini-cli")) == ["m2", "m4", "m5"]


def test_an_export_of_chatgpt_becomes_turns_and_branches_are_retracted():
    found = turns(sample("chatgpt"))
    assert [(turn.id, turn.role, turn.agent, turn.content) for turn in found] == [
        ("ctx", "system", "system", ""),
        ("q1", "user", "user", "How far is Olso?"),
        ("r1", "assistant", "assistant", "There is no Olso."),
        ("q2", "user", "user", "How far is Oslo?"),
        ("th", "assistant", "assistant", ""),
        ("c", "assistant", "assistant", ""),
        ("o", "tool", "python", "1"),
        ("a1", "assistant", "assistant", "Very far."),
        ("a2", "assistant", "assistant", "400 km."),
        ("end", "user", "user", "Thanks!"),
    ]
    assert {turn.session for turn in found} == {"c-1"}
    assert found[0].parts[-1] == {"type": "fields", "fields": {"title": "Oslo"}}
    assert found[5].parts[0] == {
        "type": "tool_call", "recipient": "python", "content_type": "code", "language": "unknown", "text": "print(1)",
    }  # fmt: skip
    assert found[9].at == found[8].at
    gone = [event for event in events(sample("chatgpt")) if isinstance(event, TurnRetracted)]
    assert [(event.turn, event.reason) for event in gone] == [
        ("q1", "edited"), ("r1", "edited"), ("a1", "regenerated"),
    ]  # fmt: skip


def test_an_export_of_claude_ai_becomes_turns_and_branches_are_retracted():
    assert said(sample("claude-ai")) == [
        ("k-1", "user", "user", "Oil the crane?"),
        ("k-1", "assistant", "assistant", "Every week."),
        ("k-1", "user", "user", "And the rope?"),
        ("k-1", "assistant", "assistant", "Every day."),
        ("k-1", "user", "user", "And the chain?"),
        ("k-1", "assistant", "assistant", "Every month."),
        ("k-2", "user", "user", "Old one."),
    ]
    first, second, *_ = turns(sample("claude-ai"))
    assert first.parts[0]["extracted_content"] == "oil it"
    assert [part["type"] for part in second.parts] == ["thinking", "tool_use"]
    assert retracted(sample("claude-ai")) == ["h2", "x2"]


@pytest.mark.parametrize("name", ["claude-code", "codex", "gemini-cli"])
def test_a_transcript_read_in_pieces_gives_what_it_gives_as_a_whole(name, home):
    """As hooks read it: what has to be known to go on is kept as JSON in between."""
    source = import_module(f"streams.gateways.sources.{name.replace('-', '_')}")
    lines = [json.loads(line) for line in sample_bytes(name).splitlines()]
    state, found = None, []
    for line in lines:
        session = source.Session(state=state)
        for value in source.gathered(iter([Value(0, -1, b"", line)])):
            found += session(value.value)
        state = json.loads(json.dumps(session.state))
    edge = Edge()
    feed(home.log.append, (Accepted("", 0, b"", edge.event(fields), True) for fields in found), Rejects())
    whole = events(SAMPLES / f"{name}.jsonl")
    pieces = [edge.event(fields) for fields in found]
    assert {event.id for event in whole} <= {event.id for event in pieces}
    told = {part for event in pieces if isinstance(event, TurnRecorded) for part in event.content.splitlines()}
    assert told == {part for event in whole if isinstance(event, TurnRecorded) for part in event.content.splitlines()}


def message_of(*blocks: dict) -> list[bytes]:
    """The lines of a message of an assistant, a block each, behind the prompt that it answers."""
    about = {"sessionId": "5e55", "cwd": "/shop", "timestamp": "2026-03-02T09:00:00Z", "isSidechain": False}
    prompt = {"uuid": "u", "parentUuid": None, "type": "user", "message": {"role": "user", "content": "Look at it"}}
    said = [
        {"uuid": f"a{n}", "parentUuid": "u", "type": "assistant"}
        | {"message": {"id": "m", "role": "assistant", "content": [block], "usage": {"output_tokens": 7}}}
        for n, block in enumerate(blocks)
    ]
    return [json.dumps(about | line).encode() + b"\n" for line in (prompt, *said)]


BLOCKS = (
    {"type": "thinking", "thinking": "hm"},
    {"type": "text", "text": "I look at the login."},
    {"type": "tool_use", "id": "t", "name": "Read", "input": {}},
    {"type": "text", "text": "The cookie was renamed."},
)


@pytest.mark.parametrize("stops", [(2,), (3,), (2, 3), (2, 3, 4), (3, 4)])
def test_what_is_written_of_a_message_after_it_was_fed_comes_with_the_next_feed(stops, home, tmp_path):
    lines, path = message_of(*BLOCKS), tmp_path / "5e55.jsonl"
    for stop in (*stops, len(lines), len(lines)):
        path.write_bytes(b"".join(lines[:stop]))
        report = fed(home, path)
    assert (report.added, report.rejected) == (0, 0)
    recorded = [json.loads(record.value) for record in home.log.read(0, 0)]
    turns = [event for event in recorded if event["role"] == "assistant"]
    contents = [turn["content"] for turn in turns if turn["content"]]
    assert "\n".join(contents) == "I look at the login.\nThe cookie was renamed."
    parts = [part for turn in turns for part in turn["parts"]]
    assert [part["type"] for part in parts if part["type"] != "fields"] == ["thinking", "tool_use"]
    assert sum("usage" in part["fields"] for part in parts if part["type"] == "fields") == 1
    assert len(turns) == 1 + len(stops)


def sample_bytes(name: str) -> bytes:
    return (SAMPLES / f"{name}.jsonl").read_bytes()


# -- frameworks, telemetry, sets and tables ----------------------------------------------------------------------------


def test_messages_of_langchain_become_turns():
    found = turns(sample("langchain"))
    assert [(turn.role, turn.content) for turn in found] == [*OSLO, ("user", "Thanks!")]
    assert [turn.id for turn in found] == ["l0", "l1", "l2", "l3", "l4", "l5"]
    assert {turn.session for turn in found} == {"th-1"}
    assert found[2].parts[0]["args"] == {"city": "Oslo"}
    assert found[2].parts[1]["fields"] == {"usage_metadata": {"input_tokens": 3}}
    assert found[3].parts == [{"type": "tool_result", "tool_call_id": "c1", "name": "weather", "status": "success"}]
    assert found[3].reply_to == "l2"
    assert (found[4].parts[0]["type"], found[5].agent) == ("reasoning", "ann")
    assert retracted(sample("langchain")) == ["l4"]


def test_contents_of_gemini_become_turns():
    found = turns(sample("gemini"))
    assert [(turn.role, turn.content) for turn in found] == OSLO
    assert [next(iter(part)) for turn in found for part in turn.parts] == [
        "inlineData", "text", "functionCall", "functionResponse",
    ]  # fmt: skip
    assert found[3].reply_to == found[2].id


def test_conversations_of_sharegpt_become_turns():
    found = turns(sample("sharegpt"))
    assert [(turn.role, turn.content) for turn in found] == [*OSLO, *[("user", "hello"), ("assistant", "hi")] * 2]
    assert [turn.session for turn in found] == ["sg-1"] * 5 + ["sharegpt-2"] * 2 + ["sharegpt-3"] * 2
    assert found[2].parts == [{"type": "function_call", "value": '{"name": "weather"}'}]
    assert found[4].parts == [{"type": "fields", "fields": {"weight": 1}}]


def test_spans_become_turns_and_what_each_call_repeats_adds_nothing():
    found = turns(sample("otel"))
    assert [(turn.role, turn.content) for turn in found] == [*OSLO, ("user", "hello"), ("assistant", "hi")]
    assert [turn.session for turn in found] == ["otel-1"] * 5 + ["cv-1"] * 2
    assert [turn.agent for turn in found] == ["system", "user", "scout", "tool", "scout", "user", "assistant"]
    assert [part["type"] for part in found[2].parts] == ["reasoning", "tool_call", "fields"]
    assert found[3].reply_to == found[2].id
    assert (found[0].at, found[4].at) == (1_767_603_601_000_000, 1_767_603_602_000_000)


def test_a_span_that_cannot_be_read_costs_no_other_of_its_batch_and_goes_in_once_mended(home, tmp_path):
    batch = json.loads(sample("otel").read_bytes().splitlines()[0])
    path = tmp_path / "otel.json"
    path.write_text(json.dumps(batch))
    whole = turns(path)

    def span(messages: str) -> dict:
        about = {"gen_ai.operation.name": "chat", "gen_ai.input.messages": messages}
        return {"attributes": [{"key": key, "value": {"stringValue": value}} for key, value in about.items()]}

    cut = span('[{"role": "user", "parts": [{"type": "te')
    batch["resourceSpans"][0]["scopeSpans"][0]["spans"].append(cut)
    path.write_text(json.dumps(batch))
    report = fed(home, path)
    assert (report.added, report.rejected) == (len(whole), 1)
    assert "unexpected end of data" in report.faults[0].reason
    (rejects,) = map(Path, report.rejects)
    left = json.loads(rejects.read_text())
    assert left["resourceSpans"][0]["scopeSpans"][0]["spans"] == [cut]
    cut["attributes"] = span('[{"role": "user", "parts": [{"type": "text", "content": "Thanks!"}]}]')["attributes"]
    rejects.write_text(json.dumps(left | {"resourceSpans": [{"scopeSpans": [{"spans": [cut]}]}]}))
    assert [turn.content for turn in turns(rejects)] == ["Thanks!"]
    assert fed(home, rejects).added == 1


def test_rows_of_a_table_become_turns():
    found = turns(sample("csv"))
    assert [(turn.session, turn.role, turn.content) for turn in found] == [
        ("chat-1", "user", "How is Oslo,\n\nmy friend?"),
        ("chat-1", "assistant", "It rains."),
        ("chat-2", "user", "hello"),
    ]
    assert found[0].parts == [{"type": "fields", "fields": {"mood": "good"}}]
    assert found[2].at == 1_767_603_600_000_000


def test_a_table_that_lacks_a_column_or_a_cell_is_rejected_with_words(tmp_path, home):
    (tmp_path / "t.csv").write_text("role;content\nuser;fine\nowl;hu\nuser;one;two\n")
    report = fed(home, tmp_path / "t.csv")
    assert [str(fault).partition(": ")[2] for fault in report.faults] == [
        "role: is 'owl'; must be one of user, assistant, system, tool",
        "line: has 3 columns; the first line names 2",
    ]
    assert fed(home, Path(report.rejects[0])).rejected == 2
    (tmp_path / "u.csv").write_text("who;content\nuser;fine\n")
    (reject,) = items(tmp_path / "u.csv", "csv")
    assert reject.faults == [("role", "is no column; columns are who, content")]
