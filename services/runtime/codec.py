"""Events to bytes by the schemas in `schemas/`, and back; states of deciders likewise, by their own declarations.

A `Codec` without ids writes Avro's single-object encoding, which names the schema by a fingerprint; one with the ids of
a registry writes the Confluent frame, which names it by number. Every codec reads both, and every released version of
a schema is read as the newest.
"""

import json
import re
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any, Final, TypeVar

from fastavro import parse_schema, schemaless_reader, schemaless_writer
from fastavro.schema import fingerprint, to_parsing_canonical_form
from msgspec import Struct, msgpack

from services.baccarat.errors import NotReady, Unfit, Unusable
from services.baccarat.events import EVENTS_OF, Event, malformed
from services.runtime.compatibility import differences, load
from services.runtime.paths import SCHEMAS
from services.runtime.shapes import NAMESPACE, Convert, shape

S = TypeVar("S", bound=Struct)

LIMIT_BYTES: Final = 900_000  # of an encoded event: below what a broker takes by default, with room for headers
REFUSALS_KEPT: Final = 10_000
DIGEST_BYTES: Final = 8  # of a state's declaration, and of its content
_SINGLE_OBJECT: Final = b"\xc3\x01"
_CONFLUENT: Final = b"\x00"
_IDLE_PROPERTIES: Final = ("logicalType", "unit", "doc")  # say what a number means, not how it is written


class Kind(Struct, frozen=True, eq=False):
    """One event type: its newest schema as it is filed and as it is used, its frame, and the way to plain and back."""

    event_type: type[Event]
    filed: Any
    schema: dict[str, Any]
    frame: bytes
    write: Convert
    read: Convert


class Version(Struct, frozen=True, eq=False):
    """A schema that something was written by; `newest` is what it is read as, None where it is the newest itself."""

    kind: Kind
    written: dict[str, Any]
    newest: dict[str, Any] | None = None


