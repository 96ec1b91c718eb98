"""A table's bets as settlement sees them: its books, and how each fact is folded in.

A book is one round's: what was answered, taken, cancelled and paid. The state is the fold of the table's facts in
`settlements` and of nothing else. What answers a bet (`remembered`) changes only by facts that records of `bets`
caused, so that no record of `rounds` can change an answer.
"""

from collections.abc import Callable
from fractions import Fraction
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
    Terms,
)

OPENINGS_KNOWN: Final = 512  # and versions: a mark that comes again after so many would be taken for a new one
SHOE_CLOSED: Final = "shoe-closed"  # its mark was seen in `bets`
SHOE_CLAIMED: Final = "shoe-claimed"  # and its twin in `rounds`
REVISED: Final = "revised"
RULES_DISPUTED: Final = "rules-disputed"  # somebody else wrote this version's mark into `bets`

ACCEPTED: Final = "accepted"
REJECTED: Final = "rejected"
VOIDED: Final = "voided"

Place = tuple[int, int]  # shoe and round


class Prices(Struct, frozen=True):
    """A version of the table's configuration; `disputed` if `rounds` says otherwise than `bets`."""

    version: int
    configuration: Configuration
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
    """A customer who left: what he owes for books up to `order` is collected once these rounds and shoes are done.

    All of it is fixed by where he left in `bets`, and so is what is collected, however far `rounds` has been read.
    """

    customer_id: str
    number: int
    at_ms: int
    cause_id: str
    order: int
    rounding: str
    rounds: tuple[Place, ...]
    shoes: tuple[int, ...]


class ShoeEnd(Struct, frozen=True):
    """A shoe whose closing mark came in `bets`, and how commission was rounded then."""

    shoe_no: int
    rounding: str


class Book(Struct, frozen=True, kw_only=True):
    """`mark` is the close as it stood in `bets`; None in a closed book whose round was ended by another mark.

    `bets` are all answered ones by bet id, in their order; `cancels` are by customer and bet id, `staked` sums accepted
    stakes by customer and then bet, `table` those of all customers by bet. `revision` is None until settled once,
    `claimed` says that an outcome of `rounds` has come. `order` counts openings in `bets`. `shoe_end` is the shoe whose
    closing mark came in `bets` after this book's opening.
    """

    shoe_no: int
    round_no: int
    order: int
    version: int
    opened: BettingOpened
    closed: bool = False
    mark: BettingClosed | None = None
    bets: dict[str, Bet] = {}
    cancels: dict[str, Cancel] = {}
    staked: dict[str, dict[str, int]] = {}
    table: dict[str, int] = {}
    suspended: str = ""
    suspensions: int = 0
    outcome: RoundDecided | RoundRevised | RoundVoided | None = None
    revision: int | None = None
    claimed: bool = False
    paid: tuple[Paid, ...] = ()
    paid_revision: int | None = None
    shoe_end: int | None = None
    forgotten: bool = False

    @property
    def place(self) -> Place:
        """Shoe and round."""
        return self.shoe_no, self.round_no


class State(Struct, frozen=True, kw_only=True):
    """`books` are in the order of their openings in `bets`; `claimed` is the last round whose outcome was consumed.

    `debts` is commission owed, exact, by customer and then the order of the book, or REVISED for what corrections
    changed later: that may be negative, and is collected at the end of the shoe only. `left` are
    the last records of customers who left, so that a repeat says nothing.
    """

    table_id: str
    prices: tuple[Prices, ...] = ()
    versions: tuple[int, ...] = ()
    books: dict[Place, Book] = {}
    openings: tuple[str, ...] = ()
    openings_count: int = 0
    shoe_ends: tuple[ShoeEnd, ...] = ()
    shoes_claimed: int = 0
    claimed: Place = (0, 0)
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


def terms_of(state: State, book: Book, bet: str) -> Terms | None:
    """The terms of a bet in this book's round; None if the table does not offer it."""
    prices = prices_of(state, book.version)
    offered = prices.configuration.pay_table if prices else ()
    return next((terms for terms in offered if terms.bet == bet), None)


