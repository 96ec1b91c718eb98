"""One reader of Redis for all pages of a process: deltas and heartbeats fan out from here, in memory."""

import asyncio
import logging
import time
from collections import deque
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from typing import Any, Final

import msgspec
from msgspec import Struct
from redis.asyncio.client import PubSub
from redis.exceptions import RedisError

from services.baccarat.errors import NotReady
from services.dashboard.redis_model import Beat, Model, Stored, connected, listening, stay_cancelled
from services.dashboard.view import SOURCES

LOGGER: Final = logging.getLogger(__name__)
LOOK_EVERY_S: Final = 1.0  # at the pointer to the epoch
SUBSCRIBED_WITHIN_S: Final = 5.0
PULSE_EVERY_S: Final = 2.0  # to pages
AGAIN_AFTER_S: Final = 0.5
WAITING_MESSAGES: Final = 2_000  # for one page; one that is slower starts again from a snapshot


class Told(Struct, frozen=True):
    """A table as pages get it: per topic the view and the offset of the last fact in it; None where it has none."""

    table_id: str
    partition: int
    rounds: dict[str, Any] | None
    settlements: dict[str, Any] | None


class Snapshot(Struct, frozen=True):
    """All tables of an epoch, as of `server_time_ms`."""

    epoch: str
    server_time_ms: int
    tables: tuple[Told, ...]


class Pulse(Struct, frozen=True):
    """That the server lives; `ages_ms` says how long ago each partition's projection was heard.

    `problem` is why nothing new can be told; empty when all is well.
    """

    server_time_ms: int
    problem: str
    ages_ms: dict[str, int]


class Page:
    """One open page: what is still to be sent to it."""

    def __init__(self) -> None:
        self._waiting: deque[bytes] = deque()
        self._called = asyncio.Event()
        self.stale = True  # it needs a snapshot before anything else
        self.closed = False

    def put(self, message: bytes) -> None:
        if len(self._waiting) >= WAITING_MESSAGES:
            self.restart()
        else:
            self._waiting.append(message)
            self._called.set()

    def restart(self) -> None:
        """Forgets what waits, for a snapshot will tell it all."""
        self._waiting.clear()
        self.stale = True
        self._called.set()

    def close(self) -> None:
        self.closed = True
        self._called.set()

    def take(self) -> list[bytes]:
        """All that waits."""
        waiting = list(self._waiting)
        self._waiting.clear()
        return waiting

    async def called(self) -> None:
        """Returns when there is something to do."""
        await self._called.wait()
        self._called.clear()


