"""The settlement decider: what a record of `bets` or of `rounds` means for a table's bets.

Acceptance is a fold over `bets` alone, in offset order: a bet counts only between its round's two marks there, and
only if it was appended before the close. The outcome joins it later, from `rounds`, and is believed only if it repeats
the marks as they stood in `bets`: if not, somebody else wrote those, and nothing of that book is paid.
"""

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from hashlib import sha256
from typing import Final, TypeVar

from services.baccarat import limits, payouts
from services.baccarat.books import (
    REJECTED,
    RULES_DISPUTED,
    SHOE_CLAIMED,
    SHOE_CLOSED,
    Bet,
    Book,
    Cancel,
    State,
    added,
    book_of,
    content_of,
    debt_up_to,
    evolve,
    has_ended,
    is_claimed,
    is_done,
    is_opened,
    key_of,
    last_book,
    live_bets,
    open_book,
    pricing,
    remembered,
    shoe_end,
    version_of,
)
from services.baccarat.errors import InvariantBroken
from services.baccarat.events import (
    BETS,
    ROUNDS,
    BetAccepted,
    BetCancelled,
    BetIgnored,
    BetPlaced,
    BetRejected,
    BetReversed,
    BetSettled,
    BetSum,
    BettingClosed,
    BettingOpened,
    BetVoided,
    BookClosed,
    BookOpened,
    BookResumed,
    BookResumeOrdered,
    BookSuspended,
    CancelNoted,
    CancelRefused,
    CommissionCollected,
    Configuration,
    CustomerLeft,
    CustomerNoted,
    Event,
    InputNoted,
    Outcome,
    PayTableInForce,
    RoundDecided,
    RoundRevised,
    RoundSettled,
    RoundVoided,
    RulesInForce,
    SettlementsFact,
    ShoeClosed,
    cause_id,
)
from services.baccarat.limits import Asked
from services.baccarat.pages import entries, entry
from services.baccarat.telling import Common, Telling

B = TypeVar("B", Bet, BetSettled)
Told = Telling[State, SettlementsFact]
NOTHING: Final = Fraction(0)


def content_hash(event: BetPlaced | BetCancelled) -> str:
    """What tells a retry from another bet under the same id: 128 bits of SHA-256 over all that the customer said."""
    parts: tuple[str, ...] = (event.customer_id, event.bet_id, str(event.shoe_no), str(event.round_no))
    if isinstance(event, BetPlaced):
        parts = (*parts, event.bet, str(event.stake_minor), event.currency, event.seat or "")
    return sha256("\x1f".join(parts).encode()).hexdigest()[:32]


# ---------------------------------------------------------------- decide


def decide(state: State, topic: str, event: Event, at_ms: int) -> tuple[SettlementsFact, ...]:
    """What an input of `bets` or of `rounds` means, appended at `at_ms`. The same record again means nothing.

    Raises InvariantBroken for what cannot be.
    """
    answer = ANSWERS[topic].get(type(event))
    if answer is None:
        return ()  # cards and the table are no business of a book
    told: Told = Telling(state, evolve, cause_id(event), at_ms)
    answer(told, event)
    collect_from_leaving(told)
    return tuple(told.facts)


def ready(state: State, topic: str, event: Event) -> bool:
    """Whether an input may be consumed: a mark of `rounds` waits for its twin in `bets`, nothing else waits."""
    if topic != ROUNDS:
        return True
    match event:
        case RulesInForce():
            return version_of(state, event.version) is not None
        case BettingOpened():
            return is_opened(state, (event.shoe_no, event.round_no)) or state.claimed >= (event.shoe_no, event.round_no)
        case BettingClosed():
            book = book_of(state, (event.shoe_no, event.round_no))
            if book is None:  # not opened yet, or done with and dropped
                return state.claimed >= (event.shoe_no, event.round_no)
            return book.closed
        case ShoeClosed():
            return has_ended(state, event.shoe_no)
        case _:
            return True


# ---- bets and cancels


