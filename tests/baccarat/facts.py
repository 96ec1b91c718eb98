"""Any fact at all, for the laws that must hold for every one: values of the right type, and no sense otherwise."""

from enum import Enum
from fractions import Fraction
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

from hypothesis import strategies as st
from msgspec import Struct

from services.baccarat.cards import RANK_CARDS, Card
from services.baccarat.catalogue import configuration
from services.baccarat.events import Configuration, Event

CAUSES = ("eye/1/2", "eye/2/1", "eye/²/1", "action/a1", "action/a2", "bet/1/1/b", "poison", "", "///")
WORDS = ("b1", "b2", "player", "moved", "shoe-closed", "shoe-claimed", "rules-claimed", "rules-disputed")
LEAVES: dict[Any, st.SearchStrategy[Any]] = {
    int: st.integers(-1, 4),
    str: st.sampled_from(WORDS),
    bool: st.booleans(),
    NoneType: st.none(),
    Card: st.sampled_from(RANK_CARDS),
    Fraction: st.sampled_from([Fraction(0), Fraction(1, 20)]),
    Configuration: st.just(configuration("classic")),
}


def value_of(kind: Any) -> st.SearchStrategy[Any]:
    """Few different values of a type, so that facts meet in the same shoe, round and bet."""
    if kind in LEAVES:
        return LEAVES[kind]
    if isinstance(kind, UnionType):
        return st.one_of([value_of(part) for part in get_args(kind)])
    if get_origin(kind) is tuple:
        return st.lists(value_of(get_args(kind)[0]), max_size=3).map(tuple)
    if issubclass(kind, Enum):
        return st.sampled_from(list(kind))
    return fact_of(kind)


def fact_of(kind: type[Struct]) -> st.SearchStrategy[Any]:
    fields = {name: value_of(hint) for name, hint in get_type_hints(kind).items() if name in kind.__struct_fields__}
    causes = {"cause_id": st.sampled_from(CAUSES)} if "cause_id" in fields else {}
    return st.builds(kind, **{**fields, **causes, "table_id": st.just("T1")} if "table_id" in fields else fields)


def facts(kinds: tuple[type[Event], ...]) -> st.SearchStrategy[list[Event]]:
    """A log of these facts in any order."""
    return st.lists(st.one_of([fact_of(kind) for kind in kinds]), max_size=25)
