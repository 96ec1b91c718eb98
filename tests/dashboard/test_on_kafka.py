"""The projection over a real Kafka: partitions shared by members that come and go, and a position kept in Redis."""

from collections.abc import AsyncIterator

import pytest
from redis.asyncio import Redis

from services.dashboard.redis_model import Model
from services.runtime import topics
from services.runtime.codec import Codec
from services.runtime.kafka_log import KafkaLog, open_log
from services.runtime.settings import Settings
from tests.dashboard.conftest import Table, projecting, shown, until_shown


@pytest.fixture
async def settings(kafka: str, prefix: str) -> Settings:
    told = Settings(kafka=kafka, topic_prefix=prefix, partitions=2)
    await topics.apply(told)
    return told


@pytest.fixture
async def log(settings: Settings) -> AsyncIterator[KafkaLog]:
    async with open_log(settings, Codec()) as opened:
        yield opened


async def test_members_come_and_go_and_nothing_is_missed_or_told_twice(
    log: KafkaLog, redis: Redis, redis_url: str, prefix: str
) -> None:
    tables = [Table(log, f"T{number}") for number in range(1, 5)]
    for table in tables:
        await table.play(2)
    async with projecting(log, redis_url, prefix) as ready:
        await ready.becomes(True)
        for table in tables:
            assert await shown(redis, prefix, table.table_id) == table.views()
        epoch = await Model(redis, prefix).current()
        async with projecting(log, redis_url, prefix) as second:
            await second.becomes(True)
            for table in tables:
                await table.play(1)
            await until_shown(redis, prefix, *tables)
        for table in tables:  # the one that is left has it all again
            await table.play(1)
        await until_shown(redis, prefix, *tables)
    await tables[0].play(1)
    async with projecting(log, redis_url, prefix) as ready:
        await ready.becomes(True)
        assert await shown(redis, prefix, "T1") == tables[0].views()
    assert await Model(redis, prefix).current() == epoch


async def test_an_emptied_redis_is_filled_again_from_kafka(
    log: KafkaLog, redis: Redis, redis_url: str, prefix: str
) -> None:
    table = Table(log, "T1")
    await table.play(2)
    async with projecting(log, redis_url, prefix) as ready:
        await ready.becomes(True)
        await redis.delete(*[key async for key in redis.scan_iter(match=f"{prefix}:*")])
        await until_shown(redis, prefix, table)
        await ready.becomes(True, False, True)
