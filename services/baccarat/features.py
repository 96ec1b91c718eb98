"""What a pay table can ask of a finished round: the whole vocabulary of conditions.

A feature reads a `Finished` round: each hand's first two cards, as far as any feature looks at them, and the third
cards. It says what it needs to tell apart, so that settlement and the exact odds run through the same few functions:
settlement on cards, the odds on classes of cards that nothing asked for tells apart.
"""

from collections.abc import Callable, Mapping
from typing import Final

from msgspec import Struct

from services.baccarat.cards import POINTS, RANKS, Card, Hand
from services.baccarat.errors import InvariantBroken
from services.baccarat.events import Condition
from services.baccarat.tableau import winner_of

Cards = tuple[Card, ...]

# ---------------------------------------------------------------- what is told apart

TOTALS: Final = "totals"  # the points of every card, and so who drew
PAIR: Final = "pair"  # the ranks of a hand's first two cards
SUITED: Final = "suited"  # their suits
COLOUR: Final = "colour"  # the colour of every card
FACES: Final = "faces"  # whether a card is a jack, queen or king rather than a ten

RED: Final = ("H", "D")
FACE_RANKS: Final = ("J", "Q", "K")


def suit_of(card: Card) -> str:
    """A card's suit. Raises InvariantBroken where only the rank was recorded: the bet cannot be settled by it."""
    if card.suit is None:
        raise InvariantBroken(f"a bet on suits or colours cannot be settled by {card}, whose suit was not recorded")
    return card.suit


def colour_of(card: Card) -> str:
    """`red` or `black`."""
    return "red" if suit_of(card) in RED else "black"


def is_face(card: Card) -> bool:
    """A jack, queen or king."""
    return card.rank in FACE_RANKS


# What of a card each need looks at: cards that agree in all of it are one class.
LOOKS_AT: Final[Mapping[str, Callable[[Card], object]]] = {
    TOTALS: lambda card: POINTS[card.rank],
    PAIR: lambda card: card.rank,
    SUITED: suit_of,
    COLOUR: colour_of,
    FACES: is_face,
}


class Two(Struct, frozen=True):
    """A hand's first two cards: their total, and what else was asked for.

    `pair` is the rank of a pair, else empty; `colour` is red, black or mixed; `faces` is true for two face cards.
    """

    total: int = 0
    pair: str = ""
    suited: bool = False
    colour: str = ""
    faces: bool = False


def two(first: Card, second: Card, needs: frozenset[str]) -> Two:
    """What `needs` tells apart of a hand's first two cards."""
    return Two(
        (POINTS[first.rank] + POINTS[second.rank]) % 10 if TOTALS in needs else 0,
        first.rank if PAIR in needs and first.rank == second.rank else "",
        SUITED in needs and suit_of(first) == suit_of(second),
        mixed(colour_of(first), colour_of(second)) if COLOUR in needs else "",
        FACES in needs and is_face(first) and is_face(second),
    )


def mixed(colour: str, other: str) -> str:
    """The colour of both, or `mixed`."""
    return colour if colour == other else "mixed"


class Finished(Struct, frozen=True):
    """A finished round as features see it; None where a hand stood on two cards."""

    player: Two
    banker: Two
    player_third: Card | None
    banker_third: Card | None

    @property
    def player_total(self) -> int:
        """0 to 9."""
        return self.player.total if self.player_third is None else (self.player.total + self.player_third.points) % 10

    @property
    def banker_total(self) -> int:
        """0 to 9."""
        return self.banker.total if self.banker_third is None else (self.banker.total + self.banker_third.points) % 10

    @property
    def winner(self) -> str:
        """`player`, `banker` or `tie` (R13)."""
        return winner_of(self.player_total, self.banker_total).value


def finished(player: Cards, banker: Cards, needs: frozenset[str]) -> Finished:
    """A round by its cards, seen as far as `needs` goes."""
    return Finished(
        two(player[0], player[1], needs),
        two(banker[0], banker[1], needs),
        player[2] if len(player) == 3 else None,
        banker[2] if len(banker) == 3 else None,
    )


# ---------------------------------------------------------------- the vocabulary


