"""What tables and customers say: one Classic table after another, configured, then a shoe without burn and cut card."""

import random
from collections.abc import Iterator
from itertools import chain
from typing import Final

from msgspec.structs import replace

from services.baccarat import catalogue, rounds, shoe, table
from services.baccarat.events import (
    BETS,
    ROUNDS,
    BetPlaced,
    BettingOpened,
    CardDealt,
    Configuration,
    Event,
    RoundsFact,
    ShoeStarted,
    TableConfigured,
)

DEVICE: Final = "shoe-1"
STAKE_MINOR: Final = 1_000
CARD_MS: Final = 1_000
NAMES: Final = tuple(terms.bet for terms in catalogue.configuration("classic").pay_table)
Heard = list[tuple[str, Event]]  # topic and event


def configuration() -> Configuration:
    """Automatic betting; the first card of a round closes it."""
    return replace(catalogue.configuration("classic"), burn_rule="none")


def opening(table_id: str) -> tuple[Event, ...]:
    """What comes before the first card."""
    configured = TableConfigured(
        event_id=f"{table_id}/configuration/1", table_id=table_id, version=1, configuration=configuration(), by="bench"
    )
    return (configured, started(table_id, 1))


def started(table_id: str, sequence: int) -> ShoeStarted:
    return ShoeStarted(
        event_id=f"{table_id}/{DEVICE}/1/{sequence}",
        table_id=table_id,
        device=DEVICE,
        boot=1,
        sequence=sequence,
        decks=8,
    )


def cards(table_id: str, seed: int) -> Iterator[CardDealt]:
    """One shoe of eight decks, after the opening; a minute's play is a fraction of it."""
    chance = random.Random(f"{seed} {table_id}")
    for sequence, card in enumerate(shoe.shuffle(shoe.fresh_shoe(8), chance.randrange), 2):
        yield CardDealt(
            event_id=f"{table_id}/{DEVICE}/1/{sequence}",
            table_id=table_id,
            device=DEVICE,
            boot=1,
            sequence=sequence,
            card=card,
            scanned_at_ms=1_767_225_600_000 + sequence,
            source="simulated",
        )


def ruled(table_id: str, seed: int, begin_ms: int = 0) -> Iterator[tuple[tuple[RoundsFact, ...], int]]:
    """What rules say to each input of one shoe, at a card a second; with the time of the input."""
    state = table.start(table_id)
    for number, event in enumerate(chain(opening(table_id), cards(table_id, seed))):
        at_ms = begin_ms + number * CARD_MS
        facts = rounds.decide(state, event, at_ms)
        for fact in facts:
            state = table.evolve(state, fact)
        yield facts, at_ms


def heard(facts: tuple[RoundsFact, ...], bets_a_round: int) -> Heard:
    """What these facts are to settlement: the marks in `bets`, with so many bets after an opening, then `rounds`."""
    marks: Heard = []
    for fact in facts:
        if BETS in rounds.copies_to(fact):
            marks.append((BETS, fact))
        if isinstance(fact, BettingOpened):
            marks += [(BETS, bet(fact, number)) for number in range(bets_a_round)]
    return [*marks, *((ROUNDS, fact) for fact in facts)]


def bet(opened: BettingOpened, number: int) -> BetPlaced:
    """10.00 of one customer each, on every bet of the table in turn."""
    place = f"{opened.table_id}/{opened.shoe_no}/{opened.round_no}"
    return BetPlaced(
        event_id=f"{place}/b{number}/placed",
        table_id=opened.table_id,
        bet_id=f"b{number}",
        customer_id=f"customer-{number}",
        shoe_no=opened.shoe_no,
        round_no=opened.round_no,
        bet=NAMES[number % len(NAMES)],
        stake_minor=STAKE_MINOR,
        currency="EUR",
    )
