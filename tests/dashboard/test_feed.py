"""What pages of one process are told, from a Redis that a projection fills."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest
from redis.asyncio import Redis

from services.baccarat.errors import NotReady
from services.dashboard.feed import WAITING_MESSAGES, Feed, Page, sse
from services.dashboard.redis_model import Model
from services.runtime import local
from services.runtime.embedded import EmbeddedLog
from tests.dashboard.conftest import Table, projecting, until, until_shown


@asynccontextmanager
async def following(redis_url: str, prefix: str) -> AsyncIterator[Feed]:
    feed = Feed(redis_url, prefix)
    task = asyncio.create_task(feed.run())
    try:
        yield feed
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


def parsed(message: bytes) -> tuple[str, Any]:
    event, data = message.decode().strip().split("\n")
    return event.removeprefix("event: "), json.loads(data.removeprefix("data: "))


def deltas(page: Page) -> list[dict[str, Any]]:
    return [told for event, told in map(parsed, page.take()) if event == "delta"]


def takes_snapshot(page: Page) -> bool:
    """Whether the page was to start again; it has then."""
    stale, page.stale = page.stale, False
    return stale


async def test_a_snapshot_and_the_deltas_after_it(log: EmbeddedLog, redis: Redis, redis_url: str, prefix: str) -> None:
    table = Table(log, "T1")
    await table.play(2)
    async with projecting(log, redis_url, prefix) as ready, following(redis_url, prefix) as feed:
        await ready.becomes(True)
        await until(lambda: not feed.problem, "the feed follows")
        page = feed.join()
        snapshot = await feed.snapshot()
        [told] = snapshot.tables
        assert told.rounds is not None
        offset = told.rounds["offset"]
        await table.play(1)
        await until_shown(redis, prefix, table)
        heard: list[dict[str, Any]] = []

        def complete() -> bool:
            heard.extend(delta for delta in deltas(page) if delta["topic"] == "rounds")
            return bool(heard) and heard[-1]["to"] == len([1 for topic, _ in table.facts if topic == "rounds"]) - 1

        await until(complete, "all deltas heard")
        assert [delta["from"] for delta in heard] == [offset, *(delta["to"] for delta in heard[:-1])]
        await until(lambda: set(feed.pulse().ages_ms) == {"0", "1", "2"}, "the heart of every partition heard")


async def test_one_table_and_none(log: EmbeddedLog, redis_url: str, prefix: str) -> None:
    table = Table(log, "T1")
    await table.play(1)
    async with projecting(log, redis_url, prefix), following(redis_url, prefix) as feed:
        await until(lambda: not feed.problem, "the feed follows")
        found = await feed.table("T1")
        assert found is not None
        assert [told.table_id for told in found.tables] == ["T1"]
        assert await feed.table("T2") is None


async def test_without_an_epoch_there_is_a_reason_and_no_snapshot(redis_url: str, prefix: str) -> None:
    async with following(redis_url, prefix) as feed:
        await until(lambda: feed.problem == "the tables are being read from the log", "the reason is told")
        with pytest.raises(NotReady, match="being read from the log"):
            await feed.snapshot()


async def test_the_log_says_when_the_pages_wait_and_when_they_show(
    log: EmbeddedLog, redis_url: str, prefix: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="services.dashboard.feed")
    async with following(redis_url, prefix) as feed:
        await until(lambda: feed.problem == "the tables are being read from the log", "the reason is told")
        async with projecting(log, redis_url, prefix):
            await until(lambda: not feed.problem, "the feed follows")
    said = [(levelname, text) for name, levelname, text in levels(caplog) if name == "services.dashboard.feed"]
    assert said == [
        ("INFO", "pages get nothing new: the tables are being read from the log"),
        ("INFO", "pages show all there is"),
    ]


def levels(caplog: pytest.LogCaptureFixture) -> list[tuple[str, str, str]]:
    return [(record.name, record.levelname, record.getMessage()) for record in caplog.records]


async def test_another_epoch_starts_every_page_again(
    log: EmbeddedLog, redis: Redis, redis_url: str, prefix: str
) -> None:
    table = Table(log, "T1")
    await table.play(1)
    async with projecting(log, redis_url, prefix) as ready, following(redis_url, prefix) as feed:
        await until(lambda: not feed.problem, "the feed follows")
        page = feed.join()
        assert takes_snapshot(page)
        before = (await feed.snapshot()).epoch
        await redis.delete(*[key async for key in redis.scan_iter(match=f"{prefix}:*")])
        await ready.becomes(True, False, True)
        await until(lambda: takes_snapshot(page), "the page is to start again")
        await until(lambda: not feed.problem, "the feed follows again")
        assert (await feed.snapshot()).epoch == await Model(redis, prefix).current() != before


async def test_redis_gone_is_told_and_its_return_is_found(
    log: EmbeddedLog, own_redis: local.Child, prefix: str
) -> None:
    table = Table(log, "T1")
    await table.play(1)
    port = int(own_redis.address.rpartition(":")[2].partition("/")[0])
    async with projecting(log, own_redis.address, prefix), following(own_redis.address, prefix) as feed:
        await until(lambda: not feed.problem, "the feed follows")
        page = feed.join()
        assert takes_snapshot(page)
        own_redis.kill()
        with pytest.raises(NotReady, match="Redis does not answer"):
            await feed.snapshot()
        await until(lambda: "Redis does not answer" in feed.problem, "the reason is told")
        with local.start_valkey(own_redis.data_dir, port):
            await until(lambda: not feed.problem, "the feed follows again")
            assert takes_snapshot(page)
            assert [told.table_id for told in (await feed.snapshot()).tables] == ["T1"]


def test_a_page_that_is_too_slow_starts_again_instead_of_growing() -> None:
    page = Page()
    assert takes_snapshot(page)
    for _ in range(WAITING_MESSAGES):
        page.put(b"x")
    assert not takes_snapshot(page)
    page.put(b"x")
    assert takes_snapshot(page)
    assert page.take() == []


async def test_pages_are_called_for_news_and_for_the_end() -> None:
    feed = Feed("redis://127.0.0.1:1/0", "x")
    page = feed.join()
    page.put(sse("delta", b"{}"))
    await page.called()
    assert page.take() == [b"event: delta\ndata: {}\n\n"]
    feed.close()
    await page.called()
    assert page.closed
    feed.leave(page)
