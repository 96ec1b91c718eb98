"""A table's rules in words, for its panel: what each bet pays, and how the house deals.

Configurations are data that an operator may write, so whatever has no word here is shown as it was written.
"""

from collections.abc import Mapping
from fractions import Fraction
from typing import Final

from msgspec import Struct

from services.baccarat.catalogue import SIDE_BETS
from services.baccarat.events import Condition, Configuration, Line, Policy, Terms


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
        title=told.name or told.variant,
        currency=told.currency,
        exponent=told.exponent,
        decks=told.decks,
        betting_window_ms=told.betting_window_ms,
        offers=tuple(map(_offer, told.pay_table)),
        rules=_rules(told),
    )


def bet_title(bet: str) -> str:
    """A side bet's name in the catalogue; any other slug as words, such as `Player Pair`."""
    if bet in SIDE_BETS:
        return SIDE_BETS[bet].name
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


# Conditions that are read off by their values; where several will do, one of them is enough.
BY_VALUE: Final[Mapping[str, Mapping[str, str]]] = {
    "winner": {"player": "when Player wins", "banker": "when Banker wins", "tie": "on a tie"},
    "natural": {"yes": "on a natural", "no": "without a natural"},
    "player_natural": {"yes": "on a Player natural", "no": "without a Player natural"},
    "banker_natural": {"yes": "on a Banker natural", "no": "without a Banker natural"},
    "player_pair": {"yes": "when the Player's first two cards are a pair", "no": "without a Player pair"},
    "banker_pair": {"yes": "when the Banker's first two cards are a pair", "no": "without a Banker pair"},
    "pairs": {
        "none": "when neither hand has a pair",
        "one": "when one hand has a pair",
        "two": "when both hands have pairs, of different ranks",
        "same": "when both hands have pairs of the same rank",
    },
    "player_suited": {"yes": "when the Player's first two cards are of one suit", "no": "when they are of two suits"},
    "banker_suited": {"yes": "when the Banker's first two cards are of one suit", "no": "when they are of two suits"},
    "player_perfect": {"yes": "when the Player has a perfect pair", "no": "when the Player's pair is not perfect"},
    "banker_perfect": {"yes": "when the Banker has a perfect pair", "no": "when the Banker's pair is not perfect"},
    "perfect_pairs": {
        "0": "without a perfect pair",
        "1": "when one hand has a perfect pair",
        "2": "when both hands have perfect pairs",
    },
    "colour": {
        "red": "when every card is red",
        "black": "when every card is black",
        "mixed": "when there are cards of both colours",
    },
    "player_third_kind": {
        "face": "when the Player's third card is a face card",
        "other": "when the Player's third card is no face card",
        "none": "when the Player stands",
    },
    "banker_third_kind": {
        "face": "when the Banker's third card is a face card",
        "other": "when the Banker's third card is no face card",
        "none": "when the Banker stands",
    },
    "all_faces": {"yes": "when every card is a jack, queen or king", "no": "when not all are face cards"},
}
# Conditions that name their values.
BY_NUMBER: Final[Mapping[str, str]] = {
    "player_total": "with a Player total of {}",
    "banker_total": "with a Banker total of {}",
    "winner_total": "with a winning total of {}",
    "loser_total": "against a losing total of {}",
    "margin": "with {} points between the totals",
    "player_cards": "on {} Player cards",
    "banker_cards": "on {} Banker cards",
    "winner_cards": "on {} cards of the winning hand",
    "loser_cards": "against {} cards of the losing hand",
    "cards": "on {} cards in all",
    "player_pair_rank": "when the rank of the Player's pair is {}",
    "banker_pair_rank": "when the rank of the Banker's pair is {}",
    "player_two": "with a Player total of {} on two cards",
    "banker_two": "with a Banker total of {} on two cards",
    "player_third": "with {} points on the Player's third card",
    "banker_third": "with {} points on the Banker's third card",
}


def _condition(condition: Condition) -> str:
    among = condition.among
    if (by_value := BY_VALUE.get(condition.fact)) is not None and all(value in by_value for value in among):
        return _or([by_value[value] for value in among])
    if (by_number := BY_NUMBER.get(condition.fact)) is not None:
        return by_number.format(_or(["no" if value == "none" else value for value in among]))
    return f"when {condition.fact.replace('_', ' ')} is {_or(among)}"


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
