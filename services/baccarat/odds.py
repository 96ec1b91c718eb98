"""Exact counts over every deal a shoe can give, through the project's own tableau.

Ways are integers: a deal counts as the number of ordered six-card sequences that begin with it, so that deals of
four, five and six cards weigh alike and all sum to n (n - 1) ... (n - 5) for a shoe of n cards.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from functools import lru_cache
from itertools import repeat
from typing import Final

from msgspec import Struct

from services.baccarat.cards import SUITS, Card, Hand, Winner
from services.baccarat.errors import BadSettings
from services.baccarat.events import Configuration, Line
from services.baccarat.features import COLOUR, FACES, FEATURES, LOOKS_AT, SUITED, TOTALS, Finished, Two, needs_of, two
from services.baccarat.payouts import Amounts, amounts, facts_in, first_match
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

MOST_STEPS: Final = 3_000_000  # of an enumeration: a few seconds
ASKS_ALL_CARDS: Final = frozenset({TOTALS, COLOUR, FACES})  # of third cards too
ASKS_SUITS: Final = frozenset({SUITED, COLOUR})


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

    Raises BadSettings where the removed cards are not in the shoe, leave too few, or lack the suit that is asked for.
    """
    left = left_in_shoe(decks, tuple(removed), suits_count=bool(needs & ASKS_SUITS))
    by_look: dict[tuple[object, ...], list[Card]] = {}
    for card in left:
        by_look.setdefault(look(card, needs), []).append(card)
    counted = (Class(cards[0], sum(left[card] for card in cards)) for cards in by_look.values())
    return tuple(one for one in counted if one.count)


def left_in_shoe(decks: int, removed: tuple[Card, ...], *, suits_count: bool) -> Mapping[Card, int]:
    """How many of each card are left; a removed card without a suit is any of its rank where suits do not count."""
    left = Counter(fresh_shoe(decks))
    for card in sorted(removed, key=lambda card: card.suit is None):
        if card.suit is None and suits_count:
            raise BadSettings(f"{card} cannot be removed without its suit: this bet tells suits apart; write {card}S")
        gone = card if card.suit else max((Card(card.rank, suit) for suit in SUITS), key=left.__getitem__)
        if not left[gone]:
            raise BadSettings(f"{card} cannot be removed: a shoe of {52 * decks} cards holds no further one")
        left[gone] -= 1
    if (many := sum(left.values())) < 6:
        raise BadSettings(f"{many} cards are left, and a round can take 6: remove fewer")
    return left


class Hands(Struct, frozen=True):
    """Every two cards a hand can begin with, as classes `low` and `high`, and which of `kinds` they are.

    Two cards of one kind read alike and leave alike for the third cards, whose classes are `thirds`.
    """

    pairs: tuple[tuple[int, int, int], ...]
    kinds: tuple[tuple[Two, tuple[int, ...]], ...]
    shoe: tuple[Class, ...]
    thirds: tuple[Class, ...]

    @property
    def steps(self) -> int:
        """What an enumeration over them costs: pairs of hands that share a class, of kinds, and how these can end."""
        drawn = len(self.thirds)
        return (
            len(self.pairs) * 2 * len(self.shoe)
            + len(self.kinds) ** 2
            + len({reading for reading, _ in self.kinds}) ** 2 * (1 + drawn + drawn**2)
        )


def hands_of(decks: int, removed: tuple[Card, ...], needs: frozenset[str]) -> Hands:
    """The hands a shoe can give, as far as `needs` tells them apart."""
    shoe = classes(decks, removed, needs)
    of_all_cards = needs & ASKS_ALL_CARDS
    thirds = classes(decks, removed, of_all_cards) if of_all_cards else ()
    place = {look(one.card, of_all_cards): number for number, one in enumerate(thirds)}
    leaves = [place[look(one.card, of_all_cards)] for one in shoe] if thirds else []
    kinds: dict[tuple[Two, tuple[int, ...]], int] = {}
    pairs = []
    for high, upper in enumerate(shoe):
        for low, lower in enumerate(shoe[: high + 1]):
            gone = tuple(sorted((leaves[low], leaves[high]))) if thirds else ()
            kind = kinds.setdefault((two(lower.card, upper.card, needs), gone), len(kinds))
            pairs.append((low, high, kind))
    return Hands(tuple(pairs), tuple(kinds), shoe, thirds)


