"""The id of a log on Kafka. Topic ids came with a newer version of the metadata request than those aiokafka knows."""

import asyncio
from collections.abc import Sequence
from io import BytesIO
from uuid import UUID

from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.errors import KafkaError
from aiokafka.protocol.abstract import AbstractType
from aiokafka.protocol.api import Request, RequestStruct, Response
from aiokafka.protocol.types import Boolean, CompactArray, CompactString, Int16, Int32, Schema, TaggedFields

from services.baccarat.errors import NotReady
from services.baccarat.events import ROUNDS
from services.runtime import kafka_client as client
from services.runtime.settings import Settings


class Uuid(AbstractType):  # type: ignore[misc]
    @classmethod
    def encode(cls, value: UUID) -> bytes:
        return value.bytes

    @classmethod
    def decode(cls, data: BytesIO) -> UUID:
        return UUID(bytes=data.read(16))


class TopicIdsResponse(Response):  # type: ignore[misc]
    API_KEY = 3
    API_VERSION = 10
    SCHEMA = Schema(
        ("throttle_time_ms", Int32),
        (
            "brokers",
            CompactArray(
                ("node_id", Int32),
                ("host", CompactString()),
                ("port", Int32),
                ("rack", CompactString()),
                ("tags", TaggedFields),
            ),
        ),
        ("cluster_id", CompactString()),
        ("controller_id", Int32),
        (
            "topics",
            CompactArray(
                ("error_code", Int16),
                ("name", CompactString()),
                ("topic_id", Uuid),
                ("is_internal", Boolean),
                (
                    "partitions",
                    CompactArray(
                        ("error_code", Int16),
                        ("partition", Int32),
                        ("leader", Int32),
                        ("leader_epoch", Int32),
                        ("replicas", CompactArray(Int32)),
                        ("isr", CompactArray(Int32)),
                        ("offline", CompactArray(Int32)),
                        ("tags", TaggedFields),
                    ),
                ),
                ("operations", Int32),
                ("tags", TaggedFields),
            ),
        ),
        ("operations", Int32),
        ("tags", TaggedFields),
    )


class TopicIdsRequestStruct(RequestStruct):  # type: ignore[misc]
    API_KEY = 3
    API_VERSION = 10
    FLEXIBLE_VERSION = True
    RESPONSE_TYPE = TopicIdsResponse
    SCHEMA = Schema(
        ("topics", CompactArray(("topic_id", Uuid), ("name", CompactString()), ("tags", TaggedFields))),
        ("allow_auto_topic_creation", Boolean),
        ("include_cluster_operations", Boolean),
        ("include_topic_operations", Boolean),
        ("tags", TaggedFields),
    )


class TopicIdsRequest(Request[TopicIdsRequestStruct]):  # type: ignore[misc]
    API_KEY = 3

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names

    def build(self, request_struct_class: type[TopicIdsRequestStruct]) -> TopicIdsRequestStruct:
        return request_struct_class([(UUID(int=0), name, {}) for name in self._names], False, False, False, {})


async def log_id_of(settings: Settings, topic: str = ROUNDS) -> str:
    """The cluster's id and the topic's: a topic that is deleted and made again has another. Raises NotReady."""
    admin = AIOKafkaAdminClient(bootstrap_servers=settings.kafka, request_timeout_ms=10_000)
    name = settings.topic_prefix + topic
    try:
        async with asyncio.timeout(client.START_WITHIN_S):
            await admin.start()
            answer = await admin._send_request(TopicIdsRequest([name]))  # noqa: SLF001
    except (KafkaError, OSError, TimeoutError) as error:
        raise NotReady(f"Kafka at {settings.kafka} does not answer") from error
    finally:
        await admin.close()
    found = {topic[1]: topic[2] for topic in answer.topics if topic[0] == 0}
    if name not in found:
        raise NotReady(f"{name}: missing; `punto topics plan` shows all")
    return f"{answer.cluster_id}/{found[name].hex}"
