import json
from fractions import Fraction
from typing import Any

import pytest

from services.baccarat.catalogue import MENUS, SIDE_BETS, VARIANTS
from services.baccarat.events import Line
from services.cli.main import main
from services.cli.variants import decimal


def shown(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["variants", *words]) == 0
    return capsys.readouterr().out


def pay_table(found: dict[str, Any], bet: str) -> list[tuple[dict[str, tuple[str, ...]], Fraction | None, Fraction]]:
    table = found["pay_table"]
    return [
        (
            {name: tuple(values) for name, values in line["when"].items()},
            None if line["odds"] is None else Fraction(line["odds"]),
            Fraction(line["commission"]),
        )
        for line in (table[bet] if isinstance(table, dict) else table)
    ]


def as_priced(lines: tuple[Line, ...]) -> list[tuple[dict[str, tuple[str, ...]], Fraction | None, Fraction]]:
    return [({one.fact: one.among for one in line.when}, line.odds, line.commission) for line in lines]


def test_the_list(capsys: pytest.CaptureFixture[str]) -> None:
    listed = json.loads(shown(["--json"], capsys))
    assert [one["variant"] for one in listed] == list(VARIANTS)
    assert all(one.keys() == {"variant", "name"} for one in listed)
    assert shown([], capsys).splitlines()[0].split(None, 1) == ["classic", "Classic, 5% commission"]


@pytest.mark.parametrize("slug", VARIANTS)
def test_the_pay_table_is_the_one_that_prices(slug: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(shown([slug, "--json"], capsys))
    assert {bet: pay_table(found, bet) for bet in found["pay_table"]} == {
        bet: as_priced(lines) for bet, lines in VARIANTS[slug].bets.items()
    }
    assert found["sources"].keys() == found["pay_table"].keys()
    assert (found["memory"], found["aliases"]) == (VARIANTS[slug].memory, list(VARIANTS[slug].aliases))


def test_a_player_reads_what_is_paid_and_who_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert shown(["Punto 2000"], capsys).splitlines() == [
        "Super 6 (super-6)",
        "also called Punto 2000, Nepal Baccarat, Commission Free Baccarat, Even Money Baccarat",
        "",
        "  Two cards each, the Player's first. Aces count 1, tens and faces 0; the last digit of the sum is the total.",
        "  8 or 9 on two cards is a natural: nobody draws.",
        "  Otherwise the Player draws on 0-5 and stands on 6-7.",
        "  If the Player stood, the Banker draws on 0-5.",
        "  If the Player drew, the Banker goes by that card's points: it draws on 0, 1, 2,",
        "  on 3 against 0-7 and 9, on 4 against 2-7, on 5 against 4-7, on 6 against 6-7.",
        "  The higher total wins.",
        "",
        "  Player                   1 to 1 when Player wins [1]",
        "                           Stake back on a tie [1]",
        "  Banker                   1 to 2 when Banker wins with a Banker total of 6 [1]",
        "                           1 to 1 when Banker wins [1]",
        "                           Stake back on a tie [1]",
        "  Tie                      8 to 1 on a tie [1]",
        "  Player Pair              11 to 1 when the Player's first two cards are a pair [2]",
        "  Banker Pair              11 to 1 when the Banker's first two cards are a pair [2]",
        "  The first line that holds pays; where none holds, the bet is lost.",
        "",
        "  [1] Macau Despacho 73/2005 art. 18(2); France, decree of 2 Aug 2019; wizardofodds.com baccarat appendix 6",
        "  [2] Macau Executive Order 70/2000 art. 6",
    ]


@pytest.mark.parametrize("slug", VARIANTS)
def test_every_variant_can_be_read(slug: str, capsys: pytest.CaptureFixture[str]) -> None:
    out = shown([slug], capsys)
    assert VARIANTS[slug].name in out
    assert VARIANTS[slug].memory in out
    assert "None" not in out
    assert "{" not in out


@pytest.mark.parametrize("slug", SIDE_BETS)
def test_every_side_bet_can_be_read(slug: str, capsys: pytest.CaptureFixture[str]) -> None:
    bet = SIDE_BETS[slug]
    out = shown([slug], capsys)
    assert out.startswith(f"{bet.name} ({slug}")
    assert out.count(" to ") >= len([line for line in bet.lines if line.odds is not None])
    assert out.splitlines()[-1] == f"  {bet.source}"
    found = json.loads(shown([slug, "--json"], capsys))
    assert found["bet"] == slug
    assert pay_table(found, slug) == as_priced(bet.lines)


def test_what_was_not_read_in_print_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert shown(["perfect_pair_200"], capsys) == (
        "Perfect Pair, 25 and 200 to 1 (perfect_pair_200)\n"
        "  Perfect Pair, 25 and 200 to 1  25 to 1 when one hand has a perfect pair\n"
        "                                 200 to 1 when both hands have perfect pairs\n"
        "  The pay table is as remembered, and was not read in print.\n"
        "  Evolution's help pages, from memory\n"
    )
    assert "\n  Wins with Fortune 7, Golden 8, Heavenly 9 or Blazing 7s.\n" in shown(["cover_all"], capsys)
    assert "No house was found that deals it." in shown(["banker-8-push"], capsys)


def test_side_bets_that_share_a_name(capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(shown(["5 Treasures", "--json"], capsys))
    assert [one["bet"] for one in found] == ["heavenly_9", "blazing_7s"]


def test_all_side_bets_and_their_menus(capsys: pytest.CaptureFixture[str]) -> None:
    assert [one["bet"] for one in json.loads(shown(["side-bets", "--json"], capsys))] == list(SIDE_BETS)
    lines = shown(["side-bets"], capsys).splitlines()
    assert [line.split()[0] for line in lines[: len(SIDE_BETS)]] == list(SIDE_BETS)
    assert lines[-len(MENUS)].split(None, 1) == ["none", "no side bet"]
    assert [line.split()[0] for line in lines if line.endswith(" (*)")] == ["perfect_pair_200"]
    assert any("0.54:1" in line and line.startswith("big ") for line in lines)


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        (Fraction(5), "5"),
        (Fraction(11, 2), "5.5"),
        (Fraction(1, 3), "1/3"),
        (Fraction(27, 50), "0.54"),
        (Fraction(10), "10"),
    ],
)
def test_decimals_where_they_are_exact(amount: Fraction, text: str) -> None:
    assert decimal(amount) == text


@pytest.mark.parametrize(
    ("name", "meant"),
    [("dragn_7", "dragon_7"), ("Dragn 7", "dragon_7"), ("super6x", "super-6"), ("Punto 200", "super-6")],
)
def test_a_name_that_is_nearly_right(name: str, meant: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["variants", name]) == 2
    said = f"punto: no variant is called {name!r}, and no side bet; did you mean {meant}?\n"
    assert capsys.readouterr().err == said


def test_a_name_that_is_nothing_like(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["variants", "pontoon"]) == 2
    assert "no side bet; there are classic, classic-4, " in (err := capsys.readouterr().err)
    assert err.endswith("; 'side-bets' lists the side bets\n")
