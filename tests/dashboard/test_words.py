from fractions import Fraction
from typing import Any

import pytest
from msgspec.structs import replace

from services.baccarat.catalogue import SIDE_BETS, VARIANTS, configuration
from services.baccarat.events import Condition, Line, Policy
from services.baccarat.features import FEATURES
from services.baccarat.policies import POLICIES
from services.dashboard.words import BY_NUMBER, BY_VALUE, HOUSE_POLICIES, bet_title, line_in_words, panel


@pytest.mark.parametrize(
    ("slug", "bet", "pays"),
    [
        ("classic", "player", ("1 to 1 when Player wins", "Stake back on a tie")),
        ("classic", "banker", ("1 to 1 less 5 % commission when Banker wins", "Stake back on a tie")),
        ("classic", "tie", ("8 to 1 on a tie",)),
        ("classic-tie-9", "tie", ("9 to 1 on a tie",)),
        (
            "super-6",
            "banker",
            ("1 to 2 when Banker wins with a Banker total of 6", "1 to 1 when Banker wins", "Stake back on a tie"),
        ),
        (
            "ez",
            "banker",
            (
                "Stake back when Banker wins with a Banker total of 7 on 3 Banker cards",
                "1 to 1 when Banker wins",
                "Stake back on a tie",
            ),
        ),
        ("ez", "player_pair", ("11 to 1 when the Player's first two cards are a pair",)),
    ],
)
def test_what_the_panel_says_a_bet_pays(slug: str, bet: str, pays: tuple[str, ...]) -> None:
    offers = {offer.bet: offer for offer in panel(1, configuration(slug)).offers}
    assert offers[bet].pays == pays
    assert offers[bet].title == bet_title(bet)


def test_every_value_that_a_pay_table_can_ask_for_has_words() -> None:
    for fact, feature in FEATURES.items():
        assert fact in BY_VALUE or fact in BY_NUMBER
        for value in feature.values:
            assert value in BY_VALUE.get(fact, feature.values)


def test_every_line_of_the_catalogue_is_said_in_words_of_its_own() -> None:
    pay_tables = [bets for variant in VARIANTS.values() for bets in variant.bets.values()]
    for lines in (*pay_tables, *(bet.lines for bet in SIDE_BETS.values())):
        said = [line_in_words(line) for line in lines]
        assert len(set(said)) == len(said)
        assert not any("_" in words for words in said)


def test_what_has_no_words_is_shown_as_it_was_written() -> None:
    line = Line((Condition("dragon_bonus", ("4", "5", "6")),), Fraction(30), commission=Fraction(1, 30))
    assert line_in_words(line) == "30 to 1 less 1/30 commission when dragon bonus is 4, 5 or 6"
    told = replace(
        configuration("classic"), variant="house-special", name="House {special}", burn_rule="burn {all} of it"
    )
    shown = panel(3, told)
    assert (shown.title, shown.version) == ("House {special}", 3)
    assert ("Burn", "burn {all} of it") in shown.rules


def test_conditions_that_must_not_hold_and_lines_without_any() -> None:
    assert line_in_words(Line((Condition("natural", ("no",)),), Fraction(4))) == "4 to 1 without a natural"
    assert line_in_words(Line((), None)) == "Stake back"
    assert line_in_words(Line((Condition("winner", ("player", "banker")),), Fraction(1))) == (
        "1 to 1 when Player wins or when Banker wins"
    )


def test_the_house_rules_in_words() -> None:
    told = replace(
        configuration("classic"),
        burn_rule="fixed_n",
        burn_fixed=3,
        betting="dealer",
        policies=(Policy("card-in-excess", "set_aside"),),
    )
    rules = dict(panel(1, told).rules)
    assert rules["Burn"] == "3 cards are burned face down."
    assert rules["Betting"] == "Opened by the dealer; closes after 15 s, or with the first card."
    assert rules["Irregularities"] == "card in excess: set aside."
    assert "Commission" in rules
    assert "Commission" not in dict(panel(1, configuration("ez")).rules)


def test_a_plain_table_says_nothing_of_what_is_not_there() -> None:
    shown = panel(1, configuration("classic"))
    assert [heading for heading, _ in shown.rules] == [
        "Betting",
        "Burn",
        "End of the shoe",
        "Commission",
        "Rounding",
        "Corrections",
    ]
    assert all(offer.bounds == () for offer in shown.offers)


@pytest.mark.parametrize(
    ("settings", "heading", "words"),
    [
        ({"opposite_mains": False}, "Limits", "A customer may not back both Player and Banker in a round."),
        ({"side_above_main": False}, "Limits", "A customer's side bet may not be above his main bets."),
        ({"win_max_minor": 50_000_000}, "Limits", "A customer can win at most 500,000.00 EUR in a round."),
        ({"payout_max_minor": 100}, "Limits", "All customers together can win at most 1.00 EUR in a round."),
        (
            {"differential_max_minor": 200},
            "Limits",
            "The stakes on Player and on Banker may differ by at most 2.00 EUR; the newest bets above it are void.",
        ),
        ({"burn_rule": "none", "burn_between": 1}, "Burn", "No card is burned. Between two rounds 1 card is burned."),
        ({"burn_rule": "none", "burn_between": 2}, "Burn", "No card is burned. Between two rounds 2 cards are burned."),
        ({"seats": 14, "table_type": "big"}, "Table", "A big table. Bets may name seats 1 to 14."),
        ({"seats": 1}, "Table", "Bets may name seat 1."),
        ({"table_type": "midi"}, "Table", "A midi table."),
        (
            {"commission_mode": "owed"},
            "Commission",
            "Kept as a debt, exact, and collected at the end of the shoe or when the customer leaves.",
        ),
        (
            {"policies": (Policy("card-unread", "burn"), Policy("claim-differs", "suspend"))},
            "Irregularities",
            "a card that is not read is burned, and the next one takes its place.",
        ),
        (
            {"gaming_day_starts_at": "06:00", "time_zone": "Europe/Vilnius"},
            "Gaming day",
            "Begins at 06:00, Europe/Vilnius time.",
        ),
    ],
)
def test_what_is_not_plain_at_a_table_is_said(settings: dict[str, Any], heading: str, words: str) -> None:
    rules = dict(panel(1, replace(configuration("classic", currency="EUR"), **settings)).rules)
    assert rules[heading] == words


def test_every_policy_there_is_has_words() -> None:
    assert set(HOUSE_POLICIES) == {(code, policy) for code, all_of_it in POLICIES.items() for policy in all_of_it}


def test_the_bounds_of_a_bet_in_words() -> None:
    told = configuration("classic", currency="EUR")
    bound = replace(told.pay_table[0], step_minor=250, last_round_no=40, cards_dealt_max=220, payout_max_minor=100_000)
    one = replace(told.pay_table[1], cards_dealt_max=1)
    first, second = panel(1, replace(told, pay_table=(bound, one))).offers
    assert first.bounds == (
        "in steps of 2.50 EUR",
        "up to round 40 of a shoe",
        "while at most 220 cards have left the shoe",
        "all bets on it together can win 1,000.00 EUR in a round",
    )
    assert second.bounds == ("while at most 1 card has left the shoe",)
