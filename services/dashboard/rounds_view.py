"""What `rounds` says of a table: the shoe, the round that is played, the last result, the rounds before it.

Plain data that goes to Redis and to pages as JSON: times in UTC milliseconds, cards as text (`9S`; None while hidden).
"""

from typing import Final, get_args

from msgspec import Struct
from msgspec.structs import replace

from services.baccarat.cards import Card, Hand, Winner, parse_card, total
from services.baccarat.events import (
    BettingClosed,
    BettingOpened,
    CardAssigned,
    CardBurned,
    CardCorrected,
    CardSetAside,
    ConfigurationReceived,
    CutCardSeen,
    Event,
    HiddenCardRevealed,
    IrregularityFound,
    Outcome,
    RoundDecided,
    RoundRevised,
    RoundsFact,
    RoundVoided,
    RulesInForce,
    ShoeClosed,
    ShoeOpened,
    TableResumed,
    TableSuspended,
)
from services.baccarat.payouts import is_pair
from services.dashboard.words import Panel, panel

PAST_KEPT: Final = 200  # a shoe of 12 decks gives some 125 rounds

LETTERS: Final = {Winner.PLAYER: "P", Winner.BANKER: "B", Winner.TIE: "T"}


class Dealt(Struct, frozen=True, array_like=True):
    """A card of a hand as `[card_no, card]`."""

    card_no: int
    card: str | None


class Round(Struct, frozen=True, kw_only=True):
    """The round that is bet on or dealt. Free hands have no times; `closed` is why betting ended, None before."""

    round_no: int
    free: bool = False
    version: int | None = None
    opened_at_ms: int | None = None
    closes_at_ms: int | None = None
    closed: str | None = None
    player: tuple[Dealt, ...] = ()
    banker: tuple[Dealt, ...] = ()
    player_total: int | None = None
    banker_total: int | None = None
    next_hand: str | None = "player"


class Result(Struct, frozen=True, kw_only=True):
    """The last round that ended. `winner` is None where it was voided; `reason` is of the void or the revision."""

    shoe_no: int
    round_no: int
    revision: int
    at_ms: int
    player: tuple[str | None, ...] = ()
    banker: tuple[str | None, ...] = ()
    player_total: int | None = None
    banker_total: int | None = None
    winner: str | None = None
    natural: bool = False
    free: bool = False
    reason: str = ""


class Past(Struct, frozen=True, array_like=True):
    """A round of the shoe as `[round_no, winner, player_total, banker_total, marks]`.

    `winner` is P, B or T, and empty for a void. `marks` are letters: n natural, p and b the hands that were dealt a
    pair, f free, r revised, v void.
    """

    round_no: int
    winner: str
    player_total: int | None
    banker_total: int | None
    marks: str


class Counts(Struct, frozen=True):
    """Of the shoe's rounds, voided ones left out."""

    player: int = 0
    banker: int = 0
    tie: int = 0


class Suspension(Struct, frozen=True):
    cause: str
    text: str
    by: str
    at_ms: int


class Irregularity(Struct, frozen=True):
    code: str
    text: str
    policy: str
    at_ms: int


class RoundsView(Struct, frozen=True, kw_only=True):
    """What `rounds` says of a table.

    `phase` is not_configured, ready, burning, betting, dealing, decided, voided or shoe_closed; a suspension stands
    beside it. `cards` counts all that left the shoe. `cut_rounds_left` is None until the cut card was seen.
    """

    at_ms: int = 0
    phase: str = "not_configured"
    suspended: Suspension | None = None
    panel: Panel | None = None
    next_version: int | None = None
    shoe_no: int | None = None
    decks: int | None = None
    cards: int = 0
    burned: int = 0
    burn_left: int | None = None
    cut_rounds_left: int | None = None
    shoe_end: str | None = None
    round: Round | None = None
    last: Result | None = None
    past: tuple[Past, ...] = ()
    counts: Counts = Counts()
    irregularities: int = 0
    irregularity: Irregularity | None = None


# ---------------------------------------------------------------- the fold


