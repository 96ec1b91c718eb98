"""aiokafka's clients as this project uses them: with a deadline on everything, and thrown away after any error.

aiokafka itself has no deadlines: start, commit and stop retry for ever. A producer that met an error is not mended but
discarded; what it left half done is aborted when the next one with its transactional id starts.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Coroutine, Iterable, Sequence
from typing import Any, Final, NamedTuple

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.coordinator.assignors.range import RangePartitionAssignor
from aiokafka.errors import KafkaError

from services.baccarat.errors import NotReady
from services.runtime.settings import Settings
from services.runtime.topics import MAX_RECORD_BYTES

START_WITHIN_S: Final = 10.0  # of a producer or consumer; fencing waits until the old transaction is aborted
COMMIT_WITHIN_S: Final = 5.0  # of one whole transaction, well under REQUEST_TIMEOUT_MS
STOP_WITHIN_S: Final = 2.0
PROGRESS_WITHIN_S: Final = 15.0  # between two answers while a topic is read to its end
QUICK_MS: Final = 10  # between looks at a consumer that reads to an end: markers move it without a record
REQUEST_TIMEOUT_MS: Final = 15_000
RETRY_BACKOFF_MS: Final = 10  # aiokafka's 100 is what a transaction pays when the last one is still being marked
REST_AT_MOST: Final = 5  # times the least rest
BATCH_BYTES: Final = 256 * 1024


def rest_s(settings: Settings, took_s: float) -> float:
    """How long to rest after a transaction: as long as it took, so that a busy broker gets fewer and larger ones."""
    least_s = settings.rest_ms / 1000
    return min(max(least_s, took_s), REST_AT_MOST * least_s)


class Discarded(KafkaError):  # type: ignore[misc]
    """What is left of a discarded producer's sends; nobody asks for it any more."""


def new_producer(settings: Settings, transactional_id: str | None) -> Any:
    """Idempotent in any case; without an id it writes outside transactions."""
    return AIOKafkaProducer(
        bootstrap_servers=settings.kafka,
        client_id=transactional_id or f"{settings.topic_prefix}writer",
        transactional_id=transactional_id,
        transaction_timeout_ms=min(10_000, settings.session_timeout_ms - 500),
        enable_idempotence=True,
        acks="all",
        max_batch_size=BATCH_BYTES,
        max_request_size=MAX_RECORD_BYTES,
        request_timeout_ms=REQUEST_TIMEOUT_MS,
        retry_backoff_ms=RETRY_BACKOFF_MS,
    )


