"""A table's bets as settlement sees them: its books, and how each fact is folded in.

A book is one round's: what was answered, taken, cancelled and paid. The state is the fold of the table's facts in
`settlements` and of nothing else. What answers a bet (`remembered`) changes only by facts that records of `bets`
caused, so that no record of `rounds` can change an answer.
"""

from collections.abc import Callable
from fractions import Fraction
from hashlib import sha256
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from services.baccarat.events import (
    BetAccepted,
    BetIgnored,
    BetRejected,
    BetReversed,
    BetSettled,
    BettingClosed,
    BettingOpened,
    BetVoided,
    BookClosed,
    BookOpened,
    BookResumed,
    BookSuspended,
    CancelNoted,
    CancelRefused,
    CommissionCollected,
    Configuration,
    CustomerNoted,
    Event,
    InputNoted,
    PayTableInForce,
    RoundDecided,
    RoundRevised,
    RoundSettled,
    RoundVoided,
)
from services.baccarat.pages import Pages, entries, entry, with_entry
from services.baccarat.payouts import ROUNDINGS

OPENINGS_KNOWN: Final = 512  # an opening that comes again after so many would be taken for a new one
VERSIONS_PRICED: Final = 8  # a round may open under one of so many last versions, or under that of a remembered book
SHOE_CLOSED: Final = "shoe-closed"  # its mark was seen in `bets`
SHOE_CLAIMED: Final = "shoe-claimed"  # and its twin in `rounds`
REVISED: Final = "revised"
RULES_DISPUTED: Final = "rules-disputed"  # somebody else wrote this version's mark into `bets`

ACCEPTED: Final = "accepted"
REJECTED: Final = "rejected"
VOIDED: Final = "voided"

Place = tuple[int, int]  # shoe and round


class Prices(Struct, frozen=True):
    """A version of the table's configuration, as `bets` says it."""

    version: int
    configuration: Configuration


class Version(Struct, frozen=True):
    """A version whose mark came in `bets`, remembered for ever; `disputed` if its twin in `rounds` says otherwise."""

    version: int
    content_hash: str
    disputed: bool = False


class Bet(Struct, frozen=True):
    """An answered bet: ACCEPTED, REJECTED, or VOIDED once its stake has gone back."""

    bet_id: str
    customer_id: str
    bet: str
    stake_minor: int
    at_ms: int
    content_hash: str
    standing: str


class Cancel(Struct, frozen=True):
    """A cancel that was noted, or refused."""

    customer_id: str
    content_hash: str
    at_ms: int
    refused: bool = False


class Paid(Struct, frozen=True):
    """What a bet was last paid, so that it can be taken back."""

    bet_id: str
    winnings_minor: int
    commission_minor: int
    return_minor: int
    owed_exact: Fraction


class Leaving(Struct, frozen=True):
    """A customer who left: what he owes for books up to `order` is collected once these rounds are done.

    And once the first `ends` shoe ends of `bets` are.

    All of it is fixed by where he left in `bets`, and so is what is collected, however far `rounds` has been read.
    """

    customer_id: str
    number: int
    at_ms: int
    cause_id: str
    order: int
    rounding: str
    rounds: tuple[Place, ...]
    ends: int


class ShoeEnd(Struct, frozen=True):
    """A shoe whose closing mark came in `bets`, and how commission was rounded then.

    `number` counts such marks, `order` is that of the last book opened before it.
    """

    shoe_no: int
    number: int
    order: int
    rounding: str


class Book(Struct, frozen=True, kw_only=True):
    """`mark` is the close as it stood in `bets`; None in a closed book whose round was ended by another mark.

    `bets` are all answered ones by bet id, in their order; `cancels` are by customer and bet id, `staked` sums accepted
    stakes by customer and then bet, `table` those of all customers by bet; `paid` is by bet id. `revision` is None
    until settled once, `order` counts openings in `bets`. A book is `priced` if its version was known when it opened.
    """

    shoe_no: int
    round_no: int
    order: int
    version: int
    opened: BettingOpened
    priced: bool
    closed: bool = False
    mark: BettingClosed | None = None
    bets: Pages[Bet] = ()
    cancels: dict[str, Cancel] = {}
    staked: Pages[dict[str, int]] = ()
    table: dict[str, int] = {}
    suspended: str = ""
    suspensions: int = 0
    outcome: RoundDecided | RoundRevised | RoundVoided | None = None
    revision: int | None = None
    paid: Pages[Paid] = ()
    paid_revision: int | None = None
    forgotten: bool = False

    @property
    def place(self) -> Place:
        """Shoe and round."""
        return self.shoe_no, self.round_no


