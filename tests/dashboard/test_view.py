"""Whatever the batches, and however the two topics interleave, a table is shown the same."""

from itertools import pairwise
from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from services.baccarat.cards import Card
from services.baccarat.events import (
    ROUNDS,
    SETTLEMENTS,
    BookSuspended,
    CardCorrected,
    Event,
    RoundVoided,
    TableResumed,
    TableSuspended,
)
from services.dashboard.view import SOURCES, View, changes
from tests.dashboard.conftest import folded
from tests.dashboard.stage import Stage

THINGS = ("round", "round", "void", "suspend", "resume", "reject", "correct", "configure", "shoe", "book", "resettle")


def happen(stage: Stage, what: str) -> None:
    stage.at_ms += 700
    match what:
        case "round":
            stage.round()
        case "void":
            stage.open_betting()
            stage.customers(2)
            stage.close_betting("void")
            stage.deal(hidden=True)
            stage.say(ROUNDS, RoundVoided, **stage.place, revision=0, reason="exposed", by="Eve")
            stage.settle(0, void=True)
        case "suspend":
            stage.say(ROUNDS, TableSuspended, cause="sequence-gap", text="a card was missed")
        case "resume":
            stage.say(ROUNDS, TableResumed, by="Eve", text="seen")
        case "reject":
            stage.reject()
        case "correct":
            faces = {"before": None, "after": Card("A", "S"), "by": "Eve", "reason": "misread"}
            stage.say(ROUNDS, CardCorrected, **stage.place, card_no=stage.card_no, **faces)
        case "configure":
            stage.configure(version=stage.at_ms)
        case "shoe":
            stage.close_shoe()
            stage.open_shoe()
            stage.burn()
        case "book":
            stage.say(SETTLEMENTS, BookSuspended, **stage.place, cause="marks-differ", text="they differ")
        case _:
            stage.settle(1, void=len(stage.banker) < 2)


def facts_of(things: list[str], seed: int) -> list[tuple[str, Event]]:
    stage = Stage("T1", seed=seed)
    stage.begin()
    stage.round()
    for what in things:
        happen(stage, what)
    return stage.take()


def laid_over(page: dict[str, Any], before: View, after: View) -> dict[str, Any]:
    """As a page does it: through JSON."""
    delta: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(changes(before, after)))
    return page | delta


def as_json(view: View) -> Any:
    return msgspec.json.decode(msgspec.json.encode(view))


@settings(max_examples=30, deadline=None, derandomize=True)
@given(
    things=st.lists(st.sampled_from(THINGS), max_size=10),
    seed=st.integers(0, 9),
    cuts=st.lists(st.integers(0, 400), max_size=12),
)
def test_any_batches_stored_in_between_give_the_same_view(things: list[str], seed: int, cuts: list[int]) -> None:
    facts = facts_of(things, seed)
    whole = folded(facts)
    views = {topic: source.start for topic, source in SOURCES.items()}
    pages = {topic: as_json(view) for topic, view in views.items()}
    places = sorted({0, len(facts), *(min(cut, len(facts)) for cut in cuts)})
    for begin, end in pairwise(places):
        for topic, source in SOURCES.items():
            before = views[topic]
            after = msgspec.json.decode(msgspec.json.encode(before), type=type(before))
            for told, fact in facts[begin:end]:
                if told == topic:
                    after = source.fold(after, fact)
            pages[topic] = laid_over(pages[topic], before, after)
            views[topic] = after
    assert views == whole
    assert pages == {topic: as_json(view) for topic, view in whole.items()}


@settings(max_examples=20, deadline=None, derandomize=True)
@given(things=st.lists(st.sampled_from(THINGS), max_size=10), seed=st.integers(0, 9), choices=st.randoms())
def test_the_two_topics_commute(things: list[str], seed: int, choices: Any) -> None:
    facts = facts_of(things, seed)
    queues = [[fact for fact in facts if fact[0] == topic] for topic in (ROUNDS, SETTLEMENTS)]
    mixed = []
    while any(queues):
        mixed.append(choices.choice([queue for queue in queues if queue]).pop(0))
    assert folded(mixed) == folded(facts)


@settings(max_examples=20, deadline=None, derandomize=True)
@given(things=st.lists(st.sampled_from(THINGS), max_size=10), seed=st.integers(0, 9))
def test_the_sums_balance_whatever_happens(things: list[str], seed: int) -> None:
    settlements = as_json(folded(facts_of(things, seed))[SETTLEMENTS])
    for sums in (settlements["shoe"], settlements["total"]):
        assert sums["stakes_minor"] == sums["returns_minor"] + sums["house_win_minor"]
    of_rounds = [settled for settled in settlements["settled"] if not settled[8]]
    assert settlements["total"]["house_win_minor"] == sum(settled[7] for settled in of_rounds)


def test_what_did_not_change_is_in_no_delta() -> None:
    facts = facts_of([], 1)
    views = folded(facts)
    assert changes(views[ROUNDS], views[ROUNDS]) == {}
    stage = Stage("T1")
    stage.say(ROUNDS, TableSuspended, cause="sequence-gap", text="a card was missed")
    [(_, fact)] = stage.take()
    after = SOURCES[ROUNDS].fold(views[ROUNDS], fact)
    assert set(changes(views[ROUNDS], after)) == {"suspended"}
