"""`docs/commands.md` is what the command does: its examples are run, its tables compared."""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import typer.main

from services.cli.exits import MEANINGS
from services.cli.main import COMMANDS, GROUPS, app
from services.replay.judge import CODES
from services.runtime.settings import VARIABLES

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")
PLAYS_FOR_EVER = re.compile(r"punto (demo|run|local)\b")
SHIM = (
    f'#!/bin/sh\nexec "{sys.executable}" -c "import sys; from services.cli.main import main; sys.exit(main())" "$@"\n'
)
Shell = Callable[[str], "subprocess.CompletedProcess[bytes]"]
ROUNDS = """\
Player card 1,Player card 2,Player card 3,Banker card 1,Banker card 2,Banker card 3,Winner
9,K,,2,3,,Player
2,3,8,2,A,,Tie
9,K,8,2,3,,Player
4,5,,K,Q,6,Banker
"""


def examples(text: str) -> list[tuple[str, str]]:
    """Each command line of the text and what it prints, in order."""
    found = []
    for block in re.findall(r"```console\n(.*?)```", text, re.DOTALL):
        for example in block.removeprefix("$ ").split("\n$ "):
            line, _, printed = example.partition("\n")
            found.append((line, printed if printed.endswith("\n") else printed + "\n"))
    return found


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """Runs a line with this checkout's `punto` on the PATH, in a folder of its own."""
    shim = tmp_path / "punto"
    shim.write_text(SHIM)
    shim.chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}

    def run(line: str) -> "subprocess.CompletedProcess[bytes]":
        return subprocess.run(("bash", "-c", line), cwd=tmp_path, env=environment, capture_output=True, check=False)

    return run


def test_every_example_prints_what_the_page_says(tmp_path: Path, shell: Shell) -> None:
    (tmp_path / "rounds.csv").write_text(ROUNDS)
    for line, printed in examples(PAGE):
        done = shell(line)
        assert done.stdout.decode() == printed, line
        assert done.stderr == b"", line


def test_every_example_of_the_readme_works(shell: Shell) -> None:
    lines = [line for line, _ in examples(README) if not PLAYS_FOR_EVER.match(line)]
    assert len(lines) > 3
    for line in lines:
        done = shell(line)
        assert (done.returncode, done.stderr) == (0, b""), line
        assert done.stdout, line


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
