import pytest

from services.baccarat.cards import Winner
from services.baccarat.errors import Unusable
from services.replay.csv_rounds import is_csv, read_rounds
from services.replay.judge import Recorded

HEADER = "Coup,Player card 1,Player card 2,Player card 3,Banker card 1,Banker card 2,Banker card 3"
CLAIMS = "Player total,Banker total,Winner,Pair outcome"


def rows(*lines: str, header: str = f"{HEADER},{CLAIMS}") -> tuple[Recorded, ...]:
    return read_rounds("\n".join((header, *lines)) + "\n", "some.csv")


def test_a_row_is_two_hands_and_claims() -> None:
    (row,) = rows('1,"9",K,NA,2,3,,9,5,Player,No pair')
    assert (row.line, row.claim.round_no, row.problems) == (2, 1, ())
    assert [str(card) for card in row.claim.player or ()] == ["9", "K"]
    assert [str(card) for card in row.claim.banker or ()] == ["2", "3"]
    assert (row.claim.player_total, row.claim.banker_total, row.claim.winner) == (9, 5, Winner.PLAYER)
    assert (row.claim.player_pair, row.claim.banker_pair) == (False, False)


def test_a_third_nought_is_a_ten_and_not_none() -> None:
    (row,) = rows("1,2,3,0,2,A,NA,5,3,Player,No pair")
    assert [str(card) for card in row.claim.player or ()] == ["2", "3", "10"]


def test_claims_may_be_left_out() -> None:
    (row,) = rows("1,9,K,NA,2,3,", header=HEADER)
    assert (row.claim.player_total, row.claim.winner, row.claim.player_pair) == (None, None, None)
    assert row.problems == ()


def test_empty_lines_are_no_rounds_and_count_as_lines() -> None:
    first, second = rows("1,9,K,NA,2,3,NA,9,5,Player,No pair", "", ",,,,,,,,,,", "2,9,K,NA,2,3,NA,9,5,Player,No pair")
    assert [(row.claim.round_no, row.line) for row in (first, second)] == [(1, 2), (2, 5)]


@pytest.mark.parametrize(
    ("row", "code", "said"),
    [
        ("1,9,X,NA,2,3,NA,9,5,Player,No pair", "unknown-card", "player card 2"),
        ("1,9,K,NA,2,3,NA,19,5,Player,No pair", "bad-value", "'19'"),
        ("1,9,K,NA,2,3,NA,9,5,House,No pair", "bad-value", "'House'"),
        ("1,9,K,NA,2,3,NA,9,5,Player,Some pair", "bad-value", "pair outcome"),
        ("1,9,NA,5,2,3,NA,9,5,Player,No pair", "not-enough-cards", "player card 2"),
        ("1,9,K,NA,2,3,NA,9,5,Player", "bad-line", "10 cells"),
    ],
)
def test_what_cannot_be_read_is_a_finding_and_the_next_row_is_read(row: str, code: str, said: str) -> None:
    wrong, right = rows(row, "2,9,K,NA,2,3,NA,9,5,Player,No pair")
    (problem,) = wrong.problems
    assert (problem.round_no, problem.line, problem.code) == (1, 2, code)
    assert said in problem.message
    assert right.problems == ()


def test_values_are_told_from_cards_by_the_first_line() -> None:
    (row, wrong) = rows("1,9,0,,2,1,", "2,9,K,,2,1,", header=HEADER.replace("card", "value"))
    assert row.valued
    assert [card.points for card in row.claim.player or ()] == [9, 0]
    assert [card.points for card in row.claim.banker or ()] == [2, 1]
    assert [problem.code for problem in wrong.problems] == ["unknown-card"]


def test_other_files_are_none_of_this() -> None:
    assert is_csv(HEADER + "\n")
    assert not is_csv("puntobanco recording 1 *72b7\n")
    assert not is_csv("")
    with pytest.raises(Unusable, match=r"^some\.csv:1: "):
        read_rounds("a,b\n1,2\n", "some.csv")


def test_what_is_no_csv_is_said_in_one_line() -> None:
    assert not is_csv('"' + "x" * 200_000)
    with pytest.raises(Unusable, match=r"^some\.csv: this is no CSV"):
        rows('1,"' + "9" * 200_000)
