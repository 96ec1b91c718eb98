"""The vocabulary of conditions, word by word, on cards."""

import pytest

from services.baccarat.cards import DECK, Card
from services.baccarat.errors import InvariantBroken
from services.baccarat.events import Condition
from services.baccarat.features import (
    COLOUR,
    FACES,
    FEATURES,
    LOOKS_AT,
    PAIR,
    SUITED,
    TOTALS,
    finished,
    needs_of,
    suit_of,
    two,
    when,
)
from tests.baccarat.enumeration import cards

ALL = frozenset(LOOKS_AT)

# player | banker | what each feature reads
ROUNDS = {
    "9S KS | 7H 7H": {
        "winner": "player", "player_total": "9", "banker_total": "4", "winner_total": "9", "loser_total": "4",
        "margin": "5", "player_cards": "2", "banker_cards": "2", "winner_cards": "2", "loser_cards": "2", "cards": "4",
        "natural": "yes", "player_natural": "yes", "banker_natural": "no", "player_two": "9", "banker_two": "4",
        "player_third": "none", "banker_third": "none", "player_pair": "no", "banker_pair": "yes", "pairs": "one",
        "player_pair_rank": "none", "banker_pair_rank": "7",
        "player_suited": "yes", "banker_suited": "yes", "player_perfect": "no", "banker_perfect": "yes",
        "perfect_pairs": "1", "colour": "mixed", "player_third_kind": "none", "banker_third_kind": "none",
        "all_faces": "no",
    },
    "JS JC KS | QC KS JC": {
        "winner": "tie", "winner_total": "none", "loser_total": "none", "winner_cards": "none", "loser_cards": "none",
        "margin": "0", "cards": "6", "natural": "no", "pairs": "one", "player_perfect": "no", "colour": "black",
        "player_third_kind": "face", "banker_third_kind": "face", "all_faces": "yes", "player_third": "0",
    },
    "2D 2H 4H | 3H 3D 2D": {
        "winner": "tie", "pairs": "two", "player_pair_rank": "2", "banker_pair_rank": "3",
        "colour": "red", "player_total": "8", "natural": "no", "perfect_pairs": "0",
        "player_third_kind": "other", "all_faces": "no", "banker_third": "2",
    },
    "10S 10S 2C | 10S 10S 9H": {
        "winner": "banker", "pairs": "same", "perfect_pairs": "2", "winner_total": "9", "loser_total": "2",
        "winner_cards": "3", "loser_cards": "3", "banker_natural": "no", "colour": "mixed", "player_two": "0",
        "banker_two": "0", "player_suited": "yes",
    },
    "4S 3H | 2C 4D 2S": {
        "winner": "banker", "winner_cards": "3", "loser_cards": "2", "player_third": "none",
        "banker_third_kind": "other", "cards": "5", "pairs": "none", "player_suited": "no", "margin": "1",
    },
}  # fmt: skip


@pytest.mark.parametrize("written", ROUNDS)
def test_what_each_feature_reads(written: str) -> None:
    player, banker = (cards(hand) for hand in written.split("|"))
    one = finished(player, banker, ALL)
    assert {fact: FEATURES[fact].reads(one) for fact in ROUNDS[written]} == ROUNDS[written]


def test_a_feature_reads_one_of_its_values_and_needs_no_more_than_it_says() -> None:
    for written in ROUNDS:
        player, banker = (cards(hand) for hand in written.split("|"))
        for fact, feature in FEATURES.items():
            read = feature.reads(finished(player, banker, ALL))
            assert read in feature.values
            assert feature.reads(finished(player, banker, frozenset(feature.needs))) == read, fact
            assert feature.says


def test_a_hand_tells_apart_what_was_asked_and_nothing_else() -> None:
    nine = (Card("9", "S"), Card("9", "S"))
    assert two(*nine, frozenset()) == two(Card("K", "H"), Card("3", "D"), frozenset())
    assert two(*nine, ALL).pair == "9"
    assert two(*nine, frozenset({TOTALS})).total == 8
    assert two(*nine, frozenset({SUITED})).suited
    assert two(*nine, frozenset({COLOUR})).colour == "black"
    assert not two(*nine, frozenset({FACES})).faces


@pytest.mark.parametrize(("need", "classes"), [(TOTALS, 10), (PAIR, 13), (SUITED, 4), (COLOUR, 2), (FACES, 2)])
def test_how_many_classes_of_cards_a_need_tells_apart(need: str, classes: int) -> None:
    assert len({LOOKS_AT[need](card) for card in DECK}) == classes


def test_what_lines_need() -> None:
    assert needs_of(frozenset({"winner", "player_pair"})) == {TOTALS, PAIR}
    assert needs_of(frozenset()) == frozenset()


def test_conditions_as_a_pay_table_writes_them() -> None:
    assert when(winner="banker", banker_total=(6, 7)) == (
        Condition("winner", ("banker",)),
        Condition("banker_total", ("6", "7")),
    )


def test_a_card_whose_suit_was_not_recorded_has_none_to_give() -> None:
    with pytest.raises(InvariantBroken, match="settled by 9"):
        suit_of(Card("9"))
