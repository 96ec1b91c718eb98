"""What bets pay, clause by clause: P1 to P7, the cheat sheet and the commission pairs of the rulebook."""

from fractions import Fraction

import pytest
from msgspec.structs import replace

from services.baccarat import catalogue, odds
from services.baccarat.catalogue import VARIANTS
from services.baccarat.events import BetSettled, Configuration, Line, RoundSettled
from tests.baccarat.feeds import configured
from tests.baccarat.logs import Logs, of, read_all

PLAYER_WINS = "9H 2C KD 3S"
BANKER_WINS = "2H 9C KD KS"
BANKER_WINS_WITH_6 = "2H 6C 3D KS 9C"
TIE = "9H 9C KD KS"
PLAYER_PAIR = "9H 2C 9D 3S 4C"  # the Player has 8: a natural, whatever comes
BANKER_PAIR = "9H 4C KD 4S"


def settle(cards: str, bet: str, stake_minor: int, variant: str = "classic") -> BetSettled:
    """One bet at a table of this variant, on a round of these cards."""
    logs = Logs(f"betting=automatic variant={variant}", "rules shoe")
    logs.bet(bet, stake_minor)
    logs.play(cards)
    (settled,) = of(read_all(logs), BetSettled)
    return settled


def net(settled: BetSettled) -> int:
    return settled.return_minor - settled.stake_minor


# ---- the clauses ----


def test_p1_the_player_pays_1_to_1_and_the_stake_comes_back_as_well() -> None:
    settled = settle(PLAYER_WINS, "player", 100_00)
    assert (settled.winnings_minor, settled.return_minor) == (100_00, 200_00)
    assert settle(BANKER_WINS, "player", 100_00).return_minor == 0


@pytest.mark.parametrize("bet", ["player", "banker"])
def test_p1_p2_on_a_tie_the_stake_comes_back_and_no_commission_is_taken(bet: str) -> None:
    settled = settle(TIE, bet, 100_00)
    assert (settled.winnings_minor, settled.commission_minor, settled.return_minor) == (0, 0, 100_00)


def test_p2_the_banker_pays_1_to_1_less_5_percent_of_the_winnings() -> None:
    settled = settle(BANKER_WINS, "banker", 100_00)
    assert (settled.winnings_minor, settled.commission_minor, settled.return_minor) == (100_00, 5_00, 195_00)
    assert settle(PLAYER_WINS, "banker", 100_00).return_minor == 0


@pytest.mark.parametrize("stake", range(20, 2_001, 20))
def test_p2_that_is_19_for_20(stake: int) -> None:
    assert net(settle(BANKER_WINS, "banker", stake * 100)) == stake * 100 * 19 // 20


@pytest.mark.parametrize(("variant", "odds"), [("classic", 8), ("classic-tie-9", 9), ("super-6", 8), ("ez", 8)])
def test_p3_the_tie_pays_8_or_in_some_houses_9_to_1_and_loses_otherwise(variant: str, odds: int) -> None:
    assert net(settle(TIE, "tie", 100_00, variant)) == odds * 100_00
    assert settle(PLAYER_WINS, "tie", 100_00, variant).return_minor == 0
    assert settle(BANKER_WINS, "tie", 100_00, variant).return_minor == 0


@pytest.mark.parametrize(("bet", "paired"), [("player_pair", PLAYER_PAIR), ("banker_pair", BANKER_PAIR)])
def test_p4_a_pair_pays_11_to_1_whoever_wins(bet: str, paired: str) -> None:
    assert net(settle(paired, bet, 100_00)) == 1_100_00
    assert settle(PLAYER_WINS, bet, 100_00).return_minor == 0
    assert net(settle("2H 4C 2D 4S 7C", "player_pair", 100_00)) == 1_100_00  # and whoever draws


@pytest.mark.parametrize("cards", ["JH 9C QD KS", "KH 9C 10D KS", "10H 9C JD KS"])
def test_p4_cards_of_equal_value_and_another_rank_are_no_pair(cards: str) -> None:
    assert settle(cards, "player_pair", 100_00).return_minor == 0


@pytest.mark.parametrize(("bet", "paired"), [("player_pair", PLAYER_PAIR), ("banker_pair", BANKER_PAIR)])
def test_p4_in_some_houses_a_pair_pays_10_to_1(bet: str, paired: str) -> None:
    lines = catalogue.side_bet_of(f"{bet}_10").lines
    assert net(settle_at(lines, paired, bet)) == 1_000_00
    assert settle_at(lines, PLAYER_WINS, bet).return_minor == 0
    assert net(settle_at(lines, "2H 4C 2D 4S 7C", bet)) == 1_000_00


