"""`punto tables`: checked, compared with a log, and published to it."""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from services.baccarat.catalogue import configuration
from services.baccarat.events import (
    ROUNDS,
    TABLE_FEED,
    ConfigurationReceived,
    Event,
    IrregularityFound,
    RulesInForce,
    ShoeClosed,
    ShoeOpened,
    TableConfigured,
    TableMoved,
)
from services.cli import tables
from services.cli.log_of import log_file
from services.cli.main import main
from services.cli.tables import Known, learnt
from services.demo.folders import CURRENT, Current, write
from services.demo.published import newest
from services.replay.logs import read_log
from services.rules import RULES
from services.runtime.embedded import EmbeddedLog

CLASSIC = configuration("classic")
PLAIN = 'table = "T1"\ngame = "classic"\ncurrency = "EUR"\n'
COMMON: dict[str, Any] = {"event_id": "e", "table_id": "T1", "at_ms": 0, "cause_id": "c"}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "t.toml"
    path.write_text(PLAIN)
    return path


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """An empty log."""
    folder = tmp_path / "state"
    folder.mkdir()
    EmbeddedLog(folder / "log.sqlite", 3).close()
    return folder


def append(state: Path, topic: str, *events: Event) -> None:
    async def appended() -> None:
        with EmbeddedLog(state / "log.sqlite", 3) as log:
            await log.append(topic, events)

    asyncio.run(appended())


def run_rules(state: Path) -> None:
    """Rules answer all that is in the log."""

    async def ran() -> None:
        with EmbeddedLog(state / "log.sqlite", 3) as log:
            stop = asyncio.Event()
            asyncio.get_running_loop().call_later(0.3, stop.set)
            await log.run([RULES], stop)

    asyncio.run(ran())


def sent(state: Path) -> list[TableConfigured]:
    records = read_log(state / "log.sqlite")
    return [one.event for one in records if one.topic == TABLE_FEED and isinstance(one.event, TableConfigured)]


def asked(words: Sequence[object], capsys: pytest.CaptureFixture[str]) -> tuple[int, Any]:
    code = main(["tables", *map(str, words), "--json"])
    return code, json.loads(capsys.readouterr().out)


def opened(decks: int = 8) -> ShoeOpened:
    return ShoeOpened(**COMMON, shoe_no=12, decks=decks)


# ---- check


