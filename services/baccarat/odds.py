"""Exact counts over every deal a shoe can give, through the project's own tableau.

Ways are integers: a deal counts as the number of ordered six-card sequences that begin with it, so that deals of
four, five and six cards weigh alike and all sum to n (n - 1) ... (n - 5) for a shoe of n cards.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Final

from msgspec import Struct

from services.baccarat.cards import Card, Hand, Winner
from services.baccarat.errors import BadSettings
from services.baccarat.events import Line
from services.baccarat.features import COLOUR, FACES, FEATURES, LOOKS_AT, TOTALS, Finished, Two, needs_of, two
from services.baccarat.payouts import facts_in, first_match
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


# ---------------------------------------------------------------- every bet

# What an enumeration may cost, in pairs of two-card hands looked at: a few seconds.
MOST_STEPS: Final = 4_000_000


class Class(Struct, frozen=True):
    """Cards that nothing asked for tells apart: one of them, and how many are left."""

    card: Card
    count: int


class Ended(Struct, frozen=True):
    """Rounds that read alike, and all their ways."""

    one: Finished
    ways: int


class LineOdds(Struct, frozen=True):
    """In how many ways a line decides, and what it then returns per unit staked, the stake included.

    `line` is its number from 1; None is the loss that no line prevents.
    """

    line: int | None
    ways: int
    returns: Fraction


class BetOdds(Struct, frozen=True):
    """What a bet comes to over all ways of a shoe, exactly: `lines` has every line and the loss."""

    bet: str
    lines: tuple[LineOdds, ...]
    ways: int

    def _share(self, counts: Callable[[Fraction], bool]) -> Fraction:
        return Fraction(sum(line.ways for line in self.lines if counts(line.returns)), self.ways)

    @property
    def win(self) -> Fraction:
        """Probability that more than the stake comes back."""
        return self._share(lambda returns: returns > 1)

    @property
    def push(self) -> Fraction:
        """Probability that just the stake comes back."""
        return self._share(lambda returns: returns == 1)

    @property
    def loss(self) -> Fraction:
        """Probability that less than the stake comes back."""
        return self._share(lambda returns: returns < 1)

    @property
    def expected_return(self) -> Fraction:
        """What a unit stake returns on average, the stake included."""
        return sum((line.ways * line.returns for line in self.lines), Fraction(0)) / self.ways

    @property
    def edge(self) -> Fraction:
        """The house's share of the stake on average."""
        return 1 - self.expected_return

    @property
    def variance(self) -> Fraction:
        """Of what a unit stake returns."""
        squares = sum((line.ways * line.returns**2 for line in self.lines), Fraction(0)) / self.ways
        return squares - self.expected_return**2


def classes(decks: int, removed: Iterable[Card], needs: frozenset[str]) -> tuple[Class, ...]:
    """The shoe's cards by what `needs` tells apart.

    Raises BadSettings where the removed cards are not in the shoe, or leave too few, or have no suit though suits count.
    """
    left = Counter(fresh_shoe(decks))
    for card in removed:
        if card.suit is None or not left[card]:
            raise BadSettings(f"{card} cannot be removed: {decks} decks have no (further) card of that rank and suit")
        left[card] -= 1
    if sum(left.values()) < 6:
        raise BadSettings(f"{sum(left.values())} cards are left, and a round can take 6")
    by_look: dict[tuple[object, ...], list[Card]] = {}
    for card in left:
        by_look.setdefault(tuple(LOOKS_AT[need](card) for need in sorted(needs)), []).append(card)
    counted = (Class(cards[0], sum(left[card] for card in cards)) for cards in by_look.values())
    return tuple(one for one in counted if one.count)


