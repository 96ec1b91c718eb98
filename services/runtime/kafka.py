"""A processor on Kafka: the group's consumer says who owns which partition number, and a task works on each.

Nothing is read through the group's consumer. Its partitions stay paused; it is polled so that the group keeps this
member, and asked for committed positions. Whatever goes wrong with Kafka, the process stays up, says that it is not
ready, and goes on by itself.
"""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Mapping
from typing import Any, Final

from aiokafka import ConsumerRebalanceListener, OffsetAndMetadata, TopicPartition
from aiokafka.errors import KafkaError

from services.runtime import kafka_client as client
from services.runtime import topics
from services.runtime.health import STARTING, Health
from services.runtime.kafka_ids import log_id_of
from services.runtime.kafka_restore import Codec, Reading, Work, nothing_to_learn
from services.runtime.kafka_task import FAULT_POINTS, Lease, own, say
from services.runtime.processor import Processor
from services.runtime.settings import Settings

__all__ = ["FAULT_POINTS", "run"]

LOGGER: Final = logging.getLogger(__name__)
POLL_MS: Final = 100
PROBE_EVERY_S: Final = 1.0
PROBE_WITHIN_S: Final = 3.0
AGAIN_AFTER_S: Final = 0.5
FINISH_WITHIN_S: Final = 3.0  # what a task has to end its transaction before it is cancelled
KAFKA: Final = "kafka"
GROUP: Final = "group"


def no_fault(_point: str) -> None:
    """Nothing fails here."""


async def run(
    processor: Processor[Any],
    settings: Settings,
    codec: Codec,
    stop: asyncio.Event,
    *,
    learn: Reading = nothing_to_learn,
    health: Health | None = None,
    fault: Callable[[str], None] = no_fault,
) -> None:
    """Until `stop` is set. Kafka may come and go; only what is no Exception (a test's crash, a cancel) gets out."""
    health = health or Health(processor.name)
    while not stop.is_set():
        try:
            await topics.verify(settings)
            log_id = await log_id_of(settings, processor.output)
            await Member(processor, settings, codec, learn, log_id, health, fault).take_part(stop)
        except Exception as error:  # noqa: BLE001 - the process stays up whatever Kafka does
            health.count("troubles")
            health.wrong(GROUP, "not in the group")
            health.wrong(KAFKA, say(error))
            LOGGER.warning("%s: %s", processor.name, say(error))
            await until(stop, AGAIN_AFTER_S)


async def until(stop: asyncio.Event, within_s: float) -> None:
    """Until it is set, or the time is over."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(within_s):
            await stop.wait()


class Member(ConsumerRebalanceListener):  # type: ignore[misc]
    """One membership of the group, and the tasks of the partitions that it was given."""

    def __init__(
        self,
        processor: Processor[Any],
        settings: Settings,
        codec: Codec,
        learn: Reading,
        log_id: str,
        health: Health,
        fault: Callable[[str], None],
    ) -> None:
        group = settings.topic_prefix + processor.name
        self._consumer: Any = client.new_consumer(settings, committed=True, group=group)
        self._work = Work(processor, settings, codec, learn, group, self, log_id, health, fault)
        self._tasks: dict[int, tuple[asyncio.Task[None], Lease]] = {}
        self._ended: list[asyncio.Task[None]] = []
        self._leaving = False
        self._away = False

    async def take_part(self, stop: asyncio.Event) -> None:
        """Until `stop` is set, or the membership cannot go on."""
        work = self._work
        try:
            async with asyncio.timeout(client.START_WITHIN_S):
                await self._consumer.start()
            topic = work.settings.topic_prefix + work.processor.inputs[0]
            self._consumer.subscribe([topic], listener=self)
            work.health.wrong(GROUP, "waiting for the group")
            work.health.right(KAFKA)
            work.health.right(STARTING)
            probe_at = asyncio.get_running_loop().time()
            while not stop.is_set():
                await self._poll()
                self._raise_what_got_out()
                if asyncio.get_running_loop().time() >= probe_at:
                    await self._probe()
                    probe_at = asyncio.get_running_loop().time() + PROBE_EVERY_S
        finally:
            self._leaving = True
            await self._end(tuple(self._tasks))
            await client.stop_consumer(self._consumer)
        self._raise_what_got_out()

    async def _poll(self) -> None:
        """A member that is not polled is put out. What was fetched before the pause is read by nobody."""
        began = asyncio.get_running_loop().time()
        await self._consumer.getmany(timeout_ms=POLL_MS)
        rest_s = POLL_MS / 1000 - (asyncio.get_running_loop().time() - began)
        await asyncio.sleep(max(0.0, rest_s))

    def _raise_what_got_out(self) -> None:
        """Tasks keep every Exception to themselves: what gets out ends the process."""
        for task in (*self._ended, *(task for task, _ in self._tasks.values())):
            if task.done() and not task.cancelled() and (error := task.exception()) is not None:
                raise error
        self._ended.clear()

    async def _probe(self) -> None:
        """Without news nobody else would notice that Kafka is away, nor end what it left open when it went."""
        health = self._work.health
        try:
            async with asyncio.timeout(PROBE_WITHIN_S):
                await self._consumer.topics()
        except (KafkaError, OSError, TimeoutError):
            self._away = True
            health.wrong(KAFKA, f"Kafka at {self._work.settings.kafka} does not answer")
        else:
            health.right(KAFKA)
            if self._away:
                self._away = False
                for _, lease in self._tasks.values():
                    lease.renew()

    async def on_partitions_revoked(self, revoked: list[TopicPartition]) -> None:
        """All of them, before every rebalance: each task ends its transaction and is gone when this returns."""
        self._work.health.wrong(GROUP, "the group is sharing out its partitions")
        await self._end([place.partition for place in revoked])

    def on_partitions_assigned(self, assigned: list[TopicPartition]) -> None:
        """Returns at once: until it does, no heartbeats are sent."""
        if self._leaving:
            return
        self._consumer.pause(*assigned)
        for partition in sorted(place.partition for place in assigned):
            lease = Lease()
            task = asyncio.create_task(own(self._work, partition, lease), name=f"{self._work.group}-{partition}")
            self._tasks[partition] = (task, lease)
        self._work.health.gauge("partitions", "", len(self._tasks))
        self._work.health.right(GROUP)

    async def _end(self, partitions: list[int] | tuple[int, ...]) -> None:
        """Asks the tasks to end, and cancels what does not in time."""
        ending = [self._tasks[partition] for partition in partitions if partition in self._tasks]
        for _, lease in ending:
            lease.end()
        tasks = {task for task, _ in ending}
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=FINISH_WITHIN_S)
            for task in late:
                task.cancel()
            if late:
                await asyncio.wait(late)
        for partition in partitions:
            self._tasks.pop(partition, None)
        self._ended += tasks

    async def committed(self, places: list[TopicPartition]) -> Mapping[TopicPartition, OffsetAndMetadata]:
        """The consumer's own `committed` leaves out what the position names."""
        found: Mapping[TopicPartition, OffsetAndMetadata]
        found = await self._consumer._coordinator.fetch_committed_offsets(places)  # noqa: SLF001
        return found

    async def prove(self, place: TopicPartition, position: OffsetAndMetadata) -> None:
        await self._consumer.commit({place: position})
