from services.runtime.kafka_restore import POSITIONS_HEADER, Trail, was_committed
from services.runtime.processor import Record
from services.runtime.restoring import Cause, headers
from services.settlement import SETTLEMENT


class Read:
    def __init__(self, *carried: tuple[str, bytes]) -> None:
        self.headers = carried


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
