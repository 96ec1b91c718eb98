"""The deciders run over inputs that are at hand as a whole: the facts, with no log and no clock of their own."""

from collections.abc import Iterable, Iterator
from typing import Final

from services.baccarat import payouts, rounds, table
from services.baccarat.events import (
    CardAssigned,
    CardBurned,
    CardDealt,
    Configuration,
    CutCardDrawn,
    CutCardSeen,
    Event,
    RoundDecided,
    ShoeClosed,
    ShoeStarted,
    TableConfigured,
)
from services.card_scanner.recording import Claim, CutCard, End, Fact, Recording, Shoe, Taken
from services.card_scanner.sources import HouseRules, SealedShoe

TABLE: Final = "T1"
DEVICE: Final = "simulated"


def house_rules(how: Configuration) -> HouseRules:
    """What whoever handles the shoe must know of a table's configuration."""
    return HouseRules(
        decks=how.decks,
        burn_rule=how.burn_rule,
        burn_fixed=how.burn_fixed,
        end_rule=how.end_rule,
        cards_behind_cut=how.cards_behind_cut,
    )


def facts_of(shoe: SealedShoe, how: Configuration) -> Iterator[Event]:
    """What rules says of the shoe, dealt until it is over."""
    state = table.start(TABLE)
    for event in feed_of(shoe, how):
        for fact in rounds.decide(state, event, 0):
            state = table.evolve(state, fact)
            yield fact
            if isinstance(fact, ShoeClosed):
                return


def feed_of(shoe: SealedShoe, how: Configuration) -> Iterator[Event]:
    """The table is configured, the shoe started, and every card dealt, with the cut card in its place."""
    yield TableConfigured(
        event_id=f"{TABLE}/configuration/1", table_id=TABLE, version=1, configuration=how, by="simulation"
    )
    yield ShoeStarted(
        event_id=_id(1), table_id=TABLE, device=DEVICE, boot=1, sequence=1, decks=shoe.decks, commitment=shoe.commitment
    )
    sequence = 1
    for place, card in enumerate(shoe.order):
        if place == shoe.cut_at:
            sequence += 1
            yield CutCardDrawn(
                event_id=_id(sequence), table_id=TABLE, device=DEVICE, boot=1, sequence=sequence, scanned_at_ms=0
            )
        sequence += 1
        yield CardDealt(
            event_id=_id(sequence),
            table_id=TABLE,
            device=DEVICE,
            boot=1,
            sequence=sequence,
            card=card,
            scanned_at_ms=0,
            source="simulated",
        )


def _id(sequence: int) -> str:
    return f"{TABLE}/{DEVICE}/1/{sequence}"


def recording_of(facts: Iterable[Event], shoe: SealedShoe, how: Configuration, seed: str | None) -> Recording:
    """The shoe as a recording: its cards as rules used them, what each round came to, and the cards that were left."""
    written: list[Fact] = [
        Shoe(
            decks=shoe.decks,
            variant=how.variant,
            burn_rule=how.burn_rule,
            burn_fixed=how.burn_fixed or None,
            end_rule=how.end_rule,
            cards_behind_cut=how.cards_behind_cut,
            seed=seed,
            commitment=shoe.commitment.partition(" ")[0] if shoe.commitment else None,
            salt=shoe.salt,
        )
    ]
    written += (fact for event in facts if (fact := _written(event)) is not None)
    taken = sum(isinstance(fact, Taken) for fact in written)
    left = (Taken("left", card_no, card) for card_no, card in enumerate(shoe.order[taken:], start=taken + 1))
    return Recording((*written, *left, End(taken)))


def _written(event: Event) -> Fact | None:
    match event:
        case CardBurned():
            return Taken("burn", event.card_no, event.card)
        case CardAssigned():
            return Taken("card", event.card_no, event.card)
        case CutCardSeen():
            return CutCard()
        case RoundDecided():
            return Claim(
                round_no=event.round_no,
                player=event.player,
                banker=event.banker,
                player_total=event.player_total,
                banker_total=event.banker_total,
                winner=event.winner,
                player_pair=payouts.is_pair(event.player),
                banker_pair=payouts.is_pair(event.banker),
            )
        case _:
            return None
