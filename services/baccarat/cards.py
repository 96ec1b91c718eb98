"""Cards, and what they count (R3, R4, R5)."""

from collections.abc import Iterable
from enum import StrEnum
from typing import Final

from msgspec import Struct

RANKS: Final = ("A", "2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K")
SUITS: Final = ("S", "H", "D", "C")
POINTS: Final = {rank: place if place < 10 else 0 for place, rank in enumerate(RANKS, start=1)}


class UnknownCard(ValueError):
    """The text names no card of a 52-card deck."""


class Hand(StrEnum):
    """The two hands; the names are labels and say nothing of who bets (R1)."""

    PLAYER = "player"
    BANKER = "banker"


class Winner(StrEnum):
    """What the totals say of a finished round (R13)."""

    PLAYER = "player"
    BANKER = "banker"
    TIE = "tie"


class Card(Struct, frozen=True):
    """A card's face; `suit` is None where only the rank was recorded."""

    rank: str
    suit: str | None = None

    @property
    def points(self) -> int:
        """0 to 9: an ace is 1, ten to king are 0 (R3)."""
        return POINTS[self.rank]

    def __str__(self) -> str:
        return self.rank + (self.suit or "")


DECK: Final = tuple(Card(rank, suit) for suit in SUITS for rank in RANKS)
RANK_CARDS: Final = tuple(Card(rank) for rank in RANKS)
_BY_TEXT: Final = {str(card): card for card in (*DECK, *RANK_CARDS)}


def parse_card(text: str) -> Card:
    """Rank then suit, `9S 10D KH`; `T` and `0` also mean ten, case is ignored, and a rank alone has no suit.

    Raises UnknownCard.
    """
    written = text.strip().upper()
    if written[:1] in ("T", "0"):
        written = "10" + written[1:]
    if (card := _BY_TEXT.get(written)) is None:
        raise UnknownCard(f"{text!r} is no card; write rank then suit, such as 9S 10D KH AC")
    return card


def total(cards: Iterable[Card]) -> int:
    """A hand's total, 0 to 9: the last digit of the sum of its points (R4)."""
    return sum(POINTS[card.rank] for card in cards) % 10
