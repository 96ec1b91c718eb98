from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import msgspec
import pytest

from services.baccarat.cards import DECK, RANK_CARDS, Card, Hand, Winner, parse_card
from services.runtime.shapes import Misfit, parse_fraction, shape


class One(msgspec.Struct, frozen=True):
    what: str


class Two(msgspec.Struct, frozen=True):
    hand: Hand
    parts: tuple[One, ...] = ()


@pytest.mark.parametrize(
    ("declared", "value", "plain"),
    [
        (int, 7, 7),
        (Card, parse_card("10D"), "10D"),
        (Card | None, None, None),
        (Card | None, parse_card("K"), "K"),
        (Fraction, Fraction(19, 20), "19/20"),
        (Fraction, Fraction(8), "8"),
        (Fraction, Fraction(-1, 3), "-1/3"),
        (tuple[Card, ...], (parse_card("9S"),), ["9S"]),
        (tuple[int, ...], (), []),
        (One, One("x"), {"what": "x"}),
        (Two, Two(Hand.PLAYER, (One("x"),)), {"hand": "player", "parts": [{"what": "x"}]}),
        (One | None, One("x"), ("puntobanco.One", {"what": "x"})),
        (One | Two | None, One("x"), ("puntobanco.One", {"what": "x"})),
        (One | Two | None, None, None),
        (int | str, "x", ("str", "x")),
    ],
)
def test_a_value_and_its_plain_form(declared: Any, value: Any, plain: Any) -> None:
    form = shape(declared)
    assert form.to_plain(value) == plain
    back = form.from_plain(plain)
    assert back == value
    assert type(back) is type(value)


@pytest.mark.parametrize(
    ("declared", "value", "plain"),
    [
        (int, 2**64, str(2**64)),
        (int, -(2**63), -(2**63)),
        (tuple[int, Card], (1, parse_card("9S")), [1, "9S"]),
        (
            dict[Hand, Card],
            {Hand.BANKER: parse_card("9S"), Hand.PLAYER: parse_card("2C")},
            [("banker", "9S"), ("player", "2C")],
        ),
        (Mapping[tuple[int, int], bool], {(2, 1): True}, [([2, 1], True)]),
    ],
)
def test_what_only_states_hold(declared: Any, value: Any, plain: Any) -> None:
    form = shape(declared, wide=True)
    assert form.to_plain(value) == plain
    assert form.from_plain(plain) == value


@pytest.mark.parametrize("declared", [float, set[int], list[int], dict[str, int], tuple[int, str], object, Any])
def test_a_declaration_without_a_plain_form_is_refused(declared: Any) -> None:
    with pytest.raises(TypeError):
        shape(declared)


def test_members_of_a_union_must_differ_in_type() -> None:
    with pytest.raises(TypeError, match="cannot be told apart"):
        shape(tuple[int, ...] | tuple[str, ...])


@pytest.mark.parametrize(
    ("declared", "value"),
    [
        (One, One(1)),  # type: ignore[arg-type]
        (Two, Two(Winner.PLAYER)),  # type: ignore[arg-type]
        (Two, Two(Hand.PLAYER, (1,))),  # type: ignore[arg-type]
        (dict[str, int], {1: 1}),
        (dict[str, int], {"a": True}),
        (tuple[int, str], (1, 2)),
        (tuple[int, str], (1,)),
    ],
)
def test_a_value_that_is_not_as_declared_is_refused(declared: Any, value: Any) -> None:
    with pytest.raises(ValueError, match=r"not|shorter"):
        shape(declared, wide=True).to_plain(value)


@pytest.mark.parametrize("text", ["", "1/0", "1/", "/2", "1.5", "1e9", " 1", "1/2/3", "1/-2", "+1", "\u0661"])
def test_a_fraction_is_written_in_one_way(text: str) -> None:
    with pytest.raises(Misfit):
        parse_fraction(text)


def test_a_card_that_is_read_is_the_canonical_one() -> None:
    read = shape(Card).from_plain
    for card in (*DECK, *RANK_CARDS):
        assert read(str(card)) is card
    assert read("td") is parse_card("10D")  # as others may write it


def test_shapes_are_told_apart_by_names_and_order_of_all_fields() -> None:
    assert shape(Two).text == "Two(hand: Hand, parts: (One(what: str), ...))"