def fold_rounds(view: RoundsView, fact: Event) -> RoundsView:
    """The view after one more fact of `rounds`; a fact of no concern moves only the time."""
    if not isinstance(fact, get_args(RoundsFact)):
        return view
    return replace(_after(view, fact), at_ms=max(view.at_ms, fact.at_ms))


def _after(view: RoundsView, fact: Event) -> RoundsView:
    match fact:
        case ConfigurationReceived():
            return _received(view, fact)
        case RulesInForce():
            return replace(view, panel=panel(fact.version, fact.configuration), next_version=None)
        case ShoeOpened():
            return _shoe_opened(view, fact)
        case CardBurned():
            return replace(view, cards=max(view.cards, fact.card_no), burned=view.burned + 1, burn_left=fact.left)
        case BettingOpened():
            return _betting_opened(view, fact)
        case BettingClosed():
            return _betting_closed(view, fact)
        case CardAssigned():
            return _card_assigned(view, fact)
        case HiddenCardRevealed():
            return _face(view, fact.round_no, fact.card_no, fact.card)
        case CardCorrected():
            return _face(view, fact.round_no, fact.card_no, fact.after)
        case CardSetAside():
            return replace(view, cards=max(view.cards, fact.card_no or 0))
        case CutCardSeen():
            return replace(view, cut_rounds_left=fact.rounds_left)
        case RoundDecided() | RoundRevised():
            return _decided(view, fact)
        case RoundVoided():
            return _voided(view, fact)
        case ShoeClosed():
            return replace(view, phase="shoe_closed", round=None, shoe_end=fact.reason, cards=fact.cards)
        case IrregularityFound():
            found = Irregularity(fact.code, fact.text, fact.policy, fact.at_ms)
            return replace(view, irregularities=view.irregularities + 1, irregularity=found)
        case TableSuspended():
            return replace(view, suspended=Suspension(fact.cause, fact.text, fact.by, fact.at_ms))
        case TableResumed():
            return replace(view, suspended=None)
        case _:
            return view


def _received(view: RoundsView, fact: ConfigurationReceived) -> RoundsView:
    """A configuration is shown at once where none was; else it only waits."""
    if view.phase == "not_configured":
        return replace(view, phase="ready", panel=panel(fact.version, fact.configuration), next_version=fact.version)
    return replace(view, next_version=fact.version)


def _shoe_opened(view: RoundsView, fact: ShoeOpened) -> RoundsView:
    return replace(
        view,
        phase="burning",
        shoe_no=fact.shoe_no,
        decks=fact.decks,
        cards=0,
        burned=0,
        burn_left=None,
        cut_rounds_left=None,
        shoe_end=None,
        round=None,
        past=(),
        counts=Counts(),
    )


def _betting_opened(view: RoundsView, fact: BettingOpened) -> RoundsView:
    opened = Round(
        round_no=fact.round_no, version=fact.version, opened_at_ms=fact.at_ms, closes_at_ms=fact.closes_at_ms
    )
    return replace(view, phase="betting", round=opened, cards=max(view.cards, fact.cards_dealt))


def _betting_closed(view: RoundsView, fact: BettingClosed) -> RoundsView:
    if view.round is None or view.round.round_no != fact.round_no:
        return view
    return replace(view, phase="dealing", round=replace(view.round, closed=fact.cause))


def _card_assigned(view: RoundsView, fact: CardAssigned) -> RoundsView:
    """The first card of a round that was never opened starts a free hand."""
    playing = view.round
    if playing is None or playing.round_no != fact.round_no:
        playing = Round(round_no=fact.round_no, free=True)
    dealt = Dealt(fact.card_no, _text(fact.card))
    if fact.hand is Hand.PLAYER:
        playing = replace(playing, player=(*playing.player, dealt))
    else:
        playing = replace(playing, banker=(*playing.banker, dealt))
    playing = replace(
        playing, player_total=fact.player_total, banker_total=fact.banker_total, next_hand=fact.next_hand or None
    )
    return replace(view, phase="dealing", round=playing, cards=max(view.cards, fact.card_no))


