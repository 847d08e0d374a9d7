"""The copy of a partition's state is what the topic of state says, however its records are taken over."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from streams.runtime.kafka.state import IDS, MARK, Change, Kept, Known, packed, state_key, unpacked

KEYS = ["talk/a", "note/a", "note/b/b", "due/00000000000000000007/a", "count", "/a", "of two words/a", "note/due/a"]
changes = st.lists(
    st.tuples(st.sampled_from(["notes", "talk"]), st.sampled_from(KEYS), st.sampled_from([None, b"{}", b'{"n":1}'])),
    max_size=12,
)


def _after(said: Iterable[tuple[str, str, bytes | None]]) -> dict[str, dict[str, bytes]]:
    """What is kept after puts and deletions, by processor and key."""
    kept: dict[tuple[str, str], bytes] = {}
    for stream, key, value in said:
        kept.pop((stream, key), None)
        if value is not None:
            kept[stream, key] = value
    found: dict[str, dict[str, bytes]] = {}
    for (stream, key), value in kept.items():
        found.setdefault(stream, {})[key] = value
    return found


@given(st.lists(changes, max_size=6))
def test_records_that_are_kept_together_change_each_for_itself_and_a_reader_of_the_topic_alone_finds_all(runs):
    writer, topic = Kept(None), dict[bytes, bytes | None]()
    for n, said in enumerate(runs):
        news = {stream: [(key, value) for its, key, value in said if its == stream] for stream in ("notes", "talk")}
        news = {stream: [*dict(changed).items()] for stream, changed in news.items()}
        changed = [*writer.changes("s", news)]
        assert len(dict(changed)) == len(changed)  # a name has one record, of all that is kept under it
        writer.take(changed, n + 1)
        topic |= changed
    expected = _after(one for said in runs for one in said)
    reader = Kept(None)
    reader.take(topic.items(), len(runs))  # compacted: the last record of each key
    assert reader.space("s") == writer.space("s") == expected
    due = sorted(key for records in expected.values() for key in records if key.startswith("due/"))
    assert reader.deadlines() == ({"s": due[0]} if due else {})
    assert [value for value in topic.values() if value is not None] or not expected
    for kept in (reader, writer):
        kept.close()


def test_what_is_kept_of_a_turn_takes_one_record_and_its_deletion_takes_that_away():
    kept = Kept(None)
    changed = [*kept.changes("s", {"notes": [("note/t1", b"{}"), ("said/t1", b"[]")], "talk": [("said/t1", b"1")]})]
    assert changed == [(state_key("s", "/t1"), b"notes/note {}\nnotes/said []\ntalk/said 1")]
    kept.take(changed, 1)
    gone = [*kept.changes("s", {"notes": [("note/t1", None)], "talk": [("said/t1", None), ("said/t2", None)]})]
    assert gone == [(state_key("s", "/t1"), b"notes/said []")]
    kept.take(gone, 2)
    assert [*kept.changes("s", {"notes": [("said/t1", None)]})] == [(state_key("s", "/t1"), None)]
    kept.close()


NAMES = st.lists(
    st.tuples(st.sampled_from(["/a", "/b", "count"]), st.sampled_from([None, b"notes/note {}"])), max_size=12
)


@given(NAMES, st.lists(st.integers(0, 12), max_size=4))
def test_the_last_word_on_a_key_counts_wherever_a_page_of_the_topic_ends(said, ends):
    topic: list[Change] = [(state_key("s", name), value) for name, value in said]
    kept = Kept(None)
    for start, end in zip([0, *sorted(ends)], [*sorted(ends), len(topic)], strict=True):
        kept.take([*topic[start:end], (MARK, b"%d" % end)], max(start, end))
    expected = _after(("notes", f"note{name}", value and b"{}") for name, value in said)
    assert kept.space("s") == expected
    kept.close()


def test_what_was_taken_is_there_when_the_file_is_opened_again(tmp_path: Path):
    for n in range(2):
        kept = Kept(tmp_path / "state")
        assert (kept.mark, kept.next) == (n * 7, n * 9)
        kept.take([(state_key("s", f"/{n}"), b"notes/note {}"), (MARK, b"7")], 9)
        kept.close()
    kept = Kept(tmp_path / "state")
    assert kept.space("s") == {"notes": {"note/0": b"{}", "note/1": b"{}"}}
    kept.clear()
    assert (kept.space("s"), kept.mark) == ({}, 0)
    kept.close()


def test_of_a_copy_that_was_not_closed_the_place_is_lost_with_what_was_taken(tmp_path: Path):
    taken = Kept(tmp_path / "state")
    taken.take([(state_key("s", "/0"), b"notes/note {}"), (MARK, b"7")], 9)
    assert (taken.mark, taken.next, taken.space("s")) == (7, 9, {"notes": {"note/0": b"{}"}})
    shutil.copytree(tmp_path, tmp_path / "killed")
    taken.close()
    killed = Kept(tmp_path / "killed/state")
    assert (killed.mark, killed.next, killed.space("s")) == (0, 0, {})
    killed.close()


DAY = 24 * 3_600_000
idss = st.lists(
    st.builds(
        Known,
        st.binary(min_size=16, max_size=16),
        st.binary(min_size=8, max_size=8),
        st.integers(0, 1 << 40),
        st.integers(-1, 20_000 * DAY),
    ),
    max_size=8,
    unique_by=lambda known: known.offset,
)


@given(idss)
def test_the_ids_of_a_run_are_remembered_however_far_apart_and_in_whatever_order_they_are(ids):
    changes = [*packed(ids)]
    assert len({key for key, _ in changes}) == len(changes)
    found = [known for key, value in changes for known in unpacked(int(key.removeprefix(IDS)), value or b"")]
    assert found == sorted(ids, key=lambda known: known.offset)


def test_ids_within_49_days_share_a_record():
    ids = [Known(bytes(16), bytes(8), n, n * DAY) for n in range(49)]
    assert [key for key, _ in packed(ids)] == [IDS + b"%020d" % 0]
    ids += [Known(bytes(16), bytes(8), n, n * DAY) for n in range(49, 60)]
    assert [key for key, _ in packed(ids)] == [IDS + b"%020d" % n for n in (0, 50)]
