"""Table files: what they say, and what is wrong with them, line by line."""

from fractions import Fraction
from pathlib import Path

import pytest
from msgspec.structs import replace

from services.baccarat import payouts, tables
from services.baccarat.catalogue import SIDE_BETS, VARIANTS, configuration, line
from services.baccarat.events import Configuration, Policy, Terms
from services.baccarat.odds import bet_odds, paying_of, return_at
from services.baccarat.tables import EXPONENTS, Described, Difference, differences, read, units

TABLES = Path(__file__).resolve().parents[2] / "deploy" / "tables"
PLAIN = 'game = "classic"\ncurrency = "EUR"\n'


def is_zone(name: str) -> bool:
    return name in {"UTC", "Europe/Vilnius"}


def given(text: str) -> Described:
    return read(text, is_zone)


def table(text: str) -> Configuration:
    found = given(text)
    assert found.faults == ()
    assert found.configuration is not None
    assert payouts.faults(found.configuration) == ()
    return found.configuration


def terms(how: Configuration, bet: str) -> Terms:
    return next(one for one in how.pay_table if one.bet == bet)


# ---- what a file says


def test_the_least_that_can_be_said_is_the_table_of_the_catalogue() -> None:
    assert table(PLAIN) == replace(configuration("classic"))


@pytest.mark.parametrize("slug", [slug for slug in VARIANTS if slug != "classic"])
def test_every_game_of_the_catalogue_can_be_played(slug: str) -> None:
    assert table(f'game = "{slug}"\ncurrency = "EUR"\n') == configuration(slug)


def test_any_menu_goes_with_any_game() -> None:
    how = table(f'{PLAIN}side_bets = ["tiger", "big", "tiger"]')
    assert [one.bet for one in how.pay_table] == [
        "player", "banker", "tie", "lucky_6", "small_6", "big_6", "tiger_tie", "tiger_pair", "big",
    ]  # fmt: skip
    assert [one.bet for one in table(f'{PLAIN}side_bets = "none"').pay_table] == ["player", "banker", "tie"]
    assert terms(table(f'{PLAIN}side_bets = "ez"'), "dragon_7").lines == SIDE_BETS["dragon_7"].lines


@pytest.mark.parametrize("path", sorted(TABLES.glob("*.toml")), ids=lambda path: path.stem)
def test_the_examples_are_right(path: Path) -> None:
    found = given(path.read_text("utf-8"))
    assert found.faults == ()
    assert found.table_id
    assert found.configuration is not None
    assert payouts.faults(found.configuration) == ()


def test_every_setting_arrives() -> None:
    found = given((TABLES / "vip.toml").read_text("utf-8"))
    how = found.configuration
    assert how is not None
    assert found.table_id == "vip-1"
    assert terms(how, "banker").lines[0] == line(1, "1/20", winner="banker")
    assert terms(how, "tie").lines == (line(9, winner="tie"),)
    assert terms(how, "player_pair").lines[0].odds == 10
    big = terms(how, "big")
    assert big == Terms(
        "big",
        (line("53/100", cards=(5, 6)),),
        min_minor=2_000,
        max_minor=500_000,
        step_minor=2_000,
        last_round_no=40,
        cards_dealt_max=220,
        payout_max_minor=5_000_000,
    )
    assert replace(how, pay_table=()) == Configuration(
        variant="classic",
        name="VIP",
        pay_table=(),
        currency="EUR",
        exponent=2,
        decks=8,
        table_type="big",
        seats=14,
        commission_mode="owed",
        opposite_mains=False,
        side_above_main=False,
        win_max_minor=50_000_000,
        payout_max_minor=200_000_000,
        differential_max_minor=20_000_000,
        betting_window_ms=20_000,
        cards_behind_cut=16,
        gaming_day_starts_at="06:00",
        time_zone="Europe/Vilnius",
        policies=(Policy("card-unread", "burn"),),
    )


def test_a_game_and_bets_of_a_houses_own() -> None:
    how = given((TABLES / "house.toml").read_text("utf-8")).configuration
    assert how is not None
    assert (how.variant, how.name, how.exponent) == ("half-on-eight", "Half on Eight", 3)
    assert terms(how, "player").lines == VARIANTS["classic"].mains["player"]
    assert terms(how, "banker").lines == VARIANTS["banker-8-half"].mains["banker"]
    assert terms(how, "nines").lines == (
        line(60, player_total=9, banker_total=9, cards=4),
        line(50, player_total=9, banker_total=9),
    )
    assert terms(how, "player").step_minor == 250


def test_conditions_may_be_numbers_lists_spans_and_truths() -> None:
    how = table(
        PLAIN
        + """
        side_bets = ["x"]
        [bets.x]
        pays = "19/20"
        commission = 0.05
        [bets.x.when]
        winner = "banker"
        margin = "4-9"
        banker_total = [6, "7-8", 8]
        natural = false
        """
    )
    assert terms(how, "x").lines == (
        line("19/20", "1/20", winner="banker", margin=tuple(range(4, 10)), banker_total=(6, 7, 8), natural="no"),
    )


