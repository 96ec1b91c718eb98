"""Whether every version of a schema can read what every other version wrote, decided offline from the files alone.

The rules are narrower than Avro's own, for the log is kept for ever: a record or a field keeps its name, a number its
type, its unit and its logical type, a union its members, a default its value. A new field has a default, and only a
field with a default may go.
"""

import json
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from fastavro import parse_schema
from fastavro.types import Schema
from msgspec import Struct

RELEASED: Final = "released"
HASHES: Final = "SHA256SUMS"
KEPT: Final = ("logicalType", "precision", "scale", "unit")  # neither fingerprints nor Avro's own rules look at these

Named = Mapping[str, Schema]
Difference = tuple[str, str]


class Finding(Struct, frozen=True, order=True):
    """One thing that is wrong; `file` is relative to the folder of the schemas, `field` is empty for the whole file."""

    file: str
    field: str
    what: str


def check(schemas: Path) -> list[Finding]:
    """Everything that forbids a release: earlier releases tampered with, and changes that some version cannot read."""
    findings = set(tampered(schemas))
    for newest in sorted(schemas.glob("*.avsc")):
        findings |= {Finding(newest.name, "", what) for what in faults(newest)}
    for released in sorted(schemas.glob(f"{RELEASED}/*/*.avsc")):
        findings |= set(between(schemas, schemas / released.name, released))
    return sorted(findings)


def tampered(schemas: Path) -> Iterator[Finding]:
    """Released files are never changed, removed or slipped in: their hashes are kept beside them."""
    folder = schemas / RELEASED
    listed = dict(_listed(folder / HASHES))
    there = {str(path.relative_to(folder)): path for path in sorted(folder.glob("*/*.avsc"))}
    for name in sorted(listed.keys() | there.keys()):
        if name not in there:
            yield Finding(f"{RELEASED}/{name}", "", "was released and is gone")
        elif name not in listed:
            yield Finding(f"{RELEASED}/{name}", "", f"is not in {HASHES}")
        elif sha256(there[name].read_bytes()).hexdigest() != listed[name]:
            yield Finding(f"{RELEASED}/{name}", "", "was changed after its release")


def _listed(hashes: Path) -> Iterator[tuple[str, str]]:
    """Name and hash, from lines as sha256sum writes them; nothing was released where there is no list."""
    if hashes.exists():
        for line in hashes.read_text(encoding="utf-8").splitlines():
            digest, _, name = line.partition("  ")
            yield name, digest


def between(schemas: Path, newest: Path, released: Path) -> Iterator[Finding]:
    """What keeps either of two versions from reading the other."""
    name = str(released.relative_to(schemas))
    if not newest.exists():
        yield Finding(newest.name, "", f"is gone, but {name} was released")
    elif not [*faults(newest), *faults(released)]:
        for field, what in differences(load(newest), load(released)):
            yield Finding(newest.name, field, f"{what} (since {name})")


def faults(path: Path) -> Iterator[str]:
    """Why a file holds no schema at all."""
    try:
        load(path)
    except Exception as error:  # noqa: BLE001 - a parser of hand-written files may raise anything
        yield f"is no schema: {error!r}"[:300]


def load(path: Path) -> Any:
    schema = json.loads(path.read_text(encoding="utf-8"))
    parse_schema(schema, {})
    return schema


def differences(now: Any, before: Any) -> list[Difference]:
    """Path of the field and what is wrong with it, for two versions of one schema; none when each reads the other."""
    names: tuple[dict[str, Any], dict[str, Any]] = ({}, {})
    pair = (parse_schema(now, names[0]), parse_schema(before, names[1]))
    return list(_differences(pair[0], pair[1], names, "", frozenset()))


def _differences(
    now: Schema, before: Schema, names: tuple[Named, Named], path: str, within: frozenset[str]
) -> Iterator[Difference]:
    """`within` are the records that enclose this one: a record that holds itself is looked at once."""
    now, before = _resolved(now, names[0]), _resolved(before, names[1])
    if (kind := _kind(now)) != _kind(before):
        yield path, f"is {kind}, was {_kind(before)}"
    elif kind == "union":
        yield from _members(now, before, names, path, within)
    elif isinstance(now, dict) and isinstance(before, dict):
        yield from _properties(now, before, path)
        if kind == "array":
            yield from _differences(now["items"], before["items"], names, path, within)
        elif kind not in within and "fields" in now:
            yield from _fields(now, before, names, path, within | {kind})


def _resolved(schema: Schema, named: Named) -> Schema:
    """A record for its name, and always a dict where there may be properties."""
    if isinstance(schema, str):
        return named.get(schema, {"type": schema})
    return schema


def _kind(schema: Schema) -> str:
    """What must stay: `union`, `array` or another type's name, and for a named type its own full name."""
    if isinstance(schema, list):
        return "union"
    return str(schema.get("name", schema["type"])) if isinstance(schema, dict) else schema


def _properties(now: dict[str, Any], before: dict[str, Any], path: str) -> Iterator[Difference]:
    for key in KEPT:
        if now.get(key) != before.get(key):
            yield path, f"{key} is {now.get(key, 'none')}, was {before.get(key, 'none')}"
    for key in ("symbols", "size", "values"):  # of types that no event uses: any change is one too many
        if now.get(key) != before.get(key):
            yield path, f"{key} changed"


def _members(
    now: Any, before: Any, names: tuple[Named, Named], path: str, within: frozenset[str]
) -> Iterator[Difference]:
    """A member that only one version knows cannot be read by the other."""
    new = {_kind(_resolved(each, names[0])): each for each in now}
    old = {_kind(_resolved(each, names[1])): each for each in before}
    for kind in old.keys() | new.keys():
        if kind not in new:
            yield path, f"may no longer be {kind}"
        elif kind not in old:
            yield path, f"may now be {kind}, which earlier readers do not know"
        else:
            yield from _differences(new[kind], old[kind], names, path, within)


def _fields(
    now: dict[str, Any], before: dict[str, Any], names: tuple[Named, Named], path: str, within: frozenset[str]
) -> Iterator[Difference]:
    new = {field["name"]: field for field in now["fields"]}
    old = {field["name"]: field for field in before["fields"]}
    for name in old.keys() | new.keys():
        here = f"{path}.{name}".lstrip(".")
        if name not in new:
            if "default" not in old[name]:
                yield here, "is gone, and had no default"
        elif name not in old:
            if "default" not in new[name]:
                yield here, "is new, and has no default"
        else:
            yield from _default(new[name], old[name], here)
            yield from _differences(new[name]["type"], old[name]["type"], names, here, within)


def _default(now: dict[str, Any], before: dict[str, Any], path: str) -> Iterator[Difference]:
    """Records written before the field was there are read with its default, so it stays what it was."""
    if "default" in before and "default" not in now:
        yield path, "has lost its default"
    elif "default" in before and now["default"] != before["default"]:
        yield path, f"default is {now['default']!r}, was {before['default']!r}"
