"""Rules and settlement as real processes, which can be killed, stalled and joined by more of them."""

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import httpx

from services.runtime.embedded import BATCH, no_fault
from services.runtime.local import free_port
from tests.runtime.harness import WITHIN_S, raws
from tests.runtime.kafka_harness import KafkaHarness
from tests.runtime.plays import Step

ROOT = Path(__file__).resolve().parent.parent.parent
# A broker of the environment may have Kafka's own lower limit for sessions; ours let a member be lost sooner.
SESSION_MS = 6_000 if os.environ.get("KAFKA_BOOTSTRAP_SERVERS") else 2_000


class Member:
    """One process; what it says goes to a file, which pytest shows when a test fails."""

    def __init__(self, name: str, environment: dict[str, str], log: Path, *held: str) -> None:
        self.name = name
        self.instance = environment["PUNTO_INSTANCE"]
        self.port = int(environment["PUNTO_HTTP_PORT"])
        self.log = log
        with log.open("ab") as said:
            self.process = subprocess.Popen(
                (sys.executable, "-m", "tests.broker.process", name, *held),
                cwd=ROOT,
                env={**os.environ, **environment},
                stdout=said,
                stderr=said,
            )

    @property
    def stalled(self) -> bool:
        with contextlib.suppress(OSError):
            state = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()[0]
            return state == "T"
        return False

    def send(self, sign: signal.Signals) -> None:
        self.process.send_signal(sign)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def end(self) -> int:
        """As an operator's stop; the exit code."""
        self.send(signal.SIGCONT)
        self.send(signal.SIGTERM)
        return self.process.wait(20)


class Fleet(KafkaHarness):
    """The harness of the laws, with processes in the place of tasks."""

    def __init__(self, address: str, prefix: str, folder: Path) -> None:
        super().__init__(address, prefix)
        self.members: list[Member] = []
        self._folder = folder
        self._born = 0

    async def start(self, *, fault: Callable[[str], None] = no_fault, batch: int = BATCH) -> None:  # noqa: ARG002 - a harness has it
        assert fault is no_fault, "a process has its faults from its command line"
        for name in ("rules", "settlement"):
            self.join(name)

    def join(self, name: str, *held: str, instance: str = "") -> Member:
        self._born += 1
        environment = {
            "KAFKA_BOOTSTRAP_SERVERS": self.settings.kafka,
            "SCHEMA_REGISTRY_URL": "",
            "PUNTO_TOPIC_PREFIX": self.settings.topic_prefix,
            "PUNTO_PARTITIONS": str(self.partitions),
            "PUNTO_SESSION_TIMEOUT_MS": str(SESSION_MS),
            "PUNTO_SNAPSHOT_EVERY_MS": "500",
            "PUNTO_INSTANCE": instance,
            "PUNTO_HTTP_PORT": str(free_port()),
        }
        member = Member(name, environment, self._folder / f"{self._born}-{name}.log", *held)
        self.members.append(member)
        return member

    async def ready(self, *members: Member) -> None:
        """Returns when each of them has said so."""
        async with httpx.AsyncClient() as client, asyncio.timeout(WITHIN_S):
            for member in members:
                while True:
                    with contextlib.suppress(httpx.TransportError):
                        answer = await client.get(f"http://127.0.0.1:{member.port}/ready")
                        if answer.status_code == httpx.codes.OK:
                            break
                    await asyncio.sleep(0.05)

    def leave(self, member: Member) -> None:
        self.members.remove(member)
        assert member.end() == 0, member.log.read_text()

    def lose(self, member: Member) -> None:
        self.members.remove(member)
        member.kill()

    async def play(self, steps: Iterable[Step]) -> None:
        for step in steps:
            await self.append(raws(step, self.partitions))
            await self.until_told(step.tells)

    async def stop(self) -> None:
        for member in [*self.members]:
            self.leave(member)

    async def kill(self) -> None:
        for member in [*self.members]:
            self.lose(member)

    async def close(self) -> None:
        await self.kill()
        await super().close()

    def said(self) -> str:
        """The last words of every process."""
        return "\n".join(
            f"--- {log.name}\n{log.read_text(errors='replace')[-2_000:]}" for log in sorted(self._folder.glob("*.log"))
        )


async def until(holds: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + WITHIN_S
    while not holds():
        assert time.monotonic() < end, what
        await asyncio.sleep(0.05)