@pytest.mark.parametrize(
    ("pays", "odds"),
    [("8", 8), ('"8"', 8), ('"8:1"', 8), ('"8 to 1"', 8), ("0.53", Fraction(53, 100)), ('"1:2"', Fraction(1, 2)),
     ('"1.5 / 3"', Fraction(1, 2)), ('"push"', None)],
)  # fmt: skip
def test_odds_are_exact_however_they_are_written(pays: str, odds: Fraction | None) -> None:
    text = f"{PLAIN}side_bets = 'x'\n[bets]\nx = {{when = {{winner = 'tie', player_total = 2}}, pays = {pays}}}"
    assert terms(table(text), "x").lines[0].odds == odds


@pytest.mark.parametrize(
    ("rate", "share"),
    [
        ('"4%"', Fraction(1, 25)),
        ('"1/20"', Fraction(1, 20)),
        ("0.045", Fraction(9, 200)),
        ('"5.5 %"', Fraction(11, 200)),
    ],
)
def test_any_commission(rate: str, share: Fraction) -> None:
    how = table(f"{PLAIN}[commission]\nrate = {rate}")
    assert [one.commission for one in terms(how, "banker").lines] == [share, 0]
    assert [one.commission for one in terms(how, "player").lines] == [0, 0]


@pytest.mark.parametrize(
    ("currency", "exponent", "unit"), [("JPY", 0, 100), ("EUR", 2, 100), ("KWD", 3, 1_000), ("BTC", 8, 10**8)]
)
def test_currencies_have_their_decimals(currency: str, exponent: int, unit: int) -> None:
    how = table(f'game = "classic"\ncurrency = "{currency}"\n')
    assert (how.exponent, terms(how, "player").min_minor) == (exponent, unit)
    assert table(f'game = "classic"\ncurrency = "{currency}"\nexponent = {exponent}\n') == how


def test_a_currency_that_is_not_listed_says_its_decimals() -> None:
    assert "XYZ" not in EXPONENTS
    assert table('game = "classic"\ncurrency = "XYZ"\nexponent = 4\n').exponent == 4


def test_amounts_are_exact() -> None:
    how = table(f'{PLAIN}limits.main = {{min = "0.50", max = 20.25, step = 0.25}}')
    player = terms(how, "player")
    assert (player.min_minor, player.max_minor, player.step_minor) == (50, 2_025, 25)
    assert units(2_025, how) == "20.25"
    assert units(2_025, replace(how, exponent=0)) == "2,025"


def test_a_bet_that_favours_the_customer_is_taken_by_name_and_under_a_cap() -> None:
    text = f"{PLAIN}pays.tie = 10\n[limits.bets.tie]\nmay_favour_customer = true\npayout_max = 1000"
    tie = terms(table(text), "tie")
    assert tie.payout_max_minor == 100_000
    assert bet_odds("tie", tie.lines, 8).edge < 0


@pytest.mark.parametrize("exponent", [0, 1, 2])
@pytest.mark.parametrize("slug", VARIANTS)
def test_no_table_favours_the_customer_at_the_least_stakes_unless_it_asks_for_it(slug: str, exponent: int) -> None:
    """With all that rounds among the side bets."""
    how = table(f'game = "{slug}"\ncurrency = "XYZ"\nexponent = {exponent}\nside_bets = ["big", "big_53", "small_145"]')
    for one in how.pay_table:
        found = bet_odds(one.bet, one.lines, how.decks)
        for stake in range(one.min_minor, one.min_minor + 50):
            assert return_at(found, one.lines, stake, paying_of(how)) <= stake, (one.bet, stake)


@pytest.mark.parametrize(
    "text",
    [
        "commission.mode = 'owed'\nlimits.main.min = 0.01",
        "limits.main = {min = 0.20, step = 0.20}",
        "commission.rounding = 'up'\nlimits.main.min = 0.01",
        "limits.main = {min = 0.10, max = 0.10}",
        "limits.main.min = 0.01\nlimits.bets.banker = {may_favour_customer = true, payout_max = 1}",
    ],
)
def test_small_stakes_that_rounding_does_not_make_pay_are_taken_and_so_are_those_under_a_cap(text: str) -> None:
    assert terms(table(PLAIN + text), "banker").min_minor <= 20


def test_the_stakes_above_the_minimum_are_judged_too() -> None:
    """0.607 of 101 and 102 is rounded down, of 103 up: by more than the edge of 0.18% takes."""
    text = f"{PLAIN}winnings_rounding = 'half_up'\nside_bets = ['big']\npays.big = '0.607'\nlimits.side.min = 1.01"
    assert bet_odds("big", (line("607/1000", cards=(5, 6)),), 8).edge > 0
    assert [fault.text[:72] for fault in given(text).faults] == [
        "limits.side.min: big favours the customer by 0.1047% at a stake of 1.03,"
    ]
    assert given(text.replace("limits.side.min = 1.01", "")).faults[0].text.startswith("pays.big: big favours")


