"""Where the demonstration keeps its logs: a folder each, and which of them is played on."""

import os
import re
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from services.baccarat.errors import BadSettings

CURRENT: Final = "current.json"


class Current(Struct, frozen=True):
    """The log that is played on; `seed` None: its shoes are shuffled by the operating system."""

    folder: str
    seed: str | None


class Chosen(Struct, frozen=True):
    """The folder of a log; `is_new`: nothing has been played in it."""

    path: Path
    is_new: bool


def choose(state_dir: Path, seed: str | None, *, fresh: bool) -> Chosen:
    """The current log, or a new one if asked for or if the current one has another seed. Raises BadSettings."""
    try:
        state_dir.mkdir(parents=True, exist_ok=True)
        current = None if fresh else read(state_dir / CURRENT)
        if current is not None and current.seed == seed and (state_dir / current.folder).is_dir():
            return Chosen(state_dir / current.folder, is_new=False)
        folder = f"log-{1 + max(numbers(state_dir), default=0)}"
        (state_dir / folder).mkdir()
        write(state_dir / CURRENT, Current(folder, seed))
        return Chosen(state_dir / folder, is_new=True)
    except OSError as error:
        text = f"{state_dir}: no log can be kept here ({error.strerror}); name another folder in PUNTO_STATE_DIR"
        raise BadSettings(text) from error


def numbers(state_dir: Path) -> list[int]:
    """Of all logs that are there."""
    found = (re.fullmatch(r"log-([0-9]+)", path.name) for path in state_dir.iterdir())
    return [int(match[1]) for match in found if match is not None]


def read(path: Path) -> Current | None:
    """None where there is none, or none that can be read: then a new log is begun, and the old ones stay."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=Current)
    except (FileNotFoundError, msgspec.DecodeError):
        return None


def write(path: Path, current: Current) -> None:
    """All of it or nothing."""
    beside = path.with_suffix(".new")
    with beside.open("wb") as file:
        file.write(msgspec.json.encode(current))
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)
