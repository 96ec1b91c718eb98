"""What `settlements` says of a table: what is bet on each field, and what it came to for the house.

Plain data that goes to Redis and to pages as JSON: money in minor units with the currency's exponent beside it, and
only the page writes numbers out.
"""

from typing import Final, get_args

from msgspec import Struct
from msgspec.structs import replace

from services.baccarat.events import (
    BetAccepted,
    BetRejected,
    BetSum,
    BetVoided,
    BookClosed,
    BookOpened,
    BookResumed,
    BookSuspended,
    CommissionCollected,
    Event,
    PayTableInForce,
    RoundSettled,
    SettlementsFact,
)

SETTLED_KEPT: Final = 100  # rounds whose sums a later revision may still replace


class Field(Struct, frozen=True):
    """One bet name's sums in a book."""

    bet: str
    count: int = 0
    stakes_minor: int = 0
    returns_minor: int = 0
    commission_minor: int = 0


class Book(Struct, frozen=True, kw_only=True):
    """The bets of the round that is bet on or dealt. `open` is False once its betting closed."""

    shoe_no: int
    round_no: int
    open: bool = True
    fields: tuple[Field, ...] = ()
    rejected: int = 0


class Settled(Struct, frozen=True, array_like=True):
    """A settled round as `[shoe_no, round_no, revision, count, stakes, returns, commission, house win, void]`."""

    shoe_no: int
    round_no: int
    revision: int
    count: int
    stakes_minor: int
    returns_minor: int
    commission_minor: int
    house_win_minor: int
    void: bool


class Sums(Struct, frozen=True):
    """Of settled rounds, each as its last revision left it; void rounds are no turnover and add nothing."""

    rounds: int = 0
    count: int = 0
    stakes_minor: int = 0
    returns_minor: int = 0
    commission_minor: int = 0
    house_win_minor: int = 0


class LastSettled(Struct, frozen=True, kw_only=True):
    shoe_no: int
    round_no: int
    revision: int
    stakes_minor: int
    returns_minor: int
    house_win_minor: int
    void: bool
    fields: tuple[Field, ...]


class SuspendedBook(Struct, frozen=True):
    shoe_no: int
    round_no: int
    cause: str
    text: str


class SettlementsView(Struct, frozen=True, kw_only=True):
    """What `settlements` says of a table: bets, and what they came to for the house."""

    at_ms: int = 0
    currency: str = ""
    exponent: int = 0
    bets: tuple[str, ...] = ()
    book: Book | None = None
    last: LastSettled | None = None
    shoe_no: int | None = None
    shoe: Sums = Sums()
    total: Sums = Sums()
    settled: tuple[Settled, ...] = ()
    rejected: int = 0
    collected_minor: int = 0
    suspended_books: tuple[SuspendedBook, ...] = ()


# ---------------------------------------------------------------- the fold


def fold_settlements(view: SettlementsView, fact: Event) -> SettlementsView:
    """The view after one more fact of `settlements`; a fact of no concern moves only the time."""
    if not isinstance(fact, get_args(SettlementsFact)):
        return view
    return replace(_booked(view, fact), at_ms=max(view.at_ms, fact.at_ms))


def _booked(view: SettlementsView, fact: Event) -> SettlementsView:
    match fact:
        case PayTableInForce(configuration=told):
            bets = tuple(terms.bet for terms in told.pay_table)
            return replace(view, currency=told.currency, exponent=told.exponent, bets=bets)
        case BookOpened():
            return _book_opened(view, fact)
        case BetAccepted():
            return _staked(view, fact, 1)
        case BetVoided():
            return _staked(view, fact, -1)
        case BetRejected():
            return _bet_rejected(view, fact)
        case BookClosed():
            return _book_closed(view, fact)
        case RoundSettled():
            return _round_settled(view, fact)
        case CommissionCollected():
            return replace(view, collected_minor=view.collected_minor + fact.amount_minor)
        case BookSuspended():
            waiting = SuspendedBook(fact.shoe_no, fact.round_no, fact.cause, fact.text)
            return replace(view, suspended_books=(*_without(view, fact), waiting))
        case BookResumed():
            return replace(view, suspended_books=_without(view, fact))
        case _:
            return view


def _book_opened(view: SettlementsView, fact: BookOpened) -> SettlementsView:
    fresh = Book(shoe_no=fact.shoe_no, round_no=fact.round_no, fields=tuple(map(Field, view.bets)))
    if view.shoe_no != fact.shoe_no:
        view = replace(view, shoe_no=fact.shoe_no, shoe=Sums())
    return replace(view, book=fresh)