def steps(decks: int, needs: frozenset[str]) -> int:
    """What an enumeration that tells `needs` apart costs."""
    many = len(classes(decks, (), needs))
    return (many * (many + 1) // 2) ** 2 * (10 if needs & ASKS_ALL_CARDS and many > POINT_CLASSES else 1)


ASKS_ALL_CARDS: Final = frozenset({TOTALS, COLOUR, FACES})
POINT_CLASSES: Final = 10


@lru_cache(maxsize=64)
def ends(decks: int, removed: tuple[Card, ...], needs: frozenset[str]) -> tuple[Ended, ...]:
    """Every round that the shoe can give, as far as `needs` tells them apart, with its ways.

    Raises BadSettings, with the number, where that would take more than MOST_STEPS.
    """
    if (cost := steps(decks, needs)) > MOST_STEPS:
        asked = ", ".join(sorted(needs))
        raise BadSettings(f"telling {asked} apart takes {cost:,} steps, and at most {MOST_STEPS:,} are taken")
    shoe = classes(decks, removed, needs)
    if not needs & ASKS_ALL_CARDS:
        cards = sum(one.count for one in shoe)
        rest = (cards - 4) * (cards - 5)
        return tuple(
            Ended(Finished(player, banker, None, None), dealt.ways * rest)
            for (player, banker), dealt in _first_four(shoe, needs, thirds=False).items()
        )
    by_end: dict[Finished, int] = {}
    for (player, banker), dealt in _first_four(shoe, needs, thirds=True).items():
        for one, ways in _drawn(shoe, player, banker, dealt):
            by_end[one] = by_end.get(one, 0) + ways
    return tuple(Ended(one, ways) for one, ways in by_end.items() if ways)


class FirstFour:
    """All first four cards that read alike: their ways, and which cards they leave.

    `taken[c]` sums ways x how many cards of class c are gone, `both[c, d]` ways x the product for two classes: with
    them the ways of a fifth and a sixth card are exact without looking at the single deals again.
    """

    __slots__ = ("both", "taken", "ways")

    def __init__(self, many: int) -> None:
        self.ways = 0
        self.taken = [0] * many
        self.both: dict[tuple[int, int], int] = {}

    def add(self, ways: int, gone: tuple[int, int, int, int], *, thirds: bool) -> None:
        """Counts one more deal, which took a card of each of these classes."""
        self.ways += ways
        if not thirds:
            return
        for one in gone:
            self.taken[one] += ways
            for other in gone:
                self.both[one, other] = self.both.get((one, other), 0) + ways


def _first_four(shoe: tuple[Class, ...], needs: frozenset[str], *, thirds: bool) -> dict[tuple[Two, Two], FirstFour]:
    """The first two cards of both hands, in every way, by what they read as."""
    hands = [
        (low, high, two(shoe[low].card, shoe[high].card, needs)) for high in range(len(shoe)) for low in range(high + 1)
    ]
    left = [one.count for one in shoe]
    found: dict[tuple[Two, Two], FirstFour] = {}
    for low, high, player in hands:
        player_ways = _pair_ways(left, low, high)
        left[low] -= 1
        left[high] -= 1
        for other_low, other_high, banker in hands:
            ways = player_ways * _pair_ways(left, other_low, other_high)
            if ways:
                dealt = found.get((player, banker))
                if dealt is None:
                    dealt = found[player, banker] = FirstFour(len(shoe))
                dealt.add(ways, (low, high, other_low, other_high), thirds=thirds)
        left[low] += 1
        left[high] += 1
    return found


def _pair_ways(left: list[int], low: int, high: int) -> int:
    """In how many orders two cards of these classes come."""
    return left[low] * (left[low] - 1) if low == high else 2 * left[low] * left[high]


def _drawn(shoe: tuple[Class, ...], player: Two, banker: Two, dealt: FirstFour) -> Iterator[tuple[Finished, int]]:
    """How the rounds that begin so end: nobody draws, or one hand, or both."""
    cards = sum(one.count for one in shoe)
    hand = drawing_hand(player.total, banker.total)
    if hand is None:
        yield Finished(player, banker, None, None), dealt.ways * (cards - 4) * (cards - 5)
        return
    for fifth, drawn in enumerate(shoe):
        ways = drawn.count * dealt.ways - dealt.taken[fifth]
        if hand is Hand.BANKER:
            yield Finished(player, banker, None, drawn.card), ways * (cards - 5)
        elif drawing_hand(player.total, banker.total, drawn.card.points) is None:
            yield Finished(player, banker, drawn.card, None), ways * (cards - 5)
        else:
            for sixth, last in enumerate(shoe):
                yield Finished(player, banker, drawn.card, last.card), _two_more(shoe, dealt, fifth, sixth)


def _two_more(shoe: tuple[Class, ...], dealt: FirstFour, fifth: int, sixth: int) -> int:
    """The ways of a fifth and a sixth card of these classes: sum of ways x left(fifth) x left(sixth)."""
    many, more = shoe[fifth].count, shoe[sixth].count
    ways = (
        many * more * dealt.ways
        - many * dealt.taken[sixth]
        - more * dealt.taken[fifth]
        + dealt.both.get((fifth, sixth), 0)
    )
    if fifth == sixth:  # the fifth card itself cannot come again
        ways -= many * dealt.ways - dealt.taken[fifth]
    return ways


def bet_odds(bet: str, lines: tuple[Line, ...], decks: int, removed: tuple[Card, ...] = ()) -> BetOdds:
    """What a bet on these lines comes to, exactly. Raises BadSettings for what cannot be counted."""
    facts = sorted(facts_in(lines))
    ways_of: dict[tuple[str, ...], int] = {}
    reads = [FEATURES[fact].reads for fact in facts]
    for ended in ends(decks, removed, needs_of(frozenset(facts))):
        read = tuple(reading(ended.one) for reading in reads)
        ways_of[read] = ways_of.get(read, 0) + ended.ways
    by_line: dict[int | None, int] = dict.fromkeys((*range(1, len(lines) + 1), None), 0)
    for read, ways in ways_of.items():
        values = dict(zip(facts, read, strict=True))
        by_line[first_match(lines, values.__getitem__)] += ways
    return BetOdds(
        bet,
        tuple(
            LineOdds(number, ways, Fraction(0) if number is None else returns_of(lines[number - 1]))
            for number, ways in by_line.items()
        ),
        sum(ways_of.values()),
    )


def returns_of(line: Line) -> Fraction:
    """What a line returns per unit staked, exactly: stake, and winnings less commission."""
    return Fraction(1) if line.odds is None else 1 + line.odds * (1 - line.commission)