def test_a_file_that_is_right(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tables", "check", str(file)]) == 0
    out, err = capsys.readouterr()
    assert out == (
        f"{file}: Classic, 5% commission (classic), 8 decks, EUR: player, banker, tie, player_pair, banker_pair\n"
    )
    assert err == ""
    assert asked(["check", file], capsys) == (
        0,
        {
            "table": "T1",
            "variant": "classic",
            "decks": 8,
            "bets": ["player", "banker", "tie", "player_pair", "banker_pair"],
            "faults": [],
        },
    )


def test_a_byte_order_mark_is_no_mistake(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_bytes(b"\xef\xbb\xbf" + PLAIN.encode())
    assert main(["tables", "check", str(file)]) == 0
    assert capsys.readouterr().err == ""


def test_a_file_that_is_wrong_says_each_mistake_in_a_line(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text(PLAIN + 'decks = 13\ntype = "tiny"\n')
    assert main(["tables", "check", str(file)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines() == [
        f"punto: {file}:4: decks: must be a whole number from 1 to 12, not 13",
        f"punto: {file}:5: type: is 'tiny'; there are big, midi, mini",
    ]
    code, found = asked(["check", file], capsys)
    assert code == 2
    assert found["variant"] is None
    assert [fault["line"] for fault in found["faults"]] == [4, 5]


@pytest.mark.parametrize("command", ["diff", "apply"])
def test_nothing_is_done_with_a_file_that_is_wrong(
    command: str, file: Path, state: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file.write_text(PLAIN + "decks = 13\n")
    assert main(["tables", command, str(file), "--state", str(state)]) == 2
    assert ":4: decks: must be" in capsys.readouterr().err
    assert sent(state) == []


@pytest.mark.parametrize("table", ["a/b", ""])
def test_a_table_must_be_named(table: str, file: Path, state: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tables", "diff", str(file), "--state", str(state), "--table", table]) == 2
    assert f"{file}:1: table: no table is named; write table = " in capsys.readouterr().err


# ---- diff


def test_a_new_table_and_one_that_has_it_already(file: Path, state: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, found = asked(["diff", file, "--state", state], capsys)
    assert code == 1
    assert (found["table"], found["version"], found["in_force"]) == ("T1", 0, 0)
    assert {"what": "decks", "before": "", "after": "8"} in found["differences"]
    append(state, ROUNDS, ConfigurationReceived(**COMMON, version=4, configuration=CLASSIC))
    assert main(["tables", "diff", str(file), "--state", str(state)]) == 0
    assert capsys.readouterr().out == "T1: nothing differs from version 4\n"


def test_what_differs(file: Path, state: Path, capsys: pytest.CaptureFixture[str]) -> None:
    append(state, ROUNDS, RulesInForce(**COMMON, version=2, configuration=CLASSIC))
    file.write_text(PLAIN + 'side_bets = ["player_pair"]\ndecks = 6\nseats = 7\n[policies]\ncard-unread = "burn"\n')
    assert main(["tables", "diff", str(file), "--state", str(state / "log.sqlite")]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert "  decks: 8 -> 6" in lines
    assert "+ policies.card-unread: burn" in lines
    assert "- banker_pair.line 1: pays 11 when banker_pair = yes" in lines


# ---- apply


def test_what_is_published_takes_the_next_version(file: Path, state: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["apply", file, "--state", state, "--by", "ann", "--reason", "new table"]
    code, found = asked(words, capsys)
    assert (code, found["published"], found["version"], found["answer"]) == (0, True, 1, "none")
    assert sent(state) == [
        TableConfigured(
            event_id="T1/configured/1", table_id="T1", version=1, configuration=CLASSIC, by="ann", reason="new table"
        )
    ]
    run_rules(state)
    assert main(["tables", *map(str, words)]) == 0
    assert capsys.readouterr().out == "T1: nothing to change\n"
    file.write_text(PLAIN + "seats = 7\n")
    assert main(["tables", *map(str, words)]) == 0
    assert capsys.readouterr().out == (
        "  seats: 0 -> 7\nT1: version 2 is published, and rules will answer: "
        "it takes force at the next opening, never in a window; decks at the next shoe\n"
    )
    code, found = asked(words, capsys)  # before rules have answered: it waits, and is not published once more
    assert (found["published"], found["version"]) == (False, 2)
    assert main(["tables", "diff", str(file), "--state", str(state)]) == 0
    assert capsys.readouterr().out == "T1: nothing differs from version 2\n"
    file.write_text(PLAIN + "seats = 8\n")
    assert asked(words, capsys)[1]["version"] == 3
    assert [one.version for one in sent(state)] == [1, 2, 3]


def test_what_rules_refused_is_nothing_that_waits(file: Path, state: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = TableConfigured(event_id="e", table_id="T1", version=4, configuration=CLASSIC, by="ann")
    refused = IrregularityFound(
        **{**COMMON, "cause_id": "configuration/4"}, code="configuration-refused", text="no", policy="refused"
    )
    append(state, ROUNDS, refused)
    append(state, TABLE_FEED, said)
    code, found = asked(["diff", file, "--state", state], capsys)
    assert (code, found["version"]) == (1, 0)
    code, found = asked(["apply", file, "--state", state], capsys)
    assert (found["published"], found["version"]) == (True, 5)


def test_decks_do_not_change_in_mid_shoe(file: Path, state: Path, capsys: pytest.CaptureFixture[str]) -> None:
    append(state, ROUNDS, RulesInForce(**COMMON, version=2, configuration=CLASSIC), opened())
    file.write_text(PLAIN + "\ndecks = 6\n")
    words = ["tables", "apply", str(file), "--state", str(state)]
    assert main(words) == 2
    assert capsys.readouterr().err == (
        f"punto: {file}:5: decks: table T1 is in the middle of shoe 12 of 8 decks; "
        "apply this once the shoe has closed, or with --nextshoe: decks then change with the next shoe\n"
    )
    assert sent(state) == []
    assert main([*words, "--nextshoe"]) == 0
    assert sent(state)[0].configuration.decks == 6
    append(state, ROUNDS, ShoeClosed(**COMMON, shoe_no=12, reason="cut card", rounds=70, cards=400))
    assert main(words) == 0


def test_a_table_keeps_its_currency(file: Path, state: Path, capsys: pytest.CaptureFixture[str]) -> None:
    append(state, ROUNDS, RulesInForce(**COMMON, version=2, configuration=CLASSIC))
    file.write_text(PLAIN.replace("EUR", "JPY"))
    assert main(["tables", "apply", str(file), "--state", str(state)]) == 2
    assert capsys.readouterr().err == (
        f"punto: {file}:3: currency: table T1 plays in EUR of 2 decimals, and its debts are in it; "
        "open another table for JPY\n"
    )
    assert sent(state) == []


async def answered(event: Event | None) -> tuple[str, str]:
    """What `apply` makes of an answer; None: there is none in time."""

    class Follower:
        async def next(self) -> list[Event]:
            await asyncio.sleep(0)
            others: list[Event] = [opened()]
            return others if event is None else [*others, event]

    said = TableConfigured(event_id="e", table_id="T1", version=3, configuration=CLASSIC, by="ann")
    return await tables._answer(Follower(), said, 0.2)  # type: ignore[arg-type]


async def test_the_answer_of_rules() -> None:
    mine = {**COMMON, "cause_id": "configuration/3"}
    assert (await answered(ConfigurationReceived(**mine, version=3, configuration=CLASSIC)))[0] == "received"
    refused = IrregularityFound(**mine, code="configuration-refused", text="decks is 13", policy="refused")
    assert await answered(refused) == ("refused", "is refused by rules: decks is 13")
    assert (await answered(None))[0] == "none"
    assert (await answered(replace(opened(), cause_id="configuration/3")))[0] == "none"


def test_a_refusal_by_rules_is_exit_code_1(
    file: Path, state: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async def refused(*_: object) -> tuple[str, str]:
        await asyncio.sleep(0)
        return "refused", "is refused by rules: it is late"

    monkeypatch.setattr(tables, "_answer", refused)
    assert main(["tables", "apply", str(file), "--state", str(state)]) == 1
    assert capsys.readouterr().out.endswith("T1: version 1 is refused by rules: it is late\n")


# ---- what a log knows


def test_what_is_learnt_of_a_table() -> None:
    other = replace(CLASSIC, decks=6)
    events: list[Event] = [
        TableConfigured(event_id="e", table_id="T1", version=1, configuration=CLASSIC, by="ann"),
        ConfigurationReceived(**COMMON, version=1, configuration=CLASSIC),
        RulesInForce(**COMMON, version=1, configuration=CLASSIC),
        opened(),
        TableConfigured(event_id="e", table_id="T1", version=3, configuration=other, by="ann"),
        ConfigurationReceived(**COMMON, version=3, configuration=other),
        RulesInForce(**COMMON, version=1, configuration=CLASSIC),  # an older one that comes again
        IrregularityFound(**COMMON, code="x", text="", policy=""),
    ]
    known = Known()
    for event in events:
        known = learnt(known, event)
    assert (known.in_force, known.shoe_no, known.decks) == (1, 12, 8)
    assert newest(known.published) == (3, other)
    assert known.published.last_sent == 3
    moved = TableMoved(event_id="e", table_id="T1", action_id="a", next_shoe_no=13, version=9, configuration=CLASSIC)
    assert learnt(known, moved).published.last_sent == 9
    assert newest(learnt(known, moved).published) == (9, CLASSIC)


# ---- where the log is


def test_the_log_of_a_folder(tmp_path: Path, state: Path, capsys: pytest.CaptureFixture[str], file: Path) -> None:
    assert log_file(state) == log_file(state / "log.sqlite") == state / "log.sqlite"
    demo = tmp_path / "home" / "demo"
    (demo / "log-2").mkdir(parents=True)
    write(demo / CURRENT, Current("log-2", None))
    (demo / "log-2" / "log.sqlite").touch()
    assert log_file(tmp_path / "home") == log_file(demo) == demo / "log-2" / "log.sqlite"
    assert main(["tables", "diff", str(file), "--state", str(tmp_path)]) == 2
    assert f"{tmp_path}: there is no log here; --state names a folder with log.sqlite" in capsys.readouterr().err


def test_a_log_that_somebody_runs(file: Path, state: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with EmbeddedLog(state / "log.sqlite", 3):
        assert main(["tables", "diff", str(file), "--state", str(state)]) == 3
    assert "log.sqlite" in capsys.readouterr().err


def test_kafka_that_is_away(file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("KAFKA_BOOTSTRAP_SERVERS", "127.0.0.1:1")
    monkeypatch.setenv("SCHEMA_REGISTRY_URL", "http://127.0.0.1:1")
    assert main(["tables", "diff", str(file)]) == 3
    monkeypatch.setenv("SCHEMA_REGISTRY_URL", "")
    assert main(["tables", "diff", str(file)]) == 3
    err = capsys.readouterr().err
    assert "127.0.0.1:1" in err
    assert err.count("\n") == 2


@pytest.mark.parametrize("with_registry", [False, True])
def test_on_kafka(
    with_registry: bool,  # noqa: FBT001
    request: pytest.FixtureRequest,
    kafka: str,
    prefix: str,
    file: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    settings = {
        "KAFKA_BOOTSTRAP_SERVERS": kafka,
        "PUNTO_TOPIC_PREFIX": prefix,
        "PUNTO_PARTITIONS": "2",
        "SCHEMA_REGISTRY_URL": request.getfixturevalue("registry") if with_registry else "",
    }
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    assert main(["topics", "apply"]) == 0
    capsys.readouterr()
    code, found = asked(["apply", file, "--wait", "0.1"], capsys)
    assert (code, found["published"], found["version"], found["answer"]) == (0, True, 1, "none")
    code, found = asked(["apply", file, "--wait", "0.1"], capsys)
    assert (found["published"], found["version"]) == (False, 1)