def _book_of(view: SettlementsView, fact: BetAccepted | BetVoided | BetRejected | BookClosed) -> Book | None:
    """The book this fact is about, while its betting is open."""
    book = view.book
    if book is None or not book.open or (book.shoe_no, book.round_no) != (fact.shoe_no, fact.round_no):
        return None
    return book


def _staked(view: SettlementsView, fact: BetAccepted | BetVoided, sign: int) -> SettlementsView:
    """A stake into the open book, or (`sign` -1) out of it."""
    if (book := _book_of(view, fact)) is None:
        return view
    fields = {field.bet: field for field in book.fields}
    field = fields.get(fact.bet, Field(fact.bet))
    fields[fact.bet] = replace(
        field, count=field.count + sign, stakes_minor=field.stakes_minor + sign * fact.stake_minor
    )
    return replace(view, book=replace(book, fields=tuple(fields.values())))


def _bet_rejected(view: SettlementsView, fact: BetRejected) -> SettlementsView:
    if (book := _book_of(view, fact)) is not None:
        view = replace(view, book=replace(book, rejected=book.rejected + 1))
    return replace(view, rejected=view.rejected + 1)


def _book_closed(view: SettlementsView, fact: BookClosed) -> SettlementsView:
    """From here on the book says what settlement summed, not what was counted here."""
    if (book := _book_of(view, fact)) is None:
        return view
    return replace(view, book=replace(book, open=False, fields=_fields(view.bets, fact.sums)))


def _round_settled(view: SettlementsView, fact: RoundSettled) -> SettlementsView:
    """A later revision of a round replaces what the earlier one added."""
    now = Settled(
        fact.shoe_no,
        fact.round_no,
        fact.revision,
        fact.count,
        fact.stakes_minor,
        fact.returns_minor,
        fact.commission_minor,
        fact.house_win_minor,
        fact.void,
    )
    settled = {(known.shoe_no, known.round_no): known for known in view.settled}
    before = settled.get((fact.shoe_no, fact.round_no))
    settled[fact.shoe_no, fact.round_no] = now
    view = replace(
        view,
        settled=tuple(settled[key] for key in sorted(settled))[-SETTLED_KEPT:],
        total=_sums(_sums(view.total, before, -1), now, 1),
    )
    if view.shoe_no == fact.shoe_no:
        view = replace(view, shoe=_sums(_sums(view.shoe, before, -1), now, 1))
    return _shown(view, fact)


def _shown(view: SettlementsView, fact: RoundSettled) -> SettlementsView:
    """The round's fields, where it is the last; its book is done."""
    place = (fact.shoe_no, fact.round_no)
    if view.last is None or (view.last.shoe_no, view.last.round_no) <= place:
        last = LastSettled(
            shoe_no=fact.shoe_no,
            round_no=fact.round_no,
            revision=fact.revision,
            stakes_minor=fact.stakes_minor,
            returns_minor=fact.returns_minor,
            house_win_minor=fact.house_win_minor,
            void=fact.void,
            fields=_fields(view.bets, fact.sums),
        )
        view = replace(view, last=last)
    if view.book is not None and (view.book.shoe_no, view.book.round_no) == place:
        view = replace(view, book=None)
    return view


def _sums(sums: Sums, settled: Settled | None, sign: int) -> Sums:
    if settled is None or settled.void:
        return sums
    return Sums(
        sums.rounds + sign,
        sums.count + sign * settled.count,
        sums.stakes_minor + sign * settled.stakes_minor,
        sums.returns_minor + sign * settled.returns_minor,
        sums.commission_minor + sign * settled.commission_minor,
        sums.house_win_minor + sign * settled.house_win_minor,
    )


def _fields(bets: tuple[str, ...], sums: tuple[BetSum, ...]) -> tuple[Field, ...]:
    """In the order of the pay table, fields without bets too."""
    fields = {bet: Field(bet) for bet in bets}
    for each in sums:
        fields[each.bet] = Field(each.bet, each.count, each.stakes_minor, each.returns_minor, each.commission_minor)
    return tuple(fields.values())


def _without(view: SettlementsView, fact: BookSuspended | BookResumed) -> tuple[SuspendedBook, ...]:
    place = (fact.shoe_no, fact.round_no)
    return tuple(book for book in view.suspended_books if (book.shoe_no, book.round_no) != place)