class Codec:
    """`ids` are a registry's, by subject (see `subject`); `limit_bytes` is for one event with its frame."""

    def __init__(
        self, ids: Mapping[str, int] | None = None, *, limit_bytes: int = LIMIT_BYTES, schemas: Path = SCHEMAS
    ) -> None:
        self._limit_bytes = limit_bytes
        self._with_registry = ids is not None
        self._versions = dict(versions(schemas))
        self._useless: dict[bytes, str] = {}
        kinds = kinds_of(schemas)
        self._frames = {
            (topic, event_type): (frame(kinds[event_type], topic, ids), kinds[event_type])
            for topic, event_types in EVENTS_OF.items()
            for event_type in event_types
        }
        self._topics = {topic: frozenset(event_types) for topic, event_types in EVENTS_OF.items()}
        for (_, event_type), (head, _) in self._frames.items():
            self._versions[head] = Version(kinds[event_type], kinds[event_type].schema)

    def encode(self, topic: str, event: Event) -> bytes:
        """Raises Unfit: `too-large`, or `cannot-encode` for a type of another topic or a value of another type."""
        try:
            head, kind = self._frames[topic, type(event)]
        except KeyError:
            raise Unfit("cannot-encode", f"{type(event).__name__} does not belong to {topic}") from None
        stream = BytesIO()
        stream.write(head)
        try:
            schemaless_writer(stream, kind.schema, kind.write(event))
        except Exception as error:
            raise Unfit("cannot-encode", f"{type(event).__name__} cannot be encoded: {error!r}"[:500]) from error
        if (size := stream.tell()) > self._limit_bytes:
            raise Unfit("too-large", f"{type(event).__name__} has {size} bytes, more than {self._limit_bytes}")
        return stream.getvalue()

    def decode(self, topic: str, raw: bytes) -> Event:
        """Raises Unusable: `undecodable`, `unknown-schema`, `trailing-bytes`, `wrong-topic` or `malformed`.

        Raises NotReady for a number that nobody asked the registry about yet (see `missing`).
        """
        head = frame_of(raw)
        if (version := self._versions.get(head)) is None:
            raise self._unknown(head)
        kind = version.kind
        if kind.event_type not in self._topics.get(topic, ()):
            raise Unusable("wrong-topic", f"{kind.event_type.__name__} does not belong to {topic}")
        stream = BytesIO(raw)
        stream.seek(len(head))
        event: Event
        try:
            event = kind.read(schemaless_reader(stream, version.written, version.newest, return_record_name=True))
        except Exception as error:
            what = f"Not a {kind.event_type.__name__} by its schema: {error!r}"[:500]
            raise Unusable("undecodable", what) from error
        if (rest := len(raw) - stream.tell()) != 0:
            raise Unusable("trailing-bytes", f"{rest} bytes after the end of a {kind.event_type.__name__}")
        if why := malformed(event):
            raise Unusable("malformed", why)
        return event

    def missing(self, raw: bytes) -> int | None:
        """The number of a schema that the registry must be asked for before `raw` can be decoded; None for none."""
        if not self._with_registry or raw[:1] != _CONFLUENT or len(raw) < 5:
            return None
        head = raw[:5]
        return None if head in self._versions or head in self._useless else number(head)

    def learn(self, schema_id: int, schema: str) -> None:
        """What the registry keeps under a number. One that no event can be read by makes its records Unusable."""
        head = _CONFLUENT + schema_id.to_bytes(4, "big")
        try:
            self._versions[head] = foreign(json.loads(schema), self._kinds_by_name())
        except Exception as error:  # noqa: BLE001 - it came from outside: whatever is wrong with it
            self.refuse(schema_id, f"{error}")

    def refuse(self, schema_id: int, why: str) -> None:
        """No record under this number can be used."""
        if len(self._useless) >= REFUSALS_KEPT:  # numbers out of broken records, which could be any
            self._useless.clear()
        self._useless[_CONFLUENT + schema_id.to_bytes(4, "big")] = why[:500]

    def _kinds_by_name(self) -> dict[str, Kind]:
        return {full_name(kind.event_type): kind for _, kind in self._frames.values()}

    def _unknown(self, head: bytes) -> Exception:
        if not head:
            return Unusable("undecodable", "Neither Avro's single-object encoding nor a Confluent frame")
        if (why := self._useless.get(head)) is not None:
            return Unusable("unknown-schema", f"Schema {number(head)} of the registry is of no use: {why}")
        if head[:1] == _CONFLUENT and self._with_registry:
            return NotReady(f"The registry has not been asked for schema {number(head)} yet")
        name = number(head) if head[:1] == _CONFLUENT else head[2:].hex()
        return Unusable("unknown-schema", f"No released version of any schema is known as {name}")


def frame_of(raw: bytes) -> bytes:
    """The bytes that name the schema; empty where there are none."""
    if raw[:2] == _SINGLE_OBJECT and len(raw) >= 10:
        return raw[:10]
    if raw[:1] == _CONFLUENT and len(raw) >= 5:
        return raw[:5]
    return b""


def frame(kind: Kind, topic: str, ids: Mapping[str, int] | None) -> bytes:
    """What stands before an event of this kind in this topic. Raises NotReady where `ids` lacks it."""
    if ids is None:
        return kind.frame
    name = subject(topic, kind.event_type)
    if name not in ids:
        raise NotReady(f"The registry has no id for {name}: run `punto schemas register`")
    return _CONFLUENT + ids[name].to_bytes(4, "big")


def number(head: bytes) -> int:
    return int.from_bytes(head[1:], "big")


def single_object(schema: dict[str, Any]) -> bytes:
    """The fingerprint leaves fastavro low byte first, as the encoding wants it."""
    return _SINGLE_OBJECT + bytes.fromhex(fingerprint(to_parsing_canonical_form(schema), "CRC-64-AVRO"))


def subject(topic: str, event_type: type[Event]) -> str:
    """Confluent's TopicRecordNameStrategy."""
    return f"{topic}-{full_name(event_type)}"


