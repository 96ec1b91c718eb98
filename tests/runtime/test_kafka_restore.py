from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest
from aiokafka import OffsetAndMetadata, TopicPartition

from services.baccarat.errors import NotReady
from services.baccarat.events import ROUNDS, TABLE_FEED
from services.rules import RULES
from services.runtime import kafka_client
from services.runtime.health import Health
from services.runtime.kafka_restore import (
    POSITIONS_HEADER,
    Memory,
    Trail,
    Work,
    fold_output,
    nothing_to_learn,
    was_committed,
)
from services.runtime.processor import Record
from services.runtime.restoring import Cause, headers
from services.runtime.settings import Settings
from services.settlement import SETTLEMENT
from tests.runtime.bad_inputs import Seat
from tests.runtime.harness import PARTITIONS
from tests.runtime.reference import CODEC, replay


class Read:
    def __init__(self, *carried: tuple[str, bytes], value: bytes = b"", offset: int = 0) -> None:
        self.headers = carried
        self.value = value
        self.offset = offset


def test_a_transaction_is_committed_where_its_positions_are_known_elsewhere() -> None:
    said = {"rounds": 7, "bets": 9}
    assert was_committed({"rounds": 7, "bets": 9}, [said])
    assert was_committed({"rounds": 8, "bets": 9}, [said, said])
    assert not was_committed({"rounds": 6, "bets": 9}, [said])
    assert not was_committed({"rounds": 7}, [said])
    assert not was_committed({"rounds": 7, "bets": 9}, [said, {"rounds": 8, "bets": 9}])


def test_one_that_was_not_written_whole_says_no_positions_and_was_not_committed() -> None:
    assert not was_committed({"rounds": 7, "bets": 9}, [])
    assert not was_committed({"rounds": 7, "bets": 9}, [{}])


def test_a_trail_follows_own_records_only() -> None:
    trail = Trail(SETTLEMENT)
    own = headers(SETTLEMENT, Record("bets", 1, 41, 0, "T1", None))
    assert trail.follow(Read(*own))
    assert (trail.causes, trail.positions) == ({"bets": Cause("bets", 1, 41)}, {})
    assert trail.follow(Read(*own, (POSITIONS_HEADER, b'{"rounds":7,"bets":42}')))
    assert trail.positions == {"rounds": 7, "bets": 42}
    assert not trail.follow(Read(("cause", b"bets/1/99"), ("by", b"somebody"), (POSITIONS_HEADER, b'{"bets":100}')))
    assert not trail.follow(Read())
    assert trail.positions == {"rounds": 7, "bets": 42}


# ---------------------------------------------------------------- the fold of the output


class Nobody:
    """A group that nothing is asked of."""

    async def committed(self, _places: list[TopicPartition]) -> Mapping[TopicPartition, OffsetAndMetadata]:
        raise AssertionError

    async def prove(self, _place: TopicPartition, _position: OffsetAndMetadata) -> None:
        raise AssertionError


WORK = Work(RULES, Settings(), CODEC, nothing_to_learn, "rules", Nobody(), "log", Health("rules"), lambda _: None)
OUTPUT = [
    Read(*headers(RULES, Record(TABLE_FEED, 0, 0, 0, "T1", None)), value=fact.value, offset=offset)
    for offset, fact in enumerate(
        fact for fact in replay(RULES, SETTLEMENT, Seat("T1").begin(), PARTITIONS) if fact.topic == ROUNDS
    )
]
LAST = CODEC.decode(ROUNDS, OUTPUT[-1].value).event_id


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The first offset that the output still has, and where it ends."""
    bounds = [0, len(OUTPUT)]

    async def ends_of(_consumer: Any, _place: TopicPartition) -> tuple[int, int]:
        return bounds[0], bounds[1]

    async def read_to(_consumer: Any, _place: TopicPartition, begin: int, end: int) -> AsyncIterator[list[Any]]:
        yield OUTPUT[begin:end]

    monkeypatch.setattr(kafka_client, "ends_of", ends_of)
    monkeypatch.setattr(kafka_client, "read_to", read_to)
    return bounds


async def test_the_fold_goes_up_to_the_named_fact(held: list[int]) -> None:
    assert len(OUTPUT) > 1
    memory = Memory({}, {})
    await fold_output(WORK, None, None, 0, memory, Trail(RULES), LAST)
    assert (memory.output_offset, memory.last_fact, list(memory.states)) == (held[1], LAST, ["T1"])
    again = Memory({}, {}, last_fact=LAST, output_offset=held[1])
    await fold_output(WORK, None, None, 0, again, Trail(RULES), LAST)  # the snapshot has it already
    assert again.states == {}


async def test_a_committed_fact_that_is_not_shown_yet_is_waited_for(held: list[int]) -> None:
    held[1] -= 1
    with pytest.raises(NotReady, match=f"^rounds 0 does not show fact {LAST} yet, which was committed$"):
        await fold_output(WORK, None, None, 0, Memory({}, {}), Trail(RULES), LAST)


@pytest.mark.parametrize(("begin", "end", "at"), [(1, 2, 0), (0, 1, 2)])
async def test_a_fold_that_would_miss_facts_does_not_begin(held: list[int], begin: int, end: int, at: int) -> None:
    held[:] = begin, end
    what = f"^rounds 0 holds facts {begin} to {end}, but the fold must go on at {at}: some are hidden or were deleted$"
    with pytest.raises(NotReady, match=what):
        await fold_output(WORK, None, None, 0, Memory({}, {}, output_offset=at), Trail(RULES), "")
