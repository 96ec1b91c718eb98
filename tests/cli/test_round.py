"""`punto round`: one round by its arguments, many by its input."""

import csv
import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from services.cli.main import main


def asked(words: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    code = main(["round", *words])
    return code, capsys.readouterr().out


def answers(
    lines: bytes, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> tuple[int, list[dict[str, Any]]]:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(lines), encoding="ascii"))
    code, out = asked(["--json", "-"], capsys)
    return code, [json.loads(line) for line in out.splitlines()]


def test_a_round_is_explained_in_the_order_a_hand_is_read(capsys: pytest.CaptureFixture[str]) -> None:
    code, out = asked(["2", "2", "3", "A", "8"], capsys)
    assert code == 0
    totals, natural, player, banker, outcome = out.splitlines()
    assert totals == "Player: 2 3, total 5. Banker: 2 A, total 3."
    assert natural.startswith("No natural")
    assert player.startswith("The Player draws on 5")
    assert banker.startswith("The Banker stands on 3: the Player's third card counts 8")
    assert outcome == "Tie, 3 all."


def test_pairs_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert asked(["9", "7", "9", "7"], capsys)[1].splitlines()[-1] == "Player pair and Banker pair."
    assert "pair" not in asked(["9", "J", "K", "Q"], capsys)[1]


def test_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    code, out = asked(["9s", "KH", "TD", "6H", "--json"], capsys)
    assert code == 0
    assert json.loads(out) == {
        "player": ["9S", "10D"],
        "banker": ["KH", "6H"],
        "player_total": 9,
        "banker_total": 6,
        "winner": "player",
        "natural": True,
        "player_pair": False,
        "banker_pair": False,
    }


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("9 K 10", "too-few-cards"),
        ("2 2 3 A", "too-few-cards"),
        ("9 K 10 6 2", "too-many-cards"),
        ("9 K 10 11", "unknown-card"),
        ("9 K 10 6X", "unknown-card"),
    ],
)
def test_cards_that_make_no_round(words: str, code: str, capsys: pytest.CaptureFixture[str]) -> None:
    exit_code, out = asked([*words.split(), "--json"], capsys)
    assert exit_code == 1
    error = json.loads(out)["error"]
    assert error["code"] == code
    assert error["message"]


def test_a_round_a_line_and_a_bad_line_stops_nothing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = b"9 K 10 6\n\n   \r\n9\n2 2 3 A 8\r\n\xff\xfe 9\n9 2 k 3 5\nJ 4 Q 4 2 k"
    code, found = answers(lines, capsys, monkeypatch)
    assert code == 0
    assert [one.get("winner") or one["error"]["code"] for one in found] == [
        "player",
        "too-few-cards",
        "tie",
        "unknown-card",
        "too-many-cards",
        "too-many-cards",
    ]


def test_no_lines_no_answers(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert answers(b"", capsys, monkeypatch) == (0, [])


def test_lines_may_be_explained_too(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"9 K 10 6\n\nX\n9 K 10 6")))
    assert main(["round", "-"]) == 0
    out, err = capsys.readouterr()
    assert out.count("Player wins, 9 to 6.") == 2
    assert [line for line in out.splitlines() if line.startswith("line ")] == [
        "line 1: 9 K 10 6",
        "line 3: X",
        "line 4: 9 K 10 6",
    ]
    assert err.startswith("punto: line 3: 'X' is no card")


def test_the_worked_hands(shared: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Those with a stated winner; the others are incomplete, and the Banker's card is what they lack."""
    with (shared / "domain" / "worked_hands.csv").open(newline="") as rows:
        for row in csv.DictReader(rows):
            player, banker = row["player_cards"].split(), row["banker_cards"].split()
            cards = [player[0], banker[0], player[1], banker[1], *row["third_cards_in_order"].split()]
            code, out = asked([*cards, "--json"], capsys)
            found = json.loads(out)
            if row["winner"] == "?":
                assert (code, found["error"]["code"]) == (1, "too-few-cards"), row["id"]
                assert "Banker" in found["error"]["message"]
            else:
                assert found["winner"][0].upper() == row["winner"], row["id"]
                assert (str(found["player_total"]), str(found["banker_total"])) == (
                    row["player_final"],
                    row["banker_final"],
                )


@pytest.mark.parametrize(
    ("word", "meant"), [("9\u2660", "9S"), ("10\u2665\ufe0f", "10H"), ("1", "A"), ("1d", "AD"), ("1\u2663", "AC")]
)
def test_what_was_probably_meant_is_said(word: str, meant: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["round", word, "2", "K", "3"]) == 1
    assert capsys.readouterr().err.endswith(f"; did you mean {meant}?\n")


def test_where_nobody_can_say_nothing_is_guessed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["round", "JOKER", "2", "K", "3"]) == 1
    assert "did you mean" not in capsys.readouterr().err
