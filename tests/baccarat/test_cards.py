"""Cards: what is written, what is read, what it counts."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.baccarat.cards import DECK, POINTS, RANK_CARDS, RANKS, SUITS, Card, UnknownCard, parse_card, total

quietly = settings(derandomize=True, deadline=None)
any_cards = st.lists(st.sampled_from((*DECK, *RANK_CARDS)), max_size=6)


def test_a_deck_is_52_different_cards_of_4_suits_and_13_ranks() -> None:
    assert len(DECK) == len(set(DECK)) == 52
    assert {(card.rank, card.suit) for card in DECK} == {(rank, suit) for rank in RANKS for suit in SUITS}


def test_the_points_of_every_rank() -> None:
    assert {rank: Card(rank, "S").points for rank in RANKS} == {
        "A": 1, "2": 2, "3": 3, "4": 4, "5": 5, "6": 6, "7": 7, "8": 8, "9": 9, "10": 0, "J": 0, "Q": 0, "K": 0,
    }  # fmt: skip


@pytest.mark.parametrize("card", [*DECK, *RANK_CARDS], ids=str)
def test_what_is_written_is_read_back_as_the_same_card(card: Card) -> None:
    assert parse_card(str(card)) is card
    assert parse_card(f" {str(card).lower()}\n") is card


@pytest.mark.parametrize(
    ("text", "rank", "suit"),
    [
        ("9S", "9", "S"),
        ("10D", "10", "D"),
        ("TD", "10", "D"),
        ("0D", "10", "D"),
        ("td", "10", "D"),
        ("kh", "K", "H"),
        ("AC", "A", "C"),
        ("T", "10", None),
        ("0", "10", None),
        ("10", "10", None),
        ("a", "A", None),
    ],
)
def test_other_ways_to_write_a_card(text: str, rank: str, suit: str | None) -> None:
    assert parse_card(text) == Card(rank, suit)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "S",
        "SS",
        "1",
        "1S",
        "11H",
        "9X",
        "99",
        "T0",
        "00",
        "010S",
        "S9",
        "9 S",
        "9SS",
        "JOKER",
        "X",
        "B",
        "é",
        "9♠",
    ],
)
def test_what_is_no_card_is_refused_and_named(text: str) -> None:
    with pytest.raises(UnknownCard) as refused:
        parse_card(text)
    assert repr(text) in str(refused.value)


def test_a_card_is_written_rank_then_suit() -> None:
    assert [str(card) for card in (Card("9", "S"), Card("10", "D"), Card("K"), Card("A", "C"))] == [
        "9S",
        "10D",
        "K",
        "AC",
    ]


def test_the_total_of_no_cards_is_0() -> None:
    assert total(()) == 0


@quietly
@given(any_cards)
def test_a_total_is_the_last_digit_of_the_sum_in_any_order(cards: list[Card]) -> None:
    by_hand = sum(POINTS[card.rank] for card in cards)
    assert str(total(cards)) == str(by_hand)[-1]
    assert total(reversed(cards)) == total(cards)


@quietly
@given(any_cards, any_cards)
def test_totals_add_up_hand_by_hand(some: list[Card], more: list[Card]) -> None:
    assert total([*some, *more]) == (total(some) + total(more)) % 10
