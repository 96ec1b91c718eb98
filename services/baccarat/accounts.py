"""What a table's facts in `settlements` come to, for customers and for the house: by round, shoe, gaming day, in all.

Stakes are those of bets that were priced: a voided bet is no turnover. Commission is three things kept apart: what was
taken from a win, what is owed for one, exactly, and what was collected of debts, rounded. A round counts to the gaming
day on which its betting opened, whenever it was corrected; a collected debt to the day on which it was collected.
"""

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from services.baccarat.events import (
    BetAccepted,
    BetReversed,
    BetSettled,
    BetVoided,
    BookOpened,
    CommissionCollected,
    Configuration,
    Event,
    PayTableInForce,
    RoundSettled,
)

Place = tuple[int, int]  # shoe and round
DayOf = Callable[[int, str, str], str]  # a moment, when the day starts, the zone: the gaming day


class Entry(Struct, frozen=True):
    """A bet as it stands: `open`, `settled` or `voided`; amounts are of the last settlement that was not reversed."""

    customer_id: str
    bet: str
    stake_minor: int
    state: str = "open"
    winnings_minor: int = 0
    commission_minor: int = 0
    return_minor: int = 0
    owed_exact: Fraction = Fraction(0)


class Round(Struct, frozen=True, kw_only=True):
    """A round's bets by id; `house_win_minor` is what settlement said in all, None until it did."""

    shoe_no: int
    round_no: int
    day: str
    entries: Mapping[str, Entry] = {}
    revision: int | None = None
    house_win_minor: int | None = None


class Collected(Struct, frozen=True):
    """A debt taken: what was owed, and what that came to in whole minor units; negative where it was given back."""

    customer_id: str
    shoe_no: int
    day: str
    amount_minor: int
    owed_exact: Fraction


class Accounts(Struct, frozen=True):
    """One table's; the fold of its facts in `settlements`."""

    rounds: Mapping[Place, Round] = {}
    collected: tuple[Collected, ...] = ()
    prices: Mapping[int, Configuration] = {}


class Result(Struct, frozen=True):
    """What bets came to, in minor units; `owed_exact` is not taken off the returns, `collected_minor` neither."""

    bets: int = 0
    stakes_minor: int = 0
    winnings_minor: int = 0
    commission_minor: int = 0
    returns_minor: int = 0
    owed_exact: Fraction = Fraction(0)
    collected_minor: int = 0

    @property
    def net_minor(self) -> int:
        """The customer's: returns less stakes, and less what was collected."""
        return self.returns_minor - self.stakes_minor - self.collected_minor

    @property
    def house_win_minor(self) -> int:
        """The house's: stakes less returns, and what was collected."""
        return -self.net_minor


# ---------------------------------------------------------------- folding


def fold(accounts: Accounts, facts: Iterable[Event], day_of: DayOf) -> Accounts:
    """The accounts after these facts of the table, in their order; facts of no concern change nothing."""
    book = _Book(accounts, day_of)
    for fact in facts:
        if (entered := ENTERS.get(type(fact))) is not None:
            entered(book, fact)
    return Accounts(book.rounds, tuple(book.collected), book.prices)


class _Book:
    """A copy that is written in while facts are folded, so that many of them cost no more than their number."""

    def __init__(self, accounts: Accounts, day_of: DayOf) -> None:
        self.rounds = dict(accounts.rounds)
        self.collected = list(accounts.collected)
        self.prices = dict(accounts.prices)
        self.day_of = day_of
        self.copied: dict[Place, dict[str, Entry]] = {}

    def day(self, at_ms: int, version: int) -> str:
        how = self.prices[version]
        return self.day_of(at_ms, how.gaming_day_starts_at, how.time_zone)

    def enter(self, place: Place, bet_id: str, entry: Entry) -> None:
        """Puts a bet down as it stands now."""
        if place not in self.copied:
            self.copied[place] = entries = dict(self.rounds[place].entries)
            self.rounds[place] = replace(self.rounds[place], entries=entries)
        self.copied[place][bet_id] = entry


def _prices(book: _Book, fact: PayTableInForce) -> None:
    book.prices[fact.version] = fact.configuration


def _opened(book: _Book, fact: BookOpened) -> None:
    place = (fact.shoe_no, fact.round_no)
    day = book.day(fact.mark.at_ms, fact.version) if fact.version in book.prices else ""
    book.rounds[place] = Round(shoe_no=fact.shoe_no, round_no=fact.round_no, day=day)


def _accepted(book: _Book, fact: BetAccepted) -> None:
    entry = Entry(fact.customer_id, fact.bet, fact.stake_minor)
    book.enter((fact.shoe_no, fact.round_no), fact.bet_id, entry)


def _voided(book: _Book, fact: BetVoided) -> None:
    place = (fact.shoe_no, fact.round_no)
    voided = Entry(fact.customer_id, fact.bet, fact.stake_minor, "voided")
    book.enter(place, fact.bet_id, voided)


