"""Through real Kafka: how long after its card a round is decided and shown, and how many cards are too many.

Services and floor run side by side on one broker and are dealt to in turn; only one of them has work at a time.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Final

from bench.dealer import Dealer
from bench.observer import Observer, OfFloor, OfServices, Sample, observing
from bench.processes import FLOOR, PUNTO, Process, running
from bench.servers import Servers, new_log
from services.runtime.settings import Settings

SERVICES: Final = ("rules", "settlement", "dashboard")
TABLES: Final = (1, 50, 500, 1_000)
WARM_MS: Final = 1_000  # of each turn, before anything counts
OPENING_S: Final = 3.0  # for tables to open, in which nothing is measured
LAG_S: Final = 90.0
BURST_CARDS: Final = 15  # a table
WARM_TABLES: Final = 200
WARM_CARDS: Final = 60  # a table, before anything is measured
FEW: Final = 8  # tables that need longer, or there is nothing to count


def report(at: Servers, tables: Sequence[int], seconds: float, turns: int, say: Callable[[str], None]) -> None:
    """Says a line a figure."""
    floor, live = new_log(at, "floor"), new_log(at, "live")
    with (
        running(FLOOR, SERVICES, floor) as copying,
        running(PUNTO, SERVICES, live) as serving,
        Dealer(at.kafka) as dealer,
    ):
        dealer.tell("floor", floor.topic_prefix)
        dealer.tell("punto", live.topic_prefix)
        processes = {"floor": copying, "punto": serving}
        asyncio.run(measure(dealer, floor, live, processes, tables, seconds, turns, say))
        for process in serving:
            if troubles := process.counted("troubles"):
                say(f"  {process.name} started over {troubles} times: this machine was too busy to be measured on")


async def measure(
    dealer: Dealer,
    floor: Settings,
    live: Settings,
    processes: Mapping[str, Sequence[Process]],
    tables: Sequence[int],
    seconds: float,
    turns: int,
    say: Callable[[str], None],
) -> None:
    """Both are observed from before the first card."""
    async with (
        observing(floor, OfFloor(floor.topic_prefix)) as of_floor,
        observing(live, OfServices(live.topic_prefix)) as of_services,
    ):
        seen = {"floor": of_floor, "punto": of_services}
        for name, observer in seen.items():  # or the first turn is that of a broker whose code is still compiled
            sent, _ = await asyncio.to_thread(dealer.tell, name, WARM_TABLES, "burst", WARM_CARDS)
            await observer.until_answered(sent, LAG_S)
        for count in tables:
            async for line in latencies(dealer, seen, count, seconds * (4 if count < FEW else 1), turns):
                say(line)
        async for line in saturation(dealer, seen, processes, max(tables), turns):
            say(line)


async def latencies(
    dealer: Dealer, seen: Mapping[str, Observer], tables: int, seconds: float, turns: int
) -> AsyncIterator[str]:
    """In turn the floor and the services, at a card a second a table."""
    samples: dict[str, list[Sample]] = {name: [] for name in seen}
    pace = dict.fromkeys(seen, 0.0)
    for name in seen:
        await asyncio.to_thread(dealer.tell, name, tables, 0)
        await asyncio.sleep(OPENING_S)
    for turn in range(turns):
        for name in sorted(seen, reverse=bool(turn % 2)):
            observer = seen[name]
            observer.forget()
            since_ms = time.time() * 1_000 + WARM_MS
            wanted = observer.answered
            sent, took_s = await asyncio.to_thread(dealer.tell, name, tables, seconds + WARM_MS / 1_000)
            if not await observer.until_answered(wanted + sent, LAG_S):
                yield f"Kafka, {tables:>5,} tables: {name} had not answered all cards {LAG_S:.0f} s after the last"
            samples[name] += observer.samples(since_ms)
            pace[name] = sent / took_s
    yield f"Kafka, {tables:>5,} tables, {pace['punto']:,.0f} cards/s; p50 / p99 in ms after the card was appended"
    for what in ("committed_ms", "in_redis_ms"):
        floor, punto = (sorted(getattr(one, what) for one in samples[name]) for name in ("floor", "punto"))
        yield f"  {WORDS[what]:<28} {compared(punto, floor)}"


WORDS: Final = {"committed_ms": "RoundDecided committed", "in_redis_ms": "Redis written"}


def compared(punto: list[float], floor: list[float]) -> str:
    """Both, and how many times the floor."""
    if not punto or not floor:
        return "nothing came"
    of, by = (percentile(punto, 50), percentile(punto, 99)), (percentile(floor, 50), percentile(floor, 99))
    ratios = " / ".join(f"{one / other:.2f}" for one, other in zip(of, by, strict=True))
    return (
        f"{of[0]:>7,.1f} / {of[1]:>7,.1f}   floor {by[0]:>7,.1f} / {by[1]:>7,.1f}   ratio {ratios}"
        f"   ({len(punto):,} rounds, {len(floor):,} copies)"
    )


def percentile(ordered: Sequence[float], per_cent: int) -> float:
    """The nearest rank."""
    return ordered[min(len(ordered) - 1, len(ordered) * per_cent // 100)]


async def saturation(
    dealer: Dealer,
    seen: Mapping[str, Observer],
    processes: Mapping[str, Sequence[Process]],
    tables: int,
    turns: int,
) -> AsyncIterator[str]:
    """As many cards as fast as they can be appended, until the last of them is in Redis; and what a card costs."""
    best = dict.fromkeys(seen, 0.0)
    spent_s: dict[str, list[float]] = {name: [0.0] * len(SERVICES) for name in seen}
    cards = dict.fromkeys(seen, 0)
    for turn in range(turns):
        for name in sorted(seen, reverse=bool(turn % 2)):
            began_s, wanted = time.monotonic(), seen[name].answered
            before = [process.cpu_s for process in processes[name]]
            sent, _ = await asyncio.to_thread(dealer.tell, name, tables, "burst", BURST_CARDS)
            if not await seen[name].until_answered(wanted + sent, LAG_S):
                yield f"Kafka, {tables:,} tables: {name} had not answered {sent:,} cards at once after {LAG_S:.0f} s"
                return
            best[name] = max(best[name], sent / (seen[name].heard_s - began_s))
            cards[name] += sent
            for number, (process, then_s) in enumerate(zip(processes[name], before, strict=True)):
                spent_s[name][number] += process.cpu_s - then_s
            seen[name].forget()
    yield (
        f"Kafka saturates at {best['punto']:,.0f} cards/s, all hops and Redis   floor {best['floor']:,.0f}"
        f"   ratio {best['punto'] / best['floor']:.2f}   ({tables:,} tables)"
    )
    for number, service in enumerate(SERVICES):
        punto, floor = (1_000_000 * spent_s[name][number] / cards[name] for name in ("punto", "floor"))
        cost = f"{punto:>6,.0f} us a card   floor {floor:,.0f}   ratio {punto / floor:.2f}"
        yield f"  processor time of {service:<10} {cost}"
