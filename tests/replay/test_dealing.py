import pytest

from services.baccarat.cards import Card, Hand, parse_card
from services.replay.dealing import Dealt, deal


def cards(text: str) -> tuple[Card, ...]:
    return tuple(parse_card(word) for word in text.split())


@pytest.mark.parametrize(
    ("shoe", "player", "banker"),
    [
        ("9H 2C KD 3S", "9H KD", "2C 3S"),  # a natural: nobody draws
        ("2 2 3 A 8", "2 3 8", "2 A"),  # Banker 3 stands against an 8
        ("5 2 A J K 4", "5 A", "2 J K"),  # the Player stands on 6: the Banker takes the fifth card
        ("4 5 K Q 6 2", "4 K 6", "5 Q 2"),
    ],
)
def test_the_rules_give_each_card_to_a_hand(shoe: str, player: str, banker: str) -> None:
    dealt = deal(cards(shoe))
    assert (dealt.player, dealt.banker) == (cards(player), cards(banker))


def test_cards_beyond_the_round_are_left() -> None:
    assert deal(cards("9 2 K 3 5 6")).rest == cards("5 6")


def test_a_round_that_is_not_over_waits_for_a_hand() -> None:
    assert deal(cards("9 2 K")).awaited is Hand.BANKER
    assert deal(cards("2 2 3 A")).awaited is Hand.PLAYER
    assert deal(cards("2 2 3 A 8")).awaited is None


def test_a_pair_is_of_rank_and_of_the_first_two_cards() -> None:
    dealt = deal(cards("J 2 Q 3 5 2"))
    assert not dealt.player_pair, "a jack and a queen are none"
    assert not dealt.banker_pair, "the third card makes none"
    assert Dealt(cards("8H 8C"), cards("2 3")).player_pair
    assert not Dealt().player_pair
