"""Simulated customers: they see the betting open, and bet as people do, each by an own chance.

What a customer does in a round follows from the seed, the table, the round and the customer alone. So a restart means
the same bets with the same ids, and what is said twice counts once. Now and then a customer changes their mind, is
late, or asks for more than the table takes.
"""

import asyncio
import random
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from services.baccarat.events import (
    BETS,
    ROUNDS,
    BetCancelled,
    BetPlaced,
    BettingClosed,
    BettingOpened,
    Configuration,
    CustomerLeft,
    Event,
    RulesInForce,
    ShoeClosed,
    Terms,
)
from services.demo.following import again_and_again, following
from services.runtime.embedded import wall_clock_ms
from services.runtime.log import Log

NAMES: Final = ("anouk", "bela", "chen", "dara", "emre", "fleur", "goran")  # a seat each, from 1
CHIPS: Final = (5, 10, 20, 25, 50, 100, 200, 500)  # in whole units of the currency
CHIP_WEIGHTS: Final = (8, 9, 6, 7, 6, 4, 2, 1)
BET_WEIGHTS: Final[Mapping[str, int]] = {"player": 40, "banker": 45, "tie": 8, "player_pair": 5, "banker_pair": 5}
SITS_OUT: Final = 0.2
BETS_MORE: Final = 0.25
CANCELS: Final = 0.03
IS_LATE: Final = 0.02
ASKS_TOO_MUCH: Final = 0.02
LEAVES: Final = 0.3  # at the end of a shoe


class Intent(Struct, frozen=True):
    """Something that a customer will do at a time; who has not come to it before `until_ms` lets it be."""

    at_ms: int
    until_ms: int
    event: BetPlaced | BetCancelled


def intents(seed: str, opened: BettingOpened, terms: Sequence[Terms], currency: str, unit: int) -> tuple[Intent, ...]:
    """What every customer of the table does in this round, in order; `unit` is a unit of the currency in minor ones."""
    found: list[Intent] = []
    for seat, name in enumerate(NAMES, start=1):
        chance = random.Random(f"{seed}/{opened.table_id}/{opened.shoe_no}/{opened.round_no}/{name}")
        found += intents_of(chance, name, seat, opened, terms, currency, unit)
    return tuple(sorted(found, key=lambda intent: intent.at_ms))


