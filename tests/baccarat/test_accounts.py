"""What facts come to: every bet counted once as it stands, the books balanced to nothing, days as houses count them."""

from collections import Counter
from datetime import UTC, datetime
from fractions import Fraction
from random import Random
from typing import Any

import pytest
from msgspec.structs import replace

from services.baccarat.accounts import (
    Accounts,
    Collected,
    Entry,
    Result,
    by_customer,
    by_day,
    by_round,
    by_shoe,
    debts,
    fold,
    imbalances,
    in_all,
    of_customers,
)
from services.baccarat.catalogue import configuration
from services.baccarat.events import (
    BetAccepted,
    BetReversed,
    BetSettled,
    BetVoided,
    CommissionCollected,
    Event,
    RoundSettled,
)
from services.runtime.gaming_day import gaming_day, is_zone
from tests.baccarat.logs import Logs, at_random, of, read_all

PLAYER_WINS = "9H 2C KD 3S"
BANKER_WINS = "2H 9C KD KS"
TIE = "9H 9C KD KS"


def no_day(at_ms: int, starts_at: str, zone: str) -> str:
    return f"{starts_at} {zone} {at_ms // 60_000}"


def playing(words: str = "rules shoe", **changes: Any) -> Logs:
    logs = Logs()
    how = replace(configuration("classic"), betting="automatic", burn_rule="none", **changes)
    logs.feed.configuration = how
    return logs.play(words)


def accounts_of(logs: Logs) -> Accounts:
    return fold(Accounts(), read_all(logs), no_day)


def test_a_round_for_its_customers_and_for_the_house() -> None:
    logs = playing()
    logs.bet("banker", 1_000)
    logs.bet("player", 500)
    logs.bet("tie", 300, customer="Di")
    logs.bet("banker", 40_000_000, customer="Di")  # refused
    gone = logs.bet("tie", 200, customer="Di")
    logs.cancel(gone, customer="Di")
    logs.play(BANKER_WINS)
    accounts = accounts_of(logs)
    one = accounts.rounds[1, 1]
    assert (one.revision, one.house_win_minor) == (0, 1_800 - 1_950)
    assert of_customers(one) == {
        "Cy": Result(2, 1_500, 1_000, 50, 1_950, Fraction(0), 0),
        "Di": Result(1, 300, 0, 0, 0, Fraction(0), 0),
    }
    assert of_customers(one)["Cy"].net_minor == 450
    assert by_round(accounts)[1, 1].house_win_minor == -150
    assert in_all(accounts) == Result(3, 1_800, 1_000, 50, 1_950, Fraction(0), 0)
    assert imbalances(accounts) == {}
    assert one.entries[gone].state == "voided"


def test_what_is_reversed_and_settled_again_counts_as_it_stands_now() -> None:
    logs = playing()
    bet = logs.bet("player", 1_000)
    logs.play(PLAYER_WINS)
    assert in_all(accounts_of(logs)).net_minor == 1_000
    logs.play("correct/1/1=2H")  # 2 and K against 5: the cards were drawn falsely, and the round is void
    accounts = accounts_of(logs)
    assert accounts.rounds[1, 1].entries[bet] == Entry("Cy", "player", 1_000, "voided")
    assert in_all(accounts) == Result()
    assert accounts.rounds[1, 1].house_win_minor == 0


def test_twice_corrected_is_counted_once() -> None:
    logs = playing()
    logs.bet("player", 1_000)
    logs.play(f"{PLAYER_WINS} correct/1/2=KC correct/1/2=9C correct/1/4=4S")  # 9-3, 9-2 and 9-3 again: natural wins
    accounts = accounts_of(logs)
    assert accounts.rounds[1, 1].revision == 3
    assert in_all(accounts) == Result(1, 1_000, 1_000, 0, 2_000, Fraction(0), 0)
    assert imbalances(accounts) == {}