def full_name(event_type: type[Event]) -> str:
    return f"{NAMESPACE}.{event_type.__name__}"


def schema_file(event_type: type[Event]) -> str:
    """`BetPlaced` is described in `bet_placed.avsc`."""
    return re.sub(r"(?<=.)(?=[A-Z])", "_", event_type.__name__).lower() + ".avsc"


@cache
def kinds_of(schemas: Path) -> Mapping[type[Event], Kind]:
    """Every event type with its newest schema."""
    return {
        event_type: kind_of(event_type, schemas) for event_types in EVENTS_OF.values() for event_type in event_types
    }


def kind_of(event_type: type[Event], schemas: Path) -> Kind:
    filed = load(schemas / schema_file(event_type))
    schema = parsed(filed)
    form = shape(event_type)
    return Kind(event_type, filed, schema, single_object(schema), form.to_plain, form.from_plain)


@cache
def versions(schemas: Path) -> Mapping[bytes, Version]:
    """Every version of every schema, newest or released, by its single-object frame."""
    known: dict[bytes, Version] = {}
    for kind in kinds_of(schemas).values():
        for path in sorted((schemas / "released").glob(f"*/{schema_file(kind.event_type)}")):
            written = parsed(load(path))
            known[single_object(written)] = Version(kind, written, kind.schema)
    for kind in kinds_of(schemas).values():
        known[kind.frame] = Version(kind, kind.schema)
    return known


def foreign(schema: Any, kinds: Mapping[str, Kind]) -> Version:
    """A version that is not in this checkout, such as one of a newer build. Raises an exception of any kind."""
    written = parsed(schema)
    kind = kinds[written["name"]]
    if why := differences(schema, kind.filed):
        raise ValueError("; ".join(f"{field} {what}" for field, what in why))
    return Version(kind, written, kind.schema)


def parsed(schema: Any) -> dict[str, Any]:
    """For fastavro, less what only people and checks read: times stay whole numbers."""
    result = parse_schema(bare(schema))
    if not isinstance(result, dict):
        raise TypeError("A schema of an event is a record")
    return result


def bare(schema: Any) -> Any:
    if isinstance(schema, list):
        return [bare(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {
        key: value if key == "default" else bare(value) for key, value in schema.items() if key not in _IDLE_PROPERTIES
    }
    return kept["type"] if kept.keys() == {"type"} else kept


# ---------------------------------------------------------------- states, for snapshots


def encode_state(state: Struct) -> bytes:
    """Begins with a digest of the declaration, so that a state of another shape is never taken for this one.

    Then comes one of the content: a disk that turned a bit must not turn a stake.

    Raises Unfit for a value that is not what its declaration says.
    """
    form = shape(type(state), wide=True)
    try:
        content = msgpack.encode(form.to_plain(state))
    except Exception as error:
        raise Unfit("cannot-encode", f"{type(state).__name__} cannot be encoded: {error!r}"[:500]) from error
    return digest(form.text) + sha256(content).digest()[:DIGEST_BYTES] + content


def decode_state(raw: bytes, state_type: type[S]) -> S:
    """Raises Unusable: `unknown-schema` where the declaration has changed since, `undecodable` for anything else."""
    form = shape(state_type, wide=True)
    if raw[:DIGEST_BYTES] != digest(form.text):
        raise Unusable("unknown-schema", f"Not a {state_type.__name__} as it is declared now")
    written, content = raw[DIGEST_BYTES : 2 * DIGEST_BYTES], raw[2 * DIGEST_BYTES :]
    if written != sha256(content).digest()[:DIGEST_BYTES]:
        raise Unusable("undecodable", f"Not the {state_type.__name__} that was written")
    state: S
    try:
        state = form.from_plain(msgpack.decode(content))
    except Exception as error:
        raise Unusable("undecodable", f"Not a {state_type.__name__}: {error!r}"[:500]) from error
    return state


@cache
def digest(text: str) -> bytes:
    return sha256(text.encode()).digest()[:DIGEST_BYTES]
