"""The file tree of the Cognitive Context Management paper."""

from __future__ import annotations

import json

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from processors.manifest import ArtifactMade, SegmentConcluded, SegmentSummarized, TurnFiled
from processors.open_efforts import EffortConcluded, EffortOpened, EffortProgressed, TurnThreaded
from processors.working_context import ContextScored
from projections.export import LONGEST, export_ccm, file_names
from streams.core.errors import UsageError
from streams.core.events import TurnRetracted
from tests.memories import at, make, memory, turn


def said(id, segment, effort, session="chat", minutes=0, content="", **given):
    derived = {"session": session, "turn": id, "at": at(minutes)} | given
    return [
        turn(id, session, content or f"words of {id}", at=at(minutes), **given),
        make(TurnFiled, **derived, segment=segment),
        make(TurnThreaded, **derived, effort=effort),
    ]


def opened(id, effort, topic, session="chat"):
    return make(EffortOpened, session=session, effort=effort, turn=id, topic=topic, reason="unmatched")


STEPS = [
    [*said("t1", "g1", "e1"), opened("t1", "e1", "the pump")],
    [*said("t2", "g2", "e2", minutes=1), opened("t2", "e2", "the trip")],
    said("t3", "g1", "e1", minutes=2, content="line one\nline two — ünïcode"),
    [
        *said("t4", "g1", "e1", minutes=3),
        make(SegmentSummarized, session="chat", segment="g1", summary="pump: seal was worn", terms=["pump", "seal"]),
        make(EffortProgressed, session="chat", effort="e1", topic="pump seal", summary="seal was worn", terms=["pump"]),
        make(
            SegmentConcluded, session="chat", segment="g1", turn="t4", pattern="resolution", confidence=0.9,
            conclusion="a new seal fixed it", at=at(3),
        ),
        make(
            ArtifactMade, session="chat", artifact="x1", kind="fix", title="New seal: it works!", status="final",
            body="Use a new seal.\n", tags=["pump"], segment="g1", turns=["t3", "t4"], at=at(3),
        ),
        make(
            ArtifactMade, session="chat", artifact="x2", kind="fix", title="new seal, it works", body="Again.",
            segment="g1", turns=["t4"],
        ),
    ],
    [
        *said("t5", "g2", "e2", minutes=4),
        make(EffortConcluded, session="chat", effort="e2", turn="t5", pattern="closed", conclusion="booked", at=at(4)),
    ],
    [make(TurnRetracted, session="chat", turn="t3", reason="edited", id="r")],
    [
        *said("t6", "g3", "e1", minutes=5),
        make(
            ContextScored, session="chat", turn="t6", efforts=["e1", "e2"], scores=[0.9, 0.4],
            modes=["expanded", "concluded"], signals=["mentioned", "recent"], similarities=[0.5, 0.1],
            recencies=[0.5, 0.1], idle=[0, 1],
        ),
    ],
    said("u1", "g4", "e1", session="later", minutes=9),
]  # fmt: skip


def loaded(path):
    return yaml.safe_load(path.read_text())


def exported(tmp_path, steps=STEPS, space="acme"):
    target = tmp_path / "out"
    return target, export_ccm(memory(tmp_path / "m.duckdb", *steps), target, space)


def test_every_turn_is_a_line_of_raw_jsonl_and_retracted_ones_are_marked(tmp_path):
    target, done = exported(tmp_path)
    lines = [json.loads(line) for line in (target / "chats/chat/raw.jsonl").read_bytes().split(b"\n")[:-1]]
    assert [(line["line"], line["id"], line.get("retracted")) for line in lines] == [
        (1, "t1", None), (2, "t2", None), (3, "t3", "edited"), (4, "t4", None), (5, "t5", None), (6, "t6", None),
    ]  # fmt: skip
    assert lines[2]["content"] == "line one\nline two — ünïcode"
    assert lines[1]["at"] == "2026-01-05T09:01:00Z"
    assert (done.sessions, done.turns, done.artifacts, done.files) == (2, 7, 2, 12)
    assert sum(1 for path in target.rglob("*") if path.is_file()) == done.files


def test_the_manifest_tells_where_each_segment_lies_in_the_raw_lines(tmp_path):
    target, _ = exported(tmp_path)
    manifest = loaded(target / "chats/chat/manifest.yaml")
    assert (manifest["space"], manifest["session"]) == ("acme", "chat")
    found = [(s["id"], s["raw_lines"], s.get("raw_runs"), s["status"], s["efforts"]) for s in manifest["segments"]]
    assert found == [
        ("g1", [1, 4], [[1, 1], [3, 4]], "concluded", ["e1"]),
        ("g2", [2, 5], [[2, 2], [5, 5]], "open", ["e2"]),
        ("g3", [6, 6], None, "open", ["e1"]),
    ]
    first = manifest["segments"][0]
    assert (first["summary"], first["conclusion"], first["turns"]) == ("pump: seal was worn", "a new seal fixed it", 2)
    assert all((target / path).is_file() for path in first["artifacts"])
    assert len(first["artifacts"]) == 2


