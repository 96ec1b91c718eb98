"""Recorded inputs decided again: the same facts, or the first that differs."""

from collections.abc import Sequence

from msgspec.structs import replace

from services.baccarat import rounds, table
from services.baccarat.catalogue import configuration
from services.baccarat.events import (
    BETS,
    ROUNDS,
    SETTLEMENTS,
    TABLE_FEED,
    BetPlaced,
    BettingOpened,
    Event,
    RoundDecided,
    RoundSettled,
)
from services.card_scanner.sources import simulated_shoe
from services.replay.deciding import TABLE, feed_of, house_rules
from services.replay.facts import Audit, audit, facts_of, fields
from services.runtime.codec import Codec
from services.runtime.processor import Record

ENCODE = Codec().encode
PARTITION = 3


def played() -> list[Record]:
    """A shoe with a bet on every round, as a log holds it: two inputs, and what rules and settlement said of them."""
    how = configuration("classic", decks=1)
    feed: list[Event] = []
    bets: list[Event] = []
    state = table.start(TABLE)
    for event in feed_of(simulated_shoe(house_rules(how), "facts", "test"), how):
        feed.append(event)
        for fact in rounds.decide(state, event, 0):
            state = table.evolve(state, fact)
            if BETS in rounds.copies_to(fact):
                bets.append(fact)
            if isinstance(fact, BettingOpened):
                bets.append(bet(fact))
    inputs = [*records(TABLE_FEED, feed), *records(BETS, bets)]
    said = facts_of(inputs, ENCODE)
    outputs = {topic: [one.event for one in said if one.topic == topic] for topic in (ROUNDS, SETTLEMENTS)}
    return [*inputs, *(record for topic, facts in outputs.items() for record in records(topic, facts))]


def bet(opened: BettingOpened) -> BetPlaced:
    return BetPlaced(
        event_id=f"{opened.event_id}/bet",
        table_id=TABLE,
        bet_id=f"b{opened.round_no}",
        customer_id="ann",
        shoe_no=opened.shoe_no,
        round_no=opened.round_no,
        bet="banker",
        stake_minor=1_000,
        currency="EUR",
    )


def records(topic: str, events: Sequence[Event]) -> list[Record]:
    return [Record(topic, PARTITION, offset, 0, TABLE, event) for offset, event in enumerate(events)]


def audited(recorded: Sequence[Record]) -> Audit:
    return audit(recorded, ENCODE)


def place_of(recorded: Sequence[Record], kind: type[Event]) -> int:
    return next(place for place, record in enumerate(recorded) if isinstance(record.event, kind))


def test_the_same_inputs_come_to_the_same_facts() -> None:
    recorded = played()
    found = audited(recorded)
    assert found.differences == ()
    assert found.pending == 0
    assert found.inputs == sum(record.topic in (TABLE_FEED, BETS) for record in recorded)
    assert sum(isinstance(record.event, RoundSettled) for record in recorded) > 5, "rounds were played and settled"


def test_a_changed_fact_is_told_field_by_field() -> None:
    recorded = played()
    place = place_of(recorded, RoundSettled)
    settled = recorded[place].event
    assert isinstance(settled, RoundSettled)
    recorded[place] = replace(recorded[place], event=replace(settled, returns_minor=settled.returns_minor + 1))
    (difference,) = audited(recorded).differences
    assert str(difference) == (
        f"settlements: {settled.event_id}: returns_minor is recorded as {settled.returns_minor + 1}"
        f" and decided as {settled.returns_minor}"
    )


def test_a_changed_card_changes_what_follows() -> None:
    recorded = played()
    place = place_of(recorded, RoundDecided)
    decided = recorded[place].event
    assert isinstance(decided, RoundDecided)
    (difference,) = audited([*recorded[:place], *recorded[place + 1 :]]).differences
    assert str(difference) == f"rounds: {decided.event_id} is decided now and is not recorded"


def test_a_fact_that_nothing_caused_is_told() -> None:
    recorded = played()
    stranger = replace(recorded[place_of(recorded, RoundDecided)], offset=10_000)
    assert stranger.event is not None
    forged = replace(stranger, event=replace(stranger.event, event_id="T1/1/99/decided/0"))
    (difference,) = audited([*recorded, forged]).differences
    assert str(difference) == "rounds: T1/1/99/decided/0 is recorded and is not decided now"


def test_marks_in_bets_are_compared_and_the_first_of_an_id_counts() -> None:
    recorded = played()
    place = next(
        place
        for place, record in enumerate(recorded)
        if record.topic == BETS and isinstance(record.event, BettingOpened)
    )
    mark = recorded[place].event
    assert isinstance(mark, BettingOpened)
    assert recorded[place].topic == BETS
    forged = replace(recorded[place], event=replace(mark, closes_at_ms=mark.closes_at_ms + 1))
    assert audited([*recorded, forged]).differences == ()
    differences = audited([*recorded[:place], forged, *recorded[place + 1 :]]).differences
    assert (BETS, mark.event_id) in [(one.topic, one.event_id) for one in differences]


def test_inputs_that_were_not_decided_before_the_end_are_pending() -> None:
    recorded = played()
    opened = recorded[place_of(recorded, BettingOpened)].event
    assert isinstance(opened, BettingOpened)
    late = replace(bet(opened), bet_id="late")
    offset = sum(record.topic == BETS for record in recorded)
    found = audited([*recorded, Record(BETS, PARTITION, offset, 0, TABLE, late)])
    assert (found.differences, found.pending) == ((), 1)


def test_facts_of_two_kinds_under_one_id() -> None:
    recorded = played()
    one, other = (recorded[place_of(recorded, kind)].event for kind in (RoundDecided, RoundSettled))
    assert one is not None
    assert other is not None
    assert fields(one, other) == ("recorded as RoundDecided, decided as RoundSettled",)


def test_what_could_not_be_read_is_no_fact() -> None:
    recorded = played()
    unread = Record(ROUNDS, PARTITION, 10_000, 0, TABLE, None, b"?", "undecodable")
    assert audited([*recorded, unread]).differences == ()


def test_a_recorded_poison_suspends_its_table_again() -> None:
    """Its dead letter is no fact: only what it did to the table is compared."""
    recorded = played()
    offset = sum(record.topic == TABLE_FEED for record in recorded)
    poison = Record(TABLE_FEED, PARTITION, offset, 0, TABLE, None, b"?", "undecodable", "no event")
    found = audited([*recorded, poison])
    assert (found.differences, found.pending) == ((), 1)
    said = [one.event for one in facts_of([poison], ENCODE)]
    assert [type(event).__name__ for event in said] == ["TableSuspended", "DeadLetter"]
