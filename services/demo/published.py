"""The configurations of a table as its log has them: those that rules took, and those that wait for their answer."""

from msgspec import Struct
from msgspec.structs import replace

from services.baccarat.events import (
    Configuration,
    ConfigurationReceived,
    Event,
    IrregularityFound,
    RulesInForce,
    TableConfigured,
    TableMoved,
    cause_id,
)

# What rules say of a configuration that they do not take.
REFUSALS = frozenset(("configuration-refused", "configuration-conflict"))


class Published(Struct, frozen=True):
    """`taken` is the newest that rules took; `sent` all on `table-feed`; `refused` the cause ids that rules refused."""

    version: int = 0
    taken: Configuration | None = None
    sent: tuple[TableConfigured | TableMoved, ...] = ()
    refused: frozenset[str] = frozenset()

    @property
    def last_sent(self) -> int:
        """The highest version on `table-feed`, whatever came of it; 0 for none."""
        return max((one.version for one in self.sent), default=0)

    @property
    def next_version(self) -> int:
        return max(self.version, self.last_sent) + 1


def published(known: Published, event: Event) -> Published:
    """Folds a record of `rounds` or of `table-feed`, which come in any order between the two."""
    match event:
        case RulesInForce() | ConfigurationReceived() if event.version >= known.version:
            return replace(known, version=event.version, taken=event.configuration)
        case TableConfigured() | TableMoved():
            return replace(known, sent=(*known.sent, event))
        case IrregularityFound() if event.code in REFUSALS:
            return replace(known, refused=known.refused | {event.cause_id})
        case _:
            return known


def newest(known: Published) -> tuple[int, Configuration | None]:
    """What the table plays, or will once rules have answered: its version and the configuration; 0 and None for none.

    Of two that were sent under one version rules take the first.
    """
    waiting = [one for one in not_refused(known) if one.version > known.version]
    if not waiting:
        return known.version, known.taken
    last = max(waiting, key=lambda one: one.version)
    return last.version, last.configuration


def written_by(known: Published, who: str) -> TableConfigured | None:
    """The last that this one sent."""
    return next((one for one in reversed(known.sent) if isinstance(one, TableConfigured) and one.by == who), None)


def is_all_by(known: Published, who: str) -> bool:
    """Whether nobody else has sent any that rules took or may take; false where what was sent is no longer there."""
    sent = not_refused(known)
    return bool(sent) and all(isinstance(one, TableConfigured) and one.by == who for one in sent)


def not_refused(known: Published) -> list[TableConfigured | TableMoved]:
    return [one for one in known.sent if cause_id(one) not in known.refused]
