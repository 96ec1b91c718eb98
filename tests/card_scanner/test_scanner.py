"""The scanner over the embedded log, with rules answering: nothing lost, nothing twice, whatever fails and when."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from itertools import pairwise
from pathlib import Path

import pytest
from msgspec.structs import replace

from services.baccarat.cards import parse_card
from services.baccarat.catalogue import configuration
from services.baccarat.errors import NotReady
from services.baccarat.events import (
    ROUNDS,
    TABLE_FEED,
    CardDealt,
    CutCardDrawn,
    DealerResumed,
    DealerSuspended,
    DeviceEvent,
    DeviceReported,
    Event,
    RoundDecided,
    ShoeClosed,
    ShoeStarted,
    TableConfigured,
)
from services.baccarat.shoe import fresh_shoe
from services.card_scanner.motor import AT_ONCE
from services.card_scanner.recorded_csv import as_recording, read
from services.card_scanner.scanner import scan
from services.card_scanner.sealed import take
from services.card_scanner.sources import Recorded, SealedShoe, Simulated, Source, recorded
from services.rules import RULES
from services.runtime.embedded import EmbeddedLog
from services.runtime.reading import partition_of

ONE_DECK = replace(configuration("classic"), decks=1, burn_rule="fixed_n", burn_fixed=2, cards_behind_cut=11)
WITHIN_S = 20  # far more than is needed: a test that waits so long has failed


async def all_of(log: EmbeddedLog, topic: str, *tables: str) -> list[Event]:
    """Everything in a topic about these tables."""
    partitions = {partition_of(table_id, log.partitions) for table_id in tables}
    found: list[Event] = []
    async with log.reader({(topic, partition): 0 for partition in partitions}) as reader:
        while records := await reader.next(0):
            found += [record.event for record in records if record.event is not None]
    return [event for event in found if event.table_id in tables]


async def until(log: EmbeddedLog, topic: str, enough: Callable[[list[Event]], bool], *tables: str) -> list[Event]:
    """Everything in a topic as soon as it is enough."""
    async with asyncio.timeout(WITHIN_S):
        while not enough(found := await all_of(log, topic, *tables)):
            await log.changed()
    return found


def count(kind: type[Event], least: int) -> Callable[[list[Event]], bool]:
    return lambda events: sum(isinstance(event, kind) for event in events) >= least


async def configure(log: EmbeddedLog, *tables: str) -> None:
    await log.append(
        TABLE_FEED,
        [
            TableConfigured(
                event_id=f"{table_id}/configured", table_id=table_id, version=1, configuration=ONE_DECK, by="test"
            )
            for table_id in tables
        ],
    )


@asynccontextmanager
async def ruled(folder: Path, *tables: str) -> AsyncIterator[EmbeddedLog]:
    """A log with rules over it, the tables configured."""
    stop = asyncio.Event()
    with EmbeddedLog(folder / "log.sqlite", partitions=3) as log:
        running = asyncio.create_task(log.run([RULES], stop))
        await configure(log, *tables)
        try:
            yield log
        finally:
            stop.set()
            await running


@asynccontextmanager
async def scanning(log: EmbeddedLog, folder: Path, sources: Mapping[str, Source]) -> AsyncIterator[asyncio.Task[None]]:
    """A scanner that is stopped in order at the end."""
    stop = asyncio.Event()
    running = asyncio.create_task(scan(log, sources, state_dir=folder / "shoes", pace=AT_ONCE, stop=stop))
    try:
        yield running
    finally:
        stop.set()
        await running


def is_in_order(feed: Sequence[Event]) -> bool:
    """Whether every sequence of the one device came, repeats only of the sentence just said."""
    sequences = [event.sequence for event in feed if isinstance(event, DeviceEvent)]
    return sequences[0] == 1 and all(after - before in (0, 1) for before, after in pairwise(sequences))


def dealt(feed: Sequence[Event]) -> list[CardDealt]:
    """The cards, a repeated sentence once."""
    return list({event.sequence: event for event in feed if isinstance(event, CardDealt)}.values())


async def test_a_shoe_goes_from_the_first_card_to_the_opened_seal(tmp_path: Path) -> None:
    async with ruled(tmp_path, "T1") as log, scanning(log, tmp_path, {"T1": Simulated("7")}):
        feed = await until(log, TABLE_FEED, count(ShoeStarted, 2), "T1")
        rounds = await all_of(log, ROUNDS, "T1")
    assert is_in_order(feed)
    first_shoe = feed[: [isinstance(event, DeviceReported) for event in feed].index(True)]
    cards = [event.card for event in dealt(first_shoe)]
    cut = [isinstance(event, CutCardDrawn) for event in first_shoe].index(True)
    assert len(dealt(first_shoe[:cut])) == 52 - 11
    opened = next(event for event in feed if isinstance(event, DeviceReported))
    salt, _, left = opened.text.removeprefix("salt ").partition("; left ")
    assert sorted(map(str, [*cards, *map(parse_card, left.split())])) == sorted(map(str, fresh_shoe(1)))
    started = next(event for event in feed if isinstance(event, ShoeStarted))
    assert started.commitment is not None
    assert "seed 7" in started.commitment
    assert len(salt) == 64
    assert next(fact for fact in rounds if isinstance(fact, ShoeClosed)).reason == "cut-card"
    assert all(event.source == "simulated" for event in dealt(feed))


class Failing:
    """A log whose appends to the feed fail: before anything is written, or after all is."""

    def __init__(self, log: EmbeddedLog, error: type[BaseException], *, written: bool, every: int) -> None:
        self.log = log
        self.log_id = log.log_id
        self.partitions = log.partitions
        self.end = log.end
        self.reader = log.reader
        self.shared_reader = log.shared_reader
        self.error = error
        self.written = written
        self.every = every
        self.appends = 0

    async def append(self, topic: str, events: Sequence[Event]) -> None:
        self.appends += 1
        fails = self.appends % self.every == 0
        if self.written or not fails:
            await self.log.append(topic, events)
        if fails:
            raise self.error("by the test")


class Crash(Exception):
    """The scanner is gone at once."""


@pytest.mark.parametrize("written", [False, True])
async def test_killed_between_writing_and_saying_or_after_it_goes_on_with_the_next_card(
    tmp_path: Path, *, written: bool
) -> None:
    async with ruled(tmp_path, "T1") as log:
        failing = Failing(log, Crash, written=written, every=3)
        crashes = 0
        async with asyncio.timeout(WITHIN_S):
            while not count(ShoeClosed, 1)(await all_of(log, ROUNDS, "T1")):
                try:
                    await scan(
                        failing,
                        {"T1": Simulated(None)},
                        state_dir=tmp_path / "shoes",
                        pace=AT_ONCE,
                        stop=asyncio.Event(),
                    )
                except Crash:
                    crashes += 1
        feed, rounds = await all_of(log, TABLE_FEED, "T1"), await all_of(log, ROUNDS, "T1")
    assert crashes > 10
    assert is_in_order(feed)
    by_sequence: dict[int, Event] = {}
    for event in feed:
        if isinstance(event, DeviceEvent):
            assert by_sequence.setdefault(event.sequence, event) == event, "the same sentence, or another number"
    ids = [fact.event_id for fact in rounds]
    assert len(ids) == len(set(ids))
    names = {type(fact).__name__ for fact in rounds}
    assert not names & {"IrregularityFound", "TableSuspended", "CardSetAside", "RoundVoided"}


@pytest.mark.parametrize("written", [False, True])
async def test_a_log_that_is_away_for_a_while_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, written: bool
) -> None:
    monkeypatch.setattr("services.card_scanner.scanner.LOOK_MS", 1)
    async with ruled(tmp_path, "T1") as log:
        failing, stop = Failing(log, NotReady, written=written, every=4), asyncio.Event()
        source = Simulated(None)
        running = asyncio.create_task(
            scan(failing, {"T1": source}, state_dir=tmp_path / "shoes", pace=AT_ONCE, stop=stop)
        )
        rounds = await until(log, ROUNDS, count(ShoeClosed, 1), "T1")
        stop.set()
        await running
        assert is_in_order(await all_of(log, TABLE_FEED, "T1"))
    assert not {type(fact).__name__ for fact in rounds} & {"IrregularityFound", "TableSuspended", "CardSetAside"}


async def test_what_another_scanner_lets_go_is_taken_up_where_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("services.card_scanner.scanner.LOOK_MS", 1)
    tables = ("T1", "T2", "T3")
    sources = dict.fromkeys(tables, Simulated("7"))
    async with ruled(tmp_path, *tables) as log:
        async with scanning(log, tmp_path, {"T2": Simulated("7")}):
            await until(log, ROUNDS, count(RoundDecided, 1), "T2")
            async with scanning(log, tmp_path, sources) as second:
                await until(log, ROUNDS, count(RoundDecided, 1), "T1")
                await until(log, ROUNDS, count(RoundDecided, 1), "T3")
                assert not second.done()
        before = len(await all_of(log, TABLE_FEED, "T2"))
        async with scanning(log, tmp_path, sources):
            feed = await until(log, TABLE_FEED, lambda events: len(events) > before + 20, "T2")
        assert is_in_order(feed)
        assert len({event.device for event in feed if isinstance(event, DeviceEvent)}) == 1


async def test_a_suspended_table_waits_and_the_others_do_not(tmp_path: Path) -> None:
    async with ruled(tmp_path, "T1", "T2") as log, scanning(log, tmp_path, dict.fromkeys(("T1", "T2"), Simulated("7"))):
        await until(log, ROUNDS, count(RoundDecided, 1), "T1")
        suspended = DealerSuspended(event_id="T1/s", table_id="T1", action_id="s", by="d", reason="test")
        await log.append(TABLE_FEED, [suspended])
        await log.caught_up([RULES])
        other = len(await all_of(log, TABLE_FEED, "T2"))
        before = await all_of(log, TABLE_FEED, "T1")
        await until(log, TABLE_FEED, lambda events: len(events) > other + 30, "T2")
        meanwhile = (await all_of(log, TABLE_FEED, "T1"))[len(before) :]
        assert len(meanwhile) <= 1, "at most the card that was in the hand already"
        await log.append(
            TABLE_FEED, [DealerResumed(event_id="T1/r", table_id="T1", action_id="r", by="d", reason="test")]
        )
        now = len(before) + len(meanwhile)
        await until(log, TABLE_FEED, lambda events: len(events) > now + 10, "T1")


async def test_another_log_gets_another_device_and_a_fresh_shoe(tmp_path: Path) -> None:
    devices = []
    for name in ("one", "two"):
        async with ruled(tmp_path / name, "T1") as log, scanning(log, tmp_path, {"T1": Simulated("7")}):
            feed = await until(log, TABLE_FEED, count(CardDealt, 3), "T1")
        devices.append(next(event.device for event in feed if isinstance(event, ShoeStarted)))
    assert devices[0] != devices[1]


async def test_a_recording_is_dealt_to_its_end_and_the_scanner_ends_with_it(tmp_path: Path) -> None:
    cards = tuple(parse_card(card) for card in ("2C", "3C", "9S", "KD", "KH", "8C"))
    source = Recorded((SealedShoe(decks=1, order=cards),))
    async with ruled(tmp_path, "T1") as log:
        async with asyncio.timeout(WITHIN_S):
            await scan(log, {"T1": source}, state_dir=tmp_path / "shoes", pace=AT_ONCE, stop=asyncio.Event())
        feed, rounds = await all_of(log, TABLE_FEED, "T1"), await all_of(log, ROUNDS, "T1")
    assert [event.card for event in dealt(feed)] == list(cards)
    assert all(event.source == "recording" for event in dealt(feed))
    decided = [fact for fact in rounds if isinstance(fact, RoundDecided)]
    assert [(fact.player_total, fact.banker_total) for fact in decided] == [(9, 8)]
    free = take(tmp_path / "shoes", "T1")
    assert free is not None
    free.close()


async def test_the_public_rounds_as_one_shoe(tmp_path: Path, shared: Path) -> None:
    rounds = read(shared / "recordings" / "xsgu_single.csv")
    twelve = replace(ONE_DECK, decks=12, burn_rule="none")
    async with ruled(tmp_path) as log:
        configured = TableConfigured(event_id="T1/c", table_id="T1", version=1, configuration=twelve, by="test")
        await log.append(TABLE_FEED, [configured])
        async with asyncio.timeout(2 * WITHIN_S):
            source = recorded(as_recording(rounds))
            await scan(log, {"T1": source}, state_dir=tmp_path / "shoes", pace=AT_ONCE, stop=asyncio.Event())
        facts = [fact for fact in await all_of(log, ROUNDS, "T1") if isinstance(fact, RoundDecided)]
    assert [(fact.player, fact.banker, fact.winner) for fact in facts] == [
        (recorded.claim.player, recorded.claim.banker, recorded.claim.winner) for recorded in rounds
    ]
