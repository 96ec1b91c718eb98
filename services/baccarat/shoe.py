"""Shoes: how one is made, what is burned at its start, what ends it, and what it cannot hold.

Chance is passed in: nothing here draws a random number.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from msgspec import Struct

from services.baccarat.cards import DECK, RANKS, Card
from services.baccarat.errors import BadSettings, InvariantBroken

MIN_DECKS: Final = 1
MAX_DECKS: Final = 12


def fresh_shoe(decks: int) -> tuple[Card, ...]:
    """So many decks in the order of a new pack, unshuffled."""
    check_decks(decks)
    return DECK * decks


def check_decks(decks: int) -> None:
    """Raise BadSettings unless a table may play with so many decks."""
    if not MIN_DECKS <= decks <= MAX_DECKS:
        raise BadSettings(f"a shoe holds {MIN_DECKS} to {MAX_DECKS} decks, not {decks}")


def shuffle(cards: Iterable[Card], random_below: Callable[[int], int]) -> tuple[Card, ...]:
    """A permutation, each equally likely if `random_below(n)` is uniform over 0 to n - 1 (Fisher-Yates)."""
    order = list(cards)
    for last in range(len(order) - 1, 0, -1):
        chosen = random_below(last + 1)
        order[last], order[chosen] = order[chosen], order[last]
    return tuple(order)


def commitment(cards: Iterable[Card], salt: bytes) -> str:
    """SHA-256 in hex over `<salt in hex>:<cards, separated by blanks>`.

    Published before the first card, it binds the dealer; the salt, published after the shoe, opens it.
    The salt is 16 random bytes or more, so that the order cannot be guessed from the hash.
    """
    text = f"{salt.hex()}:{' '.join(str(card) for card in cards)}"
    return hashlib.sha256(text.encode("ascii")).hexdigest()


# ---- the burn: which cards leave a new shoe before its first round ----

FACES_10: Final[Mapping[str, int]] = {rank: min(place, 10) for place, rank in enumerate(RANKS, start=1)}
# Rules that turn the shoe's first card up: that card is burned too, and its rank says how many more.
BURN_BY_RANK: Final[Mapping[str, Mapping[str, int]]] = {
    "face_value_faces_10": FACES_10,  # France art. 55-14, Las Vegas; Macau's second choice
    "ace_11": {**FACES_10, "A": 11},  # some houses
}
# Rules that turn no card: so many leave the shoe in all, face down.
BURN_BY_NUMBER: Final[Mapping[str, Callable[[int, int], int]]] = {
    "fixed_n": lambda fixed, _decks: fixed,  # Macau 1 to 8; Ezugi 3
    "deck_count": lambda _fixed, decks: decks,  # Macau
    "none": lambda _fixed, _decks: 0,
}
BURN_RULES: Final = (*BURN_BY_RANK, *BURN_BY_NUMBER)


def turns_first_card(rule: str) -> bool:
    """Whether the shoe's first card is turned up, burned, and decides how many more are burned."""
    _check_burn_rule(rule)
    return rule in BURN_BY_RANK


def burn_count(rule: str, fixed: int, decks: int, first: Card | None) -> int:
    """How many cards are burned, the turned card not counted: 1 to 11 after it, or all of them if the rule turns none.

    `fixed` is read by `fixed_n` only, `first` by the rules that turn the first card only. These cannot
    go by None, a face that was not read: ask only once it is known.
    """
    _check_burn_rule(rule)
    if rule in BURN_BY_NUMBER:
        if rule == "fixed_n" and fixed < 1:
            raise BadSettings(f"a fixed burn is 1 card or more, not {fixed}; the rule that burns nothing is 'none'")
        return BURN_BY_NUMBER[rule](fixed, decks)
    if first is None:
        raise InvariantBroken(f"the burn rule {rule!r} goes by the shoe's first card, and that was not read")
    return BURN_BY_RANK[rule][first.rank]


def burns_left(rule: str, fixed: int, decks: int, burned: tuple[Card | None, ...]) -> int:
    """How many more cards leave the new shoe before its first round, the turned card counted; never negative.

    While a rule that turns the first card waits for it, the answer is 1: more cannot be known yet.
    """
    if turns_first_card(rule):
        if not burned:
            return 1
        return max(1 + burn_count(rule, fixed, decks, burned[0]) - len(burned), 0)
    return max(burn_count(rule, fixed, decks, None) - len(burned), 0)


def _check_burn_rule(rule: str) -> None:
    if rule not in BURN_RULES:
        raise BadSettings(f"no burn rule is called {rule!r}; there are {', '.join(BURN_RULES)}")


# ---- the end: what the cut card, or a low shoe, leaves to be dealt ----


class EndRule(Struct, frozen=True):
    """How many rounds are still begun after the cut card, and the cards that must lie behind it for them.

    A round is `running` from its first card, `opened` from its betting; None: no cut card is used.
    """

    running: int | None
    opened: int | None
    between: int | None
    cards_needed: int


# A round takes 6 cards at most, and one that is running 5 at most.
END_RULES: Final[Mapping[str, EndRule]] = {
    # France: finish the round in progress, none further; a round already bet on is dealt (1 x 6).
    "finish_round": EndRule(running=0, opened=1, between=0, cards_needed=6),
    # Las Vegas: finish and play one more (5 + 6); come instead of a first card, that round is the last (6).
    "one_more": EndRule(running=1, opened=1, between=1, cards_needed=11),
    # The same, but a round whose first card it replaced does not count as the one more (6 + 6).
    "always_one_more": EndRule(running=1, opened=2, between=2, cards_needed=12),
    # BetGames: no cut card; no round begins with fewer than n cards left.
    "cards_left_below_n": EndRule(running=None, opened=None, between=None, cards_needed=6),
}


def rounds_left(rule: str, *, in_round: bool, betting_opened: bool = False) -> int | None:
    """How many rounds take their first card after the cut card; None when the rule heeds no cut card.

    `in_round`: the running round has its first card. `betting_opened`: a round is bet on and waits for its first card.
    """
    found = _end_rule(rule)
    if in_round:
        return found.running
    return found.opened if betting_opened else found.between


def cards_needed(rule: str) -> int:
    """How many cards must lie behind the cut card (or be left) so that an undisturbed round never runs out of them.

    Each card burned between rounds or taken falsely needs one more.
    """
    return _end_rule(rule).cards_needed


def is_low(rule: str, below: int, cards_left: int) -> bool:
    """Whether no further round begins because fewer than `below` cards are left; a cut-card rule never asks this."""
    return _end_rule(rule).running is None and cards_left < max(below, cards_needed(rule))


def _end_rule(rule: str) -> EndRule:
    if rule not in END_RULES:
        raise BadSettings(f"no rule for the end of a shoe is called {rule!r}; there are {', '.join(END_RULES)}")
    return END_RULES[rule]


# ---- the inventory: what so many decks cannot hold ----


def too_many(decks: int, dealt: tuple[Card, ...], card: Card) -> bool:
    """Whether this card, after those dealt, is one more than so many decks hold: D of a rank and suit, 4 D of a rank.

    `dealt` has every known card of the shoe, burned ones too, and not this one.
    """
    if card.suit is not None and dealt.count(card) >= decks:
        return True
    of_rank_only = dealt.count(Card(card.rank))
    if card.suit is not None and of_rank_only == 0:  # no suit can hide another: counting suits was enough
        return False
    return sum(1 for other in dealt if other.rank == card.rank) >= 4 * decks
