"""Every deal, counted exactly."""

import doctest
from collections.abc import Iterator
from fractions import Fraction
from itertools import permutations
from math import perm

import pytest

from services.baccarat import odds, tableau
from services.baccarat.cards import DECK, Card, Hand, Winner, parse_card, total
from services.baccarat.errors import BadSettings
from services.baccarat.odds import Outcomes, composition, deals, outcomes
from services.baccarat.shoe import fresh_shoe

EIGHT_DECKS = Outcomes(
    player=2_230_518_282_592_256, banker=2_292_252_566_437_888, tie=475_627_426_473_216, ways=4_998_398_275_503_360
)


def cells() -> Iterator[tuple[str, int, int]]:
    """The 8 cells of the Player's row and the 88 of the Banker's rows: which table, row, column."""
    for column in range(8):
        yield "player", 0, column
    for row in range(8):
        for column in range(11):
            yield "banker", row, column


def flipped(row: str, column: int) -> str:
    return row[:column] + ("-" if row[column] == "D" else "D") + row[column + 1 :]


def test_eight_decks() -> None:
    assert outcomes(8) == EIGHT_DECKS
    assert EIGHT_DECKS.player + EIGHT_DECKS.banker + EIGHT_DECKS.tie == EIGHT_DECKS.ways == perm(416, 6)


def test_flipping_any_of_the_96_cells_changes_the_count(monkeypatch: pytest.MonkeyPatch) -> None:
    unseen = []
    for table, row, column in cells():
        with monkeypatch.context() as changed:
            if table == "player":
                changed.setattr(tableau, "PLAYER_ROW", flipped(tableau.PLAYER_ROW, column))
            else:
                rows = list(tableau.BANKER_ROWS)
                rows[row] = flipped(rows[row], column)
                changed.setattr(tableau, "BANKER_ROWS", tuple(rows))
            if outcomes(8) == EIGHT_DECKS:
                unseen.append((table, row, column))
    assert len(list(cells())) == 96
    assert unseen == []


@pytest.mark.parametrize("decks", [1, 6, 12])
def test_the_ways_sum_to_all_six_card_sequences(decks: int) -> None:
    assert outcomes(decks).ways == perm(52 * decks, 6)


def test_six_cards_left_are_counted_as_by_hand() -> None:
    """The 720 orders of six known cards, dealt card by card with `next_hand`."""
    left = [parse_card(text) for text in ["4S", "4H", "5D", "9C", "KS", "2H"]]
    by_hand = dict.fromkeys(Winner, 0)
    for order in permutations(left):
        player: tuple[Card, ...] = ()
        banker: tuple[Card, ...] = ()
        for card in order:
            hand = tableau.next_hand(player, banker)
            if hand is Hand.PLAYER:
                player = (*player, card)
            elif hand is Hand.BANKER:
                banker = (*banker, card)
        by_hand[tableau.winner_of(total(player), total(banker))] += 1
    removed = [card for card in DECK if card not in left]
    assert outcomes(1, removed) == Outcomes(
        player=by_hand[Winner.PLAYER], banker=by_hand[Winner.BANKER], tie=by_hand[Winner.TIE], ways=720
    )
    assert min(by_hand.values()) > 0


def test_each_deal_comes_once_and_is_over() -> None:
    seen = [(deal.player_two, deal.banker_two, deal.player_third, deal.banker_third) for deal in deals(1)]
    assert len(seen) == len(set(seen))
    assert all(tableau.drawing_hand(*deal) is None for deal in seen)


def test_deals_of_four_five_and_six_cards_weigh_as_they_come() -> None:
    """A mean of 4.938819 cards a round from eight decks, and 4.938610 from six."""
    for decks, mean in ((8, "4.938819"), (6, "4.938610")):
        cards = sum(
            (4 + (deal.player_third is not None) + (deal.banker_third is not None)) * deal.ways for deal in deals(decks)
        )
        assert round(Fraction(cards, perm(52 * decks, 6)), 6) == Fraction(mean)


def test_a_removed_card_is_dealt_no_more() -> None:
    nines = [card for card in DECK if card.rank == "9"]
    assert composition(1) == (16, 4, 4, 4, 4, 4, 4, 4, 4, 4)
    assert composition(1, nines[:1]) == (16, 4, 4, 4, 4, 4, 4, 4, 4, 3)
    assert any(9 in {deal.player_third, deal.banker_third} for deal in deals(1, nines[:3]))
    assert not any(9 in {deal.player_third, deal.banker_third} for deal in deals(1, nines))


@pytest.mark.parametrize(
    "removed", [fresh_shoe(1)[:47], (Card("9", "S"),) * 5], ids=["five left", "five nines of four"]
)
def test_a_shoe_that_cannot_be_is_refused(removed: tuple[Card, ...]) -> None:
    with pytest.raises(BadSettings, match="no six cards"):
        outcomes(1, removed)


def test_the_examples_in_the_docstrings() -> None:
    assert doctest.testmod(odds) == (0, 1)
