import json
import shutil
import sys
from pathlib import Path

import pytest

from services.cli.main import main
from services.runtime.paths import SCHEMAS


def test_the_schemas_of_this_program_are_compatible(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schemas", "check"]) == 0
    assert "each compatible with all its versions" in capsys.readouterr().out


def test_a_changed_field_is_a_finding(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "schemas"
    shutil.copytree(SCHEMAS, folder)
    file = folder / "bet_placed.avsc"
    file.write_text(file.read_text().replace('"stake_minor"', '"stake"'))
    assert main(["schemas", "check", "--folder", str(folder), "--json"]) == 1
    findings = json.loads(capsys.readouterr().out)
    assert {one["file"] for one in findings} == {"bet_placed.avsc"}
    assert main(["schemas", "check", "--folder", str(folder)]) == 1
    assert capsys.readouterr().out.startswith("bet_placed.avsc: ")


def test_registered_twice_they_keep_their_ids(
    registry: str, prefix: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PUNTO_TOPIC_PREFIX", prefix)
    assert main(["schemas", "register", "--url", registry, "--json"]) == 0
    first = json.loads(capsys.readouterr().out)
    assert "table-feed-puntobanco.CardDealt" in first
    monkeypatch.setenv("SCHEMA_REGISTRY_URL", registry)
    assert main(["schemas", "register"]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert {subject: int(number) for number, subject in lines} == first


def test_without_the_extra_the_registry_is_something_that_is_not_there(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "confluent_kafka.schema_registry", None)
    assert main(["schemas", "register", "--url", "http://127.0.0.1:1"]) == 3
    assert "puntobanco[registry]" in capsys.readouterr().err
