"""One recorded round against the rules: the cards are dealt again, and what the record claims is compared.

Nothing is repaired. A third card in a record is a claim like its totals: the rules say whether the hand had one.
"""

from collections.abc import Callable, Mapping
from typing import Final

from msgspec import Struct

from services.baccarat.cards import Card, Hand, total
from services.card_scanner.recording import Claim
from services.replay.dealing import Dealt, deal, give

CODES: Final[Mapping[str, str]] = {
    "illegal-draw": "a card was drawn that the rules give to neither hand, or not to this one",
    "stale-card": "a third card left from the round before: the hand did not draw it, and no total counts it",
    "not-enough-cards": "the rules ask for a card that the record does not have",
    "unknown-card": "a cell that names no card",
    "unread-card": "a face that was not read, so that nobody can say who draws",
    "bad-value": "a total, a winner or a pair that is none",
    "bad-line": "a row with more or fewer cells than the first line names",
    "hand-mismatch": "a hand as claimed is not the hand as dealt",
    "total-mismatch": "a recorded total is not the total of the cards",
    "outcome-mismatch": "the recorded winner is not the winner by the rules",
    "pair-mismatch": "a recorded pair is none, or a pair is not recorded",
    "too-many-of-a-card": "more of a card than so many decks hold",
    "wrong-burn": "more or fewer cards burned at the start of the shoe than its rule says",
    "dealt-after-end": "a round that began after the last one its shoe allows",
    "commitment-mismatch": "the order of the cards is not the one that was committed to",
}


class Finding(Struct, frozen=True):
    """Something that is not as it should be; `round_no` is None where no round is meant, lines count from 1."""

    shoe_no: int
    round_no: int | None
    line: int
    code: str
    message: str


class Recorded(Struct, frozen=True, kw_only=True):
    """A round as its record has it.

    `claim` has the hands where the record names them, `cards` the order from the shoe where it has that (None: a face
    not read), `card_nos` their numbers in the shoe. `valued` says that only points were written down: a ten is then
    any of four ranks. `problems` are what could not be read.
    """

    shoe_no: int
    line: int
    claim: Claim
    cards: tuple[Card | None, ...] | None = None
    card_nos: tuple[int, ...] = ()
    valued: bool = False
    problems: tuple[Finding, ...] = ()


class Judged(Struct, frozen=True, kw_only=True):
    """`dealt` is None where the cards make no round by the rules: it is in no count of outcomes and pays nothing.

    A pair is None where it cannot be known.
    """

    recorded: Recorded
    dealt: Dealt | None
    player_pair: bool | None = None
    banker_pair: bool | None = None
    findings: tuple[Finding, ...] = ()


def judge(recorded: Recorded, before: Recorded | None) -> Judged:
    """`before` is the record of the round before, whose third cards may have stayed in the record."""
    if any(problem.code != "bad-value" for problem in recorded.problems):
        return Judged(recorded=recorded, dealt=None, findings=recorded.problems)
    dealt, drawn = _by_hands(recorded, before) if recorded.cards is None else _by_order(recorded.cards)
    if dealt is None or dealt.awaited is not None:
        return Judged(recorded=recorded, dealt=None, findings=_findings(recorded, drawn))
    player_pair, banker_pair = (_pair(hand, valued=recorded.valued) for hand in (dealt.player, dealt.banker))
    whole = Judged(recorded=recorded, dealt=dealt, player_pair=player_pair, banker_pair=banker_pair)
    said = (*drawn, *(found for compare in COMPARISONS if (found := compare(whole)) is not None))
    false_draw = any(code == "illegal-draw" for code, _ in drawn)
    return Judged(
        recorded=recorded,
        dealt=None if false_draw else dealt,
        player_pair=None if false_draw else player_pair,
        banker_pair=None if false_draw else banker_pair,
        findings=_findings(recorded, said),
    )


Said = tuple[str, str]  # a code and its message


def _findings(recorded: Recorded, said: tuple[Said, ...]) -> tuple[Finding, ...]:
    """What could not be read of the record, and then what the judgement says of it."""
    place = (recorded.shoe_no, recorded.claim.round_no, recorded.line)
    return (*recorded.problems, *(Finding(*place, code, message) for code, message in said))


# ---- the cards


def _by_order(cards: tuple[Card | None, ...]) -> tuple[Dealt | None, tuple[Said, ...]]:
    """The round dealt from the order in which the cards left the shoe."""
    known = tuple(card for card in cards if card is not None)
    if len(known) != len(cards):
        place = cards.index(None) + 1
        return None, (("unread-card", f"card {place} of the round was not read: the round cannot be judged"),)
    dealt = deal(known)
    if (hand := dealt.awaited) is not None:
        return dealt, (_missing(dealt, hand),)
    if dealt.rest:
        return dealt, (("illegal-draw", f"{_written(dealt.rest)} drawn after the round was over: {_score(dealt)}"),)
    return dealt, ()


def _by_hands(recorded: Recorded, before: Recorded | None) -> tuple[Dealt, tuple[Said, ...]]:
    """The round dealt from the hands as claimed: each card that the rules call for is taken from its hand."""
    claimed = _hands(recorded)
    dealt = Dealt()
    while (hand := dealt.awaited) is not None and len(dealt.hand(hand)) < len(claimed[hand]):
        dealt = give(dealt, hand, claimed[hand][len(dealt.hand(hand))])
    said: tuple[Said, ...] = ()
    for owner in _stood(dealt, hand):
        for card in claimed[owner][len(dealt.hand(owner)) :]:
            if not _is_stale(recorded, before, owner, card, dealt):
                return dealt, (*said, ("illegal-draw", _drew_falsely(dealt, owner, card)))
            said = (*said, ("stale-card", f"the {_name(owner)}'s {card} stands there from the round before"))
    if hand is not None:
        said = (*said, _missing(dealt, hand))
    return dealt, said


