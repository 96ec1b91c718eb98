"""Which line pays, and what it comes to: on cards, over every round there is, and at random."""

import random
from collections import Counter
from fractions import Fraction
from math import exp, lgamma, log, log1p

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from services.baccarat import payouts
from services.baccarat.cards import Card
from services.baccarat.catalogue import SIDE_BETS, VARIANTS, configuration, line
from services.baccarat.errors import InvariantBroken
from services.baccarat.events import Condition, Line, Terms
from services.baccarat.features import COLOUR, FACES, PAIR, SUITED, TOTALS, Finished, finished, needs_of
from services.baccarat.odds import BetOdds, bet_odds
from services.baccarat.payouts import ROUNDINGS, Amounts, amounts, facts_in, faults, line_of, rounded
from services.baccarat.shoe import fresh_shoe
from tests.baccarat.enumeration import (
    Cards,
    Rounds,
    all_ways,
    cards,
    dealt,
    removed_from,
    rounds_of_cards,
    rounds_of_classes,
    settled,
)

SEED = 20_261_130
MAINS = {f"{slug}/{bet}": lines for slug, one in VARIANTS.items() for bet, lines in one.mains.items()}
BETS: dict[str, tuple[Line, ...]] = {**MAINS, **{slug: bet.lines for slug, bet in SIDE_BETS.items()}}
NEEDS = {bet: needs_of(facts_in(lines)) for bet, lines in BETS.items()}
BY_TOTALS = [bet for bet, needs in NEEDS.items() if needs == {TOTALS}]
BY_PAIRS = [bet for bet, needs in NEEDS.items() if needs == {PAIR}]
BY_FACES = [bet for bet, needs in NEEDS.items() if FACES in needs]
BY_SUITS = [bet for bet, needs in NEEDS.items() if needs & {SUITED, COLOUR}]


def test_every_bet_is_judged() -> None:
    assert sorted([*BY_TOTALS, *BY_PAIRS, *BY_FACES, *BY_SUITS]) == sorted(BETS)


# ---- every round there is: settled returns sum to the exact edge


def judge(bet: str, rounds: Rounds, exact: BetOdds) -> Counter[int | None]:
    mean, by_line = settled(BETS[bet], rounds)
    assert {number: by_line[number] for number in (*range(1, len(BETS[bet]) + 1), None)} == {
        one.line: one.ways for one in exact.lines
    }
    assert by_line.total() == exact.ways
    assert mean == exact.expected_return == 1 - exact.edge
    return by_line


@pytest.fixture(scope="module")
def by_points() -> Rounds:
    counts = {Card("K", "S"): 128, Card("A", "S"): 32, **{Card(str(points), "S"): 32 for points in range(2, 10)}}
    return rounds_of_classes(counts, lambda first, second: (first.points + second.points) % 10)


@pytest.mark.parametrize("bet", BY_TOTALS)
def test_totals_and_counts_over_every_round_of_eight_decks(bet: str, by_points: Rounds) -> None:
    assert sum(by_points.values()) == all_ways(8)
    judge(bet, by_points, bet_odds(bet, BETS[bet], 8))


@pytest.fixture(scope="module")
def by_faces() -> Rounds:
    counts = {
        Card("10", "S"): 24,
        Card("K", "S"): 72,
        Card("A", "S"): 24,
        **{Card(str(points), "S"): 24 for points in range(2, 10)},
    }

    def reading(first: Card, second: Card) -> tuple[int, bool]:
        return (first.points + second.points) % 10, first.rank == "K" == second.rank

    return rounds_of_classes(counts, reading)


@pytest.mark.parametrize("bet", BY_FACES)
def test_face_cards_over_every_round_of_six_decks(bet: str, by_faces: Rounds) -> None:
    assert sum(by_faces.values()) == all_ways(6)
    judge(bet, by_faces, bet_odds(bet, BETS[bet], 6))


