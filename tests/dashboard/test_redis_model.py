"""The scripts, on a real Redis."""

import asyncio
import json
from contextlib import suppress

import pytest
from redis.asyncio import Redis
from redis.exceptions import ConnectionError as RedisConnectionError

from services.baccarat.events import ROUNDS, SETTLEMENTS
from services.dashboard.redis_model import Model, Write, connected, delta, family_of, parts_of, stay_cancelled
from services.dashboard.rounds_view import RoundsView
from services.dashboard.view import shape
from tests.dashboard.conftest import WITHIN_S

PLACE = (ROUNDS, 2)


def write(previous: int, offset: int, *, cards: int = 1, table_id: str = "T1") -> Write:
    return Write(PLACE, table_id, previous, offset, RoundsView(cards=cards - 1), RoundsView(cards=cards))


async def stored_offset(model: Model, epoch: str, table_id: str = "T1") -> int | None:
    [found] = await model.stored(epoch, [(ROUNDS, table_id)])
    return None if found is None else found.offset


@pytest.fixture
def model(redis: Redis, prefix: str) -> Model:
    return Model(redis, prefix)


async def test_a_view_is_written_on_what_it_was_made_from(model: Model) -> None:
    assert await model.write("log.1", [write(-1, 4)]) == ["written"]
    assert await model.write("log.1", [write(4, 9, cards=7)]) == ["written"]
    [found] = await model.stored("log.1", [(ROUNDS, "T1")])
    assert found is not None
    assert (found.offset, found.partition, json.loads(bytes(found.view))["cards"]) == (9, 2, 7)


async def test_older_facts_change_nothing(model: Model) -> None:
    await model.write("log.1", [write(-1, 9, cards=7)])
    assert await model.write("log.1", [write(-1, 4), write(4, 9), write(4, 12)]) == ["older"] * 3
    [found] = await model.stored("log.1", [(ROUNDS, "T1")])
    assert found is not None
    assert (found.offset, json.loads(bytes(found.view))["cards"]) == (9, 7)


async def test_a_hole_is_not_papered_over(model: Model) -> None:
    assert await model.write("log.1", [write(4, 9)]) == ["hole"]
    assert await stored_offset(model, "log.1") is None
    await model.write("log.1", [write(-1, 4)])
    assert await model.write("log.1", [write(7, 9)]) == ["hole"]
    assert await stored_offset(model, "log.1") == 4


async def test_each_write_is_published_once_and_refused_ones_never(model: Model, redis: Redis) -> None:
    async with redis.pubsub() as pubsub:
        await pubsub.subscribe(model.channel("log.1"))
        assert (await pubsub.get_message(timeout=5))["type"] == "subscribe"
        await model.write("log.1", [write(-1, 4), write(-1, 4), write(6, 7), write(4, 6)])
        await model.beat("log.1", [2, 0, 2])
        heard = [json.loads((await pubsub.get_message(timeout=5))["data"]) for _ in range(3)]
    assert [(each.get("from"), each.get("to")) for each in heard] == [(-1, 4), (4, 6), (None, None)]
    assert heard[2] == {"beat": [0, 2]}


def test_the_first_delta_has_the_whole_view_and_later_ones_what_changed() -> None:
    assert set(delta(write(-1, 4)).changed) == set(RoundsView.__struct_fields__)
    assert delta(write(4, 9, cards=7)).changed == {"cards": 7}


async def test_positions_and_index(model: Model) -> None:
    assert await model.position("log.1", PLACE) == 0
    assert await model.indexed("log.1", [(ROUNDS, "T1")]) == [-1]
    await model.advance("log.1", {PLACE: 10}, [write(-1, 9), write(-1, 8, table_id="T10"), write(-1, 7, table_id="T2")])
    await model.advance("log.1", {(SETTLEMENTS, 2): 3}, [])
    assert await model.position("log.1", PLACE) == 10
    assert await model.positions("log.1") == {PLACE: 10, (SETTLEMENTS, 2): 3}
    assert await model.indexed("log.1", [(ROUNDS, "T2"), (SETTLEMENTS, "T2"), (ROUNDS, "T1")]) == [7, -1, 9]
    assert await model.table_ids("log.1") == ["T1", "T2", "T10"]


async def test_an_epoch_is_shown_when_all_its_partitions_have_caught_up(model: Model) -> None:
    epoch = await model.claim("log", least=3)
    assert epoch == "log.3"
    assert await model.claim("log") == epoch  # the second of several projections works on the same
    assert (await model.current(), await model.working()) == (None, epoch)
    assert not await model.show(epoch, [(ROUNDS, 0), (ROUNDS, 1)], of=3)
    assert not await model.show(epoch, [(ROUNDS, 0)], of=3)
    assert await model.current() is None
    assert await model.show(epoch, [(ROUNDS, 2)], of=3)
    assert (await model.current(), await model.working()) == (epoch, epoch)
    assert await model.show(epoch, [(ROUNDS, 0)], of=3)
    assert await model.claim("log") == epoch


async def test_a_broken_epoch_and_another_log_get_a_new_one(model: Model) -> None:
    first = await model.claim("log")
    await model.show(first, [PLACE], of=1)
    second = await model.claim("log", broken=first)
    assert (first, second) == ("log.1", "log.2")
    assert await model.current() == first  # the old one is shown while the new one is built
    assert await model.claim("log", broken=first) == second
    assert await model.claim("log", broken=second) == "log.3"
    assert await model.claim("other") == "other.4"
    assert not await model.show(second, [PLACE], of=1)
    assert await model.current() == first


async def test_when_an_epoch_is_shown_the_keys_of_others_go_and_nobody_elses(
    model: Model, redis: Redis, prefix: str
) -> None:
    foreign = (f"{prefix}else:x", f"else:{prefix}")
    for key in foreign:
        await redis.set(key, "kept")
    for number in range(1, 3):
        epoch = await model.claim("log", broken=f"log.{number - 1}")
        await model.write(epoch, [write(-1, 4), write(-1, 4, table_id="T{2}:")])
        await model.advance(epoch, {PLACE: 5}, [write(-1, 4)])
        assert await model.show(epoch, [PLACE], of=1)
    assert await stored_offset(model, "log.1") is None
    assert await stored_offset(model, "log.2", "T{2}:") == 4
    left = [key.decode() async for key in redis.scan_iter(match=f"{prefix}:*")]
    assert sorted(key.removeprefix(f"{prefix}:").split(":")[0] for key in left) == ["log.2"] * 4 + ["{dashboard}"]
    assert await redis.delete(*foreign) == 2


def test_epochs_are_named_by_what_separates_no_keys() -> None:
    family = family_of("a:b.c{d}*")
    assert family == f"a_b_c_d__-{shape()}"
    assert parts_of(f"{family}.17") == (family, 17)


async def test_a_redis_that_is_not_there_is_an_error_at_once() -> None:
    async with connected("redis://127.0.0.1:1/0") as nowhere:
        with pytest.raises(RedisConnectionError):
            await Model(nowhere, "x").current()


async def test_a_cancel_that_the_client_swallowed_is_remembered() -> None:
    went_on = asyncio.Event()

    async def swallow() -> None:
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(WITHIN_S)
        went_on.set()
        stay_cancelled()

    task = asyncio.create_task(swallow())
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert went_on.is_set()
    stay_cancelled()  # nobody cancelled this one