def _stood(dealt: Dealt, awaited: Hand | None) -> tuple[Hand, ...]:
    """The hands that may take no further card: while the Player's is awaited, nothing is known of the Banker's."""
    if len(dealt.player) < 2 or len(dealt.banker) < 2 or awaited is Hand.PLAYER:
        return ()
    return (Hand.PLAYER,) if awaited is Hand.BANKER else (Hand.PLAYER, Hand.BANKER)


def _is_stale(recorded: Recorded, before: Recorded | None, owner: Hand, card: Card, dealt: Dealt) -> bool:
    """Whether the card is the one that the same hand's third column had before, and no recorded total counts it."""
    if before is None or _hands(before)[owner][2:] != (card,) or len(dealt.hand(owner)) != 2:
        return False
    claimed = recorded.claim.player_total if owner is Hand.PLAYER else recorded.claim.banker_total
    return claimed is None or claimed == total(dealt.hand(owner))


def _hands(recorded: Recorded) -> Mapping[Hand, tuple[Card, ...]]:
    return {Hand.PLAYER: recorded.claim.player or (), Hand.BANKER: recorded.claim.banker or ()}


def _missing(dealt: Dealt, hand: Hand) -> Said:
    have = len(dealt.hand(hand))
    which = ("first", "second", "third")[have]
    return "not-enough-cards", f"the {_name(hand)}'s {which} card is missing: {_so_far(dealt)}"


def _drew_falsely(dealt: Dealt, owner: Hand, card: Card) -> str:
    has_to_stand = f"it has {total(dealt.hand(owner))} and has to stand"
    why = "against a natural nobody draws" if dealt.natural else has_to_stand
    return f"the {_name(owner)} drew {card}: {why} ({_so_far(dealt)})"


# ---- the claims


def _hand_mismatch(judged: Judged) -> Said | None:
    """Only where the order from the shoe is known too: else the claimed hands are all there is."""
    recorded, dealt = judged.recorded, _whole(judged)
    if recorded.cards is None:
        return None
    wrong = [
        f"the {_name(hand)} is recorded with {_written(claimed)} and was dealt {_written(dealt.hand(hand))}"
        for hand, claimed in ((Hand.PLAYER, recorded.claim.player), (Hand.BANKER, recorded.claim.banker))
        if claimed is not None and claimed != dealt.hand(hand)
    ]
    return ("hand-mismatch", "; ".join(wrong)) if wrong else None


def _total_mismatch(judged: Judged) -> Said | None:
    """A hand with a false third card may claim its total with that card: one finding for one mistake is enough."""
    recorded, dealt = judged.recorded, _whole(judged)
    claims = ((Hand.PLAYER, recorded.claim.player_total), (Hand.BANKER, recorded.claim.banker_total))
    wrong = [
        f"the {_name(hand)}'s total is recorded as {claimed} and is {total(dealt.hand(hand))}"
        for hand, claimed in claims
        if claimed is not None
        and claimed != total(dealt.hand(hand))
        and (recorded.cards is not None or claimed != total(_hands(recorded)[hand]))
    ]
    return ("total-mismatch", "; ".join(wrong)) if wrong else None


def _outcome_mismatch(judged: Judged) -> Said | None:
    claimed, dealt = judged.recorded.claim.winner, _whole(judged)
    if claimed is None or claimed is dealt.winner:
        return None
    return "outcome-mismatch", f"the winner is recorded as {claimed} and is {dealt.winner}: {_score(dealt)}"


def _pair_mismatch(judged: Judged) -> Said | None:
    """What cannot be known is not compared."""
    claim = judged.recorded.claim
    wrong = [
        f"the {_name(hand)} is recorded {'with' if claimed else 'without'} a pair and has {_written(cards[:2])}"
        for hand, claimed, pair, cards in (
            (Hand.PLAYER, claim.player_pair, judged.player_pair, _whole(judged).player),
            (Hand.BANKER, claim.banker_pair, judged.banker_pair, _whole(judged).banker),
        )
        if claimed is not None and pair is not None and claimed != pair
    ]
    return ("pair-mismatch", "; ".join(wrong)) if wrong else None


COMPARISONS: Final[tuple[Callable[[Judged], Said | None], ...]] = (
    _hand_mismatch,
    _total_mismatch,
    _outcome_mismatch,
    _pair_mismatch,
)


def _whole(judged: Judged) -> Dealt:
    """The hands of a round that was dealt to its end."""
    return judged.dealt or Dealt()


def _pair(hand: tuple[Card, ...], *, valued: bool) -> bool | None:
    """None where only points are known and both are 0: a ten and a jack are no pair."""
    if valued and hand[0].points == 0 and hand[1].points == 0:
        return None
    return hand[0].rank == hand[1].rank


# ---- words


def _name(hand: Hand) -> str:
    return "Player" if hand is Hand.PLAYER else "Banker"


def _written(cards: tuple[Card, ...]) -> str:
    return " ".join(str(card) for card in cards) or "no card"


def _so_far(dealt: Dealt) -> str:
    return f"Player {_written(dealt.player)}, Banker {_written(dealt.banker)}"


def _score(dealt: Dealt) -> str:
    return f"Player {dealt.player_total}, Banker {dealt.banker_total}"
