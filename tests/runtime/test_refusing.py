"""A record whose very refusal cannot be said is a dead letter and no more: what comes after it is read."""

from msgspec.structs import replace

from services.baccarat.events import BETS, DEAD_LETTERS, ROUNDS, BetPlaced, BettingOpened, DeadLetter, RoundVoided
from services.runtime.codec import Codec
from services.runtime.processor import Record, advance
from services.settlement import SETTLEMENT
from tests.runtime.reference import CODEC

OPENED = BettingOpened(
    event_id="T1/9/9/opened",
    table_id="T1",
    at_ms=1,
    cause_id="eye/1/1",
    shoe_no=9,
    round_no=9,
    version=1,
    closes_at_ms=2,
    cards_dealt=0,
)
VOIDED = RoundVoided(
    event_id="T1/9/9/voided/0",
    table_id="T1",
    at_ms=3,
    cause_id="eye/1/2",
    shoe_no=9,
    round_no=9,
    revision=0,
    reason="r" * 920_000,  # a broker takes it, and the fact in which it would wait is too large
    opened=OPENED,
)


def test_an_outcome_too_large_to_wait_in_a_fact_does_not_hold_up_its_partition() -> None:
    raw = Codec(limit_bytes=2**20).encode(ROUNDS, VOIDED)
    placed = BetPlaced(
        event_id="b",
        table_id="T2",
        bet_id="b",
        customer_id="Ann",
        shoe_no=1,
        round_no=1,
        bet="player",
        stake_minor=1,
        currency="EUR",
    )
    large = Record(ROUNDS, 0, 0, 3, "T1", VOIDED, raw)
    small = replace(large, offset=1, event=replace(VOIDED, reason="spilt drink"), raw=b"")
    bet = Record(BETS, 0, 0, 3, "T2", placed)
    done = advance(SETTLEMENT, {}, {ROUNDS: [large, small], BETS: [bet]}, CODEC.encode)
    assert done.taken == {ROUNDS: 2, BETS: 1}
    assert [(written.topic, type(written.event).__name__) for written in done.written] == [
        ("settlements", "BetIgnored"),
        (DEAD_LETTERS, "DeadLetter"),
        ("settlements", "BookSuspended"),
    ]
    letter = done.written[1].event
    assert isinstance(letter, DeadLetter)
    assert (letter.reason, letter.size) == ("too-large", len(raw))
