"""The laws of the runtime, on both of them: whatever happens on the way, the log ends with the same facts.

The same means: the same ids with the same values as the replay of the recorded inputs in memory gives, none missing,
none extra, none twice.
"""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from random import Random

import pytest
from msgspec import Struct
from msgspec.structs import replace

from services.baccarat.events import (
    BETS,
    DEAD_LETTERS,
    ROUNDS,
    SETTLEMENTS,
    TABLE_FEED,
    BetAccepted,
    BetCancelled,
    BetIgnored,
    BetPlaced,
    BettingClosed,
    BetVoided,
    BookSuspended,
    CancelRefused,
    CardDealt,
    CustomerLeft,
    DeadLetter,
    DealerOpenedBetting,
    DealerResumed,
    DealerSuspended,
    DealerVoidedRound,
    Event,
    Mark,
    TableSuspended,
)
from services.baccarat.table import State
from services.rules import RULES
from services.runtime import embedded, kafka
from services.runtime.codec import LIMIT_BYTES
from services.runtime.processor import HEAD_BYTES
from services.runtime.reading import partition_of
from services.settlement import SETTLEMENT
from tests.runtime.harness import (
    PARTITIONS,
    Crashes,
    EmbeddedHarness,
    Harness,
    as_raw,
    everything,
    inputs,
    perform,
)
from tests.runtime.plays import Step, play
from tests.runtime.reference import CODEC, Raw, Told, marks_in, replay, told_again, told_by, told_in, unbalanced

SEED = 1
HALF = 9  # steps
COMMIT_POINTS = tuple(kafka.FAULT_POINTS[kafka.FAULT_POINTS.index("before-begin") :][:5])
STRUCK_CARD_NO = 9  # of a shoe, in the play's first rounds


def judge(harness: Harness, *, forged: bool = False) -> Told:
    """What the log says, if that is what its inputs come to; and the money adds up."""
    log = everything(harness)
    told = told_in(raw for topic in (ROUNDS, SETTLEMENTS, DEAD_LETTERS) for raw in log[topic])
    again = told_again(*harness.processors, inputs(log), harness.partitions)
    for topic in told:
        assert dict(told[topic]) == dict(again[topic]), topic
        assert told[topic] == again[topic], f"a fact of {topic} stands there twice"
    if not forged:
        marks = {name: fact for name, fact in told[ROUNDS] if isinstance(fact, Mark)}
        assert marks_in(log[BETS], harness.partitions) == marks
    assert unbalanced(told) == []
    return told


def kinds(told: Told, topic: str) -> set[str]:
    return {type(fact).__name__ for _, fact in told[topic]}


async def finish(harness: Harness, *, forged: bool = False) -> Told:
    await harness.until_caught_up()
    await harness.stop()
    return judge(harness, forged=forged)


async def test_a_play_ends_as_its_replay_does(harness: Harness) -> None:
    await harness.start()
    await perform(harness, play(SEED))
    told = await finish(harness)
    assert {"RoundDecided", "RoundVoided", "ShoeClosed", "TableSuspended", "CardCorrected"} <= kinds(told, ROUNDS)
    settled = {"BetSettled", "BetVoided", "BetRejected", "BetIgnored", "CancelNoted", "RoundSettled"}
    assert settled <= kinds(told, SETTLEMENTS)
    assert told[DEAD_LETTERS] == []


async def test_every_record_twice_says_nothing_more(harness: Harness) -> None:
    """The log says what it would say if each record stood there once, where it came first."""
    steps = [Step(tuple(sent for sent in step.sent for _ in range(2)), step.tells) for step in play(SEED)[:HALF]]
    sent = {type(event) for step in steps for _, event, _ in step.sent}
    assert {CardDealt, DealerOpenedBetting, DealerSuspended, DealerResumed, BetPlaced, BetCancelled} <= sent
    await harness.start()
    await perform(harness, steps)
    told = await finish(harness)
    once = told_again(RULES, SETTLEMENT, firsts(inputs(everything(harness))), harness.partitions)
    assert told[ROUNDS] == once[ROUNDS]
    assert told[DEAD_LETTERS] == once[DEAD_LETTERS] == []
    assert answered(told) == answered(once)
    assert ignored(told) == ignored(once) != set()


