"""Values of declared types as plain ones, that Avro and MessagePack can write, and back.

A Struct becomes a dict, a tuple a list, a Card and a Fraction their text. A value that may be one of several types is a
pair of the type's name and the value. What does not fit its declaration exactly (a bool for an int, a list for a tuple)
is refused on the way out, so that what comes back is equal to what went in, type by type.
"""

import re
from collections.abc import Callable, Mapping
from enum import Enum
from fractions import Fraction
from functools import cache, lru_cache
from types import NoneType, UnionType
from typing import Any, Final, Union, get_args, get_origin, get_type_hints

from msgspec import Struct
from msgspec.structs import asdict

from services.baccarat.cards import DECK, RANK_CARDS, Card, parse_card

Convert = Callable[[Any], Any]

NAMESPACE: Final = "puntobanco"
_CARD_OF: Final = {str(card): card for card in (*DECK, *RANK_CARDS)}
_TEXT_OF: Final = {card: text for text, card in _CARD_OF.items()}
_FRACTION: Final = re.compile(r"-?\d+(/\d+)?", re.ASCII)
_NARROW: Final = range(-(2**63), 2**63)


class Misfit(ValueError):
    """A value is not what its declaration says."""


class Shape(Struct, frozen=True):
    """One declared type: the exact types that fit it, and how a value becomes plain and comes back; None for as it is.

    `text` tells shapes apart: it holds the names and the order of all fields.
    """

    text: str
    types: frozenset[type]
    write: Convert | None = None
    read: Convert | None = None

    @property
    def to_plain(self) -> Convert:
        return self.write or _as_it_is

    @property
    def from_plain(self) -> Convert:
        return self.read or _as_it_is


def _as_it_is(value: Any) -> Any:
    return value


@cache
def shape(declared: Any, *, wide: bool = False) -> Shape:
    """`wide` also takes what Avro has no place for: dicts, tuples of fixed length and whole numbers of any size."""
    origin = get_origin(declared)
    if origin in (Union, UnionType):
        return _union(get_args(declared), wide=wide)
    if origin is tuple:
        return _tuple(get_args(declared), wide=wide)
    if wide and (origin is dict or origin is Mapping):
        return _dict(*get_args(declared), wide=wide)
    if isinstance(declared, type):
        return _named(declared, wide=wide)
    raise TypeError(f"There is no plain form of {declared}")


def _named(declared: type, *, wide: bool) -> Shape:
    types = frozenset((declared,))
    if declared is int and wide:
        return Shape("int", types, lambda value: value if value in _NARROW else str(value), int)
    if declared in (str, int, bool, bytes, NoneType):
        return Shape(declared.__name__, types)
    if declared is Fraction:
        return Shape("Fraction", types, str, parse_fraction)
    if declared is Card:
        return Shape("Card", types, _TEXT_OF.__getitem__, _card)
    if issubclass(declared, Enum):
        return Shape(declared.__name__, types, None, {each.value: each for each in declared}.__getitem__)
    if issubclass(declared, Struct):
        return _struct(declared, wide=wide)
    raise TypeError(f"There is no plain form of {declared}")


@lru_cache(maxsize=1024)
def parse_fraction(text: str) -> Fraction:
    """`19/20`, or `8` for a whole number. Raises Misfit."""
    if not _FRACTION.fullmatch(text):  # Fraction itself also takes 1e9, 0.5 and blanks
        raise Misfit(f"{text[:200]!r} is no fraction; write it as 19/20 or 8")
    try:
        return Fraction(text)
    except ZeroDivisionError:
        raise Misfit(f"{text[:200]!r} divides by zero") from None


def _card(text: str) -> Card:
    return _CARD_OF.get(text) or parse_card(text)


def _struct(declared: type[Struct], *, wide: bool) -> Shape:
    hints = get_type_hints(declared)
    fields = {name: shape(hints[name], wide=wide) for name in declared.__struct_fields__}
    writes = tuple((name, field.write) for name, field in fields.items() if field.write is not None)
    reads = tuple((name, field.read) for name, field in fields.items() if field.read is not None)
    fitting: set[tuple[type, ...]] = set()  # signatures seen to fit, so that each is looked at field by field only once

    def write(value: Struct) -> dict[str, Any]:
        plain = asdict(value)
        signature = tuple(map(type, plain.values()))
        if signature not in fitting:
            _check(declared, fields, plain)
            fitting.add(signature)
        for name, convert in writes:
            plain[name] = convert(plain[name])
        return plain

    def read(plain: dict[str, Any]) -> Struct:
        for name, convert in reads:
            plain[name] = convert(plain[name])
        return declared(**plain)

    text = ", ".join(f"{name}: {field.text}" for name, field in fields.items())
    return Shape(f"{declared.__name__}({text})", frozenset((declared,)), write, read)


