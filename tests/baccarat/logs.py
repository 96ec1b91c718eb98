"""The two logs that settlement reads, as rules, customers and forgers write them, and any way of reading them.

`Logs` plays a table by the words of `feeds.py`; what rules say goes to `rounds`, and its marks to `bets`, where bets,
cancels and forged marks are written between them.
"""

from collections.abc import Callable, Iterable
from random import Random
from typing import Final, TypeVar

from msgspec.structs import replace

from services.baccarat import rounds
from services.baccarat.books import State
from services.baccarat.events import (
    BETS,
    ROUNDS,
    BetCancelled,
    BetPlaced,
    BettingClosed,
    BettingOpened,
    CustomerLeft,
    Event,
    Mark,
    RulesInForce,
    ShoeClosed,
)
from services.runtime.processor import Record, advance
from services.settlement import SETTLEMENT
from tests.baccarat.feeds import TABLE, Feed

Place = tuple[int, int]
F = TypeVar("F")


class Logs:
    """A table whose rules have decided what its feed came to, and what others wrote into `bets`."""

    def __init__(self, settings: str = "betting=automatic", words: str = "") -> None:
        self.feed = Feed(settings.split())
        self.rounds: list[Record] = []
        self.bets: list[Record] = []
        self.count = 0
        self.play(words)

    def play(self, words: str) -> "Logs":
        for word in words.split():
            for fact in self.feed.write(word):
                self.rounds.append(self.record(ROUNDS, fact, getattr(fact, "at_ms", 0)))
                if rounds.copies_to(fact):
                    self.append(fact, getattr(fact, "at_ms", 0))
        return self

    def record(self, topic: str, event: Event, at_ms: int) -> Record:
        return Record(topic, 0, len(self.rounds if topic == ROUNDS else self.bets), at_ms, TABLE, event)

    def append(self, event: Event, at_ms: int | None = None) -> None:
        """Writes into `bets`; the append time is the table's clock unless said otherwise."""
        self.bets.append(self.record(BETS, event, self.feed.now_ms if at_ms is None else at_ms))

    @property
    def place(self) -> Place:
        """The round that rules are in, or were in last."""
        return self.feed.state.shoe_no, self.feed.state.round_no

    def bet(
        self,
        bet: str = "player",
        stake_minor: int = 1_000,
        *,
        bet_id: str = "",
        customer: str = "Cy",
        place: Place | None = None,
        currency: str = "EUR",
        seat: str | None = None,
        at_ms: int | None = None,
    ) -> str:
        """Places a bet; its id."""
        self.count += 1
        bet_id = bet_id or f"b{self.count}"
        shoe_no, round_no = place or self.place
        placed = BetPlaced(
            event_id=f"{shoe_no}/{round_no}/{bet_id}",
            table_id=TABLE,
            bet_id=bet_id,
            customer_id=customer,
            shoe_no=shoe_no,
            round_no=round_no,
            bet=bet,
            stake_minor=stake_minor,
            currency=currency,
            seat=seat,
        )
        self.append(placed, at_ms)
        return bet_id

    def cancel(
        self, bet_id: str, *, customer: str = "Cy", place: Place | None = None, at_ms: int | None = None
    ) -> None:
        shoe_no, round_no = place or self.place
        cancelled = BetCancelled(
            event_id=f"{bet_id}-cancel",
            table_id=TABLE,
            bet_id=bet_id,
            customer_id=customer,
            shoe_no=shoe_no,
            round_no=round_no,
        )
        self.append(cancelled, at_ms)

    def leave(self, customer: str = "Cy") -> None:
        self.count += 1
        self.append(CustomerLeft(event_id=f"left-{self.count}", table_id=TABLE, customer_id=customer))

    # ---- forged marks

    def forge_opening(self, place: Place, *, version: int = 1, event_id: str = "", closes_at_ms: int = 10**12) -> None:
        self.append(
            BettingOpened(
                event_id=event_id or f"{TABLE}/{place[0]}/{place[1]}/opened",
                table_id=TABLE,
                at_ms=self.feed.now_ms,
                cause_id="forged",
                shoe_no=place[0],
                round_no=place[1],
                version=version,
                closes_at_ms=closes_at_ms,
                cards_dealt=0,
            )
        )

    def forge_close(self, place: Place, closed_at_ms: int = 0) -> None:
        self.append(
            BettingClosed(
                event_id=f"{TABLE}/{place[0]}/{place[1]}/closed",
                table_id=TABLE,
                at_ms=self.feed.now_ms,
                cause_id="forged",
                shoe_no=place[0],
                round_no=place[1],
                closed_at_ms=closed_at_ms,
                cause="dealer",
            )
        )

    def forge_shoe_end(self, shoe_no: int) -> None:
        self.append(
            ShoeClosed(
                event_id=f"{TABLE}/{shoe_no}/closed",
                table_id=TABLE,
                at_ms=self.feed.now_ms,
                cause_id="forged",
                shoe_no=shoe_no,
                reason="forged",
                rounds=0,
                cards=0,
            )
        )

    def forge_rules(self, version: int, **changed: object) -> None:
        self.append(
            RulesInForce(
                event_id=f"{TABLE}/rules/{version}",
                table_id=TABLE,
                at_ms=self.feed.now_ms,
                cause_id="forged",
                version=version,
                configuration=replace(self.feed.configuration, **changed),
            )
        )

    def repeat(self, back: int) -> None:
        """A mark of `bets` once more: that of an aborted transaction, made again."""
        marks = [record for record in self.bets if isinstance(record.event, Mark)]
        if marks:
            record = marks[-1 - back % len(marks)]
            self.bets.append(replace(record, offset=len(self.bets)))


