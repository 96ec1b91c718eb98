"""Commission: taken from each win, or kept as a debt that is exact until it is collected, and rounded once."""

from collections import defaultdict
from fractions import Fraction
from random import Random
from typing import Any

import pytest
from msgspec.structs import replace

from services.baccarat.catalogue import configuration
from services.baccarat.events import BetReversed, BetSettled, CommissionCollected, CustomerNoted, Event, RoundSettled
from services.baccarat.payouts import ROUNDINGS, rounded
from tests.baccarat.logs import Logs, at_random, bets_first, by_id, of, read_all, rounds_first

PLAYER_WINS = "9H 2C KD 3S"
BANKER_WINS = "2H 9C KD KS"  # a natural: the Banker's 9 is the round's second card
TIE = "9H 9C KD KS"


def playing(words: str = "rules shoe", **changes: Any) -> Logs:
    logs = Logs()
    plain = replace(configuration("classic"), betting="automatic", burn_rule="none", commission_mode="owed")
    pay_table = tuple(replace(terms, min_minor=1) for terms in plain.pay_table)
    logs.feed.configuration = replace(plain, pay_table=pay_table, **changes)
    return logs.play(words)


def collected(facts: list[Event]) -> list[tuple[str, int, Fraction]]:
    return [(one.customer_id, one.amount_minor, one.owed_exact) for one in of(facts, CommissionCollected)]


def test_taken_from_the_win_it_is_rounded_every_time() -> None:
    logs = playing(commission_mode="per_win", commission_rounding="up", decks=12)
    for _ in range(10):
        logs.bet("banker", 5)
        logs.play(BANKER_WINS)
    facts = read_all(logs)
    assert sum(one.commission_minor for one in of(facts, BetSettled)) == 10
    assert collected(facts) == []
    assert {one.owed_exact for one in of(facts, RoundSettled)} == {0}


def test_kept_as_a_debt_it_is_rounded_once() -> None:
    """Ten wins of 5 owe 2.50 together, and 3 is collected; not 1 ten times."""
    logs = playing(commission_rounding="up", decks=12)
    for _ in range(10):
        logs.bet("banker", 5)
        logs.play(BANKER_WINS)
    logs.play("end/1")
    facts = read_all(logs)
    assert {(one.owed_exact, one.return_minor) for one in of(facts, BetSettled)} == {(Fraction(1, 4), 10)}
    assert collected(facts) == [("Cy", 3, Fraction(5, 2))]


@pytest.mark.parametrize(
    ("rounding", "amount"), [("down", 7), ("up", 8), ("half_up", 8), ("half_down", 7), ("half_even", 8)]
)
def test_the_house_rounds_as_it_says(rounding: str, amount: int) -> None:
    logs = playing(commission_rounding=rounding)
    logs.bet("banker", 150)
    logs.play(f"{BANKER_WINS} end/1")
    assert collected(read_all(logs)) == [("Cy", amount, Fraction(15, 2))]


def test_no_commission_on_a_tie_or_on_a_loss() -> None:
    logs = playing()
    for outcome in (TIE, PLAYER_WINS):
        logs.bet("banker", 100)
        logs.play(outcome)
    logs.play("end/1")
    facts = read_all(logs)
    assert [(one.owed_exact, one.commission_owed, one.return_minor) for one in of(facts, BetSettled)] == [
        (Fraction(0), False, 100),
        (Fraction(0), False, 0),
    ]
    assert collected(facts) == []


def test_a_round_corrected_again_and_again_owes_what_it_came_to_last() -> None:
    """Banker, tie, Player, Banker, Banker: taken back and owed anew, and collected as one sum."""
    logs = playing()
    logs.bet("banker", 130)
    logs.play(f"{BANKER_WINS} correct/1/1=9D correct/1/2=8C correct/1/1=2D correct/1/2=9C")
    facts = read_all(logs)
    half = Fraction(13, 2)
    assert [one.owed_exact for one in of(facts, RoundSettled)] == [half, Fraction(0), Fraction(0), half, half]
    assert [one.owed_exact for one in of(facts, BetReversed)] == [half, Fraction(0), Fraction(0), half]
    logs.play("end/1")
    assert collected(read_all(logs)) == [("Cy", 7, half)]


def test_what_was_collected_too_much_is_given_back_at_the_end_of_the_shoe() -> None:
    logs = playing()
    logs.bet("banker", 200)
    logs.play(BANKER_WINS)
    logs.leave()
    logs.play("void/1/1 end/1")
    assert collected(read_all(logs)) == [("Cy", 10, Fraction(10)), ("Cy", -10, Fraction(-10))]


