"""The service: it has the shoes of some tables in its hands, sees `rounds`, and says in `table-feed` what it deals.

Several scanners with one state folder share the tables: each takes those whose file is free.
"""

import asyncio
import logging
import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from services.baccarat.errors import NotReady
from services.baccarat.events import ROUNDS, TABLE_FEED
from services.card_scanner.motor import Act, Pace, next_act
from services.card_scanner.sealed import Sealed, SealedFile, begin_shoe, draw, fresh, open_seal, sentence, take
from services.card_scanner.sources import Source, next_shoe
from services.card_scanner.table_view import see
from services.runtime.log import Log, Reader
from services.runtime.processor import Record
from services.runtime.reading import partition_of

LOGGER: Final = logging.getLogger(__name__)
WAIT_MS: Final = 250  # how late an order to stop may be seen
AGAIN_MS: Final = 60_000  # how often the same trouble is said
LOOK_MS: Final = 1_000  # how often tables that another scanner has are asked for
CATCH_UP_MS: Final = 2_000  # without news for so long, all that there is has been seen


class Hand(Struct, kw_only=True):
    """A table's shoe in this scanner's hands. `unsent`: it is not certain that the last sentence is in the log."""

    table_id: str
    partition: int
    source: Source
    file: SealedFile
    sealed: Sealed
    unsent: bool = False
    finished: bool = False


def wall_clock_ms() -> int:
    """The time by this machine's clock."""
    return time.time_ns() // 1_000_000


async def scan(
    log: Log,
    sources: Mapping[str, Source],
    *,
    state_dir: Path,
    pace: Pace,
    stop: asyncio.Event,
    clock: Callable[[], int] = wall_clock_ms,
) -> None:
    """Deals at the tables of `sources` until `stop` is set, or until the recordings of all of them are over.

    Goes on by itself when the log was away. Raises BadSettings where a table's file cannot be used.
    """
    scanner = Scanner(log, sources, state_dir, pace, clock)
    said: dict[str, int] = {}
    try:
        while not (stop.is_set() or scanner.is_finished()):
            try:
                await scanner.work(stop)
            except NotReady as error:
                if clock() - said.get(str(error), -AGAIN_MS) >= AGAIN_MS:
                    LOGGER.warning("the card scanner waits: %s", error)
                    said = {str(error): clock()}
                await rest(stop, LOOK_MS)
    finally:
        scanner.let_go()


async def rest(stop: asyncio.Event, ms: int) -> None:
    """So long, or until `stop` is set."""
    with suppress(TimeoutError):
        async with asyncio.timeout(ms / 1000):
            await stop.wait()


