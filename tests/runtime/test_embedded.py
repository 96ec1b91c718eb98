"""The embedded log and what only it has: its file, its clock, its readers."""

import asyncio
import sqlite3
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from pathlib import Path
from random import Random
from typing import Any

import pytest
from msgspec import Struct
from msgspec.structs import replace

from services.baccarat.errors import NotReady, Unfit
from services.baccarat.events import BETS, ROUNDS, TABLE_FEED, CustomerLeft, Event, InputNoted
from services.rules import RULES
from services.runtime.embedded import Draft, EmbeddedLog, no_fault, wall_clock_ms
from services.runtime.processor import Processor
from services.runtime.reading import partition_of
from services.settlement import SETTLEMENT
from tests.runtime.harness import BOTH, PARTITIONS, EmbeddedHarness, everything, inputs, perform
from tests.runtime.plays import BEGIN_MS, play
from tests.runtime.reference import CODEC, FACTS, Raw, told_again, told_in, unbalanced
from tests.runtime.test_contract import SEED, finish, judge


class Count(Struct, frozen=True):
    table_id: str
    number: int = 0


def count(state: Count, _topic: str, event: Event, at_ms: int) -> tuple[Event, ...]:
    number = state.number + 1
    name = f"{state.table_id}/counted/{number}"
    return (
        InputNoted(
            event_id=name, table_id=state.table_id, at_ms=at_ms, cause_id=event.event_id, what="left", number=number
        ),
    )


COUNTER: Processor[Count] = Processor(
    name="counter",
    inputs=(BETS,),
    output=ROUNDS,
    snapshots="counter-snapshots",
    start=Count,
    decide=count,
    evolve=lambda state, _fact: replace(state, number=state.number + 1),
    copies_to=lambda _fact: (),
    ready=lambda _state, _topic, _event: True,
    poisoned=lambda _state, _event, _code, _text, _at_ms: (),
    state_type=Count,
)


def left(number: int, table_id: str = "T1") -> Event:
    return CustomerLeft(event_id=f"{table_id}/left/{number}", table_id=table_id, customer_id="c1")


@asynccontextmanager
async def running(log: EmbeddedLog, *processors: Processor[Any]) -> AsyncIterator[None]:
    """Stops in order once all is taken."""
    stop = asyncio.Event()
    run = asyncio.create_task(log.run(processors, stop))
    yield
    caught_up = asyncio.create_task(log.caught_up(processors))
    await asyncio.wait({caught_up, run}, return_when=asyncio.FIRST_COMPLETED)
    caught_up.cancel()
    stop.set()
    await run


def counted(path: Path) -> list[int]:
    """What the counter said, straight from the file."""
    with closing(sqlite3.connect(path)) as sql:
        rows = sql.execute("SELECT value FROM records WHERE topic = 'rounds' ORDER BY partition, \"offset\"").fetchall()
    facts = [CODEC.decode(ROUNDS, value) for (value,) in rows]
    return [fact.number for fact in facts if isinstance(fact, InputNoted)]


def states(log: EmbeddedLog, *processors: Processor[Any]) -> dict[tuple[str, int], tuple[Any, Any]]:
    restored = [log._restore(processor, partition) for processor in processors for partition in range(log.partitions)]
    return {(task.processor.name, task.partition): (task.states, task.positions) for task in restored}


# ---------------------------------------------------------------- the file


def test_a_second_holder_is_told_who_the_first_is(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    with EmbeddedLog(path), pytest.raises(NotReady, match=r"log\.db is in use by process \d+ \(.*\); stop it first"):
        EmbeddedLog(path)
    EmbeddedLog(path).close()


def test_nobody_writes_into_a_file_that_is_held(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    with (
        EmbeddedLog(path),
        closing(sqlite3.connect(path, timeout=0)) as sql,
        pytest.raises(sqlite3.OperationalError, match="locked"),
    ):
        sql.execute("DELETE FROM records")


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda path: path.write_bytes(b"no database at all" * 100), "cannot be used as a log: file is not a database"),
        (lambda path: EmbeddedLog(path, 5).close(), "has partitions 5, not 12"),
        (lambda path: set_about(path, "format", "0"), "has format 0, not 1"),
        (lambda path: (path.parent / "log.db.lock").mkdir(), "cannot be used as a log: Is a directory"),
    ],
)
def test_another_file_is_refused_in_a_line_and_let_go(
    tmp_path: Path, spoil: Callable[[Path], object], says: str
) -> None:
    path = tmp_path / "log.db"
    spoil(path)
    for _ in range(2):
        with pytest.raises(NotReady, match=says):
            EmbeddedLog(path)


