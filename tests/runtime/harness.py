"""What a law needs of a runtime: to append, to run and to kill it, and to read its log by an independent path."""

import asyncio
import contextlib
import shutil
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, Protocol

from services.baccarat.errors import NotReady
from services.baccarat.events import BETS, EVENTS_OF, TABLE_FEED, Event
from services.rules import RULES
from services.runtime.embedded import BATCH, Draft, EmbeddedLog, no_fault
from services.runtime.processor import Processor
from services.runtime.reading import partition_of
from services.settlement import SETTLEMENT
from tests.runtime.plays import BEGIN_MS, Step
from tests.runtime.reference import CODEC, Raw

PARTITIONS = 3
WITHIN_S = 60.0  # a bound for what takes a moment: whoever waits so long has failed
BOTH: tuple[Processor[Any], Processor[Any]] = (RULES, SETTLEMENT)


class Crash(BaseException):
    """The process ends here; no `except Exception` holds it up."""


class Crashes:
    """Crashes at the `nth` time that `point` is passed, and never again."""

    def __init__(self, point: str, nth: int) -> None:
        self.point = point
        self.left = nth

    def __call__(self, point: str) -> None:
        if point == self.point:
            self.left -= 1
            if self.left == 0:
                raise Crash(point)


class Harness(Protocol):
    """One log and the processors over it, rules and settlement; a test may put others in their place."""

    partitions: int
    processors: tuple[Processor[Any], Processor[Any]]

    async def start(self, *, fault: Callable[[str], None] = no_fault, batch: int = BATCH) -> None:
        """Runs rules and settlement, with a snapshot as often as there can be one."""

    async def append(self, records: Sequence[Raw]) -> None:
        """In order; raises what the runtime died of. A log that is not running takes any `at_ms` where it can."""

    async def until_told(self, ids: Iterable[str], /) -> None:
        """Until these facts are in `rounds`; raises what the runtime died of."""

    async def until_caught_up(self) -> None:
        """Until every record of every input is taken; raises what the runtime died of."""

    async def stop(self) -> None:
        """In order, as on SIGTERM."""

    async def kill(self) -> None:
        """As SIGKILL: whatever was not committed is gone."""

    def records(self, topic: str) -> list[Raw]:
        """Committed records by another client; of a log that is not running."""

    async def delete_snapshots(self) -> None: ...

    async def delete_positions(self) -> None: ...