class State(Struct, frozen=True, kw_only=True):
    """`books` are in the order of their openings in `bets`, and what answers a bet hangs on `bets` alone.

    How far `rounds` was consumed: `claimed` is the last round whose outcome came, `shoes_claimed` are the first and the
    last shoe that ended there, `reached` and `shoe_ends_reached` count openings and shoe ends of `bets` that lie before
    that. `revisable` are the last rounds that rules keep, and no outcome comes any more for one before `final_before`.

    `debts` is commission owed, exact, by customer and then the order of the book, or REVISED for what corrections
    changed later: that may be negative, and is collected at the end of the shoe only. `left` are
    the last records of customers who left, so that a repeat says nothing.
    """

    table_id: str
    prices: tuple[Prices, ...] = ()
    versions: tuple[Version, ...] = ()
    books: dict[Place, Book] = {}
    openings: tuple[str, ...] = ()
    openings_count: int = 0
    shoe_ends: tuple[ShoeEnd, ...] = ()
    shoe_ends_count: int = 0
    shoe_ends_reached: int = 0
    shoes_claimed: tuple[int, int] = (0, -1)
    claimed: Place = (0, 0)
    reached: int = 0
    revisable: tuple[Place, ...] = ()
    final_before: Place = (0, 0)
    unanswered: int = 0
    debts: dict[str, dict[str, Fraction]] = {}
    leaving: tuple[Leaving, ...] = ()
    left: tuple[str, ...] = ()
    customers_left: int = 0


def start(table_id: str) -> State:
    """A table of which nothing has been heard."""
    return State(table_id=table_id)


def book_of(state: State, place: Place) -> Book | None:
    """The book of this round, if it is kept."""
    return state.books.get(place)


def remembered(state: State, place: Place) -> Book | None:
    """The book of this round, if its answers are remembered still."""
    book = state.books.get(place)
    return None if book is None or book.forgotten else book


def last_book(state: State) -> Book | None:
    """The book opened last in `bets`, if it is kept."""
    return state.books[next(reversed(state.books))] if state.books else None


def open_book(state: State) -> Book | None:
    """The book that takes bets."""
    last = last_book(state)
    return None if last is None or last.closed else last


def prices_of(state: State, version: int) -> Prices | None:
    """What prices the bets of this version."""
    return next((prices for prices in state.prices if prices.version == version), None)


def pricing(state: State, book: Book) -> Configuration | None:
    """What prices this book's bets; None if its version was not known when it opened."""
    prices = prices_of(state, book.version) if book.priced else None
    return prices.configuration if prices else None


def is_known(state: State, version: int) -> bool:
    """Whether a round may open under this version: an answer that `bets` alone gives."""
    recent = any(known.version == version for known in state.versions[-VERSIONS_PRICED:])
    return recent or any(
        book.version == version and book.priced and not book.forgotten for book in state.books.values()
    )


def version_of(state: State, version: int) -> Version | None:
    """The mark of this version in `bets`, if it has come."""
    return next((known for known in state.versions if known.version == version), None)


def content_of(configuration: Configuration) -> str:
    """What tells a configuration from any other: 128 bits of SHA-256."""
    return sha256(repr(configuration).encode()).hexdigest()[:32]


def opening_id(state: State, place: Place) -> str:
    """The id of a round's opening: by what it is about, whatever the mark calls itself."""
    return f"{state.table_id}/{place[0]}/{place[1]}/opened"


def is_opened(state: State, place: Place) -> bool:
    """Whether an opening of this round was seen in `bets`: the first one counts."""
    return place in state.books or opening_id(state, place) in state.openings


def has_ended(state: State, shoe_no: int) -> bool:
    """Whether the end of this shoe was seen in `bets`."""
    return shoe_end(state, shoe_no) is not None or is_claimed(state, shoe_no)


def is_claimed(state: State, shoe_no: int) -> bool:
    """Whether the end of this shoe was seen in `rounds`, where no number is left out."""
    return state.shoes_claimed[0] <= shoe_no <= state.shoes_claimed[1]


