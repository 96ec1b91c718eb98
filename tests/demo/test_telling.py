"""A line a round, and a line for what interrupts a table."""

from typing import TypedDict

import pytest

from services.baccarat.cards import Winner, parse_card
from services.baccarat.events import (
    BookSuspended,
    CardSetAside,
    Event,
    IrregularityFound,
    RoundDecided,
    RoundSettled,
    ShoeClosed,
    ShoeOpened,
    TableResumed,
    TableSuspended,
)
from services.demo.telling import amount, happened, settled


class Common(TypedDict):
    event_id: str
    table_id: str
    at_ms: int
    cause_id: str


ABOUT = Common(event_id="x", table_id="T1", at_ms=0, cause_id="c")


DECIDED = RoundDecided(
    **ABOUT,
    shoe_no=1,
    round_no=12,
    revision=0,
    version=1,
    player=(parse_card("9S"), parse_card("KD")),
    banker=(parse_card("10S"), parse_card("10D"), parse_card("10H")),
    player_total=9,
    banker_total=0,
    winner=Winner.PLAYER,
    natural=True,
    free=False,
)


def money(stakes: int, house: int) -> RoundSettled:
    return RoundSettled(
        **ABOUT,
        shoe_no=1,
        round_no=12,
        revision=0,
        count=9,
        stakes_minor=stakes,
        returns_minor=stakes - house,
        commission_minor=0,
        house_win_minor=house,
        sums=(),
    )


def test_rounds_stand_in_columns() -> None:
    lines = [
        settled(money(125_000, -6_125), DECIDED),
        settled(money(0, 0), None),
    ]
    assert lines == [
        "  1/12  Player 9S KD       9  Banker 10S 10D 10H 0  player  natural   9 bets   1,250.00  house     -61.25",
        "  1/12  void                                                          9 bets       0.00  house       0.00",
    ]


@pytest.mark.parametrize(
    ("minor", "text"), [(0, "0.00"), (5, "+0.05"), (-5, "-0.05"), (123_456_789, "+1,234,567.89"), (-100, "-1.00")]
)
def test_amounts(minor: int, text: str) -> None:
    assert amount(minor, signed=True) == text
    assert amount(minor) == text.lstrip("+")


@pytest.mark.parametrize(
    ("fact", "words"),
    [
        (ShoeOpened(**ABOUT, shoe_no=2, decks=8), "shoe 2 begins, 8 decks"),
        (
            ShoeClosed(**ABOUT, shoe_no=2, reason="cut-card", rounds=70, cards=402),
            "shoe 2 ends after 70 rounds and 402 cards (cut-card)",
        ),
        (TableSuspended(**ABOUT, cause="sequence-gap", text="a gap"), "suspended (sequence-gap): a gap"),
        (TableResumed(**ABOUT, by="d", text="seen"), "resumed by d: seen"),
        (IrregularityFound(**ABOUT, code="c", text="t", policy="p"), "irregularity c (p): t"),
        (
            BookSuspended(**ABOUT, shoe_no=1, round_no=2, cause="forged", text="t"),
            "book of round 1/2 suspended (forged): t",
        ),
        (CardSetAside(**ABOUT, shoe_no=1, card_no=1, card=None, reason="r"), ""),
    ],
)
def test_what_interrupts_a_table(fact: Event, words: str) -> None:
    assert happened(fact) == words
