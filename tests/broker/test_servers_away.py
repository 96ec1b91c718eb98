"""Kafka or the registry not there, or going away: the processes stay up, say so, and go on by themselves."""

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from services.baccarat.events import ROUNDS, TABLE_FEED, ConfigurationReceived, TableConfigured
from services.rules import RULES
from services.runtime import topics
from services.runtime.kafka_log import open_log
from services.runtime.local import Child, LocalError, free_port, start_kafka, start_registry
from services.runtime.service import learning, registered, run_processor
from services.runtime.settings import Settings
from tests.broker.fleet import Fleet
from tests.conftest import unavailable
from tests.runtime.harness import WITHIN_S
from tests.runtime.plays import configurations, play
from tests.runtime.test_contract import finish

SEED = 11
CLASSIC = configurations()[0]


@pytest.fixture
async def fleet(own_kafka: Child, tmp_path: Path) -> AsyncIterator[Fleet]:
    folder = tmp_path / "said"
    folder.mkdir()
    fleet = Fleet(own_kafka.address, "", folder)
    await fleet.prepare()
    yield fleet
    await fleet.kill()
    print(fleet.said())  # noqa: T201


def start_again(kafka: Child) -> Child:
    return start_kafka(kafka.data_dir, int(kafka.address.rpartition(":")[2]))


async def until_it_says(port: int, status: int, words: str) -> None:
    async with httpx.AsyncClient() as client, asyncio.timeout(WITHIN_S):
        while True:
            try:
                answer = await client.get(f"http://127.0.0.1:{port}/ready")
            except httpx.TransportError:
                answer = None
            if answer is not None and answer.status_code == status and words in answer.text:
                return
            await asyncio.sleep(0.05)


async def test_kafka_away_at_the_start_and_in_the_middle(fleet: Fleet, own_kafka: Child) -> None:
    steps = play(SEED, rounds_each=6)
    await asyncio.to_thread(own_kafka.kill)
    await fleet.start()
    for member in fleet.members:
        await until_it_says(member.port, 503, f"Kafka at {own_kafka.address} does not answer")
    with await asyncio.to_thread(start_again, own_kafka) as second:
        await fleet.ready(*fleet.members)
        await fleet.play(steps[:6])
        await asyncio.to_thread(second.kill)
        for member in fleet.members:
            await until_it_says(member.port, 503, f"Kafka at {own_kafka.address} does not answer")
        with await asyncio.to_thread(start_again, own_kafka) as third:
            began = time.monotonic()
            await fleet.ready(*fleet.members)
            print(f"ready {time.monotonic() - began:.1f} s after the broker")  # noqa: T201
            await fleet.play(steps[6:9])
            await asyncio.to_thread(third.stop)
            with await asyncio.to_thread(start_again, own_kafka):
                await fleet.play(steps[9:])
                await finish(fleet)


async def test_the_registry_away_at_the_start(kafka: str, prefix: str, tmp_path: Path) -> None:
    registry_port, http_port = free_port(), free_port()
    url = f"http://127.0.0.1:{registry_port}/apis/ccompat/v7"
    settings = Settings(kafka=kafka, topic_prefix=prefix, partitions=1, registry=url, http_port=http_port)
    await topics.apply(settings)
    stop = asyncio.Event()
    service = asyncio.create_task(run_processor(RULES, settings, stop))
    await until_it_says(http_port, 503, "The registry at")
    try:
        registry = await asyncio.to_thread(start_registry, tmp_path, registry_port)
    except LocalError as missing:
        unavailable(f"a registry of the test's own needs the extra `local` ({missing})")
    with registry:
        await until_it_says(http_port, 200, "ready")
        known, codec = await asyncio.to_thread(registered, settings)
        configured = TableConfigured(
            event_id="T1/configuration/1",
            table_id="T1",
            version=1,
            configuration=CLASSIC,
            by="ann",
        )
        reading = open_log(settings, codec, learn=learning(known, codec))
        with known:
            async with reading as log, asyncio.timeout(WITHIN_S):
                await log.append(TABLE_FEED, [configured])
                async with log.reader({(ROUNDS, 0): 0}) as reader:
                    found = await reader.next(10_000)
        assert isinstance(found[0].event, ConfigurationReceived)
    stop.set()
    await service