class EmbeddedHarness:
    """The clock stands until a record to be appended sets it."""

    def __init__(self, folder: Path) -> None:
        self.partitions = PARTITIONS
        self.processors = BOTH
        self.now_ms = BEGIN_MS
        self.deaths = 0
        self._folder = folder
        self._log: EmbeddedLog | None = None
        self._run: asyncio.Task[None] | None = None
        self._stop = asyncio.Event()
        EmbeddedLog(self.path, PARTITIONS).close()

    @property
    def path(self) -> Path:
        return self._folder / f"{self.deaths}" / "log.db"

    async def start(self, *, fault: Callable[[str], None] = no_fault, batch: int = BATCH) -> None:
        self._stop = asyncio.Event()
        self._log = EmbeddedLog(
            self.path, PARTITIONS, clock=lambda: self.now_ms, fault=fault, snapshot_ms=0, batch=batch
        )
        self._run = asyncio.create_task(self._log.run(self.processors, self._stop))

    async def append(self, records: Sequence[Raw]) -> None:
        if self._log is None:
            self._write(records)
            return
        for at_ms, together in groupby(records, key=lambda raw: raw.at_ms):
            self.now_ms = self.now_ms if at_ms is None else at_ms
            try:
                await self._log.append_drafts([draft(raw) for raw in together])
            except NotReady as error:
                raise error.__cause__ if isinstance(error.__cause__, Crash) else error from None

    async def until_told(self, _ids: Iterable[str], /) -> None:
        await self.until_caught_up()

    async def until_caught_up(self) -> None:
        assert self._log is not None
        assert self._run is not None
        async with asyncio.timeout(WITHIN_S):
            caught_up = asyncio.create_task(self._log.caught_up(self.processors))
            try:
                await asyncio.wait({caught_up, self._run}, return_when=asyncio.FIRST_COMPLETED)
                if self._run.done():
                    self._run.result()
            finally:
                caught_up.cancel()

    async def stop(self) -> None:
        assert self._log is not None
        assert self._run is not None
        self._stop.set()
        try:
            await self._run
        finally:
            self._log.close()
            self._log = self._run = None

    async def kill(self) -> None:
        """What lies on the disk at this moment goes on elsewhere: closing the log must not tidy anything up."""
        assert self._log is not None
        assert self._run is not None
        was = self.path.parent
        self.deaths += 1
        shutil.copytree(was, self.path.parent)
        self._run.cancel()
        with contextlib.suppress(asyncio.CancelledError, Crash):
            await self._run
        self._log.close()
        self._log = self._run = None

    def records(self, topic: str) -> list[Raw]:
        with contextlib.closing(sqlite3.connect(self.path)) as sql:
            rows = sql.execute(
                'SELECT partition, "offset", at_ms, "key", value FROM records WHERE topic = ? ORDER BY 1, 2', (topic,)
            )
            return [
                Raw(topic, partition, offset, at_ms, key, value, at_ms is not None)
                for partition, offset, at_ms, key, value in rows
            ]

    async def delete_snapshots(self) -> None:
        self._execute("DELETE FROM snapshots", "DELETE FROM manifests")

    async def delete_positions(self) -> None:
        self._execute("DELETE FROM positions")

    def _execute(self, *statements: str) -> None:
        assert self._log is None
        with contextlib.closing(sqlite3.connect(self.path)) as sql, sql:
            for statement in statements:
                sql.execute(statement)

    def _write(self, records: Sequence[Raw]) -> None:
        """With any append time, or none."""
        with contextlib.closing(sqlite3.connect(self.path)) as sql, sql:
            for raw in records:
                self.now_ms = self.now_ms if raw.at_ms is None else raw.at_ms
                place, at_ms = (raw.topic, raw.partition), self.now_ms if raw.stamped else None
                sql.execute(
                    "INSERT INTO records SELECT ?, ?, count(*), ?, ?, ?, ? FROM records"
                    " WHERE topic = ? AND partition = ?",
                    (*place, at_ms, raw.key, raw.value, b"\x90", *place),
                )


# ---------------------------------------------------------------- what laws are made of


def draft(raw: Raw) -> Draft:
    assert raw.stamped, "a running log stamps every record"
    return Draft(raw.topic, raw.partition, raw.key, raw.value)


def raws(step: Step, partitions: int = PARTITIONS) -> list[Raw]:
    """A step's events as records where their tables live."""
    return [as_raw(topic, event, partitions, at_ms) for topic, event, at_ms in step.sent]


def as_raw(topic: str, event: Event, partitions: int = PARTITIONS, at_ms: int | None = None) -> Raw:
    partition = partition_of(event.table_id, partitions)
    return Raw(topic, partition, -1, at_ms, event.table_id.encode(), CODEC.encode(topic, event))


async def perform(harness: Harness, steps: Iterable[Step]) -> None:
    """Plays on a runtime that lives; one that dies on the way is started again, and the step is sent again."""
    for step in steps:
        while True:
            try:
                await harness.append(raws(step, harness.partitions))
                await harness.until_told(step.tells)
            except Crash:
                await harness.kill()
                await harness.start()
            else:
                break


def everything(harness: Harness) -> dict[str, list[Raw]]:
    return {topic: harness.records(topic) for topic in EVENTS_OF}


def inputs(log: dict[str, list[Raw]]) -> list[Raw]:
    return [*log[TABLE_FEED], *log[BETS]]