class Answer(Common):
    """The fields that every answer to a bet or a cancel has."""

    bet_id: str
    customer_id: str
    shoe_no: int
    round_no: int
    content_hash: str


def answering(told: Told, event: BetPlaced | BetCancelled, hashed: str, what: str) -> Answer:
    """What an answer says of its question."""
    return {
        **told.about(what),
        "bet_id": event.bet_id,
        "customer_id": event.customer_id,
        "shoe_no": event.shoe_no,
        "round_no": event.round_no,
        "content_hash": hashed,
    }


def on_bet(told: Told, event: BetPlaced) -> None:
    state = told.state
    hashed = content_hash(event)
    book = remembered(state, (event.shoe_no, event.round_no))
    if not state.prices:
        ignore(told, event, hashed, "table-unknown", f"table {event.table_id} has never opened")
    elif book is None:
        text = f"shoe {event.shoe_no}, round {event.round_no} has not opened, or is no longer remembered"
        ignore(told, event, hashed, "round-unknown", text)
    elif (known := entry(book.bets, event.bet_id)) is None:
        answer_bet(told, book, event, hashed)
    elif known.content_hash != hashed:
        ignore(told, event, hashed, "id-reused", f"bet {event.bet_id} was answered with other content")


def ignore(told: Told, event: BetPlaced, hashed: str, code: str, text: str) -> None:
    """Says nothing of the stake: under this id another record may have been taken."""
    number = told.state.unanswered + 1
    told.say(BetIgnored(**answering(told, event, hashed, f"ignored/{number}"), code=code, text=text, number=number))


def answer_bet(told: Told, book: Book, event: BetPlaced, hashed: str) -> None:
    refusal = refusal_of(told, book, event)
    what = f"{event.shoe_no}/{event.round_no}/{event.bet_id}"
    if refusal is not None:
        code, text = refusal
        told.say(BetRejected(**answering(told, event, hashed, f"{what}/rejected"), code=code, text=text))
        return
    told.say(
        BetAccepted(
            **answering(told, event, hashed, f"{what}/accepted"),
            version=book.version,
            bet=event.bet,
            stake_minor=event.stake_minor,
            currency=event.currency,
            seat=event.seat,
        )
    )


def refusal_of(told: Told, book: Book, event: BetPlaced) -> tuple[str, str] | None:
    """The first reason to reject a bet, as code and sentence; None to accept it."""
    if book.closed or told.at_ms >= book.opened.closes_at_ms:
        closed_ms = book.mark.closed_at_ms if book.mark else book.opened.closes_at_ms
        return "late", f"betting closed at {closed_ms} ms, the bet came at {told.at_ms} ms"
    cancel = book.cancels.get(key_of(event.customer_id, event.bet_id)) if book.cancels else None
    if cancel is not None and not cancel.refused:
        return "cancelled", f"bet {event.bet_id} was cancelled before it came"
    how = pricing(told.state, book)
    terms = next((terms for terms in how.pay_table if terms.bet == event.bet), None) if how else None
    if terms is None or how is None:
        return "bet-unknown", f"this table does not offer {event.bet[:40]!r}"
    if event.currency != how.currency:
        return "wrong-currency", f"this table plays in {how.currency}, not {event.currency[:20]}"
    own = entry(book.staked, event.customer_id) or {}
    asked = Asked(
        terms,
        how,
        event.stake_minor,
        event.seat,
        own,
        book.table,
        book.round_no,
        book.opened.cards_dealt,
    )
    return limits.refusal(asked)


def on_cancel(told: Told, event: BetCancelled) -> None:
    """A cancel is noted and takes effect at the close; one that comes before its bet is remembered."""
    hashed = content_hash(event)
    book = remembered(told.state, (event.shoe_no, event.round_no))
    if book is not None and key_of(event.customer_id, event.bet_id) in book.cancels:
        return
    refusal = refusal_of_cancel(told, book, event)
    if refusal is None:
        what = f"{event.shoe_no}/{event.round_no}/{event.bet_id}/cancel-noted/{event.customer_id}"
        told.say(CancelNoted(**answering(told, event, hashed, what)))
        return
    code, text = refusal
    number = told.state.unanswered + 1
    about = answering(told, event, hashed, f"cancel-refused/{number}")
    told.say(CancelRefused(**about, code=code, text=text, number=number))


