"""Exact counts over every deal a shoe can give, through the project's own tableau.

Ways are integers: a deal counts as the number of ordered six-card sequences that begin with it, so that deals of
four, five and six cards weigh alike and all sum to n (n - 1) ... (n - 5) for a shoe of n cards.
"""

from collections.abc import Iterable, Iterator
from math import perm

from msgspec import Struct

from services.baccarat.cards import Card, Hand, Winner
from services.baccarat.errors import BadSettings
from services.baccarat.shoe import fresh_shoe
from services.baccarat.tableau import next_hand_by_points, winner_of

Points = tuple[int, ...]


class Outcomes(Struct, frozen=True):
    """In how many of all `ways` to deal six cards each winner comes out."""

    player: int
    banker: int
    tie: int
    ways: int


def composition(decks: int, removed: Iterable[Card] = ()) -> Points:
    """How many cards of 0, 1, ... 9 points a shoe holds without the removed ones."""
    left = [0] * 10
    for card in fresh_shoe(decks):
        left[card.points] += 1
    for card in removed:
        left[card.points] -= 1
    if min(left) < 0 or sum(left) < 6:
        raise BadSettings(
            f"no six cards can be dealt from {decks} decks without the removed ones: {left} by points 0 to 9"
        )
    return tuple(left)


def deals(decks: int, removed: Iterable[Card] = ()) -> Iterator[tuple[Points, Points, int]]:
    """Every completed deal, as the Player's points, the Banker's points, and in how many ways it comes.

    A hand's first two cards stand in rising order, for both orders together; its third card is last.
    """
    left = composition(decks, removed)
    cards = sum(left)
    fillings = [perm(cards - taken, 6 - taken) for taken in range(7)]  # the ways to deal on to six after so many cards
    growing: dict[tuple[Points, Points], int] = {((), ()): 1}
    while growing:
        grown: dict[tuple[Points, Points], int] = {}
        for (player, banker), ways in growing.items():
            hand = next_hand_by_points(player, banker)
            if hand is None:
                yield player, banker, ways * fillings[len(player) + len(banker)]
                continue
            for points, more in enumerate(_without(left, player + banker)):
                if more > 0:
                    key = (_with(player, points), banker) if hand is Hand.PLAYER else (player, _with(banker, points))
                    grown[key] = grown.get(key, 0) + ways * more
        growing = grown


def _without(left: Points, taken: Points) -> list[int]:
    rest = list(left)
    for points in taken:
        rest[points] -= 1
    return rest


def _with(hand: Points, points: int) -> Points:
    """The hand and one card more, its first two in rising order."""
    if len(hand) == 1 and points < hand[0]:
        return (points, hand[0])
    return (*hand, points)


def outcomes(decks: int, removed: Iterable[Card] = ()) -> Outcomes:
    """The ways of every deal, counted by winner.

    >>> outcomes(8)
    Outcomes(player=2230518282592256, banker=2292252566437888, tie=475627426473216, ways=4998398275503360)
    """
    by_winner = dict.fromkeys(Winner, 0)
    for player, banker, ways in deals(decks, removed):
        by_winner[winner_of(sum(player) % 10, sum(banker) % 10)] += ways
    return Outcomes(
        player=by_winner[Winner.PLAYER],
        banker=by_winner[Winner.BANKER],
        tie=by_winner[Winner.TIE],
        ways=sum(by_winner.values()),
    )
