from typing import Any

import pytest

from services.baccarat.cards import Card, parse_card
from services.baccarat.events import (
    ROUNDS,
    CardCorrected,
    CardSetAside,
    CutCardSeen,
    Event,
    IrregularityFound,
    RoundRevised,
    RoundVoided,
    TableResumed,
    TableSuspended,
)
from services.dashboard.rounds_view import Counts, Dealt, Past, RoundsView, fold_rounds
from tests.dashboard.stage import BEGIN_MS, Stage


def view_of(stage: Stage, view: RoundsView | None = None) -> RoundsView:
    view = RoundsView() if view is None else view
    for topic, fact in stage.take():
        if topic == ROUNDS:
            view = fold_rounds(view, fact)
    return view


def cards(text: str) -> list[Card]:
    return [parse_card(word) for word in text.split()]


@pytest.fixture
def stage() -> Stage:
    """Its shoe turns a 2 and burns two more, then gives Player 9, Banker 5, and so on."""
    stage = Stage("T1")
    stage.configure()
    stage.open_shoe(cards("2S KC QC  9S 3C KD 2D  3S 4H QD 8C 5C AD  4C 4H 4D 5S  9H KS 9S QS"))
    return stage


def test_a_table_of_which_nothing_was_heard_is_not_configured() -> None:
    assert RoundsView().phase == "not_configured"
    assert fold_rounds(RoundsView(), _a_fact_of_another_topic()) == RoundsView()


def _a_fact_of_another_topic() -> Event:
    stage = Stage("T1")
    stage.open_betting()
    stage.bet("player", 100)
    return stage.take()[-1][1]


def test_the_phases_of_a_round(stage: Stage) -> None:
    seen: list[tuple[str, int | None]] = []
    view = view_of(stage)
    seen.append((view.phase, view.burn_left))
    stage.burn()
    view = view_of(stage, view)
    seen.append((view.phase, view.burn_left))
    for step in (stage.open_betting, stage.close_betting, stage.deal, stage.deal, stage.deal, stage.deal, stage.deal):
        step()
        view = view_of(stage, view)
        seen.append((view.phase, view.round.player_total if view.round else None))
    assert seen == [
        ("burning", None),
        ("burning", 0),
        ("betting", None),
        ("dealing", None),
        ("dealing", 9),
        ("dealing", 9),
        ("dealing", 9),
        ("dealing", 9),
        ("decided", None),
    ]
    assert view.burned == 3
    assert view.cards == 7
    assert view.last is not None
    assert (view.last.player, view.last.banker) == (("9S", "KD"), ("3C", "2D"))
    assert (view.last.winner, view.last.natural) == ("player", True)
    assert view.past == (Past(1, "P", 9, 5, "n"),)


def test_the_next_opening_leaves_the_last_result_to_be_seen(stage: Stage) -> None:
    stage.burn()
    stage.round()
    stage.at_ms += 5
    stage.open_betting()
    view = view_of(stage)
    assert view.phase == "betting"
    assert view.round is not None
    assert (view.round.round_no, view.round.player, view.round.closes_at_ms) == (2, (), stage.at_ms + 15_000)
    assert view.last is not None
    assert view.last.round_no == 1
    assert view.at_ms == stage.at_ms


def test_pairs_ties_and_counts(stage: Stage) -> None:
    stage.burn()
    for _ in range(4):
        stage.round()
    view = view_of(stage)
    # 9S KD against 3C 2D; 3S QD 5C against 4H 8C AD; 4C 4D against 4H 5S; 9H 9S against KS QS
    assert view.past == (
        Past(1, "P", 9, 5, "n"),
        Past(2, "P", 8, 3, ""),
        Past(3, "B", 8, 9, "np"),
        Past(4, "P", 8, 0, "np"),
    )
    assert view.counts == Counts(player=3, banker=1, tie=0)


def test_hidden_cards_have_no_total_until_they_are_turned(stage: Stage) -> None:
    stage.burn()
    stage.open_betting()
    stage.close_betting()
    stage.deal(hidden=True)
    stage.deal()
    view = view_of(stage)
    assert view.round is not None
    assert (view.round.player, view.round.player_total) == ((Dealt(4, None),), None)
    stage.reveal(4)
    view = view_of(stage, view)
    assert view.round is not None
    assert (view.round.player, view.round.player_total, view.round.banker_total) == ((Dealt(4, "9S"),), 9, 3)


def test_a_correction_turns_the_card_and_its_total(stage: Stage) -> None:
    stage.burn()
    stage.open_betting()
    stage.close_betting()
    stage.deal()
    corrected = {"shoe_no": 1, "before": Card("9", "S"), "after": Card("4", "D"), "by": "Eve", "reason": "misread"}
    stage.say(ROUNDS, CardCorrected, round_no=1, card_no=4, **corrected)
    stage.say(ROUNDS, CardCorrected, round_no=None, card_no=1, **corrected)
    view = view_of(stage)
    assert view.round is not None
    assert (view.round.player, view.round.player_total) == ((Dealt(4, "4D"),), 4)


