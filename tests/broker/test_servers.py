"""The servers that the other tests rely on: they answer, die, and come back at the same address."""

import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
import redis
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from services.runtime import local
from tests.conftest import ADDRESS, kafka_answers, redis_answers, registry_answers


def test_the_shared_servers_answer(kafka: str, registry: str, redis_url: str) -> None:
    assert kafka_answers(kafka)
    assert registry_answers(registry)
    assert redis_answers(redis_url)


def test_the_broker_creates_no_topic_by_itself(kafka: str, prefix: str) -> None:
    admin = AdminClient({"bootstrap.servers": kafka})
    admin.create_topics([NewTopic(f"{prefix}asked-for", 1, 1)])[f"{prefix}asked-for"].result(10)
    assert local.until(lambda: f"{prefix}asked-for" in admin.list_topics(timeout=10).topics, 10)
    with suppress(KafkaException):
        admin.list_topics(f"{prefix}never", timeout=10)  # asking for it by name is what used to make it
    assert f"{prefix}never" not in admin.list_topics(timeout=10).topics


def test_a_killed_broker_comes_back_with_its_topics(own_kafka: local.Child) -> None:
    admin = AdminClient({"bootstrap.servers": own_kafka.address, "log_level": 0})
    admin.create_topics([NewTopic("kept", 3, 1)])["kept"].result(10)
    own_kafka.kill()
    assert not own_kafka.alive
    own_kafka.start()
    assert len(admin.list_topics("kept", timeout=10).topics["kept"].partitions) == 3


def test_a_stopped_redis_comes_back_empty(own_redis: local.Child) -> None:
    with redis.Redis.from_url(own_redis.address) as client:
        client.set("key", "value")
        own_redis.stop()
        own_redis.start()
        assert client.get("key") is None


def test_a_server_refuses_a_port_where_another_answers(own_redis: local.Child, tmp_path: Path) -> None:
    port = int(own_redis.address.rpartition(":")[2].partition("/")[0])
    with pytest.raises(local.LocalError, match="something else answers there"):
        local.start_valkey(tmp_path / "second", port)


def test_a_server_that_cannot_start_says_why(tmp_path: Path) -> None:
    launch = local.Launch("broken", "nowhere", tmp_path, (sys.executable, "-c", "raise SystemExit('no disk')"), False)
    with pytest.raises(local.LocalError, match=r"broken at nowhere ended while starting; .*broken\.log: no disk"):
        local.Child(launch, lambda: False, 20)


def test_a_server_dies_with_the_process_that_started_it(tmp_path: Path) -> None:
    """Even with one that is killed and can stop nothing."""
    starter = f"""
import os, pathlib, signal
from services.runtime import local
child = local.start_valkey(pathlib.Path({str(tmp_path)!r}))
print(child.address, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""
    died = subprocess.run((sys.executable, "-c", starter), capture_output=True, text=True, check=False)
    address = died.stdout.strip()
    assert address.startswith("redis://"), died.stderr
    assert local.until(lambda: not redis_answers(address), 10)


def test_a_stack_outlives_its_command_and_is_found_again(tmp_path: Path) -> None:
    def run(what: str) -> list[str]:
        code = f"import pathlib; from services.runtime import local; print(*local.{what}, sep=chr(10))"
        done = subprocess.run((sys.executable, "-c", code), capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    up = f"up(pathlib.Path({str(tmp_path)!r})).exports()"
    try:
        first = run(up)
        assert [line.partition("=")[0] for line in first] == [f"export {variable}" for variable in ADDRESS.values()]
        kafka, _, redis_address = (line.partition("=")[2] for line in first)
        assert kafka_answers(kafka)
        assert redis_answers(redis_address)
        pids = [member.pid for member in local.status(tmp_path).members]
        assert run(up) == first
        assert [member.pid for member in local.status(tmp_path).members] == pids
    finally:
        stopped = run(f"down(pathlib.Path({str(tmp_path)!r}))")
    assert stopped == ["redis", "registry", "kafka"]
    assert not any(member.alive for member in local.status(tmp_path).members)


def test_a_free_port_is_free_and_none_that_clients_get() -> None:
    port = local.free_port()
    assert 20_000 <= port < 32_000
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", port))
