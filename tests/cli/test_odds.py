"""`punto odds`: exact, in three forms, of games, side bets, the catalogue and table files."""

import csv
import io
import json
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from services.baccarat import odds as game
from services.baccarat.catalogue import SIDE_BETS, VARIANTS
from services.baccarat.odds import bet_odds, outcomes
from services.cli.main import main

HOUSE = Path(__file__).resolve().parents[2] / "deploy" / "tables" / "house.toml"
VIP = HOUSE.with_name("vip.toml")


def asked(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["odds", *words]) == 0
    return capsys.readouterr().out


def answer(words: list[str], capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(asked([*words, "--format", "json"], capsys))
    return found


def test_a_game_with_its_menu(capsys: pytest.CaptureFixture[str]) -> None:
    found = answer(["super-6", "--decks", "6"], capsys)
    assert (found["variant"], found["decks"], found["removed"]) == ("super-6", 6, [])
    ways = outcomes(6)
    assert found["outcomes"]["tie"] == {"ways": ways.tie, "probability": ways.tie / ways.ways}
    assert sum(one["probability"] for one in found["outcomes"].values()) == pytest.approx(1)
    assert [one["bet"] for one in found["bets"]] == list(VARIANTS["super-6"].bets)
    banker = found["bets"][1]
    exact = bet_odds("banker", VARIANTS["super-6"].mains["banker"], 6)
    assert Fraction(banker["edge"]) == exact.edge
    assert banker["edge_pct"] == pytest.approx(1.4548, abs=5e-5)
    assert banker["sd"] == pytest.approx(float(exact.variance) ** 0.5)
    assert [(one["odds"], one["ways"]) for one in banker["pays"]] == [
        (odds, one.ways) for odds, one in zip(("1/2", "1", None), exact.lines, strict=False)
    ]
    for name, value in (("win", exact.win), ("push", exact.push), ("loss", exact.loss), ("return", 1 - exact.edge)):
        assert banker[name] == float(value)
        assert Fraction(banker["exact"][name]) == value


def test_a_probability_of_nothing_is_still_a_fraction(capsys: pytest.CaptureFixture[str]) -> None:
    assert answer(["lucky 6"], capsys)["bets"][0]["exact"]["push"] == "0/1"


def test_side_bets_that_share_a_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert [one["bet"] for one in answer(["5 treasures"], capsys)["bets"]] == ["heavenly_9", "blazing_7s"]


def test_the_whole_catalogue(capsys: pytest.CaptureFixture[str]) -> None:
    rows = list(csv.DictReader(io.StringIO(asked(["all", "--format", "csv"], capsys))))
    assert {row["bet"] for row in rows} == {
        *(f"{slug}/{bet}" for slug, variant in VARIANTS.items() for bet in variant.mains), *SIDE_BETS,
    }  # fmt: skip
    tie = next(row for row in rows if row["bet"] == "classic-tie-9/tie")
    assert (tie["variant"], tie["decks"], tie["pays"]) == ("all", "8", "9:1")
    exact = bet_odds("tie", VARIANTS["classic-tie-9"].mains["tie"], 8)
    assert Fraction(tie["edge"]) == exact.edge
    assert (tie["win_exact"], tie["push_exact"]) == (f"{exact.win.numerator}/{exact.win.denominator}", "0/1")
    assert (Fraction(tie["loss_exact"]), Fraction(tie["return_exact"])) == (exact.loss, exact.expected_return)


def test_all_side_bets(capsys: pytest.CaptureFixture[str]) -> None:
    assert [one["bet"] for one in answer(["side-bets"], capsys)["bets"]] == list(SIDE_BETS)


def test_for_people(capsys: pytest.CaptureFixture[str]) -> None:
    assert asked([], capsys).splitlines()[:4] == [
        "classic, 8 decks: Player 44.6247%, Banker 45.8597%, Tie 9.5156%",
        "bet          pays                 win %  push %   loss %    return   edge %      sd",
        "player       1:1, push          44.6247  9.5156  45.8597  0.987649   1.2351  0.9512",
        "banker       1:1 less 5%, push  45.8597  9.5156  44.6247  0.989421   1.0579  0.9274",
    ]


def test_a_shoe_from_which_cards_are_gone(capsys: pytest.CaptureFixture[str]) -> None:
    found = answer(["--removed", "9S 9H KD", "--decks", "1"], capsys)
    assert found["removed"] == ["9S", "9H", "KD"]
    pair = next(one for one in found["bets"] if one["bet"] == "player_pair")
    assert Fraction(pair["exact"]["win"]) == Fraction(11 * 12 + 3 * 2 + 2, 49 * 48)
    assert "1 deck, 3 cards gone: " in asked(["--removed", "9S,9H KD", "--decks", "1"], capsys)


def test_what_rounding_costs(capsys: pytest.CaptureFixture[str]) -> None:
    """A commission of 1 on a win of 5 is 20% of it, and not 5%."""
    found = {one["bet"]: one["at_stake"] for one in answer(["--stake", "5", "--rounding", "up"], capsys)["bets"]}
    assert found["banker"]["commission_pct"] == 20
    ways = outcomes(8)
    assert Fraction(found["banker"]["edge"]) == 1 - Fraction(9 * ways.banker + 5 * ways.tie, 5 * ways.ways)
    assert found["player"]["commission_pct"] is None
    exact = {one["bet"]: one for one in answer(["--stake", "20"], capsys)["bets"]}
    assert all(one["at_stake"]["edge"] == one["edge"] for one in exact.values())
    table = asked(["--stake", "5", "--rounding", "down"], capsys).splitlines()
    assert table[1].endswith("edge % at 5  commission %")
    assert table[3].split()[-1] == "0.0000"
    assert table[2].split()[-1] == "-"
    rows = list(csv.DictReader(io.StringIO(asked(["--stake", "5", "--format", "csv"], capsys))))
    assert [row["stake_minor"] for row in rows] == ["5"] * 5
    assert {Fraction(row["return_exact"]) + Fraction(row["edge"]) for row in rows} == {1}


def test_commission_kept_as_a_debt_is_not_rounded_at_the_win(capsys: pytest.CaptureFixture[str]) -> None:
    banker = next(one for one in answer([str(VIP), "--stake", "5"], capsys)["bets"] if one["bet"] == "banker")
    assert banker["at_stake"]["edge"] == banker["edge"]
    assert banker["at_stake"]["commission_pct"] is None


def test_a_table_file(capsys: pytest.CaptureFixture[str]) -> None:
    found = answer([str(HOUSE)], capsys)
    assert (found["variant"], found["decks"]) == ("half-on-eight", 6)
    assert [one["bet"] for one in found["bets"]][-2:] == ["nines", "lucky_six_for_luck"]
    assert found["bets"][-1]["edge_pct"] < 0
    assert answer([str(HOUSE), "--decks", "8"], capsys)["decks"] == 8


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["pontoon"], "no variant is called 'pontoon'"),
        (["--decks", "13"], "a shoe holds 1 to 12 decks, not 13"),
        (["--format", "xml"], "--format is 'xml': write table, json, csv"),
        (["--removed", "9S XX"], "--removed: 'XX' is no card"),
        (["--removed", "9S " * 9], "punto: 9S cannot be removed: a shoe of 416 cards holds no further one"),
        (["super_tie", "--removed", "9"], "super_tie: 9 cannot be removed without its suit"),
        (["--stake", "0"], "--stake is 0: write the stake in minor units, 1 or more"),
        (["--rounding", "off"], "--rounding is 'off': write down, up"),
        (["--rounding", "up"], "--rounding changes nothing without a stake: add --stake 5, or leave it out"),
        (["dragn_7"], "no variant is called 'dragn_7', and no side bet; did you mean dragon_7?"),
        (["none.toml"], "none.toml: cannot be read"),
    ],
)
def test_what_cannot_be_counted_is_one_line(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["odds", *words]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert said in err
    assert err.count("\n") == 1


def test_a_wrong_table_file_says_its_first_mistake(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "t.toml"
    file.write_text('game = "clasic"\ncurrency = "EUR"\n')
    assert main(["odds", str(file)]) == 2
    assert (
        capsys.readouterr().err == f"punto: {file}:1: game: there is no base game 'clasic'; did you mean 'classic'?\n"
    )
    file.write_text('game = "clasic"\n')
    assert main(["odds", str(file)]) == 2
    assert capsys.readouterr().err.endswith(f" (1 more: punto tables check {file})\n")
    file.write_bytes(b"\xff")
    assert main(["odds", str(file)]) == 2
    assert f"{file}:1: is no text in UTF-8" in capsys.readouterr().err


def test_a_bet_that_takes_too_many_steps_is_refused_with_the_number(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    game.ends.cache_clear()
    monkeypatch.setattr(game, "MOST_STEPS", 10_000)
    assert main(["odds", "player_pair", "--decks", "3"]) == 0
    assert main(["odds", "perfect_pair_v1", "--decks", "3"]) == 2
    assert "perfect_pair_v1: telling pair, suited apart takes 144,880 steps, and at most 10,000 are taken" in (
        capsys.readouterr().err
    )


def test_a_base_game_from_a_cold_start_is_quick() -> None:
    """Well under a second of processor time; the bound is loose, for the machine may be busy."""
    code = "import resource, sys; from services.cli.main import main; main(['odds']); "
    code += "print(resource.getrusage(resource.RUSAGE_SELF).ru_utime, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert float(done.stderr.decode()) < 1


def test_a_side_bet_by_another_name_is_headed_by_its_slug(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["odds", "Dragon 7"]) == 0
    assert capsys.readouterr().out.startswith("dragon_7, 8 decks: ")
    assert answer(["5 treasures"], capsys)["variant"] == "heavenly_9, blazing_7s"


def test_json_is_another_word_for_its_format(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["odds", "dragon_7", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == answer(["dragon_7"], capsys)
    assert main(["odds", "dragon_7", "--json", "--format", "csv"]) == 2
    assert "--json and --format csv: write one of the two" in capsys.readouterr().err
