"""The facts, topic by topic: the public contract (one schema each in `schemas/`).

Every fact is past tense, immutable and says all that a reader needs. Times are UTC milliseconds, money is in minor
units of the currency, numbers that end in `_no` count from 1. `event_id` is made from what the fact is about and never
from offsets, clocks or chance. `at_ms` is the append time of the record that caused the fact, `cause_id` that
record's own id. Optional fields have a default: schemas only ever gain such fields.
"""

from fractions import Fraction
from typing import Final, get_args

from msgspec import Struct

from services.baccarat.cards import Card, Hand, Winner

# ---------------------------------------------------------------- parts of facts


class Condition(Struct, frozen=True):
    """One thing that must be true of an outcome: the named `fact` is `among` these values, written as text."""

    fact: str
    among: tuple[str, ...]


class Line(Struct, frozen=True):
    """One line of a pay table: when all conditions hold it pays `odds` to one; None is a push.

    `commission` is the house's share of the winnings.
    """

    when: tuple[Condition, ...]
    odds: Fraction | None
    commission: Fraction = Fraction(0)


class Terms(Struct, frozen=True):
    """One bet a table offers: its lines, of which the first that matches pays, and its limits in minor units.

    `max_minor` bounds a customer's sum on the bet, `payout_max_minor` what the bet may win in a round over all
    customers. The bet is taken up to round `last_round_no` of a shoe, and while no more than `cards_dealt_max` cards
    have left it at the opening. None is no bound.
    """

    bet: str
    lines: tuple[Line, ...]
    min_minor: int
    max_minor: int
    step_minor: int = 1
    main: bool = False
    last_round_no: int | None = None
    cards_dealt_max: int | None = None
    payout_max_minor: int | None = None


class Policy(Struct, frozen=True):
    """What the house does about one kind of irregularity."""

    code: str
    policy: str


class Configuration(Struct, frozen=True, kw_only=True):
    """A table's whole description: what prices a round for ever, once betting has opened under it."""

    variant: str
    pay_table: tuple[Terms, ...]
    currency: str
    exponent: int
    decks: int = 8
    commission_mode: str = "per_win"
    winnings_rounding: str = "down"
    commission_rounding: str = "half_up"
    betting: str = "automatic"
    betting_window_ms: int = 15_000
    close_margin_ms: int = 250
    burn_rule: str = "face_value_faces_10"
    burn_fixed: int = 0
    end_rule: str = "one_more"
    cards_behind_cut: int = 14
    rounds_kept: int = 3
    openings_remembered: int = 5
    policies: tuple[Policy, ...] = ()
    name: str = ""
    table_type: str = "mini"
    seats: int = 0
    burn_between: int = 0
    opposite_mains: bool = True
    side_above_main: bool = True
    win_max_minor: int | None = None
    payout_max_minor: int | None = None
    differential_max_minor: int | None = None
    gaming_day_starts_at: str = "00:00"
    time_zone: str = "UTC"


class BetSum(Struct, frozen=True):
    """What one bet name came to in one round."""

    bet: str
    count: int
    stakes_minor: int
    winnings_minor: int = 0
    commission_minor: int = 0
    returns_minor: int = 0


class Debt(Struct, frozen=True):
    """Commission a customer still owes, exact, in minor units."""

    customer_id: str
    amount_minor: Fraction


# ---------------------------------------------------------------- table-feed: what happened at the table


class ShoeStarted(Struct, frozen=True, kw_only=True):
    event_id: str
    table_id: str
    device: str
    boot: int
    sequence: int
    decks: int
    cut_position: int | None = None
    commitment: str | None = None


class CardDealt(Struct, frozen=True, kw_only=True):
    """A card left the shoe; `card` is None while its face is unread or hidden."""

    event_id: str
    table_id: str
    device: str
    boot: int
    sequence: int
    card: Card | None
    scanned_at_ms: int
    source: str