def firsts(recorded: Iterable[Raw]) -> list[Raw]:
    """The first of all records with the same value."""
    found: dict[tuple[str, bytes | None], Raw] = {}
    for raw in recorded:
        found.setdefault((raw.topic, raw.value), raw)
    return [*found.values()]


def answered(told: Told) -> list[tuple[str, Event]]:
    return [pair for pair in told[SETTLEMENTS] if not isinstance(pair[1], BetIgnored | CancelRefused)]


def ignored(told: Told) -> set[tuple[str, str, str, str]]:
    """What no book remembers is refused each time that it comes, under a number of its own: here only what it was."""
    return {
        (fact.table_id, fact.bet_id, fact.content_hash, fact.code)
        for _, fact in told[SETTLEMENTS]
        if isinstance(fact, BetIgnored | CancelRefused)
    }


async def test_batches_cannot_be_seen(harness: Harness) -> None:
    await harness.start(batch=1)
    await perform(harness, play(SEED, tables=4)[:HALF])
    await finish(harness)


def crashes_of(runtime: str, points: tuple[str, ...], *nths: int) -> list[object]:
    marks = [pytest.mark.broker] if runtime == "kafka" else []
    return [pytest.param(runtime, point, nth, marks=marks) for point in points for nth in nths]


@pytest.mark.parametrize(
    ("harness", "point", "nth"),
    [
        *crashes_of("embedded", embedded.FAULT_POINTS, 1, 4),
        *crashes_of("kafka", kafka.FAULT_POINTS, 2),
        *crashes_of("kafka", COMMIT_POINTS, 7),
    ],
    indirect=["harness"],
)
async def test_a_crash_at_any_point_loses_and_doubles_nothing(harness: Harness, point: str, nth: int) -> None:
    crashes = Crashes(point, nth)
    await harness.start(fault=crashes)
    await perform(harness, play(SEED, tables=4)[:HALF])
    await finish(harness)
    assert crashes.left <= 0, f"{point} was never passed"


def on_kafka(*what: str) -> object:
    return pytest.param("kafka", *what, marks=pytest.mark.broker)


@pytest.mark.parametrize(
    ("harness", "gone", "way"),
    [
        *(
            ("embedded", gone, way)
            for gone in ("snapshots", "positions", "both", "neither")
            for way in ("stop", "kill")
        ),
        on_kafka("snapshots", "kill"),
        on_kafka("positions", "stop"),
        on_kafka("both", "kill"),
    ],
    indirect=["harness"],
)
async def test_caches_may_be_deleted_at_any_time(harness: Harness, gone: str, way: str) -> None:
    steps = play(SEED + 1, tables=4)
    await harness.start()
    await perform(harness, steps[:HALF])
    await (harness.stop() if way == "stop" else harness.kill())
    if gone in {"snapshots", "both"}:
        await harness.delete_snapshots()
    if gone in {"positions", "both"}:
        await harness.delete_positions()
    await harness.start()
    await perform(harness, steps[HALF:])
    await finish(harness)


# ---------------------------------------------------------------- records that cannot be used


class Bad(Struct, frozen=True):
    """One way in which a record of `table_id` cannot be used, and the code that says so."""

    code: str
    make: Callable[[str, str], Raw]
    touches: bool = True  # whether it suspends its table, in `table-feed`


def fit(topic: str, table_id: str) -> Event:
    """Something that the topic may hold, and that changes little."""
    if topic == BETS:
        return CustomerLeft(event_id=f"{table_id}/left/bad", table_id=table_id, customer_id="c1")
    action_id = f"{table_id}-bad"
    return DealerResumed(
        event_id=f"{table_id}/action/bad", table_id=table_id, action_id=action_id, by="ann", reason="a bad record"
    )


def home(topic: str, table_id: str, value: bytes | None, key: bytes | None) -> Raw:
    return Raw(topic, partition_of(table_id, PARTITIONS), -1, None, key, value)


def in_next_partition(topic: str, table_id: str) -> Raw:
    raw = as_raw(topic, fit(topic, table_id))
    return replace(raw, partition=(raw.partition + 1) % PARTITIONS)


