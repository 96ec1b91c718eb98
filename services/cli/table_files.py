"""A table file as it is read from the disk."""

from pathlib import Path
from typing import TYPE_CHECKING

from services.baccarat.errors import BadSettings

if TYPE_CHECKING:
    from services.baccarat.events import Configuration
    from services.baccarat.tables import Described


def read(path: Path) -> "Described":
    """What the file says, or what is wrong with it. Raises BadSettings where it cannot be read at all."""
    from services.baccarat import tables
    from services.runtime.gaming_day import is_zone

    try:
        text = path.read_text("utf-8-sig")
    except OSError as error:
        raise BadSettings(f"{path}: cannot be read: {error.strerror}; name a table file") from error
    except UnicodeDecodeError as error:
        raise BadSettings(f"{path}:1: is no text in UTF-8 ({error.reason}); name a table file") from error
    return tables.read(text, is_zone)


def configuration_of(path: Path) -> "Configuration":
    """What a file without faults says. Raises BadSettings with the first fault, and how many more there are."""
    found = read(path)
    if found.configuration is None:
        first, *others = found.faults
        more = f" ({len(others)} more: punto tables check {path})" if others else ""
        raise BadSettings(f"{path}:{first.line}: {first.text}{more}")
    return found.configuration