def set_about(path: Path, name: str, value: str) -> None:
    EmbeddedLog(path).close()
    with closing(sqlite3.connect(path)) as sql, sql:
        sql.execute("UPDATE about SET value = ? WHERE name = ?", (value, name))


def test_a_log_keeps_its_id_and_another_has_another(tmp_path: Path) -> None:
    ids = []
    for name in ("one", "one", "two"):
        with EmbeddedLog(tmp_path / name / "log.db") as log:
            ids.append(log.log_id)
    assert ids[0] == ids[1] != ids[2]


# ---------------------------------------------------------------- appending


async def test_append_time_never_goes_back_not_even_over_a_restart(tmp_path: Path) -> None:
    times = iter([1_000, 5_000, 2_000, 3_000, 6_000])
    for _ in range(5):
        with EmbeddedLog(tmp_path / "log.db", clock=lambda: next(times)) as log:
            await log.append(BETS, [left(1)])
    with closing(sqlite3.connect(tmp_path / "log.db")) as sql:
        assert [row[0] for row in sql.execute("SELECT at_ms FROM records")] == [1_000, 5_000, 5_000, 5_000, 6_000]


async def test_the_clock_is_the_machines_unless_told_otherwise(tmp_path: Path) -> None:
    before = wall_clock_ms()
    with EmbeddedLog(tmp_path / "log.db") as log:
        await log.append(BETS, [left(1)])
        async with log.reader({(BETS, partition_of("T1", 12)): 0}) as reader:
            (record,) = await reader.next(0)
    assert before <= record.at_ms <= wall_clock_ms()


async def test_what_is_appended_in_one_turn_is_one_transaction(tmp_path: Path) -> None:
    passed: Counter[str] = Counter()
    with EmbeddedLog(tmp_path / "log.db", fault=lambda point: passed.update([point])) as log:
        await asyncio.gather(*(log.append(BETS, [left(number, f"T{number}")]) for number in range(50)))
        assert passed["after-commit"] == 1
        await log.append(BETS, [])
        assert sum([await log.end(BETS, partition) for partition in range(12)]) == 50


async def test_nothing_is_written_of_what_does_not_fit(tmp_path: Path) -> None:
    large = CustomerLeft(event_id="x" * 1_000_000, table_id="T1", customer_id="c1")
    with EmbeddedLog(tmp_path / "log.db") as log:
        with pytest.raises(Unfit, match="more than 900000"):
            await log.append(BETS, [left(1), large])
        with pytest.raises(Unfit, match="does not belong"):
            await log.append(TABLE_FEED, [left(1)])
        for topic, partition in ((BETS, 12), ("gossip", 0)):
            with pytest.raises(Unfit, match=f"no partition {partition} of {topic}"):
                await log.append_drafts([Draft(topic, partition, b"T1", b"")])
        assert await log.end(BETS, partition_of("T1", 12)) == 0


async def test_an_append_that_was_cancelled_in_time_is_not_written(tmp_path: Path) -> None:
    with EmbeddedLog(tmp_path / "log.db") as log:
        one = asyncio.create_task(log.append(BETS, [left(1)]))
        other = asyncio.create_task(log.append(BETS, [left(2)]))
        await asyncio.sleep(0)
        one.cancel()
        await other
        assert await log.end(BETS, partition_of("T1", 12)) == 1


async def test_a_disk_that_takes_nothing_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    with EmbeddedLog(path, snapshot_ms=0) as log:
        async with running(log, COUNTER):
            await log.append(BETS, [left(1)])
        log._sql.execute("PRAGMA query_only = ON")
        with pytest.raises(NotReady, match=r"log\.db cannot be written: attempt to write a readonly database"):
            await log.append(BETS, [left(2)])
        log._sql.execute("PRAGMA query_only = OFF")
        await log.append(BETS, [left(2)])
        log._sql.execute("PRAGMA query_only = ON")
        with pytest.raises(NotReady, match="cannot be written"):
            await log.run([COUNTER], asyncio.Event())
        log._sql.execute("PRAGMA query_only = OFF")
        async with running(log, COUNTER):
            await log.append(BETS, [left(3)])
    assert counted(path) == [1, 2, 3]