def too_large_to_answer(topic: str, table_id: str) -> Raw:
    """It can be read, and only just: what would be said of it has no room left, so it is refused before."""
    if topic == BETS:
        large: Event = replace(fit(topic, table_id), customer_id="c" * (LIMIT_BYTES - 100))
    else:
        large = DealerSuspended(
            event_id=f"{table_id}/action/bad",
            table_id=table_id,
            action_id="bad",
            by="ann",
            reason="x" * (LIMIT_BYTES - 60),
        )
    return as_raw(topic, large)


BAD: Mapping[str, Bad] = {
    "T1": Bad("undecodable", lambda topic, table: home(topic, table, b"junk", table.encode())),
    "T2": Bad("no-value", lambda topic, table: home(topic, table, None, table.encode())),
    "T3": Bad("undecodable", lambda topic, table: home(topic, table, b"x" * 1_000_000, table.encode())),
    "T4": Bad("wrong-partition", in_next_partition, touches=False),
    "T5": Bad(
        "wrong-partition", lambda topic, table: replace(as_raw(topic, fit(topic, table)), key=None), touches=False
    ),
    "T6": Bad(
        "wrong-partition", lambda topic, table: replace(as_raw(topic, fit(topic, table)), key=b"\xff/"), touches=False
    ),
    "T7": Bad(
        "wrong-key", lambda topic, table: home(topic, table, CODEC.encode(topic, fit(topic, "T8")), table.encode())
    ),
    "T8": Bad("no-append-time", lambda topic, table: replace(as_raw(topic, fit(topic, table)), stamped=False)),
    "T9": Bad("unknown-schema", lambda topic, table: home(topic, table, b"\xc3\x01" + bytes(20), table.encode())),
    "T10": Bad("malformed", too_large_to_answer),
}


@pytest.mark.parametrize("topic", [TABLE_FEED, BETS])
async def test_what_cannot_be_used_touches_one_table_at_most(harness: Harness, topic: str) -> None:
    steps = play(SEED, tables=13, rounds_each=3)
    struck = {table for table, bad in BAD.items() if bad.touches} if topic == TABLE_FEED else set()
    spared = [Step(step.sent, tuple(name for name in step.tells if name.split("/")[0] not in struck)) for step in steps]
    await harness.start()
    await perform(harness, steps[:3])
    await harness.until_caught_up()
    await harness.stop()
    await harness.append([bad.make(topic, table) for table, bad in BAD.items()])
    await harness.start()
    await harness.until_caught_up()
    await harness.stop()
    await harness.delete_snapshots()
    await harness.delete_positions()
    await harness.start()
    await perform(harness, spared[3:])
    told = await finish(harness)
    letters = [fact for _, fact in told[DEAD_LETTERS] if isinstance(fact, DeadLetter)]
    codes = [bad.code for bad in BAD.values()]
    assert sorted(letter.reason for letter in letters) == sorted(codes)
    assert all(letter.topic == topic and len(letter.head) <= min(letter.size, HEAD_BYTES) for letter in letters)
    suspended = {fact.table_id for _, fact in told[ROUNDS] if isinstance(fact, TableSuspended) and fact.cause in codes}
    assert suspended == struck
    assert {name for step in spared for name in step.tells} <= dict(told[ROUNDS]).keys()


