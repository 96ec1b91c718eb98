"""Exact counts over every deal a shoe can give, through the project's own tableau.

Ways are integers: a deal counts as the number of ordered six-card sequences that begin with it, so that deals of
four, five and six cards weigh alike and all sum to n (n - 1) ... (n - 5) for a shoe of n cards.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

from msgspec import Struct

from services.baccarat.cards import Card, Hand, Winner
from services.baccarat.errors import BadSettings
from services.baccarat.shoe import fresh_shoe
from services.baccarat.tableau import drawing_hand, winner_of

# Cards by their points: how many of 0, 1, ... 9.
Composition = tuple[int, ...]
# By two-card totals, the Player's and the Banker's: ways[fifth card's points][sixth card's points].
SixCards = Mapping[tuple[int, int], tuple[tuple[int, ...], ...]]


class Deal(Struct, frozen=True):
    """A completed deal as far as totals go: two-card totals, points of third cards (None: stood), and its ways."""

    player_two: int
    banker_two: int
    player_third: int | None
    banker_third: int | None
    ways: int

    @property
    def player_total(self) -> int:
        return (self.player_two + (self.player_third or 0)) % 10

    @property
    def banker_total(self) -> int:
        return (self.banker_two + (self.banker_third or 0)) % 10


class Outcomes(Struct, frozen=True):
    """In how many of all `ways` to deal six cards each winner comes out."""

    player: int
    banker: int
    tie: int
    ways: int


def composition(decks: int, removed: Iterable[Card] = ()) -> Composition:
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


def deals(decks: int, removed: Iterable[Card] = ()) -> Iterator[Deal]:
    """Every distinct completed deal that the shoe can give, once, with all its ways."""
    return (deal for deal in _completed(_six_cards(composition(decks, removed))) if deal.ways)


def _completed(six_cards: SixCards) -> Iterator[Deal]:
    for (player, banker), by_fifth in six_cards.items():
        hand = drawing_hand(player, banker)
        if hand is None:
            yield Deal(player, banker, None, None, sum(map(sum, by_fifth)))
            continue
        for fifth, by_sixth in enumerate(by_fifth):
            player_third, banker_third = (fifth, None) if hand is Hand.PLAYER else (None, fifth)
            if drawing_hand(player, banker, player_third, banker_third) is None:
                yield Deal(player, banker, player_third, banker_third, sum(by_sixth))
                continue
            for sixth, ways in enumerate(by_sixth):  # a sixth card is the Banker's, after the Player's
                yield Deal(player, banker, player_third, sixth, ways)


@lru_cache(maxsize=16)
def _six_cards(left: Composition) -> SixCards:
    """The ways of all ordered sequences of six cards, whoever would draw the last two of them."""
    first_four: dict[tuple[int, int, Composition], int] = {}
    for player, after_player, player_ways in _two_cards(left):
        for banker, after_banker, banker_ways in _two_cards(after_player):
            key = (player, banker, after_banker)
            first_four[key] = first_four.get(key, 0) + player_ways * banker_ways
    counted = {(player, banker): [[0] * 10 for _ in range(10)] for player in range(10) for banker in range(10)}
    for (player, banker, rest), ways in first_four.items():
        for fifth, by_sixth in enumerate(counted[player, banker]):
            with_fifth = ways * rest[fifth]
            for sixth, more in enumerate(rest):
                by_sixth[sixth] += with_fifth * more
            by_sixth[fifth] -= with_fifth  # the fifth card itself cannot come again
    return {totals: tuple(map(tuple, by_fifth)) for totals, by_fifth in counted.items()}


def _two_cards(left: Composition) -> Iterator[tuple[int, Composition, int]]:
    """Every pair of points that can be drawn: its total, what is left, and its ways in both orders."""
    for high, many in enumerate(left):
        for low, more in enumerate(left[: high + 1]):
            ways = many * (many - 1) if low == high else 2 * many * more
            if ways:
                rest = list(left)
                rest[high] -= 1
                rest[low] -= 1
                yield (high + low) % 10, tuple(rest), ways


def outcomes(decks: int, removed: Iterable[Card] = ()) -> Outcomes:
    """The ways of every deal, counted by winner.

    >>> outcomes(8)
    Outcomes(player=2230518282592256, banker=2292252566437888, tie=475627426473216, ways=4998398275503360)
    """
    by_winner = dict.fromkeys(Winner, 0)
    for deal in deals(decks, removed):
        by_winner[winner_of(deal.player_total, deal.banker_total)] += deal.ways
    return Outcomes(
        player=by_winner[Winner.PLAYER],
        banker=by_winner[Winner.BANKER],
        tie=by_winner[Winner.TIE],
        ways=sum(by_winner.values()),
    )
