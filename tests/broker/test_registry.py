"""Schemas at a real registry."""

import asyncio
import http.server
import json
import sys
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from shutil import copytree
from typing import ClassVar

import msgspec
import pytest

from services.baccarat.errors import BadSettings, NotReady, Unusable
from services.baccarat.events import BETS, EVENTS_OF, BetPlaced
from services.runtime.codec import Codec, subject
from services.runtime.paths import SCHEMAS
from services.runtime.registry import Registry
from tests.runtime.release_1 import WRITTEN

BET = BetPlaced(
    event_id="b",
    table_id="T1",
    bet_id="b",
    customer_id="c",
    shoe_no=1,
    round_no=1,
    bet="tie",
    stake_minor=5,
    currency="EUR",
)


@pytest.fixture
def schemas(registry: str, prefix: str) -> Iterator[Registry]:
    with Registry(registry, topic_prefix=prefix) as client:
        yield client


def test_every_subject_gets_an_id_and_keeps_it(schemas: Registry) -> None:
    ids = schemas.register()
    assert ids.keys() == {subject(topic, each) for topic, events in EVENTS_OF.items() for each in events}
    assert schemas.register() == ids
    assert schemas.ids() == ids


def test_ids_of_what_is_not_registered_are_not_ready(schemas: Registry) -> None:
    with pytest.raises(NotReady, match="punto schemas register"):
        schemas.ids()


def test_what_is_written_under_ids_is_read_by_one_who_asks_the_registry(schemas: Registry) -> None:
    ids = schemas.register()
    writer = Codec(ids)
    reader = Codec({name: 10**9 + number for number, name in enumerate(ids)})  # knows none of these numbers
    for topic, event, _ in WRITTEN:
        raw = writer.encode(topic, event)
        with pytest.raises(NotReady):
            reader.decode(topic, raw)
        asyncio.run(schemas.learn(reader, raw))
        assert reader.decode(topic, raw) == event


def test_confluents_own_deserializer_reads_it(schemas: Registry, registry: str) -> None:
    from confluent_kafka.schema_registry import SchemaRegistryClient, record_subject_name_strategy
    from confluent_kafka.schema_registry.avro import AvroDeserializer
    from confluent_kafka.serialization import MessageField, SerializationContext

    raw = Codec(schemas.register()).encode(BETS, BET)
    with SchemaRegistryClient({"url": registry}) as client:
        read = AvroDeserializer(client, conf={"subject.name.strategy": record_subject_name_strategy})
        assert read(raw, SerializationContext(BETS, MessageField.VALUE)) == msgspec.structs.asdict(BET)


def test_a_schema_that_cannot_read_what_was_written_is_refused(registry: str, prefix: str, tmp_path: Path) -> None:
    folder = tmp_path / "schemas"
    copytree(SCHEMAS, folder)
    path = folder / "bet_placed.avsc"
    with Registry(registry, topic_prefix=prefix) as client:
        client.register()
    path.write_text(path.read_text().replace('"stake_minor"', '"stake"'))
    with (
        Registry(registry, topic_prefix=prefix, schemas=folder) as client,
        pytest.raises(NotReady, match=r"did not register bets-puntobanco\.BetPlaced"),
    ):
        client.register()


def test_a_newer_version_at_the_registry_is_read_by_an_older_build(
    registry: str, prefix: str, schemas: Registry, tmp_path: Path
) -> None:
    folder = tmp_path / "schemas"
    copytree(SCHEMAS, folder)
    path = folder / "bet_placed.avsc"
    newer = json.loads(path.read_text())
    newer["fields"].append({"name": "mood", "type": "string", "default": ""})
    older_codec = Codec(schemas.register())
    path.write_text(json.dumps(newer))
    with Registry(registry, topic_prefix=prefix, schemas=folder) as client:
        ids = client.register()
    from io import BytesIO

    from fastavro import schemaless_writer

    stream = BytesIO()
    schemaless_writer(stream, newer, msgspec.structs.asdict(BET) | {"mood": "bold"})
    number = ids[subject(BETS, BetPlaced)]
    raw = b"\x00" + number.to_bytes(4, "big") + stream.getvalue()
    assert older_codec.missing(raw) == number
    asyncio.run(schemas.learn(older_codec, raw))
    assert older_codec.decode(BETS, raw) == BET


def test_a_number_that_the_registry_has_not_is_unknown_for_good(schemas: Registry) -> None:
    codec = Codec(schemas.register())
    raw = b"\x00\x7f\xff\xff\xffbody"
    asyncio.run(schemas.learn(codec, raw))
    assert codec.missing(raw) is None
    with pytest.raises(Unusable) as caught:
        codec.decode(BETS, raw)
    assert caught.value.code == "unknown-schema"


# ---------------------------------------------------------------- a registry that is not there, or not one


class Answering(http.server.BaseHTTPRequestHandler):
    """Whatever is asked, this is answered."""

    status: ClassVar[int]
    body: ClassVar[bytes]

    def do_GET(self) -> None:
        self.send_response(self.status)
        self.send_header("Content-Length", str(len(self.body)))
        self.end_headers()
        self.wfile.write(self.body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is not ours
        """Nothing: the test says what was asked."""


@pytest.fixture
def answering(request: pytest.FixtureRequest) -> Iterator[str]:
    status, body = request.param
    handler = type("Handler", (Answering,), {"status": status, "body": body})
    with http.server.HTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/apis/ccompat/v7"
        server.shutdown()
        thread.join()


@pytest.mark.parametrize(
    "answering",
    [
        (404, b"<html>not here</html>"),
        (404, b'{"error_code": 404, "message": "no such path"}'),
        (500, b'{"error_code": 50001, "message": "its own trouble"}'),
        (503, b"starting"),
        (401, b'{"error_code": 40101, "message": "who are you?"}'),
        (200, b"not json"),
    ],
    indirect=True,
)
def test_only_the_registrys_own_word_makes_a_schema_unknown(answering: str) -> None:
    codec = Codec(ids_of_nothing())
    raw = b"\x00\x00\x00\x00\x01body"
    with Registry(answering) as client:
        with pytest.raises(NotReady):
            asyncio.run(client.learn(codec, raw))
        with pytest.raises(NotReady):
            codec.decode(BETS, raw)
        assert codec.missing(raw) == 1  # and it is asked again


def ids_of_nothing() -> Mapping[str, int]:
    """Ids that no record of these tests has."""
    subjects = [subject(topic, event_type) for topic, event_types in EVENTS_OF.items() for event_type in event_types]
    return {name: 10**9 + number for number, name in enumerate(subjects)}


def test_a_registry_that_is_not_there_is_not_ready() -> None:
    with Registry("http://anna:secret@127.0.0.1:1/apis/ccompat/v7", within_s=1) as client:
        for ask in (client.register, client.ids, lambda: client.schema(1)):
            with pytest.raises(NotReady) as caught:
                ask()
            assert "127.0.0.1:1" in str(caught.value)
            assert "secret" not in str(caught.value)


def test_what_is_no_address_is_a_bad_setting() -> None:
    with pytest.raises(BadSettings, match="cannot be the address of a registry"):
        Registry("kafka:9092")


def test_without_the_extra_the_remedy_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "confluent_kafka.schema_registry", None)
    with pytest.raises(BadSettings, match=r"puntobanco\[registry\]"):
        Registry("http://127.0.0.1:1")
