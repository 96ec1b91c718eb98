"""A hundred public rounds as one recorded shoe at tables of all four games: scanner, rules, settlement, read model.

A house of one dealer and two customers a table watches the log: the dealer opens a round, the customers back every
field, the dealer closes when all is accepted, the scanner deals. What it should come to is worked out from the file and
the rulebook alone.
"""

import asyncio
import csv
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct
from msgspec.structs import asdict, replace

from services.baccarat import catalogue
from services.baccarat.events import (
    BETS,
    ROUNDS,
    SETTLEMENTS,
    TABLE_FEED,
    BetAccepted,
    BetPlaced,
    BetSettled,
    BettingOpened,
    Configuration,
    DealerClosedBetting,
    DealerEndedShoe,
    DealerOpenedBetting,
    Event,
    InputNoted,
    RoundDecided,
    RoundSettled,
    ShoeOpened,
    TableConfigured,
)
from services.card_scanner import recorded_csv
from services.card_scanner.motor import Pace
from services.card_scanner.scanner import scan, wall_clock_ms
from services.card_scanner.sources import Source, recorded
from services.dashboard.projection import project
from services.dashboard.redis_model import connected
from services.dashboard.rounds_view import RoundsView
from services.dashboard.settlements_view import SettlementsView
from services.replay.facts import audit, facts_of
from services.rules import RULES
from services.runtime.codec import Codec
from services.runtime.embedded import EmbeddedLog
from services.runtime.kafka_log import open_log
from services.runtime.log import Log
from services.runtime.reading import read_record
from services.runtime.service import learning, registered, run_processor, run_with_log
from services.runtime.settings import Settings
from services.settlement import SETTLEMENT
from tests.baccarat import oracle
from tests.dashboard.conftest import shown, until
from tests.runtime.harness import BOTH, EmbeddedHarness, everything
from tests.runtime.kafka_harness import KafkaHarness
from tests.runtime.reference import FACTS, Raw, Told, told_by, told_in, unbalanced

WITHIN_S = 480.0
WINDOW_MS = 3_600_000  # nothing closes by time
WAITS = Pace(card_ms=0, burn_ms=0, shoe_ms=0, breath_ms=0)  # for the dealer's close, and for nothing else
VARIANTS = ("classic", "classic-tie-9", "super-6", "ez")
ROUNDINGS: Mapping[str, tuple[str, str]] = {  # of winnings and of commission
    "classic": ("down", "half_up"),
    "classic-tie-9": ("down", "half_even"),
    "super-6": ("up", "half_up"),
    "ez": ("down", "up"),
}
CUSTOMERS = ("ann", "bob")
Row = Mapping[str, str]


def configuration(slug: str) -> Configuration:
    winnings, commission = ROUNDINGS[slug]
    return replace(
        catalogue.configuration(slug, decks=12),
        betting="dealer",
        betting_window_ms=WINDOW_MS,
        burn_rule="none",
        winnings_rounding=winnings,
        commission_rounding=commission,
    )


def stake_of(round_no: int, place: int) -> int:
    """Odd, and of every remainder that a twentieth and a half can leave."""
    return 101 + 2 * (round_no * 7 + place * 13)