@pytest.mark.parametrize("bet", BY_PAIRS)
@pytest.mark.parametrize("decks", [1, 8])
def test_pairs_over_all_first_four_cards(bet: str, decks: int) -> None:
    ranks = [Card(rank, "S") for rank in ("A", "2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K")]
    rounds: Counter[tuple[Cards, Cards]] = Counter()
    rest = (52 * decks - 4) * (52 * decks - 5)  # a fifth and a sixth card, whatever they are
    for a in ranks:
        for b in ranks:
            for c in ranks:
                for d in ranks:
                    left = dict.fromkeys(ranks, 4 * decks)
                    ways = rest
                    for one in (a, b, c, d):
                        ways *= left[one]
                        left[one] -= 1
                    rounds[(a, c), (b, d)] += ways
    judge(bet, rounds, bet_odds(bet, BETS[bet], decks))


# Few cards are left of few decks, so that all their orders can be dealt; between them every line comes up.
SMALL_SHOES = {
    "perfect pairs": (4, "9S 9S 9H 9H 9H 2C 2D KS"),
    "pairs and suits": (2, "KS KH KH QS 10H 7S 7D AD"),
    "one colour": (1, "7H 10D 3H KH 5D 2D QH 6D"),
    "the other": (1, "7S 10C 3S KC 5S 2C QC 6H"),
}


@pytest.fixture(scope="module")
def small_shoes() -> dict[str, Rounds]:
    return {name: rounds_of_cards(cards(left)) for name, (_, left) in SMALL_SHOES.items()}


@pytest.mark.parametrize("bet", [*BY_SUITS, "classic/banker", "tiger_pair", "monkey_6_tie", "dragon_bonus_player"])
def test_every_order_of_a_few_cards_suits_and_all(bet: str, small_shoes: dict[str, Rounds]) -> None:
    reached: set[int | None] = set()
    for name, (decks, left) in SMALL_SHOES.items():
        exact = bet_odds(bet, BETS[bet], decks, removed_from(decks, cards(left)))
        reached |= set(judge(bet, small_shoes[name], exact))
    if bet in BY_SUITS:
        assert reached == {None, *range(1, len(BETS[bet]) + 1)}


# ---- random rounds: the books balance, and each bet returns what it should


def tail(count: int, rounds: int, probability: float) -> float:
    """Twice the smaller exact tail of the binomial distribution at this count."""

    def mass(k: int) -> float:
        ways = lgamma(rounds + 1) - lgamma(k + 1) - lgamma(rounds - k + 1)
        return exp(ways + k * log(probability) + (rounds - k) * log1p(-probability))

    step = 1 if count >= rounds * probability else -1
    in_all, k = 0.0, count
    while 0 <= k <= rounds and (more := mass(k)) > in_all * 1e-16:
        in_all += more
        k += step
    return min(1.0, 2 * in_all)


def play(rounds: int, seed: int) -> tuple[dict[str, Counter[int | None]], dict[str, int]]:
    """Rounds from shoes just shuffled: the lines that decided each bet, and what is left of stakes less returns less
    the house's win, kept bet by bet and as a running cash of its own.
    """
    chance = random.Random(seed)
    shoe = fresh_shoe(8)
    groups: dict[frozenset[str], list[str]] = {}
    for bet, needs in NEEDS.items():
        groups.setdefault(needs, []).append(bet)
    known: dict[tuple[frozenset[str], Finished], tuple[int | None, ...]] = {}
    seen: dict[frozenset[str], Counter[tuple[int | None, ...]]] = {needs: Counter() for needs in groups}
    for _ in range(rounds):
        player, banker = dealt(shoe[at] for at in chance.sample(range(416), 6))
        for needs, bets in groups.items():
            one = (needs, finished(player, banker, needs))
            lines = known.get(one)
            if lines is None:
                lines = known[one] = tuple(line_of(BETS[bet], player, banker) for bet in bets)
            seen[needs][lines] += 1
    counted: dict[str, Counter[int | None]] = {bet: Counter() for bet in BETS}
    for needs, bets in groups.items():
        for lines, many in seen[needs].items():
            for bet, number in zip(bets, lines, strict=True):
                counted[bet][number] += many
    return counted, {bet: balance(bet, counted[bet], chance) for bet in BETS}


def balance(bet: str, by_line: Counter[int | None], chance: random.Random) -> int:
    """Stakes less returns less what the house won, at odd stakes and every rounding."""
    left = 0
    for number, many in by_line.items():
        stake = chance.randrange(1, 100_000)
        winnings_rounding, commission_rounding = chance.choice(list(ROUNDINGS)), chance.choice(list(ROUNDINGS))
        paying = None if number is None else BETS[bet][number - 1]
        came_to = amounts(paying, stake, winnings_rounding, commission_rounding)
        lost = 0 if came_to.return_minor else stake
        house = lost - came_to.winnings_minor + came_to.commission_minor
        left += many * (stake - came_to.return_minor - house)
    return left


