"""`docs/commands.md` is what the command does: its examples are run, its tables compared."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import typer.main

from services.cli.exits import MEANINGS
from services.cli.main import COMMANDS, GROUPS, app
from services.replay.judge import CODES
from services.runtime.settings import VARIABLES

PAGE = (Path(__file__).resolve().parent.parent.parent / "docs" / "commands.md").read_text(encoding="utf-8")
SHIM = (
    f'#!/bin/sh\nexec "{sys.executable}" -c "import sys; from services.cli.main import main; sys.exit(main())" "$@"\n'
)
ROUNDS = """\
Player card 1,Player card 2,Player card 3,Banker card 1,Banker card 2,Banker card 3,Winner
9,K,,2,3,,Player
2,3,8,2,A,,Tie
9,K,8,2,3,,Player
4,5,,K,Q,6,Banker
"""


def examples() -> list[tuple[str, str]]:
    """Each command line of the page and what it prints, in order."""
    found = []
    for block in re.findall(r"```console\n(.*?)```", PAGE, re.DOTALL):
        for example in block.removeprefix("$ ").split("\n$ "):
            line, _, printed = example.partition("\n")
            found.append((line, printed if printed.endswith("\n") else printed + "\n"))
    return found


def test_every_example_prints_what_the_page_says(tmp_path: Path) -> None:
    shim = tmp_path / "punto"
    shim.write_text(SHIM)
    shim.chmod(0o755)
    (tmp_path / "rounds.csv").write_text(ROUNDS)
    root = str(Path(__file__).resolve().parent.parent.parent)
    environment = {**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": root}
    for line, printed in examples():
        done = subprocess.run(("bash", "-c", line), cwd=tmp_path, env=environment, capture_output=True, check=False)
        assert done.stdout.decode() == printed, line
        assert done.stderr == b"", line


def test_the_page_has_every_exit_code_finding_and_setting() -> None:
    for code, meaning in MEANINGS.items():
        assert f"| {int(code)} | {meaning} |" in PAGE
    for finding, meaning in CODES.items():
        assert f"| `{finding}` | {meaning} |" in PAGE
    told = dict(re.findall(r"^\| `([A-Z_]+)` \| `(\w+)` \|", PAGE, re.MULTILINE))
    assert told == {variable: name for name, variable in VARIABLES.items()}


def commands() -> list[tuple[str, set[str]]]:
    """Each command's words and its options."""
    group = typer.main.get_command(app)
    context = typer.Context(group)
    found = []
    for name in (*COMMANDS, *GROUPS):
        command = group.get_command(context, name)  # type: ignore[attr-defined]
        for words, one in {
            name: command,
            **{f"{name} {sub}": one for sub, one in getattr(command, "commands", {}).items()},
        }.items():
            if not hasattr(one, "commands"):
                found.append((words, {option for parameter in one.params for option in parameter.opts}))
    return found


@pytest.mark.parametrize(("words", "options"), commands())
def test_the_page_has_every_command_with_its_options(words: str, options: set[str]) -> None:
    (usage,) = set(re.findall(rf"^punto {words}(?: [^\n-]*| .*)?$", PAGE.split("## demo", 1)[1], re.MULTILINE)[:1])
    assert {option for option in options if option.startswith("--") and option != "--help"} == set(
        re.findall(r"--[a-z]+", usage)
    )