def refusal_of_cancel(told: Told, book: Book | None, event: BetCancelled) -> tuple[str, str] | None:
    """Why a cancel comes to nothing, as code and sentence."""
    if book is None:
        return "round-unknown", f"shoe {event.shoe_no}, round {event.round_no} has not opened, or is over for long"
    if book.closed or told.at_ms >= book.opened.closes_at_ms:
        return "late", "betting has closed"
    bet = entry(book.bets, event.bet_id)
    if bet is not None and bet.customer_id != event.customer_id:
        return "not-yours", f"bet {event.bet_id} is another customer's"
    if bet is not None and bet.standing == REJECTED:
        return "not-accepted", f"bet {event.bet_id} was rejected"
    return None


# ---- marks


def on_rules(told: Told, event: RulesInForce) -> None:
    """The first mark of a version sets the prices of its rounds."""
    if version_of(told.state, event.version) is None:
        about = told.about(f"pay-table/{event.version}")
        told.say(PayTableInForce(**about, version=event.version, configuration=event.configuration))


def on_true_rules(told: Told, event: RulesInForce) -> None:
    """The twin in `rounds` shows whether the mark in `bets` was forged."""
    known = version_of(told.state, event.version)
    if known is not None and known.content_hash != content_of(event.configuration) and not known.disputed:
        note(told, RULES_DISPUTED, event.version, f"pay-table/{event.version}/disputed")


def note(told: Told, what: str, number: int, about: str) -> None:
    """Nothing more is to be said, but the input must be remembered."""
    told.say(InputNoted(**told.about(about), what=what, number=number))


def on_betting_opened(told: Told, event: BettingOpened) -> None:
    if is_opened(told.state, (event.shoe_no, event.round_no)):
        return  # a record of an aborted transaction that was made again, or a forged one: the first wins
    end_open_book(told, "opening-while-open", f"round {event.round_no} of shoe {event.shoe_no} opened in `bets`")
    told.say(
        BookOpened(
            **told.about(f"{event.shoe_no}/{event.round_no}/book-opened"),
            shoe_no=event.shoe_no,
            round_no=event.round_no,
            version=event.version,
            mark=event,
        )
    )
    place = (event.shoe_no, event.round_no)
    if (book := book_of(told.state, place)) is not None and not book.priced:
        suspend(told, place, "rules-unknown", f"version {event.version} has never been in force", None)


def end_open_book(told: Told, cause: str, text: str) -> None:
    """A mark that cannot stand where it does: the book it meets open is closed and suspended."""
    book = open_book(told.state)
    if book is None:
        return
    close_book(told, book, None)
    suspend(told, book.place, cause, text, None)


def close_book(told: Told, book: Book, mark: BettingClosed | None) -> None:
    told.say(
        BookClosed(
            **told.about(f"{book.shoe_no}/{book.round_no}/book-closed"),
            shoe_no=book.shoe_no,
            round_no=book.round_no,
            mark=mark,
            sums=tuple(
                BetSum(name, len(bets), sum(bet.stake_minor for bet in bets))
                for name, bets in by_name(told.state, book, live_bets(book)).items()
            ),
        )
    )


def suspend(told: Told, place: tuple[int, int], cause: str, text: str, outcome: Outcome | None) -> None:
    """The book waits for a person; an outcome that has come waits inside the fact."""
    book = book_of(told.state, place)
    number = book.suspensions + 1 if book else 1 + (outcome.revision if outcome else 0)
    told.say(
        BookSuspended(
            **told.about(f"{place[0]}/{place[1]}/suspended/{number}"),
            shoe_no=place[0],
            round_no=place[1],
            cause=cause,
            text=text,
            outcome=outcome,
        )
    )