def odd_lines(rounds: int, seed: int) -> dict[str, tuple[int, float]]:
    """Lines that came up too often or too seldom, their counts and what was to be expected.

    Every line's count is judged by an exact two-sided test at 1 in 1,000 for all of them together (Bonferroni). A bet's
    mean return is made of nothing but these counts.
    """
    counted, left = play(rounds, seed)
    assert set(left.values()) == {0}
    judged = [(bet, one) for bet, lines in BETS.items() for one in bet_odds(bet, lines, 8).lines]
    assert all(counted[bet][one.line] == 0 for bet, one in judged if not one.ways)
    return {
        f"{bet} line {one.line}": (counted[bet][one.line], float(rounds * Fraction(one.ways, all_ways(8))))
        for bet, one in judged
        if one.ways and tail(counted[bet][one.line], rounds, one.ways / all_ways(8)) < 0.001 / len(judged)
    }


def judge_at_random(rounds: int, seed: int) -> None:
    assert odd_lines(rounds, seed) == {}, f"seed {seed}"


def test_random_rounds_return_what_they_should() -> None:
    judge_at_random(6_000, SEED)


@pytest.mark.soak
@pytest.mark.timeout(3_600)
def test_a_million_rounds_of_every_variant_and_side_bet() -> None:
    judge_at_random(1_000_000, SEED)


def test_the_judge_of_random_rounds_would_see_a_wrong_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """One bet of all takes a six of two cards for one of three, and wins as often as it should."""

    def mistaken(lines: tuple[Line, ...], player: Cards, banker: Cards) -> int | None:
        return payouts.line_of(lines[::-1] if lines is BETS["lucky_6"] else lines, player, banker)

    monkeypatch.setitem(globals(), "line_of", mistaken)
    assert odd_lines(6_000, SEED).keys() == {"lucky_6 line 1", "lucky_6 line 2"}


def test_the_exact_tail() -> None:
    assert tail(5, 10, 0.5) == 1.0
    assert tail(0, 10, 0.5) == pytest.approx(2 * 0.5**10)
    assert tail(10, 10, 0.5) == pytest.approx(2 * 0.5**10)
    assert tail(8, 10, 0.5) == pytest.approx(2 * (45 + 10 + 1) / 1024)


# ---- which line pays


@pytest.mark.parametrize(
    ("bet", "player", "banker", "number"),
    [
        ("player_pair", "JS QS", "2S 3S 4H", None),  # J and Q are worth the same and are no pair (M7)
        ("player_pair", "JS JH", "2S 3S 4H", 1),
        ("banker_pair", "JS 8S", "QS QS", 1),
        ("dragon_bonus_player", "9S KS", "8S KS", 1),  # a natural win pays 1 to 1 by whatever margin
        ("dragon_bonus_player", "9S KS", "KS KH", 1),
        ("dragon_bonus_player", "9S KS", "9H KH", 2),  # a natural tie pushes
        ("dragon_bonus_player", "7S KS", "7H KH", None),  # another tie loses
        ("dragon_bonus_player", "7S KS", "KH KC 4C", None),  # a win by 3 loses
        ("dragon_bonus_player", "2S 3S 4S", "KH KC KC", 3),  # a three-card 9 is no natural: by 9 points
        ("super_tie", "2H 3D 4H", "4D 2H 3D", 1),
        ("super_tie", "2H 3D 4H", "4D 2H 3S", 2),
        ("super_tie", "9H KD", "9D KH", 3),
        ("immortal/player", "7S KS", "4S 4H", 4),  # a losing 7 pushes
        ("immortal/player", "7S KS", "6S KH", 1),
        ("ez/banker", "KS KH KD", "2S 3H 2D", 1),
        ("ez/banker", "KS KH KD", "7S KH", 2),
        ("kill", "2S KH 5D", "2S 3H 2D", 1),  # a three-card 7 that ties does not win
        ("fabulous_pair_player", "9S 9S", "2S 3H 2D", 1),
        ("fabulous_pair_player", "9S 9H", "2S 3H 2D", 2),
        ("fabulous_pair_player", "9S 8S", "2S 3H 2D", 3),
    ],
)
def test_the_first_line_that_holds_pays(bet: str, player: str, banker: str, number: int | None) -> None:
    assert line_of(BETS[bet], cards(player), cards(banker)) == number