def intents_of(
    chance: random.Random,
    name: str,
    seat: int,
    opened: BettingOpened,
    terms: Sequence[Terms],
    currency: str,
    unit: int,
) -> list[Intent]:
    """What one customer does in a round: nothing, or a bet or more, each once."""
    if not terms or chance.random() < SITS_OUT:
        return []
    window_ms = opened.closes_at_ms - opened.at_ms
    wanted = 1
    while wanted < len(terms) and chance.random() < BETS_MORE:
        wanted += 1
    found: list[Intent] = []
    for number, chosen in enumerate(choose(chance, terms, wanted), start=1):
        placed = BetPlaced(
            event_id=f"{opened.table_id}/{opened.shoe_no}/{opened.round_no}/{name}-{number}/placed",
            table_id=opened.table_id,
            bet_id=f"{name}-{number}",
            customer_id=name,
            shoe_no=opened.shoe_no,
            round_no=opened.round_no,
            bet=chosen.bet,
            stake_minor=stake(chance, chosen, unit),
            currency=currency,
            seat=str(seat),
        )
        is_late = chance.random() < IS_LATE
        share = chance.uniform(1.01, 1.04) if is_late else chance.uniform(0.05, 0.9)
        at_ms = opened.at_ms + int(window_ms * share)
        until_ms = opened.closes_at_ms + (window_ms if is_late else 0)
        found.append(Intent(at_ms, until_ms, placed))
        if chance.random() < CANCELS:
            found.append(Intent(at_ms + window_ms // 20, until_ms, cancelled(placed)))
    return found


def choose(chance: random.Random, terms: Sequence[Terms], wanted: int) -> list[Terms]:
    """So many different bets of the table, the popular ones more often."""
    left = list(terms)
    chosen: list[Terms] = []
    for _ in range(wanted):
        picked = chance.choices(left, [BET_WEIGHTS.get(offered.bet, 3) for offered in left])[0]
        left.remove(picked)
        chosen.append(picked)
    return chosen


def stake(chance: random.Random, terms: Terms, unit: int) -> int:
    """Chips within the table's limits; now and then more than it takes."""
    if chance.random() < ASKS_TOO_MUCH:
        return terms.max_minor + terms.step_minor
    chips = chance.choices(CHIPS, CHIP_WEIGHTS)[0] * unit
    within = min(max(chips, terms.min_minor), terms.max_minor)
    return within - within % terms.step_minor


def cancelled(placed: BetPlaced) -> BetCancelled:
    return BetCancelled(
        event_id=placed.event_id.replace("/placed", "/cancelled"),
        table_id=placed.table_id,
        bet_id=placed.bet_id,
        customer_id=placed.customer_id,
        shoe_no=placed.shoe_no,
        round_no=placed.round_no,
    )


def leaving(seed: str, closed: ShoeClosed) -> list[CustomerLeft]:
    """Who goes home when a shoe ends; somebody of the same name has the seat at the next."""
    gone: list[CustomerLeft] = []
    for name in NAMES:
        if random.Random(f"{seed}/{closed.table_id}/{closed.shoe_no}/{name}/left").random() < LEAVES:
            event_id = f"{closed.table_id}/{closed.shoe_no}/{name}/left"
            gone.append(CustomerLeft(event_id=event_id, table_id=closed.table_id, customer_id=name))
    return gone


class Seen(Struct, frozen=True):
    """A table as its customers see it: what can be bet there, and the betting that is open, if any."""

    rules: Configuration | None = None
    opened: BettingOpened | None = None


def see(seen: Seen, fact: Event) -> Seen:
    """Folds a fact of `rounds`."""
    match fact:
        case RulesInForce():
            return replace(seen, rules=fact.configuration)
        case BettingOpened():
            return replace(seen, opened=fact)
        case BettingClosed():
            return replace(seen, opened=None)
        case _:
            return seen


async def customers(
    log: Log,
    tables: Sequence[str],
    seed: str | None,
    stop: asyncio.Event,
    clock: Callable[[], int] = wall_clock_ms,
) -> None:
    """Bets at these tables until `stop` is set; goes on by itself when the log was away.

    Without a seed the log's own id is one: chance enough for who bets, and the same after a restart.
    """
    await again_and_again(lambda: attend(log, tables, seed or log.log_id, stop, clock), stop, "customers")


async def attend(log: Log, tables: Sequence[str], seed: str, stop: asyncio.Event, clock: Callable[[], int]) -> None:
    """Sees what has been, then bets on what opens. Raises NotReady."""
    seen = dict.fromkeys(tables, Seen())
    plans: dict[str, tuple[Intent, ...]] = {}
    async with following(log, [ROUNDS], tables) as follower:
        while not stop.is_set():
            gone: list[Event] = []
            was_live = follower.is_live
            for fact in await follower.next():
                before, after = seen[fact.table_id], see(seen[fact.table_id], fact)
                seen[fact.table_id] = after
                if after.opened is not None and after.opened is not before.opened:
                    plans[fact.table_id] = plan(seed, after)
                elif after.opened is None:
                    plans.pop(fact.table_id, None)
                if isinstance(fact, ShoeClosed) and was_live:
                    gone += leaving(seed, fact)
            if follower.is_live:
                said = [*due(plans, clock()), *gone]
                if said:
                    await log.append(BETS, said)


def plan(seed: str, seen: Seen) -> tuple[Intent, ...]:
    """What the customers of a table mean to do in the round whose betting is open."""
    if seen.rules is None or seen.opened is None:
        return ()
    return intents(seed, seen.opened, seen.rules.pay_table, seen.rules.currency, 10**seen.rules.exponent)


def due(plans: dict[str, tuple[Intent, ...]], now_ms: int) -> list[Event]:
    """What is to be done by now, at all tables; it is taken out of the plans, done or too late."""
    found: list[Event] = []
    for table_id, planned in plans.items():
        found += [intent.event for intent in planned if intent.at_ms <= now_ms < intent.until_ms]
        plans[table_id] = tuple(intent for intent in planned if intent.at_ms > now_ms)
    return found
