"""A service is a processor: a decider, and which topics it reads and writes. Both runtimes run this one shape.

`advance` is the whole of a runtime's thinking: records in, facts out, nothing changed in place. A runtime reads
records, calls `advance`, commits what it wrote together with the positions it took, and only then keeps the states.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from math import inf
from typing import Generic, TypeVar

from msgspec import Struct

from services.baccarat.errors import InvariantBroken, Unfit
from services.baccarat.events import DEAD_LETTERS, DeadLetter, Event

S = TypeVar("S")
HEAD_BYTES = 4096  # of a dead letter's record: enough to see what it was, and always small enough to send
TEXT_CHARACTERS = 500
WRONG_PARTITION = "wrong-partition"
FACTS_A_BATCH = 5_000  # at which a runtime commits: the outcomes of large books are many facts each


class Record(Struct, frozen=True):
    """A record as it was read from a log; `event` is None where it cannot be used, and `problem` is the code why.

    `at_ms` is the append time, or the time inside the event for what rules and settlement wrote.
    """

    topic: str
    partition: int
    offset: int
    at_ms: int
    key: str
    event: Event | None
    raw: bytes = b""
    problem: str = ""
    text: str = ""


class Written(Struct, frozen=True):
    """A fact on its way to a topic, encoded; `cause` is the record that made it and travels in the headers."""

    topic: str
    table_id: str
    event: Event
    value: bytes
    cause: Record


class Processor(Struct, Generic[S], frozen=True, kw_only=True):
    """A decider and its topics: `decide` is told the topic, for a mark means one thing in `bets`, another in `rounds`.

    `inputs` come in the order in which they are waited for: a record of an earlier input may have to wait for one of a
    later input (`ready`), never the other way round. The group subscribes to the first.
    `uncommitted` are the inputs whose records count as soon as they are appended.
    `writers` names, for an input that one processor alone writes, that processor: what anybody else wrote there is a
    dead letter, for a mark that nobody repeats would be waited for without end.
    `copies_to` names the topics a fact goes to besides `output`.
    `poisoned` answers a record that cannot be used, and a decision that broke an invariant.
    """

    name: str
    inputs: tuple[str, ...]
    output: str
    snapshots: str
    start: Callable[[str], S]
    decide: Callable[[S, str, Event, int], tuple[Event, ...]]
    evolve: Callable[[S, Event], S]
    copies_to: Callable[[Event], tuple[str, ...]]
    ready: Callable[[S, str, Event], bool]
    poisoned: Callable[[S, Event | None, str, str, int], tuple[Event, ...]]
    state_type: type[S]
    state_version: int = 1
    uncommitted: tuple[str, ...] = ()
    writers: Mapping[str, str] = {}


class Advance(Struct, Generic[S], frozen=True):
    """What a batch came to: the changed states, the facts in order, and how many records each input gave."""

    changed: Mapping[str, S]
    written: tuple[Written, ...]
    taken: Mapping[str, int]


Encode = Callable[[str, Event], bytes]


def advance(
    processor: Processor[S],
    states: Mapping[str, S],
    queues: Mapping[str, Sequence[Record]],
    encode: Encode,
    enough: float = inf,
) -> Advance[S]:
    """Decides the records of each queue in order, as far as they are ready; `encode` raises Unfit.

    Of a queue that has given `enough` facts no more is taken: all facts of one record stay together.
    """
    changed: dict[str, S] = {}
    written: list[Written] = []
    taken = dict.fromkeys(processor.inputs, 0)
    for topic in reversed(processor.inputs):
        full = len(written) + enough
        for record in queues.get(topic, ()):
            if len(written) >= full:
                break
            state = state_of(processor, record.key, changed, states)
            if record.event is not None and not processor.ready(state, topic, record.event):
                break
            state, facts = answer(processor, state, record, encode)
            if facts:
                changed[record.key] = state
                written += facts
            taken[topic] += 1
    return Advance(changed, tuple(written), taken)


def state_of(processor: Processor[S], table_id: str, *states: Mapping[str, S]) -> S:
    """The first of `states` that knows the table, else its first state of all."""
    for known in states:
        if table_id in known:
            return known[table_id]
    return processor.start(table_id)


def answer(processor: Processor[S], state: S, record: Record, encode: Encode) -> tuple[S, tuple[Written, ...]]:
    """One record's facts, encoded, and the state after them; what cannot be used becomes a dead letter."""
    if record.event is None:
        return refuse(processor, state, record, record.problem, record.text, encode)
    try:
        return settle_on(
            processor, state, record, processor.decide(state, record.topic, record.event, record.at_ms), encode
        )
    except Unfit as error:
        return refuse(processor, state, record, error.code, str(error), encode)
    except Exception as error:  # noqa: BLE001 - one table's impossible state must never stop the others
        code = "invariant-broken" if isinstance(error, InvariantBroken) else "decider-failed"
        return refuse(processor, state, record, code, f"{type(error).__name__}: {error}", encode)


def refuse(
    processor: Processor[S], state: S, record: Record, code: str, text: str, encode: Encode
) -> tuple[S, tuple[Written, ...]]:
    """The dead letter of a record, after the facts that say what it did to its table, if these can be said."""
    letter = dead_letter(record, code, text)
    written: tuple[Written, ...] = ()
    if code != WRONG_PARTITION:  # the table lives in another partition, and is not touched from here
        with suppress(Exception):  # what even that breaks on must not hold up the partition
            facts = processor.poisoned(state, record.event, code, letter.text, record.at_ms)
            state, written = settle_on(processor, state, record, facts, encode)
    return state, (*written, Written(DEAD_LETTERS, record.key, letter, encode(DEAD_LETTERS, letter), record))


def settle_on(
    processor: Processor[S], state: S, record: Record, facts: tuple[Event, ...], encode: Encode
) -> tuple[S, tuple[Written, ...]]:
    """Encodes all facts of one input before the first is sent, then folds them."""
    written = tuple(
        Written(topic, record.key, fact, encode(topic, fact), record)
        for fact in facts
        for topic in (processor.output, *processor.copies_to(fact))
    )
    for fact in facts:
        state = processor.evolve(state, fact)
    return state, written


def dead_letter(record: Record, code: str, text: str) -> DeadLetter:
    """Small enough to send and fit to encode, whatever the record was."""
    return DeadLetter(
        event_id=f"dead/{record.topic}/{record.partition}/{record.offset}",
        table_id=sendable(record.key, 200),
        topic=record.topic,
        partition=record.partition,
        offset=record.offset,
        reason=code,
        text=sendable(text, TEXT_CHARACTERS),
        sha256=sha256(record.raw).hexdigest(),
        size=len(record.raw),
        head=record.raw[:HEAD_BYTES],
    )


def sendable(text: str, characters: int) -> str:
    """The beginning of a text, with what cannot be encoded replaced."""
    return text[:characters].encode("utf-8", "replace").decode("utf-8")
