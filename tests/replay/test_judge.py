"""Each way in which public recordings are wrong, and the code it gets."""

import pytest

from services.baccarat.cards import Card, Winner, parse_card
from services.card_scanner.recording import Claim
from services.replay.judge import CODES, Finding, Judged, Recorded, judge


def hand(text: str) -> tuple[Card, ...]:
    return tuple(parse_card(word) for word in text.split())


def recorded(player: str, banker: str, said: str = "", *, pairs: str | None = None, valued: bool = False) -> Recorded:
    """A row: `said` is totals and winner such as `8-7 player`, `pairs` such as `P`, `B`, `PB` or empty for none."""
    totals, _, winner = said.partition(" ")
    player_total, _, banker_total = totals.partition("-")
    claim = Claim(
        round_no=4,
        player=hand(player),
        banker=hand(banker),
        player_total=int(player_total) if player_total else None,
        banker_total=int(banker_total) if banker_total else None,
        winner=Winner(winner) if winner else None,
        player_pair=None if pairs is None else "P" in pairs,
        banker_pair=None if pairs is None else "B" in pairs,
    )
    return Recorded(shoe_no=1, line=5, claim=claim, valued=valued)


def codes(judged: Judged) -> list[str]:
    return [finding.code for finding in judged.findings]


@pytest.mark.parametrize(
    ("player", "banker", "said"),
    [
        ("9 K", "2 3", "9-5 player"),
        ("2 3 8", "2 A", "3-3 tie"),
        ("K 10 5", "Q J 2", "5-2 player"),
        ("2 4", "3 A 5", "6-9 banker"),
    ],
)
def test_a_legal_round_has_no_finding(player: str, banker: str, said: str) -> None:
    judged = judge(recorded(player, banker, said), None)
    assert judged.findings == ()
    assert judged.dealt is not None
    assert (judged.dealt.player, judged.dealt.banker) == (hand(player), hand(banker))


@pytest.mark.parametrize(
    ("player", "banker", "said", "found"),
    [
        ("9 K 4", "2 3", "3-5 banker", ["illegal-draw", "outcome-mismatch"]),  # a draw on a natural, and paid so
        ("9 K 4", "2 3", "9-5 player", ["illegal-draw"]),
        ("2 4 5", "3 A 5", "1-9 banker", ["illegal-draw"]),  # the Player drew on 6
        ("2 3 8", "2 A 4", "3-7 banker", ["illegal-draw", "outcome-mismatch"]),  # the Banker drew against an 8
        ("7 K 2", "K Q", "9-0 player", ["illegal-draw"]),  # and the Banker had to draw: the first mistake is told
        ("2 3", "2 A", "5-3 player", ["not-enough-cards"]),  # the Player's third card is missing
        ("2 3", "2 A 4", "5-7 banker", ["not-enough-cards"]),
        ("2 3 7", "2 A", "2-3 banker", ["not-enough-cards"]),  # the Banker's is
        ("2", "2 A", "", ["not-enough-cards"]),
        ("", "", "", ["not-enough-cards"]),
        ("9 K", "2 3", "8-5 player", ["total-mismatch"]),
        ("9 K", "2 3", "8-6 player", ["total-mismatch"]),
        ("9 K", "2 3", "9-5 banker", ["outcome-mismatch"]),
        ("2 3 8", "2 A", "3-3 banker", ["outcome-mismatch"]),  # a tie that lost the bets
    ],
)
def test_each_mistake_has_its_code(player: str, banker: str, said: str, found: list[str]) -> None:
    assert codes(judge(recorded(player, banker, said), None)) == found


def test_rounds_that_the_rules_cannot_deal_have_no_outcome() -> None:
    assert judge(recorded("9 K 4", "2 3"), None).dealt is None
    assert judge(recorded("2 3", "2 A"), None).dealt is None


def test_a_third_card_left_from_the_round_before_is_stale() -> None:
    before = recorded("2 3 8", "2 A")
    judged = judge(recorded("9 K 8", "2 3", "9-5 player"), before)
    assert codes(judged) == ["stale-card"]
    assert judged.dealt is not None, "the card took no part"
    assert judged.dealt.player == hand("9 K")


