"""A file that a command writes: whole or not at all, and nothing that is there is lost unasked."""

import os
import shutil
from pathlib import Path
from typing import Final

from services.baccarat.errors import BadSettings
from services.cli.output import NotWritten

STDOUT: Final = ("-", "/dev/stdout")


def write(name: str, text: str, *, force: bool) -> None:
    """A link stays, and what it points to is written; a device or a pipe gets the text as it comes.

    A file that is there is replaced with `force`, or where it says the same already. Raises BadSettings where it cannot
    be begun, and NotWritten where it cannot be finished.
    """
    path = Path(name)
    try:
        if path.exists() and not path.is_file():  # never replaced by a file
            _fill(path, "w", text)
        else:
            _replace(Path(os.path.realpath(path)), text, force=force)
    except OSError as error:
        raise BadSettings(f"{name}: cannot be written: {error.strerror}") from error


def _replace(path: Path, text: str, *, force: bool) -> None:
    if path.exists() and not force and path.read_bytes() != text.encode():
        raise BadSettings(f"{path}: is there already, and says something else; --force replaces it")
    beside = path.with_name(f".punto-{os.getpid()}.new")
    try:
        _fill(beside, "x", text)
        if path.exists():
            shutil.copymode(path, beside)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def _fill(path: Path, mode: str, text: str) -> None:
    """Raises OSError where it cannot be opened, NotWritten where it takes no more."""
    file = path.open(mode, encoding="utf-8", newline="\n")
    try:
        with file:
            file.write(text)
    except OSError as error:
        raise NotWritten(f"{path}: cannot be written: {error.strerror}") from error
