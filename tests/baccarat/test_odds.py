"""Every deal, counted exactly."""

import doctest
from collections.abc import Iterator
from fractions import Fraction
from itertools import permutations
from math import perm

import pytest

from services.baccarat import odds, tableau
from services.baccarat.cards import DECK, Card, Hand, Winner, parse_card, total
from services.baccarat.catalogue import SIDE_BETS, VARIANTS, line
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


# ---- bets


def test_what_a_bet_comes_to() -> None:
    """Evens on one of two: a deck without its pairs, so that nothing but the line decides."""
    lines = (line(2, winner="player"), line(None, winner="tie"), line("1/2", winner="banker"))
    found, ways = odds.bet_odds("x", lines, 8), EIGHT_DECKS
    assert [(one.line, one.ways, one.returns) for one in found.lines] == [
        (1, ways.player, Fraction(3)),
        (2, ways.tie, Fraction(1)),
        (3, ways.banker, Fraction(3, 2)),
        (None, 0, Fraction(0)),
    ]
    assert (found.win, found.push, found.loss) == (
        Fraction(ways.player + ways.banker, ways.ways),
        Fraction(ways.tie, ways.ways),
        Fraction(0),
    )
    mean = Fraction(3 * ways.player + ways.tie, ways.ways) + Fraction(3 * ways.banker, 2 * ways.ways)
    assert found.expected_return == mean == 1 - found.edge
    assert found.variance == (
        Fraction(9 * ways.player + ways.tie, ways.ways) + Fraction(9 * ways.banker, 4 * ways.ways) - mean**2
    )


def test_a_return_of_less_than_the_stake_is_a_loss() -> None:
    found = odds.bet_odds("x", (line(1, commission=2, winner="tie"),), 8)
    assert found.win + found.push == 0
    assert found.loss == 1


def test_a_line_that_asks_nothing_always_pays() -> None:
    found = odds.bet_odds("x", (line(1),), 8)
    assert found.win == 1
    assert found.ways == EIGHT_DECKS.ways


def test_removed_cards_change_a_bet_as_they_should() -> None:
    pair = SIDE_BETS["player_pair"].lines
    nines = tuple(parse_card(text) for text in ("9S", "9H", "9D"))
    one_nine = odds.bet_odds("x", pair, 1, nines).win  # 12 ranks of 4, and a nine, in 49 cards
    assert one_nine == Fraction(12 * 4 * 3, 49 * 48)
    assert odds.bet_odds("x", pair, 1, (Card("9"),) * 3).win == one_nine  # any nines: suits do not count
    perfect = SIDE_BETS["perfect_pair_v1"].lines
    assert odds.bet_odds("x", perfect, 1).win == 0


@pytest.mark.parametrize(
    ("bet", "removed", "said"),
    [
        ("player_pair", (Card("9", "S"),) * 2, "9S cannot be removed: a shoe of 52 cards holds no further one"),
        ("player_pair", (Card("9"),) * 5, "9 cannot be removed"),
        ("player_pair", fresh_shoe(1)[:47], "5 cards are left, and a round can take 6"),
        ("super_tie", (Card("9"),), "9 cannot be removed without its suit: this bet tells suits apart; write 9S"),
    ],
)
def test_cards_that_cannot_be_removed(bet: str, removed: tuple[Card, ...], said: str) -> None:
    with pytest.raises(BadSettings, match=said):
        odds.bet_odds(bet, SIDE_BETS[bet].lines, 1, removed)


def test_suitless_cards_leave_those_that_are_named_to_be_removed() -> None:
    """9S is named, so the nines of no suit are others, in whatever order they were written."""
    removed = (Card("9"), Card("9"), Card("9"), Card("9", "S"))
    assert odds.left_in_shoe(1, removed, suits_count=False)[Card("9", "S")] == 0
    assert sum(odds.left_in_shoe(1, removed, suits_count=False).values()) == 48


def test_a_bet_that_would_take_too_long_is_refused_with_the_number() -> None:
    lines = (line(9, winner="player", player_perfect="yes", colour="red", all_faces="no"),)
    with pytest.raises(BadSettings, match=r"telling colour, faces, pair, suited, totals apart takes [0-9,]{9,} steps"):
        odds.bet_odds("x", lines, 8)


def test_totals_with_pairs_and_suits_are_counted() -> None:
    """By hand for two cards that decide alone: a perfect pair of fours, which is a natural 8."""
    lines = (line(9, player_perfect="yes", player_two=8),)
    perfect = Fraction(8 * 7, 416 * 415)  # of one card of the deck
    assert odds.bet_odds("x", lines, 8).win == 4 * 2 * perfect  # fours and nines, in four suits
    mixed = odds.bet_odds("x", (line(9, winner="banker", player_pair="yes"), line(1, winner="banker")), 8)
    assert sum(one.ways for one in mixed.lines[:2]) == EIGHT_DECKS.banker


def test_the_examples_in_the_docstrings() -> None:
    assert doctest.testmod(odds) == (0, 1)


def test_commission_takes_its_share_of_the_winnings_rounded_as_the_table_does() -> None:
    mains = VARIANTS["classic"].mains
    banker, player = (odds.bet_odds(bet, mains[bet], 8) for bet in ("banker", "player"))
    assert odds.commission_at(banker, mains["banker"], 5, odds.Paying("down", "up")) == Fraction(1, 5)
    assert odds.commission_at(banker, mains["banker"], 20, odds.Paying()) == Fraction(1, 20)
    assert odds.commission_at(banker, mains["banker"], 20, odds.Paying(owed=True)) is None
    assert odds.commission_at(player, mains["player"], 20, odds.Paying()) is None
