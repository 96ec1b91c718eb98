"""Facts from the log into Redis, for ever: whatever happens to Redis or the log, it goes on from what is there.

All that it remembers between two lives is in Redis beside the views. Where that is missing, belongs to another log, or
has a hole, the log is folded again from its beginning into a new epoch.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Final

import msgspec
from msgspec import Struct
from redis.exceptions import RedisError

from services.baccarat.errors import NotReady
from services.dashboard.redis_model import (
    Model,
    Stored,
    Write,
    connected,
    decoded,
    family_of,
    parts_of,
    stay_cancelled,
)
from services.dashboard.view import SOURCES, View
from services.runtime.log import Log, Place
from services.runtime.processor import Record

LOGGER: Final = logging.getLogger(__name__)
GROUP: Final = "dashboard"
PREFIX: Final = "punto"
READ_WITHIN_MS: Final = 500
BEAT_EVERY_S: Final = 2.0
ASK_LOG_WITHIN_S: Final = 5.0
QUIET_S: Final = 5.0  # a partition with no record for so long, while others had some, has no more
AGAIN_AFTER_S: Final = 0.5


class Hole(Exception):
    """What is stored in this epoch is not what was written to it."""


class Moved(Exception):
    """Another epoch is to be written."""


class Held(Struct, frozen=True):
    """A view as this process knows it; `offset` is of the last fact in it."""

    offset: int
    view: View


async def project(
    log: Log,
    redis_url: str,
    stop: asyncio.Event,
    on_ready: Callable[[bool], None],
    *,
    prefix: str = PREFIX,
    on_trouble: Callable[[str], None] = lambda _: None,
) -> None:
    """Runs until `stop` is set. `on_ready` hears True when pages show all there is in the log, and False when not.

    `on_trouble` then hears why, where something outside is to blame.
    Several of them share the partitions of a Kafka log; two over the same partitions do no harm.
    """
    epoch, broken = "", ""
    while not stop.is_set():
        stay_cancelled()
        try:
            async with connected(redis_url) as redis:
                model = Model(redis, prefix)
                epoch = await _epoch(log, model, epoch, broken)
                broken = ""
                await _Projection(log, model, epoch, on_ready).run(stop)
        except Hole as hole:
            LOGGER.warning("the read model is built again from the log: %s", hole)
            broken = epoch
        except Moved as moved:
            LOGGER.info("%s", moved)
        except (RedisError, NotReady, OSError, TimeoutError) as trouble:
            LOGGER.warning("the dashboard's projection waits: %s: %s", type(trouble).__name__, trouble)
            on_ready(False)
            on_trouble(blamed(trouble))
            await _pause(stop)
            continue
        on_ready(False)


async def _epoch(log: Log, model: Model, before: str, broken: str) -> str:
    """A process that has worked gives way to one that started later on another log, or both would rebuild for ever."""
    family = family_of(log.log_id)
    working = await model.working()
    if before and working is not None and parts_of(working)[0] != family:
        raise NotReady(f"Redis shows another log, or other views, by now: epoch {working}, not of {family}")
    return await model.claim(family, broken, parts_of(before)[1] + 1 if before else 1)


def blamed(trouble: Exception) -> str:
    """What is away, in a line."""
    match trouble:
        case NotReady():
            return str(trouble)
        case TimeoutError():  # Redis's own is a RedisError
            return "the log does not answer"
        case _:
            return f"Redis does not answer: {trouble}"


async def _pause(stop: asyncio.Event) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(AGAIN_AFTER_S):
            await stop.wait()


class _Projection:
    """One stretch of work on one epoch, until something is not as it was."""

    def __init__(self, log: Log, model: Model, epoch: str, on_ready: Callable[[bool], None]) -> None:
        self._log = log
        self._model = model
        self._epoch = epoch
        self._on_ready = on_ready
        self._views: dict[Place, dict[str, Held]] = {}
        self._positions: dict[Place, int] = {}
        self._goals: dict[Place, int] = {}
        self._heard_s: dict[Place, float] = {}
        self._began_s = time.monotonic()
        self._beaten_s = 0.0
        self._shown = False

    async def run(self, stop: asyncio.Event) -> None:
        async with self._log.shared_reader(GROUP, list(SOURCES), self._begin) as reader:
            while not stop.is_set():
                stay_cancelled()
                records = await reader.next(READ_WITHIN_MS)
                if records:
                    await self._take([record for record in records if _place(record) in self._positions])
                self._note_caught_up(records)
                await self._tell()

    async def _begin(self, topic: str, partition: int) -> int:
        """Nothing that is remembered of a partition outlives its being away: another may have written meanwhile."""
        place = (topic, partition)
        position = await self._model.position(self._epoch, place)
        self._goals[place] = await self._log.end(topic, partition)
        self._heard_s[place] = time.monotonic()
        self._views[place] = {}
        self._positions[place] = position
        self._shown = False
        return position

    # ------------------------------------------------------------ folding

    async def _take(self, records: Sequence[Record]) -> None:
        """Views first, positions after: what is folded twice is seen by its offset, what is missed is not.

        Where another projection has written already, its view of the same facts is taken up, and gone on with.
        """
        by_table: dict[tuple[Place, str], list[Record]] = {}
        for record in records:
            by_table.setdefault((_place(record), record.key), []).append(record)
        written: list[Write] = []
        pending = list(by_table)
        while pending:
            await self._load([name for name in pending if name[1] not in self._views[name[0]]])
            folded = (_folded(name, self._views[name[0]][name[1]], by_table[name]) for name in pending)
            writes = [write for write in folded if write is not None]
            done = await self._write(writes)
            written += done
            pending = [(write.place, write.table_id) for write in writes if write not in done]
        positions = {_place(record): record.offset + 1 for record in records}
        self._positions |= positions
        await self._model.advance(self._epoch, positions, written)

    async def _load(self, names: Sequence[tuple[Place, str]]) -> None:
        """Views that are not held; what the index says must be there, is there, or the log is folded again."""
        if not names:
            return
        views = [(topic, table_id) for (topic, _), table_id in names]
        indexed = await self._model.indexed(self._epoch, views)
        found = await self._model.stored(self._epoch, views)
        for (place, table_id), least, stored in zip(names, indexed, found, strict=True):
            held = _held(place[0], table_id, stored)
            if held.offset < least:
                raise Hole(f"{table_id} is stored up to {held.offset} of {place[0]}, and was written up to {least}")
            self._views[place][table_id] = held

    async def _write(self, writes: Sequence[Write]) -> list[Write]:
        """Those that were written; the views of the others are let go, for newer ones are there."""
        done: list[Write] = []
        answers = await self._model.write(self._epoch, writes) if writes else []
        for write, answer in zip(writes, answers, strict=True):
            if answer == "hole":
                raise Hole(f"{write.table_id} is not stored up to {write.previous} of {write.place[0]} any more")
            if answer == "older":
                del self._views[write.place][write.table_id]
                continue
            self._views[write.place][write.table_id] = Held(write.offset, write.after)
            done.append(write)
        return done

    # ------------------------------------------------------------ telling

    def _note_caught_up(self, records: Sequence[Record]) -> None:
        """A goal may lie behind marks that no reader is given; then silence tells that there is no more."""
        now_s = time.monotonic()
        for record in records:
            self._heard_s[_place(record)] = now_s
        for place, goal in list(self._goals.items()):
            quiet = not records or now_s - self._heard_s[place] > QUIET_S
            if quiet or self._positions[place] >= goal:
                del self._goals[place]

    async def _tell(self) -> None:
        """Shows the epoch when it has caught up, and keeps saying that the log and this process are alive."""
        now_s = time.monotonic()
        given = bool(self._positions) or now_s - self._began_s > QUIET_S  # of many members some may get none
        if given and not self._goals and not self._shown:
            of = self._log.partitions * len(SOURCES)
            self._shown = await self._model.show(self._epoch, self._positions, of)
            if self._shown:
                self._on_ready(True)
        if now_s - self._beaten_s < BEAT_EVERY_S:
            return
        self._beaten_s = now_s
        working = await self._model.working()
        if working != self._epoch:
            raise Moved(f"epoch {working} is to be written now, not {self._epoch}")
        await self._ask_log()
        stored = await self._model.positions(self._epoch)
        moved_on = {place[1] for place, position in self._positions.items() if stored.get(place, 0) != position}
        await self._model.beat(self._epoch, {partition for _, partition in self._positions} - moved_on)

    async def _ask_log(self) -> None:
        """An empty read may be a dead broker; the end of a partition can only be told by a live one."""
        async with asyncio.timeout(ASK_LOG_WITHIN_S):
            for topic, partition in list(self._positions)[:1]:
                await self._log.end(topic, partition)


def _place(record: Record) -> Place:
    return (record.topic, record.partition)


def _held(topic: str, table_id: str, stored: Stored | None) -> Held:
    if stored is None:
        return Held(-1, SOURCES[topic].start)
    try:
        return Held(stored.offset, decoded(topic, stored))
    except msgspec.ValidationError as error:
        raise Hole(f"{table_id} was stored in another shape: {error}") from error


def _folded(name: tuple[Place, str], held: Held, records: Iterable[Record]) -> Write | None:
    """One write for all of a table's new facts; None where it has them all."""
    place, table_id = name
    view, offset = held.view, held.offset
    for record in records:
        if record.offset > held.offset:
            offset = record.offset
            if record.event is not None:
                view = SOURCES[place[0]].fold(view, record.event)
    if offset == held.offset:
        return None
    return Write(place, table_id, held.offset, offset, held.view, view)
