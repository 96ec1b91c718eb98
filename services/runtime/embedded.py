"""The durable log in one SQLite file, and the processors run over it in one process: no Kafka, the same facts.

Topics, partitions and offsets are those of Kafka; one SQLite transaction plays the part of the Kafka transaction. Only
one process at a time may hold the file. What is appended in one turn of the event loop is written together, and so are
the facts of all partitions: the disk is asked once a turn. SQLite is called on the loop's own thread: a turn is short,
and a second thread would only wait for the first.
"""

import asyncio
import fcntl
import logging
import os
import sqlite3
import sys
import time
import uuid
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import msgspec
from msgspec import Struct

from services.baccarat.errors import NotReady, Unfit, Unusable
from services.baccarat.events import DEAD_LETTERS, EVENTS_OF, Event
from services.runtime.codec import Codec, decode_state, encode_state
from services.runtime.log import Place, Reader
from services.runtime.processor import FACTS_A_BATCH, Advance, Processor, Record, advance
from services.runtime.reading import partition_of, read_record
from services.runtime.restoring import Cause, Manifest, cause_of, fold, headers, is_foreign, positions_after

LOGGER: Final = logging.getLogger(__name__)
FORMAT: Final = "1"
BATCH: Final = 200  # records of one input of one partition in one turn: a turn must not hold up the loop for long

# Where a test may end the process; all but the last two lie around or inside a SQLite transaction.
FAULT_POINTS: Final = (
    "before-begin",
    "after-appends",
    "after-facts",
    "after-positions",
    "before-commit",
    "after-commit",
    "inside-snapshot",
    "before-snapshot",
    "after-snapshot",
)

_TABLES: Final = """
CREATE TABLE IF NOT EXISTS about (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS records (
    topic TEXT NOT NULL, partition INTEGER NOT NULL, "offset" INTEGER NOT NULL,
    at_ms INTEGER,  -- append time; null for a record that came without one
    "key" BLOB, value BLOB, headers BLOB NOT NULL,
    PRIMARY KEY (topic, partition, "offset")
) WITHOUT ROWID;
-- The rest are caches: whoever deletes them gets the same facts.
CREATE TABLE IF NOT EXISTS positions (
    processor TEXT NOT NULL, topic TEXT NOT NULL, partition INTEGER NOT NULL, "offset" INTEGER NOT NULL,
    PRIMARY KEY (processor, topic, partition)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS manifests (
    processor TEXT NOT NULL, partition INTEGER NOT NULL, manifest BLOB NOT NULL, PRIMARY KEY (processor, partition)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS snapshots (
    processor TEXT NOT NULL, partition INTEGER NOT NULL, table_id TEXT NOT NULL, state BLOB NOT NULL,
    PRIMARY KEY (processor, partition, table_id)
) WITHOUT ROWID;
"""
_INSERT: Final = "INSERT INTO records VALUES (?, ?, ?, ?, ?, ?, ?)"
_READ: Final = (
    'SELECT "offset", at_ms, "key", value, headers FROM records'
    ' WHERE topic = ? AND partition = ? AND "offset" >= ? ORDER BY "offset" LIMIT ?'
)
_LAST: Final = 'SELECT "offset", at_ms FROM records WHERE topic = ? AND partition = ? ORDER BY "offset" DESC LIMIT 1'
_MANIFEST: Final = "SELECT manifest FROM manifests WHERE processor = ? AND partition = ?"
_SNAPSHOTS: Final = "SELECT table_id, state FROM snapshots WHERE processor = ? AND partition = ?"
_FORGET_SNAPSHOTS: Final = "DELETE FROM snapshots WHERE processor = ? AND partition = ?"


class Draft(Struct, frozen=True):
    """A record that has no offset and no append time yet."""

    topic: str
    partition: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes], ...] = ()


class _Appending(Struct, frozen=True):
    """What one caller of `append` waits for."""

    drafts: Sequence[Draft]
    done: asyncio.Future[None]


