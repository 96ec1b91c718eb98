"""The embedded runtime end to end: appended, ruled, settled and durable, in one process on one file."""

import asyncio
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from services.baccarat.events import BETS, EVENTS_OF, SETTLEMENTS, TABLE_FEED, BetPlaced, Event
from services.rules import RULES
from services.runtime.embedded import EmbeddedLog
from services.runtime.processor import Processor
from services.settlement import SETTLEMENT
from tests.runtime.plays import Step, play

BOTH: tuple[Processor[Any], ...] = (RULES, SETTLEMENT)
TABLES = (1, 4, 50, 200)
INPUTS = 8_000
ALONE = 300  # bets, one after another


def report() -> Iterator[str]:
    """A line a figure."""
    for tables in TABLES:
        rounds_each = max(4, INPUTS // (tables * 15))
        with tempfile.TemporaryDirectory() as folder:
            yield from asyncio.run(end_to_end(Path(folder) / "log.db", play(1, tables, rounds_each), tables))


async def end_to_end(path: Path, steps: Sequence[Step], tables: int) -> list[str]:
    """A play as fast as it goes, each table's part of a step appended by itself; then a restart, and bets alone."""
    now_ms = steps[0].sent[0][2]
    with EmbeddedLog(path, clock=lambda: now_ms) as log:
        stop = asyncio.Event()
        run = asyncio.create_task(log.run(BOTH, stop))
        began, began_cpu = time.perf_counter(), time.process_time()
        for step in steps:
            now_ms = step.sent[0][2]
            await asyncio.gather(*(log.append(topic, events) for topic, events in by_table(step)))
            await log.caught_up(BOTH)
        took_s, cpu_s = time.perf_counter() - began, time.process_time() - began_cpu
        ends = {topic: sum([await log.end(topic, p) for p in range(log.partitions)]) for topic in EVENTS_OF}
        waits_ms = sorted([await one_bet(log, number) for number in range(ALONE)])
        run.cancel()  # no snapshot is left behind
    back_s = await restart(path)
    events, inputs = sum(ends.values()), sum(len(step.sent) for step in steps)
    rates = f"{events / took_s:>10,.0f} events/s end to end, {events / cpu_s:,.0f} a second of its core"
    answer = f"{waits_ms[ALONE // 2]:.1f} ms p50, {waits_ms[ALONE * 99 // 100]:.1f} ms p99 from a bet to its answer"
    back = f"{1_000 * back_s:,.0f} ms to be back from {ends[SETTLEMENTS]:,} facts without a snapshot"
    return [
        f"embedded, {tables:>3} tables {rates} ({inputs:,} inputs, {events:,} events)",
        f"                      {answer}, {back}",
    ]


def by_table(step: Step) -> Iterator[tuple[str, list[Event]]]:
    """What belongs together, in order."""
    parts: dict[tuple[str, str], list[Event]] = {}
    for topic, event, _ in step.sent:
        parts.setdefault((topic, event.table_id), []).append(event)
    for (topic, _), events in sorted(parts.items(), key=lambda part: part[0][0] != TABLE_FEED):
        yield topic, events


async def one_bet(log: EmbeddedLog, number: int) -> float:
    """How long a customer waits for the answer, in ms, nobody else betting; the round is long gone, and it says so."""
    places = {(SETTLEMENTS, p): await log.end(SETTLEMENTS, p) for p in range(log.partitions)}
    bet = BetPlaced(
        event_id=f"T1/0/0/bench-{number}/placed",
        table_id="T1",
        bet_id=f"bench-{number}",
        customer_id="bench",
        shoe_no=0,
        round_no=0,
        bet="player",
        stake_minor=1_000,
        currency="EUR",
    )
    began = time.perf_counter()
    async with log.reader(places) as reader:
        await log.append(BETS, [bet])
        if not await reader.next(10_000):
            raise AssertionError("a bet was not answered")
    return (time.perf_counter() - began) * 1_000


async def restart(path: Path) -> float:
    """From opening the file to the first answer, in seconds."""
    began = time.perf_counter()
    with EmbeddedLog(path) as log:
        stop = asyncio.Event()
        run = asyncio.create_task(log.run(BOTH, stop))
        await one_bet(log, ALONE)
        took_s = time.perf_counter() - began
        stop.set()
        await run
    return took_s


if __name__ == "__main__":
    for line in report():
        print(line)