class CutCardDrawn(Struct, frozen=True, kw_only=True):
    event_id: str
    table_id: str
    device: str
    boot: int
    sequence: int
    scanned_at_ms: int


class CardRevealed(Struct, frozen=True, kw_only=True):
    """The face of a card dealt before; `revealed_sequence` is the sequence under which it was dealt."""

    event_id: str
    table_id: str
    device: str
    boot: int
    sequence: int
    revealed_sequence: int
    card: Card


class DeviceReported(Struct, frozen=True, kw_only=True):
    """`what` is online, offline, fault, claim (of a result: `text` is the winner) or withdrawn (a card)."""

    event_id: str
    table_id: str
    device: str
    boot: int
    sequence: int
    what: str
    text: str = ""


class TableConfigured(Struct, frozen=True, kw_only=True):
    event_id: str
    table_id: str
    version: int
    configuration: Configuration
    by: str
    reason: str = ""


class DealerOpenedBetting(Struct, frozen=True, kw_only=True):
    event_id: str
    table_id: str
    action_id: str
    by: str
    shoe_no: int
    round_no: int


class DealerClosedBetting(Struct, frozen=True, kw_only=True):
    event_id: str
    table_id: str
    action_id: str
    by: str
    shoe_no: int
    round_no: int


class DealerStartedShoe(Struct, frozen=True, kw_only=True):
    event_id: str
    table_id: str
    action_id: str
    by: str
    shoe_no: int


class DealerEndedShoe(Struct, frozen=True, kw_only=True):
    event_id: str
    table_id: str
    action_id: str
    by: str
    shoe_no: int


class DealerVoidedRound(Struct, frozen=True, kw_only=True):
    event_id: str
    table_id: str
    action_id: str
    by: str
    second: str
    shoe_no: int
    round_no: int
    reason: str


class DealerCorrectedCard(Struct, frozen=True, kw_only=True):
    event_id: str
    table_id: str
    action_id: str
    by: str
    second: str
    shoe_no: int
    card_no: int
    card: Card
    reason: str


class DealerSuspended(Struct, frozen=True, kw_only=True):
    event_id: str
    table_id: str
    action_id: str
    by: str
    reason: str


class DealerResumed(Struct, frozen=True, kw_only=True):
    """`what` is `table`, or `book` with the shoe and the round whose book is meant."""

    event_id: str
    table_id: str
    action_id: str
    by: str
    reason: str
    what: str = "table"
    shoe_no: int | None = None
    round_no: int | None = None


class TableMoved(Struct, frozen=True, kw_only=True):
    """The first record of a table in a new log."""

    event_id: str
    table_id: str
    action_id: str
    next_shoe_no: int
    version: int
    configuration: Configuration
    debts: tuple[Debt, ...] = ()


# ---------------------------------------------------------------- rounds: what it means (rules)


class ConfigurationReceived(Struct, frozen=True, kw_only=True):
    event_id: str
    table_id: str
    at_ms: int
    cause_id: str
    version: int
    configuration: Configuration


class RulesInForce(Struct, frozen=True, kw_only=True):
    event_id: str
    table_id: str
    at_ms: int
    cause_id: str
    version: int
    configuration: Configuration


class ShoeOpened(Struct, frozen=True, kw_only=True):
    event_id: str
    table_id: str
    at_ms: int
    cause_id: str
    shoe_no: int
    decks: int
    commitment: str | None = None


class ShoeClosed(Struct, frozen=True, kw_only=True):
    event_id: str
    table_id: str
    at_ms: int
    cause_id: str
    shoe_no: int
    reason: str
    rounds: int
    cards: int


class CardBurned(Struct, frozen=True, kw_only=True):
    """`left` is how many more are to be burned before betting opens, as far as is known."""

    event_id: str
    table_id: str
    at_ms: int
    cause_id: str
    shoe_no: int
    card_no: int
    card: Card | None
    reason: str
    left: int = 0


