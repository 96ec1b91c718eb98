import pytest

from services.baccarat.events import (
    SETTLEMENTS,
    BetVoided,
    BookResumed,
    BookSuspended,
    CommissionCollected,
    CustomerNoted,
    Event,
)
from services.dashboard.settlements_view import SettlementsView, Sums, fold_settlements
from tests.dashboard.stage import Stage
from tests.dashboard.test_rounds_view import cards


def view_of(stage: Stage, view: SettlementsView | None = None) -> SettlementsView:
    view = SettlementsView() if view is None else view
    for topic, fact in stage.take():
        if topic == SETTLEMENTS:
            view = fold_settlements(view, fact)
    return view


def stakes(view: SettlementsView) -> dict[str, tuple[int, int]]:
    assert view.book is not None
    return {field.bet: (field.count, field.stakes_minor) for field in view.book.fields if field.count}


@pytest.fixture
def stage() -> Stage:
    """Its first round is won by the Player, 9 to 5, its second by the Banker, 8 to 9."""
    stage = Stage("T1")
    stage.configure()
    stage.open_shoe(cards("2S KC QC  9S 3C KD 2D  4C 4H 4D 5S  9H KS 9S QS"))
    stage.burn()
    return stage


def test_stakes_are_summed_by_field_and_all_fields_are_shown(stage: Stage) -> None:
    stage.open_betting()
    stage.bet("player", 500)
    stage.bet("player", 250)
    stage.bet("tie", 100)
    view = view_of(stage)
    assert view.book is not None
    assert [field.bet for field in view.book.fields] == ["player", "banker", "tie", "player_pair", "banker_pair"]
    assert stakes(view) == {"player": (2, 750), "tie": (1, 100)}
    assert (view.currency, view.exponent) == ("EUR", 2)


def test_a_voided_bet_leaves_the_open_book(stage: Stage) -> None:
    stage.open_betting()
    stage.bet("player", 500)
    back = {"bet_id": "x", "customer_id": "Ada", "revision": 0, "reason": "cancelled"}
    stage.say(SETTLEMENTS, BetVoided, **stage.place, **back, bet="player", stake_minor=500)
    view = view_of(stage)
    assert stakes(view) == {}
    assert view.book is not None
    assert view.book.fields[0].stakes_minor == 0


def test_the_close_says_what_counts(stage: Stage) -> None:
    stage.open_betting()
    stage.bet("player", 500)
    stage.bets.append(("tie", 300))  # settlement knows better than what was counted here
    stage.close_betting()
    view = view_of(stage)
    assert stakes(view) == {"player": (1, 500), "tie": (1, 300)}
    assert view.book is not None
    assert not view.book.open
    stage.bet("banker", 100)  # nothing is added to a closed book
    assert stakes(view_of(stage, view)) == {"player": (1, 500), "tie": (1, 300)}


def test_the_house_result_of_round_shoe_and_table(stage: Stage) -> None:
    stage.open_betting()
    stage.bet("player", 1000)
    stage.bet("banker", 400)
    stage.close_betting()
    while stage.deal():
        pass
    view = view_of(stage)
    assert view.book is None
    assert view.last is not None
    assert (view.last.stakes_minor, view.last.returns_minor, view.last.house_win_minor) == (1400, 2000, -600)
    assert [(field.bet, field.returns_minor) for field in view.last.fields if field.count] == [
        ("player", 2000),
        ("banker", 0),
    ]
    stage.open_betting()
    stage.bet("banker", 200)
    stage.close_betting()
    while stage.deal():
        pass
    view = view_of(stage, view)
    assert view.shoe == view.total == Sums(2, 3, 1600, 2390, 10, -790)
    stage.close_shoe()
    stage.open_shoe()
    stage.open_betting()
    view = view_of(stage, view)
    assert view.shoe == Sums()
    assert view.total.house_win_minor == -790


def test_a_revision_replaces_what_its_round_added(stage: Stage) -> None:
    stage.open_betting()
    stage.bet("player", 1000)
    stage.close_betting()
    while stage.deal():
        pass
    stage.player = cards("2S KD")  # 2 to 5 after all
    stage.settle(1)
    view = view_of(stage)
    assert view.total == view.shoe == Sums(1, 1, 1000, 0, 0, 1000)
    assert view.last is not None
    assert (view.last.revision, view.last.house_win_minor) == (1, 1000)
    stage.settle(2, void=True)
    view = view_of(stage, view)
    assert view.total == view.shoe == Sums()
    assert view.last is not None
    assert view.last.void


def test_a_revision_in_an_older_shoe_changes_the_table_only(stage: Stage) -> None:
    stage.open_betting()
    stage.bet("player", 1000)
    stage.close_betting()
    while stage.deal():
        pass
    stage.shoe_no, stage.round_no = 2, 0
    stage.open_betting()
    view = view_of(stage)
    assert view.total.house_win_minor == -1000
    stage.shoe_no, stage.round_no = 1, 1
    stage.bets, stage.player, stage.banker = [("player", 1000)], cards("2S KD"), cards("5S KH")
    stage.settle(1)
    view = view_of(stage, view)
    assert view.total.house_win_minor == 1000
    assert view.shoe == Sums()
    assert view.book is not None
    assert (view.book.shoe_no, view.book.round_no) == (2, 1)


def test_rejected_bets_are_counted_for_the_round_and_in_all(stage: Stage) -> None:
    stage.open_betting()
    stage.reject()
    stage.reject()
    stage.close_betting()
    stage.reject()
    view = view_of(stage)
    assert view.rejected == 3
    assert view.book is not None
    assert view.book.rejected == 2


def test_suspended_books_wait_until_they_are_resumed(stage: Stage) -> None:
    stage.say(SETTLEMENTS, BookSuspended, shoe_no=1, round_no=4, cause="marks-differ", text="they differ")
    stage.say(SETTLEMENTS, BookSuspended, shoe_no=1, round_no=5, cause="rules-differ", text="they differ")
    stage.say(SETTLEMENTS, BookSuspended, shoe_no=1, round_no=4, cause="marks-differ", text="still")
    view = view_of(stage)
    assert [(book.round_no, book.text) for book in view.suspended_books] == [(5, "they differ"), (4, "still")]
    stage.say(SETTLEMENTS, BookResumed, shoe_no=1, round_no=5, by="Eve", text="paid by hand")
    assert [book.round_no for book in view_of(stage, view).suspended_books] == [4]


def test_collected_commission_is_summed_and_other_facts_move_only_the_time(stage: Stage) -> None:
    stage.take()
    stage.say(SETTLEMENTS, CommissionCollected, customer_id="Ada", shoe_no=1, amount_minor=75, number=1)
    view = view_of(stage)
    assert view.collected_minor == 75
    stage.at_ms += 10
    stage.say(SETTLEMENTS, CustomerNoted, customer_id="Ada", shoe_no=1, number=2)
    after = view_of(stage, view)
    assert after.at_ms == view.at_ms + 10
    assert fold_settlements(view, _a_fact_of_another_topic()) is view


def _a_fact_of_another_topic() -> Event:
    other = Stage("T1")
    other.configure()
    return other.take()[0][1]
