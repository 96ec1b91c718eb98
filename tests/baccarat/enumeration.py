"""Every round that a shoe can give, counted in the plainest way: card after card, nothing clever, nothing shared.

Cards that the judged bets do not tell apart are one class with a card to stand for it, and hands that such a bet reads
alike are settled once, by the cards of the first of them.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from fractions import Fraction
from itertools import permutations, product
from math import perm

from services.baccarat import payouts
from services.baccarat.cards import Card, Hand, parse_card
from services.baccarat.events import Line
from services.baccarat.shoe import fresh_shoe
from services.baccarat.tableau import next_hand

Cards = tuple[Card, ...]
Rounds = dict[tuple[Cards, Cards], int]  # both hands, and their ways
STAKE_MINOR = 10_000  # whole at all odds and commissions of the catalogue


def cards(text: str) -> Cards:
    return tuple(parse_card(word) for word in text.split())


def dealt(order: Iterable[Card]) -> tuple[Cards, Cards]:
    """The hands that cards make in this order; what the round does not take stays."""
    player: Cards = ()
    banker: Cards = ()
    for card in order:
        hand = next_hand(player, banker)
        if hand is None:
            break
        player, banker = ((*player, card), banker) if hand is Hand.PLAYER else (player, (*banker, card))
    return player, banker


def rounds_of_classes(counts: dict[Card, int], reading: Callable[[Card, Card], Hashable]) -> Rounds:
    """All ordered six cards by their classes; hands whose first two cards have one `reading` are alike."""
    classes, many = list(counts), list(counts.values())
    first_four: dict[tuple[Hashable, Hashable], Counter[tuple[int, int]]] = {}
    stands: dict[Hashable, Cards] = {}
    for a, b, c, d in product(range(len(classes)), repeat=4):
        left = many.copy()
        ways = 1
        for one in (a, b, c, d):
            ways *= left[one]
            left[one] -= 1
        if ways <= 0:
            continue
        player, banker = reading(classes[a], classes[c]), reading(classes[b], classes[d])
        stands.setdefault(player, (classes[a], classes[c]))
        stands.setdefault(banker, (classes[b], classes[d]))
        table = first_four.setdefault((player, banker), Counter())
        for fifth, more in enumerate(left):
            with_fifth = ways * more
            for sixth, last in enumerate(left):
                table[fifth, sixth] += with_fifth * (last - (fifth == sixth))
    found: Counter[tuple[Cards, Cards]] = Counter()
    for (player, banker), table in first_four.items():
        of_player, of_banker = stands[player], stands[banker]
        for (fifth, sixth), ways in table.items():
            order = (of_player[0], of_banker[0], of_player[1], of_banker[1], classes[fifth], classes[sixth])
            found[dealt(order)] += ways
    return found


def rounds_of_cards(left: Cards) -> Rounds:
    """All orders of a few cards, suits and all; the order of a hand's first two cards makes no difference."""
    found: Counter[tuple[Cards, Cards]] = Counter()
    for order in permutations(left, 6):
        player, banker = dealt(order)
        found[(*sorted(player[:2], key=str), *player[2:]), (*sorted(banker[:2], key=str), *banker[2:])] += 1
    return found


def removed_from(decks: int, left: Cards) -> Cards:
    """What must leave the shoe so that just these cards stay."""
    rest = Counter(fresh_shoe(decks))
    rest.subtract(left)
    assert min(rest.values()) >= 0
    return tuple(rest.elements())


def settled(lines: tuple[Line, ...], rounds: Rounds) -> tuple[Fraction, Counter[int | None]]:
    """What a unit returns on average, every round settled on its cards; and the ways of each line."""
    returned = 0
    by_line: Counter[int | None] = Counter()
    for (player, banker), ways in rounds.items():
        number = payouts.line_of(lines, player, banker)
        came_to = payouts.amounts(None if number is None else lines[number - 1], STAKE_MINOR, "down", "half_up")
        by_line[number] += ways
        returned += ways * came_to.return_minor
    return Fraction(returned, STAKE_MINOR * by_line.total()), by_line


def all_ways(decks: int) -> int:
    return perm(52 * decks, 6)