def encode_nothing(_topic: str, _event: Event) -> bytes:
    return b""


class Reading:
    """Settlement, reading the two logs a portion at a time."""

    def __init__(self, logs: Logs) -> None:
        self.queues: Final = {ROUNDS: logs.rounds, BETS: logs.bets}
        self.next: Final = {ROUNDS: 0, BETS: 0}
        self.states: dict[str, State] = {}
        self.facts: list[Event] = []

    def step(self, portions: dict[str, int]) -> bool:
        """Shows so many more records of each log; whether any was taken."""
        shown = {topic: queue[self.next[topic] :][: portions[topic]] for topic, queue in self.queues.items()}
        done = advance(SETTLEMENT, self.states, shown, encode_nothing)
        self.states |= done.changed
        self.facts += [written.event for written in done.written]
        for topic, taken in done.taken.items():
            self.next[topic] += taken
        return any(done.taken.values())

    def is_done(self) -> bool:
        return all(self.next[topic] == len(queue) for topic, queue in self.queues.items())


def read_all(logs: Logs, portions: Callable[[], dict[str, int]] | None = None) -> list[Event]:
    """Everything that both logs come to. Fails if a record waits for ever."""
    reading = Reading(logs)
    everything = {ROUNDS: len(logs.rounds), BETS: len(logs.bets)}
    while not reading.is_done():
        moved = reading.step(portions() if portions else everything)
        if not moved and not reading.step(everything):
            waiting = logs.rounds[reading.next[ROUNDS]].event
            raise AssertionError(f"waits for ever: {waiting}")
    return reading.facts


def bets_first(logs: Logs) -> Callable[[], dict[str, int]]:
    """All of `bets` before anything of `rounds`."""
    portions = iter([{ROUNDS: 0, BETS: len(logs.bets)}])
    return lambda: next(portions, {ROUNDS: 1, BETS: 0})


def rounds_first() -> Callable[[], dict[str, int]]:
    """One record of `bets` at a time, and all of `rounds` that is ready after each."""
    turns = {"count": 0}

    def portions() -> dict[str, int]:
        turns["count"] += 1
        return {ROUNDS: 0, BETS: 1} if turns["count"] % 2 else {ROUNDS: 10**6, BETS: 0}

    return portions


def at_random(seed: int, most: int = 5) -> Callable[[], dict[str, int]]:
    random = Random(seed)
    return lambda: {ROUNDS: random.randint(0, most), BETS: random.randint(0, most)}


def by_id(facts: Iterable[Event]) -> dict[str, Event]:
    """Facts by their ids. Fails if two have one id."""
    told: dict[str, Event] = {}
    for fact in facts:
        assert fact.event_id not in told, f"told twice: {fact} and {told[fact.event_id]}"
        told[fact.event_id] = fact
    return told


def of(facts: Iterable[Event], *kinds: type[F]) -> list[F]:
    """The facts of these types."""
    return [fact for fact in facts if isinstance(fact, kinds)]
