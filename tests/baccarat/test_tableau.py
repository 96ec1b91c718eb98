"""The tableau: its cells, the order of cards, and the explanation of a round."""

import doctest

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.baccarat import tableau
from services.baccarat.cards import DECK, Card, Hand, Winner, parse_card, total

quietly = settings(derandomize=True, deadline=None)
six_cards = st.lists(st.sampled_from(DECK), min_size=6, max_size=6)


def cards(text: str) -> tuple[Card, ...]:
    return tuple(parse_card(word) for word in text.split())


def deal(order: list[Card]) -> tuple[tuple[Card, ...], tuple[Card, ...], list[Hand]]:
    """Deal until the round is over: both hands, and the hand each card went to."""
    player: tuple[Card, ...] = ()
    banker: tuple[Card, ...] = ()
    went: list[Hand] = []
    while (hand := tableau.next_hand(player, banker)) is not None:
        card = order[len(went)]
        went.append(hand)
        if hand is Hand.PLAYER:
            player = (*player, card)
        else:
            banker = (*banker, card)
    return player, banker, went


def test_the_tableau_has_96_cells_of_d_and_dash() -> None:
    assert len(tableau.PLAYER_ROW) == 8
    assert [len(row) for row in tableau.BANKER_ROWS] == [11] * 8
    assert set(tableau.PLAYER_ROW + "".join(tableau.BANKER_ROWS)) == {"D", "-"}


@quietly
@given(six_cards)
def test_six_cards_are_always_enough_and_each_goes_to_one_hand(order: list[Card]) -> None:
    player, banker, went = deal(order)
    assert 4 <= len(went) <= 6
    assert went[:4] == [Hand.PLAYER, Hand.BANKER, Hand.PLAYER, Hand.BANKER]
    assert went.count(Hand.PLAYER) == len(player)
    assert went.count(Hand.BANKER) == len(banker)
    assert len(player) in {2, 3}
    assert len(banker) in {2, 3}
    assert sorted(map(str, player + banker)) == sorted(map(str, order[: len(went)]))


@quietly
@given(six_cards)
def test_a_third_card_goes_to_the_player_first(order: list[Card]) -> None:
    _player, _banker, went = deal(order)
    assert went[4:] in ([], [Hand.PLAYER], [Hand.BANKER], [Hand.PLAYER, Hand.BANKER])


@quietly
@given(six_cards)
def test_only_points_decide_who_draws(order: list[Card]) -> None:
    of_clubs = [Card("10" if card.points == 0 else card.rank, "C") for card in order]
    assert deal(order)[2] == deal(of_clubs)[2]


@quietly
@given(six_cards)
def test_every_explanation_ends_with_the_outcome(order: list[Card]) -> None:
    player, banker, _went = deal(order)
    winner = tableau.winner_of(total(player), total(banker))
    last = tableau.explain(player, banker)[-1]
    assert last.split()[0].strip(",").lower() == winner.value
    assert str(total(player)) in last
    assert str(total(banker)) in last


@pytest.mark.parametrize(
    ("player_total", "banker_total", "winner"),
    [(9, 8, Winner.PLAYER), (0, 1, Winner.BANKER), (0, 0, Winner.TIE), (6, 7, Winner.BANKER), (9, 9, Winner.TIE)],
)
def test_the_higher_total_wins(player_total: int, banker_total: int, winner: Winner) -> None:
    assert tableau.winner_of(player_total, banker_total) is winner


@pytest.mark.parametrize(
    ("hand", "natural"),
    [("9 K", True), ("4 4", True), ("7 K", False), ("2 3 4", False), ("4 2 2", False), ("9", False), ("", False)],
)
def test_a_natural_is_8_or_9_on_two_cards(hand: str, *, natural: bool) -> None:
    assert tableau.is_natural(cards(hand)) is natural


FIRST_FOUR = "The first four cards go Player, Banker, Player, Banker; "
NO_NATURAL = "No natural: neither hand has 8 or 9 on two cards."
PLAYER_RULE = "it draws on 0-5 and stands on 6-7."