class _Task(Struct):
    """One processor's work on one partition number; `positions` are committed, `queues` hold what was read after."""

    processor: Processor[Any]
    partition: int
    states: dict[str, Any]
    positions: dict[str, int]
    queues: dict[str, deque[Record]]
    unsaved: set[str]
    more: bool = True


def wall_clock_ms() -> int:
    """The time by this machine's clock, which may step back."""
    return time.time_ns() // 1_000_000


def no_fault(_point: str) -> None:
    """Nothing fails here."""


class EmbeddedLog:
    """The log, and what runs over it. Raises NotReady where the file is another's, or cannot be used."""

    def __init__(
        self,
        path: Path,
        partitions: int = 12,
        *,
        clock: Callable[[], int] = wall_clock_ms,
        codec: Codec | None = None,
        fault: Callable[[str], None] = no_fault,
        snapshot_ms: int = 30_000,
        batch: int = BATCH,
    ) -> None:
        self.path = path
        self.partitions = partitions
        self._clock = clock
        self._codec = Codec() if codec is None else codec
        self._fault = fault
        self._snapshot_ms = snapshot_ms
        self._batch = batch
        self._ends: dict[Place, int] = {}
        self._last_ms = 0
        self._taken: dict[tuple[str, str, int], int] = {}
        self._appending: list[_Appending] = []
        self._changed = asyncio.Event()
        self._groups: dict[str, list[_SharedReader]] = {}
        self._running: set[str] = set()
        self._closed = False
        with ExitStack() as undone:
            self._lock = _lock_file(path)
            undone.callback(os.close, self._lock)
            try:
                self._sql = sqlite3.connect(path, timeout=0, isolation_level=None)
                undone.callback(self._sql.close)
                self.log_id = self._open()
            except sqlite3.Error as error:
                raise NotReady(f"{path} cannot be used as a log: {error}") from error
            undone.pop_all()

    def _open(self) -> str:
        """The log's id; a new file gets one."""
        for pragma in ("locking_mode = EXCLUSIVE", "journal_mode = WAL", "synchronous = FULL"):
            self._sql.execute(f"PRAGMA {pragma}")
        self._sql.executescript(f"BEGIN IMMEDIATE; {_TABLES}")
        new = {"format": FORMAT, "partitions": str(self.partitions), "log_id": str(uuid.uuid4())}
        self._sql.executemany("INSERT OR IGNORE INTO about VALUES (?, ?)", new.items())
        self._sql.execute("COMMIT")
        about: dict[str, str] = dict(self._sql.execute("SELECT name, value FROM about"))
        for name, wanted in (("format", FORMAT), ("partitions", str(self.partitions))):
            if about[name] != wanted:
                raise NotReady(f"{self.path} has {name} {about[name]}, not {wanted}")
        for topic in EVENTS_OF:
            for partition in range(self.partitions):
                offset, at_ms = self._sql.execute(_LAST, (topic, partition)).fetchone() or (-1, 0)
                self._ends[topic, partition] = offset + 1
                self._last_ms = max(self._last_ms, at_ms or 0)
        for name, topic, partition, offset in self._sql.execute("SELECT * FROM positions"):
            self._taken[name, topic, partition] = offset
        return about["log_id"]

    def close(self) -> None:
        """What was not committed is gone; nobody may be running the log any more."""
        self._closed = True
        self._sql.close()
        os.close(self._lock)
        self._wake()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # ------------------------------------------------------------ what other services need (log.Log)

    async def append(self, topic: str, events: Sequence[Event]) -> None:
        """Durable when it returns, in order per table. Raises Unfit before anything is written, and NotReady."""
        await self.append_drafts(
            [
                Draft(
                    topic,
                    partition_of(event.table_id, self.partitions),
                    event.table_id.encode(),
                    self._codec.encode(topic, event),
                )
                for event in events
            ]
        )

    async def append_drafts(self, drafts: Sequence[Draft]) -> None:
        """As `append`, for what is encoded already: a recording, or another log's records. Raises Unfit, NotReady."""
        for draft in drafts:
            if (draft.topic, draft.partition) not in self._ends:
                raise Unfit("wrong-topic", f"{self.path} has no partition {draft.partition} of {draft.topic}")
        loop = asyncio.get_running_loop()
        appending = _Appending(drafts, loop.create_future())
        if not self._appending:
            loop.call_soon(self._flush)
        self._appending.append(appending)
        await appending.done

    async def end(self, topic: str, partition: int) -> int:
        """The offset that the next record will have."""
        return self._ends[topic, partition]

    @asynccontextmanager
    async def reader(self, positions: Mapping[Place, int]) -> AsyncIterator[Reader]:
        """Reads these partitions from these offsets on."""
        yield _Reader(self, dict(positions))

    @asynccontextmanager
    async def shared_reader(
        self, group: str, topics: Sequence[str], begin: Callable[[str, int], Awaitable[int]]
    ) -> AsyncIterator[Reader]:
        """Shares the partitions among the readers of `group` in this process: no other process has the file."""
        members = self._groups.setdefault(group, [])
        member = _SharedReader(self, members, topics, begin)
        members.append(member)
        self._wake()
        try:
            yield member
        finally:
            members.remove(member)
            self._wake()

    # ------------------------------------------------------------ the processors

    async def run(self, processors: Sequence[Processor[Any]], stop: asyncio.Event) -> None:
        """Runs them over all partitions until `stop` is set, and then saves snapshots.

        Raises NotReady when the file cannot be written or its facts cannot be read: nothing is lost, run it again.
        """
        names = {processor.name for processor in processors}
        if names & self._running:
            raise NotReady(f"{', '.join(sorted(names & self._running))} is running already over {self.path}")
        self._running |= names
        loop = asyncio.get_running_loop()
        stopping = asyncio.create_task(stop.wait())
        stopping.add_done_callback(lambda _: self._wake())
        try:
            tasks = [task async for task in self._restore_all(processors)]
            save_at = loop.time() + self._snapshot_ms / 1000
            while not stop.is_set():
                changed = self._changed
                if not self._turn(tasks):
                    await changed.wait()
                    continue
                if loop.time() >= save_at:
                    self._save(tasks)
                    save_at = loop.time() + self._snapshot_ms / 1000
                await asyncio.sleep(0)
            self._save(tasks)
        finally:
            self._running -= names
            stopping.cancel()

    async def caught_up(self, processors: Sequence[Processor[Any]]) -> None:
        """Returns when each of them has taken every record of its inputs; never if what ran them has ended."""
        while True:
            changed = self._changed
            if not any(map(self.lag, processors)):
                return
            await changed.wait()

    def lag(self, processor: Processor[Any]) -> int:
        """How many records of its inputs a processor has not taken yet."""
        return sum(
            self._ends[topic, partition] - self._taken.get((processor.name, topic, partition), 0)
            for topic in processor.inputs
            for partition in range(self.partitions)
        )

    async def _restore_all(self, processors: Sequence[Processor[Any]]) -> AsyncIterator[_Task]:
        for processor in processors:
            for partition in range(self.partitions):
                try:
                    yield self._restore(processor, partition)
                except sqlite3.Error as error:
                    raise NotReady(f"{self.path} cannot be read: {error}") from error
                await asyncio.sleep(0)

    def _restore(self, processor: Processor[Any], partition: int) -> _Task:
        """The last snapshot and the facts after it; without a snapshot, all facts. Nothing is decided again."""
        manifest, saved = self._snapshot_of(processor, partition)
        causes: dict[tuple[str, str], Cause] = {}
        facts = self._facts(processor, partition, manifest.output_offset, causes)
        states = fold(processor, saved, facts)
        for raw in self._rows(DEAD_LETTERS, partition, 0):
            self._note_cause(processor, DEAD_LETTERS, raw[4], causes)
        committed = {topic: self._taken.get((processor.name, topic, partition), 0) for topic in processor.inputs}
        positions = positions_after(processor, partition, (committed, manifest.positions), causes.values())
        for topic, position in positions.items():
            self._taken[processor.name, topic, partition] = position
        unsaved = {table_id for table_id, state in states.items() if saved.get(table_id) is not state}
        return _Task(processor, partition, states, positions, {topic: deque() for topic in positions}, unsaved)

    def _snapshot_of(self, processor: Processor[Any], partition: int) -> tuple[Manifest, dict[str, Any]]:
        """An empty one where none is whole, of this version of the state, and no newer than the log."""
        of_task = (processor.name, partition)
        with suppress(msgspec.MsgspecError, Unusable):
            for (raw,) in self._sql.execute(_MANIFEST, of_task).fetchall():
                manifest = msgspec.msgpack.decode(raw, type=Manifest)
                rows = self._sql.execute(_SNAPSHOTS, of_task).fetchall()
                fits = manifest.state_version == processor.state_version and manifest.tables == len(rows)
                if fits and manifest.output_offset <= self._ends[processor.output, partition]:
                    return manifest, {table_id: decode_state(state, processor.state_type) for table_id, state in rows}
        return Manifest(processor.state_version, 0, 0, {}), {}

    def _facts(
        self, processor: Processor[Any], partition: int, offset: int, causes: dict[tuple[str, str], Cause]
    ) -> Iterator[Event]:
        """The processor's own facts from `offset` on; what anybody else wrote there steers nothing."""
        for at, _, _, value, carried in self._rows(processor.output, partition, offset):
            if self._note_cause(processor, processor.output, carried, causes):
                try:
                    yield self._codec.decode(processor.output, value)
                except Unusable as error:
                    place = f"{processor.output} {partition}/{at}"
                    raise NotReady(f"{processor.name} cannot read its own fact at {place}: {error}") from error

    def _note_cause(
        self, processor: Processor[Any], topic: str, carried: bytes, causes: dict[tuple[str, str], Cause]
    ) -> bool:
        """Whether the processor wrote this record; the last cause of each input is kept."""
        cause = cause_of(_carried(carried), processor)
        if cause is not None:
            causes[topic, cause.topic] = cause
        return cause is not None

    def _turn(self, tasks: Sequence[_Task]) -> bool:
        """Whether there was anything to do; all that is ready in all partitions goes into one transaction."""
        made = [(task, done) for task in tasks if (done := self._advance(task)) is not None]
        if not made:
            return False
        with self._transaction():
            for task, done in made:
                self._insert(_drafts(task, done))
            self._fault("after-facts")
            moved = [
                (task.processor.name, topic, task.partition, position)
                for task, done in made
                for topic, position in _positions(task, done).items()
            ]
            self._sql.executemany("INSERT OR REPLACE INTO positions VALUES (?, ?, ?, ?)", moved)
            self._fault("after-positions")
        for name, topic, partition, position in moved:
            self._taken[name, topic, partition] = position
        for task, done in made:
            _keep(task, done)
        return True

    def _advance(self, task: _Task) -> Advance[Any] | None:
        """What the records read so far come to; None where nothing is new."""
        fetched = sum([self._fetch(task, topic) for topic in task.processor.inputs])
        if not (fetched or task.more):
            return None
        done = advance(task.processor, task.states, task.queues, self._codec.encode, FACTS_A_BATCH)
        task.more = any(done.taken.values())
        return done if task.more else None

    def _fetch(self, task: _Task, topic: str) -> int:
        """Fills the queue up to a batch, and says by how many."""
        queue = task.queues[topic]
        begin = queue[-1].offset + 1 if queue else task.positions[topic]
        if begin == self._ends[topic, task.partition] or len(queue) >= self._batch:
            return 0
        records = self._read(topic, task.partition, begin, self._batch - len(queue), task.processor)
        queue.extend(records)
        return len(records)

    def _save(self, tasks: Sequence[_Task]) -> None:
        """Snapshots of the tables that changed; a cache, so that a restart folds little."""
        due = [task for task in tasks if task.unsaved]
        if not due:
            return
        self._fault("before-snapshot")
        with self._transaction():
            saved = [task for task in due if self._save_task(task)]
            self._fault("inside-snapshot")
        for task in saved:
            task.unsaved.clear()
        self._fault("after-snapshot")

    def _save_task(self, task: _Task) -> bool:
        """Whether the states could be encoded: if not, a restart folds more facts, and no more than that."""
        of_task = (task.processor.name, task.partition)
        try:
            rows = [(*of_task, table_id, encode_state(task.states[table_id])) for table_id in sorted(task.unsaved)]
        except Unfit as error:
            LOGGER.warning("no snapshot of %s %d: %s", *of_task, error)
            return False
        if task.unsaved == task.states.keys():  # whatever else is there was of no use to the last restart
            self._sql.execute(_FORGET_SNAPSHOTS, of_task)
        self._sql.executemany("INSERT OR REPLACE INTO snapshots VALUES (?, ?, ?, ?)", rows)
        end = self._ends[task.processor.output, task.partition]
        manifest = Manifest(task.processor.state_version, end, len(task.states), task.positions)
        row = (*of_task, msgspec.msgpack.encode(manifest))
        self._sql.execute("INSERT OR REPLACE INTO manifests VALUES (?, ?, ?)", row)
        return True

    # ------------------------------------------------------------ the file

    def _flush(self) -> None:
        """Writes what waits to be appended, unless a turn of the processors has taken it along."""
        if self._appending:
            with suppress(NotReady), self._transaction():  # those who wait are told
                pass

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """All or nothing, and what waits to be appended goes with it; nobody sees any of it before the commit."""
        appending = [waiting for waiting in self._appending if not waiting.done.cancelled()]
        self._appending = []
        ends, last_ms = dict(self._ends), self._last_ms
        committed = False
        try:
            self._fault("before-begin")
            self._sql.execute("BEGIN IMMEDIATE")
            for waiting in appending:
                self._insert(waiting.drafts)
            self._fault("after-appends")
            yield
            self._fault("before-commit")
            self._sql.execute("COMMIT")
            committed = True
            self._fault("after-commit")
        except BaseException as error:
            failure = NotReady(f"{self.path} cannot be written: {error}")
            failure.__cause__ = error
            if not committed:
                self._ends, self._last_ms = ends, last_ms
            if self._sql.in_transaction:  # SQLite itself rolls back where the disk is full
                self._sql.execute("ROLLBACK")
            for waiting in appending:
                waiting.done.set_exception(failure)
            if isinstance(error, sqlite3.Error):
                raise failure from error
            raise
        for waiting in appending:
            waiting.done.set_result(None)
        self._wake()

    def _insert(self, drafts: Iterable[Draft]) -> None:
        rows = []
        for draft in drafts:
            place = (draft.topic, draft.partition)
            self._last_ms = max(self._last_ms, self._clock())
            carried = msgspec.msgpack.encode(draft.headers)
            rows.append((*place, self._ends[place], self._last_ms, draft.key, draft.value, carried))
            self._ends[place] += 1
        self._sql.executemany(_INSERT, rows)

    def _rows(self, topic: str, partition: int, offset: int) -> Iterator[tuple[int, int | None, bytes, bytes, bytes]]:
        """Offset, append time, key, value and headers of every record from `offset` on."""
        yield from self._sql.execute(_READ, (topic, partition, offset, -1))

    def read(self, positions: dict[Place, int]) -> list[Record]:
        """What comes next at these places, and moves them on. Raises NotReady."""
        if self._closed:
            raise NotReady(f"{self.path} is closed")
        records: list[Record] = []
        for (topic, partition), offset in positions.items():
            if offset < self._ends[topic, partition]:
                found = self._read(topic, partition, offset, self._batch)
                records += found
                positions[topic, partition] = found[-1].offset + 1
        return records

    async def changed(self) -> None:
        """Returns after the next commit, or when the partitions of some group are shared out anew."""
        await self._changed.wait()

    def _read(
        self, topic: str, partition: int, offset: int, limit: int, reader: Processor[Any] | None = None
    ) -> list[Record]:
        try:
            rows = self._sql.execute(_READ, (topic, partition, offset, limit)).fetchall()
        except sqlite3.Error as error:
            raise NotReady(f"{self.path} cannot be read: {error}") from error
        return [
            read_record(
                self._codec,
                *(topic, partition, self.partitions, at, at_ms or 0, at_ms is not None, key, value),
                foreign=reader is not None and is_foreign(reader, topic, _carried(carried)),
            )
            for at, at_ms, key, value, carried in rows
        ]

    def _wake(self) -> None:
        """Whoever waits for news looks again."""
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()


