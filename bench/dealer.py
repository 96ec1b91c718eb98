"""Appends cards as a process of its own: `python -m bench.dealer`, told what to do a line at a time.

`NAME PREFIX` makes a log known; `NAME TABLES SECONDS` deals a card a second at each of its first TABLES tables, evenly
spread; `NAME TABLES burst CARDS` deals as many to each as fast as it goes. It answers a line: how many it appended, in
how many seconds.
"""

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any, Self

from bench import feed
from bench.processes import ROOT
from services.baccarat.events import TABLE_FEED, CardDealt, Event
from services.runtime import kafka_client as client
from services.runtime.codec import Codec
from services.runtime.reading import partition_of
from services.runtime.settings import Settings, read

CODEC = Codec()
SLOTS_A_S = 200  # how often it wakes up at most


class Tables:
    """The tables of one log."""

    def __init__(self, settings: Settings, producer: Any) -> None:
        self._settings = settings
        self._producer = producer
        self._shoes: list[Iterator[CardDealt]] = []

    async def open(self, tables: int) -> None:
        """Up to so many tables in all."""
        more = [f"T{number}" for number in range(len(self._shoes) + 1, tables + 1)]
        await client.all_of([await self._send(event) for table in more for event in feed.opening(table)])
        self._shoes += [feed.cards(table, 1) for table in more]

    async def deal(self, tables: int, seconds: float) -> int:
        """A card a second a table."""
        total, sent = int(tables * seconds), 0
        began = time.perf_counter()
        futures: list[asyncio.Future[Any]] = []
        while sent < total:
            due = min(total, int((time.perf_counter() - began) * tables) + 1)
            futures += [await self._send(next(self._shoes[number % tables])) for number in range(sent, due)]
            sent = due
            await asyncio.sleep(max(1 / SLOTS_A_S, began + sent / tables - time.perf_counter()))
        await client.all_of(futures)
        return sent

    async def burst(self, tables: int, cards: int) -> int:
        """A card to each table, and again."""
        for _ in range(cards):
            await client.all_of([await self._send(next(shoe)) for shoe in self._shoes[:tables]])
        return tables * cards

    async def _send(self, event: Event) -> asyncio.Future[Any]:
        partition = partition_of(event.table_id, self._settings.partitions)
        topic = self._settings.topic_prefix + TABLE_FEED
        value = CODEC.encode(TABLE_FEED, event)
        future: asyncio.Future[Any] = await self._producer.send(
            topic, value, key=event.table_id.encode(), partition=partition
        )
        return future


async def obey() -> None:
    """Until the commands end."""
    settings = read(os.environ)
    producer = client.new_producer(settings, None)
    await client.start(producer)
    known: dict[str, Tables] = {}
    while line := await asyncio.to_thread(sys.stdin.readline):
        name, *what = line.split()
        began = time.perf_counter()
        match what:
            case [prefix]:
                log = Settings(kafka=settings.kafka, topic_prefix=prefix, partitions=settings.partitions)
                known[name], sent = Tables(log, producer), 0
            case [tables, "burst", cards]:
                await known[name].open(int(tables))
                sent = await known[name].burst(int(tables), int(cards))
            case [tables, seconds]:
                await known[name].open(int(tables))
                began = time.perf_counter()
                sent = await known[name].deal(int(tables), float(seconds))
            case _:
                raise ValueError(f"not understood: {line!r}")
        print(sent, time.perf_counter() - began, flush=True)
    await client.discard(producer)


class Dealer:
    """The process, from outside; as a context it ends with it."""

    def __init__(self, kafka: str) -> None:
        self._process = subprocess.Popen(
            (sys.executable, "-m", "bench.dealer"),
            cwd=ROOT,
            env={**os.environ, "KAFKA_BOOTSTRAP_SERVERS": kafka},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def tell(self, *words: object) -> tuple[int, float]:
        """How many cards it appended, in how many seconds."""
        commands, answers = self._process.stdin, self._process.stdout
        if commands is None or answers is None:
            raise ValueError("the dealer has no ends")
        commands.write(" ".join(map(str, words)) + "\n")
        commands.flush()
        sent, took_s = answers.readline().split()
        return int(sent), float(took_s)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()


if __name__ == "__main__":
    asyncio.run(obey())