def on_betting_closed(told: Told, event: BettingClosed) -> None:
    """Bets found later than the close, and those cancelled before it, are voided by the mark."""
    book = book_of(told.state, (event.shoe_no, event.round_no))
    if book is None or book.closed:
        return
    for bet in live_bets(book):
        if reason := reason_to_void(book, bet, event.closed_at_ms):
            void_bet(told, book, bet, reason, 0)
    while broken := over_limits(told.state, now(told, book)):
        for bet in broken:
            void_bet(told, book, bet, "limit_at_close", 0)
    close_book(told, now(told, book), event)


def now(told: Told, book: Book) -> Book:
    """A book as it has become."""
    return book_of(told.state, book.place) or book


def over_limits(state: State, book: Book) -> tuple[Bet, ...]:
    """The bets too many by a limit judged again at the close, newest first; none when all is well.

    First the table differential, then side bets above the main bets, which a void can bring about.
    """
    how = pricing(state, book)
    if how is None:
        return ()
    live = live_bets(book)
    broken: tuple[Bet, ...] = ()
    if how.differential_max_minor is not None:
        staked = {bet: sum(one.stake_minor for one in live if one.bet == bet) for bet in limits.OPPOSITE}
        for bet, other in limits.OPPOSITE.items():
            too_much = staked[bet] - staked[other] - how.differential_max_minor
            broken = broken or newest(tuple(one for one in live if one.bet == bet), too_much)
    return broken if broken or how.side_above_main else above_main(live, how)


def newest(live: tuple[Bet, ...], too_much: int) -> tuple[Bet, ...]:
    """As many of the newest bets as stake so much or more; none where it is nothing."""
    found: list[Bet] = []
    for one in reversed(live):
        if too_much <= 0:
            break
        found.append(one)
        too_much -= one.stake_minor
    return tuple(found)


def above_main(live: tuple[Bet, ...], how: Configuration) -> tuple[Bet, ...]:
    """The newest side bets by which customers have more on a side bet than on their main bets."""
    own: dict[str, dict[str, int]] = {}
    for one in live:
        own[one.customer_id] = added(own.get(one.customer_id, {}), one.bet, one.stake_minor)
    main = {customer: limits.main_stakes(stakes, how) for customer, stakes in own.items()}
    sides = frozenset(terms.bet for terms in how.pay_table if not terms.main)
    found: list[Bet] = []
    for one in reversed(live):
        stakes = own[one.customer_id]
        if one.bet in sides and stakes[one.bet] > main[one.customer_id]:
            found.append(one)
            stakes[one.bet] -= one.stake_minor
    return tuple(found)


def reason_to_void(book: Book, bet: Bet, closed_at_ms: int) -> str:
    """Why a bet does not outlive the close; empty if it does."""
    if bet.at_ms >= closed_at_ms:
        return "late"
    cancel = book.cancels.get(key_of(bet.customer_id, bet.bet_id)) if book.cancels else None
    return "cancelled" if takes_effect(cancel, closed_at_ms) else ""


def takes_effect(cancel: Cancel | None, closed_at_ms: int) -> bool:
    """Whether a cancel was appended before the close."""
    return cancel is not None and not cancel.refused and cancel.at_ms < closed_at_ms


class OfBet(Common):
    """The fields of every fact about an accepted bet."""

    bet_id: str
    customer_id: str
    shoe_no: int
    round_no: int
    revision: int
    bet: str
    stake_minor: int


def concerning(told: Told, book: Book, bet: Bet, revision: int, what: str) -> OfBet:
    """What such a fact says of its bet."""
    return {
        **told.about(f"{book.shoe_no}/{book.round_no}/{bet.bet_id}/{what}"),
        "bet_id": bet.bet_id,
        "customer_id": bet.customer_id,
        "shoe_no": book.shoe_no,
        "round_no": book.round_no,
        "revision": revision,
        "bet": bet.bet,
        "stake_minor": bet.stake_minor,
    }


def void_bet(told: Told, book: Book, bet: Bet, reason: str, revision: int) -> None:
    told.say(BetVoided(**concerning(told, book, bet, revision, "voided"), reason=reason))


