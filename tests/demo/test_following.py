"""Following a log: what has been first, then what happens, and on again when the log was away."""

import asyncio
from pathlib import Path

import pytest

from services.baccarat.errors import NotReady
from services.baccarat.events import ROUNDS, SETTLEMENTS, Event, ShoeOpened
from services.demo.following import Follower, again_and_again, following
from services.runtime.embedded import EmbeddedLog
from services.runtime.processor import Record


def shoe(table_id: str, shoe_no: int) -> ShoeOpened:
    event_id = f"{table_id}/{shoe_no}/opened"
    return ShoeOpened(event_id=event_id, table_id=table_id, at_ms=0, cause_id="x/1/1", shoe_no=shoe_no, decks=8)


async def test_what_has_been_comes_first_and_only_of_these_tables(tmp_path: Path) -> None:
    with EmbeddedLog(tmp_path / "log.sqlite", partitions=1) as log:
        await log.append(ROUNDS, [shoe("T1", 1), shoe("T2", 1), shoe("T1", 2)])
        async with following(log, [ROUNDS, SETTLEMENTS], ["T1"]) as follower:
            was_live = follower.is_live
            assert await follower.next() == [shoe("T1", 1), shoe("T1", 2)]
            assert (was_live, follower.is_live) == (False, True)
            assert await follower.next() == []
            await log.append(ROUNDS, [shoe("T1", 3)])
            assert await follower.next() == [shoe("T1", 3)]


async def test_from_the_end_nothing_has_been(tmp_path: Path) -> None:
    with EmbeddedLog(tmp_path / "log.sqlite", partitions=1) as log:
        await log.append(ROUNDS, [shoe("T1", 1)])
        async with following(log, [ROUNDS], ["T1"], from_end=True) as follower:
            assert follower.is_live
            await log.append(ROUNDS, [shoe("T1", 2)])
            assert await follower.next() == [shoe("T1", 2)]


class Slow:
    """A Kafka reader, which never gives the mark of a transaction at the end of its partition."""

    def __init__(self) -> None:
        self.batches: list[list[Event]] = [[shoe("T1", 1)]]

    async def next(self, wait_ms: int) -> list[Record]:
        assert wait_ms > 0
        events = self.batches.pop() if self.batches else []
        return [Record(ROUNDS, 0, 0, 0, event.table_id, event) for event in events]


async def test_marks_that_nobody_reads_are_not_waited_for() -> None:
    follower = Follower(Slow(), ["T1"], {(ROUNDS, 0): 2})
    assert await follower.next() == [shoe("T1", 1)]
    for _ in range(20):
        assert not follower.is_live
        assert await follower.next() == []
    assert follower.is_live


async def test_work_is_taken_up_again_when_the_log_is_back(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("services.demo.following.RETRY_S", 0.001)
    stop, tries = asyncio.Event(), 0

    async def work() -> None:
        nonlocal tries
        tries += 1
        if tries < 3:
            raise NotReady("no broker")
        stop.set()

    await again_and_again(work, stop, "customers")
    assert tries == 3
    assert caplog.messages == ["customers: the log is away, trying again: no broker"], "said once"
