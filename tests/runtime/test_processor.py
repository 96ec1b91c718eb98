"""What `advance` takes of its queues, and that nobody can tell from its facts how much that was at a time."""

from collections.abc import Iterable, Mapping
from math import inf
from typing import Any

import pytest

from services.baccarat.events import BETS, ROUNDS, BetSettled, Event, RoundSettled
from services.runtime.processor import Advance, Record, advance
from services.settlement import SETTLEMENT
from tests.baccarat.logs import Logs, encode_nothing

PLAYER_WINS = "9H 2C KD 3S"
BETS_A_ROUND = 7


def table() -> Logs:
    """Two rounds with bets."""
    logs = Logs(words="rules shoe")
    for _ in range(2):
        for _ in range(BETS_A_ROUND):
            logs.bet()
        logs.play(PLAYER_WINS)
    return logs


def batches(logs: Logs, enough: float) -> list[Advance[Any]]:
    """All there is, shown whole at each step, until nothing more is taken."""
    queues: Mapping[str, list[Record]] = {ROUNDS: [*logs.rounds], BETS: [*logs.bets]}
    states: dict[str, Any] = {}
    found = []
    while any((done := advance(SETTLEMENT, states, queues, encode_nothing, enough)).taken.values()):
        states |= done.changed
        for topic, taken in done.taken.items():
            del queues[topic][:taken]
        found.append(done)
    assert not any(queues.values())
    return found


def facts(found: Iterable[Advance[Any]]) -> dict[str, Event]:
    return {written.event.event_id: written.event for done in found for written in done.written}


@pytest.mark.parametrize("enough", [1, 2, BETS_A_ROUND + 1, 12])
def test_a_batch_ends_when_it_has_given_enough_facts_and_nobody_can_tell(enough: int) -> None:
    logs = table()
    (whole,) = batches(logs, inf)
    found = batches(logs, enough)
    assert facts(found) == facts([whole])
    assert len(found) > 1
    most_by_one = BETS_A_ROUND + 1  # bets settled, and the round
    for done in found:
        for topic in (BETS, ROUNDS):
            assert sum(written.cause.topic == topic for written in done.written) < enough + most_by_one


def test_the_facts_of_one_record_stay_together_however_many() -> None:
    settling = [
        done for done in batches(table(), 1) if any(isinstance(one.event, RoundSettled) for one in done.written)
    ]
    assert len(settling) == 2
    for done in settling:
        assert sum(isinstance(written.event, BetSettled) for written in done.written) == BETS_A_ROUND
