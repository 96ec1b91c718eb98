"""A table as the rules see it: what its facts say so far, and how each fact is folded in.

The state is the fold of the table's facts in `rounds` and of nothing else.
"""

from collections.abc import Callable
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from services.baccarat import shoe
from services.baccarat.cards import Card, Hand
from services.baccarat.events import (
    BettingClosed,
    BettingOpened,
    CardAssigned,
    CardBurned,
    CardCorrected,
    CardSetAside,
    Configuration,
    ConfigurationReceived,
    CutCardSeen,
    Event,
    HiddenCardRevealed,
    InputNoted,
    IrregularityFound,
    RoundDecided,
    RoundRevised,
    RoundVoided,
    RulesInForce,
    ShoeClosed,
    ShoeOpened,
    TableResumed,
    TableSuspended,
)
from services.baccarat.tableau import next_hand

SHOE_STARTED_ALREADY: Final = "shoe-started-already"  # the dealer and the device both say so
NEW_SHOE: Final = "new-shoe"  # reasons to burn a card
BETWEEN_ROUNDS: Final = "between-rounds"
ACTIONS_REMEMBERED: Final = 512  # a dealer's console retries within seconds; this is several shoes of actions

# ---------------------------------------------------------------- the state of one table


class Device(Struct, frozen=True):
    """How far a device has been heard: a higher boot starts again at sequence 1."""

    name: str
    boot: int
    sequence: int


class Dealt(Struct, frozen=True):
    """A card that has left the shoe: `sent` is what the device said of it, `card` what it is known to be by now.

    `round_no` is None for a card that was burned or set aside.
    """

    cause_id: str
    sent: Card | None
    card: Card | None
    round_no: int | None = None


class Slot(Struct, frozen=True):
    """A card in its hand; None while its face is hidden."""

    card_no: int
    hand: Hand
    card: Card | None


class Round(Struct, frozen=True, kw_only=True):
    """A round from its opening; a free hand has neither mark. `revision` counts from 0, of a decided round."""

    shoe_no: int
    round_no: int
    version: int
    slots: tuple[Slot, ...] = ()
    opened: BettingOpened | None = None
    closed: BettingClosed | None = None
    revision: int = 0
    voided: bool = False


class Rules(Struct, frozen=True):
    """A version of the table's configuration."""

    version: int
    configuration: Configuration


class State(Struct, frozen=True, kw_only=True):
    """`current` is the round in progress; `past` the finished ones that can still be corrected, oldest first.

    `rounds_left` is None until the cut card is seen; `burns` are the card numbers of the new shoe's burn, `between` is
    how many cards are still to be burned before the next round. `shoe_by_dealer`: the device has yet to say that it
    started the shoe.
    """

    table_id: str
    devices: tuple[Device, ...] = ()
    actions: tuple[str, ...] = ()
    received: Rules | None = None
    in_force: Rules | None = None
    shoe_no: int = 0
    shoe_open: bool = False
    decks: int = 0
    shoe_by_dealer: bool = False
    dealt: tuple[Dealt, ...] = ()
    burns: tuple[int, ...] = ()
    between: int = 0
    rounds_left: int | None = None
    cut_seen: bool = False
    round_no: int = 0
    current: Round | None = None
    past: tuple[Round, ...] = ()
    suspended: bool = False
    suspensions: int = 0
    irregularities: int = 0


def start(table_id: str) -> State:
    """A table of which nothing has been heard."""
    return State(table_id=table_id)


def latest(state: State) -> Rules | None:
    """The newest configuration, in force or not: decks and the burn of a new shoe go by it."""
    return state.received or state.in_force


def known_cards(state: State) -> tuple[Card, ...]:
    """All faces of this shoe that have been seen."""
    return tuple(dealt.card for dealt in state.dealt if dealt.card is not None)


def has_cards(state: State) -> bool:
    """Whether the round in progress has its first card."""
    return state.current is not None and bool(state.current.slots)


def without(state: State, card_no: int) -> State:
    """The state as if this card of the shoe had not been seen."""
    return replace(state, dealt=(*state.dealt[: card_no - 1], *state.dealt[card_no:]))


def hand_of(slots: tuple[Slot, ...], hand: Hand) -> tuple[Card | None, ...]:
    """A hand's cards in the order they came."""
    return tuple(slot.card for slot in slots if slot.hand is hand)


def faces(slots: tuple[Slot, ...], hand: Hand) -> tuple[Card, ...] | None:
    """A hand's cards; None while one of them is hidden."""
    cards = tuple(card for card in hand_of(slots, hand) if card is not None)
    return cards if len(cards) == len(hand_of(slots, hand)) else None


def awaited(slots: tuple[Slot, ...]) -> Hand | None:
    """Which hand takes the next card.

    None when the round is over, or when hidden faces leave it open (see `is_open_question`).
    """
    if len(slots) < 4:  # the first four go round whatever they are (R7)
        return Hand.PLAYER if len(slots) % 2 == 0 else Hand.BANKER
    player, banker = faces(slots, Hand.PLAYER), faces(slots, Hand.BANKER)
    if player is None or banker is None:
        return None
    return next_hand(player, banker)


