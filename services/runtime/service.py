"""A service as a process: it says whether it is ready, waits for what is not there, and ends in order on SIGTERM.

`punto run NAME` calls `run_processor` for rules and settlement, and `run_with_log` for what only reads and appends.
"""

import asyncio
import logging
import signal
from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeVar

from services.baccarat.errors import NotReady
from services.runtime import kafka, kafka_log
from services.runtime.codec import Codec
from services.runtime.health import STARTING, Health, serving
from services.runtime.kafka import until
from services.runtime.kafka_restore import Reading, nothing_to_learn
from services.runtime.log import Log
from services.runtime.processor import Processor
from services.runtime.registry import Registry
from services.runtime.settings import Settings

LOGGER: Final = logging.getLogger(__name__)
AGAIN_AFTER_S: Final = 1.0
LOG: Final = "log"
REGISTRY: Final = "registry"
NOISY: Final = ("aiokafka.producer.sender", "aiokafka.consumer.group_coordinator", "aiokafka.client", "aiokafka.conn")
S = TypeVar("S")


def until_signal(work: Callable[[asyncio.Event], Awaitable[None]]) -> None:
    """Runs `work`, whose event is set by SIGTERM or Ctrl-C."""

    async def with_signals() -> None:
        stop = asyncio.Event()
        for sign in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(sign, stop.set)
        await work(stop)

    for name in NOISY:  # what they warn of is retried; what is not reaches us as an error
        logging.getLogger(name).setLevel(logging.CRITICAL)
    asyncio.run(with_signals())


async def run_processor(
    processor: Processor[Any],
    settings: Settings,
    stop: asyncio.Event,
    *,
    fault: Callable[[str], None] = kafka.no_fault,
) -> None:
    """Rules or settlement on Kafka, until `stop` is set. Raises BadSettings."""
    health = Health(processor.name)
    async with serving(health, settings.host, settings.http_port):
        made = await ready_codec(settings, health, stop)
        if made is not None:
            codec, learn = made
            await kafka.run(processor, settings, codec, stop, learn=learn, health=health, fault=fault)


async def run_with_log(
    name: str,
    settings: Settings,
    stop: asyncio.Event,
    work: Callable[[Log, asyncio.Event], Awaitable[None]],
    *,
    health: Health | None = None,
) -> None:
    """`work` over Kafka's log, again and again when it raises NotReady, until `stop` is set. Raises BadSettings."""
    health = health or Health(name)
    async with serving(health, settings.host, settings.http_port):
        made = await ready_codec(settings, health, stop)
        while made is not None and not stop.is_set():
            try:
                async with kafka_log.open_log(settings, made[0], learn=made[1]) as log:
                    health.right(LOG)
                    health.right(STARTING)
                    await work(log, stop)
            except NotReady as error:
                health.count("troubles")
                health.wrong(LOG, str(error))
                LOGGER.warning("%s: %s", name, error)
                await until(stop, AGAIN_AFTER_S)


async def ready_codec(settings: Settings, health: Health, stop: asyncio.Event) -> tuple[Codec, Reading] | None:
    """With the registry's ids where one is set, as soon as it gives them; None if `stop` was set before."""
    if not settings.registry:
        return Codec(), nothing_to_learn
    registry = Registry(settings.registry, topic_prefix=settings.topic_prefix)
    while not stop.is_set():
        try:
            codec = Codec(await asyncio.to_thread(registry.register))
        except NotReady as error:
            health.wrong(REGISTRY, str(error))
            LOGGER.warning("%s: %s", health.service, error)
            await until(stop, AGAIN_AFTER_S)
        else:
            health.right(REGISTRY)
            return codec, learning(registry, codec)
    return None


def learning(registry: Registry, codec: Codec) -> Reading:
    """Asks the registry for the schema of a value that the codec has not met. Raises NotReady."""

    async def learn(raw: bytes | None) -> None:
        if raw is not None:
            await registry.learn(codec, raw)

    return learn