def _settled(book: _Book, fact: BetSettled) -> None:
    settled = Entry(
        fact.customer_id,
        fact.bet,
        fact.stake_minor,
        "settled",
        fact.winnings_minor,
        fact.commission_minor,
        fact.return_minor,
        fact.owed_exact,
    )
    book.enter((fact.shoe_no, fact.round_no), fact.bet_id, settled)


def _reversed(book: _Book, fact: BetReversed) -> None:
    """The stake is in play again, until the next fact settles or voids it."""
    opened = Entry(fact.customer_id, fact.bet, fact.stake_minor)
    book.enter((fact.shoe_no, fact.round_no), fact.bet_id, opened)


def _round_settled(book: _Book, fact: RoundSettled) -> None:
    place = (fact.shoe_no, fact.round_no)
    book.rounds[place] = replace(book.rounds[place], revision=fact.revision, house_win_minor=fact.house_win_minor)


def _collected(book: _Book, fact: CommissionCollected) -> None:
    """Of a customer who left, to the last shoe that was bet on."""
    shoe_no = fact.shoe_no or max((place[0] for place in book.rounds), default=0)
    day = book.day(fact.at_ms, max(book.prices))
    book.collected.append(Collected(fact.customer_id, shoe_no, day, fact.amount_minor, fact.owed_exact))


ENTERS: Final[dict[type, Callable[..., None]]] = {
    PayTableInForce: _prices,
    BookOpened: _opened,
    BetAccepted: _accepted,
    BetVoided: _voided,
    BetSettled: _settled,
    BetReversed: _reversed,
    RoundSettled: _round_settled,
    CommissionCollected: _collected,
}


# ---------------------------------------------------------------- what it comes to


def of_entries(entries: Iterable[Entry]) -> Result:
    """The sum over bets that are settled."""
    settled = [entry for entry in entries if entry.state == "settled"]
    return Result(
        len(settled),
        sum(entry.stake_minor for entry in settled),
        sum(entry.winnings_minor for entry in settled),
        sum(entry.commission_minor for entry in settled),
        sum(entry.return_minor for entry in settled),
        sum((entry.owed_exact for entry in settled), Fraction(0)),
    )


def of_customers(one: Round) -> dict[str, Result]:
    """What a round came to for each customer who bet in it, in the order of their first bets."""
    customers = dict.fromkeys(entry.customer_id for entry in one.entries.values())
    return {
        customer: of_entries(entry for entry in one.entries.values() if entry.customer_id == customer)
        for customer in customers
    }


def in_all(accounts: Accounts) -> Result:
    """The table's result since its first round."""
    entries = (entry for one in accounts.rounds.values() for entry in one.entries.values())
    return with_collected(of_entries(entries), accounts.collected)


def by_round(accounts: Accounts) -> dict[Place, Result]:
    """Of every round that was bet on, without debts collected."""
    return {place: of_entries(one.entries.values()) for place, one in accounts.rounds.items()}


def by_shoe(accounts: Accounts) -> dict[int, Result]:
    """Of every shoe."""
    shoes = dict.fromkeys((*(place[0] for place in accounts.rounds), *(one.shoe_no for one in accounts.collected)))
    return {
        shoe_no: with_collected(
            of_entries(
                entry for place, one in accounts.rounds.items() if place[0] == shoe_no for entry in one.entries.values()
            ),
            (one for one in accounts.collected if one.shoe_no == shoe_no),
        )
        for shoe_no in shoes
    }


def by_day(accounts: Accounts) -> dict[str, Result]:
    """Of every gaming day."""
    days = dict.fromkeys((*(one.day for one in accounts.rounds.values()), *(one.day for one in accounts.collected)))
    return {
        day: with_collected(
            of_entries(entry for one in accounts.rounds.values() if one.day == day for entry in one.entries.values()),
            (one for one in accounts.collected if one.day == day),
        )
        for day in days
    }


def by_customer(accounts: Accounts) -> dict[str, Result]:
    """Of every customer who bet at the table or paid a debt."""
    entries: dict[str, list[Entry]] = {one.customer_id: [] for one in accounts.collected}
    for one in accounts.rounds.values():
        for entry in one.entries.values():
            entries.setdefault(entry.customer_id, []).append(entry)
    return {
        customer: with_collected(of_entries(own), (one for one in accounts.collected if one.customer_id == customer))
        for customer, own in entries.items()
    }


def with_collected(result: Result, collected: Iterable[Collected]) -> Result:
    """The result with what was collected of debts."""
    return replace(result, collected_minor=sum(one.amount_minor for one in collected))


def debts(accounts: Accounts) -> dict[str, Fraction]:
    """What customers still owe, exactly; those who owe nothing are left out."""
    owed = {customer: result.owed_exact for customer, result in by_customer(accounts).items()}
    for one in accounts.collected:
        owed[one.customer_id] -= one.owed_exact
    return {customer: debt for customer, debt in owed.items() if debt}


def imbalances(accounts: Accounts) -> dict[Place, int]:
    """Rounds whose stakes less returns are not what settlement said the house won, and by how much; there are none."""
    found = {
        place: result.stakes_minor - result.returns_minor - (accounts.rounds[place].house_win_minor or 0)
        for place, result in by_round(accounts).items()
    }
    return {place: left for place, left in found.items() if left}