def on_shoe_closed(told: Told, event: ShoeClosed) -> None:
    """Ends a round still open in `bets`."""
    if has_ended(told.state, event.shoe_no):
        return
    end_open_book(told, "shoe-closed-while-open", f"shoe {event.shoe_no} closed in `bets`")
    note(told, SHOE_CLOSED, event.shoe_no, f"{event.shoe_no}/shoe-closed")


def on_shoe_claimed(told: Told, event: ShoeClosed) -> None:
    """The twin in `rounds` voids what no outcome of the shoe has claimed."""
    if is_claimed(told.state, event.shoe_no):
        return
    end = shoe_end(told.state, event.shoe_no)
    if end is None:
        raise InvariantBroken(f"shoe {event.shoe_no} is claimed before its end in `bets`")
    for book in told.state.books.values():
        if book.revision is None and book.outcome is None and book.order <= end.order:
            void_book(told, book, "unclaimed", 0, claimed=False)
    for customer_id in tuple(told.state.debts):
        about = told.about(f"{event.shoe_no}/{customer_id}/collected")
        collect(told, about, customer_id, event.shoe_no, debt_up_to(told.state, customer_id, None), end.rounding, 0)
    note(told, SHOE_CLAIMED, event.shoe_no, f"{event.shoe_no}/shoe-claimed")


# ---- commission kept as a debt


def on_customer_left(told: Told, event: CustomerLeft) -> None:
    """Where commission is kept as a debt, whoever leaves pays it; a lost connection is no leaving."""
    state = told.state
    owes = bool(state.prices) and state.prices[-1].configuration.commission_mode == "owed"
    if not owes or told.cause in state.left:
        return
    number, last = state.customers_left + 1, last_book(state)
    told.say(
        CustomerNoted(
            **told.about(f"left/{number}"),
            customer_id=event.customer_id,
            shoe_no=last.shoe_no if last else 0,
            number=number,
        )
    )


def collect_from_leaving(told: Told) -> None:
    """Collects from those who left, once what they owe is known; says so even where it is nothing.

    Only a round's settlement or a shoe's end makes it known; of whoever left just now it may be known at once.
    """
    if any(isinstance(fact, CustomerNoted) for fact in told.facts):
        waiting = told.state.leaving[-1:]
    elif told.before.leaving and any(isinstance(fact, RoundSettled) or is_shoe_claimed(fact) for fact in told.facts):
        waiting = told.state.leaving
    else:
        return
    for one in waiting:
        if is_done(told.state, one):
            about = Common(
                event_id=f"{told.state.table_id}/left/{one.number}/collected",
                table_id=told.state.table_id,
                at_ms=one.at_ms,
                cause_id=one.cause_id,
            )
            owed = debt_up_to(told.state, one.customer_id, one.order)
            collect(told, about, one.customer_id, 0, owed, one.rounding, one.number)


def is_shoe_claimed(fact: SettlementsFact) -> bool:
    """Whether this fact says that the end of a shoe was seen in `rounds`."""
    return isinstance(fact, InputNoted) and fact.what == SHOE_CLAIMED


def collect(
    told: Told,
    about: Common,
    customer_id: str,
    shoe_no: int,
    owed: Mapping[str, Fraction],
    rounding: str,
    number: int,
) -> None:
    """Takes a debt, rounded once; a debt below nothing, left by a correction, is given back."""
    exact = sum(owed.values(), Fraction(0))
    size = payouts.rounded(abs(exact).numerator, exact.denominator, rounding)
    told.say(
        CommissionCollected(
            **about,
            customer_id=customer_id,
            shoe_no=shoe_no,
            amount_minor=size if exact >= 0 else -size,
            number=number,
            owed_exact=exact,
        )
    )


# ---- outcomes