def shoe_end(state: State, shoe_no: int) -> ShoeEnd | None:
    """The end of this shoe in `bets`, while its twin in `rounds` has not come."""
    return next((end for end in state.shoe_ends if end.shoe_no == shoe_no), None)


def live_bets(book: Book) -> tuple[Bet, ...]:
    """The accepted bets whose stake is still in play, in the order they were taken."""
    return tuple(bet for bet in entries(book.bets) if bet.standing == ACCEPTED)


# ---------------------------------------------------------------- evolve


def evolve(state: State, fact: Event) -> State:
    """Folds a fact of `settlements`; total: a fact of no concern leaves the state as it was."""
    fold = FOLDS.get(type(fact))
    return state if fold is None else fold(state, fact)


def with_book(state: State, book: Book) -> State:
    """The state with this book in place of its former self."""
    return replace(state, books={**state.books, book.place: book})


def fold_prices(state: State, fact: PayTableInForce) -> State:
    versions = (*state.versions, Version(fact.version, content_of(fact.configuration)))
    used = {book.version for book in state.books.values()} | {known.version for known in versions[-VERSIONS_PRICED:]}
    kept = tuple(prices for prices in state.prices if prices.version in used)
    return replace(state, prices=(*kept, Prices(fact.version, fact.configuration)), versions=versions)


def fold_opened(state: State, fact: BookOpened) -> State:
    """The answers of the oldest openings are forgotten, whatever has become of their rounds."""
    priced = is_known(state, fact.version)
    prices = prices_of(state, fact.version) if priced else next(reversed(state.prices), None)
    count = max(1, prices.configuration.openings_remembered) if prices else 1
    order = state.openings_count + 1
    book = Book(
        shoe_no=fact.shoe_no,
        round_no=fact.round_no,
        order=order,
        version=fact.version,
        opened=fact.mark,
        priced=priced,
    )
    books = (*state.books.values(), book)
    past = tuple(replace(old, forgotten=True, bets=taken(old), cancels={}) for old in books[:-count])
    return dropped(
        replace(
            state,
            books={kept.place: kept for kept in (*past, *books[-count:])},
            openings_count=order,
            openings=(*state.openings, opening_id(state, book.place))[-OPENINGS_KNOWN:],
        )
    )


def taken(book: Book) -> Pages[Bet]:
    """The bets that were accepted, without the answers that are remembered for retries only."""
    return tuple({bet_id: bet for bet_id, bet in page.items() if bet.standing != REJECTED} for page in book.bets)


def dropped(state: State) -> State:
    """Without the books whose answers are forgotten and whose outcome can no longer be revised."""
    if not any(book.forgotten for book in state.books.values()):
        return state
    return replace(
        state,
        books={
            place: book
            for place, book in state.books.items()
            if not book.forgotten or book.suspended or book.revision is None or place >= state.final_before
        },
    )


def fold_closed(state: State, fact: BookClosed) -> State:
    book = book_of(state, (fact.shoe_no, fact.round_no))
    return state if book is None else with_book(state, replace(book, closed=True, mark=fact.mark))


def fold_accepted(state: State, fact: BetAccepted) -> State:
    book = book_of(state, (fact.shoe_no, fact.round_no))
    if book is None:
        return state
    own = entry(book.staked, fact.customer_id) or {}
    bet = Bet(fact.bet_id, fact.customer_id, fact.bet, fact.stake_minor, fact.at_ms, fact.content_hash, ACCEPTED)
    return with_book(
        state,
        replace(
            book,
            bets=with_entry(book.bets, fact.bet_id, bet),
            staked=with_entry(book.staked, fact.customer_id, added(own, fact.bet, fact.stake_minor)),
            table=added(book.table, fact.bet, fact.stake_minor),
        ),
    )


def added(sums: dict[str, int], name: str, more: int) -> dict[str, int]:
    """The sums with more under this name."""
    return {**sums, name: sums.get(name, 0) + more}


def key_of(customer_id: str, name: str) -> str:
    """A customer and a bet id, neither of which has a slash."""
    return f"{customer_id}/{name}"