class Table:
    """One table as its dealer and its customers see it: each fact may call for something to be said."""

    def __init__(self, table_id: str, slug: str, rounds: int) -> None:
        self.table_id = table_id
        self.slug = slug
        self.rounds = rounds
        self.over = False
        self._open: set[str] = set()
        self._actions = count(1)

    def begin(self) -> TableConfigured:
        return TableConfigured(
            event_id=f"{self.table_id}/configuration/1",
            table_id=self.table_id,
            version=1,
            configuration=configuration(self.slug),
            by="carol",
        )

    def answer(self, fact: Event | None) -> tuple[str, list[Event]] | None:
        """What is now to be said, and in which topic."""
        match fact:
            case ShoeOpened():
                return TABLE_FEED, [DealerOpenedBetting(**self._action(), shoe_no=1, round_no=1)]
            case BettingOpened():
                bets = [*self._bets(fact.round_no)]
                self._open = {bet.bet_id for bet in bets}
                return BETS, [*bets]
            case BetAccepted():
                self._open.discard(fact.bet_id)
                while wall_clock_ms() <= fact.at_ms:  # a bet counts only if it was appended before the close
                    pass
                if not self._open:
                    return TABLE_FEED, [DealerClosedBetting(**self._action(), shoe_no=1, round_no=fact.round_no)]
            case RoundDecided() if fact.round_no < self.rounds:
                return TABLE_FEED, [DealerOpenedBetting(**self._action(), shoe_no=1, round_no=fact.round_no + 1)]
            case RoundDecided():
                return TABLE_FEED, [DealerEndedShoe(**self._action(), shoe_no=1)]
            case InputNoted(what="shoe-claimed"):
                self.over = True
            case _:
                pass
        return None

    def _bets(self, round_no: int) -> Iterator[BetPlaced]:
        backed = [(customer, terms.bet) for customer in CUSTOMERS for terms in configuration(self.slug).pay_table]
        for place, (customer, bet) in enumerate(backed):
            yield BetPlaced(
                event_id=f"{self.table_id}/{round_no}/{customer}/{bet}",
                table_id=self.table_id,
                bet_id=f"{customer}-{bet}",
                customer_id=customer,
                shoe_no=1,
                round_no=round_no,
                bet=bet,
                stake_minor=stake_of(round_no, place),
                currency="EUR",
            )

    def _action(self) -> dict[str, str]:
        action_id = f"{self.table_id}-{next(self._actions)}"
        return {
            "event_id": f"{self.table_id}/action/{action_id}",
            "table_id": self.table_id,
            "action_id": action_id,
            "by": "carol",
        }


async def keep_house(log: Log, tables: Mapping[str, Table]) -> None:
    """Until every table's shoe is over and settled."""
    await log.append(TABLE_FEED, [table.begin() for table in tables.values()])
    places = {(topic, partition): 0 for topic in (ROUNDS, SETTLEMENTS) for partition in range(log.partitions)}
    async with log.reader(places) as reader:
        while not all(table.over for table in tables.values()):
            said: dict[str, list[Event]] = {}
            for record in await reader.next(1_000):
                if (answer := tables[record.key].answer(record.event)) is not None:
                    said.setdefault(answer[0], []).extend(answer[1])
            for topic, events in said.items():
                await log.append(topic, events)


# ---------------------------------------------------------------- what it should come to


class Recorded(Struct, frozen=True):
    """The file: as the rows that anybody reads, and as the scanner's source."""

    rows: Sequence[Row]
    source: Source

    def tables(self) -> dict[str, Table]:
        return {f"T{number}": Table(f"T{number}", slug, len(self.rows)) for number, slug in enumerate(VARIANTS, 1)}


@pytest.fixture
def recording(shared: Path) -> Recorded:
    path = shared / "recordings" / "xsgu_single.csv"
    with path.open(newline="") as file:
        rows = [*csv.DictReader(file)]
    assert len(rows) == 100
    return Recorded(rows, recorded(recorded_csv.as_recording(recorded_csv.read(path), decks=12)))


def cards_of(row: Row, hand: str) -> list[str]:
    return [row[f"{hand} card {place}"] for place in (1, 2, 3) if row[f"{hand} card {place}"] != "NA"]


def hands_of(row: Row) -> tuple[list[str], list[str], str, str, str, set[str]]:
    """Cards, totals, winner and pairs, as recorded."""
    pairs = {
        hand for hand in ("Player", "Banker") if hand in row["Pair outcome"] or row["Pair outcome"].startswith("Both")
    }
    totals = row["Player total"], row["Banker total"]
    return cards_of(row, "Player"), cards_of(row, "Banker"), *totals, row["Winner"].lower(), pairs


def ruled(fact: RoundDecided) -> tuple[list[str], list[str], str, str, str, set[str]]:
    """The same of a fact."""
    player, banker = ([card.rank for card in hand] for hand in (fact.player, fact.banker))
    pairs = {name for name, hand in (("Player", player), ("Banker", banker)) if hand[0] == hand[1]}
    return player, banker, str(fact.player_total), str(fact.banker_total), fact.winner.value, pairs


