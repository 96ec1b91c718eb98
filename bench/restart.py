"""A thousand tables on Kafka: the memory each takes, and the time to be back after SIGKILL."""

import asyncio
import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any, Final

from aiokafka import TopicPartition

from bench.dealer import Dealer
from bench.processes import PUNTO, Process, running
from bench.servers import Servers, new_log
from services.baccarat.events import ROUNDS, SETTLEMENTS
from services.runtime import kafka_client as client
from services.runtime.settings import Settings

SERVICES: Final = ("rules", "settlement")
INSTANCE: Final = "1"  # a name that outlives the process: the group gives its tables back at once
QUIET_S: Final = 1.5
SNAPSHOTS_WITHIN_S: Final = 120.0
PLAYED_ON_S: Final = 5.0  # at a time
WITHIN_S: Final = 60.0


def report(at: Servers, tables: int, cards: int, say: Callable[[str], None]) -> None:
    """Says a line a figure, after `cards` cards at each table."""
    settings = new_log(at, "restart")
    with ExitStack() as stack:
        dealer = stack.enter_context(Dealer(at.kafka))
        dealer.tell("log", settings.topic_prefix)
        first = stack.enter_context(running(PUNTO, SERVICES, settings, INSTANCE))
        empty = [process.resident_bytes for process in first]
        dealer.tell("log", tables, "burst", cards)
        asyncio.run(until_quiet(settings))
        play_on(dealer, tables, first, settings.partitions)
        for process in first:
            process.kill()
        began_s = time.perf_counter()
        again = [Process(PUNTO, name, settings, INSTANCE) for name in SERVICES]
        for process in again:
            stack.callback(process.end)
        for process in again:
            process.until_ready()
        ready_s = time.perf_counter() - began_s
        asyncio.run(until_answered(settings, dealer, tables))
        answered_s = time.perf_counter() - began_s
        say(
            f"back after SIGKILL   {ready_s:>8.1f} s to be ready, {answered_s:.1f} s until every table has answered a"
            f" card   ({tables:,} tables, both services at once, in play, a snapshot every 30 s)"
        )
        for process, before in zip(again, empty, strict=True):
            each = (process.resident_bytes - before) / tables / 1024
            say(
                f"memory of {process.name:<10} {each:>8.1f} KiB a table   ({before / 1024**2:.0f} MiB empty,"
                f" {process.resident_bytes / 1024**2:.0f} MiB with {tables:,} tables, no bets, after a restart)"
            )


def play_on(dealer: Dealer, tables: int, processes: list[Process], partitions: int) -> None:
    """Until each partition has written another snapshot: the kill comes anywhere between two of them."""
    wanted = [process.counted("snapshots") + partitions for process in processes]
    end = time.monotonic() + SNAPSHOTS_WITHIN_S
    while any(one.counted("snapshots") < many for one, many in zip(processes, wanted, strict=True)):
        assert time.monotonic() < end, "no snapshots"
        dealer.tell("log", tables, PLAYED_ON_S)


async def facts(settings: Settings, topic: str) -> Any:
    """A consumer at the end of all partitions of a topic."""
    consumer = client.new_consumer(settings, committed=True)
    await client.start(consumer)
    places = [TopicPartition(settings.topic_prefix + topic, number) for number in range(settings.partitions)]
    consumer.assign(places)
    ends = await consumer.end_offsets(places)
    for place in places:
        consumer.seek(place, ends[place])
    return consumer


async def until_quiet(settings: Settings) -> None:
    """Until settlement has nothing more to say."""
    consumer = await facts(settings, SETTLEMENTS)
    while await consumer.getmany(timeout_ms=int(1_000 * QUIET_S)):
        pass
    await client.stop_consumer(consumer)


async def until_answered(settings: Settings, dealer: Dealer, tables: int) -> None:
    """A card at every table, and what rules say to it."""
    consumer = await facts(settings, ROUNDS)
    answered: set[bytes] = set()
    await asyncio.to_thread(dealer.tell, "log", tables, "burst", 1)
    async with asyncio.timeout(WITHIN_S):
        while len(answered) < tables:
            found = await consumer.getmany(timeout_ms=1_000)
            answered |= {raw.key for records in found.values() for raw in records}
    await client.stop_consumer(consumer)
