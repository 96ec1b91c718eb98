"""What a bet comes to: the line that pays, and the money.

A bet has lines; the first whose conditions all hold pays, and where none does the stake is lost.
"""

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Final

from msgspec import Struct

from services.baccarat.events import Condition, Configuration, Line, Terms
from services.baccarat.features import FEATURES, Cards, finished, needs_of
from services.baccarat.policies import policy_faults
from services.baccarat.shoe import BURN_RULES, END_RULES, MAX_DECKS, MIN_DECKS

# ---------------------------------------------------------------- the line that pays


@lru_cache(maxsize=1024)
def facts_in(lines: tuple[Line, ...]) -> frozenset[str]:
    """The features that these lines ask for."""
    return frozenset(asked.fact for line in lines for asked in line.when)


def first_match(lines: tuple[Line, ...], read: Callable[[str], str]) -> int | None:
    """Which line pays, from 1; None when the bet is lost. `read` tells a feature's value."""
    for number, line in enumerate(lines, start=1):
        if all(read(asked.fact) in asked.among for asked in line.when):
            return number
    return None


def line_of(lines: tuple[Line, ...], player: Cards, banker: Cards) -> int | None:
    """Which line pays by the cards, from 1; None when the bet is lost.

    Raises InvariantBroken where a condition asks for suits that were not recorded.
    """
    one = finished(player, banker, needs_of(facts_in(lines)))
    return first_match(lines, lambda fact: FEATURES[fact].reads(one))


def is_pair(hand: Cards) -> bool:
    """Whether a hand's first two cards are of one rank, whoever wins: a jack and a queen are no pair (P4)."""
    return hand[0].rank == hand[1].rank


# ---------------------------------------------------------------- money

# How a part of a minor unit is rounded, by what is cut off: less than half, just half (to an even or an odd number)
# or more than half; True rounds up.
ROUNDINGS: Final[Mapping[str, Callable[[int, int, int], bool]]] = {
    "down": lambda _floor, _rest, _denominator: False,
    "up": lambda _floor, rest, _denominator: rest > 0,
    "half_up": lambda _floor, rest, denominator: 2 * rest >= denominator,
    "half_down": lambda _floor, rest, denominator: 2 * rest > denominator,
    "half_even": lambda floor, rest, denominator: 2 * rest > denominator - floor % 2,
}


def rounded(numerator: int, denominator: int, rounding: str) -> int:
    """An amount of minor units, not negative, rounded as the table's policy says: the only rounding there is."""
    floor, rest = divmod(numerator, denominator)
    return floor + ROUNDINGS[rounding](floor, rest, denominator)


class Amounts(Struct, frozen=True):
    """What a bet came to, in minor units: winnings before commission, the commission, and all that goes back."""

    winnings_minor: int
    commission_minor: int
    return_minor: int


LOST: Final = Amounts(0, 0, 0)


def amounts(line: Line | None, stake_minor: int, winnings_rounding: str, commission_rounding: str) -> Amounts:
    """A stake priced by a line; None is a lost bet, and a line without odds gives the stake back.

    The commission is on the winnings (P2) and never more than they are.
    """
    if line is None:
        return LOST
    if line.odds is None:
        return Amounts(0, 0, stake_minor)
    odds, rate = line.odds, line.commission
    winnings = rounded(stake_minor * odds.numerator, odds.denominator, winnings_rounding)
    if not rate:
        return Amounts(winnings, 0, stake_minor + winnings)
    share = stake_minor * odds.numerator * rate.numerator
    commission = min(winnings, rounded(share, odds.denominator * rate.denominator, commission_rounding))
    return Amounts(winnings, commission, stake_minor + winnings - commission)


def small_unit(exponent: int) -> int:
    """The least stake of a small table, in minor units: one of the currency, and a hundred minor units at least.

    Below that, rounding a commission to whole minor units can outweigh the house edge.
    """
    return int(10 ** max(exponent, 2))


MOST_ODDS: Final = 10**6
MOST_DENOMINATOR: Final = 10**24  # of a fraction, so that a debt of many of them can still be written
MOST_MS: Final = 10**12  # of a window or a margin: an append time and this still fit into 64 bits
MOST_OPENINGS: Final = 1_000  # whose answers are remembered: they are kept in memory
MOST_CHARACTERS: Final = 850_000  # of a configuration written out, so that every fact with it can be sent
TABLE_TYPES: Final = ("big", "midi", "mini")
TIME_OF_DAY: Final = re.compile(r"([01][0-9]|2[0-3]):[0-5][0-9]")


