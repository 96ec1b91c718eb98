"""Events: an input's own id, what makes an event of the right shape unusable, and which topic holds what."""

from typing import get_type_hints

import pytest
from msgspec.structs import replace

from services.baccarat.events import (
    BETS,
    DEAD_LETTERS,
    EVENTS_OF,
    ROUNDS,
    SETTLEMENTS,
    TABLE_FEED,
    CustomerLeft,
    DeadLetter,
    Event,
    FeedEvent,
    cause_id,
    malformed,
)
from tests.baccarat.feeds import TABLE, Feed, run
from tests.baccarat.logs import Logs


def written(word: str) -> FeedEvent:
    event, _ = Feed().ask(word)
    assert event is not None
    return event


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("shoe", "eye/1/1"),
        ("9H", "eye/1/1"),
        ("cut", "eye/1/1"),
        ("reveal/1=9H", "eye/1/1"),
        ("report/online", "eye/1/1"),
        ("rules/7", "configuration/7"),
        ("moved/1", "action/a1"),
        ("open/1/1", "action/a1"),
        ("close/1/1", "action/a1"),
        ("start/1", "action/a1"),
        ("end/1", "action/a1"),
        ("void/1/1", "action/a1"),
        ("correct/1/1=9H", "action/a1"),
        ("suspend", "action/a1"),
        ("resume", "action/a1"),
    ],
)
def test_what_a_retry_of_a_record_repeats(word: str, expected: str) -> None:
    assert cause_id(written(word)) == expected


def test_bets_are_known_by_round_and_id_and_facts_by_their_own_id() -> None:
    logs = Logs("betting=automatic", "rules shoe")
    logs.bet(bet_id="b")
    logs.cancel("b")
    logs.leave()
    *_, opened, placed, cancelled, left = [record.event for record in logs.bets if record.event is not None]
    assert cause_id(placed) == "bet/1/1/b"
    assert cause_id(cancelled) == "cancel/1/1/b"
    assert cause_id(left) == "left/left-2"
    assert cause_id(opened) == opened.event_id == "T1/1/1/opened"


@pytest.mark.parametrize("name", ["", "a/b", "x" * 201])
def test_names_that_ids_are_made_of_hold_no_slash_and_are_neither_empty_nor_endless(name: str) -> None:
    left = CustomerLeft(event_id="x", table_id=TABLE, customer_id=name)
    assert "customer_id must be" in (malformed(left) or "")
    assert malformed(replace(left, customer_id="x" * 200)) is None


def test_a_dead_letter_may_be_about_any_key() -> None:
    letter = DeadLetter(
        event_id="d",
        table_id="a/b",
        topic=BETS,
        partition=0,
        offset=1,
        reason="x",
        text="",
        sha256="",
        size=0,
        head=b"",
    )
    assert malformed(letter) is None


@pytest.mark.parametrize("name", ["action", "configuration"])
def test_a_device_is_not_called_like_an_action(name: str) -> None:
    feed = Feed()
    feed.device = name
    assert "cannot be called" in (malformed(feed.card("9H")) or "")


@pytest.mark.parametrize(("boot", "sequence"), [(-1, 1), (1, -1)])
def test_a_device_counts_from_0(boot: int, sequence: int) -> None:
    card = Feed().card("9H")
    assert malformed(card) is None
    assert "must not be negative" in (malformed(replace(card, boot=boot, sequence=sequence)) or "")


def test_every_event_belongs_to_a_topic_and_has_an_id_and_a_table() -> None:
    assert set(EVENTS_OF) == {TABLE_FEED, ROUNDS, BETS, SETTLEMENTS, DEAD_LETTERS}
    for kinds in EVENTS_OF.values():
        for kind in kinds:
            assert {"event_id", "table_id"} <= set(kind.__struct_fields__)


@pytest.mark.parametrize("topic", [ROUNDS, SETTLEMENTS])
def test_every_fact_says_when_and_by_which_record(topic: str) -> None:
    for kind in EVENTS_OF[topic]:
        hints = get_type_hints(kind)
        assert (hints["at_ms"], hints["cause_id"]) == (int, str)


def test_ids_are_readable_and_made_of_what_the_fact_is_about() -> None:
    words = "rules shoe open/1/1 9H 2C KD ?? reveal/5=3S correct/1/4=7S suspend resume void/1/1 cut end/1"
    facts: list[Event] = run(words).facts
    assert [fact.event_id.removeprefix("T1/") for fact in facts] == [
        "configuration/1/received", "1/opened", "rules/1", "1/1/opened", "1/1/closed", "1/card/1/assigned",
        "1/card/2/assigned", "1/card/3/assigned", "1/card/4/assigned", "1/card/4/revealed", "1/1/decided/0",
        "action/a2/corrected", "1/1/revised/1", "suspension/1", "resumption/1", "1/1/voided/2", "1/cut-card",
        "1/closed",
    ]  # fmt: skip