def is_open_question(slots: tuple[Slot, ...]) -> bool:
    """Whether four cards lie, and only their hidden faces can tell how the round goes on."""
    return len(slots) >= 4 and any(slot.card is None for slot in slots)


def is_over(slots: tuple[Slot, ...]) -> bool:
    """Whether every card that is due has come and been seen."""
    return len(slots) >= 4 and not is_open_question(slots) and awaited(slots) is None


def is_lawful(slots: tuple[Slot, ...]) -> bool:
    """Whether each card went to the hand that was due, the faces being what they are."""
    return all(
        awaited(slots[:place]) is slot.hand or is_open_question(slots[:place]) for place, slot in enumerate(slots)
    )


def is_burn_unread(state: State) -> bool:
    """Whether the card that says how many are burned has come, and its face is not known."""
    rules = latest(state)
    if rules is None or not state.burns:
        return False
    return shoe.turns_first_card(rules.configuration.burn_rule) and state.dealt[state.burns[0] - 1].card is None


def burns_left(state: State) -> int:
    """How many cards are still to be burned before betting opens; 1 while the rule waits for the first card's face.

    Once a round has begun only those between two rounds: a later configuration, or a corrected first card, burns
    nothing in mid-shoe.
    """
    rules = latest(state)
    if rules is None or state.round_no:
        return state.between
    burned = tuple(state.dealt[card_no - 1].card for card_no in state.burns)
    how = rules.configuration
    if is_burn_unread(state):
        return 1
    return shoe.burns_left(how.burn_rule, how.burn_fixed, state.decks, burned)


def may_open(state: State) -> bool:
    """Whether the table is between rounds, with its burn done."""
    return state.shoe_open and not state.suspended and state.current is None and burns_left(state) == 0


# ---------------------------------------------------------------- evolve


def evolve(state: State, fact: Event) -> State:
    """Folds a fact of `rounds`; total: a fact of no concern leaves all but what was heard as it was."""
    state = heard(state, getattr(fact, "cause_id", ""))
    fold = FOLDS.get(type(fact))
    return state if fold is None else fold(state, fact)


def heard(state: State, cause: str) -> State:
    """Remembers the record that caused a fact, so that its repeat says nothing."""
    if cause.startswith("action/"):
        if cause in state.actions:
            return state
        return replace(state, actions=(*state.actions, cause)[-ACTIONS_REMEMBERED:])
    name, _, place = cause.partition("/")
    boot, _, sequence = place.partition("/")
    if not (boot.isdecimal() and sequence.isdecimal()):
        return state
    device = Device(name, int(boot), int(sequence))
    known = device_of(state, name)
    if known is None:
        return replace(state, devices=(*state.devices, device))
    if (device.boot, device.sequence) <= (known.boot, known.sequence):
        return state
    return replace(state, devices=tuple(device if other.name == name else other for other in state.devices))


def device_of(state: State, name: str) -> Device | None:
    """How far the device of this name has been heard."""
    return next((device for device in state.devices if device.name == name), None)


def fold_received(state: State, fact: ConfigurationReceived) -> State:
    return replace(state, received=Rules(fact.version, fact.configuration))


def fold_in_force(state: State, fact: RulesInForce) -> State:
    return replace(state, received=None, in_force=Rules(fact.version, fact.configuration))


def fold_shoe_opened(state: State, fact: ShoeOpened) -> State:
    return replace(
        state,
        shoe_no=fact.shoe_no,
        shoe_open=True,
        decks=fact.decks,
        shoe_by_dealer=fact.cause_id.startswith("action/"),
        dealt=(),
        burns=(),
        between=0,
        rounds_left=None,
        cut_seen=False,
        round_no=0,
        current=None,
    )


def fold_shoe_closed(state: State, _: ShoeClosed) -> State:
    return replace(state, shoe_open=False, current=None)


def fold_burned(state: State, fact: CardBurned) -> State:
    state = with_dealt(state, fact.cause_id, fact.card)
    if fact.reason == NEW_SHOE:
        return replace(state, burns=(*state.burns, fact.card_no))
    return replace(state, between=state.between - 1) if fact.reason == BETWEEN_ROUNDS else state


def with_dealt(state: State, cause: str, card: Card | None, round_no: int | None = None) -> State:
    """The state after one more card has left the shoe."""
    return replace(state, dealt=(*state.dealt, Dealt(cause, card, card, round_no)))


def fold_betting_opened(state: State, fact: BettingOpened) -> State:
    opened = Round(shoe_no=fact.shoe_no, round_no=fact.round_no, version=fact.version, opened=fact)
    return replace(state, round_no=fact.round_no, current=opened)