class BettingOpened(Struct, frozen=True, kw_only=True):
    event_id: str
    table_id: str
    at_ms: int
    cause_id: str
    shoe_no: int
    round_no: int
    version: int
    closes_at_ms: int
    cards_dealt: int


class BettingClosed(Struct, frozen=True, kw_only=True):
    """A bet counts if appended before `closed_at_ms`; `cause` is time, dealer, card, void, suspended or shoe_end."""

    event_id: str
    table_id: str
    at_ms: int
    cause_id: str
    shoe_no: int
    round_no: int
    closed_at_ms: int
    cause: str


class CardAssigned(Struct, frozen=True, kw_only=True):
    """Totals are None while a card of the hand is hidden; `next_hand` is None when no further card is due or known."""

    event_id: str
    table_id: str
    at_ms: int
    cause_id: str
    shoe_no: int
    round_no: int
    card_no: int
    hand: Hand
    place: int
    card: Card | None
    player_total: int | None
    banker_total: int | None
    next_hand: Hand | None


class CardCorrected(Struct, frozen=True, kw_only=True):
    """`round_no` is None for a burned card."""

    event_id: str
    table_id: str
    at_ms: int
    cause_id: str
    shoe_no: int
    round_no: int | None
    card_no: int
    before: Card | None
    after: Card
    by: str
    reason: str


class HiddenCardRevealed(Struct, frozen=True, kw_only=True):
    """The answer of rules to CardRevealed."""

    event_id: str
    table_id: str
    at_ms: int
    cause_id: str
    shoe_no: int
    round_no: int | None
    card_no: int
    card: Card


class CardSetAside(Struct, frozen=True, kw_only=True):
    """A card that took no part; `card_no` is None where the shoe's count is not known."""

    event_id: str
    table_id: str
    at_ms: int
    cause_id: str
    shoe_no: int
    card_no: int | None
    card: Card | None
    reason: str


class CutCardSeen(Struct, frozen=True, kw_only=True):
    """`rounds_left` is how many rounds still take their first card; None where the end rule heeds no cut card."""

    event_id: str
    table_id: str
    at_ms: int
    cause_id: str
    shoe_no: int
    card_no: int
    rounds_left: int | None


class RoundDecided(Struct, frozen=True, kw_only=True):
    """`opened` and `closed` repeat the round's two marks; both are None for a free hand."""

    event_id: str
    table_id: str
    at_ms: int
    cause_id: str
    shoe_no: int
    round_no: int
    revision: int
    version: int
    player: tuple[Card, ...]
    banker: tuple[Card, ...]
    player_total: int
    banker_total: int
    winner: Winner
    natural: bool
    free: bool
    opened: BettingOpened | None = None
    closed: BettingClosed | None = None


class RoundRevised(Struct, frozen=True, kw_only=True):
    event_id: str
    table_id: str
    at_ms: int
    cause_id: str
    shoe_no: int
    round_no: int
    revision: int
    version: int
    player: tuple[Card, ...]
    banker: tuple[Card, ...]
    player_total: int
    banker_total: int
    winner: Winner
    natural: bool
    free: bool
    reason: str
    by: str
    opened: BettingOpened | None = None
    closed: BettingClosed | None = None


class RoundVoided(Struct, frozen=True, kw_only=True):
    """`revision` is 0 for a round that was never decided."""

    event_id: str
    table_id: str
    at_ms: int
    cause_id: str
    shoe_no: int
    round_no: int
    revision: int
    reason: str
    by: str = ""
    opened: BettingOpened | None = None
    closed: BettingClosed | None = None


class IrregularityFound(Struct, frozen=True, kw_only=True):
    event_id: str
    table_id: str
    at_ms: int
    cause_id: str
    code: str
    text: str
    policy: str
    shoe_no: int | None = None
    round_no: int | None = None
    card_no: int | None = None


class TableSuspended(Struct, frozen=True, kw_only=True):
    event_id: str
    table_id: str
    at_ms: int
    cause_id: str
    cause: str
    text: str
    by: str = ""
    shoe_no: int | None = None
    round_no: int | None = None


