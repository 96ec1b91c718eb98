"""Raw log records made into records that a decider can take, and the partition in which a table lives.

Whatever cannot be used becomes a record with a problem code, never an exception: what it does to its table is the
processor's to say.
"""

from functools import lru_cache
from typing import Final, Protocol

from services.baccarat.errors import Unusable
from services.baccarat.events import DEAD_LETTERS, Event
from services.runtime.processor import WRONG_PARTITION, Record

WRONG_KEY: Final = "wrong-key"
NO_APPEND_TIME: Final = "no-append-time"
FOREIGN: Final = "foreign-writer"
NO_VALUE: Final = "no-value"

_SEED: Final = 0x9747B28C
_FACTOR: Final = 0x5BD1E995
_UINT32: Final = 0xFFFF_FFFF


class Decoder(Protocol):
    def decode(self, topic: str, raw: bytes) -> Event:
        """Raises Unusable."""


def murmur2(key: bytes) -> int:
    """Kafka's hash of a key as its Java client counts it, without sign."""
    whole = len(key) - len(key) % 4
    mixed = (_SEED ^ len(key)) & _UINT32
    for place in range(0, whole, 4):
        word = int.from_bytes(key[place : place + 4], "little") * _FACTOR & _UINT32
        word = (word ^ word >> 24) * _FACTOR & _UINT32
        mixed = mixed * _FACTOR & _UINT32 ^ word
    if tail := key[whole:]:
        mixed = (mixed ^ int.from_bytes(tail, "little")) * _FACTOR & _UINT32
    mixed = (mixed ^ mixed >> 13) * _FACTOR & _UINT32
    return mixed ^ mixed >> 15


@lru_cache(maxsize=65_536)
def partition_of(table_id: str, partitions: int) -> int:
    """Kafka's Java default; librdkafka agrees with `partitioner=murmur2_random`."""
    return (murmur2(table_id.encode()) & 0x7FFF_FFFF) % partitions


def read_record(
    codec: Decoder,
    topic: str,
    partition: int,
    partitions: int,
    offset: int,
    timestamp_ms: int,
    log_append_time: bool,  # noqa: FBT001 - as Kafka tells it
    key: bytes | None,
    value: bytes | None,
    *,
    foreign: bool = False,
) -> Record:
    """A fact's time is the one inside it, any other record's its append time; `event` is None where a problem is.

    `foreign`: another than the one who alone writes this topic wrote it.
    """
    table_id = table_of(key)
    raw = value or b""
    event, problem, text = None, "", ""
    if topic != DEAD_LETTERS and not lives_in(table_id, partition, partitions):
        problem, text = WRONG_PARTITION, f"no table called {table_id[:200]!r} lives in partition {partition}"
    elif foreign:
        problem, text = FOREIGN, f"only one processor writes {topic}, and it did not write this"
    elif value is None:
        problem, text = NO_VALUE, "the record has no value"
    else:
        try:
            event = codec.decode(topic, value)
        except Unusable as error:
            problem, text = error.code, str(error)
    if event is None:
        return Record(topic, partition, offset, timestamp_ms, table_id, None, raw, problem, text)
    at_ms = getattr(event, "at_ms", None)
    if topic != DEAD_LETTERS and event.table_id != table_id:
        problem, text = WRONG_KEY, f"the key names table {table_id!r}, the value {event.table_id[:200]!r}"
    elif at_ms is None and not log_append_time:
        problem, text = NO_APPEND_TIME, "the time of this record was set by its sender, not by the log"
    at_ms = timestamp_ms if at_ms is None or problem else at_ms
    return Record(topic, partition, offset, at_ms, table_id, None if problem else event, raw, problem, text)


def table_of(key: bytes | None) -> str:
    """The key as text; bytes that are no UTF-8 are written as escapes with a slash, which no table's name holds."""
    try:
        return (key or b"").decode()
    except UnicodeDecodeError:
        return f"bytes/{(key or b'').hex()}"


def lives_in(table_id: str, partition: int, partitions: int) -> bool:
    """Whether this can be a table's name (1 to 200 characters without a slash), and the partition is its own."""
    named = 0 < len(table_id) <= 200 and "/" not in table_id
    return named and partition_of(table_id, partitions) == partition
