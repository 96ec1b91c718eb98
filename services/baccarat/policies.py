"""What a house does about irregularities, where houses differ (58 Pa. Code, BetGames 5.1 and 5.2, France art. 55-14).

What is not listed here has one answer: cards that were missed, a device that contradicts itself and faces that cannot
be suspend the table until a person resumes it, and a card drawn against the tableau voids its round.
"""

from collections.abc import Mapping
from typing import Final

from services.baccarat.events import Configuration

# By code: the policies there are, the usual one first.
POLICIES: Final[Mapping[str, tuple[str, ...]]] = {
    # A card comes before betting has closed: it ends the betting and is dealt (France: once out, it must be dealt), or
    # it is burned and betting goes on (BetGames 5.2.1).
    "card-in-betting": ("close", "burn"),
    # A card's face was not read: its place waits for a reveal or a manual entry, or it is burned and the next card
    # takes the place (BetGames 5.2.2).
    "card-unread": ("wait", "burn"),
    # A card comes though no betting was opened: a free hand, or the card is burned (Louisiana 42 III-3106).
    "card-without-opening": ("free-hand", "burn"),
    # One card more than so many decks hold: the shoe is wrong and the table waits, or the card alone is set aside.
    "card-over-count": ("suspend", "set-aside"),
    # The device announces another result than the cards say: the table waits, or the difference is on record.
    "claim-differs": ("suspend", "note"),
    # The shoe holds other decks than the table is configured for.
    "decks-differ": ("suspend", "note"),
}


def policy_of(how: Configuration | None, code: str) -> str:
    """What this table does about an irregularity."""
    chosen = (one.policy for one in how.policies if one.code == code) if how else iter(())
    return next(chosen, POLICIES[code][0])


def policy_faults(how: Configuration) -> tuple[str, ...]:
    """Policies that do not exist, a sentence each."""
    wrong = tuple(one.code for one in how.policies if one.policy not in POLICIES.get(one.code, ()))
    return tuple(
        f"policy for {code!r} is not one of {', '.join(POLICIES[code])}"
        if code in POLICIES
        else f"no policy is about {code!r}; there are {', '.join(POLICIES)}"
        for code in wrong
    )