class TableResumed(Struct, frozen=True, kw_only=True):
    event_id: str
    table_id: str
    at_ms: int
    cause_id: str
    by: str
    text: str


class BookResumeOrdered(Struct, frozen=True, kw_only=True):
    event_id: str
    table_id: str
    at_ms: int
    cause_id: str
    by: str
    text: str
    shoe_no: int
    round_no: int


class InputNoted(Struct, frozen=True, kw_only=True):
    """An input that says nothing more, but must be remembered; `number` is what `what` counts, if anything."""

    event_id: str
    table_id: str
    at_ms: int
    cause_id: str
    what: str
    number: int = 0


# ---------------------------------------------------------------- bets: bets, and the marks above


class BetPlaced(Struct, frozen=True, kw_only=True):
    event_id: str
    table_id: str
    bet_id: str
    customer_id: str
    shoe_no: int
    round_no: int
    bet: str
    stake_minor: int
    currency: str
    seat: str | None = None


class BetCancelled(Struct, frozen=True, kw_only=True):
    event_id: str
    table_id: str
    bet_id: str
    customer_id: str
    shoe_no: int
    round_no: int


class CustomerLeft(Struct, frozen=True, kw_only=True):
    event_id: str
    table_id: str
    customer_id: str


# ---------------------------------------------------------------- settlements: what is paid (settlement)


class PayTableInForce(Struct, frozen=True, kw_only=True):
    """What prices bets of this version: the log explains itself."""

    event_id: str
    table_id: str
    at_ms: int
    cause_id: str
    version: int
    configuration: Configuration


class BookOpened(Struct, frozen=True, kw_only=True):
    """A book is one round's; `mark` is the opening as it stood in `bets`."""

    event_id: str
    table_id: str
    at_ms: int
    cause_id: str
    shoe_no: int
    round_no: int
    version: int
    mark: BettingOpened


class BookClosed(Struct, frozen=True, kw_only=True):
    """`mark` is the close as it stood in `bets`; None where another mark of `bets` ended the round there."""

    event_id: str
    table_id: str
    at_ms: int
    cause_id: str
    shoe_no: int
    round_no: int
    mark: BettingClosed | None
    sums: tuple[BetSum, ...]


class BetAccepted(Struct, frozen=True, kw_only=True):
    event_id: str
    table_id: str
    at_ms: int
    cause_id: str
    bet_id: str
    customer_id: str
    shoe_no: int
    round_no: int
    version: int
    bet: str
    stake_minor: int
    currency: str
    content_hash: str
    seat: str | None = None


class BetRejected(Struct, frozen=True, kw_only=True):
    event_id: str
    table_id: str
    at_ms: int
    cause_id: str
    bet_id: str
    customer_id: str
    shoe_no: int
    round_no: int
    content_hash: str
    code: str
    text: str


class BetIgnored(Struct, frozen=True, kw_only=True):
    """Says nothing of any stake: the bet may have been taken under another record. `number` counts per table."""

    event_id: str
    table_id: str
    at_ms: int
    cause_id: str
    bet_id: str
    customer_id: str
    shoe_no: int
    round_no: int
    content_hash: str
    code: str
    text: str
    number: int


class CancelNoted(Struct, frozen=True, kw_only=True):
    """The bet is cancelled when its round's betting closes, if this was appended before the close."""

    event_id: str
    table_id: str
    at_ms: int
    cause_id: str
    bet_id: str
    customer_id: str
    shoe_no: int
    round_no: int
    content_hash: str


class CancelRefused(Struct, frozen=True, kw_only=True):
    event_id: str
    table_id: str
    at_ms: int
    cause_id: str
    bet_id: str
    customer_id: str
    shoe_no: int
    round_no: int
    content_hash: str
    code: str
    text: str
    number: int


