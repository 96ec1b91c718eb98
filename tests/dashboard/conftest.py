"""A log with tables whose facts are made by a stage, and the dashboard over it."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import msgspec
import pytest
from redis.asyncio import Redis

from services.baccarat.events import ROUNDS, SETTLEMENTS, Event
from services.dashboard.projection import project
from services.dashboard.redis_model import Model, connected
from services.dashboard.view import SOURCES, View
from services.runtime.embedded import EmbeddedLog
from services.runtime.log import Log
from tests.dashboard.stage import Stage

WITHIN_S = 20


@pytest.fixture
def log(tmp_path: Path) -> Iterator[EmbeddedLog]:
    with EmbeddedLog(tmp_path / "log.db", partitions=3) as opened:
        yield opened


@pytest.fixture
async def redis(redis_url: str) -> AsyncIterator[Redis]:
    async with connected(redis_url) as client:
        yield client


class Table:
    """A stage on a log: what it says is appended, and remembered to be folded by hand."""

    def __init__(self, log: Log, table_id: str, slug: str = "classic") -> None:
        self.stage = Stage(table_id, slug, seed=3)
        self.table_id = table_id
        self.facts: list[tuple[str, Event]] = []
        self._log = log

    async def tell(self) -> None:
        said = self.stage.take()
        self.facts += said
        for topic in (ROUNDS, SETTLEMENTS):
            await self._log.append(topic, [fact for told, fact in said if told == topic])

    async def play(self, rounds: int) -> None:
        if not self.facts:
            self.stage.begin()
        for _ in range(rounds):
            self.stage.round()
        await self.tell()

    def views(self) -> dict[str, View]:
        return folded(self.facts)


def folded(facts: list[tuple[str, Event]]) -> dict[str, View]:
    """What the pages should show, by the fold alone."""
    views = {topic: source.start for topic, source in SOURCES.items()}
    for topic, fact in facts:
        views[topic] = SOURCES[topic].fold(views[topic], fact)
    return views


class Readiness:
    """What a projection says of itself, in order; only changes are remembered."""

    def __init__(self) -> None:
        self.told: list[bool] = []
        self._changed = asyncio.Condition()

    def __call__(self, ready: bool) -> None:  # noqa: FBT001 - the projection's own way to say it
        if not self.told or self.told[-1] is not ready:
            self.told.append(ready)

    async def becomes(self, *said: bool) -> None:
        """Returns when these were said, one after another, at the end of what was said."""
        await until(lambda: self.told[-len(said) :] == list(said), f"ready {said}, not {self.told}")


async def until(holds: Callable[[], bool | Awaitable[bool]], what: str) -> None:
    """Asks until it holds; a test that waits in vain fails with what it waited for."""
    try:
        async with asyncio.timeout(WITHIN_S):
            while True:
                answer = holds()
                if answer if isinstance(answer, bool) else await answer:
                    return
                await asyncio.sleep(0.02)
    except TimeoutError:
        pytest.fail(f"in vain for {WITHIN_S} s: {what}", pytrace=False)


@asynccontextmanager
async def projecting(log: Log, redis_url: str, prefix: str) -> AsyncIterator[Readiness]:
    ready, stop = Readiness(), asyncio.Event()
    task = asyncio.create_task(project(log, redis_url, stop, ready, prefix=prefix))
    try:
        yield ready
    finally:
        stop.set()
        await task


async def shown(redis: Redis, prefix: str, table_id: str) -> dict[str, View]:
    """What is stored of a table in the epoch that pages show; nothing where it has another shape."""
    model = Model(redis, prefix)
    epoch = await model.current()
    if epoch is None:
        return {}
    stored = await model.stored(epoch, [(topic, table_id) for topic in SOURCES])
    with suppress(msgspec.ValidationError):
        return {
            topic: msgspec.json.decode(found.view, type=type(source.start))
            for (topic, source), found in zip(SOURCES.items(), stored, strict=True)
            if found is not None
        }
    return {}


async def until_shown(redis: Redis, prefix: str, *tables: Table) -> None:
    for table in tables:

        async def stands(table: Table = table) -> bool:
            return await shown(redis, prefix, table.table_id) == table.views()

        await until(stands, f"{table.table_id} shown as its facts say")