def test_both_hands_may_have_stale_cards() -> None:
    before = recorded("K 10 5", "Q J 2")
    assert codes(judge(recorded("9 K 5", "2 3 2", "9-5 player"), before)) == ["stale-card", "stale-card"]


def test_a_card_that_a_total_counts_is_drawn_and_not_stale() -> None:
    before = recorded("2 3 8", "2 A")
    assert codes(judge(recorded("9 K 8", "2 3", "7-5 player"), before)) == ["illegal-draw"]


def test_a_stale_card_does_not_hide_a_missing_one() -> None:
    before = recorded("2 3 8", "2 A")
    assert codes(judge(recorded("7 K 8", "2 A", "7-3 player"), before)) == ["stale-card", "not-enough-cards"]


@pytest.mark.parametrize(
    ("player", "banker", "pairs", "found"),
    [
        ("9 9", "2 5", "P", []),
        ("9 9", "2 5", "", ["pair-mismatch"]),
        ("9 K", "2 5", "B", ["pair-mismatch"]),
        ("J Q", "4 4", "B", []),
        ("J Q", "4 4", "PB", ["pair-mismatch"]),
    ],
)
def test_pairs_are_of_rank(player: str, banker: str, pairs: str, found: list[str]) -> None:
    assert codes(judge(recorded(player, banker, pairs=pairs), None)) == found


def test_pairs_of_tens_cannot_be_judged_from_values() -> None:
    judged = judge(recorded("10 10 3", "5 5 7", pairs="", valued=True), None)
    assert (judged.player_pair, judged.banker_pair) == (None, True)
    assert codes(judged) == ["pair-mismatch"]
    assert "Banker is recorded without a pair" in judged.findings[0].message


def test_a_finding_says_where_and_what() -> None:
    judged = judge(recorded("9 K 4", "2 3"), None)
    assert judged.findings == (
        Finding(1, 4, 5, "illegal-draw", "the Player drew 4: against a natural nobody draws (Player 9 K, Banker 2 3)"),
    )


def in_order(cards: str, claim: Claim | None = None) -> Recorded:
    faces = tuple(None if word == "--" else parse_card(word) for word in cards.split())
    return Recorded(shoe_no=1, line=5, claim=claim or Claim(round_no=1), cards=faces)


@pytest.mark.parametrize(
    ("cards", "found"),
    [
        ("9 2 K 3", []),
        ("9 2 K 3 5", ["illegal-draw"]),
        ("2 2 3 A", ["not-enough-cards"]),
        ("2 2 -- A", ["unread-card"]),
    ],
)
def test_cards_in_the_order_from_the_shoe(cards: str, found: list[str]) -> None:
    assert codes(judge(in_order(cards), None)) == found


def test_a_claimed_hand_is_compared_with_the_dealt_one() -> None:
    claim = Claim(round_no=1, player=hand("9 Q"), banker=hand("2 3"), banker_total=4)
    assert codes(judge(in_order("9 2 K 3", claim), None)) == ["hand-mismatch", "total-mismatch"]


def test_what_could_not_be_read_of_the_cards_ends_the_judgement() -> None:
    problem = Finding(1, 4, 5, "unknown-card", "no card")
    judged = judge(Recorded(shoe_no=1, line=5, claim=Claim(round_no=4), problems=(problem,)), None)
    assert judged.findings == (problem,)
    assert judged.dealt is None


def test_a_total_that_is_none_leaves_the_cards_to_be_judged() -> None:
    problem = Finding(1, 4, 5, "bad-value", "no total")
    row = recorded("9 K", "2 3", "9-5 banker")
    judged = judge(Recorded(shoe_no=1, line=5, claim=row.claim, problems=(problem,)), None)
    assert codes(judged) == ["bad-value", "outcome-mismatch"]
    assert judged.dealt is not None


def test_codes_are_lower_case_with_hyphens() -> None:
    assert all(code.replace("-", "").isalpha() and code.islower() for code in CODES)