class BetVoided(Struct, frozen=True, kw_only=True):
    """The whole stake goes back."""

    event_id: str
    table_id: str
    at_ms: int
    cause_id: str
    bet_id: str
    customer_id: str
    shoe_no: int
    round_no: int
    revision: int
    bet: str
    stake_minor: int
    reason: str


class BetSettled(Struct, frozen=True, kw_only=True):
    """`line` is the pay table line that decided, from 1; None when none matched and the stake is lost.

    `winnings_minor` is before commission; `return_minor` is stake plus winnings less the commission taken, which is 0
    where it is owed: then `owed_exact` is the debt, in exact minor units.
    """

    event_id: str
    table_id: str
    at_ms: int
    cause_id: str
    bet_id: str
    customer_id: str
    shoe_no: int
    round_no: int
    revision: int
    version: int
    bet: str
    stake_minor: int
    line: int | None
    winnings_minor: int
    commission_minor: int
    commission_owed: bool
    return_minor: int
    owed_exact: Fraction = Fraction(0)


class BetReversed(Struct, frozen=True, kw_only=True):
    """Takes back what revision `revision` paid."""

    event_id: str
    table_id: str
    at_ms: int
    cause_id: str
    bet_id: str
    customer_id: str
    shoe_no: int
    round_no: int
    revision: int
    bet: str
    stake_minor: int
    winnings_minor: int
    commission_minor: int
    return_minor: int
    owed_exact: Fraction = Fraction(0)


class RoundSettled(Struct, frozen=True, kw_only=True):
    """Stakes = returns + house win, in all and per bet name; house win includes commission.

    `void`: every stake went back. `claimed` is False where no outcome of `rounds` settled it.
    """

    event_id: str
    table_id: str
    at_ms: int
    cause_id: str
    shoe_no: int
    round_no: int
    revision: int
    count: int
    stakes_minor: int
    returns_minor: int
    commission_minor: int
    house_win_minor: int
    sums: tuple[BetSum, ...]
    void: bool = False
    claimed: bool = True
    owed_exact: Fraction = Fraction(0)


class CustomerNoted(Struct, frozen=True, kw_only=True):
    event_id: str
    table_id: str
    at_ms: int
    cause_id: str
    customer_id: str
    shoe_no: int
    number: int


class CommissionCollected(Struct, frozen=True, kw_only=True):
    event_id: str
    table_id: str
    at_ms: int
    cause_id: str
    customer_id: str
    shoe_no: int
    amount_minor: int
    number: int
    owed_exact: Fraction = Fraction(0)


class BookSuspended(Struct, frozen=True, kw_only=True):
    """`outcome` is what waits to be settled; None where none has come yet."""

    event_id: str
    table_id: str
    at_ms: int
    cause_id: str
    shoe_no: int
    round_no: int
    cause: str
    text: str
    outcome: RoundDecided | RoundRevised | RoundVoided | None = None


class BookResumed(Struct, frozen=True, kw_only=True):
    event_id: str
    table_id: str
    at_ms: int
    cause_id: str
    shoe_no: int
    round_no: int
    by: str
    text: str


# ---------------------------------------------------------------- any topic


class DeadLetter(Struct, frozen=True, kw_only=True):
    """A record that could not be used: where it lies, why, and its first 4 KB."""

    event_id: str
    table_id: str
    topic: str
    partition: int
    offset: int
    reason: str
    text: str
    sha256: str
    size: int
    head: bytes


# ---------------------------------------------------------------- which event is in which topic

