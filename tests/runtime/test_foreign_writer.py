"""What somebody else wrote into `rounds` is a dead letter: settlement waits for no twin of it."""

import asyncio
from pathlib import Path

from msgspec.structs import replace

from services.baccarat.events import DEAD_LETTERS, ROUNDS, SETTLEMENTS, BettingOpened, DeadLetter
from services.rules import RULES
from services.runtime.processor import Record
from services.runtime.reading import FOREIGN
from services.runtime.restoring import BY_HEADER, headers, is_foreign
from services.settlement import SETTLEMENT
from tests.runtime.bad_inputs import CARDS, Seat
from tests.runtime.harness import WITHIN_S, EmbeddedHarness, Harness, as_raw
from tests.runtime.plays import BEGIN_MS
from tests.runtime.reference import Told, told_in

FORGED = BettingOpened(
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


async def play_beside(harness: Harness) -> None:
    """A round is played after the forged mark."""
    seat = Seat("T1")
    await harness.append([as_raw(ROUNDS, FORGED)])
    await harness.start()
    await harness.append([replace(raw, at_ms=BEGIN_MS) for raw in (*seat.begin(), seat.open(1))])
    await harness.until_told(["T1/1/1/opened"])
    await harness.append([replace(seat.bet("good"), at_ms=BEGIN_MS)])
    await harness.until_caught_up()
    later = (seat.close(1), *seat.deal(*CARDS))
    await harness.append([replace(raw, at_ms=BEGIN_MS + 1_000) for raw in later])
    await harness.until_told(["T1/1/1/decided/0"])
    await harness.until_caught_up()


def judge(told: Told) -> None:
    good = [name for name, _ in told[SETTLEMENTS] if "/good/" in name]
    assert good == ["T1/1/1/good/accepted", "T1/1/1/good/settled/0"]
    ((_, letter),) = told[DEAD_LETTERS]
    assert isinstance(letter, DeadLetter)
    assert (letter.topic, letter.offset, letter.reason) == (ROUNDS, 0, FOREIGN)


def told_by(harness: Harness) -> Told:
    return told_in(raw for topic in (SETTLEMENTS, DEAD_LETTERS) for raw in harness.records(topic))


async def test_a_mark_that_somebody_else_wrote_holds_up_no_table(tmp_path: Path) -> None:
    harness = EmbeddedHarness(tmp_path)
    async with asyncio.timeout(WITHIN_S):
        await play_beside(harness)
    await harness.stop()
    judge(told_by(harness))


def test_only_an_input_that_one_processor_writes_can_be_foreign() -> None:
    by_rules = headers(RULES, Record("table-feed", 0, 0, 0, "T1", None))
    assert not is_foreign(SETTLEMENT, "rounds", by_rules)
    assert is_foreign(SETTLEMENT, "rounds", [])
    assert is_foreign(SETTLEMENT, "rounds", [(BY_HEADER, b"settlement")])
    assert not is_foreign(SETTLEMENT, "bets", [])
    assert not is_foreign(RULES, "table-feed", [])
