"""A table whose facts are made here and not by the deciders: what the pages show is tested against the contract."""

from itertools import count
from random import Random
from typing import Any

from services.baccarat import catalogue, payouts
from services.baccarat.cards import Card, Hand, total
from services.baccarat.events import (
    ROUNDS,
    SETTLEMENTS,
    BetAccepted,
    BetRejected,
    BetSum,
    BettingClosed,
    BettingOpened,
    BookClosed,
    BookOpened,
    CardAssigned,
    CardBurned,
    Configuration,
    ConfigurationReceived,
    Event,
    HiddenCardRevealed,
    PayTableInForce,
    RoundDecided,
    RoundSettled,
    RulesInForce,
    ShoeClosed,
    ShoeOpened,
)
from services.baccarat.shoe import burn_count, fresh_shoe, shuffle
from services.baccarat.tableau import is_natural, next_hand, winner_of

BEGIN_MS = 1_767_225_600_000


class Stage:
    """Facts of one table as they come; `take` hands over those since the last time."""

    def __init__(self, table_id: str, slug: str = "classic", seed: int = 1, **settings: Any) -> None:
        self.table_id = table_id
        self.told: Configuration = catalogue.configuration(slug, **settings)
        self.random = Random(f"stage {table_id} {seed}")
        self.at_ms = BEGIN_MS
        self.shoe_no = self.round_no = self.card_no = 0
        self.cards: list[Card] = []
        self.player: list[Card] = []
        self.banker: list[Card] = []
        self.bets: list[tuple[str, int]] = []
        self.hidden: dict[int, Hand] = {}
        self.opened: BettingOpened | None = None
        self.closed: BettingClosed | None = None
        self._facts: list[tuple[str, Event]] = []
        self._number = count(1)

    def say(self, topic: str, kind: type[Any], **fields: Any) -> Any:
        number = next(self._number)
        about = {"event_id": f"{self.table_id}/{number}", "table_id": self.table_id, "cause_id": f"cause/{number}"}
        fact = kind(**{"at_ms": self.at_ms, **about, **fields})
        self._facts.append((topic, fact))
        return fact

    def take(self) -> list[tuple[str, Event]]:
        facts, self._facts = self._facts, []
        return facts

    @property
    def place(self) -> dict[str, int]:
        return {"shoe_no": self.shoe_no, "round_no": self.round_no}

    # ------------------------------------------------------------ a shoe

    def configure(self, version: int = 1) -> None:
        self.say(ROUNDS, ConfigurationReceived, version=version, configuration=self.told)

    def open_shoe(self, cards: list[Card] | None = None) -> None:
        self.shoe_no, self.round_no, self.card_no = self.shoe_no + 1, 0, 0
        fresh = fresh_shoe(self.told.decks)
        self.cards = list(shuffle(fresh, self.random.randrange) if cards is None else cards)
        self.say(ROUNDS, ShoeOpened, shoe_no=self.shoe_no, decks=self.told.decks)

    def burn(self) -> None:
        first = self.draw()
        left = burn_count(self.told.burn_rule, 0, self.told.decks, first)
        self._burned(first, left)
        while left:
            left -= 1
            self.draw()
            self._burned(None, left)

    def _burned(self, card: Card | None, left: int) -> None:
        self.say(
            ROUNDS, CardBurned, shoe_no=self.shoe_no, card_no=self.card_no, card=card, reason="new-shoe", left=left
        )

    def draw(self) -> Card:
        self.card_no += 1
        return self.cards[self.card_no - 1]

    def close_shoe(self) -> None:
        ended = {"shoe_no": self.shoe_no, "rounds": self.round_no, "cards": self.card_no}
        self.say(ROUNDS, ShoeClosed, reason="cut-card", **ended)

    # ------------------------------------------------------------ a round

    def open_betting(self) -> None:
        if self.round_no == 0 and self.shoe_no == 1:
            self.say(ROUNDS, RulesInForce, version=1, configuration=self.told)
            self.say(SETTLEMENTS, PayTableInForce, version=1, configuration=self.told)
        self.round_no += 1
        self.player, self.banker, self.bets = [], [], []
        self.closed, self.hidden = None, {}
        closes_at_ms = self.at_ms + self.told.betting_window_ms
        marked = {"version": 1, "closes_at_ms": closes_at_ms, "cards_dealt": self.card_no}
        self.opened = self.say(ROUNDS, BettingOpened, **self.place, **marked)
        self.say(SETTLEMENTS, BookOpened, **self.place, version=1, mark=self.opened)

    def bet(self, bet: str, stake_minor: int, customer_id: str = "Ada") -> None:
        self.bets.append((bet, stake_minor))
        self.say(
            SETTLEMENTS,
            BetAccepted,
            **self.place,
            bet_id=f"bet-{next(self._number)}",
            customer_id=customer_id,
            version=1,
            bet=bet,
            stake_minor=stake_minor,
            currency=self.told.currency,
            content_hash="",
        )

    def reject(self) -> None:
        refused = {"customer_id": "Bob", "content_hash": "", "code": "over-limit", "text": "too much"}
        self.say(SETTLEMENTS, BetRejected, **self.place, bet_id=f"bet-{next(self._number)}", **refused)

    def close_betting(self, cause: str = "time") -> None:
        self.closed = self.say(ROUNDS, BettingClosed, **self.place, closed_at_ms=self.at_ms, cause=cause)
        self.say(SETTLEMENTS, BookClosed, **self.place, mark=self.closed, sums=self.sums(priced=False))

    def deal(self, *, hidden: bool = False) -> Card | None:
        """One card; None where the round had all its cards and was decided instead."""
        hand = next_hand(tuple(self.player), tuple(self.banker))
        if hand is None:
            self.decide()
            return None
        card = self.draw()
        taking = self.player if hand is Hand.PLAYER else self.banker
        taking.append(card)
        if hidden:
            self.hidden[self.card_no] = hand
        following = next_hand(tuple(self.player), tuple(self.banker))
        self.say(
            ROUNDS,
            CardAssigned,
            **self.place,
            card_no=self.card_no,
            hand=hand,
            place=len(taking),
            card=None if hidden else card,
            player_total=None if Hand.PLAYER in self.hidden.values() else total(self.player),
            banker_total=None if Hand.BANKER in self.hidden.values() else total(self.banker),
            next_hand=following,
        )
        return card

    def reveal(self, card_no: int) -> None:
        del self.hidden[card_no]
        self.say(ROUNDS, HiddenCardRevealed, **self.place, card_no=card_no, card=self.cards[card_no - 1])

    def outcome(self) -> dict[str, Any]:
        player, banker = tuple(self.player), tuple(self.banker)
        return {
            "player": player,
            "banker": banker,
            "player_total": total(player),
            "banker_total": total(banker),
            "winner": winner_of(total(player), total(banker)),
            "natural": is_natural(player) or is_natural(banker),
            "free": self.opened is None,
            "version": 1,
            "opened": self.opened,
            "closed": self.closed,
        }

    def decide(self) -> None:
        self.say(ROUNDS, RoundDecided, **self.place, revision=0, **self.outcome())
        self.settle(0)

    def settle(self, revision: int, *, void: bool = False) -> None:
        sums = () if void else self.sums(priced=True)
        stakes, returns = (sum(getattr(one, name) for one in sums) for name in ("stakes_minor", "returns_minor"))
        self.say(
            SETTLEMENTS,
            RoundSettled,
            **self.place,
            revision=revision,
            count=sum(one.count for one in sums),
            stakes_minor=stakes,
            returns_minor=returns,
            commission_minor=sum(one.commission_minor for one in sums),
            house_win_minor=stakes - returns,
            sums=sums,
            void=void,
        )

    def sums(self, *, priced: bool) -> tuple[BetSum, ...]:
        """Per field with bets, in the order of the pay table."""
        lines = {terms.bet: terms.lines for terms in self.told.pay_table}
        sums: dict[str, BetSum] = {}
        for bet, stake in sorted(self.bets, key=lambda each: list(lines).index(each[0])):
            came = payouts.LOST
            if priced:
                number = payouts.line_of(lines[bet], tuple(self.player), tuple(self.banker))
                line = None if number is None else lines[bet][number - 1]
                came = payouts.amounts(line, stake, "down", "half_up")
            one = sums.get(bet, BetSum(bet, 0, 0))
            sums[bet] = BetSum(
                bet,
                one.count + 1,
                one.stakes_minor + stake,
                one.winnings_minor + came.winnings_minor,
                one.commission_minor + came.commission_minor,
                one.returns_minor + came.return_minor,
            )
        return tuple(sums.values())

    def customers(self, bets: int = 6) -> None:
        """Some bets, as people place them."""
        fields = [terms.bet for terms in self.told.pay_table]
        for _ in range(bets):
            [bet] = self.random.choices(fields, weights=[8, 8, 3, *[1] * (len(fields) - 3)])
            self.bet(bet, self.random.choice((5, 10, 20, 25, 50, 100)) * 10**self.told.exponent)

    def round(self) -> None:
        """A whole round, bets and all."""
        self.open_betting()
        self.customers()
        self.at_ms += self.told.betting_window_ms
        self.close_betting()
        while self.deal():
            self.at_ms += 800

    def begin(self) -> None:
        """Up to where the first round can open."""
        self.configure()
        self.open_shoe()
        self.burn()
