"""A log of the embedded runtime as `replay` reads it."""

import asyncio
import sqlite3
from pathlib import Path

import pytest

from services.baccarat.catalogue import configuration
from services.baccarat.errors import BadSettings, NotReady
from services.baccarat.events import TABLE_FEED
from services.card_scanner.sources import simulated_shoe
from services.replay.deciding import feed_of, house_rules
from services.replay.facts import audit
from services.replay.logs import is_log, partitions_of, read_log
from services.rules import RULES
from services.runtime.codec import Codec
from services.runtime.embedded import EmbeddedLog
from services.settlement import SETTLEMENT


async def play(path: Path) -> None:
    how = configuration("classic", decks=1)
    with EmbeddedLog(path, partitions=3) as log:
        stop = asyncio.Event()
        running = asyncio.create_task(log.run([RULES, SETTLEMENT], stop))
        await log.append(TABLE_FEED, tuple(feed_of(simulated_shoe(house_rules(how), "logs", "test"), how)))
        await log.caught_up([RULES, SETTLEMENT])
        stop.set()
        await running


async def test_a_log_is_read_whole_and_its_inputs_come_to_its_facts(tmp_path: Path) -> None:
    path = tmp_path / "log.sqlite"
    await play(path)
    assert is_log(path)
    assert partitions_of(path) == 3
    found = audit(read_log(path), Codec().encode)
    assert (found.differences, found.pending) == ((), 0)
    assert found.facts > 50


async def test_a_log_in_use_is_not_ready(tmp_path: Path) -> None:
    path = tmp_path / "log.sqlite"
    with EmbeddedLog(path, partitions=3), pytest.raises(NotReady, match=str(path)):
        tuple(read_log(path))


def test_other_files_are_no_logs(tmp_path: Path) -> None:
    text, database = tmp_path / "some.csv", tmp_path / "some.sqlite"
    text.write_text("a,b\n")
    with sqlite3.connect(database) as connection:
        connection.execute("CREATE TABLE about (name TEXT, value TEXT)")
    connection.close()
    assert not is_log(text)
    assert not is_log(tmp_path / "nowhere")
    assert is_log(database)
    with pytest.raises(BadSettings, match="is no log of this program"):
        tuple(read_log(database))
    with pytest.raises(BadSettings, match="is no log of this program"):
        tuple(read_log(text))