def new_consumer(settings: Settings, *, committed: bool, group: str | None = None, wait_ms: int = 500) -> Any:
    """A reader by manual assignment; with a `group` a member of it.

    The broker holds an empty fetch for `wait_ms`, and everything else that this consumer asks it waits behind that.
    """
    membership: dict[str, Any] = {}
    if group is not None:
        membership = {
            "group_id": group,
            "group_instance_id": f"{group}-{settings.instance}" if settings.instance else None,
            "session_timeout_ms": settings.session_timeout_ms,
            "heartbeat_interval_ms": max(300, settings.session_timeout_ms // 6),
            "rebalance_timeout_ms": max(10_000, settings.session_timeout_ms),
            "partition_assignment_strategy": (RangePartitionAssignor,),
        }
    return AIOKafkaConsumer(
        bootstrap_servers=settings.kafka,
        client_id=f"{settings.topic_prefix}reader",
        enable_auto_commit=False,
        auto_offset_reset="earliest" if group else "none",  # a member's own positions are never used
        isolation_level="read_committed" if committed else "read_uncommitted",
        request_timeout_ms=REQUEST_TIMEOUT_MS,
        retry_backoff_ms=100,
        fetch_max_wait_ms=wait_ms,
        **membership,
    )


async def start(client: Any) -> None:
    """Starts a producer or a consumer, or raises within START_WITHIN_S."""
    async with asyncio.timeout(START_WITHIN_S):
        await client.start()


async def stop_consumer(consumer: Any) -> None:
    """Never raises but a cancel; a member leaves its group, if the broker answers in time."""
    await ended(consumer.stop())
    consumer._closed = True  # noqa: SLF001 - what did not stop in time is not to be complained about either
    await ended(consumer._client.close())  # noqa: SLF001


async def ended(work: Coroutine[Any, Any, None]) -> None:
    """Waits for STOP_WITHIN_S at most, whatever is raised in it: aiokafka awaits tasks of its own that it cancelled."""
    task = asyncio.create_task(work)
    task.add_done_callback(lambda done: done.cancelled() or done.exception())
    try:
        await asyncio.wait({task}, timeout=STOP_WITHIN_S)
    finally:
        task.cancel()


async def discard(producer: Any) -> None:
    """Ends a producer at once, sending nothing more: `stop` would flush, and without a broker for ever."""
    producer._closed = True  # noqa: SLF001 - aiokafka has no other way to give up
    producer.client.coordinator_lookup = refuse
    records = producer._message_accumulator  # noqa: SLF001
    records.reenqueue = lambda _batch: None
    for batches in records._batches.values():  # noqa: SLF001
        records._pending_batches.update(batches)  # noqa: SLF001 - it removes them, also if they wait for another try
    records.fail_all(Discarded("discarded"))
    sender = producer._sender.sender_task  # noqa: SLF001
    if sender is not None:
        sender.cancel()
        await asyncio.wait({sender}, timeout=STOP_WITHIN_S)
        if sender.done() and not sender.cancelled():
            sender.exception()  # it was told to whoever waited for a transaction
    with contextlib.suppress(Exception):
        async with asyncio.timeout(STOP_WITHIN_S):
            await producer.client.close()


async def refuse(*_: object) -> None:
    """Stands in for a look-up that would be tried for ever: who waits for it ends as if it was cancelled."""
    raise asyncio.CancelledError


async def read_to(consumer: Any, place: TopicPartition, begin: int, end: int) -> AsyncIterator[list[Any]]:
    """The records of a partition from `begin` up to `end`, some at a time; markers and compaction leave gaps."""
    if begin >= end:
        return
    consumer.assign([place])
    consumer.seek(place, begin)  # in the same tick: `assign` throws every position away
    now = asyncio.get_running_loop().time
    position, since = begin, now()
    while position < end:
        async with asyncio.timeout(PROGRESS_WITHIN_S):
            found = await consumer.getmany(place, timeout_ms=QUICK_MS, max_records=2_000)
            moved = await consumer.position(place)
        if records := [record for record in found.get(place, ()) if record.offset < end]:
            yield records
        if moved != position:
            position, since = moved, now()
        elif now() - since > PROGRESS_WITHIN_S:
            raise NotReady(f"{place.topic} {place.partition} shows nothing at {position}, though it ends at {end}")


async def ends_of(consumer: Any, place: TopicPartition) -> tuple[int, int]:
    """Its first offset and the next one; the last stable one for a consumer that reads what is committed."""
    async with asyncio.timeout(PROGRESS_WITHIN_S):
        begin = await consumer.beginning_offsets([place])
        end = await consumer.end_offsets([place])
    return begin[place], end[place]


class Message(NamedTuple):
    """A record on its way to a partition."""

    key: bytes
    value: bytes
    headers: Sequence[tuple[str, bytes]]


class Batch(NamedTuple):
    """Records that travel together: where the first of them lies, once it is known, and how many there are."""

    place: Awaitable[Any]
    records: int


async def send(producer: Any, place: TopicPartition, messages: Iterable[Message]) -> list[Batch]:
    """Hands records of one partition to a producer, in order; see `offsets_of`.

    aiokafka's own `send` does as much work for each record as this for a batch.
    """
    batches: list[Batch] = []
    builder = producer.create_batch()
    for message in messages:
        if not append(builder, message):  # full
            batches.append(await send_batch(producer, place, builder))
            builder = producer.create_batch()
            append(builder, message)  # one by itself always fits
    if builder.record_count():
        batches.append(await send_batch(producer, place, builder))
    return batches


def append(builder: Any, message: Message) -> bool:
    key, value, headers = message
    return builder.append(timestamp=None, key=key, value=value, headers=headers) is not None


async def send_batch(producer: Any, place: TopicPartition, builder: Any) -> Batch:
    return Batch(await producer.send_batch(builder, place.topic, partition=place.partition), builder.record_count())


async def offsets_of(batches: Sequence[Batch], *others: Awaitable[Any]) -> list[int]:
    """Where the records of these batches lie, in order, once all are done and `others` too; raises as `all_of` does.

    A batch that was repeated may come back without its place: its offsets are below 0.
    """
    places = await all_of([batch.place for batch in batches], *others)
    return [
        place.offset + number if place.offset >= 0 else -1
        for place, batch in zip(places, batches, strict=True)
        for number in range(batch.records)
    ]


async def all_of(futures: Sequence[Awaitable[Any]], *others: Awaitable[Any]) -> list[Any]:
    """What the futures of `send` came to, once all are done and `others` too; the first error is raised.

    A commit does not look at them: it would commit without what failed.
    """
    found = await asyncio.gather(*futures, *others, return_exceptions=True)
    for one in found:
        if isinstance(one, BaseException):
            raise one
    return found[: len(futures)]


async def mark(producer: Any, places: Iterable[TopicPartition], *, commit: bool) -> None:
    """Ends a transaction in these partitions that has no records: all that it writes is its marks."""
    async with asyncio.timeout(COMMIT_WITHIN_S):
        await producer.begin_transaction()
        for place in places:
            producer._txn_manager.maybe_add_partition_to_txn(place)  # noqa: SLF001 - `send` would need a record
        await (producer.commit_transaction() if commit else producer.abort_transaction())
