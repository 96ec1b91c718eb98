"""Each event and its schema say the same, field by field, and the schemas say it well."""

import json
from collections.abc import Iterator, Mapping
from enum import StrEnum
from fractions import Fraction
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

import msgspec
import pytest

from services.baccarat.cards import Card
from services.baccarat.events import EVENTS_OF
from services.runtime.codec import schema_file
from services.runtime.compatibility import check
from services.runtime.paths import SCHEMAS

EVENT_TYPES = {schema_file(event_type): event_type for events in EVENTS_OF.values() for event_type in events}
FILES = sorted(SCHEMAS.glob("*.avsc"))
BY_FILE = pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
WRITTEN_AS: Mapping[type, str] = {
    int: "long",
    bool: "boolean",
    str: "string",
    bytes: "bytes",
    NoneType: "null",
    Card: "string",
    Fraction: "string",
}


def described(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def expected(declared: Any, field: str) -> Any:
    """The type as a schema writes it, records by name; null stands first."""
    if get_origin(declared) is UnionType:
        members = sorted(get_args(declared), key=lambda member: member is not NoneType)
        return [expected(member, field) for member in members]
    if get_origin(declared) is tuple:
        return {"type": "array", "items": expected(get_args(declared)[0], field)}
    if declared in WRITTEN_AS:
        return of_unit(WRITTEN_AS[declared], declared, field)
    if issubclass(declared, StrEnum):
        return "string"
    return declared.__name__


def of_unit(written: str, declared: type, field: str) -> Any:
    """What the last word of a field's name says about its numbers."""
    if declared not in (int, Fraction):
        return written
    if field.endswith("at_ms"):
        return {"type": written, "logicalType": "timestamp-millis"}
    if field.endswith("_ms"):
        return {"type": written, "unit": "ms"}
    if field.endswith(("_minor", "_exact")):
        return {"type": written, "unit": "minor"}
    return written


def by_name(schema: Any) -> Any:
    """The same type with its records as names alone."""
    if isinstance(schema, list):
        return [by_name(member) for member in schema]
    if not isinstance(schema, dict):
        return schema
    if schema["type"] == "record":
        return schema["name"]
    return {key: by_name(value) if key == "items" else value for key, value in schema.items()}


def records(schema: Any) -> Iterator[Any]:
    """The record itself, and all that are described inside it."""
    if isinstance(schema, list):
        for member in schema:
            yield from records(member)
    elif isinstance(schema, dict):
        if schema["type"] == "record":
            yield schema
            for field in schema["fields"]:
                yield from records(field["type"])
        elif schema["type"] == "array":
            yield from records(schema["items"])


def plain(default: Any) -> Any:
    """A Struct's default as a schema writes it."""
    if isinstance(default, Fraction):
        return str(default)
    return list(default) if isinstance(default, tuple) else default


def structs() -> Mapping[str, type[msgspec.Struct]]:
    """Every Struct that events are made of, by name."""
    found: dict[str, type[msgspec.Struct]] = {}

    def look(declared: Any) -> None:
        for inside in get_args(declared):
            look(inside)
        if isinstance(declared, type) and issubclass(declared, msgspec.Struct) and declared is not Card:
            found[declared.__name__] = declared
            for hint in get_type_hints(declared).values():
                look(hint)

    for event_type in EVENT_TYPES.values():
        look(event_type)
    return found


STRUCTS = structs()


def test_every_event_has_a_schema_and_every_schema_an_event() -> None:
    assert {path.name for path in FILES} == EVENT_TYPES.keys()


@BY_FILE
def test_a_schema_stands_for_its_event(path: Path) -> None:
    schema = described(path)
    assert (schema["namespace"], schema["name"]) == ("puntobanco", EVENT_TYPES[path.name].__name__)


@BY_FILE
def test_fields_their_types_units_and_defaults_are_those_of_the_struct(path: Path) -> None:
    for record in records(described(path)):
        declared = STRUCTS[record["name"]]
        hints = get_type_hints(declared)
        says = [
            (each["name"], by_name(each["type"]), each.get("default", msgspec.NODEFAULT)) for each in record["fields"]
        ]
        assert says == [
            (each.name, expected(hints[each.name], each.name), plain(each.default))
            for each in msgspec.structs.fields(declared)
        ]


@BY_FILE
def test_everything_is_explained_with_its_unit_and_what_null_means(path: Path) -> None:
    for record in records(described(path)):
        assert record["doc"].endswith(".")
        for field in record["fields"]:
            doc, kind = field["doc"], field["type"]
            text = json.dumps(by_name(kind))
            assert doc.endswith("."), field["name"]
            assert "timestamp-millis" not in text or "UTC milliseconds" in doc, field["name"]
            assert '"ms"' not in text or "milliseconds" in doc, field["name"]
            assert '"minor"' not in text or "minor units" in doc, field["name"]
            assert not isinstance(kind, list) or "null" in doc.lower(), field["name"]


def test_a_record_is_the_same_wherever_it_is_described() -> None:
    described_as: dict[str, Any] = {}
    for path in FILES:
        for record in records(described(path)):
            alike = record | {"fields": [each | {"type": by_name(each["type"])} for each in record["fields"]]}
            alike.pop("namespace", None)
            assert described_as.setdefault(record["name"], alike) == alike, path.name


@BY_FILE
def test_a_field_has_a_line_of_its_own(path: Path) -> None:
    fields = sum(len(record["fields"]) for record in records(described(path)))
    assert sum(line.lstrip().startswith('{"name": ') for line in path.read_text().splitlines()) == fields


@BY_FILE
def test_a_file_alone_is_a_schema_to_the_official_package(path: Path) -> None:
    import avro.schema

    assert avro.schema.parse(path.read_text(encoding="utf-8")).type == "record"


def test_nothing_forbids_a_release() -> None:
    assert check(SCHEMAS) == []


def test_every_event_of_now_was_in_some_release_or_is_new_without_breaking_one() -> None:
    released = {path.name for path in SCHEMAS.glob("released/*/*.avsc")}
    assert released <= EVENT_TYPES.keys()
    assert (SCHEMAS / "released" / "1").is_dir()
