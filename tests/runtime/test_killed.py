"""Real processes, really killed, at moments drawn from a seed."""

import asyncio
import contextlib
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from random import Random

import pytest

from tests.runtime.harness import WITHIN_S, EmbeddedHarness, perform, raws
from tests.runtime.plays import play
from tests.runtime.test_contract import SEED, judge

ROOT = Path(__file__).parents[2]


@contextlib.asynccontextmanager
async def child(*arguments: str) -> AsyncIterator[asyncio.subprocess.Process]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.runtime.child", *arguments, cwd=ROOT, stdout=asyncio.subprocess.PIPE
    )
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()


@pytest.mark.parametrize("seed", [1, 2])
async def test_an_embedded_process_killed_anywhere_goes_on(tmp_path: Path, seed: int) -> None:
    random = Random(seed)
    harness = EmbeddedHarness(tmp_path)
    for _ in range(3):
        async with asyncio.timeout(WITHIN_S), child("embedded", str(tmp_path), str(seed)) as process:
            assert process.stdout is not None
            for _ in range(random.randrange(1, 4)):
                await process.stdout.readline()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(random.random() * 0.03):
                    await process.wait()
            process.kill()
            assert await process.wait() == -signal.SIGKILL
    async with asyncio.timeout(WITHIN_S), child("embedded", str(tmp_path), str(seed)) as process:
        await process.communicate()
        assert process.returncode == 0
    judge(harness)


@pytest.mark.broker
async def test_a_process_on_kafka_killed_anywhere_goes_on(kafka: str, prefix: str) -> None:
    from tests.runtime.kafka_harness import KafkaHarness

    random = Random(SEED)
    harness = KafkaHarness(kafka, prefix)
    await harness.prepare()
    steps = play(SEED, tables=4)
    begin = 0
    for end in (4, 7, len(steps)):
        async with child("kafka", kafka, prefix) as process:
            await perform(harness, steps[begin:end])
            begin = end
            if end < len(steps):
                await harness.append(raws(steps[end]))
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(random.random() * 0.05):
                        await process.wait()
                process.kill()
            else:
                await harness.until_caught_up()
    judge(harness)
    await harness.close()