def fold_betting_closed(state: State, fact: BettingClosed) -> State:
    if state.current is None:
        return state
    return replace(state, current=replace(state.current, closed=fact))


def fold_assigned(state: State, fact: CardAssigned) -> State:
    current = state.current or Round(
        shoe_no=fact.shoe_no,
        round_no=fact.round_no,
        version=state.in_force.version if state.in_force else 0,
    )
    slot = Slot(fact.card_no, fact.hand, fact.card)
    is_first = not current.slots
    return replace(
        with_dealt(state, fact.cause_id, fact.card, fact.round_no),
        current=replace(current, slots=(*current.slots, slot)),
        round_no=fact.round_no,
        rounds_left=state.rounds_left - 1 if is_first and state.rounds_left else state.rounds_left,
    )


def fold_set_aside(state: State, fact: CardSetAside) -> State:
    return state if fact.card_no is None else with_dealt(state, fact.cause_id, fact.card)


def fold_face(state: State, fact: CardCorrected | HiddenCardRevealed) -> State:
    """A card's face becomes known, or other than it was said to be."""
    card = fact.after if isinstance(fact, CardCorrected) else fact.card

    def seen(slots: tuple[Slot, ...]) -> tuple[Slot, ...]:
        return tuple(replace(slot, card=card) if slot.card_no == fact.card_no else slot for slot in slots)

    def turned(one: Round) -> Round:
        return replace(one, slots=seen(one.slots)) if one.shoe_no == fact.shoe_no else one

    dealt = state.dealt
    if fact.shoe_no == state.shoe_no:
        at = fact.card_no - 1
        dealt = (*dealt[:at], *(replace(one, card=card) for one in dealt[at : at + 1]), *dealt[at + 1 :])
    return replace(
        state,
        dealt=dealt,
        current=turned(state.current) if state.current else None,
        past=tuple(turned(one) for one in state.past),
    )


def fold_cut_card(state: State, fact: CutCardSeen) -> State:
    return replace(state, cut_seen=True, rounds_left=fact.rounds_left)


def fold_decided(state: State, _: RoundDecided) -> State:
    if state.current is None:
        return state
    return replace(finished(state, state.current), current=None)


def finished(state: State, one: Round) -> State:
    """Keeps a finished round for as long as the table's setting says, for corrections; a burn may follow it."""
    rules = state.in_force or state.received  # a free hand may come before any opening
    kept = rules.configuration.rounds_kept if rules else 0
    past = (*state.past, one)
    return replace(
        state,
        past=past[len(past) - kept :] if len(past) > kept else past,
        between=rules.configuration.burn_between if rules else 0,
    )


def fold_revised(state: State, fact: RoundRevised) -> State:
    return replace(
        state,
        past=tuple(replace(one, revision=fact.revision) if is_same(one, fact) else one for one in state.past),
    )


def fold_voided(state: State, fact: RoundVoided) -> State:
    if state.current is not None and is_same(state.current, fact):
        return replace(finished(state, replace(state.current, voided=True)), current=None)
    return replace(
        state,
        past=tuple(
            replace(one, revision=fact.revision, voided=True) if is_same(one, fact) else one for one in state.past
        ),
    )


def is_same(one: Round, fact: RoundRevised | RoundVoided) -> bool:
    """Whether the fact is about this round."""
    return (one.shoe_no, one.round_no) == (fact.shoe_no, fact.round_no)


def fold_irregularity(state: State, _: IrregularityFound) -> State:
    return replace(state, irregularities=state.irregularities + 1)


def fold_suspended(state: State, _: TableSuspended) -> State:
    return replace(state, suspended=True, suspensions=state.suspensions + 1)


def fold_resumed(state: State, _: TableResumed) -> State:
    return replace(state, suspended=False)


def fold_noted(state: State, fact: InputNoted) -> State:
    if fact.what == SHOE_STARTED_ALREADY and not fact.cause_id.startswith("action/"):
        return replace(state, shoe_by_dealer=False)  # what the device starts next is another shoe
    return replace(state, shoe_no=fact.number) if fact.what == "moved" else state


FOLDS: Final[dict[type, Callable[..., State]]] = {
    ConfigurationReceived: fold_received,
    RulesInForce: fold_in_force,
    ShoeOpened: fold_shoe_opened,
    ShoeClosed: fold_shoe_closed,
    CardBurned: fold_burned,
    BettingOpened: fold_betting_opened,
    BettingClosed: fold_betting_closed,
    CardAssigned: fold_assigned,
    CardSetAside: fold_set_aside,
    CardCorrected: fold_face,
    HiddenCardRevealed: fold_face,
    CutCardSeen: fold_cut_card,
    RoundDecided: fold_decided,
    RoundRevised: fold_revised,
    RoundVoided: fold_voided,
    IrregularityFound: fold_irregularity,
    TableSuspended: fold_suspended,
    TableResumed: fold_resumed,
    InputNoted: fold_noted,
}
