"""Public recordings as CSV: rows are claims, `0` is a ten and `NA` is no card."""

from collections import Counter
from pathlib import Path

import pytest

from services.baccarat.cards import Winner, parse_card
from services.baccarat.errors import Unusable
from services.card_scanner import recorded_csv, recording
from services.card_scanner.recording import Claim, Shoe, Taken

HEADER = (
    '"Coup","Player card 1","Player card 2","Player card 3","Banker card 1","Banker card 2","Banker card 3",'
    '"Player total","Banker total","Winner","Pair outcome"\n'
)
ROWS = '1,"9","K",NA,"9","0",NA,"9","9","Tie","No pair"\n2,2H,2D,0,3S,8C,,4,1,player,Player pair\n'


def hand(text: str) -> tuple[object, ...]:
    return tuple(parse_card(card) for card in text.split())


def test_rows_are_claims_with_the_lines_they_stand_on() -> None:
    first, second = recorded_csv.parse(HEADER + "\n" + ROWS)
    assert (first.line, second.line) == (3, 4)
    assert (first.claim.player, first.claim.banker) == (hand("9 K"), hand("9 10"))
    assert second.claim == Claim(
        round_no=2,
        player=(parse_card("2H"), parse_card("2D"), parse_card("10")),
        banker=(parse_card("3S"), parse_card("8C")),
        player_total=4,
        banker_total=1,
        winner=Winner.PLAYER,
        player_pair=True,
        banker_pair=False,
    )


def test_rows_one_after_another_are_a_shoe_in_deal_order() -> None:
    recorded = recorded_csv.as_recording(recorded_csv.parse(HEADER + ROWS), decks=12)
    assert recorded.facts[0] == Shoe(decks=12, burn_rule="none")
    dealt = [fact for fact in recorded.facts if isinstance(fact, Taken)]
    assert [str(fact.card) for fact in dealt] == ["9", "9", "K", "10", "2H", "3S", "2D", "8C", "10"]
    assert [fact.card_no for fact in dealt] == list(range(1, 10))
    assert len(recorded.lines) == len(recorded.facts)
    assert recording.parse(recording.format_text(recorded)).facts == recorded.facts


def test_no_rows_are_a_shoe_without_cards() -> None:
    empty = recorded_csv.as_recording(recorded_csv.parse(HEADER))
    assert recording.parse(recording.format_text(empty)).facts == empty.facts


@pytest.mark.parametrize(
    ("before", "after", "code", "what"),
    [
        ('"9","K"', '"1","K"', "unknown-card", "a.csv:2: column 'player card 1': '1' is no card"),
        ('"9","K"', 'NA,"K"', "unknown-card", "a.csv:2: column 'player card 1': 'NA' is no card"),
        ("Tie", "Draw", "bad-value", "a.csv:2: column 'winner': 'Draw' is none of player, banker, tie"),
        ("4,1,player", "14,1,player", "bad-value", "a.csv:3: column 'player total': '14' is none of 0, 1"),
        ("Player pair\n", "some\n", "bad-value", "a.csv:3: column 'pair outcome'"),
        (",4,1,player", ",4,player", "bad-line", "a.csv:3: 10 cells, where the first line names 11 columns"),
        ('"Winner"', '"Outcome"', "no-columns", "a.csv:1: no column is called winner"),
    ],
)
def test_what_is_wrong_says_where(before: str, after: str, code: str, what: str) -> None:
    assert before in HEADER + ROWS
    with pytest.raises(Unusable) as caught:
        recorded_csv.parse((HEADER + ROWS).replace(before, after), "a.csv")
    assert caught.value.code == code
    assert str(caught.value).startswith(what)


def test_the_format_is_known_by_its_header(tmp_path: Path) -> None:
    assert recorded_csv.is_recorded_csv(HEADER)
    assert not recorded_csv.is_recorded_csv("")
    assert not recorded_csv.is_recorded_csv("puntobanco recording 1 *72b7\n")
    path = tmp_path / "a.csv"
    path.write_text(HEADER + ROWS, encoding="utf-8")
    assert recorded_csv.read(path) == recorded_csv.parse(HEADER + ROWS)


def test_the_public_sample(shared: Path) -> None:
    rounds = recorded_csv.read(shared / "recordings" / "xsgu_single.csv")
    assert len(rounds) == 100
    assert rounds[-1].line == 101
    assert Counter(recorded.claim.winner for recorded in rounds) == {"player": 48, "banker": 41, "tie": 11}
    cards = [fact for fact in recorded_csv.as_recording(rounds).facts if isinstance(fact, Taken)]
    assert len(cards) == sum(
        len((*r.claim.player, *r.claim.banker)) for r in rounds if r.claim.player and r.claim.banker
    )
