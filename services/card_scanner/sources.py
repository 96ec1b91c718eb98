"""Where shoes come from: shuffled here, or recorded elsewhere. A shoe is its whole order, fixed before its first card.

A simulated shoe is shuffled by the operating system's generator, without bias. With a seed, for demonstrations, it is
the same shoe every time, and its commitment says so.
"""

import random
import secrets
from collections.abc import Callable

from msgspec import Struct

from services.baccarat.cards import Card
from services.baccarat.shoe import commitment, fresh_shoe, rounds_left, shuffle
from services.card_scanner.recording import CutCard, End, Recording, Shoe, Taken

SALT_BYTES = 32


class HouseRules(Struct, frozen=True, kw_only=True):
    """Of a table's configuration, what whoever handles the shoe must know."""

    decks: int
    burn_rule: str
    burn_fixed: int
    burn_between: int = 0
    end_rule: str
    cards_behind_cut: int


class SealedShoe(Struct, frozen=True, kw_only=True):
    """A shoe's order; None is a face nobody read. `cut_at` cards lie before the cut card, None: it has none.

    `salt` (hex) opens the commitment; it is None where there is none to open.
    """

    decks: int
    order: tuple[Card | None, ...]
    cut_at: int | None = None
    commitment: str | None = None
    salt: str | None = None


class Simulated(Struct, frozen=True):
    """Shoes without end; `seed` None: by the operating system's generator."""

    seed: str | None = None

    @property
    def name(self) -> str:
        """What a card says of where it came from."""
        return "simulated"


class Recorded(Struct, frozen=True):
    """The shoes of a recording, each once."""

    shoes: tuple[SealedShoe, ...]

    @property
    def name(self) -> str:
        """What a card says of where it came from."""
        return "recording"


Source = Simulated | Recorded


def next_shoe(source: Source, table_id: str, begun: int, rules: HouseRules) -> SealedShoe | None:
    """The shoe after the `begun` shoes that this table has had of the source; None when there is no further one."""
    if isinstance(source, Recorded):
        return source.shoes[begun] if begun < len(source.shoes) else None
    return simulated_shoe(rules, source.seed, f"{table_id}/{begun + 1}")


def simulated_shoe(rules: HouseRules, seed: str | None, which: str) -> SealedShoe:
    """A shuffled shoe; with a seed, `which` shoe of that seed it is."""
    chance, salt = chance_of(seed, which)
    order = shuffle(fresh_shoe(rules.decks), chance)
    uses_cut_card = rounds_left(rules.end_rule, in_round=False) is not None
    sealed = commitment(order, salt)
    return SealedShoe(
        decks=rules.decks,
        order=order,
        cut_at=max(len(order) - rules.cards_behind_cut, 0) if uses_cut_card else None,
        commitment=sealed if seed is None else f"{sealed} demonstration, seed {seed}",
        salt=salt.hex(),
    )


def chance_of(seed: str | None, which: str) -> tuple[Callable[[int], int], bytes]:
    """A uniform choice below a number, and a salt: both unforeseeable, or with a seed both the same every time."""
    if seed is None:
        return secrets.randbelow, secrets.token_bytes(SALT_BYTES)
    repeatable = random.Random(f"{seed}/{which}")  # noqa: S311 - asked for by the seed, and the commitment says so
    return repeatable.randrange, repeatable.randbytes(SALT_BYTES)


def recorded(recording: Recording) -> Recorded:
    """The shoes of a recording, for a table to deal: claims, and the cards that were left, are not fed."""
    shoes: list[SealedShoe] = []
    begun = Shoe(decks=1)
    order: list[Card | None] = []
    cut_at: int | None = None
    for fact in recording.facts:
        match fact:
            case Shoe():
                begun, order, cut_at = fact, [], None
            case Taken(how="burn" | "card"):
                order.append(fact.card)
            case CutCard():
                cut_at = len(order)
            case End():
                sealed = begun.commitment
                shoes.append(SealedShoe(decks=begun.decks, order=tuple(order), cut_at=cut_at, commitment=sealed))
            case _:
                pass
    return Recorded(tuple(shoes))
