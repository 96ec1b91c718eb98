"""The read model in Redis: what is kept under which key, and the few ways in which it changes.

    <prefix>:{dashboard}:current      the epoch that pages show
    <prefix>:{dashboard}:building     the epoch that is being built, if any
    <prefix>:<epoch>:positions        hash: topic/partition -> offset of the next record to fold
    <prefix>:<epoch>:index            hash: topic/table -> offset of the last fact in the table's view
    <prefix>:<epoch>:caught-up        set of topic/partition, while the epoch is built
    <prefix>:<epoch>:{table}:topic    hash: offset, view (JSON), partition
    <prefix>:<epoch>:news             channel: a delta for each write, and the heartbeat

An epoch is `<log>-<shape of the views>.<number>`. It can all be deleted at any time.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import Raw, Struct
from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from services.dashboard.view import SOURCES, View, changes, shape
from services.runtime.log import Place

SCRIPTS: Final = {
    name: (Path(__file__).parent / f"{name}.lua").read_bytes() for name in ("write_view", "claim_epoch", "show_epoch")
}
ANSWER_WITHIN_S: Final = 5.0
DELETED_AT_ONCE: Final = 500


class Stored(Struct, frozen=True):
    """A view as it is in Redis; `offset` is of the last fact in it, -1 where nothing is stored."""

    offset: int
    view: Raw
    partition: int


class Write(Struct, frozen=True):
    """One table's new view of one topic, and the one it was made from; `previous` is that one's offset."""

    place: Place
    table_id: str
    previous: int
    offset: int
    before: View
    after: View


class Delta(Struct, frozen=True, rename={"since": "from", "until": "to", "changed": "set"}):
    """What a page lays over its view of offset `from` to have that of offset `to`."""

    table_id: str
    topic: str
    partition: int
    since: int
    until: int
    changed: dict[str, Any]


class Beat(Struct, frozen=True):
    """The projection of these partitions is alive, and has all there is in the log."""

    beat: tuple[int, ...]


@asynccontextmanager
async def connected(redis_url: str) -> AsyncIterator[Redis]:
    """For commands: an answer within seconds or an error, and no retries that would hide it."""
    redis = Redis.from_url(
        redis_url,
        socket_timeout=ANSWER_WITHIN_S,
        socket_connect_timeout=ANSWER_WITHIN_S,
        retry=Retry(NoBackoff(), 0),
    )
    try:
        yield redis
    finally:
        await redis.aclose()


@asynccontextmanager
async def listening(redis_url: str) -> AsyncIterator[Redis]:
    """For subscriptions only: these wait, for as long as nothing is said."""
    redis = Redis.from_url(
        redis_url, socket_timeout=None, socket_connect_timeout=ANSWER_WITHIN_S, retry=Retry(NoBackoff(), 0)
    )
    try:
        yield redis
    finally:
        await redis.aclose()


def stay_cancelled() -> None:
    """Raises CancelledError where the task was cancelled and goes on: whoever loops over Redis asks this each time.

    On Python 3.11 the client may swallow a cancel, for it sends by `asyncio.wait_for`; the mark stays on the task.
    """
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError


class Model:
    """The keys of one prefix, through one client."""

    def __init__(self, redis: Redis, prefix: str) -> None:
        self._redis = redis
        self._prefix = prefix
        self._scripts: dict[str, str] = {}

    # ------------------------------------------------------------ epochs

    async def current(self) -> str | None:
        """The epoch that pages show; None before one is complete."""
        found = await self._redis.get(self._pointer("current"))
        return None if found is None else _text(found)

    async def working(self) -> str | None:
        """The epoch that is to be written: the one being built, else the one that is shown."""
        current, building = await self._redis.mget(self._pointer("current"), self._pointer("building"))
        found = building or current
        return None if found is None else _text(found)

    async def claim(self, family: str, broken: str = "", least: int = 1) -> str:
        """The epoch of this family to write; a new one where there is none, or only the `broken` one."""
        pointers = (self._pointer("current"), self._pointer("building"))
        return _text(await self._run("claim_epoch", pointers, family, broken, least))

    async def show(self, epoch: str, places: Iterable[Place], of: int) -> bool:
        """Whether pages show this epoch, `of` partitions being caught up in all; `places` are the caller's."""
        keys = (self._pointer("current"), self._pointer("building"), self._key(epoch, "caught-up"))
        answer = _text(await self._run("show_epoch", keys, epoch, of, *map(_name, places)))
        if answer == "flipped":
            await self.sweep()
        return answer in {"flipped", "shown"}

    async def sweep(self) -> None:
        """Deletes what belongs to epochs that are neither shown nor built."""
        pointers = await self._redis.mget(self._pointer("current"), self._pointer("building"))
        kept = {_text(epoch) for epoch in pointers if epoch is not None} | {"{dashboard}"}
        gone: list[bytes] = []
        async for key in self._redis.scan_iter(match=f"{_glob(self._prefix)}:*", count=DELETED_AT_ONCE):
            if _text(key).removeprefix(f"{self._prefix}:").split(":")[0] not in kept:
                gone.append(key)
            if len(gone) >= DELETED_AT_ONCE:
                await self._redis.unlink(*gone)
                gone.clear()
        if gone:
            await self._redis.unlink(*gone)

    # ------------------------------------------------------------ writing

    async def write(self, epoch: str, writes: Sequence[Write]) -> list[str]:
        """What became of each: written, older (it is there already) or hole (what it builds on is not there)."""
        sha = await self._sha("write_view")
        async with self._redis.pipeline(transaction=False) as pipe:
            for each in writes:
                topic, partition = each.place
                pipe.evalsha(
                    sha,
                    1,
                    self._view(epoch, topic, each.table_id),
                    each.previous,
                    each.offset,
                    msgspec.json.encode(each.after),
                    partition,
                    self.channel(epoch),
                    msgspec.json.encode(delta(each)),
                )
            return [_text(answer) for answer in await pipe.execute()]

    async def advance(self, epoch: str, positions: Mapping[Place, int], writes: Iterable[Write]) -> None:
        """After the views: how far each partition is folded, and up to which offset each view must be there."""
        index: dict[Any, Any] = {f"{each.place[0]}/{each.table_id}": each.offset for each in writes}
        reached: dict[Any, Any] = {_name(place): position for place, position in positions.items()}
        async with self._redis.pipeline(transaction=False) as pipe:
            if index:
                pipe.hset(self._key(epoch, "index"), mapping=index)
            pipe.hset(self._key(epoch, "positions"), mapping=reached)
            await pipe.execute()

    async def beat(self, epoch: str, partitions: Iterable[int]) -> None:
        await self._redis.publish(self.channel(epoch), msgspec.json.encode(Beat(tuple(sorted(set(partitions))))))

    # ------------------------------------------------------------ reading

    def channel(self, epoch: str) -> str:
        """Where deltas and heartbeats of an epoch are published."""
        return self._key(epoch, "news")

    async def position(self, epoch: str, place: Place) -> int:
        """The offset of the first record of a partition that is not folded yet."""
        found = await self._redis.hget(self._key(epoch, "positions"), _name(place))
        return 0 if found is None else int(found)

    async def positions(self, epoch: str) -> dict[Place, int]:
        """Of every partition of which something is folded."""
        found = await self._redis.hgetall(self._key(epoch, "positions"))
        names = {_text(name).rpartition("/"): int(position) for name, position in found.items()}
        return {(topic, int(partition)): position for (topic, _, partition), position in names.items()}

    async def indexed(self, epoch: str, views: Sequence[tuple[str, str]]) -> list[int]:
        """Up to which offset these views must be there, asked for by topic and table; -1 where none was written."""
        names = [f"{topic}/{table_id}" for topic, table_id in views]
        found = await self._redis.hmget(self._key(epoch, "index"), names)
        return [-1 if offset is None else int(offset) for offset in found]

    async def stored(self, epoch: str, views: Sequence[tuple[str, str]]) -> list[Stored | None]:
        """These views, asked for by topic and table; None where there is none."""
        async with self._redis.pipeline(transaction=False) as pipe:
            for topic, table_id in views:
                pipe.hmget(self._view(epoch, topic, table_id), ["offset", "view", "partition"])
            return [
                None if offset is None else Stored(int(offset), Raw(view), int(partition))
                for offset, view, partition in await pipe.execute()
            ]

    async def table_ids(self, epoch: str) -> list[str]:
        """Every table of which a view was written, in the order of a person: T2 before T10."""
        names = await self._redis.hkeys(self._key(epoch, "index"))
        return sorted({_text(name).partition("/")[2] for name in names}, key=_as_read)

    # ------------------------------------------------------------ keys and scripts

    def _pointer(self, what: str) -> str:
        return f"{self._prefix}:{{dashboard}}:{what}"

    def _key(self, epoch: str, what: str) -> str:
        """The `caught-up` set is read by a script together with the pointers, and shares their hash tag."""
        return f"{self._prefix}:{epoch}:{{dashboard}}:{what}"

    def _view(self, epoch: str, topic: str, table_id: str) -> str:
        return f"{self._prefix}:{epoch}:{{table {table_id}}}:{topic}"

    async def _sha(self, script: str) -> str:
        if script not in self._scripts:
            self._scripts[script] = _text(await self._redis.script_load(SCRIPTS[script]))
        return self._scripts[script]

    async def _run(self, script: str, keys: Sequence[str], *arguments: str | int) -> bytes:
        answer: bytes = await self._redis.evalsha(await self._sha(script), len(keys), *keys, *arguments)
        return answer


