"""Which day a table counts a moment to: houses begin the day when the night's play ends, and by their own clocks."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError


def is_zone(name: str) -> bool:
    """Whether this machine knows a time zone by this name."""
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return False
    return True


def gaming_day(at_ms: int, starts_at: str, zone: str) -> str:
    """The gaming day of a moment, `2026-03-29`: it begins when the clocks of `zone` show `starts_at`, `06:00`.

    Where a change of clocks leaves that time out or shows it twice, the day begins once, by the wall clock.
    """
    hours, minutes = starts_at.split(":")
    local = datetime.fromtimestamp(at_ms / 1000, UTC).astimezone(ZoneInfo(zone)).replace(tzinfo=None)
    return (local - timedelta(hours=int(hours), minutes=int(minutes))).date().isoformat()
