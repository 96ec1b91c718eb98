"""A seeded play at several tables: what scanners, dealers and customers append, in steps.

Within a step nothing waits for anything; between two steps the rules must have written their marks. The dealer knows
the rules by heart: a table of its own, decided in memory, says what is to be dealt next. What it does hangs on no
time, so that a play goes the same way whatever the log's clock says.
"""

from collections.abc import Iterator
from random import Random
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from services.baccarat import catalogue, rounds, shoe, table
from services.baccarat.events import (
    BETS,
    TABLE_FEED,
    BetCancelled,
    BetPlaced,
    BettingOpened,
    CardDealt,
    Configuration,
    CustomerLeft,
    CutCardDrawn,
    DealerClosedBetting,
    DealerCorrectedCard,
    DealerOpenedBetting,
    DealerResumed,
    DealerSuspended,
    DealerVoidedRound,
    Event,
    RoundDecided,
    ShoeStarted,
    TableConfigured,
)

BEGIN_MS = 1_767_225_600_000
STEP_MS = 1_700
SLOW_STEP_MS = 21_000  # longer than any betting stays open
CARDS_BEHIND_CUT = 14


class Step(Struct, frozen=True):
    """What is appended between two waits: topic, event, and the time by a clock that the test sets.

    `tells` are the ids of openings that rules must have told before the next step.
    """

    sent: tuple[tuple[str, Event, int], ...]
    tells: tuple[str, ...] = ()


def configurations() -> list[Configuration]:
    """One deck, so that shoes end; every variant, both ways of opening, and a window that is sometimes too short."""
    of_variant = [catalogue.configuration(slug, decks=1) for slug in catalogue.VARIANTS]
    return [
        replace(
            how,
            betting=("automatic", "dealer")[number % 2],
            burn_rule=("face_value_faces_10", "none", "deck_count", "fixed_n")[number % 4],
            burn_fixed=2,
            end_rule=("one_more", "finish_round")[number % 2],
            close_margin_ms=0,
            cards_behind_cut=CARDS_BEHIND_CUT,
        )
        for number, how in enumerate(of_variant)
    ]


def play(seed: int, tables: int = 5, rounds_each: int = 8, *, names: str = "T") -> list[Step]:
    """About five cards and eight bets a table a round, with whatever goes wrong at tables."""
    random = Random(f"play {seed}")
    hows = configurations()
    at = [
        Seat(f"{names}{number}", hows[number % len(hows)], Random(random.random())) for number in range(1, tables + 1)
    ]
    now_ms = BEGIN_MS
    steps = []
    for turn in range(2 * rounds_each + 1):
        now_ms += SLOW_STEP_MS if turn % 10 == 9 else STEP_MS
        sent: list[tuple[str, Event, int]] = []
        for seat in at:
            sent += [(topic, event, now_ms) for topic, event in seat.turn(now_ms)]
        steps.append(Step(tuple(sent), tuple(mark for seat in at for mark in seat.told())))
    return steps


