"""How a processor's state and its place in the inputs come back: pure, and the same for Kafka and embedded.

The state is the fold of the processor's own facts, after a snapshot if there is one. Every fact and dead letter
carries in its headers which record caused it: the input goes on after the last of them, or after the committed
position if that is further.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, TypeVar

from msgspec import Struct

from services.baccarat.events import Event
from services.runtime.processor import Processor, Record, state_of

S = TypeVar("S")

CAUSE_HEADER: Final = "cause"  # topic/partition/offset of the record that made the fact
BY_HEADER: Final = "by"  # the processor's name
_CAUSE: Final = re.compile(rb"([\x21-\x2e\x30-\x7e]+)/(\d{1,9})/(\d{1,18})")


class Cause(Struct, frozen=True):
    """Which record of which partition made a fact."""

    topic: str
    partition: int
    offset: int


class Manifest(Struct, frozen=True):
    """What a partition's snapshots hold: `tables` states that are the fold of the output before `output_offset`.

    `positions` are the inputs' next offsets at that moment, by topic.
    """

    state_version: int
    output_offset: int
    tables: int
    positions: Mapping[str, int]


def headers(processor: Processor[Any], record: Record) -> list[tuple[str, bytes]]:
    """What every fact and dead letter carries besides its value."""
    cause = f"{record.topic}/{record.partition}/{record.offset}"
    return [(CAUSE_HEADER, cause.encode()), (BY_HEADER, processor.name.encode())]


def cause_of(carried: Iterable[tuple[str, bytes]], processor: Processor[Any]) -> Cause | None:
    """The record that made this fact; None if it was not this processor that wrote it."""
    named = dict(carried)
    match = _CAUSE.fullmatch(named.get(CAUSE_HEADER, b""))
    if match is None or named.get(BY_HEADER) != processor.name.encode():
        return None
    topic, partition, offset = match.groups()
    return Cause(topic.decode(), int(partition), int(offset))


def is_foreign(processor: Processor[Any], topic: str, carried: Iterable[tuple[str, bytes]]) -> bool:
    """Whether somebody else wrote this record of an input that one processor alone writes."""
    writer = processor.writers.get(topic)
    return writer is not None and dict(carried).get(BY_HEADER) != writer.encode()


def fold(processor: Processor[S], states: Mapping[str, S], facts: Iterable[Event]) -> dict[str, S]:
    """The states after these facts of the processor's output, in their order."""
    folded = dict(states)
    for fact in facts:
        folded[fact.table_id] = processor.evolve(state_of(processor, fact.table_id, folded), fact)
    return folded


def positions_after(
    processor: Processor[Any], partition: int, known: Iterable[Mapping[str, int]], causes: Iterable[Cause]
) -> dict[str, int]:
    """Where to read each input on: the furthest of the `known` positions and the causes of facts and dead letters.

    A record that gave neither fact nor dead letter changed nothing: to read it again is harmless.
    """
    positions = dict.fromkeys(processor.inputs, 0)
    for place in known:
        for topic in processor.inputs:
            positions[topic] = max(positions[topic], place.get(topic, 0))
    for cause in causes:
        if cause.partition == partition and cause.topic in positions:
            positions[cause.topic] = max(positions[cause.topic], cause.offset + 1)
    return positions
