"""Snapshots of a partition's states in the processor's compacted topic: a cache, which may be deleted at any time.

A snapshot is one transaction: the states that changed, each in chunks, and then the manifest, which says where the
fold of the output goes on. Tables that did not change keep the chunks of an earlier snapshot, and are written again
after some snapshots, so that reading back always begins a short way before the end.
"""

from collections.abc import Mapping
from typing import Any, Final, Generic, TypeVar

import msgspec
from aiokafka import TopicPartition

from services.baccarat.errors import Unusable
from services.runtime.codec import decode_state
from services.runtime.kafka_client import Message, ends_of, read_to
from services.runtime.restoring import Manifest

S = TypeVar("S", bound=msgspec.Struct)

MANIFEST_KEY: Final = b"manifest"  # a chunk's key holds a slash, so that no table can be called this
CHUNK_BYTES: Final = 500_000
REWRITTEN_AFTER: Final = 20  # snapshots without a change


class KafkaManifest(Manifest, frozen=True, kw_only=True):
    """`number` counts a partition's snapshots; `first_offset` is where the oldest chunk that counts begins.

    `log_id` is the output's own, `letters_offset` the place in the dead letters, `last_fact` the output's last id.
    """

    log_id: str
    number: int
    first_offset: int
    letters_offset: int
    last_fact: str


class Written(msgspec.Struct, frozen=True):
    """Where a table's chunks begin, and in which snapshot they were written."""

    offset: int
    number: int


class Snapshot(msgspec.Struct, Generic[S], frozen=True):
    """What was read back: the states that the fold begins with."""

    manifest: KafkaManifest
    states: Mapping[str, S]
    written: Mapping[str, Written]


def chunks(table_id: str, state: bytes, number: int) -> list[Message]:
    """A state in pieces that any broker takes, in order."""
    pieces = [state[at : at + CHUNK_BYTES] for at in range(0, len(state), CHUNK_BYTES)] or [b""]
    return [
        Message(
            f"{table_id}/{place}".encode(),
            piece,
            [("snapshot", str(number).encode()), ("chunk", f"{place}/{len(pieces)}".encode())],
        )
        for place, piece in enumerate(pieces)
    ]


def manifest_message(manifest: KafkaManifest) -> Message:
    return Message(MANIFEST_KEY, msgspec.json.encode(manifest), [])


def due(
    states: Mapping[str, Any], changed: Mapping[str, None], written: Mapping[str, Written], number: int
) -> list[str]:
    """The tables that snapshot `number` writes: the changed ones, and those last written long ago."""
    return [
        table_id
        for table_id in states
        if table_id in changed or table_id not in written or number - written[table_id].number >= REWRITTEN_AFTER
    ]


async def read_back(
    consumer: Any, place: TopicPartition, log_id: str, state_version: int, state_type: type[S]
) -> Snapshot[S] | None:
    """The newest snapshot; None where there is none, or none that can be used with this log and this build."""
    begin, end = await ends_of(consumer, place)
    found = await last_manifest(consumer, place, begin, end)
    if found is None:
        return None
    manifest, manifest_offset = found
    if manifest.log_id != log_id or manifest.state_version != state_version or manifest.first_offset < begin:
        return None
    pieces = Pieces()
    async for records in read_to(consumer, place, manifest.first_offset, manifest_offset):
        for record in records:
            pieces.take(record)
    if len(pieces.whole) != manifest.tables:
        return None
    try:
        states = {table_id: decode_state(b"".join(parts), state_type) for table_id, parts in pieces.whole.items()}
    except Unusable:
        return None
    return Snapshot(manifest, states, pieces.written)


async def last_manifest(consumer: Any, place: TopicPartition, begin: int, end: int) -> tuple[KafkaManifest, int] | None:
    """With its offset. It is searched from the end backwards, in ever larger steps."""
    back = 16
    while True:
        start = max(begin, end - back)
        found = None
        async for records in read_to(consumer, place, start, end):
            for record in records:
                if record.key == MANIFEST_KEY:
                    found = (record.value, record.offset)
        if found is not None:
            return manifest_of(found[0]), found[1]
        if start == begin:
            return None
        back *= 16


def manifest_of(value: bytes) -> KafkaManifest:
    """One that this build cannot read is as good as one of another version."""
    try:
        return msgspec.json.decode(value, type=KafkaManifest)
    except msgspec.DecodeError:
        return KafkaManifest(
            state_version=-1,
            output_offset=0,
            tables=0,
            positions={},
            log_id="",
            number=0,
            first_offset=0,
            letters_offset=0,
            last_fact="",
        )


class Pieces:
    """Puts chunks together; of a table that was written twice the later one counts."""

    def __init__(self) -> None:
        self.whole: dict[str, list[bytes]] = {}
        self.written: dict[str, Written] = {}
        self._parts: dict[str, list[bytes]] = {}
        self._begun: dict[str, Written] = {}

    def take(self, record: Any) -> None:
        if record.key == MANIFEST_KEY:
            return
        carried = dict(record.headers)
        table_id = record.key.decode().rpartition("/")[0]
        number = int(carried["snapshot"])
        place, count = (int(part) for part in carried["chunk"].split(b"/"))
        if place == 0:
            self._parts[table_id] = []
            self._begun[table_id] = Written(record.offset, number)
        parts = self._parts.get(table_id)
        if parts is None or len(parts) != place or self._begun[table_id].number != number:
            return  # the tail of an older snapshot, whose beginning was compacted away
        parts.append(record.value)
        if len(parts) == count:
            self.whole[table_id] = parts
            self.written[table_id] = self._begun[table_id]
