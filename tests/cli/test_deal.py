import hashlib
import json
import os
import stat
from concurrent.futures import ThreadPoolExecutor
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


def refused(words: list[str], capsys: pytest.CaptureFixture[str], code: int = 2) -> str:
    assert main(["deal", "--seed", "1", *words]) == code
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    return err


def test_a_file_that_is_there_is_replaced_only_by_force(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "shoe.rec"
    file.write_text("old")
    file.chmod(0o600)
    assert "--force" in refused(["--out", str(file)], capsys)
    assert file.read_text() == "old"
    dealt(["--seed", "1", "--out", str(file), "--force"], capsys)
    assert file.read_text().startswith("puntobanco recording 1")
    assert file.stat().st_mode & 0o777 == 0o600
    dealt(["--seed", "1", "--out", str(file)], capsys)  # it says the same
    assert list(tmp_path.iterdir()) == [file]


def test_a_link_stays_a_link(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, link = tmp_path / "shoe.rec", tmp_path / "link.rec"
    link.symlink_to(file)
    dealt(["--seed", "1", "--out", str(link)], capsys)
    assert link.is_symlink()
    assert file.read_text().startswith("puntobanco recording 1")


def test_what_is_no_file_is_written_through(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with ThreadPoolExecutor() as pool:
        reading = pool.submit(pipe.read_text)
        dealt(["--seed", "1", "--out", str(pipe)], capsys)
        assert reading.result(20).startswith("puntobanco recording 1")
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    full = tmp_path / "full"
    full.symlink_to("/dev/full")
    assert "No space left" in refused(["--out", str(full)], capsys, 74)
    assert stat.S_ISCHR(full.stat().st_mode)
    assert sorted(tmp_path.iterdir()) == [full, pipe]


def test_nothing_is_left_where_a_file_cannot_be_finished(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", fail)
    assert "No space left" in refused(["--out", str(tmp_path / "shoe.rec")], capsys)
    assert list(tmp_path.iterdir()) == []


def test_a_recording_alone_goes_to_standard_output(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "shoe.rec"
    dealt(["--seed", "1", "--out", str(file)], capsys)
    assert dealt(["--seed", "1", "--out", "-"], capsys) == file.read_text()


def test_a_file_must_be_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert "--out" in refused(["--out", ""], capsys)
    assert main(["deal", "--out", "-", "--json"]) == 2


@pytest.mark.parametrize("seed", [[], ["--seed", "7"]])
def test_the_commitment_is_made_as_the_documentation_says(seed: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    found = as_json(["--decks", "1", *seed], capsys)
    text = f"{found['salt']}:{' '.join(found['order'])}"
    assert hashlib.sha256(text.encode("ascii")).hexdigest() == found["commitment"]
    assert found["seed"] == (seed[1] if seed else None)
    assert len(found["order"]) == 52
    assert found["order"][: len(found["burned"])] == found["burned"]


def test_a_variant_by_another_name_is_headed_by_its_slug(capsys: pytest.CaptureFixture[str]) -> None:
    assert dealt(["--variant", "Punto 2000"], capsys).startswith("super-6, 8 decks\n")
    assert as_json(["--variant", "Punto 2000"], capsys)["variant"] == "super-6"
