"""Pay tables as data, and what a bet comes to.

A base game is a row, of data and not of code. A bet has lines; the first whose conditions all hold pays. A condition
names a feature of the finished round and the values it may have; `FEATURES` is the whole vocabulary.
"""

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Final

from msgspec import Struct

from services.baccarat.cards import Card, Winner, total
from services.baccarat.errors import BadSettings
from services.baccarat.events import Condition, Configuration, Line, Terms
from services.baccarat.shoe import BURN_RULES, END_RULES, MAX_DECKS, MIN_DECKS
from services.baccarat.tableau import is_natural, winner_of

Cards = tuple[Card, ...]

# ---------------------------------------------------------------- what can be asked of a finished round


def winner(player: Cards, banker: Cards) -> Winner:
    """Who has the higher total (R13)."""
    return winner_of(total(player), total(banker))


def is_pair(hand: Cards) -> bool:
    """Whether a hand's first two cards are of one rank, whoever wins: a jack and a queen are no pair (P4)."""
    return hand[0].rank == hand[1].rank


def yes(truth: bool) -> str:  # noqa: FBT001 - the truth is what is written
    """How a condition writes a truth."""
    return "yes" if truth else "no"


FEATURES: Final[Mapping[str, Callable[[Cards, Cards], str]]] = {
    "winner": lambda player, banker: winner(player, banker).value,
    "player_total": lambda player, _: str(total(player)),
    "banker_total": lambda _, banker: str(total(banker)),
    "player_cards": lambda player, _: str(len(player)),
    "banker_cards": lambda _, banker: str(len(banker)),
    "natural": lambda player, banker: yes(is_natural(player) or is_natural(banker)),
    "player_pair": lambda player, _: yes(is_pair(player)),
    "banker_pair": lambda _, banker: yes(is_pair(banker)),
}


def when(**values: str | int) -> tuple[Condition, ...]:
    """Conditions as a pay table writes them: `when(winner="banker", banker_total=6)`."""
    return tuple(Condition(fact, (str(value),)) for fact, value in values.items())


def line_of(lines: tuple[Line, ...], player: Cards, banker: Cards) -> int | None:
    """Which line pays, from 1: the first whose conditions all hold; None when the bet is lost."""
    for number, line in enumerate(lines, start=1):
        if all(FEATURES[asked.fact](player, banker) in asked.among for asked in line.when):
            return number
    return None


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


# ---------------------------------------------------------------- the base games

EVENS: Final = Fraction(1)
HALF: Final = Fraction(1, 2)
FIVE_PERCENT: Final = Fraction(1, 20)
TIE_PUSHES: Final = Line(when(winner="tie"), None)


def pays(odds: int, **values: str | int) -> tuple[Line, ...]:
    """A bet of one line: these odds when all of this holds, lost otherwise."""
    return (Line(when(**values), Fraction(odds)),)


PLAYER: Final = (Line(when(winner="player"), EVENS), TIE_PUSHES)  # P1
BANKER: Final = (Line(when(winner="banker"), EVENS), TIE_PUSHES)
BANKER_5: Final = (Line(when(winner="banker"), EVENS, FIVE_PERCENT), TIE_PUSHES)  # P2
BANKER_HALF_ON_6: Final = (Line(when(winner="banker", banker_total=6), HALF), *BANKER)
BANKER_PUSH_ON_THREE_CARD_7: Final = (Line(when(winner="banker", banker_total=7, banker_cards=3), None), *BANKER)
PAIRS: Final = {"player_pair": pays(11, player_pair="yes"), "banker_pair": pays(11, banker_pair="yes")}  # P4


def base_game(banker: tuple[Line, ...], tie: int = 8) -> Mapping[str, tuple[Line, ...]]:
    """The bets of a base game: the Banker's lines and the Tie's odds (P3) are what differs."""
    return {"player": PLAYER, "banker": banker, "tie": pays(tie, winner="tie"), **PAIRS}


class Variant(Struct, frozen=True):
    """A named pay table; `source` is where its numbers are published."""

    slug: str
    name: str
    bets: Mapping[str, tuple[Line, ...]]
    source: str