class _Reader:
    def __init__(self, log: EmbeddedLog, positions: dict[Place, int]) -> None:
        self._log = log
        self._positions = positions

    async def next(self, wait_ms: int) -> list[Record]:
        """At most a batch of each partition."""
        with suppress(TimeoutError):
            async with asyncio.timeout(wait_ms / 1000):
                while not (records := self._log.read(self._positions)):
                    await self._log.changed()
                return records
        return []


def _carried(headers: bytes) -> list[tuple[str, bytes]]:
    """The headers of a record, as they were written."""
    return msgspec.msgpack.decode(headers, type=list[tuple[str, bytes]])


def _drafts(task: _Task, done: Advance[Any]) -> Iterator[Draft]:
    """Every fact lies in the partition of its cause, whatever its key."""
    for written in done.written:
        carried = tuple(headers(task.processor, written.cause))
        yield Draft(written.topic, task.partition, written.table_id.encode(), written.value, carried)


def _positions(task: _Task, done: Advance[Any]) -> dict[str, int]:
    """The next offset of every input that gave something, by topic."""
    return {topic: task.queues[topic][taken - 1].offset + 1 for topic, taken in done.taken.items() if taken}


def _keep(task: _Task, done: Advance[Any]) -> None:
    """After the commit, and never before it, the states and positions are swapped."""
    task.positions |= _positions(task, done)
    task.states |= done.changed
    task.unsaved |= done.changed.keys()
    for topic, taken in done.taken.items():
        for _ in range(taken):
            task.queues[topic].popleft()


