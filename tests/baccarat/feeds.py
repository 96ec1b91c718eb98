"""Feeds as words: one word is one record of `table-feed`, one sentence is what rules said of it.

A record is appended a second after the one before it; what stands after a slash or an equals sign is its content.
`FEED_WORDS` is the dictionary.
"""

from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any, Final, TypedDict

from msgspec.structs import replace

from services.baccarat import catalogue, rounds, table
from services.baccarat.cards import Card, parse_card
from services.baccarat.events import (
    BettingClosed,
    BettingOpened,
    BookResumeOrdered,
    CardAssigned,
    CardBurned,
    CardCorrected,
    CardDealt,
    CardRevealed,
    CardSetAside,
    Configuration,
    ConfigurationReceived,
    CutCardDrawn,
    CutCardSeen,
    DealerClosedBetting,
    DealerCorrectedCard,
    DealerEndedShoe,
    DealerOpenedBetting,
    DealerResumed,
    DealerStartedShoe,
    DealerSuspended,
    DealerVoidedRound,
    Debt,
    DeviceReported,
    Event,
    FeedEvent,
    HiddenCardRevealed,
    InputNoted,
    IrregularityFound,
    Policy,
    RoundDecided,
    RoundRevised,
    RoundVoided,
    RulesInForce,
    ShoeClosed,
    ShoeOpened,
    ShoeStarted,
    TableConfigured,
    TableMoved,
    TableResumed,
    TableSuspended,
)

TABLE: Final = "T1"
SECOND_MS: Final = 1_000
READ: Final[dict[Any, Callable[[str], str | int]]] = {str: str, bool: lambda value: value == "1"}


class FromDevice(TypedDict):
    """What every record of a device has."""

    event_id: str
    table_id: str
    device: str
    boot: int
    sequence: int


class ByDealer(TypedDict):
    """What every action of a dealer has."""

    event_id: str
    table_id: str
    action_id: str
    by: str


def configured(words: Iterable[str]) -> Configuration:
    """The small table that most situations play at: `betting=dealer` and the like change it, `variant=ez` the game."""
    changed = changes(words)
    plain = catalogue.configuration(str(changed.get("variant", "classic")))
    return replace(plain, **{"betting": "dealer", "burn_rule": "none", "close_margin_ms": 250, **changed})


def changes(words: Iterable[str]) -> dict[str, Any]:
    """`betting=dealer` and `rounds_kept=3`; 0 and 1 are no and yes; `policies=card-unread:burn`."""
    said = dict(word.split("=", 1) for word in words)
    policies = said.pop("policies", "")
    chosen = {"policies": tuple(Policy(*one.split(":")) for one in policies.split(","))} if policies else {}
    return chosen | {name: READ.get(Configuration.__annotations__[name], int)(value) for name, value in said.items()}


