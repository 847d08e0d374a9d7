"""The copy of a partition's state is what the topic of state says, however its records are taken over."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from streams.runtime.kafka.state import MARK, Change, Kept, state_key

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
