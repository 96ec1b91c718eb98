"""`docs/tables.md` is what table files are: its files are read, its examples run, its lists compared."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from services.baccarat import tables
from services.baccarat.features import FEATURES
from services.runtime.gaming_day import is_zone

TOP = Path(__file__).resolve().parents[2]
PAGE = (TOP / "docs" / "tables.md").read_text("utf-8")
BLOCKS = re.findall(r"```(toml|console)\n(.*?)```", PAGE, re.DOTALL)
FILES = [text for kind, text in BLOCKS if kind == "toml"]
WRONG = 'game = "clasic"'


def test_every_example_prints_what_the_page_says(tmp_path: Path) -> None:
    """Each is about the file before it."""
    shim = tmp_path / "punto"
    shim.write_text(f'#!/bin/sh\nexec "{sys.executable}" -c "import sys; from services.cli.main import main; '
                    'sys.exit(main())" "$@"\n')  # fmt: skip
    shim.chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(TOP)}
    run = 0
    for kind, text in BLOCKS:
        if kind == "toml":
            (tmp_path / "table.toml").write_text(text)
            continue
        line, _, printed = text.removeprefix("$ ").partition("\n")
        done = subprocess.run(("bash", "-c", line), cwd=tmp_path, env=environment, capture_output=True, check=False)
        assert done.stdout.decode() == printed, line
        assert done.stderr == b""
        run += 1
    assert run == 3


@pytest.mark.parametrize("text", FILES, ids=lambda text: text.splitlines()[0])
def test_every_file_but_the_wrong_one_is_right(text: str) -> None:
    assert bool(tables.read(text, is_zone).faults) == (WRONG in text)


def test_the_vocabulary_is_the_whole_one() -> None:
    rows = re.findall(r"^\| `(\w+)` \| ([^|]*) \| ([^|]*) \|$", PAGE.split("## A bet of your own")[1], re.MULTILINE)
    assert [name for name, _, _ in rows] == list(FEATURES)
    for name, values, says in rows:
        feature = FEATURES[name]
        assert says == feature.says
        spelt = re.sub(
            r"(\d+) to (\d+)", lambda span: ", ".join(map(str, range(int(span[1]), int(span[2]) + 1))), values
        )
        assert tuple(spelt.split(", ")) == feature.values, name


def test_every_setting_is_on_the_page_and_no_other() -> None:
    told = set(re.findall(r"`(\w+)`", PAGE.split("## Every setting")[1].split("## A bet of")[0]))
    keys = {key for known in tables.SECTIONS.values() for key in known} | {*tables.OF_BET}
    tops = {key for key in tables.TOP if key not in {*tables.SECTIONS, "pays", "policies", "games", "bets"}}
    assert keys - {"bets"} <= told
    assert tops <= told
    for section in (*tables.SECTIONS, "pays", "policies", "games", "bets"):
        assert re.search(rf"\[{section}[.\]]", PAGE), section
