"""Sees what a log commits and what Redis publishes, and remembers when: times are of this process's clock, in ms."""

import asyncio
import bisect
import contextlib
import time
from collections.abc import AsyncIterator
from typing import Any, Final, Protocol

import msgspec
import redis.asyncio
from aiokafka import TopicPartition

from bench.floor import APPENDED_HEADER, CHANNEL
from services.baccarat.events import ROUNDS, CardAssigned, CardDealt, RoundDecided
from services.dashboard.projection import PREFIX
from services.runtime import kafka_client as client
from services.runtime.codec import Codec, kinds_of
from services.runtime.paths import SCHEMAS
from services.runtime.settings import Settings

CODEC: Final = Codec()
DECIDED: Final = kinds_of(SCHEMAS)[RoundDecided].frame
DEALT: Final = kinds_of(SCHEMAS)[CardDealt].frame
ASSIGNED: Final = kinds_of(SCHEMAS)[CardAssigned].frame
QUIET_S: Final = 1.0


class News(msgspec.Struct, frozen=True):
    """Up to which record of a topic a table is in Redis."""

    table_id: str = ""
    topic: str = ""
    until: int = msgspec.field(default=-1, name="to")


class Form(Protocol):
    """How a log is read."""

    channels: str

    def answers(self, raw: Any) -> bool:
        """Whether it is the one record of `rounds` that every card comes to."""

    def appended_ms(self, raw: Any) -> int | None:
        """When the card behind a record of `rounds` was appended; None for a record that is not timed."""

    def news(self, said: bytes) -> News: ...


class OfServices:
    """Rounds that are decided, and the news of the dashboard."""

    def __init__(self, prefix: str) -> None:
        self.channels = f"{prefix}{PREFIX}:*news"

    def answers(self, raw: Any) -> bool:
        return bool(raw.value[: len(ASSIGNED)] == ASSIGNED)

    def appended_ms(self, raw: Any) -> int | None:
        """A fact's time is that of the record that caused it."""
        if raw.value[: len(DECIDED)] != DECIDED:
            return None
        fact = CODEC.decode(ROUNDS, raw.value)
        return fact.at_ms if isinstance(fact, RoundDecided) else None

    def news(self, said: bytes) -> News:
        return msgspec.json.decode(said, type=News)


class OfFloor:
    """Every copy."""

    def __init__(self, prefix: str) -> None:
        self.channels = prefix + CHANNEL

    def answers(self, raw: Any) -> bool:
        """What opens a table is copied too."""
        return bool(raw.value[: len(DEALT)] == DEALT)

    def appended_ms(self, raw: Any) -> int | None:
        return int(dict(raw.headers)[APPENDED_HEADER])

    def news(self, said: bytes) -> News:
        topic, table_id, offset = said.decode().split()
        return News(table_id, topic, int(offset))


class Sample(msgspec.Struct, frozen=True):
    """How long after its card a record was seen committed, and then in Redis."""

    committed_ms: float
    in_redis_ms: float


class Observer:
    """Of one log. `heard_s` is when anything was seen last, by `time.monotonic`; `answered` counts cards."""

    def __init__(self, form: Form) -> None:
        self.heard_s = time.monotonic()
        self.answered = 0
        self._form = form
        self._timed: list[tuple[str, int, int, float]] = []
        self._news: dict[str, list[tuple[int, float]]] = {}

    async def read(self, consumer: Any) -> None:
        """What is committed to `rounds`, for ever."""
        while True:
            found = await consumer.getmany(timeout_ms=1_000)
            now_ms = time.time() * 1_000
            for records in found.values():
                self.heard_s = time.monotonic()
                for raw in records:
                    self.answered += self._form.answers(raw)
                    if (appended_ms := self._form.appended_ms(raw)) is not None:
                        self._timed.append((raw.key.decode(), raw.offset, appended_ms, now_ms))

    async def listen(self, pubsub: Any) -> None:
        """What Redis publishes, for ever."""
        async for message in pubsub.listen():
            if message["type"] == "pmessage":
                news = self._form.news(message["data"])
                if news.topic:
                    self.heard_s = time.monotonic()
                if news.topic == ROUNDS:
                    self._news.setdefault(news.table_id, []).append((news.until, time.time() * 1_000))

    async def until_answered(self, cards: int, within_s: float) -> bool:
        """Until so many cards in all are answered and nothing more was seen for a moment; False if that took longer."""
        end = time.monotonic() + within_s
        while time.monotonic() < end:
            await asyncio.sleep(QUIET_S / 10)
            if self.answered >= cards and time.monotonic() > self.heard_s + QUIET_S:
                return True
        return False

    def samples(self, since_ms: float) -> list[Sample]:
        """Of cards that were appended since; what never came to Redis is not among them."""
        found = []
        for table_id, offset, appended_ms, seen_ms in self._timed:
            news = self._news.get(table_id, [])
            place = bisect.bisect_left(news, (offset, 0.0))
            if appended_ms >= since_ms and place < len(news):
                found.append(Sample(seen_ms - appended_ms, news[place][1] - appended_ms))
        return found

    def forget(self) -> None:
        self._timed.clear()
        self._news.clear()


@contextlib.asynccontextmanager
async def observing(settings: Settings, form: Form) -> AsyncIterator[Observer]:
    """From now on."""
    observer = Observer(form)
    consumer = client.new_consumer(settings, committed=True)
    await client.start(consumer)
    places = [TopicPartition(settings.topic_prefix + ROUNDS, number) for number in range(settings.partitions)]
    consumer.assign(places)
    for place in places:
        consumer.seek(place, 0)
    async with redis.asyncio.Redis.from_url(settings.redis, socket_timeout=None) as model, model.pubsub() as pubsub:
        await pubsub.psubscribe(form.channels)
        tasks = [asyncio.create_task(observer.read(consumer)), asyncio.create_task(observer.listen(pubsub))]
        try:
            yield observer
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
            await client.stop_consumer(consumer)
