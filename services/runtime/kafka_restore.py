"""How a partition's state and its place in the inputs come back from Kafka, once the last owner is fenced.

The fold begins with the last snapshot and goes on with the facts of the own output partition; the inputs go on after
the committed positions, or after the cause of the last fact or dead letter if that is further.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, Final, Protocol

import msgspec
from aiokafka import OffsetAndMetadata, TopicPartition

from services.baccarat.errors import NotReady, Unusable
from services.baccarat.events import DEAD_LETTERS, Event
from services.runtime import kafka_client as client
from services.runtime import snapshots
from services.runtime.health import Health
from services.runtime.processor import Processor
from services.runtime.restoring import Cause, cause_of, fold, positions_after
from services.runtime.settings import Settings

LOGGER: Final = logging.getLogger(__name__)
POSITIONS_HEADER: Final = "positions"  # in a transaction's last record of each topic: where its inputs go on
NAMED_CHARACTERS: Final = 300  # of a fact's id, in the metadata of a position: 4,096 bytes are the broker's limit


class Codec(Protocol):
    def encode(self, topic: str, event: Event) -> bytes: ...

    def decode(self, topic: str, raw: bytes) -> Event: ...


Reading = Callable[[bytes | None], Awaitable[None]]  # makes a codec ready for a value of a schema it has not met


async def nothing_to_learn(_raw: bytes | None) -> None:
    """Without a registry there is nobody to ask."""


class Membership(Protocol):
    """The group's consumer, which says who owns what."""

    async def committed(self, places: list[TopicPartition]) -> Mapping[TopicPartition, OffsetAndMetadata]: ...

    async def prove(self, place: TopicPartition, position: OffsetAndMetadata) -> None:
        """Raises CommitFailedError for one that is a member no more."""


class Work(msgspec.Struct, frozen=True):
    """What all partitions of a processor share."""

    processor: Processor[Any]
    settings: Settings
    codec: Codec
    learn: Reading
    group: str
    membership: Membership
    log_id: str
    health: Health
    fault: Callable[[str], None]

    def place(self, topic: str, partition: int) -> TopicPartition:
        return TopicPartition(self.settings.topic_prefix + topic, partition)


class Memory(msgspec.Struct):
    """What a life knows: all of it can be restored."""

    states: dict[str, Any]
    positions: dict[str, int]
    last_fact: str = ""
    output_offset: int = 0  # what of the output the states are the fold of
    letters_offset: int = 0
    snapshot: int = 0  # its number
    written: dict[str, snapshots.Written] = {}
    changed: dict[str, None] = {}  # since the last snapshot, in order


async def restore(work: Work, partition: int, producer: Any) -> Memory:
    """Raises NotReady where the log does not hold what was committed, or holds what cannot be read."""
    processor = work.processor
    inputs = [work.place(topic, partition) for topic in processor.inputs]
    async with asyncio.timeout(client.PROGRESS_WITHIN_S):
        committed = await work.membership.committed(inputs)
    known = {
        topic: committed[place].offset
        for topic, place in zip(processor.inputs, inputs, strict=True)
        if place in committed
    }
    stable, whole = (client.new_consumer(work.settings, committed=c, wait_ms=client.QUICK_MS) for c in (True, False))
    try:
        await client.start(stable)
        await client.start(whole)
        await end_hanging(work, partition, producer, stable, whole, known)
        named = committed[inputs[0]].metadata if inputs[0] in committed else ""
        return await remember(work, partition, stable, whole, known, named)
    finally:
        await client.stop_consumer(stable)
        await client.stop_consumer(whole)


async def end_hanging(
    work: Work, partition: int, producer: Any, stable: Any, whole: Any, known: Mapping[str, int]
) -> None:
    """Ends what a former life left without a mark in the own topics, as it was ended elsewhere.

    A broker that starts may take partitions whose leader it has not heard of for deleted ones: it leaves out their
    marks and counts the transaction as ended. Its records would then be committed by the next transaction of the same
    producer id. Committed it was if the positions that it wrote are known; marks without records repeat that there.
    """
    snapshots_place = work.place(work.processor.snapshots, partition)
    places = [snapshots_place, work.place(work.processor.output, partition), work.place(DEAD_LETTERS, partition)]
    hidden: dict[TopicPartition, Mapping[str, int]] = {}
    for place in places:
        (_, begin), (_, end) = await client.ends_of(stable, place), await client.ends_of(whole, place)
        trail = Trail(work.processor)
        async for records in client.read_to(whole, place, begin, end):
            for record in records:
                trail.follow(record)
        if trail.causes or (place == snapshots_place and begin < end):
            hidden[place] = trail.positions
    if not hidden:
        return
    memory = await remember(work, partition, stable, stable, known, "")
    committed = was_committed(memory.positions, hidden.values())
    LOGGER.warning(
        "%s %d: %s a transaction that was left open in %s",
        work.processor.name,
        partition,
        "committing" if committed else "aborting",
        ", ".join(place.topic for place in hidden),
    )
    await client.mark(producer, hidden, commit=committed)


