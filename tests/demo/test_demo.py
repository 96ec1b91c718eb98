"""The demonstration in a process of its own: killed and started again it goes on, and nothing is doubled."""

import asyncio
import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import TypeVar

import pytest

from services.baccarat.cards import Card
from services.baccarat.catalogue import VARIANTS
from services.baccarat.errors import BadSettings, NotReady
from services.baccarat.events import (
    BETS,
    ROUNDS,
    SETTLEMENTS,
    TABLE_FEED,
    BetAccepted,
    BetIgnored,
    BetSettled,
    BetVoided,
    CardDealt,
    DeviceEvent,
    Event,
    RoundDecided,
    RoundSettled,
    ShoeStarted,
)
from services.card_scanner.sources import simulated_shoe
from services.card_scanner.table_view import house_rules
from services.demo.demo import demo, listening, stopped, table_configurations
from services.demo.folders import choose
from services.runtime.embedded import EmbeddedLog

E = TypeVar("E", bound=Event)
PROGRAM = """
import asyncio, json, sys
from pathlib import Path
from services.demo.demo import demo
asyncio.run(demo(state_dir=Path(sys.argv[1]), **json.loads(sys.argv[2])))
"""
ROUND_LINE = re.compile(r"^\S+ +\d+/\d+  Player .* house ")


@contextmanager
def playing(folder: Path, **options: object) -> Iterator[subprocess.Popen[str]]:
    """The demonstration as a child; killed at the end if it still runs."""
    told = json.dumps({"speed": 100, "tables": 2, "port": 0, **options})
    environment = {name: value for name, value in os.environ.items() if name != "REDIS_URL"}
    with subprocess.Popen(
        [sys.executable, "-u", "-c", PROGRAM, str(folder), told],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    ) as child:
        try:
            yield child
        finally:
            child.kill()


def lines_until(child: subprocess.Popen[str], rounds: int) -> list[str]:
    """What it says until so many rounds are settled."""
    assert child.stdout is not None
    lines: list[str] = []
    for line in child.stdout:
        lines.append(line)
        rounds -= bool(ROUND_LINE.match(line))
        if rounds == 0:
            return lines
    assert child.stderr is not None
    pytest.fail(f"it ended: {''.join(lines)} {child.stderr.read()}")


async def records(log: EmbeddedLog, topic: str) -> list[Event]:
    found: list[Event] = []
    async with log.reader({(topic, partition): 0 for partition in range(log.partitions)}) as reader:
        while batch := await reader.next(0):
            assert all(record.event is not None for record in batch)
            found += [record.event for record in batch if record.event is not None]
    return found


def topics_of(path: Path) -> dict[str, list[Event]]:
    async def read() -> dict[str, list[Event]]:
        with EmbeddedLog(path) as log:
            return {topic: await records(log, topic) for topic in (TABLE_FEED, ROUNDS, BETS, SETTLEMENTS)}

    return asyncio.run(read())


def of(kind: type[E], events: Sequence[Event]) -> list[E]:
    return [event for event in events if isinstance(event, kind)]


def test_killed_and_started_again_it_goes_on_and_nothing_is_doubled(tmp_path: Path) -> None:
    for _ in range(3):
        with playing(tmp_path, seed="7") as child:
            lines = lines_until(child, rounds=5)
            child.send_signal(signal.SIGKILL)
            child.wait()
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+\n", lines[0])
    with playing(tmp_path, seed="7", seconds=2) as child:
        said, complained = child.communicate(timeout=60)
        assert child.returncode == 0
        assert "Traceback" not in complained
        assert said.endswith("Stopped; started again with --seed 7 it goes on here.\n")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["current.json", "log-1"]
    told = topics_of(tmp_path / "log-1" / "log.sqlite")
    for table_id, configuration in table_configurations(2, 100).items():
        feed = [event for event in told[TABLE_FEED] if event.table_id == table_id and isinstance(event, DeviceEvent)]
        check_feed(feed, simulated_shoe(house_rules(configuration), "7", f"{table_id}/1").order)
    check_facts(told)


def check_feed(feed: Sequence[DeviceEvent], order: Sequence[Card | None]) -> None:
    """One device, no sequence left out, a sentence repeated only as it was, and the cards of the seed's first shoe."""
    assert len({event.device for event in feed}) == 1
    assert all(after.sequence - before.sequence in (0, 1) for before, after in pairwise(feed))
    assert len({event.sequence for event in of(ShoeStarted, feed)}) == 1
    cards = list({event.sequence: event.card for event in of(CardDealt, feed)}.values())
    assert tuple(cards) == order[: len(cards)]
    assert len(cards) > 40