VARIANTS: Final[Mapping[str, Variant]] = {
    variant.slug: variant
    for variant in (
        Variant("classic", "Classic, 5% commission", base_game(BANKER_5), "Macau Despacho 73/2005 art. 18(1)"),
        Variant("classic-tie-9", "Classic, Tie pays 9 to 1", base_game(BANKER_5, tie=9), "houses in the UK and Europe"),
        Variant("super-6", "Super 6", base_game(BANKER_HALF_ON_6), "Macau Despacho 73/2005 art. 18(2)"),
        Variant("ez", "EZ Baccarat", base_game(BANKER_PUSH_ON_THREE_CARD_7), "58 Pa. Code 627a"),
    )
}


def variant_of(slug: str) -> Variant:
    """Raises BadSettings for a name that is no variant's."""
    if (found := VARIANTS.get(slug)) is None:
        raise BadSettings(f"no variant is called {slug!r}; there are {', '.join(VARIANTS)}")
    return found


MAIN_BETS: Final = ("player", "banker")


def configuration(slug: str, *, currency: str = "EUR", exponent: int = 2, decks: int = 8) -> Configuration:
    """A table of this variant with limits a small table has: 1.00 to 5,000.00 on the main bets, a tenth on the rest."""
    unit = 10**exponent
    return Configuration(
        variant=slug,
        pay_table=tuple(
            Terms(bet, lines, min_minor=unit, max_minor=(5_000 if bet in MAIN_BETS else 500) * unit)
            for bet, lines in variant_of(slug).bets.items()
        ),
        currency=currency,
        exponent=exponent,
        decks=decks,
    )


def faults(configuration: Configuration) -> tuple[str, ...]:
    """Why a table cannot be run by this configuration, a sentence each; none when it can."""
    how = configuration
    asked = {
        "decks": (MIN_DECKS <= how.decks <= MAX_DECKS, f"{MIN_DECKS} to {MAX_DECKS}"),
        "winnings_rounding": (how.winnings_rounding in ROUNDINGS, ", ".join(ROUNDINGS)),
        "commission_rounding": (how.commission_rounding in ROUNDINGS, ", ".join(ROUNDINGS)),
        "commission_mode": (how.commission_mode == "per_win", "per_win"),
        "betting": (how.betting in ("automatic", "dealer"), "automatic, dealer"),
        "burn_rule": (how.burn_rule in BURN_RULES, ", ".join(BURN_RULES)),
        "burn_fixed": (how.burn_rule != "fixed_n" or how.burn_fixed >= 1, "1 or more"),
        "end_rule": (how.end_rule in END_RULES, ", ".join(END_RULES)),
        "currency": (len(how.currency) == 3 and how.currency.isupper(), "three capitals (ISO 4217)"),
        "exponent": (0 <= how.exponent <= 8, "0 to 8"),
        "betting_window_ms": (how.betting_window_ms > 0, "more than 0"),
        "close_margin_ms": (how.close_margin_ms >= 0, "0 or more"),
        "rounds_kept": (how.rounds_kept >= 0, "0 or more"),
        "openings_remembered": (how.openings_remembered >= max(1, how.rounds_kept), "1 or more, not below rounds_kept"),
        "pay_table": (len({terms.bet for terms in how.pay_table}) == len(how.pay_table) > 0, "bets, each named once"),
    }
    wrong = tuple(
        f"{name} is {getattr(how, name)!r}, allowed: {allowed}" for name, (right, allowed) in asked.items() if not right
    )
    return wrong + tuple(fault for terms in how.pay_table for fault in faults_of(terms))


def faults_of(terms: Terms) -> tuple[str, ...]:
    """Why a bet cannot be offered on these terms."""
    wrong: list[str] = []
    if not 0 < terms.min_minor <= terms.max_minor or terms.step_minor < 1:
        limits = f"{terms.min_minor} to {terms.max_minor} in steps of {terms.step_minor}"
        wrong.append(f"{terms.bet}: limits {limits} hold no stake")
    if not terms.bet or "/" in terms.bet:
        wrong.append(f"a bet cannot be called {terms.bet!r}")
    for line in terms.lines:
        wrong += [f"{terms.bet}: unknown condition {asked.fact!r}" for asked in line.when if asked.fact not in FEATURES]
        if (line.odds is not None and line.odds < 0) or not 0 <= line.commission <= 1:
            wrong.append(f"{terms.bet}: odds and commission must not be negative, nor the commission above the win")
    return tuple(wrong)
