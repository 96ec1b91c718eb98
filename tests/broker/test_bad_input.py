"""Bad input and what it gets, on Kafka."""

import asyncio

import pytest

from tests.runtime.bad_inputs import CASES, judge_case, play
from tests.runtime.kafka_harness import KafkaHarness
from tests.runtime.reference import Told
from tests.runtime.test_contract import judge


@pytest.fixture(scope="module")
def told(kafka: str, run_token: str) -> Told:
    async def played() -> Told:
        harness = KafkaHarness(kafka, f"bad-input{run_token}.")
        await harness.prepare()
        try:
            await play(harness)
            return judge(harness, forged=True)
        finally:
            await harness.close()

    return asyncio.run(played())


@pytest.mark.parametrize("name", CASES)
def test_bad_input_gets_its_answer_and_no_other_table_notices(told: Told, name: str) -> None:
    judge_case(told, name)
