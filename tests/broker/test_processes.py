"""Real processes on a real broker: whatever is done to them, the log ends as the replay of its inputs says."""

import asyncio
import signal
import time
from collections.abc import AsyncIterator
from itertools import islice
from pathlib import Path
from random import Random

import httpx
import pytest
from confluent_kafka import Producer

from services.baccarat.events import BETS
from tests.broker.fleet import SESSION_MS, Fleet, Member, until
from tests.runtime.harness import raws
from tests.runtime.plays import play
from tests.runtime.test_contract import finish

SEED = 7
CHURN_S = 20.0


@pytest.fixture
async def fleet(kafka: str, prefix: str, tmp_path: Path) -> AsyncIterator[Fleet]:
    """No process yet; at the end, what each of them said is in the test's output."""
    fleet = Fleet(kafka, prefix, tmp_path)
    await fleet.prepare()
    yield fleet
    await fleet.close()
    print(fleet.said())  # noqa: T201


async def test_members_join_and_leave_under_load(fleet: Fleet) -> None:
    steps = play(SEED, rounds_each=12)
    await fleet.start()
    await fleet.play(steps[:4])
    joined = [fleet.join(name) for name in ("rules", "settlement", "rules", "settlement")]
    await fleet.play(steps[4:8])
    await fleet.ready(*joined)
    await fleet.play(steps[8:12])
    for member in joined[:2]:
        fleet.leave(member)
    await fleet.play(steps[12:18])
    for member in fleet.members[:2]:  # the first two, so that only the last two are left
        fleet.leave(member)
    await fleet.play(steps[18:])
    await finish(fleet)


@pytest.mark.parametrize(
    ("name", "point"),
    [
        ("rules", "before-begin"),
        ("rules", "after-facts"),
        ("settlement", "before-begin"),
        ("settlement", "after-positions"),
    ],
)
async def test_a_stalled_owner_that_comes_back_changes_nothing(fleet: Fleet, name: str, point: str) -> None:
    """It holds a transaction, or what it decided, while another has its partitions and goes on."""
    steps = play(SEED, tables=6)  # some in every partition
    assert {raw.partition for raw in raws(steps[0], fleet.partitions)} == set(range(fleet.partitions))
    await fleet.start()
    stalling = fleet.join(name, point, "3")
    await fleet.ready(*fleet.members)
    await fleet.play(steps[:6])
    await until(lambda: stalling.stalled, f"{name} never came by {point}")
    await fleet.until_caught_up()  # which needs somebody else to own what the stalled one owns
    assert stalling.stalled
    stalling.send(signal.SIGCONT)
    await fleet.play(steps[6:12])
    await fleet.ready(stalling)
    fleet.leave(stalling)
    await fleet.play(steps[12:])
    await finish(fleet)


async def test_kills_stalls_leaves_and_joins_at_random(fleet: Fleet) -> None:
    """Some have a name that outlives them, and some have not."""
    random = Random(f"churn {SEED}")
    ends_at = time.monotonic() + CHURN_S
    for number in range(2):
        for name in ("rules", "settlement"):
            fleet.join(name, instance=f"{number}" if number else "")
    steps = iter(play(SEED, rounds_each=60))
    while time.monotonic() < ends_at:
        changing = asyncio.create_task(change(fleet, random))
        await fleet.play(islice(steps, 2))
        await changing
    for member in fleet.members:
        member.send(signal.SIGCONT)
    await fleet.play(islice(steps, 1))  # a play goes in pairs of bets and cards, and began with cards
    await finish(fleet)


async def change(fleet: Fleet, random: Random) -> None:
    member = random.choice(fleet.members)
    await asyncio.sleep(random.random() / 2)
    match random.choice(["kill", "kill", "stall", "stop"]):
        case "kill":
            fleet.lose(member)
            again(fleet, member)
        case "stop":
            await fleet.ready(member)  # before it is ready, a stop is what the system does to any process
            await asyncio.to_thread(fleet.leave, member)
            again(fleet, member)
        case _:
            member.send(signal.SIGSTOP)
            await asyncio.sleep(random.choice([0.2, 1.0, 1.5 * SESSION_MS / 1000]))
            member.send(signal.SIGCONT)


def again(fleet: Fleet, member: Member) -> None:
    fleet.join(member.name, instance=member.instance)


@pytest.mark.parametrize("commits", [True, False])
async def test_bets_hidden_in_an_open_foreign_transaction_count_as_they_lie(fleet: Fleet, *, commits: bool) -> None:
    """Appending is the bet: whoever holds a transaction open waits for nothing, and gains nothing by aborting."""
    steps = play(SEED, tables=3)
    bettor = Producer(
        {
            "bootstrap.servers": fleet.settings.kafka,
            "transactional.id": f"{fleet.settings.topic_prefix}bettor",
            "transaction.timeout.ms": 15_000,
        }
    )
    await asyncio.to_thread(bettor.init_transactions, 30)
    await fleet.start()
    for step in steps[:9]:
        sent = raws(step, fleet.partitions)
        bets = [raw for raw in sent if raw.topic == BETS]
        bettor.begin_transaction()
        for raw in bets:
            bettor.produce(fleet.settings.topic_prefix + BETS, key=raw.key, value=raw.value, partition=raw.partition)
        await asyncio.to_thread(bettor.flush, 30)
        await fleet.append([raw for raw in sent if raw.topic != BETS])
        await fleet.until_told(step.tells)  # the rounds go on while the bets are hidden
        end = bettor.commit_transaction if commits else bettor.abort_transaction
        await asyncio.to_thread(end, 30)
    told = await finish(fleet)
    assert "BetAccepted" in {type(fact).__name__ for _, fact in told["settlements"]}


async def test_it_says_when_it_is_ready_and_ends_in_order_on_sigterm(fleet: Fleet) -> None:
    member = fleet.join("rules")
    await fleet.ready(member)
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{member.port}") as client:
        assert 'punto_partitions{service="rules"} 3' in (await client.get("/metrics")).text
    began = time.monotonic()
    await asyncio.to_thread(fleet.leave, member)
    assert time.monotonic() - began < 10