class Feed:
    """A table's feed as it is written, and the rules decider reading it."""

    def __init__(self, settings: Iterable[str] = (), table_id: str = TABLE) -> None:
        self.configuration = configured(settings)
        self.state = table.start(table_id)
        self.table_id = table_id
        self.now_ms = 0
        self.device = "eye"
        self.boot = 1
        self.sequence = 0
        self.actions = 0
        self.last: FeedEvent | None = None
        self.facts: list[Event] = []

    def write(self, word: str) -> tuple[Event, ...]:
        """Appends what a word says; the facts it came to."""
        if word.startswith(("+", "-")):
            self.now_ms += int(word)
            return ()
        if word.startswith("poison"):
            return self.keep(rounds.poisoned(self.state, None, "undecodable", "no event", self.tick()))
        name, _, rest = word.partition("/")
        event = FEED_WORDS[name](self, rest) if name in FEED_WORDS else self.card(word)
        return () if event is None else self.append(event)

    def ask(self, word: str) -> tuple[FeedEvent | None, tuple[Event, ...]]:
        """The record that a word wrote, if it wrote one, and the facts it came to."""
        if word != "again":
            self.last = None
        facts = self.write(word)
        return self.last, facts

    def append(self, event: FeedEvent) -> tuple[Event, ...]:
        self.last = event
        return self.keep(rounds.decide(self.state, event, self.tick()))

    def tick(self) -> int:
        self.now_ms += SECOND_MS
        return self.now_ms

    def keep(self, facts: tuple[Event, ...]) -> tuple[Event, ...]:
        for fact in facts:
            self.state = table.evolve(self.state, fact)
        self.facts += facts
        return facts

    # ---- what words say

    def from_device(self) -> FromDevice:
        self.sequence += 1
        return FromDevice(
            event_id=f"{self.device}/{self.boot}/{self.sequence}",
            table_id=self.table_id,
            device=self.device,
            boot=self.boot,
            sequence=self.sequence,
        )

    def by_dealer(self) -> ByDealer:
        self.actions += 1
        action_id = f"a{self.actions}"
        return ByDealer(event_id=action_id, table_id=self.table_id, action_id=action_id, by="Ada")

    def card(self, word: str) -> CardDealt:
        """`9S`; `??` is hidden; `9S~300` was scanned 300 ms before it was appended."""
        face, _, scanned = word.partition("~")
        scanned_at_ms = self.now_ms + SECOND_MS - int(scanned or 0)
        common = self.from_device()
        return CardDealt(**common, card=seen(face), scanned_at_ms=scanned_at_ms, source="scanner")

    def again(self, _: str) -> FeedEvent | None:
        return self.last

    def otherwise(self, rest: str) -> FeedEvent | None:
        """The last card's record again, with another face or as another kind of record."""
        last = self.last
        assert isinstance(last, CardDealt)
        if rest not in ("cut", "shoe"):
            return replace(last, card=seen(rest))
        self.sequence = last.sequence - 1
        return self.cut(rest) if rest == "cut" else self.shoe("")

    def skip(self, rest: str) -> None:
        self.sequence += int(rest or 1)

    def reboot(self, rest: str) -> None:
        self.boot += 1
        self.sequence = int(rest or 0)

    def change_device(self, rest: str) -> None:
        self.device, self.boot, self.sequence = rest, 1, 0

    def shoe(self, rest: str) -> ShoeStarted:
        decks = int(rest or self.configuration.decks)
        return ShoeStarted(**self.from_device(), decks=decks, commitment="sealed")

    def cut(self, _: str) -> CutCardDrawn:
        return CutCardDrawn(**self.from_device(), scanned_at_ms=self.now_ms)

    def reveal(self, rest: str) -> CardRevealed:
        sequence, _, face = rest.partition("=")
        return CardRevealed(**self.from_device(), revealed_sequence=int(sequence), card=parse_card(face))

    def report(self, rest: str) -> DeviceReported:
        what, _, text = rest.partition("=")
        return DeviceReported(**self.from_device(), what=what, text=text)

    def rules(self, rest: str) -> TableConfigured:
        """`rules/2/betting=automatic`: version 2, this setting changed for good; `variant=` changes what is paid."""
        version, *words = (rest or "1").split("/")
        changed = changes(words)
        if "variant" in changed:
            changed["pay_table"] = catalogue.configuration(changed["variant"]).pay_table
        self.configuration = replace(self.configuration, **changed)
        return TableConfigured(
            event_id=f"configured-{version}",
            table_id=self.table_id,
            version=int(version),
            configuration=self.configuration,
            by="Ada",
        )

    def moved(self, rest: str) -> TableMoved:
        """`moved/42!` brings a debt along."""
        actions = self.by_dealer()
        return TableMoved(
            event_id=actions["event_id"],
            table_id=self.table_id,
            action_id=actions["action_id"],
            next_shoe_no=int(rest.removesuffix("!")),
            version=1,
            configuration=self.configuration,
            debts=(Debt("ann", Fraction(7, 2)),) if rest.endswith("!") else (),
        )

    def opens(self, rest: str) -> DealerOpenedBetting:
        shoe_no, round_no = place(rest)
        return DealerOpenedBetting(**self.by_dealer(), shoe_no=shoe_no, round_no=round_no)

    def closes(self, rest: str) -> DealerClosedBetting:
        shoe_no, round_no = place(rest)
        return DealerClosedBetting(**self.by_dealer(), shoe_no=shoe_no, round_no=round_no)

    def starts(self, rest: str) -> DealerStartedShoe:
        return DealerStartedShoe(**self.by_dealer(), shoe_no=int(rest))

    def ends(self, rest: str) -> DealerEndedShoe:
        return DealerEndedShoe(**self.by_dealer(), shoe_no=int(rest))

    def voids(self, rest: str) -> DealerVoidedRound:
        where, _, second = rest.partition("=")
        shoe_no, round_no = place(where)
        return DealerVoidedRound(
            **self.by_dealer(), second=second or "Eve", shoe_no=shoe_no, round_no=round_no, reason="a fallen card"
        )

    def corrects(self, rest: str) -> DealerCorrectedCard:
        where, face, *second = rest.split("=")
        shoe_no, card_no = place(where)
        return DealerCorrectedCard(
            **self.by_dealer(),
            second=second[0] if second else "Eve",
            shoe_no=shoe_no,
            card_no=card_no,
            card=parse_card(face),
            reason="misread",
        )

    def suspends(self, _: str) -> DealerSuspended:
        return DealerSuspended(**self.by_dealer(), reason="a spilt drink")

    def resumes(self, rest: str) -> DealerResumed:
        """`resume` is the table; `resume/1/5` the book of that round; `resume/book` and `resume/chair` are mistakes."""
        if not rest:
            return DealerResumed(**self.by_dealer(), reason="dry again")
        if rest.isalpha():
            return DealerResumed(**self.by_dealer(), reason="dry again", what=rest)
        shoe_no, round_no = place(rest)
        return DealerResumed(**self.by_dealer(), reason="dry again", what="book", shoe_no=shoe_no, round_no=round_no)