@pytest.mark.parametrize(
    ("player", "banker", "sentences"),
    [
        ("", "", (FIRST_FOUR + "the next is the Player's.",)),
        ("9S", "", (FIRST_FOUR + "the next is the Banker's.",)),
        (
            "9S KD",
            "2C 3S",
            (
                "Player: 9S KD, total 9. Banker: 2C 3S, total 5.",
                "The Player has a natural, 8 or 9 on two cards: both hands stand.",
                "Player wins, 9 to 5.",
            ),
        ),
        (
            "2 3",
            "4 4",
            (
                "Player: 2 3, total 5. Banker: 4 4, total 8.",
                "The Banker has a natural, 8 or 9 on two cards: both hands stand.",
                "Banker wins, 8 to 5.",
            ),
        ),
        (
            "9 K",
            "9 K",
            (
                "Player: 9 K, total 9. Banker: 9 K, total 9.",
                "Both hands have a natural, 8 or 9 on two cards: both stand.",
                "Tie, 9 all.",
            ),
        ),
        (
            "2 4",
            "3 A 5",
            (
                "Player: 2 4, total 6. Banker: 3 A, total 4.",
                NO_NATURAL,
                "The Player stands on 6: " + PLAYER_RULE,
                (
                    "The Banker draws on 4: the Player stood, and then it draws on 0-5 and stands on 6-7. "
                    "It draws 5: total 9."
                ),
                "Banker wins, 9 to 6.",
            ),
        ),
        (
            "2 3",
            "2 A",
            (
                "Player: 2 3, total 5. Banker: 2 A, total 3.",
                NO_NATURAL,
                "The Player draws on 5: " + PLAYER_RULE,
                "The Player's third card is awaited.",
            ),
        ),
        (
            "2 3 8",
            "2 A",
            (
                "Player: 2 3, total 5. Banker: 2 A, total 3.",
                NO_NATURAL,
                "The Player draws on 5: " + PLAYER_RULE + " It draws 8: total 3.",
                (
                    "The Banker stands on 3: the Player's third card counts 8, and on 3 the Banker draws against "
                    "0-7 and 9 and stands against 8."
                ),
                "Tie, 3 all.",
            ),
        ),
        (
            "4 10 6",
            "2 3",
            (
                "Player: 4 10, total 4. Banker: 2 3, total 5.",
                NO_NATURAL,
                "The Player draws on 4: " + PLAYER_RULE + " It draws 6: total 0.",
                (
                    "The Banker draws on 5: the Player's third card counts 6, and on 5 the Banker draws against "
                    "4-7 and stands against 0-3 and 8-9."
                ),
                "The Banker's third card is awaited.",
            ),
        ),
        (
            "2 3 K",
            "J A 9",
            (
                "Player: 2 3, total 5. Banker: J A, total 1.",
                NO_NATURAL,
                "The Player draws on 5: " + PLAYER_RULE + " It draws K: total 5.",
                (
                    "The Banker draws on 1: the Player's third card counts 0, and on 1 the Banker always draws. "
                    "It draws 9: total 0."
                ),
                "Player wins, 5 to 0.",
            ),
        ),
        (
            "2 3 A",
            "7 K",
            (
                "Player: 2 3, total 5. Banker: 7 K, total 7.",
                NO_NATURAL,
                "The Player draws on 5: " + PLAYER_RULE + " It draws A: total 6.",
                "The Banker stands on 7: the Player's third card counts 1, and on 7 the Banker never draws.",
                "Banker wins, 7 to 6.",
            ),
        ),
    ],
)
def test_a_round_is_explained_in_reading_order(player: str, banker: str, sentences: tuple[str, ...]) -> None:
    assert tableau.explain(cards(player), cards(banker)) == sentences


def test_the_examples_in_the_docstrings() -> None:
    assert doctest.testmod(tableau) == (0, 2)