class Seat:
    """One table, as its dealer and its customers see it."""

    def __init__(self, table_id: str, how: Configuration, random: Random) -> None:
        self.table_id = table_id
        self.how = how
        self.random = random
        self.state = table.start(table_id)
        self.sequence = 0
        self.actions = 0
        self.bets = 0
        self.cards: list[Any] = []
        self.opened = False
        self.decided: list[RoundDecided] = []
        self.openings: list[str] = []

    def turn(self, now_ms: int) -> Iterator[tuple[str, Event]]:
        """In turn: bets for the round that has been opened, then its cards up to the next opening."""
        if self.state.current is not None and self.opened:
            self.opened = False
            yield from self.betting()
            return
        if self.state.current is None and self.state.shoe_no == 0:
            configured = TableConfigured(
                event_id=f"{self.table_id}/configuration/1",
                table_id=self.table_id,
                version=1,
                configuration=self.how,
                by="ann",
            )
            yield self.feed(configured, now_ms)
        yield from self.mishaps(now_ms)
        yield from self.dealing(now_ms)
        self.opened = True

    def dealing(self, now_ms: int) -> Iterator[tuple[str, Event]]:
        """Closes the betting (or lets the first card do it), and deals until a next round is opened."""
        current = self.state.current
        if current is not None and current.opened is not None and self.random.random() < 0.3:
            yield self.feed(
                DealerClosedBetting(**self.action(), shoe_no=current.shoe_no, round_no=current.round_no), now_ms
            )
        begun = (self.state.shoe_no, self.state.round_no)
        for _ in range(60):
            if self.state.current is not None and (self.state.shoe_no, self.state.round_no) != begun:
                return
            yield from self.next_move(now_ms)
            if self.random.random() < 0.05 and self.bets:
                yield BETS, self.bet(begun[0], begun[1], "player", 500)  # too late, or far too late
        raise AssertionError(f"table {self.table_id} opens no further round")

    def next_move(self, now_ms: int) -> Iterator[tuple[str, Event]]:
        state = self.state
        if not state.shoe_open:
            self.cards = list(shoe.shuffle(shoe.fresh_shoe(self.how.decks), self.random.randrange))
            yield self.feed(ShoeStarted(**self.device("shoe"), decks=self.how.decks), now_ms)
        elif self.how.betting == "dealer" and table.may_open(state):
            opening = DealerOpenedBetting(**self.action(), shoe_no=state.shoe_no, round_no=state.round_no + 1)
            yield self.feed(opening, now_ms)
        elif len(self.cards) == CARDS_BEHIND_CUT and not state.cut_seen:
            yield self.feed(CutCardDrawn(**self.device("cut"), scanned_at_ms=now_ms - 90), now_ms)
        else:
            dealt = CardDealt(
                **self.device("card"), card=self.cards.pop(), scanned_at_ms=now_ms - 90, source="simulated"
            )
            yield self.feed(dealt, now_ms)
            if self.random.random() < 0.05:
                yield TABLE_FEED, dealt  # the scanner is not sure that it was heard

    def mishaps(self, now_ms: int) -> Iterator[tuple[str, Event]]:
        """Now and then a round is voided or a card corrected, or the table is suspended and resumed."""
        chance = self.random.random()
        if chance < 0.06 and self.decided:
            last = self.decided[-1]
            voided = DealerVoidedRound(
                **self.action(), second="bob", shoe_no=last.shoe_no, round_no=last.round_no, reason="spilt drink"
            )
            yield self.feed(voided, now_ms)
        elif chance < 0.12 and self.state.past and self.state.past[-1].slots and self.cards:
            slot = self.state.past[-1].slots[0]
            corrected = DealerCorrectedCard(
                **self.action(),
                second="bob",
                shoe_no=self.state.past[-1].shoe_no,
                card_no=slot.card_no,
                card=self.cards[0],
                reason="misread",
            )
            yield self.feed(corrected, now_ms)
        elif chance < 0.18:
            yield self.feed(DealerSuspended(**self.action(), reason="dispute"), now_ms)
            yield self.feed(DealerResumed(**self.action(), reason="settled"), now_ms)

    def betting(self) -> Iterator[tuple[str, Event]]:
        """Every field, good and bad stakes, a repeat, a conflict, cancels, and somebody who goes home."""
        current = self.state.current
        assert current is not None
        shoe_no, round_no = current.shoe_no, current.round_no
        placed = [
            self.bet(shoe_no, round_no, terms.bet, self.random.randrange(100, 9_000)) for terms in self.how.pay_table
        ]
        yield from ((BETS, bet) for bet in placed)
        bad = self.random.choice(
            [("dragon", 500), ("player", 0), ("banker", -5), ("tie", 10**9), ("player", 1), ("banker", 2**62)]
        )
        yield BETS, self.bet(shoe_no, round_no, *bad)
        chance = self.random.random()
        if chance < 0.25:
            yield BETS, placed[0]
        elif chance < 0.5:
            yield BETS, replace(placed[1], stake_minor=placed[1].stake_minor + 1)
        elif chance < 0.75:
            yield BETS, self.cancel(self.random.choice(placed))
            yield BETS, self.cancel(placed[0])
        else:
            yield BETS, replace(self.bet(shoe_no, round_no, "player", 700), currency="XXX")
            yield BETS, self.bet(shoe_no, round_no + 1, "player", 700)
        if self.random.random() < 0.1:
            gone = placed[0].customer_id
            yield (
                BETS,
                CustomerLeft(event_id=f"{self.table_id}/left/{self.bets}", table_id=self.table_id, customer_id=gone),
            )

    def bet(self, shoe_no: int, round_no: int, bet: str, stake_minor: int) -> BetPlaced:
        self.bets += 1
        bet_id = f"b{self.bets}"
        return BetPlaced(
            event_id=f"{self.table_id}/{shoe_no}/{round_no}/{bet_id}/placed",
            table_id=self.table_id,
            bet_id=bet_id,
            customer_id=f"c{self.random.randrange(6)}",
            shoe_no=shoe_no,
            round_no=round_no,
            bet=bet,
            stake_minor=stake_minor,
            currency=self.how.currency,
        )

    def cancel(self, bet: BetPlaced) -> BetCancelled:
        return BetCancelled(
            event_id=f"{self.table_id}/{bet.shoe_no}/{bet.round_no}/{bet.bet_id}/cancelled",
            table_id=self.table_id,
            bet_id=bet.bet_id,
            customer_id=bet.customer_id,
            shoe_no=bet.shoe_no,
            round_no=bet.round_no,
        )

    def device(self, what: str) -> Any:
        self.sequence += 1
        return {
            "event_id": f"{self.table_id}/shoe-1/1/{self.sequence}/{what}",
            "table_id": self.table_id,
            "device": "shoe-1",
            "boot": 1,
            "sequence": self.sequence,
        }

    def action(self) -> Any:
        self.actions += 1
        action_id = f"{self.table_id}-a{self.actions}"
        return {
            "event_id": f"{self.table_id}/action/{self.actions}",
            "table_id": self.table_id,
            "action_id": action_id,
            "by": "ann",
        }

    def feed(self, event: Event, now_ms: int) -> tuple[str, Event]:
        """The dealer knows what its table makes of this."""
        for fact in rounds.decide(self.state, event, now_ms):
            self.state = table.evolve(self.state, fact)
            if isinstance(fact, RoundDecided):
                self.decided.append(fact)
            elif isinstance(fact, BettingOpened):
                self.openings.append(fact.event_id)
        return TABLE_FEED, event

    def told(self) -> list[str]:
        """The openings since it was last asked."""
        told, self.openings = self.openings, []
        return told
