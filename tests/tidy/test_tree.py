"""What a reader would trip over, in every file of the checkout."""

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import grimp
import pytest

from services.runtime.paths import SCHEMAS

TOP = Path(__file__).resolve().parents[2]
GAME = TOP / "services" / "baccarat"
TEXT = {".py", ".md", ".toml", ".yml", ".yaml", ".html", ".css", ".js", ".lua", ".avsc", ".txt", ".properties", ""}
ITSELF = Path(__file__).resolve()

# In a line of any file. The brackets keep these lines from finding themselves.
NOWHERE = {
    "work left undone": r"\b(TOD[O]|FIXM[E])\b",
    "a stub": r"\bNotImplementedErro[r]\b",
    "a path of one machine": r"(?<![\w.])/(wor[k]|roo[t]|home/\w+)/",
    "a registry's host": r"\b(pypi|pythonhosted|repo1\.maven|registry\.npmjs|crates|proxy\.golang)\.(or[g]|i[o])\b",
}
VAGUE = {"base", "common", "helper", "helpers", "manager", "managers", "misc", "util", "utils"}
# The field's words are in ARCHITECTURE.md; these are the other words for the same things.
OTHER_WORDS = {"coup", "ledger", "multiplier", "parked", "punter", "refund", "scoreboard", "user", "vig", "wager"}
AMERICAN = (
    r"\b(behavior|favor|honor|neighbor|labor|center|gray)(s|ed|able|ite|ing)?\b|"
    r"\b(canceled|canceling|labeled|labeling|modeled|signaled)\b"
)
MOST_LINES = 1_200
LONGEST_FUNCTION = 60  # 40 is the aim; a flat list may be longer
LINK = re.compile(r"(?<!!)\[[^\]]+\]\(([^)\s]+)\)|!\[[^\]]*\]\(([^)\s]+)\)")


def files() -> list[Path]:
    """Those that are kept, and those that are about to be."""
    listed = subprocess.run(
        ("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"),
        cwd=TOP, capture_output=True, text=True, check=True,
    )  # fmt: skip
    found = sorted({TOP / name for name in listed.stdout.split("\0") if name})
    return [path for path in found if path.is_file()]


FILES = files()
TEXTS = [path for path in FILES if path.suffix in TEXT and path != ITSELF]
CODE = [path for path in FILES if path.suffix == ".py"]
MODULES = [path for path in CODE if path.is_relative_to(TOP / "services")]


def lines(path: Path) -> Iterator[tuple[str, str]]:
    """Where, and what stands there."""
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        yield f"{path.relative_to(TOP)}:{number}", line


def places(pattern: str, among: list[Path], flags: int = 0) -> list[str]:
    wanted = re.compile(pattern, flags)
    return [where for path in among for where, line in lines(path) if wanted.search(line)]


def test_there_is_something_to_look_at() -> None:
    assert len(MODULES) > 20
    assert GAME / "tableau.py" in MODULES


@pytest.mark.parametrize("what", NOWHERE)
def test_nowhere_is(what: str) -> None:
    assert places(NOWHERE[what], TEXTS) == []


def test_the_patterns_find_what_they_are_for() -> None:
    examples = {
        "work left undone": "# TO" + "DO: later",
        "a stub": "raise NotImplemented" + "Error",
        "a path of one machine": "open('/ro" + "ot/file')",
        "a registry's host": "https://py" + "pi.org/simple",
    }
    assert [what for what, example in examples.items() if not re.search(NOWHERE[what], example)] == []


def test_names_of_modules_say_what_is_in_them() -> None:
    assert [path for path in CODE if VAGUE.intersection(path.stem.split("_"))] == []


def test_names_are_the_words_of_the_field() -> None:
    """Not in `runtime`, where the words are Kafka's."""
    found = {
        f"{path.relative_to(TOP)}: {name}"
        for path in MODULES
        if "runtime" not in path.parts
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        for name in (getattr(node, "name", None), getattr(node, "id", None), getattr(node, "arg", None))
        if isinstance(name, str) and OTHER_WORDS.intersection(name.lower().split("_"))
    }
    assert found == set()


def test_english_is_british() -> None:
    prose = [path for path in TEXTS if path.suffix in {".md", ".py"}]
    assert places(AMERICAN, prose, re.IGNORECASE) == []


def test_no_file_is_too_long_to_read() -> None:
    lengths = {path.relative_to(TOP): len(path.read_text("utf-8").splitlines()) for path in CODE}
    assert {path: length for path, length in lengths.items() if length > MOST_LINES} == {}


def test_functions_fit_a_screen() -> None:
    long = [
        f"{path.relative_to(TOP)}:{node.lineno} {node.name}"
        for path in MODULES
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (node.end_lineno or node.lineno) - node.lineno >= LONGEST_FUNCTION
    ]
    assert long == []


def deciding(path: Path) -> bool:
    """Whether there is anything to test: it has functions, not only words."""
    tree = ast.parse(path.read_text("utf-8"))
    return any(isinstance(node, ast.FunctionDef) for node in ast.walk(tree))


@pytest.mark.parametrize("module", [path.stem for path in sorted(GAME.glob("*.py")) if deciding(path)])
def test_every_module_of_the_game_has_its_tests(module: str) -> None:
    assert (TOP / "tests" / "baccarat" / f"test_{module}.py").is_file()


def test_every_module_is_used() -> None:
    graph = grimp.build_graph("services")
    entries = {"services.cli.main"}
    dead = {
        module
        for module in graph.modules - entries
        if not graph.find_modules_that_directly_import(module) and not graph.find_children(module)
    }
    assert dead == set()


def test_links_lead_somewhere() -> None:
    broken = [
        f"{where}: {target}"
        for path in FILES
        if path.suffix == ".md"
        for where, line in lines(path)
        for target in (text for pair in LINK.findall(line) for text in pair if text)
        if not re.match(r"[a-z]+:|#", target) and not (path.parent / target.partition("#")[0]).exists()
    ]
    assert broken == []


def test_the_schemas_travel_with_the_code() -> None:
    assert (SCHEMAS / "card_dealt.avsc").is_file()