def fold_rejected(state: State, fact: BetRejected) -> State:
    book = book_of(state, (fact.shoe_no, fact.round_no))
    if book is None:
        return state
    bet = Bet(fact.bet_id, fact.customer_id, "", 0, fact.at_ms, fact.content_hash, REJECTED)
    return with_book(state, replace(book, bets=with_entry(book.bets, fact.bet_id, bet)))


def fold_unanswered(state: State, fact: BetIgnored | CancelRefused) -> State:
    state = replace(state, unanswered=fact.number)
    book = remembered(state, (fact.shoe_no, fact.round_no))
    if isinstance(fact, BetIgnored) or book is None:
        return state
    refused = Cancel(fact.customer_id, fact.content_hash, fact.at_ms, refused=True)
    cancels = {**book.cancels, key_of(fact.customer_id, fact.bet_id): refused}
    return with_book(state, replace(book, cancels=cancels))


def fold_cancel(state: State, fact: CancelNoted) -> State:
    book = book_of(state, (fact.shoe_no, fact.round_no))
    if book is None:
        return state
    noted = Cancel(fact.customer_id, fact.content_hash, fact.at_ms)
    cancels = {**book.cancels, key_of(fact.customer_id, fact.bet_id): noted}
    return with_book(state, replace(book, cancels=cancels))


def fold_voided(state: State, fact: BetVoided) -> State:
    book = book_of(state, (fact.shoe_no, fact.round_no))
    bet = entry(book.bets, fact.bet_id) if book else None
    if book is None or bet is None:
        return state
    return with_book(state, replace(book, bets=with_entry(book.bets, fact.bet_id, replace(bet, standing=VOIDED))))


def fold_settled(state: State, fact: BetSettled) -> State:
    book = book_of(state, (fact.shoe_no, fact.round_no))
    if book is None:
        return state
    if fact.owed_exact:
        name = str(book.order) if book.revision is None else REVISED
        state = owing(state, fact.customer_id, name, fact.owed_exact)
    paid = Paid(fact.bet_id, fact.winnings_minor, fact.commission_minor, fact.return_minor, fact.owed_exact)
    earlier = book.paid if book.paid_revision == fact.revision else ()
    return with_book(state, replace(book, paid=with_entry(earlier, fact.bet_id, paid), paid_revision=fact.revision))


def owing(state: State, customer_id: str, name: str, more_exact: Fraction) -> State:
    """The state with so much more owed by a customer under this name."""
    own = state.debts.get(customer_id, {})
    debt = {**own, name: own.get(name, Fraction(0)) + more_exact}
    return replace(state, debts={**state.debts, customer_id: debt})


def fold_reversed(state: State, fact: BetReversed) -> State:
    return owing(state, fact.customer_id, REVISED, -fact.owed_exact) if fact.owed_exact else state


def latest_rounding(state: State) -> str:
    """How the newest pay table rounds commission, of those that say it: what somebody else wrote may say anything."""
    said = (prices.configuration.commission_rounding for prices in reversed(state.prices))
    return next((rounding for rounding in said if rounding in ROUNDINGS), "half_up")


def fold_customer_left(state: State, fact: CustomerNoted) -> State:
    leaving = Leaving(
        fact.customer_id,
        fact.number,
        fact.at_ms,
        fact.cause_id,
        state.openings_count,
        latest_rounding(state),
        tuple(book.place for book in state.books.values() if book.closed and book.revision is None),
        state.shoe_ends_count,
    )
    return replace(
        state,
        leaving=(*state.leaving, leaving),
        left=(*state.left, fact.cause_id)[-OPENINGS_KNOWN:],
        customers_left=fact.number,
    )


def debt_up_to(state: State, customer_id: str, order: int | None) -> dict[str, Fraction]:
    """What a customer owes for books up to `order`; None is all, later corrections included."""
    own = state.debts.get(customer_id, {})
    return {name: owed for name, owed in own.items() if order is None or (name != REVISED and int(name) <= order)}


def is_done(state: State, leaving: Leaving) -> bool:
    """Whether every round closed before a customer left is settled, and every shoe claimed."""
    waits = any(book.place in leaving.rounds and book.revision is None for book in state.books.values())
    return not waits and all(
        end.number > leaving.ends or end.number <= state.shoe_ends_reached for end in state.shoe_ends
    )