def shoe_end(state: State, shoe_no: int) -> ShoeEnd | None:
    """The end of this shoe in `bets`, while its twin in `rounds` has not come."""
    return next((end for end in state.shoe_ends if end.shoe_no == shoe_no), None)


def live_bets(book: Book) -> tuple[Bet, ...]:
    """The accepted bets whose stake is still in play, in the order they were taken."""
    return tuple(bet for bet in book.bets.values() if bet.standing == ACCEPTED)


# ---------------------------------------------------------------- evolve


def evolve(state: State, fact: Event) -> State:
    """Folds a fact of `settlements`; total: a fact of no concern leaves the state as it was."""
    fold = FOLDS.get(type(fact))
    return state if fold is None else fold(state, fact)


def with_book(state: State, book: Book) -> State:
    """The state with this book in place of its former self."""
    return replace(state, books={**state.books, book.place: book})


def fold_prices(state: State, fact: PayTableInForce) -> State:
    used = {book.version for book in state.books.values()}
    kept = tuple(prices for prices in state.prices if prices.version in used)
    return replace(
        state,
        prices=(*kept, Prices(fact.version, fact.configuration)),
        versions=(*state.versions, fact.version)[-OPENINGS_KNOWN:],
    )


def fold_opened(state: State, fact: BookOpened) -> State:
    """The answers of the oldest openings are forgotten, whatever has become of their rounds."""
    prices = prices_of(state, fact.version)
    count = max(1, prices.configuration.openings_remembered) if prices else 1
    order = state.openings_count + 1
    book = Book(shoe_no=fact.shoe_no, round_no=fact.round_no, order=order, version=fact.version, opened=fact.mark)
    books = (*state.books.values(), book)
    past = tuple(replace(old, forgotten=True, bets=taken(old), cancels={}) for old in books[:-count])
    return dropped(
        replace(
            state,
            books={kept.place: kept for kept in (*past, *books[-count:])},
            openings_count=order,
            openings=(*state.openings, fact.mark.event_id)[-OPENINGS_KNOWN:],
        )
    )


def taken(book: Book) -> dict[str, Bet]:
    """The bets that were accepted, without the answers that are remembered for retries only."""
    return {bet_id: bet for bet_id, bet in book.bets.items() if bet.standing != REJECTED}


def dropped(state: State) -> State:
    """Without the books whose answers are forgotten and whose outcome can no longer be revised."""
    if not any(book.forgotten for book in state.books.values()):
        return state
    done = tuple(book for book in state.books.values() if book.revision is not None and not book.suspended)
    claimed = sorted(book.place for book in done if book.claimed)
    kept = state.prices[-1].configuration.rounds_kept if state.prices else 0
    revisable = claimed[max(0, len(claimed) - kept) :]
    old = tuple(book.place for book in done if book.forgotten and book.place not in revisable)
    return replace(state, books={place: book for place, book in state.books.items() if place not in old})


def fold_closed(state: State, fact: BookClosed) -> State:
    book = book_of(state, (fact.shoe_no, fact.round_no))
    return state if book is None else with_book(state, replace(book, closed=True, mark=fact.mark))


