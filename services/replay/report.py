"""A recording read and judged: the report that `punto replay` prints."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from services.baccarat import catalogue, payouts
from services.baccarat.cards import Card, Winner
from services.baccarat.errors import BadSettings, InvariantBroken, Unusable
from services.baccarat.events import Line
from services.baccarat.features import FEATURES, TOTALS
from services.baccarat.shoe import check_decks, too_many
from services.card_scanner import recording
from services.replay import csv_rounds, shoes
from services.replay.judge import Finding, Judged, Recorded, judge

DEFAULT_VARIANT: Final = "classic"


class Source(Struct, frozen=True):
    """A recording as it was read.

    `whole_shoes` says that the bounds of the shoes are known; `findings` are about shoes, not about a round's cards.
    """

    rounds: tuple[Recorded, ...]
    findings: tuple[Finding, ...]
    variant: str | None
    whole_shoes: bool


class Report(Struct, frozen=True, kw_only=True):
    """What a recording comes to.

    `legal` rounds are those without a finding; `left_out` could not be dealt by the rules and are in none of the
    counts below. A count of pairs is None where some cannot be known. `settled` is the sum of returns, stakes included,
    of one unit staked on the bet in every round; None where that depends on what cannot be known.
    """

    variant: str
    rounds: int
    legal: int
    left_out: int
    findings: tuple[Finding, ...]
    inventory: str
    winners: Mapping[Winner, int]
    player_pairs: int | None
    banker_pairs: int | None
    settled: Mapping[str, Fraction | None]


def read(path: Path, decks: int | None = None) -> Source:
    """A recording of either format; `decks` says that a CSV is one shoe of so many. Raises BadSettings and Unusable."""
    text = recording.read_text(path)
    if csv_rounds.is_csv(text):
        rounds = csv_rounds.read_rounds(text, str(path))
        return Source(rounds, () if decks is None else _inventory(rounds, decks), None, decks is not None)
    if not recording.is_recording(text):
        wanted = f"'{recording.VERSION_LINE}' or the columns of a CSV ({csv_rounds.EXAMPLE})"
        raise Unusable("unknown-format", f"{path}:1: this is no recording; its first line must be {wanted}")
    if decks is not None:
        raise BadSettings(f"{path}: a recording states its decks itself; leave --decks out")
    found = shoes.shoes_of(recording.parse(text, str(path)))
    variants = {one.shoe.variant for one in found}
    return Source(
        rounds=tuple(one for shoe in found for one in shoes.rounds_of(shoe)),
        findings=tuple(finding for shoe in found for finding in shoes.findings_of(shoe)),
        variant=variants.pop() if len(variants) == 1 else None,
        whole_shoes=True,
    )


def report(
    source: Source, variant: str | None, tracked: Callable[[Iterable[Recorded], int], Iterable[Recorded]]
) -> Report:
    """Judges every round and prices a unit on each bet of the variant: the recording's own if None is given."""
    chosen = catalogue.variant_of(variant or source.variant or DEFAULT_VARIANT)
    judged = tuple(_judged(tracked(source.rounds, len(source.rounds))))
    findings = sorted((*source.findings, *(finding for one in judged for finding in one.findings)), key=_place)
    wrong = {(finding.shoe_no, finding.round_no) for finding in findings}
    outcomes = tuple(one for one in judged if one.dealt is not None)
    return Report(
        variant=chosen.slug,
        rounds=len(judged),
        legal=sum((one.recorded.shoe_no, one.recorded.claim.round_no) not in wrong for one in judged),
        left_out=len(judged) - len(outcomes),
        findings=tuple(findings),
        inventory="checked" if source.whole_shoes else "unknown",
        winners={winner: sum(one.dealt.winner is winner for one in outcomes if one.dealt) for winner in Winner},
        player_pairs=_count(one.player_pair for one in outcomes),
        banker_pairs=_count(one.banker_pair for one in outcomes),
        settled={bet: returned(lines, outcomes) for bet, lines in chosen.bets.items()},
    )


