"""A table's rules in words, for its panel: what each bet pays, and how the house deals.

Configurations are data that an operator may write, so whatever has no word here is shown as it was written.
"""

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Final

from msgspec import Struct

from services.baccarat.events import Condition, Configuration, Line, Policy, Terms
from services.baccarat.catalogue import VARIANTS


class Offer(Struct, frozen=True, kw_only=True):
    """One bet of the panel; `pays` has a line of words for each line of the pay table."""

    bet: str
    title: str
    pays: tuple[str, ...]
    min_minor: int
    max_minor: int
    step_minor: int


class Panel(Struct, frozen=True, kw_only=True):
    """The panel of rules that hangs at the table; `rules` are pairs of a heading and a sentence."""

    version: int
    variant: str
    title: str
    currency: str
    exponent: int
    decks: int
    betting_window_ms: int
    offers: tuple[Offer, ...]
    rules: tuple[tuple[str, str], ...]


HANDS: Final = {"player": "Player", "banker": "Banker", "tie": "Tie"}

BURNS: Final[Mapping[str, str]] = {
    "face_value_faces_10": "The first card is turned up; its rank says how many more are burned, ten for a face card.",
    "ace_11": "The first card is turned up; its rank says how many more are burned, eleven for an ace, ten for a face.",
    "fixed_n": "{fixed} cards are burned face down.",
    "deck_count": "As many cards as the shoe has decks are burned face down.",
    "none": "No card is burned.",
}
ENDS: Final[Mapping[str, str]] = {
    "finish_round": "After the cut card the round in progress is the last.",
    "one_more": "After the cut card the round in progress is finished and one more is dealt.",
    "always_one_more": "After the cut card the round in progress is finished and always one more whole round is dealt.",
    "cards_left_below_n": "No round begins once too few cards are left.",
}
COMMISSIONS: Final[Mapping[str, str]] = {
    "per_win": "Taken from each win as it is paid.",
}
ROUNDINGS: Final[Mapping[str, str]] = {
    "down": "down",
    "up": "up",
    "half_up": "to the nearest, halves up",
    "half_down": "to the nearest, halves down",
    "half_even": "to the nearest, halves to the even unit",
}


def panel(version: int, told: Configuration) -> Panel:
    return Panel(
        version=version,
        variant=told.variant,
        title=VARIANTS[told.variant].name if told.variant in VARIANTS else told.variant,
        currency=told.currency,
        exponent=told.exponent,
        decks=told.decks,
        betting_window_ms=told.betting_window_ms,
        offers=tuple(map(_offer, told.pay_table)),
        rules=_rules(told),
    )


def bet_title(bet: str) -> str:
    """`player_pair` and `player-pair` as `Player Pair`."""
    return bet.replace("_", " ").replace("-", " ").title()


def line_in_words(line: Line) -> str:
    """What one line of a pay table pays, and when."""
    if line.odds is None:
        pays = "Stake back"
    else:
        pays = f"{line.odds.numerator} to {line.odds.denominator}"
        if line.commission:
            pays += f" less {_percent(line.commission)} commission"
    when = " ".join(map(_condition, line.when))
    return f"{pays} {when}" if when else pays


def _offer(terms: Terms) -> Offer:
    return Offer(
        bet=terms.bet,
        title=bet_title(terms.bet),
        pays=tuple(map(line_in_words, terms.lines)),
        min_minor=terms.min_minor,
        max_minor=terms.max_minor,
        step_minor=terms.step_minor,
    )


def _winner(among: tuple[str, ...]) -> str:
    names = [HANDS.get(each, each) for each in among]
    return "on a tie" if names == ["Tie"] else f"when {_or(names)} wins"


def _flag(words: str) -> Callable[[tuple[str, ...]], str]:
    return lambda among: words if among == ("yes",) else f"not {words}"


# What a condition's fact is called; its `among` stands in for the braces.
CONDITIONS: Final[Mapping[str, Callable[[tuple[str, ...]], str]]] = {
    "winner": _winner,
    "player_total": lambda among: f"with a Player total of {_or(among)}",
    "banker_total": lambda among: f"with a Banker total of {_or(among)}",
    "player_cards": lambda among: f"on {_or(among)} Player cards",
    "banker_cards": lambda among: f"on {_or(among)} Banker cards",
    "natural": _flag("on a natural"),
    "player_pair": _flag("when the Player's first two cards are a pair"),
    "banker_pair": _flag("when the Banker's first two cards are a pair"),
}


def _condition(condition: Condition) -> str:
    if (words := CONDITIONS.get(condition.fact)) is not None and condition.among:
        return words(condition.among)
    return f"when {condition.fact.replace('_', ' ')} is {_or(condition.among)}"


def _rules(told: Configuration) -> tuple[tuple[str, str], ...]:
    betting = {
        "automatic": f"Opens by itself and closes after {told.betting_window_ms / 1000:g} s, or with the first card.",
        "dealer": f"Opened by the dealer; closes after {told.betting_window_ms / 1000:g} s, or with the first card.",
    }
    rounding = f"Winnings are rounded {_known(ROUNDINGS, told.winnings_rounding)}; "
    rounding += f"commission {_known(ROUNDINGS, told.commission_rounding)}."
    return (
        ("Betting", _known(betting, told.betting)),
        ("Burn", _known(BURNS, told.burn_rule).format(fixed=told.burn_fixed)),
        ("End of the shoe", _known(ENDS, told.end_rule)),
        *((("Commission", _known(COMMISSIONS, told.commission_mode)),) if _has_commission(told) else ()),
        ("Rounding", rounding),
        ("Corrections", f"The last {told.rounds_kept} rounds can be revised: bets are reversed and settled again."),
        *((("Irregularities", "; ".join(map(_policy, told.policies)) + "."),) if told.policies else ()),
    )


def _has_commission(told: Configuration) -> bool:
    return any(line.commission for terms in told.pay_table for line in terms.lines)


def _policy(policy: Policy) -> str:
    return f"{policy.code.replace('-', ' ')}: {policy.policy.replace('_', ' ').replace('-', ' ')}"


def _known(words: Mapping[str, str], written: str) -> str:
    """What an operator wrote is not ours to format: braces in it stay."""
    return words.get(written) or written.replace("{", "{{").replace("}", "}}")


def _or(among: tuple[str, ...] | list[str]) -> str:
    return " or ".join(among) if len(among) < 3 else f"{', '.join(among[:-1])} or {among[-1]}"


def _percent(share: Fraction) -> str:
    """Exact: `5 %`, and a share with no whole percent as a fraction."""
    percent = share * 100
    return f"{percent} %" if percent.denominator == 1 else f"{share}"
