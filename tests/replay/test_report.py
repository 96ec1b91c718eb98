"""Reports against a tally of their own: what `xsgu_single.csv` says, and what a unit on each bet comes to."""

import csv
from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from services.baccarat.cards import Winner
from services.baccarat.errors import BadSettings, Unusable
from services.baccarat.events import Condition, Line
from services.card_scanner.recording import End, Recording, Shoe, format_text
from services.replay.judge import Recorded, judge
from services.replay.report import as_object, exact, read, report, returned

HEADER = "Player card 1,Player card 2,Player card 3,Banker card 1,Banker card 2,Banker card 3"


def plainly(rounds: Iterable[Recorded], _total: int) -> Iterable[Recorded]:
    return rounds


def told(path: Path, variant: str | None = None, decks: int | None = None) -> dict[str, Any]:
    return as_object(report(read(path, decks), variant, plainly))


def tally(path: Path, variant: str) -> dict[str, Fraction]:
    """What each bet returns by the file's own words and the rulebook's, with no help from the project's pay tables."""
    sums = dict.fromkeys(("player", "banker", "tie", "player_pair", "banker_pair"), Fraction(0))
    with path.open(newline="") as lines:
        for row in csv.DictReader(lines):
            winner, total = row["Winner"], row["Banker total"]
            cards = 2 if row["Banker card 3"] == "NA" else 3
            banker = {
                "super-6": Fraction(3, 2) if total == "6" else Fraction(2),
                "ez": Fraction(1) if (total, cards) == ("7", 3) else Fraction(2),
            }.get(variant, Fraction(39, 20))
            sums["player"] += {"Player": 2, "Tie": 1}.get(winner, 0)
            sums["banker"] += {"Banker": banker, "Tie": Fraction(1)}.get(winner, Fraction(0))
            sums["tie"] += (10 if variant == "classic-tie-9" else 9) * (winner == "Tie")
            for hand in ("player", "banker"):
                pair = row[f"{hand.title()} card 1"] == row[f"{hand.title()} card 2"]
                assert pair == (row["Pair outcome"] in (f"{hand.title()} pair", "Both pairs"))
                sums[f"{hand}_pair"] += 12 * pair
    return sums


@pytest.mark.parametrize("variant", ["classic", "classic-tie-9", "super-6", "ez"])
def test_a_hundred_public_rounds(shared: Path, variant: str) -> None:
    path = shared / "recordings" / "xsgu_single.csv"
    found = told(path, variant)
    assert (found["rounds"], found["legal"], found["left_out"], found["findings"]) == (100, 100, 0, [])
    assert found["winners"] == {"player": 48, "banker": 41, "tie": 11}
    assert (found["player_pairs"], found["banker_pairs"]) == (6, 4)
    assert found["inventory"] == "unknown"
    assert {bet: Fraction(amount) for bet, amount in found["settled"].items()} == tally(path, variant)


def test_the_hundred_rounds_are_no_shoe_of_eight_decks(shared: Path) -> None:
    path = shared / "recordings" / "xsgu_single.csv"
    found = told(path, decks=8)
    assert found["inventory"] == "checked"
    first = found["findings"][0]
    assert (first["round"], first["line"], first["code"]) == (76, 77, "too-many-of-a-card")
    assert first["message"] == "7 is one more than 8 decks hold"
    assert told(path, decks=12)["findings"] == []


def test_each_cell_of_the_public_rounds_is_watched(shared: Path, tmp_path: Path) -> None:
    """Whatever is changed in a total, a winner or a pair is found, in its own round and no other."""
    lines = (shared / "recordings" / "xsgu_single.csv").read_text().splitlines()
    other = {"Player": "Tie", "Banker": "Player", "Tie": "Banker", "No pair": "Both pairs"}
    expected = {7: "total-mismatch", 8: "total-mismatch", 9: "outcome-mismatch", 10: "pair-mismatch"}
    file = tmp_path / "changed.csv"
    for line in range(1, 101, 9):
        cells = next(csv.reader([lines[line]]))
        for column, code in expected.items():
            changed = list(cells)
            changed[column] = other.get(cells[column]) or (
                "No pair" if column == 10 else str((int(cells[column]) + 3) % 10)
            )
            file.write_text("\n".join((*lines[:line], ",".join(changed), *lines[line + 1 :])))
            found = [(one["round"], one["line"], one["code"]) for one in told(file)["findings"]]
            assert found == [(line, line + 1, code)], f"column {column}: {cells} became {changed}"


