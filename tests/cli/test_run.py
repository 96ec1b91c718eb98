"""`punto run`: the services as processes of their own, on a real Kafka and Redis."""

import os
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from services.baccarat.errors import BadSettings, Unusable
from services.card_scanner.sources import Recorded
from services.cli.main import main
from services.cli.run import checked_speed, demonstration, page_address, recorded_source
from services.runtime.local import free_port

PUNTO = (sys.executable, "-c", "import sys; from services.cli.main import main; sys.exit(main())")
SERVICES = {
    "rules": (),
    "settlement": (),
    "dashboard": (),
    "card-scanner": ("--tables", "1", "--speed", "20"),
    "demo-dealer": ("--tables", "1", "--speed", "20"),
    "demo-customers": ("--tables", "1", "--seed", "1"),
}
WITHIN_S = 90.0


def fetched(port: int, path: str) -> str:
    """Empty while nobody answers there, or answers that it is not ready."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=5) as answer:
            return str(answer.read().decode())
    except (OSError, urllib.error.HTTPError):
        return ""


def counted(port: int, name: str) -> int:
    """A number of the service's metrics; 0 while nobody answers there."""
    lines = [line for line in fetched(port, "/metrics").splitlines() if line.startswith(name)]
    return int(lines[0].rpartition(" ")[2]) if lines else 0


def settled(port: int) -> int:
    """How many facts settlement has written."""
    return counted(port, "punto_facts_out_total")


def troubles(port: int) -> int:
    """How often the service has met trouble."""
    return counted(port, "punto_troubles_total")


def test_all_services_play_and_end_in_order(
    kafka: str, redis_url: str, prefix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment = {
        "KAFKA_BOOTSTRAP_SERVERS": kafka,
        "REDIS_URL": redis_url,
        "PUNTO_TOPIC_PREFIX": prefix,
        "PUNTO_PARTITIONS": "1",
        "PUNTO_STATE_DIR": str(tmp_path),
        "PUNTO_DASHBOARD_PORT": str(free_port()),
    }
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert main(["topics", "apply"]) == 0
    ports = {name: free_port() for name in SERVICES}
    logs = {name: (tmp_path / f"{name}.log").open("w+") for name in SERVICES}
    processes = {
        name: subprocess.Popen(
            (*PUNTO, "run", name, *words),
            env={**os.environ, "PUNTO_HTTP_PORT": str(ports[name])},
            stdout=logs[name],
            stderr=logs[name],
        )
        for name, words in SERVICES.items()
    }
    try:
        end = time.monotonic() + WITHIN_S
        while settled(ports["settlement"]) < 20 and time.monotonic() < end:
            time.sleep(0.2)
        while time.monotonic() < end and not all(fetched(port, "/ready") for port in ports.values()):
            time.sleep(0.2)
        unready = [name for name, port in ports.items() if not fetched(port, "/ready")]
        assert unready == []
        assert settled(ports["settlement"]) >= 20
        assert "<html" in fetched(int(environment["PUNTO_DASHBOARD_PORT"]), "/")
        for process in processes.values():
            process.send_signal(signal.SIGTERM)
        assert {name: process.wait(30) for name, process in processes.items()} == dict.fromkeys(SERVICES, 0)
    finally:
        for name, process in processes.items():
            process.kill()
            process.wait()
            logs[name].close()
    said = {name: (tmp_path / f"{name}.log").read_text() for name in SERVICES}
    assert not [name for name, text in said.items() if "Traceback" in text]
    assert not [name for name, text in said.items() if f"ready: {name}, on Kafka at {kafka}" not in text]
    assert f"http://127.0.0.1:{environment['PUNTO_DASHBOARD_PORT']}\n" in said["dashboard"]


@pytest.mark.parametrize("name", ["rules", "card-scanner"])
def test_a_service_that_waits_for_kafka_does_not_say_so_for_ever(name: str, tmp_path: Path) -> None:
    log, port = tmp_path / "log", free_port()
    away = {"KAFKA_BOOTSTRAP_SERVERS": "127.0.0.1:1", "PUNTO_STATE_DIR": str(tmp_path), "PUNTO_HTTP_PORT": str(port)}
    with (
        log.open("w") as out,
        subprocess.Popen((*PUNTO, "run", name), env={**os.environ, **away}, stdout=out, stderr=out) as process,
    ):
        end = time.monotonic() + WITHIN_S
        while troubles(port) < 4 and time.monotonic() < end:
            time.sleep(0.1)
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0
    assert log.read_text().count("Kafka at 127.0.0.1:1 does not answer") == 1


def test_a_table_must_be_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "card-scanner", "--table", ""]) == 2
    assert "--table" in capsys.readouterr().err


@pytest.mark.parametrize("name", SERVICES)
def test_the_examples_of_the_help_stand_in_lines(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", name, "--help"]) == 0
    out = capsys.readouterr().out
    assert "\\b" not in out
    assert re.search(r"^ *Examples:\n +punto|^ *Examples:\n +PUNTO", out, re.MULTILINE)


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("127.0.0.1", "http://127.0.0.1:8000"),
        ("0.0.0.0", "http://127.0.0.1:8000"),  # noqa: S104
        ("::", "http://[::1]:8000"),
    ],
)
def test_the_address_of_the_page_can_be_opened(host: str, address: str) -> None:
    assert page_address(host, 8000) == address


def test_settings_are_checked_before_anything_starts(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PUNTO_PARTITIONS", "many")
    assert main(["run", "rules"]) == 2
    assert capsys.readouterr() == ("", "punto: PUNTO_PARTITIONS: must be a whole number, not 'many'\n")


@pytest.mark.parametrize("speed", [0.0, -1.0, 1e9, float("nan")])
def test_a_speed_that_nobody_means(speed: float) -> None:
    with pytest.raises(BadSettings, match="--speed"):
        checked_speed(speed)


def test_the_tables_are_the_demonstrations() -> None:
    assert list(demonstration(2, 1.0)) == ["classic-1", "classic-tie-9-1"]
    with pytest.raises(BadSettings, match="--tables"):
        demonstration(0, 1.0)


def test_a_recording_or_a_csv_is_a_source(shared: Path, tmp_path: Path) -> None:
    public = recorded_source(shared / "recordings" / "xsgu_single.csv")
    assert isinstance(public, Recorded)
    (shoe,) = public.shoes
    assert (shoe.decks, shoe.cut_at) == (12, None)
    file = tmp_path / "shoe.rec"
    assert main(["deal", "--decks", "1", "--seed", "7", "--out", str(file)]) == 0
    own = recorded_source(file)
    assert isinstance(own, Recorded)
    assert (own.shoes[0].decks, own.shoes[0].cut_at) == (1, 38)
    file.write_text("PPBBT\n")
    with pytest.raises(Unusable, match=r"shoe\.rec:1"):
        recorded_source(file)
