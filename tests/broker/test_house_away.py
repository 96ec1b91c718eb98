"""The whole house as processes, and every server it leans on not there, and going away: it stays up and says so.

`tests/broker/test_servers_away.py` looks closer at rules and settlement.
"""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from pathlib import Path

import httpx
import pytest
from msgspec.structs import asdict

from services.baccarat.events import (
    DEAD_LETTERS,
    ROUNDS,
    SETTLEMENTS,
    TABLE_FEED,
    BetSettled,
    DeadLetter,
    Event,
    RoundDecided,
    TableConfigured,
)
from services.rules import RULES
from services.runtime import topics
from services.runtime.codec import Codec
from services.runtime.kafka_log import open_log
from services.runtime.local import Child, LocalError, free_port, start_registry
from services.runtime.reading import partition_of
from services.runtime.service import registered, run_processor
from services.runtime.settings import Settings
from tests.broker.fleet import SESSION_MS, until
from tests.broker.test_public_recording import judge
from tests.broker.test_servers_away import until_it_says
from tests.conftest import unavailable
from tests.runtime.bad_inputs import HOW
from tests.runtime.harness import PARTITIONS, WITHIN_S, everything
from tests.runtime.kafka_harness import KafkaHarness
from tests.runtime.reference import Raw, unbalanced

PUNTO = (sys.executable, "-c", "import sys; from services.cli.main import main; sys.exit(main())")
TABLES = ("--tables", "2")
INPUTS = {
    "card-scanner": (*TABLES, "--speed", "20"),
    "demo-dealer": (*TABLES, "--speed", "20"),
    "demo-customers": (*TABLES, "--seed", "1"),
}
SERVICES = {"rules": (), "settlement": (), "dashboard": (), **INPUTS}
MORE_FACTS = 30


class House:
    """All services, each a process with a page that says whether it is ready."""

    def __init__(self, environment: Mapping[str, str], folder: Path) -> None:
        self.ports = {name: free_port() for name in SERVICES}
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self._environment = environment
        self._folder = folder

    def start(self) -> None:
        for name, words in SERVICES.items():
            with self.log(name).open("ab") as said:
                self.processes[name] = subprocess.Popen(
                    (*PUNTO, "run", name, *words),
                    env={**os.environ, **self._environment, "PUNTO_HTTP_PORT": str(self.ports[name])},
                    stdout=said,
                    stderr=said,
                )

    def log(self, name: str) -> Path:
        return self._folder / f"{name}.log"

    def end(self, names: Iterable[str]) -> dict[str, int]:
        """As an operator would; the exit codes."""
        for name in names:
            self.processes[name].send_signal(signal.SIGTERM)
        return {name: self.processes[name].wait(30) for name in names}

    def kill(self) -> None:
        for process in self.processes.values():
            process.kill()
            process.wait()

    async def say(self, status: int, words: str = "", names: Iterable[str] = SERVICES) -> None:
        """Returns when each of these says so at /ready."""
        async with httpx.AsyncClient() as client:
            for name in names:
                said = ""
                try:
                    async with asyncio.timeout(WITHIN_S):
                        while not (said.startswith(str(status)) and words in said):
                            said = await told(client, self.ports[name], "ready")
                            await asyncio.sleep(0.05)
                except TimeoutError:
                    pytest.fail(f"{name} says {said!r}, not {status} {words}", pytrace=False)

    async def play_on(self) -> None:
        """Returns when settlement has written more facts."""
        async with httpx.AsyncClient() as client:
            before = await self._facts(client)
            async with asyncio.timeout(WITHIN_S):
                while await self._facts(client) < before + MORE_FACTS:
                    await asyncio.sleep(0.05)

    async def _facts(self, client: httpx.AsyncClient) -> int:
        lines = (await told(client, self.ports["settlement"], "metrics")).splitlines()
        return sum(int(line.rpartition(" ")[2]) for line in lines if line.startswith("punto_facts_out_total"))


async def told(client: httpx.AsyncClient, port: int, page: str) -> str:
    try:
        answer = await client.get(f"http://127.0.0.1:{port}/{page}")
    except httpx.TransportError:
        return ""
    return f"{answer.status_code} {answer.text}"


@pytest.fixture
def own_registry(tmp_path: Path) -> Iterator[Child]:
    try:
        child = start_registry(tmp_path / "own-registry")
    except LocalError as missing:
        unavailable(f"a server of the test's own needs the extra `local` ({missing})")
    with child:
        yield child


@pytest.fixture
async def house(own_kafka: Child, own_redis: Child, own_registry: Child, tmp_path: Path) -> AsyncIterator[House]:
    environment = {
        "KAFKA_BOOTSTRAP_SERVERS": own_kafka.address,
        "REDIS_URL": own_redis.address,
        "SCHEMA_REGISTRY_URL": own_registry.address,
        "PUNTO_PARTITIONS": str(PARTITIONS),
        "PUNTO_STATE_DIR": str(tmp_path / "state"),
        "PUNTO_SESSION_TIMEOUT_MS": str(SESSION_MS),
        "PUNTO_DASHBOARD_PORT": str(free_port()),
    }
    house = House(environment, tmp_path)
    yield house
    house.kill()
    for name in SERVICES:
        print(f"--- {name}\n{house.log(name).read_text(errors='replace')[-2_000:]}")  # noqa: T201