async def test_an_impossible_state_suspends_its_table_and_no_other(harness: Harness) -> None:
    """A defect that shows at one card of one table."""
    steps = play(SEED, tables=6)[:HALF]
    cards = [event for step in steps for _, event, _ in step.sent if isinstance(event, CardDealt)]
    impossible = [card for card in cards if card.table_id == "T1"][STRUCK_CARD_NO - 1].event_id

    def decide(state: State, topic: str, event: Event, at_ms: int) -> tuple[Event, ...]:
        if event.event_id == impossible:
            raise LookupError("no such place")
        return RULES.decide(state, topic, event, at_ms)

    harness.processors = (replace(RULES, decide=decide), SETTLEMENT)
    await harness.start()
    await perform(harness, [Step(step.sent, tuple(id_ for id_ in step.tells if not is_of_t1(id_))) for step in steps])
    await harness.append([as_raw(TABLE_FEED, event) for event in round_voided("T1", 1, 2)])
    told = await finish(harness)
    (letter,) = (fact for _, fact in told[DEAD_LETTERS] if isinstance(fact, DeadLetter))
    assert (letter.table_id, letter.reason, letter.text) == ("T1", "decider-failed", "LookupError: no such place")
    suspended = [fact for _, fact in told[ROUNDS] if isinstance(fact, TableSuspended) and fact.cause == letter.reason]
    assert [fact.table_id for fact in suspended] == ["T1"]
    spared = [raw for raw in inputs(everything(harness)) if raw.key != b"T1"]
    right = told_again(RULES, SETTLEMENT, spared, harness.partitions)
    for topic in (ROUNDS, SETTLEMENTS):
        assert [pair for pair in told[topic] if pair[1].table_id != "T1"] == right[topic] != []
    assert partition_of("T1", PARTITIONS) in {raw.partition for raw in spared}


def is_of_t1(event_id: str) -> bool:
    return event_id.startswith("T1/")


def round_voided(table_id: str, shoe_no: int, round_no: int) -> tuple[Event, Event]:
    """A person resumes the table and gives the stakes back."""
    resumed = DealerResumed(
        event_id=f"{table_id}/action/on", table_id=table_id, action_id="on", by="ann", reason="mended"
    )
    voided = DealerVoidedRound(
        event_id=f"{table_id}/action/void",
        table_id=table_id,
        action_id="void",
        by="ann",
        second="bob",
        shoe_no=shoe_no,
        round_no=round_no,
        reason="a card was lost",
    )
    return resumed, voided


async def test_a_forged_mark_suspends_its_book_and_no_other(harness: Harness) -> None:
    """Somebody closes a round early, in `bets` alone; a person resumes the book, which voids it."""
    steps = play(SEED, tables=4)
    shoe_no, round_no = (int(number) for number in steps[2].tells[0].split("/")[1:3])
    table_id = steps[2].tells[0].split("/")[0]
    forged = BettingClosed(
        event_id=f"{table_id}/{shoe_no}/{round_no}/closed",
        table_id=table_id,
        at_ms=2**42,
        cause_id="somebody",
        shoe_no=shoe_no,
        round_no=round_no,
        closed_at_ms=2**42,
        cause="card",
    )
    resumed = DealerResumed(
        event_id=f"{table_id}/action/book",
        table_id=table_id,
        action_id="book",
        by="ann",
        reason="the mark was forged",
        what="book",
        shoe_no=shoe_no,
        round_no=round_no,
    )
    await harness.start()
    await perform(harness, steps[:4])
    await harness.append([as_raw(BETS, forged)])
    await perform(harness, steps[4:6])
    await harness.append([as_raw(TABLE_FEED, resumed)])
    await perform(harness, steps[6:HALF])
    told = await finish(harness, forged=True)
    suspended = [fact for _, fact in told[SETTLEMENTS] if isinstance(fact, BookSuspended)]
    assert [(fact.table_id, fact.shoe_no, fact.round_no) for fact in suspended] == [(table_id, shoe_no, round_no)]
    place = (table_id, shoe_no, round_no)
    taken = {fact.bet_id for _, fact in told[SETTLEMENTS] if isinstance(fact, BetAccepted) and place_of(fact) == place}
    voided = {fact.bet_id for _, fact in told[SETTLEMENTS] if isinstance(fact, BetVoided) and place_of(fact) == place}
    assert taken == voided != set()


def place_of(fact: BetAccepted | BetVoided) -> tuple[str, int, int]:
    return fact.table_id, fact.shoe_no, fact.round_no


async def test_no_interleaving_of_bets_and_rounds_can_be_seen(tmp_path: Path) -> None:
    harness = EmbeddedHarness(tmp_path)
    await harness.start()
    await perform(harness, play(SEED))
    told = await finish(harness)
    recorded = inputs(everything(harness))
    for seed in range(12):
        random = Random(seed)
        portions = replay(RULES, SETTLEMENT, recorded, PARTITIONS, lambda random=random: random.randrange(4))  # type: ignore[misc]
        assert told_by((fact.topic, fact.event) for fact in portions) == told, f"seed {seed}"
