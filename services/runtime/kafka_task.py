"""One partition number of one processor on Kafka: fence, restore, then one transaction per batch, until told to stop.

A life begins with a new producer, whose transactional id is the partition's: that fences whoever owned it before and
aborts what he left open. Only then is anything read. Facts, their copies, dead letters and the positions of all inputs
commit together, and only after that the states are swapped. Any error ends the life: the producer is thrown away, and
the next life restores what was really committed.
"""

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import AsyncIterator, Mapping
from itertools import islice
from typing import Any, Final

import msgspec
from aiokafka import OffsetAndMetadata, TopicPartition
from aiokafka.errors import CommitFailedError, IllegalStateError

from services.baccarat.errors import NotReady, Unfit
from services.baccarat.events import DEAD_LETTERS
from services.runtime import kafka_client as client
from services.runtime import snapshots
from services.runtime.codec import encode_state
from services.runtime.kafka_restore import NAMED_CHARACTERS, POSITIONS_HEADER, Memory, Work, restore
from services.runtime.processor import FACTS_A_BATCH, Advance, Record, advance
from services.runtime.reading import read_record
from services.runtime.restoring import headers, is_foreign

LOGGER: Final = logging.getLogger(__name__)

# Where a test may end the process or hold up a task, in the order in which a life comes by.
FAULT_POINTS: Final = (
    "before-fence",
    "after-fence",
    "after-restore",
    "before-begin",
    "after-begin",
    "after-facts",
    "after-positions",
    "after-commit",
    "before-snapshot",
    "inside-snapshot",
    "after-snapshot",
)
POSITIONS_EVERY_S: Final = 1.0  # where there were records, but no facts
FETCHED_AHEAD: Final = 4  # batches that wait in a queue before no more are fetched
LOG_APPEND_TIME: Final = 1
Messages = dict[str, list[client.Message]]  # by topic


class NotAMember(Exception):
    """This task's partition is somebody else's."""


class Lease:
    """What a task is told: that its time is over, or to begin a new life."""

    def __init__(self) -> None:
        self.over = False
        self._changed = asyncio.Event()

    @property
    def changed(self) -> bool:
        return self._changed.is_set()

    def end(self) -> None:
        self.over = True
        self._changed.set()

    def renew(self) -> None:
        self._changed.set()

    def begin(self) -> None:
        """A new life begins; what is over stays over."""
        if not self.over:
            self._changed.clear()

    async def until_changed(self) -> None:
        await self._changed.wait()


async def own(work: Work, partition: int, lease: Lease) -> None:
    """Life after life, until the lease is over or the partition turns out to be somebody else's."""
    name = f"{work.processor.name} {partition}"
    rest_s = 0.1
    while not lease.over:
        lease.begin()
        work.health.wrong(name, f"{name} is being restored")
        life = Life(work, partition, lease)
        try:
            await life.live()
        except NotAMember:
            LOGGER.warning("%s: not a member any more, waiting to be given partitions again", name)
            break
        except Exception as error:  # noqa: BLE001 - whatever it was, what was committed is what counts
            work.health.count("troubles")
            reason = say(error)
            work.health.wrong(name, f"{name}: {reason}")
            LOGGER.warning("%s: starting over: %s", name, reason)
            rest_s = 0.1 if life.lived else min(2.0, rest_s * 2)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(rest_s):
                    await lease.until_changed()
    work.health.right(name)


