"""Kafka and Redis to measure on: those of the environment, else child processes with nothing in them."""

import asyncio
import contextlib
import os
import secrets
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from services.runtime import local, topics
from services.runtime.settings import Settings


class Servers(Struct, frozen=True):
    """Where they answer; `folder` is for what processes say."""

    kafka: str
    redis: str
    folder: Path


@contextlib.contextmanager
def servers(folder: Path) -> Iterator[Servers]:
    """Raises NotReady where Kafka or Redis cannot be had."""
    with contextlib.ExitStack() as stack:
        kafka, redis = os.environ.get("KAFKA_BOOTSTRAP_SERVERS"), os.environ.get("REDIS_URL")
        kafka = kafka or stack.enter_context(local.start_kafka(folder / "kafka", lasting=True)).address
        redis = redis or stack.enter_context(local.start_valkey(folder / "redis")).address
        yield Servers(kafka, redis, folder)


def new_log(at: Servers, name: str) -> Settings:
    """Topics of their own, as in production but for their names."""
    prefix = f"bench-{name}-{secrets.token_hex(3)}."
    settings = Settings(kafka=at.kafka, redis=at.redis, topic_prefix=prefix, state_dir=at.folder)
    asyncio.run(topics.apply(settings))
    return settings