def look(card: Card, needs: frozenset[str]) -> tuple[object, ...]:
    """What `needs` sees of a card."""
    return tuple(LOOKS_AT[need](card) for need in sorted(needs))


@lru_cache(maxsize=64)
def ends(decks: int, removed: tuple[Card, ...], needs: frozenset[str]) -> tuple[Ended, ...]:
    """Every round that the shoe can give, as far as `needs` tells them apart, with its ways.

    Raises BadSettings, with the number, where that would take more than MOST_STEPS.
    """
    hands = hands_of(decks, removed, needs)
    if hands.steps > MOST_STEPS:
        asked = ", ".join(sorted(needs))
        text = f"telling {asked} apart takes {hands.steps:,} steps, and at most {MOST_STEPS:,} are taken"
        raise BadSettings(text)
    cards = sum(one.count for one in hands.shoe)
    by_end: dict[Finished, int] = {}
    for (player, banker), dealt in _first_four(hands).items():
        if not hands.thirds:
            by_end[Finished(player, banker, None, None)] = dealt.ways * (cards - 4) * (cards - 5)
            continue
        for one, ways in _drawn(hands.thirds, cards, player, banker, dealt):
            by_end[one] = by_end.get(one, 0) + ways
    return tuple(Ended(one, ways) for one, ways in by_end.items() if ways)


class FirstFour:
    """All first four cards that read alike: their ways, and which cards they leave.

    `taken[c]` sums ways x how many cards of class c are gone, `both[c][d]` ways x the product for two classes: with
    them the ways of a fifth and a sixth card are exact without looking at the single deals again.
    """

    __slots__ = ("both", "taken", "ways")

    def __init__(self, many: int) -> None:
        self.ways = 0
        self.taken = [0] * many
        self.both = [[0] * many for _ in range(many)]

    def add(self, ways: int, gone: tuple[int, ...]) -> None:
        """Counts one more kind of deal, which took a card of each of these classes."""
        self.ways += ways
        for one in gone:
            self.taken[one] += ways
            row = self.both[one]
            for other in gone:
                row[other] += ways


def _first_four(hands: Hands) -> dict[tuple[Two, Two], FirstFour]:
    """The first two cards of both hands, in every way, by what they read as."""
    found: dict[tuple[Two, Two], FirstFour] = {}
    for (player, player_gone), row in zip(hands.kinds, _ways_by_kinds(hands), strict=True):
        for (banker, banker_gone), ways in zip(hands.kinds, row, strict=True):
            if not ways:
                continue
            dealt = found.get((player, banker))
            if dealt is None:
                dealt = found[player, banker] = FirstFour(len(hands.thirds))
            is_over = not hands.thirds or drawing_hand(player.total, banker.total) is None
            dealt.add(ways, () if is_over else player_gone + banker_gone)
    return found


def _ways_by_kinds(hands: Hands) -> list[list[int]]:
    """In how many ways the Player's hand is of one kind and the Banker's of another.

    As if each were dealt from the whole shoe, set right for the Banker's hands that share a class with the Player's.
    """
    left = [one.count for one in hands.shoe]
    kind_of = {(low, high): kind for low, high, kind in hands.pairs}
    alone = [0] * len(hands.kinds)
    for low, high, kind in hands.pairs:
        alone[kind] += _pair_ways(left, low, high)
    found = [[player * banker for banker in alone] for player in alone]
    for low, high, kind in hands.pairs:
        row, player_ways = found[kind], _pair_ways(left, low, high)
        sharing = {(min(one, other), max(one, other)) for one in {low, high} for other in range(len(left))}
        before = [_pair_ways(left, *pair) for pair in sharing]
        left[low] -= 1
        left[high] -= 1
        for pair, ways in zip(sharing, before, strict=True):
            row[kind_of[pair]] += player_ways * (_pair_ways(left, *pair) - ways)
        left[low] += 1
        left[high] += 1
    return found


def _pair_ways(left: list[int], low: int, high: int) -> int:
    """In how many orders two cards of these classes come."""
    return left[low] * (left[low] - 1) if low == high else 2 * left[low] * left[high]