def faults(configuration: Configuration) -> tuple[str, ...]:
    """Why a table cannot be run by this configuration, a sentence each; none when it can."""
    how = configuration
    asked = {
        "decks": (MIN_DECKS <= how.decks <= MAX_DECKS, f"{MIN_DECKS} to {MAX_DECKS}"),
        "winnings_rounding": (how.winnings_rounding in ROUNDINGS, ", ".join(ROUNDINGS)),
        "commission_rounding": (how.commission_rounding in ROUNDINGS, ", ".join(ROUNDINGS)),
        "commission_mode": (how.commission_mode in ("per_win", "owed"), "per_win, owed"),
        "betting": (how.betting in ("automatic", "dealer"), "automatic, dealer"),
        "burn_rule": (how.burn_rule in BURN_RULES, ", ".join(BURN_RULES)),
        "burn_fixed": (how.burn_rule != "fixed_n" or how.burn_fixed >= 1, "1 or more"),
        "end_rule": (how.end_rule in END_RULES, ", ".join(END_RULES)),
        "currency": (len(how.currency) == 3 and how.currency.isupper(), "three capitals (ISO 4217)"),
        "exponent": (0 <= how.exponent <= 8, "0 to 8"),
        "betting_window_ms": (0 < how.betting_window_ms <= MOST_MS, f"1 to {MOST_MS}"),
        "close_margin_ms": (0 <= how.close_margin_ms <= MOST_MS, f"0 to {MOST_MS}"),
        "rounds_kept": (0 <= how.rounds_kept <= 100, "0 to 100"),
        "openings_remembered": (
            max(1, how.rounds_kept) <= how.openings_remembered <= MOST_OPENINGS,
            f"1 to {MOST_OPENINGS}, not below rounds_kept",
        ),
        "table_type": (how.table_type in TABLE_TYPES, ", ".join(TABLE_TYPES)),
        "seats": (how.seats >= 0, "0 (any) or more"),
        "burn_between": (how.burn_between >= 0, "0 or more"),
        "cards_behind_cut": (how.cards_behind_cut >= 0, "0 or more"),
        "win_max_minor": (not_negative(how.win_max_minor), "0 or more, or none"),
        "payout_max_minor": (not_negative(how.payout_max_minor), "0 or more, or none"),
        "differential_max_minor": (not_negative(how.differential_max_minor), "0 or more, or none"),
        "gaming_day_starts_at": (bool(TIME_OF_DAY.fullmatch(how.gaming_day_starts_at)), "00:00 to 23:59"),
        "pay_table": (len({terms.bet for terms in how.pay_table}) == len(how.pay_table) > 0, "bets, each named once"),
    }
    if len(ascii(how)) > MOST_CHARACTERS:
        return (f"it has {len(ascii(how))} characters when written out, and may have {MOST_CHARACTERS}",)
    wrong = tuple(
        f"{name} is {getattr(how, name)!r}, allowed: {allowed}" for name, (right, allowed) in asked.items() if not right
    )
    return wrong + policy_faults(how) + tuple(fault for terms in how.pay_table for fault in faults_of(terms))


def not_negative(bound: int | None) -> bool:
    """None is no bound."""
    return bound is None or bound >= 0


def fault_of(asked: Condition) -> str:
    """Why a condition cannot be read; empty when it can."""
    if (feature := FEATURES.get(asked.fact)) is None:
        return f"unknown condition {asked.fact!r}"
    unknown = [value for value in asked.among if value not in feature.values]
    if not asked.among:
        return f"{asked.fact} names no value"
    return f"{asked.fact} is never {', '.join(unknown)}" if unknown else ""


def faults_of(terms: Terms) -> tuple[str, ...]:
    """Why a bet cannot be offered on these terms."""
    wrong: list[str] = []
    if not 0 < terms.min_minor <= terms.max_minor or terms.step_minor < 1:
        limits = f"{terms.min_minor} to {terms.max_minor} in steps of {terms.step_minor}"
        wrong.append(f"{terms.bet}: limits {limits} hold no stake")
    if not terms.bet or "/" in terms.bet:
        wrong.append(f"a bet cannot be called {terms.bet!r}")
    if not terms.lines:
        wrong.append(f"{terms.bet}: no line pays")
    if not all(map(not_negative, (terms.last_round_no, terms.cards_dealt_max, terms.payout_max_minor))):
        wrong.append(f"{terms.bet}: a bound must not be negative")
    for line in terms.lines:
        if line.odds is not None and line.odds > MOST_ODDS:
            wrong.append(f"{terms.bet}: odds are at most {MOST_ODDS} to one")
        if max((line.odds or line.commission).denominator, line.commission.denominator) > MOST_DENOMINATOR:
            wrong.append(f"{terms.bet}: odds and commission are written with fewer digits")
        wrong += [f"{terms.bet}: {fault}" for asked in line.when if (fault := fault_of(asked))]
        if (line.odds is not None and line.odds < 0) or not 0 <= line.commission <= 1:
            wrong.append(f"{terms.bet}: odds and commission must not be negative, nor the commission above the win")
    return tuple(wrong)
