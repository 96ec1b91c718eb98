"""Cards in the order they leave the shoe, given to the hands by the rules."""

from msgspec import Struct

from services.baccarat.cards import Card, Hand, Winner, total
from services.baccarat.tableau import is_natural, next_hand, winner_of


class Dealt(Struct, frozen=True):
    """Both hands after these cards; `rest` are the cards that no rule gives to either hand."""

    player: tuple[Card, ...] = ()
    banker: tuple[Card, ...] = ()
    rest: tuple[Card, ...] = ()

    @property
    def awaited(self) -> Hand | None:
        """Which hand's card is missing; None when the round is over."""
        return next_hand(self.player, self.banker)

    def hand(self, hand: Hand) -> tuple[Card, ...]:
        return self.player if hand is Hand.PLAYER else self.banker

    @property
    def player_total(self) -> int:
        return total(self.player)

    @property
    def banker_total(self) -> int:
        return total(self.banker)

    @property
    def winner(self) -> Winner:
        return winner_of(self.player_total, self.banker_total)

    @property
    def natural(self) -> bool:
        """Whether either hand has a natural (R8)."""
        return is_natural(self.player) or is_natural(self.banker)

    @property
    def player_pair(self) -> bool:
        return is_pair(self.player)

    @property
    def banker_pair(self) -> bool:
        return is_pair(self.banker)


def deal(cards: tuple[Card, ...]) -> Dealt:
    """Deals until the round is over or the cards are."""
    dealt = Dealt()
    for place, card in enumerate(cards):
        hand = dealt.awaited
        if hand is None:
            return Dealt(dealt.player, dealt.banker, cards[place:])
        dealt = give(dealt, hand, card)
    return dealt


def give(dealt: Dealt, hand: Hand, card: Card) -> Dealt:
    """The hand has one card more."""
    if hand is Hand.PLAYER:
        return Dealt((*dealt.player, card), dealt.banker)
    return Dealt(dealt.player, (*dealt.banker, card))


def is_pair(hand: tuple[Card, ...]) -> bool:
    """Whether the hand's first two cards are of equal rank; a jack and a queen are none (P4)."""
    return len(hand) >= 2 and hand[0].rank == hand[1].rank