def returned(lines: tuple[Line, ...], outcomes: Iterable[Judged]) -> Fraction | None:
    """What one unit on a bet in each round returned in all, exactly; None where what decides it was not recorded."""
    in_all = Fraction(0)
    for one in outcomes:
        if one.dealt is None or not _is_known(one, lines):
            return None
        try:
            in_all += _return(lines, payouts.line_of(lines, one.dealt.player, one.dealt.banker))
        except InvariantBroken:  # a bet on suits or colours, and only ranks were recorded
            return None
    return in_all


def _is_known(one: Judged, lines: tuple[Line, ...]) -> bool:
    """Whether the cards tell what the lines ask: where only points were written down, a ten is any of four ranks."""
    if not one.recorded.valued:
        return True
    pairs = {"player_pair": one.player_pair, "banker_pair": one.banker_pair}
    asked = {condition.fact for line in lines for condition in line.when}
    beyond_points = {fact for fact in asked if set(FEATURES[fact].needs) - {TOTALS}}
    return all(pairs.get(fact) is not None for fact in beyond_points)


def _return(lines: tuple[Line, ...], number: int | None) -> Fraction:
    """Of one unit; the commission is on the winnings (P2)."""
    if number is None:
        return Fraction(0)
    line = lines[number - 1]
    return Fraction(1) if line.odds is None else 1 + line.odds * (1 - line.commission)


def as_object(found: Report) -> dict[str, Any]:
    """The report as JSON writes it: amounts are exact decimals as text, fractions where no decimal is exact."""
    return {
        "variant": found.variant,
        "rounds": found.rounds,
        "legal": found.legal,
        "left_out": found.left_out,
        "findings": [
            {
                "shoe": finding.shoe_no,
                "round": finding.round_no,
                "line": finding.line,
                "code": finding.code,
                "message": finding.message,
            }
            for finding in found.findings
        ],
        "inventory": found.inventory,
        "winners": {winner.value: count for winner, count in found.winners.items()},
        "player_pairs": found.player_pairs,
        "banker_pairs": found.banker_pairs,
        "settled": {bet: None if amount is None else exact(amount) for bet, amount in found.settled.items()},
    }


def exact(amount: Fraction) -> str:
    """The amount as a decimal if one is exact, else as a fraction.

    >>> exact(Fraction(9865, 100)), exact(Fraction(104)), exact(Fraction(1, 3))
    ('98.65', '104', '1/3')
    """
    rest = amount.denominator
    places = 0
    while rest % 10 == 0 or rest % 5 == 0 or rest % 2 == 0:
        rest //= 10 if rest % 10 == 0 else 5 if rest % 5 == 0 else 2
        places += 1
    if rest != 1:
        return f"{amount.numerator}/{amount.denominator}"
    digits = f"{amount.numerator * 10**places // amount.denominator:0{places + 1}d}"
    return f"{digits[:-places]}.{digits[-places:]}" if places else digits


def _judged(rounds: Iterable[Recorded]) -> Iterator[Judged]:
    before: Recorded | None = None
    for one in rounds:
        yield judge(one, before)
        before = one


def _place(finding: Finding) -> tuple[int, int]:
    return finding.line, finding.round_no or 0


def _count(pairs: Iterable[bool | None]) -> int | None:
    known = tuple(pairs)
    return None if None in known else sum(pair is True for pair in known)


def _inventory(rounds: Iterable[Recorded], decks: int) -> tuple[Finding, ...]:
    """The cards that so many decks cannot hold, all rounds being of one shoe."""
    check_decks(decks)
    findings: list[Finding] = []
    seen: list[Card] = []
    for one in rounds:
        for card in (*(one.claim.player or ()), *(one.claim.banker or ())):
            if not one.valued and too_many(decks, tuple(seen), card):
                text = f"{card} is one more than {decks} decks hold"
                findings.append(Finding(one.shoe_no, one.claim.round_no, one.line, "too-many-of-a-card", text))
            seen.append(card)
    return tuple(findings)
