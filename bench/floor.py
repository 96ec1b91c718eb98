"""The floor: the same hops by the same pattern as the services, copying bytes and deciding nothing.

`python -m bench.floor rules|settlement|dashboard` reads and writes the topics of the service whose name it has. One
task a partition with a transactional id, a consumer of its own per input, one transaction a drained batch with the
positions in it, the same rest; the last hop writes every value to Redis and publishes where it lay.
"""

import asyncio
import os
import sys
from collections import deque
from collections.abc import Mapping
from itertools import islice
from typing import Any, Final

import redis.asyncio
from aiokafka import OffsetAndMetadata, TopicPartition
from msgspec import Struct

from services.baccarat.events import BETS, ROUNDS, SETTLEMENTS, TABLE_FEED
from services.runtime import kafka_client as client
from services.runtime.health import STARTING, Health, serving
from services.runtime.service import until_signal
from services.runtime.settings import Settings, read

APPENDED_HEADER: Final = "appended"  # when the record that was copied had been appended, in ms
CHANNEL: Final = "floor-news"


class Hop(Struct, frozen=True):
    """What is copied where."""

    inputs: tuple[str, ...]
    output: str


HOPS: Final[Mapping[str, Hop]] = {
    "rules": Hop((TABLE_FEED,), ROUNDS),
    "settlement": Hop((ROUNDS, BETS), SETTLEMENTS),
}


class Copier:
    """One partition number of one hop."""

    def __init__(self, settings: Settings, name: str, partition: int) -> None:
        self._settings = settings
        self._name = name
        self._hop = HOPS[name]
        self._partition = partition
        self._producer = client.new_producer(settings, f"{settings.topic_prefix}{name}-{partition}")
        self._consumers = {topic: client.new_consumer(settings, committed=topic != BETS) for topic in self._hop.inputs}
        self._queues: dict[str, deque[Any]] = {topic: deque() for topic in self._hop.inputs}
        self._arrived = asyncio.Event()

    def _place(self, topic: str) -> TopicPartition:
        return TopicPartition(self._settings.topic_prefix + topic, self._partition)

    async def start(self) -> None:
        await client.start(self._producer)
        for topic, consumer in self._consumers.items():
            await client.start(consumer)
            consumer.assign([self._place(topic)])
            consumer.seek(self._place(topic), 0)

    async def run(self) -> None:
        """For ever."""
        async with asyncio.TaskGroup() as group:
            for topic in self._hop.inputs:
                group.create_task(self._pump(topic))
            while True:
                await self._arrived.wait()
                self._arrived.clear()
                while any(self._queues.values()):
                    began_s = asyncio.get_running_loop().time()
                    await self._commit()
                    took_s = asyncio.get_running_loop().time() - began_s
                    await asyncio.sleep(client.rest_s(self._settings, took_s))

    async def _pump(self, topic: str) -> None:
        consumer, place = self._consumers[topic], self._place(topic)
        while True:
            found = await consumer.getmany(place, timeout_ms=1_000, max_records=self._settings.batch_records)
            if found:
                self._queues[topic] += found[place]
                self._arrived.set()

    async def _commit(self) -> None:
        batch = {topic: [*islice(queue, self._settings.batch_records)] for topic, queue in self._queues.items()}
        positions = {
            self._place(topic): OffsetAndMetadata(records[-1].offset + 1, "")
            for topic, records in batch.items()
            if records
        }
        await self._producer.begin_transaction()
        copies = [copy_of(raw) for records in batch.values() for raw in records]
        sent = await client.send(self._producer, self._place(self._hop.output), copies)
        group = self._settings.topic_prefix + self._name
        await client.offsets_of(sent, self._producer.send_offsets_to_transaction(positions, group))
        await self._producer.commit_transaction()
        for topic, records in batch.items():
            for _ in records:
                self._queues[topic].popleft()


def copy_of(raw: Any) -> client.Message:
    """With two headers, as a fact has."""
    cause = f"{raw.topic}/{raw.partition}/{raw.offset}".encode()
    return client.Message(raw.key, raw.value, [("cause", cause), (APPENDED_HEADER, str(raw.timestamp).encode())])


async def copy(settings: Settings, name: str, health: Health) -> None:
    """Every partition of a hop, for ever."""
    copiers = [Copier(settings, name, partition) for partition in range(settings.partitions)]
    await asyncio.gather(*(copier.start() for copier in copiers))
    health.right(STARTING)
    await asyncio.gather(*(copier.run() for copier in copiers))


async def show(settings: Settings, health: Health) -> None:
    """Both topics of facts into Redis, a batch a round trip, for ever."""
    places = [
        TopicPartition(settings.topic_prefix + topic, partition)
        for topic in (ROUNDS, SETTLEMENTS)
        for partition in range(settings.partitions)
    ]
    consumer = client.new_consumer(settings, committed=True)
    await client.start(consumer)
    consumer.assign(places)
    for place in places:
        consumer.seek(place, 0)
    prefix = settings.topic_prefix
    async with redis.asyncio.Redis.from_url(settings.redis) as model:
        health.right(STARTING)
        while True:
            found = await consumer.getmany(timeout_ms=500, max_records=500)
            async with model.pipeline(transaction=False) as pipe:
                for place, records in found.items():
                    for raw in records:
                        pipe.set(f"{prefix}{place.topic}/{raw.key.decode()}", raw.value)
                        news = f"{place.topic[len(prefix) :]} {raw.key.decode()} {raw.offset}"
                        pipe.publish(prefix + CHANNEL, news)
                await pipe.execute()


async def until_stopped(name: str, stop: asyncio.Event) -> None:
    """A hop until SIGTERM."""
    settings = read(os.environ)
    health = Health(name)
    async with serving(health, settings.host, settings.http_port):
        work = show(settings, health) if name == "dashboard" else copy(settings, name, health)
        copying = asyncio.create_task(work)
        stopping = asyncio.create_task(stop.wait())
        await asyncio.wait({copying, stopping}, return_when=asyncio.FIRST_COMPLETED)
        if copying.done():
            copying.result()
        os._exit(0)  # clients are left as they are: nothing of theirs is needed any more


if __name__ == "__main__":
    until_signal(lambda stop: until_stopped(sys.argv[1], stop))
