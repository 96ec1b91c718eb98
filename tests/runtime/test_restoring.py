"""Where a processor goes on: after the furthest of what is known and what its own facts say."""

from typing import Any

import pytest

from services.baccarat.events import Event, InputNoted
from services.runtime.processor import Processor, Record
from services.runtime.restoring import Cause, cause_of, fold, headers, positions_after


def copier(name: str, *inputs: str) -> Processor[Any]:
    """Its state is the ids of its facts."""
    return Processor(
        name=name,
        inputs=inputs,
        output="rounds",
        snapshots=f"{name}-snapshots",
        start=lambda table_id: (table_id,),
        decide=lambda _state, _topic, _event, _at_ms: (),
        evolve=lambda state, fact: (*state, fact.event_id),
        copies_to=lambda _fact: (),
        ready=lambda _state, _topic, _event: True,
        poisoned=lambda _state, _event, _code, _text, _at_ms: (),
        state_type=tuple,
    )


def noted(table_id: str, number: int) -> Event:
    return InputNoted(
        event_id=f"{table_id}/{number}", table_id=table_id, at_ms=number, cause_id="x", what="card", number=number
    )


BOTH = copier("settlement", "rounds", "bets")
CAUSED = Record("table-feed", 3, 17, 0, "T1", None)


def test_a_fact_names_the_record_that_made_it() -> None:
    rules = copier("rules", "table-feed")
    carried = headers(rules, CAUSED)
    assert cause_of(carried, rules) == Cause("table-feed", 3, 17)
    assert cause_of(carried, copier("settlement", "table-feed")) is None


@pytest.mark.parametrize("cause", [None, b"", b"table-feed", b"table-feed/3", b"table-feed/x/1", b"a/b/3/17", b"/3/17"])
def test_headers_that_somebody_else_wrote_name_no_record(cause: bytes | None) -> None:
    carried = [("by", b"rules")] if cause is None else [("by", b"rules"), ("cause", cause)]
    assert cause_of(carried, copier("rules", "table-feed")) is None


@pytest.mark.parametrize(
    ("known", "causes", "expected"),
    [
        ([], [], {"rounds": 0, "bets": 0}),
        ([{"rounds": 4}], [], {"rounds": 4, "bets": 0}),
        ([{"rounds": 4}, {"rounds": 3, "bets": 9}], [], {"rounds": 4, "bets": 9}),
        ([{"rounds": 4}], [Cause("rounds", 2, 3), Cause("bets", 2, 0)], {"rounds": 4, "bets": 1}),
        ([{"rounds": 4}], [Cause("rounds", 2, 4)], {"rounds": 5, "bets": 0}),
        ([], [Cause("bets", 2, 7), Cause("bets", 2, 5)], {"rounds": 0, "bets": 8}),
        ([], [Cause("bets", 1, 7), Cause("table-feed", 2, 7)], {"rounds": 0, "bets": 0}),
    ],
)
def test_the_furthest_place_counts(known: list[dict[str, int]], causes: list[Cause], expected: dict[str, int]) -> None:
    assert positions_after(BOTH, 2, known, causes) == expected


def test_facts_after_a_snapshot_are_folded_table_by_table() -> None:
    states = {"T1": ("T1", "T1/1"), "T2": ("T2",)}
    after = fold(BOTH, states, [noted("T1", 2), noted("T3", 1), noted("T1", 3)])
    assert after == {"T1": ("T1", "T1/1", "T1/2", "T1/3"), "T2": ("T2",), "T3": ("T3", "T3/1")}
    assert states["T1"] == ("T1", "T1/1")