def test_efforts_refer_to_their_segments_in_this_chat(tmp_path):
    target, _ = exported(tmp_path)
    here, later = loaded(target / "chats/chat/open.yaml"), loaded(target / "chats/later/open.yaml")
    assert [(e["id"], e["topic"], e["segment_refs"], e["also_in"]) for e in here["efforts"]] == [
        ("e1", "pump seal", ["g1", "g3"], ["later"])
    ]
    assert [(e["id"], e["segment_refs"], e["conclusion"]) for e in here["concluded"]] == [("e2", ["g2"], "booked")]
    assert [(e["id"], e["segment_refs"]) for e in later["efforts"]] == [("e1", ["g4"])]


def test_an_expanded_entry_shows_its_raw_lines_without_retracted_ones(tmp_path):
    target, _ = exported(tmp_path)
    entries = loaded(target / "chats/chat/working.yaml")["entries"]
    assert [(e["effort"], e["mode"], e["score"], e["expanded_lines"], e["segment_refs"]) for e in entries] == [
        ("e1", "expanded", 0.9, [[1, 1], [4, 4], [6, 6]], ["g1", "g3"]),
        ("e2", "concluded", 0.4, [], ["g2"]),
    ]
    assert loaded(target / "chats/later/working.yaml")["entries"] == []


def test_an_artifact_has_front_matter_and_a_body(tmp_path):
    target, _ = exported(tmp_path)
    files = sorted((target / "artifacts/fix").iterdir())
    assert len(files) == 2
    assert all(file.name.startswith("new-seal-it-works-") for file in files)
    texts = {yaml.safe_load(file.read_text().split("---\n")[1])["id"]: file.read_text() for file in files}
    _, front, body = texts["x1"].split("---\n")
    assert yaml.safe_load(front) == {
        "id": "x1", "type": "fix", "title": "New seal: it works!", "status": "final", "tags": ["pump"], "space": "acme",
        "session": "chat", "chat": "chats/chat", "segment": "g1", "turns": ["t3", "t4"], "raw_lines": [3, 4],
        "created_at": "2026-01-05T09:03:00Z",
    }  # fmt: skip
    assert body == "\nUse a new seal.\n"


def test_two_exports_of_one_memory_are_the_same_bytes(tmp_path):
    con = memory(tmp_path / "m.duckdb", *STEPS)
    for name in ("one", "two"):
        export_ccm(con, tmp_path / name)
    one, two = (
        {
            path.relative_to(tmp_path / name): path.read_bytes()
            for path in (tmp_path / name).rglob("*")
            if path.is_file()
        }
        for name in ("one", "two")
    )
    assert one == two
    assert one


def test_without_a_space_each_has_a_folder(tmp_path):
    steps = [said("t1", "g1", "e1"), said("t1", "g1", "e1", space="zeta")]
    target, done = exported(tmp_path, steps, None)
    assert sorted(path.parent.relative_to(target).as_posix() for path in target.rglob("raw.jsonl")) == [
        "acme/chats/chat", "zeta/chats/chat",
    ]  # fmt: skip
    assert done.sessions == 2


def test_an_export_never_overwrites_and_knows_its_spaces(tmp_path):
    con = memory(tmp_path / "m.duckdb", *STEPS)
    with pytest.raises(UsageError, match="no space 'nobody'"):
        export_ccm(con, tmp_path / "out", "nobody")
    (tmp_path / "used").mkdir()
    (tmp_path / "used" / "mine.txt").write_text("keep")
    with pytest.raises(UsageError, match="not an empty folder"):
        export_ccm(con, tmp_path / "used")
    assert (tmp_path / "used" / "mine.txt").read_text() == "keep"


HOSTILE = [
    "../../etc/passwd", "/abs", "..", ".", ".hidden", "a/b", "a\\b", "C:\\x", "CON", "nul.txt", "x" * 300, "é" * 200,
    "日本語の会話", "A", "a", "ｆｕｌｌ", "full", "", "-rf", "e\u0301", "\u00e9", "ends.", "a b", "a-b", "~", "🙂",
]  # fmt: skip


def test_names_from_hostile_sessions_stay_inside_and_apart(tmp_path):
    sessions = [name for name in HOSTILE if name]
    steps = [said(f"t{i}", f"g{i}", "e", session=session) for i, session in enumerate(sessions)]
    target, done = exported(tmp_path, steps)
    assert done.sessions == len(sessions)
    found = {loaded(path)["session"] for path in (target / "chats").glob("*/manifest.yaml")}
    assert found == set(sessions)
    assert {path.name for path in tmp_path.iterdir()} == {"m.duckdb", "out"} | {
        path.name for path in tmp_path.glob("m.duckdb.*")
    }


def test_a_plain_name_is_kept():
    assert file_names([("k", "support-2026.01_a"), ("l", "日本語")]) == {"k": "support-2026.01_a", "l": "日本語"}


@given(st.lists(st.one_of(st.text(max_size=120), st.sampled_from(HOSTILE)), unique=True, max_size=12))
def test_file_names_are_safe_and_different_for_any_text(texts):
    names = file_names((text, text) for text in texts)
    assert len({name.casefold() for name in names.values()}) == len(texts)
    for name in names.values():
        assert name
        assert name[0] not in "-. ~"
        assert name[-1] not in ". "
        assert len(name.encode()) <= LONGEST + 100
        assert not set(name) & set('/\\:*?"<>|\0\n')
