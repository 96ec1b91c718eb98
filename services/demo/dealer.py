"""The simulated dealer's other acts: says what is played at each table, and resumes one that was suspended.

He does what a person would: notices the suspension, looks into it for a while, and goes on with a fresh round. The
cards themselves come from the card scanner, and betting opens by itself.
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
    ConfigurationReceived,
    DealerResumed,
    Event,
    RulesInForce,
    TableConfigured,
    TableResumed,
    TableSuspended,
)
from services.demo.following import again_and_again, following
from services.runtime.embedded import wall_clock_ms
from services.runtime.log import Log

NAME: Final = "simulated-dealer"
LOOKS_INTO_IT_MS: Final = 10_000  # at speed 1


class Watched(Struct, frozen=True):
    """A table as its dealer knows it: the newest configuration it has, and the suspension that waits, if any."""

    version: int = 0
    configuration: Configuration | None = None
    suspension: TableSuspended | None = None


def watch(watched: Watched, fact: Event) -> Watched:
    """Folds a fact of `rounds`."""
    match fact:
        case ConfigurationReceived() | RulesInForce() if fact.version >= watched.version:
            return replace(watched, version=fact.version, configuration=fact.configuration)
        case TableSuspended():
            return replace(watched, suspension=fact)
        case TableResumed():
            return replace(watched, suspension=None)
        case _:
            return watched


def configured(table_id: str, wanted: Configuration, watched: Watched) -> TableConfigured | None:
    """What makes the table play by `wanted`; None when it does."""
    if watched.configuration == wanted:
        return None
    version = watched.version + 1
    return TableConfigured(
        event_id=f"{table_id}/configured/{version}",
        table_id=table_id,
        version=version,
        configuration=wanted,
        by=NAME,
        reason="demonstration",
    )


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
    """Reads `rounds` from its beginning, configures the tables that play otherwise, then watches. Raises NotReady."""
    tables = dict.fromkeys(configurations, Watched())
    told: set[str] = set()
    async with following(log, [ROUNDS], tables) as follower:
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
    """What must be said so that every table plays as it is meant to."""
    found = (configured(table_id, wanted, tables[table_id]) for table_id, wanted in configurations.items())
    return tuple(change for change in found if change is not None)


def resumptions(tables: Iterable[Watched], now_ms: int, speed: float) -> tuple[DealerResumed, ...]:
    """The tables that have been suspended for so long that the dealer has looked into it."""
    waiting = (watched.suspension for watched in tables)
    return tuple(resumed(one) for one in waiting if one is not None and one.at_ms + LOOKS_INTO_IT_MS / speed <= now_ms)