def delta(write: Write) -> Delta:
    """The first delta of a table has its whole view."""
    topic, partition = write.place
    before = write.before if write.previous >= 0 else None
    changed = changes(before, write.after) if before is not None else msgspec.structs.asdict(write.after)
    return Delta(write.table_id, topic, partition, write.previous, write.offset, changed)


def decoded(topic: str, stored: Stored) -> View:
    """Raises msgspec.ValidationError for a view that another version wrote in another shape."""
    return msgspec.json.decode(stored.view, type=type(SOURCES[topic].start))


def family_of(log_id: str) -> str:
    """What epochs of one log and one shape of views have in common; nothing in it separates keys."""
    return f"{re.sub(r'[^A-Za-z0-9_-]', '_', log_id)}-{shape()}"


def parts_of(epoch: str) -> tuple[str, int]:
    """An epoch's family and number."""
    family, _, number = epoch.rpartition(".")
    return family, int(number)


def _name(place: Place) -> str:
    return f"{place[0]}/{place[1]}"


def _text(value: bytes | str) -> str:
    return value.decode() if isinstance(value, bytes) else value


def _glob(text: str) -> str:
    """The text itself as a SCAN pattern."""
    return re.sub(r"([*?\[\]\\])", r"\\\1", text)


def _as_read(table_id: str) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", table_id)]
