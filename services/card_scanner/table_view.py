"""What whoever handles a table's shoe sees of it: a fold of `rounds`, pure."""

from collections.abc import Callable
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from services.baccarat import shoe
from services.baccarat.events import (
    BettingClosed,
    BettingOpened,
    CardAssigned,
    CardBurned,
    Configuration,
    ConfigurationReceived,
    Event,
    HiddenCardRevealed,
    RoundDecided,
    RoundVoided,
    RulesInForce,
    ShoeClosed,
    ShoeOpened,
    TableResumed,
    TableSuspended,
)
from services.card_scanner.sources import HouseRules


class View(Struct, frozen=True, kw_only=True):
    """A table as seen by the device `device`, of whose sentences rules has answered all up to `heard`.

    `in_shoe`: the shoe that this device said it began is open. `closes_at_ms` is the end of a betting whose round has
    no card yet; None: there is none. `card_due`: a round with cards waits for its next. `at_ms`: the last change.
    """

    table_id: str
    device: str
    boot: int = 1
    heard: int = 0
    rules: HouseRules | None = None
    suspended: bool = False
    in_shoe: bool = False
    burns_left: int = 0
    closes_at_ms: int | None = None
    card_due: bool = False
    at_ms: int = 0


def see(view: View, fact: Event) -> View:
    """Folds a fact of `rounds` about this table."""
    cause = getattr(fact, "cause_id", "")
    name, _, sequence = cause.rpartition("/")
    if name == f"{view.device}/{view.boot}" and int(sequence) > view.heard:
        view = replace(view, heard=int(sequence))
    fold = FOLDS.get(type(fact))
    return view if fold is None else replace(fold(view, fact), at_ms=getattr(fact, "at_ms", view.at_ms))


def house_rules(configuration: Configuration) -> HouseRules:
    return HouseRules(
        decks=configuration.decks,
        burn_rule=configuration.burn_rule,
        burn_fixed=configuration.burn_fixed,
        burn_between=configuration.burn_between,
        end_rule=configuration.end_rule,
        cards_behind_cut=configuration.cards_behind_cut,
    )


def _configured(view: View, fact: ConfigurationReceived | RulesInForce) -> View:
    return replace(view, rules=house_rules(fact.configuration))


def _shoe_opened(view: View, fact: ShoeOpened) -> View:
    rules = view.rules
    burns_left = 0 if rules is None else shoe.burns_left(rules.burn_rule, rules.burn_fixed, fact.decks, ())
    is_own = fact.cause_id.startswith(f"{view.device}/{view.boot}/")
    return replace(view, in_shoe=is_own, burns_left=burns_left, closes_at_ms=None, card_due=False)


def _shoe_closed(view: View, _: ShoeClosed) -> View:
    return replace(view, in_shoe=False, burns_left=0, closes_at_ms=None, card_due=False)


def _burned(view: View, fact: CardBurned) -> View:
    return replace(view, burns_left=fact.left)


def _betting_opened(view: View, fact: BettingOpened) -> View:
    return replace(view, burns_left=0, closes_at_ms=fact.closes_at_ms, card_due=False)


def _betting_closed(view: View, fact: BettingClosed) -> View:
    return replace(view, closes_at_ms=fact.closed_at_ms)


def _assigned(view: View, fact: CardAssigned) -> View:
    return replace(view, closes_at_ms=None, card_due=fact.next_hand is not None)


def _revealed(view: View, _: HiddenCardRevealed) -> View:
    return view  # only the clock moves: who draws next is said by the next card, or by the decision


def _round_over(view: View, _: RoundDecided | RoundVoided) -> View:
    return replace(view, closes_at_ms=None, card_due=False, burns_left=view.rules.burn_between if view.rules else 0)


def _suspended(view: View, _: TableSuspended) -> View:
    return replace(view, suspended=True)


def _resumed(view: View, _: TableResumed) -> View:
    return replace(view, suspended=False)


FOLDS: Final[dict[type, Callable[..., View]]] = {
    ConfigurationReceived: _configured,
    RulesInForce: _configured,
    ShoeOpened: _shoe_opened,
    ShoeClosed: _shoe_closed,
    CardBurned: _burned,
    BettingOpened: _betting_opened,
    BettingClosed: _betting_closed,
    CardAssigned: _assigned,
    HiddenCardRevealed: _revealed,
    RoundDecided: _round_over,
    RoundVoided: _round_over,
    TableSuspended: _suspended,
    TableResumed: _resumed,
}
