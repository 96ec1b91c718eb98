"""A service as a process: it says whether it is ready, waits for what is not there, and ends in order on SIGTERM.

`punto run NAME` calls `run_processor` for rules and settlement, and `run_with_log` for what only reads and appends.
"""

import asyncio
import logging
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, Final

from services.baccarat.errors import NotReady
from services.baccarat.events import TABLE_FEED
from services.runtime import kafka, kafka_log
from services.runtime.codec import Codec
from services.runtime.health import STARTING, Health, serving
from services.runtime.kafka import until
from services.runtime.kafka_client import Discarded
from services.runtime.kafka_restore import Reading, nothing_to_learn
from services.runtime.log import Log
from services.runtime.processor import Processor
from services.runtime.registry import Registry
from services.runtime.settings import Settings

LOGGER: Final = logging.getLogger(__name__)
AGAIN_AFTER_S: Final = 1.0
WATCH_EVERY_S: Final = 1.0
WATCH_WITHIN_S: Final = 3.0
TELL_WITHIN_S: Final = 0.25
LOG: Final = "log"
NOISY: Final = ("aiokafka.producer.sender", "aiokafka.consumer.group_coordinator", "aiokafka.client", "aiokafka.conn")


def until_signal(work: Callable[[asyncio.Event], Awaitable[None]]) -> None:
    """Runs `work`, whose event is set by SIGTERM or Ctrl-C."""

    async def with_signals() -> None:
        stop = asyncio.Event()
        asyncio.get_running_loop().set_exception_handler(all_but_discarded)
        for sign in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(sign, stop.set)
        await work(stop)

    for name in NOISY:  # what they warn of is retried; what is not reaches us as an error
        logging.getLogger(name).setLevel(logging.CRITICAL)
    asyncio.run(with_signals())


def all_but_discarded(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """What nobody waits for in a producer that was thrown away is no news."""
    if not isinstance(context.get("exception"), Discarded):
        loop.default_exception_handler(context)


async def run_processor(
    processor: Processor[Any],
    settings: Settings,
    stop: asyncio.Event,
    *,
    fault: Callable[[str], None] = kafka.no_fault,
) -> None:
    """Rules or settlement on Kafka, until `stop` is set. Raises BadSettings."""
    health = Health(processor.name)
    async with standing(health, settings), ready_codec(settings, health, stop) as made:
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
    """`work` over Kafka's log, again and again when it raises NotReady, until `stop` is set. Raises BadSettings.

    `health` is one that others write to as well; None where only the log counts.
    """
    health = health or Health(name)
    async with standing(health, settings), ready_codec(settings, health, stop) as made:
        while made is not None and not stop.is_set():
            try:
                async with kafka_log.open_log(settings, made[0], learn=made[1]) as log:
                    health.right(LOG)
                    health.right(STARTING)
                    async with watched(log, settings, health):
                        await work(log, stop)
            except NotReady as error:
                health.count("troubles")
                health.wrong(LOG, str(error))
                LOGGER.warning("%s: %s", name, error)
                await until(stop, AGAIN_AFTER_S)


@asynccontextmanager
async def standing(health: Health, settings: Settings) -> AsyncIterator[None]:
    """How the service stands is served, and one line says each time that it has become ready."""

    async def tell() -> None:
        was_ready = False
        while True:
            is_ready = not health.reason
            if is_ready and not was_ready:
                LOGGER.info("ready: %s, on Kafka at %s", health.service, settings.kafka)
            was_ready = is_ready
            await asyncio.sleep(TELL_WITHIN_S)

    async with serving(health, settings.host, settings.http_port):
        telling = asyncio.create_task(tell())
        try:
            yield
        finally:
            telling.cancel()
            await asyncio.wait({telling})


@asynccontextmanager
async def watched(log: Log, settings: Settings, health: Health) -> AsyncIterator[None]:
    """Says whether the log answers while work goes on, for work may put up with one that does not."""

    async def watch() -> None:
        while True:
            try:
                async with asyncio.timeout(WATCH_WITHIN_S):
                    await log.end(TABLE_FEED, 0)
            except NotReady as error:
                health.wrong(LOG, str(error))
            except TimeoutError:
                health.wrong(LOG, f"Kafka at {settings.kafka} does not answer")
            else:
                health.right(LOG)
            await asyncio.sleep(WATCH_EVERY_S)

    watching = asyncio.create_task(watch())
    try:
        yield
    finally:
        watching.cancel()
        await asyncio.wait({watching})


@asynccontextmanager
async def ready_codec(
    settings: Settings, health: Health, stop: asyncio.Event
) -> AsyncIterator[tuple[Codec, Reading] | None]:
    """With the registry's ids where one is set, as soon as it gives them; None if `stop` was set before."""
    if not settings.registry:
        yield Codec(), nothing_to_learn
        return
    while not stop.is_set():
        try:
            registry, codec = await asyncio.to_thread(registered, settings)
        except NotReady as error:
            health.wrong(STARTING, str(error))
            LOGGER.warning("%s: %s", health.service, error)
            await until(stop, AGAIN_AFTER_S)
        else:
            with registry:
                yield codec, learning(registry, codec)
            return
    yield None


def registered(settings: Settings) -> tuple[Registry, Codec]:
    """Waits for the network. Raises NotReady, and BadSettings for an address that cannot be one."""
    registry = Registry(settings.registry, topic_prefix=settings.topic_prefix)
    try:
        return registry, Codec(registry.register())
    except BaseException:
        registry.close()
        raise


def learning(registry: Registry, codec: Codec) -> Reading:
    """Asks the registry for the schema of a value that the codec has not met. Raises NotReady."""

    async def learn(raw: bytes | None) -> None:
        if raw is not None:
            await registry.learn(codec, raw)

    return learn