def test_debts_are_owed_exactly_and_collected_apart() -> None:
    logs = playing(commission_mode="owed")
    for stake in (130, 130):
        logs.bet("banker", stake)
        logs.play(BANKER_WINS)
    logs.bet("banker", 110, customer="Di")
    logs.play(BANKER_WINS)
    accounts = accounts_of(logs)
    assert debts(accounts) == {"Cy": 13, "Di": Fraction(11, 2)}
    assert in_all(accounts) == Result(3, 370, 370, 0, 740, Fraction(37, 2), 0)
    logs.play("end/1")
    accounts = accounts_of(logs)
    assert debts(accounts) == {}
    assert {one.customer_id: (one.shoe_no, one.amount_minor) for one in accounts.collected} == {
        "Cy": (1, 13),
        "Di": (1, 6),
    }
    assert in_all(accounts).collected_minor == by_shoe(accounts)[1].collected_minor == 19
    assert in_all(accounts).net_minor == 370 - 19
    assert by_customer(accounts)["Cy"].house_win_minor == 13 - 260
    assert imbalances(accounts) == {}


def test_whoever_leaves_pays_to_the_shoe_he_left() -> None:
    logs = playing(commission_mode="owed")
    logs.bet("banker", 150)
    logs.play(BANKER_WINS)
    logs.leave()
    logs.play(PLAYER_WINS)
    (collected,) = accounts_of(logs).collected
    assert (collected.shoe_no, collected.amount_minor, collected.owed_exact) == (1, 8, Fraction(15, 2))


def test_shoes_and_days() -> None:
    """A round counts to the day its betting opened in, by the clock of its configuration."""
    logs = playing(gaming_day_starts_at="06:00", time_zone="Europe/Vilnius")
    logs.bet("player", 100)
    logs.play(f"{PLAYER_WINS} end/1 +90000 shoe")
    logs.bet("player", 300)
    logs.play(BANKER_WINS)
    accounts = accounts_of(logs)
    assert {shoe: result.house_win_minor for shoe, result in by_shoe(accounts).items()} == {1: -100, 2: 300}
    assert {day: result.house_win_minor for day, result in by_day(accounts).items() if result.bets} == {
        "06:00 Europe/Vilnius 0": -100,
        "06:00 Europe/Vilnius 1": 300,
    }


def test_facts_in_portions_come_to_the_same_and_change_nothing_that_was_folded() -> None:
    logs = playing()
    for outcome in (PLAYER_WINS, BANKER_WINS, TIE):
        logs.bet("player", 100)
        logs.bet("banker", 50, customer="Di")
        logs.play(outcome)
    facts = read_all(logs)
    whole = fold(Accounts(), facts, no_day)
    accounts = Accounts()
    for fact in facts:
        before, was = accounts, repr(accounts)
        accounts = fold(accounts, [fact], no_day)
        assert repr(before) == was
    assert accounts == whole


def test_what_was_never_priced_has_no_day() -> None:
    """A forged opening under a version that was never in force: its book is suspended, and nothing is accepted."""
    logs = playing()
    logs.forge_opening((1, 7), version=9)
    assert accounts_of(logs).rounds[1, 7].day == ""


def test_who_was_collected_from_and_never_bet() -> None:
    logs = playing(commission_mode="owed")
    collected = CommissionCollected(
        event_id="e", table_id="T1", at_ms=0, cause_id="c", customer_id="Ed", shoe_no=0, amount_minor=0, number=1
    )
    accounts = fold(accounts_of(logs), [collected], no_day)
    assert by_customer(accounts)["Ed"] == Result()
    only = Accounts(collected=(Collected("Ed", 4, "d", 5, Fraction(5)),))
    assert (by_shoe(only)[4].net_minor, by_day(only)["d"].house_win_minor) == (-5, 5)
    assert debts(only) == {"Ed": -5}


def test_a_round_that_settlement_added_up_wrongly_is_seen() -> None:
    logs = playing()
    logs.bet("player", 100)
    logs.play(PLAYER_WINS)
    facts = [replace(fact, house_win_minor=1) if isinstance(fact, RoundSettled) else fact for fact in read_all(logs)]
    assert imbalances(fold(Accounts(), facts, no_day)) == {(1, 1): -101}


# ---- whatever is played


def cash(facts: list[Event]) -> Counter[str]:
    """What each customer has in hand more than before, counted coin by coin."""
    hand: Counter[str] = Counter()
    for fact in facts:
        match fact:
            case BetAccepted():
                hand[fact.customer_id] -= fact.stake_minor
            case BetVoided():
                hand[fact.customer_id] += fact.stake_minor
            case BetSettled():
                hand[fact.customer_id] += fact.return_minor
            case BetReversed():
                hand[fact.customer_id] -= fact.return_minor
            case CommissionCollected():
                hand[fact.customer_id] -= fact.amount_minor
            case _:
                pass
    return hand


