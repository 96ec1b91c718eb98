"""`punto local` says what `services.runtime.local` did; starting real servers is that module's own test."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from services.cli.main import main
from services.runtime import local

STACK = local.Stack((local.Member("kafka", "127.0.0.1:20001", 20001, 77, "1"),))


def test_up_prints_lines_for_a_shell(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def up(_: Path, started: Callable[[str], None]) -> local.Stack:
        started("kafka at 127.0.0.1:20001")
        return STACK

    monkeypatch.setattr(local, "up", up)
    assert main(["local", "up"]) == 0
    assert capsys.readouterr() == (
        "export KAFKA_BOOTSTRAP_SERVERS=127.0.0.1:20001\n",
        "punto: kafka at 127.0.0.1:20001\n",
    )
    assert main(["local", "up", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == [{"name": "kafka", "address": "127.0.0.1:20001", "pid": 77}]


def test_a_server_that_cannot_be_had_is_not_ready(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def up(*_: object) -> None:
        raise local.LocalError('Kafka needs the extra: pip install "puntobanco[local]"')

    monkeypatch.setattr(local, "up", up)
    assert main(["local", "up"]) == 3
    assert capsys.readouterr() == ("", 'punto: Kafka needs the extra: pip install "puntobanco[local]"\n')


@pytest.mark.parametrize(
    ("stopped", "said"), [((), "nothing was running\n"), (("redis", "kafka"), "redis stopped, kafka stopped\n")]
)
def test_down_names_what_it_stopped(
    stopped: tuple[str, ...], said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(local, "down", lambda _: stopped)
    assert main(["local", "down"]) == 0
    assert capsys.readouterr().out == said
    assert main(["local", "down", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == list(stopped)


def test_a_cluster_id_never_looks_like_an_option(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = iter(("-Vq1wd_KQ1SgCGj2ZNZi7w", "--", "Vq1wd_KQ1SgCGj2ZNZi7ww"))
    monkeypatch.setattr("secrets.token_urlsafe", lambda _: next(drawn))
    command = local.format_command(("java",), Path("server.properties"))
    assert not [word for word in command if word.startswith("-") and word not in ("-c", "-t")]
    assert command[command.index("-t") + 1] == "Vq1wd_KQ1SgCGj2ZNZi7ww"
