"""Kafka as the log that the scanner, the dashboard and the customers read and append to (`log.Log`)."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from aiokafka import ConsumerRebalanceListener, TopicPartition
from aiokafka.errors import KafkaError

from services.baccarat.errors import NotReady
from services.baccarat.events import Event
from services.runtime import kafka_client as client
from services.runtime import topics
from services.runtime.kafka_ids import log_id_of
from services.runtime.kafka_restore import Codec, Reading, nothing_to_learn
from services.runtime.log import Place, Reader
from services.runtime.processor import Record
from services.runtime.reading import partition_of, read_record
from services.runtime.settings import Settings

APPEND_WITHIN_S: Final = 5.0
PROBE_AFTER_S: Final = 2.0  # without a record: then Kafka is asked whether it is there at all
PROBE_WITHIN_S: Final = 3.0
NEXT_RECORDS: Final = 500
LOG_APPEND_TIME: Final = 1


@contextlib.asynccontextmanager
async def open_log(settings: Settings, codec: Codec, *, learn: Reading = nothing_to_learn) -> AsyncIterator["KafkaLog"]:
    """Raises NotReady where Kafka is away, or its topics are not as they must be."""
    await topics.verify(settings)
    log = KafkaLog(settings, codec, learn, await log_id_of(settings))
    try:
        yield log
    finally:
        await log.close()


@contextlib.contextmanager
def trouble(settings: Settings) -> Iterator[None]:
    """Whatever Kafka raises is NotReady here."""
    try:
        yield
    except (KafkaError, OSError, TimeoutError, AssertionError) as error:
        what = " ".join(str(error).split())
        raise NotReady(f"Kafka at {settings.kafka}: {type(error).__name__} {what}".rstrip()[:300]) from error


class KafkaLog:
    """Raises NotReady whenever Kafka does not do what it should; asked again, it goes on."""

    def __init__(self, settings: Settings, codec: Codec, learn: Reading, log_id: str) -> None:
        self.log_id = log_id
        self.partitions = settings.partitions
        self._settings = settings
        self._codec = codec
        self._learn = learn
        self._producer: Any = None
        self._looking: Any = None
        self._starting = asyncio.Lock()
        self._asking = asyncio.Lock()

    async def close(self) -> None:
        await self._give_up(self._producer)
        if self._looking is not None:
            await client.stop_consumer(self._looking)
            self._looking = None

    async def append(self, topic: str, events: Sequence[Event]) -> None:
        """Raises Unfit before anything is sent. After NotReady some may be there: say it again, ids tell."""
        encoded = [(event.table_id, self._codec.encode(topic, event)) for event in events]
        with trouble(self._settings):
            producer = await self._started()
            try:
                async with asyncio.timeout(APPEND_WITHIN_S):
                    await client.all_of([await self._send(producer, topic, *one) for one in encoded])
            except BaseException:
                await self._give_up(producer)
                raise

    async def _send(self, producer: Any, topic: str, table_id: str, value: bytes) -> asyncio.Future[Any]:
        future: asyncio.Future[Any] = await producer.send(
            self._settings.topic_prefix + topic,
            value,
            key=table_id.encode(),
            partition=partition_of(table_id, self.partitions),
        )
        return future

    async def _started(self) -> Any:
        async with self._starting:
            if self._producer is None:
                producer = client.new_producer(self._settings, None)
                try:
                    await client.start(producer)
                except BaseException:
                    await client.discard(producer)
                    raise
                self._producer = producer
            return self._producer

    async def _give_up(self, producer: Any) -> None:
        """Others that append with it are told; the next append starts another."""
        if producer is not None and producer is self._producer:
            self._producer = None
            await client.discard(producer)

    async def end(self, topic: str, partition: int) -> int:
        """One more than the offset of the last record that can be read: the marks of transactions do not count."""
        place = TopicPartition(self._settings.topic_prefix + topic, partition)
        async with self._asking:
            with trouble(self._settings):
                looking = self._looking or client.new_consumer(self._settings, committed=True, wait_ms=client.QUICK_MS)
                try:
                    if self._looking is None:
                        await client.start(looking)
                    offset = await after_last(looking, place)
                    looking.unsubscribe()  # or it would go on fetching
                except BaseException:
                    self._looking = None
                    await client.stop_consumer(looking)
                    raise
                self._looking = looking
                return offset

    @contextlib.asynccontextmanager
    async def reader(self, positions: Mapping[Place, int]) -> AsyncIterator[Reader]:
        consumer = client.new_consumer(self._settings, committed=True)
        try:
            with trouble(self._settings):
                await client.start(consumer)
            places = {
                TopicPartition(self._settings.topic_prefix + topic, partition): position
                for (topic, partition), position in positions.items()
            }
            consumer.assign([*places])
            for place, position in places.items():
                consumer.seek(place, position)
            yield KafkaReader(self._settings, self._codec, self._learn, consumer)
        finally:
            await client.stop_consumer(consumer)

    @contextlib.asynccontextmanager
    async def shared_reader(
        self, group: str, topics: Sequence[str], begin: Callable[[str, int], Awaitable[int]]
    ) -> AsyncIterator[Reader]:
        """One assignor that deals out each topic by ranges keeps the topics of a partition number together."""
        prefix = self._settings.topic_prefix
        consumer = client.new_consumer(self._settings, committed=True, group=prefix + group)
        reader = SharedReader(self._settings, self._codec, self._learn, consumer, begin)
        try:
            with trouble(self._settings):
                await client.start(consumer)
            consumer.subscribe([prefix + topic for topic in topics], listener=reader)
            yield reader
        finally:
            await client.stop_consumer(consumer)


async def after_last(consumer: Any, place: TopicPartition) -> int:
    """Searched from the end backwards, in ever larger steps."""
    begin, end = await client.ends_of(consumer, place)
    back = 4
    while begin < end:
        start, last = max(begin, end - back), -1
        async for records in client.read_to(consumer, place, start, end):
            last = records[-1].offset
        if last >= 0:
            return last + 1
        if start == begin:
            return begin
        back *= 8
    return end


class KafkaReader:
    """Reads what its consumer is assigned."""

    def __init__(self, settings: Settings, codec: Codec, learn: Reading, consumer: Any) -> None:
        self._settings = settings
        self._codec = codec
        self._learn = learn
        self._consumer = consumer
        self._heard_at = asyncio.get_running_loop().time()

    async def next(self, wait_ms: int) -> list[Record]:
        """At most NEXT_RECORDS, each partition in order."""
        with trouble(self._settings):
            found = await self._consumer.getmany(timeout_ms=wait_ms, max_records=NEXT_RECORDS)
            now = asyncio.get_running_loop().time()
            if found:
                self._heard_at = now
            elif now - self._heard_at > PROBE_AFTER_S:
                async with asyncio.timeout(PROBE_WITHIN_S):
                    await self._consumer.topics()
                self._heard_at = now
        return [await self._read(place, raw) for place, batch in found.items() for raw in batch]

    async def _read(self, place: TopicPartition, raw: Any) -> Record:
        await self._learn(raw.value)
        topic = place.topic[len(self._settings.topic_prefix) :]
        at = (topic, place.partition, self._settings.partitions, raw.offset, raw.timestamp)
        return read_record(self._codec, *at, raw.timestamp_type == LOG_APPEND_TIME, raw.key, raw.value)


class SharedReader(KafkaReader, ConsumerRebalanceListener):  # type: ignore[misc]
    """Reads what its group gives it, each partition from where `begin` says."""

    def __init__(
        self,
        settings: Settings,
        codec: Codec,
        learn: Reading,
        consumer: Any,
        begin: Callable[[str, int], Awaitable[int]],
    ) -> None:
        super().__init__(settings, codec, learn, consumer)
        self._begin = begin
        self._given: set[TopicPartition] = set()  # and not read from yet

    async def on_partitions_revoked(self, revoked: list[TopicPartition]) -> None:
        """Nothing is to be ended: whatever is done with a record, the next owner asks `begin`."""
        self._given.difference_update(revoked)

    def on_partitions_assigned(self, assigned: list[TopicPartition]) -> None:
        self._consumer.pause(*assigned)
        self._given.update(assigned)

    async def next(self, wait_ms: int) -> list[Record]:
        while self._given:
            place = min(self._given)
            position = await self._begin(place.topic[len(self._settings.topic_prefix) :], place.partition)
            if place in self._given:
                self._given.discard(place)
                self._consumer.seek(place, position)
                self._consumer.resume(place)
        return await super().next(wait_ms)