def on_outcome(told: Told, event: Outcome) -> None:
    """Settles, settles again or voids a round's book, if the outcome repeats the marks as they stood in `bets`."""
    if event.opened is None:
        return  # a free hand has no book
    place = (event.shoe_no, event.round_no)
    book = book_of(told.state, place)
    if book is None:
        suspend(told, place, "book-unknown", "an outcome came for a round without a book", event)
    elif event.revision <= last_revision(book):
        return  # a repeat, or the outcome of a round that was void before it came
    elif book.suspended:
        suspend(told, place, book.suspended, "an outcome came while the book was suspended", event)
    elif (doubt := reason_to_doubt(told.state, book, event)) is not None:
        suspend(told, place, *doubt, event)
    else:
        apply(told, book, event)


def last_revision(book: Book) -> int:
    """The newest revision that was settled or waits; -1 before the first."""
    settled = -1 if book.revision is None else book.revision
    return settled if book.outcome is None else max(settled, book.outcome.revision)


def reason_to_doubt(state: State, book: Book, event: Outcome) -> tuple[str, str] | None:
    """Why nothing of a book is paid, as code and sentence: somebody else than rules wrote its marks."""
    if (book.opened, book.mark) != (event.opened, event.closed):
        return "marks-differ", "the marks in `bets` are not those that rules wrote"
    version = version_of(state, book.version)
    if not book.priced or version is None or version.disputed:
        return "rules-differ", "the pay table in `bets` is not the one that rules wrote"
    return None


def apply(told: Told, book: Book, event: Outcome) -> None:
    """Takes back what was paid before, then pays what this outcome says."""
    take_back(told, book)
    if isinstance(event, RoundVoided):
        void_book(told, book, "round_void", event.revision, claimed=True)
    else:
        settle(told, book, event)


def take_back(told: Told, book: Book) -> None:
    """Reverses what the last settled revision paid."""
    bets = {bet.bet_id: bet for bet in entries(book.bets)}
    revision = book.paid_revision or 0
    for paid in entries(book.paid):
        told.say(
            BetReversed(
                **concerning(told, book, bets[paid.bet_id], revision, f"reversed/{revision}"),
                winnings_minor=paid.winnings_minor,
                commission_minor=paid.commission_minor,
                return_minor=paid.return_minor,
                owed_exact=paid.owed_exact,
            )
        )


def void_book(told: Told, book: Book, reason: str, revision: int, *, claimed: bool) -> None:
    """Every stake still in play goes back."""
    for bet in live_bets(book):
        void_bet(told, book, bet, reason, revision)
    say_settled(told, book, revision, (), void=True, claimed=claimed)


def settle(told: Told, book: Book, event: RoundDecided | RoundRevised) -> None:
    """Prices every bet in play, each bet name once: the line depends on the cards and not on the stake."""
    how = pricing(told.state, book)
    if how is None:
        raise InvariantBroken(f"book {book.place} has no pay table of version {book.version}")
    live = live_bets(book)
    backed = {bet.bet for bet in live}  # a bet that nobody made may ask for suits that were not recorded
    paying = {terms.bet: terms.lines for terms in how.pay_table if terms.bet in backed}
    lines = {name: payouts.line_of(its_lines, event.player, event.banker) for name, its_lines in paying.items()}
    settled: list[BetSettled] = []
    for bet in live:
        number = lines[bet.bet]
        line = None if number is None else paying[bet.bet][number - 1]
        came_to = payouts.amounts(line, bet.stake_minor, how.winnings_rounding, how.commission_rounding)
        owed = NOTHING
        if how.commission_mode == "owed" and line is not None and line.odds is not None:
            owed = bet.stake_minor * line.odds * line.commission
            came_to = payouts.Amounts(came_to.winnings_minor, 0, bet.stake_minor + came_to.winnings_minor)
        fact = BetSettled(
            **concerning(told, book, bet, event.revision, f"settled/{event.revision}"),
            version=book.version,
            line=number,
            winnings_minor=came_to.winnings_minor,
            commission_minor=came_to.commission_minor,
            commission_owed=bool(owed),
            return_minor=came_to.return_minor,
            owed_exact=owed,
        )
        settled.append(fact)
        told.say(fact)
    say_settled(told, book, event.revision, tuple(settled), void=False, claimed=True)


