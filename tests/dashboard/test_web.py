"""The pages over HTTP, from a real server on a real Redis."""

import asyncio
import json
import re
import socket
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest

from services.baccarat.errors import BadSettings
from services.dashboard.web import STATIC, listen, serve
from services.runtime import local
from services.runtime.embedded import EmbeddedLog
from tests.dashboard.conftest import Table, projecting, until


@asynccontextmanager
async def serving(redis_url: str, prefix: str) -> AsyncIterator[httpx.AsyncClient]:
    listening, stop = listen("127.0.0.1", 0), asyncio.Event()
    base = "http://{}:{}".format(*listening.getsockname())
    task = asyncio.create_task(serve(redis_url, "127.0.0.1", 0, stop, prefix=prefix, listening=listening))
    try:
        async with httpx.AsyncClient(base_url=base, timeout=10) as client:
            yield client
    finally:
        stop.set()
        await task


async def until_ready(client: httpx.AsyncClient) -> None:
    async def ready() -> bool:
        return (await client.get("/ready")).status_code == 200

    await until(ready, "the pages are ready")


async def events(client: httpx.AsyncClient) -> AsyncGenerator[tuple[str, Any]]:
    async with client.stream("GET", "/events") as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        event = ""
        async for line in answer.aiter_lines():
            if line.startswith("event: "):
                event = line.removeprefix("event: ")
            elif line.startswith("data: "):
                yield event, json.loads(line.removeprefix("data: "))


async def test_tables_as_json(log: EmbeddedLog, redis_url: str, prefix: str) -> None:
    tables = [Table(log, name) for name in ("T1", "T 2")]
    for table in tables:
        await table.play(2)
    async with projecting(log, redis_url, prefix), serving(redis_url, prefix) as client:
        await until_ready(client)
        told = (await client.get("/api/tables")).json()
        assert [table["table_id"] for table in told["tables"]] == ["T1", "T 2"]
        assert told["server_time_ms"] > 0
        one = (await client.get("/api/tables/T1")).json()
        assert one["tables"] == [told["tables"][0]]
        assert one["tables"][0]["rounds"]["view"]["panel"]["title"] == "Classic, 5% commission"
        unknown = await client.get("/api/tables/T9")
        assert (unknown.status_code, unknown.json()["error"]["code"]) == (404, "unknown-table")


async def test_the_stream_begins_with_a_snapshot_and_goes_on_without_a_gap(
    log: EmbeddedLog, redis_url: str, prefix: str
) -> None:
    table = Table(log, "T1")
    await table.play(2)
    async with projecting(log, redis_url, prefix), serving(redis_url, prefix) as client:
        await until_ready(client)
        offsets: dict[str, int] = {}
        seen = []
        async for event, told in events(client):
            seen.append(event)
            if event == "snapshot":
                [snapshot] = told["tables"]
                offsets = {topic: snapshot[topic]["offset"] for topic in ("rounds", "settlements")}
                await table.play(1)
            if event == "delta" and told["to"] > offsets[told["topic"]]:
                assert told["from"] == offsets[told["topic"]]
                offsets[told["topic"]] = told["to"]
            if sum(offsets.values()) + len(offsets) == len(table.facts):
                break
        assert seen[:2] == ["pulse", "snapshot"]
        assert "delta" in seen


async def test_alive_without_redis_but_not_ready(prefix: str) -> None:
    async with serving(f"redis://127.0.0.1:{local.free_port()}/0", prefix) as client:
        assert (await client.get("/live")).status_code == 200
        await until(lambda: _problem(client, "Redis does not answer"), "the reason is told")
        for path in ("/api/tables", "/api/tables/T1"):
            answer = await client.get(path)
            assert (answer.status_code, answer.json()["error"]["code"]) == (503, "not-ready")
        stream = events(client)
        event, pulse = await anext(stream)
        assert (event, "Redis" in pulse["problem"]) == ("pulse", True)
        await stream.aclose()


async def _problem(client: httpx.AsyncClient, words: str) -> bool:
    answer = await client.get("/ready")
    return answer.status_code == 503 and words in answer.json()["problem"]


async def test_the_page_and_its_parts_come_from_here_only(redis_url: str, prefix: str) -> None:
    async with serving(redis_url, prefix) as client:
        page = await client.get("/")
        assert page.headers["content-type"].startswith("text/html")
        assert "default-src 'none'" in page.headers["content-security-policy"]
        for part in re.findall(r'(?:src|href)="(/static/[^"]+)"', page.text):
            assert (await client.get(part)).status_code == 200, part
        assert (await client.get("/static/nothing.js")).status_code == 404
        assert (await client.get("/static/../web.py")).status_code == 404
    for file in STATIC.iterdir():
        outside = re.findall(r"""https?://(?!www\.w3\.org/2000/svg)[^"'\s)]+""", file.read_text())
        assert outside == [], file.name


async def test_open_streams_do_not_hold_up_the_stop(log: EmbeddedLog, redis_url: str, prefix: str) -> None:
    async with projecting(log, redis_url, prefix):
        async with asyncio.timeout(10), serving(redis_url, prefix) as client:
            await until_ready(client)
            stream = events(client)
            await anext(stream)
        await stream.aclose()


def test_an_address_in_use_is_said_in_one_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(BadSettings, match=f"the page cannot be served at 127.0.0.1:{port}: Address already in use"):
            listen("127.0.0.1", port)
