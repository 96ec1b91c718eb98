"""A log of the embedded runtime, read to its end."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Final

from services.baccarat.errors import BadSettings, NotReady
from services.baccarat.events import BETS, ROUNDS, SETTLEMENTS, TABLE_FEED
from services.runtime.embedded import EmbeddedLog
from services.runtime.processor import Record

MAGIC: Final = b"SQLite format 3\0"
TOPICS: Final = (TABLE_FEED, BETS, ROUNDS, SETTLEMENTS)


def is_log(path: Path) -> bool:
    """Whether the file is a SQLite file; False where there is no such file to read."""
    try:
        with path.open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


def read_log(path: Path) -> Iterator[Record]:
    """Each partition in order. Raises BadSettings if the file is no log, and NotReady while somebody runs it."""
    with EmbeddedLog(path, partitions_of(path)) as log:
        positions = {(topic, partition): 0 for topic in TOPICS for partition in range(log.partitions)}
        while records := log.read(positions):
            yield from records


def holder_of(path: Path) -> str:
    """The process that runs the log, as it wrote itself down: its number and command; empty where it has not."""
    try:
        return path.with_name(path.name + ".lock").read_text(errors="replace").strip()
    except OSError:
        return ""


def partitions_of(path: Path) -> int:
    """How many partitions the log was made with."""
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=0)) as connection:
            (found,) = connection.execute("SELECT value FROM about WHERE name = 'partitions'").fetchone()
    except (sqlite3.DatabaseError, TypeError) as error:
        if getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_BUSY:
            raise NotReady(f"{path} is in use by process {holder_of(path) or 'unknown'}; stop it first") from error
        raise BadSettings(f"{path}: this SQLite file is no log of this program ({error})") from error
    return int(found)
