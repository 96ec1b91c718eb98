"""The projection on a real Redis, over the embedded log: whatever happens to either, pages get what the fold says."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest
from redis.asyncio import Redis
from redis.exceptions import RedisError
from redis.exceptions import TimeoutError as NoAnswerError

from services.baccarat.errors import NotReady
from services.baccarat.events import ROUNDS
from services.dashboard.projection import blamed
from services.dashboard.redis_model import Model, connected
from services.runtime import local
from services.runtime.embedded import Draft, EmbeddedLog
from services.runtime.log import Log, Reader
from services.runtime.reading import partition_of
from tests.dashboard.conftest import Table, projecting, shown, until, until_shown


async def epoch_of(redis: Redis, prefix: str) -> str:
    epoch = await Model(redis, prefix).current()
    assert epoch is not None
    return epoch


async def keys(redis: Redis, prefix: str, pattern: str = "*") -> list[bytes]:
    return [key async for key in redis.scan_iter(match=f"{prefix}:{pattern}")]


async def test_what_is_in_the_log_is_shown_and_what_comes_follows(
    log: EmbeddedLog, redis: Redis, redis_url: str, prefix: str
) -> None:
    tables = [Table(log, f"T{number}", "ez") for number in range(1, 5)]
    for table in tables:
        await table.play(6)
    async with projecting(log, redis_url, prefix) as ready:
        await ready.becomes(True)
        for table in tables:  # caught up is caught up
            assert await shown(redis, prefix, table.table_id) == table.views()
        for table in tables:
            await table.play(2)
        await until_shown(redis, prefix, *tables)
    assert ready.told == [True, False]


async def test_a_restart_goes_on_in_the_same_epoch(log: EmbeddedLog, redis: Redis, redis_url: str, prefix: str) -> None:
    table = Table(log, "T1")
    await table.play(3)
    async with projecting(log, redis_url, prefix) as ready:
        await ready.becomes(True)
    epoch = await epoch_of(redis, prefix)
    await table.play(3)
    async with projecting(log, redis_url, prefix) as ready:
        await ready.becomes(True)
        assert await shown(redis, prefix, "T1") == table.views()
    assert await epoch_of(redis, prefix) == epoch


async def test_positions_that_are_gone_mean_from_the_beginning_and_do_no_harm(
    log: EmbeddedLog, redis: Redis, redis_url: str, prefix: str
) -> None:
    table = Table(log, "T1")
    await table.play(3)
    async with projecting(log, redis_url, prefix) as ready:
        await ready.becomes(True)
    epoch = await epoch_of(redis, prefix)
    assert await redis.delete(*await keys(redis, prefix, "*positions")) == 1
    await table.play(1)
    async with projecting(log, redis_url, prefix) as ready:
        await ready.becomes(True)
        assert await shown(redis, prefix, "T1") == table.views()
    assert await epoch_of(redis, prefix) == epoch


async def test_an_emptied_redis_is_filled_again_though_nothing_new_comes(
    log: EmbeddedLog, redis: Redis, redis_url: str, prefix: str
) -> None:
    table = Table(log, "T1")
    await table.play(3)
    async with projecting(log, redis_url, prefix) as ready:
        await ready.becomes(True)
        await redis.delete(*await keys(redis, prefix))
        await until_shown(redis, prefix, table)
        await ready.becomes(True, False, True)
        await table.play(2)
        await until_shown(redis, prefix, table)


async def test_a_hole_is_folded_again_into_a_new_epoch(
    log: EmbeddedLog, redis: Redis, redis_url: str, prefix: str
) -> None:
    tables = [Table(log, "T1"), Table(log, "T2")]
    for table in tables:
        await table.play(3)
    async with projecting(log, redis_url, prefix) as ready:
        await ready.becomes(True)
        epoch = await epoch_of(redis, prefix)
        [lost] = await keys(redis, prefix, "*{table T1}:rounds")
        await redis.hset(lost.decode(), "offset", 3)
        await tables[0].play(1)
        await until_shown(redis, prefix, *tables)
        await ready.becomes(True, False, True)
        assert await epoch_of(redis, prefix) != epoch
        await until(lambda: _none_left(redis, prefix, epoch), "the old epoch's keys gone")


async def _none_left(redis: Redis, prefix: str, epoch: str) -> bool:
    return not await keys(redis, prefix, f"{epoch}:*")


async def test_a_table_lost_while_nobody_looked_is_missed(
    log: EmbeddedLog, redis: Redis, redis_url: str, prefix: str
) -> None:
    table = Table(log, "T1")
    await table.play(3)
    async with projecting(log, redis_url, prefix) as ready:
        await ready.becomes(True)
    assert await redis.delete(*await keys(redis, prefix, "*{table T1}:settlements")) == 1
    await table.play(1)
    async with projecting(log, redis_url, prefix):
        await until_shown(redis, prefix, table)


async def test_a_view_of_another_shape_is_made_anew(
    log: EmbeddedLog, redis: Redis, redis_url: str, prefix: str
) -> None:
    table = Table(log, "T1")
    await table.play(3)
    async with projecting(log, redis_url, prefix) as ready:
        await ready.becomes(True)
    [of_rounds] = await keys(redis, prefix, "*{table T1}:rounds")
    await redis.hset(of_rounds.decode(), "view", '{"phase": 7}')
    await table.play(1)
    async with projecting(log, redis_url, prefix):
        await until_shown(redis, prefix, table)


async def test_another_log_takes_over_and_the_older_process_gives_way(
    log: EmbeddedLog, redis: Redis, redis_url: str, prefix: str, tmp_path: Path
) -> None:
    old, new = Table(log, "T1"), None
    await old.play(2)
    async with projecting(log, redis_url, prefix) as ready:
        await ready.becomes(True)
        with EmbeddedLog(tmp_path / "other.db", partitions=2) as other:
            new = Table(other, "T1", "super-6")
            await new.play(4)
            async with projecting(other, redis_url, prefix) as newer:
                await newer.becomes(True)
                await ready.becomes(True, False)
                await until_shown(redis, prefix, new)
                assert newer.told == [True]


class Apart:
    """The same log for a projection that does not share its partitions with the other: two owners of each."""

    def __init__(self, log: EmbeddedLog) -> None:
        self._log = log
        self.log_id = log.log_id
        self.partitions = log.partitions
        self.append = log.append
        self.end = log.end
        self.reader = log.reader

    def shared_reader(
        self, group: str, topics: Sequence[str], begin: Callable[[str, int], Awaitable[int]]
    ) -> AbstractAsyncContextManager[Reader]:
        return self._log.shared_reader(f"{group} apart", topics, begin)


async def test_two_projections_of_the_same_partitions_do_no_harm(
    log: EmbeddedLog, redis: Redis, redis_url: str, prefix: str
) -> None:
    tables = [Table(log, f"T{number}") for number in range(1, 4)]
    for table in tables:
        await table.play(3)
    async with projecting(log, redis_url, prefix) as ready, projecting(Apart(log), redis_url, prefix) as second:
        await ready.becomes(True)
        await second.becomes(True)
        epoch = await epoch_of(redis, prefix)
        for _ in range(8):
            for table in tables:
                await table.play(1)
        await until_shown(redis, prefix, *tables)
        assert await epoch_of(redis, prefix) == epoch
        assert (ready.told, second.told) == ([True], [True])


async def test_two_members_share_the_partitions_and_show_one_epoch(
    log: EmbeddedLog, redis: Redis, redis_url: str, prefix: str
) -> None:
    tables = [Table(log, f"T{number}") for number in range(1, 7)]
    for table in tables:
        await table.play(1)
    async with projecting(log, redis_url, prefix) as ready, projecting(log, redis_url, prefix) as second:
        await ready.becomes(True)
        await second.becomes(True)
        for table in tables:
            await table.play(1)
        await until_shown(redis, prefix, *tables)


async def test_a_redis_that_dies_and_comes_back_empty(log: EmbeddedLog, own_redis: local.Child, prefix: str) -> None:
    table = Table(log, "T1")
    await table.play(2)
    port = int(own_redis.address.rpartition(":")[2].partition("/")[0])
    async with projecting(log, own_redis.address, prefix) as ready:
        await ready.becomes(True)
        own_redis.kill()
        await table.play(1)
        await ready.becomes(True, False)
        with local.start_valkey(own_redis.data_dir, port) as again:
            await ready.becomes(True, False, True)
            await table.play(1)
            async with connected(again.address) as redis:
                await until_shown(redis, prefix, table)


class Ailing(Apart):
    """A log that does not answer for a while."""

    ill = False

    def __init__(self, log: EmbeddedLog) -> None:
        super().__init__(log)
        self.end = self._end

    async def _end(self, topic: str, partition: int) -> int:
        if self.ill:
            raise NotReady("no broker answers")
        return await self._log.end(topic, partition)


async def test_a_log_that_does_not_answer_stops_the_heartbeat(
    log: EmbeddedLog, redis: Redis, redis_url: str, prefix: str
) -> None:
    table = Table(log, "T1")
    await table.play(2)
    ailing = Ailing(log)
    as_log: Log = ailing
    async with projecting(as_log, redis_url, prefix) as ready:
        await ready.becomes(True)
        async with redis.pubsub() as pubsub:
            await pubsub.subscribe(Model(redis, prefix).channel(await epoch_of(redis, prefix)))
            ailing.ill = True
            await ready.becomes(True, False)
            while await pubsub.get_message(timeout=0.05) is not None:
                pass
            assert await pubsub.get_message(ignore_subscribe_messages=True, timeout=2.5) is None
            ailing.ill = False
            await ready.becomes(True, False, True)
            beat = None
            while beat is None:
                beat = await pubsub.get_message(ignore_subscribe_messages=True, timeout=5)
        assert beat["data"] == b'{"beat":[0,1,2]}'


async def test_a_projection_waits_for_a_redis_that_is_not_there_yet(log: EmbeddedLog, prefix: str) -> None:
    async with projecting(log, f"redis://127.0.0.1:{local.free_port()}/0", prefix) as ready:
        await ready.becomes(False)


async def test_records_that_cannot_be_used_move_the_offset_only(
    log: EmbeddedLog, redis: Redis, redis_url: str, prefix: str
) -> None:
    table = Table(log, "T1")
    await table.play(1)
    before = len([topic for topic, _ in table.facts if topic == ROUNDS])
    await log.append_drafts([Draft(ROUNDS, partition_of("T1", log.partitions), b"T1", b"nonsense")])
    async with projecting(log, redis_url, prefix) as ready:
        await ready.becomes(True)
        assert await shown(redis, prefix, "T1") == table.views()
        [of_rounds] = await keys(redis, prefix, "*{table T1}:rounds")
        stored = await redis.hget(of_rounds.decode(), "offset")
        assert int(stored or 0) == before


async def test_a_stop_is_heard_while_nothing_comes(log: EmbeddedLog, redis_url: str, prefix: str) -> None:
    async with asyncio.timeout(5), projecting(log, redis_url, prefix) as ready:
        await ready.becomes(True)


@pytest.mark.parametrize(
    ("trouble", "why"),
    [
        (NotReady("Kafka at k:9092 does not answer"), "Kafka at k:9092 does not answer"),
        (TimeoutError(), "the log does not answer"),
        (RedisError("connection refused"), "Redis does not answer: connection refused"),
        (NoAnswerError("for 5 s"), "Redis does not answer: for 5 s"),
        (ConnectionResetError("by peer"), "Redis does not answer: by peer"),
    ],
)
def test_it_is_told_what_is_away(trouble: Exception, why: str) -> None:
    assert blamed(trouble) == why
