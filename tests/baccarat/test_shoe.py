"""Shoes: making, burning, ending, and what they cannot hold."""

import hashlib
from collections import Counter
from collections.abc import Iterator
from itertools import product
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.baccarat import shoe
from services.baccarat.cards import DECK, RANKS, Card, parse_card
from services.baccarat.errors import BadSettings, InvariantBroken

quietly = settings(derandomize=True, deadline=None)


def cards(text: str) -> tuple[Card, ...]:
    return tuple(parse_card(word) for word in text.split())


# ---- making ----


@pytest.mark.parametrize("decks", range(1, 13))
def test_a_fresh_shoe_holds_each_card_once_a_deck(decks: int) -> None:
    fresh = shoe.fresh_shoe(decks)
    assert len(fresh) == 52 * decks
    assert Counter(fresh) == dict.fromkeys(DECK, decks)


@pytest.mark.parametrize("decks", [-1, 0, 13])
def test_a_shoe_holds_1_to_12_decks(decks: int) -> None:
    with pytest.raises(BadSettings, match=f"1 to 12 decks, not {decks}"):
        shoe.fresh_shoe(decks)


@quietly
@given(st.lists(st.sampled_from(DECK), max_size=60), st.randoms(use_true_random=False))
def test_a_shuffle_keeps_every_card(order: list[Card], chance: Random) -> None:
    assert Counter(shoe.shuffle(order, chance.randrange)) == Counter(order)


def test_every_order_comes_from_exactly_one_run_of_chance() -> None:
    """Four cards take the draws below 4, 3 and 2: 24 equally likely runs, and so 24 equally likely orders."""
    four = cards("AS 2S 3S 4S")
    seen = Counter[tuple[Card, ...]]()
    for run in product(range(4), range(3), range(2)):
        asked: list[int] = []
        draws = iter(run)

        def random_below(bound: int, asked: list[int] = asked, draws: Iterator[int] = draws) -> int:
            asked.append(bound)
            return next(draws)

        seen[shoe.shuffle(four, random_below)] += 1
        assert asked == [4, 3, 2]
    assert len(seen) == 24
    assert set(seen.values()) == {1}


def test_a_commitment_can_be_checked_with_any_sha_256() -> None:
    order = cards("9S 10D KH")
    assert shoe.commitment(order, b"\x00\xff") == hashlib.sha256(b"00ff:9S 10D KH").hexdigest()


def test_a_commitment_binds_the_order_and_the_salt() -> None:
    sealed = [
        shoe.commitment(order, salt)
        for order in (cards("9S 10D"), cards("10D 9S"), cards("9S"), ())
        for salt in (b"", b"a", b"b")
    ]
    assert len(set(sealed)) == len(sealed)


# ---- burning ----


@pytest.mark.parametrize(
    ("rule", "counts"),
    [
        ("face_value_faces_10", (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10, 10)),
        ("ace_11", (11, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10, 10)),
    ],
)
def test_the_turned_card_says_how_many_more_are_burned(rule: str, counts: tuple[int, ...]) -> None:
    assert tuple(shoe.burn_count(rule, 0, 8, Card(rank, "H")) for rank in RANKS) == counts
    assert shoe.turns_first_card(rule)


def test_the_mean_burn_by_face_value_is_85_of_13() -> None:
    assert sum(shoe.burn_count("face_value_faces_10", 0, 8, Card(rank)) for rank in RANKS) == 85


@pytest.mark.parametrize(
    ("rule", "fixed", "decks", "count"), [("fixed_n", 3, 8, 3), ("deck_count", 0, 6, 6), ("none", 5, 8, 0)]
)
def test_other_rules_turn_no_card(rule: str, fixed: int, decks: int, count: int) -> None:
    assert shoe.burn_count(rule, fixed, decks, None) == count
    assert not shoe.turns_first_card(rule)


def test_a_fixed_burn_of_no_card_is_refused() -> None:
    with pytest.raises(BadSettings, match="1 card or more, not 0"):
        shoe.burn_count("fixed_n", 0, 8, None)


def test_the_burn_waits_for_a_turned_card_that_was_not_read() -> None:
    with pytest.raises(InvariantBroken, match="was not read"):
        shoe.burn_count("face_value_faces_10", 0, 8, None)


def test_an_unknown_burn_rule_is_named() -> None:
    with pytest.raises(BadSettings, match="'all'"):
        shoe.burn_count("all", 0, 8, None)
    with pytest.raises(BadSettings, match="'all'"):
        shoe.burns_left("all", 0, 8, ())


