"""The deciders alone, on one core: cards a second through rules, bets a second through settlement, states folded."""

import random
import time
from collections.abc import Iterator

from services.baccarat import bets, books, catalogue, rounds, shoe, table
from services.baccarat.events import BETS, ROUNDS, BetPlaced, CardDealt, Event, Mark, ShoeStarted, TableConfigured

TABLE = "T1"
SECONDS = 1.0


def play(state: table.State, event: Event, at_ms: int) -> tuple[table.State, tuple[Event, ...]]:
    """One input through rules."""
    facts = rounds.decide(state, event, at_ms)
    for fact in facts:
        state = table.evolve(state, fact)
    return state, facts


def shoe_of_cards(seed: int) -> Iterator[tuple[Event, int]]:
    """A table configured, and an endless row of eight-deck shoes at a card a second, without cut cards."""
    chance = random.Random(seed)
    yield configured(), 0
    sequence = 0
    while True:
        sequence += 1
        yield (
            ShoeStarted(
                event_id="s", table_id=TABLE, device="d", boot=1, sequence=sequence, decks=8
            ),
            sequence * 1_000,
        )
        for card in shoe.shuffle(shoe.fresh_shoe(8), chance.randrange):
            sequence += 1
            at_ms = sequence * 1_000
            yield (
                CardDealt(
                    event_id="c",
                    table_id=TABLE,
                    device="d",
                    boot=1,
                    sequence=sequence,
                    card=card,
                    scanned_at_ms=at_ms,
                    source="simulated",
                ),
                at_ms,
            )


def configured() -> TableConfigured:
    """The table of all measurements: Classic."""
    return TableConfigured(
        event_id="c", table_id=TABLE, version=1, configuration=catalogue.configuration("classic"), by="bench"
    )


def cards_per_second(seed: int = 1) -> float:
    """Cards through the rules decider, its state folded."""
    state, cards, spent = table.start(TABLE), 0, 0.0
    for event, at_ms in shoe_of_cards(seed):
        begun = time.process_time()
        state, _ = play(state, event, at_ms)
        spent += time.process_time() - begun
        cards += isinstance(event, CardDealt)
        if spent > SECONDS:
            return cards / spent
    raise AssertionError("the shoes never end")


def bets_per_second(bets_a_round: int, seed: int = 1) -> float:
    """Bets placed and settled through the settlement decider, its state folded, at so many bets a round."""
    chance = random.Random(seed)
    at_table, state, count, spent = table.start(TABLE), books.start(TABLE), 0, 0.0
    names = [terms.bet for terms in catalogue.configuration("classic").pay_table]
    for event, at_ms in shoe_of_cards(seed):
        at_table, facts = play(at_table, event, at_ms)
        inputs: list[tuple[str, Event, int]] = []
        for fact in facts:
            if isinstance(fact, Mark):
                inputs.append((BETS, fact, fact.at_ms))
            if fact.__class__.__name__ == "BettingOpened":
                inputs += [
                    (BETS, bet(fact.shoe_no, fact.round_no, number, chance.choice(names)), fact.at_ms)
                    for number in range(bets_a_round)
                ]
        inputs += [(ROUNDS, fact, fact.at_ms) for fact in facts]
        begun = time.process_time()
        for topic, one, its_ms in inputs:
            for answer in bets.decide(state, topic, one, its_ms):
                state = books.evolve(state, answer)
        spent += time.process_time() - begun
        count += sum(isinstance(one, BetPlaced) for _, one, _ in inputs)
        if spent > SECONDS:
            return count / spent
    raise AssertionError("the shoes never end")


def bet(shoe_no: int, round_no: int, number: int, name: str) -> BetPlaced:
    """A customer's bet of 10.00."""
    return BetPlaced(
        event_id="b",
        table_id=TABLE,
        bet_id=f"b{number}",
        customer_id=f"customer-{number}",
        shoe_no=shoe_no,
        round_no=round_no,
        bet=name,
        stake_minor=1_000,
        currency="EUR",
    )


def report() -> Iterator[str]:
    """A line a figure."""
    yield f"rules decider        {cards_per_second():>10,.0f} cards/s on one core"
    for bets_a_round in (1, 10, 1_000):
        rate = bets_per_second(bets_a_round)
        yield f"settlement decider   {rate:>10,.0f} bets/s on one core, placed and settled, {bets_a_round} a round"
