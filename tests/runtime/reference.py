"""The judge of a live run: the embedded replay, in memory, of the inputs that its log recorded.

It takes `table-feed` and `bets` with their append times, the marks in place as they lie there, and decides them again:
no transactions, no restarts, no batches.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from services.baccarat.events import (
    BETS,
    DEAD_LETTERS,
    ROUNDS,
    SETTLEMENTS,
    TABLE_FEED,
    BetAccepted,
    BetReversed,
    BetSettled,
    BetVoided,
    Event,
    Mark,
    RoundSettled,
)
from services.runtime.codec import Codec
from services.runtime.processor import Processor, Record, Written, advance
from services.runtime.reading import read_record

CODEC = Codec()
FACTS = (ROUNDS, SETTLEMENTS, DEAD_LETTERS)


class Raw(Struct, frozen=True):
    """A record as a log holds it; `at_ms` is None for one without append time, or (to be appended) the log's own."""

    topic: str
    partition: int
    offset: int
    at_ms: int | None
    key: bytes | None
    value: bytes | None
    stamped: bool = True


Told = Mapping[str, Sequence[tuple[str, Event]]]  # by topic: the id and the value of every fact, in order of the ids


def read(raw: Raw, partitions: int) -> Record:
    return read_record(
        CODEC, raw.topic, raw.partition, partitions, raw.offset, raw.at_ms or 0, raw.stamped, raw.key, raw.value
    )


def run(
    processor: Processor[Any],
    queues: Mapping[str, Sequence[Record]],
    portion: Callable[[], int] | None = None,
) -> tuple[Written, ...]:
    """All that these records come to; `portion` says how many more of each input are shown at each step, None all."""
    states: dict[str, Any] = {}
    written: list[Written] = []
    begins = dict.fromkeys(queues, 0)
    ends = dict.fromkeys(queues, 0)
    while True:
        for topic, queue in queues.items():
            ends[topic] = min(len(queue), ends[topic] + (len(queue) if portion is None else portion()))
        seen = {topic: queue[begins[topic] : ends[topic]] for topic, queue in queues.items()}
        done = advance(processor, states, seen, CODEC.encode)
        states |= done.changed
        written += done.written
        for topic, taken in done.taken.items():
            begins[topic] += taken
        if not any(done.taken.values()) and all(ends[topic] == len(queue) for topic, queue in queues.items()):
            return tuple(written)


def replay(
    rules: Processor[Any],
    settlement: Processor[Any],
    recorded: Iterable[Raw],
    partitions: int,
    portion: Callable[[], int] | None = None,
) -> list[Written]:
    """The facts and dead letters that the recorded feed and bets come to."""
    queues: dict[tuple[str, int], list[Record]] = {}
    for raw in recorded:
        queues.setdefault((raw.topic, raw.partition), []).append(read(raw, partitions))
    written: list[Written] = []
    for partition in range(partitions):
        ruled = run(rules, {TABLE_FEED: queues.get((TABLE_FEED, partition), [])}, portion)
        meant = [
            read(Raw(ROUNDS, partition, offset, 0, fact.table_id.encode(), fact.value), partitions)
            for offset, fact in enumerate(fact for fact in ruled if fact.topic == ROUNDS)
        ]
        bets = queues.get((BETS, partition), [])
        written += ruled
        written += run(settlement, {ROUNDS: meant, BETS: bets}, portion)
    return written


def told_by(facts: Iterable[tuple[str, Event]]) -> Told:
    """Facts by topic; a fact told twice stands there twice."""
    told: dict[str, list[tuple[str, Event]]] = {topic: [] for topic in FACTS}
    for topic, event in facts:
        if topic in told:
            told[topic].append((event.event_id, event))
    for of_topic in told.values():
        of_topic.sort(key=lambda pair: pair[0])
    return told


def told_in(records: Iterable[Raw], decode: Callable[[str, bytes], Event] = CODEC.decode) -> Told:
    """What a log says."""
    return told_by((raw.topic, decode(raw.topic, raw.value or b"")) for raw in records)


def told_again(rules: Processor[Any], settlement: Processor[Any], recorded: Iterable[Raw], partitions: int) -> Told:
    """What the replay says."""
    return told_by((fact.topic, fact.event) for fact in replay(rules, settlement, recorded, partitions))


def marks_in(records: Iterable[Raw], partitions: int) -> dict[str, Event]:
    """The marks of `bets` by their ids: the first of each counts."""
    marks: dict[str, Event] = {}
    for raw in records:
        event = read(raw, partitions).event
        if isinstance(event, Mark):
            marks.setdefault(event.event_id, event)
    return marks


def unbalanced(told: Told) -> list[str]:
    """What does not add up: a sentence each.

    Every accepted bet ends once, settled or voided; what was reversed is taken back; stakes are returns and house win.
    """
    open_bets: dict[str, int] = {}
    wrong = []
    paid: dict[tuple[str, int, int, int], tuple[int, int, int]] = {}
    for _, fact in told[SETTLEMENTS]:
        match fact:
            case BetAccepted():
                open_bets[key_of(fact)] = open_bets.get(key_of(fact), 0) + 1
            case BetSettled() | BetVoided():
                open_bets[key_of(fact)] = open_bets.get(key_of(fact), 0) - 1
            case BetReversed():
                open_bets[key_of(fact)] = open_bets.get(key_of(fact), 0) + 1
            case _:
                pass
        if isinstance(fact, BetSettled):
            place = (fact.table_id, fact.shoe_no, fact.round_no, fact.revision)
            count, stakes, returns = paid.get(place, (0, 0, 0))
            paid[place] = (count + 1, stakes + fact.stake_minor, returns + fact.return_minor)
    wrong += [f"bet {bet} ends {1 - left} times" for bet, left in open_bets.items() if left]
    for _, fact in told[SETTLEMENTS]:
        if isinstance(fact, RoundSettled):
            place = (fact.table_id, fact.shoe_no, fact.round_no, fact.revision)
            sums = (fact.count, fact.stakes_minor, fact.returns_minor)
            if not fact.void and paid.get(place, (0, 0, 0)) != sums:
                wrong.append(f"round {place} says {sums}, its bets come to {paid.get(place)}")
            if fact.stakes_minor != fact.returns_minor + fact.house_win_minor:
                wrong.append(f"round {place} does not balance")
    return wrong


def key_of(fact: BetAccepted | BetSettled | BetVoided | BetReversed) -> str:
    return f"{fact.table_id}/{fact.shoe_no}/{fact.round_no}/{fact.bet_id}"
