"""The recorded inputs decided again: what rules and settlement would say of them now, and where that differs.

No transactions, no restarts, no batches: `table-feed` and `bets` with their append times, the marks in place as they
lie there. A difference is a report and rewrites nothing.
"""

from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from services.baccarat.events import BETS, ROUNDS, SETTLEMENTS, TABLE_FEED, Event
from services.rules import RULES
from services.runtime.processor import Encode, Processor, Record, Written, advance
from services.settlement import SETTLEMENT

INPUTS: Final = (TABLE_FEED, BETS)
FACTS: Final = (ROUNDS, SETTLEMENTS)


class Difference(Struct, frozen=True):
    """A fact of one id as it is recorded, and as it is decided again; None where it is not there."""

    topic: str
    event_id: str
    recorded: Event | None
    decided: Event | None

    def __str__(self) -> str:
        if self.recorded is None:
            return f"{self.topic}: {self.event_id} is decided now and is not recorded"
        if self.decided is None:
            return f"{self.topic}: {self.event_id} is recorded and is not decided now"
        return f"{self.topic}: {self.event_id}: {'; '.join(fields(self.recorded, self.decided))}"


class Audit(Struct, frozen=True):
    """How many inputs and facts were recorded, and the differences, those of recorded facts first and in their order.

    `pending` facts are those of the last inputs: the log ended before they were decided.
    """

    inputs: int
    facts: int
    pending: int
    differences: tuple[Difference, ...]


Name = tuple[str, str]  # a fact's topic and id


def audit(records: Iterable[Record], encode: Encode) -> Audit:
    """Compares the recorded facts, and the marks in `bets`, with those that the recorded inputs come to now.

    Of several records in `bets` with the id of a mark the first is the mark.
    """
    recorded = tuple(record for record in records if record.topic in (*INPUTS, *FACTS))
    decided: dict[Name, Written] = {}
    for written in facts_of(recorded, encode):
        if written.topic in (*FACTS, BETS):
            decided.setdefault((written.topic, written.event.event_id), written)
    told: dict[Name, Event] = {}
    for record in recorded:
        name = (record.topic, record.event.event_id if record.event else "")
        if record.event is not None and (record.topic in FACTS or name in decided):
            told.setdefault(name, record.event)
    late = pending(decided, told)
    names = (*told, *(name for name in decided if name not in told and name not in late))
    found = (Difference(*name, told.get(name), decided[name].event if name in decided else None) for name in names)
    return Audit(
        inputs=sum(record.topic in INPUTS for record in recorded),
        facts=len(told),
        pending=len(late),
        differences=tuple(one for one in found if one.recorded != one.decided),
    )


def pending(decided: Mapping[Name, Written], told: Container[Name]) -> frozenset[Name]:
    """The facts whose causes lie after the last record of that input that is known to have been decided."""
    last: dict[tuple[str, str, int], int] = {}
    for name, written in decided.items():
        if name in told:
            place = _place(written)
            last[place] = max(last.get(place, -1), written.cause.offset)
    return frozenset(
        name
        for name, written in decided.items()
        if name not in told and written.cause.offset > last.get(_place(written), -1)
    )


def _place(written: Written) -> tuple[str, str, int]:
    """Whose input it was, for `bets` is an input of settlement while its marks are facts of rules."""
    by = SETTLEMENT.name if written.topic == SETTLEMENTS else RULES.name
    return by, written.cause.topic, written.cause.partition


def facts_of(records: Iterable[Record], encode: Encode) -> tuple[Written, ...]:
    """What rules says of the recorded feed, and settlement of that and the recorded bets; partition by partition."""
    queues: dict[int, dict[str, list[Record]]] = {}
    for record in records:
        if record.topic in INPUTS:
            queues.setdefault(record.partition, {TABLE_FEED: [], BETS: []})[record.topic].append(record)
    written: list[Written] = []
    for partition, inputs in sorted(queues.items()):
        ruled = decide(RULES, {TABLE_FEED: inputs[TABLE_FEED]}, encode)
        said = (fact for fact in ruled if fact.topic == ROUNDS)
        meant = [
            Record(ROUNDS, partition, offset, getattr(fact.event, "at_ms", 0), fact.table_id, fact.event, fact.value)
            for offset, fact in enumerate(said)
        ]
        written += ruled
        written += decide(SETTLEMENT, {ROUNDS: meant, BETS: inputs[BETS]}, encode)
    return tuple(written)


def decide(processor: Processor[Any], queues: Mapping[str, Sequence[Record]], encode: Encode) -> tuple[Written, ...]:
    """All that these records come to; what waits for a record that never came stays undecided."""
    states: dict[str, Any] = {}
    written: list[Written] = []
    begins = dict.fromkeys(queues, 0)
    while True:
        done = advance(processor, states, {topic: queue[begins[topic] :] for topic, queue in queues.items()}, encode)
        if not any(done.taken.values()):
            return tuple(written)
        states |= done.changed
        written += done.written
        for topic, taken in done.taken.items():
            begins[topic] += taken


def fields(recorded: Event, decided: Event) -> tuple[str, ...]:
    """Where two facts differ, a field each."""
    if type(recorded) is not type(decided):
        return (f"recorded as {type(recorded).__name__}, decided as {type(decided).__name__}",)
    return tuple(
        f"{name} is recorded as {getattr(recorded, name)!r} and decided as {getattr(decided, name)!r}"
        for name in recorded.__struct_fields__
        if getattr(recorded, name) != getattr(decided, name)
    )