def seen(face: str) -> Card | None:
    return None if face == "??" else parse_card(face)


def place(text: str) -> tuple[int, int]:
    first, second = text.split("/")
    return int(first), int(second)


FEED_WORDS: Final[dict[str, Callable[[Feed, str], FeedEvent | None]]] = {
    "again": Feed.again,
    "otherwise": Feed.otherwise,
    "skip": Feed.skip,
    "reboot": Feed.reboot,
    "device": Feed.change_device,
    "shoe": Feed.shoe,
    "cut": Feed.cut,
    "reveal": Feed.reveal,
    "report": Feed.report,
    "rules": Feed.rules,
    "moved": Feed.moved,
    "open": Feed.opens,
    "close": Feed.closes,
    "start": Feed.starts,
    "end": Feed.ends,
    "void": Feed.voids,
    "correct": Feed.corrects,
    "suspend": Feed.suspends,
    "resume": Feed.resumes,
}

# ---------------------------------------------------------------- facts as sentences


def face(card: Card | None) -> str:
    return "??" if card is None else str(card)


def ruled(fact: RoundDecided | RoundRevised) -> str:
    """`player 9-5`, with what else the outcome says of the round."""
    extras = (", natural" if fact.natural else "") + (", free" if fact.free else "")
    return f"{fact.winner.value} {fact.player_total}-{fact.banker_total}{extras}"


def said_assigned(fact: CardAssigned) -> str:
    totals = "-".join("?" if total is None else str(total) for total in (fact.player_total, fact.banker_total))
    then = f", then {fact.next_hand.value}" if fact.next_hand else ""
    return f"card {fact.card_no} {face(fact.card)} to {fact.hand.value} {fact.place}: {totals}{then}"


def said_corrected(fact: CardCorrected) -> str:
    where = "no round" if fact.round_no is None else f"round {fact.round_no}"
    return f"card {fact.card_no} of {where} corrected from {face(fact.before)} to {fact.after}"


def said_found(fact: IrregularityFound) -> str:
    about = "".join(
        f" {name} {number}" for name, number in (("round", fact.round_no), ("card", fact.card_no)) if number is not None
    )
    return f"found {fact.code}{about} ({fact.policy})"


def said_revealed(fact: HiddenCardRevealed) -> str:
    where = "no round" if fact.round_no is None else f"round {fact.round_no}"
    return f"card {fact.card_no} of {where} is {fact.card}"


SAID: Final[dict[type, Callable[..., str]]] = {
    ConfigurationReceived: lambda fact: f"received {fact.version}",
    RulesInForce: lambda fact: f"in force {fact.version}",
    ShoeOpened: lambda fact: f"shoe {fact.shoe_no} opened, {fact.decks} decks",
    ShoeClosed: lambda fact: f"shoe {fact.shoe_no} closed, {fact.reason}: {fact.rounds} rounds, {fact.cards} cards",
    CardBurned: lambda fact: f"card {fact.card_no} {face(fact.card)} burned, {fact.left} left",
    BettingOpened: lambda fact: (
        f"round {fact.round_no} opened under {fact.version} until {fact.closes_at_ms}, {fact.cards_dealt} cards dealt"
    ),
    BettingClosed: lambda fact: f"round {fact.round_no} closed at {fact.closed_at_ms}, {fact.cause}",
    CardAssigned: said_assigned,
    CardCorrected: said_corrected,
    HiddenCardRevealed: said_revealed,
    CardSetAside: lambda fact: f"card {fact.card_no or '-'} {face(fact.card)} set aside, {fact.reason}",
    CutCardSeen: lambda fact: f"cut card before card {fact.card_no}, rounds left {fact.rounds_left}",
    RoundDecided: lambda fact: f"round {fact.round_no} decided, {ruled(fact)}",
    RoundRevised: lambda fact: f"round {fact.round_no} revised {fact.revision}, {ruled(fact)}",
    RoundVoided: lambda fact: f"round {fact.round_no} voided {fact.revision}, {fact.reason}",
    IrregularityFound: said_found,
    TableSuspended: lambda fact: f"suspended, {fact.cause}",
    TableResumed: lambda _: "resumed",
    BookResumeOrdered: lambda fact: f"book {fact.shoe_no}/{fact.round_no} to resume",
    InputNoted: lambda fact: f"noted {fact.what} {fact.number}",
}


def said(facts: Iterable[Event]) -> list[str]:
    return [SAID[type(fact)](fact) for fact in facts]


def run(words: str, settings: str = "") -> Feed:
    """A table with these settings after these records."""
    feed = Feed(settings.split())
    for word in words.split():
        feed.write(word)
    return feed


def play(settings: str, given: str, when: str) -> list[str]:
    """What rules say of the records `when`, after the records `given`, at a table with these settings."""
    feed = run(given, settings)
    return [sentence for word in when.split() for sentence in said(feed.write(word))]