def due(table: Table, rows: Sequence[Row]) -> dict[tuple[int, str], tuple[int, int, int, int]]:
    """Of every bet by round and id: stake, winnings, commission and return, from the rulebook alone."""
    backed = [(customer, bet) for customer in CUSTOMERS for bet in oracle.BETS]
    return {
        (round_no, f"{customer}-{bet}"): (
            stake_of(round_no, place),
            *oracle.comes_to(
                table.slug,
                bet,
                stake_of(round_no, place),
                cards_of(row, "Player"),
                cards_of(row, "Banker"),
                *ROUNDINGS[table.slug],
            ),
        )
        for round_no, row in enumerate(rows, start=1)
        for place, (customer, bet) in enumerate(backed)
    }


def facts_at(told: Told, topic: str, table_id: str, kind: type[Event]) -> list[Event]:
    found = [fact for _, fact in told[topic] if isinstance(fact, kind) and fact.table_id == table_id]
    return sorted(found, key=lambda fact: (getattr(fact, "round_no", 0), fact.event_id))


def judge_table(told: Told, table: Table, rows: Sequence[Row]) -> int:
    """The cards and the money of one table are as recorded and as the oracle says; the last round's house win."""
    decided = facts_at(told, ROUNDS, table.table_id, RoundDecided)
    assert [ruled(fact) for fact in decided if isinstance(fact, RoundDecided)] == [hands_of(row) for row in rows]
    settled = facts_at(told, SETTLEMENTS, table.table_id, BetSettled)
    paid = {
        (fact.round_no, fact.bet_id): (
            fact.stake_minor,
            fact.winnings_minor,
            fact.commission_minor,
            fact.return_minor,
        )
        for fact in settled
        if isinstance(fact, BetSettled)
    }
    wanted = due(table, rows)
    assert len(settled) == len(wanted) == len(rows) * len(CUSTOMERS) * len(configuration(table.slug).pay_table)
    assert paid == wanted
    won = {}
    for fact in facts_at(told, SETTLEMENTS, table.table_id, RoundSettled):
        assert isinstance(fact, RoundSettled)
        amounts = [bet for (round_no, _), bet in wanted.items() if round_no == fact.round_no]
        won[fact.round_no] = sum(bet[0] - bet[3] for bet in amounts)
        assert (fact.stakes_minor, fact.commission_minor, fact.house_win_minor) == (
            sum(bet[0] for bet in amounts),
            sum(bet[2] for bet in amounts),
            won[fact.round_no],
        )
    assert [*won] == [*range(1, len(rows) + 1)]
    return won[len(rows)]


def judge(log: Mapping[str, Sequence[Raw]], codec: Codec, partitions: int) -> Told:
    """What the log says, if its recorded inputs, decided again in memory, come to the same."""
    told = told_in((raw for topic in FACTS for raw in log[topic]), codec.decode)
    records = [
        read_record(
            codec, raw.topic, raw.partition, partitions, raw.offset, raw.at_ms or 0, raw.stamped, raw.key, raw.value
        )
        for of_topic in log.values()
        for raw in of_topic
    ]
    again = told_by((written.topic, written.event) for written in facts_of(records, codec.encode))
    for topic in FACTS:
        assert dict(told[topic]) == dict(again[topic]), topic
        assert told[topic] == again[topic], f"a fact of {topic} stands there twice"
    found = audit(records, codec.encode)
    assert (found.differences, found.pending) == ((), 0)
    return told


