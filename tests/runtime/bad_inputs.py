"""What goes wrong at tables, one way a table, and what each gets; beside them a table where nothing does.

Every table has a round open and a good bet in it when the bad input comes. Afterwards a person resumes what was
suspended, and every table plays a round more.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from services.baccarat import catalogue
from services.baccarat.cards import parse_card
from services.baccarat.events import (
    BETS,
    ROUNDS,
    TABLE_FEED,
    BetIgnored,
    BetPlaced,
    BetRejected,
    BetSettled,
    BettingClosed,
    BetVoided,
    BookSuspended,
    CardDealt,
    CardSetAside,
    DeadLetter,
    DealerClosedBetting,
    DealerOpenedBetting,
    DealerResumed,
    Event,
    IrregularityFound,
    ShoeStarted,
    TableConfigured,
    TableSuspended,
)
from tests.runtime.harness import Harness, as_raw
from tests.runtime.plays import BEGIN_MS
from tests.runtime.reference import Raw, Told

WINDOW_MS = 3_600_000  # nothing closes by time
CARDS = ("9S", "2C", "KD", "3S")  # a natural for the Player
HOW = replace(
    catalogue.configuration("classic", decks=8),
    betting="dealer",
    betting_window_ms=WINDOW_MS,
    burn_rule="none",
    close_margin_ms=0,
)


class Seat:
    """A table, and who writes about it."""

    def __init__(self, table_id: str) -> None:
        self.table_id = table_id
        self.boot = 1
        self.sequence = 0
        self.actions = 0

    def begin(self) -> list[Raw]:
        configured = TableConfigured(
            event_id=f"{self.table_id}/configuration/1", table_id=self.table_id, version=1, configuration=HOW, by="ann"
        )
        started = ShoeStarted(**self.device(), decks=8)
        return [as_raw(TABLE_FEED, configured), as_raw(TABLE_FEED, started)]

    def open(self, round_no: int) -> Raw:
        return as_raw(TABLE_FEED, DealerOpenedBetting(**self.action(), shoe_no=1, round_no=round_no))

    def close(self, round_no: int) -> Raw:
        return as_raw(TABLE_FEED, DealerClosedBetting(**self.action(), shoe_no=1, round_no=round_no))

    def deal(self, *cards: str) -> list[Raw]:
        return [self.card(card) for card in cards]

    def card(self, card: str) -> Raw:
        dealt = CardDealt(**self.device(), card=parse_card(card), scanned_at_ms=0, source="scanner")
        return as_raw(TABLE_FEED, dealt)

    def bet(self, bet_id: str, round_no: int = 1, **other: Any) -> Raw:
        placed = BetPlaced(
            event_id=f"{self.table_id}/bet/{bet_id}",
            table_id=self.table_id,
            bet_id=bet_id,
            customer_id="ann",
            shoe_no=1,
            round_no=round_no,
            bet="player",
            stake_minor=501,
            currency="EUR",
        )
        return as_raw(BETS, replace(placed, **other))

    def resume(self, what: str = "table") -> Raw:
        book: Any = {} if what == "table" else {"shoe_no": 1, "round_no": 1}
        self.boot, self.sequence = self.boot + 1, 0  # what it said before may never have been heard
        return as_raw(TABLE_FEED, DealerResumed(**self.action(), reason="looked into", what=what, **book))

    def device(self) -> Any:
        self.sequence += 1
        return {
            "event_id": f"{self.table_id}/eye/{self.boot}/{self.sequence}",
            "table_id": self.table_id,
            "device": "eye",
            "boot": self.boot,
            "sequence": self.sequence,
        }

    def action(self) -> Any:
        self.actions += 1
        return {
            "event_id": f"{self.table_id}/action/{self.actions}",
            "table_id": self.table_id,
            "action_id": f"{self.table_id}-{self.actions}",
            "by": "ann",
        }


WON = "BetSettled 1002"
PUSHED = "BetSettled 501"
VOIDED = "BetVoided 501"


class Case(Struct, frozen=True, kw_only=True):
    """A bad input and all that is said about its table out of the ordinary, each as kind and code.

    `text` stands in one of these facts: the value that was wrong, or the bound. `known`: the table plays already.
    `resumes` is what a person then resumes, `good` what becomes of the good bet, `next_round` the round after.
    """

    bad: Callable[[Seat], Sequence[Raw]]
    answers: tuple[str, ...]
    text: str = ""
    known: bool = True
    resumes: str = ""
    good: str = WON
    next_round: int = 2


def skipping(seat: Seat) -> list[Raw]:
    seat.sequence += 1
    return seat.deal("9S")


def nine_sevens(seat: Seat) -> list[Raw]:
    """Six make a round, and after it three begin another."""
    return [seat.close(1), *seat.deal(*["7H"] * 9)]


def after_the_close(seat: Seat) -> list[Raw]:
    return [seat.close(1)]


def forged(seat: Seat) -> list[Raw]:
    mark = BettingClosed(
        event_id=f"{seat.table_id}/1/1/closed",
        table_id=seat.table_id,
        at_ms=2**42,
        cause_id="somebody",
        shoe_no=1,
        round_no=1,
        closed_at_ms=2**42,
        cause="dealer",
    )
    return [as_raw(BETS, mark)]


def spoilt(raw: Raw, before: bytes, after: bytes) -> Raw:
    assert raw.value is not None
    assert raw.value.count(before) == 1
    return replace(raw, value=raw.value.replace(before, after))


def cut_off(raw: Raw) -> Raw:
    assert raw.value is not None
    return replace(raw, value=raw.value[:-3])


def of_another_schema(raw: Raw) -> Raw:
    assert raw.value is not None
    return replace(raw, value=raw.value[:2] + b"\x01\x02\x03\x04\x05\x06\x07\x08" + raw.value[10:])


def unstamped(raw: Raw) -> Raw:
    return replace(raw, stamped=False)


CASES: Mapping[str, Case] = {
    "nothing": Case(bad=lambda _: [], answers=()),
    "unknown-card": Case(
        bad=lambda seat: [spoilt(seat.card("9S"), b"9S", b"9X")],
        answers=("DeadLetter undecodable", "TableSuspended undecodable"),
        text="'9X' is no card",
        resumes="table",
        good=VOIDED,
    ),
    "card-out-of-sequence": Case(
        bad=skipping,
        answers=("CardSetAside sequence-gap", "IrregularityFound sequence-gap", "TableSuspended sequence-gap"),
        text="eye sent boot 1, sequence 3 after boot 1, sequence 1",
        resumes="table",
        good=VOIDED,
    ),
    "ninth-seven-of-hearts": Case(
        bad=nine_sevens,
        answers=("CardSetAside card-over-count", "IrregularityFound card-over-count", "TableSuspended card-over-count"),
        text="8 decks hold no further 7H",
        resumes="table",
        good=PUSHED,
        next_round=3,
    ),
    "field-not-offered": Case(
        bad=lambda seat: [seat.bet("bad", bet="dragon")], answers=("BetRejected bet-unknown",), text="'dragon'"
    ),
    "stake-0": Case(
        bad=lambda seat: [seat.bet("bad", stake_minor=0)],
        answers=("BetRejected stake-not-positive",),
        text="a stake is more than 0, not 0",
    ),
    "stake-negative": Case(
        bad=lambda seat: [seat.bet("bad", stake_minor=-501)],
        answers=("BetRejected stake-not-positive",),
        text="a stake is more than 0, not -501",
    ),
    "over-limit": Case(
        bad=lambda seat: [seat.bet("bad", stake_minor=499_500)],
        answers=("BetRejected over-maximum",),
        text="the most on player is 500000, and 501 is staked already",
    ),
    "over-any-limit": Case(
        bad=lambda seat: [seat.bet("bad", stake_minor=2**63 - 1)],
        answers=("BetRejected over-maximum",),
        text="the most on player is 500000",
    ),
    "wrong-currency": Case(
        bad=lambda seat: [seat.bet("bad", currency="USD")],
        answers=("BetRejected wrong-currency",),
        text="this table plays in EUR, not USD",
    ),
    "bet-at-unknown-table": Case(
        bad=lambda seat: [seat.bet("bad")],
        answers=("BetIgnored table-unknown",),
        text="table bet-at-unknown-table has never opened",
        known=False,
        good="",
        next_round=1,
    ),
    "card-at-unknown-table": Case(
        bad=lambda seat: [seat.card("9S")],
        answers=("CardSetAside no-shoe", "IrregularityFound card-without-shoe"),
        text="eye dealt 9S with no shoe open",
        known=False,
        good="",
        next_round=1,
    ),
    "shoe-at-unknown-table": Case(
        bad=lambda seat: [as_raw(TABLE_FEED, ShoeStarted(**seat.device(), decks=8))],
        answers=("IrregularityFound not-configured",),
        text="before table shoe-at-unknown-table was configured",
        known=False,
        good="",
        next_round=1,
    ),
    "late": Case(
        bad=after_the_close,
        answers=("BetRejected late",),
        text="betting closed at ",
    ),
    "for-another-round": Case(
        bad=lambda seat: [seat.bet("bad", round_no=7)],
        answers=("BetIgnored round-unknown",),
        text="shoe 1, round 7 has not opened",
    ),
    "again-the-same": Case(bad=lambda seat: [seat.bet("good")], answers=()),
    "again-with-other-content": Case(
        bad=lambda seat: [seat.bet("good", stake_minor=777)],
        answers=("BetIgnored id-reused",),
        text="bet good was answered with other content",
    ),
    "forged-mark": Case(
        bad=forged,
        answers=("BookSuspended marks-differ",),
        text="not those that rules wrote",
        resumes="book",
        good=VOIDED,
    ),
    "undecodable-feed": Case(
        bad=lambda seat: [cut_off(seat.card("9S"))],
        answers=("DeadLetter undecodable", "TableSuspended undecodable"),
        text="Not a CardDealt by its schema",
        resumes="table",
        good=VOIDED,
    ),
    "undecodable-bet": Case(
        bad=lambda seat: [cut_off(seat.bet("bad"))],
        answers=("DeadLetter undecodable",),
        text="Not a BetPlaced by its schema",
    ),
    "unknown-schema-of-feed": Case(
        bad=lambda seat: [of_another_schema(seat.card("9S"))],
        answers=("DeadLetter unknown-schema", "TableSuspended unknown-schema"),
        text="0102030405060708",
        resumes="table",
        good=VOIDED,
    ),
    "unknown-schema-of-bet": Case(
        bad=lambda seat: [of_another_schema(seat.bet("bad"))],
        answers=("DeadLetter unknown-schema",),
        text="0102030405060708",
    ),
    "feed-without-append-time": Case(
        bad=lambda seat: [unstamped(seat.card("9S"))],
        answers=("DeadLetter no-append-time", "TableSuspended no-append-time"),
        text="set by its sender, not by the log",
        resumes="table",
        good=VOIDED,
    ),
    "bet-without-append-time": Case(
        bad=lambda seat: [unstamped(seat.bet("bad"))],
        answers=("DeadLetter no-append-time",),
        text="set by its sender, not by the log",
    ),
}


async def play(harness: Harness) -> None:
    """All cases at once, a table each, on a runtime that lives; then it has stopped in order."""
    seats = {name: Seat(name) for name in CASES}
    known = {name: seat for name, seat in seats.items() if CASES[name].known}
    clock = Clock(harness)
    await harness.start()
    await clock.append([raw for seat in known.values() for raw in (*seat.begin(), seat.open(1))])
    await harness.until_told([f"{name}/1/1/opened" for name in known])
    await clock.append([seat.bet("good") for seat in known.values()])
    await harness.until_caught_up()
    bad = [raw for name, case in CASES.items() for raw in case.bad(seats[name])]
    await clock.append([raw for raw in bad if raw.stamped])
    await harness.until_caught_up()
    await harness.stop()
    for topic in (TABLE_FEED, BETS):
        await harness.append(
            [raw for raw in bad if not raw.stamped and raw.topic == topic]
        )  # a running log would stamp it
    await harness.start()
    await harness.until_caught_up()
    await clock.append([seats["late"].bet("bad")])
    await clock.append([raw for name, seat in seats.items() for raw in after(CASES[name], seat)])
    await harness.until_told([f"{name}/1/{case.next_round}/opened" for name, case in CASES.items()])
    await clock.append([seat.bet("next", CASES[name].next_round) for name, seat in seats.items()])
    await harness.until_caught_up()
    await clock.append(
        [raw for name, seat in seats.items() for raw in (seat.close(CASES[name].next_round), *seat.deal(*CARDS))]
    )
    await harness.until_caught_up()
    await harness.stop()


def after(case: Case, seat: Seat) -> Iterable[Raw]:
    """What a dealer does then: goes on with the round, or resumes; and opens the next one."""
    if not case.known:
        yield from seat.begin()
    elif case.resumes != "table":
        yield seat.close(1)
        yield from seat.deal(*CARDS)
    if case.resumes:
        yield seat.resume(case.resumes)
    yield seat.open(case.next_round)


class Clock:
    """A second between two portions, where the log's clock can be set."""

    def __init__(self, harness: Harness) -> None:
        self._harness = harness
        self._now_ms = BEGIN_MS

    async def append(self, records: Sequence[Raw]) -> None:
        self._now_ms += 1_000
        await self._harness.append([replace(raw, at_ms=self._now_ms) for raw in records])


