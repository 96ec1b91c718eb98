import asyncio

import pytest
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from msgspec.structs import replace

from services.baccarat.errors import BadSettings, NotReady
from services.runtime.settings import Settings
from services.runtime.topics import MISSING, TOPICS, Admin, apply, plan, verify


@pytest.fixture
def settings(kafka: str, prefix: str) -> Settings:
    return Settings(kafka=kafka, topic_prefix=prefix, partitions=3)


async def until_seen(settings: Settings) -> None:
    """A broker hears of a change a moment after the controller made it."""
    async with asyncio.timeout(20):
        while len(await plan(settings)) < 2:
            await asyncio.sleep(0.05)


async def test_a_plan_is_applied_and_then_there_is_nothing_to_do(settings: Settings) -> None:
    with pytest.raises(NotReady, match=r"missing.*\(and 6 more\); `punto topics plan` shows all"):
        await verify(settings)
    assert [change.what for change in await plan(settings)] == [MISSING] * len(TOPICS)
    assert len(await apply(settings)) == len(TOPICS)
    assert await plan(settings) == []
    assert await apply(settings) == []
    await verify(settings)


async def test_a_changed_setting_is_refused_and_mended_and_what_else_is_set_stays(settings: Settings) -> None:
    await apply(settings)
    name = f"{settings.topic_prefix}bets"
    async with Admin(settings) as admin:
        meddled = {"retention.ms": "5000", "message.timestamp.type": "CreateTime", "segment.ms": "77777"}
        await admin._client.alter_configs([ConfigResource(ConfigResourceType.TOPIC, name, meddled)])
    await until_seen(settings)
    with pytest.raises(NotReady, match=r"bets: message\.timestamp\.type is CreateTime, must be LogAppendTime"):
        await verify(settings)
    assert {change.what for change in await apply(settings)} == {"message.timestamp.type", "retention.ms"}
    await verify(settings)
    async with Admin(settings) as admin:
        assert (await admin.describe())[name].own["segment.ms"] == "77777"


async def test_a_partition_count_is_never_changed(settings: Settings) -> None:
    await apply(settings)
    with pytest.raises(BadSettings, match=r"table-feed: partitions is 3, must be 6: a table would change its part"):
        await apply(replace(settings, partitions=6))
    with pytest.raises(NotReady, match="partitions is 3, must be 6"):
        await verify(replace(settings, partitions=6))
    assert await plan(settings) == []


async def test_a_broker_that_is_away_is_one_line(settings: Settings) -> None:
    with pytest.raises(NotReady, match=r"^Kafka at 127\.0\.0\.1:1 does not answer$"):
        await plan(replace(settings, kafka="127.0.0.1:1"))
