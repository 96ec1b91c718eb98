"""The simulated dealer's other acts: says what is played at each table, and resumes one that was suspended.

He configures a table that has no configuration, and afterwards changes only what he himself wrote: what somebody else
published stays, but for the betting window at another speed. He does what a person would with a suspension: notices
it, looks into it for a while, and goes on with a fresh round. The cards themselves come from the card scanner, and
betting opens by itself.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from services.baccarat.events import (
    ROUNDS,
    TABLE_FEED,
    Configuration,
    DealerResumed,
    Event,
    TableConfigured,
    TableResumed,
    TableSuspended,
)
from services.demo.following import again_and_again, following
from services.demo.published import Published, is_all_by, newest, published, written_by
from services.runtime.embedded import wall_clock_ms
from services.runtime.log import Log

NAME: Final = "simulated-dealer"
LOOKS_INTO_IT_MS: Final = 10_000  # at speed 1


class Watched(Struct, frozen=True):
    """A table as its dealer knows it: the configurations of it, and the suspension that waits, if any."""

    published: Published = Published()
    suspension: TableSuspended | None = None


def watch(watched: Watched, fact: Event) -> Watched:
    """Folds a record of `rounds` or of `table-feed`."""
    match fact:
        case TableSuspended():
            return replace(watched, suspension=fact)
        case TableResumed():
            return replace(watched, suspension=None)
        case _:
            return replace(watched, published=published(watched.published, fact))


def configured(table_id: str, wanted: Configuration, watched: Watched) -> TableConfigured | None:
    """What makes the table play by `wanted`, as far as that is the dealer's to say; None when nothing is."""
    known = watched.published
    _, playing = newest(known)
    mine = written_by(known, NAME)
    change, reason = wanted, "demonstration"
    if playing is not None and not is_all_by(known, NAME):
        is_new_pace = mine is not None and at_pace(mine.configuration, wanted) != mine.configuration
        change = at_pace(playing, wanted) if is_new_pace else playing
        reason = "another speed: only the betting window changes"
    if change == playing or (mine is not None and change == mine.configuration):  # his own last word may be refused
        return None
    return TableConfigured(
        event_id=f"{table_id}/configured/{known.next_version}",
        table_id=table_id,
        version=known.next_version,
        configuration=change,
        by=NAME,
        reason=reason,
    )


def at_pace(how: Configuration, wanted: Configuration) -> Configuration:
    """The same with the betting window that is wanted."""
    return replace(how, betting_window_ms=wanted.betting_window_ms, close_margin_ms=wanted.close_margin_ms)


def resumed(suspension: TableSuspended) -> DealerResumed:
    """The answer to one suspension, with the same id however often it is given."""
    action_id = "-".join(("resume", *suspension.event_id.split("/")[1:]))
    return DealerResumed(
        event_id=f"{suspension.table_id}/{action_id}",
        table_id=suspension.table_id,
        action_id=action_id,
        by=NAME,
        reason=f"looked into: {suspension.cause}",
    )


async def dealer(
    log: Log,
    configurations: Mapping[str, Configuration],
    speed: float,
    stop: asyncio.Event,
    clock: Callable[[], int] = wall_clock_ms,
) -> None:
    """Minds these tables until `stop` is set; goes on by itself when the log was away."""
    await again_and_again(lambda: attend(log, configurations, speed, stop, clock), stop, "dealer")


async def attend(
    log: Log, configurations: Mapping[str, Configuration], speed: float, stop: asyncio.Event, clock: Callable[[], int]
) -> None:
    """Reads all that was, configures the tables that are his to configure, then watches. Raises NotReady."""
    tables = dict.fromkeys(configurations, Watched())
    told: set[str] = set()
    async with following(log, [ROUNDS, TABLE_FEED], tables) as follower:
        while not stop.is_set():
            for fact in await follower.next():
                tables[fact.table_id] = watch(tables[fact.table_id], fact)
            if not follower.is_live:
                continue
            meant: tuple[TableConfigured | DealerResumed, ...] = (
                *changes(configurations, tables),
                *resumptions(tables.values(), clock(), speed),
            )
            said = {action.event_id: action for action in meant if action.event_id not in told}
            if said:
                await log.append(TABLE_FEED, tuple(said.values()))
                told.update(said)


def changes(configurations: Mapping[str, Configuration], tables: Mapping[str, Watched]) -> tuple[TableConfigured, ...]:
    """What must be said of the tables that are the dealer's to configure."""
    found = (configured(table_id, wanted, tables[table_id]) for table_id, wanted in configurations.items())
    return tuple(change for change in found if change is not None)


def resumptions(tables: Iterable[Watched], now_ms: int, speed: float) -> tuple[DealerResumed, ...]:
    """The tables that have been suspended for so long that the dealer has looked into it."""
    waiting = (watched.suspension for watched in tables)
    return tuple(resumed(one) for one in waiting if one is not None and one.at_ms + LOOKS_INTO_IT_MS / speed <= now_ms)
