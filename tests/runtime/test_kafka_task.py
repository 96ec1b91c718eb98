"""One life of a partition's task, without a broker."""

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest
from aiokafka import OffsetAndMetadata, TopicPartition
from aiokafka.errors import CommitFailedError

from services.runtime import kafka_client, kafka_task
from services.runtime.health import Health
from services.runtime.kafka_restore import Memory, Work, nothing_to_learn
from services.runtime.kafka_task import Lease, own
from services.runtime.settings import Settings
from services.settlement import SETTLEMENT
from tests.runtime.reference import CODEC


class PutOut:
    """A group that knows this member no more."""

    async def committed(self, _places: list[TopicPartition]) -> Mapping[TopicPartition, OffsetAndMetadata]:
        return {}

    async def prove(self, _place: TopicPartition, _position: OffsetAndMetadata) -> None:
        raise CommitFailedError


async def test_a_task_whose_member_was_put_out_ends_without_a_fight(monkeypatch: pytest.MonkeyPatch) -> None:
    """Began it another life, it would fence the new owner, who would fence it in turn."""
    lease, lives = Lease(), []

    async def nothing(*_: Any) -> None:
        """No broker is there."""

    async def restored(*_: Any) -> Memory:
        lives.append("restored")
        return Memory({}, dict.fromkeys(SETTLEMENT.inputs, 0))

    def read(*_: Any, **__: Any) -> Any:
        lease.end()
        lives.append("read")
        raise OSError("no broker")

    monkeypatch.setattr(kafka_client, "new_producer", lambda *_: None)
    for name in ("start", "discard"):
        monkeypatch.setattr(kafka_client, name, nothing)
    monkeypatch.setattr(kafka_client, "new_consumer", read)
    monkeypatch.setattr(kafka_task, "restore", restored)
    settings = Settings(topic_prefix="t.")
    health = Health("settlement")
    work = Work(SETTLEMENT, settings, CODEC, nothing_to_learn, "t.settlement", PutOut(), "log", health, lambda _: None)
    async with asyncio.timeout(5):
        await own(work, 0, lease)
    assert lives == ["restored"]
    assert 'punto_troubles_total{service="settlement"} 0' in health.metrics()
