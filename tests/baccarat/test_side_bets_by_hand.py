"""Side bets whose edge nobody published, each by its rule written out by hand over every deal: nothing of the pay
tables and the conditions that settlement and the odds both go by.
"""

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Final

import pytest

from services.baccarat.catalogue import SIDE_BETS, VARIANTS
from services.baccarat.odds import Deal, bet_odds, deals
from tests.baccarat.test_odds_published import BETS_OF, pair_edges, rows

Pays = Fraction | int | None  # to one; 0 is a loss, None a push


class Hands:
    """Totals and counts of cards, as somebody at the table sees them."""

    def __init__(self, deal: Deal) -> None:
        self.player, self.banker = deal.player_total, deal.banker_total
        self.of_player = 2 if deal.player_third is None else 3
        self.of_banker = 2 if deal.banker_third is None else 3
        self.cards = self.of_player + self.of_banker
        self.tie = self.player == self.banker


def bonus(one: Hands, *, player: bool) -> Pays:
    """Dragon Bonus as cypressbayou.com has it."""
    own, other = (one.player, one.banker) if player else (one.banker, one.player)
    is_natural = (one.of_player if player else one.of_banker) == 2 and own >= 8
    if own == other:
        return None if is_natural and one.cards == 4 else 0
    if own < other:
        return 0
    return 1 if is_natural else {9: 30, 8: 10, 7: 4, 6: 4, 5: 2, 4: 2}.get(own - other, 0)


def treasure(one: Hands) -> bool:
    """Whether another 5 Treasures bet wins: Fortune 7, Golden 8, Heavenly 9 or Blazing 7s."""
    return (
        (one.banker == 7 > one.player and one.of_banker == 3)
        or (one.player == 8 > one.banker and one.of_player == 3)
        or (one.player == 9 and one.of_player == 3)
        or (one.banker == 9 and one.of_banker == 3)
        or (one.player == one.banker == 7 and one.of_player == one.of_banker)
    )


def kills(one: Hands) -> bool:
    """A three-card Banker 7 or a three-card Player 6 that does not win."""
    return (one.banker == 7 and one.of_banker == 3 and one.player >= 7) or (
        one.player == 6 and one.of_player == 3 and one.banker >= 6
    )


BY_HAND: Final[dict[str, Callable[[Hands], Pays]]] = {
    "big_53": lambda one: Fraction(53, 100) if one.cards > 4 else 0,
    "big_52": lambda one: Fraction(52, 100) if one.cards > 4 else 0,
    "big_50": lambda one: Fraction(1, 2) if one.cards > 4 else 0,
    "small_145": lambda one: Fraction(145, 100) if one.cards == 4 else 0,
    "four_cards": lambda one: Fraction(3, 2) if one.cards == 4 else 0,
    "six_cards": lambda one: 2 if one.cards == 6 else 0,
    "super_6_plus": lambda one: (12 if one.of_banker == 2 else 18) if one.banker == 6 > one.player else 0,
    "tiger_tie": lambda one: 35 if one.player == one.banker == 6 else 0,
    "lucky_7": lambda one: (6 if one.of_player == 2 else 15) if one.player == 7 > one.banker else 0,
    "super_lucky_7": lambda one: {4: 30, 5: 40, 6: 100}[one.cards] if (one.player, one.banker) == (7, 6) else 0,
    "small_dragon": lambda one: 15 if one.player == 7 > one.banker and one.of_player == 2 else 0,
    "big_dragon": lambda one: 30 if one.player == 7 > one.banker and one.of_player == 3 else 0,
    "immortal_dragon": lambda one: 25 if one.player == 7 < one.banker else 0,
    "three_card_player": lambda one: 4 if one.player > one.banker and one.of_player == 3 else 0,
    "three_card_banker": lambda one: 5 if one.banker > one.player and one.of_banker == 3 else 0,
    "tie_max_low": lambda one: 12 if one.tie and one.player <= 6 else 0,
    "tie_max_high": lambda one: 17 if one.tie and one.player >= 7 else 0,
    "player_4": lambda one: 50 if one.player == 4 > one.banker else 0,
    "banker_4": lambda one: 25 if one.banker == 4 > one.player else 0,
    "kill": lambda one: 30 if kills(one) else 0,
    "cover_all": lambda one: 6 if treasure(one) else 0,
    "dragon_bonus_player_alt": lambda one: bonus(one, player=True),
    "dragon_bonus_banker_alt": lambda one: bonus(one, player=False),
}


def edge(rule: Callable[[Hands], Pays]) -> Fraction:
    returned, ways = Fraction(0), 0
    for deal in deals(8):
        pays = rule(Hands(deal))
        returned += deal.ways * (1 if pays is None else 0 if pays == 0 else 1 + pays)
        ways += deal.ways
    return 1 - returned / ways


@pytest.mark.parametrize("bet", BY_HAND)
def test_totals_and_counts(bet: str) -> None:
    assert bet_odds(bet, SIDE_BETS[bet].lines, 8).edge == edge(BY_HAND[bet])


def test_the_immortal_player() -> None:
    def immortal(one: Hands) -> Pays:
        if one.player == one.banker or (one.player == 7 < one.banker):
            return None
        return 0 if one.player < one.banker else Fraction(1, 2) if one.player == 7 else 1

    assert bet_odds("player", VARIANTS["immortal"].mains["player"], 8).edge == edge(immortal)


def test_pairs_and_suits() -> None:
    """Of 416 cards 31 more are of the first card's rank, 103 of its suit and 7 of both."""
    pair, suited, perfect = Fraction(31, 415), Fraction(103, 415), Fraction(7, 415)
    for hand in ("player", "banker"):
        found = bet_odds(hand, SIDE_BETS[f"fabulous_pair_{hand}"].lines, 8).edge
        assert found == 1 - 8 * perfect - 5 * (pair - perfect) - 2 * (suited - perfect)
    pays = 11 * pair
    assert bet_odds("banker_pair", SIDE_BETS["banker_pair_10"].lines, 8).edge == 1 - pays
    four = 416 * 415 * 414 * 413
    same, two = Fraction(13 * 32 * 31 * 30 * 29, four), Fraction(13 * 12 * (32 * 31) ** 2, four)
    one = 2 * pair - 2 * (same + two)
    assert bet_odds("tiger", SIDE_BETS["tiger_pair"].lines, 8).edge == 1 - 5 * one - 21 * two - 101 * same


def test_every_bet_is_proved_by_a_published_edge_or_by_hand(shared: Path) -> None:
    published = {BETS_OF[row["bet"]][0] for row in rows(shared, "side_bets.csv") if row["published_edge_pct_8"]}
    pairs = {"tiger_pair", "fabulous_pair_player", "fabulous_pair_banker", "banker_pair", "banker_pair_10"}
    by_hand = BY_HAND.keys() | pairs | {slug for slug, _ in pair_edges()}
    assert SIDE_BETS.keys() - published - by_hand == {"super_lucky_7_press"}  # 33.44%: `test_odds_published`
