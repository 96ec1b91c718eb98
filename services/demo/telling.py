"""What happens at the tables, a line each, for a person who watches a terminal."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Final

from services.baccarat.cards import Card
from services.baccarat.events import (
    ROUNDS,
    SETTLEMENTS,
    BookSuspended,
    Event,
    IrregularityFound,
    RoundDecided,
    RoundSettled,
    RoundVoided,
    ShoeClosed,
    ShoeOpened,
    TableResumed,
    TableSuspended,
)
from services.demo.following import again_and_again, following
from services.runtime.log import Log

Say = Callable[[str], None]
WIDEST_HAND: Final = len("10S 10H 10D")


async def tell(log: Log, tables: Sequence[str], stop: asyncio.Event, say: Say) -> None:
    """Says a line for each round that is settled, and for what interrupts a table, from now on until `stop` is set."""
    await again_and_again(lambda: attend(log, tables, stop, say), stop, "demo")


async def attend(log: Log, tables: Sequence[str], stop: asyncio.Event, say: Say) -> None:
    """Raises NotReady."""
    width = max(len(table_id) for table_id in tables)
    waiting: dict[tuple[str, int, int], RoundDecided | RoundVoided] = {}
    async with following(log, [ROUNDS, SETTLEMENTS], tables, from_end=True) as follower:
        while not stop.is_set():
            for fact in sorted(await follower.next(), key=lambda fact: isinstance(fact, RoundSettled)):
                if isinstance(fact, RoundDecided | RoundVoided):
                    waiting[fact.table_id, fact.shoe_no, fact.round_no] = fact
                words = happened(fact)
                if isinstance(fact, RoundSettled):
                    decided = waiting.pop((fact.table_id, fact.shoe_no, fact.round_no), None)
                    words = settled(fact, decided)
                if words:
                    say(f"{fact.table_id:<{width}}  {words}")


def happened(fact: Event) -> str:
    """What interrupts the rounds of a table; empty for what is not worth a line."""
    match fact:
        case ShoeOpened():
            return f"shoe {fact.shoe_no} begins, {fact.decks} decks"
        case ShoeClosed():
            return f"shoe {fact.shoe_no} ends after {fact.rounds} rounds and {fact.cards} cards ({fact.reason})"
        case TableSuspended():
            return f"suspended ({fact.cause}): {fact.text}"
        case TableResumed():
            return f"resumed by {fact.by}: {fact.text}"
        case IrregularityFound():
            return f"irregularity {fact.code} ({fact.policy}): {fact.text}"
        case BookSuspended():
            return f"book of round {fact.shoe_no}/{fact.round_no} suspended ({fact.cause}): {fact.text}"
        case _:
            return ""


def settled(fact: RoundSettled, decided: RoundDecided | RoundVoided | None) -> str:
    """A round's line: both hands, who won, the bets, what they staked and what the house won or lost."""
    round_name = f"{fact.shoe_no}/{fact.round_no}"
    hands = "void" if decided is None or isinstance(decided, RoundVoided) else dealt(decided)
    money = f"{amount(fact.stakes_minor):>10}  house {amount(fact.house_win_minor, signed=True):>10}"
    return f"{round_name:>6}  {hands:<59}  {fact.count:>2} bets {money}"


def dealt(decided: RoundDecided) -> str:
    """Both hands with their totals, and the winner."""
    player, banker = hand(decided.player, decided.player_total), hand(decided.banker, decided.banker_total)
    return f"Player {player}  Banker {banker}  {decided.winner.value:<6}{'  natural' if decided.natural else ''}"


def hand(cards: tuple[Card, ...], total: int) -> str:
    return f"{' '.join(str(card) for card in cards):<{WIDEST_HAND}} {total}"


def amount(minor: int, *, signed: bool = False) -> str:
    """Minor units of a currency with two of them after the point, as the demonstration's tables have."""
    sign = "-" if minor < 0 else "+" if signed and minor > 0 else ""
    return f"{sign}{abs(minor) // 100:,}.{abs(minor) % 100:02d}"
