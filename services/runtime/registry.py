"""The schemas at a registry, by Confluent's interface, under TopicRecordNameStrategy.

Every call waits for the network: from a loop, run it in a thread. Needs the extra `registry`.
"""

import asyncio
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from services.baccarat.errors import BadSettings, NotInstalled, NotReady, Unusable
from services.baccarat.events import EVENTS_OF, Event
from services.runtime.codec import Codec, schema_file, subject
from services.runtime.paths import SCHEMAS

COMPATIBILITY: Final = "FULL_TRANSITIVE"
_NO_SUCH_SCHEMA: Final = 40403  # the registry's own word; a plain 404 may be any server's at a wrong address


class Registry:
    """`topic_prefix` is what the topics at this Kafka are called before their names; ids are told without it."""

    def __init__(self, url: str, *, topic_prefix: str = "", within_s: float = 5.0, schemas: Path = SCHEMAS) -> None:
        try:
            from confluent_kafka.schema_registry import Schema, SchemaRegistryClient
        except ImportError as missing:
            raise NotInstalled('A registry needs the extra: pip install "puntobanco[registry]"') from missing
        self._as_avro = partial(Schema, schema_type="AVRO")
        self._name = _without_password(url)
        self._topic_prefix = topic_prefix
        self._schemas = schemas
        try:
            self._client = SchemaRegistryClient({"url": url, "timeout": within_s, "max.retries": 0})
        except ValueError as error:
            raise BadSettings(f"{self._name} cannot be the address of a registry: {error}") from error

    def register(self) -> Mapping[str, int]:
        """The id of every schema by its subject. Again changes nothing. Raises NotReady, also for a refused schema."""
        ids = {}
        for name, text in self._texts():
            with self._asking(f"register {name}"):
                self._client.set_compatibility(self._topic_prefix + name, COMPATIBILITY)
                ids[name] = self._client.register_schema(self._topic_prefix + name, self._as_avro(text))
        return ids

    def ids(self) -> Mapping[str, int]:
        """The same, of what is registered already. Raises NotReady where anything is missing."""
        ids: dict[str, int] = {}
        for name, text in self._texts():
            with self._asking(f"look up {name}; `punto schemas register` puts it there"):
                found = self._client.lookup_schema(self._topic_prefix + name, self._as_avro(text)).schema_id
            if found is None:
                raise NotReady(f"The registry at {self._name} gave no id for {name}")
            ids[name] = found
        return ids

    def schema(self, schema_id: int) -> str:
        """Raises Unusable where the registry says that there is none, NotReady where it says nothing."""
        try:
            with self._asking(f"fetch schema {schema_id}"):
                return self._client.get_schema(schema_id).schema_str or ""
        except NotReady as error:
            if getattr(error.__cause__, "error_code", None) != _NO_SUCH_SCHEMA:
                raise
            raise Unusable("unknown-schema", f"The registry at {self._name} has no schema {schema_id}") from error

    async def learn(self, codec: Codec, raw: bytes) -> None:
        """Asks for the schema of `raw`, once, if the codec does not know it. Raises NotReady."""
        if (schema_id := codec.missing(raw)) is None:
            return
        try:
            codec.learn(schema_id, await asyncio.to_thread(self.schema, schema_id))
        except Unusable as error:
            codec.refuse(schema_id, str(error))

    def close(self) -> None:
        self._client.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _texts(self) -> Iterator[tuple[str, str]]:
        """Subject and schema, topic by topic."""
        for topic, event_types in EVENTS_OF.items():
            for event_type in event_types:
                yield subject(topic, event_type), self._text(event_type)

    def _text(self, event_type: type[Event]) -> str:
        return (self._schemas / schema_file(event_type)).read_text(encoding="utf-8")

    @contextmanager
    def _asking(self, what: str) -> Iterator[None]:
        from confluent_kafka.schema_registry.error import SchemaRegistryError

        try:
            yield
        except SchemaRegistryError as error:
            raise NotReady(f"The registry at {self._name} did not {what}: {error}"[:500]) from error
        except Exception as error:
            raise NotReady(f"The registry at {self._name} does not answer: {error!r}"[:500]) from error


def _without_password(url: str) -> str:
    """The address as it may be shown."""
    return re.sub(r"//[^/@]*@", "//", url)
