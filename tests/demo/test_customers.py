"""Simulated customers: plausible, unlike each other, and the same again after a restart."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from services.baccarat.catalogue import configuration
from services.baccarat.events import (
    BETS,
    ROUNDS,
    BetCancelled,
    BetPlaced,
    BettingClosed,
    BettingOpened,
    Event,
    RulesInForce,
    ShoeClosed,
)
from services.demo.customers import NAMES, Intent, Seen, customers, due, intents, leaving, plan, see
from services.runtime.embedded import EmbeddedLog

CONFIGURATION = configuration("super-6")


def opening(round_no: int = 1, shoe_no: int = 1) -> BettingOpened:
    return BettingOpened(
        event_id=f"T1/{shoe_no}/{round_no}/opened",
        table_id="T1",
        at_ms=100_000,
        cause_id="x/1/1",
        shoe_no=shoe_no,
        round_no=round_no,
        version=1,
        closes_at_ms=115_000,
        cards_dealt=3,
    )


def closing() -> BettingClosed:
    return BettingClosed(
        event_id="T1/1/1/closed",
        table_id="T1",
        at_ms=116_000,
        cause_id="x/1/2",
        shoe_no=1,
        round_no=1,
        closed_at_ms=115_000,
        cause="time",
    )


def shoe_end(shoe_no: int) -> ShoeClosed:
    return ShoeClosed(
        event_id=f"T1/{shoe_no}/closed",
        table_id="T1",
        at_ms=0,
        cause_id="x/1/3",
        shoe_no=shoe_no,
        reason="cut-card",
        rounds=70,
        cards=400,
    )


def in_force() -> RulesInForce:
    return RulesInForce(
        event_id="T1/rules/1", table_id="T1", at_ms=0, cause_id="c", version=1, configuration=CONFIGURATION
    )


def meant(seed: str, rounds: int) -> list[Intent]:
    """What the customers mean to do in so many rounds."""
    terms = CONFIGURATION.pay_table
    return [intent for one in range(1, rounds + 1) for intent in intents(seed, opening(one), terms, "EUR", 100)]


def placed(found: Sequence[Intent]) -> list[BetPlaced]:
    return [intent.event for intent in found if isinstance(intent.event, BetPlaced)]


def test_the_same_seed_means_the_same_bets_and_another_means_others() -> None:
    assert meant("7", 20) == meant("7", 20)
    assert meant("7", 20) != meant("8", 20)


def test_a_bet_id_is_used_once_a_round() -> None:
    for round_no in range(1, 30):
        ids = [bet.bet_id for bet in placed(intents("7", opening(round_no), CONFIGURATION.pay_table, "EUR", 100))]
        assert len(ids) == len(set(ids))


def test_customers_are_plausible_and_now_and_then_too_late_or_too_greedy() -> None:
    found = meant("7", 400)
    bets = placed(found)
    limits = {terms.bet: terms for terms in CONFIGURATION.pay_table}
    greedy = [bet for bet in bets if bet.stake_minor > limits[bet.bet].max_minor]
    assert all(bet.stake_minor >= limits[bet.bet].min_minor and bet.currency == "EUR" for bet in bets)
    late = [intent for intent in found if isinstance(intent.event, BetPlaced) and intent.at_ms >= 115_000]
    cancels = [intent.event for intent in found if isinstance(intent.event, BetCancelled)]
    for few in (greedy, late, cancels):
        assert 0.005 * len(bets) < len(few) < 0.06 * len(bets)
    chosen = Counter(bet.bet for bet in bets)
    assert set(chosen) == set(limits)
    assert min(chosen["player"], chosen["banker"]) > 2 * chosen["tie"]
    assert {bet.customer_id for bet in bets} == set(NAMES)
    assert {(bet.customer_id, bet.seat) for bet in bets} == {(name, str(seat)) for seat, name in enumerate(NAMES, 1)}
    assert {(bet.customer_id, bet.bet_id) for bet in bets} >= {(bet.customer_id, bet.bet_id) for bet in cancels}


def test_stakes_fit_a_table_of_odd_steps() -> None:
    odd = tuple(replace(terms, min_minor=700, step_minor=700, max_minor=4_900) for terms in CONFIGURATION.pay_table)
    stakes = {bet.stake_minor for bet in placed(intents("7", opening(), odd, "EUR", 100))}
    assert stakes
    assert all(stake % 700 == 0 for stake in stakes)


def test_a_table_that_offers_nothing_is_bet_on_by_nobody() -> None:
    assert intents("7", opening(), (), "EUR", 100) == ()


def test_nothing_is_planned_before_rules_and_an_opening_are_seen() -> None:
    assert plan("7", Seen()) == ()
    assert plan("7", see(Seen(), opening())) == ()
    ready = see(see(Seen(), in_force()), opening())
    assert plan("7", ready) == intents("7", opening(), CONFIGURATION.pay_table, "EUR", 100)
    assert plan("7", see(ready, closing())) == ()
    assert see(ready, shoe_end(1)) == ready


def test_what_is_due_is_done_once() -> None:
    planned = {"T1": intents("7", opening(), CONFIGURATION.pay_table, "EUR", 100)}
    everything = [intent.event for intent in planned["T1"] if intent.at_ms < 115_000]
    first = due(planned, 105_000)
    assert 0 < len(first) < len(everything)
    assert due(planned, 105_000) == []
    assert first + due(planned, 114_999) == everything


def test_what_could_not_be_done_in_time_is_let_be() -> None:
    planned = {"T1": tuple(meant("7", 100))}
    late = due(planned, 120_000)
    assert late
    assert late == [intent.event for intent in meant("7", 100) if intent.at_ms >= 115_000]
    assert planned == {"T1": ()}


def test_some_leave_at_the_end_of_a_shoe() -> None:
    gone = [leaving("7", shoe_end(shoe_no)) for shoe_no in range(1, 40)]
    left = Counter(customer.customer_id for shoe in gone for customer in shoe)
    assert set(left) == set(NAMES)
    assert 30 < sum(left.values()) < 130
    assert gone[0] == leaving("7", shoe_end(1))


async def read_bets(log: EmbeddedLog, least: int) -> list[Event]:
    """What was bet, as soon as it is so much."""
    found: list[Event] = []
    async with asyncio.timeout(20), log.reader({(BETS, 0): 0}) as reader:
        while len(found) < least:
            found += [record.event for record in await reader.next(100) if record.event is not None]
    return found


async def test_they_bet_on_what_is_open_and_leave_alone_what_was_over_when_they_came(tmp_path: Path) -> None:
    stop, open_now, end = asyncio.Event(), opening(1, shoe_no=2), shoe_end(3)
    expected = due({"T1": intents("7", open_now, CONFIGURATION.pay_table, "EUR", 100)}, 114_999)
    assert leaving("7", shoe_end(1))
    assert leaving("7", end)
    with EmbeddedLog(tmp_path / "log.sqlite", partitions=1) as log:
        await log.append(ROUNDS, [in_force(), opening(), closing(), shoe_end(1), open_now])
        running = asyncio.create_task(customers(log, ["T1"], "7", stop, lambda: 114_999))
        assert await read_bets(log, len(expected)) == expected
        await log.append(ROUNDS, [end])
        assert await read_bets(log, len(expected) + 1) == [*expected, *leaving("7", end)]
        stop.set()
        await running
