"""Errors in one line, exit codes, and a help that teaches."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence

import pytest

from services.baccarat.errors import BadSettings, InvariantBroken, NotReady, Unfit, Unusable
from services.cli import main, variants
from services.cli.exits import MEANINGS, Code

PUNTO = (sys.executable, "-c", "import sys; from services.cli.main import main; sys.exit(main())")


def punto(*words: str, given: bytes = b"", **environment: str) -> tuple[int, str, str]:
    """The command as a process of its own: exit code, output, errors."""
    done = subprocess.run(
        (*PUNTO, *words), input=given, capture_output=True, env={**os.environ, **environment}, check=False
    )
    return done.returncode, done.stdout.decode(), done.stderr.decode()


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["round", "9S", "KH"], Code.FOUND, "2 cards were given"),
        (["round", "9S", "JOKER"], Code.FOUND, "'JOKER' is no card"),
        (["round"], Code.USAGE, "'punto round --help' teaches"),
        (["rond"], Code.USAGE, "rond"),
        (["deal", "--decks", "13"], Code.USAGE, "1 to 12 decks, not 13"),
        (["deal", "--decks", "many"], Code.USAGE, "--decks"),
        (["deal", "--variant", "pontoon"], Code.USAGE, "no variant is called 'pontoon'"),
        (["deal", "--out", "/nowhere/shoe.rec"], Code.USAGE, "/nowhere/shoe.rec: cannot be written"),
        (["deal", "--seed", "a b"], Code.USAGE, "--seed"),
        (["replay", "/nowhere/shoe.rec"], Code.USAGE, "/nowhere/shoe.rec"),
        (["replay", "/"], Code.USAGE, "/: is a folder"),
        (["variants", "pontoon"], Code.USAGE, "no variant is called 'pontoon'"),
        (["schemas", "check", "--folder", "/nowhere"], Code.USAGE, "/nowhere"),
        (["topics", "burn"], Code.USAGE, "burn"),
    ],
)
def test_an_error_is_one_line_that_says_what(
    words: Sequence[str], code: Code, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main.main(words) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert err.startswith("punto: ")
    assert said in err


def test_machines_get_the_error_as_an_object(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["replay", "/nowhere", "--json"]) == Code.USAGE
    out, err = capsys.readouterr()
    assert json.loads(out)["error"]["code"] == "bad-settings"
    assert json.loads(out)["error"]["message"] in err


@pytest.mark.parametrize(
    ("error", "code", "name"),
    [
        (BadSettings("x"), Code.USAGE, "bad-settings"),
        (NotReady("x"), Code.NOT_READY, "not-ready"),
        (Unusable("torn", "x"), Code.USAGE, "torn"),
        (Unfit("too-large", "x"), Code.USAGE, "too-large"),
        (InvariantBroken("x"), Code.FAULT, "invariant-broken"),
        (PermissionError(13, "denied", "x"), Code.USAGE, "system"),
        (RuntimeError("x"), Code.FAULT, "fault"),
        (ExceptionGroup("side by side", [NotReady("x"), RuntimeError("y")]), Code.NOT_READY, "not-ready"),
    ],
)
@pytest.mark.parametrize("debug", ["", "1"])
def test_every_error_has_its_exit_code(
    error: Exception,
    code: Code,
    name: str,
    debug: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setenv("PUNTO_DEBUG", debug)
    monkeypatch.setattr(variants, "say_json", fail)
    assert main.main(["variants", "--json"]) == code
    out, err = capsys.readouterr()
    assert json.loads(out)["error"]["code"] == name
    assert out.count("\n") == 1
    assert ("Traceback" in err) == bool(debug)
    if not debug:
        assert err.count("\n") == 1


def test_the_whole_command_ends_with_its_code_and_no_traceback() -> None:
    assert punto("round", "9S", "KH") == (1, "", "punto: 2 cards were given, and the Player's next one is missing\n")
    code, out, err = punto("round", "--card")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert punto("round", "9", "2", "K", "3")[0] == 0


def test_settings_with_a_typing_error_are_told_by_file_and_line(tmp_path: object) -> None:
    file = f"{tmp_path}/punto.toml"
    with open(file, "w", encoding="utf-8") as settings:  # noqa: PTH123 - a path as text, as in the environment
        settings.write('partitions = 4\nkafkaa = "127.0.0.1:9092"\n')
    code, out, err = punto("topics", "plan", PUNTO_SETTINGS=file)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert f"{file}:2: kafkaa: there is no such setting; did you mean 'kafka'?" in err


def test_a_kafka_that_is_not_there_is_not_ready() -> None:
    code, out, err = punto("topics", "plan", KAFKA_BOOTSTRAP_SERVERS="127.0.0.1:1")
    assert (code, out, err) == (3, "", "punto: Kafka at 127.0.0.1:1 does not answer\n")


def test_a_registry_must_be_named() -> None:
    code, out, err = punto("schemas", "register", SCHEMA_REGISTRY_URL="")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "SCHEMA_REGISTRY_URL" in err


def test_a_reader_who_has_enough_is_no_error() -> None:
    with subprocess.Popen((*PUNTO, "round", "--json", "-"), stdin=-1, stdout=-1, stderr=-1) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        process.stdin.write(b"9 2 K 3\n" * 10)
        process.stdin.close()
        assert process.wait(20) == Code.PIPE
        assert process.stderr.read() == b""


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("variants > /dev/full", "No space left"),
        ("odds > /dev/full", "No space left"),
        ("deal --json > /dev/full", "No space left"),
        ("--help > /dev/full", "No space left"),
        ("variants >&-", "closed"),
        ("variants --json >&-", "closed"),
    ],
)
def test_an_output_that_cannot_be_written_is_one_line(line: str, said: str) -> None:
    done = subprocess.run(
        ("bash", "-c", f'"$@" {line}', "bash", *PUNTO), capture_output=True, check=False, stdin=subprocess.DEVNULL
    )
    err = done.stderr.decode()
    assert (done.returncode, err.count("\n")) == (Code.NOT_WRITTEN, 1), err
    assert said in err


def test_errors_that_nobody_can_hear_keep_their_exit_code() -> None:
    for where in ("2>&-", "2>/dev/full"):
        done = subprocess.run(("bash", "-c", f'"$@" round 9S {where}', "bash", *PUNTO), check=False)
        assert done.returncode == Code.FOUND, where


def test_ctrl_c_is_no_error_either(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(variants, "say", interrupt)
    assert main.main(["variants"]) == Code.INTERRUPTED
    assert capsys.readouterr() == ("", "")


def test_output_is_right_whatever_the_locale() -> None:
    code, out, err = punto("round", "9S", "2\u00e9", PYTHONIOENCODING="ascii", PYTHONUTF8="0", LC_ALL="C")
    assert (code, out) == (1, "")
    assert err.startswith("punto: '2")


def test_the_help_names_every_command_and_every_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["--help"]) == Code.DONE
    text = capsys.readouterr().out
    for name in (*main.COMMANDS, *main.GROUPS):
        assert f"  {name} " in text
    for code, meaning in MEANINGS.items():
        assert f"{code:>3}  {meaning}" in text
    assert main.main([]) == Code.DONE
    assert capsys.readouterr().out == text


def test_the_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["--version"]) == Code.DONE
    assert capsys.readouterr().out.startswith("puntobanco 0.")


def test_small_commands_import_little() -> None:
    """Where the time of a start goes: none of these is needed to explain a round."""
    heavy = ("asyncio", "rich", "aiokafka", "fastavro", "starlette", "redis", "sqlite3", "ssl")
    look = f"print([name for name in {heavy} if name in sys.modules])"
    program = f"import sys; from services.cli.main import main; main(['round', '9', '2', 'K', '3']); {look}"
    begun = time.monotonic()
    done = subprocess.run((sys.executable, "-c", program), capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]", f"after {time.monotonic() - begun:.2f} s"
