import json
from pathlib import Path
from typing import Any

import pytest

from services.cli.main import main


def dealt(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["deal", *words]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return out


def as_json(words: list[str], capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(dealt([*words, "--json"], capsys))
    return found


def test_a_seed_is_the_same_shoe_every_time_and_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    first = dealt(["--seed", "7"], capsys)
    assert first == dealt(["--seed", "7"], capsys)
    assert first.splitlines()[0] == "classic, 8 decks: a demonstration, seed 7, never for play"
    assert first != dealt(["--seed", "8"], capsys)


def test_without_a_seed_no_shoe_comes_again(capsys: pytest.CaptureFixture[str]) -> None:
    one, other = (as_json([], capsys) for _ in range(2))
    assert one["seed"] is None
    assert one["commitment"] != other["commitment"]
    assert one["rounds"] != other["rounds"]
    assert "demonstration" not in dealt([], capsys)


@pytest.mark.parametrize("decks", [1, 12])
def test_every_card_that_left_the_shoe_is_told(decks: int, capsys: pytest.CaptureFixture[str]) -> None:
    found = as_json(["--decks", str(decks), "--seed", "1"], capsys)
    cards = [card for one in found["rounds"] for hand in ("player", "banker") for card in one[hand]]
    assert len(cards) + len(found["burned"]) == found["cards"]
    assert [one["round_no"] for one in found["rounds"]] == list(range(1, len(found["rounds"]) + 1))
    assert found["reason"] == "cut-card"
    assert 52 * decks - 14 <= found["cards"] < 52 * decks


@pytest.mark.parametrize("variant", ["classic", "classic-tie-9", "super-6", "ez"])
def test_the_recording_is_judged_legal(variant: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "shoe.rec"
    found = as_json(["--variant", variant, "--out", str(file)], capsys)
    assert main(["replay", str(file), "--json"]) == 0
    judged = json.loads(capsys.readouterr().out)
    assert (judged["rounds"], judged["legal"], judged["variant"]) == (len(found["rounds"]),) * 2 + (variant,)
    assert judged["inventory"] == "checked"
    winners = [one["winner"] for one in found["rounds"]]
    assert judged["winners"] == {winner: winners.count(winner) for winner in ("player", "banker", "tie")}
    assert list(tmp_path.iterdir()) == [file], "no half of a file is left beside it"


def test_a_file_that_is_there_is_replaced(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "shoe.rec"
    file.write_text("old")
    dealt(["--seed", "1", "--out", str(file)], capsys)
    assert file.read_text().startswith("puntobanco recording 1")