@pytest.mark.slow
@pytest.mark.timeout(600)
async def test_every_server_away_at_the_start_and_in_the_middle(
    house: House, own_kafka: Child, own_redis: Child, own_registry: Child
) -> None:
    rest = [name for name in SERVICES if name != "dashboard"]
    no_kafka = f"Kafka at {own_kafka.address}"
    for server in (own_kafka, own_redis, own_registry):
        await asyncio.to_thread(server.kill)
    house.start()
    await house.say(503, "The registry at")
    await asyncio.to_thread(own_registry.start)
    await house.say(503, no_kafka)
    await asyncio.to_thread(own_kafka.start)
    await house.say(503, "missing, to be created")
    settings = Settings(kafka=own_kafka.address, partitions=PARTITIONS, registry=own_registry.address)
    await topics.apply(settings)
    await house.say(200, names=rest)
    await house.say(503, "Redis", names=["dashboard"])
    await asyncio.to_thread(own_redis.start)
    await house.say(200)
    await house.play_on()
    known, codec = await asyncio.to_thread(registered, settings)
    known.close()
    for server, reason, struck in (
        (own_redis, "Redis", ["dashboard"]),
        (own_registry, "", []),
        (own_kafka, no_kafka, [*SERVICES]),
    ):
        await asyncio.to_thread(server.kill)
        await house.say(503, reason, struck)
        await house.say(200, names=[name for name in SERVICES if name not in struck])
        if server is not own_kafka:
            await house.play_on()
        await asyncio.to_thread(server.start)
        await house.say(200)
        await house.play_on()
    assert house.end(INPUTS) == dict.fromkeys(INPUTS, 0)
    await judged(KafkaHarness(own_kafka.address, ""), codec)
    assert house.end(set(SERVICES) - set(INPUTS)) == dict.fromkeys(set(SERVICES) - set(INPUTS), 0)
    assert not [name for name in SERVICES if "Traceback" in house.log(name).read_text()]


async def judged(harness: KafkaHarness, codec: Codec) -> None:
    """The facts are those of the recorded inputs, as soon as the last of these are taken."""
    failure: AssertionError | None = None

    def same() -> bool:
        nonlocal failure
        try:
            facts = judge(everything(harness), codec, harness.partitions)
        except AssertionError as error:
            failure = error
            return False
        assert not [wrong for wrong in unbalanced(facts) if not wrong.endswith("ends 0 times")]  # a round is open
        assert any(isinstance(fact, RoundDecided) for _, fact in facts[ROUNDS])
        assert any(isinstance(fact, BetSettled) for _, fact in facts[SETTLEMENTS])
        return True

    try:
        await until(same, "the facts of the recorded inputs")
    except AssertionError as late:
        raise failure or late from late


async def test_a_schema_that_nobody_knows_waits_for_the_registry(kafka: str, prefix: str, own_registry: Child) -> None:
    """What cannot be asked is not guessed: the partition waits, and goes on with the registry's answer."""
    harness = KafkaHarness(kafka, prefix)
    await harness.prepare()
    changed = {"registry": own_registry.address, "http_port": free_port()}
    settings = Settings(**asdict(harness.settings) | changed)
    known, codec = await asyncio.to_thread(registered, settings)
    known.close()
    struck = "T1"
    home = partition_of(struck, PARTITIONS)
    spared = next(name for name in (f"T{number}" for number in range(2, 99)) if partition_of(name, PARTITIONS) == home)
    stop = asyncio.Event()
    service = asyncio.create_task(run_processor(RULES, settings, stop))
    await until_it_says(settings.http_port, 200, "ready")
    await asyncio.to_thread(own_registry.kill)
    await harness.append([Raw(TABLE_FEED, home, -1, None, struck.encode(), b"\x00\x7f\xff\xff\xffbody")])
    await until_it_says(settings.http_port, 503, "The registry at")
    async with open_log(settings, codec) as log, asyncio.timeout(WITHIN_S):
        configured = TableConfigured(
            event_id=f"{spared}/configuration/1", table_id=spared, version=1, configuration=HOW, by="ann"
        )
        await log.append(TABLE_FEED, [configured])
        await asyncio.to_thread(own_registry.start)
        await until_it_says(settings.http_port, 200, "ready")
        async with log.reader({(ROUNDS, home): 0, (DEAD_LETTERS, home): 0}) as reader:
            found: list[Event | None] = []
            while len(found) < 3:
                found += [record.event for record in await reader.next(1_000)]
    assert sorted(type(fact).__name__ for fact in found) == ["ConfigurationReceived", "DeadLetter", "TableSuspended"]
    assert {(fact.table_id, fact.reason) for fact in found if isinstance(fact, DeadLetter)} == {
        (struck, "unknown-schema")
    }
    stop.set()
    await service
    await harness.close()