def was_committed(known: Mapping[str, int], hidden: Iterable[Mapping[str, int]]) -> bool:
    """Whether a transaction that wrote the `hidden` positions left them anywhere else where they can be seen.

    One that was not written whole says no positions, and was never committed.
    """
    said = [*hidden]
    return any(said) and all(known.get(topic, 0) >= place for each in said for topic, place in each.items())


async def remember(work: Work, partition: int, stable: Any, whole: Any, known: Mapping[str, int], named: str) -> Memory:
    """Snapshot, facts and dead letters, up to the ends that `whole` sees; what is hidden there is waited for."""
    processor = work.processor
    place = work.place(processor.snapshots, partition)
    how = (work.log_id, processor.state_version, processor.state_type)
    memory = remembered(await snapshots.read_back(stable, place, *how))
    trail = Trail(processor)
    await fold_output(work, stable, whole, partition, memory, trail, named)
    await read_letters(work, stable, whole, partition, memory, trail)
    where = (known, memory.positions, trail.positions)
    memory.positions = positions_after(processor, partition, where, trail.causes.values())
    return memory


class Trail:
    """How far the own records say that the inputs were taken."""

    def __init__(self, processor: Processor[Any]) -> None:
        self.causes: dict[str, Cause] = {}
        self.positions: dict[str, int] = {}
        self._processor = processor

    def follow(self, record: Any) -> bool:
        """Whether it is an own record: what anybody else wrote there steers nothing."""
        cause = cause_of(record.headers, self._processor)
        if cause is None:
            return False
        self.causes[cause.topic] = cause
        for name, value in record.headers:
            if name == POSITIONS_HEADER:
                for topic, position in msgspec.json.decode(value, type=dict[str, int]).items():
                    self.positions[topic] = max(position, self.positions.get(topic, 0))
        return True


def remembered(snapshot: snapshots.Snapshot[Any] | None) -> Memory:
    """What a snapshot alone says."""
    if snapshot is None:
        return Memory({}, {})
    manifest = snapshot.manifest
    return Memory(
        states=dict(snapshot.states),
        positions=dict(manifest.positions),
        last_fact=manifest.last_fact,
        output_offset=manifest.output_offset,
        letters_offset=manifest.letters_offset,
        snapshot=manifest.number,
        written=dict(snapshot.written),
    )


async def fold_output(
    work: Work, stable: Any, whole: Any, partition: int, memory: Memory, trail: Trail, named: str
) -> None:
    """Folds the own facts after the snapshot; the fact `named` by the committed position must be among all of them."""
    place = work.place(work.processor.output, partition)
    begin, end = await client.ends_of(whole, place)
    if begin > memory.output_offset or end < memory.output_offset:
        what = f"{place.topic} {partition} holds facts {begin} to {end}"
        raise NotReady(f"{what}, but the fold must go on at {memory.output_offset}: some are hidden or were deleted")
    seen = named in ("", memory.last_fact[:NAMED_CHARACTERS])
    async for records in client.read_to(stable, place, memory.output_offset, end):
        facts: list[Event] = []
        for record in records:
            if trail.follow(record):
                fact = await own_fact(work, place, record)
                facts.append(fact)
                seen = seen or fact.event_id[:NAMED_CHARACTERS] == named
                memory.output_offset = record.offset + 1
        if facts:
            memory.last_fact = facts[-1].event_id
            memory.states = fold(work.processor, memory.states, facts)
            memory.changed.update(dict.fromkeys(fact.table_id for fact in facts))
    if not seen:
        raise NotReady(f"{place.topic} {partition} does not show fact {named} yet, which was committed")


async def own_fact(work: Work, place: TopicPartition, record: Any) -> Event:
    try:
        await work.learn(record.value)
        return work.codec.decode(work.processor.output, record.value or b"")
    except Unusable as error:
        where = f"{place.topic} {place.partition}/{record.offset}"
        raise NotReady(f"{work.processor.name} cannot read its own fact at {where}: {error}") from error


async def read_letters(work: Work, stable: Any, whole: Any, partition: int, memory: Memory, trail: Trail) -> None:
    """A dead letter may be all that an input gave."""
    place = work.place(DEAD_LETTERS, partition)
    begin, end = await client.ends_of(whole, place)
    async for records in client.read_to(stable, place, max(begin, memory.letters_offset), end):
        for record in records:
            trail.follow(record)
        memory.letters_offset = records[-1].offset + 1