async def test_a_transaction_that_failed_takes_no_offsets(tmp_path: Path) -> None:
    full = iter([sqlite3.OperationalError("database or disk is full")])

    def fault(point: str) -> None:
        if point == "before-commit" and (error := next(full, None)) is not None:
            raise error

    with EmbeddedLog(tmp_path / "log.db", fault=fault) as log:
        with pytest.raises(NotReady, match="disk is full"):
            await log.append(BETS, [left(1)])
        await log.append(BETS, [left(2)])
        async with log.reader({(BETS, partition_of("T1", 12)): 0}) as reader:
            assert [(record.offset, record.event) for record in await reader.next(0)] == [(0, left(2))]


async def test_a_full_disk_takes_no_offsets_though_the_file_rolls_back_by_itself(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    with EmbeddedLog(path, 1) as log:
        async with running(log, COUNTER):
            await log.append(BETS, [left(1)])
            (pages,) = log._sql.execute("PRAGMA page_count").fetchone()
            log._sql.execute(f"PRAGMA max_page_count = {pages}")
            with pytest.raises(NotReady, match="disk is full"):
                await log.append(BETS, [left(number) for number in range(2, 1_000)])
            log._sql.execute("PRAGMA max_page_count = 1000000")
            await log.append(BETS, [left(2)])
        async with log.reader({(BETS, 0): 0}) as reader:
            assert [(record.offset, record.event) for record in await reader.next(0)] == [(0, left(1)), (1, left(2))]
    assert counted(path) == [1, 2]


async def test_a_file_that_cannot_be_read_any_more_is_said_at_the_start(tmp_path: Path) -> None:
    with EmbeddedLog(tmp_path / "log.db") as log:
        log._sql.execute("DROP TABLE manifests")
        with pytest.raises(NotReady, match="cannot be read: no such table"):
            await log.run([COUNTER], asyncio.Event())


# ---------------------------------------------------------------- reading


async def test_a_reader_waits_for_news_and_not_for_ever(tmp_path: Path) -> None:
    with EmbeddedLog(tmp_path / "log.db", batch=2) as log:
        await log.append(BETS, [left(number) for number in range(3)])
        async with log.reader({(BETS, partition_of("T1", 12)): 1}) as reader:
            assert [record.offset for record in await reader.next(0)] == [1, 2]
            assert await reader.next(1) == []
            waiting = asyncio.create_task(reader.next(60_000))
            await asyncio.sleep(0)
            await log.append(BETS, [left(3)])
            assert [record.event for record in await waiting] == [left(3)]
        idle = asyncio.create_task(reader.next(60_000))
        await asyncio.sleep(0)
    with pytest.raises(NotReady, match="closed"):
        await idle


async def test_a_log_that_cannot_be_read_says_so(tmp_path: Path) -> None:
    with EmbeddedLog(tmp_path / "log.db") as log:
        await log.append(BETS, [left(1)])
        log._sql.execute("DROP TABLE records")
        async with log.reader({(BETS, partition_of("T1", 12)): 0}) as reader:
            with pytest.raises(NotReady, match="cannot be read: no such table"):
                await reader.next(0)


async def test_readers_of_a_group_share_the_partitions(tmp_path: Path) -> None:
    asked: list[tuple[str, str, int]] = []

    def begins(name: str) -> Callable[[str, int], Any]:
        async def begin(topic: str, partition: int) -> int:
            asked.append((name, topic, partition))
            return 0

        return begin

    with EmbeddedLog(tmp_path / "log.db", 4) as log:
        tables = [f"T{number}" for number in range(1, 9)]
        await log.append(BETS, [left(1, table_id) for table_id in tables])
        async with log.shared_reader("pages", (BETS, ROUNDS), begins("first")) as first:
            assert {record.key for record in await first.next(0)} == set(tables)
            assert len(asked) == 8
            async with log.shared_reader("pages", (BETS, ROUNDS), begins("second")) as second:
                found = {record.partition for record in await second.next(0)}
                assert await first.next(1) == []
                assert found <= {1, 3}
                await log.append(BETS, [left(2, table_id) for table_id in tables])
                shares = [{record.key for record in await reader.next(0)} for reader in (first, second)]
                assert shares[0] | shares[1] == set(tables)
                assert not shares[0] & shares[1]
            taken_over = {record.key for record in await first.next(0)}
            assert taken_over == shares[1]
            assert sorted(asked[-4:]) == [
                ("first", topic, partition) for topic in (BETS, ROUNDS) for partition in (1, 3)
            ]


# ---------------------------------------------------------------- restarts


async def test_the_states_come_back_equal(tmp_path: Path) -> None:
    harness = EmbeddedHarness(tmp_path)
    await harness.start()
    await perform(harness, play(SEED)[:9])
    await finish(harness)
    found = []
    for delete in (None, harness.delete_positions, harness.delete_snapshots):
        if delete is not None:
            await delete()
        with EmbeddedLog(harness.path, PARTITIONS) as log:
            found.append(states(log, *BOTH))
    assert found[0] == found[1]
    # Without snapshot and positions, inputs at the end that gave nothing may be read again, and nothing else differs.
    assert {task: known[0] for task, known in found[2].items()} == {task: known[0] for task, known in found[0].items()}
    for task, (_, positions) in found[2].items():
        assert all(position <= found[0][task][1][topic] for topic, position in positions.items())
    assert sum(len(known[0]) for known in found[0].values()) == 10


async def test_a_restart_never_decides_again(tmp_path: Path) -> None:
    harness = EmbeddedHarness(tmp_path)
    await harness.start()
    await perform(harness, play(SEED)[:9])
    told = await finish(harness)
    await harness.delete_snapshots()
    decided: list[Event] = []

    def decide(_state: Any, _topic: str, event: Event, _at_ms: int) -> tuple[Event, ...]:
        decided.append(event)
        return ()

    mute = [Processor(**{**fields(processor), "decide": decide}) for processor in BOTH]
    with EmbeddedLog(harness.path, PARTITIONS) as log:
        async with running(log, *mute):
            pass
    assert decided == []
    assert judge(harness) == told


def fields(processor: Processor[Any]) -> dict[str, Any]:
    return {name: getattr(processor, name) for name in processor.__struct_fields__}


@pytest.mark.parametrize(
    "spoil",
    [
        "DELETE FROM snapshots",
        "UPDATE snapshots SET state = x'00'",
        "UPDATE manifests SET manifest = x'00'",
        "DELETE FROM manifests",
        "UPDATE snapshots SET state = state",  # unspoilt
        "UPDATE snapshots SET state = CAST(substr(state, 1, length(state) - 1) || x'07' AS BLOB)",  # another number
        "INSERT INTO snapshots SELECT processor, partition, 'T0', state FROM snapshots",
    ],
)
async def test_a_spoilt_snapshot_is_no_snapshot(tmp_path: Path, spoil: str) -> None:
    path = tmp_path / "log.db"
    for number in range(3):
        with EmbeddedLog(path) as log:
            async with running(log, COUNTER):
                await log.append(BETS, [left(number)])
        with closing(sqlite3.connect(path)) as sql, sql:
            sql.execute(spoil)
    assert counted(path) == [1, 2, 3]


async def test_a_snapshot_of_another_version_of_the_state_is_not_taken(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    with EmbeddedLog(path) as log:
        async with running(log, COUNTER):
            await log.append(BETS, [left(number) for number in range(3)])
    tenfold = Processor(
        **{
            **fields(COUNTER),
            "state_version": 2,
            "evolve": lambda state, _fact: replace(state, number=state.number + 10),
        }
    )
    with EmbeddedLog(path) as log:
        assert states(log, tenfold)["counter", partition_of("T1", 12)] == ({"T1": Count("T1", 30)}, {BETS: 3})


async def test_facts_of_somebody_else_steer_nothing(tmp_path: Path) -> None:
    with EmbeddedLog(tmp_path / "log.db") as log:
        await log.append(ROUNDS, list(count(Count("T1"), BETS, left(1), 0)))
        assert states(log, COUNTER)["counter", partition_of("T1", 12)] == ({}, {BETS: 0})


async def test_an_own_fact_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    with EmbeddedLog(path) as log:
        async with running(log, COUNTER):
            await log.append(BETS, [left(1)])
    with closing(sqlite3.connect(path)) as sql, sql:
        sql.execute("DELETE FROM manifests")
        sql.execute("UPDATE records SET value = x'00' WHERE topic = 'rounds'")
    with EmbeddedLog(path) as log:
        place = f"rounds {partition_of('T1', 12)}/0"
        with pytest.raises(NotReady, match=f"counter cannot read its own fact at {place}"):
            await log.run([COUNTER], asyncio.Event())


async def test_a_state_that_cannot_be_encoded_costs_its_snapshot_only(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "log.db"
    odd = Processor(**{**fields(COUNTER), "evolve": lambda state, _fact: replace(state, number="many")})
    with EmbeddedLog(path) as log:
        async with running(
            log, Processor(**{**fields(odd), "decide": lambda _state, *input: count(Count("T1"), *input)})
        ):
            await log.append(BETS, [left(1)])
    assert "no snapshot of counter" in caplog.text
    with closing(sqlite3.connect(path)) as sql:
        assert sql.execute("SELECT count(*) FROM manifests").fetchone() == (0,)


async def test_a_processor_runs_once_at_a_time(tmp_path: Path) -> None:
    with EmbeddedLog(tmp_path / "log.db") as log:
        async with running(log, COUNTER):
            await asyncio.sleep(0)
            with pytest.raises(NotReady, match="counter is running already"):
                await log.run([RULES, COUNTER], asyncio.Event())
        async with running(log, COUNTER):
            await log.append(BETS, [left(1)])


# ---------------------------------------------------------------- laws that need a log of any content


async def recording(folder: Path) -> list[Raw]:
    harness = EmbeddedHarness(folder)
    await harness.start()
    await perform(harness, play(SEED))
    await finish(harness)
    return inputs(everything(harness))


async def end_of(folder: Path, records: list[Raw], batch: int) -> tuple[EmbeddedHarness, dict[str, list[Raw]]]:
    """A log that held all these inputs before anybody read them."""
    harness = EmbeddedHarness(folder)
    await harness.append(records)
    await harness.start(batch=batch)
    await harness.until_caught_up()
    await harness.stop()
    return harness, everything(harness)


@pytest.mark.parametrize("batch", [1, 7, 200])
@pytest.mark.parametrize("order", [(TABLE_FEED, BETS), (BETS, TABLE_FEED)])
async def test_all_at_once_is_as_good_as_live(tmp_path: Path, batch: int, order: tuple[str, ...]) -> None:
    recorded = await recording(tmp_path / "live")
    told = told_again(RULES, SETTLEMENT, recorded, PARTITIONS)
    _, log = await end_of(tmp_path / "again", [raw for topic in order for raw in recorded if raw.topic == topic], batch)
    assert told_in(raw for topic in FACTS for raw in log[topic]) == told


@pytest.mark.parametrize("seed", range(4))
async def test_a_clock_that_stepped_back_while_it_was_recorded_is_taken_as_it_is(tmp_path: Path, seed: int) -> None:
    """A broker's clock may; the marks are made anew from such times, and the bets lie between them."""
    random = Random(seed)
    recorded = await recording(tmp_path / "live")
    shaken = [
        replace(raw, at_ms=(raw.at_ms or 0) - (random.randrange(40_000) if random.random() < 0.2 else 0))
        for raw in recorded
    ]
    _, log = await end_of(tmp_path / "again", shaken, 50)
    told = told_in(raw for topic in FACTS for raw in log[topic])
    assert told == told_again(RULES, SETTLEMENT, inputs(log), PARTITIONS)


async def test_a_clock_that_steps_back_while_it_runs_changes_nothing(tmp_path: Path) -> None:
    """The log's time stands still until the clock has caught up."""
    harness = EmbeddedHarness(tmp_path)
    await harness.start()
    steps = play(SEED)
    for number, step in enumerate(steps):
        back = 60_000 if number % 4 == 3 else 0
        await perform(harness, [replace(step, sent=tuple((topic, event, at - back) for topic, event, at in step.sent))])
    told = await finish(harness)
    times = [raw.at_ms or 0 for raw in harness.records(TABLE_FEED) if raw.partition == 0]
    assert times == sorted(times)
    assert times[0] == BEGIN_MS + 1_700
    assert unbalanced(told) == []


def test_nothing_fails_without_a_fault() -> None:
    assert no_fault("before-commit") is None  # type: ignore[func-returns-value]