def test_a_bet_that_gives_every_stake_back_favours_nobody() -> None:
    assert terms(table(f"{PLAIN}side_bets = 'x'\nbets.x = {{pays = 'push'}}"), "x").bet == "x"


def test_a_game_may_be_like_one_that_is_like_another() -> None:
    how = table(
        """
        game = "third"
        currency = "EUR"
        [games]
        second = {like = "super-6", bets = {tie = {when = {winner = "tie"}, pays = 9}}}
        third = {like = "second", name = "The Third"}
        """
    )
    assert how.name == "The Third"
    assert terms(how, "tie").lines[0].odds == 9
    assert terms(how, "banker").lines == VARIANTS["super-6"].mains["banker"]


def test_a_game_may_stand_on_its_own() -> None:
    how = table(
        'game = "odd"\ncurrency = "EUR"\n[games.odd.bets]\n'
        'banker = [{when = {winner = "banker"}, pays = "9/10"}, {when = {winner = "tie"}, pays = "push"}]'
    )
    assert (how.name, [one.bet for one in how.pay_table]) == ("odd", ["banker", "player_pair", "banker_pair"])


# ---- what is wrong with it


def cases() -> list[tuple[str, list[str]]]:
    """The blocks of `table_faults.txt`: a file, and what is said of it."""
    found = []
    for block in (Path(__file__).parent / "table_faults.txt").read_text("utf-8").split("---\n")[1:]:
        lines = block.splitlines()
        file = "\n".join(line for line in lines if not line.startswith("=> "))
        found.append((file.replace("PLAIN\n", PLAIN, 1), [line[3:] for line in lines if line.startswith("=> ")]))
    return found


@pytest.mark.parametrize(("text", "said"), cases())
def test_every_mistake_has_its_line_and_its_remedy(text: str, said: list[str]) -> None:
    found = given(text)
    lines = [f"{fault.line}: {fault.text}" for fault in found.faults]
    assert len(lines) == len(said), lines
    for one, wanted in zip(lines, said, strict=True):
        assert one.startswith(wanted), one
        assert "\n" not in one
    assert (found.configuration is None) == bool(said)


def test_all_mistakes_are_found_in_one_reading_in_the_order_of_their_lines() -> None:
    found = given('decks = 99\ncurrency = "XYZ"\nseats = "all"\ngame = "clasic"\n[shoe]\nburn = "all"\n')
    assert [fault.line for fault in found.faults] == [1, 2, 3, 4, 6]


def test_a_mistake_in_a_game_that_is_not_played_is_one_too() -> None:
    assert [fault.line for fault in given(f"{PLAIN}[games.x]\nlike = 'ez'\nbest = 1").faults] == [5]


# ---- what changes


def test_what_changes_setting_by_setting_and_bet_by_bet() -> None:
    before = table(f'{PLAIN}side_bets = ["big"]\n[policies]\ncard-unread = "burn"')
    after = table(f'{PLAIN}side_bets = ["small"]\ndecks = 6\n[pays]\ntie = 9\n[limits.bets.tie]\nlast_round = 9')
    changes = {one.what: (one.before, one.after) for one in differences(before, after)}
    assert changes["decks"] == ("8", "6")
    assert changes["tie.line 1"] == ("pays 8 when winner = tie", "pays 9 when winner = tie")
    assert changes["tie.last_round_no"] == ("none", "9")
    assert changes["big.line 1"] == ("pays 27/50 when cards = 5 or 6", "")
    assert changes["small.line 1"] == ("", "pays 3/2 when cards = 4")
    assert changes["policies.card-unread"] == ("burn", "")
    assert not any(what.startswith(("player", "banker")) for what in changes)
    assert differences(before, before) == ()


def test_everything_is_new_at_a_new_table() -> None:
    changes = differences(None, configuration("classic"))
    assert Difference("banker.line 1", "", "pays 1 less 1/20 of it when winner = banker") in changes
    assert Difference("banker.line 2", "", "push when winner = tie") in changes
    assert Difference("opposite_mains", "", "true") in changes
    always = replace(configuration("classic"), pay_table=(Terms("x", (line(1),), 1, 2),))
    assert Difference("x.line 1", "", "pays 1 always") in differences(None, always)


def test_an_advantage_is_said_in_percent_however_large_or_small_it_is() -> None:
    assert tables.percent_of(Fraction(4_671_649, 10**8)) == "4.6716%"
    assert tables.percent_of(Fraction(10**6)) == "100,000,000.0000%"
    assert tables.percent_of(Fraction(1, 10**9)) == "less than 0.0001%"