DeviceEvent = ShoeStarted | CardDealt | CutCardDrawn | CardRevealed | DeviceReported
DealerAction = (
    DealerOpenedBetting
    | DealerClosedBetting
    | DealerStartedShoe
    | DealerEndedShoe
    | DealerVoidedRound
    | DealerCorrectedCard
    | DealerSuspended
    | DealerResumed
)
FeedEvent = DeviceEvent | DealerAction | TableConfigured | TableMoved
Mark = RulesInForce | BettingOpened | BettingClosed | ShoeClosed
Outcome = RoundDecided | RoundRevised | RoundVoided
RoundsFact = (
    ConfigurationReceived
    | Mark
    | ShoeOpened
    | CardBurned
    | CardAssigned
    | CardCorrected
    | HiddenCardRevealed
    | CardSetAside
    | CutCardSeen
    | Outcome
    | IrregularityFound
    | TableSuspended
    | TableResumed
    | BookResumeOrdered
    | InputNoted
)
BetsEvent = BetPlaced | BetCancelled | CustomerLeft | Mark
SettlementsFact = (
    PayTableInForce
    | BookOpened
    | BookClosed
    | BetAccepted
    | BetRejected
    | BetIgnored
    | CancelNoted
    | CancelRefused
    | BetVoided
    | BetSettled
    | BetReversed
    | RoundSettled
    | CustomerNoted
    | CommissionCollected
    | BookSuspended
    | BookResumed
    | InputNoted
)
Event = FeedEvent | RoundsFact | BetsEvent | SettlementsFact | DeadLetter

TABLE_FEED: Final = "table-feed"
ROUNDS: Final = "rounds"
BETS: Final = "bets"
SETTLEMENTS: Final = "settlements"
DEAD_LETTERS: Final = "dead-letters"
RULES_SNAPSHOTS: Final = "rules-snapshots"
SETTLEMENT_SNAPSHOTS: Final = "settlement-snapshots"

EVENTS_OF: Final[dict[str, tuple[type[Event], ...]]] = {
    TABLE_FEED: get_args(FeedEvent),
    ROUNDS: get_args(RoundsFact),
    BETS: get_args(BetsEvent),
    SETTLEMENTS: get_args(SettlementsFact),
    DEAD_LETTERS: (DeadLetter,),
}


def cause_id(event: Event) -> str:
    """An input's own id: what a retry of it repeats, and what the fold remembers it by."""
    match event:
        case BetPlaced():
            return f"bet/{event.shoe_no}/{event.round_no}/{event.bet_id}"
        case CardDealt() | ShoeStarted() | CutCardDrawn() | CardRevealed() | DeviceReported():
            return f"{event.device}/{event.boot}/{event.sequence}"
        case TableConfigured():
            return f"configuration/{event.version}"
        case BetCancelled():
            return f"cancel/{event.shoe_no}/{event.round_no}/{event.bet_id}"
        case CustomerLeft():
            return f"left/{event.event_id}"
        case _ if isinstance(event, DealerAction | TableMoved):
            return f"action/{event.action_id}"
        case _:
            return event.event_id


NAMED: Final = (
    "table_id",
    "device",
    "bet_id",
    "customer_id",
    "action_id",
)  # ids are made of these, so none may hold a slash


TEXTS: Final = ("by", "second", "reason", "what", "text", "commitment", "source", "bet", "currency", "seat")
MOST_CHARACTERS: Final = 4_000  # of a text from outside: every answer that repeats it can be sent


def malformed(event: Event) -> str | None:
    """Why an event of the right shape still cannot be used; None when it can."""
    if isinstance(event, DeadLetter):
        return None  # it tells of a record whose key may be anything
    for field in NAMED:
        name = getattr(event, field, None)
        if name is not None and (not name or "/" in name or len(name) > 200):
            return f"{field} must be 1 to 200 characters without a slash, not {name[:200]!r}"
    if isinstance(event, FeedEvent | BetPlaced):
        for field in TEXTS:
            text = getattr(event, field, None)
            if text is not None and len(text) > MOST_CHARACTERS:
                return f"{field} has {len(text)} characters, and may have {MOST_CHARACTERS}"
    if isinstance(event, DeviceEvent):
        if event.device in ("action", "configuration"):
            return f"a device cannot be called {event.device!r}"
        if event.boot < 0 or event.sequence < 0:
            return f"boot {event.boot} and sequence {event.sequence} must not be negative"
    return None
