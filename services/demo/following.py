"""Reading on in a log as a person would: what has been is taken in first, and then what happens is answered."""

import asyncio
import logging
import math
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Final

from services.baccarat.errors import NotReady
from services.baccarat.events import Event
from services.runtime.log import Log, Place, Reader
from services.runtime.processor import Record
from services.runtime.reading import partition_of

LOGGER: Final = logging.getLogger(__name__)
WAIT_MS: Final = 100  # how late something is done, or an order to stop seen
QUIET: Final = 20  # empty answers after which all that there is has been read
RETRY_S: Final = 1.0
AGAIN_S: Final = 60.0  # how often the same trouble is said


class Follower:
    """The facts about some tables. `is_live`: all that was there at the start has been read."""

    def __init__(self, reader: Reader, tables: Iterable[str], behind: dict[Place, int]) -> None:
        self.reader = reader
        self.tables = frozenset(tables)
        self.behind = behind
        self.quiet = 0

    @property
    def is_live(self) -> bool:
        return not self.behind

    async def next(self) -> list[Event]:
        """What came next; empty if nothing did within WAIT_MS. Raises NotReady."""
        records = await self.records()
        return [record.event for record in records if record.event is not None and record.key in self.tables]

    async def records(self) -> Sequence[Record]:
        """The same of every table that is read along. Raises NotReady."""
        records = await self.reader.next(WAIT_MS)
        for record in records:
            place = (record.topic, record.partition)
            if record.offset + 1 >= self.behind.get(place, 0):
                self.behind.pop(place, None)
        self.quiet = 0 if records else self.quiet + 1
        if self.quiet >= QUIET:  # Kafka counts marks of transactions too, which nobody reads
            self.behind.clear()
        return records


@asynccontextmanager
async def following(
    log: Log, topics: Sequence[str], tables: Iterable[str], *, from_end: bool = False
) -> AsyncIterator[Follower]:
    """Follows these topics, from their beginning or from where they end now. Raises NotReady."""
    tables = tuple(tables)
    partitions = sorted({partition_of(table_id, log.partitions) for table_id in tables})
    async with following_partitions(log, topics, partitions, tables, from_end=from_end) as follower:
        yield follower


async def tables_in(log: Log, topics: Sequence[str]) -> list[str]:
    """The names of all tables that have a record in these topics, sorted. Raises NotReady."""
    found: set[str] = set()
    async with following_partitions(log, topics, range(log.partitions), ()) as follower:
        while not follower.is_live:
            found.update(record.key for record in await follower.records() if record.event is not None)
    return sorted(found)


@asynccontextmanager
async def following_partitions(
    log: Log, topics: Sequence[str], partitions: Iterable[int], tables: Iterable[str], *, from_end: bool = False
) -> AsyncIterator[Follower]:
    """Follows these partitions of these topics. Raises NotReady."""
    places = [(topic, partition) for partition in partitions for topic in topics]
    ends = {place: await log.end(*place) for place in places}
    begins = ends if from_end else dict.fromkeys(places, 0)
    async with log.reader(begins) as reader:
        yield Follower(reader, tables, {place: end for place, end in ends.items() if end > begins[place]})


async def again_and_again(work: Callable[[], Awaitable[None]], stop: asyncio.Event, who: str) -> None:
    """Works until `stop` is set, and anew a second after the log was away; the same trouble is said once a minute."""
    said: dict[str, float] = {}
    while not stop.is_set():
        try:
            await work()
        except NotReady as error:
            now_s = asyncio.get_running_loop().time()
            if now_s - said.get(str(error), -math.inf) >= AGAIN_S:
                LOGGER.warning("%s: the log is away, trying again: %s", who, error)
                said = {str(error): now_s}
            with suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), RETRY_S)
