"""The log that a command works on: Kafka by the settings, or the embedded log of a folder."""

from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from services.baccarat.errors import BadSettings

if TYPE_CHECKING:
    from services.runtime.log import Log

LOG_FILE = "log.sqlite"


@asynccontextmanager
async def log_of(state: Path | None) -> AsyncIterator["Log"]:
    """Kafka where `state` is None. Raises NotReady where the log is away, or where somebody else runs it."""
    if state is None:
        async with _kafka() as log:
            yield log
        return
    from services.replay.logs import partitions_of
    from services.runtime.embedded import EmbeddedLog

    path = log_file(state)
    with EmbeddedLog(path, partitions_of(path)) as log:
        yield log


@asynccontextmanager
async def _kafka() -> AsyncIterator["Log"]:
    """Asks once: a command says what is away, and does not wait for it."""
    import asyncio
    import logging
    import os

    from services.runtime import kafka_log, service, settings
    from services.runtime.codec import Codec
    from services.runtime.kafka_restore import Reading, nothing_to_learn
    from services.runtime.registry import Registry

    logging.getLogger("aiokafka").addHandler(logging.NullHandler())
    logging.getLogger("aiokafka").propagate = False
    told = settings.read(os.environ)
    with ExitStack() as held:
        codec = Codec()
        learn: Reading = nothing_to_learn
        if told.registry:
            registry = held.enter_context(Registry(told.registry, topic_prefix=told.topic_prefix))
            codec = Codec(await asyncio.to_thread(registry.register))
            learn = service.learning(registry, codec)
        async with kafka_log.open_log(told, codec, learn=learn) as log:
            yield log


def log_file(state: Path) -> Path:
    """The log of a state folder: of the demonstration's it is the one that was started last. Raises BadSettings."""
    from services.demo.folders import last_started

    if state.is_file():
        return state
    for folder in (state, state / "demo"):
        for found in (folder, last_started(folder)):
            if found is not None and (found / LOG_FILE).is_file():
                return found / LOG_FILE
    raise BadSettings(f"{state}: there is no log here; --state names a folder with {LOG_FILE}, or that file")
