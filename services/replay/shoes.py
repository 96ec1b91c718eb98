"""Recorded shoes: their rounds, and what can be said of a shoe as a whole (burn, end, inventory, commitment).

A round ends where its claim stands; where the record makes no claim, it ends where the rules end it.
"""

from collections.abc import Iterator

from msgspec import Struct

from services.baccarat import shoe
from services.baccarat.cards import Card
from services.card_scanner.recording import Claim, CutCard, End, Fact, Recording, Shoe, Taken
from services.replay.dealing import deal
from services.replay.judge import Finding, Recorded

Placed = tuple[Taken, int]  # a card and its line


class RecordedShoe(Struct, frozen=True):
    """A shoe's facts and the line of each, its number in the file from 1."""

    shoe_no: int
    facts: tuple[Fact, ...]
    lines: tuple[int, ...]

    @property
    def shoe(self) -> Shoe:
        """What the record says of the shoe itself."""
        return next(fact for fact in self.facts if isinstance(fact, Shoe))


def shoes_of(recording: Recording) -> tuple[RecordedShoe, ...]:
    """The shoes in order."""
    starts = [place for place, fact in enumerate(recording.facts) if isinstance(fact, Shoe)]
    ends = [*starts[1:], len(recording.facts)]
    return tuple(
        RecordedShoe(shoe_no, recording.facts[start:end], recording.lines[start:end])
        for shoe_no, (start, end) in enumerate(zip(starts, ends, strict=True), start=1)
    )


def rounds_of(recorded: RecordedShoe) -> tuple[Recorded, ...]:
    """The shoe's rounds; cards that begin none are a round of their own, for somebody to find."""
    rounds: list[Recorded] = []
    waiting: list[Placed] = []
    for fact, line in zip(recorded.facts, recorded.lines, strict=True):
        if isinstance(fact, Taken) and fact.how == "card":
            waiting.append((fact, line))
        elif isinstance(fact, Claim):
            rounds.append(_round(recorded, waiting, fact, line))
            waiting = []
    for cards in _by_the_rules(waiting):
        rounds.append(_round(recorded, cards, Claim(round_no=len(rounds) + 1), cards[0][1]))
    return tuple(rounds)


def _round(recorded: RecordedShoe, cards: list[Placed], claim: Claim, line: int) -> Recorded:
    faces = tuple(taken.card for taken, _ in cards)
    numbers = tuple(taken.card_no for taken, _ in cards)
    first = cards[0][1] if cards else line
    return Recorded(shoe_no=recorded.shoe_no, line=first, claim=claim, cards=faces, card_nos=numbers)


def _by_the_rules(cards: list[Placed]) -> Iterator[list[Placed]]:
    """Cuts the cards where rounds end; after a face that was not read nobody can say where, and all is one round."""
    while cards:
        faces: list[Card] = []
        for taken, _ in cards:
            if taken.card is None:
                yield cards
                return
            faces.append(taken.card)
            if deal(tuple(faces)).awaited is None:
                break
        yield cards[: len(faces)]
        cards = cards[len(faces) :]


# ---- the shoe as a whole


class _Walk:
    """A shoe gone through card by card."""

    def __init__(self, recorded: RecordedShoe) -> None:
        self.recorded = recorded
        self.findings: list[Finding] = []
        self.round_of = {no: one.claim.round_no for one in rounds_of(recorded) for no in one.card_nos}
        self.known: list[Card] = []
        self.burned: list[Card | None] = []
        self.taken = 0
        self.begun: set[int] = set()
        self.rounds_left: int | None = None

    def find(self, code: str, message: str, line: int, round_no: int | None = None) -> None:
        self.findings.append(Finding(self.recorded.shoe_no, round_no, line, code, message))

    def card(self, taken: Taken, line: int) -> None:
        round_no = self.round_of.get(taken.card_no)
        if round_no is not None and round_no not in self.begun:
            self.begins(round_no, line)
        if taken.how == "burn" and not self.begun:
            self.burned.append(taken.card)
        self.taken += 1
        if taken.card is None:
            return
        if shoe.too_many(self.recorded.shoe.decks, tuple(self.known), taken.card):
            text = f"card {taken.card_no} is {taken.card}, and {self.recorded.shoe.decks} decks hold no further one"
            self.find("too-many-of-a-card", text, line, round_no)
        self.known.append(taken.card)

    def begins(self, round_no: int, line: int) -> None:
        """A round takes its first card."""
        if not self.begun:
            self.check_burn(line)
        self.begun.add(round_no)
        stated = self.recorded.shoe
        if self.rounds_left == 0:
            self.find("dealt-after-end", f"the cut card let no round {round_no} begin", line, round_no)
        elif self.rounds_left is not None:
            self.rounds_left -= 1
        left = 52 * stated.decks - self.taken
        if stated.end_rule and stated.cards_behind_cut and shoe.is_low(stated.end_rule, stated.cards_behind_cut, left):
            self.find("dealt-after-end", f"with {left} cards left no round begins", line, round_no)

    def check_burn(self, line: int) -> None:
        """Only where the record states its rule, and the turned card was read."""
        stated, burned = self.recorded.shoe, tuple(self.burned)
        if stated.burn_rule is None:
            return
        if burned and burned[0] is None and shoe.turns_first_card(stated.burn_rule):
            return
        wanted, fixed = 0, stated.burn_fixed or 0
        while wanted <= len(burned) and shoe.burns_left(stated.burn_rule, fixed, stated.decks, burned[:wanted]):
            wanted += 1
        if wanted != len(burned):
            more = shoe.burns_left(stated.burn_rule, fixed, stated.decks, burned)
            count = len(burned) + more if more else wanted
            text = f"{len(burned)} cards are burned, and the rule {stated.burn_rule} burns {count}"
            self.find("wrong-burn", text, line, 1)

    def cut(self, line: int) -> None:
        """The cut card: how many rounds may still begin."""
        rule = self.recorded.shoe.end_rule
        if rule is None:
            return
        running = bool(self.begun) and self.round_of.get(self.taken + 1) in self.begun
        if self.rounds_left is not None:
            self.find("dealt-after-end", "a second cut card", line)
        self.rounds_left = shoe.rounds_left(rule, in_round=running, betting_opened=not running)

    def commitment(self, line: int) -> None:
        """Only where the salt is known and every face of the shoe."""
        stated = self.recorded.shoe
        whole = len(self.known) == self.taken == 52 * stated.decks
        if stated.commitment is None or stated.salt is None or not whole:
            return
        if shoe.commitment(self.known, bytes.fromhex(stated.salt)) != stated.commitment:
            self.find("commitment-mismatch", "the cards and the salt do not give the commitment", line)


def findings_of(recorded: RecordedShoe) -> tuple[Finding, ...]:
    """What is not as the shoe's own statements (decks, burn, end, commitment) have it."""
    walk = _Walk(recorded)
    for fact, line in zip(recorded.facts, recorded.lines, strict=True):
        match fact:
            case Taken():
                walk.card(fact, line)
            case CutCard():
                walk.cut(line)
            case End():
                walk.commitment(recorded.lines[0])
            case _:
                pass
    return tuple(walk.findings)