class Feed:
    """Follows the epoch that is shown. `problem` is why it cannot; empty when it does."""

    def __init__(self, redis_url: str, prefix: str) -> None:
        self._redis_url = redis_url
        self._prefix = prefix
        self._model: Model | None = None
        self._epoch: str | None = None
        self._heard_s: dict[int, float] = {}
        self._pages: set[Page] = set()
        self.problem = "the server has just started"

    # ------------------------------------------------------------ pages

    def join(self) -> Page:
        """A new page hears everything from now on, so that nothing falls between its snapshot and the deltas."""
        page = Page()
        self._pages.add(page)
        return page

    def leave(self, page: Page) -> None:
        self._pages.discard(page)

    def close(self) -> None:
        for page in self._pages:
            page.close()

    # ------------------------------------------------------------ asking

    async def snapshot(self) -> Snapshot:
        """Every table, from Redis. Raises NotReady."""
        epoch, model = self._known()
        with _answering():
            tables = await _told(model, epoch, await model.table_ids(epoch))
        return Snapshot(epoch, now_ms(), tuple(tables))

    async def table(self, table_id: str) -> Snapshot | None:
        """One table, from Redis; None where it is not known. Raises NotReady."""
        epoch, model = self._known()
        with _answering():
            tables = await _told(model, epoch, [table_id])
        return Snapshot(epoch, now_ms(), tuple(tables)) if tables else None

    def pulse(self) -> Pulse:
        now_s = time.monotonic()
        ages = {str(partition): int((now_s - heard_s) * 1000) for partition, heard_s in self._heard_s.items()}
        return Pulse(now_ms(), self.problem, ages)

    def _known(self) -> tuple[str, Model]:
        if self._epoch is None or self._model is None:
            raise NotReady(self.problem)
        return self._epoch, self._model

    # ------------------------------------------------------------ following

    async def run(self) -> None:
        """For ever: what goes wrong is said to the pages, and tried again."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._follow())
            group.create_task(self._pulse())

    async def _pulse(self) -> None:
        while True:
            message = sse("pulse", msgspec.json.encode(self.pulse()))
            for page in self._pages:
                page.put(message)
            await asyncio.sleep(PULSE_EVERY_S)

    async def _follow(self) -> None:
        while True:
            stay_cancelled()
            try:
                async with connected(self._redis_url) as redis, listening(self._redis_url) as ears:
                    self._model = Model(redis, self._prefix)
                    while True:
                        stay_cancelled()
                        await self._follow_epoch(self._model, ears.pubsub())
            except (RedisError, OSError, TimeoutError) as trouble:
                self._lose(f"Redis does not answer: {type(trouble).__name__}: {trouble}")
            await asyncio.sleep(AGAIN_AFTER_S)

    def _lose(self, problem: str, level: int = logging.WARNING) -> None:
        if problem != self.problem:
            LOGGER.log(level, "pages get nothing new: %s", problem)
        self._epoch = None
        self.problem = problem

    async def _follow_epoch(self, model: Model, pubsub: PubSub) -> None:
        """Passes on what is said in the epoch that is shown, until another one is."""
        async with pubsub:
            epoch = await model.current()
            if epoch is None:
                self._lose("the tables are being read from the log", logging.INFO)
                await asyncio.sleep(AGAIN_AFTER_S)
                return
            await pubsub.subscribe(model.channel(epoch))
            if await pubsub.get_message(timeout=SUBSCRIBED_WITHIN_S) is None:
                raise TimeoutError("a subscription is not answered")
            self._start(epoch)
            looked_s = time.monotonic()
            while True:
                stay_cancelled()
                message = await pubsub.get_message(ignore_subscribe_messages=True, timeout=LOOK_EVERY_S)
                if message is not None:
                    self._pass_on(message["data"])
                if time.monotonic() - looked_s >= LOOK_EVERY_S:
                    looked_s = time.monotonic()
                    if await model.current() != epoch:
                        return

    def _start(self, epoch: str) -> None:
        """What pages know may be of another epoch, or from before a silence: they start again."""
        if self.problem:
            LOGGER.info("pages show all there is")
        self._epoch = epoch
        self.problem = ""
        self._heard_s.clear()
        for page in self._pages:
            page.restart()

    def _pass_on(self, data: bytes) -> None:
        if data.startswith(b'{"beat"'):
            now_s = time.monotonic()
            self._heard_s |= dict.fromkeys(msgspec.json.decode(data, type=Beat).beat, now_s)
            return
        message = sse("delta", data)
        for page in self._pages:
            page.put(message)


def now_ms() -> int:
    return time.time_ns() // 1_000_000


def sse(event: str, data: bytes) -> bytes:
    """One server-sent event; JSON has no line breaks."""
    return b"event: %b\ndata: %b\n\n" % (event.encode(), data)


@contextmanager
def _answering() -> Generator[None]:
    """Redis going away is, to whoever asks, that there is no answer now."""
    try:
        yield
    except (RedisError, OSError) as error:
        raise NotReady(f"Redis does not answer: {error}") from error


async def _told(model: Model, epoch: str, table_ids: Iterable[str]) -> list[Told]:
    """Tables of which nothing is stored are left out."""
    wanted = [(table_id, topic) for table_id in table_ids for topic in SOURCES]
    found = await model.stored(epoch, [(topic, table_id) for table_id, topic in wanted])
    tables: dict[str, dict[str, Stored]] = {}
    for (table_id, topic), stored in zip(wanted, found, strict=True):
        if stored is not None:
            tables.setdefault(table_id, {})[topic] = stored
    return [
        Told(
            table_id,
            next(iter(views.values())).partition,
            *(
                {"offset": views[topic].offset, "view": views[topic].view} if topic in views else None
                for topic in SOURCES
            ),
        )
        for table_id, views in tables.items()
    ]