def test_suits_that_were_not_recorded_settle_no_bet_on_suits() -> None:
    with pytest.raises(InvariantBroken, match="whose suit was not recorded"):
        line_of(BETS["perfect_pair_v1"], cards("9 9"), cards("2 3 4"))
    assert line_of(BETS["player_pair"], cards("9 9"), cards("2 3 4")) == 1


# ---- money


@pytest.mark.parametrize(
    ("bet", "stake", "winnings"),
    [
        (bet, stake, winnings)
        for stake, *row in (
            (2_000, 1_900, 2_000, 16_000, 22_000),
            (5_000, 4_750, 5_000, 40_000, 55_000),
            (10_000, 9_500, 10_000, 80_000, 110_000),
            (15_000, 14_250, 15_000, 120_000, 165_000),
            (20_000, 19_000, 20_000, 160_000, 220_000),
            (50_000, 47_500, 50_000, 400_000, 550_000),
        )
        for bet, winnings in zip(("classic/banker", "classic/player", "classic/tie", "player_pair"), row, strict=True)
    ],
)
def test_the_payout_cheat_sheet(bet: str, stake: int, winnings: int) -> None:
    """All 24 cells, in cents, net of commission."""
    came_to = amounts(BETS[bet][0], stake, "down", "half_up")
    assert came_to.winnings_minor - came_to.commission_minor == winnings
    assert came_to.return_minor == stake + winnings


@pytest.mark.parametrize(
    ("stake", "net", "commission"), [(40, 38, 2), (100, 95, 5), (200, 190, 10), (400, 380, 20), (20, 19, 1)]
)
def test_commission_pairs(stake: int, net: int, commission: int) -> None:
    assert amounts(BETS["classic/banker"][0], stake, "down", "up") == Amounts(stake, commission, stake + net)


def test_a_push_and_a_loss() -> None:
    assert amounts(BETS["classic/banker"][1], 777, "down", "up") == Amounts(0, 0, 777)
    assert amounts(None, 777, "down", "up") == Amounts(0, 0, 0)


def test_the_commission_is_never_more_than_the_win() -> None:
    assert amounts(line("1/2", "1/20", winner="banker"), 1, "down", "up") == Amounts(0, 0, 1)


@pytest.mark.parametrize(
    ("rounding", "of_halves"),
    [
        ("down", [0, 0, 0, 1, 1, 1, 2]),
        ("up", [0, 1, 1, 1, 2, 2, 2]),
        ("half_up", [0, 0, 1, 1, 1, 2, 2]),
        ("half_down", [0, 0, 0, 1, 1, 1, 2]),
        ("half_even", [0, 0, 0, 1, 1, 2, 2]),
    ],
)
def test_roundings_of_quarters(rounding: str, of_halves: list[int]) -> None:
    """Of 0, 1/4, 1/2, 1, 5/4, 3/2, 2."""
    assert [rounded(quarters, 4, rounding) for quarters in (0, 1, 2, 4, 5, 6, 8)] == of_halves
    assert ROUNDINGS.keys() == {"down", "up", "half_up", "half_down", "half_even"}


@settings(derandomize=True, deadline=None, max_examples=300)
@given(st.integers(0, 10**12), st.integers(1, 1_000), st.sampled_from(sorted(ROUNDINGS)))
def test_rounding_moves_less_than_a_unit(numerator: int, denominator: int, rounding: str) -> None:
    exact = Fraction(numerator, denominator)
    whole = rounded(numerator, denominator, rounding)
    assert abs(whole - exact) < 1
    assert whole == exact or exact.denominator > 1
    if rounding.startswith("half"):
        assert abs(whole - exact) <= Fraction(1, 2)