def yes(truth: bool) -> str:  # noqa: FBT001 - the truth is what is written
    """How a condition writes a truth."""
    return "yes" if truth else "no"


def count(third: Card | None) -> int:
    """How many cards a hand has."""
    return 2 if third is None else 3


def of_winner(one: Finished, player: object, banker: object) -> str:
    """The winning hand's; `none` on a tie."""
    return {"player": str(player), "banker": str(banker), "tie": "none"}[one.winner]


def of_loser(one: Finished, player: object, banker: object) -> str:
    """The losing hand's; `none` on a tie."""
    return of_winner(one, banker, player)


def is_natural(total: int, third: Card | None) -> bool:
    """8 or 9 on two cards (R8)."""
    return third is None and total >= 8


def pairs(one: Finished) -> str:
    """`none`, `one`, `two` of different ranks, or two of the `same` rank."""
    player, banker = one.player.pair, one.banker.pair
    if player and banker:
        return "same" if player == banker else "two"
    return "one" if player or banker else "none"


def perfect(hand: Two) -> bool:
    """A pair of one suit: the same card twice."""
    return bool(hand.pair) and hand.suited


def kind_of(third: Card | None) -> str:
    """`face` for a jack, queen or king, `other`, or `none` where the hand stood."""
    if third is None:
        return "none"
    return "face" if is_face(third) else "other"


def thirds(one: Finished) -> tuple[Card, ...]:
    """The third cards that were drawn."""
    return tuple(card for card in (one.player_third, one.banker_third) if card is not None)


def colour(one: Finished) -> str:
    """`red`, `black` or `mixed`, over every card dealt."""
    so_far = mixed(one.player.colour, one.banker.colour)
    for card in thirds(one):
        so_far = mixed(so_far, colour_of(card))
    return so_far


class Feature(Struct, frozen=True):
    """What can be asked: `reads` a finished round to one of `values`, telling `needs` apart; `says` it in words."""

    needs: tuple[str, ...]
    reads: Callable[[Finished], str]
    values: tuple[str, ...]
    says: str


YES_NO: Final = ("yes", "no")
DIGITS: Final = tuple(str(digit) for digit in range(10))
OR_NONE: Final = (*DIGITS, "none")
HANDS: Final = (Hand.PLAYER.value, Hand.BANKER.value)

