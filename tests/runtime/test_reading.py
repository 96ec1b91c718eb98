"""Raw records made into records, and the partition of a table as Kafka's own clients count it."""

import confluent_kafka
import pytest
from aiokafka.partitioner import murmur2 as murmur2_of_aiokafka

from services.baccarat.errors import Unusable
from services.baccarat.events import BetPlaced, BettingClosed, Event
from services.runtime.reading import lives_in, murmur2, partition_of, read_record

BET = BetPlaced(
    event_id="T1/1/1/b1/placed",
    table_id="T1",
    bet_id="b1",
    customer_id="c1",
    shoe_no=1,
    round_no=1,
    bet="tie",
    stake_minor=100,
    currency="EUR",
)
CLOSED = BettingClosed(
    event_id="T1/1/1/closed",
    table_id="T1",
    at_ms=77,
    cause_id="x",
    shoe_no=1,
    round_no=1,
    closed_at_ms=70,
    cause="time",
)
VALUES: dict[bytes, Event] = {b"bet": BET, b"closed": CLOSED}
PARTITIONS = 12
P = partition_of("T1", PARTITIONS)


class ByName:
    """Decodes the values above, and nothing else."""

    def decode(self, topic: str, raw: bytes) -> Event:
        if raw not in VALUES:
            raise Unusable("undecodable", f"{topic} knows no such value")
        return VALUES[raw]


# From the tests of Kafka's own Java client, there with a sign.
@pytest.mark.parametrize(
    ("key", "signed"),
    [
        (b"21", -973932308),
        (b"foobar", -790332482),
        (b"a-little-bit-long-string", -985981536),
        (b"a-little-bit-longer-string", -1486304829),
        (b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58897971),
        (b"abc", 479470107),
    ],
)
def test_murmur2_is_that_of_kafkas_java_client(key: bytes, signed: int) -> None:
    assert murmur2(key) == signed % 2**32


@pytest.mark.parametrize("partitions", [1, 6, 12, 50])
def test_two_other_clients_put_every_table_into_the_same_partition(partitions: int) -> None:
    for name in ["", "é", "日本", *(f"T{number}" for number in range(300)), "x" * 200]:
        key = name.encode()
        expected = (murmur2_of_aiokafka(key) & 0x7FFFFFFF) % partitions
        assert partition_of(name, partitions) == expected == confluent_kafka.murmur2(key, partitions)


@pytest.mark.parametrize(
    ("partition", "append_time", "key", "value", "problem", "at_ms"),
    [
        (P, True, b"T1", b"bet", "", 1000),
        (P, True, b"T1", b"closed", "", 77),
        (P, False, b"T1", b"closed", "", 77),
        (P, False, b"T1", b"bet", "no-append-time", 1000),
        (P, True, b"T1", b"junk", "undecodable", 1000),
        (P, True, b"T1", None, "no-value", 1000),
        (P + 1, True, b"T1", b"bet", "wrong-partition", 1000),
        (partition_of("T2", PARTITIONS), True, b"T2", b"bet", "wrong-key", 1000),
        (partition_of("T2", PARTITIONS), True, b"T2", b"closed", "wrong-key", 1000),
        (partition_of("", PARTITIONS), True, None, b"bet", "wrong-partition", 1000),
        (partition_of("", PARTITIONS), True, b"", b"bet", "wrong-partition", 1000),
        (partition_of("a/b", PARTITIONS), True, b"a/b", b"bet", "wrong-partition", 1000),
        (partition_of("bytes/ff", PARTITIONS), True, b"\xff", b"bet", "wrong-partition", 1000),
    ],
)
def test_each_problem_has_its_code(
    *, partition: int, append_time: bool, key: bytes | None, value: bytes | None, problem: str, at_ms: int
) -> None:
    record = read_record(ByName(), "bets", partition, PARTITIONS, 5, 1000, append_time, key, value)
    assert (record.problem, record.at_ms, record.event is None) == (problem, at_ms, bool(problem))
    assert bool(record.text) == bool(problem)
    assert record.raw == (value or b"")
    assert record.offset == 5


def test_dead_letters_lie_where_what_they_tell_of_lies() -> None:
    record = read_record(ByName(), "dead-letters", P + 1, PARTITIONS, 5, 1000, True, b"\xff", b"bet")
    assert record.problem == ""


def test_a_name_that_no_table_can_have_lives_nowhere() -> None:
    names = ["", "a/b", "x" * 201]
    assert not any(lives_in(name, partition_of(name, 4), 4) for name in names)
    assert lives_in("x" * 200, partition_of("x" * 200, 4), 4)