# ---- what a configuration may say


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"decks": 13}, "decks is 13, allowed: 1 to 12"),
        ({"winnings_rounding": "off"}, "winnings_rounding is 'off'"),
        ({"commission_rounding": "off"}, "commission_rounding is 'off'"),
        ({"commission_mode": "later"}, "commission_mode is 'later'"),
        ({"betting": "never"}, "betting is 'never'"),
        ({"burn_rule": "all"}, "burn_rule is 'all'"),
        ({"burn_rule": "fixed_n"}, "burn_fixed is 0"),
        ({"end_rule": "never"}, "end_rule is 'never'"),
        ({"currency": "eur"}, "currency is 'eur'"),
        ({"exponent": 9}, "exponent is 9"),
        ({"betting_window_ms": 0}, "betting_window_ms is 0"),
        ({"close_margin_ms": -1}, "close_margin_ms is -1"),
        ({"rounds_kept": -1}, "rounds_kept is -1"),
        ({"rounds_kept": 6}, "openings_remembered is 5"),
        ({"table_type": "tiny"}, "table_type is 'tiny'"),
        ({"seats": -1}, "seats is -1"),
        ({"burn_between": -1}, "burn_between is -1"),
        ({"cards_behind_cut": -1}, "cards_behind_cut is -1"),
        ({"win_max_minor": -1}, "win_max_minor is -1"),
        ({"payout_max_minor": -1}, "payout_max_minor is -1"),
        ({"differential_max_minor": -1}, "differential_max_minor is -1"),
        ({"gaming_day_starts_at": "24:00"}, "gaming_day_starts_at is '24:00'"),
        ({"pay_table": ()}, "pay_table is ()"),
    ],
)
def test_a_configuration_that_no_table_can_run_by(changes: dict[str, object], said: str) -> None:
    found = faults(replace(configuration("classic"), **changes))
    assert len(found) == 1
    assert said in found[0]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"min_minor": 0}, "x: limits 0 to 10 in steps of 1 hold no stake"),
        ({"max_minor": 0}, "x: limits 1 to 0 in steps of 1 hold no stake"),
        ({"step_minor": 0}, "x: limits 1 to 10 in steps of 0 hold no stake"),
        ({"bet": "a/b"}, "a bet cannot be called 'a/b'"),
        ({"bet": ""}, "a bet cannot be called ''"),
        ({"lines": ()}, "x: no line pays"),
        ({"last_round_no": -1}, "x: a bound must not be negative"),
        ({"cards_dealt_max": -1}, "x: a bound must not be negative"),
        ({"payout_max_minor": -1}, "x: a bound must not be negative"),
        ({"lines": (Line((Condition("weather", ("fair",)),), None),)}, "x: unknown condition 'weather'"),
        ({"lines": (Line((Condition("winner", ("house", "tie")),), None),)}, "x: winner is never house"),
        ({"lines": (Line((Condition("winner", ()),), None),)}, "x: winner names no value"),
        ({"lines": (Line((), Fraction(-1)),)}, "x: odds and commission must not be negative"),
        ({"lines": (Line((), Fraction(1), Fraction(2)),)}, "x: odds and commission must not be negative"),
        ({"lines": (Line((), Fraction(10**6 + 1)),)}, "x: odds are at most 1000000 to one"),
        ({"lines": (Line((), Fraction(1, 10**25)),)}, "x: odds and commission are written with fewer digits"),
        ({"lines": (Line((), None, Fraction(1, 10**25)),)}, "x: odds and commission are written with fewer digits"),
    ],
)
def test_terms_that_no_bet_can_be_offered_on(changes: dict[str, object], said: str) -> None:
    terms = replace(Terms("x", (line(1, winner="player"),), 1, 10), **changes)
    found = faults(replace(configuration("classic"), pay_table=(terms,)))
    assert len(found) == 1
    assert said in found[0]


def test_the_whole_catalogue_can_be_run_by() -> None:
    for slug in VARIANTS:
        how = configuration(slug)
        assert faults(how) == ()
        every = tuple(Terms(bet, one.lines, 100, 1_000) for bet, one in SIDE_BETS.items())
        assert faults(replace(how, pay_table=(*how.pay_table[:3], *every))) == ()


def test_a_pair_is_of_one_rank_whoever_wins() -> None:
    assert payouts.is_pair(cards("9S 9H 2D"))
    assert not payouts.is_pair(cards("JS QS"))
