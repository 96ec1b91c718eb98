"""A table as pages see it: one view per source topic, so that the two commute."""

from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any, Final

import msgspec
from msgspec import Struct

from services.baccarat.events import ROUNDS, SETTLEMENTS, Event
from services.dashboard.rounds_view import RoundsView, fold_rounds
from services.dashboard.settlements_view import SettlementsView, fold_settlements

View = RoundsView | SettlementsView


class Source(Struct, frozen=True):
    """A topic that is shown: the view of a table of which nothing was heard, and the fold."""

    start: View
    fold: Callable[[Any, Event], View]


SOURCES: Final[Mapping[str, Source]] = {
    ROUNDS: Source(RoundsView(), fold_rounds),
    SETTLEMENTS: Source(SettlementsView(), fold_settlements),
}


def shape() -> str:
    """A short name that differs whenever views have other fields: what is stored under another is no good."""
    schema = msgspec.json.schema_components([type(source.start) for source in SOURCES.values()])
    return sha256(msgspec.json.encode(schema)).hexdigest()[:8]


def changes(before: View, after: View) -> dict[str, Any]:
    """The fields of a view that differ, with their new values: laid over the old view they give the new one."""
    return {
        name: new
        for name in after.__struct_fields__
        if (new := getattr(after, name)) is not (old := getattr(before, name)) and new != old
    }