def check_facts(told: dict[str, list[Event]]) -> None:
    """No fact twice, no accepted bet answered twice or never, and every book balances."""
    for topic in (ROUNDS, SETTLEMENTS):
        ids = [fact.event_id for fact in told[topic]]
        assert len(ids) == len(set(ids)), topic
    names = {type(fact).__name__ for fact in (*told[ROUNDS], *told[SETTLEMENTS])}
    assert not names & {"IrregularityFound", "TableSuspended", "CardSetAside", "BookSuspended", "RoundVoided"}
    settlements = told[SETTLEMENTS]
    assert not of(BetIgnored, settlements), "a restarted customer said something else under the same id"
    accepted = {(bet.table_id, bet.shoe_no, bet.round_no, bet.bet_id): bet for bet in of(BetAccepted, settlements)}
    assert len(accepted) == len(of(BetAccepted, settlements))
    settled = of(RoundSettled, settlements)
    assert {(one.table_id, one.shoe_no, one.round_no) for one in settled} == {
        (one.table_id, one.shoe_no, one.round_no) for one in of(RoundDecided, told[ROUNDS])
    }
    sums: dict[tuple[str, int, int], list[int]] = defaultdict(lambda: [0, 0, 0])
    answered: list[tuple[str, int, int, str]] = []
    answers: list[BetSettled | BetVoided] = [*of(BetSettled, settlements), *of(BetVoided, settlements)]
    for bet in answers:
        key = (bet.table_id, bet.shoe_no, bet.round_no, bet.bet_id)
        assert bet.stake_minor == accepted[key].stake_minor
        answered.append(key)
        if isinstance(bet, BetSettled):
            money = sums[key[:3]]
            money[0] += 1
            money[1] += bet.stake_minor
            money[2] += bet.return_minor
    assert len(answered) == len(set(answered))
    done = {(one.table_id, one.shoe_no, one.round_no) for one in settled}
    assert {key for key in accepted if key[:3] in done} <= set(answered)
    for one in settled:
        count, stakes, returns = sums[one.table_id, one.shoe_no, one.round_no]
        assert (one.count, one.stakes_minor, one.returns_minor) == (count, stakes, returns)
        assert one.house_win_minor == stakes - returns
    assert sum(one.stakes_minor for one in settled) > 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_it_in_order(tmp_path: Path, number: signal.Signals) -> None:
    with playing(tmp_path, tables=1) as child:
        lines_until(child, rounds=1)
        child.send_signal(number)
        said, complained = child.communicate(timeout=60)
    assert child.returncode == 0
    assert "Traceback" not in complained
    assert said.endswith("Stopped; started again it goes on here.\n")


def test_a_port_in_use_gives_way_to_the_next() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        taken = other.getsockname()[1]
        with listening(taken) as page:
            assert taken < page.getsockname()[1] < taken + 20


def test_no_free_port_is_said_in_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("services.demo.demo.PORTS_TRIED", 1)
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        taken = other.getsockname()[1]
        with pytest.raises(BadSettings, match=f"no port from {taken} to {taken} is free"), listening(taken):
            pass


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"tables": 0}, "1 to 200 tables, not 0"),
        ({"speed": 0}, "the speed is 0.1 to 1000, not 0"),
        ({"port": 70_000}, "a port is a number up to 65535, not 70000"),
        ({"seconds": 0}, "seconds"),
    ],
)
def test_what_cannot_be_played_is_said_in_a_line(tmp_path: Path, options: dict[str, int], what: str) -> None:
    with pytest.raises(BadSettings, match=what):
        asyncio.run(demo(**options, state_dir=tmp_path))  # type: ignore[arg-type]
    assert not list(tmp_path.iterdir())


async def test_a_log_in_use_is_said_in_a_line(tmp_path: Path) -> None:
    (tmp_path / "log-1").mkdir()
    (tmp_path / "current.json").write_text('{"folder":"log-1","seed":null}')
    with EmbeddedLog(tmp_path / "log-1" / "log.sqlite"), pytest.raises(NotReady, match="is in use by process"):
        await demo(state_dir=tmp_path, port=0)


def test_the_last_line_says_what_is_gone_on_with(tmp_path: Path) -> None:
    first = choose(tmp_path, None, fresh=False).path
    choose(tmp_path, "7", fresh=False)
    assert stopped(first, None) == "Stopped; started again it goes on here."
    other = choose(tmp_path, None, fresh=True).path
    assert stopped(first, None) == f"Stopped; {other} was begun meanwhile, and is gone on with instead."


def test_the_first_four_tables_are_the_four_base_games() -> None:
    assert list(table_configurations(4, 1)) == ["classic-1", "classic-tie-9-1", "super-6-1", "ez-1"]
    many = table_configurations(len(VARIANTS) + 1, 1)
    assert {configuration.variant for configuration in many.values()} == set(VARIANTS)
    assert list(many)[-1] == "classic-2"


def test_speed_shortens_betting_and_its_margin_alike() -> None:
    one, ten = (table_configurations(1, speed)["classic-1"] for speed in (1, 10))
    assert (one.betting_window_ms, one.close_margin_ms) == (15_000, 250)
    assert (ten.betting_window_ms, ten.close_margin_ms) == (1_500, 25)