def _face(view: RoundsView, round_no: int | None, card_no: int, card: Card) -> RoundsView:
    """Another face for a card of the running round; of a round that ended, the revision says it all."""
    if view.round is None or view.round.round_no != round_no:
        return view
    hands = {
        hand: tuple(Dealt(card_no, str(card)) if dealt.card_no == card_no else dealt for dealt in cards)
        for hand, cards in (("player", view.round.player), ("banker", view.round.banker))
    }
    totals = {f"{hand}_total": _total(cards) for hand, cards in hands.items()}
    return replace(view, round=replace(view.round, **hands, **totals))


def _decided(view: RoundsView, fact: RoundDecided | RoundRevised) -> RoundsView:
    revised = isinstance(fact, RoundRevised)
    result = Result(
        shoe_no=fact.shoe_no,
        round_no=fact.round_no,
        revision=fact.revision,
        at_ms=fact.at_ms,
        player=tuple(map(str, fact.player)),
        banker=tuple(map(str, fact.banker)),
        player_total=fact.player_total,
        banker_total=fact.banker_total,
        winner=fact.winner.value,
        natural=fact.natural,
        free=fact.free,
        reason=fact.reason if isinstance(fact, RoundRevised) else "",
    )
    flags = {"n": fact.natural, "p": is_pair(fact.player), "b": is_pair(fact.banker), "f": fact.free, "r": revised}
    marks = "".join(letter for letter, on in flags.items() if on)
    past = Past(fact.round_no, LETTERS[fact.winner], fact.player_total, fact.banker_total, marks)
    return _ended(view, fact, result, past, "decided")


def _voided(view: RoundsView, fact: RoundVoided) -> RoundsView:
    """The cards of a voided round stay to be seen where they are known."""
    result = Result(
        shoe_no=fact.shoe_no, round_no=fact.round_no, revision=fact.revision, at_ms=fact.at_ms, reason=fact.reason
    )
    running = view.round
    if view.last is not None and _is(view.last, fact):
        result = replace(view.last, revision=fact.revision, at_ms=fact.at_ms, winner=None, reason=fact.reason)
    elif running is not None and view.shoe_no == fact.shoe_no and running.round_no == fact.round_no:
        result = replace(
            result,
            player=tuple(dealt.card for dealt in running.player),
            banker=tuple(dealt.card for dealt in running.banker),
            player_total=running.player_total,
            banker_total=running.banker_total,
        )
    return _ended(view, fact, result, Past(fact.round_no, "", None, None, "v"), "voided")


def _ended(view: RoundsView, fact: Outcome, result: Result, past: Past, phase: str) -> RoundsView:
    """A round ended, or one that had ended was revised or voided, perhaps while another is running."""
    if view.last is None or (view.last.shoe_no, view.last.round_no) <= (fact.shoe_no, fact.round_no):
        view = replace(view, last=result)
    if view.shoe_no != fact.shoe_no:
        return view
    rounds = {known.round_no: known for known in view.past} | {past.round_no: past}
    kept = tuple(rounds[round_no] for round_no in sorted(rounds))[-PAST_KEPT:]
    view = replace(view, past=kept, counts=_counts(kept))
    if view.round is not None and view.round.round_no == fact.round_no:
        return replace(view, round=None, phase=phase)
    return view


def _is(result: Result, fact: Outcome) -> bool:
    return (result.shoe_no, result.round_no) == (fact.shoe_no, fact.round_no)


def _counts(past: tuple[Past, ...]) -> Counts:
    winners = [known.winner for known in past]
    return Counts(winners.count("P"), winners.count("B"), winners.count("T"))


def _text(card: Card | None) -> str | None:
    return None if card is None else str(card)


def _total(hand: tuple[Dealt, ...]) -> int | None:
    """None while a card of the hand is hidden, and for a hand without cards."""
    known = [parse_card(dealt.card) for dealt in hand if dealt.card is not None]
    return total(known) if known and len(known) == len(hand) else None
