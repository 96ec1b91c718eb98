"""Values of any declared type, for properties over all events and all states."""

from collections.abc import Mapping
from enum import Enum
from fractions import Fraction
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from hypothesis import strategies as st
from msgspec import Struct

from services.baccarat.cards import DECK, RANK_CARDS, Card
from services.baccarat.events import EVENTS_OF, NAMED, Event

LONGS = st.one_of(st.integers(0, 100), st.integers(-(2**63), 2**63 - 1))
TEXTS = st.text(max_size=12)
NAMES = st.text(st.characters(exclude_characters="/", exclude_categories=["Cs"]), min_size=1, max_size=12)
PLAIN: Mapping[type, st.SearchStrategy[Any]] = {
    str: TEXTS,
    int: LONGS,
    bool: st.booleans(),
    bytes: st.binary(max_size=12),
    NoneType: st.none(),
    Fraction: st.fractions(),
    Card: st.sampled_from((*DECK, *RANK_CARDS)),
}
# What `malformed` asks of an event besides its types.
WELL_FORMED: Mapping[str, st.SearchStrategy[Any]] = {
    **dict.fromkeys(NAMED, NAMES),
    "device": st.sampled_from(("angel", "bee-tek")),
    "boot": st.integers(0, 2**63 - 1),
    "sequence": st.integers(0, 2**63 - 1),
}

PLACES = tuple((topic, event_type) for topic, event_types in EVENTS_OF.items() for event_type in event_types)


def values(declared: Any) -> st.SearchStrategy[Any]:
    origin, inside = get_origin(declared), get_args(declared)
    if origin in (Union, UnionType):
        return st.one_of([values(member) for member in inside])
    if origin is tuple and inside[-1:] == (Ellipsis,):
        return st.lists(values(inside[0]), max_size=3).map(tuple)
    if origin is tuple:
        return st.tuples(*map(values, inside))
    if origin is dict:
        return st.dictionaries(values(inside[0]), values(inside[1]), max_size=3)
    if declared in PLAIN:
        return PLAIN[declared]
    if issubclass(declared, Enum):
        return st.sampled_from(list(declared))
    return structs(declared)


def structs(declared: type[Struct]) -> st.SearchStrategy[Any]:
    hints = get_type_hints(declared)
    fields = {
        name: WELL_FORMED[name] if name in WELL_FORMED else values(hints[name]) for name in declared.__struct_fields__
    }
    return st.builds(declared, **fields)


def placed_events() -> st.SearchStrategy[tuple[str, Event]]:
    """An event of any type, and a topic that it belongs to."""
    return st.sampled_from(PLACES).flatmap(lambda place: st.tuples(st.just(place[0]), structs(place[1])))
