"""The Kafka runtime for the laws; its log is written and read by librdkafka, which shares no code with aiokafka."""

import asyncio
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from confluent_kafka import Consumer, KafkaError, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.admin._config import AlterConfigOpType, ConfigEntry, ConfigResource
from confluent_kafka.admin._resource import ResourceType
from msgspec.structs import asdict

from services.baccarat.events import BETS, EVENTS_OF, ROUNDS, RULES_SNAPSHOTS, SETTLEMENT_SNAPSHOTS, TABLE_FEED
from services.runtime import kafka, topics
from services.runtime.embedded import BATCH, no_fault
from services.runtime.settings import Settings
from tests.runtime.harness import BOTH, PARTITIONS, WITHIN_S, Crash
from tests.runtime.reference import CODEC, FACTS, Raw, told_again, told_in

STAMPED = 2  # librdkafka's TIMESTAMP_LOG_APPEND_TIME
AGAIN_AFTER_S = 0.1


class KafkaHarness:
    """Topics of its own on a broker that others use too."""

    def __init__(self, address: str, prefix: str) -> None:
        self.partitions = PARTITIONS
        self.processors = BOTH
        self.settings = Settings(
            kafka=address, topic_prefix=prefix, partitions=PARTITIONS, snapshot_every_ms=100, rest_ms=0
        )
        self._runs: set[asyncio.Task[None]] = set()
        self._stop = asyncio.Event()
        self._admin = AdminClient({"bootstrap.servers": address})
        self._producer = Producer(
            {
                "bootstrap.servers": address,
                "partitioner": "murmur2_random",
                "acks": "all",
                "enable.idempotence": True,
                "message.max.bytes": topics.MAX_RECORD_BYTES,
            }
        )
        self._ids: set[str] = set()
        self._rounds = self._consumer(ROUNDS)

    async def prepare(self) -> None:
        await topics.apply(self.settings)

    async def close(self) -> None:
        if self._runs:
            await self.kill()
        self._rounds.close()
        names = [self.settings.topic_prefix + topic for topic in topics.TOPICS]
        await asyncio.to_thread(lambda: [done.result() for done in self._admin.delete_topics(names).values()])

    async def start(self, *, fault: Callable[[str], None] = no_fault, batch: int = BATCH) -> None:
        self._stop = asyncio.Event()
        settings = Settings(**{**asdict(self.settings), "batch_records": batch})
        self._runs = {
            asyncio.create_task(kafka.run(processor, settings, CODEC, self._stop, fault=fault))
            for processor in self.processors
        }

    async def append(self, records: Sequence[Raw]) -> None:
        for stamped in (True, False):
            some = [raw for raw in records if raw.stamped is stamped]
            if some and not stamped:
                await asyncio.to_thread(self._stamping, some[0].topic, "CreateTime")
            await asyncio.to_thread(self._produce, some)
            if some and not stamped:
                await asyncio.to_thread(self._stamping, some[0].topic, "LogAppendTime")
        self._raise_what_died()

    def _produce(self, records: Sequence[Raw]) -> None:
        failures: list[KafkaError] = []
        for raw in records:
            self._producer.produce(
                self.settings.topic_prefix + raw.topic,
                key=raw.key,
                value=raw.value,
                partition=raw.partition,
                on_delivery=lambda error, _: failures.append(error) if error else None,
            )
        self._producer.flush()
        assert not failures, failures

    def _stamping(self, topic: str, how: str) -> None:
        """Returns once the broker stamps so."""
        name = self.settings.topic_prefix + topic
        entry = ConfigEntry("message.timestamp.type", how, incremental_operation=AlterConfigOpType.SET)
        resource = ConfigResource(ResourceType.TOPIC, name, incremental_configs=[entry])
        self._admin.incremental_alter_configs([resource])[resource].result()
        self._until(lambda: self._setting(name, "message.timestamp.type") == how)

    def _setting(self, name: str, key: str) -> str:
        resource = ConfigResource(ResourceType.TOPIC, name)
        return str(self._admin.describe_configs([resource])[resource].result()[key].value)

    def _until(self, holds: Callable[[], bool]) -> None:
        end = time.monotonic() + WITHIN_S
        while not holds():
            assert time.monotonic() < end
            time.sleep(AGAIN_AFTER_S)

    def _raise_what_died(self) -> None:
        for run in self._runs:
            if run.done():
                run.result()
                raise AssertionError("a processor stopped without being asked to")

    async def until_told(self, ids: Iterable[str], /) -> None:
        wanted = set(ids)
        async with asyncio.timeout(WITHIN_S):
            while not wanted <= self._ids:
                self._raise_what_died()
                found = await asyncio.to_thread(self._rounds.consume, 500, AGAIN_AFTER_S)
                self._ids |= {
                    CODEC.decode(ROUNDS, message.value()).event_id for message in found if not message.error()
                }

    async def until_caught_up(self) -> None:
        """Until there are as many facts as the recorded inputs come to; a law then says whether they are the same."""
        async with asyncio.timeout(WITHIN_S):
            while True:
                self._raise_what_died()
                log = await asyncio.to_thread(self._everything)
                told = told_in(raw for topic in FACTS for raw in log[topic])
                again = told_again(*self.processors, [*log[TABLE_FEED], *log[BETS]], PARTITIONS)
                if sum(map(len, told.values())) >= sum(map(len, again.values())):
                    return
                await asyncio.sleep(AGAIN_AFTER_S)

    async def stop(self) -> None:
        self._stop.set()
        runs, self._runs = self._runs, set()
        await asyncio.gather(*runs)

    async def kill(self) -> None:
        """As near to SIGKILL as one process can come: nothing is ended in order but the connections."""
        runs, self._runs = self._runs, set()
        for run in runs:
            run.cancel()
        for died in await asyncio.gather(*runs, return_exceptions=True):
            assert died is None or isinstance(died, asyncio.CancelledError | Crash), died

    def records(self, topic: str) -> list[Raw]:
        """Of `bets` also what was aborted: there, appending is the bet."""
        consumer = self._consumer(topic, "read_uncommitted" if topic == BETS else "read_committed")
        found: list[Raw] = []
        ends: set[int] = set()
        while len(ends) < PARTITIONS:
            for message in consumer.consume(1_000, 0.05):
                if (error := message.error()) is not None:
                    assert error.code() == KafkaError._PARTITION_EOF, error
                    ends.add(message.partition())
                    continue
                how, at_ms = message.timestamp()
                place = (topic, message.partition(), message.offset())
                found.append(Raw(*place, at_ms, message.key(), message.value(), how == STAMPED))
        consumer.close()
        return sorted(found, key=lambda raw: (raw.partition, raw.offset))

    def _everything(self) -> dict[str, list[Raw]]:
        return {topic: self.records(topic) for topic in EVENTS_OF}

    def _consumer(self, topic: str, isolation: str = "read_committed") -> Any:
        consumer = Consumer(
            {
                "bootstrap.servers": self.settings.kafka,
                "group.id": f"{self.settings.topic_prefix}judge",
                "enable.auto.commit": False,
                "enable.partition.eof": True,
                "fetch.wait.max.ms": 10,  # the end of a partition is told by an empty answer
                "isolation.level": isolation,
            }
        )
        name = self.settings.topic_prefix + topic
        consumer.assign([TopicPartition(name, partition, 0) for partition in range(PARTITIONS)])
        return consumer

    async def delete_snapshots(self) -> None:
        """The topics are made again, empty."""
        names = [self.settings.topic_prefix + topic for topic in (RULES_SNAPSHOTS, SETTLEMENT_SNAPSHOTS)]
        for done in self._admin.delete_topics(names).values():
            done.result()
        self._until(lambda: not set(names) & set(self._admin.list_topics().topics))
        await topics.apply(self.settings)

    async def delete_positions(self) -> None:
        groups = [self.settings.topic_prefix + processor.name for processor in BOTH]
        for done in self._admin.delete_consumer_groups(groups).values():
            done.result()
