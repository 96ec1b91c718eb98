"""Bad input and what it gets, on Kafka."""

import asyncio

import pytest
from msgspec.structs import asdict

from services.baccarat.events import DEAD_LETTERS, SETTLEMENTS, TABLE_FEED, DeadLetter
from services.rules import RULES
from services.runtime.local import free_port
from services.runtime.service import run_processor
from services.runtime.settings import Settings
from tests.broker.test_servers_away import until_it_says
from tests.runtime.bad_inputs import CARDS, CASES, Seat, judge_case, play
from tests.runtime.harness import WITHIN_S
from tests.runtime.kafka_harness import KafkaHarness
from tests.runtime.reference import Told
from tests.runtime.test_contract import judge
from tests.runtime.test_foreign_writer import judge as judge_beside
from tests.runtime.test_foreign_writer import play_beside, told_by


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


async def test_a_mark_that_somebody_else_wrote_holds_up_no_table(kafka: str, prefix: str) -> None:
    harness = KafkaHarness(kafka, prefix)
    await harness.prepare()
    try:
        await play_beside(harness)
        async with asyncio.timeout(WITHIN_S):
            while "T1/1/1/settled/0" not in dict(told_by(harness)[SETTLEMENTS]):
                await asyncio.sleep(0.1)
        await harness.stop()
        judge_beside(told_by(harness))
    finally:
        await harness.close()


async def test_a_topic_whose_senders_set_the_time(kafka: str, prefix: str) -> None:
    """A service that runs refuses what comes meanwhile, at that table alone; one that starts waits and says why."""
    harness = KafkaHarness(kafka, prefix)
    await harness.prepare()
    struck, spared = Seat("struck"), Seat("spared")
    await harness.start()
    await harness.append([raw for seat in (struck, spared) for raw in (*seat.begin(), seat.open(1))])
    await harness.until_told(["struck/1/1/opened", "spared/1/1/opened"])
    await asyncio.to_thread(harness._stamping, TABLE_FEED, "CreateTime")
    await harness.append([struck.close(1)])
    await harness.until_told(["struck/suspension/1"])
    settings = Settings(**asdict(harness.settings) | {"http_port": free_port()})
    stop = asyncio.Event()
    starting = asyncio.create_task(run_processor(RULES, settings, stop))
    why = f"{prefix}{TABLE_FEED}: message.timestamp.type is CreateTime, must be LogAppendTime"
    await until_it_says(settings.http_port, 503, why)
    await asyncio.to_thread(harness._stamping, TABLE_FEED, "LogAppendTime")
    await until_it_says(settings.http_port, 200, "ready")
    await harness.append([spared.close(1), *spared.deal(*CARDS), struck.resume(), struck.open(2)])
    await harness.until_told(["spared/1/1/decided/0", "struck/1/2/opened"])
    await harness.until_caught_up()
    stop.set()
    await starting
    await harness.stop()
    letters = [fact for _, fact in judge(harness)[DEAD_LETTERS] if isinstance(fact, DeadLetter)]
    assert [(letter.table_id, letter.reason) for letter in letters] == [("struck", "no-append-time")]
    await harness.close()