async def judge_pages(told: Told, tables: Iterable[Table], rows: Sequence[Row], redis_url: str, prefix: str) -> None:
    """The money adds up, and Redis shows the last round, what it came to for the house, and the sums of the shoe."""
    assert unbalanced(told) == []
    async with connected(redis_url) as redis:
        for table in tables:
            house_win = judge_table(told, table, rows)
            views = await shown(redis, prefix, table.table_id)
            played, paid = views[ROUNDS], views[SETTLEMENTS]
            assert isinstance(played, RoundsView)
            assert isinstance(paid, SettlementsView)
            assert played.last is not None
            assert paid.last is not None
            _, _, player_total, banker_total, winner, _ = hands_of(rows[-1])
            assert (played.last.round_no, str(played.last.player_total), str(played.last.banker_total)) == (
                len(rows),
                player_total,
                banker_total,
            )
            assert played.last.winner == winner
            assert (paid.last.round_no, paid.last.house_win_minor) == (len(rows), house_win)
            assert paid.total.rounds == len(rows)
            assert paid.total.house_win_minor == sum(bet[0] - bet[3] for bet in due(table, rows).values())


async def until_pages_tell(tables: Iterable[str], redis_url: str, prefix: str, last_round: int) -> None:
    async with connected(redis_url) as redis:
        for table_id in tables:

            async def stands(table_id: str = table_id) -> bool:
                paid = (await shown(redis, prefix, table_id)).get(SETTLEMENTS)
                return isinstance(paid, SettlementsView) and paid.last is not None and paid.last.round_no == last_round

            await until(stands, f"{table_id} shown with round {last_round} settled")


# ---------------------------------------------------------------- on both runtimes

Work = Callable[[Log, asyncio.Event], Coroutine[Any, Any, None]]


def deals(recording: Recorded, tables: Iterable[str], folder: Path) -> Work:
    sources = dict.fromkeys(tables, recording.source)

    async def deal(log: Log, stop: asyncio.Event) -> None:
        await scan(log, sources, state_dir=folder / "shoes", pace=WAITS, stop=stop)
        await stop.wait()

    return deal


def shows(redis_url: str, prefix: str) -> Work:
    async def show(log: Log, stop: asyncio.Event) -> None:
        await project(log, redis_url, stop, lambda _: None, prefix=prefix)

    return show


@pytest.mark.slow
@pytest.mark.timeout(600)
async def test_through_kafka_with_a_registry(
    recording: Recorded, kafka: str, registry: str, redis_url: str, prefix: str, tmp_path: Path
) -> None:
    harness = KafkaHarness(kafka, prefix)
    await harness.prepare()
    tables, stop = recording.tables(), asyncio.Event()
    changed = {"registry": registry, "redis": redis_url, "snapshot_every_ms": 5_000}
    settings = Settings(**asdict(harness.settings) | changed)
    known, codec = await asyncio.to_thread(registered, settings)
    with known:
        async with asyncio.timeout(WITHIN_S), asyncio.TaskGroup() as services:
            for processor in BOTH:
                services.create_task(run_processor(processor, settings, stop))
            for name, work in {
                "card-scanner": deals(recording, tables, tmp_path),
                "dashboard": shows(redis_url, prefix),
            }.items():
                services.create_task(run_with_log(name, settings, stop, work))
            async with open_log(settings, codec, learn=learning(known, codec)) as log:
                await keep_house(log, tables)
            await until_pages_tell(tables, redis_url, prefix, len(recording.rows))
            stop.set()
    read = everything(harness)
    assert {raw.value[:1] for of_topic in read.values() for raw in of_topic if raw.value} == {b"\x00"}
    told = judge(read, codec, harness.partitions)
    await judge_pages(told, tables.values(), recording.rows, redis_url, prefix)
    await harness.close()


async def test_embedded(recording: Recorded, redis_url: str, prefix: str, tmp_path: Path) -> None:
    harness = EmbeddedHarness(tmp_path)
    tables, stop = recording.tables(), asyncio.Event()
    with EmbeddedLog(harness.path, harness.partitions) as log:
        async with asyncio.timeout(WITHIN_S), asyncio.TaskGroup() as services:
            services.create_task(log.run((RULES, SETTLEMENT), stop))
            for work in (deals(recording, tables, tmp_path), shows(redis_url, prefix)):
                services.create_task(work(log, stop))
            await keep_house(log, tables)
            await until_pages_tell(tables, redis_url, prefix, len(recording.rows))
            stop.set()
    told = judge(everything(harness), Codec(), harness.partitions)
    await judge_pages(told, tables.values(), recording.rows, redis_url, prefix)
