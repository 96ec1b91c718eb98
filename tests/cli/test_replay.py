import json
import os
from pathlib import Path

import pytest

from services.cli.main import main

ROUNDS = """\
Player card 1,Player card 2,Player card 3,Banker card 1,Banker card 2,Banker card 3,Winner
9,K,,2,3,,Player
9,K,8,2,3,,Player
"""


@pytest.fixture
def rounds(tmp_path: Path) -> Path:
    file = tmp_path / "rounds.csv"
    file.write_text(ROUNDS)
    return file


def test_findings_end_with_one_and_name_round_and_line(rounds: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", str(rounds), "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert (found["rounds"], found["legal"]) == (2, 1)
    (finding,) = found["findings"]
    assert {name: finding[name] for name in ("round", "line", "code")} == {
        "round": 2,
        "line": 3,
        "code": "illegal-draw",
    }
    assert main(["replay", str(rounds)]) == 1
    first, *_ = capsys.readouterr().out.splitlines()
    assert first.startswith(f"{rounds}:3: round 2: illegal-draw: the Player drew 8")


def test_the_public_rounds(shared: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", str(shared / "recordings" / "xsgu_single.csv"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["rounds"], found["legal"], found["findings"]) == (100, 100, [])
    assert found["winners"] == {"player": 48, "banker": 41, "tie": 11}
    assert found["settled"] == {
        "player": "107",
        "banker": "90.95",
        "tie": "99",
        "player_pair": "72",
        "banker_pair": "48",
    }


def test_a_damaged_line_of_a_recording_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "shoe.rec"
    assert main(["deal", "--seed", "7", "--out", str(file)]) == 0
    lines = file.read_text().splitlines(keepends=True)
    at = next(number for number, line in enumerate(lines) if line.startswith("card "))
    lines[at] = lines[at].replace("card", "burn", 1)
    file.write_text("".join(lines))
    capsys.readouterr()
    assert main(["replay", str(file), "--json"]) == 2
    out, err = capsys.readouterr()
    assert json.loads(out)["error"]["code"] == "bad-checksum"
    assert err.startswith(f"punto: {file}:{at + 1}:")
    assert err.count("\n") == 1


def test_what_is_not_known_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "values.csv"
    file.write_text(ROUNDS.replace("card", "value").replace("9,K,,2,3,", "0,0,9,2,1,7").replace("9,K,8", "9,0,"))
    assert main(["replay", str(file)]) == 0
    out = capsys.readouterr().out
    assert "pairs: Player unknown, Banker 0" in out
    assert "player_pair  unknown" in out


async def test_a_log_is_decided_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import asyncio
    import sqlite3

    from services.baccarat.catalogue import configuration
    from services.baccarat.events import TABLE_FEED
    from services.card_scanner.sources import simulated_shoe
    from services.replay.deciding import feed_of, house_rules
    from services.rules import RULES
    from services.runtime.embedded import EmbeddedLog
    from services.settlement import SETTLEMENT

    how = configuration("classic", decks=1)
    path = tmp_path / "log.sqlite"
    with EmbeddedLog(path) as log:
        stop = asyncio.Event()
        running = asyncio.create_task(log.run([RULES, SETTLEMENT], stop))
        await log.append(TABLE_FEED, tuple(feed_of(simulated_shoe(house_rules(how), "1", "test"), how)))
        await log.caught_up([RULES, SETTLEMENT])
        stop.set()
        await running
    assert main(["replay", str(path)]) == 0
    assert capsys.readouterr().out.endswith("0 pending: 0 differences\n")
    with sqlite3.connect(path) as connection:
        (value,) = connection.execute("SELECT value FROM records WHERE topic = 'rounds' AND \"offset\" = 11").fetchone()
        connection.execute("UPDATE records SET value = ? WHERE topic = 'rounds' AND \"offset\" = 10", (value,))
    connection.close()
    assert main(["replay", str(path), "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["differences"][0]["topic"] == "rounds"
    assert "is decided now and is not recorded" in found["differences"][0]["message"]


def log_in(folder: Path) -> Path:
    from services.runtime.embedded import EmbeddedLog

    path = folder / "log.sqlite"
    EmbeddedLog(path).close()
    return path


def test_a_log_in_use_names_who_runs_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from services.runtime.embedded import EmbeddedLog

    path = log_in(tmp_path)
    with EmbeddedLog(path):
        for words in (["replay", str(path)], ["accounts", "T1", "--state", str(tmp_path)]):
            assert main(words) == 3
            assert f"is in use by process {os.getpid()} (" in capsys.readouterr().err


def test_a_damaged_log_and_a_folder_are_told_as_what_they_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = log_in(tmp_path)
    assert main(["replay", str(tmp_path)]) == 2
    assert f"is a folder; name a recording, a CSV or a log in it, such as {path}" in capsys.readouterr().err
    with path.open("r+b") as file:
        file.seek(100)
        file.write(b"\xff" * (path.stat().st_size - 100))
    assert main(["replay", str(path)]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert str(path) in err


def test_one_is_not_many(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "rounds.csv"
    file.write_text("".join(ROUNDS.splitlines(keepends=True)[:2]))
    assert main(["replay", str(file)]) == 0
    assert capsys.readouterr().out.startswith("1 round: 1 legal, 0 findings\n")


@pytest.mark.parametrize("words", [["--variant", "ez"], ["--decks", "3"]])
def test_a_log_says_its_variants_and_decks_itself(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    path = log_in(tmp_path)
    assert main(["replay", str(path), *words]) == 2
    assert capsys.readouterr().err == f"punto: {path}: a log states its tables itself; leave {words[0]} out\n"
