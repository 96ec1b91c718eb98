"""Snapshots on Kafka: what one of another build is worth."""

import asyncio

import pytest
from msgspec.structs import replace

from services.baccarat import table
from services.baccarat.events import ROUNDS, RULES_SNAPSHOTS, Event
from services.rules import RULES
from services.settlement import SETTLEMENT
from tests.runtime.harness import WITHIN_S, perform
from tests.runtime.kafka_harness import KafkaHarness
from tests.runtime.plays import play
from tests.runtime.reference import CODEC
from tests.runtime.test_contract import HALF, SEED, finish


@pytest.mark.parametrize("later", [0, 1])
async def test_a_snapshot_of_another_state_version_is_ignored(kafka: str, prefix: str, later: int) -> None:
    """Then all facts are folded, and else only those after it."""
    folded = set()

    def evolve(state: table.State, fact: Event) -> table.State:
        folded.add(fact.event_id)
        return RULES.evolve(state, fact)

    steps = play(SEED + 2, tables=1)
    harness = KafkaHarness(kafka, prefix)
    await harness.prepare()
    await harness.start()
    await perform(harness, steps[:HALF])
    await harness.until_caught_up()
    async with asyncio.timeout(WITHIN_S):
        while not await asyncio.to_thread(harness.records, RULES_SNAPSHOTS):
            await asyncio.sleep(0.05)
    await harness.stop()
    first = CODEC.decode(ROUNDS, harness.records(ROUNDS)[0].value or b"")
    harness.processors = (replace(RULES, state_version=RULES.state_version + later, evolve=evolve), SETTLEMENT)
    await harness.start()
    await harness.until_told(name for step in steps[:HALF] for name in step.tells)
    await perform(harness, steps[HALF:])
    of_lives = set(folded)  # the judge's replay will fold them too
    await finish(harness)
    assert of_lives
    assert (first.event_id in of_lives) is bool(later)
    await harness.close()