@pytest.mark.parametrize("seed", range(12))
def test_the_books_balance_to_nothing_whatever_is_played(seed: int) -> None:
    """Random bets, cancels, corrections, voids and leavings, read in any portions: after every settled round customers'
    cash, what is still in play and the house's result are nothing together.
    """
    chance = Random(f"accounts {seed}")
    mode = "owed" if seed % 2 else "per_win"
    logs = playing(commission_mode=mode, commission_rounding=chance.choice(["up", "down", "half_even"]))
    for turn in range(1, 9):
        for _ in range(chance.randrange(1, 6)):
            customer = chance.choice("ABC")
            stake = chance.randrange(100, 10_000)
            bet = logs.bet(chance.choice(["player", "banker", "tie", "player_pair"]), stake, customer=customer)
            if chance.random() < 0.2:
                logs.cancel(bet, customer=customer)
        logs.play(chance.choice([PLAYER_WINS, BANKER_WINS, TIE]))
        if chance.random() < 0.4:  # a face that leaves the deal lawful, or does not: revised, or void
            logs.play(f"correct/1/{4 * turn - chance.randrange(4)}={chance.choice(['9C', 'KD', '8H', '3D'])}")
        if chance.random() < 0.2:
            logs.play(f"void/1/{turn}")
        if chance.random() < 0.3:
            logs.leave(chance.choice("ABC"))
    logs.play("end/1")
    facts = read_all(logs, at_random(seed))
    accounts = Accounts()
    for number, fact in enumerate(facts, start=1):
        accounts = fold(accounts, [fact], no_day)
        if not isinstance(fact, RoundSettled):
            continue
        assert imbalances(accounts) == {}
        hand = cash(facts[:number])
        in_play = sum(
            entry.stake_minor
            for one in accounts.rounds.values()
            for entry in one.entries.values()
            if entry.state == "open"
        )
        assert hand.total() + in_play + in_all(accounts).house_win_minor == 0
    assert {customer: result.net_minor for customer, result in by_customer(accounts).items()} == {
        customer: cash(facts)[customer] for customer in by_customer(accounts)
    }
    for split in (by_shoe(accounts), by_day(accounts), by_customer(accounts)):
        assert sum(result.house_win_minor for result in split.values()) == in_all(accounts).house_win_minor
    assert debts(accounts) == {}  # the shoe has ended: all was collected, each debt rounded once
    for one in of(facts, CommissionCollected):
        assert abs(one.amount_minor - one.owed_exact) < 1
    assert in_all(accounts).owed_exact == sum(one.owed_exact for one in accounts.collected)


# ---- the day a moment counts to


def at(text: str) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() * 1000)


@pytest.mark.parametrize(
    ("moment", "starts_at", "zone", "day"),
    [
        ("2026-03-02T00:00:00", "00:00", "UTC", "2026-03-02"),
        ("2026-03-01T23:59:59", "00:00", "UTC", "2026-03-01"),
        ("2026-03-02T05:59:59", "06:00", "UTC", "2026-03-01"),
        ("2026-03-02T06:00:00", "06:00", "UTC", "2026-03-02"),
        ("2026-03-02T03:59:59", "06:00", "Europe/Vilnius", "2026-03-01"),
        ("2026-03-02T04:00:00", "06:00", "Europe/Vilnius", "2026-03-02"),
        ("2026-07-02T03:00:00", "06:00", "Europe/Vilnius", "2026-07-02"),  # summer time
        ("2026-03-29T00:59:59", "03:30", "Europe/Vilnius", "2026-03-28"),  # 03:30 is left out that night
        ("2026-03-29T01:00:00", "03:30", "Europe/Vilnius", "2026-03-29"),
        ("2026-03-01T22:30:00", "07:00", "Asia/Macau", "2026-03-01"),
        ("2026-03-01T23:00:00", "07:00", "Asia/Macau", "2026-03-02"),
    ],
)
def test_the_gaming_day_begins_by_the_houses_clock(moment: str, starts_at: str, zone: str, day: str) -> None:
    assert gaming_day(at(moment), starts_at, zone) == day


def test_zones_are_those_of_this_machine() -> None:
    assert is_zone("Europe/Vilnius")
    assert is_zone("UTC")
    assert not any(map(is_zone, ("", "Vilnius", "../etc/passwd", "Europe", "x" * 300)))
