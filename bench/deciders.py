"""The deciders alone, on one core: cards a second through rules, bets a second through settlement, states folded."""

import time
from collections.abc import Iterator
from itertools import count
from typing import Final

from bench import feed
from services.baccarat import bets, books, rounds, table
from services.baccarat.events import BetPlaced, CardDealt

SECONDS: Final = 1.0
BETS_A_ROUND: Final = (1, 10, 1_000)


def cards_per_second() -> float:
    """Cards through the rules decider, its state folded."""
    cards, spent_s = 0, 0.0
    for seed in count(1):
        state = table.start("T1")
        inputs = [*feed.opening("T1"), *feed.cards("T1", seed)]
        began_s = time.process_time()
        for number, event in enumerate(inputs):
            for fact in rounds.decide(state, event, number * feed.CARD_MS):
                state = table.evolve(state, fact)
        spent_s += time.process_time() - began_s
        cards += sum(isinstance(event, CardDealt) for event in inputs)
        if spent_s > SECONDS:
            break
    return cards / spent_s


def bets_per_second(bets_a_round: int) -> float:
    """Bets placed and settled through the settlement decider, its state folded, at so many bets a round."""
    placed, spent_s = 0, 0.0
    for seed in count(1):
        state = books.start("T1")
        for facts, at_ms in feed.ruled("T1", seed):
            inputs = feed.heard(facts, bets_a_round)
            began_s = time.process_time()
            for topic, event in inputs:
                for fact in bets.decide(state, topic, event, at_ms):
                    state = books.evolve(state, fact)
            spent_s += time.process_time() - began_s
            placed += sum(isinstance(event, BetPlaced) for _, event in inputs)
            if spent_s > SECONDS:
                return placed / spent_s
    raise AssertionError("no end of shoes")


def report() -> Iterator[str]:
    """A line a figure."""
    yield f"rules decider        {cards_per_second():>10,.0f} cards/s on one core"
    for bets_a_round in BETS_A_ROUND:
        rate = bets_per_second(bets_a_round)
        yield f"settlement decider   {rate:>10,.0f} bets/s on one core, placed and settled, {bets_a_round:,} a round"
