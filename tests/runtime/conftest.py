"""The runtimes that the laws are tried on."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.runtime.harness import EmbeddedHarness, Harness


@pytest.fixture(params=["embedded", pytest.param("kafka", marks=pytest.mark.broker)])
async def harness(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Harness]:
    """One runtime with an empty log."""
    if request.param == "embedded":
        yield EmbeddedHarness(tmp_path)
        return
    from tests.runtime.kafka_harness import KafkaHarness

    address: str = request.getfixturevalue("kafka")
    on_kafka = KafkaHarness(address, request.getfixturevalue("prefix"))
    await on_kafka.prepare()
    yield on_kafka
    await on_kafka.close()