def fold_collected(state: State, fact: CommissionCollected) -> State:
    """`number` is that of the customer who left; 0 at the end of a shoe."""
    leaving = next((one for one in state.leaving if one.number == fact.number), None)
    paid = debt_up_to(state, fact.customer_id, leaving.order if leaving else None)
    rest = {name: owed for name, owed in state.debts.get(fact.customer_id, {}).items() if name not in paid}
    others = {customer: owed for customer, owed in state.debts.items() if customer != fact.customer_id}
    return replace(
        state,
        debts={**others, fact.customer_id: rest} if rest else others,
        leaving=tuple(one for one in state.leaving if one.number != fact.number),
    )


def fold_round_settled(state: State, fact: RoundSettled) -> State:
    place = (fact.shoe_no, fact.round_no)
    if fact.claimed:
        state = with_outcome(state, place)
    book = book_of(state, place)
    if book is None:
        return state
    settled = replace(
        book,
        revision=fact.revision,
        suspended="",
        outcome=None,
        paid=() if fact.void else book.paid,
    )
    return dropped(with_book(state, settled))


def with_outcome(state: State, place: Place) -> State:
    """The state after an outcome of this round: how far `rounds` has come, and which rounds it can still revise."""
    book = book_of(state, place)
    if book is not None:
        state = replace(state, reached=max(state.reached, book.order))
    if place <= state.claimed:
        return state
    revisable = (*state.revisable, place)
    how = pricing(state, book) if book else None
    version = version_of(state, book.version) if book else None
    final_before = state.final_before
    if how is not None and version is not None and not version.disputed:  # as many as rules keep
        revisable = revisable[max(0, len(revisable) - how.rounds_kept) :]
        final_before = max(final_before, revisable[0] if revisable else (place[0], place[1] + 1))
    return replace(state, claimed=place, revisable=revisable, final_before=final_before)


def fold_suspended(state: State, fact: BookSuspended) -> State:
    place = (fact.shoe_no, fact.round_no)
    if fact.outcome is not None:
        state = with_outcome(state, place)
    book = book_of(state, place)
    if book is None:
        return state
    return with_book(
        state,
        replace(book, suspended=fact.cause, suspensions=book.suspensions + 1, outcome=fact.outcome or book.outcome),
    )


def fold_resumed(state: State, fact: BookResumed) -> State:
    book = book_of(state, (fact.shoe_no, fact.round_no))
    return state if book is None else with_book(state, replace(book, suspended=""))


def fold_noted(state: State, fact: InputNoted) -> State:
    if fact.what == SHOE_CLOSED:
        number = state.shoe_ends_count + 1
        end = ShoeEnd(fact.number, number, state.openings_count, latest_rounding(state))
        return replace(state, shoe_ends=(*state.shoe_ends, end), shoe_ends_count=number)
    if fact.what == SHOE_CLAIMED:
        return shoe_claimed(state, fact.number)
    if fact.what == RULES_DISPUTED:
        return replace(
            state,
            versions=tuple(
                replace(known, disputed=True) if known.version == fact.number else known for known in state.versions
            ),
        )
    return state


def shoe_claimed(state: State, shoe_no: int) -> State:
    """The state after the end of a shoe in `rounds`: it has come as far as that shoe's end in `bets`."""
    end = shoe_end(state, shoe_no)
    if end is None:
        return state
    first, last = state.shoes_claimed
    return replace(
        state,
        shoe_ends=tuple(other for other in state.shoe_ends if other != end),
        shoe_ends_reached=max(state.shoe_ends_reached, end.number),
        shoes_claimed=(first if first <= last else shoe_no, shoe_no),
        reached=max(state.reached, end.order),
    )


FOLDS: Final[dict[type, Callable[..., State]]] = {
    PayTableInForce: fold_prices,
    BookOpened: fold_opened,
    BookClosed: fold_closed,
    BetAccepted: fold_accepted,
    BetRejected: fold_rejected,
    BetIgnored: fold_unanswered,
    CancelNoted: fold_cancel,
    CancelRefused: fold_unanswered,
    BetVoided: fold_voided,
    BetSettled: fold_settled,
    BetReversed: fold_reversed,
    RoundSettled: fold_round_settled,
    CustomerNoted: fold_customer_left,
    CommissionCollected: fold_collected,
    BookSuspended: fold_suspended,
    BookResumed: fold_resumed,
    InputNoted: fold_noted,
}
