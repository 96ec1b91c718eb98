"""A service as a process of its own, as production runs it: waited for, weighed, killed."""

import contextlib
import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path

from services.baccarat.errors import NotReady
from services.runtime.local import free_port
from services.runtime.settings import Settings

ROOT = Path(__file__).resolve().parent.parent
PUNTO = (str(Path(sys.executable).with_name("punto")), "run")
FLOOR = (sys.executable, "-m", "bench.floor")
READY_WITHIN_S = 60.0
KIB = 1024


class Process:
    """One of them; what it says goes to a file in the folder of the servers."""

    def __init__(self, how: Sequence[str], name: str, settings: Settings, instance: str = "") -> None:
        self.name = name
        self._port = free_port()
        self.log = settings.state_dir / f"{settings.topic_prefix}{name}.log"
        environment = {
            "KAFKA_BOOTSTRAP_SERVERS": settings.kafka,
            "REDIS_URL": settings.redis,
            "SCHEMA_REGISTRY_URL": "",
            "PUNTO_TOPIC_PREFIX": settings.topic_prefix,
            "PUNTO_PARTITIONS": str(settings.partitions),
            "PUNTO_REST_MS": str(settings.rest_ms),
            "PUNTO_STATE_DIR": str(settings.state_dir),
            "PUNTO_INSTANCE": instance,
            "PUNTO_HTTP_PORT": str(self._port),
            "PUNTO_DASHBOARD_PORT": str(free_port()),
        }
        with self.log.open("ab") as said:
            self._process = subprocess.Popen(
                (*how, name), cwd=ROOT, env={**os.environ, **environment}, stdout=said, stderr=said
            )

    def until_ready(self) -> None:
        """Raises NotReady with its last words."""
        end = time.monotonic() + READY_WITHIN_S
        while not self._says("ready").startswith("ready"):
            if time.monotonic() > end or self._process.poll() is not None:
                raise NotReady(f"{self.name} is not ready: {self.log.read_text(errors='replace')[-1_000:]}")
            time.sleep(0.02)

    def counted(self, counter: str) -> int:
        """One of its counters, as it tells them itself."""
        lines = (line.rpartition(" ") for line in self._says("metrics").splitlines())
        return next((int(number) for what, _, number in lines if what.startswith(f"punto_{counter}_total")), 0)

    def _says(self, page: str) -> str:
        with (
            contextlib.suppress(OSError),
            urllib.request.urlopen(f"http://127.0.0.1:{self._port}/{page}", timeout=5) as answer,
        ):
            return str(answer.read().decode())
        return ""

    @property
    def resident_bytes(self) -> int:
        """Memory of its own that is in use; Linux tells."""
        lines = Path(f"/proc/{self._process.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) * KIB for line in lines if line.startswith("RssAnon"))

    @property
    def cpu_s(self) -> float:
        """Processor time so far; Linux tells."""
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def kill(self) -> None:
        """As a power cut."""
        self._process.kill()
        self._process.wait()

    def end(self) -> None:
        """In order, and by force where that takes too long."""
        self._process.terminate()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self.kill()


@contextlib.contextmanager
def running(
    how: Sequence[str], names: Sequence[str], settings: Settings, instance: str = ""
) -> Iterator[list[Process]]:
    """Ready when the context begins, gone when it ends."""
    started = [Process(how, name, settings, instance) for name in names]
    try:
        for process in started:
            process.until_ready()
        yield started
    finally:
        for process in started:
            process.end()