def by_name(state: State, book: Book, bets: Iterable[B]) -> dict[str, list[B]]:
    """The bets under their names, in the order of the pay table; names without a bet are left out."""
    how = pricing(state, book)
    found: dict[str, list[B]] = {terms.bet: [] for terms in how.pay_table} if how else {}
    for bet in bets:
        found[bet.bet].append(bet)
    return {name: of_name for name, of_name in found.items() if of_name}


def sum_of(name: str, settled: list[BetSettled]) -> BetSum:
    """What one bet name came to."""
    return BetSum(
        name,
        len(settled),
        sum(fact.stake_minor for fact in settled),
        sum(fact.winnings_minor for fact in settled),
        sum(fact.commission_minor for fact in settled),
        sum(fact.return_minor for fact in settled),
    )


def say_settled(
    told: Told, book: Book, revision: int, settled: tuple[BetSettled, ...], *, void: bool, claimed: bool
) -> None:
    """The round's totals, which balance: stakes = returns + house win."""
    of_names = by_name(told.before, book, settled)  # prices do not change by settling
    sums = tuple(sum_of(name, facts) for name, facts in of_names.items())
    stakes = sum(one.stakes_minor for one in sums)
    returns = sum(one.returns_minor for one in sums)
    told.say(
        RoundSettled(
            **told.about(f"{book.shoe_no}/{book.round_no}/settled/{revision}"),
            shoe_no=book.shoe_no,
            round_no=book.round_no,
            revision=revision,
            count=sum(one.count for one in sums),
            stakes_minor=stakes,
            returns_minor=returns,
            commission_minor=sum(one.commission_minor for one in sums),
            house_win_minor=stakes - returns,
            sums=sums,
            void=void,
            claimed=claimed,
            owed_exact=sum((fact.owed_exact for fact in settled if fact.commission_owed), NOTHING),
        )
    )


# ---- suspended books


def on_resume(told: Told, event: BookResumeOrdered) -> None:
    """Settles the outcome that waits, by the mended build; a book that cannot be trusted gives every stake back.

    `rounds` must have come further than the book: the order of a round that is still played says nothing, since how
    far `bets` was read at that moment is chance.
    """
    book = book_of(told.state, (event.shoe_no, event.round_no))
    if book is None or not book.suspended or book.order > told.state.reached:
        return
    told.say(
        BookResumed(
            **told.about(f"{book.shoe_no}/{book.round_no}/resumed/{book.suspensions}"),
            shoe_no=book.shoe_no,
            round_no=book.round_no,
            by=event.by,
            text=event.text,
        )
    )
    if book.outcome is None or reason_to_doubt(told.state, book, book.outcome) is not None:
        take_back(told, book)
        revision = book.outcome.revision if book.outcome else 0
        void_book(told, book, "book_suspended", revision, claimed=book.outcome is not None)
    else:
        apply(told, book, book.outcome)


# By topic: a mark in `bets` steers, its twin in `rounds` comes second (`ready`) and says how far `rounds` was consumed.
ANSWERS: Final[dict[str, dict[type, Callable[..., None]]]] = {
    BETS: {
        BetPlaced: on_bet,
        BetCancelled: on_cancel,
        RulesInForce: on_rules,
        BettingOpened: on_betting_opened,
        BettingClosed: on_betting_closed,
        ShoeClosed: on_shoe_closed,
        CustomerLeft: on_customer_left,
    },
    ROUNDS: {
        RulesInForce: on_true_rules,
        ShoeClosed: on_shoe_claimed,
        RoundDecided: on_outcome,
        RoundRevised: on_outcome,
        RoundVoided: on_outcome,
        BookResumeOrdered: on_resume,
    },
}


def poisoned(state: State, event: Event | None, code: str, text: str, at_ms: int) -> tuple[SettlementsFact, ...]:
    """An outcome that could not be settled suspends its book and waits there; a bet that cannot be read is nothing."""
    if not isinstance(event, Outcome) or event.opened is None:
        return ()
    told: Told = Telling(state, evolve, cause_id(event), at_ms)
    suspend(told, (event.shoe_no, event.round_no), code, text, event)
    return tuple(told.facts)