def write(path: Path, *rows: str, header: str = HEADER) -> Path:
    path.write_text("\n".join((header, *rows)) + "\n")
    return path


def test_rounds_that_cannot_be_dealt_are_left_out_of_every_count(tmp_path: Path) -> None:
    found = told(write(tmp_path / "some.csv", "9,9,4,2,3,", "9,9,,2,3,", "9,X,,2,3,"))
    assert (found["rounds"], found["legal"], found["left_out"]) == (3, 1, 2)
    assert [(one["round"], one["line"], one["code"]) for one in found["findings"]] == [
        (1, 2, "illegal-draw"),
        (3, 4, "unknown-card"),
    ]
    assert found["winners"] == {"player": 1, "banker": 0, "tie": 0}
    assert (found["player_pairs"], found["settled"]["player"], found["settled"]["player_pair"]) == (1, "2", "12")


def test_two_findings_of_a_round_are_one_round_less(tmp_path: Path) -> None:
    rows = ("9,K,,2,3,,9,6,Banker", "9,K,,2,3,,9,5,Player")
    found = told(write(tmp_path / "some.csv", *rows, header=f"{HEADER},Player total,Banker total,Winner"))
    assert (found["legal"], len(found["findings"]), found["left_out"]) == (1, 2, 0)


def test_pairs_of_values_are_unknown_and_so_is_what_they_pay(tmp_path: Path) -> None:
    values = HEADER.replace("card", "value")
    found = told(write(tmp_path / "some.csv", "0,0,9,2,1,7", "4,4,,2,1,4", header=values))
    assert (found["player_pairs"], found["banker_pairs"]) == (None, 0)
    assert (found["settled"]["player_pair"], found["settled"]["banker_pair"]) == (None, "0")
    assert found["settled"]["player"] == "2"


def test_a_bet_on_suits_is_unknown_where_only_ranks_were_recorded(tmp_path: Path) -> None:
    suits = (Line((Condition("player_perfect", ("yes",)),), Fraction(25)),)
    ranks = read(write(tmp_path / "ranks.csv", "9,9,,2,3,")).rounds
    cards = read(write(tmp_path / "cards.csv", "9H,9H,,2C,3C,")).rounds
    assert [returned(suits, [judge(row, None) for row in rows]) for rows in (ranks, cards)] == [None, 26]


def test_an_empty_recording_is_no_error(tmp_path: Path) -> None:
    found = told(write(tmp_path / "some.csv"))
    assert (found["rounds"], found["findings"], found["settled"]["banker"]) == (0, [], "0")


@pytest.mark.parametrize(
    ("text", "said"),
    [("", "some.csv:1: this is no recording"), ("PPBBT\n", "some.csv:1: this is no recording")],
)
def test_other_files_are_refused(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "some.csv"
    file.write_text(text)
    with pytest.raises(Unusable, match=said):
        read(file)


def test_decks_are_for_files_that_do_not_state_them(tmp_path: Path) -> None:
    with pytest.raises(BadSettings, match="1 to 12 decks, not 13"):
        read(write(tmp_path / "some.csv", "9,9,,2,3,"), 13)
    file = tmp_path / "shoe.rec"
    file.write_text(format_text(Recording((Shoe(decks=8), End(0)))))
    assert read(file).whole_shoes
    with pytest.raises(BadSettings, match="states its decks itself"):
        read(file, 8)


def test_a_variant_that_is_none(tmp_path: Path) -> None:
    source = read(write(tmp_path / "some.csv", "9,9,,2,3,"))
    with pytest.raises(BadSettings, match="no variant is called 'pontoon'"):
        report(source, "pontoon", plainly)


def test_the_winners_are_counted_under_each_name(tmp_path: Path) -> None:
    assert set(report(read(write(tmp_path / "some.csv")), None, plainly).winners) == set(Winner)


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        (Fraction(9865, 100), "98.65"),
        (Fraction(0), "0"),
        (Fraction(100), "100"),
        (Fraction(1, 20), "0.05"),
        (Fraction(1, 8), "0.125"),
        (Fraction(1, 3), "1/3"),
        (Fraction(1234567890123456789, 10), "123456789012345678.9"),
    ],
)
def test_amounts_are_exact(amount: Fraction, text: str) -> None:
    assert exact(amount) == text
    assert Fraction(text) == amount
