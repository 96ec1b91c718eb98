"""Clauses that speak of betting and of the record, each under its number: R6, R15 and R16."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.baccarat.events import BettingClosed, CardAssigned, Event, RoundDecided
from tests.baccarat.feeds import run

quietly = settings(derandomize=True, deadline=None, max_examples=40)
FACES = st.lists(st.sampled_from(["9H", "2C", "KD", "3S", "8D", "7H", "5S", "6C"]), min_size=6, max_size=30)


def dealt(facts: list[Event], round_no: int) -> list[tuple[str, str]]:
    """Which hand took which card."""
    return [
        (fact.hand.value, str(fact.card))
        for fact in facts
        if isinstance(fact, CardAssigned) and fact.round_no == round_no
    ]


@quietly
@given(FACES, st.integers(0, 30_000), st.integers(-100, 6_000))
def test_r6_betting_is_closed_before_any_card_is_turned(cards: list[str], wait_ms: int, scanned_ago_ms: int) -> None:
    feed = run(f"rules shoe +{wait_ms} {cards[0]}~{scanned_ago_ms} {' '.join(cards[1:])}", "betting=automatic")
    kinds = [type(fact) for fact in feed.facts if isinstance(fact, BettingClosed | CardAssigned)]
    assert kinds[:2] == [BettingClosed, CardAssigned]
    for fact in feed.facts:
        if isinstance(fact, RoundDecided):
            assert fact.closed is not None
            assert fact.closed.closed_at_ms < fact.at_ms


@pytest.mark.parametrize("before", ["", "9H 2C KD 3S", "2H 9C KD KS", "9H 9C KD KS 9S 9D KC KH"])
def test_r15_past_results_change_neither_draws_nor_outcome(before: str) -> None:
    feed = run(f"rules shoe {before}", "betting=automatic")
    round_no = feed.state.round_no
    for card in "3H 4C 2D KS 6C 9D".split():  # noqa: SIM905 - cards read better so
        feed.write(card)
    (decided,) = [fact for fact in feed.facts if isinstance(fact, RoundDecided) and fact.round_no == round_no]
    assert (decided.player_total, decided.banker_total, decided.winner.value) == (1, 3, "banker")
    assert dealt(feed.facts, round_no) == [
        ("player", "3H"), ("banker", "4C"), ("player", "2D"), ("banker", "KS"), ("player", "6C"), ("banker", "9D"),
    ]  # fmt: skip


@pytest.mark.parametrize("lag_ms", [0, 1_000, 2_000, 60_000])
def test_r16_a_picture_that_lags_changes_when_a_card_is_seen_and_never_what_it_means(lag_ms: int) -> None:
    prompt = run("rules shoe 3H 3C 2D KS 8C", "betting=automatic")
    late = run(f"rules shoe 3H 3C +{lag_ms} 2D +{lag_ms} KS +{lag_ms} 8C", "betting=automatic")
    (first,) = [fact for fact in prompt.facts if isinstance(fact, RoundDecided)]
    (second,) = [fact for fact in late.facts if isinstance(fact, RoundDecided)]
    assert second.at_ms == first.at_ms + 3 * lag_ms
    assert (second.player, second.banker, second.winner) == (first.player, first.banker, first.winner)
    assert dealt(late.facts, 1) == dealt(prompt.facts, 1)


@pytest.mark.parametrize("lag_ms", [0, 1_000, 2_000])
def test_r16_cards_hidden_and_turned_later_mean_the_same(lag_ms: int) -> None:
    prompt = run("rules shoe 9H 2C KD 3S", "betting=automatic")
    turned = run(
        f"rules shoe ?? ?? ?? ?? +{lag_ms} reveal/5=3S reveal/4=KD reveal/3=2C reveal/2=9H", "betting=automatic"
    )
    (first,) = [fact for fact in prompt.facts if isinstance(fact, RoundDecided)]
    (second,) = [fact for fact in turned.facts if isinstance(fact, RoundDecided)]
    assert (second.player, second.banker, second.natural) == (first.player, first.banker, first.natural)
