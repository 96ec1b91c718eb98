"""Where the demonstration keeps its logs: a folder each, and which of them is played on.

A log has a note of its seed, so that each seed, and no seed, goes on with its own. Another note names the log that was
started last: the one that a command means which is given the folder of them all.
"""

import os
import re
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from services.baccarat.errors import BadSettings

CURRENT: Final = "current.json"
SEED: Final = "seed.json"


class Current(Struct, frozen=True):
    """A log; `seed` None: its shoes are shuffled by the operating system."""

    folder: str
    seed: str | None


class Chosen(Struct, frozen=True):
    """The folder of a log; `is_new`: nothing has been played in it. `remark`: a sentence worth saying, or empty."""

    path: Path
    is_new: bool
    remark: str = ""


def choose(state_dir: Path, seed: str | None, *, fresh: bool) -> Chosen:
    """The newest log with this seed, or a new one if there is none or a fresh one is asked for. Raises BadSettings."""
    try:
        state_dir.mkdir(parents=True, exist_ok=True)
        remark = "" if fresh else remark_on(state_dir)
        found = None if fresh else newest(state_dir, seed)
        path = found or begin(state_dir, seed)
        keep_seed(state_dir)
        write(state_dir / CURRENT, Current(path.name, seed))
        return Chosen(path, is_new=found is None, remark=remark if found else "")
    except OSError as error:
        text = f"{state_dir}: no log can be kept here ({error.strerror}); name another folder in PUNTO_STATE_DIR"
        raise BadSettings(text) from error


def newest(state_dir: Path, seed: str | None) -> Path | None:
    """The log that was begun last with this seed."""
    logs = (state_dir / f"log-{number}" for number in sorted(numbers(state_dir), reverse=True))
    return next((path for path in logs if seed_of(path) == seed), None)


def seed_of(path: Path) -> str | None:
    """By the log's own note; a log of a release that kept none has the seed of the other note, if that names it."""
    note = read(path / SEED) or read(path.parent / CURRENT)
    return note.seed if note is not None and note.folder == path.name else None


def keep_seed(state_dir: Path) -> None:
    """Gives the log that was started last its own note, before the note that says its seed names another."""
    current = read(state_dir / CURRENT)
    if current is not None and (log := state_dir / current.folder).is_dir() and not (log / SEED).exists():
        write(log / SEED, current)


def begin(state_dir: Path, seed: str | None) -> Path:
    """A new log with its note; one that was not begun whole has no name of a log."""
    folder = f"log-{1 + max(numbers(state_dir), default=0)}"
    whole, beside = state_dir / folder, state_dir / f"{folder}.new"
    beside.mkdir(exist_ok=True)
    write(beside / SEED, Current(folder, seed))
    beside.rename(whole)
    return whole


def last_started(state_dir: Path) -> Path | None:
    """The log that was started last; where no note says which, the newest."""
    current = read(state_dir / CURRENT)
    if current is not None and (state_dir / current.folder).is_dir():
        return state_dir / current.folder
    found = numbers(state_dir) if state_dir.is_dir() else []
    return state_dir / f"log-{max(found)}" if found else None


def remark_on(state_dir: Path) -> str:
    """Says that the note of what was started last is damaged."""
    path = state_dir / CURRENT
    current = read(path)
    if not path.exists() or (current is not None and (state_dir / current.folder).is_dir()):
        return ""
    return f"{path} cannot be used; this is the newest log there is."


def numbers(state_dir: Path) -> list[int]:
    """Of all logs that are there."""
    found = (re.fullmatch(r"log-([0-9]+)", path.name) for path in state_dir.iterdir())
    return [int(match[1]) for match in found if match is not None]


def read(path: Path) -> Current | None:
    """None where there is none, or none that can be read."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=Current)
    except (FileNotFoundError, msgspec.DecodeError, UnicodeDecodeError):
        return None


def write(path: Path, current: Current) -> None:
    """All of it or nothing."""
    beside = path.with_suffix(".new")
    with beside.open("wb") as file:
        file.write(msgspec.json.encode(current))
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)
