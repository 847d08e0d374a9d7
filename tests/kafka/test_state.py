"""The copy of a partition's state is what the topic of state says, however its records are taken over."""

from __future__ import annotations

import shutil
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from streams.runtime.kafka.state import IDS, MARK, Change, Kept, Known, packed, state_key, unpacked

changes = st.lists(
    st.tuples(st.sampled_from(["talk/a", "talk/b", "note/n"]), st.one_of(st.none(), st.binary(min_size=1, max_size=2))),
    max_size=12,
)


@given(changes, st.lists(st.integers(0, 12), max_size=4))
def test_the_last_word_on_a_key_counts_wherever_a_page_of_the_topic_ends(said, ends):
    topic: list[Change] = [(state_key("s", "notes", key), value) for key, value in said]
    kept = Kept(None)
    for start, end in zip([0, *sorted(ends)], [*sorted(ends), len(topic)], strict=True):
        kept.take([*topic[start:end], (MARK, b"%d" % end)], max(start, end))
    expected: dict[str, bytes] = {}
    for key, value in said:
        expected.pop(key, None)
        if value is not None:
            expected[key] = value
    assert kept.space("s").get("notes", {}) == expected
    kept.close()


def test_what_was_taken_is_there_when_the_file_is_opened_again(tmp_path: Path):
    for n in range(2):
        kept = Kept(tmp_path / "state")
        assert (kept.mark, kept.next) == (n * 7, n * 9)
        kept.take([(state_key("s", "notes", f"note/{n}"), b"{}"), (MARK, b"7")], 9)
        kept.close()
    kept = Kept(tmp_path / "state")
    assert kept.space("s") == {"notes": {"note/0": b"{}", "note/1": b"{}"}}
    kept.clear()
    assert (kept.space("s"), kept.mark) == ({}, 0)
    kept.close()


def test_of_a_copy_that_was_not_closed_the_place_is_lost_with_what_was_taken(tmp_path: Path):
    taken = Kept(tmp_path / "state")
    taken.take([(state_key("s", "notes", "note/0"), b"{}"), (MARK, b"7")], 9)
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