def _drawn(
    thirds: tuple[Class, ...], cards: int, player: Two, banker: Two, dealt: FirstFour
) -> Iterator[tuple[Finished, int]]:
    """How the rounds that begin so end: nobody draws, or one hand, or both."""
    hand = drawing_hand(player.total, banker.total)
    if hand is None:
        yield Finished(player, banker, None, None), dealt.ways * (cards - 4) * (cards - 5)
        return
    for fifth, drawn in enumerate(thirds):
        ways = drawn.count * dealt.ways - dealt.taken[fifth]
        if hand is Hand.BANKER:
            yield Finished(player, banker, None, drawn.card), ways * (cards - 5)
        elif drawing_hand(player.total, banker.total, drawn.card.points) is None:
            yield Finished(player, banker, drawn.card, None), ways * (cards - 5)
        else:
            for sixth, last in enumerate(thirds):
                yield Finished(player, banker, drawn.card, last.card), _two_more(thirds, dealt, fifth, sixth)


def _two_more(thirds: tuple[Class, ...], dealt: FirstFour, fifth: int, sixth: int) -> int:
    """The ways of a fifth and a sixth card of these classes: sum of ways x left(fifth) x left(sixth)."""
    many, more = thirds[fifth].count, thirds[sixth].count
    ways = many * more * dealt.ways - many * dealt.taken[sixth] - more * dealt.taken[fifth] + dealt.both[fifth][sixth]
    if fifth == sixth:  # the fifth card itself cannot come again
        ways -= many * dealt.ways - dealt.taken[fifth]
    return ways


@lru_cache(maxsize=256)
def column(decks: int, removed: tuple[Card, ...], needs: frozenset[str], fact: str) -> tuple[str, ...]:
    """What a feature reads, of every end."""
    reads = FEATURES[fact].reads
    return tuple(reads(ended.one) for ended in ends(decks, removed, needs))


def bet_odds(bet: str, lines: tuple[Line, ...], decks: int, removed: tuple[Card, ...] = ()) -> BetOdds:
    """What a bet on these lines comes to, exactly. Raises BadSettings for what cannot be counted."""
    facts = sorted(facts_in(lines))
    needs = needs_of(frozenset(facts))
    ended = ends(decks, removed, needs)
    columns = [column(decks, removed, needs, fact) for fact in facts]
    ways_of: dict[tuple[str, ...], int] = {}
    for one, read in zip(ended, zip(*columns, strict=True) if columns else repeat(()), strict=False):
        ways_of[read] = ways_of.get(read, 0) + one.ways
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


class Paying(Struct, frozen=True):
    """How a table rounds amounts, and whether commission is kept as a debt: `owed`."""

    winnings_rounding: str = "down"
    commission_rounding: str = "half_up"
    owed: bool = False


def paying_of(how: Configuration) -> Paying:
    """As this table does it."""
    return Paying(how.winnings_rounding, how.commission_rounding, how.commission_mode == "owed")


def paid(
    found: BetOdds, lines: tuple[Line, ...], stake_minor: int, paying: Paying
) -> Iterator[tuple[int, Line | None, Amounts]]:
    """In how many ways each line pays what, rounded, commission taken off; the loss that no line prevents too."""
    for one in found.lines:
        line = None if one.line is None else lines[one.line - 1]
        yield one.ways, line, amounts(line, stake_minor, paying.winnings_rounding, paying.commission_rounding)


def return_at(found: BetOdds, lines: tuple[Line, ...], stake_minor: int, paying: Paying) -> Fraction:
    """What a stake returns on average in minor units, each line rounded as the table does; a debt is exact."""
    returned = Fraction(0)
    for ways, line, came_to in paid(found, lines, stake_minor, paying):
        if paying.owed and line is not None and line.odds is not None and line.commission:
            returned += ways * (stake_minor + came_to.winnings_minor - stake_minor * line.odds * line.commission)
        else:
            returned += ways * came_to.return_minor
    return returned / found.ways


def commission_at(found: BetOdds, lines: tuple[Line, ...], stake_minor: int, paying: Paying) -> Fraction | None:
    """The share of the winnings that commission takes off where it is due; None where it never is, or is a debt."""
    winnings = commission = 0
    for ways, line, came_to in paid(found, lines, stake_minor, paying):
        if line is not None and line.commission:
            winnings += ways * came_to.winnings_minor
            commission += ways * came_to.commission_minor
    return Fraction(commission, winnings) if winnings and not paying.owed else None