def fold_accepted(state: State, fact: BetAccepted) -> State:
    book = book_of(state, (fact.shoe_no, fact.round_no))
    if book is None:
        return state
    own = book.staked.get(fact.customer_id, {})
    bet = Bet(fact.bet_id, fact.customer_id, fact.bet, fact.stake_minor, fact.at_ms, fact.content_hash, ACCEPTED)
    return with_book(
        state,
        replace(
            book,
            bets={**book.bets, fact.bet_id: bet},
            staked={**book.staked, fact.customer_id: added(own, fact.bet, fact.stake_minor)},
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
    return with_book(state, replace(book, bets={**book.bets, fact.bet_id: bet}))


def fold_unanswered(state: State, fact: BetIgnored | CancelRefused) -> State:
    state = replace(state, unanswered=fact.number)
    book = remembered(state, (fact.shoe_no, fact.round_no))
    if isinstance(fact, BetIgnored) or book is None:
        return state
    key = key_of(fact.customer_id, fact.bet_id)
    if key in book.cancels:
        return state
    refused = Cancel(fact.customer_id, fact.content_hash, fact.at_ms, refused=True)
    return with_book(state, replace(book, cancels={**book.cancels, key: refused}))


def fold_cancel(state: State, fact: CancelNoted) -> State:
    book = book_of(state, (fact.shoe_no, fact.round_no))
    if book is None:
        return state
    noted = Cancel(fact.customer_id, fact.content_hash, fact.at_ms)
    cancels = {**book.cancels, key_of(fact.customer_id, fact.bet_id): noted}
    return with_book(state, replace(book, cancels=cancels))


def fold_voided(state: State, fact: BetVoided) -> State:
    book = book_of(state, (fact.shoe_no, fact.round_no))
    if book is None or fact.bet_id not in book.bets:
        return state
    bet = replace(book.bets[fact.bet_id], standing=VOIDED)
    return with_book(state, replace(book, bets={**book.bets, fact.bet_id: bet}))


def fold_settled(state: State, fact: BetSettled) -> State:
    book = book_of(state, (fact.shoe_no, fact.round_no))
    if book is None:
        return state
    if fact.owed_exact:
        name = str(book.order) if book.revision is None else REVISED
        state = owing(state, fact.customer_id, name, fact.owed_exact)
    paid = Paid(fact.bet_id, fact.winnings_minor, fact.commission_minor, fact.return_minor, fact.owed_exact)
    earlier = book.paid if book.paid_revision == fact.revision else ()
    return with_book(state, replace(book, paid=(*earlier, paid), paid_revision=fact.revision))


def owing(state: State, customer_id: str, name: str, more_exact: Fraction) -> State:
    """The state with so much more owed by a customer under this name."""
    own = state.debts.get(customer_id, {})
    debt = {**own, name: own.get(name, Fraction(0)) + more_exact}
    return replace(state, debts={**state.debts, customer_id: debt})


def fold_reversed(state: State, fact: BetReversed) -> State:
    return owing(state, fact.customer_id, REVISED, -fact.owed_exact) if fact.owed_exact else state


def latest_rounding(state: State) -> str:
    """How the newest pay table rounds commission."""
    return state.prices[-1].configuration.commission_rounding if state.prices else "half_up"


def fold_customer_left(state: State, fact: CustomerNoted) -> State:
    leaving = Leaving(
        fact.customer_id,
        fact.number,
        fact.at_ms,
        fact.cause_id,
        state.openings_count,
        latest_rounding(state),
        tuple(book.place for book in state.books.values() if book.closed and book.revision is None),
        tuple(end.shoe_no for end in state.shoe_ends),
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
    return not waits and not any(end.shoe_no in leaving.shoes for end in state.shoe_ends)


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
        state = replace(state, claimed=max(state.claimed, place))
    book = book_of(state, place)
    if book is None:
        return state
    settled = replace(
        book,
        revision=fact.revision,
        claimed=book.claimed or fact.claimed,
        suspended="",
        outcome=None,
        paid=() if fact.void else book.paid,
    )
    return dropped(with_book(state, settled))


def fold_suspended(state: State, fact: BookSuspended) -> State:
    place = (fact.shoe_no, fact.round_no)
    if fact.outcome is not None:
        state = replace(state, claimed=max(state.claimed, place))
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
        books = {
            place: replace(book, shoe_end=fact.number) if book.revision is None and book.shoe_end is None else book
            for place, book in state.books.items()
        }
        end = ShoeEnd(fact.number, latest_rounding(state))
        return replace(state, books=books, shoe_ends=(*state.shoe_ends, end))
    if fact.what == SHOE_CLAIMED:
        return replace(
            state,
            shoe_ends=tuple(end for end in state.shoe_ends if end.shoe_no != fact.number),
            shoes_claimed=max(state.shoes_claimed, fact.number),
        )
    if fact.what == RULES_DISPUTED:
        return replace(
            state,
            prices=tuple(
                replace(prices, disputed=True) if prices.version == fact.number else prices for prices in state.prices
            ),
        )
    return state


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