@pytest.mark.parametrize("rule", shoe.BURN_RULES)
@pytest.mark.parametrize("first", ["AS", "5H", "KD"])
def test_burns_left_counts_down_to_the_first_round(rule: str, first: str) -> None:
    turned = parse_card(first)
    burned: tuple[Card | None, ...] = ()
    left = [shoe.burns_left(rule, 3, 8, burned)]
    while left[-1] > 0:
        burned = (*burned, None if burned or not shoe.turns_first_card(rule) else turned)
        left.append(shoe.burns_left(rule, 3, 8, burned))
    in_all = shoe.burn_count(rule, 3, 8, turned) + shoe.turns_first_card(rule)
    assert len(burned) == in_all
    assert left[1:] == list(range(in_all - 1, -1, -1))
    assert shoe.burns_left(rule, 3, 8, (turned, *burned)) == 0


# ---- ending ----


@pytest.mark.parametrize(
    ("rule", "in_round", "opened", "between"),
    [
        ("finish_round", 0, 1, 0),
        ("one_more", 1, 1, 1),
        ("always_one_more", 1, 2, 2),
        ("cards_left_below_n", None, None, None),
    ],
)
def test_rounds_begun_after_the_cut_card(
    rule: str, in_round: int | None, opened: int | None, between: int | None
) -> None:
    assert shoe.rounds_left(rule, in_round=True, betting_opened=True) == in_round
    assert shoe.rounds_left(rule, in_round=True) == in_round
    assert shoe.rounds_left(rule, in_round=False, betting_opened=True) == opened
    assert shoe.rounds_left(rule, in_round=False) == between


@pytest.mark.parametrize(
    ("rule", "needed"), [("finish_round", 6), ("one_more", 11), ("always_one_more", 12), ("cards_left_below_n", 6)]
)
def test_cards_needed_behind_the_cut_card(rule: str, needed: int) -> None:
    assert shoe.cards_needed(rule) == needed


@pytest.mark.parametrize("rule", ["finish_round", "one_more", "always_one_more"])
def test_the_cards_needed_are_the_worst_that_the_rounds_left_can_take(rule: str) -> None:
    """The running round takes at most 5 cards more, each further round at most 6."""
    found = shoe.END_RULES[rule]
    assert found.running is not None
    assert found.opened is not None
    assert found.between is not None
    assert shoe.cards_needed(rule) == max(5 + 6 * found.running, 6 * found.opened, 6 * found.between)


def test_a_low_shoe_begins_no_round() -> None:
    assert not shoe.is_low("cards_left_below_n", 40, 40)
    assert shoe.is_low("cards_left_below_n", 40, 39)


def test_a_shoe_that_cannot_end_a_round_is_low_whatever_n_says() -> None:
    assert not shoe.is_low("cards_left_below_n", 0, 6)
    assert shoe.is_low("cards_left_below_n", 0, 5)


def test_a_cut_card_rule_never_finds_a_shoe_low() -> None:
    assert not any(shoe.is_low(rule, 40, 0) for rule in shoe.END_RULES if rule != "cards_left_below_n")


def test_an_unknown_end_rule_is_named() -> None:
    with pytest.raises(BadSettings, match="'never'"):
        shoe.rounds_left("never", in_round=True)
    with pytest.raises(BadSettings, match="'never'"):
        shoe.cards_needed("never")


# ---- the inventory ----


def test_the_ninth_seven_of_hearts_in_eight_decks_is_too_many() -> None:
    seven, other = parse_card("7H"), parse_card("7S")
    assert not shoe.too_many(8, (seven,) * 7, seven)
    assert shoe.too_many(8, (seven,) * 8, seven)
    assert not shoe.too_many(8, (seven,) * 8, other)


def test_a_whole_shoe_fits_and_not_one_card_more() -> None:
    fresh = shoe.fresh_shoe(2)
    assert not any(shoe.too_many(2, fresh[:place], card) for place, card in enumerate(fresh))
    assert all(shoe.too_many(2, fresh, card) for card in DECK)


def test_cards_of_rank_only_are_counted_by_rank() -> None:
    seven = parse_card("7")
    assert not shoe.too_many(1, (seven,) * 3, seven)
    assert shoe.too_many(1, (seven,) * 4, seven)
    assert not shoe.too_many(1, (seven,) * 4, parse_card("8"))


@pytest.mark.parametrize(
    ("dealt", "card", "answer"),
    [
        ("7 7 7", "7H", False),
        ("7 7 7 7", "7H", True),
        ("7H 7 7 7", "7S", True),
        ("7H 7S 7D 7C", "7", True),
        ("7H 7S 7D", "7", False),
        ("7H 7", "7H", True),
        ("8 8 8 8", "7H", False),
    ],
)
def test_ranks_and_suits_in_one_shoe(dealt: str, card: str, *, answer: bool) -> None:
    assert shoe.too_many(1, cards(dealt), parse_card(card)) is answer
