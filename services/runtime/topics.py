"""The topics as data: what `punto topics apply` makes, and what every service insists on before it starts.

All topics have the same partition count and are keyed by table, so that a table has one partition number everywhere.
Growing the count would move tables to other partitions: it is refused, and done with new topics instead.
"""

import asyncio
from collections.abc import Mapping
from typing import Any, Final, Self

from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from aiokafka.errors import KafkaError, UnknownTopicOrPartitionError, for_code
from msgspec import Struct

from services.baccarat import events
from services.baccarat.errors import BadSettings, NotReady
from services.runtime.settings import Settings

MAX_RECORD_BYTES: Final = 1_048_588  # Kafka's own default, said aloud: the codec's limit lies below it
ANY_LOG: Final = {
    "message.timestamp.type": "LogAppendTime",
    "unclean.leader.election.enable": "false",
    "max.message.bytes": str(MAX_RECORD_BYTES),
}
FACTS: Final = {**ANY_LOG, "cleanup.policy": "delete", "retention.ms": "-1", "retention.bytes": "-1"}
SNAPSHOTS: Final = {**ANY_LOG, "cleanup.policy": "compact", "segment.bytes": str(32 * 1024 * 1024)}
TOPICS: Final[Mapping[str, Mapping[str, str]]] = {
    events.TABLE_FEED: FACTS,
    events.ROUNDS: FACTS,
    events.BETS: FACTS,
    events.SETTLEMENTS: FACTS,
    events.DEAD_LETTERS: FACTS,
    events.RULES_SNAPSHOTS: SNAPSHOTS,
    events.SETTLEMENT_SNAPSHOTS: SNAPSHOTS,
}
PARTITIONS: Final = "partitions"
REPLICAS: Final = "replicas"
MISSING: Final = "topic"
SEEN_WITHIN_S: Final = 20.0
DYNAMIC_TOPIC_CONFIG: Final = 1  # the protocol's number for a setting that the topic itself carries


class Found(Struct, frozen=True):
    """A topic as the cluster has it; `own` are the settings that were set on it, not inherited."""

    partitions: int
    replicas: int
    settings: Mapping[str, str]
    own: Mapping[str, str]


class Difference(Struct, frozen=True):
    """`what` is MISSING, PARTITIONS, REPLICAS or the name of a topic's setting."""

    topic: str
    what: str
    found: str
    wanted: str

    def __str__(self) -> str:
        if self.what == MISSING:
            return f"{self.topic}: missing, to be created with {self.wanted}"
        return f"{self.topic}: {self.what} is {self.found}, must be {self.wanted}"


async def plan(settings: Settings) -> list[Difference]:
    """What `apply` would change, or refuse to. Raises NotReady when Kafka is away."""
    async with Admin(settings) as admin:
        found = await admin.describe()
        return differences(settings, found, await admin.brokers())


async def apply(settings: Settings) -> list[Difference]:
    """Makes it so and says what it changed. Raises BadSettings, before any change, where it must refuse."""
    async with Admin(settings) as admin:
        brokers = await admin.brokers()
        found = await admin.describe()
        changes = differences(settings, found, brokers)
        for change in changes:
            if change.what in (PARTITIONS, REPLICAS):
                raise BadSettings(refusal(change))
        await admin.create([change.topic for change in changes if change.what == MISSING], replicas(brokers))
        await admin.alter({name: found[name] for name in found if any(name == change.topic for change in changes)})
        async with asyncio.timeout(SEEN_WITHIN_S):  # the controller has it; each broker hears of it a moment later
            while differences(settings, await admin.describe(), brokers):
                await asyncio.sleep(0.05)
        return changes


async def verify(settings: Settings) -> None:
    """Raises NotReady, one line, unless every topic is there and as it must be."""
    async with Admin(settings) as admin:
        wrong = differences(settings, await admin.describe(), 1)
    if wrong:
        more = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
        raise NotReady(f"{wrong[0]}{more}; `punto topics plan` shows all")


def refusal(change: Difference) -> str:
    if change.what == PARTITIONS:
        return f"{change}: a table would change its partition; make new topics and move the tables at shoe ends"
    return f"{change}: add the replicas with Kafka's own kafka-reassign-partitions, then apply again"


def replicas(brokers: int) -> int:
    return 3 if brokers >= 3 else 1


def wanted_settings(topic: str, copies: int) -> dict[str, str]:
    """`topic` is its plain name; a write must reach two of three copies, one where there is one."""
    return {**TOPICS[topic], "min.insync.replicas": "2" if copies >= 3 else "1"}


