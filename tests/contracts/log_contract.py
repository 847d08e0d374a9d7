"""What every log must do. A log's test module subclasses `LogContract` and says how to open one."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from streams.core.driver import Record
from streams.core.events import (
    AT_APPEND,
    MAX_AHEAD,
    MAX_EVENT_BYTES,
    SECOND,
    ClockTicked,
    NoteTaken,
    TurnRecorded,
    decode,
    encode,
)
from streams.logs.log import Duplicate, Log, Refused, Stored

NOW = 1_770_000_000 * SECOND


def turn(id_: str, content: str = "hello", space: str = "s", at: int = NOW) -> TurnRecorded:
    """A turn that differs in little from the others."""
    return TurnRecorded(space, id_, at, "session", "ann", "user", content)


class LogContract:
    """Subclasses give `open_log`: a function that opens the same log again at each call, its clock at NOW."""

    @pytest.fixture
    def open_log(self) -> Callable[[], Log]:
        raise NotImplementedError

    @pytest.fixture
    def log(self, open_log: Callable[[], Log]) -> Log:
        return open_log()

    def records(self, log: Log) -> list[Record]:
        return [record for p in range(log.partitions) for record in log.read(p, 0)]

    def test_what_was_appended_is_read_back_in_order(self, log: Log) -> None:
        events = [turn("a"), NoteTaken("s", "b", NOW, "n", "water the ficus"), ClockTicked("s", "c", NOW)]
        outcomes = log.append(events)
        assert all(isinstance(outcome, Stored) for outcome in outcomes)
        found = self.records(log)
        assert [decode(record.type, record.value) for record in found] == events
        assert [record.space for record in found] == ["s", "s", "s"]
        assert [record.recorded_at for record in found] == [NOW, NOW, NOW]

    def test_offsets_are_dense_and_the_outcome_names_them(self, log: Log) -> None:
        outcomes = log.append([turn(str(n)) for n in range(2500)])
        partition = outcomes[0].partition
        assert [outcome.offset for outcome in outcomes] == list(range(2500))
        assert log.end(partition) == 2500
        assert [record.offset for record in log.read(partition, 0)] == list(range(2500))

    def test_reading_may_begin_and_stop_anywhere(self, log: Log) -> None:
        partition = log.append([turn(str(n)) for n in range(10)])[0].partition
        assert [record.offset for record in log.read(partition, 4, 7)] == [4, 5, 6]
        assert [record.offset for record in log.read(partition, 9)] == [9]
        assert list(log.read(partition, 10)) == []

    def test_the_same_event_again_is_counted_and_dropped(self, log: Log) -> None:
        first = log.append([turn("a"), turn("b")])
        again = log.append([turn("b"), turn("c"), turn("c")])
        assert again[0] == Duplicate(first[1].partition, first[1].offset)
        assert isinstance(again[1], Stored)
        assert again[2] == Duplicate(again[1].partition, again[1].offset)
        assert len(self.records(log)) == 3

    def test_the_same_id_with_other_content_is_refused_and_the_first_is_named(self, log: Log) -> None:
        log.append([turn("x"), turn("a")])
        outcome = log.append([turn("a", "something else"), turn("b")])
        assert isinstance(outcome[0], Refused)
        assert "'a'" in outcome[0].reason
        assert "offset 1" in outcome[0].reason
        assert isinstance(outcome[1], Stored)
        assert len(self.records(log)) == 3

    def test_the_same_id_in_another_space_is_another_event(self, log: Log) -> None:
        outcomes = log.append([turn("a"), turn("a", "other", space="t")])
        assert all(isinstance(outcome, Stored) for outcome in outcomes)

    def test_an_event_without_a_time_gets_that_of_its_recording(self, log: Log) -> None:
        log.append([turn("a", at=AT_APPEND)])
        record = self.records(log)[0]
        assert decode(record.type, record.value).at == NOW
        assert isinstance(log.append([turn("a", at=AT_APPEND)])[0], Duplicate)

    def test_an_event_from_the_future_is_refused(self, log: Log) -> None:
        near, far = log.append([turn("near", at=NOW + MAX_AHEAD), turn("far", at=NOW + MAX_AHEAD + 1)])
        assert isinstance(near, Stored)
        assert isinstance(far, Refused)
        assert "clock" in far.reason

    def test_times_may_go_backwards(self, log: Log) -> None:
        outcomes = log.append([turn("a", at=NOW), turn("b", at=5), turn("c", at=0)])
        assert all(isinstance(outcome, Stored) for outcome in outcomes)
        assert [decode(r.type, r.value).at for r in self.records(log)] == [NOW, 5, 0]

    @pytest.mark.parametrize("content", ["", "\x00", "日本語 🤖 \u202e", "a" * 2_000_000, '{"not": "parsed"}'])
    def test_any_content_comes_back_byte_for_byte(self, log: Log, content: str) -> None:
        event = turn("a", content)
        log.append([event])
        assert self.records(log)[0].value == encode(event)

    def test_an_event_is_at_most_eight_mebibytes(self, log: Log) -> None:
        room = MAX_EVENT_BYTES - len(encode(turn("fits", "")))
        fits, over = log.append([turn("fits", "x" * room), turn("over", "x" * (room + 1))])
        assert isinstance(fits, Stored)
        assert isinstance(over, Refused)
        assert len(self.records(log)) == 1

    def test_a_log_keeps_its_id_and_its_events_when_opened_again(self, open_log: Callable[[], Log]) -> None:
        first = open_log()
        first.append([turn("a")])
        id_ = first.id
        first.close()
        again = open_log()
        assert again.id == id_
        assert len(self.records(again)) == 1

    def test_a_follower_sees_what_others_append(self, open_log: Callable[[], Log]) -> None:
        writer, follower = open_log(), open_log()
        partition = writer.append([turn("a")])[0].partition
        assert follower.end(partition) == 1
        writer.append([turn("b")])
        assert [decode(r.type, r.value).id for r in follower.read(partition, 1)] == ["b"]

    def test_many_writers_at_once_lose_and_double_nothing(self, open_log: Callable[[], Log]) -> None:
        def write(writer: int) -> list[int]:
            log = open_log()
            found = [log.append([turn(f"{writer}-{n}"), turn(f"shared-{n}")]) for n in range(50)]
            log.close()
            return [sum(isinstance(o, Stored) for o in outcomes) for outcomes in found]

        with ThreadPoolExecutor(4) as pool:
            counts = [sum(found) for found in pool.map(write, range(4))]
        log = open_log()
        ids = [decode(r.type, r.value).id for r in self.records(log)]
        assert len(ids) == len(set(ids)) == 4 * 50 + 50 == sum(counts)