FEATURES: Final[Mapping[str, Feature]] = {
    "winner": Feature((TOTALS,), lambda one: one.winner, (*HANDS, "tie"), "the winner"),
    "player_total": Feature((TOTALS,), lambda one: str(one.player_total), DIGITS, "the Player's total"),
    "banker_total": Feature((TOTALS,), lambda one: str(one.banker_total), DIGITS, "the Banker's total"),
    "winner_total": Feature(
        (TOTALS,), lambda one: of_winner(one, one.player_total, one.banker_total), OR_NONE, "the winning total"
    ),
    "loser_total": Feature(
        (TOTALS,), lambda one: of_loser(one, one.player_total, one.banker_total), OR_NONE, "the losing total"
    ),
    "margin": Feature(
        (TOTALS,), lambda one: str(abs(one.player_total - one.banker_total)), DIGITS, "the points between the totals"
    ),
    "player_cards": Feature((TOTALS,), lambda one: str(count(one.player_third)), ("2", "3"), "the Player's cards"),
    "banker_cards": Feature((TOTALS,), lambda one: str(count(one.banker_third)), ("2", "3"), "the Banker's cards"),
    "winner_cards": Feature(
        (TOTALS,),
        lambda one: of_winner(one, count(one.player_third), count(one.banker_third)),
        ("2", "3", "none"),
        "the winning hand's cards",
    ),
    "loser_cards": Feature(
        (TOTALS,),
        lambda one: of_loser(one, count(one.player_third), count(one.banker_third)),
        ("2", "3", "none"),
        "the losing hand's cards",
    ),
    "cards": Feature((TOTALS,), lambda one: str(4 + len(thirds(one))), ("4", "5", "6"), "the cards in all"),
    "natural": Feature(
        (TOTALS,),
        lambda one: yes(
            is_natural(one.player.total, one.player_third) or is_natural(one.banker.total, one.banker_third)
        ),
        YES_NO,
        "whether there is a natural",
    ),
    "player_natural": Feature(
        (TOTALS,),
        lambda one: yes(is_natural(one.player.total, one.player_third)),
        YES_NO,
        "whether the Player has a natural",
    ),
    "banker_natural": Feature(
        (TOTALS,),
        lambda one: yes(is_natural(one.banker.total, one.banker_third)),
        YES_NO,
        "whether the Banker has a natural",
    ),
    "player_two": Feature((TOTALS,), lambda one: str(one.player.total), DIGITS, "the Player's two-card total"),
    "banker_two": Feature((TOTALS,), lambda one: str(one.banker.total), DIGITS, "the Banker's two-card total"),
    "player_third": Feature(
        (TOTALS,),
        lambda one: "none" if one.player_third is None else str(one.player_third.points),
        OR_NONE,
        "the points of the Player's third card",
    ),
    "banker_third": Feature(
        (TOTALS,),
        lambda one: "none" if one.banker_third is None else str(one.banker_third.points),
        OR_NONE,
        "the points of the Banker's third card",
    ),
    "player_pair": Feature((PAIR,), lambda one: yes(bool(one.player.pair)), YES_NO, "whether the Player has a pair"),
    "banker_pair": Feature((PAIR,), lambda one: yes(bool(one.banker.pair)), YES_NO, "whether the Banker has a pair"),
    "player_pair_rank": Feature(
        (PAIR,), lambda one: one.player.pair or "none", (*RANKS, "none"), "the rank of the Player's pair"
    ),
    "banker_pair_rank": Feature(
        (PAIR,), lambda one: one.banker.pair or "none", (*RANKS, "none"), "the rank of the Banker's pair"
    ),
    "pairs": Feature((PAIR,), pairs, ("none", "one", "two", "same"), "how many hands have a pair"),
    "player_suited": Feature(
        (SUITED,), lambda one: yes(one.player.suited), YES_NO, "whether the Player's first two cards are of one suit"
    ),
    "banker_suited": Feature(
        (SUITED,), lambda one: yes(one.banker.suited), YES_NO, "whether the Banker's first two cards are of one suit"
    ),
    "player_perfect": Feature(
        (PAIR, SUITED), lambda one: yes(perfect(one.player)), YES_NO, "whether the Player has a perfect pair"
    ),
    "banker_perfect": Feature(
        (PAIR, SUITED), lambda one: yes(perfect(one.banker)), YES_NO, "whether the Banker has a perfect pair"
    ),
    "perfect_pairs": Feature(
        (PAIR, SUITED),
        lambda one: str(perfect(one.player) + perfect(one.banker)),
        ("0", "1", "2"),
        "how many hands have a perfect pair",
    ),
    "colour": Feature((TOTALS, COLOUR), colour, ("red", "black", "mixed"), "the colour of every card dealt"),
    "player_third_kind": Feature(
        (TOTALS, FACES),
        lambda one: kind_of(one.player_third),
        ("face", "other", "none"),
        "what the Player's third card is",
    ),
    "banker_third_kind": Feature(
        (TOTALS, FACES),
        lambda one: kind_of(one.banker_third),
        ("face", "other", "none"),
        "what the Banker's third card is",
    ),
    "all_faces": Feature(
        (TOTALS, FACES),
        lambda one: yes(one.player.faces and one.banker.faces and all(is_face(card) for card in thirds(one))),
        YES_NO,
        "whether every card dealt is a jack, queen or king",
    ),
}


def when(**values: object) -> tuple[Condition, ...]:
    """Conditions as a pay table writes them: `when(winner="banker", banker_total=6)`; a tuple means any of these."""
    return tuple(
        Condition(fact, tuple(str(value) for value in (asked if isinstance(asked, tuple) else (asked,))))
        for fact, asked in values.items()
    )


def needs_of(facts: frozenset[str]) -> frozenset[str]:
    """What has to be told apart to read these features."""
    return frozenset(need for fact in facts for need in FEATURES[fact].needs)
