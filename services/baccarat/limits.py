"""Limits as houses have them: each refusal has a code and says the bound.

Stakes are summed before the bet that is judged. A limit on winnings goes by the worst joint outcome of the bets: exact
for bets that ask for totals and counts; what a bet on pairs, suits or colours can win at most is added to that, for
such bets can win together with nearly anything. What is staked on one bet is priced as one stake, so that rounding can
move what really is won by less than two minor units for each bet placed.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Final

from msgspec import Struct

from services.baccarat import odds, payouts
from services.baccarat.events import Configuration, Line, Terms
from services.baccarat.features import TOTALS, needs_of

MOST_COUNTED_MINOR: Final = 10**18  # well below 2^63, for commission and roundings

Refusal = tuple[str, str]  # code and sentence
Stakes = Mapping[str, int]  # minor units by bet


class Asked(Struct, frozen=True):
    """A bet as its limits see it: what the customer and the table have staked already, by bet, and the round."""

    terms: Terms
    how: Configuration
    stake_minor: int
    seat: str | None
    own: Stakes
    table: Stakes
    round_no: int
    cards_dealt: int


# ---------------------------------------------------------------- the worst joint outcome


@lru_cache(maxsize=256)
def lines_by_end(lines: tuple[Line, ...], decks: int) -> tuple[int | None, ...]:
    """Which line of a bet on totals and counts pays, for every end that a round can have."""
    asked = frozenset((TOTALS,))
    facts = sorted(payouts.facts_in(lines))
    columns = [odds.column(decks, (), asked, fact) for fact in facts]
    if not columns:
        return (1,) * len(odds.ends(decks, (), asked))
    known: dict[tuple[str, ...], int | None] = {}
    for read in dict.fromkeys(zip(*columns, strict=True)):
        known[read] = payouts.first_match(lines, dict(zip(facts, read, strict=True)).__getitem__)
    return tuple(known[read] for read in zip(*columns, strict=True))


@lru_cache(maxsize=256)
def joint_lines(pay_table: tuple[Terms, ...], decks: int) -> tuple[tuple[int | None, ...], ...]:
    """Which lines can pay together, for the bets that ask for totals and counts only: one entry a bet."""
    return tuple(dict.fromkeys(zip(*(lines_by_end(terms.lines, decks) for terms in pay_table), strict=True)))


def winnings(terms: Terms, number: int | None, stake_minor: int, how: Configuration) -> int:
    """What a stake wins in the round by a line, commission taken off unless it is kept as a debt."""
    line = None if number is None else terms.lines[number - 1]
    came_to = payouts.amounts(line, stake_minor, how.winnings_rounding, how.commission_rounding)
    return came_to.winnings_minor - (0 if how.commission_mode == "owed" else came_to.commission_minor)


def most(terms: Terms, stake_minor: int, how: Configuration) -> int:
    """What a stake wins at most."""
    return max(winnings(terms, number, stake_minor, how) for number in range(1, len(terms.lines) + 1))


def worst_minor(stakes: Stakes, how: Configuration) -> int:
    """What these stakes win in the worst joint outcome."""
    backed = tuple(terms for terms in how.pay_table if stakes.get(terms.bet))
    by_totals = tuple(terms for terms in backed if needs_of(payouts.facts_in(terms.lines)) <= frozenset((TOTALS,)))
    apart = sum(most(terms, stakes[terms.bet], how) for terms in backed if terms not in by_totals)
    if not by_totals:
        return apart
    return apart + max(
        sum(winnings(terms, number, stakes[terms.bet], how) for terms, number in zip(by_totals, lines, strict=True))
        for lines in joint_lines(by_totals, how.decks)
    )


def with_stake(stakes: Stakes, bet: str, stake_minor: int) -> Stakes:
    """The stakes with one more on this bet."""
    return {**stakes, bet: stakes.get(bet, 0) + stake_minor}


# ---------------------------------------------------------------- the limits, in the order they are asked


def not_positive(asked: Asked) -> str:
    return "" if asked.stake_minor > 0 else f"a stake is more than 0, not {asked.stake_minor}"


def under_minimum(asked: Asked) -> str:
    least = asked.terms.min_minor
    return "" if asked.stake_minor >= least else f"the least stake on {asked.terms.bet} is {least}"


def off_step(asked: Asked) -> str:
    step = asked.terms.step_minor
    return f"stakes on {asked.terms.bet} are multiples of {step}" if asked.stake_minor % step else ""


def over_maximum(asked: Asked) -> str:
    most_minor, staked = asked.terms.max_minor, asked.own.get(asked.terms.bet, 0)
    if staked + asked.stake_minor <= most_minor:
        return ""
    return f"the most on {asked.terms.bet} is {most_minor}, and {staked} is staked already"


def seat_unknown(asked: Asked) -> str:
    seats = asked.how.seats
    if not seats or asked.seat is None:
        return ""
    if len(asked.seat) <= 20 and asked.seat.isascii() and asked.seat.isdigit() and 1 <= int(asked.seat) <= seats:
        return ""
    return f"the table has seats 1 to {seats}, not {asked.seat[:20]!r}"


def closed_for_shoe(asked: Asked) -> str:
    last, cards = asked.terms.last_round_no, asked.terms.cards_dealt_max
    if last is not None and asked.round_no > last:
        return f"{asked.terms.bet} is taken up to round {last} of a shoe"
    if cards is not None and asked.cards_dealt > cards:
        return f"{asked.terms.bet} is taken while at most {cards} cards are dealt, and {asked.cards_dealt} are"
    return ""


OPPOSITE: Final = {"player": "banker", "banker": "player"}


def opposite_main(asked: Asked) -> str:
    other = OPPOSITE.get(asked.terms.bet)
    if asked.how.opposite_mains or other is None or not asked.own.get(other):
        return ""
    return f"this table does not take {asked.terms.bet} with {other}"


def side_above_main(asked: Asked) -> str:
    if asked.how.side_above_main or asked.terms.main:
        return ""
    main = main_stakes(asked.own, asked.how)
    staked = asked.own.get(asked.terms.bet, 0)
    if staked + asked.stake_minor <= main:
        return ""
    return f"a side bet is at most the {main} on the main bets, and {staked} is staked already"


def main_stakes(stakes: Stakes, how: Configuration) -> int:
    """What is on the main bets together."""
    return sum(stakes.get(terms.bet, 0) for terms in how.pay_table if terms.main)


def over_win(asked: Asked) -> str:
    bound = asked.how.win_max_minor
    if bound is None:
        return ""
    could = worst_minor(with_stake(asked.own, asked.terms.bet, asked.stake_minor), asked.how)
    return f"a customer can win at most {bound} in a round, not {could}" if could > bound else ""


def over_bet_payout(asked: Asked) -> str:
    bound = asked.terms.payout_max_minor
    if bound is None:
        return ""
    could = most(asked.terms, asked.table.get(asked.terms.bet, 0) + asked.stake_minor, asked.how)
    return f"{asked.terms.bet} can win at most {bound} in a round, not {could}" if could > bound else ""


def over_table_payout(asked: Asked) -> str:
    bound = asked.how.payout_max_minor
    if bound is None:
        return ""
    could = worst_minor(with_stake(asked.table, asked.terms.bet, asked.stake_minor), asked.how)
    return f"the table can pay at most {bound} in a round, not {could}" if could > bound else ""


def over_differential(asked: Asked) -> str:
    bound, other = asked.how.differential_max_minor, OPPOSITE.get(asked.terms.bet)
    if bound is None or other is None:
        return ""
    ahead = asked.table.get(asked.terms.bet, 0) + asked.stake_minor - asked.table.get(other, 0)
    return f"{asked.terms.bet} can lead {other} by at most {bound}, not {ahead}" if ahead > bound else ""


def beyond_count(asked: Asked) -> str:
    """A log keeps amounts in 64 bits: what a round's bets stake and win in all must fit, or no total could be said."""
    staked = sum(asked.table.values()) + asked.stake_minor
    if staked * (1 + payouts.MOST_ODDS) <= MOST_COUNTED_MINOR:  # as nearly always
        return ""
    stakes = with_stake(asked.table, asked.terms.bet, asked.stake_minor)
    could = staked + sum(
        most(terms, stakes[terms.bet], asked.how) for terms in asked.how.pay_table if terms.bet in stakes
    )
    return f"a round comes to at most {MOST_COUNTED_MINOR} in all, not {could}" if could > MOST_COUNTED_MINOR else ""


LIMITS: Final[Mapping[str, Callable[[Asked], str]]] = {
    "stake-not-positive": not_positive,
    "under-minimum": under_minimum,
    "off-step": off_step,
    "over-maximum": over_maximum,
    "seat-unknown": seat_unknown,
    "closed-for-shoe": closed_for_shoe,
    "opposite-main": opposite_main,
    "side-above-main": side_above_main,
    "over-win": over_win,
    "over-bet-payout": over_bet_payout,
    "over-table-payout": over_table_payout,
    "over-differential": over_differential,
    "beyond-count": beyond_count,
}


def refusal(asked: Asked) -> Refusal | None:
    """The first limit that a bet breaks, as code and sentence; None when it keeps to them all."""
    for code, limit in LIMITS.items():
        if text := limit(asked):
            return code, text
    return None
