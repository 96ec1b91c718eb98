import json
from collections.abc import Callable
from copy import deepcopy
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from services.runtime.compatibility import Finding, check, differences

SETTLED: Any = {
    "type": "record",
    "name": "Settled",
    "namespace": "puntobanco",
    "doc": "A bet was settled.",
    "fields": [
        {"name": "event_id", "type": "string"},
        {"name": "at_ms", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "stake_minor", "type": {"type": "long", "unit": "minor"}},
        {"name": "line", "type": ["null", "long"]},
        {"name": "seat", "type": ["null", "string"], "default": None},
        {"name": "rounding", "type": "string", "default": "down"},
        {"name": "share", "type": {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}},
        {"name": "cards", "type": {"type": "array", "items": "string"}, "default": []},
        {
            "name": "mark",
            "type": [
                "null",
                {"type": "record", "name": "Mark", "fields": [{"name": "round_no", "type": "long"}]},
            ],
        },
        {"name": "last", "type": ["null", "Mark"], "default": None},
    ],
}
PLACE = {field["name"]: place for place, field in enumerate(SETTLED["fields"])}

Change = Callable[[Any], object]


def field(which: str, **changes: Any) -> Change:
    """Changes of one field; None takes a property away."""

    def change(schema: Any) -> None:
        found = schema["fields"][PLACE[which]]
        for key, value in changes.items():
            if value is None:
                del found[key]
            else:
                found[key] = value

    return change


def put(*path: Any, value: Any) -> Change:
    def change(schema: Any) -> None:
        for step in path[:-1]:
            schema = schema[step]
        schema[path[-1]] = value

    return change


def removed(name: str) -> Change:
    return lambda schema: schema["fields"].pop(PLACE[name])


def added(**new: Any) -> Change:
    return lambda schema: schema["fields"].append(new)


def changed(change: Change) -> Any:
    schema = deepcopy(SETTLED)
    change(schema)
    return schema


