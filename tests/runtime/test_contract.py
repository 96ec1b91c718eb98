"""The laws of the runtime, on both of them: whatever happens on the way, the log ends with the same facts.

The same means: the same ids with the same values as the replay of the recorded inputs in memory gives, none missing,
none extra, none twice.
"""

import pytest

from services.baccarat.events import (
    BETS,
    DEAD_LETTERS,
    ROUNDS,
    SETTLEMENTS,
    Mark,
)
from services.rules import RULES
from services.runtime import embedded, kafka
from services.settlement import SETTLEMENT
from tests.runtime.harness import (
    Crashes,
    Harness,
    everything,
    inputs,
    perform,
)
from tests.runtime.plays import Step, play
from tests.runtime.reference import Told, marks_in, told_again, told_in, unbalanced

SEED = 1
HALF = 9  # steps


def judge(harness: Harness) -> Told:
    """What the log says, if that is what its inputs come to; and the money adds up."""
    log = everything(harness)
    told = told_in(raw for topic in (ROUNDS, SETTLEMENTS, DEAD_LETTERS) for raw in log[topic])
    again = told_again(RULES, SETTLEMENT, inputs(log), harness.partitions)
    for topic in told:
        assert dict(told[topic]) == dict(again[topic]), topic
        assert told[topic] == again[topic], f"a fact of {topic} stands there twice"
    marks = {name: fact for name, fact in told[ROUNDS] if isinstance(fact, Mark)}
    assert {name: fact for name, fact in marks_in(log[BETS]).items() if name in marks} == marks
    assert unbalanced(told) == []
    return told


def kinds(told: Told, topic: str) -> set[str]:
    return {type(fact).__name__ for _, fact in told[topic]}


async def finish(harness: Harness) -> Told:
    await harness.until_caught_up()
    await harness.stop()
    return judge(harness)


async def test_a_play_ends_as_its_replay_does(harness: Harness) -> None:
    await harness.start()
    await perform(harness, play(SEED))
    told = await finish(harness)
    assert {"RoundDecided", "RoundVoided", "ShoeClosed", "TableSuspended", "CardCorrected"} <= kinds(told, ROUNDS)
    assert {"BetSettled", "BetVoided", "BetRejected", "BetIgnored", "CancelNoted", "RoundSettled"} <= kinds(
        told, SETTLEMENTS
    )
    assert told[DEAD_LETTERS] == []


async def test_every_record_twice_says_nothing_more(harness: Harness) -> None:
    doubled = [Step(tuple(sent for sent in step.sent for _ in range(2)), step.tells) for step in play(SEED)]
    await harness.start()
    await perform(harness, doubled[:HALF])
    told = await finish(harness)
    assert len(told[ROUNDS]) == len({name for name, _ in told[ROUNDS]})


@pytest.mark.parametrize("nth", [1, 4])
@pytest.mark.parametrize(
    ("harness", "point"),
    [
        *(("embedded", point) for point in embedded.FAULT_POINTS),
        *(pytest.param("kafka", point, marks=pytest.mark.broker) for point in kafka.FAULT_POINTS),
    ],
    indirect=["harness"],
)
async def test_a_crash_at_any_point_loses_and_doubles_nothing(harness: Harness, point: str, nth: int) -> None:
    crashes = Crashes(point, nth)
    steps = play(SEED, tables=4)
    await harness.start(fault=crashes)
    await perform(harness, steps[:HALF])
    await finish(harness)
    assert crashes.left <= 0, f"{point} was never passed"


@pytest.mark.parametrize("way", ["stop", "kill"])
@pytest.mark.parametrize("gone", ["snapshots", "positions", "both", "neither"])
async def test_caches_may_be_deleted_at_any_time(harness: Harness, gone: str, way: str) -> None:
    steps = play(SEED + 1, tables=4)
    await harness.start()
    await perform(harness, steps[:HALF])
    await (harness.stop() if way == "stop" else harness.kill())
    if gone in ("snapshots", "both"):
        await harness.delete_snapshots()
    if gone in ("positions", "both"):
        await harness.delete_positions()
    await harness.start()
    await perform(harness, steps[HALF:])
    await finish(harness)
