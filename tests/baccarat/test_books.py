"""Books as settlement keeps them: what every fact changes, what is kept, and that no fact can break them."""

import pytest
from hypothesis import given, settings

from services.baccarat import books
from services.baccarat.events import EVENTS_OF, SETTLEMENTS, BetPlaced, CommissionCollected, Event, InputNoted
from services.runtime.codec import decode_state, encode_state
from tests.baccarat.facts import facts
from tests.baccarat.feeds import TABLE
from tests.baccarat.logs import Logs, read_all, rounds_first

PLAYER_WINS = "9H 2C KD 3S"


def state_of(logs: Logs) -> books.State:
    state = books.start(TABLE)
    for fact in read_all(logs, rounds_first()):
        state = books.evolve(state, fact)
    return state


@settings(derandomize=True, deadline=None, max_examples=100)
@given(facts(EVENTS_OF[SETTLEMENTS]))
def test_no_fact_breaks_any_state_and_every_state_survives_a_snapshot(any_facts: list[Event]) -> None:
    state = books.start(TABLE)
    for fact in any_facts:
        state = books.evolve(state, fact)
    assert decode_state(encode_state(state), books.State) == state


def test_a_fact_of_no_concern_changes_nothing() -> None:
    state = state_of(Logs("betting=automatic", "rules shoe"))
    placed = BetPlaced(
        event_id="b", table_id=TABLE, bet_id="b", customer_id="c", shoe_no=1, round_no=1, bet="tie",
        stake_minor=1, currency="EUR",
    )  # fmt: skip
    noted = InputNoted(event_id="n", table_id=TABLE, at_ms=1, cause_id="x", what="something")
    assert books.evolve(state, placed) == state
    assert books.evolve(state, noted) == state


@pytest.mark.parametrize(("kept", "remembered"), [(0, 1), (1, 1), (2, 3), (3, 3), (3, 5)])
def test_books_are_kept_while_their_answers_or_their_revisions_are(kept: int, remembered: int) -> None:
    logs = Logs(f"betting=automatic rounds_kept={kept} openings_remembered={remembered}", "rules shoe")
    for _ in range(8):
        logs.bet()
        logs.play(PLAYER_WINS)
    state = state_of(logs)
    oldest = min(place[1] for place in state.books)
    assert oldest == min(8 - kept + 1, 9 - remembered + 1)
    assert all(state.books[1, number].forgotten is (number <= 9 - remembered) for number in range(oldest, 10))
    for number in range(9 - kept, 9):
        logs.play(f"correct/1/{4 * number}=7S")
    assert [fact for fact in read_all(logs) if getattr(fact, "cause", "") == "book-unknown"] == []


def test_fewer_rounds_kept_by_a_later_version_drop_no_book_that_rules_still_keep() -> None:
    logs = Logs("betting=automatic rounds_kept=3 openings_remembered=3", "rules shoe")
    for _ in range(3):
        logs.bet()
        logs.play(PLAYER_WINS)
    logs.play("rules/2/rounds_kept=0/openings_remembered=1 void/1/4 correct/1/12=7S")
    assert [type(fact).__name__ for fact in read_all(logs)[-3:]] == ["BetReversed", "BetSettled", "RoundSettled"]


def test_a_book_that_waits_for_a_person_is_kept() -> None:
    logs = Logs("betting=automatic rounds_kept=0 openings_remembered=1", "rules shoe")
    logs.forge_close((1, 1))
    for _ in range(5):
        logs.play(PLAYER_WINS)
    assert set(state_of(logs).books) == {(1, 1), (1, 6)}


def test_a_void_book_whose_outcome_may_still_come_is_kept() -> None:
    logs = Logs("betting=automatic rounds_kept=0 openings_remembered=1", "rules shoe")
    logs.forge_opening((2, 1))
    logs.play(f"{PLAYER_WINS} {PLAYER_WINS} end/1")
    assert (2, 1) in state_of(logs).books
    logs.play(f"shoe {PLAYER_WINS} {PLAYER_WINS} {PLAYER_WINS}")
    assert (2, 1) not in state_of(logs).books


def test_pay_tables_are_kept_while_a_book_or_the_next_opening_may_need_them() -> None:
    logs = Logs("betting=automatic rounds_kept=0 openings_remembered=1", "rules shoe")
    for version in range(2, 20):
        logs.play(f"rules/{version} 9 2 K 3")
    state = state_of(logs)
    assert [prices.version for prices in state.prices] == list(range(12, 20))
    assert len(state.versions) == 19
    assert books.is_known(state, 12)
    assert not books.is_known(state, 11)


def test_a_version_stays_known_while_a_remembered_book_was_priced_by_it() -> None:
    logs = Logs("betting=automatic", "rules shoe")
    for version in range(100, 120):
        logs.forge_rules(version)
    logs.play(PLAYER_WINS)
    state = state_of(logs)
    assert books.is_known(state, 1)
    assert state.books[1, 2].priced


def test_openings_are_remembered_by_what_they_are_about() -> None:
    state = state_of(Logs("betting=automatic", "rules shoe"))
    assert state.openings == (books.opening_id(state, (1, 1)),)
    assert books.is_opened(state, (1, 1))
    assert not books.is_opened(state, (1, 2))


def test_shoes_end_once_and_are_claimed_without_a_gap() -> None:
    logs = Logs("betting=automatic", "moved/41 shoe shoe shoe")
    logs.forge_shoe_end(7)
    state = state_of(logs)
    assert state.shoes_claimed == (41, 42)
    assert [books.has_ended(state, number) for number in (7, 40, 41, 42, 43)] == [True, False, True, True, False]
    claimed = InputNoted(event_id="n", table_id=TABLE, at_ms=1, cause_id="x", what=books.SHOE_CLAIMED, number=99)
    assert books.evolve(state, claimed) == state


def test_a_debt_of_nobody_known_is_collected_without_harm() -> None:
    collected = CommissionCollected(
        event_id="c", table_id=TABLE, at_ms=1, cause_id="x", customer_id="Cy", shoe_no=1, amount_minor=0, number=0
    )
    assert books.evolve(books.start(TABLE), collected) == books.start(TABLE)
    assert books.latest_rounding(books.start(TABLE)) == "half_up"
