import asyncio

import pytest
from confluent_kafka.admin import AdminClient
from msgspec.structs import replace

from services.baccarat.errors import NotReady, Unfit
from services.baccarat.events import ROUNDS, TABLE_FEED, DeviceReported
from services.runtime import topics
from services.runtime.codec import Codec
from services.runtime.kafka_ids import log_id_of
from services.runtime.kafka_log import open_log
from services.runtime.local import Child, start_kafka
from services.runtime.log import Reader
from services.runtime.processor import Record
from services.runtime.reading import partition_of
from services.runtime.settings import Settings

CODEC = Codec()


@pytest.fixture
async def settings(kafka: str, prefix: str) -> Settings:
    settings = Settings(kafka=kafka, topic_prefix=prefix, partitions=3)
    await topics.apply(settings)
    return settings


def said(table: int, sequence: int) -> DeviceReported:
    return DeviceReported(
        event_id=f"T{table}/d/1/{sequence}",
        table_id=f"T{table}",
        device="d",
        boot=1,
        sequence=sequence,
        what="online",
    )


async def read(reader: Reader, count: int) -> list[Record]:
    found: list[Record] = []
    async with asyncio.timeout(30):
        while len(found) < count:
            found += await reader.next(1_000)
    return found


async def test_what_is_appended_is_read_in_order_from_where_one_likes(settings: Settings) -> None:
    async with open_log(settings, CODEC) as log:
        await log.append(TABLE_FEED, [said(table, sequence) for sequence in range(1, 6) for table in range(4)])
        ends = {(TABLE_FEED, partition): await log.end(TABLE_FEED, partition) for partition in range(3)}
        assert sum(ends.values()) == 20
        async with log.reader(dict.fromkeys(ends, 0)) as reader:
            found = await read(reader, 20)
        for table in range(4):
            of_table = [record for record in found if record.key == f"T{table}"]
            assert [record.event for record in of_table] == [said(table, sequence) for sequence in range(1, 6)]
            assert {record.partition for record in of_table} == {partition_of(f"T{table}", 3)}
        async with log.reader(ends) as reader:
            assert await reader.next(100) == []
            await log.append(TABLE_FEED, [said(1, 6)])
            assert [record.event for record in await read(reader, 1)] == [said(1, 6)]


async def test_what_cannot_be_encoded_is_refused_before_anything_is_sent(settings: Settings) -> None:
    async with open_log(settings, CODEC) as log:
        with pytest.raises(Unfit):
            await log.append(TABLE_FEED, [said(1, 1), replace(said(1, 2), text="x" * 2_000_000)])
        with pytest.raises(Unfit):
            await log.append(ROUNDS, [said(1, 1)])
        assert [await log.end(TABLE_FEED, partition) for partition in range(3)] == [0, 0, 0]


async def test_members_of_a_group_share_partition_numbers_and_begin_where_they_are_told(settings: Settings) -> None:
    asked: list[tuple[str, int]] = []
    taken: dict[tuple[str, int], int] = {}

    async def begin(topic: str, partition: int) -> int:
        asked.append((topic, partition))
        return taken.get((topic, partition), 0)

    async def follow(name: str, stop: asyncio.Event) -> None:
        async with log.shared_reader("pages", [TABLE_FEED, ROUNDS], begin) as reader:
            while not stop.is_set():
                for record in await reader.next(100):
                    seen.setdefault(name, []).append(record)
                    taken[record.topic, record.partition] = record.offset + 1

    seen: dict[str, list[Record]] = {}
    first, second = asyncio.Event(), asyncio.Event()
    async with open_log(settings, CODEC) as log, asyncio.timeout(60):
        await log.append(TABLE_FEED, [said(table, 1) for table in range(10)])
        one = asyncio.create_task(follow("one", first))
        await until(lambda: len(seen.get("one", ())) == 10)
        assert sorted(asked) == [(topic, partition) for topic in (ROUNDS, TABLE_FEED) for partition in range(3)]
        two = asyncio.create_task(follow("two", second))
        await until(lambda: len(asked) >= 12)  # the group is shared out anew
        await log.append(TABLE_FEED, [said(table, 2) for table in range(10)])
        await until(lambda: sum(map(len, seen.values())) == 20)
        assert seen["two"]
        first.set()
        await one
        await log.append(TABLE_FEED, [said(table, 3) for table in range(10)])
        await until(lambda: sum(map(len, seen.values())) == 30)
        second.set()
        await two
    events = sorted(record.event.event_id for records in seen.values() for record in records if record.event)
    assert events == sorted(said(table, sequence).event_id for table in range(10) for sequence in (1, 2, 3))


async def until(holds: object) -> None:
    assert callable(holds)
    while not holds():
        await asyncio.sleep(0.02)


async def test_a_topic_that_is_made_again_is_another_log(settings: Settings) -> None:
    before = await log_id_of(settings)
    assert await log_id_of(settings) == before
    name = settings.topic_prefix + ROUNDS
    admin = AdminClient({"bootstrap.servers": settings.kafka})
    await asyncio.to_thread(admin.delete_topics([name])[name].result)
    async with asyncio.timeout(30):
        while not await topics.plan(settings):
            await asyncio.sleep(0.05)
    with pytest.raises(NotReady, match="rounds: missing"):
        await log_id_of(settings)
    await topics.apply(settings)
    assert await log_id_of(settings) != before


async def test_a_broker_that_goes_is_not_ready_and_one_that_comes_back_goes_on(own_kafka: Child) -> None:
    settings = Settings(kafka=own_kafka.address, partitions=2)
    await topics.apply(settings)
    async with open_log(settings, CODEC) as log:
        await log.append(TABLE_FEED, [said(1, 1)])
        place = (TABLE_FEED, partition_of("T1", 2))
        async with log.reader({place: 0}) as reader:
            assert len(await read(reader, 1)) == 1
            await asyncio.to_thread(own_kafka.kill)
            with pytest.raises(NotReady, match="Kafka at"):
                await log.append(TABLE_FEED, [said(1, 2)])
            with pytest.raises(NotReady, match="Kafka at"):
                await read(reader, 1)
            port = int(own_kafka.address.rpartition(":")[2])
            again = await asyncio.to_thread(start_kafka, own_kafka.data_dir, port)
            with again:
                await log.append(TABLE_FEED, [said(1, 2)])
                found = await read(reader, 1)
                assert [record.event for record in found][-1] == said(1, 2)
                assert await log.end(*place) >= 2
