"""The simulated dealer: says once what is played, and resumes what was suspended, after a while and once."""

import asyncio
from collections.abc import Sequence
from functools import reduce
from pathlib import Path

from msgspec.structs import replace

from services.baccarat.catalogue import configuration
from services.baccarat.events import (
    ROUNDS,
    TABLE_FEED,
    Configuration,
    ConfigurationReceived,
    DealerResumed,
    DealerSuspended,
    Event,
    IrregularityFound,
    TableConfigured,
    TableResumed,
    TableSuspended,
)
from services.demo.dealer import Watched, configured, dealer, resumed, resumptions, watch
from services.rules import RULES
from services.runtime.embedded import EmbeddedLog

CLASSIC = configuration("classic")
EZ = configuration("ez")


def suspension(number: int, at_ms: int) -> TableSuspended:
    return TableSuspended(
        event_id=f"T1/suspension/{number}", table_id="T1", at_ms=at_ms, cause_id="x", cause="sequence-gap", text="t"
    )


def by(who: str, version: int, how: Configuration) -> TableConfigured:
    return TableConfigured(event_id="x", table_id="T1", version=version, configuration=how, by=who)


def seen(*facts: Event) -> Watched:
    return reduce(watch, facts, Watched())


def received(version: int, how: Configuration) -> ConfigurationReceived:
    return ConfigurationReceived(event_id="x", table_id="T1", at_ms=1, cause_id="c", version=version, configuration=how)


def test_a_table_without_a_configuration_is_configured_once() -> None:
    first = configured("T1", CLASSIC, Watched())
    assert first is not None
    assert (first.version, first.configuration, first.reason) == (1, CLASSIC, "demonstration")
    assert configured("T1", CLASSIC, seen(first)) is None
    assert configured("T1", CLASSIC, seen(first, received(1, CLASSIC))) is None
    other = configured("T1", EZ, seen(first, received(1, CLASSIC)))
    assert other is not None
    assert (other.version, other.configuration) == (2, EZ)


def test_what_somebody_else_published_stays() -> None:
    mine = by("simulated-dealer", 1, CLASSIC)
    for waits in (seen(mine, by("ann", 2, EZ)), seen(mine, by("ann", 2, EZ), received(2, EZ)), seen(received(1, EZ))):
        assert configured("T1", CLASSIC, waits) is None
    refused = IrregularityFound(
        event_id="x", table_id="T1", at_ms=1, cause_id="configuration/1", code="configuration-refused", text="",
        policy="refused",
    )  # fmt: skip
    again = configured("T1", CLASSIC, seen(by("ann", 1, EZ), refused))
    assert again is not None
    assert (again.version, again.configuration) == (2, CLASSIC)


def test_another_speed_changes_only_the_window_of_what_somebody_else_published() -> None:
    fast = replace(CLASSIC, betting_window_ms=1_500, close_margin_ms=25)
    watched = seen(by("simulated-dealer", 1, CLASSIC), by("ann", 2, EZ), received(2, EZ))
    change = configured("T1", fast, watched)
    assert change is not None
    assert (change.version, change.configuration) == (3, replace(EZ, betting_window_ms=1_500, close_margin_ms=25))
    assert change.reason == "another speed: only the betting window changes"
    assert configured("T1", fast, watch(watched, change)) is None
    # other bets of the dealer's own are no reason to change what somebody else wrote
    assert configured("T1", replace(CLASSIC, decks=6), watched) is None


def test_a_suspension_is_answered_when_the_dealer_has_looked_into_it() -> None:
    waiting = watch(Watched(), suspension(3, at_ms=1_000))
    assert resumptions([waiting, Watched()], 10_999, speed=1) == ()
    assert resumptions([waiting, Watched()], 11_000, speed=1) == (resumed(suspension(3, 1_000)),)
    assert resumptions([waiting], 2_000, speed=10) == (resumed(suspension(3, 1_000)),)
    over = TableResumed(event_id="x", table_id="T1", at_ms=1, cause_id="c", by="d", text="")
    assert resumptions([watch(waiting, over)], 99_000, speed=1) == ()


def test_each_suspension_has_its_own_action_id() -> None:
    first, second = resumed(suspension(1, 0)), resumed(suspension(2, 0))
    assert first.action_id != second.action_id
    assert "/" not in first.action_id
    assert resumed(suspension(1, 0)) == first


async def play(log: EmbeddedLog, stop: asyncio.Event, *, speed: float) -> None:
    await dealer(log, {"T1": CLASSIC, "T2": replace(CLASSIC, decks=6)}, speed, stop)


async def feed(log: EmbeddedLog, least: int) -> list[Event]:
    """The feed, as soon as it has so many records."""
    found: list[Event] = []
    async with asyncio.timeout(20), log.reader({(TABLE_FEED, 0): 0}) as reader:
        while len(found) < least:
            found += [record.event for record in await reader.next(100) if record.event is not None]
    return found


def of(kind: type[Event], events: Sequence[Event]) -> list[Event]:
    return [event for event in events if isinstance(event, kind)]


async def test_a_dealer_who_comes_again_repeats_nothing(tmp_path: Path) -> None:
    for _ in range(2):
        stop = asyncio.Event()
        with EmbeddedLog(tmp_path / "log.sqlite", partitions=1) as log:
            parts = (log.run([RULES], stop), play(log, stop, speed=100))
            running = asyncio.gather(*parts)
            await feed(log, 2)
            await log.append(
                TABLE_FEED,
                [DealerSuspended(event_id="T1/s", table_id="T1", action_id="s", by="pit boss", reason="spilt drink")],
            )
            said = await feed(log, 4)
            await log.caught_up([RULES])
            stop.set()
            await running
            async with log.reader({(ROUNDS, 0): 0}) as reader:
                facts = [record.event for record in await reader.next(0) if record.event is not None]
    assert [event.table_id for event in of(TableConfigured, said)] == ["T1", "T2"]
    assert [event.table_id for event in of(DealerResumed, said)] == ["T1"]
    assert len(of(TableSuspended, facts)) == len(of(TableResumed, facts)) == 1
    assert not [fact for fact in facts if type(fact).__name__ == "IrregularityFound"]