def judge_case(told: Told, name: str) -> None:
    """The table was told what was wrong and nothing else; its bets ended as they should, and it played on."""
    case, said, ends = CASES[name], {}, {}
    for _, fact in (pair for facts in told.values() for pair in facts if pair[1].table_id == name):
        if (coded := code_of(fact)) is not None:
            kind = f"{type(fact).__name__} {coded[0]}"
            assert kind not in said, f"{kind} is said twice"
            said[kind] = coded[1]
        elif isinstance(fact, BetSettled | BetVoided):
            back = fact.return_minor if isinstance(fact, BetSettled) else fact.stake_minor
            ends[fact.bet_id] = f"{type(fact).__name__} {back}"
    assert tuple(sorted(said)) == case.answers
    assert case.text in "\n".join(said.values())
    assert ends == {bet_id: end for bet_id, end in (("good", case.good), ("next", WON)) if end}
    assert f"{name}/1/{case.next_round}/decided/0" in dict(told[ROUNDS])


def code_of(fact: Event) -> tuple[str, str] | None:
    """The code and the text of a fact that tells of something bad."""
    match fact:
        case IrregularityFound() | BetRejected() | BetIgnored():
            return fact.code, fact.text
        case TableSuspended() | BookSuspended():
            return fact.cause, fact.text
        case DeadLetter():
            return fact.reason, fact.text
        case CardSetAside():
            return fact.reason, ""
        case _:
            return None
