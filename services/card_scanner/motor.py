"""The hand that draws the cards of a simulated or recorded shoe: what it does next, and when. Pure; time is passed in.

It waits for what a person would wait for: that its last card was taken note of, that the betting is over, that a
suspended table was resumed. A pace scales with the betting window, so that a faster table is the same table.
"""

from enum import StrEnum
from typing import Final

from msgspec import Struct

from services.card_scanner.sealed import Said, Sealed, is_exhausted


class Pace(Struct, frozen=True, kw_only=True):
    """How long the hand takes: before a card, a burned card, a new shoe, and after the betting's end.

    `waits`: the first card of a round waits for the end of the betting.
    """

    card_ms: int
    burn_ms: int
    shoe_ms: int
    breath_ms: int
    waits: bool = True


AT_ONCE: Final = Pace(card_ms=0, burn_ms=0, shoe_ms=0, breath_ms=0, waits=False)


def pace_at(speed: float) -> Pace:
    """A card a second at speed 1; twice the speed takes half the time."""
    return Pace(
        card_ms=round(1_000 / speed),
        burn_ms=round(500 / speed),
        shoe_ms=round(6_000 / speed),
        breath_ms=round(800 / speed),
    )


class Act(StrEnum):
    """What a hand can do with a shoe."""

    OPEN_SEAL = "open-seal"
    BEGIN_SHOE = "begin-shoe"
    DRAW = "draw"


class Due(Struct, frozen=True):
    """What to do, and not before when."""

    act: Act
    at_ms: int


def next_act(sealed: Sealed, pace: Pace) -> Due | None:
    """What the hand does next if nothing else happens; None while it waits for something to happen."""
    view = sealed.view
    if view.heard < sealed.sequence or view.rules is None or view.suspended:
        return None
    if not view.in_shoe or is_exhausted(sealed):
        if sealed.shoe is not None and sealed.shoe.salt is not None and sealed.said is not Said.SEAL_OPENED:
            return Due(Act.OPEN_SEAL, view.at_ms)
        return Due(Act.BEGIN_SHOE, view.at_ms + (pace.shoe_ms if sealed.begun else 0))
    if view.burns_left:
        return Due(Act.DRAW, view.at_ms + pace.burn_ms)
    if view.card_due:
        return Due(Act.DRAW, view.at_ms + pace.card_ms)
    if view.closes_at_ms is not None:
        return Due(Act.DRAW, view.closes_at_ms + pace.breath_ms if pace.waits else view.at_ms)
    return None