def say(error: BaseException) -> str:
    """In a line; of several at once the first."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    text = " ".join(str(error).split())
    return text if isinstance(error, NotReady) else f"{type(error).__name__}: {text}"[:300]


class Life:
    """From fencing to the first error; `lived` once it was restored and proved."""

    def __init__(self, work: Work, partition: int, lease: Lease) -> None:
        self.lived = False
        self._work = work
        self._processor = work.processor
        self._partition = partition
        self._lease = lease
        self._name = f"{work.processor.name} {partition}"
        self._producer: Any = None
        self._queues: dict[str, deque[Record]] = {topic: deque() for topic in work.processor.inputs}
        self._arrived = asyncio.Event()
        self._room = asyncio.Event()
        self._memory = Memory({}, {})

    async def live(self) -> None:
        work = self._work
        work.fault("before-fence")
        self._producer = client.new_producer(
            work.settings, f"{work.settings.topic_prefix}{self._processor.name}-{self._partition}"
        )
        try:
            await client.start(self._producer)
            work.fault("after-fence")
            self._memory = await restore(work, self._partition, self._producer)
            work.health.count("restores")
            await self._prove()
            work.fault("after-restore")
            self.lived = True
            work.health.right(self._name)
            await self._run()
        finally:
            for topic in self._processor.inputs:
                work.health.gauge("lag", f"{topic} {self._partition}", None)
            await client.discard(self._producer)

    async def _prove(self) -> None:
        """Two owners who both believe in themselves would fence each other without end."""
        first = self._processor.inputs[0]
        place = self._work.place(first, self._partition)
        position = self._marked(self._memory.positions[first], self._memory.last_fact)
        try:
            async with asyncio.timeout(client.COMMIT_WITHIN_S):
                await self._work.membership.prove(place, position)
        except (CommitFailedError, IllegalStateError) as error:
            raise NotAMember from error

    def _marked(self, position: int, last_fact: str) -> OffsetAndMetadata:
        """A position that names the last fact of the output: a restart's fold must have seen it."""
        return OffsetAndMetadata(position, last_fact[:NAMED_CHARACTERS])

    async def _run(self) -> None:
        """A pump for each input fills its queue; this empties them."""
        async with contextlib.AsyncExitStack() as stack:
            pumps = [
                await stack.enter_async_context(self._pumping(topic, self._memory.positions[topic]))
                for topic in self._processor.inputs
            ]
            stopping = asyncio.create_task(self._lease.until_changed())
            stopping.add_done_callback(lambda _: self._arrived.set())
            stack.callback(stopping.cancel)
            await self._work_off(pumps)

    @contextlib.asynccontextmanager
    async def _pumping(self, topic: str, position: int) -> AsyncIterator[asyncio.Task[None]]:
        """A consumer of the task's own: one shared with other partitions delivers later."""
        place = self._work.place(topic, self._partition)
        consumer = client.new_consumer(self._work.settings, committed=topic not in self._processor.uncommitted)
        pump: asyncio.Task[None] | None = None
        try:
            await client.start(consumer)
            consumer.assign([place])
            consumer.seek(place, position)
            pump = asyncio.create_task(self._pump(topic, place, consumer))
            pump.add_done_callback(lambda _: self._arrived.set())
            yield pump
        finally:
            if pump is not None:
                pump.cancel()
                await asyncio.wait({pump})
            await client.stop_consumer(consumer)

    async def _pump(self, topic: str, place: TopicPartition, consumer: Any) -> None:
        work, queue = self._work, self._queues[topic]
        partitions, batch = work.settings.partitions, work.settings.batch_records
        while True:
            while len(queue) >= FETCHED_AHEAD * batch:
                self._room.clear()
                await self._room.wait()
            found = await consumer.getmany(place, timeout_ms=1_000, max_records=batch)
            for raw in found.get(place, ()):
                await work.learn(raw.value)
                log_append_time = raw.timestamp_type == LOG_APPEND_TIME
                foreign = is_foreign(work.processor, topic, raw.headers)
                at = (topic, self._partition, partitions, raw.offset, raw.timestamp, log_append_time)
                queue.append(read_record(work.codec, *at, raw.key, raw.value, foreign=foreign))
            end = consumer.highwater(place)
            if end is not None:
                work.health.gauge("lag", f"{topic} {self._partition}", max(0, end - self._memory.positions[topic]))
            if queue:
                self._arrived.set()

    async def _work_off(self, pumps: list[asyncio.Task[None]]) -> None:
        loop = asyncio.get_running_loop()
        settings, memory = self._work.settings, self._memory
        every_s = settings.snapshot_every_ms / 1000
        snapshot_at = loop.time() + every_s * (self._partition + 1) / settings.partitions  # not all at once
        committed, positions_at = memory.positions, loop.time() + POSITIONS_EVERY_S
        while not self._lease.changed:
            for pump in pumps:
                if pump.done():
                    pump.result()
            self._arrived.clear()
            done = self._advance()
            taken, now = any(done.taken.values()), loop.time()
            late = now >= positions_at and self._positions_after(done) != committed
            if done.written or late:
                await self._commit(done)
                committed, positions_at = memory.positions, now + POSITIONS_EVERY_S
                await asyncio.sleep(client.rest_s(settings, loop.time() - now))
            elif taken:
                self._take(done)
            if now >= snapshot_at:
                await self._snapshot()
                snapshot_at = loop.time() + every_s
            if not taken:
                await self._wait(snapshot_at if memory.positions == committed else min(snapshot_at, positions_at))

    async def _wait(self, until: float) -> None:
        """Until there is something new, or it is that time."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout_at(until):
                await self._arrived.wait()

    def _advance(self) -> Advance[Any]:
        batch = {
            topic: tuple(islice(queue, self._work.settings.batch_records)) for topic, queue in self._queues.items()
        }
        return advance(self._processor, self._memory.states, batch, self._work.codec.encode, FACTS_A_BATCH)

    async def _commit(self, done: Advance[Any]) -> None:
        """Facts and positions in one transaction; only then what they came to is kept."""
        memory, fault = self._memory, self._work.fault
        output = [written for written in done.written if written.topic == self._processor.output]
        last_fact = output[-1].event.event_id if output else memory.last_fact
        positions = self._positions_after(done)
        marked = {
            self._work.place(topic, self._partition): self._marked(position, last_fact)
            for topic, position in positions.items()
        }
        messages = self._messages(done, positions)
        async with asyncio.timeout(client.COMMIT_WITHIN_S):
            fault("before-begin")
            await self._producer.begin_transaction()
            fault("after-begin")
            batches = [batch for topic in messages for batch in await self._send(topic, messages[topic])]
            fault("after-facts")
            taking = self._producer.send_offsets_to_transaction(marked, self._work.group)
            offsets = await client.offsets_of(batches, taking)
            fault("after-positions")
            await self._producer.commit_transaction()
        fault("after-commit")
        memory.last_fact = last_fact
        self._note_offsets(messages, offsets)
        self._take(done)
        self._work.health.count("transactions")
        self._work.health.count("facts_out", len(done.written))

    def _note_offsets(self, messages: Messages, offsets: list[int]) -> None:
        """How far the states are the fold of the output, and the dead letters are known."""
        memory = self._memory
        topics = (topic for topic in messages for _ in messages[topic])
        for topic, offset in zip(topics, offsets, strict=True):
            if topic == self._processor.output:
                if offset < memory.output_offset:
                    raise NotReady(f"{self._name}: a fact was committed, but its offset is not known")
                memory.output_offset = offset + 1
            elif topic == DEAD_LETTERS:
                memory.letters_offset = max(memory.letters_offset, offset + 1)
                self._work.health.count("dead_letters")

    def _messages(self, done: Advance[Any], positions: Mapping[str, int]) -> Messages:
        """By topic; the last of each topic says the positions too."""
        messages: Messages = {}
        for written in done.written:
            carried = headers(self._processor, written.cause)
            message = client.Message(written.table_id.encode(), written.value, carried)
            messages.setdefault(written.topic, []).append(message)
        said = (POSITIONS_HEADER, msgspec.json.encode(positions))
        for of_topic in messages.values():
            of_topic[-1] = of_topic[-1]._replace(headers=[*of_topic[-1].headers, said])
        return messages

    async def _send(self, topic: str, messages: list[client.Message]) -> list[client.Batch]:
        """Whatever the key, a fact goes to the partition of its cause: there it is looked for."""
        return await client.send(self._producer, self._work.place(topic, self._partition), messages)

    def _positions_after(self, done: Advance[Any]) -> dict[str, int]:
        """Of every input, also those that gave nothing: positions of a topic that nobody subscribes to expire."""
        return {
            topic: self._queues[topic][taken - 1].offset + 1 if taken else self._memory.positions[topic]
            for topic, taken in done.taken.items()
        }

    def _take(self, done: Advance[Any]) -> None:
        """The states are swapped and the records are gone from the queues."""
        memory = self._memory
        memory.positions = self._positions_after(done)
        memory.states.update(done.changed)
        memory.changed.update(dict.fromkeys(done.changed))
        for topic, taken in done.taken.items():
            for _ in range(taken):
                self._queues[topic].popleft()
        self._work.health.count("records_in", sum(done.taken.values()))
        self._room.set()

    async def _snapshot(self) -> None:
        """In a transaction of its own; a state that cannot be encoded costs the snapshot and nothing else."""
        memory, work = self._memory, self._work
        number = memory.snapshot + 1
        tables = snapshots.due(memory.states, memory.changed, memory.written, number)
        if not memory.changed or not tables:
            return
        encoded: dict[str, bytes] = {}
        for table_id in tables:
            try:
                encoded[table_id] = encode_state(memory.states[table_id])
            except Unfit as error:
                LOGGER.warning("%s: no snapshot: %s", self._name, error)
                return
            await asyncio.sleep(0)  # the other partitions have work too
        work.fault("before-snapshot")
        chunks = [(one, chunk) for one in tables for chunk in snapshots.chunks(one, encoded[one], number)]
        written, topic = dict(memory.written), self._processor.snapshots
        async with asyncio.timeout(2 * client.COMMIT_WITHIN_S):
            await self._producer.begin_transaction()
            offsets = await client.offsets_of(await self._send(topic, [chunk for _, chunk in chunks]))
            for (table_id, _), offset in reversed([*zip(chunks, offsets, strict=True)]):  # a table's first comes last
                written[table_id] = snapshots.Written(offset, number)
            work.fault("inside-snapshot")
            manifest = snapshots.manifest_message(self._manifest(number, written))
            await client.offsets_of(await self._send(topic, [manifest]))
            await self._producer.commit_transaction()
        work.fault("after-snapshot")
        memory.snapshot, memory.written, memory.changed = number, written, {}
        work.health.count("snapshots")

    def _manifest(self, number: int, written: Mapping[str, snapshots.Written]) -> snapshots.KafkaManifest:
        memory = self._memory
        return snapshots.KafkaManifest(
            state_version=self._processor.state_version,
            output_offset=memory.output_offset,
            tables=len(memory.states),
            positions=memory.positions,
            log_id=self._work.log_id,
            number=number,
            first_offset=min(place.offset for place in written.values()),
            letters_offset=memory.letters_offset,
            last_fact=memory.last_fact,
        )
