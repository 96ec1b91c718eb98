"""Bad input and what it gets, on the embedded runtime; tests/broker has the same on Kafka."""

import asyncio
import re
from pathlib import Path

import pytest
from msgspec import Struct

from services.card_scanner.recording import checksum
from services.cli.main import main
from tests.runtime.bad_inputs import CASES, judge_case, play
from tests.runtime.harness import EmbeddedHarness
from tests.runtime.reference import Told
from tests.runtime.test_contract import judge


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Told:
    async def played() -> Told:
        harness = EmbeddedHarness(tmp_path_factory.mktemp("bad-input"))
        await play(harness)
        return judge(harness, forged=True)

    return asyncio.run(played())


@pytest.mark.parametrize("name", CASES)
def test_bad_input_gets_its_answer_and_no_other_table_notices(told: Told, name: str) -> None:
    judge_case(told, name)


# ---------------------------------------------------------------- files and command lines: one line, what and where


class Line(Struct, frozen=True):
    """A command that meets a bad FILE: its exit code, and the one line that it has to say of it, as a pattern."""

    words: tuple[str, ...]
    file: str
    code: int
    says: str


def recording(*lines: str) -> str:
    """With the right checksums."""
    return "".join(f"{line} *{checksum(line)}\n" for line in ("puntobanco recording 1", *lines))


NINE_SEVENS = [*(f"card {number} 7H" for number in range(1, 10)), "card 10 2S"]
CSV = (
    "Player card 1,Player card 2,Player card 3,Banker card 1,Banker card 2,Banker card 3,Player total,Banker total,"
    "Winner,Pair outcome\n9,K,,2,1Z,,9,3,Player,No pair\n"
)
LINES = {
    "bad-checksum": Line(
        ("replay", "FILE"),
        recording("shoe decks=8", "card 1 9S", "end cards=1").replace("9S", "8S"),
        2,
        r"FILE:3:11: the checksum \*\w{4} is not this line's; restore it from its source, or, .* end it with '\*\w{4}'",
    ),
    "bad-checksum-at-the-scanner": Line(
        ("run", "card-scanner", "--table", "T1", "--recording", "FILE"),
        recording("shoe decks=8", "card 1 9S", "end cards=1").replace("9S", "8S"),
        2,
        r"FILE:3:11: the checksum \*\w{4} is not this line's; .*",
    ),
    "unknown-card-of-a-recording": Line(
        ("replay", "FILE"), recording("shoe decks=8", "card 1 9X"), 2, r"FILE:3:8: '9X' is no card; write rank then .*"
    ),
    "unknown-card-of-a-csv": Line(
        ("replay", "FILE"),
        CSV,
        1,
        r"FILE:2: round 1: unknown-card: column 'banker card 2': '1Z' is no card; .*",
    ),
    "unknown-card-at-the-scanner": Line(
        ("run", "card-scanner", "--table", "T1", "--recording", "FILE"),
        CSV,
        2,
        r"FILE:2: column 'banker card 2': '1Z' is no card; .*",
    ),
    "unknown-card-of-a-command": Line(("round", "9S", "KH", "9X", "6H"), "", 1, r".*'9X' is no card; .*"),
    "out-of-sequence": Line(
        ("replay", "FILE"),
        recording("shoe decks=8", "card 1 9S", "card 3 9S"),
        2,
        r"FILE:4:6: card 3 is out of sequence; card 2 comes here: find the missing card or renumber",
    ),
    "ninth-seven-of-hearts": Line(
        ("replay", "FILE"), recording("shoe decks=8", *NINE_SEVENS, "end cards=10"), 1, r"FILE:11: .*: .*7H.*"
    ),
    "settings-misspelt": Line(
        ("run", "rules"),
        'kafka = "127.0.0.1:9092"\npartitons = 6\n',
        2,
        r"FILE:2: partitons: there is no such setting; did you mean 'partitions'\?",
    ),
    "settings-mistyped": Line(
        ("run", "settlement"),
        'partitions = "6"\n',
        2,
        r"FILE:1: partitions: must be a whole number, without quotes, .*",
    ),
    "settings-no-toml": Line(("run", "dashboard"), "kafka = \n", 2, r"FILE:1: not TOML: .*"),
}


@pytest.mark.parametrize("name", LINES)
def test_a_bad_file_is_one_line_that_says_what_and_where(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    line, file = LINES[name], tmp_path / "file.txt"
    file.write_text(line.file)
    if name.startswith("settings"):
        monkeypatch.setenv("PUNTO_SETTINGS", str(file))
    assert main([word.replace("FILE", str(file)) for word in line.words]) == line.code
    out, err = capsys.readouterr()
    said = (err or out).splitlines()
    assert [one for one in said if re.fullmatch("(punto: )?" + line.says.replace("FILE", re.escape(str(file))), one)]
    assert len(err.splitlines()) == (1 if err else 0)
    assert "Traceback" not in err