IN_MARK = ("fields", PLACE["mark"], "type", 1)
REFUSED: dict[str, tuple[Change, str, str]] = {
    "renamed field": (field("stake_minor", name="stake"), "stake_minor", "is gone, and had no default"),
    "renamed field seen as new": (field("stake_minor", name="stake"), "stake", "is new, and has no default"),
    "an alias does not help": (field("stake_minor", name="s", aliases=["stake_minor"]), "s", "is new"),
    "removed field": (removed("event_id"), "event_id", "is gone, and had no default"),
    "new field without default": (added(name="fee_minor", type="long"), "fee_minor", "is new, and has no default"),
    "default removed": (field("rounding", default=None), "rounding", "has lost its default"),
    "default of null removed": (lambda s: s["fields"][PLACE["seat"]].pop("default"), "seat", "has lost its default"),
    "default changed": (field("rounding", default="up"), "rounding", "default is 'up', was 'down'"),
    "type changed": (field("event_id", type="long"), "event_id", "is long, was string"),
    "type changed to what Avro would promote": (field("event_id", type="bytes"), "event_id", "is bytes, was string"),
    "type narrowed": (field("stake_minor", type={"type": "int", "unit": "minor"}), "stake_minor", "is int, was long"),
    "type widened": (field("stake_minor", type={"type": "double", "unit": "minor"}), "stake_minor", "is double"),
    "made an enum": (
        field("event_id", type={"type": "enum", "name": "Id", "symbols": ["A"]}),
        "event_id",
        "is puntobanco.Id, was string",
    ),
    "unit changed": (field("stake_minor", type={"type": "long", "unit": "major"}), "stake_minor", "unit is major"),
    "unit removed": (field("stake_minor", type="long"), "stake_minor", "unit is none, was minor"),
    "unit added": (field("event_id", type={"type": "string", "unit": "id"}), "event_id", "unit is id, was none"),
    "logical type changed": (
        field("at_ms", type={"type": "long", "logicalType": "timestamp-micros"}),
        "at_ms",
        "logicalType is timestamp-micros, was timestamp-millis",
    ),
    "logical type removed": (field("at_ms", type="long"), "at_ms", "logicalType is none, was timestamp-millis"),
    "logical type added": (
        field("line", type=["null", {"type": "long", "logicalType": "timestamp-millis"}]),
        "line",
        "logicalType is timestamp-millis, was none",
    ),
    "scale changed": (put("fields", PLACE["share"], "type", "scale", value=3), "share", "scale is 3, was 2"),
    "precision changed": (put("fields", PLACE["share"], "type", "precision", value=12), "share", "precision is 12"),
    "null allowed": (field("event_id", type=["null", "string"]), "event_id", "is union, was string"),
    "null forbidden": (field("line", type="long"), "line", "is long, was union"),
    "union gains a member": (field("line", type=["null", "long", "string"]), "line", "may now be string"),
    "union loses a member": (field("line", type=["long"]), "line", "may no longer be null"),
    "items changed": (
        field("cards", type={"type": "array", "items": "bytes"}),
        "cards",
        "is bytes, was string",
    ),
    "record renamed": (put("name", value="BetSettled"), "", "is puntobanco.BetSettled, was puntobanco.Settled"),
    "namespace changed": (put("namespace", value="casino"), "", "is casino.Settled, was puntobanco.Settled"),
    "inner record renamed": (
        lambda s: (put(*IN_MARK, "name", value="Sign")(s), field("last", type=["null", "Sign"])(s)),
        "mark",
        "may now be puntobanco.Sign",
    ),
    "field of an inner record changed": (
        put(*IN_MARK, "fields", 0, "type", value="string"),
        "mark.round_no",
        "is string, was long",
    ),
    "field of an inner record changed, seen by its name": (
        put(*IN_MARK, "fields", 0, "type", value="string"),
        "last.round_no",
        "is string, was long",
    ),
    "unit in an inner record": (
        put(*IN_MARK, "fields", 0, "type", value={"type": "long", "unit": "ms"}),
        "mark.round_no",
        "unit is ms, was none",
    ),
}
ALLOWED: dict[str, Change] = {
    "nothing": lambda _schema: None,
    "other words": put("doc", value="Settled it was."),
    "new field with a default": added(name="fee_minor", type={"type": "long", "unit": "minor"}, default=0),
    "new optional record": added(name="next", type=["null", "Mark"], default=None),
    "removed field that had a default": removed("rounding"),
    "default added": field("event_id", default=""),
    "fields in another order": lambda schema: schema["fields"].insert(0, schema["fields"].pop(PLACE["rounding"])),
}


@pytest.mark.parametrize(("change", "where", "what"), REFUSED.values(), ids=REFUSED.keys())
def test_a_change_that_some_version_cannot_read_is_refused(change: Change, where: str, what: str) -> None:
    found = differences(changed(change), SETTLED)
    assert any(path == where and what in said for path, said in found), found


@pytest.mark.parametrize("change", ALLOWED.values(), ids=ALLOWED.keys())
def test_a_change_that_all_versions_can_read_is_allowed(change: Change) -> None:
    assert differences(changed(change), SETTLED) == []
    assert reads(changed(change), SETTLED)
    assert reads(SETTLED, changed(change))


def reads(reader: Any, writer: Any) -> bool:
    """The official checker's opinion."""
    from avro.compatibility import ReaderWriterCompatibilityChecker, SchemaCompatibilityType
    from avro.schema import parse

    checker = ReaderWriterCompatibilityChecker()  # type: ignore[no-untyped-call]
    found = checker.get_compatibility(parse(json.dumps(reader)), parse(json.dumps(writer)))
    return bool(found.compatibility is SchemaCompatibilityType.compatible)


def test_whatever_the_official_checker_refuses_is_refused_here() -> None:
    refused = [
        name
        for name, (change, _, _) in REFUSED.items()
        if not (reads(changed(change), SETTLED) and reads(SETTLED, changed(change)))
    ]
    assert len(refused) > 15  # and of the rest, such as units, it knows nothing


@pytest.mark.parametrize(
    ("now", "before", "what"),
    [
        (
            {"type": "enum", "name": "E", "symbols": ["A", "B"]},
            {"type": "enum", "name": "E", "symbols": ["A"]},
            "symbols",
        ),
        ({"type": "fixed", "name": "F", "size": 4}, {"type": "fixed", "name": "F", "size": 8}, "size"),
        ({"type": "map", "values": "long"}, {"type": "map", "values": "string"}, "values"),
    ],
)
def test_types_that_no_event_uses_do_not_change_at_all(now: Any, before: Any, what: str) -> None:
    assert differences(now, before) == [("", f"{what} changed")]
    assert differences(now, now) == []


