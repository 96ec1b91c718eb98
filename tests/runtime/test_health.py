import asyncio
import socket

import httpx
import pytest
from starlette.testclient import TestClient

from services.baccarat.errors import BadSettings
from services.runtime.health import STARTING, Health, application, serving
from services.runtime.local import free_port


def test_a_service_is_alive_from_the_start_and_ready_when_nothing_is_wrong() -> None:
    health = Health("rules")
    client = TestClient(application(health))
    assert client.get("/live").status_code == 200
    assert (client.get("/ready").status_code, client.get("/ready").text) == (503, "starting\n")
    health.wrong("kafka", "Kafka at x:1\ndoes not answer")
    health.right(STARTING)
    assert client.get("/ready").text == "Kafka at x:1 does not answer\n"
    health.right("kafka")
    assert (client.get("/ready").status_code, client.get("/ready").text) == (200, "ready\n")


def test_metrics_are_sums() -> None:
    health = Health("rules")
    health.count("facts_out", 3)
    health.count("facts_out")
    health.gauge("lag", "rounds 1", 5)
    health.gauge("lag", "rounds 2", 6)
    health.gauge("lag", "rounds 3", 7)
    health.gauge("lag", "rounds 3", None)
    text = TestClient(application(health)).get("/metrics").text
    assert '# TYPE punto_facts_out_total counter\npunto_facts_out_total{service="rules"} 4\n' in text
    assert 'punto_lag{service="rules"} 11\n' in text
    assert 'punto_ready{service="rules"} 0\n' in text


async def test_it_is_served_while_the_context_lasts() -> None:
    port = free_port()
    async with serving(Health("rules"), "127.0.0.1", port), httpx.AsyncClient() as client:
        answer = await client.get(f"http://127.0.0.1:{port}/live")
        assert answer.text == "live\n"
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", port)) != 0


async def test_a_port_that_is_taken_is_one_line() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(BadSettings, match=rf"^http_port: 127\.0\.0\.1:{port} cannot be listened on"):
            async with serving(Health("rules"), "127.0.0.1", port):
                await asyncio.sleep(0)


async def test_port_0_serves_nothing() -> None:
    async with serving(Health("rules"), "127.0.0.1", 0):
        assert len(asyncio.all_tasks()) == 1
