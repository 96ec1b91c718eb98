"""Records handed to a producer in batches: each comes once, in order, where its batch said."""

import asyncio
from typing import Any

import pytest
from aiokafka import TopicPartition

from services.runtime import kafka_client as client
from services.runtime import topics
from services.runtime.local import Child
from services.runtime.settings import Settings

SIZES = (0, 10, 100_000, 200_000, 300_000, 5, 900_000, 1, 260_000, 7)  # around the size of a batch, 262,144 bytes


@pytest.fixture
async def settings(kafka: str, prefix: str) -> Settings:
    settings = Settings(kafka=kafka, topic_prefix=prefix, partitions=3)
    await topics.apply(settings)
    return settings


def messages(number: int) -> list[client.Message]:
    return [
        client.Message(f"{number}/{place}".encode(), bytes([65 + place]) * size, [("by", b"test")])
        for place, size in enumerate(SIZES)
    ]


async def read(settings: Settings, place: TopicPartition, end: int) -> list[Any]:
    consumer = client.new_consumer(settings, committed=True)
    await client.start(consumer)
    try:
        return [record async for records in client.read_to(consumer, place, 0, end) for record in records]
    finally:
        await client.stop_consumer(consumer)


async def test_batches_keep_their_order_and_say_where_each_record_lies(settings: Settings) -> None:
    place, other = (TopicPartition(f"{settings.topic_prefix}rounds", number) for number in (1, 2))
    producer = client.new_producer(settings, f"{settings.topic_prefix}sender")
    offsets: list[int] = []
    try:
        await client.start(producer)
        for number in range(3):  # the second transaction is aborted
            async with asyncio.timeout(30):
                await producer.begin_transaction()
                batches = await client.send(producer, place, messages(number))
                assert 1 < len(batches) < len(SIZES)
                elsewhere = await client.send(producer, other, messages(number)[:2])
                found = await client.offsets_of([*batches, *elsewhere])
                assert len(found) == len(SIZES) + 2
                if number == 1:
                    await producer.abort_transaction()
                else:
                    await producer.commit_transaction()
                    offsets += found[: len(SIZES)]
        assert await client.send(producer, place, []) == []
    finally:
        await client.discard(producer)
    records = await read(settings, place, offsets[-1] + 1)
    assert [record.offset for record in records] == offsets
    sent = [*messages(0), *messages(2)]
    assert [client.Message(record.key, record.value, list(record.headers)) for record in records] == sent


async def more(producer: Any, place: TopicPartition, batches: list[client.Batch]) -> None:
    async with asyncio.timeout(30):
        await client.offsets_of([*batches, *await client.send(producer, place, messages(1))])
        await producer.commit_transaction()


async def test_whoever_was_fenced_leaves_no_batch_behind(settings: Settings) -> None:
    place = TopicPartition(f"{settings.topic_prefix}rounds", 0)
    name = f"{settings.topic_prefix}sender"
    first, second = client.new_producer(settings, name), client.new_producer(settings, name)
    try:
        await client.start(first)
        await first.begin_transaction()
        batches = await client.send(first, place, messages(0))
        await client.start(second)
        with pytest.raises(Exception, match=r"."):  # aiokafka has many names for it
            await more(first, place, batches)
        await second.begin_transaction()
        offsets = await client.offsets_of(await client.send(second, place, messages(2)))
        await second.commit_transaction()
    finally:
        await client.discard(first)
        await client.discard(second)
    records = await read(settings, place, offsets[-1] + 1)
    assert [record.key for record in records] == [message.key for message in messages(2)]


async def test_a_discarded_producer_leaves_no_complaint_though_a_batch_of_it_waits_for_another_try(
    own_kafka: Child,
) -> None:
    settings = Settings(kafka=own_kafka.address, partitions=1)
    await topics.apply(settings)
    producer = client.new_producer(settings, None)
    complaints: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: complaints.append(context))
    await client.start(producer)
    own_kafka.kill()
    (batch,) = await client.send(producer, TopicPartition("table-feed", 0), messages(0)[:1])
    waiting = producer._message_accumulator._batches
    async with asyncio.timeout(30):
        while not any(each.retry_count for each in waiting[TopicPartition("table-feed", 0)]):
            await asyncio.sleep(0)
    await client.discard(producer)
    with pytest.raises(client.Discarded):
        await batch.place
    assert complaints == []