def settle_at(lines: tuple[Line, ...], cards: str, bet: str) -> BetSettled:
    """100.00 on a classic table that pays this bet by other lines."""
    logs = Logs("betting=automatic")
    how = logs.feed.configuration
    changed = tuple(replace(terms, lines=lines) if terms.bet == bet else terms for terms in how.pay_table)
    logs.feed.configuration = replace(how, pay_table=changed)
    logs.play("rules shoe")
    logs.bet(bet, 100_00)
    logs.play(cards)
    (settled,) = of(read_all(logs), BetSettled)
    return settled


P5_EDGES = [  # in per cent, as the rulebook prints them
    ("classic", "banker", "1.06"),
    ("classic", "player", "1.24"),
    ("classic", "tie", "14.36"),
    ("classic-tie-9", "tie", "4.84"),
]


@pytest.mark.parametrize(("variant", "bet", "edge"), P5_EDGES)
def test_p5_the_house_edges_of_eight_decks(variant: str, bet: str, edge: str) -> None:
    (terms,) = (terms for terms in catalogue.configuration(variant, decks=8).pay_table if terms.bet == bet)
    found = odds.bet_odds(bet, terms.lines, 8)
    assert round(found.edge * 100, 2) == Fraction(edge)


def test_p6_net_profit_and_total_return_are_different_amounts() -> None:
    settled = settle(BANKER_WINS, "banker", 100_00)
    assert (net(settled), settled.return_minor) == (95_00, 195_00)
    unit = settle(BANKER_WINS, "banker", 1_00)
    assert (unit.winnings_minor, unit.commission_minor) == (1_00, 5)


def test_p7_rates_and_special_rules_belong_to_the_table() -> None:
    assert net(settle(BANKER_WINS_WITH_6, "banker", 100_00, "classic")) == 95_00
    assert net(settle(BANKER_WINS_WITH_6, "banker", 100_00, "super-6")) == 50_00
    assert net(settle(BANKER_WINS_WITH_6, "banker", 100_00, "ez")) == 100_00
    assert net(settle("KH 2C 4D 2S 2D 3C", "banker", 100_00, "ez")) == 0  # a three-card 7 pushes
    assert net(settle("KH 2C 4D 2S 2D 3C", "banker", 100_00, "classic")) == 95_00


def test_p7_a_round_is_priced_for_ever_by_the_version_it_opened_under() -> None:
    logs = Logs("betting=automatic", "rules shoe")
    logs.bet("tie", 100_00)
    logs.play(f"rules/2/variant=classic-tie-9 {TIE}")
    logs.bet("tie", 100_00)
    logs.play(f"{TIE} correct/1/4=9S correct/1/4=KS")
    totals = {(fact.round_no, fact.revision): -fact.house_win_minor for fact in of(read_all(logs), RoundSettled)}
    assert totals == {(1, 0): 800_00, (1, 1): -100_00, (1, 2): 800_00, (2, 0): 900_00}


# ---- the cheat sheet ----

SHEET = {  # stake: Banker, Player, Tie, Pair
    20: (19_00, 20_00, 160_00, 220_00),
    50: (47_50, 50_00, 400_00, 550_00),
    100: (95_00, 100_00, 800_00, 1_100_00),
    150: (142_50, 150_00, 1_200_00, 1_650_00),
    200: (190_00, 200_00, 1_600_00, 2_200_00),
    500: (475_00, 500_00, 4_000_00, 5_500_00),
}
COLUMNS = {"banker": BANKER_WINS, "player": PLAYER_WINS, "tie": TIE, "player_pair": PLAYER_PAIR}


@pytest.mark.parametrize("stake", SHEET)
@pytest.mark.parametrize("bet", COLUMNS)
def test_every_cell_of_the_cheat_sheet(stake: int, bet: str) -> None:
    assert net(settle(COLUMNS[bet], bet, stake * 100)) == SHEET[stake][list(COLUMNS).index(bet)]


PAIRS = [(40_00, 38_00, 2_00), (100_00, 95_00, 5_00), (200_00, 190_00, 10_00), (400_00, 380_00, 20_00), (1_00, 95, 5)]


@pytest.mark.parametrize(("stake", "paid", "commission"), PAIRS)
def test_the_commission_pairs(stake: int, paid: int, commission: int) -> None:
    settled = settle(BANKER_WINS, "banker", stake)
    assert (net(settled), settled.commission_minor) == (paid, commission)


@pytest.mark.parametrize("variant", ["classic", "classic-tie-9", "super-6", "ez"])
def test_every_variant_of_the_rulebook_offers_the_five_bets(variant: str) -> None:
    how: Configuration = configured([f"variant={variant}"])
    assert {terms.bet for terms in how.pay_table} >= {"player", "banker", "tie", "player_pair", "banker_pair"}
    assert variant in VARIANTS
