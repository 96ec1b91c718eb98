import json
from fractions import Fraction

import pytest

from services.baccarat.catalogue import VARIANTS
from services.cli.main import main


def test_the_list(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["variants", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert [one["variant"] for one in listed] == list(VARIANTS)
    assert main(["variants"]) == 0
    assert capsys.readouterr().out.splitlines()[0].split(None, 1) == ["classic", "Classic, 5% commission"]


@pytest.mark.parametrize("slug", VARIANTS)
def test_the_pay_table_is_the_one_that_prices(slug: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["variants", slug, "--json"]) == 0
    table = json.loads(capsys.readouterr().out)["pay_table"]
    told = {
        bet: [
            (
                {name: tuple(values) for name, values in line["when"].items()},
                None if line["odds"] is None else Fraction(line["odds"]),
                Fraction(line["commission"]),
            )
            for line in lines
        ]
        for bet, lines in table.items()
    }
    assert told == {
        bet: [({one.fact: one.among for one in line.when}, line.odds, line.commission) for line in lines]
        for bet, lines in VARIANTS[slug].bets.items()
    }


def test_a_player_reads_what_is_paid(capsys: pytest.CaptureFixture[str]) -> None:
    main(["variants", "classic"])
    assert "  banker        1:1 less 5%              Banker wins\n" in capsys.readouterr().out
    main(["variants", "ez"])
    assert "stake back               Banker wins, Banker has 7, Banker has 3 cards\n" in capsys.readouterr().out


@pytest.mark.parametrize("slug", VARIANTS)
def test_every_variant_can_be_read(slug: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["variants", slug]) == 0
    out = capsys.readouterr().out
    assert VARIANTS[slug].name in out
    assert "None" not in out
    assert "{" not in out
