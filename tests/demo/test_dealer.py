"""The simulated dealer: says once what is played, and resumes what was suspended, after a while and once."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from services.baccarat.catalogue import configuration
from services.baccarat.events import (
    ROUNDS,
    TABLE_FEED,
    ConfigurationReceived,
    DealerResumed,
    DealerSuspended,
    Event,
    RulesInForce,
    TableConfigured,
    TableResumed,
    TableSuspended,
)
from services.demo.dealer import Watched, configured, dealer, resumed, resumptions, watch
from services.rules import RULES
from services.runtime.embedded import EmbeddedLog

CLASSIC = configuration("classic")


def suspension(number: int, at_ms: int) -> TableSuspended:
    return TableSuspended(
        event_id=f"T1/suspension/{number}", table_id="T1", at_ms=at_ms, cause_id="x", cause="sequence-gap", text="t"
    )


def test_a_table_is_configured_only_if_it_plays_otherwise() -> None:
    first = configured("T1", CLASSIC, Watched())
    assert first is not None
    assert (first.version, first.configuration) == (1, CLASSIC)
    about = {"event_id": "x", "table_id": "T1", "at_ms": 1, "cause_id": "c", "configuration": CLASSIC}
    received = watch(Watched(), ConfigurationReceived(**about, version=4))  # type: ignore[arg-type]
    assert configured("T1", CLASSIC, received) is None
    other = configured("T1", configuration("ez"), received)
    assert other is not None
    assert other.version == 5
    old = watch(received, RulesInForce(**{**about, "configuration": configuration("ez")}, version=3))  # type: ignore[arg-type]
    assert old == received


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
