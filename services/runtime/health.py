"""Whether a service is ready, what it has counted, and the small server that tells: /live, /ready and /metrics."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Iterator
from typing import Final

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from services.baccarat.errors import BadSettings

STARTING: Final = "starting"
COUNTERS: Final = ("records_in", "facts_out", "transactions", "snapshots", "restores", "dead_letters", "troubles")
GAUGES: Final = ("partitions", "lag")


class Health:
    """What is wrong just now, by what it is wrong with; ready when nothing is."""

    def __init__(self, service: str) -> None:
        self.service = service
        self._wrong: dict[str, str] = {STARTING: STARTING}
        self._counts: dict[str, int] = dict.fromkeys(COUNTERS, 0)
        self._gauges: dict[str, dict[str, int]] = {gauge: {} for gauge in GAUGES}

    @property
    def reason(self) -> str:
        """The last thing that went wrong, in a line; empty when ready."""
        return next(reversed(self._wrong.values()), "")

    def wrong(self, what: str, reason: str) -> None:
        self._wrong.pop(what, None)
        self._wrong[what] = " ".join(reason.split())

    def right(self, what: str) -> None:
        self._wrong.pop(what, None)

    def count(self, counter: str, number: int = 1) -> None:
        self._counts[counter] += number

    def gauge(self, gauge: str, part: str, number: int | None) -> None:
        """`part` is what the number is of; all parts are summed up. None takes it away."""
        if number is None:
            self._gauges[gauge].pop(part, None)
        else:
            self._gauges[gauge][part] = number

    def metrics(self) -> str:
        """In Prometheus' text format."""
        counts = [("counter", f"punto_{name}_total", number) for name, number in self._counts.items()]
        gauges = [("gauge", f"punto_{name}", sum(parts.values())) for name, parts in self._gauges.items()]
        gauges.append(("gauge", "punto_ready", int(not self._wrong)))
        return "".join(
            f'# TYPE {name} {kind}\n{name}{{service="{self.service}"}} {number}\n'
            for kind, name, number in counts + gauges
        )


def application(health: Health) -> Starlette:
    """Alive while it answers at all; ready, or 503 with the reason."""

    async def live(_: Request) -> PlainTextResponse:
        return PlainTextResponse("live\n")

    async def ready(_: Request) -> PlainTextResponse:
        return PlainTextResponse(f"{health.reason or 'ready'}\n", 503 if health.reason else 200)

    async def metrics(_: Request) -> PlainTextResponse:
        return PlainTextResponse(health.metrics(), media_type="text/plain; version=0.0.4")

    return Starlette(routes=[Route("/live", live), Route("/ready", ready), Route("/metrics", metrics)])


@contextlib.asynccontextmanager
async def serving(health: Health, host: str, port: int) -> AsyncIterator[None]:
    """Answers while the context lasts; a port of 0 means that nothing is served."""
    if port == 0:
        yield
        return
    try:
        listening = socket.create_server((host, port))
    except OSError as error:
        raise BadSettings(f"http_port: {host}:{port} cannot be listened on: {error.strerror}") from error
    with listening:
        server = Quiet(uvicorn.Config(application(health), log_level="warning", lifespan="off"))
        task = asyncio.create_task(server.serve(sockets=[listening]))
        try:
            yield
        finally:
            server.should_exit = True
            await task


class Quiet(uvicorn.Server):
    """Leaves the signals to the service."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield
