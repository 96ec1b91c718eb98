"""`punto accounts`: a log's settlements, added up."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from services.baccarat.accounts import Accounts
from services.baccarat.catalogue import configuration
from services.baccarat.events import ROUNDS, SETTLEMENTS, Event, RoundSettled, ShoeOpened
from services.cli.accounts import unit
from services.cli.main import main
from services.runtime.embedded import EmbeddedLog
from tests.baccarat.logs import Logs, read_all

WORDS = "rules/1/commission_mode=owed/burn_rule=none/betting=automatic shoe"


def facts_of_a_shoe() -> list[Event]:
    logs = Logs(words=WORDS)
    logs.bet("banker", 1_010)
    logs.bet("player", 500, customer="Di")
    logs.play("2H 9C KD KS end/1 shoe")
    logs.bet("tie", 300, customer="Di")
    logs.bet("banker", 130)
    logs.play("2H 9C KD KS")
    return read_all(logs)


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return written(tmp_path, facts_of_a_shoe())


def written(folder: Path, facts: list[Event], topic: str = SETTLEMENTS) -> Path:
    async def append() -> None:
        with EmbeddedLog(folder / "log.sqlite", 3) as log:
            await log.append(topic, facts)

    asyncio.run(append())
    return folder


def asked(state: Path, by: str, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    assert main(["accounts", "T1", "--state", str(state), "--by", by, "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_for_people(state: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["accounts", "T1", "--state", str(state), "--by", "shoe"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "T1, amounts in minor units of EUR: 1 is 0.01 EUR",
        "shoe  bets  stakes  returns  commission  collected  house win",
        "1        2   1,510    2,020           0         51       -459",
        "2        2     430      260           0          0        170",
        "all      4   1,940    2,280           0         51       -289",
    ]


def test_for_machines(state: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = asked(state, "customer", capsys)
    assert (found["currency"], found["exponent"]) == ("EUR", 2)
    assert (found["table"], found["by"], found["imbalances"], found["debts"]) == ("T1", "customer", {}, {"Cy": "13/2"})
    assert found["results"]["Cy"] == {
        "bets": 2,
        "stakes_minor": 1_140,
        "winnings_minor": 1_140,
        "commission_minor": 0,
        "returns_minor": 2_280,
        "owed_exact": "57",
        "collected_minor": 51,
        "net_minor": 1_089,
        "house_win_minor": -1_089,
    }
    assert found["all"]["house_win_minor"] == -289


@pytest.mark.parametrize(("by", "names"), [("round", ["1/1", "1/2", "2/1", "2/2"]), ("day", ["1970-01-01"])])
def test_by_round_and_by_day(by: str, names: list[str], state: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = asked(state, by, capsys)
    assert list(found["results"]) == names
    assert sum(one["stakes_minor"] for one in found["results"].values()) == 1_940


def test_each_customer_of_each_round(state: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one = asked(state, "round", capsys)["results"]["1/1"]
    assert {name: (of["net_minor"], of["owed_exact"]) for name, of in one["customers"].items()} == {
        "Cy": (1_010, "101/2"),
        "Di": (-500, "0"),
    }
    assert sum(of["returns_minor"] for of in one["customers"].values()) == one["returns_minor"]
    assert "customers" not in asked(state, "shoe", capsys)["results"]["1"]


def test_what_does_not_balance_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    facts = [replace(one, house_win_minor=7) if isinstance(one, RoundSettled) else one for one in facts_of_a_shoe()]
    written(tmp_path, facts)
    assert main(["accounts", "T1", "--state", str(tmp_path)]) == 1
    assert "punto: T1: round 1/1 does not balance: -517 minor units are left\n" in capsys.readouterr().err


def test_a_split_that_is_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["accounts", "T1", "--by", "hour"]) == 2
    assert "--by is 'hour': write day, shoe, round, customer" in capsys.readouterr().err


def test_a_table_that_the_log_does_not_have(state: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written(state, [replace(one, table_id="U2") for one in facts_of_a_shoe()])
    assert main(["accounts", "nosuch", "--state", str(state)]) == 2
    assert capsys.readouterr() == ("", "punto: the log has no table 'nosuch'; there are T1, U2\n")
    assert main(["accounts", "T1", "--state", str(state)]) == 0


def test_a_log_without_tables(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written(tmp_path, [])
    assert main(["accounts", "T1", "--state", str(tmp_path)]) == 2
    assert capsys.readouterr().err == "punto: the log has no table 'T1'; there are none yet\n"


def test_a_table_at_which_nothing_is_settled_yet(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    opened = ShoeOpened(event_id="e", table_id="T1", at_ms=0, cause_id="c", shoe_no=1, decks=8)
    written(tmp_path, [opened], ROUNDS)
    assert main(["accounts", "T1", "--state", str(tmp_path)]) == 0
    assert capsys.readouterr().out.splitlines()[0] == "T1, amounts in minor units of its currency"


@pytest.mark.parametrize(("exponent", "said"), [(0, "EUR: 1 is 1 EUR"), (8, "EUR: 1 is 0.00000001 EUR")])
def test_the_unit_of_amounts(exponent: int, said: str) -> None:
    prices = {1: replace(configuration("classic"), exponent=exponent)}
    assert unit(Accounts(prices=prices)) == f"amounts in minor units of {said}"
