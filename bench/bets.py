"""Bets through real Kafka: accepted and settled in transactions, beside the bare copy loop on the same broker.

The log is written first, as rules and customers would have; then settlement, or the copy loop, is started on it. A
rate is that of the log's bets from the first answer to the last.
"""

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from aiokafka import TopicPartition
from msgspec import Struct

from bench import feed
from bench.processes import FLOOR, PUNTO, running
from bench.servers import Servers, new_log
from services.baccarat.errors import NotReady
from services.baccarat.events import ROUNDS, SETTLEMENTS, Event, RoundDecided, RoundSettled
from services.rules import RULES
from services.runtime import kafka_client as client
from services.runtime.codec import Codec, kinds_of
from services.runtime.paths import SCHEMAS
from services.runtime.reading import partition_of
from services.runtime.restoring import BY_HEADER
from services.runtime.settings import Settings

CODEC: Final = Codec()
SETTLED: Final = kinds_of(SCHEMAS)[RoundSettled].frame
TABLES: Final = 24
AHEAD_MS: Final = 3_600_000  # the play's clock: appended now, every bet is in time
AT_ONCE: Final = 2_000
SIZES: Final = {1: 1_440, 10: 720, 1_000: 24}  # bets a round: rounds in all
WITHIN_S: Final = 120.0


class Play(Struct, frozen=True):
    """Records of both topics in their order, encoded; how many of them are bets, and how many rounds are settled."""

    records: tuple[tuple[str, str, bytes], ...]  # topic, table, value
    bets: int
    rounds: int


def play(bets_a_round: int, rounds_each: int) -> Play:
    """What rules and customers write, at every table."""
    begin_ms = int(time.time() * 1_000) + AHEAD_MS
    records = [
        (topic, f"T{number}", CODEC.encode(topic, event))
        for number in range(1, TABLES + 1)
        for topic, event in at_table(f"T{number}", bets_a_round, rounds_each, begin_ms)
    ]
    return Play(tuple(records), TABLES * rounds_each * bets_a_round, TABLES * rounds_each)


def at_table(table_id: str, bets_a_round: int, rounds_each: int, begin_ms: int) -> Iterator[tuple[str, Event]]:
    """One table, to the end of its last round."""
    decided = 0
    for facts, _ in feed.ruled(table_id, 1, begin_ms):
        decided += sum(isinstance(fact, RoundDecided) for fact in facts)
        yield from feed.heard(facts, bets_a_round if decided < rounds_each else 0)
        if decided == rounds_each:
            return
    raise AssertionError(f"a shoe has fewer than {rounds_each} rounds")


async def append(settings: Settings, records: Sequence[tuple[str, str, bytes]]) -> None:
    """In order, per partition, and with the header by which settlement knows what rules wrote."""
    producer = client.new_producer(settings, None)
    await client.start(producer)
    for begin in range(0, len(records), AT_ONCE):
        await client.all_of(
            [
                await producer.send(
                    settings.topic_prefix + topic,
                    value,
                    key=table_id.encode(),
                    partition=partition_of(table_id, settings.partitions),
                    headers=[(BY_HEADER, RULES.name.encode())] if topic == ROUNDS else [],
                )
                for topic, table_id, value in records[begin : begin + AT_ONCE]
            ]
        )
    await client.discard(producer)


async def answers(settings: Settings, counts: Callable[[Any], bool], wanted: int) -> float:
    """Seconds from the first answer in `settlements` to the last of the `wanted` ones that count."""
    consumer = client.new_consumer(settings, committed=True)
    await client.start(consumer)
    places = [TopicPartition(settings.topic_prefix + SETTLEMENTS, number) for number in range(settings.partitions)]
    consumer.assign(places)
    for place in places:
        consumer.seek(place, 0)
    began_s, found = 0.0, 0
    async with asyncio.timeout(WITHIN_S):
        while found < wanted:
            batch = await consumer.getmany(timeout_ms=1_000)
            began_s = began_s or (time.perf_counter() if batch else 0.0)
            found += sum(counts(raw) for records in batch.values() for raw in records)
    took_s = time.perf_counter() - began_s
    await client.stop_consumer(consumer)
    return took_s


def rate(at: Servers, name: str, played: Play) -> float:
    """Bets a second of one run on a log of its own."""
    settings = new_log(at, f"bets-{name}")
    how, wanted = (FLOOR, len(played.records)) if name == "floor" else (PUNTO, played.rounds)

    async def watch() -> float:
        await append(settings, played.records)
        watching = asyncio.create_task(
            answers(settings, lambda raw: name == "floor" or raw.value[: len(SETTLED)] == SETTLED, wanted)
        )
        with running(how, ("settlement",), settings) as (settlement,):
            try:
                return await watching
            except TimeoutError:
                letters = settlement.counted("dead_letters")
                raise NotReady(f"bets: not settled within {WITHIN_S:.0f} s, {letters} dead letters") from None

    return played.bets / asyncio.run(watch())


def report(at: Servers, turns: int, share: int, say: Callable[[str], None]) -> None:
    """Says a line for each number of bets a round; `share` makes the logs so many times shorter."""
    for bets_a_round, rounds_in_all in SIZES.items():
        rounds_each = max(1, rounds_in_all // TABLES // share)
        played = play(bets_a_round, rounds_each)
        rates: dict[str, list[float]] = {"floor": [], "punto": []}
        for turn in range(turns):
            for name in sorted(rates, reverse=bool(turn % 2)):
                rates[name].append(rate(at, name, played))
        punto, floor = max(rates["punto"]), max(rates["floor"])
        say(
            f"bets through Kafka   {punto:>10,.0f} bets/s at {bets_a_round:,} a round   floor {floor:,.0f}"
            f"   ratio {punto / floor:.2f}   ({played.bets:,} bets at {TABLES} tables)"
        )