class _SharedReader:
    """One member of a group: it owns every n-th partition number, n being the members, and all topics of it."""

    def __init__(
        self,
        log: EmbeddedLog,
        members: list["_SharedReader"],
        topics: Sequence[str],
        begin: Callable[[str, int], Awaitable[int]],
    ) -> None:
        self._log = log
        self._members = members
        self._topics = topics
        self._begin = begin
        self._positions: dict[Place, int] = {}

    async def next(self, wait_ms: int) -> list[Record]:
        """As of `_Reader`, of the partitions that are this member's now.

        Only the wait is bounded: `begin` may speak with a server, and a client that swallows a cancel would then
        leave the wait without an end.
        """
        until_s = asyncio.get_running_loop().time() + wait_ms / 1000
        while True:
            await self._own()
            if records := self._log.read(self._positions):
                return records
            try:
                async with asyncio.timeout_at(until_s):
                    await self._log.changed()
            except TimeoutError:
                return []

    async def _own(self) -> None:
        """Lets go of what another member has now, and asks where to begin with what is new."""
        count, place = len(self._members), self._members.index(self)
        mine = {(topic, p) for topic in self._topics for p in range(place, self._log.partitions, count)}
        for lost in self._positions.keys() - mine:
            del self._positions[lost]
        for topic, partition in sorted(mine - self._positions.keys()):
            self._positions[topic, partition] = await self._begin(topic, partition)


def _lock_file(path: Path) -> int:
    """An open file that this process holds alone, with its number and command inside. Raises NotReady."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = os.open(path.with_name(path.name + ".lock"), os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise NotReady(f"{path} cannot be used as a log: {error.strerror}") from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        holder = os.read(lock, 200).decode(errors="replace").strip()
        os.close(lock)
        raise NotReady(f"{path} is in use by process {holder or 'unknown'}; stop it first") from None
    os.truncate(lock, 0)
    os.write(lock, f"{os.getpid()} ({' '.join(map(os.path.basename, sys.argv))[:100]})\n".encode())
    return lock
