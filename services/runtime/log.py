"""What the services that are no processors (scanner, dashboard, customers) need of a log, Kafka or embedded."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from services.baccarat.events import Event
from services.runtime.processor import Record

Place = tuple[str, int]  # topic and partition


class Reader(Protocol):
    """Reads on from given offsets, each partition in order, committed records only."""

    async def next(self, wait_ms: int) -> list[Record]:
        """The next records of any of the partitions; empty if none came within `wait_ms`. Raises NotReady."""


class Log(Protocol):
    """A durable log. `log_id` names it for ever: a copy or a fresh log has another."""

    log_id: str
    partitions: int

    async def append(self, topic: str, events: Sequence[Event]) -> None:
        """Durable when it returns, in order per table, keyed by table. Raises NotReady."""

    async def end(self, topic: str, partition: int) -> int:
        """The offset that the next record will have, as far as it is known."""

    def reader(self, positions: Mapping[Place, int]) -> AbstractAsyncContextManager[Reader]:
        """Reads these partitions from these offsets on."""

    def shared_reader(
        self, group: str, topics: Sequence[str], begin: Callable[[str, int], Awaitable[int]]
    ) -> AbstractAsyncContextManager[Reader]:
        """Shares the partitions of `topics` (each number kept together) among the members of `group`.

        `begin` tells where to read a partition from whenever it is given to this member.
        """