def test_a_lost_connection_is_no_leaving() -> None:
    """Nothing in the logs says that a customer is away: only `CustomerLeft` collects."""
    logs = playing()
    logs.bet("banker", 200)
    logs.play(f"{BANKER_WINS} {PLAYER_WINS} {TIE}")
    facts = read_all(logs)
    assert of(facts, CustomerNoted, CommissionCollected) == []


def test_a_new_shoe_begins_without_debts() -> None:
    logs = playing()
    for _ in range(2):
        logs.bet("banker", 130)
        logs.play(f"{BANKER_WINS} end/{logs.place[0]} shoe")
    assert collected(read_all(logs)) == [("Cy", 7, Fraction(13, 2)), ("Cy", 7, Fraction(13, 2))]


def test_a_debt_outlives_a_change_to_commission_at_each_win() -> None:
    logs = playing()
    logs.bet("banker", 130)
    logs.play(f"{BANKER_WINS} rules/2/commission_mode=per_win {TIE}")  # in force from the opening after this one
    logs.bet("banker", 130)
    logs.play(f"{BANKER_WINS} end/1")
    facts = read_all(logs)
    assert [(one.commission_minor, one.owed_exact) for one in of(facts, BetSettled)] == [(0, Fraction(13, 2)), (7, 0)]
    assert collected(facts) == [("Cy", 7, Fraction(13, 2))]


def test_a_pay_table_changed_after_acceptance_changes_nothing_for_the_bet() -> None:
    logs = playing()
    logs.bet("banker", 130)
    logs.play(f"rules/2/commission_mode=per_win {BANKER_WINS}")
    (settled,) = of(read_all(logs), BetSettled)
    assert (settled.version, settled.commission_minor, settled.owed_exact) == (1, 0, Fraction(13, 2))


# ---- whatever happens, and however it is read


def random_logs(seed: int) -> Logs:
    """Wins, corrections, voids, leavings and shoe ends at random, at odd stakes."""
    chance = Random(f"commission {seed}")
    logs = playing(commission_rounding=sorted(ROUNDINGS)[seed % 5], rounds_kept=seed % 4)
    for _ in range(12):
        for _ in range(chance.randrange(4)):
            logs.bet(
                chance.choice(["banker", "banker", "player"]), chance.randrange(1, 999), customer=chance.choice("ABC")
            )
        logs.play(chance.choice([BANKER_WINS, BANKER_WINS, PLAYER_WINS, TIE]))
        shoe_no, round_no = logs.place
        if chance.random() < 0.3:
            logs.leave(chance.choice("ABC"))
        if chance.random() < 0.4:
            card_no = chance.randrange(1, 9)
            logs.play(f"correct/{shoe_no}/{card_no}={chance.choice(['9C', '8D', 'KD', '3S'])}")
        if chance.random() < 0.1:
            logs.play(f"void/{shoe_no}/{max(1, round_no - 1)}")
        if chance.random() < 0.15:
            logs.play(f"end/{shoe_no} shoe")
    return logs.play(f"end/{logs.place[0]}")


@pytest.mark.parametrize("seed", range(15))
def test_every_debt_is_collected_exactly_and_rounded_once(seed: int) -> None:
    logs = random_logs(seed)
    facts = read_all(logs)
    owed: dict[str, Fraction] = defaultdict(Fraction)
    for fact in facts:
        if isinstance(fact, BetSettled):
            owed[fact.customer_id] += fact.owed_exact
        elif isinstance(fact, BetReversed):
            owed[fact.customer_id] -= fact.owed_exact
        elif isinstance(fact, CommissionCollected):
            owed[fact.customer_id] -= fact.owed_exact
            size = abs(fact.owed_exact)
            amount = rounded(size.numerator, size.denominator, logs.feed.configuration.commission_rounding)
            assert fact.amount_minor == (amount if fact.owed_exact >= 0 else -amount)
    assert set(owed.values()) <= {Fraction(0)}
    assert any(of(facts, CommissionCollected))


@pytest.mark.parametrize("seed", range(15))
def test_owed_commission_is_the_same_however_the_two_logs_are_read(seed: int) -> None:
    logs = random_logs(seed)
    facts = by_id(read_all(logs))
    for portions in (bets_first(logs), rounds_first(), at_random(seed), at_random(-seed - 1, 2)):
        assert by_id(read_all(logs, portions)) == facts
