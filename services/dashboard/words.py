"""A table's rules in words, for its panel: what each bet pays, and how the house deals.

Configurations are data that an operator may write, so whatever has no word here is shown as it was written.
"""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Final

from msgspec import Struct

from services.baccarat.catalogue import SIDE_BETS
from services.baccarat.events import Condition, Configuration, Line, Policy, Terms
from services.baccarat.policies import POLICIES
from services.baccarat.tables import units


class Offer(Struct, frozen=True, kw_only=True):
    """One bet of the panel; `pays` has a line of words for each line of the pay table, `bounds` one for each bound."""

    bet: str
    title: str
    pays: tuple[str, ...]
    min_minor: int
    max_minor: int
    step_minor: int
    bounds: tuple[str, ...] = ()


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
    "owed": "Kept as a debt, exact, and collected at the end of the shoe or when the customer leaves.",
}
TYPES: Final[Mapping[str, str]] = {
    "big": "A big table.",
    "midi": "A midi table.",
    "mini": "A mini table.",
}
# What the house does about an irregularity, by its code and the policy.
HOUSE_POLICIES: Final[Mapping[tuple[str, str], str]] = {
    ("card-in-betting", "close"): "a card that comes during betting ends it and is dealt",
    ("card-in-betting", "burn"): "a card that comes during betting is burned, and betting goes on",
    ("card-unread", "wait"): "a card that is not read keeps its place until a person names it",
    ("card-unread", "burn"): "a card that is not read is burned, and the next one takes its place",
    ("card-without-opening", "free-hand"): "a card without betting before it begins a free hand",
    ("card-without-opening", "burn"): "a card without betting before it is burned",
    ("card-over-count", "suspend"): "a card too many suspends the table",
    ("card-over-count", "set-aside"): "a card too many is set aside",
    ("claim-differs", "suspend"): "a result that the device announces otherwise suspends the table",
    ("claim-differs", "note"): "a result that the device announces otherwise is put on record",
    ("decks-differ", "suspend"): "a shoe of other decks than the table's suspends the table",
    ("decks-differ", "note"): "a shoe of other decks than the table's is put on record",
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
        offers=tuple(_offer(terms, told) for terms in told.pay_table),
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


def _offer(terms: Terms, told: Configuration) -> Offer:
    return Offer(
        bet=terms.bet,
        title=bet_title(terms.bet),
        pays=tuple(map(line_in_words, terms.lines)),
        min_minor=terms.min_minor,
        max_minor=terms.max_minor,
        step_minor=terms.step_minor,
        bounds=tuple(_bounds(terms, told)),
    )


def _bounds(terms: Terms, told: Configuration) -> Iterator[str]:
    if terms.step_minor != 1:
        yield f"in steps of {_amount(terms.step_minor, told)}"
    if terms.last_round_no is not None:
        yield f"up to round {terms.last_round_no} of a shoe"
    if terms.cards_dealt_max is not None:
        yield f"while at most {_count(terms.cards_dealt_max, 'card')} {_have(terms.cards_dealt_max)} left the shoe"
    if terms.payout_max_minor is not None:
        yield f"all bets on it together can win {_amount(terms.payout_max_minor, told)} in a round"


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
        *((("Table", table),) if (table := _table(told)) else ()),
        ("Betting", _known(betting, told.betting)),
        *((("Limits", " ".join(limits)),) if (limits := tuple(_limits(told))) else ()),
        ("Burn", _burn(told)),
        ("End of the shoe", _known(ENDS, told.end_rule)),
        *((("Commission", _known(COMMISSIONS, told.commission_mode)),) if _has_commission(told) else ()),
        ("Rounding", rounding),
        ("Corrections", f"The last {told.rounds_kept} rounds can be revised: bets are reversed and settled again."),
        *((("Irregularities", "; ".join(map(_policy, policies)) + "."),) if (policies := _unusual(told)) else ()),
        *((("Gaming day", day),) if (day := _gaming_day(told)) else ()),
    )


def _table(told: Configuration) -> str:
    """Empty for a mini table whose seats have no numbers."""
    size = "" if told.table_type == "mini" else _known(TYPES, told.table_type)
    seats = f"Bets may name {'seat 1' if told.seats == 1 else f'seats 1 to {told.seats}'}." if told.seats else ""
    return " ".join(filter(None, (size, seats)))


def _limits(told: Configuration) -> Iterator[str]:
    """Those of the table, a sentence each; the limits of a bet hang at the bet."""
    if not told.opposite_mains:
        yield "A customer may not back both Player and Banker in a round."
    if not told.side_above_main:
        yield "A customer's side bet may not be above his main bets."
    if told.win_max_minor is not None:
        yield f"A customer can win at most {_amount(told.win_max_minor, told)} in a round."
    if told.payout_max_minor is not None:
        yield f"All customers together can win at most {_amount(told.payout_max_minor, told)} in a round."
    if told.differential_max_minor is not None:
        bound = _amount(told.differential_max_minor, told)
        yield f"The stakes on Player and on Banker may differ by at most {bound}; the newest bets above it are void."


def _burn(told: Configuration) -> str:
    begins = _known(BURNS, told.burn_rule).format(fixed=told.burn_fixed)
    if not told.burn_between:
        return begins
    cards = _count(told.burn_between, "card")
    return f"{begins} Between two rounds {cards} {'is' if told.burn_between == 1 else 'are'} burned."


def _unusual(told: Configuration) -> tuple[Policy, ...]:
    """Policies that are not the usual one, which is the first there is."""
    return tuple(one for one in told.policies if one.policy != POLICIES.get(one.code, ("",))[0])


def _gaming_day(told: Configuration) -> str:
    """Empty where it is the day of UTC."""
    if (told.gaming_day_starts_at, told.time_zone) == ("00:00", "UTC"):
        return ""
    return f"Begins at {told.gaming_day_starts_at}, {told.time_zone} time."


def _has_commission(told: Configuration) -> bool:
    return any(line.commission for terms in told.pay_table for line in terms.lines)


def _policy(policy: Policy) -> str:
    if (words := HOUSE_POLICIES.get((policy.code, policy.policy))) is not None:
        return words
    return f"{policy.code.replace('-', ' ')}: {policy.policy.replace('_', ' ').replace('-', ' ')}"


def _amount(minor: int, told: Configuration) -> str:
    return f"{units(minor, told)} {told.currency}"


def _count(number: int, one: str) -> str:
    return f"{number} {one}" if number == 1 else f"{number} {one}s"


def _have(number: int) -> str:
    return "has" if number == 1 else "have"


def _known(words: Mapping[str, str], written: str) -> str:
    """What an operator wrote is not ours to format: braces in it stay."""
    return words.get(written) or written.replace("{", "{{").replace("}", "}}")


def _or(among: tuple[str, ...] | list[str]) -> str:
    return " or ".join(among) if len(among) < 3 else f"{', '.join(among[:-1])} or {among[-1]}"


def _percent(share: Fraction) -> str:
    """Exact: `5 %`, and a share with no whole percent as a fraction."""
    percent = share * 100
    return f"{percent} %" if percent.denominator == 1 else f"{share}"