def _check(declared: type, fields: Mapping[str, Shape], plain: Mapping[str, Any]) -> None:
    for name, field in fields.items():
        if type(plain[name]) not in field.types:
            raise Misfit(f"{declared.__name__}.{name} is a {type(plain[name]).__name__}, not {_names(field.types)}")


def _union(members: tuple[Any, ...], *, wide: bool) -> Shape:
    """None is itself. A Struct, and of several other types each value, is tagged with the name of its own type.

    Untagged, fastavro would try a record's fields one by one to see whether it fits.
    """
    shapes = [shape(member, wide=wide) for member in members if member is not NoneType]
    types = frozenset().union(*(each.types for each in shapes), {NoneType} if NoneType in members else ())
    text = " | ".join(each.text for each in shapes) + (" | None" if NoneType in members else "")
    if len(shapes) == 1 and not _is_struct(*shapes[0].types):
        return Shape(text, types, _unless_none(shapes[0].write), _unless_none(shapes[0].read))
    by_type = {kind: (_tag(kind), each.to_plain) for each in shapes for kind in each.types}
    by_tag = {_tag(kind): each.from_plain for each in shapes for kind in each.types}
    if len(by_tag) != len(shapes):
        raise TypeError(f"The members of {text} cannot be told apart")

    def write(value: Any) -> tuple[str, Any]:
        tag, convert = by_type[type(value)]
        return tag, convert(value)

    def read(pair: tuple[str, Any]) -> Any:
        tag, plain = pair
        return by_tag[tag](plain)

    return Shape(text, types, _unless_none(write), _unless_none(read))


def _tag(kind: type) -> str:
    """Avro's own full name of a record."""
    return f"{NAMESPACE}.{kind.__name__}" if _is_struct(kind) else kind.__name__


def _is_struct(kind: type) -> bool:
    """A Card is one, but is written as text."""
    return issubclass(kind, Struct) and kind is not Card


def _unless_none(convert: Convert | None) -> Convert | None:
    if convert is None:
        return None
    return lambda value: None if value is None else convert(value)


def _tuple(items: tuple[Any, ...], *, wide: bool) -> Shape:
    types = frozenset((tuple,))
    if len(items) == 2 and items[1] is Ellipsis:
        item = shape(items[0], wide=wide)
        return Shape(f"({item.text}, ...)", types, _many(item, item.write, list), _many(None, item.read, tuple))
    if not wide:
        raise TypeError(f"Avro has no tuples of fixed length: tuple{list(items)}")
    shapes = tuple(shape(each, wide=wide) for each in items)

    def write(values: tuple[Any, ...]) -> list[Any]:
        return [_one(each, value) for each, value in zip(shapes, values, strict=True)]

    def read(plain: list[Any]) -> tuple[Any, ...]:
        return tuple(each.from_plain(value) for each, value in zip(shapes, plain, strict=True))

    return Shape(f"({', '.join(each.text for each in shapes)})", types, write, read)


def _many(checked: Shape | None, convert: Convert | None, into: type) -> Convert:
    """Each value converted; their types are looked at first where `checked` says what they must be."""

    def converted(values: Any) -> Any:
        if checked is not None and not checked.types.issuperset(map(type, values)):
            raise Misfit(f"({', '.join(type(value).__name__ for value in values)}) is not all {_names(checked.types)}")
        return into(values) if convert is None else into(map(convert, values))

    return converted


def _dict(key: Any, value: Any, *, wide: bool) -> Shape:
    """A list of pairs, in order: keys need not be text."""
    keys, values = shape(key, wide=wide), shape(value, wide=wide)

    def write(whole: dict[Any, Any]) -> list[tuple[Any, Any]]:
        return [(_one(keys, each), _one(values, whole[each])) for each in whole]

    def read(pairs: list[tuple[Any, Any]]) -> dict[Any, Any]:
        return {keys.from_plain(each): values.from_plain(value) for each, value in pairs}

    return Shape(f"{{{keys.text}: {values.text}}}", frozenset((dict,)), write, read)


def _one(checked: Shape, value: Any) -> Any:
    if type(value) not in checked.types:
        raise Misfit(f"{value!r} is a {type(value).__name__}, not {_names(checked.types)}")
    return checked.to_plain(value)


def _names(types: frozenset[type]) -> str:
    return " or ".join(sorted(each.__name__ for each in types))
