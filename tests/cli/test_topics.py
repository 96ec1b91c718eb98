"""`punto topics` on a real broker."""

import json

import pytest

from services.cli.main import main
from services.runtime.topics import TOPICS


@pytest.fixture
def on_kafka(kafka: str, prefix: str, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("KAFKA_BOOTSTRAP_SERVERS", kafka)
    monkeypatch.setenv("PUNTO_TOPIC_PREFIX", prefix)
    monkeypatch.setenv("PUNTO_PARTITIONS", "2")
    return prefix


def test_plan_apply_and_a_partition_count_that_is_refused(
    on_kafka: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["topics", "plan", "--json"]) == 1
    planned = json.loads(capsys.readouterr().out)
    assert [one["topic"] for one in planned] == [f"{on_kafka}{name}" for name in TOPICS]
    assert {one["what"] for one in planned} == {"topic"}

    assert main(["topics", "apply"]) == 0
    done = capsys.readouterr().out.splitlines()
    assert done[0] == f"done: {on_kafka}table-feed: missing, to be created with 2 partitions, 1 replicas"
    assert main(["topics", "plan"]) == 0
    assert capsys.readouterr().out == "all topics are as they must be\n"

    monkeypatch.setenv("PUNTO_PARTITIONS", "3")
    assert main(["topics", "apply"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"punto: {on_kafka}table-feed: partitions is 2, must be 3")
    assert err.count("\n") == 1