def test_a_revision_replaces_its_round_and_no_other(stage: Stage) -> None:
    stage.burn()
    stage.round()
    stage.round()
    revised: dict[str, Any] = {"shoe_no": 1, "round_no": 1, "revision": 1, "reason": "misread", "by": "Eve"}
    stage.player, stage.banker = cards("9S KD"), cards("9C KC")
    stage.say(ROUNDS, RoundRevised, **revised, **stage.outcome())
    stage.open_betting()
    view = view_of(stage)
    assert view.past == (Past(1, "T", 9, 9, "nr"), Past(2, "P", 8, 3, ""))
    assert view.counts == Counts(1, 0, 1)
    assert view.last is not None
    assert view.last.round_no == 2
    assert view.round is not None
    assert view.round.round_no == 3


def test_a_revision_of_a_shoe_before_changes_nothing_of_this_one(stage: Stage) -> None:
    stage.burn()
    stage.round()
    revised: dict[str, Any] = {"shoe_no": 1, "round_no": 1, "revision": 1, "reason": "misread", "by": "Eve"}
    outcome = stage.outcome()
    stage.close_shoe()
    stage.open_shoe()
    before = view_of(stage)
    stage.say(ROUNDS, RoundRevised, **revised, **outcome)
    view = view_of(stage, before)
    assert (view.past, view.counts, view.phase) == ((), Counts(), "burning")
    assert view.last is not None
    assert (view.last.revision, view.last.reason) == (1, "misread")


def test_a_void_keeps_the_cards_that_lay(stage: Stage) -> None:
    stage.burn()
    stage.open_betting()
    stage.close_betting("void")
    stage.deal()
    stage.say(ROUNDS, RoundVoided, **stage.place, revision=0, reason="card exposed", by="Eve")
    view = view_of(stage)
    assert (view.phase, view.round) == ("voided", None)
    assert view.last is not None
    assert (view.last.winner, view.last.reason, view.last.player) == (None, "card exposed", ("9S",))
    assert view.past == (Past(1, "", None, None, "v"),)
    assert view.counts == Counts()


def test_a_decided_round_can_be_voided(stage: Stage) -> None:
    stage.burn()
    stage.round()
    stage.say(ROUNDS, RoundVoided, **stage.place, revision=1, reason="wrong shoe", by="Eve")
    view = view_of(stage)
    assert view.last is not None
    assert (view.last.winner, view.last.player, view.last.revision) == (None, ("9S", "KD"), 1)
    assert view.past == (Past(1, "", None, None, "v"),)
    assert view.counts == Counts()


def test_suspension_stands_beside_the_phase(stage: Stage) -> None:
    stage.burn()
    stage.open_betting()
    stage.say(ROUNDS, TableSuspended, cause="sequence-gap", text="Card 5 was missed.", by="")
    view = view_of(stage)
    assert view.phase == "betting"
    assert view.suspended is not None
    assert (view.suspended.cause, view.suspended.at_ms) == ("sequence-gap", BEGIN_MS)
    stage.say(ROUNDS, TableResumed, by="Eve", text="seen")
    assert view_of(stage, view).suspended is None


def test_a_free_hand_begins_with_its_first_card(stage: Stage) -> None:
    stage.burn()
    stage.round_no = 1
    stage.deal()
    view = view_of(stage)
    assert view.round is not None
    assert (view.round.free, view.round.opened_at_ms, view.phase) == (True, None, "dealing")


def test_a_shoe_ends_and_another_begins(stage: Stage) -> None:
    stage.burn()
    stage.round()
    stage.say(ROUNDS, CutCardSeen, shoe_no=1, card_no=7, rounds_left=1)
    stage.say(ROUNDS, CardSetAside, shoe_no=1, card_no=8, card=None, reason="suspended")
    stage.say(ROUNDS, CardSetAside, shoe_no=1, card_no=None, card=None, reason="suspended")
    view = view_of(stage)
    assert (view.cut_rounds_left, view.cards) == (1, 8)
    stage.close_shoe()
    view = view_of(stage, view)
    assert (view.phase, view.shoe_end, view.cards) == ("shoe_closed", "cut-card", 7)
    stage.open_shoe()
    view = view_of(stage, view)
    assert (view.phase, view.shoe_no, view.cards, view.cut_rounds_left, view.past) == ("burning", 2, 0, None, ())


def test_a_new_configuration_waits_for_the_next_opening(stage: Stage) -> None:
    view = view_of(stage)
    assert view.panel is not None
    assert view.panel.version == 1
    stage.burn()
    stage.open_betting()
    view = view_of(stage, view)
    assert view.next_version is None
    stage.configure(version=2)
    view = view_of(stage, view)
    assert view.next_version == 2
    assert view.panel is not None
    assert view.panel.version == 1


def test_irregularities_are_counted_and_the_last_is_told(stage: Stage) -> None:
    for code in ("sequence-gap", "card-over-count"):
        stage.say(ROUNDS, IrregularityFound, code=code, text="so it was", policy="suspended")
    view = view_of(stage)
    assert view.irregularities == 2
    assert view.irregularity is not None
    assert view.irregularity.code == "card-over-count"


def test_a_close_of_another_round_changes_nothing(stage: Stage) -> None:
    stage.burn()
    stage.open_betting()
    view = view_of(stage)
    stage.round_no += 1
    stage.close_betting()
    assert view_of(stage, view).phase == "betting"