class Scanner:
    """The tables in hand, and how far each partition of `rounds` was read."""

    def __init__(
        self, log: Log, sources: Mapping[str, Source], state_dir: Path, pace: Pace, clock: Callable[[], int]
    ) -> None:
        self.log = log
        self.sources = sources
        self.state_dir = state_dir
        self.pace = pace
        self.clock = clock
        self.hands: dict[str, Hand] = {}
        self.positions: dict[int, int] = {}
        self.looked_ms = 0

    def is_finished(self) -> bool:
        """Whether every table of the list is in hand and has nothing more to deal."""
        return len(self.hands) == len(self.sources) and all(hand.finished for hand in self.hands.values())

    def let_go(self) -> None:
        """Leaves the tables to other scanners."""
        for hand in self.hands.values():
            hand.file.close()
        self.hands.clear()

    async def work(self, stop: asyncio.Event) -> None:
        """Deals until `stop` is set, all is dealt, or a further table has come into hand. Raises NotReady."""
        self.take_free_tables()
        if not self.hands:  # all are in other hands
            await rest(stop, LOOK_MS)
            return
        self.positions = {}
        for hand in self.hands.values():
            known = self.positions.get(hand.partition, hand.sealed.position)
            self.positions[hand.partition] = min(known, hand.sealed.position)
        ends = {partition: await self.log.end(ROUNDS, partition) for partition in self.positions}
        async with self.log.reader({(ROUNDS, partition): at for partition, at in self.positions.items()}) as reader:
            await self.catch_up(reader, ends, stop)
            self.resend()
            await self.send()
            while not (stop.is_set() or self.is_finished()):
                self.note(await reader.next(self.wait_ms()))
                await self.act()
                if self.clock() >= self.looked_ms + LOOK_MS and self.take_free_tables():
                    return

    def take_free_tables(self) -> bool:
        """Whether a table came into hand that was not there before."""
        self.looked_ms = self.clock()
        before = len(self.hands)
        for table_id, source in self.sources.items():
            if table_id in self.hands or (file := take(self.state_dir, table_id)) is None:
                continue
            sealed = file.read(self.log.log_id) or fresh(table_id, self.log.log_id, source.name)
            partition = partition_of(table_id, self.log.partitions)
            self.hands[table_id] = Hand(table_id=table_id, partition=partition, source=source, file=file, sealed=sealed)
        return len(self.hands) > before

    async def catch_up(self, reader: Reader, ends: Mapping[int, int], stop: asyncio.Event) -> None:
        """Sees what has happened meanwhile, before anything is dealt on an old picture of the table."""
        news_ms = self.clock()
        while not stop.is_set() and any(self.positions[partition] < end for partition, end in ends.items()):
            records = await reader.next(WAIT_MS)
            self.note(records)
            if records:
                news_ms = self.clock()
            elif self.clock() - news_ms >= CATCH_UP_MS:  # Kafka counts marks of transactions too, which nobody reads
                return

    def resend(self) -> None:
        """What was said last and never answered may not have come to the log."""
        for hand in self.hands.values():
            hand.unsent = hand.sealed.view.heard < hand.sealed.sequence

    def note(self, records: Sequence[Record]) -> None:
        """Folds what rules says into the views of the tables in hand."""
        for record in records:
            self.positions[record.partition] = record.offset + 1
            hand = self.hands.get(record.key)
            if hand is None or record.event is None or record.offset < hand.sealed.position:
                continue
            hand.sealed = replace(hand.sealed, view=see(hand.sealed.view, record.event), position=record.offset + 1)

    def wait_ms(self) -> int:
        """Until the next card is due, at most WAIT_MS."""
        now_ms = self.clock()
        dues = (next_act(hand.sealed, self.pace) for hand in self.hands.values() if not hand.finished)
        waits = [due.at_ms - now_ms for due in dues if due is not None]
        return min(max(min(waits, default=WAIT_MS), 0), WAIT_MS)

    async def act(self) -> None:
        """Does what is due at every table: first written down, then said. Raises NotReady."""
        now_ms = self.clock()
        acted: list[tuple[Hand, Sealed]] = []
        for hand in self.hands.values():
            due = None if hand.finished else next_act(hand.sealed, self.pace)
            if due is None or due.at_ms > now_ms:
                continue
            after = acting(hand, due.act, now_ms)
            if after is None:
                hand.finished = True
                LOGGER.info("table %s: the recording is over", hand.table_id)
            else:
                acted.append((hand, after))
        await asyncio.to_thread(write_down, acted)
        for hand, after in acted:
            hand.sealed, hand.unsent = after, True
        await self.send()

    async def send(self) -> None:
        """Says every sentence that is written down and not yet certain to be in the log."""
        unsent = [hand for hand in self.hands.values() if hand.unsent]
        sentences = [said for hand in unsent if (said := sentence(hand.sealed, hand.source.name)) is not None]
        if sentences:
            await self.log.append(TABLE_FEED, sentences)
        for hand in unsent:
            hand.unsent = False


def acting(hand: Hand, act: Act, now_ms: int) -> Sealed | None:
    """The shoe after the act; None when the source has no further shoe."""
    sealed = hand.sealed
    match act:
        case Act.OPEN_SEAL:
            return open_seal(sealed, now_ms)
        case Act.DRAW:
            return draw(sealed, now_ms)
        case Act.BEGIN_SHOE:
            rules = sealed.view.rules
            shoe = None if rules is None else next_shoe(hand.source, hand.table_id, sealed.begun, rules)
            return None if shoe is None else begin_shoe(sealed, shoe, now_ms)


def write_down(acted: Sequence[tuple[Hand, Sealed]]) -> None:
    """Raises NotReady where a file cannot be written; nothing of these acts is said then."""
    for hand, after in acted:
        try:
            hand.file.write(after)
        except sqlite3.Error as error:
            raise NotReady(f"{hand.file.path} cannot be written: {error}") from error