def test_a_record_that_holds_itself_ends() -> None:
    node: Any = {"type": "record", "name": "Node", "fields": [{"name": "next", "type": ["null", "Node"]}]}
    assert differences(node, node) == []


# ---------------------------------------------------------------- the folder


@pytest.fixture
def schemas(tmp_path: Path) -> Path:
    """Two releases of one schema, the second with one more field, which is still the newest."""
    second = changed(added(name="fee_minor", type="long", default=0))
    for number, schema in ((1, SETTLED), (2, second)):
        (tmp_path / "released" / str(number)).mkdir(parents=True)
        (tmp_path / "released" / str(number) / "settled.avsc").write_text(json.dumps(schema))
    write(tmp_path, second)
    listed(tmp_path)
    return tmp_path


def write(schemas: Path, schema: Any) -> None:
    (schemas / "settled.avsc").write_text(json.dumps(schema))


def listed(schemas: Path) -> None:
    released = schemas / "released"
    lines = [
        f"{sha256(path.read_bytes()).hexdigest()}  {path.relative_to(released)}\n"
        for path in sorted(released.glob("*/*.avsc"))
    ]
    (released / "SHA256SUMS").write_text("".join(lines))


def test_a_folder_in_order_has_no_findings(schemas: Path) -> None:
    assert check(schemas) == []


def test_a_folder_without_releases_is_in_order(tmp_path: Path) -> None:
    write(tmp_path, SETTLED)
    assert check(tmp_path) == []


def test_the_newest_is_held_against_every_release(schemas: Path) -> None:
    write(schemas, changed(lambda schema: (added(name="fee_minor", type="long")(schema), removed("line")(schema))))
    assert check(schemas) == [
        Finding("settled.avsc", "fee_minor", "has lost its default (since released/2/settled.avsc)"),
        Finding("settled.avsc", "fee_minor", "is new, and has no default (since released/1/settled.avsc)"),
        Finding("settled.avsc", "line", "is gone, and had no default (since released/1/settled.avsc)"),
        Finding("settled.avsc", "line", "is gone, and had no default (since released/2/settled.avsc)"),
    ]


def test_a_released_schema_does_not_go(schemas: Path) -> None:
    (schemas / "settled.avsc").unlink()
    assert [(each.file, each.what) for each in check(schemas)] == [
        ("settled.avsc", "is gone, but released/1/settled.avsc was released"),
        ("settled.avsc", "is gone, but released/2/settled.avsc was released"),
    ]


def test_a_released_file_is_not_changed_even_harmlessly(schemas: Path) -> None:
    released = schemas / "released" / "1" / "settled.avsc"
    released.write_text(released.read_text() + "\n")
    assert check(schemas) == [Finding("released/1/settled.avsc", "", "was changed after its release")]


def test_a_released_file_is_not_removed(schemas: Path) -> None:
    (schemas / "released" / "1" / "settled.avsc").unlink()
    assert check(schemas) == [Finding("released/1/settled.avsc", "", "was released and is gone")]


def test_a_file_is_not_slipped_into_a_release(schemas: Path) -> None:
    (schemas / "released" / "1" / "other.avsc").write_text(json.dumps(SETTLED))
    assert Finding("released/1/other.avsc", "", "is not in SHA256SUMS") in check(schemas)


def test_the_list_of_hashes_is_not_removed(schemas: Path) -> None:
    (schemas / "released" / "SHA256SUMS").unlink()
    assert {each.what for each in check(schemas)} == {"is not in SHA256SUMS"}


@pytest.mark.parametrize("text", ["", "{", "[]x", '{"type": "record"}', '{"type": "unheard of"}', '"Settled"'])
def test_a_file_that_is_no_schema_is_a_finding(schemas: Path, text: str) -> None:
    (schemas / "settled.avsc").write_text(text)
    (finding,) = check(schemas)
    assert (finding.file, finding.field) == ("settled.avsc", "")
    assert finding.what.startswith("is no schema: ")
