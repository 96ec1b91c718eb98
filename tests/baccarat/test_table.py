"""The table as rules see it: what every fact changes, and that none of them can break it."""

import pytest
from hypothesis import given, settings
from msgspec.structs import replace

from services.baccarat import rounds, table
from services.baccarat.cards import Hand, parse_card
from services.baccarat.events import EVENTS_OF, ROUNDS, BettingClosed, CardAssigned, Event, InputNoted, RoundDecided
from services.baccarat.table import Device, Slot, State
from services.runtime.codec import decode_state, encode_state
from tests.baccarat.facts import facts
from tests.baccarat.feeds import TABLE, Feed, run

quietly = settings(derandomize=True, deadline=None, max_examples=100)


def slots(text: str) -> tuple[Slot, ...]:
    """Cards in the order they came; `??` is hidden. Who got them goes round, and the fifth is the Player's."""
    hands = [Hand.PLAYER, Hand.BANKER, Hand.PLAYER, Hand.BANKER, Hand.PLAYER, Hand.BANKER]
    cards = [None if word == "??" else parse_card(word) for word in text.split()]
    return tuple(Slot(number, hand, card) for number, (hand, card) in enumerate(zip(hands, cards, strict=False), 1))


@quietly
@given(facts(EVENTS_OF[ROUNDS]))
def test_no_fact_breaks_any_state_and_every_state_survives_a_snapshot(any_facts: list[Event]) -> None:
    state = table.start(TABLE)
    for fact in any_facts:
        state = table.evolve(state, fact)
    assert state.table_id == TABLE
    assert decode_state(encode_state(state), State) == state


@quietly
@given(facts(EVENTS_OF[ROUNDS]))
def test_every_fact_is_remembered_by_what_caused_it(any_facts: list[Event]) -> None:
    state = table.start(TABLE)
    for fact in any_facts:
        cause = getattr(fact, "cause_id", "")
        state = table.evolve(state, fact)
        if cause.startswith("action/"):
            assert cause in state.actions
        if cause.startswith("eye/1/"):
            known = table.device_of(state, "eye")
            assert known is not None
            assert (known.boot, known.sequence) >= (1, 2)


def test_a_fact_of_no_concern_changes_nothing() -> None:
    state = run("rules shoe open/1/1").state
    feed = Feed()
    assert table.evolve(state, feed.card("9H")) == state


def test_a_device_is_remembered_by_the_furthest_that_was_heard() -> None:
    state = table.start(TABLE)
    for cause in ("eye/1/5", "eye/1/4", "eye/2/1", "eye/1/9", "hand/1/1"):
        state = table.heard(state, cause)
    assert state.devices == (Device("eye", 2, 1), Device("hand", 1, 1))


@pytest.mark.parametrize("cause", ["", "poison", "eye", "eye/1", "eye/²/1", "eye/-1/1", "configuration/1"])
def test_what_names_no_record_of_a_device_moves_none(cause: str) -> None:
    assert table.heard(table.start(TABLE), cause) == table.start(TABLE)


def test_a_close_or_an_outcome_of_no_round_changes_no_round() -> None:
    feed = run("rules shoe open/1/1 9H 2C KD 3S")
    between = replace(feed.state, current=None)
    closed = next(fact for fact in feed.facts if isinstance(fact, BettingClosed))
    decided = next(fact for fact in feed.facts if isinstance(fact, RoundDecided))
    assert table.evolve(between, closed) == between
    assert table.evolve(between, decided) == between


def test_a_free_hand_under_no_rules_has_no_version() -> None:
    feed = run("rules shoe 9H")
    (assigned,) = [fact for fact in feed.facts if isinstance(fact, CardAssigned)]
    assert table.evolve(table.start(TABLE), assigned).current == feed.state.current
    assert feed.state.current is not None
    assert feed.state.current.version == 0
    assert table.finished(table.start(TABLE), feed.state.current).past == ()


def test_the_first_four_cards_go_round_whatever_they_are() -> None:
    due = [table.awaited(slots("?? ?? ?? ??")[:count]) for count in range(4)]
    assert due == [Hand.PLAYER, Hand.BANKER, Hand.PLAYER, Hand.BANKER]


@pytest.mark.parametrize(
    ("dealt", "over", "lawful", "question"),
    [
        ("9H 2C KD 3S", True, True, False),
        ("9H 2C KD ??", False, True, True),
        ("9H 2C KD 3S 4C", True, False, False),  # a natural, and yet a third card
        ("3H 3C 2D KS", False, True, False),
        ("3H 3C 2D KS 8C", True, True, False),
        ("3H 3C 2D KS ??", False, True, True),
        ("3H 3C 2D KS 7C", False, True, False),  # the Banker draws against a 7
        ("9H", False, True, False),
    ],
)
def test_what_the_cards_on_the_table_say(dealt: str, over: bool, lawful: bool, question: bool) -> None:  # noqa: FBT001
    cards = slots(dealt)
    assert (table.is_over(cards), table.is_lawful(cards), table.is_open_question(cards)) == (over, lawful, question)


def test_a_hand_with_a_hidden_card_has_no_faces() -> None:
    cards = slots("9H ?? KD 3S")
    assert table.faces(cards, Hand.PLAYER) == (parse_card("9H"), parse_card("KD"))
    assert table.faces(cards, Hand.BANKER) is None
    assert table.hand_of(cards, Hand.BANKER) == (None, parse_card("3S"))


def test_nothing_is_burned_at_a_table_without_rules() -> None:
    assert table.burns_left(table.start(TABLE)) == 0
    assert not table.is_burn_unread(table.start(TABLE))


def test_rounds_are_kept_as_long_as_the_rules_in_force_say() -> None:
    words = "rules shoe open/1/1 9H 2C KD 3S rules/2/rounds_kept=1 open/1/2 9H 2C KD 3S"
    state = run(words, "rounds_kept=3").state
    assert [one.round_no for one in state.past] == [2]
    assert run(words.replace("open/1/2", ""), "rounds_kept=3").state.past[0].round_no == 1


def test_a_moved_table_numbers_its_shoes_on() -> None:
    noted = InputNoted(event_id="x", table_id=TABLE, at_ms=1, cause_id="action/a", what="moved", number=41)
    assert table.evolve(table.start(TABLE), noted).shoe_no == 41
    assert table.evolve(table.start(TABLE), replace(noted, what="device-online")).shoe_no == 0


def test_a_poisoned_table_with_a_known_shoe_tells_where_it_stood() -> None:
    state = run("rules shoe open/1/1").state
    *_, suspended = rounds.poisoned(state, None, "undecodable", "no event", 9_000)
    assert (getattr(suspended, "shoe_no", None), getattr(suspended, "round_no", None)) == (1, 1)