def differences(settings: Settings, found: Mapping[str, Found], brokers: int) -> list[Difference]:
    """In the order of TOPICS; only with three brokers and more are too few replicas a difference."""
    result: list[Difference] = []
    for plain in TOPICS:
        name = settings.topic_prefix + plain
        there = found.get(name)
        if there is None:
            what = f"{settings.partitions} partitions, {replicas(brokers)} replicas"
            result.append(Difference(name, MISSING, "", what))
            continue
        if there.partitions != settings.partitions:
            result.append(Difference(name, PARTITIONS, str(there.partitions), str(settings.partitions)))
        if there.replicas < replicas(brokers):
            result.append(Difference(name, REPLICAS, str(there.replicas), str(replicas(brokers))))
        result += [
            Difference(name, key, there.settings.get(key, "not set"), value)
            for key, value in wanted_settings(plain, there.replicas).items()
            if there.settings.get(key) != value
        ]
    return result


class Admin:
    """Kafka's admin client, with a deadline on everything and NotReady for whatever it raises."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._client: Any = None
        self._names = [settings.topic_prefix + plain for plain in TOPICS]

    async def __aenter__(self) -> Self:
        self._client = AIOKafkaAdminClient(bootstrap_servers=self._settings.kafka, request_timeout_ms=10_000)
        try:
            await self._client.start()
        except KafkaError as error:
            await self._client.close()
            raise NotReady(f"Kafka at {self._settings.kafka} does not answer") from error
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._client.close()

    async def brokers(self) -> int:
        return len((await self._client.describe_cluster())["brokers"])

    async def describe(self) -> dict[str, Found]:
        """Those of our topics that exist."""
        try:
            described = [
                topic for topic in await self._client.describe_topics() if topic["topic"] in self._names
            ]  # asked for by name, a missing topic would be created where the broker allows it
            configs = await self._settings_of([topic["topic"] for topic in described])
        except KafkaError as error:
            raise NotReady(f"Kafka at {self._settings.kafka}: {error}") from error
        return {
            topic["topic"]: Found(
                partitions=len(topic["partitions"]),
                replicas=min(len(partition["replicas"]) for partition in topic["partitions"]),
                settings=configs[topic["topic"]][0],
                own=configs[topic["topic"]][1],
            )
            for topic in described
            if topic["topic"] in configs
        }

    async def _settings_of(self, names: list[str]) -> dict[str, tuple[dict[str, str], dict[str, str]]]:
        """All settings of each topic, and those that it carries itself; one deleted meanwhile has none."""
        if not names:
            return {}
        resources = [ConfigResource(ConfigResourceType.TOPIC, name) for name in names]
        result: dict[str, tuple[dict[str, str], dict[str, str]]] = {}
        for answer in await self._client.describe_configs(resources):
            for code, message, _, name, entries in answer.resources:
                if for_code(code) is UnknownTopicOrPartitionError:
                    continue
                if code:
                    raise NotReady(f"{name}: {for_code(code).__name__}: {message}")
                everything = {entry[0]: entry[1] for entry in entries if entry[1] is not None}
                own = {entry[0]: entry[1] for entry in entries if entry[3] == DYNAMIC_TOPIC_CONFIG}
                result[name] = (everything, own)
        return result

    async def create(self, names: list[str], copies: int) -> None:
        prefix = len(self._settings.topic_prefix)
        new = [
            NewTopic(name, self._settings.partitions, copies, topic_configs=wanted_settings(name[prefix:], copies))
            for name in names
        ]
        if not new:
            return
        answer = await self._client.create_topics(new)
        for name, code, message in answer.topic_errors:
            if code:
                raise NotReady(f"{name} cannot be created: {for_code(code).__name__}: {message}")

    async def alter(self, topics: Mapping[str, Found]) -> None:
        """Sets ours and keeps what else is set: Kafka's request replaces all settings of a topic."""
        prefix = len(self._settings.topic_prefix)
        resources = [
            ConfigResource(
                ConfigResourceType.TOPIC, name, {**found.own, **wanted_settings(name[prefix:], found.replicas)}
            )
            for name, found in topics.items()
        ]
        if not resources:
            return
        for answer in await self._client.alter_configs(resources):
            for code, message, _, name in answer.resources:
                if code:
                    raise NotReady(f"{name} cannot be changed: {for_code(code).__name__}: {message}")
