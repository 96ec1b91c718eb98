"""`punto demo` as a process: the address first, a clean stop, and going on after a kill."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from services.cli.main import main
from services.runtime.local import free_port

PUNTO = (sys.executable, "-c", "import sys; from services.cli.main import main; sys.exit(main())")


def start(redis_url: str, folder: Path, *words: str) -> "subprocess.Popen[str]":
    environment = {**os.environ, "REDIS_URL": redis_url, "PUNTO_STATE_DIR": str(folder)}
    command = (*PUNTO, "demo", "--speed", "20", "--port", str(free_port()), *words)
    return subprocess.Popen(command, stdout=-1, stderr=-1, text=True, env=environment)


def until_round(process: "subprocess.Popen[str]") -> list[str]:
    """What is printed until a round is settled."""
    assert process.stdout is not None
    lines = []
    for line in process.stdout:
        lines.append(line)
        if " bets " in line:
            return lines
    raise AssertionError(f"no round was settled: {lines}")


def test_the_address_comes_first_and_ctrl_c_stops_it(redis_url: str, tmp_path: Path) -> None:
    with start(redis_url, tmp_path, "--tables", "2", "--seed", "5") as process:
        lines = until_round(process)
        assert lines[0].startswith("http://127.0.0.1:")
        process.send_signal(signal.SIGINT)
        rest, errors = process.communicate(timeout=30)
        assert process.returncode == 0
        assert rest.splitlines()[-1].startswith("Stopped")
        assert "Traceback" not in errors


def test_after_a_kill_it_goes_on(redis_url: str, tmp_path: Path) -> None:
    with start(redis_url, tmp_path) as process:
        assert "A new log" in until_round(process)[1]
        process.kill()
    with start(redis_url, tmp_path, "--seconds", "3") as process:
        out, errors = process.communicate(timeout=30)
        assert process.returncode == 0, errors
        assert "Going on with the log" in out.splitlines()[1]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--tables", "0"], "1 to 200 tables, not 0"),
        (["--speed", "0"], "the speed is 0.1 to 1000, not 0"),
        (["--port", "70000"], "a port is a number up to 65535"),
    ],
)
def test_what_cannot_be_played_is_one_line(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", *words]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert said in err
    assert err.count("\n") == 1
